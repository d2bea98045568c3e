"""A document as an outline: a tree of nodes with ids and titles, each a stretch of the text that it stands for.

The model reads `toc()`, names an id, and code returns `text(id)`. The module goes the way of its notebook: headings
become a tree, the tree owns every character once, an id is looked up with patience, references lead to ids.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from types import MappingProxyType

from course_lib.navigation.definitions import Definition, defined_terms, used_terms
from course_lib.navigation.links import Places, places, resolve
from course_lib.navigation.references import mentions
from course_lib.navigation.tree import Heading, Leaf, Node, Problem, Span, nested, problems, unique, walk

CHARACTERS_A_PAGE = 3000  # where a document has no pages of its own
PAGES_A_HEADING = 10  # fewer headings than this, and reading a node is no cheaper than reading the document
FRONT, WHOLE = "front", "document"

# --- The tree ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reference:
    """A reference in the document: what is written, the node it stands in, and the ids that it leads to.

    `targets` is empty where nothing in the document answers to it; `elsewhere` then names the law or document meant,
    and is "" for a reference that should lead somewhere and does not. `note` says how an inexact one was read.
    """

    printed: str
    start: int
    end: int
    source: str
    targets: tuple[str, ...]
    note: str = ""
    elsewhere: str = ""


class UnknownId(LookupError):
    """An id that no node has: one sentence with near matches and valid ids."""


@dataclass(frozen=True)
class Outline:
    """A document's text and the tree over it.

    `verdict` is None, or the sentence that says why the document has no structure to go by; the tree then is one node
    over everything. `page_starts` holds the first character of each page. `printing` marks what belongs to the paper
    and not to the matter (a table of contents, page headers and footers): it stays in the text, but what it names is
    neither a heading nor a reference. `remarks` is what was wrong with the source.
    """

    document: str
    nodes: tuple[Node, ...]
    title: str = ""
    verdict: str | None = None
    page_starts: tuple[int, ...] = ()
    printing: tuple[Span, ...] = ()
    remarks: tuple[Problem, ...] = ()

    def walk(self) -> Iterator[Node]:
        """Give every node, parents before children, in the order of the document."""
        return walk(self.nodes)

    def ids(self) -> list[str]:
        """Return every id, in the order of the document."""
        return list(self._by_id)

    def leaves(self) -> list[Leaf]:
        """Return who owns what: put together, the leaves are the document, whatever the document is."""
        owned = []
        for node in self.walk():
            end = node.children[0].start if node.children else node.end
            if not node.children or end > node.start:
                owned.append(Leaf(node.id, node.start, end))
        return owned

    def toc(self, depth: int | None = None, summaries: bool = False) -> str:
        """Return what the model reads: a line `[id] title` for each node, indented by depth, no section text.

        `depth` leaves out what lies deeper than that many levels.
        """
        lines = []
        for node in self.walk():
            if depth is None or node.level <= depth:
                pages = f" (p. {node.pages[0]})" if node.pages else ""
                summary = f": {node.summary}" if summaries and node.summary else ""
                lines.append(f"{'  ' * (node.level - 1)}[{node.id}] {node.title}{pages}{summary}")
        return "\n".join(lines)

    # --- Read by id ---

    def find(self, id: str) -> Node | None:
        """Return the node of an id, in whatever capitals, or None."""
        return self._by_id.get(id) or self._by_folded.get(id.strip().casefold())

    def node(self, id: str) -> Node:
        """Return the node of an id, in whatever capitals. Raises UnknownId, whose sentence names near matches."""
        found = self.find(id)
        if found is None:
            raise UnknownId(self.unknown(id))
        return found

    def text(self, id: str) -> str:
        """Return the text of a node with everything inside it, without the blank lines around. Raises UnknownId."""
        node = self.node(id)
        return self.document[node.start : node.end].strip()

    def near(self, id: str, n: int = 3) -> list[str]:
        """Return up to `n` ids that were perhaps meant: by the id, by the title, or by how the title begins."""
        asked = " ".join(id.casefold().split())
        named = {folded: node.id for folded, node in self._by_folded.items()}
        titled = {" ".join(node.title.casefold().split()): node.id for node in self.walk()}
        begins = [found for title, found in titled.items() if len(asked) > 2 and title.startswith(asked)]
        close = get_close_matches(asked, [*named, *titled], n=n, cutoff=0.6)
        return list(dict.fromkeys([*begins, *((named | titled)[match] for match in close)]))[:n]

    def unknown(self, id: str, shown: int = 30) -> str:
        """Return the sentence for an id that no node has: near matches, and the first `shown` valid ids."""
        near, ids = self.near(id), self.ids()
        perhaps = f"near matches: {', '.join(near)}; " if near else ""
        more = f", and {len(ids) - shown} more in the table of contents" if len(ids) > shown else ""
        return f"unknown node {id!r}; {perhaps}valid ids: {', '.join(ids[:shown])}{more}"

    def parents(self, id: str) -> list[Node]:
        """Return what a node lies in, outermost first: its heading path. Raises UnknownId."""
        path, at = [], self._parent.get(self.node(id).id)
        while at is not None:
            path.append(self._by_id[at])
            at = self._parent.get(at)
        return path[::-1]

    def owner(self, at: int) -> str:
        """Return the id of the node that owns the character at `at`. Raises IndexError outside of the document."""
        if not 0 <= at < len(self.document):
            raise IndexError(f"Character {at} is outside of the document, which has {len(self.document):,}")
        starts, leaves = self._leaf_starts
        return leaves[bisect_right(starts, at) - 1].id

    # --- What is wrong with it ---

    def check(self) -> list[Problem]:
        """Return gaps, overlaps, spans that run backwards, repeated titles and ids, and what the source had wrong.

        A tree that `build` made has no gap and no overlap, whatever it was made from.
        """
        return [*self.remarks, *problems(self.nodes, len(self.document))]

    # --- Defined terms ---

    @cached_property
    def defined(self) -> Mapping[str, Definition]:
        """Each defined term and the best definition of it: "means" before a bracket, a bracket before a pointer."""
        order = ("means", "inline", "elsewhere")
        best: dict[str, Definition] = {}
        for found in defined_terms(self.document):
            known = best.get(found.term)
            if known is None or order.index(found.strength) < order.index(known.strength):
                best[found.term] = found
        return MappingProxyType(best)

    @cached_property
    def definitions(self) -> Mapping[str, str]:
        """Each defined term and the id of the node that defines it.

        A definition that only points on ("has the meaning set forth in Section 9.1") gives the node it points to.
        """
        return MappingProxyType({term: self._defining(found) for term, found in self.defined.items()})

    def _defining(self, found: Definition) -> str:
        here = self.owner(found.start)
        if found.strength == "elsewhere":
            for mention in mentions(self.document[found.start : found.end + 80]):
                targets, _ = resolve(mention, here, self._places)
                if targets and not mention.elsewhere:
                    return targets[0]
        return here

    def uses(self, id: str) -> dict[str, str]:
        """Return the defined terms that a node's text uses, with the ids of the other nodes that define them."""
        node = self.node(id)
        inside = {within.id for within in walk([node])}
        used = used_terms(self.document[node.start : node.end], list(self.definitions))
        return {term: self.definitions[term] for term in used if self.definitions[term] not in inside}

    # --- References ---

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """Every reference in the document, resolved where it can be. A heading's own number is none."""
        return tuple(self._references(0, len(self.document)))

    @property
    def unresolved(self) -> list[Reference]:
        """Return the references that should lead somewhere in this document, and do not."""
        return [found for found in self.references if not found.targets and not found.elsewhere]

    def references_from(self, id: str) -> list[Reference]:
        """Return the references in a node's text, those of the nodes inside it included. Raises UnknownId."""
        node = self.node(id)
        return list(self._references(node.start, node.end))

    def _references(self, start: int, end: int) -> Iterator[Reference]:
        skipped = [first for first, _ in self.printing]
        for found in mentions(self.document[start:end]):
            first, last = start + found.start, start + found.end
            printed = bisect_right(skipped, first) - 1
            if first in self._heading_starts or (printed >= 0 and first < self.printing[printed][1]):
                continue
            source = self.owner(first)
            elsewhere = "" if found.elsewhere.casefold() == self.title.casefold() else found.elsewhere
            targets, note = ((), "") if elsewhere else resolve(found, source, self._places)
            if not targets and re.match(r"\d{3}", found.number):
                elsewhere = (
                    elsewhere or "a law"
                )  # no agreement has a hundred sections, and laws are named by number alone
            yield Reference(found.printed, first, last, source, targets, note, elsewhere)

    # --- Made once, when first asked for ---

    @cached_property
    def _by_id(self) -> dict[str, Node]:
        return {node.id: node for node in self.walk()}

    @cached_property
    def _by_folded(self) -> dict[str, Node]:
        return {node.id.casefold(): node for node in self.walk()}

    @cached_property
    def _parent(self) -> dict[str, str]:
        return {child.id: node.id for node in self.walk() for child in node.children}

    @cached_property
    def _leaf_starts(self) -> tuple[list[int], list[Leaf]]:
        leaves = [leaf for leaf in self.leaves() if leaf.end > leaf.start]
        return [leaf.start for leaf in leaves], leaves

    @cached_property
    def _heading_starts(self) -> set[int]:
        """Where each heading's own words begin, behind blank lines and a "#"."""
        word = re.compile(r"[\w§]")
        found = (word.search(self.document, node.start) for node in self.walk())
        return {first.start() for first in found if first}

    @cached_property
    def _places(self) -> Places:
        return places(self.nodes)


