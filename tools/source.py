"""Where the notebooks are, and how a source file and the solutions of its lesson are read."""

import importlib
import re
from pathlib import Path

import jupytext  # type: ignore[import-untyped]
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"

# With comment_magics on, jupytext turns an innocent comment such as "# copy the list" into a shell command.
PERCENT = {"extension": ".py", "format_name": "percent", "comment_magics": False}
KNOWN_TAGS = {"solution", "exercise", "nbval-ignore-output"}


class BuildError(Exception):
    """A source that cannot be built, or a notebook that does not run: a sentence for the author."""


def source_names(notebooks: Path = NOTEBOOKS) -> list[str]:
    """The names of all notebooks, sorted: the stems of notebooks/source/*.py."""
    return sorted(path.stem for path in (notebooks / "source").glob("*.py"))


def read_source(path: Path) -> NotebookNode:
    """A py:percent file → a notebook. Raises BuildError on a missing file and on cells with unclear tags."""
    if not path.is_file():
        raise BuildError(f"There is no source {path.name} in {path.parent}; it is named like its notebook.")
    nb: NotebookNode = jupytext.reads(path.read_text(encoding="utf-8"), fmt=PERCENT)
    for number, cell in enumerate(nb.cells, start=1):
        problem = tag_problem(cell)
        if problem:
            raise BuildError(f"{path.name}: cell {number}: {problem}")
    return nb


def tags(cell: NotebookNode) -> list[str]:
    """The tags of a cell, an empty list where it has none."""
    return list(cell.metadata.get("tags", []))


def tag_problem(cell: NotebookNode) -> str | None:
    """A sentence when the tags of a source cell are misspelt or contradict each other, else None.

    A misspelt `solution` would show the answer to every learner, so tags are a closed list.
    """
    unknown = sorted(set(tags(cell)) - KNOWN_TAGS)
    if unknown:
        return f"the tag {unknown[0]!r} is not known; known are {', '.join(sorted(KNOWN_TAGS))}."
    if {"solution", "exercise"} <= set(tags(cell)):
        return "a cell is tagged solution or exercise, not both."
    if "solves" in cell.metadata and ("solution" not in tags(cell) or cell.cell_type != "code"):
        return "solves= belongs on a code cell tagged solution."
    return None


def lesson_module(name: str) -> str:
    """Notebook name → the name of its lesson module: 00_start_here → course_lib.lessons.start_here."""
    return "course_lib.lessons." + re.sub(r"^\d+_", "", name)


def lesson_solutions(name: str) -> dict[str, str]:
    """{exercise key: solution text} of a notebook's lesson, empty where it has no lesson module."""
    module_name = lesson_module(name)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name not in {"course_lib", "course_lib.lessons", module_name}:
            raise
        return {}
    return {key: exercise.solution for key, exercise in module.lesson.exercises.items()}


def solution_of(name: str, key: str) -> str:
    """The solution text of one exercise. Raises BuildError when the lesson has no exercise of that key."""
    solutions = lesson_solutions(name)
    if key not in solutions:
        known = ", ".join(sorted(solutions)) or "none"
        raise BuildError(
            f"{name}: a cell says solves={key!r}, but the exercises of {lesson_module(name)} are: {known}."
        )
    return solutions[key]
