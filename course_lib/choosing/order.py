"""Feedback on an order of attempts: what each finds, what it costs, and which were not needed.

A challenge is a list of attempts that were run. An order is judged by what was measured and by nothing else, so that
two orders that reach the answer at the same price are equally good.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from course_lib.choosing.imported import Outcome
from course_lib.choosing.ladder import Rung
from course_lib.choosing.quarter import Quarter


@dataclass(frozen=True)
class Tried:
    """An attempt that was run: whether it solves the challenge, what it came to, and what it takes.

    `says` and `takes` are parts of sentences. `usd` is USD a day, 0 where nothing is paid for; `effort` ranks what has
    to be built before it runs, 0 for nothing, and settles what comes first among solutions that cost the same.
    """

    key: str
    name: str
    solves: bool
    says: str
    takes: str
    usd: float = 0.0
    effort: int = 1


@dataclass(frozen=True)
class Challenge:
    """A challenge: its symptom and its attempts. Raises ValueError for a key that repeats."""

    name: str
    symptom: str
    attempts: tuple[Tried, ...]

    def __post_init__(self) -> None:
        if len({one.key for one in self.attempts}) < len(self.attempts):
            raise ValueError(f"Two attempts of {self.name} have one key")

    @property
    def best(self) -> Tried | None:
        """The attempt that solves it for the least money, then with the least to build; None where none does."""
        solving = [one for one in self.attempts if one.solves]
        return min(solving, key=lambda one: (round(one.usd, 2), one.effort), default=None)


def feedback(challenge: Challenge, order: Sequence[str]) -> list[str]:
    """Return sentences on an order of attempts, given by their keys: one for each, and one or two about the whole.

    A key that repeats counts once. Raises ValueError for a key that is none, with those there are, and for an empty
    order.
    """
    tried = _tried(challenge, order)
    sentences, solved = list[str](), None
    for number, one in enumerate(tried, 1):
        sentences.append(_about(number, one, solved))
        solved = solved or (one if one.solves else None)
    return [*sentences, *_about_order(challenge, tried, solved)]


def _tried(challenge: Challenge, order: Sequence[str]) -> list[Tried]:
    known = {one.key: one for one in challenge.attempts}
    if isinstance(order, str) or not order:
        raise ValueError(f"The order is {order!r}, but a list of attempts is needed: {', '.join(known)}")
    for key in order:
        if key not in known:
            near = get_close_matches(str(key), list(known), n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise ValueError(f"There is no attempt {key!r}; {hint}there are {', '.join(known)}")
    return [known[key] for key in dict.fromkeys(order)]


def _about(number: int, one: Tried, solved: Tried | None) -> str:
    price = f"USD {one.usd:.2f} a day" if one.usd else "no money"
    cost = f"It takes {one.takes}, and {price}."
    if solved:
        return (
            f"{number}. {_sentence(one.name)}: not needed any more, {solved.name} had solved it. It {one.says}. {cost}"
        )
    outcome = "That solves it." if one.solves else "That does not solve it."
    return f"{number}. {_sentence(one.name)}: it {one.says}. {outcome} {cost}"


def _about_order(challenge: Challenge, tried: Sequence[Tried], solved: Tried | None) -> list[str]:
    best = challenge.best
    if best is None:
        return ["None of the attempts on the list solves it."]
    if solved is None:
        return [f"Nothing in your order solves it: one that does is missing. You tried {len(tried)} attempts."]
    vain = [one.name for one in tried[: tried.index(solved)]]
    about = [f"Tried in vain before it: {'; '.join(vain)}."] if vain else ["Your first attempt solves it."]
    dearer = solved.usd > best.usd + 0.005
    if solved.key != best.key and dearer:
        return [
            *about,
            f"{_sentence(best.name)} solves it too, for USD {best.usd:.2f} a day in place of {solved.usd:.2f}.",
        ]
    if solved.key != best.key and solved.effort > best.effort:
        return [
            *about,
            f"{_sentence(best.name)} solves it too, for the same money and with less to build: {best.takes}.",
        ]
    return [*about, "Nothing on the list solves it for less."]


def _sentence(name: str) -> str:
    return name[:1].upper() + name[1:]


# --- The three challenges, from what was run ------------------------------------------------------------------------


def delegation_limit(rungs: Iterable[Rung]) -> Challenge:
    """Return challenge 1 from the rungs of its ladder, in the order of what has to be built."""
    tried = tuple(
        Tried(
            rung.key, rung.name, rung.found,
            f"{'puts the table into the prompt' if rung.found else 'leaves the table out'} for this question, and "
            f"finds the right one for {rung.share.value:.0%} of {rung.share.n}",
            f"{rung.needs}; {rung.tokens:,} input tokens a question", rung.per_day, effort,
        )
        for effort, rung in enumerate(rungs)
    )  # fmt: skip
    return Challenge("the delegation limit", "The answer cites section 5.4, and the limit is in Appendix 2.", tried)


QUARTER_TAKES = {
    "as it is": ("nothing", 0),
    "values": ("a query for each column", 1),
    "suspicion": ("code that looks at every result", 2),
    "meanings": ("one sentence on one column, by somebody who knows the ledger", 1),
    "view": ("a view, made by whoever owns the schema", 2),
}


def shrunken_quarter(quarters: Iterable[Quarter]) -> Challenge:
    """Return challenge 2 from what each attempt made of the question."""
    tried = tuple(
        Tried(
            one.key, one.name, one.reconciled,
            f"gives {one.share:.2f} of the ledger" + (f" and says: {'; '.join(one.warnings)}" if one.warnings else ""),
            QUARTER_TAKES.get(one.key, ("what it takes", 3))[0], 0.0, QUARTER_TAKES.get(one.key, ("", 3))[1],
        )
        for one in quarters
    )  # fmt: skip
    return Challenge("the quarter that shrank", "The sum is 18 % below the ledger, and the SQL runs.", tried)


def forum_import(outcomes: Iterable[Outcome], kept: float = 1.0) -> Challenge:
    """Return challenge 3 from what each repair does: solved where both sides are served.

    That is: the official article comes first, and the thread that alone has the answer is among the best three, each
    for at least the share `kept` of its questions.
    Raises ValueError for a share outside of 0 to 1.
    """
    if not 0 <= kept <= 1:
        raise ValueError(f"kept is {kept!r}, but a share from 0 to 1 is needed")
    tried = tuple(
        Tried(
            one.key, one.name, one.official[0].value >= kept and one.forum[1].value >= kept,
            f"puts the official article first for {one.official[0].value:.0%} of {one.official[0].n} questions and the "
            f"right thread among the best three for {one.forum[1].value:.0%} of {one.forum[1].n}",
            f"{one.cost}; {one.searches} search{'es' if one.searches > 1 else ''} a question", 0.0, one.effort,
        )
        for one in outcomes
    )  # fmt: skip
    return Challenge("the forum import", "The official article on E-4471 has dropped to third.", tried)
