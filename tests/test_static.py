"""What reads the code without running it finds nothing: ruff, mypy, import-linter."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def console_script(name: str) -> str:
    """The path of a console script beside the running interpreter (NAME.exe on Windows)."""
    found = shutil.which(name, path=str(Path(sys.executable).parent))
    assert found, f"{name} is not installed beside {sys.executable}"
    return found


def assert_finds_nothing(*command: str) -> None:
    """Runs a command in the project's root and fails with what it printed unless it exits 0."""
    done = subprocess.run(
        command, cwd=ROOT, check=False, capture_output=True, text=True, encoding="utf-8", errors="replace"
    )
    if done.returncode != 0:
        pytest.fail(f"{' '.join(command)} exits {done.returncode}:\n{done.stdout}{done.stderr}", pytrace=False)


def test_ruff_finds_nothing() -> None:
    assert_finds_nothing(sys.executable, "-m", "ruff", "check", ".")


def test_mypy_finds_nothing() -> None:
    assert_finds_nothing(sys.executable, "-m", "mypy")


def test_the_layers_of_the_architecture_hold() -> None:
    assert_finds_nothing(console_script("lint-imports"))
