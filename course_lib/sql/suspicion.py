"""Suspicion in code: a query that ran, found nothing, and filters by a value that no row holds.

A zero is not the sign; most zeros are true. The sign is a filter that cannot match, and that is looked up, not guessed:
every literal of the SQL is compared with what the schema card knows of the column it filters. The module reads the SQL
with a small tokenizer of its own. It sees a column compared with literals (=, <>, <, IN, BETWEEN, LIKE, either way
round, the column also inside lower(), upper(), trim() or date()), and `unchecked` says which texts it could not place.
It does not see through an alias that renames a column, arithmetic, COLLATE, a CASE without a comparison, or GLOB.
"""

import re
import sqlite3
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias

from course_lib.sql.schema_card import (
    DATE_FORMATS,
    ISO,
    ISO_TIME,
    LISTED,
    Card,
    Column,
    Table,
    Value,
    quoted,
    shown_name,
)

# --- Reading the SQL ------------------------------------------------------------------------------------------------

TOKEN = re.compile(
    r"""
    (?P<skip>\s+|--[^\n]*|/\*.*?(?:\*/|$))
  | (?P<text>'(?:[^']|'')*')
  | (?P<quoted>"(?:[^"]|"")*"|\[[^\]]*\]|`(?:[^`]|``)*`)
  | (?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)
  | (?P<word>[^\W\d]\w*)
  | (?P<sign><=|>=|<>|!=|==|\|\||.)
    """,
    re.VERBOSE | re.DOTALL,
)
COMPARISONS = {"=", "==", "<>", "!=", "<", "<=", ">", ">=", "is", "like"}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
ARITHMETIC = {"+", "-", "*", "/", "%", "||"}
SEEN_THROUGH = ("lower", "upper", "date", "trim")


@dataclass(frozen=True)
class Token:
    """A piece of SQL: what kind it is, and its text; of a quoted piece the text inside."""

    kind: str
    text: str

    @property
    def key(self) -> str:
        """The text as keywords and names are compared; empty for a literal."""
        return "" if self.kind in ("text", "number") else self.text.lower()


def tokens(sql: str) -> list[Token]:
    """Cut SQL into tokens, comments and white space left out. Anything can be cut; what it means is another matter.

    >>> [token.text for token in tokens("SELECT 1 -- one\\nWHERE team = 'O''Hara'")]
    ['SELECT', '1', 'WHERE', 'team', '=', "O'Hara"]
    """
    found = ((match.lastgroup or "", match.group()) for match in TOKEN.finditer(sql))
    return [Token(kind, _inside(kind, text)) for kind, text in found if kind != "skip"]


def _inside(kind: str, text: str) -> str:
    if kind not in ("text", "quoted"):
        return text
    end = text[-1]
    return text[1:-1].replace(end * 2, end)


@dataclass(frozen=True)
class Filter:
    """A column compared with a literal. `through` is the function around the column, "" where there is none."""

    qualifier: str
    column: str
    operator: str
    value: Value
    negated: bool = False
    through: str = ""


def filters(sql: str, card: Card) -> list[Filter]:
    """Return each comparison of a column of the card with a literal, in the order of the SQL.

    >>> from course_lib.sql.schema_card import Column, Table
    >>> card = Card((Table("tickets", "table", 60, (Column("status"), Column("opened"))),), ())
    >>> [(f.column, f.operator, f.value) for f in filters("SELECT 1 FROM tickets WHERE 'Open' = status", card)]
    [('status', '=', 'Open')]
    """
    stream, found, at = tokens(sql), list[Filter](), 0
    while at < len(stream):
        operand = _column_at(stream, at, card)
        if operand is None:
            at += 1
            continue
        column, end = operand
        if _sign(stream, at - 1) in ARITHMETIC or _sign(stream, end) in ARITHMETIC:
            at = end
            continue
        found += _before(stream, at, column, card) or _after(stream, end, column, card)
        at = end
    return found


def _column_at(stream: Sequence[Token], at: int, card: Card) -> tuple[tuple[str, str, str], int] | None:
    """Read `column`, `table.column` or `lower(table.column)` at a place; return it with the place behind it."""
    if stream[at].key not in SEEN_THROUGH or _sign(stream, at + 1) != "(":
        return _bare_column_at(stream, at, card)
    inner = _bare_column_at(stream, at + 2, card)
    if inner is None or _sign(stream, inner[1]) != ")":
        return None
    return (inner[0][0], inner[0][1], stream[at].key), inner[1] + 1


