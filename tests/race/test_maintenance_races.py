"""Many writers, a compactor and an expirer on one table: every row is there once, in its last version, and every file that is needed."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest
from history_kit import missing
from write_kit import make_table
from writer_processes import process_context

from paimon_nb.base.errors import CommitConflict
from paimon_nb.fs import LocalFileIO
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.tables.table import Table
from paimon_nb.table.write.maintenance import ExpireLimits, expire_snapshots, find_orphans

pytestmark = pytest.mark.slow

KEYED = {"bucket": "2", "write-only": "true", "manifest.merge-min-count": "4"}


def opened(root: str) -> Table:
    return Table(TableStore.open(LocalFileIO(), root, dynamic={"commit.max-retries": "1000"}))


def write(root: str, who: int, commits: int, seed: int) -> None:
    """New keys and newer versions of this writer's old ones."""
    dice = random.Random(f"{seed}/{who}")
    for turn in range(commits):
        keys = sorted({turn, dice.randint(0, turn)})
        values = [f"{who}.{turn}"] * len(keys)
        opened(root).append(pa.table({"k": pa.array([who * 1000 + k for k in keys], pa.int32()), "v": values}))


def expected(writers: int, commits: int, seed: int) -> dict[int, str]:
    rows = {}
    for who in range(writers):
        dice = random.Random(f"{seed}/{who}")
        for turn in range(commits):
            rows |= {who * 1000 + k: f"{who}.{turn}" for k in {turn, dice.randint(0, turn)}}
    return rows


def keep_compacting(root: str, stop: str) -> None:
    dice = random.Random(5)
    while not Path(stop).exists():
        try:
            opened(root).compact(full=dice.random() < 0.3)
        except CommitConflict:
            continue  # overtaken; the next look sees the new state


def keep_expiring(root: str, stop: str) -> None:
    while not Path(stop).exists():
        expire_snapshots(opened(root).store, ExpireLimits(2, 12, 0, 50))


def race(root: str, writers: int, commits: int, seed: int) -> Table:
    """Run all of them at once, to the end of the writers."""
    context = process_context()
    stop = f"{root}.stop"
    upkeep = [context.Process(target=work, args=(root, stop)) for work in (keep_compacting, keep_expiring)]
    crowd = [context.Process(target=write, args=(root, who, commits, seed)) for who in range(writers)]
    for process in (*upkeep, *crowd):
        process.start()
    for process in crowd:
        process.join(timeout=1800)
    Path(stop).touch()
    for process in upkeep:
        process.join(timeout=300)
    assert [p.exitcode for p in (*upkeep, *crowd)] == [0] * (writers + 2)
    return opened(root)


def check(table: Table, rows: dict[int, str]) -> None:
    found = table.to_arrow().to_pylist()
    assert len(found) == len(rows)
    assert {r["k"]: r["v"] for r in found} == rows
    ids = table.store.snapshots.ids()
    assert ids == list(range(ids[0], ids[-1] + 1))
    assert missing(table.store) == []
    table.compact()
    assert {r["k"]: r["v"] for r in table.to_arrow().to_pylist()} == rows
    assert find_orphans(table.store, 1 << 62) == []


def made(tmp_path: Path) -> str:
    return make_table(f"{tmp_path}/t", {"k": "INT", "v": "STRING"}, ["k"], **KEYED).root


def test_two_writers_with_upkeep(tmp_path):
    check(race(made(tmp_path), 2, 6, seed=0), expected(2, 6, 0))


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [1, 2])
def test_eight_writers_with_upkeep(tmp_path, seed, capsys):
    table = race(made(tmp_path), 8, 50, seed)
    with capsys.disabled():
        print(f"\n  8 x 50 commits, seed {seed}: snapshot {table.store.snapshots.latest_id()}")
    check(table, expected(8, 50, seed))
