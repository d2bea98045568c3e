import base64
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.learn import board as board_module
from course_lib.learn.board import (
    LARGEST,
    View,
    as_card,
    as_page,
    as_text,
    board,
    board_widget,
    count,
    discussion_order,
    is_cut_off,
    main,
    plain,
    read_folder,
    view,
)
from course_lib.learn.explorer import WIDGET_VIEW
from course_lib.learn.predictions import CONFIDENCE
from course_lib.learn.record import Record

ROOT = Path(__file__).parents[2]
HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m</script>‮ $x$"
QUESTIONS = {
    "move1_bm25/stop_words": ("How many lists are shorter?", ("none", "some", "all"), ("all",)),
    "move1_bm25/which": ("Which two words matter?", ("E-4471", "error", "what", "means"), ("E-4471", "error")),
    "move2_sql/total": ("What does the query return?", ("42", "nothing"), ("42",)),
}


class Writer:
    """Writes records as the course does, event by event, with ids and times that a seed decides."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.events = []

    def add(self, kind, key, **details):
        number = self.random.getrandbits(128)
        at = f"2026-11-30T09:{len(self.events) // 60:02}:{len(self.events) % 60:02}.{number % 10**6:06}+00:00"
        self.events.append({"id": f"{number:032x}", "at": at, "kind": kind, "key": key, **details})

    def predict(self, key, answer, confidence="sure", late=False):
        question = QUESTIONS[key][0] if key in QUESTIONS else f"About {key}?"
        details = {"answer": list(answer), "confidence": confidence, "after_result": late}
        self.add("prediction", key, question=question, **details)

    def reveal(self, key, right):
        self.add("reveal", key, question=f"About {key}?", actual="", right=list(right))

    def save(self, path, **more):
        path.write_text(json.dumps({"format": 1, **more, "events": self.events}, indent=1), encoding="utf-8")
        return path


def class_of(folder, learners, seed=9):
    """Hand in the records of a class, and return what each learner did: (key, answer, confidence, late, revealed)."""
    rng = random.Random(seed)
    done = []
    for number in range(learners):
        writer = Writer(rng.random())
        for key, (_, options, right) in QUESTIONS.items():
            if rng.random() < 0.1:
                continue  # left out
            answer = tuple(sorted(rng.sample(options, len(right)), key=options.index))
            confidence, late, revealed = rng.choice(CONFIDENCE), rng.random() < 0.1, rng.random() < 0.8
            writer.predict(key, answer, confidence, late)
            if revealed:
                writer.reveal(key, right)
            done.append((key, answer, confidence, late, revealed))
        writer.add("hint", "move1_bm25/e")
        writer.save(folder / f"record-{number}.json")
    return done


def one(folder, file="a.json", key="n/q", answer=("x",), right=("y",), seed=1, name=None, **details):
    writer = Writer(seed)
    writer.predict(key, answer, **details)
    if right:
        writer.reveal(key, right)
    writer.save(folder / file, **({"name": name} if name else {}))
    return writer


def everything(folder, **options):
    """All ways in which a board is shown."""
    shown = view(folder, **options)
    return [as_text(shown), as_card(shown), as_page(shown, live=True)]


class Tags(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.seen, self.open, self.attributes = Counter(), [], set()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.seen[tag] += 1
        self.attributes |= {name for name, _ in attrs}
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


# --- A class ----------------------------------------------------------------------------------------------------------


def test_forty_records_are_counted_as_their_generator_counts_them(tmp_path):
    done = class_of(tmp_path, 40)
    room = read_folder(tmp_path)
    assert [learner.label for learner in room.learners] == [f"learner {n}" for n in range(1, 41)]
    assert (room.files, room.older, room.left_out, room.notes) == (40, 0, (), ())
    for tally in count(room):
        right = QUESTIONS[tally.key][2]
        mine = [entry for entry in done if entry[0] == tally.key]
        before = [(answer, confidence, seen) for _, answer, confidence, late, seen in mine if not late]
        missed = [confidence for answer, confidence, seen in before if seen and answer != right]
        assert tally.before == len(before)
        assert tally.after == sum(late for *_, late, _ in mine)
        assert tally.missed == len(missed)
        assert tally.sure_and_missed == missed.count("sure")
        assert {a.name: a.before for a in tally.answers if a.before} == Counter(
            name for answer, _, _ in before for name in answer
        )
        assert {a.name: a.after for a in tally.answers if a.after} == Counter(
            name for _, answer, _, late, _ in mine if late for name in answer
        )
        assert {a.name for a in tally.answers if a.in_result} == set(right)
        for step in CONFIDENCE:
            at = [(answer == right, seen) for answer, confidence, seen in before if confidence == step]
            assert tally.steps[step] == (len(at), sum(seen for _, seen in at), sum(ok and seen for ok, seen in at))


def test_predictions_come_in_the_order_in_which_the_class_met_them(tmp_path):
    class_of(tmp_path, 40)
    assert [tally.key for tally in count(read_folder(tmp_path))] == list(QUESTIONS)
    assert list(view(tmp_path).notebooks) == ["move1_bm25", "move2_sql"]


def test_one_notebook_can_be_shown_alone(tmp_path):
    class_of(tmp_path, 5)
    assert [tally.key for tally in count(read_folder(tmp_path), "move2_sql")] == ["move2_sql/total"]
    assert "None of those records" in as_text(view(tmp_path, notebook="move9"))


def test_an_empty_folder_says_how_to_hand_in(tmp_path):
    for shown in everything(tmp_path):
        assert "0 learners from 0 files." in shown
        assert "lesson.record.export(FOLDER)" in shown


def test_one_learner_is_a_class(tmp_path):
    one(tmp_path)
    text = as_text(view(tmp_path))
    assert "1 learner from 1 file." in text
    assert "1  ####################  x  [1 sure]" in text
    assert "0                        y  [the result]" in text
    assert "Missed: 1 of 1. Sure and missed: 1." in text


def test_answers_given_after_the_result_are_shown_apart_and_not_scored(tmp_path):
    one(tmp_path, "a.json", seed=1, answer=("x",))
    one(tmp_path, "b.json", seed=2, answer=("y",), late=True)
    tally = count(read_folder(tmp_path))[0]
    assert (tally.before, tally.after, tally.scored, tally.missed) == (1, 1, 1, 1)
    text = as_text(view(tmp_path))
    assert "1 answered before the result, 1 after it (not scored)." in text
    assert "y  [the result; 1 after the result]" in text
    assert "After the result" in as_card(view(tmp_path))


def test_the_first_answer_counts_and_the_change_is_said(tmp_path):
    writer = Writer(1)
    for answer in ("x", "y"):
        writer.predict("n/q", [answer])
    writer.save(tmp_path / "a.json")
    tally = count(read_folder(tmp_path))[0]
    assert [(a.name, a.before) for a in tally.answers] == [("x", 1)]
    assert "1 changed their answer later" in as_text(view(tmp_path))


def test_what_most_were_sure_of_and_missed_is_discussed_first(tmp_path):
    for number in range(6):
        writer = Writer(number)
        for key, miss, confidence in (
            ("n/all_guessed_wrong", True, "a guess"),
            ("n/two_sure", number < 2, "sure"),
            ("n/four_sure", number < 4, "sure"),
            ("n/nobody_missed", False, "sure"),
        ):
            writer.predict(key, ["wrong" if miss else "right"], confidence)
            writer.reveal(key, ["right"])
        writer.save(tmp_path / f"{number}.json")
    order = [tally.key for tally in discussion_order(count(read_folder(tmp_path)))]
    assert order == ["n/four_sure", "n/two_sure", "n/all_guessed_wrong"]
    text = as_text(view(tmp_path))
    assert "1. n/four_sure: 4 sure and missed, 4 of 6 missed" in text
    assert '<a href="#prediction-3">n/four_sure</a>' in as_page(view(tmp_path))
    assert '<div id="prediction-3"><table><caption>n/four_sure:' in as_page(view(tmp_path))


def test_results_can_be_hidden_while_the_class_still_predicts(tmp_path):
    one(tmp_path, "a.json", seed=1, answer=("x",), right=("the secret",))
    one(tmp_path, "b.json", seed=2, answer=("the secret",), right=(), late=True)
    for shown in everything(tmp_path, hide_results=True):
        assert "the secret" not in shown
        assert "issed" not in re.sub(r"<style>.*?</style>", "", shown, flags=re.S)
        assert "Discuss first" not in shown
        assert "x" in shown
    assert all("the secret" in shown for shown in everything(tmp_path))


def test_a_result_that_few_records_hold_does_not_replace_the_one_of_most(tmp_path):
    for number in range(3):
        one(tmp_path, f"{number}.json", seed=number, right=("other",) if number == 0 else ("y",))
    tally = count(read_folder(tmp_path))[0]
    assert tally.result == "y"
    assert "1 record with another result" in as_text(view(tmp_path))


# --- Handing in -------------------------------------------------------------------------------------------------------


def test_an_export_to_a_folder_gets_a_name_that_says_nothing_and_holds_none(tmp_path):
    (tmp_path / "class ü #1").mkdir()
    record = Record(tmp_path / "anna.json")
    record.add("hint", "n/e")
    assert "1 events written to" in record.export(tmp_path / "class ü #1")
    record.export(tmp_path / "class ü #1")
    files = list((tmp_path / "class ü #1").iterdir())
    assert len(files) == 2
    assert all(re.fullmatch(r"record-[0-9a-f]{12}\.json", file.name) for file in files)
    assert set(json.loads(files[0].read_text(encoding="utf-8"))) == {"format", "events"}


def test_a_network_folder_that_refuses_permissions_takes_the_export(tmp_path, monkeypatch):
    record = Record(tmp_path / "r.json")
    record.add("hint", "n/e")

    def refuse(*args, **kwargs):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refuse)
    (tmp_path / "class").mkdir()
    record.export(tmp_path / "class")
    assert len(read_folder(tmp_path / "class").learners) == 1


def test_a_name_is_in_the_export_only_where_the_learner_gives_it(tmp_path):
    record = Record(tmp_path / "r.json")
    record.add("prediction", "n/q", question="Which?", answer=["x"], confidence="sure", after_result=False)
    folder = tmp_path / "class"
    folder.mkdir()
    record.export(folder / "mine.json", name="Ada Ö.")
    assert "Ada" not in (tmp_path / "r.json").read_text(encoding="utf-8")
    assert [learner.label for learner in read_folder(folder).learners] == ["learner 1"]
    assert [learner.label for learner in read_folder(folder, names=True).learners] == ["Ada Ö."]
    other = Record(tmp_path / "other.json")
    assert other.import_from(folder / "mine.json").startswith("1 new events of 1")


def test_a_learner_who_hands_in_twice_counts_once_with_the_newer_record(tmp_path):
    writer = Writer(1)
    writer.predict("n/first", ["x"])
    writer.save(tmp_path / "z_early.json", name="Ada")
    writer.predict("n/second", ["x"])
    writer.save(tmp_path / "a_late.json", name="Ada")
    (tmp_path / "copy (1).json").write_bytes((tmp_path / "a_late.json").read_bytes())
    one(tmp_path, "b.json", seed=2)
    room = read_folder(tmp_path)
    assert (len(room.learners), room.older, room.notes) == (2, 2, ())
    assert {len(learner.outcomes) for learner in room.learners} == {1, 2}
    assert "2 learners from 4 files (2 older copies of a record)." in as_text(view(tmp_path))


def test_two_records_with_a_common_beginning_are_two_learners_and_it_is_said(tmp_path):
    for number, answer in enumerate("xy"):
        writer = Writer(1)
        writer.predict("n/shared", ["x"])
        writer.random.seed(number + 10)
        writer.predict("n/own", [answer])
        writer.save(tmp_path / f"{number}.json")
    room = read_folder(tmp_path)
    assert len(room.learners) == 2
    assert room.notes[0].startswith("2 records hold answers of another one")


def test_neither_names_of_files_nor_of_learners_are_shown_unless_asked_for(tmp_path):
    one(tmp_path, "anna_meier.json", name="Anna", seed=1)
    (tmp_path / "bob_brown.txt").write_text("hello", encoding="utf-8")
    torn = one(tmp_path, "carla_costa.json", seed=2)
    torn.events.append("torn")
    torn.save(tmp_path / "carla_costa.json")
    for shown in everything(tmp_path):
        assert not re.search("anna|bob|carla", shown, re.I)
        assert "file 2 of 3: not a record of this course." in shown
        assert "file 3 of 3: some entries could not be read; the others count." in shown
    for shown in everything(tmp_path, names=True):
        assert "Anna" in shown
        assert "learner 2" in shown
        assert "bob_brown.txt: not a record of this course." in shown
        assert "anna_meier" not in shown


# --- Files that are none ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not complete yet"),
        (b"\0" * 4096, "not complete yet"),
        (b'{"format": 1, "events": [', "not complete yet"),
        (b"hello", "not a record"),
        (b"[]", "not a record"),
        (b"null", "not a record"),
        (b'{"cells": [], "nbformat": 4}', "not a record"),
        (b'{"format": 1, "events": {"a": 1}}', "not a record"),
        (b'{"format": 1, "events": [1, {"id": 2}]}', "not a record"),
        (b"\xff\xfe{\x00}\x00", "not a record"),
        (b'{"format": 1, "events": "\xff"}', "not a record"),
        (b"[" * 100_000, "not a record"),
        (b'{"a":' * 100_000, "not a record"),
        (b'{"format": 1' + b"0" * 5000 + b', "events": []}', "not a record"),
        (b'{"format": 2, "events": []}', "newer version"),
        (b'{"format": 1, "events": []}', "nothing answered yet"),
        (b" " * (LARGEST + 1), "larger than 5 MB"),
    ],
)
def test_a_file_that_is_no_record_is_listed_with_the_reason_and_left_out(tmp_path, content, why):
    (tmp_path / "a.json").write_bytes(content)
    one(tmp_path, "b.json")
    room = read_folder(tmp_path)
    assert [(file, why in said) for file, said in room.left_out] == [("file 1 of 2", True)], room.left_out
    assert len(room.learners) == 1
    assert all("Left out" in shown and "1 left out" in shown for shown in everything(tmp_path))


def test_a_folder_among_the_files_is_listed_and_not_entered(tmp_path):
    (tmp_path / "a.json").mkdir()
    one(tmp_path / "a.json")
    room = read_folder(tmp_path)
    assert room.learners == ()
    assert "a folder" in room.left_out[0][1]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    assert "no ordinary file" in read_folder(tmp_path).left_out[0][1]


def test_a_file_that_may_not_be_read_is_listed(tmp_path, monkeypatch):
    one(tmp_path)

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert read_folder(tmp_path).left_out == (("file 1 of 1", "could not be read (Permission denied)"),)


def test_files_of_the_system_and_locks_are_no_hand_ins(tmp_path):
    for name in (".DS_Store", "desktop.ini", "Thumbs.db", "my_record.json.lock"):
        (tmp_path / name).write_bytes(b"")
    assert read_folder(tmp_path).files == 0


def test_every_beginning_of_a_record_is_not_complete_yet(tmp_path):
    writer = one(tmp_path, answer=("Zoë \u2028 🦆",))
    whole = (tmp_path / "a.json").read_bytes()
    raw = json.dumps({"format": 1, "late": [True, None], "events": writer.events}, ensure_ascii=False)
    for content in (whole, raw.encode("utf-8"), b"\xef\xbb\xbf" + whole):
        for length in range(1, len(content)):
            assert is_cut_off(content[:length]) or length < 3, content[:length]
        assert not is_cut_off(content)


def test_a_download_on_its_way_is_not_opened(tmp_path):
    (tmp_path / "record.json.crdownload").write_bytes(b"hello")
    assert "not complete yet" in read_folder(tmp_path).left_out[0][1]


def test_many_foreign_files_are_counted_rather_than_listed(tmp_path):
    for number in range(30):
        (tmp_path / f"{number}.txt").write_bytes(b"hello")
    assert "And 10 more." in as_text(view(tmp_path))


def test_hostile_texts_are_inert_on_every_board(tmp_path):
    writer = Writer(1)
    writer.add("prediction", HOSTILE, question=HOSTILE, answer=[HOSTILE], confidence=HOSTILE, after_result=False)
    writer.reveal(HOSTILE, [HOSTILE])
    writer.save(tmp_path / "a.json", name=HOSTILE)
    if sys.platform != "win32":
        (tmp_path / "<img src=x>\x1b[31m").write_bytes(b"hello")
    for options in ({}, {"names": True}):
        text, on_card, on_page = everything(tmp_path, **options)
        assert all(c.isprintable() or c == "\n" for c in text)
        for html in (on_card, on_page):
            tags = Tags(html)
            assert tags.open == []
            assert "img" not in tags.seen
            assert "onerror" not in tags.attributes
            assert "\x1b" not in html
            assert "‮" not in html
        assert Tags(on_page).seen["script"] == 1


def test_long_texts_and_long_lists_are_cut(tmp_path):
    writer = Writer(1)
    long = "<b>" * 4_000
    answers = [f"{number} {long}" for number in range(200)]
    writer.add("prediction", long, question=long, answer=answers, confidence="sure", after_result=False)
    writer.save(tmp_path / "a.json", name=long)
    for shown in everything(tmp_path, names=True):
        assert len(shown) < 40_000
        assert "And 186 more answers." in shown


def test_a_record_with_a_thousand_invented_questions_does_not_hide_what_the_class_answered(tmp_path):
    class_of(tmp_path, 3)
    writer = Writer(77)
    for number in range(1000):
        writer.predict(f"n/{number}", ["x"])
    writer.save(tmp_path / "z.json")
    shown = view(tmp_path)
    assert len(shown.tallies) == 150
    assert set(QUESTIONS) <= {tally.key for tally in shown.tallies}
    assert "853 more predictions" in as_text(shown)


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=300) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_no_content_of_a_file_stops_the_board(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("class")
    (folder / "a.json").write_bytes(content)
    assert len(read_folder(folder).left_out) == 1


TEXTS = st.text(st.characters(codec=None), max_size=30)  # lone surrogates too


@settings(max_examples=30, deadline=None)
@given(TEXTS, TEXTS, st.lists(TEXTS, max_size=4), TEXTS, st.lists(TEXTS, max_size=4), TEXTS)
def test_any_text_in_a_record_is_shown(tmp_path_factory, key, question, answer, confidence, right, name):
    folder = tmp_path_factory.mktemp("class")
    writer = Writer(1)
    writer.add("prediction", key, question=question, answer=answer, confidence=confidence, after_result=False)
    writer.reveal(key, right)
    writer.save(folder / "a.json", name=name)
    text, on_card, on_page = everything(folder, names=True)
    assert all(c.isprintable() or c == "\n" for c in text)
    for html in (on_card, on_page):
        html.encode("utf-8")
        assert Tags(html).open == []


@given(TEXTS, st.integers(2, 20))
def test_plain_text_has_one_printable_line_of_the_given_length(text, longest):
    shown = plain(text, longest)
    assert len(shown) <= longest
    assert shown.isprintable()


def test_a_missing_folder_and_a_file_in_its_place_are_said(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        read_folder(tmp_path / "nowhere")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotADirectoryError, match="is a file"):
        board(tmp_path / "file")


def state(folder):
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir() if path.is_file()}


def test_looking_writes_nothing(tmp_path):
    class_of(tmp_path, 3)
    (tmp_path / "damaged.json").write_bytes(b"{")
    before = state(tmp_path)
    everything(tmp_path)
    repr(board(tmp_path))
    assert state(tmp_path) == before


# --- The page ---------------------------------------------------------------------------------------------------------


def test_the_page_allows_its_own_script_and_nothing_from_elsewhere(tmp_path):
    class_of(tmp_path, 3)
    page = as_page(view(tmp_path), live=True)
    script = page[page.index("<script>") + 8 : page.index("</script>")]
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    assert f"script-src 'sha256-{digest}'" in page
    assert not re.search(r"https?:|//[a-z]|src=|url\(", page)
    assert "script-src 'none'" in as_page(view(tmp_path))
    assert "<script" not in as_page(view(tmp_path))


def test_tables_have_captions_and_headers_for_rows_and_columns(tmp_path):
    class_of(tmp_path, 3)
    page = as_page(view(tmp_path))
    assert page.count("<table>") == page.count("<caption>") == 4
    assert '<th scope="col"' in page
    assert '<th scope="row">' in page


# --- In a notebook ----------------------------------------------------------------------------------------------------


def test_the_card_shows_itself_with_and_without_widgets(tmp_path):
    one(tmp_path)
    bundle = board(tmp_path)._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", WIDGET_VIEW}
    assert "1 learner from 1 file." in bundle["text/plain"]
    assert "1 learner from 1 file." in bundle["text/html"]
    assert "<details open>" in bundle["text/html"]


def parts(widget):
    return {name: child for child in widget.children for name in ("read", "follow", "board") if has(child, name)}


def has(child, name):
    return f"vr-{name}" in child._dom_classes


def test_the_button_reads_the_folder_again(tmp_path):
    w = parts(board_widget(board(tmp_path)))
    assert "0 learners" in w["board"].value
    one(tmp_path)
    w["read"].click()
    assert "1 learner from" in w["board"].value


def test_a_folder_that_goes_away_is_said_and_the_last_board_stays(tmp_path):
    folder = tmp_path / "class"
    folder.mkdir()
    path = folder / "a.json"
    one(folder)
    w = parts(board_widget(board(folder)))
    path.unlink()
    folder.rmdir()
    w["read"].click()
    assert "could not be read" in w["board"].value
    assert "1 learner from" in w["board"].value


def test_ticked_it_reads_the_folder_by_itself_until_the_tick_is_taken_away(tmp_path):
    shown = board(tmp_path)
    shown.seconds = 0.01
    w = parts(board_widget(shown))
    w["follow"].value = True
    one(tmp_path)
    give_up = time.monotonic() + 10
    while "1 learner from" not in w["board"].value and time.monotonic() < give_up:
        time.sleep(0.01)
    w["follow"].value = False
    assert "1 learner from" in w["board"].value


# --- The command line -------------------------------------------------------------------------------------------------


def test_the_board_is_printed(tmp_path, capsys):
    class_of(tmp_path, 40)
    assert main([str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out == as_text(view(tmp_path)) + "\n"
    assert "Class board: 40 learners from 40 files." in out


def test_watching_shows_what_arrives_and_reads_a_file_again_once_it_is_complete(tmp_path, capsys):
    one(tmp_path, "b.json", seed=2)
    whole = (tmp_path / "b.json").read_bytes()
    (tmp_path / "b.json").unlink()
    steps = iter([whole[:100], whole[:100], whole])

    def wait(seconds):
        try:
            (tmp_path / "b.json").write_bytes(next(steps))
        except StopIteration:
            raise KeyboardInterrupt from None

    assert main([str(tmp_path), "--watch"], wait) == 0
    boards = capsys.readouterr().out.split("Class board: ")[1:]
    assert [text.split(".")[0] for text in boards] == [
        "0 learners from 0 files",
        "0 learners from 1 file (1 left out)",
        "1 learner from 1 file",
    ]
    assert "not complete yet" in boards[1]
    assert "The board is closed." in boards[2]


def test_watching_goes_on_when_the_folder_was_away_for_a_moment(tmp_path, capsys):
    folder, away = tmp_path / "class", tmp_path / "away"
    folder.mkdir()
    moves = iter([(folder, away), None, (away, folder)])

    def wait(seconds):
        try:
            move = next(moves)
        except StopIteration:
            raise KeyboardInterrupt from None
        if move:
            move[0].rename(move[1])

    assert main([str(folder), "--watch"], wait) == 0
    said = capsys.readouterr()
    assert said.err.count("could not be renewed") == 1
    assert said.out.count("Class board:") == 2


def test_the_page_is_written_and_renewed_and_is_no_hand_in_itself(tmp_path, capsys):
    one(tmp_path)
    page = tmp_path / "board ü.html"
    for _ in range(2):
        assert main([str(tmp_path), "--html", str(page)]) == 0
    assert "1 learner from 1 file." in page.read_text(encoding="utf-8")
    assert "1 learner from 1 file. The board is" in capsys.readouterr().out


def test_a_page_that_is_no_board_is_never_replaced(tmp_path, capsys):
    thesis = tmp_path / "thesis.html"
    thesis.write_text("years of work", encoding="utf-8")
    assert main([str(tmp_path), "--html", str(thesis)]) == 2
    assert "no class board" in capsys.readouterr().err
    assert thesis.read_text(encoding="utf-8") == "years of work"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "There is no folder nowhere"),
        ([".", "--html", "board.txt"], "HTML file is expected"),
        ([".", "--html", "nowhere/board.html"], "There is no folder"),
        ([".", "--every", "0"], "from 0.5 to 3600"),
        ([".", "--every", "nan"], "from 0.5 to 3600"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(tmp_path, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_it_runs_as_a_module_on_a_console_that_knows_few_characters(tmp_path):
    one(tmp_path, answer=("鴨 →",))
    done = subprocess.run(
        [sys.executable, "-m", "course_lib.learn.board", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"Class board: 1 learner" in done.stdout


def test_the_terminal_is_cleared_only_where_there_is_one(tmp_path, monkeypatch, capsys):
    def refuse(command):
        raise AssertionError(command)

    monkeypatch.setattr(board_module.os, "system", refuse)

    def stop(seconds):
        raise KeyboardInterrupt

    assert main([str(tmp_path), "--watch"], stop) == 0


def test_a_view_without_tallies_has_nothing_to_discuss(tmp_path):
    assert View(read_folder(tmp_path), ()).to_discuss == []
