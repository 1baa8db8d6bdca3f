"""Faults that later releases of Paimon repaired and that reads and writes here do not have. `tests/interop/paimon_commits.toml`
names the changes."""

from __future__ import annotations

import shutil
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import BadOptionValue, TableNotFound, TagNotFound, TimeTravelError

EVOLVES = "'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true'"


@pytest.fixture
def wb(tmp_path, request) -> paimon_nb.Workbench:
    """With the tests' Spark, where a test is marked to need one."""
    spark = request.getfixturevalue("spark") if request.node.get_closest_marker("spark") else None
    return paimon_nb.connect(str(tmp_path / "w"), spark=spark)


def rows(wb: paimon_nb.Workbench, text: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(r.values()) for r in wb.run(text).to_arrow().to_pylist()), key=repr)


def ids(wb: paimon_nb.Workbench, condition: str, table: str = "t") -> list[int]:
    return [r[0] for r in rows(wb, f"SELECT id FROM {table} WHERE {condition}")]


CONDITIONS = {
    "(id INT, s STRING)": (
        "(1, 'a%b'), (2, 'axb'), (3, 'a_b'), (4, 'a%bc'), (5, CAST(NULL AS STRING))",
        {
            r"s LIKE 'a\\%b'": [1], r"s LIKE 'a\\%b%'": [1, 4], r"s LIKE '%\\_b'": [3], "upper(s) = 'AXB'": [2],
            "substring(s, 2, 1) = 'x'": [2], "concat(s, 'z') = 'axbz'": [2], "lower(s) IS NULL": [5],
        },
    ),
    "(id INT, d DECIMAL(10, 2), e DECIMAL(30, 10))": (
        "(1, 1.50, -1.5), (2, -3.25, 2.5), (3, 100.00, 100000)",
        {"d = 1.5": [1], "d < 0": [2], "d > 1.499": [1, 3], "e > 0": [2, 3], "e = -1.5": [1], "e >= 2.50": [2, 3], "e BETWEEN 1 AND 3": [2]},
    ),
    "(id INT, v BIGINT) WITH ('file-index.bsi.columns' = 'v')": (
        "(1, -9223372036854775808), (2, 9223372036854775807), (3, 0), (4, CAST(NULL AS BIGINT))",
        {
            "v = -9223372036854775808": [1], "v <= -9223372036854775808": [1], "v < 0": [1], "v > -9223372036854775808": [2, 3],
            "v = 9223372036854775807": [2], "v IS NULL": [4], "v NOT BETWEEN 0 AND 1": [1, 2],
        },
    ),
    "(id INT, v INT) WITH ('file-index.range-bitmap.columns' = 'v')": (
        "(1, CAST(NULL AS INT)), (2, 5), (3, 7), (4, CAST(NULL AS INT))",
        {"v IS NULL": [1, 4], "v IS NOT NULL": [2, 3], "v < 6": [2], "v > 5": [3], "v <> 5": [3], "v IN (7, 9)": [3]},
    ),
    "(id INT, d DATE, n BIGINT)": (
        "(1, DATE '2024-01-01', 1), (2, DATE '2024-02-01', 5)",
        {"d BETWEEN DATE '2024-01-15' AND DATE '2024-03-01'": [2], "n BETWEEN 1 AND 2": [1], "n NOT BETWEEN 1 AND 2": [2]},
    ),
}  # fmt: skip
"""Columns of a table -> its rows, and conditions with the ids that meet them."""


@pytest.mark.parametrize("columns", [pytest.param(c, marks=pytest.mark.spark) if "bsi" in c else c for c in CONDITIONS])
def test_conditions(wb, columns):
    values, found = CONDITIONS[columns]
    wb.run(f"CREATE TABLE t {columns}; INSERT INTO t VALUES {values}")
    assert {c: ids(wb, c) for c in found} == found


