"""What Paimon's own Flink suites expect of tables, told with rows of our own."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import (
    BadOptionValue,
    SchemaChangeError,
    SchemaMismatch,
    SqlAnalysisError,
    TableNotFound,
    TableReplaced,
    UnsupportedOperation,
)


def rows_of(table):
    return sorted(tuple(r.values()) for r in table.to_arrow().to_pylist())


def rows(wb, text):
    return sorted(tuple(r.values()) for r in wb.run(text).arrow.to_pylist())


@pytest.mark.spark
@pytest.mark.parametrize("producer", [pytest.param("none", marks=pytest.mark.nightly), "input"])
def test_a_result_whose_key_changes_deletes_the_row_of_its_last_key(swb, producer):
    """The key is the sum, not what the query groups by. At last both groups take the key of the other one's last row."""
    swb.run("CREATE TABLE n (i BIGINT); INSERT INTO n VALUES (1), (2)")
    swb.run(f"""CREATE TABLE sums (total BIGINT, odd BIGINT, PRIMARY KEY (total) NOT ENFORCED)
        WITH ('bucket' = '1', 'changelog-producer' = '{producer}')""")
    swb.run("SET 'execution.runtime-mode' = 'streaming'; SET 'execution.checkpointing.interval' = '200 ms'")
    job = swb.run("INSERT INTO sums SELECT SUM(i), i % 2 FROM n GROUP BY i % 2").job

    def sums():
        return sorted(tuple(r.values()) for r in swb.table("sums").to_arrow().to_pylist())

    assert job.wait_for(lambda: sums() == [(1, 1), (2, 0)])
    for more, expected in (
        ("(3), (8)", [(4, 1), (10, 0)]),
        ("(6)", [(4, 1), (16, 0)]),
        ("(5), (7), (4)", [(16, 1), (20, 0)]),
        ("(1), (3), (-4)", [(16, 0), (20, 1)]),
    ):
        swb.table("n").append(swb.run(f"SELECT * FROM (VALUES {more}) AS v(i)").frame.toArrow())
        assert job.wait_for(lambda expected=expected: sums() == expected)
    job.stop()


@pytest.mark.spark
def test_a_table_that_merges_gets_every_row_of_a_result_that_changes(swb):
    """Two rows of one key, from both sides of a UNION ALL, complete each other."""
    keyed = "PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'changelog-producer' = 'input')"
    swb.run(
        f"CREATE TABLE orders (id INT, person INT, n INT, {keyed}; CREATE TABLE people (id INT, name STRING, {keyed}"
    )
    swb.run("""CREATE TABLE wide (id INT, n INT, name STRING, PRIMARY KEY (id) NOT ENFORCED)
        WITH ('bucket' = '1', 'merge-engine' = 'partial-update', 'ignore-delete' = 'true')""")
    swb.run("INSERT INTO orders VALUES (7, 1, 10); INSERT INTO people VALUES (1, 'Ann')")
    swb.run("SET 'execution.runtime-mode' = 'streaming'")
    job = swb.run("""INSERT INTO wide SELECT id, n, CAST(NULL AS STRING) FROM orders
        UNION ALL SELECT orders.id, CAST(NULL AS INT), people.name FROM people JOIN orders ON people.id = orders.person""").job
    assert job.wait_for(lambda: rows_of(swb.table("wide")) == [(7, 10, "Ann")])
    swb.run("INSERT INTO orders VALUES (7, 1, 20); INSERT INTO people VALUES (1, 'Bea')")
    assert job.wait_for(lambda: rows_of(swb.table("wide")) == [(7, 20, "Bea")])
    job.stop()


def test_read_optimized_rows_of_a_fallback_branch_with_keys(wb):
    wb.run("CREATE TABLE t (p INT, k INT, v STRING) PARTITIONED BY (p); CALL sys.create_branch('t', 'live')")
    wb.run("ALTER TABLE t SET ('scan.fallback-branch' = 'live')")
    wb.run("ALTER TABLE `t$branch_live` SET ('primary-key' = 'p,k', 'bucket' = '1')")
    wb.run("INSERT INTO `t$branch_live` VALUES (1, 1, 'a'), (2, 1, 'b'); CALL sys.compact('`t$branch_live`')")
    wb.run("INSERT INTO `t$branch_live` VALUES (1, 1, 'new'), (3, 1, 'c')")
    assert rows(wb, "SELECT * FROM `t$ro`") == [(1, 1, "a"), (2, 1, "b")]
    wb.run("INSERT INTO t VALUES (2, 9, 'main')")
    assert rows(wb, "SELECT * FROM `t$ro`") == [(1, 1, "a"), (2, 9, "main")]


