"""Typical calls of pandas, polars, DuckDB, Arrow, ibis and others, each on a merge-on-read table with every type."""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING, Any

import all_types
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from sampling import sampled

import paimon_nb
from paimon_nb.base.errors import EnvironmentError_
from paimon_nb.table.read.query import TableQuery

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEYS, UPDATED = 40, range(10, 50)


@pytest.fixture(scope="module")
def t(tmp_path_factory: pytest.TempPathFactory) -> Iterator[paimon_nb.Table]:
    """Keys 0 to 49 in two overlapping runs."""
    with paimon_nb.connect(str(tmp_path_factory.mktemp("w"))) as wb:
        t = all_types.make(wb, "t", write_only="true")
        t.append(all_types.rows(t, range(KEYS)))
        t.append(all_types.rows(t, UPDATED, 1))
        t.tags.create("both")
        yield t


def row(i: int) -> dict[str, Any]:
    """What the table has for a key."""
    return all_types.row(i, 1 if i in UPDATED else 0)


IDS = list(range(50))
SUM_N = sum(row(i)["n"] or 0 for i in IDS)
POSITIVE = [i for i in IDS if (row(i)["n"] or 0) > 0]
NAMES = {row(i)["name"] for i in IDS} - {None}


def duckdb_sum(t: paimon_nb.Table) -> Any:
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().from_arrow(t).aggregate("sum(n)").fetchall()[0][0]


def duckdb_replacement(t: paimon_nb.Table) -> Any:
    duckdb = pytest.importorskip("duckdb")
    scanner = t.scanner(columns=["id", "n"])
    assert scanner is not None
    return duckdb.connect().sql("SELECT count(*) FROM scanner WHERE n > 0").fetchall()[0][0]


def duckdb_join(t: paimon_nb.Table) -> Any:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("rows", t.select("id", "n").to_arrow())
    return connection.sql("SELECT count(*) FROM rows a JOIN rows b USING (id)").fetchall()[0][0]


def duckdb_variable(t: paimon_nb.Table) -> Any:  # noqa: ARG001  # DuckDB finds it by its name
    duckdb = pytest.importorskip("duckdb")
    return duckdb.sql("SELECT sum(n) FROM t WHERE id < 50").fetchall()[0][0]


def ibis_sum(t: paimon_nb.Table) -> Any:
    ibis = pytest.importorskip("ibis")
    return ibis.memtable(t.select("id", "n")).n.sum().execute()


def parquet_round_trip(t: paimon_nb.Table, folder: Any) -> Any:
    with pq.ParquetWriter(folder / "t.parquet", TableQuery(t).schema) as out:
        for batch in t.to_batches():
            out.write_batch(batch)
    return pq.read_table(folder / "t.parquet").num_rows


