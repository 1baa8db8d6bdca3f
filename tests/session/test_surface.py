"""What people paste, row by row of the table in docs/sql.md: a test here, or the name of the test that shows it.

The tests here start no JVM.
"""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

import pyarrow as pa
import pytest

from paimon_nb.base.errors import BadOptionValue, PaimonError, SchemaMismatch, SourceUnavailable, UnsupportedOperation
from paimon_nb.format.row import bucket_of
from paimon_nb.sql import parse

TESTS = Path(__file__).parents[1]
ELSEWHERE = {
    8: "session/test_spark_catalogs.py::test_a_catalog_by_settings",
    21: "session/test_insert.py::test_every_form_of_insert",
    24: "session/test_insert.py::test_overwrite_rules",
    25: "session/test_insert.py::test_replace_a_table_by_a_query_of_itself",
    26: "session/test_schema_merging.py::test_dataframes",
    31: "session/test_update_delete.py::test_every_way_to_name_a_column",
    32: "session/test_streaming_sql.py::test_a_stream_of_changes_shows_their_kinds",
    36: "spark/test_paimon_session.py::test_reading_by_name_and_path_with_options",
    37: "spark/test_paimon_session.py::test_reading_by_name_and_path_with_options",
    38: "session/test_documents.py::test_a_document_from_beginning_to_end",
    39: "session/test_documents.py::test_a_document_from_beginning_to_end",
    41: "session/test_documents.py::test_a_document_from_beginning_to_end",
    42: "session/test_documents.py::test_a_document_from_beginning_to_end",
    43: "session/test_streaming_sql.py::test_the_word_count_walk",
    44: "session/test_streaming_sql.py::test_connectors_in_batch_and_as_streams",
    69: "procedures/test_procedures.py::test_merge_into",
    77: "test_cli.py::test_compact_as_an_action",
    81: "session/test_flink_queries.py::test_the_answer",
}
"""Row -> the test of it, where it needs Spark or a command line."""


@pytest.fixture
def wb(wb, monkeypatch):
    monkeypatch.setattr(type(wb.session), "spark", property(lambda _self: pytest.fail("Spark was started")))
    return wb


@pytest.fixture
def do(wb):
    """Runs statements; the last answer's rows as tuples."""

    def run(text: str) -> list[tuple]:
        return [tuple(row.values()) for row in wb.run(text).arrow.to_pylist()]

    return run


KEYED = "(id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED)"


def history(do, count: int, options: str = "") -> None:
    """Table t: a row in each of `count` snapshots, none of them compacted."""
    do(
        f"CREATE TABLE t {KEYED} WITH ('bucket' = '1', 'write-only' = 'true', 'snapshot.num-retained.min' = '{count}'{options})"
    )
    for i in range(1, count + 1):
        do(f"INSERT INTO t VALUES ({i}, 'v{i}')")


def ids(wb, name: str = "t", **options: str) -> list[int]:
    return sorted(wb.table(name, **options).to_arrow()["id"].to_pylist())


def snapshots(wb, name: str = "t") -> list[int]:
    return list(wb.table(name).store.snapshots.ids())


def refused(wb, text: str) -> PaimonError:
    with pytest.raises(PaimonError) as caught:
        wb.run(text)
    assert caught.value.hint
    return caught.value


# -- catalogs and databases


@pytest.mark.usefixtures("wb")
def test_row_01_a_catalog_with_a_warehouse(do, tmp_path):
    for name, warehouse in (("a", f"{tmp_path}/a"), ("b", f"file:{tmp_path}/b"), ("c", "memory:c")):
        do(
            f"CREATE CATALOG {name} WITH ('type'='paimon','warehouse'='{warehouse}'); CREATE TABLE {name}.default.t (x INT)"
        )
    assert do("SHOW CATALOGS") == [("a",), ("b",), ("c",), ("paimon",)]
    assert (tmp_path / "a/default.db/t").is_dir()
    assert (tmp_path / "b/default.db/t").is_dir()


