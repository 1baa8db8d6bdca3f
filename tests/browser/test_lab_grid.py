"""The result grid in a real JupyterLab: by mouse, by keyboard, with a million rows, with a dead kernel."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hostile import PAYLOADS
from lab_kit import REPO
from panel_kit import live_nodes_of, serious_issues, small_texts, write_notebook
from playwright.sync_api import expect
from waits import answered, box_of, clipboard_is, drag, drag_by, expect_no_overflow, settled, text_of, texts_of

if TYPE_CHECKING:
    from pathlib import Path

    from lab_kit import Lab, Notebook

pytestmark = pytest.mark.browser

MANY = """\
import numpy as np, pyarrow as pa, pyarrow.compute as pc
from paimon_nb.notebook.display import Rows
from paimon_nb.session import Result
n = 1_000_000
draw = np.random.default_rng(3)
some = {f"c{i}": pa.array(draw.integers(0, 1000, n)) for i in range(3)}
names = pc.binary_join_element_wise("name", pc.cast(pa.array(draw.integers(0, n, n)), pa.string()), " ")
many = pa.table({"id": pa.array(np.arange(n)), "name": names, **some})
wide = {f"w{i}": many.column("c0") for i in range(995)}
Rows(Result("rows", arrow=pa.table({**{n: many.column(n) for n in many.column_names}, **wide}), is_query=True), 20)"""
CELLS = (
    "%load_ext paimon_nb\n%paimon connect warehouse",
    "%%paimon\nSELECT * FROM orders ORDER BY id",
    "%%paimon\nSELECT * FROM hostile",
    MANY,
    "%%paimon\nSELECT * FROM nested",
)
ORDERS, HOSTILE, MILLION, NESTED = 1, 2, 3, 4
PICTURE = (REPO / "docs" / "images" / "cell-light.png").read_bytes()
NAME = "grid.ipynb"


@pytest.fixture(scope="module")
def shown(notebook: Notebook, lab: Lab, tables: Path) -> Notebook:
    """The notebook after Run All."""
    import paimon_nb

    shutil.copytree(tables, lab.root / "warehouse")
    with paimon_nb.connect(str(lab.root / "warehouse")) as wb:
        wb.run("CREATE TABLE nested (id INT, addr ROW<street STRING, zip INT>, tags ARRAY<STRING>, picture BYTES)")
        table = wb.table("nested")
        rows = [{"id": 1, "addr": {"street": "Main", "zip": 5}, "tags": ["a", None], "picture": PICTURE}]
        table.append(pa.Table.from_pylist(rows, schema=table.schema.arrow))
    write_notebook(lab, NAME, CELLS)
    notebook.open(lab, NAME)
    notebook.run_all()
    notebook.output(NESTED).locator(".dg-c").first.wait_for(timeout=120_000)
    notebook.wait_for_outputs()
    return notebook


def footer(shown: Notebook, cell: int) -> Any:
    return shown.output(cell).locator(".dg-foot output")


def first_column(shown: Notebook, cell: int, rows: int = 3) -> list[str]:
    return texts_of(shown.output(cell).locator(".dg-r .dg-c:first-child"), rows)[:rows]


def header(shown: Notebook, cell: int, name: str) -> Any:
    return shown.output(cell).locator(".dg-h").filter(has=shown.page.get_by_text(name, exact=True))


def test_rows_have_a_header_with_types_and_a_footer(shown: Notebook) -> None:
    expect(footer(shown, ORDERS)).to_contain_text("rows · ")
    expect(footer(shown, ORDERS)).to_contain_text(" · snapshot ")
    expect(footer(shown, ORDERS)).to_contain_text(" · paimon_nb")
    expect(header(shown, ORDERS, "amount").locator(".type")).to_have_text("DECIMAL(10, 2)")
    expect(header(shown, ORDERS, "amount").locator("svg .bin")).to_have_count(20)
    names = shown.output(ORDERS).locator(".dg-h .name span:first-child")
    cut = "all => all.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent)"
    assert settled(shown.page, lambda: names.evaluate_all(cut)) == []
    expect(header(shown, ORDERS, "status").locator("svg .bin")).to_have_count(4)


@pytest.mark.nightly
def test_a_result_and_its_footer_fit_into_one_view(shown: Notebook) -> None:
    """The number of rows is seen without scrolling, however many there are."""
    for cell in (ORDERS, MILLION):
        panel = shown.output(cell).locator(".pnb")
        assert box_of(panel)["height"] < 620
        inside = "([foot, panel]) => foot.getBoundingClientRect().bottom <= panel.getBoundingClientRect().bottom + 1"
        both = [footer(shown, cell).element_handle(), panel.element_handle()]
        shown.page.wait_for_function(inside, arg=both)


def test_by_mouse_rows_are_sorted_filtered_searched(shown: Notebook) -> None:
    grid = shown.output(ORDERS)
    smallest = first_column(shown, ORDERS, 1)
    header(shown, ORDERS, "id").locator(".name").click()
    header(shown, ORDERS, "id").locator(".name").click()  # not answered yet: the second click still counts
    expect(header(shown, ORDERS, "id")).to_have_attribute("aria-sort", "descending")
    expect(grid.locator(".dg-r .dg-c").first).not_to_have_text(smallest[0])
    header(shown, ORDERS, "id").locator(".name").click()
    expect(grid.locator(".dg-r .dg-c").first).to_have_text(smallest[0])

    bars = header(shown, ORDERS, "amount").locator("svg .bin")
    expect(bars).to_have_count(20)
    drag(bars.nth(0), bars.nth(4))
    expect(grid.locator(".chip")).to_contain_text("amount ")
    expect(footer(shown, ORDERS)).to_contain_text(" of ")
    grid.locator(".chip").click()
    expect(footer(shown, ORDERS)).not_to_contain_text(" of ")

    text_of(grid.locator(".dg-r .dg-c").nth(1))
    grid.locator(".dg-r .dg-c").nth(1).click(button="right")
    shown.page.get_by_role("menuitem", name="Only ").click()
    expect(grid.locator(".chip")).to_contain_text("status = ")
    grid.get_by_label("search all columns").fill("777")
    expect(grid.locator(".dg-r").first).to_contain_text("777")
    grid.get_by_role("button", name="Clear all").click()
    expect(footer(shown, ORDERS)).not_to_contain_text(" of ")


def test_by_keyboard_cells_are_walked_sorted_filtered_and_copied(shown: Notebook) -> None:
    grid, page = shown.output(ORDERS), shown.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    grid.get_by_role("grid").focus()
    for key in ("Control+Home", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    expect(grid.locator(".here")).to_have_attribute("data-row", "1")
    expect(grid.locator(".here")).to_have_attribute("data-at", "1")
    page.keyboard.press("Control+End")
    last = grid.locator(".here")
    expect(last).to_have_attribute("data-at", "2")
    expect(last).to_have_attribute("data-row", re.compile(r"^[1-9]\d{4}$"))
    page.keyboard.press("Control+Home")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Control+c")
    clipboard_is(page, "\n".join(first_column(shown, ORDERS, 2)))
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(header(shown, ORDERS, "id")).to_have_attribute("aria-sort", "ascending")
    page.keyboard.press("Shift+F10")
    page.get_by_role("menuitem", name="Filter …").press("Enter")
    dialog = grid.get_by_role("dialog", name="filter id")
    dialog.get_by_label("condition").select_option("<=")
    dialog.get_by_label("value", exact=True).fill("20")
    dialog.get_by_label("value", exact=True).press("Enter")
    expect(grid.locator(".chip")).to_contain_text("id ≤ 20")
    grid.locator(".chip").press("Enter")
    expect(grid.locator(".chip")).to_have_count(0)


@pytest.mark.nightly
def test_by_mouse_cells_are_dragged_over_and_copied(shown: Notebook) -> None:
    """As tab-separated lines, which a spreadsheet takes."""
    grid, page = shown.output(ORDERS), shown.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    cells = grid.locator(".dg-r .dg-c")
    first, last = cells.nth(0), cells.nth(2 * 3 + 1)  # the second column of the third row
    texts = texts_of(cells, 9)
    expected = ["\t".join(texts[3 * row : 3 * row + 2]) for row in range(3)]
    drag(first, last)
    expect(grid.locator(".dg-c.chosen")).to_have_count(6)
    page.keyboard.press("Control+c")
    clipboard_is(page, "\n".join(expected))
    page.keyboard.press("Control+Shift+C")
    clipboard_is(page, "\n".join(["id\tstatus", *expected]))
    page.keyboard.press("Escape")


@pytest.mark.nightly
def test_selected_cells_are_summed_and_copied_in_other_forms(shown: Notebook) -> None:
    grid, page = shown.output(ORDERS), shown.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    grid.get_by_role("grid").focus()
    for key in ("Control+Home", "Shift+ArrowDown", "Shift+ArrowDown"):
        page.keyboard.press(key)
    ids = [int(text) for text in first_column(shown, ORDERS, 3)]
    expect(grid.get_by_label("selected cells")).to_have_text(
        f"3 cells · sum {sum(ids)} · average {sum(ids) // 3} · min {min(ids)} · max {max(ids)}"
    )
    grid.locator(".dg-r .dg-c").nth(3).click(button="right")  # inside the selection, which stays
    page.get_by_role("menuitem", name="Copy as …").click()
    page.get_by_role("menuitem", name="Markdown").click()
    clipboard_is(page, "\n".join(["| id |", "| ---: |", *(f"| {i} |" for i in ids)]))
    page.keyboard.press("Escape")
    expect(grid.get_by_label("selected cells")).to_have_text("")


def test_a_filter_is_typed_or_ticked_and_a_slip_is_mended_in_place(shown: Notebook) -> None:
    grid, page = shown.output(ORDERS), shown.page
    header(shown, ORDERS, "id").locator(".menu").click()
    page.get_by_role("menuitem", name="Filter …").click()
    form = grid.get_by_role("dialog", name="filter id")
    form.get_by_label("value", exact=True).fill("yesterday")
    form.get_by_role("button", name="Filter", exact=True).click()
    expect(form.get_by_role("alert")).to_contain_text("'yesterday' is not a value of type")  # once
    expect(form.get_by_label("value", exact=True)).to_have_value("yesterday")
    expect(grid.locator(".pnb.troubled")).to_have_count(0)
    form.get_by_label("value", exact=True).fill("7")
    form.get_by_label("value", exact=True).press("Enter")
    expect(form).to_have_count(0)
    expect(footer(shown, ORDERS)).to_contain_text("1 of ")
    grid.locator(".chip").click()

    header(shown, ORDERS, "status").locator(".menu").click()
    page.get_by_role("menuitem", name="Filter …").click()
    form = grid.get_by_role("dialog", name="filter status")
    ticks = form.get_by_role("checkbox")
    expect(ticks).to_have_count(4)
    ticks.nth(0).check()
    ticks.nth(1).check()
    form.get_by_role("button", name="Only the ticked values").click()
    expect(grid.locator(".chip")).to_contain_text("status in ")
    grid.locator(".chip").click()
    expect(grid.locator(".chip")).to_have_count(0)


@pytest.mark.nightly
def test_a_column_tells_its_statistics(shown: Notebook) -> None:
    grid, page = shown.output(ORDERS), shown.page
    header(shown, ORDERS, "amount").locator(".menu").click()
    page.get_by_role("menuitem", name="Statistics").click()
    box = grid.get_by_role("dialog", name="statistics of amount")
    for fact in ("distinct", "mean", "median", "95 %"):
        expect(box.get_by_role("rowheader", name=fact, exact=True)).to_be_visible()
    assert serious_issues(shown, ORDERS) == []
    page.keyboard.press("Escape")
    expect(grid.get_by_role("grid")).to_be_focused()


@pytest.mark.nightly
def test_an_opened_value_is_not_cut_by_its_output(shown: Notebook) -> None:
    """The grid of one row is lower than the value that opens in it."""
    grid, page = shown.output(NESTED), shown.page
    grid.locator(".dg-r .dg-c").nth(3).dblclick()
    image = grid.get_by_role("img", name="picture in picture")
    image.wait_for()
    on_top = "e => { const r = e.getBoundingClientRect(); return document.elementFromPoint(r.x + r.width / 2, r.bottom - 4) === e; }"
    page.wait_for_function(on_top, arg=image.element_handle())
    page.wait_for_function("e => e.scrollHeight <= e.clientHeight + 1", arg=grid.element_handle())
    page.keyboard.press("Escape")
    expect(image).to_have_count(0)
    page.keyboard.press("Control+Home")


@pytest.mark.nightly
def test_pinning_keeps_the_selected_cells(shown: Notebook) -> None:
    grid, page = shown.output(ORDERS), shown.page
    grid.locator(".dg-r .dg-c").nth(0).click()
    expect(grid.locator(".here")).to_have_attribute("data-row", "0")
    text = text_of(grid.locator(".here"))
    header(shown, ORDERS, "amount").locator(".menu").click()
    page.get_by_role("menuitem", name="Pin to the left").click()
    expect(grid.locator(".here")).to_have_attribute("data-at", "1")
    expect(grid.locator(".here")).to_have_text(text)
    header(shown, ORDERS, "amount").locator(".menu").click()
    page.get_by_role("menuitem", name="Unpin").click()
    expect(grid.locator(".here")).to_have_attribute("data-at", "0")


def test_filters_and_order_become_a_cell(shown: Notebook) -> None:
    grid, page = shown.output(ORDERS), shown.page
    header(shown, ORDERS, "id").locator(".menu").click()
    page.get_by_role("menuitem", name="Sort descending").click()
    expect(header(shown, ORDERS, "id")).to_have_attribute("aria-sort", "descending")
    grid.get_by_role("button", name="As SQL").click()
    cell = page.locator(".jp-CodeCell").nth(ORDERS + 1)
    expect(cell).to_contain_text("ORDER BY id DESC NULLS LAST")
    shown.command("notebook:delete-cell")
    expect(page.locator(".jp-CodeCell")).to_have_count(len(CELLS))
    header(shown, ORDERS, "id").locator(".menu").click()
    page.get_by_role("menuitem", name="Unsorted").click()
    expect(header(shown, ORDERS, "id")).to_have_attribute("aria-sort", "none")


@pytest.mark.nightly
def test_by_keyboard_columns_are_pinned_hidden_found_and_resized(shown: Notebook) -> None:
    grid, page, keyboard = shown.output(ORDERS), shown.page, shown.page.keyboard
    grid.get_by_role("grid").focus()
    for key in ("Control+Home", "ArrowUp", "ArrowRight", "ArrowRight"):
        keyboard.press(key)
    expect(header(shown, ORDERS, "amount")).to_have_class(re.compile("here"))
    for entry, column in (("Pin to the left", "1"), ("Unpin", "3")):
        keyboard.press("Shift+F10")
        chosen_by_arrows(shown, entry)
        expect(header(shown, ORDERS, "amount")).to_have_attribute("aria-colindex", column)
        keyboard.press("Control+ArrowLeft" if column == "1" else "Control+ArrowRight")
    wide = box_of(header(shown, ORDERS, "amount"))["width"]
    keyboard.press("Alt+ArrowRight")
    page.wait_for_function(
        "([e, wide]) => e.getBoundingClientRect().width === wide",
        arg=[header(shown, ORDERS, "amount").element_handle(), wide + 24],
    )
    keyboard.press("Alt+ArrowLeft")
    page.wait_for_function(
        "([e, wide]) => e.getBoundingClientRect().width === wide",
        arg=[header(shown, ORDERS, "amount").element_handle(), wide],
    )
    keyboard.press("Shift+F10")
    chosen_by_arrows(shown, "Hide")
    expect(header(shown, ORDERS, "amount")).to_have_count(0)
    grid.get_by_role("button", name="Columns").press("Enter")
    dialog = grid.get_by_role("dialog", name="columns")
    expect(dialog.get_by_label("find a column")).to_be_focused()
    keyboard.type("amo")
    expect(dialog.get_by_role("checkbox")).to_have_count(1)
    keyboard.press("Tab")
    expect(dialog.get_by_role("checkbox")).to_be_focused()
    keyboard.press("Space")
    keyboard.press("Escape")
    expect(header(shown, ORDERS, "amount")).to_have_count(1)
    expect(grid.get_by_role("grid")).to_be_focused()


def chosen_by_arrows(shown: Notebook, entry: str) -> None:
    """Walk down the open menu to an entry and press Enter."""
    entries = shown.output(ORDERS).get_by_role("menuitem")
    expect(entries.first).to_be_focused()
    for _ in range(texts_of(entries).index(entry)):
        shown.page.keyboard.press("ArrowDown")
    expect(entries.filter(has_text=re.compile(f"^{entry}$"))).to_be_focused()
    shown.page.keyboard.press("Enter")


@pytest.mark.nightly
def test_by_mouse_a_column_becomes_wider(shown: Notebook) -> None:
    page, status = shown.page, header(shown, ORDERS, "status")
    before = box_of(status)["width"]
    drag_by(status.locator(".grip"), 60)
    page.wait_for_function(
        "([e, wide]) => e.getBoundingClientRect().width === wide", arg=[status.element_handle(), before + 60]
    )
    gap = "([e, next]) => Math.abs(next.getBoundingClientRect().left - e.getBoundingClientRect().right) <= 1"
    page.wait_for_function(gap, arg=[status.element_handle(), header(shown, ORDERS, "amount").element_handle()])


@pytest.mark.nightly
def test_columns_are_pinned_hidden_and_found(shown: Notebook) -> None:
    grid, page = shown.output(ORDERS), shown.page
    header(shown, ORDERS, "amount").locator(".menu").click()
    page.get_by_role("menuitem", name="Pin to the left").click()
    expect(header(shown, ORDERS, "amount")).to_have_attribute("aria-colindex", "1")
    header(shown, ORDERS, "status").locator(".menu").click()
    page.get_by_role("menuitem", name="Hide").click()
    expect(header(shown, ORDERS, "status")).to_have_count(0)
    grid.get_by_role("button", name="Columns").click()
    dialog = grid.get_by_role("dialog", name="columns")
    dialog.get_by_label("find a column").fill("stat")
    expect(dialog.get_by_role("checkbox")).to_have_count(1)
    dialog.get_by_role("checkbox").check()
    page.keyboard.press("Escape")
    expect(header(shown, ORDERS, "status")).to_have_count(1)
    header(shown, ORDERS, "amount").locator(".menu").click()
    page.get_by_role("menuitem", name="Unpin").click()
    expect(header(shown, ORDERS, "id")).to_have_attribute("aria-colindex", "1")


def test_nested_values_open_in_place(shown: Notebook) -> None:
    grid, page = shown.output(NESTED), shown.page
    expect(grid.locator(".dg-r .dg-c").nth(1)).to_have_text('{"street": "Main", "zip": 5}')
    grid.get_by_role("grid").focus()
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    opened = grid.get_by_role("dialog", name="value of addr")
    expect(opened).to_contain_text("street: Main")
    page.keyboard.press("Escape")
    expect(opened).to_have_count(0)
    expect(grid.get_by_role("grid")).to_be_focused()
    grid.locator(".dg-r .dg-c").nth(2).dblclick()
    tags = grid.get_by_role("dialog", name="value of tags")
    expect(tags).to_contain_text("0: a")
    header(shown, NESTED, "id").locator(".type").click()
    expect(tags).to_have_count(0)


@pytest.mark.nightly
def test_several_grids_on_a_page_do_not_meet(shown: Notebook) -> None:
    """Each grid loads a copy of its script, so none may number itself: an opened value belongs to its own grid."""
    for cell in (ORDERS, HOSTILE, NESTED):
        shown.output(cell).locator(".dg-r .dg-c").first.click()
        expect(shown.output(cell).locator(".dg")).to_have_attribute("aria-activedescendant", re.compile("-here$"))
    of_grids = "all => all.filter((e) => e.closest('.datagrid')).map((e) => e.id)"
    ids = settled(shown.page, lambda: list(shown.page.locator("[id]").evaluate_all(of_grids)))
    assert len(ids) >= 12
    assert [i for i in set(ids) if ids.count(i) > 1] == []
    for cell in (ORDERS, HOSTILE, NESTED):
        grid = shown.output(cell).locator(".dg")
        here = shown.page.locator(f"[id='{grid.get_attribute('aria-activedescendant')}']")
        assert here.evaluate("(node, grid) => grid.contains(node)", grid.element_handle())


@pytest.mark.nightly
def test_a_picture_opens_by_mouse_and_by_keyboard(shown: Notebook) -> None:
    grid, page = shown.output(NESTED), shown.page
    image = grid.get_by_role("img", name="picture in picture")
    decoded = "e => e.decode().then(() => e.naturalWidth)"
    grid.locator(".dg-r .dg-c").nth(3).dblclick()
    assert image.evaluate(decoded) > 800
    assert serious_issues(shown, NESTED) == []
    page.keyboard.press("Escape")
    expect(image).to_have_count(0)
    grid.get_by_role("grid").focus()
    page.keyboard.press("Control+ArrowRight")
    page.keyboard.press("Enter")
    assert image.evaluate(decoded) > 800
    page.keyboard.press("Escape")


def test_rows_are_downloaded(shown: Notebook, tmp_path: Path) -> None:
    grid, page = shown.output(NESTED), shown.page
    for kind in ("CSV", "Parquet"):
        grid.get_by_role("button", name="Download").click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name=kind).click()
        download.value.save_as(tmp_path / f"rows.{kind.lower()}")
    grid.get_by_role("button", name="Download").press("Enter")
    expect(page.get_by_role("menuitem", name="CSV")).to_be_focused()
    page.keyboard.press("ArrowDown")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename.endswith(".parquet")
    assert (tmp_path / "rows.csv").read_text().splitlines()[1].startswith('1,"{""street"": ""Main""')
    assert parquet.read_table(tmp_path / "rows.parquet").to_pylist()[0]["addr"] == {"street": "Main", "zip": 5}


@pytest.mark.nightly
def test_a_million_rows_of_a_thousand_columns_are_scrolled_and_sorted(shown: Notebook) -> None:
    grid, page = shown.output(MILLION), shown.page
    expect(footer(shown, MILLION)).to_have_text("1,000,000 rows")
    grid.get_by_role("grid").focus()
    page.keyboard.press("Control+End")
    expect(grid.locator(".here")).to_have_attribute("data-row", "999999")
    expect(grid.locator(".here")).to_have_text(re.compile(r"^\d+$"))  # it has arrived
    page.keyboard.press("Control+Home")
    expect(grid.locator(".dg-r .dg-c").first).to_have_text("0")
    header(shown, MILLION, "id").locator(".menu").click()
    page.get_by_role("menuitem", name="Sort descending").click()
    expect(grid.locator(".dg-r .dg-c").first).to_have_text("999999")
    page.keyboard.press("Control+ArrowRight")
    expect(grid.locator(".here")).to_have_attribute("data-at", "999")
    expect(grid.locator(".here")).to_have_text(re.compile(r"^\d+$"))
    drawn = grid.locator(".dg-c, .dg-h")
    assert settled(page, drawn.count) < 1000  # what is out of sight is not drawn
    page.keyboard.press("Control+ArrowLeft")
    expect(grid.locator(".here")).to_have_attribute("data-at", "0")


@pytest.mark.nightly
@pytest.mark.parametrize(
    "theme", [pytest.param("JupyterLab Light", marks=pytest.mark.nightly), "JupyterLab Dark"], ids=["light", "dark"]
)
def test_it_is_accessible_in_both_themes(shown: Notebook, theme: str) -> None:
    shown.theme(theme)
    for cell in (ORDERS, HOSTILE, NESTED):
        assert serious_issues(shown, cell) == []
    header(shown, ORDERS, "id").locator(".menu").click()
    expect(shown.page.get_by_role("menuitem", name="Filter …")).to_be_visible()
    assert serious_issues(shown, ORDERS) == []
    shown.page.keyboard.press("Escape")


@pytest.mark.nightly
@pytest.mark.parametrize("width", [900, *(pytest.param(width, marks=pytest.mark.nightly) for width in (1280, 1920))])
def test_it_fills_the_width_and_not_more(shown: Notebook, width: int) -> None:
    shown.page.set_viewport_size({"width": width, "height": 900})
    try:
        expect_no_overflow(shown, (ORDERS, HOSTILE, MILLION))
        for cell in (ORDERS, HOSTILE, MILLION):
            assert small_texts(shown, cell) == []
    finally:
        shown.page.set_viewport_size({"width": 1180, "height": 1000})


def test_hostile_texts_run_nowhere(shown: Notebook) -> None:
    grid, page = shown.output(HOSTILE), shown.page
    assert live_nodes_of(shown, HOSTILE) == []
    grid.get_by_role("grid").focus()
    page.keyboard.press("Control+Home")
    page.keyboard.press("Enter")
    grid.get_by_role("dialog").wait_for()
    assert live_nodes_of(shown, HOSTILE) == []
    page.keyboard.press("Escape")
    grid.get_by_label("search all columns").fill(PAYLOADS[0])
    expect(grid.locator(".dg-r .dg-c").filter(has_text=PAYLOADS[0])).not_to_have_count(0)
    assert live_nodes_of(shown, HOSTILE) == []
    assert shown.alerts == []


@pytest.mark.nightly
def test_a_dead_kernel_leaves_the_rows_and_says_so(shown: Notebook, lab: Lab) -> None:
    grid, page = shown.output(MILLION), shown.page
    grid.get_by_role("grid").focus()
    page.keyboard.press("Control+Home")
    answered(shown)
    first = settled(page, grid.locator(".dg-r .dg-c").first.inner_text)
    assert first
    shown.command("docmanager:save")
    page.evaluate("() => window.jupyterapp.serviceManager.sessions.shutdownAll()")
    page.keyboard.press("Control+End")
    expect(grid.get_by_text(re.compile("The kernel (does not answer|was restarted)")).first).to_be_visible()
    page.keyboard.press("Control+Home")
    expect(grid.locator(".dg-r .dg-c").first).to_have_text(first)

    stored = json.loads((lab.root / NAME).read_text())
    (data,) = [o["data"] for o in stored["cells"][ORDERS]["outputs"]]
    assert {"text/plain", "text/html"} <= set(data)
    shown.open(lab, NAME, reload=True)
    expect(shown.output(ORDERS).locator("table th").first).to_have_text("id")
    expect(page.get_by_text("model not found")).to_have_count(0)
