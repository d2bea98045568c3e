import re
import xml.etree.ElementTree as ElementTree

import pytest

from course_lib.learn.lesson import Lesson
from course_lib.learn.look import to_text
from course_lib.learn.record import Record
from course_lib.learn.summary import (
    calibration,
    confidence_steps,
    course_summary,
    notebook_link,
    outcomes,
    outcomes_in,
    readable_table,
    summary,
)
from course_lib.metrics import wilson_interval

HOSTILE = "<img src=x onerror=alert(1)> $x$"


def predict(record, key, answer, confidence="sure", late=False):
    record.add(
        "prediction", key, question=f"Question {key}?", answer=[answer], confidence=confidence, after_result=late
    )


def reveal(record, key, right):
    record.add("reveal", key, question=f"Question {key}?", actual=right, right=[right])


def test_an_empty_record_says_so(tmp_path):
    assert "Nothing here yet" in repr(summary(Record(tmp_path / "r.json")))


def test_predicted_stands_against_actual(tmp_path):
    record = Record(tmp_path / "r.json")
    predict(record, "a", "x")
    reveal(record, "a", "y")
    predict(record, "b", "z", "a guess")
    reveal(record, "b", "z")
    predict(record, "open", "w")
    shown = repr(summary(record))
    assert "Question a? x sure y ○ missed" in shown
    assert "Question b? z a guess z ● right" in shown
    assert "Question open? w sure not run yet open" in shown


def test_confidence_is_counted_over_scored_answers_only(tmp_path):
    record = Record(tmp_path / "r.json")
    for key, answer, late in (("a", "x", False), ("b", "y", False), ("late", "x", True)):
        predict(record, key, answer, late=late)
        reveal(record, key, "x")
    predict(record, "open", "x")
    shown = repr(summary(record))
    assert "When you said “sure”: 1 of 2 right." in shown
    assert "answered after the result, not scored" in shown
    assert "fairly sure”" not in shown


def test_the_first_answer_is_the_one_that_counts(tmp_path):
    record = Record(tmp_path / "r.json")
    predict(record, "a", "wrong")
    predict(record, "a", "right")
    reveal(record, "a", "right")
    assert [o.answer for o in outcomes(record)] == [("wrong",)]
    assert not outcomes(record)[0].is_right


def test_misses_are_asked_again_the_surest_first(tmp_path):
    record = Record(tmp_path / "r.json")
    for key, confidence in (("guess", "a guess"), ("sure", "sure"), ("odd", "who knows")):
        predict(record, key, "x", confidence)
        reveal(record, key, "y")
    again = repr(summary(record)).split("Ask yourself again")[1]
    assert again.index("Question sure?") < again.index("Question guess?")


def test_what_is_asked_again_stands_before_the_results_which_are_folded_away(tmp_path):
    record = Record(tmp_path / "r.json")
    predict(record, "a", "x")
    reveal(record, "a", "y")
    html = summary(record)._repr_html_()
    assert html.index("Ask yourself again") < html.index("<summary>Predicted against actual (1)</summary>")
    assert html.count("<details>") == html.count("</details>") == 2


def test_exercises_show_attempts_state_and_help(tmp_path):
    record = Record(tmp_path / "r.json")
    for outcome in ("wrong", "error", "right"):
        record.add("exercise", "n/e", title="Double it", outcome=outcome)
    record.add("hint", "n/e")
    record.add("exercise", "n/f", title="Halve it", outcome="wrong")
    shown = repr(summary(record))
    assert "Double it 3 ● solved hint" in shown
    assert "Halve it 1 ○ not solved yet none" in shown


def test_a_damaged_file_is_said_in_the_summary(tmp_path):
    (tmp_path / "r.json").write_bytes(b"{")
    assert "kept as r.damaged-1.json" in repr(summary(Record(tmp_path / "r.json")))


def test_hostile_text_is_inert(tmp_path):
    record = Record(tmp_path / "r.json")
    predict(record, HOSTILE, HOSTILE)
    reveal(record, HOSTILE, HOSTILE)
    record.add("exercise", HOSTILE, title=HOSTILE, outcome="wrong")
    html = summary(record)._repr_html_()
    assert "<img" not in html
    assert "tex2jax_ignore" in html


# --- Across the course ------------------------------------------------------------------------------------------------


def course(tmp_path):
    """A record of two notebooks: three sure answers of which one is right, a guess, one late, one open."""
    record = Record(tmp_path / "r.json")
    for key, answer, confidence, late in (
        ("00_start_here/a", "x", "sure", False),
        ("00_start_here/b", "y", "sure", False),
        ("move1_bm25/c", "y", "sure", False),
        ("move1_bm25/d", "y", "a guess", False),
        ("move1_bm25/late", "y", "sure", True),
    ):
        predict(record, key, answer, confidence, late)
        reveal(record, key, "x")
    predict(record, "move1_bm25/open", "x")
    record.add("exercise", "move1_bm25/e", title="Double it", outcome="right")
    record.add("solution", "move1_bm25/e")
    return record


def test_an_empty_course_says_so(tmp_path):
    assert "Nothing here yet" in repr(course_summary(Record(tmp_path / "r.json")))


def test_the_course_is_counted_with_its_interval(tmp_path):
    shown = repr(course_summary(course(tmp_path)))
    low, high = wilson_interval(1, 4)
    assert "6 predictions in 2 notebooks." in shown
    assert f"Right: 1 of 4 (95 % interval {low:.2f} to {high:.2f})." in shown
    assert "1 answered after the result: kept, not scored. 1 without a result yet." in shown


