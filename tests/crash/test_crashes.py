"""The process dies at every file-system call that changes files in an operation: the table is as before or as after, never between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
from commit_kit import new_process
from crash_kit import Crashing, SimulatedCrash, copy_of
from history_kit import missing
from write_kit import arrow, make_table, put, rows_of

from paimon_nb.catalog.alter import apply_changes
from paimon_nb.fs import FileIO, MemoryFileIO
from paimon_nb.statements.ddl import AddColumn
from paimon_nb.table.read import plan_scan
from paimon_nb.table.read.row_positions import one_split_per_file, rows_with_positions
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.tables.table import Table
from paimon_nb.table.write import TableWrite
from paimon_nb.table.write.commit import TableCommit
from paimon_nb.table.write.compact import compact
from paimon_nb.table.write.maintenance import (
    ExpireLimits,
    analyze,
    create_branch,
    create_tag,
    delete_branch,
    delete_tag,
    drop_partitions,
    expire_snapshots,
    fast_forward,
    remove_orphans,
    rollback_to_snapshot,
)
from paimon_nb.table.write.publish.overwrite import Overwrite
from paimon_nb.table.write.row_rewrite import delete_marked_rows, rewrite_without_rows

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow

ROOT = "memory:/w/t"
KV = {"k": "INT", "v": "STRING"}
WAYS = ("before", "after", "torn", "power cut")


def rows(numbers, text="x"):
    return [{"k": i, "v": f"{text}{i}"} for i in numbers]


def write(store: TableStore, data, overwrite: Overwrite | None = None) -> None:
    """As a job would: the same identity on every try, and no second commit of what was committed."""
    commit = TableCommit(store, commit_user="job")
    if not commit.filter_committed([7]):
        return
    with TableWrite(store, overwrite=overwrite is not None) as writing:
        writing.write(arrow(store, data))
        messages = writing.prepare_commit()
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


def write_and_reveal(store: TableStore) -> None:
    """Rows on level 0 are not seen before a compaction; a job that died between the two leaves that to the next one."""
    write(store, rows([2, 9], "new"))
    TableCommit(store).commit(compact(store, full=False))


def delete(store: TableStore, keys: list[int]) -> None:
    put(store, rows(keys), ["-D"] * len(keys))


def take_rows_out(store: TableStore, key: int) -> None:
    """DELETE on a table without keys: marked in vectors, or files written anew."""
    plan = plan_scan(store)
    gone = []
    for split in one_split_per_file(plan):
        found, places = rows_with_positions(store, split)
        hit = places[np.asarray(found.column("k")) == key]
        if len(hit):
            gone.append((split, hit))
    vectors = store.options.deletion_vectors
    messages = delete_marked_rows(store, plan, gone) if vectors else [rewrite_without_rows(store, *one) for one in gone]
    TableCommit(store).commit(messages)


def with_vectors(store: TableStore) -> None:
    three_commits(store)
    take_rows_out(store, 2)


def add_column(store: TableStore) -> None:
    newest = store.schemas.latest()
    if "late" not in newest.names:
        store.schemas.create(apply_changes(newest, [AddColumn(("late",), "INT")], has_data=True, now_ms=1))


def littered(store: TableStore) -> None:
    two_commits(store)
    for place in ("bucket-0/data-lost-0.parquet", "manifest/manifest-lost-0", "index/index-lost-0"):
        store.fs.write(f"{store.root}/{place}", b"lost")


def altered(store: TableStore) -> None:
    """With a schema behind the first one, and a tag of a snapshot under it."""
    two_commits(store)
    add_column(store)
    put(store := TableStore.open(store.fs, store.root), rows(range(2)))
    create_tag(store, "kept", store.latest().id)


def branched(store: TableStore) -> None:
    """Main and the branch both went on after the tag."""
    expirable(store)
    create_branch(store, "b", "kept")
    for turn in range(2):
        put(store.on_branch("b"), rows([turn, 70], f"b{turn}."))


VECTORS = {"bucket": "1", "deletion-vectors.enabled": "true"}
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
    Operation("delete", MANY, ("k",), two_commits, lambda s: delete(s, [1, 2])),
    Operation("dynamic-buckets", {"bucket": "-1", "dynamic-bucket.target-row-num": "3"}, ("k",), three_commits, lambda s: write(s, rows([2, 9], "new"))),
    Operation("upsert-vectors", VECTORS, ("k",), two_commits, write_and_reveal),
    Operation("delete-vectors", {"bucket": "-1", "deletion-vectors.enabled": "true"}, (), three_commits, lambda s: take_rows_out(s, 2)),
    Operation("delete-rewrite", {"bucket": "-1"}, (), three_commits, lambda s: take_rows_out(s, 2)),
    Operation("upsert-input", {**ONE, "changelog-producer": "input"}, ("k",), two_commits, lambda s: write(s, rows([2, 9], "new"))),
    Operation("upsert-full-compaction", {"bucket": "1", "changelog-producer": "full-compaction"}, ("k",), two_commits, lambda s: write(s, rows([2, 9], "new"))),
    Operation("compact-vectors", {"bucket": "-1", "deletion-vectors.enabled": "true"}, (), with_vectors, lambda s: TableCommit(s).commit(compact(s)), True),
    Operation("sort", {"bucket": "-1"}, (), three_commits, lambda s: Table(s).maintain.sort_compact("zorder", ["k", "v"]), True),
    Operation("analyze", ONE, ("k",), two_commits, lambda s: analyze(s, ["v"]), True),
    Operation("alter", ONE, ("k",), two_commits, lambda s: add_column(s), True),
    Operation("orphans", ONE, ("k",), littered, lambda s: remove_orphans(s, 1 << 62, dry_run=False), True),
    Operation("create-branch", ONE, ("k",), altered, lambda s: create_branch(s, "b", "kept", if_not_exists=True), True),
    Operation("delete-branch", ONE, ("k",), branched, lambda s: "b" in s.branches.names() and delete_branch(s, "b"), True),
    Operation("fast-forward", ONE, ("k",), branched, lambda s: fast_forward(s, "b")),
    Operation("drop-partition", {"bucket": "-1", "parted": "yes"}, (), two_commits, lambda s: drop_partitions(s, [{"k": 1}])),
]  # fmt: skip


def state(fs: FileIO) -> list[tuple[int, str]]:
    store = TableStore.open(fs, ROOT)
    return sorted((r["k"], r["v"]) for r in rows_of(store))


def branches(fs: FileIO) -> dict[str, tuple[list[int], list[int]]]:
    """Schemas and snapshots of each branch beside main."""
    stores = {name: TableStore.open(fs, ROOT, name) for name in TableStore.open(fs, ROOT).branches.names()}
    return {name: (store.schemas.ids(), store.snapshots.ids()) for name, store in stores.items()}


@pytest.mark.parametrize("op", OPERATIONS, ids=lambda op: op.name)
def test_crash_at_every_call(op: Operation, capsys):
    """At every call that changes files, in one of the ways by turns. A crash at a read leaves what a crash before the next change leaves."""
    with capsys.disabled():
        crash(op, lambda counted: [(n, WAYS[i % len(WAYS)]) for i, n in enumerate(counted.changes, 1)])


@pytest.mark.nightly
@pytest.mark.parametrize("op", OPERATIONS, ids=lambda op: op.name)
def test_crash_at_every_call_in_every_way(op: Operation, capsys):
    with capsys.disabled():
        crash(op, lambda counted: [(n, way) for n in range(1, counted.calls + 1) for way in WAYS])


def crash(op: Operation, points: Callable[[Crashing], list[tuple[int, str]]]) -> None:
    """Crash `op` at each of these calls, in this way."""
    start = MemoryFileIO()
    options = dict(op.options)
    parts = ["k"] if options.pop("parted", "") else []
    op.before(make_table(ROOT, KV, op.keys, parts, fs=start, **options))
    before = state(start)
    new_process()
    counted = Crashing(copy_of(start))
    op.act(TableStore.open(counted, ROOT))
    after = state(counted.inner)
    assert (before == after) == op.same_rows
    between = {tuple(before), tuple(after)}
    if op.name in ("rollback", "fast-forward"):
        # Newer snapshots go one by one, newest first, and others come: each is a state the table or its branch once had.
        for branch in ["main", *TableStore.open(start, ROOT).branches.names()]:
            ids = TableStore.open(start, ROOT, branch).snapshots.ids()
            between |= {tuple(state_at(start, i, branch)) for i in ids}
    known = branches(start), branches(counted.inner)
    done = 0
    for n, way in points(counted):
        done += 1
        survived = copy_of(start)
        new_process()
        with pytest.raises(SimulatedCrash):
            op.act(TableStore.open(Crashing(survived, n, way), ROOT))
        new_process()
        store = TableStore.open(survived, ROOT)
        where = f"{op.name}: call {n} of {counted.calls}, {way}"
        assert tuple(state(survived)) in between, where
        assert branches(survived) in known, where
        ids = store.snapshots.ids()
        # A fast-forward puts the newest snapshot in place before those below it: writers build on it at once.
        whole = op.name == "fast-forward" or ids == list(range(ids[0], ids[-1] + 1))
        assert whole, f"{where}: a hole in the history"
        assert missing(store) == [], where
        op.act(store)
        again = store.snapshots.ids()
        assert again == list(range(again[0], again[-1] + 1)), f"{where}, then again: a hole in the history"
        remove_orphans(store, 1 << 62, dry_run=False)  # brings no row and no file back
        assert (state(survived), missing(store)) == (after, []), f"{where}, then again and swept"
    print(f"\n  {op.name}: {done} crashes at {counted.calls} calls {dict(counted.kinds)}")


def state_at(fs: FileIO, snapshot_id: int, branch: str = "main") -> list[tuple[int, str]]:
    files = copy_of(fs)
    store = TableStore.open(files, ROOT, branch)
    rollback_to_snapshot(store, snapshot_id)
    return sorted((r["k"], r["v"]) for r in rows_of(store))


def test_what_is_committed_after_an_expiry_died_stays() -> None:
    """Old snapshots that a killed expiry has left must not make newer ones, whose base expires later, look lost."""
    start = MemoryFileIO()
    store = make_table(ROOT, KV, ["k"], [], fs=start, bucket="1")
    for turn in range(6):
        put(store, rows([turn]))
    limits = ExpireLimits(1, 1, 1 << 62, 50)
    counted = Crashing(copy_of(start))
    expire_snapshots(TableStore.open(counted, ROOT), limits)
    for call in counted.changes:
        survived = copy_of(start)
        new_process()
        with pytest.raises(SimulatedCrash):
            expire_snapshots(TableStore.open(Crashing(survived, call), ROOT), limits)
        for turn in range(6, 9):
            new_process()
            store = TableStore.open(survived, ROOT)
            put(store, rows([turn]))
            TableCommit(store).commit(compact(store))
            expire_snapshots(store, limits)
        new_process()
        TableCommit(store := TableStore.open(survived, ROOT)).commit(compact(store))
        assert [k for k, _ in state(survived)] == list(range(9)), f"call {call} of {counted.calls}"
        ids = store.snapshots.ids()
        assert ids == list(range(ids[0], ids[-1] + 1)), f"call {call} of {counted.calls}: an old snapshot was left"


def test_a_snapshot_below_the_earliest_one_proves_nothing() -> None:
    """As the test above, where an older release has left snapshots, with their files."""
    files = MemoryFileIO()
    store = make_table(ROOT, KV, ["k"], [], fs=files, bucket="1")
    for turn in range(3):
        put(store, rows([turn]))
    store.snapshots.write_earliest_hint(3)  # where it ended
    for turn in range(3, 6):
        new_process()
        store = TableStore.open(files, ROOT)
        put(store, rows([turn]))
        TableCommit(store).commit(compact(store))
        expire_snapshots(store, ExpireLimits(1, 1, 1 << 62, 50))
    new_process()
    put(TableStore.open(files, ROOT), rows([6]))
    new_process()
    assert [k for k, _ in state(files)] == list(range(7))
