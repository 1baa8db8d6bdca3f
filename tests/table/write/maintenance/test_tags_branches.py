"""Tags, rollback and branches, on tables whose data files are names."""

from dataclasses import replace
from datetime import datetime

import pytest
from commit_kit import leftovers, live, make_table
from history_kit import NOW, Ticking, append, missing, on_disk, squash

from paimon_nb.base.errors import (
    AlreadyExists,
    BranchNotFound,
    InvalidName,
    SnapshotNotFound,
    TagNotFound,
    UnsupportedOperation,
)
from paimon_nb.catalog.alter import apply_changes
from paimon_nb.statements.ddl import AddColumn
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.tables.table import Table
from paimon_nb.table.write.commit import TableCommit
from paimon_nb.table.write.maintenance import (
    ExpireLimits,
    create_branch,
    create_tag,
    delete_branch,
    delete_tag,
    expire_snapshots,
    expire_tags,
    fast_forward,
    rename_branch,
    rename_tag,
    replace_tag,
    rollback_to_snapshot,
    rollback_to_tag,
)
from paimon_nb.table.write.maintenance.auto_tags import create_batch_tag, create_due_tags

KEEP_ONE = ExpireLimits(1, 1, 2**62, 100)


@pytest.fixture
def time(monkeypatch):
    return Ticking(monkeypatch)


def filled(count=4, **options):
    store = make_table(**options)
    for i in range(count):
        append(store, f"f{i}", i, i)
    return store


def with_column(store: TableStore, name: str) -> TableStore:
    """The table after ALTER TABLE ... ADD COLUMN."""
    old = store.schemas.latest()
    assert store.schemas.create(apply_changes(old, [AddColumn((name,), "INT")], has_data=True, now_ms=NOW))
    return replace(store, schema=store.schemas.latest())


class TestTags:
    def test_create_rename_delete(self):
        store = filled()
        create_tag(store, "now")
        create_tag(store, "two", 2)
        rename_tag(store, "two", "second")
        assert {n: store.tags.get(n).snapshot.id for n in store.tags.names()} == {"now": 4, "second": 2}
        delete_tag(store, "now")
        assert (store.tags.names(), missing(store), len(on_disk(store))) == (["second"], [], 4)

    def test_names_and_snapshots_that_are_not_there(self):
        store = filled()
        create_tag(store, "weekly")
        with pytest.raises(TagNotFound, match="weekly"):
            delete_tag(store, "weekl")
        with pytest.raises(AlreadyExists):
            create_tag(store, "weekly")
        with pytest.raises(SnapshotNotFound, match="1 to 4"):
            create_tag(store, "x", 9)
        with pytest.raises(InvalidName):
            create_tag(store, "../x")
        assert create_tag(store, "weekly", ignore_if_exists=True) is None

    def test_replace_lets_go_of_the_old_files(self):
        store = filled(2)
        create_tag(store, "t")
        squash(store, "all")
        expire_snapshots(store, KEEP_ONE)
        assert on_disk(store) == {"f0", "f1", "all"}
        replace_tag(store, "t", 3)
        assert (on_disk(store), missing(store), store.tags.get("t").snapshot.id) == ({"all"}, [], 3)

    def test_time_to_live(self, time):
        store = filled()
        create_tag(store, "short", retained_ms=3_600_000)
        create_tag(store, "long", retained_ms=36_000_000)
        create_tag(store, "ever")
        time.hours(2)
        assert (expire_tags(store), store.tags.names()) == (["short"], ["ever", "long"])

    def test_daily_tags_name_the_day_that_ended(self, time):
        options = {
            "tag.automatic-creation": "process-time",
            "sink.process-time-zone": "UTC",
            "tag.num-retained-max": "2",
        }
        store = make_table(**options)
        days = []
        for i in range(5):
            append(store, f"f{i}", i, i)
            time.hours(24)
            days += create_due_tags(store)
        assert datetime.fromtimestamp(NOW / 1000).strftime("%Y-%m") == "2023-11"
        assert days == ["2023-11-13", "2023-11-14", "2023-11-15", "2023-11-16", "2023-11-17"]
        assert store.tags.names() == ["2023-11-16", "2023-11-17"]

    def test_gaps_are_filled_on_request(self, time):
        options = {
            "tag.automatic-creation": "process-time",
            "sink.process-time-zone": "UTC",
            "tag.creation-period": "hourly",
        }
        for completion, wanted in {"false": 2, "true": 4}.items():
            store = make_table(**options, **{"tag.automatic-completion": completion})
            append(store, "a")
            time.hours(3)
            append(store, "b", 20, 21)
            assert len(create_due_tags(store)) == wanted

    def test_batch(self):
        store = filled(**{"tag.automatic-creation": "batch", "tag.batch.customized-name": "nightly"})
        assert create_batch_tag(store) == "nightly"
        append(store, "x", 30, 31)
        create_batch_tag(store)
        assert store.tags.get("nightly").snapshot.id == 5


