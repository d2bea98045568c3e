"""Six ways to look something up in the standard library, on 47 labelled questions in four slices."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import mean, median
from time import perf_counter
from typing import Final, TypeAlias

from course_lib.bm25 import Index, Rules
from course_lib.corpora import standard_library as library
from course_lib.corpora.standard_library import LibraryQuestion
from course_lib.dense import CachedEncoder, DenseIndex, load_encoder, read_vectors, text_key
from course_lib.grep import Budget, Excerpt, Folder, Found, Memory, Ranked, Repository, Run, Step, search_loop
from course_lib.learn.look import Shown, card, escape, paragraph, table
from course_lib.lessons.move4_grep import agents
from course_lib.metrics import rate
from course_lib.retrieval import Retriever

SLICES: Final = ("named identifier", "named behaviour", "paraphrase", "number behind a constant")
ENCODE_AT_MOST: Final = 60
BUDGET: Final = Budget(calls=8)
Judge: TypeAlias = Callable[[LibraryQuestion, Step], bool]


@cache
def repository() -> Folder:
    """Return the running Python's standard library as a repository."""
    return Folder(library.root(), library.left_out())


@cache
def listed() -> Memory:
    """Return the listed functions as a repository: a file each, named by the function's id."""
    return Memory({function.id: function.source for function in library.functions()})


def code_index(functions: Iterable[library.LibraryFunction]) -> Index:
    """Return BM25 over functions: word forms joined, nothing demanded of a hit, so that it always ranks."""
    documents = ((one.id, f"{one.file} {one.name}", one.source) for one in functions)
    return Index(documents, tokenizer="porter", rules=Rules(identifiers="off", min_coverage=0))


@cache
def by_words() -> Retriever:
    """Return BM25 over the listed functions."""
    return code_index(library.functions()).search


@cache
def everywhere() -> Index:
    """Return BM25's index over every function of the library."""
    return code_index(library.every_function())


@cache
def by_vectors() -> Retriever | None:
    """Return MiniLM over the listed functions; None where this Python's differ too much from those encoded."""
    chunks = {function.id: function.chunk for function in library.functions()}
    known = read_vectors(library.VECTORS)
    if sum(text_key(chunk) not in known for chunk in chunks.values()) > ENCODE_AT_MOST:
        print("MiniLM is left out: this Python's library differs, and encoding it would take a minute or more.")
        return None
    return DenseIndex(chunks, CachedEncoder(known, load_encoder)).search


# --- The ways -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Way:
    """A way to look things up: what is asked, and the ranking search that stands beside grep, if any."""

    name: str
    ask: Callable[[str], agents.Ask]
    ranked: Retriever | None = None


def ways(words: Retriever, where: str = "") -> tuple[Way, ...]:
    """Return the ways that can run here; those with MiniLM only where its vectors are at hand.

    `words` is BM25's search; `where` is added to the names of MiniLM's ways, which know the 300 functions alone.
    """
    vectors = by_vectors()
    found = [
        Way("one grep", agents.one_grep),
        Way("grep, synonyms", agents.grep_agent),
        Way("BM25", agents.one_search, words),
        Way("grep + BM25", agents.both, words),
    ]
    if vectors is not None:
        found += [
            Way(f"MiniLM{where}", agents.one_search, vectors),
            Way(f"grep + MiniLM{where}", agents.both, vectors),
        ]
    return tuple(found)


def shows_value(question: LibraryQuestion, step: Step) -> bool:
    """Say whether a result holds the line that gives the value: then a perfect reader could answer."""
    value = step.value
    if isinstance(value, Found):
        return any((hit.path, hit.line) == (question.anchor_file, question.line) for hit in value.matches)
    if isinstance(value, Excerpt):
        return value.path == question.anchor_file and value.start <= question.line <= value.end
    inside = question.file == question.anchor_file and question.start <= question.line <= question.end
    return isinstance(value, Ranked) and inside and any(hit.id == question.gold for hit in value.hits)


def shows_function(question: LibraryQuestion, step: Step) -> bool:
    """Say whether a result holds a line of the right function, where the repository is the list of functions."""
    value = step.value
    if isinstance(value, Found):
        return any(hit.path == question.gold for hit in value.matches)
    if isinstance(value, Ranked):
        return any(hit.id == question.gold for hit in value.hits)
    return isinstance(value, Excerpt) and value.path == question.gold


