"""The checked exercises of Move 5: where the choice flips, a rule that steals nothing, what is worth trying."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from course_lib.choosing.ladder import Rung
from course_lib.choosing.router import RULES, Rule, chooses, route
from course_lib.choosing.selection import select
from course_lib.corpora.routing_questions import routing_questions
from course_lib.learn.blank import Blank, NotAttempted
from course_lib.learn.exercises import Exercise, call, describe
from course_lib.learn.look import Shown, card, escape, table
from course_lib.metrics import rate

# --- Where the choice flips ----------------------------------------------------------------------------------------

FLIPS: tuple[tuple[tuple[float, float, float, float], float | None], ...] = (
    ((0.01, 0.5, 0.09, 0.9), 0.2),
    ((0.005, 0.2, 0.0875, 0.75), 0.15),
    ((0.01, 0.0, 0.51, 1.0), 0.5),
    ((0.01, 0.9, 0.02, 0.9), None),
    ((0.01, 0.9, 0.02, 0.6), None),
)


def judge_flip(function: Any) -> str | None:
    """Call the learner's function with designs that flip and with such as never do."""
    for numbers, wanted in FLIPS:
        cheap_usd, cheap_right, dear_usd, dear_right = numbers
        found = call(function, *numbers)
        case = f"For USD {cheap_usd} at {cheap_right} right against USD {dear_usd} at {dear_right} it returned"
        if wanted is None:
            if found is not None:
                return f"{case} {describe(found)}, but the dear one answers no more questions rightly: None is wanted."
        elif found is None:
            return f"{case} None, but the dear one is right more often: a number of USD is wanted."
        elif isinstance(found, bool) or not isinstance(found, int | float) or not isfinite(found):
            return f"{case} {describe(found)}; a number of USD is wanted."
        elif found < 0:
            return f"{case} {describe(found)}; a wrong answer costs nothing or more. What is subtracted from what?"
        elif abs(found - wanted) > 1e-6:
            return f"{case} {describe(found)}. {_both(numbers, found)}"
    return None


def _both(numbers: tuple[float, float, float, float], error: float) -> str:
    """Say what both designs cost a question at the point that was returned: at a flip the two are equal."""
    cheap_usd, cheap_right, dear_usd, dear_right = numbers
    cheap, dear = cheap_usd + (1 - cheap_right) * error, dear_usd + (1 - dear_right) * error
    return f"With a wrong answer at that cost, a question costs USD {cheap:.3f} with one and {dear:.3f} with the other."


FLIP = Exercise(
    key="flip",
    title="Where the choice flips",
    judge=judge_flip,
    right="What the dear design costs more, divided by what it gets right more often. Below that, errors are cheaper "
    "than avoiding them.",
    hint="Write down what a question costs with each design, price plus (1 − right) times the cost of an error, set "
    "the two equal, and solve for the cost of an error. A dear design that is right no more often never wins.",
    solution="""\
def flip(cheap_usd, cheap_right, dear_usd, dear_right):
    if dear_right <= cheap_right:
        return None
    return (dear_usd - cheap_usd) / (dear_right - cheap_right)
""",
)

# --- A rule that steals nothing ------------------------------------------------------------------------------------

TOOL = "read_section"
LONGEST_RULE = 3  # words of one pattern


def with_words(words: Sequence[str]) -> tuple[Rule, ...]:
    """Return the course's rules with these words in the rule for contracts. Raises ValueError for bad words."""
    return tuple(Rule(TOOL, tuple(words)) if rule.tool == TOOL else rule for rule in RULES)


def on_unseen(words: Sequence[str]) -> tuple[int, list[str]]:
    """Return how many of the seven held-out contract questions these words bring, and which others they take away."""
    choices = select(chooses(with_words(words)), routing_questions("held out")).choices
    brought = [one for one in choices if one.chosen == TOOL]
    return sum(one.right for one in brought), [one.text for one in brought if not one.right]


def show_on_unseen(words: Any) -> Shown:
    """Return what the course's words and the learner's do on the half that neither was tuned on."""
    written: dict[str, Any] = {"ours": next(rule.words for rule in RULES if rule.tool == TOOL)}
    if _usable(words):
        written["yours"] = words
    rows = []
    for whose, list_ in written.items():
        caught, taken = on_unseen(list_)
        rows.append([whose, str(caught), escape("; ".join(taken) or "nothing")])
    n = sum(one.tool == TOOL for one in routing_questions("held out"))
    return Shown(card("", table(["Whose words", f"Of {n} arrive", "Stolen from others"], rows, numbers=(1,))))


