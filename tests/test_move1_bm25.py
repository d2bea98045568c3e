"""Move 1's lesson: its questions, both exercises with every wrong answer, its explorers at every extreme."""

import re
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.bm25 import HYPHENATED, IDENTIFIER, Index, Rules, idf, joined, lesson_rules, phrase, term_score, words
from course_lib.corpora import agreement, error_codes, nine_languages
from course_lib.corpora import language_reference as reference
from course_lib.corpora import support_kb as kb
from course_lib.hybrid import hybrid
from course_lib.learn.blank import ____
from course_lib.learn.look import to_text
from course_lib.lessons import move1_bm25 as move1
from course_lib.lessons.move1_bm25 import ROUTES, TRIALS, Tally, draw_bm25, draw_rules, lesson, strict_query
from course_lib.long_context import read_usage
from course_lib.retrieval import Hit, Usage
from tests.lesson_checks import every_option_that_can_be_wrong_says_why, every_wrong_answer_gets_its_reason


@pytest.fixture(autouse=True)
def own_record(tmp_path, monkeypatch):
    from course_lib.learn.record import Record

    record = Record(tmp_path / "r.json")
    monkeypatch.setattr("course_lib.learn.lesson.open_record", lambda: record)


@pytest.fixture
def no_model(monkeypatch):
    def refuse():
        raise AssertionError("a text outside the vector caches was encoded")

    monkeypatch.setattr(move1, "load_encoder", refuse)


@pytest.fixture
def strict():
    return Index(kb.documents(), copies=False, rules=lesson_rules(kb.stop_words()))


def kb_texts():
    return {article.id: article.chunk for article in kb.articles()}


# --- predictions ---

# What the notebook's cells compute; nbval compares the cells themselves.
ACTUAL = {
    "again_depth": [],
    "again_cache": "written, never read",
    "twice": 1.375,
    "raw": ["error", "error", "nothing"],
    "ored": "kb-105",
    "found": ["E-4471", "paper rolls"],
    "paraphrases": Tally(no_evidence=4),
    "too_strict": ["code 65"],
    "formats": ["E-4471", "e 4471", "E–4471"],
    "grown": [],
    "look_alikes": 8 / 120,
    "reference": 11 / 20,
    "fusion": 2,
    "speed": 0.01,
    "nine": 23,
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
        ("again_depth", ["days"], "a larger k"),
        ("again_cache", "never written", "the length"),
        ("again_cache", "works", "nowhere"),
        ("twice", 1.0, "they stay the same"),
        ("twice", 2.0, "they double"),
        ("raw", ["kb-102", "kb-105", "kb-105"], "an article each time"),
        ("raw", ["error", "kb-105", "kb-105"], "one error"),
        ("raw", ["error", "error", "error"], "three errors"),
        ("ored", "kb-102", "kb-102"),
        ("paraphrases", Tally(right=3, wrong=1), "mostly right"),
        ("paraphrases", Tally(right=1, wrong=3), "mostly wrong"),
        ("grown", ["kb-109", "kb-108"], "still found"),
        ("look_alikes", 0.95, "more than .9"),
        ("look_alikes", 0.5, "about half"),
        ("reference", 0.95, "nearly all"),
        ("reference", 0.1, "hardly any"),
        ("fusion", 0, "no evidence for both"),
        ("fusion", 1, "no evidence for one"),
        ("speed", 0.3, "about a third"),
        ("speed", 0.7, "more than half"),
        ("nine", 3, "3"),
        ("nine", 14, "half"),
    ],
)
def test_another_value_than_the_courses_falls_into_another_option(key, value, option):
    assert lesson.questions[key].right(value) == [option]
    assert option in [o.name for o in lesson.questions[key].options]


def test_the_questions_from_before_have_the_answers_that_their_libraries_compute():
    schedule_b = next(section for section in agreement.sections() if section.id == "B")
    assert not set(words(agreement.LATE_PAYMENT.text)) & set(words(schedule_b.chunk))
    assert read_usage([Usage(fresh=300, written=30_000, calls=1)] * 4) == ACTUAL["again_cache"]


