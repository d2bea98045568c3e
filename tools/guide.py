"""Writes into the instructor's guide what the notebooks say already: plans, minutes, questions, answers, reasons.

    python -m tools.guide

Minutes come from the notebooks' own headers, questions and reasons from the lessons, what comes out from the solved
notebooks. Each such part stands between two markers in workshop/*.md; all other text there is written by hand.
"""

import importlib
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode

from course_lib.learn.predictions import Question
from tools.build import write
from tools.source import NOTEBOOKS, ROOT, lesson_module, read_source, source_names, tags

WORKSHOP = ROOT / "workshop"
PAGES = ("README.md", "notebooks.md")
END = "<!-- until here -->"
BLOCK = re.compile(r"<!-- written by tools\.guide: (?P<name>[^\n]+?) -->\n(?P<text>.*?)" + re.escape(END), re.DOTALL)

ROOM = 10  # minutes more than a core takes one person alone, for the talk with a neighbour and in the room
BREAK, LUNCH = "Break", "Lunch"
Day = tuple[tuple[str, int], ...]  # what, and its minutes; 0 for a notebook, whose header says them
HALF_DAY: Day = (
    ("Arrive, start the course, agree on the rhythm", 10),
    ("00_start_here", 0),
    ("move1_bm25", 0),
    (BREAK, 15),
    ("move2_sql", 0),
    ("move3_navigation", 0),
    (BREAK, 10),
    ("move5_choosing", 0),
    ("Records, the page to keep", 5),
)
FULL_DAY: Day = (
    ("Arrive, start the course, agree on the rhythm", 15),
    ("00_start_here", 0),
    ("move0_long_context", 0),
    ("move1_bm25", 0),
    (BREAK, 15),
    ("move2_sql", 0),
    ("move3_navigation", 0),
    (LUNCH, 60),
    ("move4_grep", 0),
    ("move5_choosing", 0),
    (BREAK, 15),
    ("your_own_data", 0),
    ("Go further, everybody where they like", 30),
    ("Records, the page to keep", 15),
)
NUMBERS = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
AFTERWARDS = "Now yours"  # the section of your_own_data that takes an afternoon and has no place in its core


class GuideError(Exception):
    """A notebook or a page that the guide cannot be made from: a sentence for the author."""


# --- What a notebook says ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Section:
    """A heading of the second level: its minutes where a header says them, else None, and the weight of what it asks.

    The weight is in minutes of somebody who is not hurried: 200 words, two cells or two thirds of a prediction each
    take one, an exercise three.
    """

    title: str
    minutes: int | None
    weight: float
    further: bool


@dataclass(frozen=True)
class Asked:
    """A prediction of the core: its question, and the names of the options that came out right."""

    question: Question
    right: tuple[str, ...]


@dataclass(frozen=True)
class Outline:
    """A notebook as an instructor sees it: minutes of its core and of what goes further, sections, predictions."""

    name: str
    title: str
    core: int
    more: int
    sections: tuple[Section, ...]
    asked: tuple[Asked, ...]

    @property
    def further(self) -> list[Section]:
        """The sections that go further and say how long they take."""
        return [section for section in self.sections if section.further and section.minutes]


def header_minutes(header: str) -> tuple[int, int]:
    """Return the minutes of the core and of what goes further, 0 where a header names none.

    >>> header_minutes("*Move 1: a core of 30 minutes, and 45 more to go further.*")
    (30, 45)
    >>> header_minutes("*Engines lab: 20 minutes, optional.*")
    (20, 0)
    """
    core, more = re.search(r"(\d+) minutes", header), re.search(r"and (\d+) more", header)
    if core is None:
        raise GuideError(f"No minutes in this header: {header!r}. It says, for instance, 'a core of 30 minutes'.")
    return int(core[1]), int(more[1]) if more else 0


def stated_minutes(section: str) -> int | None:
    """Return the minutes that the heading or the first words of a section state, or None. Raises GuideError.

    >>> stated_minutes("Go further: one more layer\\n\\n*Six minutes.* Personnel"), stated_minutes("The map")
    (6, None)
    """
    found = re.match(r"[^\n]* in (\w+) minutes|[^\n]*\n+\*(\w+) minutes\b", section)
    if found is None:
        return None
    word = (found[1] or found[2]).lower()
    if word not in NUMBERS:
        raise GuideError(f"{word!r} minutes, says {section.splitlines()[0]!r}: write a number from one to twenty.")
    return NUMBERS.index(word) + 1


def pieces(cells: list[NotebookNode]) -> Iterator[tuple[str, list[NotebookNode]]]:
    """Give each section of a notebook: its text from the heading on, and the code cells that learners see in it."""
    text, code = "", list[NotebookNode]()
    for cell in cells:
        if cell.cell_type != "markdown":
            code += [] if "solution" in tags(cell) else [cell]
            continue
        before, *headed = re.split(r"^## ", cell.source, flags=re.MULTILINE)
        text += f"\n{before}"
        for one in headed:
            yield text, code
            text, code = one, []
    yield text, code


