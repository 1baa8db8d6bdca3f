"""A snapshot expires while it is read: the reader gets all its rows, or is told what happened and what to do."""

from __future__ import annotations

from typing import Any

import pytest
from write_kit import compact_all, make_table, put

from paimon_nb.base.errors import MissingFile, SnapshotExpired
from paimon_nb.fs import MemoryFileIO
from paimon_nb.table.read import plan_scan, read_plan
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.tables.table import Table
from paimon_nb.table.write.maintenance import ExpireLimits, create_tag, expire_snapshots

ROOT = "memory:/w/t"
KINDS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "append": ((), {"bucket": "-1"}),
    "keyed": (("k",), {"bucket": "2", "write-only": "true"}),
    "vectors": (("k",), {"bucket": "1", "deletion-vectors.enabled": "true"}),
}
ALL = [{"k": k, "v": f"v{k}"} for k in range(4)]


class Interrupted(MemoryFileIO):
    """Somebody else works on the table just before the n-th look at a file."""

    def __init__(self) -> None:
        super().__init__()
        self.looks, self.at, self.work = 0, 0, lambda: None

    def _look(self) -> None:
        self.looks += 1
        if self.looks == self.at:
            self.work()

    def read(self, path: str) -> bytes:
        self._look()
        return super().read(path)

    def open(self, path: str) -> Any:
        self._look()
        return super().open(path)


def filled(fs: MemoryFileIO, kind: str) -> TableStore:
    keys, options = KINDS[kind]
    store = make_table(ROOT, {"k": "INT", "v": "STRING"}, keys, fs=fs, **options)
    for row in ALL:
        put(store, [row])
    if kind == "vectors":
        compact_all(store)
    return store


def rewrite_and_expire(fs: MemoryFileIO) -> None:
    """Every file of the state before goes."""
    store = TableStore.open(fs, ROOT)
    put(store, [{"k": 9, "v": "new"}])
    compact_all(store)
    put(store, [{"k": 10, "v": "newer"}])
    expire_snapshots(store, ExpireLimits(1, 1, 1 << 62, 50))


def a_reading(kind: str, at: int) -> tuple[int, object]:
    """How many looks a read takes, and how it ends when the snapshot expires before look `at` (0: never)."""
    fs = Interrupted()
    filled(fs, kind)
    fs.work = lambda: rewrite_and_expire(fs)
    reader = Table(TableStore.open(fs, ROOT))
    wanted = reader.store.latest().id
    fs.looks, fs.at = 0, at
    try:
        found: object = sorted(reader.to_arrow(snapshot=wanted).to_pylist(), key=lambda r: r["k"])
    except SnapshotExpired as error:
        found = error
    return fs.looks, found


@pytest.mark.parametrize("kind", KINDS)
def test_at_every_look(kind: str) -> None:
    looks, found = a_reading(kind, 0)
    assert found == ALL
    told = 0
    for at in range(1, looks + 1):
        _, found = a_reading(kind, at)
        if isinstance(found, SnapshotExpired):
            told += 1
            assert "tag" in (found.hint or ""), found
            assert found.facts["wanted"] < found.facts["earliest"]
        else:
            assert found == ALL, f"look {at} of {looks}"
    assert 0 < told <= looks


@pytest.mark.parametrize("kind", KINDS)
def test_between_plan_and_read(kind: str) -> None:
    fs = MemoryFileIO()
    store = filled(fs, kind)
    plan, snapshot = plan_scan(store), store.latest().id
    rewrite_and_expire(fs)
    with pytest.raises(
        SnapshotExpired, match=f"snapshot {snapshot} expired while it was read. Available: snapshots"
    ) as error:
        read_plan(plan)
    assert error.value.facts["path"].endswith(".parquet")
    fresh = sorted(Table(store).to_arrow().column("k").to_pylist())
    assert fresh == [0, 1, 2, 3, 9, 10]


def test_a_tag_keeps_it_readable() -> None:
    fs = MemoryFileIO()
    store = filled(fs, "keyed")
    create_tag(store, "kept", store.latest().id)
    plan = plan_scan(store)
    rewrite_and_expire(fs)
    assert sorted(read_plan(plan).column("k").to_pylist()) == [0, 1, 2, 3]


def test_a_file_that_is_lost_is_not_called_expired() -> None:
    fs = MemoryFileIO()
    store = filled(fs, "append")
    plan = plan_scan(store)
    split = plan.splits[0]
    fs.delete(store.data_path(split.partition, split.bucket, split.files[0]))
    with pytest.raises(MissingFile):
        read_plan(plan)
