"""Opens a SQLite file for reading only: the first wall of Move 2, used by its tools and by its guard."""

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote_from_bytes


def uri(path: str | Path) -> str:
    """Return the address under which SQLite opens a file read-only, whatever characters its path holds.

    >>> uri("/data/50% off?.sqlite")
    'file:///data/50%25%20off%3F.sqlite?mode=ro'
    """
    absolute = Path(path).absolute().as_posix()  # on Windows "C:/data/…", or "//server/share/…"
    slash = "" if absolute.startswith("/") else "/"
    return f"file://{slash}{quote_from_bytes(os.fsencode(absolute), safe='/:')}?mode=ro"


def read_only(path: str | Path, wait: float = 5.0) -> sqlite3.Connection:
    """Open an existing SQLite file so that the engine refuses to write to it.

    The connection may be used from several threads, one at a time. `wait` is how many seconds it waits for a file
    that someone else has locked. Note what this wall lets through: ATTACH of a new file, VACUUM INTO, TEMP tables.

    Raises FileNotFoundError where there is no such file, and ValueError where it is no SQLite database.
    """
    return opened(path, wait)[0]


def opened(path: str | Path, wait: float = 5.0) -> tuple[sqlite3.Connection, dict[str, str]]:
    """Open a file as `read_only` does, and return with it what is in it: {name: "table", "view", "index" or "trigger"}.

    SQLite reads nothing of a file before the first statement, so that one is needed to know what was opened.
    """
    try:
        db = sqlite3.connect(uri(path), timeout=wait, uri=True, check_same_thread=False)
    except sqlite3.OperationalError as error:
        raise _cannot_open(path, error) from error
    try:
        return db, dict(db.execute("SELECT name, type FROM sqlite_schema").fetchall())
    except sqlite3.DatabaseError as error:
        db.close()
        raise _cannot_open(path, error) from error


def _cannot_open(path: str | Path, error: sqlite3.DatabaseError) -> Exception:
    if not Path(path).is_file():
        return FileNotFoundError(f"There is no file {str(path)!r}: give the path of an existing SQLite database.")
    if "locked" in str(error):
        return ValueError(f"{str(path)!r} is locked by another program: try again when that is done.")
    return ValueError(f"{str(path)!r} cannot be read as a SQLite database: {error}.")
