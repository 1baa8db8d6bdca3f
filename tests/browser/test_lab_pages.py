"""Two browser pages on one kernel: the side bar and the results answer in both, and in one when the other is closed."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from lab_kit import Notebook
from panel_kit import opened
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab_kit import Lab
    from playwright.sync_api import Locator

pytestmark = pytest.mark.browser

CELLS = (
    "%load_ext paimon_nb\n%paimon connect warehouse",
    "%%paimon\nSELECT * FROM orders ORDER BY id",
)
RUN = """async (index) => {
  const app = window.jupyterapp;
  app.shell.currentWidget.content.activeCellIndex = index;
  await app.commands.execute("notebook:run-cell");
}"""


@pytest.fixture
def two(notebook: Notebook, lab: Lab, tables: Path) -> Iterator[tuple[Notebook, Notebook]]:
    """The first page has run the first two cells; the second has opened the same notebook."""
    shutil.copytree(tables, lab.root / "warehouse")
    first = opened(notebook, lab, "pages.ipynb", CELLS)
    first.command("docmanager:save")
    second = Notebook(first.page.context.new_page())
    second.open(lab, "pages.ipynb")
    yield first, second
    second.page.close()
    first.command("filebrowser:activate")


def tree_line(page: Notebook) -> Locator:
    return page.page.locator('[role=treeitem][aria-label^="orders, table"]').first


@pytest.mark.nightly
def test_both_pages_have_the_side_bar_and_one_outlives_the_other(two: tuple[Notebook, Notebook]) -> None:
    first, second = two
    for page in two:
        page.command("paimon-nb:catalog-show")
        expect(tree_line(page)).to_be_visible(timeout=60_000)
    second.page.evaluate(RUN, 1)
    expect(second.output(1).locator(".pnb")).to_be_visible()
    second.page.evaluate(
        "() => { window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestExecute({ code: 'import time; time.sleep(3)' }); }"
    )
    second.page.close()
    answer = first.page.evaluate("""async () => {
      const future = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestExecute({ code: "", user_expressions: { sum: "1 + 1" } });
      return (await future.done).content.user_expressions.sum.data["text/plain"];
    }""")
    assert answer == "2"
    tree_line(first).locator(".pnb-cat-twisty").click()  # the columns are asked for now
    expect(first.page.locator('[role=treeitem][aria-label^="id, column"]')).to_be_visible()