class TestRollback:
    def test_to_a_snapshot(self):
        store = filled()
        create_tag(store, "three", 3)
        rollback_to_snapshot(store, 2)
        assert (store.snapshots.ids(), live(store), on_disk(store), store.tags.names()) == (
            [1, 2],
            {"f0", "f1"},
            {"f0", "f1"},
            [],
        )
        assert (append(store, "new", 30, 31), missing(store), leftovers(store)) == (3, [], set())

    def test_over_a_compaction(self):
        store = filled()
        squash(store, "all")
        rollback_to_snapshot(store, 4)
        assert (live(store), missing(store)) == ({"f0", "f1", "f2", "f3"}, [])
        assert on_disk(store) == {"f0", "f1", "f2", "f3"}

    def test_to_a_tag_whose_snapshot_expired(self):
        store = filled(2)
        create_tag(store, "two")
        squash(store, "all")
        append(store, "later", 30, 31)
        expire_snapshots(store, KEEP_ONE)
        rollback_to_tag(store, "two")
        assert (store.snapshots.ids(), live(store), on_disk(store), missing(store)) == (
            [2],
            {"f0", "f1"},
            {"f0", "f1"},
            [],
        )
        assert append(store, "new", 30, 31) == 3

    def test_to_nowhere(self):
        store = filled(2)
        create_tag(store, "one", 1)
        expire_snapshots(store, KEEP_ONE)
        with pytest.raises(SnapshotNotFound, match="tag 'one'"):
            rollback_to_snapshot(store, 1)

    def test_two_histories_that_count_alike(self):
        """Snapshot 2 is one of main's that went, one of main's that stays, and one of the branch's."""
        store = filled(1)
        append(store, "gone", 20, 20)
        rollback_to_snapshot(store, 1)
        append(store, "mains", 20, 20)
        create_tag(store, "kept", 2)
        create_branch(store, "b")
        for i in range(3):
            append(store.on_branch("b"), f"b{i}", i, i)
        create_tag(store.on_branch("b"), "one", 2)
        expire_snapshots(store.on_branch("b"), KEEP_ONE)
        fast_forward(store, "b")
        delete_branch(store, "b")
        store.snapshots.invalidate_cache()
        assert (store.snapshots.ids(), live(store)) == ([1, 2, 3], {"b0", "b1", "b2"})

        rollback_to_tag(store, "one")
        assert (store.snapshots.ids(), live(store), missing(store)) == ([1, 2], {"b0", "b1"}, [])
        assert on_disk(store) == {"f0", "mains", "b0", "b1"}

        replace_tag(store, "kept", 2)
        assert (on_disk(store), leftovers(store), missing(store)) == ({"f0", "b0", "b1"}, set(), [])


