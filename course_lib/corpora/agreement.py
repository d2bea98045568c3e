"""The services agreement of fourteen sections, and the questions the opening notebook asks of it."""

import json
from dataclasses import dataclass
from functools import cache

from course_lib.corpora import DATA

VECTORS = DATA / "vectors" / "agreement.npz"


@dataclass(frozen=True)
class Section:
    """One numbered section or schedule, e.g. id "7.3", title "Late payment"."""

    id: str
    title: str
    text: str

    @property
    def chunk(self) -> str:
        """The section as the classic pipeline encodes it: its heading in front of its text."""
        return f"{self.title}: {self.text}"


@dataclass(frozen=True)
class LabelledQuestion:
    """A question and the ids of the sections that are needed to answer it."""

    text: str
    gold: tuple[str, ...]


LATE_PAYMENT = LabelledQuestion("How much interest do we owe if we pay an invoice 20 days late?", ("7.3", "B"))

QUESTIONS = (
    LATE_PAYMENT,
    LabelledQuestion("Can the provider suspend the service if we pay 50 days late?", ("8",)),
    LabelledQuestion("What happens to our data if we terminate for convenience?", ("9.1", "4")),
    LabelledQuestion("What do we get back in a month with 99.7% availability?", ("3", "A")),
    LabelledQuestion("What does it cost to have the service switched on again after suspension?", ("B",)),
)

# The analyst's question as four other people might have put it.
REWORDINGS = (
    "What do we owe in interest if we pay an invoice 20 days late?",
    "How much interest do we owe if we pay a bill 20 days late?",
    "How much interest must we pay for an invoice that is 20 days overdue?",
    "How much interest is due if an invoice is paid 20 days late?",
)

# For the refresher on embeddings: one meaning in two wordings, and one word in two meanings.
REFRESHER = (
    "When must we pay the bill?",
    "Invoices are due 30 days after the invoice date.",
    "The duck cleaned its bill in the pond.",
)


@cache
def sections() -> tuple[Section, ...]:
    """Return the agreement's fourteen sections in the order of the document."""
    entries = json.loads((DATA / "agreement.json").read_text(encoding="utf-8"))
    return tuple(Section(entry["id"], entry["title"], entry["text"]) for entry in entries)


def cached_texts() -> list[str]:
    """Return every text whose vector is kept in `VECTORS`."""
    return [*(section.chunk for section in sections()), *(q.text for q in QUESTIONS), *REWORDINGS, *REFRESHER]
