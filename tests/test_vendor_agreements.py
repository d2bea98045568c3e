"""The generated vendor agreements: they read like agreements, stay the same, and their truth is in their text."""

import re
from collections import Counter
from hashlib import sha256

import pytest

from course_lib.corpora.vendor_agreements import GRANTS, KINDS, NO_RIGHT, PHRASES, vendor_agreements
from course_lib.tokens import count_tokens

ALL = vendor_agreements()


def test_there_are_2000_with_ids_in_order():
    assert [one.id for one in ALL] == [f"VA-{n:04d}" for n in range(1, 2001)]


def test_the_same_seed_gives_the_same_text_on_every_python():
    digest = sha256("\n".join(one.text for one in ALL).encode()).hexdigest()
    assert digest[:16] == "992c31126e8dbe3f"


def test_fewer_are_the_first_of_more_and_another_seed_gives_others():
    assert vendor_agreements(10) == ALL[:10]
    assert vendor_agreements(10, seed=1) != ALL[:10]
    assert vendor_agreements(0) == ()


def test_a_negative_count_is_refused():
    with pytest.raises(ValueError, match="-1 agreements were asked for"):
        vendor_agreements(-1)


def test_every_kind_of_phrasing_occurs_often_enough_to_be_measured():
    counts = Counter(one.phrased for one in ALL)
    assert set(counts) == set(KINDS)
    assert min(counts.values()) >= 30


def test_the_right_is_missing_exactly_where_the_truth_says_none():
    granted = re.compile("|".join(re.escape(g.split("}")[1].split("NOTICE")[0]) for g in GRANTS))
    for one in ALL:
        assert (one.days is None) == (one.phrased == "no right")
        if one.phrased not in ("no right", "schedule"):
            assert granted.search(one.text), one.id


def test_the_text_holds_a_period_of_the_true_length_where_the_kind_says():
    for one in ALL:
        if one.phrased in PHRASES:
            place = r"^Leaving without cause: .*" if one.phrased == "schedule" else r"^7\. .*"
            line = re.search(place, one.text, re.MULTILINE).group()
            assert any(phrase in line for phrase, days in PHRASES[one.phrased].items() if days == one.days), one.id


def test_nothing_is_left_to_fill_in():
    assert not [one.id for one in ALL if re.search(r"[{}|]|NOTICE|  ", one.text)]


def test_some_agreements_without_our_right_still_hold_a_notice_for_the_vendor():
    vendors = [one for one in ALL if one.phrased == "no right" and "The Vendor may terminate" in one.text]
    assert vendors
    assert len(NO_RIGHT) == 3


def test_together_they_are_longer_than_a_window_of_a_million_tokens():
    assert sum(count_tokens(one.text) for one in ALL) > 10**6
