"""The guard: what a model may write and still only read, what it is told when it may not, and the attacks it stops."""

import random
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course_lib.sql.guard import (
    DEFAULT_FUNCTIONS,
    LESSON_FUNCTIONS,
    MAX_COPIED,
    MAX_SEARCHES,
    MAX_SQL,
    Guard,
    Layer,
    Refused,
    Result,
    copied_tokens,
    folded,
    parts,
    strip_fences,
    tokens,
)

BERLIN = "SELECT COUNT(*) FROM tickets WHERE team = 'Berlin' AND priority = 'P1' AND status = 'open'"
# S4: ten outputs of a model and what the lesson's guard makes of them.
OUTPUTS = {
    "plain": (BERLIN, [(5,)]),
    "fenced": (f"```sql\n{BERLIN}\n```", [(5,)]),
    "cte": (
        "WITH p1 AS (SELECT * FROM tickets WHERE priority = 'P1') "
        "SELECT COUNT(*) FROM p1 WHERE team = 'Berlin' AND status = 'open'",
        [(5,)],
    ),
    "like": ("SELECT COUNT(*) FROM Tickets WHERE team LIKE 'ber%' AND priority = 'P1' AND status = 'open'", [(5,)]),
    "delete": ("DELETE FROM tickets WHERE status = 'closed'", "allow-list"),
    "salaries": ("SELECT employee, amount FROM salaries", "allow-list"),
    "two stmts": ("SELECT 1; DROP TABLE tickets", "one statement"),
    "runaway": (
        "SELECT COUNT(*) FROM tickets a, tickets b, tickets c, tickets d, tickets e, tickets f",
        "time limit",
    ),
    "age": ("SELECT ROUND(AVG(julianday('2026-09-25') - julianday(opened)), 1) FROM tickets", "allow-list"),
    "wrong": (BERLIN.replace("'open'", "'Open'"), [(0,)]),
}
QUICK = {"seconds": 0.1}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The lesson's sixty tickets, its table of salaries, and two views."""
    file = tmp_path_factory.mktemp("guard") / "tickets & 100% #1.sqlite"
    draw = random.Random(7)
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("CREATE TABLE tickets (id TEXT, team TEXT, priority TEXT, status TEXT, opened TEXT)")
        for number in range(60):
            team, priority = draw.choice(["Berlin", "Munich", "Lisbon"]), draw.choice(["P1", "P2", "P3"])
            row = (team, priority, draw.choice(["open", "open", "closed"]), f"2026-09-{draw.randint(1, 24):02}")
            db.execute("INSERT INTO tickets VALUES (?, ?, ?, ?, ?)", (f"T-{1000 + number}", *row))
        db.execute("CREATE TABLE salaries (employee TEXT, amount INTEGER)")
        db.execute("INSERT INTO salaries VALUES ('Ana', 91000)")
        db.execute("CREATE VIEW staff AS SELECT employee FROM salaries")
        db.execute("CREATE VIEW colleagues AS SELECT employee FROM staff")
        db.execute("CREATE VIEW ages AS SELECT id, julianday(opened) AS day FROM tickets")
        db.execute("CREATE TABLE wide (" + ", ".join(f"c{number}" for number in range(300)) + ")")
        db.execute("INSERT INTO wide (c0) VALUES (1)")
        db.execute("CREATE TABLE odd (word TEXT)")
        db.execute("INSERT INTO odd VALUES (CAST(x'4dfc6e6368656e' AS TEXT))")
        db.execute("CREATE TABLE documents (body TEXT)")
        db.execute("INSERT INTO documents VALUES (?)", ["x" * 150_000])
    return file


@pytest.fixture(autouse=True)
def the_file_and_its_folder_are_unchanged(path):
    """Around every test of this file: an attack that leaves a trace fails, whatever else it does."""
    before = path.read_bytes()
    yield
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def refusal(path, output, guard=None):
    with pytest.raises(Refused) as caught:
        (guard or Guard({"tickets"}, DEFAULT_FUNCTIONS, **QUICK)).run(path, output)
    error = caught.value
    assert error.layer in get_args(Layer)
    for text in (str(error), error.for_model):
        assert text.isprintable(), text
        assert text[-1] in ".?", text
        assert len(text) < 8000
    return error


