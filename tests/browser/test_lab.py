"""The pictures in a real JupyterLab, used as a reader uses them: mouse, keyboard, reload, light and dark."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from lab_kit import REPO
from panel_kit import (
    least_contrast,
    live_nodes_of,
    overlapping_texts,
    pictures_as_wide_as,
    serious_issues,
    small_texts,
    walk_to_a_file,
    write_notebook,
)
from playwright.sync_api import expect
from table_kit import PAYLOADS
from waits import answered, at_rest, box_of, expect_no_overflow, settled, text_of

if TYPE_CHECKING:
    from pathlib import Path

    from lab_kit import Lab, Notebook

pytestmark = pytest.mark.browser

CELLS = (
    "%load_ext paimon_nb\n%paimon connect warehouse",
    "%paimon lsm orders",
    "%paimon timeline orders",
    "%paimon explore orders",
    "%%paimon\nCREATE TABLE IF NOT EXISTS visits (\n  id   BIGINT PRIMARY KEY NOT ENFORCED,\n  seen TIMESTAMP(3) COMMENT 'the last time'\n) "
    "WITH ('bucket' = '4', 'merge-engine' = 'deduplicate');\n\nDESCRIBE visits",
    "%paimon timeline hostile",
    "%paimon explore hostile",
    "%%paimon\nDESCRIBE hostile",
    "%paimon doctor orders",
    "%paimon doctor ill",
    "%paimon lsm sales",
    f"import sys\nsys.path.append('{REPO / 'tests' / 'notebook'}')\nfrom many_files import write_many\n"
    "wb = %paimon workbench\nwrite_many(wb, 'many', 40)\nwb.table('many').lsm()",
)
LSM, TIMELINE, EXPLORE, SQL, HOSTILE, DOCTOR, ILL, BUCKETS, FOLDED = 1, 2, 3, 4, (5, 6, 7), 8, 9, 10, 11
NAME = "orders.ipynb"


@pytest.fixture(scope="module")
def shown(notebook: Notebook, lab: Lab, tables: Path) -> Notebook:
    """The notebook after Run All."""
    shutil.copytree(tables, lab.root / "warehouse")
    write_notebook(lab, NAME, CELLS)
    notebook.open(lab, NAME)
    notebook.run_all()
    notebook.output(FOLDED).locator("rect.file").first.wait_for(timeout=120_000)
    notebook.wait_for_outputs()
    answered(notebook)
    return notebook


def drawn(notebook: Notebook, cell: int) -> list[dict[str, Any]]:
    """Every file that the LSM picture of a cell shows: level by colour, place, facts."""
    files = (
        "e => [...e.querySelectorAll('rect.file')].map(f => ({x: +f.getAttribute('x'), width: +f.getAttribute('width'),"
        " fill: f.getAttribute('fill'), facts: f.getAttribute('aria-label')}))"
    )
    answered(notebook)
    return settled(notebook.page, lambda: list(notebook.output(cell).evaluate(files)))


def test_run_all_shows_the_tree_and_the_history(shown: Notebook) -> None:
    assert len(drawn(shown, LSM)) == 4  # two fresh files, L4, L5
    lanes = shown.output(LSM).locator("text").filter(has_text=re.compile(r"^L\d"))
    expect(lanes).to_have_text(["L0 · 1", "L0 · 2", "L4", "L5"])
    expect(shown.output(TIMELINE).locator("circle.dot")).to_have_count(14)
    expect(shown.output(TIMELINE).locator("text").filter(has_text="⚑ month-end")).to_have_count(1)


def test_the_slider_travels_by_keyboard(shown: Notebook) -> None:
    output = shown.output(TIMELINE)
    slider = output.locator("input[type=range]")
    expect(slider).to_have_attribute("aria-valuetext", "snapshot 14, append")
    before = drawn(shown, TIMELINE)
    slider.focus()
    shown.page.keyboard.press("ArrowLeft")
    output.get_by_text("VERSION AS OF 13").wait_for()
    expect(slider).to_have_attribute("aria-valuetext", "snapshot 13, append")
    after = drawn(shown, TIMELINE)
    assert len(after) == len(before) - 1
    assert [f["facts"] for f in after] == [f["facts"] for f in before if "1,474 rows" not in f["facts"]]
    shown.page.keyboard.press("Home")
    output.get_by_text(re.compile(r"VERSION AS OF 1$")).wait_for()
    assert [f["fill"] for f in drawn(shown, TIMELINE)] == ["#E69F00"]  # one file, level 0
    shown.page.keyboard.press("End")
    output.get_by_text("VERSION AS OF 14").wait_for()
    assert drawn(shown, TIMELINE) == before


@pytest.mark.nightly
def test_the_thumb_stands_under_its_commit(shown: Notebook) -> None:
    output = shown.output(TIMELINE)
    dots = [box_of(output.locator(f'circle.dot[data-snapshot="{i}"]')) for i in (1, 14)]
    slider = box_of(output.locator("input[type=range]"))
    assert slider["x"] + 8 == pytest.approx(dots[0]["x"] + dots[0]["width"] / 2, abs=2)
    assert slider["x"] + slider["width"] - 8 == pytest.approx(dots[1]["x"] + dots[1]["width"] / 2, abs=2)


def test_a_click_on_a_commit_travels_too(shown: Notebook) -> None:
    output = shown.output(TIMELINE)
    output.locator('circle.dot[data-snapshot="7"]').click()
    output.get_by_text(re.compile(r"VERSION AS OF 7$")).wait_for()
    assert [f["fill"] for f in drawn(shown, TIMELINE)] == ["#D55E00"]  # all in L5, just compacted


@pytest.mark.nightly
def test_the_history_is_played_as_a_film(shown: Notebook) -> None:
    output, keyboard = shown.output(TIMELINE), shown.page.keyboard
    output.locator('circle.dot[data-snapshot="5"]').click()
    output.get_by_text(re.compile(r"VERSION AS OF 5$")).wait_for()
    play = output.locator("button.play")
    play.focus()
    keyboard.press("Enter")
    output.get_by_text(re.compile(r"VERSION AS OF 7$")).wait_for()  # two steps on by itself, the tree with it
    keyboard.press("Enter")
    expect(play).to_have_text("▶ Play")
    answered(shown)
    stopped = text_of(output.locator("output"))
    shown.page.wait_for_timeout(1_200)  # longer than a step
    answered(shown)
    assert text_of(output.locator("output")) == stopped
    output.locator('circle.dot[data-snapshot="7"]').click()
    output.get_by_text(re.compile(r"VERSION AS OF 7$")).wait_for()


COUNT_SLIDES = """
() => {
  const animate = Element.prototype.animate;
  window.slides = 0;
  Element.prototype.animate = function (...how) { window.slides += Boolean(this.closest(".ghosts")); return animate.apply(this, how); };
}
"""


@pytest.mark.nightly
def test_the_tree_is_played_by_mouse_and_by_keyboard(shown: Notebook) -> None:
    output, page = shown.output(LSM), shown.page
    moment, play = output.locator(".bar output"), output.locator("button.play")
    page.evaluate(COUNT_SLIDES)
    output.locator('.commit[data-snapshot="11"]').click()
    expect(moment).to_have_text(re.compile(r"^snapshot 11 · append · 1 file added \(L0, .* kB\)$"))
    assert page.evaluate("slides") == 3  # the files of snapshots 12, 13 and 14 go
    output.get_by_role("button", name="Next commit").click()
    expect(moment).to_have_text(re.compile(r"^snapshot 12 · compact · 4 files merged into 1 file \(L4, .* kB\)$"))
    assert page.evaluate("slides") == 3 + 4
    page.emulate_media(reduced_motion="reduce")
    page.keyboard.press(",")
    expect(moment).to_contain_text("snapshot 11 ·")
    assert page.evaluate("slides") == 3 + 4
    output.get_by_role("slider", name="snapshot").focus()
    page.keyboard.press("Home")
    expect(moment).to_contain_text("snapshot 1 ·")
    page.keyboard.press("Space")
    expect(moment).to_contain_text("snapshot 3 ·")  # by itself
    expect(play).to_have_text("❚❚ Pause")
    page.keyboard.press("Space")
    expect(play).to_have_text("▶ Play")
    play.click()
    expect(moment).to_contain_text("snapshot 6 ·")
    play.click()
    output.get_by_role("slider", name="snapshot").press("End")
    expect(moment).to_contain_text("snapshot 14 ·")
    expect(output.get_by_role("button", name="Next commit")).to_be_disabled()
    page.emulate_media(reduced_motion="no-preference")


def test_a_bucket_of_the_heat_map_opens_and_level_0_unfolds(shown: Notebook) -> None:
    output, keyboard = shown.output(BUCKETS), shown.page.keyboard
    cells, tree = output.locator(".heat-cell"), output.locator(".tree-picture")
    expect(cells).to_have_count(12)
    output.get_by_role("button", name="day=2026-03-02 · bucket 1: 2 sorted runs").click()
    expect(tree).to_contain_text("day=2026-03-02 · bucket 1")
    expect(output.locator(".heat-cell.chosen")).to_be_focused()
    keyboard.press("ArrowRight")
    keyboard.press("Enter")
    expect(tree).to_contain_text("day=2026-03-02 · bucket 2")
    folded = shown.output(FOLDED)
    labels = folded.locator(".lane text").filter(has_text=re.compile("^L"))
    expect(labels).to_have_text(["L0 × 11", "L4", "L5"])
    folded.get_by_role("button", name="Unfold level 0: 11 runs").press("Enter")
    expect(labels).to_have_count(13)
    folded.get_by_role("button", name="Fold L0").click()
    expect(labels).to_have_count(3)


@pytest.mark.nightly
def test_files_tell_their_facts_by_keyboard_and_by_size(shown: Notebook) -> None:
    output = shown.output(LSM)
    by_key = drawn(shown, LSM)
    output.get_by_label("axis").focus()
    shown.page.keyboard.press("Tab")
    expect(output.get_by_role("button", name="Zoom in")).to_be_focused()
    shown.page.keyboard.press("Tab")
    expect(output.get_by_role("button", name="refresh")).to_be_focused()
    shown.page.keyboard.press("Tab")
    expect(output.get_by_role("slider", name="snapshot")).to_be_focused()
    shown.page.keyboard.press("Tab")
    facts = output.locator(".facts")
    expect(facts).to_contain_text("level 0")
    expect(facts).to_contain_text("1,474 rows")
    assert text_of(facts).count(" · ") >= 4
    output.get_by_label("axis").select_option("size")
    shown.page.wait_for_function(
        "w => +document.querySelectorAll('.jp-CodeCell')[1].querySelector('rect.file').getAttribute('width') !== w",
        arg=by_key[0]["width"],
    )
    widths = [f["width"] for f in drawn(shown, LSM)]
    output.get_by_label("axis").select_option("key")
    assert max(widths) == widths[-1]  # L5 holds the most bytes
    assert drawn(shown, LSM) == by_key


@pytest.mark.nightly
def test_a_stretch_of_the_keys_fills_the_width(shown: Notebook) -> None:
    """By dragging, by keys, by buttons; `test_speed.py` does it with 20,000 files in bins."""
    output, keyboard = shown.output(LSM), shown.page.keyboard
    whole = drawn(shown, LSM)
    low, high, tree = (output.locator(place) for place in ("[data-end=low]", "[data-end=high]", ".tree-picture"))
    ends = (int(text_of(low)), int(text_of(high)))
    tree.hover()
    box, wide = box_of(tree), tree.evaluate("e => e.viewBox.baseVal.width")
    scale = box["width"] / wide
    place = lambda share: box["x"] + (74 + share * (wide - 74 - 190)) * scale  # noqa: E731
    shown.page.mouse.move(place(0.25), box["y"] + 40)
    shown.page.mouse.down()
    shown.page.mouse.move(place(0.75), box["y"] + 60, steps=5)
    shown.page.mouse.up()
    out = output.get_by_role("button", name="all keys")
    expect(out).to_be_enabled()
    span = ends[1] - ends[0]
    files = drawn(shown, LSM)
    assert all(f["x"] >= 73.9 and f["x"] + f["width"] <= wide - 189.9 for f in files)
    assert int(text_of(low)) == pytest.approx(ends[0] + 0.25 * span, abs=0.01 * span)
    assert int(text_of(high)) == pytest.approx(ends[0] + 0.75 * span, abs=0.01 * span)
    output.locator(".file").last.focus()
    keyboard.press("+")
    expect(output.locator(".zoom .dim")).to_have_text(re.compile(r"^2[45]\.\d % of the keys$"))
    expect(output.locator(".file").last).to_be_focused()
    share = text_of(low)
    keyboard.press("ArrowRight")
    expect(low).not_to_have_text(share)
    keyboard.press("0")
    expect(out).to_be_disabled()
    expect(low).to_have_text(str(ends[0]))
    expect(high).to_have_text(str(ends[1]))
    assert drawn(shown, LSM) == whole


@pytest.mark.nightly
def test_the_explorer_goes_down_to_a_row_group_by_keyboard(shown: Notebook) -> None:
    output, keyboard = shown.output(EXPLORE), shown.page.keyboard
    chosen = output.locator('[aria-selected="true"]')
    output.locator('[data-place="snapshots"]').click()
    output.locator('[data-place="snapshot/14"]').wait_for()
    keyboard.press("ArrowDown")
    expect(chosen).to_have_attribute("data-place", "snapshot/14")
    keyboard.press("ArrowRight")
    output.locator('[data-place="snapshot/14/delta"]').wait_for()
    for _ in range(2):
        keyboard.press("ArrowDown")
    depth = "snapshot/14/delta"
    expect(chosen).to_have_attribute("data-place", depth)
    for _ in range(3):  # manifest, file, row group
        keyboard.press("ArrowRight")
        output.locator(f'[data-place^="{depth}/"]').first.wait_for()
        keyboard.press("ArrowRight")
        expect(chosen).to_have_attribute("data-place", re.compile(f"^{re.escape(depth)}/"))
        depth = str(chosen.get_attribute("data-place"))
    assert depth.count("/") == 5
    facts = output.locator(".about")
    facts.get_by_text("row group 0").wait_for()
    expect(facts.get_by_role("cell", name="_SEQUENCE_NUMBER")).to_have_count(1)
    keyboard.press("ArrowLeft")
    facts.get_by_text("schema 0").click()
    facts.get_by_role("cell", name="DECIMAL(10, 2)").wait_for()
    expect(output.locator('[data-place="schema/0"]')).to_be_focused()  # the tree opened on the way there
    expect(chosen).to_have_attribute("data-place", "schema/0")
    keyboard.press("Home")


def test_the_first_page_tells_the_table_and_leads_on(shown: Notebook) -> None:
    """Figures, a strip of commits, bounds of the columns; a look opens in a cell of its own, by keyboard."""
    explorer, cells = shown.output(EXPLORE), shown.page.locator(".jp-CodeCell")
    explorer.locator('[data-place=""]').click()
    expect(explorer.locator(".kind span")).to_have_text(["primary-key table", "deduplicate", "1 bucket"])
    tiles = explorer.locator(".tiles > div")
    ends = ["physical rows30,961before merge", "4 files", "snapshots141 … 14", "append +1,474"]
    expect(tiles).to_have_text([re.compile(f"{re.escape(end)}$") for end in ends])
    expect(explorer.get_by_role("cell", name="39997", exact=True)).to_have_count(1)
    expect_newest_commit_in_view(explorer)
    explorer.locator('.strip .dot[data-snapshot="12"]').click()
    expect(explorer.locator('[aria-selected="true"]')).to_have_attribute("data-place", "snapshot/12")
    look = explorer.get_by_role("button", name="history at this snapshot")
    look.focus()
    shown.page.keyboard.press("Enter")
    expect(cells).to_have_count(len(CELLS) + 1)
    made = shown.output(EXPLORE + 1)
    expect(made.locator("input[type=range]")).to_have_attribute("aria-valuetext", "snapshot 12, compact")
    shown.command("notebook:delete-cell")
    expect(cells).to_have_count(len(CELLS))
    explorer.locator('[data-place=""]').click()


def expect_newest_commit_in_view(explorer: Any) -> None:
    newest = explorer.locator('.strip .dot[data-snapshot="14"] circle')
    newest.wait_for()
    inside = """e => {
      const [dot, strip] = [...e.querySelectorAll('.strip .dot[data-snapshot="14"] circle, .strip')].map((n) => n.getBoundingClientRect()).sort((a, b) => a.width - b.width);
      return strip && strip.left <= dot.left && dot.right <= strip.right + 1;
    }"""
    explorer.page.wait_for_function(inside, arg=explorer.element_handle())


@pytest.mark.nightly
def test_a_paimon_cell_is_highlighted_as_sql(shown: Notebook) -> None:
    languages = shown.page.locator(".jp-CodeCell .cm-content")
    expect(languages.nth(SQL)).to_have_attribute("data-language", "paimon-sql")
    expect(languages.nth(LSM)).to_have_attribute("data-language", "python")
    assert serious_issues(shown, SQL) == []


@pytest.mark.nightly
def test_the_doctor_names_the_cure_and_it_helps(shown: Notebook) -> None:
    expect(shown.output(DOCTOR)).to_contain_text(re.compile(r"✓\s*healthy .* none missing"))
    ill = shown.output(ILL)
    expect(ill.locator(".grade").first).to_have_text("✗")
    expect(ill).to_contain_text("broken")
    cure = "CALL sys.rollback_to('default.ill', 2)"
    ill.locator("code").first.click()  # one click takes the whole statement
    shown.page.wait_for_function("cure => getSelection().toString().trim() === cure", arg=cure)
    typed_below(shown, ILL, f"%paimon {cure}", shown.output(ILL + 1))
    shown.command("notebook:delete-cell")
    expect(shown.page.locator(".jp-CodeCell")).to_have_count(len(CELLS))
    in_command_mode(shown, ILL)
    shown.page.keyboard.press("Control+Enter")
    expect(ill.locator(".grade").first).not_to_have_text("✗")
    expect(ill).not_to_contain_text("broken")
    for cell in (DOCTOR, ILL):
        assert serious_issues(shown, cell) == []


def typed_below(shown: Notebook, cell: int, source: str, answer: Any) -> None:
    """A new cell, typed and run without the mouse; it is the active one afterwards."""
    keyboard, cells = shown.page.keyboard, shown.page.locator(".jp-CodeCell")
    count = cells.count()
    in_command_mode(shown, cell)
    keyboard.press("b")
    expect(cells).to_have_count(count + 1)
    editor = cells.nth(cell + 1).locator(".cm-content")
    keyboard.press("Enter")
    expect(editor).to_be_focused()
    keyboard.insert_text(source)
    expect(editor).to_have_text(source.replace("\n", ""))
    keyboard.press("Control+Enter")
    expect(answer).to_be_visible()


def in_command_mode(shown: Notebook, cell: int) -> None:
    """A cell is active, and keys are the notebook's."""
    shown.page.evaluate(
        "i => { const { content } = window.jupyterapp.shell.currentWidget;"
        " content.activeCellIndex = i; content.mode = 'command'; content.node.focus(); }",
        cell,
    )
    expect(shown.page.locator(".jp-CodeCell").nth(cell)).to_have_class(re.compile("jp-mod-active"))
    expect(shown.page.locator(".jp-Notebook")).to_have_class(re.compile("jp-mod-commandMode"))


