"""Forms of statements that people bring from elsewhere. None of these starts a JVM."""

import pyarrow as pa
import pytest

from paimon_nb.base.errors import (
    ColumnNotFound,
    PaimonError,
    ProcedureNotFound,
    SchemaChangeError,
    SchemaMismatch,
    SqlSyntaxError,
    TableNotFound,
    TableReplaced,
    UnsupportedOperation,
)


@pytest.fixture
def run(wb, monkeypatch):
    """Runs text; the last answer's rows as tuples. Starting Spark fails the test."""
    monkeypatch.setattr(type(wb.session), "spark", property(lambda _self: pytest.fail("Spark was started")))

    def go(text: str) -> list[tuple]:
        return [tuple(row.values()) for row in wb.run(text).arrow.to_pylist()]

    go.wb = wb
    return go


def test_show_with_patterns(run):
    run("CREATE TABLE pk (id INT, name STRING) WITH ('bucket' = '-1', 'file.format' = 'orc'); CREATE TABLE src (a INT)")
    assert [r[1] for r in run("SHOW TABLES LIKE 'p%'")] == ["pk"]
    assert [r[1] for r in run("SHOW TABLES NOT LIKE 'p%'")] == ["src"]
    assert [r[1] for r in run("SHOW TABLES FROM default LIKE 's*|x'")] == ["src"]
    assert run("SHOW COLUMNS FROM pk LIKE 'n%'") == [("name",)]
    assert run("SHOW TBLPROPERTIES pk ('file.format')") == [("file.format", "orc")]
    assert run("SHOW TBLPROPERTIES pk (file.compression)") == [
        ("file.compression", "Table default.pk does not have property: file.compression")
    ]
    assert [r[1] for r in run("SHOW TABLE EXTENDED LIKE 'p*'")] == ["pk"]
    assert run("SHOW CREATE DATABASE default") == [("CREATE DATABASE `paimon`.`default`",)]
    assert run("SHOW PROCEDURES NOT LIKE '%_%'") == []


def test_show_materialized_tables(run):
    """Flink's jobs make and fill them; here they are listed."""
    from paimon_nb.base.identifier import Identifier
    from paimon_nb.format.schema import create_schema
    from paimon_nb.format.types import parse_type

    run("CREATE TABLE plain (id INT)")
    schema = create_schema([("id", parse_type("INT"), None, None)], [], [], {"type": "materialized-table"}, None)
    run.wb.session.catalog.create_table(Identifier("default", "daily"), schema)
    assert run("SHOW MATERIALIZED TABLES") == run("SHOW MATERIALIZED TABLES IN default LIKE 'd%'") == [("daily",)]
    assert run("SHOW MATERIALIZED TABLES LIKE 'x%'") == []


def test_describe_procedure(run):
    assert run("DESCRIBE PROCEDURE paimon.sys.delete_tag") == [
        ("delete_tag", "procedure", "", "Delete tags; separate several with commas."),
        ("table", "text", "needed", "[database.]table"),
        ("tag", "text", "needed", "name of the tag"),
    ]
    with pytest.raises(ProcedureNotFound, match="did you mean 'compact'"):
        run("DESC PROCEDURE compac")
    with pytest.raises(UnsupportedOperation, match="query_service is not supported"):
        run("DESCRIBE PROCEDURE query_service")
    run("CREATE TABLE procedure (a INT)")
    assert run("DESCRIBE procedure")[0][0] == "a"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("CREATE TAG release-2025", "release-2025"),
        ("CREATE TAG 2025-01-01 AS OF VERSION 1", "2025-01-01"),
        ("REPLACE TAG v1.0 RETAIN 3 DAYS", "v1.0"),
        ("DELETE TAG release-2025", "release-2025"),
        ("RENAME TAG a TO b-c", "b-c"),
    ],
)
def test_a_tag_that_needs_backticks_is_told_so(run, text, name):
    run("CREATE TABLE t (a INT)")
    with pytest.raises(SqlSyntaxError) as caught:
        run(f"ALTER TABLE t {text}")
    error = caught.value
    assert (error.sql[error.start : error.stop], error.hint) == (name, f"write it in backticks: `{name}`")


