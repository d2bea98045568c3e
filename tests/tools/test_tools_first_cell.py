"""The first cell finds course_lib from wherever a notebook lies; where there is none, it fetches the course once.

It runs as a learner's kernel runs it: in a process of its own, in the notebook's folder.
"""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from tools.first_cell import FIRST_CELL, TEMPLATE, archive_of, first_cell, links

ROOT = Path(__file__).parents[2]
SAY = "\nimport course_lib\nprint(course_lib.__file__, sys.path.count(str(course_root)), sep='|')"
PLACES = (ROOT / "course_lib" / "places.py").read_text(encoding="utf-8").replace("NEEDED = {", "NEEDED = {} and {")


def run(folder: Path, archive: str | None = None, cell: str = first_cell("")) -> subprocess.CompletedProcess[str]:
    """Run the first cell in `folder`, twice where it works, and say where course_lib was found."""
    folder.mkdir(parents=True, exist_ok=True)
    env = {name: value for name, value in os.environ.items() if name not in {"COURSE_ARCHIVE", "PYTHONPATH"}}
    if archive is not None:
        env["COURSE_ARCHIVE"] = archive
    command = [sys.executable, "-c", f"{cell}\n{cell}\n{SAY}"]
    return subprocess.run(command, cwd=folder, env=env, check=False, capture_output=True, text=True, encoding="utf-8")


def found(done: subprocess.CompletedProcess[str]) -> tuple[Path, int]:
    """(folder in which course_lib was found, how often that is on sys.path)."""
    assert done.returncode == 0, done.stderr
    file, count = done.stdout.strip().split("|")
    return Path(file).parents[1], int(count)


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    """What a run that stopped said, which is one line and no traceback."""
    assert done.returncode == 1, done.stdout
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr.strip()


def zipped(path: Path, **changes: str | None) -> bytes:
    """A small course, zipped as GitHub exports one; `changes` gives a file another text, or leaves it out."""
    files: dict[str, str | None] = {
        "a-course-main/README.md": "A course.",
        "a-course-main/course_lib/__init__.py": "",
        "a-course-main/course_lib/places.py": PLACES,
        "a-course-main/data/small.txt": "x" * 1000,
        "a-course-main/requirements.txt": "",
        "a-course-main/requirements-weights.txt": "",
    } | changes
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            if text is not None:
                archive.writestr(name, text)
    return path.read_bytes()


# --- a course in a folder above ---


@pytest.mark.parametrize("folder", [".", "notebooks", "notebooks/solved"])
def test_the_folder_of_course_lib_comes_first_and_once_from_every_folder_of_the_course(
    folder: str, tmp_path: Path
) -> None:
    (tmp_path / "course_lib").mkdir()
    (tmp_path / "course_lib" / "__init__.py").touch()
    (tmp_path / "course_lib" / "places.py").write_text(PLACES, encoding="utf-8")
    assert found(run(tmp_path / folder)) == (tmp_path, 1)


def test_a_course_of_ones_own_is_used_and_nothing_is_fetched_or_installed(
    tmp_path: Path, httpserver: HTTPServer
) -> None:
    assert found(run(ROOT / "notebooks", httpserver.url_for("/main.zip"))) == (ROOT, 1)
    assert httpserver.log == []
    assert not (ROOT / "vectorless-rag").exists()


def test_without_course_lib_and_address_it_stops_with_what_it_looked_for_and_what_to_do(tmp_path: Path) -> None:
    said = sentence(run(tmp_path))
    assert said.startswith(f"No working course_lib in {tmp_path} or above. ")
    assert said.endswith("Please open this notebook inside the course's folder.")


# --- a course that is fetched ---