def test_postponed_rows_wait_without_expiry_and_without_unmergeable_retractions(wb):
    wb.run("""CREATE TABLE p (k INT PRIMARY KEY NOT ENFORCED, v INT) WITH ('bucket' = '-2', 'postpone.batch-write-fixed-bucket' = 'false',
        'snapshot.num-retained.min' = '2', 'snapshot.num-retained.max' = '2')""")
    for i in range(4):
        wb.run(f"INSERT INTO p VALUES ({i}, 0)")
    assert wb.table("p").snapshots().num_rows == 4
    wb.run("CALL sys.compact('p')")
    assert wb.table("p").snapshots().num_rows == 2
    wb.run("""CREATE TABLE u (k INT PRIMARY KEY NOT ENFORCED, v INT, op STRING) WITH ('bucket' = '-2',
        'merge-engine' = 'partial-update', 'rowkind.field' = 'op')""")
    with pytest.raises(UnsupportedOperation, match="does not accept -U or -D"):
        wb.run("INSERT INTO u VALUES (1, 1, '+I'), (1, 1, '-D')")
    assert wb.table("u").latest_snapshot() is None


def test_values_inside_a_column_stay_nullable(wb):
    wb.run("CREATE TABLE t (id INT, r ROW<a INT, b ARRAY<STRING>> NOT NULL, m MAP<STRING, INT>)")
    for change in (
        "r ROW<a INT NOT NULL, b ARRAY<STRING>> NOT NULL",
        "r ROW<a INT, b ARRAY<STRING NOT NULL>> NOT NULL",
        "r ROW<a INT, b ARRAY<STRING> NOT NULL> NOT NULL",
        "m MAP<STRING, INT NOT NULL>",
    ):
        with pytest.raises(SchemaChangeError, match="cannot become NOT NULL"):
            wb.run(f"ALTER TABLE t MODIFY {change}")
    wb.run("ALTER TABLE t SET ('alter-column-null-to-not-null.disabled' = 'false')")
    wb.run("ALTER TABLE t MODIFY r ROW<a INT NOT NULL, b ARRAY<STRING>> NOT NULL")
    assert str(wb.table("t").schema.field("r").type) == "ROW<`a` INT NOT NULL, `b` ARRAY<STRING>> NOT NULL"


def test_the_first_column_is_not_moved_to_the_front(wb):
    wb.run("CREATE TABLE t (a INT, b INT)")
    with pytest.raises(SchemaChangeError, match="'a' is the first already"):
        wb.run("ALTER TABLE t MODIFY a INT FIRST")
    wb.run("ALTER TABLE t MODIFY b INT FIRST")
    assert wb.table("t").schema.names == ("b", "a")


def test_initial_buckets_for_one_statement(wb):
    wb.run("CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED) WITH ('bucket' = '-1')")
    wb.run("INSERT INTO t /*+ OPTIONS('dynamic-bucket.initial-buckets' = '2') */ VALUES (1), (2), (3), (4), (5)")
    assert {b for (b,) in rows(wb, "SELECT bucket FROM `t$files`")} == {0, 1}


@pytest.mark.parametrize(
    "hint",
    [
        "'sink.managed.writer-buffer-memory' = '0 mb'",
        "'sink.clustering.sample-factor' = '10'",
        "'target-file-size' = 'x'",
    ],
)
def test_the_values_of_a_hint_are_checked(wb, hint):
    wb.run("CREATE TABLE t (a INT)")
    with pytest.raises(BadOptionValue, match=hint.split("'")[1]):
        wb.run(f"INSERT INTO t /*+ OPTIONS({hint}) */ VALUES (1)")
    assert wb.table("t").latest_snapshot() is None


def test_a_stream_does_not_overwrite(wb):
    wb.run("CREATE TABLE t (a INT); SET 'execution.runtime-mode' = 'streaming'")
    with pytest.raises(UnsupportedOperation, match="INSERT OVERWRITE needs batch mode"):
        wb.run("INSERT OVERWRITE t VALUES (1)")


