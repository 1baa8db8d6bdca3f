"""Lance and Vortex files through their makers' libraries; a missing library is told by its extra."""

from __future__ import annotations

import datetime as dt
import re
import sys
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import CorruptFile, EnvironmentError_, UnsupportedFormat
from paimon_nb.format.types import parse_type
from paimon_nb.format.types.arrow_builders import arrow_type

KINDS = ("lance", "vortex")
MODULES = {"lance": "lance.file", "vortex": "vortex"}
COLUMNS = {
    "id": ("INT", [1, 2, 3]),
    "b": ("BOOLEAN", [True, None, False]),
    "i1": ("TINYINT", [-128, None, 127]),
    "i8": ("BIGINT", [-(2**63), None, 2**63 - 1]),
    "f": ("DOUBLE", [1e308, None, -0.0]),
    "d": ("DECIMAL(38, 10)", [Decimal("1234567890123456789012345678.0123456789"), None, Decimal("-1E-10")]),
    "s": ("STRING", ["", None, "a longer text than fits inside a view"]),
    "y": ("BYTES", [b"", None, b"\x00" * 20]),
    "da": ("DATE", [dt.date(1, 1, 1), None, dt.date(9999, 12, 31)]),
    "t": ("TIME(3)", [dt.time(0, 0, 0, 1000), None, dt.time(23, 59, 59, 999000)]),
    "ts": ("TIMESTAMP(3)", [dt.datetime(1969, 12, 31, 23, 59, 59, 999000), None, dt.datetime(2024, 3, 10, 2, 30)]),
    "ns": ("TIMESTAMP(9)", [dt.datetime(1999, 1, 1), None, dt.datetime(2024, 3, 10, 2, 30)]),
    "a": ("ARRAY<STRING>", [["x", None], None, []]),
    "r": ("ROW<x INT, y ROW<z STRING>>", [{"x": 1, "y": None}, None, {"x": None, "y": {"z": "z"}}]),
    "v": ("VECTOR<FLOAT, 2>", [[1.0, 2.0], None, [3.0, 4.0]]),
}


@pytest.fixture(params=KINDS)
def kind(request):
    pytest.importorskip(
        MODULES[request.param], reason=f"the library of {request.param} files is not installed: make libraries"
    )
    return request.param


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


def made(wb, kind: str, columns: str, options: str = "'bucket' = '-1'"):
    wb.run(f"CREATE TABLE t ({columns}) WITH ('file.format' = '{kind}', {options})")
    return wb.table("t")


def rows(table: pa.Table) -> list[tuple]:
    return sorted(tuple(row.values()) for row in table.to_pylist())


def test_every_type_comes_back(wb, kind):
    t = made(wb, kind, ", ".join(f"{name} {text}" for name, (text, _) in COLUMNS.items()))
    wanted = pa.table({n: pa.array(v, arrow_type(parse_type(text))) for n, (text, v) in COLUMNS.items()})
    t.append(wanted)
    found = t.to_arrow().combine_chunks()
    assert found.to_pylist() == wanted.to_pylist()
    assert (
        t.to_arrow(columns=["s", "id"], where="id > 1").to_pylist() == wanted.select(["s", "id"]).slice(1).to_pylist()
    )
    assert t.to_arrow(columns=[]).num_rows == 3
    (file,) = Path(t.path).glob(f"bucket-0/*.{kind}")
    (stats,) = wb.run("SELECT file_path, record_count, null_value_counts FROM `t$files`").arrow.to_pylist()
    assert (stats["file_path"], stats["record_count"]) == (str(file), 3)
    assert set(re.findall(r"=(\w+)", stats["null_value_counts"])) == {"null"}


