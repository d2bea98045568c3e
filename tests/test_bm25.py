import math
import sqlite3
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.bm25 import (
    ANY_WORD,
    BM25Index,
    Index,
    Rules,
    any_word,
    idf,
    joined,
    joined_copies,
    lesson_rules,
    numbered,
    phrase,
    read,
    term_score,
    words,
)
from course_lib.corpora import agreement, support_kb
from course_lib.retrieval import Hit

CHUNKS = {section.id: section.chunk for section in agreement.sections()}
QUESTION = agreement.LATE_PAYMENT.text
LESSON = lesson_rules(support_kb.stop_words())
OPEN_LESSON = replace(LESSON, identifiers="off", min_coverage=0)  # content words ORed, nothing demanded

QUERY_SYNTAX = [
    "What does ERR-2041 mean?",
    'a "b" c',
    "what's * ^ : ( new",
    "pay AND OR NOT NEAR(late)",
    "NEAR",
    "-",
    "late\x00payment",
    "title:late",
    "late*",
    "{title body}: late",
    "NEAR(late payment, 2)",
    "O'Brien; DROP TABLE texts --",
]


def ids(index, question, k=3, rules=None):
    return [hit.id for hit in index.search(question, k, rules)]


def scored(index, question, rules, k=3):
    """Ids and scores as SQLite gives them: negative, lower is better."""
    return [(hit.id, round(-hit.score, 3)) for hit in index.search(question, k, rules)]


@pytest.fixture
def lesson():
    """The support articles as the lesson indexes them: words only."""
    return Index(support_kb.documents(), copies=False, rules=LESSON)


@pytest.fixture
def kb():
    return Index(support_kb.documents())


# --- The opening's small form ---


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


@pytest.mark.parametrize("question", QUERY_SYNTAX)
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


# --- B1: raw text fails, quoted text does not ---


def test_raw_text_as_a_query_fails_in_three_ways():
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE kb USING fts5(doc_id UNINDEXED, title, body)")
    db.executemany("INSERT INTO kb VALUES (?, ?, ?)", support_kb.documents())
    raw = "SELECT doc_id FROM kb WHERE kb MATCH ?"
    with pytest.raises(sqlite3.OperationalError, match="no such column: 4471"):
        db.execute(raw, ["What does E-4471 mean?"])
    with pytest.raises(sqlite3.OperationalError, match=r'syntax error near "\?"'):
        db.execute(raw, ["How do I update the firmware?"])
    assert db.execute(raw, ["how do I update the firmware"]).fetchall() == []
    assert db.execute(raw, [any_word("How do I update the firmware?")]).fetchall()


def matches(document, query):
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(body)")
    db.execute("INSERT INTO t VALUES (?)", [document])
    return bool(db.execute("SELECT 1 FROM t WHERE t MATCH ?", [query]).fetchall())


def test_a_quote_that_is_not_doubled_ends_the_string():
    with pytest.raises(sqlite3.OperationalError):
        matches('a 19" rack', '"19" rack"')
    assert matches('a 19" rack', phrase('19" rack'))
    assert not matches('a rack of 19"', phrase('19" rack'))


def test_a_quote_that_is_not_doubled_lets_a_user_write_the_query():
    typed = 'nothing" OR "rack'
    assert matches("a rack", f'"{typed}"')
    assert not matches("a rack", phrase(typed))


@given(st.text())
def test_any_text_is_one_valid_phrase_and_finds_itself(text):
    assert matches(f"word {text}".encode("utf-8", "replace").decode().replace("\0", " "), phrase(f"word {text}"))


def test_letters_beyond_ascii_keep_their_word_together():
    assert words("İstanbul Straße re\u0301sume\u0301") == ["i\u0307stanbul", "straße", "résumé"]
    index = Index([("a", "", "İstanbul"), ("b", "", "résumé"), ("c", "", "tiếng Việt")])
    assert [ids(index, question) for question in ("istanbul", "RE\u0301SUME", "Tieng Viet")] == [["a"], ["b"], ["c"]]


# --- B2, B3: the lesson's strict search ---

B2 = [
    [("kb-102", -1.43)],
    [],
    [],
    [],
    [("kb-108", -4.883), ("kb-103", -1.052)],
]


