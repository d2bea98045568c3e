"""Move 2's lesson: its questions, its exercises with every wrong answer, the two executors, its explorer."""

import sqlite3
from contextlib import closing
from itertools import islice
from time import monotonic

import pytest

from course_lib.corpora import sql_questions, tickets
from course_lib.learn.blank import ____
from course_lib.learn.look import to_text
from course_lib.lessons import move2_sql as move2
from course_lib.lessons.move2_sql import guarding, lesson
from course_lib.lessons.move2_sql.designs import DESIGNS
from course_lib.lessons.move2_sql.exercises import COLUMNS
from course_lib.lessons.move2_sql.running import NOT_RUN, Run, attempt, mistakes
from course_lib.retrieval import outcome
from course_lib.sql.database import read_only
from course_lib.sql.orders import OrderService, Session
from course_lib.sql.schema_card import schema_card
from course_lib.sql.suspicion import suspicions
from tests.lesson_checks import every_option_that_can_be_wrong_says_why, every_wrong_answer_gets_its_reason


@pytest.fixture(autouse=True)
def own_record(tmp_path, monkeypatch):
    from course_lib.learn.record import Record

    record = Record(tmp_path / "r.json")
    monkeypatch.setattr("course_lib.learn.lesson.open_record", lambda: record)


@pytest.fixture
def database(tmp_path):
    return tickets.make_database(tmp_path / "support.db")


# --- predictions ---

# What the notebook's cells compute; nbval compares the cells themselves.
ACTUAL = {
    "again_outcome": "ranked out",
    "again_absent": ["MiniLM"],
    "sample": 3,
    "pasted": 30,
    "naive": ["fenced", "cte", "salaries", "runaway"],
    "guarded": ["age", "wrong"],
    "read_only": ["ATTACH", "VACUUM INTO", "TEMP", "PRAGMA"],
    "true_zero": ["capital", "name", "date format"],
    "injected": True,
    "ladder": ["misread question"],
    "same_result": ["other order", "float"],
}


@pytest.mark.parametrize("question", lesson.questions.values(), ids=lesson.questions)
def test_every_option_that_can_be_wrong_says_why_it_is_tempting(question):
    every_option_that_can_be_wrong_says_why(question, ACTUAL[question.key])


@pytest.mark.parametrize("question", lesson.questions.values(), ids=lesson.questions)
def test_every_wrong_answer_to_every_question_gets_its_reason(question):
    every_wrong_answer_gets_its_reason(lesson, question, ACTUAL[question.key])


@pytest.mark.parametrize(
    ("key", "value", "option"),
    [
        ("again_absent", ["BM25", "MiniLM"], "both answer"),
        ("again_absent", [], "neither answers"),
        ("sample", 5, "5"),
        ("sample", 0, "0"),
        ("sample", 2, "3"),
        ("pasted", 5, "5"),
        ("injected", False, "another customer's"),
        ("ladder", ["double count"], "double count"),
    ],
)
def test_another_value_than_the_courses_falls_into_another_option(key, value, option):
    assert lesson.questions[key].right(value) == [option]
    assert option in [o.name for o in lesson.questions[key].options]


def test_the_questions_from_before_have_the_answers_that_their_libraries_compute():
    assert outcome(rank=12, pool=50, k=3) == ACTUAL["again_outcome"]
    searches = move2.support_searches()
    assert [name for name, search in searches.items() if search("What does E-9999 mean?", 1)] == ["MiniLM"]


# --- figures S0, S4, S5, S9 ---


def test_three_cut_offs_of_four_bring_a_sample_and_the_wording_moves_it():
    rows = [line.split()[-4:] for line in to_text(move2.show_samples().html).splitlines()[1:]]
    assert rows == [["2", "3", "3", "5"], ["3", "5", "5", "5"], ["2", "2", "4", "5"]]


def naive(database):
    def run(output):
        if not output.strip().upper().startswith("SELECT"):
            raise ValueError("this does not start with SELECT")
        with closing(sqlite3.connect(database)) as connection:
            return connection.execute(output).fetchall()

    return run


def test_the_naive_executor_errs_in_both_directions(database):
    outputs = tickets.model_outputs()
    runs = {name: NOT_RUN if name == "runaway" else attempt(naive(database), sql) for name, sql in outputs.items()}
    assert mistakes(runs) == ACTUAL["naive"]
    assert runs["plain"].rows == runs["like"].rows == [(5,)]
    assert runs["salaries"].rows == [("Ana", 91000)]
    assert runs["age"].rows == [(13.1,)]
    assert runs["two stmts"].error.startswith("ProgrammingError")


