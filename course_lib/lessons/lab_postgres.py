"""The PostgreSQL lab: what a role, a limit, a policy and a view stop, each predicted, run on a server, explained."""

import atexit
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from threading import RLock
from typing import Any

from course_lib.corpora.tickets import SALARIES, tickets
from course_lib.learn.blank import NotAttempted
from course_lib.learn.exercises import Exercise, LearnerError, describe
from course_lib.learn.explorer import Choice, Control, Explorer, Text
from course_lib.learn.lesson import Lesson
from course_lib.learn.look import Shown, card, escape, mark, paragraph, table
from course_lib.learn.predictions import Option, Prediction, Question
from course_lib.sql import postgres
from course_lib.sql.postgres import Login, PostgresError, Refused, Workspace

# --- What is tried, in the order of the notebook --------------------------------------------------------------------

Tries = Mapping[str, Sequence[str]]  # label -> statements, one after the other in one session

OWN_LIMITS: Tries = {
    "set_config": ("SELECT set_config('statement_timeout', '0', false)",),
    "SET": ("SET default_transaction_read_only = off",),
    "ALTER ROLE": ("SET default_transaction_read_only = off", "ALTER ROLE reader SET statement_timeout = 0"),
    "SELECT INTO": ("SET default_transaction_read_only = off", "SELECT * INTO copied FROM open_tickets"),
    "salaries": ("SELECT * FROM salaries",),
}

FIRST_WORDS: Tries = {
    "SELECT INTO": ("SELECT * INTO copied FROM tickets",),
    "WITH": ("WITH gone AS (DELETE FROM tickets RETURNING id) SELECT count(*) FROM gone",),
    "EXPLAIN": ("EXPLAIN DELETE FROM tickets",),
    "EXPLAIN ANALYZE": ("EXPLAIN ANALYZE DELETE FROM tickets",),
    "FOR UPDATE": ("SELECT id FROM tickets FOR UPDATE",),
}

PROGRAM = "COPY tickets FROM PROGRAM 'echo T-1'"
DELETE = FIRST_WORDS["WITH"][0]
READ_ONLY = "SET default_transaction_read_only = on"

AROUND: Tries = {
    "the WITH": (DELETE,),
    "set_config first": ("SELECT set_config('default_transaction_read_only', 'off', false)", DELETE),
    "READ WRITE first": ("BEGIN", "SET TRANSACTION READ WRITE", DELETE, "COMMIT"),
    "READ WRITE later": ("BEGIN", "SELECT 1", "SET TRANSACTION READ WRITE", DELETE, "COMMIT"),
}

TWO = "SELECT 1; DELETE FROM tickets"

BY_SETTING = "CREATE POLICY by_setting ON tickets USING (tenant = current_setting('app.tenant', true))"
BY_SETTING_TO_APP = "CREATE POLICY by_setting ON tickets TO app USING (tenant = current_setting('app.tenant', true))"
BY_LOGIN = "CREATE POLICY by_login ON tickets TO berlin, munich, lisbon USING (tenant = session_user)"
BY_CLERK = "CREATE POLICY by_clerk ON tickets TO clerk USING (true)"
FORCE = "ALTER TABLE tickets FORCE ROW LEVEL SECURITY"

SET_BERLIN = "SELECT set_config('app.tenant', 'berlin', false)"
COUNT = "SELECT tenant, count(*) FROM tickets GROUP BY tenant ORDER BY tenant"
GENERATED = """SELECT tenant, count(*)
FROM set_config('app.tenant', 'munich', true) AS changed,
     LATERAL (SELECT * FROM tickets
              WHERE changed <> '' OFFSET 0) AS t
GROUP BY tenant ORDER BY tenant"""

OTHERS: Tries = {
    "set_config": (GENERATED,),
    "SET ROLE": ("SET ROLE munich", COUNT),
    "SET SESSION AUTHORIZATION": ("SET SESSION AUTHORIZATION munich", COUNT),
}

# --- Predictions, in the order of the notebook ---------------------------------------------------------------------

LIMITS = Question(
    key="limits",
    text="The reader's sessions start with a time limit of 0.2 s and with read-only transactions. Now the model's SQL "
    "runs, each line below in a new session of the reader. Which does PostgreSQL carry out to the end? Tick all.",
    options=(
        Option(
            "SELECT set_config('statement_timeout', '0', false)",
            "A setting that every role may change for itself, and a SELECT is enough to change it.",
            "set_config",
        ),
        Option(
            "SET default_transaction_read_only = off",
            "The default belongs to the session; whoever holds the session may set it.",
            "SET",
        ),
        Option(
            "SET … = off as above, then ALTER ROLE reader SET statement_timeout = 0",
            "It is a write, and it holds for every later session; but a role may change its own defaults.",
            "ALTER ROLE",
        ),
        Option(
            "SET … = off as above, then SELECT * INTO copied FROM open_tickets",
            "With read-only out of the way, a new table still needs CREATE on the schema, and nobody granted it.",
            "SELECT INTO",
        ),
        Option("SELECT * FROM salaries", "The table is in the same schema, and no grant on it was given.", "salaries"),
    ),
    right=list,
    result="carried_out",
    lesson_learned="Whatever a session may set, the model may set. What it was not granted, it has no words for.",
    pick=None,
)

