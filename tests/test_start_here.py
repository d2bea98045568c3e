"""The opening notebook's lesson: its questions, its exercise with every wrong answer, its explorer."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.corpora import agreement
from course_lib.corpora import large_agreement as large
from course_lib.learn.blank import ____
from course_lib.learn.look import to_text
from course_lib.learn.predictions import read_answer
from course_lib.lessons import start_here
from course_lib.lessons.start_here import CASES, NAMES, draw_pipeline, judge_name_the_failure, lesson, place_of
from course_lib.retrieval import outcome
from tests.lesson_checks import every_option_that_can_be_wrong_says_why, every_wrong_answer_gets_its_reason

LATE = agreement.LATE_PAYMENT.text


@pytest.fixture(autouse=True)
def own_record(tmp_path, monkeypatch):
    from course_lib.learn.record import Record

    record = Record(tmp_path / "r.json")
    monkeypatch.setattr("course_lib.learn.lesson.open_record", lambda: record)


def solution():
    scope = {}
    exec(lesson.exercises["name_the_failure"].solution, scope)
    return scope["name_the_failure"]


def test_the_solution_is_right_and_agrees_with_the_library():
    assert lesson.check("name_the_failure", solution()).outcome == "right"
    for rank, pool, k in CASES:
        assert solution()(rank, pool, k) == outcome(rank, pool, k)


def swapped(rank, pool, k):
    return {"not retrieved": "ranked out", "ranked out": "not retrieved"}.get(right := outcome(rank, pool, k), right)


def pool_ignored(rank, pool, k):
    return "in the prompt" if rank is not None and rank <= k else "ranked out"


def cut_off_ignored(rank, pool, k):
    return "in the prompt" if rank is not None and rank <= pool else "not retrieved"


def limit_is_outside(rank, pool, k):
    if rank is None or rank >= pool:
        return "not retrieved"
    return "ranked out" if rank >= k else "in the prompt"


def cut_off_limit_is_outside(rank, pool, k):
    if rank is None or rank > pool:
        return "not retrieved"
    return "ranked out" if rank >= k else "in the prompt"


def pool_limit_is_outside(rank, pool, k):
    if rank is None or rank >= pool:
        return "not retrieved"
    return "ranked out" if rank > k else "in the prompt"


def cut_off_asked_first(rank, pool, k):
    if rank is None:
        return "not retrieved"
    if rank <= k:
        return "in the prompt"
    return "ranked out" if rank <= pool else "not retrieved"


def none_is_ranked_out(rank, pool, k):
    return "ranked out" if rank is None else outcome(rank, pool, k)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (swapped, "Ask the two questions in order"),
        (pool_ignored, "rank = 4, pool = 3, k = 3 it returned 'ranked out'"),
        (cut_off_ignored, "rank = 4, pool = 50, k = 3 it returned 'in the prompt'"),
        (limit_is_outside, "a cut-off of 3 passes the section at rank 3 on"),
        (cut_off_limit_is_outside, "a cut-off of 3 passes the section at rank 3 on"),
        (pool_limit_is_outside, "a pool of 50 has a place for the section that is ranked 50th"),
        (cut_off_asked_first, "The cut-off can only choose from what is in the pool"),
        (none_is_ranked_out, "A rank of None means"),
        (lambda rank, pool, k: "missed", "not one of the three names"),
        (lambda rank, pool, k: None, "it returned None"),
        (lambda rank, pool, k: True, "it returned True"),
        (lambda rank, pool, k: ["not retrieved"], "not one of the three names"),
    ],
)
def test_every_wrong_answer_is_told_what_it_returned_and_what_to_ask(wrong, said):
    feedback = lesson.check("name_the_failure", wrong)
    assert feedback.outcome == "wrong"
    assert said in repr(feedback)


def test_forgetting_none_is_an_error_that_names_the_comparison():
    def forgot(rank, pool, k):
        if rank > pool:
            return "not retrieved"
        return "ranked out" if rank > k else "in the prompt"

    feedback = lesson.check("name_the_failure", forgot)
    assert feedback.outcome == "error"
    assert "NoneType" in repr(feedback)


def test_the_exercise_as_it_ships_is_not_attempted():
    def as_shipped(rank, pool, k):
        if ____:
            return "not retrieved"
        if ____:
            return "ranked out"
        return "in the prompt"

    assert lesson.check("name_the_failure", as_shipped).outcome == "not attempted"


def test_one_blank_left_is_not_attempted_either():
    def half(rank, pool, k):
        if rank is None or rank > pool:
            return "not retrieved"
        if ____:
            return "ranked out"
        return "in the prompt"

    assert lesson.check("name_the_failure", half).outcome == "not attempted"


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda s: st.lists(s, max_size=2)))
def test_no_returned_value_of_any_kind_breaks_the_judge(value):
    assert judge_name_the_failure(lambda rank, pool, k: value)


def test_no_message_of_the_judge_gives_the_answer_away():
    for wrong in (swapped, pool_ignored, cut_off_ignored, limit_is_outside, none_is_ranked_out):
        said = judge_name_the_failure(wrong)
        rank, pool, k = next(case for case in CASES if wrong(*case) != outcome(*case))
        assert outcome(rank, pool, k) not in said.replace(repr(wrong(rank, pool, k)), "")


@pytest.mark.parametrize(
    ("rank", "place"),
    [
        (1, "1st"),
        (2, "2nd or 3rd"),
        (3, "2nd or 3rd"),
        (4, "4th to 6th"),
        (6, "4th to 6th"),
        (7, "7th or lower"),
        (None, "7th or lower"),
    ],
)
def test_a_rank_falls_into_one_of_the_places(rank, place):
    assert place_of(rank) == place
    assert read_answer(start_here.SCHEDULE_B, place)[0] == (place,)


# What the notebook's cells compute; nbval compares the cells themselves.
ACTUAL = {
    "nearer": [0.427, 0.278],
    "top3": ["7.1", "7.3", "7.2"],
    "schedule_b": 4,
    "pool50": "ranked out",
    "bm25": ["7.3", "7.2", "3", "7.1", "8", "9.2", "9.1", "4", "6"],
    "vectorless": ["BM25", "SQL", "contents", "grep", "long context"],
    "at_ten": 16,
    "followed": 52,
}


@pytest.mark.parametrize("question", lesson.questions.values(), ids=lesson.questions)
def test_every_option_that_can_be_wrong_says_why_it_is_tempting(question):
    every_option_that_can_be_wrong_says_why(question, ACTUAL[question.key])


@pytest.mark.parametrize("question", lesson.questions.values(), ids=lesson.questions)
def test_every_wrong_answer_to_every_question_gets_its_reason(question):
    every_wrong_answer_gets_its_reason(lesson, question, ACTUAL[question.key])


@pytest.mark.parametrize(
    ("ids", "place"),
    [
        (["B", "7.3"], "B first"),
        (["7.3", "B"], "B in the first six"),
        ([*"1234567", "B"], "B last"),
        (["7.3"], "B never"),
    ],
)
def test_a_ranking_falls_into_one_of_the_places_of_bm25(ids, place):
    assert start_here.bm25_place(ids) == place


def test_the_vectorless_systems_are_those_whose_index_no_model_computed():
    assert [s.name for s in start_here.SYSTEMS if not s.computed] == ACTUAL["vectorless"]


def references(pattern):
    return lambda text: re.findall(pattern, text)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (references(r"Schedule ([A-Z])\b"), "Section as well as to a Schedule"),
        (references(r"(Section|Schedule) (\S+)"), "gives a tuple"),
        (references(r"(?:Section|Schedule) (\S+)"), "full stop or a comma"),
        (references(r"(?:Section|Schedule) (?:\d+(?:\.\d+)?|[A-Z])\b"), "Only the id is wanted"),
        (references(r"(?:Section|Schedule) (\d+|[A-Z])\b"), "one number or two"),
        (references(r"\b(\d+(?:\.\d+)?|[A-Z])\b"), "Not every capital letter"),
        (lambda text: "B", "A list of ids is wanted"),
        (lambda text: None, "A list of ids is wanted"),
        (lambda text: re.search(r"Schedule ([A-Z])", text), "A list of ids is wanted"),
        (lambda text: [], "Section as well as to a Schedule"),
    ],
)
def test_every_wrong_way_to_read_references_is_told_what_to_look_at(wrong, said):
    feedback = lesson.check("references", wrong)
    assert feedback.outcome == "wrong"
    assert said in repr(feedback)


def test_the_solution_reads_every_reference_of_the_agreement():
    scope = {}
    exec(lesson.exercises["references"].solution, scope)
    assert lesson.check("references", scope["references"]).outcome == "right"
    found = {section.id: scope["references"](section.text) for section in agreement.sections()}
    assert {key: ids for key, ids in found.items() if ids} == {"1": ["7", "2"], "3": ["A"], "7.3": ["B"]}


@pytest.mark.parametrize("function", [lambda text: 1 / 0, lambda: []])
def test_a_broken_reference_reader_is_an_error(function):
    assert lesson.check("references", function).outcome == "error"


def test_the_reference_exercise_as_it_ships_is_not_attempted():
    assert lesson.check("references", lambda text: re.findall(____, text)).outcome == "not attempted"
    assert lesson.check("references", lambda text: ____).outcome == "not attempted"


@pytest.fixture(scope="module")
def rankings():
    size, hops = len(large.large_agreement()), large.one_hop_questions()
    return {
        name: [[hit.id for hit in start_here.large_retriever(name)(hop.text, size)] for hop in hops]
        for name in ("dense", "BM25")
    }


TARGETS = [hop.target for hop in large.one_hop_questions()]


def test_in_the_large_agreement_the_targets_lie_deep_and_the_pointers_on_top(rankings):
    found = sum(target in ids[:10] for ids, target in zip(rankings["dense"], TARGETS, strict=True))
    assert found == ACTUAL["at_ten"]
    never = sum(target not in ids for ids, target in zip(rankings["BM25"], TARGETS, strict=True))
    assert never == 10
    for ids in rankings.values():
        pointers = [hop.pointer in ranking[:3] for hop, ranking in zip(large.one_hop_questions(), ids, strict=True)]
        assert sum(pointers) >= 51


def test_following_the_references_of_three_sections_brings_every_target(rankings):
    text_of = {section.id: section.text for section in large.large_agreement()}
    for ids, target in zip(rankings["dense"], TARGETS, strict=True):
        assert target in ids[:3] or any(target in start_here.references(text_of[id]) for id in ids[:3])


def test_the_bands_count_every_question_once(rankings):
    rows = to_text(start_here.where_targets_land(rankings, TARGETS)._repr_html_()).splitlines()
    assert rows[0] == "Rank of the target dense BM25"
    assert rows[-1] == "never returned 0 10"
    for column in (-2, -1):
        assert sum(int(row.split()[column]) for row in rows[1:]) == len(TARGETS)


def test_the_curve_says_its_numbers_in_words_and_rises(rankings):
    shown = repr(start_here.hit_rate_chart(rankings, TARGETS))
    assert "dense: 0.04 at 3, 0.31 at 10, 0.83 at 100." in shown
    assert "412 1.00 (0.93 to 1.00) 0.81 (0.68 to 0.89)" in shown


@pytest.mark.parametrize("retriever", ["dense", "BM25"])
@pytest.mark.parametrize("hop", large.one_hop_questions(), ids=lambda hop: hop.text)
def test_every_question_of_the_large_agreement_can_be_explored(hop, retriever):
    shown = to_text(start_here.draw_hop(hop.text, retriever, 20))
    assert f"The pointer, {hop.pointer}, is at rank" in shown
    assert f"The target, {hop.target}, is " in shown


def test_the_explorer_of_hops_counts_what_reaches_the_cut_off():
    hop = large.one_hop_questions()[0]
    assert "○ The target, H, is at rank 17 of 412." in to_text(start_here.draw_hop(hop.text, "dense", 16))
    assert "● The target, H, is at rank 17 of 412." in to_text(start_here.draw_hop(hop.text, "dense", 17))
    assert to_text(start_here.draw_hop(hop.text, "dense", 17)).count("★") == 2


def test_a_hop_shows_both_texts():
    hop = large.one_hop_questions()[0]
    shown = repr(start_here.read_hop(hop))
    assert f"set out in Schedule {hop.target}" in shown
    assert hop.answer in shown


@pytest.mark.parametrize(
    ("found", "option"),
    [(52, "47 or more"), (46, "30 to 46"), (29, "12 to 29"), (11, "fewer than 12"), (0, "fewer than 12")],
)
def test_a_count_falls_into_one_of_the_options(found, option):
    assert start_here.FOUND_AT_TEN.right(found) == [option]


@pytest.mark.parametrize(("found", "option"), [(49, "49 or more"), (48, "26 to 48"), (25, "fewer than 26")])
def test_a_count_after_following_falls_into_one_of_the_options(found, option):
    assert start_here.FOLLOWED.right(found) == [option]


def test_bm25_in_the_explorer_never_returns_schedule_b():
    shown = to_text(draw_pipeline(LATE, "", k=14, pool=50, retriever="BM25"))
    assert "Schedule B was never returned: not retrieved." in shown
    assert "Section 7.3 is at rank 1: in the prompt." in shown


def test_stemming_in_the_explorer_returns_it_last():
    assert "Schedule B is at rank 10" in to_text(draw_pipeline(LATE, "", k=3, pool=50, retriever="BM25 with stemming"))


def test_a_question_without_a_shared_word_is_no_evidence_in_the_explorer():
    assert "no evidence" in to_text(draw_pipeline(LATE, "Wie hoch sind die Zinsen?", k=3, pool=50, retriever="BM25"))


def test_the_explorer_draws_in_another_thread_than_the_one_that_made_the_index():
    """JupyterLab runs a widget's callbacks in a thread of their own."""
    draw_pipeline(LATE, "", k=3, pool=3, retriever="BM25")
    with ThreadPoolExecutor(4) as threads:
        drawn = list(threads.map(lambda k: draw_pipeline(LATE, "", k=k, pool=14, retriever="BM25"), range(1, 15)))
    assert all("never returned" in html for html in drawn)


