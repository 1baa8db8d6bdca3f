"""Arrow columns of every kind in the types that Paimon has: the same type, or the nearest one with a note that says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.files.stored_extensions import period_texts
from paimon_nb.format.types.arrow_builders import arrow_type, from_arrow_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

_MAX_DECIMAL = 38


@dataclass(frozen=True, slots=True)
class Nearest:
    """A column in a type of Paimon, and what is said about it: 'STRING of a UUID'; '' if nothing changed."""

    column: pa.ChunkedArray
    note: str = ""


def unique_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names that differ from each other also in upper and lower case, and what is said about those that changed."""
    taken: set[str] = set()
    unique: list[str] = []
    notes: list[str] = []
    all_lower = {n.lower() for n in names}
    for i, written in enumerate(names):
        name = written.replace("\x00", "").strip("\r\n") or f"column{i}"
        base, n = name, 1
        while name.lower() in taken or (name != written and name.lower() in all_lower - {written.lower()}):
            name = f"{base}_{n}"
            n += 1
        taken.add(name.lower())
        unique.append(name)
        if name != written:
            notes.append(renamed(i, written, name))
    return unique, notes


def renamed(position: int, written: str, name: str) -> str:
    """What is said about a column that has another name than in its file."""
    was = repr(written) if written else "has no name and"
    return f"column {position + 1} {was} is named {name}"


def nearest_column(column: pa.ChunkedArray) -> Nearest:
    """A column in a type that Paimon has. Raises SchemaMismatch: there is none."""
    import pyarrow as pa

    chunks, notes = [], ""
    if needs_values(column.type):
        column = pa.chunked_array([column.combine_chunks()]) if column.num_chunks != 1 else column
    if not column.num_chunks and _contains_union(column.type):  # Arrow makes no empty array of a union
        return _nearest_of_unions(column.type)
    for chunk in column.chunks or [pa.nulls(0, column.type)]:
        array, note = _nearest(chunk)
        chunks.append(array)
        notes = notes or note
    return Nearest(pa.chunked_array(chunks, chunks[0].type), notes)


def _contains_union(t: pa.DataType) -> bool:
    import pyarrow as pa

    if pa.types.is_union(t):
        return True
    return pa.types.is_nested(t) and any(_contains_union(t.field(i).type) for i in range(t.num_fields))


def _nearest_of_unions(t: pa.DataType) -> Nearest:
    """The nearest type of a type with unions, whose values become texts."""
    import pyarrow as pa

    if pa.types.is_union(t):
        return Nearest(pa.chunked_array([], pa.string()), "STRING of the values of a union")
    if pa.types.is_struct(t):
        fields = [f.with_type(pa.string() if pa.types.is_union(f.type) else f.type) for f in t]
        return Nearest(nearest_column(pa.chunked_array([], pa.struct(fields))).column, "a ROW with STRING of a union")
    raise SchemaMismatch(f"Arrow type {t} has no Paimon type", hint="cast the column first", type=str(t))


def needs_values(t: pa.DataType) -> bool:
    """Whether the nearest type depends on the values: a fraction of a microsecond, a decimal of 50 digits."""
    import pyarrow as pa

    types = pa.types
    if (
        types.is_time64(t)
        or types.is_decimal256(t)
        or types.is_date64(t)
        or (types.is_timestamp(t) and t.unit in ("s", "ns"))
    ):
        return True
    if isinstance(t, pa.BaseExtensionType):
        return needs_values(t.storage_type)
    if types.is_map(t):
        return needs_values(t.key_type) or needs_values(t.item_type)
    if types.is_nested(t) and not types.is_union(t):
        return any(needs_values(t.field(i).type) for i in range(t.num_fields))
    return bool(types.is_dictionary(t) and needs_values(t.value_type))


def has_unusual_types(schema: pa.Schema) -> bool:
    """Whether a column has a type or a name that Paimon does not have."""
    import pyarrow as pa

    if unique_names(schema.names)[0] != schema.names:
        return True
    try:
        for field in schema:
            from_arrow_type(field.type)
    except SchemaMismatch:
        return True
    return any(_contains(f.type, lambda t: bool(pa.types.is_time64(t))) for f in schema)


def _contains(t: pa.DataType, matches: Callable[[pa.DataType], bool]) -> bool:
    import pyarrow as pa

    if matches(t):
        return True
    return pa.types.is_nested(t) and any(_contains(t.field(i).type, matches) for i in range(t.num_fields))