# --- The runs -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """One question by one way: whether the answer came on the screen, and what that cost."""

    way: str
    question: LibraryQuestion
    success: bool
    run: Run
    seconds: float

    @property
    def tokens(self) -> int:
        """What the results cost as input over the whole search, each sent again on every later call."""
        return self.run.usage.input


def outcome(way: Way, question: LibraryQuestion, where: Repository, judge: Judge) -> Outcome:
    """Run one question."""
    decide = agents.policy(way.ask(question.text), lambda step: judge(question, step))
    began = perf_counter()
    run = search_loop(question.text, decide, where, BUDGET, ranked=way.ranked)
    seconds = perf_counter() - began
    return Outcome(way.name, question, any(judge(question, step) for step in run.steps), run, seconds)


@cache
def whole_library() -> tuple[Outcome, ...]:
    """Run all questions by all ways over the whole library; right is who was shown the line with the value.

    BM25 ranks every function of it. MiniLM keeps to the list: encoding all would take minutes.
    """
    repository().listing()  # the first look reads every file once
    tried = ways(everywhere().search, " over 300")
    return tuple(outcome(way, one, repository(), shows_value) for way in tried for one in library.questions())


@cache
def on_the_list() -> tuple[Outcome, ...]:
    """Run all questions by all ways over the 300 listed functions; right is who was shown the right function."""
    tried = ways(by_words())
    return tuple(outcome(way, one, listed(), shows_function) for way in tried for one in library.questions())


def rates(outcomes: Sequence[Outcome]) -> Mapping[str, Mapping[str, tuple[int, int]]]:
    """Return (right, n) by way and slice."""
    counted: dict[str, dict[str, tuple[int, int]]] = {}
    for one in outcomes:
        right, n = counted.setdefault(one.way, {}).get(one.question.slice, (0, 0))
        counted[one.way][one.question.slice] = right + one.success, n + 1
    return counted


def gains(outcomes: Sequence[Outcome], first: str, second: str, least: int = 2) -> list[str]:
    """Return the slices in which the second way is right for at least `least` questions more than the first.

    Without one of the two ways, as where MiniLM cannot run, there is no such slice.
    """
    found = rates(outcomes)
    if first not in found or second not in found:
        return []
    return [name for name in SLICES if found[second][name][0] - found[first][name][0] >= least]


def show_rates(outcomes: Sequence[Outcome]) -> Shown:
    """Return how many questions of each slice each way gets right.

    A search that ranks, asked once, has its share's 95 % interval; a script stands in for a model and has no rate.
    """
    rows = []
    for way, counts in rates(outcomes).items():
        draw = _with_interval if way.startswith(("BM25", "MiniLM")) else _count
        rows.append([escape(way), *(draw(*counts[name]) for name in SLICES)])
    shown = table(["Way", *SLICES], rows)
    return Shown(card("", f'<div style="overflow-x:auto">{shown}</div>'))


def _count(right: int, n: int) -> str:
    return f'<span style="white-space:nowrap">{right} of {n}</span>'


def _with_interval(right: int, n: int) -> str:
    share = rate(right, n)
    return f'<span style="white-space:nowrap">{right} of {n}<br>({share.low:.2f}–{share.high:.2f})</span>'


def show_costs(outcomes: Sequence[Outcome]) -> Shown:
    """Return, for each way, its right answers, and what a question costs in calls and in carried tokens."""
    rows = []
    for way in dict.fromkeys(one.way for one in outcomes):
        mine = [one for one in outcomes if one.way == way]
        right = [one for one in mine if one.success]
        tokens = [f"{mean(one.tokens for one in some):,.0f}" if some else "–" for some in (mine, right)]
        calls = f"{mean(len(one.run.steps) for one in mine):.1f}"
        rows.append([escape(way), f"{len(right)} of {len(mine)}", calls, *tokens])
    headers = ["Way", "right", "calls", "tokens", "tokens if right"]
    about = (
        "Calls and input tokens are means over the questions; the tokens are those of the results, as often as sent."
    )
    return Shown(card("", table(headers, rows, numbers=range(1, 5)), paragraph(about)))


def median_seconds(outcomes: Sequence[Outcome], way: str) -> float:
    """Return the median seconds of a question by one way."""
    return median(one.seconds for one in outcomes if one.way == way)
