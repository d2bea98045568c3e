"""The first cell finds course_lib from wherever a notebook lies, once, or says what to do."""

import sys
from pathlib import Path

import pytest

from tools.first_cell import FIRST_CELL


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that holds an empty course_lib, and a sys.path that may be changed."""
    (tmp_path / "course_lib").mkdir()
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def run() -> None:
    exec(FIRST_CELL, {})


@pytest.mark.parametrize("folder", [".", "notebooks", "notebooks/solved"])
def test_the_folder_of_course_lib_comes_first_from_every_folder_of_the_course(
    folder: str, course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (course / folder).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(course / folder)
    run()
    assert sys.path[0] == str(course)


def test_a_second_run_adds_nothing(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(course)
    run()
    run()
    assert sys.path.count(str(course)) == 1


def test_a_course_that_was_last_on_the_path_is_moved_to_the_front(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(course)
    sys.path.append(str(course))
    run()
    assert sys.path[0] == str(course)
    assert sys.path.count(str(course)) == 1


def test_without_course_lib_it_stops_with_what_it_looked_for_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=r"a folder named course_lib in .* Open this notebook inside"):
        run()


def test_it_keeps_to_the_length_and_width_of_a_cell() -> None:
    lines = FIRST_CELL.split("\n")
    assert len(lines) <= 15
    assert max(map(len, lines)) <= 110
    assert lines[0].startswith("#")
