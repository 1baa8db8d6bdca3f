"""Statements that cannot be right: each is a typed error with a next step, and the warehouse is byte for byte as before."""

import hashlib
from pathlib import Path

import pyarrow as pa
import pytest
from sampling import sampled

import paimon_nb
from paimon_nb.base.errors import (
    AlreadyExists,
    BadOptionValue,
    CatalogNotFound,
    ColumnNotFound,
    CorruptFile,
    DatabaseNotFound,
    InvalidName,
    MissingFile,
    NotWritable,
    PaimonError,
    ProcedureNotFound,
    SchemaChangeError,
    SchemaMismatch,
    SnapshotExpired,
    SnapshotNotFound,
    SqlAnalysisError,
    SqlSyntaxError,
    TableNotFound,
    TagNotFound,
    TimeTravelError,
    UnsupportedFormat,
    UnsupportedOperation,
)

BAD = [
    # names that are not there
    ("SELECT * FROM prdr", TableNotFound, "did you mean 'prod'?"),
    ("DESCRIBE prdr", TableNotFound, "did you mean 'prod'?"),
    ("SHOW CREATE TABLE prdr", TableNotFound, "did you mean 'prod'?"),
    ("DROP TABLE prdr", TableNotFound, "did you mean 'prod'?"),
    ("TRUNCATE TABLE prdr", TableNotFound, "did you mean 'prod'?"),
    ("INSERT INTO prdr SELECT 1", TableNotFound, "did you mean 'prod'?"),
    ("UPDATE prdr SET v = 1", TableNotFound, "did you mean 'prod'?"),
    ("UPDATE prod SET vv = 1", ColumnNotFound, "did you mean 'v'?"),
    ("DELETE FROM prdr WHERE id = 1", TableNotFound, "did you mean 'prod'?"),
    ("DELETE FROM prod WHERE", SqlSyntaxError, ""),
    ("MERGE INTO prdr USING prod ON prdr.id = prod.id WHEN MATCHED THEN DELETE", TableNotFound, "did you mean 'prod'?"),
    ("ANALYZE TABLE prdr COMPUTE STATISTICS", TableNotFound, "did you mean 'prod'?"),
    ("ALTER TABLE prdr ADD COLUMN x INT", TableNotFound, "did you mean 'prod'?"),
    ("CREATE TABLE n LIKE prdr", TableNotFound, "did you mean 'prod'?"),
    ("SHOW CREATE VIEW w", TableNotFound, "VIEW"),
    ("DROP VIEW w", TableNotFound, "VIEW"),
    ("SHOW TABLES FROM nope", DatabaseNotFound, "known: default"),
    ("USE defualt", DatabaseNotFound, "did you mean 'default'?"),
    ("DROP DATABASE nope", DatabaseNotFound, "known: default"),
    ("CREATE TABLE nope.t (id INT)", DatabaseNotFound, "CREATE DATABASE nope"),
    ("USE CATALOG piamon", CatalogNotFound, "did you mean 'paimon'?"),
    ("DROP CATALOG nope", CatalogNotFound, "CREATE CATALOG"),
    ("CALL sys.compcat('prod')", ProcedureNotFound, "did you mean 'compact'?"),
    ("CALL sys.compact('prdr')", TableNotFound, "did you mean 'prod'?"),
    ("CALL sys.compact('prod', partitions => map('d', 'x'))", BadOptionValue, "as text"),
    ("CALL sys.compact('prod', ARRAY(1, 2))", BadOptionValue, "as text"),
    ("ALTER TABLE prod DROP COLUMN vv", ColumnNotFound, "did you mean 'v'?"),
    ("ALTER TABLE prod RENAME COLUMN vv TO w", ColumnNotFound, "did you mean 'v'?"),
    ("ALTER TABLE prod REPLACE COLUMNS (id INT)", SqlSyntaxError, "use ADD, DROP, RENAME"),
    ("ALTER TABLE prod DROP PARTITION (d = 'x')", ColumnNotFound, "partitioned by"),
    ("DESCRIBE prod vv", ColumnNotFound, "did you mean 'v'?"),
    ("CREATE TABLE n (id INT, PRIMARY KEY (idd) NOT ENFORCED)", ColumnNotFound, "did you mean 'id'?"),
    ("CREATE TABLE n (id INT) PARTITIONED BY (idd)", ColumnNotFound, "did you mean 'id'?"),
    ("SELECT * FROM prod$snapshotz", TableNotFound, "did you mean 'snapshots'?"),
    ("SELECT * FROM sys.tablez", TableNotFound, "sys.tables"),
    # names that cannot be
    ("CREATE TABLE `../x` (id INT)", InvalidName, "letters"),
    ("CREATE TABLE `` (id INT)", InvalidName, "letters"),
    ("CREATE TABLE `..` (id INT)", InvalidName, "letters"),
    ("CREATE TABLE `a/b` (id INT)", InvalidName, "letters"),
    ("CREATE TABLE `a$b` (id INT)", InvalidName, "plain table name"),
    ("CREATE DATABASE `../up`", InvalidName, "letters"),
    ("CREATE TABLE a.b.c.d (id INT)", InvalidName, "[catalog.]database.table"),
    ("ALTER TABLE prod RENAME TO `..`", InvalidName, "letters"),
    ("ALTER TABLE prod$files ADD COLUMN x INT", InvalidName, "table itself"),
    ("INSERT INTO prod$files SELECT 1", InvalidName, "table itself"),
    # taken
    ("CREATE TABLE prod (id INT)", AlreadyExists, "IF NOT EXISTS"),
    ("CREATE DATABASE default", AlreadyExists, "IF NOT EXISTS"),
    ("ALTER TABLE prod ADD COLUMN v INT", SchemaChangeError, "another name"),
    # options and types
    ("CREATE TABLE n (id INT) WITH ('bucket' = 'many')", BadOptionValue, "whole number"),
    ("CREATE TABLE n (id INT) WITH ('merge-engine' = 'dedup')", BadOptionValue, "deduplicate"),
    ("ALTER TABLE prod SET ('snapshot.time-retained' = 'soon')", BadOptionValue, "1 h"),
    ("SET 'execution.runtime-mode' = 'btch'", BadOptionValue, "'batch'"),
    ("CREATE CATALOG c2 WITH ('type' = 'paimon')", BadOptionValue, "'warehouse'"),
    ("CREATE TABLE n (id INTT)", SqlSyntaxError, "STRING"),
    ("CREATE TABLE n (m MAP<STRING, INT>, PRIMARY KEY (m) NOT ENFORCED)", SchemaMismatch, "atomic"),
    ("CREATE TABLE n (a INT, a STRING)", SchemaMismatch, "rename"),
    ("CREATE TABLE n ()", SchemaMismatch, "column"),
    ("ALTER TABLE prod DROP COLUMN id", SchemaChangeError, "keys are fixed"),
    ("CREATE VIEW w AS SELECT 1", UnsupportedOperation, "TEMPORARY VIEW"),
    ("ANALYZE TABLE prod PARTITION (d = 'x') COMPUTE STATISTICS", UnsupportedOperation, "whole table"),
    # moments
    ("CALL sys.create_tag('prod', 'x', 99)", SnapshotNotFound, "snapshots 1 to 2"),
    ("CALL sys.rollback_to('prod', 'nope')", TagNotFound, "tags"),
    ("CALL sys.rollback_to('prod', 99)", SnapshotNotFound, "snapshots 1 to 2"),
    # text
    ("SELEC 1", SqlSyntaxError, "did you mean 'SELECT'?"),
    ("CREATE TABLE", SqlSyntaxError, ""),
    ("SELECT 'x", SqlSyntaxError, "add the closing '"),
    ("", SqlSyntaxError, "SHOW TABLES"),
]  # fmt: skip


