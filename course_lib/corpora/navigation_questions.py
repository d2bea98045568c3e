"""100 labelled questions on the agreement of 400 sections, 30 on the language reference, and documents that mislead.

How the labels came about: the questions of one section, two hops and a defined term were written by hand, with the
titles of the sections that they need and words of the answer. One-hop questions are drawn from the 52 of
`large_agreement`. For "spread everywhere" the gold is computed: every section that points to a schedule (the question
is a template), or every section in which a pattern stands. The labels hold for the default seed.

A question needs its pieces; of each piece one id is enough, since the language reference says many things twice.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from random import Random
from typing import Any, Literal, TypeAlias, TypeVar

from course_lib.corpora import DATA, language_reference
from course_lib.corpora.agreement import Section
from course_lib.corpora.large_agreement import CLAUSES, LETTERS, large_agreement, one_hop_questions
from course_lib.corpora.vendor_agreements import VendorAgreement, vendor_agreements

QUESTIONS = DATA / "navigation_questions.json"
VECTORS = DATA / "vectors" / "navigation_questions.npz"
SEED = 7
EACH = 20  # questions of a kind on the agreement
REFERENCE_EACH = 15

Kind: TypeAlias = Literal["one section", "one hop", "two hops", "a defined term", "spread everywhere"]
Heading: TypeAlias = tuple[str, str, int, int]  # id, title, level, first character
T = TypeVar("T")


@dataclass(frozen=True)
class NavigationQuestion:
    """A question, its kind, its pieces (for each the ids of the sections that hold it), and words of the answer."""

    text: str
    kind: Kind
    pieces: tuple[tuple[str, ...], ...]
    answer: str = ""


@dataclass(frozen=True)
class Chunk:
    """A section as a retriever indexes it: its id, the path of headings to it, its text."""

    id: str
    path: str
    text: str

    @property
    def headed(self) -> str:
        """The text with the path of its headings in front: the cheap fix."""
        return f"{self.path}: {self.text}"


@dataclass(frozen=True)
class Headed:
    """A document with its headings as (id, title, level, first character), and the chunk ids in each heading's text."""

    title: str
    text: str
    headings: tuple[Heading, ...]
    chunks: tuple[Chunk, ...]
    inside: dict[str, tuple[str, ...]]


# --- The agreement ----------------------------------------------------------------------------------------------


@cache
def _articles() -> dict[str, str]:
    """Return the title of the article in which each clause stands, by the clause's title, from the clause file."""
    found: dict[str, str] = {}
    article = ""
    for line in CLAUSES.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            article = line[2:].strip()
        elif line.startswith("## "):
            found[line[3:].strip()] = article
    return found


def article_of(section: Section) -> str:
    """Return the heading above a section: "30 Invoices and payment", or "Schedules".

    >>> article_of(large_agreement()[0])
    '1 Definitions and interpretation'
    """
    if section.id in LETTERS:
        return "Schedules"
    return f"{section.id.split('.')[0]} {_articles()[section.title]}"


@cache
def agreement_document() -> Headed:
    """Return the agreement with 47 articles over its 400 sections, and the twelve schedules beside them."""
    text, headings, inside = "", list[Heading](), dict[str, tuple[str, ...]]()
    for article, group in groupby(large_agreement(), key=article_of):
        number, _, title = article.partition(" ")
        deeper = article != "Schedules"
        if deeper:
            headings.append((number, title, 1, len(text)))
            inside[number] = ()
            text += f"{number}. {title}\n\n"
        for section in group:
            headings.append((section.id, section.title, 2 if deeper else 1, len(text)))
            inside[section.id] = (section.id,)
            named = f"{section.id} {section.title}" if deeper else section.title
            text += f"{named}. {section.text}\n\n"
    chunks = tuple(Chunk(s.id, f"{article_of(s)} > {s.title}", s.text) for s in large_agreement())
    return Headed("Outsourcing agreement", text, tuple(headings), chunks, inside)


@cache
def agreement_questions() -> tuple[NavigationQuestion, ...]:
    """Return the 100 questions, twenty of each kind.

    >>> from collections import Counter
    >>> set(Counter(question.kind for question in agreement_questions()).values())
    {20}
    """
    ids = {section.title.split(": ", 1)[-1]: section.id for section in large_agreement()}
    rows = _rows("agreement")
    written = [
        NavigationQuestion(row["text"], row["kind"], tuple((ids[title],) for title in row["gold"]), row["answer"])
        for row in rows
        if "gold" in row
    ]
    spread = [_spread(row["text"], _holding(row["pattern"])) for row in rows if "pattern" in row]
    one_hop = [
        NavigationQuestion(q.text, "one hop", tuple((id,) for id in q.gold), q.answer)
        for q in _drawn(one_hop_questions(), EACH)
    ]
    return tuple(sorted([*written, *one_hop, *spread, *_pointing()], key=lambda question: _KINDS.index(question.kind)))


_KINDS: tuple[Kind, ...] = ("one section", "one hop", "two hops", "a defined term", "spread everywhere")


