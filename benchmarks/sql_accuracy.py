"""Does execution accuracy tell a right query from a wrong one, and does suspicion stay silent on right ones?

    python -m benchmarks.sql_accuracy FOLDER

FOLDER holds questions.json (a list with db, question, gold_sql) and database/NAME/NAME.sqlite. Each right query is
compared with itself, with itself in another layout, and with every alteration of it that a model might have written. An
alteration whose result is the same is no failure of the comparison: it is listed, with the reason, and checked once
more, cell for cell and without tolerance.
"""

import argparse
import json
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.figures import table
from benchmarks.machine import facts
from course_lib.sql.accuracy import Gold, execution_accuracy, is_right
from course_lib.sql.database import read_only
from course_lib.sql.schema_card import Card, schema_card
from course_lib.sql.suspicion import TOKEN, suspicions

Rows = list[tuple[Any, ...]]
Pieces = list[tuple[str, str]]  # kind and text; joined again they are the query

SECONDS = 5.0  # an altered query may join everything with everything
SHOWN = 12
ENDS = {"group", "order", "having", "limit", "union", "intersect", "except", ")", ";"}
OTHER_AGGREGATE = {"max": "min", "min": "max", "avg": "sum", "sum": "avg"}
OTHER_SIGN = {">": ">=", "<": "<=", ">=": ">", "<=": "<", "=": "!=", "!=": "="}
WHY_EQUAL = {
    "WHERE left out": "every row meets the condition, or those that do not change nothing in the result",
    "GROUP BY left out": "there is one group",
    "another literal": "no value lies between the two, or the value decides nothing here",
    "another aggregate": "over one row, or over equal values, the two are the same",
    "another comparison": "no value lies on the border, or what it decides does not show in the result",
    "AND for OR": "each condition holds for the same rows",
    "DISTINCT left out": "nothing is there twice",
    "another set operation": "one of the two sides decides nothing here",
    "sorted the other way": "one row",
    "another LIMIT": "there are no more rows than the limit",
}
OTHER_SET = {"union": "except", "intersect": "union", "except": "intersect"}


@dataclass(frozen=True)
class Asked:
    """A question and its right SQL; whether it asks for an order is read off the SQL, as Spider's evaluation does."""

    db: str
    text: str
    sql: str

    @property
    def ordered(self) -> bool:
        """Whether the outermost query has an ORDER BY."""
        return "order" in [word for word in top_level(pieces(self.sql)) if word]


def questions_of(folder: Path) -> list[Asked]:
    """Return the labelled questions."""
    entries = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    return [Asked(one["db"], one["question"], one["gold_sql"]) for one in entries]


def pieces(sql: str) -> Pieces:
    """Cut SQL into pieces, white space included."""
    return [(match.lastgroup or "", match.group()) for match in TOKEN.finditer(sql)]


def top_level(parts: Pieces) -> list[str]:
    """Return each piece in lower case where it is outside of brackets, and "" where it is inside or no word."""
    depth, found = 0, list[str]()
    for kind, text in parts:
        depth += (text == "(") - (text == ")")
        found.append(text.lower() if kind in ("word", "sign") and depth == 0 else "")
    return found


# --- Alterations ----------------------------------------------------------------------------------------------------


def replaced(parts: Pieces, swap: Callable[[str, str], str | None]) -> Iterator[str]:
    """Give the query once for each piece that `swap` changes, that piece alone changed."""
    for at, (kind, text) in enumerate(parts):
        other = swap(kind, text)
        if other is not None:
            yield "".join([*(t for _, t in parts[:at]), other, *(t for _, t in parts[at + 1 :])])


def without_clause(parts: Pieces, first: str) -> Iterator[str]:
    """Give the query once for each WHERE or GROUP BY, with that clause left out."""
    words = [text.lower() if kind in ("word", "sign") else "" for kind, text in parts]
    for at, word in enumerate(words):
        if word == first:
            depth, end = 0, at + 1
            while end < len(words) and not (depth == 0 and words[end] in ENDS):
                depth += (words[end] == "(") - (words[end] == ")")
                end += 1
            yield "".join(text for _, text in [*parts[:at], *parts[end:]])