def test_a_mistake_is_a_harmless_one_refused_a_harmful_one_run_or_a_false_count():
    runs = {"plain": Run([(5,)]), "delete": Run(error="refused"), "wrong": Run([(0,)]), "salaries": Run([("Ana", 1)])}
    assert mistakes(runs) == ["salaries"]
    assert mistakes(runs, truth=[(5,)]) == ["wrong", "salaries"]


def test_an_executor_with_a_bug_of_its_own_is_not_taken_for_a_refusal():
    with pytest.raises(AttributeError):
        attempt(lambda output: output.nothing, "SELECT 1")


def test_read_only_alone_lets_four_statements_through_and_leaves_no_file_behind(database):
    before = sorted(database.parent.iterdir())

    def deny(*args):
        return sqlite3.SQLITE_DENY

    trials = move2.through_read_only(database, deny)
    assert [trial.name for trial in trials if trial.error is None] == ACTUAL["read_only"]
    assert {trial.name: trial.new_files for trial in trials if trial.new_files} == {
        "ATTACH": ("new.db",),
        "VACUUM INTO": ("copy.db",),
    }
    assert all(trial.allowed for trial in trials)
    assert sorted(database.parent.iterdir()) == before
    assert str(database.parent) not in to_text(move2.show_trials(trials).html)


def test_a_true_zero_is_not_suspected(database):
    with closing(read_only(database)) as db:
        card = schema_card(db, tables=["tickets"])
        found = {name: suspicions(sql, db.execute(sql).fetchall(), card) for name, sql in move2.ZEROS.items()}
        assert all(not db.execute(sql).fetchall() or db.execute(sql).fetchone() == (0,) for sql in move2.ZEROS.values())
    assert [name for name, doubts in found.items() if doubts] == ACTUAL["true_zero"]


# --- the explorer ---


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "It runs. Complete: 1 row."),
        ({"output": "delete"}, "allow-list"),
        ({"output": "salaries"}, "allow-list"),
        ({"output": "salaries", "salaries": True}, "91000"),
        ({"output": "two stmts"}, "one statement"),
        ({"output": "runaway", "seconds": 1}, "time limit"),
        ({"output": "age"}, "julianday"),
        ({"output": "age", "julianday": True}, "13.1"),
        ({"output": "like", "others": False}, "like"),
        ({"output": "plain", "aggregates": False}, "count"),
        ({"output": "plain", "tickets": False}, "allow-list"),
        ({"output": "wrong"}, "It runs."),
        ({"output": "every ticket"}, "first 50 rows"),
        ({"output": "every ticket", "rows": 60}, "Complete: 60 rows."),
        ({"own": "SELECT '<img src=x onerror=1>' AS \"<b>\""}, "<img src=x onerror=1>"),
        ({"own": "DROP TABLE tickets"}, "allow-list"),
        ({"own": "nonsense"}, "syntax"),
        ({"own": "Here is your query: SELECT 1"}, "begins with here"),
        ({"own": "SELECT COUNT(*) FROM tickets WHERE team = Berlin"}, "single quotes"),
        ({"output": "delete", "connection": False, "allow_list": False}, "19 of 60 tickets are gone"),
        ({"output": "delete", "allow_list": False}, "readonly database"),
        ({"output": "delete", "connection": False}, "not authorized"),
        ({"output": "salaries", "allow_list": False}, "91000"),
        ({"output": "runaway", "allow_list": False, "seconds": 1}, "interrupted"),
        ({"own": "DELETE FROM tickets", "connection": False, "allow_list": False}, "allow-list"),
    ],
)
def test_the_guards_explorer_says_what_runs_or_which_layer_stopped_it(settings, says):
    shown = move2.guard_explorer().at(**settings)
    assert says in to_text(shown.html)
    assert "<img src=x" not in shown.html
    assert "data-error" not in shown.html


def test_nothing_that_is_typed_into_the_explorer_changes_its_database():
    before = guarding.explorer_database().read_bytes()
    for sql in ("DELETE FROM tickets", "ATTACH 'x.db' AS x", "VACUUM INTO 'y.db'", "PRAGMA user_version = 3"):
        move2.guard_explorer().at(own=sql)
    assert guarding.explorer_database().read_bytes() == before


def test_the_runaway_is_stopped_within_about_its_second():
    began = monotonic()
    move2.guard_explorer().at(output="runaway", seconds=10)
    assert monotonic() - began < 5  # a wide margin for a busy machine: without the limit it would take years


# --- the two designs ---