@pytest.mark.parametrize(("question", "expected"), list(zip(support_kb.STRICT_SEARCH, B2, strict=True)))
def test_the_strict_search_gives_the_published_figures(lesson, question, expected):
    assert scored(lesson, question, LESSON) == expected


def test_without_the_demands_the_wrong_articles_come_first(lesson):
    code, _, _, bluetooth, _ = support_kb.STRICT_SEARCH
    assert scored(lesson, code, OPEN_LESSON)[:2] == [("kb-105", -2.176), ("kb-102", -1.832)]
    assert scored(lesson, bluetooth, OPEN_LESSON)[0] == ("kb-103", -1.772)
    assert scored(lesson, bluetooth, ANY_WORD)[0] == ("kb-105", -2.502)


def test_a_note_says_why_there_is_no_evidence(lesson):
    _, unknown, paraphrase, bluetooth, _ = support_kb.STRICT_SEARCH
    assert lesson.find(unknown).note == "No document contains E-9999."
    assert lesson.find(paraphrase).note == "No document contains screen, stays, black, turn."
    found = lesson.find(bluetooth)
    assert found.coverage == 0.25
    assert "kb-103, holds 1 of the question's 4 content words: 0.25, and 0.50 is demanded" in found.note


def test_an_identifier_that_no_article_contains_is_no_evidence(kb):
    assert ids(kb, "What does E-9999 mean?") == []


# --- B3b: where the strict search is too strict, and what the defaults make of it ---


def before_and_after(question):
    documents = support_kb.documents()
    return ids(Index(documents, copies=False), question, rules=LESSON), ids(Index(documents), question)


def test_two_codes_to_compare_need_not_stand_in_one_article():
    assert before_and_after("difference between E-104 and E-4471?") == ([], ["kb-101", "kb-102"])


def test_an_article_with_both_codes_comes_first():
    index = Index([("one", "", "E-104"), ("two", "", "E-4471"), ("both", "", "E-104 or E-4471")])
    assert ids(index, "E-104 or E-4471?")[0] == "both"


def test_a_code_without_its_hyphen_is_found():
    assert before_and_after("E4471") == ([], ["kb-102"])


@pytest.mark.parametrize(
    "question",
    [
        "Could you please tell me how I should update the firmware?",
        "Hi, I would like to know how one might update the firmware, thanks",
        "Excuse me, would you mind explaining how we should update our firmware?",
    ],
)
def test_polite_words_do_not_sink_the_coverage(question):
    before, after = before_and_after(question)
    assert before == []
    assert after[0] == "kb-105"


def test_code_65_counts_as_an_identifier():
    assert before_and_after("customer card declined with code 65") == (["kb-106", "kb-101"], ["kb-106"])
    assert before_and_after("customer card declined with code 99") == (["kb-106", "kb-101"], [])


def test_the_defaults_still_abstain_where_the_strict_search_was_right(kb):
    _, unknown, paraphrase, bluetooth, _ = support_kb.STRICT_SEARCH
    assert [ids(kb, question) for question in (unknown, paraphrase, bluetooth)] == [[], [], []]


def test_a_code_that_is_missing_beside_one_that_is_there_is_said(kb):
    found = kb.find("E-9999 or E-104?")
    assert [hit.id for hit in found.hits] == ["kb-101"]
    assert found.note == "No document contains E-9999."


# --- B6: one code, several spellings ---

SPELLINGS = ("E-4471", "e 4471", "E4471", "E\u20114471", "E_4471")


def test_the_phrase_finds_e_4471_but_not_e4471():
    assert matches("error e 4471", phrase("E-4471"))
    assert not matches("error E4471", phrase("E-4471"))


@pytest.mark.parametrize("asked", SPELLINGS)
def test_every_spelling_finds_every_spelling(asked):
    index = Index(
        [(spelling, "", f"Error {spelling} on the screen") for spelling in SPELLINGS] + [("no", "", "E-4417")]
    )
    assert set(ids(index, f"What does {asked} mean?", k=9)) == set(SPELLINGS)


def test_spellings_share_one_joined_form():
    assert {joined(spelling) for spelling in SPELLINGS} == {"e4471"}


