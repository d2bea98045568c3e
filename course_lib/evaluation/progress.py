"""How far a run is: a line in a terminal, a line in a notebook."""

import sys
from collections.abc import Callable
from html import escape
from typing import Any, TextIO

from course_lib.evaluation.compare import Progress


def bar(stream: TextIO | None = None) -> Callable[[Progress], None]:
    """Return a callback that keeps one line of a terminal up to date; elsewhere it writes a line each tenth."""
    out = stream or sys.stderr
    last = -1

    def tell(now: Progress) -> None:
        nonlocal last
        tenth = 10 * now.done // max(1, now.total)
        if out.isatty():
            out.write(f"\r{now}" + ("\n" if now.done == now.total else ""))
        elif tenth != last:
            out.write(f"{now}\n")
        last = tenth
        out.flush()

    return tell


class NotebookBar:
    """A line that a cell shows and `tell` keeps up to date; without widgets it shows the start only.

    It prints nothing, so that a stored notebook holds the same output however fast the machine is.
    """

    def __init__(self) -> None:
        self._now = "Not started."
        self._line: Any = None

    def tell(self, now: Progress) -> None:
        """Show how far the run is: pass it to `compare` as `progress`."""
        self._now = str(now)
        if self._line is not None:
            self._line.value = _html(self._now)

    def __repr__(self) -> str:
        return "A line here shows how far the comparison is."

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/plain": repr(self)}
        try:
            import ipywidgets
        except ImportError:
            return bundle
        self._line = ipywidgets.HTML(_html(self._now))
        view = {"version_major": 2, "version_minor": 0, "model_id": self._line.model_id}
        return {**bundle, "application/vnd.jupyter.widget-view+json": view}


def _html(text: str) -> str:
    return f'<code class="vr-progress">{escape(text)}</code>'
