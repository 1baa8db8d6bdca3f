"""Flink's text as Spark gets to see it: only the words that differ are replaced."""

import pytest

from paimon_nb.base.errors import SqlSyntaxError
from paimon_nb.sql import parse, render
from paimon_nb.statements import AlterColumn, Insert, SetComment, SetWatermark, SparkCommand, Watermark


def said(text: str, *, flink: bool = False) -> str:
    (statement,) = parse(text)
    query = getattr(statement, "query", statement)
    return render(query, text, {ref.span: "<" + ".".join(ref.parts) + ">" for ref in query.tables}, flink=flink)


@pytest.mark.parametrize(
    ("flink", "spark"),
    [
        ("SELECT ARRAY[1, 2], MAP['k', ARRAY[1]], a[1]", "SELECT ARRAY(1, 2), MAP('k', ARRAY(1)), a[1]"),
        ("SELECT ARRAY[(SELECT x FROM u)]", "SELECT ARRAY((SELECT x FROM <u>))"),
        ("SELECT CAST(ROW(1, 'a') AS ROW<x INT>)", "SELECT CAST(struct(1, 'a') AS STRUCT<x INT>)"),
        ("SELECT x FROM b CROSS JOIN UNNEST(a) AS t(x)", "SELECT x FROM <b> CROSS JOIN LATERAL explode(a) AS t(x)"),
        ("SELECT x FROM b, LATERAL UNNEST(a)", "SELECT x FROM <b>, LATERAL explode(a)"),
        ("SELECT SPLIT_INDEX(FROM_BASE64(a), ',', 0)",
         "SELECT get(split(nullif(CAST(unbase64(a) AS STRING), ''), concat('\\\\Q', ',', '\\\\E')), 0)"),
        ("SELECT FLOOR(ts TO DAY), FLOOR(n)", "SELECT ((ts) - ((ts) - CAST((ts) AS DATE))), FLOOR(n)"),
        ("SELECT a SIMILAR TO 'x%_[%]' AND b", "SELECT a RLIKE '^(?s:x.*.[%])\\\\z' AND b"),
        ("SELECT a NOT SIMILAR TO '50!%.' ESCAPE '!'", "SELECT a NOT RLIKE '^(?s:50%\\\\.)\\\\z'"),
        ("SELECT x FROM t WHERE a BETWEEN SYMMETRIC f(1) + 2 AND -b AND c",
         "SELECT x FROM <t> WHERE a BETWEEN CASE WHEN (f(1) + 2) <= (-b) THEN f(1) + 2 ELSE -b END AND CASE WHEN (f(1) + 2) <= (-b) THEN -b ELSE f(1) + 2 END AND c"),
        ("SELECT t.a IS NOT JSON ARRAY, b IS NULL",
         "SELECT (NOT coalesce(schema_of_variant(try_parse_json(t.a )) LIKE 'ARRAY%', false)), b IS NULL"),
        ("SELECT 1 WHERE a = ANY (SELECT x FROM t) AND b <> ALL (SELECT x FROM t)", "SELECT 1 WHERE a IN (SELECT x FROM <t>) AND b NOT IN (SELECT x FROM <t>)"),
        ("SELECT ts + INTERVAL '1' DAY(3), INTERVAL '1 2' DAY(2) TO SECOND(3)", "SELECT ts + INTERVAL '1' DAY, INTERVAL '1 2' DAY TO SECOND"),
        ("SELECT CAST(TIMESTAMP '2024-03-10 02:30:00' AS TIMESTAMP(3)), TIMESTAMP '2024-03-10 02:30:00'",
         "SELECT CAST(TIMESTAMP_NTZ '2024-03-10 02:30:00' AS TIMESTAMP_NTZ), TIMESTAMP '2024-03-10 02:30:00'"),
        ("VALUES CAST('2024-03-10' AS TIMESTAMP(9)), CAST('2024-03-10 02:30:00.1234567' AS TIMESTAMP(9))",
         "VALUES CAST('2024-03-10 00:00:00.000000000' AS STRING), CAST('2024-03-10 02:30:00.123456700' AS STRING)"),
        ("VALUES CAST('2024-03-10 02:30:00.123456789' AS TIMESTAMP(7))", "VALUES CAST('2024-03-10 02:30:00.123456700' AS STRING)"),
        ("SELECT TIMESTAMP '2024-02-30 02:30:00.123456789'", "SELECT TIMESTAMP '2024-02-30 02:30:00.123456789'"),
        ("SELECT * FROM t TABLESAMPLE BERNOULLI(10) WHERE x", "SELECT * FROM <t> TABLESAMPLE (10 PERCENT) AS `t` WHERE x"),
        ("SELECT * FROM t TABLESAMPLE (5 ROWS) REPEATABLE (3) AS v", "SELECT * FROM <t> TABLESAMPLE (5 ROWS) REPEATABLE (3) AS v"),
        ("SELECT x FROM b CROSS JOIN UNNEST(a) WITH ORDINALITY AS t(x, n)",
         "SELECT x FROM <b> CROSS JOIN LATERAL inline(transform(a, (__e, __i) -> struct(__e, __i + 1)))  AS t(x, n)"),
        ("SELECT /*+ LOOKUP('table'='u') */ a FROM t, u", "SELECT  a FROM <t>, <u>"),
        ("SELECT /*+ BROADCAST(u) */ qualify, x.qualify FROM t", "SELECT /*+ BROADCAST(u) */ qualify, x.qualify FROM <t>"),
        ("SELECT w FROM b LEFT JOIN LATERAL TABLE(f(a)) AS t(w) ON TRUE", "SELECT w FROM <b> LEFT JOIN LATERAL f(a) AS t(w) ON TRUE"),
        ("SELECT w FROM b, TABLE(f(ARRAY[a])) t", "SELECT w FROM <b>, LATERAL f(ARRAY(a)) t"),
        ("SELECT U&'\\00e9', u & 'x'", "SELECT 'é', u & 'x'"),
        ("SELECT id FROM f OFFSET 1 ROW FETCH NEXT 2 ROWS ONLY", "SELECT id FROM <f> LIMIT 2 OFFSET 1"),
        ("SELECT id FROM f FETCH FIRST ROW ONLY", "SELECT id FROM <f> LIMIT 1"),
        ("SELECT id FROM f LIMIT 1 OFFSET 2", "SELECT id FROM <f> LIMIT 1 OFFSET 2"),
        ("SELECT offset, fetch FROM f", "SELECT offset, fetch FROM <f>"),
        (
            "SELECT LOCALTIMESTAMP AS LOCALTIMESTAMP, t.LOCALTIMESTAMP FROM t",
            "SELECT localtimestamp() AS LOCALTIMESTAMP, t.LOCALTIMESTAMP FROM <t>",
        ),
        ("SELECT CAST(a AS VARCHAR), CAST(a AS VARCHAR(3))", "SELECT CAST(a AS STRING), CAST(a AS VARCHAR(3))"),
        ("SELECT größe FROM maße AS 語 WHERE 語.größe = 1", "SELECT `größe` FROM <maße> AS `語` WHERE `語`.`größe` = 1"),
        ("SELECT t$files.level FROM t$files", "SELECT `t$files`.level FROM <t$files>"),
        ("SELECT c.d.t.id, d.t.x FROM c.d.t", "SELECT `t`.id, `t`.x FROM <c.d.t>"),
        ("SELECT TO_TIMESTAMP_LTZ(a, 0), TO_TIMESTAMP_LTZ(a, 3)",
         "SELECT timestamp_seconds(CAST(a AS BIGINT)), timestamp_millis(CAST(a AS BIGINT))"),
        ("WITH x AS (SELECT * FROM s) INSERT INTO t SELECT a FROM x", "WITH x AS (SELECT * FROM <s>)  SELECT a FROM x".replace("  ", " ")),
        ("FROM s INSERT INTO t (a) SELECT b", "FROM <s> SELECT b"),
    ],
)  # fmt: skip
def test_words_that_flink_says_otherwise(flink, spark):
    assert said(flink) == spark


