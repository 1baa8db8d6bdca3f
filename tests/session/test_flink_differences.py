"""Where random sessions in real Flink and here once differed: the fewest statements, and Flink's answer."""

import pytest

from paimon_nb.base.errors import (
    AlreadyExists,
    BadOptionValue,
    FixedOption,
    InvalidName,
    SqlAnalysisError,
    UnsupportedOperation,
)


@pytest.fixture
def flink(wb):
    wb.run("SET 'execution.runtime-mode' = 'batch'")
    return wb


@pytest.fixture
def flink_queries(swb):
    swb.run("SET 'execution.runtime-mode' = 'batch'")
    return swb


def test_a_partition_is_added_once(flink):
    flink.run("CREATE TABLE p (a INT, dt STRING, h INT) PARTITIONED BY (dt, h); INSERT INTO p VALUES (1, 'x', 7)")
    with pytest.raises(AlreadyExists, match=r"p already has partition \(dt = x, h = 7\)") as refused:
        flink.run("ALTER TABLE p ADD PARTITION (dt = 'x', h = 7)")
    assert refused.value.hint == "ADD IF NOT EXISTS PARTITION"
    flink.run(
        "ALTER TABLE p ADD IF NOT EXISTS PARTITION (dt = 'x', h = 7); ALTER TABLE p ADD PARTITION (dt = 'y', h = 7)"
    )
    assert len(flink.table("p").snapshots()) == 1
    with pytest.raises(UnsupportedOperation, match="t is not partitioned"):
        flink.run("CREATE TABLE t (a INT); ALTER TABLE t ADD PARTITION (a = 1)")


def test_a_partition_of_dates_and_times_is_added_once(flink):
    flink.run("""
        CREATE TABLE p (a INT, d DATE, t TIMESTAMP(3)) PARTITIONED BY (d, t);
        INSERT INTO p VALUES (1, DATE '1969-12-31', TIMESTAMP '1900-01-01 23:59:59.123')
    """)
    with pytest.raises(AlreadyExists, match="p already has partition"):
        flink.run("ALTER TABLE p ADD PARTITION (d = '1969-12-31', t = '1900-01-01 23:59:59.123')")
    flink.run("ALTER TABLE p ADD PARTITION (d = '1970-01-01', t = '1900-01-01 23:59:59.123')")


def test_partitions_of_dates_and_times_are_shown(flink):
    flink.run("""
        CREATE TABLE p (a INT, d DATE, t TIMESTAMP(3)) PARTITIONED BY (d, t);
        INSERT INTO p VALUES (1, DATE '1970-01-01', TIMESTAMP '9999-12-31 12:34:56'), (2, NULL, NULL)
    """)

    def shown(partition):
        return flink.run(f"SHOW PARTITIONS p PARTITION ({partition})").arrow.column(0).to_pylist()

    known = "d=0/t=9999-12-31T12:34:56"
    assert shown("d = '1970-01-01', t = '9999-12-31 12:34:56'") == shown("d = DATE '1970-01-01'") == [known]
    assert shown("d = '1970-01-02'") == []
    assert shown("d = '__DEFAULT_PARTITION__'") == ["d=__DEFAULT_PARTITION__/t=__DEFAULT_PARTITION__"]
    with pytest.raises(BadOptionValue, match="'x' is not a value for partition column d of type DATE"):
        shown("d = 'x'")


@pytest.mark.parametrize(
    ("options", "waiting"),
    [
        ("'bucket' = '-2', 'postpone.batch-write-fixed-bucket' = 'false'", 0),
        ("'bucket' = '1', 'merge-engine' = 'first-row', 'write-only' = 'true'", 1),
    ],
)
def test_a_partition_whose_rows_wait_for_a_compaction_is_shown_where_they_have_a_bucket(flink, options, waiting):
    flink.run(f"""
        CREATE TABLE t (k INT, p INT, PRIMARY KEY (k, p) NOT ENFORCED) PARTITIONED BY (p) WITH ({options});
        INSERT INTO t VALUES (1, 1)
    """)
    assert (flink.run("SHOW PARTITIONS t").arrow.num_rows, flink.table("t").to_arrow().num_rows) == (waiting, 0)
    flink.run("ALTER TABLE t SET ('write-only' = 'false'); CALL sys.compact('default.t')")
    assert (flink.run("SHOW PARTITIONS t").arrow.num_rows, flink.table("t").to_arrow().num_rows) == (1, 1)


