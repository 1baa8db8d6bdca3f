"""Interrupts at random moments of a real kernel: it lives, the message says what happened, the table is sound."""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from contextlib import suppress
from queue import Empty
from typing import TYPE_CHECKING, Any

import pytest
from kernels import kernel_manager

import paimon_nb

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROWS = 1000
PATIENT_S = 600
"""A JVM that starts on a busy machine takes minutes; a kernel that hangs answers never."""
SETUP = """
%load_ext paimon_nb
%paimon connect wh
wb = %paimon workbench
import pyarrow as pa
def upsert(batch):
    ids = pa.array(range(batch * 1000, batch * 1000 + 1000), pa.int64())
    wb.table("t").upsert(pa.table({"id": ids, "batch": pa.array([batch] * 1000, pa.int32())}))
"""
TABLE = "%%paimon -q\nCREATE TABLE t (id BIGINT, batch INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2')"
WORK = {
    "load": "%%paimon -q\nINSERT INTO t SELECT id, CAST({b} AS INT) FROM range({b}000, {b}000 + 1000)",
    "load two": "%%paimon -q\nINSERT INTO t SELECT id, CAST({b} AS INT) FROM range({b}000, {b}000 + 1000);\n"
    "INSERT INTO t SELECT id, CAST({b} + 1 AS INT) FROM range({b}000 + 1000, {b}000 + 2000)",
    "upsert": "upsert({b})",
    "delete": "%%paimon -q\nDELETE FROM t WHERE batch = {old}",
    "compact": "%%paimon -q\nCALL sys.compact('default.t')",
    "query": "%%paimon -q\nSELECT a.batch, COUNT(*) FROM t a CROSS JOIN range(3000) b GROUP BY a.batch",
    "look": "%paimon timeline t\n%paimon lsm t\n%paimon doctor t\n%paimon compact t",
}


class Kernel:
    """A kernel of its own process, as a notebook has one."""

    def __init__(self, folder: Path) -> None:
        self.manager = kernel_manager(kernel_name="python3")
        self.manager.start_kernel(cwd=str(folder))
        self.client: Any = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=PATIENT_S)

    def run(self, cell: str, interrupt_after_s: float | None = None) -> tuple[str, str]:
        """('ok', ''), (the error's name, all that the cell shows of it), or ('dropped', '')."""
        asked = self.client.execute(cell, allow_stdin=False)
        if interrupt_after_s is not None:
            time.sleep(interrupt_after_s)
            self.manager.interrupt_kernel()
        deadline, name, shown = time.monotonic() + PATIENT_S, "ok", ""
        while time.monotonic() < deadline:
            try:
                message = self.client.get_iopub_msg(timeout=1)
            except Empty:
                assert self.manager.is_alive()
                continue
            if message["parent_header"].get("msg_id") != asked:
                continue
            content = message["content"]
            if message["msg_type"] == "error":
                name, shown = content["ename"], "\n".join(content["traceback"])
            if message["msg_type"] == "status" and content["execution_state"] == "idle":
                return (name, shown) if name != "ok" or self._answered(asked) else ("dropped", "")
        raise AssertionError(f"no answer to {cell!r} within {PATIENT_S} s")

    def _answered(self, asked: str) -> bool:
        """An interrupt that comes before Jupyter has begun the cell takes the whole request away, without a word."""
        with suppress(Empty):
            while (reply := self.client.get_shell_msg(timeout=10))["parent_header"].get("msg_id") != asked:
                pass
            return bool(reply["content"]["status"] == "ok")
        return False

    def end(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=False)


@pytest.fixture(autouse=True)
def _one_jvm() -> None:
    """The kernel starts one; this process needs none."""


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kernel]:
    monkeypatch.setenv("PAIMON_NB_QUIET", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    made = Kernel(tmp_path)
    yield made
    made.end()


def batches(folder: Path) -> tuple[Counter[int], int]:
    """Rows of each batch, as another process reads them, and the newest snapshot: a batch is there whole or not at all."""
    table = paimon_nb.open_table(str(folder / "wh" / "default.db" / "t"))
    found = Counter(table.to_arrow()["batch"].to_pylist())
    assert set(found.values()) <= {ROWS}, found
    ids = table.snapshots()["snapshot_id"].to_pylist()
    assert ids == list(range(1, len(ids) + 1))
    assert [f for f in table.health(read_files=True) if f.grade == "broken"] == []
    return found, ids[-1]


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.parametrize(
    ("seed", "times"),
    [(1, 5), *((seed, 20) for seed in range(2, 7))],
    ids=lambda v: str(v),
)
def test_the_kernel_lives_and_the_table_is_sound(kernel: Kernel, tmp_path: Path, seed: int, times: int) -> None:
    draw, there = random.Random(seed), set[int]()
    for cell in (SETUP, TABLE, WORK["load"].format(b=1), "upsert(2)"):
        assert kernel.run(cell) == ("ok", "")
    there, newest = {1, 2}, batches(tmp_path)[1]
    outcomes: Counter[str] = Counter()
    for turn in range(times):
        what = draw.choice(list(WORK))
        batch, old = 10 + 2 * turn, draw.choice(sorted(there) or [1])
        name, shown = kernel.run(WORK[what].format(b=batch, old=old), interrupt_after_s=draw.uniform(0, 1.5))
        outcomes[name] += 1
        assert name in ("ok", "dropped", "Cancelled", "KeyboardInterrupt"), (what, shown)
        if name == "Cancelled":
            assert shown.count("\n") <= 2, shown
            assert ("Query cancelled" if what == "query" else "interrupted") in shown
        started = time.monotonic()
        assert kernel.run("1 + 1") == ("ok", "")
        assert time.monotonic() - started < 20
        coming = {"load": {batch}, "upsert": {batch}, "load two": {batch, batch + 1}}.get(what, set())
        going = {old} if what == "delete" else set()
        now, last = batches(tmp_path)
        found = set(now)
        if name == "ok":
            assert found == (there | coming) - going, what
        else:
            assert there - going <= found <= there | coming, (what, shown)
            named = [int(n) for n in re.findall(r"in snapshot (\d+)", shown)]
            assert all(newest < n <= last for n in named), (what, newest, last, shown)
            assert named or name != "Cancelled" or found == there, (what, shown)  # what was committed is said
        there, newest = found, last
    assert kernel.run("upsert(1)\n%paimon SELECT COUNT(*) FROM t WHERE batch = 1") == ("ok", "")
    assert outcomes["ok"] < times, "no interrupt came in time"
