import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.bm25 import Index
from course_lib.evaluation.labelling import Labelling
from course_lib.evaluation.labelling_view import LabellingForm, _Form
from course_lib.evaluation.questions import SHAPES, UNSORTED, QuestionsError, read_questions
from course_lib.retrieval import Hit

ASKED = ["Which rate applies?", "What is E-4471?", "How many are open?"]
SEARCH = Index([("B", "Rates", "The rate is 12 %."), ("kb", "E-4471", "Firmware <img src=x onerror=alert(1)>")]).search


@pytest.fixture
def work(tmp_path):
    return Labelling(tmp_path / "Ordner ü" / "questions.jsonl", SEARCH, ASKED)


def test_every_change_is_in_the_file_at_once(work):
    work.sort("Structural hop")
    work.expect("12 %", "0,5 %")
    work.mark("B")
    (first, *_) = read_questions(work.path).questions
    assert (first.shape, first.expected, first.tolerance, first.relative, first.gold) == (
        "structural hop", "12 %", 0.005, True, ("B",)
    )  # fmt: skip
    work.unmark("B")
    work.expect("")
    (first, *_) = read_questions(work.path).questions
    assert (first.expected, first.gold) == (None, ())


def test_an_opened_labelling_goes_on_at_the_first_open_question(work):
    work.sort("structural hop")
    work.mark("B")
    again = Labelling(work.path, SEARCH, [*ASKED, "One more?", "which RATE applies?"])
    assert again.current.text == "What is E-4471?"
    assert [one.text for one in again.questions] == [*ASKED, "One more?"]
    assert again.progress() == "4 questions: 1 labelled, 3 without a shape"
    assert again.counts() == {**dict.fromkeys(SHAPES, 0), "structural hop": 1, UNSORTED: 3}


def test_a_csv_is_read_once_and_kept_as_jsonl_beside_it(tmp_path):
    source = tmp_path / "mine.csv"
    source.write_text("question;gold\nWhich rate?;B\n", encoding="utf-8")
    work = Labelling(source)
    work.sort("aggregate")
    assert work.path == tmp_path / "mine.jsonl"
    assert source.read_text(encoding="utf-8") == "question;gold\nWhich rate?;B\n"
    assert Labelling(source).current.shape == "aggregate"


def test_passages_are_found_by_words_or_by_the_question_itself(work):
    assert [hit.id for hit in work.find()] == ["B"]
    assert [hit.id for hit in work.find("E-4471")] == ["kb"]
    with pytest.raises(LookupError, match="No search was given"):
        Labelling(work.path).find("rate")


def test_moving_stays_within_the_questions(work):
    assert work.step(-1).text == ASKED[0]
    assert work.step(99).text == ASKED[2]
    assert work.go(1).text == ASKED[1]
    with pytest.raises(IndexError, match="numbered 0 to 2"):
        work.go(3)


def test_when_nothing_is_open_it_says_so(work):
    for number in range(3):
        work.go(number)
        work.sort("single fact")
        work.mark("B")
    assert not work.go_to_open()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda work: work.mark(" "), "id is blank"),
        (lambda work: work.unmark("B"), "'B' is not marked"),
        (lambda work: work.expect("x", "much"), "tolerance is 'much'"),
        (lambda work: work.add("one text"), "a list of questions is expected"),
    ],
)
def test_what_cannot_be_a_label_is_refused_and_changes_nothing(work, change, said):
    before = work.path.read_bytes()
    with pytest.raises(ValueError, match=said):
        change(work)
    assert work.path.read_bytes() == before


def test_without_a_question_it_says_so(tmp_path):
    empty = Labelling(tmp_path / "q.jsonl")
    with pytest.raises(LookupError, match="no question yet"):
        _ = empty.current
    assert not (tmp_path / "q.jsonl").exists()
    assert repr(LabellingForm(empty)) == "0 questions: 0 labelled, 0 without a shape"


def test_what_somebody_else_wrote_is_not_written_over(work):
    other = Labelling(work.path)
    other.sort("aggregate")
    kept = work.path.read_bytes()
    with pytest.raises(QuestionsError, match="changed by somebody else"):
        work.sort("single fact")
    assert work.path.read_bytes() == kept


