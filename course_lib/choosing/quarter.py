"""Challenge 2, the quarter that shrank: SQL that runs, passes every guard, and sums the wrong rows.

The question and the databases come as arguments, as in `course_lib.sql.text_to_sql`, whose stand-in for a model writes
the SQL: it shows which repair reaches the mistake. How often a real model makes it, it cannot show.
"""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from course_lib.sql.guard import Guard
from course_lib.sql.text_to_sql import BARE, Ask, Labelled, Rung, Source, climb, gold_of

TOLERANCE = 0.005  # a share of the ledger; currency and rounding explain no more

ATTEMPTS: dict[str, Rung] = {
    "as it is": BARE,
    "values": Rung("the values of each column on the card", values=True),
    "suspicion": Rung("a look at the result before it ships", repairs=2, suspicion=True),
    "meanings": Rung("what each column means, on the card", meanings=True),
    "view": Rung("a view with honest names, beside the table", views=True),
}


@dataclass(frozen=True)
class Quarter:
    """What one attempt makes of the question: the SQL, its sum, that sum as a share of the ledger's, and the warnings.

    `warnings` is what guard and suspicion said; empty where nothing fired. `reconciled` compares with the total that
    the ledger is known to have, which is no part of any attempt: whoever has such a total can check every answer by it.
    """

    key: str
    name: str
    sql: str
    value: float
    share: float
    warnings: tuple[str, ...]

    @property
    def reconciled(self) -> bool:
        """Whether the sum agrees with the ledger."""
        return agrees(self.value, self.value / self.share) if self.share else False

    def __str__(self) -> str:
        fired = "; ".join(self.warnings) or "nothing fired"
        return f"{self.name:42} {self.value:14,.2f} {self.share:6.2f} of the ledger  {fired}"


def agrees(value: float, ledger: float, tolerance: float = TOLERANCE) -> bool:
    """Say whether a sum agrees with the ledger's total, within a share of it.

    >>> agrees(82_000, 100_000), agrees(100_001, 100_000)
    (False, True)
    """
    return abs(value - ledger) <= tolerance * abs(ledger)


def the_quarter(
    question: Labelled, source: Source, ask: Ask | None = None, attempts: dict[str, Rung] | None = None
) -> list[Quarter]:
    """Return what each attempt makes of `question`, whose right result is one number. `ask` may be a live model.

    Raises ValueError where the right result is no number other than 0.
    """
    ledger = gold_of(question, source.path).variants[0][0][0]
    if not isinstance(ledger, int | float) or not ledger:
        raise ValueError(f"The right result of {question.text!r} is {ledger!r}, but a number other than 0 is needed")
    tried = ATTEMPTS if attempts is None else attempts
    outcomes = climb([question], {question.db: source}, list(tried.values()), ask).outcomes
    found = []
    for key, outcome in zip(tried, outcomes, strict=True):
        answer = outcome.answer
        value = float(answer.rows[0][0]) if answer.rows and isinstance(answer.rows[0][0], int | float) else 0.0
        found.append(Quarter(key, outcome.rung, answer.sql, value, value / ledger, answer.notes))
    return found


def missing_rows(path: Path, first: date, last: date) -> tuple[int, float]:
    """Return how many billed EUR invoices dated from `first` to `last` were created before, and their sum."""
    sql = (
        "SELECT count(*), sum(amt) / 100.0 FROM invoices WHERE st IN ('sent', 'paid') AND cur = 'EUR' "
        f"AND invoice_date BETWEEN '{first}' AND '{last}' AND created_at < '{first}'"
    )
    ((count, total),) = Guard({"invoices"}).run(path, sql).rows
    return int(count), float(total or 0)
