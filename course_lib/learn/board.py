"""The class board: a folder of exported records, and what the room predicted.

    python -m course_lib.learn.board FOLDER --watch

Learners hand in with `lesson.record.export(FOLDER)`. The board reads those files and changes none; it shows no file
names and no names of learners unless it is asked to, and only names that learners gave themselves.
"""

import argparse
import json
import os
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from threading import Event as Signal
from threading import Thread
from typing import Any

from course_lib.learn.explorer import WIDGET_VIEW, boxed, view_of
from course_lib.learn.keepsake import html_page
from course_lib.learn.look import STYLE, card, escape, mark, paragraph
from course_lib.learn.predictions import CONFIDENCE
from course_lib.learn.record import Event, NewerFormat, merge_events, read_events, replace_file
from course_lib.learn.summary import TABLE_STYLE, Outcome, folded, notebook_of, outcomes_in, readable_table

LARGEST = 5_000_000  # bytes; a record of the whole course has about a tenth of that
LONGEST_QUESTION, LONGEST_ANSWER, LONGEST_NAME = 300, 80, 40  # characters shown
MOST_PREDICTIONS, MOST_ANSWERS, MOST_LEFT_OUT = 150, 14, 20  # lines shown: the rest is counted
ON_THE_WAY = (".part", ".partial", ".crdownload", ".download", ".tmp")
SYSTEM_FILES = ("desktop.ini", "thumbs.db")

# --- Reading the folder -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HandIn:
    """One file: its events, oldest first, the name given in it, and what could not be read ("" where all could)."""

    file: str
    events: tuple[Event, ...] = ()
    name: str = ""
    trouble: str = ""


@dataclass(frozen=True)
class Learner:
    """One learner: a number or the given name, the first answers by key, and the keys answered anew later."""

    label: str
    outcomes: dict[str, Outcome]
    changed: frozenset[str]


@dataclass(frozen=True)
class Room:
    """All that a folder holds: the learners, older copies of their records, and files left out, each with the reason.

    `notes` are sentences about files that count, but not without a doubt.
    """

    learners: tuple[Learner, ...]
    files: int
    older: int
    left_out: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def read_folder(folder: str | Path, names: bool = False, leave_out: Path | None = None) -> Room:
    """Read every file in `folder`, but not in the folders below it; nothing is written, moved or locked.

    Learners are numbered by when they began. With `names` they appear under the names they gave at export, and files
    under theirs. `leave_out` is one file to pass over. Raises FileNotFoundError or NotADirectoryError, with what to
    do, where there is no such folder.
    """
    folder = Path(folder)
    if not folder.exists():
        raise FileNotFoundError(f"There is no folder {folder}. Make it, and let the class export their records to it.")
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file. Name the folder that the exported records are in.")
    paths = sorted(path for path in folder.iterdir() if _counts(path) and path != leave_out)
    read = [read_file(path) for path in paths]
    called = {one.file: one.file if names else f"file {n} of {len(read)}" for n, one in enumerate(read, 1)}
    newest = newest_of_each([one for one in read if one.events])
    newest.sort(key=lambda one: (one.events[0]["at"], one.events[0]["id"]))
    return Room(
        learners=tuple(_learner(one, number, names) for number, one in enumerate(newest, 1)),
        files=len(read),
        older=sum(bool(one.events) for one in read) - len(newest),
        left_out=tuple((plain(called[one.file], 120), one.trouble) for one in read if not one.events),
        notes=_notes(newest, called),
    )


def _counts(path: Path) -> bool:
    """Whether a file may have been handed in: not one that the system or a lock put there."""
    name = path.name.casefold()
    return not name.startswith(".") and not name.endswith(".lock") and name not in SYSTEM_FILES


