"""The page's half of panels, without a kernel: what is drawn when views come, and that it can be pressed meanwhile."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from playwright.sync_api import expect

import paimon_nb
from paimon_nb.notebook.display import Rows
from paimon_nb.notebook.grid.source import GridSource
from paimon_nb.notebook.widgets.base import script
from paimon_nb.notebook.widgets.explore import Explorer
from paimon_nb.notebook.widgets.grid import Grid
from paimon_nb.notebook.widgets.home import HomeCard
from paimon_nb.notebook.widgets.lsm import LsmView
from paimon_nb.notebook.widgets.timeline import Timeline
from paimon_nb.session import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from paimon_nb.workbench import Workbench

pytestmark = pytest.mark.browser

SHOW = """async ([code, css, state]) => {
  const module = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  const bytes = (text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const values = JSON.parse(state, (_, value) => (value && value.base64 !== undefined ? bytes(value.base64) : value));
  const heard = {};
  window.asked = [];
  window.heard = heard;
  window.model = { ...values, get: (name) => values[name], set: (name, value) => { asked.push([name, value]); }, send: (message) => { asked.push(message); },
    off() {}, save_changes() {}, on: (name, listener) => { (heard[name] ??= []).push(listener); } };
  window.values = values;
  window.redraw = () => Object.entries(heard).filter(([name]) => name.startsWith("change:")).forEach(([, listeners]) => listeners.forEach((listener) => listener()));
  document.addEventListener("paimon-nb:insert", (event) => { asked.push(event.detail.source); event.preventDefault(); });
  document.head.appendChild(document.createElement("style")).textContent = css;
  document.body.replaceChildren(document.createElement("div"));
  module.default.render({ model, el: document.body.firstChild });
}"""
SEEK = """views => {
  const lines = () => [...document.querySelectorAll("tbody tr")];
  let before = [];
  for (const view of views) { before = lines(); values.view = view; redraw(); }
  return [lines().map((line) => line.innerText.split("\\t").join(" ")), lines().filter((line) => before.includes(line)).length];
}"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    yield page
    page.close()


def view(*rows: list[Any]) -> dict[str, Any]:
    texts = dict.fromkeys(("rate", "more", "fixed", "sql", "error"), "")
    still: dict[str, Any] = {**texts, "counts": {}, "waiting": 0, "lag": []}
    return still | {"status": "RUNNING", "columns": ["v"], "numbers": [False], "rows": list(rows), "total": len(rows)}


@pytest.mark.parametrize(
    "between", [(), pytest.param((view(),), marks=pytest.mark.nightly)], ids=["at once", "with a pause"]
)
def test_a_seek_leaves_no_row_of_the_old_place(page: Page, between: tuple[dict[str, Any], ...]) -> None:
    """A busy kernel may never show the moment without rows, and the new place may bring more rows than the old one had."""
    old = view([2, "+I", "b"], [1, "+I", "a"])
    after = view([5, "+I", "c"], [4, "+I", "b"], [3, "+I", "a"])
    later = view([6, "+I", "d"], [5, "+I", "c"], [4, "+I", "b"], [3, "+I", "a"])
    page.evaluate(SHOW, [script("panel.js", "terms.js", "live.js"), "", json.dumps({"view": old})])
    drawn, kept = page.evaluate(SEEK, [*between, after, later])
    assert drawn == ["+I d", "+I c", "+I b", "+I a"]
    assert kept == 3  # rows that stay are not drawn again: a selection in them lasts


@pytest.fixture(scope="module")
def workbench(tables: Path) -> Iterator[Workbench]:
    with paimon_nb.connect(str(tables)) as wb:
        yield wb


def filtered_grid(_: Workbench) -> Grid:
    table = pa.table({"n": range(100)})
    grid = Grid(Rows(Result("rows", arrow=table), 20), GridSource(Result("rows", arrow=table), table, complete=True))
    for least in (10, 20):
        grid.on_message({"filter": {"column": 0, "operator": ">=", "text": str(least)}})
        grid.wait()
    return grid


PARTS: dict[str, tuple[Callable[[Workbench], Any], str]] = {
    "home: query a table": (HomeCard, "[aria-label='query orders']"),
    "explorer: a commit": (lambda wb: Explorer(wb.table("orders")), ".strip .dot[data-snapshot='12']"),
    "explorer: a link to a panel": (lambda wb: Explorer(wb.table("orders")), ".panel-link >> nth=1"),
    "timeline: a commit": (lambda wb: Timeline(wb.table("orders")), ".dot[data-snapshot='7']"),
    "timeline: a row of the history": (lambda wb: Timeline(wb.table("orders")), "[data-keep='pick-12']"),
    "tree: a commit": (lambda wb: LsmView(wb.table("orders")), ".commit[data-snapshot='7']"),
    "tree: a bucket": (lambda wb: LsmView(wb.table("sales")), ".heat-cell >> nth=3"),
    "grid: a filter": (filtered_grid, ".chip >> nth=1"),
}


def show(page: Page, widget: Any) -> None:
    """Draw the widget as it is now."""
    state = {name: value for name, value in widget.get_state().items() if not name.startswith("_")}
    as_text = json.dumps(state, default=lambda value: {"base64": base64.b64encode(bytes(value)).decode()})
    page.evaluate(SHOW, [str(widget._esm), str(widget._css), as_text])


def parts(*often: str, rest: Callable[[str], bool] = lambda _: True) -> list[Any]:
    """The parts, of which only some run in the normal suite."""
    return [p if p in often else pytest.param(p, marks=pytest.mark.nightly) for p in PARTS if p in often or rest(p)]


@pytest.mark.parametrize("part", parts("grid: a filter"))
def test_a_click_goes_on_while_its_part_is_drawn_again(page: Page, workbench: Workbench, part: str) -> None:
    """An answer of the kernel may come between the press of the mouse and its release."""
    make, selector = PARTS[part]
    show(page, make(workbench))
    pressed = page.locator(selector)
    pressed.hover()
    page.mouse.down()
    page.evaluate("() => { redraw(); asked.length = 0; }")
    page.mouse.up()
    page.wait_for_function("() => asked.length")
    pressed.hover()
    page.mouse.down()
    page.mouse.up()
    page.wait_for_function("() => asked.length >= 2")  # and the next one finds it alive


@pytest.mark.parametrize("part", parts("home: query a table", rest=lambda p: not p.endswith("commit")))
def test_the_focus_stays_while_its_part_is_drawn_again(page: Page, workbench: Workbench, part: str) -> None:
    make, selector = PARTS[part]
    show(page, make(workbench))
    page.locator(selector).focus()
    name = page.locator(selector).get_attribute("aria-label") or page.locator(selector).text_content() or ""
    page.evaluate("() => redraw()")
    focused = page.locator(":focus")
    expect(focused).to_have_count(1)
    assert name in (focused.get_attribute("aria-label"), focused.text_content())


def test_a_branch_whose_answer_is_missing_can_be_opened_again(page: Page, workbench: Workbench) -> None:
    """The kernel was interrupted, or it could not read the branch."""
    show(page, Explorer(workbench.table("orders")))
    branch = page.locator("[data-place='schemas']")
    branch.click()
    branch.click()
    page.wait_for_function("() => asked.filter((a) => a.open === 'schemas').length === 2")
    expect(branch).to_have_attribute("aria-expanded", "true")
    page.evaluate(
        "() => { values.trouble = 'not readable'; heard['change:trouble'].forEach((listener) => listener()); }"
    )
    expect(branch).to_have_attribute("aria-expanded", "false")
    branch.click()
    expect(branch).to_have_attribute("aria-expanded", "true")
    page.wait_for_function("() => asked.filter((a) => a.open === 'schemas').length === 3")
