"""The standard library as a repository: the labels hold on the running Python, whichever it is."""

import sys
from collections import Counter

import pytest

from course_lib.corpora import standard_library
from course_lib.corpora.standard_library import NOT_LIBRARY, LibraryQuestion, functions, questions, root

QUESTIONS = questions()
BY_ID = {function.id: function for function in functions()}


def anchor_line(question: LibraryQuestion) -> str:
    return (root() / question.anchor_file).read_text(encoding="utf-8").split("\n")[question.line - 1]


def test_there_are_at_least_forty_questions_and_ten_in_each_slice() -> None:
    counts = Counter(question.slice for question in QUESTIONS)
    assert len(QUESTIONS) >= 40
    assert len({question.text for question in QUESTIONS}) == len(QUESTIONS)
    assert len(counts) == 4
    assert min(counts.values()) >= 10


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.gold)
def test_the_anchor_gives_the_value(question: LibraryQuestion) -> None:
    line = anchor_line(question)
    assert question.anchor in line
    if question.value not in question.anchor:  # then the anchor ends in a calculation: "_bufsize=2**18"
        calculation = question.anchor.split("=")[-1]
        assert str(eval(calculation, {"__builtins__": {}})) == question.value


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.gold)
def test_the_function_is_listed_and_holds_the_anchor_or_uses_the_constant(question: LibraryQuestion) -> None:
    function = BY_ID[question.gold]
    assert (question.file, question.start, question.end) == (function.file, function.start, function.end)
    if question.slice == "number behind a constant":
        assert not question.start <= question.line <= question.end or question.file != question.anchor_file
        assert question.anchor.split(" =")[0] in function.source
    else:
        assert question.start <= question.line <= question.end


def test_a_named_identifier_is_named_and_a_paraphrase_names_none() -> None:
    for question in QUESTIONS:
        name, asked = question.gold.split(":")[1].rsplit(".", 1), question.text.lower()
        named = [part.lower() for part in name if part != "__init__"]
        assert any(part in asked for part in named) or question.slice != "named identifier", question.text
        if question.slice == "paraphrase":
            assert not any(part.strip("_") in asked.split() for part in named), question.text


def test_the_functions_are_about_300_and_different() -> None:
    listed = standard_library._labels()["functions"]
    assert sum(map(len, listed.values())) == 300
    assert len(BY_ID) == len(functions())
    assert len(functions()) == 300 if sys.version_info < (3, 14) else len(functions()) >= 280


def test_a_function_is_shown_with_its_signature_its_docstring_and_its_source() -> None:
    function = BY_ID["difflib.py:get_close_matches"]
    assert function.signature == "get_close_matches(word, possibilities, n=3, cutoff=0.6)"
    assert function.doc.startswith("Use SequenceMatcher")
    assert function.source.startswith("def get_close_matches(")
    assert function.summary.startswith("difflib.py get_close_matches\nget_close_matches(word")
    assert function.source in function.chunk


def test_the_lines_of_a_function_are_its_lines_in_the_file() -> None:
    for function in functions():
        lines = (root() / function.file).read_text(encoding="utf-8").split("\n")
        assert f"def {function.name.rsplit('.', 1)[-1]}(" in lines[function.start - 1], function.id


def test_what_is_left_out_is_no_file_that_a_question_is_about() -> None:
    for question in QUESTIONS:
        assert not NOT_LIBRARY & set((question.file + "/" + question.anchor_file).split("/"))


def test_a_label_that_this_python_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {"slice": "paraphrase", "question": "Why?", "file": "difflib.py", "function": "nothing", "anchor": "x"}
    with pytest.raises(LookupError, match=r"no difflib\.py:nothing, which the question 'Why\?'"):
        standard_library._placed(entry, BY_ID)
    with pytest.raises(LookupError, match="stands 0 times"):
        standard_library._placed({**entry, "function": "get_close_matches", "anchor": "no such code"}, BY_ID)


def test_a_packed_library_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setattr(standard_library.sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(FileNotFoundError, match="packed"):
        root()
