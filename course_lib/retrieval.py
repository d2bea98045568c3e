"""What every retriever returns, and how a miss is named.

A retriever is a function ``search(question, k) -> list[Hit]``, best hit first. An empty list means that it abstains:
it found no evidence.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Outcome: TypeAlias = Literal["in the prompt", "ranked out", "not retrieved"]


@dataclass(frozen=True)
class Hit:
    """One retrieved text: its id, its score (higher is better, no fixed range) and the text itself."""

    id: str
    score: float
    text: str = ""


Retriever: TypeAlias = Callable[[str, int], list[Hit]]


@dataclass(frozen=True)
class Usage:
    """What a provider counts of one call or several, in tokens. Each input token is in one of the first three counts.

    `fresh` tokens were read without a cache, `cached` ones came from it, `written` ones were put into it. Usages add
    up with +. Raises ValueError for a count that is no whole number of 0 or more.

    >>> Usage(fresh=300, written=30_000, calls=1) + Usage(fresh=300, cached=30_000, calls=1)
    Usage(fresh=600, cached=30000, written=30000, output=0, calls=2)
    """

    fresh: int = 0
    cached: int = 0
    written: int = 0
    output: int = 0
    calls: int = 0

    def __post_init__(self) -> None:
        for name, count in vars(self).items():
            if isinstance(count, bool) or not isinstance(count, int) or count < 0:
                raise ValueError(f"{name} is {count!r}, but it is a count: a whole number, 0 or more")

    def __add__(self, other: "Usage") -> "Usage":
        """Return the sum, count by count."""
        return Usage(*(mine + theirs for mine, theirs in zip(vars(self).values(), vars(other).values(), strict=True)))

    @property
    def input(self) -> int:
        """All input tokens, however they are billed."""
        return self.fresh + self.cached + self.written


def rank_of(ids: Sequence[str], gold: str) -> int | None:
    """Return where `gold` stands in `ids`, best first and counted from 1, or None where it was never returned.

    >>> rank_of(["7.1", "7.3", "B"], "B")
    3
    """
    return ids.index(gold) + 1 if gold in ids else None


def outcome(rank: int | None, pool: int, k: int) -> Outcome:
    """Name what happened to the section that stands at `rank` (from 1, None = never returned).

    The retriever passes its best `pool` candidates on, and the best `k` of those reach the prompt. A section that
    never enters the pool is *not retrieved*; one that enters it and falls below the cut-off is *ranked out*.
    Raises ValueError for a pool, a cut-off or a rank below 1.

    >>> outcome(rank=4, pool=3, k=3)
    'not retrieved'
    >>> outcome(rank=4, pool=50, k=3)
    'ranked out'
    """
    for name, value in (("pool", pool), ("k", k), ("rank", rank)):
        if value is not None and value < 1:
            raise ValueError(f"{name} is {value}, but it is counted from 1")
    if rank is None or rank > pool:
        return "not retrieved"
    if rank > k:
        return "ranked out"
    return "in the prompt"
