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
