from benchmarks.evaluation_speed import QUESTIONS, asked, pdf_rows, shipped
from course_lib.evaluation.questions import unknown_gold


def test_the_benchmark_asks_two_hundred_different_questions_about_documents_that_are_there(tmp_path):
    questions, corpus = asked(), shipped(tmp_path)
    assert len({question.key for question in questions}) == QUESTIONS == 200
    assert len(corpus.sections) == 22
    assert unknown_gold(questions, [section.id for section in corpus.sections]) == []


def test_a_folder_without_pdf_is_said(tmp_path):
    assert pdf_rows(tmp_path)[0][0] == f"no PDF in {tmp_path.name}"
