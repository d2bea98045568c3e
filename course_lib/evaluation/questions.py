"""Labelled questions: what is asked, which shape it has, and what a right system would return.

A file is JSONL (an object a line) or CSV (a header, then a row a question). The columns are `question`, `shape`,
`expected` (the answer), `gold` (the ids that hold it) and, where needed, `tolerance`, `match` and `rows`.
"""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

SHAPES = ("single fact", "exact identifier", "aggregate", "structural hop", "fast-changing source")
UNSORTED = "unsorted"
NO_EVIDENCE = "no evidence"  # as an expected answer: a right system abstains

Match: TypeAlias = Literal["auto", "exact", "number", "contains", "judge"]
Row: TypeAlias = tuple[Any, ...]
MOST_ERRORS = 20
DIGITS = 12  # of the hash that names a question


class QuestionsError(ValueError):
    """A file of questions that cannot be used as it stands; the message names every row to repair."""


# --- One question ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Question:
    """One labelled question.

    `gold` are the ids that hold the answer, `expected` is the answer (NO_EVIDENCE where a right system abstains),
    `tolerance` says how far a number may be off, in its own unit or, where `relative`, as a share of it. `match` says
    how an answer is compared; "auto" compares numbers with numbers and otherwise looks for the expected text. `rows`
    is the result that a question to a database should give, `ordered` says whether the question asks for an order.
    """

    text: str
    shape: str = UNSORTED
    expected: str | None = None
    gold: tuple[str, ...] = ()
    tolerance: float = 0.0
    relative: bool = False
    match: Match = "auto"
    rows: tuple[Row, ...] | None = None
    ordered: bool = False

    @property
    def key(self) -> str:
        """A short name made from the text alone: the same question has it in every file and on every machine."""
        return sha256(same_text(self.text).encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]

    @property
    def is_labelled(self) -> bool:
        """Whether there is anything to score a system by."""
        return self.expected is not None or bool(self.gold) or self.rows is not None


