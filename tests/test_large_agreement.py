"""The agreement of 400 sections: its shape, its pointers, its one-hop questions, and that a seed fixes all of it."""

import os
import random
import re
import subprocess
import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from course_lib.corpora.large_agreement import VECTORS, cached_texts, large_agreement, one_hop_questions
from course_lib.dense import load_encoder, read_vectors, save_vectors, text_key
from course_lib.minilm import MAX_PIECES, find_weights, word_piece_ids

ROOT = Path(__file__).resolve().parent.parent
SEEDS = (7, 8, 2026)
TEXT_SHA256 = "3e04c899cc365d48fe7f00827f5ced46b88f78fdfba68e647ffffa6afe240c53"

EVERY_SEED = pytest.mark.parametrize("seed", SEEDS)
NUMBERS = re.compile(r"Sections? (\d+\.\d+)(?: (to|and) (\d+\.\d+))?")
SCHEDULES = re.compile(r"Schedules? ([A-Z]+)\b")
SMALL_WORDS = re.compile(
    r"(an?d?|any|as|at|be|by|can|do|for|from|get|how|if|in(to)?|is|its?|least|long|many|may|more|most|much|must|of|on"
    r"|one|or|our|out|so|that|the|them|to|up|us|we|what|when|which|with)"
)


def pointers(text):
    """The ids that a text names, the ends of a range included."""
    numbers = [number for first, _, last in NUMBERS.findall(text) for number in (first, last) if number]
    return numbers + SCHEDULES.findall(text)


def by_id(seed):
    return {section.id: section for section in large_agreement(seed)}


def digest(seed=7):
    lines = [f"{s.id}|{s.title}|{s.text}" for s in large_agreement(seed)]
    lines += [f"{q.text}|{q.pointer}|{q.target}|{q.answer}" for q in one_hop_questions(seed)]
    return sha256("\n".join(lines).encode("utf-8")).hexdigest()


def content_words(text):
    return {word for word in re.findall(r"[a-z]+", text.lower()) if not SMALL_WORDS.fullmatch(word)}


@EVERY_SEED
def test_400_numbered_sections_stand_in_front_of_twelve_schedules(seed):
    ids = [section.id for section in large_agreement(seed)]
    assert ids[400:] == list("ABCDEFGHIJKL")
    assert all(re.fullmatch(r"\d+\.\d+", section_id) for section_id in ids[:400])


@EVERY_SEED
def test_articles_and_their_sections_are_counted_from_one_without_a_gap(seed):
    numbers = [tuple(map(int, section.id.split("."))) for section in large_agreement(seed)[:400]]
    sizes = Counter(article for article, _ in numbers)
    assert numbers == [(article, n + 1) for article in range(1, len(sizes) + 1) for n in range(sizes[article])]


@EVERY_SEED
def test_every_pointer_leads_to_a_section_that_exists_and_to_another_one(seed):
    sections = by_id(seed)
    for section in sections.values():
        for pointer in pointers(section.text):
            assert pointer in sections, section
            assert pointer != section.id, section


@EVERY_SEED
def test_a_range_of_sections_runs_forward_inside_one_article(seed):
    for section in large_agreement(seed):
        for first, _, last in NUMBERS.findall(section.text):
            if last:
                (article, start), (same, end) = (map(int, number.split(".")) for number in (first, last))
                assert article == same, section
                assert start < end, section


@EVERY_SEED
def test_the_pointers_can_be_read_without_a_remainder(seed):
    """Each "Section" or "Schedule" with a capital begins a pointer that this file's patterns read."""
    for section in large_agreement(seed):
        rest = SCHEDULES.sub("", NUMBERS.sub("", section.text))
        assert not re.search(r"Section|Schedule|[\[\]{}|#]", rest), section


@EVERY_SEED
def test_a_third_of_the_sections_point_elsewhere_and_every_schedule_is_named_by_several(seed):
    sections = large_agreement(seed)
    assert sum(bool(pointers(section.text)) for section in sections[:400]) >= 400 / 3
    named = Counter(pointer for section in sections for pointer in set(pointers(section.text)))
    assert all(named[letter] >= 3 for letter in "ABCDEFGHIJKL")


@EVERY_SEED
def test_no_two_sections_share_a_title_or_a_text(seed):
    sections = large_agreement(seed)
    assert len({section.title for section in sections}) == 412
    assert len({section.text for section in sections}) == 412


@EVERY_SEED
def test_no_two_sections_begin_with_the_same_seven_words(seed):
    beginnings = Counter(" ".join(section.text.split()[:7]) for section in large_agreement(seed))
    assert [beginning for beginning, times in beginnings.items() if times > 1] == []


