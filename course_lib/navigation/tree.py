"""The tree over a document: what a node and a heading are, how headings nest, and what can be wrong with a tree."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Span = tuple[int, int]
ProblemKind = Literal["gap", "overlap", "backwards", "repeated title", "repeated id", "source"]


@dataclass(frozen=True)
class Node:
    """One section: its id, title, depth (from 1), where it stands, and what is inside it.

    `start` and `end` are characters of the document, the end not included; the children lie between them. `pages` are
    the first and last physical page, counted from 1, where the document has pages.
    """

    id: str
    title: str
    level: int
    start: int
    end: int
    children: tuple["Node", ...] = ()
    summary: str | None = None
    pages: tuple[int, int] | None = None


@dataclass(frozen=True)
class Leaf:
    """A stretch of the document and the one node that owns it: one without children, or what stands before them."""

    id: str
    start: int
    end: int


@dataclass(frozen=True)
class Heading:
    """What a tree is made of: an id, a title, a depth (any numbers, deeper is larger) and where it begins."""

    id: str
    title: str
    level: int
    start: int
    summary: str | None = None


@dataclass(frozen=True)
class Problem:
    """Something wrong with an outline or with what it was made from: one sentence, and the ids it is about."""

    kind: ProblemKind
    ids: tuple[str, ...]
    sentence: str


# --- From headings to nodes ---


def unique(headings: Iterable[Heading]) -> list[Heading]:
    """Number the ids that repeat, whatever their capitals, since a lookup does not see those."""
    seen: set[str] = set()
    unique = []
    for head in headings:
        id, count = head.id, 2
        while id.casefold() in seen:
            id, count = f"{head.id}#{count}", count + 1
        seen.add(id.casefold())
        unique.append(replace(head, id=id))
    return unique


def nested(headings: Sequence[Heading], end: int, page_starts: Sequence[int]) -> tuple[Node, ...]:
    """Hang each heading under the nearest one before it that is less deep; a node ends where the next such begins."""
    open_ones: list[tuple[Heading, list[Node]]] = []
    top: list[Node] = []

    def close(at: int) -> None:
        head, children = open_ones.pop()
        siblings = open_ones[-1][1] if open_ones else top
        level = len(open_ones) + 1
        pages = _pages(head.start, at, page_starts)
        siblings.append(Node(head.id, head.title, level, head.start, at, tuple(children), head.summary, pages))

    for head in headings:
        while open_ones and open_ones[-1][0].level >= head.level:
            close(head.start)
        open_ones.append((head, []))
    while open_ones:
        close(end)
    return tuple(top)


def _pages(start: int, end: int, page_starts: Sequence[int]) -> tuple[int, int] | None:
    if not page_starts:
        return None
    first, last = (bisect_right(page_starts, at) for at in (start, max(start, end - 1)))
    return max(1, first), max(1, last)


# --- What is wrong ---


def walk(nodes: Sequence[Node]) -> Iterator[Node]:
    """Give nodes with all that is inside them, parents before children, in the order of the document."""
    pending = list(reversed(nodes))
    while pending:
        node = pending.pop()
        yield node
        pending += reversed(node.children)


def problems(nodes: Sequence[Node], length: int) -> Iterator[Problem]:
    """Give what is wrong with a tree over a document of `length` characters."""
    yield from _between(nodes, 0, length, "the document")
    for node in walk(nodes):
        if node.end < node.start:
            yield Problem("backwards", (node.id,), f"{node.id} ends before it begins.")
        if node.children:
            first = node.children[0]
            if first.start < node.start:
                yield Problem("overlap", (node.id, first.id), f"{first.id} begins before {node.id}, which holds it.")
            yield from _between(node.children, None, node.end, node.id)
    yield from _repeated("repeated title", ((node.title.casefold().strip(), node.id) for node in walk(nodes)))
    yield from _repeated("repeated id", ((node.id.casefold(), node.id) for node in walk(nodes)))


def _between(nodes: Sequence[Node], start: int | None, end: int, of: str) -> Iterator[Problem]:
    """Give the gaps and overlaps between neighbours, before the first where `start` is known, and behind the last."""
    at, before = start, ""
    for node in nodes:
        behind = f"{of}, behind {before}" if before else of
        if at is not None and node.start > at:
            yield Problem(
                "gap", (node.id,), f"Before {node.id}, {node.start - at} characters of {behind} have no node."
            )
        if at is not None and before and node.start < at:
            yield Problem("overlap", (before, node.id), f"{node.id} begins {at - node.start} characters too early.")
        at, before = max(at or 0, node.end), node.id
    if at is not None and at < end:
        ids = (before,) if before else ()
        yield Problem("gap", ids, f"The last {end - at} characters of {of} have no node.")
    if before and at is not None and at > end:
        yield Problem("overlap", (before,), f"{before} runs {at - end} characters past the end of {of}.")


def _repeated(kind: ProblemKind, names: Iterable[tuple[str, str]]) -> Iterator[Problem]:
    groups: dict[str, list[str]] = {}
    for name, id in names:
        groups.setdefault(name, []).append(id)
    what = kind.removeprefix("repeated ")
    for name, ids in groups.items():
        if len(ids) > 1:
            yield Problem(kind, tuple(ids), f"The {what} {name!r} stands {len(ids)} times: {', '.join(ids[:6])}.")
