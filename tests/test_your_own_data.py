"""The lesson on one's own data: its questions, its exercise with wrong answers, what it shows, the learner's folder."""

import csv
import sys

import pytest

from course_lib.evaluation.compare import ALL, compare
from course_lib.evaluation.labelling_view import LabellingForm
from course_lib.evaluation.questions import SHAPES, Question, read_questions
from course_lib.evaluation.summary import decide, paired_tests
from course_lib.evaluation.systems import Response, System
from course_lib.learn.blank import ____
from course_lib.learn.look import to_text
from course_lib.lessons import your_own_data as own
from course_lib.lessons.your_own_data import lesson, shipped
from course_lib.lessons.your_own_data.deciding import SOME, row
from tests.lesson_checks import every_option_that_can_be_wrong_says_why, every_wrong_answer_gets_its_reason


@pytest.fixture(autouse=True)
def own_record(tmp_path, monkeypatch):
    from course_lib.learn.record import Record

    record = Record(tmp_path / "r.json")
    monkeypatch.setattr("course_lib.learn.lesson.open_record", lambda: record)
    monkeypatch.setattr("course_lib.lessons.your_own_data.mine.open_record", lambda: record)


# --- predictions ---

# What the notebook's cells compute; nbval compares the cells themselves.
ACTUAL = {
    "again_zero": 0,
    "again_fused": {"A": 1 / 61 + 1 / 70, "B": 2 / 63},
    "unread": ["kilometres_2025.xlsx", "parking_scan.pdf"],
    "least": "exact identifier",
    "complete": 1,
    "stale": 1,
    "chance": 0.375,
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
        ("again_zero", 5, "5"),
        ("again_fused", {"A": 2, "B": 1}, "A"),
        ("again_fused", {"A": 1, "B": 1}, "tie"),
        ("least", "aggregate", "aggregate"),
        ("complete", 4, "4"),
        ("complete", 0, "0"),
        ("stale", 6, "5"),
        ("stale", 3, "3"),
        ("chance", 0.01, "better"),
    ],
)
def test_another_value_than_the_courses_falls_into_another_option(key, value, option):
    assert lesson.questions[key].right(value) == [option]
    assert option in [o.name for o in lesson.questions[key].options]


# --- figure C5 on the shipped folder ---


def test_the_figures_of_the_notebook_are_those_of_the_shipped_folder():
    comparison = own.compared(3)
    assert own.finds_least(comparison, "navigate") == ACTUAL["least"]
    assert own.complete(comparison, "bm25_headings", "aggregate") == ACTUAL["complete"]
    assert sum(one.right for one in comparison.of("today", "fast-changing source")) == ACTUAL["stale"]
    tests = [test for test in paired_tests(comparison) if {test.first, test.second} == {"headings", "today"}]
    assert tests[0].paired.p == ACTUAL["chance"]
    assert (tests[0].paired.only_first, tests[0].paired.only_second) == (4, 1)


def test_overall_the_systems_are_alike_and_by_shape_they_are_not():
    comparison = own.compared(3)
    overall = [shipped_found(comparison, system, ALL) for system in comparison.systems]
    assert max(overall) - min(overall) < 0.15
    for shape in ("exact identifier", "structural hop"):
        shares = [shipped_found(comparison, system, shape) for system in comparison.systems]
        assert max(shares) - min(shares) > 0.5


def shipped_found(comparison, system, shape):
    hits, n = own.showing.found(comparison, system, shape)
    return hits / n


def test_what_stands_in_the_scan_is_no_evidence_for_words_and_three_sections_for_vectors():
    found = own.ask(own.IN_THE_SCAN)
    assert found["bm25"] == ()
    assert len(found["headings"]) == 3


def test_a_comparison_does_not_load_the_encoder():
    assert not any(name.startswith(("torch", "sentence_transformers")) for name in sys.modules)
    assert shipped.encoder().encode([own.IN_THE_SCAN]).shape == (1, 384)


# --- a system that is known to be wrong ---


def answering(name, answers, usd):
    return System(name, lambda question: Response(answers, ("a",), usd=usd))