@pytest.mark.spark
def test_a_table_is_compacted_from_itself_in_streaming_mode(wb):
    wb.run("CREATE TABLE t (a INT); CREATE TABLE u (a INT); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)")
    wb.run("SET 'execution.runtime-mode' = 'streaming'; INSERT OVERWRITE t SELECT * FROM t")
    assert wb.table("t").files().num_rows == 1
    with pytest.raises(UnsupportedOperation, match="INSERT OVERWRITE needs batch mode"):
        wb.run("INSERT OVERWRITE u SELECT * FROM t")


def test_a_catalog_decides_where_its_tables_are(wb, tmp_path):
    with pytest.raises(UnsupportedOperation, match="the catalog decides where its tables are"):
        wb.run(f"CREATE TABLE t (a INT) WITH ('path' = '{tmp_path}/elsewhere')")
    assert wb.tables() == []
    wb.run(f"CREATE TABLE t (a INT) WITH ('path' = 'file:{tmp_path}/w/default.db/t')")
    assert wb.tables() == ["t"]


def test_a_table_by_its_path_has_the_columns_of_its_definition(wb, tmp_path):
    with_path = f"WITH ('connector' = 'paimon', 'path' = '{tmp_path}/elsewhere'"
    wb.run(f"CREATE TABLE m (a INT, b STRING) {with_path})")
    with pytest.raises(TableNotFound, match="no table at"):
        wb.run("INSERT INTO m VALUES (1, 'x')")
    wb.run(f"DROP TABLE m; CREATE TABLE m (a INT, b STRING) {with_path}, 'auto-create' = 'true')")
    wb.run(f"INSERT INTO m VALUES (1, 'x'); DROP TABLE m; CREATE TABLE m (a INT NOT NULL, b STRING) {with_path})")
    wb.run("INSERT INTO m VALUES (2, 'y')")
    assert paimon_nb.open_table(f"{tmp_path}/elsewhere").to_arrow().to_pylist() == [
        {"a": 1, "b": "x"},
        {"a": 2, "b": "y"},
    ]
    wb.run(f"DROP TABLE m; CREATE TABLE m (a INT, b STRING, c INT) {with_path})")
    with pytest.raises(SchemaMismatch, match="has the columns a INT, b STRING"):
        wb.run("INSERT INTO m VALUES (1, 'x', 2)")


def test_a_stream_compacts_without_a_full_strategy(wb):
    wb.run("CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED); INSERT INTO t VALUES (1)")
    wb.run("SET 'execution.runtime-mode' = 'streaming'")
    with pytest.raises(UnsupportedOperation, match="needs batch mode"):
        wb.run("CALL sys.compact(`table` => 't', compact_strategy => 'full')")
    wb.run("SET 'execution.runtime-mode' = 'batch'; CALL sys.compact(`table` => 't', compact_strategy => 'full')")
    assert rows(wb, "SELECT level FROM `t$files`") == [(5,)]


def test_partitions_of_one_day_expire_in_order(wb):
    wb.run("CREATE TABLE t (k INT, dt STRING, h STRING) PARTITIONED BY (dt, h)")
    for h in ("03", "01", "02"):
        wb.run(f"INSERT INTO t VALUES (1, '2020-01-01', '{h}')")
    wb.run("SET 'execution.runtime-mode' = 'batch'")
    expired = wb.run("""CALL sys.expire_partitions(`table` => 't', expiration_time => '1 d', timestamp_formatter => 'yyyy-MM-dd',
        max_expires => 2)""")
    assert expired.arrow.column(0).to_pylist() == ["dt=2020-01-01, h=01", "dt=2020-01-01, h=02"]


