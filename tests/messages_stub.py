"""A stand-in for the Messages API on loopback, for tests of whatever asks a model: real HTTP through the real SDK.

    with messages_stub() as stub:
        point_at(stub, monkeypatch)  # from here on a model that is opened asks the stub and nobody else
        stub.answers(message("Berlin"), error(529), message(calls=[tool_use("grep", {"pattern": "retr"})]))
        model = open_model(price)

It answers in the given order, the last one again and again, and keeps the bodies that it got in `stub.bodies`.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

KEY = "sk-test-7Qv3"  # what tests set ANTHROPIC_API_KEY to
Scripted = Response | Callable[[dict[str, Any]], Response]


def usage(fresh: int = 10, output: int = 5, cached: int = 0, written: int = 0, **more: Any) -> dict[str, Any]:
    """A usage line as the API writes it."""
    return {
        "input_tokens": fresh,
        "output_tokens": output,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": written,
        **more,
    }


def tool_use(name: str, given: Mapping[str, Any], id: str = "toolu_1") -> dict[str, Any]:
    """The block with which a model calls a tool."""
    return {"type": "tool_use", "id": id, "name": name, "input": dict(given)}


def message(
    text: str = "", *, calls: Sequence[Mapping[str, Any]] = (), stop: str | None = None, **more: Any
) -> Response:
    """A reply with status 200; `more` replaces or adds fields of the message, such as `usage`."""
    blocks = [{"type": "text", "text": text}] if text else []
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5",
        "content": [*blocks, *calls],
        "stop_reason": stop or ("tool_use" if calls else "end_turn"),
        "stop_sequence": None,
        "usage": usage(),
        **more,
    }
    return Response(json.dumps(body), content_type="application/json", headers={"request-id": "req_1"})


def data(value: object, **more: Any) -> Response:
    """A reply whose text is `value` as JSON."""
    return message(json.dumps(value), **more)


def error(status: int, said: str = "no", **headers: str) -> Response:
    """A failure with the API's body; a retry follows at once unless a header (`retry_after="7"`) says otherwise."""
    named = {name.replace("_", "-"): value for name, value in headers.items()} or {"retry-after-ms": "1"}
    body = {"type": "error", "error": {"type": "some_error", "message": said}, "request_id": "req_2"}
    return Response(json.dumps(body), status=status, content_type="application/json", headers=named)


@dataclass
class MessagesStub:
    """What the stub answers and what it got. `tokens` is what its counting endpoint says."""

    base_url: str
    tokens: int = 42
    bodies: list[dict[str, Any]] = field(default_factory=list)
    counted: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    closed: Event = field(default_factory=Event)
    _answers: list[Scripted] = field(default_factory=list)
    _lock: Any = field(default_factory=Lock)

    def answers(self, *scripted: Scripted) -> None:
        """Set what comes back from now on: responses, or functions of the body that make one."""
        self._answers = list(scripted)

    def hang(self, body: dict[str, Any]) -> Response:
        """An answer that does not come while the stub is open."""
        self.closed.wait(20)
        return message("too late")

    def handle(self, request: Request) -> Response:
        """Answer a call."""
        body = request.get_json()
        with self._lock:
            self.bodies.append(body)
            self.headers.append({name.lower(): value for name, value in request.headers.items()})
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return answer(body) if callable(answer) and not isinstance(answer, Response) else answer

    def count(self, request: Request) -> Response:
        """Answer a call of the counting endpoint."""
        self.counted.append(request.get_json())
        return Response(json.dumps({"input_tokens": self.tokens}), content_type="application/json")


@contextmanager
def messages_stub() -> Iterator[MessagesStub]:
    """Run a stub on a free port of 127.0.0.1 while the block lasts."""
    server = HTTPServer(host="127.0.0.1", threaded=True)
    server.start()
    stub = MessagesStub(f"http://127.0.0.1:{server.port}")
    server.expect_request("/v1/messages", method="POST").respond_with_handler(stub.handle)
    server.expect_request("/v1/messages/count_tokens", method="POST").respond_with_handler(stub.count)
    try:
        yield stub
    finally:
        stub.closed.set()
        server.stop()


def point_at(stub: MessagesStub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the environment a key of the test's own, the stub's address and no proxy: nothing can leave this machine."""
    for name in [name for name in os.environ if name.startswith("ANTHROPIC_") or name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("COURSE_MODEL", raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", stub.base_url)