def test_other_wordings_of_the_question_move_schedule_b_in_and_out():
    ids = [
        [hit.id for hit in start_here.agreement_retriever("dense (MiniLM)")(text, 14)] for text in agreement.REWORDINGS
    ]
    assert [start_here.rank_of(ranking, "B") for ranking in ids] == [5, 3, 3, 4]


def test_the_explorer_with_bm25_starts_with_bm25():
    assert "was never returned" in repr(start_here.pipeline_explorer(with_bm25=True))


def test_the_map_links_the_notebooks_that_are_there_and_no_others(tmp_path):
    (tmp_path / "move1_bm25.ipynb").touch()
    html = start_here.map_of_moves(tmp_path)._repr_html_()
    assert html.count("<a href") == 1
    assert '<a href="move1_bm25.ipynb">' in html
    assert html.count("(in preparation)") == 5


def test_the_analysts_question_shows_the_miss_by_name():
    shown = to_text(draw_pipeline(LATE, "", k=3, pool=3))
    assert "Section 7.3 is at rank 2: in the prompt." in shown
    assert "Schedule B is at rank 4: not retrieved." in shown


def test_a_larger_pool_turns_it_into_ranked_out_and_k_of_four_finds_it():
    assert "Schedule B is at rank 4: ranked out." in to_text(draw_pipeline(LATE, "", k=3, pool=50))
    assert "Schedule B is at rank 4: in the prompt." in to_text(draw_pipeline(LATE, "", k=4, pool=50))


