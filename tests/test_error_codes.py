"""The catalogue of 2,000 codes: that its codes look alike, that its questions are true, that a seed fixes it all."""

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

from course_lib.bm25 import BM25Index
from course_lib.corpora.error_codes import VECTORS, cached_texts, code_questions, error_codes
from course_lib.dense import load_encoder, read_vectors, save_vectors, text_key
from course_lib.minilm import MAX_PIECES, find_weights, word_piece_ids

ROOT = Path(__file__).resolve().parent.parent
TEXT_SHA256 = "60d273dbec5985c4c1e8fc74a11d534300e8f7e9a92c8e2c67b53bad5a743529"
CODE = re.compile(r"E-\d{4}")
EVERY_SEED = pytest.mark.parametrize("seed", [7, 8, 2026])


def family(code):
    """The digits of a code in order: those of E-4471 and E-4147 are the same."""
    return "".join(sorted(code))


def without_codes_and_figures(article):
    return re.sub(r"\d+|[CPKM](?=\d)|countertop|portable|kiosk|mobile", "0", article.body)


def questions(name, seed=7):
    return [question for question in code_questions(seed) if question.slice == name]


def digest(seed=7):
    lines = [f"{a.id}|{a.title}|{a.body}" for a in error_codes(seed)]
    lines += [f"{q.text}|{q.slice}|{q.gold}" for q in code_questions(seed)]
    return sha256("\n".join(lines).encode("utf-8")).hexdigest()


@EVERY_SEED
def test_there_are_2000_entries_in_the_order_of_their_codes_and_no_two_are_the_same(seed):
    ids = [article.id for article in error_codes(seed)]
    assert len(ids) == len(set(ids)) == 2000
    assert ids == sorted(ids)
    assert all(CODE.fullmatch(code) for code in ids)
    assert len({article.chunk for article in error_codes(seed)}) == 2000


@EVERY_SEED
def test_every_code_has_another_one_with_the_same_digits_and_most_have_six(seed):
    sizes = Counter(family(article.id) for article in error_codes(seed))
    assert min(sizes.values()) >= 2
    assert sum(size for size in sizes.values() if size >= 7) > 1500


@EVERY_SEED
def test_the_title_names_the_code_and_no_other_entry_has_it_in_its_title(seed):
    for article in error_codes(seed):
        assert CODE.findall(article.title) == [article.id]


@EVERY_SEED
def test_an_entry_in_three_names_a_second_code_that_is_one_of_its_own_family(seed):
    entries = {article.id for article in error_codes(seed)}
    naming = 0
    for article in error_codes(seed):
        others = set(CODE.findall(article.body)) - {article.id}
        naming += len(others)
        assert len(others) <= 1
        assert all(other in entries and family(other) == family(article.id) for other in others), article
    assert 550 < naming < 790


@EVERY_SEED
def test_about_22_codes_share_each_fault(seed):
    faults = Counter(article.title.split(": ", 1)[1] for article in error_codes(seed))
    assert len(faults) >= 85
    assert all(20 <= times <= 24 for times in faults.values()), faults.most_common(2)


@EVERY_SEED
def test_two_entries_in_five_differ_from_another_one_in_codes_figures_and_models_only(seed):
    twins = Counter(without_codes_and_figures(article) for article in error_codes(seed))
    assert sum(times for times in twins.values() if times > 1) >= 800


@EVERY_SEED
def test_an_entry_reads_to_the_end_as_sentences(seed):
    for article in error_codes(seed):
        assert not re.search(r"[{}|]|\.\.|  ", article.chunk), article
        assert article.body.endswith("."), article
        for sentence in re.split(r"(?<=[.]) ", article.body):
            assert sentence[0].isupper(), article
        assert 18 <= len(article.body.split()) <= 90, article


def test_the_two_codes_of_the_support_articles_mean_the_same_here():
    titles = {article.id: article.title for article in error_codes()}
    assert titles["E-4471"].endswith(": firmware signature mismatch")
    assert titles["E-4417"].endswith(": printer cover open")