def read_file(path: Path) -> HandIn:
    """Return what one file holds. Nothing is raised: a file may be anything, and may still be on its way."""
    try:
        if path.suffix.casefold() in ON_THE_WAY:
            return HandIn(path.name, trouble="not complete yet; it is read once it has arrived")
        if not path.is_file():  # also a pipe, which would be waited for
            return HandIn(path.name, trouble="a folder or no ordinary file; put the exported files themselves here")
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except OSError as error:
        return HandIn(path.name, trouble=f"could not be read ({error.strerror or type(error).__name__})")
    if len(raw) > LARGEST:
        return HandIn(path.name, trouble=f"larger than {LARGEST // 1_000_000} MB; a record is far smaller")
    return _parsed(path.name, raw)


def _parsed(file: str, raw: bytes) -> HandIn:
    try:
        events, damaged = read_events(raw)
    except NewerFormat:
        return HandIn(file, trouble="written by a newer version of this course; update this one to read it")
    if events:
        trouble = "some entries could not be read; the others count" if damaged else ""
        return HandIn(file, tuple(merge_events(events, [])), _name_in(raw), trouble)
    if not damaged:
        return HandIn(file, trouble="nothing answered yet")
    if is_cut_off(raw):
        return HandIn(file, trouble="not complete yet, or cut off; it is read again at the next look")
    return HandIn(file, trouble="not a record of this course")


def is_cut_off(raw: bytes) -> bool:
    """Say whether a file is the beginning of a JSON object, as while it is being written or copied.

    >>> is_cut_off(b'{"format": 1, "ev'), is_cut_off(b'{"format": 1]')
    (True, False)
    """
    raw = raw.rstrip(b"\0 \r\n\t")  # some systems fill a file with zeros before its content arrives
    try:
        text = raw.decode("utf-8-sig").lstrip()
    except UnicodeDecodeError as error:
        return raw.startswith(b"{") and error.reason == "unexpected end of data"
    if not text.startswith("{"):
        return not text
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        rest = text[error.pos :]  # nothing, or the beginning of a word or of an escape such as \u00e9
        if error.msg.startswith("Unterminated string") or ("escape" in error.msg and len(rest) <= len("u00e9")):
            return True
        return any(word.startswith(rest) for word in ("true", "false", "null"))
    except (ValueError, RecursionError):
        return False
    return False


def _name_in(raw: bytes) -> str:
    name = json.loads(raw.decode("utf-8-sig")).get("name")
    return plain(name, LONGEST_NAME) if isinstance(name, str) else ""


def newest_of_each(read: Sequence[HandIn]) -> list[HandIn]:
    """Leave out every record all of whose events are in another: the same learner, handed in earlier.

    Events are only ever added to a record and each has an id of its own, so that a later export holds the earlier
    one. It needs no mark of the learner.
    """
    ids = {one.file: {event["id"] for event in one.events} for one in read}
    newest: list[HandIn] = []
    for one in sorted(read, key=lambda one: (-len(ids[one.file]), not one.name, one.file)):
        if not any(ids[one.file] <= ids[kept.file] for kept in newest):
            newest.append(one)
    return newest


def _notes(newest: Sequence[HandIn], called: dict[str, str]) -> tuple[str, ...]:
    notes = [f"{plain(called[one.file], 120)}: {one.trouble}." for one in newest if one.trouble]
    held = Counter(event["id"] for one in newest for event in one.events)
    shared = sum(any(held[event["id"]] > 1 for event in one.events) for one in newest)
    if shared:
        notes.append(
            f"{shared} records hold answers of another one and go on differently: one learner on two machines, or a "
            "record that was copied. Each counts."
        )
    return tuple(notes)


def _learner(one: HandIn, number: int, names: bool) -> Learner:
    answers = Counter(event["key"] for event in one.events if event["kind"] == "prediction")
    changed = frozenset(key for key, count in answers.items() if count > 1)
    label = one.name if names and one.name else f"learner {number}"
    return Learner(label, {outcome.key: outcome for outcome in outcomes_in(one.events)}, changed)


