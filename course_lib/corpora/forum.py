"""A support bot's official articles, 5,000 forum posts that were imported into its index, and labelled questions.

Official are the eight support articles and the catalogue of error codes. In one post of four somebody pastes a code
while asking about something else; a few codes are pasted often. Twelve threads hold what no article does. Topics and
phrases are written by hand in `data/forum.md`, a seed deals them out. It is a seed for which the article on E-4471
comes third after the import, as in the lesson's story; for other codes that are pasted often it is another place, which
the questions here show. Only `random.Random.random` is drawn from: it is the one method whose sequence Python promises
to keep for a seed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Literal, TypeAlias, TypeVar

from course_lib.corpora import DATA
from course_lib.corpora.error_codes import MODELS, PINNED, code_questions, error_codes
from course_lib.corpora.support_kb import articles

PHRASES = DATA / "forum.md"
SEED = 3
SIZE = 5000
PASTED = 0.25  # share of posts with a code in them
OFTEN = 0.1  # share of pasted codes that are one of the few that everybody has seen
WITHOUT_A_CODE = (
    ("Contactless payments are declined, what should I check?", "kb-106"),
    ("Which thermal paper rolls fit?", "kb-108"),
)
MONTHS = ("January", "March", "May", "July", "September", "November", "December")
SLOT = re.compile(r"\{(\w+)\}")

Source: TypeAlias = Literal["official", "forum"]
T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """An article, an entry of the catalogue or a post, and where it comes from."""

    id: str
    title: str
    body: str
    source: Source

    @property
    def document(self) -> tuple[str, str, str]:
        """The entry as `bm25.Index` takes documents: (id, title, text)."""
        return self.id, self.title, self.body


@dataclass(frozen=True)
class ForumQuestion:
    """A question, the source that can answer it, and the id of the one entry that does."""

    text: str
    source: Source
    gold: tuple[str, ...]


@cache
def official() -> tuple[Entry, ...]:
    """Return the articles and the catalogue, which leaves out the two codes that an article explains."""
    found = [Entry(one.id, one.title, one.body, "official") for one in articles()]
    return (*found, *(Entry(e.id, e.title, e.body, "official") for e in error_codes() if e.id not in PINNED))


@cache
def often_pasted() -> tuple[str, ...]:
    """Return the codes that many people have seen: those of the articles, and seven of the catalogue."""
    asked = [question.gold[0] for question in code_questions() if question.slice == "exact"]
    return ("E-4471", "E-104", "E-4417", *(code for code in asked if code not in PINNED))[:10]


@cache
def posts(seed: int = SEED) -> tuple[Entry, ...]:
    """Return the 5,000 posts; the twelve threads that hold what no article does stand among them."""
    kinds, rng = _read(), Random(seed)
    threads = kinds["!"]
    places = {int(rng.random() * SIZE): thread for thread in threads}
    while len(places) < len(threads):  # two drew the same place
        places = {int(rng.random() * SIZE): thread for thread in threads}
    return tuple(_post(rng, number, kinds, places.get(number)) for number in range(SIZE))


@cache
def forum_questions(seed: int = SEED) -> tuple[ForumQuestion, ...]:
    """Return twelve questions that an official article answers, then twelve that only a thread does.

    Two of the first name no code, and two of the second name one.

    >>> forum_questions()[0]
    ForumQuestion(text='What does E-4471 mean?', source='official', gold=('kb-102',))
    """
    kb = {"E-4471": "kb-102", "E-104": "kb-101", "E-4417": "kb-103"}
    wording = ("What does {} mean?", "E{} again, what now?", "terminal shows {}", "What can we do about {}?")
    asked = [
        ForumQuestion(wording[n % 4].format(code if n % 4 != 1 else code[1:]), "official", (kb.get(code, code),))
        for n, code in enumerate(often_pasted())
    ]
    asked += [ForumQuestion(text, "official", (id,)) for text, id in WITHOUT_A_CODE]
    by_title = {post.title: post.id for post in posts(seed)}
    threads = (ForumQuestion(text, "forum", (by_title[title],)) for title, _, text in _read()["!"])
    return (*asked, *threads)


# --- Writing a post -------------------------------------------------------------------------------------------------


@cache
def _read() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return the lines of the data file by their mark, cut into fields."""
    kinds: dict[str, list[tuple[str, ...]]] = {mark: [] for mark in "*+-~!"}
    for line in PHRASES.read_text(encoding="utf-8").splitlines():
        if line[:1] in kinds:
            kinds[line[0]].append(tuple(part.strip() for part in line[1:].split(" | ")))
    return {mark: tuple(lines) for mark, lines in kinds.items()}


def _post(
    rng: Random, number: int, kinds: dict[str, tuple[tuple[str, ...], ...]], thread: tuple[str, ...] | None
) -> Entry:
    title, asked, answered = thread or _pick(rng, kinds["*"])
    parts = [asked] if thread else [_pick(rng, kinds["-"])[0], asked]
    if rng.random() < PASTED:
        parts.append(_pick(rng, kinds["+"])[0])
    if thread is None and rng.random() < 0.6:
        parts.append(_pick(rng, kinds["~"])[0])
    if thread is None and rng.random() < 0.7:
        parts.append(f"Answer: {answered}")
    words = {
        "model": _pick(rng, MODELS), "month": _pick(rng, MONTHS), "n": str(2 + int(rng.random() * 40)),
        "d": str(int(rng.random() * 4)), "code": _code(rng), "code2": _code(rng), "code3": _code(rng),
    }  # fmt: skip
    text = SLOT.sub(lambda slot: words[slot[1]], f"{title}\n{' '.join(parts)}")
    title, body = text.split("\n", 1)
    return Entry(f"f-{number:04d}", title, body, "forum")


def _code(rng: Random) -> str:
    """Draw one of the codes that everybody has seen, or any of the catalogue's."""
    often = rng.random() < OFTEN
    return _pick(rng, often_pasted()) if often else _pick(rng, _every_code())


@cache
def _every_code() -> tuple[str, ...]:
    return tuple(entry.id for entry in error_codes())


def _pick(rng: Random, options: Sequence[T]) -> T:
    return options[int(rng.random() * len(options))]