def test_a_count_with_a_unit_is_no_identifier():
    assert joined_copies("hold for 15 seconds, use 57 mm") == ""
    index = Index([("a", "", "hold the power key for 15 seconds"), ("b", "", "hold the reset key")])
    assert ids(index, "hold reset key for 20 seconds") == ["b", "a"]
    assert numbered("I saw the error 15 times") == []
    assert numbered("error 4471 and code 65") == [
        ("error 4471", 'NEAR("error" "4471", 2)'),
        ("code 65", 'NEAR("code" "65", 2)'),
    ]


def test_error_4471_meets_error_e_4471(kb):
    assert ids(kb, "what is error 4471") == ["kb-102"]


def test_a_code_inside_unspaced_text_is_found():
    index = Index([("zh", "", "打印机显示错误E-4471请更新"), ("ja", "", "エラーE4471が出た"), ("no", "", "错误E-4417")])
    assert set(ids(index, "E-4471是什么意思")) == {"zh", "ja"}


# --- B7: statistics move, and coverage with them ---


def test_coverage_falls_from_three_quarters_to_one_when_documents_are_added():
    question = "printer cover jams overnight"
    index = Index(
        [("right", "", "printer cover jams"), ("wrong", "", "overnight"), ("other", "", "a b c")], rules=LESSON
    )
    before = index.find(question)
    assert (before.hits[0].id, before.coverage) == ("right", 0.75)
    for number in range(40):  # forum posts that make three of the four words common
        index.upsert(f"post-{number}", "", "printer cover jams again, and again, and once more, said the customer")
    after = index.find(question)
    assert (after.hits, after.coverage) == ((), 0.25)


def test_adding_documents_moves_every_raw_score(kb):
    before = kb.search("firmware", k=1)[0].score
    kb.upsert("new", "Something else", "entirely")
    assert kb.search("firmware", k=1)[0].score != before


def test_a_question_in_another_language_is_no_evidence(kb):
    assert ids(kb, support_kb.GERMAN) == []


# --- Any text, any corpus ---

ANY = st.text(st.characters(), max_size=60)


@settings(deadline=None)
@given(text=ANY, document=ANY, tokenizer=st.sampled_from(["unicode61", "porter", "trigram"]))
def test_no_question_and_no_document_raises_and_an_empty_result_says_why(text, document, tokenizer):
    index = Index([("odd", document, document), ("plain", "late", "payment")], tokenizer=tokenizer)
    for rules in (Rules(), LESSON, ANY_WORD):
        found = index.find(text, rules=rules)
        assert found.hits or found.note
        index.explain(text, "odd", rules)
    found = index.find(f"{text} payment", rules=ANY_WORD)
    assert "plain" in [hit.id for hit in found.hits]


@pytest.mark.parametrize("question", QUERY_SYNTAX)
@pytest.mark.parametrize("tokenizer", ["unicode61", "porter", "trigram"])
def test_query_syntax_is_words_in_every_form(question, tokenizer):
    index = Index([("a", "Late", f"payment near {question}")], tokenizer=tokenizer)
    found = index.find(question, rules=ANY_WORD)
    assert found.hits or "no word" in found.note


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("", "no word"),
        (" \n", "no word"),
        ("?!", "no word"),
        ("😀", "no word"),
        ("\x00", "no word"),
        ("\ud800", "no word"),
        ("What is it?", "only words that are left out"),
        ("NOT AND", "only words that are left out"),
    ],
)
def test_nothing_to_search_for_is_no_evidence(kb, question, note):
    found = kb.find(question)
    assert found.hits == ()
    assert note in found.note


@pytest.mark.parametrize("documents", [[], [("a", "", "")], [("a", "", ""), ("b", " ", "😀")]])
def test_nothing_to_search_in_is_no_evidence(documents):
    index = Index(documents)
    assert index.find("late payment").note == "No document contains late, payment."


@pytest.mark.parametrize("tokenizer", ["unicode61", "porter", "trigram"])
@pytest.mark.parametrize("part", ["late payment ", "E-4471 ", "code 65 ", "E 45 ", '"', "打印机", "😀"])
def test_a_question_of_100_000_characters_is_read(part, tokenizer):
    index = Index([("a", "Late payment", "E-4471")], tokenizer=tokenizer)
    found = index.find((part * 100_000)[:100_000])
    assert found.hits or found.note


