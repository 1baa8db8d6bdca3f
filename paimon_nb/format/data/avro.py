"""Avro data files. Types: format reference, section 9; TIMESTAMP and LTZ have each other's logical types there."""

from __future__ import annotations

import datetime as dt
import decimal
import io
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from paimon_nb.base.errors import CorruptFile, UnsupportedFormat
from paimon_nb.format.data.parquet import BROKEN
from paimon_nb.format.types import (
    Array,
    DataField,
    DataType,
    Decimal,
    Map,
    Multiset,
    Row,
    Time,
    Timestamp,
    arrow_schema,
    arrow_type,
)
from paimon_nb.format.types.types import LocalZonedTimestamp
from paimon_nb.fs import FileIO
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt

_CODECS = {"none": "null", "uncompressed": "null", "null": "null", "zstd": "zstandard", "zstandard": "zstandard", "snappy": "snappy", "deflate": "deflate", "gzip": "deflate", "zlib": "deflate", "lz4": "lz4", "bzip2": "bzip2", "xz": "xz"}  # fmt: skip
_EPOCH = dt.datetime(1970, 1, 1)
_EPOCH_UTC = _EPOCH.replace(tzinfo=dt.UTC)
_EPOCH_DAY = dt.date(1970, 1, 1).toordinal()
_ROOT = "org.apache.paimon.avro.generated.record"


class AvroReader:
    """One open file; columns are found by name."""

    def __init__(self, fs: FileIO, path: str, fields: Sequence[DataField]) -> None:
        self.path, self.fields = path, tuple(fields)
        self._data = fs.read(path)

    @property
    def num_rows(self) -> int:
        return self.read().num_rows

    def read(self) -> pa.Table:
        """All rows in file order."""
        import fastavro

        try:
            rows = list(fastavro.reader(io.BytesIO(self._data)))
        except Exception as error:  # the decoder raises whatever broken bytes lead it to
            raise CorruptFile(self.path, f"not readable as Avro ({type(error).__name__}: {error!s:.80})") from None
        try:
            columns = []
            for f in self.fields:
                convert = _reader(f.type)
                values = [row[f.name] for row in rows]  # type: ignore[index,call-overload]
                columns.append(pa.array([None if v is None else convert(v) for v in values], arrow_type(f.type)))
            return pa.Table.from_arrays(columns, schema=arrow_schema(self.fields, nullable=True))
        except KeyError as error:
            raise CorruptFile(self.path, f"it has no column {error}") from None
        except (*BROKEN, AttributeError) as error:
            raise CorruptFile(self.path, f"its rows do not fit the schema ({error!s:.80})") from None

    def batches(self, rows: int) -> Iterator[pa.RecordBatch]:
        yield from self.read().to_batches(rows)


def _reader(t: DataType) -> Callable[[Any], Any]:
    """A function from fastavro's value to what Arrow takes for `t`."""
    match t:
        case Timestamp() | LocalZonedTimestamp():
            return lambda v: _units(v, arrow_type(t).unit)
        case Time():
            return lambda v: (
                v if isinstance(v, int) else (v.hour * 3600 + v.minute * 60 + v.second) * 1000 + v.microsecond // 1000
            )
        case Decimal():
            return lambda v: (
                v
                if isinstance(v, decimal.Decimal)
                else decimal.Decimal(int.from_bytes(v, "big", signed=True)).scaleb(-t.scale)
            )
        case Array():
            element = _reader(t.element)
            return lambda v: [None if x is None else element(x) for x in v]
        case Map():
            return _map_reader(_reader(t.key), _reader(t.value))
        case Multiset():
            return _map_reader(_reader(t.element), lambda v: v)
        case Row():
            fields = [(f.name, _reader(f.type)) for f in t.fields]
            return lambda v: {n: None if v[n] is None else read(v[n]) for n, read in fields}
    if t.root == "DATE":
        return lambda v: v if isinstance(v, int) else v.toordinal() - _EPOCH_DAY
    return lambda v: v