def plain(text: str, longest: int) -> str:
    """Return text on one line of at most `longest` characters, without control and direction characters.

    A terminal obeys some of those, and a page may be turned around by them.

    >>> plain("a\\x1b[2Jb", 80), plain("abcdef", 4)
    ('a [2Jb', 'abc…')
    """
    shown = " ".join("".join(c if c.isprintable() else " " for c in text[: longest * 4]).split())
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


# --- Counting ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AnswerCount:
    """One answer: how many gave it before the result was there, how many of these were sure, how many gave it after.

    `in_result` is None where nobody has seen the result yet. `who` are the labels of those who gave it before.
    """

    name: str
    before: int
    sure: int
    after: int
    in_result: bool | None
    who: tuple[str, ...]


@dataclass(frozen=True)
class Tally:
    """One prediction across the room.

    `steps` gives for each confidence how many answered with it, how many of these have seen the result, and how many
    of those were right. `place` is where the prediction comes in the course, as the median learner met it.
    """

    key: str
    question: str
    place: float
    before: int
    after: int
    answers: tuple[AnswerCount, ...]
    steps: dict[str, tuple[int, int, int]]
    scored: int
    missed: int
    sure_and_missed: int
    changed: int
    other_results: int

    @property
    def notebook(self) -> str:
        """The notebook it was asked in."""
        return plain(notebook_of(self.key), LONGEST_NAME)

    @property
    def name(self) -> str:
        """Notebook and question, short."""
        return plain(self.key, LONGEST_ANSWER)

    @property
    def result(self) -> str:
        """The names of the answers that came out, or "" where nobody has seen the result."""
        return ", ".join(answer.name for answer in self.answers if answer.in_result)


def count(room: Room, notebook: str = "") -> list[Tally]:
    """Return one tally a prediction that was answered, of one notebook where it is given, in the course's order."""
    by_key: dict[str, list[Learner]] = {}
    places: dict[str, list[int]] = {}
    for learner in room.learners:
        for place, key in enumerate(learner.outcomes):
            if not notebook or notebook_of(key) == notebook:
                by_key.setdefault(key, []).append(learner)
                places.setdefault(key, []).append(place)
    tallies = [_tally(key, median(places[key]), learners) for key, learners in by_key.items()]
    return sorted(tallies, key=lambda tally: (tally.place, tally.key))


def _tally(key: str, place: float, learners: Sequence[Learner]) -> Tally:
    given = [(learner, learner.outcomes[key]) for learner in learners]
    before = [(learner, outcome) for learner, outcome in given if not outcome.after_result]
    scored = [outcome for _, outcome in before if outcome.right is not None]
    missed = [outcome for outcome in scored if not outcome.is_right]
    results = Counter(outcome.right for _, outcome in given if outcome.right is not None)
    result = max(results, key=lambda right: (results[right], right)) if results else None
    return Tally(
        key=key,
        question=plain(Counter(outcome.question for _, outcome in given).most_common(1)[0][0], LONGEST_QUESTION),
        place=place,
        before=len(before),
        after=len(given) - len(before),
        answers=_answers(given, result),
        steps=_steps([outcome for _, outcome in before]),
        scored=len(scored),
        missed=len(missed),
        sure_and_missed=sum(outcome.confidence == "sure" for outcome in missed),
        changed=sum(key in learner.changed for learner, _ in given),
        other_results=sum(results.values()) - results[result] if result is not None else 0,
    )


