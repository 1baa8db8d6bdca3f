"""The panels that change with what the reader asks, in a real JupyterLab, by mouse and by keyboard."""

from __future__ import annotations

import re

import pytest
from lab_kit import Lab, Notebook
from panel_kit import opened, signs
from playwright.sync_api import expect
from test_lab import CONTRAST, write_hostile, write_orders

pytestmark = pytest.mark.browser

CELLS = (
    "%load_ext paimon_nb\n%paimon connect warehouse",
    "%paimon compact orders",
    "%paimon compact hostile",
)
COMPACT, HOSTILE = 1, (2,)
TRIGGER = "num-sorted-run.compaction-trigger"


@pytest.fixture(scope="module")
def shown(notebook: Notebook, lab: Lab) -> Notebook:
    write_orders(lab.root / "warehouse")
    write_hostile(lab.root / "warehouse")
    return opened(notebook, lab, "panels.ipynb", CELLS)


def test_compaction_asks_what_if_and_runs(shown: Notebook) -> None:
    output, keyboard = shown.output(COMPACT), shown.page.keyboard
    verdict = output.locator(".verdict").first
    expect(verdict).to_have_text("nothing is due in bucket 0")
    expect(output.get_by_role("button", name="run what is due")).to_be_disabled()
    assert signs(output) == []
    trigger = output.get_by_label(TRIGGER)
    trigger.focus()
    keyboard.press("Control+A")
    keyboard.type("3")
    keyboard.press("Enter")
    expect(verdict).to_have_text("▸ due in bucket 0: 2 files, 18.2 kB, to level 3 by compaction.size-ratio")
    assert signs(output) == ["▸ would be compacted"] * 2
    expect(trigger).to_be_focused()  # drawing anew took nothing away from the reader
    expect(output.locator("tr.decides th")).to_have_text("compaction.size-ratio")
    keyboard.press("Control+A")
    keyboard.type("none")
    keyboard.press("Enter")
    expect(output.get_by_role("alert")).to_contain_text("none")
    keyboard.press("Control+A")
    keyboard.type("3")
    keyboard.press("Enter")
    expect(output.get_by_role("alert")).to_have_count(0)
    output.locator(".file").first.hover()
    expect(output.locator(".facts")).to_contain_text("1,474 rows")
    run = output.get_by_role("button", name="run what is due")
    run.focus()
    keyboard.press("Enter")
    expect(output.locator(".verdict").nth(1)).to_have_text(
        re.compile(r"^snapshot 15: 1 bucket, 18.2 kB read, 16.8 kB written")
    )
    expect(output.locator("text").filter(has_text=re.compile(r"^L\d$"))).to_have_text(["L3", "L4", "L5", "L4", "L5"])
    expect(output.locator("svg").last.locator("text").filter(has_text=re.compile("^15$"))).to_have_count(1)


def test_compaction_follows_the_table(shown: Notebook) -> None:
    output = shown.output(COMPACT)
    output.get_by_label("follow the table").check()
    shown.page.evaluate(
        "() => { const k = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;"
        " k.requestExecute({code: \"from paimon_nb.notebook.magics.current import workbench\\nt = workbench().table('orders'); _ = t.delete('id < 5000')\"}); }"
    )
    expect(output.locator("svg").first.locator("text").filter(has_text="snapshot 16")).to_have_count(1)
    output.get_by_label("follow the table").uncheck()


def test_no_name_or_value_becomes_markup(shown: Notebook) -> None:
    for cell in HOSTILE:
        shown.output(cell).locator("svg").first.wait_for()
    assert shown.page.evaluate("() => window.hit") is None
    assert shown.page.locator(".jp-OutputArea-output img, .jp-OutputArea-output script").count() == 0


PANELS = (("compaction", COMPACT),)


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"], ids=["light", "dark"])
def test_every_text_is_legible(shown: Notebook, theme: str) -> None:
    shown.theme(theme)
    for name, cell in PANELS:
        least, text = shown.output(cell).evaluate(CONTRAST)
        assert least >= 4.5, (name, text, least)  # WCAG AA
        shown.keep(f"{name}-{theme.split()[1].lower()}", cell)
