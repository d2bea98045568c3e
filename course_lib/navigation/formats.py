"""What the readers of all formats share: headings as a format gives them, their ids, what is not installed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from course_lib.navigation.agreements import read_agreement
from course_lib.navigation.labels import label_of
from course_lib.navigation.outline import Outline, build, verdict_on
from course_lib.navigation.tree import Heading

READY = "ready"
MARKDOWN, HTML, DOCX, PDF, PAGEINDEX = "Markdown", "HTML", "DOCX", "PDF", "PageIndex"
_PACKAGES = {
    MARKDOWN: ("markdown_it", "markdown-it-py"),
    HTML: ("bs4", "beautifulsoup4"),
    DOCX: ("docx", "python-docx"),
    PDF: ("pypdf", "pypdf"),
    PAGEINDEX: ("pageindex", "pageindex"),
}


class DocumentError(Exception):
    """A document that cannot be read: one sentence that says why, and what to do."""


def available() -> dict[str, str]:
    """Return {format: "ready", or one sentence with what is missing and the command that brings it}."""
    return {name: missing(name) or READY for name in _PACKAGES}


def missing(name: str) -> str:
    module, package = _PACKAGES[name]
    if find_spec(module) is not None:
        return ""
    return f"{name} needs {package}: run `%pip install {package}` in a cell of its own, then restart the kernel."


def require(name: str) -> None:
    """Raise DocumentError, with the sentence of `available`, where a format cannot be read here."""
    if why := missing(name):
        raise DocumentError(why)


def called(source: Path | bytes) -> str:
    return source.name if isinstance(source, Path) else "This file"


@dataclass(frozen=True)
class Entry:
    """A heading as a format gives it: title, depth, and where: a character, or a page (from 1) and how far down it.

    `down` is a share of the page, 0 at its top. `page` is None where the format says nothing or nonsense.
    """

    title: str
    level: int
    start: int = 0
    page: int | None = None
    down: float | None = None
    summary: str | None = None


_LETTER = re.compile(r"([A-Z])(?:[.)]\s|\s\s)\s*\S")


def enumerator(title: str) -> str:
    """Return what a title is numbered by, "" where it is not: "2.1" of "2.1 Scope", "4" of "Article IV".

    >>> enumerator("2.1 Scope"), enumerator("III. Costs"), enumerator("Schedule B: Rates"), enumerator("A. Scope")
    ('2.1', '3', 'B', 'A')
    """
    if label := label_of(title):
        return label.number if label.number[0].isdecimal() else ".".join(map(str, label.key)).upper()
    letter = _LETTER.match(title)
    return letter.group(1) if letter else ""


def with_ids(entries: Sequence[Entry]) -> list[Heading]:
    """Return headings with ids: the number in the title, below that of the parent; without one, a running "n7".

    Where no title has a number, ids are places in the tree: "2", "2.1".

    >>> [head.id for head in with_ids([Entry("II. Law", 1), Entry("A. History", 2), Entry("Sources", 2)])]
    ['2', '2.A', 'n3']
    >>> [head.id for head in with_ids([Entry("Law", 1), Entry("History", 2), Entry("Costs", 1)])]
    ['1', '1.1', '2']
    """
    numbers = [enumerator(entry.title) for entry in entries]
    placed = _places_in_tree(entries) if not any(numbers) else []
    headings: list[Heading] = []
    above: list[tuple[int, str]] = []
    for at, (entry, number) in enumerate(zip(entries, numbers, strict=True)):
        while above and above[-1][0] >= entry.level:
            above.pop()
        parent = above[-1][1] if above else ""
        below = number if not parent or "." in number else f"{parent}.{number}"
        id = placed[at] if placed else below if number else f"n{at + 1}"
        above.append((entry.level, id))
        headings.append(Heading(id, entry.title, entry.level, entry.start, entry.summary))
    return headings


def _places_in_tree(entries: Sequence[Entry]) -> list[str]:
    ids: list[str] = []
    counts: list[tuple[int, int]] = []  # of each open level: its depth, and how many came
    for entry in entries:
        while counts and counts[-1][0] > entry.level:
            counts.pop()
        if counts and counts[-1][0] == entry.level:
            counts[-1] = (entry.level, counts[-1][1] + 1)
        else:
            counts.append((entry.level, 1))
        ids.append(".".join(str(count) for _, count in counts))
    return ids


def structured(document: str, entries: Sequence[Entry], title: str = "") -> Outline:
    """Return the outline of a text with its headings; where they are too few, numbered lines may still be found."""
    if verdict_on(document, [entry.title for entry in entries]):
        numbered = read_agreement(document, title)
        if numbered.verdict is None:
            return numbered
    return build(document, with_ids(entries), title or (entries[0].title if entries else ""))