def test_a_cut_off_above_the_corpus_returns_what_matches(kb):
    assert ids(kb, "firmware update", k=1000, rules=ANY_WORD) == ["kb-105", "kb-102"]
    with pytest.raises(ValueError, match="counted from 1"):
        kb.search("firmware", k=0)


def test_one_document_and_a_word_in_half_of_them_keep_a_score_that_is_not_negative():
    assert Index([("a", "", "late")]).search("late")[0].score > 0
    assert Index([("a", "", "late"), ("b", "", "early")]).search("late")[0].score > 0


# --- Text without spaces ---


@pytest.mark.parametrize("question", ["打印机卡纸怎么办", "プリンターが動かない"])
def test_unspaced_text_is_not_found_and_the_note_offers_trigram_with_its_limit(kb, question):
    note = kb.find(question).note
    assert 'tokenizer="trigram"' in note
    assert "no word of two" in note


def test_trigram_finds_parts_of_unspaced_text_but_no_word_of_two_characters():
    index = Index([("jam", "", "打印机卡纸时请打开盖子"), ("other", "", "屏幕没有显示")], tokenizer="trigram")
    assert ids(index, "打印机卡纸怎么办") == ["jam"]
    assert "nothing shorter" in index.find("卡纸").note


def test_trigram_takes_a_shorter_code_for_a_longer_one():
    documents = [("a", "", "Error E-4471")]
    assert ids(Index(documents, tokenizer="trigram"), "E-447") == ["a"]
    assert ids(Index(documents), "E-447") == []


# --- Options ---


def test_stemming_joins_word_forms_in_search_and_coverage():
    documents = [("a", "", "installing updates")]
    assert ids(Index(documents), "install update") == []
    found = Index(documents, tokenizer="porter").find("install update")
    assert found.coverage == 1
    assert [hit.id for hit in found.hits] == ["a"]


def test_synonyms_work_at_search_time_and_count_as_covered(kb):
    question = "The screen stays black when I turn it on"
    synonyms = {"screen": ["display"], "black": ["blank"], "turn it on": ["power on"]}
    assert ids(kb, question) == []
    assert ids(kb, question, rules=Rules(synonyms=synonyms)) == ["kb-104"]
    assert ids(kb, question) == []


def test_the_longest_synonym_key_is_taken_and_may_hold_stop_words():
    rules = Rules(synonyms={"tap": ["touch"], "tap to pay": ["contactless"]})
    terms = read("Tap to pay stopped", rules).terms
    assert [term.forms for term in terms] == [('"tap to pay"', '"contactless"'), ('"stopped"',)]


def test_a_title_can_weigh_more_than_a_text():
    index = Index([("title", "toner", "x y z"), ("body", "x", "toner toner y z"), ("none", "x", "y")])
    assert ids(index, "toner") == ["body", "title"]
    assert ids(index, "toner", rules=Rules(title_weight=5)) == ["title", "body"]


def test_repeats_count_in_a_paragraph_and_not_in_a_sentence():
    assert Counter(term.text for term in read("paper paper jam", Rules()).terms)["paper"] == 1
    long = "paper " * 2 + " ".join(f"word{chr(97 + n)}" for n in range(26)) + " jam today"
    assert Counter(term.text for term in read(long, Rules()).terms)["paper"] == 2


def test_a_repeated_word_is_covered_once():
    index = Index([("a", "", "paper"), ("b", "", "toner")])
    assert index.find("paper paper paper jam", rules=Rules(repeats_from=0)).coverage == 0.5


def test_a_text_where_a_list_belongs_is_refused_in_a_sentence():
    for wrong in ({"synonyms": {"screen": "display"}}, {"stop_words": "the"}):
        with pytest.raises(ValueError, match="A text is no list"):
            Rules(**wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"title_weight": math.inf},
        {"min_coverage": 1.1},
        {"min_coverage": math.nan},
        {"title_weight": -1},
        {"identifiers": "some"},
    ],
)
def test_rules_that_cannot_be_are_refused_in_a_sentence(wrong):
    with pytest.raises(ValueError, match=" is "):
        Rules(**wrong)


