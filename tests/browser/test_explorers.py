"""Every explorer of every notebook answers every one of its controls, by keyboard, several times in a row."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tools.source import source_names

from .notebook_page import NotebookPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


@pytest.mark.parametrize("theme", ["JupyterLab Dark"], indirect=True)
@pytest.mark.parametrize("name", source_names())
def test_every_explorer_follows_its_controls(open_notebook: Callable[[str], NotebookPage], name: str) -> None:
    notebook = open_notebook(name)
    notebook.run_all()
    last = notebook.root.locator(".jp-CodeCell").last.locator(".jp-InputPrompt")
    expect(last).to_have_text("[" + str(notebook.root.locator(".jp-CodeCell").count()) + "]:", timeout=120_000)
    for explorer in notebook.root.locator(".vr-card", has=notebook.page.locator(".vr-picture")).all():
        changed = [follows(notebook, explorer, control) for control in explorer.locator("[class*=vr-control-]").all()]
        assert any(changed), "no control of this explorer changed its picture"
    assert notebook.root.locator("[data-error]").count() == 0
    assert notebook.errors == []
    assert notebook.elsewhere == []


def follows(notebook: NotebookPage, explorer: Locator, control: Locator) -> bool:
    """Move a control three times and say whether the picture changed at least once."""
    before = explorer.locator(".vr-picture").inner_html()
    control.scroll_into_view_if_needed()
    for move in range(3):
        if control.locator(".noUi-handle").count():
            control.locator(".noUi-handle").first.focus()
            notebook.page.keyboard.press("ArrowRight")
        elif control.locator("select").count():
            options = control.locator("option").count()
            control.locator("select").select_option(index=(move + 1) % options)
        elif control.locator("input[type=checkbox]").count():
            control.locator("input[type=checkbox]").press("Space")
        elif control.locator("input[type=text]").count():
            control.locator("input[type=text]").fill(f"<b>what</b> about ${move}$?")
            control.locator("input[type=text]").press("Enter")
        notebook.page.wait_for_timeout(150)
        notebook.ready()
    for text in control.locator("input[type=text]").all():
        text.fill("")
        text.press("Enter")
    expect(explorer.locator(".vr-picture [data-error]")).to_have_count(0)
    return explorer.locator(".vr-picture").inner_html() != before
