"""The catalog in JupyterLab's side bar: by mouse and by keyboard, over a restart of the kernel, hostile names, both themes."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from lab_kit import KERNEL
from panel_kit import LIVE, opened, serious_issues_of, write_notebook
from playwright.sync_api import expect
from waits import answered, box_of, settled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab_kit import Lab, Notebook
    from playwright.sync_api import Locator

pytestmark = pytest.mark.browser

CELLS = ("%load_ext paimon_nb\n%paimon connect warehouse", "%paimon lsm carts")
HISTORY = f"""async () => (await {KERNEL}.requestHistory(
    {{hist_access_type: 'tail', n: 50, output: false, raw: true}})).content.history.map((h) => h[2])"""
NAME = "a 'b' \"c\" <img src=x onerror=alert(1)>"
HOSTILE = f"""wb = get_ipython().run_line_magic('paimon', 'workbench')
import pyarrow as pa
_ = wb.create_table({f"`{NAME}`"!r}, pa.table({{{NAME!r}: [7]}}))
print('made')"""


@pytest.fixture(scope="module")
def shown(notebook: Notebook, lab: Lab, tables: Path) -> Iterator[Notebook]:
    shutil.copytree(tables, lab.root / "warehouse")
    shown = opened(notebook, lab, "catalog.ipynb", CELLS)
    shown.command("paimon-nb:catalog-show")
    yield shown
    shown.command("filebrowser:activate")


@pytest.fixture
def bar(shown: Notebook) -> Locator:
    return shown.page.get_by_role("region", name="Paimon catalog side bar")


def item(bar: Locator, name: str) -> Locator:
    """The line whose spoken text begins with `name`."""
    return bar.locator(f'[role=treeitem][aria-label^="{name}"]').first


LAST = """n => {
  const notebook = window.jupyterapp.shell.widgets('main').next().value.content;
  notebook.activeCellIndex = Math.min(n, notebook.widgets.length - 1);
}"""


@pytest.fixture(autouse=True)
def two_cells(shown: Notebook) -> Iterator[None]:
    """Cells are inserted at the end, and each test leaves the notebook as it was."""
    if shown.page.locator(".jp-CodeCell").count():
        shown.page.evaluate(LAST, 1)
    yield
    cells = shown.page.locator(".jp-CodeCell")
    while (left := settled(shown.page, cells.count)) > len(CELLS):
        shown.page.evaluate(LAST, len(CELLS))
        shown.command("notebook:delete-cell")
        expect(cells).to_have_count(left - 1)


@pytest.mark.nightly
def test_tables_have_a_size_and_a_health(bar: Locator) -> None:
    expect(item(bar, "paimon, catalog")).to_have_attribute("aria-expanded", "true")
    expect(item(bar, "orders, table")).to_have_attribute("aria-label", "orders, table, 209 kB, healthy")
    expect(item(bar, "orders, table")).to_have_attribute("title", re.compile("primary-key table · deduplicate"))


def test_a_click_shows_rows_and_runs_no_cell(shown: Notebook, bar: Locator) -> None:
    page = shown.page
    answered(shown)
    before = shown.execution_count(), page.evaluate(HISTORY)
    item(bar, "orders, table").click()
    preview = page.locator(".pnb-cat-tab")
    expect(preview.locator("output").last).to_contain_text("the first 50 rows")
    item(bar, "carts, table").click()
    expect(preview.locator("output").last).to_contain_text("2 rows")
    expect(preview).to_have_count(1)  # the second replaced the first
    assert (shown.execution_count(), page.evaluate(HISTORY)) == before
    expect(page.locator(".jp-CodeCell")).to_have_count(2)


@pytest.mark.nightly
def test_a_click_goes_on_while_its_row_changes(shown: Notebook, bar: Locator) -> None:
    mouse, row = shown.page.mouse, item(bar, "carts, table")
    item(bar, "orders, table").click()
    expect(shown.page.locator(".pnb-cat-tab").locator("output").last).to_contain_text("the first 50 rows")
    expect(row).to_have_attribute("title", re.compile("snapshot"))
    before = settled(shown.page, lambda: str(row.get_attribute("title")))
    box = box_of(row)
    mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    mouse.down()

    assert shown.execute("%%paimon\nINSERT INTO carts SELECT * FROM carts") == "ok"
    bar.get_by_role("button", name="Refresh").dispatch_event("click")
    expect(row).not_to_have_attribute("title", before)
    mouse.up()

    expect(shown.page.locator(".pnb-cat-tab").locator("output").last).to_contain_text("2 rows")


@pytest.mark.nightly
def test_a_tag_that_cannot_be_read_says_why(shown: Notebook, bar: Locator, lab: Lab) -> None:
    tag = lab.root / "warehouse/default.db/carts/tag/tag-broken"
    tag.parent.mkdir(exist_ok=True)
    tag.write_text("{")
    item(bar, "carts, table").locator(".pnb-cat-twisty").click()
    item(bar, "Tags").click()

    item(bar, "broken").click()

    toasts = shown.page.locator(".Toastify__toast")
    expect(toasts.filter(has_text="The tag broken cannot be read: ").first).to_be_visible()
    item(bar, "carts, table").locator(".pnb-cat-twisty").click()
    tag.unlink()


def test_the_keyboard_reaches_everything(shown: Notebook, bar: Locator) -> None:
    page, keyboard = shown.page, shown.page.keyboard
    bar.get_by_label("Search tables and columns").focus()
    keyboard.press("ArrowDown")
    keyboard.press("Home")
    expect(item(bar, "paimon, catalog")).to_be_focused()
    keyboard.press("o")
    expect(item(bar, "orders, table")).to_be_focused()
    keyboard.press("ArrowRight")
    expect(item(bar, "orders, table")).to_have_attribute("aria-expanded", "true")
    expect(item(bar, "id, column, BIGINT NOT NULL, primary key")).to_be_visible()
    keyboard.press("ArrowRight")
    expect(item(bar, "id, column")).to_be_focused()
    keyboard.press("ArrowLeft")
    keyboard.press("ArrowLeft")
    expect(item(bar, "orders, table")).to_have_attribute("aria-expanded", "false")
    keyboard.press("Enter")
    expect(page.locator(".pnb-cat-tab").locator("output").last).to_contain_text("the first 50 rows")
    expect(item(bar, "orders, table")).to_be_focused()
    keyboard.press("Shift+F10")
    active = page.locator(".pnb-cat-menu .lm-Menu-item.lm-mod-active")
    page.locator(".pnb-cat-menu").wait_for()
    for _ in range(3):
        keyboard.press("ArrowDown")
    expect(active).to_contain_text("Explore")
    keyboard.press("Enter")  # after the rows and the query
    expect(page.locator(".jp-CodeCell")).to_have_count(3)
    expect(page.locator(".jp-CodeCell").nth(2).locator(".cm-content")).to_have_text("%paimon explore orders")
    expect(shown.output(2).locator(".tiles")).to_contain_text("physical rows")


def test_the_menu_writes_queries_and_opens_panels_in_tabs(shown: Notebook, bar: Locator) -> None:
    page, menu = shown.page, shown.page.locator(".pnb-cat-menu")
    item(bar, "sales, table").click(button="right")
    menu.get_by_text("Row history …").click()
    cell = page.locator(".jp-CodeCell").nth(2).locator(".cm-content")
    expect(cell).to_have_text("%paimon why sales day= id=")
    shown.page.evaluate(LAST, 1)
    item(bar, "sales, table").click(button="right")
    menu.get_by_text("Open in a tab").click()
    page.locator(".lm-Menu").last.get_by_text("Timeline", exact=True).click()
    slider = page.locator(".pnb-cat-tab").get_by_role("slider")
    slider.press("Home")  # the widget is alive
    expect(page.locator(".pnb-cat-tab").get_by_text("VERSION AS OF 1")).to_be_visible()
    page.locator('.lm-TabBar-tab:has-text("Timeline: sales") .lm-TabBar-tabCloseIcon').click()
    expect(slider).to_have_count(0)


@pytest.mark.nightly
def test_a_name_is_dragged_into_a_cell(shown: Notebook, bar: Locator) -> None:
    cell = shown.page.locator(".jp-CodeCell").nth(0).locator(".cm-content")
    item(bar, "carts, table").drag_to(cell)
    expect(cell).to_contain_text("carts")
    shown.command("notebook:undo-cell-action")
    cell.press("Control+z")
    expect(cell).not_to_contain_text("carts")


@pytest.mark.nightly
def test_the_filter_shows_tables_and_columns(shown: Notebook, bar: Locator) -> None:
    field = bar.get_by_label("Search tables and columns")
    field.fill("SAL")
    expect(item(bar, "sales, table")).to_be_visible()
    expect(item(bar, "carts, table")).to_have_count(0)
    field.press("Escape")
    expect(item(bar, "carts, table")).to_be_visible()
    expect(field).to_have_value("")
    assert shown.alerts == []


@pytest.mark.nightly
def test_a_search_finds_what_is_not_loaded(shown: Notebook, bar: Locator) -> None:
    """Names of databases that were never opened, and columns; a found column shows its table."""
    made = "wb = get_ipython().run_line_magic('paimon', 'workbench'); "
    made += "wb.run('CREATE DATABASE far; CREATE TABLE far.visits (visitor STRING)'); "
    assert shown.execute(made + "wb.run(\"INSERT INTO far.visits VALUES ('a'), ('b')\")") == "ok"
    field = bar.get_by_label("Search tables and columns")
    field.fill("VISIT")
    expect(item(bar, "In all catalogs, results of the search, 2 found")).to_have_attribute("aria-expanded", "true")
    expect(item(bar, "visits, table, far")).to_be_visible()
    field.press("ArrowDown")
    shown.page.keyboard.press("End")
    expect(item(bar, "visitor, column, far.visits")).to_be_focused()
    shown.page.keyboard.press("Enter")
    expect(shown.page.locator(".pnb-cat-tab").locator("output").last).to_contain_text("2 rows")
    item(bar, "In all catalogs").click()
    expect(item(bar, "visitor, column")).to_have_count(0)
    item(bar, "In all catalogs").click()
    field.fill("no such name")
    expect(bar.get_by_text("no name contains this text")).to_be_visible()
    field.press("Escape")
    expect(item(bar, "carts, table")).to_be_visible()


@pytest.mark.nightly
def test_the_menu_renames_tags_and_drops(shown: Notebook, bar: Locator) -> None:
    """Each as a cell; what destroys shows its statement and what is lost, and a dialog that is closed changes nothing."""
    page, menu = shown.page, shown.page.locator(".pnb-cat-menu")
    made = "wb = get_ipython().run_line_magic('paimon', 'workbench'); wb.run('CREATE TABLE `to go` (a INT)'); "
    assert shown.execute(made + "wb.run('INSERT INTO `to go` VALUES (1)')") == "ok"
    bar.get_by_role("button", name="Refresh").click()

    def choose(line: str, entry: str) -> None:
        page.evaluate(LAST, 99)
        item(bar, line).click(button="right")
        menu.get_by_text(entry, exact=True).click()

    cell = page.locator(".jp-CodeCell .cm-content")
    choose("to go, table", "Show CREATE TABLE")
    expect(shown.output(2)).to_contain_text("CREATE TABLE")
    choose("to go, table", "New tag …")
    page.get_by_label("A tag keeps the table as it is now").fill("v 1")
    page.keyboard.press("Enter")
    expect(cell.nth(3)).to_contain_text("ALTER TABLE `to go` CREATE TAG `v 1`")
    expect(shown.output(3)).to_contain_text("tag v 1")
    choose("to go, table", "Rename …")
    expect(page.get_by_label("New name of to go")).to_have_value("to go")
    page.get_by_label("New name of to go").fill("gone`s")
    page.locator(".jp-Dialog").get_by_role("button", name="Rename").click()
    expect(item(bar, "gone`s, table")).to_be_visible()
    choose("gone`s, table", "Drop …")
    expect(page.locator(".jp-Dialog")).to_contain_text("DROP TABLE `gone``s`")
    page.keyboard.press("Escape")
    expect(page.locator(".jp-Dialog")).to_have_count(0)
    expect(item(bar, "gone`s, table")).to_be_visible()
    choose("gone`s, table", "Drop …")
    page.locator(".jp-Dialog").get_by_role("button", name="Drop").click()
    expect(item(bar, "gone`s, table")).to_have_count(0)


@pytest.mark.nightly
def test_a_warehouse_is_opened_from_the_side_bar(shown: Notebook, bar: Locator) -> None:
    page = shown.page
    expect(bar.locator(".pnb-cat-path")).to_contain_text("warehouse")
    bar.get_by_role("button", name="Open a warehouse or a catalog").click()
    form = page.locator(".pnb-cat-tab").locator(".pnb.connect")
    expect(form.locator(".lead")).to_contain_text("This notebook reads and writes")
    folder = form.get_by_label("folder")
    folder.fill("another")
    expect(form).to_contain_text("This folder does not exist yet")
    folder.press("Enter")
    expect(form.locator(".lead")).to_contain_text("another: 0 tables in 1 database")
    expect(bar.locator(".pnb-cat-path")).to_contain_text("another")
    expect(item(bar, "orders, table")).to_have_count(0)
    form.get_by_label("kind").select_option("s3")
    expect(form.get_by_label("secret key")).to_have_attribute("type", "password")
    form.get_by_role("button", name="Connect", exact=True).click()
    expect(form).to_contain_text("address is empty")
    assert serious_issues_of(shown, ".pnb.connect") == []
    form.get_by_role("group", name="opened before").get_by_role(
        "button", name=re.compile("test_lab_catalog.warehouse$")
    ).click()
    form.get_by_role("button", name="Connect", exact=True).focus()
    page.keyboard.press("Enter")
    expect(item(bar, "orders, table")).to_be_visible()
    page.evaluate(CLOSE, "Open a warehouse")


@pytest.mark.nightly
def test_the_launcher_has_a_card(shown: Notebook, bar: Locator) -> None:
    page = shown.page
    expect(item(bar, "orders, table")).to_be_visible()
    shown.command("launcher:create")
    page.locator(".jp-LauncherCard", has_text="Paimon notebook").click()
    made = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
    expect(made.locator(".pnb.connect .lead")).to_contain_text("Open a warehouse, or make one")
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    page.evaluate("() => window.jupyterapp.shell.currentWidget.dispose()")
    expect(made.locator(".jp-CodeCell")).to_have_count(len(CELLS))


@pytest.mark.nightly
def test_hostile_names_stay_text(shown: Notebook, bar: Locator) -> None:
    page = shown.page
    shown.execute(HOSTILE)
    bar.get_by_role("button", name="Refresh").click()
    row = bar.locator("[role=treeitem]", has_text="onerror=alert")
    row.locator(".pnb-cat-twisty").click()
    expect(bar.locator("[role=treeitem]", has_text="onerror=alert")).to_have_count(2)  # the table and its column
    row.first.click()
    expect(page.locator(".pnb-cat-tab").locator("output").last).to_contain_text("1 row")
    row.first.click(button="right")
    page.locator(".pnb-cat-menu").get_by_text("Explore", exact=True).click()
    expect(shown.output(2).locator(".tiles")).to_contain_text("rows")  # by Python: no command can name it
    item(bar, "hostile, table").locator(".pnb-cat-twisty").click()
    expect(bar.locator("[role=treeitem][data-kind=column]")).not_to_have_count(1)
    answered(shown)
    assert bar.evaluate(LIVE) == []
    assert shown.alerts == []
    item(bar, "hostile, table").locator(".pnb-cat-twisty").click()


@pytest.mark.parametrize(
    "theme", [pytest.param("JupyterLab Light", marks=pytest.mark.nightly), "JupyterLab Dark"], ids=["light", "dark"]
)
def test_it_is_legible_and_accessible(shown: Notebook, bar: Locator, theme: str) -> None:
    shown.theme(theme)
    expect(item(bar, "orders, table")).to_be_visible()
    assert serious_issues_of(shown, "#paimon-nb-catalog") == []


def test_it_answers_while_a_cell_runs(shown: Notebook, bar: Locator) -> None:
    page = shown.page
    page.evaluate(
        f"""() => {{ window.ended = false;
        {KERNEL}.requestExecute({{code: 'import time; time.sleep(600)', store_history: false}}).done.then(() => {{ window.ended = true; }}); }}"""
    )
    item(bar, "sales, table").locator(".pnb-cat-twisty").click()
    expect(item(bar, "shop, column")).to_be_visible()
    assert page.evaluate("window.ended") is False
    shown.interrupt_kernel()
    page.wait_for_function("window.ended")


@pytest.mark.nightly
def test_a_restarted_kernel_is_loaded_by_a_button(shown: Notebook, bar: Locator) -> None:
    shown.restart_kernel()
    load = bar.get_by_role("button", name="Load paimon_nb")
    load.wait_for()
    expect(bar.get_by_role("treeitem")).to_have_count(0)
    expect(shown.page.locator(".pnb-cat-tab").get_by_text("The kernel has ended.")).to_be_visible()
    assert serious_issues_of(shown, "#paimon-nb-catalog") == []
    load.press("Enter")
    expect(item(bar, "default, database")).to_be_visible(timeout=60_000)  # a new process imports the package
    assert shown.execution_count() == 0  # nothing is in the history


CLOSE = "name => [...window.jupyterapp.shell.widgets('main')].filter((w) => w.title.label === name).forEach((w) => w.dispose())"


def without_paimon_nb(shown: Notebook, bar: Locator) -> Locator:
    """Restart the kernel. The button that loads paimon_nb in it."""
    shown.restart_kernel()
    load = bar.get_by_role("button", name="Load paimon_nb")
    expect(load).to_be_enabled(timeout=60_000)
    return load


@pytest.mark.nightly
def test_a_failed_load_is_told_and_can_be_tried_again(shown: Notebook, bar: Locator) -> None:
    load = without_paimon_nb(shown, bar)
    assert shown.execute("import sys; sys.modules['paimon_nb.notebook.catalog_comm'] = None") == "ok"
    load.click()
    expect(bar.get_by_role("status")).to_contain_text(
        re.compile("paimon_nb cannot be loaded: .*import of paimon_nb.notebook.catalog_comm halted")
    )
    again = bar.get_by_role("button", name="Try again")
    assert serious_issues_of(shown, "#paimon-nb-catalog") == []
    assert shown.execute("del sys.modules['paimon_nb.notebook.catalog_comm']") == "ok"
    again.press("Enter")
    expect(item(bar, "default, database")).to_be_visible(timeout=60_000)


@pytest.mark.nightly
def test_a_load_that_a_restart_interrupts_can_be_tried_again(shown: Notebook, bar: Locator) -> None:
    load = without_paimon_nb(shown, bar)
    shown.start("import time; time.sleep(600)")
    load.click()
    expect(bar.get_by_role("status")).to_contain_text("Loading paimon_nb in the kernel of catalog.ipynb")
    without_paimon_nb(shown, bar).press("Enter")
    expect(item(bar, "default, database")).to_be_visible(timeout=60_000)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "theme",
    [pytest.param("JupyterLab Light", marks=pytest.mark.nightly), "JupyterLab Dark"],
    ids=["light", "dark"],
)
def test_it_is_legible_in_a_narrow_window(shown: Notebook, bar: Locator, theme: str) -> None:
    shown.theme(theme)
    load = without_paimon_nb(shown, bar)
    shown.page.set_viewport_size({"width": 900, "height": 700})
    try:
        outside = "e => [...e.querySelectorAll('button, input, div')].filter((n) => n.getBoundingClientRect().right > e.getBoundingClientRect().right + 1).length"
        assert settled(shown.page, lambda: bar.evaluate(outside)) == 0
        shown.page.wait_for_function("e => e.scrollWidth <= e.clientWidth", arg=load.element_handle())
        assert serious_issues_of(shown, "#paimon-nb-catalog") == []
    finally:
        shown.page.set_viewport_size({"width": 1180, "height": 1000})
    load.press("Enter")
    expect(item(bar, "default, database")).to_be_visible(timeout=60_000)


@pytest.mark.nightly
def test_it_shows_the_catalog_of_the_notebook_in_front(shown: Notebook, lab: Lab, bar: Locator) -> None:
    """By mouse, with a click on the notebook's tab, and by keyboard."""
    page = shown.page
    assert shown.execute("%load_ext paimon_nb\n%paimon connect warehouse") == "ok"
    bar.get_by_role("button", name="Refresh").click()
    expect(item(bar, "orders, table")).to_be_visible()
    cells = ["%load_ext paimon_nb\n%paimon connect other_warehouse", "%paimon CREATE TABLE only_here (id INT)"]
    write_notebook(lab, "other.ipynb", cells)
    shown.command("docmanager:open", path=f"{lab.folder}/other.ipynb")
    try:
        expect(bar.locator(".pnb-cat-where")).to_contain_text("other.ipynb")
        expect(bar.get_by_role("button", name="Load paimon_nb")).to_be_visible(timeout=60_000)
        expect(item(bar, "orders, table")).to_have_count(0)
        shown.run_all()
        expect(item(bar, "only_here, table")).to_be_visible(timeout=60_000)
        page.get_by_role("tab", name="catalog.ipynb").click()
        expect(item(bar, "orders, table")).to_be_visible()
        expect(item(bar, "only_here, table")).to_have_count(0)
        page.keyboard.press("Control+Shift+BracketRight")  # the next tab
        expect(bar.locator(".pnb-cat-where")).to_contain_text("other.ipynb")
        expect(item(bar, "only_here, table")).to_be_visible()
        expect(item(bar, "orders, table")).to_have_count(0)
    finally:
        page.evaluate(CLOSE, "other.ipynb")
    expect(item(bar, "orders, table")).to_be_visible()


@pytest.mark.nightly
def test_without_a_notebook_it_says_what_to_open(shown: Notebook, bar: Locator) -> None:
    shown.close_all()
    expect(bar.get_by_role("status")).to_contain_text("Open a notebook or a console")
