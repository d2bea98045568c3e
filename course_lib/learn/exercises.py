"""Checked code exercises: `check`, `hint`, `solution`, and four outcomes."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from course_lib.learn.blank import Blank, NotAttempted
from course_lib.learn.look import Accent, Shown, card, escape, paragraph
from course_lib.learn.record import Record

Result: TypeAlias = Literal["right", "wrong", "not attempted", "error"]


class LearnerError(Exception):
    """The learner's function raised; the original exception is the cause."""


@dataclass(frozen=True)
class Exercise:
    """One exercise.

    `judge` takes what the learner wrote (a function or a value) and returns None where it is right, else one
    sentence that says what was found, never what the answer is. It calls the learner's functions through `call`.
    `solution` is the code that stands in the solved notebook.
    """

    key: str
    title: str
    judge: Callable[[Any], str | None]
    right: str
    hint: str
    solution: str


def call(function: Any, *args: Any) -> Any:
    """Call the learner's function. Raises LearnerError where it raises, NotAttempted where a ____ is left in it."""
    if not callable(function):
        raise LearnerError from TypeError(f"a function was expected, but this is {describe(function)}")
    try:
        result = function(*args)
    except NotAttempted:
        raise
    except Exception as error:
        raise LearnerError from error
    if isinstance(result, Blank):
        raise NotAttempted
    return result


def describe(value: object) -> str:
    """Return a short text for any value a learner may have returned, also one that cannot be printed."""
    try:
        text = repr(value)
    except Exception:
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "…"


class Feedback(Shown):
    """What a check says; `outcome` is one of right, wrong, not attempted, error."""

    def __init__(self, outcome: Result, sentence: str) -> None:
        self.outcome = outcome
        word, accent = HEADINGS[outcome]
        super().__init__(card("", paragraph(word, accent), paragraph(sentence)))


HEADINGS: dict[Result, tuple[str, Accent]] = {
    "right": ("Right.", "retrieved"),
    "wrong": ("Not yet.", "missed"),
    "not attempted": ("Not attempted yet.", "plain"),
    "error": ("Your code stopped with an error.", "missed"),
}


def check(exercise: Exercise, answer: Any, record: Record, key: str) -> Feedback:
    """Judge `answer`, add the attempt to the record under `key`, and return the feedback."""
    feedback = _judge(exercise, answer)
    if feedback.outcome != "not attempted":
        record.add("exercise", key, title=exercise.title, outcome=feedback.outcome)
    return feedback


def _judge(exercise: Exercise, answer: Any) -> Feedback:
    try:
        if isinstance(answer, Blank):
            raise NotAttempted
        found = exercise.judge(answer)
    except NotAttempted:
        return Feedback("not attempted", "Replace every ____ above, run that cell, then run this one.")
    except LearnerError as wrapped:
        return Feedback("error", _where(wrapped.__cause__))
    return Feedback("right", exercise.right) if found is None else Feedback("wrong", found)


def _where(error: BaseException | None) -> str:
    """Say what was raised and at which line of the learner's code, not of a library that it called."""
    if error is None:
        return "It raised an error."
    frames = traceback.extract_tb(error.__traceback__)[1:]  # the first is `call`
    own = [frame for frame in frames if frame.filename == frames[0].filename]
    line = f" (line {own[-1].lineno} of its cell)" if own else ""
    return f"{type(error).__name__}: {error}{line}."


def show_hint(exercise: Exercise) -> Shown:
    """Return the hint as a card."""
    return Shown(card("Hint", paragraph(exercise.hint)))


def show_solution(exercise: Exercise) -> Shown:
    """Return the solution's code as a card."""
    return Shown(card("One solution", f"<pre><code>{escape(exercise.solution)}</code></pre>"))
