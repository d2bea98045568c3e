"""The labelled questions: their right queries agree, their mistakes are mistakes, and no bare prompt gives one away."""

import sqlite3
from collections import Counter
from contextlib import closing

import pytest

from course_lib.corpora import invoices, sql_questions, tickets
from course_lib.sql.accuracy import is_right
from course_lib.sql.database import read_only
from course_lib.sql.guard import Guard
from course_lib.sql.schema_card import make_views
from course_lib.sql.text_to_sql import BARE, Source, build_prompt, gold_of, schema_card

QUESTIONS = sql_questions.sql_questions()
BY_ID = pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("questions")
    support, accounts = tickets.make_database(folder / "t.db"), invoices.make_database(folder / "i.db")
    make_views(support, sql_questions.TICKET_VIEWS)
    make_views(accounts, invoices.VIEWS)
    sq = sql_questions
    return {
        "tickets": Source(support, sq.TICKET_TABLES, list(sq.TICKET_VIEWS), sq.TICKET_MEANINGS, sq.examples("tickets")),
        "invoices": Source(accounts, invoices.TABLES, list(invoices.VIEWS), invoices.MEANINGS, sq.examples("invoices")),
    }


def test_there_are_fifty_questions_with_several_right_queries():
    assert Counter(question.db for question in QUESTIONS) == {"tickets": 20, "invoices": 30}
    assert len({question.id for question in QUESTIONS}) == len({question.text for question in QUESTIONS}) == 50
    assert sum(len(question.gold) > 1 for question in QUESTIONS) > 40
    assert [question.id for question in sql_questions.sql_questions("tickets")] == [f"t{n:02d}" for n in range(1, 21)]


@BY_ID
def test_every_right_query_gives_the_same_result_behind_the_guard(question, sources):
    source = sources[question.db]
    gold = gold_of(question, source.path)
    guard = Guard({*source.tables, *source.views}, max_rows=500)
    for sql in (*question.gold, *([question.view[1]] if question.view else [])):
        result = guard.run(source.path, sql)
        assert not result.truncated
        assert is_right(result.rows, gold), sql


@BY_ID
def test_a_mistake_changes_the_result_or_fails(question, sources):
    gold = gold_of(question, sources[question.db].path)
    for slip in question.slips:
        assert slip.instead_of in question.gold[0]
        with closing(read_only(sources[question.db].path)) as connection:
            try:
                rows = connection.execute(question.gold[0].replace(slip.instead_of, slip.writes)).fetchall()
            except sqlite3.OperationalError:
                assert slip.kind == "invented column"
                continue
        assert slip.kind != "invented column"
        assert not is_right(rows, gold), slip


@BY_ID
def test_neither_the_question_nor_the_bare_schema_prevents_the_mistake(question, sources):
    source = sources[question.db]
    with closing(read_only(source.path)) as connection:
        card = schema_card(connection, source.meanings, source.tables, BARE.values, BARE.meanings)
    told = build_prompt(question.text, card).told
    assert not [text for slip in question.slips for text in slip.unless if text in told]


def test_true_zeros_are_among_the_questions_also_where_rows_are_presupposed(sources):
    zeros = {}
    for question in QUESTIONS:
        (rows, *_) = gold_of(question, sources[question.db].path).variants
        if rows in ([], [(0,)]):
            zeros[question.id] = question.presupposes_rows
    assert zeros == {"t02": True, "t09": True, "t10": False, "t19": False, "i21": False, "i22": True}


def test_what_is_hard_is_among_the_questions():
    kinds = {slip.kind for question in QUESTIONS for slip in question.slips}
    assert kinds >= {
        "wrong case", "wrong column", "double count", "wrong date column", "missing filter", "invented column",
        "missing join", "wrong value", "wrong unit", "wrong arithmetic", "misread question",
    }  # fmt: skip
    assert sum(question.uncut is not None for question in QUESTIONS) >= 5
    assert all(
        question.slips[0].kind == "misread question" for question in QUESTIONS if question.id in ("t20", "i23", "i24")
    )


@pytest.mark.parametrize("db", ["tickets", "invoices"])
def test_the_examples_run_and_are_no_labelled_questions(db, sources):
    pairs = sql_questions.examples(db)
    assert len(pairs) == 5
    asked = {question.text for question in QUESTIONS} | {sql for question in QUESTIONS for sql in question.gold}
    for text, sql in pairs:
        assert text not in asked
        assert sql not in asked
        assert Guard(sources[db].tables).run(sources[db].path, sql).rows
