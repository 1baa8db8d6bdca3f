"""Writers of one bucket: with a primary key (buffer, sort, merge, flush to level 0) and without (arrival or clustering order).

Source: docs/spec/merge-semantics.md section 4; docs/spec/format.md section 8.1.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_nb.format.data import SEQUENCE_NUMBER, VALUE_KIND
from paimon_nb.format.manifest import DataFile
from paimon_nb.format.types.arrow_builders import from_numpy
from paimon_nb.options import table as opt
from paimon_nb.table.cluster import Order, OrderedRows
from paimon_nb.table.data_file_writer import AppendFiles, FileTarget, write_key_values
from paimon_nb.table.merge import MergeSpec, SortedChunks, merged_groups
from paimon_nb.table.store import TableStore

_LARGE = 16 << 20
"""From this flush size on, memory is returned to the system."""


class KeyBucketWriter:
    """Takes rows in arrival order; returns level-0 files and, for changelog-producer=input, changelog files.

    Memory: the rows since the last `flush`, which writes them to level-0 files. The owner of several writers decides
    when.
    """

    def __init__(
        self,
        store: TableStore,
        spec: MergeSpec,
        target: FileTarget,
        next_sequence: int,
        *,
        write_changelog: bool = True,
    ) -> None:
        """`write_changelog`: False for an overwrite, which has no changelog with any producer."""
        self.store = store
        self.spec = spec
        self.target = target
        self.next_sequence = next_sequence
        self.new_files: list[DataFile] = []
        self.changelog_files: list[DataFile] = []
        self.row_count = 0
        self._buffer: list[pa.Table] = []
        self.buffered = 0
        """Bytes of buffered rows."""
        self._log_input = write_changelog and str(store.options.get(opt.CHANGELOG_PRODUCER)) == "input"

    def write(self, rows: pa.Table, kinds: np.ndarray) -> None:
        """Add conformed rows with their kinds (int8 codes)."""
        count = rows.num_rows
        numbers = np.arange(self.next_sequence, self.next_sequence + count, dtype=np.int64)
        self.next_sequence += count
        self.row_count += count
        kv = rows.append_column(SEQUENCE_NUMBER, from_numpy(numbers)).append_column(VALUE_KIND, from_numpy(kinds))
        self._buffer.append(kv)
        self.buffered += kv.nbytes

    def flush(self) -> None:
        """Write the buffer to level-0 files."""
        if not self._buffer:
            return
        rows, large = SortedChunks(self._buffer, self.spec), self.buffered >= _LARGE
        self._buffer, self.buffered = [], 0
        if self._log_input:
            changes = (groups.sorted for groups in rows)
            self.changelog_files += write_key_values(self.store, replace(self.target, changelog=True), changes)
        merged = (merged_groups(groups, self.spec) for groups in rows)
        self.new_files += write_key_values(self.store, self.target, merged)
        del rows, merged
        if large:  # otherwise the memory pool stays fragmented by each flush
            pa.default_memory_pool().release_unused()

    def files(self) -> tuple[list[DataFile], list[DataFile]]:
        """Flush, then (new files, changelog files)."""
        self.flush()
        return self.new_files, self.changelog_files

    def abort(self) -> None:
        """Delete every file written so far."""
        for file in [*self.new_files, *self.changelog_files]:
            for path in self.store.paths_of(self.target.partition, self.target.bucket, file):
                self.store.fs.delete(path)
        self._buffer = []


class AppendBucketWriter:
    """Streams rows to files in input order. Memory: one slice of rows.

    `tracked` as for `AppendFiles`. With an order, rows are buffered until the end: in memory up to `write-buffer-size`,
    then on local disk.
    """

    buffered = 0
    """Bytes of rows that a flush would write: none, rows stream to their file."""

    def __init__(
        self,
        store: TableStore,
        target: FileTarget,
        next_sequence: int,
        order: Order | None = None,
        *,
        tracked: bool = False,
    ) -> None:
        self.row_count = 0
        self._files = AppendFiles(store, target, next_sequence, tracked=tracked)
        self._ordered = OrderedRows(store, order) if order is not None else None

    def write(self, rows: pa.Table, kinds: np.ndarray) -> None:
        self.row_count += rows.num_rows
        if self._ordered is not None:
            self._ordered.add(rows)
        else:
            self._files.write(rows)

    def flush(self) -> None:
        """Does nothing: no rows are buffered."""

    def files(self) -> tuple[list[DataFile], list[DataFile]]:
        """(new files, no changelog)."""
        if self._ordered is not None:
            for rows in self._ordered.sorted():
                self._files.write(rows)
            self._ordered.close()
        return self._files.finish(), []

    def abort(self) -> None:
        """Delete every file written so far."""
        if self._ordered is not None:
            self._ordered.close()
        self._files.abort()


def write_order(store: TableStore) -> Order | None:
    """The order of a batch write (`clustering.columns`); None: arrival order.

    Rows of a bucket keep their order. Incremental clustering leaves the work to compaction by default.
    """
    o = store.options
    if store.has_keys or store.bucket_option != -1:
        return None
    if o.get(opt.CLUSTERING_INCREMENTAL) and not o.get(opt.CLUSTERING_INCREMENTAL_OPTIMIZE_WRITE):
        return None
    return Order.of_options(store)