PREFIX = Question(
    key="prefix",
    text="A check in code lets a statement through when its first word is SELECT, WITH or EXPLAIN. The clerk may read "
    "and change tickets and create tables. Which of these leave the database different from before? Tick all.",
    options=(
        Option(
            "SELECT * INTO copied FROM tickets",
            "INTO makes a new table and fills it: the statement begins with SELECT and writes.",
            "SELECT INTO",
        ),
        Option(
            "WITH gone AS (DELETE FROM tickets RETURNING id) SELECT count(*) FROM gone",
            "In PostgreSQL a part of a WITH may be a DELETE, an UPDATE or an INSERT.",
            "WITH",
        ),
        Option("EXPLAIN DELETE FROM tickets", "EXPLAIN alone plans the DELETE and does not run it.", "EXPLAIN"),
        Option(
            "EXPLAIN ANALYZE DELETE FROM tickets",
            "ANALYZE measures the plan by running it, and what it runs is a DELETE.",
            "EXPLAIN ANALYZE",
        ),
        Option(
            "SELECT id FROM tickets FOR UPDATE",
            "It locks the rows until its transaction ends, which can hold up others; it changes none of them.",
            "FOR UPDATE",
        ),
    ),
    right=list,
    result="wrote",
    lesson_learned="The first word of a statement says nothing about what the statement does.",
    pick=None,
)

AROUND_READ_ONLY = Question(
    key="around",
    text="Now the clerk's sessions start with read-only transactions. Each of these is sent one statement at a time. "
    "After which of them are tickets gone? Tick all. “The WITH” is the one with a DELETE inside.",
    options=(
        Option(
            "the WITH alone",
            "Read-only does look into a WITH: the rows are not deleted.",
            "the WITH",
        ),
        Option(
            "SELECT set_config('default_transaction_read_only', 'off', false), then the WITH",
            "Setting the default is no write, so a read-only transaction allows it, and the next one is read-write.",
            "set_config first",
        ),
        Option(
            "BEGIN, SET TRANSACTION READ WRITE, the WITH, COMMIT",
            "A transaction that was to be read-only may be turned around as long as it has not read anything.",
            "READ WRITE first",
        ),
        Option(
            "BEGIN, SELECT 1, SET TRANSACTION READ WRITE, the WITH, COMMIT",
            "After its first query a transaction keeps its mode. This is what a second wall can stand on.",
            "READ WRITE later",
        ),
    ),
    right=list,
    result="deleted",
    lesson_learned="A read-only transaction guards against mistakes. Whoever may write may also leave it, so it is a "
    "second wall behind the grants and not in their place.",
    pick=None,
)

TWO_STATEMENTS = Question(
    key="two",
    text='The clerk\'s session is read-write again. One call, `connection.execute("SELECT 1; DELETE FROM tickets")`, '
    "in psycopg, without parameters. What happens?",
    options=(
        Option(
            "an error, and nothing runs",
            "Python's sqlite3 refuses a second statement, and drivers look alike; PostgreSQL's simple protocol does "
            "not.",
            "an error",
        ),
        Option(
            "the SELECT runs, the rest is ignored",
            "only the first result is at hand afterwards, so it looks as if the rest had not run; it has.",
            "the first one",
        ),
        Option("both run", "", "both run"),
    ),
    right=lambda left: ["both run" if left == 0 else "an error"],
    result="left",
    lesson_learned="Protocols decide this, not the SQL: a text that is prepared on the server, or opened as a cursor, "
    "may hold one statement only. Do not count semicolons in code.",
)

SETTING = Question(
    key="setting",
    text="Your code connects as app, sets app.tenant to berlin, begins a read-only transaction and runs the generated "
    "SELECT above. Whose tickets are counted?",
    options=(
        Option(
            "Berlin's",
            "the policy is inside the database, and the model cannot change a policy; but it can change the setting.",
        ),
        Option(
            "nobody's: an error",
            "a changed setting sounds like a write, and the transaction is read-only; settings are not data.",
            "nobody's",
        ),
        Option("Munich's"),
    ),
    right=lambda seen: ["Munich's" if "munich" in seen else "Berlin's" if seen else "nobody's"],
    result="by_setting",
    lesson_learned="A policy on a session setting protects against a WHERE that your own code forgot. Against SQL that "
    "somebody else writes it is no wall: the setting is theirs as well.",
)

LOGIN = Question(
    key="login",
    text="The policy now compares the tenant with session_user, and your code has connected as berlin. Which of these "
    "shows the model a ticket of another team?",
    options=(
        Option(
            "the generated SELECT with set_config",
            "it did a moment ago; but session_user is no setting, and set_config refuses or misses it.",
            "set_config",
        ),
        Option(
            "SET ROLE munich, then a SELECT",
            "SET ROLE changes current_user, for a role of which the login is a member, and berlin is no member of it.",
            "SET ROLE",
        ),
        Option(
            "SET SESSION AUTHORIZATION munich, then a SELECT",
            "this is what changes session_user, and only a superuser may use it.",
            "SET SESSION AUTHORIZATION",
        ),
        Option("none of these", "", "none"),
    ),
    right=lambda shown: list(shown)[:1] or ["none"],
    result="shown_to_berlin",
    lesson_learned="The login was chosen by your code, from an identity that it has verified. No statement changes it.",
)

EITHER = Question(
    key="either",
    text="The application still needs its own policy, so it is put back as it was: by_setting beside by_login. Your "
    "code connects as berlin and runs the generated SELECT, which sets app.tenant to munich. Whose tickets does it "
    "count?",
    options=(
        Option(
            "Berlin's only",
            "two rules sound like two conditions to meet; permissive policies are alternatives.",
            "Berlin's",
        ),
        Option(
            "Munich's only",
            "the setting does say munich; but the other policy holds as well, and it gives Berlin's.",
            "Munich's",
        ),
        Option("Berlin's and Munich's", "", "both"),
        Option(
            "none: no ticket meets both",
            "no row meets both, which would be the answer if policies were joined with AND.",
            "none",
        ),
    ),
    right=lambda seen: [{(): "none", ("berlin",): "Berlin's", ("munich",): "Munich's"}.get(tuple(seen), "both")],
    result="either_policy",
    lesson_learned="Permissive policies are joined with OR, so the weakest one decides. A policy without TO is one for "
    "every role there is and will be.",
)

