"""Rows of an old file under a newer schema: columns are matched by field id, never by name. Format reference, section 14.2."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from paimon_nb.format.data.cast import cast_column
from paimon_nb.format.types import Array, DataField, DataType, Map, Multiset, Row, arrow_schema, arrow_type

Column = pa.Array | pa.ChunkedArray


def evolve(table: pa.Table, file_fields: Sequence[DataField], read_fields: Sequence[DataField]) -> pa.Table:
    """`table` (columns of `file_fields` by name) with the columns of `read_fields`.

    A column that the file does not have is NULL; a renamed one is found; a retyped one is cast.
    """
    if tuple(file_fields) == tuple(read_fields):
        return table.select([f.name for f in read_fields])
    by_id = {f.id: f for f in file_fields}
    columns: list[Column] = []
    for wanted in read_fields:
        there = by_id.get(wanted.id)
        if there is None or there.name not in table.column_names:
            columns.append(pa.nulls(table.num_rows, arrow_type(wanted.type)))
        else:
            columns.append(evolve_column(table.column(there.name), there.type, wanted.type))
    return pa.Table.from_arrays(columns, schema=arrow_schema(read_fields, nullable=True))


def evolve_column(column: Column, old: DataType, new: DataType) -> Column:
    """One column, nested rows field by field."""
    if old.with_nullable(True) == new.with_nullable(True):
        return column
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([evolve_column(c, old, new) for c in column.chunks], type=arrow_type(new))
    wanted = arrow_type(new)
    match old, new:
        case (Row(), Row()):
            by_id = {f.id: (i, f) for i, f in enumerate(old.fields)}
            children = []
            for field in new.fields:
                found = by_id.get(field.id)
                if found is None:
                    children.append(pa.nulls(len(column), arrow_type(field.type)))
                else:
                    children.append(evolve_column(column.field(found[0]), found[1].type, field.type))
            mask = column.is_null() if column.null_count else None
            return pa.StructArray.from_arrays(children, fields=list(wanted), mask=mask)
        case (Array(), Array()):
            return _relist(column, evolve_column(column.values, old.element, new.element), wanted)
        case (Map(), Map()):
            items = evolve_column(column.items, old.value, new.value)
            return _remap(column, evolve_column(column.keys, old.key, new.key), items, wanted)
        case (Multiset(), Multiset()):
            return _remap(column, evolve_column(column.keys, old.element, new.element), column.items, wanted)
    return cast_column(column, old, new)


def _relist(column: pa.ListArray, values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """The same lists over other values; offsets and validity are shared."""
    return pa.Array.from_buffers(wanted, len(column), column.buffers()[:2], column.null_count, column.offset, [values])


def _remap(column: pa.MapArray, keys: pa.Array, items: pa.Array, wanted: pa.DataType) -> pa.Array:
    entries = pa.StructArray.from_arrays([keys, items], fields=[wanted.key_field, wanted.item_field])
    return pa.Array.from_buffers(wanted, len(column), column.buffers()[:2], column.null_count, column.offset, [entries])
