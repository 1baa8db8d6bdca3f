"""What the Spark suites of Java Paimon ask of a table: its rows, its refusals, its texts."""

import json
import re

import pytest
from sampling import sampled

from paimon_nb.base.errors import (
    BadOptionValue,
    PaimonError,
    SchemaMismatch,
    SqlAnalysisError,
    UnknownName,
    UnsupportedOperation,
)


def rows(wb, text: str) -> list[tuple]:
    return sorted((tuple(r) for r in wb.sql(text).collect()), key=repr)


def test_default_null_is_no_default(wb):
    wb.run("""
        CREATE TABLE t (
            id INT, s STRING DEFAULT NULL, n INT DEFAULT NULL, m MAP<STRING, INT> DEFAULT null,
            c INT DEFAULT CAST(NULL AS INT), q STRING DEFAULT 'NULL', z STRING DEFAULT 'old'
        );
        INSERT INTO t (id) VALUES (1);
        ALTER TABLE t ALTER COLUMN z SET DEFAULT NULL;
        ALTER TABLE t ADD COLUMN d INT DEFAULT NULL;
        INSERT INTO t (id) VALUES (2)
    """)
    none = {"s": None, "n": None, "m": None, "c": None, "q": "NULL", "d": None}
    assert wb.table("t").to_arrow().sort_by("id").to_pylist() == [
        {"id": 1, "z": "old", **none},
        {"id": 2, "z": None, **none},
    ]
    assert [f.default_value for f in wb.table("t").schema.fields] == [None] * 5 + ["NULL"] + [None] * 2


@pytest.mark.spark
def test_a_default_that_java_stored_with_its_quotes(swb):
    swb.run("""
        CREATE TABLE t (id INT, s STRING, m MAP<STRING, INT> DEFAULT MAP(a, 1));
        CALL sys.alter_column_default_value('t', 's', '''text''');
        INSERT INTO t (id) VALUES (1);
        INSERT INTO t (id) SELECT 2;
        INSERT INTO t VALUES (3, 'x', NULL), (4, concat('te', 'xt'), DEFAULT);
        UPDATE t SET s = DEFAULT WHERE id = 3
    """)
    assert rows(swb, "SELECT * FROM t") == [(i, "text", {"a": 1}) for i in (1, 2, 3, 4)]


TWISTED = "named_struct('nick', 'k', 'name', 'n')"


@pytest.mark.nightly
@pytest.mark.spark
def test_nested_fields_are_matched_by_name_where_columns_are(swb):
    swb.run("CREATE TABLE t (id INT, s STRUCT<name: STRING, nick: STRING>)")
    swb.run(f"INSERT INTO t BY NAME SELECT {TWISTED} AS s, 1 AS id")
    swb.run(f"INSERT INTO t (s, id) SELECT {TWISTED}, 2")
    frame = swb.spark.sql(f"SELECT {TWISTED} AS s, 3 AS id")
    frame.writeTo("t").append()
    frame.write.mode("append").saveAsTable("t")
    swb.run(f"""
        MERGE INTO t USING (SELECT 5 AS id, {TWISTED} AS s) x ON t.id = x.id WHEN NOT MATCHED THEN INSERT *;
        INSERT INTO t VALUES (6, NULL);
        UPDATE t SET s = {TWISTED} WHERE id = 6;
        INSERT INTO t BY NAME SELECT 7 AS id, CAST(NULL AS STRUCT<nick: STRING, name: STRING>) AS s
    """)
    assert rows(swb, "SELECT id, s.name, s.nick FROM t") == [
        *((i, "n", "k") for i in (1, 2, 3, 3, 5, 6)),
        (7, None, None),
    ]
    assert rows(swb, "SELECT id FROM t WHERE s IS NULL") == [(7,)]
    swb.run(f"INSERT INTO t SELECT 8, {TWISTED}")  # columns by position, and so the fields
    assert rows(swb, "SELECT s.name, s.nick FROM t WHERE id = 8") == [("k", "n")]


@pytest.mark.spark
def test_fields_of_elements_keys_and_values_are_matched_by_name(swb):
    swb.run("""
        CREATE TABLE t (
            a ARRAY<STRUCT<name: STRING, n: INT>>, m MAP<STRUCT<x: INT, y: STRING>, STRUCT<p: INT, q: STRUCT<b: INT, c: STRING>>>
        );
        INSERT INTO t BY NAME SELECT
            array(named_struct('n', 1L, 'name', 'one'), NULL) AS a,
            map(named_struct('Y', 'y', 'X', 1), named_struct('q', named_struct('c', 'c', 'b', 2), 'p', 3)) AS m
    """)
    assert swb.table("t").to_arrow().to_pylist() == [
        {
            "a": [{"name": "one", "n": 1}, None],
            "m": [({"x": 1, "y": "y"}, {"p": 3, "q": {"b": 2, "c": "c"}})],
        }
    ]


@pytest.mark.spark
@pytest.mark.parametrize("source", ["named_struct('name', 'n')", "named_struct('name', 'n', 'nick', 'k', 'x', 1)"])
def test_fields_that_are_missing_or_unknown_are_refused(swb, source):
    swb.run("CREATE TABLE t (id INT, s STRUCT<name: STRING, nick: STRING>)")
    with pytest.raises(SchemaMismatch, match="'s'"):
        swb.run(f"INSERT INTO t BY NAME SELECT 1 AS id, {source} AS s")
    with pytest.raises(SchemaMismatch, match="'s'"):
        swb.run(f"MERGE INTO t USING (SELECT 5 AS id, {source} AS s) x ON t.id = x.id WHEN NOT MATCHED THEN INSERT *")
    assert rows(swb, "SELECT * FROM t") == []


