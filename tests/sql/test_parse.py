"""Text to plan: statements of both dialects, offsets into the user's own text, errors at the right place."""

import contextlib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paimon_nb.base.errors import SqlError, SqlSyntaxError
from paimon_nb.sql import parse, render, source_query
from paimon_nb.statements import (
    AddColumn,
    AlterDatabase,
    AlterTable,
    Call,
    CreateCatalog,
    CreateTable,
    Delete,
    Insert,
    Merge,
    Query,
    SetOption,
    Show,
    StatementSet,
    TimestampAsOf,
    Update,
    Use,
    VersionAsOf,
)


def one(text):
    (statement,) = parse(text)
    return statement


def test_a_cell_may_mix_dialects_and_comments():
    text = """
    -- Flink; not the end
    CREATE CATALOG c WITH ('type' = 'paimon', 'warehouse' = 'a;b');  /* ; */
    USE CATALOG c;
    CREATE TABLE t (id BIGINT) USING paimon TBLPROPERTIES ('primary-key' = 'id');
    SELECT ';' FROM t
    """
    assert [type(s) for s in parse(text)] == [CreateCatalog, Use, CreateTable, Query]
    assert [text[s.span.start : s.span.stop].split()[0] for s in parse(text)] == ["CREATE", "USE", "CREATE", "SELECT"]


def test_flink_create_table_with_everything():
    s = one(
        """CREATE TABLE IF NOT EXISTS db.t (
             id BIGINT COMMENT 'the ''key''', ts TIMESTAMP(3), cost AS price * 2, price DECIMAL(10,2) NOT NULL,
             timestamp TIMESTAMP(3), m MAP<STRING, ROW<a INT, b ARRAY<DOUBLE>>>, k STRING METADATA FROM 'key' VIRTUAL,
             WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
             PRIMARY KEY (id, dt) NOT ENFORCED, dt STRING,
           ) COMMENT 'all' PARTITIONED BY (dt) WITH ('bucket' = '4', -- why
             'merge-engine' = 'partial-update',)"""
    )
    d = s.definition
    assert s.name == ("db", "t")
    assert s.if_not_exists
    assert [c.name for c in d.columns] == ["id", "ts", "cost", "price", "timestamp", "m", "k", "dt"]
    assert [c.type for c in d.columns][:4] == ["BIGINT", "TIMESTAMP(3)", None, "DECIMAL(10,2) NOT NULL"]
    assert d.columns[0].comment == "the 'key'"
    assert (d.primary_keys, d.partition_keys) == (("id", "dt"), ("dt",))
    assert d.options == {"bucket": "4", "merge-engine": "partial-update"}
    assert d.watermark.column == "ts"


def test_a_bare_timestamp_is_an_instant_to_spark_and_wall_time_to_flink():
    spark = one("CREATE TABLE t (ts TIMESTAMP) USING paimon").definition.columns[0].type
    flink = one("CREATE TABLE t (ts TIMESTAMP) WITH ('bucket'='1')").definition.columns[0].type
    assert (spark, flink) == ("TIMESTAMP_LTZ(6)", "TIMESTAMP")


@pytest.mark.parametrize(
    ("text", "positional", "named"),
    [
        ("CALL sys.compact('db.t')", ("db.t",), {}),
        ("CALL sys.compact('t', '', '', 'a=1,b=2;a=3')", ("t", "", "", "a=1,b=2;a=3"), {}),
        ("CALL sys.compact(`table` => 'db.t', order_by => 'a,b')", (), {"table": "db.t", "order_by": "a,b"}),
        ("CALL sys.rollback_to('t', -3)", ("t", -3), {}),
        ("CALL c.sys.expire_snapshots(table => 't', older_than => TIMESTAMP '2024-01-01 00:00:00', x => true)", (),
         {"table": "t", "older_than": "2024-01-01 00:00:00", "x": True}),
    ],
)  # fmt: skip
def test_call_takes_positions_names_and_typed_constants(text, positional, named):
    s = one(text)
    assert isinstance(s, Call)
    assert (s.positional, dict(s.named)) == (positional, named)


