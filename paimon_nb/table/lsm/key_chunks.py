"""Sorted runs as streams of rows, cut at common keys: merging chunk by chunk equals merging everything at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import FormatError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.row import from_scalar
from paimon_nb.table.lsm.levels import Key, key_order, sections

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.types import DataField


@dataclass(frozen=True)
class LevelFiles:
    """Files of one level with disjoint keys, in key order: one sorted run."""

    level: int
    files: tuple[DataFile, ...]


def runs_of(files: Sequence[DataFile], key: Any) -> list[LevelFiles]:
    """Files as runs, lower levels first: level 0 as few runs as possible, because each is an open file; one run per upper
    level.
    """
    cut = sections((f for f in files if f.level == 0), key)
    max_runs = max(map(len, cut), default=0)
    zero = [LevelFiles(0, tuple(f for s in cut if i < len(s) for f in s[i].files)) for i in range(max_runs)]
    levels = sorted({f.level for f in files if f.level > 0})
    upper = [
        LevelFiles(level, tuple(sorted((f for f in files if f.level == level), key=lambda f: key(f.min_key))))
        for level in levels
    ]
    return zero + upper


def chunks_aligned_by_key(
    keys: Sequence[DataField], streams: Sequence[Iterator[pa.Table]]
) -> Iterator[list[pa.Table | None]]:
    """Aligned chunks: one entry per stream (None: no rows), with all keys up to a common bound.

    Args:
        keys: the trimmed primary key. streams: rows in key order, at least with the key columns.

    Raises:
        FormatError: they are not in key order.
    """
    cursors = [_Cursor(s, keys) for s in streams]
    while True:
        open_ones = [c for c in cursors if c.fill()]
        if not open_ones:
            return
        # Rows up to the smallest last key are complete in every stream, because each is in key order.
        unfinished = [c.last_key for c in open_ones]
        cut = min(unfinished)
        parts = [c.take_until(cut) if c in open_ones else None for c in cursors]
        if all(part is None for part in parts):
            raise FormatError(
                "the rows of a data file are not in the order of their keys: it is broken",
                hint="read an earlier snapshot or tag, or restore the file from a backup",
            )
        yield parts


class _Cursor:
    def __init__(self, rows: Iterator[pa.Table], keys: Sequence[DataField]) -> None:
        self._rows = rows
        self._fields = keys
        self._table: pa.Table | None = None

    def fill(self) -> bool:
        """Ensure at least one row; False at the end."""
        while self._table is None or self._table.num_rows == 0:
            self._table = next(self._rows, None)
            if self._table is None:
                return False
        return True

    @property
    def last_key(self) -> Key:
        assert self._table is not None
        return self._key_of_row(self._table.num_rows - 1)

    def take_until(self, cut: Key) -> pa.Table | None:
        """Rows with keys up to and including `cut`."""
        assert self._table is not None
        low, high = 0, self._table.num_rows
        while low < high:
            middle = (low + high) // 2
            if self._key_of_row(middle) <= cut:
                low = middle + 1
            else:
                high = middle
        taken, self._table = self._table.slice(0, low), self._table.slice(low)
        return taken if low else None

    def _key_of_row(self, row: int) -> Key:
        table = self._table
        assert table is not None
        return tuple(key_order(from_scalar(f.type, table.column(f.name)[row])) for f in self._fields)
