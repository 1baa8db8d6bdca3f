"""Streams in a real JupyterLab: live tables, job cards, the list of jobs; interrupts and restarts."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from panel_kit import least_contrast, opened, serious_issues
from playwright.sync_api import expect
from waits import expect_no_overflow, settled, text_of

if TYPE_CHECKING:
    from lab_kit import Lab, Notebook

pytestmark = pytest.mark.browser

CELLS = (
    "%load_ext paimon_nb\n%paimon connect warehouse",
    "%paimon live orders",
    "%paimon live orders scan.mode=latest",
    "%paimon jobs",
    "import os\nos.getpid()",
)
LIVE, LATEST, JOBS, PID = 1, 2, 3, 4
SPARK_CELLS = (
    CELLS[0],
    "%%paimon\nCREATE TABLE copies (id INT, status STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1');\n"
    "SET 'execution.runtime-mode' = 'streaming';\n"
    "INSERT INTO copies SELECT id, UPPER(status) FROM orders",
    "%%paimon\nSELECT id, status FROM orders WHERE id > 1",
    "%paimon jobs",
    "import os\nos.getpid()",
)
CARD, SELECT = 1, 2
ROWS = """
import pyarrow as pa
from paimon_nb.notebook.magics.active import workbench
_t = workbench().table('orders')
"""


PATIENT_MS = 600_000
"""For what Spark does: a JVM that starts, two streams and a query share the machine with whatever else there is."""
REPORT = """
([code, sign]) => new Promise((done) => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  let said = "";
  const asked = kernel.requestExecute({ code });
  asked.onIOPub = (m) => {
    if (["stream", "display_data"].includes(m.header.msg_type) && JSON.stringify(m.content).includes(sign)) kernel.interrupt();
    if (m.header.msg_type === "error") said = m.content.ename;
  };
  asked.done.then(() => done(said));
})
"""
"""Runs code, interrupts it as soon as what it shows has the sign, and gives the error that it ends with."""


def put(key: int, status: str) -> str:
    """Python that upserts a row of `orders`."""
    return f"_t.upsert(pa.table({{'id': pa.array([{key}], pa.int32()), 'status': ['{status}']}}));"


def write_table(lab: Lab) -> None:
    import paimon_nb

    with paimon_nb.connect(str(lab.root / "warehouse")) as wb:
        wb.run(
            "CREATE TABLE orders (id INT, status STRING, PRIMARY KEY (id) NOT ENFORCED) "
            "WITH ('bucket' = '1', 'changelog-producer' = 'lookup')"
        )
        wb.table("orders").upsert(pa.table({"id": pa.array([1, 2], pa.int32()), "status": ["new", "new"]}))


@pytest.fixture(scope="module")
def shown(notebook: Notebook, lab: Lab) -> Notebook:
    write_table(lab)
    return opened(notebook, lab, "streams.ipynb", CELLS)


@pytest.mark.nightly
def test_a_table_is_followed_row_by_row(shown: Notebook) -> None:
    output = shown.output(LIVE)
    expect(output.locator("tbody tr")).to_have_text(["+I2new", "+I1new"])
    assert shown.execute(ROWS + put(2, "paid") + "_t.delete('id = 1')") == "ok"
    expect(output.locator("tbody tr")).to_have_text(["-D1new", "+U2paid", "-U2new", "+I2new", "+I1new"])
    expect(output.locator(".facts")).to_have_text(
        re.compile(
            r"^2 new \(\+I\), 1 before \(-U\), 1 after \(\+U\), 1 deleted \(-D\) · .* caught up \(snapshot \d+\)$"
        )
    )
    expect(output.locator("tbody tr").first).to_have_class("gone")
    expect(shown.output(LATEST).locator("tbody tr")).to_have_text(["-D1new", "+U2paid", "-U2new"])


@pytest.mark.nightly
def test_texts_are_legible_and_controls_have_names(shown: Notebook) -> None:
    for theme in ("Light", "Dark"):
        shown.theme(f"JupyterLab {theme}")
        for name, cell in (("live", LIVE), ("jobs", JOBS)):
            least, text = least_contrast(shown, cell)
            assert least >= 4.5, (name, text, least)  # WCAG AA
            assert serious_issues(shown, cell) == [], name
    shown.theme("JupyterLab Light")


@pytest.mark.nightly
def test_nothing_is_cut_off_at_900_pixels_beside_a_stream(shown: Notebook) -> None:
    shown.page.set_viewport_size({"width": 900, "height": 900})
    try:
        expect_no_overflow(shown, (LIVE, JOBS))
    finally:
        shown.page.set_viewport_size({"width": 1180, "height": 1000})


@pytest.mark.nightly
def test_it_pauses_seeks_and_stops_by_keyboard(shown: Notebook) -> None:
    output, keyboard = shown.output(LIVE), shown.page.keyboard
    output.get_by_role("button", name="pause").focus()
    keyboard.press("Enter")
    expect(output.get_by_role("status")).to_have_text("❚❚ paused")
    assert shown.execute(ROWS + put(3, "late")) == "ok"
    expect(output.locator(".facts")).to_contain_text("behind the latest")
    expect(output.locator("tbody")).not_to_contain_text("late")
    keyboard.press("Enter")
    expect(output.locator("tbody tr").first).to_have_text("+I3late")
    keyboard.press("Tab")  # stop
    keyboard.press("Tab")
    expect(output.get_by_label("from snapshot")).to_be_focused()
    keyboard.type("3")
    keyboard.press("Enter")
    expect(output.locator("tbody tr")).to_have_text(["+I3late", "-D1new", "+U2paid", "-U2new"])
    place = output.get_by_label("from snapshot")
    place.fill("soon")
    place.press("Enter")
    expect(output.get_by_role("alert")).to_contain_text("'soon' is not a snapshot id")
    place.fill("")
    place.press("Enter")
    expect(output.get_by_role("alert")).to_have_count(0)
    rows = output.locator("tbody tr")
    expect(rows).to_have_count(2)  # the newest state
    for row in ("+I2paid", "+I3late"):
        expect(rows.filter(has_text=re.compile(f"^{re.escape(row)}$"))).to_have_count(1)
    output.get_by_role("button", name="stop").click()
    expect(output.get_by_role("status")).to_have_text("■ stopped")
    output.get_by_role("button", name="Restart").click()
    expect(output.get_by_role("status")).to_have_text("● running")


@pytest.mark.nightly
def test_an_interrupt_ends_its_cell_and_no_stream(shown: Notebook) -> None:
    assert (
        shown.page.evaluate(REPORT, ["import time\nprint('begins', flush=True)\ntime.sleep(600)", "begins"])
        == "KeyboardInterrupt"
    )
    assert shown.execute(ROWS + put(4, "alive")) == "ok"
    for cell in (LIVE, LATEST):
        expect(shown.output(cell).locator("tbody tr").first).to_have_text("+I4alive")


@pytest.mark.nightly
def test_jobs_are_stopped_from_the_list(shown: Notebook) -> None:
    jobs = shown.output(JOBS)
    expect(jobs.locator(".job.running")).to_have_count(2)
    jobs.get_by_role("button", name="stop live default.orders").last.press("Enter")
    expect(jobs.locator(".job").last).to_contain_text("canceled")  # ended ones stand below
    expect(shown.output(LATEST).get_by_role("status")).to_have_text("■ stopped")
    expect(shown.output(LIVE).get_by_role("status")).to_have_text("● running")


@pytest.mark.nightly
def test_a_cell_that_runs_again_ends_its_stream(shown: Notebook) -> None:
    jobs, running = shown.output(JOBS).locator(".job"), shown.output(JOBS).locator(".job.running")
    before = settled(shown.page, running.count)
    shown.page.evaluate("i => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = i; }", LIVE)
    shown.command("notebook:run-cell")
    expect(jobs).to_have_count(3)
    expect(running).to_have_count(before)


@pytest.mark.nightly
def test_a_restarted_kernel_leaves_no_stream_behind(shown: Notebook) -> None:
    pid = int(text_of(shown.output(PID)))
    restarted_without_a_trace(shown, [pid])
    expect(shown.output(LIVE).locator("output.state")).to_contain_text("no response from the kernel")


def restarted_without_a_trace(shown: Notebook, pids: list[int]) -> None:
    shown.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    deadline = time.monotonic() + PATIENT_MS / 1000
    while any(map(alive, pids)) and time.monotonic() < deadline:
        shown.page.wait_for_timeout(200)
    assert [p for p in pids if alive(p)] == []


def alive(pid: int) -> bool:
    try:
        return "(zombie)" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.mark.spark
@pytest.mark.nightly
def test_streams_of_spark_are_seen_interrupted_stopped_and_gone(notebook: Notebook, lab: Lab) -> None:
    """A streaming INSERT as a card, a streaming SELECT as a live table; the kernel's end is theirs and the JVM's."""
    if not (lab.root / "warehouse").exists():
        write_table(lab)
    shown = opened(notebook, lab, "spark.ipynb", SPARK_CELLS, wait_ms=PATIENT_MS)
    assert shown.execute(ROWS + put(30, "first")) == "ok"
    card, live = shown.output(CARD), shown.output(SELECT)
    expect(card.locator(".job.running")).to_contain_text(
        re.compile(r"running · [1-9]\d* rows.*caught up"), timeout=PATIENT_MS
    )
    expect(live.locator("tbody tr").first).to_have_text("+I30first", timeout=PATIENT_MS)
    assert shown.execute(ROWS + put(30, "second")) == "ok"
    expect(live.locator("tbody tr").first).to_have_text("+U30second", timeout=PATIENT_MS)
    for place, row in enumerate(("+U30second", "-U30first", "+I30first")):
        expect(live.locator("tbody tr").nth(place)).to_have_text(row)
    assert serious_issues(shown, CARD) == serious_issues(shown, SELECT) == []

    slow = "SELECT SUM(a.id % 7 + b.id % 5) FROM range(2000000) a CROSS JOIN range(1000000) b"
    assert shown.page.evaluate(REPORT, [f"%paimon {slow}", "pnb-cancel"]) == "Cancelled"  # while Spark works
    assert shown.execute(ROWS + put(31, "alive")) == "ok"
    expect(live.locator("tbody tr").first).to_have_text("+I31alive", timeout=PATIENT_MS)
    place = live.get_by_label("from snapshot")
    place.fill("1")
    place.press("Enter")
    expect(live.locator("tbody tr").last).to_have_text("+I2new", timeout=PATIENT_MS)

    shown.output(3).get_by_role("button", name="stop insert-into_default.copies").click()
    expect(card.locator(".job.canceled")).to_have_count(1, timeout=PATIENT_MS)
    expect(live.get_by_role("status")).to_have_text("● running")
    pid = int(text_of(shown.output(4)))
    java = [int(p) for t in Path(f"/proc/{pid}/task").iterdir() for p in (t / "children").read_text().split()]
    assert java
    restarted_without_a_trace(shown, [pid, *java])
