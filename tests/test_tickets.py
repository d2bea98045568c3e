"""The support desk's tickets, their database, and what a dense retriever makes of a count."""

import json
import sqlite3
from collections import Counter
from contextlib import closing
from hashlib import sha256

import numpy as np
import pytest

from course_lib.corpora import tickets as corpus
from course_lib.corpora.tickets import ids_where, make_database, model_outputs, row_texts, tickets
from course_lib.dense import DenseIndex, load_encoder, read_vectors, save_vectors

OPEN_BERLIN_P1 = {"T-1003", "T-1027", "T-1036", "T-1040", "T-1050"}


def everything(path):
    with closing(sqlite3.connect(path)) as database:
        names = database.execute("SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY 2")
        return names.fetchall(), *(
            database.execute(f"SELECT * FROM {name}").fetchall() for name in ("tickets", "salaries")
        )


def test_the_sixty_tickets_are_the_same_on_every_python():
    assert [ticket.id for ticket in tickets()] == [f"T-{number}" for number in range(1000, 1060)]
    written = json.dumps([list(vars(ticket).values()) for ticket in tickets()])
    assert sha256(written.encode("ascii")).hexdigest()[:16] == "92c5b5b8223c5964"


def test_five_p1_tickets_are_open_in_berlin():
    assert ids_where("Berlin", "P1", "open") == OPEN_BERLIN_P1


def test_thirty_is_every_berlin_ticket_and_every_open_p1_less_what_is_both():
    berlin, open_p1 = ids_where(team="Berlin"), ids_where(priority="P1", status="open")
    assert (len(berlin), len(open_p1), len(berlin & open_p1), len(berlin | open_p1)) == (20, 15, 5, 30)


def test_no_ticket_is_opened_on_or_after_the_courses_date():
    assert max(ticket.opened for ticket in tickets()) == "2026-09-24"


def test_the_database_holds_the_tickets_and_the_salary(tmp_path):
    path = tmp_path / "a folder # with ü%20" / "support.db"
    assert make_database(path) == path
    names, rows, salaries = everything(path)
    assert names == [("table", "salaries"), ("table", "tickets")]
    assert rows == [tuple(vars(ticket).values()) for ticket in tickets()]
    assert salaries == [("Ana", 91_000)]


def test_a_second_run_puts_back_what_was_changed_added_and_dropped(tmp_path):
    path = make_database(tmp_path / "support.db")
    before = everything(path)
    with closing(sqlite3.connect(path)) as attack:
        attack.executescript(
            """
            DROP TABLE tickets; DELETE FROM salaries; CREATE TABLE "od""d"(x); CREATE VIEW v AS SELECT * FROM salaries;
            CREATE TABLE s(i INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO s DEFAULT VALUES;
            CREATE TRIGGER t AFTER INSERT ON salaries BEGIN DELETE FROM salaries; END;
            """
        )
    make_database(path)
    assert everything(path) == before


def test_a_second_run_is_seen_by_a_connection_that_is_open(tmp_path):
    path = make_database(tmp_path / "support.db")
    with closing(sqlite3.connect(path)) as reader, closing(sqlite3.connect(path)) as writer:
        reader.execute("SELECT * FROM tickets").fetchall()
        with writer:
            writer.execute("DELETE FROM tickets")
        assert reader.execute("SELECT COUNT(*) FROM tickets").fetchone() == (0,)
        make_database(path)
        assert reader.execute("SELECT COUNT(*) FROM tickets").fetchone() == (60,)


def test_another_database_is_left_alone(tmp_path):
    path = tmp_path / "customers.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE tickets(mine TEXT)")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"customers\.db is another database"):
        make_database(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("do not lose this " * 100, encoding="utf-8")
    with pytest.raises(ValueError, match=r"notes\.txt is a file, but no SQLite database"):
        make_database(path)
    assert path.read_text(encoding="utf-8").startswith("do not lose")


def test_a_run_that_fails_half_way_leaves_the_old_database(tmp_path, monkeypatch):
    path = make_database(tmp_path / "support.db")
    before = everything(path)
    monkeypatch.setattr(corpus, "SALARIES", (("Ana",),))
    with pytest.raises(sqlite3.ProgrammingError):
        make_database(path)
    assert everything(path) == before


def test_the_ten_model_outputs_have_names_and_a_caller_cannot_change_them_for_others():
    assert list(model_outputs()) == [
        *("plain", "fenced", "cte", "like", "delete", "salaries", "two stmts", "runaway", "age", "wrong")
    ]
    model_outputs().clear()
    assert len(model_outputs()) == 10


def test_the_plain_output_counts_five_and_the_wrong_one_zero(tmp_path):
    with closing(sqlite3.connect(make_database(tmp_path / "support.db"))) as database:
        counts = [database.execute(model_outputs()[name]).fetchone()[0] for name in ("plain", "cte", "like", "wrong")]
    assert counts == [5, 5, 5, 0]


def test_every_wording_holds_all_five_values_of_its_row():
    for wording in corpus.WORDINGS:
        texts = row_texts(wording)
        assert all(value in texts[ticket.id] for ticket in tickets() for value in vars(ticket).values())


def test_the_labels_are_written_as_the_lesson_writes_them():
    assert row_texts()["T-1000"] == "Ticket T-1000: team Munich, priority P1, status open, opened 2026-09-21"


# Figure S0. In "sentence" the five happen to come first: no score says that there are five and not three or ten.
@pytest.mark.parametrize(
    ("wording", "found"),
    [
        ("labels", {3: 2, 5: 3, 10: 3, 20: 5}),
        ("sentence", {3: 3, 5: 5, 10: 5, 20: 5}),
        ("commas", {3: 2, 5: 2, 10: 4, 20: 5}),
    ],
)
def test_top_k_brings_a_sample_whose_size_depends_on_k_and_on_the_wording(wording, found):
    index = DenseIndex(row_texts(wording), load_encoder(corpus.VECTORS))
    counts = {k: len({hit.id for hit in index.search(corpus.QUESTION, k)} & OPEN_BERLIN_P1) for k in found}
    assert counts == found


def test_no_model_is_loaded_for_the_courses_own_texts():
    encoder = load_encoder(corpus.VECTORS)
    encoder.encode(corpus.cached_texts())
    assert not encoder.model_is_loaded


def test_the_stored_vectors_are_the_models_own(tmp_path):
    fresh = tmp_path / "tickets.npz"
    save_vectors(fresh, corpus.cached_texts()[::30], load_encoder(backend="numpy"))
    stored, remade = read_vectors(corpus.VECTORS), read_vectors(fresh)
    assert len(stored) == len(set(corpus.cached_texts()))
    assert max(float(np.abs(stored[key] - remade[key]).max()) for key in remade) < 5e-4


def test_the_stored_vectors_stay_small():
    assert corpus.VECTORS.stat().st_size < 5_000_000


def test_each_team_priority_and_status_occurs():
    assert Counter(ticket.team for ticket in tickets()).keys() == set(corpus.TEAMS)
    assert Counter(ticket.status for ticket in tickets()).keys() == set(corpus.STATUSES)
