"""The Hive catalog against a real metastore: what other engines find there, and what happens when the two fall apart."""

from __future__ import annotations

import gzip
import logging
import os
import shutil
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from catalog_kit import at_once, catalog_options, schema

import paimon_nb
from paimon_nb.base.errors import (
    AlreadyExists,
    BadOptionValue,
    DatabaseNotFound,
    InvalidName,
    SourceUnavailable,
    TableNotFound,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog import open_catalog
from paimon_nb.catalog.hive.client import _connection_pool
from paimon_nb.format.schema import create_schema
from paimon_nb.statements.ddl import AddColumn, SetOptions

ttypes = pytest.importorskip("hive_metastore.ttypes")
T = Identifier("d", "t")


@pytest.fixture
def options(hive, request, tmp_path) -> dict[str, str]:  # noqa: ARG001  the metastore must run
    return catalog_options("hive", tmp_path, request)


@pytest.fixture
def catalog(options):
    """With the empty database `d`."""
    made = open_catalog("c", options)
    made.create_database("d")
    return made


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int32()), "v": [f"v{i}" for i in ids]})


def read(catalog, name: Identifier = T) -> list[int]:
    return sorted(catalog.table(name).to_arrow().column("id").to_pylist())


def hive_table(
    catalog, name: Identifier, location: Path, kind: str = "EXTERNAL_TABLE", parameters: dict[str, str] | None = None
):
    """A Parquet table as Hive itself makes it."""
    package = "org.apache.hadoop.hive.ql.io.parquet"
    entry = ttypes.Table(
        tableName=name.table, dbName=name.database, owner="hive", createTime=1, lastAccessTime=1, retention=0,
        sd=ttypes.StorageDescriptor(
            cols=[ttypes.FieldSchema(name="id", type="int")], location=f"file:{location}",
            inputFormat=f"{package}.MapredParquetInputFormat", outputFormat=f"{package}.MapredParquetOutputFormat",
            serdeInfo=ttypes.SerDeInfo(serializationLib=f"{package}.serde.ParquetHiveSerDe", parameters={}),
            bucketCols=[], sortCols=[], parameters={}, numBuckets=0, compressed=False, storedAsSubDirectories=False,
        ),
        partitionKeys=[], parameters={"EXTERNAL": "TRUE", **(parameters or {})}, tableType=kind,
    )  # fmt: skip
    if kind == "VIRTUAL_VIEW":
        entry.viewOriginalText = entry.viewExpandedText = "SELECT 1"
    catalog.metastore.client.execute("create_table", entry)


ALL_TYPES = {
    "k": ("INT NOT NULL", "int"), "b": ("BOOLEAN", "boolean"), "t": ("TINYINT", "tinyint"), "s": ("SMALLINT", "smallint"),
    "l": ("BIGINT", "bigint"), "f": ("FLOAT", "float"), "d": ("DOUBLE", "double"), "n": ("DECIMAL(10, 2)", "decimal(10,2)"),
    "c": ("CHAR(3)", "char(3)"), "cc": ("CHAR(300)", "string"), "vc": ("VARCHAR(9)", "varchar(9)"), "st": ("STRING", "string"),
    "bi": ("BINARY(2)", "binary"), "by": ("BYTES", "binary"), "da": ("DATE", "date"), "ti": ("TIME(3)", "string"),
    "ts": ("TIMESTAMP(6)", "timestamp"), "tz": ("TIMESTAMP_LTZ(6)", "timestamp"),
    "a": ("ARRAY<INT>", "array<int>"), "m": ("MAP<STRING, DOUBLE>", "map<string,double>"),
    "ms": ("MULTISET<STRING>", "map<string,int>"), "r": ("ROW<x INT, y ARRAY<STRING>>", "struct<x:int,y:array<string>>"),
}  # fmt: skip


