"""Writer of one bucket of a table without primary key: rows are written in arrival order or in the clustering order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from paimon_nb.format.manifest import DataFile
from paimon_nb.options import table as opt
from paimon_nb.table.cluster import Order, OrderedRows
from paimon_nb.table.store import TableStore
from paimon_nb.table.write.rolling_writer import AppendFiles, FileTarget


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
