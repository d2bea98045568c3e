import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.bm25 import BM25Index, any_word
from course_lib.corpora import agreement

CHUNKS = {section.id: section.chunk for section in agreement.sections()}
QUESTION = agreement.LATE_PAYMENT.text


def ranking(tokenizer):
    return [(hit.id, round(hit.score, 3)) for hit in BM25Index(CHUNKS, tokenizer).search(QUESTION, k=100)]


def test_7_3_comes_first_and_schedule_b_never():
    found = ranking("unicode61")
    assert found[:5] == [("7.3", 4.021), ("7.2", 3.606), ("3", 2.374), ("7.1", 1.85), ("8", 1.672)]
    assert "B" not in dict(found)


def test_stemming_puts_7_2_first_and_schedule_b_last():
    found = ranking("porter")
    assert found[0] == ("7.2", 4.212)
    assert found[-1] == ("B", 0.0)


@pytest.mark.parametrize(
    "question",
    [
        "What does ERR-2041 mean?",
        'a "b" c',
        "what's * ^ : ( new",
        "pay AND OR NOT NEAR(late)",
        "NEAR",
        "-",
        "late\x00payment",
    ],
)
def test_what_reads_as_query_syntax_is_searched_as_words(question):
    assert isinstance(BM25Index(CHUNKS).search(question), list)


def test_and_or_not_are_ordinary_words():
    index = BM25Index({"a": "neither near nor far", "b": "something else"})
    assert [hit.id for hit in index.search("NEAR")] == ["a"]


@given(st.text())
def test_no_text_raises(text):
    index = BM25Index({"odd": text, "plain": "late payment"})
    assert "plain" in [hit.id for hit in index.search(f"{text} payment", k=2)]


@pytest.mark.parametrize("question", ["", "  ", "?!", "😀", "\ud800"])
def test_a_question_without_words_is_no_evidence(question):
    assert any_word(question) == ""
    assert BM25Index(CHUNKS).search(question) == []


def test_a_very_long_question_is_answered():
    assert BM25Index(CHUNKS).search("late payment " * 10_000, k=1)[0].id == "7.3"


def test_an_empty_corpus_and_empty_documents_are_no_evidence():
    assert BM25Index({}).search("late") == []
    assert BM25Index({"a": "", "b": ""}).search("late") == []


def test_a_word_in_exactly_half_of_the_documents_still_finds_them():
    hits = BM25Index({"a": "late", "b": "early"}).search("late")
    assert [hit.id for hit in hits] == ["a"]
    assert hits[0].score >= 0


def test_scores_fall_and_the_cut_off_is_kept():
    hits = BM25Index(CHUNKS).search(QUESTION, k=4)
    assert len(hits) == 4
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[0].text == CHUNKS["7.3"]


def test_a_cut_off_below_one_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="counted from 1"):
        BM25Index(CHUNKS).search("late", k=0)
