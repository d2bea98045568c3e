from course_lib.learn.record import Record
from course_lib.learn.summary import outcomes, summary

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
