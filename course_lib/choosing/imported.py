"""Challenge 3, the forum import: posts that paste a code push the article that explains it down. Repairs compared.

Every repair is judged on both sides: the questions that an official article answers, and those that only the forum
does. A repair that hides the forum is cheap and loses the second kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from course_lib.bm25 import IDENTIFIER, Index, Rules
from course_lib.hybrid import fuse
from course_lib.metrics import Rate, hit_rate_at_k
from course_lib.retrieval import Hit, Retriever, rank_of

POOL = 200
OFFICIAL = "official"


class Entry(Protocol):
    """A document with its source."""

    @property
    def id(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def document(self) -> tuple[str, str, str]: ...


class Question(Protocol):
    """A question, the source that can answer it, and the ids that do."""

    @property
    def text(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def gold(self) -> Sequence[str]: ...


@dataclass(frozen=True)
class Repair:
    """A way to search: what it costs in words, how many searches a question takes, and the search itself.

    `effort` ranks what has to be built and looked after: 0 nothing, 1 a setting, 2 a field or an index, 3 these and a
    number or rule that has to be found again after every import.
    """

    key: str
    name: str
    cost: str
    searches: int
    effort: int
    search: Retriever


def repairs(entries: Sequence[Entry], official: str = OFFICIAL, factors: Sequence[float] = (1.5, 2.0)) -> list[Repair]:
    """Return the repairs over these entries, the index as it stands after the import first.

    Two kinds of index are made: one over everything, and one for each source. `factors` are those of the boosts.
    """
    every = Index(entry.document for entry in entries)
    source = {entry.id: entry.source for entry in entries}
    one = Index(entry.document for entry in entries if entry.source == official)
    rest = Index(entry.document for entry in entries if entry.source != official)
    field, two = "a source field on every document", "a second index"
    codes = filtered_for_codes(every, source, official)
    return [
        Repair("nothing", "one index, nothing done", "nothing", 1, 0, every.search),
        Repair("title", "titles weigh three times", "a number to tune", 1, 1, _titles(every)),
        *(
            Repair(f"boost {factor:g}", f"official scores × {factor:g}", f"{field}, a number to tune each time", 1, 3,
                   boosted(every, source, official, factor))
            for factor in factors
        ),
        Repair("filter", "official only", field, 1, 2, filtered(every, source, official)),
        Repair("filter codes", "official only where a code is named", f"{field}, a rule for codes", 1, 3, codes),
        Repair("fused", "two indexes, ranks fused", two, 2, 2, _fused(one, rest)),
        Repair("first", "two indexes, forum where official abstains", two, 2, 2, _first(one, rest)),
        Repair("places", "two indexes, last place for the forum", two, 2, 2, _places(one, rest)),
    ]  # fmt: skip


def _titles(index: Index) -> Retriever:
    rules = Rules(title_weight=3.0)
    return lambda question, k: index.search(question, k, rules)


def boosted(index: Index, source: dict[str, str], official: str, factor: float, pool: int = POOL) -> Retriever:
    """Return a search that multiplies the scores of official documents among the best `pool` by `factor`."""

    def search(question: str, k: int) -> list[Hit]:
        found = index.search(question, pool)
        raised = [Hit(h.id, h.score * (factor if source[h.id] == official else 1), h.text) for h in found]
        return sorted(raised, key=lambda hit: -hit.score)[:k]

    return search


def filtered(index: Index, source: dict[str, str], official: str, pool: int = POOL) -> Retriever:
    """Return a search that keeps the official documents among the best `pool`."""
    return lambda question, k: [hit for hit in index.search(question, pool) if source[hit.id] == official][:k]


def filtered_for_codes(index: Index, source: dict[str, str], official: str) -> Retriever:
    """Return a search that keeps official documents alone where the question names a code, and everything elsewhere."""
    only = filtered(index, source, official)
    return lambda question, k: (only if IDENTIFIER.search(question) else index.search)(question, k)


def _fused(one: Index, rest: Index) -> Retriever:
    return lambda question, k: fuse([one.search(question, 50), rest.search(question, 50)], k)


def _first(one: Index, rest: Index) -> Retriever:
    return lambda question, k: one.search(question, k) or rest.search(question, k)


def _places(one: Index, rest: Index) -> Retriever:
    """Official hits take all places but the last, which is the forum's; a place that stays empty goes to the other."""

    def search(question: str, k: int) -> list[Hit]:
        best, others = one.search(question, k), rest.search(question, k)
        kept = best[: max(k - 1, 1)] if others else best
        return [*kept, *others][:k]

    return search


@dataclass(frozen=True)
class Outcome:
    """What a repair does: where the first question's document stands (None: not in the best 50), and the shares found.

    `official` and `forum` are hit rates at 1 and at 3 over the questions of that side.
    """

    key: str
    name: str
    cost: str
    searches: int
    effort: int
    rank: int | None
    official: tuple[Rate, Rate]
    forum: tuple[Rate, Rate]

    def __str__(self) -> str:
        shares = "  ".join(f"{rate.value:.1f}" for rate in (*self.official, *self.forum))
        return f"{self.name:44} {self.rank or 'not found':>9}  {shares}  {self.cost}"


def compare(repaired: Sequence[Repair], questions: Sequence[Question], official: str = OFFICIAL) -> list[Outcome]:
    """Run every repair on both sides of the questions. Raises ValueError where a side has none."""
    sides = [[q for q in questions if q.source == official], [q for q in questions if q.source != official]]
    if not all(sides):
        raise ValueError("Questions of both sides are needed: a repair is judged on what it loses as well")
    outcomes = []
    for one in repaired:
        rates = [_rates(one.search, side) for side in sides]
        rank = rank_of([hit.id for hit in one.search(questions[0].text, 50)], questions[0].gold[0])
        outcomes.append(Outcome(one.key, one.name, one.cost, one.searches, one.effort, rank, rates[0], rates[1]))
    return outcomes


def _rates(search: Retriever, questions: Sequence[Question]) -> tuple[Rate, Rate]:
    rankings = [[hit.id for hit in search(question.text, 3)] for question in questions]
    gold = [question.gold for question in questions]
    return hit_rate_at_k(rankings, gold, 1), hit_rate_at_k(rankings, gold, 3)


def boosts(entries: Sequence[Entry], questions: Sequence[Question], factors: Sequence[float]) -> dict[float, Outcome]:
    """Return what each factor does: how far one number can be turned before the other side pays."""
    index = Index(entry.document for entry in entries)
    source = {entry.id: entry.source for entry in entries}
    tried = [Repair(f"{f:g}", f"× {f:g}", "", 1, 3, boosted(index, source, OFFICIAL, f)) for f in factors]
    return dict(zip(factors, compare(tried, questions), strict=True))