CALLS: dict[str, tuple[Callable[[paimon_nb.Table], Any], Any]] = {
    # Arrow
    "pa.table": (lambda t: pa.table(t).num_rows, 50),
    "to_arrow of columns": (lambda t: t.to_arrow(["n", "id"]).column_names, ["n", "id"]),
    "reader": (lambda t: sum(b.num_rows for b in t.to_reader()), 50),
    "RecordBatchReader.from_stream": (lambda t: pa.RecordBatchReader.from_stream(t).read_all().num_rows, 50),
    "batches": (lambda t: max(b.num_rows for b in t.to_batches(batch_rows=7)), 7),
    "compute": (lambda t: pc.sum(t.to_arrow()["n"]).as_py(), SUM_N),
    "group_by": (lambda t: t.to_arrow().group_by("name").aggregate([("id", "count")]).num_rows, len(NAMES) + 1),
    "schema": (lambda t: str(TableQuery(t).schema.field("tags").type), "list<element: string>"),
    "scanner": (lambda t: t.scanner(["id"], pc.field("n") > 0).to_table().num_rows, len(POSITIVE)),
    "scanner of text": (lambda t: t.scanner(["id"], "n > 0").count_rows(), len(POSITIVE)),
    "dataset of the table": (lambda t: ds.dataset(pa.table(t)).count_rows(filter=pc.field("n") > 0), len(POSITIVE)),
    # handles
    "select where limit": (lambda t: t.select("id").where("n > 0").limit(5).to_arrow().num_rows, 5),
    "count": (lambda t: t.count(), 50),
    "count where": (lambda t: t.where("n > 0").count(), len(POSITIVE)),
    "head": (lambda t: t.head(3).num_rows, 3),
    "a tag": (lambda t: t.at(tag="both").count(), 50),
    "a snapshot": (lambda t: t.at(snapshot=1).count(), 40),
    "lookup": (lambda t: t.lookup(id=12).to_pylist()[0]["note"], row(12)["note"]),
    "html": (lambda t: t._repr_html_().count("<tr>"), 11),
    # pandas
    "to_pandas": (lambda t: t.to_pandas().shape, (50, len(all_types.row(0)))),
    "pandas types": (lambda t: str(t.to_pandas(types_mapper=pd.ArrowDtype).dtypes["n"]), "int32[pyarrow]"),
    "pandas sum": (lambda t: int(t.select("n").to_pandas()["n"].sum()), SUM_N),
    "pandas merge": (lambda t: len(t.to_pandas().merge(t.select("id").to_pandas(), on="id")), 50),
    # polars
    "pl.DataFrame": (lambda t: pl.DataFrame(t).height, 50),
    "pl.from_arrow": (lambda t: pl.from_arrow(pa.table(t))["n"].sum(), SUM_N),
    "to_polars": (lambda t: t.to_polars().filter(pl.col("n") > 0).height, len(POSITIVE)),
    "lazy filter": (lambda t: t.to_polars(lazy=True).filter(pl.col("n") > 0).collect().height, len(POSITIVE)),
    "lazy group": (lambda t: t.to_polars(lazy=True).group_by("name").len().collect().height, len(NAMES) + 1),
    "lazy slice": (lambda t: t.to_polars(lazy=True).select("id").slice(1, 4).collect().height, 4),
    "lazy join": (
        lambda t: t.to_polars(lazy=True).join(t.select("id").to_polars(lazy=True), on="id").collect().height, 50,
    ),
    # DuckDB, ibis
    "duckdb.from_arrow": (duckdb_sum, SUM_N),
    "to_duckdb": (lambda t: t.where("n > 0").to_duckdb().count("*").fetchall()[0][0], len(POSITIVE)),
    "duckdb FROM t": (duckdb_variable, SUM_N),
    "FROM scanner": (duckdb_replacement, len(POSITIVE)),
    "a join in DuckDB": (duckdb_join, 50),
    "ibis.memtable": (ibis_sum, SUM_N),
}  # fmt: skip
if hasattr(pd.DataFrame, "from_arrow"):  # pandas 3
    CALLS["DataFrame.from_arrow"] = lambda t: int(pd.DataFrame.from_arrow(t)["n"].sum()), SUM_N


@pytest.mark.parametrize("name", sampled(CALLS, 2))
def test_a_call_gives_the_rows_of_the_table(t: paimon_nb.Table, name: str) -> None:
    if "duckdb" in name.lower():
        pytest.importorskip("duckdb")
    call, expected = CALLS[name]
    assert call(t) == expected


def test_every_value_comes_through_polars_pandas_and_arrow(t: paimon_nb.Table) -> None:
    arrow = {r["id"]: r for r in t.to_arrow().to_pylist()}
    pairs = [(k, c, v, row(k)[c]) for k in IDS for c, v in arrow[k].items()]
    assert [p for p in pairs if p[2] != p[3] and str(p[2]) != str(p[3])] == []  # NaN is not equal to itself
    polars = {r["id"]: r for r in t.to_polars().to_dicts()}
    simple = (
        "ok",
        "tiny",
        "small",
        "n",
        "big",
        "price",
        "code",
        "name",
        "note",
        "raw",
        "day",
        "at_us",
        "tags",
        "inner_row",
    )
    assert [(k, c) for k in IDS for c in simple if polars[k][c] != row(k)[c]] == []
    pandas = t.to_pandas().set_index("id")
    assert [k for k in IDS if pandas["note"][k] != row(k)["note"]] == []
    assert all(math.isnan(pandas["d"][k]) for k in IDS if row(k)["d"] is None)


