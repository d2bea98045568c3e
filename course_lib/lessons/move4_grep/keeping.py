"""What an index costs to make and to keep: its time beside a search's, and an edit after it was made."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from tempfile import mkdtemp
from time import perf_counter
from typing import Final

import course_lib
from course_lib.corpora import standard_library as library
from course_lib.grep import Folder, grep, read
from course_lib.learn.look import Shown, card, escape, mark, paragraph, table
from course_lib.lessons.move4_grep.experiment import Outcome, by_vectors, by_words, code_index, median_seconds
from course_lib.retrieval import Retriever

# --- The time of an index --------------------------------------------------------------------------------------------

SAMPLE: Final = 50  # every 50th function is encoded, which makes six
ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
WAIT: Final = 60  # seconds for the process that encodes

_CHILD: Final = """
import json, sys, time
from course_lib.dense import load_encoder
job = json.load(sys.stdin)
encoder = load_encoder(backend="numpy")
encoder.encode(job["questions"][:1])
seconds = {}
for name, texts in job.items():
    began = time.perf_counter()
    encoder.encode(texts)
    seconds[name] = (time.perf_counter() - began) / len(texts)
print(json.dumps(seconds))
"""


@cache
def encoding_seconds() -> Mapping[str, float] | None:
    """Return MiniLM's seconds for one function and for one question, measured on a few of each.

    In a process of its own, so that the model is in the memory of none that stays, and on one thread: with several, a
    busy machine makes the time a multiple of itself. None where the weights are missing
    or the machine takes longer than a minute.
    """
    chunks = [function.chunk for function in library.functions()[::SAMPLE]]
    job = json.dumps({"functions": chunks, "questions": [one.text for one in library.questions()[::10]]})
    above = str(Path(course_lib.__file__).parent.parent)
    paths = os.pathsep.join([above, *([os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else [])])
    try:
        done = subprocess.run(
            [sys.executable, "-c", _CHILD], input=job.encode(), capture_output=True, timeout=WAIT, check=True,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": paths},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )  # fmt: skip
        return {name: float(seconds) for name, seconds in json.loads(done.stdout).items()}
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def indexing_seconds() -> float:
    """Return how long BM25's index over the listed functions takes to make."""
    functions, seconds = library.functions(), list[float]()
    for _ in range(3):
        began = perf_counter()
        code_index(functions).close()
        seconds.append(perf_counter() - began)
    return median(seconds)


def show_seconds(outcomes: Sequence[Outcome]) -> Shown:
    """Return the time of indexes and of questions as multiples: of BM25's index, and of one grep."""
    index, one_grep, encoding = indexing_seconds(), median_seconds(outcomes, "one grep"), encoding_seconds()
    rows = [["one grep", "none", "1.0"], ["grep, synonyms", "none", _times(outcomes, "grep, synonyms", one_grep)]]
    rows.append(["BM25", "1", _times(outcomes, "BM25", one_grep)])
    if encoding is None:
        rows.append(["MiniLM", "not measured here", "not measured here"])
    else:
        made = encoding["functions"] * len(library.functions()) / index
        rows.append(["MiniLM", f"{made:,.0f}", f"{encoding['questions'] / one_grep:.2f}"])
    about = "Index: over the 300 functions, as a multiple of BM25's time. Question: as a multiple of one grep's."
    return Shown(card("", table(["Way", "index", "question"], rows, numbers=[1, 2]), paragraph(about)))


def _times(outcomes: Sequence[Outcome], way: str, unit: float) -> str:
    return f"{median_seconds(outcomes, way) / unit:.2f}"


# --- After an edit ---------------------------------------------------------------------------------------------------

EDITED: Final = "difflib.py:get_close_matches"
OLD, NEW = "n=3, cutoff=0.6", "n=7, cutoff=0.6"
ABOVE: Final = "def noted(words):\n" + "    words.append(None)\n" * 59 + "\n"


def edited_copy() -> Folder:
    """Return a temporary copy of one file of the library, with a default changed and sixty lines put above it."""
    function = next(one for one in library.functions() if one.id == EDITED)
    lines = (library.root() / function.file).read_text(encoding="utf-8").split("\n")
    above, rest = "\n".join(lines[: function.start - 1]), "\n".join(lines[function.start - 1 :])
    folder = Path(mkdtemp(prefix="edited-"))
    (folder / function.file).write_text(f"{above}\n{ABOVE}{rest.replace(OLD, NEW, 1)}", encoding="utf-8", newline="\n")
    return Folder(folder)


@dataclass(frozen=True)
class Seen:
    """What one way shows of the edited function, and whether that is what stands in the file now."""

    way: str
    text: str

    @property
    def fresh(self) -> bool:
        """Whether the new default is in it."""
        return NEW in self.text


def ask_again(copy: Folder) -> list[Seen]:
    """Ask for the default once more: by grep over the copy, and by indexes that were made before the edit."""
    question = next(one for one in library.questions() if one.gold == EDITED)
    hits = grep(copy, "def get_close_matches", question.file)
    seen = [Seen("grep", str(hits)), Seen("BM25", _text_of(by_words(), question.text))]
    vectors = by_vectors()
    if vectors is not None:
        there = next(one for one in library.functions() if one.id == vectors(question.text, 1)[0].id)
        lines = read(copy, there.file, there.start, there.end)
        seen += [Seen("MiniLM", _text_of(vectors, question.text)), Seen("MiniLM + read", str(lines))]
    return seen


def _text_of(search: Retriever, question: str) -> str:
    return search(question, 1)[0].text


def show_seen(seen: Sequence[Seen]) -> Shown:
    """Return what each way shows: the line of the definition where it has one, else its first line."""
    rows = []
    for one in seen:
        lines = one.text.split("\n")
        line = next((text for text in lines if "def get_close_matches" in text), lines[0])
        verdict = mark("retrieved", "current") if one.fresh else mark("missed", "stale")
        rows.append([escape(one.way), f"<code>{escape(line.strip())}</code>", verdict])
    return Shown(card("", table(["Way", "It shows", ""], rows), paragraph("In the file: " + NEW)))
