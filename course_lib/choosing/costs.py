"""Which design wins: the money for a question, the money for a wrong answer, and the point where the choice flips.

    expected cost of a question = what the design charges + (1 − accuracy) × what a wrong answer costs

Accuracy is what the course, or you, measured for each shape of question. Everything here is arithmetic, so that an
explorer can move any number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isfinite

SHAPES = ("single fact", "exact identifier", "aggregate", "structural hop", "fast-changing source")

# --- A design and a situation ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Design:
    """A design: USD a question, the share of right answers for each shape, and USD a day for keeping it at all.

    Raises ValueError for an accuracy outside of 0 to 1 or money that is negative or no number.
    """

    name: str
    usd: float
    accuracy: Mapping[str, float]
    upkeep: float = 0.0

    def __post_init__(self) -> None:
        for name, value in (("usd", self.usd), ("upkeep", self.upkeep)):
            _amount(f"{self.name}: {name}", value)
        for shape, value in self.accuracy.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                raise ValueError(f"{self.name}: accuracy for {shape} is {value!r}, but a share from 0 to 1 is needed")


@dataclass(frozen=True)
class Situation:
    """What is asked: the mix as {shape: weight}, questions a day, and what a wrong answer costs, in USD.

    Weights need not add up to 1. Raises ValueError for a weight or amount that is negative, or a mix of nothing.
    """

    mix: Mapping[str, float]
    per_day: float = 200.0
    error_cost: float = 1.0

    def __post_init__(self) -> None:
        for name, value in (*self.mix.items(), ("per_day", self.per_day), ("error_cost", self.error_cost)):
            _amount(name, value)
        if not sum(self.mix.values()):
            raise ValueError("The mix holds no question: give at least one shape a weight above 0")

    @property
    def shares(self) -> dict[str, float]:
        """The mix as shares that add up to 1, without shapes that nobody asks for."""
        total = sum(self.mix.values())
        return {shape: weight / total for shape, weight in self.mix.items() if weight}


def _amount(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
        raise ValueError(f"{name} is {value!r}, but a number of 0 or more is needed")


# --- Who wins -------------------------------------------------------------------------------------------------------


def accuracy(design: Design, shares: Mapping[str, float]) -> float:
    """Return the accuracy over a mix of shares. Raises ValueError where it was not measured for one of the shapes."""
    unknown = [shape for shape in shares if shape not in design.accuracy]
    if unknown:
        raise ValueError(f"{design.name} was not measured for {', '.join(unknown)}: measure it, or leave the shape out")
    return sum(share * design.accuracy[shape] for shape, share in shares.items())


def expected(design: Design, situation: Situation, shape: str | None = None) -> float:
    """Return the expected USD of a question without upkeep, over the mix or for one shape.

    >>> bm25 = Design("BM25", 0.01, {"exact identifier": 1.0, "single fact": 0.5})
    >>> expected(bm25, Situation({"single fact": 1, "exact identifier": 1}, error_cost=2.0))
    0.51
    """
    shares = {shape: 1.0} if shape else situation.shares
    return design.usd + (1 - accuracy(design, shares)) * situation.error_cost


def daily(design: Design, situation: Situation) -> float:
    """Return the expected USD of a day: all questions, and the upkeep."""
    return situation.per_day * expected(design, situation) + design.upkeep


@dataclass(frozen=True)
class Verdict:
    """Who wins: for each shape by the expected cost of a question, and overall by that of a day.

    `routed` is USD a day where every shape goes to its winner, `router` costs included and each design kept once;
    `days` is USD a day of each design alone. `ties` names shapes on which others cost exactly the same.
    """

    by_shape: Mapping[str, str]
    overall: str
    days: Mapping[str, float]
    routed: float
    ties: tuple[str, ...] = ()

    @property
    def routing_pays(self) -> bool:
        """Whether sending each shape to its winner costs less than the best single design."""
        return self.routed < self.days[self.overall]


def designs(
    candidates: Sequence[Design], situation: Situation, router_right: float = 1.0, router_usd: float = 0.0
) -> Verdict:
    """Return who wins for each shape and overall.

    `router_right` is the router's tool-selection accuracy: a question that it sends elsewhere counts as a wrong answer,
    at the price of the design it should have gone to. Raises ValueError without a candidate, or as `accuracy` does.
    """
    if not candidates:
        raise ValueError("There is no design to choose from")
    if not 0 <= router_right <= 1:
        raise ValueError(f"router_right is {router_right!r}, but a share from 0 to 1 is needed")
    shares = situation.shares
    ranked = {shape: sorted(candidates, key=lambda one: expected(one, situation, shape)) for shape in shares}
    winners = {shape: order[0] for shape, order in ranked.items()}
    days = {one.name: daily(one, situation) for one in candidates}
    wrong = sum(
        share * (1 - router_right * winners[shape].accuracy[shape]) * situation.error_cost
        for shape, share in shares.items()
    )
    usd = sum(share * winners[shape].usd for shape, share in shares.items()) + router_usd
    upkeep = sum({one.name: one.upkeep for one in winners.values()}.values())
    ties = tuple(
        shape for shape, order in ranked.items()
        if len(order) > 1 and expected(order[1], situation, shape) == expected(order[0], situation, shape)
    )  # fmt: skip
    by_shape = {shape: one.name for shape, one in winners.items()}
    return Verdict(by_shape, min(days, key=days.__getitem__), days, situation.per_day * (usd + wrong) + upkeep, ties)


# --- Where it flips -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Flip:
    """From `at` on, upwards, `after` wins over `before`."""

    at: float
    before: str
    after: str


def lowest(lines: Sequence[tuple[str, float, float]]) -> list[tuple[float, str]]:
    """Return which of the lines (name, value at 0, slope) is lowest from where on, for x of 0 and more.

    Of lines that run together the first is taken. Raises ValueError without a line.

    >>> lowest([("cheap", 1.0, 2.0), ("good", 3.0, 1.0)])
    [(0.0, 'cheap'), (2.0, 'good')]
    """
    if not lines:
        raise ValueError("There is no line to be the lowest")
    at, found = 0.0, list[tuple[float, str]]()
    now = min(lines, key=lambda line: (line[1], line[2]))
    while True:
        found.append((at, now[0]))
        crossings = [((line[1] - now[1]) / (now[2] - line[2]), line[2], line) for line in lines if line[2] < now[2]]
        if not crossings:
            return found
        at, _, now = min(crossings, key=lambda crossing: crossing[:2])


def flips_by_error_cost(candidates: Sequence[Design], situation: Situation, shape: str | None = None) -> list[Flip]:
    """Return at which cost of a wrong answer the winner changes, over the mix or for one shape.

    The cost of a day is a line in the cost of an error: upkeep and price at 0, and as slope the wrong answers a day.

    >>> cheap = Design("BM25", 0.01, {"hop": 0.5}); dear = Design("navigate", 0.09, {"hop": 0.9})
    >>> flips_by_error_cost([cheap, dear], Situation({"hop": 1}))
    [Flip(at=0.2, before='BM25', after='navigate')]
    """
    shares = {shape: 1.0} if shape else situation.shares
    questions = situation.per_day
    lines = [
        (one.name, one.upkeep + questions * one.usd, questions * (1 - accuracy(one, shares))) for one in candidates
    ]
    return _flips(lines)


def flips_by_volume(candidates: Sequence[Design], situation: Situation) -> list[Flip]:
    """Return at how many questions a day the winner changes: what has upkeep pays from there on."""
    return _flips([(one.name, one.upkeep, expected(one, situation)) for one in candidates])


def flips_by_share(candidates: Sequence[Design], situation: Situation, shape: str, steps: int = 100) -> list[Flip]:
    """Return at which share of one shape, 0 to 1, the winner of a day changes, the others keeping their proportions.

    Looked for in steps; each flip is given at the first step on which it has happened. Raises ValueError where the mix
    holds no other shape.
    """
    rest = {name: share for name, share in situation.shares.items() if name != shape}
    if not rest:
        raise ValueError(f"The mix holds nothing but {shape}: its share cannot change")
    total = sum(rest.values())
    winners = list[tuple[float, str]]()
    for step in range(steps + 1):
        part = step / steps
        mix = {shape: part, **{name: (1 - part) * share / total for name, share in rest.items()}}
        now = Situation(mix, situation.per_day, situation.error_cost)
        winners.append((part, min(candidates, key=lambda one: daily(one, now)).name))
    return [Flip(at, before, after) for (_, before), (at, after) in pairwise(winners) if before != after]


def _flips(lines: Sequence[tuple[str, float, float]]) -> list[Flip]:
    return [Flip(at, before, after) for (_, before), (at, after) in pairwise(lowest(lines)) if at < inf]