# --- From headings to a tree ------------------------------------------------------------------------------------


def build(
    document: str,
    headings: Iterable[Heading],
    title: str = "",
    page_starts: Sequence[int] = (),
    printing: Sequence[Span] = (),
    remarks: Iterable[Problem] = (),
) -> Outline:
    """Return the outline that headings make of a document, or a verdict where they are too few to go by.

    A heading owns what follows it up to the next one. What stands before the first belongs to a node of its own, with
    the id "front", so that no character is lost. A repeated id gets a number behind it: "12.1#2".

    >>> HEADS = [Heading("1", "Fees", 1, 6), Heading("1.1", "Late", 2, 18)]
    >>> outline = build("Intro\\n1 Fees\\nDue.\\n1.1 Late\\nInterest.", HEADS)
    >>> print(outline.toc())
    [front] Opening: Intro
    [1] Fees
      [1.1] Late
    >>> outline.text("1.1")
    '1.1 Late\\nInterest.'
    """
    found = sorted((head for head in headings if 0 <= head.start < len(document)), key=lambda head: head.start)
    verdict = verdict_on(document, [head.title for head in found], len(page_starts))
    if verdict:
        return whole(document, title, verdict, page_starts, printing, remarks)
    if document[: found[0].start].strip():
        found.insert(0, Heading(FRONT, f"Opening: {_first_line(document)}", found[0].level, 0))
    else:
        found[0] = replace(found[0], start=0)
    nodes = nested(unique(found), len(document), page_starts)
    return Outline(document, nodes, title, None, tuple(page_starts), tuple(printing), tuple(remarks))