@pytest.mark.spark
@pytest.mark.parametrize(
    ("file_format", "index"),
    [("orc", ""), ("avro", ""), ("parquet", "bloom-filter"), ("parquet", "bitmap"), ("parquet", "range-bitmap")],
)
def test_nan_is_found(wb, file_format, index):
    indexed = f", 'file-index.{index}.columns' = 'v'" if index else ""
    wb.run(f"CREATE TABLE t (id INT, v DOUBLE) WITH ('file.format' = '{file_format}'{indexed})")
    wb.run("INSERT INTO t VALUES (1, CAST('NaN' AS DOUBLE)), (2, 2.0)")
    assert [ids(wb, c) for c in ("isnan(v)", "NOT isnan(v)", "v = CAST('NaN' AS DOUBLE)")] == [[1], [2], [1]]


@pytest.mark.parametrize("large", ["false", "true"])
def test_a_file_index_beside_deletion_vectors(wb, large):
    wb.run(f"""CREATE TABLE t (id INT, v INT) WITH ('deletion-vectors.enabled' = 'true', 'file-index.bitmap.columns' = 'v',
        'deletion-vectors.bitmap64' = '{large}'); INSERT INTO t VALUES (1, 1), (2, 1), (3, 2), (4, 1)""")
    wb.table("t").delete(where="id = 2")
    assert (ids(wb, "v = 1"), ids(wb, "v = 2"), rows(wb, "SELECT COUNT(*) FROM t WHERE v = 1")) == ([1, 4], [3], [(2,)])


def test_bytes_are_ordered_without_a_sign(wb):
    wb.run("CREATE TABLE t (b BYTES PRIMARY KEY NOT ENFORCED, id INT) WITH ('bucket' = '1')")
    for batch in ({b"\x80": 1, b"\x7f": 2}, {b"\xff": 3, b"\x00": 4}, {b"\x80": 5}):
        columns = {"b": pa.array(list(batch), pa.binary()), "id": pa.array(list(batch.values()), pa.int32())}
        wb.table("t").append(pa.table(columns))
    wb.run("CALL sys.compact('t')")
    assert rows(wb, "SELECT * FROM t") == [(b"\x00", 4), (b"\x7f", 2), (b"\x80", 5), (b"\xff", 3)]
    assert (ids(wb, "b > X'7F'"), ids(wb, "b = X'80'")) == ([3, 5], [5])


def test_times_before_1970_keep_their_time_of_day(wb):
    wb.run("CREATE TABLE t (id INT, a TIMESTAMP(6), b TIMESTAMP(3))")
    wb.run("INSERT INTO t VALUES (1, TIMESTAMP '1969-12-31 23:59:59.123456', TIMESTAMP '1969-12-31 23:59:59.123')")
    wb.run("ALTER TABLE t MODIFY a TIMESTAMP(3); ALTER TABLE t MODIFY b TIME(3)")
    assert rows(wb, "SELECT * FROM t") == [(1, datetime(1969, 12, 31, 23, 59, 59, 123000), time(23, 59, 59, 123000))]


def test_partitions_of_times(wb):
    wb.run("CREATE TABLE t (id INT, p TIMESTAMP(6)) PARTITIONED BY (p)")
    moments = ["2024-01-01 10:00:00.123456", "2024-01-01 10:00:00", "1969-12-31 23:59:59.999999"]
    wb.run("INSERT INTO t VALUES " + ", ".join(f"({n}, TIMESTAMP '{m}')" for n, m in enumerate(moments)))
    assert rows(wb, "SELECT * FROM t") == [(n, datetime.fromisoformat(m)) for n, m in enumerate(moments)]
    assert [ids(wb, f"p = TIMESTAMP '{m}'") for m in moments] == [[0], [1], [2]]


def test_date_partitions_of_format_tables(wb):
    wb.run("CREATE TABLE t (id INT, d DATE) USING csv PARTITIONED BY (d)")
    wb.run("INSERT INTO t VALUES (1, DATE '2024-01-01'), (2, DATE '2024-02-01')")
    assert rows(wb, "SELECT * FROM t WHERE d = DATE '2024-01-01'") == [(1, date(2024, 1, 1))]
    assert ids(wb, "d > DATE '2024-01-15'") == [2]


@pytest.mark.parametrize("key", ["csv.field-delimiter", "field-delimiter", "sep", "delimiter"])
def test_the_delimiter_of_csv_has_several_names(wb, key):
    wb.run(f"CREATE TABLE t (id INT, s STRING) WITH ('type' = 'format-table', 'file.format' = 'csv', '{key}' = '|')")
    wb.run("INSERT INTO t VALUES (1, 'a,b')")
    assert rows(wb, "SELECT * FROM t") == [(1, "a,b")]


