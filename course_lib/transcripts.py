"""Recorded calls to a language model: one JSON line a call, played back without a key and without a network.

A line holds the request as it was sent, the reply as it came, when, and with which version of the client. A request
that was never recorded is an error; a replay never turns into a live call.
"""

import json
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from itertools import cycle
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

from filelock import FileLock, Timeout

Body: TypeAlias = dict[str, Any]
LOCK_SECONDS = 10


@dataclass(frozen=True)
class Answer:
    """What came back for a request: the message as the API sent it, its id, and the version of the client.

    `recorded` is the day of the recording (YYYY-MM-DD), and None for an answer that has just come.
    """

    message: Body
    request_id: str | None = None
    sdk: str = ""
    recorded: str | None = None


Send: TypeAlias = Callable[[Body], Answer]


class TranscriptError(RuntimeError):
    """A request that was never recorded, or a transcript that cannot be read or written."""


def fingerprint(body: Body) -> str:
    """Return what a request is found by: a hash over all of it, independent of the order of keys.

    >>> fingerprint({"model": "m", "messages": []}) == fingerprint({"messages": [], "model": "m"})
    True
    """
    return sha256(json.dumps(body, sort_keys=True).encode("ascii")).hexdigest()


# --- Recording -----------------------------------------------------------------------------------------------------


def recording(send: Send, path: Path, secret: str = "") -> Send:
    """Return `send` with a memory: each answer is appended to `path`. `secret`, the key, is cut out of every line.

    Whether the file can be written is tried before anything is sent (TranscriptError). If writing fails after the
    answer has come, the answer is returned all the same, with a warning: it is paid for.
    """

    def send_and_record(body: Body) -> Answer:
        _append(path, b"", before="nothing was sent")
        answer = send(body)
        try:
            _append(path, _line(body, answer, secret), before="the reply was not recorded")
        except TranscriptError as error:
            warnings.warn(str(error), stacklevel=2)
        return answer

    return send_and_record


def _line(body: Body, answer: Answer, secret: str) -> bytes:
    def clean(value: Body) -> Body:
        """Without the key, should somebody have pasted it into a question."""
        text = json.dumps(value)
        cleaned: Body = json.loads(text.replace(json.dumps(secret)[1:-1], "[key]") if secret else text)
        return cleaned

    request = clean(body)
    entry = {
        "hash": fingerprint(request),
        "recorded": datetime.now(UTC).date().isoformat(),
        "sdk": answer.sdk,
        "request_id": answer.request_id,
        "usage": answer.message.get("usage"),
        "request": request,
        "reply": answer.message,
    }
    return json.dumps(clean(entry)).encode("ascii") + b"\n"


def _append(path: Path, line: bytes, before: str) -> None:
    """Append whole lines only, one process at a time; behind half a line of an interrupted one, start a new line."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock", timeout=LOCK_SECONDS), path.open("a+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - 1, 0))
            if line and file.read(1) not in (b"", b"\n"):
                line = b"\n" + line
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
    except (OSError, Timeout) as error:
        raise TranscriptError(f"The transcript {path.name} cannot be written ({error}): {before}.") from None


# --- Playing back --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Transcript:
    """What a file holds: (request, answer) in the order of recording, and a sentence for each line it cannot read."""

    calls: tuple[tuple[Body, Answer], ...]
    damaged: tuple[str, ...] = ()


def load_transcript(path: Path) -> Transcript:
    """Read a transcript. A damaged line is listed and left out, and stays in the file. Raises TranscriptError."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise TranscriptError(f"The transcript {path.name} cannot be read ({error}).") from None
    calls, damaged = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            calls.append(_call(line))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            damaged.append(f"{path.name}, line {number} was left out: {type(error).__name__}: {error}")
    return Transcript(tuple(calls), tuple(damaged))


def _call(line: bytes) -> tuple[Body, Answer]:
    entry = json.loads(line.decode("utf-8"))
    request, reply = entry["request"], entry["reply"]
    if not isinstance(request, dict) or not isinstance(reply, dict):
        raise ValueError("request and reply must be objects")
    if fingerprint(request) != entry["hash"]:
        raise ValueError("its hash is that of another request, so it was changed after the recording")
    recorded = datetime.strptime(entry["recorded"], "%Y-%m-%d").date().isoformat()
    request_id = entry.get("request_id")
    return request, Answer(reply, request_id if isinstance(request_id, str) else None, str(entry.get("sdk")), recorded)


def replaying(transcript: Transcript, name: str = "the transcript") -> Send:
    """Return a `send` that answers from the transcript.

    A request recorded several times gives its answers in turn, then from the start. One that was never recorded
    raises TranscriptError, which says what differs from a recorded one.
    """
    answers: dict[str, list[Answer]] = {}
    for request, answer in transcript.calls:
        answers.setdefault(fingerprint(request), []).append(answer)
    turns, lock = {key: cycle(several) for key, several in answers.items()}, Lock()

    def send(body: Body) -> Answer:
        key = fingerprint(body)
        if key not in turns:
            raise TranscriptError(_never_recorded(body, transcript, name))
        with lock:
            return next(turns[key])

    return send


def _never_recorded(body: Body, transcript: Transcript, name: str) -> str:
    sentence = f"{name} holds {len(transcript.calls)} calls and not this one; nothing was sent."
    for request, _ in transcript.calls:
        if request.get("messages") == body.get("messages"):
            differs = sorted(key for key in {*request, *body} if request.get(key) != body.get(key))
            return f"{sentence} The same messages were recorded with another {', '.join(differs)}."
    return f"{sentence} Record it with a key, or ask what was recorded."