def rows(path, output, **settings):
    return Guard(**{"tables": {"tickets"}, "seconds": 5.0} | settings).run(path, output).rows


# --- The ten outputs ---


@pytest.mark.parametrize("name", OUTPUTS)
def test_the_ten_outputs_of_the_lesson(path, name):
    output, expected = OUTPUTS[name]
    guard = Guard({"tickets"}, LESSON_FUNCTIONS, seconds=0.1 if name == "runaway" else 5.0)
    if isinstance(expected, str):
        assert refusal(path, output, guard).layer == expected
    else:
        assert guard.run(path, output).rows == expected


def test_a_refusal_names_what_was_refused_and_what_is_allowed(path):
    guard = Guard({"tickets"}, LESSON_FUNCTIONS)
    salaries = refusal(path, OUTPUTS["salaries"][0], guard)
    assert "salaries.employee" in str(salaries)
    assert "tickets (id, team, priority, status, opened)" in salaries.for_model
    age = refusal(path, OUTPUTS["age"][0], guard)
    assert "julianday" in str(age)
    assert "strftime, sum, upper" in age.for_model


def test_one_function_more_is_one_word_more(path):
    assert rows(path, OUTPUTS["age"][0], functions=LESSON_FUNCTIONS | {"JulianDay"}) == [(13.1,)]
    assert len(LESSON_FUNCTIONS) == 12
    assert LESSON_FUNCTIONS < DEFAULT_FUNCTIONS


# --- Strip the fences, one statement ---


@pytest.mark.parametrize(
    "output",
    [
        "SELECT 1",
        "  SELECT 1 ;\n",
        "SELECT 1;;",
        "```sql\nSELECT 1\n```",
        "```\nSELECT 1;\n```",
        "```SQL SELECT 1```",
        "```sqlite\nSELECT 1",
        "SELECT 1\n```",
        "Here it is:\n\n```sql\nSELECT 1\n```\nIt gives 1.",
        "-- a comment; with a semicolon\nSELECT 1",
        "/* why */ SELECT 1 -- done",
        "VALUES (1)",
    ],
)
def test_what_models_put_around_sql_is_no_reason_to_refuse(path, output):
    assert rows(path, output) == [(1,)]


def test_a_fence_or_a_semicolon_in_a_text_is_text(path):
    assert rows(path, "SELECT '```'") == [("```",)]
    assert rows(path, "SELECT ';' -- ; ;") == [(";",)]


@pytest.mark.parametrize(
    "output",
    ["SELECT 1; SELECT 2", "SELECT 1;\n-- x\nDROP TABLE tickets", "```sql\nSELECT 1\n```\nor\n```sql\nSELECT 2\n```"],
)
def test_two_statements_are_refused_and_neither_runs(path, output):
    assert refusal(path, output).layer == "one statement"


@given(st.text())
def test_tokens_take_any_text_and_lose_nothing_but_space_and_comments(text):
    assert all(tokens(text))
    assert tokens(f"a {text}")[:1] == ["a"] or not text.isascii()


@given(st.text(st.sampled_from("a'\"`[]-/*\n ;")))
def test_what_sqlite_reads_as_one_statement_has_no_semicolon_among_its_tokens(text):
    with closing(sqlite3.connect(":memory:")) as db:
        try:
            db.execute(f"SELECT 1 {text}")
        except (sqlite3.Error, sqlite3.Warning):
            return
    left = tokens(strip_fences(f"SELECT 1 {text}").rstrip("; \n"))
    assert ";" not in left or set(left[left.index(";") :]) == {";"}


# --- The allow-list: what is stopped ---


