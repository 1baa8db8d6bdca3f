"""Decodes ORC data files. Arrow reads them, except for times beyond 64-bit nanoseconds, which pyorc reads.

Times: Java stores TIMESTAMP as local time in the writer's zone, which both readers revert. Unless
`orc.timestamp-ltz.legacy.type` is false, it stores TIMESTAMP_LTZ as the instant whose local time in the writer's zone
equals the UTC time. A file with a TIMESTAMP column contains the writer's zone, so this can be reverted in any zone.
(Java uses the reader's zone, which is wrong if the two differ.)
"""

from __future__ import annotations

import base64
import datetime as dt
import zoneinfo
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import orc

from paimon_nb.base.errors import CorruptFile, UnsupportedFormat
from paimon_nb.format.data.cast_time import local_time_in_zone
from paimon_nb.format.data.parquet import has_time
from paimon_nb.format.data.schema_cast import (
    null_mask,
    offsets_keys_and_items,
    offsets_of,
    to_logical,
    without_columns,
)
from paimon_nb.format.data.shared_shredding import is_shared_shredding, restore_map
from paimon_nb.format.file_errors import BROKEN
from paimon_nb.format.orc_library import require_pyorc
from paimon_nb.format.types import (
    Array,
    Atomic,
    Char,
    DataField,
    DataType,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Time,
    Timestamp,
    Vector,
    arrow_schema,
    arrow_type,
    from_arrow_type,
)
from paimon_nb.format.types.arrow_builders import fill_null

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_UTC = ("UTC", "GMT", "Etc/UTC", "Etc/GMT", "Z", "Etc/UCT", "Zulu", "Universal", "Etc/Universal", "Etc/Zulu", "UCT")
_PIECES = 4
"""Files with fewer stripes than this are read whole, which is faster."""
UNITS_PER_SECOND = {"ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}


class OrcDecoder:
    """One open file; columns are found by name. Corrupt bytes may end the process: see `orc_process`."""

    def __init__(
        self, fs: Any, path: str, fields: Sequence[DataField] | Sequence[str] | None, legacy: bool = True
    ) -> None:
        """
        Args:
            fs: opens the file: `fs.open(path)`.
            fields: the columns to read, in these types; names: in the types that are stored, but times beyond 64-bit
                nanoseconds in microseconds; None: all as they are stored.
            legacy: how TIMESTAMP_LTZ is stored, the option `orc.timestamp-ltz.legacy.type`.

        Raises:
            CorruptFile; and what Arrow raises for broken bytes.
        """
        self.path, self._fs, self._legacy = path, fs, legacy
        self._names = [f for f in fields or () if isinstance(f, str)]
        self.fields = [f for f in fields or () if not isinstance(f, str)]
        self._as_stored = fields is None or bool(self._names)
        self._source = fs.open(path)
        self.file = orc.ORCFile(self._source)
        names = set(self.schema.names)
        for f in self.fields:
            if f.name not in names:
                raise CorruptFile(path, f"it has no column {f.name!r}")
        self._groups: list[int] | None = None

    @property
    def schema(self) -> pa.Schema:
        """The columns of the file, as they are stored."""
        return self.file.schema

    @property
    def num_rows(self) -> int:
        return int(self.file.nrows)

    @property
    def row_groups(self) -> list[int]:
        """Rows of each stripe."""
        if self._groups is None:
            if self.file.nstripes <= 1:
                self._groups = [self.num_rows] * self.file.nstripes
            else:
                narrow = [self._first_primitive_column()]
                self._groups = [self.file.read_stripe(i, narrow).num_rows for i in range(self.file.nstripes)]
        return self._groups

    def stripes(self, groups: Sequence[int] | None = None) -> Iterator[pa.Table]:
        """The rows of all or some stripes, in file order."""
        for i in range(self.file.nstripes) if groups is None else groups:
            yield self._stored_stripe(i) if self._as_stored else self._read_stripe(i)

    def batches(self, rows: int, groups: Sequence[int] | None = None) -> Iterator[pa.Table]:
        """In batches of at most `rows` rows; a large file is decoded batch by batch, others stripe by stripe."""
        done = 0
        if groups is None and self.fields and self.num_rows > _PIECES * rows:
            try:
                for batch in self._lazy_batches(rows):
                    yield pa.Table.from_batches([batch])
                    done += batch.num_rows
                return
            except BROKEN as error:
                if "out of range" not in str(error):
                    raise
        for i in range(self.file.nstripes) if groups is None else groups:
            stripe = self._read_stripe(i)
            skipped = min(done, stripe.num_rows)
            done -= skipped
            yield from (pa.Table.from_batches([b]) for b in stripe.slice(skipped).to_batches(rows))

    def _lazy_batches(self, rows: int) -> Iterator[pa.RecordBatch]:
        """All rows, decoded lazily. Raises Arrow's errors, also for times that Arrow cannot represent."""
        import pyarrow.dataset as ds  # loads pandas, half a second, so only for large files

        whole = ds.OrcFileFormat().make_fragment(self._source)
        scanner = whole.scanner(
            columns=[f.name for f in self.fields],
            batch_size=rows,
            batch_readahead=0,
            fragment_readahead=0,
            use_threads=False,
        )
        for batch in scanner.to_batches():
            columns = [self._logical(batch.column(f.name), f) for f in self.fields]
            if batch.num_rows:
                yield pa.RecordBatch.from_arrays(
                    self._without_writer_zone(columns), schema=arrow_schema(self.fields, nullable=True)
                )

    def _read_stripe(self, i: int) -> pa.Table:
        if not self.fields:
            return without_columns(self.row_groups[i])
        timed = [f for f in self.fields if has_time(f.type)]
        plain = [f.name for f in self.fields if f not in timed]
        batch = self.file.read_stripe(i, plain) if plain else None
        columns = [
            self._read_time_column(i, f) if f in timed or batch is None else self._logical(batch.column(f.name), f)
            for f in self.fields
        ]
        return pa.Table.from_arrays(self._without_writer_zone(columns), schema=arrow_schema(self.fields, nullable=True))

    def _stored_stripe(self, i: int) -> pa.Table:
        if not self._names:
            return pa.Table.from_batches([self.file.read_stripe(i)])
        return pa.table([self._stored_column(i, n) for n in self._names], self._names)

    def _stored_column(self, stripe: int, name: str) -> pa.Array:
        try:
            return self.file.read_stripe(stripe, [name]).column(name)
        except BROKEN as error:
            if "out of range" not in str(error):
                raise
        t = from_arrow_type(_with_microseconds(self.schema.field(name).type))
        return self._read_times_with_pyorc(stripe, DataField(0, name, t))

    def _logical(self, column: pa.Array, field: DataField) -> pa.Array:
        stored = self.file.schema.field(field.name)
        if (timed := _with_spark_times(stored)) is not stored:
            column = column.cast(timed.type)
        if isinstance(field.type, Map) and is_shared_shredding(column):
            return restore_map(column, field.type, self._arrow_metadata.get(field.name), logical_from_orc)
        return logical_from_orc(column, field.type)

    @cached_property
    def _arrow_metadata(self) -> dict[str, dict[bytes, bytes]]:
        """Metadata of the columns in the Arrow schema that a writer may have left in the file."""
        stored = (self.file.metadata or {}).get(b"ARROW:schema")
        if stored is None:
            return {}
        schema = pa.ipc.read_schema(pa.BufferReader(base64.b64decode(stored)))
        return {f.name: f.metadata or {} for f in schema}

    def _without_writer_zone(self, columns: list[pa.Array]) -> list[pa.Array]:
        """The columns with each TIMESTAMP_LTZ converted from the writer's zone."""
        if not self._legacy or not any(_has_ltz(f.type) for f in self.fields) or (zone := self._writer_zone) is dt.UTC:
            return columns
        return [_ltz_as_local_time(c, f.type, zone) for c, f in zip(columns, self.fields, strict=True)]

    def _read_time_column(self, stripe: int, field: DataField) -> pa.Array:
        """One column of times; pyorc reads years outside 1677 to 2262, which Arrow rejects."""
        try:
            return self._logical(self.file.read_stripe(stripe, [field.name]).column(field.name), field)
        except BROKEN as error:
            if "out of range" not in str(error):
                raise
        return self._read_times_with_pyorc(stripe, field)

    def _read_times_with_pyorc(self, stripe: int, field: DataField) -> pa.Array:
        """One column through pyorc, value by value: seconds and nanoseconds separately."""
        require_pyorc()
        import pyorc

        with self._fs.open(self.path) as source:
            reader = pyorc.Reader(
                source, column_names=[field.name], struct_repr=pyorc.StructRepr.DICT, converters=wide_range_converters()
            )
            rows = list(reader.read_stripe(stripe))
        try:
            return pa.array(
                [_arrow_value_of_pyorc(row[field.name], field.type) for row in rows], arrow_type(field.type)
            )
        except (pa.ArrowInvalid, OverflowError):
            raise UnsupportedFormat(
                f"{self.path}: column {field.name!r} holds a time outside the years 1678 to 2261, with nanoseconds",
                hint="leave the column out, or store it as TIMESTAMP(6)", feature="ORC times beyond nanoseconds",
                path=self.path, column=field.name,
            ) from None  # fmt: skip

    @cached_property
    def _writer_zone(self) -> dt.tzinfo | None:
        """The writer's zone; None: this process's zone, as in Java for a file without a TIMESTAMP, which contains no
        zone.
        """
        require_pyorc()
        import pyorc

        with self._fs.open(self.path) as source:
            name = str(pyorc.Reader(source).read_stripe(0).writer_timezone)
        if name in _UTC:
            return dt.UTC
        if not name:
            return None
        try:
            return zoneinfo.ZoneInfo(name)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError):
            raise UnsupportedFormat(
                f"{self.path} was written in the time zone {name!r:.60}, which is not known here",
                hint="pip install tzdata", feature="ORC time zone", path=self.path,
            ) from None  # fmt: skip

    def _first_primitive_column(self) -> str:
        schema = self.file.schema
        return str(next((f.name for f in schema if pa.types.is_primitive(f.type)), schema.names[0]))


