"""The one door to a model: what is sent, what comes back as what, what it costs, and what stops it."""

import json
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course_lib import llm
from course_lib.llm import (
    Budget,
    Model,
    ModelError,
    Reply,
    fit,
    most_tokens,
    open_model,
    sendable,
    tool_result,
    why_not,
)
from course_lib.long_context import PrefixCache, read_usage
from course_lib.pricing import Price, cost
from course_lib.retrieval import Usage
from course_lib.tokens import count_tokens
from course_lib.transcripts import Answer, TranscriptError, fingerprint, load_transcript
from tests.messages_stub import KEY, MessagesStub, data, error, message, messages_stub, point_at, tool_use, usage

PRICE = Price("round", 3.0, 15.0, read=0.1, write_5_minutes=1.25, write_1_hour=2.0)
NODES = {
    "type": "object",
    "properties": {"action": {"enum": ["read", "answer"]}, "id": {"type": "string", "enum": ["7.3", "B"]}},
    "required": ["action", "id"],
    "additionalProperties": False,
}
LONE = "\ud800"
anything = st.text(alphabet=st.characters(exclude_categories=[])) | st.just(LONE)


@pytest.fixture(scope="module")
def stub() -> Iterator[MessagesStub]:
    with messages_stub() as running:
        yield running


@pytest.fixture(autouse=True)
def only_the_stub(stub: MessagesStub, monkeypatch: pytest.MonkeyPatch) -> None:
    point_at(stub, monkeypatch)
    for seen in (stub.bodies, stub.counted, stub.headers):
        seen.clear()
    stub.answers(message("Berlin"))


def opened(**settings: Any) -> Model:
    return open_model(PRICE, **settings)


def outcome(model: Model, *given: Any, **named: Any) -> Reply | ModelError:
    try:
        return model.ask(*(given or ("", "Where?")), **named)
    except ModelError as problem:
        return problem


def failure(model: Model, *given: Any, **named: Any) -> ModelError:
    problem = outcome(model, *given, **named)
    assert isinstance(problem, ModelError)
    return problem


# --- The key -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("blank", [None, "", "  \n"])
def test_without_a_key_nothing_is_sent_and_the_sentence_says_what_to_set(
    blank: str | None, monkeypatch: pytest.MonkeyPatch, stub: MessagesStub
) -> None:
    monkeypatch.delenv(llm.KEY) if blank is None else monkeypatch.setenv(llm.KEY, blank)
    model = opened()
    assert model.why_not == why_not()
    assert not llm.key_is_set()
    problem = failure(model)
    assert (problem.kind, problem.usd) == ("no key", 0)
    assert "ANTHROPIC_API_KEY" in str(problem)
    assert "nothing was sent" in str(problem)
    assert model.would_send("", "Where?").body["messages"] == [{"role": "user", "content": "Where?"}]
    assert not stub.bodies


@pytest.mark.parametrize("bad", ["sk-ä", "sk\n-two-lines", "sk 1"])
def test_a_key_with_a_character_that_no_key_has_is_refused_unseen(bad: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(llm.KEY, bad)
    assert failure(opened()).kind == "no key"
    assert bad not in str(why_not())
    assert "sk" not in str(why_not())


def test_a_key_copied_with_a_line_end_works(monkeypatch: pytest.MonkeyPatch, stub: MessagesStub) -> None:
    monkeypatch.setenv(llm.KEY, f" {KEY}\n")
    assert opened().ask("", "Where?").text == "Berlin"
    sent = stub.headers[0]
    assert KEY in (sent.get("x-api-key"), sent.get("authorization", "").removeprefix("Bearer "))


def test_a_missing_package_is_one_sentence_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llm, "find_spec", lambda name: None)
    problem = failure(opened())
    assert problem.kind == "no package"
    assert "pip install anthropic" in str(problem)
    monkeypatch.delenv(llm.KEY)
    assert failure(opened()).kind == "no key"
    assert "set ANTHROPIC_API_KEY in the environment, and run `pip install anthropic`," in str(why_not())


def test_importing_the_door_imports_no_client() -> None:
    code = "import sys, course_lib.llm; sys.exit('anthropic' in sys.modules or 'httpx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[1], check=False).returncode == 0


def test_what_a_provider_says_can_be_printed(stub: MessagesStub) -> None:
    stub.answers(error(400, f"odd {LONE}"), data({"action": LONE, "id": "B"}))
    assert str(failure(opened())).encode()
    assert str(failure(opened(), "", "Where?", NODES)).encode()


@pytest.mark.parametrize("status", [400, 401, 500])
def test_a_key_that_the_provider_repeats_is_not_shown(status: int, stub: MessagesStub) -> None:
    stub.answers(error(status, f"invalid: {KEY}"))
    problem = failure(opened(retries=0))
    assert KEY not in str(problem)
    assert "[key]" in str(problem)
    assert problem.__cause__ is None
    assert problem.__context__ is None  # the SDK's error knows the request and so the key
    assert KEY not in repr(opened())


