"""The page's half of a live table, without a kernel: what it draws when views come that leave others out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from paimon_nb.notebook.widgets.base import script

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

DRAWN = """async ([code, views]) => {
  const module = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  const heard = {}, model = { view: views[0], get: (name) => model[name], send() {}, off() {}, set() {}, save_changes() {},
    on: (name, listener) => { (heard[name] ??= []).push(listener); } };
  const host = document.body.appendChild(document.createElement("div"));
  module.default.render({ model, el: host });
  const lines = () => [...host.querySelectorAll("tbody tr")];
  let before = [];
  for (const view of views.slice(1)) { before = lines(); model.view = view; heard["change:view"].forEach((listener) => listener()); }
  return [lines().map((line) => line.innerText.split("\\t").join(" ")), lines().filter((line) => before.includes(line)).length];
}"""


def view(*rows: list[Any]) -> dict[str, Any]:
    texts = dict.fromkeys(("rate", "more", "fixed", "sql", "error"), "")
    still: dict[str, Any] = {**texts, "counts": {}, "waiting": 0, "lag": []}
    return still | {"status": "RUNNING", "columns": ["v"], "numbers": [False], "rows": list(rows), "total": len(rows)}


@pytest.mark.parametrize("between", [(), (view(),)], ids=["at once", "with a pause"])
def test_a_seek_leaves_no_row_of_the_old_place(browser: Browser, between: tuple[dict[str, Any], ...]) -> None:
    """A busy kernel may never show the moment without rows, and the new place may bring more rows than the old one had."""
    old = view([2, "+I", "b"], [1, "+I", "a"])
    after = view([5, "+I", "c"], [4, "+I", "b"], [3, "+I", "a"])
    later = view([6, "+I", "d"], [5, "+I", "c"], [4, "+I", "b"], [3, "+I", "a"])
    page = browser.new_page()
    try:
        drawn, kept = page.evaluate(DRAWN, [script("panel.js", "terms.js", "live.js"), [old, *between, after, later]])
    finally:
        page.close()
    assert drawn == ["+I d", "+I c", "+I b", "+I a"]
    assert kept == 3  # rows that stay are not drawn again: a selection in them lasts