@pytest.fixture
def full(wb: paimon_nb.Workbench) -> paimon_nb.Workbench:
    """default.prod: key id, two commits."""
    wb.run("CREATE TABLE prod (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    for value in "ab":
        wb.table("prod").upsert(rows(value))
    return wb


def rows(value: str) -> pa.Table:
    return pa.table({"id": pa.array([1], pa.int32()), "v": [value]})


def picture(wb: paimon_nb.Workbench) -> dict[str, str]:
    """Every file below the warehouse with a hash of its bytes."""
    root = Path(wb.session.catalog.warehouse)
    return {str(p.relative_to(root)): hashlib.md5(p.read_bytes()).hexdigest() for p in root.rglob("*") if p.is_file()}


@pytest.mark.parametrize(("text", "kind", "hint"), sampled(BAD, 3), ids=[b[0][:60] for b in BAD])
def test_bad_statement(full, monkeypatch, text, kind, hint):
    monkeypatch.setattr(type(full.session), "spark", property(lambda _self: pytest.fail("Spark was started")))
    before = picture(full)
    with pytest.raises(PaimonError) as caught:
        full.run(text)
    error = caught.value
    assert type(error) is kind, error
    assert hint in (error.hint or error.message), error
    assert error.hint or kind is SqlSyntaxError
    assert error.sql == text
    assert picture(full) == before


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"scan.snapshot-id": "99"}, TimeTravelError),
        ({"scan.snapshot-id": "x"}, BadOptionValue),
        ({"scan.tag-name": "nope"}, TagNotFound),
        ({"scan.timestamp-millis": "1000"}, TimeTravelError),
        ({"incremental-between": "5,9"}, TimeTravelError),
        ({"scan.mode": "from-snapshot"}, BadOptionValue),
    ],
    ids=str,
)
def test_a_moment_that_never_was(full, options, kind):
    with pytest.raises(PaimonError) as caught:
        full.table("prod").to_arrow(options=options)
    assert isinstance(caught.value, kind), repr(caught.value)
    assert caught.value.hint


