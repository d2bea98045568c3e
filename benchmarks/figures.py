"""The arithmetic of the benchmarks and the shape of their tables: pure functions."""

import math
import statistics
from collections.abc import Sequence


def median(values: Sequence[float]) -> float:
    """Return the middle value, or the mean of the two in the middle."""
    return float(statistics.median(values))


def p95(values: Sequence[float]) -> float:
    """Return the smallest measured value that at least 95 % of the values do not exceed (nearest rank).

    Raises ValueError where there are no values.

    >>> p95(range(1, 51))
    48.0
    """
    if not values:
        raise ValueError("There is no p95 of no values.")
    return float(sorted(values)[math.ceil(0.95 * len(values)) - 1])


def ratio(larger: float, smaller: float) -> str:
    """Return how many times `smaller` goes into `larger`.

    >>> ratio(120, 50)
    '2.4 ×'
    """
    return f"{larger / smaller:.1f} ×" if smaller else "–"


def pss_mb(smaps_rollup: str) -> float:
    """Return the proportional set size in MB (millions of bytes) from the text of Linux's /proc/PID/smaps_rollup.

    Raises ValueError where the text has no line for it.
    """
    for line in smaps_rollup.splitlines():
        name, *rest = line.split()
        if name == "Pss:":
            return int(rest[0]) * 1024 / 1e6
    raise ValueError("There is no line `Pss:` in this text.")


def beside(value: float, aim: float, digits: int = 0) -> str:
    """Return a value beside its aim, and whether it keeps to it.

    >>> beside(8.24, 10, digits=1)
    '8.2 (aim ≤ 10)'
    >>> beside(200, 190)
    '200 (aim ≤ 190, missed)'
    """
    return f"{value:.{digits}f} (aim ≤ {aim:g}{'' if value <= aim else ', missed'})"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows of text under a header, each column as wide as its widest entry.

    >>> print(table(["what", "ms"], [["slider", "34"]]))
    what    ms
    ------  --
    slider  34
    """
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
