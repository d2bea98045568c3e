"""One notebook open in JupyterLab, with the few things a learner does there."""

from pathlib import Path

from playwright.sync_api import Locator, Page, expect

# The toolbar says idle before the kernel is connected, and Run All then loses cells without a word.
KERNEL_READY = """async () => {
  const start = Date.now();
  while (Date.now() - start < 60000) {
    const panel = window.jupyterapp.shell.currentWidget, session = panel?.context?.sessionContext;
    const kernel = session?.session?.kernel;
    if (panel?.context?.isReady && session?.isReady && kernel?.status === 'idle' &&
        kernel?.connectionStatus === 'connected') return true;
    await new Promise(done => setTimeout(done, 50));
  }
  throw new Error('the kernel was not ready within a minute');
}"""

ALL_CELLS_IN_THE_PAGE = """async () => {
  const panel = window.jupyterapp.shell.currentWidget;
  panel.content.notebookConfig = {...panel.content.notebookConfig, windowingMode: 'none'};
  await panel.context.ready;
}"""


class NotebookPage:
    """The open notebook. `errors` collects what the browser's console reports, `elsewhere` requests to other hosts."""

    def __init__(self, page: Page, address: str, home: str) -> None:
        self.page = page
        self.errors: list[str] = []
        self.elsewhere: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on(
            "request", lambda r: None if r.url.startswith((home, "data:", "blob:")) else self.elsewhere.append(r.url)
        )
        page.goto(address, wait_until="domcontentloaded")
        self.root = page.locator(".jp-NotebookPanel:visible")
        self.root.wait_for(timeout=60_000)
        page.locator("#jupyterlab-splash").wait_for(state="detached", timeout=60_000)
        self.ready()
        page.evaluate(ALL_CELLS_IN_THE_PAGE)

    def ready(self) -> None:
        self.page.evaluate(KERNEL_READY)

    def command(self, name: str) -> None:
        self.page.evaluate(f"async () => {{ await window.jupyterapp.commands.execute('{name}') }}")

    def run_all(self) -> None:
        self.command("notebook:run-all-cells")
        self.ready()

    def restart(self) -> None:
        self.page.evaluate(
            "async () => { const p = window.jupyterapp.shell.currentWidget; "
            "await p.context.sessionContext.restartKernel(); }"
        )
        self.ready()

    def cell(self, code: str) -> Locator:
        """Return the code cell whose source holds `code`."""
        return (
            self.root.locator(".jp-CodeCell").filter(has=self.page.locator(".jp-InputArea-editor", has_text=code)).first
        )

    def output(self, code: str) -> Locator:
        return self.cell(code).locator(".jp-OutputArea-output").last

    def run(self, code: str) -> Locator:
        """Run the cell whose source holds `code` with the keyboard, wait for it, and return its output."""
        cell = self.cell(code)
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_timeout(100)
        self.ready()
        expect(cell.locator(".jp-InputPrompt")).not_to_contain_text("*", timeout=60_000)
        return self.output(code)

    def write(self, code: str, source: str) -> None:
        """Replace the source of the cell that holds `code`."""
        self.cell(code).locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(source)

    def shot(self, target: Locator, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        target.scroll_into_view_if_needed()
        target.screenshot(path=str(path))
