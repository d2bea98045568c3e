"""Move 0's lesson: its questions, both exercises with every wrong answer, its explorer at every extreme."""

import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.corpora.vendor_agreements import KINDS, vendor_agreements
from course_lib.learn.blank import ____
from course_lib.learn.look import to_text
from course_lib.lessons import move0_long_context as move0
from course_lib.lessons.move0_long_context import (
    LINES,
    NUMBER_WORDS,
    PERIOD,
    PERIODS,
    READINGS,
    UNITS,
    draw_bill,
    lesson,
    notice_days,
)
from course_lib.lessons.start_here import SYSTEMS
from course_lib.long_context import PrefixCache, lay_out, read_usage, split_tokens, visible_to
from course_lib.retrieval import Usage, outcome
from tests.lesson_checks import every_option_that_can_be_wrong_says_why, every_wrong_answer_gets_its_reason

FIRST = next(iter(move0.prices()))


@pytest.fixture(autouse=True)
def own_record(tmp_path, monkeypatch):
    from course_lib.learn.record import Record

    record = Record(tmp_path / "r.json")
    monkeypatch.setattr("course_lib.learn.lesson.open_record", lambda: record)


# --- predictions ---

# What the notebook's cells compute; nbval compares the cells themselves.
ACTUAL = {
    "again_name": "not retrieved",
    "again_encoder": ["hybrid"],
    "bill": 90.9,
    "cached": 1.0,
    "break_even": None,
    "timestamp": 1.25,
    "boundary": ["filter"],
    "naive": ["words", "weeks", "months", "schedule", "unusual", "no right"],
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
        ("bill", 9.9, "about USD 9"),
        ("bill", 909.0, "about USD 910"),
        ("cached", 0.3, "less"),
        ("cached", 3.0, "three times as much"),
        ("cached", 9.2, "ten times as much"),
        ("break_even", 12.2, "from about 12 an hour"),
        ("break_even", 33.5, "from about 60 an hour"),
        ("timestamp", 0.39, "less than half"),
        ("timestamp", 1.0, "the same"),
    ],
)
def test_another_value_than_the_courses_falls_into_another_option(key, value, option):
    assert lesson.questions[key].right(value) == [option]
    assert option in [o.name for o in lesson.questions[key].options]


def test_the_questions_from_the_opening_have_the_answers_that_its_library_computes():
    assert outcome(rank=12, pool=10, k=5) == ACTUAL["again_name"]
    names = [option.name for option in move0.AGAIN_ENCODER.options]
    assert [s.name for s in SYSTEMS if s.computed and s.name in names] == ACTUAL["again_encoder"]
    assert set(names) <= {s.name for s in SYSTEMS}


def test_only_the_filter_keeps_the_discount_out_of_the_prompt():
    everything = lay_out(move0.passages()) + move0.INSTRUCTION
    assert move0.DISCOUNT in everything
    assert move0.DISCOUNT not in lay_out(visible_to(move0.passages(), {"sales"}))
    assert move0.DISCOUNT in lay_out(visible_to(move0.passages(), {"finance"}))


# --- reading usage lines ---


def breakage():
    scope = {}
    exec(lesson.exercises["name_the_breakage"].solution, scope)
    return scope["name_the_breakage"]


def test_the_solution_is_right_and_agrees_with_the_library():
    assert lesson.check("name_the_breakage", breakage()).outcome == "right"
    for lines in LINES:
        assert breakage()(lines) == read_usage(lines)
    assert {read_usage(lines) for lines in LINES} == set(READINGS)


def first_call_counts(lines):
    if not any(line.cached or line.written for line in lines):
        return "never written"
    if not any(line.cached for line in lines):
        return "written, never read"
    return "written again" if any(line.written for line in lines) else "works"


def written_means_broken(lines):
    return "written, never read" if any(line.written for line in lines) else "never written"


def warm_from_the_start_is_never_written(lines):
    return "never written" if not any(line.written for line in lines) else read_usage(lines)


def any_read_is_fine(lines):
    found = read_usage(lines)
    return "works" if found == "written again" else found


def fresh_tokens_decide(lines):
    return "works" if any(line.fresh < 457 for line in lines) else "never written"


