"""Publishing writes one address everywhere, keeps stored outputs, and can be repeated."""

import shutil
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from tools.first_cell import first_cell
from tools.publish import BEGIN, END, PublishError, check_repository, with_address, with_outputs, with_readme_links

ROOT = Path(__file__).parents[2]
NAME = "00_start_here"
PARTS = ("course_lib", "tools", "data", "notebooks/source", "notebooks/solved", "README.md", "course.py")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A copy of the course with one notebook, which may be published."""
    for part in PARTS:
        (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / part, tmp_path / part)
    for path in (tmp_path / "notebooks").rglob("*.*"):
        if path.stem != NAME:
            path.unlink()
    return tmp_path


def publish(course: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.publish", *words]
    return subprocess.run(command, cwd=course, check=False, capture_output=True, text=True, encoding="utf-8")


def notebook(course: Path, kind: str = "") -> NotebookNode:
    return nbformat.read(course / "notebooks" / kind / f"{NAME}.ipynb", as_version=4)


def all_texts(course: Path) -> dict[str, str]:
    files = [path for path in course.rglob("*.*") if path.suffix in {".py", ".md", ".ipynb"}]
    return {str(path.relative_to(course)): path.read_text(encoding="utf-8") for path in files}


def test_an_address_is_written_kept_when_repeated_and_replaced(course: Path) -> None:
    outputs = [cell.get("outputs") for cell in notebook(course, "solved").cells]
    done = publish(course, "first-owner/first-course")
    assert done.returncode == 0, done.stderr
    assert f"{NAME}: outputs kept" in done.stdout
    for kind in ("", "solved"):
        title, first, *_ = notebook(course, kind).cells
        assert title.source.split("\n")[2].startswith("[Open in Colab](https://colab.research.google.com/github/first-owner/")
        assert first.source == first_cell("first-owner/first-course")
    assert [cell.get("outputs") for cell in notebook(course, "solved").cells] == outputs
    assert "https://mybinder.org/v2/gh/first-owner/first-course/main" in (course / "README.md").read_text("utf-8")

    once = all_texts(course)
    assert publish(course, "first-owner/first-course").returncode == 0
    assert all_texts(course) == once

    assert publish(course, "other/name.of_it").returncode == 0
    twice = all_texts(course)
    assert not [path for path, text in twice.items() if "first-owner" in text]
    for path, text in once.items():
        if not path.endswith(".ipynb"):  # whose ids are hashes of the text
            assert twice[path] == text.replace("first-owner/first-course", "other/name.of_it")


def test_a_published_course_passes_its_own_checks(course: Path) -> None:
    assert publish(course, "first-owner/first-course").returncode == 0
    command = [sys.executable, "-m", "tools.check"]
    done = subprocess.run(command, cwd=course, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_a_malformed_address_gets_one_sentence_and_writes_nothing(course: Path) -> None:
    before = all_texts(course)
    done = publish(course, "https://github.com/me/mine")
    assert done.returncode == 1
    assert "is not of the form OWNER/REPO" in done.stderr
    assert done.stderr.count("\n") == 1
    assert all_texts(course) == before


def test_without_an_address_it_says_how_to_give_one(course: Path) -> None:
    assert "course.py publish OWNER/REPO" in publish(course).stderr
    assert "course.py publish OWNER/REPO" in publish(course, "a/b", "c/d").stderr


@pytest.mark.parametrize("name", ["a/b", "A-1/b.c_d-e", "me/.github", "x" * 39 + "/r"])
def test_what_github_allows_is_taken(name: str) -> None:
    check_repository(name)


OWNERS = ["-me/mine", "me-/mine", "m--e/mine", "mé/mine", "git@github.com:me/mine", "x" * 40 + "/r"]
NAMES = ["me/", "me/mi ne", 'me/mi"ne', "me/..", "me/.", "me/mine\n", "me/mine.git", "me/mine/more"]


@pytest.mark.parametrize("name", ["", "me", "/mine", *OWNERS, *NAMES])
def test_what_github_does_not_allow_is_refused(name: str) -> None:
    with pytest.raises(PublishError, match="OWNER/REPO"):
        check_repository(name)


def test_outputs_are_carried_over_only_where_title_and_first_cell_alone_differ() -> None:
    old = notebook(ROOT, "solved")
    new = deepcopy(old)
    for cell in new.cells:
        cell.pop("outputs", None)
    new.cells[1].source = "another first cell"
    assert [c.get("outputs") for c in with_outputs(new, old).cells] == [c.get("outputs") for c in old.cells]
    new.cells[5].source += " "
    assert with_outputs(new, old) is None
    new.cells.pop()
    assert with_outputs(new, old) is None


def test_a_readme_without_markers_is_said() -> None:
    with pytest.raises(PublishError, match="lacks the lines"):
        with_readme_links(f"{END} {BEGIN}", "me/mine")


def test_the_address_is_one_line_of_one_file() -> None:
    text = (ROOT / "tools" / "address.py").read_text(encoding="utf-8")
    assert with_address(with_address(text, "me/mine"), "") == with_address(text, "")
    assert with_address(text, "me/mine").count("me/mine") == 1
