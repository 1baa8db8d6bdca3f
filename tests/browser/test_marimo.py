"""Results and panels in a marimo app, which draws widgets in shadow roots."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from server_kit import absent, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.nightly

APP = """
import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo
    import paimon_nb

    wb = paimon_nb.connect("wh")
    wb.run("CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')")
    for n in range(6):
        wb.run(f"INSERT INTO t VALUES ({n}, 'v{n}'), (100, 'last {n}')")
    t = wb.table("t")
    return mo, t, wb


@app.cell
def _(wb):
    wb.run("SELECT id, v FROM t ORDER BY id")


@app.cell
def _(mo, t):
    tree = mo.ui.anywidget(t.show.lsm())
    tree
    return (tree,)


@app.cell
def _(mo, tree):
    mo.md("trouble: " + repr(tree.value["trouble"]))


@app.cell
def _(t):
    t.show.compaction()


@app.cell
def _(wb):
    wb.run("SHOW TABLES")
"""


@pytest.fixture
def app(tmp_path: Path) -> Iterator[str]:
    """The address of the running app."""
    if find_spec("marimo") is None:
        absent("marimo is not installed: pip install paimon-nb[test]")
    (tmp_path / "app.py").write_text(APP)
    port = free_port()
    command = [sys.executable, "-m", "marimo", "run", "app.py", "--headless", "--no-token", f"--port={port}", "--host=127.0.0.1"]  # fmt: skip
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(command, cwd=tmp_path, env={**os.environ, "NO_PROXY": "127.0.0.1"}, stdout=log, stderr=log)  # fmt: skip
        try:
            direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            for _ in range(200):
                try:
                    direct.open(f"http://127.0.0.1:{port}/health", timeout=2)
                    break
                except OSError:
                    time.sleep(0.2)
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.terminate()
            server.wait(timeout=20)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 1800})
    yield context.new_page()
    context.close()


def test_a_grid_a_chart_and_panels_work_in_marimo(app: str, page: Page) -> None:
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.goto(app)
    grid = page.locator(".pnb.datagrid")
    expect(grid.get_by_text("7 rows")).to_be_visible(timeout=60_000)

    # A click in a menu is a click inside it, though the document sees only the shadow root's host.
    grid.locator("button.menu").first.click()
    grid.get_by_role("menuitem", name="Filter …").click()
    grid.get_by_role("checkbox").first.check()
    grid.get_by_text("Only the ticked values").click()
    expect(grid.get_by_text("1 of 7 rows")).to_be_visible()
    grid.locator(".dg-bar").get_by_text("Chart", exact=True).click()
    expect(grid.locator(".dg-chart svg").first).to_be_visible()

    expect(page.get_by_text("trouble: ''")).to_be_visible()
    expect(page.get_by_text("merge 6 sorted runs")).to_be_visible()
    page.get_by_role("button", name="Compact everything").click()
    expect(page.get_by_text("snapshot 7").first).to_be_visible()
    expect(page.get_by_text("isTemporary")).to_be_visible()
    assert complaints == []
