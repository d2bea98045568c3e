"""The bill of navigation: several calls in the place of one retrieval, as arithmetic over round numbers.

Pure functions over a price and a set of assumptions, so that a slider can move any of them. No model and no network.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.pricing import Price, cost
from course_lib.retrieval import Usage

QUESTIONS = 1000  # a bill is for this many


@dataclass(frozen=True)
class Assumptions:
    """Sizes in tokens, counts, and a model's speed: the round numbers of the lesson for an agreement of 300 pages.

    `base` is instructions and question; `step_output` a decision, `answer_output` the answer; `first_token` is seconds
    until a short prompt's first token, `speed` output tokens a second. Raises ValueError for a negative value, or for
    no speed at all.
    """

    pages: int = 300
    page: int = 500
    headings: int = 400
    heading: int = 20
    section: int = 700
    chunk: int = 500
    base: int = 300
    step_output: int = 80
    answer_output: int = 250
    first_token: float = 0.6
    speed: float = 100.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 10**9:
                raise ValueError(f"{name} is {value!r}, but a number of 0 or more is needed")
        if not self.speed:
            raise ValueError("speed is 0 tokens a second: an answer would never be complete")

    @property
    def document(self) -> int:
        """Tokens of the whole document."""
        return self.pages * self.page

    @property
    def outline(self) -> int:
        """Tokens of the table of contents."""
        return self.headings * self.heading


ROUND_NUMBERS = Assumptions()


@dataclass(frozen=True)
class Line:
    """One design: its input tokens a question, USD per 1,000 questions, and model seconds (None: measure it)."""

    design: str
    tokens: int
    usd: float
    seconds: float | None

    def __str__(self) -> str:
        seconds = "measure" if self.seconds is None else f"{self.seconds:.1f}"
        return f"{self.design:26} {self.tokens:12,} {self.usd:8.2f} {seconds:>8}"


def chunk_rag(price: Price, a: Assumptions = ROUND_NUMBERS, chunks: int = 6) -> Line:
    """Return the line of a pipeline that puts `chunks` chunks into one call.

    >>> round_numbers = Price("round", 3.0, 15.0, read=0.1, write_5_minutes=1.25, write_1_hour=2.0)
    >>> print(chunk_rag(round_numbers))
    chunk RAG, 6 chunks               3,300    13.65      3.1
    """
    usage = Usage(a.base + chunks * a.chunk, output=a.answer_output, calls=1)
    return _line(f"chunk RAG, {chunks} chunks", usage, price, seconds(usage, a))


def navigation_usage(a: Assumptions = ROUND_NUMBERS, reads: int = 2, cached: bool = False) -> Usage:
    """Return the tokens of one question: a call for each read and one to answer, and what was read rides along.

    With `cached` the outline is read from a cache in every call; writing it is left out, as many questions share it.
    """
    calls = reads + 1
    fresh = calls * a.base + a.section * reads * calls // 2  # 0 + 1 + … + reads sections
    outline = calls * a.outline
    output = reads * a.step_output + a.answer_output
    if cached:
        return Usage(fresh, cached=outline, output=output, calls=calls)
    return Usage(fresh + outline, output=output, calls=calls)


def navigation(price: Price, a: Assumptions = ROUND_NUMBERS, reads: int = 2, cached: float = 0.0) -> Line:
    """Return the line of a navigator. `cached` is the share of calls, 0 to 1, that find the outline in the cache.

    Raises ValueError for a share outside of 0 to 1 or a negative number of reads.
    """
    if not 0 <= cached <= 1 or reads < 0:
        raise ValueError(f"reads is {reads} and cached {cached}: 0 or more reads and a share from 0 to 1 are needed")
    cold, warm = navigation_usage(a, reads), navigation_usage(a, reads, cached=True)
    usd = (1 - cached) * cost(cold, price) + cached * cost(warm, price)
    named = f"navigate, {reads} read{'' if reads == 1 else 's'}{_share(cached)}"
    return Line(named, cold.input, QUESTIONS * usd, seconds(cold, a))


def whole_document(price: Price, a: Assumptions = ROUND_NUMBERS, cached: float = 0.0) -> Line:
    """Return the line of the whole document in one call. Its seconds grow with the prompt: measure them.

    Raises ValueError for a share outside of 0 to 1.
    """
    if not 0 <= cached <= 1:
        raise ValueError(f"cached is {cached}, but a share from 0 to 1 is needed")
    cold = Usage(a.base + a.document, output=a.answer_output, calls=1)
    warm = Usage(a.base, cached=a.document, output=a.answer_output, calls=1)
    usd = (1 - cached) * cost(cold, price) + cached * cost(warm, price)
    return Line(f"whole document{_share(cached)}", cold.input, QUESTIONS * usd, None)


def _share(cached: float) -> str:
    return "" if cached == 0 else ", cached" if cached == 1 else f", {cached:.0%} cached"


def _line(design: str, usage: Usage, price: Price, seconds: float | None) -> Line:
    return Line(design, usage.input, QUESTIONS * cost(usage, price), seconds)


def seconds(usage: Usage, a: Assumptions = ROUND_NUMBERS) -> float:
    """Return the model seconds of calls that follow each other: first tokens, and the output at its speed."""
    return usage.calls * a.first_token + usage.output / a.speed


def the_bill(
    price: Price, a: Assumptions = ROUND_NUMBERS, reads: Sequence[int] = (2, 4), chunks: int = 6
) -> list[Line]:
    """Return all designs side by side, in the order of the lesson; the first number of reads also with a cache."""
    lines = [chunk_rag(price, a, chunks)]
    for at, count in enumerate(reads):
        lines.append(navigation(price, a, count))
        if at == 0:
            lines.append(navigation(price, a, count, cached=1.0))
    return [*lines, whole_document(price, a), whole_document(price, a, cached=1.0)]


def cheapest(lines: Sequence[Line]) -> Line:
    """Return the design with the smallest bill, the first of equals. Raises ValueError where there is none."""
    if not lines:
        raise ValueError("There are no designs to choose from")
    return min(lines, key=lambda line: line.usd)


@dataclass(frozen=True)
class Summaries:
    """What a summary of every node costs: once, in USD, when the outline is made, and as tokens in every call."""

    usd: float
    tokens: int


def summaries(price: Price, a: Assumptions = ROUND_NUMBERS, words: int = 30) -> Summaries:
    """Return the bill for summaries of `words` tokens each: a call a node reads the section and writes its line.

    Raises ValueError for a negative length.
    """
    if words < 0:
        raise ValueError(f"words is {words}, but a length of 0 or more tokens is needed")
    usage = Usage(a.headings * (a.base + a.section), output=a.headings * words, calls=a.headings)
    return Summaries(cost(usage, price), a.headings * words)


# --- When a step can go wrong -----------------------------------------------------------------------------------


def all_right(per_step: float, steps: int) -> float:
    """Return the chance that every one of `steps` steps is right, if each is with chance `per_step` on its own.

    Raises ValueError for a chance outside of 0 to 1 or fewer than 0 steps.

    >>> round(all_right(0.9, 3), 3)
    0.729
    """
    if not 0 <= per_step <= 1 or steps < 0:
        raise ValueError(f"per_step is {per_step} and steps {steps}: a chance from 0 to 1 and 0 or more are needed")
    return float(per_step**steps)


def worth_it(cheap: Line, dear: Line, cheap_right: float, dear_right: float) -> float | None:
    """Return from which cost of one wrong answer, in USD, the dearer design pays, None where it never does.

    cheap + (1 − p)·W = dear + (1 − q)·W at W = (dear − cheap) / (q − p), with the prices of one question.
    """
    for name, chance in (("cheap_right", cheap_right), ("dear_right", dear_right)):
        if not 0 <= chance <= 1:
            raise ValueError(f"{name} is {chance}, but a share from 0 to 1 is needed")
    more = (dear.usd - cheap.usd) / QUESTIONS
    if dear_right <= cheap_right:
        return 0.0 if more < 0 and dear_right == cheap_right else None
    return max(more / (dear_right - cheap_right), 0.0)
