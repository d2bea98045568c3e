"""When two results are the same: cells, multisets, orders with ties, columns; and the rate over questions."""

import json
import re
import sqlite3
from datetime import date
from decimal import Decimal
from math import inf, nan
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import sql_accuracy
from benchmarks.sql_accuracy import alterations
from course_lib.corpora import tickets
from course_lib.sql.accuracy import (
    Gold,
    all_found,
    execution_accuracy,
    is_right,
    run_gold,
    same_cell,
    same_result,
    same_row,
)

CELLS = st.one_of(
    st.none(), st.integers(-3, 3), st.floats(), st.sampled_from(["", "a", "A", "1"]), st.binary(max_size=2)
)
ROWS = st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[CELLS] * width), max_size=6))


@pytest.mark.parametrize(
    ("one", "other"),
    [(5, 5.0), (True, 1), (0.1 + 0.2, 0.3), (1e9, 1e9 + 0.5), (None, None), (nan, nan), (inf, inf), (0, -0.0),
     (b"a", b"a"), (Decimal("12.50"), 12.5), (Decimal("3"), 3), (date(2026, 9, 25), "2026-09-25"),
     (b"a", memoryview(b"a")), (2**60, 2**60), (10**400, 10**400), ([1], [1])],
)  # fmt: skip
def test_these_cells_are_the_same(one, other):
    assert same_cell(one, other)
    assert same_cell(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [(5, 6), (5, "5"), (None, 0), (None, ""), (None, "None"), ("Open", "open"), ("a", "a "), (1.0, 1.000001),
     (b"a", "a"), (nan, None), (nan, 0), (inf, -inf), (2**60, 2**60 + 1), (0, 1e-6), (inf, 1e308),
     (1_000_000_000, 1_000_000_001)],
)  # fmt: skip
def test_these_cells_are_not(one, other):
    assert not same_cell(one, other)
    assert not same_cell(other, one)


def test_rows_of_another_width_are_not_the_same():
    assert not same_row((1, 2), (1,))
    assert same_row((), ())


@given(ROWS, st.randoms(use_true_random=False))
def test_a_result_is_itself_in_any_order_of_its_rows(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert same_result(shuffled, [rows])
    assert same_result(rows, [rows], ordered=True)


@given(ROWS.filter(bool))
def test_a_row_less_or_a_row_more_is_another_result(rows):
    assert not same_result(rows[1:], [rows])
    assert not same_result([*rows, rows[0]], [rows])


def test_a_row_that_comes_twice_counts_twice():
    assert not same_result([(1,), (1,), (2,)], [[(1,), (2,), (2,)]])
    assert not same_result([(1,)], [[(1,), (1,)]])


def test_floats_are_paired_even_where_sorting_would_pair_them_wrongly():
    got = [(1.0, 5.0), (1.0 + 1e-12, 3.0)]
    gold = [(1.0 + 2e-12, 5.0), (1.0, 3.0)]
    assert sorted(got)[0][1] != sorted(gold)[0][1], "sorted, the first rows do not belong together"
    assert same_result(got, [gold])


def test_a_row_that_two_others_are_near_to_is_given_away_only_once():
    near = 1 + 8e-10
    assert all_found([(1.0,), (near,)], [(near,), (1 + 1.6e-9,)])
    assert not all_found([(1.0,), (1.0,)], [(1 + 5e-10,), (2.0,)])


def test_a_row_makes_room_for_another_that_has_no_choice():
    got = [(1.0, 1 + 5e-10), (1 + 1e-10, 1 - 4e-10)]
    gold = [(1.0, 1.0), (1 + 1e-10, 1 + 1e-9)]
    assert same_row(got[0], gold[0])
    assert same_row(got[0], gold[1])
    assert not same_row(got[1], gold[1])
    assert same_result(got, [gold])


def test_thousands_of_rows_are_compared():
    random = Random(1)
    rows = [(random.random(), f"row {n % 7}") for n in range(5000)]
    noisy = [(value * (1 + 1e-13), name) for value, name in rows]
    random.shuffle(noisy)
    assert same_result(noisy, [rows])
    assert not same_result([(noisy[0][0] + 1, noisy[0][1]), *noisy[1:]], [rows])


def test_any_of_the_variants_will_do():
    variants = [[(13.083333,)], [(13.1,)]]
    assert same_result([(13.1,)], variants)
    assert same_result([(13.083333,)], variants)
    assert not same_result([(13.0,)], variants)


def test_an_order_counts_only_where_it_is_asked_for():
    up, down = [(1,), (2,)], [(2,), (1,)]
    assert same_result(down, [up])
    assert not same_result(down, [up], ordered=True)


TIED = [("a",), ("b",), ("c",), ("d",)]
KEYS = [(9,), (5,), (5,), (1,)]


@pytest.mark.parametrize(
    ("got", "right"),
    [
        ("abcd", True),
        ("acbd", True),
        ("bacd", False),
        ("abdc", False),
        ("abbd", False),
        ("abc", False),
        ("abcdd", False),
    ],
)
def test_rows_that_are_tied_may_come_in_any_order_and_others_may_not(got, right):
    assert same_result([(letter,) for letter in got], [TIED], ordered=True, keys=KEYS) is right


@pytest.mark.parametrize(
    ("got", "right"), [("ab", True), ("ac", True), ("ad", False), ("bc", False), ("a", False), ("abc", False)]
)
def test_of_rows_that_are_tied_at_the_cut_any_will_do(got, right):
    assert same_result([(letter,) for letter in got], [TIED], ordered=True, keys=KEYS, limit=2) is right


def test_a_limit_beyond_the_rows_changes_nothing():
    assert same_result(TIED, [TIED], ordered=True, keys=KEYS, limit=10)


def test_moved_columns_are_wrong_unless_the_policy_says_otherwise():
    got, gold = [(5, "Berlin"), (7, "Munich")], [("Berlin", 5), ("Munich", 7)]
    assert not same_result(got, [gold])
    assert same_result(got, [gold], columns="any order")
    assert not same_result([(7, "Berlin"), (5, "Munich")], [gold], columns="any order"), "each row keeps its own cells"
    assert not same_result([(5,), (7,)], [gold], columns="any order")


def test_moved_columns_are_found_among_columns_that_hold_the_same_numbers():
    gold = [(1, 2, 3), (2, 3, 1), (3, 1, 2)]
    got = [(row[2], row[0], row[1]) for row in gold]
    assert same_result(got, [gold], columns="any order")
    assert same_result([(0.3, "a")], [[("a", 0.1 + 0.2)]], columns="any order")


def test_a_column_is_not_used_twice():
    assert not same_result([(1, 2)], [[(1, 1)]], columns="any order")


def test_columns_are_moved_also_under_an_order_with_a_limit():
    gold, keys = [("a", 3), ("b", 2), ("c", 2)], [(3,), (2,), (2,)]
    assert same_result([(3, "a"), (2, "c")], [gold], ordered=True, keys=keys, limit=2, columns="any order")


def test_empty_results_are_the_same_and_differ_from_a_null():
    assert same_result([], [[]])
    assert same_result([], [[]], ordered=True)
    assert not same_result([(None,)], [[]])
    assert not same_result([], [[(None,)]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"gold_variants": []}, "no gold variant"), ({"gold_variants": [TIED], "keys": KEYS}, "ordered is False"),
     ({"gold_variants": [TIED], "keys": KEYS[:2], "ordered": True}, "2 keys for 4 rows"),
     ({"gold_variants": [TIED], "limit": 2, "ordered": True}, "without keys")],
)  # fmt: skip
def test_labels_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        same_result(TIED, **arguments)