def _rows(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(QUESTIONS.read_text(encoding="utf-8"))[name]
    return rows


def _drawn(items: Sequence[T], count: int) -> list[T]:
    """Draw `count` items by the seed; they keep their order. Only `Random.random` has a sequence that Python keeps."""
    rng = Random(SEED)
    keys = [rng.random() for _ in items]
    chosen = sorted(range(len(items)), key=keys.__getitem__)[:count]
    return [items[at] for at in sorted(chosen)]


def _spread(text: str, ids: Sequence[str]) -> NavigationQuestion:
    return NavigationQuestion(text, "spread everywhere", tuple((id,) for id in ids))


def _holding(pattern: str) -> list[str]:
    return [section.id for section in large_agreement() if re.search(pattern, section.text)]


def _pointing() -> list[NavigationQuestion]:
    """Return a question for each schedule: which sections take something from it?"""
    titles = {section.id: section.title.split(": ", 1)[1] for section in large_agreement() if section.id in LETTERS}
    return [
        _spread(f"List every section that sends us to Schedule {id}, {title}.", _holding(rf"\bSchedule {id}\b"))
        for id, title in titles.items()
    ]


# --- The language reference -------------------------------------------------------------------------------------


@cache
def reference_document() -> Headed:
    """Return the topics of the running Python under one another, each with its headings as parts.

    The chunks are the pieces of `language_reference.sections`; a heading's text holds one or several of them.
    """
    text, headings, inside = "", list[Heading](), dict[str, tuple[str, ...]]()
    chunks = language_reference.sections()
    for (topic, path), group in groupby(chunks, key=lambda chunk: (chunk.topic, chunk.title)):
        pieces, parts = list(group), path.split(" > ")
        id = topic if topic not in inside else pieces[0].id
        headings.append((id, parts[-1], len(parts), len(text)))
        inside[id] = tuple(piece.id for piece in pieces)
        text += "\n\n".join(piece.body for piece in pieces) + "\n\n"
    found = tuple(Chunk(chunk.id, chunk.title, chunk.body) for chunk in chunks)
    return Headed("The Python language reference", text, tuple(headings), found, inside)


@cache
def reference_questions() -> tuple[NavigationQuestion, ...]:
    """Return 15 questions that one section answers (drawn from `language_reference`) and 15 that take a "see section".

    A question of which the running Python's text does not hold every piece is left out: none on 3.11.

    >>> len(reference_questions()) >= 20
    True
    """
    asked = [q for q in language_reference.reference_questions() if q.slice in ("keyword", "paraphrase")]
    single = [(q.text, "one section", (language_reference.gold_sections(q),)) for q in _drawn(asked, REFERENCE_EACH)]
    hops = [(row["text"], row["kind"], tuple(map(_with_phrase, row["phrases"]))) for row in _rows("reference")]
    found = (NavigationQuestion(text, kind, pieces) for text, kind, pieces in [*single, *hops])
    return tuple(question for question in found if all(question.pieces))


def _with_phrase(phrase: str) -> tuple[str, ...]:
    return tuple(chunk.id for chunk in language_reference.sections() if language_reference.holds(chunk, phrase))


# --- What is computed, as data ----------------------------------------------------------------------------------

# The opening question's arithmetic. A number's source is a section, the question, or an assumption of the example.
LATE_INTEREST: dict[str, Any] = {
    "text": "On an invoice of EUR 10,000 that is paid 20 days late, that is {result}.",
    "expression": "invoice * rate * days / year",
    "numbers": {
        "invoice": ("10,000", "assumption"),
        "rate": ("12%", "B"),
        "days": ("20", "question"),
        "year": ("365", "B"),
    },
    "unit": "EUR",
    "citations": ("7.3", "B"),
}

# --- Where navigation breaks ------------------------------------------------------------------------------------

CAP = "Overall limit on damages"  # what is hidden behind a title that says nothing
CAP_QUESTION = "What is the most that the provider must pay us in damages in one year?"
LYING_TITLE = "Miscellaneous"
CAP_SUMMARY = "The most that the provider pays in damages for one year."


def flat_text(sections: int = 60) -> str:
    """Return the text of the agreement's first sections without any heading or number, as a bad export gives it.

    Raises ValueError for fewer than one section.
    """
    if sections < 1:
        raise ValueError(f"{sections} sections were asked for; ask for 1 or more")
    return "\n\n".join(section.text for section in large_agreement()[:sections])


def lying(title: str = LYING_TITLE) -> list[tuple[str, str, str]]:
    """Return the agreement as (id, title, text), with the section on the limit of damages under a title that lies."""
    return [(s.id, title if s.title == CAP else s.title, s.text) for s in large_agreement()]


def twenty_documents() -> tuple[VendorAgreement, ...]:
    """Return twenty agreements with the same headings: before a section can be chosen, a document must be."""
    return vendor_agreements(20)


# --- Cached vectors ---------------------------------------------------------------------------------------------


def cached_texts() -> list[str]:
    """Return every text whose vector is kept in `VECTORS`: both documents' chunks without and with headings, questions.

    Vectors that the files of the two corpora hold already are not kept again. The file is made by Python 3.11.
    """
    texts = [form(chunk) for chunk in agreement_document().chunks for form in _FORMS]
    texts += [chunk.text for chunk in reference_document().chunks]  # with headings they are in the reference's file
    texts += [question.text for question in (*agreement_questions(), *reference_questions())]
    known = {q.text for q in one_hop_questions()} | {q.text for q in language_reference.reference_questions()}
    return [text for text in dict.fromkeys(texts) if text not in known]


_FORMS: tuple[Callable[[Chunk], str], ...] = (lambda chunk: chunk.text, lambda chunk: chunk.headed)