@pytest.mark.nightly
def test_an_engine_that_knows_hive_finds_columns_keys_and_options(catalog):
    fields = [(n, t, f"about {n}", None) for n, (t, _) in ALL_TYPES.items()]
    made = create_schema(fields, [], ["k"], {"bucket": "3", "file.format": "orc"}, "everything")
    catalog.create_table(T, made)
    entry = catalog.metastore.entry(T)
    assert {c.name: c.type for c in entry.sd.cols} == {n: hive for n, (_, hive) in ALL_TYPES.items()}
    assert [c.comment for c in entry.sd.cols] == [f"about {n}" for n in ALL_TYPES]
    # Names as Java's HiveCatalog writes them; `test_java_shares.py` compares whole entries with Java's.
    assert (entry.sd.inputFormat, entry.sd.serdeInfo.serializationLib) == (
        "org.apache.paimon.hive.mapred.PaimonInputFormat", "org.apache.paimon.hive.PaimonSerDe",
    )  # fmt: skip
    want = {"table_type": "PAIMON", "bucket": "3", "file.format": "orc", "primary-key": "k", "bucket-key": "k", "comment": "everything"}  # fmt: skip
    assert want.items() <= entry.parameters.items()
    assert entry.sd.location == f"file:{catalog.table(T).path}"

    catalog.alter_table(T, [SetOptions({"bucket": "4"}), AddColumn(("z",), "INT", "the last")])
    catalog.create_table(Identifier("d", "u"), create_schema(fields, [], ["k"], {"bucket": "3"}, None))
    now = catalog.metastore.entry(T)
    assert (now.parameters["bucket"], now.sd.cols[-1].name, now.sd.cols[-1].type) == ("4", "z", "int")


def test_options_choose_what_the_metastore_is_told(options):
    shy = open_catalog("c", {**options, "sync-all-properties": "false", "location-in-properties": "true"})
    shy.create_database("d")
    shy.create_table(T, schema(options={"hive.note": "told", "snapshot.num-retained.max": "70"}))
    shy.table(T).upsert(rows(1))
    entry = shy.metastore.entry(T)
    assert {
        k: v for k, v in entry.parameters.items() if k in ("hive.note", "snapshot.num-retained.max", "primary-key")
    } == {"hive.note": "told"}
    assert entry.parameters["paimon_location"] == f"file:{shy.table(T).path}"
    assert read(open_catalog("c", {**options, "location-in-properties": "true"})) == [1]


def test_partitions_come_and_go_with_commits(catalog):
    columns = [
        ("id", "INT", None, None),
        ("v", "STRING", None, None),
        ("dt", "STRING", None, None),
        ("h", "INT", None, None),
    ]
    for name, told in ((T, "true"), (Identifier("d", "quiet"), "false")):
        catalog.create_table(name, create_schema(columns, ["dt", "h"], [], {"metastore.partitioned-table": told}, None))
    entry = catalog.metastore.entry(T)
    assert ([c.name for c in entry.sd.cols], [c.name for c in entry.partitionKeys]) == (["id", "v"], ["dt", "h"])
    for name in (T, Identifier("d", "quiet")):
        more = {"dt": ["a b", "a b", "c"], "h": pa.array([1, 2, 1], pa.int32())}
        catalog.table(name).append(pa.table({**{c: rows(1, 2, 3).column(c) for c in ("id", "v")}, **more}))
    assert partitions(catalog, T) == {("a b", "1"): "dt=a b/h=1", ("a b", "2"): "dt=a b/h=2", ("c", "1"): "dt=c/h=1"}
    assert partitions(catalog, Identifier("d", "quiet")) == {}
    catalog.table(T).drop_partitions([{"dt": "a b"}])
    assert partitions(catalog, T) == {("c", "1"): "dt=c/h=1"}
    assert read(catalog) == [3]


def partitions(catalog, name: Identifier) -> dict[tuple[str, ...], str]:
    """Values of the metastore's partitions, and their directories below the table's."""
    found = catalog.metastore.client.query("get_partitions", name.database, name.table, -1)
    root = catalog.metastore.entry(name).sd.location
    return {tuple(p.values): p.sd.location.removeprefix(f"{root}/") for p in found}


