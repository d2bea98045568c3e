"""The outline: no character is lost whatever the headings are, an id is looked up with patience, trouble is said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.corpora import agreement
from course_lib.navigation.outline import Outline, UnknownId, build, from_sections, verdict_on, whole
from course_lib.navigation.tree import Heading, Node

AGREEMENT = from_sections((section.id, section.title, section.text) for section in agreement.sections())
IDS = ["1", "2", "3", "4", "5", "6", "7.1", "7.2", "7.3", "8", "9.1", "9.2", "A", "B"]
HEADINGS = st.lists(
    st.builds(Heading, st.text(min_size=1, max_size=3), st.text(max_size=8), st.integers(-2, 9), st.integers(-5, 90))
)
FEES = build(
    "Fees\nTerms\nLate\n12%\nLaw\n",
    [Heading("1", "Fees", 1, 0), Heading("1.1", "Late", 2, 11), Heading("2", "Law", 1, 20)],
)


def put_together(outline: Outline) -> str:
    return "".join(outline.document[leaf.start : leaf.end] for leaf in outline.leaves())


@given(st.text(max_size=90), HEADINGS)
def test_leaves_put_together_are_the_document_whatever_the_headings(text: str, headings: list[Heading]) -> None:
    outline = build(text, headings)
    assert put_together(outline) == text
    assert not [
        problem for problem in outline.check() if problem.kind in ("gap", "overlap", "backwards", "repeated id")
    ]
    assert all(outline.owner(at) for at in range(len(text)))


@given(st.text(max_size=90), HEADINGS)
def test_children_lie_inside_their_parents_and_are_one_level_deeper(text: str, headings: list[Heading]) -> None:
    for node in build(text, headings).walk():
        for child in node.children:
            assert node.start <= child.start <= child.end <= node.end
            assert child.level == node.level + 1


def test_the_agreement_keeps_its_fourteen_ids_and_its_texts() -> None:
    assert AGREEMENT.ids() == IDS
    assert all(AGREEMENT.text(section.id) == section.text for section in agreement.sections())
    assert AGREEMENT.toc().splitlines()[8] == "[7.3] Late payment"
    assert AGREEMENT.verdict is None
    assert AGREEMENT.check() == []
    assert put_together(AGREEMENT) == AGREEMENT.document


def test_a_section_that_is_no_node_is_read_as_those_inside_it_and_that_is_said() -> None:
    [reference] = [found for found in AGREEMENT.references if found.printed == "section 7"]
    assert reference.targets == ("7.1", "7.2", "7.3")
    assert reference.note == "no node is section 7; read as 7.1, 7.2, 7.3"
    assert AGREEMENT.unresolved == []
    assert [found.targets for found in AGREEMENT.references_from("7.3")] == [("B",)]


def test_an_id_is_found_in_any_capitals_and_with_blanks_around() -> None:
    assert AGREEMENT.node(" b ").id == "B"
    assert AGREEMENT.find("Schedule B") is None


def test_an_unknown_id_is_answered_with_the_near_match_and_the_valid_ids() -> None:
    with pytest.raises(UnknownId, match=r"unknown node 'Schedule B'; near matches: B.*; valid ids: 1, 2, 3"):
        AGREEMENT.text("Schedule B")
    assert AGREEMENT.near("late payments")[0] == "7.3"
    assert AGREEMENT.near("7.3a")[0] == "7.3"
    assert "near matches" not in AGREEMENT.unknown("\0qqqq")


def test_many_ids_are_not_all_listed_in_an_error() -> None:
    outline = from_sections((str(number), f"Title {number}", "x") for number in range(100))
    assert outline.unknown("zz", shown=3).endswith("valid ids: 0, 1, 2, and 97 more in the table of contents")


def test_a_node_is_read_with_all_inside_it_and_owns_only_what_stands_before() -> None:
    assert FEES.text("1") == "Fees\nTerms\nLate\n12%"
    assert [(leaf.id, FEES.document[leaf.start : leaf.end]) for leaf in FEES.leaves()] == [
        ("1", "Fees\nTerms\n"),
        ("1.1", "Late\n12%\n"),
        ("2", "Law\n"),
    ]
    assert [node.id for node in FEES.parents("1.1")] == ["1"]
    assert FEES.toc(depth=1) == "[1] Fees\n[2] Law"


def test_text_before_the_first_heading_has_a_node_of_its_own() -> None:
    outline = build("Parties.\n1 Fees\n2 Law\n", [Heading("1", "Fees", 1, 9), Heading("2", "Law", 1, 16)])
    assert outline.toc().splitlines()[0] == "[front] Opening: Parties."
    assert outline.text("front") == "Parties."


def test_blank_lines_before_the_first_heading_need_no_node() -> None:
    outline = build("\n\n1 Fees\n2 Law\n", [Heading("1", "Fees", 1, 2), Heading("2", "Law", 1, 9)])
    assert outline.ids() == ["1", "2"]
    assert put_together(outline) == outline.document


def test_ids_that_repeat_in_any_capitals_are_numbered() -> None:
    heads = [Heading("a", "One", 1, 0), Heading("A", "Two", 1, 2), Heading("a", "Three", 1, 4)]
    assert build("a b c", heads).ids() == ["a", "A#2", "a#2#3"] or build("a b c", heads).ids() == ["a", "A#2", "a#3"]


def test_repeated_titles_are_reported_with_their_ids() -> None:
    heads = [Heading("1", "Fees", 1, 0), Heading("2", "Law", 1, 2), Heading("3", "fees ", 1, 4)]
    [problem] = build("a b c", heads).check()
    assert (problem.kind, problem.ids) == ("repeated title", ("1", "3"))


def test_a_tree_made_by_hand_with_gaps_overlaps_and_backward_spans_is_told_so() -> None:
    inside = (Node("1.1", "In", 2, 0, 4), Node("1.2", "Out", 2, 3, 12))
    nodes = (Node("1", "One", 1, 2, 8, inside), Node("2", "Two", 1, 7, 9), Node("3", "Three", 1, 15, 11))
    kinds = {(problem.kind, problem.ids) for problem in Outline("x" * 20, nodes).check()}
    assert ("gap", ("1",)) in kinds  # before the first
    assert ("gap", ("3",)) in kinds
    assert ("overlap", ("1", "2")) in kinds
    assert ("overlap", ("1.1", "1.2")) in kinds
    assert ("overlap", ("1.2",)) in kinds  # past the end of its parent
    assert ("overlap", ("1", "1.1")) in kinds  # before its parent
    assert ("backwards", ("3",)) in kinds


@pytest.mark.parametrize(
    ("titles", "pages", "said"),
    [
        ([], 90, "No headings in 90 pages: there is nothing to navigate by. Chunk it instead."),
        (["Scope"], 90, "One heading in 90 pages: there is nothing to navigate by. Chunk it instead."),
        (["Scope", "Law"], 90, "2 headings in 90 pages: there is nothing to navigate by. Chunk it instead."),
        ([], 1, "No headings in 1 page: there is nothing to navigate by. It is short: read it whole."),
        (["Page 1", "Page 2", "Page 12"], 3, "3 of 3 headings read like 'Page 12'"),
        (["Notes", "notes"], 3, "2 of 2 headings read like 'notes'"),
        (["", "", "Law"], 3, "2 of 3 headings read like"),
    ],
)
def test_too_little_structure_is_a_verdict(titles: list[str], pages: int, said: str) -> None:
    verdict = verdict_on("text", titles, pages)
    assert verdict is not None
    assert verdict.startswith(said)


def test_enough_structure_is_no_verdict() -> None:
    assert verdict_on("text", [f"Section {number}" for number in "abcdefghi"], 90) is None
    assert verdict_on("text", ["Schedule 1: Fees", "Schedule 2: Law"], 2) is None


def test_a_document_without_text_or_headings_still_has_a_tree() -> None:
    assert (build("", []).ids(), build("", []).leaves()) == ([], [])
    blank = build(" \n", [])
    assert (blank.ids(), put_together(blank)) == (["document"], " \n")
    assert "OCR" in (blank.verdict or "")
    assert whole("text", "", "No headings").text("document") == "text"


def test_ids_for_sections_must_be_of_use() -> None:
    for ids in (["a b"], [""], ["a", "A"], ["[1]"]):
        with pytest.raises(ValueError, match="is no id for a section"):
            from_sections((id, "Title", "Text") for id in ids)


# --- Defined terms ---

TERMS = from_sections(
    [
        ("1", "Definitions", '“Fees” means the sums in Schedule B. "Term" has the meaning set forth in Section 3.'),
        ("2", "Parties", 'Acme Ltd (the "Provider") sells to Bolt ("Customer" or "Bolt"). See (see "Tables").'),
        ("3", "Duration", "This runs for a year. The Provider may raise the Fees and the Late Fees."),
        ("B", "Schedule B", "100 EUR"),
    ]
)


def test_a_term_leads_to_the_node_that_defines_it() -> None:
    found = {"Fees": "1", "Term": "3", "Provider": "2", "Customer": "2", "Bolt": "2"}
    assert dict(TERMS.definitions) == found  # "Term" by way of what its definition points to, no "Tables"


def test_a_node_points_to_the_definitions_it_uses_but_not_to_its_own() -> None:
    assert TERMS.uses("3") == {"Provider": "2", "Fees": "1"}
    assert TERMS.uses("2") == {}


@given(st.text(alphabet='“”"() \nAbmeans.Section 3', max_size=200))
def test_any_text_can_be_searched_for_terms_and_references(text: str) -> None:
    outline = build(text, [Heading("1", "A", 1, 0), Heading("2", "B", 1, 5)])
    assert set(outline.definitions.values()) <= set(outline.ids())
    assert all(set(found.targets) <= set(outline.ids()) for found in outline.references)
    for id in outline.ids():
        outline.uses(id)
