"""The stored notebooks are what their sources build, hold nothing they must not, and run with nothing answered."""

import importlib
import re
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from tools.build import execute, rebuilt
from tools.check import check_name, strays
from tools.source import NOTEBOOKS, lesson_module, source_names

NAMES = source_names()


def stored(path: Path) -> NotebookNode:
    """A stored notebook without its outputs and execution counts, which nbval judges."""
    nb = nbformat.read(path, as_version=4)
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return nb


def test_the_course_has_notebooks() -> None:
    assert NAMES, "notebooks/source holds no .py file, so the tests of this module would pass without testing anything"


@pytest.mark.parametrize("name", NAMES)
def test_the_stored_notebooks_are_what_their_source_builds(name: str) -> None:
    learner, solved = rebuilt(name)
    assert stored(NOTEBOOKS / f"{name}.ipynb") == learner, f"run python -m tools.build {name}"
    assert stored(NOTEBOOKS / "solved" / f"{name}.ipynb") == solved, f"run python -m tools.build {name}"


@pytest.mark.parametrize("name", NAMES)
def test_the_check_finds_nothing(name: str) -> None:
    assert check_name(name) == []


def test_every_notebook_has_a_source() -> None:
    assert strays() == []


@pytest.mark.parametrize("name", NAMES)
def test_a_learner_who_answers_nothing_can_run_all_cells(name: str) -> None:
    nb = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    execute(nb, NOTEBOOKS)  # with an empty record; raises BuildError when a cell or a callback raises


@pytest.mark.parametrize("name", NAMES)
def test_each_result_is_assigned_between_its_question_and_its_reveal(name: str) -> None:
    """`Question.result` tells an answer in time from a late one, so the variable must exist where it says."""
    lesson = importlib.import_module(lesson_module(name)).lesson
    cells = [cell.source for cell in rebuilt(name)[0].cells if cell.cell_type == "code"]
    for question in lesson.questions.values():
        asked = next(n for n, source in enumerate(cells) if f'lesson.predict("{question.key}")' in source)
        assigned = next(n for n, s in enumerate(cells) if re.search(rf"\b{question.result}\b[^=\n]*=(?!=)", s))
        variable = cells[asked].split(" = ")[0]
        reveal = rf"\b{variable}\.reveal\(|\breveal\w*\({variable}\b"
        revealed = next(n for n, source in enumerate(cells) if re.search(reveal, source))
        assert asked < assigned <= revealed, question.key


@pytest.mark.parametrize("name", NAMES)
def test_a_learner_without_widgets_can_run_all_cells(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ipywidgets.py").write_text("raise ImportError('not installed')", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    done = execute(nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4), NOTEBOOKS)
    shown = [output.data for cell in done.cells for output in cell.get("outputs", []) if "data" in output]
    assert not any("application/vnd.jupyter.widget-view+json" in data for data in shown)
    assert any("To answer in code" in data.get("text/plain", "") for data in shown)