@pytest.mark.parametrize(
    "output",
    [
        "SELECT amount FROM salaries",
        "SELECT count(*) FROM salaries",
        "SELECT 1 FROM salaries",
        "SELECT s.amount FROM tickets t JOIN salaries s",
        "SELECT (SELECT max(amount) FROM salaries) FROM tickets",
        "SELECT id FROM tickets WHERE EXISTS (SELECT 1 FROM SALARIES)",
        "SELECT id FROM tickets UNION SELECT employee FROM salaries",
        "WITH tickets AS (SELECT * FROM salaries) SELECT * FROM tickets",
        "WITH tickets AS (SELECT 1 FROM salaries) SELECT count(*) FROM tickets",
        "WITH salaries AS (SELECT * FROM main.salaries) SELECT count(*) FROM salaries",
        "WITH salaries AS (SELECT 1) SELECT count(*) FROM main.salaries",
        "WITH json_each AS (SELECT 1) SELECT count(*) FROM main.json_each('[1, 2]')",
        "SELECT (WITH json_each AS (SELECT 1) SELECT 1), count(*) FROM json_each('[1, 2]')",
        "WITH pragma_table_list AS (SELECT 1) SELECT count(*) FROM main.pragma_table_list",
        "WITH a AS (SELECT amount FROM salaries) SELECT count(*) FROM a",
        'SELECT "amount" FROM "salaries"',
        "SELECT amount FROM [salaries]",
        "SELECT tickets.amount FROM salaries AS tickets",
        "SELECT employee FROM staff",
        "SELECT id FROM tickets ORDER BY (SELECT amount FROM salaries)",
        "SELECT id FROM tickets LIMIT (SELECT amount FROM salaries)",
        "SELECT id, row_number() OVER (ORDER BY (SELECT amount FROM salaries)) FROM tickets",
        "VALUES ((SELECT amount FROM salaries))",
        "SELECT * FROM sqlite_master",
        "SELECT count(*) FROM sqlite_schema",
        "SELECT sql FROM main.sqlite_schema",
        "SELECT * FROM sqlite_temp_master",
        "SELECT * FROM pragma_table_info('salaries')",
        "SELECT count(*) FROM pragma_table_list",
        "SELECT * FROM json_each('[1]')",
        "SELECT count(*) FROM json_each('[1]')",
        "DELETE FROM tickets",
        "WITH x AS (SELECT 1) DELETE FROM tickets",
        "WITH x AS (SELECT 1) INSERT INTO tickets SELECT 1, 2, 3, 4, 5",
        "INSERT INTO tickets VALUES (1, 2, 3, 4, 5) RETURNING *",
        "UPDATE tickets SET status = 'closed' RETURNING *",
        "REPLACE INTO tickets VALUES (1, 2, 3, 4, 5)",
        "DROP TABLE tickets",
        "DROP VIEW staff",
        "ALTER TABLE tickets ADD COLUMN x",
        "CREATE TABLE x (a)",
        "CREATE TABLE x AS SELECT * FROM tickets",
        "CREATE TEMP TABLE x (a)",
        "CREATE TEMP VIEW x AS SELECT * FROM salaries",
        "CREATE TEMP TRIGGER x AFTER INSERT ON tickets BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE temp.x USING fts5(a)",
        "CREATE INDEX i ON tickets (id)",
        "ATTACH 'leak.sqlite' AS leak",
        "ATTACH ':memory:' AS leak",
        "DETACH main",
        "VACUUM",
        "VACUUM INTO 'leak.sqlite'",
        "PRAGMA user_version",
        "PRAGMA query_only = OFF",
        "PRAGMA writable_schema = ON",
        "PRAGMA hard_heap_limit = 1",
        "BEGIN",
        "COMMIT",
        "SAVEPOINT a",
        "REINDEX",
        "ANALYZE",
        "EXPLAIN SELECT id FROM tickets",
        "EXPLAIN QUERY PLAN DELETE FROM tickets",
        "SELECT load_extension('libc.so.6')",
        "SELECT hex(zeroblob(10))",
        "SELECT randomblob(10)",
        "SELECT readfile('/etc/passwd')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT sqlite_version()",
    ],
)
def test_what_is_not_on_the_list_is_denied(path, output):
    assert refusal(path, output).layer in ("allow-list", "one statement", "the SQL itself", "read-only connection")


@pytest.mark.parametrize("output", ["SELECT count(*) FROM tickets", "SELECT 1 FROM tickets", "SELECT id FROM tickets"])
def test_a_guard_that_allows_nothing_allows_nothing(path, output):
    assert refusal(path, output, Guard((), ())).layer == "allow-list"


def test_a_letter_that_only_python_takes_for_another_opens_nothing(path):
    assert folded("TIC\u212aETS") == "tic\u212aets" != "tickets"  # the Kelvin sign is k for str.lower alone
    assert refusal(path, "SELECT * FROM tic\u212aets").layer == "the SQL itself"