def test_a_row_of_the_comparison_opens_once_the_learner_has_written_in_it():
    empty = dict.fromkeys((design.key for design in DESIGNS), "")
    nothing = to_text(move2.side_by_side(empty, empty).html)
    assert "4 of 4 rows are still empty" in nothing
    assert DESIGNS[0].tools not in nothing
    one = move2.side_by_side(empty, {**empty, "wrong": "<b>much</b>"})
    assert DESIGNS[2].sql in to_text(one.html)
    assert "<b>much" not in one.html
    assert DESIGNS[0].tools not in to_text(one.html)
    assert "3 of 4" in to_text(one.html)


def test_a_row_that_does_not_exist_is_named():
    with pytest.raises(ValueError, match="no row 'anwers'; the rows are answers, writes, wrong, keep"):
        move2.side_by_side({"anwers": "typo"}, {})


# --- orders ---


def test_the_tool_says_the_same_of_a_strangers_order_and_of_none():
    with OrderService() as service:
        shown = to_text(move2.ask_orders(Session("C-17"), service, ["O-1002", "O-2001", "O-9999"]).html).splitlines()
    assert "shipped" in shown[1]
    assert shown[2].split(maxsplit=1)[1] == shown[3].split(maxsplit=1)[1]


def test_each_failure_of_the_service_has_words_and_none_is_a_status():
    with OrderService() as service:
        shown = to_text(move2.ask_failing(Session("C-17"), service, "O-1001").html)
    assert shown.count("did not answer") == 2  # hangs, is stopped
    assert shown.count("do not guess") == 6
    assert "delivered" not in shown


# --- the ladder, and the live model ---


def test_every_rung_repairs_something_and_the_misread_questions_stay():
    found = move2.ladder()
    totals = [sum(by_rung[rung] for by_rung in found.counts().values()) for rung in found.rungs]
    assert totals == sorted(totals)
    assert len(set(totals)) == len(totals)
    assert move2.left_over(found) == ACTUAL["ladder"]
    assert len(sql_questions.sql_questions()) >= 40
    assert "misread question" in to_text(move2.show_ladder(found).html)


def test_an_answer_of_the_ladder_shows_each_statement_and_what_was_said_to_it():
    id = move2.ladder().repaired("+ suspicion")[0]
    shown = to_text(move2.show_answer(id, "+ suspicion").html)
    assert "Near to it" in shown
    assert shown.count("SELECT") == 2


def test_without_a_key_nothing_is_sent_and_it_says_what_would_be(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    shown = to_text(move2.ask_live().html)
    assert "nothing was sent" in shown
    assert "values 'closed', 'open'" in shown
    assert "91000" not in shown
    assert "At most" in shown


# --- exercises ---


def judged(key, function):
    return lesson.check(key, function)


def check_value(column, value, allowed):
    if value not in allowed:
        raise ValueError(f"There is no {column} {value!r}; send one of {', '.join(allowed)}")
    return value


def inverted(column, value, allowed):
    if value in allowed:
        raise ValueError(f"{column}: {allowed}")
    return value


def no_f(column, value, allowed):
    if value not in allowed:
        raise ValueError("{column}: {allowed}")
    return value


def only_status(column, value, allowed):
    if value not in allowed:
        raise ValueError("status must be one of closed, open")
    return value


def says_nothing(column, value, allowed):
    if value not in allowed:
        raise ValueError("not allowed")
    return value


def names_no_column(column, value, allowed):
    if value not in allowed:
        raise ValueError(f"allowed: {allowed}")
    return value


def lets_capitals_pass(column, value, allowed):
    if str(value).lower() not in allowed and value not in allowed:
        raise ValueError(f"{column}: {allowed}")
    return value


def substring(column, value, allowed):
    if str(value) not in " ".join(allowed):
        raise ValueError(f"{column}: {allowed}")
    return value


def returns_false(column, value, allowed):
    return value if value in allowed else False


def forgets_the_value(column, value, allowed):
    if value not in allowed:
        raise ValueError(f"{column}: {allowed}")


def always_refuses(column, value, allowed):
    raise KeyError(value)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (inverted, "It refused 'open' as a status"),
        (no_f, "is the f in front"),
        (only_status, "which argument was wrong"),
        (says_nothing, "which argument was wrong"),
        (names_no_column, "which argument was wrong"),
        (lets_capitals_pass, "It let 'Open' through"),
        (substring, "It let 'ope' through"),
        (returns_false, "It let 'Open' through"),
        (forgets_the_value, "returned None and not the value"),
    ],
)
def test_a_wrong_check_of_values_is_told_what_it_did(function, says):
    feedback = judged("allowed", function)
    assert feedback.outcome == "wrong"
    assert says in repr(feedback)


def test_a_check_of_values_that_names_no_alternative_is_told_so():
    def no_alternatives(column, value, allowed):
        if value not in allowed:
            raise ValueError(f"{column} cannot be {value!r}, it must be closed")
        return value

    assert "what it may send instead" in repr(judged("allowed", no_alternatives))


