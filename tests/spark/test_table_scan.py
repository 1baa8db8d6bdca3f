"""Every way into Spark gives the rows that `Table.to_arrow` gives, on random tables of every kind."""

import random
from functools import partial

import pytest
from pyspark.errors import PythonException
from sampling import sampled
from spark_tables import ODD, VALUES, as_rows, make_table, random_rows, store_rows

from paimon_nb.base.errors import CorruptFile
from paimon_nb.fs.file_cache import LruCache
from paimon_nb.spark.jobs.task_runner import run_in_tasks
from paimon_nb.spark.runtime.arrow_interop import to_arrow
from paimon_nb.spark.scan.table_scan import read_table, to_dataframe
from paimon_nb.table.read import plan_scan
from paimon_nb.table.read.strategy import superseded_rows
from paimon_nb.table.read.strategy.planned_scan import plan_table_scan, with_routes
from paimon_nb.table.read.strategy.routes import ScanStrategy, StrategyLimits

pytestmark = pytest.mark.spark

KINDS = {
    "append": {"keys": (), "options": {"bucket": "-1"}},
    "append buckets": {"keys": (), "options": {"bucket": "3", "bucket_key": "k"}},
    "deduplicate": {"keys": ("k",), "options": {"bucket": "2"}, "deletes": True},
    "deduplicate by field": {"keys": ("k",), "options": {"bucket": "1", "sequence__field": "i"}, "deletes": True},
    "ignore delete": {"keys": ("k",), "options": {"bucket": "1", "ignore_delete": "true"}, "deletes": True},
    "first-row": {"keys": ("k",), "options": {"bucket": "1", "merge_engine": "first-row"}, "compact": True},
    "partial-update": {"keys": ("k",), "options": {"bucket": "2", "merge_engine": "partial-update"}},
    "partial-update with -D": {
        "keys": ("k",),
        "options": {
            "bucket": "1", "merge_engine": "partial-update", "partial_update__remove_record_on_delete": "true",
        },
        "deletes": True,
    },
    "aggregation": {
        "keys": ("k",),
        "options": {"bucket": "1", "merge_engine": "aggregation", "fields__i__aggregate_function": "sum"},
    },
    "deletion vectors": {
        "keys": ("k",), "options": {"bucket": "1", "deletion_vectors__enabled": "true"}, "deletes": True, "compact": True,
    },
    "orc": {"keys": ("k",), "options": {"bucket": "1", "file__format": "orc"}, "deletes": True},
    "avro": {"keys": (), "options": {"bucket": "-1", "file__format": "avro"}},
}  # fmt: skip


def build(where, kind, *, partitioned, odd, seed):
    r = random.Random(f"{kind}{partitioned}{odd}{seed}")
    what = KINDS[kind]
    names = ["a=1/é %", "b", "c{d}*"] if partitioned else None
    columns = {"k": "BIGINT", **({"p": "STRING"} if names else {}), **VALUES, **(ODD if odd else {})}
    if kind == "avro":
        columns.pop("n9", None)  # Avro has no nanoseconds
    keys = (*what["keys"], "p") if names and what["keys"] else what["keys"]
    table = make_table(where, columns, keys=keys, partitions=("p",) if names else (), **what["options"])
    for _ in range(4):
        rows = random_rows(r, 120, 150, names, odd).select(list(columns))
        kinds = [r.choice(["+I", "+I", "+I", "-D"]) for _ in range(rows.num_rows)] if what.get("deletes") else None
        store_rows(table, rows, kinds, compact=what.get("compact", False))
    return table


ODD_EVERY_TIME = ("append", "aggregation", "orc")
PARTITIONED_EVERY_TIME = ("deduplicate by field", "partial-update", "deletion vectors")
"""Odd types and partitions meet crosswise in the long run only: what the one decides asks nothing of the other, nor of the kind."""


def _scenes():
    for kind in KINDS:
        for partitioned, odd in ((True, False), (False, True), (False, False), (True, True)):
            short = kind in (ODD_EVERY_TIME if odd else PARTITIONED_EVERY_TIME) and partitioned != odd
            name = f"{kind}-{'partitioned' if partitioned else 'whole'}-{'odd' if odd else 'plain'}"
            yield pytest.param(kind, partitioned, odd, id=name, marks=[] if short else pytest.mark.nightly)


@pytest.mark.parametrize(("kind", "partitioned", "odd"), list(_scenes()))
def test_every_way_gives_the_same_rows(spark, tmp_path, kind, partitioned, odd):
    table = build(tmp_path, kind, partitioned=partitioned, odd=odd, seed=1)
    expected = as_rows(table.to_arrow())
    assert expected
    best = plan_table_scan(table, limits=StrategyLimits(inline_bytes=0))
    for chosen in (plan_table_scan(table), best, with_routes(best, ScanStrategy.TASKS)):
        got = to_arrow(to_dataframe(spark, chosen), chosen.fields)
        assert got.column_names == list(table.schema.names)
        assert as_rows(got) == expected, {r.strategy for r in chosen.routes}