# --- figures B2 to B8 ---


def test_the_strict_search_gives_the_lessons_scores(strict):
    found = [[(hit.id, round(hit.score, 3)) for hit in strict.search(question)] for question in kb.STRICT_SEARCH]
    assert found == [[("kb-102", 1.43)], [], [], [], [("kb-108", 4.883), ("kb-103", 1.052)]]


def test_content_words_alone_put_the_wrong_article_first():
    loose = Rules(kb.stop_words(), identifiers="off", min_coverage=0)
    baker, _, _, bluetooth, _ = kb.STRICT_SEARCH
    plain = move1.plain_index()
    assert [(hit.id, round(hit.score, 3)) for hit in plain.search(baker, 2, loose)] == [
        ("kb-105", 2.176),
        ("kb-102", 1.832),
    ]
    assert [(hit.id, round(hit.score, 3)) for hit in plain.search(bluetooth, 1, loose)] == [("kb-103", 1.772)]


def test_the_labelled_questions_by_slice(strict, no_model):
    dense = move1.dense_search(kb_texts(), kb.VECTORS)
    slices = {name: move1.of_slice(kb.labelled_questions(), name) for name in ("identifiers", "paraphrases")}
    assert move1.tally(strict.search, slices["identifiers"]) == Tally(right=4)
    assert move1.tally(strict.search, slices["paraphrases"]) == ACTUAL["paraphrases"]
    assert move1.tally(dense, slices["identifiers"]) == Tally(right=4)
    assert move1.tally(dense, slices["paraphrases"]) == Tally(right=3, wrong=1)


def test_only_code_65_survives_the_strict_search(strict):
    assert not any(strict.search(question) for question in kb.TOO_STRICT)
    assert strict.search("customer card declined with code 65")[0].id == "kb-106"
    library = Index(kb.documents())
    firsts = [library.search(question)[0].id for question in kb.TOO_STRICT]
    assert firsts == ["kb-101", "kb-102", "kb-105"]


def test_look_alike_codes_defeat_the_encoder_and_not_the_index(no_model):
    exact = move1.of_slice(error_codes.code_questions(), "exact")
    by_code = Index((article.id, article.title, article.body) for article in error_codes.error_codes())
    by_vector = move1.dense_search({a.id: a.chunk for a in error_codes.error_codes()}, error_codes.VECTORS)
    assert move1.tally(by_code.search, exact) == Tally(right=119, wrong=1)
    (missed,) = (question for question in exact if by_code.search(question.text, 1)[0].id not in question.gold)
    assert {hit.id for hit in by_code.search(missed.text, 3)} > set(missed.gold)
    assert move1.tally(by_vector, exact).right / len(exact) < 0.2


def test_a_merged_search_always_answers(no_model):
    merged = hybrid([Index(kb.documents()).search, move1.dense_search(kb_texts(), kb.VECTORS)])
    without_answer = move1.of_slice(move1.asked_questions(), "no answer")
    assert move1.tally(merged, without_answer) == Tally(wrong=2)


def test_long_chapters_cover_half_of_many_questions_they_do_not_answer():
    silent = move1.of_slice(reference.reference_questions(), "no answer")
    counts = move1.tally(move1.reference_search("topics"), silent)
    assert 0.25 <= counts.no_evidence / counts.n < 0.85


def test_codes_are_found_in_all_nine_languages_and_symptoms_in_none(no_model):
    library, foreign = Index(kb.documents()), nine_languages.foreign_questions()
    assert move1.tally(library.search, move1.of_slice(foreign, "identifier")) == Tally(right=27)
    assert move1.tally(library.search, move1.of_slice(foreign, "symptom")).right == 0
    dense = move1.dense_search(kb_texts(), kb.VECTORS, nine_languages.VECTORS)
    assert move1.tally(dense, move1.of_slice(foreign, "identifier")).right == ACTUAL["nine"]
    assert all(dense(question.english, 1) for question in foreign)