def test_another_exception_in_the_check_is_the_learners_error():
    assert judged("allowed", always_refuses).outcome == "error"


def test_the_right_check_of_values_passes_and_a_blank_is_not_attempted():
    assert judged("allowed", check_value).outcome == "right"
    assert judged("allowed", lambda column, value, allowed: ____).outcome == "not attempted"

    def half_done(column, value, allowed):
        if value not in allowed:
            raise ValueError(____)
        return value

    assert judged("allowed", half_done).outcome == "not attempted"


def cap(take, keep, truncated):
    def capped(rows, max_rows):
        read = list(islice(rows, take(max_rows)))
        return {"rows": read[: keep(max_rows)], "truncated": truncated(read, max_rows)}

    return capped


def reads_all(rows, max_rows):
    read = list(rows)
    return {"rows": read[:max_rows], "truncated": len(read) > max_rows}


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (cap(lambda n: n, lambda n: n, lambda read, n: len(read) == n), "Were rows left out"),
        (cap(lambda n: n + 1, lambda n: n, lambda read, n: len(read) >= n), "Were rows left out"),
        (cap(lambda n: n + 1, lambda n: n + 1, lambda read, n: len(read) > n), "The first 5 rows are wanted"),
        (cap(lambda n: n + 1, lambda n: n, lambda read, n: "yes" if len(read) > n else "no"), "as True or False"),
        (reads_all, "read more than 3 rows"),
        (lambda rows, n: list(islice(rows, n)), 'keys "rows" and "truncated"'),
        (lambda rows, n: {"rows": tuple(islice(rows, n)), "truncated": False}, "as a list"),
    ],
)
def test_a_wrong_row_cap_is_told_what_it_did(function, says):
    feedback = judged("capped", function)
    assert feedback.outcome == "wrong"
    assert says in repr(feedback)


def test_the_right_row_cap_passes_and_a_blank_is_not_attempted():
    assert judged("capped", cap(lambda n: n + 1, lambda n: n, lambda read, n: len(read) > n)).outcome == "right"
    blank = cap(lambda n: n + 1, lambda n: n, lambda read, n: ____)
    assert judged("capped", blank).outcome == "not attempted"
    skeleton = cap(lambda n: n + ____, lambda n: n, lambda read, n: ____)
    assert judged("capped", skeleton).outcome == "not attempted"


def layer(fine):
    def columns_only(action, first, second, database, source):
        passes = (
            fine(first, second)
            if action == sqlite3.SQLITE_READ
            else action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION)
        )
        return sqlite3.SQLITE_OK if passes else sqlite3.SQLITE_DENY

    return columns_only


def right_layer(first, second):
    return first.lower() in COLUMNS and second.lower() in COLUMNS[first.lower()] | {""}


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (
            layer(lambda first, second: first in COLUMNS and second in COLUMNS[first] | {""}),
            "It refused “SELECT COUNT(*) FROM Salaries”",
        ),
        (
            layer(lambda first, second: first.lower() in COLUMNS and second.lower() in COLUMNS[first.lower()]),
            "It refused “SELECT COUNT(*) FROM salaries”",
        ),
        (
            layer(lambda first, second: second == "" or second in COLUMNS.get(first.lower(), ())),
            "It let “SELECT COUNT(*) FROM sqlite_master” run",
        ),
        (layer(lambda first, second: first.lower() in COLUMNS), "It let “SELECT employee FROM salaries” run"),
        (layer(lambda first, second: first.lower() == "tickets"), "It refused “SELECT amount FROM salaries”"),
        (layer(lambda first, second: True), "It let"),
        (lambda *args: None, "it returned None; SQLITE_OK or SQLITE_DENY is wanted"),
        (lambda *args: True, "it returned True"),
        (lambda *args: sqlite3.SQLITE_OK, "It let"),
    ],
)
def test_a_wrong_layer_is_told_which_query_ran_or_was_refused(function, says):
    feedback = judged("layer", function)
    assert feedback.outcome == "wrong"
    assert says in repr(feedback)


def test_the_right_layer_passes_a_blank_is_not_attempted_and_an_error_is_named():
    assert judged("layer", layer(right_layer)).outcome == "right"
    assert judged("layer", layer(lambda first, second: ____)).outcome == "not attempted"
    broken = judged("layer", layer(lambda first, second: second in COLUMNS[first + second]))
    assert broken.outcome == "error"
    assert "KeyError" in repr(broken)


@pytest.mark.parametrize("key", ["allowed", "capped", "layer"])
def test_hint_and_solution_can_be_asked_for(key):
    assert "Hint" in repr(lesson.hint(key))
    assert "def " in repr(lesson.solution(key))
