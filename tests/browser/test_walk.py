"""The walk of the README's animation: 30 steps in a real JupyterLab, each of which ends with what a person then sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from walk import HEIGHT, STEPS, WIDTH, walk

if TYPE_CHECKING:
    from lab_kit import Lab
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.nightly]


def test_a_table_is_made_from_a_file_broken_explained_and_rolled_back(browser: Browser, lab: Lab) -> None:
    import paimon_nb

    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    page.set_default_timeout(60_000)
    walk(page, lab)
    assert len(STEPS) == 30
    with paimon_nb.connect(str(lab.root / "warehouse")) as wb:
        table = wb.table("weather")
        kinds = [s.commit_kind for s in map(table.store.snapshots.get, table.store.snapshots.ids())]
        assert kinds == ["APPEND", "APPEND", "COMPACT"]
        assert table.lookup(origin="JFK", time_hour="2013-07-04 18:00:00")["temp"].to_pylist() == [80.96]
        assert table.to_arrow(where="wind_speed > 1000").num_rows == 0
    page.evaluate("() => window.jupyterapp.serviceManager.sessions.shutdownAll()")
    page.close()
