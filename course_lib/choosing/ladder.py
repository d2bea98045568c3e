"""Challenge 1, the delegation limit: twelve policies, and an answer in a table one reference away.

A ladder of attempts: each is run over the documents, says which sections it would put in front of the model, and is
priced by their tokens. Whether the model then reads the table rightly is another question, and not answered here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from course_lib.long_context import expected_cost, fits
from course_lib.metrics import Rate, rate
from course_lib.navigation.loop import STEP_OUTPUT, navigate
from course_lib.navigation.models import TITLES, Lexical, lexical_navigator
from course_lib.navigation.outline import Outline, build
from course_lib.navigation.tree import Heading
from course_lib.pricing import Lifetime, Price, cost
from course_lib.retrieval import Retriever, Usage
from course_lib.tokens import count_tokens

BASE = 300  # tokens of instructions and question, as in the bill of navigation
OUTPUT = 250  # tokens of an answer
PER_DAY = 200  # questions
HOURS = 10  # of a working day, over which they are spread

# --- The documents --------------------------------------------------------------------------------------------------


class Part(Protocol):
    """A heading and the text under it, up to the next heading."""

    @property
    def id(self) -> str: ...
    @property
    def heading(self) -> str: ...
    @property
    def level(self) -> int: ...
    @property
    def text(self) -> str: ...


class Document(Protocol):
    """A document in parts."""

    @property
    def key(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def parts(self) -> Sequence[Part]: ...


class Question(Protocol):
    """A question, the document it is about, the part that points, and the part that holds the answer."""

    @property
    def text(self) -> str: ...
    @property
    def policy(self) -> str: ...
    @property
    def pointer(self) -> str: ...
    @property
    def target(self) -> str: ...


def outline_of(document: Document) -> Outline:
    """Return a document as an outline, its parts as nodes with the ids they have."""
    headings, texts, at = list[Heading](), list[str](), 0
    for part in document.parts:
        headings.append(Heading(part.id, part.heading, part.level, at))
        texts.append(f"{part.heading}\n{part.text}\n\n")
        at += len(texts[-1])
    return build("".join(texts), headings, document.title)


class Library:
    """Several documents with their outlines. An id is that of document and part: "procurement 5.4"."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.outlines = {document.key: outline_of(document) for document in documents}

    def text(self, id: str) -> str:
        """Return the text of a part, with everything inside it. Raises LookupError for an id that is none."""
        key, part = id.split(" ", 1)
        return self.outlines[key].text(part)

    def targets(self, id: str) -> list[str]:
        """Return the ids of the parts that a part refers to, in the order of its text."""
        key, part = id.split(" ", 1)
        found = self.outlines[key].references_from(part)
        return [f"{key} {target}" for target in dict.fromkeys(t for one in found for t in one.targets)]

    @cached_property
    def tokens(self) -> dict[str, int]:
        """The tokens of each document as a whole."""
        return {key: count_tokens(outline.document) for key, outline in self.outlines.items()}


# --- An attempt -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Look:
    """What one attempt puts in front of a model for one question: ids, input tokens of all calls, and USD."""

    ids: tuple[str, ...]
    tokens: int
    usd: float


@dataclass(frozen=True)
class Attempt:
    """A way to answer: `look` gives what it finds for a question; `needs` is what somebody has to build or keep."""

    key: str
    name: str
    needs: str
    look: Callable[[str], Look]


def _one_call(library: Library, ids: Sequence[str], price: Price) -> Look:
    usage = Usage(BASE + sum(count_tokens(library.text(id)) for id in ids), output=OUTPUT, calls=1)
    return Look(tuple(ids), usage.input, cost(usage, price))


def by_chunks(key: str, name: str, needs: str, library: Library, retriever: Retriever, price: Price, k: int) -> Attempt:
    """Return the attempt that puts the `k` best chunks into one prompt."""
    return Attempt(key, name, needs, lambda question: _one_call(library, _ids(retriever, question, k), price))


def _ids(retriever: Retriever, question: str, k: int) -> list[str]:
    return [hit.id for hit in retriever(question, k)]


def by_references(library: Library, retriever: Retriever, price: Price, k: int = 3) -> Attempt:
    """Return the attempt that takes the `k` best sections and what they refer to: code follows, no model is asked."""

    def look(question: str) -> Look:
        found = _ids(retriever, question, k)
        with_targets = [id for one in found for id in (one, *library.targets(one))]
        return _one_call(library, list(dict.fromkeys(with_targets)), price)

    needs = "sections with ids, references resolved once, when a policy is loaded"
    return Attempt("follow", f"{k} sections and what they point to", needs, look)


def by_navigation(
    library: Library, retriever: Retriever, price: Price, how: Lexical = TITLES, max_steps: int = 8
) -> Attempt:
    """Return the attempt that takes the policy of the best section and reads its way through the outline.

    Which titles are read is decided by the lexical navigator in the place of a model, so that it can be run; what it
    costs is counted as for a model, one call a step with the outline and what was read before.
    """
    models = {key: lexical_navigator(outline, how) for key, outline in library.outlines.items()}

    def look(question: str) -> Look:
        key = _policy(retriever, question)
        if key is None:
            return Look((), 0, 0.0)
        run = navigate(question, library.outlines[key], models[key], max_steps, price=price)
        longer = Usage(output=OUTPUT - STEP_OUTPUT)  # the last call writes the answer
        return Look(tuple(f"{key} {id}" for id in run.path), run.usage.input, cost(run.usage + longer, price))

    return Attempt(
        "navigate", "navigate the best policy, by titles", "an outline of each policy; a model call for each step", look
    )


