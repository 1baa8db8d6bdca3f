"""Statements about materialized tables from text: Flink's parser tests (2.3), and Spark's words for materialized views."""

import pytest

from paimon_nb.base.errors import SqlSyntaxError
from paimon_nb.sql import parse
from paimon_nb.sql.formatting import format_sql
from paimon_nb.statements import (
    AlterMaterializedTable,
    CreateMaterializedTable,
    DropMaterializedTable,
    Freshness,
    Refresh,
    RenameTable,
    ResetOptions,
    Resume,
    SetFreshness,
    SetOptions,
    SetQuery,
    SetRefreshMode,
    Show,
    ShowCreate,
    Suspend,
    Watermark,
)

HEAD = "CREATE MATERIALIZED TABLE t"


def create(text: str) -> CreateMaterializedTable:
    [made] = parse(text)
    assert isinstance(made, CreateMaterializedTable)
    return made


@pytest.mark.parametrize("words", ["CREATE", "CREATE OR ALTER"])
def test_every_clause(words):
    made = create(f"""{words} MATERIALIZED TABLE tbl1
        (ts timestamp(3), id varchar, watermark FOR ts AS ts - interval '3' second, PRIMARY KEY (id))
        COMMENT 'table comment' DISTRIBUTED BY HASH (a) INTO 4 BUCKETS PARTITIONED BY (a, h)
        WITH ('group.id' = 'latest', 'kafka.topic' = 'log.test') FRESHNESS = INTERVAL '3' MINUTES
        REFRESH_MODE = FULL START_MODE = FROM_BEGINNING AS SELECT a, b, h, t m FROM source""")
    definition = made.definition
    assert (made.name, made.or_alter, made.columns) == (("tbl1",), words != "CREATE", ())
    assert [c.name for c in definition.columns] == ["ts", "id"]
    assert definition.watermark == Watermark("ts", "ts - interval '3' second")
    assert (definition.primary_keys, definition.partition_keys) == (("id",), ("a", "h"))
    assert definition.comment == "table comment"
    assert definition.options == {"bucket-key": "a", "bucket": "4", "group.id": "latest", "kafka.topic": "log.test"}
    assert made.freshness == Freshness(3, "MINUTE")
    assert (made.refresh_mode, made.start_mode) == ("FULL", "FROM_BEGINNING")
    assert made.query is not None
    assert made.query.text == "SELECT a, b, h, t m FROM source"


def test_names_of_columns_without_types():
    assert create(f"{HEAD} (a, b, h, m) AS SELECT a, b, h, t m FROM source").columns == ("a", "b", "h", "m")
    with_key = create(f"{HEAD} (PRIMARY KEY (a, b)) AS SELECT a, b FROM source")
    assert (with_key.columns, with_key.definition.primary_keys) == ((), ("a", "b"))


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("from_beginning", "FROM_BEGINNING"),
        ("from_now", "FROM_NOW"),
        ("from_now(INTERVAL '1' HOUR)", "FROM_NOW"),
        ("from_timestamp(TIMESTAMP '2023-04-22 21:37:58')", "FROM_TIMESTAMP"),
        ("resume_or_from_beginning", "RESUME_OR_FROM_BEGINNING"),
        ("resume_or_from_now(interval '2' minutes)", "RESUME_OR_FROM_NOW"),
        (
            "resume_or_from_timestamp(TIMESTAMP WITH LOCAL TIME ZONE '2023-04-22 21:37:58')",
            "RESUME_OR_FROM_TIMESTAMP",
        ),
    ],
)
def test_start_modes(text, mode):
    assert create(f"create materialized table t start_mode = {text} as select * from s").start_mode == mode


@pytest.mark.parametrize("unit", ["SECOND", "MINUTE", "HOUR", "DAY"])
def test_units_of_the_freshness(unit):
    for word in (unit, f"{unit}S"):
        assert create(f"{HEAD} FRESHNESS = INTERVAL '7' {word} AS SELECT 1").freshness == Freshness(7, unit)


