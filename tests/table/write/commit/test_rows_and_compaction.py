"""Rows and the compaction that follows them: two snapshots whose metadata is written at once. Whatever comes between, the table stays whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from commit_kit import added, data_file, lacking, leftovers, live, make_table, new_process, partition_of

from paimon_nb.base.errors import CommitGaveUp
from paimon_nb.fs import MemoryFileIO
from paimon_nb.table.write.commit import CommitMessage, TableCommit
from paimon_nb.table.write.maintenance import rollback_to_snapshot
from paimon_nb.table.write.publish import publisher

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.table.read.store import TableStore


class Meddled(MemoryFileIO):
    """Does something once, right before or after a snapshot is put."""

    def __init__(self, snapshot_id: int, *, after: bool) -> None:
        super().__init__()
        self.snapshot_id, self.after = snapshot_id, after
        self.meddle: Callable[[], object] | None = None

    def put_if_absent(self, path: str, data: bytes) -> bool:
        meddle = self.meddle if path.endswith(f"/snapshot-{self.snapshot_id}") else None
        if meddle is None:
            return super().put_if_absent(path, data)
        self.meddle = None
        if not self.after:
            meddle()
            return super().put_if_absent(path, data)
        made = super().put_if_absent(path, data)
        meddle()
        return made


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(publisher, "sleep", lambda _seconds: None)


def _both(name: str, result: str) -> CommitMessage:
    """New rows, and their compaction."""
    new = data_file(name)
    return CommitMessage(
        partition_of(None), 0, 2, new_files=(new,), compact_before=(new,), compact_after=(data_file(result, level=5),)
    )


def _kinds(store: TableStore) -> list[tuple[int, str]]:
    return [(s.id, s.commit_kind) for s in store.snapshots.all()]


def _whole(store: TableStore) -> bool:
    return (leftovers(store), lacking(store)) == (set(), set())


def test_the_two_snapshots_follow_each_other():
    store = make_table()
    assert TableCommit(store).commit([_both("new", "result")]) == [1, 2]
    new_process()
    assert (_kinds(store), live(store)) == ([(1, "APPEND"), (2, "COMPACT")], {"result"})
    assert (store.fs.read(f"{store.root}/snapshot/LATEST"), _whole(store)) == (b"2", True)


@pytest.mark.parametrize(("snapshot_id", "ids"), [(1, [2, 3]), (2, [1, 3])], ids=["before both", "between the two"])
def test_another_commit_comes_first(snapshot_id, ids):
    fs = Meddled(snapshot_id, after=False)
    store = make_table(fs)
    fs.meddle = lambda: TableCommit(store).commit([added(data_file("other"), bucket=1)])
    assert TableCommit(store).commit([_both("new", "result")]) == ids
    new_process()
    assert (len(_kinds(store)), _kinds(store)[2], live(store)) == (3, (3, "COMPACT"), {"result", "other"})
    assert _whole(store)


def test_another_compaction_of_the_same_files_comes_between():
    fs = Meddled(2, after=False)
    store = make_table(fs)
    message = _both("new", "result")
    other = CommitMessage(
        partition_of(None), 0, 2, compact_before=message.new_files, compact_after=(data_file("theirs", level=5),)
    )
    fs.meddle = lambda: TableCommit(store).commit([other])
    assert TableCommit(store).commit([message]) == [1]
    new_process()
    assert (_kinds(store), live(store)) == ([(1, "APPEND"), (2, "COMPACT")], {"theirs"})
    assert _whole(store)


def test_a_compaction_of_files_that_are_gone_does_not_keep_the_rows_out():
    store, gone, new = make_table(), data_file("gone"), data_file("new")
    message = CommitMessage(
        partition_of(None), 0, 2, new_files=(new,), compact_before=(gone, new), compact_after=(data_file("r", level=5),)
    )
    assert TableCommit(store).commit([message]) == [1]
    new_process()
    assert (_kinds(store), live(store), _whole(store)) == ([(1, "APPEND")], {"new"}, True)


@pytest.mark.parametrize("lost", [1, 2], ids=["rows", "compaction"])
def test_the_reply_to_one_of_them_is_lost(lost):
    def reset() -> None:
        raise OSError("reset")

    fs = Meddled(lost, after=True)
    fs.meddle = reset
    store = make_table(fs)
    assert TableCommit(store).commit([_both("new", "result")]) == [1, 2]
    new_process()
    assert (_kinds(store), live(store), _whole(store)) == ([(1, "APPEND"), (2, "COMPACT")], {"result"}, True)


def test_a_store_that_dies_between_the_two_keeps_the_rows():
    class Dead(MemoryFileIO):
        def put_if_absent(self, path, data):
            if path.endswith("/snapshot-2"):
                raise OSError("no route")
            return super().put_if_absent(path, data)

    store = make_table(Dead())
    with pytest.raises(OSError, match="no route"):
        TableCommit(store).commit([_both("new", "result")])
    new_process()
    assert (_kinds(store), live(store), lacking(store)) == ([(1, "APPEND")], {"new"}, set())


def test_a_lock_that_is_not_free_for_the_compaction_keeps_the_rows():
    class Locked(MemoryFileIO):
        def put_if_absent(self, path, data):
            if path.endswith("/snapshot-2"):
                raise CommitGaveUp("lock 'default.t' could not be acquired in 8 s")
            return super().put_if_absent(path, data)

    store = make_table(Locked())
    assert TableCommit(store).commit([_both("new", "result")]) == [1]
    new_process()
    assert (_kinds(store), live(store), _whole(store)) == ([(1, "APPEND")], {"new"}, True)


def test_what_both_are_built_on_is_rolled_back_in_the_meantime():
    fs = Meddled(3, after=True)
    store = make_table(fs)
    for name in "ab":
        TableCommit(store).commit([added(data_file(name), bucket=1)])

    def roll_back() -> None:
        fs.delete(store.snapshots.path(3))  # as a rollback that does not see it yet
        rollback_to_snapshot(store, 1)
        fs.put_if_absent(store.snapshots.path(3), taken)

    taken = b""

    def take_and_roll_back() -> None:
        nonlocal taken
        taken = fs.read(store.snapshots.path(3))
        roll_back()

    fs.meddle = take_and_roll_back
    assert TableCommit(store).commit([_both("new", "result")]) == [2, 3]
    new_process()
    assert (_kinds(store), live(store)) == ([(1, "APPEND"), (2, "APPEND"), (3, "COMPACT")], {"a", "result"})
    assert _whole(store)