@pytest.mark.nightly
@pytest.mark.spark
def test_a_merged_column_is_null_in_older_rows_whatever_its_fields_say(swb):
    swb.run("CREATE TABLE w (a INT, b STRUCT<name: STRING, nick: STRING>); INSERT INTO w VALUES (1, NULL)")
    swb.run("SET spark.paimon.write.merge-schema = true")
    try:
        swb.run("""
            INSERT INTO w BY NAME SELECT 2 a, named_struct('nick', 'k', 'more', 7, 'name', 'n') b,
                struct('x', 1, 1.5, DATE '2024-01-01', array(1), map('k', 1), struct(true)) s, parse_json('[1]') v;
            INSERT INTO w BY NAME SELECT 3 a, named_struct('nick', 'q') b
        """)
    finally:
        swb.run("RESET spark.paimon.write.merge-schema")
    found = [(1, None, None, None), (2, ("n", "k", 7), "x", "[1]"), (3, (None, "q", None), None, None)]
    swb.run("INSERT INTO w SELECT * FROM w")
    text = "SELECT a, b, s.col1, to_json(v) FROM w"
    assert rows(swb, text) == sorted([*found, *found])
    swb.run("CALL sys.compact(table => 'w')")
    assert rows(swb, text) == sorted([*found, *found])
    assert [r["s"] and r["s"]["col7"] for r in swb.table("w").to_arrow().sort_by("a").to_pylist()][::2] == [
        None, {"col1": True}, None,
    ]  # fmt: skip


@pytest.mark.spark
@pytest.mark.parametrize("format", sampled(["parquet", "orc", "avro"], 3))
def test_null_beside_required_fields(swb, format):
    swb.run(f"""
        CREATE TABLE t (id INT, s STRUCT<a: INT NOT NULL, b: STRUCT<c: STRING NOT NULL> NOT NULL>, l ARRAY<STRUCT<x: BIGINT NOT NULL>>)
        TBLPROPERTIES ('file.format' = '{format}');
        INSERT INTO t VALUES (1, struct(1, struct('x')), array(struct(1L), NULL)), (2, NULL, NULL);
        CREATE TABLE v (id INT, v VARIANT);
        INSERT INTO v VALUES (1, parse_json('1')), (2, NULL)
    """)
    assert rows(swb, "SELECT id, to_json(v) FROM v") == [(1, "1"), (2, None)]
    assert rows(swb, "SELECT id, s.a, s.b.c, l[0].x, s IS NULL, l[1] IS NULL FROM t") == [
        (1, 1, "x", 1, False, True), (2, None, None, None, True, True),
    ]  # fmt: skip


def increment(wb, table: str, start: str, end: str) -> list[tuple]:
    return rows(wb, f"SELECT * FROM paimon_incremental_query('{table}', '{start}', '{end}')")


@pytest.mark.spark
def test_the_audit_log_between_tags_tells_deletes_behind_a_compaction(swb):
    swb.run("""
        CREATE TABLE t (id INT, v STRING) TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1', 'write-only' = 'true');
        INSERT INTO t VALUES (1, 'a');
        INSERT INTO t VALUES (2, 'b');
        CALL sys.create_tag(table => 't', tag => 'one');
        CALL sys.compact(table => 't');
        DELETE FROM t WHERE id = 1;
        INSERT INTO t VALUES (3, 'c');
        CALL sys.create_tag(table => 't', tag => 'two')
    """)
    assert increment(swb, "`t$audit_log`", "one", "two") == [("+I", 3, "c"), ("-D", 1, "a")]
    assert increment(swb, "default.`t$audit_log`", "one", "two") == [("+I", 3, "c"), ("-D", 1, "a")]
    assert increment(swb, "t", "one", "two") == [(3, "c")]
    assert increment(swb, "t$audit_log", "3", "4") == [("-D", 1, "a")]


@pytest.mark.nightly
@pytest.mark.spark
def test_tags_before_and_after_a_change_of_buckets(swb):
    swb.run("""
        CREATE TABLE t (a INT, b INT) TBLPROPERTIES ('primary-key' = 'a', 'bucket' = '1');
        INSERT INTO t VALUES (1, 11), (2, 22);
        CALL sys.create_tag(table => 't', tag => '2024-01-01');
        ALTER TABLE t SET TBLPROPERTIES ('bucket' = '2');
        INSERT OVERWRITE t SELECT * FROM t;
        INSERT INTO t VALUES (3, 33);
        CALL sys.create_tag(table => 't', tag => '2024-01-03');
        DELETE FROM t WHERE a = 1;
        UPDATE t SET b = 222 WHERE a = 2;
        CALL sys.create_tag(table => 't', tag => '2024-01-05')
    """)
    assert increment(swb, "t", "2024-01-01", "2024-01-03") == [(3, 33)]
    assert increment(swb, "t", "2024-01-01", "2024-01-05") == [(2, 222), (3, 33)]
    assert increment(swb, "`t$audit_log`", "2024-01-01", "2024-01-05") == [
        ("+I", 3, 33), ("+U", 2, 222), ("-D", 1, 11),
    ]  # fmt: skip


