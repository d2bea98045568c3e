"""The learner's record: one JSON file of events, to which events are only ever added.

Predictions, reveals and exercise attempts are events. Because none is ever changed, two kernels can write to the
same file, two files can be merged, and the first answer to a question stays the first answer.
"""

import json
import os
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

from filelock import FileLock, Timeout

Event: TypeAlias = dict[str, Any]

FORMAT = 1
LOCK_SECONDS = 10.0

# What each kind of event must hold, beside id, at, kind and key, to be readable.
FIELDS: dict[str, dict[str, type]] = {
    "prediction": {"question": str, "answer": list, "confidence": str, "after_result": bool},
    "reveal": {"question": str, "actual": str, "right": list},
    "exercise": {"title": str, "outcome": str},
}


class NewerFormat(OSError):
    """The file was written by a later version of the course and must not be overwritten."""


class Record:
    """Events in a file, safe to write from several kernels at once.

    What cannot be saved (a read-only folder, a full disk) stays in memory, is said in `trouble`, and is tried again
    with every later event. A damaged file is set aside and said so in `notice`.
    """

    def __init__(self, path: Path) -> None:
        """Use the file at `path`; it is made with the first event."""
        self.path = path
        self.trouble = ""
        self.notice = ""
        self._unsaved: list[Event] = []

    def add(self, kind: str, key: str, **details: Any) -> Event:
        """Add one event of `kind` about the question or exercise `key`, save it and return it."""
        event = {"id": uuid4().hex, "at": self._now(), "kind": kind, "key": key, **details}
        self._unsaved.append(event)
        self._save()
        return event

    def events(self, kind: str | None = None, key: str | None = None) -> list[Event]:
        """Return the events, oldest first, of one kind or about one key where these are given."""
        events = _merge(self._saved(), self._unsaved)
        return [e for e in events if kind in (None, e["kind"]) and key in (None, e["key"])]

    def export(self, target: str | Path) -> str:
        """Write a copy of the record to `target`, which must not exist yet, and say how many events it holds.

        Raises FileExistsError, with what to do, where there is a file of that name.
        """
        target = Path(target)
        if target.exists():
            raise FileExistsError(f"{target} exists already and was left as it is. Choose another name.")
        events = self.events()
        _write(target, events)
        return f"{len(events)} events written to {target}."

    def import_from(self, source: str | Path) -> str:
        """Add the events of an exported record that are not here yet, and say how many there were.

        Raises ValueError, with what was found, where `source` is no record; nothing is changed then.
        """
        events, damaged = _parse(Path(source).read_bytes())
        if damaged and not events:
            raise ValueError(f"{source} is not a record of this course. Nothing was imported.")
        known = {event["id"] for event in self.events()}
        new = [event for event in events if event["id"] not in known]
        self._unsaved += new
        self._save()
        lost = " Some entries of that file could not be read and were left out." if damaged else ""
        return f"{len(new)} new events of {len(events)} imported from {source}.{lost} {self.trouble}".rstrip()

    def _save(self) -> None:
        """Write what is in the file and what is not yet saved, as one file, under the lock."""
        try:
            with self._lock():
                saved = self._read_or_set_aside()
                _write(self.path, _merge(saved, self._unsaved))
        except (OSError, Timeout) as error:
            self.trouble = (
                f"Your record could not be saved to {self.path} ({_reason(error)}). It is kept in this notebook's "
                "memory and saved with your next answer, if that works. To keep it elsewhere, export it, or set "
                "COURSE_RECORD to a file in a folder you can write to before you start."
            )
        else:
            self._unsaved.clear()
            self.trouble = ""

    def _saved(self) -> list[Event]:
        """Return what the file holds; under the lock where there can be one, since a damaged file is moved."""
        try:
            with self._lock():
                return self._read_or_set_aside()
        except NewerFormat as error:
            self.trouble = str(error)
            return []
        except (OSError, Timeout):  # a read-only folder: nobody can be writing there
            return _parse(self.path.read_bytes())[0] if self.path.is_file() else []

    def _read_or_set_aside(self) -> list[Event]:
        """Return the file's events. A damaged file is kept under a new name, and what can be read of it goes on."""
        if not self.path.exists():
            return []
        events, damaged = _parse(self.path.read_bytes())
        if damaged:
            aside = _free_name(self.path)
            self.path.replace(aside)
            _write(self.path, events)
            self.notice = (
                f"{self.path.name} was damaged. It is kept as {aside.name}; {len(events)} events could be read from it."
            )
        return events

    def _lock(self) -> FileLock:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(f"{self.path}.lock", timeout=LOCK_SECONDS)

    def _now(self) -> str:
        """Return the time as text that sorts, always later than this kernel's last unsaved event."""
        now = datetime.now(UTC)
        if self._unsaved:
            now = max(now, datetime.fromisoformat(self._unsaved[-1]["at"]) + timedelta(microseconds=1))
        return now.isoformat(timespec="microseconds")


@cache
def open_record(path: Path | None = None) -> Record:
    """Return the record at `path`, or the learner's own: what COURSE_RECORD names, else a file beside the notebooks."""
    if path is None:
        named = os.environ.get("COURSE_RECORD")
        notebooks = Path(__file__).resolve().parents[2] / "notebooks"
        path = Path(named) if named else (notebooks if notebooks.is_dir() else Path.cwd()) / "my_record.json"
    return Record(path)


def _merge(first: Iterable[Event], second: Iterable[Event]) -> list[Event]:
    """Return both lists as one, each event once, oldest first."""
    by_id = {event["id"]: event for event in [*second, *first]}
    return sorted(by_id.values(), key=lambda event: (event["at"], event["id"]))


def _parse(raw: bytes) -> tuple[list[Event], bool]:
    """Return the events in a record file and whether anything in it could not be read. Raises NewerFormat."""
    try:
        content = json.loads(raw.decode("utf-8-sig"))
        entries, version = content["events"], content["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return [], True
    if isinstance(version, int) and version > FORMAT:
        raise NewerFormat("it was written by a newer version of this course; update the course to go on with it")
    if not isinstance(entries, list):
        return [], True
    events = [entry for entry in entries if _is_event(entry)]
    return events, len(events) < len(entries)


def _is_event(entry: object) -> bool:
    if not isinstance(entry, dict) or not all(isinstance(entry.get(f), str) for f in ("id", "at", "kind", "key")):
        return False
    fields = FIELDS.get(entry["kind"], {})
    if not all(isinstance(entry.get(name), kind) for name, kind in fields.items()):
        return False
    lists = [entry[name] for name, kind in fields.items() if kind is list]
    return all(isinstance(item, str) for entries in lists for item in entries)


def _write(path: Path, events: list[Event]) -> None:
    """Replace the file in one step, so that a crash leaves the old one or the new one and never half of either."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            json.dump({"format": FORMAT, "events": events}, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _free_name(path: Path) -> Path:
    number = 1
    while (name := path.with_name(f"{path.stem}.damaged-{number}{path.suffix}")).exists():
        number += 1
    return name


def _reason(error: Exception) -> str:
    if isinstance(error, Timeout):
        return "another notebook has been writing to it for ten seconds"
    if isinstance(error, NewerFormat):
        return str(error)
    return getattr(error, "strerror", None) or type(error).__name__