def _with_spark_times(field: pa.Field) -> pa.Field:
    """A stored field with the times that Spark writes as numbers of microseconds: TIMESTAMP_NTZ, at every depth."""
    if (field.metadata or {}).get(b"spark.sql.catalyst.type") == b"timestamp_ntz" and field.type == pa.int64():
        return field.with_type(pa.timestamp("us"))
    t = field.type
    if not pa.types.is_nested(t):
        return field
    inside = [t.field(i) for i in range(t.num_fields)]
    found = [_with_spark_times(f) for f in inside]
    if found == inside:
        return field
    if pa.types.is_struct(t):
        return field.with_type(pa.struct(found))
    return field.with_type(pa.list_(found[0]) if pa.types.is_list(t) else pa.map_(*found))


def _with_microseconds(t: pa.DataType) -> pa.DataType:
    """A type whose times have microseconds in place of nanoseconds, at every depth."""
    if pa.types.is_timestamp(t):
        return pa.timestamp("us", t.tz)
    if pa.types.is_struct(t):
        return pa.struct([f.with_type(_with_microseconds(f.type)) for f in t])
    if pa.types.is_map(t):
        return pa.map_(_with_microseconds(t.key_type), _with_microseconds(t.item_type))
    return pa.list_(_with_microseconds(t.value_type)) if pa.types.is_list(t) else t