@EVERY_SEED
def test_a_schedule_says_its_letter_in_its_title(seed):
    for section in large_agreement(seed)[400:]:
        assert section.title.startswith(f"Schedule {section.id}: ")


@EVERY_SEED
def test_numbered_sections_have_10_to_60_words_and_schedules_60_to_130(seed):
    for section in large_agreement(seed):
        low, high = (60, 130) if section.id.isalpha() else (10, 60)
        assert low <= len(section.text.split()) <= high, section


@EVERY_SEED
def test_every_section_with_its_title_is_read_to_the_end_by_minilm(seed):
    lines = (find_weights() / "vocab.txt").read_text(encoding="utf-8").splitlines()
    vocabulary = {piece: number for number, piece in enumerate(lines)}
    assert max(len(word_piece_ids(section.chunk, vocabulary)) for section in large_agreement(seed)) < MAX_PIECES


def test_there_are_52_different_questions_and_most_lead_to_a_schedule():
    questions = one_hop_questions()
    assert len({question.text for question in questions}) == len(questions) == 52
    assert sum(question.target.isalpha() for question in questions) == 46
    assert len({question.pointer for question in questions}) == 52


@EVERY_SEED
def test_the_pointer_of_every_question_names_its_target(seed):
    sections = by_id(seed)
    for question in one_hop_questions(seed):
        assert question.target in pointers(sections[question.pointer].text), question
        assert question.gold == (question.pointer, question.target)


@pytest.mark.parametrize("seed", range(40))
def test_the_answer_stands_once_in_the_target_and_not_in_the_pointer(seed):
    sections = by_id(seed)
    for question in one_hop_questions(seed):
        assert sections[question.target].text.count(question.answer) == 1, question
        assert question.answer not in sections[question.pointer].text, question


@EVERY_SEED
def test_every_question_shares_more_words_with_the_pointer_than_with_the_target(seed):
    sections = by_id(seed)
    for question in one_hop_questions(seed):
        asked = content_words(question.text)
        near, far = (asked & content_words(sections[gold].chunk) for gold in question.gold)
        assert len(near) > len(far), (question, near, far)


@pytest.mark.parametrize("seed", range(40))
def test_the_first_question_is_the_openings_with_another_rate(seed):
    first = one_hop_questions(seed)[0]
    assert first.text == "How much interest do we owe if we pay an invoice 20 days late?"
    assert re.fullmatch(r"\d+% per year", first.answer)
    assert first.answer != "12% per year"


def test_the_text_of_the_default_seed_is_the_same_on_every_python():
    assert digest() == TEXT_SHA256


def test_neither_the_hash_seed_nor_the_global_generator_has_a_say():
    program = "import random; random.seed(3); from tests.test_large_agreement import digest; print(digest(41))"
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": hash_seed}, check=True, capture_output=True, text=True,
        ).stdout.strip()
        for hash_seed in ("1", "2")
    }  # fmt: skip
    assert printed == {digest(41)}


def test_drawing_an_agreement_leaves_the_global_generator_alone():
    before = random.getstate()
    large_agreement(seed=4321)
    assert random.getstate() == before


def test_an_agreement_is_drawn_once():
    assert large_agreement() is large_agreement(7)
    assert one_hop_questions() is one_hop_questions(seed=7)


def test_another_seed_is_another_agreement():
    assert len({digest(seed) for seed in range(20)}) == 20
    places = {one_hop_questions(seed)[0].gold for seed in range(20)}
    rates = {one_hop_questions(seed)[0].answer for seed in range(20)}
    assert len(places) > 5
    assert len(rates) > 2


def test_every_section_and_question_has_its_vector_in_the_file():
    stored = read_vectors(VECTORS)
    texts = [section.chunk for section in large_agreement()] + [question.text for question in one_hop_questions()]
    assert cached_texts() == texts
    assert set(stored) == {text_key(text) for text in texts}


def test_the_model_is_not_loaded_for_the_large_agreement():
    encoder = load_encoder(VECTORS)
    assert encoder.encode(cached_texts()).shape == (464, 384)
    assert not encoder.model_is_loaded


def test_the_stored_vectors_are_the_models_own(tmp_path):
    """A sample of sections, schedules and questions is remade and compared up to half precision."""
    sample = [*cached_texts()[:400:40], *cached_texts()[400::16]]
    save_vectors(tmp_path / "fresh.npz", sample, load_encoder(backend="numpy"))
    stored, fresh = read_vectors(VECTORS), read_vectors(tmp_path / "fresh.npz")
    assert max(float(np.abs(stored[key] - fresh[key]).max()) for key in fresh) < 0.001


def test_the_stored_vectors_stay_below_5_megabytes():
    assert VECTORS.stat().st_size < 5_000_000