@pytest.mark.nightly
def test_a_cell_is_typed_run_and_taken_back(shown: Notebook) -> None:
    """By keyboard and by Lab's own button; what it did is undone by a line below."""
    cells = shown.page.locator(".jp-CodeCell")
    made = cells.nth(LSM + 1)
    insert = "%%paimon\nINSERT INTO orders VALUES (50001, 'mine', 1.00)"
    typed_below(shown, LSM, insert, made.locator(".jp-OutputArea-output").first)
    typed_below(
        shown,
        LSM + 1,
        "%paimon SELECT status FROM orders WHERE id = 50001",
        cells.nth(LSM + 2).get_by_text("mine", exact=True),
    )
    ask = cells.nth(LSM + 2)
    typed_below(shown, LSM + 2, "%paimon undo", cells.nth(LSM + 3).get_by_text("rolled back to snapshot 14"))
    shown.page.evaluate("i => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = i; }", LSM + 2)
    shown.page.get_by_role("button", name="Run this cell and advance").click()
    expect(ask.get_by_text("no rows")).to_be_visible()
    for left in (2, 1, 0):
        shown.page.evaluate("i => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = i; }", LSM + 1)
        shown.command("notebook:delete-cell")
        expect(cells).to_have_count(len(CELLS) + left)


