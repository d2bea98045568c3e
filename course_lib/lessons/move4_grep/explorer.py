"""Move 4's explorer: a pattern, its hits, and what the result costs from then on."""

from course_lib.corpora import DATA
from course_lib.corpora.repository import files
from course_lib.grep import Limits, Memory, PatternError, Repository, grep, tool_text
from course_lib.learn.explorer import Choice, Control, Explorer, Slider, Text, Tick
from course_lib.learn.look import Accent, escape, paragraph, table
from course_lib.lessons.move4_grep.experiment import repository
from course_lib.pricing import cost, load_prices
from course_lib.retrieval import Usage
from course_lib.tokens import count_tokens

SIX, LIBRARY = "the six files", "Python's standard library"


def place(where: str) -> Repository:
    """Return the repository of that name."""
    return Memory(files()) if where == SIX else repository()


def draw_search(
    pattern: str, where: str, path: str, capitals: bool, hits: int, width: int, context: int, later: int, seconds: int
) -> str:
    """Return what a search brings and what it costs; `seconds` is in tenths, `later` the calls that follow."""
    limits = Limits(hits=hits, line_characters=width, seconds=seconds / 10)
    try:
        found = grep(place(where), pattern, path.strip(), limits=limits, ignore_case=not capitals, context=context)
    except ValueError as refused:  # PatternError and PathError: what the model is told
        kind = "Refused" if isinstance(refused, PatternError) else "No such place"
        return paragraph(f"{kind}: {refused}", "missed")
    text = tool_text(found)
    said = paragraph(f"{found.outcome}{_counted(found.total, len(found.matches))}", _accent(found.outcome))
    return said + f"<pre>{escape(text)}</pre>" + _bill(count_tokens(text), later)


def _accent(outcome: str) -> Accent:
    return "retrieved" if outcome == "found" else "missed"


def _counted(total: int | None, shown: int) -> str:
    if total is None:
        return ": how many lines match is not known."
    return f": {shown:,} of {total:,} matching lines are shown." if total else "."


def _bill(tokens: int, later: int) -> str:
    """Return the tokens of a result on the next call, and on all that follow, with and without a cache."""
    price = next(iter(load_prices(DATA / "prices.json").values()))
    fresh = Usage(fresh=tokens * (1 + later))
    kept = Usage(written=tokens, cached=tokens * later)
    rows = [
        ["on the next call", f"{tokens:,}", f"{cost(Usage(fresh=tokens), price):.4f}"],
        [f"with {later} calls after it", f"{fresh.input:,}", f"{cost(fresh, price):.4f}"],
        ["the same, read from a cache", f"{kept.input:,}", f"{cost(kept, price):.4f}"],
    ]
    return table(["This result", "input tokens", "USD"], rows, numbers=[1, 2])


def search_explorer() -> Explorer:
    """Return the explorer: pattern, place, caps, lines of context, and the calls that follow."""
    controls: dict[str, Control] = {
        "pattern": Text("Pattern", "timeout", placeholder="a pattern, and press Enter"),
        "where": Choice("Search in", (LIBRARY, SIX), LIBRARY),
        "path": Text("Only under", placeholder="a folder or a file, such as http"),
        "capitals": Tick("Capitals count"),
        "hits": Slider("Hits at most", 1, 50, 5),
        "width": Slider("Characters a line", 20, 300, 120),
        "context": Slider("Lines around a hit", 0, 10, 0),
        "later": Slider("Calls after it", 0, 20, 7),
        "seconds": Slider("Tenths of a second", 1, 30, 20),
    }
    return Explorer("A pattern, its hits, and their price", controls, draw_search)
