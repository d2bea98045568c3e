"""What the SQL guard refuses that it should not, what it stops that it should, and what it costs.

    python -m benchmarks.sql_guard --data FOLDER

FOLDER holds spider_en (questions.json with db, question and gold_sql; database/NAME/NAME.sqlite) and
attacks/sql_injection.txt (a payload a line). Every table is allowed, so that only the guard's own rules refuse.
"""

import argparse
import hashlib
import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from benchmarks.figures import median, table
from benchmarks.machine import facts, temporary_folder
from course_lib.sql.database import read_only, uri
from course_lib.sql.guard import Guard, Refused

AIM, OVERHEAD_AIM, QUERIES = 0.99, 1.5, 1000
ATTACKED, COLUMN = "singer", "name"  # of concert_singer: where a payload is pasted into a value


@dataclass(frozen=True)
class Asked:
    """A question's correct SQL and the database it belongs to."""

    path: Path
    sql: str


def questions_of(folder: Path) -> list[Asked]:
    """Return the correct SQL of every question."""
    spider = folder / "spider_en"
    lines = json.loads((spider / "questions.json").read_text(encoding="utf-8"))
    return [Asked(spider / "database" / line["db"] / f"{line['db']}.sqlite", line["gold_sql"]) for line in lines]


def everything(path: Path, **limits: Any) -> Guard:
    """Return a guard that allows every table and view of a database."""
    with closing(read_only(path)) as db:
        return Guard({name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE rootpage > 0")}, **limits)


# --- What it refuses that it should not ---


def bare_rows(asked: Asked) -> list[tuple[Any, ...]]:
    """Return the rows that a read-only connection without a guard gives."""
    with closing(sqlite3.connect(uri(asked.path), uri=True)) as db:
        return db.execute(asked.sql).fetchall()


def legitimate(questions: Sequence[Asked]) -> str:
    """Run every correct query with and without the guard; the row cap is lifted, and counted by itself."""
    same, in_order, cut, refused = 0, 0, 0, list[str]()
    for asked in questions:
        guard = everything(asked.path, max_rows=1_000_000)
        expected = bare_rows(asked)
        cut += len(expected) > Guard(()).max_rows
        try:
            found = guard.run(asked.path, asked.sql).rows
        except Refused as error:
            refused.append(f"  {asked.path.stem}: {error}\n    {asked.sql}")
            continue
        in_order += found == expected
        same += Counter(found) == Counter(expected)
        if Counter(found) != Counter(expected):
            refused.append(f"  {asked.path.stem}: other rows\n    {asked.sql}")
    n = len(questions)
    rows = [
        ["correct queries with the same rows", f"{same} of {n}", verdict(same >= AIM * n, f"≥ {AIM:.0%}")],
        ["the same in the same order", f"{in_order} of {n}", ""],
        ["refused, or with other rows", str(len(refused)), ""],
        ["would be cut by the default row cap", f"{cut} of {n}", "(said by `truncated`)"],
    ]
    return "\n".join([table(["legitimate (max_rows=1,000,000, else defaults)", "n", "aim"], rows), *refused])


# --- What it stops that it should ---


def attacks(folder: Path) -> str:
    """Run every payload as a statement and inside a value, on a copy whose bytes are compared after each."""
    payloads = (folder / "attacks" / "sql_injection.txt").read_text(encoding="utf-8", errors="replace").splitlines()
    original = next(asked.path for asked in questions_of(folder) if asked.path.stem == "concert_singer")
    forms: dict[str, Callable[[str], str]] = {
        "as a statement": lambda payload: payload,
        "inside a value": lambda payload: f"SELECT count(*) FROM {ATTACKED} WHERE {COLUMN} = '{payload}'",
    }
    rows = []
    with temporary_folder() as place:
        path = Path(shutil.copy(original, place))
        guard = everything(path)
        for name, form in forms.items():
            outcomes, changed, longest = attack(guard, path, [form(payload) for payload in payloads])
            counts = ", ".join(f"{outcome} {count}" for outcome, count in outcomes.most_common())
            within = f"{longest / guard.seconds:.2f} of the limit"
            rows.append([name, str(len(payloads)), counts, str(changed), within])
    return table(["payloads", "n", "outcomes", "files changed", "longest"], rows)


def attack(guard: Guard, path: Path, outputs: Sequence[str]) -> tuple[Counter[str], int, float]:
    """Return what became of each output, after how many the folder had changed, and the longest seconds."""
    before, outcomes, changed, longest = state(path), Counter[str](), 0, 0.0
    for output in outputs:
        began = perf_counter()
        try:
            guard.run(path, output)
            outcomes["ran, reading what is allowed:"] += 1
        except Refused as error:
            outcomes[f"{error.layer}:"] += 1
        longest = max(longest, perf_counter() - began)
        changed += state(path) != before
    return outcomes, changed, longest


def state(path: Path) -> dict[str, str]:
    """Return {file beside the database: hash of its bytes}."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(path.parent.iterdir())}


# --- What it costs ---


def overhead(questions: Sequence[Asked], runs: int = 5) -> str:
    """Compare 1,000 small queries with and without the guard, in turns: median seconds and median of the ratios."""
    path = questions[0].path
    texts = [asked.sql for asked in questions if asked.path == path]
    queries = [f"{texts[number % len(texts)]} -- {number}" for number in range(QUERIES)]  # no two alike: no cache helps
    guard, address = replace(everything(path), max_rows=1000), uri(path)

    def bare_kept() -> None:
        with closing(sqlite3.connect(address, uri=True)) as db:
            for query in queries:
                db.execute(query).fetchall()

    def guarded_kept() -> None:
        with closing(guard.open(path)) as db:
            for query in queries:
                db.run(query)

    def bare_each() -> None:
        for query in queries:
            with closing(sqlite3.connect(address, uri=True)) as db:
                db.execute(query).fetchall()

    def guarded_each() -> None:
        for query in queries:
            guard.run(path, query)

    kept, each = ratio(bare_kept, guarded_kept, runs), ratio(bare_each, guarded_each, runs)
    rows = [
        ["opened once", f"{kept:.2f}", verdict(kept <= OVERHEAD_AIM, f"≤ {OVERHEAD_AIM}")],
        ["opened for each query", f"{each:.2f}", ""],
    ]
    return table([f"{QUERIES:,} small queries", "guard ÷ bare read-only connection", "aim"], rows)


def ratio(bare: Callable[[], None], guarded: Callable[[], None], runs: int) -> float:
    """Return the median of how many times as much processor time the second takes."""
    ratios = []
    for _ in range(runs):
        first, second = seconds(bare), seconds(guarded)
        ratios.append(second / first)
    return median(ratios)


def seconds(job: Callable[[], None]) -> float:
    """Return the processor's time for one call."""
    began = process_time()
    job()
    return process_time() - began


def verdict(kept: bool, aim: str) -> str:
    """Return an aim, and whether it was missed."""
    return f"{aim}{'' if kept else ', missed'}"


def report(folder: Path) -> str:
    """Measure all three on a folder of data and return the tables."""
    questions = questions_of(folder)
    return "\n\n".join(
        [f"SQLite {sqlite3.sqlite_version}", legitimate(questions), attacks(folder), overhead(questions)]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables for the folder that the command names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sql_guard")
    parser.add_argument("--data", type=Path, required=True, help="a folder that holds spider_en and attacks")
    print(f"{facts()}\n{report(parser.parse_args(arguments).data)}")


if __name__ == "__main__":
    main()