def sections_of(cells: list[NotebookNode]) -> tuple[Section, ...]:
    """Return the sections; what follows a "Go further" without being headed so belongs to it."""
    made = list[Section]()
    for text, code in list(pieces(cells))[1:]:
        title = text.splitlines()[0].strip()
        starts = title.startswith("Go further") or title == AFTERWARDS
        goes_on = bool(made) and made[-1].further and not starts and made[-1].title != AFTERWARDS
        if not goes_on:
            made.append(Section(title, stated_minutes(text), weight(text, code), starts))
    return tuple(made)


def weight(text: str, code: list[NotebookNode]) -> float:
    """Return what a section asks of somebody, in minutes without hurry, as `Section` says."""
    source = "\n".join(cell.source for cell in code)
    predictions = len(re.findall(r"lesson\.predict\(", source))
    exercises = len(re.findall(r"lesson\.check\(", source))
    return len(text.split()) / 200 + len(code) / 2 + predictions * 1.5 + exercises * 3


def outline(name: str) -> Outline:
    """Return what the source, the lesson and the solved notebook of a name say. Raises GuideError."""
    cells = read_source(NOTEBOOKS / "source" / f"{name}.py").cells
    header = cells[0].source
    core, more = header_minutes(re.sub(r"\s+", " ", header))
    title = header.splitlines()[0].removeprefix("# ").strip()
    return Outline(name, title, core, more, sections_of(cells), tuple(asked_in(name, cells)))


def asked_in(name: str, cells: list[NotebookNode]) -> Iterator[Asked]:
    """Give the predictions of the core in the order in which the notebook asks them."""
    questions: Mapping[str, Question] = importlib.import_module(lesson_module(name)).lesson.questions
    said = results(name)
    for cell in cells:
        if re.search(r"^## Go further", cell.source, re.MULTILINE):
            return
        shown = re.match(r'\w+ = lesson\.predict\("(\w+)"\)$', cell.source, re.MULTILINE)
        if "exercise" in tags(cell) and shown:
            question = questions[shown[1]]
            if question.key not in said:
                raise GuideError(f"{name}: the solved notebook reveals no result of {question.key}. Build it first.")
            yield Asked(question, right_names(question, said[question.key]))