def all_instead_of_any(lines):
    if all(line.cached == 0 and line.written == 0 for line in lines):
        return "never written"
    if all(line.cached == 0 for line in lines):
        return "written, never read"
    return "written again" if all(line.written for line in lines[1:]) else "works"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (first_call_counts, "The first call may have to write; leave it out"),
        (written_means_broken, "leave it out"),
        (warm_from_the_start_is_never_written, "The first call may find the cache warm already"),
        (any_read_is_fine, "look at what the calls after the first write besides"),
        (fresh_tokens_decide, "Add up what was read over all calls"),
        (all_instead_of_any, "look at what the calls after the first write besides"),
        (lambda lines: "works", "what do they add up to?"),
        (lambda lines: "broken", "not one of the four"),
        (lambda lines: None, "it returned None"),
        (lambda lines: ["works"], "not one of the four"),
    ],
)
def test_every_wrong_reading_is_told_what_to_count(wrong, said):
    feedback = lesson.check("name_the_breakage", wrong)
    assert feedback.outcome == "wrong"
    assert said in repr(feedback)


def test_the_usage_exercise_as_it_ships_is_not_attempted():
    def as_shipped(lines):
        if ____:
            return "never written"
        return "works"

    assert lesson.check("name_the_breakage", as_shipped).outcome == "not attempted"


@pytest.mark.parametrize("function", [lambda lines: lines.cached, lambda: "works", lambda lines: lines[99]])
def test_code_that_stops_is_an_error(function):
    assert lesson.check("name_the_breakage", function).outcome == "error"


values = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda s: st.lists(s, max_size=2))


@given(values)
def test_no_returned_value_of_any_kind_breaks_a_judge(value):
    assert move0.judge_read_usage(lambda lines: value)
    assert move0.judge_notice_days(lambda phrase: value)


def test_no_message_gives_the_reading_away():
    for wrong in (first_call_counts, any_read_is_fine, fresh_tokens_decide, all_instead_of_any):
        said = move0.judge_read_usage(wrong)
        lines = next(case for case in LINES if wrong(case) != read_usage(case))
        assert f"'{read_usage(lines)}'" not in said


# --- periods in days ---


def learners(expression, **known):
    """The exercise's function with `expression` in the place of its blank."""
    scope = {"re": re, "PERIOD": PERIOD, "NUMBER_WORDS": NUMBER_WORDS, "UNITS": UNITS, **known}
    exec(
        "def notice_days(phrase):\n"
        "    found = re.search(PERIOD, phrase.lower())\n"
        "    if found is None:\n"
        "        return None\n"
        "    number, unit = found.groups()\n"
        f"    return {expression}\n",
        scope,
    )
    return scope["notice_days"]


def test_the_solution_reads_periods_as_the_library_does():
    scope = {"re": re, "PERIOD": PERIOD, "NUMBER_WORDS": NUMBER_WORDS, "UNITS": UNITS}
    exec(lesson.exercises["notice_days"].solution, scope)
    assert lesson.check("notice_days", scope["notice_days"]).outcome == "right"
    for phrase, days in PERIODS:
        assert scope["notice_days"](phrase) == notice_days(phrase) == days


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("int(number) * UNITS[unit] if number.isdecimal() else None", "in figures or in words"),
        ("int(number) if number.isdecimal() else NUMBER_WORDS.get(number)", "UNITS says how many"),
        ("(int(number) if number.isdecimal() else NUMBER_WORDS.get(number, 0)) * UNITS[unit]", "say None"),
        ("number", "A whole number of days is wanted"),
        ("float(NUMBER_WORDS.get(number, number if number.isdecimal() else 0)) * UNITS[unit]", "A whole number"),
        ("UNITS[unit]", "The number before the unit"),
        ("None", "Here a number and a unit can be read"),
        ("True", "A whole number of days"),
    ],
)
def test_every_wrong_conversion_is_told_the_kind_of_mistake(expression, said):
    feedback = lesson.check("notice_days", learners(expression))
    assert feedback.outcome == "wrong"
    assert said in repr(feedback)


@pytest.mark.parametrize("expression", ["int(number) * UNITS[unit]", "NUMBER_WORDS[number] * UNITS[unit]", "1 / 0"])
def test_a_conversion_that_raises_is_an_error(expression):
    assert lesson.check("notice_days", learners(expression)).outcome == "error"


def test_the_period_exercise_as_it_ships_is_not_attempted():
    as_shipped = learners("None if ____ else int(number) * UNITS[unit]", ____=____)
    assert lesson.check("notice_days", as_shipped).outcome == "not attempted"


@given(st.text())
def test_any_text_is_read_as_whole_days_or_not_at_all(text):
    days = notice_days(text)
    assert days is None or days >= 0


def test_every_common_wording_of_the_generator_is_read_and_the_unusual_ones_are_not():
    from course_lib.corpora import vendor_agreements as corpus

    for kind, phrases in corpus.PHRASES.items():
        for phrase, days in phrases.items():
            assert notice_days(phrase) == (None if kind == "unusual" else days)


# --- tables ---


