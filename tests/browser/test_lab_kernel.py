"""What a page shows when its kernel restarts or dies: panels keep their last picture and say that they answer no more."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from lab_kit import KernelConnections
from panel_kit import opened, serious_issues, write_notebook
from playwright.sync_api import expect
from waits import settled

if TYPE_CHECKING:
    from pathlib import Path

    from lab_kit import Lab, Notebook

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

CELLS = (
    "%load_ext paimon_nb\n%paimon connect warehouse",
    "%%paimon\nSELECT * FROM orders ORDER BY id",
    "%paimon explore orders",
    "%paimon timeline orders",
    "%paimon lsm orders",
    "%paimon compact orders",
    "%paimon skip orders",
    "%paimon why carts id=7",
    "%paimon compare orders 11 13",
    "%paimon create visits",
    "%paimon live orders",
    "%paimon jobs",
)
PANELS = range(1, len(CELLS))
ENDED = "The kernel has restarted: this panel keeps its last state. Connect and show again"
LIVE_CONTROLS = (
    "e => [...e.querySelectorAll('.pnb :is(button, input, select, textarea)')].filter((c) => !c.disabled)"
    ".map((c) => c.textContent)"
)


@pytest.fixture(scope="module")
def shown(notebook: Notebook, lab: Lab, tables: Path) -> Notebook:
    """The notebook after Run All, as the first test leaves it, too."""
    shutil.copytree(tables, lab.root / "warehouse")
    return opened(notebook, lab, "kernel.ipynb", CELLS)


def said(shown: Notebook, cell: int) -> None:
    output = shown.output(cell)
    expect(output.locator(".lost")).to_have_text(ENDED)
    assert settled(shown.page, lambda: list(output.evaluate(LIVE_CONTROLS))) == ["Connect and show again"], CELLS[cell]


def test_every_panel_says_that_its_kernel_has_restarted(shown: Notebook) -> None:
    expect(shown.output(4).locator(".file")).not_to_have_count(0)
    shown.restart_kernel()
    for cell in PANELS:
        said(shown, cell)
    expect(shown.output(4).locator(".file")).not_to_have_count(0)  # the picture stays
    for cell in (1, 2, 4):
        assert serious_issues(shown, cell) == [], CELLS[cell]
    shown.page.evaluate("() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 0; }")
    shown.run_all()
    for cell in PANELS:
        expect(shown.output(cell).locator(".lost")).to_have_count(0)
        shown.output(cell).locator(".pnb").wait_for()
    shown.output(3).get_by_role("slider").press("ArrowLeft")
    expect(shown.output(3).get_by_text("VERSION AS OF 13")).to_be_visible()


def test_every_panel_says_that_its_kernel_has_died(shown: Notebook) -> None:
    shown.kill_kernel()
    for cell in PANELS:
        said(shown, cell)
    shown.page.get_by_role("button", name="Ok").click()  # JupyterLab's own message lies over the page


def test_of_two_notebooks_only_that_of_the_dead_kernel_ends(shown: Notebook, lab: Lab) -> None:
    """Each panel of the dead kernel has one sentence and one button, which brings it back; the notebook beside it works on."""
    page, grids = shown.page, shown.page.locator(".pnb.datagrid")
    write_notebook(lab, "beside.ipynb", CELLS[:4])
    beside = shown.open_beside(lab, "beside.ipynb")
    expect(beside.locator(".jp-CodeCell")).to_have_count(4)
    shown.run_all()
    expect(beside.locator(".dg-r .dg-c").first).to_have_text("1")
    beside.get_by_role("slider").wait_for()
    shown.kill_kernel()
    for cell in PANELS:
        said(shown, cell)
    page.get_by_role("button", name="Ok").click()  # JupyterLab's own message lies over the page
    expect(beside.locator(".lost")).to_have_count(0)
    beside.locator(".dg-h .name").first.click()
    expect(beside.locator(".dg-h").first).to_have_attribute("aria-sort", "ascending")
    beside.get_by_role("slider").press("ArrowLeft")
    expect(beside.get_by_text("VERSION AS OF 13")).to_be_visible()

    for cell in PANELS:
        again = shown.output(cell).get_by_role("button", name="Connect and show again")
        again.press("Enter") if cell % 2 else again.click()
        expect(shown.output(cell).locator(".lost")).to_have_count(0)
        shown.output(cell).locator(".pnb").wait_for()
    expect(grids).to_have_count(2)
    grids.first.locator(".dg-h .name").first.click()
    expect(grids.first.locator(".dg-h").first).to_have_attribute("aria-sort", "ascending")
    expect(beside.locator(".lost")).to_have_count(0)


def test_every_panel_says_that_the_connection_is_lost_and_answers_again(
    notebook: Notebook, lab: Lab, tables: Path
) -> None:
    connections = KernelConnections(notebook)
    if not (lab.root / "warehouse").exists():
        shutil.copytree(tables, lab.root / "warehouse")
    shown = opened(notebook, lab, "offline.ipynb", CELLS)
    connections.lose()
    for cell in PANELS:
        expect(shown.output(cell).locator(".lost")).to_have_text(
            re.compile("^(Reconnecting to|No connection to) the kernel")
        )
    assert serious_issues(shown, 4) == []
    connections.allow()
    shown.command("kernelmenu:reconnect-to-kernel")
    for cell in PANELS:
        expect(shown.output(cell).locator(".lost")).to_have_count(0)
    shown.output(3).get_by_role("slider").press("ArrowLeft")
    expect(shown.output(3).get_by_text("VERSION AS OF 13")).to_be_visible()
