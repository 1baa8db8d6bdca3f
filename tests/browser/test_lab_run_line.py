"""The line below a running statement in a real JupyterLab: its Cancel button stops Spark, by mouse and by keyboard."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from panel_kit import serious_issues, write_notebook
from playwright.sync_api import expect
from waits import text_of

if TYPE_CHECKING:
    from pathlib import Path

    from lab_kit import Lab, Notebook
    from playwright.sync_api import Locator

pytestmark = [pytest.mark.browser, pytest.mark.spark, pytest.mark.nightly]

# 100,000 rows, each of which sleeps: longer than any test.
INSERT = (
    "%%paimon\nINSERT INTO orders\n"
    "SELECT 90000 + id, reflect('java.lang.Thread', 'sleep', bigint(50)), 1.00 FROM range(0, 100000, 1, 2000)"
)
CELLS = ("%load_ext paimon_nb\n%paimon connect warehouse", "%paimon SELECT COUNT(*) FROM range(3)", INSERT)
INSERTING = 2
RUN = """i => {
  const app = window.jupyterapp;
  app.shell.currentWidget.content.activeCellIndex = i;
  app.commands.execute("notebook:run-cell");  // not waited for
}"""
SPARK_MS = 180_000
"""Spark starts in the first of the cells."""


@pytest.fixture(scope="module")
def connected(notebook: Notebook, lab: Lab, tables: Path) -> Notebook:
    """A notebook whose kernel has Spark."""
    shutil.copytree(tables, lab.root / "warehouse")
    write_notebook(lab, "cancel.ipynb", CELLS)
    notebook.open(lab, "cancel.ipynb")
    for cell in range(INSERTING):
        notebook.page.evaluate(RUN, cell)
    expect(notebook.output(INSERTING - 1)).to_contain_text("Starting Spark", timeout=SPARK_MS)
    expect(notebook.output(INSERTING - 1)).not_to_contain_text("Starting Spark", timeout=SPARK_MS)
    return notebook


@pytest.fixture
def running(connected: Notebook) -> Notebook:
    """A notebook in which Spark inserts rows."""
    connected.page.evaluate(RUN, INSERTING)
    progress = re.compile(r"^\s*INSERT INTO orders · .*\d+ % .*\d:\d\d$")
    expect(line_of(connected)).to_have_text(progress, timeout=SPARK_MS)
    return connected


def line_of(shown: Notebook) -> Locator:
    return shown.output(INSERTING).get_by_role("status")


def cancel_button(shown: Notebook) -> Locator:
    return shown.output(INSERTING).get_by_role("button", name="Cancel")


def was_cancelled(shown: Notebook, lab: Lab) -> None:
    """The cell says it, the line is gone, and the table has its rows and no new snapshot."""
    import paimon_nb

    expect(shown.output(INSERTING)).to_contain_text("Cancelled", timeout=60_000)
    expect(cancel_button(shown)).to_have_count(0)
    expect(shown.page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]')).to_have_count(1)
    with paimon_nb.connect(str(lab.root / "warehouse")) as wb:
        table = wb.table("orders")
        found = table.latest_snapshot()
        assert found is not None
        assert found.id == 14
        assert table.to_arrow(where="id >= 90000").num_rows == 0


def test_a_click_on_cancel_stops_an_insert(running: Notebook, lab: Lab) -> None:
    assert serious_issues(running, INSERTING) == []
    cancel_button(running).click()
    was_cancelled(running, lab)


def test_enter_on_cancel_stops_an_insert(running: Notebook, lab: Lab) -> None:
    cancel_button(running).focus()
    before = text_of(line_of(running))
    expect(line_of(running)).not_to_have_text(before)  # drawn again, with the focus on its new button
    expect(cancel_button(running)).to_be_focused()
    running.page.keyboard.press("Enter")
    was_cancelled(running, lab)