def _map_reader(key: Callable[[Any], Any], value: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def read(v: Any) -> list[tuple[Any, Any]]:
        pairs = v.items() if isinstance(v, dict) else ((x["key"], x["value"]) for x in v)
        return [(key(k), None if x is None else value(x)) for k, x in pairs]

    return read


def _units(v: Any, unit: str) -> int:
    if isinstance(v, int):
        return v
    delta = v - (_EPOCH_UTC if v.tzinfo else _EPOCH)
    micros = (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds
    return int(micros // 1000 if unit == "ms" else micros if unit == "us" else micros * 1000)


class AvroWriter:
    """One new file; rows are kept until `close`."""

    def __init__(self, sink: Any, fields: Sequence[DataField], options: TableOptions, compression: str) -> None:
        import fastavro

        name = options.raw.get("avro.codec", compression).lower()
        codec = _CODECS.get(name)
        if codec is None:
            raise UnsupportedFormat(
                f"file.compression {name!r} is not known for Avro", hint=f"use one of {', '.join(sorted(_CODECS))}"
            )
        self._fields = tuple(fields)
        schema = fastavro.parse_schema(_record(self._fields, _ROOT))
        level = options.get(opt.FILE_COMPRESSION_ZSTD_LEVEL) if codec == "zstandard" else None
        self._writer = fastavro.write.Writer(sink, schema, codec=codec, compression_level=level)
        self._convert = [(f.name, _writer(f.type)) for f in self._fields]

    def write(self, table: pa.Table) -> None:
        for batch in table.to_batches(max_chunksize=65536):
            columns = [_python(batch.column(i), f.type) for i, f in enumerate(self._fields)]
            for values in zip(*columns, strict=True):
                self._writer.write(
                    {n: None if v is None else to(v) for (n, to), v in zip(self._convert, values, strict=True)}
                )

    def close(self) -> None:
        self._writer.flush()


def _python(column: pa.Array, t: DataType) -> list[Any]:
    """Python values; times and dates as numbers, so that no year is out of reach."""
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.int64()).to_pylist()  # type: ignore[no-any-return]
    if pa.types.is_date32(column.type) or pa.types.is_time32(column.type):
        return column.cast(pa.int32()).to_pylist()  # type: ignore[no-any-return]
    return column.to_pylist()  # type: ignore[no-any-return]


def _record(fields: Sequence[DataField], name: str) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [_field(f.name, f.type, f"{name}_{f.name}") for f in fields]}


def _field(name: str, t: DataType, path: str) -> dict[str, Any]:
    out: dict[str, Any] = {"name": name, "type": _avro(t, path)}
    if t.nullable:
        out["default"] = None
    return out


def _avro(t: DataType, path: str) -> Any:
    bare = _avro_bare(t, path)
    return ["null", bare] if t.nullable else bare


_ATOMIC = {
    "BOOLEAN": "boolean", "TINYINT": "int", "SMALLINT": "int", "INT": "int", "BIGINT": "long", "FLOAT": "float",
    "DOUBLE": "double", "CHAR": "string", "VARCHAR": "string", "BINARY": "bytes", "VARBINARY": "bytes", "BLOB": "bytes",
}  # fmt: skip


def _avro_bare(t: DataType, path: str) -> Any:
    if t.root in _ATOMIC:
        return _ATOMIC[t.root]
    match t:
        case Decimal():
            return {"type": "bytes", "logicalType": "decimal", "precision": t.precision, "scale": t.scale}
        case Time() if t.precision <= 3:
            return {"type": "int", "logicalType": "time-millis"}
        case Timestamp() | LocalZonedTimestamp() if t.precision <= 6:
            # Reversed against the Avro specification, as Java writes it.
            local = "local-" if isinstance(t, LocalZonedTimestamp) else ""
            return {"type": "long", "logicalType": f"{local}timestamp-{'millis' if t.precision <= 3 else 'micros'}"}
        case Array():
            return {"type": "array", "items": _avro(t.element, path)}
        case Map() | Multiset():
            from paimon_nb.format.types import Atomic

            key, value = (t.key, t.value) if isinstance(t, Map) else (t.element, Atomic("INT", False))
            if key.root in ("CHAR", "VARCHAR"):
                return {"type": "map", "values": _avro(value, path)}
            pair = [_field("key", key.with_nullable(False), path + "_key"), _field("value", value, path + "_value")]
            return {"type": "array", "items": {"type": "record", "name": path, "fields": pair}, "logicalType": "map"}
        case Row():
            return _record(t.fields, path)
    if t.root == "DATE":
        return {"type": "int", "logicalType": "date"}
    raise UnsupportedFormat(
        f"{t.bare()} cannot be stored in Avro", hint="use 'file.format' = 'parquet'", feature=str(t)
    )


def _writer(t: DataType) -> Callable[[Any], Any]:
    """A function from Arrow's Python value to what fastavro takes for `t`."""
    match t:
        case Timestamp() | LocalZonedTimestamp():
            return lambda v: v if isinstance(v, int) else _units(v, arrow_type(t).unit)
        case Time():
            return lambda v: (
                v if isinstance(v, int) else (v.hour * 3600 + v.minute * 60 + v.second) * 1000 + v.microsecond // 1000
            )
        case Array():
            element = _writer(t.element)
            return lambda v: [None if x is None else element(x) for x in v]
        case Map() | Multiset():
            key = t.key if isinstance(t, Map) else t.element
            to_key, to_value = _writer(key), _writer(t.value) if isinstance(t, Map) else (lambda v: v)
            if key.root in ("CHAR", "VARCHAR"):
                return lambda v: {k: None if x is None else to_value(x) for k, x in v}
            return lambda v: [{"key": to_key(k), "value": None if x is None else to_value(x)} for k, x in v]
        case Row():
            fields = [(f.name, _writer(f.type)) for f in t.fields]
            return lambda v: {n: None if v[n] is None else to(v[n]) for n, to in fields}
    if t.root == "DATE":
        return lambda v: v if isinstance(v, int) else v.toordinal() - _EPOCH_DAY
    return lambda v: v
