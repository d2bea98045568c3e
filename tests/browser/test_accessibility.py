"""Cards and widgets can be read in both themes, named by a screen reader and used without a mouse.

Only what the course draws is judged (everything in `.vr`); JupyterLab around it is JupyterLab's. The handle of a
slider is ipywidgets': it has no name, and no setting gives it one, so that the named field beside it is what counts.
"""

import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest
from playwright.sync_api import Browser, Locator, expect, sync_playwright

from course_lib.learn.board import as_page, view
from course_lib.learn.explorer import Slider
from course_lib.learn.keepsake import keepsake
from course_lib.learn.look import SYMBOLS
from course_lib.learn.predictions import CONFIDENCE, Prediction
from course_lib.learn.record import Record
from course_lib.lessons.start_here import lesson as opening
from tools.source import lesson_module

from .conftest import FLAGS, Lab
from .notebook_page import NotebookPage

Scheme: TypeAlias = Literal["light", "dark"]

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

# An empty corner of a table is no failure of WCAG, and for axe a minor one: the columns beside it have their headers.
AXE = """async place => {
  const options = {resultTypes: ['violations'], rules: {'empty-table-header': {enabled: false}}};
  const found = await axe.run({include: [[place]], exclude: [['.noUi-handle']]}, options);
  return found.violations.flatMap(rule => rule.nodes.map(node => rule.id + ': ' + node.html.slice(0, 160)));
}"""

# Every piece of text, and every coloured bar or line, with its contrast to the ground it stands on (WCAG 2.2).
CONTRAST = """place => {
  const numbers = colour => {
    const paint = document.createElement('canvas').getContext('2d');
    paint.fillStyle = colour;
    paint.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = paint.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, ground) => [0, 1, 2].map(i => top[i] * top[3] + ground[i] * (1 - top[3]));
  const ground = element => {
    if (!element) return [255, 255, 255];
    const own = numbers(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own.slice(0, 3) : over(own, ground(element.parentElement));
  };
  const light = colour => colour.map(part => part / 255)
    .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (colour, element) => {
    const below = ground(element), pair = [light(over(numbers(colour), below)), light(below)];
    return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
  };
  const texts = [], accents = [];
  for (const card of document.querySelectorAll(place)) {
    const words = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
    while (words.nextNode()) {
      const element = words.currentNode.parentElement, style = getComputedStyle(element);
      if (!words.currentNode.data.trim() || !element.getClientRects().length) continue;
      if (element.closest('style') || style.visibility === 'hidden') continue;
      const colour = element.closest('svg') ? style.fill : style.color;
      texts.push([ratio(colour, element.closest('svg') ? element.closest('svg').parentElement : element),
                  words.currentNode.data.trim()]);
    }
    for (const mark of card.querySelectorAll('.vr-gold, .vr-retrieved, .vr-missed'))
      accents.push([ratio(getComputedStyle(mark).borderLeftColor, mark), mark.className, mark.innerText]);
  }
  return {texts, accents};
}"""

# Puts the focus just before a card, so that the next Tab enters it.
BEFORE = """card => {
  const start = document.createElement('span');
  start.tabIndex = -1;
  card.before(start);
  start.focus();
}"""

# Where the focus is in a card: its control, the kind of element, what is written on it, and whether its ring shows.
FOCUSED = """card => {
  const element = document.activeElement;
  if (!card.contains(element) || element === card) return null;
  const control = element.closest('[class*=vr-control-], .vr-options, .vr-confidence, .vr-commit, .vr-picture');
  const name = [...control.classList].find(name => /^vr-(control-|options|confidence|commit|picture)/.test(name));
  const words = element.labels?.[0]?.innerText || element.closest('label')?.innerText || element.innerText || '';
  const style = getComputedStyle(element);
  const ring = style.outlineStyle === 'solid' && parseFloat(style.outlineWidth) >= 2;
  return {name, words: words.trim(), kind: element.tagName.toLowerCase(),
          ring: ring && style.outlineColor === style.color};
}"""


def axe_script() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def answer_all_wrongly(record: Record, name: str) -> None:
    """Put a first answer to every question into the record, so that every reveal has something to say."""
    lesson = importlib.import_module(lesson_module(name)).lesson
    for key, question in lesson.questions.items():
        chosen = [option.name for option in question.options[-(question.pick or 1) :]]
        Prediction(question, f"{name}/{key}", record, "").commit(chosen, "sure")


