"""Execution accuracy: a query is right when its result is, however it is written.

The module goes the way of its notebook: say when two cells are the same, then two rows, then two results, with and
without an order that the question asked for, then count over labelled questions.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from math import isclose, isnan
from sqlite3 import Connection
from typing import Any, Literal, TypeAlias

from course_lib.metrics import Rate, rate

Row: TypeAlias = tuple[Any, ...]
Rows: TypeAlias = Sequence[Row]
Columns: TypeAlias = Literal["in order", "any order"]

TOLERANCE = 1e-9  # relative: sums of the same floats in another order differ in the last digits
MOST_ORDERS = 5_040  # so many orders of columns are tried
MOST_PAIRED = 400  # up to so many rows that differ only in floats are paired one by one

# --- Cells and rows -------------------------------------------------------------------------------------------------


def same_cell(one: object, other: object, tolerance: float = TOLERANCE) -> bool:
    """Say whether two values of a result are the same.

    NULL is NULL and not zero and not ''. A number is a number: 5 and 5.0 are the same, floats within the relative
    tolerance. A text is a text: '5' is not 5, 'Open' is not 'open'. A blob is neither. NaN is NaN.

    >>> same_cell(5, 5.0), same_cell(0.1 + 0.2, 0.3), same_cell(5, "5"), same_cell(None, 0)
    (True, True, False, False)
    """
    kind, value = _cell(one)
    other_kind, other_value = _cell(other)
    if kind != other_kind:
        return False
    if kind != "number" or (isinstance(value, int) and isinstance(other_value, int)):
        return bool(value == other_value)
    if isnan(value) or isnan(other_value):
        return isnan(value) and isnan(other_value)
    return value == other_value or isclose(_float(value), _float(other_value), rel_tol=tolerance, abs_tol=1e-12)


def _cell(value: object) -> tuple[str, Any]:
    """Return a kind and a value to compare within it, for SQLite's types and for those that servers return besides."""
    if value is None:
        return "null", None
    if isinstance(value, int):
        return "number", int(value)  # a truth value is 0 or 1, as SQLite has it
    if isinstance(value, float | Decimal):
        number = float(value)
        return "number", int(number) if number.is_integer() and abs(number) < 2**53 else number
    if isinstance(value, bytes | bytearray | memoryview):
        return "blob", bytes(value)
    if isinstance(value, date):
        return "text", value.isoformat()
    return ("text", value) if isinstance(value, str) else ("other", repr(value))


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # a Decimal or an integer beyond any float
        return float("inf") if value > 0 else float("-inf")


def same_row(one: Row, other: Row, tolerance: float = TOLERANCE) -> bool:
    """Say whether two rows have the same cells at the same places. The names of the columns are not looked at."""
    return len(one) == len(other) and all(same_cell(a, b, tolerance) for a, b in zip(one, other, strict=True))


# --- Results as multisets -------------------------------------------------------------------------------------------


def all_found(rows: Rows, among: Rows, tolerance: float = TOLERANCE) -> bool:
    """Say whether each of `rows` has a row of its own in `among`: with the same number of both, they are the same.

    A row that comes twice needs two. Most rows are settled by counting; those that differ only in floats are paired.

    >>> all_found([(1,), (1,)], [(1,), (2,)]), all_found([("a", 0.3)], [("b", 1), ("a", 0.1 + 0.2)])
    (False, True)
    """
    keys, pool = Counter(map(_key, rows)), Counter(map(_key, among))
    if keys <= pool:
        return True
    if not any(isinstance(cell, float) for key in (*keys, *pool) for _, cell in key):
        return False
    have = _without_floats(among)
    return all(_paired(wanted, have.get(shape, []), tolerance) for shape, wanted in _without_floats(rows).items())


def _key(row: Row) -> tuple[tuple[str, Any], ...]:
    """Return a row in a form that can be counted: NaN is not equal to itself, and would never be found."""
    cells = (_cell(value) for value in row)
    return tuple((kind, "NaN") if kind == "number" and isnan(value) else (kind, value) for kind, value in cells)