# --- Change, close, open ---


def test_a_document_is_replaced_in_its_place_and_removed(kb):
    kb.upsert("kb-102", "Error E-5555", "New text")
    assert ids(kb, "E-4471") == []
    assert ids(kb, "E5555") == ["kb-102"]
    assert len(kb) == 8
    kb.delete("kb-102")
    assert ids(kb, "E5555") == []
    assert len(kb) == 7
    with pytest.raises(ValueError, match="no document 'kb-102'"):
        kb.delete("kb-102")


def test_a_changed_index_ranks_as_one_made_anew(kb):
    kb.upsert("x", "Printer offline", "Check the cable of the printer.")
    kb.upsert("kb-101", "Error E-104", "Other words")
    kb.delete("kb-103")
    documents = [("kb-101", "Error E-104", "Other words"), *support_kb.documents()[1:]]
    fresh = Index(
        [d for d in documents if d[0] != "kb-103"] + [("x", "Printer offline", "Check the cable of the printer.")]
    )
    for question in ("printer cable", "E-104", "firmware update", "thermal paper"):
        assert kb.search(question, 9, ANY_WORD) == pytest.approx(fresh.search(question, 9, ANY_WORD))


def test_an_index_in_a_file_is_opened_again_with_its_settings(tmp_path):
    path = tmp_path / "Ordner ü" / "kb index.db"
    path.parent.mkdir()
    made = Index(support_kb.documents(), path, tokenizer="porter")
    expected = made.search("installed firmwares")
    made.upsert("new", "Toner", "E-7777")
    made.close()
    opened = Index.open(path)
    assert (opened.tokenizer, opened.copies, len(opened)) == ("porter", True, 9)
    assert ids(opened, "E7777") == ["new"]
    opened.delete("new")
    assert opened.search("installed firmwares") == expected
    opened.close()


def test_a_file_is_not_overwritten_and_not_left_behind_half_made(tmp_path):
    path = tmp_path / "kb.db"
    with pytest.raises(ValueError, match="'a' occurs twice"):
        Index([("a", "", "x"), ("b", "", "x"), ("a", "", "y")], path)
    assert not path.exists()
    Index([], path).close()
    with pytest.raises(FileExistsError, match=r"Index\.open"):
        Index([], path)


def test_a_folder_that_is_not_there_is_said_in_a_sentence(tmp_path):
    with pytest.raises(ValueError, match="out of reach"):
        Index([], tmp_path / "nowhere" / "kb.db")


def test_what_is_no_index_is_refused_in_a_sentence(tmp_path):
    with pytest.raises(FileNotFoundError, match="no index at"):
        Index.open(tmp_path / "nowhere.db")
    text = tmp_path / "text.db"
    text.write_text("late payment " * 100, encoding="utf-8")
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE texts (id)")
    db.close()
    empty = tmp_path / "empty.db"
    empty.touch()
    for path in (text, other, empty):
        with pytest.raises(ValueError, match="no index"):
            Index.open(path)


def said_of(path):
    """What opening an index and using it says: a sentence, or "" where it answers."""
    try:
        with closing(Index.open(path)) as index:
            index.explain("late payment E-1007", "d7")
            index.upsert("new", "title", "text")
            index.search("late payment E-1007")
    except ValueError as error:
        return str(error)
    return ""


def test_an_index_cut_in_half_is_refused_in_a_sentence(tmp_path):
    path = damageable(tmp_path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert "make it again with Index(documents, path)" in said_of(path)


def test_a_damaged_index_answers_or_says_so_in_a_sentence(tmp_path):
    path = damageable(tmp_path)
    whole = path.read_bytes()
    said = []
    for at in range(100, len(whole), len(whole) // 60):
        path.write_bytes(whole[:at] + b"\xff" * 64 + whole[at + 64 :])
        said.append(said_of(path))
    assert all(sentence == "" or "make it" in sentence or "no document" in sentence for sentence in said)
    assert sum("make it again" in sentence for sentence in said) > 10


def damageable(folder):
    path = folder / "kb.db"
    Index([(f"d{n}", "title", f"late payment number {n} E-{1000 + n}") for n in range(200)], path).close()
    return path


@pytest.mark.parametrize(
    "document", [("a", None, "x"), (1, "", "x"), ("a\x00", "", "x"), ("\ud800", "", "x"), "abc", ("a", "b")]
)
def test_a_document_that_is_no_text_is_refused_in_a_sentence(document):
    with pytest.raises(ValueError, match=r"document|id"):
        Index([document])


def test_an_unknown_tokenizer_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="unicode61, porter, trigram"):
        Index([], tokenizer="porter'); --")


def test_every_thread_may_search_and_change_the_index(kb):
    def work(number):
        kb.upsert(f"t{number}", "", f"toner E-{1000 + number}")
        return ids(kb, f"E{1000 + number}")

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(work, range(40))) == [[f"t{number}"] for number in range(40)]
    assert len(kb) == 48


