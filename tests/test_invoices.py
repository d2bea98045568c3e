"""The accounts department's database: what was drawn, what is in the file, and the quarter that shrank."""

import sqlite3
from collections import Counter
from contextlib import closing
from datetime import date

import pytest

from course_lib.asof import AS_OF
from course_lib.corpora import invoices
from course_lib.sql.database import read_only

LEDGER = "SELECT sum(amt) FROM invoices WHERE st IN ('sent', 'paid') AND cur = 'EUR' AND {} BETWEEN ? AND ?"


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    path = invoices.make_database(tmp_path_factory.mktemp("accounts") / "new folder" / "für uns #1.db", views=True)
    with closing(read_only(path)) as connection:
        yield connection


def test_the_quarter_shrinks_to_four_fifths_by_the_other_date(database):
    quarter = [day.isoformat() for day in invoices.LAST_QUARTER]
    by_entry, by_ledger = (
        database.execute(LEDGER.format(column), quarter).fetchone()[0] for column in ("created_at", "invoice_date")
    )
    assert round(by_entry / by_ledger, 4) == invoices.CREATED_SHARE
    first = invoices.LAST_QUARTER[0].isoformat()
    missing = [one for one in invoices.invoices() if invoices.counts_last_quarter(one) and one.created_at < first]
    assert sum(one.amt for one in missing) == by_ledger - by_entry
    assert len(missing) == len(invoices.CARRIED)
    assert all("2026-03" in one.created_at and "2026-04" in one.invoice_date for one in missing)


def test_last_quarter_is_the_last_full_one_before_the_courses_date():
    first, last = invoices.LAST_QUARTER
    assert (first.day, first.month % 3, (last - first).days) == (1, 1, 90)
    assert last < AS_OF < date(2026, 10, 1)


def test_some_hundred_rows_stand_in_the_tables_as_they_were_drawn(database):
    tables = {"customers": invoices.customers(), "invoices": invoices.invoices(), "payments": invoices.payments()}
    for table, drawn in tables.items():
        assert database.execute(f"SELECT * FROM {table}").fetchall() == [tuple(vars(row).values()) for row in drawn]
    assert {table: len(drawn) for table, drawn in tables.items()} == {"customers": 48, "invoices": 285, "payments": 299}


def test_every_state_currency_segment_and_null_occurs():
    assert Counter(one.st for one in invoices.invoices()) == {"paid": 206, "sent": 45, "void": 22, "draft": 12}
    assert {one.cur for one in invoices.invoices()} == {"EUR", "CHF", "GBP"}
    assert {one.seg for one in invoices.customers()} == {"smb", "mid", "ent", None}
    assert len({one.nm for one in invoices.customers()}) == 48


def test_a_draft_has_no_date_and_every_other_day_is_in_order():
    for one in invoices.invoices():
        assert (one.invoice_date is None) == (one.due is None) == (one.st == "draft")
        if one.invoice_date and one.due:
            assert one.created_at <= one.invoice_date < one.due
            assert one.invoice_date < AS_OF.isoformat()


def test_the_payments_of_a_paid_invoice_make_up_its_amount():
    paid = Counter[str]()
    for payment in invoices.payments():
        paid[payment.inv] += payment.amt
        assert payment.amt > 0
        assert payment.paid_at < AS_OF.isoformat()
    for one in invoices.invoices():
        assert paid[one.inv] == one.amt if one.st == "paid" else paid[one.inv] < one.amt
    assert max(Counter(payment.inv for payment in invoices.payments()).values()) == 3


def test_the_views_say_what_the_tables_say(database):
    first, second = (
        database.execute(f"SELECT count(*), sum({amount}) FROM {view}").fetchone()
        for view, amount in (("invoices_by_ledger_date", "amount"), ("invoice_balances", "billed"))
    )
    assert first == pytest.approx(second)
    total = "SELECT count(*), sum(amt) / 100.0 FROM invoices WHERE st IN ('sent', 'paid')"
    assert first == pytest.approx(database.execute(total).fetchone())
    received = database.execute("SELECT sum(amt) / 100.0 FROM payments").fetchone()
    assert database.execute("SELECT sum(paid) FROM invoice_balances").fetchone() == pytest.approx(received)


def test_making_it_again_puts_it_back_as_it_was(tmp_path):
    path = invoices.make_database(tmp_path / "a.db", views=True)
    with closing(sqlite3.connect(path)) as writer:
        writer.executescript("DELETE FROM payments; CREATE VIEW more AS SELECT 1; CREATE INDEX i ON invoices(cid);")
    invoices.make_database(path)
    with closing(read_only(path)) as connection:
        names = {
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")
        }
        assert names == {*invoices.TABLES, *invoices.PRIVATE}
        assert connection.execute("SELECT count(*) FROM payments").fetchone() == (299,)


def test_a_file_that_is_something_else_is_left_alone(tmp_path):
    other, text = tmp_path / "other.db", tmp_path / "notes.txt"
    with closing(sqlite3.connect(other)) as writer:
        writer.execute("CREATE TABLE mine(a)")
    text.write_text("no database, and long enough to be told from an empty one", encoding="utf-8")
    before = other.read_bytes(), text.read_bytes()
    for path in (other, text):
        with pytest.raises(ValueError, match="stays as it is"):
            invoices.make_database(path)
    assert (other.read_bytes(), text.read_bytes()) == before
