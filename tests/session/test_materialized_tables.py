"""Materialized tables: CREATE, ALTER, DROP, SHOW, and what is refused. None of these starts a JVM."""

from __future__ import annotations

import pyarrow as pa
import pytest
from sampling import sampled

import paimon_nb
from paimon_nb.base.errors import (
    AlreadyExists,
    BadOptionValue,
    ColumnNotFound,
    PaimonError,
    SchemaChangeError,
    SchemaMismatch,
    TableNotFound,
    UnsupportedFormat,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import Identifier

ORDERS = """CREATE TABLE orders (id INT NOT NULL, region STRING, price INT, PRIMARY KEY (id) NOT ENFORCED);
INSERT INTO orders VALUES (1, 'eu', 5), (2, 'us', 7), (3, 'eu', 9)"""
BY_REGION = "SELECT region, count(*) AS n, sum(price) AS total FROM orders GROUP BY region"
KEY = "(PRIMARY KEY (region) NOT ENFORCED)"


@pytest.fixture
def lake(wb, monkeypatch):
    """A workbench with the table `orders`, which refreshes only when told to. Starting Spark fails the test."""
    monkeypatch.setattr(type(wb.session), "spark", property(lambda _self: pytest.fail("Spark was started")))
    wb.run(f"SET 'paimon-nb.materialized-table.auto-refresh' = 'false'; {ORDERS}")
    return wb


def rows(wb, name: str) -> list[tuple]:
    """The rows of a table, in order."""
    return sorted((tuple(r.values()) for r in wb.table(name).to_arrow().to_pylist()), key=repr)


def said(wb, text: str) -> str:
    """The sentence of the last statement."""
    return wb.run(text).arrow.to_pylist()[0]["result"]


def options(wb, name: str) -> dict[str, str]:
    return dict(wb.session.catalog.table(Identifier("default", name)).schema.options)


# -- CREATE


def test_the_table_has_the_rows_of_its_query(lake):
    assert said(lake, f"CREATE MATERIALIZED TABLE m {KEY} AS {BY_REGION}") == (
        "materialized table default.m created: 2 rows, freshness 3 minutes, continuous"
    )
    assert rows(lake, "m") == [("eu", 2, 14), ("us", 1, 7)]
    assert lake.table("m").primary_keys == ("region",)


def test_the_options_are_those_of_flink(lake):
    """What Java Paimon's Flink catalog stores for the same statement, and the dialect."""
    lake.run(f"CREATE MATERIALIZED TABLE m {KEY} FRESHNESS = INTERVAL '30' SECOND AS {BY_REGION}")
    assert options(lake, "m") == {
        "type": "materialized-table",
        "materialized-table.definition-query": "SELECT region, count(*) AS n, sum(price) AS total FROM `paimon`.`default`.`orders` GROUP BY region",
        "materialized-table.interval-freshness": "30",
        "materialized-table.interval-freshness.time-unit": "second",
        "materialized-table.logical-refresh-mode": "automatic",
        "materialized-table.refresh-mode": "continuous",
        "materialized-table.refresh-status": "activated",
        "paimon-nb.materialized-table.dialect": "spark",
    }


@pytest.mark.parametrize(
    ("clauses", "freshness", "unit", "logical", "mode"),
    [
        ("", "3", "minute", "automatic", "continuous"),
        ("REFRESH_MODE = FULL", "1", "hour", "full", "full"),
        ("REFRESH_MODE = CONTINUOUS", "3", "minute", "continuous", "continuous"),
        ("FRESHNESS = INTERVAL '29' MINUTE", "29", "minute", "automatic", "continuous"),
        ("FRESHNESS = INTERVAL '30' MINUTE", "30", "minute", "automatic", "full"),
        ("FRESHNESS = INTERVAL '1' DAY REFRESH_MODE = CONTINUOUS", "1", "day", "continuous", "continuous"),
        ("FRESHNESS = INTERVAL '10' SECONDS REFRESH_MODE = FULL", "10", "second", "full", "full"),
    ],
)
def test_the_mode_follows_from_the_freshness_as_in_flink(lake, clauses, freshness, unit, logical, mode):
    lake.run(f"CREATE MATERIALIZED TABLE m {clauses} AS SELECT id FROM orders")
    stored = {k.removeprefix("materialized-table."): v for k, v in options(lake, "m").items()}
    assert (stored["interval-freshness"], stored["interval-freshness.time-unit"]) == (freshness, unit)
    assert (stored["logical-refresh-mode"], stored["refresh-mode"]) == (logical, mode)


def test_defaults_of_the_freshness_are_settings(lake):
    lake.run(
        "SET 'materialized-table.default-freshness.continuous' = '10 s'; CREATE MATERIALIZED TABLE m AS SELECT id FROM orders"
    )
    assert options(lake, "m")["materialized-table.interval-freshness"] == "10"


@pytest.mark.parametrize("interval", ["'60' SECOND", "'7' MINUTE", "'5' HOUR", "'24' HOUR", "'2' DAY"])
def test_full_mode_needs_an_interval_of_cron(lake, interval):
    with pytest.raises(BadOptionValue, match="divide the next larger unit"):
        lake.run(
            f"CREATE MATERIALIZED TABLE m FRESHNESS = INTERVAL {interval} REFRESH_MODE = FULL AS SELECT id FROM orders"
        )
    assert lake.tables() == ["orders"]


def test_columns_in_another_order_and_with_types(lake):
    lake.run("CREATE MATERIALIZED TABLE a (region, id) AS SELECT id, region FROM orders")
    lake.run(
        "CREATE MATERIALIZED TABLE b (price BIGINT COMMENT 'in cents', PRIMARY KEY (id) NOT ENFORCED) AS SELECT id, price FROM orders"
    )
    assert lake.table("a").schema.names == ("region", "id")
    assert [(f.name, str(f.type), f.description) for f in lake.table("b").schema.fields] == [
        ("price", "BIGINT", "in cents"),
        ("id", "INT NOT NULL", None),
    ]
    assert rows(lake, "b") == [(5, 1), (7, 2), (9, 3)]


def test_columns_of_a_view_are_renamed_by_position(lake):
    lake.run("CREATE MATERIALIZED VIEW v (x, y) AS SELECT id, price FROM orders WHERE price > 5")
    assert lake.table("v").to_arrow().to_pylist() == [{"x": 2, "y": 7}, {"x": 3, "y": 9}]
    assert (
        said(lake, "CREATE MATERIALIZED VIEW IF NOT EXISTS v AS SELECT 1 AS one FROM orders")
        == "table default.v exists already"
    )


def test_partitions_options_and_comment(lake):
    lake.run(
        "CREATE MATERIALIZED TABLE m COMMENT 'by day' PARTITIONED BY (region) WITH ('file.format' = 'orc') AS SELECT id, region FROM orders"
    )
    schema = lake.table("m").schema
    assert (schema.partition_keys, schema.comment, schema.options["file.format"]) == (("region",), "by day", "orc")


@pytest.mark.parametrize(
    ("statement", "error", "words"),
    [
        ("CREATE MATERIALIZED TABLE m AS SELECT id FROM nothing", TableNotFound, "nothing"),
        ("CREATE MATERIALIZED TABLE m (PRIMARY KEY (region) NOT ENFORCED) AS SELECT region, id FROM orders", SchemaMismatch, "two rows of the result have the key"),
        ("CREATE MATERIALIZED TABLE m (PRIMARY KEY (x) NOT ENFORCED) AS SELECT region FROM orders", ColumnNotFound, "'x'"),
        ("CREATE MATERIALIZED TABLE m PARTITIONED BY (x) AS SELECT region FROM orders", ColumnNotFound, "'x'"),
        ("CREATE MATERIALIZED TABLE m (x INT) AS SELECT id FROM orders", ColumnNotFound, "not in the query"),
        ("CREATE MATERIALIZED TABLE m (id) AS SELECT id, region FROM orders", SchemaMismatch, "'region'"),
        ("CREATE MATERIALIZED TABLE m (region INT) AS SELECT region FROM orders", PaimonError, "region"),
        ("CREATE MATERIALIZED TABLE m (PRIMARY KEY (id) NOT ENFORCED) AS SELECT CAST(NULL AS INT) AS id FROM orders LIMIT 1", PaimonError, "id"),
        ("CREATE MATERIALIZED TABLE m (double AS id * 2) AS SELECT id FROM orders", UnsupportedOperation, "cannot be computed"),
        ("CREATE MATERIALIZED TABLE m WITH ('merge-engine' = 'aggregation') AS SELECT id FROM orders", BadOptionValue, "merge-engine"),
        ("CREATE MATERIALIZED TABLE m WITH ('type' = 'table') AS SELECT id FROM orders", BadOptionValue, "'type'"),
        ("CREATE MATERIALIZED TABLE m WITH ('bucket' = 'many') AS SELECT id FROM orders", BadOptionValue, "bucket"),
        ("CREATE MATERIALIZED TABLE m WITH ('connector' = 'kafka') AS SELECT id FROM orders", BadOptionValue, "connector"),
        ("CREATE MATERIALIZED TABLE m START_MODE = FROM_NOW AS SELECT id FROM orders", UnsupportedOperation, "would lack the rows"),
        ("CREATE MATERIALIZED TABLE m START_MODE = RESUME_OR_FROM_BEGINNING AS SELECT id FROM orders", UnsupportedOperation, "only for CREATE OR ALTER"),
        ("CREATE MATERIALIZED TABLE m AS SELECT id FROM 'orders.csv'", PaimonError, "file"),
        ("CREATE MATERIALIZED TABLE m AS SELECT id FROM later", UnsupportedOperation, "temporary"),
        ("CREATE MATERIALIZED TABLE orders AS SELECT id FROM orders", AlreadyExists, "exists already"),
        ("CREATE OR ALTER MATERIALIZED TABLE orders AS SELECT id FROM orders", UnsupportedOperation, "is a table"),
        ("CREATE MATERIALIZED TABLE nodb.m AS SELECT id FROM orders", PaimonError, "nodb"),
    ],
)  # fmt: skip
def test_a_statement_that_fails_changes_nothing(lake, statement, error, words):
    lake.run("CREATE TEMPORARY VIEW later AS SELECT id FROM orders")
    before = lake.table("orders").schema
    with pytest.raises(error, match=words):
        lake.run(statement)
    assert lake.tables() == ["orders"]
    assert lake.table("orders").schema == before


def test_a_parameter_is_refused(lake):
    with pytest.raises(UnsupportedOperation, match="parameter :low"):
        lake.run("CREATE MATERIALIZED TABLE m AS SELECT id FROM orders WHERE price > :low", low=3)


def test_a_frame_of_the_caller_is_refused(lake):
    with pytest.raises(PaimonError):
        lake.run("CREATE MATERIALIZED TABLE m AS SELECT * FROM frame", frame=pa.table({"a": [1]}))
    assert lake.tables() == ["orders"]


def test_a_definition_means_the_same_in_every_session(lake):
    """Another current database, another name of the catalog, a temporary view of the same name."""
    lake.run(f"CREATE MATERIALIZED TABLE m {KEY} AS {BY_REGION}")
    lake.run("INSERT INTO orders VALUES (4, 'asia', 1)")
    with paimon_nb.connect(lake.session.catalog.warehouse, catalog="other") as wb:
        wb.run("SET 'paimon-nb.materialized-table.auto-refresh' = 'false'; CREATE DATABASE db; USE db")
        wb.run("CREATE TEMPORARY VIEW orders AS SELECT 'x' AS region, 1 AS price FROM `default`.orders LIMIT 1")
        wb.run("ALTER MATERIALIZED TABLE `default`.m REFRESH")
    assert rows(lake, "m") == [("asia", 1, 1), ("eu", 2, 14), ("us", 1, 7)]


def test_flinks_dialect_is_stored_and_used(lake):
    """In Flink's semantics, `/` between integers is a whole number."""
    lake.run("SET 'execution.runtime-mode' = 'batch'; CREATE MATERIALIZED TABLE m AS SELECT id, price FROM orders")
    assert options(lake, "m")["paimon-nb.materialized-table.dialect"] == "flink"


# -- CREATE OR ALTER, ALTER


def test_create_or_alter_creates_then_alters(lake):
    text = "CREATE OR ALTER MATERIALIZED TABLE m {} FRESHNESS = INTERVAL '{}' SECOND AS {}"
    lake.run(text.format(KEY, 10, BY_REGION))
    assert "its definition is the same; is up to date" in said(lake, text.format(KEY, 10, BY_REGION))
    assert "interval-freshness" in said(lake, text.format(KEY, 20, BY_REGION))
    more = "SELECT region, count(*) AS n, sum(price) AS total, max(price) AS top FROM orders GROUP BY region"
    assert said(lake, text.format(KEY, 20, more)) == (
        "materialized table default.m altered: refreshed (built: the query is another one): 2 rows added, 2 removed; new columns top"
    )
    assert rows(lake, "m") == [("eu", 2, 14, 9), ("us", 1, 7, 7)]
    with pytest.raises(SchemaChangeError, match="PRIMARY KEY"):
        lake.run(text.format("(PRIMARY KEY (n) NOT ENFORCED)", 20, more))


def test_another_query_keeps_equal_rows(lake):
    lake.run(f"CREATE MATERIALIZED TABLE m {KEY} AS {BY_REGION}")
    assert said(lake, f"ALTER MATERIALIZED TABLE m AS {BY_REGION.replace('GROUP', 'WHERE id <> 2 GROUP')}") == (
        "materialized table default.m altered: refreshed (built: the query is another one): 0 rows added, 1 removed"
    )
    assert rows(lake, "m") == [("eu", 2, 14)]


@pytest.mark.parametrize(
    ("query", "error", "words"),
    [
        ("SELECT region, count(*) AS n FROM orders GROUP BY region", SchemaChangeError, "no column 'total'"),
        ("SELECT region, count(*) AS n, max(region) AS total FROM orders GROUP BY region", SchemaChangeError, "is STRING"),
        ("SELECT region, 1 AS more, count(*) AS n, sum(price) AS total FROM orders GROUP BY region", SchemaChangeError, "not at the end"),
        ("SELECT region, n, total FROM m", UnsupportedOperation, "would read itself"),
        ("SELECT region, n, total FROM above", UnsupportedOperation, "m reads default.above reads default.m"),
        ("SELECT region, n, total FROM nothing", TableNotFound, "nothing"),
        ("SELECT 'x' AS region, n, total, 1 AS more FROM (SELECT region, count(*) AS n, sum(price) AS total FROM orders GROUP BY region) AS q", SchemaMismatch, "primary key"),
    ],
)  # fmt: skip
def test_a_query_that_is_refused_changes_nothing(lake, query, error, words):
    lake.run(f"CREATE MATERIALIZED TABLE m {KEY} AS {BY_REGION}; CREATE MATERIALIZED TABLE above AS SELECT * FROM m")
    before, columns, content = options(lake, "m"), lake.table("m").schema.names, rows(lake, "m")
    with pytest.raises(error, match=words):
        lake.run(f"ALTER MATERIALIZED TABLE m AS {query}")
    assert (options(lake, "m"), lake.table("m").schema.names, rows(lake, "m")) == (before, columns, content)


def test_suspend_and_resume_store_flinks_words(lake):
    lake.run("CREATE MATERIALIZED TABLE m AS SELECT id FROM orders")
    status = "materialized-table.refresh-status"
    assert said(lake, "ALTER MATERIALIZED TABLE m SUSPEND").endswith("RESUME refreshes it again")
    assert options(lake, "m")[status] == "SUSPENDED"
    assert said(lake, "ALTER MATERIALIZED TABLE m SUSPEND").endswith("is suspended already")
    assert said(lake, "ALTER MATERIALIZED TABLE m RESUME WITH ('sink.parallelism' = '2')").endswith("resumed")
    assert options(lake, "m")[status] == "ACTIVATED"


def test_set_and_reset(lake):
    lake.run("CREATE MATERIALIZED TABLE m AS SELECT id FROM orders")
    lake.run(
        "ALTER MATERIALIZED TABLE m SET FRESHNESS = INTERVAL '2' HOUR; ALTER MATERIALIZED TABLE m SET REFRESH_MODE = FULL"
    )
    lake.run(
        "ALTER MATERIALIZED TABLE m SET ('snapshot.num-retained.min' = '3'); ALTER MATERIALIZED TABLE m RESET ('nothing')"
    )
    stored = options(lake, "m")
    assert (stored["materialized-table.interval-freshness"], stored["materialized-table.refresh-mode"]) == ("2", "full")
    assert stored["snapshot.num-retained.min"] == "3"
    lake.run("ALTER MATERIALIZED TABLE m RESET ('snapshot.num-retained.min', 'nothing')")
    assert "snapshot.num-retained.min" not in options(lake, "m")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("SET FRESHNESS = INTERVAL '7' HOUR", "divide"),
        ("SET ('materialized-table.refresh-status' = 'activated')", "definition"),
        ("SET ('paimon-nb.materialized-table.dialect' = 'flink')", "definition"),
        ("SET ('type' = 'table')", "definition"),
        ("SET ('sequence.field' = 'id')", "rows of its query"),
        ("SET ('bucket' = 'x')", "bucket"),
        ("RESET ('connector')", "connector"),
        ("RESET ('type')", "definition"),
    ],
)
def test_options_that_are_refused(lake, change, words):
    lake.run("CREATE MATERIALIZED TABLE m REFRESH_MODE = FULL AS SELECT id FROM orders")
    before = options(lake, "m")
    with pytest.raises(PaimonError, match=words):
        lake.run(f"ALTER MATERIALIZED TABLE m {change}")
    assert options(lake, "m") == before


