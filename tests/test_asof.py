"""The one date of the course."""

import json
from datetime import date

from course_lib.asof import AS_OF
from course_lib.corpora import DATA


def test_the_course_refers_to_one_date_and_the_price_file_carries_it():
    assert date(2026, 9, 25) == AS_OF
    assert json.loads((DATA / "prices.json").read_text(encoding="utf-8"))["as_of"] == AS_OF.isoformat()