def _bare_column_at(stream: Sequence[Token], at: int, card: Card) -> tuple[tuple[str, str, str], int] | None:
    if at >= len(stream) or stream[at].kind not in ("word", "quoted"):
        return None
    name = stream[at].text
    if _sign(stream, at + 1) == "." and at + 2 < len(stream):
        return ((name, stream[at + 2].text, ""), at + 3) if _is_column(stream[at + 2], card) else None
    return (("", name, ""), at + 1) if _is_column(stream[at], card) and _sign(stream, at + 1) != "(" else None


def _is_column(token: Token, card: Card) -> bool:
    return token.kind in ("word", "quoted") and any(table.column(token.text) for table in card.tables)


def _sign(stream: Sequence[Token], at: int) -> str:
    return stream[at].key if 0 <= at < len(stream) else ""


def _after(stream: Sequence[Token], at: int, column: tuple[str, str, str], card: Card) -> list[Filter]:
    """Read what follows a column: an operator and a literal, a list, or two ends of a range."""
    qualifier, name, through = column
    negated = _sign(stream, at) == "not"
    operator = _sign(stream, at + negated)
    at += negated + 1
    if operator == "is" and _sign(stream, at) == "not":
        negated, at = True, at + 1
    if operator in COMPARISONS:
        literal = _literal_at(stream, at, card)
        negated = negated or operator in ("<>", "!=")
        return [Filter(qualifier, name, operator, literal[0], negated, through)] if literal else []
    if operator == "between" and (low := _literal_at(stream, at, card)) and _sign(stream, low[1]) == "and":
        high = _literal_at(stream, low[1] + 1, card)
        ends = [(">=", low[0]), *([("<=", high[0])] if high else [])]
        return [Filter(qualifier, name, sign, value, negated, through) for sign, value in ends]
    if operator == "in" and _sign(stream, at) == "(":
        return [Filter(qualifier, name, "=", value, negated, through) for value in _listed(stream, at, card)]
    return []


def _before(stream: Sequence[Token], at: int, column: tuple[str, str, str], card: Card) -> list[Filter]:
    """Read a literal and an operator in front of a column: 'open' = status."""
    operator = _sign(stream, at - 1)
    if operator not in COMPARISONS or operator == "like" or at < 2:
        return []
    literal = _literal_at(stream, at - 2, card)
    if literal is None or literal[1] != at - 1 or _sign(stream, at - 3) in ARITHMETIC:
        return []
    qualifier, name, through = column
    return [Filter(qualifier, name, MIRRORED.get(operator, operator), literal[0], operator in ("<>", "!="), through)]


def _listed(stream: Sequence[Token], at: int, card: Card) -> Iterator[Value]:
    while _sign(stream, at) in ("(", ","):
        literal = _literal_at(stream, at + 1, card)
        if literal is None:
            return
        yield literal[0]
        at = literal[1]


def _literal_at(stream: Sequence[Token], at: int, card: Card) -> tuple[Value, int] | None:
    """Read a literal, or date('2026-09-25', '-7 days'), and return its value with the place behind it.

    A literal that something is computed with is not the value that is compared.
    """
    literal = _plain_literal_at(stream, at, card)
    return None if literal is None or _sign(stream, literal[1]) in ARITHMETIC else literal


def _plain_literal_at(stream: Sequence[Token], at: int, card: Card) -> tuple[Value, int] | None:
    if at >= len(stream):
        return None
    token = stream[at]
    if token.kind == "text" or (token.kind == "quoted" and not _is_column(token, card)):
        return token.text, at + 1  # SQLite takes "open" for a text where no column has that name
    if token.key == "-" and at + 1 < len(stream) and stream[at + 1].kind == "number":
        return -_number(stream[at + 1].text), at + 2
    if token.kind == "number":
        return _number_or_torn_date(stream, at)
    if token.key in ("date", "datetime", "lower", "upper") and _sign(stream, at + 1) == "(":
        return _called(stream, at)
    return None


def _number(text: str) -> int | float:
    return int(text) if text.isdigit() else float(text)


def _number_or_torn_date(stream: Sequence[Token], at: int) -> tuple[Value, int]:
    """2026-09-01 without quotes is a subtraction: it compares as 2016."""
    pieces = [token.text for token in stream[at : at + 5]]
    if len(pieces) == 5 and pieces[1] == pieces[3] == "-" and re.fullmatch(r"\d{4}-\d\d?-\d\d?", "".join(pieces)):
        return int(pieces[0]) - int(pieces[2]) - int(pieces[4]), at + 5
    return _number(stream[at].text), at + 1


