"""The instructor's guide says what the notebooks say, has a word to each prediction, and its commands are real."""

import ast
import re
import shlex
from dataclasses import replace

import pytest

import course
from course_lib.learn import board
from course_lib.learn.predictions import Option, Question
from tools import guide
from tools.guide import END, WORKSHOP, GuideError, filled, header_minutes, marked, right_names, sections_of, shares
from tools.source import NOTEBOOKS, read_source, source_names

README = (WORKSHOP / "README.md").read_text(encoding="utf-8")
NOTES = (WORKSHOP / "notebooks.md").read_text(encoding="utf-8")
AGAIN = "run `python -m tools.guide` and commit workshop/"


@pytest.fixture(scope="module")
def outlines() -> dict[str, guide.Outline]:
    return guide.outlines()


def by_hand(page: str) -> str:
    """Return a page without what is generated."""
    return guide.BLOCK.sub("", page)


@pytest.mark.parametrize("page", guide.PAGES)
def test_the_guide_says_what_the_notebooks_say(page: str) -> None:
    assert guide.pages()[page] == (WORKSHOP / page).read_text(encoding="utf-8"), AGAIN


@pytest.mark.parametrize("name", source_names())
def test_the_minutes_in_the_guide_are_those_of_the_notebooks_header(name: str) -> None:
    header = (NOTEBOOKS / "source" / f"{name}.py").read_text(encoding="utf-8").split("# %%")[1]
    core = re.search(r"(?:core of|lab:) (\d+) minutes", header)
    more = re.search(r"and (\d+) more to go further", header)
    assert core
    row = next(
        line for line in README.splitlines() if f"`{name}`" in line and line.count("|") == 5 and ":" not in line[:8]
    )
    assert [cell.strip() for cell in row.split("|")[2:4]] == [core[1], more[1] if more else ""]


def test_the_minutes_of_what_goes_further_come_to_what_the_header_says(outlines: dict[str, guide.Outline]) -> None:
    for one in outlines.values():
        stated = sum(section.minutes or 0 for section in one.further)
        assert abs(stated - one.more) <= 6, f"{one.name}: the header says {one.more}, the sections {stated}"


@pytest.mark.parametrize(("plan", "most"), [(guide.HALF_DAY, 4 * 60), (guide.FULL_DAY, 8 * 60)])
def test_a_plan_fits_into_its_day(plan: guide.Day, most: int, outlines: dict[str, guide.Outline]) -> None:
    end = re.findall(r"^\| (\d+):(\d\d) \| End", guide.day(plan, outlines), re.MULTILINE)[0]
    assert most - 30 <= int(end[0]) * 60 + int(end[1]) <= most
    assert {what for what, minutes in plan if not minutes} <= set(outlines)
    assert guide.clock(0) == "0:00"


def test_a_full_day_has_every_notebook_but_the_labs(outlines: dict[str, guide.Outline]) -> None:
    taught = [what for what, minutes in guide.FULL_DAY if not minutes]
    assert sorted(taught) == sorted(name for name in outlines if not name.startswith("lab_"))


def test_every_prediction_of_a_core_has_a_sentence_before_it_and_a_question_after_it(
    outlines: dict[str, guide.Outline],
) -> None:
    said = set[str]()
    for one in outlines.values():
        for asked in one.asked:
            name = f"{one.name}/{asked.question.key}"
            heading, part = (
                re.escape(f"### {one.name}: {asked.question.key}"),
                re.escape(marked(name, "@")).replace("@", ".*?"),
            )
            found = re.search(
                rf"^{heading}\n\nSay: (.+?)\n\n{part}\n\nAsk: (.+?)(?:\n\n|\n*\Z)", NOTES, re.DOTALL | re.MULTILINE
            )
            assert found, name
            assert min(len(found[1]), len(found[2])) > 20, name
            said |= {found[1], found[2]}
    assert len(said) == 2 * sum(len(one.asked) for one in outlines.values())


def test_every_notebook_says_what_to_leave_out_and_where_its_answer_key_is(outlines: dict[str, guide.Outline]) -> None:
    for name, one in outlines.items():
        part = NOTES.split(f"\n## {name}\n")[1].split("\n## ")[0]
        late = re.search(r"^Late: leave out .+?\n\n", part, re.MULTILINE | re.DOTALL)
        assert late
        titles = [section.title for section in one.sections]
        for quoted in re.findall(r'"([^"]+)"', " ".join(late[0].split())):
            assert any(title.startswith(quoted) for title in titles), f"{name}: no section {quoted!r}"
        assert set(re.findall(r"`(\w+)`", late[0])) <= {asked.question.key for asked in one.asked}
        assert f"(../notebooks/solved/{name}.ipynb)" in part
        assert one.title.rstrip("?.") in part


def test_what_came_out_is_never_among_the_tempting_answers(outlines: dict[str, guide.Outline]) -> None:
    for one in outlines.values():
        for asked in one.asked:
            tempting = re.findall(r"^- \*(.+?)(?<!\\)\*(?: \((?:yes|no)\))?: ", guide.prediction(asked), re.MULTILINE)
            right = {guide.plain(option.label) for option in asked.question.options if option.name in asked.right}
            assert tempting
            assert asked.question.pick is None or not right & set(tempting)


