"""Texts that others stored are data: views, functions, computed columns and options start no process, call no Java, open no file, send no request."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from adversary_kit import Listener
from rest_server import RestServer
from sampling import sampled

import paimon_nb
from paimon_nb.base import named_servers
from paimon_nb.base.errors import PaimonError, UnsupportedOperation
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog.api import StoredFunction, StoredView
from paimon_nb.format.types import DataField, parse_type

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXT = parse_type("STRING")


@pytest.fixture
def listener() -> Iterator[Listener]:
    with Listener() as server:
        yield server
        server.shutdown()


@pytest.fixture
def wb(tmp_path: Path, spark) -> Iterator[paimon_nb.Workbench]:
    """A REST catalog with a table; the test stores what its server would answer."""
    with RestServer(tmp_path / "w") as server, server.workbench(spark=spark) as opened:
        opened.run("CREATE TABLE t (id INT, v STRING)")
        opened.run("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
        (tmp_path / "secret.csv").write_text("a,b\n1,CANARY\n")
        (tmp_path / "secret.xsd").write_text("<CANARY")
        yield opened


VIEWS = {
    "script": "SELECT TRANSFORM(id) USING 'sh -c \"touch {tmp}/made; cat\"' AS (x STRING) FROM t",
    "script of a map": "FROM t MAP id USING 'sh -c \"touch {tmp}/made; cat\"' AS (x STRING)",
    "script in a subquery": "SELECT * FROM (FROM t REDUCE id USING 'touch {tmp}/made' AS (x STRING)) AS x",
    "Java": "SELECT java_method('java.lang.System', 'setProperty', 'canary', 'set') AS x",
    "Java in backticks": "SELECT `reflect`('java.lang.System', 'setProperty', 'canary', 'set') AS x",
    "Java by IDENTIFIER": "SELECT IDENTIFIER('ref' || 'lect')('java.lang.System', 'setProperty', 'canary', 'set') AS x",
    "Java in LIMIT": "SELECT 1 AS x LIMIT CAST(try_reflect('java.lang.System', 'setProperty', 'canary', 'set') AS INT)",
    "Java in VALUES": "SELECT * FROM VALUES (reflect('java.lang.System', 'setProperty', 'canary', 'set')) AS t(x)",
    "Java in a CTE": "WITH c AS (SELECT reflect('java.lang.System', 'setProperty', 'canary', 'set') AS x) SELECT * FROM c",
    "Java in a schema": "SELECT from_json('1', reflect('java.lang.System', 'setProperty', 'canary', 'set')) AS x",
    "file": "SELECT * FROM '{tmp}/secret.csv'",
    "file of Spark": "SELECT * FROM csv.`{tmp}/secret.csv`",
    "text file": "SELECT * FROM text.`{tmp}/secret.*`",
    "binary file": "SELECT * FROM binaryFile.`{tmp}/secret.csv`",
    "file by IDENTIFIER": "SELECT * FROM IDENTIFIER('csv.`{tmp}/secret.csv`')",
    "file of a schema": "SELECT from_xml('<a/>', 'b INT', map('rowValidationXSDPath', '{tmp}/secret.xsd')) AS x",
    "request of an XML text": "SELECT xpath_string('<!DOCTYPE a SYSTEM \"{url}/dtd\"><a/>', 'a') AS x",
    "option of a path": "SELECT * FROM t /*+ OPTIONS('data-file.external-paths' = 'file://{tmp}') */",
    "EXECUTE IMMEDIATE": "EXECUTE IMMEDIATE 'SELECT 1'",
    "a time that calls Java": "SELECT * FROM t TIMESTAMP AS OF (reflect('java.lang.System', 'setProperty', 'canary', 'set'))",
    "a function of the reader": "SELECT function_of_the_reader(v) AS x FROM t",
}


@pytest.mark.parametrize("kind", sampled(VIEWS, 3))
def test_a_stored_view_only_reads_tables(wb, spark, tmp_path: Path, listener: Listener, kind: str) -> None:
    called: list[str] = []
    spark.udf.register("function_of_the_reader", lambda v: called.append(v))
    text = VIEWS[kind].format(tmp=tmp_path, url=listener.url)
    view = StoredView(text, (DataField(0, "x", TEXT),), dialects={"spark": text})
    wb.session.catalog.create_view(Identifier("default", "bad"), view)
    with pytest.raises(PaimonError) as raised:
        wb.run("SELECT * FROM bad").to_arrow()
    assert "CANARY" not in str(raised.value)
    assert not (tmp_path / "made").exists()
    assert spark._jvm.java.lang.System.getProperty("canary") is None
    assert listener.requests == []
    with pytest.raises(PaimonError):
        wb.run("SELECT count(*) FROM (SELECT * FROM t JOIN bad ON true)").to_arrow()
    with pytest.raises(PaimonError):
        wb.run("EXPLAIN SELECT * FROM bad")


def test_a_view_that_reads_tables_is_answered(wb) -> None:
    texts = {
        "plain": "SELECT id, upper(v) AS v FROM t WHERE id > 1",
        "joined": "WITH c AS (SELECT id, count(*) AS n FROM t GROUP BY id) SELECT t.v, c.n, sum(n) OVER (ORDER BY t.id) AS s FROM t JOIN c USING (id)",
        "old": "SELECT * FROM t VERSION AS OF 1",
        "hint": "SELECT * FROM t /*+ OPTIONS('scan.snapshot-id' = '1') */",
        "nested": "SELECT * FROM plain",
    }
    for name, text in texts.items():
        wb.run(f"CREATE VIEW {name} AS {text}")
    assert wb.run("SELECT * FROM nested").to_arrow().to_pylist() == [{"id": 2, "v": "B"}]
    assert wb.run("SELECT count(*) AS n FROM joined, old, hint").to_arrow().to_pylist() == [{"n": 8}]


BODIES = {
    "java_method('java.lang.System', 'setProperty', 'canary', 'set')",
    "concat(x, reflect('java.lang.System', 'setProperty', 'canary', 'set'))",
    "IDENTIFIER('ref' || 'lect')('java.lang.System', 'setProperty', 'canary', 'set')",
    "(SELECT max(_c1) FROM csv.`{tmp}/secret.csv`)",
    "(SELECT TRANSFORM(1) USING 'touch {tmp}/made' AS (x STRING))",
    "x; DROP TABLE t",
    "xpath_string('<!DOCTYPE a SYSTEM \"{url}/dtd\"><a/>', 'a')",
}


@pytest.mark.parametrize("body", sampled(sorted(BODIES), 3))
def test_a_stored_function_only_computes(wb, spark, tmp_path: Path, listener: Listener, body: str) -> None:
    text = body.format(tmp=tmp_path, url=listener.url)
    name = Identifier("default", "f")
    wb.session.catalog.create_function(name, StoredFunction((DataField(0, "x", TEXT),), TEXT, text))
    with pytest.raises(PaimonError) as raised:
        wb.run("SELECT default.f(v) AS y FROM t").to_arrow()
    assert "CANARY" not in str(raised.value)
    assert not (tmp_path / "made").exists()
    assert spark._jvm.java.lang.System.getProperty("canary") is None
    assert listener.requests == []


def test_a_function_that_only_computes_is_called_also_in_a_view(wb) -> None:
    wb.run("CREATE FUNCTION twice(x INT) RETURNS INT RETURN x * 2 + length('')")
    wb.run("CREATE VIEW doubled AS SELECT default.twice(id) AS y FROM t")
    assert sorted(r["y"] for r in wb.run("SELECT * FROM doubled").to_arrow().to_pylist()) == [2, 4]


def test_a_function_that_calls_java_is_not_stored(wb) -> None:
    with pytest.raises(UnsupportedOperation, match="java_method is not among those that only compute a value"):
        wb.run("CREATE FUNCTION f(x INT) RETURNS STRING RETURN java_method('java.lang.System', 'getProperty', 'a')")


@pytest.mark.parametrize("expression", sampled(sorted(b for b in BODIES if ";" not in b), 3))
def test_a_computed_column_only_computes(tmp_path: Path, spark, listener: Listener, expression: str) -> None:
    """The writer of a table stores the expression in an option; each reader would run it."""
    (tmp_path / "secret.csv").write_text("a,b\n1,CANARY\n")
    text = expression.format(tmp=tmp_path, url=listener.url)
    with paimon_nb.connect(str(tmp_path / "w"), spark=spark) as wb:
        wb.run("CREATE TABLE t (x STRING)")
        wb.run("INSERT INTO t VALUES ('a')")
        schema = tmp_path / "w/default.db/t/schema/schema-0"
        stored = json.loads(schema.read_text())
        stored["options"] |= {"schema.1.name": "c", "schema.1.expr": text, "schema.1.data-type": "STRING"}
        schema.write_text(json.dumps(stored))
    with paimon_nb.connect(str(tmp_path / "w"), spark=spark) as wb:
        with pytest.raises(PaimonError) as raised:
            wb.run("SELECT c FROM t").to_arrow()
        assert "CANARY" not in str(raised.value)
        assert not (tmp_path / "made").exists()
        assert spark._jvm.java.lang.System.getProperty("canary") is None
        assert listener.requests == []


def test_a_default_value_is_a_text(tmp_path: Path, spark) -> None:
    with paimon_nb.connect(str(tmp_path / "w"), spark=spark) as wb:
        wb.run("CREATE TABLE t (id INT, v STRING DEFAULT 'a')")
        schema = tmp_path / "w/default.db/t/schema/schema-0"
        stored = json.loads(schema.read_text())
        default = "' || reflect('java.lang.System', 'setProperty', 'canary', 'set') || '"
        stored["fields"][1]["defaultValue"] = default
        schema.write_text(json.dumps(stored))
    with paimon_nb.connect(str(tmp_path / "w"), spark=spark) as wb:
        wb.run("INSERT INTO t (id) SELECT id FROM range(2)")
        wb.run("UPDATE t SET v = DEFAULT WHERE id = 1")
        assert {r["v"] for r in wb.table("t").to_arrow().to_pylist()} <= {default, default.strip("'"), default[1:-1]}
        assert spark._jvm.java.lang.System.getProperty("canary") is None


URL_OPTIONS = {
    "a report of partitions": {"partition.mark-done-action": "http-report", "partition.mark-done-action.http.url": "{url}/done"},
    "a catalog of Iceberg": {"metadata.iceberg.storage": "rest-catalog", "metadata.iceberg.rest.uri": "{url}", "metadata.iceberg.rest.token": "TOKEN-of-the-table"},
    "a metastore": {"metadata.iceberg.storage": "hive-catalog", "metadata.iceberg.uri": "thrift://127.0.0.1:{port}"},
    "settings of a metastore": {"metadata.iceberg.storage": "hive-catalog", "metadata.iceberg.hive-conf-dir": "{tmp}"},
}  # fmt: skip


@pytest.mark.parametrize("kind", URL_OPTIONS)
def test_a_server_that_only_a_table_names_gets_no_request(tmp_path: Path, listener: Listener, kind: str) -> None:
    """The writer of a table stores an address; whoever inserts rows would call it."""
    (tmp_path / "hive-site.xml").write_text(
        f"<configuration><property><name>hive.metastore.uris</name><value>thrift://127.0.0.1:{listener.server_port}</value></property></configuration>"
    )
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run("CREATE TABLE t (id INT, dt STRING) PARTITIONED BY (dt) WITH ('bucket' = '-1')")
    schema = tmp_path / "w/default.db/t/schema/schema-0"
    stored = json.loads(schema.read_text())
    named = {"{url}": listener.url, "{port}": str(listener.server_port), "{tmp}": str(tmp_path)}
    options = dict(URL_OPTIONS[kind])
    for mark, value in named.items():
        options = {k: v.replace(mark, value) for k, v in options.items()}
    stored["options"] |= options
    schema.write_text(json.dumps(stored))

    named_servers.forget_all()
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run("INSERT INTO t VALUES (1, 'a')")
    with suppress(PaimonError):
        wb.run("CALL sys.mark_partition_done('t', 'dt=a')")
    assert listener.requests == []
    assert listener.connections == 0
    assert wb.table("t").count() == 1


def test_a_server_that_the_user_names_gets_the_request(tmp_path: Path, listener: Listener) -> None:
    address = f"{listener.url}/done"
    text = (f"CREATE TABLE t (id INT, dt STRING) PARTITIONED BY (dt) WITH ('bucket' = '-1', 'partition.mark-done-action' = 'http-report', "
            f"'partition.mark-done-action.http.url' = '{address}')")  # fmt: skip
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run(text)
    wb.run("INSERT INTO t VALUES (1, 'a')")
    wb.run("CALL sys.mark_partition_done('t', 'dt=a')")
    assert listener.requests == ["/done"]
    named_servers.forget_all()
    later = paimon_nb.connect(str(tmp_path / "w"))
    with pytest.raises(
        UnsupportedOperation,
        match=r"only the table's option 'partition\.mark-done-action\.http\.url' names this server",
    ):
        later.run("CALL sys.mark_partition_done('t', 'dt=a')")
    allowed = paimon_nb.connect(str(tmp_path / "w"), options={"allowed-servers": listener.url})
    allowed.run("CALL sys.mark_partition_done('t', 'dt=a')")
    assert listener.requests == ["/done", "/done"]
