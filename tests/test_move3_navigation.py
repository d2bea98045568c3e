"""Move 3's lesson: its questions, its exercises with every wrong answer, the player, the breaks, what would be sent."""

import sys

import pytest

from course_lib.answering import Claim, answer, check
from course_lib.corpora.navigation_questions import CAP, LATE_INTEREST, flat_text, large_agreement
from course_lib.learn.blank import ____
from course_lib.learn.look import to_text
from course_lib.lessons import move3_navigation as move3
from course_lib.lessons.move3_navigation import DATA_AT_THE_END, LATE, SUSPEND, lesson, live, reading, tracing
from course_lib.navigation import bill
from course_lib.navigation.comparison import cheapest_right
from course_lib.navigation.documents import from_pageindex, read_agreement
from course_lib.navigation.loop import navigate
from course_lib.navigation.models import careless_model, following, stub_model
from course_lib.navigation.trace import load_run, save_run
from tests.lesson_checks import every_option_that_can_be_wrong_says_why, every_wrong_answer_gets_its_reason
from tests.messages_stub import data, error, messages_stub, point_at


@pytest.fixture(autouse=True)
def own_record(tmp_path, monkeypatch):
    from course_lib.learn.record import Record

    record = Record(tmp_path / "r.json")
    monkeypatch.setattr("course_lib.learn.lesson.open_record", lambda: record)


# --- predictions ---

# What the notebook's cells compute; nbval compares the cells themselves.
ACTUAL = {
    "again_zero": ["capital"],
    "again_pays": {"an hour": None, "cheaper reads": 33.5, "more questions": None},
    "dropped": 6,
    "first": "3",
    "cheapest": "navigate, 2 reads, cached",
    "claims": ["12 from B", "false"],
    "lying": ["first lines", "summaries"],
    "pays": "BM25, references followed",
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
        ("again_zero", [], "neither"),
        ("again_zero", ["capital", "this week"], "both"),
        ("again_pays", {"an hour": 12.0, "cheaper reads": None, "more questions": None}, "an hour"),
        ("dropped", 4, "4"),
        ("first", "8", "8"),
        ("cheapest", "whole document, cached", "whole document, cached"),
        ("pays", "whole document", "whole document"),
    ],
)
def test_another_value_than_the_courses_falls_into_another_option(key, value, option):
    assert lesson.questions[key].right(value) == [option]
    assert option in [o.name for o in lesson.questions[key].options]


def test_the_questions_from_before_have_the_answers_that_their_libraries_compute():
    assert move3.doubted_zeros() == ACTUAL["again_zero"]
    rates = move3.pays_from()
    assert rates["cheaper reads"] == pytest.approx(33.5, abs=0.05)
    assert rates["an hour"] is rates["more questions"] is None


# --- figures N1, N2, N4, N8 ---


def test_n1_the_stub_takes_three_calls_the_careless_one_four_and_without_errors_the_budget_is_spent():
    outline = move3.outline()
    assert [what for _, what, _ in navigate(LATE, outline, stub_model).rows()] == ["read 7.3", "read B", "answer"]
    whats = [what for _, what, _ in navigate(LATE, outline, careless_model).rows()]
    assert whats == ["read 7.3", "error", "read B", "answer"]
    dropped = navigate(LATE, outline, careless_model, drop_errors=True)
    assert len(dropped.steps) == ACTUAL["dropped"]
    assert "7.3 refers to B, which was not read" in dropped.gap


def test_n2_the_stub_opens_3_and_never_8_and_an_encoder_ranks_8_first():
    run = navigate(SUSPEND, move3.outline(), stub_model)
    assert run.path == ["3", "A"]
    nearest = move3.dense_top(SUSPEND, 3)[0]
    assert (nearest.id, round(nearest.score, 3)) == ("8", 0.735)


def test_n4_the_bill_is_the_lessons():
    lines = bill.the_bill(move3.price())
    assert [(line.tokens, round(line.usd, 2)) for line in lines] == [
        (3_300, 13.65),
        (27_000, 87.15),
        (27_000, 22.35),
        (48_500, 154.05),
        (150_300, 454.65),
        (150_300, 49.65),
    ]
    assert bill.cheapest(lines[1:]).design == ACTUAL["cheapest"]
    assert "454.65" in to_text(move3.show_bill(lines).html)


