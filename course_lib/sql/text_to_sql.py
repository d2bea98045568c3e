"""Text-to-SQL with everything that makes it less wrong: the prompt, the loop, and a count of what each repair repairs.

The module goes the way of its notebook: build the prompt, run what comes back behind the guard, hand a refusal or a
suspicion back to the model, show the SQL beside the answer, put a live model in, and climb the ladder of repairs with
a stand-in that makes the mistakes models make.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from course_lib.asof import AS_OF
from course_lib.llm import Model, ModelError, Reply
from course_lib.pricing import Lifetime
from course_lib.retrieval import Usage
from course_lib.sql.accuracy import Gold, is_right, run_gold
from course_lib.sql.database import read_only
from course_lib.sql.guard import Guard, Refused, Result
from course_lib.sql.schema_card import Card, is_stale, quoted, refresh, schema_card
from course_lib.sql.suspicion import Suspicion, found_nothing, suspicions, unchecked

# --- The prompt -----------------------------------------------------------------------------------------------------

Example: TypeAlias = tuple[str, str]  # a question and its right SQL

NO_QUERY = "NO QUERY:"
RULES = (
    "Write one SQLite SELECT statement that answers the question, and nothing else.",
    "Use only the tables and columns below, and filter values exactly as they are written there.",
    "Quarters and months are those of the calendar. Write dates as text, and never ask the clock.",
    f"If these tables cannot answer the question, write {NO_QUERY} and the reason.",
)


@dataclass(frozen=True)
class Prompt:
    """What a model is asked: the part that stays the same, and the messages, as the Messages API takes them."""

    system: str
    messages: tuple[Mapping[str, str], ...]

    def then(self, output: str, reply: str) -> "Prompt":
        """Return the prompt with what the model wrote and what is said to that."""
        said = ({"role": "assistant", "content": output or "(nothing)"}, {"role": "user", "content": reply})
        return Prompt(self.system, (*self.messages, *said))

    @property
    def told(self) -> str:
        """Everything the model is told, as one text; what it wrote itself is left out."""
        return "\n\n".join([self.system, *(said["content"] for said in self.messages if said["role"] == "user")])


def build_prompt(
    question: str,
    card: Card,
    examples: Sequence[Example] = (),
    rules: Sequence[str] = RULES,
    as_of: date = AS_OF,
) -> Prompt:
    """Return the prompt for a question. What changes from question to question comes last, so the rest can be cached.

    Raises ValueError for a blank question.
    """
    if not question.strip():
        raise ValueError("The question is blank, and there is nothing to write SQL for")
    parts = ["\n".join([*rules, f"Today is {as_of}."]), card.text()]
    if examples:
        parts.append("\n".join(["Examples:", *(f"Question: {asked}\nSQL: {sql}" for asked, sql in examples)]))
    return Prompt("\n\n".join(parts), ({"role": "user", "content": question},))


# --- The loop -------------------------------------------------------------------------------------------------------

Ask: TypeAlias = Callable[[Prompt], str | Reply]


@dataclass(frozen=True)
class Attempt:
    """One output of the model and what became of it: a result, perhaps with doubts, or why there is none."""

    output: str
    result: Result | None = None
    doubts: tuple[Suspicion, ...] = ()
    failure: str = ""
    told: str | None = None  # what is said to the model; None where nothing it could write would help
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class Answer:
    """The rows and, beside them, the SQL they come from and what a reader has to know. No SQL, no answer."""

    question: str
    sql: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    truncated: bool
    notes: tuple[str, ...]
    attempts: tuple[Attempt, ...]

    @property
    def usage(self) -> Usage:
        """What all attempts took, in tokens. A scripted model takes none."""
        return sum((attempt.usage for attempt in self.attempts), Usage())

    def __str__(self) -> str:
        rows = [" | ".join(quoted(cell) for cell in row) for row in self.rows[:SHOWN]]
        more = [f"… and {len(self.rows) - SHOWN} more rows"] if len(self.rows) > SHOWN else []
        head = [self.question, " | ".join(self.columns)] if self.sql else [self.question, "No answer."]
        return "\n".join([*head, *rows, *more, *([f"SQL: {self.sql}"] if self.sql else []), *self.notes])


SHOWN = 10


def presupposes_rows(question: str) -> bool:
    """Say whether a question takes it for granted that there is something: "which" does, "is there any" does not.

    A rough rule for English, for questions that nobody labelled.

    >>> presupposes_rows("Which tickets are still open?"), presupposes_rows("Are there any P4 tickets?")
    (True, False)
    """
    return not re.match(r"(?i)\s*(is|are|was|were|do|does|did|has|have)\b|.*\b(any|if at all)\b", question)


def answer(
    question: str,
    ask: Ask,
    guard: Guard,
    path: Path,
    card: Card,
    examples: Sequence[Example] = (),
    rules: Sequence[str] = RULES,
    presupposes: bool | None = None,
    repairs: int = 2,
    suspicious: bool = True,
) -> Answer:
    """Ask for SQL, run it behind the guard, hand back what went wrong up to `repairs` times, and return the answer.

    `presupposes` says whether the question takes rows for granted; None leaves that to `presupposes_rows`. Without
    `suspicious` whatever runs is the answer. A card that is older than the data is read again first. A suspicion is
    told once: a model that writes the same SQL again is believed, and the reader is shown the doubt. A model that
    cannot be asked is a note in the answer; a database that cannot be opened raises, as `read_only` does.
    """
    with closing(read_only(path)) as connection:
        stale = is_stale(card, connection)
        card = refresh(card, connection)
    wonder = presupposes_rows(question) if presupposes is None else presupposes
    prompt, attempts = build_prompt(question, card, examples, rules), list[Attempt]()
    for _ in range(1 + repairs):
        attempt = _attempt(prompt, ask, guard, path)
        if suspicious and attempt.result:
            attempt = _with_doubts(attempt, card, wonder)
        attempts.append(attempt)
        if attempt.told is None or _said_again(attempts):
            break
        prompt = prompt.then(attempt.output, attempt.told)
    return _concluded(question, attempts, card, stale, suspicious)


def _attempt(prompt: Prompt, ask: Ask, guard: Guard, path: Path) -> Attempt:
    """Ask once and run what comes back."""
    try:
        reply = ask(prompt)
    except ModelError as error:
        output = error.reply.text if error.reply else ""
        return Attempt(output, failure=str(error), told=error.for_model, usage=error.usage)
    usage = Usage() if isinstance(reply, str) else reply.usage
    output = reply if isinstance(reply, str) else _written(reply)
    if output.strip().upper().startswith(NO_QUERY):
        return Attempt(
            output, failure=f"The model says: {quoted(output.strip()[len(NO_QUERY) :].strip(), 300)}", usage=usage
        )
    try:
        return Attempt(output, guard.run(path, output), usage=usage)
    except Refused as refusal:
        told = None if refusal.layer == "the database" else f"{refusal.for_model} Write the statement again."
        return Attempt(output, failure=str(refusal), told=told, usage=usage)


def _with_doubts(attempt: Attempt, card: Card, wonder: bool) -> Attempt:
    """Look at a result before it ships. What is suspicious is told to the model and kept for the reader."""
    assert attempt.result is not None
    doubts = tuple(suspicions(attempt.result.sql, attempt.result.rows, card, wonder))
    if not doubts:
        return attempt
    found = "found nothing" if found_nothing(attempt.result.rows) else "ran"
    told = f"The statement {found}, and a filter looks wrong. {' '.join(map(str, doubts))} "
    told += "Write the statement again; write it unchanged if that filter is what the question asks for."
    return replace(attempt, doubts=doubts, told=told)


def _said_again(attempts: Sequence[Attempt]) -> bool:
    """Say whether the model stands by the statement that was doubted."""
    results = [attempt.result.sql for attempt in attempts[-2:] if attempt.result]
    return len(results) == 2 and results[0] == results[1]


def _concluded(question: str, attempts: Sequence[Attempt], card: Card, stale: bool, suspicious: bool) -> Answer:
    """Return the last result without doubts, else the last with some, else why there is none."""
    ran = [attempt for attempt in attempts if attempt.result]
    best = next((attempt for attempt in reversed(ran) if not attempt.doubts), ran[-1] if ran else None)
    notes = ["The data had changed since the schema card was read; it was read again."] if stale else []
    if best is None or best.result is None:
        return Answer(question, "", (), [], False, (*notes, attempts[-1].failure), tuple(attempts))
    result = best.result
    notes += [f"Doubtful: {doubt}" for doubt in best.doubts]
    notes += [result.note] if result.truncated else []
    if suspicious and found_nothing(result.rows) and not best.doubts:
        unseen = unchecked(result.sql, card)
        besides = f", except {', '.join(map(quoted, unseen))}, which could not be looked up" if unseen else ""
        notes.append(f"Nothing was found, and no filter value is unknown to the data{besides}.")
    return Answer(question, result.sql, result.columns, result.rows, result.truncated, tuple(notes), tuple(attempts))


# --- A live model ---------------------------------------------------------------------------------------------------

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "sql": {"type": "string", "description": "one SELECT statement, or empty where no query can answer"},
        "reason": {"type": "string", "description": "why no query can answer, else empty"},
    },
    "required": ["sql", "reason"],
    "additionalProperties": False,
}


def with_model(model: Model, cache: Lifetime | None = None) -> Ask:
    """Return an `ask` that a model answers, live, recorded or replayed, as `course_lib.llm.open_model` opened it."""
    return lambda prompt: model.ask(prompt.system, prompt.messages, SCHEMA, cache=cache)


def _written(reply: Reply) -> str:
    """Return the SQL of a structured reply, or the reason for none in the words of the rules."""
    if not isinstance(reply.data, dict):
        return reply.text
    return str(reply.data["sql"]) if str(reply.data["sql"]).strip() else f"{NO_QUERY} {reply.data['reason']}"


# --- A stand-in for the model ---------------------------------------------------------------------------------------


class Slips(Protocol):
    """A mistake: instead of `instead_of` the stand-in `writes` something else, unless it is told one of `unless`."""

    @property
    def kind(self) -> str: ...
    @property
    def writes(self) -> str: ...
    @property
    def instead_of(self) -> str: ...
    @property
    def unless(self) -> Sequence[str]: ...


class Scripted(Protocol):
    """What the stand-in knows of a question: its right SQL, over a view where it sees that one, and its mistakes."""

    @property
    def text(self) -> str: ...
    @property
    def gold(self) -> Sequence[str]: ...
    @property
    def slips(self) -> Sequence[Slips]: ...
    @property
    def view(self) -> Example | None: ...


@dataclass(frozen=True)
class StandIn:
    """A scripted model: it makes the mistakes in its script unless the prompt it gets holds what prevents them.

    It reads the prompt and nothing else: the value on the card, the meaning, the name of the view, the example, the
    error, the near miss. So it shows how a repair works. How often one helps a real model it cannot show.
    """

    scripts: Sequence[Scripted]

    def __call__(self, prompt: Prompt) -> str:
        """Write the SQL for the question in the prompt."""
        asked = prompt.messages[0]["content"]
        script = next((script for script in self.scripts if script.text == asked), None)
        if script is None:
            return f"{NO_QUERY} this question is not in my script"
        told = prompt.told
        sql = script.view[1] if script.view and f"View {script.view[0]}" in told else script.gold[0]
        for slip in script.slips:
            if not any(text in told for text in slip.unless):
                sql = sql.replace(slip.instead_of, slip.writes)
        return sql


# --- The ladder of repairs ------------------------------------------------------------------------------------------


class Labelled(Scripted, Protocol):
    """A question with its right results; `uncut` is (SQL, number of trailing sort keys, limit) where order counts."""

    @property
    def id(self) -> str: ...
    @property
    def db(self) -> str: ...
    @property
    def uncut(self) -> tuple[str, int, int | None] | None: ...
    @property
    def presupposes_rows(self) -> bool: ...


@dataclass(frozen=True)
class Source:
    """A database with what its owner has prepared: tables and views to read, meanings, examples."""

    path: Path
    tables: Sequence[str]
    views: Sequence[str]
    meanings: Mapping[str, str]
    examples: Sequence[Example]


@dataclass(frozen=True)
class Rung:
    """Which repairs are on. `repairs` is how often something may be handed back."""

    name: str
    repairs: int = 0
    values: bool = False
    meanings: bool = False
    views: bool = False
    examples: bool = False
    suspicion: bool = False


BARE = Rung("bare schema")
LADDER = (
    BARE,
    errors := Rung("+ errors handed back", repairs=2),
    values := replace(errors, name="+ values", values=True),
    meanings := replace(values, name="+ meanings", meanings=True),
    views := replace(meanings, name="+ views", views=True),
    examples := replace(views, name="+ examples", examples=True),
    replace(examples, name="+ suspicion", suspicion=True),
)
ALONE = (
    BARE,
    errors,
    Rung("values alone", values=True),
    Rung("meanings alone", meanings=True),
    Rung("views alone", views=True),
    Rung("examples alone", examples=True),
    Rung("suspicion alone", repairs=2, suspicion=True),
)


@dataclass(frozen=True)
class Outcome:
    """What became of one question on one rung. `warned`: a doubt was raised about a result that was right."""

    id: str
    kind: str
    rung: str
    right: bool
    warned: bool
    answer: Answer = field(repr=False)


@dataclass(frozen=True)
class Climb:
    """All outcomes, in the order of the rungs and of the questions. Counts only: a stand-in has no rate."""

    rungs: tuple[str, ...]
    outcomes: tuple[Outcome, ...]

    def counts(self) -> dict[str, dict[str, int]]:
        """Return {kind of mistake: {rung: questions answered right}}, in the order in which the kinds appear."""
        found: dict[str, dict[str, int]] = {}
        for one in self.outcomes:
            found.setdefault(one.kind, dict.fromkeys(self.rungs, 0))[one.rung] += one.right
        return found

    def asked(self) -> dict[str, int]:
        """Return {kind of mistake: questions}."""
        first = [one.kind for one in self.outcomes if one.rung == self.rungs[0]]
        return {kind: first.count(kind) for kind in dict.fromkeys(first)}

    def repaired(self, rung: str, since: str | None = None) -> list[str]:
        """Return the ids of the questions that are right on a rung and were wrong on `since`, or the one before it."""
        return [id for id in self._ids() if id in self._wrong(self._before(rung, since)) - self._wrong(rung)]

    def broken(self, rung: str, since: str | None = None) -> list[str]:
        """Return the ids of the questions that are wrong on a rung and were right on `since`, or the one before it."""
        return [id for id in self._ids() if id in self._wrong(rung) - self._wrong(self._before(rung, since))]

    def never_repaired(self) -> list[str]:
        """Return the ids of the questions that are wrong on every rung."""
        return [id for id in self._ids() if all(id in self._wrong(rung) for rung in self.rungs)]

    def false_warnings(self) -> list[str]:
        """Return the ids of the questions about whose right result a doubt was raised, on any rung."""
        return list(dict.fromkeys(one.id for one in self.outcomes if one.warned))

    def _ids(self) -> list[str]:
        return list(dict.fromkeys(one.id for one in self.outcomes))

    def _before(self, rung: str, since: str | None) -> str:
        return since or self.rungs[max(self.rungs.index(rung) - 1, 0)]

    def _wrong(self, rung: str) -> set[str]:
        return {one.id for one in self.outcomes if one.rung == rung and not one.right}

    def __str__(self) -> str:
        counts, asked = self.counts(), self.asked()
        rows = [[kind, str(asked[kind]), *(str(of[rung]) for rung in self.rungs)] for kind, of in counts.items()]
        totals = [str(sum(of[rung] for of in counts.values())) for rung in self.rungs]
        lines = [["mistake", "n", *self.rungs], *rows, ["all", str(sum(asked.values())), *totals]]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines
        )


def climb(
    questions: Iterable[Labelled],
    sources: Mapping[str, Source],
    rungs: Sequence[Rung] = LADDER,
    ask: Ask | None = None,
) -> Climb:
    """Answer every question on every rung and compare the results with the right ones.

    `sources` has one entry for each `db` of the questions, its views already made. `ask` is a model; without one the
    stand-in answers from the questions' scripts.
    """
    asked = list(questions)
    ask = ask or StandIn(asked)
    gold = {question.id: gold_of(question, sources[question.db].path) for question in asked}
    outcomes = list[Outcome]()
    for rung in rungs:
        cards = {name: _card(source, rung) for name, source in sources.items()}
        for one in asked:
            given = _answered(one, sources[one.db], rung, cards[one.db], ask)
            kind = one.slips[0].kind if one.slips else "no mistake"
            outcomes.append(_judged(one.id, kind, rung.name, given, gold[one.id]))
    return Climb(tuple(rung.name for rung in rungs), tuple(outcomes))


def gold_of(question: Labelled, path: Path) -> Gold:
    """Run the right SQL of a question and return its results."""
    with closing(read_only(path)) as connection:
        if question.uncut is None:
            return run_gold(connection, question.gold)
        sql, keys, limit = question.uncut
        return run_gold(connection, [sql], keys, limit)


def _card(source: Source, rung: Rung) -> Card:
    tables = [*source.tables, *(source.views if rung.views else ())]
    with closing(read_only(source.path)) as connection:
        return schema_card(connection, source.meanings, tables, rung.values, rung.meanings)


def _answered(one: Labelled, source: Source, rung: Rung, card: Card, ask: Ask) -> Answer:
    guard = Guard({table.name for table in card.tables})
    examples = source.examples if rung.examples else ()
    return answer(
        one.text,
        ask,
        guard,
        source.path,
        card,
        examples,
        presupposes=one.presupposes_rows,
        repairs=rung.repairs,
        suspicious=rung.suspicion,
    )


def _judged(id: str, kind: str, rung: str, given: Answer, gold: Gold) -> Outcome:
    """Compare with the right result; one that the row cap has cut is wrong."""
    right = is_right(None if given.truncated or not given.sql else given.rows, gold)
    doubted = [attempt for attempt in given.attempts if attempt.doubts and attempt.result]
    warned = any(attempt.result is not None and is_right(attempt.result.rows, gold) for attempt in doubted)
    return Outcome(id, kind, rung, right, warned, given)
