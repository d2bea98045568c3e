"""A catalogue of 2,000 look-alike error codes of payment terminals, and questions that quote one of them.

The faults, causes and remedies are written by hand in `data/error_codes.md`. A seed deals them out: about twenty codes
share a fault, most of them word for word but for the code, the model, a limit or the cause, as in a real catalogue.
Codes come in families that hold the same digits in another order (E-4471, E-4417, E-4147), and one entry in three names
a second code of its family in passing. Only `random.Random.random` is drawn from: it is the one method whose sequence
Python promises to keep.

In the data file `#` begins a component, `*` a fault (title | condition | cause | remedy), `+` a cause and its remedy
that fit every fault of the component; `{20|30}` is drawn for each entry.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import permutations
from random import Random
from typing import Literal, TypeAlias, TypeVar

from course_lib.corpora import DATA

FORMS = DATA / "error_codes.md"
VECTORS = DATA / "vectors" / "error_codes.npz"
SIZE = 2000
DEFAULT_SEED = 7

Slice: TypeAlias = Literal["exact", "respelled", "not in the catalogue"]
QUESTIONS_PER_SLICE: dict[Slice, int] = {"exact": 120, "respelled": 30, "not in the catalogue": 30}

# The two codes that the support articles explain as well mean the same here.
PINNED = {"E-4471": "firmware signature mismatch", "E-4417": "printer cover open"}

MODELS = ("C20 countertop", "C24 countertop", "P35 portable", "P38 portable", "K7 kiosk", "K9 kiosk", "M11 mobile")

TITLES = (
    "Error {code}: {fault}",
    "{code}: {fault}",
    "{code} on the {component}: {fault}",
    "{component} error {code}: {fault}",
)
OPENINGS = (
    "The {model} terminal shows {code} when {condition}.",
    "{code} is reported when {condition}.",
    "This code is logged when {condition}; seen on the {model} from firmware {version}.",
    "If {condition}, the {model} terminal stops and displays {code}.",
    "The {component} raises {code} as soon as {condition}.",
    "On {model} terminals {code} means that {condition}.",
    "From firmware {version} the {component} reports {code} when {condition}.",
)
CAUSES = (
    "Usual cause: {cause}.",
    "Most often {cause}.",
    "In most of the cases that we have seen, {cause}.",
    "Check first whether {cause}.",
    "This happens when {cause}.",
    "Reason: {cause}.",
)
REMEDIES = ("{Remedy}.", "To clear the error, {remedy}.", "What to do: {remedy}.", "Please {remedy}.")
CLOSINGS = (
    "If it comes back within {days} days, open a case and attach the service log.",
    "Payments go on working in the meantime.",
    "No payment is possible until this is done.",
    "Restart the terminal afterwards.",
    "The entry in the service log stays for {days} days.",
    "A technician needs about {minutes} minutes for this.",
    "Swap the terminal if the error is still there after the second try.",
)
MENTIONS = (
    "Not to be confused with {other}.",
    "If {other} is shown as well, deal with that one first.",
    "Older manuals list this under {other}.",
    "Often followed by {other}.",
)

ASKED = (
    "What does {code} mean?",
    "terminal shows {code} after the update",
    "{code}",
    "How do I get rid of {code}?",
    "error {code} since this morning",
    "Our {component} keeps reporting {code}. What can we do?",
    "customer is waiting, screen says {code}, help",
    "Is {code} dangerous or can I go on selling?",
    "We had {code} three times yesterday. Why?",
    "Do I need a technician for {code}?",
    "The till stopped with {code} in the middle of a payment.",
    "what is {code} and who fixes it",
    "I restarted it twice and {code} is still there.",
    "{code} again!",
    "meaning of error code {code}",
    "Which part do I have to order for {code}?",
    "New terminal out of the box displays {code}",
    "Can we still take cards while {code} is showing?",
    "A colleague wrote down {code} for the {component}. What is it?",
    "first aid for {code}, please",
)

T = TypeVar("T")


@dataclass(frozen=True)
class CodeArticle:
    """One entry of the catalogue. Its id is its code, e.g. "E-4471"."""

    id: str
    title: str
    body: str

    @property
    def chunk(self) -> str:
        """The entry as the classic pipeline encodes it: its title in front of its body."""
        return f"{self.title}: {self.body}"


@dataclass(frozen=True)
class CodeQuestion:
    """A question that quotes one code, and the id of the entry it is about: none where the catalogue lacks the code.

    Slices: "exact" writes the code as the catalogue does, "respelled" without the hyphen, with a blank or in small
    letters, "not in the catalogue" quotes a code of a family's digits that no entry explains or mentions.
    """

    text: str
    slice: Slice
    gold: tuple[str, ...]


@dataclass(frozen=True)
class _Fault:
    component: str
    title: str
    condition: str
    repairs: tuple[tuple[str, str], ...]  # (cause, remedy): the fault's own and those of its component


@dataclass
class _Component:
    name: str
    faults: list[list[str]] = field(default_factory=list)
    shared: list[tuple[str, str]] = field(default_factory=list)


@cache
def error_codes(seed: int = DEFAULT_SEED) -> tuple[CodeArticle, ...]:
    """Return the 2,000 entries of the catalogue of `seed`, in the order of their codes.

    >>> {article.id: article.title for article in error_codes()}["E-4471"]
    'E-4471: firmware signature mismatch'
    """
    return tuple(article for article, _ in _catalogue(seed))


@cache
def code_questions(seed: int = DEFAULT_SEED) -> tuple[CodeQuestion, ...]:
    """Return the questions about the catalogue of `seed`, slice by slice.

    >>> code_questions()[0]
    CodeQuestion(text='What does E-4471 mean?', slice='exact', gold=('E-4471',))
    """
    rng = Random(seed + 1)
    catalogue = _shuffled(rng, _catalogue(seed))
    entries = {article.id: fault.component for article, fault in catalogue}
    exact = [*PINNED, *(code for code in entries if code not in PINNED)]
    drawn: dict[Slice, list[str]] = {
        "exact": exact, "respelled": exact[QUESTIONS_PER_SLICE["exact"] :], "not in the catalogue": _absent(rng, seed),
    }  # fmt: skip
    questions: list[CodeQuestion] = []
    for name, codes in drawn.items():
        for number, code in enumerate(codes[: QUESTIONS_PER_SLICE[name]]):
            written = _respelled(code, number) if name == "respelled" else code
            text = ASKED[number % len(ASKED)].format(code=written, component=entries.get(code, "terminal"))
            questions.append(CodeQuestion(text, name, (code,) if code in entries else ()))
    return tuple(questions)


def cached_texts() -> list[str]:
    """Return every text whose vector is kept in `VECTORS`: the default catalogue and its questions."""
    return [*(article.chunk for article in error_codes()), *(question.text for question in code_questions())]


@cache
def _catalogue(seed: int) -> tuple[tuple[CodeArticle, _Fault], ...]:
    rng = Random(seed)
    codes = _draw_codes(rng)
    faults = _deal(rng, codes, _read_faults())
    families: dict[str, list[str]] = {}
    for code in codes:
        families.setdefault("".join(sorted(code)), []).append(code)
    house = {fault: _forms(rng) for fault in dict.fromkeys(faults.values())}
    entries = []
    for code in sorted(codes):
        fault, siblings = faults[code], [other for other in families["".join(sorted(code))] if other != code]
        entries.append((_write(rng, code, fault, house[fault], siblings), fault))
    return tuple(entries)


def _families(rng: Random) -> Iterator[list[str]]:
    """Yield families of codes with the same four digits, that of E-4471 first and the others in a drawn order."""
    digits = sorted({"".join(sorted(f"{number:04}")) for number in range(1000, 10000)} - {"1447"})
    for family in ["1447", *_shuffled(rng, digits)]:
        yield sorted({f"E-{''.join(order)}" for order in permutations(family) if order[0] != "0"})


def _draw_codes(rng: Random) -> list[str]:
    """Draw 2,000 codes: most of each family, so that a code that is missing looks like one that is there."""
    codes: list[str] = []
    for family in _families(rng):
        kept = [code for code in family if code in PINNED or rng.random() < 0.85]
        room = SIZE - len(codes)
        if len(kept) > 1 and len(kept) != room - 1:  # room for one code would leave it without a family
            codes += kept[:room]
    return codes


def _absent(rng: Random, seed: int) -> list[str]:
    """Return, in a drawn order, the codes that stand nowhere in the catalogue though others of their family do."""
    text = " ".join(article.chunk for article in error_codes(seed))
    there = {article.id for article in error_codes(seed)}
    families = {"".join(sorted(code)) for code in there}
    every = [f"E-{number}" for number in range(1000, 10000)]
    return _shuffled(rng, [code for code in every if "".join(sorted(code)) in families and code not in text])


def _respelled(code: str, number: int) -> str:
    """Write a code as people do, in one of three ways.

    >>> [_respelled("E-4471", number) for number in range(3)]
    ['E4471', 'e 4471', 'e4471']
    """
    return (code.replace("-", ""), code.replace("-", " ").lower(), code.replace("-", "").lower())[number % 3]


def _read_faults() -> list[_Fault]:
    components: list[_Component] = []
    for line in FORMS.read_text(encoding="utf-8").splitlines():
        mark, rest = line[:1], [part.strip() for part in line[1:].split(" | ")]
        if mark == "#":
            components.append(_Component(rest[0]))
        elif mark == "*":
            components[-1].faults.append(rest)
        elif mark == "+":
            components[-1].shared.append((rest[0], rest[1]))
    return [
        _Fault(component.name, title, condition, ((cause, remedy), *component.shared))
        for component in components
        for title, condition, cause, remedy in component.faults
    ]


def _deal(rng: Random, codes: list[str], faults: list[_Fault]) -> dict[str, _Fault]:
    """Give every code a fault, all faults equally often, and the pinned codes theirs."""
    dealt = {code: faults[number % len(faults)] for number, code in enumerate(_shuffled(rng, codes))}
    by_title = {fault.title: fault for fault in faults}
    return dealt | {code: by_title[title] for code, title in PINNED.items()}


def _write(rng: Random, code: str, fault: _Fault, house: list[str], siblings: Sequence[str]) -> CodeArticle:
    """Write one entry, mostly in the forms that the house uses for the fault, now and then naming a sibling."""
    own_cause = rng.random() < 0.5 or code in PINNED
    cause, remedy = fault.repairs[0] if own_cause else _pick(rng, fault.repairs[1:])
    words = {
        "code": code, "component": fault.component, "fault": fault.title, "condition": fault.condition,
        "cause": cause, "remedy": remedy, "Remedy": remedy[0].upper() + remedy[1:],
        "model": _pick(rng, MODELS), "version": f"{1 + int(rng.random() * 4)}.{int(rng.random() * 10)}",
        "days": _pick(rng, ("7", "14", "30", "90")), "minutes": _pick(rng, ("10", "20", "30", "45")),
        "other": _pick(rng, siblings),
    }  # fmt: skip
    forms = _forms(rng) if rng.random() < 0.3 else house
    forms = [*forms, _pick(rng, MENTIONS)] if rng.random() < 1 / 3 else forms
    title = _pick(rng, TITLES).format(**words)
    return CodeArticle(code, title[0].upper() + title[1:], _filled(rng, " ".join(forms).format(**words)))


def _forms(rng: Random) -> list[str]:
    forms = [_pick(rng, OPENINGS), _pick(rng, CAUSES), _pick(rng, REMEDIES)]
    return [*forms, _pick(rng, CLOSINGS)] if rng.random() < 0.6 else forms


def _filled(rng: Random, text: str) -> str:
    """Draw each `{20|30}` of a text."""
    return re.sub(r"\{([^{}]+)\}", lambda slot: _pick(rng, slot[1].split("|")), text)


def _pick(rng: Random, options: Sequence[T]) -> T:
    return options[int(rng.random() * len(options))]


def _shuffled(rng: Random, items: Sequence[T]) -> list[T]:
    keys = [rng.random() for _ in items]
    return [item for _, item in sorted(zip(keys, items, strict=True), key=lambda pair: pair[0])]