# --- The allow-list: what is not stopped ---


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("SELECT COUNT(*) FROM TICKETS", [(60,)]),
        ("SELECT T.Id FROM Tickets AS T ORDER BY T.ID LIMIT 1", [("T-1000",)]),
        ('SELECT "id" FROM [tickets] ORDER BY `id` LIMIT 1', [("T-1000",)]),
        ("SELECT count(*) FROM main.tickets", [(60,)]),
        ("SELECT count(*) FROM (SELECT DISTINCT team FROM tickets)", [(3,)]),
        ("SELECT count(*) FROM (SELECT DISTINCT team FROM tickets) AS teams", [(3,)]),
        ("SELECT count(*) FROM (SELECT 1 FROM tickets LIMIT 7) AS x", [(7,)]),
        ("WITH x AS (SELECT DISTINCT team FROM tickets) SELECT count(*) FROM x", [(3,)]),
        ("WITH X(a) AS MATERIALIZED (SELECT team FROM tickets LIMIT 7) SELECT count(*) FROM x", [(7,)]),
        ("WITH x AS NOT MATERIALIZED (SELECT 1 FROM tickets) SELECT count(*) FROM x", [(60,)]),
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT count(*) FROM n", [(9,)]),
        (
            "WITH RECURSIVE n(i) AS (VALUES (1) UNION SELECT i + 1 FROM n LIMIT 9) SELECT sum(i), max(i) FROM n",
            [(45, 9)],
        ),
        ("WITH a AS (SELECT 1 AS x), b AS (SELECT x FROM a) SELECT * FROM a, b", [(1, 1)]),
        ("SELECT count(*) FROM tickets WHERE id IN (SELECT id FROM tickets WHERE team = 'Berlin')", [(20,)]),
        ("SELECT count(*) FROM tickets a JOIN tickets b USING (id)", [(60,)]),
        ("SELECT id FROM tickets WHERE id < 'T-1001' UNION ALL SELECT 'x' EXCEPT SELECT 'y'", [("T-1000",), ("x",)]),
        ("SELECT row_number() OVER (ORDER BY id DESC) FROM tickets ORDER BY id LIMIT 1", [(60,)]),
        ("SELECT sum(count(*)) OVER w FROM tickets GROUP BY team WINDOW w AS (ORDER BY team) LIMIT 1", [(20,)]),
        ("SELECT CASE WHEN count(*) > 9 THEN 'many' ELSE 'few' END FROM tickets", [("many",)]),
        ("SELECT upper(substr(team, 1, 3)) || '!' FROM tickets WHERE id = 'T-1001'", [("BER!",)]),
        (
            "SELECT strftime('%Y-%m', min(opened)), date('2026-09-25', '-7 days') FROM tickets",
            [("2026-09", "2026-09-18")],
        ),
        ("SELECT count(*) FROM tickets WHERE team NOT LIKE '%n' AND team GLOB '*n'", [(0,)]),
        (
            "SELECT iif(count(*), 'yes', 'no'), ifnull(NULL, 1), nullif(1, 1), abs(-1) FROM tickets",
            [("yes", 1, None, 1)],
        ),
        ("SELECT group_concat(DISTINCT team) FROM tickets WHERE team = 'Berlin'", [("Berlin",)]),
        ("SELECT rowid FROM tickets LIMIT 1", [(1,)]),
        ("SELECT 1 WHERE 'a:b?@$#' <> ''", [(1,)]),
        ("SELECT count(*) FROM tickets WHERE team = 'with; love'", [(0,)]),
    ],
)
def test_legitimate_queries_run(path, output, expected):
    assert rows(path, output) == expected


def test_a_table_valued_function_is_allowed_as_a_table(path):
    guard = Guard({"tickets", "JSON_each"})
    with closing(sqlite3.connect(":memory:")) as db:
        try:
            db.execute("SELECT * FROM json_each('[]')")
        except sqlite3.OperationalError:
            pytest.skip("This SQLite was built without JSON.")
    with closing(guard.open(path)) as database:
        assert database.run("SELECT value FROM json_each('[1, 2]')").rows == [(1,), (2,)]
        assert database.run("SELECT count(*) FROM json_each('[1, 2]')").rows == [(2,)]


