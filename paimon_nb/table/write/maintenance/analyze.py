"""ANALYZE TABLE: row count and column statistics of a snapshot, in a statistics file of a new snapshot.

The statistics equal those that Flink computes for Paimon: bounds of numbers and dates, lengths of strings in
characters, only the NULLs of bytes. With `spark=True` they equal Spark's: bounds of booleans too, an average length is rounded up, and every column has
lengths, which are those of Spark's type for types of fixed width and for columns without values.
Source: docs/spec/format.md sections 3 and 15 (Paimon `stats/Statistics.java`, `ColStats.java`).
"""

from __future__ import annotations

import datetime as dt
import decimal
from dataclasses import field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.row import from_scalar
from paimon_nb.format.row.binary_row import Instant
from paimon_nb.format.row.java_float import double_text, float_text
from paimon_nb.format.snapshot.statistics import ColumnStatistics, Statistics
from paimon_nb.format.types import Array, DataField, DataType, Decimal, Map, Multiset, Row
from paimon_nb.options import table as opt
from paimon_nb.table.read import iter_plan, plan_scan
from paimon_nb.table.write.cluster import ExternalSort
from paimon_nb.table.write.publish.changes import Change
from paimon_nb.table.write.publish.publisher import SnapshotPublisher

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore

_TEXTS, _BYTES = ("CHAR", "VARCHAR"), ("BINARY", "VARBINARY")
_SPARK_SIZES = {"BOOLEAN": 1, "TINYINT": 1, "SMALLINT": 2, "INT": 4, "FLOAT": 4, "DATE": 4, **dict.fromkeys(_TEXTS, 20),
                **dict.fromkeys(_BYTES, 100)}  # fmt: skip
"""Bytes of a value by Spark's `DataType.defaultSize`; 8 for other types."""


def analyze(store: TableStore, columns: Sequence[str] | None = (), *, spark: bool = False) -> int | None:
    """Count the rows of the latest snapshot and collect column statistics. Returns the id of the ANALYZE snapshot.

    Args:
        columns: which to analyze; () none, None all except nested ones.
        spark: collect Spark's statistics, not Flink's.
    Returns None for a table without a snapshot.
    Raises: ColumnNotFound. UnsupportedOperation: a column of a nested type is named.
    """
    fields = _analyzed_fields(store, columns)
    snapshot = store.latest()
    if snapshot is None:
        return None
    found = collect_statistics(store, snapshot, fields, spark=spark)
    name = store.new_file_name("stat")
    store.fs.write(store.statistics_path(name), found.to_json())
    try:
        made = SnapshotPublisher(store).publish(Change("ANALYZE", statistics=name))
    except BaseException:
        store.fs.delete(store.statistics_path(name))
        raise
    assert made is not None
    return made


