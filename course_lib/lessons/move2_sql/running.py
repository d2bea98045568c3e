"""What the cells of Move 2 run and show: samples of rows, ten outputs through executors, six statements, failures."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from course_lib.bm25 import Index, lesson_rules
from course_lib.corpora import support_kb as kb
from course_lib.corpora import tickets
from course_lib.dense import DenseIndex, load_encoder
from course_lib.learn.look import Shown, card, escape, mark, table
from course_lib.retrieval import Retriever
from course_lib.sql.database import read_only
from course_lib.sql.orders import OrderService, OrderStatus, Session, order_status

# --- Retrieval over rows -------------------------------------------------------------------------------------------

CUT_OFFS = (3, 5, 10, 20)


def support_searches() -> dict[str, Retriever]:
    """Return BM25 with Move 1's two rules and MiniLM, both over the eight support articles."""
    texts = {article.id: article.chunk for article in kb.articles()}
    strict = Index(kb.documents(), copies=False, rules=lesson_rules(kb.stop_words()))
    return {"BM25": strict.search, "MiniLM": DenseIndex(texts, load_encoder(kb.VECTORS)).search}


def dense_rows(rows: Mapping[str, str]) -> Retriever:
    """Return MiniLM's search over rows that were written out as text, a mapping from id to text."""
    return DenseIndex(rows, load_encoder(tickets.VECTORS)).search


def show_samples() -> Shown:
    """Return, for each wording of the rows, how many of the five wanted tickets are among the first k."""
    wanted = tickets.ids_where("Berlin", "P1", "open")
    rows = []
    for wording in tickets.WORDINGS:
        texts = tickets.row_texts(wording)
        ids = [hit.id for hit in dense_rows(texts)(tickets.QUESTION, len(texts))]
        counts = [str(len(wanted & set(ids[:k]))) for k in CUT_OFFS]
        rows.append([escape(texts["T-1000"]), *counts])
    headers = ["Of the five, how many are among the first k", *(f"k = {k}" for k in CUT_OFFS)]
    return Shown(card("", table(headers, rows, numbers=range(1, len(headers)))))


# --- Ten outputs, two executors ------------------------------------------------------------------------------------

HARMFUL = frozenset({"delete", "salaries", "two stmts", "runaway"})


@dataclass(frozen=True)
class Run:
    """What came of one output: its rows, or the error that stopped it; `rows` is None where nothing came back."""

    rows: list[tuple[Any, ...]] | None = None
    error: str = ""


NOT_RUN = Run(error="")


def attempt(execute: Callable[[str], list[tuple[Any, ...]]], output: str) -> Run:
    """Run an output and keep what happened, also what stopped it."""
    try:
        return Run(execute(output))
    except (ValueError, sqlite3.Error) as error:
        return Run(error=f"{type(error).__name__}: {error}")


def mistakes(runs: Mapping[str, Run], truth: list[tuple[Any, ...]] | None = None) -> list[str]:
    """Return the outputs on which an executor did the wrong thing: a harmful one let through, a harmless one refused.

    What was not run for want of anything that would stop it counts as let through. With `truth`, the rows that answer
    the question, a count that came back and is not the truth is a mistake as well.
    """
    found = []
    for name, run in runs.items():
        let_through = run.rows is not None or run is NOT_RUN
        is_false = bool(truth) and run.rows is not None and len(run.rows[0]) == 1 and run.rows != truth
        if let_through == (name in HARMFUL) or is_false:
            found.append(name)
    return found


def show_outputs(outputs: Mapping[str, str]) -> Shown:
    """Return the outputs to be read, each with its name."""
    rows = [[escape(name), f"<code>{escape(text)}</code>"] for name, text in outputs.items()]
    return Shown(card("", table(["Name", "What the model returned"], rows)))


def show_runs(runs: Mapping[str, Mapping[str, Run]]) -> Shown:
    """Return what each executor made of each output, and whether the output is harmful."""
    names = next(iter(runs.values()))
    rows = [
        [escape(name), "yes" if name in HARMFUL else "no", *(_came_back(by_name[name]) for by_name in runs.values())]
        for name in names
    ]
    return Shown(card("", table(["Output", "Harmful", *runs], rows)))


def _came_back(run: Run) -> str:
    if run.rows is not None:
        return f"rows: {escape(run.rows)}"
    return "not run" if run is NOT_RUN else f"refused: {escape(run.error)}"