# --- What is sent --------------------------------------------------------------------------------------------------


def test_a_request_carries_the_schema_the_effort_and_the_cached_prefix(stub: MessagesStub) -> None:
    stub.answers(data({"action": "read", "id": "7.3"}))
    model = opened(effort="low", max_tokens=300)
    model.ask(["Rules.", "The outline."], "Late fees?", NODES, cache="5 minutes")
    assert stub.bodies == [
        {
            "model": "claude-haiku-4-5",
            "max_tokens": 300,
            "system": [
                {"type": "text", "text": "Rules."},
                {"type": "text", "text": "The outline.", "cache_control": {"type": "ephemeral"}},
            ],
            "messages": [{"role": "user", "content": "Late fees?"}],
            "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": NODES}},
        }
    ]


def test_a_plain_question_sends_nothing_that_was_not_asked_for(stub: MessagesStub) -> None:
    opened().ask("", "Where?")
    assert set(stub.bodies[0]) == {"model", "max_tokens", "messages"}


def test_a_cache_of_one_hour_is_asked_for_as_such(stub: MessagesStub) -> None:
    opened().ask("The outline.", "Where?", cache="1 hour")
    assert stub.bodies[0]["system"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}


def test_what_would_be_sent_is_what_is_sent(stub: MessagesStub) -> None:
    stub.answers(data({"action": "read", "id": "B"}))
    model, asked = opened(effort="low"), ("Rules.", "Where?", NODES)
    request = model.would_send(*asked, cache="1 hour")
    assert not stub.bodies
    model.ask(*asked, cache="1 hour")
    assert stub.bodies == [request.body]


def test_the_model_is_named_by_argument_then_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert opened().name == llm.DEFAULT_MODEL
    monkeypatch.setenv(llm.MODEL, "  ")
    assert opened().name == llm.DEFAULT_MODEL
    monkeypatch.setenv(llm.MODEL, "another")
    assert opened().name == "another"
    assert opened(name="a third").name == "a third"


@pytest.mark.parametrize(
    ("setting", "word"),
    [
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": True}, "max_tokens"),
        ({"effort": "extreme"}, "effort"),
        ({"seconds": 0}, "seconds"),
        ({"seconds": float("nan")}, "seconds"),
        ({"retries": -1}, "retries"),
        ({"budget": -1}, "limit"),
        ({"budget": float("nan")}, "limit"),
        ({"name": " "}, "blank"),
        ({"record": Path("a"), "replay": Path("a")}, "both"),
    ],
)
def test_a_setting_out_of_bounds_is_a_sentence(setting: dict[str, Any], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        opened(**setting)


@pytest.mark.parametrize("blank", ["", " \n", []])
def test_a_blank_question_is_not_sent(blank: Any, stub: MessagesStub) -> None:
    with pytest.raises(ValueError, match="blank"):
        opened().ask("Rules.", blank)
    with pytest.raises(ValueError, match="no system text"):
        opened().ask(" ", "Where?", cache="5 minutes")
    with pytest.raises(ValueError, match="no cache lifetime '2 hours'"):
        opened().ask("Rules.", "Where?", cache="2 hours")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="JSON"):
        opened().ask("", [{"role": "user", "content": {1, 2}}])
    assert not stub.bodies


@pytest.fixture
def kept_open() -> Model:
    return opened(budget=100)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(anything, anything.filter(str.strip), anything)
def test_any_text_reaches_the_model_and_comes_back(
    kept_open: Model, stub: MessagesStub, system: str, asked: str, said: str
) -> None:
    stub.answers(message(said))
    came = outcome(kept_open, system, asked)
    if said.strip():
        assert isinstance(came, Reply)
        assert came.text == sendable(said)
    else:
        assert isinstance(came, ModelError)
        assert came.kind == "empty"
    assert stub.bodies[-1]["messages"][0]["content"] == sendable(asked)


@given(anything)
def test_sendable_text_is_the_same_but_for_lone_halves_of_pairs(text: str) -> None:
    sent = sendable(text)
    sent.encode()
    if not any("\ud800" <= letter <= "\udfff" for letter in text):
        assert sent == text


def test_two_halves_of_a_pair_become_the_character_and_one_half_a_mark() -> None:
    assert sendable({"a": ["\ud83d\ude00", f"x{LONE}y", "\udc00"]}) == {"a": ["😀", "x�y", "�"]}


def test_ten_megabytes_are_counted_sent_and_answered(stub: MessagesStub) -> None:
    document = "The fee is due in 30 days.\n" * 380_000
    model = opened(budget=100)
    assert model.ask(document, "When?").text == "Berlin"
    assert len(stub.bodies[0]["system"][0]["text"]) == len(document)
    assert "send less" in str(failure(opened(), document, "When?"))  # one dollar is not enough for that


# --- What comes back -----------------------------------------------------------------------------------------------