def test_the_phrasings_add_up_to_all_agreements():
    agreements = vendor_agreements()
    counts = move0.by_phrasing(agreements, {one.id: one.days for one in agreements})
    assert list(counts) == list(KINDS)
    assert sum(states["right"] for states in counts.values()) == len(agreements)
    assert "days 862 0 0" in to_text(move0.show_phrasings(counts).html)


def test_a_kind_that_does_not_occur_is_left_out():
    one = vendor_agreements(1)
    assert move0.by_phrasing(one, {one[0].id: None}) == {"words": {"right": 0, "wrong": 0, "empty": 1}}


def test_published_figures_have_a_source_and_the_courses_date():
    shown = repr(move0.published_figures())
    assert "as of 2026-09-25" in shown
    assert all(source for _, source in move0.PUBLISHED)


def test_calls_are_shown_with_what_they_reveal():
    cache = PrefixCache(minimum=2, minutes=5, block=2)
    lines = [cache.send("contract", "?", at=60 * n) for n in range(2)]
    shown = repr(move0.show_calls(lines, move0.prices()[FIRST], minutes=[0, 1]))
    assert "● Cache: works." in shown
    assert "2 1 1 8 0" in shown


def test_markup_in_an_agreement_is_shown_as_text():
    from dataclasses import replace

    evil = replace(vendor_agreements(1)[0], vendor="<img src=x onerror=alert(1)>", text="<script>$x$</script>")
    html = move0.read_agreement(evil).html
    assert "<img" not in html
    assert "<script" not in html


def test_a_bill_names_its_tokens_and_its_lifetime():
    shown = repr(move0.show_bill({"cold": Usage(300, written=30_000)}, move0.prices()[FIRST], "1 hour"))
    assert "cold 300 0 30,000 0.90 0.00 180.00 180.90" in shown
    assert "cache of 1 hour" in shown


# --- the explorer ---


def drawn(**changes):
    values = {name: control.value for name, control in move0.bill_explorer().controls.items()}
    return draw_bill(**{**values, **changes})


def test_the_explorer_starts_at_the_lessons_contract():
    shown = repr(move0.bill_explorer())
    assert "Break-even: none." in shown
    assert "At 12 questions an hour, 63% of them find the cache warm" in shown
    for line in ("six chunks 9.90", "whole, no cache 90.90", "whole, cache of 5 minutes 47.98"):
        assert line in shown


def test_cheaper_reads_bring_a_break_even_and_mark_it_as_a_point():
    html = drawn(read="2.5 %")
    assert "from 33.5 questions an hour" in to_text(html)
    assert ">break-even 33.5<" in html
    assert html.count("<polyline") == 3


def test_a_break_even_outside_the_axis_is_said_and_not_drawn():
    html = drawn(pages=4, lifetime="1 hour", read="2.5 %")
    assert "from 0.292 questions an hour" in to_text(html)
    assert html.count("<polyline") == 2


def test_a_document_that_does_not_fit_is_told_so_and_gets_no_chart():
    shown = to_text(drawn(pages=600))
    assert "it does not fit" in shown
    assert "another move" in shown
    assert "<svg" not in drawn(pages=600)


def test_a_document_under_the_minimum_is_told_that_nothing_is_cached():
    shown = to_text(drawn(pages=1))
    assert "Under the minimum of 1,024 tokens" in shown
    assert "0% of them find the cache warm" in shown


CONTROLS = move0.bill_explorer().controls
EXTREMES = product(
    *((c.low, c.high) if hasattr(c, "low") else (c.options[0], c.options[-1]) for c in CONTROLS.values())
)


@pytest.mark.parametrize("values", list(EXTREMES))
def test_every_extreme_of_every_control_gives_a_picture(values):
    shown = repr(move0.bill_explorer().at(**dict(zip(CONTROLS, values, strict=True))))
    assert "could not be shown" not in shown
    assert "Break-even" in shown or "does not fit" in shown


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_setting_of_the_controls_gives_a_picture(data):
    values = {
        name: data.draw(st.integers(c.low, c.high) if hasattr(c, "low") else st.sampled_from(c.options))
        for name, c in CONTROLS.items()
    }
    html = draw_bill(**values)
    assert "nan" not in html
    assert "inf" not in to_text(html)


@given(st.floats(1e-6, 1e6))
def test_the_axis_ends_above_the_largest_value_and_not_far_above(value):
    top = move0._round_up(value)
    assert value * 0.999 <= top <= 1.51 * value


def test_an_axis_for_nothing_still_has_an_end():
    assert move0._round_up(0.0) == 1.0


def test_a_long_agreement_is_split_into_the_tokens_of_its_prompt():
    assert len(split_tokens(lay_out(move0.passages()))) > 457
