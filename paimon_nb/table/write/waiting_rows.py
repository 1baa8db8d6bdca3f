"""Rows that wait for a writer, because a process can hold only some files open. Knows numbers of writers, no tables.

Source: Paimon `write-max-writers-to-spill`. Difference: only the rows beyond that number of writers wait.
"""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np

from paimon_nb.format.types.arrow_builders import from_numpy, to_numpy
from paimon_nb.options import table as opt
from paimon_nb.table.write.cluster import ExternalSort

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from paimon_nb.table.read.store import TableStore

_OPEN_WRITERS = 64
"""Writers with an open file, if the table's options do not say how many."""
_SHARE_OF_DESCRIPTORS = 4
"""A write uses at most this part of the process's file descriptors."""
_WRITER, _ARRIVAL = "_WRITER_", "_ARRIVAL_"


def max_open_writers(store: TableStore, files_per_writer: int = 1) -> int:
    """How many writers of a table may have open files at once: `write-max-writers-to-spill`, within the process's limit."""
    limit = _OPEN_WRITERS
    if store.options.has(opt.WRITE_MAX_WRITERS_TO_SPILL):
        limit = store.options.get(opt.WRITE_MAX_WRITERS_TO_SPILL)
    return max(1, min(limit, _descriptors() // _SHARE_OF_DESCRIPTORS) // files_per_writer)


def _descriptors() -> int:
    """The number of files that this process may open."""
    try:
        import resource
    except ImportError:  # Windows
        return 512
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1 << 20 if soft == resource.RLIM_INFINITY else soft


class WaitingRows:
    """Takes rows of many writers, returns those of one writer after the other, in the order in which they came.

    Memory: about `write-buffer-size`; more is spilled to local disk.
    """

    def __init__(self, store: TableStore) -> None:
        self._sort = ExternalSort([_WRITER, _ARRIVAL], max(1, store.options.get(opt.WRITE_BUFFER_SIZE)))
        self._count = 0

    def add(self, rows: pa.Table, writers: np.ndarray) -> None:
        """Add rows.

        Args:
            rows: the rows.
            writers: the number of the writer of each row.
        """
        arrival = np.arange(self._count, self._count + rows.num_rows)
        self._count += rows.num_rows
        rows = rows.append_column(_WRITER, from_numpy(writers.astype(np.int32)))
        self._sort.add(rows.append_column(_ARRIVAL, from_numpy(arrival)))

    def by_writer(self) -> Iterator[tuple[int, Iterator[pa.Table]]]:
        """(number of a writer, its rows) for each writer, ascending. Take all rows of one before the next one."""
        for number, parts in groupby(self._parts(), key=lambda part: part[0]):
            yield number, (rows for _, rows in parts)

    def _parts(self) -> Iterator[tuple[int, pa.Table]]:
        for table in self._sort.sorted():
            numbers = to_numpy(table.column(_WRITER))
            rows = table.drop_columns([_WRITER, _ARRIVAL])
            cuts = [0, *(np.flatnonzero(np.diff(numbers)) + 1), len(numbers)]
            for start, stop in pairwise(cuts):
                yield int(numbers[start]), rows.slice(start, stop - start)

    def close(self) -> None:
        """Delete the spilled rows. Safe to call twice."""
        self._sort.__exit__()
