"""Defined terms: “Fees” means …, (the "Provider"), "Term" has the meaning set forth in Section 9.1."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Strength = Literal["means", "inline", "elsewhere"]  # from the best place to read to the one that only points on

_TERM = r"[\"“](?P<term>[^\W_][^\"”“\n]{0,80}?)[\"”]"
_SAYS = re.compile(
    rf"{_TERM}(?P<between>[^\"“”\n.;]{{0,120}}?)[ \t]+"
    r"(?P<verb>means?\b|(?:shall|will) mean\b|refers? to\b|has the (?:same )?meanings?\b|ha(?:s|ve) the meaning"
    r"|(?:shall|will) have the (?:same )?(?:respective )?meanings?\b)"
)
_BEFORE = r"(?:(?!see\b|in\b|at\b|e\.g)[a-z/]+,?[ \t]+){0,10}"  # (hereinafter together the "X"), but not (see "X")
_INLINE = re.compile(rf"\((?:[Tt]he |[Ee]ach |[Cc]ollectively, )?{_BEFORE}{_TERM}[^()\n]{{0,120}}\)")
_QUOTED = re.compile(_TERM)


@dataclass(frozen=True)
class Definition:
    """A term, where its definition begins and ends (characters of the document), and how good a place that is."""

    term: str
    start: int
    end: int
    strength: Strength


def defined_terms(text: str) -> list[Definition]:
    """Return every definition in `text` in order: "X" means, (the "X"), and "X" has the meaning set forth elsewhere.

    >>> text = '“Fees” means the sums due. Acme (the "Provider") runs it.'
    >>> [(found.term, found.strength) for found in defined_terms(text)]
    [('Fees', 'means'), ('Provider', 'inline')]
    """
    return sorted(_definitions(text), key=lambda found: found.start)


def _definitions(text: str) -> Iterator[Definition]:
    for found in _SAYS.finditer(text):
        strength: Strength = "elsewhere" if "meaning" in found["verb"] else "means"
        yield Definition(_tidy(found["term"]), found.start("term"), found.end(), strength)
    for found in _INLINE.finditer(text):
        for quoted in _QUOTED.finditer(found.group()):
            at = found.start() + quoted.start("term")
            yield Definition(_tidy(quoted["term"]), at, found.end(), "inline")


def _tidy(term: str) -> str:
    return " ".join(term.split()).strip(" ,.;")


def used_terms(text: str, terms: list[str]) -> list[str]:
    """Return which of `terms` stand in `text` as they are written, in order of first use.

    The longest term wins where one holds another: "Late Fees" is no use of "Fees".

    >>> used_terms("Late Fees are due with the Fees.", ["Fees", "Late Fees", "Term"])
    ['Late Fees', 'Fees']
    """
    if not terms:
        return []
    longest_first = sorted(set(terms), key=lambda term: (-len(term), term))
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
    return list(dict.fromkeys(found.group() for found in pattern.finditer(text)))
