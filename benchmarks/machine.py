"""What a number belongs to, and what this machine can tell: facts without names, memory, a copy of the course."""

import os
import platform
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.figures import pss_mb

ROOT = Path(__file__).resolve().parent.parent
NO_MEMORY = "cannot be measured here"


def facts() -> str:
    """Return one line on the machine: cores, Python, kind of operating system."""
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"


def memory_mb(pid: int) -> float | None:
    """Return a process's memory in MB: PSS on Linux, elsewhere USS, or None where neither can be read.

    PSS counts a page that several processes map by its share, so that the figures of several kernels add up.
    """
    rollup = Path(f"/proc/{pid}/smaps_rollup")
    if rollup.exists():
        return pss_mb(rollup.read_text(encoding="ascii"))
    import psutil

    try:
        return float(psutil.Process(pid).memory_full_info().uss) / 1e6
    except (AttributeError, psutil.Error):
        return None


def shown_mb(megabytes: float | None) -> str:
    """Return a size as text, or a few words where it could not be measured."""
    return NO_MEMORY if megabytes is None else f"{megabytes:.0f}"


def disk_mb(folder: Path) -> float:
    """Return what a folder takes on disk in MB of 2**20 bytes, as `du -m` counts; else the sum of its files' sizes."""
    stats = [path.lstat() for path in folder.rglob("*")]
    return sum(getattr(stat, "st_blocks", stat.st_size / 512) * 512 for stat in stats) / 2**20


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Give a folder that is removed at the end, whatever happens in between."""
    folder = Path(tempfile.mkdtemp(prefix="course-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running(
    command: list[str], log: Path, folder: Path = ROOT, env: dict[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Give a process in a group of its own, its output in `log`; the whole group is stopped at the end."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=env,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads a group, with its group: politely, and after 15 seconds by force."""
    if process.poll() is None:
        _send(process, signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            _send(process, getattr(signal, "SIGKILL", signal.SIGTERM))
            process.wait()


def _send(process: subprocess.Popen[bytes], number: int) -> None:
    if os.name == "nt":
        process.terminate()
    else:
        os.killpg(process.pid, number)