def test_aggregates_of_partial_update_need_a_group_that_orders_them(wb):
    with pytest.raises(BadOptionValue, match="sequence group"):
        wb.run("""CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, a INT) WITH ('merge-engine' = 'partial-update',
            'fields.a.aggregate-function' = 'sum')""")


def test_a_lookup_takes_the_row_with_the_greatest_sequence_field(wb):
    wb.run("""CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v STRING, s INT) WITH ('bucket' = '1', 'changelog-producer' = 'lookup',
        'sequence.field' = 's')""")
    wb.run("INSERT INTO t VALUES (1, 'new', 10); INSERT INTO t VALUES (1, 'old', 5)")
    assert rows(wb, "SELECT * FROM t") == [(1, "new", 10)]
    wb.run("INSERT INTO t VALUES (1, 'newer', 11)")
    assert rows(wb, "SELECT * FROM t") == [(1, "newer", 11)]


def test_partitions_that_wait_for_a_compaction_are_shown(wb):
    wb.run("""CREATE TABLE t (k INT, p INT, PRIMARY KEY (k, p) NOT ENFORCED) PARTITIONED BY (p)
        WITH ('bucket' = '1', 'deletion-vectors.enabled' = 'true', 'write-only' = 'true'); INSERT INTO t VALUES (1, 1), (2, 2)""")
    assert (rows(wb, "SHOW PARTITIONS t"), rows(wb, "SELECT * FROM t")) == ([("p=1",), ("p=2",)], [])


def test_a_table_whose_directory_is_gone_can_be_made_again(wb):
    wb.run("CREATE TABLE t (k INT)")
    shutil.rmtree(wb.table("t").path)
    wb.run("DROP TABLE IF EXISTS t; CREATE TABLE t (k INT); INSERT INTO t VALUES (1)")
    assert rows(wb, "SELECT * FROM t") == [(1,)]


def test_files_are_skipped_by_the_types_that_their_columns_have_now(wb):
    wb.run(f"CREATE TABLE t (id INT, v INT) WITH ({EVOLVES}); INSERT INTO t VALUES (1, 1), (2, 2)")
    wb.run(
        "ALTER TABLE t MODIFY v BIGINT; INSERT INTO t VALUES (3, 3); ALTER TABLE t ADD c STRING; INSERT INTO t VALUES (4, 4, 'x')"
    )
    found = {c: ids(wb, c) for c in ("v = 2", "v > 2", "c = 'x'", "c IS NULL")}
    assert found == {"v = 2": [2], "v > 2": [3, 4], "c = 'x'": [4], "c IS NULL": [1, 2, 3]}


@pytest.mark.spark
@pytest.mark.parametrize("file_format", ["avro", "orc"])
def test_data_evolution_in_each_format(wb, file_format):
    wb.run(f"CREATE TABLE t (id INT) WITH ({EVOLVES}, 'file.format' = '{file_format}'); INSERT INTO t VALUES (1), (2)")
    wb.run("ALTER TABLE t ADD c INT")
    assert rows(wb, "SELECT *, _ROW_ID FROM t") == [(1, None, 0), (2, None, 1)]


@pytest.mark.spark
def test_conditions_on_row_ids_beside_others(wb):
    wb.run(f"CREATE TABLE t (id INT) WITH ({EVOLVES}); INSERT INTO t VALUES (1), (2); INSERT INTO t VALUES (3), (4)")
    found = {
        "_ROW_ID = 0 OR id = 4": [1, 4],
        "_ROW_ID IN (1, 2)": [2, 3],
        "_ROW_ID > 2 OR id = 1": [1, 4],
        "_ROW_ID = 1 AND id = 2": [2],
    }
    assert {c: ids(wb, c) for c in found} == found


def test_columns_of_the_audit_log_in_any_order(wb):
    wb.run("CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v STRING, w INT) WITH ('bucket' = '1')")
    wb.run("INSERT INTO t VALUES (1, 'a', 10), (2, 'b', 20); INSERT INTO t VALUES (1, 'c', 30)")
    assert rows(wb, "SELECT w, rowkind, k FROM `t$audit_log`") == [(20, "+I", 2), (30, "+I", 1)]
    assert (rows(wb, "SELECT v FROM `t$audit_log` WHERE k = 1"), rows(wb, "SELECT w, k FROM t")) == (
        [("c",)],
        [(20, 2), (30, 1)],
    )