def test_a_wide_table_can_be_read_by_naming_columns(path):
    assert rows(path, "SELECT c0, c299 FROM wide", tables={"wide"}) == [(1, None)]
    assert refusal(path, "SELECT * FROM wide", Guard({"wide"})).layer == "size limit"


def test_text_that_is_no_utf_8_stops_nothing(path):
    assert rows(path, "SELECT word FROM odd", tables={"odd"}) == [("M\ufffdnchen",)]


# --- Views ---

VIEWS = Guard({"tickets", "STAFF", "ages"}, LESSON_FUNCTIONS)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("SELECT * FROM staff", [("Ana",)]),
        ("SELECT count(*) FROM Staff", [(1,)]),
        ("SELECT 1 FROM staff", [(1,)]),
        ("SELECT s.employee FROM (SELECT * FROM main.staff) s", [("Ana",)]),
        ("WITH x AS (SELECT employee FROM staff) SELECT count(*) FROM x", [(1,)]),
        ("WITH x AS MATERIALIZED (SELECT employee FROM staff) SELECT count(*) FROM x, tickets", [(60,)]),
        ("WITH staff AS (SELECT id FROM tickets) SELECT count(*) FROM main.staff", [(1,)]),
        ("SELECT employee FROM staff UNION SELECT id FROM tickets ORDER BY 1 LIMIT 1", [("Ana",)]),
        ("SELECT count(day) FROM ages", [(60,)]),
    ],
)
def test_a_view_is_allowed_without_its_table_and_its_functions(path, output, expected):
    assert VIEWS.run(path, output).rows == expected


@pytest.mark.parametrize(
    "output",
    [
        "SELECT * FROM salaries",
        "SELECT count(*) FROM salaries",
        "SELECT count(*) FROM main.salaries",
        "SELECT amount FROM staff, salaries",
        "SELECT (SELECT count(*) FROM salaries) FROM staff",
        "SELECT (SELECT amount FROM salaries) FROM staff",
        "SELECT employee FROM staff WHERE employee IN (SELECT employee FROM salaries)",
        "WITH staff AS (SELECT * FROM salaries) SELECT * FROM staff",
        "WITH staff AS (SELECT amount FROM salaries) SELECT count(*) FROM staff",
        "WITH staff(x) AS (SELECT amount FROM salaries) SELECT s.x, main.staff.employee FROM main.staff, staff s",
        "WITH STAFF AS MATERIALIZED (SELECT amount FROM salaries) SELECT amount FROM staff",
        "WITH 'staff' AS (SELECT amount FROM salaries) SELECT amount FROM staff",
        "WITH RECURSIVE staff(x) AS (SELECT amount FROM salaries UNION SELECT x + 1 FROM staff) SELECT * FROM staff",
        "SELECT * FROM (WITH staff AS (SELECT * FROM salaries) SELECT * FROM staff)",
        "SELECT * FROM (SELECT * FROM salaries) AS staff",
        "SELECT staff.amount FROM salaries AS staff",
        "WITH staff AS (SELECT amount FROM salaries WHERE 0) SELECT * FROM staff",
        "SELECT * FROM colleagues",
        "WITH colleagues AS (SELECT * FROM salaries) SELECT * FROM colleagues",
        "EXPLAIN SELECT * FROM staff",
        "SELECT * FROM sqlite_schema",
    ],
)
def test_a_view_opens_nothing_but_what_it_shows(path, output):
    assert refusal(path, output, VIEWS).layer == "allow-list"
    assert "91000" not in str(refusal(path, output, VIEWS).for_model)


def test_a_column_that_the_view_hides_is_not_there(path):
    assert refusal(path, "SELECT amount FROM staff", VIEWS).layer == "the SQL itself"
    assert refusal(path, "SELECT rowid, amount FROM staff", VIEWS).layer == "the SQL itself"


def test_a_function_of_a_view_is_not_lent_to_the_statement(path):
    assert "julianday" in str(refusal(path, "SELECT julianday(id) FROM ages", VIEWS))


def test_a_view_over_a_view_is_allowed_alone(path):
    assert rows(path, "SELECT count(*) FROM colleagues", tables={"colleagues"}) == [(1,)]
    assert refusal(path, "SELECT * FROM staff", Guard({"colleagues"})).layer == "allow-list"


