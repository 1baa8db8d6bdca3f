"""Deletion vectors of one bucket while it is compacted: read once, marked and dropped in memory, written once.

Source: format reference, section 12.3; behaviour reference, section 6.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from paimon_nb.format.index import DeletionVector, read_deletion_vectors, write_deletion_vectors
from paimon_nb.format.manifest import IndexEntry
from paimon_nb.options import table as opt
from paimon_nb.table.commit.change import DELETION_VECTORS
from paimon_nb.table.store import TableStore


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
        """The file's vector; None when no row of it is deleted."""
        return self._vectors.get(file_name)

    def mark(self, file_name: str, positions: np.ndarray) -> None:
        """Delete rows by position."""
        if len(positions):
            vector = self._vectors.get(file_name)
            self._vectors[file_name] = vector.with_positions(positions) if vector else DeletionVector.of(positions)
            self._changed = True

    def drop(self, file_names: Iterable[str]) -> None:
        """Forget vectors of files that are rewritten."""
        for name in file_names:
            self._changed |= self._vectors.pop(name, None) is not None

    def finish(self) -> tuple[list[IndexEntry], list[IndexEntry]]:
        """(new index entries, entries they replace); both empty when nothing changed."""
        if not self._changed:
            return [], []
        if not self._vectors:
            return [], self._entries
        name = self.store.new_file_name("index")
        version = 2 if self.store.options.get(opt.DELETION_VECTORS_BITMAP64) else 1
        path, told = self.store.new_index_path(self.partition, self.bucket, name)
        size, ranges = write_deletion_vectors(self.store.fs, path, self._vectors, version)
        entry = IndexEntry(
            partition=self.partition,
            bucket=self.bucket,
            index_type=DELETION_VECTORS,
            file_name=name,
            file_size=size,
            row_count=len(self._vectors),
            dv_ranges=tuple(ranges),
            external_path=told,
        )
        return [entry], self._entries
