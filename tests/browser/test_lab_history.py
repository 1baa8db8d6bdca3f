"""The history below the timeline in a real JupyterLab: a snapshot is chosen, read, tagged and made the latest again."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from panel_kit import live_nodes_of, opened, serious_issues
from playwright.sync_api import expect
from waits import answered

if TYPE_CHECKING:
    from pathlib import Path

    from lab_kit import Lab, Notebook

pytestmark = pytest.mark.browser

CELLS = (
    "%load_ext paimon_nb\n%paimon connect warehouse",
    "%%paimon\nINSERT INTO orders VALUES (50001, 'new', 12.50)",
    "%paimon timeline orders",
    "%paimon timeline hostile",
    "wb = %paimon workbench\nimport pyarrow as pa\n"
    "many = wb.create_table('many', pa.table({'id': [0]}))\nfor i in range(44):\n    _ = many.append(pa.table({'id': [i]}))\n"
    "many.timeline()",
)
TIMELINE, HOSTILE, MANY = 2, 3, 4


@pytest.fixture(scope="module")
def shown(notebook: Notebook, lab: Lab, tables: Path) -> Notebook:
    """The notebook after Run All."""
    shutil.copytree(tables, lab.root / "warehouse")
    return opened(notebook, lab, "history.ipynb", CELLS)


@pytest.mark.nightly
def test_the_rows_are_legible_and_hold_no_live_text(shown: Notebook) -> None:
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        shown.theme(theme)
        shown.output(TIMELINE).get_by_role("button", name="select snapshot 13").click()
        expect(shown.output(TIMELINE).get_by_role("group", name="LSM tree of orders, snapshot 13")).to_be_visible()
        shown.output(TIMELINE).get_by_role("button", name="Roll back …").click()
        expect(shown.output(TIMELINE).get_by_role("alertdialog")).to_be_visible()
        for cell in (TIMELINE, HOSTILE):
            assert serious_issues(shown, cell) == []
        shown.page.keyboard.press("Escape")
        expect(shown.output(TIMELINE).get_by_role("alertdialog")).to_have_count(0)
    assert live_nodes_of(shown, HOSTILE) == []
    assert shown.alerts == []


@pytest.mark.nightly
def test_by_mouse_a_snapshot_is_chosen_and_read(shown: Notebook) -> None:
    output, page = shown.output(TIMELINE), shown.page
    first = output.locator(".history tbody tr").first
    expect(first).to_contain_text("INSERT INTO orders VALUES (50001, 'new', 12.50)")
    expect(output.locator(".history tbody tr")).to_have_count(15)
    output.locator(".history tbody tr").nth(3).click()
    expect(output.locator(".bar output").first).to_have_text("snapshot 12 · compact")
    expect(output.locator(".history tbody tr").nth(3)).to_have_class("chosen")
    cells = page.locator(".jp-CodeCell")
    output.get_by_role("button", name="Read").click()
    expect(cells).to_have_count(len(CELLS) + 1)
    expect(cells.nth(TIMELINE + 1)).to_contain_text("VERSION AS OF 12")
    shown.command("notebook:delete-cell")
    expect(cells).to_have_count(len(CELLS))
    output.get_by_role("button", name="Compare with previous").click()
    expect(shown.output(TIMELINE + 1).locator(".verdict")).to_contain_text("snapshot 11 → 12: ")  # it ran
    shown.command("notebook:delete-cell")
    expect(cells).to_have_count(len(CELLS))


@pytest.mark.nightly
def test_earlier_snapshots_are_shown_by_mouse_and_by_keyboard(shown: Notebook) -> None:
    output = shown.output(MANY)
    rows, latest = output.locator(".history tbody tr"), output.get_by_role("button", name="select snapshot 45")
    expect(latest).to_have_count(1)
    expect(rows).to_have_count(20)
    output.get_by_role("button", name="Show 20 more of 25 earlier snapshots").click()
    expect(rows).to_have_count(40)
    output.get_by_role("button", name="Show 5 more of 5 earlier snapshots").press("Enter")
    expect(rows).to_have_count(45)


@pytest.mark.nightly
def test_by_keyboard_a_snapshot_is_read_and_compared(shown: Notebook) -> None:
    output, cells = shown.output(TIMELINE), shown.page.locator(".jp-CodeCell")
    output.get_by_role("button", name="select snapshot 13").press("Enter")
    expect(output.locator(".bar output").first).to_have_text("snapshot 13 · append")
    output.get_by_role("button", name="Read").press("Enter")
    expect(cells).to_have_count(len(CELLS) + 1)
    expect(cells.nth(TIMELINE + 1)).to_contain_text("VERSION AS OF 13")
    shown.command("notebook:delete-cell")
    expect(cells).to_have_count(len(CELLS))
    output.get_by_role("button", name="Compare with previous").press("Enter")
    expect(shown.output(TIMELINE + 1).locator(".verdict")).to_contain_text("snapshot 12 → 13: ")
    shown.command("notebook:delete-cell")
    expect(cells).to_have_count(len(CELLS))


@pytest.mark.nightly
def test_by_keyboard_a_snapshot_is_tagged_and_rolled_back_to(shown: Notebook, lab: Lab) -> None:
    import paimon_nb

    output, page = shown.output(TIMELINE), shown.page
    output.get_by_role("button", name="select snapshot 12").focus()
    page.keyboard.press("ArrowDown")
    expect(output.get_by_role("button", name="select snapshot 11")).to_be_focused()
    expect(output.locator(".bar output").first).to_have_text("snapshot 11 · append")
    expect(output.locator(".bar b")).to_have_text("snapshot 11")
    output.get_by_role("button", name="Tag …").press("Enter")
    expect(output.get_by_label("name of the tag for snapshot 11")).to_be_focused()
    page.keyboard.type("checked")
    page.keyboard.press("Enter")
    expect(output.locator(".history-said")).to_have_text("Tag 'checked' created for snapshot 11.")
    output.get_by_role("button", name="Roll back …").press("Enter")
    dialog = output.get_by_role("alertdialog")
    expect(dialog).to_contain_text("Snapshots 12 to 15 (4) are deleted")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Tab")
    expect(dialog.get_by_role("button", name="Roll back to snapshot 11")).to_be_focused()
    page.keyboard.press("Enter")
    expect(output.locator(".history-said")).to_have_text("Rolled back to snapshot 11.")
    expect(output.locator(".history tbody tr")).to_have_count(11)
    expect(output.get_by_role("button", name="Roll back …")).to_be_disabled()
    with paimon_nb.connect(str(lab.root / "warehouse")) as wb:
        found = wb.table("orders").latest_snapshot()
        assert found is not None
        assert found.id == 11


@pytest.mark.nightly
def test_by_mouse_a_snapshot_is_tagged_and_rolled_back_to(shown: Notebook, lab: Lab) -> None:
    import paimon_nb

    output = shown.output(MANY)
    output.get_by_role("button", name="select snapshot 43").click()
    expect(output.locator(".bar b")).to_have_text("snapshot 43")
    output.get_by_role("button", name="Tag …").click()
    output.get_by_label("name of the tag for snapshot 43").fill("kept")
    output.get_by_role("button", name="Create tag").click()
    expect(output.locator(".history-said")).to_have_text("Tag 'kept' created for snapshot 43.")
    roll_back = output.get_by_role("button", name="Roll back …")
    roll_back.click()
    dialog = output.get_by_role("alertdialog")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    roll_back.click()
    dialog.get_by_role("button", name="Roll back to snapshot 43").click()
    expect(output.locator(".history-said")).to_have_text("Rolled back to snapshot 43.")
    with paimon_nb.connect(str(lab.root / "warehouse")) as wb:
        found = wb.table("many").latest_snapshot()
        assert found is not None
        assert found.id == 43


@pytest.mark.nightly
def test_a_click_goes_on_while_its_button_is_drawn_anew(shown: Notebook) -> None:
    output = shown.output(MANY)
    body, button = output.locator(".history tbody"), output.get_by_role("button", name="Roll back …")
    for snapshot in (41, 27):
        output.get_by_role("button", name=f"select snapshot {snapshot}").click()
        expect(output.locator(".bar output").first).to_contain_text(f"snapshot {snapshot}")
        if snapshot == 41:  # the flags of tags get a row, which moves what is below
            assert shown.execute("Out[5].create_tag('first-one')") == "ok"
            expect(body).to_contain_text("first-one")
    button.hover()
    shown.page.mouse.down()
    assert shown.execute("Out[5].create_tag('while-down')") == "ok"
    answered(shown)  # the new state is on the page; nobody lets go in time for it
    shown.page.mouse.up()
    expect(output.get_by_role("alertdialog")).to_be_visible()
    expect(body).to_contain_text("while-down")
    shown.page.keyboard.press("Escape")
    expect(output.get_by_role("alertdialog")).to_have_count(0)