def test_row_02_a_hive_catalog_says_when_nobody_answers(wb):
    pytest.importorskip("hive_metastore")
    error = refused(
        wb, "CREATE CATALOG h WITH ('type'='paimon','metastore'='hive','uri'='thrift://127.0.0.1:9','warehouse'='/w')"
    )
    assert isinstance(error, SourceUnavailable)
    assert "'uri'" in error.hint


@pytest.mark.usefixtures("wb")
def test_row_03_a_jdbc_catalog(do, tmp_path):
    pytest.importorskip("sqlalchemy")
    do(
        f"CREATE CATALOG j WITH ('type'='paimon','metastore'='jdbc','uri'='jdbc:sqlite:{tmp_path}/c.db','warehouse'='{tmp_path}/j')"
    )
    do("USE CATALOG j; CREATE TABLE t (x INT); INSERT INTO t VALUES (1)")
    assert do("SHOW TABLES") == [("default", "t", False)]


def test_row_04_definitions_in_yaml(wb, do, tmp_path):
    wb.configure(f"type: paimon\nwarehouse: {tmp_path}/y", catalog="y")
    assert do("SHOW CURRENT CATALOG") == [("y",)]


@pytest.mark.usefixtures("wb")
def test_row_05_a_catalog_in_memory(do):
    do("CREATE CATALOG default_catalog WITH ('type'='generic_in_memory'); USE CATALOG default_catalog")
    do("CREATE TABLE src (a INT) WITH ('connector' = 'datagen')")
    assert do("SHOW TABLES") == [("", "src", True)]


def test_row_06_and_07_current_catalog_and_databases(wb, do, tmp_path):
    do(f"CREATE CATALOG c WITH ('type'='paimon','warehouse'='{tmp_path}/c'); USE CATALOG c; CREATE DATABASE d")
    assert do("CREATE DATABASE IF NOT EXISTS d; USE d; SHOW CURRENT DATABASE") == [("c", "d")]
    refused(wb, "CREATE DATABASE d")


# -- tables


def test_row_09_to_12_keys_buckets_and_partitions(wb, do):
    do(
        "CREATE TABLE keyed (id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '4');"
        "CREATE TABLE log (id BIGINT, v STRING) WITH ('bucket' = '8', 'bucket-key' = 'id');"
        "CREATE TABLE parts (id BIGINT, dt STRING, PRIMARY KEY (id, dt) NOT ENFORCED) PARTITIONED BY (dt) WITH ('bucket' = '2');"
        "CREATE TABLE dynamic (id BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '-1',"
        " 'dynamic-bucket.target-row-num' = '3', 'dynamic-bucket.initial-buckets' = '1')"
    )
    for name in ("keyed", "log", "dynamic"):
        wb.table(name).append(pa.table({"id": range(10)})) if name != "log" else wb.table(name).append(
            pa.table({"id": range(10), "v": ["x"] * 10})
        )
    do("INSERT INTO parts VALUES (1, 'a'), (1, 'b'), (1, 'a')")
    schema = wb.table("parts").schema
    assert (schema.primary_keys, schema.partition_keys, schema.trimmed_primary_keys) == (("id", "dt"), ("dt",), ("id",))
    assert do("SHOW PARTITIONS parts") == [("dt=a",), ("dt=b",)]
    buckets = {n: set(wb.table(n).system("files")["bucket"].to_pylist()) for n in ("keyed", "log", "dynamic")}
    assert len(buckets["dynamic"]) >= 3
    for name in ("keyed", "log"):
        total = 4 if name == "keyed" else 8
        types = [f.type for f in wb.table(name).schema.fields][:1]
        assert buckets[name] == set(bucket_of(types, [pa.array(range(10), pa.int64())], total).tolist())