# --- Time, memory, size ---

TEXT = "hex(zeroblob(35000))"  # 70,000 characters
PATTERN = "'%' || hex(zeroblob(49)) || 'y'"
HOSTILE = Guard({"tickets"}, DEFAULT_FUNCTIONS | {"hex", "zeroblob"}, **QUICK)


@pytest.mark.parametrize(
    "output",
    [
        OUTPUTS["runaway"][0],
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n) SELECT i FROM n ORDER BY -i",
        f"WITH RECURSIVE n(i, t) AS (SELECT 1, {TEXT} UNION ALL SELECT i + 1, t FROM n) SELECT 1 FROM n ORDER BY t||i",
        f"WITH m AS MATERIALIZED (SELECT {TEXT} FROM tickets a, tickets b, tickets c) SELECT count(*) FROM m x, m y",
        "SELECT count(DISTINCT a.id || b.id || c.id || d.id || e.id) "
        "FROM tickets a, tickets b, tickets c, tickets d, tickets e",
        f"SELECT sum(instr({TEXT} || a.id, hex(zeroblob(12000)) || 'y')) FROM tickets a, tickets b, tickets c",
        f"SELECT count(*) FROM tickets a, tickets b, tickets c WHERE {TEXT} || a.id LIKE {PATTERN}",
    ],
)
def test_a_runaway_is_stopped_by_the_clock(path, output):
    assert refusal(path, output, HOSTILE).layer == "time limit"


def part_doubling(n, body="SELECT p.x FROM c{0} p, c{0} q"):
    chain = "".join(f", c{number} AS ({body.format(number - 1)})" for number in range(1, n))
    return f"WITH c0 AS (SELECT 1 AS x){chain} SELECT x FROM c{n - 1}"


NESTED = "SELECT 1 AS x"
for number in range(20):
    NESTED = f"WITH n{number} AS ({NESTED}) SELECT p.x FROM n{number} p, n{number} q"


@pytest.mark.parametrize(
    "output",
    [
        part_doubling(22),
        part_doubling(22, "SELECT x FROM c{0} UNION ALL SELECT x FROM c{0}"),
        part_doubling(22, "SELECT (SELECT x FROM c{0}) + (SELECT x FROM c{0}) AS x"),
        part_doubling(22, "SELECT p.x FROM \"C{0}\" p, 'c{0}' q").replace("c0 AS", '"c0" AS'),
        part_doubling(22).replace(" AS (", " /* ) */ AS -- (\n NOT MATERIALIZED (").replace("c", "ç—"),
        part_doubling(22, "SELECT x FROM c{0} WHERE x IN c{0}"),
        NESTED,
        "SELECT length(replace(hex(zeroblob(100000000)), '0', 'ab'))",
        f"SELECT replace({TEXT}, '0', 'xxxx')",
        f"SELECT group_concat({TEXT}) FROM tickets",
        f"SELECT {TEXT} || {TEXT}",
        "WITH RECURSIVE d(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM d LIMIT 60) SELECT max(length(s)) FROM d",
        f"SELECT id, {TEXT} FROM tickets",
        "SELECT " + ", ".join(["1"] * 300),
        f"SELECT 'x' LIKE '{'%_' * 500}'",
        "SELECT " + " + ".join([f"({TEXT} GLOB '*y')"] * (MAX_SEARCHES + 1)),
        "SELECT " + "NOT " * 3000 + "1",
        "SELECT 1" + " + 1" * 3000,
        " UNION ALL ".join(["SELECT 1"] * 500),
        "SELECT 1 FROM " + ", ".join(f"tickets t{number}" for number in range(65)),
        "SELECT " + "1" * MAX_SQL,
        "SELECT '" + "x" * 10_000_000 + "'",
        "x" * 10_000_000,
        " " * 10_000_000,
    ],
)
def test_what_would_grow_out_of_bounds_is_stopped_by_its_size(path, output):
    assert refusal(path, output, replace(HOSTILE, seconds=5.0)).layer == "size limit"


