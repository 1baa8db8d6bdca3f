"""Writer of one bucket of a primary-key table: buffer, sort, merge, flush to level 0.

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
from paimon_nb.table.merge import MergeSpec, SortedChunks, merged_groups
from paimon_nb.table.store import TableStore
from paimon_nb.table.write.rolling_writer import FileTarget, write_key_values

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
