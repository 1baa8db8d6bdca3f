"""Calls of an object store by a handle that is opened anew: no listing, and few requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from paimon_nb.base.identifier import Identifier
from paimon_nb.format.schema import SchemaDirectory, create_schema
from paimon_nb.format.types import parse_type
from paimon_nb.fs.memory import MemoryFileIO
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable


class CountingStore(MemoryFileIO):
    """An object store in memory. `calls` has one entry for each request."""

    is_object_store = True

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def read(self, path):
        self.calls.append(f"GET {path}")
        return super().read(path)

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


@pytest.fixture
def store() -> CountingStore:
    """With a key table of 32 snapshots."""
    fs = CountingStore()
    fields = [("id", parse_type("INT NOT NULL"), None, None), ("v", parse_type("STRING"), None, None)]
    SchemaDirectory(fs, "m/t").create(create_schema(fields, [], ["id"], {"bucket": "1", "write-only": "true"}, None))
    table = opened(fs)
    for n in range(32):
        table.append(rows(n))
    fs.calls.clear()
    return fs


@pytest.mark.parametrize(
    ("act", "most"),
    [(lambda fs: opened(fs), 4), (lambda fs: opened(fs).append(rows(5)), 26),
     (lambda fs: opened(fs).copy({"write-only": "false"}).append(rows(5)), 80),
     (lambda fs: opened(fs).to_arrow(), 150), (lambda fs: opened(fs).lookup(id=3), 150)],
    ids=["open", "commit", "commit that compacts", "read", "lookup"],
)  # fmt: skip
def test_a_new_handle_lists_nothing(store: CountingStore, act: Callable[[CountingStore], object], most: int):
    act(store)
    assert [c for c in store.calls if c.startswith("LIST")] == []
    assert len(store.calls) <= most, store.calls
