"""Models for the loop, all behind one signature: two stubs with fixed rules, a lexical navigator, and a live model.

The stubs show how the loop works and where it fails; nothing about models can be concluded from them. The lexical
navigator really retrieves, so that it can be measured. The live one goes through `course_lib.llm`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

from course_lib.bm25 import Index, Rules
from course_lib.llm import Model, ModelError, Reply, Request
from course_lib.navigation.loop import ANSWER, Decision, Evidence, Navigator, read
from course_lib.navigation.outline import Outline
from course_lib.navigation.references import mentions
from course_lib.navigation.tree import Node, walk
from course_lib.pricing import Lifetime
from course_lib.retrieval import Retriever, Usage
from course_lib.schemas import Schema

ENTRY = re.compile(r"^\s*\[(?P<id>[^\]]+)\] (?P<title>.*)$", re.MULTILINE)  # a line of the table of contents
WORD = re.compile(r"[a-z0-9]+")

# --- Two stubs --------------------------------------------------------------------------------------------------


def titles_of(toc: str) -> dict[str, str]:
    """Return ids and titles as a table of contents lists them."""
    return {entry["id"]: entry["title"] for entry in ENTRY.finditer(toc)}


def shared_words(question: str, toc: str) -> dict[str, int]:
    """Return how many words each title shares with the question, in the order of the outline.

    >>> shared_words("What if we pay late?", "[7.1] Invoicing\\n[7.3] Late payment")
    {'7.1': 0, '7.3': 1}
    """
    asked = set(WORD.findall(question.lower()))
    return {id: len(asked & set(WORD.findall(title.lower()))) for id, title in titles_of(toc).items()}


def stub_model(question: str, toc: str, evidence: Evidence, error: str | None = None) -> Decision:
    """Play a model: open the title that shares most words with the question, then follow every listed reference.

    Of equal titles it takes the first. It names only ids of the outline, so it needs no error message.
    """
    shared = shared_words(question, toc)
    if not evidence:
        return read(max(shared, key=shared.__getitem__)) if shared else ANSWER
    named = (found.number for text in evidence.values() for found in mentions(text))
    following = (id for id in named if id in shared and id not in evidence)
    return next((read(id) for id in following), ANSWER)


def careless_model(question: str, toc: str, evidence: Evidence, error: str | None = None) -> Decision:
    """Play a model that asks for "Schedule B" by name, until it is told which ids there are."""
    decision = stub_model(question, toc, evidence, error)
    return read("Schedule B") if decision.nodes == ("B",) and error is None else decision


def wavering_model(seed: int) -> Navigator:
    """Return a stub that opens any of the equally good titles, as the seed falls: two runs, two paths."""

    def wavering(question: str, toc: str, evidence: Evidence, error: str | None = None) -> Decision:
        shared = shared_words(question, toc)
        best = [id for id, count in shared.items() if count == max(shared.values())]
        if evidence or not best:
            return stub_model(question, toc, evidence, error)
        return read(best[int(Random(seed).random() * len(best))])

    return wavering


def following(path: Sequence[str]) -> Navigator:
    """Return a model that reads the given ids one after another and then answers: a path to replay or to suppose.

    With the first id wrong it is the wrong first turn; with the gold ids it is the navigator that makes no mistake.
    """

    def follow(question: str, toc: str, evidence: Evidence, error: str | None = None) -> Decision:
        return next((read(id) for id in path if id not in evidence), ANSWER)

    return follow


# --- A lexical navigator ----------------------------------------------------------------------------------------

PLAIN = Rules(identifiers="off", min_coverage=0)
SENTENCE = re.compile(r".+?[.;:!?](?=\s|$)|.+$", re.DOTALL)


@dataclass(frozen=True)
class Lexical:
    """How the lexical navigator reads.

    It opens the best `starts` nodes by BM25 over headings with the paths above them and, with `summaries` or
    `first_lines`, over what the outline says of a node or over its first sentence. From each it follows references
    `hops` deep, at most `fan` of one range or list, and then, with `definitions`, the terms that the node uses.
    With `titled` it also follows a reference by title: "see section Boolean operations".
    """

    starts: int = 2
    hops: int = 2
    fan: int = 3
    definitions: bool = True
    summaries: bool = False
    first_lines: bool = False
    titled: bool = False


TITLES = Lexical()
FIRST_LINES = Lexical(first_lines=True)


def first_sentence(text: str, longest: int = 300) -> str:
    """Return the first sentence of a text on one line, cut at `longest` characters.

    >>> first_sentence("Interest is due\\nat once. See Schedule B.")
    'Interest is due at once.'
    """
    found = SENTENCE.match(" ".join(text[: 4 * longest].split()))
    return found.group()[:longest] if found else ""


def heading_index(outline: Outline, how: Lexical = TITLES) -> Index:
    """Return a full-text index over what is said of each node: its heading path and, on demand, a line about it."""

    def about(node: Node) -> str:
        lines = [parent.title for parent in outline.parents(node.id)]
        lines += [node.summary or ""] if how.summaries else []
        lines += [first_sentence(_own_text(outline, node))] if how.first_lines else []
        return "\n".join(lines)

    return Index(((node.id, node.title, about(node)) for node in outline.walk()), tokenizer="porter", rules=PLAIN)


def _own_text(outline: Outline, node: Node) -> str:
    """Return the text that a node owns, behind its heading: "7.3 Late payment. Interest …" begins at "Interest"."""
    end = node.children[0].start if node.children else node.end
    text = outline.document[node.start : end].strip()
    heading = re.compile(rf"(?:{re.escape(node.id)}[.)]?\s+)?(?:{re.escape(node.title)}[.:]?(?:\s+|$))?")
    found = heading.match(text)
    return text[found.end() :] if found else text


def lexical_plan(outline: Outline, how: Lexical = TITLES) -> Callable[[str], list[str]]:
    """Return a function from a question to the ids that the navigator would read, in order; [] where no title fits."""
    index = heading_index(outline, how)
    by_title = _title_references(outline) if how.titled else lambda id: []

    def targets(source: str, order: Mapping[str, int]) -> list[str]:
        return [*_targets(outline, source, how.fan, order), *by_title(source)]

    @lru_cache(maxsize=1024)
    def planned(question: str) -> tuple[str, ...]:
        order = {hit.id: at for at, hit in enumerate(index.search(question, k=max(how.starts, 50)))}
        starts = list(order)[: how.starts]
        path = [id for start in starts for id in _from(outline, start, how, lambda id: targets(id, order))]
        return tuple(dict.fromkeys(path))

    return lambda question: list(planned(question))


def references_followed(outline: Outline, id: str, how: Lexical = TITLES) -> list[str]:
    """Return a node and what the lexical navigator would read from it on: references, then definitions."""
    by_title = _title_references(outline) if how.titled else lambda id: []
    return _from(outline, id, how, lambda source: [*_targets(outline, source, how.fan, {}), *by_title(source)])


def _from(outline: Outline, start: str, how: Lexical, targets: Callable[[str], list[str]]) -> list[str]:
    """Return a start, what it refers to, level by level, and the definitions of the terms that it uses."""
    path, level = [start], [start]
    for _ in range(how.hops):
        level = [id for source in level for id in targets(source) if id not in path]
        path += dict.fromkeys(level)
    if how.definitions:
        path += outline.uses(start).values()
    return path


def _targets(outline: Outline, source: str, fan: int, order: Mapping[str, int]) -> Iterator[str]:
    """Give where a node's references lead; of a range the titles nearest to the question first."""
    for reference in outline.references_from(source):
        nearest = sorted(reference.targets, key=lambda id: order.get(id, len(order)))
        yield from nearest[:fan]


