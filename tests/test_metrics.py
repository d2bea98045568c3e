import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.metrics import (
    hit_at_k,
    hit_rate_at_k,
    mean_recall_at_k,
    ndcg_at_k,
    rate,
    recall_at_k,
    wilson_interval,
)


def test_the_interval_agrees_with_published_values():
    # Newcombe 1998, Statistics in Medicine 17, table I, method 3: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    published = {
        (81, 263): (0.2553, 0.3662),
        (15, 148): (0.0624, 0.1605),
        (0, 20): (0.0, 0.1611),
        (1, 29): (0.0061, 0.1718),
    }
    for (successes, n), (low, high) in published.items():
        assert wilson_interval(successes, n) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_share_and_stays_within_zero_and_one(counts):
    successes, n = counts
    low, high = wilson_interval(successes, n)
    assert 0 <= low <= successes / n <= high <= 1


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (2, 1), (-1, 5)])
def test_counts_that_cannot_be_are_refused_in_a_sentence(successes, n):
    with pytest.raises(ValueError, match="trials"):
        wilson_interval(successes, n)


def test_one_failure_proves_little():
    assert str(rate(0, 1)) == "0.00 (n = 1, 95 % interval 0.00 to 0.79)"


def test_a_hit_needs_one_gold_id_and_recall_counts_all():
    assert hit_at_k(["7.1", "7.3", "7.2"], ["7.3", "B"], k=3)
    assert recall_at_k(["7.1", "7.3", "7.2"], ["7.3", "B"], k=3) == 0.5
    assert recall_at_k(["7.1", "7.3", "7.2", "B"], ["7.3", "B"], k=4) == 1.0


def test_abstaining_counts_as_a_miss():
    assert not hit_at_k([], ["B"], k=3)


def test_a_gold_id_that_is_named_twice_counts_once():
    assert recall_at_k(["B"], ["B", "B"], k=1) == 1.0


def test_rates_go_over_the_questions():
    rankings, gold = [["a", "b"], ["c"], []], [["b"], ["a"], ["a"]]
    assert hit_rate_at_k(rankings, gold, k=2).value == pytest.approx(1 / 3)
    assert hit_rate_at_k(rankings, gold, k=1).value == 0
    assert mean_recall_at_k(rankings, gold, k=2) == pytest.approx(1 / 3)


def test_bad_input_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="without gold"):
        recall_at_k(["a"], [], k=1)
    with pytest.raises(ValueError, match="a list of ids is expected"):
        hit_rate_at_k([["7.3"]], ["7.3"], k=1)
    with pytest.raises(ValueError, match="counted from 1"):
        recall_at_k(["a"], ["a"], k=0)
    with pytest.raises(ValueError, match="2 rankings for 1 questions"):
        hit_rate_at_k([["a"], ["b"]], [["a"]], k=1)
    with pytest.raises(ValueError, match="one at least"):
        mean_recall_at_k([], [], k=1)


def test_ndcg_agrees_with_an_example_computed_by_hand():
    # Grades 3, 2, 0, 1 in this order; the ideal order is 3, 2, 2, 1, for a document of grade 2 was not returned.
    grades = {"a": 3, "b": 2, "d": 1, "missed": 2}
    found = 3 / 1 + 2 / 1.5849625 + 0 / 2 + 1 / 2.3219281
    ideal = 3 / 1 + 2 / 1.5849625 + 2 / 2 + 1 / 2.3219281
    assert ndcg_at_k(["a", "b", "c", "d"], grades, k=4) == pytest.approx(found / ideal)
    assert ndcg_at_k(["a", "b", "c", "d"], grades, k=2) == 1


def test_ndcg_is_one_for_the_ideal_order_and_zero_for_none():
    assert ndcg_at_k(["a", "b"], {"a": 2, "b": 1}, k=10) == 1
    assert ndcg_at_k(["b", "a"], {"a": 2, "b": 1}, k=10) < 1
    assert ndcg_at_k([], {"a": 1}, k=10) == ndcg_at_k(["x"], {"a": 1}, k=10) == 0


@given(st.lists(st.sampled_from("abcd")), st.integers(1, 12))
def test_ndcg_stays_within_zero_and_one_also_where_a_ranking_repeats_an_id(ranking, k):
    assert 0 <= ndcg_at_k(ranking, {"a": 3, "b": 1, "c": 0}, k) <= 1 + 1e-12


@pytest.mark.parametrize(("grades", "k"), [({}, 1), ({"a": 0}, 1), ({"a": -1, "b": 1}, 1), ({"a": 1}, 0)])
def test_ndcg_of_an_unlabelled_question_is_refused(grades, k):
    with pytest.raises(ValueError, match=r"label it|counted from 1"):
        ndcg_at_k(["a"], grades, k)
