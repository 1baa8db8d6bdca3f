"""What a page shows when its kernel restarts or dies: panels keep their last picture and say that they answer no more."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from lab_kit import KernelConnections
from panel_kit import opened, serious_issues
from playwright.sync_api import expect

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
ENDED = "The kernel has restarted: this panel keeps its last state. To use it, run the cells that load paimon_nb and connect, then this cell."
LIVE_CONTROLS = (
    "e => [...e.querySelectorAll('.pnb :is(button, input, select, textarea)')].filter((c) => !c.disabled).length"
)


@pytest.fixture(scope="module")
def shown(notebook: Notebook, lab: Lab, tables: Path) -> Notebook:
    """The notebook after Run All, as the first test leaves it, too."""
    shutil.copytree(tables, lab.root / "warehouse")
    return opened(notebook, lab, "kernel.ipynb", CELLS)


def said(shown: Notebook, cell: int) -> None:
    output = shown.output(cell)
    expect(output.locator(".lost")).to_have_text(ENDED, timeout=60_000)
    assert output.evaluate(LIVE_CONTROLS) == 0, CELLS[cell]


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
        expect(shown.output(cell).locator(".lost")).to_have_count(0, timeout=60_000)
        shown.output(cell).locator(".pnb").wait_for(timeout=60_000)
    shown.output(3).get_by_role("slider").press("ArrowLeft")
    expect(shown.output(3).get_by_text("VERSION AS OF 13")).to_be_visible()


def test_every_panel_says_that_its_kernel_has_died(shown: Notebook) -> None:
    shown.kill_kernel()
    for cell in PANELS:
        said(shown, cell)
    shown.page.get_by_role("button", name="Ok").click()  # JupyterLab's own message lies over the page


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
        expect(shown.output(cell).locator(".lost")).to_have_count(0, timeout=60_000)
    shown.output(3).get_by_role("slider").press("ArrowLeft")
    expect(shown.output(3).get_by_text("VERSION AS OF 13")).to_be_visible()