def _answers(given: Sequence[tuple[Learner, Outcome]], result: tuple[str, ...] | None) -> tuple[AnswerCount, ...]:
    """Count each answer, the most frequent first; what came out is among them also where nobody said it."""
    before: dict[str, list[tuple[Learner, Outcome]]] = {}
    after: Counter[str] = Counter()
    right = None if result is None else {plain(name, LONGEST_ANSWER) for name in result}
    for learner, outcome in given:
        for name in {plain(name, LONGEST_ANSWER) for name in outcome.answer}:
            if outcome.after_result:
                after[name] += 1
            else:
                before.setdefault(name, []).append((learner, outcome))
    counted = [
        AnswerCount(
            name=name,
            before=len(before.get(name, ())),
            sure=sum(outcome.confidence == "sure" for _, outcome in before.get(name, ())),
            after=after[name],
            in_result=None if right is None else name in right,
            who=tuple(learner.label for learner, _ in before.get(name, ())),
        )
        for name in {*before, *after, *(right or ())}
    ]
    return tuple(sorted(counted, key=lambda answer: (-answer.before, -answer.after, answer.name)))


def _steps(before: Sequence[Outcome]) -> dict[str, tuple[int, int, int]]:
    steps = {}
    for step in (*reversed(CONFIDENCE), "something else"):
        at = [o for o in before if (o.confidence if o.confidence in CONFIDENCE else "something else") == step]
        seen = [outcome for outcome in at if outcome.right is not None]
        if at:
            steps[step] = (len(at), len(seen), sum(outcome.is_right for outcome in seen))
    return steps


def discussion_order(tallies: Sequence[Tally]) -> list[Tally]:
    """Return the predictions that were missed: those missed by the most who were sure first, then the most missed.

    A miss that somebody was sure of is the one that is corrected best by talking about it.
    """
    missed = [tally for tally in tallies if tally.missed]
    return sorted(missed, key=lambda tally: (-tally.sure_and_missed, -tally.missed, tally.place, tally.key))


# --- What is said, in the terminal and on the page --------------------------------------------------------------------


@dataclass(frozen=True)
class View:
    """A room as it is shown: without names and with results, unless said otherwise."""

    room: Room
    tallies: tuple[Tally, ...]
    names: bool = False
    hide_results: bool = False
    not_shown: int = 0

    @property
    def to_discuss(self) -> list[Tally]:
        """The three predictions to begin with; none while results are hidden."""
        return [] if self.hide_results else discussion_order(self.tallies)[:3]

    @property
    def notebooks(self) -> dict[str, list[Tally]]:
        """The predictions of each notebook."""
        found: dict[str, list[Tally]] = {}
        for tally in self.tallies:
            found.setdefault(tally.notebook, []).append(tally)
        return found


def view(
    folder: str | Path,
    names: bool = False,
    notebook: str = "",
    hide_results: bool = False,
    leave_out: Path | None = None,
) -> View:
    """Read `folder` and count. Raises as `read_folder` does."""
    room = read_folder(folder, names, leave_out)
    tallies = count(room, notebook)
    kept = {tally.key for tally in sorted(tallies, key=lambda t: -(t.before + t.after))[:MOST_PREDICTIONS]}
    shown = tuple(tally for tally in tallies if tally.key in kept)
    return View(room, shown, names, hide_results, len(tallies) - len(shown))


def headline(room: Room) -> str:
    """Say how many learners there are, and what became of the other files."""
    besides = [f"{_number(room.older, 'older copy', 'older copies')} of a record"] if room.older else []
    besides += [f"{len(room.left_out)} left out"] if room.left_out else []
    rest = f" ({', '.join(besides)})" if besides else ""
    return f"{_number(len(room.learners), 'learner')} from {_number(room.files, 'file')}{rest}."


def said_counts(tally: Tally, hide_results: bool) -> list[str]:
    """Return the sentences about one prediction that stand beside the table of its answers."""
    late = f", {tally.after} after it (not scored)" if tally.after else ""
    lines = [f"{tally.before} answered before the result{late}."]
    if tally.changed:
        lines[0] += f" {tally.changed} changed their answer later; the first one counts."
    steps = [
        f"{step} {n}" + (f" ({right} of {seen} right)" if seen and not hide_results else "")
        for step, (n, seen, right) in tally.steps.items()
    ]
    lines += [f"How sure: {', '.join(steps)}."] if steps else []
    if tally.scored and not hide_results:
        lines.append(f"Missed: {tally.missed} of {tally.scored}. Sure and missed: {tally.sure_and_missed}.")
    if tally.other_results and not hide_results:
        lines.append(f"{_number(tally.other_results, 'record')} with another result than the one shown.")
    return lines