@pytest.mark.parametrize(
    ("typed", "offers"),
    [
        ("%%paimon\nSELECT * FROM ord", ["orders"]),
        pytest.param("%%paimon\nSELECT  FROM orders WHERE sta", ["status"], marks=pytest.mark.nightly),
        ("%%paimon\nSELECT * FROM orders$f", ["files", "file_key_ranges", "file_indexes"]),
        pytest.param(
            "%%paimon\nCALL sys.create_t",
            ["sys.create_tag", "sys.create_tag_from_timestamp"],
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            "%%paimon\nALTER TABLE orders SET ('num-sorted-run.c",
            ["num-sorted-run.compaction-trigger"],
            marks=pytest.mark.nightly,
        ),
        pytest.param("%%paimon\nCALL sys.create_tag(table => 'orders', ta", ["tag => "], marks=pytest.mark.nightly),
        pytest.param("%%paimon\nUSE CATALOG pai", ["paimon"], marks=pytest.mark.nightly),
        pytest.param("%paimon timeline ord", ["orders"], marks=pytest.mark.nightly),
    ],
    ids=["table", "column", "system table", "procedure", "option", "argument", "catalog", "table of a command"],
)
def test_tab_offers_names(shown: Notebook, typed: str, offers: list[str]) -> None:
    """They stand in a list; Enter, or a click, puts the chosen one in place of what was typed."""
    shown.page.evaluate(
        """async (source) => {
          const { content } = window.jupyterapp.shell.currentWidget;
          content.activeCellIndex = content.widgets.length - 1;
          await window.jupyterapp.commands.execute("notebook:insert-cell-below");
          content.activeCell.model.sharedModel.setSource(source);
          content.mode = "edit";
          content.activeCell.editor.focus();
          content.activeCell.editor.setCursorPosition(content.activeCell.editor.getPositionAt(source.length));
        }""",
        typed,
    )
    expect(shown.page.locator(".jp-CodeCell").last.locator(".cm-content")).to_be_focused()
    answered(shown)
    shown.page.keyboard.press("Tab")
    offered = shown.page.locator(".jp-Completer:visible .jp-Completer-match")
    for name in offers:
        expect(offered.filter(has_text=re.compile(f"^{re.escape(name)}$"))).to_have_count(1)
    at_rest(shown.page)
    first = shown.page.locator(".jp-Completer:visible .jp-Completer-item").first
    expect(first).to_have_class(re.compile("jp-mod-active"))
    chosen = settled(shown.page, lambda: first.get_attribute("data-value"))
    if "$" in typed:
        offered.first.click()
    else:
        shown.page.keyboard.press("Enter")
    shown.page.wait_for_function(
        """([typed, name]) => {
          const source = window.jupyterapp.shell.currentWidget.content.activeCell.model.sharedModel.getSource();
          return source !== typed && source.endsWith(name);
        }""",
        arg=[typed, chosen],
    )
    shown.page.keyboard.press("Escape")
    shown.command("notebook:delete-cell")
    expect(shown.page.locator(".jp-CodeCell")).to_have_count(len(CELLS))


