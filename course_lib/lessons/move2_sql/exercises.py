"""The checked exercises of Move 2: an allowed-values check, a row cap that tells, one more layer."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from course_lib.learn.blank import Blank, NotAttempted, ____
from course_lib.learn.exercises import Exercise, LearnerError, call, describe

# --- An allowed-values check ---------------------------------------------------------------------------------------

STATUS = ["closed", "open"]
TEAMS = ["Berlin", "Lisbon", "Munich"]


def judge_allowed(function: Any) -> str | None:
    """Call the learner's check with values that are allowed and with some that only look it."""
    trials: tuple[tuple[str, str, list[str]], ...] = (
        ("status", "open", STATUS),
        ("team", "Berlin", TEAMS),
        ("team", "Munich", TEAMS),
    )
    for column, value, allowed in trials:
        refused = refusal(function, column, value, allowed)
        if refused is not None:
            return f"It refused {value!r} as a {column}, which is allowed."
        kept = call(function, column, value, allowed)
        if kept != value:
            return f"For {column} {value!r}, which is allowed, it returned {describe(kept)} and not the value."
    for column, other, allowed in (*(("status", other, STATUS) for other in NO_STATUS), ("team", "Paris", TEAMS)):
        said = refusal(function, column, other, allowed)
        if said is None:
            return f"It let {other!r} through as a {column}, and the table holds no such value."
        if repr(____) in said:
            raise NotAttempted
        lacks = _lacks(said, column, other, allowed)
        if lacks:
            return f"For {other!r} it said: {said!r}. {lacks}"
    return None


def refusal(function: Any, *args: Any) -> str | None:
    """Return what the learner's function said when it raised ValueError, or None where it returned.

    Another exception is the learner's error: LearnerError.
    """
    try:
        call(function, *args)
    except LearnerError as wrapped:
        if isinstance(wrapped.__cause__, ValueError):
            return str(wrapped.__cause__)
        raise
    return None


NO_STATUS = ("Open", "ope", "", "open' OR '1'='1", None)


def _lacks(said: str, column: str, other: Any, allowed: list[str]) -> str | None:
    """Return what a model that reads the sentence still has to guess, or None."""
    if "{" in said:
        return "The braces were not filled in; is the f in front of the quotes missing?"
    if column not in said:
        return "A model that reads this has to guess which argument was wrong."
    rest = said.replace(repr(other), "")
    if not all(re.search(rf"\b{value}\b", rest) for value in allowed):
        return "A model that reads this has to guess what it may send instead."
    return None


ALLOWED = Exercise(
    key="allowed",
    title="An error that the model can act on",
    judge=judge_allowed,
    right="A wrong value stops here, and the sentence tells the model all that it needs for a second try.",
    hint='`in` on a list compares whole values. The sentence needs the column and the list; f"{value!r}" puts quotes '
    "around a text.",
    solution="""\
def check_value(column, value, allowed):
    if value not in allowed:
        raise ValueError(f"There is no {column} {value!r}; send one of {', '.join(allowed)}")
    return value
""",
)

# --- A row cap that tells ------------------------------------------------------------------------------------------


class TooFar(Exception):
    """Somebody read on after it was clear that there is more."""


def rows_up_to(stop: int, at_most: int) -> Iterator[tuple[int]]:
    """Give the rows (0,), (1,), … below `stop`. Raises TooFar where more than `at_most` of them are asked for."""
    for number in range(stop):
        if number >= at_most:
            raise TooFar(f"{at_most} rows were read, and it asked for one more")
        yield (number,)


def judge_capped(function: Any) -> str | None:
    """Try fewer rows than the cap, just as many, one more, none, and a result without an end."""
    for there, cap in ((3, 5), (5, 5), (6, 5), (0, 5), (10**9, 2)):
        rows, at_most = rows_up_to(there, cap + 1), cap + 1
        case = f"With {there:,} rows and a cap of {cap}"
        try:
            result = call(function, rows, cap)
        except LearnerError as wrapped:
            if isinstance(wrapped.__cause__, TooFar):
                return f"{case} it read more than {at_most} rows, which settle whether there are more than {cap}."
            raise
        fault = _fault(result, there, cap)
        if fault:
            return f"{case} it returned {describe(result)}. {fault}"
    return None