def _without_floats(rows: Rows) -> dict[tuple[Any, ...], list[Row]]:
    """Group rows by their cells that are no numbers: only within a group can two rows be near each other."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        shape = tuple(kind if kind == "number" else (kind, cell) for kind, cell in _key(row))
        groups.setdefault(shape, []).append(row)
    return groups


def _paired(rows: list[Row], among: list[Row], tolerance: float) -> bool:
    """Give each row one of `among` that is near it. Sorted, that is mostly pair by pair; else by augmenting paths."""
    if len(rows) > len(among):
        return False
    rows, among = sorted(rows, key=_numbers), sorted(among, key=_numbers)
    if len(rows) == len(among) and all(same_row(a, b, tolerance) for a, b in zip(rows, among, strict=True)):
        return True
    if len(among) > MOST_PAIRED:
        return False
    near = [[at for at, other in enumerate(among) if same_row(row, other, tolerance)] for row in rows]
    taken: dict[int, int] = {}
    return all(near) and all(_place(row, near, taken, set()) for row in range(len(rows)))


def _numbers(row: Row) -> tuple[float, ...]:
    cells = (value for kind, value in map(_cell, row) if kind == "number")
    return tuple(float("-inf") if isnan(value) else _float(value) for value in cells)


def _place(row: int, near: list[list[int]], taken: dict[int, int], tried: set[int]) -> bool:
    """Find a place for one row, moving others where that makes room (Kuhn 1955)."""
    for at in near[row]:
        if at not in tried:
            tried.add(at)
            if at not in taken or _place(taken[at], near, taken, tried):
                taken[at] = row
                return True
    return False


# --- In the order that the question asks for ------------------------------------------------------------------------


def same_result(
    got: Rows,
    gold_variants: Sequence[Rows],
    ordered: bool = False,
    keys: Rows | None = None,
    limit: int | None = None,
    columns: Columns = "in order",
    tolerance: float = TOLERANCE,
) -> bool:
    """Say whether a result is the same as one of the right ones. More than one can be right: with or without rounding.

    ordered     whether the question asks for an order; else results are multisets, and ORDER BY changes nothing
    keys        what the first variant is sorted by, one row of keys for each of its rows: rows with the same key are
                tied, and may come in any order. Without keys the order of a variant is kept to the letter
    limit       how many rows were asked for, where the first variant holds more: of rows that are tied at the cut,
                any will do
    columns     "in order": a column is known by its place. "any order": also a result whose columns were moved

    Names of columns never count: AS is taste. Raises ValueError for no variant, keys without an order or of another
    number than the rows, and a limit without keys.

    >>> got, gold = [("b",), ("a",)], [("a",), ("b",)]
    >>> same_result(got, [gold]), same_result(got, [gold], ordered=True)
    (True, False)
    >>> same_result(got, [gold], ordered=True, keys=[(1,), (1,)])
    True
    """
    _checked(gold_variants, ordered, keys, limit)
    for number, gold in enumerate(gold_variants):
        compare = _comparison(gold, ordered, keys if number == 0 else None, limit if number == 0 else None, tolerance)
        if compare(got) or (columns == "any order" and any(map(compare, _reordered(got, gold)))):
            return True
    return False


def _checked(gold_variants: Sequence[Rows], ordered: bool, keys: Rows | None, limit: int | None) -> None:
    if not gold_variants:
        raise ValueError("There is no gold variant: a question needs at least one right result")
    if keys is not None and not ordered:
        raise ValueError("keys are given, and ordered is False: keys say what ties in an order are")
    if keys is not None and len(keys) != len(gold_variants[0]):
        raise ValueError(
            f"{len(keys)} keys for {len(gold_variants[0])} rows of the first variant: one for each is needed"
        )
    if limit is not None and keys is None:
        raise ValueError("a limit is given without keys: they say which rows are tied at the cut")


def _comparison(
    gold: Rows, ordered: bool, keys: Rows | None, limit: int | None, tolerance: float
) -> Callable[[Rows], bool]:
    """Return the comparison with one right result."""
    if not ordered:
        return lambda got: len(got) == len(gold) and all_found(got, gold, tolerance)
    if keys is None:
        return lambda got: (
            len(got) == len(gold) and all(same_row(a, b, tolerance) for a, b in zip(got, gold, strict=True))
        )
    blocks, wanted = _tied(gold, keys), len(gold) if limit is None else min(limit, len(gold))
    return lambda got: len(got) == wanted and _block_by_block(got, blocks, tolerance)


def _tied(gold: Rows, keys: Rows) -> list[list[Row]]:
    """Cut the right result into runs of rows with the same key."""
    blocks: list[list[Row]] = []
    for at, row in enumerate(gold):
        if at and same_row(keys[at], keys[at - 1]):
            blocks[-1].append(row)
        else:
            blocks.append([row])
    return blocks


def _block_by_block(got: Rows, blocks: Sequence[list[Row]], tolerance: float) -> bool:
    """Compare each run with as many rows of `got`; the last one may be cut short."""
    at = 0
    for block in blocks:
        part = got[at : at + len(block)]
        if not all_found(part, block, tolerance):
            return False
        at += len(block)
    return True


def _reordered(got: Rows, gold: Rows) -> Iterator[Rows]:
    """Give `got` with its columns in every order in which each holds the values of the gold column at its place."""
    if not got or not gold or len(got[0]) != len(gold[0]):
        return
    mine = [sorted(_shape(row[at]) for row in got) for at in range(len(got[0]))]
    wanted = [sorted(_shape(row[at]) for row in gold) for at in range(len(gold[0]))]
    cut = len(got) != len(gold)  # with a limit the columns cannot be told apart by what they hold
    fits = [[at for at, column in enumerate(mine) if cut or column == target] for target in wanted]
    for number, order in enumerate(_choices(fits, ())):
        if number == MOST_ORDERS:
            return
        yield [tuple(row[at] for at in order) for row in got]


def _choices(fits: Sequence[Sequence[int]], chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if len(chosen) == len(fits):
        yield chosen
        return
    for at in fits[len(chosen)]:
        if at not in chosen:
            yield from _choices(fits, (*chosen, at))


def _shape(value: object) -> tuple[str, str]:
    """Return what makes a column likely the same: numbers only as numbers, for they may differ in their last digits."""
    kind, cell = _cell(value)
    return kind, "" if kind == "number" else repr(cell)


# --- Over labelled questions ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gold:
    """The right results of one question and how strict to be; fields as in `same_result`."""

    variants: tuple[Rows, ...]
    ordered: bool = False
    keys: Rows | None = None
    limit: int | None = None
    columns: Columns = "in order"


def run_gold(
    connection: Connection,
    variants: Sequence[str],
    keys: int = 0,
    limit: int | None = None,
    ordered: bool | None = None,
    columns: Columns = "in order",
) -> Gold:
    """Run the right SQL, every variant of it, and return the results.

    Where the question asks for an order, give one variant without its LIMIT, with what it sorts by as its last `keys`
    columns: they say what is tied, and are no part of the result. `ordered` without keys takes the order to the letter.
    """
    results = [connection.execute(sql).fetchall() for sql in variants]
    if not keys:
        return Gold(tuple(results), bool(ordered), columns=columns)
    first = results[0]
    sort_keys = [row[-keys:] for row in first]
    return Gold(([row[:-keys] for row in first], *results[1:]), True, sort_keys, limit, columns)


def is_right(got: Rows | None, gold: Gold) -> bool:
    """Say whether a result is right. None, a query that was refused or failed, is wrong.

    So is a result that a row cap has cut: pass None for it, or the first fifty rows would be compared with all.
    """
    if got is None:
        return False
    return same_result(got, gold.variants, gold.ordered, gold.keys, gold.limit, gold.columns)


def execution_accuracy(results: Iterable[tuple[Rows | None, Gold]]) -> Rate:
    """Return the share of questions whose result is right, with n and the 95 % interval.

    Equal on one database is not equal on every one: Zhong, Yu and Klein (EMNLP 2020) run each query on several for that
    reason. Raises ValueError for no question.

    >>> print(execution_accuracy([([(5,)], Gold(([(5,)],))), ([(0,)], Gold(([(5,)],)))]))
    0.50 (n = 2, 95 % interval 0.09 to 0.91)
    """
    judged = [is_right(got, gold) for got, gold in results]
    return rate(sum(judged), len(judged))
