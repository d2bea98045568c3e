"""What the course's grep costs beside a bare ripgrep over the standard library, and whether every pattern is bounded.

python -m benchmarks.grep_speed [--data FOLDER]    FOLDER holds redos.json: [{"pattern": …, "attack": …}, …]
"""

import argparse
import json
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.figures import median, table
from benchmarks.machine import facts
from course_lib.corpora.standard_library import root
from course_lib.grep import Folder, Limits, Memory, PatternError, grep, measure_backtracking, ripgrep

LEFT_OUT = ("site-packages", "dist-packages", "__pycache__")
PATTERNS = ("retry", "def .*timeout", "max.?line|65536", "self", "no such word at all")
RUNS = 9
AIM = 1.5
SECONDS = 1.5  # for one pattern, in either engine


def bare(rg: str, folder: Path, pattern: str) -> Callable[[], Any]:
    """Return a call of ripgrep as anyone would type it: lines and numbers, the same folders left out."""
    apart = [option for name in LEFT_OUT for option in ("--glob", f"!{name}")]
    command = [rg, "--no-config", "--line-number", "--ignore-case", *apart, pattern, "."]
    return lambda: subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)


def seconds(job: Callable[[], Any]) -> float:
    """Return what one call takes by the clock: a process is waited for."""
    began = perf_counter()
    job()
    return perf_counter() - began


def in_turns(jobs: Sequence[Callable[[], Any]], runs: int = RUNS) -> list[list[float]]:
    """Return the seconds of each job, measured in turns, so that what else the machine does falls on all alike."""
    rounds = [[seconds(job) for job in jobs] for _ in range(runs)]
    return [list(column) for column in zip(*rounds, strict=True)]


def speed(folder: Path, rg: str) -> tuple[str, list[float]]:
    """Measure the patterns over a folder; returns the table, and the ratio to a bare ripgrep for each pattern."""
    repository, rows, ratios = Folder(folder, LEFT_OUT), [], list[float]()
    first = seconds(lambda: grep(repository, "retry"))
    for pattern in PATTERNS:
        ours = partial(grep, repository, pattern, limits=Limits(seconds=60))
        re2 = partial(grep, repository, pattern, limits=Limits(seconds=60), engine="google-re2")
        found = ours()
        plain, mine, slow = in_turns([bare(rg, folder, pattern), ours, re2])
        ratios.append(median([b / a for a, b in zip(plain, mine, strict=True)]))
        cells = [f"{1000 * median(times):.0f}" for times in (plain, mine, slow)]
        rows.append([pattern, f"{found.total:,}", *cells, f"{ratios[-1]:.2f}"])
    header = ["pattern", "lines", "bare ripgrep, ms", "grep, ms", "grep by re2, ms", "grep / bare"]
    whole = table(header, rows)
    files = grep(repository, "retry").searched
    return f"{whole}\n{files:,} files; the first search, which reads every file once: {1000 * first:.0f} ms", ratios


def line_of(attack: str | dict[str, Any]) -> str:
    """Return the line that a pattern is attacked with: as it is written, or its beginning repeated to a length."""
    if isinstance(attack, str):
        return attack
    prefix, length = str(attack["prefix"]), int(attack["len"])
    return (prefix * (length // len(prefix) + 1))[:length]


def answer(pattern: str, text: str) -> tuple[str, bool]:
    """Return what grep says to one attack in memory and in a folder, and whether each came in time."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "attack.txt").write_text(text, encoding="utf-8", newline="")
        said, bounded = list[str](), True
        for repository in (Memory({"attack.txt": text}), Folder(folder)):
            began = perf_counter()
            try:
                said.append(grep(repository, pattern, limits=Limits(seconds=SECONDS)).outcome)
            except PatternError:
                said.append("refused")
            bounded = bounded and perf_counter() - began < SECONDS + 1
    return said[0] if said[0] == said[1] else " / ".join(said), bounded


def attacks(file: Path) -> str:
    """Try every pattern of a file on its line, in grep and in Python's re; returns the table and the count."""
    rows, bounded = [], 0
    for entry in json.loads(file.read_text(encoding="utf-8")):
        text = line_of(entry["attack"])
        said, in_time = answer(entry["pattern"], text)
        bounded += in_time
        by_re = measure_backtracking(entry["pattern"], [text], SECONDS)[0].seconds
        shown = by_re if isinstance(by_re, str) else f"{1000 * by_re:.0f} ms"
        rows.append([entry["pattern"][:40], f"{len(text):,}", said, shown])
    header = ["pattern", "characters", "grep", f"Python's re, at most {SECONDS:g} s"]
    return f"{table(header, rows)}\n{bounded} of {len(rows)} patterns bounded"


def report(data: Path | None = None) -> str:
    """Measure the speed and, where `data` holds redos.json, the attacks."""
    rg = ripgrep.program()
    if rg is None:
        return "not run, because ripgrep is not installed here: pip install ripgrep==14.1.0"
    lines, ratios = speed(root(), rg)
    verdict = "" if median(ratios) <= AIM else ", missed"
    parts = [lines, f"grep / bare ripgrep, median of the patterns: {median(ratios):.2f} (aim ≤ {AIM}{verdict})"]
    if data is not None:
        parts.append("\n" + attacks(data / "redos.json"))
    return "\n".join(parts)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grep_speed")
    parser.add_argument("--data", type=Path, metavar="FOLDER")
    print(f"{facts()}\n{report(parser.parse_args().data)}")


if __name__ == "__main__":
    main()