def all_cells_have_run(notebook: NotebookPage) -> None:
    notebook.run_all()
    cells = notebook.root.locator(".jp-CodeCell")
    expect(cells.last.locator(".jp-InputPrompt")).to_have_text(f"[{cells.count()}]:", timeout=120_000)
    notebook.page.evaluate("document.querySelectorAll('.vr details').forEach(details => details.open = true)")


@pytest.mark.parametrize("name", ["00_start_here", "move2_sql"])
def test_every_card_can_be_read_and_every_control_has_a_name(
    open_notebook: Callable[[str], NotebookPage], lab: Lab, name: str
) -> None:
    answer_all_wrongly(Record(lab.course / "notebooks" / "my_record.json"), name)
    notebook = open_notebook(name)
    all_cells_have_run(notebook)
    page = notebook.page

    page.evaluate(axe_script())
    assert page.evaluate(AXE, ".vr") == []

    measured = page.evaluate(CONTRAST, ".vr")
    assert len(measured["texts"]) > 200
    assert [text for text in measured["texts"] if text[0] < 4.5] == []
    assert {kind for _, kind, _ in measured["accents"]} >= {"vr-missed", "vr-retrieved"}
    for ratio, kind, words in measured["accents"]:  # no meaning by colour alone: its symbol, then a word
        symbol, _, word = words.partition(" ")
        assert ratio >= 3, (kind, words)
        assert symbol == SYMBOLS[kind.removeprefix("vr-")], (kind, words)
        assert any(letter.isalpha() for letter in word), (kind, words)

    pictures = page.locator(".vr img, .vr svg")
    assert [p for p in pictures.all() if not (p.get_attribute("aria-label") or p.get_attribute("alt"))] == []
    sliders = page.locator(".vr [class*=vr-control-]", has=page.locator(".noUi-handle"))
    assert sliders.count() > 0
    for row in sliders.all():
        number = row.get_by_role("spinbutton")
        label = row.locator(f"label[for='{number.get_attribute('id')}']")
        assert label.inner_text().strip()


def stops_of_tab(notebook: NotebookPage, card: Locator) -> list[dict[str, Any]]:
    """Tab through a card from just before it, and return each place where the focus stops."""
    card.scroll_into_view_if_needed()
    card.evaluate(BEFORE)
    stops: list[dict[str, Any]] = []
    for _ in range(60):
        notebook.page.keyboard.press("Tab")
        stop = card.evaluate(FOCUSED)
        if stop is None:
            return stops
        stops.append(stop)
    pytest.fail(f"Tab does not leave this card again: {stops[-3:]}")