def test_n8_a_good_navigator_takes_three_calls_and_dense_retrieval_has_both_sections_in_its_first_three():
    outline = move3.outline()
    assert navigate(DATA_AT_THE_END, outline, stub_model).path == ["9.1"]
    assert len(navigate(DATA_AT_THE_END, outline, following(["4", "9.1"])).steps) == 3
    assert {"4", "9.1"} <= {hit.id for hit in move3.dense_top(DATA_AT_THE_END, 3)}


def test_the_answer_shows_its_formula_and_what_was_not_read_is_not_in_the_evidence():
    outline = move3.outline()
    run = navigate(LATE, outline, stub_model)
    shown = str(answer(LATE, run.evidence, computations=[LATE_INTEREST]))
    assert "10,000 × 12% × 20 / 365 = EUR 65.75" in shown
    assert not answer(DATA_AT_THE_END, navigate(DATA_AT_THE_END, outline, stub_model).evidence).found
    let_through = {
        "12 from 7.3": Claim("Interest is 12% a year.", ("7.3",)),
        "12 from B": Claim("Interest is 12% a year.", ("B",)),
        "65.75": Claim("You owe EUR 65.75.", ("7.3", "B")),
        "false": Claim("Overdue amounts accrue no interest in the first month.", ("7.3",)),
    }
    assert [name for name, claim in let_through.items() if not check(claim, LATE, run.evidence)] == ACTUAL["claims"]


def test_the_scores_show_both_searches_on_five_questions_with_their_means():
    walks = {question: ["4", "9.1"] for question in move3.FIVE}
    lines = to_text(move3.show_scores(walks).html).splitlines()
    assert lines[3].split("?")[1].split() == ["9.1,", "4", "4,", "9.1", "1.00", "4,", "9.2,", "9.1", "1.00"]
    assert lines[-1].split()[-2:] == ["0.20", "0.90"]


# --- traces and the player ---


def test_a_trace_as_a_table_names_its_model_once_and_shows_text_as_text():
    shown = move3.show_traces({"<b>stub": [(1, "read 7.3", "<img src=x onerror=1>"), (2, "answer", "from 7.3")]})
    assert "<img src=x" not in shown.html
    assert to_text(shown.html).count("stub") == 1


def test_the_growth_of_a_prompt_adds_each_section_that_was_read():
    lines = to_text(move3.show_growth(LATE, ["read 7.3", "answer"]).html).splitlines()
    assert "question + contents read 7.3" in " ".join(lines[2].split())
    assert "text of 7.3" in lines[3]
    assert lines[3].endswith("ends the loop")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"run": "interest: the stub", "step": 0}, "Before the first call"),
        ({"run": "interest: the stub", "step": 1}, "[7.3] Late payment (read now)"),
        ({"run": "interest: the stub", "step": 2}, "[7.3] Late payment (read)"),
        ({"run": "interest: the stub", "step": 3}, "The run ends: answered."),
        ({"run": "interest: the stub", "step": 6}, "So far: 3 calls"),
        ({"run": "interest: the careless model", "step": 2}, "Your code: unknown node 'Schedule B'"),
        ({"run": "interest: careless, errors dropped", "step": 6}, "(needed, not read)"),
        ({"run": "suspension: the stub", "step": 3}, "[8] Suspension (needed, not read)"),
        ({"run": "suspension: the stub", "step": 2}, "[A] Schedule A: Service levels (read now)"),
        ({"run": "suspension: one that opens 8", "step": 1}, "10 days' written notice"),
    ],
)
def test_the_player_shows_a_run_as_it_stood_behind_each_step(settings, says):
    shown = move3.trace_player().at(**settings)
    assert says in to_text(shown.html)
    assert "data-error" not in shown.html


def test_a_section_that_is_needed_counts_as_missed_only_when_the_run_has_ended():
    player = move3.trace_player()
    assert "not read" not in to_text(player.at(run="suspension: the stub", step=2).html)


def test_tokens_and_money_grow_with_every_call():
    run = tracing.known_runs()["interest: the careless model"]
    frames = [to_text(tracing.draw_run(run, step)) for step in range(5)]
    spent = [float(text.split("USD ")[1].split()[0].rstrip(".")) for text in frames]
    assert spent == sorted(set(spent))


