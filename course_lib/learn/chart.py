"""A line chart as inline SVG, written from numbers: it follows the theme, and the same numbers give the same bytes.

Each line has its own dash and its name at its end, so that it can be told apart without colour, and the numbers stand
in a table below, for those who read rather than see.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

from course_lib.learn.look import escape, table

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 150, 12, 44
COLOURS = ("#3b7dd8", "#b07d00", "#d0524f")
DASHES = ("", "7 4", "2 3")


@dataclass(frozen=True)
class Point:
    """One measured value: y at x, with an interval from `low` to `high` where there is one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Line:
    """A named series of points, in the order of x."""

    name: str
    points: tuple[Point, ...]


def line_chart(
    says: str, lines: Sequence[Line], x_label: str, y_label: str, y_max: float = 1.0, log_x: bool = False
) -> str:
    """Return a chart and its table of numbers as HTML.

    `says` is what the chart shows, in a sentence: it is the picture's text for a screen reader. The y axis runs from
    0 to `y_max`; `log_x` spaces x by its logarithm. Raises ValueError without points, for more than three lines, and
    for a logarithmic axis with an x of 0 or less.
    """
    xs = sorted({point.x for line in lines for point in line.points})
    if not xs or len(lines) > len(COLOURS):
        raise ValueError(f"{len(lines)} lines with {len(xs)} x values: a chart needs points, and three lines at most")
    if log_x and xs[0] <= 0:
        raise ValueError(f"x = {xs[0]} cannot stand on a logarithmic axis")
    place = _Place(xs[0], xs[-1], y_max, log_x)
    pieces = [_axes(place, xs, x_label, y_label)]
    pieces += [_line(place, line, number) for number, line in enumerate(lines)]
    pieces += _names(place, lines)
    svg = (
        f'<svg role="img" aria-label="{escape(says)}" viewBox="0 0 {WIDTH} {HEIGHT}" width="100%" '
        f'style="max-width:{WIDTH}px;height:auto" font-size="12" fill="currentColor">{"".join(pieces)}</svg>'
    )
    return f"<div>{svg}</div><details><summary>The numbers</summary>{_numbers(lines, xs, x_label)}</details>"


@dataclass(frozen=True)
class _Place:
    """Turns values into points of the picture."""

    x_min: float
    x_max: float
    y_max: float
    log_x: bool

    def x(self, value: float) -> float:
        low, high, at = (log10(v) if self.log_x else v for v in (self.x_min, self.x_max, value))
        share = (at - low) / (high - low) if high > low else 0.5
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def y(self, value: float) -> float:
        return round(HEIGHT - BOTTOM - value / self.y_max * (HEIGHT - TOP - BOTTOM), 1)


def _axes(place: _Place, xs: Sequence[float], x_label: str, y_label: str) -> str:
    """Return both axes: a mark at each x that has room for its number, and five steps of y."""
    pieces, right, last = [], WIDTH - RIGHT, -100.0
    for step in range(5):
        value = place.y_max * step / 4
        y = place.y(value)
        pieces.append(f'<line x1="{LEFT}" x2="{right}" y1="{y}" y2="{y}" stroke="currentColor" stroke-opacity="0.2"/>')
        pieces.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{value:g}</text>')
    for value in xs:
        if place.x(value) - last >= 26:
            last = place.x(value)
            pieces.append(f'<text x="{last}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{value:g}</text>')
    middle = (LEFT + right) / 2
    pieces.append(f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{escape(x_label)}</text>')
    turn = f"rotate(-90 14 {(TOP + HEIGHT - BOTTOM) / 2})"
    centre = f'x="14" y="{(TOP + HEIGHT - BOTTOM) / 2}"'
    return "".join(pieces) + f'<text {centre} text-anchor="middle" transform="{turn}">{escape(y_label)}</text>'


def _line(place: _Place, line: Line, number: int) -> str:
    """Return a line with its markers, and its interval as a band where every point has one."""
    colour, dash = COLOURS[number], DASHES[number]
    corners = " ".join(f"{place.x(p.x)},{place.y(p.y)}" for p in line.points)
    markers = "".join(f'<circle cx="{place.x(p.x)}" cy="{place.y(p.y)}" r="3" fill="{colour}"/>' for p in line.points)
    drawn = f'<polyline points="{corners}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
    return _band(place, line, colour) + drawn + markers


def _band(place: _Place, line: Line, colour: str) -> str:
    upper = [(point.x, point.high) for point in line.points if point.high is not None]
    lower = [(point.x, point.low) for point in line.points if point.low is not None]
    if len(upper) < len(line.points) or len(lower) < len(line.points):
        return ""
    corners = " ".join(f"{place.x(x)},{place.y(y)}" for x, y in [*upper, *reversed(lower)])
    return f'<polygon points="{corners}" fill="{colour}" fill-opacity="0.15"/>'


def _names(place: _Place, lines: Sequence[Line]) -> list[str]:
    """Write each line's name at its right end, moved down where two would overlap."""
    ends = sorted((place.y(line.points[-1].y), number, line.name) for number, line in enumerate(lines))
    pieces, last = [], -100.0
    for y, number, name in ends:
        last = max(y, last + 15)
        left = WIDTH - RIGHT + 8
        dash = f'stroke="{COLOURS[number]}" stroke-width="2" stroke-dasharray="{DASHES[number]}"'
        pieces.append(f'<line x1="{left}" x2="{left + 22}" y1="{last}" y2="{last}" {dash}/>')
        pieces.append(f'<text x="{left + 28}" y="{last + 4}">{escape(name)}</text>')
    return pieces


def _numbers(lines: Sequence[Line], xs: Sequence[float], x_label: str) -> str:
    by_x = [{point.x: point for point in line.points} for line in lines]
    rows = [[f"{x:g}", *(_cell(points.get(x)) for points in by_x)] for x in xs]
    return table([x_label, *(line.name for line in lines)], rows)


def _cell(point: Point | None) -> str:
    if point is None:
        return ""
    interval = "" if point.low is None or point.high is None else f" ({point.low:.2f} to {point.high:.2f})"
    return f"{point.y:.2f}{interval}"
