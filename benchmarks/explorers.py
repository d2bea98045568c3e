"""From key press to new picture for every slider of every explorer, in a real JupyterLab in headless Chromium.

Each slider is measured over the server's own transport and at once after that over tools/fast_websocket.py, with two
servers and two pages open, so that a busy machine slows both alike. The presses over one transport are not interrupted:
after a pause TCP acknowledges at once for a while, which hides what the fast transport is for.
"""

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, Playwright, sync_playwright

from benchmarks.figures import beside, median, p95, ratio, table
from benchmarks.machine import running, temporary_folder
from tests.browser.conftest import FLAGS, NAMES, Lab, command, copy_of_the_course, environment, free_port, wait_for
from tests.browser.notebook_page import NotebookPage
from tools.source import NOTEBOOKS

PRESSES = 50
PACES = {"one at a time": 150, "in a row": 0}  # milliseconds from a picture to the next press
PROBE = 600  # milliseconds to wait for a picture that may not change
AIM = 100  # milliseconds, p95
NO_DELAY = "--ServerApp.kernel_websocket_connection_class=tools.fast_websocket.Connection"
NO_BROWSER = "No Chromium was found. Install it, or name it in the environment variable CHROMIUM."

# Arms the measurement of the next key press: milliseconds until the changed picture was painted, or -1 without one.
ARM = """([picture, patience]) => {
  const before = picture.innerHTML;
  let start;
  document.addEventListener('keydown', event => { start = event.timeStamp; }, {capture: true, once: true});
  window.vrMeasured = new Promise(resolve => {
    const seen = new MutationObserver(() => {
      if (picture.innerHTML === before) return;
      seen.disconnect();
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - start)));
    });
    seen.observe(picture, {subtree: true, childList: true, attributes: true, characterData: true});
    setTimeout(() => { seen.disconnect(); resolve(-1); }, patience);
  });
}"""


RIGHT, LEFT = "ArrowRight", "ArrowLeft"
OPPOSITE = {RIGHT: LEFT, LEFT: RIGHT}


class Unmeasurable(Exception):
    """A sentence on a slider whose presses cannot be measured: a missing answer must not count as a fast one."""


@dataclass(frozen=True)
class Slider:
    """A slider of an explorer in the page, and the picture it changes."""

    explorer: str
    name: str
    page: Page
    handle: Locator
    picture: Locator

    def press(self, key: str, patience: int = 5000) -> float | None:
        """Press a key; return milliseconds until the new picture, or None where there is none in time."""
        self.handle.focus()
        self.page.evaluate(ARM, [self.picture.element_handle(), patience])
        self.page.keyboard.press(key)
        measured = float(self.page.evaluate("() => window.vrMeasured"))
        error = self.picture.locator("[data-error]")
        if error.count():
            raise Unmeasurable(f"{key} leads to an error: {error.first.inner_text()[:140]}")
        return measured if measured >= 0 else None

    def lively_key(self) -> str:
        """Move to where a step to and fro changes the picture twice; return the key of the next step."""
        for key, steps in ((RIGHT, 12), (LEFT, 24)):
            for _ in range(steps):
                if self.press(key, PROBE) is None:
                    continue
                if self.press(OPPOSITE[key], PROBE) is not None:
                    return key
                self.press(key, PROBE)
        raise Unmeasurable("No step of this slider changes the picture.")

    def times(self, key: str, pause: int) -> list[float]:
        """Return the milliseconds of PRESSES presses to and fro, each of which changed the picture."""
        self.page.bring_to_front()
        times: list[float] = []
        for _ in range(PRESSES):
            self.page.wait_for_timeout(pause)
            time = self.press(key)
            if time is None:
                raise Unmeasurable(f"{key} no longer changed the picture.")
            times.append(time)
            key = OPPOSITE[key]
        return times


def slider_names(card: Locator) -> list[str]:
    """Return the names of an explorer's sliders, from the classes of its controls."""
    return [
        name.removeprefix("vr-control-")
        for control in card.locator("[class*='vr-control-']:has(.noUi-handle)").all()
        for name in (control.get_attribute("class") or "").split()
        if name.startswith("vr-control-")
    ]