def test_a_watermark_is_kept_as_flink_keeps_it(run):
    run("CREATE TABLE t (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)")
    kept = {
        "schema.watermark.0.rowtime": "ts",
        "schema.watermark.0.strategy.expr": "`ts` - INTERVAL '5' SECOND",
        "schema.watermark.0.strategy.data-type": "TIMESTAMP(3)",
    }
    assert dict(run.wb.table("t").schema.options) == kept
    ((ddl,),) = run("SHOW CREATE TABLE t")
    assert "WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND" in ddl
    assert "schema.watermark" not in ddl
    run(f"DROP TABLE t; {ddl}")
    assert dict(run.wb.table("t").schema.options) == kept
    run("ALTER TABLE t MODIFY WATERMARK FOR ts AS ts")
    assert run.wb.table("t").schema.options["schema.watermark.0.strategy.expr"] == "`ts`"
    with pytest.raises(SchemaChangeError, match="already"):
        run("ALTER TABLE t ADD WATERMARK FOR ts AS ts")
    run("ALTER TABLE t DROP WATERMARK")
    assert dict(run.wb.table("t").schema.options) == {}
    with pytest.raises(SchemaChangeError, match="no watermark"):
        run("ALTER TABLE t DROP WATERMARK")
    with pytest.raises(ColumnNotFound, match="tz"):
        run("ALTER TABLE t ADD WATERMARK FOR tz AS tz")
    assert run.wb.run("ALTER TABLE t ADD (n INT, WATERMARK FOR ts AS ts)").notes == []
    assert run.wb.table("t").schema.names == ("id", "ts", "n")


def test_like_with_more_columns(run):
    run(
        "CREATE TABLE base (a INT, d STRING, PRIMARY KEY (a, d) NOT ENFORCED) PARTITIONED BY (d) COMMENT 'b' WITH ('bucket' = '2')"
    )
    run("CREATE TABLE more (extra INT COMMENT 'x') WITH ('bucket' = '5') LIKE base (INCLUDING ALL OVERWRITING OPTIONS)")
    schema = run.wb.table("more").schema
    assert (schema.names, schema.primary_keys, schema.partition_keys) == (("a", "d", "extra"), ("a", "d"), ("d",))
    assert [f.id for f in schema.fields] == [0, 1, 2]
    assert (dict(schema.options), schema.comment) == ({"bucket": "5"}, "b")
    with pytest.raises(SchemaMismatch, match="'a'"):
        run("CREATE TABLE x (a INT) LIKE base")
    with pytest.raises(SchemaMismatch, match="PRIMARY KEY"):
        run("CREATE TABLE x (b INT, PRIMARY KEY (b) NOT ENFORCED) LIKE base")


def test_replacing_says_what_became_of_the_old_one(run):
    with pytest.raises(TableNotFound):
        run("REPLACE TABLE t (a INT)")
    assert run("CREATE OR REPLACE TABLE t (a INT)") == [("table default.t created",)]
    run.wb.table("t").append(pa.table({"a": pa.array([1], pa.int32())}))
    result = run.wb.run("REPLACE TABLE t (b STRING)")
    assert (result.arrow.to_pylist(), result.notes) == (
        [{"result": "table default.t replaced"}], ["snapshots of the previous default.t stay readable: VERSION AS OF"]
    )  # fmt: skip
    assert run("SELECT * FROM t") == []
    assert run("SELECT * FROM t VERSION AS OF 1") == [(1,)]
    result = run.wb.run("REPLACE TABLE t (b STRING, p STRING) PARTITIONED BY (p)")
    assert result.notes == ["the previous default.t is in the trash"]
    assert run("DROP TABLE t PURGE; UNDROP TABLE t") == [("table default.t restored",)]
    assert run.wb.table("t").to_arrow(snapshot=1).to_pylist() == [{"a": 1}]


def test_a_replaced_table_keeps_its_past(run):
    run("CREATE TABLE t (id BIGINT, data STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2')")
    run("INSERT INTO t VALUES (1, 'old'); CALL sys.create_tag('t', 'before')")
    late = run.wb.table("t")
    path = late.path
    run("REPLACE TABLE t (id STRING, amount INT)")
    table = run.wb.table("t")
    assert (table.path, table.primary_keys, dict(table.schema.options)) == (path, (), {})
    assert run("SELECT * FROM t") == []
    for past in ("VERSION AS OF 1", "VERSION AS OF 'before'"):
        assert run(f"SELECT id, data FROM t {past}") == [(1, "old")]
    with pytest.raises(TableReplaced):
        late.upsert(pa.table({"id": [2], "data": ["late"]}))
    run("INSERT INTO t VALUES ('x', 1)")
    assert run("SELECT * FROM t") == [("x", 1)]
    assert table.copy({"scan.snapshot-id": "1"}).to_arrow().to_pylist() == [
        {"id": None, "amount": None}
    ]  # as hints read it