def test_a_compaction_in_streaming_mode_runs_until_it_is_stopped(wb):
    wb.run("""CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v INT) WITH ('bucket' = '1', 'write-only' = 'true',
        'changelog-producer' = 'full-compaction', 'continuous.discovery-interval' = '50 ms',
        'snapshot.num-retained.min' = '3', 'snapshot.num-retained.max' = '3')""")
    wb.run("INSERT INTO t VALUES (1, 1); SET 'execution.runtime-mode' = 'streaming'; SET 'table.dml-sync' = 'false'")
    job = wb.run("CALL sys.compact('t')").job
    for v in (2, 3):
        assert job.process_available(60)
        wb.table("t").append(pa.table({"k": pa.array([1], pa.int32()), "v": pa.array([v], pa.int32())}))
    assert job.process_available(60)
    job.stop()
    assert job.status == "CANCELED"
    wb.run("SET 'execution.runtime-mode' = 'batch'")
    kinds = rows(wb, "SELECT snapshot_id, commit_kind FROM `t$snapshots`")
    assert kinds == [(4, "COMPACT"), (5, "APPEND"), (6, "COMPACT")]  # it also expires, which writers leave to it
    assert rows(wb, "SELECT level FROM `t$files`") == [(5,)]


@pytest.mark.parametrize("call", ["compact('t')", "compact_database()"])
def test_a_compaction_in_streaming_mode_is_done_when_the_call_returns(wb, call):
    wb.run("CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')")
    wb.run("INSERT INTO t VALUES (1); INSERT INTO t VALUES (2); SET 'execution.runtime-mode' = 'streaming'")
    called = wb.run(f"CALL sys.{call}")
    assert (called.job, called.arrow.to_pylist()) == (None, [{"result": "Success"}])
    assert wb.table("t").files().column("level").to_pylist() == [5]
    with pytest.raises(BadOptionValue, match=r"table\.dml-sync"):
        wb.run("SET 'table.dml-sync' = 'never'")


def test_a_compaction_of_a_database_in_streaming_mode_finds_new_tables(wb):
    new = "CREATE TABLE {} (k INT PRIMARY KEY NOT ENFORCED) WITH ('bucket' = '1', 'changelog-producer' = 'lookup', 'write-only' = 'true')"
    wb.run("SET 'execution.runtime-mode' = 'streaming'; SET 'table.dml-sync' = 'false'; " + new.format("a"))
    job = wb.run(
        "CALL sys.compact_database(mode => 'combined', table_options => 'continuous.discovery-interval=50 ms')"
    ).job
    wb.run(new.format("b"))
    for name in "ab":
        wb.table(name).append(pa.table({"k": pa.array([1], pa.int32())}))
        assert job.wait_for(lambda name=name: wb.table(name).files().column("level").to_pylist() == [5], 60)
    job.stop()


@pytest.mark.spark
def test_the_audit_log_has_computed_columns(swb):
    swb.run("CREATE TABLE t (a INT, c AS a + 1, b INT); INSERT INTO t VALUES (1, 5)")
    assert [tuple(r) for r in swb.sql("SELECT * FROM `t$audit_log`").collect()] == [("+I", 1, 5, 2)]
    assert [tuple(r) for r in swb.sql("SELECT c, rowkind FROM `t$audit_log` WHERE c > 1").collect()] == [(2, "+I")]


def test_where_of_a_compaction_compares_a_text_column_with_a_number(wb):
    wb.run(
        "CREATE TABLE t (k INT, dt STRING, h INT) PARTITIONED BY (dt, h) WITH ('bucket' = '-1', 'compaction.min.file-num' = '2')"
    )
    for _ in range(2):
        wb.run("INSERT INTO t VALUES (1, '20221208', 15), (1, '20221208', 16), (1, '20221209', 15)")
    wb.run("CALL sys.compact(`table` => 't', `where` => '(dt = 20221208 and h = 15) or dt in (20221209)')")
    files = rows(wb, "SELECT `partition`, COUNT(*) FROM `t$files` GROUP BY `partition`")
    assert files == [("{20221208, 15}", 1), ("{20221208, 16}", 2), ("{20221209, 15}", 1)]


@pytest.mark.spark
def test_a_temporary_view_by_its_qualified_name(swb):
    swb.run("CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v INT); INSERT INTO t VALUES (1, 1)")
    swb.run("CREATE TEMPORARY VIEW one AS SELECT 1 AS k, 5 AS v")
    assert [tuple(r) for r in swb.sql("SELECT v FROM `default`.one").collect()] == [(5,)]
    swb.run("""CALL sys.merge_into(target_table => 'default.t', source_sqls => 'CREATE TEMPORARY VIEW s AS SELECT 1 AS k, 7 AS v',
        source_table => 'default.s', merge_condition => 't.k = s.k', matched_upsert_setting => '*')""")
    assert rows(swb, "SELECT v FROM t") == [(7,)]
    with pytest.raises(TableNotFound):
        swb.run("CREATE DATABASE other; SELECT v FROM other.one")


