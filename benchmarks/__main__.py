"""The command line: python -m benchmarks [NAME …] [--full]"""

import argparse
import importlib
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.machine import facts

NAMES = {
    "notebooks": "Run All on a fresh kernel: seconds, and the kernel's memory",
    "explorers": "from key press to new picture in a real JupyterLab, and with a faster transport",
    "setup": "from `course.py lab` in a fresh copy to a JupyterLab that answers (needs a network); --full: both sets",
    "encoders": "the numpy encoder beside sentence-transformers (where that is installed)",
    "bm25_speed": "building and searching 50,000 documents, beside the bare SQLite statements",
    "bm25_quality": "nDCG@10 on SciFact; needs --data FOLDER with corpus.jsonl, queries.jsonl and qrels.tsv",
    "sql_guard": "what the SQL guard refuses, stops and costs; needs --data FOLDER with spider_en/ and attacks/",
    "sql_accuracy": "right and altered queries told apart; needs --data FOLDER with questions.json and database/",
    "grep_speed": "grep over the standard library beside a bare ripgrep; --data FOLDER with redos.json: all bounded",
    "navigation": "node recall, tokens and money of navigation beside chunks, on two documents",
    "navigation_outline": "sections, references, bookmarks found; needs --data FOLDER with contracts/ and pdf/",
    "evaluation_speed": "200 questions to four offline systems; with --data FOLDER 500 pages of PDF",
    "scale": "memory per learner, server and kernel, after Run All of each notebook; learners in 24 GB",
}
NEED_DATA = {"bm25_quality", "sql_guard", "sql_accuracy", "navigation_outline"}


def listing() -> str:
    """Return the names with a line for each."""
    return "\n".join(f"  {name:<12} {line}" for name, line in NAMES.items())


def run(name: str, options: argparse.Namespace) -> None:
    """Run one script and print its table under the command and the machine it belongs to."""
    command, given = ["python -m benchmarks", name], list[Any]()
    report = importlib.import_module(f"benchmarks.{name}").report
    if name in NEED_DATA:
        if options.data is None:
            print(f"{name}: not run, because it needs --data FOLDER.\n")
            return
        command, given = [*command, "--data FOLDER"], [options.data]
    elif name == "grep_speed":
        given = [options.data]
    elif name == "evaluation_speed":
        given = [None, options.data]
    elif name not in ("bm25_speed", "navigation"):
        given = [options.full and name == "setup"]
        command += ["--full"] if given[0] else []
    print(f"{name}: {NAMES[name]}\n$ {' '.join(command)}\n{facts()}\n", flush=True)
    print(report(*given), end="\n\n", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """List the scripts, or run those that are named (`all`: every one); returns an exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", epilog=listing(), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="one of the names below, or `all`")
    parser.add_argument("--full", action="store_true", help="setup: measure the full set of packages as well")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="the folder that some of the scripts need")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in (*NAMES, "all")]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}, and `all`")
    if not options.names:
        print(f"Benchmarks to run by name, or `all`:\n{listing()}")
    for name in NAMES if "all" in options.names else options.names:
        run(name, options)
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers, kernels and folders are cleaned up
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
