"""The Chart tab of the result grid in a real JupyterLab: by mouse, by keyboard, with a million rows and hostile texts."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from panel_kit import live_nodes_of, serious_issues, small_texts, write_notebook
from playwright.sync_api import expect
from waits import answered, expect_no_overflow, settled, text_of

if TYPE_CHECKING:
    from pathlib import Path

    from lab_kit import Lab, Notebook

pytestmark = pytest.mark.browser

MANY = """\
import numpy as np, pyarrow as pa
from paimon_nb.notebook.display import Rows
from paimon_nb.session import Result
n = 1_000_000
draw = np.random.default_rng(3)
many = {"t": pa.array(draw.integers(1.5e9, 1.6e9, n) * 1000, pa.timestamp("ms")), "v": pa.array(draw.normal(size=n))}
wide = {f"w{i}": many["v"] for i in range(998)}
Rows(Result("rows", arrow=pa.table({**many, **wide}), is_query=True), 20)"""
CELLS = (
    "%load_ext paimon_nb\n%paimon connect warehouse",
    "%%paimon\nSELECT day, shop, amount FROM sales",
    "%%paimon\nSELECT * FROM hostile",
    MANY,
)
SALES, HOSTILE, MILLION = 1, 2, 3


@pytest.fixture(scope="module")
def shown(notebook: Notebook, lab: Lab, tables: Path) -> Notebook:
    """The notebook after Run All."""
    shutil.copytree(tables, lab.root / "warehouse")
    write_notebook(lab, "chart.ipynb", CELLS)
    notebook.open(lab, "chart.ipynb")
    notebook.run_all()
    notebook.output(MILLION).locator(".dg-c").first.wait_for(timeout=120_000)
    notebook.wait_for_outputs()
    return notebook


def chart_of(shown: Notebook, cell: int) -> Any:
    """The output of a cell with its Chart tab open."""
    output = shown.output(cell)
    output.get_by_role("tab", name="Chart").click()
    expect(output.get_by_role("tab", name="Chart")).to_have_attribute("aria-selected", "true")
    output.locator(".dg-plot svg[role=img]").wait_for()
    return output


def test_by_mouse_a_chart_is_chosen_read_and_filtered(shown: Notebook) -> None:
    output = chart_of(shown, SALES)
    expect(output.locator(".dg-chart-title")).to_have_text("sum of amount by shop")
    expect(output.locator(".dg-bar-mark")).to_have_count(9)
    expect(output.get_by_role("grid")).to_be_hidden()
    output.get_by_label("X", exact=True).select_option(label="day")
    output.get_by_label("Aggregate", exact=True).select_option("max")
    output.get_by_label("Colour", exact=True).select_option(label="shop")
    expect(output.locator(".dg-chart-title")).to_have_text("largest amount by day, coloured by shop")
    expect(output.locator(".dg-legend .item")).to_have_count(8)
    expect(output.locator(".dg-bar-mark")).to_have_count(24)
    answered(shown)
    output.locator(".dg-bar-mark").first.hover()
    expect(output.locator(".dg-read")).to_contain_text("largest amount 499")
    output.get_by_label("search all columns").fill("2026-03-02")
    expect(output.locator(".dg-foot")).to_contain_text("16,000 of 48,000 rows")
    expect(output.locator(".dg-bar-mark")).to_have_count(8)
    output.get_by_label("search all columns").fill("")
    expect(output.locator(".dg-bar-mark")).to_have_count(24)


def test_by_keyboard_a_chart_is_opened_read_and_changed(shown: Notebook) -> None:
    output, page = shown.output(SALES), shown.page
    output.get_by_role("tab", name="Rows").click()
    page.keyboard.press("ArrowRight")
    expect(output.get_by_role("tab", name="Chart")).to_be_focused()
    expect(output.get_by_role("tab", name="Chart")).to_have_attribute("aria-selected", "true")
    plot = output.locator(".dg-plot")
    answered(shown)
    plot.focus()
    page.keyboard.press("End")
    expect(output.locator(".dg-read")).to_contain_text("2026-03-0")
    last = text_of(output.locator(".dg-read"))
    page.keyboard.press("ArrowLeft")
    expect(output.locator(".dg-read")).not_to_have_text(last)
    page.keyboard.press("ArrowDown")  # after the last colour comes the first
    expect(output.locator(".dg-read")).to_contain_text("shop 0")
    page.keyboard.press("ArrowDown")
    expect(output.locator(".dg-read")).to_contain_text("shop 1")
    kind = output.get_by_label("Type", exact=True)
    kind.focus()
    kind.select_option("histogram")
    expect(output.locator(".dg-chart-title")).to_contain_text("number of rows per range of amount")
    expect(output.get_by_label("Type", exact=True)).to_be_focused()


@pytest.mark.nightly
def test_a_chart_has_panels_shares_and_a_logarithmic_axis(shown: Notebook) -> None:
    output, page = chart_of(shown, SALES), shown.page
    output.get_by_label("Type", exact=True).select_option("bar")
    output.get_by_label("X", exact=True).select_option(label="day")
    output.get_by_label("Aggregate", exact=True).select_option("sum")
    output.get_by_label("Colour", exact=True).select_option(label="shop")
    stack = output.get_by_label("Stack", exact=True)
    stack.focus()
    page.keyboard.press("End")
    expect(output.locator(".dg-plot .dg-axis").first).to_contain_text("in %")
    expect(output.get_by_label("Stack", exact=True)).to_be_focused()
    output.get_by_label("Colour", exact=True).select_option("")
    expect(output.get_by_label("Stack", exact=True)).to_have_count(0)
    output.get_by_label("Right axis", exact=True).select_option(label="amount")
    expect(output.locator(".dg-chart-title")).to_contain_text("with sum of amount at the right")
    expect(output.locator(".dg-second")).to_have_count(1)
    output.get_by_label("One chart per", exact=True).select_option(label="shop")
    expect(output.locator(".dg-chart-title")).to_contain_text(", for each shop")
    expect(output.locator(".dg-plot svg[role=img] > g")).to_have_count(8)
    output.get_by_label("Scale", exact=True).select_option("log")
    expect(output.locator(".dg-plot text", has_text="1M").first).to_be_visible()
    answered(shown)
    output.locator(".dg-bar-mark").first.hover()
    expect(output.locator(".dg-read")).to_contain_text("shop 0 · ")
    assert serious_issues(shown, SALES) == []
    output.get_by_label("One chart per", exact=True).select_option("")
    output.get_by_label("Scale", exact=True).select_option("")
    expect(output.locator(".dg-plot svg[role=img] > g")).to_have_count(0)
    output.get_by_label("Right axis", exact=True).select_option("")
    expect(output.locator(".dg-second")).to_have_count(0)
    output.get_by_label("X", exact=True).select_option(label="shop")
    expect(output.locator(".dg-chart-title")).to_have_text("sum of amount by shop")


@pytest.mark.nightly
def test_by_mouse_rows_are_grouped_across_and_become_a_cell(shown: Notebook) -> None:
    output, page = shown.output(SALES), shown.page
    output.get_by_role("tab", name="Pivot").click()
    table = output.locator(".dg-pivot")
    expect(table.locator("thead th")).to_have_text(["shop", "sum amount"])
    expect(table.locator("tbody tr")).to_have_count(9)
    output.get_by_label("Columns", exact=True).select_option(label="day")
    expect(table.locator("thead th")).to_have_text(["shop", "2026-03-01", "2026-03-02", "2026-03-03", "total"])
    table.get_by_role("button", name="total").click()
    expect(table.locator("thead th").last).to_have_attribute("aria-sort", "descending")
    first = text_of(table.locator("tbody th").first)
    table.get_by_role("button", name="total").click()
    expect(table.locator("thead th").last).to_have_attribute("aria-sort", "ascending")
    expect(table.locator("tbody th").last).to_have_text(first)
    output.get_by_label("search all columns").fill("shop 1")
    expect(table.locator("tbody tr")).to_have_count(1)
    output.get_by_label("search all columns").fill("")
    expect(table.locator("tbody tr")).to_have_count(9)
    assert serious_issues(shown, SALES) == []
    output.get_by_role("button", name="As SQL").click()
    expect(page.locator(".jp-CodeCell")).to_have_count(len(CELLS) + 1)
    cell = page.locator(".jp-CodeCell").nth(SALES + 1).locator(".cm-content")
    expect(cell).to_contain_text("sum(amount) FILTER (WHERE")
    shown.command("notebook:run-cell")
    expect(shown.output(SALES + 1).locator(".dg-foot")).to_contain_text("9 rows")
    shown.command("notebook:delete-cell")
    expect(page.locator(".jp-CodeCell")).to_have_count(len(CELLS))


@pytest.mark.nightly
def test_by_keyboard_a_pivot_table_is_opened_and_changed(shown: Notebook) -> None:
    output, page = shown.output(HOSTILE), shown.page
    output.get_by_role("tab", name="Rows").click()
    page.keyboard.press("ArrowLeft")
    expect(output.get_by_role("tab", name="Pivot")).to_be_focused()
    expect(output.locator(".dg-pivot tbody tr").first).to_be_visible()
    values = output.get_by_label("Values", exact=True)
    values.focus()
    page.keyboard.press("End")
    expect(output.get_by_label("Aggregate", exact=True)).to_be_visible()
    expect(output.get_by_label("Values", exact=True)).to_be_focused()
    assert live_nodes_of(shown, HOSTILE) == []
    page.keyboard.press("Shift+Tab")
    output.get_by_role("tab", name="Pivot").focus()
    page.keyboard.press("ArrowRight")
    expect(output.get_by_role("tab", name="Rows")).to_be_focused()
    expect(output.get_by_role("grid")).to_be_visible()


@pytest.mark.nightly
def test_the_chart_becomes_code_and_a_file(shown: Notebook, tmp_path: Path) -> None:
    output, page = chart_of(shown, SALES), shown.page
    with page.expect_download() as download:
        output.get_by_role("button", name="Save picture").click()
    download.value.save_as(tmp_path / "chart.svg")
    assert "<rect" in (tmp_path / "chart.svg").read_text()
    output.get_by_role("button", name="As code").click()
    expect(page.locator(".jp-CodeCell")).to_have_count(len(CELLS) + 1)
    expect(page.locator(".jp-CodeCell").nth(SALES + 1).locator(".cm-content")).to_contain_text(
        "import plotly.express as px"
    )
    shown.command("notebook:delete-cell")
    expect(page.locator(".jp-CodeCell")).to_have_count(len(CELLS))


@pytest.mark.nightly
def test_by_keyboard_the_chart_becomes_code_and_a_file(shown: Notebook) -> None:
    output, page = chart_of(shown, SALES), shown.page
    kind = output.get_by_label("Type", exact=True)
    row_count = output.get_by_label("Y", exact=True).locator(
        "option[value='']"
    )  # every type but this one can count rows
    kind.select_option("scatter")
    expect(row_count).to_have_count(0)  # drawn again: until then, a key would move from the type before
    kind.focus()
    page.keyboard.press("ArrowUp")
    expect(row_count).to_have_count(1)
    expect(kind).to_have_value("area")
    expect(kind).to_be_focused()  # drawing again took nothing away
    page.keyboard.press("ArrowDown")
    expect(row_count).to_have_count(0)
    expect(kind).to_have_value("scatter")
    with page.expect_download() as download:
        output.get_by_role("button", name="Save picture").press("Enter")
    assert download.value.suggested_filename.endswith(".svg")
    cells = page.locator(".jp-CodeCell")
    output.get_by_role("button", name="As code").press("Enter")
    expect(cells).to_have_count(len(CELLS) + 1)
    expect(cells.nth(SALES + 1).locator(".cm-content")).to_contain_text("import plotly.express as px")
    shown.command("notebook:delete-cell")
    expect(cells).to_have_count(len(CELLS))


@pytest.mark.nightly
def test_a_chart_is_stored_with_the_notebook(shown: Notebook, lab: Lab) -> None:
    """Its picture is above the table for programs that show HTML; the rows alone are stored as before."""
    output = chart_of(shown, SALES)
    output.get_by_label("Type", exact=True).select_option("bar")
    output.get_by_label("Colour", exact=True).select_option(label="shop")
    title = text_of(output.locator(".dg-chart-title"))
    answered(shown)

    def stored() -> dict[str, str]:
        shown.command("docmanager:save")
        cells = json.loads((lab.root / "chart.ipynb").read_text())["cells"]
        return {kind: "".join(text) for kind, text in cells[SALES]["outputs"][0]["data"].items() if "json" not in kind}

    with_chart = stored()
    assert title in with_chart["image/svg+xml"]
    assert "shop 7" in with_chart["image/svg+xml"]
    assert with_chart["text/html"].startswith('<img class="pnb-still" alt="')
    assert stored() == with_chart  # not added twice
    output.get_by_role("tab", name="Rows").click()
    without = stored()
    assert "image/svg+xml" not in without
    assert without["text/html"] == with_chart["text/html"].split("\n", 1)[1]


@pytest.mark.nightly
def test_a_million_rows_of_a_thousand_columns_become_few_points(shown: Notebook) -> None:
    output = chart_of(shown, MILLION)
    expect(output.locator(".dg-chart-title")).to_have_text("sum of v by t")
    output.get_by_label("per", exact=True).select_option("quarter")
    expect(output.locator(".dg-plot path")).not_to_have_count(0)
    output.get_by_label("Type", exact=True).select_option("scatter")
    expect(output.locator("[id$=chart] .dg-chart-notes")).to_contain_text("A random sample of 4,000 of 1,000,000 rows.")
    assert settled(shown.page, output.locator(".dg-plot path").count) <= 4000
    output.get_by_label("Type", exact=True).select_option(
        "line"
    )  # thousands of points would be drawn again at each width


@pytest.mark.nightly
@pytest.mark.parametrize(
    "theme", ["JupyterLab Light", pytest.param("JupyterLab Dark", marks=pytest.mark.nightly)], ids=["light", "dark"]
)
def test_it_is_accessible_and_fits_in_both_themes(shown: Notebook, theme: str) -> None:
    shown.theme(theme)
    try:
        for cell in (SALES, HOSTILE):
            chart_of(shown, cell)
            assert serious_issues(shown, cell) == []
            for width in (900, 1280, 1920):
                shown.page.set_viewport_size({"width": width, "height": 900})
                expect_no_overflow(shown, (cell,))
                assert small_texts(shown, cell) == []
    finally:
        shown.page.set_viewport_size({"width": 1180, "height": 1000})


@pytest.mark.nightly
def test_hostile_texts_run_nowhere(shown: Notebook) -> None:
    output = chart_of(shown, HOSTILE)
    for kind in ("line", "bar"):
        output.get_by_label("Type", exact=True).select_option(kind)
        output.get_by_label("Colour", exact=True).select_option(index=2)
        expect(output.locator(".dg-legend .item")).not_to_have_count(0)
        output.locator(".dg-plot").focus()
        shown.page.keyboard.press("End")
        expect(output.locator(".dg-read")).not_to_have_text("")
        assert live_nodes_of(shown, HOSTILE) == []
    assert shown.alerts == []