def test_row_13_15_and_16_formats_and_codecs(wb, do):
    for i, codec in enumerate(("zstd", "snappy", "gzip", "lz4")):
        for name in ("parquet", "orc", "avro"):
            if (name, codec) in (("avro", "lz4"), ("avro", "gzip")):
                continue
            do(
                f"CREATE TABLE {name}{i} (id INT) WITH ('file.format' = '{name}', 'file.compression' = '{codec}'); INSERT INTO {name}{i} VALUES (7)"
            )
            assert ids(wb, f"{name}{i}") == [7]
            assert wb.table(f"{name}{i}").system("files")["file_format"].to_pylist() == [name]
    do(
        f"CREATE TABLE levels {KEYED} WITH ('bucket' = '1', 'file.format' = 'parquet', 'file.format.per.level' = '0:avro,1:avro',"
        " 'file.compression' = 'zstd', 'file.compression.zstd-level' = '3', 'orc.compress' = 'zlib')"
    )
    do("INSERT INTO levels VALUES (1, 'a'); INSERT INTO levels VALUES (1, 'b')")
    assert wb.table("levels").system("files")["file_format"].to_pylist() == ["avro", "avro"]
    do("CALL sys.compact('levels')")
    assert wb.table("levels").system("files")["file_format"].to_pylist() == ["parquet"]


def test_row_14_51_and_52_when_files_are_put_together(wb, do):
    error = refused(wb, "CREATE TABLE x (a INT) WITH ('compaction.min.file-num' = 'many')")
    assert isinstance(error, BadOptionValue)
    do(
        f"CREATE TABLE t {KEYED} WITH ('bucket' = '1', 'compaction.min.file-num' = '5', 'compaction.max.file-num' = '10',"
        " 'changelog-producer' = 'full-compaction', 'full-compaction.delta-commits' = '2', 'compaction.optimization-interval' = '1h')"
    )
    do("INSERT INTO t VALUES (1, 'a'); INSERT INTO t VALUES (1, 'b'); INSERT INTO t VALUES (2, 'c')")
    kinds = wb.table("t").system("snapshots")["commit_kind"].to_pylist()
    assert "COMPACT" in kinds


@pytest.mark.usefixtures("wb")
def test_row_17_a_watermark(do):
    do("CREATE TABLE t (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)")
    assert "WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND" in do("SHOW CREATE TABLE t")[0][0]


@pytest.mark.usefixtures("wb", "row")
@pytest.mark.parametrize(
    ("row", "options"),
    [
        (18, "'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'k:9092', 'scan.startup.mode' = 'earliest-offset', 'format' = 'json'"),
        (19, "'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'k:9092', 'format' = 'debezium-json'"),
        (20, "'connector' = 'mysql-cdc', 'hostname' = 'm', 'port' = '3306', 'username' = 'u', 'password' = 'p', 'database-name' = 'd', 'table-name' = 't'"),
    ],
)  # fmt: skip
def test_row_18_to_20_sources_are_registered_for_the_session(do, options):
    do(f"CREATE TABLE src (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ({options})")
    assert do("SHOW TABLES") == [("", "src", True)]


