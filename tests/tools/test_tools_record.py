"""Recording the live sections: against a stub, never against a provider."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from werkzeug import Response

from course_lib.corpora import agreement, sql_questions
from course_lib.llm import Model
from course_lib.sql.text_to_sql import Prompt, StandIn
from course_lib.transcripts import load_transcript
from tests.messages_stub import KEY, MessagesStub, data, error, messages_stub, point_at, usage
from tools import record as recorder
from tools.record import SECTIONS, Found, Purse, Section, main, record, replay

BY_NAME = {section.name: section for section in SECTIONS}
FEW = sql_questions.sql_questions()[:4]
SQL = Section("text_to_sql", "", lambda model: recorder.text_to_sql(model, FEW))


def play(body: dict[str, Any], used: dict[str, Any] | None = None) -> Response:
    """Play a model for all sections: the gold path, a quoting answer, the SQL stand-in with its mistakes."""
    return data(reply_to(body), usage=used or usage())


def reply_to(body: dict[str, Any]) -> dict[str, Any]:
    schema = body["output_config"]["format"]["schema"]["properties"]
    said = body["messages"][0]["content"]
    if "sql" in schema:
        told = Prompt("\n".join(block["text"] for block in body["system"]), tuple(body["messages"]))
        return {"sql": StandIn(sql_questions.sql_questions())(told), "reason": ""}
    if "node" in schema:
        gold = next(q.gold for q in agreement.QUESTIONS if q.text in said)
        unread = [id for id in gold if f"[{id}] " not in said]
        return {"action": "read" if unread else "answer", "node": (*unread, "none")[0], "reason": "because"}
    cited = schema["claims"]["items"]["properties"]["citations"]["items"]["enum"]
    return {"claims": [{"text": "It is so.", "citations": cited[:1], "formula": None}]}


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[MessagesStub]:
    with messages_stub() as running:
        point_at(running, monkeypatch)
        running.answers(play)
        yield running


def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")


@pytest.mark.parametrize("section", [BY_NAME["navigation"], BY_NAME["answering"], SQL], ids=lambda one: one.name)
def test_what_was_recorded_replays_without_a_key_and_gives_the_same(
    section: Section, stub: MessagesStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = record(section, tmp_path, Purse(1.0))
    assert recorded.finished, recorded.said
    asked = len(stub.bodies)
    assert recorded.calls == asked > len(FEW)
    assert recorded.usd > 0
    no_key(monkeypatch)
    again = replay(section, tmp_path / f"{section.name}.jsonl")
    assert again.summary == recorded.said
    assert len(stub.bodies) == asked
    assert [file.name for file in tmp_path.iterdir()] == [f"{section.name}.jsonl"]


def test_the_sections_tell_good_answers_from_bad_ones(stub: MessagesStub, tmp_path: Path) -> None:
    assert record(BY_NAME["navigation"], tmp_path, Purse(1.0)).said == "read all that is needed for 5 of 5 questions"
    assert record(BY_NAME["answering"], tmp_path, Purse(1.0)).said == "5 of 5 answers passed the check whole"
    stub.answers(data({"claims": [{"text": "It is 77 %.", "citations": [], "formula": None}]}))
    assert record(BY_NAME["answering"], tmp_path, Purse(1.0)).said == "0 of 5 answers passed the check whole"


def test_each_line_is_dated_and_none_holds_the_key(stub: MessagesStub, tmp_path: Path) -> None:
    leaky = agreement.LabelledQuestion(f"My key is {KEY}: can the provider suspend the service?", ("8",))
    section = Section("leaky", "", lambda model: recorder.answering(model, [leaky]))
    record(section, tmp_path, Purse(1.0))
    files = list(tmp_path.iterdir())
    assert files
    for file in files:
        assert KEY not in file.read_text(encoding="utf-8")
        for line in file.read_text(encoding="utf-8").splitlines():
            assert len(json.loads(line)["recorded"]) == len("2026-12-01")


def test_without_a_key_it_says_so_and_sends_nothing(
    stub: MessagesStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    no_key(monkeypatch)
    assert main([], tmp_path) == 1
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert "nothing was sent" in said.err
    assert said.out == ""
    assert stub.bodies == []
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_records_what_is_named(
    stub: MessagesStub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["answering", "navigation", "--usd", "0.5"], tmp_path) == 0
    said = capsys.readouterr().out.splitlines()
    assert "At most USD 0.50" in said[0]
    assert [line.split(":")[0] for line in said[1:]] == ["answering", "navigation"]
    assert {file.name for file in tmp_path.iterdir()} == {"answering.jsonl", "navigation.jsonl"}


@pytest.mark.parametrize("arguments", [["move9"], ["--usd", "-1"], ["--usd", "nan"], ["--usd", "much"]])
def test_a_senseless_command_is_refused_before_anything_is_sent(
    arguments: list[str], stub: MessagesStub, tmp_path: Path
) -> None:
    with pytest.raises(SystemExit) as left:
        main(arguments, tmp_path)
    assert left.value.code == 2
    assert stub.bodies == []


def test_the_limit_ends_a_section_and_the_next_run_pays_only_for_the_rest(
    stub: MessagesStub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stub.answers(lambda body: play(body, usage(2_000, output=300)))  # USD 0.0105 a call
    assert main(["answering", "navigation", "--usd", "0.04"], tmp_path) == 1
    first = len(stub.bodies)
    said = capsys.readouterr().out
    assert "answering: not finished" in said
    assert "of the limit of USD 0.04" in said
    assert "navigation:" not in said
    assert 0 < first < 5
    assert load_transcript(tmp_path / "answering.unfinished.jsonl").calls
    assert not (tmp_path / "answering.jsonl").exists()
    assert main(["answering", "--usd", "1"], tmp_path) == 0
    assert len(stub.bodies) == 5
    assert len(load_transcript(tmp_path / "answering.jsonl").calls) == 5


def test_a_refused_key_is_one_call_and_leaves_the_older_transcript(stub: MessagesStub, tmp_path: Path) -> None:
    record(BY_NAME["answering"], tmp_path, Purse(1.0))
    before = (tmp_path / "answering.jsonl").read_bytes()
    asked = len(stub.bodies)
    stub.answers(error(401))
    purse = Purse(1.0)
    recorded = record(BY_NAME["answering"], tmp_path, purse)
    assert not recorded.finished
    assert "does not accept the key" in recorded.said
    assert len(stub.bodies) == asked + 1
    assert purse.spent == 0
    assert (tmp_path / "answering.jsonl").read_bytes() == before


def test_a_second_recording_replaces_the_first(stub: MessagesStub, tmp_path: Path) -> None:
    for _ in range(2):
        record(BY_NAME["answering"], tmp_path, Purse(1.0))
    assert len(load_transcript(tmp_path / "answering.jsonl").calls) == 5


def test_what_does_not_replay_is_not_kept(stub: MessagesStub, tmp_path: Path) -> None:
    times = iter(range(9))

    def restless(model: Model) -> Found:
        return Found("", (*recorder.answering(model).results, str(next(times))))

    recorded = record(Section("restless", "", restless), tmp_path, Purse(1.0))
    assert "1 other results" in recorded.said
    assert not (tmp_path / "restless.jsonl").exists()


def test_the_stand_in_for_a_model_gets_through_all_sections_within_the_default_limit(
    stub: MessagesStub, tmp_path: Path
) -> None:
    purse = Purse(recorder.LIMIT)
    for section in SECTIONS:
        assert record(section, tmp_path, purse).finished
    again = replay(BY_NAME["text_to_sql"], tmp_path / "text_to_sql.jsonl")
    assert again.summary == "10 of 50 right from the bare schema, 47 with all repairs"