def logical_from_orc(column: pa.Array, t: DataType) -> pa.Array:
    """Convert a column from Arrow's reader to its logical type: TIME was an int, CHAR was padded."""
    target = arrow_type(t)
    match t:
        case Time() if column.type == pa.int32():
            return column.cast(target)
        case Char():
            # ORC pads CHAR in the file, and its Java reader removes the padding.
            return pc.utf8_rtrim(to_logical(column, t), " ")
        case Array() if pa.types.is_list(column.type) and not isinstance(t, Vector):
            lengths = fill_null(column.value_lengths(), 0)
            values = logical_from_orc(column.flatten(), t.element)
            return pa.ListArray.from_arrays(offsets_of(lengths), values, type=target, mask=null_mask(column))
        case Map() | Multiset() if pa.types.is_map(column.type):
            offsets, keys, items = offsets_keys_and_items(column)
            keys = logical_from_orc(keys, t.key if isinstance(t, Map) else t.element)
            items = logical_from_orc(items, t.value if isinstance(t, Map) else Atomic("INT", False))
            return pa.MapArray.from_arrays(offsets, keys, items, type=target, mask=null_mask(column))
        case Row() if pa.types.is_struct(column.type) and t.fields:
            by_name = dict(zip((f.name for f in column.type), column.flatten(), strict=True))
            children = [logical_from_orc(by_name[f.name], f.type) for f in t.fields]
            return pa.StructArray.from_arrays(children, fields=list(target), mask=null_mask(column))
    return to_logical(column, t)


