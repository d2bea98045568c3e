"""Plain-text agreements: what a reader takes for a section is a node, and nothing else is."""

import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.navigation_outline import agreements, in_contents, starts_well, written_out
from course_lib.navigation.agreements import read_agreement
from course_lib.navigation.outline import Outline

LEASE = """Exhibit 10.7

EQUIPMENT LEASE AGREEMENT

TABLE OF CONTENTS

                                   Page
ARTICLE I DEFINITIONS ............. 1
1.1 Terms ......................... 1
ARTICLE II RENT 2
2.1 Amount 2 2.2 Late payment 2 2.3 Taxes 3
SCHEDULE A - Machines               5

EQUIPMENT LEASE AGREEMENT

This Lease is made on the first of May between Nordlicht GmbH (the "Lessor") and Pale Blue Oy (the "Lessee"), who agree:

ARTICLE I

DEFINITIONS

1.1 Terms. "Rent" means the sums in Schedule A.

Nordlicht lease, confidential
- 1 -

ARTICLE II - RENT

2.1 Amount. The Lessee pays the Rent monthly, subject to
Section 2.3 and, where it is late,
2.2 of this Lease, which says more:
1. a first point; and

2. a second point.

2.2     LATE PAYMENT. Interest accrues as set out in Exhibit B. See also Article I and clause 9.9.

Nordlicht lease, confidential
- 2 -

2.3 Taxes are borne by the Lessee.

2.3.1 by the tenth of each month, and

2.3.2 Without notice.

Nordlicht lease, confidential
- 3 -

SCHEDULE A

Machines

1. Lathes

2. Presses. Section 2 of this Schedule is about presses.

EXHIBIT B: INTEREST

12% a year.
"""
OUTLINE = read_agreement(LEASE)


def put_together(outline: Outline) -> str:
    return "".join(outline.document[leaf.start : leaf.end] for leaf in outline.leaves())


def test_articles_sections_schedules_and_exhibits_are_nodes_and_nothing_else_is() -> None:
    assert OUTLINE.toc().splitlines() == [
        "[front] Opening: Exhibit 10.7",
        "[1] ARTICLE I: DEFINITIONS",
        "  [1.1] Terms",
        "[2] ARTICLE II: RENT",
        "  [2.1] Amount",
        "  [2.2] LATE PAYMENT",
        "  [2.3] Taxes are borne by the Lessee",
        "    [2.3.1] by the tenth of each month, and",
        "    [2.3.2] Without notice",
        "[A] SCHEDULE A: Machines",
        "  [A.1] Lathes",
        "  [A.2] Presses",
        "[B] EXHIBIT B: INTEREST",
    ]
    assert OUTLINE.title == "EQUIPMENT LEASE AGREEMENT"


def test_the_printed_table_of_contents_belongs_to_the_opening() -> None:
    contents = OUTLINE.document.index("TABLE OF CONTENTS"), OUTLINE.document.index("SCHEDULE A - Machines")
    assert {OUTLINE.owner(at) for at in contents} == {"front"}
    assert not [found for found in OUTLINE.references if found.start < OUTLINE.document.index("This Lease is made")]


def test_references_of_an_agreement_lead_to_its_nodes() -> None:
    found = {(ref.source, ref.printed): ref.targets for ref in OUTLINE.references}
    assert found["2.2", "exhibit B"] == ("B",)
    assert found["2.2", "article I"] == ("1",)
    assert found["A.2", "section 2"] == ("A.2",)  # inside a schedule its own sections come first
    assert [ref.printed for ref in OUTLINE.unresolved] == ["clause 9.9"]
    assert OUTLINE.definitions["Rent"] == "1.1"


@pytest.mark.parametrize("line_end", ["\r\n", "\r", "\n"])
def test_line_ends_make_no_difference_and_no_character_is_lost(line_end: str) -> None:
    text = LEASE.replace("\n", line_end)
    outline = read_agreement(text)
    assert outline.toc() == OUTLINE.toc()
    assert put_together(outline) == text


@given(st.text(max_size=300))
def test_any_text_has_an_outline_that_loses_nothing(text: str) -> None:
    outline = read_agreement(text)
    assert put_together(outline) == text
    assert [problem.kind for problem in outline.check() if problem.kind != "repeated title"] == []


LINES = [
    "ARTICLE II",
    "ARTICLE I - Fees",
    "1.1 Terms. Text",
    "1. One",
    "2. Two",
    "2.1 More 4",
    "3.2",
    "TABLE OF CONTENTS",
]
LINES += [
    "EXHIBIT A",
    "Exhibit A-1",
    "Exhibit A-2",
    "Schedule 1.65",
    "12",
    "",
    "\0",
    "I. ROMAN",
    "Section 2.2 of it",
    "\f",
]


@given(st.lists(st.sampled_from(LINES), max_size=30), st.sampled_from(["\n", "\n\n", "\r\n"]))
def test_headings_in_any_order_make_a_sound_tree(lines: list[str], line_end: str) -> None:
    text = line_end.join(lines)
    outline = read_agreement(text)
    assert put_together(outline) == text
    assert [problem.kind for problem in outline.check() if problem.kind != "repeated title"] == []
    assert all(set(found.targets) <= set(outline.ids()) for found in outline.references)


def headings(text: str) -> list[str]:
    return [id for id in read_agreement(text).ids() if id != "front"]


def test_a_number_may_be_missing_but_not_come_later() -> None:
    assert headings("1. A\n\n1.1 B\n\n1.4 The rest\n\n1.2 C\n\n1.3 D\n\n1.4 E") == ["1", "1.1", "1.2", "1.3", "1.4"]
    assert headings("1. A\n\n1.1 B\n\n1.3 D") == ["1", "1.1", "1.3"]


