"""Notebooks made for a test: cells in, a page that has run them out."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect
from waits import PATIENT_MS, answered, settled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lab_kit import Lab, Notebook

KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def write_notebook(lab: Lab, name: str, cells: Sequence[str]) -> None:
    made = [
        {"cell_type": "code", "source": c, "metadata": {}, "outputs": [], "execution_count": None, "id": f"c{i}"}
        for i, c in enumerate(cells)
    ]
    (lab.root / name).write_text(json.dumps({"cells": made, "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}))


def opened(notebook: Notebook, lab: Lab, name: str, cells: Sequence[str], wait_ms: int = 2 * PATIENT_MS) -> Notebook:
    """The notebook after Run All, when each cell but the first shows something and all widgets are drawn."""
    write_notebook(lab, name, cells)
    notebook.open(lab, name)
    notebook.run_all()
    for cell in range(1, len(cells)):
        notebook.output(cell).wait_for(timeout=wait_ms)
    notebook.wait_for_outputs(wait_ms)
    answered(notebook)  # the kernel draws pictures as wide as the page has told it
    return notebook


def signs(output: Any) -> list[str]:
    """What the signed files of a picture say of themselves, from the top."""
    said = "e => [...e.querySelectorAll('.file.signed')].map(f => f.getAttribute('aria-label').split(',')[0])"
    return settled(output.page, lambda: list(output.evaluate(said)))


def serious_issues(notebook: Notebook, cell: int) -> list[tuple[str, str]]:
    """What axe-core finds in a cell's output that keeps somebody out: (rule, first place)."""
    notebook.output(cell).evaluate("(e, id) => { e.id = id; }", f"axe-{cell}")
    return serious_issues_of(notebook, f"#axe-{cell}")


def serious_issues_of(notebook: Notebook, selector: str) -> list[tuple[str, str]]:
    """The same for a part of the page, as it is when the kernel has answered."""
    from axe_playwright_python.sync_playwright import Axe

    answered(notebook)
    is_loaded = notebook.page.evaluate("() => 'axe' in window")  # 600 kB, and pages live long
    axe = Axe("") if is_loaded else Axe()

    def issues() -> list[tuple[str, str]]:
        found = axe.run(notebook.page, selector, {"resultTypes": ["violations"]}).response
        return [
            (v["id"], str(v["nodes"][0]["html"])[:160])
            for v in found["violations"]
            if v["impact"] in ("serious", "critical")
        ]

    # A menu or a form that was closing is no fault of the page.
    return issues() and settled(notebook.page, issues)


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
    answered(notebook)
    return list(notebook.output(cell).evaluate(LIVE))


SMALL_TEXTS = """
e => [...e.querySelectorAll("*")].filter((n) => [...n.childNodes].some((c) => c.nodeType === 3 && c.data.trim())).filter((n) => {
  const box = n.getBoundingClientRect();
  return box.width && box.height && getComputedStyle(n).visibility !== "hidden";
}).map((n) => {
  const svg = n.ownerSVGElement, scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
  return [n.textContent.trim().slice(0, 60), parseFloat(getComputedStyle(n).fontSize) * scale];
}).filter(([, size]) => size < 11.9)
"""


def small_texts(notebook: Notebook, cell: int) -> list[tuple[str, float]]:
    """Texts in a cell's output, those of pictures included, that are drawn smaller than 12 px, and their sizes."""
    answered(notebook)
    return [
        (text, size) for text, size in settled(notebook.page, lambda: list(notebook.output(cell).evaluate(SMALL_TEXTS)))
    ]


CONTRAST = """
e => {
  const rgb = (c) => (c.match(/[\\d.]+/g) || [0, 0, 0]).slice(0, 3).map(Number);
  const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
    return .2126 * r + .7152 * g + .0722 * b; };
  const page = rgb(getComputedStyle(document.querySelector('.jp-Notebook')).backgroundColor);
  return [...e.querySelectorAll('text:not(.sign), .bar output, .facts, td, th, dt, dd, .place span, .links button, .job .name, .job .dim, .pnb-r div, .pnb-r .dim, .lead, .finding .detail, .finding .dim')].filter((t) => t.textContent.trim()).map((t) => {
    const style = getComputedStyle(t), a = Number(style.opacity), own = rgb(t instanceof SVGElement ? style.fill : style.color);
    const [x, y] = [light(own.map((v, i) => v * a + page[i] * (1 - a))), light(page)].sort((p, q) => q - p);
    return [(x + .05) / (y + .05), t.textContent];
  }).sort((p, q) => p[0] - q[0])[0];
}
"""


def least_contrast(notebook: Notebook, cell: int) -> tuple[float, str]:
    """The least contrast of a text in a cell's output to the page, and that text. WCAG AA asks for 4.5."""
    answered(notebook)
    ratio, text = settled(notebook.page, lambda: notebook.output(cell).evaluate(CONTRAST), bool)
    return float(ratio), str(text)


OVERLAPS = """svg => {
  const texts = [...svg.querySelectorAll("text")].map((t) => [t.textContent, t.getBoundingClientRect()]).filter(([, b]) => b.width);
  return texts.flatMap(([a, p], i) => texts.slice(i + 1).filter(([, q]) =>
    p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 3 && q.top < p.bottom - 3).map(([b]) => [a, b]));
}"""


def overlapping_texts(picture: Any) -> list[list[str]]:
    """Pairs of texts of a picture of which one is drawn over the other."""
    return [list(pair) for pair in settled(picture.page, lambda: list(picture.evaluate(OVERLAPS)))]


@contextmanager
def pictures_as_wide_as(notebook: Notebook, width: int, cells: Sequence[int], least: int) -> Iterator[None]:
    """A window of another width, whose pictures were drawn for it. Afterwards it has its own width.

    Args:
        least: the width below which they scroll.
    """
    before = notebook.page.viewport_size
    notebook.page.set_viewport_size({"width": width, "height": 900})
    try:
        for cell in cells:
            notebook.output(cell).scroll_into_view_if_needed()  # one that is out of sight is not drawn
            notebook.page.wait_for_function(
                """([e, least]) => [...e.querySelectorAll(".pnb svg")].some((svg) =>
                  Math.abs(svg.getBoundingClientRect().width - Math.max(least, Math.min(svg.parentNode.clientWidth, 1600))) < 2)""",
                arg=[notebook.output(cell).element_handle(), least],
            )
        yield
    finally:
        assert before is not None
        notebook.page.set_viewport_size(before)


def walk_to_a_file(explorer: Any, snapshot: int) -> None:
    """By mouse, from wherever the explorer stands: the snapshot's delta, its manifest, its first file."""
    at = f"snapshot/{snapshot}"
    for place in ("snapshots", at, f"{at}/delta", f"{at}/delta/manifest"):
        line = explorer.locator(f'[data-place^="{place}"]').first
        line.wait_for()
        if line.get_attribute("aria-expanded") == "false":
            line.click()
        expect(line).to_have_attribute("aria-expanded", "true")
    explorer.locator(f'[data-place^="{at}/delta/"]').nth(1).click()
    explorer.locator(".about").get_by_text("a commit", exact=True).wait_for()