def test_tables_are_found_wherever_they_stand():
    text = """WITH o AS (SELECT * FROM o) SELECT extract(year FROM x), trim(BOTH ' ' FROM y), a IS DISTINCT FROM b
              FROM `db`.`t$files` /*+ OPTIONS('scan.snapshot-id'='1', 'k'='v') */ f
              JOIN c.d.u VERSION AS OF 'tag' ON f.a = u.a, o, parquet.`/x/y`, range(3)
              WHERE z IN (SELECT k FROM v FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00') AND EXISTS (FROM w)"""
    refs = one(text).tables
    assert [(r.parts, dict(r.options), r.alias) for r in refs] == [
        (("o",), {}, None),
        (("db", "t$files"), {"scan.snapshot-id": "1", "k": "v"}, "f"),
        (("c", "d", "u"), {}, None),
        (("v",), {}, None),
        (("w",), {}, None),
    ]
    assert refs[2].travel == VersionAsOf("tag")
    assert refs[3].travel == TimestampAsOf("TIMESTAMP '2024-01-01 00:00:00'")


def test_only_the_named_places_are_replaced():
    text = "SELECT db.t.a, 'db.t' FROM db.t -- db.t"
    query = one(text)
    assert render(query, text, {query.tables[0].span: "`v` AS `t`"}) == "SELECT `t`.a, 'db.t' FROM `v` AS `t`"


def test_a_lookup_join_is_told_from_time_travel():
    (o, u) = one("SELECT * FROM o LEFT JOIN users FOR SYSTEM_TIME AS OF o.ts AS u ON o.id = u.id").tables
    assert (u.lookup, u.travel, u.alias) == (True, None, "u")
    assert not o.lookup


@pytest.mark.parametrize(
    "text",
    ["SELECT ':no'", "SELECT a::int", "SELECT m:path", "SELECT 'http://x:y' -- :no", "SELECT `:no` /* :no */"],
)
def test_what_only_looks_like_a_parameter_is_left_alone(text):
    assert one(text).parameters == ()


def test_parameters_are_named_once():
    assert one("SELECT :a, :b FROM t WHERE x = :a").parameters == ("a", "b")


def test_row_changes():
    assert one("INSERT OVERWRITE t PARTITION (dt = 'x', hh) (a, b) SELECT 1, 2").partition == {"dt": "'x'", "hh": None}
    text = "INSERT INTO TABLE db.t (a, b) VALUES (1, 'x'), (2, NULL)"
    insert = one(text)
    assert isinstance(insert, Insert)
    assert (insert.columns, len(insert.rows), insert.query) == (("a", "b"), 2, None)
    assert source_query(text, insert).text == "VALUES (1, 'x'), (2, NULL)"
    assert isinstance(one("UPDATE t AS x SET a = a + 1, s.f = (SELECT max(b) FROM u) WHERE c > 1"), Update)
    assert isinstance(one("DELETE FROM t WHERE a IN (SELECT a FROM u)"), Delete)
    merge = one(
        """MERGE INTO t USING (SELECT * FROM s) AS s ON t.id = s.id
           WHEN MATCHED AND s.del THEN DELETE WHEN MATCHED THEN UPDATE SET a = s.a, b = 1
           WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, s.a) WHEN NOT MATCHED BY SOURCE THEN DELETE"""
    )
    assert isinstance(merge, Merge)
    assert [(c.on, c.action) for c in merge.clauses] == [
        ("matched", "delete"), ("matched", "update"), ("not matched", "insert"), ("not matched by source", "delete"),
    ]  # fmt: skip


def test_statement_sets_in_both_forms():
    for text in (
        "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END",
        "BEGIN STATEMENT SET; INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END; SELECT 1",
    ):
        first = parse(text)[0]
        assert isinstance(first, StatementSet)
        assert len(first.inserts) == 2


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("SET 'execution.runtime-mode' = 'batch'", "execution.runtime-mode", "batch"),
        ("SET spark.sql.shuffle.partitions=2", "spark.sql.shuffle.partitions", "2"),
        ("SET 'paimon.*.db.t.scan.mode' = 'latest'", "paimon.*.db.t.scan.mode", "latest"),
        ("SET", None, None),
    ],
)
def test_set_in_both_dialects(text, key, value):
    s = one(text)
    assert isinstance(s, SetOption)
    assert (s.key, s.value) == (key, value)


def test_the_location_of_a_database_is_one_of_its_properties():
    [spark, flink] = parse("ALTER DATABASE d SET LOCATION '/here'; ALTER DATABASE d SET ('location' = '/here')")
    assert isinstance(spark, AlterDatabase)
    assert (spark.name, spark.options) == (flink.name, flink.options) == (("d",), {"location": "/here"})


