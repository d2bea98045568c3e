import xml.etree.ElementTree as ElementTree

import pytest

from course_lib.learn.chart import COLOURS, DASHES, Line, Point, line_chart
from course_lib.learn.look import to_text

DENSE = Line("dense", (Point(1, 0.2, 0.1, 0.4), Point(10, 0.8, 0.6, 0.9)))
BM25 = Line("BM25 <b>", (Point(1, 0.0), Point(10, 0.5)))


def chart(**changes):
    settings = {"says": "Hit rate rises with k.", "lines": [DENSE, BM25], "x_label": "k", "y_label": "hit rate"}
    return line_chart(**{**settings, **changes})


def svg(html):
    return ElementTree.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])


def test_the_picture_has_a_label_and_the_numbers_a_table():
    html = chart()
    assert svg(html).get("aria-label") == "Hit rate rises with k."
    assert to_text(html).splitlines() == [
        "Hit rate rises with k.",
        "The numbers",
        "k dense BM25 <b>",
        "1 0.20 (0.10 to 0.40) 0.00",
        "10 0.80 (0.60 to 0.90) 0.50",
    ]


def test_higher_values_stand_higher_and_larger_x_further_right():
    first, last = svg(chart()).find("polyline").get("points").split()
    assert float(first.split(",")[0]) < float(last.split(",")[0])
    assert float(first.split(",")[1]) > float(last.split(",")[1])


def test_a_line_with_intervals_has_a_band_and_one_without_has_none():
    assert len(svg(chart()).findall("polygon")) == 1
    assert svg(chart(lines=[BM25])).findall("polygon") == []


def test_a_logarithmic_axis_spaces_tens_evenly():
    points = tuple(Point(x, 0.5) for x in (1, 10, 100))
    xs = [
        float(p.split(",")[0])
        for p in svg(chart(lines=[Line("a", points)], log_x=True)).find("polyline").get("points").split()
    ]
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.2)


def test_lines_differ_without_colour():
    assert len(set(DASHES)) == len(COLOURS)


def test_names_at_the_right_end_do_not_overlap():
    same = [Line(name, (Point(1, 0.5),)) for name in ("a", "b", "c")]
    ys = [float(t.get("y")) for t in svg(chart(lines=same)).findall("text") if t.text in ("a", "b", "c")]
    assert min(b - a for a, b in zip(sorted(ys), sorted(ys)[1:], strict=False)) >= 15


def test_a_single_point_is_drawn():
    assert "polyline" in chart(lines=[Line("a", (Point(3, 1.0),))])


def test_names_are_escaped():
    assert "<b>" not in chart()


@pytest.mark.parametrize("lines", [[], [Line("a", ())], [DENSE] * 4])
def test_a_chart_without_points_or_with_too_many_lines_is_refused(lines):
    with pytest.raises(ValueError, match="three lines at most"):
        chart(lines=lines)


def test_zero_cannot_stand_on_a_logarithmic_axis():
    with pytest.raises(ValueError, match="logarithmic"):
        chart(lines=[Line("a", (Point(0, 1.0),))], log_x=True)
