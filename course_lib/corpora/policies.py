"""Twelve finance policies of 20 to 80 pages, and 24 questions whose answer stands in an appendix that a section names.

What is particular to a policy (its things, two sections that point to a table, the two tables) and the
sentences that policies share are written by hand in `data/policies.md`. A seed deals the sentences out. As in real
policies the words of a question stand everywhere, and the number only in the table. Only `random.Random.random` is
drawn from: it is the one method whose sequence Python promises to keep for a seed.

In the data file `#` begins a policy (key | title | who owns it), `-` names what it deals with, `>` is a section
that points, `=` a table (id | title | note | rows), `?` a question (text | section | table | row); `@` begins a kind of
section that every thing has, `%` one that a policy has once; `{20|30}` is drawn anew each time.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import TypeAlias, TypeVar

from course_lib.corpora import DATA

SENTENCES = DATA / "policies.md"
VECTORS = DATA / "vectors" / "policies.npz"
SEED = 12
SENTENCES_A_SECTION = 9
ONCE_BEFORE = ("Purpose", "Scope", "Meaning of terms", "How to read this policy"), (
    "Employees", "Managers", "Finance", "Internal audit",
)  # fmt: skip
ONCE_AFTER = ("Keeping records", "Exceptions", "Breaches", "Review of this policy")
SLOT = re.compile(r"\{([^{}]+)\}")

Rows: TypeAlias = tuple[tuple[str, ...], ...]
T = TypeVar("T")


@dataclass(frozen=True)
class Part:
    """A heading of a policy and the text under it, up to the next heading; `level` is 1 for a chapter or appendix."""

    id: str
    title: str
    level: int
    text: str

    @property
    def heading(self) -> str:
        """The heading as it is printed: "5.4 Approval limits of managers", "Appendix 2: Delegation of authority"."""
        return f"Appendix {self.id[1:]}: {self.title}" if self.id.startswith("A") else f"{self.id} {self.title}"


@dataclass(frozen=True)
class Policy:
    """One policy, e.g. key "procurement"; at 500 tokens a page it has 20 to 80 pages."""

    key: str
    title: str
    owner: str
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The document as one text: each heading on a line of its own, blank lines between."""
        return "".join(
            f"{part.heading}\n{part.text}\n\n" if part.text else f"{part.heading}\n\n" for part in self.parts
        )


@dataclass(frozen=True)
class PolicyQuestion:
    """A question, the policy it is about, the section that points, the appendix with the answer, and its table row."""

    text: str
    policy: str
    pointer: str
    target: str
    answer: str


@dataclass
class _Plan:
    """What the data file says of one policy."""

    key: str
    title: str
    owner: str
    things: list[str] = field(default_factory=list)
    pointers: list[tuple[str, str, str]] = field(default_factory=list)
    tables: list[tuple[str, str, str]] = field(default_factory=list)
    questions: list[PolicyQuestion] = field(default_factory=list)


@cache
def policies(seed: int = SEED) -> tuple[Policy, ...]:
    """Return the twelve policies, the procurement policy with the delegation matrix first.

    >>> [part.heading for part in policies()[0].parts if part.id in ("5.4", "A2")]
    ['5.4 Approval limits of managers', 'Appendix 2: Delegation of authority']
    """
    plans, every, once = _read()
    rng = Random(seed)
    return tuple(_written(rng, plan, every, once) for plan in plans)


@cache
def policy_questions() -> tuple[PolicyQuestion, ...]:
    """Return two questions for each policy; the first is the one about the department manager's approval limit."""
    return tuple(question for plan in _read()[0] for question in plan.questions)


@cache
def chunks(heading_paths: bool = False) -> dict[str, str]:
    """Return a chunk for each section and table, by ids such as "procurement 5.4": its heading, and its text below.

    With `heading_paths` the titles of policy and chapter stand in front of the heading.
    """
    found = dict[str, str]()
    for policy in policies():
        chapter = ""
        for part in policy.parts:
            chapter = f"{part.heading} > " if part.level == 1 and not part.text else chapter if part.level > 1 else ""
            path = f"{policy.title} > {chapter}" if heading_paths else ""
            if part.text:
                found[f"{policy.key} {part.id}"] = f"{path}{part.heading}\n{part.text}"
    return found


def texts_with_vectors() -> list[str]:
    """Return every text whose vector is kept in `VECTORS`: the chunks with and without their paths, the questions.

    They are long: to encode them takes a quarter of an hour, where the other corpora take a minute or two.
    """
    return [
        *chunks().values(),
        *chunks(heading_paths=True).values(),
        *(question.text for question in policy_questions()),
    ]


# --- Reading the data file ------------------------------------------------------------------------------------------

Kinds: TypeAlias = dict[str, list[str]]  # the title of a kind of section, and the sentences it may have


