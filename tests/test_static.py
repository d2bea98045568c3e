"""What reads the code without running it finds nothing: ruff, mypy, import-linter."""

import shutil
import subprocess
import sys
import tomllib
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


def test_every_module_of_the_package_is_named_in_a_contract() -> None:
    """import-linter holds only what it is told of: a new module or package would be free to import anything."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    named = " ".join(str(contract) for contract in contracts)
    parts = {path.stem for path in (ROOT / "course_lib").glob("*.py")} | {
        path.parent.name for path in (ROOT / "course_lib").glob("*/__init__.py")
    }
    free = {"__init__", "doctor"}  # the doctor looks at everything
    assert [part for part in sorted(parts - free) if f"course_lib.{part}" not in named] == []
