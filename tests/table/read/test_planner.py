"""Plans of real tables: what is read, what is left out and why, how files are packed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from write_kit import compact_all, make_table, put

from paimon_nb.base.errors import ColumnNotFound, CorruptFile
from paimon_nb.format.manifest import EMPTY_ROW, EMPTY_STATS, DataFile
from paimon_nb.table.read import ScanPlan, Split, plan_scan, read_plan, read_split, read_split_kinds
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.read.plan.snapshot_scan import pack_into_bins
from paimon_nb.table.write.commit import CommitMessage, TableCommit

if TYPE_CHECKING:
    from pathlib import Path

    from paimon_nb.table.read.store import TableStore

COLUMNS = {"dt": "STRING", "id": "INT", "v": "STRING", "n": "BIGINT"}


def rows(day: str, ids: range, n: int = 0) -> list[dict[str, Any]]:
    return [{"dt": day, "id": i, "v": f"v{i}", "n": i * 10 + n} for i in ids]


def stages(plan: ScanPlan) -> dict[str, tuple[int, int]]:
    return {s.name: (s.remaining, s.total) for s in plan.skipped.stages}


def ids(plan: ScanPlan) -> list[int]:
    return sorted(read_plan(plan, ["id"]).column("id").to_pylist())


@pytest.fixture
def daily(tmp_path: Path) -> TableStore:
    """A primary-key table of three days with two buckets each."""
    store = make_table(str(tmp_path / "t"), COLUMNS, ["dt", "id"], ["dt"], bucket="2")
    for day in ("d1", "d2", "d3"):
        put(store, rows(day, range(10)))
    return store


def test_everything(daily: TableStore) -> None:
    plan = plan_scan(daily)
    assert stages(plan) == {"manifests": (3, 3), "partitions": (3, 3), "buckets": (6, 6), "files": (6, 6)}
    assert ids(plan) == sorted([*range(10)] * 3)


def test_partition_condition_opens_one_manifest(daily: TableStore) -> None:
    plan = plan_scan(daily, where="dt = 'd2' AND n >= 0")
    assert stages(plan) == {"manifests": (1, 3), "partitions": (1, 1), "buckets": (2, 2), "files": (2, 2)}
    assert ids(plan) == [*range(10)]


def test_key_chooses_its_bucket(daily: TableStore) -> None:
    plan = plan_scan(daily, where="id = 7")
    assert stages(plan)["buckets"] == (3, 6)
    assert plan.skipped.reasons == {"bucket does not match the key": 3}
    assert ids(plan) == [7, 7, 7]
    assert stages(plan_scan(daily, where="id IN (7)"))["buckets"] == (3, 6)
    assert stages(plan_scan(daily, where="id = 7 OR n = 1"))["buckets"] == (6, 6)


def test_every_key_is_found_in_its_bucket(daily: TableStore) -> None:
    assert [ids(plan_scan(daily, where=f"dt = 'd1' AND id = {i}")) for i in range(10)] == [[i] for i in range(10)]


def test_key_range_leaves_files_out(tmp_path: Path) -> None:
    store = make_table(str(tmp_path / "t"), COLUMNS, ["id"], bucket="1", write_only="true")
    for start in (0, 10, 20):
        put(store, rows("d", range(start, start + 10)))
    plan = plan_scan(store, where="id BETWEEN 12 AND 15")
    assert plan.skipped.reasons == {"key range does not match": 2}
    assert [s.file_name for s in plan.skipped.skips()] == sorted(
        {f.file_name for f in plan_scan(store).files} - {f.file_name for f in plan.files},
        key=[f.file_name for f in plan_scan(store).files].index,
    )
    assert ids(plan) == [12, 13, 14, 15]


def test_values_never_hide_a_newer_row(tmp_path: Path) -> None:
    """The old version of row 1 matches, the new one does not: the file of the new one must be read."""
    store = make_table(str(tmp_path / "t"), COLUMNS, ["id"], bucket="1", write_only="true")
    put(store, rows("d", range(3), n=1000))
    put(store, rows("d", range(3), n=0))
    plan = plan_scan(store, where="n >= 1000")
    assert len(plan.files) == 2
    assert ids(plan) == []
    whole = plan_scan(store, where="n >= 5000")
    assert (whole.files, whole.skipped.reasons) == ([], {"values do not match": 2})


def test_partial_rows_are_never_judged_alone(tmp_path: Path) -> None:
    """No file has a row with n = 10 and v = 'v1', but the merged row has both."""
    store = make_table(
        str(tmp_path / "t"), COLUMNS, ["id"], bucket="1", write_only="true", merge_engine="partial-update"
    )
    put(store, [{"dt": None, "id": 1, "v": "v1", "n": None}])
    put(store, [{"dt": None, "id": 1, "v": None, "n": 10}])
    assert ids(plan_scan(store, where="n = 10 AND v = 'v1'")) == [1]


def test_compacted_files_are_judged_alone(tmp_path: Path) -> None:
    store = make_table(str(tmp_path / "t"), COLUMNS, ["dt", "id"], ["dt"], bucket="1")
    for day, base in (("d1", 0), ("d2", 1000)):
        put(store, rows(day, range(5), base))
    compact_all(store)
    plan = plan_scan(store, where="n >= 1000")
    assert [s.raw for s in plan_scan(store).splits] == [True, True]
    assert len(plan.files) == 1


def test_append_table(tmp_path: Path) -> None:
    store = make_table(str(tmp_path / "t"), COLUMNS)
    put(store, rows("d", range(5)))
    put(store, rows("d", range(5, 9)))
    plan = plan_scan(store, where="n > 60")
    assert plan.skipped.reasons == {"values do not match": 1}
    assert ids(plan) == [7, 8]
    assert all(s.raw for s in plan_scan(store).splits)


def test_append_table_with_bucket_key(tmp_path: Path) -> None:
    store = make_table(str(tmp_path / "t"), COLUMNS, bucket="4", bucket_key="v,id")
    put(store, rows("d", range(40)))
    plan = plan_scan(store, where="id = 7 AND v = 'v7'")
    assert stages(plan)["buckets"] == (1, 4)
    assert ids(plan) == [7]
    assert stages(plan_scan(store, where="id = 7"))["buckets"] == (4, 4)


def test_empty_table(tmp_path: Path) -> None:
    plan = plan_scan(make_table(str(tmp_path / "t"), COLUMNS, ["id"], bucket="1"), where="id = 1")
    assert (plan.snapshot, plan.splits, read_plan(plan).schema.names) == (None, (), list(COLUMNS))


def test_split_packing_keeps_sections_whole(tmp_path: Path) -> None:
    options = {"source.split.target-size": "1 b", "source.split.open-file-cost": "1 b"}
    store = make_table(str(tmp_path / "t"), COLUMNS, ["id"], bucket="1", write_only="true").copy(options)
    for start in (0, 5, 20, 30):
        put(store, rows("d", range(start, start + 10)))
    plan = plan_scan(store)
    assert [(len(s.files), s.raw) for s in plan.splits] == [(2, False), (1, True), (1, True)]
    assert ids(plan) == [*range(15), *range(20, 40)]
    together = plan_scan(store.copy({"source.split.target-size": "1 gb"}))
    assert [(len(s.files), s.raw) for s in together.splits] == [(4, False)]
    apart = plan_scan(store.copy({"source.split.target-size": "1 gb"}), where="id >= 20")
    assert [(len(s.files), s.raw) for s in apart.splits] == [(2, True)]


def test_pack_closes_bins_in_order() -> None:
    assert pack_into_bins([3, 3, 3, 9, 1, 1], lambda x: x, 6) == [[3, 3], [3], [9], [1, 1]]
    assert pack_into_bins([], lambda x: x, 6) == []


def test_deletes_are_rows_of_their_own_kind(tmp_path: Path) -> None:
    store = make_table(str(tmp_path / "t"), COLUMNS, ["id"], bucket="1", write_only="true")
    put(store, rows("d", range(3)))
    put(store, rows("d", range(1, 2)), kinds=["-D"])
    (split,) = plan_scan(store).splits
    assert not split.raw
    assert read_split(store, split, ["id"]).column("id").to_pylist() == [0, 2]
    assert read_split_kinds(store, split, ["id"]).to_pylist() == [
        {"id": 0, "_VALUE_KIND": 0}, {"id": 1, "_VALUE_KIND": 3}, {"id": 2, "_VALUE_KIND": 0},
    ]  # fmt: skip


def test_columns_are_delivered_in_the_order_asked_for(daily: TableStore) -> None:
    (first, *_) = plan_scan(daily).splits
    assert read_split(daily, first, ["n", "dt"]).schema.names == ["n", "dt"]
    assert read_split(daily, first, []).num_rows == first.row_count
    with pytest.raises(ColumnNotFound, match="'idd'"):
        read_split(daily, first, ["idd"])


def test_only_needed_columns_are_read_for_deduplicate(tmp_path: Path) -> None:
    store = make_table(str(tmp_path / "t"), COLUMNS, ["id"], bucket="1", write_only="true", **{"sequence.field": "n"})
    put(store, rows("new", range(3), n=5))
    put(store, rows("old", range(3), n=0))
    assert read_plan(plan_scan(store), ["dt"]).column("dt").to_pylist() == ["new"] * 3


def test_a_plan_outlives_pickling(daily: TableStore) -> None:
    import pickle

    plan = pickle.loads(pickle.dumps(plan_scan(daily, where="id < 5")))
    assert ids(plan) == sorted([*range(5)] * 3)


def test_a_file_added_twice_is_refused() -> None:
    from paimon_nb.format.manifest import ManifestEntry
    from paimon_nb.table.read.live_files import check_unique, drop_deleted

    file = DataFile("f", 1, 1, EMPTY_ROW, EMPTY_ROW, EMPTY_STATS, EMPTY_STATS, 0, 0, 0, 0)
    entry = ManifestEntry(0, EMPTY_ROW, 0, 1, file)
    with pytest.raises(CorruptFile, match="twice"):
        check_unique(drop_deleted([entry, entry]))
    assert drop_deleted([entry, ManifestEntry(1, EMPTY_ROW, 0, 1, file)]) == []
    other = drop_deleted([entry, ManifestEntry(0, EMPTY_ROW, 1, 1, file)])
    check_unique(other)
    assert len(other) == 2


def test_level_zero_is_invisible_until_compacted(tmp_path: Path) -> None:
    options = {"deletion-vectors.enabled": "true", "write-only": "true"}
    store = make_table(str(tmp_path / "t"), COLUMNS, ["id"], bucket="1", **options)
    put(store, rows("d", range(3)))
    plan = plan_scan(store)
    assert (ids(plan), plan.skipped.reasons) == ([], {"level 0 waits for compaction": 1})
    merging = store.copy({"deletion-vectors.merge-on-read": "true"})
    assert ids(plan_scan(merging)) == [0, 1, 2]
    compact_all(store.copy({"write-only": "false"}))
    put(store, rows("d", range(1, 2)), kinds=["-D"])
    assert ids(plan_scan(store)) == [0, 1, 2]
    assert ids(plan_scan(merging)) == [0, 2]
    compact_all(store.copy({"write-only": "false"}))
    (split,) = plan_scan(store).splits
    assert ids(plan_scan(store)) == [0, 2]
    assert split.raw


def test_file_index_leaves_files_out(tmp_path: Path) -> None:
    store = make_table(
        str(tmp_path / "t"), COLUMNS, **{"file-index.bloom-filter.columns": "v", "metadata.stats-mode": "none"}
    )
    put(store, rows("d", range(5)))
    put(store, rows("d", range(5, 9)))
    plan = plan_scan(store, where="v = 'v7'")
    assert len(plan.files) == 1
    assert ids(plan) == [7]
    assert len(plan_scan(store.copy({"file-index.read.enabled": "false"}), where="v = 'v7'").files) == 2


def test_plans_know_their_size(daily: TableStore) -> None:
    splits: list[Split] = list(plan_scan(daily).splits)
    assert sum(s.row_count for s in splits) == 30
    assert sum(s.size for s in splits) == sum(f.file_size for f in plan_scan(daily).files)
    assert isinstance(read_plan(plan_scan(daily)), pa.Table)


def test_removals_in_manifests_of_other_partitions(tmp_path: Path) -> None:
    """An upgrade's DELETE and ADD may lie in two manifests, one of which the condition on partitions leaves out."""
    options = {"bucket": "1", "write-only": "true", "manifest.target-file-size": "1 b"}
    store = make_table(str(tmp_path / "t"), COLUMNS, ["dt", "id"], ["dt"], **options)
    put(store, [r for day in ("d1", "d2", "d3") for r in rows(day, range(3))])
    compact_all(store)
    for day in ("d1", "d2", "d3"):
        found = read_plan(plan_scan(store, where=f"dt = '{day}'"), ["dt", "id"]).to_pylist()
        assert found == [{"dt": day, "id": i} for i in range(3)]
    assert read_plan(plan_scan(store, where="dt = 'd4'")).num_rows == 0
    assert read_plan(plan_scan(store, where="dt >= 'd2'")).num_rows == 6


def test_files_of_other_partitions_may_seem_to_be_there_twice(tmp_path: Path) -> None:
    """One that went up two levels: the manifest of its first step holds its partition alone and is left out."""
    store = make_table(str(tmp_path / "t"), COLUMNS, ["dt", "id"], ["dt"], bucket="1", **{"write-only": "true"})
    put(store, [r for day in ("d1", "d2", "d3") for r in rows(day, range(3))])
    for steps in ({"d2": 4}, {"d2": 5, "d3": 5}):
        live = {store.partition_values(e.partition)[0]: e for e in live_entries(store, store.latest())}
        TableCommit(store).commit(
            [
                CommitMessage(
                    live[day].partition, 0, 1,
                    compact_before=(live[day].file,), compact_after=(replace(live[day].file, level=level),),
                )
                for day, level in steps.items()
            ]
        )  # fmt: skip
    plan = plan_scan(store, where="dt = 'd3'")
    assert stages(plan)["manifests"] == (2, 3)
    assert [f.level for f in plan.files] == [5]
    assert ids(plan) == [0, 1, 2]