@pytest.mark.parametrize(
    ("text", "flink"),
    [
        ("SELECT a[1], t.b[1][2], f(x)[i + 1], m['k']",
         "SELECT try_element_at(a, 1), try_element_at(try_element_at(t.b, 1), 2), try_element_at(f(x), i + 1), try_element_at(m, 'k')"),
        ("SELECT (m)[1], CASE WHEN b THEN m ELSE n END['k']", "SELECT try_element_at((m), 1), try_element_at(CASE WHEN b THEN m ELSE n END, 'k')"),
        ("SELECT d.t.a[1] FROM d.t", "SELECT try_element_at(`t`.a, 1) FROM <d.t>"),
        ("SELECT LISTAGG(v), LISTAGG(v, ';')", "SELECT listagg(v, ','), listagg(v, ';')"),
        ("SELECT CAST(f(v) AS VARCHAR(3)) || 'x'", "SELECT left(CAST(f(v) AS STRING), 3) || 'x'"),
        ("SELECT REGEXP_EXTRACT(v, 'id')", "SELECT IF((v) RLIKE ('id'), regexp_extract(v, 'id', 0), NULL)"),
        ("SELECT TRUNCATE(a[1])", "SELECT (CASE WHEN (try_element_at(a, 1)) < 0 THEN ceil(try_element_at(a, 1), 0) ELSE floor(try_element_at(a, 1), 0) END)"),
        ("SELECT TIMESTAMPADD(WEEK, n, d)", "SELECT ((d) + CAST(INTERVAL '1' DAY * (7 * (n)) AS INTERVAL DAY))"),
        ("SELECT TIMESTAMP '2024-03-10 02:30:00.5', TIMESTAMP(a)", "SELECT TIMESTAMP_NTZ '2024-03-10 02:30:00.5', TIMESTAMP(a)"),
        ("SELECT CAST(v AS CHAR(3)), EXTRACT(SECOND FROM t)", "SELECT rpad(CAST(v AS STRING), 3), CAST(second(t) AS BIGINT)"),
    ],
)  # fmt: skip
def test_what_both_say_and_flink_means_otherwise(text, flink):
    assert said(text, flink=True) == flink
    assert "try_element_at" not in said(text)