def other_limit(parts: Pieces) -> Iterator[str]:
    """Give the query with LIMIT 1, or with one row more than its own LIMIT."""
    sql = "".join(text for _, text in parts).rstrip("; \n")
    if "limit" in top_level(parts):
        yield re.sub(r"(?i)(limit\s+)(\d+)", lambda found: f"{found[1]}{int(found[2]) + 1}", sql)
    else:
        yield f"{sql} LIMIT 1"


def other_direction(parts: Pieces) -> Iterator[str]:
    """Give the query sorted the other way round."""
    words = top_level(parts)
    if "order" not in words:
        return
    sql = "".join(text for _, text in parts).rstrip("; \n")
    swapped = list(replaced(parts, lambda kind, text: {"desc": "ASC", "asc": "DESC"}.get(text.lower())))
    yield from swapped or [re.sub(r"(?i)(\s+limit\s+\d+)?$", lambda found: f" DESC{found[0]}", sql, count=1)]


def other_literal(kind: str, text: str) -> str | None:
    """Change a text by a letter and a number by one."""
    if kind == "number":
        return str(float(text) + 1) if "." in text else str(int(text) + 1)
    return f"{text[:-1]}x{text[-1]}" if kind in ("text", "quoted") and len(text) > 2 and "%" not in text else None


def alterations(sql: str) -> Iterator[tuple[str, str]]:
    """Give (name, SQL) of every alteration of a query."""
    parts = pieces(sql)
    ways: dict[str, Iterable[str]] = {
        "WHERE left out": without_clause(parts, "where"),
        "GROUP BY left out": without_clause(parts, "group"),
        "another literal": replaced(parts, other_literal),
        "another aggregate": replaced(parts, lambda _, text: OTHER_AGGREGATE.get(text.lower())),
        "another comparison": replaced(parts, lambda _, text: OTHER_SIGN.get(text)),
        "AND for OR": replaced(parts, lambda _, text: {"and": "OR", "or": "AND"}.get(text.lower())),
        "DISTINCT left out": replaced(parts, lambda _, text: "" if text.lower() == "distinct" else None),
        "another set operation": replaced(parts, lambda _, text: OTHER_SET.get(text.lower())),
        "sorted the other way": other_direction(parts),
        "another LIMIT": other_limit(parts),
    }
    for name, altered in ways.items():
        yield from ((name, one) for one in altered)


# --- Running and judging --------------------------------------------------------------------------------------------