@pytest.mark.spark
def test_names_of_system_tables_in_any_case(swb):
    swb.run("CREATE TABLE T (id INT); INSERT INTO T VALUES (1)")
    assert rows(swb, "SELECT record_count FROM `T$FILES`") == [(1,)]
    assert rows(swb, "SELECT rowkind, id FROM `T$Audit_Log`") == [("+I", 1)]


@pytest.mark.spark
def test_a_reader_by_path_takes_the_settings_of_the_session(swb, tmp_path):
    spark = swb.spark
    swb.run("CREATE TABLE t (id INT); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)")
    place = str(tmp_path / "w" / "default.db" / "t")

    def ids(reader) -> list[int]:
        return sorted(r.id for r in reader.collect())

    swb.run("SET spark.paimon.scan.snapshot-id = 1")
    try:
        assert ids(spark.read.format("paimon").load(place)) == [1]
        assert ids(spark.read.format("paimon").option("scan.snapshot-id", "2").load(place)) == [1, 2]
    finally:
        swb.run("RESET spark.paimon.scan.snapshot-id")
    assert ids(spark.read.format("paimon").load(place)) == [1, 2]


@pytest.mark.spark
def test_readers_of_a_branch(swb, tmp_path):
    spark = swb.spark
    swb.run("""
        CREATE TABLE t (id INT);
        INSERT INTO t VALUES (1);
        CALL sys.create_tag('t', 'one');
        CALL sys.create_branch('t', 'br', 'one');
        INSERT INTO t VALUES (2);
        INSERT INTO t$branch_br VALUES (9)
    """)
    place = str(tmp_path / "w" / "default.db" / "t")

    def ids(frame) -> list[int]:
        return sorted(r.id for r in frame.collect())

    for reader in (spark.read.format("paimon").option("branch", "br"), spark.read.option("branch", "br")):
        assert ids(reader.table("t")) == [1, 9]
    assert ids(spark.read.format("paimon").option("branch", "br").load(place)) == [1, 9]
    assert ids(spark.read.format("paimon").option("branch", "main").load(place)) == ids(spark.table("t")) == [1, 2]
    spark.sql("SELECT 5 AS id").write.format("paimon").option("branch", "br").mode("append").save(place)
    assert (ids(spark.table("`t$branch_br`")), ids(spark.table("t"))) == ([1, 5, 9], [1, 2])


def levels(wb, table: str) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for row in wb.table(table).system("files").to_pylist():
        found.setdefault(row["partition"], set()).add(row["level"])
    return found


@pytest.mark.parametrize(
    "chosen",
    [
        """partitions => 'pt="p,1"'""",
        """partitions => 'pt = ''p,1'''""",
        """where => 'pt = "p,1"'""",
        """where => 'pt = "p,1" AND n >= 1'""",
        """partitions => 'pt="p,1",n=1;pt="none"'""",
    ],
)
def test_values_of_partitions_in_quotes(wb, chosen):
    wb.run("""
        CREATE TABLE t (id INT, pt STRING, n INT) PARTITIONED BY (pt, n)
        TBLPROPERTIES ('primary-key' = 'id,pt,n', 'bucket' = '1', 'write-only' = 'true')
    """)
    for _ in range(2):
        wb.run("INSERT INTO t VALUES (1, 'p,1', 1), (1, 'p2', 2)")
    wb.run(f"CALL sys.compact(table => 't', {chosen})")
    assert levels(wb, "t") == {"{p,1, 1}": {5}, "{p2, 2}": {0}}


def test_conditions_of_procedures_have_texts_in_double_quotes(wb):
    wb.run(
        "CREATE TABLE t (id INT, day STRING) PARTITIONED BY (day) TBLPROPERTIES ('file-index.in-manifest-threshold' = '1 b')"
    )
    wb.run("INSERT INTO t VALUES (1, '2024-01-01'), (2, '2024-01-02')")
    wb.run("""CALL sys.copy(source_table => 't', target_table => 'u', where => 'day = "2024-01-02"')""")
    assert wb.table("u").to_arrow().column("id").to_pylist() == [2]
    wb.run("ALTER TABLE t SET TBLPROPERTIES ('file-index.bloom-filter.columns' = 'id')")
    wb.run("""CALL sys.rewrite_file_index(table => 't', where => 'day = "2024-01-01"')""")
    assert [r["partition"] for r in wb.table("t").system("file_indexes").to_pylist()] == ["{2024-01-01}"]
    wb.run("""CALL sys.drop_partition(table => 't', partition => 'day="2024-01-01"')""")
    assert wb.table("t").to_arrow().column("id").to_pylist() == [2]


def test_a_compaction_of_an_unknown_partition_says_so(wb):
    wb.run("CREATE TABLE t (id INT, pt STRING) PARTITIONED BY (pt); INSERT INTO t VALUES (1, 'a')")
    done = wb.run("CALL sys.compact(table => 't', partitions => 'pt=b')")
    assert done.arrow.to_pylist() == [{"result": True}]
    assert done.notes == [
        "default.t has no partition pt = b; SHOW PARTITIONS lists them", "nothing to compact in default.t where pt=b"
    ]  # fmt: skip


def path_of(wb, table: str, condition: str) -> str:
    ((path,),) = set(rows(wb, f"SELECT __paimon_file_path FROM {table} WHERE {condition}"))
    return path


