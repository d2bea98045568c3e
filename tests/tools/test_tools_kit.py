"""The offline kit: made with wheels of a few hundred bytes, and started without a network."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import course
from tests.test_course import bare_project, refused, started, wheel
from tests.test_course import course as run_course
from tools import kit
from tools.kit import KitError, files_of, make_kit

NAME = "Stick für Ä 1"
NO_INDEX = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0", "PIP_DEFAULT_TIMEOUT": "2"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small course whose light environment is two wheels, which lie in a folder that stands for the network."""
    made = bare_project(tmp_path / "Mein Kurs")
    (made / "wheels").rename(tmp_path / "network")
    (made / "requirements.txt").write_text("# pins\njupyterlab==1.0\n", encoding="utf-8")
    (made / "requirements-weights.txt").write_text("weights==1.0\n", encoding="utf-8")
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setattr(kit, "ROOT", made)
    return made


@pytest.fixture
def network(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """From here on pip finds what the folder holds, and nothing else."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(project.parent / "network"))
    return project.parent / "network"


def fetch(wheels: Path) -> None:
    for name in ("jupyterlab", "weights"):
        wheel(wheels, name)


def no_fetch(wheels: Path) -> None:
    """What fetches nothing: for tests in which no package matters."""


# --- making one ---


def test_a_kit_holds_the_course_its_wheels_and_what_people_read(project: Path, network: Path, tmp_path: Path) -> None:
    out = tmp_path / NAME
    size = make_kit(out)
    assert {path.name for path in out.iterdir()} == {"README.txt", "start.sh", "start.bat", "course"}
    wheels = out / "course" / "wheels"
    assert {path.name.split("-")[0] for path in wheels.glob("*.whl")} == {"jupyterlab", "weights"}
    assert list(files_of(out / "course")) == list(files_of(project))
    assert (out / "course" / "course.py").read_bytes() == (project / "course.py").read_bytes()
    assert 0 < size < 1


def test_a_kit_has_all_that_git_knows_and_nothing_else() -> None:
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(listing, cwd=course.ROOT, capture_output=True, encoding="utf-8")
    if listed.returncode:
        pytest.skip("this is no clone")
    known = {Path(name) for name in listed.stdout.split("\0") if name and (course.ROOT / name).is_file()}
    shown = {path for path in known if not any(part.startswith(".") for part in path.parts)}
    assert set(files_of(course.ROOT)) == shown


@pytest.mark.parametrize("name", [".git/config", "a/__pycache__/x.pyc", "notebooks/my_record.json", "wheels/x.whl"])
def test_what_is_hidden_or_made_by_running_the_course_stays_behind(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).touch()
    (tmp_path / "kept.py").touch()
    assert list(files_of(tmp_path)) == [Path("kept.py")]


def test_the_readme_names_the_python_the_machine_and_the_size(project: Path, tmp_path: Path) -> None:
    make_kit(tmp_path / NAME, fetch)
    said = (tmp_path / NAME / "README.txt").read_text(encoding="utf-8")
    assert f"for Python {course.HERE} on {course.machine()}" in said
    assert "2 wheels" in said
    assert str(tmp_path) not in said
    assert "{" not in said


def test_the_batch_file_is_ascii_with_line_ends_of_windows_and_asks_for_the_right_python(
    project: Path, tmp_path: Path
) -> None:
    make_kit(tmp_path / NAME, fetch)
    said = (tmp_path / NAME / "start.bat").read_bytes().decode("ascii")
    assert said.count("\n") == said.count("\r\n") > 10
    assert f"py -{course.HERE} course.py lab %*" in said
    assert str(tuple(map(int, course.HERE.split(".")))) in said


def test_without_a_network_a_kit_cannot_be_made_and_that_is_a_sentence(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in NO_INDEX.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(KitError, match="needs a network once"):
        make_kit(tmp_path / NAME)


def test_another_failure_of_pip_shows_its_last_lines(project: Path, network: Path, tmp_path: Path) -> None:
    (project / "requirements.txt").write_text("this is no requirement\n", encoding="utf-8")
    with pytest.raises(KitError, match="Invalid requirement"):
        make_kit(tmp_path / NAME)


# --- where it may be written, and a second time ---


def test_a_folder_with_something_else_in_it_stays_untouched(project: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(KitError, match="not a kit"):
        make_kit(tmp_path / "mine", fetch)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]


def test_a_file_and_the_course_itself_are_no_place_for_a_kit(project: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    before = list(project.rglob("*"))
    for out, said in [
        (tmp_path / "file", "is a file"),
        (project, "inside the other"),
        (project / "kit", "inside the other"),
        (project.parent, "inside the other"),
    ]:
        with pytest.raises(KitError, match=said):
            make_kit(out, fetch)
    assert list(project.rglob("*")) == before


def test_an_empty_folder_is_taken(project: Path, tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    make_kit(tmp_path / NAME, fetch)
    assert kit.is_kit(tmp_path / NAME)


def test_a_second_run_brings_a_kit_up_to_date_and_leaves_what_was_made_in_it(project: Path, tmp_path: Path) -> None:
    out = tmp_path / NAME
    (project / "old.md").write_text("old", encoding="utf-8")
    make_kit(out, fetch)
    mine = [out / "course" / name for name in (".venv", "my_record.json")]
    for path in mine:
        path.write_text("mine", encoding="utf-8")
    (project / "old.md").unlink()
    (project / "course.py").write_text("# new\n", encoding="utf-8")
    (project / "requirements-weights.txt").write_text("weights==2.0\n", encoding="utf-8")
    make_kit(out, no_fetch)
    assert (out / "course" / "course.py").read_text(encoding="utf-8") == "# new\n"
    assert not (out / "course" / "old.md").exists()
    assert [path.read_text(encoding="utf-8") for path in mine] == ["mine", "mine"]
    assert [path.name.split("-")[0] for path in (out / "course" / "wheels").glob("*.whl")] == ["jupyterlab"]


def test_a_kit_for_another_machine_is_not_overwritten(project: Path, tmp_path: Path) -> None:
    make_kit(tmp_path / NAME, fetch)
    about = tmp_path / NAME / "course" / "wheels" / "kit.json"
    about.write_text(json.dumps({"python": course.HERE, "machine": "Windows ARM64, 64 bit"}), encoding="utf-8")
    with pytest.raises(KitError, match="Windows ARM64") as refusal:
        make_kit(tmp_path / NAME, fetch)
    assert course.machine() in str(refusal.value)


def test_the_command_line_says_what_it_made_or_why_not(
    project: Path, network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["kit", str(tmp_path / NAME)])
    assert kit.main() == 0
    assert f"{NAME}: the course and 2 wheels" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["kit", str(tmp_path / "network")])
    assert kit.main() == 1
    assert "not a kit" in capsys.readouterr().err


# --- starting it ---


@pytest.fixture
def made(project: Path, tmp_path: Path) -> Path:
    make_kit(tmp_path / NAME, fetch)
    shutil.rmtree(tmp_path / "network")
    return tmp_path / NAME


def test_a_kit_starts_without_a_network_in_a_folder_with_spaces_and_umlauts(made: Path) -> None:
    result = run_course(made / "course", "lab", "--no-browser", **NO_INDEX)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "from the kit, without a network" in result.stdout
    assert started(result)["name"] == "jupyterlab"
    again = run_course(made / "course", "lab", "--no-browser", **NO_INDEX)
    assert "Installing" not in again.stdout
    assert started(again)


@pytest.mark.skipif(os.name == "nt", reason="start.bat is for Windows")
def test_the_start_script_opens_the_course_and_passes_its_arguments_on(made: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["sh", str(made / "start.sh"), "--no-browser"]
    done = subprocess.run(command, env=os.environ | NO_INDEX | {"PATH": path}, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    fake = started(done)
    assert fake["name"] == "jupyterlab"
    assert "--no-browser" in fake["argv"]


@pytest.mark.skipif(os.name == "nt", reason="start.bat is for Windows")
def test_the_start_script_without_the_right_python_names_it(made: Path, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "dirname").symlink_to(str(shutil.which("dirname")))
    (tools / "python3").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")  # another version
    (tools / "python3").chmod(0o755)
    command = [str(shutil.which("sh")), str(made / "start.sh")]
    done = subprocess.run(command, env={"PATH": str(tools)}, capture_output=True, encoding="utf-8")
    assert done.returncode == 1
    assert f"made for Python {course.HERE} on {course.machine()}" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("other", [{"python": "3.99"}, {"machine": "Windows ARM64, 64 bit"}])
def test_the_wrong_python_or_machine_is_a_sentence_that_names_what_the_kit_was_made_for(
    made: Path, other: dict[str, str]
) -> None:
    about = made / "course" / "wheels" / "kit.json"
    stated = json.loads(about.read_text(encoding="utf-8")) | other
    about.write_text(json.dumps(stated), encoding="utf-8")
    said = refused(run_course(made / "course", "lab", "--no-browser", **NO_INDEX))
    assert f"made for Python {stated['python']} on {stated['machine']}" in said
    assert f"Python {course.HERE} on {course.machine()}" in said
    assert said.count("\n") == 1
    assert not (made / "course" / ".venv").exists()


def test_a_missing_wheel_is_looked_for_nowhere_else_and_no_network_is_blamed(made: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for path in (made / "course" / "wheels").glob("weights*"):
        path.rename(elsewhere / path.name)
    said = refused(run_course(made / "course", "lab", "--no-browser", PIP_FIND_LINKS=str(elsewhere)))
    assert "A package is missing in the folder wheels" in said
    assert f"made for Python {course.HERE}" in said
    assert "no network" not in said


def test_without_its_wheels_a_kit_is_the_course_again(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "ROOT", made / "course")
    assert course.read_kit() == {"python": course.HERE, "machine": course.machine()}
    shutil.rmtree(made / "course" / "wheels")
    assert course.read_kit() == {}
    course.check_kit()


# --- trying one where there is no network ---

CONNECT = """
import errno, socket, sys
here = socket.create_server(("127.0.0.1", 0))
socket.create_connection(here.getsockname(), 5)
try:
    socket.create_connection(("192.0.2.1", 9), 5)
except OSError as error:
    print(error.errno == errno.ENETUNREACH)
"""


@pytest.fixture
def prefix() -> list[str]:
    found = kit.isolated()
    if not found:
        pytest.skip("this machine gives no network namespace")
    return found


def test_where_a_kit_is_tried_there_is_loopback_and_nothing_else(prefix: list[str]) -> None:
    command = [*prefix, sys.executable, "-c", CONNECT]
    assert subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout.strip() == "True"


def test_a_kit_that_sets_up_and_whose_notebook_does_not_run_is_refused(made: Path, prefix: list[str]) -> None:
    with pytest.raises(KitError, match="Without a network 00_start_here fails"):
        kit.try_kit(made)  # its wheels hold no nbconvert
    assert (made / "course" / ".venv" / "course-complete.json").is_file()


def test_a_machine_without_a_namespace_says_that_it_tried_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(KitError, match="was not tried"):
        kit.try_kit(tmp_path)
