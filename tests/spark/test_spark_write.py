"""Rows of DataFrames reach tables: inline and in tasks alike, once, in one commit."""

import random
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import functions as F
from sampling import sampled
from spark_tables import ODD, VALUES, as_rows, make_table, random_rows, store_rows

from paimon_nb.base.errors import EngineError, NullNotAllowed, PaimonError, SchemaMismatch
from paimon_nb.spark.runtime.arrow_interop import from_arrow
from paimon_nb.spark.write.compact import compact
from paimon_nb.spark.write.table_write import write

pytestmark = pytest.mark.spark
COLUMNS = {"k": "BIGINT", "p": "STRING", **VALUES, **ODD}
KINDS = {
    "append": ((), (), {"bucket": "-1"}),
    "append partitioned": ((), ("p",), {"bucket": "-1"}),
    "append buckets": ((), (), {"bucket": "3", "bucket_key": "k"}),
    "keyed": (("k",), (), {"bucket": "4"}),
    "keyed one bucket": (("k",), (), {"bucket": "1"}),
    "keyed partitioned": (("k", "p"), ("p",), {"bucket": "2"}),
    "dynamic": (("k",), (), {"bucket": "-1"}),
    "dynamic partitioned": (("k", "p"), ("p",), {"bucket": "-1"}),
}
WAYS = {"inline": 1 << 40, "tasks": 0}


def rows_of(seed: int, count: int = 300) -> pa.Table:
    rows = random_rows(random.Random(seed), count, 10**9, ["x", "y=1", "z"], odd=True)
    return rows.set_column(0, "k", pa.array(random.Random(seed).sample(range(10**6), count), pa.int64()))


def data_files(table):
    return sorted(p.name for p in Path(table.store.root).rglob("data-*"))


EVERY_TIME = {"inline": ("append partitioned", "keyed"), "tasks": ("append buckets", "keyed partitioned", "dynamic")}


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        pytest.param(kind, way, marks=[] if kind in EVERY_TIME[way] else pytest.mark.nightly)
        for kind in KINDS
        for way in WAYS
    ],
)
def test_rows_are_stored_once(spark, tmp_path, kind, way):
    keys, partitions, options = KINDS[kind]
    table = make_table(tmp_path, COLUMNS, keys=keys, partitions=partitions, **options)
    fields, expected = table.schema.fields, []
    for seed in (1, 2):
        rows = rows_of(seed)
        done = write(from_arrow(spark, rows, fields).repartition(3), table, inline_bytes=WAYS[way])
        assert (done.rows, done.inline) == (300, way == "inline")
        assert done.snapshots
        expected.append(rows)
    got = table.to_arrow()
    both = {}
    for rows in expected:
        names = zip(rows["k"].to_pylist(), rows["p"].to_pylist(), strict=True)
        both |= dict(zip(names, as_lines(rows), strict=True))
    if keys == ("k",):
        both = {k: row for (k, _), row in both.items()}
    wanted = sorted(both.values()) if keys else sorted(line for rows in expected for line in as_lines(rows))
    assert as_rows(got) == wanted


def as_lines(rows: pa.Table) -> list[str]:
    plain = [c.cast(pa.int64()) if pa.types.is_timestamp(c.type) and c.type.unit == "ns" else c for c in rows.columns]
    return [repr(r) for r in pa.table(plain, names=rows.column_names).to_pylist()]