def test_synonyms_answer_the_questions_they_were_written_for_and_few_others():
    with_synonyms = Index(kb.documents(), rules=Rules(synonyms=move1.SYNONYMS))
    paraphrases = move1.of_slice(kb.labelled_questions(), "paraphrases")
    assert move1.tally(with_synonyms.search, paraphrases) == Tally(right=4)
    new = move1.unseen_symptoms()
    assert len(new) == 16
    assert move1.tally(with_synonyms.search, new).right < len(new) / 2


def test_every_hand_written_rewrite_finds_the_right_article():
    library = Index(kb.documents())
    gold = {question.text: question.gold for question in kb.labelled_questions()}
    assert all(library.search(move1.REWRITES[text], 1)[0].id in gold[text] for text in move1.REWRITES)
    assert len(move1.REWRITES) == 4


def test_a_score_threshold_wears_out_sooner_than_coverage():
    numbers = re.findall(r"^(\d+) ([\d.]+) ([\d.]+)$", repr(move1.growth_chart()), re.M)
    assert len(numbers) == 5
    (_, coverage_small, score_small), (_, coverage_large, score_large) = numbers[0], numbers[-1]
    assert min(float(coverage_small), float(score_small)) > 0.8
    assert float(score_large) < float(coverage_large) - 0.2


def test_the_threshold_chart_has_both_kinds_over_the_same_right_answers():
    shown = repr(move1.threshold_chart())
    assert "right answers kept" in shown
    assert re.search(r"^100 0\.\d+ 0\.\d+$", shown, re.M)


def test_a_race_over_few_texts_has_a_time_for_each_way_and_a_table():
    rare, common = move1.race(200)
    assert set(rare) == set(common) == {"FTS5", "rank_bm25", "exact vectors"}
    assert all(seconds > 0 for seconds in (*rare.values(), *common.values()))
    shown = repr(move1.show_ratios({200: rare, 400: common}))
    assert "a model's answer / FTS5" in shown


# --- one query for any text ---


def solved(key):
    scope = {
        "HYPHENATED": HYPHENATED,
        "IDENTIFIER": IDENTIFIER,
        "words": words,
        "phrase": phrase,
        "joined": joined,
        "stop_words": kb.stop_words(),
    }
    exec(lesson.exercises[key].solution, scope)
    return scope[key]


def content(question):
    return [word for word in words(question) if word not in kb.stop_words()]


def as_typed(question):
    return question


def unquoted(question):
    return " OR ".join(HYPHENATED.findall(question) or content(question))


def single_quotes(question):
    return " OR ".join(f"'{word}'" for word in content(question))


def codes_ored(question):
    codes = HYPHENATED.findall(question)
    return " OR ".join(phrase(part) for part in codes or content(question))


def code_or_words(question):
    return " OR ".join(phrase(part) for part in [*HYPHENATED.findall(question), *content(question)])


def words_only(question):
    return " OR ".join(phrase(word) for word in content(question))


def stop_words_kept(question):
    codes = HYPHENATED.findall(question)
    return " AND ".join(map(phrase, codes)) or " OR ".join(map(phrase, words(question)))


def every_word_demanded(question):
    codes = HYPHENATED.findall(question)
    return " AND ".join(map(phrase, codes or content(question)))


def none_for_nothing(question):
    return strict_query(question) or None


def question_as_one_phrase(question):
    return phrase(question) if question else ""


def empty_quotes(question):
    return strict_query(question) or "AND"


def a_list(question):
    return [phrase(word) for word in content(question)]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (as_typed, "SQLite refuses that"),
        (unquoted, "SQLite refuses that"),
        (single_quotes, "SQLite refuses that"),
        (codes_ored, "holds each of them"),
        (code_or_words, "Which articles may count then"),
        (words_only, "Which articles may count then"),
        (stop_words_kept, "nearly every text"),
        (every_word_demanded, "is missing"),
        (none_for_nothing, "A query is a text"),
        (question_as_one_phrase, "Which articles may count then"),
        (empty_quotes, "SQLite refuses that"),
        (a_list, "A query is a text"),
    ],
)
def test_a_wrong_query_is_named_by_what_it_matches(wrong, said):
    feedback = lesson.check("safe_query", wrong)
    assert feedback.outcome == "wrong"
    assert said in repr(feedback)


