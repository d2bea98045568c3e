"""The support knowledge base, and what BM25 and the encoder make of its labelled questions."""

import numpy as np
import pytest

from course_lib.bm25 import Index, lesson_rules
from course_lib.corpora import support_kb
from course_lib.dense import DenseIndex, load_encoder, read_vectors, save_vectors
from course_lib.metrics import hit_rate_at_k

CHUNKS = {article.id: article.chunk for article in support_kb.articles()}


def bm25():
    return Index(support_kb.documents(), copies=False, rules=lesson_rules(support_kb.stop_words())).search


def bm25_by_default():
    return Index(support_kb.documents()).search


def dense():
    return DenseIndex(CHUNKS, load_encoder(support_kb.VECTORS)).search


def of_slice(name):
    return [question for question in support_kb.labelled_questions() if question.slice == name]


def hit_rate(search, questions):
    rankings = [[hit.id for hit in search(question.text, 1)] for question in questions]
    return hit_rate_at_k(rankings, [question.gold for question in questions], k=1)


def test_there_are_eight_articles_and_four_questions_a_slice():
    assert [article.id for article in support_kb.articles()] == [f"kb-10{n}" for n in range(1, 9)]
    assert len(of_slice("identifiers")) == len(of_slice("paraphrases")) == 4
    assert len(support_kb.labelled_questions()) == 8
    assert {id for question in support_kb.labelled_questions() for id in question.gold} <= CHUNKS.keys()


def test_the_stop_words_are_the_lessons_26_in_lower_case():
    assert len(support_kb.stop_words()) == 26
    assert all(word == word.lower() for word in support_kb.stop_words())


@pytest.mark.parametrize("search", [bm25, bm25_by_default])
def test_bm25_finds_every_identifier_and_abstains_on_every_paraphrase(search):
    assert (hit_rate(search(), of_slice("identifiers")).value, hit_rate(search(), of_slice("paraphrases")).value) == (
        1,
        0,
    )
    assert [search()(question.text, 1) for question in of_slice("paraphrases")] == [[], [], [], []]


def test_dense_finds_every_identifier_and_three_of_four_paraphrases():
    assert hit_rate(dense(), of_slice("identifiers")).value == 1
    rate = hit_rate(dense(), of_slice("paraphrases"))
    assert (rate.value, rate.n) == (0.75, 4)


def test_the_miss_of_dense_is_wrong_and_no_abstention():
    (question,) = (q for q in of_slice("paraphrases") if q.text == "paper gets stuck when printing")
    assert question.gold == ("kb-108",)
    assert dense()(question.text, 1)[0].id == "kb-103"


def test_the_english_encoder_does_no_better_in_german():
    hit = dense()(support_kb.GERMAN, 1)[0]
    assert (hit.id, round(hit.score, 3)) == ("kb-107", 0.043)


def test_the_stored_vectors_are_the_models_own(tmp_path):
    fresh = tmp_path / "support_kb.npz"
    save_vectors(fresh, support_kb.cached_texts(), load_encoder(backend="numpy"))
    stored, remade = read_vectors(support_kb.VECTORS), read_vectors(fresh)
    assert stored.keys() == remade.keys()
    assert max(float(np.abs(stored[key] - remade[key]).max()) for key in stored) < 5e-4


def test_no_model_is_loaded_for_the_courses_own_questions():
    encoder = load_encoder(support_kb.VECTORS)
    encoder.encode(support_kb.cached_texts())
    assert not encoder.model_is_loaded
