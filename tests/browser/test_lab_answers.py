"""What a reader changes from a result: cells of a table, inputs of queries; and the words that panels explain."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from panel_kit import opened, serious_issues
from playwright.sync_api import expect
from waits import text_of

if TYPE_CHECKING:
    from pathlib import Path

    from lab_kit import Lab, Notebook

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

CELLS = [
    "%load_ext paimon_nb\n%paimon connect warehouse",
    "%%paimon\nSELECT id, status FROM orders WHERE id < 30",
    "%paimon input who = choice('new', 'paid', 'nobody')",
    "%%paimon\nSELECT count(*) AS n, :who AS asked FROM orders WHERE status = :who",
    "%%paimon\nINSERT INTO orders SELECT 90000, :who, NULL",
    "%paimon doctor ill",
    "%paimon lsm orders",
]
EDITED, INPUT, READS, WRITES, DOCTOR, LSM = range(1, 7)


@pytest.fixture(scope="module")
def shown(notebook: Notebook, lab: Lab, tables: Path) -> Notebook:
    shutil.copytree(tables, lab.root / "warehouse")
    return opened(notebook, lab, "answers.ipynb", CELLS, wait_ms=120_000)


def test_a_cell_is_edited_by_keyboard_and_by_mouse_written_and_undone(shown: Notebook) -> None:
    grid, keyboard = shown.output(EDITED).locator(".pnb.datagrid"), shown.page.keyboard
    cell = grid.locator('.dg-c[data-row="1"][data-at="1"]')
    before = text_of(cell)
    cell.click()
    expect(cell).to_have_class(re.compile("here"))
    keyboard.press("F2")
    form = shown.page.get_by_role("dialog", name="edit status")
    expect(form.get_by_label("new value of status")).to_have_value(before)
    keyboard.type("typed")
    keyboard.press("Enter")
    expect(cell).to_have_text("typed")
    grid.locator('.dg-c[data-row="0"][data-at="0"]').click(button="right")
    shown.page.get_by_role("menuitem", name="Edit …").click()
    shown.page.get_by_label("new value of id").fill("5")
    shown.page.get_by_role("button", name="Change", exact=True).click()
    expect(shown.page.get_by_role("dialog", name="edit id").get_by_role("alert")).to_contain_text("primary key")
    keyboard.press("Escape")
    grid.get_by_role("button", name="Show the UPDATE").click()
    expect(grid.locator(".dg-edits pre")).to_contain_text("SET status = 'typed' WHERE id = ")
    keyboard.press("Enter")  # the focus is on the button that writes
    expect(grid.locator(".dg-edits")).to_contain_text("written in snapshot")
    assert serious_issues(shown, EDITED) == []
    grid.get_by_role("button", name="Undo").click()
    expect(grid.locator(".dg-edits")).to_contain_text("rolled back to snapshot")
    expect(cell).to_have_text(before)


def test_an_input_runs_the_cells_that_read_with_it(shown: Notebook) -> None:
    grid = shown.output(READS).locator(".pnb.datagrid")
    expect(grid.locator('.dg-c[data-row="0"][data-at="1"]')).to_have_text("new")
    written = "1 row inserted into default.orders in snapshot 15"
    expect(shown.output(WRITES)).to_contain_text(written)
    control = shown.output(INPUT).locator("select")
    control.focus()
    control.select_option(label="nobody")
    expect(grid.locator('.dg-c[data-row="0"][data-at="0"]')).to_have_text("0")
    expect(grid.locator('.dg-c[data-row="0"][data-at="1"]')).to_have_text("nobody")
    expect(shown.output(WRITES)).to_contain_text(written)  # it has not run again
    assert serious_issues(shown, INPUT) == []


def test_words_are_explained_and_a_cure_is_inserted(shown: Notebook) -> None:
    term = shown.output(LSM).locator(".term").first
    term.focus()
    card = shown.output(LSM).get_by_role("tooltip")
    expect(card).to_be_visible()
    expect(card.locator("svg rect").first).to_be_visible()
    assert serious_issues(shown, LSM) == []
    shown.page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    shown.output(DOCTOR).get_by_role("button", name="Fix it: rollback to …").click()
    expect(shown.page.locator(".jp-CodeCell").nth(DOCTOR + 1)).to_contain_text("CALL sys.rollback_to('default.ill', 2)")