@pytest.mark.spark
def test_a_delete_drops_partitions_for_equalities_alone(flink_queries):
    flink_queries.run("""
        CREATE TABLE t (id INT, p INT, b BOOLEAN, PRIMARY KEY (id, p, b) NOT ENFORCED) PARTITIONED BY (p, b)
        WITH ('bucket' = '1', 'write-only' = 'true');
        INSERT INTO t VALUES (1, 1, TRUE), (2, 2, TRUE), (3, 3, TRUE), (4, 4, TRUE), (5, 5, FALSE);
        DELETE FROM t WHERE p <> 1 AND p < 3;
        DELETE FROM t WHERE b = FALSE;
        DELETE FROM t WHERE NOT p <> 3;
        DELETE FROM t WHERE p IN (4)
    """)
    snapshots = flink_queries.table("t").snapshots().to_pylist()
    assert [(s["commit_kind"], s["delta_record_count"]) for s in snapshots[1:]] == [
        ("APPEND", 1), ("APPEND", 1), ("OVERWRITE", -1), ("OVERWRITE", -1),
    ]  # fmt: skip
    assert flink_queries.table("t").to_arrow().to_pylist() == [{"id": 1, "p": 1, "b": True}]


@pytest.mark.parametrize("engine", ["first-row", "aggregation", "partial-update"])
@pytest.mark.parametrize("where", ["", " WHERE p = 1"])
def test_a_merge_engine_without_deletes_takes_none_of_partitions_either(flink, engine, where):
    flink.run(f"""
        CREATE TABLE t (id INT, p INT, PRIMARY KEY (id, p) NOT ENFORCED) PARTITIONED BY (p)
        WITH ('bucket' = '1', 'merge-engine' = '{engine}')
    """)
    with pytest.raises(UnsupportedOperation, match=f"merge engine {engine} does not support DELETE"):
        flink.run(f"DELETE FROM t{where}")


@pytest.mark.spark
def test_a_partition_is_not_given_as_null(flink_queries):
    flink_queries.run("CREATE TABLE t (a INT, p INT) PARTITIONED BY (p)")
    for statement in (
        "INSERT INTO t PARTITION (p = NULL) VALUES (1)", "SHOW PARTITIONS t PARTITION (p = NULL)",
        "ALTER TABLE t DROP PARTITION (p = NULL)",
    ):  # fmt: skip
        with pytest.raises(SqlAnalysisError, match="partition column 'p' cannot be given as NULL"):
            flink_queries.run(statement)


@pytest.mark.spark
def test_substr_from_before_the_start_is_empty(flink_queries):
    query = "SELECT SUBSTR(v, -2), SUBSTRING(v, -1, 1), SUBSTR(v, CAST(-2 AS INT), 1), SUBSTRING(v FROM 1 FOR 1) FROM (VALUES ('A'), ('xyz'), ('')) AS t(v)"
    assert [tuple(r) for r in flink_queries.sql(query).collect()] == [
        ("", "A", "", "A"),
        ("yz", "z", "y", "x"),
        ("", "", "", ""),
    ]