def _policy(retriever: Retriever, question: str) -> str | None:
    hits = retriever(question, 1)
    return hits[0].id.split(" ", 1)[0] if hits else None


def by_whole_policy(
    library: Library, retriever: Retriever, price: Price, lifetime: Lifetime = "1 hour", per_day: float = PER_DAY
) -> Attempt:
    """Return the attempt that puts the policy of the best section into the prompt whole, with a cache.

    The questions are spread over `HOURS` hours and evenly over the policies: each has a cache of its own to keep warm.
    """
    per_hour = per_day / HOURS / len(library.outlines)

    def look(question: str) -> Look:
        key = _policy(retriever, question)
        if key is None:
            return Look((), 0, 0.0)
        size = library.tokens[key]
        usd = expected_cost(size, BASE, price, lifetime, per_hour, OUTPUT)
        return Look(tuple(f"{key} {id}" for id in library.outlines[key].ids()), size + BASE, usd)

    return Attempt(
        "whole", f"the best policy whole, cache of {lifetime}", "room in the window, and enough traffic", look
    )


def by_everything(
    library: Library, price: Price, lifetime: Lifetime = "5 minutes", per_day: float = PER_DAY
) -> Attempt | None:
    """Return the attempt that puts all documents into the prompt, or None where the window is too small for them."""
    size = sum(library.tokens.values())
    if not fits(size + BASE, price.window):
        return None
    usd = expected_cost(size, BASE, price, lifetime, per_day / HOURS, OUTPUT)
    ids = tuple(f"{key} {id}" for key, outline in library.outlines.items() for id in outline.ids())
    look = Look(ids, size + BASE, usd)
    return Attempt("everything", "all policies whole, with a cache", "a window of that size", lambda question: look)


def ladder(
    library: Library,
    plain: Retriever,
    with_paths: Retriever,
    price: Price,
    dense: Retriever | None = None,
    dense_with_paths: Retriever | None = None,
    larger: Sequence[int] = (20, 50),
) -> list[Attempt]:
    """Return the attempts from the cheapest to build to the dearest to ask.

    The retrievers return ids of the library: over chunks as they are, and over chunks with their heading path in front.
    """
    index, vectors = "a full-text index", "an index of vectors, and the model that made it"
    paths = "heading paths in front of the chunks, and the index built anew"
    found = [by_chunks("plain", "chunks, BM25, k = 6", index, library, plain, price, 6)]
    if dense:
        found.append(by_chunks("plain dense", "chunks, MiniLM, k = 6", vectors, library, dense, price, 6))
    found.append(by_chunks("paths", "heading paths, BM25, k = 6", paths, library, with_paths, price, 6))
    if dense_with_paths:
        name = "heading paths, MiniLM, k = 6"
        found.append(by_chunks("paths dense", name, paths, library, dense_with_paths, price, 6))
    for k in larger:
        found.append(
            by_chunks(f"k {k}", f"heading paths, BM25, k = {k}", "a number changed", library, with_paths, price, k)
        )
    found += [by_references(library, with_paths, price), by_navigation(library, with_paths, price)]
    found.append(by_whole_policy(library, with_paths, price))
    everything = by_everything(library, price)
    return [*found, everything] if everything else found


# --- Which step finds it, and what it costs -------------------------------------------------------------------------


@dataclass(frozen=True)
class Rung:
    """What an attempt came to: the answer to the first question found or not, the share over all, and the money.

    `pointed` is the share of questions for which at least the section that points was found. Tokens and USD are means
    over the questions; `per_day` is USD for `PER_DAY` questions.
    """

    key: str
    name: str
    needs: str
    found: bool
    share: Rate
    pointed: Rate
    tokens: int
    usd: float
    per_day: float

    def __str__(self) -> str:
        first = "finds it" if self.found else "does not"
        return f"{self.name:38} {first:9} {self.share.value:5.2f} {self.tokens:9,} tokens {self.per_day:8.2f} USD a day"


def climb(questions: Sequence[Question], attempts: Sequence[Attempt], per_day: float = PER_DAY) -> list[Rung]:
    """Run every attempt on every question, the first of which is the challenge's. Raises ValueError without one."""
    if not questions:
        raise ValueError("There is no question to climb for")
    return [_rung(attempt, questions, per_day) for attempt in attempts]


def _rung(attempt: Attempt, questions: Sequence[Question], per_day: float) -> Rung:
    looks = [attempt.look(question.text) for question in questions]
    pairs = list(zip(questions, looks, strict=True))
    found = [f"{question.policy} {question.target}" in look.ids for question, look in pairs]
    pointed = [f"{question.policy} {question.pointer}" in look.ids for question, look in pairs]
    n, usd = len(looks), sum(look.usd for look in looks) / len(looks)
    tokens = round(sum(look.tokens for look in looks) / n)
    shares = rate(sum(found), n), rate(sum(pointed), n)
    return Rung(attempt.key, attempt.name, attempt.needs, found[0], *shares, tokens, usd, per_day * usd)