def test_a_run_that_was_saved_and_loaded_is_replayed_and_an_unknown_question_has_no_gold(tmp_path):
    run = navigate("Who signs <b>this</b>?", move3.outline(), stub_model)
    save_run(run, tmp_path / "run.json")
    shown = move3.trace_player({"mine": load_run(tmp_path / "run.json")}).at(run="mine", step=6)
    assert "Who signs <b>this</b>?" in to_text(shown.html)
    assert "needed" not in to_text(shown.html)
    assert "USD" not in to_text(shown.html)  # it was run without a price


# --- the bill's explorer ---


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "22.35"),
        ({}, "all of them right in 73%"),
        ({"cached": 0}, "454.65"),
        ({"cached": 0, "reads": 4}, "154.05"),
        ({"pages": 10}, "The cheaper of the two that can follow a reference: whole document, cached."),
        ({"right": 50, "chunks_right": 90}, "it never pays"),
        ({"right": 100, "chunks_right": 0}, "it pays once a wrong answer costs USD 0.01 or more"),
        ({"pages": 900, "reads": 8}, "follow a reference: navigate, 8 reads, cached."),
        ({"pages": 900, "reads": 9}, "follow a reference: whole document, cached."),
        ({"right": 67}, "it pays once"),
        ({"right": 66}, "it never pays"),
        ({"reads": 1, "headings": 10, "section": 100}, "it pays at any cost of a wrong answer"),
        (
            {"reads": 1, "headings": 10, "section": 100, "right": 50},
            "it pays as long as a wrong answer costs less than",
        ),
        ({"input_price": 20, "output_price": 100, "read_price": 50, "cached": 50}, "50% cached"),
    ],
)
def test_the_bills_explorer_follows_its_sliders(settings, says):
    shown = move3.bill_explorer().at(**settings)
    assert says in to_text(shown.html)
    assert "data-error" not in shown.html


# --- measured ---


def test_the_measured_rows_say_where_following_references_pays_and_where_navigation_loses():
    rows = move3.on_the_agreement()
    assert cheapest_right(rows)["one hop"].system == ACTUAL["pays"]
    recall = {(row.system, row.kind): row.recall.value for row in rows}
    assert recall["chunk RAG, heading paths", "one section"] > recall["navigator, first lines", "one section"]
    assert recall["navigator, first lines", "two hops"] > recall["chunk RAG, heading paths", "two hops"] + 0.2
    assert recall["navigator, first lines", "spread everywhere"] < 0.2
    shown = to_text(move3.show_verdicts(rows).html).splitlines()
    assert shown[-1].split() == ["spread", "everywhere", "whole", "document"]
    assert len(to_text(move3.show_recall(rows).html).splitlines()) == 10
    assert to_text(move3.show_costs(rows).html).count("measure") == 2


def test_no_system_that_passes_is_said_in_a_word():
    rows = [row for row in move3.on_the_agreement() if row.system == "navigator, titles"]
    assert "none" in to_text(move3.show_verdicts(rows).html)


def test_the_vendors_figure_stands_beside_its_own_labels():
    shown = to_text(move3.show_vendor_figure().html)
    assert "136 of 150 90.7%" in " ".join(shown.split())
    assert "148 of 150 98.7%" in " ".join(shown.split())


# --- where it breaks ---


def test_a_flat_document_gets_a_verdict():
    assert read_agreement(flat_text()).verdict == (
        "No headings in 3 pages: there is nothing to navigate by. Chunk it instead."
    )


def test_a_lying_title_hides_the_section_from_titles_alone():
    assert [s.id for s in large_agreement() if s.title == CAP] == [move3.CAP_ID]
    honest, lying = move3.paths_under(CAP), move3.paths_under("Miscellaneous")
    assert all(move3.CAP_ID in path for path in honest.values())
    assert [name for name, path in lying.items() if move3.CAP_ID in path] == ACTUAL["lying"]
    begins = move3.large_outline().text(move3.CAP_ID).partition(". ")[2].partition(".")[0]
    assert f"“{begins}.”" in lesson.questions["lying"].text
    assert "36.1 not read" in to_text(move3.show_paths({"Miscellaneous": lying}).html)


def test_errors_add_up_to_73_per_cent_over_three_steps():
    line = to_text(move3.show_compounding().html).splitlines()[3]
    assert line.split()[-5:] == ["90%", "81%", "73%", "59%", "43%"]


def test_an_answer_that_stands_everywhere_is_hardly_found_by_navigating():
    gold, found = move3.spread_reads()
    assert len(gold) == 22
    assert len(found) < 3