@pytest.mark.spark
def test_create_table_as_keeps_the_types_of_selected_columns(flink_queries):
    flink_queries.run("""
        CREATE TABLE t (
            k INT NOT NULL, c CHAR(4), v VARCHAR(7) NOT NULL, t3 TIMESTAMP(3), t9 TIMESTAMP(9), l TIMESTAMP_LTZ(3), b BINARY(3),
            r ROW<a CHAR(2), b TIMESTAMP(0)>
        );
        INSERT INTO t VALUES (
            1, 'ab', 'x', TIMESTAMP '2024-02-29 12:34:56.789', TIMESTAMP '2024-02-29 12:34:56.123456789',
            CAST(TIMESTAMP '2024-02-29 12:34:56.789' AS TIMESTAMP_LTZ(3)), x'0102', NULL
        );
        CREATE TABLE same AS SELECT * FROM t WHERE k > 0 ORDER BY k LIMIT 5;
        CREATE TABLE some AS SELECT v AS w, k + 1 AS k, t9 FROM t
    """)
    same, some = (flink_queries.table(name).schema.fields for name in ("same", "some"))
    assert [(f.name, str(f.type)) for f in same] == [
        (f.name, str(f.type)) for f in flink_queries.table("t").schema.fields
    ]
    assert [(f.name, str(f.type)) for f in some] == [("w", "VARCHAR(7) NOT NULL"), ("k", "INT"), ("t9", "TIMESTAMP(9)")]
    assert flink_queries.table("same").to_arrow() == flink_queries.table("t").to_arrow()


@pytest.mark.spark
def test_create_table_as_of_two_tables_has_spark_types(flink_queries):
    flink_queries.run("""
        CREATE TABLE t (k INT NOT NULL, v VARCHAR(7) NOT NULL);
        CREATE TABLE made AS SELECT a.k, b.v FROM t a LEFT JOIN t b ON a.k = b.k
    """)
    assert [str(f.type) for f in flink_queries.table("made").schema.fields] == ["INT", "STRING"]


@pytest.mark.spark
def test_null_beside_nanoseconds_in_values(flink):
    flink.run("""
        CREATE TABLE t (ts TIMESTAMP(9), id INT);
        INSERT INTO t VALUES (CAST(NULL AS TIMESTAMP(9)), 1), (CAST('2038-01-19 12:34:56.123456789' AS TIMESTAMP(9)), 2)
    """)
    rows = flink.table("t").to_arrow().sort_by("id").column("ts")
    assert [None if not r.is_valid else r.value for r in rows] == [None, 2147517296123456789]


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["TIME", "TIME(0)"])
def test_a_timestamp_is_cast_to_its_time_of_day(flink_queries, kind):
    flink_queries.run(
        "CREATE TABLE t (ts TIMESTAMP(3)); INSERT INTO t VALUES (TIMESTAMP '2024-02-29 12:34:56.789'), (NULL)"
    )
    frame = flink_queries.sql(
        f"SELECT CAST(ts AS {kind}), CAST('12:00:01' AS {kind}), CAST(CAST(ts AS DATE) AS STRING) FROM t"
    )
    times = {tuple(str(v) for v in row) for row in frame.collect()}
    assert times == {
        ("12:34:56.789000" if kind == "TIME" else "12:34:56.789", "12:00:01", "2024-02-29"),
        ("None", "12:00:01", "None"),
    }


@pytest.mark.spark
def test_a_cast_to_fewer_digits_drops_the_others(flink_queries):
    """A TIMESTAMP of Spark has always six digits."""
    flink_queries.run("""
        CREATE TABLE t (ts TIMESTAMP(6), l TIMESTAMP_LTZ(6));
        INSERT INTO t VALUES (TIMESTAMP '2024-02-29 12:34:56.789123', CAST(TIMESTAMP '2024-02-29 12:34:56.789123' AS TIMESTAMP_LTZ(6)))
    """)
    row = flink_queries.sql("""
        SELECT CAST(ts AS TIMESTAMP(0)), CAST(ts AS TIMESTAMP(3)), TRY_CAST(ts AS TIMESTAMP(1)), CAST(ts AS TIMESTAMP(6)),
          CAST(l AS TIMESTAMP_LTZ(3)), MIN(CAST(TIMESTAMP '2024-02-29 12:34:56.789' AS TIMESTAMP(0))),
          CAST('2024-02-29 12:34:56.789' AS TIMESTAMP(1)), CAST(CAST(NULL AS TIMESTAMP(3)) AS TIMESTAMP(0))
        FROM t GROUP BY ts, l
    """).first()
    digits = [None if v is None else v.microsecond for v in row]
    assert digits == [0, 789000, 700000, 789123, 789000, 0, 700000, None]
    assert {v.second for v in row if v is not None} == {56}
    far = "CAST(TIMESTAMPADD(MONTH, 1, TIMESTAMP '9999-12-31 12:34:56.7') AS TIMESTAMP({}))"
    late = flink_queries.sql(f"SELECT EXTRACT(YEAR FROM {far.format(0)}), EXTRACT(YEAR FROM {far.format(1)})").first()
    assert tuple(late) == (10000, 10000)