def test_rename(lake):
    lake.run(
        "CREATE MATERIALIZED TABLE m AS SELECT id FROM orders; CREATE DATABASE db; ALTER MATERIALIZED TABLE m RENAME TO db.n"
    )
    lake.run("INSERT INTO orders VALUES (4, 'eu', 1); ALTER MATERIALIZED TABLE db.n REFRESH")
    assert rows(lake, "db.n") == [(1,), (2,), (3,), (4,)]


# -- DROP, SHOW


def test_drop_and_undrop(lake):
    lake.run(f"CREATE MATERIALIZED TABLE m {KEY} AS {BY_REGION}; DROP MATERIALIZED TABLE m")
    assert lake.tables() == ["orders"]
    assert said(lake, "DROP MATERIALIZED TABLE IF EXISTS m") == "no materialized table default.m"
    with pytest.raises(TableNotFound):
        lake.run("DROP MATERIALIZED TABLE m")
    lake.run("UNDROP TABLE m; INSERT INTO orders VALUES (4, 'asia', 1); ALTER MATERIALIZED TABLE m REFRESH")
    assert rows(lake, "m") == [("asia", 1, 1), ("eu", 2, 14), ("us", 1, 7)]


def test_what_show_prints_creates_the_table_again(lake):
    lake.run(
        f"CREATE MATERIALIZED TABLE m {KEY} COMMENT 'it''s' WITH ('bucket' = '2') FRESHNESS = INTERVAL '30' SECOND AS {BY_REGION}"
    )
    text = said(lake, "SHOW CREATE MATERIALIZED TABLE m")
    assert text == (
        "CREATE MATERIALIZED TABLE `paimon`.`default`.`m` (\n  `region` STRING NOT NULL,\n  `n` BIGINT,\n  `total` BIGINT,\n"
        "  PRIMARY KEY (`region`) NOT ENFORCED\n)\nCOMMENT 'it''s'\nWITH (\n  'bucket' = '2'\n)\n"
        "FRESHNESS = INTERVAL '30' SECOND\nREFRESH_MODE = CONTINUOUS\n"
        "AS SELECT region, count(*) AS n, sum(price) AS total FROM `paimon`.`default`.`orders` GROUP BY region"
    )
    before = rows(lake, "m")
    lake.run("DROP MATERIALIZED TABLE m")
    lake.run(text)
    assert rows(lake, "m") == before
    assert said(lake, "SHOW CREATE MATERIALIZED TABLE m") == text
    assert lake.run("SHOW MATERIALIZED TABLES").arrow.to_pylist() == [{"table name": "m"}]  # not its state tables