def test_a_document_is_found_by_its_vendor_and_not_without():
    named, unnamed = "How much notice do we have to give Quarry Systems?", "How much notice do we have to give?"
    first = to_text(move3.show_choices([named]).html).splitlines()[1]
    assert "Quarry Systems" in first.split("?")[1]
    assert "Quarry Systems" not in to_text(move3.show_choices([unnamed]).html)


def test_whatever_a_model_sends_the_run_ends_and_keeps_what_was_read():
    runs = move3.misbehaving()
    assert {name: run.ending for name, run in runs.items() if run.ending != "answered"} == {
        "an answer with nothing read": "nothing read",
        "a refusal": "refused",
        "a service that is overloaded": "service failed",
    }
    assert runs["a refusal"].path == ["7.3"]
    assert all(run.path == ["7.3", "B"] for run in runs.values() if run.ending == "answered")
    assert len(to_text(move3.show_misbehaving(runs).html).splitlines()) == len(runs) + 1


def test_circles_and_references_that_lead_nowhere_are_shown():
    shown = to_text(move3.show_references(move3.outline(), move3.circle()).html)
    assert "read as 7.1, 7.2, 7.3" in shown
    assert "section 7.3a nowhere" in " ".join(shown.split())
    run = navigate("late payment", move3.circle(), stub_model)
    assert run.path == ["7.3", "B"]


# --- files ---


def test_the_agreement_as_a_word_file_keeps_its_ids_and_its_table(tmp_path):
    pytest.importorskip("docx")
    path = tmp_path / "Vertrag ä #1.docx"
    assert move3.make_docx(path)
    shown = to_text(move3.show_file(path, "B").html)
    assert "Overdue amounts | 12% per year" in shown
    assert "[7.3]" in shown
    assert "Check: nothing found." in shown


def test_without_the_package_no_word_file_is_written_and_the_sentence_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "docx", None)
    assert not move3.make_docx(tmp_path / "a.docx")
    monkeypatch.setattr(reading, "available", lambda: {"DOCX": "DOCX needs python-docx"})
    assert "DOCX needs python-docx" in to_text(move3.show_file(tmp_path / "a.docx").html)


def test_a_file_that_is_not_there_is_said_in_a_sentence(tmp_path):
    assert "a.docx cannot be opened" in to_text(move3.show_file(tmp_path / "a.docx").html)


def test_a_document_without_structure_shows_its_verdict():
    assert "Chunk it instead" in to_text(move3.show_outline(read_agreement(flat_text())).html)


def test_every_format_says_whether_it_is_ready():
    assert len(to_text(move3.show_formats().html).splitlines()) == 1 + len(reading.available())


def test_a_tree_as_pageindex_writes_it_becomes_an_outline_with_summaries():
    made = from_pageindex(move3.PAGEINDEX)
    assert "at the rate of Schedule B" in made.toc(summaries=True)


# --- the real call ---


def test_the_request_has_the_ids_as_an_enum_the_contents_cached_and_the_effort_low():
    request = move3.request_for(LATE)
    config = request.body["output_config"]
    assert config["format"]["schema"]["properties"]["node"]["enum"] == [*move3.outline().ids(), "none"]
    assert config["effort"] == "low"
    assert "cache_control" in request.body["system"][-1]
    shown = to_text(move3.show_request(request).html)
    assert "contents, marked for the cache" in shown
    assert "nothing was sent" in shown


def test_only_the_long_contents_reach_the_cache_and_they_take_three_enums():
    small, large = to_text(move3.show_prefixes().html).splitlines()[1:]
    assert "too short" in small
    assert "cached" in large
    assert large.endswith("3")