@pytest.mark.spark
def test_a_time_has_whole_seconds(flink_queries):
    flink_queries.run(
        "CREATE TABLE t (c TIME(0)); INSERT INTO t VALUES (CAST('00:00:07.125' AS TIME(0))), (CAST(NULL AS TIME(0)))"
    )
    assert sorted(map(str, flink_queries.table("t").to_arrow().column("c").to_pylist())) == ["00:00:07", "None"]


@pytest.mark.spark
@pytest.mark.parametrize("condition", ["TRUE", "1 = 1 AND CAST('true' AS BOOLEAN)"])
def test_delete_by_a_constant_empties_the_table(flink_queries, condition):
    """As without WHERE: one OVERWRITE, even where a column holds the row kind."""
    flink_queries.run(f"""
        CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v STRING) WITH ('bucket' = '1', 'rowkind.field' = 'v');
        INSERT INTO t VALUES (1, '+I'), (2, '+I'); DELETE FROM t WHERE {condition}
    """)
    assert flink_queries.table("t").to_arrow().num_rows == 0
    assert flink_queries.table("t").snapshots().column("commit_kind").to_pylist() == ["APPEND", "OVERWRITE"]


@pytest.mark.spark
def test_delete_of_no_row_is_refused_where_a_row_would_be(flink_queries):
    flink_queries.run("""
        CREATE TABLE t (k INT, dt STRING, v STRING, PRIMARY KEY (k, dt) NOT ENFORCED) PARTITIONED BY (dt)
        WITH ('bucket' = '1', 'merge-engine' = 'partial-update');
        INSERT INTO t VALUES (1, 'a', 'x')
    """)
    with pytest.raises(UnsupportedOperation, match="partial-update does not support DELETE"):
        flink_queries.run("DELETE FROM t WHERE FALSE")


@pytest.mark.parametrize("name", ["t$branch_b", "t$snapshots", "t$branch_b$files"])
@pytest.mark.parametrize(
    "statement",
    ["DROP TABLE `{}`", "DROP TABLE IF EXISTS `{}`", "ALTER TABLE `{}` RENAME TO u", "ALTER TABLE t RENAME TO `{}`"],
)
def test_a_branch_or_system_table_is_neither_dropped_nor_renamed(flink, name, statement):
    """`DROP TABLE t$branch_b` once dropped t."""
    flink.run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1); CALL sys.create_branch('t', 'b')")
    with pytest.raises(InvalidName, match=r"is a (branch|system table)"):
        flink.run(statement.format(name))
    assert flink.table("t").to_arrow().num_rows == 1
    assert flink.table("t").branches().num_rows == 1


def test_partitions_of_a_table_without_partitions_do_not_expire(flink):
    flink.run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1)")
    with pytest.raises(UnsupportedOperation, match="t is not partitioned"):
        flink.run(
            "CALL sys.expire_partitions(`table` => 't', expiration_time => '1 d', timestamp_formatter => 'yyyy-MM-dd')"
        )
    assert flink.table("t").to_arrow().num_rows == 1


@pytest.mark.parametrize("option", ["'bucket' = '5'", "'merge-engine' = 'first-row'", "'rowkind.field' = 'v'"])
@pytest.mark.parametrize("name", ["t", "t$audit_log", "t$ro"])
def test_a_hint_changes_no_option_that_files_depend_on(flink, name, option):
    flink.run(
        "CREATE TABLE t (a INT PRIMARY KEY NOT ENFORCED, v STRING) WITH ('bucket' = '2'); INSERT INTO t VALUES (1, 'x')"
    )
    with pytest.raises(FixedOption, match="cannot be changed for one statement"):
        flink.run(f"SELECT * FROM `{name}` /*+ OPTIONS({option}) */")
    assert flink.table("t", bucket="2").to_arrow().num_rows == 1


