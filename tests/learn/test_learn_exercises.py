import pytest

from course_lib.learn.blank import Blank, NotAttempted, ____
from course_lib.learn.exercises import Exercise, LearnerError, call, describe
from course_lib.learn.lesson import Lesson
from course_lib.learn.record import Record


def judge(function):
    found = call(function, 3)
    return None if found == 6 else f"For 3 it returned {describe(found)}."


DOUBLE = Exercise(
    "double", "Double it", judge, "It doubles.", "Think of addition.", "def double(x):\n    return x + x\n"
)


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    record = Record(tmp_path / "my_record.json")
    monkeypatch.setattr("course_lib.learn.lesson.open_record", lambda: record)
    return Lesson("n", [], [DOUBLE])


def outcomes(lesson):
    return [event["outcome"] for event in lesson.record.events("exercise")]


def test_a_right_function_is_right(lesson):
    feedback = lesson.check("double", lambda x: 2 * x)
    assert feedback.outcome == "right"
    assert "It doubles." in repr(feedback)
    assert outcomes(lesson) == ["right"]


@pytest.mark.parametrize(("value", "found"), [(7, "7"), (None, "None"), ("6", "'6'"), ([6] * 1000, "…")])
def test_a_wrong_value_is_named_and_the_answer_is_not(lesson, value, found):
    feedback = lesson.check("double", lambda x: value)
    assert feedback.outcome == "wrong"
    assert f"For 3 it returned {found}" in repr(feedback) or "…" in repr(feedback)
    assert outcomes(lesson) == ["wrong"]


def use_blank(x):
    return x + ____


def test_a_placeholder_is_not_attempted_wherever_it_stands(lesson):
    def returned(x):
        return ____

    def compared(x):
        return 1 if ____ else 2

    def called(x):
        return ____(x)

    for answer in (____, use_blank, returned, compared, called):
        feedback = lesson.check("double", answer)
        assert feedback.outcome == "not attempted"
        assert "Replace every ____" in repr(feedback)
    assert outcomes(lesson) == []


def test_a_placeholder_hidden_in_a_returned_list_is_not_attempted(lesson):
    def judge_list(function):
        return None if call(function) == [6] else "no"

    lesson.exercises["double"] = Exercise("double", "Double it", judge_list, "", "", "")
    assert lesson.check("double", lambda: [____]).outcome == "not attempted"


def test_an_exception_in_the_learners_code_is_named_with_its_line(lesson):
    def broken(x):
        return x["rate"]

    feedback = lesson.check("double", broken)
    assert feedback.outcome == "error"
    assert "TypeError" in repr(feedback)
    assert "line" in repr(feedback)
    assert outcomes(lesson) == ["error"]


def test_the_line_is_the_learners_and_not_that_of_a_library(lesson):
    scope = {}
    exec(compile("import re\n\ndef broken(x):\n    return re.findall('(Section', 'x')\n", "cell", "exec"), scope)
    assert "(line 4 of its cell)" in repr(lesson.check("double", scope["broken"]))


def test_a_function_with_other_parameters_is_an_error_of_the_learners(lesson):
    assert lesson.check("double", lambda: 6).outcome == "error"


@pytest.mark.parametrize("answer", [None, 6, "double"])
def test_something_that_is_no_function_is_said(lesson, answer):
    feedback = lesson.check("double", answer)
    assert feedback.outcome == "error"
    assert "a function was expected" in repr(feedback)


def test_an_interrupt_is_not_swallowed(lesson):
    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lesson.check("double", interrupted)


def test_an_error_in_the_judge_itself_is_not_blamed_on_the_learner(lesson):
    def broken_judge(function):
        raise ZeroDivisionError

    lesson.exercises["double"] = Exercise("double", "Double it", broken_judge, "", "", "")
    with pytest.raises(ZeroDivisionError):
        lesson.check("double", lambda x: 6)


def test_a_value_that_cannot_be_printed_is_described(lesson):
    class Odd:
        def __repr__(self):
            raise RuntimeError

    assert lesson.check("double", lambda x: Odd()).outcome == "wrong"


def test_hint_and_solution_are_shown_and_noted(lesson):
    assert "Think of addition." in repr(lesson.hint("double"))
    assert "return x + x" in repr(lesson.solution("double"))
    assert [event["kind"] for event in lesson.record.events()] == ["hint", "solution"]


def test_an_unknown_exercise_is_answered_with_the_known_ones(lesson):
    with pytest.raises(ValueError, match="It has: double"):
        lesson.check("triple", 1)


@pytest.mark.parametrize(
    "use",
    [
        lambda b: b + 1, lambda b: 1 + b, lambda b: b == 1, lambda b: bool(b), lambda b: b(), lambda b: b.upper,
        lambda b: b[0], lambda b: list(b), lambda b: len(b), lambda b: b < 1, lambda b: -b, lambda b: b @ b,
        lambda b: int(b), lambda b: 1 in b, lambda b: {b}, lambda b: b & b, lambda b: b * 2, lambda b: 2 / b,
    ],
)  # fmt: skip
def test_any_use_of_the_placeholder_raises(use):
    with pytest.raises(NotAttempted):
        use(____)


def test_the_placeholder_can_be_shown_and_asked_by_ipython():
    assert repr(____) == str(____) == f"{____}" == "____"
    assert not hasattr(____, "_repr_html_")
    assert isinstance(____, Blank)


def test_call_passes_the_learners_error_on_as_cause():
    with pytest.raises(LearnerError) as caught:
        call(lambda: 1 / 0)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