@cache
def _read() -> tuple[tuple[_Plan, ...], Kinds, Kinds]:
    plans, every, once = list[_Plan](), Kinds(), Kinds()
    into = list[str]()
    for line in filter(str.strip, SENTENCES.read_text(encoding="utf-8").splitlines()):
        mark, rest = (line[0], line[2:]) if line[1:2] == " " and line[0] in "#->=?@%" else ("", line)
        fields = [part.strip().replace("\\|", "|") for part in re.split(r" (?<!\\)\| ", rest)]
        if mark == "#":
            plans.append(_Plan(fields[0], fields[1], fields[2]))
        elif mark == "-":
            plans[-1].things.append(rest)
        elif mark == ">":
            plans[-1].pointers.append((fields[0], fields[1], fields[2]))
        elif mark == "=":
            plans[-1].tables.append((fields[0], fields[1], f"{fields[2]}\n{_table(fields[3])}"))
        elif mark == "?":
            plans[-1].questions.append(PolicyQuestion(fields[0], plans[-1].key, *fields[1:]))
        elif mark:
            into = (every if mark == "@" else once).setdefault(rest, [])
        else:
            into.append(line)
    return tuple(plans), every, once


def _table(rows: str) -> str:
    """Return the rows of a table, one a line, its cells between bars.

    >>> _table("Level; Held by / 1; Team lead")
    '| Level | Held by |\\n| 1 | Team lead |'
    """
    cells = (row.split(";") for row in rows.split(" / "))
    return "\n".join("| " + " | ".join(cell.strip() for cell in row) + " |" for row in cells)


# --- Writing a policy -----------------------------------------------------------------------------------------------


def _written(rng: Random, plan: _Plan, every: Kinds, once: Kinds) -> Policy:
    """Write the fixed chapters, a chapter for each thing, the last chapter, the appendices."""
    words = {"owner": plan.owner, "list": f"{', '.join(plan.things[:3])} and {plan.things[3]}"}
    parts = [
        *_chapter(1, "Purpose and scope", [(name, _text(rng, once[name], words)) for name in ONCE_BEFORE[0]]),
        *_chapter(2, "Roles", [(name, _text(rng, once[name], words)) for name in ONCE_BEFORE[1]]),
    ]
    for number, thing in enumerate(plan.things, 3):
        sections = [
            (_named(kind, thing), _text(rng, sentences, {**words, "things": thing, "last": str(number - 1)}))
            for kind, sentences in _shuffled(rng, list(every.items()))
        ]
        title = f"{_capital(thing)}; amounts and levels" if number in (5, 6) else _capital(thing)
        parts += _chapter(number, title, _with_pointers(number, sections, plan))
    last = len(plan.things) + 3
    parts += _chapter(last, "Records, exceptions, review", [(n, _text(rng, once[n], words)) for n in ONCE_AFTER])
    tables = [("A1", "Forms, reasons and periods", _forms(rng, plan)), *plan.tables]
    parts += [Part(id, title, 1, text) for id, title, text in tables]
    return Policy(plan.key, plan.title, plan.owner, tuple(parts))


def _chapter(number: int, title: str, sections: Sequence[tuple[str, str]]) -> Iterator[Part]:
    yield Part(str(number), title, 1, "")
    for at, (name, text) in enumerate(sections, 1):
        yield Part(f"{number}.{at}", name, 2, text)


def _with_pointers(number: int, sections: list[tuple[str, str]], plan: _Plan) -> list[tuple[str, str]]:
    """Put the sections of the plan that belong to this chapter where their numbers say."""
    for id, title, text in plan.pointers:
        chapter, place = map(int, id.split("."))
        if chapter == number:
            sections.insert(place - 1, (title, text))
    return sections


def _text(rng: Random, sentences: Sequence[str], words: dict[str, str]) -> str:
    """Return some of the sentences, in a drawn order, with their slots filled."""
    return " ".join(_filled(rng, sentence, words) for sentence in _shuffled(rng, sentences)[:SENTENCES_A_SECTION])


def _filled(rng: Random, sentence: str, words: dict[str, str]) -> str:
    def fill(slot: re.Match[str]) -> str:
        name = slot[1]
        if name == "ref":  # a section of a chapter that is already written
            return f"Section {3 + int(rng.random() * max(int(words['last']) - 2, 1))}.{1 + int(rng.random() * 12)}"
        return words["owner"] if name == "officer" else words[name] if name in words else _pick(rng, name.split("|"))

    return _capital(SLOT.sub(fill, sentence))


def _named(kind: str, thing: str) -> str:
    return kind.replace("{things}", thing).replace("{Things}", _capital(thing))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _forms(rng: Random, plan: _Plan) -> str:
    """Return the table of forms that every policy has."""
    letter = plan.key[0].upper()
    rows = [f"{thing}; {letter}-{n}; {_pick(rng, ('6', '8', '10'))} years" for n, thing in enumerate(plan.things, 1)]
    return "Forms, and how long records are kept.\n" + _table(" / ".join(["Matter; Form; Kept", *rows]))


def _pick(rng: Random, options: Sequence[T]) -> T:
    return options[int(rng.random() * len(options))]


def _shuffled(rng: Random, items: Sequence[T]) -> list[T]:
    keys = [rng.random() for _ in items]
    return [item for _, item in sorted(zip(keys, items, strict=True), key=lambda pair: pair[0])]
