"""What the course's BM25 costs beside the bare SQLite statement: building and searching, as ratios from one run.

python -m benchmarks.bm25_speed [--documents 50000]
"""

import argparse
import random
import sqlite3
from collections.abc import Callable, Sequence
from itertools import accumulate
from time import process_time
from typing import Any

from benchmarks.figures import median, table
from benchmarks.machine import facts
from course_lib.bm25 import ANY_WORD, Document, Index, any_word

WORDS, LENGTH, QUESTIONS, K = 30_000, 80, 20, 10
SEARCH_AIM, BUILD_AIM = 1.2, 1.3
VOCABULARY = [f"w{rank}" for rank in range(WORDS)]
ZIPF = list(accumulate(1 / (rank + 1) for rank in range(WORDS)))


def documents(n: int, rng: random.Random) -> list[Document]:
    """Return `n` documents of 80 words whose frequencies follow Zipf's law, without titles."""
    return [(f"d{i}", "", " ".join(rng.choices(VOCABULARY, cum_weights=ZIPF, k=LENGTH))) for i in range(n)]


def questions(rng: random.Random) -> dict[str, list[str]]:
    """Return questions of five words: from ranks 100 to 5,000 as the lesson draws them, and as the documents are."""
    rare = [" ".join(rng.choices(VOCABULARY[100:5000], k=5)) for _ in range(QUESTIONS)]
    common = [" ".join(rng.choices(VOCABULARY, cum_weights=ZIPF, k=5)) for _ in range(QUESTIONS)]
    return {"words of ranks 100 to 5,000": rare, "words as frequent as in the texts": common}


def bare(rows: Sequence[Document]) -> sqlite3.Connection:
    """Index the same texts with two statements."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(id UNINDEXED, title, body)")
    with db:
        db.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    return db


def seconds(job: Callable[[], Any]) -> float:
    """Return the processor's time for one call: both sides compute in one thread, and other work does not count."""
    began = process_time()
    job()
    return process_time() - began


def build_ratio(rows: Sequence[Document], runs: int = 3) -> tuple[float, float, float]:
    """Return the median seconds of the bare statements and of the library, taken in turns, and their ratio."""
    pairs = [(seconds(lambda: bare(rows)), seconds(lambda: Index(rows).close())) for _ in range(runs)]
    return medians(pairs)


def search_ratio(
    texts: Sequence[str], statement: Callable[[str], Any], search: Callable[[str], Any]
) -> tuple[float, float, float]:
    """Return the same for searches: each question is asked both ways in turn, the second time counts."""
    for text in texts:
        statement(text), search(text)
    pairs = [(seconds(lambda t=text: statement(t)), seconds(lambda t=text: search(t))) for text in texts]  # type: ignore[misc]
    return medians(pairs)


def medians(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """Return both medians and the median of the pairs' ratios."""
    return median([a for a, _ in pairs]), median([b for _, b in pairs]), median([b / a for a, b in pairs])


def row(name: str, measured: tuple[float, float, float], aim: float) -> list[str]:
    """Return one line of the table."""
    first, second, ratio = measured
    verdict = "" if ratio <= aim else ", missed"
    return [name, f"{1000 * first:.1f}", f"{1000 * second:.1f}", f"{ratio:.2f} (aim ≤ {aim}{verdict})"]


def report(n: int = 50_000) -> str:
    """Measure on `n` documents and return the table."""
    rng = random.Random(0)
    rows, asked = documents(n, rng), questions(rng)
    lines = [row("build the index", build_ratio(rows), BUILD_AIM)]
    db, index = bare(rows), Index(rows)
    sql = "SELECT id, title, body, bm25(t) FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?"

    def statement(text: str) -> list[Any]:
        return db.execute(sql, (any_word(text), K)).fetchall()

    for name, texts in asked.items():
        plain = search_ratio(texts, statement, lambda text: index.search(text, K, ANY_WORD))
        full = search_ratio(texts, statement, lambda text: index.search(text, K))
        lines += [row(f"search, {name}", plain, SEARCH_AIM), row("… with identifiers and coverage", full, SEARCH_AIM)]
    return table(["what", "SQLite, ms", "course, ms", "ratio"], lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bm25_speed")
    parser.add_argument("--documents", type=int, default=50_000)
    print(f"{facts()}\n{report(parser.parse_args().documents)}")


if __name__ == "__main__":
    main()