VIEW = Question(
    key="view",
    text="Both policies are in place, each with its TO. The owner of tickets also owns the view open_tickets and "
    "grants it to berlin. Berlin has 20 tickets, some of them open. What does berlin count in the view?",
    options=(
        Option(
            "its own open tickets",
            "the policy is on the table, and the view reads the table; but it reads it as somebody else.",
            "its own",
        ),
        Option("the open tickets of every team", "", "everybody's"),
        Option(
            "none: the view is refused",
            "berlin was granted the view, and a view needs no grant on the table below it.",
            "none",
        ),
    ),
    right=lambda seen: ["everybody's" if len(seen) > 1 else "its own" if seen else "none"],
    result="through_view",
    lesson_learned="A view reads its tables with the rights of its owner, and the owner of a table is not bound by its "
    "policies. security_invoker turns that around, from PostgreSQL 15 on.",
)

EXEMPT = Question(
    key="exempt",
    text="by_login and by_setting are in place, each with its TO. Who counts all 60 tickets in the table? Tick all. "
    "FORCE is ALTER TABLE tickets FORCE ROW LEVEL SECURITY.",
    options=(
        Option("the owner of the table", "Policies do not bind the owner, unless they are forced on it.", "owner"),
        Option(
            "the owner, after FORCE",
            "Now the policies bind the owner too, and none of them gives it any row.",
            "owner, forced",
        ),
        Option(
            "auditor, a role with BYPASSRLS, after FORCE",
            "BYPASSRLS means what it says, and so does being a superuser: FORCE does not change it.",
            "auditor, forced",
        ),
        Option(
            "app, which has set no app.tenant",
            "An unset setting is NULL, no tenant equals NULL, and where no policy gives a row there is none.",
            "app",
        ),
    ),
    right=list,
    result="see_all",
    lesson_learned="Never connect the assistant as an owner, a superuser or a role with BYPASSRLS: for these three a "
    "policy is a comment.",
    pick=None,
)

# --- The desk: PostgreSQL for this notebook --------------------------------------------------------------------------

LOGINS = ("owner", "reader", "clerk", "app", "berlin", "munich", "lisbon", "newcomer")
AUDITOR = "auditor"
SCHEMA, PRACTICE = "desk", "practice"
VIEWS = ("open_tickets", "closed_tickets")
READER_SECONDS = 0.2
LONGEST = 2.0  # seconds for a session of the notebook, whatever it has set for itself
_NAMES = re.compile(rf"\b({'|'.join((*LOGINS, AUDITOR, SCHEMA, PRACTICE))})\b")

TABLES = (
    "CREATE TABLE tickets (id text PRIMARY KEY, tenant text, priority text, status text, opened date)",
    "CREATE TABLE salaries (employee text, amount integer)",
    "CREATE VIEW open_tickets AS SELECT * FROM tickets WHERE status = 'open'",
    "CREATE VIEW closed_tickets AS SELECT * FROM tickets WHERE status = 'closed'",
    "GRANT USAGE ON SCHEMA desk TO reader, clerk, app, berlin, munich, lisbon",
    "GRANT CREATE ON SCHEMA desk TO clerk",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON tickets TO clerk",
    "GRANT SELECT ON tickets TO app, berlin, munich, lisbon",
)
_DATA = (
    "SELECT (SELECT count(*) FROM tickets), "
    "hashtext(concat((SELECT string_agg(t::text, ' ' ORDER BY id) FROM tickets t), "
    "(SELECT string_agg(s::text, ' ') FROM salaries s)))"
)
_MADE = (  # relations with their grants and options, policies, grants on the schema, defaults of our roles
    "SELECT hashtext(concat("
    "(SELECT string_agg(concat(relname, relkind, relacl, reloptions, relrowsecurity, relforcerowsecurity), ' ' "
    "ORDER BY relname) FROM pg_class WHERE relnamespace = %(schema)s::text::regnamespace), "
    "(SELECT string_agg(p::text, ' ' ORDER BY tablename, policyname) FROM pg_policies p "
    "WHERE schemaname = %(schema)s), "
    "(SELECT nspacl::text FROM pg_namespace WHERE nspname = %(schema)s), "
    "(SELECT string_agg(d::text, ' ' ORDER BY setrole) FROM pg_db_role_setting d "
    "JOIN pg_roles r ON r.oid = setrole WHERE rolname = ANY(%(ours)s))))"
)
PLACES: Mapping[str, str] = {
    "grants": "the grants",
    "read-only transaction": "the read-only transaction",
    "time limit": "the time limit",
}


@dataclass(frozen=True)
class Outcome:
    """One statement of a session: what came of it in words, what stopped it ("" where it ran), and its rows."""

    sql: str
    said: str
    stopped_by: str
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Session:
    """What a session did. `left` is how many tickets there were afterwards, `changed` whether anything had changed."""

    who: str
    outcomes: tuple[Outcome, ...]
    changed: bool
    left: int

    @property
    def seen(self) -> dict[str, int]:
        """{tenant: tickets} as the last statement counted them; empty where it was stopped."""
        return {str(row[0]): int(row[1]) for row in self.outcomes[-1].rows if len(row) == 2}


