import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.evaluation.questions import (
    MOST_ERRORS,
    SHAPES,
    Question,
    QuestionsError,
    read_questions,
    to_lines,
    unknown_gold,
)


def written(folder, text, name="questions.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


CSV = "question,shape,expected,gold,tolerance\nWhich rate?,structural hop,12 %,7.3 | B,0.1\nWhat is E-4471?,,,kb-102,\n"


def test_a_csv_gives_its_questions_with_every_label(tmp_path):
    read = read_questions(written(tmp_path, CSV))
    assert read.questions[0] == Question("Which rate?", "structural hop", "12 %", ("7.3", "B"), 0.1)
    assert read.questions[1].gold == ("kb-102",)


def test_jsonl_gives_the_same_questions_as_csv(tmp_path):
    fields = {"question": "Which rate?", "shape": "structural hop", "expected": "12 %"}
    lines = json.dumps({**fields, "gold": ["7.3", "B"], "tolerance": 0.1})
    assert (
        read_questions(written(tmp_path, lines, "q.jsonl")).questions[0]
        == read_questions(written(tmp_path, CSV)).questions[0]
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_spreadsheets_csv_is_read_in_each_of_its_forms(tmp_path, encoding, delimiter):
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerows(
        [
            ["Question", "Shape", "Expected answer", "Gold IDs"],
            ["Wie hoch, bitte; ist die Gebühr?", "aggregate", "5", "a"],
        ]
    )
    read = read_questions(written(tmp_path, out.getvalue(), encoding=encoding))
    assert read.questions == (Question("Wie hoch, bitte; ist die Gebühr?", "aggregate", "5", ("a",)),)
    assert any("Windows-1252" in note for note in read.notes) == (encoding == "cp1252")


def test_errors_name_the_rows_as_a_spreadsheet_counts_them(tmp_path):
    text = 'question,tolerance\n"a question\nof two lines",1\n,2\nAnother?,-3\n'
    with pytest.raises(QuestionsError) as caught:
        read_questions(written(tmp_path, text))
    assert "row 3: there is no question" in str(caught.value)
    assert "row 4: tolerance is '-3'" in str(caught.value)
    assert "row 2" not in str(caught.value)


def test_a_long_list_of_errors_is_cut_and_counted(tmp_path):
    rows = "".join(f"Question {n}?,much\n" for n in range(MOST_ERRORS + 7))
    with pytest.raises(QuestionsError, match="and 7 more"):
        read_questions(written(tmp_path, "question,tolerance\n" + rows))


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("", "q.csv", "is empty"),
        ("\ufeff\n\n", "q.csv", "is empty"),
        ("question,shape\n,\n", "q.csv", "holds no question"),
        ("frage,art\nWas?,x\n", "q.csv", "no column 'question'"),
        ('question\n"never closed\nagain\n', "q.csv", "near row 2"),
        ("question,gold\nWhich, of these,b,c\n", "q.csv", "row 2 has 4 cells"),
        ("{not json}\n", "q.jsonl", "line 1 is no JSON"),
        ("[1]\n", "q.jsonl", "line 1 is no object"),
        ('{"question": 5}\n', "q.jsonl", "line 1: the question is 5"),
        ('{"question": "a", "gold": [1.5]}\n', "q.jsonl", "line 1: gold is"),
        ('{"question": "a", "rows": [5]}\n', "q.jsonl", "line 1: rows is"),
        ('{"question": "a", "match": "fuzzy"}\n', "q.jsonl", "line 1: match is 'fuzzy'"),
        ('{"question": "a", "expected": ["x"]}\n', "q.jsonl", "line 1: expected is"),
    ],
)
def test_a_file_that_cannot_be_used_says_why_and_where(tmp_path, text, name, said):
    with pytest.raises(QuestionsError, match="(?s).*" + said.replace("(", r"\(")):
        read_questions(written(tmp_path, text, name))


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_questions(tmp_path / "nothing.csv")
    with pytest.raises(QuestionsError, match="is a folder"):
        read_questions(tmp_path)


