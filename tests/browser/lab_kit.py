"""What a reader can do with a notebook in a browser."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Page

REPO = Path(__file__).parents[2]


CLOSE_ALL = """
async () => {
  const app = window.jupyterapp;
  if (!app) return;
  for (const widget of [...app.shell.widgets("main")]) widget.dispose();
  await app.serviceManager.sessions.shutdownAll();
}
"""


CLOSE_OTHERS = """
() => {
  const shell = window.jupyterapp.shell;
  for (const widget of [...shell.widgets("main")]) if (widget !== shell.currentWidget) widget.dispose();
}
"""
"""JupyterLab shows its launcher where nothing is open."""


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab."""

    url: str
    root: Path
    """Where the notebooks lie."""
    folder: str
    """The same, as the server names it."""


class Notebook:
    """One notebook in one page: what a reader can do with it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._loaded = False
        self.alerts: list[str] = []
        """What scripts of others said: a text that came alive."""
        page.on("dialog", self._heard)

    def _heard(self, dialog: Dialog) -> None:
        if dialog.type == "alert":
            self.alerts.append(dialog.message)
        dialog.accept()  # a page with unsaved cells asks whether to leave it

    def open(self, lab: Lab, name: str, reload: bool = False) -> None:
        """Alone on the page. JupyterLab itself is loaded once; `reload`: anew, as after F5."""
        if reload or not self._loaded:
            self.page.goto(f"{lab.url}/lab/tree/{lab.folder}/{name}?reset")
            self._loaded = True
        else:
            self.close_all()
            self.command("docmanager:open", path=f"{lab.folder}/{name}")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
        # The notebook is drawn before JupyterLab makes it the current widget.
        self.page.wait_for_function("() => window.jupyterapp.shell.currentWidget?.sessionContext", timeout=60_000)
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.ready.then(() => null)")
        self.page.wait_for_selector('.jp-Notebook-ExecutionIndicator[data-status="idle"]', timeout=60_000)
        self._dismiss()
        self.page.evaluate(CLOSE_OTHERS)

    def forget_page(self) -> None:
        """The next notebook loads JupyterLab again."""
        self._loaded = False

    def close_all(self) -> None:
        """Leave nothing open and no kernel running; nobody is asked whether to save."""
        self.page.evaluate(CLOSE_ALL)

    def _dismiss(self) -> None:
        """The offer of news would stand in the pictures."""
        for button in self.page.locator(".jp-toast-button:has-text('No'), .Toastify__close-button").all():
            button.click()

    def run_all(self) -> None:
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_text("Run All Cells", exact=True).click()

    def command(self, name: str, **arguments: Any) -> None:
        """One of Lab's own commands."""
        self.page.evaluate("([n, a]) => window.jupyterapp.commands.execute(n, a).then(() => null)", [name, arguments])

    def theme(self, name: str) -> None:
        self.command("apputils:change-theme", theme=name)
        light = str(name == "JupyterLab Light").lower()
        self.page.wait_for_function(f"() => document.body.dataset.jpThemeLight === '{light}'")
        self.page.wait_for_timeout(600)  # the theme's style sheet loads after its name is set

    def output(self, cell: int) -> Any:
        """The output area of a code cell, counted from 0."""
        return self.page.locator(".jp-CodeCell").nth(cell).locator(".jp-OutputArea-output").last