class Desk:
    """The support desk's tables on a PostgreSQL server, with a login for everybody. `why` says why there is none.

    JupyterLab runs an explorer in another thread than a cell, so one session runs at a time.
    """

    def __init__(self, uri: str | None = None) -> None:
        """`uri` is a server of your own; without it one is started. Nothing is raised where that fails."""
        self.why = ""
        self.logins: dict[str, Login] = {}
        self.policies: tuple[str, ...] = ()
        self._whole = False  # an interrupt may come between a statement and its repair
        self._stack = ExitStack()
        self.lock = RLock()
        try:
            self.place: Workspace = self._stack.enter_context(postgres.workspace(uri))
            self._admin = self._stack.enter_context(postgres.connected(self.place.uri))
            self._make_logins()
            self.rebuild()
        except PostgresError as error:
            self.why = str(error)
        except BaseException as error:
            self.why = "The server did not start to the end: run the cell that opens the desk again."
            if not isinstance(error, postgres.errors()):
                raise
            self.why = f"This server does not do what the lab needs: {postgres.first_line(error)}."
        finally:
            if self.why:
                self._stack.close()

    def close(self) -> None:
        """Remove everything that was made: the server and its folder, or the roles and the schema."""
        with self.lock:
            if not self.why:
                self.why = "The last cell has stopped the server: run the notebook from the top to start it again."
                self._stack.close()

    def named(self, sql: str) -> str:
        """Return a statement with the names that roles and schemas have on this server."""
        return _NAMES.sub(lambda match: self.place.name(match[0]), sql)

    def plain(self, text: Any) -> str:
        """Return a text of the server with the names of the notebook."""
        return str(text).replace(self.place.suffix, "") if self.place.suffix else str(text)

    def _make_logins(self) -> None:
        for name in LOGINS:
            self.logins[name] = postgres.create_login(self._admin, self.place.name(name), self.place.name(SCHEMA))
        auditor = postgres.create_login(self._admin, self.place.name(AUDITOR), self.place.name(SCHEMA))
        with suppress(*postgres.errors()):  # only who is exempt may make somebody exempt
            self._admin.execute(self.named("ALTER ROLE auditor BYPASSRLS"))
            self.logins[AUDITOR] = auditor

    def rebuild(self) -> None:
        """Make the schema anew, with the policies of the moment: whatever a session did to it is gone."""
        self._whole = False
        for name in self.logins:
            self._admin.execute(self.named(f"ALTER ROLE {name} RESET ALL"))
            self._admin.execute(self.named(f"ALTER ROLE {name} SET search_path = desk"))
        postgres.set_defaults(self._admin, self.place.name("reader"), READER_SECONDS)
        auditor = ["GRANT USAGE ON SCHEMA desk TO auditor", "GRANT SELECT ON tickets TO auditor"]
        with self.filled(SCHEMA, [*TABLES, *(auditor if AUDITOR in self.logins else [])]) as owner:
            owner.cursor().executemany("INSERT INTO salaries VALUES (%s, %s)", SALARIES)
            postgres.allow_reading(owner, self.place.name("reader"), self.place.name(SCHEMA), VIEWS)
            for statement in self.policies:
                owner.execute(self.named(statement))
        self._whole = True

    @contextmanager
    def filled(self, schema: str, statements: Iterable[str]) -> Iterator[Any]:
        """Make a schema anew, with tables and the sixty tickets in them, and yield a connection of their owner."""
        for statement in (
            f"DROP SCHEMA IF EXISTS {schema} CASCADE",
            f"CREATE SCHEMA {schema}",
            f"GRANT ALL ON SCHEMA {schema} TO owner WITH GRANT OPTION",
        ):
            self._admin.execute(self.named(statement))
        rows = [(t.id, self.place.name(t.team.lower()), t.priority, t.status, t.opened) for t in tickets()]
        with self.owner() as owner:
            owner.execute(self.named(f"SET search_path = {schema}"))
            for statement in statements:
                owner.execute(self.named(statement))
            owner.cursor().executemany("INSERT INTO tickets VALUES (%s, %s, %s, %s, %s)", rows)
            yield owner

    def owner(self) -> AbstractContextManager[Any]:
        """Return a new connection of the tables' owner."""
        return postgres.connected(self.place.uri, self.logins["owner"])

    def protect(self, *policies: str) -> None:
        """Turn row-level security on, with these statements of the owner in place of the ones before."""
        with self.lock:
            self.policies = ("ALTER TABLE tickets ENABLE ROW LEVEL SECURITY", *policies)
            self.rebuild()

    def session(self, who: str, statements: Sequence[str]) -> Session:
        """Run statements one after the other, as a careless application would; afterwards the schema is as before."""
        with self.lock:
            if not self._whole:
                self.rebuild()
            before = self._state()
            self._whole = False
            with postgres.connected(self.place.uri, self.logins[who]) as connection:
                outcomes = tuple(self._outcome(connection, sql) for sql in statements)
            after = self._state()
            self._whole = after == before
            if not self._whole:
                self.rebuild()
            return Session(who, outcomes, after != before, after[0])

    def _state(self) -> tuple[Any, ...]:
        """(tickets, hash of the data, hash of all else a statement may change); -1 where the table is out of sight."""
        ours = [login.name for login in self.logins.values()]
        with self.owner() as owner:
            (made,) = owner.execute(_MADE, {"schema": self.place.name(SCHEMA), "ours": ours}).fetchone()
            try:
                return *owner.execute(_DATA).fetchone(), made
            except postgres.errors():
                return -1, None, made

    def _outcome(self, connection: Any, sql: str) -> Outcome:
        try:
            with postgres.cancelled_after(connection, LONGEST):
                return self._ran(connection.execute(self.named(sql)), sql)
        except postgres.errors() as error:
            by = PLACES.get(postgres.layer_of(error), "PostgreSQL")
            return Outcome(sql, f"stopped by {by}: {self.plain(postgres.first_line(error))}", by, ())

    def _ran(self, cursor: Any, sql: str) -> Outcome:
        """Put into words what one call returned: one result, or several where it held several statements."""
        said: list[str] = []
        rows: Sequence[Sequence[Any]] = []
        while not said or cursor.nextset():
            rows = cursor.fetchmany(200) if cursor.description else []
            said.append(self._words(str(cursor.statusmessage or ""), rows))
        return Outcome(sql, "; then ".join(said), "", tuple(tuple(map(self._value, row)) for row in rows))

    def _value(self, value: Any) -> Any:
        return self.plain(value) if isinstance(value, str) else value

    def _words(self, tag: str, rows: Sequence[Sequence[Any]]) -> str:
        if tag.startswith("EXPLAIN"):
            return "runs: a plan"  # with timings, which differ each time
        if not tag.startswith("SELECT") or not rows:
            return f"runs: {'no row' if tag == 'SELECT 0' else tag}"
        shown = "; ".join(" ".join(self.plain(v) for v in row if v != "") for row in rows[:3]).strip()
        count = tag.removeprefix("SELECT ")
        return f"runs: {shown}" if len(rows) <= 3 and shown else f"runs: {count} row{'s' if count != '1' else ''}"