def _title_references(outline: Outline) -> Callable[[str], list[str]]:
    """Return a function from an id to the nodes that its own text names by their titles, the highest of equal titles.

    A title counts behind "see", "section" or "described in" alone: "Exceptions" is a word like any other elsewhere.
    """
    titled: dict[str, str] = {}
    for node in sorted(outline.walk(), key=lambda node: node.level):
        titled.setdefault(node.title, node.id)
    names = "|".join(re.escape(title) for title in sorted(titled, key=len, reverse=True) if len(title) > 5)
    if not names:
        return lambda id: []
    behind = re.compile(rf"\b(?:[Ss]ections?|[Ss]ee(?: also:?)?|described in)\s+({names})(?!\w)".replace("\\ ", r"\s+"))

    def named(id: str) -> list[str]:
        text = _own_text(outline, outline.node(id))
        found = dict.fromkeys(titled[" ".join(match.group(1).split())] for match in behind.finditer(text))
        return [target for target in found if target != outline.node(id).id]

    return named


def lexical_navigator(outline: Outline, how: Lexical = TITLES, reads_per_step: int = 1) -> Navigator:
    """Return the best navigator without a model: BM25 over headings, then references and definitions.

    It answers when its plan is read; where no heading shares a word with the question it answers with nothing read.
    """
    plan = lexical_plan(outline, how)

    def lexical(question: str, toc: str, evidence: Evidence, error: str | None = None) -> Decision:
        unread = [id for id in plan(question) if id not in evidence]
        return read(*unread[:reads_per_step]) if unread else ANSWER

    return lexical


