"""A SQLite file that a corpus writes, and writes over again only where it was made here."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path


def write_database(path: Path, made_here: int, schema: str, fill: Callable[[sqlite3.Connection], None]) -> Path:
    """Write a database and return `path`; one that was made with the same `made_here` is put back as it was.

    `made_here` is the file's PRAGMA application_id, `schema` the CREATE statements, and `fill` inserts the rows. All of
    it is one transaction: it happens whole or not at all, and connections that are open on the file see it. Missing
    folders are made. Raises ValueError, and changes nothing, where the file is another database or none at all, and
    sqlite3.OperationalError where it cannot be written or another connection holds it for five seconds.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        try:
            database.execute("BEGIN IMMEDIATE")
            _empty(database, path, made_here)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            raise ValueError(
                f"{path.name} is a file, but no SQLite database. It stays as it is; name another."
            ) from None
        for statement in filter(str.strip, schema.split(";")):
            database.execute(statement)
        fill(database)
        database.execute("COMMIT")
    return path


def _empty(database: sqlite3.Connection, path: Path, made_here: int) -> None:
    """Drop what a database holds if it was made here, and mark a new one."""
    found = database.execute("SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
    if found and database.execute("PRAGMA application_id").fetchone()[0] != made_here:
        raise ValueError(
            f"{path.name} is another database, with tables of its own. It stays as it is; name another file."
        )
    for kind, name in sorted(found, reverse=True):  # views before the tables they read
        if not name.startswith("sqlite_"):
            quoted = name.replace('"', '""')
            database.execute(f'DROP {kind} IF EXISTS "{quoted}"')
    database.execute(f"PRAGMA application_id = {made_here}")
