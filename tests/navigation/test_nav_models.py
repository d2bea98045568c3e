"""The models of the loop: the stubs of the lesson, the lexical navigator, and the live model against an HTTP stub."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.corpora import DATA
from course_lib.corpora.agreement import QUESTIONS, sections
from course_lib.llm import Budget, ModelError, open_model
from course_lib.navigation.loop import ANSWER, navigate
from course_lib.navigation.models import (
    FIRST_LINES,
    INSTRUCTIONS,
    Lexical,
    claude_model,
    first_sentence,
    following,
    lexical_navigator,
    lexical_plan,
    pages,
    shared_words,
    step_schema,
    stub_model,
    titles_of,
    wavering_model,
    would_ask,
)
from course_lib.navigation.outline import build, from_sections
from course_lib.navigation.tree import Heading, walk
from course_lib.pricing import load_prices
from course_lib.retrieval import Usage
from tests.messages_stub import data, error, message, messages_stub, point_at, usage

AGREEMENT = from_sections([(s.id, s.title, s.text) for s in sections()], "Services agreement")
Q1, SUSPEND, LEAVE = (question.text for question in QUESTIONS[:3])
ROUND = next(iter(load_prices(DATA / "prices.json").values()))
IDS = AGREEMENT.ids()


# --- The stubs (N2, N8) ---


def test_three_titles_tie_at_one_word_and_the_stub_opens_the_first_and_never_suspension():
    shared = shared_words(SUSPEND, AGREEMENT.toc())
    assert {id for id, count in shared.items() if count} == {"3", "7.3", "A"}
    assert max(shared.values()) == 1
    assert navigate(SUSPEND, AGREEMENT, stub_model).path == ["3", "A"]


def test_the_stub_reads_only_the_notice_because_nothing_refers_to_the_deletion_of_data():
    run = navigate(LEAVE, AGREEMENT, stub_model)
    assert (run.path, len(run.steps)) == (["9.1"], 2)
    assert all("4" not in found.targets for found in AGREEMENT.references)


def test_a_good_navigator_needs_three_calls_and_two_if_it_may_read_both_at_once():
    assert len(navigate(LEAVE, AGREEMENT, following(["4", "9.1"])).steps) == 3
    both = navigate(LEAVE, AGREEMENT, lambda *seen: ANSWER if seen[2] else {"action": "read", "nodes": ["4", "9.1"]},
                    reads_per_step=2)  # fmt: skip
    assert (len(both.steps), both.path) == (2, ["4", "9.1"])


def test_a_wrong_first_turn_reads_the_wrong_branch_and_costs_its_steps():
    wrong = navigate(Q1, AGREEMENT, following(["8", "7.3", "B"]))
    right = navigate(Q1, AGREEMENT, following(["7.3", "B"]))
    assert wrong.usage.input > right.usage.input
    assert len(wrong.steps) == len(right.steps) + 1


def test_two_runs_of_a_wavering_model_may_part_at_the_first_step_and_a_seed_repeats_one():
    paths = {seed: navigate(SUSPEND, AGREEMENT, wavering_model(seed)).path for seed in range(9)}
    assert {path[0] for path in paths.values()} == {"3", "7.3", "A"}
    assert navigate(SUSPEND, AGREEMENT, wavering_model(4)).path == paths[4]


@given(st.text(max_size=60).filter(str.strip), st.sampled_from(["", "no entry", AGREEMENT.toc()]))
def test_the_stub_names_only_ids_of_the_outline_and_always_ends(question, toc):
    run = navigate(question, AGREEMENT, stub_model, max_steps=20, toc=toc)
    assert set(run.path) <= set(titles_of(toc))
    assert run.ending in ("answered", "nothing read")
    assert all(step.error is None for step in run.steps)


def test_the_table_of_contents_can_be_read_back():
    assert titles_of(AGREEMENT.toc()) == {section.id: section.title for section in sections()}


# --- The lexical navigator ---


def test_the_lexical_navigator_follows_the_reference_to_the_schedule():
    assert navigate(Q1, AGREEMENT, lexical_navigator(AGREEMENT)).path[:2] == ["7.3", "B"]


def test_the_lexical_navigator_reads_both_sections_that_losing_the_contract_needs():
    assert {"4", "9.1"} <= set(navigate(LEAVE, AGREEMENT, lexical_navigator(AGREEMENT)).path)


def test_where_no_heading_shares_a_word_the_lexical_navigator_abstains():
    run = navigate("Wie hoch sind die Zinsen?", AGREEMENT, lexical_navigator(AGREEMENT))
    assert (run.ending, len(run.steps)) == ("nothing read", 1)


def test_a_first_line_finds_what_a_title_does_not_say():
    outline = from_sections(
        [("1", "Miscellaneous", "The cap on damages is one million."), ("2", "Scope", "All of it.")]
    )
    question = "What is the cap on damages?"
    assert lexical_plan(outline)(question) == []
    assert lexical_plan(outline, FIRST_LINES)(question) == ["1"]


def test_a_summary_repairs_a_title_that_lies():
    outline = build(
        "x\ny", [Heading("1", "Miscellaneous", 1, 0, summary="Cap on damages"), Heading("2", "Scope", 1, 2)]
    )
    assert lexical_plan(outline)("cap on damages") == []
    assert lexical_plan(outline, Lexical(summaries=True))("cap on damages") == ["1"]


def test_a_defined_term_is_followed_to_its_definition_or_left_alone():
    outline = from_sections([
        ("1", "Meaning", '"Deliverable" means any document.'), ("2", "Late delivery", "A late Deliverable costs 1%.")
    ])  # fmt: skip
    assert lexical_plan(outline)("late delivery") == ["2", "1"]
    assert lexical_plan(outline, Lexical(definitions=False))("late delivery") == ["2"]


CHAIN = from_sections([
    ("1", "Start", "See Section 2."), ("2", "Middle", "See Section 3."), ("3", "End", "See Section 4."), ("4", "F", "x")
])  # fmt: skip


@pytest.mark.parametrize(("hops", "path"), [(0, ["1"]), (1, ["1", "2"]), (2, ["1", "2", "3"])])
def test_references_are_followed_as_deep_as_asked(hops, path):
    assert lexical_plan(CHAIN, Lexical(hops=hops))("start") == path


def test_of_a_range_only_the_nearest_titles_are_followed():
    many = from_sections([("1", "Start", "See Sections 2 to 7."), *((str(n), f"Part {n}", "x") for n in range(2, 8))])
    assert lexical_plan(many, Lexical(starts=1, fan=2))("start of part 6") == ["1", "6", "2"]


def test_a_reference_by_title_is_followed_where_that_is_asked_for():
    outline = from_sections([
        ("if", "The if statement", "Truth: see section Boolean\n operations. Boolean operations are fast."),
        ("bool", "Boolean operations", "Empty is false.")
    ])  # fmt: skip
    assert lexical_plan(outline)("the if statement") == ["if"]
    assert lexical_plan(outline, Lexical(titled=True))("the if statement") == ["if", "bool"]


def test_two_reads_a_step_halve_the_steps_and_change_no_path():
    one, two = (
        navigate(Q1, AGREEMENT, lexical_navigator(AGREEMENT, reads_per_step=n), reads_per_step=n) for n in (1, 2)
    )
    assert one.path == two.path
    assert len(two.steps) < len(one.steps)


@given(st.text(max_size=80).filter(str.strip))
def test_any_question_is_navigated_to_an_end(question):
    run = navigate(question, AGREEMENT, lexical_navigator(AGREEMENT), max_steps=20)
    assert run.ending in ("answered", "nothing read")


@given(st.text(max_size=400))
def test_a_first_sentence_is_one_short_line(text):
    assert "\n" not in first_sentence(text)
    assert len(first_sentence(text)) <= 300


# --- Pages of a long outline ---


def tree(sizes):
    heads = []
    for chapter, size in enumerate(sizes, start=1):
        heads.append(Heading(str(chapter), f"Chapter {chapter}", 1, len(heads)))
        for part in range(1, size + 1):
            heads.append(Heading(f"{chapter}.{part}", f"Part {chapter}.{part}", 2, len(heads)))
    return build("x" * (len(heads) + 1), heads)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(1, 12))
def test_every_id_is_on_exactly_one_page_in_order_and_no_page_is_too_large(sizes, most):
    outline = tree(sizes)
    cut = pages(outline, most)
    assert [id for page in cut for id in page.ids] == [node.id for node in walk(outline.nodes)]
    assert all(1 <= len(page.ids) <= most for page in cut)
    assert "\n".join(page.toc for page in cut) == outline.toc()


def test_a_page_of_the_outline_shows_the_pages_of_the_paper_as_the_whole_outline_does():
    heads = [Heading(str(n), f"Part {n}", 1, 10 * n) for n in range(4)]
    outline = build("x" * 40, heads, page_starts=[0, 15, 30])
    assert "(p. 2)" in outline.toc()
    assert "\n".join(page.toc for page in pages(outline, 2)) == outline.toc()


def test_branches_stay_together_where_they_fit():
    assert [page.ids[0] for page in pages(tree([3, 3, 3]), most=8)] == ["1", "3"]


def test_a_page_of_nothing_is_refused():
    with pytest.raises(ValueError, match="1 id or more"):
        pages(AGREEMENT, 0)


# --- A live model (N3) ---


@pytest.fixture(scope="module")
def server():
    with messages_stub() as running:
        yield running


@pytest.fixture
def stub(server, monkeypatch):
    server.bodies.clear()
    point_at(server, monkeypatch)
    return server


def decision(node, action="read", **more):
    return data({"action": action, "node": node, "reason": "because"}, **more)


def test_the_request_holds_the_ids_as_an_enum_and_the_outline_as_a_cached_prefix(stub):
    stub.answers(decision("7.3"), decision("B"), decision("none", "answer"))
    model = open_model(ROUND, effort="low")
    run = navigate(Q1, AGREEMENT, claude_model(model, AGREEMENT), price=ROUND)
    assert (run.path, run.ending) == (["7.3", "B"], "answered")
    first, second, third = stub.bodies
    node = first["output_config"]["format"]["schema"]["properties"]["node"]
    assert node == {"type": "string", "enum": [*IDS, "none"]}
    assert first["output_config"]["effort"] == "low"
    assert first["system"] == [
        {"type": "text", "text": INSTRUCTIONS},
        {"type": "text", "text": f"Table of contents:\n{AGREEMENT.toc()}", "cache_control": {"type": "ephemeral"}},
    ]
    assert first["system"] == second["system"] == third["system"]
    assert first["messages"][0]["content"] == f"Question: {Q1}\n\nSections read so far:\n(none yet)"
    assert f"[7.3] {AGREEMENT.text('7.3')}" in second["messages"][0]["content"]
    assert run.steps[0].reason == "because"


def test_no_effort_is_sent_to_a_model_that_refuses_one(stub):
    stub.answers(decision("none", "answer"))
    navigate(Q1, AGREEMENT, claude_model(open_model(ROUND), AGREEMENT, cache=None))
    assert "effort" not in stub.bodies[0]["output_config"]
    assert "cache_control" not in json.dumps(stub.bodies[0])


def test_a_cold_cache_is_written_once_and_read_from_then_on(stub):
    cold, warm = usage(fresh=100, output=20, written=9_000), usage(fresh=100, output=20, cached=9_000)
    stub.answers(decision("7.3", usage=cold), decision("B", usage=warm), decision("none", "answer", usage=warm))
    run = navigate(Q1, AGREEMENT, claude_model(open_model(ROUND), AGREEMENT), price=ROUND)
    assert run.usage == Usage(fresh=300, cached=18_000, written=9_000, output=60, calls=3)
    first, later = (100 * 3 + 20 * 15 + 9_000 * 3 * factor for factor in (1.25, 0.1))
    assert run.usd == pytest.approx((first + 2 * later) / 1e6)
    assert [round(step.usd_so_far, 6) for step in run.steps] == [
        round(first / 1e6, 6), round((first + later) / 1e6, 6), round((first + 2 * later) / 1e6, 6)
    ]  # fmt: skip


def test_an_id_in_other_capitals_is_accepted_and_one_outside_of_the_enum_goes_back(stub):
    stub.answers(decision("b"), decision("Schedule C"), decision("none", "answer"))
    run = navigate(Q1, AGREEMENT, claude_model(open_model(ROUND), AGREEMENT))
    assert run.path == ["B"]
    assert "Schedule C" in run.steps[1].error
    assert "Your last choice was rejected: " in stub.bodies[2]["messages"][0]["content"]
    assert "Schedule C" in stub.bodies[2]["messages"][0]["content"]


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (message("not JSON"), "not JSON"),
        (message(""), "empty"),
        (message('{"action": "re', stop="max_tokens"), "cut off"),
        (data({"action": "read"}), "lacks"),
        (decision("none"), "named no node"),
    ],
    ids=["malformed", "empty", "cut off", "incomplete", "read nothing"],
)
def test_a_reply_that_can_be_mended_goes_back_and_is_billed(stub, reply, told):
    stub.answers(reply, decision("7.3"), decision("none", "answer"))
    run = navigate(Q1, AGREEMENT, claude_model(open_model(ROUND), AGREEMENT))
    assert told in run.steps[0].error
    assert told in stub.bodies[1]["messages"][0]["content"]
    assert run.path == ["7.3"]
    assert run.steps[0].usage == Usage(fresh=10, output=5, calls=1)


def test_a_refusal_ends_the_run_with_what_was_read(stub):
    stub.answers(decision("7.3"), message("I will not.", stop="refusal"))
    run = navigate(Q1, AGREEMENT, claude_model(open_model(ROUND), AGREEMENT))
    assert (run.ending, run.path) == ("refused", ["7.3"])
    assert run.usage.calls == 2


@pytest.mark.parametrize("status", [429, 529])
def test_a_busy_service_is_asked_again_and_then_ends_the_run_with_what_was_read(stub, status):
    stub.answers(decision("7.3"), error(status))
    run = navigate(Q1, AGREEMENT, claude_model(open_model(ROUND, retries=2), AGREEMENT))
    assert (run.ending, run.path) == ("service failed", ["7.3"])
    assert len(stub.bodies) == 1 + 3
    assert "Read so far, and kept: 7.3." in run.gap


def test_a_service_that_recovers_goes_unnoticed(stub):
    stub.answers(error(529), decision("7.3"), error(429), decision("none", "answer"))
    run = navigate(Q1, AGREEMENT, claude_model(open_model(ROUND), AGREEMENT))
    assert (run.ending, run.path) == ("answered", ["7.3"])


def test_the_spending_limit_stops_before_the_call_that_could_pass_it(stub):
    stub.answers(decision("7.3"))
    run = navigate(Q1, AGREEMENT, claude_model(open_model(ROUND, budget=Budget(0.0001)), AGREEMENT))
    assert run.ending == "spending limit"
    assert stub.bodies == []


def test_several_reads_a_step_are_an_array_of_the_same_enum(stub):
    stub.answers(
        data({"action": "read", "nodes": ["7.3", "b"], "reason": ""}),
        data({"action": "answer", "nodes": [], "reason": ""}),
    )
    run = navigate(Q1, AGREEMENT, claude_model(open_model(ROUND), AGREEMENT, reads_per_step=2), reads_per_step=2)
    assert (run.path, len(run.steps)) == (["7.3", "B"], 2)
    schema = stub.bodies[0]["output_config"]["format"]["schema"]
    assert schema == step_schema(IDS, 2)
    assert schema["properties"]["nodes"]["items"]["enum"] == IDS


# --- A live model and a long outline ---

LONG = tree([4, 4, 4])


def page_choice(part, action="read"):
    return data({"action": action, "part": part})


def test_a_long_outline_is_read_branch_first_then_node(stub):
    stub.answers(page_choice("2"), decision("2.3"), page_choice("none", "answer"))
    run = navigate("Part 2.3?", LONG, claude_model(open_model(ROUND), LONG, most_ids=5))
    assert (run.path, run.ending, len(run.steps)) == (["2.3"], "answered", 2)
    branch, node, _ = stub.bodies
    assert branch["output_config"]["format"]["schema"]["properties"]["part"]["enum"] == ["1", "2", "3", "none"]
    assert "[2] (2 to 2.4) Chapter 2" in branch["system"][1]["text"]
    enum = node["output_config"]["format"]["schema"]["properties"]["node"]["enum"]
    assert enum == ["2", "2.1", "2.2", "2.3", "2.4", "none"]
    assert "Chapter 3" not in node["system"][1]["text"]
    assert run.steps[0].usage.calls == 2


def test_a_branch_that_is_not_named_goes_back_and_is_billed(stub):
    stub.answers(page_choice("none"), page_choice("1"), decision("1.1"), page_choice("none", "answer"))
    run = navigate("Part 1.1?", LONG, claude_model(open_model(ROUND), LONG, most_ids=5))
    assert "named no node" in run.steps[0].error
    assert run.steps[0].usage.calls == 1
    assert run.path == ["1.1"]


def test_a_failure_behind_the_choice_of_a_branch_counts_both_calls(stub):
    stub.answers(page_choice("1"), message("I will not.", stop="refusal"))
    run = navigate("Part 1.1?", LONG, claude_model(open_model(ROUND), LONG, most_ids=5))
    assert (run.ending, run.usage.calls) == ("refused", 2)


# --- Without a key ---


@pytest.fixture
def no_key(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    return open_model(ROUND, "claude-haiku-4-5")


def test_without_a_key_the_run_ends_in_a_sentence_and_nothing_was_sent(no_key):
    run = navigate(Q1, AGREEMENT, claude_model(no_key, AGREEMENT))
    assert run.ending == "service failed"
    assert "nothing was sent" in run.gap
    assert run.usage == Usage()


def test_without_a_key_it_can_be_seen_what_would_be_sent_and_what_it_would_cost(no_key):
    request = would_ask(no_key, AGREEMENT, Q1, {"7.3": "See Schedule B."})
    assert "[7.3] See Schedule B." in request.body["messages"][0]["content"]
    assert request.body["output_config"]["format"]["schema"] == step_schema(IDS)
    assert 0 < request.usd < 0.05
    assert "part" in would_ask(no_key, LONG, "?", most_ids=5).body["output_config"]["format"]["schema"]["properties"]


def test_what_would_be_sent_is_what_is_sent(stub):
    stub.answers(decision("none", "answer"))
    model = open_model(ROUND, effort="low")
    navigate(Q1, AGREEMENT, claude_model(model, AGREEMENT))
    assert stub.bodies == [would_ask(model, AGREEMENT, Q1).body]


def test_an_outline_without_a_node_is_answered_with_nothing_read(no_key):
    empty = from_sections([])
    for model in (stub_model, lexical_navigator(empty), claude_model(no_key, empty)):
        assert navigate(Q1, empty, model).ending == "nothing read"
    with pytest.raises(ValueError, match="no node"):
        would_ask(no_key, empty, Q1)


def test_a_model_error_is_raised_outside_of_the_loop(no_key):
    with pytest.raises(ModelError, match="No key"):
        claude_model(no_key, AGREEMENT)(Q1, AGREEMENT.toc(), {})
