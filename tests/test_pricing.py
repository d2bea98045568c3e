"""Money: from counted tokens and a price to USD, and nothing but sentences for what cannot be priced."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.corpora import DATA
from course_lib.pricing import LIFETIMES, Price, bill, cost, load_prices, minutes_of, whole
from course_lib.retrieval import Usage

ROUND = Price("round", 3.0, 15.0, read=0.1, write_5_minutes=1.25, write_1_hour=2.0)
counts = st.integers(0, 10**12)
usages = st.builds(Usage, counts, counts, counts, counts, st.integers(0, 1000))


@pytest.mark.parametrize(
    ("usage", "usd"),
    [
        (Usage(fresh=30_300), 0.0909),
        (Usage(fresh=300, cached=30_000), 0.0099),
        (Usage(fresh=3_300), 0.0099),
        (Usage(fresh=3_300, output=250), 0.01365),
        (Usage(fresh=300, written=30_000), 0.1134),
        (Usage(), 0.0),
    ],
)
def test_the_lessons_figures(usage, usd):
    assert cost(usage, ROUND) == pytest.approx(usd)


def test_an_hour_costs_more_to_write_and_nothing_more_to_read():
    assert cost(Usage(written=10**6), ROUND, "1 hour") == pytest.approx(6.0)
    assert cost(Usage(written=10**6), ROUND, "5 minutes") == pytest.approx(3.75)
    assert cost(Usage(cached=10**6), ROUND, "1 hour") == cost(Usage(cached=10**6), ROUND, "5 minutes")


@given(usages, usages, st.sampled_from(LIFETIMES))
def test_what_is_added_up_costs_the_sum(first, second, lifetime):
    together = cost(first, ROUND, lifetime) + cost(second, ROUND, lifetime)
    assert cost(first + second, ROUND, lifetime) == pytest.approx(together)
    assert sum(bill(first, ROUND, lifetime).values()) == cost(first, ROUND, lifetime)


@given(usages)
def test_usages_add_up_count_by_count(usage):
    assert usage + Usage() == usage
    assert (usage + usage).input == 2 * usage.input


@pytest.mark.parametrize("count", [-1, 1.5, float("nan"), None, "3", True])
def test_a_usage_that_is_no_count_is_refused_by_name(count):
    with pytest.raises(ValueError, match=r"cached is .*, but it is a count: a whole number, 0 or more"):
        Usage(cached=count)


def test_more_tokens_than_were_ever_written_are_refused():
    with pytest.raises(ValueError, match="fresh is 1000000000000000000000, but a whole number of tokens"):
        cost(Usage(fresh=10**21), ROUND)


def refused(call):
    """The sentence of the ValueError that `call` raises, or None."""
    try:
        call()
    except ValueError as error:
        return str(error)
    return None


anything = st.none() | st.booleans() | st.floats() | st.text() | st.integers()


@given(anything)
def test_a_price_is_in_bounds_or_refused_with_a_sentence(value):
    for field in ("input", "output", "read", "write_5_minutes", "write_1_hour", "minimum_prefix", "window"):
        said = refused(lambda field=field: cost(Usage(10, 20, 30, 40), replace(ROUND, **{field: value})) >= 0)
        assert said is None or "is needed" in said


@given(anything)
def test_a_count_of_tokens_is_in_bounds_or_refused_with_a_sentence(value):
    said = refused(lambda: whole("tokens", value))
    assert said.startswith("tokens is ") if said else 0 <= value <= 10**15


def test_another_lifetime_is_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match="no cache lifetime '1 day'; there is 5 minutes and 1 hour"):
        minutes_of("1 day")
    with pytest.raises(ValueError, match="no cache lifetime"):
        cost(Usage(), ROUND, "1 day")


def test_the_price_file_holds_presets_and_the_first_is_the_lessons():
    prices = load_prices(DATA / "prices.json")
    assert len(prices) == 4
    first = next(iter(prices.values()))
    assert replace(first, name="round") == ROUND
    assert [price.read for price in prices.values()] == [0.1, 0.025, 0.1, 0.25]


@pytest.mark.parametrize(
    ("preset", "said"),
    [
        ({"name": "half", "input": 3.0}, "preset 'half': .*missing"),
        ({**vars(ROUND), "read": 10}, "preset 'round': read is 10, but a number from 0 to 1"),
        ({**vars(ROUND), "colour": "red"}, "preset 'round': .*colour"),
        ({**vars(ROUND), "input": "3"}, "preset 'round': input is '3'"),
    ],
)
def test_a_mistake_in_the_price_file_is_said_with_the_preset(tmp_path, preset, said):
    path = tmp_path / "prices.json"
    path.write_text(json.dumps({"presets": [preset]}), encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        load_prices(path)
