"""How long a step of the slider takes in the browser, from the key to the new picture. Printed, never judged: machines differ.

`PAIMON_NB_FIGURES=1` keeps the figures in `benchmarks/results/notebook.md`.
"""

from __future__ import annotations

import os
import re
import statistics
import sys
import time

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


AIMS = {1_000: 0.3, 20_000: 0.5}
"""Seconds that a step may take."""
FIGURES = REPO / "benchmarks" / "results" / "notebook.md"


def keep(lines: list[str]) -> None:
    """Only when asked to: the figures of a busy machine would mislead."""
    if os.environ.get("PAIMON_NB_FIGURES") == "1":
        load = os.getloadavg()[0]
        head = (
            "# The history's slider in the browser\n\nFrom the event of the slider to the new picture, in JupyterLab and headless Chromium; the kernel,"
            f" the connection and the drawing are in it. {os.cpu_count()} cores, load average {load:.1f} at the end.\n\n"
            "| files in the bucket | marks drawn | median of 6 | worst of 7 | aim |\n|---|---|---|---|---|\n"
        )
        FIGURES.write_text(head + "\n".join(lines) + "\n")


def test_slider_steps(notebook: Notebook, lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    import paimon_nb

    with paimon_nb.connect(str(lab.root / "warehouse")) as wb:
        for size in SIZES:
            write_many(wb, f"files_{size}", size)
    cells = ["%load_ext paimon_nb\n%paimon connect warehouse", *(f"%paimon timeline files_{n}" for n in SIZES)]
    shown = opened(notebook, lab, "speed.ipynb", cells)
    told: list[str] = []
    for cell, size in enumerate(SIZES, 1):
        output = shown.output(cell)
        expect(output.locator("svg").nth(1)).to_contain_text(f"{size + 11:,} files", timeout=60_000)
        seconds = [output.evaluate(f"e => ({STEP})([e, {step}])") / 1000 for step in (-1, -1, 1, -1, -1, 1, 1)]
        expect(output.locator("svg").nth(1)).to_contain_text(f"{size + 10:,} files")
        marks = output.locator("rect.file").count()
        median, most = statistics.median(seconds[1:]), max(seconds)
        told.append(f"| {size:,} | {marks:,} | {median:.2f} s | {most:.2f} s | {AIMS[size]} s |")
        with capsys.disabled():
            print(f"\nslider step, {size:,} files ({marks} drawn): median {median:.2f} s, worst {most:.2f} s", end="")
    keep(told)


def test_twenty_thousand_files_come_apart(notebook: Notebook, lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    """From 400 bins a lane down to single files, by a click and by the keyboard; each step is as quick as the slider's."""
    cells = [
        "%load_ext paimon_nb\n%paimon connect warehouse",
        "import sys\nsys.path.append('" + str(REPO / "tests" / "notebook") + "')\nfrom many_files import write_many\n"
        "wb = %paimon workbench\nwrite_many(wb, 'many', 20_000)\nwb.table('many').lsm()",
    ]
    shown = opened(notebook, lab, "zoom.ipynb", cells, wait_ms=180_000)
    output, keyboard, told = shown.output(1), shown.page.keyboard, []

    def files() -> int:
        return int(output.locator("svg text").last.text_content().split(" ")[0].replace(",", ""))

    assert files() > 20_000
    bins = output.locator(".file[data-files]:not([data-files='1'])")
    assert bins.count() > 700
    for step in range(4):
        before, began = files(), time.perf_counter()
        if step % 2:
            bins.nth(bins.count() // 2).focus()
            keyboard.press("Enter")
        elif step:
            output.get_by_role("button", name="Zoom in").click()
        else:
            box = output.locator(".tree-picture").bounding_box()
            shown.page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] - 40)
            shown.page.mouse.down()
            shown.page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] - 45, steps=4)
            shown.page.mouse.up()
        while files() >= before:
            assert time.perf_counter() - began < 30, told
            shown.page.wait_for_timeout(20)
        told.append((files(), time.perf_counter() - began))
        if bins.count() == 0:
            break
    assert bins.count() == 0, told
    assert {"1"} == set(output.locator(".file").evaluate_all("all => all.map(f => f.dataset.files)"))
    output.get_by_role("button", name="all keys").click()
    expect(output.locator("svg text").last).to_have_text(re.compile(r"^20,\d+ files"))
    with capsys.disabled():
        print("\nzoom: " + ", ".join(f"{n:,} files after {s:.2f} s" for n, s in told), end="")
