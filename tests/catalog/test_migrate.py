"""Tables of Hive become Paimon tables in place: the same rows, the same bytes, and nothing lost when it fails."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest
from catalog_kit import catalog_options

import paimon_nb
from paimon_nb.base.errors import (
    CorruptFile,
    PaimonError,
    SchemaMismatch,
    TableNotFound,
    UnsupportedFormat,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog import open_catalog

if TYPE_CHECKING:
    from pathlib import Path

ttypes = pytest.importorskip("hive_metastore.ttypes")
_SERDES = {
    "parquet": ("org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe", "parquet.MapredParquetInputFormat"),
    "orc": ("org.apache.hadoop.hive.ql.io.orc.OrcSerde", "orc.OrcInputFormat"),
    "text": ("org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", "org.apache.hadoop.mapred.TextInputFormat"),
}
_COLUMNS = {
    "id": "int", "name": "string", "price": "decimal(8,2)", "seen": "timestamp", "day": "date", "tags": "array<string>",
    "at": "struct<x:double,y:double>",
}  # fmt: skip


def rows(*ids: int) -> pa.Table:
    return pa.table({
        "id": pa.array(ids, pa.int32()),
        "name": [None if i % 3 == 0 else f"n{i}" for i in ids],
        "price": pa.array([Decimal(i) / 4 for i in ids], pa.decimal128(8, 2)),
        "seen": pa.array([dt.datetime(2024, 1, 1, 0, 0, i % 60) for i in ids], pa.timestamp("ns")),
        "day": pa.array([dt.date(2024, 1, 1 + i % 28) for i in ids]),
        "tags": [[f"t{i}"] * (i % 3) for i in ids],
        "at": pa.array([{"x": i / 2, "y": None} for i in ids], pa.struct({"x": pa.float64(), "y": pa.float64()})),
    })  # fmt: skip


def write(path: Path, kind: str, table: pa.Table) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "orc":
        pyarrow.orc.write_table(table, path)
    else:  # the timestamps of Hive and Spark, 96 bits wide
        pyarrow.parquet.write_table(table, path, use_deprecated_int96_timestamps=True)


def storage(kind: str, location: Path):
    serde, reader = _SERDES[kind]
    return ttypes.StorageDescriptor(
        cols=[ttypes.FieldSchema(name=n, type=t) for n, t in _COLUMNS.items()], location=f"file:{location}",
        inputFormat=reader, outputFormat="o", serdeInfo=ttypes.SerDeInfo(serializationLib=serde, parameters={}),
        bucketCols=[], sortCols=[], parameters={}, numBuckets=0, compressed=False, storedAsSubDirectories=False,
    )  # fmt: skip


def hive_table(catalog, name: str, kind: str, location: Path, keys: dict[str, str] | None = None, **parameters: str):
    """The entry of a table as Hive makes it; files lie where `location` says."""
    entry = ttypes.Table(
        tableName=name, dbName="d", owner="hive", createTime=1, lastAccessTime=1, retention=0, sd=storage(kind, location),
        partitionKeys=[ttypes.FieldSchema(name=n, type=t) for n, t in (keys or {}).items()],
        parameters={"EXTERNAL": "TRUE", "comment": "of Hive", **parameters}, tableType="EXTERNAL_TABLE",
    )  # fmt: skip
    catalog.metastore.client.execute("create_table", entry)
    return entry


@pytest.fixture
def options(hive, request, tmp_path) -> dict[str, str]:  # noqa: ARG001  the metastore must run
    return catalog_options("hive", tmp_path, request)


@pytest.fixture
def catalog(options):
    made = open_catalog("c", options)
    made.create_database("d")
    return made


def told(table: pa.Table) -> list[dict]:
    return table.sort_by("id").to_pylist()


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_rows_and_files_stay_as_they_are(catalog, options, tmp_path, kind):
    where = tmp_path / "w/d.db/logs"
    for part in range(2):
        write(where / f"00000{part}_0", kind, rows(*range(part * 5, part * 5 + 5)))
    (where / "_SUCCESS").touch()
    sizes = sorted(p.stat().st_size for p in where.glob("0*"))
    hive_table(catalog, "logs", kind, where)
    with paimon_nb.connect(options["warehouse"], catalog="c", options=options) as wb:
        result = wb.run(f"CALL sys.migrate_table('hive', 'd.logs', options => 'file.format={kind}')")
    assert result.arrow.to_pylist() == [{"result": "Success"}]
    table = catalog.table(Identifier("d", "logs"))
    want = rows(*range(10))
    assert told(table.to_arrow()) == told(want.set_column(3, "seen", want["seen"].cast(pa.timestamp("ms"))))
    assert (table.schema.comment, table.primary_keys, table.path) == ("of Hive", (), str(where))
    files = sorted((where / "bucket-0").iterdir())
    assert ([p.name for p in files], sorted(p.stat().st_size for p in files)) == (
        [f"000000_0.{kind}", f"000001_0.{kind}"], sizes,
    )  # fmt: skip
    # It is a table like any other: statistics lead past files, rows are added, files are put together.
    table.append(rows(99).set_column(3, "seen", rows(99)["seen"].cast(pa.timestamp("ms"))))
    assert [r["id"] for r in told(table.to_arrow())] == [*range(10), 99]
    table.compact(full=True)
    assert [r["id"] for r in told(catalog.table(Identifier("d", "logs")).to_arrow())] == [*range(10), 99]


def test_partitions_are_told_by_their_directories(catalog, options, tmp_path):
    where = tmp_path / "hive/sales"
    entry = hive_table(catalog, "sales", "parquet", where, {"dt": "string", "h": "int"})
    partitions = {("2024-01-01", "1"): (1, 2), ("2024-01-01", "__HIVE_DEFAULT_PARTITION__"): (3,), ("a b", "7"): (4, 5)}
    for (day, hour), ids in partitions.items():
        place = where / f"dt={day}/h={hour}" if day != "a b" else tmp_path / "elsewhere"
        write(place / "part-0", "parquet", rows(*ids))
        catalog.metastore.client.execute("add_partition", ttypes.Partition(
            values=[day, hour], dbName="d", tableName="sales", createTime=1, lastAccessTime=1, sd=storage("parquet", place), parameters={},
        ))  # fmt: skip
    assert entry.partitionKeys
    with paimon_nb.connect(options["warehouse"], catalog="c", options=options) as wb:
        wb.run(
            "CALL sys.migrate_table('hive', 'd.sales', 'd.sold', 'partition.default-name=__HIVE_DEFAULT_PARTITION__')"
        )
    sold = catalog.table(Identifier("d", "sold"))
    got = [(r["id"], r["dt"], r["h"]) for r in told(sold.to_arrow())]
    assert got == [(1, "2024-01-01", 1), (2, "2024-01-01", 1), (3, "2024-01-01", None), (4, "a b", 7), (5, "a b", 7)]
    assert sold.partition_keys == ("dt", "h")
    assert told(sold.to_arrow(columns=["h", "id"])) == [{"h": h, "id": i} for i, _, h in got]
    with pytest.raises(TableNotFound):
        catalog.table(Identifier("d", "sales"))
    sold.compact(full=True)
    assert [(r["id"], r["dt"], r["h"]) for r in told(catalog.table(Identifier("d", "sold")).to_arrow())] == got


def test_a_database_is_taken_over_and_what_cannot_be_stays(catalog, options, tmp_path):
    for name in ("a", "b"):
        write(tmp_path / name / "f", "parquet", rows(1, 2))
        hive_table(catalog, name, "parquet", tmp_path / name)
    hive_table(catalog, "words", "text", tmp_path / "words")
    hive_table(catalog, "odd", "orc", tmp_path / "odd", {"either": "uniontype<int,string>"})
    with paimon_nb.connect(options["warehouse"], catalog="c", options=options) as wb:
        result = wb.run("CALL sys.migrate_database('hive', 'd')")
        assert result.arrow.to_pylist() == [{"result": "migrate database is finished, success cnt: 2 , failed cnt: 2"}]
        assert "uniontype" in str(result.notes)
        with pytest.raises(UnsupportedFormat, match="csv"):
            wb.run("CALL sys.migrate_table('hive', 'd.words')")
        with pytest.raises(UnsupportedOperation, match="already"):
            wb.run("CALL sys.migrate_table('hive', 'd.a')")
    assert catalog.tables("d") == ["a", "b", "words"]
    assert catalog.table(Identifier("d", "words")).store.is_format_table
    assert [r["id"] for r in told(catalog.table(Identifier("d", "b")).to_arrow())] == [1, 2]


@pytest.mark.parametrize("fault", ["a broken file", "a directory inside"])
def test_what_fails_leaves_everything_where_it_was(catalog, options, tmp_path, fault):
    where = tmp_path / "bad"
    write(where / "f1", "parquet", rows(1))
    (where / "f2").write_bytes(b"no parquet at all") if fault == "a broken file" else write(
        where / "sub/f", "parquet", rows(2)
    )
    before = {p: p.read_bytes() for p in where.rglob("*") if p.is_file()}
    hive_table(catalog, "bad", "parquet", where)
    with (
        paimon_nb.connect(options["warehouse"], catalog="c", options=options) as wb,
        pytest.raises((CorruptFile, UnsupportedOperation)),
    ):
        wb.run("CALL sys.migrate_table('hive', 'd.bad')")
    assert {p: p.read_bytes() for p in where.rglob("*") if p.is_file()} == before
    assert (catalog.tables("d"), catalog.table(Identifier("d", "bad")).store.is_format_table) == (["bad"], True)


def test_a_target_with_other_columns_is_refused(catalog, options, tmp_path):
    """It stays as it is, and so does the table of Hive."""
    where = tmp_path / "logs"
    write(where / "f1", "parquet", rows(1))
    hive_table(catalog, "logs", "parquet", where)
    with paimon_nb.connect(options["warehouse"], catalog="c", options=options) as wb:
        wb.run("CREATE TABLE d.other (id INT)")
        with pytest.raises(SchemaMismatch, match="other columns"):
            wb.run("CALL sys.migrate_table('hive', 'd.logs', target_table => 'd.other')")
    assert [p.name for p in where.iterdir()] == ["f1"]
    assert (catalog.tables("d"), catalog.table(Identifier("d", "other")).to_arrow().num_rows) == (["logs", "other"], 0)


def test_only_a_hive_catalog_can(tmp_path):
    with paimon_nb.connect(str(tmp_path)) as wb, pytest.raises(PaimonError, match="no Hive metastore"):
        wb.run("CALL sys.migrate_table('hive', 'd.t')")
