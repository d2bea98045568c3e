"""What Python's own `re` does with a pattern that can match in many ways: measured in a process that can be killed.

No time limit of one's own reaches into it: it holds the interpreter's lock while it searches, no other thread runs, and
only a signal from outside ends it. This is the one place of the course where `re` searches for a stranger's pattern.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

_CHILD: Final = """
import json, re, sys, time
job = json.load(sys.stdin)
finder = re.compile(job["pattern"])
print("ready", flush=True)
began = time.perf_counter()
finder.search(job["text"])
print(time.perf_counter() - began)
"""


@dataclass(frozen=True)
class Timing:
    """How long one search took: the text's length in characters, and seconds, or "stopped" when its time was up."""

    length: int
    seconds: float | Literal["stopped"]


def measure_backtracking(pattern: str, texts: Sequence[str], seconds: float = 1.0) -> list[Timing]:
    """Return how long `re` takes to search each text for `pattern`; after `seconds` the process is killed.

    Raises ValueError for a pattern that `re` cannot compile or a limit that is not above 0.

    >>> measure_backtracking("(a+)+$", ["a" * 40 + "!"], seconds=0.2)
    [Timing(length=41, seconds='stopped')]
    """
    if not 0 < seconds <= 600:
        raise ValueError(f"seconds is {seconds!r}, but it is a number above 0 and at most 600")
    return [Timing(len(text), _seconds(pattern, text, seconds)) for text in texts]


def _seconds(pattern: str, text: str, limit: float) -> float | Literal["stopped"]:
    command = [sys.executable, "-I", "-S", "-c", _CHILD]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        bufsize=0,  # so that reading the first line takes nothing of the second
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    ) as child:  # fmt: skip
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            with child.stdin as job:
                job.write(json.dumps({"pattern": pattern, "text": text}).encode("ascii"))
            child.stdin = None  # else communicate() would try to write to it
            if child.stdout.readline().strip() != b"ready":
                raise ValueError(f"Python's re cannot compile {pattern!r}.")
            answer, _ = child.communicate(timeout=limit)
            taken = float(answer)
        except subprocess.TimeoutExpired:
            return "stopped"
        finally:
            child.kill()
    return taken if taken <= limit else "stopped"
