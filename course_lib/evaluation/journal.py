"""The journal of a run: every result in a file the moment it is there, so that a run can stop and go on."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TextIO

from course_lib.evaluation.questions import Question, json_line
from course_lib.evaluation.systems import Response, System, to_response
from course_lib.retrieval import Usage

FINISHED = {"finished": True}  # the last line of a run that came to its end


def is_finished(path: Path) -> bool:
    """Say whether the journal at `path` ends with the mark of a run that came to its end."""
    return path.read_text(encoding="utf-8", errors="replace").endswith(json_line(FINISHED))


def verdict_key(question: Question, answer: str) -> str:
    """Return the name of a judge's verdict in a journal: the same answer to the same label is judged once."""
    parts = json.dumps([question.key, question.expected, answer])
    return sha256(parts.encode("utf-8")).hexdigest()[:16]


def result_key(system: System, question: Question, k: int) -> str:
    """Return the name of one result in a journal: it changes with the system, its state, the question and k."""
    parts = json.dumps([system.name, system.route, system.state, question.key, k])
    return sha256(parts.encode("utf-8")).hexdigest()[:16]


@dataclass(frozen=True)
class Result:
    """What a system returned, as it is kept: a response with its time, or an error.

    `usd` is what was really spent, by a failure too; an estimate of what a question would cost is not spent.
    """

    response: Response | None
    seconds: float | None
    error: str = ""
    usd: float = 0.0


class JournalError(ValueError):
    """A journal that cannot be used; the message says what to do."""


class Journal:
    """Results in a JSONL file, each written when it is there. Only one run may write at a time.

    `results` are those of earlier runs by key, the last one of a key counting; `damaged` is the number of lines that
    could not be read, such as the last one after a power cut.
    """

    def __init__(self, path: Path) -> None:
        """Open `path`, or begin it. Raises JournalError where another run holds it or it is no journal."""
        from filelock import FileLock, Timeout

        self.path, self.results, self.damaged = path, dict[str, Result](), 0
        self.verdicts: dict[str, bool] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(path.with_name(f".{path.name}.lock"), thread_local=False)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise JournalError(f"{path.name} is in use by another run: wait for it, or name another file.") from None
        try:
            self._file = self._open()
        except BaseException:
            self._lock.release()
            raise

    def _open(self) -> TextIO:
        content = self.path.read_bytes() if self.path.is_file() else b""
        for line in content.decode("utf-8", "replace").split("\n"):
            self._take(line)
        if content.strip() and not self.results:
            raise JournalError(f"{self.path.name} holds no result that can be read: name another file, or remove it.")
        file = self.path.open("a", encoding="utf-8", newline="\n")
        if content and not content.endswith(b"\n"):
            file.write("\n")
        return file

    def _take(self, line: str) -> None:
        if not line.strip():
            return
        try:
            record = json.loads(line)
            if record == FINISHED:
                return
            if "verdict" in record:
                self.verdicts[record["key"]] = bool(record["verdict"])
                return
            response = record["response"]
            self.results[record["key"]] = Result(
                _read_response(response) if response is not None else None,
                record["seconds"],
                record["error"],
                record["usd"],
            )
        except (ValueError, TypeError, KeyError, RecursionError):
            self.damaged += 1

    def add(self, key: str, system: str, question: str, result: Result) -> None:
        """Write one result down, through to the file."""
        response = None if result.response is None else _written(result.response)
        record = {"key": key, "system": system, "question": question, "response": response}
        kept = {"seconds": result.seconds, "error": result.error, "usd": result.usd}
        self._file.write(json_line({**record, **kept}))
        self._file.flush()
        self.results[key] = result

    def add_verdict(self, key: str, right: bool) -> None:
        """Write down what a judge said: a verdict costs a call too."""
        self._file.write(json_line({"key": key, "verdict": right}))
        self._file.flush()
        self.verdicts[key] = right

    def finish(self) -> None:
        """Mark that the run came to its end."""
        self._file.write(json_line(FINISHED))

    def close(self) -> None:
        """Close the file and let others write. The empty lock file stays: to remove it would race with the next run."""
        self._file.close()
        self._lock.release()


def _written(response: Response) -> dict[str, Any]:
    values = {name: value for name, value in vars(response).items() if value not in (None, "", False)}
    if response.answer == "":
        values["answer"] = ""
    if response.usage is not None:
        values["usage"] = vars(response.usage)
    if response.rows is not None:
        values["rows"] = [[cell if _is_json(cell) else str(cell) for cell in row] for row in response.rows]
    return values


def _is_json(cell: object) -> bool:
    return cell is None or isinstance(cell, str | int | float | bool)


def _read_response(values: Mapping[str, Any]) -> Response:
    usage = values.get("usage")
    return to_response({**values, "usage": None if usage is None else Usage(**usage)})
