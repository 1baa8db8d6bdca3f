"""Reads and writes JSON data files: one object per line, scalar values as text, compressed as a whole.

Source: Paimon 1.3 `format/json/Json{FileReader,FormatWriter}.java`, `format/text/BaseTextFile{Reader,Writer}.java`.
"""

from __future__ import annotations

import base64
import json
import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.errors import CorruptFile, ReadError, UnsupportedFormat
from paimon_nb.format.data.cast import cast_column
from paimon_nb.format.data.foreign_texts import WHOLE_NUMBER, date_text, float_text
from paimon_nb.format.data.iso_timestamps import ISO_TIMESTAMP, timestamp_of_text
from paimon_nb.format.data.schema_cast import without_columns
from paimon_nb.format.data.text_codecs import new_encoder, read_text, split_lines
from paimon_nb.format.file_errors import broken_file, is_out_of_memory
from paimon_nb.format.schema import FORMAT_TABLE
from paimon_nb.format.types import (
    Array,
    DataField,
    DataType,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Timestamp,
    VarChar,
    Vector,
    arrow_schema,
    arrow_type,
)
from paimon_nb.format.types.arrow_builders import empty_table, fixed_size_lists_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from paimon_nb.fs import FileIO
    from paimon_nb.options import TableOptions

STRING, BYTES, INTEGERS = VarChar(), ("BINARY", "VARBINARY"), ("TINYINT", "SMALLINT", "INT", "BIGINT")
_JSON_KINDS: dict[type[DataType], type] = {Vector: list, Array: list, Map: dict, Row: dict}
"""What nested types are in JSON."""