def test_rows_of_a_key_replace_each_other(wb, kind):
    t = made(
        wb, kind, "id INT, s STRING, PRIMARY KEY (id) NOT ENFORCED", "'bucket' = '1', 'changelog-producer' = 'input'"
    )
    for text in ("old", "new"):
        t.append(pa.table({"id": pa.array([1, 2], pa.int32()), "s": [text, None]}))
    assert rows(t.to_arrow()) == [(1, "new"), (2, None)]
    wb.run("DELETE FROM t WHERE id = 2")
    wb.run("CALL sys.compact('t')")
    assert rows(wb.table("t").to_arrow()) == [(1, "new")]
    assert {p.suffix for p in Path(t.path).glob("bucket-0/*")} == {f".{kind}"}


def test_files_roll_and_are_read_in_batches(wb, kind):
    t = made(wb, kind, "id INT, s STRING", "'bucket' = '-1', 'target-file-size' = '100 kb'")
    t.append(pa.table({"id": pa.array(range(70_000), pa.int32()), "s": [f"value {i}" for i in range(70_000)]}))
    assert len(list(Path(t.path).glob(f"bucket-0/*.{kind}"))) > 1
    batches = list(t.to_batches())
    assert sum(b.num_rows for b in batches) == 70_000
    assert rows(t.to_arrow(where="id IN (5, 69999)")) == [(5, "value 5"), (69999, "value 69999")]


def test_vectors_have_files_of_their_own(wb, kind):
    wb.run(f"CREATE TABLE t (id INT, v VECTOR<FLOAT, 2>) WITH ('bucket' = '-1', 'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true', 'vector.file.format' = '{kind}')")  # fmt: skip
    t = wb.table("t")
    t.append(pa.table({"id": pa.array([1, 2], pa.int32()), "v": [[1.0, 2.0], None]}))
    assert rows(t.to_arrow()) == [(1, [1.0, 2.0]), (2, None)]
    assert [p.name.split(".", 1)[1] for p in Path(t.path).glob("bucket-0/*vector*")] == [f"vector.{kind}"]


def test_a_broken_file_is_told(wb, kind):
    t = made(wb, kind, "id INT")
    t.append(pa.table({"id": pa.array([1], pa.int32())}))
    (file,) = Path(t.path).glob(f"bucket-0/*.{kind}")
    file.write_bytes(b"no such file" * 9)
    with pytest.raises(CorruptFile, match=file.name):
        t.to_arrow()


def test_a_later_version_of_lance_is_refused(wb):
    pytest.importorskip("lance.file", reason="the library of lance files is not installed: make libraries")
    t = made(wb, "lance", "id INT")
    t.append(pa.table({"id": pa.array([1], pa.int32())}))
    (file,) = Path(t.path).glob("bucket-0/*.lance")
    data = file.read_bytes()
    file.write_bytes(data[:-8] + bytes([2, 0, 9, 0]) + b"LANC")
    with pytest.raises(UnsupportedFormat, match=r"version 2\.9"):
        t.to_arrow()


@pytest.mark.parametrize("kind", KINDS)
def test_types_that_have_no_place_in_the_file(wb, kind):
    for column in ("m MAP<STRING, INT>", "m MULTISET<STRING>", "m ROW<v VARIANT>", "m ROW<>"):
        with pytest.raises(UnsupportedFormat, match=f"'m' .* {kind} files"):
            made(wb, kind, f"id INT, {column}")


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_library_is_told_by_its_extra(wb, kind, monkeypatch):
    monkeypatch.setitem(sys.modules, MODULES[kind], None)
    t = made(wb, kind, "id INT")
    with pytest.raises(EnvironmentError_, match="Python package") as caught:
        t.append(pa.table({"id": pa.array([1], pa.int32())}))
    assert caught.value.hint == f"pip install 'paimon-nb[{kind}]'"
    assert list(Path(t.path).glob("bucket-0/*")) == []


def test_formats_without_a_library_are_refused_by_name(wb):
    t = made(wb, "parquet", "id INT")
    for kind in ("row", "mosaic"):
        with pytest.raises(Exception, match=kind):
            wb.run(f"ALTER TABLE t SET ('file.format' = '{kind}')")
    assert t.latest_snapshot() is None
