"""Runs before anything is collected: no test and no nbval kernel ever touches a learner's record."""

import os
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

_folder = TemporaryDirectory(prefix="course-tests-", ignore_cleanup_errors=True)
os.environ["COURSE_RECORD"] = str(Path(_folder.name) / "record.json")
os.environ["IPYTHONDIR"] = str(Path(_folder.name) / "ipython")
os.environ["PYTHONHASHSEED"] = "0"  # for kernels and other subprocesses: this one has its seed already
os.environ["PYTHONUTF8"] = "1"
os.environ.pop("ANTHROPIC_API_KEY", None)  # no test and no notebook asks a live model


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Every test gets a record file of its own.

    So does every notebook under nbval, as in the build: its kernel starts in the setup of its first cell and
    keeps the environment of that moment.
    """
    number = len(list(Path(_folder.name).glob("test-*")))
    folder = Path(_folder.name) / f"test-{number}"
    folder.mkdir()
    os.environ["COURSE_RECORD"] = str(folder / "record.json")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says why tests were skipped: one line a reason, however many tests it is."""
    reasons = Counter(str(report.longrepr[-1]) for report in terminalreporter.stats.get("skipped", []))
    for reason, count in reasons.items():
        terminalreporter.write_line(f"{count} skipped. {reason.removeprefix('Skipped: ')}")


def pytest_unconfigure() -> None:
    """Removes the temporary records."""
    _folder.cleanup()