def test_a_reply_carries_its_data_usage_money_and_ids(stub: MessagesStub) -> None:
    stub.answers(data({"action": "read", "id": "7.3"}, usage=usage(300, output=20, cached=30_000)))
    model = opened()
    reply = model.ask("The outline.", "Late fees?", NODES, cache="5 minutes")
    assert reply.data == {"action": "read", "id": "7.3"}
    assert reply.usage == Usage(fresh=300, cached=30_000, output=20, calls=1)
    assert reply.usd == pytest.approx(0.0009 + 0.009 + 0.0003)
    assert (reply.stop_reason, reply.request_id, reply.model) == ("end_turn", "req_1", "claude-haiku-4-5")
    assert reply.recorded is None
    assert model.budget.spent == pytest.approx(reply.usd)


def test_an_id_in_other_capitals_is_the_one_of_the_enum(stub: MessagesStub) -> None:
    stub.answers(data({"action": "Read", "id": "b"}))
    assert opened().ask("", "Late fees?", NODES).data == {"action": "read", "id": "B"}


@pytest.mark.parametrize(
    ("answer", "kind", "for_model"),
    [
        (message("", stop="refusal", stop_details={"type": "refusal", "explanation": "no thanks"}), "refusal", None),
        (message("", stop="refusal", stop_details=None), "refusal", None),
        (message('{"action": "re', stop="max_tokens"), "cut off", "cut off at 1024 tokens"),
        (message("", stop="model_context_window_exceeded"), "window full", None),
        (message("x", stop="pause_turn"), "paused", None),
        (message(calls=[tool_use("grep", {})]), "unexpected tool", "There are no tools"),
        (message("x", stop="tool_use"), "unexpected tool", "There are no tools"),
        (message("x", stop="bored"), "unknown stop", None),
        (message("x", stop_reason=None), "unknown stop", None),
        (message("x", stop_reason=["odd"]), "unknown stop", None),
        (message(" \n"), "empty", "was empty"),
        (message("x", content=None), "empty", "was empty"),
        (message("x", content=["x", {"type": "text", "text": 5}, {"type": "new"}]), "empty", "was empty"),
        (message('{"action": "read"'), "not json", "is not JSON"),
        (message("NaN"), "not json", "NaN is not JSON"),
        (message("[" * 100_000), "not json", "nested too deeply"),
        (message("```json\n{}\n```"), "not json", "nothing else"),
        (data({"action": "read"}), "wrong shape", 'lacks "id"'),
        (data({"action": "read", "id": "7.4"}), "wrong shape", 'nearest: "7.3"; allowed: "7.3", "B"'),
        (data({"action": "read", "id": None}), "wrong shape", "null, but string is needed"),
        (data({"action": "read", "id": "B", "why": 1}), "wrong shape", '"why", which the schema does not know'),
        (data("B"), "wrong shape", "object is needed"),
    ],
)
def test_what_is_no_whole_reply_is_named_paid_for_and_kept(
    answer: Any, kind: str, for_model: str | None, stub: MessagesStub
) -> None:
    stub.answers(answer)
    model = opened()
    problem = failure(model, "", "Late fees?", NODES)
    assert problem.kind == kind
    assert (for_model in problem.for_model) if for_model and problem.for_model else for_model == problem.for_model
    assert problem.usage == Usage(fresh=10, output=5, calls=1)
    assert problem.usd == pytest.approx(cost(problem.usage, PRICE)) == model.budget.spent
    assert problem.reply is not None
    assert str(problem).endswith(".")
    assert len(stub.bodies) == 1


def test_a_cut_off_text_is_kept_for_who_wants_it(stub: MessagesStub) -> None:
    stub.answers(message("The fee is", stop="max_tokens"))
    problem = failure(opened())
    assert problem.reply is not None
    assert problem.reply.text == "The fee is"


@pytest.mark.parametrize("body", [b"<html>Sign in</html>", b"[]", b"\xff\xfe", b"", b"null"])
def test_a_page_in_place_of_a_message_counts_as_billed_in_full(body: bytes, stub: MessagesStub) -> None:
    from werkzeug import Response

    stub.answers(Response(body, content_type="application/json"))
    model = opened()
    problem = failure(model)
    assert problem.kind == "no message"
    assert problem.usd == model.budget.spent == model.would_send("", "Where?").usd > 0


def test_unknown_fields_and_blocks_are_passed_over(stub: MessagesStub) -> None:
    blocks = [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "Berlin", "new": {}}]
    stub.answers(message(content=blocks, mood="fine", usage=usage(speed="odd", lunch=3)))
    reply = opened().ask("", "Where?")
    assert reply.text == "Berlin"
    assert reply.message == {"role": "assistant", "content": blocks}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | anything,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(anything, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(["content", "stop_reason", "usage", "model", "stop_details"]), json_values))
def test_any_message_is_a_reply_or_a_model_error(body: dict[str, Any]) -> None:
    model = Model("m", PRICE, Budget(1), send=lambda request: Answer(body))
    assert outcome(model, "", "Where?", NODES).usd == model.budget.spent
    assert model.budget.left + model.budget.spent == pytest.approx(1)


