"""The forum: its size, who pastes codes, the threads that alone hold an answer, and that a seed fixes it."""

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from course_lib.bm25 import Index
from course_lib.corpora.forum import PASTED, forum_questions, official, often_pasted, posts
from course_lib.corpora.support_kb import articles

ROOT = Path(__file__).resolve().parent.parent
CODE = "E-4471"


def test_there_are_5000_posts_and_no_id_is_taken_twice():
    ids = [entry.id for entry in (*official(), *posts())]
    assert len(posts()) == 5000
    assert len(ids) == len(set(ids))


def test_every_article_is_official_and_a_code_that_one_explains_has_no_second_entry():
    ids = {entry.id for entry in official()}
    assert {article.id for article in articles()} < ids
    assert {CODE, "E-4417"}.isdisjoint(ids)


def test_about_one_post_in_four_pastes_a_code():
    share = sum("E-" in post.body for post in posts()) / len(posts())
    assert abs(share - PASTED) < 0.02


def test_a_code_that_everybody_has_seen_is_pasted_more_often_than_another():
    often = [sum(code in post.body for post in posts()) for code in often_pasted()]
    assert min(often) >= 8
    assert often[often_pasted().index(CODE)] > 15


def test_questions_come_from_both_sides_and_their_gold_is_where_they_say():
    questions, source = forum_questions(), {entry.id: entry.source for entry in (*official(), *posts())}
    assert [question.source for question in questions].count("official") == 12
    assert [question.source for question in questions].count("forum") == 12
    assert all(source[question.gold[0]] == question.source for question in questions)


def test_a_code_stands_in_questions_of_both_sides_and_some_official_ones_have_none():
    with_code = {(question.source, "E-" in question.text) for question in forum_questions()}
    assert with_code == {("official", True), ("official", False), ("forum", True), ("forum", False)}


def test_every_official_question_is_answered_first_before_the_import():
    index = Index(entry.document for entry in official())
    for question in forum_questions():
        if question.source == "official":
            assert index.search(question.text, 1)[0].id == question.gold[0], question.text


def test_no_slot_is_left_open():
    assert not any("{" in post.title + post.body for post in posts())


def test_another_process_with_another_hash_seed_writes_the_same_posts():
    code = (
        "from hashlib import sha256; from course_lib.corpora.forum import posts;"
        "print(sha256(repr(posts()).encode()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == sha256(repr(posts()).encode()).hexdigest()