def _called(stream: Sequence[Token], at: int) -> tuple[Value, int] | None:
    """Compute a call whose arguments are all literals, by asking SQLite; one that reads the clock has no value here."""
    end, arguments = at + 2, list[str]()
    while end < len(stream) and stream[end].kind == "text":
        arguments.append(stream[end].text)
        end += 2 if _sign(stream, end + 1) == "," else 1
    if not arguments or _sign(stream, end) != ")" or any("now" in argument.lower() for argument in arguments):
        return None
    places = ", ".join("?" * len(arguments))
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            return database.execute(f"SELECT {stream[at].key}({places})", arguments).fetchone()[0], end + 1
    except sqlite3.Error:
        return None


def unchecked(sql: str, card: Card) -> list[str]:
    """Return the texts in the SQL that stand in no comparison that `filters` can read: nobody looked them up."""
    placed = [one.value for one in filters(sql, card)]
    texts = (token.text for token in tokens(sql) if token.kind == "text")
    return [text for text in dict.fromkeys(texts) if text not in placed]


# --- Comparing with the card ----------------------------------------------------------------------------------------

Kind: TypeAlias = Literal["near miss", "no such value", "date format", "outside the data"]


@dataclass(frozen=True)
class Suspicion:
    """A filter that no row can match. `near` are the values of the column that may have been meant, best first."""

    kind: Kind
    column: str
    value: Value
    near: tuple[Value, ...]
    message: str

    def __str__(self) -> str:
        return self.message


def found_nothing(rows: Sequence[Sequence[Any]]) -> bool:
    """Say whether a result is empty: no rows, or a single one in which every cell is 0 or NULL.

    >>> found_nothing([]), found_nothing([(0,)]), found_nothing([(None, 0)]), found_nothing([("Berlin", 0)])
    (True, True, True, False)
    """
    return not rows or (len(rows) == 1 and all(cell is None or cell == 0 for cell in rows[0]))


def suspicions(sql: str, rows: Sequence[Sequence[Any]], card: Card, presupposes_rows: bool = True) -> list[Suspicion]:
    """Return what is suspicious about a result, the most telling first; a true zero has none.

    A filter value that no row holds and that resembles one, or a date written in another form than the column's, is
    named whatever the result is: it cannot be meant. A value without a resemblance, or one beyond the column's range,
    is named where the result is empty and the question presupposes rows ("which tickets are …"). Where it does not
    ("is there any …"), such a zero is likely the answer.
    """
    wonder = presupposes_rows and found_nothing(rows)
    named = {table.name.lower() for table in card.tables} & {token.key for token in tokens(sql)}
    raised = list[Suspicion]()
    for one in filters(sql, card):
        held = [_compare(one, *place) for place in _columns(one, card, named)]
        doubts = [doubt for doubt in held if doubt]
        if doubts and len(doubts) == len(held):  # a column that two tables have: one match is enough
            raised.append(min(doubts, key=lambda doubt: _SURE.index(doubt.kind)))
    kept = [doubt for doubt in dict.fromkeys(raised) if wonder or doubt.kind in _SURE[:2]]
    return sorted(kept, key=lambda doubt: _SURE.index(doubt.kind))


_SURE: tuple[Kind, ...] = ("near miss", "date format", "no such value", "outside the data")


def _columns(one: Filter, card: Card, named: set[str]) -> list[tuple[Table, Column]]:
    """Return the columns a filter may stand for: of the table that qualifies it, else of the tables the SQL names."""
    exact = [table for table in card.tables if table.name.lower() == one.qualifier.lower()]
    tables = exact or [table for table in card.tables if table.name.lower() in named] or list(card.tables)
    return [(table, column) for table in tables if (column := table.column(one.column))]


def _compare(one: Filter, table: Table, column: Column) -> Suspicion | None:
    """Return why this filter matches no row of this column, or None where it may."""
    if one.value is None or column.low is None:
        return None
    name = f"{shown_name(table.name)}.{shown_name(column.name)}"
    if column.format:
        return _compare_date(one, column, name)
    if one.operator in ("<", "<=", ">", ">="):
        return _compare_range(one, column, name)
    if column.known is None or one.through == "date" or _held(one, column, column.known):
        return None
    near = near_values(str(one.value).strip("%"), column.known)
    if near:
        message = f"No row of {name} holds {quoted(one.value)}. Near to it: {', '.join(map(quoted, near))}."
        return Suspicion("near miss", name, one.value, near, message)
    if one.negated:
        return None  # a filter that leaves out what is not there leaves out nothing
    message = f"No row of {name} holds {quoted(one.value)}. {_what_it_holds(column)}"
    return Suspicion("no such value", name, one.value, (), message)


_THROUGH: dict[str, Callable[[str], str]] = {"lower": str.lower, "upper": str.upper, "trim": str.strip}


