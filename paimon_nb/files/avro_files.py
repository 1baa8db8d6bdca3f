"""Avro files of any writer, in types of Arrow: unions of several types, recursive records and decimals of more than 38 digits are texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.files.nearest_types import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.files.locations import Found

_PLAIN = {
    "null": "null",
    "boolean": "bool",
    "int": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "bytes": "binary",
    "string": "string",
}
_BATCH_ROWS = 1 << 14


class AvroReader:
    """Reads an Avro file."""

    def __init__(self, file: Found) -> None:
        import fastavro
        import pyarrow as pa

        self.how, self._path = "Avro", file.path
        _add_snappy()
        self.notes: list[str] = []
        self.guess: Mapping[str, str] = {}
        with file.path.open("rb") as stream:
            written: Any = fastavro.reader(stream).writer_schema
        named: dict[str, Any] = {}
        fastavro.parse_schema(written, named_schemas=named) if isinstance(written, dict | list) else None
        self._named = named
        self._is_record = isinstance(written, dict) and written.get("type") in ("record", "error")
        fields = written["fields"] if self._is_record else [{"name": "value", "type": written}]
        self._shapes = [_shape(f["type"], named, ()) for f in fields]
        for field, shape in zip(fields, self._shapes, strict=True):
            if shape.note:
                self.notes.append(f"{field['name']} is {shape.note}")
        self.schema: pa.Schema = pa.schema(
            [pa.field(f["name"], s.type) for f, s in zip(fields, self._shapes, strict=True)]
        )

    def _records(self) -> Iterator[Any]:
        import fastavro

        with self._path.open("rb") as stream:
            yield from fastavro.reader(stream)

    def read(self, columns: Sequence[int]) -> pa.Table:
        import pyarrow as pa

        names = [self.schema.names[i] for i in columns]
        shapes = [self._shapes[i] for i in columns]
        batches: list[pa.RecordBatch] = []
        values: list[list[Any]] = [[] for _ in columns]

        def flush() -> None:
            arrays = [pa.array(v, s.type) for v, s in zip(values, shapes, strict=True)]
            batches.append(pa.RecordBatch.from_arrays(arrays, names=names))
            for v in values:
                v.clear()

        for record in self._records():
            for name, shape, target in zip(names, shapes, values, strict=True):
                target.append(shape.convert(record.get(name) if self._is_record else record))
            if len(values[0]) >= _BATCH_ROWS:
                flush()
        flush()
        return pa.Table.from_batches(batches)

    def count(self) -> int:
        import fastavro

        with self._path.open("rb") as stream:
            return sum(block.num_records for block in fastavro.block_reader(stream))


def _add_snappy() -> None:
    """Lets fastavro read snappy blocks with Arrow's codec; it knows only a package that is not installed."""
    import io

    from fastavro._read_py import BinaryDecoder  # type: ignore[attr-defined]
    from fastavro.read import BLOCK_READERS

    from paimon_nb.format.avro.container import MAX_PLAIN, UNPACK

    def read_block(stream: Any) -> io.BytesIO:
        decoder: Any = BinaryDecoder(stream)  # type: ignore[no-untyped-call]
        return io.BytesIO(UNPACK["snappy"](decoder.read_bytes(), MAX_PLAIN))

    BLOCK_READERS["snappy"] = read_block


class _Shape:
    """The Arrow type of an Avro type, and the conversion of its values."""

    def __init__(self, type: pa.DataType, convert: Any = None, note: str = "") -> None:
        self.type, self._convert, self.note = type, convert, note

    def convert(self, value: Any) -> Any:
        return value if value is None or self._convert is None else self._convert(value)


def _shape(schema: Any, named: dict[str, Any], inside: tuple[str, ...]) -> _Shape:
    import pyarrow as pa

    if isinstance(schema, list):
        return _union(schema, named, inside)
    if isinstance(schema, str):
        if schema in _PLAIN:
            return _Shape(pa.type_for_alias(_PLAIN[schema]))
        if schema in inside or schema not in named:
            return _Shape(pa.string(), text_of, "STRING of JSON, because the type contains itself")
        return _shape(named[schema], named, inside)
    kind = schema["type"]
    if not isinstance(kind, str) or (kind in named and kind not in _PLAIN):
        return _shape(kind, named, inside)
    logical = _logical(schema, kind)
    if logical is not None:
        return logical
    if kind in ("record", "error"):
        return _record(schema, named, inside)
    if kind == "array":
        items = _shape(schema["items"], named, inside)
        return _Shape(pa.list_(items.type), lambda v: [items.convert(x) for x in v], items.note)
    if kind == "map":
        values = _shape(schema["values"], named, inside)
        return _Shape(
            pa.map_(pa.string(), values.type), lambda v: [(k, values.convert(x)) for k, x in v.items()], values.note
        )
    if kind == "enum":
        return _Shape(pa.string())
    if kind == "fixed":
        return _Shape(pa.binary())
    return _Shape(pa.type_for_alias(_PLAIN[kind]))


def _record(schema: Any, named: dict[str, Any], inside: tuple[str, ...]) -> _Shape:
    import pyarrow as pa

    name = schema.get("name", "")
    full = f"{schema['namespace']}.{name}" if schema.get("namespace") and "." not in name else name
    shapes = {f["name"]: _shape(f["type"], named, (*inside, name, full)) for f in schema["fields"]}
    if not shapes:
        return _Shape(pa.string(), text_of, "STRING, because the records have no fields")
    note = next((s.note for s in shapes.values() if s.note), "")
    type = pa.struct([pa.field(n, s.type) for n, s in shapes.items()])
    return _Shape(type, lambda v: {n: s.convert(v.get(n)) for n, s in shapes.items()}, note)


def _union(branches: Sequence[Any], named: dict[str, Any], inside: tuple[str, ...]) -> _Shape:
    import pyarrow as pa

    kinds = [b for b in branches if b != "null" and not (isinstance(b, dict) and b.get("type") == "null")]
    if not kinds:
        return _Shape(pa.null())
    if len(kinds) == 1:
        return _shape(kinds[0], named, inside)
    if {str(k) for k in kinds} <= {"int", "long"}:
        return _Shape(pa.int64())
    return _Shape(pa.string(), text_of, "STRING of the values of a union")


def _logical(schema: Any, kind: str) -> _Shape | None:
    """The type of a logical type, whose values fastavro converts; None: the plain type."""
    import pyarrow as pa

    logical = schema.get("logicalType")
    if logical == "decimal" and kind in ("bytes", "fixed"):
        precision, scale = int(schema.get("precision", 38)), int(schema.get("scale", 0))
        if precision <= 38 and 0 <= scale <= precision:
            return _Shape(pa.decimal128(precision, scale))
        return _Shape(pa.string(), lambda v: format(v, "f"), f"STRING of a DECIMAL({precision}, {scale})")
    types = {
        ("date", "int"): pa.date32(), ("time-millis", "int"): pa.time32("ms"), ("time-micros", "long"): pa.time64("us"),
        ("timestamp-millis", "long"): pa.timestamp("ms", "UTC"), ("timestamp-micros", "long"): pa.timestamp("us", "UTC"),
        ("local-timestamp-millis", "long"): pa.timestamp("ms"), ("local-timestamp-micros", "long"): pa.timestamp("us"),
    }  # fmt: skip
    if (logical, kind) in types:
        return _Shape(types[logical, kind])
    if logical == "uuid":
        return _Shape(pa.string(), str)
    return None