def test_sparks_words():
    made = create(
        "CREATE MATERIALIZED VIEW IF NOT EXISTS v (x COMMENT 'c', y) PARTITIONED BY (x) TBLPROPERTIES ('a' = 'b') AS SELECT 1, 2"
    )
    assert (made.is_view, made.if_not_exists, made.columns) == (True, True, ("x", "y"))
    assert (made.definition.partition_keys, made.definition.options) == (("x",), {"a": "b"})
    refreshed, whole, dropped = parse(
        "REFRESH MATERIALIZED VIEW v; REFRESH MATERIALIZED VIEW db.v FULL; DROP MATERIALIZED VIEW IF EXISTS v"
    )
    assert isinstance(refreshed, AlterMaterializedTable)
    assert (refreshed.name, refreshed.change) == (("v",), Refresh())
    assert isinstance(whole, AlterMaterializedTable)
    assert (whole.name, whole.change) == (("db", "v"), Refresh(full=True))
    assert isinstance(dropped, DropMaterializedTable)
    assert (dropped.name, dropped.if_exists) == (("v",), True)


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("SUSPEND", Suspend()),
        ("RESUME", Resume()),
        ("RESUME WITH ('group.id' = 'g', 'topic' = 't')", Resume({"group.id": "g", "topic": "t"})),
        ("REFRESH", Refresh()),
        ("REFRESH PARTITION (p1 = 2023, p2 = 'x')", Refresh({"p1": "2023", "p2": "'x'"})),
        ("SET REFRESH_MODE = FULL", SetRefreshMode("FULL")),
        ("SET FRESHNESS = INTERVAL '1' DAY", SetFreshness(Freshness(1, "DAY"))),
        ("SET ('k' = 'a', 'k' = 'b')", SetOptions({"k": "b"})),
        ("RESET ('k1', 'k2', 'k1')", ResetOptions(("k1", "k2"))),
        ("RENAME TO db.u", RenameTable(("db", "u"))),
    ],
)
def test_changes(words, change):
    [made] = parse(f"ALTER MATERIALIZED TABLE tbl1 {words}")
    assert isinstance(made, AlterMaterializedTable)
    assert (made.name, made.change) == (("tbl1",), change)


def test_another_query():
    [made] = parse("ALTER MATERIALIZED TABLE tbl1 AS SELECT * FROM t")
    assert isinstance(made, AlterMaterializedTable)
    assert isinstance(made.change, SetQuery)
    assert made.change.query.text == "SELECT * FROM t"


