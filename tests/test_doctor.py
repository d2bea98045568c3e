import sqlite3
import subprocess
import sys
from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from course_lib import doctor

ROOT = Path(__file__).parents[1]


def without(monkeypatch, *modules):
    """Make the doctor find none of `modules`."""
    real = doctor.find_spec

    def find(name: str) -> ModuleSpec | None:
        return None if name in modules else real(name)

    def version(name: str) -> str:
        if name.replace("-", "_") in modules:
            raise PackageNotFoundError
        return "1.0"

    monkeypatch.setattr(doctor, "find_spec", find)
    monkeypatch.setattr(doctor, "version", version)


def test_everything_is_here_in_the_environment_that_the_tests_make(capsys):
    assert doctor.main() == 0
    said = capsys.readouterr().out
    assert "MISSING" not in said
    assert said.count("\n") == len(doctor.CHECKS) + 1


@pytest.mark.parametrize(
    ("check", "module", "state"),
    [
        (doctor.weights, "numpy", "missing"),
        (doctor.vocabulary, "tiktoken", "missing"),
        (doctor.widgets, "ipywidgets", "optional"),
        (doctor.jupyter, "jupyterlab", "optional"),
        (doctor.memory, "psutil", "optional"),
        (doctor.record, "filelock", "missing"),
    ],
)
def test_what_is_missing_is_said_with_its_remedy(monkeypatch, check, module, state):
    without(monkeypatch, module)
    finding = check()
    assert finding.state == state
    assert finding.remedy


def test_an_old_python_is_said(monkeypatch):
    monkeypatch.setattr(doctor.sys, "version_info", (3, 10, 1))
    assert doctor.python().state == "missing"


def test_an_old_sqlite_is_said(monkeypatch):
    monkeypatch.setattr(doctor.sqlite3, "sqlite_version_info", (3, 31, 0))
    assert "older than 3.37" in doctor.sqlite().found


def test_a_sqlite_without_fts5_is_said(monkeypatch):
    class NoFts5(sqlite3.Connection):
        def execute(self, *args):
            raise sqlite3.OperationalError("no such module: fts5")

    monkeypatch.setattr(doctor.sqlite3, "connect", lambda name: NoFts5(name))
    assert "without FTS5" in doctor.sqlite().found


@pytest.mark.parametrize(("hub", "state"), [(True, "optional"), (False, "missing")])
def test_missing_weights_can_come_from_the_hub_where_its_client_is_installed(monkeypatch, hub, state):
    from course_lib import minilm

    monkeypatch.setattr(minilm, "packaged_weights", lambda: None)
    real = doctor.find_spec
    monkeypatch.setattr(doctor, "find_spec", lambda name: object() if name == "huggingface_hub" and hub else real(name))
    if not hub:
        without(monkeypatch, "huggingface_hub")
    assert doctor.weights().state == state


def test_a_key_is_noticed_and_never_shown(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    assert "sk-secret" not in str(doctor.key())
    assert doctor.key().state == "ok"
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert doctor.key().state == "optional"


def test_little_memory_is_said(monkeypatch):
    import psutil

    monkeypatch.setattr(psutil, "virtual_memory", lambda: type("M", (), {"available": 5e8})())
    assert doctor.memory().state == "missing"


def test_a_record_that_cannot_be_written_is_said(monkeypatch):
    def refuse(dir):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(doctor, "TemporaryFile", refuse)
    assert "COURSE_RECORD" in doctor.record().remedy


def test_it_runs_on_a_bare_python_and_says_what_is_missing():
    done = subprocess.run(
        [sys.executable, "-S", "-m", "course_lib.doctor"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "course.py lab" in done.stdout