def answers_shown(tally: Tally, hide_results: bool) -> list[AnswerCount]:
    """Return the answers that have a line; one that only the result holds would give it away."""
    answers = [answer for answer in tally.answers if not hide_results or answer.before]
    return answers[:MOST_ANSWERS]


def said_more(tally: Tally, hide_results: bool) -> list[str]:
    """Say how many answers have no line."""
    more = max(0, len(tally.answers) - MOST_ANSWERS)
    return [f"And {_number(more, 'more answer')}."] if more and not hide_results else []


def said_to_discuss(tally: Tally) -> str:
    """Say why a prediction is worth discussing."""
    return f"{tally.sure_and_missed} sure and missed, {tally.missed} of {tally.scored} missed"


def said_beside(shown: View) -> list[str]:
    """Return the sentences about files and predictions that are not on the board as they came."""
    notes = list(shown.room.notes[:MOST_LEFT_OUT])
    if not shown.room.learners:
        notes.append("Nobody has handed in yet. Learners do so with lesson.record.export(FOLDER).")
    elif not shown.tallies:
        notes.append("None of those records holds a prediction that could be shown here.")
    if shown.not_shown:
        notes.append(f"{shown.not_shown} more predictions, which fewer learners answered, are not shown.")
    return notes


def said_left_out(room: Room) -> list[str]:
    """Return a line for each file that was left out, with the reason; many are counted."""
    lines = [f"{file}: {why}." for file, why in room.left_out[:MOST_LEFT_OUT]]
    more = len(room.left_out) - len(lines)
    return [*lines, f"And {more} more."] if more else lines


def _number(count: int, thing: str, things: str = "") -> str:
    return f"{count} {thing if count == 1 else things or thing + 's'}"


# --- In the terminal --------------------------------------------------------------------------------------------------


def as_text(shown: View, width: int = 96) -> str:
    """Return the board as text, in lines of about `width` characters."""
    lines = [f"Class board: {headline(shown.room)}"]
    if shown.to_discuss:
        lines += ["", "Discuss first"]
        lines += [f"  {n}. {t.name}: {said_to_discuss(t)}" for n, t in enumerate(shown.to_discuss, 1)]
    for name, tallies in shown.notebooks.items():
        lines += ["", name, "-" * len(name)]
        for tally in tallies:
            lines += ["", *_tally_lines(tally, shown, width)]
    beside = said_beside(shown)
    lines += ["", *textwrap.wrap(" ".join(beside), width)] if beside else []
    lines += ["", "Left out", *(f"  {line}" for line in said_left_out(shown.room))] if shown.room.left_out else []
    return "\n".join(lines)


def _tally_lines(tally: Tally, shown: View, width: int) -> list[str]:
    lines = textwrap.wrap(f"{tally.name}: {tally.question}", width)
    for answer in answers_shown(tally, shown.hide_results):
        bar = "#" * round(20 * answer.before / tally.before) if tally.before else ""
        marks = ["the result"] if answer.in_result and not shown.hide_results else []
        marks += [f"{answer.sure} sure"] if answer.sure else []
        marks += [f"{answer.after} after the result"] if answer.after and not shown.hide_results else []
        marks += [", ".join(answer.who)] if shown.names and answer.who else []
        beside = f"  [{'; '.join(marks)}]" if marks else ""
        lines.append(f"  {answer.before:>4}  {bar:<20}  {answer.name}{beside}")
    for line in [*said_more(tally, shown.hide_results), *said_counts(tally, shown.hide_results)]:
        lines += textwrap.wrap(line, width, initial_indent="  ", subsequent_indent="  ")
    return lines


