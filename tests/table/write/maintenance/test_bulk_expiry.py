"""Hundreds of snapshots are due at once: a commit takes a few of them with it, and its work does not grow with the rest."""

from __future__ import annotations

from collections import Counter

import pytest
from commit_kit import added, data_file, make_table

from paimon_nb.fs import MemoryFileIO
from paimon_nb.table.write.commit import TableCommit

FILES_OF_A_SNAPSHOT = 4
"""The snapshot itself, its two manifest lists and its manifest."""
MERGED = 30
"""Manifests that one merge made needless."""


class Counting(MemoryFileIO):
    def __init__(self) -> None:
        super().__init__()
        self.calls = Counter[str]()

    def delete(self, path: str) -> bool:
        self.calls["delete"] += 1
        return super().delete(path)

    def read(self, path: str) -> bytes:
        self.calls["read"] += 1
        return super().read(path)


@pytest.mark.parametrize("due", [60, 160])
def test_a_commit_takes_a_few(due: int) -> None:
    fs, limit, kept = Counting(), 10, 5
    keep_all = {
        "snapshot.num-retained.min": "5",
        "snapshot.num-retained.max": "100000",
        "snapshot.time-retained": "100 d",
    }
    store = make_table(fs, **keep_all, **{"snapshot.expire.limit": str(limit)})
    for i in range(due + kept - 1):
        TableCommit(store).commit([added(data_file(f"f{i}"))])
    few = store.copy({"snapshot.num-retained.max": str(kept)})
    left, commits = due + kept - 1, 0
    while left > kept:
        fs.calls.clear()
        TableCommit(few).commit([added(data_file(f"g{commits}"))])
        commits += 1
        few.snapshots.invalidate_cache()
        now = len(few.snapshots.ids())
        assert left + 1 - now == min(limit, left + 1 - kept)
        assert 0 < fs.calls["delete"] <= limit * FILES_OF_A_SNAPSHOT + MERGED
        assert (
            fs.calls["read"] <= 2 * left + 60
        )  # each snapshot that stays is looked at once or twice: nothing is needed twice
        left = now
    assert commits == -(-due // (limit - 1))


def test_who_writes_only_leaves_it_to_others() -> None:
    fs = Counting()
    store = make_table(fs, **{"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "1", "write-only": "true"})
    for i in range(30):
        TableCommit(store).commit([added(data_file(f"f{i}"))])
    assert (fs.calls["delete"], len(store.snapshots.ids())) == (0, 30)