_OPEN: list[Desk] = []


def open_desk(uri: str | None = None) -> Desk:
    """Return the desk of the notebook, and close the one before. It needs no `with`: it ends with the kernel."""
    while _OPEN:
        _OPEN.pop().close()
    _OPEN.append(Desk(uri))
    atexit.register(_OPEN[-1].close)  # while Python can still import what it takes
    return _OPEN[-1]


def show_desk(desk: Desk) -> Shown:
    """Return what runs, or the sentence that says what to install."""
    if desk.why:
        return Shown(card("", paragraph(desk.why), paragraph("The notebook runs on, and each cell says so.")))
    where = "on a server of your own" if desk.place.suffix else "for this notebook only"
    here = desk.session("owner", ["SELECT count(*) FROM tickets", "SELECT count(*) FROM salaries"]).outcomes
    counts = f"{here[0].rows[0][0]} tickets and {here[1].rows[0][0]} salary"
    return Shown(card("", paragraph(f"PostgreSQL {desk.place.version} runs {where}, with {counts}.")))


def close_desk(desk: Desk) -> Shown:
    """Stop the server of the notebook, or remove what was made on yours."""
    was = desk.why
    desk.close()
    ended = "Roles and schema are removed." if getattr(desk, "place", None) and desk.place.suffix else ""
    return Shown(card("", paragraph(was or ended or "The server has ended and its folder is removed.")))


# --- What a cell shows ----------------------------------------------------------------------------------------------


def show_sql(statements: Iterable[str]) -> Shown:
    """Return statements as they would be typed."""
    return Shown(card("", "<pre><code>" + escape(";\n".join(statements) + ";") + "</code></pre>"))


class Ran(Shown):
    """A session as a table, or the sentence that says what is missing. `session` is None then."""

    def __init__(self, desk: Desk, who: str, statements: Sequence[str]) -> None:
        self.session = None if desk.why else desk.session(who, statements)
        rows = [_row(outcome) for outcome in self.session.outcomes] if self.session else []
        body = table([f"as {who}", "PostgreSQL"], rows) if rows else paragraph(desk.why)
        super().__init__(card("", body))

    @property
    def seen(self) -> dict[str, int] | None:
        """{tenant: tickets} of the last statement, None where nothing ran."""
        return self.session.seen if self.session else None

    @property
    def left(self) -> int | None:
        """How many tickets there were afterwards, None where nothing ran."""
        return self.session.left if self.session else None


def run(desk: Desk, who: str, *statements: str) -> Ran:
    """Run statements one after the other in one session of a login, and show what came of each."""
    return Ran(desk, who, statements)


def _decisive(session: Session) -> Outcome:
    """Return the first statement that was stopped, or the last one."""
    return next((outcome for outcome in session.outcomes if outcome.stopped_by), session.outcomes[-1])


def _row(outcome: Outcome) -> list[str]:
    word = mark("missed", outcome.said) if outcome.stopped_by else mark("retrieved", outcome.said)
    return [f"<code>{escape(outcome.sql)}</code>", word]


class Tried(Shown):
    """Several sessions side by side. What they did is None where nothing ran."""

    def __init__(self, desk: Desk, who: str, tries: Tries, before: Sequence[str] = ()) -> None:
        self.sessions = (
            None if desk.why else {label: desk.session(who, (*before, *each)) for label, each in tries.items()}
        )
        rows = [
            [escape(label), _row(_decisive(session))[1], "yes" if session.changed else "no"]
            for label, session in (self.sessions or {}).items()
        ]
        body = table([f"as {who}", "PostgreSQL", "Changed"], rows) if rows else paragraph(desk.why)
        super().__init__(card("", body))

    def _where(self, holds: Callable[[Session], bool]) -> list[str] | None:
        if self.sessions is None:
            return None
        return [label for label, session in self.sessions.items() if holds(session)]

    @property
    def carried_out(self) -> list[str] | None:
        """The labels whose last statement ran."""
        return self._where(lambda session: not session.outcomes[-1].stopped_by)

    @property
    def changed(self) -> list[str] | None:
        """The labels after which the database was different."""
        return self._where(lambda session: session.changed)

    def others_than(self, tenant: str) -> list[str] | None:
        """The labels whose last statement counted a ticket of another tenant."""
        return self._where(lambda session: bool(set(session.seen) - {tenant}))


def try_each(desk: Desk, who: str, tries: Tries, before: Sequence[str] = ()) -> Tried:
    """Run each entry of `tries` in a session of its own, after the statements of `before`, and compare."""
    return Tried(desk, who, tries, before)


