"""The checked exercises of Move 3: count the calls, resolve an id, follow references without looping."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from course_lib.learn.blank import Blank, NotAttempted, ____
from course_lib.learn.exercises import Exercise, LearnerError, call, describe
from course_lib.lessons.move2_sql.exercises import refusal
from course_lib.lessons.move3_navigation.tracing import outline

# --- Count the calls -----------------------------------------------------------------------------------------------


def judge_count(answers: Any) -> str | None:
    """Judge what the stub reads, how many calls a good navigator needs, and how many with two reads at once."""
    reads, calls, at_once = answers
    if any(isinstance(answer, Blank) for answer in (reads, calls, at_once)):
        raise NotAttempted
    named = str(reads).split(",") if isinstance(reads, str | int | float) else reads
    if not isinstance(named, list | tuple | set):
        return f'stub_reads is {describe(reads)}; a list of ids is wanted, as ["7.3", "B"] in the first run.'
    found = sorted({str(id).strip().upper() for id in named})
    unknown = [id for id in named if str(id).strip().upper() not in outline().ids()]
    if unknown:
        said = f"stub_reads is {describe(reads)}. {describe(unknown[0])}"
        return f"{said} is no id of the contents, and ids alone are wanted."
    if found != ["9.1"]:
        return f"stub_reads is {describe(reads)}. {_about_the_stub(found)}"
    for name, value, wanted in (("good_calls", calls, 3), ("two_at_once", at_once, 2)):
        if isinstance(value, bool) or not isinstance(value, int):
            return f"{name} is {describe(value)}; a whole number of calls is wanted."
        if value != wanted:
            return f"{name} is {value}. {_about_the_calls(name, value, wanted)}"
    return None


def _about_the_stub(found: Sequence[str]) -> str:
    if "9.1" not in found:
        return "Count the words that each title shares with the question."
    return "After its first read it goes only where a text refers to. Does the text that it has read refer to anything?"


def _about_the_calls(name: str, value: int, wanted: int) -> str:
    if name == "good_calls" and value < wanted:
        return "Each section takes a call, and so does the answer. Does one section answer both halves of the question?"
    if value < wanted:
        return "A call is made for each decision, and to answer is one of them."
    if name == "two_at_once":
        return "A navigator that sees two titles it needs may name both in one decision."
    return "Does it need all of those sections? Read the ones that you think of."


COUNT = Exercise(
    key="count",
    title="Count the calls",
    judge=judge_count,
    right="No reference leads from one of the two sections to the other. Whoever reads the titles with the question in "
    "mind sees that both are needed.",
    hint="The question has two halves: terminating for convenience, and data. Read the sections whose titles belong to "
    "them. The answer is a call as well.",
    solution="""\
stub_reads = ["9.1"]
good_calls = 3
two_at_once = 2
""",
)

# --- Resolve an id -------------------------------------------------------------------------------------------------

IDS = ["7.1", "7.3", "9.1", "9.2", "A", "B"]
SAME_ID = (("7.3", "7.3"), ("b", "B"), (" B", "B"), ("a\n", "A"))
NO_ID = ("Schedule B", "Late payment", "7.30", "7.3a", "7", "AB", "", None)


def judge_resolve(function: Any) -> str | None:
    """Try names that mean an id, capitals and blanks aside, and names that do not."""
    for name, wanted in SAME_ID:
        said = refusal(function, name, list(IDS))
        if said is not None:
            return f"It refused {name!r}, which is an id, capitals and outer blanks aside."
        found = call(function, name, list(IDS))
        if found is None:
            return f"For {name!r} it returned None, although it means an id, capitals and outer blanks aside."
        if found != wanted:
            return f"For {name!r} it returned {describe(found)}, which is not how the outline writes that id."
    for other in NO_ID:
        try:
            said = refusal(function, other, list(IDS))
        except LearnerError as wrapped:
            if not isinstance(wrapped.__cause__, LookupError | AssertionError):
                raise
            return f"For {other!r}, which is no id, it raised {type(wrapped.__cause__).__name__}, and not ValueError."
        if said is None:
            return f"For {other!r}, which is no id, it returned {describe(call(function, other, list(IDS)))}."
        if repr(____) in said:
            raise NotAttempted
        lacks = _lacks(said, other)
        if lacks:
            return f"For {other!r} it said: {said!r}. {lacks}"
    return None


def _lacks(said: str, other: object) -> str | None:
    """Return what a model that reads the sentence still has to guess, or None."""
    if "{" in said:
        return "The braces were not filled in; is the f in front of the quotes missing?"
    if str(other) not in said:
        if str(other).casefold() in said.casefold():
            return "It repeats what was asked for in other letters; say it as it came."
        return "It does not repeat what was asked for, and a trace with such a line explains nothing."
    rest = said.replace(repr(other), "", 1)
    if not all(re.search(rf"(?<![\w.]){re.escape(id)}(?![\w.]*\w)", rest) for id in IDS):
        return "Not every id stands in it as it is written in ids: a model has to guess which ids there are."
    return None


RESOLVE = Exercise(
    key="resolve",
    title="Resolve an id",
    judge=judge_resolve,
    right="Capitals and blanks are forgiven, and nothing is guessed: a title, a near miss and no name at all come back "
    "with the ids that would do.",
    hint="Make a dict from each id in small letters to the id as it is written: {id.casefold(): id for id in ids}. "
    "A model may also send None; str(name) makes a text of anything.",
    solution="""\
