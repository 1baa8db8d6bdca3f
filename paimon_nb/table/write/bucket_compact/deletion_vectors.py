"""Deletion vectors of one bucket during a compaction: read once, changed in memory, written once.

Source: docs/spec/format.md section 12.3; docs/spec/merge-semantics.md section 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.format.index import DeletionVector, read_deletion_vectors, write_deletion_vectors
from paimon_nb.format.manifest import IndexEntry
from paimon_nb.options import table as opt
from paimon_nb.table.write.publish.changes import DELETION_VECTORS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import numpy as np

    from paimon_nb.table.read.store import TableStore


class BucketVectors:
    """Deleted positions by data file name."""

    def __init__(self, store: TableStore, partition: bytes, bucket: int, entries: Iterable[IndexEntry]) -> None:
        self.store = store
        self.partition = partition
        self.bucket = bucket
        self._entries = [
            e for e in entries if e.index_type == DELETION_VECTORS and e.partition == partition and e.bucket == bucket
        ]
        self._vectors: dict[str, DeletionVector] = {}
        for entry in self._entries:
            self._vectors.update(read_deletion_vectors(store.fs, store.index_path(entry), entry.dv_ranges or ()))
        self._changed = False

    def of(self, file_name: str) -> DeletionVector | None:
        """The file's vector; None if no row of it is deleted."""
        return self._vectors.get(file_name)

    def delete_rows(self, file_name: str, positions: np.ndarray) -> None:
        """Delete rows by position."""
        if len(positions):
            vector = self._vectors.get(file_name)
            self._vectors[file_name] = vector.with_positions(positions) if vector else DeletionVector.of(positions)
            self._changed = True

    def drop(self, file_names: Iterable[str]) -> None:
        """Drop the vectors of files that are rewritten."""
        for name in file_names:
            self._changed |= self._vectors.pop(name, None) is not None

    def finish(self) -> tuple[list[IndexEntry], list[IndexEntry]]:
        """(new index entries, entries they replace); both empty if nothing changed."""
        if not self._changed:
            return [], []
        return [self._write_index_file(vectors) for vectors in self._vectors_by_index_file()], self._entries

    # -- inside

    def _vectors_by_index_file(self) -> Iterator[dict[str, DeletionVector]]:
        """The vectors of each index file. A bucket has one file; a bucket-unaware table rolls at the target size."""
        rolls = not self.store.has_keys and self.store.bucket_option == -1
        target = self.store.options.get(opt.DELETION_VECTOR_INDEX_FILE_TARGET_SIZE)
        part: dict[str, DeletionVector] = {}
        size = 0
        for name, vector in self._vectors.items():
            part[name] = vector
            size += len(vector.to_bytes(self._layout_version)) if rolls else 0
            if rolls and size >= target:
                yield part
                part, size = {}, 0
        if part:
            yield part

    @property
    def _layout_version(self) -> int:
        return 2 if self.store.options.get(opt.DELETION_VECTORS_BITMAP64) else 1

    def _write_index_file(self, vectors: Mapping[str, DeletionVector]) -> IndexEntry:
        name = self.store.new_file_name("index")
        path, external = self.store.new_index_path(self.partition, self.bucket, name)
        size, ranges = write_deletion_vectors(self.store.fs, path, vectors, self._layout_version)
        return IndexEntry(
            partition=self.partition,
            bucket=self.bucket,
            index_type=DELETION_VECTORS,
            file_name=name,
            file_size=size,
            row_count=len(vectors),
            dv_ranges=tuple(ranges),
            external_path=external,
        )