_MISFITS = (ReadError, pa.ArrowException, ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""Errors of values that cannot be converted to the type of their column."""


class _Number(str):
    """A number as its text in the file, so that none of its digits is lost."""

    __slots__ = ()


def _parse_object(path: str, line: str, ignores_errors: bool) -> dict[str, Any] | None:
    """The JSON object of one line; None if it is not one and such lines are skipped. Raises CorruptFile."""
    try:
        row = json.loads(line, parse_int=_Number, parse_float=_Number, parse_constant=_Number)
    except (ValueError, RecursionError) as error:
        row, why = None, f"{type(error).__name__}: {error!s:.80}"
    else:
        why = "ValueError: a line is not a JSON object"
    if isinstance(row, dict):
        return row
    if ignores_errors:
        return None
    raise CorruptFile(path, f"not readable as JSON ({why})")


class JsonReader:
    """One open file; columns are found by name. Its rows are one row group."""

    def __init__(self, fs: FileIO, path: str, fields: Sequence[DataField], options: TableOptions | None = None) -> None:
        self.path, self.fields = path, tuple(fields)
        raw = options.raw if options is not None else {}
        lines = split_lines(read_text(fs, path), raw.get("json.line-delimiter", "\n"))
        ignores = raw.get("json.ignore-parse-errors", "false").lower() == "true"
        self._rows = [row for line in lines if line.strip() and (row := _parse_object(path, line, ignores)) is not None]
        self._ignores_errors = ignores

    @property
    def num_rows(self) -> int:
        return len(self._rows)

    @property
    def row_groups(self) -> list[int]:
        return [len(self._rows)] if self._rows else []

    def read(self, groups: Sequence[int] | None = None) -> pa.Table:
        """All rows, in file order."""
        if not self._rows or groups == []:
            return empty_table(self.fields)
        if not self.fields:
            return without_columns(len(self._rows))
        try:
            return self._table_of(self._rows)
        except _MISFITS as error:
            if is_out_of_memory(error):
                raise broken_file(self.path, error) from None
            if self._ignores_errors:
                return self._table_of([row for row in self._rows if self._row_can_be_converted(row)])
            raise CorruptFile(self.path, f"its rows do not fit the schema ({error!s:.80})") from None

    def _table_of(self, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
        columns = [_column_of_json(_values_of_key(rows, f.name), f.type) for f in self.fields]
        return pa.Table.from_arrays(columns, schema=arrow_schema(self.fields, nullable=True))

    def _row_can_be_converted(self, row: Mapping[str, Any]) -> bool:
        """Whether the values of one line can be converted to the types of the columns."""
        try:
            self._table_of([row])
        except _MISFITS:
            return False
        return True

    def batches(self, rows: int, groups: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]:
        yield from self.read(groups).to_batches(rows)

    def close(self) -> None:
        self._rows = []


class JsonWriter:
    """Writes one file."""

    def __init__(self, out: Any, fields: Sequence[DataField], options: TableOptions, compression: str) -> None:
        self.fields = tuple(fields)
        for f in self.fields:
            if isinstance(f.type, Multiset) or f.type.root in ("VARIANT", "BLOB"):
                raise UnsupportedFormat(
                    f"column {f.name!r} is {f.type.bare()}, which JSON files cannot store",
                    hint="use 'file.format' = 'parquet'", column=f.name,
                )  # fmt: skip
        self._out, self._encoder = out, new_encoder(compression)
        self._line_end = options.raw.get("json.line-delimiter", "\n")
        self._is_plain = options.raw.get("type") == FORMAT_TABLE
        """Whether others read the file: Spark takes no text for a number. Java takes both; it writes text."""

    @property
    def pending_bytes(self) -> int:
        return 0

    def write(self, table: pa.Table) -> None:
        names = [f.name for f in self.fields]
        columns = [_json_values(table.column(i), f.type, self._is_plain) for i, f in enumerate(self.fields)]
        rows = (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))
        text = "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + self._line_end for row in rows)
        self._out.write(self._encoder.compress(text.encode()))

    def close(self) -> None:
        self._out.write(self._encoder.flush())

    def abort(self) -> None:
        self._encoder = None


def java_texts_of(column: Any, t: DataType) -> list[str | None]:
    """The values of a scalar column as Java's texts; bytes in Base64."""
    if t.root in BYTES:
        return [None if v is None else base64.b64encode(v).decode() for v in column.to_pylist()]
    texts: list[str | None] = cast_column(column, t.with_nullable(True), STRING).to_pylist()
    return texts


def column_of_java_texts(texts: Sequence[str | None], t: DataType) -> pa.Array:
    """A column from such texts. Raises ReadError, ValueError."""
    if t.root in BYTES:
        return pa.array([None if v is None else base64.b64decode(v, validate=True) for v in texts], arrow_type(t))
    if t.root in ("FLOAT", "DOUBLE"):
        texts = [v if v is None else float_text(v) for v in texts]
    if t.root in INTEGERS and (
        wrong := next((v for v in texts if v is not None and not WHOLE_NUMBER.fullmatch(v)), None)
    ):
        raise ReadError(f"{wrong!r:.40} is not an integer", hint="change the type of the column")
    if t.root == "DATE":
        texts = [v if v is None else date_text(v) for v in texts]
    if isinstance(t, Timestamp | LocalZonedTimestamp) and any(
        v is not None and ISO_TIMESTAMP.fullmatch(v) for v in texts
    ):
        return pa.concat_arrays([timestamp_of_text(v, t) for v in texts])
    column = pa.array(texts, pa.string())
    return column if t.root in ("CHAR", "VARCHAR") else cast_column(column, STRING, t.with_nullable(True))


def _json_values(column: Any, t: DataType, is_plain: bool) -> list[Any]:
    """The values of an Arrow array as JSON values; numbers as numbers if `is_plain`, else as text."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    known = column.is_valid().to_pylist()
    match t:
        case Array():
            inside = iter(_json_values(column.flatten(), t.element, is_plain))
            sizes = (0 if n is None else n for n in pc.list_value_length(column).to_pylist())
            return [
                [next(inside) for _ in range(size)] if is_known else None
                for size, is_known in zip(sizes, known, strict=True)
            ]
        case Map():
            return [
                None if not is_known else _json_map(column[i], t, is_plain) for i, is_known in enumerate(known)
            ]  # fmt: skip
        case Row():
            parts = [_json_values(part, f.type, is_plain) for part, f in zip(column.flatten(), t.fields, strict=True)]
            names = [f.name for f in t.fields]
            rows = list(zip(*parts, strict=True)) if parts else [()] * len(column)
            return [dict(zip(names, row, strict=True)) if k else None for row, k in zip(rows, known, strict=True)]
    texts = java_texts_of(column, t)
    plain = _PLAIN_VALUES.get(t.root) if is_plain else None
    return list(texts) if plain is None else [None if v is None else plain(v) for v in texts]


def _finite_or_text(text: str) -> float | str:
    """A floating point number; JSON has no NaN and infinity. The text is the shortest one, also of FLOAT."""
    value = float(text)
    return value if math.isfinite(value) else text


_PLAIN_VALUES: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(INTEGERS, int), "FLOAT": _finite_or_text, "DOUBLE": _finite_or_text, "BOOLEAN": "true".__eq__,
}  # fmt: skip
"""Type -> the JSON value of Java's text. A DECIMAL stays text: Java would read a number as DOUBLE."""


def _json_map(scalar: Any, t: Map, is_plain: bool) -> dict[str | None, Any]:
    entries = scalar.values
    keys, values = entries.field(0), entries.field(1)
    return dict(zip(java_texts_of(keys, t.key), _json_values(values, t.value, is_plain), strict=True))


def _column_of_json(values: list[Any], t: DataType) -> pa.Array:
    """An Arrow array of JSON values. Raises ReadError: a value is of another kind, such as a number for an ARRAY."""
    mask = pa.array([v is None for v in values])
    kind = _JSON_KINDS.get(type(t))
    wrong = next((v for v in values if v is not None and not isinstance(v, kind)), None) if kind else None
    if kind and wrong is not None:
        found = f"{_json_as_text(wrong)!r:.40} is not {'an object' if kind is dict else 'an array'}"
        raise ReadError(f"{found}, as {t.bare()} is stored", hint="change the type of the column")
    match t:
        case Vector():
            return fixed_size_lists_of(_column_of_json(values, Array(t.element)), arrow_type(t))
        case Array():
            inside = _column_of_json([e for v in values if v is not None for e in v], t.element)
            return pa.ListArray.from_arrays(_list_offsets(values), inside, arrow_type(t), mask=mask)
        case Map():
            keys = column_of_java_texts([k for v in values if v is not None for k in v], t.key)
            items = _column_of_json([e for v in values if v is not None for e in v.values()], t.value)
            return pa.MapArray.from_arrays(_list_offsets(values), keys, items, arrow_type(t), mask=mask)
        case Row():
            parts = [_column_of_json(_values_of_key(values, f.name), f.type) for f in t.fields]
            return pa.StructArray.from_arrays(parts, fields=list(arrow_type(t)), mask=mask)
    return column_of_java_texts([_json_as_text(v) for v in values], t)


def _values_of_key(rows: Sequence[Mapping[str, Any] | None], name: str) -> list[Any]:
    """The value of each object; of objects that lack the key, that of a key which differs in case. NULL for others."""
    if all(row is None or name in row for row in rows):
        return [None if row is None else row[name] for row in rows]
    spelled = {key for row in rows if row is not None for key in row if key != name and key.lower() == name.lower()}
    if not spelled:
        return [None if row is None else row.get(name) for row in rows]
    return [
        None if row is None else next((row[key] for key in (name, *sorted(spelled)) if key in row), None)
        for row in rows
    ]


def _json_as_text(value: Any) -> str | None:
    """A JSON value as text: of an object or array its JSON, as in Spark and DuckDB. Jackson's `asText` is empty then."""
    if value is None or isinstance(value, str):
        return value
    return _json_text(value)


def _json_text(value: Any) -> str:
    """The JSON of a value whose numbers are `_Number`."""
    match value:
        case _Number():
            return value
        case dict():
            return "{" + ",".join(f"{_json_text(k)}:{_json_text(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + ",".join(map(_json_text, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _list_offsets(values: list[Any]) -> pa.Array:
    offsets = [0]
    for v in values:
        offsets.append(offsets[-1] + (0 if v is None else len(v)))
    return pa.array(offsets, pa.int32())
