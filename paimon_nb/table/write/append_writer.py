"""One bucket of a table without keys being written: rows go to the file as they come."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from paimon_nb.format.manifest import DataFile
from paimon_nb.table.store import TableStore
from paimon_nb.table.write.files import AppendFiles, Place


class AppendBucketWriter:
    """Streams rows to files in input order. Memory: one slice of rows."""

    def __init__(self, store: TableStore, place: Place, next_sequence: int) -> None:
        self.row_count = 0
        self._files = AppendFiles(store, place, next_sequence)

    def write(self, rows: pa.Table, kinds: np.ndarray) -> None:
        self.row_count += rows.num_rows
        self._files.write(rows)

    def files(self) -> tuple[list[DataFile], list[DataFile]]:
        """(new files, no changelog)."""
        return self._files.finish(), []

    def abort(self) -> None:
        """Delete every file written so far."""
        self._files.abort()