def test_gold_is_marked_in_the_table():
    rows = to_text(draw_pipeline(LATE, "", k=3, pool=3)).splitlines()
    assert [row for row in rows if "★ needed" in row] == [
        "2 0.4658 7.3 Late payment ★ needed ● in the prompt",
        "4 0.3597 Schedule B: Rates and charges ★ needed ○ not retrieved",
    ]


@pytest.mark.parametrize("question", agreement.QUESTIONS, ids=lambda q: q.text)
def test_every_labelled_question_names_its_needed_sections(question):
    shown = to_text(draw_pipeline(question.text, "", k=3, pool=14))
    assert shown.count("★ needed") == len(question.gold)
    ids = {section.id for section in agreement.sections()}
    assert set(question.gold) <= ids


def test_a_question_of_the_learners_own_is_encoded_offline_and_has_no_label():
    shown = to_text(draw_pipeline(LATE, "Who owns the customer data?", k=3, pool=3))
    assert "no failure can be named" in shown
    assert shown.splitlines()[2].startswith("1 ")
    assert "4 Customer data" in shown.splitlines()[2]


def test_a_labelled_question_that_is_typed_keeps_its_label():
    assert "Schedule B is at rank 4" in to_text(draw_pipeline(agreement.QUESTIONS[1].text, f" {LATE} ", k=3, pool=3))


@pytest.mark.parametrize(
    "own", ["<img src=x onerror=alert(1)>", "$x$", "\x00", "\ud800", "😀", "w" * 100_000, "   ", "利息"]
)
def test_any_typed_question_gives_a_picture(own):
    picture = draw_pipeline(LATE, own, k=3, pool=3)
    assert "<img" not in picture
    assert picture.count("<tr>") == 15


def test_the_names_of_the_exercise_are_the_librarys():
    assert set(NAMES) == {outcome(r, p, k) for r, p, k in CASES}


def test_the_explorer_starts_where_the_story_does():
    assert "Schedule B is at rank 4: not retrieved." in repr(start_here.pipeline_explorer())


def test_the_agreement_has_its_fourteen_sections_in_order():
    ids = [section.id for section in agreement.sections()]
    assert ids == ["1", "2", "3", "4", "5", "6", "7.1", "7.2", "7.3", "8", "9.1", "9.2", "A", "B"]
    options = [option.label for option in start_here.TOP_THREE.options]
    assert options == [f"{section.id} {section.title}" for section in agreement.sections()]
