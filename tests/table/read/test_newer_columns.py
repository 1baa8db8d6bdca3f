"""Columns of newer Paimon: one that is not read here is refused by name, and hides neither the others nor the table."""

import json
import re

import pyarrow as pa
import pytest
from golden_tables import golden_table

import paimon_nb
from paimon_nb import UnsupportedFormat
from paimon_nb.base.errors import OutsideWarehouse
from paimon_nb.format.data.blob import BlobDescriptor
from paimon_nb.table.read.strategy.planned_scan import plan_table_scan
from paimon_nb.table.read.strategy.routes import ScanStrategy, StrategyLimits


def rows(table, **how):
    return sorted(tuple(r.values()) for r in table.to_arrow(**how).to_pylist())


def test_the_other_columns_are_read_where_references_lead_nowhere(tmp_path):
    t = golden_table(tmp_path, "pypaimon-2.1", "blob_descriptors")
    assert rows(t, columns=["id"]) == [(0,), (1,), (2,)]
    assert rows(t, columns=["id"], where="id >= 1") == [(1,), (2,)]
    with pytest.raises(OutsideWarehouse, match="nowhere"):
        t.to_arrow()
    described = t.copy({"blob-as-descriptor": "true"})
    assert rows(described) == [(i, BlobDescriptor("file:///nowhere", i, 3).to_bytes()) for i in range(3)]


def test_vectors_are_read_and_written(tmp_path):
    t = golden_table(tmp_path, "pypaimon-2.1", "vectors")
    t.append(pa.table({"id": pa.array([9], pa.int32()), "v": [[9.0, 9.5, -9.0]], "c": ["c9"]}))
    assert rows(t) == [(i, [i, i + 0.5, -i], f"c{i}") for i in (0, 1, 2, 3, 9)]


def with_type(tmp_path, node) -> paimon_nb.Workbench:
    """A table whose column `x` is of another type, as a later release would have written it."""
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run("CREATE TABLE t (id INT, x INT, c STRING) WITH ('bucket' = '-1')")
    wb.table("t").append(pa.table({"id": pa.array([1], pa.int32()), "x": pa.array([5], pa.int32()), "c": ["c"]}))
    schema = tmp_path / "w/default.db/t/schema/schema-0"
    found = json.loads(schema.read_text())
    found["fields"][1]["type"] = node
    schema.write_text(json.dumps(found))
    return paimon_nb.connect(str(tmp_path / "w"))


NEWER = {
    "GEOGRAPHY(OGC:CRS84, rhumb) NOT NULL": "GEOGRAPHY(OGC:CRS84, rhumb)", "UUID": "UUID", "TENSOR<FLOAT>": "TENSOR<FLOAT>",
}  # fmt: skip


@pytest.mark.parametrize("text", NEWER)
def test_types_that_no_release_has_yet(tmp_path, text):
    wb = with_type(tmp_path, text)
    t = wb.table("t")
    assert rows(t, columns=["id", "c"]) == [(1, "c")]
    with pytest.raises(UnsupportedFormat, match=re.escape(NEWER[text])):
        t.to_arrow()
    with pytest.raises(UnsupportedFormat, match="'x'"):
        t.append(pa.table({"id": pa.array([1], pa.int32())}))
    wb.run("ALTER TABLE t SET ('snapshot.num-retained.max' = '20')")
    kept = json.loads((tmp_path / "w/default.db/t/schema/schema-1").read_text())
    assert kept["fields"][1]["type"] == text
    wb.run("ALTER TABLE t DROP COLUMN x")
    assert rows(wb.table("t")) == [(1, "c")]


def test_a_constructed_type_that_no_release_has_yet(tmp_path):
    node = {"type": "UNION NOT NULL", "members": ["INT", "STRING"]}
    wb = with_type(tmp_path, node)
    assert rows(wb.table("t"), columns=["id", "c"]) == [(1, "c")]
    with pytest.raises(UnsupportedFormat, match="UNION"):
        wb.table("t").to_arrow(columns=["x"])
    wb.run("ALTER TABLE t SET ('snapshot.num-retained.max' = '20')")
    assert json.loads((tmp_path / "w/default.db/t/schema/schema-1").read_text())["fields"][1]["type"] == node


def test_an_unknown_type_inside_a_row(tmp_path):
    inner = {"type": "ROW", "fields": [{"id": 9, "name": "g", "type": "UUID"}]}
    with pytest.raises(UnsupportedFormat, match="'x'"):
        with_type(tmp_path, inner).table("t").to_arrow()
    assert rows(paimon_nb.connect(str(tmp_path / "w")).table("t"), columns=["c"]) == [("c",)]


def test_spark_never_reads_a_shredded_map_by_itself(tmp_path):
    """Its Parquet reader would look for a MAP where the file has a group of columns."""
    t = golden_table(tmp_path, "pypaimon-2.1", "shredded_map")
    large = StrategyLimits(inline_bytes=0, late_materialization_bytes=0)
    ways = {c: {r.strategy for r in plan_table_scan(t, columns=[c], limits=large).routes} for c in ("id", "m")}
    assert ways == {"id": {ScanStrategy.NATIVE}, "m": {ScanStrategy.TASKS}}