def test_changelogs_of_before_outlive_the_option_that_kept_them(wb):
    retained = "'snapshot.num-retained.min' = '2', 'snapshot.num-retained.max' = '2'"
    kept = "'changelog.num-retained.min' = '{0}', 'changelog.num-retained.max' = '{0}'"
    wb.run(f"""CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED) WITH ('bucket' = '1', 'changelog-producer' = 'input',
        'num-sorted-run.compaction-trigger' = '99', {retained}, {kept.format(5)})""")
    for k in range(5):
        wb.run(f"INSERT INTO t VALUES ({k})")
    assert wb.table("t").store.changelogs.ids() == [1, 2, 3]
    wb.run(f"ALTER TABLE t SET ({kept.format(2)})")
    for k in range(5, 8):
        wb.run(f"INSERT INTO t VALUES ({k})")
    assert wb.table("t").store.changelogs.ids() == [1, 2, 3]


def test_indexes_are_built_of_the_columns_that_exist(wb):
    wb.run("CREATE TABLE t (k INT, v STRING); INSERT INTO t VALUES (1, 'a')")
    wb.run("ALTER TABLE t SET ('file-index.bloom-filter.columns' = 'gone,v'); CALL sys.rewrite_file_index('t')")
    assert rows(wb, "SELECT column_name FROM `t$file_indexes`") == [("v",)]
    with pytest.raises(BadOptionValue, match="cannot be below 20"):
        wb.run(
            "CALL sys.compact(`table` => 't', order_strategy => 'order', order_by => 'k', options => 'sort-compaction.local-sample.magnification=1')"
        )


@pytest.mark.spark
def test_a_temporary_table_with_other_columns_than_its_files_cannot_be_read(wb, tmp_path):
    there = f"WITH ('connector' = 'paimon', 'path' = '{tmp_path}/t', 'auto-create' = 'true')"
    wb.run(f"CREATE TABLE a (i INT) {there}; CREATE TABLE b (i INT, j INT) {there}")
    with pytest.raises(SchemaMismatch, match="has the columns i INT"):
        wb.run("SELECT * FROM b")


def test_schemas_list_options_in_javas_order(wb):
    wb.run("""CREATE TABLE t (a INT PRIMARY KEY NOT ENFORCED) WITH ('a.aa.aaa' = 'val1', 'b.bb.bbb' = 'val2');
        ALTER TABLE t SET ('snapshot.time-retained' = '5 h'); ALTER TABLE t SET ('snapshot.num-retained.max' = '20');
        ALTER TABLE t SET ('snapshot.num-retained.min' = '18'); ALTER TABLE t SET ('manifest.format' = 'avro')""")
    options = [json.loads(row["options"]) for row in wb.table("t").system("schemas").to_pylist()]
    assert list(options[1]) == ["a.aa.aaa", "snapshot.time-retained", "b.bb.bbb"]
    last = ["a.aa.aaa", "snapshot.time-retained", "b.bb.bbb", "snapshot.num-retained.max", "manifest.format"]
    assert list(options[4]) == [*last, "snapshot.num-retained.min"]


def test_orphans_of_the_last_day_and_of_branches(wb):
    wb.run(
        "CREATE TABLE t (k BIGINT PRIMARY KEY NOT ENFORCED, v STRING) WITH ('bucket' = '1'); INSERT INTO t VALUES (1, 'Hi')"
    )
    wb.run("CALL sys.create_branch('default.t', 'br')")
    root = Path(wb.table("t").path)
    lost = [root / "bucket-0/orphan_file1", root / "branch/branch-br/snapshot/orphan_file2"]
    for path in lost:
        path.parent.mkdir(exist_ok=True)
        path.write_text("a")
        os.utime(path, (path.stat().st_mtime - 10,) * 2)
    older_than = datetime.fromtimestamp(lost[0].stat().st_mtime + 1).isoformat(" ")[:23]
    call = "CALL sys.remove_orphan_files(`table` => 'default.*', {}dry_run => {})"
    assert rows(wb, call.format("", "false")) == [("0",), ("0",)]
    for dry_run in ("true, mode => 'distributed'", "false"):
        assert rows(wb, call.format(f"older_than => '{older_than}', ", dry_run)) == [("2",), ("2",)]
    assert [path.exists() for path in lost] == [False, False]
    assert rows(wb, "SELECT * FROM t") == [(1, "Hi")]
    with pytest.raises(BadOptionValue, match="unknown mode"):
        wb.run(call.format("", "true, mode => 'unknown'"))


