"""Databases and tables made, listed, renamed and dropped from Python, without SQL and without a JVM."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import paimon_nb
from paimon_nb.base.errors import (
    AlreadyExists,
    BadOptionValue,
    ColumnNotFound,
    DatabaseNotFound,
    NullNotAllowed,
    SchemaMismatch,
    SourceUnavailable,
    TableNotFound,
    UnsupportedOperation,
)

if TYPE_CHECKING:
    from pathlib import Path

    from paimon_nb.workbench import Workbench

ROWS = {"id": [1, 2, 3], "name": ["a", None, "c"], "amount": [1.5, 2.5, None]}


@pytest.fixture
def wb(tmp_path: Path) -> Workbench:
    return paimon_nb.connect(str(tmp_path / "warehouse"))


def dataset(folder: Path) -> ds.Dataset:
    pq.write_table(pa.table(ROWS), folder / "rows.parquet")
    return ds.dataset(folder / "rows.parquet")


SOURCES = {
    "arrow table": lambda _: pa.table(ROWS),
    "record batch": lambda _: pa.RecordBatch.from_pydict(ROWS),
    "reader": lambda _: pa.table(ROWS).to_reader(),
    "pandas": lambda _: pd.DataFrame(ROWS),
    "polars": lambda _: pl.DataFrame(ROWS),
    "dataset": dataset,
}


@pytest.mark.parametrize("kind", SOURCES)
def test_a_frame_becomes_a_table_with_its_rows(wb, tmp_path, kind):
    t = wb.create_table("orders", SOURCES[kind](tmp_path), primary_key="id", options={"bucket": 2})
    assert sorted(t.to_arrow().to_pylist(), key=lambda r: r["id"]) == pa.table(ROWS).to_pylist()
    assert (t.primary_keys, t.options.raw["bucket"], t.snapshots().num_rows) == (("id",), "2", 1)
    assert "pyspark" not in sys.modules or not wb.session.spark_started


def test_another_table_is_a_source(wb):
    wb.create_table("a", pa.table(ROWS), primary_key=["id"])
    assert wb.create_table("b", wb.table("a").where("id > 1").select("id")).to_pandas()["id"].tolist() == [2, 3]


def test_a_schema_makes_an_empty_table_with_partitions(wb):
    schema = pa.schema([("dt", pa.date32()), ("n", pa.uint32()), ("tags", pa.list_(pa.string()))])
    t = wb.create_table("events", schema, partition_by=["dt"], comment="what happened")
    assert [str(f.type) for f in t.schema.fields] == ["DATE", "BIGINT", "ARRAY<STRING>"]
    assert (t.partition_keys, t.count(), t.snapshots().num_rows, t.schema.comment) == (("dt",), 0, 0, "what happened")


def test_a_stream_larger_than_a_chunk_is_one_commit(wb):
    rows = 300_000
    batches = (pa.RecordBatch.from_pydict({"id": np.arange(i, i + 10_000)}) for i in range(0, rows, 10_000))
    reader = pa.RecordBatchReader.from_batches(pa.schema([("id", pa.int64())]), batches)
    t = wb.create_table("big", reader)
    assert (t.count(), t.snapshots().num_rows) == (rows, 1)
    assert t.where("id >= 299999").count() == 1


def test_names_are_listed_renamed_and_dropped(wb):
    assert (wb.create_database("sales"), wb.create_database("sales", if_not_exists=True)) == (True, False)
    wb.create_table("sales.a", pa.table(ROWS))
    wb.create_table("b", pa.table(ROWS))
    wb.rename_table("sales.a", "orders")
    wb.rename_table("b", "sales.b")
    assert (wb.databases(), wb.tables("sales"), wb.tables()) == (["default", "sales"], ["b", "orders"], [])
    assert (wb.drop_table("sales.b"), wb.drop_table("sales.b", if_exists=True)) == (True, False)
    with pytest.raises(UnsupportedOperation):
        wb.drop_database("sales")
    assert wb.drop_database("sales", cascade=True)
    assert wb.databases() == ["default"]


def test_a_table_that_exists_is_left_as_it_is(wb):
    wb.create_table("t", pa.table(ROWS))
    with pytest.raises(AlreadyExists):
        wb.create_table("t", pa.table(ROWS))
    assert wb.create_table("t", pa.table(ROWS), if_not_exists=True).count() == 3


@pytest.mark.parametrize(
    ("source", "arguments", "error"),
    [
        (pa.table({"id": [1, None]}), {"primary_key": ["id"]}, NullNotAllowed),
        (pa.table({"id": [1]}), {"primary_key": ["idd"]}, ColumnNotFound),
        (pa.table({"id": [1]}), {"options": {"bucket": "many"}}, BadOptionValue),
        (object(), {}, SchemaMismatch),
        ("rows", {}, SourceUnavailable),
    ],
)
def test_what_cannot_be_stored_leaves_no_table(wb, source, arguments, error):
    with pytest.raises(error):
        wb.create_table("t", source, **arguments)
    assert wb.tables() == []


def test_a_stream_that_breaks_half_way_leaves_no_table_and_no_file(wb, tmp_path):
    def batches():
        yield pa.RecordBatch.from_pydict({"id": np.arange(200_000)})
        raise RuntimeError("the source is gone")

    with pytest.raises(RuntimeError, match="the source is gone"):
        wb.create_table("t", pa.RecordBatchReader.from_batches(pa.schema([("id", pa.int64())]), batches()))
    assert wb.tables() == []
    assert list((tmp_path / "warehouse").rglob("*.parquet")) == []


def test_missing_names_come_with_the_nearest(wb):
    wb.create_table("orders", pa.table(ROWS))
    with pytest.raises(TableNotFound) as table:
        wb.rename_table("order", "x")
    with pytest.raises(DatabaseNotFound):
        wb.tables("nope")
    assert "orders" in (table.value.hint or "")


def test_a_table_needs_a_column(wb):
    for nothing in (pa.schema([]), pd.DataFrame()):
        with pytest.raises(SchemaMismatch, match="the table has no columns"):
            wb.create_table("t", nothing)
    assert wb.tables() == []


def test_options_without_effect_are_named_at_the_callers_line(wb):
    with pytest.warns(UserWarning, match="unknown option 'bukcet'.*did you mean 'bucket'") as made:
        t = wb.create_table("t", pa.table(ROWS), options={"bukcet": 2})
    with pytest.warns(UserWarning, match="unknown option 'snapshot.num-retained.maximum'") as altered:
        t.set_options({"snapshot.num-retained.maximum": 20})
    assert {w.filename for w in [*made, *altered]} == {__file__}


def test_a_result_is_short_and_gives_its_rows(wb):
    wb.create_table("t", pa.table(ROWS))
    query = wb.run("SELECT id, name FROM t")
    assert repr(query) == "<Result: 3 rows, 2 columns>"
    assert pa.table(query) == query.to_arrow() == query.arrow
    assert query.to_pandas()["id"].tolist() == [1, 2, 3]
    assert repr(wb.run("CREATE TABLE u (a INT)")) == "<Result: table default.u created>"