def document_chooser(outlines: Mapping[str, Outline]) -> Retriever:
    """Return a retriever over whole documents: BM25 over the title, the first line and the table of contents of each.

    Navigation begins inside of one document. Over many, this choice comes first, and it is a retriever's.
    """

    def about(outline: Outline) -> str:
        return f"{first_sentence(outline.document)}\n{outline.toc()}"

    documents = ((id, outline.title, about(outline)) for id, outline in outlines.items())
    return Index(documents, tokenizer="porter", rules=PLAIN).search


# --- A live model: an outline in pages --------------------------------------------------------------------------

MOST_IDS = 200  # ids in one enum; a longer outline is read in pages, a branch first
INSTRUCTIONS = (
    "You look for evidence in one document. You see its table of contents and the sections read so far. Choose the "
    "section to read next, or answer once the evidence is enough; the answer itself is written elsewhere. Follow "
    "references such as 'Schedule B' or 'Section 4', and read where a term is defined if its meaning matters."
)
CHOOSE_PAGE = " The table of contents is long: choose the part of it that holds the section to read next."


@dataclass(frozen=True)
class Page:
    """A part of an outline that fits into one enum: its number as text, its ids, and its lines."""

    number: str
    ids: tuple[str, ...]
    toc: str
    heads: str


def pages(outline: Outline, most: int = MOST_IDS) -> list[Page]:
    """Cut an outline into pages of at most `most` ids, between branches; a larger branch is cut between its parts.

    Raises ValueError for a page of fewer than one id.
    """
    if most < 1:
        raise ValueError(f"most is {most}, but a page holds 1 id or more")
    packed: list[list[Node]] = []
    for piece in _pieces(outline.nodes, most):
        if packed and len(packed[-1]) + len(piece) <= most:
            packed[-1] += piece
        else:
            packed.append(list(piece))
    return [_page(str(number), nodes) for number, nodes in enumerate(packed, start=1)]


def _pieces(nodes: Sequence[Node], most: int) -> Iterator[list[Node]]:
    """Give branches as lists of their nodes; of one that is too large its head alone, then its parts."""
    for node in nodes:
        inside = list(walk([node]))
        if len(inside) <= most:
            yield inside
        else:
            yield [node]
            yield from _pieces(node.children, most)


def _page(number: str, nodes: Sequence[Node]) -> Page:
    lines = [f"{'  ' * (node.level - 1)}[{node.id}] {node.title}{_first_page(node)}" for node in nodes]
    top = min(node.level for node in nodes)
    heads = [node for node in nodes if node.level == top]
    shown = "; ".join(node.title for node in heads[:20]) + ("; …" if len(heads) > 20 else "")
    return Page(
        number, tuple(node.id for node in nodes), "\n".join(lines), f"({nodes[0].id} to {nodes[-1].id}) {shown}"
    )


def _first_page(node: Node) -> str:
    return f" (p. {node.pages[0]})" if node.pages else ""


# --- A live model: what is sent ---------------------------------------------------------------------------------


def step_schema(ids: Sequence[str], reads_per_step: int = 1) -> Schema:
    """Return the JSON schema of a decision: the ids are an enum, so that a reply cannot name another.

    Exceptions remain (a refusal, a reply that was cut off, other capitals), which is why the loop checks all the same.
    """
    one = {"type": "string", "enum": [*ids, "none"]}
    several = {"type": "array", "items": {"type": "string", "enum": list(ids)}}
    name, node = ("node", one) if reads_per_step == 1 else ("nodes", several)
    return _schema({"action": {"type": "string", "enum": ["read", "answer"]}, name: node, "reason": {"type": "string"}})


def _schema(properties: Mapping[str, Any]) -> Schema:
    return {
        "type": "object", "properties": dict(properties), "required": list(properties), "additionalProperties": False
    }  # fmt: skip