def _has_ltz(t: DataType) -> bool:
    return t.contains_type(lambda inner: isinstance(inner, LocalZonedTimestamp))


def _ltz_as_local_time(column: pa.Array, t: DataType, zone: dt.tzinfo | None) -> pa.Array:
    """TIMESTAMP_LTZ at any depth as local time in `zone`."""
    if not _has_ltz(t):
        return column
    match t:
        case Row():
            children = [_ltz_as_local_time(c, f.type, zone) for c, f in zip(column.flatten(), t.fields, strict=True)]
            return pa.StructArray.from_arrays(children, fields=list(column.type), mask=null_mask(column))
        case Array():
            lengths = fill_null(column.value_lengths(), 0)
            values = _ltz_as_local_time(column.flatten(), t.element, zone)
            return pa.ListArray.from_arrays(offsets_of(lengths), values, type=column.type, mask=null_mask(column))
        case Map() | Multiset():
            offsets, keys, items = offsets_keys_and_items(column)
            keys = _ltz_as_local_time(keys, t.key if isinstance(t, Map) else t.element, zone)
            items = _ltz_as_local_time(items, t.value, zone) if isinstance(t, Map) else items
            return pa.MapArray.from_arrays(offsets, keys, items, type=column.type, mask=null_mask(column))
    return local_time_in_zone(column, zone)


def wide_range_converters() -> dict[Any, Any]:
    """pyorc converters that return a timestamp as (seconds, nanoseconds) and a date as days, for any year."""
    require_pyorc()
    import pyorc

    class TimestampConverter(pyorc.converters.ORCConverter):
        @staticmethod
        def from_orc(seconds: int, nanoseconds: int, _timezone: Any) -> tuple[int, int]:
            return seconds, nanoseconds

        @staticmethod
        def to_orc(obj: tuple[int, int], _timezone: Any) -> tuple[int, int]:
            return obj

    class Days(pyorc.converters.ORCConverter):
        @staticmethod
        def from_orc(days: int) -> int:
            return days

        @staticmethod
        def to_orc(obj: int) -> int:
            return obj

    kinds = pyorc.TypeKind
    return {kinds.TIMESTAMP: TimestampConverter, kinds.TIMESTAMP_INSTANT: TimestampConverter, kinds.DATE: Days}


def _arrow_value_of_pyorc(value: Any, t: DataType) -> Any:
    if value is None:
        return None
    match t:
        case Timestamp() | LocalZonedTimestamp():
            per_second = UNITS_PER_SECOND[arrow_type(t).unit]
            return value[0] * per_second + value[1] // (1_000_000_000 // per_second)
        case Row():
            return {f.name: _arrow_value_of_pyorc(value[f.name], f.type) for f in t.fields}
        case Array():
            return [_arrow_value_of_pyorc(v, t.element) for v in value]
        case Map():
            return [(_arrow_value_of_pyorc(k, t.key), _arrow_value_of_pyorc(v, t.value)) for k, v in value.items()]
        case Multiset():
            return [(_arrow_value_of_pyorc(k, t.element), v) for k, v in value.items()]
        case Char():
            return value.rstrip(" ")
    return value
