"""`changelog-producer.row-deduplicate` and floating-point numbers: equal as `Double.compare` says, as in Java from 2.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import paimon_nb

if TYPE_CHECKING:
    from pathlib import Path

NAN = float("nan")


@pytest.mark.parametrize("producer", ["lookup", "full-compaction"])
@pytest.mark.parametrize(
    ("column_type", "arrow_type", "old", "new", "changes"),
    [
        ("DOUBLE", pa.float64(), NAN, NAN, False),
        ("FLOAT", pa.float32(), NAN, NAN, False),
        ("DOUBLE", pa.float64(), 0.0, -0.0, True),
        ("DOUBLE", pa.float64(), NAN, None, True),
        ("ARRAY<DOUBLE>", pa.list_(pa.float64()), [1.0, NAN], [1.0, NAN], False),
        ("ARRAY<DOUBLE>", pa.list_(pa.float64()), [0.0], [-0.0], True),
        ("ROW<x FLOAT>", pa.struct([("x", pa.float32())]), {"x": NAN}, {"x": NAN}, False),
    ],
)
def test_equal_rows_make_no_changes(
    tmp_path: Path, producer: str, column_type: str, arrow_type: pa.DataType, old: Any, new: Any, changes: bool
) -> None:
    wb = paimon_nb.connect(str(tmp_path))
    options = f"'bucket' = '1', 'changelog-producer' = '{producer}', 'changelog-producer.row-deduplicate' = 'true'"
    wb.run(f"CREATE TABLE t (k INT, v {column_type}, PRIMARY KEY (k) NOT ENFORCED) WITH ({options})")
    table = wb.table("t")
    for value in (old, new):
        table.upsert(pa.table({"k": pa.array([1], pa.int32()), "v": pa.array([value], arrow_type)}))
        table.compact(full=True)
    log = table.system("audit_log", options={"incremental-between-timestamp": "0,9999999999999"})
    assert sorted(log.column("rowkind").to_pylist()) == (["+I", "+U", "-U"] if changes else ["+I"])