@pytest.mark.spark
@pytest.mark.parametrize(
    "options",
    sampled(
        ["", "TBLPROPERTIES ('deletion-vectors.enabled' = 'true')", "TBLPROPERTIES ('row-tracking.enabled' = 'true')"],
        3,
    ),
)
def test_rows_deleted_and_updated_by_their_file(swb, options):
    swb.run(f"CREATE TABLE t (id INT, v STRING) {options}")
    for value in ("(1, 'a'), (2, 'b')", "(3, 'c'), (4, 'd')"):
        swb.run(f"INSERT INTO t VALUES {value}")
    swb.run(f"DELETE FROM t WHERE __paimon_file_path = '{path_of(swb, 't', 'id = 3')}' AND __paimon_row_index = 1")
    swb.run(f"UPDATE t SET v = 'new' WHERE __paimon_file_path = '{path_of(swb, 't', 'id = 1')}' AND id > 1")
    assert rows(swb, "SELECT * FROM t") == [(1, "a"), (2, "new"), (3, "c")]


@pytest.mark.nightly
@pytest.mark.spark
def test_metadata_columns_of_a_key_table_whose_rows_need_no_merging(swb):
    swb.run(
        "CREATE TABLE t (id INT, v STRING) TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1', 'write-only' = 'true')"
    )
    swb.run("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    assert rows(swb, "SELECT id, __paimon_row_index, __paimon_bucket FROM t") == [(1, 0, 0), (2, 1, 0)]
    swb.run(f"DELETE FROM t WHERE __paimon_file_path = '{path_of(swb, 't', 'id = 1')}' AND v = 'a'")
    assert rows(swb, "SELECT * FROM t") == [(2, "b")]
    with pytest.raises(SqlAnalysisError, match="__paimon_file_path"):
        swb.run("SELECT __paimon_file_path FROM t")
    with pytest.raises(UnsupportedOperation, match="merged from several files"):
        swb.run("DELETE FROM t WHERE __paimon_file_path = 'x'")
    swb.run("CALL sys.compact(table => 't')")
    assert rows(swb, "SELECT id, __paimon_row_index FROM t") == [(2, 0)]


@pytest.mark.spark
def test_partitions_of_bytes(swb):
    swb.run("CREATE TABLE t (id INT, day BINARY) PARTITIONED BY (day)")
    swb.run("INSERT INTO t SELECT 1, CAST('2021' AS BINARY)")
    assert rows(swb, "SELECT id, CAST(day AS STRING) FROM t") == [(1, "2021")]
    assert "/day=2021/" in path_of(swb, "t", "id = 1")


def test_ranges_of_buckets(wb):
    wb.run("CREATE TABLE t (id INT) TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '4', 'write-only' = 'true')")
    for _ in range(2):
        wb.run("INSERT INTO t VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9)")
    wb.run("CALL sys.compact(table => 't', buckets => '0-1,3')")
    found = {(r["bucket"], r["level"]) for r in wb.table("t").system("files").to_pylist()}
    assert found == {(0, 5), (1, 5), (2, 0), (3, 5)}
    with pytest.raises(BadOptionValue, match="'1-x'"):
        wb.run("CALL sys.compact(table => 't', buckets => '1-x')")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("CREATE DATABASE d LOCATION '/tmp/d'", "a location of its own"),
        ("CREATE EXTERNAL TABLE x (a INT)", "no external tables"),
        ("ALTER TABLE t ADD COLUMN d INT DEFAULT 5", "cannot be added with a default"),
        ("ANALYZE TABLE t COMPUTE STATISTICS NOSCAN", "NOSCAN has no effect"),
        ("CALL sys.rollback(table => 't', version => '1', tag => 'one')", "one of version, snapshot and tag"),
        ("CALL sys.rollback(table => 't', version => 'one', snapshot => 1)", "one of version, snapshot and tag"),
        ("ALTER TABLE t DROP IF EXISTS PARTITION (q = 'a')", "'p' is missing"),
    ],
)
def test_what_spark_refuses_too(wb, text, why):
    wb.run("""
        CREATE TABLE t (id INT, p STRING, q STRING) PARTITIONED BY (p, q);
        INSERT INTO t VALUES (1, 'a', 'a'), (2, 'a', 'b');
        CALL sys.create_tag(table => 't', tag => 'one')
    """)
    with pytest.raises(PaimonError, match=why):
        wb.run(text)
    assert wb.table("t").to_arrow().num_rows == 2
    assert wb.run("SHOW DATABASES").arrow.num_rows == 1


def test_a_part_of_a_spec_in_flinks_words(wb):
    wb.run(
        "CREATE TABLE t (id INT, p STRING, q STRING) PARTITIONED BY (p, q); INSERT INTO t VALUES (1, 'a', 'a'), (2, 'b', 'b')"
    )
    wb.run("SET 'execution.runtime-mode' = 'batch'; ALTER TABLE t DROP PARTITION (p = 'a')")
    assert wb.table("t").to_arrow().column("id").to_pylist() == [2]


@pytest.mark.spark
def test_a_full_scan_is_refused_where_the_setting_says_so(swb):
    swb.run("""
        CREATE TABLE plain (id INT);
        INSERT INTO plain VALUES (1);
        CREATE TABLE t (id INT, p INT) PARTITIONED BY (p);
        INSERT INTO t VALUES (1, 1), (2, 2);
        SET spark.paimon.read.allow.fullScan = false
    """)
    try:
        assert rows(swb, "SELECT * FROM plain") == [(1,)]
        for text in ("SELECT * FROM t", "SELECT id + 1 FROM t WHERE p > 0", "SELECT count(*) FROM t"):
            with pytest.raises(PaimonError, match="the whole table would be read"):
                swb.sql(text).collect()
        assert rows(swb, "SELECT * FROM t WHERE p > 1") == [(2, 2)]
    finally:
        swb.run("RESET spark.paimon.read.allow.fullScan")