def _usable(words: Any) -> bool:
    """Whether words can be put into a rule: a list of texts that are regular expressions."""
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        return False
    try:
        return bool(with_words(words))
    except ValueError:
        return False


def judge_rule(words: Any) -> str | None:
    """Judge the words on the tuning half: which contract questions they miss, and which others they take away."""
    if isinstance(words, str) or not isinstance(words, list | tuple) or not words:
        return f"This is {describe(words)}; a list of words is wanted, each in quotes."
    if any(isinstance(word, Blank) for word in words):
        raise NotAttempted
    if not all(isinstance(word, str) and word.strip() for word in words):
        return f"This is {describe(words)}; every entry of the list is a word in quotes."
    long = [word for word in words if len(word.split()) > LONGEST_RULE]
    if long:
        return f"{long[0]!r} has {len(long[0].split())} words; {LONGEST_RULE} at most, or it meets a single question."
    try:
        rules = with_words(words)
    except ValueError as error:
        return f"{error}."
    return _taken(rules) or _missed(rules)


def _taken(rules: Sequence[Rule]) -> str | None:
    for one in routing_questions("tuning"):
        found = route(one.text, rules)
        if found.tool == TOOL and one.tool != TOOL:
            return f"“{one.text}” is meant for {one.tool or 'no tool'}, and your {found.why!r} takes it away."
    return None


def _missed(rules: Sequence[Rule]) -> str | None:
    meant = [one.text for one in routing_questions("tuning") if one.tool == TOOL]
    missed = [text for text in meant if route(text, rules).tool != TOOL]
    if not missed:
        return None
    return f"It takes nothing away, and misses {len(missed)} of {len(meant)}, for one “{missed[0]}”"


RULE = Exercise(
    key="rule",
    title="A rule that steals nothing",
    judge=judge_rule,
    right="All questions of its own, and none of anybody else's, on the half that you could see.",
    hint="Look for the word that only somebody with a contract in hand would use. Where one word is not enough, two "
    "together may be; r'renew\\w*' meets every ending, and a word that asks for sums belongs to run_sql.",
    solution="""\
my_words = ["contract", "agreement", "interest", "notice", r"terminat\\w+", r"renew\\w*"]
my_words += [r"confidential\\w*", "owns?", "dispute", "breach", r"schedule [A-Z]"]
""",
)

# --- What is worth trying ------------------------------------------------------------------------------------------


def rung(key: str, found: int, usd: float) -> Rung:
    """Return a rung that finds `found` of 20 tables for `usd` a question."""
    return Rung(key, key, "", False, rate(found, 20), rate(found, 20), 0, usd, 200 * usd)


LADDERS: tuple[tuple[tuple[Rung, ...], float, list[str]], ...] = (
    ((rung("a", 18, 0.03), rung("b", 10, 0.01), rung("c", 20, 0.02)), 0.9, ["c", "a"]),
    ((rung("a", 18, 0.03), rung("b", 10, 0.01), rung("c", 20, 0.02)), 0.5, ["b", "c", "a"]),
    ((rung("a", 18, 0.03), rung("b", 19, 0.05)), 0.95, ["b"]),
    ((rung("a", 18, 0.03),), 1.0, []),
)


def judge_worth(function: Any) -> str | None:
    """Call the learner's function on small ladders; it must not change the list that it is given."""
    for rungs, needed, wanted in LADDERS:
        found = call(function, list(rungs), needed)
        case = f"With {', '.join(f'{r.key} ({r.share.value:.2f}, USD {r.usd})' for r in rungs)} and {needed} needed"
        if isinstance(found, list) and any(isinstance(one, Blank) for one in found):
            raise NotAttempted
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            return f"{case} it returned {describe(found)}; a list of keys is wanted."
        if set(found) != set(wanted):
            return f"{case} it returned {describe(found)}. Which of them find that share, or more?"
        if found != wanted:
            return f"{case} it returned {describe(found)}: the right ones, in another order than by price."
    return None


WORTH = Exercise(
    key="worth",
    title="What is worth trying",
    judge=judge_worth,
    right="What cannot be good enough is left out before its price is looked at; of the rest the cheapest comes first.",
    hint="sorted(…, key=lambda rung: …) puts the smallest first. The share is a Rate: its number is rung.share.value.",
    solution="""\
def worth_trying(rungs, needed):
    enough = [rung for rung in rungs if rung.share.value >= needed]
    return [rung.key for rung in sorted(enough, key=lambda rung: rung.usd)]
""",
)
