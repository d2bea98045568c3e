"""The story of the first hour: predict, run, be wrong, move a slider, solve, and find it all again in the record."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from course_lib.learn.predictions import CONFIDENCE

from .conftest import SHOTS, Lab
from .notebook_page import NotebookPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

BEFORE_THE_FIRST_QUESTION = ("course_root", "from course_lib.corpora", "sections = agreement", "text_vectors = encoder")

EXERCISE = """from course_lib.learn.blank import ____


def name_the_failure(rank, pool, k):
    if {first}:
        return "not retrieved"
    if rank > k:
        return "ranked out"
    return "in the prompt"
"""


@pytest.fixture
def notebook(open_notebook: Callable[[str], NotebookPage]) -> NotebookPage:
    return open_notebook("00_start_here")


def choose(notebook: NotebookPage, output: Locator, options: list[str], confidence: str) -> None:
    """Answer a question with the keyboard alone: space ticks, Tab goes on, Enter commits."""
    keyboard = notebook.page.keyboard
    for option in options:
        output.get_by_label(option, exact=True).focus()
        keyboard.press("Space")
    output.get_by_label(confidence, exact=True).focus()
    keyboard.press("Space")
    button = output.locator("button.vr-commit")
    for _ in range(CONFIDENCE[::-1].index(confidence) + 1):  # each step of confidence is one stop for Tab
        keyboard.press("Tab")
    expect(button).to_be_focused()
    keyboard.press("Enter")


def test_the_first_hour(notebook: NotebookPage, lab: Lab, theme: str) -> None:
    shots = SHOTS / theme.split()[-1].lower()

    # Cell by cell to the first question; a commit without an answer says what is missing.
    for code in BEFORE_THE_FIRST_QUESTION:
        notebook.run(code)
    question = notebook.run('lesson.predict("nearer")')
    question.locator("button.vr-commit").click()
    expect(question.locator(".vr-said")).to_contain_text("Not committed. Choose 1; 0 chosen.")
    choose(notebook, question, ["The duck cleaned its bill in the pond."], "sure")
    expect(question.locator(".vr-said")).to_contain_text("Committed: duck (sure).")
    notebook.run("cosines = [")
    reveal = notebook.run("nearer.reveal")
    expect(reveal).to_contain_text("the one to remember")
    expect(reveal).to_contain_text("shares the word “bill”")
    notebook.shot(reveal, shots / "1-confident-miss.png")

    # The three sections, two of them right, before the pipeline runs.
    notebook.run("read_sections")
    question = notebook.run('lesson.predict("top3")')
    choose(notebook, question, ["7.1 Invoicing", "7.3 Late payment", "B Schedule B: Rates and charges"], "fairly sure")
    expect(question.locator(".vr-said")).to_contain_text("Committed: 7.1, 7.3, B (fairly sure).")
    notebook.shot(question, shots / "2-prediction.png")
    for code in ("chunks = {", "top6 = ["):
        notebook.run(code)
    reveal = notebook.run("top3.reveal")
    expect(reveal).to_contain_text("2 of 3 matched. Not on your list: 7.2.")
    notebook.shot(reveal, shots / "3-reveal.png")

    # Everything else at once. What was not answered stays open, and nothing fails.
    notebook.run_all()
    expect(notebook.output("lesson.check")).to_contain_text("Not attempted yet", timeout=60_000)
    expect(notebook.output("pool50.reveal")).to_contain_text("No prediction yet")
    expect(
        notebook.root.locator(
            ".jp-OutputArea-output[data-mime-type*='stderr'], .jp-RenderedText[data-mime-type*='error']"
        )
    ).to_have_count(0)

    # An answer that comes after its result is kept and not scored.
    question = notebook.output('lesson.predict("pool50")')
    choose(notebook, question, ["ranked out"], "a guess")
    expect(question.locator(".vr-said")).to_contain_text("not scored")

    # The explorer, by keyboard.
    explorer = notebook.output("pipeline_explorer()")  # the first of two
    picture = explorer.locator(".vr-picture")
    expect(picture).to_contain_text("Schedule B is at rank 4: not retrieved.")
    explorer.locator(".vr-control-pool .noUi-handle").focus()
    notebook.page.keyboard.press("ArrowRight")
    expect(picture).to_contain_text("Schedule B is at rank 4: ranked out.")
    explorer.locator(".vr-control-k .noUi-handle").focus()
    notebook.page.keyboard.press("ArrowRight")
    expect(picture).to_contain_text("Schedule B is at rank 4: in the prompt.")
    notebook.shot(explorer, shots / "4-explorer.png")
    own = explorer.locator(".vr-control-own input")
    own.fill("<img src=x onerror=alert(1)> who owns $x$ the data?")
    own.press("Enter")
    expect(picture).to_contain_text("no failure can be named", timeout=20_000)
    expect(explorer.locator("img")).to_have_count(0)
    own.fill("")
    own.press("Enter")
    explorer.locator(".vr-control-question select").select_option(index=1)
    expect(picture).to_contain_text("Section 8 is at rank 1: in the prompt.")

    # BM25 in the explorer: every move is drawn, also the second one of the same slider.
    bm25 = notebook.output("pipeline_explorer(with_bm25=True)")
    for pool in range(4, 8):
        bm25.locator(".vr-control-pool .noUi-handle").focus()
        notebook.page.keyboard.press("ArrowRight")
        expect(bm25.locator(".vr-control-pool .widget-readout")).to_have_text(str(pool))
        expect(bm25.locator("tr", has_text="ranked out")).to_have_count(pool - 3)
    expect(bm25.locator(".vr-picture")).to_contain_text("Schedule B was never returned: not retrieved.")
    expect(notebook.root.locator("[data-error]")).to_have_count(0)

    # The exercise: wrong, then right.
    notebook.write("def name_the_failure", EXERCISE.format(first="rank is None or rank >= pool"))
    notebook.run("def name_the_failure")
    feedback = notebook.run("lesson.check")
    expect(feedback).to_contain_text("Not yet.")
    expect(feedback).to_contain_text("Look at the limit itself")
    notebook.shot(feedback, shots / "5-not-yet.png")
    notebook.write("def name_the_failure", EXERCISE.format(first="rank is None or rank > pool"))
    notebook.run("def name_the_failure")
    expect(notebook.run("lesson.check")).to_contain_text("Right.")

    # Another kernel, and everything is in the record.
    notebook.restart()
    notebook.run_all()
    expect(notebook.output('lesson.predict("top3")')).to_contain_text(
        "Committed: 7.1, 7.3, B (fairly sure).", timeout=60_000
    )
    record = notebook.output("lesson.summary()")
    expect(record).to_contain_text("When you said “sure”: 0 of 1 right.", timeout=60_000)
    expect(record).to_contain_text("answered after the result, not scored")
    expect(record).to_contain_text("solved")
    expect(record).to_contain_text("Ask yourself again")
    notebook.shot(record, shots / "6-record.png")
    notebook.page.screenshot(path=str(shots / "7-page.png"))
    stored = json.loads((lab.course / "notebooks" / "my_record.json").read_text(encoding="utf-8"))
    assert {event["kind"] for event in stored["events"]} == {"prediction", "reveal", "exercise"}

    assert notebook.errors == []
    assert notebook.elsewhere == []


def test_no_card_is_wider_than_its_place_on_a_small_screen(notebook: NotebookPage, theme: str) -> None:
    notebook.page.set_viewport_size({"width": 800, "height": 900})
    notebook.run("course_root")
    notebook.run("from course_lib.corpora")
    notebook.write(
        "# On Binder", "lesson.predict('nearer', 'duck', 'sure'); lesson.predict('vectorless', 'dense', 'sure')"
    )
    notebook.run("lesson.predict('nearer', 'duck'")
    notebook.run_all()
    expect(notebook.output("nearer.reveal")).to_contain_text("one to remember", timeout=60_000)
    too_wide = """() => [...document.querySelectorAll('.vr-card')]
        .filter(card => card.scrollWidth > card.clientWidth + 1 || card.getBoundingClientRect().width > 761)
        .map(card => card.innerText.slice(0, 80))"""
    expect(notebook.output("hop_explorer()")).to_contain_text("The target", timeout=60_000)
    assert notebook.page.evaluate(too_wide) == []
    notebook.shot(notebook.output("nearer.reveal"), SHOTS / theme.split()[-1].lower() / "8-narrow.png")
    notebook.shot(notebook.output("sorting.reveal"), SHOTS / theme.split()[-1].lower() / "9-narrow-table.png")
    notebook.shot(notebook.output('lesson.predict("top3")'), SHOTS / theme.split()[-1].lower() / "10-narrow-boxes.png")