def test_a_system_whose_answers_are_known_to_be_wrong_is_passed_over_whatever_it_found():
    questions = [Question(f"{n}?", "fast-changing source", expected="new", gold=("a",)) for n in range(6)]
    systems = [answering("stale", "old", 0.001), answering("silent", None, 0.002)]
    decision = decide(compare(systems, questions), 0.8)[0]
    assert decision.system == "silent"
    assert "stale finds 1.00 and is passed over: of its answers 0.00" in decision.reason
    assert "gives up nothing" in decision.gives_up
    fresh = decide(compare([answering("fresh", "new", 0.001), systems[1]], questions), 0.8)[0]
    assert fresh.system == "fresh"
    assert fresh.track == "answer accuracy of fresh"


def test_where_everybody_who_finds_it_is_known_to_be_wrong_none_is_taken_and_it_says_who():
    questions = [Question(f"{n}?", "single fact", expected="new", gold=("a",)) for n in range(6)]
    blind = System("blind", lambda question: Response(ids=("b",), usd=0.001))
    decision = decide(compare([answering("stale", "old", 0.001), blind], questions), 0.8)[0]
    assert decision.system is None
    assert "the best is blind" in decision.reason
    assert "stale finds 1.00 and is passed over" in decision.reason


def test_a_document_of_which_some_pages_hold_no_text_is_said_to_be_read_in_part(tmp_path, capsys):
    from pypdf import PdfReader, PdfWriter

    from course_lib.evaluation.__main__ import main

    writer = PdfWriter()
    writer.append(PdfReader(own.FOLDER / "meter_guide.pdf"))
    writer.add_blank_page(width=100, height=100)
    folder = tmp_path / "documents"
    folder.mkdir()
    writer.write(folder / "guide.pdf")
    (folder / "plan.xlsx").write_bytes(b"PK")
    asked = tmp_path / "asked.csv"
    asked.write_text("question,gold\nWhat does E-17 mean?,guide.pdf#5\n", encoding="utf-8")
    main([str(folder), str(asked), "--systems", "bm25", "--out", str(tmp_path / "report.html")])
    said = capsys.readouterr().err
    assert "Read in part: guide.pdf. 1 of 3 pages hold no text" in said
    assert "Not read: plan.xlsx" in said


# --- the explorer ---


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "80 % wanted of structural hop: ● navigate"),
        ({"wanted": 90}, "90 % wanted of structural hop: ○ none of these"),
        ({"k": 6}, "structural hop: ● navigate"),
        ({"k": 7}, "structural hop: ● headings"),
        ({"shape": "single fact"}, "single fact: ● today"),
        ({"shape": "single fact", "k": 2}, "single fact: ● headings"),
        ({"shape": "exact identifier", "system": "navigate"}, "no evidence"),
        ({"shape": "aggregate", "system": "bm25_headings"}, "1 of 3 sections missing"),
        ({"shape": "fast-changing source", "wanted": 100}, "today finds 1.00 and is passed over"),
        ({"shape": ALL}, "Question (those that are missed)"),
    ],
)
def test_the_explorer_says_what_is_taken_and_what_is_missed(settings, says):
    assert says in to_text(own.decision_explorer().at(**settings).html)


# --- what is shown ---


def test_the_table_marks_the_most_in_each_row_but_not_in_the_last():
    lines = to_text(own.show_shapes(own.compared(3)).html).splitlines()
    hop = next(one for one in lines if one.startswith("structural hop"))
    assert "★ 6 of 7" in hop
    assert hop.count("★") == 1
    assert "★" not in next(one for one in lines if one.startswith(ALL))


def test_what_a_system_said_is_shown_as_text_and_nothing_else():
    questions = [Question("<b>?</b>", expected="<i>", gold=("<u>",))]
    systems = [System("<s>", lambda question: Response("<img src=x onerror=1>", ("<script>",)))]
    comparison = compare(systems, questions)
    for shown in (
        own.show_shapes(comparison),
        own.show_found(comparison, "<s>", "unsorted"),
        own.show_answers(comparison, "<s>", "unsorted"),
        own.show_numbers(comparison, "unsorted"),
        own.show_decisions(decide(comparison)),
    ):
        for tag in ("<img", "<script", "<b>?", "<s>", "<u>", "<i>"):
            assert tag not in shown.html


