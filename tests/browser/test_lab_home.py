"""The home card in a real JupyterLab: by mouse and by keyboard, hostile names, both themes, narrow and wide."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from panel_kit import least_contrast, live_nodes_of, opened, serious_issues
from playwright.sync_api import expect
from waits import box_of, expect_no_overflow

if TYPE_CHECKING:
    from pathlib import Path

    from lab_kit import Lab, Notebook

pytestmark = pytest.mark.browser

CELLS = ("%load_ext paimon_nb\n%paimon connect warehouse", "%paimon")
HOME = 1


@pytest.fixture(scope="module")
def shown(notebook: Notebook, lab: Lab, tables: Path) -> Notebook:
    shutil.copytree(tables, lab.root / "warehouse")
    return opened(notebook, lab, "home.ipynb", CELLS)


@pytest.mark.nightly
def test_tables_and_commits_are_listed(shown: Notebook) -> None:
    home = shown.output(HOME)
    orders = home.get_by_role("table", name="tables").get_by_role("row").filter(has_text="orders")
    expect(orders).to_contain_text("primary-key table · deduplicate · 1 bucket")
    expect(orders).to_contain_text("30,961")
    buttons = [home.get_by_role("button", name=f"{what} orders") for what in ("query", "explore")]
    side_by_side = "([a, b]) => a.getBoundingClientRect().top === b.getBoundingClientRect().top"  # in a low row
    shown.page.wait_for_function(side_by_side, arg=[b.element_handle() for b in buttons])
    explore, box = box_of(buttons[1]), box_of(home)
    assert explore["x"] + explore["width"] <= box["x"] + box["width"]
    expect(home.get_by_role("table", name="recent commits").get_by_role("row")).to_have_count(9)
    assert live_nodes_of(shown, HOME) == []


@pytest.mark.nightly
def test_a_table_is_opened_by_mouse_and_queried_by_keyboard(shown: Notebook) -> None:
    home, cells = shown.output(HOME), shown.page.locator(".jp-CodeCell")
    home.get_by_role("button", name="explore orders").click()
    expect(shown.output(HOME + 1).locator(".tiles")).to_contain_text("physical rows")
    shown.command("notebook:delete-cell")
    expect(cells).to_have_count(2)
    home.get_by_role("button", name="query orders").focus()
    shown.page.keyboard.press("Enter")
    expect(cells).to_have_count(3)
    expect(cells.nth(HOME + 1).locator(".cm-content")).to_contain_text(re.compile("SELECT .* FROM orders"))
    cells.nth(HOME + 1).locator(".cm-content").press("Control+Enter")
    expect(shown.output(HOME + 1).locator(".dg-foot output")).to_contain_text("rows")
    shown.command("notebook:delete-cell")
    expect(cells).to_have_count(2)


@pytest.mark.nightly
def test_the_form_of_a_new_table_opens(shown: Notebook) -> None:
    shown.output(HOME).get_by_role("button", name="New table").click()
    expect(shown.output(HOME + 1).locator("pre.ddl")).to_contain_text("CREATE TABLE")
    shown.command("notebook:delete-cell")
    expect(shown.page.locator(".jp-CodeCell")).to_have_count(len(CELLS))
    shown.output(HOME).get_by_role("button", name="Load a file").click()
    expect(shown.page.locator(".jp-CodeCell").nth(HOME + 1).locator(".cm-content")).to_have_text(
        "%paimon load FILE.csv"
    )
    shown.command("notebook:delete-cell")
    expect(shown.page.locator(".jp-CodeCell")).to_have_count(len(CELLS))


@pytest.mark.nightly
@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"], ids=["light", "dark"])
def test_it_is_legible_and_accessible(shown: Notebook, theme: str) -> None:
    shown.theme(theme)
    least, text = least_contrast(shown, HOME)
    assert least >= 4.5, (text, least)
    assert serious_issues(shown, HOME) == []


@pytest.mark.nightly
@pytest.mark.parametrize("width", [900, *(pytest.param(width, marks=pytest.mark.nightly) for width in (1280, 1920))])
def test_it_keeps_within_the_page(shown: Notebook, width: int) -> None:
    shown.page.set_viewport_size({"width": width, "height": 900})
    try:
        expect_no_overflow(shown, (HOME,))
    finally:
        shown.page.set_viewport_size({"width": 1180, "height": 1000})
