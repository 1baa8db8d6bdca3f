"""The editor of %%paimon cells in JupyterLab: problems, documentation, completion and formatting, by mouse and by keyboard."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from panel_kit import opened, serious_issues_of
from playwright.sync_api import expect
from waits import answered

if TYPE_CHECKING:
    from pathlib import Path

    from lab_kit import Lab, Notebook

pytestmark = pytest.mark.browser

CELLS = ("%load_ext paimon_nb\n%paimon connect warehouse", "print(1)")
TYPED = "select id, statuss from orders"
KEEP_UNDERLINED = """
(cell) => {
  const texts = () => [...cell.querySelectorAll(".pnb-problem")].map((e) => e.textContent).join(" ");
  window.underlined = [];
  new MutationObserver(() => {
    if (texts() !== window.underlined.at(-1)) window.underlined.push(texts());
  }).observe(cell, { subtree: true, childList: true, characterData: true, attributes: true });
}
"""


@pytest.mark.nightly
def test_an_editor_by_mouse_and_by_keyboard(notebook: Notebook, lab: Lab, tables: Path) -> None:
    """Also: nothing was executed, hostile text stays text, and a Python cell is left alone."""
    shutil.copytree(tables, lab.root / "warehouse")
    shown = opened(notebook, lab, "editor.ipynb", CELLS)
    page, keyboard = shown.page, shown.page.keyboard
    before = shown.execution_count()
    cell = page.locator(".jp-CodeCell").nth(1)
    text, problem, tip = cell.locator(".cm-content"), cell.locator(".pnb-problem"), page.locator(".pnb-tip")
    text.click()
    keyboard.press("Control+a")
    keyboard.type("%%paimon\n" + TYPED)
    expect(text).to_have_attribute("data-language", "paimon-sql")
    expect(problem).to_have_text("statuss")

    cell.evaluate(KEEP_UNDERLINED)  # the word at the cursor gets its line after the others
    keyboard.type(" where a")
    expect(problem).to_have_text(["statuss", "a"])
    assert page.evaluate("window.underlined")[-2:] == ["statuss", "statuss a"]
    page.evaluate("window.underlined = []")
    keyboard.type("b")
    page.wait_for_function("window.underlined.length")
    keyboard.press("ArrowLeft")  # a move of the cursor ends typing
    expect(problem).to_have_text(["statuss", "ab"])
    keyboard.press("End")
    keyboard.press("Backspace")
    keyboard.press("Backspace")

    keyboard.press("Tab")  # columns, then keywords and functions; the order stays while the user types
    expect(page.locator(".jp-Completer-item").first).to_have_attribute("data-value", "id")
    keyboard.type("s")
    expect(page.locator(".jp-Completer-item").first).to_have_attribute("data-value", "status")
    expect(page.locator(".jp-Completer-item[data-value=status]")).to_have_count(1)
    keyboard.type("ta")
    expect(page.locator(".jp-Completer-item[data-value=status]")).to_contain_text("statusSTRING")
    keyboard.press("Escape")
    keyboard.type("tus = 'paid'")

    cell.locator(".pnb-name-table").hover()
    expect(tip).to_contain_text("primary-key table · deduplicate")
    page.mouse.move(5, 5)
    expect(tip).to_have_count(0)
    keyboard.press("F8")
    expect(tip).to_contain_text("with name `statuss` cannot be resolved→ did you mean `status`?")
    expect(page.get_by_role("status").filter(has_text="statuss")).to_have_count(1)
    assert serious_issues_of(shown, ".pnb-tip") == []
    keyboard.press("Escape")
    expect(tip).to_have_count(0)
    for _ in range(2):
        keyboard.press("ArrowLeft")
    keyboard.press("ArrowLeft")
    keyboard.press("Shift+Tab")
    expect(tip).to_contain_text("id BIGINT NOT NULL")
    expect(tip).to_contain_text("from the statistics of the files")

    keyboard.press("Control+Shift+F")
    expect(text).to_contain_text("SELECT id, statuss FROM orders WHERE status = 'paid'")
    expect(problem).to_have_text("statuss")
    keyboard.press("F8")
    keyboard.press("Shift+ArrowRight")
    keyboard.press("Control+a")
    keyboard.type("%%paimon\nSELEC `<img src=x onerror=alert(1)>`")
    expect(problem).to_have_text("SELEC")
    keyboard.press("Control+Shift+F")
    said = page.locator(".Toastify__toast").filter(has_text="Not formatted: the text has an error: unknown statement")
    expect(said.first).to_be_visible()
    keyboard.press("Control+a")
    keyboard.type("selec = 1")
    expect(text).to_have_attribute("data-language", "python")
    expect(problem).to_have_count(0)
    assert shown.execution_count() == before
    assert shown.alerts == []


@pytest.mark.nightly
def test_by_mouse_a_problem_is_read_a_name_completed_and_the_text_formatted(
    notebook: Notebook, lab: Lab, tables: Path
) -> None:
    if not (lab.root / "warehouse").exists():
        shutil.copytree(tables, lab.root / "warehouse")
    shown = opened(notebook, lab, "mouse.ipynb", CELLS)
    page, keyboard = shown.page, shown.page.keyboard
    cell = page.locator(".jp-CodeCell").nth(1)
    text, tip = cell.locator(".cm-content"), page.locator(".pnb-tip")
    text.click()
    expect(text).to_be_focused()
    keyboard.press("Control+a")
    keyboard.type("%%paimon\nselect amount, statuss from orders where sta")
    expect(text).to_have_attribute("data-language", "paimon-sql")
    answered(shown)
    keyboard.press("Tab")
    page.locator(".jp-Completer-item[data-value=status]").click()
    expect(text).to_contain_text("where status")
    expect(cell.locator(".pnb-problem").first).to_have_text("statuss")
    answered(shown)
    cell.locator(".pnb-problem").first.hover()
    expect(tip).to_contain_text("with name `statuss` cannot be resolved")
    page.mouse.move(5, 5)
    expect(tip).to_have_count(0)
    text.click(button="right")
    page.get_by_role("menuitem", name="Format SQL").click()
    expect(text).to_contain_text("SELECT amount, statuss FROM orders WHERE status")
    assert shown.alerts == []
