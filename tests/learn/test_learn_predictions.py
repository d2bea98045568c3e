import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.learn import explorer as explorer_module
from course_lib.learn.lesson import Lesson
from course_lib.learn.predictions import CONFIDENCE, Option, Prediction, Question, prediction_widget, read_answer
from course_lib.learn.record import Record

HOSTILE = "<img src=x onerror=alert(1)><script>alert(1)</script> & $x$ " + "w" * 10_000

ONE = Question(
    key="one",
    text=f"Where is it? {HOSTILE}",
    options=(Option("in the pool", "why pool"), Option("below the cut-off", "why below", short="below"), Option("2")),
    right=lambda value: [value],
    result="a_result_that_no_cell_has_set",
    lesson_learned="Take this away.",
)
THREE = Question(
    key="three",
    text="Which three?",
    options=tuple(Option(f"{n} title {n}", f"why {n}", short=n) for n in ("7.1", "7.2", "7.3", "8", "B")),
    right=list,
    result="a_result_that_no_cell_has_set",
    lesson_learned="Take that away.",
    pick=3,
)

SORT = Question(
    key="sort",
    text="Which of these?",
    options=tuple(Option(name, f"because {name}") for name in ("dense", "BM25", "grep")),
    right=list,
    result="a_result_that_no_cell_has_set",
    lesson_learned="Sorted.",
    pick=None,
)


@pytest.fixture
def record(tmp_path):
    return Record(tmp_path / "my_record.json")


def ask(question, record) -> Prediction:
    return Prediction(question, f"n/{question.key}", record, "lesson.predict(...)")


@pytest.mark.parametrize("answer", ["below", "Below ", "below the cut-off", "BELOW THE CUT-OFF", ["below"]])
def test_an_option_may_be_named_by_its_short_name_or_its_label(answer):
    assert read_answer(ONE, answer) == (("below",), "")


def test_a_number_names_the_option_of_that_text():
    assert read_answer(ONE, 2) == (("2",), "")


def test_the_order_of_a_list_does_not_matter():
    assert read_answer(THREE, ["8", "7.1", "B"]) == read_answer(THREE, ("B", "8", 7.1)) == (("7.1", "8", "B"), "")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (["7.1", "7.2"], "Choose 3; 2 chosen"),
        (["7.1", "7.2", "7.3", "B"], "Choose 3; 4 chosen"),
        (["7.1", "7.1", "7.2"], "Choose 3; 2 chosen"),
        (["7.1", "7.2", "C"], "C is not among the answers"),
        ([], "Choose 3; 0 chosen"),
        ("7.1, 7.2, 7.3", "is not among the answers"),
        ({"7.1": 1}, "not dict"),
        (None, "not NoneType"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_in_a_sentence(answer, said):
    names, trouble = read_answer(THREE, answer)
    assert names == ()
    assert said in trouble


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda s: st.lists(s, max_size=3)))
def test_no_answer_of_any_kind_raises(answer):
    names, trouble = read_answer(THREE, answer)
    assert bool(names) != bool(trouble)


def test_nothing_committed_leaves_the_reveal_neutral_and_the_question_open(record):
    shown = repr(ask(THREE, record).reveal(["7.1", "7.2", "7.3"]))
    assert "No prediction yet" in shown
    assert "7.1" not in shown
    assert record.events("prediction") == []


def test_a_right_answer_is_said_in_words(record):
    shown = repr(ask(THREE, record).commit(["7.1", "7.2", "7.3"], "sure").reveal(["7.1", "7.3", "7.2"]))
    assert "You were right." in shown
    assert "Take that away." in shown


def test_a_partly_right_list_says_what_matched_what_is_missing_and_why_the_rest_is_tempting(record):
    shown = repr(ask(THREE, record).commit(["7.1", "7.3", "B"], "fairly sure").reveal(["7.1", "7.3", "7.2"]))
    assert "2 of 3 matched. Not on your list: 7.2." in shown
    assert "B: why B" in shown
    assert "why 7.1" not in shown


@pytest.mark.parametrize(
    ("confidence", "said"), [("sure", "the one to remember"), ("a guess", "It came out otherwise.")]
)
def test_a_confident_miss_is_worded_as_the_one_to_remember(record, confidence, said):
    for question, answer, actual in ((ONE, "in the pool", "below"), (THREE, ["7.1", "8", "B"], ["7.1", "7.2", "7.3"])):
        shown = repr(ask(question, record).commit(answer, confidence).reveal(actual))
        assert said in shown or (question is THREE and confidence == "a guess")
        assert ("the one to remember" in shown) == (confidence == "sure")


def test_sorting_takes_any_number_and_gives_every_reason(record):
    prediction = ask(SORT, record)
    assert "Choose at least one" in prediction.commit([], "sure").message
    shown = repr(prediction.commit(["dense", "BM25"], "sure").reveal(["BM25", "grep"]))
    assert "1 of 3 placed as in the result." in shown
    assert "dense no ○ missed because dense" in shown
    assert "BM25 yes ● right because BM25" in shown
    assert "grep yes ○ missed because grep" in shown
    assert "the one to remember" in shown


def test_sorting_everything_rightly_is_right(record):
    shown = repr(ask(SORT, record).commit(["grep", "BM25"], "a guess").reveal(["BM25", "grep"]))
    assert "You were right." in shown
    assert "because dense" in shown


def test_leaving_out_what_belongs_is_a_miss_when_sorting(record):
    assert "2 of 3 placed" in repr(ask(SORT, record).commit(["BM25"], "a guess").reveal(["BM25", "grep"]))