def so_far(question: str, evidence: Evidence, error: str | None = None) -> str:
    """Return the part of a request that changes with every step: question, sections read, and what was rejected."""
    sections = "\n\n".join(f"[{id}] {text}" for id, text in evidence.items()) or "(none yet)"
    rejected = f"\n\nYour last choice was rejected: {error}" if error else ""
    return f"Question: {question}\n\nSections read so far:\n{sections}{rejected}"


@dataclass(frozen=True)
class Ask:
    """One request of a step: the part that stays the same (and is cached), the part that changes, and the schema."""

    system: tuple[str, str]
    message: str
    schema: Schema


def ask_for_node(toc: str, ids: Sequence[str], seen: str, reads_per_step: int = 1) -> Ask:
    """Return the request that chooses among the ids of one page."""
    several = f" You may name up to {reads_per_step} sections at once." if reads_per_step > 1 else ""
    return Ask((INSTRUCTIONS + several, f"Table of contents:\n{toc}"), seen, step_schema(ids, reads_per_step))


def ask_for_page(parts: Sequence[Page], seen: str) -> Ask:
    """Return the request that chooses a page of a long outline."""
    listed = "\n".join(f"[{page.number}] {page.heads}" for page in parts)
    numbers = {"type": "string", "enum": [*(page.number for page in parts), "none"]}
    schema = _schema({"action": {"type": "string", "enum": ["read", "answer"]}, "part": numbers})
    return Ask((INSTRUCTIONS + CHOOSE_PAGE, f"Parts of the table of contents:\n{listed}"), seen, schema)


def claude_model(
    model: Model,
    outline: Outline,
    *,
    reads_per_step: int = 1,
    cache: Lifetime | None = "5 minutes",
    most_ids: int = MOST_IDS,
) -> Navigator:
    """Return a live model for the loop: one call a step, two where the outline is longer than `most_ids`.

    The table of contents stands in front, where a cache can keep it; a provider caches it from its minimum length on.
    Open `model` with effort="low" where it takes one: choosing a section is a small decision. Raises ModelError as
    `Model.ask` does; the loop turns that into an error for the model, or an ending.
    """
    parts = pages(outline, most_ids)

    def ask(request: Ask) -> Reply:
        return model.ask(request.system, request.message, request.schema, cache=cache)

    def claude(question: str, toc: str, evidence: Evidence, error: str | None = None) -> Decision:
        seen = so_far(question, evidence, error)
        if not parts:
            return ANSWER
        if len(parts) == 1:
            return _decided(ask(ask_for_node(toc, parts[0].ids, seen, reads_per_step)))
        first = ask(ask_for_page(parts, seen))
        chosen = next((page for page in parts if page.number == first.data["part"]), None)
        if first.data["action"] == "answer" or chosen is None:
            return Decision(first.data["action"], (), "", first.usage, first.usd)
        try:
            second = ask(ask_for_node(chosen.toc, chosen.ids, seen, reads_per_step))
        except ModelError as failure:  # the first call was billed as well
            failure.usage, failure.usd = first.usage + failure.usage, first.usd + failure.usd
            raise
        return _decided(second, first.usage, first.usd)

    return claude


def _decided(reply: Reply, usage: Usage | None = None, usd: float = 0.0) -> Decision:
    data = reply.data
    named = data.get("nodes", [data.get("node", "none")])
    nodes = tuple(name for name in named if name != "none")
    return Decision(data["action"], nodes, data["reason"], (usage or Usage()) + reply.usage, usd + reply.usd)


def would_ask(
    model: Model,
    outline: Outline,
    question: str,
    evidence: Evidence | None = None,
    error: str | None = None,
    *,
    reads_per_step: int = 1,
    cache: Lifetime | None = "5 minutes",
    most_ids: int = MOST_IDS,
) -> Request:
    """Return the request that `claude_model` would send first, and what it could cost at most; nothing is sent.

    Raises ValueError for an outline without a node.
    """
    parts, seen = pages(outline, most_ids), so_far(question, evidence or {}, error)
    if not parts:
        raise ValueError("There is nothing to ask about: the outline has no node")
    one = len(parts) == 1
    ask = ask_for_node(outline.toc(), parts[0].ids, seen, reads_per_step) if one else ask_for_page(parts, seen)
    return model.would_send(ask.system, ask.message, ask.schema, cache=cache)
