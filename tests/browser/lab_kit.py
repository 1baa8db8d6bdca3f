"""What a reader can do with a notebook in a browser."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from waits import PATIENT_MS, at_rest

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Locator, Page, WebSocketRoute

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


CLOSE_NOTICES = "() => document.querySelectorAll('.Toastify__close-button').forEach((button) => button.click())"
"""They would stand in the pictures."""


IS_IN_FRONT = """name => {
  const widget = window.jupyterapp?.shell.currentWidget;
  return widget?.sessionContext && widget.context?.path.endsWith(name);
}"""


ALL_IS_DRAWN = """
() => window.jupyterapp.shell.currentWidget.content.widgets.every((cell) => cell.model.type !== "code" || !cell.model.sharedModel.getSource() || (
  cell.model.executionCount !== null && cell.model.executionState !== "running" && !cell.promptNode?.textContent.includes("*")
  && [...cell.node.querySelectorAll(".jp-OutputArea-output")].every((e) =>
    !e.textContent.includes("Loading widget") && [...e.querySelectorAll(".jupyter-widgets")].every((w) => w.childElementCount))
))
"""


THEME_IS_LOADED = """isLight => {
  if (document.body.dataset.jpThemeLight !== String(isLight)) return false;
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.color = "var(--jp-ui-font-color1)";
  const [r, g, b] = getComputedStyle(probe).color.match(/[\\d.]+/g).map(Number);
  probe.remove();
  return (r + g + b < 384) === isLight;
}"""
"""The theme's style sheet loads after its name is set."""


KERNEL = "window.jupyterapp.shell.widgets('main').next().value.sessionContext.session.kernel"
"""The kernel of the notebook, which is opened first; a tab beside it may be in front."""


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
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=2 * PATIENT_MS)
        # The notebook is drawn before JupyterLab makes it the current widget.
        self.page.wait_for_function(IS_IN_FRONT, arg=name, timeout=2 * PATIENT_MS)
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.ready.then(() => null)")
        self.page.wait_for_selector('.jp-Notebook-ExecutionIndicator[data-status="idle"]', timeout=2 * PATIENT_MS)
        self.page.evaluate(CLOSE_NOTICES)
        self.page.evaluate(CLOSE_OTHERS)

    def open_beside(self, lab: Lab, name: str) -> Locator:
        """Another notebook at the right of the one that is open; its panel, when its kernel is ready."""
        self.command("docmanager:open", path=f"{lab.folder}/{name}", options={"mode": "split-right"})
        self.page.wait_for_function(IS_IN_FRONT, arg=name, timeout=2 * PATIENT_MS)
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.ready.then(() => null)")
        idle = "() => window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'"
        self.page.wait_for_function(idle, timeout=2 * PATIENT_MS)  # a narrow toolbar hides its sign
        return self.page.locator(".jp-NotebookPanel").last

    def forget_page(self) -> None:
        """The next notebook loads JupyterLab again."""
        self._loaded = False

    def close_all(self) -> None:
        """Leave nothing open and no kernel running; nobody is asked whether to save."""
        self.page.evaluate(CLOSE_ALL)

    def run_all(self) -> None:
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.locator(".lm-Menu").get_by_text("Run All Cells", exact=True).click()

    def wait_for_outputs(self, wait_ms: int = PATIENT_MS) -> None:
        """Every code cell has ended, and every widget in an output is drawn."""
        self.page.wait_for_function(ALL_IS_DRAWN, timeout=wait_ms)
        at_rest(self.page)

    def command(self, name: str, **arguments: Any) -> None:
        """One of Lab's own commands."""
        self.page.evaluate("([n, a]) => window.jupyterapp.commands.execute(n, a).then(() => null)", [name, arguments])

    def theme(self, name: str) -> None:
        self.command("apputils:change-theme", theme=name)
        self.page.wait_for_function(THEME_IS_LOADED, arg=name == "JupyterLab Light")
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")  # it lies over the page
        at_rest(self.page)

    def output(self, cell: int) -> Any:
        """The output area of a code cell, counted from 0."""
        return self.page.locator(".jp-CodeCell").nth(cell).locator(".jp-OutputArea-output").last

    def execute(self, code: str) -> str:
        """Run code in the kernel, outside the notebook and its history. Its status: 'ok' or 'error'."""
        run = f"code => {KERNEL}.requestExecute({{code, store_history: false}}).done.then((m) => m.content.status)"
        return str(self.page.evaluate(run, code))

    def start(self, code: str) -> None:
        """Run code in the kernel and do not wait for its end."""
        self.page.evaluate(
            f"code => {{ {KERNEL}.requestExecute({{code, store_history: false}}).done.catch(() => null); }}", code
        )

    def execution_count(self) -> int:
        """The number of cells in the kernel's history."""
        count = f"async () => (await {KERNEL}.requestExecute({{code: '', silent: true}}).done).content.execution_count"
        return int(self.page.evaluate(count))

    def restart_kernel(self) -> None:
        self.page.evaluate(f"() => {KERNEL}.restart().then(() => null)")

    def interrupt_kernel(self) -> None:
        self.page.evaluate(f"() => {KERNEL}.interrupt().then(() => null)")

    def kill_kernel(self) -> None:
        """The process ends; JupyterLab starts another one."""
        self.start("import os; os._exit(1)")


class KernelConnections:
    """The connections of a page to kernels, which a test closes. JupyterLab must be loaded after it."""

    def __init__(self, notebook: Notebook) -> None:
        self._open: list[WebSocketRoute] = []
        self._refused = False
        notebook.page.route_web_socket(re.compile(r"/api/kernels/.*/channels"), self._connect)
        notebook.forget_page()  # routes hold for pages that are loaded afterwards

    def _connect(self, route: WebSocketRoute) -> None:
        if self._refused:
            route.close()
        else:
            route.connect_to_server()
            self._open.append(route)

    def lose(self) -> None:
        """Close all, and refuse new ones."""
        self._refused = True
        for connection in self._open:
            connection.close()

    def allow(self) -> None:
        """Accept new ones again."""
        self._refused = False
