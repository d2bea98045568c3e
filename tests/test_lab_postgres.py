"""The PostgreSQL lab: what it claims is what the server does, and without a server every cell still says something."""

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import nbformat
import pytest

from course_lib.corpora.tickets import tickets
from course_lib.learn.blank import ____
from course_lib.lessons import lab_postgres as lab
from course_lib.lessons.lab_postgres import BY_LOGIN, BY_SETTING, BY_SETTING_TO_APP, lesson
from course_lib.sql import postgres
from tests.lesson_checks import every_option_that_can_be_wrong_says_why, every_wrong_answer_gets_its_reason
from tools.build import execute

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
SOLVED = NOTEBOOKS / "solved" / "lab_postgres.ipynb"
SIZES = dict(Counter(ticket.team.lower() for ticket in tickets()))
BERLIN, MUNICH = {"berlin": SIZES["berlin"]}, {"munich": SIZES["munich"]}


@pytest.fixture(autouse=True)
def own_record(tmp_path, monkeypatch):
    from course_lib.learn.record import Record

    record = Record(tmp_path / "r.json")
    monkeypatch.setattr("course_lib.learn.lesson.open_record", lambda: record)


def need():
    """Skip where the extra is missing, or fail where it has been said that it must be there."""
    said = postgres.missing()
    if said and os.environ.get("COURSE_REQUIRE_ENGINES"):
        pytest.fail(said)
    if said:
        pytest.skip(said)


@pytest.fixture(scope="module")
def server():
    need()
    with postgres.postgres_server() as uri:
        yield uri


@pytest.fixture(scope="module", params=["of the notebook", "of one's own"])
def desk(request, server):
    """The desk on a server that it starts itself, and on somebody's server with an account that is no superuser."""
    from psycopg.conninfo import make_conninfo

    if request.param == "of the notebook":
        made = lab.Desk()
    else:
        with postgres.connected(server) as admin:
            admin.execute("CREATE ROLE plain LOGIN CREATEROLE BYPASSRLS")
            admin.execute("GRANT CREATE ON DATABASE postgres TO plain")
        made = lab.Desk(make_conninfo(server, user="plain"))
    assert made.why == ""
    yield made
    made.close()
    if request.param == "of one's own":
        with postgres.connected(server) as admin:
            left = "SELECT count(*) FROM pg_roles WHERE rolname LIKE 'owner%' OR rolname LIKE 'auditor%'"
            assert admin.execute(left).fetchone() == (0,)
            assert admin.execute("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'desk%'").fetchone() == (0,)
            admin.execute("DROP OWNED BY plain")
            admin.execute("DROP ROLE plain")


@pytest.fixture
def no_desk(monkeypatch):
    monkeypatch.setattr(postgres, "find_spec", lambda module: None)
    return lab.Desk()


# --- predictions ---

# What the notebook's cells compute; the test of the solved notebook compares the cells themselves.
ACTUAL = {
    "limits": ["set_config", "SET", "ALTER ROLE"],
    "prefix": ["SELECT INTO", "WITH", "EXPLAIN ANALYZE"],
    "around": ["set_config first", "READ WRITE first"],
    "two": 0,
    "setting": MUNICH,
    "login": [],
    "either": {**BERLIN, **MUNICH},
    "view": {"berlin": 14, "lisbon": 13, "munich": 14},
    "exempt": ["owner", "auditor, forced"],
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
        ("two", 60, "an error"),
        ("setting", BERLIN, "Berlin's"),
        ("setting", {}, "nobody's"),
        ("login", ["set_config"], "set_config"),
        ("login", ["SET ROLE"], "SET ROLE"),
        ("login", ["SET SESSION AUTHORIZATION"], "SET SESSION AUTHORIZATION"),
        ("either", BERLIN, "Berlin's"),
        ("either", MUNICH, "Munich's"),
        ("either", {}, "none"),
        ("view", BERLIN, "its own"),
        ("view", {}, "none"),
    ],
)
def test_another_value_than_the_courses_falls_into_another_option(key, value, option):
    assert lesson.questions[key].right(value) == [option]
    assert option in [o.name for o in lesson.questions[key].options]


