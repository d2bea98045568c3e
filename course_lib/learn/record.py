"""The learner's record: one JSON file of events, to which events are only ever added.

Predictions, reveals and exercise attempts are events. Because none is ever changed, two kernels can write to the
same file, two files can be merged, and the first answer to a question stays the first answer.
"""

import json
import os
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any, TypeAlias
from uuid import uuid4

from filelock import FileLock, Timeout

Event: TypeAlias = dict[str, Any]

FORMAT = 1
LOCK_SECONDS = 5.0
MICROSECOND = timedelta(microseconds=1)

# What each kind of event must hold, beside id, at, kind and key, to be readable.
FIELDS: dict[str, dict[str, type]] = {
    "prediction": {"question": str, "answer": list, "confidence": str, "after_result": bool},
    "reveal": {"question": str, "actual": str, "right": list},
    "exercise": {"title": str, "outcome": str},
}


class NewerFormat(OSError):
    """The file was written by a later version of the course and must not be overwritten."""


class Record:
    """Events in a file, safe to write from several kernels, and from several threads of one kernel, at once.

    What cannot be saved (a read-only folder, a full disk) stays in memory, is said in `trouble`, and is tried again
    with every later event. A damaged file is set aside and said so in `notice`.
    """

    def __init__(self, path: Path) -> None:
        """Use the file at `path`; it is made with the first event."""
        self.path = path
        self.trouble = ""
        self.notice = ""
        self._unsaved: list[Event] = []
        self._busy = RLock()  # a widget's callback may run in another thread than the cell

    def add(self, kind: str, key: str, **details: Any) -> Event:
        """Add one event of `kind` about the question or exercise `key`, save it and return it."""
        with self._busy:
            event = {"id": uuid4().hex, "at": self._now(), "kind": kind, "key": key, **details}
            self._unsaved.append(event)
            self._save()
            return event

    def events(self, kind: str | None = None, key: str | None = None) -> list[Event]:
        """Return the events, oldest first, of one kind or about one key where these are given."""
        with self._busy:
            events = merge_events(self._read(), self._unsaved)
        return [e for e in events if kind in (None, e["kind"]) and key in (None, e["key"])]

    def export(self, target: str | Path, name: str = "") -> str:
        """Write a copy of the record to `target`, which must not exist yet, and say how many events it holds.

        Where `target` is a folder, a file with a random name is made in it, so that a class can hand in to one
        folder. A `name` is kept in the copy only where one is given. Raises FileExistsError or FileNotFoundError,
        with what to do, where there is a file of that name or no such folder.
        """
        target = Path(target)
        if target.is_dir():
            target /= f"record-{uuid4().hex[:12]}.json"
        if target.exists():
            raise FileExistsError(f"{target} exists already and was left as it is. Choose another name.")
        if not target.resolve().parent.is_dir():
            raise FileNotFoundError(f"There is no folder {target.resolve().parent}. Make it, or choose another.")
        events = self.events()
        _write(target, events, name)
        return f"{len(events)} events written to {target}."

    def import_from(self, source: str | Path) -> str:
        """Add the events of an exported record that are not here yet, and say how many there were.

        Raises ValueError, with what was found, where `source` is no record; nothing is changed then.
        """
        events, damaged = read_events(Path(source).read_bytes())
        if damaged and not events:
            raise ValueError(f"{source} is not a record of this course. Nothing was imported.")
        with self._busy:
            known = {event["id"] for event in self.events()}
            new = [event for event in events if event["id"] not in known]
            self._unsaved += new
            self._save()
        lost = " Some entries of that file could not be read and were left out." if damaged else ""
        return f"{len(new)} new events of {len(events)} imported from {source}.{lost} {self.trouble}".rstrip()

    def _save(self) -> None:
        """Write what is in the file and what is not yet saved, as one file, under the lock."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{self.path}.lock", timeout=LOCK_SECONDS):
                events, damaged = self._parsed()
                if damaged:
                    self._set_aside(len(events))
                _write(self.path, merge_events(events, self._unsaved))
        except (OSError, Timeout) as error:
            self.trouble = (
                f"Your record could not be saved to {self.path} ({_reason(error)}). It is kept in this notebook's "
                "memory and saved with your next answer, if that works. To keep it elsewhere, export it, or set "
                "COURSE_RECORD to a file in a folder you can write to before you start."
            )
        else:
            self._unsaved.clear()
            self.trouble = ""

    def _read(self) -> list[Event]:
        """Return what the file holds. It is replaced in one step, so reading needs no lock; mending it does."""
        try:
            events, damaged = self._parsed()
            if damaged:
                self._save()
            return events
        except OSError as error:
            self.trouble = self.trouble or f"Your record in {self.path} could not be read ({_reason(error)})."
            return []

    def _parsed(self) -> tuple[list[Event], bool]:
        try:
            return read_events(self.path.read_bytes())
        except FileNotFoundError:
            return [], False

    def _set_aside(self, readable: int) -> None:
        """Keep a damaged file under a new name and say so, before anything is written in its place."""
        number = 1
        while (aside := self.path.with_name(f"{self.path.stem}.damaged-{number}{self.path.suffix}")).exists():
            number += 1
        replace_file(aside, self.path.read_bytes())
        self.notice = (
            f"{self.path.name} was damaged. It is kept as {aside.name}; {readable} events could be read from it."
        )

    def _now(self) -> str:
        """Return the time as text that sorts: later than every event so far, also where the clock went back."""
        last = max((event["at"] for event in self.events()), default="")
        now = datetime.now(UTC)
        return _stamp(max(now, datetime.fromisoformat(last) + MICROSECOND) if last else now)


@cache
def open_record(path: Path | None = None) -> Record:
    """Return the record at `path`, or the learner's own: what COURSE_RECORD names, else a file beside the notebooks."""
    if path is None:
        named = os.environ.get("COURSE_RECORD")
        notebooks = Path(__file__).resolve().parents[2] / "notebooks"
        path = Path(named) if named else (notebooks if notebooks.is_dir() else Path.cwd()) / "my_record.json"
    return Record(path)