@pytest.mark.parametrize("theme", ["JupyterLab Light"], indirect=True)
def test_a_question_and_an_explorer_can_be_used_with_the_keyboard_alone(
    open_notebook: Callable[[str], NotebookPage], theme: str
) -> None:
    notebook = open_notebook("00_start_here")
    all_cells_have_run(notebook)
    keyboard = notebook.page.keyboard

    # Tab goes through a question in reading order: each option, each step of confidence, Commit, and out.
    for key in ("nearer", "top3"):
        question = opening.questions[key]
        card = notebook.output(f'lesson.predict("{key}")').locator(".vr-card")
        labels = [option.label for option in question.options]
        stops = stops_of_tab(notebook, card)
        assert [stop["words"] for stop in stops] == [*labels, *CONFIDENCE, "Commit"], key
        assert [stop for stop in stops if not stop["ring"]] == []
        # The same way again, and this time with an answer.
        card.evaluate(BEFORE)
        for number in range(len(stops)):
            keyboard.press("Tab")
            if number in {*range(question.pick or 1), len(labels)}:
                keyboard.press("Space")
        keyboard.press("Enter")
        expect(card.locator(".vr-said")).to_contain_text(f"({CONFIDENCE[0]})")

    # From a cell that has just been run, Tab leads to the question below it.
    notebook.run('lesson.predict("nearer")')
    card = notebook.output('lesson.predict("nearer")').locator(".vr-card")
    for _ in range(8):
        keyboard.press("Tab")
        if card.evaluate(FOCUSED):
            break
    assert card.evaluate(FOCUSED)["words"] == opening.questions["nearer"].options[0].label

    # Tab goes through an explorer in the order of its controls, and the keys change the picture.
    card = notebook.output("pipeline_explorer()").locator(".vr-card")
    stops = stops_of_tab(notebook, card)
    assert [stop for stop in stops if not stop["ring"]] == []
    names = list(dict.fromkeys(stop["name"] for stop in stops))
    controls = importlib.import_module("course_lib.lessons.start_here").pipeline_explorer().controls
    assert names[: len(controls)] == [f"vr-control-{name}" for name in controls]
    before = card.locator(".vr-picture").inner_html()
    for name, control in controls.items():
        if isinstance(control, Slider):
            number = card.locator(f".vr-control-{name}").get_by_role("spinbutton")
            reach(notebook, card, f"vr-control-{name}", "input")
            keyboard.press("ArrowUp")
            expect(number).to_have_value(str(control.value + 1))
            handle = card.locator(f".vr-control-{name} .noUi-handle")
            expect(handle).to_have_attribute("aria-valuetext", str(control.value + 1))
            reach(notebook, card, f"vr-control-{name}", "div")
            keyboard.press("ArrowRight")
            expect(number).to_have_value(str(control.value + 2))
    expect(card.locator(".vr-picture")).not_to_have_js_property("innerHTML", before)
    reach(notebook, card, "vr-control-own", "input")
    keyboard.type("who owns the data?")
    keyboard.press("Enter")
    expect(card.locator(".vr-picture")).to_contain_text("no failure can be named", timeout=20_000)
    reach(notebook, card, "vr-control-own", "input")
    keyboard.press("Control+A")
    keyboard.press("Delete")
    keyboard.press("Enter")
    reach(notebook, card, "vr-control-question", "select")
    for key in ("Space", "ArrowDown", "Enter"):  # closed, the arrows would be JupyterLab's
        keyboard.press(key)
    expect(card.locator(".vr-picture")).to_contain_text("Section 8 is at rank 1")


def reach(notebook: NotebookPage, card: Locator, name: str, kind: str) -> None:
    """Tab from before the card until the focus is on this kind of element in this control."""
    card.evaluate(BEFORE)
    for _ in range(60):
        notebook.page.keyboard.press("Tab")
        stop = card.evaluate(FOCUSED)
        if stop is None or (stop["name"], stop["kind"]) == (name, kind):
            break
    assert stop is not None, f"Tab reaches no {kind} in {name}"


@contextmanager
def a_browser(chromium: str) -> Iterator[Browser]:
    flags = [*FLAGS, "--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else FLAGS
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, headless=True, args=flags)
        yield browser
        browser.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_that_are_saved_can_be_read_too(chromium: str, tmp_path: Path, scheme: Scheme) -> None:
    record = Record(tmp_path / "one.json")
    answer_all_wrongly(record, "00_start_here")
    for key, question in opening.questions.items():
        record.add(
            "reveal", f"00_start_here/{key}", question=question.text, actual="", right=[question.options[0].name]
        )
    sheet = [["Question", "Tool"], ["Which invoices are late?", "SQL"]]
    pages = {"keepsake": keepsake(record, sheet), "board": as_page(view(tmp_path))}
    with a_browser(chromium) as browser:
        page = browser.new_page(color_scheme=scheme, bypass_csp=True)
        for name, html in pages.items():
            assert "duck" in html
            page.set_content(html)
            page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
            page.evaluate(axe_script())
            assert page.evaluate(AXE, "body") == [], name
            texts = page.evaluate(CONTRAST, "body")["texts"]
            assert len(texts) > 50
            assert [text for text in texts if text[0] < 4.5] == [], name


def test_the_measures_find_what_is_wrong(chromium: str) -> None:
    bad = (
        '<div class="vr" style="background:#fff"><p style="color:#777">grey</p><input type="number"><svg role="img">'
        '</svg><span class="vr-gold" style="border-left:4px solid #ffe9a8">★ needed</span></div>'
    )
    with a_browser(chromium) as browser:
        page = browser.new_page()
        page.set_content(bad)
        page.evaluate(axe_script())
        found = {line.partition(":")[0] for line in page.evaluate(AXE, ".vr")}
        measured = page.evaluate(CONTRAST, ".vr")
    assert found >= {"label", "svg-img-alt", "color-contrast"}
    assert [(round(ratio, 2), text) for ratio, text in measured["texts"] if ratio < 4.5] == [(4.48, "grey")]
    assert measured["accents"][0][0] < 3