def test_brackets_without_end_are_too_deep_for_an_old_sqlite_and_nothing_to_a_new_one(path):
    try:
        assert rows(path, "SELECT " + "(" * 2000 + "1" + ")" * 2000) == [(1,)]
    except Refused as error:
        layer = error.layer
    else:
        layer = "size limit"
    assert layer == "size limit"


def test_a_pipeline_of_parts_as_people_write_it_is_not_too_large(path):
    stages = "".join(f", s{n} AS (SELECT * FROM s{n - 1} WHERE id IN (SELECT id FROM s{n - 1}))" for n in range(1, 6))
    assert rows(path, f"WITH s0 AS (SELECT * FROM tickets){stages} SELECT count(*) FROM s5") == [(60,)]


def test_copies_double_with_each_part_that_uses_the_one_before_twice():
    sizes = [copied_tokens(tokens(part_doubling(n))) for n in range(3, 13)]
    assert all(1.7 < larger / smaller < 2.6 for smaller, larger in pairwise(sizes[3:]))
    assert copied_tokens(tokens(part_doubling(22))) > MAX_COPIED
    assert [name for name, _, _ in parts(tokens(NESTED))] == [f"n{number}" for number in reversed(range(20))]


@given(st.lists(st.sampled_from([*"ab()',;\" *", "WITH ", " AS ", "SELECT ", " FROM ", " NOT "])).map("".join))
def test_copies_of_any_text_are_counted(text):
    assert copied_tokens(tokens(text)) >= len(tokens(text))


def test_a_value_longer_than_allowed_is_refused_and_the_limit_can_be_raised(path):
    assert refusal(path, "SELECT length(body) FROM documents", Guard({"documents"})).layer == "size limit"
    raised = {"tables": {"documents"}, "max_value_bytes": 200_000}
    assert rows(path, "SELECT length(body) FROM documents", **raised) == [(150_000,)]


def test_a_result_larger_than_max_bytes_is_refused_and_not_cut(path):
    guard = Guard({"tickets"}, max_bytes=200)
    assert "200 bytes" in str(refusal(path, "SELECT * FROM tickets", guard))
    assert len(guard.run(path, "SELECT id FROM tickets LIMIT 5").rows) == 5


# --- The row cap ---


@pytest.mark.parametrize(("limit", "truncated"), [(49, False), (50, False), (51, True), (60, True)])
def test_the_row_cap_says_so(path, limit, truncated):
    result = Guard({"tickets"}).run(path, f"SELECT id, team FROM tickets ORDER BY id LIMIT {limit}")
    assert result.truncated is truncated
    assert len(result.rows) == min(limit, 50)
    assert result.rows[0] == ("T-1000", "Berlin") or result.rows[0][0] == "T-1000"
    assert result.columns == ("id", "team")
    assert ("there are more" in result.note) is truncated


@pytest.mark.parametrize("cap", [1, 4, 5, 6, 59, 60, 61])
def test_any_cap_is_kept(path, cap):
    result = Guard({"tickets"}, max_rows=cap).run(path, "SELECT id FROM tickets")
    assert (len(result.rows), result.truncated) == (min(cap, 60), cap < 60)


def test_no_rows_is_a_result(path):
    result = Guard({"tickets"}).run(path, "SELECT id FROM tickets WHERE 0")
    assert result == Result("SELECT id FROM tickets WHERE 0", ("id",), [], False)
    assert result.note == "Complete: 0 rows."


# --- What SQLite itself refuses ---


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("SELECT priorty FROM tickets", "Did you mean priority?"),
        ("SELECT t.Statuss FROM tickets t", "Did you mean status?"),
        ("SELECT * FROM ticket", "Did you mean tickets?"),
        ("SELECT rond(1.5)", "Did you mean round?"),
        ("SELECT FROM tickets", "syntax error"),
        ("SELEC 1", "syntax error"),
        ("I cannot answer that.", "syntax error"),
        ("SELECT 'open", "unrecognized token"),
        ("", "no SQL in the output"),
        ("```sql\n```", "cannot run it"),
        (" \n-- nothing\n", "no SQL in the output"),
        ("SELECT id FROM tickets WHERE team = ?", "placeholder"),
        ("SELECT id FROM tickets WHERE team = :team", "placeholder"),
        ("SELECT $a", "placeholder"),
        ("SELECT opened::date FROM tickets", "CAST(value AS type)"),
        ("SELECT 'a\0b'", "character"),
        ("SELECT '\ud800'", "character"),
        ("SELECT sum(count(*)) FROM tickets", "misuse of aggregate"),
    ],
)
def test_what_sqlite_cannot_run_comes_out_as_advice(path, output, expected):
    error = refusal(path, output)
    assert error.layer == "the SQL itself"
    assert expected in error.for_model


