"""The engines lab: its questions, its exercise with every wrong answer, its dated table, and the relations it teaches.

What needs an extra is skipped where that is missing, but fails where COURSE_REQUIRE_ENGINES is set.
"""

import os
from datetime import date
from functools import cache
from pathlib import Path

import nbformat
import pytest

from course_lib import engines
from course_lib.asof import AS_OF
from course_lib.bm25 import Index, idf, words
from course_lib.engines import BM25S, ENGINES, FTS5, POSTGRES, RANK_BM25, READY, TANTIVY, EngineError
from course_lib.learn.blank import ____
from course_lib.lessons import lab_engines as lab
from course_lib.lessons.lab_engines import lesson
from course_lib.metrics import hit_rate_at_k
from tests.lesson_checks import every_option_that_can_be_wrong_says_why, every_wrong_answer_gets_its_reason

SOLVED = Path(__file__).parents[1] / "notebooks" / "solved" / "lab_engines.ipynb"


@pytest.fixture(autouse=True)
def own_record(tmp_path, monkeypatch):
    from course_lib.learn.record import Record

    record = Record(tmp_path / "r.json")
    monkeypatch.setattr("course_lib.learn.lesson.open_record", lambda: record)


@cache
def everywhere():
    """Every engine that is here, run once; with COURSE_REQUIRE_ENGINES all of them must be."""
    found = lab.run_everywhere()
    if os.environ.get("COURSE_REQUIRE_ENGINES"):
        assert found.missing == {}
    return found


@cache
def base_run(analyzer=None):
    """FTS5, or rank_bm25 with an analyzer, over all questions."""
    make = engines.fts5 if analyzer is None else lambda documents: engines.rank_bm25(documents, analyzer)
    return lab.run(make)


def run_of(name):
    if name not in everywhere().runs:
        pytest.skip(f"{name}: {everywhere().missing[name]}")
    return everywhere().runs[name]


# --- predictions ---

# What the notebook's cells compute; nbval compares the cells themselves.
ACTUAL = {
    "kept": [RANK_BM25],
    "apostrophe": {FTS5: True},
    "chinese": {FTS5: False, RANK_BM25: False},
    "split": 46,
    "no_idf": 51,
}


@pytest.mark.parametrize("question", lesson.questions.values(), ids=lesson.questions)
def test_every_option_that_can_be_wrong_says_why_it_is_tempting(question):
    every_option_that_can_be_wrong_says_why(question, ACTUAL[question.key])


@pytest.mark.parametrize("question", lesson.questions.values(), ids=lesson.questions)
def test_every_wrong_answer_to_every_question_gets_its_reason(question):
    every_wrong_answer_gets_its_reason(lesson, question, ACTUAL[question.key])


@pytest.mark.parametrize(
    ("key", "value", "option"),
    [
        ("split", 100, "100 or more"),
        ("split", 99, "60 to 99"),
        ("split", 59, "fewer than 60"),
        ("no_idf", 111, "100 or more"),
        ("no_idf", 60, "60 to 99"),
        ("apostrophe", {FTS5: True, TANTIVY: False}, "read it as words"),
        ("chinese", {FTS5: True}, "those that know Unicode"),
    ],
)
def test_another_value_than_the_courses_falls_into_another_option(key, value, option):
    assert lesson.questions[key].right(value) == [option]
    assert option in [o.name for o in lesson.questions[key].options]


def test_the_answers_are_what_the_engines_that_are_here_do():
    found = everywhere().readings
    assert lab.kept_in_one(found) == ACTUAL["kept"]
    assert all(lab.refusals(found).values())
    assert not any(lab.finds_chinese(found).values())
    assert lab.first(everywhere().runs[RANK_BM25]) == ACTUAL["split"]


def test_the_answer_about_postgres_is_what_it_does():
    assert lab.first(run_of(POSTGRES)) == ACTUAL["no_idf"]


def test_a_question_about_an_engine_that_did_not_run_stays_open():
    prediction = lesson.predict("no_idf", answer="100 or more", confidence="sure")
    assert "stays open" in repr(lab.reveal_where_it_ran(prediction, None))
    assert not prediction.record.events("reveal", prediction.key)
    assert "one to remember" in repr(lab.reveal_where_it_ran(prediction, 51))


# --- the relations that the lab teaches ---


def rate(run, name):
    part = next(part for part in lab.slices() if part.name == name)
    return hit_rate_at_k(run[name], part.gold, 1)


def test_the_slices_are_those_of_the_labelled_questions_and_every_question_has_an_answer():
    sizes = {part.name: len(part.texts) for part in lab.slices()}
    assert sizes == {
        "support, identifiers": 4, "support, paraphrases": 4, "codes, exact": 120, "codes, respelled": 30,
        "Python, identifier": 20, "Python, keyword": 20, "Python, paraphrase": 20,
    }  # fmt: skip
    for part in lab.slices():
        ids = {id for id, _, _ in part.documents}
        assert all(gold and set(gold) <= ids for gold in part.gold)