@given(json_values)
def test_what_fits_a_schema_has_its_ids_and_what_does_not_is_a_sentence(value: Any) -> None:
    for candidate in (value, {"action": value, "id": "b"}):
        said = ""
        try:
            assert fit(candidate, NODES)["id"] in ("7.3", "B")
        except ValueError as problem:
            said = str(problem)
        assert not said or said.startswith("the reply")


@pytest.mark.parametrize(
    ("value", "schema", "fits"),
    [
        (True, {"type": "integer"}, False),
        (3.0, {"type": "integer"}, True),
        (True, {"enum": [1]}, False),
        (1, {"enum": [1]}, True),
        (None, {"type": ["string", "null"]}, True),
        (["B", "b"], {"type": "array", "items": {"enum": ["B"]}}, True),
        (["B", "c"], {"type": "array", "items": {"enum": ["B"]}}, False),
        ("ab", {"enum": ["AB", "aB"]}, False),  # it could be either
        ("aB", {"enum": ["AB", "aB"]}, True),
        ("x", {"const": "X"}, True),
        (
            {"sql": 1},
            {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"sql": {"type": "string"}}}]},
            False,
        ),
        (None, {"anyOf": [{"type": "null"}, {"type": "object"}]}, True),
        ({"more": 1}, {"type": "object"}, True),
    ],
)
def test_a_schema_is_checked_where_it_says_something(value: Any, schema: dict[str, Any], fits: bool) -> None:
    try:
        fit(value, schema)
    except ValueError:
        assert not fits
    else:
        assert fits


def test_a_long_enum_is_not_recited() -> None:
    with pytest.raises(ValueError, match="and 460 more") as caught:
        fit("9.9", {"enum": [f"{number}.1" for number in range(500)]})
    assert len(str(caught.value)) < 1000


# --- Tools ---------------------------------------------------------------------------------------------------------


def test_a_tool_is_called_answered_and_the_conversation_goes_back_unchanged(stub: MessagesStub) -> None:
    grep = {"name": "grep", "description": "…", "input_schema": {"type": "object", "properties": {}}}
    thought = {"type": "thinking", "thinking": "hm", "signature": "x"}
    calls = [tool_use("grep", {"pattern": "retr"}), tool_use("grep", {"pattern": "dead"}, id="toolu_2")]
    stub.answers(message(calls=[thought, *calls]), message("Five attempts."))
    model, messages = opened(), [{"role": "user", "content": "How often?"}]
    first = model.ask("", messages, tools=[grep])
    assert [(call.id, call.name, call.input["pattern"]) for call in first.tool_calls] == [
        ("toolu_1", "grep", "retr"),
        ("toolu_2", "grep", "dead"),
    ]
    results = [
        tool_result(first.tool_calls[0], "5 lines"),
        tool_result(first.tool_calls[1], "no such path", failed=True),
    ]
    reply = model.ask("", [*messages, first.message, {"role": "user", "content": results}], tools=[grep])
    assert reply.text == "Five attempts."
    assert stub.bodies[1]["tools"] == [grep]
    assert stub.bodies[1]["messages"][1] == {"role": "assistant", "content": [thought, *calls]}
    assert stub.bodies[1]["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "5 lines"},
        {"type": "tool_result", "tool_use_id": "toolu_2", "content": "no such path", "is_error": True},
    ]


def test_a_tool_call_without_an_input_is_no_reply(stub: MessagesStub) -> None:
    stub.answers(message("I will.", calls=[{"type": "tool_use", "id": "t", "name": "grep", "input": "retr"}]))
    assert failure(opened(), "", "How often?", tools=[{"name": "grep", "input_schema": {}}]).kind == "empty"


# --- Money ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "cache", "expected", "usd"),
    [
        (usage(300, output=0, written=30_000), "5 minutes", Usage(300, 0, 30_000, 0, 1), 0.0009 + 0.09 * 1.25),
        (usage(300, output=0, written=30_000), "1 hour", Usage(300, 0, 30_000, 0, 1), 0.0009 + 0.09 * 2),
        (
            usage(
                300,
                output=0,
                written=30_000,
                cache_creation={"ephemeral_5m_input_tokens": 10_000, "ephemeral_1h_input_tokens": 20_000},
            ),
            "5 minutes",
            Usage(300, 0, 30_000, 0, 1),
            0.0009 + 0.03 * 1.25 + 0.06 * 2,
        ),
        (
            {"input_tokens": 7, "output_tokens": 0, "cache_creation": {"ephemeral_1h_input_tokens": 1000}},
            "1 hour",
            Usage(7, 0, 1000, 0, 1),
            0.000021 + 0.003 * 2,
        ),
        (
            {"input_tokens": 7, "output_tokens": 1, "cache_read_input_tokens": None, "cache_creation": None},
            "5 minutes",
            Usage(7, 0, 0, 1, 1),
            0.000036,
        ),
    ],
)
def test_usage_is_billed_by_kind_and_by_the_life_of_the_cache(
    line: dict[str, Any], cache: Any, expected: Usage, usd: float, stub: MessagesStub
) -> None:
    stub.answers(message("Berlin", usage=line))
    reply = opened().ask("The outline.", "Where?", cache=cache)
    assert reply.usage == expected
    assert reply.usd == pytest.approx(usd)


