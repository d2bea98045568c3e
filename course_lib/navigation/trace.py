"""A run on paper: saved after it ended, loaded again, replayed step by step, and compared with another run.

A navigator may take another path every time, so the ids of a run are what a bad answer is traced back to.
"""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from itertools import zip_longest
from pathlib import Path
from typing import Any

from course_lib.navigation.loop import Run, Step
from course_lib.retrieval import Usage

FORMAT = "navigation run 1"


class TraceError(RuntimeError):
    """A file that holds no run, or cannot be read or written."""


def save_run(run: Run, path: Path) -> None:
    """Write a run as JSON, whole or not at all: a reader never sees half a file. Raises TraceError."""
    text = json.dumps({"format": FORMAT, **asdict(run)}, indent=1)  # ASCII: any half of a surrogate pair survives
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(text)
            Path(part).replace(path)
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise TraceError(f"The run cannot be saved as {path.name} ({error}).") from None


def load_run(path: Path) -> Run:
    """Return a run as it was saved. Raises TraceError where the file is missing, damaged or something else."""
    try:
        data = json.loads(path.read_text(encoding="ascii"))
        if data.pop("format") != FORMAT:
            raise ValueError("it says that it is something else")
        return _run(data)
    except OSError as error:
        raise TraceError(f"{path.name} cannot be read ({error}).") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise TraceError(f"{path.name} holds no run ({type(error).__name__}: {error}).") from None


def _run(data: Mapping[str, Any]) -> Run:
    steps = tuple(_values(Step, {**step, "usage": Usage(**step["usage"])}) for step in data["steps"])
    run: Run = _values(Run, {**data, "steps": steps})
    run.rows(), frames(run)  # an entry of the wrong kind shows here, and not in the middle of a lesson
    return run


def _values(kind: Any, given: Mapping[str, Any]) -> Any:
    """Return a dataclass from a mapping; JSON knows no tuples."""
    names = {field.name for field in fields(kind)}
    if set(given) != names:
        raise ValueError(f"{kind.__name__}: {', '.join(sorted(names ^ set(given)))} missing or unknown")
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in given.items()})


# --- Step by step -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Frame:
    """What there was behind a step: the step, the evidence {id: text} so far, and what the last step added to it.

    The first frame has no step: question and outline, nothing read.
    """

    step: Step | None
    evidence: Mapping[str, str]
    added: tuple[str, ...] = ()
    tokens: int = 0
    usd: float | None = 0.0


def frames(run: Run) -> list[Frame]:
    """Return the run as frames, one before the first step and one behind each: a player shows one at a time."""
    return list(_frames(run))


def _frames(run: Run) -> Iterator[Frame]:
    evidence: dict[str, str] = {}
    yield Frame(None, {})
    for step in run.steps:
        evidence |= {id: run.evidence[id] for id in step.added}
        yield Frame(step, dict(evidence), step.added, step.input_so_far, step.usd_so_far)


# --- Two runs ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parting:
    """The step, counted from 1, at which two runs part, and what each did there ("" where it had ended)."""

    step: int
    one: str
    other: str


def first_difference(one: Run, other: Run) -> Parting | None:
    """Return where two runs over the same question part, or None where they took the same path."""
    done = [[what for _, what, _ in run.rows()] for run in (one, other)]
    for number, (left, right) in enumerate(zip_longest(*done, fillvalue=""), start=1):
        if left != right:
            return Parting(number, left, right)
    return None