def test_each_step_of_confidence_has_its_share_n_and_wilson_interval(tmp_path):
    record = course(tmp_path)
    steps = confidence_steps(outcomes(record))
    assert {step: (r.value, r.n) for step, r in steps.items()} == {"a guess": (0, 1), "sure": (1 / 3, 3)}
    assert (steps["sure"].low, steps["sure"].high) == wilson_interval(1, 3)
    assert "sure 1 of 3 0.33 0.06 to 0.79" in repr(course_summary(record))


def test_the_plot_says_in_words_what_it_shows_and_has_a_table_of_its_own(tmp_path):
    html = calibration(outcomes(course(tmp_path)))
    svg = ElementTree.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])
    assert svg.get("role") == "img"
    assert "When you said “sure”: 1 of 3 (95 % interval 0.06 to 0.79)." in svg.get("aria-label")
    assert html.count("<table>") == 1
    assert len(svg.findall("circle")) == 2
    assert calibration([]) == ""


def test_confident_misses_come_first_and_lead_to_their_notebook(tmp_path):
    html = course_summary(course(tmp_path)).html
    items = re.findall(r"<li>(.*?)</li>", html)
    assert [re.findall(r"Question (\S+)\?", item)[0] for item in items] == [
        "00_start_here/b",
        "move1_bm25/c",
        "move1_bm25/d",
    ]
    assert ["sure, and missed" in item for item in items] == [True, True, False]
    assert '<a href="move1_bm25.ipynb">move1_bm25</a>' in items[1]
    assert "it came out as x" in items[1].split("<details>")[1]


def test_links_go_where_the_caller_says_or_nowhere(tmp_path):
    record = course(tmp_path)
    assert '<a href="https://example.org/n/move1_bm25.ipynb">' in course_summary(record, "https://example.org/n/").html
    assert "<a " not in course_summary(record, None).html


@pytest.mark.parametrize("name", ["javascript:alert(1)", '" onmouseover="x', "../../etc", "a b", ""])
def test_a_name_that_is_no_notebook_gets_no_link(name):
    assert "<a" not in notebook_link(name, "")
    assert '"' not in notebook_link(name, "")


def test_each_notebook_has_its_table_folded_away(tmp_path):
    html = course_summary(course(tmp_path)).html
    assert "<summary>00_start_here (2): predicted against actual</summary>" in html
    assert "<summary>move1_bm25 (4): predicted against actual</summary>" in html
    assert "Question move1_bm25/open? x sure not run yet open" in to_text(html)
    assert "Double it move1_bm25 1 ● solved solution" in to_text(html)


def test_a_course_of_one_answer_is_a_short_card(tmp_path):
    record = Record(tmp_path / "r.json")
    predict(record, "n/a", "x")
    assert len(repr(course_summary(record)).splitlines()) < 12


def test_tables_of_the_course_have_captions_and_headers_for_rows(tmp_path):
    html = course_summary(course(tmp_path)).html
    assert html.count("<table>") == html.count("<caption>") == 4
    assert html.count("<tr><th scope=") == html.count("<tr>")


def test_a_table_closes_what_it_opens():
    html = readable_table("A <caption>", ["a & b", "n"], [["<b>x</b>", "1"]], numbers=[1])
    root = ElementTree.fromstring(html)
    assert root.find("caption").text == "A <caption>"
    assert [cell.get("scope") for cell in root.iter("th")] == ["col", "col", "row"]
    assert root.find("tbody/tr/td").get("class") == "vr-num"


def test_the_course_says_that_a_file_was_damaged(tmp_path):
    (tmp_path / "r.json").write_bytes(b"{")
    assert "kept as r.damaged-1.json" in repr(course_summary(Record(tmp_path / "r.json")))


def test_hostile_text_is_inert_across_the_course(tmp_path):
    record = Record(tmp_path / "r.json")
    predict(record, HOSTILE, HOSTILE)
    reveal(record, HOSTILE, HOSTILE)
    predict(record, f"{HOSTILE}/x", HOSTILE, HOSTILE)
    record.add("exercise", HOSTILE, title=HOSTILE, outcome="wrong")
    html = course_summary(record).html
    assert "<img" not in html
    assert "tex2jax_ignore" in html


def test_outcomes_need_no_file(tmp_path):
    record = course(tmp_path)
    assert outcomes_in(record.events()) == outcomes(record)


@pytest.mark.parametrize(("variable", "place"), [("COLAB_RELEASE_TAG", "Colab"), ("BINDER_LAUNCH_HOST", "Binder")])
def test_where_nothing_is_kept_the_summary_ends_with_how_to_keep_the_record(variable, place, tmp_path, monkeypatch):
    monkeypatch.setattr("course_lib.learn.lesson.open_record", lambda: Record(tmp_path / "r.json"))
    for name in ("COLAB_RELEASE_TAG", "BINDER_LAUNCH_HOST", "BINDER_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)
    lesson = Lesson("a_notebook", (), ())
    assert "export" not in repr(lesson.summary())
    monkeypatch.setenv(variable, "1")
    assert f"{place} keeps nothing" in repr(lesson.summary())
    assert "lesson.record.export('my_record.json')" in repr(lesson.summary())
