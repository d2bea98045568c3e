"""The first wall: a connection through which SQLite itself refuses to write."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from course_lib.sql.database import opened, read_only, uri

AWKWARD = ["plain", "with spaces", "ümläut ß", "100%", "50%25", "a?b", "a#b", "a&mode=rwc", "quote'd", "file_x"]
ONLY_ON_POSIX = ["what?mode=rwc", 'double"quote', "back\\slash", "colon:name"]


def database(path):
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE tickets (id TEXT)")
        db.execute("INSERT INTO tickets VALUES ('T-1')")
        db.execute("CREATE VIEW all_tickets AS SELECT id FROM tickets")
    return path


@pytest.mark.parametrize("name", AWKWARD + ONLY_ON_POSIX)
def test_any_path_is_opened_as_it_is_spelled(tmp_path, name):
    try:
        (tmp_path / name).mkdir()
        path = database(tmp_path / name / f"{name}.sqlite")
    except (OSError, sqlite3.Error):
        pytest.skip(f"this system allows no file of that name: {name}")
    before = sorted(tmp_path.rglob("*"))
    with closing(read_only(path)) as db:
        assert db.execute("SELECT id FROM tickets").fetchall() == [("T-1",)]
    assert sorted(tmp_path.rglob("*")) == before


def test_a_relative_path_and_a_text_are_paths_too(tmp_path, monkeypatch):
    database(tmp_path / "small.sqlite")
    monkeypatch.chdir(tmp_path)
    with closing(read_only("small.sqlite")) as db:
        assert db.execute("SELECT count(*) FROM tickets").fetchone() == (1,)


def test_the_address_has_three_slashes_before_a_path():
    assert uri("/a b/c.sqlite").startswith("file:///")
    assert uri("/a b/c.sqlite").endswith("/a%20b/c.sqlite?mode=ro")


@pytest.mark.parametrize("sql", ["DELETE FROM tickets", "CREATE TABLE x (a)", "UPDATE tickets SET id = 1", "VACUUM"])
def test_a_write_is_refused_by_the_engine(tmp_path, sql):
    path = database(tmp_path / "small.sqlite")
    before = path.read_bytes()
    with closing(read_only(path)) as db, pytest.raises(sqlite3.OperationalError, match="readonly"):
        db.execute(sql)
    assert path.read_bytes() == before


def test_a_read_only_connection_alone_still_writes_elsewhere(tmp_path):
    """The correction S5: what the guard's allow-list is for."""
    with closing(read_only(database(tmp_path / "small.sqlite"))) as db:
        db.execute("ATTACH ? AS other", [str(tmp_path / "attached.sqlite")])
        db.execute("CREATE TABLE other.leak AS SELECT * FROM tickets")
        db.execute("DETACH other")
        db.execute("VACUUM INTO ?", [str(tmp_path / "copy.sqlite")])
        db.execute("CREATE TEMP TABLE x (a)")
    assert (tmp_path / "attached.sqlite").stat().st_size > 0
    assert (tmp_path / "copy.sqlite").stat().st_size > 0


def test_a_missing_file_is_a_sentence_and_is_not_made(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*none\.sqlite"):
        read_only(tmp_path / "none.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_only(tmp_path)


def test_a_file_of_another_kind_is_a_sentence(tmp_path):
    (tmp_path / "notes.txt").write_text("no database " * 100, encoding="utf-8")
    with pytest.raises(ValueError, match=r"notes\.txt.* cannot be read as a SQLite database"):
        read_only(tmp_path / "notes.txt")


def test_a_locked_file_is_said_to_be_locked(tmp_path):
    path = database(tmp_path / "small.sqlite")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(ValueError, match="locked by another program"):
            read_only(path, wait=0.01)


def test_what_is_in_the_file_comes_with_it(tmp_path):
    db, kinds = opened(database(tmp_path / "small.sqlite"))
    db.close()
    assert kinds == {"tickets": "table", "all_tickets": "view"}


def test_another_thread_may_use_the_connection(tmp_path):
    with closing(read_only(database(tmp_path / "small.sqlite"))) as db, ThreadPoolExecutor(1) as pool:
        rows = pool.submit(lambda: db.execute("SELECT id FROM tickets").fetchall()).result()
    assert rows == [("T-1",)]
