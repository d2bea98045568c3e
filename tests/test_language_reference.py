"""The language reference as a corpus: its labels hold on the running Python, whichever that is."""

import re
import sys
from collections import Counter
from hashlib import sha256

import numpy as np
import pytest

from course_lib.bm25 import BM25Index
from course_lib.corpora.language_reference import (
    LONGEST,
    VECTORS,
    cached_texts,
    gold_sections,
    holds,
    reference_questions,
    sections,
    topics,
)
from course_lib.dense import load_encoder, read_vectors, save_vectors, text_key

QUESTIONS_SHA256 = "735fdecfe2f61ca0812a7e314d963f11633750c1f8809a37b566d703eaa22ce9"
IDENTIFIER = re.compile(r"__\w+__|PEP \d+|!r|\.pdbrc|except\*|\w*(?:casefold|tbreak|nonlocal|zfill|popitem)")
FUNCTION_WORDS = re.compile(
    r"(all?|am|an[dy]?|are|as|at|be|by|can|do(es)?|for|from|get|how|in(to)?|is|its?|me|my|not?|of|on|or|out|so|that|the"
    r"|them|this|to|up|what|when|which|who|why|with|.)"
)


def questions(name):
    return [question for question in reference_questions() if question.slice == name]


ANSWERED = [question for question in reference_questions() if question.gold]


def content_words(text):
    return [word for word in re.findall(r"[^\W_]+", text.lower()) if not FUNCTION_WORDS.fullmatch(word)]


def topics_with(index, word):
    """The topics that hold a word in any of its forms."""
    return {hit.id for hit in index.search(word, k=len(topics()))}


@pytest.fixture(scope="module")
def stemmed():
    return BM25Index({topic.id: topic.chunk for topic in topics()}, tokenizer="porter")


def test_the_reference_has_topics_of_very_different_length():
    sizes = [len(topic.body) for topic in topics()]
    assert len(topics()) >= 75
    assert min(sizes) < 300
    assert max(sizes) > 30_000


def test_the_title_of_a_topic_is_its_first_heading_and_no_longer_in_its_body():
    for topic in topics():
        assert topic.title, topic.id
        assert not re.match(r"\*{3}|" + re.escape(topic.title + "\n"), topic.body), topic.id
    assert {topic.id: topic.title for topic in topics()}["del"] == 'The "del" statement'


def test_the_sections_hold_every_word_of_the_topics_in_their_order():
    for topic in topics():
        own = [section for section in sections() if section.topic == topic.id]
        kept = " ".join(section.body for section in own).split()
        headings = re.compile(r"^(\S.*)\n([*=\-~^])\2{2,}$", flags=re.M)
        assert kept == headings.sub("", topic.body).split(), topic.id


def test_a_topic_in_one_piece_keeps_its_key_and_others_are_numbered_from_one():
    pieces = Counter(section.topic for section in sections())
    numbers = Counter()
    for section in sections():
        numbers[section.topic] += 1
        whole = pieces[section.topic] == 1
        assert section.id == (section.topic if whole else f"{section.topic}#{numbers[section.topic]}")
    assert pieces["pass"] == 1
    assert pieces["types"] > 30


def test_the_title_of_a_section_is_the_path_of_its_headings():
    titles = {section.title for section in sections() if section.topic == "compound"}
    assert 'Compound statements > The "try" statement > "finally" clause' in titles
    assert all(title.startswith("Compound statements") for title in titles)


def test_seven_sections_in_eight_are_no_longer_than_minilm_reads():
    long = [section for section in sections() if len(section.body) > 1.2 * LONGEST]
    assert len(long) < len(sections()) / 8


def test_there_are_twenty_questions_in_each_of_four_slices():
    assert Counter(question.slice for question in reference_questions()) == {
        "identifier": 20, "keyword": 20, "paraphrase": 20, "no answer": 20,
    }  # fmt: skip
    assert len({question.text for question in reference_questions()}) == 80


@pytest.mark.parametrize("question", ANSWERED, ids=lambda question: question.text)
def test_exactly_the_gold_topics_hold_the_decisive_words_on_this_python(question):
    found = {topic.id for topic in topics() if any(holds(topic, phrase) for phrase in question.evidence)}
    assert found == set(question.gold)


