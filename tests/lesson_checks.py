"""What every lesson's test demands of its predictions, written once."""

from typing import Any

from course_lib.learn.lesson import Lesson
from course_lib.learn.look import to_text
from course_lib.learn.predictions import Question


def every_option_that_can_be_wrong_says_why(question: Question, actual: Any) -> None:
    """The computed value falls into the question's options, and each other option has its reason."""
    right = question.right(actual)
    assert question.pick in (len(right), None)
    assert set(right) <= {option.name for option in question.options}
    for option in question.options:
        assert (option.name in right and question.pick) or option.why, option.name


def every_wrong_answer_gets_its_reason(lesson: Lesson, question: Question, actual: Any) -> None:
    """Each wrong option, chosen with full confidence, is answered with its reason and as the one to remember."""
    right = list(question.right(actual))
    for option in question.options:
        if option.name not in right:
            prediction = lesson.predict(question.key)
            prediction.record.path.unlink(missing_ok=True)  # each answer is a first answer
            prediction.commit([option.name, *right[1:]], "sure")
            shown = repr(prediction.reveal(actual))
            assert to_text(option.why) in shown
            assert "the one to remember" in shown