def test_without_a_key_nothing_is_sent_and_it_says_what_would_be(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    shown = to_text(move3.ask_live().html)
    assert "nothing was sent" in shown
    assert LATE in shown
    assert "At most" in shown


def step(node, action="read"):
    return data({"action": action, "node": node, "reason": "its title fits"})


def test_with_a_key_the_model_navigates_and_writes_a_checked_answer(monkeypatch):
    claim = {"text": "Interest is 12% a year.", "citations": ["B"], "formula": None}
    with messages_stub() as stub:
        point_at(stub, monkeypatch)
        stub.answers(step("7.3"), step("b"), step("none", "answer"), data({"claims": [claim]}))
        shown = to_text(move3.ask_live(effort="low").html)
    assert "Interest is 12% a year. [B]" in shown
    assert "(its title fits)" in shown
    assert "Spent: USD" in shown
    assert len(stub.bodies) == 4
    assert stub.bodies[0]["output_config"]["effort"] == "low"


def test_a_service_that_refuses_ends_in_a_sentence_and_not_in_a_traceback(monkeypatch):
    with messages_stub() as stub:
        point_at(stub, monkeypatch)
        stub.answers(step("7.3"), error(400))
        shown = to_text(move3.ask_live().html)
    assert "service failed" in shown
    assert "7.3" in shown


def test_a_request_without_effort_says_that_none_is_sent():
    assert "not sent" in to_text(move3.show_request(live.request_for(LATE, effort=None)).html)


# --- exercises ---


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ([["4", "9.1"], 3, 2], "Does the text that it has read refer to anything"),
        ([["9.1", "9.2"], 3, 2], "Does the text that it has read refer to anything"),
        ([["4"], 3, 2], "Count the words that each title shares"),
        ([[], 3, 2], "Count the words that each title shares"),
        ([None, 3, 2], "a list of ids is wanted"),
        ([["Termination for convenience"], 3, 2], "'Termination for convenience' is no id of the contents"),
        ([["9.1", "answer"], 3, 2], "is no id of the contents"),
        (["9.1, 4", 3, 2], "Does the text that it has read refer to anything"),
        ([["9.1"], 2, 2], "Does one section answer both halves"),
        ([["9.1"], 3.0, 2], "a whole number of calls is wanted"),
        ([["9.1"], 4, 2], "Does it need all of those sections"),
        ([["9.1"], 3, 1], "to answer is one of them"),
        ([["9.1"], 3, 3], "may name both in one decision"),
        ([["9.1"], "3", 2], "a whole number of calls is wanted"),
        ([["9.1"], 3, True], "a whole number of calls is wanted"),
    ],
)
def test_a_wrong_count_is_told_what_to_look_at(answers, says):
    feedback = lesson.check("count", answers)
    assert feedback.outcome == "wrong"
    assert says in repr(feedback)


def test_the_right_count_passes_and_a_blank_is_not_attempted():
    assert lesson.check("count", [["9.1"], 3, 2]).outcome == "right"
    assert lesson.check("count", ["9.1", 3, 2]).outcome == "right"
    assert lesson.check("count", [9.1, 3, 2]).outcome == "right"
    assert lesson.check("count", [["9.1"], ____, 2]).outcome == "not attempted"
    assert lesson.check("count", [____, ____, ____]).outcome == "not attempted"


def resolver(known, found=lambda asked, ids: ids[asked], says=lambda name, ids: f"no {name!r}; {', '.join(ids)}"):
    def resolve(name, ids):
        asked = known(name)
        by_folded = {id.casefold(): id for id in ids}
        if asked not in by_folded:
            raise ValueError(says(name, ids))
        return found(asked, by_folded)

    return resolve


def fold(name):
    return str(name).strip().casefold()


def to_the_letter(name, ids):
    if name not in ids:
        raise ValueError(f"no {name!r}; {ids}")
    return name


def by_last_word(name):
    return fold(name).split()[-1] if fold(name) else ""


def first_that_begins(name, ids):
    found = [id for id in ids if fold(name).startswith(id.casefold())]
    if not found:
        raise ValueError(f"no {name!r}; {ids}")
    return found[0]


def raises_keyerror(name, ids):
    return {id.casefold(): id for id in ids}[fold(name)]