def test_show_partitions_and_table_extended_in_sparks_words(wb):
    wb.run("""
        CREATE TABLE t (id INT COMMENT 'number', p DATE, q STRING) PARTITIONED BY (p, q) COMMENT 'about';
        INSERT INTO t VALUES (1, DATE '2024-01-31', 'a'), (2, NULL, 'b'), (3, DATE '2024-01-31', NULL)
    """)
    shown = wb.run("SHOW PARTITIONS t").arrow.column("partition").to_pylist()
    assert shown == ["p=2024-01-31/q=a", "p=2024-01-31/q=null", "p=null/q=b"]
    one = wb.run("SHOW PARTITIONS t PARTITION (p = NULL)").arrow.column("partition").to_pylist()
    assert one == ["p=null/q=b"]
    ((text,),) = [r.values() for r in wb.run("SHOW TABLE EXTENDED LIKE 't'").arrow.select(["information"]).to_pylist()]
    facts = dict(line.split(": ", 1) for line in text.split("\n")[:8])
    assert facts == {
        "Catalog": "paimon", "Namespace": "default", "Table": "t", "Type": "MANAGED", "Comment": "about",
        "Location": wb.table("t").path, "Provider": "paimon", "Partition Provider": "Catalog",
    }  # fmt: skip
    named = wb.run("SHOW TABLE EXTENDED LIKE 't' PARTITION (p = '2024-01-31', q = 'a')").arrow.to_pylist()
    first, parameters, statistics, end = named[0]["information"].split("\n")
    assert (first, end) == ("Partition Values: [p=2024-01-31, q=a]", "")
    assert parameters.startswith("Partition Parameters: {fileCount=1, fileSizeInBytes=")
    assert parameters.endswith("recordCount=1}")
    assert statistics.startswith("Partition Statistics: 1 rows, ")
    described = wb.run("DESCRIBE EXTENDED t PARTITION (p = '2024-01-31', q = 'a')").arrow.to_pylist()
    details = {r["col_name"]: r["data_type"] for r in described}
    assert details["Partition Values"] == "[p=2024-01-31, q=a]"
    assert details["Partition Parameters"] == parameters.removeprefix("Partition Parameters: ")
    assert details["Partition Statistics"].endswith(" bytes, 1 rows")
    assert re.fullmatch(r"\w{3} \w{3} \d\d \d\d:\d\d:\d\d \S+ 20\d\d", details["Created Time"])
    assert details["Last Access"] == "UNKNOWN"
    with pytest.raises(UnknownName, match="no partition"):
        wb.run("SHOW TABLE EXTENDED LIKE 't' PARTITION (p = '2024-01-31', q = 'z')")
    with pytest.raises(SqlAnalysisError, match="needs values of p, q"):
        wb.run("SHOW TABLE EXTENDED LIKE 't' PARTITION (q = 'a')")
    described = wb.run("DESCRIBE EXTENDED t").arrow.to_pylist()
    assert [r["data_type"] for r in described if r["col_name"] == "Comment"] == ["about"]
    wb.run("ALTER TABLE t UNSET TBLPROPERTIES ('comment')")
    assert [r for r in wb.run("DESCRIBE EXTENDED t").arrow.to_pylist() if r["col_name"] == "Comment"] == []


@pytest.mark.spark
def test_the_schema_says_which_columns_are_not_null(swb, tmp_path):
    swb.run("CREATE TABLE t (id INT NOT NULL, v STRING, k INT) TBLPROPERTIES ('primary-key' = 'k', 'bucket' = '1')")
    swb.run("INSERT INTO t VALUES (1, NULL, 2)")
    spark = swb.spark
    for frame in (
        spark.table("t"),
        spark.read.table("t"),
        spark.read.format("paimon").load(str(tmp_path / "w" / "default.db" / "t")),
    ):
        assert [(f.name, f.nullable) for f in frame.schema.fields] == [("id", False), ("v", True), ("k", False)]
        assert [tuple(r) for r in frame.where("id = 1").collect()] == [(1, None, 2)]


@pytest.mark.spark
def test_input_file_name(swb):
    swb.run("CREATE TABLE t (id INT); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)")
    names = dict(rows(swb, "SELECT id, __paimon_file_path FROM t"))
    assert rows(swb, "SELECT *, input_file_name() FROM t") == sorted(names.items())
    assert swb.sql("SELECT input_file_name() FROM t").columns == ["input_file_name()"]
    assert rows(
        swb, "SELECT id FROM t WHERE endswith(input_file_name(), '.parquet') GROUP BY id, input_file_name()"
    ) == [(1,), (2,)]


