"""The labelling as a form: a question, its shape, what is expected, a search, a tick for each passage that holds it.

Without widgets it shows where the work stands; every step can be made in code on the Labelling itself.
"""

from html import escape as _escape
from typing import Any

from course_lib.evaluation.labelling import Labelling
from course_lib.evaluation.questions import SHAPES, UNSORTED
from course_lib.retrieval import Hit

SHOWN = 400  # characters of a passage
WIDE: dict[str, Any] = {"style": {"description_width": "130px"}, "layout": {"width": "auto", "max_width": "730px"}}


class LabellingForm:
    """A labelling that shows itself as the last line of a cell. Every change is saved at once."""

    def __init__(self, labelling: Labelling, k: int = 8) -> None:
        """Show `labelling`, with up to `k` passages for a search."""
        self.labelling, self.k = labelling, k

    def __repr__(self) -> str:
        if not self.labelling.questions:
            return self.labelling.progress()
        current = self.labelling.current
        gold = ", ".join(current.gold) or "none"
        return (
            f"{self.labelling.progress()}\nQuestion {self.labelling.at + 1}: {current.text}\n"
            f"shape: {current.shape}; expected: {current.expected or 'not said'}; marked: {gold}"
        )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/plain": repr(self), "text/html": f"<pre>{escape(repr(self))}</pre>"}
        if not self.labelling.questions:
            return bundle
        try:
            widget = _Form(self.labelling, self.k).box
        except ImportError:
            return bundle
        view = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
        return {**bundle, "application/vnd.jupyter.widget-view+json": view}


def escape(text: object) -> str:
    """Return a text as HTML that shows it and does nothing else; half a surrogate pair becomes a question mark."""
    return _escape(str(text).encode("utf-8", "replace").decode("utf-8"))


def passage(hit: Hit) -> str:
    """Return a passage as HTML: its id and the beginning of its text."""
    text = hit.text if len(hit.text) <= SHOWN else hit.text[:SHOWN] + " …"
    return f'<div style="overflow-wrap:anywhere;line-height:1.4"><b>{escape(hit.id)}</b><br>{escape(text)}</div>'


class _Form:
    """The controls. `_filling` is set while they are filled from the state, so that this is not taken for a change."""

    def __init__(self, labelling: Labelling, k: int) -> None:
        import ipywidgets

        self.labelling, self.k, self._filling = labelling, k, False
        self.head, self.said = ipywidgets.HTML(), ipywidgets.HTML()
        self.shape = ipywidgets.Dropdown(description="Shape", **WIDE)
        self.expected = ipywidgets.Text(description="Expected answer", continuous_update=False, **WIDE)
        self.tolerance = ipywidgets.Text(
            description="May be off by", placeholder="0.01 or 2 %", continuous_update=False, **WIDE
        )
        self.words = ipywidgets.Text(
            description="Search", placeholder="the question itself", continuous_update=False, **WIDE
        )
        self.hits = ipywidgets.VBox()
        self.buttons = [self._button(*spec) for spec in (("Back", -1), ("Next", 1), ("Next open", 0))]
        self.box = ipywidgets.VBox(
            [
                *(self.head, self.shape, self.expected, self.tolerance, self.words, self.hits),
                *(ipywidgets.HBox(self.buttons), self.said),
            ]
        )
        for name in ("vr", "vr-card", "tex2jax_ignore", "mathjax_ignore"):
            self.box.add_class(name)
        self._listen()
        self.fill()

    def _button(self, name: str, by: int) -> Any:
        import ipywidgets

        button = ipywidgets.Button(description=name)
        button.on_click(lambda _: self._move(by))
        button.add_class(f"vr-control-{name.lower().replace(' ', '-')}")
        return button

    def _listen(self) -> None:
        controls = {"shape": self.shape, "expected": self.expected, "tolerance": self.tolerance, "search": self.words}
        for name, control in controls.items():
            control.add_class(f"vr-control-{name}")
        self.shape.observe(lambda change: self._do(lambda: self.labelling.sort(change["new"])), names="value")
        for control in (self.expected, self.tolerance):
            control.observe(lambda _: self._do(self._expect), names="value")
        self.words.observe(lambda _: self._do(self.show_hits, done=""), names="value")

    def _expect(self) -> None:
        self.labelling.expect(self.expected.value, self.tolerance.value)

    def _move(self, by: int) -> None:
        if by:
            self.labelling.step(by)
        elif not self.labelling.go_to_open():
            self.said.value = "Every question has a shape and a label."
        self.fill()

    def _do(self, change: Any, done: str = "Saved.") -> None:
        """Make a change; what goes wrong is said below, because an error in a callback would be seen by nobody."""
        if self._filling:
            return
        try:
            change()
            self.said.value = done
        except Exception as error:
            self.said.value = f"That did not work: {escape(error)}"
        self._tell()

    def _tell(self) -> None:
        marked = ", ".join(self.labelling.current.gold) or "none"
        self.head.value = (
            f"<p>{escape(self.labelling.progress())}</p><p style='overflow-wrap:anywhere'><b>Question "
            f"{self.labelling.at + 1}.</b> {escape(self.labelling.current.text)}</p><p>Marked: {escape(marked)}</p>"
        )

    def fill(self) -> None:
        """Show the current question."""
        current = self.labelling.current
        self._filling = True
        try:
            own = [] if current.shape in (UNSORTED, *SHAPES) else [current.shape]
            self.shape.options = [UNSORTED, *SHAPES, *own]
            self.shape.value = current.shape
            self.expected.value = current.expected or ""
            amount = current.tolerance * (100 if current.relative else 1)
            self.tolerance.value = f"{amount:.12g}{' %' if current.relative else ''}" if current.tolerance else ""
            self.words.value = ""
        finally:
            self._filling = False
        self._tell()
        self.show_hits()

    def show_hits(self) -> None:
        """Search, and show each passage with a tick that marks it."""
        import ipywidgets

        if self.labelling.search is None:
            return
        rows = [self._row(hit) for hit in self.labelling.find(self.words.value, self.k)]
        self.hits.children = rows or [ipywidgets.HTML("No passage shares enough words: search with others.")]

    def _row(self, hit: Hit) -> Any:
        import ipywidgets

        tick = ipywidgets.Checkbox(
            value=hit.id in self.labelling.current.gold, description="holds the answer", indent=False
        )
        tick.add_class("vr-control-holds")

        def change(event: Any) -> None:
            self._do(lambda: self.labelling.mark(hit.id) if event["new"] else self.labelling.unmark(hit.id))

        tick.observe(change, names="value")
        # A gap below, or the next tick reads as this passage's.
        return ipywidgets.VBox([tick, ipywidgets.HTML(passage(hit))], layout={"margin": "0 0 14px 0"})