@pytest.mark.parametrize("keys", [", PRIMARY KEY (k) NOT ENFORCED", ""], ids=["keys", "no keys"])
def test_running_jobs_follow_changed_external_paths(wb, tmp_path, keys):
    """Both the compaction job and a writer, which refreshes its handle for each checkpoint."""
    old, new = (tmp_path / name for name in ("old", "new"))
    options = "'changelog-producer' = 'full-compaction', 'bucket' = '1'" if keys else "'compaction.min.file-num' = '2'"
    wb.run(f"""CREATE TABLE t (k INT, v INT{keys}) WITH ({options}, 'continuous.discovery-interval' = '50 ms', 'write-only' = 'true',
        'data-file.external-paths' = 'file://{old}', 'data-file.external-paths.strategy' = 'round-robin',
        'sink.writer-refresh-detectors' = 'external-paths'); SET 'execution.runtime-mode' = 'streaming'; SET 'table.dml-sync' = 'false'""")
    writer, job = wb.table("t"), wb.run("CALL sys.compact(`table` => 't')").job

    def write(v: int) -> None:
        writer.refresh().append(pa.table({"k": pa.array([1], pa.int32()), "v": pa.array([v], pa.int32())}))

    def paths() -> set[str]:
        return {path.removeprefix("file://") for path in writer.refresh().files().column("file_path").to_pylist()}

    for v in (1, 2):
        write(v)
    assert job.wait_for(lambda: len(paths()) == 1 and job.process_available(60), 60)
    assert ({path.startswith(f"{old}/") for path in paths()}, new.exists()) == ({True}, False)
    wb.run(f"ALTER TABLE t SET ('data-file.external-paths' = 'file://{new}')")
    write(3)
    assert job.wait_for(lambda: len(paths()) == 1 and job.process_available(60), 60)
    job.stop()
    assert {path.startswith(f"{new}/") for path in paths()} == {True}
    assert sorted(writer.refresh().to_arrow().column("v").to_pylist()) == ([3] if keys else [1, 2, 3])


@pytest.mark.nightly
@pytest.mark.spark
def test_a_running_job_writes_to_the_external_paths_that_are_set_since(swb, tmp_path):
    def outside(name):
        return f"'data-file.external-paths' = 'file://{tmp_path}/{name}'"

    swb.run("CREATE TABLE s (k INT PRIMARY KEY NOT ENFORCED, v INT) WITH ('bucket' = '1')")
    swb.run(f"""CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v INT) WITH ('bucket' = '1', {outside("one")},
        'data-file.external-paths.strategy' = 'round-robin', 'sink.writer-refresh-detectors' = 'external-paths')""")
    swb.run("INSERT INTO s VALUES (1, 1); SET 'execution.runtime-mode' = 'streaming'")
    job = swb.run("INSERT INTO t SELECT * FROM s").job
    assert job.wait_for(lambda: job.rows == 1)
    swb.run(f"ALTER TABLE t SET ({outside('two')}); INSERT INTO s VALUES (2, 2)")
    assert job.wait_for(lambda: job.rows == 2)
    job.stop()
    assert [len(list((tmp_path / name).rglob("data-*"))) for name in ("one", "two")] == [1, 1]
    assert swb.table("t").to_arrow().to_pylist() == [{"k": 1, "v": 1}, {"k": 2, "v": 2}]


