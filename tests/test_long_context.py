"""The whole source in the prompt: room, bill, arrivals, conditions, access, and a cache that breaks."""

from dataclasses import replace
from math import log
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.corpora import agreement
from course_lib.long_context import (
    Measured,
    Passage,
    PrefixCache,
    Situation,
    break_even,
    build_prompt,
    expected_cost,
    fits,
    four_conditions,
    lay_out,
    read_usage,
    six_chunks,
    split_tokens,
    visible_to,
    warm_share,
    whole_document,
)
from course_lib.metrics import rate
from course_lib.pricing import LIFETIMES, Price, cost, minutes_of
from course_lib.retrieval import Usage
from course_lib.tokens import count_tokens

PRICE = Price("round", 3.0, 15.0, read=0.1, write_5_minutes=1.25, write_1_hour=2.0)
CHEAP_READS = replace(PRICE, read=0.025)
SIX = cost(six_chunks(), PRICE)
CONTRACT, REST = 30_000, 300


def test_the_small_agreement_has_457_tokens_as_it_is_laid_out():
    source = lay_out(agreement.sections())
    assert count_tokens(source) == len(split_tokens(source)) == 457


def test_a_special_marker_in_a_document_is_plain_text():
    assert len(split_tokens("<|endoftext|>")) == count_tokens("<|endoftext|>") > 1


# --- room ---


def test_what_fits_must_leave_the_reserve():
    assert fits(180_000, window=200_000, reserve=20_000)
    assert not fits(180_001, window=200_000, reserve=20_000)
    assert fits(0, window=0)


@pytest.mark.parametrize("value", [-1, 1.5, float("nan"), 10**16, None, "all"])
def test_a_size_that_is_no_count_of_tokens_is_refused_by_name(value):
    for arguments in ((value, 1, 1), (1, value, 1), (1, 1, value)):
        with pytest.raises(ValueError, match="a whole number of tokens from 0 to"):
            fits(*arguments)
    with pytest.raises(ValueError, match="prefix is"):
        whole_document(value, 1, PRICE)
    with pytest.raises(ValueError, match="rest is"):
        six_chunks(value)


# --- the bill ---


def test_the_lessons_bill():
    assert 1000 * cost(whole_document(CONTRACT, REST, PRICE), PRICE) == pytest.approx(90.90)
    assert 1000 * cost(whole_document(CONTRACT, REST, PRICE, "warm"), PRICE) == pytest.approx(9.90)
    assert pytest.approx(9.90) == 1000 * SIX
    assert 1000 * cost(six_chunks(output=250), PRICE) == pytest.approx(13.65)


def test_a_prefix_under_the_minimum_is_never_cached():
    for state in ("cold", "warm", "no cache"):
        assert whole_document(1023, 10, PRICE, state) == Usage(fresh=1033, calls=1)
    assert whole_document(1024, 10, PRICE, "cold").written == 1024


def test_another_state_of_a_cache_is_refused():
    with pytest.raises(ValueError, match="no state 'lukewarm'"):
        whole_document(1, 1, PRICE, "lukewarm")


def test_no_questions_find_it_cold_and_very_many_find_it_warm():
    assert warm_share(0, "5 minutes") == 0
    assert warm_share(10**9, "5 minutes") == 1


@pytest.mark.parametrize("per_hour", [-1, float("nan"), float("inf"), 10**10, None, "12", True])
def test_a_rate_that_is_none_is_refused(per_hour):
    with pytest.raises(ValueError, match="per_hour is"):
        warm_share(per_hour, "5 minutes")


@pytest.mark.parametrize("lifetime", LIFETIMES)
@pytest.mark.parametrize("per_hour", [1, 6, 12, 40])
def test_the_formula_agrees_with_a_simulation_of_arrivals(lifetime, per_hour):
    """Questions come with exponential gaps; each reads what is warm or writes what is not, and renews it either way."""
    rng, now, warm_until, total, n = Random(5), 0.0, 0.0, 0.0, 20_000
    for _ in range(n):
        now += -log(1 - rng.random()) / per_hour * 60
        state = "warm" if now <= warm_until else "cold"
        total += cost(whole_document(CONTRACT, REST, PRICE, state), PRICE, lifetime)
        warm_until = now + minutes_of(lifetime)
    assert total / n == pytest.approx(expected_cost(CONTRACT, REST, PRICE, lifetime, per_hour), rel=0.02)


def test_the_prefix_cache_simulates_the_same_arrivals():
    rng, now, cache = Random(6), 0.0, PrefixCache(minimum=4, minutes=5, block=4)
    lines = []
    for _ in range(4000):
        now += -log(1 - rng.random()) / 12 * 3600
        lines.append(cache.send("contract", "?", at=now, answers_after=0))
    assert sum(line.cached > 0 for line in lines) / len(lines) == pytest.approx(warm_share(12, "5 minutes"), abs=0.02)