def test_a_backslash_skips_no_file():
    """Which text it is says the dialect, and the filter is found before."""
    (said, meant) = parse(r"SELECT * FROM t WHERE v = 'a\d'; SELECT * FROM t WHERE v = 'ad'")
    assert said.tables[0].filter is None
    assert meant.tables[0].filter is not None


def test_a_view_of_files_is_sparks():
    text = "CREATE OR REPLACE TEMPORARY VIEW v USING csv OPTIONS (path '/x.csv', header 'true')"
    assert [(type(s), s.text) for s in parse(text)] == [(SparkCommand, text)]


def test_an_insert_behind_its_source():
    (statement,) = parse("FROM s INSERT OVERWRITE db.t PARTITION (d = 'x') (a, b) SELECT 1, 2")
    assert isinstance(statement, Insert)
    assert (statement.target.parts, statement.columns, statement.overwrite) == (("db", "t"), ("a", "b"), True)
    assert (dict(statement.partition), statement.rows) == ({"d": "'x'"}, None)


def test_changes_of_a_table_in_other_words():
    def changes(text):
        (statement,) = parse(text)
        return statement.name, statement.changes

    hour = Watermark("ts", "ts - INTERVAL '1' HOUR")
    assert changes("ALTER TABLE t ADD WATERMARK FOR ts AS ts - INTERVAL '1' HOUR") == (
        ("t",),
        (SetWatermark("add", hour),),
    )
    assert changes("ALTER TABLE t MODIFY (WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)")[1] == (
        SetWatermark("modify", hour),
    )
    assert changes("ALTER TABLE t DROP WATERMARK")[1] == (SetWatermark("drop"),)
    assert changes("COMMENT ON TABLE d.t IS 'x'") == (("d", "t"), (SetComment("x"),))
    assert changes("COMMENT ON TABLE t IS NULL")[1] == (SetComment(None),)
    assert changes("COMMENT ON COLUMN d.t.c IS 'x'") == (("d", "t"), (AlterColumn(("c",), comment="x"),))


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("SELECT /*+ OPTIONS('scan.snapshot-id' = '1') */ * FROM t", "/*+ OPTIONS('scan.snapshot-id' = '1') */", "FROM t /*+"),
        ("WITH s AS (SELECT 1) MERGE INTO t USING s ON 1 = 1 WHEN MATCHED THEN DELETE", "MERGE", "subquery"),
        ("INSERT INTO t REPLACE WHERE a = 1 SELECT 2", "REPLACE", "INSERT OVERWRITE"),
        ("ALTER TABLE t ADD PRIMARY KEY (id) NOT ENFORCED", "PRIMARY", "another table"),
        ("ALTER TABLE t DROP CONSTRAINT k", "CONSTRAINT", "another table"),
        ("ALTER TABLE t RECOVER PARTITIONS", "RECOVER", "remove the line"),
        ("ALTER TABLE t COMPACT", "COMPACT", "CALL sys.compact"),
        ("ALTER TABLE t CLUSTER BY (id)", "CLUSTER", "clustering.columns"),
        ("ALTER TABLE t OWNER TO me", "OWNER", "remove the line"),
        ("ALTER TABLE t SET LOCATION '/x'", "LOCATION", "RENAME TO"),
        ("ALTER TABLE t PARTITION (d = 1) RENAME TO PARTITION (d = 2)", "PARTITION", "DROP PARTITION"),
        ("ALTER TABLE t DROP PARTITION (d > 1)", "(", "DELETE FROM"),
        ("ANALYZE TABLES IN d COMPUTE STATISTICS", "TABLES", "ANALYZE TABLE t"),
        ("COMMENT ON DATABASE d IS 'x'", "d", "COMMENT ON TABLE"),
        ("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A B))", "MATCH_RECOGNIZE", "LAG"),
        ("SELECT a FROM t QUALIFY rn = 1", "QUALIFY", "rn = 1"),
        ("LOAD MODULE hive", "LOAD", "remove the line"),
        ("SHOW FULL MODULES", "SHOW", "remove the line"),
        ("COMPILE PLAN 'p' FOR INSERT INTO t SELECT 1", "COMPILE", "run the INSERT"),
        ("SELECT x FROM t WHERE a SIMILAR TO b", "b", "RLIKE"),
    ],
)  # fmt: skip
def test_what_is_understood_and_not_done_here(text, place, hint):
    with pytest.raises(SqlSyntaxError) as caught:
        parse(text)
    assert text[caught.value.start : caught.value.stop] == place
    assert hint in caught.value.hint