@pytest.mark.parametrize("way", sampled(reversed(WAYS), 2))
def test_overwrite_dynamic_and_static(spark, tmp_path, way):
    table = make_table(tmp_path, {"k": "INT", "p": "STRING"}, partitions=("p",), bucket="-1")
    store_rows(table, pa.table({"k": pa.array([1, 2, 3], pa.int32()), "p": ["a", "b", "c"]}))
    size = WAYS[way]
    write(spark.createDataFrame([(9, "b")], "k int, p string"), table, overwrite="dynamic", inline_bytes=size)
    assert as_rows(table.to_arrow()) == as_rows(pa.table({"k": [1, 9, 3], "p": ["a", "b", "c"]}))
    write(
        spark.createDataFrame([(7, "a")], "k int, p string"),
        table,
        overwrite="static",
        static_partition={"p": "a"},
        inline_bytes=size,
    )
    assert as_rows(table.to_arrow()) == as_rows(pa.table({"k": [7, 9, 3], "p": ["a", "b", "c"]}))
    write(spark.createDataFrame([(5, "z")], "k int, p string"), table, overwrite="static", inline_bytes=size)
    assert table.to_arrow().to_pylist() == [{"k": 5, "p": "z"}]


@pytest.mark.parametrize("way", sampled(WAYS, 2))
def test_row_kinds_come_in_a_column_of_their_own(spark, tmp_path, way):
    table = make_table(tmp_path, {"k": "INT", "v": "STRING"}, keys=("k",), bucket="2")
    store_rows(table, pa.table({"k": pa.array([1, 2, 3], pa.int32()), "v": ["a", "b", "c"]}))
    frame = spark.createDataFrame([("-D", 1, None), ("+U", 2, "B"), ("+I", 4, "d")], "op string, k int, v string")
    write(frame, table, kinds="op", inline_bytes=WAYS[way])
    assert sorted(map(tuple, (r.values() for r in table.to_arrow().to_pylist()))) == [(2, "B"), (3, "c"), (4, "d")]


@pytest.mark.parametrize("way", WAYS)
def test_an_empty_source_makes_no_snapshot(spark, tmp_path, way):
    table = make_table(tmp_path, {"k": "INT"}, keys=("k",), bucket="1")
    assert write(spark.createDataFrame([], "k int"), table, inline_bytes=WAYS[way]).snapshots == ()


@pytest.mark.parametrize("way", WAYS)
def test_a_null_key_is_refused_and_leaves_nothing(spark, tmp_path, way):
    table = make_table(tmp_path, {"k": "INT", "v": "INT"}, keys=("k",), bucket="2")
    frame = spark.range(100).select(F.when(F.col("id") != 57, F.col("id")).cast("int").alias("k"), F.lit(1).alias("v"))
    with pytest.raises(NullNotAllowed):
        write(frame, table, inline_bytes=WAYS[way])
    assert data_files(table) == []
    assert table.to_arrow().num_rows == 0


def test_a_failing_task_leaves_no_file_behind(spark, tmp_path):
    table = make_table(tmp_path, {"k": "INT"}, bucket="-1")
    frame = spark.range(0, 40, 1, 4).select(
        F.expr("IF(id = 39, CAST(raise_error('no more') AS INT), CAST(id AS INT))").alias("k")
    )
    with pytest.raises(PaimonError):
        write(frame, table, inline_bytes=0)
    assert data_files(table) == []
    with pytest.raises(EngineError):
        write(frame, table, inline_bytes=0)


def test_wrong_columns_are_said_so(spark, tmp_path):
    table = make_table(tmp_path, {"k": "INT"}, bucket="-1")
    with pytest.raises(SchemaMismatch):
        write(spark.createDataFrame([(1, 2)], "k int, x int"), table)


@pytest.mark.parametrize("inline_bytes", [1 << 40, 0], ids=["threads", "tasks"])
def test_compaction_keeps_the_rows(spark, tmp_path, inline_bytes):
    table = make_table(
        tmp_path, {"k": "BIGINT", "p": "STRING", **VALUES}, keys=("k", "p"), partitions=("p",), bucket="2"
    )
    for seed in range(4):
        store_rows(table, random_rows(random.Random(seed), 200, 150, ["a", "b"]))
    before = as_rows(table.to_arrow())
    done = compact(table, spark, inline_bytes=inline_bytes)
    assert (done.tasks, done.inline, len(done.snapshots)) == (4, inline_bytes > 0, 1)
    assert as_rows(table.to_arrow()) == before
    assert compact(table, spark).snapshots == ()