def test_the_tries_are_the_options_of_their_questions():
    for key, tries in (("limits", lab.OWN_LIMITS), ("prefix", lab.FIRST_WORDS), ("around", lab.AROUND)):
        assert [option.name for option in lesson.questions[key].options] == list(tries)
    assert [option.name for option in lesson.questions["login"].options] == [*lab.OTHERS, "none"]


def test_a_question_that_did_not_run_stays_open():
    prediction = lesson.predict("two", answer="an error", confidence="sure")
    assert "stays open" in repr(lab.reveal_where_it_ran(prediction, None))
    assert not prediction.record.events("reveal", prediction.key)
    assert "one to remember" in repr(lab.reveal_where_it_ran(prediction, 0))


# --- what the server does ---


def test_the_answers_about_limits_and_writes_are_what_the_server_does(desk):
    assert lab.try_each(desk, "reader", lab.OWN_LIMITS).carried_out == ACTUAL["limits"]
    assert lab.try_each(desk, "clerk", lab.FIRST_WORDS).changed == ACTUAL["prefix"]
    assert lab.try_each(desk, "clerk", lab.AROUND, before=[lab.READ_ONLY]).changed == ACTUAL["around"]
    assert lab.run(desk, "clerk", lab.TWO).left == ACTUAL["two"]


def test_the_reader_changes_nothing_that_lasts_with_its_defaults_off(desk):
    tries = {**lab.FIRST_WORDS, "COPY": [lab.PROGRAM], "TEMP": ["SELECT * INTO TEMP copied FROM open_tickets"]}
    tried = lab.try_each(desk, "reader", tries, before=["SET default_transaction_read_only = off"])
    assert tried.changed == []
    assert tried.carried_out == ["TEMP"]


def test_a_nap_is_stopped_until_the_session_lifts_its_limit(desk):
    nap = "SELECT pg_sleep(0.3)"
    stopped = [o.stopped_by for o in lab.run(desk, "reader", nap, *lab.OWN_LIMITS["set_config"], nap).session.outcomes]
    assert stopped == ["the time limit", "", ""]


def test_the_answers_about_policies_are_what_the_server_does(desk):
    desk.protect(BY_SETTING)
    before = (lab.SET_BERLIN, "BEGIN READ ONLY")
    assert lab.run(desk, "app", lab.COUNT).seen == {}
    assert lab.run(desk, "app", *before, lab.COUNT).seen == BERLIN
    assert lab.run(desk, "app", *before, lab.GENERATED).seen == ACTUAL["setting"]
    desk.protect(BY_LOGIN)
    assert lab.try_each(desk, "berlin", lab.OTHERS).others_than("berlin") == ACTUAL["login"]
    desk.protect(BY_LOGIN, BY_SETTING)
    assert lab.run(desk, "berlin", lab.GENERATED).seen == ACTUAL["either"]
    desk.protect(BY_LOGIN, BY_SETTING_TO_APP)
    assert lab.run(desk, "berlin", lab.GENERATED).seen == BERLIN
    assert lab.try_each(desk, "app", {"a": (lab.SET_BERLIN, lab.GENERATED)}).others_than("berlin") == ["a"]


def test_the_answers_about_views_and_exemptions_are_what_the_server_does(desk):
    count = "SELECT tenant, count(*) FROM open_tickets GROUP BY tenant"
    granted = (BY_LOGIN, BY_SETTING_TO_APP, "GRANT SELECT ON open_tickets TO berlin")
    desk.protect(*granted)
    assert lab.run(desk, "berlin", count).seen == ACTUAL["view"]
    desk.protect(*granted, "ALTER VIEW open_tickets SET (security_invoker = true)")
    assert lab.run(desk, "berlin", count).seen == {"berlin": ACTUAL["view"]["berlin"]}
    assert lab.run(desk, "reader", count).session.outcomes[0].stopped_by == "the grants"
    assert lab.who_sees_all(desk).all_of_them == ACTUAL["exempt"]