def test_a_branch_of_a_branch(wb):
    wb.run("""
        CREATE TABLE t (id INT);
        INSERT INTO t VALUES (1);
        CALL sys.create_tag('t', 'one');
        CALL sys.create_branch('t', 'b1', 'one');
        INSERT INTO t$branch_b1 VALUES (2);
        ALTER TABLE t$branch_b1 ADD COLUMN v STRING;
        INSERT INTO t$branch_b1 VALUES (3, 'c');
        CALL sys.create_tag(table => 'default.`t$branch_b1`', tag => 'three');
        INSERT INTO t$branch_b1 VALUES (4, 'd');
        CALL sys.create_branch(table => 'default.`t$branch_b1`', branch => 'b2', tag => 'three');
        CALL sys.create_branch(table => 'default.`t$branch_b1`', branch => 'b3')
    """)
    assert wb.table("t$branch_b2").to_arrow().sort_by("id").to_pylist() == [
        {"id": 1, "v": None}, {"id": 2, "v": None}, {"id": 3, "v": "c"},
    ]  # fmt: skip
    assert wb.table("t$branch_b3").to_arrow().to_pylist() == []
    assert wb.table("t$branch_b3").schema.names == ("id", "v")
    with pytest.raises(PaimonError, match="no tag 'three'"):
        wb.run("CALL sys.create_branch(table => 't', branch => 'b4', tag => 'three')")


def test_nothing_to_expire_is_one_row(wb):
    wb.run("CREATE TABLE t (id INT); INSERT INTO t VALUES (1); CALL sys.create_tag(table => 't', tag => 'a')")
    done = wb.run("CALL sys.expire_tags(table => 't')")
    assert done.arrow.to_pylist() == [{"expired_tags": "No expired tags."}]
    done = wb.run("CALL sys.expire_tags(table => 't', older_than => '2999-01-01 00:00:00')")
    assert done.arrow.to_pylist() == [{"expired_tags": "a"}]


def test_a_key_with_some_of_the_partition_columns(wb):
    wb.run("""
        CREATE TABLE t (k INT, v STRING, p STRING, q STRING, PRIMARY KEY (k, p) NOT ENFORCED) PARTITIONED BY (p, q);
        INSERT INTO t VALUES (1, 'first', 'a', 'x'), (1, 'other key', 'b', 'x');
        INSERT INTO t VALUES (1, 'moved', 'a', 'y'), (1, 'third key', 'c', 'y')
    """)
    assert {tuple(r.values()) for r in wb.table("t").to_arrow().to_pylist()} == {
        (1, "moved", "a", "y"), (1, "other key", "b", "x"), (1, "third key", "c", "y"),
    }  # fmt: skip


def test_statistics_of_each_dialect(wb):
    wb.run("""
        CREATE TABLE t (i INT, b BOOLEAN, m DECIMAL(20, 1), s STRING, none STRING);
        INSERT INTO t VALUES (7, true, 1.5, 'ab', NULL), (9, false, 2.5, 'abc', NULL);
        ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS i, b, m, s, none
    """)
    assert columns_of_statistics(wb) == {
        "i": ("7", "9", 4, 4), "b": ("false", "true", 1, 1), "m": ("1.5", "2.5", 16, 16), "s": (None, None, 3, 3),
        "none": (None, None, 20, 20),
    }  # fmt: skip
    wb.run("SET 'execution.runtime-mode' = 'batch'; ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS i, b, s")
    assert columns_of_statistics(wb) == {
        "i": ("7", "9", None, None), "b": (None, None, None, None), "s": (None, None, 2, 3),
    }  # fmt: skip


def columns_of_statistics(wb) -> dict[str, tuple]:
    [row] = wb.table("t").system("statistics").to_pylist()
    found = json.loads(row["colstat"])
    return {name: tuple(c.get(key) for key in ("min", "max", "avgLen", "maxLen")) for name, c in found.items()}


@pytest.mark.spark
@pytest.mark.parametrize(("kind", "setting"), sampled([("parquet", None), ("parquet", "true"), ("orc", "true")], 2))
def test_char_is_padded_and_compared_with_padding(swb, kind, setting):
    if setting is not None:
        swb.run(f"SET spark.sql.readSideCharPadding = {setting}")
    swb.run(f"""
        CREATE TABLE t (id INT, c CHAR(5), d VARCHAR(5)) TBLPROPERTIES ('file.format' = '{kind}');
        INSERT INTO t VALUES (1, 'ab', 'ab'), (2, 'abcde', 'abcde'), (3, NULL, NULL);
        INSERT INTO t SELECT 4, 'xy', 'xy'
    """)
    assert rows(swb, "SELECT c FROM t WHERE c = 'ab'") == [("ab   ",)]
    assert rows(swb, "SELECT id FROM t WHERE c IN ('xy', 'q') OR c = d") == [(2,), (4,)]
    assert rows(swb, "SELECT id, c FROM t") == [(1, "ab   "), (2, "abcde"), (3, None), (4, "xy   ")]
    assert rows(swb, "SELECT id, concat(c, '|') FROM t WHERE id = 4") == [(4, "xy   |")]
    assert [r.id for r in swb.spark.table("t").where("c = 'xy'").collect()] == [4]
    swb.run("UPDATE t SET d = 'new' WHERE c = 'ab'; DELETE FROM t WHERE c = 'xy'")
    assert rows(swb, "SELECT id, d FROM t") == [(1, "new"), (2, "abcde"), (3, None)]
    swb.run("RESET spark.sql.readSideCharPadding")


@pytest.mark.spark
def test_char_of_orc_is_as_stored_unless_padding_is_set(swb):
    swb.run("CREATE TABLE t (id INT, c CHAR(5)) TBLPROPERTIES ('file.format' = 'orc'); INSERT INTO t VALUES (1, 'ab')")
    assert rows(swb, "SELECT c FROM t WHERE c = 'ab'") == [("ab",)]
    assert rows(swb, "SELECT concat(c, '|') FROM t") == [("ab|",)]
    padded = swb.spark.sql("SELECT c FROM t WHERE c = 'ab'"), swb.spark.table("t").select("c")
    assert [[tuple(r) for r in frame.collect()] for frame in padded] == [[("ab   ",)]] * 2


