"""The panels that change with what the reader asks, in a real JupyterLab, by mouse and by keyboard."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from lab_kit import REPO, Lab, Notebook
from panel_kit import (
    least_contrast,
    live_nodes_of,
    opened,
    pictures_as_wide_as,
    serious_issues,
    signs,
    small_texts,
)
from playwright.sync_api import expect
from table_kit import PAYLOADS
from waits import answered, expect_no_overflow, settled

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.browser

CELLS = (
    "%load_ext paimon_nb\n%paimon connect warehouse",
    "%paimon compact orders",
    "%paimon skip sales",
    "%paimon why carts id=7",
    "%paimon compare orders 11 13",
    "%paimon create shop.visits",
    "%paimon compact hostile",
    "%paimon skip hostile",
    "%paimon why hostile k=a",
    "%paimon compare hostile",
    "%paimon lsm hostile",
    "%paimon live hostile",
    "%paimon doctor hostile",
    "%paimon tags hostile",
)
COMPACT, FUNNEL, WHY, COMPARE, CREATE, HOSTILE = 1, 2, 3, 4, 5, tuple(range(6, 13))
TRIGGER = "num-sorted-run.compaction-trigger"


@pytest.fixture(scope="module")
def shown(notebook: Notebook, lab: Lab, tables: Path) -> Notebook:
    shutil.copytree(tables, lab.root / "warehouse")
    return opened(notebook, lab, "panels.ipynb", CELLS)


def test_compaction_asks_what_if_and_runs(shown: Notebook) -> None:
    output, keyboard = shown.output(COMPACT), shown.page.keyboard
    verdict = output.locator(".verdict").first
    expect(verdict).to_have_text("Nothing to compact in bucket 0")
    expect(output.get_by_role("button", name="Compact (")).to_be_disabled()
    assert signs(output) == []
    trigger = output.get_by_label(TRIGGER)
    trigger.focus()
    keyboard.press("Control+A")
    keyboard.type("3")
    keyboard.press("Enter")
    due = r"^▸ Next compaction in bucket 0: 2 files \(1\d\.\d kB\) to level 3; rule: compaction\.size-ratio$"
    expect(verdict).to_have_text(re.compile(due))
    assert signs(output) == ["▸ picked for compaction"] * 2
    expect(trigger).to_be_focused()  # drawing anew took nothing away from the reader
    expect(output.locator("tr.decides th")).to_have_text("compaction.size-ratio")
    keyboard.press("Control+A")
    keyboard.type("none")
    keyboard.press("Enter")
    expect(output.get_by_role("alert")).to_contain_text("none")
    expect(trigger).to_be_focused()
    keyboard.press("Control+A")
    keyboard.type("3")
    keyboard.press("Enter")
    expect(output.get_by_role("alert")).to_have_count(0)
    answered(shown)
    output.locator(".file").first.hover()
    expect(output.locator(".facts")).to_contain_text("1,474 rows")
    run = output.get_by_role("button", name="Compact (")
    run.focus()
    keyboard.press("Enter")
    expect(output.locator(".done")).to_have_text(
        re.compile(r"^snapshot 15: 1 bucket, 1\d\.\d kB read, 1\d\.\d kB written")
    )
    expect(output.locator("text").filter(has_text=re.compile(r"^L\d$"))).to_have_text(["L3", "L4", "L5", "L4", "L5"])
    expect(output.locator("svg").last.locator("text").filter(has_text=re.compile("^15$"))).to_have_count(1)


@pytest.mark.nightly
def test_compaction_follows_the_table(shown: Notebook) -> None:
    output = shown.output(COMPACT)
    output.get_by_label("Refresh automatically").check()
    shown.page.evaluate(
        "() => { const k = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;"
        " k.requestExecute({code: \"from paimon_nb.notebook.magics.active import workbench\\nt = workbench().table('orders'); _ = t.delete('id < 5000')\"}); }"
    )
    expect(output.locator("svg").first.locator("text").filter(has_text="snapshot 16")).to_have_count(1)
    output.get_by_label("Refresh automatically").uncheck()


@pytest.mark.nightly
def test_compaction_is_run_by_mouse(shown: Notebook) -> None:
    output = shown.output(COMPACT)
    output.get_by_role("button", name="Reset to table settings").click()
    expect(output.get_by_label(TRIGGER)).to_have_value("5")
    answered(shown)
    output.locator(".file").first.hover()
    expect(output.locator(".facts").first).to_contain_text("row")
    output.get_by_role("button", name="Compact everything").click()
    expect(output.locator(".done")).to_have_text(re.compile(r"^snapshot 17: 1 bucket, .* read, .* written"))
    expect(output.locator("svg").first.locator("text").filter(has_text="snapshot 17")).to_have_count(1)
    # Nothing is left to do, and nothing on the panel says otherwise.
    expect(output.locator(".facts").first).to_have_text(re.compile("^Hover over a file"))
    expect(output.get_by_role("button", name="Compact everything (nothing to do)")).to_be_disabled()
    expect(output.locator("svg").first.locator(".file.signed")).to_have_count(0)


def test_the_funnel_answers_a_typed_condition(shown: Notebook) -> None:
    output, keyboard = shown.output(FUNNEL), shown.page.keyboard
    numbers = output.locator("svg text").filter(has_text=re.compile(r"^\d+ of \d+$"))
    expect(numbers).to_have_text(["6 of 6", "3 of 3", "12 of 12", "24 of 24", "96 of 96"])
    where = output.get_by_label("WHERE")
    where.focus()
    keyboard.type("day >= '2026-03-02' AND id = 77 AND shop = 'shop 5'")
    keyboard.press("Enter")
    expect(numbers).to_have_text(["4 of 6", "2 of 2", "2 of 8", "2 of 4", "2 of 8"])
    expect(output.locator(".more code")).to_have_text(
        "SELECT * FROM `default`.`sales` WHERE day >= '2026-03-02' AND id = 77 AND shop = 'shop 5'"
    )
    answered(shown)
    for _ in range(3):  # from the field down the stages
        keyboard.press("Tab")
    expect(output.locator(".facts").last).to_have_text(
        "2 of 8 buckets are read ·  12 files: bucket does not match the key"
    )
    shown.page.mouse.move(1, 1)
    output.locator(".stage").first.hover()
    expect(output.locator(".facts").last).to_have_text(
        "4 of 6 manifests are read ·  2 manifests: other partitions, not opened"
    )
    where.fill("nosuch = 1")
    where.press("Enter")
    expect(output.get_by_role("alert")).to_contain_text("nosuch")
    where.fill("day >= '2026-03-02' AND id = 77 AND shop = 'shop 5'")
    where.press("Enter")
    expect(output.get_by_role("alert")).to_have_count(0)


@pytest.mark.nightly
def test_a_key_is_stepped_through(shown: Notebook) -> None:
    output, keyboard = shown.output(WHY), shown.page.keyboard
    said = output.locator("output")
    expect(said).to_have_text("5 of 5: +I #12 from level 0 sets paid, note")
    output.get_by_role("slider", name="versions merged").focus()
    keyboard.press("ArrowLeft")
    expect(said).to_have_text("4 of 5: +I #10 from level 0 sets items")
    keyboard.press("Home")
    expect(said).to_have_text("before the first version: no row")
    expect(output.get_by_role("button", name="previous version")).to_be_disabled()
    output.get_by_role("button", name="next version").click()
    expect(said).to_have_text("1 of 5: +I #4 from level 5 sets customer, items, paid, note")
    output.get_by_role("textbox", name="id").fill("8")
    keyboard.press("Enter")
    expect(output.locator(".more code")).to_have_text("SELECT * FROM `default`.`carts` WHERE `id` = 8")
    output.get_by_role("textbox", name="id").fill("7")
    keyboard.press("Enter")
    expect(output.locator(".more code")).to_have_text("SELECT * FROM `default`.`carts` WHERE `id` = 7")
    output.get_by_role("button", name="previous version").click()
    expect(said).to_have_text(re.compile("^4 of 5"))


@pytest.mark.nightly
def test_two_moments_are_chosen(shown: Notebook) -> None:
    output = shown.output(COMPARE)
    said = output.locator(".verdict")
    expect(said).to_have_text(
        "snapshot 11 → 13: 2 files added, 4 files removed, 1 unchanged; physical rows 28,803 → 29,487"
    )
    assert signs(output) == ["− removed"] * 4 + ["+ added"] * 2
    newest = output.get_by_label("after").locator("option").filter(has_text=re.compile("^17 "))
    expect(newest).to_have_count(0)
    output.get_by_role("button", name="refresh").click()
    expect(newest).to_have_count(1)  # what the panel of compactions has done since
    before = output.get_by_label("before")
    before.focus()
    before.select_option("month-end")
    expect(said).to_have_text(re.compile("^snapshot 7 → 13: "))
    expect(before).to_be_focused()
    before.select_option("11")
    after = output.get_by_label("after")
    after.focus()
    shown.page.keyboard.press("ArrowDown")  # the newest are at the top
    expect(said).to_have_text(
        "snapshot 11 → 12: 1 file added, 4 files removed, 1 unchanged; physical rows 28,803 → 28,446"
    )
    expect(output.locator(".more").filter(has_text="changed rows")).to_have_text("changed rows: none")
    expect(after).to_be_focused()
    after.select_option("13")
    expect(output.locator(".more").filter(has_text="changed rows")).to_have_text(
        re.compile(r"[\d,]+ \+I, [\d,]+ -U, [\d,]+ \+U; showing the first 20")
    )
    expect(output.get_by_role("cell", name="-U", exact=True).first).to_be_visible()


@pytest.mark.nightly
def test_a_table_is_made_by_a_form(shown: Notebook) -> None:
    output, keyboard = shown.output(CREATE), shown.page.keyboard
    ddl, insert = output.locator("pre.ddl"), output.get_by_role("button", name="Insert as cell")
    add = output.get_by_role("button", name="+ column")
    add.press("Enter")
    expect(output.get_by_label("name of column 3")).to_be_focused()
    expect(output.locator(".error")).to_have_count(1)  # it has no name yet
    expect(insert).to_be_disabled()
    keyboard.type("seen")
    keyboard.press("Tab")
    keyboard.press("Control+A")
    keyboard.type("TIMESTAMP(3)")
    for _ in range(2):  # past the key, to the partition
        keyboard.press("Tab")
    keyboard.press("Space")
    expect(output.locator(".warning").filter(has_text="seen has too many distinct values")).to_have_count(1)
    output.get_by_label("partition of column 3").uncheck()
    bucket = output.get_by_label("bucket")
    bucket.focus()
    expect(bucket).to_be_focused()
    keyboard.type("4")
    expect(output.locator(".facts")).to_contain_text("number of buckets")
    output.get_by_label("merge-engine").select_option("aggregation")
    output.get_by_role("button", name="+ option").click()
    expect(output.get_by_label("option", exact=True)).to_be_focused()
    keyboard.type("fields.seen.aggregate-function")
    keyboard.press("Tab")
    keyboard.type("max")
    keyboard.press("Enter")
    output.get_by_label("dialect").select_option("spark")
    expected = (
        "CREATE TABLE shop.visits (\n  id BIGINT NOT NULL,\n  name STRING,\n  seen TIMESTAMP(3)\n)\nTBLPROPERTIES (\n"
        "  'primary-key' = 'id',\n  'bucket' = '4',\n  'merge-engine' = 'aggregation',\n"
        "  'fields.seen.aggregate-function' = 'max'\n)"
    )
    expect(ddl).to_have_text(expected)
    insert.click()
    expect(output.get_by_role("status")).to_have_text("Inserted below")
    cells = shown.page.locator(".jp-CodeCell")
    expect(cells).to_have_count(len(CELLS) + 1)
    source = shown.page.evaluate(
        "i => window.jupyterapp.shell.currentWidget.content.widgets[i].model.sharedModel.getSource()", CREATE + 1
    )
    assert source == "%%paimon\n" + expected
    shown.command("notebook:delete-cell")
    expect(cells).to_have_count(len(CELLS))


@pytest.mark.nightly
def test_no_name_or_value_becomes_markup(shown: Notebook) -> None:
    for cell in HOSTILE:
        shown.output(cell).locator(".pnb, .pnb-r, .pnb-t").first.wait_for()
        assert live_nodes_of(shown, cell) == []
    form = shown.output(CREATE)
    for label in ("table", "comment", "name of column 2", "comment of column 2", "bucket"):
        before = settled(shown.page, form.get_by_label(label, exact=True).input_value)
        for payload in PAYLOADS[::9]:
            form.get_by_label(label, exact=True).fill(payload)
        expect(form.locator("pre.ddl")).to_contain_text("alert(1)")
        assert live_nodes_of(shown, CREATE) == []
        form.get_by_label(label, exact=True).fill(before)
    assert shown.alerts == []


DROP = """form => {
  const data = new DataTransfer();
  data.items.add(new File(["id,name\\n1,Ann\\n2,Ben\\n"], "dropped.csv"));
  form.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


@pytest.mark.nightly
def test_a_dropped_file_fills_the_form_and_a_large_one_is_refused(shown: Notebook) -> None:
    output = shown.output(CREATE)
    output.locator(".pnb.form").evaluate(DROP)
    expect(output.locator("pre.ddl")).to_contain_text("INSERT INTO dropped SELECT * FROM 'dropped.csv'")
    expect(output.get_by_label("name of column 2")).to_have_value("name")
    large = {"name": "large.csv", "mimeType": "text/csv", "buffer": b"x" * 8_000_001}
    output.get_by_label("data file").set_input_files(large)
    expect(output.get_by_role("alert")).to_contain_text("large.csv has 8,000,001 bytes")


PANELS = (("compaction", COMPACT), ("funnel", FUNNEL), ("why", WHY), ("compare", COMPARE), ("create", CREATE))


@pytest.mark.nightly
@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"], ids=["light", "dark"])
def test_every_text_is_legible(shown: Notebook, theme: str) -> None:
    shown.theme(theme)
    for name, cell in PANELS:
        least, text = least_contrast(shown, cell)
        assert least >= 4.5, (name, text, least)  # WCAG AA
        assert serious_issues(shown, cell) == [], name


REACHABLE = """
e => [...e.querySelectorAll("input, select, button, [tabindex], .file, .stage")].filter((c) => !c.disabled && c.offsetParent !== null)
  .map((c) => [c.tabIndex, c.getAttribute("aria-label") || (c.labels && c.labels[0] && c.labels[0].textContent) || c.textContent])
"""


@pytest.mark.nightly
def test_every_control_is_reachable_and_has_a_name(shown: Notebook) -> None:
    for name, cell in PANELS:
        answered(shown)
        controls = settled(shown.page, lambda cell=cell: list(shown.output(cell).evaluate(REACHABLE)))
        assert [label for index, label in controls if index or not label.strip()] == [], name


@pytest.mark.nightly
def test_nothing_is_cut_off_at_900_pixels(shown: Notebook) -> None:
    shown.page.set_viewport_size({"width": 900, "height": 900})
    try:
        expect_no_overflow(shown, [cell for _, cell in PANELS])
    finally:
        shown.page.set_viewport_size({"width": 1180, "height": 1000})


@pytest.mark.nightly
@pytest.mark.parametrize("width", [900, 1280, 1920])
def test_texts_in_pictures_keep_their_size_at_every_width(shown: Notebook, width: int) -> None:
    with pictures_as_wide_as(shown, width, [cell for _, cell in PANELS], least=680):
        for _, cell in PANELS:
            assert small_texts(shown, cell) == []


@pytest.mark.nightly
def test_a_dropped_table_is_told_on_the_page(shown: Notebook) -> None:
    output = shown.output(FUNNEL)
    assert shown.execute("%paimon DROP TABLE sales") == "ok"
    where = output.get_by_label("WHERE")
    where.fill("id = 1")
    where.press("Enter")
    expect(output.get_by_role("alert")).to_contain_text("the table was dropped")
    expect(output.locator("svg .stage")).not_to_have_count(0)  # what was seen is still there
    assert shown.execute("1 + 1") == "ok"


@pytest.mark.nightly
def test_the_cancel_button_interrupts(notebook: Notebook, lab: Lab) -> None:
    cells = (
        "import time\nfrom IPython.display import HTML, display\nfrom paimon_nb.notebook.progress import CANCEL",
        "display(HTML(CANCEL))\ntry:\n    print('works', flush=True)\n    for _ in range(600):\n        time.sleep(0.1)\nexcept KeyboardInterrupt:\n    print('stopped')",
    )
    shown = opened(notebook, lab, "cancel.ipynb", cells)
    cell = shown.page.locator(".jp-CodeCell").nth(1)
    works, stopped = (cell.locator("pre").filter(has_text=word) for word in ("works", "stopped"))
    expect(works).to_be_visible()
    cell.get_by_role("button", name="cancel").click()
    expect(stopped).to_be_visible()
    # Not waited for: the cell ends when it is interrupted.
    shown.page.evaluate(
        "() => { const app = window.jupyterapp; app.shell.currentWidget.content.activeCellIndex = 1;"
        " app.commands.execute('notebook:run-cell'); }"
    )
    expect(stopped).to_have_count(0)
    expect(works).to_be_visible()
    cell.get_by_role("button", name="cancel").focus()
    shown.page.keyboard.press("Enter")
    expect(stopped).to_be_visible()


@pytest.mark.nightly
def test_the_start_page_shows_a_first_table_and_leads_to_the_tutorials(notebook: Notebook, lab: Lab) -> None:
    from paimon_nb.cli import START

    (lab.root / START).write_text((REPO / "notebooks" / START).read_text())
    (lab.root / "01-quickstart.ipynb").write_text((REPO / "notebooks" / "01-quickstart.ipynb").read_text())
    notebook.open(lab, START)
    page = notebook.page.locator(".jp-Notebook:visible")
    expect(page.locator("h1").filter(has_text="Start here")).to_be_visible()
    notebook.run_all()
    expect(notebook.output(1).get_by_role("gridcell", name="seven")).to_be_visible(timeout=240_000)
    expect(notebook.output(2).locator(".tiles")).to_contain_text("physical rows")
    notebook.output(3).get_by_role("button", name="Insert as cell").click()
    expect(page.locator(".jp-CodeCell").last.locator(".cm-content")).to_contain_text("CREATE TABLE my_other_table")
    page.locator(".jp-CodeCell").last.locator(".cm-content").press("Control+Enter")
    expect(notebook.output(4)).to_contain_text("created")
    page.get_by_role("link", name="Quickstart").click()
    expect(notebook.page.locator(".jp-Notebook:visible h1").first).to_contain_text("01 · Quickstart")