# --- As HTML ----------------------------------------------------------------------------------------------------------

BAR_STYLE = """
.vb-bar{display:block;height:8px;min-width:1px;background:#3b7dd8;border-radius:2px;print-color-adjust:exact}
.vb-none{display:none}
"""


def as_card(shown: View, trouble: str = "") -> str:
    """Return the board as a card for a notebook: what to discuss first, and each notebook's predictions folded away."""
    first = "".join(f"<li>{escape(t.name)}: {escape(said_to_discuss(t))}</li>" for t in shown.to_discuss)
    notebooks = [
        folded(f"{name} ({_number(len(tallies), 'prediction')})", "".join(as_table(t, shown) for t in tallies))
        for name, tallies in shown.notebooks.items()
    ]
    if len(notebooks) == 1:
        notebooks[0] = notebooks[0].replace("<details>", "<details open>", 1)
    pieces = [
        paragraph(trouble, "missed") if trouble else "",
        paragraph(headline(shown.room)),
        f"{paragraph('Discuss first:')}<ol>{first}</ol>" if first else "",
        *notebooks,
        *_files(shown),
    ]
    return f"{TABLE_STYLE}<style>{BAR_STYLE}</style>" + card("Class board", *pieces)


def as_page(shown: View, live: bool = False) -> str:
    """Return the board as a whole page; with `live` it reloads itself every five seconds while a box is ticked."""
    anchors = {tally.key: f"prediction-{number}" for number, tally in enumerate(shown.tallies, 1)}
    first = "".join(
        f'<li><a href="#{anchors[t.key]}">{escape(t.name)}</a>: {escape(said_to_discuss(t))}</li>'
        for t in shown.to_discuss
    )
    pieces = [MARKER, LIVE_BOX if live else "", paragraph(headline(shown.room))]
    pieces += [f"<section><h2>Discuss first</h2><ol>{first}</ol></section>"] if first else []
    for name, tallies in shown.notebooks.items():
        inside = "".join(f'<div id="{anchors[t.key]}">{as_table(t, shown)}</div>' for t in tallies)
        pieces.append(f"<section><h2>{escape(name)}</h2>{inside}</section>")
    files = "".join(_files(shown))
    pieces += [f"<section><h2>Files</h2>{files}</section>"] if files else []
    return html_page("Class board", "\n".join(pieces), BAR_STYLE, LIVE_SCRIPT if live else "")


MARKER = "<!-- class board -->"
LIVE_BOX = (
    '<p class="screen"><label><input type="checkbox" id="live" checked> '
    "Load this page again every 5 seconds</label></p>"
)
LIVE_SCRIPT = """
const box = document.getElementById("live");
try { box.checked = sessionStorage.getItem("live") !== "no"; } catch (error) {}
box.addEventListener("change", () => {
  try { sessionStorage.setItem("live", box.checked ? "yes" : "no"); } catch (error) {}
});
setInterval(() => { if (box.checked) location.reload(); }, 5000);
"""


def as_table(tally: Tally, shown: View) -> str:
    """Return one prediction: its answers as a table under the question, and what follows from them."""
    seen = tally.result != "" and not shown.hide_results
    headers = ["Answer", "Before the result", "Of these sure"]
    headers += [] if shown.hide_results else ["After the result"]
    headers += ["Result"] if seen else []
    headers += ["Who, before the result"] if shown.names else []
    rows = [_row(answer, tally, seen, shown) for answer in answers_shown(tally, shown.hide_results)]
    said = [*said_more(tally, shown.hide_results), *said_counts(tally, shown.hide_results)]
    told = readable_table(f"{tally.name}: {tally.question}", headers, rows)
    return told + "".join(paragraph(line) for line in said)