class Databases:
    """The folder's databases, each opened once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.open = cache(self._open)
        self.card = cache(self._card)

    def _open(self, name: str) -> sqlite3.Connection:
        connection = read_only(self.folder / "database" / name / f"{name}.sqlite")
        connection.text_factory = lambda stored: stored.decode("utf-8", "replace")
        return connection

    def _card(self, name: str) -> Card:
        return schema_card(self.open(name))

    def run(self, name: str, sql: str) -> Rows | None:
        """Return the rows, or None where the SQL fails or takes longer than `SECONDS`."""
        connection, deadline = self.open(name), time.monotonic() + SECONDS
        connection.set_progress_handler(lambda: time.monotonic() > deadline, 100_000)
        try:
            with closing(connection.execute(sql)) as cursor:
                return cursor.fetchall()
        except sqlite3.Error:
            return None


def to_the_letter(got: Rows, wanted: Rows, ordered: bool) -> bool:
    """Compare without the library under test: cell for cell by type and text."""
    mine, theirs = (
        [tuple(f"{type(cell).__name__} {cell!r}" for cell in row) for row in rows] for rows in (got, wanted)
    )
    return mine == theirs if ordered else Counter(mine) == Counter(theirs)


@dataclass(frozen=True)
class Judged:
    """An altered query: whether it ran, whether it was taken for right, and whether it is the same to the letter."""

    name: str
    asked: Asked
    sql: str
    ran: bool
    same: bool
    to_the_letter: bool


def judge(databases: Databases, asked: Asked, wanted: Rows) -> Iterator[Judged]:
    """Give every alteration of a query, judged."""
    gold = Gold((wanted,), asked.ordered)
    for name, sql in alterations(asked.sql):
        got = databases.run(asked.db, sql)
        exact = got is not None and to_the_letter(got, wanted, asked.ordered)
        yield Judged(name, asked, sql, got is not None, is_right(got, gold), exact)


def against_itself(questions: list[Asked], wanted: list[Rows], databases: Databases) -> str:
    """Return the lines on right queries: against themselves, in another layout, and what suspicion says to them."""
    golds = [Gold((rows,), asked.ordered) for asked, rows in zip(questions, wanted, strict=True)]
    itself = execution_accuracy(zip(wanted, golds, strict=True))
    laid_out = (
        databases.run(one.db, f"WITH answer AS ({one.sql.rstrip('; ')}) SELECT * FROM answer") for one in questions
    )
    rewritten = execution_accuracy(zip(laid_out, golds, strict=True))
    doubts = [
        (asked, found)
        for asked, rows in zip(questions, wanted, strict=True)
        if (found := suspicions(asked.sql, rows, databases.card(asked.db)))
    ]
    lines = [
        f"gold against itself                     {round(itself.value * itself.n)}/{itself.n}",
        f"gold as a part of a WITH                {round(rewritten.value * rewritten.n)}/{rewritten.n}",
        f"gold that suspicion doubts              {len(doubts)}/{len(questions)}",
        *(f"    {asked.db}: {asked.sql[:90]}\n      {found[0]}" for asked, found in doubts[:SHOWN]),
    ]
    return "\n".join(lines)


def misspelt(questions: list[Asked], wanted: list[Rows], databases: Databases) -> str:
    """Return how often suspicion names the value where one text of a right query has its capitals changed."""
    changed = named = 0
    for asked, rows in zip(questions, wanted, strict=True):
        for sql in replaced(
            pieces(asked.sql), lambda kind, text: text.swapcase() if kind in ("text", "quoted") else None
        ):
            got = databases.run(asked.db, sql)
            if got is None or sql == asked.sql or to_the_letter(got, rows, asked.ordered):
                continue  # a LIKE, or a quoted column: the capitals do not matter
            changed += 1
            named += bool(suspicions(sql, got, databases.card(asked.db)))
    return f"capitals of a value changed, result too  {changed}, named by suspicion {named}"


def _row(name: str, judged: list[Judged]) -> list[str]:
    ran, same = sum(one.ran for one in judged), [one for one in judged if one.same]
    unequal = sum(not one.to_the_letter for one in same)
    return [name, *map(str, (ran, ran - len(same), len(same), unequal, len(judged) - ran))]


def _listed(survivors: list[Judged]) -> Iterator[str]:
    """Give the survivors by alteration, each SQL once, under the reason why they are equal."""
    for name in dict.fromkeys(one.name for one in survivors):
        yield f"{name}: {WHY_EQUAL[name]}"
        of = dict.fromkeys((one.asked.db, " ".join(one.sql.split())) for one in survivors if one.name == name)
        yield from (f"  {db}: {sql if len(sql) <= 160 else sql[:60] + ' … ' + sql[-97:]}" for db, sql in of)


def report(folder: Path) -> str:
    """Measure on a folder of data and return the text."""
    databases, questions = Databases(folder), questions_of(folder)
    wanted = [databases.run(one.db, one.sql) or [] for one in questions]
    judged = [one for asked, rows in zip(questions, wanted, strict=True) for one in judge(databases, asked, rows)]
    rows = [
        _row(name, [one for one in judged if one.name == name]) for name in dict.fromkeys(one.name for one in judged)
    ]
    rows.append(_row("all", judged))
    survivors = [one for one in judged if one.same]
    alarms = sum(one.ran and one.to_the_letter and not one.same for one in judged)
    header = ["alteration", "ran", "caught", "same result", "not to the letter", "failed"]
    return "\n".join(
        [
            against_itself(questions, wanted, databases),
            misspelt(questions, wanted, databases),
            f"\n{table(header, rows)}",
            f"the same to the letter, and yet taken for wrong: {alarms}",
            f"\nAltered, and equal on this data ({len(survivors)}, each SQL once):",
            *_listed(survivors),
        ]
    )


def main() -> None:
    """Print the report for the folder that the command names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sql_accuracy")
    parser.add_argument("folder", type=Path, help="questions.json and database/NAME/NAME.sqlite, for example spider_en")
    print(f"{facts()}\n{report(parser.parse_args().folder)}")


if __name__ == "__main__":
    main()