def resolve(name, ids):
    known = {id.casefold(): id for id in ids}
    asked = str(name).strip().casefold()
    if asked not in known:
        raise ValueError(f"there is no section {name!r}; the ids are {', '.join(ids)}")
    return known[asked]
""",
)

# --- Follow references ---------------------------------------------------------------------------------------------


class TooFar(Exception):
    """Somebody goes in a circle."""


class Counted(dict[str, list[str]]):
    """References by id that raise TooFar when they have been looked up more often than any way through needs."""

    def __init__(self, references: Mapping[str, list[str]]) -> None:
        super().__init__({id: list(targets) for id, targets in references.items()})
        self.left = 200

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise TooFar("it goes on and on")

    def __getitem__(self, id: str) -> list[str]:
        self._count()
        return list(super().__getitem__(id))

    def get(self, id: str, default: Any = None) -> Any:
        self._count()
        return list(super().__getitem__(id)) if super().__contains__(id) else default

    def __contains__(self, id: object) -> bool:
        self._count()
        return super().__contains__(id)


CASES: tuple[tuple[str, str, Mapping[str, list[str]], set[str]], ...] = (
    ("one section that refers to nothing", "4", {"4": [], "5": []}, {"4"}),
    ("a chain of three", "7.1", {"7.1": ["7.3"], "7.3": ["B"], "B": [], "A": []}, {"7.1", "7.3", "B"}),
    ("two that refer to a third", "1", {"1": ["2", "3"], "2": ["4"], "3": ["4"], "4": []}, {"1", "2", "3", "4"}),
    ("a circle, 7.3 to B and back", "7.3", {"7.3": ["B"], "B": ["7.3"]}, {"7.3", "B"}),
    ("a section that refers to itself", "5", {"5": ["5", "6"], "6": []}, {"5", "6"}),
    ("a reference to Z, which does not exist", "3", {"3": ["Z", "A"], "A": []}, {"3", "A"}),
)


def judge_follow(function: Any) -> str | None:
    """Try a chain, a fork, a circle, a section that names itself and a reference that leads nowhere."""
    for case, start, references, wanted in CASES:
        try:
            found = call(function, start, Counted(references))
        except LearnerError as wrapped:
            if isinstance(wrapped.__cause__, TooFar):
                return f"With {case}, it never stops. What was read once must not be read again."
            if isinstance(wrapped.__cause__, KeyError):
                return f"With {case}, it stopped with KeyError {wrapped.__cause__}."
            raise
        if not isinstance(found, list):
            return f"With {case}, it returned {describe(found)}; a list of ids is wanted."
        fault = _fault(found, start, references, wanted)
        if fault:
            return f"With {case}, it returned {describe(found)}. {fault}"
    return None


def _fault(found: list[Any], start: str, references: Mapping[str, list[str]], wanted: set[str]) -> str | None:
    if any(isinstance(id, Blank) for id in found):
        raise NotAttempted
    ids = [describe(id) if not isinstance(id, str) else id for id in found]
    if len(set(ids)) < len(ids):
        return "A section stands in it twice, and would be paid for twice."
    if start not in ids:
        return f"The start, {start}, is not in it."
    for id in ids:
        if id not in references:
            return f"{id} does not exist, so it cannot be read."
        if id not in wanted:
            return f"Nothing leads from {start} to {id}."
    if wanted - set(ids):
        return "Something that is referred to was not read."
    return None if found[0] == start else "The first one read is the start."


FOLLOW = Exercise(
    key="follow",
    title="Follow references without looping",
    judge=judge_follow,
    right="Each section is read once, in circles too, and a reference that leads nowhere is passed over.",
    hint="Go on while something is waiting. Read it if it exists and was not read; then what it refers to is waiting "
    "as well.",
    solution="""\
def follow(start, references):
    reached, waiting = [], [start]
    while waiting:
        id = waiting.pop(0)
        if id in references and id not in reached:
            reached.append(id)
            waiting += references[id]
    return reached
""",
)