def test_drop_and_show():
    dropped, tables, views, text = parse(
        "DROP MATERIALIZED TABLE db.t; SHOW MATERIALIZED TABLES IN db LIKE 'x%'; SHOW MATERIALIZED VIEWS; SHOW CREATE MATERIALIZED TABLE t"
    )
    assert isinstance(dropped, DropMaterializedTable)
    assert (dropped.name, dropped.if_exists) == (("db", "t"), False)
    assert isinstance(tables, Show)
    assert (tables.what, tables.name, tables.like) == ("materialized tables", ("db",), "x%")
    assert isinstance(views, Show)
    assert views.what == "materialized tables"
    assert isinstance(text, ShowCreate)
    assert (text.what, text.name) == ("materialized table", ("t",))


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        (f"{HEAD} (a, b STRING) AS SELECT a, b FROM s", "STRING", "have no types"),
        (f"{HEAD} (a INT, b) AS SELECT a, b FROM s", None, "types"),
        (f"{HEAD} FRESHNESS = 123 AS SELECT 1", "123", "is an interval"),
        (f"{HEAD} FRESHNESS = INTERVAL 1 DAY AS SELECT 1", "INTERVAL", "is an interval"),
        (f"{HEAD} FRESHNESS = INTERVAL '-1' SECOND AS SELECT 1", "'-1'", "positive"),
        (f"{HEAD} FRESHNESS = INTERVAL '0' SECOND AS SELECT 1", "'0'", "positive"),
        (f"{HEAD} FRESHNESS = INTERVAL '1.5' SECOND AS SELECT 1", "'1.5'", "whole number"),
        (f"{HEAD} FRESHNESS = INTERVAL '1' MONTH AS SELECT 1", "MONTH", "SECOND to DAY"),
        (f"{HEAD} FRESHNESS = INTERVAL '1' YEAR AS SELECT 1", "YEAR", "SECOND to DAY"),
        (f"{HEAD} REFRESH_MODE = FULL", None, "needs the query"),
        (f"{HEAD} REFRESH_MODE = NONE AS SELECT 1", "NONE", "CONTINUOUS or FULL"),
        ("CREATE TEMPORARY MATERIALIZED TABLE t AS SELECT 1", "MATERIALIZED", "TEMPORARY"),
        ("CREATE OR REPLACE MATERIALIZED TABLE t AS SELECT 1", "MATERIALIZED", "REPLACE"),
        (f"{HEAD} LIKE s", "LIKE", "LIKE"),
        (f"{HEAD} START_MODE = FROM_NOW(TIMESTAMP '2023-04-22 21:37:58') AS SELECT 1", "TIMESTAMP", "interval"),
        (f"{HEAD} START_MODE = FROM_TIMESTAMP(INTERVAL '2' MINUTES) AS SELECT 1", "INTERVAL", "timestamp"),
        (f"{HEAD} START_MODE = FROM_TIMESTAMP AS SELECT 1", "AS", "needs a time"),
        (f"{HEAD} START_MODE = SOMETIME AS SELECT 1", "SOMETIME", "START_MODE is"),
        ("ALTER MATERIALIZED TABLE t", None, "nothing"),
        ("ALTER MATERIALIZED TABLE t SUSPEND PARTITION", "PARTITION", "unexpected"),
        ("ALTER MATERIALIZED TABLE t RESUME PARTITION", "PARTITION", "unexpected"),
        ("ALTER MATERIALIZED TABLE t REFRESH PARTITION ()", None, "needs values"),
        ("ALTER MATERIALIZED TABLE t REFRESH PARTITION (p)", None, "needs values"),
        ("ALTER MATERIALIZED TABLE t SET", None, "SET what"),
        ("ALTER MATERIALIZED TABLE t SET ()", None, "at least one"),
        ("ALTER MATERIALIZED TABLE t RESET ()", None, "at least one"),
        ("ALTER MATERIALIZED TABLE t RESET", None, "expected"),
        ("ALTER MATERIALIZED TABLE t SET REFRESH_MODE", None, "expected '='"),
        ("ALTER MATERIALIZED TABLE t ADD c INT", "ADD", "its columns and keys are those of its query"),
        ("ALTER MATERIALIZED TABLE t MODIFY c INT", "MODIFY", "those of its query"),
        ("ALTER MATERIALIZED TABLE t DROP PRIMARY KEY", "DROP", "those of its query"),
        ("ALTER MATERIALIZED TABLE t AS SELECT * FROM s AS", None, "expected"),
        ("DROP MATERIALIZED TABLE t IF EXISTS", "IF", "unexpected"),
        ("DROP TEMPORARY MATERIALIZED TABLE t", "MATERIALIZED", "TEMPORARY"),
    ],
)
def test_errors_have_their_place(text, at, words):
    with pytest.raises(SqlSyntaxError, match=words) as caught:
        parse(text)
    if at is not None:
        assert text[caught.value.facts["start"] : caught.value.facts["stop"]] == at


def test_materialized_is_a_name_elsewhere():
    """Only MATERIALIZED TABLE and VIEW after the verb are these statements."""
    assert [type(s).__name__ for s in parse("CREATE TABLE materialized (id INT); DROP TABLE materialized; SELECT 1 AS materialized")] == [
        "CreateTable", "DropTable", "Query",
    ]  # fmt: skip


def test_formatting_knows_the_words():
    text = (
        "create materialized table t freshness = interval '5' second refresh_mode = full as select a from s where b=1"
    )
    assert format_sql(text).text == (
        "CREATE MATERIALIZED TABLE t\nFRESHNESS = INTERVAL '5' second\nREFRESH_MODE = FULL\nAS SELECT a\nFROM s\nWHERE b = 1"
    )
    assert format_sql("alter materialized table t set freshness = interval '5' second").text == (
        "ALTER MATERIALIZED TABLE t SET FRESHNESS = INTERVAL '5' second"
    )
