"""Makes the tables of this directory with pypaimon 2.1.0: `python make_tables.py WAREHOUSE [NAME ...]`.

Run it with a Python that has pypaimon, never with this project's. Each table goes to a `<name>.tar.xz` of its own
(`tar -C WAREHOUSE/default.db -cJf <name>.tar.xz <name>`); `golden_tables.py` unpacks them for tests.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pypaimon import CatalogFactory, Schema

if TYPE_CHECKING:
    from collections.abc import Callable

EVOLVES = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
TABLES: dict[str, Callable[[Maker], None]] = {}


def table(make: Callable[[Maker], None]) -> Callable[[Maker], None]:
    TABLES[make.__name__] = make
    return make


class Maker:
    """One table of a warehouse."""

    def __init__(self, warehouse: str, name: str) -> None:
        self.catalog = CatalogFactory.create({"warehouse": warehouse})
        self.catalog.create_database("default", True)
        self.name = f"default.{name}"

    def create(self, fields: list[Any], keys: list[str] | None = None, **options: str) -> None:
        self.schema = pa.schema(fields)
        made = Schema.from_pyarrow_schema(self.schema, primary_keys=keys, options=options)
        self.catalog.create_table(self.name, made, False)
        self.table = self.catalog.get_table(self.name)

    def commit(self, work: Callable[[Any], Any]) -> None:
        builder = self.table.new_batch_write_builder()
        commit = builder.new_commit()
        commit.commit(work(builder))
        commit.close()

    def write(self, rows: list[dict[str, Any]]) -> None:
        def work(builder: Any) -> Any:
            writing = builder.new_write()
            writing.write_arrow(pa.Table.from_pylist(rows, schema=self.schema))
            messages = writing.prepare_commit()
            writing.close()
            return messages

        self.commit(work)

    def update(self, ids: list[int], column: str, values: list[Any]) -> None:
        new = {"_ROW_ID": pa.array(ids, pa.int64()), column: pa.array(values, self.schema.field(column).type)}
        self.commit(lambda b: b.new_update().with_update_type([column]).update_by_arrow_with_row_id(pa.table(new)))

    def delete(self, ids: list[int]) -> None:
        self.commit(lambda b: b.new_update().delete_by_row_id(ids))


def rows(*ids: int) -> list[dict[str, Any]]:
    return [{"id": i, "b": i, "c": f"c{i}"} for i in ids]


PLAIN = [("id", pa.int32()), ("b", pa.int32()), ("c", pa.string())]


@table
def evolved_deleted(m: Maker) -> None:
    """Data evolution with deletion vectors: rows deleted before and after columns got newer values."""
    m.create(PLAIN, **EVOLVES, **{"deletion-vectors.enabled": "true", "file.format": "parquet"})
    m.write(rows(*range(6)))
    m.write(rows(*range(6, 10)))
    m.delete([1])
    m.update([0, 1, 2], "b", [100, 101, 102])
    m.delete([2, 7])
    m.update([3], "c", ["x"])
    m.delete([9])


@table
def evolved_indexed(m: Maker) -> None:
    """Data evolution with a BTree global index on `b`."""
    m.create(PLAIN, **EVOLVES, **{"file.format": "parquet", "global-index.enabled": "true"})
    m.write(rows(*range(8)))
    m.table.create_global_index("b", "btree")


@table
def blobs(m: Maker) -> None:
    """A BLOB column in files of its own, rolled after each value, with a deleted row and a newer value of `b`."""
    m.create(
        [*PLAIN, ("x", pa.large_binary())], **EVOLVES,
        **{"deletion-vectors.enabled": "true", "file.format": "parquet", "blob.target-file-size": "1 b"},
    )  # fmt: skip
    m.write([{**r, "x": b"large %d" % r["id"]} for r in rows(*range(5))])
    m.delete([3])
    m.update([0], "b", [100])


@table
def blobs_updated(m: Maker) -> None:
    """A BLOB column with newer values of some rows: files that refer to older ones for the other rows. One row is deleted."""
    m.create(
        [*PLAIN, ("x", pa.large_binary())], **EVOLVES,
        **{"deletion-vectors.enabled": "true", "file.format": "parquet"},
    )  # fmt: skip
    m.write([{**r, "x": b"large %d" % r["id"]} for r in rows(*range(6))])
    m.update([1, 3], "x", [b"second 1", b"second 3"])
    m.delete([4])
    m.update([0, 3], "x", [None, b"third 3"])


@table
def blob_descriptors(m: Maker) -> None:
    """A BLOB column whose descriptors lie in the data files."""
    from pypaimon.table.row.blob import BlobDescriptor

    m.create(
        [("id", pa.int32()), ("x", pa.large_binary())],
        **EVOLVES,
        **{"file.format": "parquet", "blob-descriptor-field": "x"},
    )
    m.write([{"id": i, "x": BlobDescriptor("file:///nowhere", i, 3).serialize()} for i in range(3)])


@table
def shredded_map(m: Maker) -> None:
    """A MAP in the shared-shredding layout."""
    options = {"fields.m.map.storage-layout": "shared-shredding", "fields.m.map.shared-shredding.max-columns": "2"}
    m.create(
        [("id", pa.int32()), ("m", pa.map_(pa.string(), pa.int32()))],
        **{"file.format": "parquet", "bucket": "-1"},
        **options,
    )
    m.write([{"id": i, "m": [("a", i), (f"k{i}", i), ("z", None)]} for i in range(4)])


@table
def vectors(m: Maker) -> None:
    """A VECTOR column between two others."""
    m.create(
        [("id", pa.int32()), ("v", pa.list_(pa.float32(), 3)), ("c", pa.string())],
        **{"file.format": "parquet", "bucket": "-1"},
    )
    m.write([{"id": i, "v": [i, i + 0.5, -i], "c": f"c{i}"} for i in range(4)])


@table
def tracked_indexed(m: Maker) -> None:
    """Row tracking without data evolution, with a BTree global index on `b`."""
    m.create(PLAIN, **{"row-tracking.enabled": "true", "file.format": "parquet"})
    m.write(rows(*range(8)))
    m.table.create_global_index("b", "btree")


if __name__ == "__main__":
    warehouse, *names = sys.argv[1:]
    for name in names or TABLES:
        TABLES[name](Maker(warehouse, name))
