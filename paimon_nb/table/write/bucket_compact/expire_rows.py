"""Record-level expiry: compaction drops rows that are too old.

Source: docs/spec/merge-semantics.md section 1 (`record-level.expire-time`, `record-level.time-field`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base import clock
from paimon_nb.base.errors import BadOptionValue
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types.arrow_builders import fill_null
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.table.read.store import TableStore

_MS_BEGINS = 1_000_000_000_000
"""A BIGINT from this value on is milliseconds, below it seconds, as in Java."""


@dataclass(frozen=True)
class RowExpiry:
    """Which rows are expired. `column` None: the table has no record-level expiry."""

    column: str | None = None
    before: int = 0
    """Rows older than this second are dropped. Java compares whole seconds, too."""

    @classmethod
    def of(cls, store: TableStore) -> RowExpiry:
        age = store.options.get(opt.RECORD_LEVEL_EXPIRE_TIME)
        if age is None:
            return cls()
        column = store.options.get(opt.RECORD_LEVEL_TIME_FIELD)
        if not column:
            raise BadOptionValue(
                "'record-level.expire-time' needs 'record-level.time-field'",
                hint="set 'record-level.time-field'",
            )
        store.schema.field(column)
        return cls(column, clock.now_ms() // 1000 - age // 1000)

    @property
    def is_active(self) -> bool:
        """Whether the table expires rows."""
        return self.column is not None

    def drop_expired(self, tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
        """The tables without expired rows; rows whose time is null stay."""
        if self.column is None:
            yield from tables
            return
        for table in tables:
            alive = fill_null(
                pc.greater_equal(_epoch_seconds_of_record_time(table.column(self.column)), self.before), True
            )
            unexpired = table.filter(alive)
            if unexpired.num_rows:
                yield unexpired


def _epoch_seconds_of_record_time(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_timestamp(kind):
        return pc.cast(pc.cast(column, pa.timestamp("s", kind.tz), safe=False), pa.int64())
    wide = pc.cast(column, pa.int64())
    return pc.if_else(pc.greater_equal(wide, _MS_BEGINS), pc.divide(wide, 1000), wide)