def test_a_full_disk_leaves_the_file_whole_and_the_change_can_be_saved_later(work, monkeypatch):
    before = work.path.read_bytes()
    with monkeypatch.context() as full:
        full.setattr(
            "course_lib.evaluation.labelling.write_whole", lambda *_: (_ for _ in ()).throw(OSError("disk full"))
        )
        with pytest.raises(OSError, match="disk full"):
            work.mark("B")
    assert work.path.read_bytes() == before
    work.save()
    assert Labelling(work.path).questions[0].gold == ("B",)


def test_threads_lose_no_mark(work):
    threads = [threading.Thread(target=work.mark, args=(f"id{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(Labelling(work.path).questions[0].gold) == [f"id{n}" for n in range(8)]


TEXT = st.text(min_size=1).map(str.strip).filter(bool)


@given(TEXT, TEXT, TEXT)
def test_any_question_answer_and_id_come_back_as_they_were(tmp_path_factory, question, answer, id):
    path = tmp_path_factory.mktemp("l") / "q.jsonl"
    work = Labelling(path, questions=[question])
    work.expect(answer)
    work.mark(id)
    assert Labelling(path).current == work.current
    assert (work.current.text, work.current.expected, work.current.gold) == (question, answer, (id,))


# --- The form -------------------------------------------------------------------------------------------------------


def form_of(work):
    pytest.importorskip("ipywidgets")
    return _Form(work, k=5)


def test_the_form_saves_what_is_chosen_and_marked(work):
    form = form_of(work)
    form.shape.value = "structural hop"
    form.expected.value = "12 %"
    form.tolerance.value = "0.5"
    form.hits.children[0].children[0].value = True
    saved = read_questions(work.path).questions[0]
    assert (saved.shape, saved.expected, saved.tolerance, saved.gold) == ("structural hop", "12 %", 0.5, ("B",))
    assert form.said.value == "Saved."
    form.hits.children[0].children[0].value = False
    assert read_questions(work.path).questions[0].gold == ()


def test_the_form_moves_without_taking_what_it_shows_for_a_change(work):
    form = form_of(work)
    before = work.path.read_bytes()
    form.buttons[1].click()
    assert "What is E-4471?" in form.head.value
    assert form.shape.value == UNSORTED
    assert work.path.read_bytes() == before
    form.words.value = "rate"
    assert "B" in form.hits.children[0].children[1].value


def test_a_label_does_not_go_along_to_the_next_question(work, monkeypatch):
    form = form_of(work)
    form.shape.value = "aggregate"
    form.expected.value = "12 %"
    form.tolerance.value = "0.5"
    monkeypatch.setattr(work, "save", lambda: pytest.fail("going to another question saved something"))
    form.buttons[1].click()
    first, second, _ = read_questions(work.path).questions
    assert (first.expected, first.tolerance, first.shape) == ("12 %", 0.5, "aggregate")
    assert (second.expected, second.tolerance, second.shape) == (None, 0.0, UNSORTED)
    assert form.said.value == "Saved."
    form.buttons[0].click()
    assert (form.expected.value, form.tolerance.value, form.shape.value) == ("12 %", "0.5", "aggregate")


def test_the_form_says_what_could_not_be_saved(work):
    form = form_of(work)
    form.tolerance.value = "<b>much</b>"
    assert form.said.value.startswith("That did not work: tolerance is")
    assert "<b>" not in form.said.value


def test_hostile_passages_and_questions_are_inert_in_the_form(tmp_path):
    hostile = "<img src=x onerror=alert(1)> $x$ \ud800"
    work = Labelling(tmp_path / "q.jsonl", lambda question, k: [Hit(hostile, 1.0, hostile)], [hostile])
    form = form_of(work)
    shown = [form.head.value, form.hits.children[0].children[1].value]
    assert all("<img" not in html and "&lt;img" in html for html in shown)
    assert "tex2jax_ignore" in form.box._dom_classes


def test_without_widgets_the_form_is_text(work):
    bundle = LabellingForm(work)._repr_mimebundle_()
    assert bundle["text/plain"].startswith("3 questions: 0 labelled")
    assert "Question 1: Which rate applies?" in bundle["text/plain"]
