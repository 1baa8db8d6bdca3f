"""The pipeline panel and the input rows of a row in a real JupyterLab, by mouse and by keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from panel_kit import opened, serious_issues
from playwright.sync_api import expect

if TYPE_CHECKING:
    from lab_kit import Lab, Notebook

pytestmark = pytest.mark.browser

FIRST = """%load_ext paimon_nb
%paimon connect pipelines
get_ipython().run_cell_magic("paimon", "-q", '''
SET 'paimon-nb.materialized-table.auto-refresh' = 'false';
CREATE TABLE orders (id INT NOT NULL, region STRING, price INT, PRIMARY KEY (id) NOT ENFORCED);
INSERT INTO orders VALUES (1, 'eu', 5), (2, 'us', 7), (3, 'eu', 9);
CREATE MATERIALIZED TABLE dear (PRIMARY KEY (id) NOT ENFORCED)
AS SELECT id, region, price * 2 AS cents FROM orders WHERE price > 5;
CREATE MATERIALIZED TABLE totals (PRIMARY KEY (region) NOT ENFORCED)
AS SELECT region, sum(cents) AS total FROM dear GROUP BY region;
INSERT INTO orders VALUES (4, 'us', 10)''')"""
CELLS = (FIRST, "%paimon pipeline dear", "%paimon why totals region=eu")
PIPELINE, WHY = 1, 2


@pytest.fixture(scope="module")
def shown(notebook: Notebook, lab: Lab) -> Notebook:
    return opened(notebook, lab, "pipeline.ipynb", CELLS)


@pytest.mark.nightly
def test_a_click_shows_what_a_part_is_and_refreshes_it(shown: Notebook) -> None:
    output = shown.output(PIPELINE)
    parts = output.locator("[data-node]")
    expect(parts).to_have_count(3)
    heading = output.locator("h4").first
    expect(heading).to_have_text("materialized table default.dear")
    expect(output.get_by_role("region", name="column")).to_contain_text("price * 2")
    parts.nth(0).click()
    expect(heading).to_have_text("table default.orders")
    parts.nth(2).press("Enter")
    expect(heading).to_have_text("materialized table default.totals")
    assert serious_issues(shown, PIPELINE) == []

    output.locator("[data-node]").nth(1).click()
    expect(output.locator("h4").first).to_have_text("materialized table default.dear")
    output.get_by_role("button", name="Refresh now").click()
    expect(output.get_by_role("status").first).to_contain_text("refreshed (incremental): 1 row added, 0 removed")
    expect(output.locator("svg").first).to_contain_text("up to date")


@pytest.mark.nightly
def test_input_rows_of_a_row(shown: Notebook) -> None:
    output = shown.output(WHY)
    expect(output.locator("h4").first).to_have_text("made from 1 row of default.dear")
    expect(output.get_by_role("button", name="why 3")).to_be_visible()
    assert serious_issues(shown, WHY) == []