def protect(desk: Desk, *policies: str) -> Shown:
    """Turn row-level security on with these policies, and show the owner's statements."""
    if desk.why:
        return Shown(card("", paragraph(desk.why)))
    desk.protect(*policies)
    return show_sql(desk.policies)


def ask(desk: Desk, who: str, sql: str, max_rows: int = 3) -> Shown:
    """Put one query through `postgres.run_as`, and show the rows or what the model is told."""
    if desk.why:
        return Shown(card("", paragraph(desk.why)))
    try:
        found = postgres.run_as(desk.place.uri, desk.logins[who], desk.named(sql), max_rows, seconds=1.0)
    except Refused as refused:
        return Shown(card("", paragraph(f"layer: {refused.layer}", "missed"), paragraph(desk.plain(refused.for_model))))
    rows = [[escape(desk.plain(value)) for value in row] for row in found.rows]
    cut = "truncated: there are more rows" if found.truncated else "complete"
    return Shown(card("", table(list(found.columns), rows), paragraph(cut)))


class Exempt(Shown):
    """Who counts how many tickets past the policies; `all_of_them` are the labels that count 60."""

    def __init__(self, desk: Desk) -> None:
        self.counts: dict[str, int] | None = None
        said = desk.why
        if not said and AUDITOR not in desk.logins:
            said = "The account of this server may not create a role with BYPASSRLS, so the question stays open."
        if said:
            super().__init__(card("", paragraph(said)))
            return
        tries = {"owner": ("owner",), "owner, forced": ("owner", FORCE), "auditor, forced": ("auditor", FORCE)}
        self.counts = {label: _count(desk, *parts) for label, parts in (tries | {"app": ("app",)}).items()}
        rows = [[escape(label), str(count)] for label, count in self.counts.items()]
        super().__init__(card("", table(["who", "tickets"], rows, numbers=(1,))))

    @property
    def all_of_them(self) -> list[str] | None:
        """The labels that count every ticket, None where nothing ran."""
        return None if self.counts is None else [name for name, n in self.counts.items() if n == len(tickets())]


def _count(desk: Desk, who: str, *more: str) -> int:
    """Count the tickets that a login sees under both policies and `more` statements of the owner."""
    desk.protect(BY_LOGIN, BY_SETTING_TO_APP, *more)
    found = desk.session(who, ["SELECT count(*) FROM tickets"]).outcomes[0]
    desk.protect(BY_LOGIN, BY_SETTING_TO_APP)
    return int(found.rows[0][0])


def who_sees_all(desk: Desk) -> Exempt:
    """Count the tickets as the owner, before and after FORCE, as a role with BYPASSRLS and as app."""
    return Exempt(desk)


def reveal_where_it_ran(prediction: Prediction, value: object) -> Shown:
    """Reveal a prediction; with None there is one sentence, and the question stays open."""
    if value is not None:
        return prediction.reveal(value)
    return Shown(card("", paragraph("PostgreSQL did not run here, so the question stays open.")))


# --- The explorer ----------------------------------------------------------------------------------------------------

WHO = ("reader", "clerk", "berlin", "app", "owner")
STATEMENTS: Tries = {
    "read a view": ("SELECT count(*) FROM open_tickets",),
    "read the table": (COUNT,),
    "read the salaries": ("SELECT * FROM salaries",),
    "SELECT … INTO": FIRST_WORDS["SELECT INTO"],
    "SELECT … INTO TEMP": ("SELECT * INTO TEMP copied FROM open_tickets",),
    "DELETE inside a WITH": FIRST_WORDS["WITH"],
    "EXPLAIN ANALYZE DELETE": FIRST_WORDS["EXPLAIN ANALYZE"],
    "COPY … FROM PROGRAM": (PROGRAM,),
    "two statements in one call": (TWO,),
    "sleep 0.3 s": ("SELECT pg_sleep(0.3)",),
    "lift the time limit, sleep 0.3 s": (*OWN_LIMITS["set_config"], "SELECT pg_sleep(0.3)"),
    "leave read-only, then DELETE": AROUND["set_config first"],
    "set app.tenant to munich": (GENERATED,),
    "become munich": OTHERS["SET ROLE"],
}


def explore(desk: Desk) -> Explorer:
    """Return the explorer: who runs which statement, what comes of it and what stopped it.

    All pairs are run when it is made, under both policies, so that they stay when the server has ended. Statements of
    the learner's own are run live.
    """
    found: dict[tuple[str, str], Session] = {}
    if not desk.why:
        desk.protect(BY_LOGIN, BY_SETTING_TO_APP, BY_CLERK)
        found = {(who, label): desk.session(who, sql) for who in WHO for label, sql in STATEMENTS.items()}

    def render(who: str, statement: str, own: str) -> str:
        if own.strip():
            return _not_run(who, [own], desk.why) if desk.why else _drawn(desk.session(who, [own]))
        session = found.get((who, statement))
        return _drawn(session) if session else _not_run(who, STATEMENTS[statement], desk.why)

    labels = tuple(STATEMENTS)
    controls: dict[str, Control] = {
        "who": Choice("Connected as", WHO, WHO[0]),
        "statement": Choice("Statement", labels, labels[0]),
        "own": Text("Or SQL of your own", placeholder="runs live while the server runs"),
    }
    return Explorer("Who runs it, and what stops it", controls, render)


def _not_run(who: str, statements: Iterable[str], why: str) -> str:
    rows = [[f"<code>{escape(sql)}</code>", "not run"] for sql in statements]
    return table([f"as {who}", "PostgreSQL"], rows) + paragraph(why)


def _drawn(session: Session) -> str:
    stopped = session.outcomes[-1].stopped_by
    last = paragraph(f"Stopped by {stopped}.", "missed") if stopped else paragraph("Nothing stopped it.", "retrieved")
    changed = "The database was different afterwards (it has been put back)." if session.changed else "Nothing changed."
    headers = [f"as {session.who}", "PostgreSQL"]
    return table(headers, map(_row, session.outcomes)) + last + paragraph(changed)


