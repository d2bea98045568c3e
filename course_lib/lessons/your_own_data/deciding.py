"""The checked exercise: the cheapest system that is right often enough."""

from typing import Any

from course_lib.learn.blank import Blank, NotAttempted
from course_lib.learn.exercises import Exercise, call, describe

Row = dict[str, Any]


def row(system: str, found: float | None, usd: float | None) -> Row:
    """Return one line of a comparison; None stands for: not measured, or not known."""
    return {"system": system, "found": found, "usd": usd}


SOME = (row("bm25", 0.6, 3.0), row("headings", 0.9, 5.0), row("navigate", 0.95, 9.0))

# Rows, what is wanted, the right answer, and what to look at where another one comes.
TRIALS: tuple[tuple[tuple[Row, ...], float, str | None, str], ...] = (
    (
        SOME,
        0.85,
        "headings",
        "Of those that find enough, the cheapest is wanted; what it finds beyond that is not asked.",
    ),
    (SOME, 0.5, "bm25", "All three find enough here."),
    (SOME, 0.9, "headings", "A system that finds just what is wanted finds enough."),
    (SOME, 0.99, None, "No system finds enough, and the answer to that is None."),
    ((row("current", None, 1.0), *SOME), 0.85, "headings", "A share of None was not measured: it is no share at all."),
    ((row("current", 0.9, None), *SOME), 0.85, "headings", "A cost of None is unknown, and unknown is not free."),
    (
        (row("current", 0.9, None), row("bm25", 0.6, 3.0)),
        0.85,
        "current",
        "A system of unknown cost may be taken where no other finds enough.",
    ),
    ((row("bm25", 0.0, 0.0),), 0.5, None, "Finding nothing for nothing is not enough."),
    ((row("cache", 0.9, 0.0), *SOME), 0.85, "cache", "A cost of 0 is known."),
)


def judge_cheapest(function: Any) -> str | None:
    """Try the learner's choice on comparisons with gaps, ties and nobody who is good enough."""
    for rows, wanted, right, look in TRIALS:
        chosen = call(function, [dict(one) for one in rows], wanted)
        if isinstance(chosen, Blank):
            raise NotAttempted
        if isinstance(chosen, dict):
            return f"It returned the row {describe(chosen)}; the name in it is wanted: the value of “system”."
        if chosen != right:
            shown = ", ".join(f"{one['system']} ({one['found']}, USD {one['usd']})" for one in rows)
            return f"With {shown} and {wanted} wanted it returned {describe(chosen)}. {look}"
    return None


CHEAPEST = Exercise(
    key="cheapest",
    title="The cheapest that is right often enough",
    judge=judge_cheapest,
    right="It decides by what you need and what it costs, and says None where nobody is good enough: that is a result "
    "too, and the one that people leave out.",
    hint="First keep the rows whose share is measured and reaches `wanted`. Then min(rows, key=…); a key "
    "may be a pair, and False sorts before True.",
    solution="""\
def cheapest_right(rows, wanted):
    enough = [row for row in rows if row["found"] is not None and row["found"] >= wanted]
    if not enough:
        return None
    return min(enough, key=lambda row: (row["usd"] is None, row["usd"] or 0))["system"]
""",
)
