"""Data at hand in a real JupyterLab: a file is queried, loaded by the form, and queried as a table; a frame is queried."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from panel_kit import live_nodes_of, opened, serious_issues
from playwright.sync_api import expect
from table_kit import PAYLOADS

if TYPE_CHECKING:
    from lab_kit import Lab, Notebook

pytestmark = pytest.mark.browser

CELLS = (
    "%load_ext paimon_nb\n%paimon connect warehouse\nimport pandas as pd\nsales = pd.DataFrame({'id': [1, 2], 'v': ['a', 'b']})",
    "%%paimon\nSELECT * FROM 'visits.csv' ORDER BY id",
    "%%paimon\nSELECT v FROM sales WHERE id = 2",
    "%paimon load visits.csv",
    "%paimon load hostile.csv",
    "%%paimon\nSELECT * FROM 'hostile.csv'",
)
FILE, FRAME, FORM, HOSTILE, HOSTILE_ROWS = range(1, len(CELLS))


@pytest.fixture(scope="module")
def shown(notebook: Notebook, lab: Lab) -> Notebook:
    (lab.root / "visits.csv").write_text("id;page;seconds\n2;b;\n1;a;2.5\n")
    lines = [",".join('"' + p.replace('"', '""') + '"' for p in (payload, payload[::-1])) for payload in PAYLOADS]
    (lab.root / "hostile.csv").write_text("\n".join([lines[0].replace("\n", " "), *lines]) + "\n")
    return opened(notebook, lab, "data.ipynb", CELLS)


@pytest.mark.nightly
def test_a_file_is_queried_and_the_guess_is_shown(shown: Notebook) -> None:
    output = shown.output(FILE)
    expect(output.locator(".dg-foot output")).to_contain_text("2 rows")
    expect(output.get_by_role("gridcell", name="2.5")).to_be_visible()
    expect(output.locator(".dg-notes")).to_have_text(
        "visits.csv: CSV, delimiter semicolon, header in line 1; id BIGINT, page STRING, seconds DOUBLE"
    )
    assert serious_issues(shown, FILE) == []
    # A data frame is queried, too.
    expect(shown.output(FRAME).get_by_role("gridcell", name="b", exact=True)).to_be_visible()


@pytest.mark.nightly
def test_a_file_is_loaded_by_keyboard(shown: Notebook) -> None:
    output, keyboard = shown.output(FORM), shown.page.keyboard
    expect(output.get_by_text("2 rows · visits.csv: CSV")).to_be_visible()
    expect(output.get_by_role("region", name="first rows").get_by_role("row")).to_have_count(3)
    expect(output.get_by_label("name of column 2")).to_have_value("page")
    expect(output.get_by_label("key of column 1")).to_be_checked()
    output.get_by_label("name of column 3").focus()
    expect(output.get_by_label("name of column 3")).to_be_focused()
    keyboard.press("Control+A")
    keyboard.type("stay")
    expect(output.locator("pre.ddl")).to_contain_text("stay DOUBLE")
    expect(output.locator("pre.ddl")).to_contain_text("INSERT INTO visits SELECT * FROM 'visits.csv'")
    assert serious_issues(shown, FORM) == []
    output.get_by_role("button", name="Insert as cell").press("Enter")
    made = shown.page.locator(".jp-CodeCell").nth(FORM + 1)
    expect(made.locator(".cm-content")).to_contain_text("INSERT INTO visits")
    made.locator(".cm-content").press("Control+Enter")
    expect(made.locator(".jp-OutputArea-output").last).to_contain_text("2 rows inserted into default.visits")


@pytest.mark.nightly
def test_hostile_files_stay_text(shown: Notebook) -> None:
    at = FORM + 2  # a cell was inserted above
    for cell in (at, at + 1):
        shown.output(cell).locator(".pnb").wait_for()
        assert live_nodes_of(shown, cell) == []
    assert shown.alerts == []
