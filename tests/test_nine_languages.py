"""The nine-language questions: their make-up, their labels, and the one figure that the course quotes of them."""

import re
from collections import Counter
from hashlib import sha256

import numpy as np
import pytest

from course_lib.corpora.nine_languages import VECTORS, cached_texts, foreign_questions
from course_lib.corpora.support_kb import articles
from course_lib.dense import DenseIndex, load_encoder, read_vectors, save_vectors, text_key

TEXT_SHA256 = "2f98285a3ea5b42221e3f9fe8aaeaca1ae8dbaf758f19751b9b268dee91a1667"
CODE = re.compile(r"E-\d+")
ARTICLE_OF_CODE = {"E-104": "kb-101", "E-4471": "kb-102", "E-4417": "kb-103"}
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "pl", "tr", "ja")


def test_each_of_nine_languages_has_three_code_questions_and_two_symptoms():
    counted = Counter((question.language, question.slice) for question in foreign_questions())
    assert counted == {(lang, name): n for lang in LANGUAGES for name, n in (("identifier", 3), ("symptom", 2))}
    assert len({question.text for question in foreign_questions()}) == 45


def test_a_question_that_quotes_a_code_is_about_that_codes_article():
    for question in foreign_questions():
        if question.slice == "identifier":
            (code,) = CODE.findall(question.text)
            assert question.gold == (ARTICLE_OF_CODE[code],)
            assert CODE.findall(question.english) == [code]


def test_a_symptom_quotes_no_code_and_is_about_one_of_the_five_other_articles():
    symptoms = [question for question in foreign_questions() if question.slice == "symptom"]
    assert {question.gold for question in symptoms} == {(f"kb-10{number}",) for number in range(4, 9)}
    for question in symptoms:
        assert not re.search(r"\d", question.text + question.english)


def test_every_language_but_english_is_written_with_its_own_letters():
    for language in LANGUAGES[1:]:
        own = "".join(question.text for question in foreign_questions() if question.language == language)
        assert sum(letter.isalpha() and not letter.isascii() for letter in own) >= 2, language


def test_the_english_beside_a_question_is_english_and_equal_only_for_english():
    for question in foreign_questions():
        assert question.english.replace("“", "").replace("”", "").isascii(), question
        assert (question.text == question.english) is (question.language == "en")


def test_a_code_touches_japanese_letters_so_that_a_word_boundary_misses_it():
    glued = [q.text for q in foreign_questions() if CODE.search(q.text) and not re.search(r"\bE-\d+\b", q.text)]
    assert len(glued) == 2


def test_the_questions_and_labels_are_the_ones_that_were_measured():
    lines = [f"{q.language}|{q.slice}|{q.text}|{q.gold}|{q.english}" for q in foreign_questions()]
    assert sha256("\n".join(lines).encode("utf-8")).hexdigest() == TEXT_SHA256


def test_every_question_and_its_english_have_their_vectors_and_the_model_is_not_loaded():
    assert set(read_vectors(VECTORS)) == {text_key(text) for text in cached_texts()}
    assert len(cached_texts()) == 90
    encoder = load_encoder(VECTORS)
    assert encoder.encode(cached_texts()).shape == (90, 384)
    assert not encoder.model_is_loaded


def test_the_stored_vectors_are_the_models_own(tmp_path):
    """A sample is remade and compared up to half precision."""
    save_vectors(tmp_path / "fresh.npz", cached_texts()[::10], load_encoder(backend="numpy"))
    stored, fresh = read_vectors(VECTORS), read_vectors(tmp_path / "fresh.npz")
    assert max(float(np.abs(stored[key] - fresh[key]).max()) for key in fresh) < 0.001


def test_every_gold_article_is_one_of_the_knowledge_bases():
    assert {question.gold[0] for question in foreign_questions()} == {article.id for article in articles()}


def test_minilm_puts_the_battery_first_for_a_black_screen_in_german():
    """Figure B7: no article is near, and the first is the wrong one."""
    encoder = load_encoder(VECTORS, backend="numpy")
    index = DenseIndex({article.id: article.chunk for article in articles()}, encoder)
    best = index.search("Der Bildschirm bleibt schwarz", k=1)[0]
    assert best.id == "kb-107"
    assert best.score == pytest.approx(0.043, abs=0.0006)
