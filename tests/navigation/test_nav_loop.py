"""The loop: whatever a model says, ids are checked, the run ends, and what was read is kept; the trace; the bill."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.corpora import DATA
from course_lib.corpora.agreement import LATE_PAYMENT, sections
from course_lib.llm import ModelError, Reply
from course_lib.navigation.bill import (
    ROUND_NUMBERS,
    Assumptions,
    all_right,
    cheapest,
    chunk_rag,
    navigation,
    navigation_usage,
    summaries,
    the_bill,
    whole_document,
    worth_it,
)
from course_lib.navigation.loop import (
    ANSWER,
    STEP_OUTPUT,
    Decision,
    check,
    covered,
    decision_of,
    missing,
    navigate,
    read,
    text_of,
    unread_references,
)
from course_lib.navigation.models import careless_model, lexical_navigator, stub_model
from course_lib.navigation.outline import build, from_sections
from course_lib.navigation.trace import TraceError, first_difference, frames, load_run, save_run
from course_lib.navigation.tree import Heading
from course_lib.pricing import load_prices
from course_lib.retrieval import Usage
from course_lib.tokens import count_tokens

AGREEMENT = from_sections([(s.id, s.title, s.text) for s in sections()], "Services agreement")
Q1 = LATE_PAYMENT.text
ROUND = next(iter(load_prices(DATA / "prices.json").values()))
VALID = "valid ids: 1, 2, 3, 4, 5, 6, 7.1, 7.2, 7.3, 8, 9.1, 9.2, A, B"
CIRCLE = from_sections([("7.3", "Late payment", "See Schedule B."), ("B", "Rates", "See Section 7.3 and Schedule B.")])


def scripted(*said):
    """A model that says these things one after another, the last again and again; it keeps the errors it was told."""
    told, pending = [], list(said)

    def model(question, toc, evidence, error=None):
        told.append(error)
        one = pending.pop(0) if len(pending) > 1 else pending[0]
        if isinstance(one, Exception):
            raise one
        return one

    model.told = told
    return model


def billed(kind, for_model=None):
    reply = Reply("", None, (), Usage(fresh=500, output=9, calls=1), 0.25, kind, None, "m", ())
    return ModelError(f"It went wrong: {kind}.", kind, for_model=for_model, reply=reply)


# --- The figures N1 ---


def test_the_stub_reads_late_payment_then_the_schedule_and_answers_from_both():
    run = navigate(Q1, AGREEMENT, stub_model, max_steps=4)
    assert run.rows() == [
        ("1", "read 7.3", "Late payment"),
        ("2", "read B", "Schedule B: Rates and charges"),
        ("3", "answer", "from 7.3, B"),
    ]
    assert (run.ending, run.gap, run.path) == ("answered", "", ["7.3", "B"])


def test_the_careless_model_needs_one_step_more_because_the_error_names_the_valid_ids():
    rows = navigate(Q1, AGREEMENT, careless_model, max_steps=4).rows()
    assert [what for _, what, _ in rows] == ["read 7.3", "error", "read B", "answer"]
    assert rows[1][2].startswith("unknown node 'Schedule B'; near matches: B; ")
    assert rows[1][2].endswith(VALID)


def test_with_the_error_dropped_the_same_mistake_is_made_until_the_budget_is_spent():
    run = navigate(Q1, AGREEMENT, careless_model, max_steps=4, drop_errors=True)
    assert [what for _, what, _ in run.rows()] == ["read 7.3", "error", "error", "error", "budget spent"]
    assert run.path == ["7.3"]
    assert "7.3 refers to B, which was not read" in run.gap
    assert "budget of 4 steps" in run.gap


# --- A name is checked ---


@pytest.mark.parametrize("name", ["b", "B", " b "])
def test_an_id_in_other_capitals_is_the_same_id(name):
    assert navigate(Q1, AGREEMENT, scripted(read(name), ANSWER)).path == ["B"]


@pytest.mark.parametrize(("name", "near"), [("Schedule B", "B"), ("Late payment", "7.3"), ("7.3a", "7.3")])
def test_an_unknown_id_is_answered_with_the_near_match_and_the_valid_ids(name, near):
    model = scripted(read(name), ANSWER)
    run = navigate(Q1, AGREEMENT, model)
    assert near in run.steps[0].error.split(";")[1]
    assert VALID in run.steps[0].error
    assert model.told == [None, run.steps[0].error]


def test_a_section_read_twice_is_named_and_not_read_again():
    run = navigate(Q1, AGREEMENT, scripted(read("7.3"), read("7.3"), ANSWER))
    assert run.path == ["7.3"]
    assert run.steps[1].error.startswith("7.3 was read already")


def test_an_answer_with_nothing_read_is_named():
    run = navigate(Q1, AGREEMENT, scripted(ANSWER))
    assert (run.ending, run.evidence) == ("nothing read", {})
    assert run.rows() == [("1", "answer", run.gap)]


BAD_REPLIES = [None, "", "read 7.3", {}, {"action": "jump"}, {"action": "read"}, {"action": "read", "node": "none"}, []]


@pytest.mark.parametrize("said", BAD_REPLIES, ids=repr)
def test_a_malformed_decision_is_an_error_for_the_model_and_not_for_the_learner(said):
    model = scripted(said, read("7.3"), ANSWER)
    run = navigate(Q1, AGREEMENT, model)
    assert run.path == ["7.3"]
    assert "needed" in model.told[1] or "name an id" in model.told[1]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
SAID = JSON | st.fixed_dictionaries({"action": st.sampled_from(["read", "answer"]), "node": JSON})


@given(st.lists(SAID, min_size=1, max_size=4))
def test_whatever_a_model_says_the_run_ends_within_its_budget_and_reads_only_what_there_is(said):
    run = navigate(Q1, CIRCLE, scripted(*said), max_steps=4, count=len)
    assert len(run.steps) <= 4
    assert set(run.evidence) <= {"7.3", "B"}
    assert run.rows()


def test_a_mapping_of_the_lesson_is_a_decision():
    assert decision_of({"action": "read", "node": "7.3", "reason": "rate"}) == Decision("read", ("7.3",), "rate")
    assert decision_of({"action": "read", "nodes": ["7.3", "B"]}).nodes == ("7.3", "B")
    assert decision_of(Decision("read", (7.3,))).nodes == ("7.3",)


# --- Several reads in a step ---


def test_several_sections_can_be_read_in_one_step():
    run = navigate(Q1, AGREEMENT, scripted(read("9.1", "4"), ANSWER), reads_per_step=2)
    assert run.rows()[0] == ("1", "read 9.1, 4", "Termination for convenience; Customer data")
    assert len(run.steps) == 2


def test_what_is_asked_beyond_the_reads_of_a_step_is_mentioned_and_not_read():
    run = navigate(Q1, AGREEMENT, scripted(read("9.1", "4"), ANSWER))
    assert run.path == ["9.1"]
    assert run.steps[0].error == "1 read a step: not read: 4"


def test_a_bad_id_beside_a_good_one_does_not_hinder_it():
    found = check(read("nine", "4", "4"), AGREEMENT, {}, reads=3)
    assert [node.id for node in found.nodes] == ["4"]
    assert "unknown node 'nine'" in found.error


# --- References that are missing or run in a circle ---


@pytest.mark.parametrize("model", [stub_model, lexical_navigator(CIRCLE)], ids=["stub", "lexical"])
def test_references_in_a_circle_and_to_oneself_end_well(model):
    run = navigate("What about late payment?", CIRCLE, model)
    assert (run.path, run.ending) == (["7.3", "B"], "answered")


@pytest.mark.parametrize("lexical", [False, True])
def test_a_reference_to_a_section_that_does_not_exist_is_left_alone(lexical):
    outline = from_sections([("7.3", "Late payment", "See Schedule Z and Section 99.")])
    run = navigate("What about late payment?", outline, lexical_navigator(outline) if lexical else stub_model)
    assert run.path == ["7.3"]
    assert unread_references(outline, run.evidence) == {}
    assert [found.printed for found in outline.unresolved] == ["schedule Z", "section 99"]


def test_the_agreements_own_section_7_names_no_node_and_is_read_as_its_three_parts():
    reference = AGREEMENT.references_from("1")[0]
    assert reference.targets == ("7.1", "7.2", "7.3")
    assert reference.note == "no node is section 7; read as 7.1, 7.2, 7.3"
    assert set(unread_references(AGREEMENT, {"1": "", "7.2": ""})) == {"7.1", "7.3", "2"}


def test_the_gap_names_what_was_read_what_was_not_and_the_last_error():
    gap = missing(AGREEMENT, {"7.3": "…"}, "unknown node 'x'")
    assert gap.startswith("Read: 7.3. 7.3 refers to B, which was not read. The last error: unknown node 'x'.")
    assert missing(AGREEMENT, {}).startswith("Read: nothing. Answer")


# --- When the service fails ---


@pytest.mark.parametrize("kind", ["rate limit", "overloaded", "time-out", "server", "connection"])
def test_a_failing_service_ends_the_run_and_what_was_read_is_kept(kind):
    run = navigate(Q1, AGREEMENT, scripted(read("7.3"), ModelError("Busy.", kind)))
    assert (run.ending, run.path) == ("service failed", ["7.3"])
    assert run.gap == "Busy. Read so far, and kept: 7.3."
    assert run.rows()[-1] == ("-", "service failed", run.gap)


@pytest.mark.parametrize(("kind", "ending"), [("refusal", "refused"), ("limit", "spending limit")])
def test_a_refusal_and_a_spending_limit_end_the_run_by_their_names(kind, ending):
    run = navigate(Q1, AGREEMENT, scripted(billed(kind)), price=ROUND)
    assert (run.ending, run.usd, run.usage) == (ending, 0.25, Usage(fresh=500, output=9, calls=1))
    assert run.gap.endswith("kept: nothing.")


def test_a_reply_that_was_cut_off_goes_back_to_the_model_and_is_paid_for():
    model = scripted(billed("cut off", "Answer more briefly."), read("B"), ANSWER)
    run = navigate(Q1, AGREEMENT, model, price=ROUND)
    assert model.told[1] == "Answer more briefly."
    assert run.path == ["B"]
    assert run.steps[0].usd_so_far == 0.25


def test_a_mistake_in_a_model_of_your_own_is_not_hidden():
    with pytest.raises(ValueError, match="my own"):
        navigate(Q1, AGREEMENT, scripted(ValueError("my own")))


# --- Tokens and money ---


def test_what_the_model_sees_grows_by_what_was_read_and_adds_up():
    run = navigate(Q1, AGREEMENT, stub_model, price=ROUND)
    first, second, third = run.steps
    assert first.seen == count_tokens(Q1) + count_tokens(AGREEMENT.toc())
    assert second.seen - first.seen == count_tokens(AGREEMENT.text("7.3"))
    assert third.input_so_far == first.seen + second.seen + third.seen == run.usage.input
    assert run.usd == pytest.approx((run.usage.input * 3 + 3 * STEP_OUTPUT * 15) / 1e6)


def test_an_error_is_read_by_the_model_and_so_it_counts():
    told, dropped = (navigate(Q1, AGREEMENT, careless_model, 4, drop_errors=drop) for drop in (False, True))
    assert told.steps[2].seen - dropped.steps[2].seen == count_tokens(told.steps[1].error)


def test_without_a_price_there_is_no_usd_and_a_providers_own_count_goes_first():
    counted = Decision("answer", usage=Usage(fresh=7, cached=4000, output=3, calls=1))
    assert navigate(Q1, AGREEMENT, scripted(counted)).usd is None
    run = navigate(Q1, AGREEMENT, scripted(counted), price=ROUND)
    assert run.usage == counted.usage
    assert run.usd == pytest.approx((7 * 3 + 4000 * 0.3 + 3 * 15) / 1e6)


@pytest.mark.parametrize("wrong", [{"question": " "}, {"max_steps": 0}, {"reads_per_step": 0}, {"max_steps": True}])
def test_senseless_settings_are_refused(wrong):
    given_ = {"question": Q1, "outline": AGREEMENT, "model": stub_model} | wrong
    with pytest.raises(ValueError, match=r"blank|is needed"):
        navigate(**given_)


# --- A long chapter ---

CHAPTER = build("Intro of the chapter.\n\n7.1 First. " + "word " * 50 + "\n\n7.2 Second. x", [
    Heading("7", "Fees", 1, 0), Heading("7.1", "First", 2, 23), Heading("7.2", "Second", 2, 285)
])  # fmt: skip


def test_a_chapter_that_is_too_long_gives_its_own_text_and_its_parts_to_choose_from():
    text = text_of(CHAPTER, "7", longest=100)
    assert text.startswith("Intro of the chapter.")
    assert text.endswith("[7.1] First\n[7.2] Second")
    assert "word word" not in text
    assert covered(CHAPTER, "7", longest=100) == ["7"]


def test_a_chapter_that_fits_is_read_with_everything_inside_it():
    assert text_of(CHAPTER, "7") == CHAPTER.text("7")
    assert covered(CHAPTER, "7") == ["7", "7.1", "7.2"]


def test_a_part_without_parts_is_read_whole_however_long_it_is():
    assert text_of(CHAPTER, "7.1", longest=10) == CHAPTER.text("7.1")


# --- The trace ---

RUN = navigate(Q1, AGREEMENT, careless_model, 4, price=ROUND)


def test_a_run_is_saved_and_loaded_as_it_was(tmp_path):
    path = tmp_path / "läufe #1 100%" / "run 1.json"
    save_run(RUN, path)
    assert load_run(path) == RUN
    assert [file.name for file in path.parent.iterdir()] == ["run 1.json"]


@given(question=st.text(alphabet=st.characters(), min_size=1).filter(str.strip), name=st.text())
def test_a_run_over_any_text_survives_saving(question, name, tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.json"
    run = navigate(question, AGREEMENT, scripted(read(name), ANSWER))
    save_run(run, path)
    assert load_run(path) == run


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", '{"format": "other"}', '{"format": "navigation run 1"}', "[" * 100_000]
)
def test_a_file_that_holds_no_run_is_refused_in_a_sentence(content, tmp_path):
    path = tmp_path / "run.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(TraceError, match=r"run\.json holds no run"):
        load_run(path)


def test_a_run_with_a_step_that_was_tampered_with_is_refused(tmp_path):
    path = tmp_path / "run.json"
    save_run(RUN, path)
    data = json.loads(path.read_text(encoding="utf-8"))
    data["steps"][0].pop("added")
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(TraceError, match="added missing or unknown"):
        load_run(path)


def test_a_run_without_the_text_of_what_it_read_is_refused(tmp_path):
    path = tmp_path / "run.json"
    save_run(RUN, path)
    path.write_text(path.read_text(encoding="utf-8").replace('"B": "Overdue', '"C": "Overdue'), encoding="utf-8")
    with pytest.raises(TraceError, match="holds no run"):
        load_run(path)


def test_a_run_that_cannot_be_saved_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "run.json"
    save_run(RUN, path)
    before = path.read_bytes()

    def full(self, target):
        raise OSError("No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(TraceError, match="No space left"):
        save_run(RUN, path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_a_missing_file_is_a_sentence(tmp_path):
    with pytest.raises(TraceError, match=r"none\.json cannot be read"):
        load_run(tmp_path / "none.json")


def test_the_frames_step_through_evidence_tokens_and_money():
    shown = frames(RUN)
    assert [list(frame.evidence) for frame in shown] == [[], ["7.3"], ["7.3"], ["7.3", "B"], ["7.3", "B"]]
    assert [frame.added for frame in shown] == [(), ("7.3",), (), ("B",), ()]
    assert shown[0].step is None
    assert shown[-1].tokens == RUN.usage.input
    assert shown[-1].usd == RUN.usd


def test_two_runs_that_differ_part_at_a_step_that_is_named():
    other = navigate(Q1, AGREEMENT, stub_model, 4)
    parting = first_difference(RUN, other)
    assert (parting.step, parting.one, parting.other) == (2, "error", "read B")
    assert first_difference(RUN, RUN) is None
    shorter = navigate(Q1, AGREEMENT, scripted(read("7.3"), ANSWER))
    assert first_difference(other, shorter).other == "answer"


# --- The bill (N4, N5) ---


def test_the_bill_is_the_lessons_to_the_cent():
    assert [str(line).split("  ")[0] for line in the_bill(ROUND)] == [
        "chunk RAG, 6 chunks",
        "navigate, 2 reads",
        "navigate, 2 reads, cached",
        "navigate, 4 reads",
        "whole document",
        "whole document, cached",
    ]
    shown = [(line.tokens, round(line.usd, 2), line.seconds and round(line.seconds, 1)) for line in the_bill(ROUND)]
    assert shown == [
        (3_300, 13.65, 3.1),
        (27_000, 87.15, 5.9),
        (27_000, 22.35, 5.9),
        (48_500, 154.05, 8.7),
        (150_300, 454.65, None),
        (150_300, 49.65, None),
    ]


def test_two_reads_cost_6_4_times_a_chunk_answer_1_6_times_cached_and_take_1_9_times_as_long():
    rag, plain, cached = the_bill(ROUND)[:3]
    assert (round(plain.usd / rag.usd, 1), round(cached.usd / rag.usd, 1)) == (6.4, 1.6)
    assert round(plain.seconds / rag.seconds, 1) == 1.9


def test_three_steps_at_ninety_per_cent_are_right_in_73_of_100_runs():
    assert round(all_right(0.9, 3), 2) == 0.73
    assert all_right(0.9, 0) == 1


@given(st.integers(0, 30), st.integers(0, 5_000), st.integers(0, 2_000))
def test_the_calls_are_added_up_one_by_one(reads, section, headings):
    a = Assumptions(section=section, headings=headings)
    usage = navigation_usage(a, reads)
    assert usage.fresh == sum(a.base + call * section + a.outline for call in range(reads + 1))
    assert usage.calls == reads + 1
    assert navigation_usage(a, reads, cached=True).input == usage.input


def test_a_share_of_warm_calls_lies_between_cold_and_warm():
    half = navigation(ROUND, reads=2, cached=0.5)
    assert half.usd == pytest.approx((87.15 + 22.35) / 2)
    assert half.design == "navigate, 2 reads, 50% cached"
    assert whole_document(ROUND, cached=0.5).usd == pytest.approx((454.65 + 49.65) / 2)


def test_the_cheapest_design_depends_on_the_prices_and_the_cache():
    assert cheapest(the_bill(ROUND)).design == "chunk RAG, 6 chunks"
    small = Assumptions(pages=2)
    assert cheapest([chunk_rag(ROUND, small), whole_document(ROUND, small)]).design == "whole document"
    with pytest.raises(ValueError, match="no designs"):
        cheapest([])


def test_navigation_pays_where_a_wrong_answer_costs_more_than_its_price_over_what_it_gains():
    rag, plain = the_bill(ROUND)[:2]
    assert worth_it(rag, plain, 0.6, 0.9) == pytest.approx((87.15 - 13.65) / 1000 / 0.3)
    assert worth_it(rag, plain, 0.9, 0.9) is None
    assert worth_it(plain, rag, 0.9, 0.9) == 0


def test_a_summary_of_every_node_is_paid_once_and_read_in_every_call():
    once = summaries(ROUND)
    assert once.usd == pytest.approx(400 * (1000 * 3 + 30 * 15) / 1e6)
    assert once.tokens == 12_000


@pytest.mark.parametrize(
    "call",
    [
        lambda: navigation(ROUND, cached=1.5),
        lambda: navigation(ROUND, reads=-1),
        lambda: whole_document(ROUND, cached=-1),
        lambda: all_right(1.1, 2),
        lambda: summaries(ROUND, words=-1),
        lambda: Assumptions(section=-1),
        lambda: Assumptions(speed=0),
        lambda: worth_it(*the_bill(ROUND)[:2], 2, 0.5),
    ],
)
def test_a_bill_of_senseless_numbers_is_refused(call):
    with pytest.raises(ValueError, match=r"needed|never be complete"):
        call()


def test_the_assumptions_are_those_of_the_lesson():
    assert (ROUND_NUMBERS.document, ROUND_NUMBERS.outline) == (150_000, 8_000)