def test_row_22_and_23_values(wb, do):
    do("CREATE TABLE t (id INT, v STRING, n INT DEFAULT '5', PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    do("INSERT INTO t VALUES (1, 'Alice', 1); INSERT INTO t (id, v) VALUES (1, 'Alice Updated'), (2, 'Bob')")
    assert sorted(wb.table("t").to_arrow().to_pylist(), key=str) == [
        {"id": 1, "v": "Alice Updated", "n": 5}, {"id": 2, "v": "Bob", "n": 5}
    ]  # fmt: skip


@pytest.mark.usefixtures("wb")
def test_row_27_to_29_settings(do):
    do("SET 'execution.runtime-mode' = 'streaming'; SET 'execution.checkpointing.interval' = '1min'")
    do("SET 'execution.runtime-mode' = 'batch'; SET 'sql-client.execution.result-mode' = 'tableau'")
    assert [k for k, _ in do("SET")] == [
        "execution.checkpointing.interval", "execution.runtime-mode", "sql-client.execution.result-mode"
    ]  # fmt: skip
    do("RESET 'execution.checkpointing.interval'")
    assert len(do("SET")) == 2


def test_row_30_options_of_a_job(wb, do):
    history(do, 3)
    for key in ("paimon.paimon.default.t", "paimon.*.default.t", "paimon.*.*.*"):
        do(f"SET '{key}.scan.snapshot-id' = '2'")
        assert ids(wb) == [1, 2]
        do(f"RESET '{key}.scan.snapshot-id'")
    assert ids(wb) == [1, 2, 3]


def test_row_33_to_35_time_travel_in_hints(wb, do):
    history(do, 3)
    at = wb.table("t").store.snapshots.get(2).time_ms
    for hint in (
        "'scan.snapshot-id' = '2'",
        "'scan.mode' = 'from-snapshot-full', 'scan.snapshot-id' = '2'",
        f"'scan.timestamp-millis' = '{at}'",
        f"'scan.mode' = 'from-timestamp', 'scan.timestamp-millis' = '{at}'",
    ):
        (query,) = parse(f"SELECT * FROM t /*+ OPTIONS({hint}) */")
        assert ids(wb, **query.tables[0].options) == [1, 2], hint


def test_row_40_a_temporary_view(wb):
    (view,) = parse("CREATE TEMPORARY VIEW v AS SELECT a FROM d.t WHERE a > 1")
    assert view.temporary
    assert [r.parts for r in view.query.tables] == [("d", "t")]
    assert isinstance(refused(wb, "CREATE VIEW v AS SELECT 1"), UnsupportedOperation)


@pytest.mark.usefixtures("wb")
def test_row_45_a_temporary_table_by_its_path(do, tmp_path):
    do(
        "CREATE TEMPORARY TABLE t (id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED)"
        f" WITH ('connector' = 'paimon', 'path' = '{tmp_path}/files', 'auto-create' = 'true')"
    )
    do("INSERT INTO t VALUES (1, 'a')")
    assert (tmp_path / "files/snapshot/snapshot-1").is_file()
    assert do("SHOW TABLES") == [("", "t", True)]


@pytest.mark.usefixtures("wb")
def test_row_46_connector_in_any_catalog(do):
    do(
        "CREATE TABLE ours (a INT) WITH ('connector' = 'paimon'); CREATE TABLE theirs (a INT) WITH ('connector' = 'print')"
    )
    assert do("SHOW TABLES") == [("default", "ours", False), ("", "theirs", True)]


# -- options


def test_row_47_to_49_merge_engines(wb, do):
    columns = "(id BIGINT, a DOUBLE, b BIGINT, c STRING, PRIMARY KEY (id) NOT ENFORCED)"
    engines = {
        "deduplicate": "",
        "first-row": "",
        "partial-update": ", 'partial-update.ignore-delete' = 'true'",
        "aggregation": ", 'fields.a.aggregate-function' = 'max', 'fields.b.aggregate-function' = 'sum', 'fields.b.ignore-retract' = 'true'",
    }
    found = {}
    for engine, more in engines.items():
        name = engine.replace("-", "_")
        do(f"CREATE TABLE {name} {columns} WITH ('bucket' = '1', 'merge-engine' = '{engine}'{more})")
        do(
            f"INSERT INTO {name} VALUES (1, 23.0, 10, NULL); INSERT INTO {name} VALUES (1, NULL, NULL, 'This is a book')"
        )
        do(f"INSERT INTO {name} VALUES (1, 25.2, NULL, NULL)")
        if engine == "first-row":  # what is in level 0 is not looked at
            do(f"CALL sys.compact('{name}')")
        found[engine] = [*wb.table(name).to_arrow().to_pylist()[0].values()]
    assert found == {
        "deduplicate": [1, 25.2, None, None],
        "first-row": [1, 23.0, 10, None],
        "partial-update": [1, 25.2, 10, "This is a book"],
        "aggregation": [1, 25.2, 10, "This is a book"],
    }


def test_row_50_and_53_changelogs(wb, do):
    for producer in ("none", "input", "lookup", "full-compaction"):
        name = producer.replace("-", "_")
        do(
            f"CREATE TABLE {name} {KEYED} WITH ('bucket' = '1', 'changelog-producer' = '{producer}', 'lookup.cache-max-memory-size' = '256 mb')"
        )
        do(f"INSERT INTO {name} VALUES (1, 'a'); INSERT INTO {name} VALUES (1, 'b')")
    written = {
        n: sum(c or 0 for c in wb.table(n).system("snapshots")["changelog_record_count"].to_pylist())
        for n in ("none", "input", "lookup")
    }
    assert written == {"none": 0, "input": 2, "lookup": 3}


def test_row_54_partitions_that_expire(wb, do):
    do(
        "CREATE TABLE t (id INT, dt STRING) PARTITIONED BY (dt) WITH ('partition.expiration-time' = '7 d',"
        " 'partition.expiration-check-interval' = '1 h', 'partition.timestamp-formatter' = 'yyyyMMdd',"
        " 'partition.timestamp-pattern' = '$dt', 'partition.default-name' = '__NONE__', 'write-only' = 'true')"
    )
    do("INSERT INTO t VALUES (1, '20200101'), (2, '29990101')")
    do("INSERT INTO t VALUES (3, NULL)")
    assert do("SHOW PARTITIONS t") == [("dt=20200101",), ("dt=29990101",), ("dt=null",)]
    do("CALL sys.expire_partitions('t', '7 d')")
    assert ids(wb) == [2, 3]


def test_row_55_where_reading_begins(wb, do):
    history(do, 3)
    assert ids(wb, **{"scan.mode": "from-snapshot", "scan.snapshot-id": "1"}) == [1]
    assert ids(wb, **{"scan.bounded.watermark": "9"}) == [1, 2, 3]
    refused(wb, "ALTER TABLE t SET ('scan.mode' = 'somewhere')")


def test_row_56_and_57_how_long_snapshots_stay(wb, do):
    do(
        f"CREATE TABLE t {KEYED} WITH ('bucket' = '1', 'write-only' = 'false', 'snapshot.num-retained.min' = '2',"
        " 'snapshot.num-retained.max' = '3', 'snapshot.time-retained' = '1h', 'snapshot.expire.execution-mode' = 'async')"
    )
    for i in range(8):
        do(f"INSERT INTO t VALUES ({i}, 'x')")
    assert len(snapshots(wb)) == 3


@pytest.mark.usefixtures("wb")
def test_row_58_tags_by_themselves(do):
    do(
        f"CREATE TABLE t {KEYED} WITH ('bucket' = '1', 'tag.automatic-creation' = 'process-time',"
        " 'tag.creation-period' = 'daily', 'tag.num-retained-max' = '90')"
    )
    do("INSERT INTO t VALUES (1, 'a')")
    assert len(do("SHOW TAGS t")) == 1


def test_row_59_write_mode(wb, do):
    do(f"CREATE TABLE a {KEYED} WITH ('bucket' = '1', 'write-mode' = 'change-log')")
    do("CREATE TABLE b (id INT) WITH ('write-mode' = 'append-only')")
    refused(wb, "CREATE TABLE c (id INT) WITH ('write-mode' = 'change-log')")
    refused(wb, f"CREATE TABLE c {KEYED} WITH ('bucket' = '1', 'write-mode' = 'append-only')")


@pytest.mark.usefixtures("row")
@pytest.mark.parametrize(
    ("row", "options", "told"),
    [
        (60, "'scan.plan-sort-partition' = 'true'", 0),
        (61, "'scan.infer-parallelism' = 'false', 'scan.parallelism' = '2', 'sink.parallelism' = '2'", 0),
        (62, "'scan.watermark.alignment.group' = 'g', 'scan.watermark.idle-timeout' = '5min'", 2),
        (63, "'sink.use-managed-memory-allocator' = 'true', 'sink.managed.writer-buffer-memory' = '256M'", 0),
    ],
)
def test_row_60_to_63_options_that_need_nothing_here(wb, do, options, told):
    notes = wb.run(f"CREATE TABLE t (id INT) WITH ({options})").notes
    assert ["has no effect" in n for n in notes] == [True] * told
    do(f"INSERT INTO t /*+ OPTIONS({options}) */ VALUES (2), (1)")
    assert ids(wb) == [1, 2]


def test_row_64_at_most_two_snapshots_a_commit(wb, do):
    do(f"CREATE TABLE t {KEYED} WITH ('bucket' = '1', 'num-sorted-run.compaction-trigger' = '2')")
    made = [len(wb.run(f"INSERT INTO t VALUES ({i}, 'x')").snapshots) for i in range(6)]
    assert set(made) == {1, 2}
    assert len(snapshots(wb)) == sum(made)


# -- procedures


def test_row_65_and_75_compact_in_every_form(wb, do):
    do("CREATE DATABASE d; CREATE TABLE d.T (id INT, p STRING, a INT, b INT) PARTITIONED BY (p)")
    for text in (
        "CALL sys.compact('d.T')",
        "CALL paimon.sys.compact('d.T', 'p=0')",
        "CALL sys.compact('d.T', 'p=0', 'zorder', 'a,b', 'sink.parallelism=4')",
        "CALL sys.compact('d.T', '', '', '', 'sink.parallelism=4')",
        "CALL sys.compact('d.T', 'p=0;p=1')",
        "CALL sys.compact(`table` => 'd.T', partitions => 'p=0', order_strategy => 'order', order_by => 'a')",
        "CALL sys.compact(table => 'd.T', options => map('sink.parallelism', '4'))",
    ):
        do("INSERT INTO d.T VALUES (1, '0', 3, 1), (2, '1', 1, 2); INSERT INTO d.T VALUES (3, '0', 2, 3)")
        before = len(wb.table("d.T").system("files"))
        plain = "(table =>" in text  # Spark's form; the others are Flink's, with its rows
        assert do(text) == [(True,) if plain else ("Success",)], text
        assert len(wb.table("d.T").system("files")) < before, text


def test_row_66_compact_database(wb, do):
    do(
        "CREATE DATABASE db1; CREATE TABLE db1.table_1 (a INT); CREATE TABLE db1.`ignore` (a INT); CREATE TABLE db1.other (a INT)"
    )
    for name in ("table_1", "`ignore`", "other"):
        do(f"INSERT INTO db1.{name} VALUES (1); INSERT INTO db1.{name} VALUES (2)")
    do("CALL sys.compact_database('db1|db2', 'combined', 'table_.*', 'ignore', 'sink.parallelism=4')")
    assert {n: len(wb.table(f"db1.{n}").system("files")) for n in ("table_1", "ignore", "other")} == {
        "table_1": 1, "ignore": 2, "other": 2
    }  # fmt: skip
    do("CALL sys.compact_database()")
    assert len(wb.table("db1.other").system("files")) == 1


def test_row_67_68_and_72_tags_and_going_back(wb, do):
    history(do, 16)
    do(
        "CALL sys.create_tag('default.t', 'v15', 15); CALL sys.create_tag('t', 'now'); CALL sys.create_tag('t', 'v3', 3)"
    )
    assert do("SHOW TAGS t") == [("now",), ("v15",), ("v3",)]
    do("CALL sys.delete_tag('t', 'v15')")
    assert do("CALL sys.rollback_to('default.t', 10)") == [(16, 10)]
    assert ids(wb) == [*range(1, 11)]
    do("CALL sys.rollback_to('t', 'v3')")
    assert ids(wb) == [1, 2, 3]


def test_row_70_orphans_with_and_without_sys(wb, do):
    history(do, 1)
    folder = Path(wb.table("t").path) / "bucket-0"
    (folder / "data-nobody.parquet").write_bytes(b"x")
    for text in (
        "CALL remove_orphan_files('default.t')",
        "CALL sys.remove_orphan_files('default.t', '2023-10-31 12:00:00')",
    ):
        do(text)
        assert (folder / "data-nobody.parquet").exists()  # younger than a day
    os.utime(folder / "data-nobody.parquet", (0, 0))
    do("CALL sys.remove_orphan_files('t', '', true)")
    assert (folder / "data-nobody.parquet").exists()  # a dry run
    do("CALL remove_orphan_files('t')")
    assert not (folder / "data-nobody.parquet").exists()


def test_row_71_consumers(wb, do):
    history(do, 3)
    do("CALL sys.reset_consumer('default.t', 'myid', 2)")
    assert wb.table("t").store.consumers.next_snapshot("myid") == 2
    do("CALL sys.reset_consumer('default.t', 'myid')")
    assert list(wb.table("t").store.consumers.ids()) == []


def test_row_73_and_74_snapshots_that_expire(wb, do):
    history(do, 12)
    do("CALL sys.expire_snapshots('t', '2000-01-01 00:00:00')")  # a time in second place: nothing is older
    assert len(snapshots(wb)) == 12
    assert do("CALL sys.expire_snapshots('default.t', 2)") == [("10",)]
    assert snapshots(wb) == [11, 12]


# -- looking, ending, types


def test_row_76_system_tables(wb, do):
    history(do, 2)
    assert len(wb.table("t").system("snapshots")) == 2
    assert wb.table("t").system("files")["level"].to_pylist() == [0, 0]
    assert [r[0] for r in do("DESCRIBE `t$files`")][:3] == ["partition", "bucket", "file_path"]


def test_row_78_a_savepoint_is_a_tag(wb, do):
    history(do, 2)
    do(
        "CALL sys.create_tag('t', 'savepoint-1'); INSERT INTO t VALUES (9, 'x'); CALL sys.rollback_to('t', 'savepoint-1')"
    )
    assert ids(wb) == [1, 2]


def test_row_79_drop_table(wb, do):
    history(do, 1)
    do("-- uncomment to drop\nDROP TABLE t;")
    assert do("SHOW TABLES") == []
    do("UNDROP TABLE t")
    assert ids(wb) == [1]


def test_row_80_types(wb, do):
    types = [
        "BOOLEAN", "TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(38, 18)", "NUMERIC(5, 2)", "CHAR(3)",
        "VARCHAR(9)", "STRING", "BINARY(2)", "VARBINARY(4)", "BYTES", "DATE", "TIME", "TIME(3)", "TIMESTAMP(0)", "TIMESTAMP(9)",
        "TIMESTAMP_LTZ(3)", "ARRAY<INT>", "MAP<STRING, INT>", "ROW<a INT, b ARRAY<STRING>>",
    ]  # fmt: skip
    do("CREATE TABLE t (" + ", ".join(f"c{i} {t}" for i, t in enumerate(types)) + ") WITH ('bucket' = '-1')")
    assert len(do("DESCRIBE t")) == len(types)
    refused(wb, "CREATE TABLE x (m MULTISET<INT>, id INT, PRIMARY KEY (m) NOT ENFORCED) WITH ('bucket' = '1')")
    error = refused(wb, "CREATE TABLE x (m MAP<INT, INT>, id INT, PRIMARY KEY (m) NOT ENFORCED) WITH ('bucket' = '1')")
    assert isinstance(error, SchemaMismatch)


def test_row_82_which_bucket_a_row_has(wb, do):
    do("CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '4', 'write-only' = 'true')")
    field = wb.table("t").schema.fields[0]
    for value in range(6):
        do(f"INSERT INTO t VALUES ({value})")
        (expected,) = bucket_of([field.type], [pa.array([value], pa.int32())], 4).tolist()
        newest = wb.table("t").store.snapshots.latest_id()
        files = wb.table("t").system("files", options={"scan.mode": "from-snapshot", "scan.snapshot-id": str(newest)})
        assert expected in files["bucket"].to_pylist()


def test_row_83_configuration_of_flink(wb):
    effects = (
        wb.configure("execution.runtime-mode: streaming\nstate.backend: rocksdb\nparallelism.default: 16")
        .arrow["effect"]
        .to_pylist()
    )
    assert effects[0] == "batch or streaming"
    assert effects[1].startswith("no effect here: ")
    assert effects[2].startswith("Spark's spark.sql.shuffle.partitions")


# -- the table itself


def rows_of(name: str) -> list[int]:
    """Rows that a test's name says: test_row_09_to_12_x, test_row_13_15_and_16_x."""
    said = re.match(r"test_row_((?:\d+_|to_|and_)+)", name)
    if said is None:
        return []
    if "_to_" in f"_{said[1]}":
        first, last = re.findall(r"\d+", said[1])
        return [*range(int(first), int(last) + 1)]
    return [int(n) for n in re.findall(r"\d+", said[1])]


def test_no_row_is_missing():
    here = [row for name in globals() for row in rows_of(name)]
    assert sorted({*here, *ELSEWHERE}) == [*range(1, 84)]
    assert sorted(here) == sorted(set(here))


@pytest.mark.parametrize("row", ELSEWHERE)
def test_the_other_test_is_there(row):
    path, name = ELSEWHERE[row].split("::")
    tree = ast.parse((TESTS / path).read_text())
    assert name in {f.name for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)}
