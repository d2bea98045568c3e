"""References: every spelling is found, lists and ranges are taken apart, laws and other documents are told apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.navigation.agreements import read_agreement
from course_lib.navigation.labels import key, label_of, roman
from course_lib.navigation.outline import from_sections
from course_lib.navigation.references import mentions


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("under Section 7.3.", ["section 7.3"]),
        ("see clause 4 and\nClause 5", ["clause 4", "clause 5"]),
        ("Article IV", ["article IV"]),
        ("ARTICLES II AND III OF THIS AGREEMENT", ["article II", "article III"]),
        ("Exhibit 10.2(a)", ["exhibit 10.2(a)"]),
        ("Schedule B and Annex I", ["schedule B", "annex I"]),
        ("Sections 3 to 5", ["sections 3 to 5"]),
        ("§§ 3.1–3.4", ["sections 3.1 to 3.4"]),
        ("Sections 2, 3 and 4(b)", ["section 2", "section 3", "section 4(b)"]),
        ("Section 5.5, 6.3 or 6.4", ["section 5.5", "section 6.3", "section 6.4"]),
        ("Section 5.1, 30 days later", ["section 5.1"]),
        ("Sections 4 and 5 business days", ["section 4"]),
        ("Section 7.3(ii) and (iii)", ["section 7.3(ii)"]),
        (
            "Paragraphs 4.06 (Disclosure to others), 5.01 (Press) and 7",
            ["paragraph 4.06", "paragraph 5.01", "paragraph 7"],
        ),
        ("Section 8.1 to Section 8.4", ["sections 8.1 to 8.4"]),
        ("Section 4.6, Article 11", ["section 4.6", "article 11"]),
        ("Schedules A to C", ["schedules A to C"]),
        ("Sections 2,\n3 and\r\n4 of it", ["section 2", "section 3", "section 4"]),
        ("Section\n\n7 is a heading", []),
        ("subsection 2.1", ["subsection 2.1"]),
        ("Articles of Incorporation; a section of the market; Part B; version 7.3; the Clause", []),
        ("Exhibition 4, Sectional 3", []),
    ],
)
def test_references_are_found_in_every_spelling(text: str, found: list[str]) -> None:
    assert [mention.printed for mention in mentions(text)] == found


@pytest.mark.parametrize(
    ("text", "elsewhere"),
    [
        ("Section 16 of the Securities Act", "a law"),
        ("Article 6 of the GDPR", "a law"),
        ("Article 6 GDPR", "a law"),
        ("Section 13(d)(3) of the Securities Exchange Act of 1934", "a law"),
        ("21 U.S.C. § 335a", "a law"),
        ("Section 5 of Directive 95/46/EC", "a law"),
        ("Sections 3 and 4 of the Lease Agreement", "Lease Agreement"),
        ("Section 3.2 of the SPA", "SPA"),
        ("Section 6.3 thereof", "another document"),
        ("Articles 6, 7 and 9 of the GDPR", "a law"),
        ("Section 365(n) of the U.S. Bankruptcy Code", "a law"),
        ("Section 505(b) of the Federal Food, Drug and Cosmetic Act", "a law"),
        ("Section 4 of\nthe Services\nAgreement under the Act", "Services Agreement"),
        ("Section 4 of the Agreement and of applicable Laws", ""),
        ("Section 5.3 of that certain undertaking", "another document"),
        ("Section 2.1 of this Agreement", ""),
        ("Section 2.1 of the Agreement", ""),
        ("Section 2.1 ACME will pay under the Tax Act", ""),
        ("Section 5 of Schedule B", ""),
        ("Section 4.1 in the United States", ""),
        ("Section 8 to the Customer", ""),
    ],
)
def test_laws_and_other_documents_are_told_apart(text: str, elsewhere: str) -> None:
    assert {mention.elsewhere for mention in mentions(text)[:2] if mention.word != "schedule"} == {elsewhere}


@given(st.text(alphabet="Sections 1.2,3()andtoABVIX-§\nof the Act", max_size=300))
def test_a_mention_lies_where_it_says(text: str) -> None:
    last = 0
    for mention in mentions(text):
        assert last <= mention.start < mention.end <= len(text)
        assert mention.number in text[mention.start : mention.end]
        last = mention.end


def test_a_list_of_a_hundred_thousand_sections_is_read() -> None:
    assert len(mentions("Sections " + "1.1, " * 100_000)) == 100_000


SECTIONS = from_sections(
    [
        ("1", "Scope", "See Sections 2 to 2.1, Sections 2.1-2.3, Schedules A and B, Section 9 and Section 2.4."),
        (
            "2.1",
            "Fees",
            "See Section 2.1, Article II and Section 1 of the Tax Act. Section 301 applies, and Exhibit A.",
        ),
        ("2.2", "Late payment", "See Section 2.2(a)(i) and paragraph 2.02."),
        ("2.3", "Interest", "None."),
        ("A", "Schedule A: Rates", "See Schedule I and Annex A."),
        ("B", "Rates", "12%"),
    ]
)


def test_references_lead_to_ids() -> None:
    found = {(ref.source, ref.printed): ref.targets for ref in SECTIONS.references}
    assert found["1", "sections 2.1 to 2.3"] == ("2.1", "2.2", "2.3")
    assert found["1", "schedule A"] == ("A",)
    assert found["1", "schedule B"] == ("B",)  # whose title does not say what it is
    assert found["2.1", "section 2.1"] == ("2.1",)  # to itself
    assert found["2.1", "article II"] == ("2.1", "2.2", "2.3")
    assert found["2.2", "section 2.2(a)(i)"] == ("2.2",)
    assert found["2.2", "paragraph 2.02"] == ("2.2",)


def test_what_leads_nowhere_is_listed_but_for_laws() -> None:
    assert [ref.printed for ref in SECTIONS.unresolved] == [
        "sections 2 to 2.1", "section 9", "section 2.4", "exhibit A", "schedule I", "annex A",
    ]  # fmt: skip
    laws = [ref.printed for ref in SECTIONS.references if ref.elsewhere]
    assert laws == ["section 1", "section 301"]


def test_a_section_is_looked_up_where_it_is_said_to_be() -> None:
    text = "1. Fees\n\nSee Section 1 of Schedule A and Section 9 of Schedule A.\n\n2. Law\n\nSCHEDULE A\n\n1. Rates\n\n"
    outline = read_agreement(
        text + "See Section 1, Section 1 of the Agreement and Section 2. Schedules A and B of the Lease."
    )
    found = [(ref.source, ref.printed, ref.targets, ref.note != "") for ref in outline.references if not ref.elsewhere]
    assert found == [
        ("1", "section 1", ("A.1",), False),
        ("1", "schedule A", ("A",), False),
        ("1", "section 9", ("A",), True),
        ("1", "schedule A", ("A",), False),
        ("A.1", "section 1", ("A.1",), False),
        ("A.1", "section 1", ("1",), False),
        ("A.1", "section 2", ("2",), False),
    ]
    assert [ref.printed for ref in outline.references if ref.elsewhere] == ["schedule A", "schedule B"]


# --- Labels ---


@given(st.integers(1, 399))
def test_roman_numerals_are_read_back(number: int) -> None:
    written, rest = "", number
    for value, letters in (
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ):
        written += letters * (rest // value)
        rest %= value
    assert roman(written) == number


@pytest.mark.parametrize(
    ("line", "kind", "number", "rest"),
    [
        ("ARTICLE IV - FEES", "article", "IV", "FEES"),
        ("Article One: Fees", "article", "One", "Fees"),
        ("7.3 Late payment. Interest", "section", "7.3", "Late payment. Interest"),
        ("4.3Records", "section", "4.3", "Records"),
        ("Section 2.1. Scope", "section", "2.1", "Scope"),
        ("4        FEES.", "section", "4", "FEES."),
        ("1.1", "section", "1.1", ""),
        ("12.2.2 by the Customer", "section", "12.2.2", "by the Customer"),
        ("EXHIBIT A-1", "attachment", "A-1", ""),
        ("Schedule 1.65", "attachment", "1.65", ""),
        ("Exhibit 10.2(a): Form of note", "attachment", "10.2(a)", "Form of note"),
        ("III. COSTS", "section", "III", "COSTS"),
    ],
)
def test_headings_are_read(line: str, kind: str, number: str, rest: str) -> None:
    label = label_of(line)
    assert label is not None
    assert (label.kind, label.number, label.rest) == (kind, number, rest)


@pytest.mark.parametrize(
    "line",
    [
        "12",
        "",
        "Section 7.3 of this Agreement",
        "Exhibit A hereto",
        "7.3 of this Agreement",
        "7.3, the Customer",
        "2023.12.01",
        "12.5% a year",
        "10-K Filing",
        "Articles of Incorporation",
        "1.5 and 2.5",
        "10.000 EUR",
        "3/4",
        "Schedule for delivery",
    ],
)
def test_lines_that_are_no_headings_are_not_read_as_such(line: str) -> None:
    assert label_of(line) is None


def test_spellings_of_one_number_meet() -> None:
    assert key("7.03") == key("7.3") == (7, 3)
    assert key("IV") == key("four") == key("4")
    assert key("C") != key("100")
