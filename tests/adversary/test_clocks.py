"""Machines whose clocks are wrong: no file of a running writer is deleted, and times in a history are in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

import paimon_nb
from paimon_nb.base import clock

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

HOUR = 3600 * 1000
NOW = clock.now_ms


def ahead_by(hours: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What this machine's clock says; the store's is right."""
    monkeypatch.setattr(clock, "now_ms", lambda: NOW() + hours * HOUR)


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int32())})


def test_orphan_removal_by_a_clock_two_days_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wb, other = paimon_nb.connect(str(tmp_path)), paimon_nb.connect(str(tmp_path))
    wb.run("CREATE TABLE t (id INT) WITH ('bucket' = '-1')")
    wb.table("t").append(rows(1))
    table = wb.table("t")
    with table.write() as writing:
        writing.write(rows(2))
        messages = writing.prepare_commit()
    with monkeypatch.context() as patch:
        ahead_by(48, patch)
        other.run("CALL sys.remove_orphan_files('t')")
    table.commit().commit(messages)
    assert sorted(paimon_nb.connect(str(tmp_path)).table("t").to_arrow().column("id").to_pylist()) == [1, 2]
    assert [p.name for p in (tmp_path / "default.db/t/manifest").iterdir() if p.name.startswith("clock-")] == []


def test_commits_of_machines_with_other_clocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog) -> None:
    wb = paimon_nb.connect(str(tmp_path))
    wb.run("CREATE TABLE t (id INT) WITH ('bucket' = '-1')")
    for number, hours in enumerate((0, 3, -2, 0)):
        with monkeypatch.context() as patch:
            ahead_by(hours, patch)
            wb.table("t").append(rows(number))
    times = [s.time_ms for s in wb.table("t").store.snapshots.all()]
    assert times == sorted(times)
    for last, time in enumerate(times[:2] + times[3:], 1):
        found = wb.table("t").copy({"scan.timestamp-millis": str(time)}).to_arrow().num_rows
        assert found == (1 if last == 1 else 4)
    assert "check the clocks" in caplog.text