def _held(one: Filter, column: Column, known: Sequence[Value]) -> bool:
    """Say whether a value of the column matches, numbers and texts compared as SQLite's column types have it."""
    wanted = one.value
    if one.operator == "like":
        form = re.compile("".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in str(wanted)), re.DOTALL | re.I)
        return any(form.fullmatch(str(value)) for value in known)
    changed: Callable[[str], str] = _THROUGH.get(one.through, str)
    if column.caseless and str(wanted).lower() in {str(value).lower() for value in known}:
        return True
    if any(value == wanted or changed(str(value)) == str(wanted) for value in known):
        return True
    return isinstance(wanted, str) and any(isinstance(v, int | float) and v == _as_number(wanted) for v in known)


def _as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _what_it_holds(column: Column) -> str:
    if column.known is not None and len(column.known) <= LISTED:
        nulls = f", and NULL in {column.nulls:,} rows" if column.nulls else ""
        return f"It holds {', '.join(map(quoted, column.known))}{nulls}."
    return f"Its values go from {quoted(column.low)} to {quoted(column.high)}."


def near_values(value: str, known: Sequence[Value], most: int = 3) -> tuple[Value, ...]:
    """Return the known values that `value` may be a misspelling of: other capitals or accents, more or fewer words.

    Digits are not misspelt: T-1099 is not near T-1009, and P4 not near P1.

    >>> near_values("Open", ["closed", "open"]), near_values("Berlin Support", ["Berlin", "Lisbon"])
    (('open',), ('Berlin',))
    >>> near_values("P4", ["P1", "P2", "P3"])
    ()
    """
    folded: dict[str, Value] = {}
    for one in known:
        if isinstance(one, str):
            folded.setdefault(_folded(one), one)
    wanted = _folded(value)
    if wanted in folded:
        return (folded[wanted],)
    likely = {key: one for key, one in folded.items() if key and _digits(key) == _digits(wanted)}
    within = [key for key in likely if set(key.split()) < set(wanted.split()) or set(wanted.split()) < set(key.split())]
    close = get_close_matches(wanted[:200], [key for key in likely if len(key) <= 200], most, 0.7)
    return tuple(likely[key] for key in dict.fromkeys([*within, *close]) if wanted)[:most]


def _folded(text: str) -> str:
    """Return a text without capitals, accents and signs, its words one space apart."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return " ".join(re.findall(r"[^\W_]+", plain.casefold()))


def _digits(text: str) -> str:
    return "".join(char for char in text if char.isdigit())


def _compare_range(one: Filter, column: Column, name: str) -> Suspicion | None:
    """Say where a number lies beyond everything in the column. Texts that are no dates have no range worth a word."""
    low, high = column.low, column.high
    if not isinstance(one.value, int | float) or not isinstance(low, int | float) or not isinstance(high, int | float):
        return None
    return None if one.negated else _outside(one, column, name, one.value, low, high)


def _compare_date(one: Filter, column: Column, name: str) -> Suspicion | None:
    """Say where a date is written in another form than the column's, or lies before or after all of them."""
    written = str(one.value)
    if one.operator == "like":
        return None
    if column.format in (ISO, ISO_TIME):
        if not re.fullmatch(r"\d{4}(-\d\d(-\d\d([ T][\d:.]+Z?)?)?)?", written) or isinstance(one.value, int | float):
            return _other_format(one, column, name)
        if isinstance(column.low, str) and isinstance(column.high, str) and not one.negated:
            day = 10 if one.through == "date" else None
            return _outside(one, column, name, written, column.low[:day], column.high[:day])
        return None
    return None if DATE_FORMATS[column.format].fullmatch(written) else _other_format(one, column, name)


def _other_format(one: Filter, column: Column, name: str) -> Suspicion:
    example = quoted(column.low)
    message = f"{name} holds dates as {column.format}, such as {example}, and {quoted(one.value)} is not written so."
    if isinstance(one.value, int | float):
        message += " Dates stand in quotes: without, 2026-09-01 is a subtraction."
    return Suspicion("date format", name, one.value, (), message)


def _outside(one: Filter, column: Column, name: str, value: Any, low: Any, high: Any) -> Suspicion | None:
    """Name a bound that nothing in the column lies within, with the range there is."""
    beyond = {">": value >= high, ">=": value > high, "<": value <= low, "<=": value < low}
    if not beyond.get(one.operator, not low <= value <= high):
        return None
    message = (
        f"{name} goes from {quoted(column.low)} to {quoted(column.high)}: nothing is {one.operator} {quoted(value)}."
    )
    return Suspicion("outside the data", name, one.value, (), message)