def test_no_ending_of_a_name_is_ever_shown(desk):
    desk.protect(BY_LOGIN)
    shown = repr(lab.run(desk, "berlin", "SET ROLE munich", "SELECT session_user", lab.COUNT, "SELECT * FROM desk.x"))
    assert 'set role "munich"' in shown
    assert "runs: berlin 20" in shown
    assert desk.place.suffix == "" or desk.place.suffix not in shown
    assert "berlin" in repr(lab.ask(desk, "berlin", "SELECT session_user, tenant FROM tickets LIMIT 1"))


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE tickets CASCADE",
        "UPDATE tickets SET status = 'open'",
        "UPDATE salaries SET amount = 1",
        "ALTER TABLE tickets DISABLE ROW LEVEL SECURITY",
        "DROP POLICY by_login ON tickets",
        "GRANT ALL ON ALL TABLES IN SCHEMA desk TO PUBLIC",
        "GRANT ALL ON SCHEMA desk TO reader",
        "ALTER VIEW open_tickets SET (security_invoker = true)",
        "ALTER ROLE owner SET search_path = public",
        "CREATE TABLE mine (id int)",
    ],
)
def test_whatever_a_session_changes_is_seen_and_put_back(desk, sql):
    desk.protect(BY_LOGIN)
    before = desk._state()
    session = desk.session("owner", [sql])
    assert session.outcomes[0].stopped_by == ""
    assert session.changed
    assert desk._state() == before


@pytest.mark.parametrize(
    "sql",
    [
        "",
        ";",
        "COPY tickets TO STDOUT",
        "COPY tickets FROM STDIN",
        "BEGIN; DELETE FROM tickets",
        "SELECT pg_sleep(60)",
        "\ud800",
        "\0",
        "%s",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = session_user",
        "LISTEN x; NOTIFY x",
    ],
)
def test_any_statement_gets_a_word_and_the_desk_goes_on(desk, sql):
    assert desk.session("owner", [sql, "SELECT 1"]).outcomes[0].said
    assert not desk.session("reader", ["SELECT count(*) FROM open_tickets"]).outcomes[0].stopped_by


def test_an_interrupt_between_a_statement_and_its_repair_is_repaired_by_the_next_session(desk, monkeypatch):
    ran = desk._ran

    def interrupted(cursor, sql):
        ran(cursor, sql)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(desk, "_ran", interrupted)
        with pytest.raises(KeyboardInterrupt):
            desk.session("owner", ["DELETE FROM tickets", "SELECT 1"])
    session = desk.session("owner", ["SELECT 1"])
    assert session.left == len(tickets())
    assert not session.changed


def test_plans_and_their_timings_are_not_shown(desk):
    assert desk.session("owner", ["EXPLAIN ANALYZE SELECT 1"]).outcomes[0].said == "runs: a plan"


def test_what_a_model_is_told_names_the_layer_and_what_it_may_read(desk):
    assert "truncated" in repr(lab.ask(desk, "reader", "SELECT id FROM open_tickets", max_rows=3))
    assert "complete" in repr(lab.ask(desk, "reader", "SELECT count(*) FROM open_tickets"))
    assert "You may read: closed_tickets, open_tickets." in repr(lab.ask(desk, "reader", "SELECT * FROM salaries"))
    for sql in (lab.TWO, lab.DELETE):
        assert "layer: one query" in repr(lab.ask(desk, "clerk", sql))


def test_the_explorer_shows_what_stopped_each_statement_and_still_does_when_the_server_has_ended():
    need()
    own = lab.Desk()
    explorer = lab.explore(own)
    live = repr(explorer.at(who="owner", own="SELECT 6 * 7"))
    own.close()
    assert "runs: 42" in live
    assert "run the notebook from the top" in repr(explorer.at(own="SELECT 1"))
    stopped = {
        ("reader", "read the table"): "Stopped by the grants.",
        ("reader", "sleep 0.3 s"): "Stopped by the time limit.",
        ("reader", "lift the time limit, sleep 0.3 s"): "Nothing stopped it.",
        ("reader", "SELECT … INTO"): "Stopped by the read-only transaction.",
        ("reader", "leave read-only, then DELETE"): "Stopped by the grants.",
        ("clerk", "DELETE inside a WITH"): "The database was different afterwards",
        ("clerk", "two statements in one call"): "then runs: DELETE 60",
        ("app", "set app.tenant to munich"): "munich 18",
        ("berlin", "set app.tenant to munich"): "runs: berlin 20",
        ("berlin", "become munich"): "permission denied to set role",
        ("owner", "COPY … FROM PROGRAM"): "Stopped by the grants.",
    }
    for (who, statement), said in stopped.items():
        assert said in repr(explorer.at(who=who, statement=statement)), (who, statement)
    for who in lab.WHO:
        for statement in lab.STATEMENTS:
            assert "could not be shown" not in repr(explorer.at(who=who, statement=statement))


