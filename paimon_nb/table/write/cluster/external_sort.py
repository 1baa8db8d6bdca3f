"""Sorts more rows than fit in memory: sorted runs on local disk, merged in slices. Knows key columns, no tables.

Memory: about `limit` bytes while rows are added, and one slice of every run while they are merged.
"""

from __future__ import annotations

import heapq
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_SLICE_ROWS = 8192
_MAX_RUNS = 64
"""Runs that are merged at once: each needs an open file."""


class ExternalSort:
    """Takes tables in any order, returns their rows in the order of the key columns; NULL first.

    A context manager: leaving it deletes the spill files.
    """

    def __init__(self, keys: Sequence[str], limit: int) -> None:
        """
        Args:
            keys: names of the key columns, whose types Arrow can compare. limit: bytes of rows held in memory.
        """
        self._keys, self._limit = list(keys), limit
        self._waiting: list[pa.Table] = []
        self._bytes = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._runs: list[Path] = []
        self._written = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting = []
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def add(self, rows: pa.Table) -> None:
        """Add rows."""
        if not rows.num_rows:
            return
        self._waiting.append(rows)
        self._bytes += rows.nbytes
        if self._bytes >= self._limit:
            self._spill_run()

    def sorted(self) -> Iterator[pa.Table]:
        """All rows in order, as tables of some size. No rows can be added afterwards."""
        if not self._runs:
            if self._waiting:
                yield self._sort_tables(self._waiting)
            return
        self._spill_run()
        yield from self._merge_runs()

    @property
    def spilled(self) -> int:
        """Runs on disk."""
        return len(self._runs)

    def _sort_tables(self, tables: Sequence[pa.Table]) -> pa.Table:
        table = pa.concat_tables(tables)
        by = [(k, "ascending", "at_start") for k in self._keys]
        return table.take(pc.sort_indices(table, sort_keys=by))

    def _spill_run(self) -> None:
        if not self._waiting:
            return
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="paimon-sort-")
        table = self._sort_tables(self._waiting)
        self._waiting, self._bytes = [], 0
        if len(self._runs) == _MAX_RUNS:
            merged = self._write_run(self._merge_runs(), table.schema)
            for path in self._runs:
                path.unlink()
            self._runs = [merged]
        self._runs.append(self._write_run([table], table.schema))

    def _write_run(self, tables: Iterable[pa.Table], schema: pa.Schema) -> Path:
        assert self._folder is not None
        self._written += 1
        path = Path(self._folder.name) / f"run-{self._written}"
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, schema) as out:
            for table in tables:
                out.write_table(table, max_chunksize=_SLICE_ROWS)
        return path

    def _merge_runs(self) -> Iterator[pa.Table]:
        """Up to the smallest last key of the open slices all rows are known: sort that part and continue."""
        cursors = [_Cursor(path, self._keys) for path in self._runs]
        try:
            heap = [(c.last_key, i) for i, c in enumerate(cursors) if c.fill()]
            heapq.heapify(heap)
            while heap:
                cut = heap[0][0]
                yield self._sort_tables([part for _, i in sorted(heap, key=lambda h: h[1])
                                      if (part := cursors[i].take(cut)).num_rows])  # fmt: skip
                heap = [(c.last_key, i) for i, c in enumerate(cursors) if c.fill()]
                heapq.heapify(heap)
        finally:
            for cursor in cursors:
                cursor.close()


class _Cursor:
    """One run, a slice at a time."""

    def __init__(self, path: Path, keys: Sequence[str]) -> None:
        self._file = pa.OSFile(str(path), "rb")
        self._batches = pa.ipc.open_stream(self._file)
        self._keys = keys
        self._rows: pa.Table | None = None

    def fill(self) -> bool:
        """Ensure at least one row; False at the end."""
        while self._rows is None or not self._rows.num_rows:
            try:
                self._rows = pa.Table.from_batches([self._batches.read_next_batch()])
            except StopIteration:
                return False
        return True

    @property
    def last_key(self) -> tuple[Any, ...]:
        """The greatest key of the rows in memory."""
        assert self._rows is not None
        return self._key_at(self._rows, self._rows.num_rows - 1)

    def take(self, cut: tuple[Any, ...]) -> pa.Table:
        """Rows with keys up to and including `cut`."""
        rows = self._rows
        assert rows is not None
        low, high = 0, rows.num_rows
        while low < high:
            middle = (low + high) // 2
            if self._key_at(rows, middle) <= cut:
                low = middle + 1
            else:
                high = middle
        self._rows = rows.slice(low)
        return rows.slice(0, low)

    def close(self) -> None:
        self._batches.close()
        self._file.close()

    def _key_at(self, rows: pa.Table, row: int) -> tuple[Any, ...]:
        values = (rows.column(k)[row].as_py() for k in self._keys)
        return tuple((v is not None, v) for v in values)