def test_hostile_texts_run_nowhere(shown: Notebook) -> None:
    explorer = shown.output(HOSTILE[1])
    for place in ("schemas", "tags", "options", "snapshots"):
        explorer.locator(f'[data-place="{place}"]').click()
        expect(explorer.locator(f'[data-place="{place}"]')).to_have_attribute("aria-selected", "true")
        expect(explorer.locator(f'[data-place="{place}"] + ul .wait')).to_have_count(0)  # its branches have come
    explorer.locator('[data-place="schema/0"]').click()
    expect(explorer.locator(".about td").filter(has_text=PAYLOADS[0])).not_to_have_count(0)
    for cell in HOSTILE:
        assert live_nodes_of(shown, cell) == []
        expect(shown.output(cell)).to_contain_text("alert(1)")
    assert shown.alerts == []


@pytest.mark.nightly
@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"], ids=["light", "dark"])
def test_every_text_is_legible(shown: Notebook, theme: str) -> None:
    shown.theme(theme)
    explorer = shown.output(EXPLORE)
    explorer.locator('[data-place=""]').click()
    explorer.locator(".tiles").wait_for()
    assert least_contrast(shown, EXPLORE)[0] >= 4.5, least_contrast(shown, EXPLORE)
    assert serious_issues(shown, EXPLORE) == []
    walk_to_a_file(explorer, 14)
    shown.output(TIMELINE).locator('circle.dot[data-snapshot="11"]').click()
    shown.output(TIMELINE).get_by_text("VERSION AS OF 11").wait_for()
    for name, cell in (
        ("lsm", LSM),
        ("timeline", TIMELINE),
        ("explore-file", EXPLORE),
        ("cell", SQL),
        ("doctor", DOCTOR),
        ("buckets", BUCKETS),
        ("folded lanes", FOLDED),
    ):
        least, text = least_contrast(shown, cell)
        assert least >= 4.5, (name, text, least)  # WCAG AA
        assert serious_issues(shown, cell) == [], name