def test_a_damaged_or_closed_database_is_not_blamed_on_the_model(path):
    database = Guard({"tickets"}).open(path)
    database.close()
    with pytest.raises(Refused) as caught:
        database.run(BERLIN)
    assert caught.value.layer == "the database"


def test_a_missing_database_is_not_blamed_on_the_model(path):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        Guard({"tickets"}).run(path.parent / "none.sqlite", BERLIN)


def test_an_output_that_is_no_text_is_a_type_error(path):
    with pytest.raises(TypeError, match="NoneType"):
        Guard({"tickets"}).run(path, None)


# --- The guard as a value ---


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tables": "tickets"}, "list or set of names"),
        ({"tables": {""}}, "list or set of names"),
        ({"tables": [None]}, "list or set of names"),
        ({"tables": None}, "list or set of names"),
        ({"tables": iter(["tickets"])}, "list or set of names"),
        ({"functions": "count"}, "list or set of names"),
        ({"max_rows": 0}, "max_rows is 0"),
        ({"max_rows": 2.5}, "max_rows is 2.5"),
        ({"max_bytes": -1}, "max_bytes is -1"),
        ({"max_value_bytes": True}, "max_value_bytes is True"),
        ({"seconds": 0}, "seconds is 0"),
        ({"seconds": float("inf")}, "seconds is inf"),
        ({"seconds": float("nan")}, "seconds is nan"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_a_sentence(settings, message):
    with pytest.raises(ValueError, match=message):
        Guard(**{"tables": {"tickets"}} | settings)


def test_guards_of_the_same_rules_are_equal():
    assert Guard(["Tickets"]) == Guard({"tickets"})
    assert hash(Guard(["Tickets"])) == hash(Guard({"tickets"}))


# --- Kept open, and from several threads ---


def test_a_refusal_leaves_nothing_behind(path):
    with closing(Guard({"tickets"}, LESSON_FUNCTIONS, **QUICK).open(path)) as database:
        for output, expected in [*OUTPUTS.values(), *OUTPUTS.values()]:
            if isinstance(expected, str):
                with pytest.raises(Refused) as caught:
                    database.run(output)
                assert caught.value.layer == expected
            else:
                assert database.run(output).rows == expected


def test_several_threads_share_a_database_or_open_their_own(path):
    guard = Guard({"tickets"}, LESSON_FUNCTIONS, seconds=0.2)
    outputs = [OUTPUTS[name] for name in ("plain", "salaries", "age", "cte", "runaway", "wrong")] * 4

    def outcome(run, output):
        try:
            return run(output).rows
        except Refused as error:
            return error.layer

    with closing(guard.open(path)) as database, ThreadPoolExecutor(6) as pool:
        shared = list(pool.map(lambda case: outcome(database.run, case[0]), outputs))
        own = list(pool.map(lambda case: outcome(lambda sql: guard.run(path, sql), case[0]), outputs))
    expected = [right for _, right in outputs]
    assert shared == expected
    assert own == expected


# --- Any text ---

WORDS = """
    SELECT FROM tickets salaries staff WITH AS ( ) , * ; ' " -- /* */ DELETE INSERT INTO VALUES 1 = OR UNION ``` ? :a
    count(*) PRAGMA ATTACH RECURSIVE EXPLAIN x id %s {} \\ [ ] ` LIKE CASE julianday(id) sqlite_master
"""
PIECES = st.sampled_from([*WORDS.split(), "\n", "\0", "\ud800"])


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text() | st.lists(PIECES, max_size=14).map(" ".join))
def test_any_text_is_a_result_or_a_refusal(path, output):
    for guard in (Guard({"tickets"}, **QUICK), VIEWS):
        try:
            result = guard.run(path, output)
        except Refused:
            continue
        assert not any(91000 in row for row in result.rows)
