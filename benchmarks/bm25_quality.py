"""How well the course's BM25 ranks documents that nobody here wrote: nDCG@10 on SciFact, or any folder of its shape.

    python -m benchmarks.bm25_quality FOLDER

FOLDER holds corpus.jsonl (_id, title, text), queries.jsonl (_id, text) and qrels.tsv (query-id, corpus-id, score with
a header line), as the BEIR collection publishes its sets.
"""

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

from benchmarks.figures import table
from benchmarks.machine import facts
from course_lib.bm25 import ANY_WORD, Document, Index, Rules
from course_lib.metrics import ndcg_at_k

AIM = 0.685
K = 10
PARAGRAPHS = 300


@dataclass(frozen=True)
class Asked:
    """A question and the grade of each document that answers it."""

    text: str
    grades: dict[str, float]


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    """Give the objects of a JSON lines file."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def documents_of(folder: Path) -> list[Document]:
    """Return the corpus as (id, title, text)."""
    return [(line["_id"], line["title"], line["text"]) for line in lines_of(folder / "corpus.jsonl")]


def questions_of(folder: Path) -> list[Asked]:
    """Return the questions that have a relevant document."""
    grades: dict[str, dict[str, float]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        question, document, grade = line.split("\t")
        if float(grade) > 0:
            grades.setdefault(question, {})[document] = float(grade)
    texts = {line["_id"]: line["text"] for line in lines_of(folder / "queries.jsonl")}
    return [Asked(texts[question], wanted) for question, wanted in grades.items()]


def paragraphs(documents: Sequence[Document]) -> tuple[list[Document], list[Asked]]:
    """Cut each text in halves: the first is indexed with the title, the second of a sample is asked for its first."""
    firsts, asked = [], []
    sample = set(random.Random(0).sample(range(len(documents)), min(PARAGRAPHS, len(documents))))
    for number, (id, title, text) in enumerate(documents):
        words = text.split()
        firsts.append((id, title, " ".join(words[: len(words) // 2])))
        if number in sample and len(words) > 1:
            asked.append(Asked(" ".join(words[len(words) // 2 :]), {id: 1.0}))
    return firsts, asked


def quality(index: Index, questions: Sequence[Asked], rules: Rules) -> tuple[float, int]:
    """Return the mean nDCG@10, and to how many questions the search gave no evidence (they count 0)."""
    rankings = [[hit.id for hit in index.search(question.text, K, rules)] for question in questions]
    scores = [ndcg_at_k(ids, asked.grades, K) for ids, asked in zip(rankings, questions, strict=True)]
    return sum(scores) / len(scores), sum(not ids for ids in rankings)


def report(folder: Path) -> str:
    """Measure each way of searching on a folder of data and return the table."""
    documents, questions = documents_of(folder), questions_of(folder)
    stemmed, plain = Index(documents, tokenizer="porter"), Index(documents)
    halves, long_questions = paragraphs(documents)
    half_index = Index(halves, tokenizer="porter")
    each, once = replace(ANY_WORD, repeats_from=0), replace(ANY_WORD, repeats_from=inf)
    ways = [
        (f"stemmed, every word ORed (aim ≥ {AIM})", stemmed, questions, ANY_WORD),
        ("the same, repeated words each time", stemmed, questions, each),
        ("the same, repeated words once", stemmed, questions, once),
        ("the same without stemming", plain, questions, ANY_WORD),
        ("stemmed, stop words left out", stemmed, questions, replace(ANY_WORD, stop_words=Rules().stop_words)),
        ("stemmed, the defaults but for coverage", stemmed, questions, Rules(min_coverage=0)),
        ("stemmed, all defaults", stemmed, questions, Rules()),
        ("paragraphs, stemmed, every word ORed", half_index, long_questions, ANY_WORD),
        ("the same, repeated words each time", half_index, long_questions, each),
        ("the same, repeated words once", half_index, long_questions, once),
    ]
    rows = []
    for name, index, asked, rules in ways:
        ndcg, silent = quality(index, asked, rules)
        rows.append([name, f"{ndcg:.4f}", str(len(asked)), str(silent)])
    return table(["search", "nDCG@10", "n", "no evidence"], rows)


def main() -> None:
    """Print the table for the folder that the command names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bm25_quality")
    parser.add_argument("folder", type=Path, help="a data set in BEIR's form, for example scifact")
    print(f"{facts()}\n{report(parser.parse_args().folder)}")


if __name__ == "__main__":
    main()