def test_a_missing_course_is_fetched_once_and_unpacked_whole(tmp_path: Path, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/main.zip").respond_with_data(zipped(tmp_path / "a.zip"))
    for _ in range(2):  # each run of which executes the cell twice
        assert found(run(tmp_path / "alone", httpserver.url_for("/main.zip"))) == (tmp_path / "alone/vectorless-rag", 1)
    assert len(httpserver.log) == 1
    assert (tmp_path / "alone/vectorless-rag/data/small.txt").read_text() == "x" * 1000
    assert [path.name for path in (tmp_path / "alone").iterdir()] == ["vectorless-rag"]


def test_the_address_written_by_publish_is_the_one_that_is_fetched(tmp_path: Path, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/main.zip").respond_with_data(zipped(tmp_path / "a.zip"))
    cell = first_cell("me/mine").replace("https://github.com/me/mine/archive/refs/heads", httpserver.url_for(""))
    assert found(run(tmp_path / "alone", cell=cell))[0] == tmp_path / "alone/vectorless-rag"


def test_an_archive_on_this_machine_can_be_named_by_its_address(tmp_path: Path) -> None:
    zipped(tmp_path / "a.zip")
    assert found(run(tmp_path / "alone", (tmp_path / "a.zip").as_uri()))[0] == tmp_path / "alone/vectorless-rag"
    assert (tmp_path / "a.zip").is_file()


def unbelieved(folder: Path) -> bool:
    """True when a failed run left nothing behind that the next one could take for the course."""
    return list(folder.iterdir()) == []


def test_offline_it_says_so(tmp_path: Path) -> None:
    said = sentence(run(tmp_path / "alone", "http://127.0.0.1:9/main.zip"))
    assert "http://127.0.0.1:9/main.zip did not bring it (<urlopen error [Errno" in said
    assert said.endswith("Try again online, or open this notebook inside the course's folder.")
    assert unbelieved(tmp_path / "alone")


def test_an_archive_that_is_not_there_is_said(tmp_path: Path, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/main.zip").respond_with_data("", status=404)
    assert "did not bring it (HTTP Error 404" in sentence(run(tmp_path / "alone", httpserver.url_for("/main.zip")))
    assert unbelieved(tmp_path / "alone")


@pytest.mark.parametrize("kept", [0, 10, 0.5, 0.99])
def test_an_archive_that_was_cut_off_is_said(kept: float, tmp_path: Path) -> None:
    whole = zipped(tmp_path / "a.zip")
    (tmp_path / "a.zip").write_bytes(whole[: int(kept * len(whole)) if kept < 1 else int(kept)])
    said = sentence(run(tmp_path / "alone", (tmp_path / "a.zip").as_uri()))
    assert "did not bring it (File is not a zip file)" in said
    assert unbelieved(tmp_path / "alone")


def test_a_damaged_file_in_the_archive_is_said_and_nothing_is_unpacked(tmp_path: Path) -> None:
    whole = zipped(tmp_path / "a.zip")
    (tmp_path / "a.zip").write_bytes(whole.replace(b"x" * 1000, b"x" * 999 + b"y"))
    said = sentence(run(tmp_path / "alone", (tmp_path / "a.zip").as_uri()))
    assert said.startswith("The course's archive is damaged (Bad CRC-32")
    assert unbelieved(tmp_path / "alone")


def test_an_archive_without_the_package_is_said(tmp_path: Path) -> None:
    missing = {"a-course-main/course_lib/__init__.py": None, "a-course-main/course_lib/places.py": None}
    zipped(tmp_path / "a.zip", **missing)
    said = sentence(run(tmp_path / "alone", (tmp_path / "a.zip").as_uri()))
    assert "did not bring it (No module named 'course_lib')" in said
    assert unbelieved(tmp_path / "alone")


LEAVING = ["../evil.txt", "/evil.txt", "a-course-main/../../evil.txt", "..\\evil.txt", "other/x"]


@pytest.mark.parametrize("name", LEAVING)
def test_a_member_that_leaves_the_folder_is_refused(name: str, tmp_path: Path) -> None:
    zipped(tmp_path / "a.zip", **{name: "evil"})
    said = sentence(run(tmp_path / "alone", (tmp_path / "a.zip").as_uri()))
    assert "outside of its folder 'a-course-main': nothing was unpacked" in said or "did not bring it" in said
    assert unbelieved(tmp_path / "alone")
    assert not list(tmp_path.rglob("evil*"))


def test_a_folder_in_the_way_is_said_and_kept(tmp_path: Path) -> None:
    zipped(tmp_path / "a.zip")
    mine = tmp_path / "alone" / "vectorless-rag" / "mine.txt"
    mine.parent.mkdir(parents=True)
    mine.touch()
    assert "could not be unpacked into" in sentence(run(tmp_path / "alone", (tmp_path / "a.zip").as_uri()))
    assert mine.exists()


# --- its text ---


@pytest.mark.parametrize("repository", ["", "some-owner/some-repository"])
def test_it_keeps_to_the_length_and_width_of_a_cell(repository: str) -> None:
    lines = first_cell(repository).split("\n")
    assert len(lines) <= 15
    assert max(map(len, lines)) <= 120
    assert lines[0].startswith("#")


def test_unpublished_it_holds_no_address_and_published_exactly_one() -> None:
    assert "://" not in first_cell("")
    assert first_cell("me/mine").count("://") == 1
    assert archive_of("me/mine") in first_cell("me/mine")
    assert FIRST_CELL.count("\n") == TEMPLATE.count("\n")


def test_unpublished_there_are_no_links_and_published_each_has_its_words() -> None:
    assert links("", "notebooks/a.ipynb") == ""
    assert links("me/mine", "notebooks/a.ipynb") == (
        "[Open in Colab](https://colab.research.google.com/github/me/mine/blob/main/notebooks/a.ipynb) · "
        "[Open on Binder](https://mybinder.org/v2/gh/me/mine/main?urlpath=lab/tree/notebooks/a.ipynb)"
    )
