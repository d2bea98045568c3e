"""The shipped folder: what can be read of it, that its script makes it, that its questions and vectors fit it."""

from pathlib import Path

import pytest

from course_lib.corpora import own_documents
from course_lib.dense import read_vectors, text_key
from course_lib.evaluation.documents import read_folder
from course_lib.evaluation.questions import SHAPES, read_questions, unknown_gold
from course_lib.evaluation.scoring import contains, numbers_in, only_number
from course_lib.evaluation.systems import from_answers
from course_lib.lessons.your_own_data import cached_texts, corpus
from tools.own_documents import FILES, PRICES, main

LABELLED = read_questions(own_documents.QUESTIONS)
SECTIONS = {section.id: section for section in corpus().sections}


def test_the_folder_is_small_and_holds_every_format_and_two_files_that_cannot_be_read():
    files = list(own_documents.FOLDER.iterdir())
    assert sum(path.stat().st_size for path in files) < 300_000
    assert {path.suffix for path in files} == {".md", ".html", ".docx", ".pdf", ".txt", ".xlsx"}
    assert [one.name for one in corpus().unread] == ["kilometres_2025.xlsx", "parking_scan.pdf"]
    assert len(corpus().documents) == len(files) - 2


def test_only_the_notes_have_no_structure():
    flat = [one.name for one in corpus().documents if one.outline.verdict is not None]
    assert flat == ["meeting_notes.txt"]


def test_the_script_makes_the_documents_that_are_shipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    main(tmp_path)
    printed = capsys.readouterr().out
    assert all(name in printed for name in FILES)
    again, shipped = read_folder(tmp_path), read_folder(own_documents.FOLDER)
    made = {one.name: one.outline for one in again.documents}
    assert made.keys() == {"price_list.docx", "meter_guide.pdf"}
    for one in shipped.documents:  # the texts; another matplotlib may write other bytes
        if one.name in made:
            assert one.outline.document == made[one.name].document
            assert one.outline.toc() == made[one.name].toc()
    assert (tmp_path / "kilometres_2025.xlsx").read_bytes() == (
        own_documents.FOLDER / "kilometres_2025.xlsx"
    ).read_bytes()


def test_the_same_script_twice_gives_the_same_bytes():
    for make in FILES.values():
        assert make() == make()


def test_each_reference_of_policy_and_agreement_leads_to_a_node():
    for one in corpus().documents:
        if one.name in ("travel_policy.md", "supply_agreement.txt"):
            assert one.outline.references, one.name
            assert all(reference.targets for reference in one.outline.references)


def test_there_are_questions_of_every_shape_and_each_is_labelled_with_sections_that_exist():
    assert LABELLED.shapes == SHAPES
    assert LABELLED.notes == ()
    assert unknown_gold(LABELLED.questions, list(SECTIONS)) == []
    assert all(question.expected and question.gold for question in LABELLED.questions)
    assert all(sum(one.shape == shape for one in LABELLED.questions) >= 6 for shape in SHAPES)


@pytest.mark.parametrize("question", [q for q in LABELLED.questions if q.shape != "aggregate"], ids=lambda q: q.text)
def test_the_expected_answer_stands_in_the_sections_that_are_marked(question):
    text = "\n".join(SECTIONS[id].text for id in question.gold)
    number = only_number(question.expected)
    assert contains(text, question.expected) or (number is not None and number in numbers_in(text))


def test_the_aggregates_are_what_the_price_list_adds_up_to():
    prices = {part: float(eur.replace(",", "")) for _, rows in PRICES.values() for part, _, eur in rows}
    expected = {question.text: question.expected for question in LABELLED.questions}
    assert expected["How many parts on the price list cost more than EUR 300?"] == str(
        sum(p > 300 for p in prices.values())
    )
    together = prices["MX-40"] + prices["HP-204"] + prices["BT-9"]
    assert float(expected["What do one MX-40, one HP-204 and one BT-9 cost together?"]) == together
    assert expected["How many parts are on the price list?"] == str(len(prices))
    assert expected["Which part on the price list is the dearest?"] == max(prices, key=prices.__getitem__)


def test_an_aggregate_marks_every_section_that_it_needs():
    dear = next(q for q in LABELLED.questions if "more than EUR 300" in q.text)
    needed = {
        f"price_list.docx#1.{at}"
        for at, (_, rows) in enumerate(PRICES.values(), start=1)
        if any(float(eur.replace(",", "")) > 300 for _, _, eur in rows)
    }
    assert set(dear.gold) == needed


def test_what_runs_today_has_an_answer_and_sections_for_every_question():
    today = from_answers(own_documents.ANSWERS, "today")
    for question in LABELLED.questions:
        response = today.ask(question.text)
        assert response.answer
        assert response.ids
        assert set(response.ids) <= set(SECTIONS)


def test_every_text_that_is_encoded_has_its_vector_in_the_file():
    keys = read_vectors(own_documents.VECTORS)
    assert [text for text in cached_texts() if text_key(text) not in keys] == []
    assert own_documents.VECTORS.stat().st_size < 5_000_000
