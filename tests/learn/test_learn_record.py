import json
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.learn import record as record_module
from course_lib.learn.record import Record, open_record

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "Mein Kurs ü" / "my_record.json"


def prediction(record, key="n/q", answer=("a",)):
    return record.add("prediction", key, question="Which?", answer=list(answer), confidence="sure", after_result=False)


def test_events_are_there_after_a_restart(path):
    prediction(Record(path))
    assert [event["answer"] for event in Record(path).events("prediction", "n/q")] == [["a"]]


def test_events_can_be_asked_for_by_kind_and_by_key(path):
    record = Record(path)
    prediction(record, "n/q")
    record.add("hint", "n/e")
    assert len(record.events()) == 2
    assert [event["kind"] for event in record.events(key="n/e")] == ["hint"]
    assert record.events("hint", "n/q") == []


def test_two_processes_lose_none_of_two_hundred_writes_each(path):
    code = (
        "import sys; from pathlib import Path; from course_lib.learn.record import Record\n"
        "record = Record(Path(sys.argv[1]))\n"
        "for number in range(200): record.add('hint', f'{sys.argv[2]}/{number}')\n"
        "assert not record.trouble, record.trouble"
    )
    workers = [
        subprocess.Popen([sys.executable, "-c", code, str(path), name], cwd=ROOT, stderr=subprocess.PIPE, text=True)
        for name in ("one", "two")
    ]
    errors = [worker.communicate(timeout=120)[1] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0], errors
    keys = {event["key"] for event in Record(path).events("hint")}
    assert keys == {f"{name}/{number}" for name in ("one", "two") for number in range(200)}


class Clock(datetime):
    """A clock that shows what it is told."""

    shows = datetime(2026, 9, 25, 12, tzinfo=UTC)

    @classmethod
    def now(cls, tz=None):
        return cls.shows


@pytest.mark.parametrize("later", [timedelta(0), timedelta(hours=-1)], ids=["stands still", "goes back"])
def test_the_first_answer_stays_the_first_also_where_the_clock(path, monkeypatch, later):
    monkeypatch.setattr(record_module, "datetime", Clock)
    monkeypatch.setattr(Clock, "shows", datetime(2026, 9, 25, 12, tzinfo=UTC))
    for number in range(5):
        prediction(Record(path), answer=[str(number)])
        monkeypatch.setattr(Clock, "shows", Clock.shows + later)
    assert [event["answer"] for event in Record(path).events()] == [[str(number)] for number in range(5)]