def _fault(result: Any, there: int, cap: int) -> str | None:
    if not isinstance(result, dict) or set(result) != {"rows", "truncated"}:
        return 'A dict with the keys "rows" and "truncated" is wanted.'
    kept, truncated = result["rows"], result["truncated"]
    if isinstance(kept, Blank) or isinstance(truncated, Blank):
        raise NotAttempted
    if not isinstance(kept, list) or kept != [(n,) for n in range(min(there, cap))]:
        return f"The first {min(there, cap)} rows are wanted, as a list."
    if truncated is not (there > cap):
        return "Were rows left out? That is what “truncated” says, as True or False."
    return None


CAPPED = Exercise(
    key="capped",
    title="A row cap that tells",
    judge=judge_capped,
    right="The model gets at most the cap and knows whether that was all. One row more than you show settles it.",
    hint="islice(rows, n) from itertools takes at most n rows. To know whether there is a sixth row you have to "
    "ask for it, and you do not have to keep it.",
    solution="""\
def capped(rows, max_rows):
    read = list(islice(rows, max_rows + 1))
    return {"rows": read[:max_rows], "truncated": len(read) > max_rows}
""",
)

# --- One more layer ------------------------------------------------------------------------------------------------

COLUMNS = {"tickets": {"id", "team", "priority", "status", "opened"}, "salaries": {"amount"}}

MUST_RUN = (
    "SELECT team FROM tickets",
    "SELECT * FROM tickets",
    "SELECT amount FROM salaries",
    "SELECT COUNT(*) FROM salaries",
    "SELECT COUNT(*) FROM Salaries",
)
MUST_NOT = (
    "SELECT employee FROM salaries",
    "SELECT * FROM salaries",
    "SELECT amount FROM salaries ORDER BY Employee",
    "SELECT amount FROM salaries WHERE employee = 'Ana'",
    "SELECT name FROM sqlite_master",
    "SELECT COUNT(*) FROM sqlite_master",
    "DELETE FROM tickets",
    "PRAGMA table_info(salaries)",
)


def judge_layer(function: Any) -> str | None:
    """Set the learner's function as the authorizer of a small database and see what runs."""
    for sql in (*MUST_RUN, *MUST_NOT):
        answers: list[Any] = []
        asked: list[str] = []
        ran = _runs(sql, function, answers, asked)
        odd = [answer for answer in answers if not _is_verdict(answer)]
        if odd:
            return f"Asked about “{sql}” it returned {describe(odd[0])}; SQLITE_OK or SQLITE_DENY is wanted each time."
        if ran and sql in MUST_NOT:
            return f"It let “{sql}” run."
        if not ran and sql in MUST_RUN:
            return f"It refused “{sql}”. SQLite had asked about {asked[-1]}."
    return None


def _is_verdict(answer: Any) -> bool:
    """True and False are no verdicts: SQLITE_DENY is 1, so that True would refuse."""
    return not isinstance(answer, bool) and answer in (sqlite3.SQLITE_OK, sqlite3.SQLITE_DENY)


def _runs(sql: str, function: Any, answers: list[Any], asked: list[str]) -> bool:
    """Say whether `sql` runs. What was asked of the learner's function is added to `asked`, what it returned to
    `answers`; what it raised is raised."""
    raised: list[Exception] = []

    def ask(*args: Any) -> int:
        asked.append(f"action {args[0]}, {args[1]!r}, {args[2]!r}")
        try:
            answers.append(call(function, *args))
            return answers[-1] if _is_verdict(answers[-1]) else sqlite3.SQLITE_DENY
        except Exception as error:
            raised.append(error)
            return sqlite3.SQLITE_DENY

    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE tickets(id, team, priority, status, opened)")
        db.execute("CREATE TABLE salaries(employee, amount)")
        db.set_authorizer(ask)
        try:
            db.execute(sql).fetchall()
        except sqlite3.DatabaseError:
            return False
        finally:
            db.set_authorizer(None)
            if raised:
                raise raised[0]
    return True


LAYER = Exercise(
    key="layer",
    title="One more layer: columns",
    judge=judge_layer,
    right="Amounts can be averaged, names cannot be read, not even in a WHERE or an ORDER BY: the engine reports every "
    "column it needs.",
    hint="For COUNT(*) SQLite reports the table as the query wrote it, in capitals or not, with an empty column; that "
    "says nothing about a person. "
    "COLUMNS.get(table, set()) is empty for an unknown table.",
    solution="""\
def columns_only(action, first, second, where, source):
    if action == sqlite3.SQLITE_READ:
        table, column = first.lower(), second.lower()
        fine = table in COLUMNS and column in COLUMNS[table] | {""}
    else:
        fine = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION)
    return sqlite3.SQLITE_OK if fine else sqlite3.SQLITE_DENY
""",
)