def test_a_closed_index_says_that_it_is_closed(kb):
    kb.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        kb.search("paper")


# --- Explain ---


@pytest.mark.parametrize("tokenizer", ["unicode61", "porter", "trigram"])
@pytest.mark.parametrize("rules", [Rules(), LESSON, ANY_WORD, Rules(title_weight=3, body_weight=0.5, min_coverage=0)])
def test_contributions_add_up_to_the_score(tokenizer, rules):
    index = Index(support_kb.documents(), tokenizer=tokenizer)
    questions = [q.text for q in support_kb.labelled_questions()] + [*support_kb.STRICT_SEARCH, *support_kb.TOO_STRICT]
    explained = 0
    for question in questions:
        for hit in index.search(question, 9, rules):
            parts = index.explain(question, hit, rules)
            assert sum(part.score for part in parts) == pytest.approx(hit.score, rel=1e-9, abs=1e-12)
            explained += 1
    assert explained > 5


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.text("abc ", min_size=1), min_size=1, max_size=8),
    st.text("abc ", max_size=90),
    st.floats(0, 9),
    st.floats(0, 9),
)
def test_contributions_add_up_on_any_corpus(bodies, question, title_weight, body_weight):
    index = Index([(str(n), body[:3], body) for n, body in enumerate(bodies)])
    rules = replace(ANY_WORD, repeats_from=0, title_weight=title_weight, body_weight=body_weight)
    for hit in index.search(question, 9, rules):
        assert sum(p.score for p in index.explain(question, hit.id, rules)) == pytest.approx(
            hit.score, rel=1e-9, abs=1e-12
        )


def test_a_word_that_counts_twice_contributes_twice(kb):
    rules = replace(ANY_WORD, repeats_from=0)
    (hit,) = kb.search("thermal thermal", 1, rules)
    (part,) = kb.explain("thermal thermal", hit, rules)
    assert (part.times, part.score) == (2, pytest.approx(hit.score))
    assert hit.score == pytest.approx(2 * kb.search("thermal", 1, rules)[0].score)


def test_a_contribution_is_the_formula_over_the_documents_own_counts():
    """Counted in Python from the texts, with nothing taken from SQLite."""
    documents = [(a.id, words(a.title), words(a.body)) for a in support_kb.articles()]
    average = sum(len(title) + len(body) for _, title, body in documents) / len(documents)
    index = Index(support_kb.documents(), copies=False)
    rules = replace(ANY_WORD, title_weight=3.0)
    for id, title, body in documents:
        for part in index.explain("firmware update from USB error paper the", id, rules):
            n = sum(part.phrase in t + b for _, t, b in documents)
            frequency = 3 * title.count(part.phrase) + body.count(part.phrase)
            expected = term_score(frequency, n, len(documents), len(title) + len(body), average)
            assert (part.documents, part.score) == (n, pytest.approx(expected, rel=1e-9))
            assert part.idf == idf(n, len(documents))


def test_an_explanation_says_what_is_missing_too(kb):
    parts = {part.phrase: part for part in kb.explain("Which thermal paper rolls fit?", Hit("kb-108", 0))}
    assert parts["thermal"].score > parts["paper"].score > 0
    assert (parts["fit"].score, parts["fit"].documents) == (0, 0)
    with pytest.raises(ValueError, match="no document 'kb-999'"):
        kb.explain("paper", "kb-999")


def test_counts_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="9 of 8"):
        idf(9, 8)
