import sys

import pytest

from course_lib.learn.explorer import WIDGET_VIEW, Choice, Explorer, Slider, Text, Tick
from course_lib.learn.look import escape, mark, paragraph, table, to_text


def draw(k: int, word: str, name: str) -> str:
    if name == "boom":
        raise RuntimeError("it broke <b>here</b>")
    return paragraph(f"{k} {word} {name}")


@pytest.fixture
def explorer():
    controls = {"k": Slider("k", 1, 5, 3), "word": Choice("Word", ("a", "b"), "a"), "name": Text("Name", "x")}
    return Explorer("What k does", controls, draw)


def widgets(explorer):
    box = explorer._widget()
    return {
        "box": box,
        "k": box.children[1],
        "word": box.children[2],
        "name": box.children[3],
        "picture": box.children[4],
    }


def test_the_picture_follows_every_control(explorer):
    w = widgets(explorer)
    assert "3 a x" in w["picture"].value
    w["k"].value = 4
    assert "4 a x" in w["picture"].value
    w["word"].value = "b"
    assert "4 b x" in w["picture"].value
    w["name"].value = "new"
    assert "4 b new" in w["picture"].value


def test_a_picture_that_cannot_be_drawn_is_said_and_the_next_one_is_drawn(explorer):
    w = widgets(explorer)
    w["name"].value = "boom"
    assert 'data-error="RuntimeError"' in w["picture"].value
    assert "could not be shown" in w["picture"].value
    assert "<b>here" not in w["picture"].value
    w["name"].value = "fine"
    assert "3 a fine" in w["picture"].value
    assert "data-error" not in w["picture"].value


def test_the_static_picture_is_that_of_the_defaults(explorer):
    bundle = explorer._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", WIDGET_VIEW}
    assert "What k does" in bundle["text/plain"]
    assert "3 a x" in bundle["text/plain"]


def test_without_ipywidgets_there_is_still_a_picture(explorer, monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    assert set(explorer._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert "5 b x" in repr(explorer.at(k=5, word="b"))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"k": 6}, "k must be a whole number from 1 to 5, not 6"),
        ({"k": "3"}, "not '3'"),
        ({"word": "c"}, "must be one of"),
        ({"name": 3}, "must be text"),
        ({"pool": 3}, "The controls are k, word, name"),
    ],
)
def test_values_that_no_control_has_are_refused_in_a_sentence(explorer, values, said):
    with pytest.raises(ValueError, match=said):
        explorer.at(**values)


def test_each_control_has_a_visible_label_and_a_class(explorer):
    w = widgets(explorer)
    for name in ("k", "word", "name"):
        assert w[name].description
        assert f"vr-control-{name}" in w[name]._dom_classes


def test_text_is_taken_on_enter_and_not_at_every_key(explorer):
    assert widgets(explorer)["name"].continuous_update is False


def test_escaped_text_is_inert_and_complete():
    hostile = "<img src=x onerror=alert(1)> & \"q\" 'a' \ud800"
    assert "<" not in escape(hostile)
    assert to_text(escape(hostile)) == "<img src=x onerror=alert(1)> & \"q\" 'a' ?"


def test_an_accent_has_a_symbol_and_a_word():
    assert to_text(mark("gold", "needed")) == "★ needed"
    assert to_text(mark("missed", "ranked out")) == "○ ranked out"


def test_a_table_reads_as_lines_of_text():
    assert to_text(table(["Rank", "Id"], [["1", "7.1"], ["2", "B"]], numbers=[0])) == "Rank Id\n1 7.1\n2 B"


def test_a_header_cell_says_what_it_heads():
    assert '<th scope="col"' in table(["Rank"], [["1"]])


def test_a_tick_is_a_checkbox_that_redraws_and_takes_only_true_and_false():
    explorer = Explorer("Ticks", {"on": Tick("Count the closed ones too")}, lambda on: paragraph(f"on is {on}"))
    box, picture = explorer._widget().children[1:3]
    assert (box.description, box.value, "on is False" in picture.value) == ("Count the closed ones too", False, True)
    box.value = True
    assert "on is True" in picture.value
    with pytest.raises(ValueError, match="must be True or False, not 1"):
        explorer.at(on=1)
