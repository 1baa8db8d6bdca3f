"""Notebooks made for a test: cells in, a page that has run them out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab_kit import Lab, Notebook

KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def write_notebook(lab: Lab, name: str, cells: Sequence[str]) -> None:
    made = [
        {"cell_type": "code", "source": c, "metadata": {}, "outputs": [], "execution_count": None, "id": f"c{i}"}
        for i, c in enumerate(cells)
    ]
    (lab.root / name).write_text(json.dumps({"cells": made, "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}))


def opened(notebook: Notebook, lab: Lab, name: str, cells: Sequence[str], wait_ms: int = 60_000) -> Notebook:
    """The notebook after Run All, when each cell but the first shows something."""
    write_notebook(lab, name, cells)
    notebook.open(lab, name)
    notebook.run_all()
    for cell in range(1, len(cells)):
        notebook.output(cell).wait_for(timeout=wait_ms)
    return notebook


def signs(output: Any) -> list[str]:
    """What the signed files of a picture say of themselves, from the top."""
    return list(
        output.evaluate(
            "e => [...e.querySelectorAll('.file.signed')].map(f => f.getAttribute('aria-label').split(',')[0])"
        )
    )


def serious_issues(notebook: Notebook, cell: int) -> list[tuple[str, str]]:
    """What axe-core finds in a cell's output that keeps somebody out: (rule, first place)."""
    notebook.output(cell).evaluate("(e, id) => { e.id = id; }", f"axe-{cell}")
    return serious_issues_of(notebook, f"#axe-{cell}")


def serious_issues_of(notebook: Notebook, selector: str) -> list[tuple[str, str]]:
    """The same for a part of the page."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(notebook.page, selector, {"resultTypes": ["violations"]}).response
    return [
        (v["id"], str(v["nodes"][0]["html"])[:160])
        for v in found["violations"]
        if v["impact"] in ("serious", "critical")
    ]


LIVE = """
e => [...e.querySelectorAll("*")].filter((n) => {
  const name = n.localName.toLowerCase();
  if (["script", "iframe", "object", "embed", "base", "link", "meta", "form", "foreignobject", "image", "video", "audio", "marquee", "noscript"].includes(name)) return true;
  if (name === "img" && !n.classList.contains("pnb-still")) return true;
  return [...n.attributes].some((a) => a.name.startsWith("on") || a.name === "srcdoc" || /^\\s*(javascript|data:text)/i.test(a.value) && /href|src|action|data/.test(a.name));
}).map((n) => n.outerHTML.slice(0, 120))
"""


def live_nodes_of(notebook: Notebook, cell: int) -> list[str]:
    """Nodes of a cell's output that run or fetch something, whatever made them."""
    return list(notebook.output(cell).evaluate(LIVE))


def walk_to_a_file(explorer: Any, snapshot: int) -> None:
    """By mouse, from wherever the explorer stands: the snapshot's delta, its manifest, its first file."""
    at = f"snapshot/{snapshot}"
    for place in ("snapshots", at, f"{at}/delta", f"{at}/delta/manifest"):
        line = explorer.locator(f'[data-place^="{place}"]').first
        if line.get_attribute("aria-expanded") == "false":
            line.click()
        expect(line).to_have_attribute("aria-expanded", "true")
    explorer.locator(f'[data-place^="{at}/delta/"]').nth(1).click()
    explorer.locator(".about").get_by_text("a commit", exact=True).wait_for()