def test_cutting_at_spaces_costs_more_than_the_formula_and_the_intervals_do_not_touch():
    fts5, same_words, spaces = base_run(), base_run(words), base_run(engines.at_spaces)
    exact = [rate(run, lab.EXACT) for run in (fts5, same_words, spaces)]
    assert exact[2].high < exact[1].low
    assert exact[1].high > exact[0].low
    assert lab.show_changes(same_words, spaces).html.count("<tr>") == len(lab.slices()) + 1
    assert "codes, exact 120 0 59" in repr(lab.show_changes(same_words, spaces))
    assert "codes, exact 120 1 8" in repr(lab.show_changes(fts5, same_words))


def test_for_about_half_of_the_questions_the_code_is_free_of_punctuation_on_both_sides():
    part = next(part for part in lab.slices() if part.name == lab.EXACT)
    entries = {id: engines.at_spaces(engines.chunk(title, body)) for id, title, body in part.documents}
    pairs = zip(part.texts, part.gold, strict=True)
    free = sum(code in engines.at_spaces(text) and code in entries[code] for text, (code,) in pairs)
    assert lab.first(base_run(engines.at_spaces)) < free
    assert 50 < free < 70


def test_ts_rank_loses_the_codes_by_its_formula_and_not_by_its_words():
    ts_rank, swapped = rate(run_of(POSTGRES), lab.EXACT), rate(everywhere().swapped, lab.EXACT)
    assert ts_rank.high < swapped.low
    assert swapped.value > 0.9
    assert f"{lab.first(everywhere().swapped)} 120" in repr(lab.show_swap(everywhere()))


@pytest.mark.parametrize("name", [FTS5, BM25S, TANTIVY])
def test_the_engines_that_cut_at_punctuation_and_know_idf_find_exact_codes(name):
    found = rate(run_of(name), lab.EXACT)
    assert found.value > 0.9
    assert found.low > rate(everywhere().runs[RANK_BM25], lab.EXACT).high


@pytest.mark.parametrize("name", ENGINES)
def test_most_respelled_codes_are_lost_and_no_paraphrase_comes_first(name):
    assert rate(run_of(name), "codes, respelled").value <= 0.34
    assert rate(run_of(name), "Python, paraphrase").value <= 0.05
    assert rate(run_of(name), "support, paraphrases").value == 0


def test_the_table_of_rates_has_a_row_a_slice_and_an_interval_for_each_engine():
    shown = lab.show_rates(everywhere().runs)
    assert shown.html.count("<br>") == len(lab.slices()) * len(everywhere().runs)
    assert "95 % interval" in shown.html


# --- without extras ---


def test_without_extras_the_lab_runs_and_says_one_sentence_for_each(monkeypatch):
    monkeypatch.setattr(engines, "find_spec", lambda module: object() if module == "rank_bm25" else None)
    found = lab.run_everywhere()
    assert list(found.runs) == list(found.readings) == [FTS5, RANK_BM25]
    assert list(found.missing) == [BM25S, TANTIVY, POSTGRES]
    assert repr(lab.show_missing(found.missing)).count("did not run here: not installed: run `%pip install") == 3
    assert "nothing to compare" in repr(lab.show_swap(found))
    assert repr(lab.show_available()).count(READY) == 2


@pytest.mark.parametrize("uri", [None, "postgresql://nobody@127.0.0.1:1/none"])
def test_a_server_that_fails_is_one_sentence_and_the_others_run(uri, monkeypatch):
    two = lab.slices()[:2]
    monkeypatch.setattr(lab, "slices", lambda: two)

    def broken():
        raise EngineError("The server is broken.")

    monkeypatch.setattr(lab, "postgres_server", broken)
    found = lab.run_everywhere(uri)
    assert POSTGRES not in found.runs
    assert found.missing[POSTGRES]
    assert {FTS5, RANK_BM25} <= set(found.runs)


def test_the_base_engines_are_the_two_that_are_always_here():
    with lab.base_engines() as base:
        assert list(base) == [FTS5, RANK_BM25]
        shown = repr(lab.show_readings(lab.readings(base), lab.CODE))
    assert "e | 4471" in shown
    assert "nothing (missed)" in shown


def test_the_solved_notebook_was_built_where_all_engines_ran():
    nb = nbformat.read(SOLVED, as_version=4)
    texts = [o.data["text/plain"] for c in nb.cells if c.cell_type == "code" for o in c.outputs if "data" in o]
    assert any("All five ran." in text for text in texts), "build it in .venv-engines"
    assert any(text.startswith("Slice n " + " ".join(ENGINES)) for text in texts)


# --- the dated table ---


def test_the_table_is_dated_and_each_row_names_its_sources_and_what_was_not_checked():
    known = lab.known_engines()
    assert date.fromisoformat(known["as_of"]) == AS_OF
    names = [one["name"] for one in known["engines"]]
    assert names == [
        "SQLite FTS5", "Elasticsearch", "OpenSearch", "Apache Solr", "ParadeDB pg_search", "PostgreSQL ts_rank",
    ]  # fmt: skip
    for one in known["engines"]:
        assert one["sources"]
        assert all(source.startswith("https://") for source in one["sources"])
        assert all(isinstance(one[key], str) and one[key] for key in ("scoring", "k1", "b", "analyzer", "licence"))
        unsure = [key for key in ("k1", "b", "analyzer", "licence", "scoring") if "not checked" in one[key]]
        assert not unsure or one["not_checked"]
        assert one["name"] in repr(lab.show_known_engines())
    assert [one["name"] for one in known["engines"] if one["bm25"] == "no"] == ["PostgreSQL ts_rank"]