# --- What read-only lets through -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trial:
    """A statement through a read-only connection: the engine's error, or None, and the files that were new after it.

    `allowed` is the error with an allow-list on top, or None where it was carried out all the same.
    """

    name: str
    sql: str
    error: str | None
    new_files: tuple[str, ...]
    allowed: str | None = None


Authorizer: TypeAlias = Callable[..., int]


def through_read_only(database: Path, allow: Authorizer) -> list[Trial]:
    """Run six statements on read-only connections to a copy of `database`, without the authorizer `allow` and with it.

    The copy and all that the statements write is in a folder that is removed at the end.
    """
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / "support.db"
        copy.write_bytes(database.read_bytes())
        statements = {
            "DELETE": ["DELETE FROM tickets"],
            "ATTACH": [f"ATTACH {_literal(copy.with_name('new.db'))} AS other", "CREATE TABLE other.loot(x)"],
            "VACUUM INTO": [f"VACUUM INTO {_literal(copy.with_name('copy.db'))}"],
            "TEMP": ["CREATE TEMP TABLE scratch(x)"],
            "DROP": ["DROP TABLE tickets"],
            "PRAGMA": ["PRAGMA query_only = OFF"],
        }
        return [_trial(copy, name, sql, allow) for name, sql in statements.items()]


def _literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _trial(database: Path, name: str, statements: Sequence[str], allow: Authorizer) -> Trial:
    with_list = _error(database, statements, allow)
    before = {path.name for path in database.parent.iterdir()}
    error = _error(database, statements)
    new = {path.name for path in database.parent.iterdir()} - before
    shown = "; ".join(statements).replace(str(database.parent), "…")
    return Trial(name, shown, error, tuple(sorted(new)), with_list)


def _error(database: Path, statements: Sequence[str], allow: Authorizer | None = None) -> str | None:
    """Run the statements on one read-only connection and return what stopped them, or None."""
    with closing(read_only(database)) as connection:
        connection.set_authorizer(allow)
        try:
            for statement in statements:
                connection.execute(statement)
        except sqlite3.Error as raised:
            return str(raised)
    return None


def show_trials(trials: Sequence[Trial]) -> Shown:
    """Return what became of each statement, which files it left on the disk, and what the allow-list makes of it."""
    rows = [
        [
            f"<code>{escape(trial.sql)}</code>",
            _became(trial.error),
            escape(", ".join(trial.new_files)),
            _became(trial.allowed),
        ]
        for trial in trials
    ]
    return Shown(card("", table(["Statement", "Read-only", "New files", "And the allow-list"], rows)))


def _became(error: str | None) -> str:
    return "<b>carried out</b>" if error is None else f"refused: {escape(error)}"


# --- Suspicion -----------------------------------------------------------------------------------------------------

ZEROS = {
    "capital": "SELECT COUNT(*) FROM tickets WHERE team = 'Berlin' AND status = 'Open'",
    "name": "SELECT COUNT(*) FROM tickets WHERE team = 'Berlin Support' AND status = 'open'",
    "this week": "SELECT COUNT(*) FROM tickets WHERE team = 'Berlin' AND priority = 'P1' "
    "AND status = 'open' AND opened >= '2026-09-18'",
    "date format": "SELECT id FROM tickets WHERE opened = '25/09/2026'",
}

# --- Orders --------------------------------------------------------------------------------------------------------

FAILURES = ("hangs", "HTTP 500", "HTML", "other order", "redirect")


def ask_orders(session: Session, service: OrderService, ids: Sequence[str]) -> Shown:
    """Return what the tool answers for each id, asked in the name of the session."""
    rows = [[f"<code>{escape(repr(id))}</code>", _answer(order_status(session, service.base_url, id))] for id in ids]
    return Shown(card("", table([f"Asked by {session.customer_id}", "The tool's result"], rows)))


def ask_failing(session: Session, service: OrderService, id: str) -> Shown:
    """Return what the tool answers while the service fails in several ways, the last of them being that it is gone."""
    rows = []
    for behaviour in FAILURES:
        service.behaviour = behaviour  # type: ignore[assignment]
        rows.append([escape(behaviour), _answer(order_status(session, service.base_url, id, seconds=0.5))])
    service.behaviour = "normal"
    address = service.base_url
    service.stop()
    rows.append(["is stopped", _answer(order_status(session, address, id))])
    return Shown(card("", table(["The service …", "The tool's result"], rows)))


def _answer(answer: object) -> str:
    if isinstance(answer, OrderStatus):
        return mark("retrieved", f"{answer.status}, expected {answer.expected or 'on no day'}")
    return mark("missed", str(getattr(answer, "text", answer)))