def test_a_database_has_a_place_and_an_external_table_keeps_its_files(options, catalog, tmp_path):
    with paimon_nb.connect(options["warehouse"], catalog="c", options=options) as wb:
        wb.run(f"CREATE DATABASE away COMMENT 'elsewhere' LOCATION 'file:{tmp_path}/away'")
        wb.run("CREATE TABLE away.t (id INT, v STRING)")
        wb.run("INSERT INTO away.t VALUES (1, 'v1')")
        wb.run(f"CREATE TABLE d.mine (id INT, v STRING) WITH ('path' = '{tmp_path}/kept')")
        wb.run("INSERT INTO d.mine VALUES (2, 'v2')")
    assert catalog.metastore.client.query("get_database", "away").description == "elsewhere"
    assert (catalog.table(Identifier("away", "t")).path, read(catalog, Identifier("away", "t"))) == (
        f"{tmp_path}/away/t",
        [1],
    )
    mine = Identifier("d", "mine")
    assert (catalog.metastore.entry(mine).tableType, catalog.table(mine).path) == ("EXTERNAL_TABLE", f"{tmp_path}/kept")
    catalog.drop_table(mine, purge=True)
    other = create_schema([("id", "BIGINT", None, None)], [], [], {"path": f"{tmp_path}/kept"}, None)
    with pytest.raises(AlreadyExists, match="other columns"):
        catalog.create_table(mine, other)
    same = [("id", "INT", None, None), ("v", "STRING", None, None)]
    catalog.create_table(mine, create_schema(same, [], [], {"path": f"{tmp_path}/kept"}, None))
    assert read(catalog, mine) == [2]
    catalog.rename_table(mine, Identifier("d", "renamed"))
    assert (catalog.table(Identifier("d", "renamed")).path, read(catalog, Identifier("d", "renamed"))) == (
        f"{tmp_path}/kept",
        [2],
    )
    # Managed ones move: out of the other place, too.
    catalog.rename_table(Identifier("away", "t"), T)
    assert (catalog.table(T).path, read(catalog)) == (f"{options['warehouse']}/d.db/t", [1])


def test_tables_of_others_are_told_and_never_touched(catalog, tmp_path):
    hive_table(catalog, Identifier("d", "logs"), tmp_path / "logs", parameters={"table_type": "ICEBERG"})
    hive_table(catalog, Identifier("d", "seen"), tmp_path / "seen", kind="VIRTUAL_VIEW")
    catalog.create_table(T, schema())
    assert catalog.tables("d") == ["t"]
    with pytest.raises(TableNotFound, match="a table of ICEBERG"):
        catalog.table(Identifier("d", "logs"))
    with pytest.raises(TableNotFound, match="a view of Hive"):
        catalog.table(Identifier("d", "seen"))
    for act in (
        lambda: catalog.create_table(Identifier("d", "logs"), schema()),
        lambda: catalog.rename_table(T, Identifier("d", "logs")),
    ):
        with pytest.raises(AlreadyExists, match="logs"):
            act()
    for act in (lambda: catalog.drop_table(Identifier("d", "logs")), lambda: catalog.alter_table(Identifier("d", "logs"), [AddColumn(("n",), "INT")])):  # fmt: skip
        with pytest.raises(TableNotFound):
            act()
    with pytest.raises(UnsupportedOperation, match="logs, seen"):
        catalog.drop_database("d", cascade=True)
    assert sorted(e.tableName for e in catalog.metastore.entries("d")) == ["logs", "seen", "t"]
    assert catalog.table(T).schema.names == schema().names


