"""What Paimon 2.1 answers to statements that 1.3.1 answers otherwise or refuses, told with tables of our own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from paimon_nb.base.errors import (
    AlreadyExists,
    BadOptionValue,
    FixedOption,
    SqlAnalysisError,
    UnknownName,
    UnsupportedOperation,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import paimon_nb

SEQUENCES = "'table-read.sequence-number.enabled' = 'true'"


def rows(wb: paimon_nb.Workbench, text: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(r.values()) for r in wb.run(text).arrow.to_pylist()), key=repr)


def test_logs_show_sequence_numbers_where_the_table_says_so(wb: paimon_nb.Workbench) -> None:
    wb.run(
        "CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v STRING) WITH ('bucket' = '1', 'changelog-producer' = 'input')"
    )
    wb.run("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    assert rows(wb, "SELECT * FROM `t$audit_log`") == [("+I", 1, "a"), ("+I", 2, "b")]
    wb.run(f"ALTER TABLE t SET ({SEQUENCES})")
    wb.run("INSERT INTO t VALUES (1, 'c')")
    assert rows(wb, "SELECT * FROM `t$audit_log`") == [("+I", 1, 2, "b"), ("+I", 2, 1, "c")]
    assert rows(wb, "SELECT * FROM `t$binlog`") == [("+I", 1, [2], ["b"]), ("+I", 2, [1], ["c"])]
    assert rows(wb, "SELECT * FROM t") == [(1, "c"), (2, "b")]
    changes = "/*+ OPTIONS('incremental-between' = '1,2') */"
    assert rows(wb, f"SELECT * FROM `t$audit_log` {changes}") == [("+I", 2, 1, "c")]
    assert rows(wb, f"SELECT * FROM `t$binlog` {changes}") == [("+I", 2, [1], ["c"])]
    described = wb.run("DESCRIBE `t$audit_log`").arrow.to_pylist()
    assert [next(iter(r.values())) for r in described] == ["rowkind", "_SEQUENCE_NUMBER", "k", "v"]


def test_sequence_numbers_need_a_key_and_the_table(wb: paimon_nb.Workbench) -> None:
    with pytest.raises(BadOptionValue, match="no primary key"):
        wb.run(f"CREATE TABLE t (a INT) WITH ({SEQUENCES})")
    wb.run("CREATE TABLE t (a INT PRIMARY KEY NOT ENFORCED)")
    for system in ("audit_log", "binlog"):
        with pytest.raises(BadOptionValue, match="for one statement"):
            wb.run(f"SELECT * FROM `t${system}` /*+ OPTIONS({SEQUENCES}) */")


def test_a_branch_that_is_there_is_ignored_when_asked(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1); CALL sys.create_tag('t', 'one', 1)")
    wb.run("CALL sys.create_branch('t', 'b', 'one'); CALL sys.create_branch('t', 'empty')")
    for call in (
        "'t', 'b', 'one', true",
        "'t', 'empty', true",
        "`table` => 't', branch => 'b', ignore_if_exists => true",
    ):
        wb.run(f"CALL sys.create_branch({call})")
    for call in ("'t', 'b', 'one'", "'t', 'empty', false", "'t', 'b', 'one', false"):
        with pytest.raises(AlreadyExists):
            wb.run(f"CALL sys.create_branch({call})")
    wb.run("CALL sys.create_branch('t', 'new', true)")
    assert rows(wb, "SELECT * FROM `t$branch_new`") == []
    assert rows(wb, "SELECT * FROM `t$branch_b`") == [(1,)]


def test_options_may_be_set_to_the_value_that_they_have(wb: paimon_nb.Workbench) -> None:
    wb.run(
        "CREATE TABLE t (p INT, k INT, v INT, PRIMARY KEY (p, k) NOT ENFORCED) PARTITIONED BY (p) WITH ('bucket' = '2', 'merge-engine' = 'first-row')"
    )
    wb.run("INSERT INTO t VALUES (1, 1, 1)")
    wb.run(
        "ALTER TABLE t SET ('merge-engine' = 'first-row', 'bucket' = '2', 'type' = 'TABLE', 'primary-key' = ' p , k', 'partition' = 'p')"
    )
    assert {"primary-key", "type", "partition"}.isdisjoint(wb.table("t").schema.options)
    for changed in ("'merge-engine' = 'deduplicate'", "'primary-key' = 'k'", "'type' = 'format-table'"):
        with pytest.raises(FixedOption):
            wb.run(f"ALTER TABLE t SET ({changed})")
    assert rows(wb, "SELECT * FROM t") == [(1, 1, 1)]


def test_the_key_of_an_empty_table_is_dropped(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED)")
    wb.run("ALTER TABLE t DROP PRIMARY KEY")
    assert wb.table("t").primary_keys == ()
    wb.run("INSERT INTO t VALUES (1, 1), (1, 1)")
    assert rows(wb, "SELECT * FROM t") == [(1, 1), (1, 1)]
    wb.run("CREATE TABLE full (k INT PRIMARY KEY NOT ENFORCED); INSERT INTO full VALUES (1)")
    with pytest.raises(FixedOption, match="table with data"):
        wb.run("ALTER TABLE full DROP PRIMARY KEY")


def test_partitions_are_dropped_by_their_first_columns(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE t (a INT, dt STRING, hh STRING, mm STRING) PARTITIONED BY (dt, hh, mm)")
    wb.run(
        "INSERT INTO t VALUES (1, 'a', '0', '0'), (2, 'a', '0', '1'), (3, 'a', '1', '0'), (4, 'b', '0', '0'), (5, 'b', '0', '1')"
    )
    wb.run("ALTER TABLE t DROP PARTITION (dt = 'a', hh = '0', mm = '0'), PARTITION (dt = 'b')")
    assert rows(wb, "SELECT a FROM t") == [(2,), (3,)]
    assert rows(wb, "SELECT commit_kind FROM `t$snapshots`") == [("APPEND",), ("OVERWRITE",)]
    with pytest.raises(SqlAnalysisError, match="'dt' is missing"):
        wb.run("ALTER TABLE t DROP PARTITION (hh = '0')")
    with pytest.raises(UnknownName):
        wb.run("ALTER TABLE t DROP PARTITION (dt = 'a', hh = '9', mm = '9'), PARTITION (dt = 'a', hh = '0')")
    wb.run("ALTER TABLE t DROP PARTITION (dt = 'none')")
    assert rows(wb, "SELECT a FROM t") == [(2,), (3,)]
    wb.run("ALTER TABLE t DROP PARTITION (dt = 'a', hh = '0')")
    assert rows(wb, "SELECT a FROM t") == [(3,)]


def test_partitions_are_listed_by_name_in_the_order_of_their_text(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE t (a INT, dt DATE, n INT) PARTITIONED BY (dt, n)")
    wb.run("INSERT INTO t VALUES (1, DATE '2024-01-05', 9), (2, DATE '2024-01-05', 10), (3, NULL, 1)")
    found = wb.table("t").system("partitions")
    assert found.column("partition").to_pylist() == [
        "dt=2024-01-05/n=10",
        "dt=2024-01-05/n=9",
        "dt=__DEFAULT_PARTITION__/n=1",
    ]
    assert [r[:2] for r in rows(wb, "SELECT total_buckets, done, created_by FROM `t$partitions`")] == [(-1, False)] * 3
    wb.run(
        "CREATE TABLE whole (k INT PRIMARY KEY NOT ENFORCED) WITH ('bucket' = '1', 'deletion-vectors.enabled' = 'true')"
    )
    wb.run("INSERT INTO whole VALUES (1), (2), (3)")
    wb.table("whole").delete(where="k = 2")
    columns = "partition, record_count, total_buckets, deleted_record_count"
    assert rows(wb, f"SELECT {columns} FROM `whole$partitions`") == [("", 3, 1, 1)]


@pytest.mark.parametrize("text", ["2", "", "1-0", "0,,1", "-1", "0-2", "a"])
def test_only_buckets_that_the_table_has_are_compacted(wb: paimon_nb.Workbench, text: str) -> None:
    wb.run("CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED) WITH ('bucket' = '2'); INSERT INTO t VALUES (1), (2)")
    with pytest.raises(BadOptionValue, match="is not in 0-1"):
        wb.run(f"CALL sys.compact(`table` => 't', buckets => '{text}')")
    wb.run("CALL sys.compact(`table` => 't', buckets => '0 - 1, 1')")
    wb.run("CREATE TABLE u (a INT)")
    with pytest.raises(UnsupportedOperation, match="only fixed buckets"):
        wb.run("CALL sys.compact(`table` => 'u', buckets => '0')")


@pytest.mark.spark
def test_a_table_is_replaced_by_a_query_of_itself(swb: paimon_nb.Workbench) -> None:
    wb = swb
    wb.run("CREATE TABLE t (a INT, b STRING); INSERT INTO t VALUES (1, 'x'), (2, 'y')")
    wb.run("CREATE OR REPLACE TABLE t AS SELECT a FROM t WHERE a > 1")
    assert rows(wb, "SELECT * FROM t") == [(2,)]


@pytest.fixture
def without_settings(swb: paimon_nb.Workbench) -> Iterator[None]:
    """What a test sets in the session that all tests share is taken back."""
    yield
    for key in ("spark.sql.sources.partitionOverwriteMode", "spark.paimon.write.hive-style-dynamic-partition.enabled"):
        swb.session.spark.conf.unset(key)


@pytest.mark.spark
@pytest.mark.usefixtures("without_settings")
def test_values_of_partition_columns_come_last_as_in_hive(swb: paimon_nb.Workbench) -> None:
    swb.run("CREATE TABLE t (id INT, dt STRING, name STRING, hr STRING) PARTITIONED BY (dt, hr)")
    swb.run("SET spark.sql.sources.partitionOverwriteMode = dynamic")
    insert = "INSERT OVERWRITE t PARTITION (dt, hr) SELECT {}"
    swb.run(insert.format("1 AS id, 'd1' AS dt, 'plain' AS x, 'h1' AS hr"))
    swb.run("SET spark.paimon.write.hive-style-dynamic-partition.enabled = true")
    swb.run(insert.format("2 AS id, 'last' AS name, 'd2' AS dt, 'h2' AS hr"))
    swb.run(insert.format("3 AS id, 'd3' AS dt, 'named' AS name, 'h3' AS hr"))
    swb.run("INSERT OVERWRITE t PARTITION (dt = 'd4', hr) SELECT 4 AS a, 'mixed' AS b, 'h4' AS c")
    swb.run("INSERT OVERWRITE t SELECT 5 AS id, 'by names' AS name, 'd5' AS dt, 'h5' AS hr")
    swb.run("INSERT OVERWRITE t SELECT 6 AS a, 'd6' AS b, 'other names' AS c, 'h6' AS d")
    assert rows(swb, "SELECT * FROM t") == [
        (1, "d1", "plain", "h1"), (2, "d2", "last", "h2"), (3, "d3", "named", "h3"), (4, "d4", "mixed", "h4"),
        (5, "d5", "by names", "h5"), (6, "d6", "other names", "h6"),
    ]  # fmt: skip


def test_expired_partitions_are_not_compacted_when_the_table_says_so(wb: paimon_nb.Workbench) -> None:
    wb.run("""CREATE TABLE t (k INT, dt STRING, PRIMARY KEY (dt, k) NOT ENFORCED) PARTITIONED BY (dt) WITH ('bucket' = '1',
        'write-only' = 'true', 'partition.expiration-time' = '7 d', 'partition.timestamp-formatter' = 'yyyyMMdd',
        'partition.expiration-check-interval' = '999 d')""")
    for _ in range(2):
        wb.run("INSERT INTO t VALUES (1, '20200101'), (1, '99990101'), (1, 'no day')")

    def files() -> dict[str, int]:
        return {r["partition"]: r["file_count"] for r in wb.table("t").system("partitions").to_pylist()}

    wb.run("CALL sys.compact(`table` => 't', options => 'compaction.skip-expired-partitions=true')")
    assert files() == {"dt=20200101": 2, "dt=99990101": 1, "dt=no day": 1}
    wb.run("CALL sys.compact('t')")
    assert files() == {"dt=20200101": 1, "dt=99990101": 1, "dt=no day": 1}


def operations(wb: paimon_nb.Workbench, table: str) -> list[str | None]:
    found: list[str | None] = wb.table(table).snapshots().column("operation").to_pylist()
    return found


def test_snapshots_say_which_statement_wrote_them(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE t (id INT, dt STRING) PARTITIONED BY (dt)")
    wb.run("INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'z')")
    wb.run("INSERT OVERWRITE t VALUES (4, 'x'), (5, 'y')")
    wb.table("t").drop_partitions([{"dt": "x"}])
    wb.table("t").append(wb.table("t").to_arrow())  # not a statement
    wb.run("TRUNCATE TABLE t")
    assert operations(wb, "t") == ["WRITE", "OVERWRITE", "TRUNCATE", None, "TRUNCATE"]


@pytest.mark.spark
def test_snapshots_of_changed_rows_say_which_statement_wrote_them(swb: paimon_nb.Workbench) -> None:
    wb = swb
    wb.run("CREATE TABLE t AS SELECT id, 'a' AS v FROM range(4)")
    wb.run("UPDATE t SET v = 'b' WHERE id = 1")
    wb.run("DELETE FROM t WHERE id = 2")
    wb.run("MERGE INTO t USING (SELECT 9L AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, v) VALUES (9, 'c')")
    assert operations(wb, "t") == ["CREATE_TABLE_AS_SELECT", "UPDATE", "DELETE", "MERGE"]


@pytest.mark.spark
def test_updates_of_the_same_rows_at_the_same_time_all_count(swb: paimon_nb.Workbench) -> None:
    swb.run(
        "CREATE TABLE t (id INT, n INT) WITH ('row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true');"
        " INSERT INTO t VALUES (1, 0), (2, 0)"
    )

    def add_three(_: int) -> None:
        for _ in range(3):
            swb.spark.sql("UPDATE t SET n = n + 1 WHERE id = 1")

    with ThreadPoolExecutor(2) as both:
        list(both.map(add_three, range(2)))
    assert rows(swb, "SELECT * FROM t") == [(1, 6), (2, 0)]
