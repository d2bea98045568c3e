"""From `course.py lab` in a fresh copy of the course to a JupyterLab that answers, and what it leaves on the disk."""

import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import beside, ratio, table
from benchmarks.machine import ROOT, disk_mb, running, temporary_folder
from tests.browser.conftest import free_port

AIM_SECONDS, AIM_MB = 60, 600
PATIENCE = 1800  # seconds
NOTE = (
    "It installs from the network, or from pip's cache where that holds the packages. The second start is of the same "
    "copy, and installs nothing."
)


@dataclass(frozen=True)
class Setup:
    """One set of packages: seconds to the first and to the second JupyterLab, MB of `.venv`."""

    first: float
    second: float
    megabytes: float


def files_of_the_course() -> list[Path]:
    """Return the files git knows or would add, relative to the course's folder; raises where this is no clone."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    return [Path(name) for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def copy_to(target: Path) -> None:
    """Copy the course's files, and no environment, to `target`."""
    for path in files_of_the_course():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, target / path)


def seconds_to_lab(course: Path, log: Path, *options: str) -> float:
    """Start `course.py lab` and return the seconds until JupyterLab answers; it is stopped again.

    Raises RuntimeError, with the last lines of the log, where it ends or does not answer in time.
    """
    port = free_port()
    command = [sys.executable, "course.py", "lab", "--no-browser", "--port", str(port), *options]
    with running(command, log, course) as process:
        began = time.perf_counter()
        while process.poll() is None and time.perf_counter() - began < PATIENCE:
            if answers(f"http://127.0.0.1:{port}/api"):
                return time.perf_counter() - began
            time.sleep(0.1)
    said = log.read_text(encoding="utf-8", errors="replace")[-1500:]
    raise RuntimeError(f"{' '.join(command[1:])} did not get to an answer:\n{said}")


def answers(url: str) -> bool:
    """Return whether a server answers at this address."""
    try:
        with urllib.request.urlopen(url, timeout=2):
            return True
    except OSError:
        return False


@contextmanager
def fresh_course() -> Iterator[Path]:
    """Give a copy of the course without an environment, in a folder whose log file is beside it."""
    with temporary_folder() as folder:
        course = folder / "course"
        copy_to(course)
        yield course


def measure(*options: str) -> Setup:
    """Set the course up in a fresh copy, start it twice, and weigh its environment."""
    with fresh_course() as course:
        log = course.parent / "lab.log"
        first = seconds_to_lab(course, log, *options)
        second = seconds_to_lab(course, log, *options)
        return Setup(first, second, disk_mb(course / ".venv"))


def report(full: bool = False) -> str:
    """Measure the light set, and with `full` the full one beside it, and return the table."""
    light = measure()
    header = ["set", "first start, s", "second start, s", "environment, MB"]
    first, size = beside(light.first, AIM_SECONDS), beside(light.megabytes, AIM_MB)
    rows = [["light", first, f"{light.second:.1f}", size]]
    if full:
        both = measure("--full")
        rows.append(["full", f"{both.first:.0f}", f"{both.second:.1f}", f"{both.megabytes:.0f}"])
        sizes = ratio(both.megabytes, light.megabytes)
        rows.append(["full : light", ratio(both.first, light.first), ratio(both.second, light.second), sizes])
    return f"{table(header, rows)}\n{NOTE}"
