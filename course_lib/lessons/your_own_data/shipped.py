"""The folder that the course ships: read, made into systems, compared."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain

from course_lib.corpora import DATA
from course_lib.corpora.own_documents import ANSWERS, FOLDER, IN_THE_SCAN, QUESTIONS, VECTORS
from course_lib.dense import Encoder, load_encoder
from course_lib.evaluation.compare import Comparison, compare
from course_lib.evaluation.documents import Corpus, read_folder
from course_lib.evaluation.offline import Setting, build
from course_lib.evaluation.questions import Question, read_questions
from course_lib.evaluation.systems import System, from_answers
from course_lib.pricing import Price, load_prices

__all__ = ["ANSWERS", "FOLDER", "IN_THE_SCAN", "NAMES", "QUESTIONS", "TODAY", "VECTORS"]

NAMES = ("bm25", "bm25_headings", "headings", "navigate")
TODAY = "today"
K = 3


def price() -> Price:
    """Return the first preset of data/prices.json, which are round numbers."""
    return next(iter(load_prices(DATA / "prices.json").values()))


@cache
def corpus() -> Corpus:
    """Return the shipped folder, read."""
    return read_folder(FOLDER)


@cache
def questions() -> tuple[Question, ...]:
    """Return the labelled questions about it."""
    return read_questions(QUESTIONS).questions


@cache
def encoder() -> Encoder:
    """Return the encoder with the cached vectors of the shipped texts; weights are loaded for other texts only."""
    return load_encoder(VECTORS)


def cached_texts() -> list[str]:
    """Return the texts whose vectors the course shows: chunks, chunks with their heading path, questions."""
    chunks = corpus().chunks
    asked = [question.text for question in questions()]
    texts = chain((chunk.text for chunk in chunks), (chunk.with_path for chunk in chunks), asked, [IN_THE_SCAN])
    return list(dict.fromkeys(texts))


def systems(k: int = K, names: Sequence[str] = NAMES) -> list[System]:
    """Return the course's systems over the shipped folder, and what answers there today, from a file."""
    setting = Setting(corpus(), k, price(), encoder)
    return [*(build(name, setting) for name in names), from_answers(ANSWERS, TODAY)]


@cache
def compared(k: int = K) -> Comparison:
    """Return all systems on all questions with a cut-off of k."""
    return compare(systems(k), questions(), k=k)


def ask(question: str, names: Sequence[str] = ("bm25", "headings")) -> Mapping[str, tuple[str, ...]]:
    """Return the ids that each system brings for one question."""
    setting = Setting(corpus(), K, price(), encoder)
    return {name: build(name, setting).ask(question).ids for name in names}