def test_a_location_makes_an_external_table(options, catalog, tmp_path):
    wb = paimon_nb.connect(options["warehouse"], catalog="c", options=options)
    wb.run(f"USE D; CREATE TABLE t (id INT, v STRING) USING paimon TBLPROPERTIES ('k' = 'v') LOCATION '{tmp_path}/x'")
    wb.run("INSERT INTO t VALUES (1, 'a')")
    assert (wb.table("t").path, catalog.metastore.entry(T).tableType) == (f"{tmp_path}/x", "EXTERNAL_TABLE")
    wb.run(f"CREATE TABLE same USING paimon LOCATION '{tmp_path}/x'; DROP TABLE t")
    assert wb.table("same").to_arrow().to_pylist() == [{"id": 1, "v": "a"}]
    wb.run("CREATE TABLE own (id INT); INSERT INTO own VALUES (7)")
    wb.run(f"CREATE TABLE view_of_it USING paimon LOCATION '{wb.table('own').path}'")
    assert wb.table("view_of_it").to_arrow().to_pylist() == [{"id": 7}]
    wb.run("DROP TABLE view_of_it")
    assert wb.table("own").to_arrow().to_pylist() == [{"id": 7}]
    wb.run("CREATE EXTERNAL TABLE kept (id INT)")
    kept = wb.table("kept").path
    wb.run("DROP TABLE kept")
    assert [p.name for p in Path(kept).iterdir()] == ["schema"]
    for other in ("(z INT) USING paimon", "USING paimon TBLPROPERTIES ('k' = 'w')"):
        with pytest.raises(AlreadyExists, match="has a table with other"):
            wb.run(f"CREATE TABLE other {other} LOCATION '{tmp_path}/x'")
    with pytest.raises(TableNotFound, match="no table at"):
        wb.run(f"CREATE TABLE other USING paimon LOCATION '{tmp_path}/empty'")


PLAIN = "id INT COMMENT 'the id', at TIMESTAMP(3), dt STRING, h INT"


def test_format_tables_are_entries_of_the_metastore(options, catalog):
    wb = paimon_nb.connect(options["warehouse"], catalog="c", options=options)
    wb.run(
        f"USE d; CREATE TABLE plain ({PLAIN}) USING csv PARTITIONED BY (dt, h) TBLPROPERTIES ('csv.field-delimiter' = ';')"
    )
    name = Identifier("d", "plain")
    entry = catalog.metastore.entry(name)
    assert (catalog.metastore.owns_files(name), entry.sd.location, entry.sd.inputFormat) == (
        True, f"file:{options['warehouse']}/d.db/plain", "org.apache.hadoop.mapred.TextInputFormat",
    )  # fmt: skip
    assert (entry.sd.serdeInfo.serializationLib.rpartition(".")[2], entry.sd.serdeInfo.parameters["field.delim"]) == ("LazySimpleSerDe", ";")  # fmt: skip
    want = {"table_type": "CSV", "type": "format-table", "file.format": "csv", "csv.field-delimiter": ";"}
    assert want.items() <= entry.parameters.items()
    assert [(c.name, c.type, c.comment) for c in (*entry.sd.cols, *entry.partitionKeys)] == [
        ("id", "int", "the id"), ("at", "timestamp", None), ("dt", "string", None), ("h", "int", None),
    ]  # fmt: skip
    wb.run(
        "INSERT INTO plain VALUES (1, TIMESTAMP '2024-01-02 03:04:05', 'a b', 1), (2, NULL, 'a b', 2), (3, NULL, 'c', 1)"
    )
    table = wb.table("plain")
    assert [p.name for p in Path(table.path).iterdir() if p.name.startswith(("_p", "schema"))] == []
    assert partitions(catalog, name) == {("a b", "1"): "dt=a b/h=1", ("a b", "2"): "dt=a b/h=2", ("c", "1"): "dt=c/h=1"}
    wb.run("ALTER TABLE plain DROP PARTITION (dt = 'a b', h = 1)")
    assert list(partitions(catalog, name)) == [("a b", "2"), ("c", "1")]
    assert sorted(r["id"] for r in wb.table("plain").to_arrow().to_pylist()) == [2, 3]
    with pytest.raises(UnsupportedOperation, match="does not change its entry"):
        wb.run("ALTER TABLE plain ADD COLUMNS (n INT)")

    wb.run("ALTER TABLE plain RENAME TO other; DROP TABLE other; UNDROP TABLE other")
    other = Identifier("d", "other")
    assert (wb.run("SHOW TABLES").arrow.num_rows, wb.table("other").path) == (1, f"{options['warehouse']}/d.db/other")
    assert partitions(catalog, other) == {("a b", "2"): "dt=a b/h=2", ("c", "1"): "dt=c/h=1"}
    catalog.metastore.client.execute("drop_partition", "d", "other", ["c", "1"], False)
    catalog.repair("d", "other")
    assert len(partitions(catalog, other)) == 2
    wb.run("CREATE OR REPLACE TABLE other (id INT) USING json; INSERT INTO other VALUES (7)")
    assert open_catalog("c", options).table(other).to_arrow().to_pylist() == [{"id": 7}]


