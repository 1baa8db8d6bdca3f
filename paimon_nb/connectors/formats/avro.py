"""`avro`: one Avro record per message, without a schema registry. As in Flink, the schema follows from the columns of the table.

Source: Flink `AvroSchemaConverter`, `AvroFormatFactory`. fastavro encodes and decodes.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, UnsupportedOperation
from paimon_nb.connectors.formats.api import INSERT, Decoder, Encoder, FormatOptions, Rows, bad_message
from paimon_nb.format.types import (
    Array,
    DataField,
    DataType,
    Decimal,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Time,
    Timestamp,
    arrow_type,
)
from paimon_nb.options import parse_bool

_PRIMITIVES = {
    "CHAR": "string", "VARCHAR": "string", "BOOLEAN": "boolean", "BINARY": "bytes", "VARBINARY": "bytes", "TINYINT": "int",
    "SMALLINT": "int", "INT": "int", "BIGINT": "long", "FLOAT": "float", "DOUBLE": "double",
}  # fmt: skip
_CONVERSION_ERRORS = (
    ValueError,
    EOFError,
    LookupError,
    TypeError,
    ArithmeticError,
    struct.error,
    StopIteration,
    pa.ArrowInvalid,
)
"""Errors of fastavro for malformed records, and of Arrow for values that do not fit the column."""
_Convert = Callable[[Any], Any]


class Avro(Decoder, Encoder):
    """Options: `avro.encoding` (binary), `avro.timestamp_mapping.legacy` (true: only TIMESTAMP up to precision 3)."""

    changes = False

    def __init__(self, fields: Sequence[DataField], options: FormatOptions) -> None:
        options.check_options("encoding", "timestamp_mapping.legacy")
        if options.settings.get("encoding", "binary") != "binary":
            raise BadOptionValue(
                "option 'avro.encoding' must be binary", hint="remove the option", option="avro.encoding"
            )
        self.fields = tuple(fields)
        legacy = options.convert_option("timestamp_mapping.legacy", True, parse_bool)
        self.schema = record_schema("org.apache.flink.avro.generated.record", fields, legacy)

    def decode(self, messages: Sequence[bytes | None]) -> Rows:
        from fastavro import schemaless_reader

        schema = self._parsed()
        converters = [(f.name, _from_avro(f.type)) for f in self.fields]
        columns: list[list[Any]] = [[] for _ in self.fields]
        record_numbers: list[int] = []
        for number, message in enumerate(messages):
            if message is None:
                continue
            try:
                row = cast("dict[str, Any]", schemaless_reader(io.BytesIO(message), schema, None))
                values = [row[n] if c is None or row[n] is None else c(row[n]) for n, c in converters]
            except _CONVERSION_ERRORS as error:
                raise self._bad_message(message, error) from None
            record_numbers.append(number)
            for column, value in zip(columns, values, strict=True):
                column.append(value)
        types = [arrow_type(f.type) for f in self.fields]
        try:
            arrays = [pa.array(c, t) for c, t in zip(columns, types, strict=True)]
        except _CONVERSION_ERRORS as error:
            raise self._bad_message(self._first_bad_message(messages, record_numbers, columns, types), error) from None
        return Rows(
            pa.table(arrays, names=[f.name for f in self.fields]), [INSERT] * len(record_numbers), record_numbers
        )

    def encode(self, rows: pa.Table, kinds: Sequence[str]) -> Iterator[bytes | None]:
        from fastavro import schemaless_writer

        schema = self._parsed()
        for record in self.records(rows, kinds):
            out = io.BytesIO()
            schemaless_writer(out, schema, record)
            yield out.getvalue()

    def records(self, rows: pa.Table, kinds: Sequence[str]) -> Iterator[dict[str, Any]]:
        """The rows as records of the schema. Raises UnsupportedOperation: a row is not +I."""
        if any(kind != INSERT for kind in kinds):
            raise UnsupportedOperation("format 'avro' has no form for changes", hint="use connector 'upsert-kafka'")
        converters = [(f.name, _to_avro(f.type)) for f in self.fields]
        for row in rows.select([f.name for f in self.fields]).to_pylist():
            yield {n: row[n] if c is None or row[n] is None else c(row[n]) for n, c in converters}

    def _parsed(self) -> Any:
        from fastavro import parse_schema

        return parse_schema(self.schema)

    @staticmethod
    def _first_bad_message(
        messages: Sequence[bytes | None], message_index_of_row: list[int], columns: list[list[Any]], types: list[Any]
    ) -> Any:
        """The first message with a value that does not fit its column."""
        for i, record_number in enumerate(message_index_of_row):
            try:
                for column, t in zip(columns, types, strict=True):
                    pa.array([column[i]], t)
            except _CONVERSION_ERRORS:
                return messages[record_number]
        return None

    @staticmethod
    def _bad_message(message: bytes | None, error: BaseException) -> Exception:
        return bad_message("avro", message, f"{type(error).__name__} {error}".strip())


def record_schema(name: str, fields: Sequence[DataField], legacy: bool) -> dict[str, Any]:
    """The Avro schema of columns. Raises UnsupportedOperation."""
    members = [{"name": f.name, "type": _schema(f.type, f"{name}_{f.name}", legacy)} for f in fields]
    return {"type": "record", "name": name, "fields": members}


def _schema(t: DataType, name: str, legacy: bool) -> Any:
    """Avro schema of a type. Raises UnsupportedOperation: Flink's format does not support the type."""
    plain = _non_null_schema(t, name, legacy)
    return ["null", plain] if t.nullable else plain