def test_a_table_is_written_batch_by_batch_into_another_format(t: paimon_nb.Table, tmp_path) -> None:
    assert parquet_round_trip(t, tmp_path) == 50


FILTERS: dict[str, tuple[pl.Expr, str | None]] = {
    "comparison": (pl.col("id") > 30, "id > 30"),
    "both sides": (pl.lit(30) <= pl.col("id"), "id >= 30"),
    "and": ((pl.col("id") >= 3) & (pl.col("name") == "name 5"), "id >= 3 AND name = 'name 5'"),
    "or": ((pl.col("id") == 3) | (pl.col("id") == 44), "id = 3 OR id = 44"),
    "is_in": (pl.col("id").is_in([1, 2, 99]), "id IN (1, 2, 99)"),
    "between": (pl.col("id").is_between(4, 6), "id >= 4 AND id <= 6"),
    "null": (pl.col("note").is_null(), "note IS NULL"),
    "date": (pl.col("day") >= dt.date(1966, 1, 1), "day >= 1966-01-01"),
    "partly": ((pl.col("id") > 30) & (pl.col("note").str.len_chars() > 3), "id > 30"),
    "float": (pl.col("d") < -10.0, None),
    "negated": (~(pl.col("id") < 30), "id >= 30"),
}


@pytest.mark.parametrize("name", FILTERS)
def test_a_polars_filter_is_pushed_down_and_gives_the_rows_of_an_eager_one(
    t: paimon_nb.Table, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    filter, pushed = FILTERS[name]
    seen: list[object] = []
    read = paimon_nb.Table.scan

    def scan(self: paimon_nb.Table, where: object = None, **more: Any) -> Any:
        seen.append(where)
        return read(self, where, **more)

    monkeypatch.setattr(paimon_nb.Table, "scan", scan)
    lazy = sorted(t.to_polars(lazy=True).filter(filter).select("id").collect()["id"].to_list())
    assert lazy == sorted(t.to_polars().filter(filter)["id"].to_list())
    found = [str(s).replace("(", "").replace(")", "") for s in seen if s is not None]
    assert found == ([] if pushed is None else [pushed.replace("(", "").replace(")", "")])


def test_a_limit_before_a_polars_filter_counts_rows_before_it(t: paimon_nb.Table) -> None:
    lazy = t.to_polars(lazy=True)
    first = sorted(lazy.head(10).collect()["id"].to_list())
    assert sorted(lazy.head(10).filter(pl.col("id") >= first[5]).collect()["id"].to_list()) == first[5:]
    assert lazy.filter(pl.col("id") >= first[5]).head(10).collect().height == 10


@pytest.mark.parametrize("name", ["to_torch", "to_ray", "to_daft"])
def test_a_library_that_is_not_installed_is_named(
    t: paimon_nb.Table, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = name.removeprefix("to_")
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(EnvironmentError_, match=package) as raised:
        getattr(t, name)()
    assert "pip install" in (raised.value.hint or "")


@pytest.mark.nightly
def test_daft_reads_the_table(t: paimon_nb.Table) -> None:
    pytest.importorskip("daft")
    assert t.select("id", "n").to_daft().count_rows() == 50


@pytest.mark.nightly
def test_ray_reads_the_table(t: paimon_nb.Table) -> None:
    pytest.importorskip("ray.data")
    assert t.select("id", "n").to_ray().count() == 50


@pytest.mark.nightly
def test_torch_reads_the_table_in_the_workers_of_a_loader(t: paimon_nb.Table) -> None:
    torch = pytest.importorskip("torch")
    rows = t.select("id", "name").to_torch(batch_rows=8)
    for workers in (0, 2):
        loader = torch.utils.data.DataLoader(rows, batch_size=None, num_workers=workers)
        assert sorted(int(i) for batch in loader for i in batch["id"]) == IDS