def test_the_four_numbers_are_there_and_what_was_not_measured_says_why():
    shown = to_text(own.show_numbers(own.compared(3), "structural hop").html)
    assert "not measured: no model wrote an answer" in shown
    assert "node recall: 0.86" in shown
    assert "hit rate@3: 0.43" in shown
    assert " ms" in shown


def test_a_folder_of_which_all_was_read_says_so():
    from course_lib.evaluation.documents import read_folder

    shown = to_text(own.show_unread(read_folder(own.FOLDER / "today.md")).html)
    assert "Every file was read." in shown


def test_the_sentence_for_the_team_says_who_takes_what_and_that_it_is_a_first_look():
    comparison = own.compared(3)
    said = own.for_the_team(comparison, decide(comparison, 0.8), 0.8, "today")
    assert "What runs today stays for single facts." in said
    assert "navigate takes aggregates and structural hops." in said
    assert "29 of their 32 questions at USD" in said
    assert "13 of its 32 answers are right" in said
    assert "With 6 to 7 questions a shape this is a first look" in said


def test_the_sentence_names_the_shapes_for_which_nobody_is_good_enough():
    comparison = own.compared(3)
    said = own.for_the_team(comparison, decide(comparison, 0.9), 0.9)
    assert "For aggregates and structural hops none of them is good enough." in said
    assert "What runs today" not in said


def test_the_sentence_holds_where_nothing_was_measured():
    comparison = compare({"one": lambda question: "yes"}, [Question("Why?", "my own shape")])
    said = own.for_the_team(comparison, decide(comparison), 0.9)
    assert "For “my own shape” nothing was measured." in said
    assert "none of them is good enough" not in said
    assert said.startswith("We asked 1 system 1 question of our own")
    assert "With 1 question a shape" in said
    assert "Together" not in said


def test_a_row_in_which_nobody_finds_anything_has_no_mark():
    comparison = compare({"one": lambda question: ["b"]}, [Question("Why?", "single fact", gold=("a",))])
    shown = to_text(own.show_shapes(comparison).html)
    assert "single fact 0 of 1" in shown
    assert "none is above 0.00" in decide(comparison)[0].reason


def test_with_90_percent_wanted_two_of_the_five_shapes_get_none_of_these():
    assert [one.system for one in decide(own.compared(3), 0.9)].count(None) == 2


# --- labelling ---


def test_the_ten_questions_are_two_of_each_shape_and_come_unsorted():
    work = own.label(name="ten.jsonl", questions=own.ten())
    shapes = {question.text: question.shape for question in shipped.questions()}
    assert sorted(shapes[text] for text in own.ten()) == sorted([*SHAPES, *SHAPES])
    assert work.counts() == {**dict.fromkeys(SHAPES, 0), "unsorted": 10}


def test_our_shape_is_shown_only_where_the_learner_has_sorted():
    work = own.label(name="ten.jsonl", questions=own.ten())
    work.sort("aggregate")
    shown = to_text(own.show_sorting(work, shipped.questions()).html).splitlines()
    assert shown[0] == "1 of 10 are sorted, 0 of them as we did."
    assert shown[2].endswith("○ aggregate single fact")
    assert shown[3].endswith("not sorted yet")


def test_a_labelling_goes_on_where_it_was():
    own.label(name="ten.jsonl", questions=own.ten()).sort("single fact")
    assert own.label(name="ten.jsonl", questions=own.ten()).counts()["single fact"] == 1


# --- the learner's own folder ---


@pytest.fixture
def mine(tmp_path):
    folder = tmp_path / "my folder # 1 %"
    folder.mkdir()
    (folder / "rules.md").write_text("# Desks\n\nA desk is booked by noon.\n\n# Keys\n\nAsk Jo.\n", encoding="utf-8")
    (folder / "plan.xlsx").write_bytes(b"PK\0")
    return folder


@pytest.fixture
def labels(tmp_path):
    path = tmp_path / "asked.csv"
    path.write_text(
        "question,shape,expected,gold\nUntil when is a desk booked?,single fact,noon,rules.md#1\n", encoding="utf-8"
    )
    return path