def test_opening_the_desk_again_closes_the_one_before_and_closing_twice_is_no_error(server):
    first = lab.open_desk(server)
    second = lab.open_desk(server)
    assert first.why
    assert "on a server of your own, with 60 tickets and 1 salary" in repr(lab.show_desk(second))
    assert "Roles and schema are removed" in repr(lab.close_desk(second))
    assert "run the notebook from the top" in repr(lab.close_desk(second))


def test_an_account_that_may_not_make_anybody_exempt_leaves_that_question_open(server):
    from psycopg.conninfo import make_conninfo

    with postgres.connected(server) as admin:
        admin.execute("CREATE ROLE modest LOGIN CREATEROLE")
        admin.execute("GRANT CREATE ON DATABASE postgres TO modest")
    modest = lab.Desk(make_conninfo(server, user="modest"))
    assert modest.why == ""
    assert lab.who_sees_all(modest).all_of_them is None
    assert "may not create a role with BYPASSRLS" in repr(lab.who_sees_all(modest))
    modest.close()
    with postgres.connected(server) as admin:
        admin.execute("DROP OWNED BY modest")
        admin.execute("DROP ROLE modest")


def test_the_solved_notebook_shows_what_the_server_does():
    """Where the extra is missing nbval cannot compare these cells, so their outputs are compared here."""
    need()
    stored = nbformat.read(SOLVED, as_version=4)
    assert any("PostgreSQL 18 runs" in text for text in texts(stored)), "build it in .venv-engines"
    assert texts(execute(stored, SOLVED.parent)) == texts(stored)


def texts(nb):
    cells = [cell for cell in nb.cells if cell.cell_type == "code"]
    return [o.get("data", {}).get("text/plain", o.get("text", "")) for cell in cells for o in cell.outputs]


KERNEL = """
import sys
from course_lib.lessons import lab_postgres as lab
desk = lab.open_desk()
print(desk._admin.execute("SHOW data_directory").fetchone()[0], flush=True)
desk.session("berlin", ["SELECT 1"])
sys.stdin.readline()
if "raise" in sys.argv:
    raise RuntimeError("on purpose")
"""


@pytest.mark.parametrize("end", ["exit", "raise", "kill"])
def test_the_desk_of_a_kernel_that_ends_without_the_last_cell_leaves_nothing(end):
    need()
    command = [sys.executable, "-c", KERNEL, end]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, cwd=NOTEBOOKS.parent, text=True, start_new_session=True, **pipes) as kernel:
        folder = Path(kernel.stdout.readline().strip())
        assert folder.is_dir()
        if end == "kill":
            kernel.kill()
        said = kernel.communicate("\n", timeout=60)[1] if end != "kill" else ""
    until = time.monotonic() + 60
    while folder.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not folder.exists()
    assert [line for line in said.splitlines() if "Error" in line] == ["RuntimeError: on purpose"] * (end == "raise")


# --- without a server ---


def test_without_the_extra_every_cell_says_what_to_install(no_desk):
    says = "course.py lab --engines"
    assert says in no_desk.why
    tried = lab.try_each(no_desk, "reader", lab.OWN_LIMITS)
    ran = lab.run(no_desk, "reader", "SELECT 1")
    exempt = lab.who_sees_all(no_desk)
    explorer = lab.explore(no_desk)
    shown = [lab.show_desk(no_desk), tried, ran, exempt, explorer, lab.protect(no_desk, BY_LOGIN)]
    shown += [lab.ask(no_desk, "reader", "SELECT 1"), lab.close_desk(no_desk), explorer.at(own="SELECT 1")]
    assert all(says in repr(one) for one in shown)
    assert f"as clerk PostgreSQL\n{lab.TWO} not run" in repr(
        explorer.at(who="clerk", statement="two statements in one call")
    )
    values = [tried.carried_out, tried.changed, tried.others_than("berlin"), ran.seen, ran.left, exempt.all_of_them]
    assert values == [None] * 6


