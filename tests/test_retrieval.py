import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.retrieval import outcome, rank_of


def test_a_section_outside_the_pool_is_not_retrieved():
    assert outcome(rank=4, pool=3, k=3) == "not retrieved"


def test_a_section_in_the_pool_and_below_the_cut_off_is_ranked_out():
    assert outcome(rank=4, pool=50, k=3) == "ranked out"


def test_both_limits_belong_to_the_inside():
    assert outcome(rank=3, pool=50, k=3) == "in the prompt"
    assert outcome(rank=50, pool=50, k=3) == "ranked out"


def test_a_section_that_was_never_returned_is_not_retrieved_at_any_depth():
    assert outcome(rank=None, pool=10**9, k=10**9) == "not retrieved"


def test_a_cut_off_above_the_pool_adds_nothing():
    assert outcome(rank=4, pool=3, k=10) == "not retrieved"


@pytest.mark.parametrize("values", [(0, 3, 3), (1, 0, 3), (1, 3, 0), (-1, 3, 3)])
def test_limits_below_one_are_refused_in_a_sentence(values):
    with pytest.raises(ValueError, match="counted from 1"):
        outcome(*values)


@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 60))
def test_a_larger_cut_off_never_loses_a_section(rank, pool, k):
    if outcome(rank, pool, k) == "in the prompt":
        assert outcome(rank, pool, k + 1) == "in the prompt"
        assert outcome(rank, pool + 1, k) == "in the prompt"


def test_a_rank_counts_from_one_and_is_none_where_the_id_is_missing():
    assert rank_of(["a", "b"], "a") == 1
    assert rank_of(["a", "b"], "c") is None
