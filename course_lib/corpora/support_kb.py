"""The support knowledge base of a card terminal: eight articles, eight labelled questions, the lesson's stop words."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from course_lib.corpora import DATA

VECTORS = DATA / "vectors" / "support_kb.npz"

Slice = Literal["identifiers", "paraphrases"]


@dataclass(frozen=True)
class Article:
    """One article, e.g. id "kb-102", title "Error E-4471: firmware signature mismatch"."""

    id: str
    title: str
    body: str

    @property
    def chunk(self) -> str:
        """The article as the classic pipeline encodes it: its title in front of its text."""
        return f"{self.title}: {self.body}"


@dataclass(frozen=True)
class LabelledQuestion:
    """A question, the slice of the traffic that it stands for, and the ids of the articles that answer it."""

    slice: Slice
    text: str
    gold: tuple[str, ...]


# What the strict search is shown on: a code with other words, a code that no article has, a paraphrase, a question
# that shares one word with a wrong article, and one that shares most of its words with the right one.
STRICT_SEARCH = (
    "What does E-4471 mean after an update?",
    "What does E-9999 mean?",
    "The screen stays black when I turn it on",
    "How do I pair the terminal with a Bluetooth printer?",
    "Which thermal paper rolls fit?",
)

# Where the strict search is too strict.
TOO_STRICT = (
    "difference between E-104 and E-4471?",
    "E4471",
    "Could you please tell me how I should update the firmware?",
)

GERMAN = "Der Bildschirm bleibt schwarz"


@cache
def articles() -> tuple[Article, ...]:
    """Return the eight articles in the order of their ids."""
    return tuple(Article(entry["id"], entry["title"], entry["body"]) for entry in _read("kb_articles.json"))


@cache
def labelled_questions() -> tuple[LabelledQuestion, ...]:
    """Return four questions for each slice."""
    entries = _read("kb_labeled.json")
    return tuple(LabelledQuestion(entry["slice"], entry["question"], (entry["gold"],)) for entry in entries)


@cache
def stop_words() -> frozenset[str]:
    """Return the words, in lower case, that the lesson's search leaves out."""
    return frozenset(_read("stop_words.json"))


def documents() -> list[tuple[str, str, str]]:
    """Return the articles as (id, title, text), the form in which `bm25.Index` takes documents."""
    return [(article.id, article.title, article.body) for article in articles()]


def cached_texts() -> list[str]:
    """Return every text whose vector is kept in `VECTORS`."""
    questions = (question.text for question in labelled_questions())
    return [*(article.chunk for article in articles()), *questions, *STRICT_SEARCH, *TOO_STRICT, GERMAN]


def _read(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))