def _row(answer: AnswerCount, tally: Tally, seen: bool, shown: View) -> list[str]:
    share = round(100 * answer.before / tally.before) if tally.before else 0
    bar = f'<span class="{"vb-bar" if share else "vb-none"}" style="width:{share}%" aria-hidden="true"></span>'
    row = [escape(answer.name), f"{answer.before} ({share} %){bar}", str(answer.sure)]
    row += [] if shown.hide_results else [str(answer.after)]
    if seen:
        row.append(mark("retrieved", "in the result") if answer.in_result else escape("no"))
    if shown.names:
        row.append(escape(", ".join(answer.who)))
    return row


def _files(shown: View) -> list[str]:
    """Return who handed in, and what was left out and why."""
    learners = [[escape(one.label), str(len(one.outcomes))] for one in shown.room.learners]
    handed = readable_table("Handed in", ["Learner", "Predictions answered"], learners, numbers=[1]) if learners else ""
    left_out = "".join(f"<li>{escape(line)}</li>" for line in said_left_out(shown.room))
    return [
        *(paragraph(note) for note in said_beside(shown)),
        f"{paragraph('Left out:')}<ul>{left_out}</ul>" if left_out else "",
        folded("Who handed in", handed),
    ]


# --- In a notebook ----------------------------------------------------------------------------------------------------


class Board:
    """The board in a notebook. As the last line of a cell it shows itself, with a button that reads the folder again.

    Ticked, it reads the folder every few seconds by itself, in a thread that ends with the kernel or the tick.
    """

    def __init__(self, folder: Path, names: bool, notebook: str, hide_results: bool, seconds: float = 3.0) -> None:
        self.folder = folder
        self.seconds = seconds
        self.trouble = ""
        self._look: Callable[[], View] = lambda: view(folder, names, notebook, hide_results)
        self.shown = self._look()

    def refresh(self) -> "Board":
        """Read the folder again. Where that fails the last state stays, and `trouble` says why."""
        try:
            self.shown, self.trouble = self._look(), ""
        except OSError as error:
            self.trouble = f"The folder could not be read ({error}). What you see is from before."
        return self

    def __repr__(self) -> str:
        return "\n".join(filter(None, [self.trouble, as_text(self.shown)]))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/plain": repr(self), "text/html": as_card(self.shown, self.trouble)}
        shown = view_of(lambda: board_widget(self))
        return {**bundle, WIDGET_VIEW: shown} if shown else bundle


def board(folder: str | Path, *, names: bool = False, notebook: str = "", hide_results: bool = False) -> Board:
    """Return the class board of a folder of exported records, to be shown as the last line of a cell.

    `names` shows the names that learners gave at export, `notebook` limits it to one notebook's predictions, and
    `hide_results` leaves out what is right, for the time before the class has run the cell. Raises FileNotFoundError
    or NotADirectoryError where there is no such folder.
    """
    return Board(Path(folder), names, notebook, hide_results)


def board_widget(shown: Board) -> Any:
    """Return the board with a button and a box to tick, as core ipywidgets."""
    import ipywidgets

    button = ipywidgets.Button(description="Read the folder again", layout={"width": "auto"})
    label = f"Read it again by itself, every {shown.seconds:g} seconds"
    tick = ipywidgets.Checkbox(value=False, description=label, indent=False, layout={"width": "auto"})
    picture = ipywidgets.HTML(as_card(shown.shown, shown.trouble))
    stop = Signal()

    def draw(_: object = None) -> None:
        shown.refresh()
        drawn = as_card(shown.shown, shown.trouble)
        if drawn != picture.value:  # what is open stays open while nothing has arrived
            picture.value = drawn

    def follow(stopped: Signal) -> None:
        while not stopped.wait(shown.seconds):
            draw()

    def ticked(change: Any) -> None:
        nonlocal stop
        stop.set()
        if change["new"]:
            stop = Signal()
            Thread(target=follow, args=(stop,), daemon=True).start()

    button.on_click(draw)
    tick.observe(ticked, names="value")
    for widget, name in ((button, "read"), (tick, "follow"), (picture, "board")):
        widget.add_class(f"vr-{name}")
    return boxed(ipywidgets.HTML(STYLE), button, tick, picture)