def test_gold_is_run_with_its_keys_cut_off():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t AS SELECT 'a' AS id, 2 AS n UNION ALL SELECT 'b', 1 UNION ALL SELECT 'c', 1")
    gold = run_gold(connection, ["SELECT id, n FROM t ORDER BY n DESC"], keys=1, limit=2)
    assert (gold.variants, gold.keys, gold.ordered) == (([("a",), ("b",), ("c",)],), [(2,), (1,), (1,)], True)
    assert is_right([("a",), ("c",)], gold)
    assert not is_right([("b",), ("c",)], gold)
    assert run_gold(connection, ["SELECT 1", "SELECT 1.0"]).variants == ([(1,)], [(1.0,)])


def test_a_query_without_a_result_is_a_wrong_one():
    five = Gold(([(5,)],))
    rate = execution_accuracy([([(5,)], five), ([(5.0,)], five), (None, five), ([(0,)], five)])
    assert (rate.value, rate.n) == (0.5, 4)
    assert rate.low < 0.5 < rate.high
    with pytest.raises(ValueError, match="n >= 1"):
        execution_accuracy([])


# --- The benchmark --------------------------------------------------------------------------------------------------


def test_alterations_leave_the_rest_of_a_query_as_it_is():
    sql = "SELECT max(a) FROM t WHERE b = 'x' AND c > 3 GROUP BY d ORDER BY e DESC LIMIT 2"
    altered = list(alterations(sql))
    assert ("WHERE left out", "SELECT max(a) FROM t GROUP BY d ORDER BY e DESC LIMIT 2") in altered
    assert ("another literal", sql.replace("'x'", "'xx'")) in altered
    assert ("another comparison", sql.replace("> 3", ">= 3")) in altered
    assert ("sorted the other way", sql.replace("DESC", "ASC")) in altered
    assert ("another LIMIT", sql.replace("LIMIT 2", "LIMIT 3")) in altered
    assert all(one != sql for _, one in altered)
    assert [name for name, _ in alterations("SELECT a FROM t")] == ["another LIMIT"]


def test_the_benchmark_tells_right_from_altered_on_a_small_folder(tmp_path):
    tickets.make_database(tmp_path / "database" / "support" / "support.sqlite")
    queries = [
        "SELECT count(*) FROM tickets WHERE team = 'Berlin'",
        "SELECT id FROM tickets WHERE status = 'open' ORDER BY id",
        "SELECT DISTINCT team FROM tickets WHERE opened > '2020-01-01'",
    ]
    entries = [{"db": "support", "question": "?", "gold_sql": sql} for sql in queries]
    (tmp_path / "questions.json").write_text(json.dumps(entries), encoding="utf-8")
    text = sql_accuracy.report(tmp_path)
    assert re.search(r"gold against itself +3/3", text)
    assert re.search(r"gold that suspicion doubts +0/3", text)
    assert re.search(r"capitals of a value changed, result too +2, named by suspicion 2", text)
    assert re.search(r"sorted the other way +1 +1 +0 +0 +0", text)
    assert re.search(r"DISTINCT left out +1 +1 +0 +0 +0", text)
    assert "support: SELECT DISTINCT team FROM tickets" in text, "its WHERE holds for every row"
    assert "taken for wrong: 0" in text
