"""An accounts department's database, as such databases are: short names, cents, two dates, and a draft's other day.

Customers, invoices and payments, drawn from a seed. An invoice that begins as a draft is entered on one day and dated
on another, and the ledger goes by the second. Some drafts of March were dated in April: summed by `created_at`, the
second quarter comes out at 0.82 of what the ledger says. Only `random.Random.random` is drawn from: it is the one
method whose sequence Python promises to keep for a seed.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal, TypeVar

from course_lib.asof import AS_OF
from course_lib.corpora.made_database import write_database

State = Literal["draft", "sent", "paid", "void"]
Currency = Literal["EUR", "CHF", "GBP"]
T = TypeVar("T")

SEED = 23
SIZE = 280
FIRST_DAY = date(2025, 10, 1)
LAST_QUARTER = (date(2026, 4, 1), date(2026, 6, 30))  # as of 2026-09-25
CREATED_SHARE = 0.82  # of last quarter's ledger in EUR, what was also created in it
CARRIED = (0.31, 0.24, 0.19, 0.15, 0.11)  # how the rest is spread over drafts of March

# What a model may read. The account numbers stand in the same file, and are nobody's business.
TABLES = ("customers", "invoices", "payments")
PRIVATE = ("bank_accounts",)

_SCHEMA = """
CREATE TABLE customers(cid INTEGER PRIMARY KEY, nm TEXT, ctry TEXT, seg TEXT, since TEXT);
CREATE TABLE invoices(inv TEXT PRIMARY KEY, cid INTEGER REFERENCES customers(cid), st TEXT, cur TEXT, amt INTEGER,
    created_at TEXT, invoice_date TEXT, due TEXT);
CREATE TABLE payments(pid INTEGER PRIMARY KEY, inv TEXT REFERENCES invoices(inv), amt INTEGER, paid_at TEXT, meth TEXT);
CREATE TABLE bank_accounts(cid INTEGER REFERENCES customers(cid), iban TEXT);
"""

MEANINGS = {
    "customers": "one row per customer",
    "customers.nm": "company name",
    "customers.ctry": "country as a two-letter code",
    "customers.seg": "segment: smb small, mid medium, ent large; NULL not yet sorted",
    "customers.since": "day of the first contract",
    "invoices": "one row per invoice, drafts and cancelled ones included",
    "invoices.inv": "invoice number",
    "invoices.st": "state; billed means sent or paid, void is cancelled",
    "invoices.cur": "currency; amounts of different currencies are never added",
    "invoices.amt": "invoice amount in cents",
    "invoices.created_at": "day the row was entered, often weeks earlier and as a draft; not for accounting",
    "invoices.invoice_date": "the ledger goes by this date: quarters, months, revenue; NULL in a draft",
    "invoices.due": "last day to pay",
    "payments": "one row per payment; an invoice may have several",
    "payments.amt": "amount paid in cents, in the currency of the invoice",
    "payments.meth": "how it was paid",
    "invoices_by_ledger_date": "every billed invoice (sent or paid), by the date that the ledger goes by",
    "invoices_by_ledger_date.amount": "in whole units of currency",
    "invoice_balances": "every billed invoice once, with the sum of its payments",
    "invoice_balances.outstanding": "billed less paid, in whole units of currency",
}

VIEWS = {
    "invoices_by_ledger_date": "SELECT inv AS invoice, nm AS customer, ctry AS country, invoice_date AS ledger_date, "
    "cur AS currency, amt / 100.0 AS amount FROM invoices JOIN customers USING (cid) WHERE st IN ('sent', 'paid')",
    "invoice_balances": "SELECT inv AS invoice, nm AS customer, ctry AS country, due AS due_date, cur AS currency, "
    "amt / 100.0 AS billed, coalesce(paid, 0) / 100.0 AS paid, (amt - coalesce(paid, 0)) / 100.0 AS outstanding "
    "FROM invoices JOIN customers USING (cid) LEFT JOIN (SELECT inv, sum(amt) AS paid FROM payments GROUP BY inv) "
    "USING (inv) WHERE st IN ('sent', 'paid')",
}

FIRST = ("Alder", "Birke", "Castelo", "Dorn", "Esche", "Farol", "Gletscher", "Hafen", "Ilha", "Jura", "Kiefer", "Linde")
SECOND = ("Optik", "Druck", "Moveis", "Logistik")
FORMS = {"DE": "GmbH", "AT": "GmbH", "CH": "AG", "NL": "B.V.", "PT": "Lda"}


@dataclass(frozen=True)
class Customer:
    """A customer; `seg` is None where nobody has sorted it yet. The names of the fields are those of the table."""

    cid: int
    nm: str
    ctry: str
    seg: str | None
    since: str


@dataclass(frozen=True)
class Invoice:
    """An invoice, its amount in cents; `invoice_date` and `due` are None in a draft. Dates as ISO 8601 writes them."""

    inv: str
    cid: int
    st: State
    cur: Currency
    amt: int
    created_at: str
    invoice_date: str | None
    due: str | None


@dataclass(frozen=True)
class Payment:
    """A payment towards an invoice, in cents of the invoice's currency."""

    pid: int
    inv: str
    amt: int
    paid_at: str
    meth: str