def test_the_solution_of_the_query_is_right_and_the_lessons_own_search_agrees(strict):
    assert lesson.check("safe_query", solved("safe_query")).outcome == "right"
    for question in TRIALS:
        assert solved("safe_query")(question) == strict_query(question)
        assert {hit.id for hit in strict.search(question, 8)} <= move1.matched(strict_query(question))


def test_an_unfinished_query_is_not_attempted_and_a_raising_one_is_an_error():
    def unfinished(question):
        return ____

    def half_done(question):
        terms = [word for word in words(question) if ____]
        return " OR ".join(terms)

    def raising(question):
        return question.no_such_method()

    assert lesson.check("safe_query", unfinished).outcome == "not attempted"
    assert lesson.check("safe_query", half_done).outcome == "not attempted"
    assert lesson.check("safe_query", raising).outcome == "error"
    assert lesson.check("safe_query", 3).outcome == "error"


@given(st.text())
@settings(max_examples=100, deadline=None)
def test_no_text_makes_the_solutions_query_invalid(question):
    assert isinstance(move1.matched(strict_query(question)), set)


# --- codes first ---


def only_hyphens(question):
    codes = [joined(code) for code in HYPHENATED.findall(question)]
    return ("code", codes) if codes else ("words", [])


def any_number(question):
    codes = re.findall(r"\d+", question)
    return ("code", codes) if codes else ("words", [])


def not_joined(question):
    codes = IDENTIFIER.findall(question)
    return ("code", codes) if codes else ("words", [])


def first_code_only(question):
    codes = [joined(code) for code in IDENTIFIER.findall(question)[:1]]
    return ("code", codes) if codes else ("words", [])


def always_code(question):
    return ("code", [joined(code) for code in IDENTIFIER.findall(question)])


def by_alphabet(question):
    codes = [joined(code) for code in IDENTIFIER.findall(question)]
    return ("code", codes) if question.isascii() and codes else ("words", codes)


def name_only(question):
    return "code" if IDENTIFIER.search(question) else "words"


def other_names(question):
    codes = [joined(code) for code in IDENTIFIER.findall(question)]
    return ("bm25", codes) if codes else ("dense", [])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (only_hyphens, "A code is missing"),
        (any_number, "A code is missing, or|give it in the one form|No code is quoted|route goes"),
        (not_joined, "the one form that all its spellings share"),
        (first_code_only, "A code is missing"),
        (always_code, "No code is quoted"),
        (by_alphabet, "goes by whether a code is quoted"),
        (name_only, "A pair is wanted"),
        (other_names, "The routes are called"),
    ],
)
def test_a_wrong_route_is_named_by_what_it_returned(wrong, said):
    feedback = lesson.check("route", wrong)
    assert feedback.outcome == "wrong"
    assert re.search(said, repr(feedback))


def test_the_solution_of_the_route_is_right_and_takes_every_code_of_the_nine_languages():
    route = solved("route")
    assert lesson.check("route", route).outcome == "right"
    for question in nine_languages.foreign_questions():
        assert route(question.text)[0] == ("code" if question.slice == "identifier" else "words")
    assert {bool(codes) for _, codes in ROUTES} == {True, False}


def test_an_unfinished_route_is_not_attempted():
    def unfinished(question):
        codes = [____ for code in ____.findall(question)]
        return ("code", codes) if ____ else ("words", [])

    assert lesson.check("route", unfinished).outcome == "not attempted"


# --- explorers ---


@pytest.mark.parametrize(
    ("times", "length", "k1", "b"), list(product((1, 10), (20, 100, 500), (0, 12, 30), (0, 75, 100)))
)
def test_the_refresher_is_drawn_at_every_extreme(times, length, k1, b):
    shown = to_text(move1.bm25_explorer().at(times=times, length=length, k1=k1, b=b).html)
    assert "could not be shown" not in shown
    assert "comes first" in shown or "get the same" in shown