@pytest.mark.spark
def test_a_statement_set_reads_random_rows_once(swb):
    swb.run("""CREATE TEMPORARY TABLE made (k INT, v INT) WITH ('connector' = 'datagen', 'number-of-rows' = '50');
        CREATE TABLE small (k INT PRIMARY KEY NOT ENFORCED, v INT) WITH ('write-buffer-size' = '256 kb', 'write-buffer-spillable' = 'true');
        CREATE TABLE large (k INT PRIMARY KEY NOT ENFORCED, v INT); SET 'execution.runtime-mode' = 'batch'""")
    swb.run(
        "EXECUTE STATEMENT SET BEGIN INSERT INTO small SELECT * FROM made; INSERT INTO large SELECT * FROM made; END"
    )
    first = swb.table("small").to_arrow()
    assert first.num_rows == 50
    assert first.equals(swb.table("large").to_arrow())
    swb.run("INSERT OVERWRITE large SELECT * FROM made")
    assert not first.equals(swb.table("large").to_arrow())


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ("'log.changelog-mode' = 'upsert'", UnsupportedOperation, "cannot have 'log.changelog-mode' = 'upsert'"),
        ("'log.consistency' = 'eventual'", UnsupportedOperation, "cannot have 'log.consistency' = 'eventual'"),
        ("'log.scan' = 'latest', 'log.scan.timestamp-millis' = '0'", BadOptionValue, "does not use time travel"),
        ("'log.scan' = 'from-timestamp'", BadOptionValue, "needs the option 'scan.timestamp-millis'"),
    ],
)
def test_a_stream_of_files_refuses_modes_that_it_cannot_have(wb, options, error, words):
    wb.run("CREATE TABLE t (a INT); SET 'execution.runtime-mode' = 'streaming'")
    with pytest.raises(error, match=words):
        wb.run(f"SELECT * FROM t /*+ OPTIONS({options}) */").live.collect(limit=1, timeout_s=5)


def test_a_copied_catalog_has_the_same_files(wb, tmp_path):
    with pytest.raises(SqlAnalysisError, match="no matching tables"):
        wb.run(f"CALL sys.copy_files('{tmp_path}/w', '', '', '', '{tmp_path}/copy')")
    wb.run("""CREATE DATABASE d; CREATE TABLE d.t (p STRING, k INT, v INT, PRIMARY KEY (p, k) NOT ENFORCED)
        PARTITIONED BY (p) WITH ('changelog-producer' = 'lookup')""")
    wb.run("INSERT INTO d.t VALUES ('x', 1, 1), ('y', 1, 2); ALTER TABLE d.t ADD w STRING AFTER v")
    wb.run("INSERT INTO d.t VALUES ('x', 1, 3, 'new')")
    wb.run(f"CALL sys.copy_files('{tmp_path}/w', 'd', '', '', '{tmp_path}/copy', 'e')")
    copy = paimon_nb.connect(f"{tmp_path}/copy")
    assert rows(copy, "SELECT * FROM e.t") == [("x", 1, 3, "new"), ("y", 1, 2, None)]
    sizes = [
        {p.relative_to(folder): p.stat().st_size for p in folder.rglob("*-*") if p.is_file()}
        for folder in (tmp_path / "copy/e.db/t", tmp_path / "w/d.db/t")
    ]
    assert sizes[0].items() <= sizes[1].items()


def test_a_stream_ends_with_its_table(wb):
    create = "CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED) WITH ('bucket' = '1', 'continuous.discovery-interval' = '50 ms')"
    wb.run(f"{create}; INSERT INTO t VALUES (1); SET 'execution.runtime-mode' = 'streaming'")
    with wb.run("SELECT * FROM t").live as live:
        changes = iter(live)
        assert next(changes).to_pylist() == [{"op": "+I", "k": 1}]
        wb.run(f"DROP TABLE t; {create}; INSERT INTO t VALUES (1)")
        with pytest.raises(TableReplaced, match="dropped"):
            next(changes)


@pytest.mark.spark
def test_json_is_stored_as_variants(swb):
    swb.run("""
        SET 'execution.runtime-mode' = 'batch';
        CREATE TABLE t (v VARIANT);
        INSERT INTO t SELECT PARSE_JSON(s) FROM (VALUES ('{"a":1}'), ('{"a":2}'), ('"hello"')) AS T(s)
    """)
    small = b"\x02\x01\x00\x00\x02\x0c"  # an object with one field, an integer of one byte
    stored = [v["value"] for v in swb.run("SELECT * FROM t").arrow.column("v").to_pylist()]
    assert sorted(stored) == [small + b"\1", small + b"\2", b"\x15hello"]
