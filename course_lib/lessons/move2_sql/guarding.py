"""Move 2's explorer of the guard: what is allowed, one output, and which layer stopped it."""

import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from time import monotonic

from course_lib.corpora import sql_questions as labelled
from course_lib.corpora import tickets
from course_lib.learn.explorer import Choice, Control, Explorer, Slider, Text, Tick
from course_lib.learn.look import escape, paragraph, table
from course_lib.sql.database import read_only
from course_lib.sql.guard import AllowList, Guard, Refused, Result, strip_fences
from course_lib.sql.schema_card import make_views

OTHER_FUNCTIONS = ("round", "lower", "upper", "coalesce", "like", "date", "strftime")
FUNCTION_TICKS = {
    "aggregates": ("count", "sum", "avg", "min", "max"),
    "others": OTHER_FUNCTIONS,
    "julianday": ("julianday",),
}
EVERY_TICKET = "every ticket"
SHOWN = 5


@cache
def explorer_database() -> Path:
    """Return a database of the explorer's own; nothing that is tried in it changes the notebook's."""
    path = tickets.make_database(Path(mkdtemp()) / "support.db")
    make_views(path, labelled.TICKET_VIEWS)
    return path


def statements() -> dict[str, str]:
    """Return the ten outputs, and one that has more rows than a prompt should take."""
    return {**tickets.model_outputs(), EVERY_TICKET: "SELECT * FROM tickets"}


def draw_guard(
    output: str,
    own: str,
    connection: bool,
    allow_list: bool,
    tickets: bool,
    salaries: bool,
    aggregates: bool,
    others: bool,
    julianday: bool,
    rows: int,
    seconds: int,
) -> str:
    """Return what becomes of an output under these settings; `seconds` is in tenths.

    With a layer left out only the ten outputs are run, on a copy that is thrown away; what is typed meets all layers.
    """
    tables = {name for name, on in (("tickets", tickets), ("salaries", salaries)) if on}
    ticked = {"aggregates": aggregates, "others": others, "julianday": julianday}
    functions = {function for key, names in FUNCTION_TICKS.items() if ticked[key] for function in names}
    guard = Guard(tables, functions, max_rows=rows, seconds=seconds / 10)
    sql = own.strip() or statements()[output]
    shown = f"<p><code>{escape(sql)}</code></p>"
    if own.strip() or (connection and allow_list):
        return shown + guarded(guard, sql)
    return shown + without_a_layer(guard, sql, connection, allow_list)


def guarded(guard: Guard, sql: str) -> str:
    """Return what the library's guard makes of a statement, for a person and for the model."""
    try:
        result = guard.run(explorer_database(), sql)
    except Refused as refused:
        return paragraph(str(refused), "plain") + paragraph(f"What the model is told: {refused.for_model}")
    return paragraph(f"It runs. {result.note}") + show_rows(result)


def without_a_layer(guard: Guard, sql: str, connection: bool, allow_list: bool) -> str:
    """Run a statement on a copy without one layer or two, and say what it did to the data."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / "copy.db"
        copy.write_bytes(explorer_database().read_bytes())
        deadline = monotonic() + guard.seconds
        with closing(read_only(copy) if connection else sqlite3.connect(copy)) as db:
            before = db.execute("SELECT COUNT(*) FROM tickets").fetchone()[0]
            db.set_progress_handler(lambda: monotonic() > deadline, 1000)
            if allow_list:
                db.set_authorizer(AllowList(guard.tables, guard.functions, frozenset({"tickets", "salaries"})).ask)
            try:
                found = db.execute(strip_fences(sql)).fetchmany(guard.max_rows + 1)
            except sqlite3.Error as error:
                return paragraph(f"Refused: {error}.")
            db.set_authorizer(None)
            gone = before - db.execute("SELECT COUNT(*) FROM tickets").fetchone()[0]
    if gone:
        return paragraph(f"It runs, and {gone} of {before} tickets are gone.", "missed")
    columns = [str(number + 1) for number in range(len(found[0]))] if found else []
    cut = len(found) > guard.max_rows
    return paragraph("It runs.") + show_rows(Result(sql, tuple(columns), found[: guard.max_rows], cut))


def show_rows(result: Result) -> str:
    """Return the first rows of a result as a table, and how many there are besides."""
    rows = [[escape("NULL" if cell is None else cell) for cell in row] for row in result.rows[:SHOWN]]
    more = paragraph(f"… and {len(result.rows) - SHOWN} more rows.") if len(result.rows) > SHOWN else ""
    return table(result.columns, rows) + more


def guard_explorer() -> Explorer:
    """Return the explorer: an output or SQL of one's own, the layers, tables, functions, rows and seconds."""
    controls: dict[str, Control] = {
        "output": Choice("Output", tuple(statements()), "plain"),
        "own": Text("Or SQL of your own", placeholder="SELECT … and press Enter: meets all layers"),
        "connection": Tick("Layer: read-only connection", True),
        "allow_list": Tick("Layer: allow-list", True),
        "tickets": Tick("Table tickets", True),
        "salaries": Tick("Table salaries"),
        "aggregates": Tick("Functions count, sum, avg, min, max", True),
        "others": Tick("Functions " + ", ".join(OTHER_FUNCTIONS), True),
        "julianday": Tick("Function julianday"),
        "rows": Slider("Rows at most", 1, 60, 50),
        "seconds": Slider("Tenths of a second", 1, 20, 10),
    }
    return Explorer("What runs, and which layer stopped the rest", controls, draw_guard)
