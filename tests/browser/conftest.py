"""A real JupyterLab in headless Chromium, over a copy of the course, so that nothing of the learner's is touched."""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from .notebook_page import NotebookPage

ROOT = Path(__file__).parents[2]
SHOTS = ROOT / "test-screenshots"
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's path. Without one the tests are skipped with a sentence, except where CI has said it is there."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        sentence = "No Chromium was found. Install it, or name it in the environment variable CHROMIUM."
        if os.environ.get("COURSE_REQUIRE_BROWSER"):
            pytest.fail(sentence)
        pytest.skip(sentence)
    return found


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab."""

    url: str
    token: str
    course: Path

    def address(self, notebook: str) -> str:
        return f"{self.url}/lab/tree/notebooks/{notebook}?token={self.token}&reset"


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def copy_of_the_course(target: Path) -> Path:
    """Copy what a learner's JupyterLab needs: notebooks, package, data."""
    for name in ("notebooks", "course_lib", "data"):
        shutil.copytree(
            ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__", "my_record*", "*.part")
        )
    return target


@pytest.fixture(params=["JupyterLab Light", "JupyterLab Dark"], ids=["light", "dark"])
def theme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def lab(tmp_path: Path, theme: str) -> Iterator[Lab]:
    course = copy_of_the_course(tmp_path / "Mein Kurs ü")
    settings = tmp_path / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "themes.jupyterlab-settings").write_text(json.dumps({"theme": theme}), encoding="utf-8")
    (settings / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}', encoding="utf-8")
    port, token = free_port(), secrets.token_hex(16)
    log = (tmp_path / "server.log").open("w", encoding="utf-8")
    server = subprocess.Popen(
        command(course, port, token),
        env=environment(tmp_path),
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/api/status?token={token}", server, tmp_path / "server.log")
        yield Lab(f"http://127.0.0.1:{port}", token, course)
    finally:
        stop(server)
        log.close()


def command(course: Path, port: int, token: str) -> list[str]:
    root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={token}",
        f"--ServerApp.root_dir={course}",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.extension_manager=readonly",
        *root,
    ]


def environment(folder: Path) -> dict[str, str]:
    places = {"SETTINGS_DIR": "settings", "WORKSPACES_DIR": "workspaces"}
    lab_places = {f"JUPYTERLAB_{name}": str(folder / where) for name, where in places.items()}
    own = {"JUPYTER_RUNTIME_DIR": "runtime", "JUPYTER_CONFIG_DIR": "config", "IPYTHONDIR": "ipython"}
    env = os.environ | lab_places | {name: str(folder / where) for name, where in own.items()}
    env.pop("COURSE_RECORD", None)  # the learner's own place for it, beside the notebooks
    return env


def wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8', errors='replace')[-3000:]}")


def stop(server: subprocess.Popen[bytes]) -> None:
    """End the server with its kernels; a process group of its own makes that one signal."""
    if os.name == "nt":
        server.terminate()
    else:
        os.killpg(server.pid, signal.SIGTERM)
    try:
        server.wait(15)
    except subprocess.TimeoutExpired:
        server.kill()


@pytest.fixture
def open_notebook(lab: Lab, chromium: str) -> Iterator[Callable[[str], NotebookPage]]:
    """Give a function that opens a notebook, by its name without ending, in the browser."""
    flags = [*FLAGS, "--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else FLAGS
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, headless=True, args=flags)
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        yield lambda name: NotebookPage(page, lab.address(f"{name}.ipynb"), lab.url)
        browser.close()


@pytest.fixture(scope="session", autouse=True)
def turn_sigterm_into_an_exit() -> Iterator[None]:
    """Without this a SIGTERM to the test runner skips the fixtures' endings and leaks server and kernel."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    yield
    signal.signal(signal.SIGTERM, before)
