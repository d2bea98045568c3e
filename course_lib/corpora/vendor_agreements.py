"""2,000 vendor agreements of about a page each, and for each the notice on which the customer may leave at will.

The clauses are written by hand below; a seed chooses among the wordings between braces and fills in amounts. Only
`random.Random.random` is drawn from: it is the one method whose sequence Python promises to keep for a seed.

A month counts as 30 days, in the truth and in the course. What a month is in your agreements is a question for a
lawyer: two months from 1 January are 59 days.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Literal, TypeAlias, TypeVar, get_args

DEFAULT_SEED = 11
DEFAULT_COUNT = 2000

Phrased: TypeAlias = Literal["days", "words", "weeks", "months", "schedule", "unusual", "no right"]
KINDS: tuple[Phrased, ...] = get_args(Phrased)

T = TypeVar("T")


@dataclass(frozen=True)
class VendorAgreement:
    """One agreement and the truth about it.

    `phrased` says how the notice for leaving at will is worded, and `days` how long it is; `days` is None where the
    agreement gives the customer no such right.
    """

    id: str
    vendor: str
    text: str
    phrased: Phrased
    days: int | None


# How often each kind comes, out of 100.
SHARES: dict[Phrased, int] = {
    "days": 42,
    "words": 18,
    "weeks": 5,
    "months": 11,
    "schedule": 9,
    "unusual": 2,
    "no right": 13,
}

DIGITS = {"14 days": 14, "30 days": 30, "45 days": 45, "60 days": 60, "75 days": 75, "90 days": 90, "120 days": 120}
WORDS = {
    "fourteen days": 14,
    "thirty days": 30,
    "thirty (30) days": 30,
    "forty-five days": 45,
    "sixty days": 60,
    "sixty (60) days": 60,
    "ninety days": 90,
    "ninety (90) days": 90,
}
WEEKS = {"two weeks": 14, "4 weeks": 28, "six weeks": 42, "8 weeks": 56, "twelve weeks": 84}
MONTHS = {"one month": 30, "1 month": 30, "two months": 60, "three months": 90, "3 months": 90, "six months": 180}
UNUSUAL = {"a fortnight": 14, "one calendar quarter": 90, "half a year": 180}
PHRASES: dict[Phrased, Mapping[str, int]] = {
    "days": DIGITS,
    "words": WORDS,
    "weeks": WEEKS,
    "months": MONTHS,
    "unusual": UNUSUAL,
    "schedule": {**DIGITS, **WORDS, **MONTHS},
}

GRANTS = (
    "{The Customer|Either party} may terminate this Agreement for convenience at any time on NOTICE written notice.",
    "{The Customer|Either party} may end this Agreement without cause, in whole or in part, on NOTICE prior notice in "
    "writing.",
    "{The Customer|Either party} is entitled to terminate this Agreement for any reason or for none on NOTICE prior "
    "written notice.",
)
BY_SCHEDULE = (
    "{The Customer|Either party} may terminate this Agreement for convenience at any time on the notice stated in "
    "Schedule 2.",
    "{The Customer|Either party} may end this Agreement without cause on the period of notice that Schedule 2 sets for "
    "it.",
)
NO_RIGHT = (
    "Neither party may terminate this Agreement for convenience before the Expiry Date.",
    "The Vendor may terminate this Agreement for convenience at any time on {30 days'|90 days'|sixty days'} written "
    "notice, in which case it refunds Fees paid in advance.",
    "",
)
AFTERWARDS = (
    " The Customer pays the Fees for Services performed up to the end of that period within 30 days of the final "
    "invoice.",
    " No such notice takes effect in the first {six|twelve} months of the Term.",
    " No reason need be given and no compensation is due for the remainder of the Term.",
    "",
)

BEFORE = (
    (
        "Services",
        "The Vendor provides the {hosting|payroll|translation|cleaning|maintenance|analytics|recruitment} services "
        "described in Schedule 1 with the skill and care of {an experienced|a reputable} supplier of such services. It "
        "may use subcontractors with the Customer's consent, which is not unreasonably withheld, and answers for them "
        "as for its own staff.",
    ),
    (
        "Fees and payment",
        "The Fees are set out in Schedule 1 and are {fixed for the first year|adjusted once a year by the consumer "
        "price index}. The Vendor invoices {monthly|quarterly} in arrears. Undisputed invoices are payable within "
        "{14|30|45} days of receipt; an amount that is disputed in good faith may be withheld until the dispute is "
        "settled.",
    ),
    (
        "Term and renewal",
        "This Agreement runs for {two|three|five} years from the Effective Date and renews for further periods of "
        "{one year|two years} unless a party gives {90 days'|sixty days'|three months'} notice before the Expiry Date "
        "that it does not wish to renew. The Vendor sends a reminder {30|60} days before that notice is due.",
    ),
    (
        "Service levels",
        "The Vendor meets the service levels in Schedule 1 in each calendar month. Where it misses one in two "
        "consecutive months it presents a recovery plan within {5|10} working days and grants a credit of {5|8|10} per "
        "cent of the monthly Fees, which is not the Customer's only remedy.",
    ),
    (
        "Confidentiality",
        "Each party keeps the other's confidential information secret, uses it only for the purposes of this Agreement "
        "and discloses it to those who need to know. This duty continues for {three|five} years after the end of this "
        "Agreement and does not apply to information that is or becomes public otherwise than by breach.",
    ),
)
FOR_CAUSE = (
    "Termination for cause",
    "A party may terminate this Agreement with immediate effect if the other commits a material breach and does not "
    "cure it within {20|30} days of a written request, becomes insolvent, or is wound up otherwise than for a solvent "
    "reorganisation.",
)
AFTER = (
    (
        "Effects of termination",
        "On termination the Vendor returns the Customer's data in a common format within {30|60} days and then deletes "
        "its copies. Rights that have accrued, and the clauses on confidentiality and liability, continue. The Vendor "
        "gives reasonable help with the transfer to another supplier for up to {three|six} months at the rates in "
        "Schedule 1.",
    ),
    (
        "Liability",
        "Neither party excludes liability for death, personal injury, fraud or intent. Otherwise each party's "
        "liability in a contract year is limited to {100|125|150} per cent of the Fees paid in that year, and neither "
        "is liable for loss of profit that was not foreseeable.",
    ),
    (
        "General",
        "Amendments are made in writing and signed by both parties. Notices are sent by registered post or by e-mail "
        "with confirmation of receipt, and take effect {on receipt|two working days after dispatch}. This Agreement is "
        "governed by the law of {Germany|Portugal|the Netherlands|Austria}, and the courts of the Customer's seat have "
        "jurisdiction.",
    ),
)
FEES = (
    "Schedule 1: Fees and service levels\n"
    "Base fee EUR {1,200|2,500|4,800|9,600} a month; additional work EUR {85|110|135} an hour; availability "
    "{99|99.5|99.9} per cent in a month; first response to a fault within {two|four|eight} hours of service time."
)
PERIODS = (
    "Schedule 2: Periods of notice\n"
    "Non-renewal: {90 days|four months} before the Expiry Date\n"
    "Leaving without cause: NOTICE\n"
    "Change of named staff: {20|30} days"
)
FIRST = (
    "Alder",
    "Borealis",
    "Cinder",
    "Delta",
    "Ember",
    "Fjord",
    "Garnet",
    "Harbour",
    "Indigo",
    "Juniper",
    "Kestrel",
    "Lumen",
    "Meridian",
    "Northgate",
    "Orchard",
    "Pinewood",
    "Quarry",
    "Rowan",
    "Saffron",
    "Tern",
)
SECOND = ("Analytics", "Cleaning", "Hosting", "Language", "Logistics", "Payroll", "Software", "Staffing", "Systems")
FORM = ("AG", "B.V.", "GmbH", "Lda", "Ltd", "S.A.")
SLOT = re.compile(r"\{([^{}]+)\}")


@cache
def vendor_agreements(count: int = DEFAULT_COUNT, seed: int = DEFAULT_SEED) -> tuple[VendorAgreement, ...]:
    """Return the first `count` agreements of a seed. Raises ValueError for a negative count.

    >>> agreement = vendor_agreements(1)[0]
    >>> agreement.id, agreement.phrased, agreement.days
    ('VA-0001', 'words', 60)
    """
    if count < 0:
        raise ValueError(f"{count} agreements were asked for; ask for 0 or more")
    rng = Random(seed)
    return tuple(_draw(rng, f"VA-{number:04d}") for number in range(1, count + 1))


def _draw(rng: Random, id: str) -> VendorAgreement:
    """Draw one agreement: who, which kind of notice, and the wording of every clause."""
    vendor = f"{_pick(rng, FIRST)} {_pick(rng, SECOND)} {_pick(rng, FORM)}"
    phrased = _pick(rng, [kind for kind in KINDS for _ in range(SHARES[kind])])
    phrase, days = _pick(rng, list(PHRASES[phrased].items())) if phrased in PHRASES else ("", None)
    exit_clause = _exit_clause(rng, phrased, phrase)
    clauses = [*BEFORE, FOR_CAUSE, *exit_clause, *AFTER]
    lines = [f"{number}. {title}. {text}" for number, (title, text) in enumerate(clauses, start=1)]
    lines.append(FEES)
    if phrased == "schedule":
        lines.append(PERIODS.replace("NOTICE", phrase))
    head = f"SERVICES AGREEMENT {id} between Halden Instruments GmbH (the Customer) and {vendor} (the Vendor)"
    return VendorAgreement(id, vendor, _filled(rng, "\n".join([head, *lines])), phrased, days)


def _exit_clause(rng: Random, phrased: Phrased, phrase: str) -> list[tuple[str, str]]:
    """Return the clause on leaving at will as title and text, or no clause where the agreement is silent."""
    title = _pick(rng, ("Termination for convenience", "Ending without cause", "Ordinary termination"))
    if phrased == "no right":
        text = _pick(rng, NO_RIGHT)
        return [(title, text)] if text else []
    grant = _pick(rng, BY_SCHEDULE if phrased == "schedule" else GRANTS)
    return [(title, grant.replace("NOTICE", _possessive(phrase)) + _pick(rng, AFTERWARDS))]


def _possessive(phrase: str) -> str:
    """Return "30 days" as "30 days'" and "one month" as "one month's"."""
    return f"{phrase}'" if phrase.endswith("s") else f"{phrase}'s"


def _pick(rng: Random, options: Sequence[T]) -> T:
    return options[int(rng.random() * len(options))]


def _filled(rng: Random, text: str) -> str:
    return SLOT.sub(lambda slot: _pick(rng, slot[1].split("|")), text)