def test_without_a_folder_it_says_what_to_do_and_runs_on_the_shipped_one():
    shown = to_text(own.compare_mine().html)
    assert "MY_DOCUMENTS is empty" in shown
    assert "parking_scan.pdf" in shown
    assert "What runs today stays for single facts." in shown
    assert "MY_DOCUMENTS is empty" in to_text(own.label_mine("").html)


def test_an_own_folder_is_read_compared_and_reported_and_no_report_is_written_over(mine, labels):
    shown = to_text(own.compare_mine(str(mine), str(labels)).html)
    assert "MY_DOCUMENTS is empty" not in shown
    assert "○ plan.xlsx" in shown
    assert "1 of 1" in shown
    assert "The report is mine.html" in shown
    assert "mine-2.html" in to_text(own.compare_mine(str(mine), str(labels)).html)
    assert len(list(own.work_folder().glob("mine*.html"))) == 2


def test_an_own_csv_of_answers_takes_part_under_its_name(mine, labels, tmp_path):
    answers = tmp_path / "chatbot.csv"
    with answers.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["question", "answer"], ["Until when is a desk booked?", "By noon."]])
    shown = to_text(own.compare_mine(str(mine), str(labels), str(answers)).html)
    assert "chatbot" in shown
    assert "1 of its 1 answers are right" in shown


def test_own_questions_are_labelled_in_the_form_and_taken_from_there(mine):
    form = own.label_mine(str(mine), ["Who has the keys?"])
    assert isinstance(form, LabellingForm)
    form.labelling.sort("single fact")
    form.labelling.mark(form.labelling.find()[0].id)
    assert read_questions(own.work_folder() / "my_questions.jsonl").questions[0].gold == ("rules.md#2",)
    assert "1 of 1" in to_text(own.compare_mine(str(mine)).html)


