"""Navigation beside chunks: the same questions through retrievers that really run, with what each costs.

A corpus is an outline, chunks cut along it, and labelled questions. Node recall says how much of what a question needs
was read; tokens are counted, money and seconds are those of the bill's round model, because no model runs here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import ceil
from random import Random
from typing import Protocol

from course_lib.bm25 import Index, Rules
from course_lib.dense import DenseIndex, Encoder
from course_lib.hybrid import hybrid
from course_lib.metrics import Rate, rate
from course_lib.navigation.bill import QUESTIONS, ROUND_NUMBERS, Assumptions, seconds
from course_lib.navigation.loop import LONGEST, Run, covered, navigate, text_of
from course_lib.navigation.models import TITLES, Lexical, lexical_navigator, references_followed
from course_lib.navigation.outline import Outline
from course_lib.pricing import Price, cost
from course_lib.retrieval import Retriever, Usage
from course_lib.tokens import count_tokens

K = 6  # chunks in the prompt
STEPS = 12  # enough for every plan of the lexical navigator here
RESAMPLES = 500
SEED = 7
ALL = "all"


class Question(Protocol):
    """A labelled question: its text, its kind, and for each piece it needs the ids of the chunks that hold it."""

    @property
    def text(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def pieces(self) -> Sequence[Sequence[str]]: ...


class Piece(Protocol):
    """A chunk: its id, its text, and the text with the path of its headings in front."""

    @property
    def id(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def headed(self) -> str: ...


@dataclass(frozen=True)
class Corpus:
    """A document as an outline and as chunks. `inside` gives the chunk ids in the text that a node owns.

    `how` is how the lexical navigator reads it, and `longest` the characters of one read, as in `navigate`.
    """

    outline: Outline
    chunks: Sequence[Piece]
    inside: Mapping[str, Sequence[str]]
    questions: Sequence[Question]
    encoder: Encoder
    price: Price
    how: Lexical = TITLES
    longest: int = LONGEST
    assumptions: Assumptions = field(default=ROUND_NUMBERS)


@dataclass(frozen=True)
class Outcome:
    """What one system did with one question: the chunk ids it put before the model, its reads, and tokens.

    `cached` is the usage with the table of contents (or the document) read from a cache.
    """

    found: frozenset[str]
    reads: int
    usage: Usage
    cached: Usage


@dataclass(frozen=True)
class Row:
    """One system over the questions of one kind.

    `recall` is node recall averaged over the questions, with a 95 % interval by bootstrap, which has no width where
    all questions agree; `complete` is the share of questions of which every piece was read, with Wilson's interval,
    which has one. Reads, tokens and USD per 1,000 are averages; `usd_cached` is with the outline (or the document) in a
    warm cache. `seconds` is the average of the model's, `p95` what 95 % of the questions keep to; None: measure it.
    """

    system: str
    kind: str
    recall: Rate
    complete: Rate
    reads: float
    tokens: int
    usd: float
    usd_cached: float
    seconds: float | None
    p95: float | None


System = Callable[[Question], Outcome]

# --- The measure ------------------------------------------------------------------------------------------------


def node_recall(pieces: Sequence[Sequence[str]], found: frozenset[str]) -> float:
    """Return the share of a question's pieces that were read; of a piece one of its places is enough.

    Raises ValueError for a question without pieces.

    >>> node_recall([("7.3",), ("B",)], frozenset({"7.1", "7.3"}))
    0.5
    """
    if not pieces:
        raise ValueError("A question without pieces has no recall: label it, or leave it out")
    return sum(not found.isdisjoint(places) for places in pieces) / len(pieces)


def mean_with_interval(values: Sequence[float]) -> Rate:
    """Return the mean of shares with the 95 % interval of a bootstrap over the questions, drawn by a fixed seed.

    Efron 1979, percentile method. Raises ValueError where there are no values.
    """
    if not values:
        raise ValueError("There is no mean of no questions")
    rng, n = Random(SEED), len(values)
    means = sorted(sum(values[int(rng.random() * n)] for _ in range(n)) / n for _ in range(RESAMPLES))
    low, high = means[round(0.025 * RESAMPLES)], means[round(0.975 * RESAMPLES) - 1]
    return Rate(sum(values) / n, n, low, high)


# --- The systems ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8192)
def _tokens(text: str) -> int:
    return count_tokens(text)


def systems(corpus: Corpus) -> dict[str, System]:
    """Return the systems by name, indexes built: five over chunks, two navigators, and the whole document."""
    plain = DenseIndex({chunk.id: chunk.text for chunk in corpus.chunks}, corpus.encoder)
    headed = DenseIndex({chunk.id: chunk.headed for chunk in corpus.chunks}, corpus.encoder)
    documents = [(chunk.id, "", chunk.headed) for chunk in corpus.chunks]
    bm25 = Index(documents, tokenizer="porter", rules=Rules(min_coverage=0))
    return {
        "chunk RAG": _over_chunks(corpus, plain.search),
        "chunk RAG, heading paths": _over_chunks(corpus, headed.search),
        "BM25, heading paths": _over_chunks(corpus, bm25.search),
        "hybrid, heading paths": _over_chunks(corpus, hybrid([bm25.search, headed.search])),
        "BM25, references followed": _hopping(corpus, bm25.search),
        "navigator, titles": _navigating(corpus, corpus.how),
        "navigator, first lines": _navigating(corpus, replace(corpus.how, first_lines=True)),
        "whole document": _whole(corpus),
    }


def _over_chunks(corpus: Corpus, search: Retriever, k: int = K) -> System:
    a = corpus.assumptions
    texts = {chunk.id: chunk.headed for chunk in corpus.chunks}

    def ask(question: Question) -> Outcome:
        ids = [hit.id for hit in search(question.text, k)]
        usage = Usage(a.base + sum(_tokens(texts[id]) for id in ids), output=a.answer_output, calls=1)
        return Outcome(frozenset(ids), 0, usage, usage)

    return ask


def _chunks_of(corpus: Corpus, ids: Sequence[str]) -> frozenset[str]:
    nodes = (node for id in ids for node in covered(corpus.outline, id, corpus.longest))
    return frozenset(chunk for node in nodes for chunk in corpus.inside[node])


def _hopping(corpus: Corpus, search: Retriever, k: int = 2) -> System:
    """Retrieve `k` chunks, and put what they refer to beside them: one call, and code follows the references."""
    a = corpus.assumptions
    node_of = {chunk: node for node, chunks in corpus.inside.items() for chunk in chunks}

    def ask(question: Question) -> Outcome:
        starts = [node_of[hit.id] for hit in search(question.text, k)]
        ids = dict.fromkeys(id for start in starts for id in references_followed(corpus.outline, start, corpus.how))
        read = sum(_tokens(text_of(corpus.outline, id, corpus.longest)) for id in ids)
        usage = Usage(a.base + read, output=a.answer_output, calls=1)
        return Outcome(_chunks_of(corpus, list(ids)), len(ids), usage, usage)

    return ask


def _navigating(corpus: Corpus, how: Lexical) -> System:
    model = lexical_navigator(corpus.outline, how)
    toc = corpus.outline.toc()

    def ask(question: Question) -> Outcome:
        run = navigate(question.text, corpus.outline, model, STEPS, longest=corpus.longest, toc=toc, count=_tokens)
        return Outcome(_chunks_of(corpus, run.path), len(run.path), *usages(run, _tokens(toc), corpus.assumptions))

    return ask


def usages(run: Run, toc: int, a: Assumptions = ROUND_NUMBERS) -> tuple[Usage, Usage]:
    """Return what a run costs by the bill's rules, without a cache and with the outline of `toc` tokens in one.

    Instructions and question take `base` in every call, and the last call writes the answer.
    """
    calls, asked = len(run.steps), _tokens(run.question)
    fresh = sum(step.seen - asked - toc + a.base for step in run.steps)
    output = (calls - 1) * a.step_output + a.answer_output
    cold = Usage(fresh + calls * toc, output=output, calls=calls)
    return cold, Usage(fresh, cached=calls * toc, output=output, calls=calls)


def _whole(corpus: Corpus) -> System:
    a, size = corpus.assumptions, _tokens(corpus.outline.document)
    everything = frozenset(chunk.id for chunk in corpus.chunks)
    cold = Usage(a.base + size, output=a.answer_output, calls=1)
    outcome = Outcome(everything, 0, cold, Usage(a.base, cached=size, output=a.answer_output, calls=1))
    return lambda question: outcome


# --- The comparison ---------------------------------------------------------------------------------------------


def compare_on(corpus: Corpus) -> list[Row]:
    """Return a row for each system and kind of question, and one over all kinds, in the order of the questions."""
    return list(_rows(corpus))


def _rows(corpus: Corpus) -> Iterator[Row]:
    kinds = list(dict.fromkeys(question.kind for question in corpus.questions))
    for name, system in systems(corpus).items():
        outcomes = [(question, system(question)) for question in corpus.questions]
        for kind in [*kinds, ALL] if len(kinds) > 1 else kinds:
            chosen = [(q, o) for q, o in outcomes if kind in (q.kind, ALL)]
            yield _row(name, kind, chosen, corpus)


def _row(name: str, kind: str, chosen: Sequence[tuple[Question, Outcome]], corpus: Corpus) -> Row:
    recalls = [node_recall(question.pieces, outcome.found) for question, outcome in chosen]
    outcomes, n = [outcome for _, outcome in chosen], len(chosen)
    times = sorted(seconds(o.usage, corpus.assumptions) for o in outcomes)
    known = name != "whole document"  # its time grows with the prompt, and this model of time does not
    return Row(
        system=name,
        kind=kind,
        recall=mean_with_interval(recalls),
        complete=rate(sum(recall == 1 for recall in recalls), n),
        reads=sum(o.reads for o in outcomes) / n,
        tokens=round(sum(o.usage.input for o in outcomes) / n),
        usd=QUESTIONS * sum(cost(o.usage, corpus.price) for o in outcomes) / n,
        usd_cached=QUESTIONS * sum(cost(o.cached, corpus.price) for o in outcomes) / n,
        seconds=sum(times) / n if known else None,
        p95=times[ceil(0.95 * n) - 1] if known else None,
    )


def cheapest_right(rows: Sequence[Row], wanted: float = 0.9) -> dict[str, Row]:
    """Return for each kind the cheapest system whose node recall is at least `wanted`; a kind without one is left out.

    On twenty questions a difference of a few hundredths says nothing: look at the intervals before you choose by it.
    """
    best: dict[str, Row] = {}
    for row in rows:
        if row.recall.value >= wanted and (row.kind not in best or row.usd < best[row.kind].usd):
            best[row.kind] = row
    return best


HEADER = (
    "system", "kind", "n", "node recall", "95 %", "all found", "95 % ", "reads", "tokens", "USD/1k", "cached",
    "model s", "p95 s",
)  # fmt: skip


def as_table(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Return rows as texts, the header first: what a table in a notebook or on a terminal shows."""
    return [HEADER, *(_texts(row) for row in rows)]


def _texts(row: Row) -> tuple[str, ...]:
    shares = (
        text for one in (row.recall, row.complete) for text in (f"{one.value:.2f}", f"{one.low:.2f}–{one.high:.2f}")
    )
    return (
        row.system,
        row.kind,
        str(row.recall.n),
        *shares,
        f"{row.reads:.1f}",
        f"{row.tokens:,}",
        f"{row.usd:.2f}",
        f"{row.usd_cached:.2f}",
        *("measure" if time is None else f"{time:.1f}" for time in (row.seconds, row.p95)),
    )