@pytest.mark.nightly
@pytest.mark.usefixtures("catalog")
@pytest.mark.parametrize("file_format", ["csv", "json"])
def test_format_tables_read_what_others_add_to_them(options, file_format):
    """Files of another writer and compressed ones; the delimiter is in the definition; partitions are listed by their prefix."""
    wb = paimon_nb.connect(options["warehouse"], catalog="c", options=options)
    wb.run(f"USE d; CREATE TABLE t (f0 INT, f1 INT) USING {file_format} OPTIONS ('csv.field-delimiter' ';')")
    folder = Path(wb.table("t").path)
    text = {"csv": "1;2\n3;4", "json": '{"f0": 1, "f1": 2}\n{"f0": 3, "f1": 4}'}[file_format]
    (folder / f"part-00000-0a28422e-c000.{file_format}").write_text(text)
    wb.run("INSERT INTO t VALUES (5, 6)")
    (own,) = folder.glob("data-*")
    (folder / f"{own.name}.gz").write_bytes(gzip.compress(own.read_bytes()))
    own.unlink()
    assert sorted(tuple(r.values()) for r in wb.table("t").to_arrow().to_pylist()) == [(1, 2), (3, 4), (5, 6)]
    assert "'csv.field-delimiter' = ';'" in wb.run("SHOW CREATE TABLE t").arrow[0][0].as_py()

    wb.run(f"CREATE TABLE p USING {file_format} PARTITIONED BY (f0, f1) AS SELECT 0 AS id, * FROM t")
    for spec, found in (("", ["f0=1/f1=2", "f0=3/f1=4", "f0=5/f1=6"]), ("PARTITION (f0 = 3)", ["f0=3/f1=4"])):
        assert wb.run(f"SHOW PARTITIONS p {spec}").arrow[0].to_pylist() == found


def test_a_table_that_hive_created_is_a_format_table(options, catalog, tmp_path):
    logs = Identifier("d", "logs")
    hive_table(catalog, logs, tmp_path / "logs")
    assert catalog.tables("d") == ["logs"]
    table = catalog.table(logs)
    assert (table.schema.options["type"], table.schema.options["file.format"]) == ("format-table", "parquet")
    table.append(pa.table({"id": pa.array([1, 2], pa.int32())}))
    assert read(catalog, logs) == [1, 2]
    entry = catalog.metastore.entry(logs)
    entry.sd.cols = [*entry.sd.cols, ttypes.FieldSchema(name="more", type="string")]
    catalog.metastore.client.execute("alter_table", "d", "logs", entry)
    assert catalog.table(logs).to_arrow().to_pylist() == [{"id": 1, "more": None}, {"id": 2, "more": None}]
    without = open_catalog("c", {**options, "format-table.enabled": "false"})
    assert without.tables("d") == []
    with pytest.raises(TableNotFound, match="a Hive table of parquet files"):
        without.table(logs)
    with pytest.raises(UnsupportedOperation, match="cannot create format tables"):
        without.create_table(T, create_schema([("id", "INT", None, None)], [], [], {"type": "format-table"}, None))
    catalog.drop_table(logs)
    assert len([p for p in (tmp_path / "logs").rglob("data-*") if p.is_file()]) == 1  # external: the files stay


@pytest.mark.spark
def test_properties_of_a_database(options):
    wb = paimon_nb.connect(options["warehouse"], catalog="c", options=options)
    wb.run("CREATE DATABASE sales COMMENT 'all of them' WITH DBPROPERTIES ('b' = '2', 'a' = '1')")
    wb.run("ALTER DATABASE sales SET DBPROPERTIES ('b' = '22')")
    described = {r.info_name: r.info_value for r in wb.spark.sql("DESCRIBE DATABASE EXTENDED sales").collect()}
    assert described.pop("Owner")
    assert described == {
        "Catalog Name": "c", "Namespace Name": "sales", "Comment": "all of them",
        "Location": f"file:{options['warehouse']}/sales.db", "Properties": "((a,1), (b,22))",
    }  # fmt: skip