def test_a_server_that_refuses_what_the_lab_needs_is_one_sentence(server, monkeypatch):
    def roles():
        with postgres.connected(server) as admin:
            return admin.execute("SELECT count(*) FROM pg_roles").fetchone()

    before = roles()
    with monkeypatch.context() as patched:
        patched.setattr(lab, "TABLES", ("CREATE TABLE tickets (id no_such_type)",))
        refused = lab.Desk(server)
    assert 'does not do what the lab needs: type "no_such_type" does not exist' in refused.why
    assert roles() == before


@pytest.mark.parametrize("uri", ["postgresql://nobody@127.0.0.1:1/none", "no address at all"])
def test_a_server_that_does_not_answer_is_one_sentence(uri):
    need()
    assert "PostgreSQL does not answer" in lab.Desk(uri).why


# --- the exercises, judged on a server and without one ---


@pytest.fixture(params=["a server", "no server"])
def judged(request, monkeypatch):
    """Where an exercise is judged."""
    if request.param == "no server":
        monkeypatch.setattr(lab, "_OPEN", [])
    else:
        monkeypatch.setattr(lab, "_OPEN", [request.getfixturevalue("one_desk")])
    return request.param


@pytest.fixture(scope="module")
def one_desk():
    need()
    made = lab.Desk()
    yield made
    made.close()


def solution(key):
    scope = {}
    exec(lesson.exercises[key].solution, scope)
    return scope[key]


USE = "GRANT USAGE ON SCHEMA desk TO newcomer; "
BOTH = "open_tickets, closed_tickets"
RIGHT_GRANTS = [
    USE + "GRANT SELECT ON open_tickets TO newcomer; grant select on desk.closed_tickets to newcomer",
    'GRANT SELECT ON TABLE "open_tickets", closed_tickets TO newcomer; -- both\n' + USE,
]
WRONG_GRANTS = {
    f"GRANT SELECT ON {BOTH} TO newcomer;": "still stopped at the schema",
    USE: "still stopped at closed_tickets",
    USE + "GRANT SELECT ON open_tickets TO newcomer": "still stopped at closed_tickets",
    USE + "GRANT SELECT ON ALL TABLES IN SCHEMA desk TO newcomer": "SELECT on salaries",
    USE + f"GRANT SELECT ON {BOTH}, tickets TO newcomer": "SELECT on tickets",
    f"GRANT ALL ON SCHEMA desk TO newcomer; GRANT SELECT ON {BOTH} TO newcomer": "CREATE on desk",
    USE + f"GRANT ALL PRIVILEGES ON {BOTH} TO newcomer": "DELETE on closed_tickets",
    USE + f"GRANT SELECT, UPDATE ON {BOTH} TO newcomer": "UPDATE on closed_tickets",
    f"GRANT USAGE ON SCHEMA desk TO PUBLIC; GRANT SELECT ON {BOTH} TO newcomer": "PUBLIC",
    USE + f"GRANT SELECT ON {BOTH} TO PUBLIC": "PUBLIC",
    USE + f"GRANT SELECT ON {BOTH} TO newcomer WITH GRANT OPTION": "WITH GRANT OPTION",
    USE + "GRANT SELECT ON open_ticket TO newcomer": "does not take it|would not take it",
    "GRANT SELECT open_tickets TO newcomer": "does not take it|something else",
    "DROP VIEW open_tickets": "still stopped|something else",
    "SELECT 1": "still stopped|something else",
    "SELECT pg_sleep(60)": "does not take it|something else",
}


def test_the_solutions_are_right(judged):
    for key in ("grants", "policy"):
        assert lesson.check(key, solution(key)).outcome == "right"


@pytest.mark.parametrize("answer", RIGHT_GRANTS)
def test_other_ways_to_write_the_grants_are_right(judged, answer):
    assert lesson.check("grants", answer).outcome == "right", repr(lesson.check("grants", answer))


@pytest.mark.parametrize(("answer", "said"), WRONG_GRANTS.items())
def test_wrong_grants_are_told_what_they_grant_or_lack(judged, answer, said):
    feedback = lesson.check("grants", answer)
    assert feedback.outcome == "wrong"
    assert any(part in repr(feedback) for part in said.split("|")), repr(feedback)


