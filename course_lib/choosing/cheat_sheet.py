"""The cheat sheet: symptom, move, what it costs, and the number that was measured.

A row shows the number that a notebook's cell computed and hands in; where none was handed in it says so. Nothing here
knows a result.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from course_lib.metrics import Rate

NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Entry:
    """A symptom, the move that helps, what it gives up, and how its number reads: a format with the value in braces."""

    key: str
    symptom: str
    move: str
    cost: str
    number: str


ENTRIES: tuple[Entry, ...] = (
    Entry(
        "whole document",
        "one document, few questions, everybody may see it",
        "0: put the source into the prompt",
        "every question pays for all of it; a cache has to stay warm",
        "USD {:.2f} per 1,000 questions with a warm cache",
    ),
    Entry(
        "identifiers",
        "a code or an order number, and the wrong article comes first",
        "1: BM25 with identifiers demanded",
        "finds the words that were typed, and no paraphrase",
        "hit rate@1 on identifiers {}",
    ),
    Entry(
        "paraphrases",
        "the customer's words are not yours",
        "dense, or hybrid beside BM25",
        "an index of vectors, and a model whose change re-encodes everything",
        "hit rate@1 of BM25 on paraphrases {}",
    ),
    Entry(
        "counts",
        "how many, how much, the oldest, last quarter",
        "2: a fixed tool, then guarded SQL",
        "schema card, views, a guard",
        "the best {0[0]} rows held {0[1]} of the {0[2]} that count",
    ),
    Entry(
        "wrong sum",
        "the SQL runs and the sum is wrong",
        "2: meanings, views with honest names, a total to reconcile with",
        "somebody who knows the ledger",
        "the naive sum is {:.2f} of the ledger",
    ),
    Entry(
        "pointer",
        "the answer says: see the appendix",
        "3: sections with ids, references followed by code",
        "a parser, and documents that have structure",
        "the table is found for {}",
    ),
    Entry(
        "navigation",
        "a hop that no reference states",
        "3: navigate the table of contents",
        "several model calls in a row; a wrong first title",
        "{:.1f} times the money of six chunks",
    ),
    Entry(
        "code",
        "text that changes by the hour and has exact names",
        "4: grep and read",
        "a model call for each guess at a synonym",
        "{0[0]} of {0[1]} patterns found it",
    ),
    Entry(
        "import",
        "a new source buries the old one",
        "keep sources apart: a field, or two indexes",
        "questions of both sides to test with",
        "the right article stood at place {} after the import",
    ),
    Entry(
        "router",
        "several shapes in one assistant",
        "tools with a description, or rules",
        "labelled questions, also for what no tool may do",
        "right tool on questions that the rules never saw {}",
    ),
)


@dataclass(frozen=True)
class Row:
    """One line of the cheat sheet, ready to be shown."""

    symptom: str
    move: str
    cost: str
    number: str

    @property
    def measured(self) -> bool:
        """Whether there is a number behind it."""
        return self.number != NOT_MEASURED


def cheat_sheet(measured: Mapping[str, object], entries: tuple[Entry, ...] = ENTRIES) -> list[Row]:
    """Return a row for each entry, its number from `measured`, which maps the keys of entries to values.

    Raises ValueError for a key that no entry has, or a value that does not fit the format of its entry.

    >>> rows = cheat_sheet({"wrong sum": 0.82})
    >>> [row.number for row in rows if row.measured]
    ['the naive sum is 0.82 of the ledger']
    """
    known = [entry.key for entry in entries]
    for key in measured:
        if key not in known:
            near = get_close_matches(str(key), known, n=1)
            raise ValueError(f"No row of the cheat sheet is {key!r}; {_perhaps(near)}there are {', '.join(known)}")
    return [
        Row(e.symptom, e.move, e.cost, _number(e, measured[e.key]) if e.key in measured else NOT_MEASURED)
        for e in entries
    ]


def _perhaps(near: list[str]) -> str:
    return f"did you mean {near[0]!r}? " if near else ""


def _number(entry: Entry, value: object) -> str:
    shown: object = f"{value.value:.2f} (n = {value.n})" if isinstance(value, Rate) else value
    write: Callable[[object], str] = entry.number.format
    try:
        return write(shown)
    except (ValueError, TypeError, IndexError, KeyError, AttributeError) as error:
        raise ValueError(f"{entry.key}: {value!r} does not fit {entry.number!r}: {error}") from None