# --- Exercise 1: the grants ------------------------------------------------------------------------------------------

Facts = set[tuple[str, str, str]]  # (grantee, privilege, object)

WANTED: Facts = {("newcomer", "USAGE", SCHEMA), *(("newcomer", "SELECT", view) for view in VIEWS)}
TABLE_RIGHTS = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
GRANT = re.compile(
    r"grant (?P<rights>.+?) on (?:(?P<kind>schema|all tables in schema|table) )?(?P<on>.+?) to (?:role |group )?"
    r"(?P<who>.+?)(?P<option> with grant option)?",
    re.IGNORECASE,
)


def judge_grants(answer: Any) -> str | None:
    """Judge GRANT statements by what the newcomer and everybody may do after them."""
    sql = _text(answer)
    desk = _running()
    found = _granted(desk, sql) if desk else _read_grants(sql)
    if isinstance(found, str):
        return found
    for who, right, on in sorted(found - WANTED):
        if who == "PUBLIC":
            return f"PUBLIC, which is every role there is and will be, now has {right} on {on}."
        return f"The {who} now has {right} on {on}, and that is more than reading the two views."
    for _, right, on in sorted(WANTED - found):
        return f"A session of the newcomer is still stopped at {'the schema' if right == 'USAGE' else on}."
    return None


def _text(answer: Any) -> str:
    """Return the learner's SQL without its last semicolon. Raises NotAttempted where a ____ is left in it."""
    if not isinstance(answer, str):
        raise LearnerError from TypeError(f"a text with SQL was expected, but this is {describe(answer)}")
    if "____" in answer or not answer.strip():
        raise NotAttempted
    return re.sub(r"--[^\n]*", " ", answer).strip().rstrip(";").strip()


def _running() -> Desk | None:
    return _OPEN[-1] if _OPEN and not _OPEN[-1].why else None


def _granted(desk: Desk, sql: str) -> Facts | str:
    """Run the statements as the owner in a transaction that is rolled back, and return what was granted in it."""
    ask = desk.named(
        "WITH held AS (SELECT relname AS on_what, a.* FROM pg_class, aclexplode(relacl) a WHERE relnamespace = 'desk'"
        "::regnamespace UNION ALL SELECT relname, a.* FROM pg_class c JOIN pg_attribute t ON attrelid = c.oid, "
        "aclexplode(attacl) a WHERE relnamespace = 'desk'::regnamespace UNION ALL SELECT nspname, a.* "
        "FROM pg_namespace, aclexplode(nspacl) a WHERE nspname = 'desk') "
        "SELECT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE 'newcomer' END, privilege_type, is_grantable, on_what FROM held "
        "WHERE grantee = 0 OR grantee = 'newcomer'::regrole"
    )
    with desk.lock:
        desk.rebuild()
        try:
            with (
                desk.owner() as owner,
                postgres.cancelled_after(owner, LONGEST),
                owner.transaction(force_rollback=True),
            ):
                owner.execute(desk.named(sql))
                rows = owner.execute(ask).fetchall()
        except postgres.errors() as error:
            return f"PostgreSQL does not take it: {desk.plain(postgres.first_line(error))}."
        finally:
            desk.rebuild()
    return {
        (desk.plain(who), right + (" WITH GRANT OPTION" if option else ""), desk.plain(on))
        for who, right, option, on in rows
    }


def _read_grants(sql: str) -> Facts | str:
    """Read plain GRANT statements without a server, and return what they would grant."""
    found: Facts = set()
    for statement in filter(None, (" ".join(part.split()) for part in sql.replace('"', "").split(";"))):
        match = GRANT.fullmatch(statement)
        if not match:
            return f"Without a server only GRANT … ON … TO … is judged here, and this is something else: {statement}."
        kind = (match["kind"] or "").lower()
        if kind == "all tables in schema":
            things = ["tickets", "salaries", *VIEWS]
        else:
            things = [name.removeprefix(f"{SCHEMA}.") for name in _listed(match["on"])]
            unknown = sorted(set(things) - ({SCHEMA} if kind == "schema" else {"tickets", "salaries", *VIEWS}))
            if unknown:
                return f"PostgreSQL would not take it: there is no {kind or 'table'} {unknown[0]}."
        rights = _rights(match["rights"], kind)
        option = " WITH GRANT OPTION" if match["option"] else ""
        grantees = ["PUBLIC" if who == "public" else who for who in _listed(match["who"])]
        found |= {(who, right + option, on) for who in grantees for right in rights for on in things}
    return found


def _listed(names: str) -> list[str]:
    return [name.strip().lower() for name in names.split(",")]


def _rights(text: str, kind: str) -> Sequence[str]:
    if text.upper() in ("ALL", "ALL PRIVILEGES"):
        return ("USAGE", "CREATE") if kind == "schema" else TABLE_RIGHTS
    return [right.strip().upper() for right in text.split(",")]


GRANTS = Exercise(
    key="grants",
    title="Grant reading on two views, and nothing else",
    judge=judge_grants,
    right="The newcomer reads both views and nothing below them. This is the boundary; all the rest are second walls.",
    hint="A name in a schema can only be reached by whoever may use the schema. GRANT … ON SCHEMA … gives that; it "
    "gives no right on what is inside. Reading a view needs one privilege on the view, and none on its tables.",
    solution='''\
grants = """
GRANT USAGE ON SCHEMA desk TO newcomer;
GRANT SELECT ON open_tickets, closed_tickets TO newcomer;
"""''',
)

