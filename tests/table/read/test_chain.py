"""Chain tables: partitions of the delta branch are merged over the latest earlier partition of the snapshot branch, as in Paimon 2.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import BadOptionValue, SqlAnalysisError, UnsupportedOperation

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

OPTIONS = {
    "chain-table.enabled": "true", "bucket": "2", "bucket-key": "k", "sequence.field": "n",
    "partition.timestamp-pattern": "$dt", "partition.timestamp-formatter": "yyyyMMdd",
}  # fmt: skip


def create(
    wb: paimon_nb.Workbench, columns: str = "k INT, n INT, v STRING, dt STRING", by: str = "dt", **more: str
) -> None:
    options = {**OPTIONS, "primary-key": f"{by},k", **{name.replace("_", "-"): value for name, value in more.items()}}
    text = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
    wb.run(f"CREATE TABLE t ({columns}) PARTITIONED BY ({by}) WITH ({text})")
    wb.run("CALL sys.create_branch('t', 'full'); CALL sys.create_branch('t', 'delta')")
    for name in ("t", "`t$branch_full`", "`t$branch_delta`"):
        wb.run(
            f"ALTER TABLE {name} SET ('scan.fallback-snapshot-branch' = 'full', 'scan.fallback-delta-branch' = 'delta')"
        )


@pytest.fixture
def wb(tmp_path: Path) -> paimon_nb.Workbench:
    return paimon_nb.connect(str(tmp_path / "w"))


def put(wb: paimon_nb.Workbench, branch: str, *rows: str) -> None:
    wb.run(f"INSERT INTO `t$branch_{branch}` VALUES {', '.join(rows)}")


def read(wb: paimon_nb.Workbench, where: str = "", table: str = "t") -> list[tuple[Any, ...]]:
    found: Iterable[dict[str, Any]] = wb.table(table).to_arrow(where=where or None).to_pylist()
    return sorted(tuple(r.values()) for r in found)


@pytest.fixture
def days(wb: paimon_nb.Workbench) -> paimon_nb.Workbench:
    """Full data of the 3rd and the 6th, changes of the 2nd to the 7th, and the 4th in the table itself."""
    create(wb)
    put(wb, "delta", "(1, 1, 'two', '0102')", "(2, 1, 'two', '0102')")
    put(wb, "delta", "(1, 2, 'three', '0103')")
    put(wb, "full", "(1, 2, 'base', '0103')", "(2, 1, 'base', '0103')")
    put(wb, "delta", "(2, 5, 'four', '0104')", "(3, 1, 'four', '0104')")
    put(wb, "delta", "(1, 1, 'late', '0105')", "(4, 1, 'five', '0105')")
    put(wb, "full", "(9, 9, 'base', '0106')")
    put(wb, "delta", "(9, 8, 'older', '0107')", "(8, 1, 'seven', '0107')")
    wb.run("INSERT INTO t VALUES (7, 7, 'own', '0104')")
    return wb


def test_each_partition_is_merged_from_its_base(days: paimon_nb.Workbench) -> None:
    two = [(1, 1, "two", "0102"), (2, 1, "two", "0102")]
    three = [(1, 2, "base", "0103"), (2, 1, "base", "0103")]
    four = [(7, 7, "own", "0104")]
    five = [(1, 2, "base", "0105"), (2, 5, "four", "0105"), (3, 1, "four", "0105"), (4, 1, "five", "0105")]
    six = [(9, 9, "base", "0106")]
    seven = [(8, 1, "seven", "0107"), (9, 9, "base", "0107")]
    assert read(days) == sorted([*two, *three, *four, *five, *six, *seven])
    for day, rows in (("0102", two), ("0103", three), ("0104", four), ("0105", five), ("0106", six), ("0107", seven)):
        assert read(days, f"dt = '{day}'") == rows
    assert read(days, "dt > '0104' AND k = 1") == [(1, 2, "base", "0105")]
    assert read(days, "v = 'four'") == [(2, 5, "four", "0105"), (3, 1, "four", "0105")]
    assert read(days, "dt = '0108'") == []
    assert read(days, table="t$branch_delta", where="dt = '0105'") == [(1, 1, "late", "0105"), (4, 1, "five", "0105")]
    partitions = days.table("t").system("partitions").to_pylist()
    assert [p["partition"] for p in partitions] == [f"dt=010{day}" for day in range(2, 8)]


def test_the_same_in_sql(days: paimon_nb.Workbench) -> None:
    assert days.run("SELECT v, COUNT(*) AS c FROM t WHERE dt = '0105' GROUP BY v ORDER BY v").arrow.to_pylist() == [
        {"v": "base", "c": 1}, {"v": "five", "c": 1}, {"v": "four", "c": 2},
    ]  # fmt: skip


def test_a_deletion_of_the_delta_branch_hides_the_row_of_the_base(wb: paimon_nb.Workbench) -> None:
    create(wb)
    put(wb, "full", "(1, 1, 'a', '0101')", "(2, 1, 'b', '0101')")
    put(wb, "delta", "(2, 2, 'gone', '0102')")
    wb.table("t$branch_delta").delete(where="k = 2")
    put(wb, "delta", "(3, 1, 'c', '0102')")
    assert read(wb, "dt = '0102'") == [(1, 1, "a", "0102"), (3, 1, "c", "0102")]


@pytest.mark.parametrize("pieces", [False, True], ids=["at once", "in pieces"])
def test_partial_updates_complete_each_other_over_days(wb: paimon_nb.Workbench, pieces: bool) -> None:
    from paimon_nb.table.read.plan.planner import plan_scan
    from paimon_nb.table.read.split.split_reader import iter_split

    create(wb, "k INT, n INT, a STRING, b STRING, dt STRING", merge_engine="partial-update")
    put(wb, "full", "(1, 1, 'a', 'b', '0101')")
    put(wb, "delta", "(1, 2, 'a2', CAST(NULL AS STRING), '0102')")
    put(wb, "delta", "(1, 3, CAST(NULL AS STRING), 'b3', '0103')", "(2, 1, 'x', CAST(NULL AS STRING), '0103')")
    expected = [
        (1, 1, "a", "b", "0101"), (1, 2, "a2", "b", "0102"), (1, 3, "a2", "b3", "0103"), (2, 1, "x", None, "0103")
    ]  # fmt: skip
    plan = plan_scan(wb.table("t").store)
    rows = [
        r
        for s in plan.splits
        for t in iter_split(plan.store, s, piece_bytes=1 if pieces else 1 << 30)
        for r in t.to_pylist()
    ]
    assert sorted(tuple(r.values()) for r in rows) == expected


def test_a_chain_may_have_days_and_hours(wb: paimon_nb.Workbench) -> None:
    hours = {"partition.timestamp-pattern": "$dt $h:00:00", "partition.timestamp-formatter": "yyyyMMdd HH:mm:ss"}
    create(wb, "k INT, n INT, v STRING, dt STRING, h STRING", "dt,h", **hours)
    put(wb, "full", "(1, 1, 'a', '20250810', '22')", "(9, 1, 'far', '20250811', '05')")
    put(wb, "delta", "(2, 1, 'b', '20250810', '23')")
    put(wb, "delta", "(1, 2, 'a2', '20250811', '00')", "(3, 1, 'early', '20250810', '21')")
    assert read(wb, "dt = '20250811' AND h = '00'") == [(1, 2, "a2", "20250811", "00"), (2, 1, "b", "20250811", "00")]
    assert read(wb, "h = '21'") == [(3, 1, "early", "20250810", "21")]


def test_groups_have_chains_of_their_own(wb: paimon_nb.Workbench) -> None:
    create(
        wb,
        "k INT, n INT, v STRING, region STRING, dt STRING",
        "region,dt",
        **{"chain-table.chain-partition-keys": "dt"},
    )
    put(wb, "full", "(1, 1, 'cn', 'CN', '0101')", "(1, 1, 'us', 'US', '0102')")
    put(wb, "delta", "(2, 1, 'new', 'CN', '0103')", "(2, 1, 'new', 'US', '0103')", "(5, 1, 'only', 'UK', '0103')")
    put(wb, "delta", "(3, 1, 'between', 'CN', '0102')")
    assert read(wb, "dt = '0103'") == [
        (1, 1, "cn", "CN", "0103"), (1, 1, "us", "US", "0103"), (2, 1, "new", "CN", "0103"), (2, 1, "new", "US", "0103"),
        (3, 1, "between", "CN", "0103"), (5, 1, "only", "UK", "0103"),
    ]  # fmt: skip
    assert read(wb, "region = 'US' AND dt = '0103'") == [(1, 1, "us", "US", "0103"), (2, 1, "new", "US", "0103")]


def test_deletion_vectors_of_both_branches_count(wb: paimon_nb.Workbench) -> None:
    create(wb, **{"deletion-vectors.enabled": "true", "bucket": "1"})
    put(wb, "full", "(1, 1, 'a', '0101')", "(2, 1, 'b', '0101')", "(3, 1, 'c', '0101')")
    wb.table("t$branch_full").delete(where="k = 2")
    wb.run("CALL sys.compact('t$branch_full')")
    put(wb, "delta", "(3, 2, 'c2', '0102')", "(4, 1, 'd', '0102')", "(5, 1, 'e', '0102')")
    wb.table("t$branch_delta").delete(where="k = 5")
    wb.run("CALL sys.compact('t$branch_delta')")
    assert read(wb, "dt = '0102'") == [(1, 1, "a", "0102"), (3, 2, "c2", "0102"), (4, 1, "d", "0102")]


def test_a_merged_partition_with_deletion_vectors_is_read_from_the_snapshot_branch(wb: paimon_nb.Workbench) -> None:
    create(wb, **{"deletion-vectors.enabled": "true", "bucket": "1"})
    put(wb, "full", "(1, 1, 'a', '0101')", "(2, 1, 'b', '0101')")
    put(wb, "delta", "(2, 2, 'b2', '0102')", "(3, 1, 'c', '0102')")
    merged = [(1, 1, "a", "0102"), (2, 2, "b2", "0102"), (3, 1, "c", "0102")]
    wb.run("CALL sys.compact_chain_table('t', 'dt=0102')")
    assert read(wb, "dt = '0102'", table="t$branch_full") == merged
    put(wb, "delta", "(4, 1, 'd', '0102')")
    wb.run("CALL sys.compact_chain_table(table => 't', partition => 'dt=0102', overwrite => true)")
    assert read(wb, "dt = '0102'", table="t$branch_full") == [*merged, (4, 1, "d", "0102")]
    assert read(wb, "dt = '0102'") == [*merged, (4, 1, "d", "0102")]
    assert wb.table("t$branch_full").system("table_indexes").num_rows == 0


def test_branches_with_other_columns_or_buckets_are_refused(wb: paimon_nb.Workbench) -> None:
    create(wb)
    wb.run("ALTER TABLE `t$branch_full` SET ('bucket' = '4')")
    put(wb, "full", "(1, 1, 'a', '0101')")
    put(wb, "delta", "(1, 2, 'b', '0102')")
    with pytest.raises(UnsupportedOperation, match="different numbers of buckets"):
        read(wb, "dt = '0102'")
    assert read(wb, "dt = '0101'") == [(1, 1, "a", "0101")]
    wb.run("ALTER TABLE `t$branch_full` ADD (extra INT)")
    with pytest.raises(UnsupportedOperation, match="its columns differ"):
        read(wb)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"bucket": "-1", "bucket-key": None}, "fixed number of buckets"),
        ({"sequence.field": None}, "sequence field"),
        ({"changelog-producer": "lookup"}, "changelog-producer 'lookup'"),
        ({"deletion-vectors.enabled": "true", "merge-engine": "partial-update"}, "cannot have deletion vectors"),
        ({"partition.timestamp-pattern": None}, "'partition.timestamp-pattern'"),
        ({"partition.timestamp-formatter": None}, "'partition.timestamp-formatter'"),
        ({"partition.expiration-time": "7 d", "partition.expiration-strategy": "update-time"}, "'update-time'"),
        ({"chain-table.chain-partition-keys": "k"}, "must be the last partition columns"),
        ({"primary-key": None, "sequence.field": None, "bucket": "-1", "bucket-key": None}, "primary key"),
    ],
)  # fmt: skip
def test_what_a_chain_needs(wb: paimon_nb.Workbench, changed: dict[str, str | None], said: str) -> None:
    options = {**OPTIONS, "primary-key": "dt,k", **changed}
    text = ", ".join(f"'{k}' = '{v}'" for k, v in options.items() if v is not None)
    with pytest.raises(BadOptionValue, match=said):
        wb.run(f"CREATE TABLE t (k INT, n INT, v STRING, dt STRING) PARTITIONED BY (dt) WITH ({text})")


def test_a_base_stays_while_changes_need_it(days: paimon_nb.Workbench) -> None:
    with pytest.raises(UnsupportedOperation, match=r"dt = 0103.* cannot be dropped: 2 partition"):
        days.run("ALTER TABLE `t$branch_full` DROP PARTITION (dt = '0103')")
    before = read(days)
    days.run("ALTER TABLE `t$branch_full` DROP PARTITION (dt = '0106')")
    assert read(days, "dt < '0106'") == [r for r in before if r[-1] < "0106"]
    assert read(days, "dt > '0105'") == [
        (1, 2, "base", "0107"), (2, 5, "four", "0107"), (3, 1, "four", "0107"), (4, 1, "five", "0107"), (8, 1, "seven", "0107"),
        (9, 8, "older", "0107"),
    ]  # fmt: skip


def test_an_overwritten_change_replaces_what_was_merged_from_it(days: paimon_nb.Workbench) -> None:
    assert days.run("CALL sys.compact_chain_table(table => 't', partition => 'dt=0105')").arrow.to_pylist() == [
        {"result": True}
    ]
    assert (4, 1, "five", "0105") in read(days, table="t$branch_full")
    days.table("t$branch_delta").overwrite(
        pa.table({"k": [6], "n": [1], "v": ["again"], "dt": ["0105"]}), {"dt": "0105"}
    )
    assert {r[-1] for r in read(days, table="t$branch_full")} == {"0103", "0106"}
    assert read(days, "dt = '0105'") == [
        (1, 2, "base", "0105"), (2, 5, "four", "0105"), (3, 1, "four", "0105"), (6, 1, "again", "0105")
    ]  # fmt: skip


def test_a_chain_is_merged_into_the_snapshot_branch(days: paimon_nb.Workbench) -> None:
    def merge(**arguments: str) -> list[dict[str, Any]]:
        text = ", ".join(f"{k} => {v}" for k, v in arguments.items())
        return days.run(f"CALL sys.compact_chain_table(table => 't', {text})").arrow.to_pylist()

    before = read(days, "dt = '0107'")
    assert merge(partition="'dt=\"0199\"'") == [{"result": False}]
    assert merge(partition="'dt=0106'") == [{"result": False}], "the snapshot branch has it"
    assert merge(partition="'dt=0107'") == [{"result": True}]
    assert read(days, "dt = '0107'") == before == read(days, "dt = '0107'", "t$branch_full")
    put(days, "delta", "(8, 2, 'newer', '0107')")
    assert read(days, "dt = '0107'") == before
    assert merge(partition="'dt=0107'", overwrite="true") == [{"result": True}]
    assert read(days, "dt = '0107'") == [(8, 2, "newer", "0107"), (9, 9, "base", "0107")]
    assert [s["commit_kind"] for s in days.table("t$branch_full").snapshots().to_pylist()][-2:] == [
        "APPEND",
        "OVERWRITE",
    ]
    with pytest.raises(BadOptionValue, match="is not one partition"):
        merge(partition="'dt=0106;dt=0107'")
    with pytest.raises(SqlAnalysisError, match="partition is missing"):
        merge(partition="''")
    with pytest.raises(UnsupportedOperation, match="one of its branches"):
        days.run("CALL sys.compact_chain_table('t$branch_full', 'dt=0107')")
    assert days.run("CALL sys.compact_chain_table('t', 'dt=0107')").arrow.to_pylist() == [{"result": "Success"}]


def test_segments_expire_and_the_last_base_stays(wb: paimon_nb.Workbench) -> None:
    create(wb)
    for name in ("full", "delta"):
        days = (
            ("20250101", "20250201", "20250301") if name == "full" else ("20241231", "20250110", "20250210", "20250315")
        )
        put(wb, name, *(f"({i}, 1, 'x', '{day}')" for i, day in enumerate(days)))
    wb.run("CALL sys.expire_partitions('t', '1 d', 'yyyyMMdd', '$dt')")
    assert sorted(r[-1] for r in read(wb, table="t$branch_full")) == ["20250301"]
    assert sorted(r[-1] for r in read(wb, table="t$branch_delta")) == ["20250315"]


def test_a_branch_of_a_chain_is_not_deleted(days: paimon_nb.Workbench) -> None:
    for name in ("full", "delta"):
        with pytest.raises(UnsupportedOperation, match=r"'scan\.fallback-"):
            days.run(f"CALL sys.delete_branch('t', '{name}')")
    assert len(read(days, "dt = '0105'")) == 4
