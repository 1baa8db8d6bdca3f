"""How long a step of the slider takes in the browser, from the key to the new picture. Printed, never judged: machines differ."""

from __future__ import annotations

import statistics
import sys

import pytest
from lab_kit import REPO, Lab, Notebook
from panel_kit import opened
from playwright.sync_api import expect

sys.path.append(str(REPO / "tests" / "notebook"))
from many_files import write_many

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

SIZES = (1_000, 20_000)
STEP = """
([e, key]) => new Promise((done) => {
  const slider = e.querySelector("input[type=range]"), shown = () => e.querySelectorAll("svg")[1].textContent;
  const before = shown(), start = performance.now();
  const look = () => shown() === before ? requestAnimationFrame(look) : requestAnimationFrame(() => done(performance.now() - start));
  slider.value = Number(slider.value) + key;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  look();
})
"""


def test_slider_steps(notebook: Notebook, lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    import paimon_nb

    with paimon_nb.connect(str(lab.root / "warehouse")) as wb:
        for size in SIZES:
            write_many(wb, f"files_{size}", size)
    cells = ["%load_ext paimon_nb\n%paimon connect warehouse", *(f"%paimon timeline files_{n}" for n in SIZES)]
    shown = opened(notebook, lab, "speed.ipynb", cells)
    for cell, size in enumerate(SIZES, 1):
        output = shown.output(cell)
        expect(output.locator("svg").nth(1)).to_contain_text(f"{size + 11:,} files", timeout=60_000)
        seconds = [output.evaluate(f"e => ({STEP})([e, {step}])") / 1000 for step in (-1, -1, 1, -1, -1, 1, 1)]
        expect(output.locator("svg").nth(1)).to_contain_text(f"{size + 10:,} files")
        marks = output.locator("rect.file").count()
        with capsys.disabled():
            median, most = statistics.median(seconds[1:]), max(seconds)
            print(f"\nslider step, {size:,} files ({marks} drawn): median {median:.2f} s, worst {most:.2f} s", end="")