@pytest.mark.parametrize("line", [None, {}, [], usage(None), usage(-1, output="5"), usage(10**30, output=None)])  # type: ignore[arg-type]
def test_a_reply_that_does_not_say_what_it_cost_costs_the_most_it_can(line: Any, stub: MessagesStub) -> None:
    stub.answers(message("Berlin", usage=line))
    model = opened()
    reply = model.ask("", "Where?")
    assert reply.usd == model.budget.spent == model.would_send("", "Where?").usd
    assert reply.usage.calls == 1


@pytest.mark.parametrize(
    ("line", "per_thousand"),
    [
        (usage(30_300, output=0), 90.90),  # 60 pages and the question
        (usage(300, output=0, cached=30_000), 9.90),  # the pages read from the cache
        (usage(3_300, output=0), 9.90),  # six chunks
        (usage(3_300, output=250), 13.65),  # and their answer
        (usage(300, output=0, written=30_000), 113.40),  # a cold cache is paid at 1.25
    ],
)
def test_a_reply_costs_what_the_arithmetic_of_move_0_says(
    line: dict[str, Any], per_thousand: float, stub: MessagesStub
) -> None:
    stub.answers(message("Berlin", usage=line))
    assert 1000 * opened().ask("The pages.", "Where?", cache="5 minutes").usd == pytest.approx(per_thousand)