def sliders_of(page: Page, lab: Lab, name: str) -> list[Slider]:
    """Open a notebook, run all of it, and return each slider of each explorer."""
    notebook = NotebookPage(page, lab.address(f"{name}.ipynb"), lab.url)
    notebook.run_all()
    page.wait_for_timeout(1000)  # the last widgets are drawn after the last cell
    found: list[Slider] = []
    for number, picture in enumerate(notebook.root.locator(".vr-picture").all(), start=1):
        card = picture.locator("xpath=ancestor::*[contains(concat(' ', @class, ' '), ' vr-card ')][1]")
        explorer = f"{number}: {card.locator('.vr-title').first.inner_text()}"
        for slider in slider_names(card):
            handle = card.locator(f".vr-control-{slider} .noUi-handle")
            found.append(Slider(explorer, slider, page, handle, picture))
    return found


def row(start: list[str], own: list[float], fast: list[float]) -> list[str]:
    """Return one line of the table: the server's own transport beside the fast one."""
    halves = [[f"{median(one):.0f}", beside(p95(one), AIM)] for one in (own, fast)]
    return [*start, *halves[0], *halves[1], ratio(median(own), median(fast)), ratio(p95(own), p95(fast))]


def rows_of(name: str, own: Slider, fast: Slider) -> tuple[list[list[str]], list[str]]:
    """Return the lines of one slider, one for each pace, or a sentence on why there are none."""
    try:
        pairs = [(own, own.lively_key()), (fast, fast.lively_key())]
        found = {pace: [one.times(key, pause) for one, key in pairs] for pace, pause in PACES.items()}
    except Unmeasurable as problem:
        return [], [f"Not measured: {name}, explorer {own.explorer}, {own.name}. {problem}"]
    return [row([name, own.explorer, own.name, pace], *times) for pace, times in found.items()], []


@contextmanager
def open_lab(*options: str) -> Iterator[Lab]:
    """Give a JupyterLab over a copy of the course, started with further options."""
    with temporary_folder() as folder:
        course = copy_of_the_course(folder / "course")
        settings = folder / "settings" / "@jupyterlab" / "apputils-extension"
        settings.mkdir(parents=True)
        (settings / "notification.jupyterlab-settings").write_text(json.dumps({"fetchNews": "false"}))
        port, token, log = free_port(), secrets.token_hex(16), folder / "server.log"
        with running([*command(course, port, token), *options], log, env=environment(folder)) as server:
            wait_for(f"http://127.0.0.1:{port}/api/status?token={token}", server, log)
            yield Lab(f"http://127.0.0.1:{port}", token, course)


@contextmanager
def open_page(chromium: str, playwright: Playwright) -> Iterator[Page]:
    """Give an empty page in a headless Chromium of its own."""
    flags = [*FLAGS, "--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else FLAGS
    browser = playwright.chromium.launch(executable_path=chromium, headless=True, args=flags)
    try:
        yield browser.new_page(viewport={"width": 1280, "height": 1000})
    finally:
        browser.close()


def measure(chromium: str, names: list[str]) -> tuple[list[list[str]], list[str]]:
    """Measure the named notebooks; return the table's lines and a sentence for each slider without one."""
    rows: list[list[str]] = []
    problems: list[str] = []
    with open_lab() as own, open_lab(NO_DELAY) as fast, sync_playwright() as playwright:
        for name in names:
            with open_page(chromium, playwright) as page, open_page(chromium, playwright) as other:
                for pair in zip(sliders_of(page, own, name), sliders_of(other, fast, name), strict=True):
                    lines, sentences = rows_of(name, *pair)
                    rows += lines
                    problems += sentences
    return rows, problems


def report(full: bool = False) -> str:
    """Measure every explorer over both transports and return the table."""
    chromium = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if chromium is None:
        return NO_BROWSER
    rows, problems = measure(chromium, sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")))
    header = ["notebook", "explorer", "slider", "presses", "median, ms", "p95, ms"]
    header += ["no delay: median", "p95, ms", "ratio of medians", "of p95"]
    note = (
        f"{PRESSES} presses a line, to and fro, each of which changed the picture; until two frames after the change."
    )
    return "\n".join([table(header, rows), note, *problems])