def test_length_counts_only_where_b_is_above_zero_and_times_only_where_k1_is():
    assert "A and B get the same" in draw_bm25(times=1, length=500, k1=12, b=0)
    assert "A comes first" in draw_bm25(times=1, length=500, k1=12, b=75)
    assert "A and B get the same" in draw_bm25(times=10, length=500, k1=0, b=75)


def test_three_times_the_length_needs_three_mentions_as_the_notebook_asks():
    assert "A comes first" in draw_bm25(times=2, length=300, k1=12, b=75)
    assert "B comes first" in draw_bm25(times=3, length=300, k1=12, b=75)
    assert move1.points(1, 100, 1.2, 0.75) == pytest.approx(idf(2, 100))
    assert term_score(2, 1, 8, 20, 20) / term_score(1, 1, 8, 20, 20) == pytest.approx(ACTUAL["twice"])


RULES = list(product((0, 25, 50, 100), (1, 8), ("must match", "words like any other"), ("left out", "searched")))


@pytest.mark.parametrize(("coverage", "k", "identifiers", "stop_words"), RULES)
def test_the_rules_are_drawn_at_every_extreme(coverage, k, identifiers, stop_words):
    shown = move1.rules_explorer().at(coverage=coverage, k=k, identifiers=identifiers, stop_words=stop_words).html
    assert "data-error" not in shown
    assert f"of {len(move1.asked_questions())}." in to_text(shown)


def test_the_explorer_shows_what_its_text_asks_for():
    default = draw_rules(50, 1, "must match", "left out")
    assert "Wrong answers: 0 of 12." in default
    assert "Wrong answers: 0" in draw_rules(26, 1, "must match", "left out")
    assert "Wrong answers: 2" in draw_rules(25, 1, "must match", "left out")
    assert "kb-105" in draw_rules(25, 1, "words like any other", "left out")
    assert "paraphrases  1  0  3" in to_spaced(draw_rules(25, 2, "must match", "left out"))


def to_spaced(html):
    return re.sub(r" +", "  ", to_text(html))


def test_the_explorers_draw_in_other_threads_too():
    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(lambda values: draw_rules(*values), RULES * 2))
    assert drawn == [draw_rules(*values) for values in RULES * 2]


# --- counting ---


def test_a_question_without_an_answer_is_wrong_where_anything_comes_back():
    asked = [move1.Asked("no answer", "q", ()), move1.Asked("no answer", "r", ())]
    assert move1.tally(lambda question, k: [Hit("x", 1.0)] if question == "q" else [], asked) == Tally(0, 1, 1)
    assert str(Tally(1, 2, 3)) == "1 right, 2 wrong, 3 without evidence, of 6"


def test_the_slices_table_says_n_and_interval_and_that_silence_may_be_right(strict):
    shown = repr(move1.show_slices({"BM25": strict.search}, move1.asked_questions()))
    assert "1.00 (0.51 to 1.00), n = 4" in shown
    assert "silence is right, n = 2" in shown


def test_texts_of_other_pythons_are_counted_before_they_are_encoded(tmp_path):
    assert move1.not_cached(["a", "a", "b"], tmp_path / "none.npz") == 2


def test_the_encoder_is_left_out_where_much_would_have_to_be_encoded(monkeypatch, capsys):
    monkeypatch.setattr(move1, "not_cached", lambda texts, cache_file: move1.ENCODE_AT_MOST + 1)
    move1.reference_searches.cache_clear()
    assert list(move1.reference_searches("sections")) == ["BM25"]
    assert "MiniLM is left out" in capsys.readouterr().out
    move1.reference_searches.cache_clear()


def test_no_later_cell_gives_a_result_another_value():
    source = (move1.kb.DATA.parent / "notebooks" / "source" / "move1_bm25.py").read_text(encoding="utf-8")
    for question in lesson.questions.values():
        assigned = re.findall(rf"^(?:\w+, )*{question.result}(?:, \w+)* = ", source, re.M)
        assert len(assigned) == 1, question.result
