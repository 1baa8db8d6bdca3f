"""Every panel in windows of 700 to 1920 pixels, and at 150 %: nothing is cut off, no text is small or lies on another one."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from panel_kit import opened, overlapping_texts, small_texts
from waits import answered, expect_no_overflow

if TYPE_CHECKING:
    from pathlib import Path

    from lab_kit import Lab, Notebook

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

CELLS = (
    "%load_ext paimon_nb\n%paimon connect warehouse",
    "%paimon",
    "%paimon help",
    "%%paimon\nSELECT * FROM orders ORDER BY id",
    "%paimon explore orders",
    "%paimon timeline orders",
    "%paimon lsm orders",
    "%paimon compact orders",
    "%paimon skip sales",
    "%paimon why carts id=7",
    "%paimon compare orders 11 13",
    "%paimon create visits",
    "%paimon live orders",
    "%paimon jobs",
    "%paimon doctor orders",
)
PANELS = range(1, len(CELLS))
WIDTHS = {"700": 700, "1280 at 150 %": 1280 * 100 // 150, "900": 900, "1280": 1280, "1920": 1920}
"""What a page sees of a window that is enlarged is a narrower one."""


@pytest.fixture(scope="module")
def shown(notebook: Notebook, lab: Lab, tables: Path) -> Notebook:
    shutil.copytree(tables, lab.root / "warehouse")
    return opened(notebook, lab, "widths.ipynb", CELLS)


@pytest.mark.parametrize("width", WIDTHS)
def test_every_panel_fits(shown: Notebook, width: str) -> None:
    page = shown.page
    page.set_viewport_size({"width": WIDTHS[width], "height": 900})
    try:
        for cell in PANELS:
            shown.output(cell).scroll_into_view_if_needed()  # what is out of sight is not drawn
            answered(shown)
        expect_no_overflow(shown, list(PANELS))
        for cell in PANELS:
            assert small_texts(shown, cell) == [], CELLS[cell]
            for picture in shown.output(cell).locator("svg[width]:visible").all():
                assert overlapping_texts(picture) == [], CELLS[cell]
    finally:
        page.set_viewport_size({"width": 1180, "height": 1000})
