"""What a notebook talks to: its predictions, its exercises and the learner's record under one name."""

import os
import sys
from collections.abc import Iterable
from typing import Any

from course_lib.learn.exercises import Exercise, Feedback, check, show_hint, show_solution
from course_lib.learn.look import Shown, card, paragraph
from course_lib.learn.predictions import Prediction, Question
from course_lib.learn.record import Record, open_record
from course_lib.learn.summary import summary


class Lesson:
    """The predictions and exercises of one notebook.

    Every method takes the key of a question or an exercise and raises ValueError, naming the keys, for another one.
    """

    def __init__(self, name: str, questions: Iterable[Question], exercises: Iterable[Exercise]) -> None:
        """`name` is the notebook's, without its ending; it stands before each key in the record."""
        self.name = name
        self.questions = {question.key: question for question in questions}
        self.exercises = {exercise.key: exercise for exercise in exercises}

    @property
    def record(self) -> Record:
        """The learner's record, the same for all notebooks."""
        return open_record()

    def predict(self, key: str, answer: object = None, confidence: str | None = None) -> Prediction:
        """Return a question; as the last line of a cell it shows itself. With `answer` it is answered at once."""
        question = _of(self.questions, key, "question")
        blank = "..." if question.pick == 1 else "[...]"
        how = f"lesson.predict({key!r}, answer={blank}, confidence='fairly sure')"
        prediction = Prediction(question, f"{self.name}/{key}", self.record, how)
        return prediction if answer is None else prediction.commit(answer, confidence)

    def check(self, key: str, answer: Any) -> Feedback:
        """Judge what the learner wrote and keep the outcome in the record."""
        return check(_of(self.exercises, key, "exercise"), answer, self.record, f"{self.name}/{key}")

    def hint(self, key: str) -> Shown:
        """Return a hint, and note that it was asked for."""
        exercise = _of(self.exercises, key, "exercise")
        self.record.add("hint", f"{self.name}/{key}")
        return show_hint(exercise)

    def solution(self, key: str) -> Shown:
        """Return one solution, and note that it was asked for."""
        exercise = _of(self.exercises, key, "exercise")
        self.record.add("solution", f"{self.name}/{key}")
        return show_solution(exercise)

    def summary(self) -> Shown:
        """Return what the record holds: predicted against actual, confidence, exercises, what to ask again.

        Where nothing is kept, on Colab and Binder, it ends with the line that writes the record out.
        """
        shown, where = summary(self.record), place_that_forgets()
        if where is None:
            return shown
        keep = (
            f"{where} keeps nothing when you leave. Run lesson.record.export('my_record.json'), then download the file."
        )
        return Shown(shown.html + card("", paragraph(keep)))


def place_that_forgets() -> str | None:
    """Return the name of the place where the kernel runs if nothing is kept there, else None."""
    if "google.colab" in sys.modules or "COLAB_RELEASE_TAG" in os.environ:
        return "Colab"
    return "Binder" if "BINDER_LAUNCH_HOST" in os.environ or "BINDER_SERVICE_HOST" in os.environ else None


def _of(things: dict[str, Any], key: str, what: str) -> Any:
    if key not in things:
        raise ValueError(f"This notebook has no {what} {key!r}. It has: {', '.join(things)}.")
    return things[key]