def _non_null_schema(t: DataType, name: str, legacy: bool) -> Any:
    match t:
        case Decimal():
            return {"type": "bytes", "logicalType": "decimal", "precision": t.precision, "scale": t.scale}
        case Timestamp() | LocalZonedTimestamp() if t.precision <= (3 if legacy else 6):
            zoned = isinstance(t, LocalZonedTimestamp)
            if not (zoned and legacy):
                unit = "millis" if t.precision <= 3 else "micros"
                return {"type": "long", "logicalType": f"{'' if zoned else 'local-'}timestamp-{unit}"}
        case Time() if t.precision <= 3:
            return {"type": "int", "logicalType": "time-millis"}
        case Array():
            return {"type": "array", "items": _schema(t.element, name, legacy)}
        case Map() if t.key.root in ("CHAR", "VARCHAR"):
            return {"type": "map", "values": _schema(t.value, name, legacy)}
        case Multiset() if t.element.root in ("CHAR", "VARCHAR"):
            return {"type": "map", "values": "int"}
        case Row():
            return record_schema(name, t.fields, legacy)
    if t.root == "DATE":
        return {"type": "int", "logicalType": "date"}
    if t.root not in _PRIMITIVES:
        hint = "'avro.timestamp_mapping.legacy' = 'false' supports more timestamp types" if legacy and "TIMESTAMP" in str(t) else "use 'json'"  # fmt: skip
        raise UnsupportedOperation(f"format 'avro' has no form for {t}", hint=hint)
    return _PRIMITIVES[t.root]


def _from_avro(t: DataType) -> _Convert | None:
    """Converter of maps from dicts (fastavro) to lists of pairs (Arrow). None: values need no conversion."""
    return _converter_of_nested_type(t, _from_avro, lambda value: lambda v: [(k, value(e)) for k, e in v.items()])


def _to_avro(t: DataType) -> _Convert | None:
    return _converter_of_nested_type(t, _to_avro, lambda value: lambda v: {k: value(e) for k, e in v})


def _converter_of_nested_type(
    t: DataType, inner: Callable[[DataType], _Convert | None], of_map: Callable[[_Convert], _Convert]
) -> _Convert | None:
    match t:
        case Map():
            return of_map(_or_none(inner(t.value)))
        case Multiset():
            return of_map(lambda v: v)
        case Array() if (element := inner(t.element)) is not None:
            convert = _or_none(element)
            return lambda v: [convert(e) for e in v]
        case Row():
            found = {f.name: c for f in t.fields if (c := inner(f.type)) is not None}
            if found:
                return lambda v: {k: e if e is None or k not in found else found[k](e) for k, e in v.items()}
    return None


def _or_none(convert: _Convert | None) -> _Convert:
    return lambda v: v if v is None or convert is None else convert(v)