def results(name: str) -> dict[str, str]:
    """Return what the solved notebook says came out, by the key of the prediction."""
    solved = nbformat.read(NOTEBOOKS / "solved" / f"{name}.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    keys, found = dict[str, str](), dict[str, str]()
    for cell in solved.cells:
        keys |= dict(re.findall(r'^(\w+) = lesson\.predict\("(\w+)"', cell.source, re.MULTILINE))
        shown = re.search(r"(\w+)\.reveal\(|reveal_where_it_ran\((\w+)", cell.source)
        texts = (output.get("data", {}).get("text/plain", "") for output in cell.get("outputs", []))
        result = re.search(r"The result: (.*?)\.$", "\n".join(texts), re.MULTILINE)
        if shown and result:
            found[keys[shown[1] or shown[2]]] = result[1]
    return found


def right_names(question: Question, said: str) -> tuple[str, ...]:
    """Take a list of names apart; a name may hold a comma. Raises GuideError where it names no options."""
    for option in question.options:
        if said == option.name:
            return (option.name,)
        if said.startswith(f"{option.name}, "):
            try:
                return (option.name, *right_names(question, said.removeprefix(f"{option.name}, ")))
            except GuideError:
                continue
    raise GuideError(f"{question.key}: the solved notebook says {said!r}, which names no options. Build it first.")


# --- The parts that are written ---------------------------------------------------------------------------------


def plain(text: str) -> str:
    r"""Return a text whose signs mean nothing to Markdown.

    >>> plain("SELECT * [B]")
    'SELECT \\* \\[B\\]'
    """
    return re.sub(r"([\\`*_<>\[\]|$~])", r"\\\1", text)


def link(one: Outline) -> str:
    """Return a link to a notebook, by its name."""
    return f"[`{one.name}`](../notebooks/{one.name}.ipynb)"


def day(plan: Day, outlines: Mapping[str, Outline]) -> str:
    """Return a plan as a table: elapsed time, what, minutes, and how many predictions are talked about."""
    rows, now = ["| from | what | minutes | predictions |", "|---:|---|---:|---:|"], 0
    for what, minutes in plan:
        one = outlines.get(what)
        predictions = len(one.asked) if one else ""
        lasts = one.core + ROOM if one else minutes
        rows.append(f"| {clock(now)} | {link(one) if one else what} | {lasts} | {predictions} |")
        now += lasts
    return "\n".join([*rows, f"| {clock(now)} | End | | |"])


def clock(minutes: int) -> str:
    """Return minutes as hours and minutes.

    >>> clock(75)
    '1:15'
    """
    return f"{minutes // 60}:{minutes % 60:02}"


def all_minutes(outlines: Mapping[str, Outline]) -> str:
    """Return a table of all notebooks: the core, what goes further, and its sections with their minutes."""
    rows = ["| notebook | core | further | what goes further |", "|---|---:|---:|---|"]
    for one in outlines.values():
        parts = "; ".join(f"{short(section.title)} ({section.minutes})" for section in one.further)
        rows.append(f"| {link(one)} | {one.core} | {one.more or ''} | {plain(parts)} |")
    return "\n".join(rows)


def short(title: str) -> str:
    """Return a heading without the words that tell where it stands."""
    said = title.removeprefix("Go further: ")
    return said[0].lower() + said[1:] if said.split()[0] in ("A", "An", "The", "One", "How", "What", "When") else said


def running_order(one: Outline) -> str:
    """Return the core's sections with the minute at which each begins; stated minutes stand in brackets."""
    core = [section for section in one.sections if not section.further]
    rows, now = ["| minute | section |", "|---:|---|"], 0.0
    for section, minutes in zip(core, shares(core, one.core), strict=True):
        stated = f" ({section.minutes} min)" if section.minutes else ""
        rows.append(f"| {now:.0f} | {plain(section.title)}{stated} |")
        now += minutes
    return "\n".join(rows)


def shares(core: list[Section], total: int) -> list[float]:
    """Share a core's minutes out: a section that states its minutes gets those, the rest goes by weight."""
    left = total - sum(section.minutes or 0 for section in core)
    if left < 0:
        raise GuideError(f"The sections of a core of {total} minutes state {total - left} minutes.")
    weights = sum(section.weight for section in core if section.minutes is None)
    return [section.minutes or left * section.weight / weights for section in core]


def prediction(asked: Asked) -> str:
    """Return a prediction: the question, what comes out, why the other answers tempt, and what to take away."""
    question = asked.question
    labels = [plain(option.label) for option in question.options if option.name in asked.right]
    lines = [f"> {plain(question.text)}", "", f"Comes out: **{'; '.join(labels) or 'none of them'}**", ""]
    for option in question.options:
        is_so = option.name in asked.right
        if option.why and (question.pick is None or not is_so):
            verdict = f" ({'yes' if is_so else 'no'})" if question.pick is None else ""
            lines.append(f"- *{plain(option.label)}*{verdict}: {plain(option.why)}")
    return "\n".join([*lines, "", f"Take away: {plain(question.lesson_learned)}"])


def blocks(outlines: Mapping[str, Outline]) -> dict[str, dict[str, str]]:
    """Return all parts by page and by name, in the order in which they have to stand there."""
    notes = dict[str, str]()
    for one in outlines.values():
        notes[one.name] = running_order(one)
        notes |= {f"{one.name}/{asked.question.key}": prediction(asked) for asked in one.asked}
    days = {"half a day": day(HALF_DAY, outlines), "a full day": day(FULL_DAY, outlines)}
    return {"README.md": days | {"minutes": all_minutes(outlines)}, "notebooks.md": notes}


# --- Writing them -----------------------------------------------------------------------------------------------


def outlines() -> dict[str, Outline]:
    """Return all notebooks by name, the labs last, each in the order of a day."""
    names = sorted(source_names(), key=lambda name: (name.startswith("lab_"), name))
    return {name: outline(name) for name in names}


def filled(page: str, parts: Mapping[str, str]) -> str:
    """Return a page with its parts between their markers. Raises GuideError for other markers than those."""
    there = [found["name"] for found in BLOCK.finditer(page)]
    lacking = [name for name in parts if name not in there]
    unknown = [name for name in there if name not in parts]
    if lacking or unknown:
        said = [f"no part {name!r} to write into" for name in lacking] + [f"{name!r} is not known" for name in unknown]
        raise GuideError(f"The guide in workshop/: {'; '.join(said)}. Add or remove its markers, and the text around.")
    if there != list(parts):
        raise GuideError(f"The guide's parts stand in another order than the notebooks': {', '.join(parts)}.")
    return BLOCK.sub(lambda found: marked(found["name"], parts[found["name"]]), page)


def marked(name: str, part: str) -> str:
    """Return a part between its two markers."""
    return f"<!-- written by tools.guide: {name} -->\n{part}\n{END}"


def pages() -> dict[str, str]:
    """Return each page's text as it should be."""
    made = blocks(outlines())
    return {name: filled((WORKSHOP / name).read_text(encoding="utf-8"), made[name]) for name in PAGES}


def main() -> int:
    """The command line; returns 1, with a sentence, where a page or a notebook does not fit."""
    try:
        for name, text in pages().items():
            write(WORKSHOP / name, text)
    except GuideError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
