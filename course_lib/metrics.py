"""Retrieval metrics, each with the number of questions behind it and a 95 % interval where it is a share.

Definitions as in Manning, Raghavan and Schütze, *Introduction to Information Retrieval* (2008), chapter 8.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import log2, sqrt

Z_95 = 1.959964  # the two-sided 95 % point of the normal distribution


@dataclass(frozen=True)
class Rate:
    """A share of `n` questions, between 0 and 1, with the 95 % Wilson interval from `low` to `high`."""

    value: float
    n: int
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} (n = {self.n}, 95 % interval {self.low:.2f} to {self.high:.2f})"


def wilson_interval(successes: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a share of `successes` in `n` trials (Wilson 1927), both ends within 0 and 1.

    Raises ValueError where there was no trial, or more successes than trials.

    >>> low, high = wilson_interval(0, 1)
    >>> round(low, 3), round(high, 3)
    (0.0, 0.793)
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"{successes} successes in {n} trials: an interval needs 0 <= successes <= n and n >= 1")
    share, z2 = successes / n, Z_95**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z_95 * sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, min(centre - half, share)), min(1.0, max(centre + half, share))  # against rounding at 0 and n


def rate(successes: int, n: int) -> Rate:
    """Return `successes` of `n` as a Rate. Raises ValueError as `wilson_interval` does."""
    low, high = wilson_interval(successes, n)
    return Rate(successes / n, n, low, high)


def hit_at_k(ranking: Sequence[str], gold: Collection[str], k: int) -> bool:
    """Say whether at least one gold id is among the best `k` ids of one question's ranking.

    >>> hit_at_k(["7.1", "7.3", "7.2"], {"B"}, k=3)
    False
    """
    return recall_at_k(ranking, gold, k) > 0


def recall_at_k(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return the share of one question's gold ids that are among the best `k` ids of its ranking.

    Raises ValueError where the question has no gold id or `gold` is a text instead of a list, or k is below 1.

    >>> recall_at_k(["7.1", "7.3", "7.2"], {"7.3", "B"}, k=3)
    0.5
    """
    if isinstance(gold, str):
        raise ValueError(f"gold is the text {gold!r}, and a list of ids is expected: [{gold!r}]")
    if not gold:
        raise ValueError("a question without gold ids has no recall: label it, or leave it out")
    if k < 1:
        raise ValueError(f"k is {k}, but the cut-off is counted from 1")
    return len(set(gold) & set(ranking[:k])) / len(set(gold))


def hit_rate_at_k(rankings: Sequence[Sequence[str]], gold: Sequence[Collection[str]], k: int) -> Rate:
    """Return the share of questions with at least one gold id among the best `k`.

    `rankings` holds one list of ids a question, best first, and `gold` that question's gold ids in the same order.
    Raises ValueError where the two differ in length or are empty.
    """
    if len(rankings) != len(gold):
        raise ValueError(f"{len(rankings)} rankings for {len(gold)} questions: there must be one for each")
    return rate(sum(hit_at_k(ids, wanted, k) for ids, wanted in zip(rankings, gold, strict=True)), len(gold))


def mean_recall_at_k(rankings: Sequence[Sequence[str]], gold: Sequence[Collection[str]], k: int) -> float:
    """Return recall@k averaged over the questions. Arguments and errors as in `hit_rate_at_k`."""
    if not gold or len(rankings) != len(gold):
        raise ValueError(f"{len(rankings)} rankings for {len(gold)} questions: one for each, and one at least")
    return sum(recall_at_k(ids, wanted, k) for ids, wanted in zip(rankings, gold, strict=True)) / len(gold)


def ndcg_at_k(ranking: Sequence[str], grades: Mapping[str, float], k: int) -> float:
    """Return how near one question's ranking comes to the best possible order of its best `k` places, 0 to 1.

    `grades` says how relevant an id is; an id that is not in it has grade 0. Each hit counts its grade divided by
    log2(rank + 1), and the sum is divided by that of the ideal order: Järvelin and Kekäläinen, ACM TOIS 20 (2002),
    with the discount of trec_eval. An id that a ranking repeats counts once, at its first place. Raises ValueError
    where no grade is positive, one is negative, or k is below 1.

    >>> round(ndcg_at_k(["x", "a"], {"a": 1}, k=10), 3)
    0.631
    """
    if k < 1:
        raise ValueError(f"k is {k}, but the cut-off is counted from 1")
    if min(grades.values(), default=0) < 0 or not any(grades.values()):
        raise ValueError("a question needs grades of 0 and more, and one above 0: label it, or leave it out")
    gains = [grades.get(id, 0.0) if id not in ranking[:place] else 0.0 for place, id in enumerate(ranking[:k])]
    return _discounted(gains) / _discounted(sorted(grades.values(), reverse=True)[:k])


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))