# --- The command line -------------------------------------------------------------------------------------------------

DONE, BAD_INPUT = 0, 2


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    made = argparse.ArgumentParser(
        prog="python -m course_lib.learn.board",
        description="Show what a class predicted, from the records that learners exported into one folder.",
        epilog="Learners hand in with lesson.record.export(FOLDER); doing it again replaces what they handed in.",
    )
    add = made.add_argument
    add("folder", type=Path, metavar="FOLDER", help="the folder of exported records; it is only read")
    add("--html", type=Path, metavar="OUT", help="write the board as a page; an older board of that name is replaced")
    add("--watch", action="store_true", help="look again every few seconds, until Ctrl-C")
    add("--every", type=float, default=3.0, metavar="SECONDS", help="how often (default: %(default)s)")
    add("--notebook", default="", metavar="NAME", help="only the predictions of one notebook, such as move1_bm25")
    add("--hide-results", action="store_true", help="leave out what is right, while the class still predicts")
    add("--names", action="store_true", help="show the names that learners gave at export, and the names of files")
    return made


def main(arguments: Sequence[str] | None = None, wait: Callable[[float], object] = time.sleep) -> int:
    """Show the board, once or until Ctrl-C; returns an exit code. `wait` takes seconds and returns after them."""
    for stream in (sys.stdout, sys.stderr):  # a Windows console may not know every character of a question
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    options = parser().parse_args(arguments)
    try:
        check(options)
        last = tell(options, look(options), "")
        while options.watch:
            wait(options.every)
            last = _tell_again(options, last)
    except KeyboardInterrupt:
        print("The board is closed. The files are as they were.")
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    return DONE


def check(options: argparse.Namespace) -> None:
    """Raise ValueError or FileExistsError, with what to do, for what cannot be done before anything is done."""
    if not 0.5 <= options.every <= 3600:
        raise ValueError(f"--every is {options.every:g}; seconds from 0.5 to 3600 are expected.")
    out = options.html
    if out is None:
        return
    if out.suffix.casefold() not in (".html", ".htm"):
        raise ValueError(f"--html is {out}; the name of an HTML file is expected, such as board.html.")
    if out.exists() and (out.is_dir() or MARKER.encode("ascii") not in out.read_bytes()):
        raise FileExistsError(f"{out} exists already, is no class board and was left as it is. Choose another name.")
    if not out.resolve().parent.is_dir():
        raise FileNotFoundError(f"There is no folder {out.resolve().parent}. Make it, or choose another.")


def look(options: argparse.Namespace) -> View:
    """Read the folder as the options say; the board's own page may lie in it."""
    own = options.html
    inside = own is not None and own.resolve().parent == options.folder.resolve()
    leave_out = options.folder / own.name if inside else None
    return view(options.folder, options.names, options.notebook, options.hide_results, leave_out)


def tell(options: argparse.Namespace, shown: View, last: str) -> str:
    """Print or write the board where it differs from `last`, and return what it says now."""
    said = as_text(shown)
    if said == last:
        return last
    if options.html:
        replace_file(options.html, as_page(shown, live=options.watch).encode("utf-8"))
        print(f"{headline(shown.room)} The board is {options.html}.", flush=True)
        return said
    if options.watch and sys.stdout.isatty():
        os.system("cls" if sys.platform == "win32" else "clear")
    print(said, flush=True)
    return said


def _tell_again(options: argparse.Namespace, last: str) -> str:
    """Look and tell once more; what goes wrong now (a folder on a network, say) may be right at the next look."""
    try:
        return tell(options, look(options), last)
    except OSError as error:
        trouble = f"The board could not be renewed ({error}). It is tried again."
        if trouble != last:
            print(trouble, file=sys.stderr, flush=True)
        return trouble


if __name__ == "__main__":
    sys.exit(main())