# --- Drawing --------------------------------------------------------------------------------------------------------


@cache
def customers() -> tuple[Customer, ...]:
    """Return the 48 customers. The last two have no invoice."""
    random, found = Random(SEED), list[Customer]()
    for number in range(len(FIRST) * len(SECOND)):
        country = _pick(random, ("DE", "DE", "DE", "AT", "CH", "NL", "PT"))
        name = f"{FIRST[number % len(FIRST)]} {SECOND[number // len(FIRST)]} {FORMS[country]}"
        segment = _pick(random, ("smb", "smb", "smb", "mid", "mid", "ent", None))
        since = date(2019, 1, 1) + timedelta(days=int(random.random() * 2400))
        found.append(Customer(number + 1, name, country, segment, since.isoformat()))
    return tuple(found)


@cache
def invoices() -> tuple[Invoice, ...]:
    """Return the invoices in the order of their numbers, the drafts of March that were dated in April at the end."""
    random = Random(SEED + 1)
    drawn = [_drawn(random, number) for number in range(SIZE)]
    both = sum(one.amt for one in drawn if in_last_quarter(one.created_at) and counts_last_quarter(one))
    return (*drawn, *_carried(random, round(both * (1 - CREATED_SHARE) / CREATED_SHARE)))


def in_last_quarter(day: str | None) -> bool:
    """Say whether a day as text is in the last full quarter before the course's date.

    >>> in_last_quarter("2026-06-30"), in_last_quarter("2026-07-01"), in_last_quarter(None)
    (True, False, False)
    """
    first, last = LAST_QUARTER
    return day is not None and first.isoformat() <= day <= last.isoformat()


def counts_last_quarter(one: Invoice) -> bool:
    """Say whether the ledger counts an invoice for the last quarter in EUR."""
    return in_last_quarter(one.invoice_date) and one.st in ("sent", "paid") and one.cur == "EUR"


def _drawn(random: Random, number: int) -> Invoice:
    """Draw an invoice that is dated in the quarter in which it was entered, or is still a draft."""
    created = FIRST_DAY + timedelta(days=int(random.random() * ((AS_OF - FIRST_DAY).days)))
    lag = _pick(random, (0, 0, 0, 1, 1, 2, 3, 5, 9, 16))
    dated = min(created + timedelta(days=lag), _quarter_end(created), AS_OF - timedelta(days=1))
    cents = 9_000 + int(random.random() ** 2 * 410_000)
    one = Invoice(
        f"INV-{2001 + number}",
        1 + int(random.random() * (len(customers()) - 2)),
        _state(random, (AS_OF - dated).days),
        _pick(random, ("EUR", "EUR", "EUR", "EUR", "EUR", "EUR", "CHF", "GBP")),
        cents - cents % 5,
        created.isoformat(),
        dated.isoformat(),
        (dated + timedelta(days=_pick(random, (14, 30, 30)))).isoformat(),
    )
    return replace(one, invoice_date=None, due=None) if one.st == "draft" else one


