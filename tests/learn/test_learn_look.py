"""The one visual language: contrast measured on both grounds, and nothing that only colour says."""

import ast
import re
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.learn import board, keepsake
from course_lib.learn.chart import COLOURS, DASHES, Line, Point, line_chart
from course_lib.learn.explorer import Explorer, Slider
from course_lib.learn.look import CONTROLS_STYLE, STYLE, SYMBOLS, Accent, card, mark, paragraph, table, to_text

PACKAGE = Path(__file__).resolve().parents[2] / "course_lib"
WHITE, NEAR_BLACK = "#ffffff", "#111111"  # the grounds of JupyterLab's light and dark themes
PAGES = "#161616"  # the dark ground of the pages that are saved


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    digits = colour.removeprefix("#")
    digits = "".join(d * 2 for d in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def accents_in(style: str) -> dict[str, str]:
    return dict(re.findall(r"\.vr-(gold|retrieved|missed)\{border-color:(#[0-9a-f]+)\}", style))


def test_the_measure_is_that_of_wcag() -> None:
    assert contrast("#000", "#fff") == pytest.approx(21)
    assert contrast("#777", "#fff") == pytest.approx(4.48, abs=0.01)  # the grey that just fails for text


@pytest.mark.parametrize("ground", [WHITE, NEAR_BLACK, PAGES])
def test_every_accent_stands_out_from_its_ground(ground: str) -> None:
    accents = accents_in(STYLE)
    assert set(accents) == set(SYMBOLS) - {"plain"}
    for colour in [*accents.values(), *COLOURS]:
        assert contrast(colour, ground) >= 3, colour


@pytest.mark.parametrize("fallback", re.findall(r"var\(--jp-border-color1,(#[0-9a-f]{3,6})\)", STYLE))
def test_the_edge_of_a_card_shows_without_a_theme(fallback: str) -> None:
    assert contrast(fallback, WHITE) >= 3
    assert contrast(fallback, NEAR_BLACK) >= 3


def test_the_pages_that_are_saved_have_the_same_accents_and_readable_text() -> None:
    source = Path(keepsake.__file__).read_text(encoding="utf-8")
    assert accents_in(source) == accents_in(STYLE)
    light, dark = re.findall(r"--ink:(#[0-9a-f]+);--paper:(#[0-9a-f]+);--line:#[0-9a-f]+;--link:(#[0-9a-f]+)", source)[
        :2
    ]
    for ink, paper, link in (light, dark):
        assert min(contrast(ink, paper), contrast(link, paper)) >= 4.5


def test_the_bars_of_the_board_stand_out() -> None:
    source = Path(board.__file__).read_text(encoding="utf-8")
    (bar,) = re.findall(r"\.vb-bar\{[^}]*background:(#[0-9a-f]+)", source)
    assert min(contrast(bar, ground) for ground in (WHITE, PAGES)) >= 3


def test_no_two_accents_share_a_symbol_and_no_two_lines_a_dash() -> None:
    assert set(SYMBOLS) == set(get_args(Accent))
    assert len(set(SYMBOLS.values())) == len(SYMBOLS)
    assert len(set(DASHES)) == len(DASHES) == len(COLOURS)


@given(st.text(min_size=1), st.sampled_from(["gold", "retrieved", "missed"]))
def test_a_mark_always_says_its_symbol_and_its_word(word: str, accent: Accent) -> None:
    said = to_text(mark(accent, word))
    assert said.startswith(SYMBOLS[accent])
    assert said.removeprefix(SYMBOLS[accent]).split() == word.encode("utf-8", "replace").decode("utf-8").split()


def test_a_line_of_a_chart_is_told_apart_without_its_colour() -> None:
    lines = [Line(name, (Point(1, 0.5), Point(2, 0.6))) for name in ("dense", "BM25", "fused")]
    html = line_chart("Three lines.", lines, "k", "hit rate")
    grey = [re.sub("|".join(COLOURS), "grey", piece) for piece in re.findall(r"<polyline[^>]*>", html)]
    assert all(one != other for one, other in combinations(grey, 2))
    assert all(f">{line.name}</text>" in html for line in lines)


class Pictures(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.named: list[bool] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "svg":
            self.named.append(given.get("role") == "img" and bool(given.get("aria-label")))
        if tag == "img":
            self.named.append(bool(given.get("alt")))


def test_a_chart_has_a_name_and_its_numbers_in_a_table() -> None:
    html = line_chart("It rises.", [Line("dense", (Point(1, 0.5), Point(3, 0.7)))], "k", "hit rate")
    pictures = Pictures()
    pictures.feed(html)
    assert pictures.named == [True]
    assert "It rises." in to_text(html)
    assert "0.70" in to_text(html)


def drawn_in(path: Path) -> list[str]:
    """The tags of pictures in a module's strings; the pieces that are computed are left out as `x`."""
    strings = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            strings.append("".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.append(node.value)
    return [tag for text in strings for tag in re.findall(r"<(?:svg|img) [^>]*>", text)]


def test_every_picture_that_the_package_draws_has_a_name() -> None:
    tags = {(path.name, tag) for path in PACKAGE.rglob("*.py") for tag in drawn_in(path)}
    assert {name for name, _ in tags} >= {"chart.py", "report.py"}
    hostile = {(name, tag) for name, tag in tags if "src=x" in tag}  # examples of what must stay inert
    for name, tag in tags - hostile:
        assert re.search(r"(aria-label|alt)=\"[^\"]+\"", tag), (name, tag)


def test_no_lesson_says_anything_with_a_colour_of_its_own() -> None:
    """Colours are in look.py and chart.py, with symbols, words and dashes; a lesson uses those."""
    found = [
        (path.name, text)
        for path in (PACKAGE / "lessons").rglob("*.py")
        for text in re.findall(
            r"(?:color|background|fill|stroke)\s*[:=]\s*[\"']?#?\w+", path.read_text(encoding="utf-8")
        )
    ]
    assert found == []


def test_a_card_leaves_mathjax_no_text_and_escapes_its_title() -> None:
    html = card("$x$ <b>", paragraph("$y$"), styled=False)
    assert 'class="vr vr-card tex2jax_ignore mathjax_ignore"' in html
    assert "&lt;b&gt;" in html


def test_a_number_column_is_marked_in_head_and_body() -> None:
    html = table(["Rank", "Section"], [["1", "7.1"]], numbers=[0])
    assert html.count('class="vr-num"') == 2


def test_a_slider_has_a_field_with_its_label_and_both_move_together() -> None:
    drawn: list[int] = []
    explorer = Explorer("What k does", {"k": Slider("Cut-off k", 1, 5, 3)}, lambda k: drawn.append(k) or f"<p>{k}</p>")
    row, picture = explorer._widget().children[1:]
    field, slider = row.children
    assert (field.description, slider.description) == ("Cut-off k", "")
    slider.value = 4
    assert (row.value, field.value, picture.value) == (4, 4, "<p>4</p>")
    field.value = 99  # the field itself stays inside the limits
    assert (row.value, slider.value, picture.value) == (5, 5, "<p>5</p>")
    assert drawn == [3, 4, 5], "each move is drawn once"


def test_what_has_controls_shows_where_the_focus_is_and_stored_outputs_stay_as_they_are() -> None:
    explorer = Explorer("What k does", {"k": Slider("Cut-off k", 1, 5, 3)}, lambda k: paragraph(str(k)))
    assert CONTROLS_STYLE in explorer._widget().children[0].value
    assert "focus-visible" not in explorer._repr_mimebundle_()["text/html"]
