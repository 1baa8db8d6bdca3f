"""One writer: what each kind of commit leaves in the snapshot."""

import json
from dataclasses import replace

import pytest
from commit_kit import added, compacted, data_file, leftovers, live, make_table, partition_of

from paimon_nb.base.errors import (
    CommitConflict,
    CommitError,
    CommitOverwritten,
    TableReplaced,
    UnsupportedFormat,
    UnsupportedOperation,
)
from paimon_nb.format.manifest import read_manifest, read_manifest_list
from paimon_nb.format.schema import SchemaDirectory
from paimon_nb.fs import LocalFileIO, MemoryFileIO
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.write.commit import BATCH_IDENTIFIER, CommitMessage, TableCommit
from paimon_nb.table.write.maintenance import drop_partitions, truncate
from paimon_nb.table.write.publish.overwrite import Overwrite


def commit(store, *messages, **how):
    return TableCommit(store).commit(messages, **how)


def test_first_append():
    store = make_table()
    assert commit(store, added(data_file("a", rows=3)), added(data_file("b", rows=4), bucket=1)) == [1]
    snapshot = store.latest()
    assert (snapshot.id, snapshot.commit_kind, snapshot.total_record_count, snapshot.delta_record_count) == (
        1,
        "APPEND",
        7,
        7,
    )
    assert (snapshot.commit_identifier, snapshot.schema_id, snapshot.index_manifest) == (BATCH_IDENTIFIER, 0, None)
    assert (live(store), leftovers(store)) == ({"a", "b"}, set())
    assert store.fs.read(f"{store.root}/snapshot/LATEST") == b"1"


def test_manifest_list_sizes_are_told():
    store = make_table()
    commit(store, added(data_file("a")))
    snapshot = store.latest()
    assert snapshot.delta_manifest_list_size == store.fs.size(store.manifest_path(snapshot.delta_manifest_list))
    assert snapshot.base_manifest_list_size == store.fs.size(store.manifest_path(snapshot.base_manifest_list))


def test_flush_and_compaction_make_two_snapshots():
    store = make_table()
    old, new, result = data_file("old"), data_file("new"), data_file("result", level=5)
    commit(store, added(old))
    both = CommitMessage(
        partition_of(None), 0, 2, new_files=(new,), compact_before=(old, new), compact_after=(result,), base_snapshot=1
    )
    assert commit(store, both) == [2, 3]
    assert [store.snapshots.get(i).commit_kind for i in (1, 2, 3)] == ["APPEND", "APPEND", "COMPACT"]
    assert [store.snapshots.get(i).total_record_count for i in (1, 2, 3)] == [10, 20, 10]
    assert live(store) == {"result"}


def test_nothing_to_commit():
    store = make_table()
    assert commit(store) == []
    assert commit(store, identifier=7, ignore_empty=False) == [1]
    assert store.latest().delta_record_count == 0


def test_wrong_row_count_commits_nothing():
    store = make_table()
    with pytest.raises(CommitError, match="10 rows but the source counted 11"):
        commit(store, added(data_file()), expected_rows=11)
    assert store.latest() is None


def test_compaction_of_a_file_that_is_gone():
    store = make_table()
    old = data_file("old")
    commit(store, added(old))
    commit(store, compacted([old], [data_file("mine", level=5)], base=1))
    with pytest.raises(CommitConflict, match="no longer live") as caught:
        commit(store, compacted([old], [data_file("late", level=5)], base=1))
    assert (caught.value.facts["snapshot"], caught.value.facts["where"]["bucket"], caught.value.facts["file"]) == (
        2,
        0,
        "old",
    )
    assert (live(store), leftovers(store)) == ({"mine"}, set())


def test_overlapping_keys_on_a_level():
    store = make_table()
    commit(store, compacted([], [data_file("a", 1, 5, level=5)]))
    with pytest.raises(CommitConflict, match="level 5 would hold two files with the same keys"):
        commit(store, compacted([], [data_file("b", 5, 9, level=5)]))
    commit(store, compacted([], [data_file("c", 6, 9, level=5)]))
    assert live(store) == {"a", "c"}


def test_an_append_survives_somebody_elses_compaction():
    store = make_table()
    old = data_file("old")
    commit(store, added(old))
    message = added(data_file("new"), base=1)
    commit(store, compacted([old], [data_file("result", level=5)], base=1))
    assert commit(store, message) == [3]
    assert live(store) == {"result", "new"}


def test_a_compaction_that_was_overtaken_does_not_undo_the_rows():
    store = make_table()
    old, new = data_file("old"), data_file("new")
    commit(store, added(old))
    message = CommitMessage(
        partition_of(None),
        0,
        2,
        new_files=(new,),
        compact_before=(old, new),
        compact_after=(data_file("x", level=5),),
        base_snapshot=1,
    )
    commit(store, compacted([old], [data_file("theirs", level=5)], base=1))
    assert commit(store, message) == [3]
    assert live(store) == {"theirs", "new"}