def test_explain_shows_how_the_query_is_refreshed(lake):
    [row] = lake.run(f"EXPLAIN CREATE MATERIALIZED TABLE m {KEY} AS {BY_REGION}").arrow.to_pylist()
    assert "default.orders" in row["plan"]
    assert lake.tables() == ["orders"]
    lake.run(f"CREATE MATERIALIZED TABLE m {KEY} AS {BY_REGION}")
    assert lake.run("EXPLAIN ALTER MATERIALIZED TABLE m REFRESH").arrow.to_pylist() == [row]


# -- what other statements may not do


@pytest.mark.parametrize(
    "statement",
    sampled(
        [
            "INSERT INTO m VALUES ('x', 1, 1)",
            "INSERT OVERWRITE m VALUES ('x', 1, 1)",
            "INSERT INTO m SELECT region, 1, 1 FROM orders",
            "UPDATE m SET n = 1",
            "DELETE FROM m",
            "DELETE FROM m WHERE region = 'eu'",
            "MERGE INTO m USING orders ON m.region = orders.region WHEN MATCHED THEN DELETE",
            "TRUNCATE TABLE m",
            "ALTER TABLE m ADD COLUMN c INT",
            "ALTER TABLE m SET ('bucket' = '2')",
            "ALTER TABLE m RENAME TO n",
            "ALTER TABLE m DROP COLUMN n",
            "COMMENT ON TABLE m IS 'x'",
            "DROP TABLE m",
            "DROP TABLE IF EXISTS m",
            "CREATE OR REPLACE TABLE m (id INT)",
            "SHOW CREATE TABLE m",
            "CREATE TABLE n (id INT) WITH ('type' = 'materialized-table')",
        ],
        3,
    ),
)
def test_statements_for_plain_tables_are_refused(lake, statement):
    lake.run(f"CREATE MATERIALIZED TABLE m {KEY} AS {BY_REGION}")
    before, content = options(lake, "m"), rows(lake, "m")
    with pytest.raises(UnsupportedOperation, match="materialized table") as caught:
        lake.run(statement)
    assert "MATERIALIZED TABLE" in str(caught.value)
    assert lake.tables() == ["m", "orders"]
    assert (options(lake, "m"), rows(lake, "m")) == (before, content)


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.append({"region": ["x"], "n": [1], "total": [1]}),
        lambda t: t.upsert(pa.table({"region": ["x"], "n": [1], "total": [1]})),
        lambda t: t.overwrite(pa.table({"region": ["x"], "n": [1], "total": [1]})),
        lambda t: t.delete(where="n = 1"),
        lambda t: t.delete(pa.table({"region": ["eu"]})),
        lambda t: t.update({"n": 1}),
        lambda t: t.truncate(),
        lambda t: t.merge(pa.table({"region": ["x"]}), on="region").when_matched_delete().execute(),
    ],
)
def test_writes_from_python_are_refused(lake, change):
    lake.run(f"CREATE MATERIALIZED TABLE m {KEY} AS {BY_REGION}")
    with pytest.raises(UnsupportedOperation, match="materialized table"):
        change(lake.table("m"))
    assert rows(lake, "m") == [("eu", 2, 14), ("us", 1, 7)]


