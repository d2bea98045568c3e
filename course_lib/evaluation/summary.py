"""What a comparison says: four numbers per shape, paired tests, where systems differ, and a decision."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Literal, TypeAlias

from course_lib.evaluation.compare import ALL, Comparison, Outcome
from course_lib.evaluation.questions import Question
from course_lib.evaluation.scoring import (
    Paired,
    bootstrap_interval,
    holm,
    paired,
    percentile,
    percentile_interval,
)
from course_lib.evaluation.systems import METRIC
from course_lib.metrics import rate

NOT_MEASURED = "not measured"
Measure: TypeAlias = Literal["answers", "retrieval"]

# --- Four numbers per shape -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Number:
    """A measured number over `n` questions with its 95 % interval, or None with the reason in `why`.

    `high` is None where the questions are too few for an upper end.
    """

    value: float | None
    n: int = 0
    low: float | None = None
    high: float | None = None
    why: str = ""

    def shown(self, digits: int = 2) -> str:
        """Return the number as text: value, interval and n, or why it was not measured.

        >>> Number(0.5, 4, 0.15, 0.85).shown()
        '0.50 (0.15 to 0.85, n = 4)'
        """
        if self.value is None:
            return f"{NOT_MEASURED}: {self.why}" if self.why else NOT_MEASURED
        low = "?" if self.low is None else f"{self.low:.{digits}f}"
        interval = f"{low} or more" if self.high is None else f"{low} to {self.high:.{digits}f}"
        return f"{self.value:.{digits}f} ({interval}, n = {self.n})"


@dataclass(frozen=True)
class Line:
    """The numbers of one system on one shape. `metric` names the retrieval metric of its route; `found`, the share of
    questions for which something of what was needed came back, means the same for every route.

    `usd` is USD per 1,000 questions, `estimated` where some of it is what it would cost; `p95` is seconds.
    """

    system: str
    shape: str
    asked: int
    failed: int
    answers: Number
    retrieval: Number
    metric: str
    found: Number
    usd: Number
    estimated: bool
    p95: Number


def lines(comparison: Comparison) -> list[Line]:
    """Return a line for each shape and system, those over all shapes first."""
    shapes = [ALL, *(comparison.shapes if len(comparison.shapes) > 1 else ())]
    return [line(comparison, system, shape) for shape in shapes for system in comparison.systems]


def line(comparison: Comparison, system: str, shape: str = ALL) -> Line:
    """Return one system's numbers on one shape."""
    outcomes = comparison.of(system, shape)
    route = outcomes[0].route if outcomes else "chunks"
    metric = METRIC[route].replace("@k", f"@{comparison.k}")
    return Line(
        system,
        shape,
        len(outcomes),
        sum(bool(one.error) for one in outcomes),
        _answers(outcomes),
        _retrieval(outcomes),
        metric,
        _share([one.found for one in outcomes], "nothing to find was labelled"),
        _usd(outcomes),
        any(one.response.estimated for one in outcomes if one.response),
        _p95(outcomes),
    )


def _answers(outcomes: Sequence[Outcome]) -> Number:
    wrote = any(one.response and one.response.answer is not None for one in outcomes)
    why = "no question says which answer is expected" if wrote else "no model wrote an answer"
    return _share([one.right for one in outcomes], why)


def _share(verdicts: Sequence[bool | None], why: str) -> Number:
    known = [verdict for verdict in verdicts if verdict is not None]
    if not known:
        return Number(None, why=why)
    share = rate(sum(known), len(known))
    return Number(share.value, share.n, share.low, share.high)


def _retrieval(outcomes: Sequence[Outcome]) -> Number:
    """Return the metric of the route: a share of questions, or for a navigator the mean share of gold nodes read."""
    route = outcomes[0].route if outcomes else "chunks"
    if route == "document":
        return Number(None, why="the whole source is in the prompt, nothing is retrieved")
    if route != "outline":
        label = "expected rows" if route == "sql" else "gold ids"
        return _share([one.found for one in outcomes], f"no question with {label}, or the system names nothing")
    recalls = [one.recall for one in outcomes if one.recall is not None]
    if not recalls:
        return Number(None, why="no question with gold ids")
    return Number(fmean(recalls), len(recalls), *bootstrap_interval(recalls))


def _usd(outcomes: Sequence[Outcome]) -> Number:
    spent = [1000 * one.response.usd for one in outcomes if one.response and one.response.usd is not None]
    if not spent:
        return Number(None, why="the system does not say what it costs")
    return Number(fmean(spent), len(spent), *bootstrap_interval(spent))