def test_the_commands_of_the_guide_are_understood() -> None:
    shown = re.findall(r"python -m course_lib\.learn\.board (.*?)(?:`|$)", by_hand(README), re.MULTILINE)
    assert len(shown) >= 3
    for words in shown:
        board.parser().parse_args(shlex.split(words))
    verbs = re.findall(r"python course\.py ([^`]+)`", by_hand(README + NOTES))
    assert len(verbs) >= 5
    for words in verbs:
        course.parse(shlex.split(words))


def test_the_code_of_the_guide_is_python_and_names_what_exists() -> None:
    blocks = re.findall(r"```python\n(.*?)```", by_hand(README), re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        for statement in ast.parse(block).body:
            if isinstance(statement, ast.ImportFrom):
                exec(compile(ast.Module([statement], []), "guide", "exec"), {})


def test_what_is_written_by_hand_is_plain() -> None:
    for page in (README, NOTES):
        assert "!" not in by_hand(page)
        assert [line for line in by_hand(page).splitlines() if len(line) > 120] == []


# --- The generator ----------------------------------------------------------------------------------------------


QUESTION = Question(
    key="who",
    text="Who? [1]",
    options=tuple(Option(label, "a reason") for label in ("owner", "owner, forced", "app", "a, b")),
    right=lambda actual: actual,
    result="x",
    lesson_learned="So.",
)


def test_names_that_hold_commas_are_taken_apart() -> None:
    assert right_names(QUESTION, "owner, owner, forced") == ("owner", "owner, forced")
    assert right_names(QUESTION, "owner, forced, app") == ("owner, forced", "app")
    assert right_names(QUESTION, "app, a, b") == ("app", "a, b")


def test_a_result_that_names_no_option_is_an_error() -> None:
    with pytest.raises(GuideError, match="'nobody', which names no options"):
        right_names(QUESTION, "nobody")


def test_a_prediction_shows_the_right_answer_and_the_reasons_of_the_others() -> None:
    shown = guide.prediction(guide.Asked(QUESTION, ("app",)))
    assert shown.splitlines()[0] == r"> Who? \[1\]"
    assert "Comes out: **app**" in shown
    assert "- *owner*: a reason" in shown
    assert "- *app" not in shown
    several = guide.prediction(guide.Asked(replace(QUESTION, pick=None), ("app",)))
    assert "- *owner* (no): a reason" in several
    assert "- *app* (yes): a reason" in several


def test_a_header_without_minutes_is_an_error() -> None:
    with pytest.raises(GuideError, match="No minutes"):
        header_minutes("*A notebook.*")


def test_minutes_that_are_no_number_word_are_an_error() -> None:
    assert guide.stated_minutes("Go further: more\n\n*Eleven minutes, six breaks.* First") == 11
    assert guide.stated_minutes("A text\n\nOf *seven minutes* or so") is None
    with pytest.raises(GuideError, match="'thirty' minutes, says 'More'"):
        guide.stated_minutes("More\n\n*Thirty minutes.* Then")


def test_the_beginnings_of_a_core_are_shared_out_of_its_minutes(outlines: dict[str, guide.Outline]) -> None:
    for one in outlines.values():
        core = [section for section in one.sections if not section.further]
        given = shares(core, one.core)
        assert sum(given) == pytest.approx(one.core)
        assert min(given) > 0
        assert all(
            share == section.minutes for share, section in zip(given, core, strict=True) if section.minutes is not None
        )


def test_sections_that_state_more_than_their_core_has_are_an_error() -> None:
    with pytest.raises(GuideError, match="a core of 30 minutes state 40"):
        shares([guide.Section("A", 40, 1.0, False), guide.Section("B", None, 1.0, False)], 30)


def test_what_follows_go_further_without_being_headed_so_belongs_to_it() -> None:
    sections = sections_of(read_source(NOTEBOOKS / "source" / "00_start_here.py").cells)
    assert not any(section.title == "A reference is an address" for section in sections)
    assert sections[-1].title.startswith("Go further: ")
    assert [section.further for section in sections] == sorted(section.further for section in sections)


def test_a_part_is_written_between_its_markers_and_nothing_else_changes() -> None:
    page = f"by hand\n\n{marked('a', 'old')}\n\nmore by hand\n\n{marked('b', 'old')}\n"
    assert filled(page, {"a": "new", "b": r"\1 | new"}) == page.replace("old", "new", 1).replace("old", r"\1 | new")


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"a": "x", "c": "x"}, "no part 'c'.*'b' is not known"),
        ({"b": "x", "a": "x"}, "another order"),
        ({"a": "x"}, "'b'"),
    ],
)
def test_markers_that_do_not_fit_are_an_error(parts: dict[str, str], said: str) -> None:
    with pytest.raises(GuideError, match=said):
        filled(f"{marked('a', '')}\n{marked('b', '')}\n", parts)


def test_every_marker_that_begins_a_part_has_one_that_ends_it() -> None:
    for page in (README, NOTES):
        assert page.count("<!-- written by tools.guide: ") == page.count(END) == len(guide.BLOCK.findall(page))