# --- Exercise 2: the policy ------------------------------------------------------------------------------------------

Seen = dict[str, dict[str, int]]  # login -> {tenant: tickets}

POLICY_FORM = re.compile(
    r"create policy \w+ on (?:desk\.|practice\.)?tickets(?: as (?P<kind>permissive|restrictive))?"
    r"(?: for (?P<command>all|select|insert|update|delete))?(?: to (?P<who>[\w, ]+?))?"
    r"(?: using (?P<using>\(.*?\)))?(?: with check \(.*\))?",
    re.IGNORECASE,
)
EACH_SETS = {"berlin": "munich", "munich": "berlin", "newcomer": "berlin", "app": "berlin"}  # login -> app.tenant


def judge_policy(answer: Any) -> str | None:
    """Judge a policy by what each login sees after it has set app.tenant to another tenant."""
    sql = _text(answer)
    desk = _running()
    found = _seen_on_server(desk, sql) if desk else _seen_without(sql)
    if isinstance(found, str):
        return found
    sizes = Counter(ticket.team.lower() for ticket in tickets())
    for login in ("berlin", "munich"):
        others = {tenant: count for tenant, count in found[login].items() if tenant != login}
        if others:
            tenant, count = sorted(others.items())[0]
            return f"Connected as {login}, with app.tenant set to {EACH_SETS[login]}: {count} tickets of {tenant} came."
        if found[login].get(login, 0) != sizes[login]:
            return f"Connected as {login}: {found[login].get(login, 0)} of its {sizes[login]} tickets came."
    if found["newcomer"]:
        return f"The newcomer is no tenant, and {sum(found['newcomer'].values())} tickets came."
    if found["app"] != {"berlin": sizes["berlin"]}:
        return f"app, with app.tenant set to berlin, now gets tickets of {', '.join(found['app']) or 'nobody'}."
    return None


def _seen_on_server(desk: Desk, sql: str) -> Seen | str:
    """Add the learner's policy to a table of its own, and count as each login."""
    grants = "berlin, munich, lisbon, newcomer, app"
    setup = (
        TABLES[0],
        f"GRANT USAGE ON SCHEMA practice TO {grants}",
        f"GRANT SELECT ON tickets TO {grants}",
        "ALTER TABLE tickets ENABLE ROW LEVEL SECURITY",
        BY_SETTING_TO_APP,
    )
    with desk.lock:
        try:
            with desk.filled(PRACTICE, setup) as owner, postgres.cancelled_after(owner, LONGEST):
                owner.execute(desk.named(sql))
        except postgres.errors() as error:
            return f"PostgreSQL does not take it: {desk.plain(postgres.first_line(error))}."
        return {login: _seen_as(desk, login, value) for login, value in EACH_SETS.items()}


def _seen_as(desk: Desk, login: str, value: str) -> dict[str, int]:
    statements = ["SET search_path = practice", f"SELECT set_config('app.tenant', '{value}', false)", COUNT]
    return desk.session(login, statements).seen


def _seen_without(sql: str) -> Seen | str:
    """Count as each login without a server: the condition of USING is computed by SQLite, login by login."""
    match = POLICY_FORM.fullmatch(" ".join(sql.replace('"', "").split()))
    if not match:
        return "Without a server only CREATE POLICY … ON tickets … TO … USING (…) is judged here, and this is not one."
    to = _listed(match["who"] or "public")
    kind, command = ((match[group] or "").lower() for group in ("kind", "command"))
    applies = kind != "restrictive" and command in ("", "all", "select")
    found: Seen = {}
    for login, value in EACH_SETS.items():
        concerned = applies and bool({login, "public"} & set(to))
        try:
            found[login] = _computed(match["using"] or "(0)", login, value) if concerned else {}
        except sqlite3.Error as error:
            return f"This condition cannot be judged without a server ({error})."
        if login == "app":
            found[login] |= {value: sum(ticket.team.lower() == value for ticket in tickets())}
    return found


def _computed(condition: str, login: str, value: str) -> dict[str, int]:
    """{tenant: tickets} for which a condition holds, in a session of `login` with app.tenant at `value`."""
    condition = re.sub(r"::\w+", "", condition)
    condition = re.sub(r"\b(session_user|current_user|user)\b", ":login", condition, flags=re.IGNORECASE)
    with closing(sqlite3.connect(":memory:")) as db:
        db.create_function("current_setting", -1, lambda *given: value)
        db.execute("CREATE TABLE tickets(id, tenant, priority, status, opened)")
        rows = [(t.id, t.team.lower(), t.priority, t.status, t.opened) for t in tickets()]
        db.executemany("INSERT INTO tickets VALUES (?, ?, ?, ?, ?)", rows)
        count = f"SELECT tenant, count(*) FROM tickets WHERE {condition} GROUP BY tenant"
        return dict(db.execute(count, {"login": login}).fetchall())


POLICY = Exercise(
    key="policy",
    title="Write the policy that the model cannot talk its way out of",
    judge=judge_policy,
    right="Each login gets its own tickets whatever it sets, the newcomer none, and the application what it got "
    "before. (current_user would do as well, as long as no login can SET ROLE to another.)",
    hint="TO names whom the policy is for. USING holds for a row when the row may be seen: compare the column tenant "
    "with something that was fixed when the connection was opened.",
    solution='''\
policy = """
CREATE POLICY own_tickets ON tickets
  FOR SELECT TO berlin, munich, lisbon
  USING (tenant = session_user);
"""''',
)

lesson = Lesson(
    "lab_postgres",
    [LIMITS, PREFIX, AROUND_READ_ONLY, TWO_STATEMENTS, SETTING, LOGIN, EITHER, VIEW, EXEMPT],
    [GRANTS, POLICY],
)