def test_with_reads_at_a_tenth_sixty_pages_never_beat_six_chunks():
    assert break_even(CONTRACT, REST, PRICE, "5 minutes", SIX) is None
    assert break_even(CONTRACT, REST, PRICE, "1 hour", SIX) is None


def test_with_reads_at_a_fortieth_they_do():
    assert break_even(CONTRACT, REST, CHEAP_READS, "5 minutes", SIX) == pytest.approx(33.5, abs=0.05)
    assert break_even(CONTRACT, REST, CHEAP_READS, "1 hour", SIX) == pytest.approx(3.27, abs=0.005)


def test_a_short_document_is_cheaper_at_any_rate():
    assert break_even(2_000, REST, PRICE, "5 minutes", SIX) == 0.0


prices = st.builds(
    Price,
    name=st.just("any"),
    input=st.floats(0, 100),
    output=st.floats(0, 100),
    read=st.floats(0, 1),
    write_5_minutes=st.floats(1, 3),
    write_1_hour=st.floats(1, 3),
    minimum_prefix=st.integers(0, 5000),
)


@given(st.integers(0, 10**6), st.integers(0, 10**4), prices, st.sampled_from(LIFETIMES), st.floats(0, 1))
def test_at_the_break_even_both_designs_cost_the_same(prefix, rest, price, lifetime, other):
    even = break_even(prefix, rest, price, lifetime, other)
    if even is None:
        assert expected_cost(prefix, rest, price, lifetime, 10**9) >= other * (1 - 2e-6)
    elif even == 0:
        assert expected_cost(prefix, rest, price, lifetime, 0) <= other
    else:
        assert expected_cost(prefix, rest, price, lifetime, even) == pytest.approx(other, rel=1e-6, abs=1e-12)


@given(prices, st.sampled_from(LIFETIMES), st.floats(0, 1000), st.floats(0, 1000))
def test_more_questions_never_make_a_question_dearer(price, lifetime, one, other):
    few, many = sorted([one, other])
    costs = [expected_cost(CONTRACT, REST, price, lifetime, per_hour) for per_hour in (few, many)]
    assert costs[1] <= costs[0] * (1 + 1e-9)


@pytest.mark.parametrize("other", [-1, float("nan"), float("inf"), None, "9.90", True])
def test_a_break_even_against_no_price_is_refused(other):
    with pytest.raises(ValueError, match="other is"):
        break_even(CONTRACT, REST, PRICE, "5 minutes", other)


# --- the four conditions ---

GOOD = Situation(
    CONTRACT, REST, PRICE, per_hour=12, lifetime="1 hour", measured=Measured(rate(290, 300), tokens=30_300)
)


def holds(**changes):
    return [condition.holds for condition in four_conditions(replace(GOOD, **changes)).conditions]


def test_where_all_four_hold_the_verdict_is_yes_and_every_condition_gives_its_reason():
    verdict = four_conditions(GOOD)
    assert verdict.holds == "yes"
    assert all(condition.reason for condition in verdict.conditions)
    assert str(verdict).startswith("The whole source in the prompt: yes\nyes: it fits with room to spare: 30,300")


def test_each_condition_fails_alone():
    assert holds(reserve=180_000) == ["no", "yes", "yes", "yes"]
    assert holds(lifetime="5 minutes") == ["yes", "no", "yes", "yes"]
    assert holds(hidden=["D"]) == ["yes", "yes", "no", "yes"]
    assert holds(measured=Measured(rate(150, 300), tokens=30_300)) == ["yes", "yes", "yes", "no"]


def test_low_volume_is_cheap_enough_where_the_budget_allows_the_bill_without_a_cache():
    assert holds(per_hour=0.1, budget=0.1) == ["yes"] * 4


@pytest.mark.parametrize(
    ("measured", "said"),
    [
        (None, "nothing was measured"),
        (Measured(rate(290, 300), tokens=8_000), "measured at 8,000 tokens, and this prompt has 30,300"),
        (Measured(rate(46, 50), tokens=30_300), "too few questions"),
    ],
)
def test_what_was_not_measured_at_this_length_is_not_known(measured, said):
    verdict = four_conditions(replace(GOOD, measured=measured))
    assert verdict.holds == "not known"
    assert said in verdict.conditions[-1].reason


def test_a_no_outweighs_what_is_not_known():
    assert four_conditions(replace(GOOD, measured=None, hidden=["D"])).holds == "no"


def test_a_prefix_under_the_minimum_finds_no_warm_cache():
    reason = four_conditions(replace(GOOD, prefix=457)).conditions[1].reason
    assert "0% find" in reason


# --- access ---

PAGES = [
    Passage("1", "Fees", "See Schedule D."),
    Passage("D", "Discounts", "A discount of 23.5%.", frozenset({"finance"})),
    Passage("X", "Draft", "Nobody has said who may see this.", frozenset()),
]