@pytest.mark.spark
def test_views_are_entries_of_the_metastore(options, catalog):
    wb = paimon_nb.connect(options["warehouse"], catalog="c", options=options)
    wb.run("CREATE TABLE d.t (id INT, v STRING); INSERT INTO d.t VALUES (1, 'a'), (2, 'b'); USE d")
    wb.run("CREATE VIEW late COMMENT 'the last' TBLPROPERTIES ('k' = 'v') AS SELECT id, v AS text FROM t WHERE id > 1")
    entry = catalog.metastore.entry(Identifier("d", "late"))
    assert (entry.tableType, entry.viewExpandedText) == ("VIRTUAL_VIEW", "SELECT id, v AS text FROM t WHERE id > 1")
    assert {"comment": "the last", "k": "v"}.items() <= entry.parameters.items()
    assert [(c.name, c.type) for c in entry.sd.cols] == [("id", "int"), ("text", "string")]
    assert [r["viewName"] for r in wb.run("SHOW VIEWS").arrow.to_pylist()] == ["late"]
    assert [tuple(r) for r in wb.sql("SELECT * FROM late").collect()] == [(2, "b")]
    text = wb.run("SHOW CREATE TABLE late").arrow.to_pylist()[0]["createtab_stmt"]
    assert text.startswith("CREATE VIEW d.late (\n  id,\n  text)\nCOMMENT 'the last'\nTBLPROPERTIES (\n  'k' = 'v',\n")
    assert text.endswith("AS\nSELECT id, v AS text FROM t WHERE id > 1\n")
    described = {r["col_name"]: r["data_type"] for r in wb.run("DESCRIBE EXTENDED late").arrow.to_pylist()}
    assert (described["id"], described["text"], described["Name"], described["Comment"]) == (
        "INT",
        "STRING",
        "d.late",
        "the last",
    )
    assert described["View Properties"].startswith("[k=v, ")
    with pytest.raises(AlreadyExists, match=r"view d\.late exists already"):
        wb.run("CREATE VIEW late AS SELECT 1 AS one")
    wb.run("CREATE OR REPLACE VIEW late AS SELECT 1 AS one; DROP TABLE t; DROP DATABASE d CASCADE")
    assert "d" not in catalog.databases()


def test_case_does_not_count(catalog):
    catalog.create_table(Identifier("D", "Orders"), schema("Amount"))
    assert (catalog.tables("d"), catalog.table(Identifier("d", "ORDERS")).schema.names) == (
        ["orders"],
        ("id", "v", "Amount"),
    )
    with pytest.raises(AlreadyExists):
        catalog.create_table(Identifier("d", "ORDERS"), schema())
    catalog.drop_table(Identifier("d", "oRDERS"))
    catalog.undrop_table(Identifier("D", "Orders"))
    assert catalog.tables("D") == ["orders"]
    with pytest.raises(InvalidName, match="metastore"):
        catalog.create_database("a-b c")


def test_the_address_may_come_from_hives_own_file(options, tmp_path):
    site = {"hive.metastore.uris": options["uri"], "hive.metastore.warehouse.dir": f"file:{tmp_path}/fromsite"}
    inside = "".join(f"<property><name>{k}</name><value>{v}</value></property>" for k, v in site.items())
    (tmp_path / "hive-site.xml").write_text(f'<?xml version="1.0"?><configuration>{inside}</configuration>')
    with paimon_nb.connect() as wb:
        wb.run(f"CREATE CATALOG lake WITH ('type' = 'paimon', 'metastore' = 'hive', 'hive-conf-dir' = '{tmp_path}')")
        wb.run("CREATE DATABASE lake.d")
        wb.run("CREATE TABLE lake.d.t (id INT)")
    made = open_catalog("c", {"metastore": "hive", "hive-conf-dir": str(tmp_path)})
    assert made.table(T).path == f"{tmp_path}/fromsite/d.db/t"


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"uri": "thrift://127.0.0.1:1"}, SourceUnavailable, "does not answer"),
        ({"uri": "http://x:1"}, BadOptionValue, "not the address"),
        ({"uri": ""}, BadOptionValue, "address"),
        ({"hive-conf-dir": "/nowhere"}, BadOptionValue, "hive-site.xml"),
        ({"hive.metastore.sasl.enabled": "true"}, UnsupportedOperation, "Kerberos"),
    ],
)
def test_what_cannot_be_reached_is_said_when_the_catalog_is_made(wrong, error, message, tmp_path):
    base = {"metastore": "hive", "uri": "thrift://127.0.0.1:1", "warehouse": str(tmp_path)}
    with pytest.raises(error, match=message):
        open_catalog("c", {**base, **wrong})