def test_comments_from_spark(run):
    run("CREATE TABLE t (a INT)")
    run("COMMENT ON TABLE t IS 'it''s'; COMMENT ON COLUMN default.t.a IS 'x'")
    schema = run.wb.table("t").schema
    assert (schema.comment, schema.fields[0].description) == ("it's", "x")


@pytest.mark.parametrize("text", ["REFRESH TABLE t", "REFRESH default.t", "MSCK REPAIR TABLE t", "CACHE LAZY TABLE t", "UNCACHE TABLE IF EXISTS t"])  # fmt: skip
def test_what_a_table_does_not_need(run, text):
    with pytest.raises(TableNotFound) if "EXISTS" not in text else _nothing():
        run(text)
    run("CREATE TABLE t (a INT)")
    ((answer,),) = run(text)
    assert answer.startswith("nothing to do for ")


def _nothing():
    from contextlib import nullcontext

    return nullcontext()


@pytest.mark.parametrize(
    ("options", "how"),
    [
        ("PRIMARY KEY (a) NOT ENFORCED) WITH ('bucket' = '1'", "merged with the stored ones"),
        ("d STRING) WITH ('bucket' = '-1'", "rewritten"),
        ("d STRING) WITH ('bucket' = '-1', 'deletion-vectors.enabled' = 'true'", "deletion vectors"),
    ],
)
def test_explain_of_a_change_writes_nothing(run, options, how):
    run(f"CREATE TABLE t (a INT, b INT, {options}); CREATE TABLE s (a INT)")
    before = run.wb.table("t").store.snapshots.latest_id()
    for text in (
        "UPDATE t SET b = 1 WHERE a = 2",
        "DELETE FROM t WHERE a = 2",
        "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = 1",
    ):
        ((plan,),) = run(f"EXPLAIN {text}")
        assert plan.splitlines()[0].startswith(f"{text.split()[0].title()} of default.t: ")
        assert how in plan
        assert ("== Paimon: default.s ==" in plan) == text.startswith("MERGE")
    assert run.wb.table("t").store.snapshots.latest_id() == before


def test_explain_names_a_table_that_is_not_there(run):
    with pytest.raises(PaimonError, match="nope"):
        run("EXPLAIN DELETE FROM nope")


def test_a_temporary_table_is_described(run):
    text = "CREATE TEMPORARY TABLE s (id INT COMMENT 'k', v STRING) WITH ('connector' = 'mysql-cdc', 'hostname' = 'm', 'username' = 'u', 'password' = 'it''s', 'database-name' = 'd', 'table-name' = 't')"
    run(text)
    assert run("DESCRIBE s") == [("id", "INT", "k"), ("v", "STRING", None)]
    ((shown,),) = run("SHOW CREATE TABLE s")
    assert shown == text.replace("it''s", "***")


def test_partitions_dropped_one_by_one(run):
    run("CREATE TABLE t (a INT, d STRING) PARTITIONED BY (d); INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'z')")
    run("CALL sys.drop_partition('t', 'd=x', 'd=z')")
    assert run("SHOW PARTITIONS t") == [("d=y",)]


@pytest.mark.parametrize("text", ["quit;", "EXIT", "help"])
def test_commands_of_flinks_client(run, text):
    with pytest.raises(PaimonError, match="Flink's client") as caught:
        run(text)
    assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE t (a INT DEFAULT 'abc')",
        "CREATE TABLE t (a TIMESTAMP(3) DEFAULT current_timestamp())",
        "CREATE TABLE s (a INT); ALTER TABLE s ALTER COLUMN a SET DEFAULT 'abc'",
        "CREATE TABLE s (a INT); CALL sys.alter_column_default_value('s', 'a', 'abc')",
    ],
)
def test_a_default_is_a_constant_of_its_type(run, text):
    with pytest.raises(SchemaMismatch, match="'a': default"):
        run(text)
    run(
        "CREATE TABLE t (a TIMESTAMP(3) DEFAULT TIMESTAMP '2020-01-01 00:00:00', b INT DEFAULT '5', c BOOLEAN DEFAULT true)"
    )
    run("INSERT INTO t (b) VALUES (1)")
    assert [str(v) for v in run.wb.table("t").to_arrow().to_pylist()[0].values()] == [
        "2020-01-01 00:00:00",
        "1",
        "True",
    ]