def collect_statistics(
    store: TableStore, snapshot: Snapshot, fields: Sequence[DataField], *, spark: bool = False
) -> Statistics:
    """Statistics of a snapshot's rows. Memory: one split's rows, and `write-buffer-size` for distinct values."""
    plan = plan_scan(store.without_fallback().copy({"scan.snapshot-id": str(snapshot.id)}))
    names = [f.name for f in fields] or [*store.schema.primary_keys[:1], *store.schema.names][:1]
    columns = [_Column(f, store.options.get(opt.WRITE_BUFFER_SIZE) // max(len(fields), 1), spark) for f in fields]
    rows = 0
    try:
        for table in iter_plan(plan, names):
            rows += table.num_rows
            for column in columns:
                column.add(table.column(column.about.name))
        results = {c.about.name: c.result() for c in columns}
    finally:
        for column in columns:
            column.close()
    stored = sum(s.row_count for s in plan.splits)
    size = sum(s.size for s in plan.splits)
    # As in Spark: bytes of the files, minus the share of rows that merging removes.
    return Statistics(snapshot.id, snapshot.schema_id, rows, size * rows // stored if stored else 0, results)


def _analyzed_fields(store: TableStore, columns: Sequence[str] | None) -> list[DataField]:
    if columns is None:
        return [f for f in store.schema.fields if not _is_nested(f.type)]
    fields = [store.schema.field(name) for name in columns]
    for one in fields:
        if _is_nested(one.type):
            raise UnsupportedOperation(
                f"column {one.name} of type {one.type.bare()} has no statistics", hint="leave it out of FOR COLUMNS"
            )
    return fields


def _is_nested(t: DataType) -> bool:
    return isinstance(t, Array | Map | Multiset | Row) or t.root in ("VARIANT", "BLOB", "GEOMETRY", "GEOGRAPHY")


@dataclass
class _Column:
    """Statistics of one column, collected part by part."""

    about: DataField
    limit: int
    spark: bool
    rows: int = 0
    nulls: int = 0
    low: Any = None
    high: Any = None
    length: int = 0
    longest: int = 0
    _distinct: ExternalSort = field(init=False)

    def __post_init__(self) -> None:
        self._distinct = ExternalSort(["v"], self.limit)

    @property
    def _only_nulls_are_counted(self) -> bool:
        """As in Flink, whose ANALYZE has no other statistics of bytes."""
        return self.about.type.root in _BYTES and not self.spark

    def add(self, column: pa.ChunkedArray) -> None:
        self.rows += len(column)
        self.nulls += column.null_count
        values = column.drop_null()
        if not len(values):
            return
        root = self.about.type.root
        if root in _TEXTS:
            self._add_lengths(pc.utf8_length(values))
        elif self._only_nulls_are_counted:
            return
        elif root in _BYTES:
            self._add_lengths(pc.binary_length(values))
        elif root != "BOOLEAN" or self.spark:
            self._add_bounds(values)
        self._distinct.add(pa.table({"v": _comparable_values(values).unique()}))

    def result(self) -> ColumnStatistics:
        bounds = [None if v is None else _bound_text(self.about.type, v) for v in (self.low, self.high)]
        average, longest = self._average_and_max_length()
        return ColumnStatistics(
            self.about.id,
            distinct_count=None if self._only_nulls_are_counted else self._count_distinct(),
            minimum=bounds[0],
            maximum=bounds[1],
            null_count=self.nulls,
            avg_length=average,
            max_length=longest,
        )

    def _average_and_max_length(self) -> tuple[int | None, int | None]:
        t, count = self.about.type, self.rows - self.nulls
        if t.root in (*_TEXTS, *_BYTES) and count and not self._only_nulls_are_counted:
            return (-(-self.length // count) if self.spark else self.length // count), self.longest
        if not self.spark:
            return None, None
        size = 16 if isinstance(t, Decimal) and t.precision > 18 else _SPARK_SIZES.get(t.root, 8)
        return size, size

    def close(self) -> None:
        self._distinct.__exit__()

    def _add_lengths(self, lengths: pa.ChunkedArray) -> None:
        self.length += pc.sum(lengths).as_py()
        self.longest = max(self.longest, pc.max(lengths).as_py())

    def _add_bounds(self, values: pa.ChunkedArray) -> None:
        if self.about.type.root in ("FLOAT", "DOUBLE"):
            values = values.filter(pc.invert(pc.is_nan(values)))
            if not len(values):
                return
        span = pc.min_max(values)
        low, high = span["min"], span["max"]
        self.low = low if self.low is None or pc.less(low, self.low).as_py() else self.low
        self.high = high if self.high is None or pc.greater(high, self.high).as_py() else self.high

    def _count_distinct(self) -> int:
        count, last = 0, None
        for table in self._distinct.sorted():
            values = table.column("v").unique()
            count += len(values) - (last is not None and values[0] == last)
            last = values[-1]
        return count


def _comparable_values(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Values with the column's equality, ordered alike by Arrow and Python."""
    if pa.types.is_floating(values.type):
        one_nan = pc.if_else(pc.is_nan(values), pa.scalar(float("nan"), values.type), values)
        bits = pa.int32() if values.type.bit_width == 32 else pa.int64()
        return pa.chunked_array([c.view(bits) for c in pc.add(one_nan, pa.scalar(0.0, values.type)).chunks], bits)
    if pa.types.is_timestamp(values.type):
        return values.cast(pa.int64())
    return values


def _bound_text(t: DataType, value: pa.Scalar) -> str:
    """A value as Java's internal serializers write it: days and milliseconds as numbers."""
    plain = from_scalar(t, value)
    match plain:
        case bool():
            return str(plain).lower()
        case Instant():
            return _timestamp_text(plain)
        case decimal.Decimal():
            return f"{plain:f}"
        case float() if t.root == "FLOAT":
            return float_text(plain)
        case float():
            return double_text(plain)
    return str(plain)


def _timestamp_text(instant: Instant) -> str:
    """The format that Java's parser accepts. (Java writes a T between date and time, and then cannot read it back.)"""
    timestamp = dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=instant[0])
    text = f"{timestamp.year:04d}-{timestamp:%m-%d %H:%M:%S}"
    nanos = timestamp.microsecond * 1000 + instant[1]
    if nanos:
        digits = 3 if nanos % 10**6 == 0 else 6 if nanos % 1000 == 0 else 9
        text += "." + f"{nanos:09d}"[:digits]
    return text