def test_two_threads_of_one_kernel_lose_nothing(path):
    record = Record(path)
    workers = [
        threading.Thread(target=lambda n=n: [record.add("hint", f"{n}/{i}") for i in range(40)]) for n in range(3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert record.trouble == ""
    assert len(Record(path).events()) == len(record.events()) == 120


@pytest.mark.parametrize("at", ["yesterday", "", "9999-12-31T23:59:59.999999+00:00", "0001-01-01T00:00:00"])
def test_an_event_without_a_usable_time_is_left_out_and_later_answers_are_kept(tmp_path, at):
    other = Record(tmp_path / "other.json")
    prediction(other)
    text = (tmp_path / "other.json").read_text(encoding="utf-8")
    (tmp_path / "other.json").write_text(text.replace(other.events()[0]["at"], at), encoding="utf-8")
    record = Record(tmp_path / "mine.json")
    with pytest.raises(ValueError, match="not a record"):
        record.import_from(tmp_path / "other.json")
    prediction(record)
    assert len(record.events()) == 1


def test_times_of_other_zones_are_ordered_as_times(tmp_path):
    record = Record(tmp_path / "r.json")
    prediction(record, answer=["utc"])
    content = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    earlier = {**content["events"][0], "id": "x", "answer": ["naive"], "at": "2020-01-01T00:00:00"}
    zone = {**content["events"][0], "id": "y", "answer": ["zone"], "at": "2020-01-01T01:30:00+02:00"}
    content["events"] += [earlier, zone]
    (tmp_path / "r.json").write_text(json.dumps(content), encoding="utf-8")
    assert [event["answer"] for event in Record(tmp_path / "r.json").events()] == [["zone"], ["naive"], ["utc"]]


def test_a_file_that_cannot_be_read_is_said_and_answers_are_kept_in_memory(path):
    path.mkdir(parents=True)  # a folder in its place: reading fails on every system
    record = Record(path)
    assert record.events() == []
    assert "could not be read" in record.trouble
    prediction(record)
    assert len(record.events()) == 1


def test_a_full_disk_while_a_damaged_file_is_set_aside_loses_nothing(path, monkeypatch):
    prediction(Record(path))
    content = json.loads(path.read_text(encoding="utf-8"))
    content["events"].append("torn")
    path.write_text(json.dumps(content), encoding="utf-8")
    record = Record(path)
    with monkeypatch.context() as patch:
        fail_to_write(patch)
        assert len(record.events()) == 1
        assert "No space left" in record.trouble
    assert len(record.events()) == 1
    assert "damaged-1" in record.notice


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_the_file_keeps_its_permissions(path):
    prediction(Record(path))
    assert path.stat().st_mode & 0o777 == 0o644
    path.chmod(0o664)
    prediction(Record(path), key="n/other")
    assert path.stat().st_mode & 0o777 == 0o664


def test_a_file_that_another_program_holds_for_a_moment_is_written_a_little_later(path, monkeypatch):
    record, real, calls = Record(path), Path.replace, []

    def held(self, target):
        calls.append(target)
        if len(calls) < 3:
            raise PermissionError(13, "used by another process")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", held)
    prediction(record)
    assert record.trouble == ""
    assert len(calls) == 3


def test_an_export_to_a_missing_folder_says_which(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        Record(tmp_path / "r.json").export(tmp_path / "nowhere" / "mine.json")


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"\xff\xfe\x00", b'{"format": 1, "events": 5}', b"[" * 100_000, b'{"events": []}'],
)
def test_a_damaged_file_is_set_aside_and_said_so(path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    record = Record(path)
    prediction(record)
    assert path.with_name("my_record.damaged-1.json").read_bytes() == content
    assert "my_record.damaged-1.json" in record.notice
    assert len(Record(path).events()) == 1


def test_reading_alone_sets_a_damaged_file_aside_too(path):
    path.parent.mkdir()
    path.write_bytes(b"{")
    record = Record(path)
    assert record.events() == []
    assert "damaged" in record.notice


def test_what_can_be_read_of_a_damaged_file_is_kept(path):
    record = Record(path)
    prediction(record, "n/whole")
    content = json.loads(path.read_text(encoding="utf-8"))
    content["events"] += [{"id": 3}, "x", {**content["events"][0], "id": "z", "answer": [1]}]
    path.write_text(json.dumps(content), encoding="utf-8")
    again = Record(path)
    assert [event["key"] for event in again.events()] == ["n/whole"]
    assert "1 events could be read" in again.notice


def test_a_second_damaged_file_does_not_replace_the_first(path):
    path.parent.mkdir()
    for content in (b"first", b"second"):
        path.write_bytes(content)
        Record(path).events()
    assert path.with_name("my_record.damaged-1.json").read_bytes() == b"first"
    assert path.with_name("my_record.damaged-2.json").read_bytes() == b"second"


def test_a_file_that_windows_notepad_saved_is_still_a_record(path):
    prediction(Record(path))
    text = path.read_text(encoding="utf-8").replace("\n", "\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + text.encode("utf-8"))
    record = Record(path)
    assert len(record.events()) == 1
    assert record.notice == ""


def test_a_record_of_a_newer_course_is_not_overwritten(path):
    path.parent.mkdir()
    newer = b'{"format": 2, "events": {"shape": "unknown"}}'
    path.write_bytes(newer)
    record = Record(path)
    assert record.events() == []
    assert "newer version" in record.trouble
    prediction(record)
    assert path.read_bytes() == newer
    assert "newer version" in record.trouble
    assert len(record.events()) == 1


def fail_to_write(monkeypatch, strerror="No space left on device"):
    def full(*args, **kwargs):
        raise OSError(28, strerror)

    monkeypatch.setattr(record_module.os, "fsync", full)


def test_a_full_disk_loses_nothing_and_is_said(path, monkeypatch):
    record = Record(path)
    prediction(record, "n/before")
    with monkeypatch.context() as patch:
        fail_to_write(patch)
        prediction(record, "n/while full")
        assert "No space left on device" in record.trouble
        assert [event["key"] for event in record.events()] == ["n/before", "n/while full"]
        assert [event["key"] for event in Record(path).events()] == ["n/before"]
    prediction(record, "n/after")
    assert record.trouble == ""
    assert [event["key"] for event in Record(path).events()] == ["n/before", "n/while full", "n/after"]
    assert [name.name for name in path.parent.iterdir() if name.suffix == ".part"] == []


def test_a_folder_that_cannot_be_made_loses_nothing_and_is_said(tmp_path):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    record = Record(tmp_path / "file" / "my_record.json")
    prediction(record)
    assert "could not be saved" in record.trouble
    assert "COURSE_RECORD" in record.trouble
    assert len(record.events()) == 1


def test_a_lock_that_another_notebook_holds_is_waited_for_and_then_said(path, monkeypatch):
    monkeypatch.setattr(record_module, "LOCK_SECONDS", 0.1)
    path.parent.mkdir()
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, filelock\nwith filelock.FileLock(sys.argv[1]): print('held', flush=True); sys.stdin.read()",
            f"{path}.lock",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == b"held"
        record = Record(path)
        prediction(record)
        assert "another notebook" in record.trouble
    finally:
        holder.communicate(b"")
    record.add("hint", "n/e")
    assert len(Record(path).events()) == 2


def test_two_copies_merge_and_the_earlier_answer_stays_the_first(tmp_path):
    home, binder = Record(tmp_path / "home.json"), Record(tmp_path / "binder.json")
    prediction(binder, answer=["on Binder"])
    prediction(home, answer=["at home"])
    assert "1 events written" in binder.export(tmp_path / "export.json")
    said = home.import_from(tmp_path / "export.json")
    assert said.startswith("1 new events of 1 imported")
    assert [event["answer"] for event in home.events("prediction", "n/q")] == [["on Binder"], ["at home"]]
    assert home.import_from(tmp_path / "export.json").startswith("0 new events of 1")
    assert len(Record(tmp_path / "home.json").events()) == 2


def test_an_export_never_replaces_a_file(tmp_path):
    record = Record(tmp_path / "my_record.json")
    (tmp_path / "thesis.json").write_text("years of work", encoding="utf-8")
    with pytest.raises(FileExistsError, match="Choose another name"):
        record.export(tmp_path / "thesis.json")
    assert (tmp_path / "thesis.json").read_text(encoding="utf-8") == "years of work"


def test_importing_something_else_changes_nothing(tmp_path):
    record = Record(tmp_path / "my_record.json")
    prediction(record)
    (tmp_path / "notes.txt").write_text("not a record", encoding="utf-8")
    with pytest.raises(ValueError, match="not a record of this course"):
        record.import_from(tmp_path / "notes.txt")
    assert len(Record(tmp_path / "my_record.json").events()) == 1


def test_unreadable_entries_of_an_import_are_left_out_and_said(tmp_path):
    other = Record(tmp_path / "other.json")
    prediction(other)
    content = json.loads((tmp_path / "other.json").read_text(encoding="utf-8"))
    content["events"].append("torn")
    (tmp_path / "other.json").write_text(json.dumps(content), encoding="utf-8")
    said = Record(tmp_path / "mine.json").import_from(tmp_path / "other.json")
    assert "could not be read and were left out" in said


@given(st.text(), st.text())
def test_any_text_survives_the_file(tmp_path_factory, key, text):
    path = tmp_path_factory.mktemp("record") / "r.json"
    Record(path).add("note", key, text=text)
    event = Record(path).events()[0]
    assert (event["key"], event["text"]) == (key, text)


def test_a_lone_surrogate_survives_the_file(path):
    Record(path).add("note", "n/\ud800", text="\ud800")
    assert Record(path).events()[0]["text"] == "\ud800"


def test_the_record_is_where_course_record_says(monkeypatch, tmp_path):
    open_record.cache_clear()
    monkeypatch.setenv("COURSE_RECORD", str(tmp_path / "mine.json"))
    assert open_record().path == tmp_path / "mine.json"
    open_record.cache_clear()


def test_the_record_is_beside_the_notebooks_by_default(monkeypatch):
    open_record.cache_clear()
    monkeypatch.delenv("COURSE_RECORD")
    assert open_record().path == ROOT / "notebooks" / "my_record.json"
    open_record.cache_clear()


def test_a_read_only_folder_loses_nothing_and_is_still_read(path, monkeypatch):
    prediction(Record(path), "n/before")

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(record_module.tempfile, "mkstemp", refuse)
    monkeypatch.setattr(record_module.FileLock, "acquire", refuse)
    record = Record(path)
    prediction(record, "n/after")
    assert "Permission denied" in record.trouble
    assert [event["key"] for event in record.events()] == ["n/before", "n/after"]
