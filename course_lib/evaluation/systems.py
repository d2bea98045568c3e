"""What is compared: a system takes a question and returns a response, whatever is inside it.

Anything that can be called is a system: a retriever of this course, a function around what runs at work today, or a
CSV of the answers it gave. What a response leaves open is reported as "not measured", never as zero.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import isfinite
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, TypeAlias

from course_lib.evaluation.questions import QuestionsError, csv_records, find_delimiter, read_text, same_text
from course_lib.pricing import Price, cost
from course_lib.retrieval import Hit, Retriever, Usage
from course_lib.tokens import count_tokens

Route: TypeAlias = Literal["chunks", "outline", "sql", "document"]

METRIC: dict[Route, str] = {
    "chunks": "hit rate@k",
    "outline": "node recall",
    "sql": "execution accuracy",
    "document": "nothing is retrieved",
}
INSTRUCTIONS, ANSWER = 300, 250  # tokens of a prompt beside its evidence, and of an answer: those of the lesson's bill


# --- One response ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Response:
    """What a system returned to one question. None means: it did not say.

    `answer` is None where no model wrote one, and "" where the system abstained. `ids` are what it retrieved or read,
    best first. `usd` is what the question cost, or would cost where `estimated`; `seconds` overrides the clock of
    `compare`. `rows` is the result of `sql`. Raises ValueError for a price or a time that is negative or no number.
    """

    answer: str | None = None
    ids: tuple[str, ...] | None = None
    usage: Usage | None = None
    usd: float | None = None
    estimated: bool = False
    seconds: float | None = None
    sql: str | None = None
    rows: tuple[tuple[Any, ...], ...] | None = None
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("usd", "seconds"):
            value = getattr(self, name)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if value is not None and not (is_number and isfinite(value) and value >= 0):
                raise ValueError(f"{name} is {value!r}, and a number of 0 or more, or None, is expected")
        if self.answer is not None and not isinstance(self.answer, str):
            raise ValueError(f"answer is {self.answer!r}, and a text, or None, is expected")


FIELDS = tuple(one.name for one in fields(Response))


def to_response(result: object) -> Response:
    """Return what a system returned as a Response.

    A text is an answer; a list of hits or ids is what was retrieved; a pair is (answer, ids); a mapping has the names
    of Response's fields. Raises TypeError for anything else, None included: a function without `return` gives that.

    >>> to_response(("12 % a year", ["7.3", "B"])).ids
    ('7.3', 'B')
    """
    if isinstance(result, Response):
        return result
    if isinstance(result, str):
        return Response(answer=result)
    if isinstance(result, Mapping):
        return _from_mapping(result)
    if isinstance(result, tuple) and len(result) == 2 and all(isinstance(one, str) for one in result):
        raise TypeError(
            f"The system returned {result!r}: are these two ids, or an answer and its id? A list is expected."
        )
    if isinstance(result, tuple) and len(result) == 2 and not isinstance(result[1], str | Hit):
        return Response(answer=result[0], ids=_ids(result[1]))
    if isinstance(result, Sequence):
        return Response(ids=_ids(result))
    raise TypeError(
        f"The system returned {_short(result)}, and a text (the answer), a list of hits or ids, (answer, ids), a "
        f"mapping or a Response is expected."
    )


def _from_mapping(result: Mapping[str, Any]) -> Response:
    unknown = [name for name in result if name not in FIELDS]
    if unknown:
        raise TypeError(f"The system returned {unknown[0]!r}, and a response has {', '.join(FIELDS)}.")
    values = dict(result)
    if values.get("answer") is not None and not isinstance(values["answer"], str):
        values["answer"] = str(values["answer"])
    if values.get("ids") is not None:
        values["ids"] = _ids(values["ids"])
    if values.get("rows") is not None:
        values["rows"] = tuple(tuple(row) for row in values["rows"])
    return Response(**values)


def _ids(found: object) -> tuple[str, ...]:
    if isinstance(found, Sequence) and not isinstance(found, str):
        ids = [one.id if isinstance(one, Hit) else one for one in found]
        if all(isinstance(id, str) for id in ids):
            return tuple(dict.fromkeys(ids))
    raise TypeError(f"The system returned {_short(found)} as ids, and a list of texts or hits is expected.")


def _short(value: object) -> str:
    return f"{type(value).__name__} {str(value)[:60]!r}" if value is not None else "None"


# --- One system -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class System:
    """Something that is asked questions.

    `route` says how its retrieval is measured (see METRIC). `state` names what its results depend on, such as a hash
    of its documents: a run that is resumed asks again where it changed. `timed` is False where the clock would
    measure something else, as for recorded answers. `most_usd` is what a question may cost at most, if known: it
    keeps the first calls within a spending limit.
    """

    name: str
    ask: Callable[[str], Any] = field(repr=False)
    route: Route = "chunks"
    state: str = ""
    timed: bool = True
    most_usd: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise ValueError(f"The name of a system is {self.name!r}, and a text is expected")
        if self.route not in METRIC:
            raise ValueError(f"There is no route {self.route!r}; there are {', '.join(METRIC)}")


Given: TypeAlias = System | Callable[..., Any]


def as_systems(given: Mapping[str, Given] | Sequence[System], k: int) -> list[System]:
    """Return the systems of a mapping from name to callable, or of a list.

    A callable with a second argument without a default is asked with `k`, as a retriever is. Raises ValueError where
    there is none or a name occurs twice, TypeError for what cannot be called.
    """
    pairs = given.items() if isinstance(given, Mapping) else [(getattr(one, "name", "?"), one) for one in given]
    systems = [one if isinstance(one, System) else System(name, _with_k(name, one, k)) for name, one in pairs]
    names = [one.name for one in systems]
    if not systems or len(set(names)) < len(names):
        raise ValueError(f"The systems are {names}: at least one is needed, and each with a name of its own.")
    return systems


def _with_k(name: str, call: Given, k: int) -> Callable[[str], Any]:
    if not callable(call):
        raise TypeError(f"The system {name!r} is {_short(call)}, and something that can be called is expected.")
    try:
        arguments = inspect.signature(call).parameters
    except (TypeError, ValueError):  # some built-in callables have no signature
        return call
    if "k" in arguments or _needs_two(arguments):
        return lambda question: call(question, k)
    return call


def _needs_two(arguments: Mapping[str, inspect.Parameter]) -> bool:
    needed = [one for one in arguments.values() if one.default is one.empty and one.kind in (0, 1)]
    return len(needed) == 2


def from_retriever(
    name: str, search: Retriever, k: int, price: Price | None = None, route: Route = "chunks", state: str = ""
) -> System:
    """Return a retriever as a system that retrieves `k` hits and writes no answer.

    With a `price` each response says what an answer from these hits would cost (300 tokens of instructions and
    question, the hits, 250 of answer: the lesson's bill). Its time is that of the search, not of the counting.
    """

    def ask(question: str) -> Response:
        began = perf_counter()
        hits = search(question, k)
        took = perf_counter() - began
        if price is None:
            return Response(ids=_ids(hits), seconds=took)
        return would_cost(_ids(hits), [hit.text for hit in hits], price, took)

    return System(name, ask, route, state)


def would_cost(ids: tuple[str, ...], evidence: Sequence[str], price: Price, seconds: float) -> Response:
    """Return the response of a retriever, with what an answer from `evidence` would cost: nothing without any."""
    usage = prompt_usage(evidence) if evidence else Usage()
    return Response(ids=ids, usage=usage, usd=cost(usage, price), estimated=True, seconds=seconds)


def prompt_usage(evidence: Sequence[str]) -> Usage:
    """Return the tokens that an answer from `evidence` takes: counted evidence, and the lesson's 300 and 250."""
    return Usage(fresh=INSTRUCTIONS + sum(map(counted, evidence)), output=ANSWER, calls=1)


_counts: dict[str, int] = {}


def counted(text: str) -> int:
    """Return the tokens of a text, counted once: the same chunks are found again and again."""
    if text not in _counts:
        if len(_counts) > 20_000:
            _counts.clear()
        _counts[text] = count_tokens(text)
    return _counts[text]


# --- What runs today, as a file ---------------------------------------------------------------------------------------

ANSWER_COLUMNS = ("question", "answer", "ids", "seconds", "usd")


def from_answers(path: Path, name: str | None = None) -> System:
    """Return the answers in a CSV as a system: columns `question` and `answer`, where known `ids`, `seconds`, `usd`.

    Questions are matched whatever their case and blanks. An empty cell in `answer` means that the system abstained,
    a CSV without that column that it only retrieves. A question that the file does not hold raises LookupError when
    it is asked. Raises QuestionsError, naming the row, where the file cannot be used.
    """
    text, _ = read_text(path)
    delimiter = find_delimiter(text, ANSWER_COLUMNS)
    if delimiter is None:
        raise QuestionsError(
            f"{path.name} has no column 'question' in its first row. Known: {', '.join(ANSWER_COLUMNS)}."
        )
    recorded: dict[str, Response] = {}
    for number, row in csv_records(text, delimiter, path.name):
        if "answer" not in row and "ids" not in row:
            raise QuestionsError(f"{path.name} has neither a column 'answer' nor one 'ids': there is nothing to score.")
        key = same_text(row.get("question", ""))
        response = _recorded(row, f"{path.name}: row {number}")
        if recorded.setdefault(key, response) != response:
            raise QuestionsError(f"{path.name}: row {number} answers a question again, and differently: keep one.")

    def ask(question: str) -> Response:
        if same_text(question) not in recorded:
            raise LookupError(f"{path.name} holds no answer to this question")
        return recorded[same_text(question)]

    return System(name or path.stem, ask, state=str(sorted(recorded.items()).__repr__()), timed=False)


def _recorded(row: Mapping[str, str], where: str) -> Response:
    ids = row.get("ids")
    separator = next((mark for mark in ("\n", "|", ";") if mark in (ids or "")), "\n")
    return Response(
        answer=row["answer"].strip() if "answer" in row else None,
        ids=None if ids is None else tuple(dict.fromkeys(id.strip() for id in ids.split(separator) if id.strip())),
        usd=_amount(row.get("usd"), where, "usd"),
        seconds=_amount(row.get("seconds"), where, "seconds"),
    )


def _amount(cell: str | None, where: str, name: str) -> float | None:
    if cell is None or not cell.strip():
        return None
    try:
        value = float(cell.strip().replace(",", "."))
    except ValueError:
        value = -1.0
    if not isfinite(value) or value < 0:
        raise QuestionsError(f"{where}: {name} is {cell!r}, and a number of 0 or more is expected.")
    return value