def _state(random: Random, age: int) -> State:
    """Old invoices are mostly paid; a few drafts are never sent, and one invoice in twenty is cancelled."""
    draw = random.random()
    if draw < 0.05:
        return "void"
    if draw < (0.25 if age < 20 else 0.09):
        return "draft"
    return "paid" if random.random() < (0.93 if age > 60 else 0.45 if age > 14 else 0.1) else "sent"


def _carried(random: Random, cents: int) -> Iterator[Invoice]:
    """Give the paid invoices that were drafts in March and are dated in April; together they come to `cents`."""
    left = cents
    for number, share in enumerate(CARRIED, start=SIZE):
        amount = round(cents * share) if number < SIZE + len(CARRIED) - 1 else left
        left -= amount
        created = date(2026, 3, 9) + timedelta(days=int(random.random() * 20))
        dated = date(2026, 4, 1) + timedelta(days=int(random.random() * 10))
        cid, due = 1 + int(random.random() * (len(customers()) - 2)), dated + timedelta(days=30)
        days = (created.isoformat(), dated.isoformat(), due.isoformat())
        yield Invoice(f"INV-{2001 + number}", cid, "paid", "EUR", amount, *days)


@cache
def payments() -> tuple[Payment, ...]:
    """Return the payments: a paid invoice has one to three that make up its amount, a sent one sometimes a part."""
    random, found = Random(SEED + 2), list[Payment]()
    for one in invoices():
        if one.invoice_date is None or one.st not in ("sent", "paid"):
            continue
        for cents in _parts(random, one):
            latest = (AS_OF - date.fromisoformat(one.invoice_date)).days - 1
            paid = date.fromisoformat(one.invoice_date) + timedelta(days=min(int(random.random() * 45), latest))
            found.append(
                Payment(
                    len(found) + 1, one.inv, cents, paid.isoformat(), _pick(random, ("sepa", "sepa", "card", "wire"))
                )
            )
    return tuple(found)


def _parts(random: Random, one: Invoice) -> list[int]:
    draw = random.random()
    if one.st == "sent":
        return [one.amt // 2] if draw < 0.2 else []
    if draw < 0.7:
        return [one.amt]
    third = one.amt // 3
    return [third, one.amt - third] if draw < 0.9 else [third, third, one.amt - 2 * third]


def _quarter_end(day: date) -> date:
    month = 3 * ((day.month - 1) // 3) + 3
    return date(day.year + month // 12, month % 12 + 1, 1) - timedelta(days=1)


def _pick(random: Random, options: Sequence[T]) -> T:
    return options[int(random.random() * len(options))]


# --- The database ---------------------------------------------------------------------------------------------------

_MADE_HERE = 0x1B111E5  # PRAGMA application_id of a database that make_database may write over


def make_database(path: Path, views: bool = False) -> Path:
    """Write customers, invoices, payments and bank_accounts, with `views` also the honest ones; return `path`.

    A database that this function made before is put back as it was. Raises as `write_database` does.
    """

    def fill(database: sqlite3.Connection) -> None:
        for table, rows in (("customers", customers()), ("invoices", invoices()), ("payments", payments())):
            values = [tuple(vars(row).values()) for row in rows]
            database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values[0]))})", values)
        ibans = [(one.cid, f"{one.ctry}00 0000 {one.cid:04d}") for one in customers()]  # no real one begins so
        database.executemany("INSERT INTO bank_accounts VALUES (?, ?)", ibans)
        for name, select in VIEWS.items() if views else ():
            database.execute(f"CREATE VIEW {name} AS {select}")

    return write_database(path, _MADE_HERE, _SCHEMA, fill)
