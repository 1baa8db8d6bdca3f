"""Java reads the tables that were Iceberg's, their older schemas and partitions included."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_nb

pytestmark = pytest.mark.java
sys.path.insert(0, str(Path(__file__).parents[1] / "catalog"))
pytest.importorskip("pyiceberg")


@pytest.mark.nightly
def test_java_reads_what_was_icebergs(shared, tmp_path):
    from iceberg_kit import Iceberg, rows
    from pyiceberg.transforms import IdentityTransform
    from test_java_reads import text

    iceberg, warehouse = Iceberg(tmp_path), tmp_path / "w"
    iceberg.create("plain").append(rows(1, 2, 3))
    iceberg.create("parted", partition={"day": IdentityTransform(), "name": IdentityTransform()}).append(rows(1, 2, 3))
    evolved = iceberg.create("evolved", pa.schema([("id", pa.int32()), ("old", pa.string())]))
    evolved.append(pa.table({"id": pa.array([1], pa.int32()), "old": ["a"]}))
    with evolved.update_schema() as update:
        update.rename_column("old", "new")
    evolved.append(pa.table({"id": pa.array([2], pa.int32()), "new": ["b"]}))
    wb, want = paimon_nb.connect(str(warehouse)), {"plain": rows(1, 2, 3), "parted": rows(1, 2, 3)}
    want["evolved"] = pa.table({"id": [1, 2], "new": ["a", "b"]})
    for name, table in want.items():
        iceberg.publish(name)
        wb.run(iceberg.call(name))
        lines = [json.dumps(text({**r, **_pairs(r)})) for r in table.to_pylist()]
        (warehouse / "d.db" / f"{name}.jsonl").write_text("\n".join(lines))
    done = subprocess.run(
        [sys.executable, str(shared / "oracle" / "read_check.py"), str(warehouse)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]


def _pairs(row: dict) -> dict:
    return {"m": [list(pair) for pair in row["m"]]} if "m" in row else {}
