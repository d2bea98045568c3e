"""What the two questions from earlier notebooks compute: which zero is doubted, and when a cached contract pays."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from course_lib.corpora import tickets
from course_lib.lessons.move2_sql.running import ZEROS
from course_lib.lessons.move3_navigation.tracing import price
from course_lib.long_context import break_even
from course_lib.pricing import cost
from course_lib.retrieval import Usage
from course_lib.sql.database import read_only
from course_lib.sql.schema_card import schema_card
from course_lib.sql.suspicion import suspicions

CONTRACT, SIX_CHUNKS, REST = 30_000, 3_000, 300  # tokens


def doubted_zeros() -> list[str]:
    """Return which of two zeros of Move 2, "capital" and "this week", its check of filter values doubts."""
    asked = {name: ZEROS[name] for name in ("capital", "this week")}
    with (
        TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        closing(read_only(tickets.make_database(Path(folder) / "support.db"))) as db,
    ):
        card = schema_card(db, tables=["tickets"])
        return [name for name, sql in asked.items() if suspicions(sql, db.execute(sql).fetchall(), card)]


def pays_from() -> dict[str, float | None]:
    """Return from how many questions an hour the cached contract costs less than six chunks, after each change.

    None: at no rate, so that more questions change nothing.
    """
    six = cost(Usage(REST + SIX_CHUNKS, calls=1), price())
    cheaper = replace(price(), read=0.025)
    return {
        "an hour": break_even(CONTRACT, REST, price(), "1 hour", six),
        "cheaper reads": break_even(CONTRACT, REST, cheaper, "5 minutes", six),
        "more questions": break_even(CONTRACT, REST, price(), "5 minutes", six),
    }
