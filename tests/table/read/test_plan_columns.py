"""Plans over many files, made of columns: the same splits and the same account as plans made of one object after the other."""

from __future__ import annotations

import pickle
import random
from typing import TYPE_CHECKING

import pytest
from sampling import sampled
from write_kit import make_table

from paimon_nb.format.manifest import EMPTY_ROW, EMPTY_STATS, DataFile, LazyFiles, SimpleStats
from paimon_nb.format.manifest.manifests import _CACHE
from paimon_nb.format.row import serialize
from paimon_nb.format.types import parse_type
from paimon_nb.fs import MemoryFileIO
from paimon_nb.table.read import plan_scan
from paimon_nb.table.read.live_files import read_live
from paimon_nb.table.read.plan.snapshot_scan import _bin_ranges, pack_into_bins
from paimon_nb.table.write.commit import CommitMessage, TableCommit

if TYPE_CHECKING:
    from paimon_nb.table.read.store import TableStore

COLUMNS = {"p": "INT", "k": "BIGINT", "v": "STRING", "x": "DOUBLE"}
TYPES = [parse_type(t) for t in COLUMNS.values()]
INT, BIGINT = TYPES[:2]


def some_file(rng: random.Random, name: str, partition: int, keyed: bool) -> DataFile:
    low = rng.randrange(10_000)
    high = low + rng.randrange(200)
    texts = rng.choice([("a", "bc"), ("a longer text", "one that is longer still")])
    dense = ("p", "k") if rng.random() < 0.2 else None
    lows, highs = (partition, low, texts[0], None), (partition, high, texts[1], 0.5)
    width = len(dense) if dense else 4
    values = SimpleStats(
        serialize(TYPES[:width], lows[:width]), serialize(TYPES[:width], highs[:width]), (0, 0, rng.choice([0, 9]), None)[:width]
    )  # fmt: skip
    first, last = (serialize([BIGINT], (k,)) for k in (low, high))
    key = (first, last, SimpleStats(first, last, (0,))) if keyed else (EMPTY_ROW, EMPTY_ROW, EMPTY_STATS)
    return DataFile(
        name, rng.choice([100, 3 << 20, 50 << 20]), rng.randint(1, 9), *key, values, 0, 1, 0, 0, (), rng.randint(1, 99),
        rng.choice([0, 0, 0, None, 1]), None, 0, dense,
    )  # fmt: skip


def tables(rng: random.Random, count: int, keyed: bool, **options: str) -> list[TableStore]:
    """The same files, told by manifests that are read by columns, and by ORC manifests, which never are."""
    stores = [
        make_table(
            "memory:/t", COLUMNS, keys=("p", "k") if keyed else (), partitions=("p",), fs=MemoryFileIO(), bucket="4" if keyed else "-1",
            **{"manifest.format": kind, "write-only": "true"}, **options,
        )
        for kind in ("avro", "orc")
    ]  # fmt: skip
    messages, gone = [], []
    for p in range(7):
        for bucket in range(4 if keyed else 1):
            files = tuple(
                some_file(rng, f"data-{p}-{bucket}-{i}.parquet", p, keyed)
                for i in range(count // (28 if keyed else 7) + rng.randrange(9))
            )
            address = (serialize([INT], (p,)), bucket, 4 if keyed else -1)
            messages.append(CommitMessage(*address, new_files=files))
            gone.append(CommitMessage(*address, deleted_files=tuple(rng.sample(files, 3))))
    for store in stores:
        TableCommit(store, "u").commit(messages)
        TableCommit(store, "u").commit(gone)
    _CACHE.clear()  # as another process: what this one wrote it keeps as objects
    return stores


CONDITIONS = [
    None, "p = 3", "p IN (1, 2) AND k < 500", "k = 4711", "k BETWEEN 100 AND 130", "v = 'a'", "v > 'p'", "v LIKE 'one%'",
    "x IS NOT NULL", "x < 0.25 OR k > 9900", "p > 99", "v IS NULL AND p <> 4",
]  # fmt: skip
KINDS = {
    "append": (False, {}),
    "keys": (True, {}),
    "partial-update": (True, {"merge-engine": "partial-update"}),
    "first-row": (True, {"merge-engine": "first-row"}),
    "small splits": (False, {"source.split.target-size": "40 mb"}),
}


@pytest.mark.parametrize("kind", sampled(KINDS, 3))
def test_the_same_plan_both_ways(kind):
    keyed, options = KINDS[kind]
    quick, slow = tables(random.Random(kind), 1_100, keyed, **options)
    assert read_live(quick, quick.latest()).entries.vectorized
    assert not read_live(slow, slow.latest()).entries.vectorized
    for where in CONDITIONS:
        one, other = plan_scan(quick, where=where), plan_scan(slow, where=where)
        assert [s.files for s in one.splits] == [s.files for s in other.splits], where
        assert (one.splits, one.skipped.stages, str(one.skipped)) == (
            other.splits,
            other.skipped.stages,
            str(other.skipped),
        )
        assert sorted(map(repr, one.skipped.skips())) == sorted(map(repr, other.skipped.skips()))


def test_splits_travel_as_plain_data():
    quick, _ = tables(random.Random(1), 1_100, False)
    split = plan_scan(quick).splits[0]
    assert isinstance(split.files, LazyFiles)
    again = pickle.loads(pickle.dumps(split))
    assert (again, type(again.files), hash(again)) == (split, tuple, hash(split))
    assert (split.files[1:3], split.files[-1], split.size) == (again.files[1:3], again.files[-1], again.size)


@pytest.mark.parametrize("seed", range(50))
def test_cuts_are_those_of_packing(seed):
    rng = random.Random(seed)
    sizes = [rng.randrange(1, 60) for _ in range(rng.randrange(40))]
    cost, target = rng.randrange(30), rng.randrange(1, 100)
    wanted = [len(part) for part in pack_into_bins(sizes, lambda size: max(size, cost), target)]
    assert [b - a for a, b in _bin_ranges(sizes, cost, target)] == wanted
