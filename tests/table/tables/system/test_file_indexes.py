"""`t$file_indexes`: one row for each index of each data file of the snapshot."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import PaimonError


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


def made(wb, options):
    wb.run(f"""CREATE TABLE t (id INT, s STRING, p STRING) PARTITIONED BY (p) WITH ('file-index.bloom-filter.columns' = 'id',
               'file-index.bitmap.columns' = 's', {options})""")
    t = wb.table("t")
    for p, s in (("x", ["a", "b"]), ("y", [None, None])):
        t.append(pa.table({"id": pa.array([1, 2], pa.int32()), "s": pa.array(s, pa.string()), "p": [p, p]}))
    return t


def test_indexes_in_the_manifest(wb):
    t = made(wb, "'file-index.in-manifest-threshold' = '1 mb'")
    rows = sorted(t.system("file_indexes").to_pylist(), key=lambda r: (r["partition"], r["column_name"]))
    assert [(r["partition"], r["column_name"], r["index_type"]) for r in rows] == [
        ("{x}", "id", "bloom-filter"), ("{x}", "s", "bitmap"), ("{y}", "id", "bloom-filter"), ("{y}", "s", "bitmap"),
    ]  # fmt: skip
    assert {(r["storage_type"], r["index_file_path"], r["record_count"], r["bucket"]) for r in rows} == {
        ("EMBEDDED", None, 2, 0)
    }
    assert all(r["index_container_size_in_bytes"] > r["index_size_in_bytes"] >= 0 for r in rows)
    assert {r["file_path"] for r in rows} == set(t.files().column("file_path").to_pylist())


def test_indexes_in_files(wb):
    t = made(wb, "'file-index.in-manifest-threshold' = '1 b'")
    rows = t.system("file_indexes").to_pylist()
    sizes = {str(p): p.stat().st_size for p in Path(t.path).rglob("*.index")}
    assert len(sizes) == 2
    assert {r["index_file_path"]: r["index_container_size_in_bytes"] for r in rows} == sizes
    assert {r["storage_type"] for r in rows} == {"FILE"}
    answer = wb.run("SELECT column_name FROM `t$file_indexes` WHERE index_type = 'bitmap'").arrow
    assert answer.column(0).to_pylist() == ["s", "s"]
    old = wb.run(
        "SELECT column_name FROM `t$file_indexes` /*+ OPTIONS('scan.snapshot-id' = '1') */ ORDER BY column_name"
    ).arrow
    assert old.column(0).to_pylist() == ["id", "s"]
    Path(next(iter(sizes))).unlink()
    with pytest.raises(PaimonError):
        t.system("file_indexes")


def test_tables_without_indexes_have_no_rows(wb):
    t = wb.create_table("plain", pa.table({"id": [1]}))
    assert t.system("file_indexes").num_rows == 0
