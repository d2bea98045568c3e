"""Five sentences about vectorless retrieval that come up in design reviews and are false, each with its test.

"It is faster", "it is more private", "it is simpler", "vector indexes cannot be updated", "only vectorless retrieval
can be evaluated". Each function runs something and returns counts, ratios or a table; none of them takes a side.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Literal, TypeAlias

import numpy as np

from course_lib.bm25 import Document, Index
from course_lib.dense import Array, DenseIndex, Encoder
from course_lib.metrics import Rate, hit_rate_at_k
from course_lib.retrieval import Retriever

# --- "It is faster" -------------------------------------------------------------------------------------------------

NETWORK_SECONDS = 0.1  # assumed: one round trip to a hosted embedding API
FIRST_TOKEN, SPEED = 0.6, 100.0  # assumed, as in the bill of navigation: seconds, output tokens a second
ANSWER, DECISION = 250, 80  # output tokens of an answer, and of one step of a navigator or an agent


@dataclass(frozen=True)
class Speed:
    """One design: seconds of a search measured here, seconds of what lies beyond this machine, which are assumed.

    `calls` is how often a model is asked for one answer.
    """

    design: str
    search: float
    beyond: float
    calls: int

    @property
    def total(self) -> float:
        """Seconds from question to answer."""
        return self.search + self.beyond

    @property
    def ratio(self) -> float:
        """How many times longer than the search everything beyond it takes; 0 where nothing was searched here."""
        return self.beyond / self.search if self.search else 0.0

    @property
    def share(self) -> float:
        """The share of the time that the search itself takes, 0 to 1."""
        return self.search / self.total if self.total else 0.0


def model_seconds(steps: int = 0) -> float:
    """Return the seconds of a model's calls: `steps` decisions, one after the other, and the answer.

    >>> model_seconds(), round(model_seconds(steps=2), 1)
    (3.1, 5.9)
    """
    return (steps + 1) * FIRST_TOKEN + (steps * DECISION + ANSWER) / SPEED


def search_seconds(
    retriever: Retriever, questions: Sequence[str], k: int = 6, clock: Callable[[], float] = perf_counter
) -> float:
    """Return the median seconds of one search over these questions. Raises ValueError without a question."""
    if not questions:
        raise ValueError("There is no question to measure a search with")
    taken = []
    for question in questions:
        begin = clock()
        retriever(question, k)
        taken.append(clock() - begin)
    return median(taken)


def speeds(local: Mapping[str, Retriever], questions: Sequence[str], steps: int = 2) -> list[Speed]:
    """Return a line for each local retriever, measured now, one for a hosted encoder, and one for a navigator.

    `steps` is how many sections the navigator, or greps the agent, has to read before it answers.
    """
    measured = {name: search_seconds(retriever, questions) for name, retriever in local.items()}
    lines = [Speed(name, seconds, model_seconds(), 1) for name, seconds in measured.items()]
    lines.append(Speed("dense, hosted encoder", max(measured.values()), NETWORK_SECONDS + model_seconds(), 1))
    return [*lines, Speed(f"navigate or grep, {steps} steps", 0.0, model_seconds(steps), steps + 1)]


# --- "It is more private", "it is simpler" --------------------------------------------------------------------------

Where: TypeAlias = Literal["here", "provider"]
Sees: TypeAlias = Literal["question", "every document", "passages", "schema", "rows", "titles"]


@dataclass(frozen=True)
class Part:
    """Something that has to be built and kept: what it is for, where it runs, and what it gets to see."""

    name: str
    where: Where
    sees: tuple[Sees, ...] = ()


@dataclass(frozen=True)
class Blueprint:
    """A design as the parts that it is made of."""

    name: str
    parts: tuple[Part, ...]

    @property
    def leaves(self) -> tuple[Sees, ...]:
        """What leaves the machine, each kind once: the widest first."""
        order: tuple[Sees, ...] = ("every document", "rows", "passages", "schema", "titles", "question")
        seen = {kind for part in self.parts if part.where == "provider" for kind in part.sees}
        return tuple(kind for kind in order if kind in seen)

    @property
    def count(self) -> int:
        """How many parts there are to build and keep."""
        return len(self.parts)

    def answered_by(self, where: Where) -> "Blueprint":
        """Return the same design with every language model of it running at `where`."""
        named = f"{self.name}, model here" if where == "here" else self.name
        return Blueprint(named, tuple(Part(p.name, where, p.sees) if "model" in p.name else p for p in self.parts))


_ANSWER = Part("answering model", "provider", ("question", "passages"))
BLUEPRINTS: tuple[Blueprint, ...] = (
    Blueprint("dense, hosted encoder", (
        Part("chunker", "here"), Part("hosted encoder", "provider", ("question", "every document")),
        Part("vector index", "here"), _ANSWER)),
    Blueprint("dense, own encoder", (
        Part("chunker", "here"), Part("encoder weights", "here", ("question", "every document")),
        Part("vector index", "here"), _ANSWER)),
    Blueprint("BM25", (
        Part("chunker", "here"), Part("analyzer, stop words, identifiers", "here"), Part("full-text index", "here"),
        Part("rule for no evidence", "here"), _ANSWER)),
    Blueprint("text to SQL", (
        Part("schema card", "here"), Part("views with honest names", "here"), Part("guard", "here"),
        Part("model that writes SQL", "provider", ("question", "schema")),
        Part("answering model", "provider", ("question", "rows")))),
    Blueprint("navigate", (
        Part("parser of headings", "here"), Part("outline with references", "here"),
        Part("check of ids, step budget", "here"),
        Part("navigating model", "provider", ("question", "titles", "passages")), _ANSWER)),
    Blueprint("grep", (
        Part("confined repository", "here"), Part("linear-time engine with caps", "here"),
        Part("searching model", "provider", ("question", "passages")), _ANSWER)),
    Blueprint("whole document", (
        Part("access check", "here"),
        Part("answering model with a cache", "provider", ("question", "every document")))),
)  # fmt: skip


def what_leaves(blueprints: Iterable[Blueprint] = BLUEPRINTS) -> dict[str, tuple[Sees, ...]]:
    """Return what leaves the machine in each design, with a provider's model and with one that runs here.

    >>> leaves = what_leaves()
    >>> leaves["dense, own encoder"] == leaves["BM25"], leaves["BM25, model here"]
    (True, ())
    """
    both = (one for blueprint in blueprints for one in (blueprint, blueprint.answered_by("here")))
    return {one.name: one.leaves for one in both}


def part_counts(blueprints: Iterable[Blueprint] = BLUEPRINTS) -> dict[str, int]:
    """Return how many parts each design has to build and keep."""
    return {blueprint.name: blueprint.count for blueprint in blueprints}


# --- "Vector indexes cannot be updated" -----------------------------------------------------------------------------


class Counting:
    """An encoder that counts the texts it is given, in calls for documents and questions alike."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder, self.encoded = encoder, 0

    def encode(self, texts: Sequence[str]) -> Array:
        """Return what the encoder inside returns."""
        self.encoded += len(texts)
        return self.encoder.encode(texts)