def test_numbers_that_begin_again_in_one_chapter_are_kept_apart() -> None:
    text = "ARTICLE 1\n\n1.1 Agency. No.\n\n1.2 Notices. Yes.\n\n1.1 Waiver. No.\n\n1.2 Severability. Yes."
    assert headings(text) == ["1", "1.1", "1.2", "1.1#2", "1.2#2"]


def test_a_section_that_begins_inside_a_paragraph_is_found_where_its_number_is_missing() -> None:
    text = "1. A\n\n1.1 First. It ends here. 1.2 Second. More of it.\n\n1.3 Third. See Section 1.2 The end."
    outline = read_agreement(text)
    assert outline.ids() == ["1", "1.1", "1.2", "1.3"]
    assert outline.text("1.2") == "1.2 Second. More of it."


def test_pages_of_an_exhibit_are_no_exhibits_of_their_own() -> None:
    text = "1. A\n\n2. B\n\nEXHIBIT C\n\nScope\n\nExhibit C-1\n\nMore scope\n\nExhibit C-2\n\nEXHIBIT D-1\n\nForms"
    assert headings(text) == ["1", "2", "C", "D-1"]


def test_a_list_of_exhibits_is_no_row_of_exhibits() -> None:
    listed = "1. Exhibits. These are:\n\nExhibit A Fees\n\nExhibit B Law\n\n2. End. So be it."
    assert headings(f"{listed}\n\nEXHIBIT A\n\nx\n\nEXHIBIT A\n\ny\n\nEXHIBIT B\n\nz") == ["1", "2", "A", "B"]


def test_an_agreement_inside_an_exhibit_has_ids_of_its_own() -> None:
    exhibit = "EXHIBIT A\n\nForm\n\nARTICLE 1 - Scope\n\n1.1 Due"
    text = f"1. Fees\n\n1.1 Due\n\n{exhibit}\n\nAPPENDIX A\n\nMore\n\nSCHEDULE 2\n\nx"
    assert headings(text) == ["1", "1.1", "A", "A.1", "A.1.1", "Appendix-A", "Schedule-2"]


def test_flat_text_is_a_verdict() -> None:
    outline = read_agreement("Some words about nothing in particular. " * 8000)
    assert outline.ids() == ["document"]
    assert outline.verdict == "No headings in 107 pages: there is nothing to navigate by. Chunk it instead."


def test_roman_chapters_are_read() -> None:
    assert headings("I. SCOPE\n\nText.\n\nII. FEES\n\nText.\n\nIII. LAW\n\nText.") == ["1", "2", "3"]


def test_lines_wrapped_at_any_width_make_no_difference() -> None:
    body = LEASE[LEASE.index("This Lease is made") :]
    ids = read_agreement(body).ids()
    for width in (40, 60, 76):
        wrapped = "\n".join("\n".join(textwrap.wrap(line, width) or [""]) for line in body.splitlines())
        assert read_agreement(wrapped).ids() == ids, width


def test_an_agreement_without_blank_lines_is_read() -> None:
    body = LEASE[LEASE.index("This Lease is made") :]
    packed = "\n".join(line for line in body.splitlines() if line.strip())
    assert read_agreement(packed).ids() == read_agreement(body).ids()


NAMED = {"1.01": "Scope", "1.02": "Fees", "2.01": "Governing Law"}


@pytest.mark.parametrize(
    "style", ["Section {}. {}", "{} {}", "{}. {}", "§ {} {}", "{}.    {}", "SECTION {} - {}", "Clause {}: {}"]
)
def test_sections_are_found_in_every_style(style: str) -> None:
    text = "\n\n".join(f"{style.format(number, title)}. It is so." for number, title in NAMED.items())
    assert headings(text) == list(NAMED)


def test_the_labels_of_the_benchmark_are_written_out() -> None:
    short = "1-3 2.9-2.11 A A-1 6.01-6.02 Schedule-1.65.1-Schedule-1.65.2"
    assert written_out(short) == [
        "1", "2", "3", "2.9", "2.10", "2.11", "A", "A-1", "6.01", "6.02", "Schedule-1.65.1", "Schedule-1.65.2",
    ]  # fmt: skip


def test_the_benchmark_measures_agreements_that_nobody_labelled(tmp_path: Path) -> None:
    (tmp_path / "lease.txt").write_text(LEASE, encoding="utf-8")
    row = agreements(tmp_path).splitlines()[2]
    assert row.startswith("lease.txt")
    assert "5/6 = 83.3%" in row  # clause 9.9 leads nowhere


def test_the_benchmark_sees_a_node_in_the_wrong_place() -> None:
    assert starts_well(OUTLINE, "2.2")
    shifted = replace(OUTLINE, document="x" * len(LEASE))
    assert not starts_well(shifted, "2.2")
    first = 1 + LEASE[: LEASE.index("2.2     LATE")].count("\n")
    assert in_contents(OUTLINE, (first, first)) == ["2.2"]


@pytest.mark.parametrize(
    "line", ["1.1 " + "." * 200_000, " " * 200_000 + "x", "-" * 200_000, "1." * 100_000, "(" * 200_000]
)
def test_a_long_line_of_one_kind_is_read(line: str) -> None:
    text = f"TABLE OF CONTENTS\n1 A 1\n2 B 2\n3 C 3\n{line}\n\n1. A\n\n2. B"
    outline = read_agreement(text)
    assert put_together(outline) == text
    assert not outline.unresolved