def test_a_snapshot_that_expired(full):
    full.run("CALL sys.expire_snapshots(`table` => 'prod', retain_max => 1, retain_min => 1)")
    with pytest.raises(SnapshotExpired, match="Available: snapshot 2"):
        full.table("prod", **{"scan.snapshot-id": "1"}).to_arrow()


@pytest.mark.parametrize("harm", ["cut", "garbage", "empty", "gone"])
@pytest.mark.parametrize("kind", ["snapshot", "manifest-list", "manifest", "schema", "data"])
def test_a_broken_file_is_named(full, kind, harm):
    table = full.table("prod")
    root = Path(table.path)
    victim = max(
        {
            "snapshot": root.glob("snapshot/snapshot-2"),
            "manifest-list": root.glob("manifest/manifest-list-*"),
            "manifest": (p for p in root.glob("manifest/manifest-*") if "list" not in p.name),
            "schema": root.glob("schema/schema-0"),
            "data": root.glob("bucket-0/*.parquet"),
        }[kind],
        key=lambda p: p.stat().st_mtime_ns,
    )
    harmed = (
        [victim] if kind in ("snapshot", "schema") else sorted(victim.parent.glob(f"{victim.name.split('-')[0]}-*"))
    )
    for file in harmed:
        if harm == "gone":
            file.unlink()
        else:
            file.write_bytes({"cut": file.read_bytes()[:-9], "garbage": b"\x00\xff" * 50, "empty": b""}[harm])
    if (kind, harm) == ("snapshot", "gone"):  # the same as after a rollback: the snapshot before it is the newest
        assert full.table("prod").latest_snapshot().id == 1
        return
    with pytest.raises(PaimonError) as caught:
        paimon_nb.connect(full.session.catalog.warehouse).table("prod").to_arrow()
    if kind == "schema" and harm == "gone":  # a directory without a schema is no table
        assert isinstance(caught.value, TableNotFound)
    else:
        assert isinstance(caught.value, CorruptFile | MissingFile), repr(caught.value)
        assert Path(caught.value.path).name in {p.name for p in harmed}
    assert caught.value.hint


def test_a_warehouse_that_is_a_file(tmp_path):
    (tmp_path / "w").write_text("")
    wb = paimon_nb.connect(str(tmp_path / "w"))
    with pytest.raises(NotWritable) as caught:
        wb.run("CREATE TABLE t (id INT)")
    assert caught.value.hint
    assert (tmp_path / "w").read_text() == ""


@pytest.mark.parametrize(
    "name", ["it's", 'a"b', "дом 😀", "select", "timestamp", "a b", "x-y", "UPPER", "1st", "a.b", "😀`s"]
)
def test_a_strange_name_is_a_name(wb, name):
    quoted = "`" + name.replace("`", "``") + "`"
    wb.run(
        f"CREATE TABLE {quoted} ({quoted} INT, PRIMARY KEY ({quoted}) NOT ENFORCED) COMMENT '{name.replace(chr(39), chr(39) * 2)}'"
    )
    assert wb.run("SHOW TABLES").arrow.column("tableName").to_pylist() == [name]
    assert wb.run(f"DESCRIBE {quoted}").arrow.column("col_name").to_pylist() == [name]
    again = wb.run(f"SHOW CREATE TABLE {quoted}").arrow.column(0)[0].as_py()
    wb.run(f"DROP TABLE {quoted}")
    wb.run(again)
    assert wb.table(f"default.{quoted}").schema.names == (name,)
    assert wb.table(f"default.{quoted}").schema.comment == name


def test_a_value_without_its_parameter(wb):
    with pytest.raises(SqlAnalysisError, match=":x has no value"):
        wb.run("SELECT :x")


@pytest.mark.parametrize("type", ["MAP<DOUBLE, BLOB>", "ROW<x BLOB>", "ARRAY<ROW<x BLOB>>"])
def test_columns_whose_values_could_not_be_written(wb, type):
    wb.run("CREATE TABLE t (id INT)")
    for text in (f"CREATE TABLE b (id INT, p {type})", f"ALTER TABLE t ADD COLUMN p {type}"):
        with pytest.raises(UnsupportedFormat, match=r"'p' cannot be .*BLOB") as caught:
            wb.run(text)
        assert "BYTES" in caught.value.hint
    assert wb.run("SHOW TABLES").arrow.num_rows == 1
    assert wb.table("t").schema.names == ("id",)
