"""Move 2's explorer of the guard: what is allowed, one output, and which layer stopped it."""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from course_lib.corpora import tickets
from course_lib.learn.explorer import Choice, Control, Explorer, Slider, Text, Tick
from course_lib.learn.look import escape, paragraph, table
from course_lib.sql.guard import Guard, Refused, Result

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
    return tickets.make_database(Path(mkdtemp()) / "support.db")


def statements() -> dict[str, str]:
    """Return the ten outputs, and one that has more rows than a prompt should take."""
    return {**tickets.model_outputs(), EVERY_TICKET: "SELECT * FROM tickets"}


def draw_guard(
    output: str,
    own: str,
    tickets: bool,
    salaries: bool,
    aggregates: bool,
    others: bool,
    julianday: bool,
    rows: int,
    seconds: int,
) -> str:
    """Return what the guard makes of an output under these settings; `seconds` is in tenths."""
    tables = {name for name, on in (("tickets", tickets), ("salaries", salaries)) if on}
    ticked = {"aggregates": aggregates, "others": others, "julianday": julianday}
    functions = {function for key, names in FUNCTION_TICKS.items() if ticked[key] for function in names}
    sql = own.strip() or statements()[output]
    shown = f"<p><code>{escape(sql)}</code></p>"
    try:
        result = Guard(tables, functions, max_rows=rows, seconds=seconds / 10).run(explorer_database(), sql)
    except Refused as refused:
        told = paragraph(f"What the model is told: {refused.for_model}")
        return shown + paragraph(str(refused), "missed") + told
    return shown + paragraph(f"It runs. {result.note}", "retrieved") + show_rows(result)


def show_rows(result: Result) -> str:
    """Return the first rows of a result as a table, and how many there are besides."""
    rows = [[escape("NULL" if cell is None else cell) for cell in row] for row in result.rows[:SHOWN]]
    more = paragraph(f"… and {len(result.rows) - SHOWN} more rows.") if len(result.rows) > SHOWN else ""
    return table(result.columns, rows) + more


def guard_explorer() -> Explorer:
    """Return the explorer: an output or SQL of one's own, tables, functions, rows and seconds."""
    controls: dict[str, Control] = {
        "output": Choice("Output", tuple(statements()), "plain"),
        "own": Text("Or SQL of your own", placeholder="SELECT … and press Enter"),
        "tickets": Tick("Table tickets", True),
        "salaries": Tick("Table salaries"),
        "aggregates": Tick("Functions count, sum, avg, min, max", True),
        "others": Tick("Functions " + ", ".join(OTHER_FUNCTIONS), True),
        "julianday": Tick("Function julianday"),
        "rows": Slider("Rows at most", 1, 60, 50),
        "seconds": Slider("Tenths of a second", 1, 20, 10),
    }
    return Explorer("What runs, and which layer stopped the rest", controls, draw_guard)