@pytest.mark.spark
def test_sequence_numbers_of_files_are_those_of_their_rows(wb):
    wb.run("CREATE TABLE t (id INT, v INT) WITH ('row-tracking.enabled' = 'true')")
    for n in range(1, 6):
        wb.run(f"INSERT INTO t VALUES ({n}, {n})")
    wb.run("CALL sys.compact('t')")
    span = "SELECT min_sequence_number, max_sequence_number FROM `t$files`"
    compacted = rows(wb, span)
    wb.table("t").update({"v": 22}, where="id = 2")
    assert (compacted, rows(wb, span)) == ([(1, 5)], [(1, 5), (7, 7)])
    assert rows(wb, "SELECT id, v, _ROW_ID, _SEQUENCE_NUMBER FROM t") == [
        (1, 1, 0, 1), (2, 22, 1, 7), (3, 3, 2, 3), (4, 4, 3, 4), (5, 5, 4, 5)
    ]  # fmt: skip


def test_the_rest_of_a_table_stays_after_a_delete_of_a_partition(wb):
    wb.run("CREATE TABLE t (id INT, p INT) PARTITIONED BY (p) WITH ('deletion-vectors.enabled' = 'true')")
    wb.run("INSERT INTO t VALUES (1, 1), (2, 1), (3, 2), (4, 2)")
    wb.table("t").delete(where="p = 1")
    wb.table("t").delete(where="id = 3")
    assert rows(wb, "SELECT * FROM t") == [(4, 2)]


def test_partitions_of_format_tables_by_their_values_only_and_in_any_column(wb):
    wb.run("""CREATE TABLE v (id INT, p STRING, q INT) USING csv PARTITIONED BY (p, q)
        TBLPROPERTIES ('format-table.partition-path-only-value' = 'true'); INSERT INTO v VALUES (1, 'a', 1), (2, 'b', 2)""")
    assert (ids(wb, "p = 'a'", "v"), ids(wb, "q = 2", "v"), ids(wb, "id > 0", "v")) == ([1], [2], [1, 2])
    wb.run(
        "CREATE TABLE f (p INT, id INT, s STRING) USING csv PARTITIONED BY (p); INSERT INTO f VALUES (1, 2, 'x'), (2, 3, 'y')"
    )
    assert rows(wb, "SELECT * FROM f") == [(1, 2, "x"), (2, 3, "y")]


def test_an_overwrite_of_a_format_table_replaces_its_partitions_only(wb):
    wb.run("CREATE TABLE t (id INT, p INT) USING parquet PARTITIONED BY (p); INSERT INTO t VALUES (1, 1), (2, 2)")
    wb.run("INSERT OVERWRITE t VALUES (3, 1)")
    assert rows(wb, "SELECT * FROM t") == [(2, 2), (3, 1)]


def test_keys_move_between_partitions_beside_deletion_vectors(wb):
    wb.run("""CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, p INT, v INT) PARTITIONED BY (p)
        WITH ('bucket' = '-1', 'deletion-vectors.enabled' = 'true'); INSERT INTO t VALUES (1, 1, 1), (2, 1, 1)""")
    wb.run("INSERT INTO t VALUES (1, 2, 2); INSERT INTO t VALUES (2, 2, 5), (1, 1, 7)")
    assert rows(wb, "SELECT * FROM t") == [(1, 1, 7), (2, 2, 5)]


def test_a_fallback_branch_under_conditions_on_partitions_and_values(wb):
    wb.run("CREATE TABLE t (id INT, v INT, p STRING) PARTITIONED BY (p); CALL sys.create_branch('t', 'fb')")
    wb.run("ALTER TABLE t SET ('scan.fallback-branch' = 'fb'); INSERT INTO t VALUES (1, 1, 'a')")
    wb.run("INSERT INTO `t$branch_fb` VALUES (2, 2, 'a'), (3, 3, 'b'), (4, 4, 'b')")
    assert [ids(wb, c) for c in ("p = 'b' AND v = 4", "p = 'a'", "v = 2", "v > 0")] == [[4], [1], [], [1, 3, 4]]


