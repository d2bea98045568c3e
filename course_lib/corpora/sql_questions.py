"""Fifty labelled questions over the tickets and the invoices, each with right SQL and the mistake a stand-in makes.

A question may have several right queries; they give the same result. Where it asks for an order, the right result is
also kept uncut, with what it is sorted by, so that a tie is no mistake.
"""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from course_lib.corpora import DATA

Db = Literal["tickets", "invoices"]

# The tickets' half of a card. That of the invoices is in `course_lib.corpora.invoices`.
TICKET_TABLES = ("tickets",)
TICKET_MEANINGS = {
    "tickets": "one row per support ticket",
    "tickets.team": "the team that works on it",
    "tickets.priority": "P1 is the most urgent, P3 the least",
    "tickets.opened": "day it came in",
    "open_tickets": "the backlog: every ticket that is not closed",
}
TICKET_VIEWS = {"open_tickets": "SELECT id, team, priority, opened FROM tickets WHERE status = 'open'"}


@dataclass(frozen=True)
class Slip:
    """A mistake of the stand-in: it `writes` another text than `instead_of`, unless it is told one of `unless`."""

    kind: str
    writes: str
    instead_of: str
    unless: tuple[str, ...]


@dataclass(frozen=True)
class SqlQuestion:
    """A question with its right SQL.

    db                the database it is asked of
    gold              right queries, the first of them the one that the stand-in has in mind
    uncut             where order counts: SQL without LIMIT, how many of its last columns are sort keys, and the limit
    presupposes_rows  whether the question takes it for granted that there is something to find
    slips             what the stand-in gets wrong, the chief mistake first
    view              the name of an honest view, and right SQL over it
    why               for the instructor: what is hard about it
    """

    id: str
    db: Db
    text: str
    gold: tuple[str, ...]
    presupposes_rows: bool
    uncut: tuple[str, int, int | None] | None = None
    slips: tuple[Slip, ...] = ()
    view: tuple[str, str] | None = None
    why: str = ""


@cache
def sql_questions(db: Db | None = None) -> tuple[SqlQuestion, ...]:
    """Return the labelled questions, all or those of one database."""
    questions = tuple(_question(entry) for entry in _read()["questions"])
    return tuple(question for question in questions if db in (None, question.db))


@cache
def examples(db: Db) -> tuple[tuple[str, str], ...]:
    """Return the question-and-SQL pairs that go into a prompt. None of them is a labelled question."""
    return tuple((entry["question"], entry["sql"]) for entry in _read()["examples"][db])


def _question(entry: dict[str, Any]) -> SqlQuestion:
    uncut, view = entry.get("uncut"), entry.get("view")
    return SqlQuestion(
        entry["id"],
        entry["db"],
        entry["question"],
        tuple(entry["gold"]),
        entry["presupposes_rows"],
        (uncut["sql"], uncut["keys"], uncut.get("limit")) if uncut else None,
        tuple(Slip(s["kind"], s["writes"], s["instead_of"], tuple(s["unless"])) for s in entry.get("slips", ())),
        (view["name"], view["sql"]) if view else None,
        entry.get("why", ""),
    )


@cache
def _read() -> Any:
    return json.loads((DATA / "sql_questions.json").read_text(encoding="utf-8"))