def test_the_constants_of_fts5_in_the_table_are_those_that_it_computes_with():
    row = lab.known_engines()["engines"][0]
    k1, b = (float(row[key].split(",")[0]) for key in ("k1", "b"))
    index = Index([("a", "", "x y"), ("b", "", "z z z z"), ("c", "", "z")], copies=False)
    score = index.search("x")[0].score
    assert score == pytest.approx(idf(1, 3) * (k1 + 1) / (1 + k1 * (1 - b + b * 2 / (7 / 3))))


def test_ts_rank_knows_neither_rare_words_nor_long_rows():
    if engines.available()[POSTGRES] != READY:
        pytest.skip(engines.available()[POSTGRES])
    documents = [("rare", "", "zebra"), ("common", "", "apple"), ("long", "", "apple " + "pear " * 50)]
    with engines.postgres_server() as uri, engines.postgres(documents, uri) as found:
        scores = {hit.id: hit.score for hit in found.search("zebra apple", 3)}
    assert scores["rare"] == scores["common"] == scores["long"]


# --- the exercise ---


def solution():
    scope = {}
    exec(lesson.exercises["changed_sides"].solution, scope)
    return scope["changed_sides"]


def test_the_solution_is_right_and_agrees_with_the_library():
    assert lesson.check("changed_sides", solution()).outcome == "right"
    before, after = base_run(), base_run(words)
    for part in lab.slices():
        pair = before[part.name], after[part.name], part.gold
        assert solution()(*pair, 1) == lab._changes(*pair, 1)


def hits(runs, gold, k):
    return [bool(set(wanted) & set(ids[:k])) for ids, wanted in zip(runs, gold, strict=True)]


def net_difference(before, after, gold, k):
    change = sum(hits(after, gold, k)) - sum(hits(before, gold, k))
    return max(change, 0), max(-change, 0)


def swapped(before, after, gold, k):
    return solution()(after, before, gold, k)


def any_other_first_id(before, after, gold, k):
    moved = [old[:1] != new[:1] for old, new in zip(before, after, strict=True)]
    now = hits(after, gold, k)
    return sum(m and n for m, n in zip(moved, now, strict=True)), sum(
        m and not n for m, n in zip(moved, now, strict=True)
    )


def without_the_cut_off(before, after, gold, k):
    return solution()(before, after, gold, 99)


def all_gold_ids_needed(before, after, gold, k):
    was = [set(wanted) <= set(ids[:k]) for ids, wanted in zip(before, gold, strict=True)]
    now = [set(wanted) <= set(ids[:k]) for ids, wanted in zip(after, gold, strict=True)]
    return sum(n and not w for w, n in zip(was, now, strict=True)), sum(
        w and not n for w, n in zip(was, now, strict=True)
    )


def hits_before_and_after(before, after, gold, k):
    return sum(hits(after, gold, k)), sum(hits(before, gold, k))


def only_at_rank_k(before, after, gold, k):
    was = [ids[k - 1 : k] and ids[k - 1] in wanted for ids, wanted in zip(before, gold, strict=True)]
    now = [ids[k - 1 : k] and ids[k - 1] in wanted for ids, wanted in zip(after, gold, strict=True)]
    pairs = [(bool(w), bool(n)) for w, n in zip(was, now, strict=True)]
    return pairs.count((False, True)), pairs.count((True, False))


def gained_only(before, after, gold, k):
    return solution()(before, after, gold, k)[0]


def nothing(before, after, gold, k):
    return None


WRONG = [
    net_difference, swapped, any_other_first_id, without_the_cut_off, all_gold_ids_needed, hits_before_and_after,
    only_at_rank_k, gained_only, nothing,
]  # fmt: skip


@pytest.mark.parametrize("answer", WRONG)
def test_a_wrong_answer_is_told_what_it_returned_and_never_the_right_numbers(answer):
    feedback = lesson.check("changed_sides", answer)
    assert feedback.outcome == "wrong"
    assert "returned" in repr(feedback)


def test_a_blank_is_not_attempted_and_an_error_is_said():
    def blank(before, after, gold, k):
        was = [____ for old, wanted in zip(before, gold, strict=True)]
        now = [____ for new, wanted in zip(after, gold, strict=True)]
        gained = sum(____ for old, new in zip(was, now, strict=True))
        return gained, 0

    def broken(before, after, gold, k):
        return before["a"], 0

    assert lesson.check("changed_sides", blank).outcome == "not attempted"
    assert lesson.check("changed_sides", 7).outcome == "error"
    assert "line" in repr(lesson.check("changed_sides", broken))