def test_a_message_that_the_caller_marked_for_an_hour_is_billed_so(stub: MessagesStub) -> None:
    stub.answers(message("Berlin", usage=usage(0, output=0, written=1000)))
    block = {"type": "text", "text": "Where?", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    assert opened().ask("", [{"role": "user", "content": [block]}]).usd == pytest.approx(0.006)


def with_cache(stub: MessagesStub) -> None:
    """Let the stub keep prefixes as a provider does; calls come a minute apart."""
    cache, minute = PrefixCache(minimum=1024, minutes=5), iter(range(0, 6000, 60))

    def answer(body: dict[str, Any]) -> Any:
        kept = "".join(block["text"] for block in body["system"]) if "cache_control" in body["system"][-1] else ""
        line = cache.send(json.dumps(kept), body["messages"][0]["content"], at=next(minute))
        return message("Berlin", usage=usage(line.fresh, 5, line.cached, line.written))

    stub.answers(answer)


def test_a_cold_cache_is_written_and_a_warm_one_is_read(stub: MessagesStub) -> None:
    with_cache(stub)
    model = opened()
    outline = "7.3 Suspension\n" * 200
    replies = [model.ask(outline, f"Question {number}?", cache="5 minutes") for number in range(3)]
    assert read_usage([reply.usage for reply in replies]) == "works"
    assert replies[0].usd > 5 * replies[1].usd
    bare = [model.ask(outline, "Question?") for _ in range(2)]
    assert read_usage([reply.usage for reply in bare]) == "never written"


def test_a_timestamp_at_the_head_of_the_prefix_is_written_at_each_call_and_never_read(stub: MessagesStub) -> None:
    with_cache(stub)
    model = opened()
    outline = "7.3 Suspension\n" * 200
    replies = [model.ask([f"It is 10:0{minute}.", outline], "Late?", cache="5 minutes") for minute in range(3)]
    assert read_usage([reply.usage for reply in replies]) == "written, never read"
    well = [model.ask(outline, f"It is 10:0{minute}. Late?", cache="5 minutes") for minute in range(3)]
    assert read_usage([reply.usage for reply in well]) == "works"


def test_the_most_a_call_can_cost_counts_a_cold_cache_and_all_output() -> None:
    model = opened(max_tokens=1000)
    plain, marked, hour = (model.would_send("Outline.", "Where?", cache=c) for c in (None, "5 minutes", "1 hour"))
    assert plain.usd == pytest.approx(plain.tokens * 3e-6 + 0.015)
    assert marked.usd == pytest.approx(marked.tokens * 3e-6 * 1.25 + 0.015)
    assert hour.usd == pytest.approx(hour.tokens * 3e-6 * 2 + 0.015)
    block = {"type": "text", "text": "Where?", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    by_hand = model.would_send("Outline.", [{"role": "user", "content": [block]}])
    assert by_hand.usd == pytest.approx(by_hand.tokens * 3e-6 * 2 + 0.015)
    quoted = model.would_send('He wrote "cache_control": {"ttl": "1h"}.', "Where?")
    assert quoted.usd == pytest.approx(quoted.tokens * 3e-6 + 0.015)


@given(anything)
def test_more_tokens_are_set_aside_than_the_text_has_and_no_more_than_bytes(text: str) -> None:
    body = sendable({"messages": text})
    assert count_tokens(body["messages"]) < most_tokens(body) <= len(json.dumps(body).encode()) + llm.UNSEEN


def test_a_call_that_could_pass_the_limit_is_not_sent(stub: MessagesStub) -> None:
    model = opened(budget=0.0001)
    problem = failure(model)
    assert (problem.kind, problem.usd, model.budget.spent) == ("limit", 0, 0)
    assert "nothing was sent" in str(problem)
    assert not stub.bodies


def test_the_limit_stops_before_the_call_that_would_pass_it(stub: MessagesStub) -> None:
    stub.answers(message("Berlin", usage=usage(1000, output=1024)))
    model = opened()
    most = model.would_send("", "Where?").usd
    budget = Budget(2.5 * most)
    model = opened(budget=budget)
    assert all(isinstance(outcome(model), Reply) for _ in range(2))
    assert failure(model).kind == "limit"
    assert len(stub.bodies) == 2
    assert budget.spent <= budget.usd < budget.spent + most
    assert budget.left == pytest.approx(budget.usd - budget.spent)


def test_a_limit_may_be_used_to_the_last_cent_in_spite_of_floats() -> None:
    budget = Budget(0.3)
    for _ in range(3):
        budget.hold(0.1)
        budget.settle(0.1, 0.1)
    with pytest.raises(ModelError):
        budget.hold(0.1)
    assert repr(budget) == "Budget(usd=0.3, spent=0.3000)"
    assert Budget(0).left == 0


def test_models_and_threads_share_one_limit_and_calls_on_their_way_count(stub: MessagesStub) -> None:
    most = opened().would_send("", "Where?").usd
    budget = Budget(4.5 * most)
    models = [opened(budget=budget), opened(budget=budget, name="another")]
    arrived, go = threading.Semaphore(0), threading.Event()

    def held_back(body: dict[str, Any]) -> Any:
        arrived.release()
        go.wait(20)
        return message("Berlin", usage=usage(1000, output=1024))

    stub.answers(held_back)
    with ThreadPoolExecutor(12) as pool:
        jobs = [pool.submit(outcome, models[number % 2]) for number in range(12)]
        for _ in range(4):
            assert arrived.acquire(timeout=20)
        refused = [job.result() for _, job in zip(range(8), as_completed(jobs, timeout=20), strict=False)]
        go.set()
        answered = [job.result() for job in jobs if job.result() not in refused]
    assert len(stub.bodies) == 4
    assert [problem.kind for problem in refused if isinstance(problem, ModelError)] == ["limit"] * 8
    assert [type(reply) for reply in answered] == [Reply] * 4
    assert budget.spent == pytest.approx(4 * cost(Usage(1000, output=1024), PRICE))
    assert budget.left == pytest.approx(budget.usd - budget.spent)


def test_an_interrupted_call_is_counted_in_full() -> None:
    def interrupted(body: dict[str, Any]) -> Answer:
        raise KeyboardInterrupt

    model = Model("m", PRICE, Budget(1), send=interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.ask("", "Where?")
    assert model.budget.spent == model.would_send("", "Where?").usd


def test_the_provider_counts_where_it_is_asked_to(stub: MessagesStub) -> None:
    stub.tokens = 10_000
    model = opened(count_at_provider=True, effort="low", budget=0.05)
    request = model.would_send("Rules.", "Where?", cache="5 minutes")
    assert request.tokens == 11_000
    assert set(stub.counted[0]) == {"model", "messages", "system", "output_config"}
    assert failure(model, "Rules.", "Where?", cache="5 minutes").kind == "limit"
    assert not stub.bodies


@pytest.mark.parametrize("tokens", [None, "many", -1])
def test_a_count_that_is_none_is_a_sentence(tokens: Any, stub: MessagesStub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stub, "tokens", tokens)
    assert "did not count" in str(failure(opened(count_at_provider=True)))
    assert not stub.bodies


# --- Trouble -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 529, 500, 503, 408])
def test_a_busy_provider_is_asked_again_and_costs_once(status: int, stub: MessagesStub) -> None:
    stub.answers(error(status), error(status), message("Berlin"))
    model = opened()
    reply = model.ask("", "Where?")
    assert len(stub.bodies) == 3
    assert model.budget.spent == pytest.approx(reply.usd)


@pytest.mark.parametrize(
    ("status", "kind", "word"),
    [
        (429, "rate limit", "Too many requests"),
        (529, "overloaded", "overloaded"),
        (500, "server", "ask again later"),
        (400, "bad request", "refused the request"),
        (401, "key refused", "ANTHROPIC_API_KEY"),
        (403, "not allowed", "may not"),
        (404, "no such model", "COURSE_MODEL"),
        (413, "too large", "send less"),
        (418, "bad request", "(418)"),
    ],
)
def test_each_failure_has_its_sentence_and_costs_nothing(status: int, kind: str, word: str, stub: MessagesStub) -> None:
    stub.answers(error(status, "said so"))
    model = opened(retries=3)
    problem = failure(model)
    assert problem.kind == kind
    assert word in str(problem)
    assert '"said so"' in str(problem)
    tried = 4 if status >= 429 else 1
    assert len(stub.bodies) == tried
    assert ("tried 4 times" in str(problem)) == (tried == 4)
    assert (problem.usd, model.budget.spent, model.budget.left) == (0, 0, 1)


def test_a_wait_longer_than_the_call_may_take_is_not_begun(stub: MessagesStub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    stub.answers(error(429, retry_after="300"))
    problem = failure(opened(seconds=60))
    assert len(stub.bodies) == 1
    assert "due in 300.0 s, past the 60 s" in str(problem)


def test_the_provider_s_wait_is_kept_and_without_one_it_grows(
    monkeypatch: pytest.MonkeyPatch, stub: MessagesStub
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    stub.answers(error(429, retry_after="7"), error(529, other="x"), error(529, retry_after="nonsense"), message("x"))
    opened(retries=3).ask("", "Where?")
    assert waits[0] == 7
    assert 0.75 <= waits[1] <= 1
    assert 1.5 <= waits[2] <= 2


def test_a_provider_that_says_not_to_try_again_is_obeyed(stub: MessagesStub) -> None:
    stub.answers(error(529, x_should_retry="false"))
    assert failure(opened()).kind == "overloaded"
    assert len(stub.bodies) == 1


def test_a_model_that_takes_no_effort_is_said_to_be_opened_without(stub: MessagesStub) -> None:
    stub.answers(error(400, "This model does not support the effort parameter."))
    assert "effort=None" in str(failure(opened(effort="low")))


def test_no_answer_in_time_is_counted_in_full_and_not_tried_again(stub: MessagesStub) -> None:
    stub.answers(stub.hang)
    model = opened(seconds=0.3)
    problem = failure(model)
    assert problem.kind == "time-out"
    assert "0.3 s" in str(problem)
    assert problem.usd == model.budget.spent > 0
    assert len(stub.bodies) == 1


def test_no_connection_is_tried_again_and_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: refuses
        monkeypatch.setattr("time.sleep", lambda seconds: None)
        model = opened(base_url=f"http://127.0.0.1:{taken.getsockname()[1]}")
        problem = failure(model)
    assert problem.kind == "connection"
    assert "tried 3 times" in str(problem)
    assert (problem.usd, model.budget.spent) == (0, 0)


def test_a_connection_that_breaks_after_the_request_is_counted_in_full() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up() -> None:
            connection, _ = server.accept()
            connection.recv(65536)
            connection.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        model = opened(base_url=f"http://127.0.0.1:{server.getsockname()[1]}", seconds=5)
        problem = failure(model)
        thread.join()
    assert problem.kind == "broken off"
    assert problem.usd == model.budget.spent > 0


def test_an_sdk_that_does_not_know_an_argument_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    def post(live: Any, body: Any, seconds: float) -> Any:
        raise TypeError("create() got an unexpected keyword argument 'output_config'")

    monkeypatch.setattr(llm._Live, "_post", post)
    assert "pip install -U anthropic" in str(failure(opened()))


# --- Transcripts ---------------------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "live runs #1 ü%" / "agreement.jsonl"


def test_a_recorded_call_is_replayed_without_a_key(
    path: Path, stub: MessagesStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.answers(data({"action": "read", "id": "7.3"}, usage=usage(300, cached=30_000)))
    asked = ("The outline.", "Late fees?", NODES)
    live = opened(record=path).ask(*asked, cache="5 minutes")
    monkeypatch.delenv(llm.KEY)
    model = opened(replay=path, budget=0)
    assert model.why_not is None
    replayed = model.ask(*asked, cache="5 minutes")
    assert replayed.recorded == datetime.now(UTC).date().isoformat()
    assert (replayed.data, replayed.usage, replayed.usd) == (live.data, live.usage, live.usd)
    assert replayed.request_id == "req_1"
    assert (model.budget.spent, len(stub.bodies)) == (0, 1)


def test_what_was_never_recorded_is_not_sent_and_the_difference_is_named(path: Path, stub: MessagesStub) -> None:
    opened(record=path).ask("Rules.", "Where?")
    problem = failure(opened(replay=path), "Rules.", "When?")
    assert problem.kind == "not recorded"
    assert "1 calls and not this one; nothing was sent" in str(problem)
    other = failure(opened(replay=path, effort="low", max_tokens=5), "Rules.", "Where?")
    assert "with another max_tokens, output_config" in str(other)
    assert len(stub.bodies) == 1


def test_a_recorded_refusal_is_a_refusal_again(path: Path, stub: MessagesStub) -> None:
    stub.answers(message("", stop="refusal"))
    assert failure(opened(record=path)).kind == failure(opened(replay=path)).kind == "refusal"


def test_a_failure_of_the_service_is_not_recorded(path: Path, stub: MessagesStub) -> None:
    stub.answers(error(401))
    failure(opened(record=path))
    assert load_transcript(path).calls == ()


def test_two_runs_that_differ_come_back_in_turn(path: Path, stub: MessagesStub) -> None:
    stub.answers(message("7.3"), message("8"))
    live = opened(record=path)
    assert [live.ask("", "Where?").text for _ in range(2)] == ["7.3", "8"]
    replay = opened(replay=path)
    assert [replay.ask("", "Where?").text for _ in range(3)] == ["7.3", "8", "7.3"]


def test_the_key_is_in_no_transcript_even_if_somebody_asks_about_it(path: Path, stub: MessagesStub) -> None:
    stub.answers(message(f"Your key is {KEY}."))
    assert KEY in opened(record=path).ask(f"Key: {KEY}", "Is it good?").text
    assert KEY not in path.read_text(encoding="utf-8")
    assert load_transcript(path).damaged == ()


def test_a_line_holds_request_reply_usage_day_and_version(path: Path, stub: MessagesStub) -> None:
    import anthropic

    opened(record=path).ask("Rules.", "Where?")
    entry = json.loads(path.read_text(encoding="utf-8"))
    assert entry["request"] == stub.bodies[0]
    assert entry["hash"] == fingerprint(stub.bodies[0])
    assert entry["usage"] == entry["reply"]["usage"] == usage()
    assert entry["sdk"] == anthropic.__version__


@pytest.mark.parametrize(
    "damage", [b"{", b"\xff\xff", b"[]", b'{"request": {}}', b"null", b"5", b"[" * 100_000], ids=range(7)
)
def test_a_damaged_line_is_listed_left_out_and_kept(damage: bytes, path: Path, stub: MessagesStub) -> None:
    live = opened(record=path)
    live.ask("", "One?")
    with path.open("ab") as file:
        file.write(damage)  # and no line end, as after a power cut
    live.ask("", "Two?")
    assert damage in path.read_bytes()
    transcript = load_transcript(path)
    assert len(transcript.calls) == 2
    assert [sentence.split(" was")[0] for sentence in transcript.damaged] == ["agreement.jsonl, line 2"]
    with pytest.warns(UserWarning, match="line 2 was left out"):
        assert opened(replay=path).ask("", "Two?").text == "Berlin"


def test_a_request_changed_by_hand_is_not_replayed(path: Path) -> None:
    opened(record=path).ask("", "One?")
    path.write_text(path.read_text(encoding="utf-8").replace("One?", "Two?"), encoding="utf-8")
    assert "changed after the recording" in load_transcript(path).damaged[0]


def test_windows_line_ends_and_blank_lines_do_no_harm(path: Path) -> None:
    opened(record=path).ask("", "One?")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n\r\n"))
    assert len(load_transcript(path).calls) == 1


def test_a_transcript_that_cannot_be_written_is_found_out_before_the_call(tmp_path: Path, stub: MessagesStub) -> None:
    (tmp_path / "folder").mkdir()
    model = opened(record=tmp_path / "folder")
    problem = failure(model)
    assert (problem.kind, model.budget.spent) == ("not recorded", 0)
    assert "nothing was sent" in str(problem)
    assert not stub.bodies


def test_a_reply_that_cannot_be_recorded_any_more_is_returned_with_a_warning(path: Path, stub: MessagesStub) -> None:
    def swap(body: dict[str, Any]) -> Any:
        path.unlink()
        path.mkdir()
        return message("Berlin")

    stub.answers(swap)
    with pytest.warns(UserWarning, match="not recorded"):
        assert opened(record=path).ask("", "Where?").text == "Berlin"


def test_a_transcript_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match=r"none\.jsonl cannot be read"):
        opened(replay=tmp_path / "none.jsonl")


def test_many_threads_record_whole_lines(path: Path, stub: MessagesStub) -> None:
    stub.answers(lambda body: message(body["messages"][0]["content"] * 3000))
    model = opened(record=path)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: model.ask("", f"{number}?"), range(24)))
    transcript = load_transcript(path)
    assert (len(transcript.calls), transcript.damaged) == (24, ())


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(anything.filter(str.strip), anything)
def test_any_text_is_recorded_and_replayed(tmp_path: Path, stub: MessagesStub, asked: str, said: str) -> None:
    file = tmp_path / "any.jsonl"
    file.unlink(missing_ok=True)
    stub.answers(message("." + said))
    live = opened(record=file).ask("", asked)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert opened(replay=file).ask("", asked).text == live.text


def test_a_transcript_that_another_process_writes_is_waited_for(
    path: Path, stub: MessagesStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("course_lib.transcripts.LOCK_SECONDS", 0.1)
    path.parent.mkdir()
    with FileLock(f"{path}.lock"):
        assert failure(opened(record=path)).kind == "not recorded"
    assert not stub.bodies