def _p95(outcomes: Sequence[Outcome]) -> Number:
    """Return the 95th percentile of the times. A failure has none: one that comes at once would flatter a system."""
    seconds = [one.seconds for one in outcomes if one.seconds is not None]
    if not seconds:
        return Number(None, why="no times were recorded")
    return Number(percentile(seconds), len(seconds), *percentile_interval(seconds))


# --- Is the difference more than chance -------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairedTest:
    """Two systems on the questions that both were measured on; `adjusted` is p for the number of tests made (Holm)."""

    first: str
    second: str
    shape: str
    measure: Measure
    paired: Paired
    adjusted: float

    def __str__(self) -> str:
        both = f"{self.first} and {self.second} ({self.measure}, {self.shape}, n = {self.paired.n})"
        split = f"{self.paired.only_first} questions only the first gets, {self.paired.only_second} only the second"
        said = "more than chance" if self.adjusted < 0.05 else "chance alone could do that"
        return f"{both}: {split}; p = {self.paired.p:.3f}, for all tests together {self.adjusted:.3f}: {said}"


def verdict(outcome: Outcome, measure: Measure) -> bool | None:
    """Return whether the answer is right, or whether what was needed was found; None where that was not measured."""
    return outcome.right if measure == "answers" else outcome.found


def paired_tests(comparison: Comparison, shape: str = ALL) -> list[PairedTest]:
    """Return McNemar's test for each pair of systems and each measure that both have.

    For retrieval the measure is the same for every route: was what is needed found at all.
    """
    measures: tuple[Measure, ...] = ("answers", "retrieval")
    found = [
        (first, second, measure, paired([a for a, _ in both], [b for _, b in both]))
        for measure in measures
        for first, second in combinations(comparison.systems, 2)
        if (both := _both(comparison, first, second, shape, measure))
    ]
    adjusted = holm([result.p for _, _, _, result in found])
    return [
        PairedTest(first, second, shape, measure, result, p)
        for (first, second, measure, result), p in zip(found, adjusted, strict=True)
    ]


def _both(comparison: Comparison, first: str, second: str, shape: str, measure: Measure) -> list[tuple[bool, bool]]:
    mine, theirs = (
        {one.question.key: verdict(one, measure) for one in comparison.of(name, shape)} for name in (first, second)
    )
    pairs = [(mine[key], theirs[key]) for key in mine if key in theirs]
    return [(a, b) for a, b in pairs if a is not None and b is not None]


# --- Where they differ ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """A question on which systems differ by `measure`, with the names of those that get it and those that do not."""

    question: Question
    measure: Measure
    got: tuple[str, ...]
    missed: tuple[str, ...]


def differences(comparison: Comparison) -> list[Difference]:
    """Return the questions that some systems get and others miss, in the order of the questions."""
    by_question: dict[str, list[Outcome]] = {}
    for outcome in comparison.outcomes:
        by_question.setdefault(outcome.question.key, []).append(outcome)
    found = []
    measures: tuple[Measure, ...] = ("answers", "retrieval")
    for outcomes in by_question.values():
        for measure in measures:
            got = tuple(one.system for one in outcomes if verdict(one, measure) is True)
            missed = tuple(one.system for one in outcomes if verdict(one, measure) is False)
            if got and missed:
                found.append(Difference(outcomes[0].question, measure, got, missed))
    return found


def failures(comparison: Comparison) -> list[str]:
    """Return a sentence for each system that failed on some questions, with its first error."""
    sentences = []
    for system in comparison.systems:
        outcomes = comparison.of(system)
        failed = [one for one in outcomes if one.error]
        if failed:
            sentences.append(
                f"{system} failed on {len(failed)} of {len(outcomes)} questions; they count as not answered and not "
                f"found. The first is {failed[0].question.text[:60]!r}: {failed[0].error.rstrip('.')}."
            )
    return sentences


# --- What follows -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Decision:
    """For one shape the cheapest system that is right often enough, or None; why, what it gives up, what to track."""

    shape: str
    system: str | None
    reason: str
    gives_up: str
    track: str

    def __str__(self) -> str:
        chosen = self.system or "none of these"
        return f"{self.shape}: {chosen}. {self.reason} {self.gives_up} Track: {self.track}."