@pytest.mark.spark
def test_char_without_padding_when_read(swb):
    swb.run("CREATE TABLE t (id INT, c CHAR(5)) TBLPROPERTIES ('file.format' = 'orc'); INSERT INTO t VALUES (1, 'ab')")
    try:
        swb.run("SET spark.sql.readSideCharPadding = false")
        assert rows(swb, "SELECT c FROM t") == [("ab",)]
        assert rows(swb, "SELECT concat(c, '|') FROM t WHERE c = 'ab'") == [("ab|",)]
    finally:
        swb.run("RESET spark.sql.readSideCharPadding")


@pytest.mark.nightly
@pytest.mark.spark
def test_an_upsert_key_replaces_rows_on_insert(swb):
    swb.run("""
        CREATE TABLE t (k INT, v STRING) TBLPROPERTIES ('upsert-key' = 'k');
        INSERT INTO t VALUES (1, 'a'), (NULL, 'n'), (2, 'b');
        INSERT INTO t SELECT 1, 'a2' UNION ALL SELECT NULL, 'n2' UNION ALL SELECT 3, 'c'
    """)
    assert rows(swb, "SELECT * FROM t") == [(1, "a2"), (2, "b"), (3, "c"), (None, "n2")]
    swb.spark.createDataFrame([(2, "b3")], "k int, v string").write.insertInto("t")
    assert rows(swb, "SELECT v FROM t WHERE k = 2") == [("b3",)]
    swb.run("INSERT OVERWRITE t VALUES (7, 'x'), (7, 'y')")
    assert rows(swb, "SELECT * FROM t") == [(7, "x"), (7, "y")]


@pytest.mark.nightly
@pytest.mark.spark
def test_an_upsert_key_with_a_sequence_field_keeps_the_newest_row(swb):
    swb.run("""
        CREATE TABLE t (k INT, at INT, v STRING) TBLPROPERTIES ('upsert-key' = 'k', 'sequence.field' = 'at');
        INSERT INTO t VALUES (1, 2, 'new'), (1, 1, 'old'), (2, 5, 'five');
        INSERT INTO t VALUES (2, 4, 'late'), (1, 3, 'newer')
    """)
    assert rows(swb, "SELECT * FROM t") == [(1, 3, "newer"), (2, 5, "five")]


@pytest.mark.spark
def test_insert_overwrite_of_the_spark_session_is_static(swb):
    swb.run("CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p); INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    swb.run("INSERT OVERWRITE t VALUES (3, 'a')")
    assert rows(swb, "SELECT id FROM t") == [(2,), (3,)]
    swb.spark.sql("INSERT OVERWRITE t VALUES (4, 'a')")
    assert rows(swb, "SELECT id FROM t") == [(4,)]
    swb.spark.sql("INSERT OVERWRITE t PARTITION (p = 'b') SELECT 5")
    assert rows(swb, "SELECT id FROM t") == [(4,), (5,)]


@pytest.mark.nightly
@pytest.mark.spark
def test_a_streaming_write_merges_schemas(swb, tmp_path):
    swb.run("CREATE TABLE t (id INT, v STRING) TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1')")
    swb.run("INSERT INTO t VALUES (1, 'a'), (2, 'b'); CREATE TABLE s (id INT, v STRING, n INT)")
    swb.run("INSERT INTO s VALUES (2, 'c', 20), (3, 'd', 30)")
    writer = swb.spark.readStream.table("s").writeStream.format("paimon").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(tmp_path / "c")).option("write.merge-schema", "true")
    writer.start(swb.table("t").path).awaitTermination()
    assert rows(swb, "SELECT * FROM t") == [(1, "a", None), (2, "c", 20), (3, "d", 30)]


@pytest.mark.spark
def test_functions_of_the_system_database(swb):
    blobs = ("blob_view", "descriptor_to_presigned_url", "descriptor_to_string", "path_to_descriptor")
    names = (*blobs, "bucket", "max_pt", "mod_bucket", "try_descriptor_to_presigned_url")
    assert rows(swb, "SHOW USER FUNCTIONS IN sys") == [(f"sys.{name}",) for name in sorted(names)]
    assert ("sys.max_pt",) not in rows(swb, "SHOW SYSTEM FUNCTIONS IN sys")
    with pytest.raises(PaimonError, match="no database 'nowhere'"):
        swb.run("SHOW FUNCTIONS IN nowhere")


@pytest.mark.spark
def test_describe_through_sparks_api_has_sparks_types_and_partition_rows(wb):
    wb.run("""
        CREATE TABLE deliveries (
            id BIGINT NOT NULL COMMENT 'number', code CHAR(4), name VARCHAR(20), box STRUCT<w: DOUBLE, tags: ARRAY<STRING>>, day STRING
        ) PARTITIONED BY (day)
    """)
    assert [tuple(r) for r in wb.spark.sql("DESCRIBE deliveries").collect()] == [
        ("id", "bigint", "number"),
        ("code", "char(4)", None),
        ("name", "varchar(20)", None),
        ("box", "struct<w:double,tags:array<string>>", None),
        ("day", "string", None),
        ("# Partition Information", "", ""),
        ("# col_name", "data_type", "comment"),
        ("day", "string", None),
    ]
    extended = {r.col_name: r.data_type for r in wb.spark.sql("DESCRIBE TABLE EXTENDED deliveries").collect()}
    assert extended["Name"] == "paimon.default.deliveries"
    assert (extended["Type"], extended["Provider"]) == ("MANAGED", "paimon")
    assert extended["__paimon_partition"] == "struct<day:string>"


