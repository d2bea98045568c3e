"""Questions to the support desk in nine languages, for the eight articles of the knowledge base, which are English.

Three in five quote an error code, two in five describe a symptom in the customer's language. The sentences are written
as people type them, and so is the English beside each, which is what a translation step would hand to the search.
kb-101 to kb-103 are the articles about E-104, E-4471 and E-4417; the others are about a blank display, firmware,
contactless payments, the battery and jammed paper.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from course_lib.corpora import DATA

VECTORS = DATA / "vectors" / "nine_languages.npz"

Language: TypeAlias = Literal["en", "de", "fr", "es", "it", "pt", "pl", "tr", "ja"]
Slice: TypeAlias = Literal["identifier", "symptom"]


@dataclass(frozen=True)
class ForeignQuestion:
    """A question as the customer typed it, what it says in English, and the ids of the articles that answer it.

    The slice is "identifier" where the question quotes an error code, else "symptom".
    """

    text: str
    language: Language
    slice: Slice
    gold: tuple[str, ...]
    english: str


@cache
def foreign_questions() -> tuple[ForeignQuestion, ...]:
    """Return the 45 questions, five a language: three that quote an error code, then two symptoms.

    >>> foreign_questions()[8].text, foreign_questions()[8].gold
    ('Der Bildschirm bleibt schwarz', ('kb-104',))
    """
    rows = json.loads((DATA / "nine_languages.json").read_text(encoding="utf-8"))
    return tuple(
        ForeignQuestion(row["text"], row["language"], _slice_of(row["text"]), (row["gold"],), row["english"])
        for row in rows
    )


def _slice_of(text: str) -> Slice:
    return "identifier" if re.search(r"E-\d", text) else "symptom"


def cached_texts() -> list[str]:
    """Return every text whose vector is kept in `VECTORS`: the questions and their English (not the articles)."""
    return [text for question in foreign_questions() for text in (question.text, question.english)]