def returns_none(name, ids):
    return {id.casefold(): id for id in ids}.get(fold(name))


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (to_the_letter, "It refused 'b', which is an id"),
        (resolver(lambda name: str(name).casefold()), "It refused ' B'"),
        (resolver(fold, found=lambda asked, ids: asked), "is not how the outline writes that id"),
        (resolver(by_last_word), "For 'Schedule B', which is no id, it returned 'B'"),
        (first_that_begins, "For '7.30', which is no id, it returned '7.3'"),
        (returns_none, "For 'Schedule B', which is no id, it returned None"),
        (lambda name, ids: None, "although it means an id"),
        (raises_keyerror, "it raised KeyError, and not ValueError"),
        (resolver(fold, says=lambda name, ids: f"no {fold(name)}; {ids}"), "say it as it came"),
        (resolver(fold, says=lambda name, ids: f"no {name}; {[id.lower() for id in ids]}"), "as it is written in ids"),
        (resolver(fold, says=lambda name, ids: f"no {name!r}"), "guess which ids there are"),
        (resolver(fold, says=lambda name, ids: f"no {name!r}; {', '.join(ids[:3])}"), "guess which ids there are"),
        (resolver(fold, says=lambda name, ids: f"ask for {', '.join(ids)}"), "does not repeat what was asked for"),
        (resolver(fold, says=lambda name, ids: "no {name}; {ids}"), "is the f in front"),
    ],
)
def test_a_wrong_resolver_is_told_what_it_did(function, says):
    feedback = lesson.check("resolve", function)
    assert feedback.outcome == "wrong"
    assert says in repr(feedback)


def test_the_right_resolver_passes_and_a_blank_is_not_attempted():
    assert lesson.check("resolve", resolver(fold)).outcome == "right"
    assert lesson.check("resolve", resolver(fold, says=lambda name, ids: f"{name}: {ids}")).outcome == "right"
    assert lesson.check("resolve", resolver(fold, says=lambda name, ids: ____)).outcome == "not attempted"
    assert lesson.check("resolve", lambda name, ids: ____).outcome == "not attempted"


def test_a_resolver_that_trips_over_none_is_the_learners_error():
    feedback = lesson.check("resolve", resolver(lambda name: name.strip().casefold()))
    assert feedback.outcome == "error"
    assert "AttributeError" in repr(feedback)


def follower(readable=lambda id, references, reached: id in references and id not in reached, take=0):
    def follow(start, references):
        reached, waiting = [], [start]
        while waiting:
            id = waiting.pop(take)
            if readable(id, references, reached):
                reached.append(id)
                waiting += references[id]
        return reached

    return follow


def one_level(start, references):
    return [start, *(id for id in references[start] if id in references and id != start)]


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (follower(lambda id, references, reached: id in references), "stands in it twice"),
        (follower(lambda id, references, reached: id not in reached), "stopped with KeyError 'Z'"),
        (one_level, "Something that is referred to was not read"),
        (lambda start, references: [start], "Something that is referred to was not read"),
        (lambda start, references: sorted(follower()(start, references), reverse=True), "The first one read"),
        (lambda start, references: set(follower()(start, references)), "a list of ids is wanted"),
        (lambda start, references: [*follower()(start, references), "Z"], "Z does not exist"),
        (lambda start, references: [*references], "Nothing leads from 4 to 5"),
        (lambda start, references: [], "The start, 4, is not in it"),
        (lambda start, references: [start, references], "does not exist, so it cannot be read"),
    ],
)
def test_a_wrong_follower_is_told_what_it_did(function, says):
    feedback = lesson.check("follow", function)
    assert feedback.outcome == "wrong"
    assert says in repr(feedback)


def test_a_follower_that_goes_in_a_circle_is_stopped_and_told():
    def endless(start, references):
        reached, waiting = [], [start]
        while waiting:
            id = waiting.pop(0)
            reached = list(dict.fromkeys([*reached, id]))
            waiting += references[id]
        return reached

    assert "a circle" in repr(lesson.check("follow", endless))
    assert "never stops" in repr(lesson.check("follow", endless))


def test_the_right_follower_passes_in_either_order_and_a_blank_is_not_attempted():
    assert lesson.check("follow", follower()).outcome == "right"
    assert lesson.check("follow", follower(take=-1)).outcome == "right"
    assert lesson.check("follow", lambda start, references: ____).outcome == "not attempted"
    assert lesson.check("follow", lambda start, references: [start, ____]).outcome == "not attempted"
    assert lesson.check("follow", follower(lambda id, references, reached: not ____)).outcome == "not attempted"
    assert lesson.check("follow", lambda start, references: 1 / 0).outcome == "error"


@pytest.mark.parametrize("key", ["count", "resolve", "follow"])
def test_hint_solution_and_the_solution_itself_hold(key):
    assert "Hint" in repr(lesson.hint(key))
    made: dict[str, object] = {}
    exec(lesson.exercises[key].solution, made)
    given = {"count": [made.get(n) for n in ("stub_reads", "good_calls", "two_at_once")]}.get(key, made.get(key))
    assert lesson.check(key, given).outcome == "right"