def test_pictures_and_answers_keep_within_900_pixels(shown: Notebook) -> None:
    shown.page.set_viewport_size({"width": 900, "height": 900})
    try:
        expect_no_overflow(shown, (LSM, TIMELINE, EXPLORE, SQL, DOCTOR))
        shown.output(EXPLORE).locator('[data-place=""]').click()
        expect_newest_commit_in_view(shown.output(EXPLORE))
    finally:
        shown.page.set_viewport_size({"width": 1180, "height": 1000})


@pytest.mark.nightly
@pytest.mark.parametrize("width", [900, pytest.param(1280, marks=pytest.mark.nightly), 1920])
def test_texts_in_pictures_keep_their_size_at_every_width(shown: Notebook, width: int) -> None:
    shown.output(EXPLORE).locator('[data-place=""]').click()
    with pictures_as_wide_as(shown, width, (LSM, TIMELINE, BUCKETS, FOLDED), least=420):
        for cell in (LSM, TIMELINE, EXPLORE, BUCKETS, FOLDED, DOCTOR):
            assert small_texts(shown, cell) == []


@pytest.mark.nightly
@pytest.mark.parametrize("width", [900, pytest.param(1280, marks=pytest.mark.nightly), 1920])
def test_the_note_of_an_axis_by_rank_is_whole_at_every_width(shown: Notebook, width: int) -> None:
    axis = shown.output(LSM).get_by_role("combobox", name="axis")
    axis.select_option("rank")
    try:
        with pictures_as_wide_as(shown, width, (LSM,), least=420):
            picture = shown.output(LSM).locator("svg.tree-picture")
            note = picture.locator(".key-axis text").filter(has_text="not to scale")
            expect(note).to_have_text("not to scale" if width == 900 else "keys in order, not to scale")
            assert overlapping_texts(picture) == []
    finally:
        axis.select_option("key")
        expect(shown.output(LSM).locator(".key-axis text").filter(has_text="not to scale")).to_have_count(0)


@pytest.mark.nightly
def test_the_stored_notebook_shows_its_picture_without_a_kernel(shown: Notebook, lab: Lab) -> None:
    answered(shown)
    shown.command("docmanager:save")
    shown.page.evaluate("() => window.jupyterapp.serviceManager.sessions.shutdownAll()")
    stored = json.loads((lab.root / NAME).read_text())
    (data,) = [o["data"] for o in stored["cells"][LSM]["outputs"]]
    assert {"text/plain", "text/html", "image/svg+xml"} <= set(data)
    shown.open(lab, NAME, reload=True)
    for cell in (LSM, TIMELINE, EXPLORE):
        still = shown.output(cell).locator("img.pnb-still")
        still.wait_for()
        assert still.evaluate("e => e.decode().then(() => e.naturalWidth)") > 800
        assert "orders" in (still.get_attribute("alt") or "")
    expect(shown.page.get_by_text("model not found")).to_have_count(0)