class TestBranches:
    def test_empty_branch_has_the_schemas(self):
        store = filled()
        create_branch(store, "b")
        branch = store.on_branch("b")
        assert (branch.latest(), branch.schema, live(store)) == (None, store.schema, {"f0", "f1", "f2", "f3"})

    def test_grows_by_itself(self):
        store = filled()
        create_tag(store, "two", 2)
        create_branch(store, "b", "two")
        branch = store.on_branch("b")
        append(branch, "on-b", 30, 31)
        append(store, "on-main", 30, 31)
        assert live(branch) == {"f0", "f1", "on-b"}
        assert live(store) == {"f0", "f1", "f2", "f3", "on-main"}
        assert branch.snapshots.ids() == [2, 3]

    def test_delete_spares_what_main_needs(self):
        store = filled()
        create_tag(store, "two", 2)
        create_branch(store, "b", "two")
        append(store.on_branch("b"), "on-b", 30, 31)
        delete_branch(store, "b")
        assert (store.branches.names(), on_disk(store), missing(store)) == ([], {"f0", "f1", "f2", "f3"}, [])
        with pytest.raises(BranchNotFound):
            delete_branch(store, "b")

    def test_fast_forward(self):
        store = filled()
        create_tag(store, "two", 2)
        create_branch(store, "b", "two")
        append(store.on_branch("b"), "on-b", 30, 31)
        fast_forward(store, "b")
        store.snapshots.invalidate_cache()
        assert (store.snapshots.ids(), live(store), missing(store)) == ([1, 2, 3], {"f0", "f1", "on-b"}, [])
        assert on_disk(store) == {"f0", "f1", "on-b"}
        assert append(store, "next", 40, 41) == 4

    def test_fast_forward_takes_the_branchs_tag_of_a_name_that_both_have(self):
        store = filled()
        create_branch(store, "b")
        branch = store.on_branch("b")
        for i in range(3):
            append(branch, f"b{i}", 30 + i, 30 + i)
        create_tag(store, "t", 1)
        create_tag(branch, "t", 3)
        expire_snapshots(branch, KEEP_ONE)
        fast_forward(store, "b")
        store.snapshots.invalidate_cache()
        assert (store.snapshots.ids(), store.tags.get("t").snapshot.id, missing(store)) == ([1, 2, 3], 3, [])
        assert live(store) == {"b0", "b1", "b2"}

    def test_fast_forward_leaves_no_history_without_its_schema(self):
        """Main's second schema and the branch's are two, and the branch's comes: what is older could not be read any more."""
        store = filled(1)
        create_branch(store, "b")
        append(with_column(store, "of_main"), "under-mains", 30, 31)
        branch = with_column(store.on_branch("b"), "of_branch")
        for i in range(4):
            append(branch, f"b{i}", 40 + i, 40 + i)
        expire_snapshots(branch, KEEP_ONE)
        main = TableStore.open(store.fs, store.root)
        with pytest.raises(UnsupportedOperation, match="snapshot 2 of main needs schema 1, which branch 'b'"):
            fast_forward(main, "b")
        rollback_to_snapshot(main, 1)
        fast_forward(main, "b")
        main = TableStore.open(store.fs, store.root)
        assert (main.snapshots.ids(), main.schema.names[-1], missing(main)) == ([1, 4], "of_branch", [])

    def test_the_first_snapshot_is_what_the_hint_says(self):
        """Java's fast_forward takes the branch's hint over: what is older than that is no longer told."""
        store = filled()
        store.snapshots.write_earliest_hint(2)
        assert Table(store).system("snapshots")["snapshot_id"].to_pylist() == [2, 3, 4]

    def test_names(self):
        store = filled()
        for name in ("main", "12", "", "a/b"):
            with pytest.raises(InvalidName):
                create_branch(store, name)
        create_branch(store, "b")
        rename_branch(store, "b", "c")
        assert (store.branches.names(), create_branch(store, "c", if_not_exists=True)) == (["c"], False)

    def test_a_new_branch_of_an_old_name_is_not_taken_for_the_old_one(self):
        store = filled()
        for n, ends in enumerate((lambda: delete_branch(store, "b"), lambda: rename_branch(store, "b", "c"))):
            create_branch(store, "b")
            append(store.on_branch("b"), f"x{n}", 30, 31)
            append(store.on_branch("b"), f"y{n}", 30, 31)
            ends()
            create_branch(store, "b")
            assert append(store.on_branch("b"), f"z{n}", 30, 31) == 1
            delete_branch(store, "b")

    def test_commits_on_a_branch_do_not_confuse_main(self):
        store = filled(1)
        create_branch(store, "b")
        branch = store.on_branch("b")
        assert TableCommit(branch).commit([]) == []
        assert append(branch, "x") == 1
        assert append(store, "y", 30, 31) == 2


def test_branch_from_a_tag_whose_snapshot_has_expired():
    """The snapshot's changelog went with it; the branch must not name it, or nothing could be deleted any more."""
    store = make_table(**{"changelog-producer": "input"})
    append(store, "f0", changelog="log0")
    create_tag(store, "old")
    for i in range(1, 4):
        append(store, f"f{i}", i, i, changelog=f"log{i}")
    expire_snapshots(store, ExpireLimits(1, 1, 0, 50))
    create_branch(store, "late", "old")
    assert missing(store) == []
    assert expire_snapshots(store.on_branch("late"), ExpireLimits(1, 1, 0, 50)) == 0
    append(store, "f9", changelog="log9")
    assert expire_snapshots(store, ExpireLimits(1, 1, 0, 50)) == 1
    assert missing(store) == []
    delete_branch(store, "late")
    rollback_to_tag(store, "old")
    create_branch(store, "later", "old")
    assert missing(store) == []
    delete_branch(store, "later")
    create_branch(store, "again", "old")
    fast_forward(store, "again")
    assert (missing(store), live(store)) == ([], {"f0"})
