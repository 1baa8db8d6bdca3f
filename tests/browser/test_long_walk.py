"""140 actions by mouse and by keyboard over two notebooks beside each other: no error, and nothing on the console."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from lab_kit import Notebook
from panel_kit import opened, write_notebook
from playwright.sync_api import expect
from waits import PATIENT_MS, answered, drag, text_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lab_kit import Lab
    from playwright.sync_api import Browser, Locator, Page

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

PANELS = (
    "%paimon",
    "%%paimon\nSELECT * FROM orders ORDER BY id",
    "%%paimon\nSELECT day, shop, amount FROM sales",
    "%paimon explore orders",
    "%paimon timeline orders",
    "%paimon lsm orders",
    "%paimon compact orders",
    "%paimon skip sales",
    "%paimon why carts id=7",
    "%paimon compare orders 11 13",
    "%paimon create visits",
    "%paimon live orders",
    "%paimon jobs",
    "%paimon doctor orders",
)


class Person:
    """Uses a page by mouse and by keyboard, and counts what they did."""

    def __init__(self, page: Page) -> None:
        self.page, self.actions = page, 0
        self.heard: list[str] = []
        """Errors and warnings of the page."""
        page.on("pageerror", lambda error: self.heard.append(str(error)))
        page.on("console", lambda said: self.heard.append(said.text) if said.type in ("error", "warning") else None)

    def click(self, target: Locator, **how: Any) -> None:
        target.click(**how)
        self.actions += 1

    def press(self, target: Locator, key: str) -> None:
        target.press(key)
        self.actions += 1

    def keys(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.actions += 1

    def type(self, target: Locator, text: str) -> None:
        target.fill(text)
        self.actions += 1

    def choose(self, target: Locator, value: str) -> None:
        target.select_option(value)
        self.actions += 1

    def drag(self, start: Locator, end: Locator) -> None:
        drag(start, end)
        self.actions += 1

    def hover(self, target: Locator) -> None:
        target.hover()
        self.actions += 1


def use_home(p: Person, home: Locator) -> None:
    p.click(home.get_by_role("button", name="refresh"))
    expect(home.get_by_role("table", name="tables")).to_contain_text("orders")


def use_grid(p: Person, grid: Locator) -> None:
    column = lambda name: grid.locator(".dg-h").filter(has=p.page.get_by_text(name, exact=True))  # noqa: E731
    first = grid.locator(".dg-r .dg-c").first
    smallest = text_of(first)
    for order in ("ascending", "descending"):
        p.click(column("id").locator(".name"))
        expect(column("id")).to_have_attribute("aria-sort", order)
    expect(first).not_to_have_text(smallest)
    p.click(column("id").locator(".name"))
    expect(first).to_have_text(smallest)
    p.drag(column("amount").locator("svg .bin").nth(0), column("amount").locator("svg .bin").nth(4))
    expect(grid.locator(".chip")).to_contain_text("amount ")
    p.press(grid.locator(".chip"), "Enter")
    expect(grid.locator(".chip")).to_have_count(0)
    p.click(column("id").locator(".menu"))
    p.click(grid.get_by_role("menuitem", name="Filter …"))
    form = grid.get_by_role("dialog", name="filter id")
    p.type(form.get_by_label("value", exact=True), "soon")
    p.press(form.get_by_label("value", exact=True), "Enter")
    expect(form.get_by_role("alert")).to_contain_text("'soon' is not a value of type")
    p.type(form.get_by_label("value", exact=True), "7")
    p.press(form.get_by_label("value", exact=True), "Enter")
    expect(grid.locator(".dg-foot output")).to_contain_text("1 of ")
    p.click(grid.locator(".chip"))
    expect(grid.locator(".chip")).to_have_count(0)
    grid.get_by_role("grid").focus()
    p.keys("Control+Home", "ArrowDown", "Shift+ArrowDown", "Shift+ArrowDown")
    expect(grid.get_by_label("selected cells")).to_contain_text("3 cells")
    p.keys("Escape", "Control+End")
    expect(grid.locator(".here")).to_have_attribute("data-at", "2")
    p.keys("Control+Home", "Enter")
    expect(grid.get_by_role("dialog", name="value of id")).to_be_visible()
    p.keys("Escape")
    expect(grid.get_by_role("dialog")).to_have_count(0)


def use_chart(p: Person, output: Locator) -> None:
    p.click(output.get_by_role("tab", name="Chart"))
    expect(output.locator(".dg-chart-title")).to_have_text("sum of amount by shop")
    p.choose(output.get_by_label("Type", exact=True), "line")
    p.choose(output.get_by_label("Type", exact=True), "bar")
    expect(output.locator(".dg-bar-mark")).to_have_count(9)
    p.hover(output.locator(".dg-bar-mark").first)
    expect(output.locator(".dg-read")).to_contain_text("shop")
    output.get_by_role("tab", name="Chart").focus()
    p.keys("ArrowLeft")
    expect(output.get_by_role("grid")).to_be_visible()


def use_explorer(p: Person, explorer: Locator) -> None:
    for place in ("snapshots", "snapshot/14", "schemas"):
        p.click(explorer.locator(f'[data-place="{place}"]'))
        expect(explorer.locator(f'[data-place="{place}"]')).to_have_attribute("aria-selected", "true")
    explorer.locator('[data-place="schema/0"]').wait_for()
    p.click(explorer.locator('[data-place=""]'))
    p.click(explorer.locator('.strip .dot[data-snapshot="12"]'))
    expect(explorer.locator('[aria-selected="true"]')).to_have_attribute("data-place", "snapshot/12")


def use_timeline(p: Person, panel: Locator) -> None:
    slider = panel.get_by_role("slider", name="snapshot")
    for key, snapshot in (("Home", 1), ("ArrowRight", 2), ("End", 14)):
        p.press(slider, key)
        expect(panel.get_by_text(re.compile(rf"VERSION AS OF {snapshot}$"))).to_be_visible()
    p.click(panel.locator('circle.dot[data-snapshot="7"]'))
    expect(panel.get_by_text(re.compile(r"VERSION AS OF 7$"))).to_be_visible()
    p.click(panel.get_by_role("button", name="select snapshot 12"))
    expect(panel.locator(".bar b")).to_have_text("snapshot 12")
    p.click(panel.get_by_role("button", name="Roll back …"))
    expect(panel.get_by_role("alertdialog")).to_be_visible()
    p.keys("Escape")
    expect(panel.get_by_role("alertdialog")).to_have_count(0)


def use_tree(p: Person, panel: Locator) -> None:
    p.choose(panel.get_by_label("axis"), "size")
    p.choose(panel.get_by_label("axis"), "key")
    p.press(panel.get_by_role("slider", name="snapshot"), "Home")
    expect(panel.locator(".bar output")).to_contain_text("snapshot 1 ·")
    p.click(panel.locator('.commit[data-snapshot="11"]'))
    expect(panel.locator(".bar output")).to_contain_text("snapshot 11 ·")
    p.click(panel.get_by_role("button", name="Next commit"))
    expect(panel.locator(".bar output")).to_contain_text("snapshot 12 ·")
    p.press(panel.get_by_role("slider", name="snapshot"), "End")
    p.hover(panel.locator(".file").last)
    expect(panel.locator(".facts")).to_contain_text("level 5")


def use_compaction(p: Person, panel: Locator) -> None:
    trigger = panel.get_by_label("num-sorted-run.compaction-trigger")
    p.type(trigger, "3")
    p.press(trigger, "Enter")
    expect(panel.locator(".file.signed")).to_have_count(2)
    p.click(panel.get_by_role("button", name="Reset to table settings"))
    expect(panel.locator(".file.signed")).to_have_count(0)


def use_funnel(p: Person, panel: Locator) -> None:
    where = panel.get_by_label("WHERE")
    numbers = panel.locator("svg text").filter(has_text=re.compile(r"^\d+ of \d+$"))
    for condition, files in (("day = '2026-03-02'", "2 of 6"), ("nosuch = 1", ""), ("", "6 of 6")):
        p.type(where, condition)
        p.press(where, "Enter")
        expect(numbers.first).to_have_text(files) if files else expect(panel.get_by_role("alert")).to_be_visible()
    p.hover(panel.locator(".stage").first)


def use_row_history(p: Person, panel: Locator) -> None:
    p.click(panel.get_by_role("button", name="previous version"))
    expect(panel.locator("output")).to_contain_text("4 of 5")
    p.press(panel.get_by_role("slider"), "Home")
    expect(panel.locator("output")).to_contain_text("before the first version")
    p.press(panel.get_by_role("slider"), "End")
    expect(panel.locator("output")).to_contain_text("5 of 5")


def use_comparison(p: Person, panel: Locator) -> None:
    for value in ("7", "11"):
        p.choose(panel.get_by_label("before"), "month-end" if value == "7" else value)
        expect(panel.locator(".verdict")).to_contain_text(f"snapshot {value} → 13")
    p.click(panel.get_by_role("button", name="refresh"))


def use_form(p: Person, form: Locator) -> None:
    p.click(form.get_by_role("button", name="+ column"))
    expect(form.get_by_label("name of column 3")).to_be_focused()
    p.page.keyboard.type("seen")
    p.actions += 1
    p.choose(form.get_by_label("merge-engine"), "aggregation")
    expect(form.locator("pre.ddl")).to_contain_text("seen STRING")
    p.click(form.get_by_role("button", name="remove column 3"))
    expect(form.locator("pre.ddl")).not_to_contain_text("seen")


def use_stream(p: Person, panel: Locator) -> None:
    p.click(panel.get_by_role("button", name="pause"))
    expect(panel.get_by_role("status")).to_have_text("❚❚ paused")
    p.press(panel.get_by_role("button", name="resume"), "Enter")
    expect(panel.get_by_role("status")).to_have_text("● running")


def use_jobs(p: Person, panel: Locator) -> None:
    p.press(panel.get_by_role("button", name="stop live default.orders"), "Enter")
    expect(panel.locator(".job")).to_contain_text("canceled")


def use_doctor(p: Person, panel: Locator) -> None:
    p.click(panel.get_by_role("button", name="refresh"))
    expect(panel.locator(".grade").first).to_be_visible()


USES: tuple[Callable[[Person, Locator], None], ...] = (
    use_home, use_grid, use_chart, use_explorer, use_timeline, use_tree, use_compaction, use_funnel,
    use_row_history, use_comparison, use_form, use_stream, use_jobs, use_doctor,
)  # fmt: skip


def test_two_notebooks_are_used_without_an_error(browser: Browser, lab: Lab, tables: Path) -> None:
    page = browser.new_page(viewport={"width": 1900, "height": 1000})
    page.set_default_timeout(PATIENT_MS)
    person, notebook = Person(page), Notebook(page)
    names = ("first", "second")
    for name in names:
        shutil.copytree(tables, lab.root / name)
    first = ("%load_ext paimon_nb\n%paimon connect first", *PANELS)
    opened(notebook, lab, "first.ipynb", first)
    write_notebook(lab, "second.ipynb", ("%load_ext paimon_nb\n%paimon connect second", *PANELS))
    notebook.open_beside(lab, "second.ipynb")
    panels = page.locator(".jp-NotebookPanel")
    expect(panels.last.locator(".jp-CodeCell")).to_have_count(len(first))
    notebook.run_all()
    notebook.wait_for_outputs(2 * PATIENT_MS)
    answered(notebook)
    for cell, use in enumerate(USES, 1):  # from one notebook to the other and back
        for panel in (panels.first, panels.last):
            use(person, panel.locator(".jp-CodeCell").nth(cell).locator(".jp-OutputArea-output").last)
    answered(notebook)
    assert page.locator(".pnb .error, .pnb.troubled").all_text_contents() == []
    assert person.heard == []
    assert person.actions >= 140
    notebook.close_all()
    page.close()