def whole(
    document: str,
    title: str,
    verdict: str,
    page_starts: Sequence[int] = (),
    printing: Sequence[Span] = (),
    remarks: Iterable[Problem] = (),
) -> Outline:
    """Return the outline of a document without structure: one node over everything, and the verdict."""
    heading = Heading(WHOLE, title or _first_line(document) or "The whole document", 1, 0)
    nodes = nested([heading], len(document), page_starts) if document else ()
    return Outline(document, nodes, title, verdict, tuple(page_starts), tuple(printing), tuple(remarks))


def verdict_on(document: str, titles: Sequence[str], pages: int = 0) -> str | None:
    """Return why these headings are no structure to go by, None where they are one.

    >>> verdict_on("text " * 54_000, ["Scope", "Miscellaneous"])
    '2 headings in 90 pages: there is nothing to navigate by. Chunk it instead.'
    """
    length = pages or max(1, round(len(document) / CHARACTERS_A_PAGE))
    size = f"{length} page{'s' if length > 1 else ''}"
    if not document.strip():
        return "There is no text in this document: a scan needs OCR first."
    if len(titles) < 2:
        found = "One heading" if titles else "No headings"
        return f"{found} in {size}: there is nothing to navigate by. {_instead(length)}"
    if length / len(titles) > PAGES_A_HEADING:
        return f"{len(titles)} headings in {size}: there is nothing to navigate by. Chunk it instead."
    same = Counter(re.sub(r"\d+", "#", title.casefold().strip()) for title in titles).most_common(1)[0]
    numbers_only = re.fullmatch(r"(?:page|p\.|slide|seite|sheet)?\s*#|", same[0]) is not None
    if (numbers_only and same[1] > len(titles) / 2) or len({title.casefold().strip() for title in titles}) == 1:
        return (
            f"{same[1]} of {len(titles)} headings read like {titles[-1]!r}: they tell nothing apart. {_instead(length)}"
        )
    return None


def _instead(pages: int) -> str:
    return "Chunk it instead." if pages > 2 else "It is short: read it whole."


def _first_line(document: str) -> str:
    line = re.search(r"\S[^\r\n\f]{0,79}", document)
    return " ".join(line.group().split()) if line else ""


# --- From sections that are already apart -----------------------------------------------------------------------


def from_sections(sections: Iterable[tuple[str, str, str]], title: str = "") -> Outline:
    """Return the outline of sections given as (id, title, text), side by side, with the ids they have.

    The document is their texts one after another; a title stands in the table of contents only. Raises ValueError
    for an id that is blank, holds a space or a bracket, or repeats.

    >>> rates = ("B", "Schedule B: Rates", "12% a year.")
    >>> agreement = from_sections([("7.3", "Late payment", "See Schedule B."), rates])
    >>> print(agreement.toc())
    [7.3] Late payment
    [B] Schedule B: Rates
    >>> [found.targets for found in agreement.references]
    [('B',)]
    """
    texts, nodes, seen, at = list[str](), list[Node](), set[str](), 0
    for id, name, text in sections:
        if not re.fullmatch(r"[^\s\[\]]+", id) or id.casefold() in seen:
            raise ValueError(f"{id!r} is no id for a section: it must be unique, without spaces or brackets.")
        seen.add(id.casefold())
        texts.append(f"{text}\n\n")
        nodes.append(Node(id, name, 1, at, at + len(texts[-1])))
        at += len(texts[-1])
    return Outline("".join(texts), tuple(nodes), title)