def merge_events(first: Iterable[Event], second: Iterable[Event]) -> list[Event]:
    """Return both as one list, each event once, oldest first."""
    by_id = {event["id"]: event for event in [*second, *first]}
    return sorted(by_id.values(), key=lambda event: (event["at"], event["id"]))


def read_events(raw: bytes) -> tuple[list[Event], bool]:
    """Return the events in a record file, and whether anything in it could not be read.

    Raises NewerFormat where a later version of the course wrote it.
    """
    try:
        content = json.loads(raw.decode("utf-8-sig"))
        entries, version = content["events"], content["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return [], True
    if isinstance(version, int) and version > FORMAT:
        raise NewerFormat("it was written by a newer version of this course; update the course to go on with it")
    if not isinstance(entries, list):
        return [], True
    events = [event for event in map(_event, entries) if event]
    return events, len(events) < len(entries)


def _event(entry: object) -> Event | None:
    """Return an entry of the file as an event, its time in UTC so that times sort as text, or None."""
    if not isinstance(entry, dict) or not all(isinstance(entry.get(f), str) for f in ("id", "at", "kind", "key")):
        return None
    fields = FIELDS.get(entry["kind"], {})
    if not all(isinstance(entry.get(name), kind) for name, kind in fields.items()):
        return None
    if not all(isinstance(item, str) for name, kind in fields.items() if kind is list for item in entry[name]):
        return None
    try:
        at = datetime.fromisoformat(entry["at"])
        if not 2000 <= at.year < 9000:
            return None
        return {**entry, "at": _stamp(at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC))}
    except (ValueError, OverflowError):
        return None


def _stamp(at: datetime) -> str:
    return at.isoformat(timespec="microseconds")


def _write(path: Path, events: list[Event], name: str = "") -> None:
    content = {"format": FORMAT, **({"name": name} if name else {}), "events": events}
    replace_file(path, (json.dumps(content, indent=1) + "\n").encode("ascii"))


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file in one step, so that a crash leaves the old one or the new one and never half of either."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with suppress(OSError):  # some network folders refuse it, and the content matters more
            part.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        for pause in (0.02, 0.05, 0.1, 0.2):
            with suppress(PermissionError):  # Windows, while another program has the file open for a moment
                part.replace(path)
                return
            time.sleep(pause)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _reason(error: Exception) -> str:
    if isinstance(error, Timeout):
        return f"another notebook has been writing to it for {LOCK_SECONDS:g} seconds"
    if isinstance(error, NewerFormat):
        return str(error)
    return getattr(error, "strerror", None) or type(error).__name__