def test_changes_from_many_sides_leave_the_newest_columns(options, catalog):
    catalog.create_table(T, schema())
    sessions = [open_catalog("c", options) for _ in range(4)]
    done = at_once([partial(s.alter_table, T, [AddColumn((f"c{i}",), "INT")]) for i, s in enumerate(sessions)])
    assert [d for d in done if isinstance(d, Exception)] == []
    newest = catalog.table(T).schema
    assert [c.name for c in catalog.metastore.entry(T).sd.cols] == list(newest.names)
    assert len(newest.names) == 6


@pytest.mark.usefixtures("options")
def test_a_lost_connection_is_made_again(catalog):
    catalog.create_table(T, schema())
    pool = _connection_pool(catalog.metastore.client, os.getpid())
    for act in (lambda: catalog.tables("d"), lambda: catalog.create_database("e", if_not_exists=True)):
        held = [pool.take() for _ in range(catalog.metastore.client.connections)]
        for each in held:
            if each.client is not None:
                each.client._iprot.trans.close()
            pool.release(each)
        act()
    assert catalog.databases() == ["d", "default", "e"]


def test_repair_finds_what_the_metastore_lost(options, catalog):
    columns = [("id", "INT", None, None), ("v", "STRING", None, None), ("dt", "STRING", None, None)]
    catalog.create_table(T, create_schema(columns, ["dt"], [], {"metastore.partitioned-table": "true"}, None))
    catalog.create_table(Identifier("d", "stale"), schema())
    catalog.table(T).append(rows(1, 2).append_column("dt", pa.array(["x", "y"])))
    metastore = catalog.metastore.client
    metastore.execute("drop_table", "d", "t", False)  # files without an entry, as after a crash or a restored metastore
    entry = catalog.metastore.entry(Identifier("d", "stale"))
    entry.sd.cols, entry.parameters = entry.sd.cols[:1], {**entry.parameters, "bucket": "7"}
    metastore.execute("alter_table", "d", "stale", entry)

    with paimon_nb.connect(options["warehouse"], catalog="c", options=options) as wb:
        assert "d.stale" in str(wb.run("CALL sys.repair('d.stale')").notes)
        with pytest.raises(TableNotFound):
            catalog.table(T)
        wb.run("CALL sys.repair()")
        with pytest.raises(DatabaseNotFound):
            wb.run("CALL sys.repair('nowhere.t')")
    assert (read(catalog), partitions(catalog, T)) == ([1, 2], {("x",): "dt=x", ("y",): "dt=y"})
    stale = catalog.metastore.entry(Identifier("d", "stale"))
    assert ([c.name for c in stale.sd.cols], stale.parameters["bucket"]) == (["id", "v"], "1")
    assert catalog.repair() == []
    metastore.execute("drop_table", "d", "t", False)
    metastore.execute("drop_database", "d", False, True)
    assert sorted(map(str, catalog.repair("d"))) == ["d.stale", "d.t"]


def test_a_metastore_that_is_gone_fails_no_commit(catalog, caplog):
    columns = [("id", "INT", None, None), ("v", "STRING", None, None), ("dt", "STRING", None, None)]
    catalog.create_table(T, create_schema(columns, ["dt"], [], {"metastore.partitioned-table": "true"}, None))
    table = catalog.table(T)
    catalog.metastore.client.execute("drop_table", "d", "t", False)
    with caplog.at_level(logging.WARNING):
        table.append(rows(1).append_column("dt", pa.array(["x"])))
    catalog.repair("d", "t")
    assert (read(catalog), partitions(catalog, T)) == ([1], {("x",): "dt=x"})
    shutil.rmtree(table.path)
    with pytest.raises(TableNotFound):
        catalog.table(T)