def _nearest(array: pa.Array) -> tuple[pa.Array, str]:
    """An array in a type that Paimon has, and the note."""
    import pyarrow as pa

    t, types = array.type, pa.types
    if isinstance(t, pa.BaseExtensionType):
        return _extension(array)
    if types.is_dictionary(t):
        return _nearest(array.dictionary_decode())
    if types.is_run_end_encoded(t):
        import pyarrow.compute as pc

        return _nearest(pc.run_end_decode(array))
    if types.is_null(t):
        return pa.nulls(len(array), pa.string()), "STRING, all values are NULL"
    if types.is_union(t):
        return _texts(array), "STRING of the values of a union"
    if types.is_time(t):
        return _time(array)
    if types.is_timestamp(t) and t.unit in ("s", "ns"):
        return _timestamp(array)
    if types.is_date64(t):
        try:
            return array.cast(pa.date32()), ""
        except pa.ArrowInvalid:
            return array.view(pa.int64()).view(pa.timestamp("ms")), "TIMESTAMP, because its dates have times"
    if types.is_duration(t):
        return array.cast(pa.int64()), f"BIGINT, a duration in {_UNITS[t.unit]}"
    if types.is_interval(t):
        return _texts(array), "STRING of an interval"
    if types.is_decimal(t):
        return _decimal(array)
    if types.is_nested(t):
        return _nested(array)
    try:
        target = arrow_type(from_arrow_type(t))
        return (array if t == target else array.cast(target)), ""
    except pa.ArrowException as error:
        raise SchemaMismatch(str(error).split("\n", 1)[0][:200], hint="cast the column first") from None


_UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}


def _extension(array: pa.ExtensionArray) -> tuple[pa.Array, str]:
    import uuid

    import pyarrow as pa

    name = array.type.extension_name
    storage = array.storage
    if name == "arrow.uuid":
        values = [None if v is None else str(uuid.UUID(bytes=v)) for v in storage.to_pylist()]
        return pa.array(values, pa.string()), "STRING of a UUID"
    if name in ("arrow.json", "json"):
        return _nearest(storage)[0], "STRING of JSON"
    if name in ("parquet.variant", "arrow.parquet.variant"):
        return variant_of_storage(storage), ""
    if name == "pandas.period":
        return pa.array(period_texts(storage.to_pylist(), array.type.freq), pa.string()), "STRING of a period"
    if name == "arrow.bool8":
        return storage.cast(pa.bool_()), ""
    found, note = _nearest(storage)
    return found, note or f"the stored values of {name}"


def variant_of_storage(storage: pa.StructArray) -> pa.Array:
    """VARIANT values, unshredded, from the columns metadata, value and typed_value of a Parquet file."""
    from paimon_nb.format.data.variant_shredding import unshred

    try:
        return unshred(storage)
    except ValueError as error:
        raise SchemaMismatch(f"a VARIANT that is not valid: {error}", hint="leave this column out") from None


def _time(array: pa.Array) -> tuple[pa.Array, str]:
    """TIME has milliseconds: the time, or its text if that would lose digits."""
    import pyarrow as pa

    target = pa.time32("ms")
    if array.type.unit in ("s", "ms"):
        return array.cast(target), ""
    try:
        return array.cast(target), ""
    except pa.ArrowInvalid:
        return array.cast(pa.string()), "STRING, because TIME has milliseconds"


def _timestamp(array: pa.Array) -> tuple[pa.Array, str]:
    """Times in TIMESTAMP(6) if that loses nothing: pandas and CSV files have other units."""
    import pyarrow as pa

    zone = "UTC" if array.type.tz else None
    try:
        return array.cast(pa.timestamp("us", array.type.tz)).cast(pa.timestamp("us", zone)), ""
    except pa.ArrowInvalid:
        if array.type.unit == "ns":
            return array.cast(pa.timestamp("ns", zone)), ""
        return array.cast(pa.string()), "STRING, because a time is outside of TIMESTAMP"


