"""The prompt, the loop, the live adapter, and the ladder that counts what each repair repairs."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from course_lib.corpora import invoices, sql_questions, tickets
from course_lib.llm import Budget, Model, ModelError, open_model
from course_lib.pricing import Price
from course_lib.retrieval import Usage
from course_lib.sql.database import read_only
from course_lib.sql.guard import Guard
from course_lib.sql.schema_card import make_views, schema_card
from course_lib.sql.text_to_sql import (
    ALONE,
    LADDER,
    NO_QUERY,
    Prompt,
    Source,
    StandIn,
    answer,
    build_prompt,
    climb,
    presupposes_rows,
    with_model,
)
from course_lib.transcripts import Answer as ApiAnswer
from course_lib.transcripts import recording

P1 = "How many P1 tickets are open for the Berlin team?"
RIGHT = "SELECT count(*) FROM tickets WHERE team = 'Berlin' AND priority = 'P1' AND status = 'open'"
WRONG = RIGHT.replace("'open'", "'Open'")
GUARD = Guard({"tickets"})
PRICE = Price("round numbers", 3.0, 15.0, 0.1, 1.25, 2.0)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tickets.make_database(tmp_path_factory.mktemp("loop") / "support.db")


@pytest.fixture(scope="module")
def card(path):
    with closing(read_only(path)) as connection:
        return schema_card(connection, sql_questions.TICKET_MEANINGS, ["tickets"])


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ladder")
    support, accounts = tickets.make_database(folder / "t.db"), invoices.make_database(folder / "i.db")
    make_views(support, sql_questions.TICKET_VIEWS)
    make_views(accounts, invoices.VIEWS)
    sq = sql_questions
    return {
        "tickets": Source(support, sq.TICKET_TABLES, list(sq.TICKET_VIEWS), sq.TICKET_MEANINGS, sq.examples("tickets")),
        "invoices": Source(accounts, invoices.TABLES, list(invoices.VIEWS), invoices.MEANINGS, sq.examples("invoices")),
    }


@pytest.fixture(scope="module")
def ladder(sources):
    return climb(sql_questions.sql_questions(), sources)


@pytest.fixture(scope="module")
def alone(sources):
    return climb(sql_questions.sql_questions(), sources, ALONE)


def saying(*outputs):
    """A model that says these things in turn, and keeps the prompts it was given."""
    left, seen = list(outputs), []

    def ask(prompt):
        seen.append(prompt)
        said = left.pop(0)
        if isinstance(said, Exception):
            raise said
        return said

    return ask, seen


# --- The prompt -----------------------------------------------------------------------------------------------------


def test_the_question_comes_last_and_everything_before_it_stays_the_same(card):
    first, second = (
        build_prompt(P1, card, [("How many?", "SELECT 1")]),
        build_prompt("Why?", card, [("How many?", "SELECT 1")]),
    )
    assert first.system == second.system
    assert first.messages == ({"role": "user", "content": P1},)
    assert "Today is 2026-09-25." in first.system
    assert card.text() in first.system
    assert "Question: How many?\nSQL: SELECT 1" in first.system


def test_what_the_model_wrote_itself_is_not_what_it_was_told():
    prompt = Prompt("rules", ({"role": "user", "content": "asked"},)).then("status = 'Open'", "no such value")
    assert prompt.told == "rules\n\nasked\n\nno such value"
    assert [said["role"] for said in prompt.messages] == ["user", "assistant", "user"]


def test_a_blank_question_is_refused(card):
    with pytest.raises(ValueError, match="blank"):
        build_prompt(" \n", card)


@pytest.mark.parametrize(
    "question", ["Is there a P4?", "Are any tickets open?", "Did Berlin close any?", "do we have one"]
)
def test_a_question_that_leaves_it_open_presupposes_nothing(question):
    assert not presupposes_rows(question)
    assert presupposes_rows(tickets.THIS_WEEK)
    assert presupposes_rows("How many are open?")


# --- The loop -------------------------------------------------------------------------------------------------------


def test_a_right_query_is_asked_for_once_and_shown_beside_its_rows(path, card):
    ask, seen = saying(f"```sql\n{RIGHT}\n```")
    given = answer(P1, ask, GUARD, path, card)
    assert (given.rows, given.sql, given.notes, given.truncated, len(seen)) == ([(5,)], RIGHT, (), False, 1)
    assert str(given).splitlines() == [P1, "count(*)", "5", f"SQL: {RIGHT}"]


def test_the_false_zero_is_doubted_the_near_miss_told_and_the_answer_is_five(path, card):
    ask, seen = saying(WRONG, RIGHT)
    given = answer(P1, ask, GUARD, path, card)
    assert given.rows == [(5,)]
    assert given.notes == ()
    assert "No row of tickets.status holds 'Open'. Near to it: 'open'." in seen[1].messages[-1]["content"]
    assert [len(attempt.doubts) for attempt in given.attempts] == [1, 0]


def test_without_suspicion_the_false_zero_ships(path, card):
    ask, seen = saying(WRONG)
    given = answer(P1, ask, GUARD, path, card, suspicious=False)
    assert (given.rows, given.notes, len(seen)) == ([(0,)], (), 1)


def test_a_model_that_stands_by_its_query_is_believed_and_the_doubt_is_shown(path, card):
    madrid = "SELECT count(*) FROM tickets WHERE team = 'Madrid'"
    ask, seen = saying(madrid, f"```\n{madrid}\n```")
    given = answer("How many tickets has Madrid?", ask, GUARD, path, card)
    assert given.rows == [(0,)]
    assert len(seen) == 2
    assert given.notes == ("Doubtful: No row of tickets.team holds 'Madrid'. It holds 'Berlin', 'Lisbon', 'Munich'.",)
    assert "Doubtful" in str(given)


def test_a_true_zero_is_answered_at_once_and_says_that_its_filters_are_known(path, card):
    sql = next(q.gold[0] for q in sql_questions.sql_questions() if q.text == tickets.THIS_WEEK)
    given = answer(tickets.THIS_WEEK, saying(sql)[0], GUARD, path, card)
    assert (given.rows, len(given.attempts)) == ([], 1)
    assert given.notes == ("Nothing was found, and no filter value is unknown to the data.",)


def test_a_refusal_goes_back_as_text_that_the_model_can_act_on(path, card):
    ask, seen = saying("SELECT state FROM tickets", "DROP TABLE tickets", RIGHT)
    given = answer(P1, ask, GUARD, path, card)
    assert given.rows == [(5,)]
    told = [prompt.messages[-1]["content"] for prompt in seen[1:]]
    assert "no such column: state" in told[0]
    assert "tickets (id, team, priority" in told[0]
    assert "Write the statement again." in told[1]


def test_after_the_last_attempt_the_refusal_is_the_answer(path, card):
    ask, seen = saying(*["SELECT employee FROM salaries"] * 3)
    given = answer("Who earns most?", ask, GUARD, path, card)
    assert (given.sql, given.rows, len(seen)) == ("", [], 3)
    assert "salaries" in given.notes[0]
    assert "No answer." in str(given)


def test_a_result_survives_a_correction_that_fails(path, card):
    given = answer(P1, saying(WRONG, "SELECT nonsense", "SELECT more nonsense")[0], GUARD, path, card)
    assert given.rows == [(0,)]
    assert given.notes[0].startswith("Doubtful: No row of tickets.status holds 'Open'")


def test_a_model_may_say_that_no_query_can_answer(path, card):
    ask, seen = saying(f"{NO_QUERY} there is no column\nfor satisfaction <b>")
    given = answer("How happy are they?", ask, GUARD, path, card)
    assert (given.sql, len(seen)) == ("", 1)
    assert given.notes[0].startswith("The model says: 'there is no column for satisfaction <b>'")


def test_a_cut_list_says_so(path, card):
    given = answer("List all tickets", saying("SELECT id FROM tickets")[0], Guard({"tickets"}, max_rows=20), path, card)
    assert given.truncated
    assert len(given.rows) == 20
    assert "Cut off" in given.notes[-1]
    assert "… and 10 more rows" in str(given)


def test_a_card_that_is_older_than_the_data_is_read_again(tmp_path, card):
    path = tickets.make_database(tmp_path / "support.db")
    with closing(read_only(path)) as connection:
        old = schema_card(connection, tables=["tickets"])
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("UPDATE tickets SET status = 'on hold' WHERE id = 'T-1000'")
        writer.commit()
    ask, seen = saying("SELECT id FROM tickets WHERE status = 'on hold'")
    given = answer("Which tickets are on hold?", ask, GUARD, path, old)
    assert given.rows == [("T-1000",)]
    assert "'on hold'" in seen[0].system
    assert given.notes == ("The data had changed since the schema card was read; it was read again.",)


def test_a_hostile_cell_is_one_quoted_line_in_the_answer(tmp_path):
    path = tmp_path / "notes.db"
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("CREATE TABLE notes(body TEXT)")
        writer.execute("INSERT INTO notes VALUES (?)", ("hello\nSQL: SELECT 1 " + "x" * 5000,))
        writer.commit()
    with closing(read_only(path)) as connection:
        card = schema_card(connection)
    given = answer("What do the notes say?", saying("SELECT body FROM notes")[0], Guard({"notes"}), path, card)
    assert len(str(given).splitlines()) == 4
    assert len(str(given)) < 300


# --- A live model ---------------------------------------------------------------------------------------------------


def model(*texts, stop="end_turn", bodies=None):
    left = list(texts)

    def send(body):
        if bodies is not None:
            bodies.append(body)
        message = {"model": "m", "content": [{"type": "text", "text": left.pop(0)}], "stop_reason": stop}
        return ApiAnswer({**message, "usage": {"input_tokens": 400, "output_tokens": 30}}, "req_1")

    return Model("m", PRICE, Budget(1.0), send)


def test_a_live_model_writes_sql_as_structured_output_and_its_tokens_are_counted(path, card):
    bodies = []
    replies = [json.dumps({"sql": sql, "reason": ""}) for sql in (WRONG, RIGHT)]
    given = answer(P1, with_model(model(*replies, bodies=bodies)), GUARD, path, card)
    assert given.rows == [(5,)]
    assert given.usage == Usage(fresh=800, output=60, calls=2)
    assert [message["role"] for message in bodies[1]["messages"]] == ["user", "assistant", "user"]
    assert bodies[1]["messages"][1]["content"] == WRONG
    assert "json_schema" in json.dumps(bodies[0])


def test_a_live_run_is_recorded_and_replayed_without_a_model(path, card, tmp_path):
    transcript = tmp_path / "run.jsonl"
    live = model(*(json.dumps({"sql": sql, "reason": ""}) for sql in (WRONG, RIGHT)))
    recorded = answer(P1, with_model(replace(live, send=recording(live.send, transcript))), GUARD, path, card)
    replayed = answer(P1, with_model(open_model(PRICE, "m", replay=transcript)), GUARD, path, card)
    assert replayed == recorded
    assert replayed.rows == [(5,)]
    other = answer("How many are closed?", with_model(open_model(PRICE, "m", replay=transcript)), GUARD, path, card)
    assert other.sql == ""
    assert "record" in other.notes[0]


def test_a_live_model_that_gives_a_reason_instead_is_quoted(path, card):
    given = answer(P1, with_model(model(json.dumps({"sql": " ", "reason": "no such data"}))), GUARD, path, card)
    assert given.notes == ("The model says: 'no such data'",)


def test_a_reply_of_the_wrong_shape_goes_back_and_a_refusal_ends_it(path, card):
    ask = with_model(model("SELECT, I think", json.dumps({"sql": RIGHT, "reason": ""})))
    assert answer(P1, ask, GUARD, path, card).rows == [(5,)]
    given = answer(P1, with_model(model("", stop="refusal")), GUARD, path, card)
    assert given.sql == ""
    assert len(given.attempts) == 1
    assert given.usage.calls == 1


def test_without_a_key_the_answer_says_what_to_set(path, card):
    silent = Model("m", PRICE, Budget(1.0), lambda body: 1 / 0, missing=("no key", "No key, and nothing was sent."))
    assert answer(P1, with_model(silent), GUARD, path, card).notes == ("No key, and nothing was sent.",)


def test_a_model_error_after_a_result_keeps_the_result(path, card):
    given = answer(P1, saying(WRONG, ModelError("Overloaded.", "overloaded"))[0], GUARD, path, card)
    assert given.rows == [(0,)]
    assert "Doubtful" in given.notes[0]


# --- The stand-in ---------------------------------------------------------------------------------------------------


def test_the_stand_in_reads_the_prompt_and_no_flag(card, path):
    stand_in = StandIn(sql_questions.sql_questions())
    bare = build_prompt(P1, schema_card_without_values(path))
    assert stand_in(bare) == WRONG
    assert stand_in(build_prompt(P1, card)) == RIGHT
    assert stand_in(bare.then(WRONG, "Near to it: 'open'.")) == RIGHT
    assert stand_in(bare.then("I might write 'open'", "Why?")) == WRONG, "its own words are no news to it"
    assert "FROM open_tickets" in stand_in(Prompt(f"{bare.system}\nView open_tickets", bare.messages))
    assert stand_in(build_prompt("Who?", card)).startswith(NO_QUERY)


def schema_card_without_values(path):
    with closing(read_only(path)) as connection:
        return schema_card(connection, tables=["tickets"], values=False, show_meanings=False)


# --- The ladder -----------------------------------------------------------------------------------------------------


def totals(climbed):
    return {rung: sum(of[rung] for of in climbed.counts().values()) for rung in climbed.rungs}


def test_every_rung_repairs_something_and_none_breaks_anything(ladder):
    assert list(totals(ladder).values()) == [10, 13, 28, 38, 41, 46, 47]
    assert all(ladder.repaired(rung.name) for rung in LADDER[1:])
    assert not any(ladder.broken(rung.name) for rung in LADDER)


def test_each_repair_repairs_its_own_kind_of_mistake(ladder):
    kinds = {one.id: one.kind for one in ladder.outcomes}
    repaired = {rung: {kinds[id] for id in ladder.repaired(rung)} for rung in ladder.rungs}
    assert repaired["+ errors handed back"] == {"invented column"}
    assert repaired["+ values"] == {"wrong case", "wrong value"}
    assert repaired["+ meanings"] == {
        "wrong date column",
        "wrong unit",
        "wrong column",
        "missing filter",
        "wrong value",
    }
    assert repaired["+ views"] == {"double count", "missing filter"}
    assert repaired["+ examples"] == {"wrong arithmetic", "double count", "missing join"}
    assert repaired["+ suspicion"] == {"wrong value"}


def test_some_mistakes_no_repair_reaches_and_some_right_answers_are_doubted(ladder, alone):
    assert ladder.never_repaired() == alone.never_repaired() == ["t20", "i23", "i24"]
    assert ladder.false_warnings() == ["t09", "i22"]


def test_alone_suspicion_repairs_what_can_be_looked_up_and_nothing_else(alone):
    counts = alone.counts()
    fixed = {kind for kind, of in counts.items() if of["suspicion alone"] > of["bare schema"]}
    assert fixed == {"wrong case", "wrong value", "invented column"}
    assert alone.repaired("values alone", since="bare schema") == [
        "t01", "t04", "t05", "t08", "t14", "t15", "t17", "t18", "i04", "i05", "i06", "i07", "i13", "i15", "i30",
    ]  # fmt: skip


def test_the_manager_is_told_five_from_the_rung_with_values_on(ladder):
    right = {one.rung: one.right for one in ladder.outcomes if one.id == "t01"}
    assert list(right.values()) == [False, False, True, True, True, True, True]


def test_the_table_counts_and_reports_no_share(ladder):
    text = str(ladder)
    assert text.splitlines()[-1].split() == ["all", "50", "10", "13", "28", "38", "41", "46", "47"]
    assert "%" not in text
    assert "." not in text
    assert sum(ladder.asked().values()) == 50
