"""The language reference that every Python carries (`help("booleans")` shows it), and labelled questions about it.

Nothing of the text is kept here: it is read from the running Python, so it differs a little from version to version.
The questions are labelled so that they hold on 3.11, 3.12 and 3.13: each names the decisive words of its answer, and a
test looks for them. The reference repeats itself (the topic "if" stands inside "compound" as well), so a question's
gold is every topic that holds the answer.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from course_lib.corpora import DATA

VECTORS = DATA / "vectors" / "language_reference.npz"
LONGEST = 1000  # characters: about what MiniLM reads before it stops

HEADING = re.compile(r"^(?P<title>\S.*)\n(?P<line>([*=\-~^])\3{2,})$", flags=re.M)
LEVELS = "*=-~^"

Slice: TypeAlias = Literal["identifier", "keyword", "paraphrase", "no answer"]


@dataclass(frozen=True)
class ReferenceText:
    """A whole topic, with the topic's key as id, or one section of a topic, with an id such as "numbers#2"."""

    id: str
    topic: str
    title: str
    body: str

    @property
    def chunk(self) -> str:
        """The text as the classic pipeline encodes it: its title in front of its body."""
        return f"{self.title}: {self.body}"


@dataclass(frozen=True)
class ReferenceQuestion:
    """A question, the topics that answer it, and the words by which the answer is known.

    Every topic of `gold` holds at least one phrase of `evidence`, and no other topic holds one (white space aside).
    Where the slice is "no answer", `gold` is empty and `evidence` is what the question is about: no topic mentions it.
    """

    text: str
    slice: Slice
    gold: tuple[str, ...]
    evidence: tuple[str, ...]


@cache
def topics() -> tuple[ReferenceText, ...]:
    """Return the topics of the running Python (79 in 3.11 to 3.13), whole and in alphabetical order.

    >>> [topic.title for topic in topics() if topic.id == "booleans"]
    ['Boolean operations']
    """
    from pydoc_data.topics import topics as texts

    return tuple(_whole(key, text) for key, text in sorted(texts.items()))


@cache
def sections() -> tuple[ReferenceText, ...]:
    """Return all topics cut at their headings, and between paragraphs where a section is longer than `LONGEST`.

    A topic that is short and has one heading stays whole and keeps its key as id. The title of a section is the path
    of headings that leads to it.

    >>> [section.title for section in sections() if section.id == "comparisons#5"][0].split(" > ")[0]
    'Comparisons'
    """
    return tuple(section for topic in topics() for section in _cut(topic))


@cache
def reference_questions() -> tuple[ReferenceQuestion, ...]:
    """Return the 80 questions, twenty a slice.

    >>> reference_questions()[1].text, reference_questions()[1].gold
    ('PEP 343', ('compound', 'context-managers', 'specialnames', 'with'))
    """
    rows = json.loads((DATA / "language_reference.json").read_text(encoding="utf-8"))
    return tuple(
        ReferenceQuestion(row["text"], row["slice"], tuple(row["gold"]), tuple(row["evidence"])) for row in rows
    )


def gold_sections(question: ReferenceQuestion) -> tuple[str, ...]:
    """Return the ids of the sections that hold the answer on the running Python: those with a phrase of the evidence.

    >>> [section.split("#")[0] for section in gold_sections(reference_questions()[6])]
    ['string-methods']
    """
    if not question.gold:
        return ()
    return tuple(text.id for text in sections() if any(holds(text, phrase) for phrase in question.evidence))


def holds(text: ReferenceText, phrase: str) -> bool:
    """Say whether a text contains a phrase, however the lines are broken."""
    return phrase in " ".join(text.body.split())


def cached_texts() -> list[str]:
    """Return every text whose vector is kept in `VECTORS`: topics and sections of the running Python, and questions.

    The file in the repository is made by Python 3.11. On another version the texts that differ are encoded afresh:
    102 of 680 different texts on 3.12.1, 259 of 691 on 3.13.0.
    """
    texts = [text.chunk for text in (*topics(), *sections())]
    return [*texts, *(question.text for question in reference_questions())]


def _whole(key: str, text: str) -> ReferenceText:
    heading = HEADING.search(text)
    if heading is None:
        return ReferenceText(key, key, key, text.strip())
    return ReferenceText(key, key, heading["title"], text[heading.end() :].strip())


def _cut(topic: ReferenceText) -> list[ReferenceText]:
    """Cut one topic into sections, numbered from 1 if there is more than one."""
    pieces = [(title, piece) for title, text in _by_heading(topic) for piece in _packed(text)]
    if len(pieces) == 1:
        return [topic]
    return [
        ReferenceText(f"{topic.id}#{number}", topic.id, title, piece) for number, (title, piece) in enumerate(pieces, 1)
    ]


def _by_heading(topic: ReferenceText) -> Iterator[tuple[str, str]]:
    """Yield (path of headings, text below the last of them) in the order of the topic."""
    path, start = [topic.title], 0
    for heading in HEADING.finditer(topic.body):
        if len(heading["line"]) != len(heading["title"]):
            continue
        yield " > ".join(path), topic.body[start : heading.start()]
        path = [*path[: LEVELS.index(heading["line"][0])], heading["title"]]
        start = heading.end()
    yield " > ".join(path), topic.body[start:]


def _packed(text: str) -> list[str]:
    """Pack whole paragraphs into pieces of about `LONGEST` characters.

    An indented paragraph (what a method does, an example) stays with the line above it; a longer one is never cut.
    """
    pieces: list[str] = []
    for paragraph in (part.strip("\n") for part in text.split("\n\n")):
        size = len(pieces[-1]) if pieces else 0
        fits = size + len(paragraph) <= LONGEST or (paragraph.startswith(" ") and size <= LONGEST)
        if not paragraph.strip():
            continue
        if pieces and fits:
            pieces[-1] += "\n\n" + paragraph
        else:
            pieces.append(paragraph)
    return pieces