def test_the_five_shapes_are_known_in_any_spelling_and_others_are_kept_with_a_note(tmp_path):
    text = "question,shape,gold\na?,Fast changing_source,x\nb?,Single Facts,x\nc?,comparison,x\nd?,agregate,x\n"
    read = read_questions(written(tmp_path, text))
    assert [one.shape for one in read.questions] == ["fast-changing source", "single fact", "comparison", "agregate"]
    assert sum("kept as one of its own" in note for note in read.notes) == 2
    assert any("Did you mean 'aggregate'" in note and "row 5" in note for note in read.notes)
    assert read.shapes == ("single fact", "fast-changing source", "comparison", "agregate")


def test_a_question_asked_twice_is_left_out_or_refused_where_the_labels_differ(tmp_path):
    same = read_questions(written(tmp_path, "question,gold\nWhich rate?,B\nwhich  RATE?,B\n"))
    assert len(same.questions) == 1
    assert "row 3 repeats row 2" in same.notes[-1]
    with pytest.raises(QuestionsError, match="row 3 asks the question of row 2"):
        read_questions(written(tmp_path, "question,gold\nWhich rate?,B\nwhich rate?,A\n"))


def test_what_cannot_be_scored_and_columns_that_are_not_read_are_said(tmp_path):
    read = read_questions(written(tmp_path, "question,owner\nWhich rate?,Ana\n"))
    assert any("'owner'" in note for note in read.notes)
    assert any("nothing about it can be scored" in note for note in read.notes)


def test_a_share_and_a_decimal_comma_are_tolerances(tmp_path):
    read = read_questions(written(tmp_path, "question;tolerance\na?;2,5 %\nb?;0,01\n"))
    assert (read.questions[0].tolerance, read.questions[0].relative) == (0.025, True)
    assert (read.questions[1].tolerance, read.questions[1].relative) == (0.01, False)


def test_a_gold_id_that_no_document_has_is_named_with_its_neighbours():
    said = unknown_gold([Question("Which?", gold=("a.md#7.3", "a.md#8"))], ["a.md#7.3", "a.md#80"])
    assert said == ["'Which?': there is no 'a.md#8', so no system can find it; near it: 'a.md#80', 'a.md#7.3'."]


TEXT = st.text(min_size=1).filter(lambda text: text.strip())
LABELLED = st.builds(
    Question,
    text=TEXT.map(str.strip),
    shape=st.sampled_from(SHAPES),
    expected=st.none() | TEXT.map(str.strip),
    gold=st.lists(TEXT.map(str.strip), unique=True).map(tuple),
    tolerance=st.floats(0, 1e6, allow_subnormal=False),
    match=st.sampled_from(["auto", "exact", "number", "contains", "judge"]),
    rows=st.none()
    | st.lists(st.lists(st.none() | st.integers() | st.text(), max_size=2).map(tuple), max_size=3).map(tuple),
)


@given(st.lists(LABELLED, min_size=1, max_size=4, unique_by=lambda one: one.key))
def test_any_questions_come_back_from_their_file_as_they_were(tmp_path_factory, questions):
    path = tmp_path_factory.mktemp("q") / "questions.jsonl"
    path.write_text(to_lines(questions), encoding="utf-8", newline="\n")
    assert read_questions(path).questions == tuple(questions)


@given(st.text())
def test_any_text_as_a_csv_gives_questions_or_a_sentence(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("q") / "questions.csv"
    path.write_bytes(("question,gold\n" + text).encode("utf-8", "surrogatepass"))
    try:
        read = read_questions(path)
    except QuestionsError as error:
        sentence = str(error)
    else:
        sentence = "questions.csv" if read.questions else ""
    assert sentence.startswith("questions.csv")


@given(st.binary())
def test_any_bytes_give_questions_or_a_sentence(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("q") / "questions.jsonl"
    path.write_bytes(content)
    with pytest.raises(QuestionsError, match=r"^questions\.jsonl"):
        read_questions(path)


def test_json_with_half_a_surrogate_pair_is_kept(tmp_path):
    path = written(tmp_path, json.dumps({"question": "why \ud800?"}), "q.jsonl")
    assert read_questions(path).questions[0].text == "why \ud800?"
