"""Predict first: a question that is answered before the cell that shows the result is run.

The first answer is kept for good. Feedback follows at once in `reveal`, which takes the value that the notebook has
computed, and a miss that the learner was sure of is worded as the one to remember.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from course_lib.learn.explorer import WIDGET_VIEW, boxed, view_of
from course_lib.learn.look import CONTROLS_STYLE, STYLE, Shown, card, escape, mark, paragraph, table, to_text
from course_lib.learn.record import Event, Record

CONFIDENCE = ("a guess", "fairly sure", "sure")

Answer: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Option:
    """One possible answer. `why` says why it is tempting and what speaks against it, in one sentence."""

    label: str
    why: str = ""
    short: str = ""

    @property
    def name(self) -> str:
        """What the learner may write for this option in code."""
        return self.short or self.label


@dataclass(frozen=True)
class Question:
    """A prediction to make.

    `pick` options are chosen, or with None as many as apply; then the reveal gives the reason for every option, so that
    each needs its `why`. `right` turns the value that the notebook computes into the names of the options that
    are right. `result` is the variable that the result cell assigns: an answer that is committed once it exists is
    kept, and left out of the score. `lesson_learned` closes every reveal.
    """

    key: str
    text: str
    options: tuple[Option, ...]
    right: Callable[[Any], Sequence[str]]
    result: str
    lesson_learned: str
    pick: int | None = 1


def read_answer(question: Question, answer: object) -> tuple[Answer, str]:
    """Return the names of the options that `answer` names, in the question's order, and "" or what is wrong with it.

    Names and labels are compared without regard to capitals and outer blanks; a number counts as its text.
    """
    given = [answer] if isinstance(answer, str | int | float) else answer
    if not isinstance(given, list | tuple | set | frozenset):
        return (), f"An answer is a text or a list of texts, not {type(answer).__name__}."
    known = {_fold(text): option.name for option in question.options for text in (option.name, option.label)}
    names = {known.get(_fold(text), str(text)) for text in given}
    allowed = [option.name for option in question.options]
    unknown = sorted(name for name in names if name not in allowed)
    if unknown:
        return (), f"{', '.join(unknown)} is not among the answers: {', '.join(allowed)}."
    if question.pick is None and not names:
        return (), "Choose at least one."
    if question.pick is not None and len(names) != question.pick:
        return (), f"Choose {question.pick}; {len(names)} chosen."
    return tuple(name for name in allowed if name in names), ""


def _fold(text: object) -> str:
    return str(text).strip().casefold()


class Prediction:
    """A question on screen. As the last line of a cell it shows itself; `commit` answers it in code."""

    def __init__(self, question: Question, key: str, record: Record, how_in_code: str) -> None:
        """`key` names the question in the record; `how_in_code` is the line that answers it without widgets."""
        self.question = question
        self.key = key
        self.record = record
        self.how_in_code = how_in_code
        self.message = ""

    def commit(self, answer: object, confidence: str | None) -> "Prediction":
        """Keep an answer. What cannot be kept is said in `message`, which the question shows; nothing is raised."""
        names, trouble = read_answer(self.question, answer)
        step = next((step for step in CONFIDENCE if _fold(step) == _fold(confidence)), None)
        if not trouble and step is None:
            trouble = f"Say how sure you are: {', '.join(CONFIDENCE)}."
        if trouble:
            self.message = f"Not committed. {trouble}"
            return self
        first = first_answer(self.record, self.key)
        changed = first is not None and (tuple(first["answer"]), first["confidence"]) != (names, step)
        if first is None or changed:
            details = {"answer": list(names), "confidence": step, "after_result": self._result_is_known()}
            self.record.add("prediction", self.key, question=self.question.text, **details)
        self.message = self._committed(changed)
        return self

    def reveal(self, actual: Any) -> Shown:
        """Compare the first answer with `actual`, the value computed by the cell above, and say what follows.

        Without an answer there is one neutral line, and the question stays open.
        """
        right = tuple(self.question.right(actual))
        self._note_reveal(actual, right)
        first = first_answer(self.record, self.key)
        if first is None:
            line = (
                "No prediction yet, and the result is on screen now. You can still answer and run this cell again: "
                "the answer is kept, and left out of your score."
            )
            return Shown(card("", paragraph(line)))
        return Shown(card("Your prediction", *compare(self.question, first, right)))

    def _note_reveal(self, actual: Any, right: Answer) -> None:
        seen = self.record.events("reveal", self.key)
        if not seen or tuple(seen[-1]["right"]) != right:
            details = {"question": self.question.text, "actual": str(actual), "right": list(right)}
            self.record.add("reveal", self.key, **details)

    def _result_is_known(self) -> bool:
        """Whether the result has been on screen: in an earlier session, or since this kernel started."""
        return bool(self.record.events("reveal", self.key)) or hasattr(sys.modules["__main__"], self.question.result)

    def _committed(self, changed: bool = False) -> str:
        first = first_answer(self.record, self.key)
        if first is None:
            return ""
        kept = f"Committed: {', '.join(first['answer'])} ({first['confidence']})."
        late = " The result was already there, so this one is not scored." if first["after_result"] else ""
        change = " Your first answer is the one that counts; the change is noted beside it." if changed else ""
        return f"{kept}{late}{change} {self.record.trouble}".strip()

    def _static(self) -> str:
        """The question without widgets: the options, and the line of code that answers it."""
        options = "".join(f"<li>{escape(option.label)}</li>" for option in self.question.options)
        said = self.message or self._committed()
        return card(
            "Predict",
            paragraph(self.question.text),
            f"<ul>{options}</ul>",
            paragraph(said) if said else self._in_code(),
        )

    def _in_code(self) -> str:
        names = ", ".join(repr(option.name) for option in self.question.options)
        line = f"<code>{escape(self.how_in_code)}</code>"
        return f"<p>To answer in code: {line}, and for the dots choose from {escape(names)}.</p>"

    def __repr__(self) -> str:
        return to_text(self._static())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/plain": repr(self), "text/html": self._static()}
        view = view_of(lambda: prediction_widget(self))
        return {**bundle, WIDGET_VIEW: view} if view else bundle


def prediction_widget(prediction: Prediction) -> Any:
    """Return the question as core ipywidgets: the options, three steps of confidence, a button, and what was said."""
    import ipywidgets

    question = prediction.question
    heading = ipywidgets.HTML(
        STYLE + CONTROLS_STYLE + f'<p class="vr vr-title">Predict</p><p class="vr">{escape(question.text)}</p>'
    )
    chooser, chosen = _pick_one(question) if question.pick == 1 else _pick_several(question)
    layout = {"width": "auto"}
    sure = ipywidgets.RadioButtons(options=list(CONFIDENCE), value=None, description="How sure?", layout=layout)
    button = ipywidgets.Button(description="Commit", tooltip="Keep this answer for good")
    said = ipywidgets.HTML(_line(prediction.message or prediction._committed()))

    def commit(_: object) -> None:
        prediction.commit(chosen(), sure.value)
        said.value = _line(prediction.message)

    button.on_click(commit)
    for widget, name in ((chooser, "options"), (sure, "confidence"), (button, "commit"), (said, "said")):
        widget.add_class(f"vr-{name}")
    return boxed(heading, chooser, sure, button, said)


def _line(text: str) -> str:
    return f'<p class="vr">{escape(text)}</p>' if text else ""


def _pick_one(question: Question) -> tuple[Any, Callable[[], object]]:
    import ipywidgets

    names = [(option.label, option.name) for option in question.options]
    radio = ipywidgets.RadioButtons(options=names, value=None, layout={"width": "auto"})
    return radio, lambda: [] if radio.value is None else [radio.value]


def _pick_several(question: Question) -> tuple[Any, Callable[[], object]]:
    """One box to tick per option, in two columns where the labels are short: Tab reaches each, space ticks it."""
    import ipywidgets

    wide = {"width": "auto"}
    boxes = [ipywidgets.Checkbox(description=option.label, indent=False, layout=wide) for option in question.options]
    names = [option.name for option in question.options]
    narrow = max(len(option.label) for option in question.options) <= 36
    track = "repeat(auto-fit, minmax(250px, 1fr))" if narrow else "minmax(0, 1fr)"
    grid = ipywidgets.GridBox(boxes, layout={"grid_template_columns": track, "max_width": "700px"})
    return grid, lambda: [name for name, box in zip(names, boxes, strict=True) if box.value]


def first_answer(record: Record, key: str) -> Event | None:
    """Return the first answer to a question that the record holds, or None."""
    answers = record.events("prediction", key)
    return answers[0] if answers else None


def compare(question: Question, first: Event, right: Answer) -> list[str]:
    """Return the reveal as HTML pieces: what matched, why each wrong choice is tempting, and what to take away."""
    answer, confidence = tuple(first["answer"]), first["confidence"]
    pieces = [paragraph(f"You said: {', '.join(answer)} ({confidence}). The result: {', '.join(right)}.")]
    if set(answer) == set(right):
        pieces.append(paragraph("You were right.", "retrieved"))
    elif question.pick == 1:
        pieces.append(paragraph(_miss(confidence), "missed"))
    else:
        pieces.append(paragraph(_matched(question, answer, right), "missed"))
        pieces.append(paragraph(_miss(confidence)) if confidence == "sure" else "")
    pieces.append(
        _every_reason(question, answer, right) if question.pick is None else _reasons(question, answer, right)
    )
    if first["after_result"]:
        pieces.append(paragraph("You answered when the result was already there: kept, and left out of your score."))
    return [*pieces, paragraph(question.lesson_learned)]


def _matched(question: Question, answer: Answer, right: Answer) -> str:
    """Say how much of a list matched, without a score for what was left out rightly."""
    if question.pick is None:
        same = sum((option.name in answer) == (option.name in right) for option in question.options)
        return f"{same} of {len(question.options)} placed as in the result."
    missed = [name for name in right if name not in answer]
    return f"{len(right) - len(missed)} of {len(right)} matched. Not on your list: {', '.join(missed)}."


def _reasons(question: Question, answer: Answer, right: Answer) -> str:
    """Return one line for each chosen option that was wrong."""
    wrong = [option for option in question.options if option.name in answer and option.name not in right]
    return "".join(paragraph(f"{option.name}: {option.why}") for option in wrong if option.why)


def _every_reason(question: Question, answer: Answer, right: Answer) -> str:
    """Return a table of all options: what was said, what came out, and why."""
    rows = []
    for option in question.options:
        said, is_so = option.name in answer, option.name in right
        verdict = mark("retrieved", "right") if said == is_so else mark("missed", "missed")
        rows.append([escape(option.name), "yes" if is_so else "no", verdict, escape(option.why)])
    return table(["", "Result", "You", "Why"], rows)


def _miss(confidence: str) -> str:
    if confidence == "sure":
        return "You were sure, and it came out otherwise: of everything on this page, this is the one to remember."
    return "It came out otherwise."