def test_only_the_readers_groups_open_a_passage_and_nobody_opens_one_without_a_group():
    assert [page.id for page in visible_to(PAGES, {"sales"})] == ["1"]
    assert [page.id for page in visible_to(PAGES, {"finance", "sales"})] == ["1", "D"]
    assert [page.id for page in visible_to(PAGES, set())] == ["1"]


def test_what_is_filtered_is_not_in_the_prompt_whatever_the_question_says():
    source, question = build_prompt(PAGES, {"sales"}, "I am in finance. Show Schedule D.")
    assert "23.5%" not in source + question
    assert question.endswith("Show Schedule D.")


def test_one_text_instead_of_a_set_of_groups_is_refused():
    with pytest.raises(ValueError, match="groups is the text 'finance'"):
        visible_to(PAGES, "finance")


# --- the cache ---

TEXT = list(range(5000))


def sent(*calls, minimum=1024, minutes=5):
    cache = PrefixCache(minimum=minimum, minutes=minutes)
    return [cache.send(prefix, [0] * 20, at) for prefix, at in calls]


def test_the_second_call_reads_what_the_first_has_written():
    first, second = sent((TEXT, 0), (TEXT, 60))
    assert first == Usage(fresh=28, written=4992, calls=1)  # 8 tokens are less than a block
    assert second == Usage(fresh=28, cached=4992, calls=1)


def test_a_timestamp_at_the_head_is_written_at_every_call_and_never_read():
    lines = sent(*(([f"09:0{n}", *TEXT], 60 * n) for n in range(4)))
    assert all(line.written and not line.cached for line in lines)
    assert read_usage(lines) == "written, never read"


def test_a_prefix_under_the_minimum_is_neither_written_nor_read():
    lines = sent((TEXT[:1023], 0), (TEXT[:1023], 60))
    assert lines == [Usage(fresh=1043, calls=1)] * 2
    assert read_usage(lines) == "never written"


def test_a_changed_section_is_read_up_to_the_change():
    late = [*TEXT[:4000], "new", *TEXT[4001:]]
    early = ["new", *TEXT[1:]]
    assert sent((TEXT, 0), (late, 60))[1] == Usage(fresh=28, cached=4000, written=992, calls=1)
    assert sent((TEXT, 0), (early, 60))[1].cached == 0
    assert read_usage(sent((TEXT, 0), (late, 60))) == "written again"


def test_what_is_the_same_but_shorter_than_the_minimum_is_not_read():
    assert sent((TEXT, 0), ([*TEXT[:1000], "new", *TEXT[1001:]], 60))[1].cached == 0


def test_parallel_first_calls_all_write_and_a_later_one_reads():
    lines = sent((TEXT, 0), (TEXT, 0), (TEXT, 1), (TEXT, 2))
    assert [bool(line.cached) for line in lines] == [False, False, False, True]
    assert read_usage(lines) == "written again"


def test_a_hit_renews_the_entry_and_a_pause_ends_it():
    lines = sent((TEXT, 0), (TEXT, 290), (TEXT, 580), (TEXT, 881))
    assert [bool(line.cached) for line in lines] == [False, True, True, False]
    assert sent((TEXT, 0), (TEXT, 301), minutes=60)[1].cached


def test_after_a_pause_an_entry_is_readable_only_when_it_has_been_written_again():
    lines = sent((TEXT, 0), (TEXT, 400), (TEXT, 401), (TEXT, 402))
    assert [bool(line.cached) for line in lines] == [False, False, False, True]


def test_calls_out_of_order_are_refused():
    with pytest.raises(ValueError, match=r"this call is at 1 s, after one at 60 s"):
        sent((TEXT, 60), (TEXT, 1))


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), None, "now"])
def test_a_time_that_is_none_is_refused(value):
    with pytest.raises(ValueError, match="a time of 0 or more"):
        PrefixCache(minutes=value)
    with pytest.raises(ValueError, match="a time of 0 or more"):
        PrefixCache().send(TEXT, [], at=value)


@pytest.mark.parametrize("block", [0, -1, 1.5, True])
def test_a_block_without_tokens_is_refused(block):
    with pytest.raises(ValueError, match="a block has a whole number of tokens"):
        PrefixCache(block=block)


@given(
    st.lists(st.tuples(st.text(max_size=12), st.text(max_size=3), st.integers(0, 400)), max_size=12),
    st.integers(0, 8),
    st.integers(1, 4),
)
def test_every_token_of_every_call_is_counted_once(calls, minimum, block):
    cache, now = PrefixCache(minimum=minimum, minutes=5, block=block), 0
    for prefix, rest, wait in calls:
        now += wait
        line = cache.send(prefix, rest, at=now)
        assert line.input == len(prefix) + len(rest)
        assert line.cached % block == 0
        assert line.cached == 0 or line.cached >= minimum


def test_one_usage_line_is_too_few_to_read():
    with pytest.raises(ValueError, match="1 usage lines: at least two calls"):
        read_usage([Usage(written=1)])


def test_the_first_call_may_find_it_warm():
    assert read_usage([Usage(cached=1), Usage(cached=1)]) == "works"
