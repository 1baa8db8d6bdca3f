"""Calls of an object store by a handle that is opened anew: no listing, and few requests."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from sampling import sampled

from paimon_nb.base.errors import CommitConflict
from paimon_nb.base.identifier import Identifier
from paimon_nb.format.schema import SchemaDirectory, create_schema
from paimon_nb.format.types import parse_type
from paimon_nb.fs.memory import MemoryFileIO
from paimon_nb.options import table as opt
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.tables.table import Table
from paimon_nb.table.write.maintenance.post_commit import looks_after

if TYPE_CHECKING:
    from collections.abc import Callable


class CountingStore(MemoryFileIO):
    """An object store in memory. `calls` has one entry for each request."""

    is_object_store = True

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []
        self.announced: list[str] = []
        """Files that are fetched side by side, before they are read."""

    def read(self, path):
        self.calls.append(f"GET {path}")
        return super().read(path)

    def prefetch(self, files):
        self.announced += [path for path, _ in files]

    def list(self, path):
        self.calls.append(f"LIST {path}")
        return super().list(path)

    def put_if_absent(self, path, data):
        self.calls.append(f"PUT {path}")
        return super().put_if_absent(path, data)

    def overwrite(self, path, data, *, durable=True):
        self.calls.append(f"PUT {path}")
        super().overwrite(path, data, durable=durable)


def rows(first: int) -> pa.Table:
    ids = range(first, first + 10)
    return pa.table({"id": pa.array(ids, pa.int32()), "v": pa.array([f"v{i}" for i in ids])})


def opened(fs: CountingStore) -> Table:
    return Table(TableStore.open(fs, "m/t"), Identifier("d", "t"))


KINDS = {"key": (["id"], "2"), "append": ([], "-1"), "dynamic buckets": (["id"], "-1")}


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest) -> CountingStore:
    """With a table of 32 snapshots. What names a UUID is in memory, as far as it is a manifest."""
    keys, buckets = KINDS[request.param]
    fs = CountingStore()
    kind = "INT NOT NULL" if keys else "INT"
    fields = [("id", parse_type(kind), None, None), ("v", parse_type("STRING"), None, None)]
    SchemaDirectory(fs, "m/t").create(create_schema(fields, [], keys, {"bucket": buckets, "write-only": "true"}, None))
    table = opened(fs)
    for n in range(32):
        table.append(rows(n))
    fs.calls.clear()
    return fs


def counted(calls: list[str]) -> dict[str, int]:
    """Requests by method and kind of file."""
    kinds = ((call.split(" ")[0], call.rsplit("/", 1)[1].split("-")[0]) for call in calls)
    return dict(Counter(f"{method} {kind}" for method, kind in kinds))


OPENED = {"GET schema": 4, "GET LATEST": 1}
LISTS_OF_MANIFESTS = 2


def test_opening_reads_the_hint_of_the_newest_snapshot_beside_the_schemas(store: CountingStore):
    opened(store)
    assert counted(store.calls) == OPENED


def test_a_commit_of_a_new_handle_reads_the_head_once(store: CountingStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("paimon_nb.table.read.store._JUST_S", math.inf)
    table = opened(store)
    table.append(rows(5))
    found = counted(store.calls)
    assert found.pop("PUT data") <= 2  # one of each bucket
    found.pop("GET index", None)  # the keys of dynamic buckets
    manifests = found.pop("GET manifest") - LISTS_OF_MANIFESTS
    assert manifests >= 0 if table.primary_keys else manifests == 0  # no rows of an append table are looked for
    assert found == {
        **OPENED,
        "GET snapshot": 4,  # the newest one, its neighbours; after the publish the one that it was built on
        "PUT manifest": 3,
        "PUT snapshot": 1,
        "PUT LATEST": 1,
    }


def test_the_commit_of_an_old_handle_looks_for_another_schema_once(
    store: CountingStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("paimon_nb.table.read.store._JUST_S", 0.0)
    table = opened(store)
    table.append(rows(5))
    store.calls.clear()
    table.append(rows(6))
    found = counted(store.calls)
    assert found.pop("PUT data") <= 2
    found.pop("GET index", None)
    assert found == {
        "GET schema": 3,  # the first one, the newest one and the next one
        "GET LATEST": 1,
        "GET snapshot": 3,
        "PUT manifest": 3,
        "PUT snapshot": 1,
        "PUT LATEST": 1,
    }


def test_others_win_between_the_look_and_the_publish(store: CountingStore):
    """The conditional put decides, whatever the write began with."""
    mine, other = opened(store), opened(store)
    mine.latest_snapshot()
    publish = store.sync_and_put_if_absent
    before: list[Callable[[], object]] = [lambda: other.append(rows(100))]

    def overtaken(named, path, data):
        while before:
            before.pop()()
        return publish(named, path, data)

    store.sync_and_put_if_absent = overtaken
    if mine.options.get(opt.BUCKET) == -1 and mine.primary_keys:
        with pytest.raises(CommitConflict, match="assigned buckets"):
            mine.append(rows(200))
        expected = [*range(100, 110)]
    else:
        assert mine.append(rows(200)) == [34]
        expected = [*range(100, 110), *range(200, 210)]
    assert sorted(i for i in mine.to_arrow()["id"].to_pylist() if i >= 100) == expected


def test_a_commit_that_compacts_lists_nothing(store: CountingStore):
    made = opened(store).copy({"write-only": "false", "full-compaction.delta-commits": "1"}).append(rows(5))
    assert [c for c in store.calls if c.startswith("LIST")] == []
    assert made[0] == 33


def test_a_compaction_announces_the_files_that_it_reads(store: CountingStore):
    table = opened(store).copy({"write-only": "false"})
    store.calls.clear()
    table.compact(full=True)
    read = {call.removeprefix("GET ") for call in store.calls if call.startswith("GET") and "/data-" in call}
    assert len(read) >= 32
    assert read <= set(store.announced)


@pytest.mark.parametrize("published", [[40], [49, 50], [51, 52]])
def test_each_tenth_snapshot_is_followed_by_a_look_for_what_expires(published: list[int]):
    compacted = len(published) == 2
    assert looks_after(published[-1], compacted=compacted) == (published != [51, 52])


def test_a_job_that_only_compacts_looks_whatever_others_commit_in_between():
    """Its snapshots may all have even ids, or all odd ones."""
    for first in (1, 2):
        assert any(looks_after(newest, compacted=True) for newest in range(first, first + 20, 2))


@pytest.mark.parametrize("reads", sampled([True, False], 3), ids=["read", "lookup"])
def test_reads_of_a_new_handle_list_nothing(store: CountingStore, *, reads: bool):
    table = opened(store)
    table.to_arrow() if reads or not table.primary_keys else table.lookup(id=3)
    assert [c for c in store.calls if c.startswith("LIST")] == []
    assert len(store.calls) <= 80, store.calls