@pytest.mark.parametrize("question", ANSWERED, ids=lambda question: question.text)
def test_no_phrase_of_the_evidence_is_idle(question):
    """Each brings in a topic that the others leave out."""
    for phrase in question.evidence:
        others = [other for other in question.evidence if other != phrase]
        held = [topic for topic in topics() if holds(topic, phrase)]
        assert any(not any(holds(topic, other) for other in others) for topic in held), phrase


def test_the_gold_sections_are_parts_of_the_gold_topics_and_of_each_of_them():
    for question in ANSWERED:
        assert {section.split("#")[0] for section in gold_sections(question)} == set(question.gold), question


def test_an_identifier_question_names_an_identifier_that_every_gold_topic_contains():
    for question in questions("identifier"):
        named = IDENTIFIER.findall(question.text)
        assert named, question
        for topic in topics():
            if topic.id in question.gold:
                assert any(name in f"{topic.title} {topic.body}" for name in named), (question, topic.id)


def test_a_keyword_question_is_asked_in_the_words_of_one_of_its_topics(stemmed):
    for question in questions("keyword"):
        holding = [topics_with(stemmed, word) for word in content_words(question.text)]
        assert len(holding) >= 2, question
        assert set.intersection(*holding) & set(question.gold), question


def test_a_paraphrase_shares_no_content_word_with_any_of_its_topics_in_any_form(stemmed):
    for question in questions("paraphrase"):
        words = content_words(question.text)
        assert len(words) >= 3, question
        for word in words:
            assert not topics_with(stemmed, word) & set(question.gold), (question, word)


def test_what_a_question_without_an_answer_is_about_is_mentioned_in_no_topic():
    for question in questions("no answer"):
        assert question.gold == gold_sections(question) == ()
        for word in question.evidence:
            assert word in question.text.lower()
            pattern = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)
            assert not [topic.id for topic in topics() if pattern.search(" ".join(topic.body.split()))], word


def test_questions_without_an_answer_share_common_words_with_the_reference(stemmed):
    """Or abstaining would be easy."""
    shared = [q for q in questions("no answer") if any(topics_with(stemmed, w) for w in content_words(q.text))]
    assert len(shared) >= 15


def test_the_questions_and_labels_are_the_ones_that_were_measured():
    lines = [f"{q.slice}|{q.text}|{q.gold}|{q.evidence}" for q in reference_questions()]
    assert sha256("\n".join(lines).encode("utf-8")).hexdigest() == QUESTIONS_SHA256


def test_every_question_has_its_vector_and_so_has_most_of_the_text():
    """On 3.11 all but what a patch release has changed; on later versions what has stayed the same."""
    stored = read_vectors(VECTORS)
    assert all(text_key(question.text) in stored for question in reference_questions())
    texts = cached_texts()
    known = sum(text_key(text) in stored for text in texts)
    assert known >= (0.95 if sys.version_info[:2] == (3, 11) else 0.5) * len(texts)


def test_a_text_that_this_python_words_differently_is_encoded_and_not_guessed():
    encoder = load_encoder(VECTORS, backend="numpy")
    changed = next(section.chunk for section in sections() if section.id == "pass") + " And more."
    fresh = load_encoder(backend="numpy").encode([changed])
    assert np.allclose(encoder.encode([changed]), fresh, atol=1e-6)


def test_the_stored_vectors_are_the_models_own(tmp_path):
    """A sample is remade and compared up to half precision."""
    stored = read_vectors(VECTORS)
    sample = [text for text in cached_texts() if text_key(text) in stored][::90]
    save_vectors(tmp_path / "fresh.npz", sample, load_encoder(backend="numpy"))
    fresh = read_vectors(tmp_path / "fresh.npz")
    assert max(float(np.abs(stored[key] - fresh[key]).max()) for key in fresh) < 0.001


def test_the_stored_vectors_stay_below_5_megabytes():
    assert VECTORS.stat().st_size < 5_000_000
