"""Twelve policies: their length, their pointers, that the answer stands in the table alone, that a seed fixes them."""

import os
import subprocess
import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from course_lib.corpora.policies import VECTORS, chunks, policies, policy_questions, texts_with_vectors
from course_lib.dense import load_encoder, read_vectors, text_key
from course_lib.tokens import count_tokens

ROOT = Path(__file__).resolve().parent.parent
BY_KEY = {policy.key: policy for policy in policies()}


def part(policy, id):
    return next(one for one in BY_KEY[policy].parts if one.id == id)


def test_there_are_twelve_policies_of_20_to_80_pages():
    pages = [count_tokens(policy.text) / 500 for policy in policies()]
    assert len(pages) == 12
    assert min(pages) >= 20
    assert max(pages) <= 80
    assert max(pages) > 70
    assert sorted(pages)[1] < 30


def test_the_delegation_matrix_is_appendix_2_and_section_5_4_points_there():
    assert part("procurement", "A2").heading == "Appendix 2: Delegation of authority"
    assert "Appendix 2" in part("procurement", "5.4").text
    assert part("procurement", "5.4").text.startswith("Managers approve spend according to the delegation matrix.")


@pytest.mark.parametrize("question", policy_questions(), ids=lambda question: question.text[:40])
def test_the_answer_stands_in_the_table_and_nowhere_else(question):
    holding = [(policy.key, one.id) for policy in policies() for one in policy.parts if question.answer in one.text]
    assert holding == [(question.policy, question.target)]
    assert f"Appendix {question.target[1:]}" in part(question.policy, question.pointer).text


def test_the_first_question_is_the_one_of_the_challenge():
    first = policy_questions()[0]
    assert (first.text, first.pointer, first.target) == (
        "What is the approval limit for a department manager?", "5.4", "A2",
    )  # fmt: skip
    assert len(policy_questions()) == 24


def test_ids_are_unique_within_a_policy_and_sections_are_counted_without_a_gap():
    for policy in policies():
        ids = [one.id for one in policy.parts]
        assert len(ids) == len(set(ids))
        chapters = Counter(id.split(".")[0] for id in ids if "." in id)
        for chapter, sections in chapters.items():
            assert [f"{chapter}.{n}" in ids for n in range(1, sections + 1)] == [True] * sections


def test_no_slot_is_left_open_and_no_sentence_begins_small():
    for policy in policies():
        assert "{" not in policy.text
        assert "}" not in policy.text
        assert all(one.text[0].isupper() or one.text[0] in '"3' for one in policy.parts if one.text)


def test_the_words_of_the_question_stand_in_many_sections_and_the_limit_is_not_called_one():
    texts = list(chunks().values())
    assert sum("department manager" in text for text in texts) > 100
    assert sum("approval limit" in text for text in texts) > 50
    assert "approval" not in part("procurement", "A2").text.lower()
    assert "limit" not in part("procurement", "A2").text.lower()


def test_a_chunk_with_its_path_ends_as_the_one_without():
    plain, paths = chunks(), chunks(heading_paths=True)
    assert list(plain) == list(paths)
    assert all(paths[id].endswith(text) for id, text in plain.items())
    assert paths["procurement A2"].startswith("Procurement and Purchasing Policy > Appendix 2: ")
    assert paths["procurement 5.4"].split("\n")[0].count(" > ") == 2


def test_another_process_with_another_hash_seed_writes_the_same_policies():
    code = (
        "from hashlib import sha256; from course_lib.corpora.policies import chunks;"
        "print(sha256(repr(chunks(True)).encode()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == sha256(repr(chunks(True)).encode()).hexdigest()


def test_another_seed_deals_other_sentences_and_keeps_the_answers():
    other = policies(seed=99)
    assert other[0].text != policies()[0].text
    assert [one.text for one in other[0].parts if one.id == "A2"] == [part("procurement", "A2").text]


def test_every_text_has_a_stored_vector_and_no_other_has():
    assert set(read_vectors(VECTORS)) == {text_key(text) for text in texts_with_vectors()}
    assert VECTORS.stat().st_size < 5 * 2**20


def test_the_stored_vectors_are_the_models_own():
    sample = [chunks()["procurement A2"], chunks(heading_paths=True)["tax 5.4"], policy_questions()[0].text]
    stored, fresh = read_vectors(VECTORS), load_encoder(backend="numpy").encode(sample)
    for text, vector in zip(sample, fresh, strict=True):
        assert np.abs(stored[text_key(text)] - vector).max() < 1e-3