def test_alter_table_in_both_dialects():
    spark = one("ALTER TABLE t ADD COLUMNS (a INT COMMENT 'x' AFTER b, s.f STRING)")
    flink = one("ALTER TABLE t ADD (a INT FIRST, c STRING)")
    assert isinstance(spark, AlterTable)
    assert spark.changes[0] == AddColumn(("a",), "INT", "x", after="b")
    assert flink.changes[0] == AddColumn(("a",), "INT", first=True)
    assert isinstance(one("SHOW TABLES IN db LIKE 'a*'"), Show)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("SELEC 1", "SELEC"),
        ("CREATE TABLE t (a INTT)", "INTT"),
        ("SELECT 'open", "'"),
        ("CALL sys.compact(", ""),
        ("INSERT t VALUES (1)", "t"),
        ("SELECT (1", "("),
    ],
)
def test_errors_point_at_the_users_text(text, place):
    with pytest.raises(SqlSyntaxError) as caught:
        parse(text)
    start = caught.value.start
    assert text[start : start + len(place)] == place


@pytest.mark.parametrize(
    "name", ["t", "order", "timestamp", "a.b", "t$x y", "名前", "a`b", "ünï", "SELECT", "1a", "a-b", "a'b", 'a"b']
)
def test_any_identifier_can_be_quoted(name):
    quoted = "`" + name.replace("`", "``") + "`"
    assert one(f"SELECT * FROM db.{quoted} AS x").tables[0].parts == ("db", name)


STATEMENTS = [
    "SELECT a, b FROM db.t /*+ OPTIONS('a'='b') */ WHERE x = 'y' AND z IN (1, 2)",
    "CREATE TABLE t (a INT, b MAP<STRING, ARRAY<INT>>, PRIMARY KEY (a) NOT ENFORCED) WITH ('bucket' = '1')",
    "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET a = 1",
    "CALL sys.compact('t', partitions => 'a=1')",
    "INSERT OVERWRITE t PARTITION (a = 1) SELECT * FROM x",
]


@settings(max_examples=4 * settings.default.max_examples)
@given(st.sampled_from(STATEMENTS), st.lists(st.tuples(st.integers(0, 200), st.text(max_size=4)), max_size=5))
def test_broken_statements_give_only_our_errors(text, edits):
    for place, replacement in edits:
        text = text[: place % (len(text) + 1)] + replacement + text[(place % (len(text) + 1)) + len(replacement) // 2 :]
    with contextlib.suppress(SqlError):
        parse(text)


@settings(max_examples=3 * settings.default.max_examples)
@given(st.text(alphabet=st.sampled_from("()'\"`;,.$:/*-+<> \nabSELECTfrom12"), max_size=200))
def test_garbage_gives_only_our_errors(text):
    with contextlib.suppress(SqlError):
        parse(text)


def test_deep_nesting_is_refused_with_our_error():
    with pytest.raises(SqlSyntaxError, match="nested"):
        parse("SELECT " + "(" * 5000 + "1" + ")" * 5000)


def test_every_sql_block_of_the_documents_parses(shared):
    failed = []
    for file in sorted((shared / "documents").glob("*.txt")):
        for number, block in enumerate(re.findall(r"```sql\n(.*?)```", file.read_text(), re.S | re.I)):
            if "..." in block or not re.search(r"(?i)\b(SELECT|CREATE|INSERT|CALL|SET|USE)\b", block):
                continue  # a placeholder stands for text that the reader fills in
            try:
                parse(block)
            except SqlError as error:
                failed.append((file.name, number, str(error)))
    assert failed == []


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("SELECT * FROM VALUES (2, true), (3, false) AS x(id, v), t JOIN (SELECT * FROM u) w ON true", ["t", "u"]),
        ("SELECT * FROM VALUES 1, 2, -3 AS x, db.t", ["db.t"]),
        ("SELECT * FROM (VALUES (1, (SELECT max(a) FROM q)), (2, 3)) AS x(a, b) JOIN y ON x.a = y.a", ["q", "y"]),
        ("SELECT * FROM VALUES (1), (2) x WHERE a IN (SELECT b FROM z)", ["z"]),
        ("SELECT * FROM VALUES 1 + 1, abs(-2), (3) LIMIT 2", []),
        ("SELECT * FROM `values` JOIN values.t ON true", ["values", "values.t"]),
    ],
)
def test_rows_written_in_from_are_no_tables(text, tables):
    assert [".".join(t.parts) for t in one(text).tables] == tables
