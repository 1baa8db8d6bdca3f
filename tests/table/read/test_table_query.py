"""A table as pandas, polars, Arrow and DuckDB read it: lazily, in batches, through Arrow's C stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import BadOptionValue, ColumnNotFound

if TYPE_CHECKING:
    from pathlib import Path

    from paimon_nb.table.tables.table import Table


@pytest.fixture
def orders(tmp_path: Path) -> Table:
    """A key table with three overlapping runs: 6 rows, of which one was updated and one deleted."""
    wb = paimon_nb.connect(str(tmp_path))
    wb.run(
        "CREATE TABLE orders (id INT, name STRING, amount DOUBLE, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2')"
    )
    t = wb.table("orders")
    t.upsert(pa.table({"id": [1, 2, 3, 4], "name": ["a", "b", "c", "d"], "amount": [1.0, 2.0, 3.0, 4.0]}))
    t.tags.create("before")
    t.upsert(pa.table({"id": [2, 5, 6], "name": ["B", "e", "f"], "amount": [20.0, 5.0, 6.0]}))
    t.delete(pa.table({"id": [3]}))
    return t


ROWS = [(1, "a", 1.0), (2, "B", 20.0), (4, "d", 4.0), (5, "e", 5.0), (6, "f", 6.0)]


def rows(table: pa.Table) -> list[tuple[object, ...]]:
    return sorted(tuple(r.values()) for r in table.to_pylist())


def test_arrow_reads_the_handle(orders):
    assert rows(pa.table(orders)) == ROWS
    assert rows(pa.RecordBatchReader.from_stream(orders).read_all()) == ROWS


def test_polars_reads_the_handle(orders):
    assert sorted(pl.DataFrame(orders).rows()) == ROWS
    assert sorted(orders.to_polars().rows()) == ROWS


def test_pandas_gets_a_frame(orders):
    frame = orders.to_pandas().sort_values("id", ignore_index=True)
    pd.testing.assert_frame_equal(frame, pd.DataFrame(ROWS, columns=["id", "name", "amount"]).astype({"id": "int32"}))


def test_duckdb_asks_the_handle(orders):
    duckdb = pytest.importorskip("duckdb")
    relation = orders.where("amount > 3").to_duckdb(duckdb.connect())
    assert relation.aggregate("count(*), sum(amount)").fetchall() == [(4, 35.0)]


def test_a_lazy_polars_frame_reads_only_the_columns_of_its_query(orders):
    lazy = orders.to_polars(lazy=True)
    assert lazy.filter(pl.col("amount") > 4.5).select("id").sort("id").collect().rows() == [(2,), (5,), (6,)]
    assert lazy.head(2).collect().height == 2
    assert lazy.collect_schema().names() == ["id", "name", "amount"]


def test_a_query_is_built_step_by_step_and_read_many_times(orders):
    q = orders.select("name", "id").where("amount > 1").where("id < 6").limit(10)
    assert rows(q.to_arrow()) == [("B", 2), ("d", 4), ("e", 5)]
    assert rows(q.to_arrow()) == [("B", 2), ("d", 4), ("e", 5)]
    assert q.schema.names == ["name", "id"]
    assert repr(q) == "TableQuery(default.orders, select name, id, where (amount > 1) AND (id < 6), limit 10)"


def test_an_earlier_version_is_read(orders):
    assert rows(orders.at(tag="before").select("id", "name").to_arrow()) == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]
    assert orders.at(snapshot=1).count() == 4


def test_batches_are_bounded_and_together_hold_every_row(orders):
    batches = list(orders.to_batches(batch_rows=2))
    assert max(b.num_rows for b in batches) <= 2
    assert rows(pa.Table.from_batches(batches)) == ROWS


def test_count_and_head(orders):
    assert (orders.count(), orders.where("id > 4").count(), orders.limit(3).count()) == (5, 2, 3)
    assert orders.head(2).num_rows == 2
    assert orders.limit(0).to_arrow().num_rows == 0


def test_a_count_of_files_that_need_no_merging_opens_none(orders, tmp_path):
    orders.compact(full=True)
    for file in (tmp_path / "default.db" / "orders").glob("bucket-*/*.parquet"):
        file.write_bytes(b"")
    assert orders.count() == 5


def test_an_empty_table_has_its_columns(tmp_path):
    wb = paimon_nb.connect(str(tmp_path))
    wb.run("CREATE TABLE empty (id INT, at TIMESTAMP(3))")
    t = wb.table("empty")
    assert pa.table(t).schema == pa.schema([("id", pa.int32()), ("at", pa.timestamp("ms"))])
    assert (t.count(), pl.DataFrame(t).shape) == (0, (0, 2))


def test_no_columns_keep_the_number_of_rows(orders):
    assert sum(b.num_rows for b in orders.select([]).to_batches()) == 5


def test_a_wrong_column_is_named_with_the_nearest(orders):
    with pytest.raises(ColumnNotFound) as error:
        orders.select("amuont").to_arrow()
    assert "amount" in (error.value.hint or "")


@pytest.mark.parametrize("rows", [-1, True, 1.5, "3"])
def test_a_limit_is_a_number_of_rows(orders, rows):
    with pytest.raises(BadOptionValue):
        orders.limit(rows)


def test_one_version_at_a_time(orders):
    with pytest.raises(BadOptionValue):
        orders.at(tag="before", snapshot=1)
    with pytest.raises(BadOptionValue):
        orders.at()


def test_the_handle_shows_its_columns_types_and_first_rows_escaped(tmp_path):
    wb = paimon_nb.connect(str(tmp_path))
    wb.run("CREATE TABLE t (id INT, note STRING)")
    wb.table("t").append(pa.table({"id": pa.array([1], pa.int32()), "note": ["<script>alert(1)</script>"]}))
    html = wb.table("t")._repr_html_()
    assert "int32" in html
    assert "&lt;script&gt;" in html
    assert "<script" not in html