def test_bucket_count_may_not_change_under_a_writer():
    store = make_table()
    commit(store, added(data_file("a")))
    late = added(data_file("late"), base=1)
    commit(store, added(data_file("b"), total=4), overwrite=Overwrite())
    with pytest.raises(CommitConflict, match="has 4 buckets, the commit writes 2"):
        commit(store, late)
    assert live(store) == {"b"}


class TestOverwrite:
    def test_whole_table(self):
        store = make_table(partitioned=True)
        commit(store, added(data_file("a"), dt="1"), added(data_file("b"), dt="2"))
        commit(store, added(data_file("c"), dt="1"), overwrite=Overwrite())
        assert (live(store), store.latest().commit_kind) == ({"c"}, "OVERWRITE")

    def test_static_partition(self):
        store = make_table(partitioned=True)
        commit(store, added(data_file("a"), dt="1"), added(data_file("b"), dt="2"))
        commit(store, overwrite=Overwrite({"dt": "1"}))
        assert live(store) == {"b"}

    def test_dynamic_touches_only_partitions_with_rows(self):
        store = make_table(partitioned=True)
        commit(store, added(data_file("a"), dt="1"), added(data_file("b"), dt="2"))
        commit(store, added(data_file("c"), dt="2"), overwrite=Overwrite(dynamic=True))
        assert live(store) == {"a", "c"}
        assert commit(store, overwrite=Overwrite(dynamic=True)) == []

    def test_rows_that_came_after_the_read_are_not_lost(self):
        store = make_table()
        commit(store, added(data_file("a")))
        mine = added(data_file("rewritten"), base=1)
        commit(store, added(data_file("later")))
        with pytest.raises(CommitConflict, match="arrived in the overwritten partitions"):
            commit(store, mine, overwrite=Overwrite(read_snapshot=1))
        assert live(store) == {"a", "later"}

    def test_other_partitions_may_change_meanwhile(self):
        store = make_table(partitioned=True)
        commit(store, added(data_file("a"), dt="1"))
        commit(store, added(data_file("later"), dt="2"))
        commit(store, added(data_file("c"), dt="1", base=1), overwrite=Overwrite({"dt": "1"}, read_snapshot=1))
        assert live(store) == {"later", "c"}

    def test_truncate_and_drop(self):
        store = make_table(partitioned=True)
        commit(store, added(data_file("a"), dt="1"), added(data_file("b"), dt="2"), added(data_file("c"), dt="3"))
        assert drop_partitions(store, [{"dt": "1"}, {"dt": "3"}]) == 2
        assert live(store) == {"b"}
        assert drop_partitions(store, [{"dt": "1"}]) is None
        assert truncate(store) == 3
        assert live(store) == set()
        assert store.latest().total_record_count == 0


class TestManifests:
    def test_small_ones_are_merged_after_thirty(self):
        store = make_table()
        counts = []
        for i in range(64):
            commit(store, added(data_file(f"f{i}")))
            snapshot = store.latest()
            counts.append(len(read_manifest_list(store.fs, store.manifest_path(snapshot.base_manifest_list))))
        assert (max(counts), live(store)) == (29, {f"f{i}" for i in range(64)})
        assert leftovers(store) == set()

    def test_deletes_vanish_in_a_full_merge(self):
        store = make_table(**{"manifest.full-compaction-threshold-size": "1 kb"})
        files = [data_file(f"f{i}", i, i) for i in range(10)]
        for file in files:
            commit(store, added(file))
        commit(store, compacted(files, [data_file("all", 0, 9, level=5)]))
        commit(store, added(data_file("next")))
        base = read_manifest_list(store.fs, store.manifest_path(store.latest().base_manifest_list))
        assert [(m.num_added, m.num_deleted) for m in base] == [(1, 0)]
        assert live(store) == {"all", "next"}


class TestReplaced:
    def test_snapshot_overwritten_from_outside(self):
        store = make_table()
        commit(store, added(data_file("a")))
        path = store.snapshots.path(1)
        node = json.loads(store.fs.read(path))
        store.fs.overwrite(path, json.dumps({**node, "commitUser": "another"}).encode())
        with pytest.raises(
            CommitOverwritten, match="snapshot 1, committed by this process, was replaced by user another"
        ) as caught:
            commit(store, added(data_file("b")))
        assert caught.value.facts["files"] == ("a",)
        assert commit(store, added(data_file("c"))) == [2]

    def test_table_dropped_and_created_again(self):
        store = make_table(root="memory:/x/t")
        commit(store, added(data_file("a")))
        store.fs.delete_tree(store.root)
        SchemaDirectory(store.fs, store.root).create(replace(store.schema, time_ms=store.schema.time_ms + 5))
        with pytest.raises(TableReplaced):
            commit(store, added(data_file("b")))
        assert store.latest() is None


