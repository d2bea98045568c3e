"""Fixed tools and text-to-SQL side by side: what the learner wrote, and what the course says."""

from collections.abc import Mapping
from dataclasses import dataclass

from course_lib.learn.look import Shown, card, escape, paragraph, table


@dataclass(frozen=True)
class Design:
    """One row of the comparison: a question to ask of both designs, and the course's two answers."""

    key: str
    asks: str
    tools: str
    sql: str


DESIGNS = (
    Design(
        "answers",
        "What can it answer?",
        "What somebody foresaw: most of the traffic, if the log was read. Nothing else.",
        "Whatever the schema can express, also what is asked once a year.",
    ),
    Design(
        "writes",
        "Who writes the SQL?",
        "You, once; it is reviewed and tested like other code. The model fills in arguments.",
        "The model, anew for each question. Nobody reviews it before it runs.",
    ),
    Design(
        "wrong",
        "What can go wrong?",
        "The wrong tool or the wrong argument. Arguments are checked, and a wrong one is named.",
        "A write, a leak, a query without an end; and SQL that runs and answers another question.",
    ),
    Design(
        "keep",
        "What does it cost to keep?",
        "A change of code for each new kind of question.",
        "Guard, schema card, views, examples, labelled questions; a check of all after each change of schema or model.",
    ),
)


def side_by_side(tools: Mapping[str, str], sql: Mapping[str, str]) -> Shown:
    """Return the comparison; a row shows the course's answers once the learner has written something in it.

    `tools` and `sql` hold the learner's words by the keys answers, writes, wrong, keep. Raises ValueError for
    another key.
    """
    known = [design.key for design in DESIGNS]
    for key in [*tools, *sql]:
        if key not in known:
            raise ValueError(f"There is no row {key!r}; the rows are {', '.join(known)}.")
    rows, open_rows = [], 0
    for design in DESIGNS:
        mine = [str(side.get(design.key, "")).strip() for side in (tools, sql)]
        if not any(mine):
            open_rows += 1
            continue
        rows.append([f"<b>{escape(design.asks)}</b>", "", ""])
        rows.append(["yours", *(escape(text) or "–" for text in mine)])
        rows.append(["ours", escape(design.tools), escape(design.sql)])
    left = f"{open_rows} of {len(DESIGNS)} rows are still empty. Write in them and run both cells again."
    shown = [table(["", "Fixed tools", "Text-to-SQL"], rows)] if rows else []
    return Shown(card("", *shown, *([paragraph(left)] if open_rows else [])))
