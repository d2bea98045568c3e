"""The support desk's database: sixty seeded tickets, one salary, and ten queries as a model might have written them.

The knowledge is a table, and the question is a count. Each ticket is also written out as text, in three wordings, for
the retriever that is asked to count them all the same.
"""

import json
import sqlite3
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal

from course_lib.corpora import DATA
from course_lib.corpora.made_database import write_database

VECTORS = DATA / "vectors" / "tickets.npz"

Team = Literal["Berlin", "Munich", "Lisbon"]
Priority = Literal["P1", "P2", "P3"]
Status = Literal["open", "closed"]
Wording = Literal["labels", "sentence", "commas"]

SIZE = 60
SEED = 7
FIRST_NUMBER = 1000
TEAMS: tuple[Team, ...] = ("Berlin", "Munich", "Lisbon")
PRIORITIES: tuple[Priority, ...] = ("P1", "P2", "P3")
STATUSES: tuple[Status, ...] = ("open", "open", "closed")  # drawn from: two in three are open
LAST_DAY = 24  # of September 2026, the day before the course's date

# What the assistant has no business with: its table stands in the same file.
SALARIES = (("Ana", 91_000),)

QUESTION = "How many P1 tickets are open for the Berlin team?"
THIS_WEEK = "Which Berlin P1 tickets opened this week are still open?"

WORDINGS: dict[Wording, str] = {
    "labels": "Ticket {id}: team {team}, priority {priority}, status {status}, opened {opened}",
    "sentence": "The {team} team received ticket {id} on {opened}; its priority is {priority} and it is {status}.",
    "commas": "{id}, {team}, {priority}, {status}, {opened}",
}

_MADE_HERE = 0x7E51DE5C  # PRAGMA application_id of a database that make_database may write over

_SCHEMA = """
CREATE TABLE tickets(id TEXT PRIMARY KEY, team TEXT, priority TEXT, status TEXT, opened TEXT);
CREATE TABLE salaries(employee TEXT, amount INTEGER);
"""


@dataclass(frozen=True)
class Ticket:
    """One ticket, e.g. id "T-1000"; `opened` is a date as ISO 8601 writes it, as it stands in the table."""

    id: str
    team: Team
    priority: Priority
    status: Status
    opened: str


@cache
def tickets() -> tuple[Ticket, ...]:
    """Return the sixty tickets in the order of their ids."""
    random = Random(SEED)
    return tuple(_drawn(random, FIRST_NUMBER + row) for row in range(SIZE))


def _drawn(random: Random, number: int) -> Ticket:
    """Draw a ticket. The order of the draws is part of the data: another order makes other tickets."""
    team, priority, status = random.choice(TEAMS), random.choice(PRIORITIES), random.choice(STATUSES)
    return Ticket(f"T-{number}", team, priority, status, f"2026-09-{random.randint(1, LAST_DAY):02d}")


def ids_where(team: Team | None = None, priority: Priority | None = None, status: Status | None = None) -> set[str]:
    """Return the ids of the tickets with these values; None stands for any. Sets, so that they can be added up.

    >>> berlin, open_p1 = ids_where(team="Berlin"), ids_where(priority="P1", status="open")
    >>> len(berlin), len(open_p1), len(berlin & open_p1), len(berlin | open_p1)
    (20, 15, 5, 30)
    """
    return {
        ticket.id
        for ticket in tickets()
        if team in (None, ticket.team) and priority in (None, ticket.priority) and status in (None, ticket.status)
    }


def row_texts(wording: Wording = "labels") -> dict[str, str]:
    """Return every ticket as a text, by id: what a pipeline encodes that takes a table for documents.

    >>> row_texts()["T-1000"]
    'Ticket T-1000: team Munich, priority P1, status open, opened 2026-09-21'
    """
    return {ticket.id: WORDINGS[wording].format_map(vars(ticket)) for ticket in tickets()}


def make_database(path: Path) -> Path:
    """Write the tables tickets(id, team, priority, status, opened) and salaries(employee, amount), and return `path`.

    A database that this function made before is put back as it was, whatever has been added, changed or dropped in it
    since. Raises as `write_database` does.
    """

    def fill(database: sqlite3.Connection) -> None:
        rows = map(vars, tickets())
        database.executemany("INSERT INTO tickets VALUES (:id, :team, :priority, :status, :opened)", rows)
        database.executemany("INSERT INTO salaries VALUES (?, ?)", SALARIES)

    return write_database(path, _MADE_HERE, _SCHEMA, fill)


def model_outputs() -> dict[str, str]:
    """Return ten answers of a model that was asked for SQL, by name: "plain", "fenced", "cte", and so on."""
    outputs: dict[str, str] = json.loads((DATA / "sql_model_outputs.json").read_text(encoding="utf-8"))
    return outputs


def cached_texts() -> list[str]:
    """Return every text whose vector is kept in `VECTORS`."""
    rows = (text for wording in WORDINGS for text in row_texts(wording).values())
    return [*rows, QUESTION, THIS_WEEK]