@dataclass(frozen=True)
class Updates:
    """What two events cost. `found` says whether the changed text was found afterwards, by BM25 and by dense."""

    documents: int
    bm25_rows: int
    dense_encoded: int
    new_analyzer_rows: int
    new_model_encoded: int
    found: tuple[bool, bool]


def updates(documents: Mapping[str, str], id: str, text: str, question: str, encoder: Encoder) -> Updates:
    """Change one document in a full-text and in a vector index, then change analyzer and model, and count the work.

    `question` is one that the new text answers. BM25 counts rows written, dense texts encoded: a change of the analyzer
    writes every row again, which takes seconds, a change of the model encodes every text again, which takes the model.
    Raises ValueError for an id that is not among the documents.
    """
    if id not in documents:
        raise ValueError(f"There is no document {id!r} to change; there are {', '.join(list(documents)[:10])}")
    rows: list[Document] = [(key, "", body) for key, body in documents.items()]
    lexical, counting = Index(rows), Counting(encoder)
    dense = DenseIndex(documents, counting)
    after = {**documents, id: text}
    written = counting.encoded = 0
    for key in (key for key in after if after[key] != documents[key]):
        lexical.upsert(key, "", after[key])
        written += 1
        replace_vector(dense, key, after[key])
    one = counting.encoded
    found = (_finds(lexical.search, question, id), _finds(dense.search, question, id))
    counting.encoded = 0
    DenseIndex(after, counting)
    rebuilt = Index([(key, "", body) for key, body in after.items()], tokenizer="porter")
    return Updates(len(documents), written, one, len(rebuilt), counting.encoded, found)


def replace_vector(index: DenseIndex, id: str, text: str) -> None:
    """Put a text in the place of the one with this id, or behind the others: one text is encoded."""
    vector = index.encoder.encode([text])
    if id in index.ids:
        place = index.ids.index(id)
        index.texts[place], index.vectors[place] = text, vector[0]
    else:
        index.ids.append(id)
        index.texts.append(text)
        index.vectors = np.concatenate([index.vectors, vector])


def _finds(retriever: Retriever, question: str, id: str) -> bool:
    return any(hit.id == id for hit in retriever(question, 1))


# --- "Only vectorless retrieval can be evaluated" -------------------------------------------------------------------


def one_metric(
    retrievers: Mapping[str, Retriever], questions: Sequence[tuple[str, Sequence[str]]], k: int = 1
) -> dict[str, Rate]:
    """Return hit rate@k of every retriever on the same questions, given as (text, gold ids): ids are all it needs."""
    gold = [ids for _, ids in questions]
    return {
        name: hit_rate_at_k([[hit.id for hit in retriever(text, k)] for text, _ in questions], gold, k)
        for name, retriever in retrievers.items()
    }
