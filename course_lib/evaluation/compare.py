"""Asking every system every question, and keeping what comes back.

A run can stop at any moment (an interrupt, a spending limit, a machine that goes down) and goes on where it was: each
result is written to a journal before the next question is asked.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

from course_lib.evaluation.journal import Journal, Result, result_key, verdict_key
from course_lib.evaluation.questions import Question, shapes_of
from course_lib.evaluation.scoring import Agreement, Judge, agreement, grade
from course_lib.evaluation.systems import Given, Response, Route, System, as_systems, to_response
from course_lib.llm import ModelError
from course_lib.metrics import hit_at_k, ndcg_at_k, recall_at_k
from course_lib.sql.accuracy import same_result

ALL = "all shapes"


# --- One question to one system ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What came of one question to one system. None means: not measured.

    `right` judges the answer, `how` says how that was found out. `found` says whether what was needed was retrieved
    (a gold id among the ids, or the right rows), `recall` and `ndcg` how much of it. A question that failed has an
    `error`; it counts as not answered and not found.
    """

    system: str
    route: Route
    question: Question
    response: Response | None = None
    seconds: float | None = None
    error: str = ""
    right: bool | None = None
    how: str = ""
    found: bool | None = None
    recall: float | None = None
    ndcg: float | None = None


def score(outcome: Outcome, k: int, judge: Judge | None = None) -> Outcome:
    """Return an outcome with what can be said about its response. A judge that fails is recorded, not raised."""
    question, response = outcome.question, outcome.response
    if response is None:
        return _failed(outcome)
    right, how = None, ""
    if response.answer is not None:
        try:
            graded = grade(question, response.answer, judge)
            right, how = (graded.right, graded.how) if graded else (None, "")
        except Exception as error:
            how = f"the judge failed: {error}"
    return replace(outcome, right=right, how=how, **_retrieved(outcome.route, question, response, k))


def _failed(outcome: Outcome) -> Outcome:
    """Count a failure as what the user sees, no answer, wherever the question has a label."""
    question = outcome.question
    gold = bool(question.gold) and outcome.route in ("chunks", "outline")
    needed = gold or (outcome.route == "sql" and question.rows is not None)
    return replace(
        outcome,
        right=False if question.expected is not None else None,
        how="failed",
        found=False if needed else None,
        recall=0.0 if gold else None,
        ndcg=0.0 if gold else None,
    )


def _retrieved(route: Route, question: Question, response: Response, k: int) -> dict[str, Any]:
    if route == "sql":
        if question.rows is None or response.rows is None:
            return {}
        return {"found": same_result(response.rows, [question.rows], question.ordered)}
    if route == "document" or not question.gold or response.ids is None:
        return {}
    depth = k if route == "chunks" else max(1, len(response.ids))  # a navigator is judged by all it read
    return {
        "found": hit_at_k(response.ids, question.gold, depth),
        "recall": recall_at_k(response.ids, question.gold, depth),
        "ndcg": ndcg_at_k(response.ids, dict.fromkeys(question.gold, 1.0), depth),
    }


# --- The run ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Progress:
    """How far a run is: results there, results in all, failures among them, and USD really spent."""

    done: int
    total: int
    failed: int
    usd: float
    name: str = ""

    def __str__(self) -> str:
        filled = 24 * self.done // max(1, self.total)
        failed = f", {self.failed} failed" if self.failed else ""
        spent = f", USD {self.usd:.4f}" if self.usd else ""
        return f"[{'#' * filled}{'.' * (24 - filled)}] {self.done} of {self.total}{failed}{spent}"


@dataclass(frozen=True)
class Comparison:
    """All outcomes of a run, question by question in the order given, and for each question in the order of systems.

    `stopped` is empty, or the sentence that says why the run ended before its end; `reused` counts the results that
    an earlier run left in the journal; `usd` is what was really spent, in this run and those.
    """

    outcomes: tuple[Outcome, ...]
    systems: tuple[str, ...]
    questions: tuple[Question, ...]
    k: int
    stopped: str = ""
    reused: int = 0
    usd: float = 0.0
    parallel: int = 1
    notes: tuple[str, ...] = ()
    agreement: Agreement | None = None

    @property
    def shapes(self) -> tuple[str, ...]:
        """The shapes that occur, the known ones first."""
        return shapes_of(self.questions)

    def of(self, system: str, shape: str = ALL) -> list[Outcome]:
        """Return a system's outcomes for one shape or all. Raises ValueError for a system that did not take part."""
        if system not in self.systems:
            raise ValueError(f"There is no system {system!r} here; there are {', '.join(self.systems)}.")
        return [one for one in self.outcomes if one.system == system and shape in (ALL, one.question.shape)]


