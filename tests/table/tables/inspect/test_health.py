"""Each ailment is made for real, told, and mended by the statement that the finding gives."""

import importlib
import os
import time
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.format.row import bucket_of


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


def table(wb, keys: bool = True, **options: str):
    listed = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
    key = ", PRIMARY KEY (id) NOT ENFORCED" if keys else ""
    wb.run(f"CREATE TABLE t (id INT, v STRING{key}) WITH ({listed})")
    return wb.table("t")


def put(t, *ids: int):
    t.append(pa.table({"id": pa.array(ids, pa.int32()), "v": ["x"] * len(ids)}))


def data_files(wb) -> list[Path]:
    return sorted(Path(wb.table("t").path).rglob("bucket-*/data-*"))


def told(t) -> list[tuple[str, str]]:
    return [(f.grade, f.what) for f in t.health()]


def test_an_empty_and_a_healthy_table(wb):
    t = table(wb, bucket="1")
    assert told(t) == [("ok", "empty")]
    put(t, 1, 2)
    assert told(t) == [("ok", "healthy")]
    assert str(t.health()[0]).startswith("ok     healthy: 1 file (")


def test_many_runs_are_mended_by_compact(wb):
    t = table(wb, bucket="1", **{"write-only": "true"})
    for i in range(7):
        put(t, i)
    (finding,) = t.health()
    assert (finding.grade, finding.what) == ("slow", "many sorted runs")
    assert "7 sorted runs (compaction starts at 5, writers wait at 8); 1 of 1 buckets" in finding.detail
    assert "write-only is set" in finding.detail
    wb.run(finding.fix)
    assert told(t) == [("ok", "healthy")]


def test_small_files_are_mended_by_compact(wb):
    t = table(wb, keys=False, **{"write-only": "true"})
    for i in range(9):
        put(t, i)
    (finding,) = t.health()
    assert (finding.what, finding.fix) == ("small files", "CALL sys.compact('default.t')")
    wb.run(finding.fix)
    assert told(t) == [("ok", "healthy")]


def test_many_retractions_are_mended_by_compact(wb):
    t = table(wb, bucket="1", **{"write-only": "true"})
    put(t, 1, 2, 3)
    t.delete("id > 1")
    (finding,) = t.health()
    assert (finding.what, finding.detail) == ("many retractions", "2 of 5 physical rows are deletes or retractions")
    wb.run(finding.fix)
    assert told(t) == [("ok", "healthy")]


@pytest.mark.parametrize("how", ["missing", "cut"])
def test_a_lost_file_is_mended_by_rollback(wb, how):
    t = table(wb, bucket="1", **{"write-only": "true"})
    put(t, 1)
    before = set(data_files(wb))
    put(t, 2)
    (lost,) = set(data_files(wb)) - before
    if how == "missing":
        lost.unlink()
    else:
        lost.write_bytes(lost.read_bytes()[:-10])
    (finding,) = t.health()
    assert (finding.grade, finding.what, finding.fix) == (
        "broken",
        "missing files",
        "CALL sys.rollback_to('default.t', 1)",
    )
    assert lost.name in finding.detail
    wb.run(finding.fix)
    assert told(t) == [("ok", "healthy")]
    assert t.to_arrow().column("id").to_pylist() == [1]


def test_a_lost_manifest_is_mended_by_rollback(wb):
    t = table(wb, bucket="1", **{"write-only": "true"})
    put(t, 1)
    before = set(Path(t.path, "manifest").iterdir())
    put(t, 2)
    (lost,) = [
        p
        for p in set(Path(t.path, "manifest").iterdir()) - before
        if p.name.startswith("manifest-") and "list" not in p.name
    ]
    lost.unlink()
    finding = paimon_nb.open_table(t.path).health()[0]
    assert (finding.grade, finding.what) == ("broken", "broken metadata")
    assert lost.name in finding.detail


def test_a_flipped_byte_is_found_by_reading(wb):
    t = table(wb, bucket="1")
    put(t, *range(1000))
    (file,) = data_files(wb)
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2] ^= 255
    file.write_bytes(raw)
    assert told(t) == [("ok", "healthy")]
    (finding,) = t.health(read_files=True)
    assert (finding.grade, finding.what) == ("broken", "unreadable file")
    assert file.name in finding.detail


def test_old_orphans_are_counted_and_removed(wb):
    t = table(wb, bucket="1")
    put(t, 1)
    orphan = data_files(wb)[0].with_name("data-00000000-0000-0000-0000-000000000000-0.parquet")
    orphan.write_bytes(b"x" * 2048)
    assert told(t) == [("ok", "healthy")]  # a running writer's, perhaps
    old = time.time() - 3 * 24 * 3600
    os.utime(orphan, (old, old))
    (finding,) = t.health()
    assert (finding.what, finding.detail) == ("orphan files", "1 unreferenced files (2.0 kB)")
    wb.run(finding.fix)
    assert not orphan.exists()
    assert told(t) == [("ok", "healthy")]


def test_snapshots_and_readers_that_hold_back(wb):
    t = table(wb, bucket="1", **{"write-only": "true", "snapshot.num-retained.min": "2", "snapshot.num-retained.max": "3", "snapshot.expire.limit": "100"})  # fmt: skip
    for i in range(5):
        put(t, i % 2)
    assert ("slow", "many snapshots") in told(t)
    (finding,) = [f for f in t.health() if f.what == "many snapshots"]
    wb.run(finding.fix)
    assert t.snapshots().num_rows == 3


def test_a_skewed_bucket_is_named(wb, monkeypatch):
    monkeypatch.setattr(importlib.import_module("paimon_nb.table.tables.inspect.health"), "SKEW_MIN", 1000)
    t = table(wb, bucket="3")
    put(t, *range(3))
    ids = pa.array(range(200_000), pa.int32())
    put(t, *ids.filter(pa.array(bucket_of([t.schema.fields[0].type], [ids], 3) == 0)).to_pylist())
    (finding,) = [f for f in t.health() if f.what == "skewed buckets"]
    assert finding.detail.startswith("bucket 0 holds ")
    assert finding.detail.endswith("id distributes rows unevenly")