def test_statements_for_materialized_tables_refuse_others(lake):
    for statement in (
        "ALTER MATERIALIZED TABLE orders REFRESH",
        "DROP MATERIALIZED TABLE orders",
        "SHOW CREATE MATERIALIZED TABLE orders",
    ):
        with pytest.raises(UnsupportedOperation, match="not a materialized table"):
            lake.run(statement)
    assert lake.tables() == ["orders"]


def test_what_does_not_change_rows_is_allowed(lake):
    lake.run(f"CREATE MATERIALIZED TABLE m {KEY} AS {BY_REGION}")
    lake.run(
        "ALTER TABLE m CREATE TAG first; CALL sys.compact('default.m'); ANALYZE TABLE m COMPUTE STATISTICS; ALTER TABLE m DELETE TAG first"
    )
    assert rows(lake, "m") == [("eu", 2, 14), ("us", 1, 7)]


def test_a_table_like_it_is_a_plain_table(lake):
    lake.run(
        f"CREATE MATERIALIZED TABLE m {KEY} WITH ('bucket' = '2') AS {BY_REGION}; CREATE TABLE n LIKE m; INSERT INTO n VALUES ('x', 1, 1)"
    )
    assert (options(lake, "n"), rows(lake, "n")) == ({"bucket": "2"}, [("x", 1, 1)])


