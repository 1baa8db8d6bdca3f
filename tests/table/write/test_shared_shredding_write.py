"""New files with MAP columns in the shared-shredding layout, by the rules of Paimon 2.1 (MapSharedShreddingRowConverterTest and others)."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet as pq
from sampling import sampled

import paimon_nb
from paimon_nb.base.errors import BadOptionValue
from paimon_nb.format.data.shared_shredding_writer import MapShredder
from paimon_nb.format.types import arrow_type, parse_type

PREFIX = "paimon.map.shared-shredding."
MAP = parse_type("MAP<STRING NOT NULL, INT>")
ROWS = [[("b", 1), ("a", 2)], None, [], [("c", 3), ("a", None), ("b", 4)], [("a", 5)], [("d", 6), ("c", 7)]]


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


def made(wb, columns: str = "id INT, m MAP<STRING NOT NULL, INT>", **options: str):
    own = {
        "bucket": "-1",
        "fields.m.map.storage-layout": "shared-shredding",
        "fields.m.map.shared-shredding.max-columns": "2",
    }
    own |= options
    wb.run(f"CREATE TABLE t ({columns}) WITH ({', '.join(f'{k!r} = {v!r}' for k, v in own.items())})")
    return wb.table("t")


def rows_of(maps: list, first: int = 0) -> pa.Table:
    ids = pa.array(range(first, first + len(maps)), pa.int32())
    return pa.table({"id": ids, "m": pa.array(maps, pa.map_(pa.string(), pa.int32()))})


def as_sets(maps: list) -> list:
    return [None if m is None else sorted(m) for m in maps]


PLACES = {
    # the keys b, a, c, d have the numbers 0, 1, 2, 3
    "plain": [[0, 1], None, [-1, -1], [2, 1], [1, -1], [3, 2]],
    "sequential": [[0, 1], None, [-1, -1], [0, 1], [1, -1], [2, 3]],
    "lru": [[0, 1], None, [-1, -1], [0, 1], [-1, 1], [2, 3]],
}


@pytest.mark.parametrize("policy", PLACES)
def test_keys_have_the_columns_that_java_gives_them(policy):
    shredder = MapShredder(MAP, 2, policy)
    found = shredder.shred(pa.array(ROWS, arrow_type(MAP))).to_pylist()
    assert [None if row is None else row["__field_mapping"] for row in found] == PLACES[policy]
    left_out = {"plain": [(0, 4)], "sequential": [(2, 3)], "lru": [(2, 3)]}[policy]
    assert [row["__overflow"] for row in found if row is not None] == [None, None, left_out, None, None]
    told = shredder.metadata("none")
    assert json.loads(told[f"{PREFIX}field-dict"]) == {"a": 1, "b": 0, "c": 2, "d": 3}
    assert told[f"{PREFIX}field-columns"] == {
        "plain": '{"0":[0],"1":[0,1],"2":[0,1],"3":[0]}', "sequential": '{"0":[0],"1":[0,1],"2":[0],"3":[1]}',
        "lru": '{"0":[0],"1":[1],"2":[0],"3":[1]}',
    }[policy]  # fmt: skip
    assert told[f"{PREFIX}overflow-set"] == {"plain": "[0]", "sequential": "[2]", "lru": "[2]"}[policy]
    assert (told[f"{PREFIX}num-columns"], told[f"{PREFIX}max-row-width"]) == ("2", "3")


def test_the_longest_unused_column_is_taken_first():
    shredder = MapShredder(MAP, 2, "lru")
    maps = [[("a", 1)], [("b", 1)], [("c", 1)], [("a", 1), ("c", 1), ("d", 1)]]
    found = shredder.shred(pa.array(maps, arrow_type(MAP))).to_pylist()
    assert [row["__field_mapping"] for row in found] == [[0, -1], [-1, 1], [2, -1], [2, 0]]
    assert found[3]["__overflow"] == [(3, 1)]


@pytest.mark.parametrize("kind", ["parquet", "orc"])
@pytest.mark.parametrize("codec", sampled(["none", "zstd", "lz4"], 3))
def test_what_was_written_is_read(wb, kind, codec):
    t = made(wb, **{"file.format": kind, "file.compression": codec})
    t.append(rows_of(ROWS))
    assert as_sets(t.to_arrow().sort_by("id").column("m").to_pylist()) == as_sets(ROWS)
    assert t.to_arrow(columns=["m"], where="id = 4").column("m").to_pylist() == [[("a", 5)]]
    t.append(rows_of([[("ü", None), ("a", 1)]] * 9000, first=100))
    t.compact(full=True)
    found = t.to_arrow().sort_by("id").column("m").to_pylist()
    assert as_sets(found[:6]) == as_sets(ROWS)
    assert as_sets(found[6:]) == [[("a", 1), ("ü", None)]] * 9000


@pytest.mark.spark
def test_files_keep_their_layout_when_the_option_goes(wb, spark):
    from paimon_nb.spark.scan.table_scan import to_dataframe
    from paimon_nb.table.read.strategy.planned_scan import plan_table_scan
    from paimon_nb.table.read.strategy.routes import StrategyLimits

    made(wb).append(rows_of(ROWS))
    wb.run("ALTER TABLE t RESET ('fields.m.map.storage-layout')")
    wb.table("t").append(rows_of([[("e", 9)]], first=50))
    scan = plan_table_scan(wb.table("t"), limits=StrategyLimits(inline_rows=0, inline_bytes=0))
    assert any("column m may be a shredded MAP" in route.why for route in scan.routes)
    found = {row.id: row.m for row in to_dataframe(spark, scan).collect()}
    assert found[50] == {"e": 9}
    assert [found[i] for i in range(6)] == [None if m is None else dict(m) for m in ROWS]


def test_the_file_tells_its_keys_in_its_arrow_schema(wb):
    t = made(wb, "id INT, m MAP<STRING NOT NULL, TIMESTAMP(9)>")
    t.append(
        pa.table(
            {"id": pa.array([1], pa.int32()), "m": pa.array([[("k", None)]], pa.map_(pa.string(), pa.timestamp("ns")))}
        )
    )
    (file,) = Path(t.path).glob("bucket-0/*.parquet")
    stored = pq.read_metadata(file).metadata[b"ARROW:schema"]
    told = pa.ipc.read_schema(pa.BufferReader(base64.b64decode(stored))).field("m").metadata
    assert told[b"paimon.map.storage-layout"] == b"shared-shredding"
    assert told[PREFIX.encode() + b"version"] == b"1"
    assert t.to_arrow().column("m").to_pylist() == [[("k", None)]]


def test_the_next_file_has_as_many_columns_as_rows_needed(wb):
    t = made(wb, **{"fields.m.map.shared-shredding.max-columns": "50", "target-file-size": "20 kb"})
    t.append(rows_of([[("a", i), ("b", i * 7919)] for i in range(60_000)]))
    files = [pq.ParquetFile(f).schema for f in Path(t.path).glob("bucket-0/*.parquet")]
    counts = sorted(sum("__col_" in file.column(i).path for i in range(len(file))) for file in files)
    assert len(counts) > 1
    assert counts == [2] * (len(counts) - 1) + [50]
    assert t.to_arrow().num_rows == 60_000


REFUSED = [
    ("id INT, m INT", {}),
    ("id INT, m MAP<STRING, INT>", {}),
    ("id INT, m MAP<INT NOT NULL, INT>", {}),
    ("id INT, m MAP<STRING NOT NULL, VECTOR<FLOAT, 2>>", {}),
    ("id INT, m MAP<STRING NOT NULL, INT>, v VARIANT", {}),
    ("id INT, m MAP<STRING NOT NULL, INT>, v MULTISET<INT>", {}),
    ("id INT, m MAP<STRING NOT NULL, INT>", {"file.format": "avro"}),
    ("id INT, m MAP<STRING NOT NULL, INT>", {"file.compression": "snappy"}),
    ("id INT, m MAP<STRING NOT NULL, INT>, PRIMARY KEY (id) NOT ENFORCED", {"bucket": "-2"}),
    ("id INT, m MAP<STRING NOT NULL, INT>", {"file-index.bitmap.columns": "id,m[a]"}),
]


@pytest.mark.parametrize(("columns", "options"), REFUSED)
def test_what_cannot_have_the_layout(wb, columns, options):
    with pytest.raises(BadOptionValue, match=r"fields\.m\.map\.storage-layout"):
        made(wb, columns, **options)


def test_maps_of_spark_have_keys_that_are_not_null(wb):
    """Spark's MAP<STRING, INT> has no NULL key, so its columns can have the layout; Flink's type must say so."""
    layout = "'fields.m.map.storage-layout' = 'shared-shredding'"
    wb.run(f"CREATE TABLE t (id INT, m MAP<STRING, INT>) TBLPROPERTIES ({layout})")
    assert wb.table("t").schema.field("m").type == parse_type("MAP<STRING NOT NULL, INT>")
    wb.table("t").append(rows_of(ROWS))
    assert as_sets(wb.table("t").to_arrow().column("m").to_pylist()) == as_sets(ROWS)
    with pytest.raises(BadOptionValue, match="MAP<STRING, INT>"):
        wb.run(f"CREATE TABLE f (id INT, m MAP<STRING, INT>) WITH ({layout})")
