"""Explorers: a few controls and a picture of what they do, redrawn at every change.

The drawing is a pure function from the controls' values to HTML, so it is tested without a browser, shown as text
where there are no widgets, and can be called in code with any values.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from course_lib.learn.look import CONTROLS_STYLE, STYLE, Shown, card, escape, paragraph, to_text

Render: TypeAlias = Callable[..., str]

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


@dataclass(frozen=True)
class Slider:
    """A whole number between `low` and `high`, both included."""

    label: str
    low: int
    high: int
    value: int

    def widget(self) -> Any:
        """Return a field for the number and a slider beside it, as one control with one value.

        The slider's handle has no name that a screen reader could say, and ipywidgets has no way to give it one; the
        field has the label, takes the arrow keys too, and an exact number.
        """
        import ipywidgets
        import traitlets

        limits = {"min": self.low, "max": self.high, "value": self.value}
        style, width = WIDE["style"], {"width": "250px", "flex": "0 0 auto"}
        field = ipywidgets.BoundedIntText(**limits, description=self.label, style=style, layout=width)
        slider = ipywidgets.IntSlider(**limits, readout=False, layout={"width": "auto", "flex": "1 1 160px"})
        row = ipywidgets.HBox([field, slider], layout={**WIDE["layout"], "flex_flow": "row wrap"})
        row.add_traits(value=traitlets.Int(self.value), description=traitlets.Unicode(self.label))
        traitlets.link((field, "value"), (row, "value"))
        traitlets.link((row, "value"), (slider, "value"))
        return row

    def refuse(self, value: object) -> str | None:
        """Return a sentence where `value` cannot be set, else None."""
        if isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high:
            return None
        return f"{self.label} must be a whole number from {self.low} to {self.high}, not {value!r}."


@dataclass(frozen=True)
class Choice:
    """One of `options`."""

    label: str
    options: tuple[str, ...]
    value: str

    def widget(self) -> Any:
        """Return the ipywidgets control."""
        import ipywidgets

        return ipywidgets.Dropdown(options=list(self.options), value=self.value, description=self.label, **WIDE)

    def refuse(self, value: object) -> str | None:
        """Return a sentence where `value` cannot be set, else None."""
        return None if value in self.options else f"{self.label} must be one of {list(self.options)}, not {value!r}."


@dataclass(frozen=True)
class Tick:
    """On or off."""

    label: str
    value: bool = False

    def widget(self) -> Any:
        """Return the ipywidgets control."""
        import ipywidgets

        return ipywidgets.Checkbox(value=self.value, description=self.label, indent=False, layout=WIDE["layout"])

    def refuse(self, value: object) -> str | None:
        """Return a sentence where `value` cannot be set, else None."""
        return None if isinstance(value, bool) else f"{self.label} must be True or False, not {value!r}."


@dataclass(frozen=True)
class Text:
    """Any text; the picture follows when the learner presses Enter or leaves the field."""

    label: str
    value: str = ""
    placeholder: str = ""

    def widget(self) -> Any:
        """Return the ipywidgets control."""
        import ipywidgets

        return ipywidgets.Text(
            value=self.value,
            placeholder=self.placeholder,
            description=self.label,
            continuous_update=False,
            **WIDE,
        )

    def refuse(self, value: object) -> str | None:
        """Return a sentence where `value` cannot be set, else None."""
        return None if isinstance(value, str) else f"{self.label} must be text, not {value!r}."


Control: TypeAlias = Slider | Choice | Tick | Text

WIDE: dict[str, Any] = {"style": {"description_width": "170px"}, "layout": {"width": "auto", "max_width": "730px"}}


class Explorer:
    """Controls above a picture. As the last line of a cell it shows itself; `at(...)` gives the picture in code."""

    def __init__(self, title: str, controls: Mapping[str, Control], render: Render) -> None:
        """`render` takes the controls' values by name and returns HTML."""
        self.title = title
        self.controls = dict(controls)
        self.render = render

    def at(self, **values: Any) -> Shown:
        """Return the picture for the given values, the rest at their defaults.

        Raises ValueError, naming the controls or the allowed values, where a value cannot be set.
        """
        for name, value in values.items():
            if name not in self.controls:
                raise ValueError(f"There is no control {name!r} here. The controls are {', '.join(self.controls)}.")
            refused = self.controls[name].refuse(value)
            if refused:
                raise ValueError(refused)
        defaults = {name: control.value for name, control in self.controls.items()}
        return Shown(card(self.title, self._draw({**defaults, **values})))

    def _draw(self, values: Mapping[str, Any]) -> str:
        """Return the picture; where it cannot be drawn, a sentence that the checks find by its attribute."""
        try:
            return self.render(**values)
        except Exception as error:
            said = paragraph(f"These settings could not be shown ({type(error).__name__}: {error}).", "missed")
            return f'<div data-error="{type(error).__name__}">{said}</div>'

    def __repr__(self) -> str:
        return to_text(self.at().html)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/plain": repr(self), "text/html": self.at().html}
        view = view_of(self._widget)
        return {**bundle, WIDGET_VIEW: view} if view else bundle

    def _widget(self) -> Any:
        """Return controls and picture as one widget; every change of a control redraws the picture."""
        import ipywidgets

        controls = {name: control.widget() for name, control in self.controls.items()}
        picture = ipywidgets.HTML()

        def redraw(change: object = None) -> None:
            picture.value = self._draw({name: control.value for name, control in controls.items()})

        for name, control in controls.items():
            control.add_class(f"vr-control-{name}")
            control.observe(redraw, names="value")
        redraw()
        picture.add_class("vr-picture")
        return boxed(
            ipywidgets.HTML(STYLE + CONTROLS_STYLE + f'<p class="vr vr-title">{escape(self.title)}</p>'),
            *controls.values(),
            picture,
        )


def boxed(*children: Any) -> Any:
    """Return the widgets in one thin card."""
    import ipywidgets

    box = ipywidgets.VBox(list(children))
    for name in ("vr", "vr-card", "tex2jax_ignore", "mathjax_ignore"):
        box.add_class(name)
    return box


def view_of(make: Callable[[], Any]) -> dict[str, Any] | None:
    """Return the mime entry that shows the widget `make` returns, or None where ipywidgets is not installed.

    Written by hand from the model's id: the widget's own method for this raises in ipywidgets 7.7.1.
    """
    try:
        widget = make()
    except ImportError:
        return None
    return {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