@pytest.mark.parametrize("kind", sampled(["deduplicate", "partial-update", "deletion vectors"], 3))
def test_keys_that_are_compared_in_tasks_hide_the_same_rows(spark, tmp_path, monkeypatch, kind):
    table = build(tmp_path, kind, partitioned=True, odd=False, seed=1)
    plan, found = plan_scan(table.store), []
    for chosen in (None, partial(run_in_tasks, spark)):
        monkeypatch.setattr(superseded_rows, "_CACHE", LruCache(superseded_rows.CACHE_BYTES))
        found.append(superseded_rows.hidden_rows_of(plan.store, plan.splits, chosen))
    here, in_tasks = ({name: rows.tolist() for name, rows in hidden.rows.items()} for hidden in found)
    assert here
    assert in_tasks == here
    assert found[1].merged == found[0].merged


@pytest.mark.parametrize("kind", sampled(["partial-update with -D", "deduplicate", "partial-update", "aggregation"], 4))
def test_many_rows_are_merged_in_tasks(spark, tmp_path, monkeypatch, kind):
    table = build(tmp_path, kind, partitioned=False, odd=False, seed=4)
    here = []
    monkeypatch.setattr(superseded_rows, "run_in_threads", lambda _, splits: here.extend(splits) or [])
    for columns in (None, None, ["k", "s"]):
        rows = read_table(spark, table, columns=columns, limits=StrategyLimits(inline_bytes=0, driver_rows=100))
        expected = table.to_arrow().select(rows.columns)
        assert as_rows(to_arrow(rows, [table.schema.field(name) for name in rows.columns])) == as_rows(expected)
    assert here == []


def test_ways_are_the_ones_expected(tmp_path):
    seen = {
        kind: {r.strategy for r in plan_table_scan(build(tmp_path, kind, partitioned=False, odd=False, seed=2), limits=StrategyLimits(inline_bytes=0)).routes}
        for kind in ("append", "deduplicate", "partial-update", "avro")
    }  # fmt: skip
    assert seen == {
        "append": {ScanStrategy.NATIVE},
        "deduplicate": {ScanStrategy.MASKED},
        "partial-update": {ScanStrategy.MASKED},
        "avro": {ScanStrategy.TASKS},
    }


@pytest.mark.parametrize(
    "limits", sampled([StrategyLimits(inline_bytes=0), StrategyLimits()], 2), ids=["big", "inline"]
)
def test_chosen_columns_in_any_case_and_counts(spark, tmp_path, limits):
    table = build(tmp_path, "deduplicate", partitioned=True, odd=True, seed=3)
    whole = table.to_arrow()
    frame = read_table(spark, table, columns=["S", "k"], limits=limits)
    assert frame.columns == ["k", "s"]
    assert frame.count() == whole.num_rows
    assert read_table(spark, table, columns=[], limits=limits).count() == whole.num_rows
    assert frame.where("k < 20").count() == sum(k < 20 for k in whole["k"].to_pylist())


def test_an_empty_table_has_its_columns(spark, tmp_path):
    table = make_table(tmp_path, {"k": "BIGINT", **VALUES, **ODD}, keys=("k",), bucket="1")
    frame = read_table(spark, table)
    assert frame.columns == list(table.schema.names)
    assert frame.collect() == []


def test_time_travel_and_a_pinned_snapshot(spark, tmp_path):
    table = make_table(tmp_path, {"k": "BIGINT", **VALUES}, keys=("k",), bucket="1")
    store_rows(table, random_rows(random.Random(1), 50, 1000))
    first = as_rows(table.to_arrow())
    frames = [read_table(spark, table, limits=limits) for limits in (StrategyLimits(), StrategyLimits(inline_bytes=0))]
    store_rows(table, random_rows(random.Random(2), 50, 1000))
    fields = table.schema.fields
    for frame in frames:
        assert as_rows(to_arrow(frame, fields)) == first
    assert as_rows(to_arrow(read_table(spark, table, options={"scan.snapshot-id": "1"}), fields)) == first
    assert read_table(spark, table).count() > len(first)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["append", "orc", "deduplicate"])
def test_a_file_with_other_rows_than_its_manifest_says_is_not_given_to_spark(spark, tmp_path, kind):
    one, other = (make_table(tmp_path / n, {"k": "BIGINT", **VALUES}, **_options_of(kind)) for n in ("one", "other"))
    store_rows(one, random_rows(random.Random(1), 1, 10))
    store_rows(other, random_rows(random.Random(2), 200, 1000))
    (target,) = (p for p in (tmp_path / "one").rglob("bucket-*/data-*") if p.suffix in (".parquet", ".orc"))
    (source,) = (p for p in (tmp_path / "other").rglob("bucket-*/data-*") if p.suffix in (".parquet", ".orc"))
    target.write_bytes(source.read_bytes())

    # ORC is read by our tasks: the error comes from one of them.
    with pytest.raises((CorruptFile, PythonException), match="where the manifest says 1"):
        read_table(spark, one, limits=StrategyLimits(inline_bytes=0)).count()


def _options_of(kind):
    return {"keys": KINDS[kind]["keys"], **KINDS[kind]["options"], "bucket": "1" if KINDS[kind]["keys"] else "-1"}