@pytest.mark.parametrize("write_only", ["true", "false"])
def test_postponed_rows_of_a_write_only_table_with_vectors_are_compacted(flink, write_only):
    """They once stayed in level 0, which a table with deletion vectors does not read."""
    flink.run(f"""
        CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v STRING)
        WITH ('bucket' = '-2', 'write-only' = '{write_only}', 'deletion-vectors.enabled' = 'true');
        INSERT INTO t VALUES (1, 'a'), (2, 'b');
        INSERT INTO t VALUES (1, 'c');
        CALL sys.compact('t')
    """)
    assert sorted(flink.table("t").to_arrow().column("v").to_pylist()) == ["b", "c"]
    assert flink.table("t").files().column("level").to_pylist() == [5]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        ("OVERLAY('abc' PLACING 'xy' FROM 3)", "abxy"),
        ("OVERLAY('abc' PLACING 'xy' FROM 4)", "abc"),
        ("OVERLAY('' PLACING 'xy' FROM 1)", ""),
        ("OVERLAY('abc' PLACING 'xy' FROM 0 FOR 1)", "abc"),
        ("OVERLAY('abcdef' PLACING 'x' FROM 2 FOR 3)", "axef"),
        ("OVERLAY('abcdef' PLACING 'x' FROM 2 FOR 0)", "ax"),
        ("OVERLAY('abcdef' PLACING '' FROM 2)", "a"),
        ("OVERLAY('abc' PLACING CAST(NULL AS STRING) FROM 9)", None),
        ("OVERLAY(CAST(NULL AS STRING) PLACING 'x' FROM 1)", None),
        ("SUBSTRING('abc' FROM -4 FOR 2)", ""),
        ("SUBSTRING('abc' FROM -2 FOR 2)", "bc"),
        ("INITCAP('aBc dEF_gH-1x')", "Abc Def_Gh-1x"),
        ("INITCAP('日 éb😀x')", "日 éB😀X"),
        ("INITCAP('')", ""),
        ("INITCAP(CAST(NULL AS STRING))", None),
        ("LPAD('abc', -1, 'x')", None),
        ("RPAD('abc', 2, '')", None),
        ("LPAD('abc', 0, 'x')", ""),
        ("RPAD('abc', 2 + 3, 'xy')", "abcxy"),
        ("ASCII('日')", -26),
        ("ASCII('é') + ASCII('😀')", -77),
        ("ASCII('')", 0),
        ("ASCII('ab')", 97),
        ("ASCII(CAST(NULL AS STRING))", None),
    ],
)
def test_functions_of_texts(flink_queries, call, answer):
    """Flink's answers."""
    assert flink_queries.sql(f"SELECT {call} AS x").first()["x"] == answer


def test_distinct_of_maps(flink_queries):
    flink_queries.run("""
        CREATE TABLE t (k INT, m MAP<STRING, INT>);
        INSERT INTO t VALUES (1, MAP['a', 1, 'b', 2]), (1, MAP['b', 2, 'a', 1]), (2, CAST(NULL AS MAP<STRING, INT>))
    """)

    def rows(query):
        return [tuple(r) for r in flink_queries.sql(query).collect()]

    assert rows("SELECT DISTINCT k, MAP['x', 7] AS c FROM t ORDER BY k DESC") == [(2, {"x": 7}), (1, {"x": 7})]
    assert rows("SELECT DISTINCT 1, MAP['x', 7] FROM t WHERE k > 5") == []
    assert rows("SELECT DISTINCT * FROM t ORDER BY k LIMIT 5") == [(1, {"a": 1, "b": 2}), (2, None)]
    assert rows(
        "SELECT COUNT(*) FROM (SELECT DISTINCT m FROM t) AS x JOIN (SELECT DISTINCT k FROM t) AS y ON TRUE"
    ) == [(4,)]
    assert rows("SELECT DISTINCT k, MAX(k), MAP['x', k] FROM t GROUP BY k HAVING k = 1") == [(1, 1, {"x": 1})]
    flink_queries.run("INSERT INTO t SELECT DISTINCT 3, MAP['x', 7] FROM t")
    assert rows("SELECT m FROM t WHERE k = 3") == [({"x": 7},)]
