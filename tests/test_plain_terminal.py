"""Everything can be read and answered without widgets: in VS Code with no network, on GitHub, in a plain terminal."""

import importlib
from pathlib import Path

import nbformat
import pytest

from course_lib.learn.lesson import Lesson
from course_lib.learn.look import Shown
from course_lib.learn.record import Record
from tools.build import rebuilt
from tools.source import NOTEBOOKS, lesson_module, source_names

NAMES = source_names()


def lesson_of(name: str) -> Lesson:
    lesson = importlib.import_module(lesson_module(name)).lesson
    assert isinstance(lesson, Lesson)
    return lesson


@pytest.fixture(autouse=True)
def own_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = Record(tmp_path / "r.json")
    monkeypatch.setattr("course_lib.learn.lesson.open_record", lambda: record)


@pytest.mark.parametrize("name", NAMES)
def test_every_question_says_how_to_answer_it_in_code_and_that_works(name: str) -> None:
    """What a terminal shows holds the options and one line of code; with its dots filled in, that line commits."""
    lesson = lesson_of(name)
    assert lesson.questions
    for key, question in lesson.questions.items():
        shown = repr(lesson.predict(key))
        _, _, said = shown.partition("To answer in code: ")
        line, found, choices = said.partition(", and for the dots choose from ")
        assert found, key
        names = [option.name for option in question.options]
        assert all(repr(one) in choices for one in names), key
        answer = repr(names[0]) if question.pick == 1 else repr(names[: question.pick or 1])
        code = line.replace("[...]" if question.pick != 1 else "...", answer, 1)
        committed = eval(code, {"lesson": lesson})
        assert committed.message.startswith("Committed:"), (key, code, committed.message)


@pytest.mark.parametrize("name", NAMES)
def test_every_question_is_asked_in_the_notebook(name: str) -> None:
    learner = "\n".join(cell.source for cell in rebuilt(name)[0].cells if cell.cell_type == "code")
    for key in lesson_of(name).questions:
        assert f'lesson.predict("{key}")' in learner


@pytest.mark.parametrize("name", NAMES)
def test_every_output_says_in_text_what_it_shows(name: str) -> None:
    """A repr such as <course_lib.learn.look.Shown object at …> would be all that a terminal has."""
    outputs = [
        output["data"]
        for cell in nbformat.read(NOTEBOOKS / "solved" / f"{name}.ipynb", as_version=4).cells
        for output in cell.get("outputs", [])
        if "data" in output
    ]
    assert outputs
    for data in outputs:
        assert data.get("text/plain", "").strip(), data
        assert " object at 0x" not in data["text/plain"]


def test_what_is_shown_is_the_same_in_text() -> None:
    assert repr(Shown("<p>7.1 <b>Invoicing</b></p>")) == "7.1 Invoicing"