HEAD = "CREATE POLICY own_tickets ON tickets "
EACH = "FOR SELECT TO berlin, munich, lisbon "
RIGHT_POLICIES = [
    HEAD + EACH + "USING (session_user = tenant)",
    HEAD + "TO berlin, munich, lisbon USING (tenant = session_user::text);",
    HEAD + "USING (tenant = session_user)",
    HEAD + EACH + "USING (tenant = current_user)",
    HEAD + "AS PERMISSIVE FOR ALL TO berlin, munich, lisbon USING (tenant = SESSION_USER) WITH CHECK (false)",
]
WRONG_POLICIES = {
    HEAD + EACH + "USING (tenant = current_setting('app.tenant', true))": "18 tickets of munich came",
    HEAD + EACH + "USING (tenant = session_user OR tenant = current_setting('app.tenant', true))": "of munich came",
    HEAD + EACH + "USING (true)": "Connected as berlin, with app.tenant set to munich",
    HEAD
    + EACH
    + "USING (tenant = 'berlin')": "Connected as munich, with app.tenant set to berlin: 20 tickets of berlin",
    HEAD + EACH + "USING (tenant IN ('berlin', 'munich', 'lisbon'))": "of lisbon came",
    HEAD + EACH + "USING (tenant = session_user AND status = 'open')": "14 of its 20 tickets came",
    HEAD + EACH + "USING (status = session_user)": "Connected as berlin: 0 of its 20",
    HEAD + "FOR SELECT TO app USING (tenant = session_user)": "Connected as berlin: 0 of its 20",
    HEAD + "FOR SELECT TO berlin USING (tenant = session_user)": "Connected as munich: 0 of its 18",
    HEAD + "AS RESTRICTIVE " + EACH + "USING (tenant = session_user)": "Connected as berlin: 0 of its 20",
    HEAD + "FOR UPDATE TO berlin, munich, lisbon USING (tenant = session_user)": "Connected as berlin: 0 of its 20",
    HEAD
    + "FOR SELECT TO berlin, munich, lisbon, newcomer USING (tenant = session_user OR session_user = 'newcomer')": (
        "newcomer is no tenant"
    ),
    HEAD + "USING (tenant = session_user OR session_user = 'app')": "app, with app.tenant set to berlin, now gets",
    HEAD + EACH + "USING (tennant = session_user)": "does not take it|cannot be judged",
    HEAD + EACH: "Connected as berlin: 0 of its 20",
    "ALTER TABLE tickets DISABLE ROW LEVEL SECURITY": "of lisbon came|this is not one",
    "SELECT 1": "0 of its 20|this is not one",
    "CREATE POLICY own_tickets tickets": "does not take it|this is not one",
}


@pytest.mark.parametrize("answer", RIGHT_POLICIES)
def test_other_ways_to_write_the_policy_are_right(judged, answer):
    assert lesson.check("policy", answer).outcome == "right", repr(lesson.check("policy", answer))


@pytest.mark.parametrize(("answer", "said"), WRONG_POLICIES.items())
def test_a_wrong_policy_is_told_what_a_login_saw_and_never_the_condition(judged, answer, said):
    feedback = lesson.check("policy", answer)
    assert feedback.outcome == "wrong"
    assert any(part in repr(feedback) for part in said.split("|")), repr(feedback)
    assert "session_user" not in repr(feedback) or "session_user" in answer


@pytest.mark.parametrize("key", ["grants", "policy"])
def test_a_blank_is_not_attempted_and_no_text_is_an_error(judged, key):
    assert lesson.check(key, "\n____\n").outcome == "not attempted"
    assert lesson.check(key, "  ").outcome == "not attempted"
    assert lesson.check(key, ____).outcome == "not attempted"
    assert lesson.check(key, 7).outcome == "error"
    assert lesson.check(key, "SELECT '\ud800'").outcome == "wrong"
    assert lesson.check(key, "COPY tickets TO STDOUT").outcome == "wrong"


def test_what_a_learner_ran_is_gone_before_the_next_check(one_desk, monkeypatch):
    monkeypatch.setattr(lab, "_OPEN", [one_desk])
    lesson.check("grants", "GRANT ALL ON ALL TABLES IN SCHEMA desk TO newcomer; COMMIT")
    assert "still stopped" in repr(lesson.check("grants", "GRANT USAGE ON SCHEMA desk TO newcomer"))
    lesson.check("policy", HEAD + "USING (true)")
    assert lesson.check("policy", solution("policy")).outcome == "right"
