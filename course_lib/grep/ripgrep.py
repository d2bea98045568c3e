"""The real ripgrep as a process: which files hold a match, and in how many lines.

It is told exactly which files to leave out, so that it searches what google-re2 would search. Only names and numbers
come back: the lines themselves are read afterwards, and only those that are shown.
"""

import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from course_lib.grep.pattern import for_ripgrep

OPTIONS: Final = (
    "--no-config", "--no-ignore", "--hidden", "--text", "--encoding=none", "--no-messages", "--color=never",
    "--count", "--null", "--with-filename",
)  # fmt: skip
_PLAIN_IN_A_RULE: Final = frozenset("/._-")


class TimedOut(Exception):
    """The search was stopped before it had gone through everything."""


@cache
def program() -> str | None:
    """Return the path of ripgrep: in this environment, on PATH or in the user's folder; None where there is none."""
    user = sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))
    for folder in (sysconfig.get_path("scripts"), None, user):
        found = shutil.which("rg", path=folder)
        if found:
            return found
    return None


class Count:
    """One run of ripgrep that counts matching lines; it starts at once, and `stop` ends it for good.

    `pattern` is one of `pattern.common`; `leave_out` holds paths relative to the root, those of folders ending in a
    slash.
    """

    def __init__(self, root: Path, pattern: str, path: str, leave_out: frozenset[str], rg: str) -> None:
        self.leave_out = leave_out
        self._folder = tempfile.TemporaryDirectory(prefix="course-grep-", ignore_cleanup_errors=True)
        rules = Path(self._folder.name) / "left-out"
        rules.write_text(_rules(leave_out), encoding="utf-8")
        command = [rg, *OPTIONS, "--ignore-file", str(rules), "--regexp", for_ripgrep(pattern), "--", f"./{path}"]
        self._process = _started(command, root)

    def result(self, seconds: float) -> dict[str, int] | None:
        """Return {path: matching lines} of the files with a match; None where ripgrep could not tell.

        Raises TimedOut where that takes longer than `seconds`.
        """
        if self._process is None:
            return None
        try:
            answer, _ = self._process.communicate(timeout=max(seconds, 0.001))
        except subprocess.TimeoutExpired:
            raise TimedOut from None
        return dict(_parsed(answer)) if self._process.returncode in (0, 1) else None

    def stop(self) -> None:
        """Kill the process if it still runs, and remove its file."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        self._folder.cleanup()


def _started(command: Sequence[str], root: Path) -> "subprocess.Popen[bytes] | None":
    try:
        return subprocess.Popen(
            command, cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )  # fmt: skip
    except (OSError, ValueError):
        return None


def _parsed(answer: bytes) -> Iterable[tuple[str, int]]:
    for line in answer.split(b"\n"):  # a name that holds a line feed falls apart, and is no file that we asked for
        name, nul, number = line.partition(b"\0")
        if nul and number.strip().isdigit():
            yield os.fsdecode(name).replace(os.sep, "/").removeprefix("./"), int(number)


@lru_cache(maxsize=16)
def _rules(leave_out: frozenset[str]) -> str:
    return "".join(rule(one) + "\n" for one in sorted(leave_out) if _can_be_a_rule(one))


def rule(path: str) -> str:
    """Return the line of an ignore file that names this one path.

    >>> print(rule("a b/[x].so"))
    /a\\ b/\\[x\\].so
    """
    return "/" + "".join(c if c.isalnum() or c in _PLAIN_IN_A_RULE else "\\" + c for c in path)


def _can_be_a_rule(path: str) -> bool:
    return path.isprintable() and not any(0xD800 <= ord(letter) <= 0xDFFF for letter in path)