@pytest.mark.spark
def test_show_create_table_through_sparks_api_is_a_statement_of_spark(wb):
    wb.spark.sql("""
        CREATE TABLE parts (
            `part no` INT NOT NULL COMMENT 'it''s', n INT DEFAULT 2, s STRING DEFAULT 'new', at TIMESTAMP, local TIMESTAMP_NTZ,
            m MAP<STRING, INT>, price DECIMAL(10, 2)
        ) COMMENT 'all parts' TBLPROPERTIES ('primary-key' = 'part no', 'bucket' = '2')
    """)
    [[text]] = wb.spark.sql("SHOW CREATE TABLE parts").collect()
    path = wb.table("parts").path
    assert text == (
        "CREATE TABLE paimon.default.parts (\n  `part no` INT NOT NULL COMMENT 'it''s',\n  n INT DEFAULT 2,\n"
        "  s STRING DEFAULT 'new',\n  at TIMESTAMP,\n  local TIMESTAMP_NTZ,\n  m MAP<STRING, INT>,\n  price DECIMAL(10,2))\n"
        f"USING paimon\nCOMMENT 'all parts'\nLOCATION '{path}'\n"
        f"TBLPROPERTIES (\n  'bucket' = '2',\n  'path' = '{path}',\n  'primary-key' = 'part no')\n"
    )
    assert "WITH (" in wb.run("SHOW CREATE TABLE parts").arrow.to_pylist()[0]["createtab_stmt"]


@pytest.mark.spark
def test_a_table_without_comment_has_none_in_spark_and_an_empty_one_stays(wb):
    wb.spark.sql("CREATE TABLE t (id INT)")
    assert wb.table("t").schema.comment is None

    def comments():
        return [r.data_type for r in wb.spark.sql("DESCRIBE TABLE EXTENDED t").collect() if r.col_name == "Comment"]

    assert comments() == []
    wb.spark.sql("ALTER TABLE t SET TBLPROPERTIES ('comment' = '')")
    assert comments() == [""]
    wb.spark.sql("ALTER TABLE t UNSET TBLPROPERTIES ('comment')")
    assert comments() == []


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_change_column_of_a_nested_field_takes_its_own_name(wb):
    wb.run("""
        CREATE TABLE t (k INT, v STRUCT<a: INT, b: STRUCT<a: STRING, n: INT>>);
        INSERT INTO t VALUES (1, STRUCT(10, STRUCT('x', 100)));
        ALTER TABLE t CHANGE COLUMN v.b.n n BIGINT;
        INSERT INTO t VALUES (2, STRUCT(20, STRUCT('y', 3000000000000)));
        ALTER TABLE t CHANGE COLUMN v.b.n total BIGINT
    """)
    assert wb.table("t").to_arrow().sort_by("k").column("v").to_pylist() == [
        {"a": 10, "b": {"a": "x", "total": 100}},
        {"a": 20, "b": {"a": "y", "total": 3000000000000}},
    ]


@pytest.mark.spark
def test_a_delete_without_rows_commits_if_empty_commits_are_wanted(wb):
    wb.run(
        "CREATE TABLE t (id INT, s STRING) TBLPROPERTIES ('bucket' = '1', 'bucket-key' = 'id'); INSERT INTO t VALUES (1, 'a')"
    )
    wb.run("DELETE FROM t WHERE id = 5")
    assert wb.table("t").latest_snapshot().id == 1
    wb.run("ALTER TABLE t SET TBLPROPERTIES ('snapshot.ignore-empty-commit' = 'false'); DELETE FROM t WHERE id = 5")
    assert wb.table("t").latest_snapshot().id == 2


def test_the_suffix_of_a_files_codec_is_javas_extension(wb):
    wb.run("""
        CREATE TABLE t (id INT) TBLPROPERTIES ('file.suffix.include.compression' = 'true');
        INSERT INTO t VALUES (1);
        ALTER TABLE t SET TBLPROPERTIES ('file.compression' = 'none');
        INSERT INTO t VALUES (2)
    """)
    names = sorted(f["file_path"].split("/")[-1].partition(".")[2] for f in wb.table("t").system("files").to_pylist())
    assert names == ["parquet", "zst.parquet"]


@pytest.mark.spark
def test_create_table_as_keeps_the_lengths_of_selected_texts(wb):
    wb.spark.sql("CREATE TABLE source (id INT, code CHAR(6), name VARCHAR(12) NOT NULL, note STRING)")
    wb.spark.sql("INSERT INTO source VALUES (1, 'a', 'bolt', 'n')")
    wb.spark.sql("CREATE TABLE made AS SELECT code AS c, name, upper(name) AS loud, note FROM source WHERE id > 0")
    assert [(f.name, str(f.type)) for f in wb.table("made").schema.fields] == [
        ("c", "CHAR(6)"), ("name", "VARCHAR(12)"), ("loud", "STRING"), ("note", "STRING"),
    ]  # fmt: skip
    assert rows(wb, "SELECT * FROM made") == [("a     ", "bolt", "BOLT", "n")]