def same_text(text: str) -> str:
    """Return a text in the form in which two spellings of one question are the same: case and blanks do not count.

    >>> same_text("  What is\\nE-4471? ") == same_text("what is e-4471?")
    True
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


@dataclass(frozen=True)
class Labelled:
    """The questions of a file in its order, and what the reader should know of it: each note is a sentence."""

    questions: tuple[Question, ...]
    notes: tuple[str, ...] = ()

    @property
    def shapes(self) -> tuple[str, ...]:
        """The shapes that occur, the five known ones first."""
        return shapes_of(self.questions)


def shapes_of(questions: Iterable[Question]) -> tuple[str, ...]:
    """Return the shapes of `questions`: those of SHAPES in their order, then the others as they come."""
    found = dict.fromkeys(question.shape for question in questions)
    return (*(shape for shape in SHAPES if shape in found), *(shape for shape in found if shape not in SHAPES))


# --- From a file ----------------------------------------------------------------------------------------------------

COLUMNS = {
    "question": ("question", "text"),
    "shape": ("shape", "slice", "kind"),
    "expected": ("expected", "expected answer", "answer"),
    "gold": ("gold", "gold id", "gold ids", "ids"),
    "tolerance": ("tolerance", "number tolerance"),
    "match": ("match",),
    "rows": ("rows", "expected rows"),
    "ordered": ("ordered",),
}
NAMES = {alias: column for column, aliases in COLUMNS.items() for alias in aliases}


def read_questions(path: Path) -> Labelled:
    """Read the labelled questions of a JSONL or CSV file.

    A CSV may come from a spreadsheet: commas, semicolons or tabs, UTF-8 with or without a mark, UTF-16 or
    Windows-1252. Rows are numbered as a spreadsheet shows them, the header being row 1. Raises QuestionsError, naming
    up to 20 rows, where something cannot be used, and FileNotFoundError where there is no such file.
    """
    text, notes = read_text(path)
    records = list(_json_lines(text, path) if _is_json(path, text) else _csv_rows(text, path))
    if not records:
        raise QuestionsError(f"{path.name} holds no question. A row a question is needed, below a header in a CSV.")
    return check_records(records, path.name, notes)


def read_text(path: Path) -> tuple[str, list[str]]:
    """Return the text of a file and, where it was no UTF-8, a sentence on how it was read.

    Raises FileNotFoundError, or QuestionsError where `path` is a folder or the file is empty.
    """
    if path.is_dir():
        raise QuestionsError(f"{path.name} is a folder; a JSONL or CSV file is needed.")
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}. Give the path of a JSONL or CSV file.")
    content = path.read_bytes()
    if not content.strip(b"\xef\xbb\xbf \t\r\n"):
        raise QuestionsError(f"{path.name} is empty. A row a question is needed, below a header in a CSV.")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace"), []
    try:
        return content.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        note = f"{path.name} is no UTF-8 and was read as Windows-1252: check that umlauts and dashes look right."
        return content.decode("cp1252", "replace"), [note]


def _is_json(path: Path, text: str) -> bool:
    if path.suffix.lower() in (".jsonl", ".ndjson", ".json"):
        return True
    return path.suffix.lower() not in (".csv", ".tsv", ".txt") and text.lstrip().startswith("{")


Record: TypeAlias = tuple[str, dict[str, Any]]  # where it stands ("row 3", "line 3"), and its fields


def _json_lines(text: str, path: Path) -> Iterator[Record]:
    """Yield the object of each line; only line feeds end a line, since a JSON text may hold other separators."""
    errors: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as error:
            errors.append(f"line {number} is no JSON ({error})")
            continue
        if isinstance(fields, dict):
            yield f"line {number}", fields
        else:
            errors.append(f"line {number} is no object with a field 'question'")
    if errors:
        raise _refused(path.name, errors)


def _csv_rows(text: str, path: Path) -> Iterator[Record]:
    """Yield the fields of each row by the header's names, with the row's number in a spreadsheet."""
    delimiter = find_delimiter(text, NAMES)
    if delimiter is None:
        first = next(iter(text.splitlines()), "")[:80]
        raise QuestionsError(
            f"{path.name} has no column 'question' in its first row, which is {first!r}. Expected are the columns "
            f"question, shape, expected, gold, separated by commas, semicolons or tabs."
        )
    for number, fields in csv_records(text, delimiter, path.name):
        yield f"row {number}", {**fields}


def find_delimiter(text: str, known: Collection[str], needed: str = "question") -> str | None:
    """Return the separator under which the first row of `text` holds most `known` names, `needed` among them."""
    best: tuple[int, str] | None = None
    for delimiter in ",;\t":
        try:
            header = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True), [])
        except csv.Error:
            continue
        names = [_plain(name) for name in header]
        if any(NAMES.get(name, name) == needed for name in names):
            count = sum(name in known for name in names)
            best = max(best or (0, delimiter), (count, delimiter), key=lambda pair: pair[0])
    return best[1] if best else None


def csv_records(text: str, delimiter: str, name: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (row number, fields by column name in lower case) for each row that is not blank.

    Raises QuestionsError for a quote that is not closed, a field beyond csv's limit, or more cells than the header.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    number = 1
    try:
        header = [_plain(cell) for cell in next(reader)]
        for number, cells in enumerate(reader, start=2):
            if not any(cell.strip() for cell in cells):
                continue
            if any(cell.strip() for cell in cells[len(header) :]):
                raise QuestionsError(
                    f"{name}: row {number} has {len(cells)} cells under {len(header)} columns: a text that holds the "
                    f"separator {delimiter!r} needs quotes around it."
                )
            yield number, dict(zip(header, cells, strict=False))
    except csv.Error as error:
        raise QuestionsError(f"{name}: near row {number + 1} the CSV cannot be read ({error}).") from None


def _plain(name: str) -> str:
    return " ".join(name.replace("_", " ").replace("\ufeff", "").casefold().split())


# --- Checking -------------------------------------------------------------------------------------------------------


def check_records(records: Sequence[Record], name: str, notes: Iterable[str] = ()) -> Labelled:
    """Return the questions of raw records, or raise QuestionsError with a clause for each one that cannot be used.

    A record is where it stands and its fields. A shape beyond SHAPES is kept and noted, as is a repeated question.
    """
    errors: list[str] = []
    said = [*notes, *_unknown_columns(records)]
    kept: dict[str, tuple[str, Question]] = {}
    for where, fields in records:
        try:
            question = question_from(fields)
        except ValueError as error:
            errors.append(f"{where}: {error}")
            continue
        earlier = kept.setdefault(question.key, (where, question))
        if earlier[0] == where:
            said += _remarks(where, question)
        elif replace(earlier[1], text=question.text) == question:
            said.append(f"{where} repeats {earlier[0]} and is left out.")
        else:
            errors.append(f"{where} asks the question of {earlier[0]} and labels it differently: keep one of the two")
    if errors:
        raise _refused(name, errors)
    return Labelled(tuple(question for _, question in kept.values()), tuple(said))


def _refused(name: str, errors: Sequence[str]) -> QuestionsError:
    more = f"; and {len(errors) - MOST_ERRORS} more" if len(errors) > MOST_ERRORS else ""
    return QuestionsError(f"{name} cannot be used. " + "; ".join(errors[:MOST_ERRORS]) + more + ".")


def _unknown_columns(records: Sequence[Record]) -> list[str]:
    names = dict.fromkeys(name for _, fields in records for name in fields if _plain(name))
    unknown = [name for name in names if _plain(name) not in NAMES]
    return [f"Not read: {', '.join(map(repr, unknown))}. Known columns: {', '.join(COLUMNS)}."] if unknown else []


def _remarks(where: str, question: Question) -> list[str]:
    remarks = []
    if question.shape == UNSORTED:
        remarks.append(f"{where} has no shape yet; it is counted as {UNSORTED!r}.")
    elif question.shape not in SHAPES:
        near = get_close_matches(question.shape, SHAPES, n=1)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        others = f"is none of the shapes {', '.join(SHAPES)}; it is kept as one of its own.{meant}"
        remarks.append(f"{where}: {question.shape!r} {others}")
    if not question.is_labelled:
        remarks.append(f"{where} has neither an expected answer nor gold ids: nothing about it can be scored.")
    return remarks


def question_from(fields: Mapping[str, Any]) -> Question:
    """Return the question of one record. Raises ValueError with a clause on the first field that cannot be used.

    >>> question_from({"question": "Which rate applies?", "shape": "Structural_hop", "gold": "7.3 | B"}).gold
    ('7.3', 'B')
    """
    values = {NAMES[_plain(name)]: value for name, value in fields.items() if _plain(name) in NAMES}
    text = values.get("question")
    if not isinstance(text, str) or not text.strip():
        raise ValueError("there is no question" if text in (None, "") else f"the question is {text!r}, not a text")
    tolerance, relative = _tolerance(values.get("tolerance"))
    return Question(
        text=text.strip(),
        shape=_shape(values.get("shape")),
        expected=_expected(values.get("expected")),
        gold=_gold(values.get("gold")),
        tolerance=tolerance,
        relative=relative,
        match=_match(values.get("match")),
        rows=_rows(values.get("rows")),
        ordered=_yes(values.get("ordered")),
    )


def _shape(value: object) -> str:
    if value is None or value == "":
        return UNSORTED
    if not isinstance(value, str):
        raise ValueError(f"shape is {value!r}, and a text is expected, such as {SHAPES[0]!r}")
    plain = " ".join(re.sub(r"[-_]", " ", value).casefold().split())
    known = {shape.replace("-", " "): shape for shape in (*SHAPES, UNSORTED)}
    return known.get(plain, known.get(plain.removesuffix("s"), " ".join(value.split()) or UNSORTED))


def _expected(value: object) -> str | None:
    if isinstance(value, bool | list | dict):
        raise ValueError(f"expected is {value!r}, and a text or a number is expected")
    text = "" if value is None else str(value).strip()
    return text or None


def _gold(value: object) -> tuple[str, ...]:
    """Return the ids of a list, of a JSON list in a cell, or of a cell with | or ; or line ends between them."""
    if value is None:
        return ()
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError):  # an id in brackets, as in "[kb-1]", is no JSON
            value = json.loads(value)
    if isinstance(value, str):
        separator = next((mark for mark in ("\n", "|", ";") if mark in value), "\n")
        value = value.split(separator)
    if isinstance(value, int) and not isinstance(value, bool):
        value = [value]
    if not isinstance(value, list) or not all(isinstance(id, str | int) and not isinstance(id, bool) for id in value):
        raise ValueError(f"gold is {value!r}, and a list of ids is expected")
    return tuple(dict.fromkeys(id for id in (str(id).strip() for id in value) if id))


def _tolerance(value: object) -> tuple[float, bool]:
    """Return how far a number may be off, and whether that is a share: "2 %" is (0.02, True)."""
    if value is None or value == "":
        return 0.0, False
    text = str(value).strip()
    relative = text.endswith("%")
    try:
        number = float(text.rstrip("% ").replace(",", "."))
    except ValueError:
        number = -1.0
    if isinstance(value, bool) or not isfinite(number) or number < 0:
        raise ValueError(f"tolerance is {value!r}, and a number of 0 or more, or a percentage, is expected")
    return (number / 100, True) if relative else (number, False)


def _match(value: object) -> Match:
    plain = value.strip().casefold() if isinstance(value, str) else value
    for known in get_args(Match):
        if plain == known or (plain in (None, "") and known == "auto"):
            return known  # type: ignore[no-any-return]
    raise ValueError(f"match is {value!r}, and one of {', '.join(get_args(Match))} is expected")


def _rows(value: object) -> tuple[Row, ...] | None:
    if value is None or value == "":
        return None
    try:
        rows = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        rows = None
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise ValueError(f"rows is {value!r}, and a list of rows is expected, such as [[5]]")
    if any(isinstance(cell, list | dict) for row in rows for cell in row):
        raise ValueError("rows holds a list or an object inside a row, and a cell is a text, a number or null")
    return tuple(tuple(row) for row in rows)


def _yes(value: object) -> bool:
    return value is True or str(value).strip().casefold() in ("yes", "true", "1", "y", "x")


def unknown_gold(questions: Iterable[Question], ids: Collection[str]) -> list[str]:
    """Return a sentence for each gold id that is none of `ids`, with the nearest ones: a typo can never be found.

    >>> unknown_gold([Question("Which rate?", gold=("kb-1O2",))], ["kb-102", "kb-103"])
    ["'Which rate?': there is no 'kb-1O2', so no system can find it; near it: 'kb-102', 'kb-103'."]
    """
    known, listed, sentences = set(ids), list(ids), []
    for question in questions:
        for id in question.gold:
            if id not in known:
                near = get_close_matches(id, listed, n=3, cutoff=0.5)
                hint = f"; near it: {', '.join(map(repr, near))}" if near else ""
                sentences.append(f"{question.text[:60]!r}: there is no {id!r}, so no system can find it{hint}.")
    return sentences


# --- To a file ------------------------------------------------------------------------------------------------------


def as_record(question: Question) -> dict[str, Any]:
    """Return the JSON object of a question: its text and shape, and of the rest what is set."""
    record: dict[str, Any] = {"question": question.text, "shape": question.shape}
    if question.expected is not None:
        record["expected"] = question.expected
    record["gold"] = list(question.gold)
    if question.tolerance:
        # As a text, so that a share is read back as one.
        record["tolerance"] = f"{question.tolerance * 100:.12g} %" if question.relative else question.tolerance
    if question.match != "auto":
        record["match"] = question.match
    if question.rows is not None:
        record |= {"rows": [list(row) for row in question.rows], "ordered": question.ordered}
    return record


def to_lines(questions: Iterable[Question]) -> str:
    """Return the text of a JSONL file; `read_questions` gives the questions back."""
    return "".join(json_line(as_record(question)) for question in questions)


def json_line(record: Mapping[str, Any]) -> str:
    """Return a record as a line of JSON, readable, and escaped where half a surrogate pair could not be stored."""
    line = json.dumps(record, ensure_ascii=False)
    return (line if line == line.encode("utf-8", "replace").decode("utf-8") else json.dumps(record)) + "\n"