@dataclass
class _Run:
    """What a run knows while it goes on."""

    total: int
    budget: float | None
    journal: Journal | None
    progress: Callable[[Progress], None] | None
    results: dict[str, Result] = field(default_factory=dict)
    usd: float = 0.0
    failed: int = 0
    reused: int = 0
    stopped: str = ""
    flying: float = 0.0
    dearest: dict[str, float] = field(default_factory=dict)

    def reserve(self, system: System) -> float:
        """Return what the next question to a system may cost: the dearest so far, or what it says itself."""
        return max(self.dearest.get(system.name, 0.0), system.most_usd)

    def affords(self, system: System) -> bool:
        if self.budget is None:
            return True
        spent = self.usd + self.flying
        if self.reserve(system) == 0.0 and spent < self.budget:
            return True
        return spent + self.reserve(system) <= self.budget and spent < self.budget

    def keep(self, key: str, system: System, result: Result) -> None:
        self.results[key] = result
        self.failed += bool(result.error)
        self.usd += result.usd
        self.dearest[system.name] = max(result.usd, self.dearest.get(system.name, 0.0))

    def tell(self, name: str = "") -> None:
        if self.progress:
            self.progress(Progress(len(self.results), self.total, self.failed, self.usd, name))


Job: TypeAlias = tuple[str, System, Question]


def compare(
    systems: Mapping[str, Given] | Sequence[System],
    questions: Sequence[Question],
    *,
    k: int = 5,
    journal: Path | None = None,
    budget: float | None = None,
    parallel: int = 1,
    progress: Callable[[Progress], None] | None = None,
    judge: Judge | None = None,
    hand: Mapping[tuple[str, str], bool] | None = None,
) -> Comparison:
    """Ask every system every question and score what it returns.

    `journal` names a file that keeps each result: a second call with it asks only what is missing, and again what
    failed. `budget` is a spending limit in USD over all runs of the journal; no question is begun that could pass it,
    as far as the dearest one so far tells. `parallel` questions are asked at a time, from threads; the order of the
    outcomes does not depend on it. `hand` holds a person's verdicts by (system, question) to check the scoring by.

    A question that fails is recorded and the run goes on; Ctrl-C ends it and keeps what is there. Raises ValueError
    for no question or no system, a repeated question, or k, budget or parallel out of bounds.

    >>> from course_lib.retrieval import Hit
    >>> questions = [Question("Which rate?", "structural hop", gold=("B",))]
    >>> compare({"mine": lambda question: [Hit("B", 1.0)]}, questions).outcomes[0].found
    True
    """
    asked, listed = as_systems(systems, k), _checked(questions, k, budget, parallel)
    jobs = [(result_key(system, question, k), system, question) for question in listed for system in asked]
    with _opened(journal) as book:
        run = _Run(len(jobs), budget, book, progress)
        _reuse(run, jobs)
        _ask_all(run, [job for job in jobs if job[0] not in run.results], parallel)
        outcomes = _score_all(run, jobs, k, judge)
        if book and not run.stopped:
            book.finish()
    return Comparison(
        outcomes,
        tuple(system.name for system in asked),
        tuple(listed),
        k,
        run.stopped,
        run.reused,
        run.usd,
        parallel,
        _damage(book),
        check_by_hand(outcomes, hand or {}),
    )


def _damage(book: Journal | None) -> tuple[str, ...]:
    if book is None or not book.damaged:
        return ()
    return (f"{book.damaged} of the journal's lines could not be read; what they held was asked again.",)


def _checked(questions: Sequence[Question], k: int, budget: float | None, parallel: int) -> list[Question]:
    if not questions:
        raise ValueError("There is no question: at least one is needed.")
    if len({question.key for question in questions}) < len(questions):
        raise ValueError("A question occurs twice: it would count twice. Leave one out.")
    for name, value, low in (("k", k, 1), ("parallel", parallel, 1), ("budget", budget, 0)):
        if value is not None and (isinstance(value, bool) or not low <= value < 10**6):
            raise ValueError(f"{name} is {value!r}, and a number of at least {low} is expected")
    return list(questions)


@contextmanager
def _opened(path: Path | None) -> Iterator[Journal | None]:
    book = Journal(path) if path is not None else None
    try:
        yield book
    finally:
        if book:
            book.close()


def _reuse(run: _Run, jobs: Sequence[Job]) -> None:
    """Take over what an earlier run found, except for its failures; what it spent counts either way."""
    earlier = run.journal.results if run.journal else {}
    for key, system, _ in jobs:
        if key not in earlier:
            continue
        if earlier[key].error:
            run.usd += earlier[key].usd
        else:
            run.keep(key, system, earlier[key])
    run.reused = len(run.results)


def _ask_all(run: _Run, jobs: Sequence[Job], parallel: int) -> None:
    try:
        run.tell()
        if parallel == 1:
            _one_by_one(run, jobs)
        else:
            _several(run, jobs, parallel)
    except OverLimit as error:
        run.stopped = f"Stopped after {len(run.results)} of {run.total} results: {error}"
    except KeyboardInterrupt:
        run.stopped = f"Interrupted after {len(run.results)} of {run.total} results; what was there is kept."


