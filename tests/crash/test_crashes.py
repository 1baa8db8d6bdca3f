"""The process dies at every single file-system call of an operation: the table is as before or as after, never between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from crash_kit import Crashing, SimulatedCrash, copy_of, new_process
from history_kit import missing
from write_kit import arrow, make_table, put, rows_of

from paimon_nb.fs import FileIO, MemoryFileIO
from paimon_nb.table.commit import TableCommit
from paimon_nb.table.commit.overwrite import Overwrite
from paimon_nb.table.compact import compact
from paimon_nb.table.maintain import (
    ExpireLimits,
    create_tag,
    delete_tag,
    expire_snapshots,
    find_orphans,
    rollback_to_snapshot,
)
from paimon_nb.table.store import TableStore
from paimon_nb.table.write import TableWrite

ROOT = "memory:/w/t"
KV = {"k": "INT", "v": "STRING"}
WAYS = ("before", "after", "torn")


def rows(numbers, text="x"):
    return [{"k": i, "v": f"{text}{i}"} for i in numbers]


def write(store: TableStore, data, overwrite: Overwrite | None = None) -> None:
    """As a job would: the same identity on every try, and no second commit of what was committed."""
    commit = TableCommit(store, commit_user="job")
    if not commit.filter_committed([7]):
        return
    with TableWrite(store, overwrite=overwrite is not None) as writing:
        writing.write(arrow(store, data))
        messages = writing.prepare()
    commit.commit(messages, identifier=7, overwrite=overwrite)


@dataclass(frozen=True)
class Operation:
    """What is done to a table, and how the table was before."""

    name: str
    options: dict[str, str]
    keys: tuple[str, ...]
    before: Callable[[TableStore], None]
    act: Callable[[TableStore], None]
    same_rows: bool = False
    """True for operations that must not change any row."""


def three_commits(store: TableStore) -> None:
    for turn in range(3):
        put(store, rows(range(turn, turn + 4), f"{turn}."))


def two_commits(store: TableStore) -> None:
    for turn in range(2):
        put(store, rows(range(turn, turn + 4), f"{turn}."))


def only_tagged(store: TableStore) -> None:
    expirable(store)
    expire_snapshots(store, ExpireLimits(1, 1, 1 << 62, 50))


def expirable(store: TableStore) -> None:
    three_commits(store)
    create_tag(store, "kept", 2)
    TableCommit(store).commit(compact(store))
    put(store, rows([50]))


ONE, MANY = {"bucket": "1", "write-only": "true"}, {"bucket": "1", "num-sorted-run.compaction-trigger": "3"}
OPERATIONS = [
    Operation("append", {"bucket": "-1"}, (), three_commits, lambda s: write(s, rows(range(90, 95)))),
    Operation("upsert", ONE, ("k",), three_commits, lambda s: write(s, rows([2, 9], "new"))),
    Operation("upsert-and-compact", MANY, ("k",), two_commits, lambda s: write(s, rows([2, 9], "new"))),
    Operation("upsert-lookup", {"bucket": "1", "changelog-producer": "lookup"}, ("k",), three_commits, lambda s: write(s, rows([2, 9], "new"))),
    Operation("overwrite", ONE, ("k",), three_commits, lambda s: write(s, rows([2, 9], "new"), Overwrite())),
    Operation("compact", ONE, ("k",), three_commits, lambda s: TableCommit(s).commit(compact(s)), True),
    Operation("compact-append", {"bucket": "-1"}, (), three_commits, lambda s: TableCommit(s).commit(compact(s)), True),
    Operation("expire", ONE, ("k",), expirable, lambda s: expire_snapshots(s, ExpireLimits(1, 1, 1 << 62, 50)), True),
    Operation("delete-tag", ONE, ("k",), only_tagged, lambda s: delete_tag(s, "kept", if_exists=True), True),
    Operation("rollback", ONE, ("k",), three_commits, lambda s: rollback_to_snapshot(s, 1)),
]  # fmt: skip


def state(fs: FileIO) -> list[tuple[int, str]]:
    store = TableStore.open(fs, ROOT)
    return sorted((r["k"], r["v"]) for r in rows_of(store))


@pytest.mark.parametrize("op", OPERATIONS, ids=lambda op: op.name)
def test_crash_at_every_call(op: Operation, capsys):
    start = MemoryFileIO()
    op.before(make_table(ROOT, KV, op.keys, fs=start, **op.options))
    before = state(start)
    new_process()
    counted = Crashing(copy_of(start))
    op.act(TableStore.open(counted, ROOT))
    after = state(counted.inner)
    assert (before == after) == op.same_rows
    between = {tuple(before), tuple(after)}
    if op.name == "rollback":  # newer snapshots go one by one, newest first: each is a state the table once had
        between |= {tuple(state_at(start, i)) for i in TableStore.open(start, ROOT).snapshots.ids()}
    for n in range(1, counted.calls + 1):
        for way in WAYS:
            survived = copy_of(start)
            new_process()
            with pytest.raises(SimulatedCrash):
                op.act(TableStore.open(Crashing(survived, n, way), ROOT))
            new_process()
            store = TableStore.open(survived, ROOT)
            where = f"{op.name}: call {n} of {counted.calls}, {way}"
            assert tuple(state(survived)) in between, where
            assert missing(store) == [], where
            op.act(store)
            assert state(survived) == after, f"{where}, then again"
            assert missing(store) == [], f"{where}, then again"
            find_orphans(store, 1 << 62, any_age=True)
    with capsys.disabled():
        print(f"\n  {op.name}: {counted.calls} calls x {len(WAYS)} crashes {dict(counted.kinds)}")


def state_at(fs: FileIO, snapshot_id: int) -> list[tuple[int, str]]:
    files = copy_of(fs)
    store = TableStore.open(files, ROOT)
    rollback_to_snapshot(store, snapshot_id)
    return state(files)
