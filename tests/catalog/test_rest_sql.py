"""Tables of a REST catalog in Spark SQL, Flink SQL, procedures, system tables and streams."""

from __future__ import annotations

import pyarrow as pa
import pytest
from rest_server import RestServer

import paimon_nb
from paimon_nb.base.errors import (
    AlreadyExists,
    SqlAnalysisError,
    SqlSyntaxError,
    TableNotFound,
    UnknownName,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog.api import StoredFunction
from paimon_nb.format.types import DataField, parse_type


@pytest.fixture
def server(tmp_path):
    with RestServer(tmp_path / "w") as running:
        running.token = "a-token"
        yield running


@pytest.fixture
def wb(server):
    with server.workbench() as opened:
        yield opened


def create(wb) -> None:
    wb.run(
        "CREATE TABLE t (id INT, v STRING, dt STRING, PRIMARY KEY (id, dt) NOT ENFORCED) PARTITIONED BY (dt)"
        " WITH ('bucket' = '1', 'changelog-producer' = 'input')"
    )


def test_create_catalog(server, tmp_path):
    with paimon_nb.connect(str(tmp_path / "local")) as wb:
        inputs = ", ".join(f"'{k}' = '{v}'" for k, v in server.options().items())
        wb.run(f"CREATE CATALOG remote WITH ({inputs})")
        wb.run("CREATE DATABASE remote.d; CREATE TABLE remote.d.t (id INT)")
        wb.table("remote.d.t").append(pa.table({"id": pa.array([1, 2], pa.int32())}))
        assert wb.table("remote.d.t").to_arrow().column("id").to_pylist() == [1, 2]
        displayed = str(wb.run("SHOW CREATE CATALOG remote").arrow.to_pylist())
        assert "a-token" not in displayed
        assert "rest" in displayed
    assert server.catalog.tables("d") == ["t"]


@pytest.mark.usefixtures("server")
def test_statements_that_need_no_spark(wb):
    create(wb)
    wb.run("INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'y')")
    wb.run("CREATE TABLE other (id INT); DROP TABLE other")
    wb.run("ALTER TABLE t ADD n BIGINT COMMENT 'a number'; ALTER TABLE t SET ('snapshot.num-retained.max' = '30')")
    wb.run("CALL sys.create_tag('t', 'first'); CALL sys.create_branch('t', 'b', 'first')")
    wb.run("INSERT INTO t VALUES (3, 'c', 'x', 7)")
    assert wb.table("t").to_arrow().sort_by("id").column("n").to_pylist() == [None, None, 7]
    wb.run("CALL sys.rollback_to('t', 'first')")
    assert wb.table("t").count() == 2
    assert wb.table("t$branch_b").count() == 2
    assert wb.table("t").tags().column("tag_name").to_pylist() == ["first"]
    note = " ".join(wb.run("DROP TABLE t").notes)
    assert "UNDROP" not in note


@pytest.mark.spark
def test_spark_and_flink_sql(server, wb):
    create(wb)
    wb.sql("INSERT INTO t SELECT CAST(id AS INT), concat('v', id), IF(id % 2 = 0, 'x', 'y') FROM range(100)")
    wb.sql("UPDATE t SET v = 'new' WHERE id < 10; DELETE FROM t WHERE id >= 90")
    wb.sql("MERGE INTO t USING (SELECT 5 AS id, 'y' AS dt) s ON t.id = s.id AND t.dt = s.dt WHEN MATCHED THEN DELETE")
    found = wb.sql(
        "SELECT dt, COUNT(*) AS n, SUM(CASE WHEN v = 'new' THEN 1 ELSE 0 END) AS m FROM t GROUP BY dt ORDER BY dt"
    )
    assert [tuple(r) for r in found.collect()] == [("x", 45, 5), ("y", 44, 4)]
    wb.sql("INSERT OVERWRITE t PARTITION (dt = 'x') SELECT 1, 'only'")
    old = wb.sql("SELECT COUNT(*) AS n FROM t /*+ OPTIONS('scan.snapshot-id' = '1') */").collect()[0].n
    files = wb.sql("SELECT COUNT(*) AS n FROM t$files WHERE `partition` = '{x}'").collect()[0].n
    assert (old, files, wb.sql("SELECT COUNT(*) AS n FROM t").collect()[0].n) == (100, 1, 45)
    wb.sql("CALL sys.compact(`table` => 'default.t', compact_strategy => 'full')")
    assert wb.sql("SELECT COUNT(*) AS n FROM t").collect()[0].n == 45
    commits = server.count("POST", "/commit")
    assert commits == len(server.catalog.table(Identifier("default", "t")).snapshots())


@pytest.mark.spark
def test_catalog_by_spark_settings(server, wb):
    for key, value in server.options().items():
        if key != "type":
            wb.spark.conf.set(f"spark.sql.catalog.far.{key}", value)
    wb.spark.conf.set("spark.sql.catalog.far", "org.apache.paimon.spark.SparkCatalog")
    wb.sql("CREATE TABLE far.default.s (id INT); INSERT INTO far.default.s VALUES (1), (2)")
    assert sorted(r.id for r in wb.spark.table("far.default.s").collect()) == [1, 2]


@pytest.mark.nightly
@pytest.mark.usefixtures("server")
@pytest.mark.spark
def test_streams(wb):
    create(wb)
    wb.run("CREATE TABLE copy (id INT, v STRING, dt STRING, PRIMARY KEY (id, dt) NOT ENFORCED) WITH ('bucket' = '1')")
    wb.run("INSERT INTO t VALUES (1, 'a', 'x')")
    wb.run("SET 'execution.runtime-mode' = 'streaming'")
    wb.run("SET 'execution.checkpointing.interval' = '200 ms'")
    job = wb.sql("INSERT INTO copy SELECT id, v, dt FROM t")
    try:
        wb.table("t").upsert(pa.table({"id": pa.array([2], pa.int32()), "v": ["b"], "dt": ["x"]}))
        assert job.wait_for(lambda: wb.table("copy").count() == 2)
        assert sorted(wb.table("copy").to_arrow().column("v").to_pylist()) == ["a", "b"]
    finally:
        wb.run(f"STOP JOB '{job.id[:8]}'")


@pytest.mark.usefixtures("server")
def test_properties_of_databases(wb):
    wb.run("CREATE DATABASE d COMMENT 'sales'")
    wb.run("ALTER DATABASE d SET ('team' = 'x')")
    found = {r["info_name"]: r["info_value"] for r in wb.run("DESCRIBE DATABASE d").arrow.to_pylist()}
    assert {k: found[k] for k in ("comment", "team", "owner", "Tables")} == {
        "comment": "sales",
        "team": "x",
        "owner": "owner",
        "Tables": "0",
    }


def test_stored_views_and_functions_are_listed(server, wb):
    server.views["default", "v"] = {"fields": [], "query": "SELECT 1"}
    server.functions["default", "f"] = {"name": "f"}
    assert wb.run("SHOW VIEWS").arrow.to_pylist() == [{"namespace": "default", "viewName": "v", "isTemporary": False}]
    assert wb.session.catalog.functions("default") == ["f"]
    server.unsupported.update({"GET databases/*/views", "GET databases/*/functions"})
    assert (wb.session.catalog.views("default"), wb.session.catalog.functions("default")) == ([], [])


@pytest.mark.spark
def test_stored_views(server, wb):
    create(wb)
    wb.run("INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'y')")
    wb.run("CREATE VIEW v AS SELECT id, v AS text FROM t WHERE id > 1")
    wb.run(
        "CREATE DATABASE d; CREATE VIEW d.twice (a, b COMMENT 'the texts') AS SELECT id, concat(text, text) FROM default.v"
    )
    assert [f["name"] for f in server.views["d", "twice"]["fields"]] == ["a", "b"]
    wb.run("USE d")
    described = wb.run("DESC twice").arrow.to_pylist()
    assert [(r["col_name"], r["comment"]) for r in described] == [("a", None), ("b", "the texts")]
    assert "b COMMENT 'the texts'" in wb.run("SHOW CREATE VIEW twice").arrow.to_pylist()[0]["createtab_stmt"]
    assert [tuple(r) for r in wb.sql("SELECT a, b FROM twice").collect()] == [(2, "bb")]
    assert wb.sql("SELECT COUNT(*) AS n FROM default.v JOIN default.t ON v.id = t.id").collect()[0].n == 1
    with pytest.raises(AlreadyExists, match=r"view d\.twice exists already"):
        wb.run("CREATE VIEW twice AS SELECT 1 AS one")
    wb.run("CREATE OR REPLACE VIEW twice AS SELECT 1 AS one")
    assert wb.sql("SELECT * FROM twice").columns == ["one"]
    wb.run("DROP VIEW twice; DROP VIEW IF EXISTS twice")
    assert wb.session.catalog.views("d") == []
    with pytest.raises(TableNotFound):
        wb.sql("SELECT * FROM twice")


@pytest.mark.spark
def test_a_view_has_a_query_for_each_dialect(server, wb):
    create(wb)
    wb.run(
        "INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'y'); CREATE VIEW v TBLPROPERTIES ('k' = '1') AS SELECT id FROM t"
    )
    assert server.views["default", "v"]["options"] == {"k": "1"}
    update = wb.run("CALL sys.alter_view_dialect('v', 'update', 'spark', 'SELECT id FROM t WHERE id > 1')")
    assert update.arrow.to_pylist() == [{"result": True}]  # the order is Spark's, too
    assert [tuple(r) for r in wb.sql("SELECT * FROM v").collect()] == [(2,)]
    assert "WHERE id > 1" in wb.run("SHOW CREATE TABLE v").arrow.to_pylist()[0]["createtab_stmt"]
    wb.run("CALL sys.alter_view_dialect(`view` => 'v', `action` => 'drop')")
    wb.run("CALL sys.alter_view_dialect(`view` => 'v', `action` => 'add', `query` => 'SELECT id FROM t WHERE id < 2')")
    assert server.views["default", "v"]["dialects"] == {"spark": "SELECT id FROM t WHERE id < 2"}
    with pytest.raises(AlreadyExists, match="dialect spark exists"):
        wb.run("CALL sys.alter_view_dialect('v', 'add', 'spark', 'SELECT 1')")
    for wrong in ("'v', 'drop', 'flink'", "'w', 'drop'"):
        with pytest.raises(UnknownName):
            wb.run(f"CALL sys.alter_view_dialect({wrong})")
    for wrong, why in (("'v', 'ad', 'spark', 'SELECT 1'", "no action 'ad'"), ("'v', 'update'", "needs a query")):
        with pytest.raises(SqlAnalysisError, match=why):
            wb.run(f"CALL sys.alter_view_dialect({wrong})")


@pytest.mark.spark
def test_each_dialect_creates_and_reads_its_own_query_of_a_view(server, wb):
    wb.run("SET 'execution.runtime-mode' = 'batch'; CREATE VIEW v AS SELECT 7 / 2 AS half")
    assert server.views["default", "v"]["dialects"] == {"flink": "SELECT 7 / 2 AS half"}
    wb.run("CALL sys.alter_view_dialect('v', 'add', 'spark', 'SELECT 8 AS half')")
    assert wb.run("SELECT half FROM v").frame.collect()[0].half == 3
    wb.run("RESET 'execution.runtime-mode'")
    assert wb.run("SELECT half FROM v").frame.collect()[0].half == 8


@pytest.mark.spark
def test_a_stored_view_sees_neither_files_nor_variables(server, wb, tmp_path):
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    wb.session.variables = {"df": pa.table({"a": [1]})}.get
    server.views["default", "file"] = {"fields": [], "query": f"SELECT * FROM '{tmp_path}/secret.csv'"}
    server.views["default", "variable"] = {"fields": [], "query": "SELECT * FROM df"}
    for name, error in (("file", UnsupportedOperation), ("variable", TableNotFound)):
        with pytest.raises(error):
            wb.run(f"SELECT * FROM {name}")
        with pytest.raises(error):
            wb.run(f"CREATE VIEW mine AS {server.views['default', name]['query']}")
    assert wb.session.catalog.views("default") == ["file", "variable"]


@pytest.mark.spark
def test_views_of_other_clients(server, wb):
    create(wb)
    wb.run("INSERT INTO t VALUES (1, 'a', 'x')")
    server.views["default", "flinks"] = {"fields": [], "query": "?", "dialects": {"flink": "SELECT `t`.`id` FROM `t`"}}
    assert [r.id for r in wb.sql("SELECT * FROM flinks").collect()] == [1]
    server.views["default", "a"] = {"fields": [], "query": "SELECT * FROM b"}
    server.views["default", "b"] = {"fields": [], "query": "SELECT * FROM a"}
    with pytest.raises(SqlAnalysisError, match="reads itself"):
        wb.sql("SELECT * FROM a")
    server.views["default", "broken"] = {"fields": [], "query": "THIS IS NOT SQL"}
    with pytest.raises(SqlSyntaxError, match="Syntax error at or near 'THIS'"):
        wb.sql("SELECT * FROM broken")


# -- functions


def rows_of(wb, text: str) -> list[dict]:
    return [row.asDict() for row in wb.sql(text).collect()]


@pytest.mark.spark
def test_sql_functions_are_stored_and_run(server, wb):
    wb.run("CREATE TABLE r (w INT, h INT); INSERT INTO r VALUES (2, 3), (4, 5)")
    wb.run("CREATE FUNCTION area(w INT, h INT DEFAULT 10) RETURNS BIGINT COMMENT 'of a field' RETURN w * h")
    assert rows_of(wb, "SELECT w, area(w, h) AS a FROM r ORDER BY w") == [{"w": 2, "a": 6}, {"w": 4, "a": 20}]
    assert rows_of(wb, "SELECT sum(default.area(w)) AS a FROM r WHERE area(w, h) > 6") == [{"a": 40}]
    wb.run(f"INSERT INTO r SELECT {wb.session.current_catalog}.default.area(1, 1), 0")
    assert [tuple(x) for x in wb.sql("SELECT w FROM r WHERE h = 0").collect()] == [(1,)]
    assert "default.area" in wb.run("SHOW USER FUNCTIONS").arrow.column(0).to_pylist()
    stored = server.functions["default", "area"]
    assert stored["definitions"] == {"spark": {"type": "sql", "definition": "w * h"}}
    assert stored["options"] == {"spark.sql-function.is-query": "false"}
    assert [(p["name"], p["type"], p.get("defaultValue")) for p in stored["inputParams"]] == [
        ("w", "INT", None), ("h", "INT", "10"),
    ]  # fmt: skip

    with pytest.raises(AlreadyExists):
        wb.run("CREATE FUNCTION area(w INT) RETURNS INT RETURN 1")
    wb.run("CREATE FUNCTION IF NOT EXISTS area(w INT) RETURNS INT RETURN 1")
    wb.run("CREATE OR REPLACE FUNCTION area(w INT, h INT) RETURNS INT RETURN w + h")
    assert rows_of(wb, "SELECT area(2, 3) AS a") == [{"a": 5}]
    wb.run("DROP FUNCTION area")
    with pytest.raises(SqlAnalysisError, match="area"):
        wb.sql("SELECT area(2, 3) AS a")
    with pytest.raises(UnknownName):
        wb.run("DROP FUNCTION area")
    wb.run("DROP FUNCTION IF EXISTS area")


@pytest.mark.spark
@pytest.mark.parametrize(
    ("definition", "options", "why"),
    [
        ({"type": "lambda", "definition": "(Integer x) -> x", "language": "JAVA"}, {}, "lambda"),
        ({"type": "file", "className": "org.example.F", "language": "JAVA"}, {}, "Java code"),
        ({"type": "sql", "definition": "SELECT 1"}, {"spark.sql-function.is-query": "true"}, "a query"),
    ],
    ids=["lambda", "file", "query"],
)
def test_functions_that_are_not_run(server, wb, definition, options, why):
    server.functions["default", "f"] = {
        "name": "f", "inputParams": [{"id": 0, "name": "x", "type": "INT"}], "returnParams": [{"id": 0, "name": "f", "type": "INT"}],
        "deterministic": True, "definitions": {"spark": definition}, "options": options,
    }  # fmt: skip
    with pytest.raises(UnsupportedOperation, match=why) as refused:
        wb.sql("SELECT f(1) AS a")
    assert refused.value.hint
    with pytest.raises(UnsupportedOperation, match="classes"):
        wb.run("CREATE OR REPLACE FUNCTION default.g AS 'org.example.G' USING JAR '/tmp/g.jar'")
    with pytest.raises(UnsupportedOperation, match="a query"):
        wb.run("CREATE FUNCTION g(x INT) RETURNS INT RETURN SELECT max(a) FROM t WHERE b = x")
    with pytest.raises(SqlAnalysisError):
        wb.run("CREATE FUNCTION g(x INT) RETURNS INT RETURN nothing_of_this_name")
    assert ("default", "g") not in server.functions


def test_a_function_is_described(wb):
    double = parse_type("DOUBLE")
    area = StoredFunction(
        (DataField(0, "width", double), DataField(1, "h", double)), double, "width * h", comment="of a rectangle"
    )
    wb.session.catalog.create_function(Identifier("default", "area"), area)
    rows = wb.run("DESCRIBE FUNCTION area").arrow.column("function_desc").to_pylist()
    assert rows == [
        "Function: default.area", "Type:     SCALAR", "Input:    width DOUBLE", "          h     DOUBLE", "Returns:  DOUBLE",
    ]  # fmt: skip
    more = wb.run("DESCRIBE FUNCTION EXTENDED default.area").arrow.column("function_desc").to_pylist()
    assert more[5:] == ["Comment:       of a rectangle", "Deterministic: true", "Body:          width * h"]