def test_a_dropped_index_leaves_no_file(wb):
    wb.run("""CREATE TABLE t (id INT) WITH ('file-index.bitmap.columns' = 'id', 'file-index.in-manifest-threshold' = '1 b');
        INSERT INTO t VALUES (1)""")
    root = Path(wb.table("t").path)
    assert (len(list(root.rglob("*.index"))), rows(wb, "SELECT index_type FROM `t$file_indexes`")) == (1, [("bitmap",)])
    wb.run("ALTER TABLE t RESET ('file-index.bitmap.columns'); CALL sys.rewrite_file_index('t')")
    wb.run("CALL sys.expire_snapshots(`table` => 't', retain_max => 1)")
    assert (list(root.rglob("*.index")), rows(wb, "SELECT * FROM t")) == ([], [(1,)])


def test_drop_table_drops_the_temporary_view_that_hides_a_table(wb):
    wb.run(
        "CREATE TABLE t (id INT); CREATE TEMPORARY VIEW t AS SELECT 7 AS x; CREATE TEMPORARY VIEW v AS SELECT 8 AS x"
    )
    assert "view t dropped" in str(wb.run("DROP TABLE t").arrow.to_pylist())
    assert wb.tables() == ["t"]
    wb.run("DROP TABLE IF EXISTS t; DROP TABLE v")
    assert wb.tables() == []
    with pytest.raises(TableNotFound):
        wb.run("DROP TABLE v")


@pytest.mark.spark
def test_what_is_not_there_has_a_name(wb):
    wb.run("CREATE TABLE t (id INT); INSERT INTO t VALUES (1); CREATE TEMPORARY VIEW v AS SELECT * FROM t; DROP VIEW v")
    with pytest.raises(TableNotFound):
        wb.run("SELECT * FROM v")
    with pytest.raises(TagNotFound, match="'a'"):
        wb.run("CALL sys.rename_tag('t', 'a', 'b')")
    with pytest.raises(TimeTravelError, match="watermark of 100"):
        wb.run("SELECT * FROM t /*+ OPTIONS('scan.watermark' = '100') */").to_arrow()


@pytest.mark.spark
def test_views_and_repairs_of_a_jdbc_catalog(wb, tmp_path):
    wb.run("CREATE TABLE t (id INT, v VARCHAR(5), c CHAR(3)); INSERT INTO t VALUES (2, 'b', 'y'), (1, 'a', 'x')")
    options = {"metastore": "jdbc", "uri": f"jdbc:sqlite:file:{tmp_path}/c.db"}
    other = paimon_nb.connect(str(tmp_path / "w"), options=options)
    other.run("CALL sys.repair('default.t')")
    other.run("CREATE VIEW shown AS WITH x AS (SELECT id, v, c FROM t) SELECT * FROM x ORDER BY 1")
    assert [tuple(r.values()) for r in other.run("SELECT * FROM shown").to_arrow().to_pylist()] == [
        (1, "a", "x  "),
        (2, "b", "y  "),
    ]


def test_a_primary_branch_without_the_keys_of_its_table(wb):
    wb.run(
        "CREATE TABLE t (id INT NOT NULL, v STRING, p INT NOT NULL) PARTITIONED BY (p); CALL sys.create_branch('t', 'nb')"
    )
    wb.run(
        "ALTER TABLE t SET ('primary-key' = 'p,id', 'bucket' = '2'); ALTER TABLE t SET ('scan.primary-branch' = 'nb')"
    )
    wb.run("INSERT INTO `t$branch_nb` VALUES (20, 'cat', 1), (20, 'dog', 1), (10, 'wolf', 2)")
    wb.run("INSERT INTO t VALUES (10, 'apple', 1), (10, 'horse', 3)")
    assert rows(wb, "SELECT id, v FROM t") == [(10, "horse"), (10, "wolf"), (20, "cat"), (20, "dog")]
    wb.run("ALTER TABLE t RESET ('scan.primary-branch')")
    assert rows(wb, "SELECT id, v FROM t") == [(10, "apple"), (10, "horse")]