@EVERY_SEED
def test_there_are_120_exact_questions_30_respelled_ones_and_30_about_codes_that_do_not_exist(seed):
    counted = Counter(question.slice for question in code_questions(seed))
    assert counted == {"exact": 120, "respelled": 30, "not in the catalogue": 30}
    assert len({question.text for question in code_questions(seed)}) == 180
    assert len({question.gold for question in code_questions(seed) if question.gold}) == 150


@EVERY_SEED
def test_an_exact_question_quotes_the_code_of_its_entry_and_nothing_of_the_fault(seed):
    entries = {article.id: article for article in error_codes(seed)}
    for question in questions("exact", seed):
        assert tuple(CODE.findall(question.text)) == question.gold
        assert entries[question.gold[0]].title.split(": ", 1)[1] not in question.text


@EVERY_SEED
def test_a_respelled_question_means_an_entry_and_never_writes_its_code_as_the_catalogue_does(seed):
    entries = {article.id for article in error_codes(seed)}
    for question in questions("respelled", seed):
        letter, digits = re.findall(r"\b([Ee]) ?(\d{4})\b", question.text)[0]
        assert (f"{letter.upper()}-{digits}",) == question.gold
        assert question.gold[0] in entries
        assert question.gold[0] not in question.text
    assert {re.search(r"E\d|e \d|e\d", q.text)[0][:2].strip() for q in questions("respelled", seed)} >= {"e"}


@EVERY_SEED
def test_a_code_that_is_not_in_the_catalogue_stands_nowhere_in_it_but_its_family_does(seed):
    whole = " ".join(article.chunk for article in error_codes(seed))
    families = {family(article.id) for article in error_codes(seed)}
    for question in questions("not in the catalogue", seed):
        (code,) = CODE.findall(question.text)
        assert question.gold == ()
        assert code not in whole
        assert family(code) in families


def test_the_code_alone_finds_its_entry_among_the_first_three():
    """Not always first: an entry that mentions the code in passing may be shorter than the code's own entry."""
    index = BM25Index({article.id: article.chunk for article in error_codes()})
    for question in questions("exact"):
        assert question.gold[0] in [hit.id for hit in index.search(question.gold[0], k=3)]


def test_the_text_of_the_default_seed_is_the_same_on_every_python():
    assert digest() == TEXT_SHA256


def test_neither_the_hash_seed_nor_the_global_generator_has_a_say():
    program = "import random; random.seed(3); from tests.test_error_codes import digest; print(digest(41))"
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": hash_seed}, check=True, capture_output=True, text=True,
        ).stdout.strip()
        for hash_seed in ("1", "2")
    }  # fmt: skip
    assert printed == {digest(41)}


def test_drawing_a_catalogue_leaves_the_global_generator_alone():
    before = random.getstate()
    error_codes(seed=4321)
    code_questions(seed=4321)
    assert random.getstate() == before


def test_another_seed_is_another_catalogue():
    assert len({digest(seed) for seed in range(10)}) == 10


def test_every_entry_is_read_to_the_end_by_minilm():
    lines = (find_weights() / "vocab.txt").read_text(encoding="utf-8").splitlines()
    vocabulary = {piece: number for number, piece in enumerate(lines)}
    assert max(len(word_piece_ids(article.chunk, vocabulary)) for article in error_codes()) < MAX_PIECES


def test_every_entry_and_question_has_its_vector_and_the_model_is_not_loaded():
    texts = [article.chunk for article in error_codes()] + [question.text for question in code_questions()]
    assert cached_texts() == texts
    assert set(read_vectors(VECTORS)) == {text_key(text) for text in texts}
    encoder = load_encoder(VECTORS)
    assert encoder.encode(texts).shape == (2180, 384)
    assert not encoder.model_is_loaded


def test_the_stored_vectors_are_the_models_own(tmp_path):
    """A sample is remade and compared up to half precision."""
    sample = cached_texts()[::150]
    save_vectors(tmp_path / "fresh.npz", sample, load_encoder(backend="numpy"))
    stored, fresh = read_vectors(VECTORS), read_vectors(tmp_path / "fresh.npz")
    assert max(float(np.abs(stored[key] - fresh[key]).max()) for key in fresh) < 0.001


def test_the_stored_vectors_stay_below_5_megabytes():
    assert VECTORS.stat().st_size < 5_000_000