@pytest.mark.parametrize(
    ("documents", "questions", "says"),
    [
        ("no/such/folder", "", "No question about your folder is labelled yet"),
        ("no/such/folder", "MINE/../asked.csv", "There is no folder no/such/folder"),
        ("MINE", "no_such.csv", "There is no file no_such.csv"),
        ("MINE", "MINE/rules.md", "rules.md has no column 'question'"),
        ("MINE", "MINE", "is a folder"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(mine, labels, documents, questions, says):
    given = [text.replace("MINE", str(mine)) for text in (documents, questions)]
    assert says in to_text(own.compare_mine(*given).html)


def test_a_folder_that_is_not_there_is_said_before_anything_is_labelled(tmp_path):
    assert "There is no folder" in to_text(own.label_mine(str(tmp_path / "none")).html)


def test_the_own_folder_is_read_first_with_its_gaps_its_outline_and_its_ids(mine, tmp_path):
    shown = to_text(own.read_mine(str(mine)).html)
    assert "1 document was read, in 2 sections." in shown
    assert "○ plan.xlsx" in shown
    assert "[2] Keys" in shown
    assert "rules.md#2" in shown
    assert "MY_DOCUMENTS is empty" in to_text(own.read_mine(" ").html)
    assert "There is no folder" in to_text(own.read_mine(str(tmp_path / "none")).html)


def test_one_question_without_brackets_is_answered_with_how_to_write_it(mine):
    assert "expected: ['Who has the keys?']" in to_text(own.label_mine(str(mine), "Who has the keys?").html)


def test_names_may_come_as_one_text(mine, labels):
    shown = to_text(own.compare_mine(str(mine), str(labels), names="bm25, navigate").html)
    assert "Found bm25 navigate" in shown


def test_questions_that_a_csv_of_answers_lacks_are_counted_and_named(mine, labels, tmp_path):
    answers = tmp_path / "chatbot.csv"
    answers.write_text("question,answer\nWho has the keys?,Jo\n", encoding="utf-8")
    for shown in (
        own.compare_mine(str(mine), str(labels), str(answers)),
        own.from_the_shell(str(mine), str(labels), str(answers), ["bm25"]),
    ):
        text = to_text(shown.html)
        assert "failed on 1 of 1 questions" in text
        assert "'Until when is a desk booked?'" in text


def test_a_folder_without_questions_asks_for_some(mine):
    assert "Put some questions into MY_QUESTIONS_AS_ASKED" in to_text(own.label_mine(str(mine)).html)


def test_a_gold_id_that_no_section_has_is_named(mine, tmp_path):
    path = tmp_path / "asked.csv"
    path.write_text("question,gold\nUntil when is a desk booked?,rules.md#11\n", encoding="utf-8")
    assert "there is no 'rules.md#11'" in to_text(own.compare_mine(str(mine), str(path)).html)


def test_a_system_that_cannot_be_built_is_named_and_the_others_run(mine, labels):
    shown = to_text(own.compare_mine(str(mine), str(labels), names=("bm25", "bm52")).html)
    assert "bm52 was not run: There is no system 'bm52'" in shown
    assert "1 of 1" in shown
    assert "No system could be run" in to_text(own.compare_mine(str(mine), str(labels), names=("bm52",)).html)


def test_the_command_line_says_the_same_and_tells_its_exit_code(mine, labels):
    shown = to_text(own.from_the_shell(str(mine), str(labels), names=["bm25"]).html)
    assert "python -m course_lib.evaluation" in shown
    assert "single fact: bm25." in shown
    assert "Not read: plan.xlsx" in shown
    assert "Exit code 1: a report was written, with gaps." in shown
    assert str(own.work_folder()) not in shown


def test_the_command_line_waits_for_labels(mine):
    assert "No question about your folder is labelled yet" in to_text(own.from_the_shell(str(mine)).html)


# --- the exercise ---


def right(rows, wanted):
    enough = [one for one in rows if one["found"] is not None and one["found"] >= wanted]
    return min(enough, key=lambda one: (one["usd"] is None, one["usd"] or 0))["system"] if enough else None


def variant(keep=lambda one, wanted: (one["found"] or 0) >= wanted, key=lambda one: one["usd"] or 0, nobody=None):
    def cheapest_right(rows, wanted):
        enough = [one for one in rows if keep(one, wanted)]
        return min(enough, key=key)["system"] if enough else nobody

    return cheapest_right


UNKNOWN_LAST = {"key": lambda one: 1e9 if one["usd"] is None else one["usd"]}


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (variant(key=lambda one: -one["found"]), "the cheapest is wanted"),
        (variant(keep=lambda one, wanted: True, **UNKNOWN_LAST), "the cheapest is wanted"),
        (variant(keep=lambda one, wanted: (one["found"] or 0) > wanted, **UNKNOWN_LAST), "just what is wanted"),
        (variant(nobody="navigate", **UNKNOWN_LAST), "answer to that is None"),
        (variant(), "unknown is not free"),
        (
            variant(keep=lambda one, wanted: one["usd"] is not None and (one["found"] or 0) >= wanted),
            "unknown cost may",
        ),
        (variant(key=lambda one: one["usd"] or 1e9), "A cost of 0 is known"),
        (lambda rows, wanted: rows[0], "the name in it is wanted"),
    ],
)
def test_a_wrong_choice_is_told_what_it_chose(function, says):
    feedback = lesson.check("cheapest", function)
    assert feedback.outcome == "wrong"
    assert says in repr(feedback)


def test_a_choice_that_stumbles_over_what_was_not_measured_is_an_error_of_the_learners():
    feedback = lesson.check("cheapest", lambda rows, wanted: max(one["found"] for one in rows) and right(rows, wanted))
    assert feedback.outcome == "error"
    assert "TypeError" in repr(feedback)


def test_the_right_choice_passes_and_a_blank_is_not_attempted():
    assert lesson.check("cheapest", right).outcome == "right"
    assert lesson.check("cheapest", lambda rows, wanted: ____).outcome == "not attempted"
    assert lesson.check("cheapest", lambda rows, wanted: [one for one in rows if ____]).outcome == "not attempted"


def test_the_courses_own_rule_agrees_with_the_exercise():
    rows = [row("current", 0.9, None), *SOME]
    assert right(rows, 0.85) == "headings"
    assert right(rows, 0.99) is None


def test_hint_and_solution_can_be_asked_for():
    assert "Hint" in repr(lesson.hint("cheapest"))
    assert "def cheapest_right" in repr(lesson.solution("cheapest"))