# -- tables of Flink


FLINKS = {
    "type": "materialized-table",
    "materialized-table.definition-query": "SELECT `orders`.`region`, COUNT(*) AS `n`\nFROM `flink_catalog`.`default`.`orders` AS `orders`\nGROUP BY `orders`.`region`",
    "materialized-table.interval-freshness": "1",
    "materialized-table.interval-freshness.time-unit": "MINUTE",
    "materialized-table.logical-refresh-mode": "AUTOMATIC",
    "materialized-table.refresh-mode": "CONTINUOUS",
    "materialized-table.refresh-status": "SUSPENDED",
}


def _flinks_table(wb, more: dict[str, str]) -> None:
    from paimon_nb.format.schema import create_schema
    from paimon_nb.format.types import parse_type

    columns = [("region", parse_type("STRING NOT NULL"), None, None), ("n", parse_type("BIGINT"), None, None)]
    wb.session.catalog.create_table(
        Identifier("default", "m"), create_schema(columns, [], ["region"], {**FLINKS, **more}, None)
    )


def test_a_table_of_flink_is_read_and_refreshed(lake):
    """Words in upper case, no dialect, another name of the catalog; its job is suspended."""
    _flinks_table(
        lake,
        {"materialized-table.refresh-handler-bytes": "AQ==", "materialized-table.refresh-handler-description": "job 1"},
    )
    assert said(lake, "ALTER MATERIALIZED TABLE m REFRESH").endswith("refreshed (built): 2 rows added, 0 removed")
    assert rows(lake, "m") == [("eu", 2), ("us", 1)]
    assert "INTERVAL '1' MINUTE" in said(lake, "SHOW CREATE MATERIALIZED TABLE m")
    with pytest.raises(UnsupportedOperation, match="only Flink can resume"):
        lake.run("ALTER MATERIALIZED TABLE m RESUME")


def test_a_table_that_a_job_of_flink_writes_is_not_refreshed(lake):
    _flinks_table(
        lake,
        {
            "materialized-table.refresh-status": "ACTIVATED",
            "materialized-table.refresh-handler-bytes": "AQ==",
            "materialized-table.refresh-handler-description": "job 1",
        },
    )
    for statement in ("REFRESH", "SUSPEND", "AS SELECT region, count(*) AS n FROM orders GROUP BY region"):
        with pytest.raises(UnsupportedOperation, match="refreshed by job 1"):
            lake.run(f"ALTER MATERIALIZED TABLE m {statement}")
    assert rows(lake, "m") == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("materialized-table.interval-freshness", "soon"),
        ("materialized-table.definition-query", "DROP TABLE orders"),
        ("materialized-table.definition-query", "SELECT 1 AS region, 1 AS n FROM orders; DROP TABLE orders"),
    ],
)
def test_a_definition_that_cannot_be_read(lake, key, value):
    _flinks_table(lake, {key: value})
    with pytest.raises(UnsupportedFormat, match="materialized table"):
        lake.run("ALTER MATERIALIZED TABLE m REFRESH")
    assert rows(lake, "orders") == [(1, "eu", 5), (2, "us", 7), (3, "eu", 9)]
