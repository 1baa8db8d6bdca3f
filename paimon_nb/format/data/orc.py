"""ORC data files. Arrow reads and writes them; times that 64-bit nanoseconds cannot say are read by pyorc."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import orc

from paimon_nb.base.errors import CorruptFile, UnsupportedFormat
from paimon_nb.format.data.memory import to_memory
from paimon_nb.format.data.parquet import BROKEN
from paimon_nb.format.types import (
    Array,
    Char,
    DataField,
    DataType,
    Map,
    Multiset,
    Row,
    Timestamp,
    arrow_schema,
    arrow_type,
)
from paimon_nb.format.types.types import LocalZonedTimestamp
from paimon_nb.fs import FileIO
from paimon_nb.options import TableOptions

_CODECS = {"none": "uncompressed", "uncompressed": "uncompressed", "zlib": "zlib", "gzip": "zlib", "snappy": "snappy", "lz4": "lz4", "zstd": "zstd", "zstandard": "zstd"}  # fmt: skip
_UNIT_PER_SECOND = {"ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}


class OrcReader:
    """One open file; columns are found by name."""

    def __init__(self, fs: FileIO, path: str, fields: Sequence[DataField]) -> None:
        self.path, self.fields, self._fs = path, tuple(fields), fs
        try:
            self.file = orc.ORCFile(fs.open(path))
            names = set(self.file.schema.names)
        except BROKEN as error:
            raise CorruptFile(path, f"not readable as ORC ({error!s:.100})") from None
        for f in fields:
            if f.name not in names:
                raise CorruptFile(path, f"it has no column {f.name!r}")

    @property
    def num_rows(self) -> int:
        return int(self.file.nrows)

    def read(self) -> pa.Table:
        """All rows in file order."""
        try:
            if not self.fields:
                return pa.table({"_": pa.nulls(self.num_rows)}).select([])
            timed = [f for f in self.fields if _has_time(f.type)]
            plain = (
                self.file.read(columns=[f.name for f in self.fields if f not in timed] or None)
                if len(timed) < len(self.fields)
                else pa.table({})
            )
            columns = [
                self._column(f) if f in timed else to_memory(plain.column(f.name), _stored(f.type)) for f in self.fields
            ]
            columns = [_finished(c, f.type) for c, f in zip(columns, self.fields, strict=True)]
            return pa.Table.from_arrays(columns, schema=arrow_schema(self.fields, nullable=True))
        except BROKEN as error:
            raise CorruptFile(self.path, f"not readable as ORC ({error!s:.100})") from None

    def batches(self, rows: int) -> Iterator[pa.RecordBatch]:
        """In pieces of at most `rows` rows."""
        yield from self.read().to_batches(rows)

    def _column(self, field: DataField) -> Any:
        """One column; Arrow refuses times beyond the years 1677..2262, pyorc reads them."""
        try:
            return to_memory(self.file.read(columns=[field.name]).column(field.name), _stored(field.type))
        except BROKEN as error:
            if "out of range" in str(error) and _has_time(field.type):
                return _read_slowly(self._fs, self.path, field)
            raise


def _stored(t: DataType) -> DataType:
    """TIME is an int in ORC files."""
    from paimon_nb.format.types import Atomic, Time

    return Atomic("INT", t.nullable) if isinstance(t, Time) else t


def _finished(column: Any, t: DataType) -> Any:
    if isinstance(t, Char):
        return pc.utf8_rtrim(column, " ")  # ORC pads CHAR in the file, and its Java reader takes the padding off again
    wanted = arrow_type(t)
    return column if column.type == wanted else column.cast(wanted)


def _has_time(t: DataType) -> bool:
    match t:
        case Timestamp() | LocalZonedTimestamp():
            return True
        case Row():
            return any(_has_time(f.type) for f in t.fields)
        case Array() | Multiset():
            return _has_time(t.element)
        case Map():
            return _has_time(t.key) or _has_time(t.value)
    return False


def _read_slowly(fs: FileIO, path: str, field: DataField) -> pa.Array:
    """One column through pyorc, moment by moment: seconds and nanoseconds apart."""
    import pyorc

    class Exact(pyorc.converters.ORCConverter):  # type: ignore[misc]
        @staticmethod
        def from_orc(seconds: int, nanoseconds: int, timezone: Any) -> tuple[int, int]:
            return seconds, nanoseconds

        @staticmethod
        def to_orc(obj: Any, timezone: Any) -> tuple[int, int]:
            return obj  # type: ignore[no-any-return]

    kinds = {pyorc.TypeKind.TIMESTAMP: Exact, pyorc.TypeKind.TIMESTAMP_INSTANT: Exact}
    with fs.open(path) as source:
        reader = pyorc.Reader(source, column_names=[field.name], struct_repr=pyorc.StructRepr.DICT, converters=kinds)
        values = [_value(row[field.name], field.type) for row in reader]
    return pa.array(values, arrow_type(field.type))


def _value(value: Any, t: DataType) -> Any:
    if value is None:
        return None
    match t:
        case Timestamp() | LocalZonedTimestamp():
            unit = arrow_type(t).unit
            per_second = _UNIT_PER_SECOND[unit]
            return value[0] * per_second + value[1] // (1_000_000_000 // per_second)
        case Row():
            return {f.name: _value(value.get(f.name), f.type) for f in t.fields}
        case Array():
            return [_value(v, t.element) for v in value]
        case Map():
            return [(_value(k, t.key), _value(v, t.value)) for k, v in value.items()]
        case Multiset():
            return [(_value(k, t.element), v) for k, v in value.items()]
    return value


class OrcWriter:
    """One new file."""

    def __init__(self, sink: Any, fields: Sequence[DataField], options: TableOptions, compression: str) -> None:
        name = options.raw.get("orc.compress", compression).lower()
        codec = _CODECS.get(name)
        if codec is None:
            raise UnsupportedFormat(
                f"file.compression {name!r} is not known for ORC", hint=f"use one of {', '.join(sorted(_CODECS))}"
            )
        for f in fields:
            if f.type.root == "VARIANT":
                raise UnsupportedFormat("VARIANT cannot be stored in ORC", hint="use 'file.format' = 'parquet'")
        self._fields = tuple(fields)
        self._writer = orc.ORCWriter(sink, compression=codec)

    def write(self, table: pa.Table) -> None:
        columns = [c.cast(pa.int32()) if pa.types.is_time(c.type) else c for c in table.columns]
        columns = [_nanos(c) for c in columns]
        self._writer.write(pa.table(columns, names=[f.name for f in self._fields]))

    def close(self) -> None:
        self._writer.close()


def _nanos(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Arrow's ORC writer wants nanoseconds; what does not fit is refused by the cast, never wrapped."""
    if pa.types.is_timestamp(column.type) and column.type.unit != "ns":
        try:
            return column.cast(pa.timestamp("ns", column.type.tz))
        except pa.ArrowInvalid:
            raise UnsupportedFormat(
                "ORC files written here hold times of the years 1678 to 2261 only", hint="use 'file.format' = 'parquet'"
            ) from None
    return column
