"""The tabs beside a notebook show one table and one snapshot: by mouse and by keyboard, with a way back, over the end of a kernel."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest
from lab_kit import KernelConnections
from panel_kit import opened, overlapping_texts, serious_issues_of
from playwright.sync_api import expect
from waits import answered, at_rest, settled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab_kit import Lab, Notebook
    from playwright.sync_api import Locator

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

CELLS = ("%load_ext paimon_nb\n%paimon connect warehouse", "%paimon skip carts")
TITLES = """() => [...window.jupyterapp.shell.widgets('main')].filter((w) => w.id.startsWith('paimon-nb')).map((w) => w.title.label)"""
CLOSE_TABS = """() => [...window.jupyterapp.shell.widgets('main')].filter((w) => w.id.startsWith('paimon-nb')).forEach((w) => w.dispose())"""


@pytest.fixture(scope="module")
def shown(notebook: Notebook, lab: Lab, tables: Path) -> Iterator[Notebook]:
    shutil.copytree(tables, lab.root / "warehouse")
    shown = opened(notebook, lab, "workbench.ipynb", CELLS)
    shown.command("paimon-nb:catalog-show")
    yield shown
    shown.command("filebrowser:activate")


@pytest.fixture(autouse=True)
def no_tabs(shown: Notebook) -> Iterator[None]:
    yield
    shown.page.evaluate(CLOSE_TABS)


def line(shown: Notebook, name: str) -> Locator:
    return shown.page.locator(f'#paimon-nb-catalog [role=treeitem][aria-label^="{name}, table"]').first


PLACE = {
    "timeline": ".history",
    "rows": "[role=grid]",
    "lsm": ".pnb.lsm",
    "compact": ".verdict",
    "explore": ".pnb.explorer",
}


def tab(shown: Notebook, panel: str) -> Locator:
    """The content of the tab of a panel, whether it is in front or not."""
    return shown.page.locator(".pnb-cat-tab").filter(has=shown.page.locator(PLACE[panel]))


def chooser(tab: Locator, name: str) -> Locator:
    return tab.locator(f".pnb-cat-choosers label:has-text('{name}') > select")


def expect_titles(shown: Notebook, *expected: str) -> None:
    shown.page.wait_for_function(f"expected => JSON.stringify(({TITLES})().sort()) === expected", arg=as_json(expected))


def as_json(names: tuple[str, ...]) -> str:
    return json.dumps(sorted(names), separators=(",", ":"), ensure_ascii=False)


def open_workbench(shown: Notebook, name: str = "orders", rows: str = "the first 50 rows") -> None:
    """By keyboard: the last item of the menu of a table."""
    line(shown, name).press("Shift+F10")
    item = shown.page.locator(".pnb-cat-menu").get_by_role("menuitem", name="Open workbench")
    item.wait_for()
    shown.page.keyboard.press("o")
    at_rest(shown.page)
    while not item.evaluate("e => e.classList.contains('lm-mod-active')"):
        shown.page.keyboard.press("ArrowDown")
        at_rest(shown.page)
    shown.page.keyboard.press("Enter")
    tab(shown, "timeline").locator("button.play").wait_for()
    tab(shown, "rows").get_by_text(rows).wait_for()


def test_by_mouse_all_tabs_follow_a_choice_and_go_back(shown: Notebook) -> None:
    page = shown.page
    line(shown, "orders").click(button="right")
    page.locator(".pnb-cat-menu").get_by_text("Open workbench").click()
    expect_titles(shown, "Timeline: orders", "LSM tree: orders", "orders")
    timeline, rows, lsm = tab(shown, "timeline"), tab(shown, "rows"), tab(shown, "lsm")
    timeline.locator('.dot[data-snapshot="5"]').click()  # in a picture of the panel
    expect_titles(shown, "Timeline: orders", "LSM tree: orders", "orders at 5")
    for content in (timeline, rows, lsm):
        expect(chooser(content, "Snapshot")).to_have_value("5")
    expect(lsm.locator("output")).to_contain_text("snapshot 5 · append")
    chooser(rows, "Snapshot").select_option("7 month-end")  # in the line above a panel
    expect(lsm.locator("output")).to_contain_text("snapshot 7 · ")
    expect(timeline.get_by_text("VERSION AS OF 7")).to_be_visible()
    chooser(rows, "Table").select_option(label="carts")
    expect_titles(shown, "Timeline: carts", "LSM tree: carts", "carts")
    expect(lsm.locator("svg.tree-picture")).to_have_attribute("aria-label", "LSM tree of carts, snapshot 8")
    for content in (timeline, rows, lsm):
        expect(chooser(content, "Snapshot")).to_have_value("")
    back = rows.get_by_role("button", name="Back to the table and snapshot before")
    back.click()
    expect_titles(shown, "Timeline: orders", "LSM tree: orders", "orders at 7")
    rows.get_by_role("button", name="Forward again").click()
    expect_titles(shown, "Timeline: carts", "LSM tree: carts", "carts")
    line(shown, "sales").click()  # in the side bar
    expect_titles(shown, "Timeline: sales", "LSM tree: sales", "sales")


def test_by_keyboard_all_tabs_follow_a_choice_and_go_back(shown: Notebook) -> None:
    page = shown.page
    open_workbench(shown)
    timeline, lsm = tab(shown, "timeline"), tab(shown, "lsm")
    slider = timeline.get_by_role("slider", name="snapshot")
    slider.press("Home")
    expect_titles(shown, "Timeline: orders", "LSM tree: orders", "orders at 1")
    expect(lsm.locator("output")).to_contain_text("snapshot 1 · append")
    table = chooser(timeline, "Table")
    table.focus()
    table.press("c")  # carts
    expect_titles(shown, "Timeline: carts", "LSM tree: carts", "carts")
    expect(table).to_be_focused()
    page.keyboard.press("Alt+,")
    expect_titles(shown, "Timeline: orders", "LSM tree: orders", "orders at 1")
    page.keyboard.press("Alt+.")
    expect_titles(shown, "Timeline: carts", "LSM tree: carts", "carts")
    back = timeline.get_by_role("button", name="Back to the table and snapshot before")
    while settled(page, back.is_enabled):
        back.press("Enter")
        answered(shown)
    expect_titles(shown, "Timeline: orders", "LSM tree: orders", "orders")
    expect(timeline.get_by_role("button", name="Forward again")).to_be_focused()


def test_a_tab_can_keep_its_table_and_snapshot(shown: Notebook) -> None:
    open_workbench(shown)
    rows, timeline = tab(shown, "rows"), tab(shown, "timeline")
    chooser(timeline, "Snapshot").select_option("3")
    expect_titles(shown, "Timeline: orders", "LSM tree: orders", "orders at 3")
    follow = rows.get_by_role("button", name="Follow")
    expect(follow).to_have_attribute("aria-pressed", "true")
    follow.press("Enter")
    expect(follow).to_have_attribute("aria-pressed", "false")
    chooser(timeline, "Table").select_option(label="carts")
    expect_titles(shown, "Timeline: carts", "LSM tree: carts", "orders at 3")
    chooser(rows, "Snapshot").select_option("2")  # moves this tab only
    expect_titles(shown, "Timeline: carts", "LSM tree: carts", "orders at 2")
    expect(chooser(timeline, "Snapshot")).to_have_value("")
    follow.press("Enter")
    expect_titles(shown, "Timeline: carts", "LSM tree: carts", "carts")


def test_a_panel_of_the_latest_snapshot_says_so(shown: Notebook) -> None:
    open_workbench(shown)
    line(shown, "orders").click(button="right")
    shown.page.locator(".pnb-cat-menu").get_by_text("Open in a tab").click()
    shown.page.locator(".lm-Menu").last.get_by_text("Compaction", exact=True).click()
    compact = tab(shown, "compact")
    expect(compact.get_by_text("Nothing to compact")).to_be_visible()
    chooser(tab(shown, "timeline"), "Snapshot").select_option("3")
    expect(compact.get_by_text("shows the latest snapshot, not 3")).to_be_visible()
    expect(chooser(compact, "Snapshot")).to_be_hidden()


def test_a_table_without_snapshots_says_what_to_do(shown: Notebook) -> None:
    shown.execute("%paimon CREATE TABLE nothing (id INT, PRIMARY KEY (id) NOT ENFORCED)")
    shown.page.get_by_role("region", name="Paimon catalog side bar").get_by_role("button", name="Refresh").click()
    open_workbench(shown, "nothing", rows="0 rows")
    for panel in ("timeline", "lsm"):
        picture = tab(shown, panel).locator("svg.tree-picture")
        expect(picture).to_have_attribute("aria-label", "LSM tree of nothing, no snapshot yet")
        expect(picture).to_contain_text("no files yet: insert rows, then refresh (↻)")
        expect(tab(shown, panel)).not_to_contain_text("null")
    shown.execute("%paimon INSERT INTO nothing VALUES (1)")
    for panel in ("timeline", "lsm"):
        tab(shown, panel).get_by_role("button", name="refresh", include_hidden=True).first.dispatch_event("click")
        expect(tab(shown, panel).locator("rect.file")).to_have_count(1)
    shown.execute("%paimon DROP TABLE nothing")


@pytest.mark.parametrize(
    "theme",
    [pytest.param("JupyterLab Light", marks=pytest.mark.nightly), "JupyterLab Dark"],
    ids=["light", "dark"],
)
def test_it_is_legible_and_accessible_in_a_narrow_window(shown: Notebook, theme: str) -> None:
    shown.theme(theme)
    shown.page.set_viewport_size({"width": 900, "height": 900})
    try:
        open_workbench(shown)
        assert serious_issues_of(shown, ".pnb-cat-choosers") == []
        answered(shown)
        for content in shown.page.locator(".pnb-cat-choosers:visible").all():
            shown.page.wait_for_function("e => e.scrollWidth <= e.clientWidth", arg=content.element_handle())
        assert overlapping_texts(tab(shown, "timeline").locator("svg").first) == []
    finally:
        shown.page.set_viewport_size({"width": 1180, "height": 1000})


def test_tabs_say_that_the_connection_is_lost_and_answer_again(shown: Notebook, lab: Lab) -> None:
    page = shown.page
    connections = KernelConnections(shown)
    opened(shown, lab, "workbench.ipynb", CELLS)
    shown.command("paimon-nb:catalog-show")
    open_workbench(shown)
    connections.lose()
    for panel in ("timeline", "lsm"):
        expect(tab(shown, panel).locator(".lost")).to_have_text(
            re.compile("^(Reconnecting to|No connection to) the kernel")
        )
    connections.allow()
    page.evaluate("() => window.jupyterapp.shell.activateById([...window.jupyterapp.shell.widgets('main')][0].id)")
    shown.command("kernelmenu:reconnect-to-kernel")
    for panel in ("timeline", "lsm"):
        expect(tab(shown, panel).locator(".lost")).to_have_count(0)
    tab(shown, "timeline").get_by_role("slider", name="snapshot").press("Home")
    expect_titles(shown, "Timeline: orders", "LSM tree: orders", "orders at 1")


@pytest.mark.nightly
@pytest.mark.parametrize("end", ["died", "restarted"])
def test_tabs_say_that_the_kernel_has_ended_and_open_again(shown: Notebook, end: str) -> None:
    open_workbench(shown)
    tab(shown, "timeline").get_by_role("slider", name="snapshot").press("Home")
    expect_titles(shown, "Timeline: orders", "LSM tree: orders", "orders at 1")
    if end == "died":
        shown.kill_kernel()
    else:
        shown.restart_kernel()
    tabs = shown.page.locator(".pnb-cat-tab")
    said = tabs.get_by_text("This tab opens again when paimon_nb is loaded and connected in its kernel.")
    expect(said).to_have_count(3)
    expect(tab(shown, "timeline").locator(".lost")).to_contain_text(
        "The kernel has restarted"
    )  # its last picture stays
    assert serious_issues_of(shown, ".pnb-cat-tabstate") == []
    if end == "died":
        shown.page.get_by_role("button", name="Ok").click()  # JupyterLab's own message
    load = shown.page.get_by_role("button", name="Load paimon_nb")
    expect(load).to_be_enabled(timeout=60_000)
    shown.execute(CELLS[0])
    expect(said).to_have_count(0)
    expect(tabs.locator(".lost")).to_have_count(0)
    expect_titles(shown, "Timeline: orders", "LSM tree: orders", "orders at 1")  # as before
    tab(shown, "timeline").get_by_role("slider", name="snapshot").press("ArrowRight")
    expect_titles(shown, "Timeline: orders", "LSM tree: orders", "orders at 2")
    expect(tab(shown, "lsm").locator("output")).to_contain_text("snapshot 2 · append")
    expect(tabs.get_by_text("✗")).to_have_count(0)
