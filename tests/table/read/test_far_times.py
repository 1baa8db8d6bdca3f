"""Times that Python's own cannot say, as ORC files of Java hold them: year 0, year 10000, at any depth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from paimon_nb.notebook.display import display_cells
from paimon_nb.workbench import connect

if TYPE_CHECKING:
    from pathlib import Path

YEAR_0, YEAR_10000 = -62_167_219_200_000, 253_402_300_800_000
"""Milliseconds from the epoch to the first moment of those years."""
COLUMNS = "k INT, t TIMESTAMP(3), l ARRAY<TIMESTAMP(3)>, s ROW<x TIMESTAMP(3), y DATE>"


def rows(shift_ms: int) -> pa.Table:
    times = pa.array([YEAR_0 + shift_ms, YEAR_10000 + shift_ms], pa.int64()).cast(pa.timestamp("ms"))
    days = pa.array([-719_528, 2_932_897], pa.int32()).cast(pa.date32())
    return pa.table({
        "k": pa.array([1, 2], pa.int32()),
        "t": times,
        "l": pa.ListArray.from_arrays([0, 1, 2], times),
        "s": pa.StructArray.from_arrays([times, days], ["x", "y"]),
    })  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        "'changelog-producer' = 'lookup', 'changelog-producer.row-deduplicate' = 'true'",
        "'merge-engine' = 'partial-update'",
        "'merge-engine' = 'aggregation', 'fields.l.aggregate-function' = 'last_value', 'fields.t.aggregate-function' = 'max'",
    ],
)
@pytest.mark.parametrize("kind", ["parquet", "orc", "avro"])
def test_times_beyond_pythons_years_are_merged_compared_and_told(kind: str, options: str, tmp_path: Path) -> None:
    wb = connect(str(tmp_path))
    wb.run(
        f"CREATE TABLE t ({COLUMNS}, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1', 'file.format' = '{kind}', {options})"
    )
    for shift in (0, 7):
        wb.table("t").upsert(rows(shift))
    wb.table("t").upsert(rows(7))
    wb.table("t").compact(full=True)

    assert wb.table("t").to_arrow().sort_by("k").equals(rows(7))
    last = max(s for s in wb.table("t").snapshots().column("snapshot_id").to_pylist())
    assert wb.table("t").diff(1, last).num_rows == 2
    assert wb.table("t").diff(last - 1, last).num_rows == 0
    files = wb.table("t").copy({"incremental-between": f"1,{last}", "incremental-between-scan-mode": "diff"}).to_arrow()
    assert files.num_rows == 2

    told = display_cells(wb.table("t").to_arrow().sort_by("k"))[1]
    assert [row[1] for row in told] == ["0000-01-01 00:00:00.007", "10000-01-01 00:00:00.007"]
    assert wb.table("t").why(k=1).row["t"] == "0000-01-01 00:00:00.007"