def _decimal(array: pa.Array) -> tuple[pa.Array, str]:
    """A decimal of at most 38 digits, or its text."""
    import pyarrow as pa

    t = array.type
    if 0 <= t.scale <= t.precision <= _MAX_DECIMAL:
        return array.cast(pa.decimal128(t.precision, t.scale)), ""
    if 0 <= t.scale <= _MAX_DECIMAL:
        try:
            return array.cast(pa.decimal128(_MAX_DECIMAL, t.scale)), f"DECIMAL(38, {t.scale}) of a DECIMAL({t.precision}, {t.scale})"  # fmt: skip
        except pa.ArrowInvalid:
            pass
    values = [None if v is None else format(v, "f") for v in array.to_pylist()]
    return pa.array(values, pa.string()), f"STRING of a DECIMAL({t.precision}, {t.scale})"


def _nested(array: pa.Array) -> tuple[pa.Array, str]:
    import pyarrow as pa

    types, t = pa.types, array.type
    if types.is_map(t):
        keys, key_note = _nearest(array.keys)
        items, note = _nearest(array.items)
        made = pa.MapArray.from_arrays(_offsets(array), keys, items)
        return _cast_to_paimon(made), note or key_note
    if types.is_struct(t):
        return _struct(array)
    if types.is_fixed_size_list(t):
        values, note = _nearest(array.flatten() if not array.null_count else array.values.slice(array.offset * t.list_size, len(array) * t.list_size))  # fmt: skip
        mask = array.is_null() if array.null_count else None
        made = pa.FixedSizeListArray.from_arrays(values, t.list_size, mask=mask)
        return _cast_to_paimon(made), note
    if types.is_list_view(t) or types.is_large_list_view(t):
        array = _list_of_view(array)
    values, note = _nearest(array.values)
    large = types.is_large_list(array.type)
    made = (pa.LargeListArray if large else pa.ListArray).from_arrays(_offsets(array), values)
    return _cast_to_paimon(made), note


def _list_of_view(array: pa.Array) -> pa.LargeListArray:
    """A list view, whose lists may be in any order, as lists one after the other; Arrow's cast keeps the order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ends = pc.cumulative_sum(pc.fill_null(pc.list_value_length(array), 0).cast(pa.int64()))
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends])
    return pa.LargeListArray.from_arrays(offsets, array.flatten(), mask=array.is_null() if array.null_count else None)


def _offsets(array: pa.Array) -> pa.Array:
    """The offsets of a list or map, NULL where a row is NULL."""
    import pyarrow as pa
    import pyarrow.compute as pc

    offsets = array.offsets
    if not array.null_count:
        return offsets
    missing = pa.concat_arrays([array.is_null(), pa.array([False])])
    return pc.if_else(missing, pa.scalar(None, offsets.type), offsets)


def _struct(array: pa.StructArray) -> tuple[pa.Array, str]:
    import pyarrow as pa

    t = array.type
    names = [t.field(i).name for i in range(t.num_fields)]
    if not names:
        values = [None if v is None else "{}" for v in array.to_pylist()]
        return pa.array(values, pa.string()), "STRING, because the objects have no fields"
    if _is_variant(t):
        return variant_of_storage(array), ""
    parts = [_nearest(array.field(i)) for i in range(t.num_fields)]
    unique, renamed = unique_names(names)
    fields = [pa.field(n, p.type) for n, (p, _) in zip(unique, parts, strict=True)]
    mask = array.is_null() if array.null_count else None
    made = pa.StructArray.from_arrays([p for p, _ in parts], fields=fields, mask=mask)
    return made, next((note for _, note in parts if note), renamed[0] if renamed else "")


def _is_variant(t: pa.StructType) -> bool:
    """Whether a struct has the columns in which Parquet stores a VARIANT."""
    import pyarrow as pa

    names = {t.field(i).name for i in range(t.num_fields)}
    binary = (pa.binary(), pa.large_binary(), pa.binary_view())
    return (
        {"metadata"} < names <= {"metadata", "value", "typed_value"}
        and t.field("metadata").type in binary
        and ("value" not in names or t.field("value").type in binary)
    )


def _cast_to_paimon(array: pa.Array) -> pa.Array:
    target = arrow_type(from_arrow_type(array.type))
    return array if array.type == target else array.cast(target)


def _texts(array: pa.Array) -> pa.Array:
    """The values as texts: texts as they are, all else as JSON."""
    import pyarrow as pa

    return pa.array([None if v is None else text_of(v) for v in array.to_pylist()], pa.string())


def text_of(value: Any) -> str:
    """A value as a text: JSON if it is not a text itself."""
    return value if isinstance(value, str) else json.dumps(value, default=_json_of, ensure_ascii=False)


def _json_of(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else str(value)
