"""A services agreement of 400 numbered sections and twelve schedules, and the one-hop questions asked of it.

The clauses are written by hand in `data/large_agreement.md`. A seed decides the order of the articles, the letters of
the schedules, which few clauses are left out, and every amount, period and variant of wording between braces. Only
`random.Random.random` is drawn from: it is the one method whose sequence Python promises to keep for a seed.

In the clause file `[Late payment]` stands for the section of that title and becomes "Section 30.3", `[#Late payment]`
becomes "30.3"; `{20|30} days` is drawn anew, `{late=8|9}` is drawn once and can be quoted by the questions.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import NamedTuple, TypeVar

from course_lib.corpora import DATA
from course_lib.corpora.agreement import Section

CLAUSES = DATA / "large_agreement.md"
VECTORS = DATA / "vectors" / "large_agreement.npz"
NUMBERED = 400
DEFAULT_SEED = 7
LETTERS = "ABCDEFGHIJKL"

POINTER = re.compile(r"\[(#?)([^\]]+)\]")
SLOT = re.compile(r"\{(?:(\w+)=)?([^{}]+)\}")

T = TypeVar("T")


@dataclass(frozen=True)
class OneHopQuestion:
    """A question whose answer stands one reference away: `pointer` names `target`, and `target` holds `answer`."""

    text: str
    pointer: str
    target: str
    answer: str

    @property
    def gold(self) -> tuple[str, str]:
        """The ids of both sections that are needed, the pointer first."""
        return self.pointer, self.target


# By title of the target: the question, the title of the pointer, the answer as the target words it.
QUESTIONS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "Rates and charges": (
        ("How much interest do we owe if we pay an invoice 20 days late?", "Late payment", "{late}% per year"),
        (
            "What does an hour of extra work by the most senior consultant cost?",
            "Time and materials work",
            "EUR {grade3} per hour",
        ),
        (
            "What surcharge do we pay for work that we order on a Sunday?",
            "Work at night and at weekends",
            "Sunday, bank holiday: +{sunday}%",
        ),
        ("How big a discount can we deduct if we pay an invoice early?", "Early payment", "{discount}% off"),
        (
            "What do we have to pay to get a suspended service switched on again?",
            "Switching the service back on",
            "EUR {reinstate} per environment",
        ),
        ("What does additional storage cost?", "Additional storage", "EUR {disk} per GB-month"),
        ("How much is reimbursed for driving to a customer site in a private car?", "Private cars", "EUR {km} per km"),
        ("How much may a hotel night cost on a business trip?", "Hotel accommodation", "EUR {hotel} maximum"),
    ),
    "Service levels and credits": (
        (
            "What do we get back if availability falls below the target?",
            "Service credits",
            "{credit}% of the fixed amount",
        ),
        ("How much can be deducted in service credits in one month at most?", "Ceiling on service credits", "{cap}%"),
        ("How fast must a technician react to a critical fault?", "Responding to critical faults", "start {p1} min"),
        ("How long may users wait in the queue when they telephone the service desk?", "Answering calls", "{asa} s"),
        ("When may the provider take the systems down for planned maintenance?", "Planned maintenance", "{window}"),
    ),
    "Roles and staffing": (
        ("How long must the project lead stay with our account?", "Keeping key people", "{tenure} months"),
        (
            "How long do the predecessor and the successor of a key person work together?",
            "Replacing key people",
            "{overlap} Working Days",
        ),
        (
            "What does the provider pay if it takes a key person away too early?",
            "Removing a key person too early",
            "EUR {withdrawal}",
        ),
    ),
    "Processing of personal data": (
        (
            "How quickly must the provider tell us about a breach of personal data?",
            "Telling the Customer about a breach",
            "{alert} h after discovery",
        ),
        ("For how long are records about users' activity kept?", "Retention of personal data", "{logs} days"),
        ("In which countries may our data be stored?", "Where personal data is kept", "{places}"),
    ),
    "Security requirements": (
        ("How long must a password be at least?", "Passwords", "{password} characters"),
        ("How often must penetration tests be carried out?", "Penetration tests", "{pentest}"),
        ("How soon does a critical vulnerability have to be patched?", "Patching", "{patch} h"),
        ("After how many minutes does an unused screen lock itself?", "Idle sessions", "{idle} min"),
    ),
    "Insurance amounts and limits": (
        (
            "What is the most that the provider must pay us in damages in one year?",
            "Overall limit on damages",
            "EUR {aggregate} million",
        ),
        ("From what amount can we claim for damage?", "Small claims", "EUR {minimis}"),
        (
            "For how much must the provider be insured against professional mistakes?",
            "Professional liability cover",
            "EUR {pi} million any one event",
        ),
        (
            "How large an excess may the provider's insurance policies have?",
            "Excess under the policies",
            "EUR {deductible}",
        ),
    ),
    "Exit parameters": (
        (
            "What fee do we pay if we leave the contract in the first year without a reason?",
            "Payment for ending early",
            "{break1}% of residual base",
        ),
        (
            "How long must the provider go on helping us after the contract has ended?",
            "Help after the end",
            "{rundown} months",
        ),
        ("In which file format do we get our data back?", "Return of data", "{dump}"),
    ),
    "Governance and contacts": (
        ("How often do the senior executives of both companies meet?", "Executive meetings", "{board}"),
        (
            "To which address do we have to send a formal notice to the customer?",
            "Where notices go",
            "{mail}@customer.example",
        ),
        (
            "After how many days does a dispute move up to the next management level?",
            "Escalation of disputes",
            "{level} Working Days",
        ),
    ),
    "Acceptance criteria": (
        ("How many days do we have to test delivered software?", "Time for testing", "{uat} Working Days"),
        (
            "How many moderate bugs may remain when we accept the software?",
            "Passing the acceptance test",
            "class 2 up to {residual}",
        ),
        ("What penalty can we deduct for each week that a delivery is late?", "Late delivery", "{slip}% per week"),
    ),
    "Continuity parameters": (
        (
            "How long may it take to get the most important systems running after a disaster?",
            "Recovery after a disaster",
            "RTO {rto} h",
        ),
        ("How much of the most recent data may be lost in a disaster?", "Loss of recent data", "RPO {rpo} min"),
        ("How often do we have to take part in an emergency exercise?", "Emergency exercises", "{rehearsal}"),
    ),
    "Sites and access": (
        ("At what time are technicians let into our buildings?", "Access to the buildings", "{gate}"),
        (
            "How many desks do we provide for the provider's people in our main office?",
            "Desks for the Provider",
            "{seats} HQ",
        ),
    ),
    "Equipment, software and deposits": (
        ("How often are laptops renewed?", "Renewal of devices", "notebooks {refresh} months"),
        (
            "How long does it take until a broken laptop is replaced?",
            "Replacing a broken device",
            "{swap} business hours",
        ),
        (
            "How large a stock of spare parts must the provider keep?",
            "Stock of spare parts",
            "{buffer}% of installed base",
        ),
        ("How many people may use the platform before we have to buy extra licences?", "Number of users", "{accounts}"),
        ("How often must the source code at the escrow agent be updated?", "Updating the deposit", "{vault}"),
    ),
    "Meaning of Rectification Window": (
        ("How long is the warranty on delivered software?", "Putting defects right", "{warranty} months"),
    ),
    "Cut-off for queries": (
        ("How many days do we have to object to a wrong invoice?", "Disputed invoices", "{query} days"),
    ),
    "Collar": (
        ("By how much can prices increase in one year at most?", "Annual price adjustment", "never above {collar}"),
    ),
    "Effect of silence": (
        (
            "What happens if we do not answer a request to approve a subcontractor, and after how many days?",
            "Approval of subcontractors",
            "{silence} Working Days is deemed declined",
        ),
    ),
    "Survival": (
        (
            "For how long after the contract do we have to keep the other party's secrets?",
            "Duration of confidentiality",
            "{secrecy} years",
        ),
    ),
    "Lead times": (
        (
            "How many days of notice must we give to end the contract without a reason?",
            "Ending without a reason",
            "{convenience} days",
        ),
    ),
}


@cache
def _agreement(seed: int) -> tuple[tuple[Section, ...], tuple[OneHopQuestion, ...]]:
    """Draw the agreement of a seed and its questions, whose answers quote the drawn values."""
    rng = Random(seed)
    *parts, [schedules] = _read_parts()
    values = _draw_named_values(rng, [*parts, [schedules]])
    articles = [article for part in parts for article in _shuffled(rng, part)]
    articles = _cut_to_size(rng, articles)
    drafts = _numbered(articles) + _lettered(_shuffled(rng, schedules.clauses))
    ids = {draft.title: draft.id for draft in drafts}
    sections = tuple(_written_out(rng, draft, values, ids) for draft in drafts)
    return sections, _ask(values, ids)


def large_agreement(seed: int = DEFAULT_SEED) -> tuple[Section, ...]:
    """Return the 400 numbered sections and then Schedules A to L of the agreement that belongs to `seed`.

    >>> [section.id for section in large_agreement()[399:402]]
    ['47.12', 'A', 'B']
    """
    return _agreement(seed)[0]


def one_hop_questions(seed: int = DEFAULT_SEED) -> tuple[OneHopQuestion, ...]:
    """Return the questions with the ids and the answers that they have in the agreement of `seed`.

    >>> one_hop_questions()[0].text
    'How much interest do we owe if we pay an invoice 20 days late?'
    """
    return _agreement(seed)[1]


def cached_texts() -> list[str]:
    """Return every text whose vector is kept in `VECTORS`: the default agreement and its questions."""
    return [*(section.chunk for section in large_agreement()), *(q.text for q in one_hop_questions())]


class _Article(NamedTuple):
    title: str
    clauses: list[Section]  # without an id, and with the text as it stands in the clause file


def _read_parts() -> list[list[_Article]]:
    """Read the clause file: parts between rules, articles under `#`, clauses under `##`; the schedules come last."""
    parts = CLAUSES.read_text(encoding="utf-8").split("\n---\n")
    return [[_read_article(article) for article in re.split(r"^# ", part, flags=re.M)[1:]] for part in parts]


def _read_article(markdown: str) -> _Article:
    title, *clauses = re.split(r"^## ", markdown, flags=re.M)
    heads_and_texts = (clause.strip().split("\n", 1) for clause in clauses)
    return _Article(title.strip(), [Section("", head, text.strip()) for head, text in heads_and_texts])


def _pick(rng: Random, options: Sequence[T]) -> T:
    return options[int(rng.random() * len(options))]


def _shuffled(rng: Random, items: Sequence[T]) -> list[T]:
    keys = [rng.random() for _ in items]
    return [item for _, item in sorted(zip(keys, items, strict=True), key=lambda pair: pair[0])]


def _draw_named_values(rng: Random, parts: list[list[_Article]]) -> dict[str, str]:
    """Draw each `{name=a|b}` once, in the order of the clause file."""
    texts = (clause.text for part in parts for article in part for clause in article.clauses)
    named = [slot for text in texts for slot in SLOT.findall(text) if slot[0]]
    return {name: _pick(rng, options.split("|")) for name, options in named}


def _cut_to_size(rng: Random, articles: list[_Article]) -> list[_Article]:
    """Leave out as many clauses as there are too many, but none that another clause or a question needs."""
    clauses = [clause for article in articles for clause in article.clauses]
    needed = {title for clause in clauses for _, title in POINTER.findall(clause.text)}
    needed |= {title for target, rows in QUESTIONS.items() for _, pointer, _ in rows for title in (pointer, target)}
    spare = [clause.title for clause in clauses if clause.title not in needed]
    dropped = set(_shuffled(rng, spare)[: len(clauses) - NUMBERED])
    return [_Article(title, [c for c in clauses if c.title not in dropped]) for title, clauses in articles]


def _numbered(articles: list[_Article]) -> list[Section]:
    return [
        replace(clause, id=f"{chapter}.{number}")
        for chapter, article in enumerate(articles, start=1)
        for number, clause in enumerate(article.clauses, start=1)
    ]


def _lettered(schedules: list[Section]) -> list[Section]:
    return [replace(schedule, id=letter) for letter, schedule in zip(LETTERS, schedules, strict=True)]


def _written_out(rng: Random, draft: Section, values: dict[str, str], ids: dict[str, str]) -> Section:
    """Replace the slots of a clause by drawn values and its pointers by numbers."""

    def draw(slot: re.Match[str]) -> str:
        name, options = slot.groups()
        return values[name] if name else _pick(rng, options.split("|"))

    def point(pointer: re.Match[str]) -> str:
        bare, title = pointer.groups()
        if title not in ids:
            raise ValueError(f"{draft.title!r} points to {title!r}, which is no title in {CLAUSES.name}.")
        return ids[title] if bare else _called(ids[title])

    text = POINTER.sub(point, SLOT.sub(draw, draft.text))
    title = f"Schedule {draft.id}: {draft.title}" if draft.id in LETTERS else draft.title
    return Section(draft.id, title, text)


def _called(section_id: str) -> str:
    return f"Schedule {section_id}" if section_id in LETTERS else f"Section {section_id}"


def _ask(values: dict[str, str], ids: dict[str, str]) -> tuple[OneHopQuestion, ...]:
    return tuple(
        OneHopQuestion(text, ids[pointer], ids[target], answer.format_map(values))
        for target, rows in QUESTIONS.items()
        for text, pointer, answer in rows
    )