def test_manifests_that_other_readers_could_not_read_are_refused():
    store = make_table()
    store = replace(store, schema=replace(store.schema, options={**store.schema.options, "manifest.format": "parquet"}))
    with pytest.raises(UnsupportedFormat, match="unsupported manifest format parquet"):
        commit(store, added(data_file("a")))
    assert (store.latest(), store.fs.list(f"{store.root}/manifest")) == (None, [])


@pytest.mark.parametrize("compression", ["zstd", "none", "snappy"])
def test_manifests_in_orc(compression):
    store = make_table(**{"manifest.format": "orc", "manifest.compression": compression})
    for name in "ab":
        commit(store, added(data_file(name)))
    written = {f.path: store.fs.read(f.path) for f in store.fs.list(f"{store.root}/manifest")}
    assert {data[:3] for data in written.values()} == {b"ORC"}
    elsewhere = MemoryFileIO()  # read without what this process keeps in memory

    def copied(name):
        path = f"memory:/copies/{name}"
        elsewhere.write(path, store.fs.read(store.manifest_path(name)))
        return path

    latest = store.latest()
    lists = [copied(name) for name in (latest.base_manifest_list, latest.delta_manifest_list)]
    found = [
        e
        for one in lists
        for m in read_manifest_list(elsewhere, one)
        for e in read_manifest(elsewhere, copied(m.file_name))
    ]
    assert found == list(live_entries(store, latest))


def test_an_overwrite_of_one_partition_takes_no_rows_of_others():
    store = make_table(partitioned=True)
    TableCommit(store).commit([added(data_file(), dt="a")])
    with pytest.raises(
        UnsupportedOperation, match=r"targets partition \{'dt': 'a'\}, but some rows belong to \{'dt': 'b'\}"
    ):
        TableCommit(store).commit([added(data_file(), dt="b")], overwrite=Overwrite({"dt": "a"}))
    assert len(live(store)) == 1


class TestStrictMode:
    """Snapshots 1 APPEND, 2 COMPACT, 3 APPEND to dt=a, all by others."""

    def scene(self, safe):
        store = make_table(partitioned=True)
        old = data_file("old")
        commit(store, added(old, dt="a"))
        commit(store, compacted([old], [data_file("packed", level=5)], dt="a", base=1))
        commit(store, added(data_file("more"), dt="a"))
        return store, store.copy({"commit.strict-mode.last-safe-snapshot": str(safe)})

    def test_a_compaction_that_the_job_does_not_know_of_stops_it(self):
        store, strict = self.scene(safe=1)
        with pytest.raises(CommitConflict, match="snapshot 2, COMPACT, was committed by another user after snapshot 1"):
            commit(strict, added(data_file("mine"), dt="b"))
        assert (store.latest().id, leftovers(store)) == (3, set())

    def test_rows_of_others_stop_an_overwrite_only(self):
        _, strict = self.scene(safe=2)
        mine = added(data_file("mine"), dt="a", base=3)
        with pytest.raises(CommitConflict, match="snapshot 3, APPEND"):
            commit(strict, mine, overwrite=Overwrite(dynamic=True))
        assert commit(strict, added(data_file("elsewhere"), dt="b", base=3), overwrite=Overwrite(dynamic=True)) == [4]
        assert TableCommit(strict.copy({"commit.strict-mode.last-safe-snapshot": "4"})).commit(
            [added(data_file("on top"), dt="a")]
        ) == [5]

    def test_what_the_job_did_itself_is_safe(self):
        store, strict = self.scene(safe=-1)
        job = TableCommit(strict)
        kept = data_file("kept")
        assert job.commit([added(kept, dt="c")]) == [4]
        assert job.commit([compacted([kept], [data_file("small", level=5)], dt="c", base=4)]) == [5]
        assert job.commit([added(data_file("on"), dt="c")]) == [6]
        commit(store, compacted([data_file("more")], [data_file("other", level=4)], dt="a", base=6))
        with pytest.raises(CommitConflict, match="snapshot 7, COMPACT"):
            job.commit([added(data_file("late"), dt="c")])


class RecordedReads(LocalFileIO):
    """Local files; the paths that are read."""

    def __init__(self) -> None:
        self.read_paths: list[str] = []

    def read(self, path: str) -> bytes:
        self.read_paths.append(path)
        return super().read(path)


def test_commits_read_no_manifest_that_this_process_wrote(tmp_path):
    fs = RecordedReads()
    store = make_table(fs, str(tmp_path / "t"))

    for number in range(4):
        commit(store, added(data_file(f"f{number}")))

    assert [p for p in fs.read_paths if "/manifest/" in p] == []
    assert live(store) == {f"f{n}" for n in range(4)}
