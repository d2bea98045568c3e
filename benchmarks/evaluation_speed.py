"""What a comparison takes: 200 questions to four offline systems, and 500 pages of PDF loaded and indexed.

python -m benchmarks.evaluation_speed [--documents FOLDER] [--data FOLDER WITH PDF FILES]
"""

import argparse
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from time import perf_counter, process_time
from typing import TypeVar

from benchmarks.figures import beside, table
from benchmarks.machine import facts, temporary_folder
from course_lib.bm25 import Index
from course_lib.corpora import agreement, nine_languages, support_kb
from course_lib.dense import load_encoder
from course_lib.evaluation.compare import compare
from course_lib.evaluation.documents import Corpus, Document, corpus_of, read_document, read_folder
from course_lib.evaluation.offline import Setting, build
from course_lib.evaluation.questions import Question
from course_lib.evaluation.report import write_report
from course_lib.evaluation.summary import line
from course_lib.pricing import Price

QUESTIONS, SYSTEMS, K, PAGES = 200, ("bm25", "dense", "hybrid", "navigate"), 5, 500
SECONDS_AIM, PAGES_AIM = 60, 30
PRICE = Price("round numbers", 3.0, 15.0, read=0.1, write_5_minutes=1.25, write_1_hour=2.0)

T = TypeVar("T")


def timed(job: Callable[[], T]) -> tuple[T, float, float]:
    """Return what a job gives, the seconds it took, and the processor's seconds, which other work does not count to."""
    wall, processor = perf_counter(), process_time()
    result = job()
    return result, perf_counter() - wall, process_time() - processor


def shipped(folder: Path) -> Corpus:
    """Write the course's agreement and knowledge base as Markdown into `folder`, and read them as anybody's files."""
    sections = "".join(f"## {one.id} {one.title}\n\n{one.text}\n\n" for one in agreement.sections())
    articles = "".join(f"## {one.id} {one.title}\n\n{one.body}\n\n" for one in support_kb.articles())
    for name, text in (("agreement.md", sections), ("support.md", articles)):
        (folder / name).write_text(text, encoding="utf-8")
    return read_folder(folder)


def asked() -> list[Question]:
    """Return 200 different questions: those of the course, each with a polite beginning where they do not suffice."""
    texts = [one.text for one in agreement.QUESTIONS] + [one.text for one in support_kb.labelled_questions()]
    texts += [text for one in nine_languages.foreign_questions() for text in (one.text, one.english)]
    beginnings = ["", "Hello, ", "Please tell me: ", "I wonder, "]
    distinct = dict.fromkeys(f"{beginning}{text}" for beginning in beginnings for text in texts)
    return [Question(text, gold=("agreement.md#7.1",)) for text in list(distinct)[:QUESTIONS]]


def comparison_rows(documents: Path | None) -> list[list[str]]:
    """Return the times of loading, indexing, asking and reporting, and their sum beside the aim."""
    with temporary_folder() as folder:
        corpus, loading, _ = timed(lambda: read_folder(documents) if documents else shipped(folder))
        setting = Setting(corpus, K, PRICE, load_encoder)
        systems, indexing, _ = timed(lambda: [build(name, setting) for name in SYSTEMS])
        comparison, asking, _ = timed(lambda: compare(systems, asked(), k=K, journal=folder / "j.jsonl"))
        _, reporting, _ = timed(lambda: write_report(comparison, folder / "report.html"))
        failed = sum(line(comparison, name).failed for name in SYSTEMS)
    total = loading + indexing + asking + reporting
    done = f"{len(comparison.outcomes)} answers, {failed} failed"
    return [
        [f"load {len(corpus.documents)} documents, {len(corpus.chunks)} chunks", f"{loading:.1f}"],
        [f"make the indexes of {', '.join(SYSTEMS)}", f"{indexing:.1f}"],
        [f"{len(asked())} questions × {len(SYSTEMS)} systems ({done})", f"{asking:.1f}"],
        ["write the report", f"{reporting:.1f}"],
        ["all of it", beside(total, SECONDS_AIM, digits=1)],
    ]


def pdf_rows(data: Path) -> list[list[str]]:
    """Return pages a second for the PDF files of a folder, read again until 500 pages are there."""
    files = sorted(data.rglob("*.pdf"))
    if not files:
        return [[f"no PDF in {data.name}", "", "", ""]]
    read, pages = list[Document](), 0
    reading = [0.0, 0.0]
    for number, path in enumerate(cycle(files)):
        if pages >= PAGES:
            break
        outline, *took = timed(lambda path=path: read_document(path))  # type: ignore[misc]
        reading = [a + b for a, b in zip(reading, took, strict=True)]
        read.append(Document(f"{number}-{path.name}", outline))
        pages += len(outline.page_starts)
    corpus, *cutting = timed(lambda: corpus_of(read))
    _, *indexing = timed(lambda: Index((one.id, "", one.text) for one in corpus.chunks))
    rows = []
    for name, at in (("by the clock", 0), ("by the processor's time of this process", 1)):
        seconds = reading[at] + cutting[at] + indexing[at]
        reached = "" if pages / seconds >= PAGES_AIM else ", missed"
        rate = f"{pages / seconds:.0f} pages a second (aim ≥ {PAGES_AIM}{reached})"
        rows.append(
            [f"{pages} pages, {len(corpus.chunks)} chunks, {name}", f"{reading[at]:.1f}", f"{indexing[at]:.1f}", rate]
        )
    return rows


def report(documents: Path | None = None, data: Path | None = None) -> str:
    """Measure and return both tables; the second only where `data` names a folder with PDF files."""
    first = table(["a comparison", "seconds"], comparison_rows(documents))
    if data is None:
        return f"{first}\n\nPDF: not run, because it needs --data FOLDER."
    return f"{first}\n\n{table(['PDF', 'read, s', 'index, s', 'together'], pdf_rows(data))}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables with the machine they belong to."""
    parser = argparse.ArgumentParser(description=report.__doc__)
    parser.add_argument(
        "--documents", type=Path, metavar="FOLDER", help="documents to compare on (default: the course's)"
    )
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="a folder with PDF files")
    options = parser.parse_args(arguments)
    print(f"{facts()}\n\n{report(options.documents, options.data)}")


if __name__ == "__main__":
    main()