def _over(run: _Run) -> str:
    return (
        f"Stopped at the spending limit: USD {run.usd:.4f} of {run.budget:.4f} spent, "
        f"{len(run.results)} of {run.total} results."
    )


def _one_by_one(run: _Run, jobs: Sequence[Job]) -> None:
    for job in jobs:
        if not run.affords(job[1]):
            run.stopped = _over(run)
            return
        _take(run, job, answer(job[1], job[2].text))


def _several(run: _Run, jobs: Sequence[Job], parallel: int) -> None:
    """Keep `parallel` questions in the air; only this thread touches the run and its journal."""
    waiting, flying = list(reversed(jobs)), dict[Future[Result], tuple[Job, float]]()
    refused: OverLimit | None = None
    pool = ThreadPoolExecutor(parallel)
    try:
        while waiting or flying:
            while waiting and len(flying) < parallel and run.affords(waiting[-1][1]):
                job = waiting.pop()
                reserve = run.reserve(job[1])
                run.flying += reserve
                flying[pool.submit(answer, job[1], job[2].text)] = (job, reserve)
            if not flying:
                run.stopped = _over(run)
                return
            for done in wait(flying, return_when=FIRST_COMPLETED).done:
                job, reserve = flying.pop(done)
                run.flying -= reserve
                try:
                    _take(run, job, done.result())
                except OverLimit as error:  # what else is in the air is waited for, and kept
                    refused = error
                    waiting.clear()
        if refused:
            raise refused
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _take(run: _Run, job: Job, result: Result) -> None:
    key, system, question = job
    run.keep(key, system, result)
    if run.journal:
        run.journal.add(key, system.name, question.text, result)
    run.tell(system.name)


class OverLimit(RuntimeError):
    """A system's own spending limit refused a call."""


def answer(system: System, question: str) -> Result:
    """Ask one question and take the time; an error is a result too. Raises OverLimit."""
    began = perf_counter()
    try:
        response = to_response(system.ask(question))
    except Exception as error:
        if isinstance(error, ModelError) and error.kind == "limit":
            raise OverLimit(str(error)) from None
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return Result(None, None, said, error.usd if isinstance(error, ModelError) else 0.0)
    took = perf_counter() - began if system.timed else None
    spent = 0.0 if response.estimated or response.usd is None or not system.timed else response.usd
    return Result(response, response.seconds if response.seconds is not None else took, usd=spent)


def _score_all(run: _Run, jobs: Sequence[Job], k: int, judge: Judge | None) -> tuple[Outcome, ...]:
    """Score what there is. A judge is asked once an answer, and no longer after an interrupt."""
    outcomes, asked = [], _remembered(judge, run.journal)
    for key, system, question in jobs:
        if key not in run.results:
            continue
        result = run.results[key]
        bare = Outcome(system.name, system.route, question, result.response, result.seconds, result.error)
        try:
            outcomes.append(score(bare, k, asked))
        except KeyboardInterrupt:
            asked, run.stopped = None, "Interrupted while answers were judged; those left are not measured."
            outcomes.append(score(bare, k))
    return tuple(_silenced(outcomes))


def _silenced(outcomes: Sequence[Outcome]) -> Iterator[Outcome]:
    """Leave a failure out of what its system never says: one that only retrieves has no wrong answers."""
    said = [(one.system, one.response) for one in outcomes if one.response is not None]
    heard = {system for system, _ in said}
    answering = {system for system, response in said if response.answer is not None}
    retrieving = {system for system, response in said if response.ids is not None or response.rows is not None}
    for one in outcomes:
        if one.error and one.system in heard - answering:
            one = replace(one, right=None)
        if one.error and one.system in heard - retrieving:
            one = replace(one, found=None, recall=None, ndcg=None)
        yield one


def _remembered(judge: Judge | None, book: Journal | None) -> Judge | None:
    if judge is None or book is None:
        return judge

    def ask(question: Question, text: str) -> bool:
        key = verdict_key(question, text)
        if key not in book.verdicts:
            book.add_verdict(key, judge(question, text))
        return book.verdicts[key]

    return ask


def check_by_hand(outcomes: Sequence[Outcome], hand: Mapping[tuple[str, str], bool]) -> Agreement | None:
    """Return how far the scoring agrees with a person's verdicts, or None where both judged nothing in common."""
    pairs = [
        (outcome.right, hand[outcome.system, outcome.question.text])
        for outcome in outcomes
        if outcome.right is not None and (outcome.system, outcome.question.text) in hand
    ]
    return agreement([scored for scored, _ in pairs], [person for _, person in pairs]) if pairs else None