def test_every_wrong_option_brings_its_reason(record):
    shown = repr(ask(ONE, record).commit("in the pool", "a guess").reveal("below"))
    assert "in the pool: why pool" in shown


def test_the_first_answer_counts_and_a_change_is_kept_beside_it(record):
    prediction = ask(ONE, record).commit("in the pool", "sure").commit("below", "a guess")
    assert "first answer is the one that counts" in prediction.message
    assert [event["answer"] for event in record.events("prediction")] == [["in the pool"], ["below"]]
    assert "You said: in the pool (sure)" in repr(prediction.reveal("below"))


def test_the_same_answer_again_is_noted_once_and_no_change_is_claimed(record):
    prediction = ask(ONE, record).commit("below", "sure").commit("Below", "Sure")
    assert len(record.events("prediction")) == 1
    assert "change" not in prediction.message


def test_the_answer_is_there_after_a_restart(record):
    ask(ONE, record).commit("below", "sure")
    later = ask(ONE, Record(record.path))
    assert "Committed: below (sure)." in repr(later)
    assert "You were right." in repr(later.reveal("below"))


def test_an_answer_after_the_reveal_is_kept_and_not_scored(record):
    ask(ONE, record).reveal("below")
    prediction = ask(ONE, record).commit("below", "sure")
    assert "not scored" in prediction.message
    assert record.events("prediction")[0]["after_result"] is True
    assert "left out of your score" in repr(prediction.reveal("below"))


def test_an_answer_after_the_result_cell_alone_is_not_scored_either(record, monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], ONE.result, 1, raising=False)
    ask(ONE, record).commit("below", "sure")
    assert record.events("prediction")[0]["after_result"] is True


def test_running_the_reveal_again_adds_nothing_to_the_record(record):
    prediction = ask(ONE, record).commit("below", "sure")
    prediction.reveal("below")
    prediction.reveal("below")
    assert len(record.events("reveal")) == 1


@pytest.mark.parametrize("confidence", [None, "", "certain", 3])
def test_without_a_step_of_confidence_nothing_is_committed(record, confidence):
    prediction = ask(ONE, record).commit("below", confidence)
    assert prediction.message.startswith("Not committed. Say how sure you are")
    assert record.events() == []


def test_a_record_that_cannot_be_saved_is_said_beside_the_question(tmp_path):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    prediction = ask(ONE, Record(tmp_path / "file" / "record.json")).commit("below", "sure")
    assert "could not be saved" in prediction.message
    assert "You were right." in repr(prediction.reveal("below"))


def test_the_bundle_holds_text_html_and_a_widget(record):
    bundle = ask(ONE, record)._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    assert "in the pool" in bundle["text/plain"]
    assert "To answer in code" in bundle["text/plain"]


def test_without_ipywidgets_the_question_is_text_and_html(record, monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    prediction = ask(ONE, record)
    assert set(prediction._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert "Committed: below" in prediction.commit("below", "sure").message


def test_hostile_text_is_shown_and_inert(record):
    html = ask(ONE, record)._repr_mimebundle_()["text/html"]
    assert "<img" not in html
    assert "<script" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    assert "tex2jax_ignore" in html


def parts(question, record):
    """The widgets of a question: options, confidence, button, and what it says."""
    box = prediction_widget(ask(question, record))
    return box.children[1:]


def test_the_button_commits_one_of_several(record):
    options, sure, button, said = parts(ONE, record)
    options.value, sure.value = "below", "a guess"
    button.click()
    assert "Committed: below (a guess)." in said.value
    assert record.events("prediction")[0]["answer"] == ["below"]


def test_the_button_commits_the_ticked_boxes(record):
    options, sure, button, said = parts(THREE, record)
    for box in options.children[:3]:
        box.value = True
    sure.value = CONFIDENCE[2]
    button.click()
    assert "Committed: 7.1, 7.2, 7.3 (sure)." in said.value


def test_the_button_says_what_is_missing_and_commits_nothing(record):
    options, _, button, said = parts(THREE, record)
    button.click()
    assert "Choose 3; 0 chosen" in said.value
    for box in options.children[:3]:
        box.value = True
    button.click()
    assert "Say how sure you are" in said.value
    assert record.events() == []


def test_long_labels_get_the_whole_width(record):
    long = Question("l", "?", (Option("x" * 37, "why"), Option("y", "why")), list, "no_such_result", "", pick=None)
    assert parts(long, record)[0].layout.grid_template_columns == "minmax(0, 1fr)"
    assert parts(THREE, record)[0].layout.grid_template_columns.startswith("repeat(auto-fit")


def test_nothing_is_chosen_beforehand(record):
    options, sure, _, _ = parts(ONE, record)
    assert options.value is None
    assert sure.value is None


def test_a_lesson_answers_in_code_and_names_its_questions(record, monkeypatch):
    monkeypatch.setattr("course_lib.learn.lesson.open_record", lambda: record)
    lesson = Lesson("nb", [ONE, THREE], [])
    lesson.predict("three", answer=["7.1", "7.2", "7.3"], confidence="sure")
    assert record.events("prediction")[0]["key"] == "nb/three"
    shown = repr(Lesson("nb2", [THREE], []).predict("three"))
    assert "lesson.predict('three', answer=[...], confidence='fairly sure')" in shown
    assert "choose from '7.1', '7.2', '7.3', '8', 'B'." in shown
    with pytest.raises(ValueError, match="It has: one, three"):
        lesson.predict("four")


def test_the_widget_key_is_the_one_notebooks_use():
    assert explorer_module.WIDGET_VIEW == "application/vnd.jupyter.widget-view+json"
