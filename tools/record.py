"""Runs the live sections with a key and keeps what came back (run by `python course.py record [SECTION …] [--usd 1]`).

Each section becomes data/transcripts/SECTION.jsonl: one line a call, with its day; `open_model(replay=…)` answers from
it without a key. A section is kept only whole, and only if its replay gives the same results. What an interrupted run
has paid for waits in SECTION.unfinished.jsonl, and the next run asks for the rest.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from course_lib.corpora import DATA, agreement, sql_questions
from course_lib.corpora.agreement import LabelledQuestion
from course_lib.corpora.sql_questions import SqlQuestion
from course_lib.llm import Budget, Model, ModelError, open_model, why_not
from course_lib.pricing import Price, load_prices
from course_lib.transcripts import Answer, Body, Send, TranscriptError, fingerprint, load_transcript

TRANSCRIPTS = DATA / "transcripts"
LIMIT = 1.0  # USD

# --- The live sections ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """What a section found: a line for people, and everything that a replay has to give again."""

    summary: str
    results: tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """A part of the course that asks a model. It must ask the same in a replay: no clock, no chance."""

    name: str
    about: str
    run: Callable[[Model], Found]


def navigation(model: Model, questions: Sequence[LabelledQuestion] = agreement.QUESTIONS) -> Found:
    """Move 3: the model reads its way through the agreement, and answers from what it read."""
    from course_lib.answering import answer
    from course_lib.navigation.loop import navigate
    from course_lib.navigation.models import claude_model
    from course_lib.navigation.outline import from_sections

    outline = from_sections(((s.id, s.title, s.text) for s in agreement.sections()), "Services agreement")
    results, complete = [], 0
    for asked in questions:
        run = navigate(asked.text, outline, claude_model(model, outline), price=model.price)
        given = answer(asked.text, run.evidence, model)
        results.append(json.dumps([asked.text, run.rows(), run.gap, run.usd, given.text, given.why, given.usd]))
        complete += set(asked.gold) <= set(run.path)
    return Found(f"read all that is needed for {complete} of {len(results)} questions", tuple(results))


def answering(model: Model, questions: Sequence[LabelledQuestion] = agreement.QUESTIONS) -> Found:
    """Move 3: the model answers from the sections that are needed, and its citations and numbers are checked."""
    from course_lib.answering import answer

    texts = {section.id: section.text for section in agreement.sections()}
    results, clean = [], 0
    for asked in questions:
        given = answer(asked.text, {id: texts[id] for id in asked.gold}, model)
        results.append(json.dumps([asked.text, given.text, given.problems, given.why, given.usd]))
        clean += given.found and not given.problems
    return Found(f"{clean} of {len(results)} answers passed the check whole", tuple(results))


def text_to_sql(model: Model, questions: Sequence[SqlQuestion] | None = None) -> Found:
    """Move 2: SQL for the labelled questions, from the bare schema and from all repairs together."""
    from course_lib.lessons.move2_sql.ladder import sources
    from course_lib.sql.text_to_sql import BARE, LADDER, climb, with_model

    asked = sql_questions.sql_questions() if questions is None else questions
    climbed = climb(asked, sources(), (BARE, LADDER[-1]), with_model(model))
    results = tuple(
        json.dumps([one.rung, one.id, one.right, one.answer.sql, one.answer.notes, [a.failure for a in tries]])
        for one in climbed.outcomes
        for tries in [one.answer.attempts]
    )
    bare, repaired = (sum(one.right for one in climbed.outcomes if one.rung == rung) for rung in climbed.rungs)
    return Found(f"{bare} of {len(asked)} right from the bare schema, {repaired} with all repairs", results)


SECTIONS = (
    Section("navigation", "Move 3: five questions to the agreement, section by section", navigation),
    Section("answering", "Move 3: answers from the sections that are needed, checked", answering),
    Section("text_to_sql", "Move 2: fifty labelled questions, bare schema and all repairs", text_to_sql),
)


# --- The money, and what was paid for already -------------------------------------------------------------------


class Purse(Budget):
    """A spending limit that stays shut once a call was refused or failed: half a section is not worth the rest."""

    def __init__(self, usd: float) -> None:
        super().__init__(usd)
        self.shut = ""

    def hold(self, usd: float) -> None:
        """Set `usd` aside. Raises ModelError where that much is not left, and ever after."""
        if self.shut:
            raise ModelError(self.shut, "limit")
        try:
            super().hold(usd)
        except ModelError as error:
            self.shut = str(error)
            raise


def careful(send: Send, purse: Purse) -> Send:
    """Return `send` that shuts the purse where no answer comes."""

    def sent(body: Body) -> Answer:
        try:
            return send(body)
        except (ModelError, TranscriptError) as error:
            purse.shut = str(error)
            raise

    return sent


def resuming(send: Send, draft: Path) -> Send:
    """Return `send` that first gives, once each and for nothing, the answers which an interrupted run has left."""
    paid: dict[str, list[Answer]] = {}
    for request, answer in load_transcript(draft).calls if draft.exists() else ():
        paid.setdefault(fingerprint(request), []).append(answer)

    def sent(body: Body) -> Answer:
        left = paid.get(fingerprint(body))
        return left.pop(0) if left else send(body)

    return sent


# --- Recording --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recorded:
    """What became of a section: its transcript, or why there is none."""

    section: Section
    path: Path
    calls: int
    usd: float
    said: str
    finished: bool


def price() -> Price:
    """Return the round prices that the notebooks reckon with: the first of data/prices.json."""
    return next(iter(load_prices(DATA / "prices.json").values()))


def replay(section: Section, path: Path) -> Found:
    """Run a section from its transcript, without a key and a network, on the model that was recorded.

    Raises TranscriptError for a file that cannot be read or holds no call.
    """
    calls = load_transcript(path).calls
    if not calls:
        raise TranscriptError(f"{path.name} holds no call.")
    return section.run(open_model(price(), str(calls[0][0]["model"]), replay=path))


def record(section: Section, folder: Path, purse: Purse) -> Recorded:
    """Run a section live and keep its transcript, if all calls were answered and a replay gives the same results.

    An older transcript stays until then. `usd` is what was spent now.
    """
    path, draft = folder / f"{section.name}.jsonl", folder / f"{section.name}.unfinished.jsonl"
    before = purse.spent
    live = open_model(price(), budget=purse, record=draft)
    found = section.run(replace(live, send=resuming(careful(live.send, purse), draft)))
    calls = len(load_transcript(draft).calls) if draft.exists() else 0
    said = purse.shut or _differs(section, draft, found)
    if not said:
        draft.replace(path)
        Path(f"{draft}.lock").unlink(missing_ok=True)
    return Recorded(section, draft if said else path, calls, purse.spent - before, said or found.summary, not said)


def _differs(section: Section, draft: Path, found: Found) -> str:
    """Return why a transcript is not kept though every call was answered, or an empty text."""
    try:
        again = replay(section, draft)
    except TranscriptError as error:
        return str(error)
    differing = sum(one != other for one, other in zip_longest(found.results, again.results))
    return f"The replay gives {differing} other results than the recording." if differing else ""


def line(recorded: Recorded) -> str:
    """Return what became of a section in a line."""
    cost = f"{recorded.calls} calls recorded, USD {recorded.usd:.4f} spent now"
    if recorded.finished:
        return f"{recorded.section.name}: {recorded.said}; {cost}; {recorded.path.name}"
    kept = f" {recorded.path.name} keeps what came, and the next run asks for the rest." if recorded.calls else ""
    return f"{recorded.section.name}: not finished; {cost}. {recorded.said}{kept}"


def main(arguments: Sequence[str] | None = None, folder: Path = TRANSCRIPTS) -> int:
    """The command line."""
    listed = "\n".join(f"  {section.name:<12} {section.about}" for section in SECTIONS)
    parser = argparse.ArgumentParser(
        prog="course.py record", formatter_class=argparse.RawDescriptionHelpFormatter, epilog=f"sections:\n{listed}"
    )
    parser.add_argument("names", nargs="*", metavar="SECTION", help="one of those below; all of them when left out")
    parser.add_argument("--usd", type=float, default=LIMIT, help="spend at most this much in all (default: 1.00)")
    options = parser.parse_args(arguments)
    known = {section.name: section for section in SECTIONS}
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"there is no section {unknown[0]!r}; there are {', '.join(known)}")
    if missing := why_not():
        print(missing, file=sys.stderr)
        return 1
    try:
        purse = Purse(options.usd)
    except ValueError as error:
        parser.error(str(error))
    print(
        f"At most USD {purse.usd:.2f} are spent, at the round prices of data/prices.json: {price().name}.", flush=True
    )
    for name in options.names or known:
        recorded = record(known[name], folder, purse)
        print(line(recorded), flush=True)
        if not recorded.finished:
            return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