def decide(comparison: Comparison, wanted: float = 0.9) -> list[Decision]:
    """Return a decision for each shape: the cheapest system that reaches `wanted`, a share between 0 and 1.

    It goes by answers where every system that is compared wrote some, else by retrieval; then a system whose own
    answers are known to be wrong too often is passed over, whatever it found. A system without a known cost comes after
    those with one; equal costs go to the faster. Raises ValueError for a share out of bounds.
    """
    if not 0 < wanted <= 1:
        raise ValueError(f"wanted is {wanted!r}, and a share above 0 and up to 1 is expected")
    return [_decision(comparison, shape, wanted) for shape in comparison.shapes]


def _decision(comparison: Comparison, shape: str, wanted: float) -> Decision:
    all_lines = [line(comparison, system, shape) for system in comparison.systems]
    measure = _measure(all_lines)
    by = "right answers" if measure is _by_answers else "what was needed was found"
    measured = [(one, number) for one in all_lines if (number := measure(one)).value is not None]
    if not measured:
        return Decision(
            shape, None, "Nothing was measured for it.", _missing(comparison, shape), "how many questions have labels"
        )
    wrong = [(one, number) for one, number in measured if _known_wrong(one, wanted)]
    open_to = [pair for pair in measured if pair not in wrong] or measured
    best, at_best = max(open_to, key=lambda pair: pair[1].value or 0)
    right = [(one, number) for one, number in measured if (number.value or 0) >= wanted and (one, number) not in wrong]
    passed_over = [_passed_over(one, number) for one, number in wrong if (number.value or 0) >= wanted]
    if not right:
        most = f"the best is {best.system} with" if at_best.value or wrong else "none is above"
        reason = f"None reaches {wanted:.2f} ({by}); {most} {at_best.shown()}."
        reason = " ".join([reason, _surety(at_best, wanted), *passed_over])
        return Decision(shape, None, reason, "Nothing is taken.", _track(measure, best))
    chosen, number = min(right, key=lambda pair: _price_key(pair[0]))
    money = "of unknown cost" if chosen.usd.value is None else f"at USD {chosen.usd.value:.2f} per 1,000"
    reason = f"The cheapest that reaches {wanted:.2f} ({by}): {number.shown()}, {money}."
    reason = " ".join([reason, _surety(number, wanted), *passed_over])
    return Decision(shape, chosen.system, reason, _gives_up(number, best, at_best, chosen), _track(measure, chosen))


def _missing(comparison: Comparison, shape: str) -> str:
    """Say what to do about a shape of which nothing was measured."""
    labelled = [one for one in comparison.questions if one.shape == shape and one.is_labelled]
    if not labelled:
        return "Label it first."
    if not any(comparison.of(system, shape) for system in comparison.systems):
        return "Its questions are labelled and were not asked: let the run end."
    return "Its labels cannot be scored: gold ids need systems that return ids, expected answers systems that answer."


def _track(measure: Callable[[Line], Number], chosen: Line) -> str:
    """Name the number to track: answers where the system writes some, since only they show that one is out of date."""
    answers = measure is _by_answers or chosen.answers.value is not None
    return f"{'answer accuracy' if answers else chosen.metric} of {chosen.system}"


def _known_wrong(one: Line, wanted: float) -> bool:
    """Say whether a system wrote answers and too many of them are wrong: what it found then does not help it."""
    return one.answers.value is not None and one.answers.value < wanted


def _passed_over(one: Line, number: Number) -> str:
    return f"{one.system} finds {number.value:.2f} and is passed over: of its answers {one.answers.shown()} are right."


def _by_answers(one: Line) -> Number:
    return one.answers


def _by_found(one: Line) -> Number:
    return one.found


def _measure(all_lines: Sequence[Line]) -> Callable[[Line], Number]:
    """Go by answers where all have them: a share of right answers and a share of found passages do not compare."""
    return _by_answers if all(one.answers.value is not None for one in all_lines) else _by_found


def _price_key(one: Line) -> tuple[float, float]:
    far = float("inf")
    return (far if one.usd.value is None else one.usd.value, far if one.p95.value is None else one.p95.value)


def _surety(number: Number, wanted: float) -> str:
    if number.low is not None and number.low >= wanted:
        return "The whole interval is above that."
    if number.high is not None and number.high < wanted:
        return "The whole interval is below that."
    asked = "1 question" if number.n == 1 else f"{number.n} questions"
    return f"With {asked} the interval still holds {wanted:.2f}: label more before you rely on it."


def _gives_up(number: Number, best: Line, at_best: Number, chosen: Line) -> str:
    lost = (at_best.value or 0) - (number.value or 0)
    if best.system == chosen.system or lost <= 0:
        return "It gives up nothing that was measured here."
    return f"It gives up {100 * lost:.0f} points against {best.system} ({at_best.shown()})."
