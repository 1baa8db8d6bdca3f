"""Columns of a file as logical types, and rows of an old file under a newer schema: there columns are matched by field
id, never by name. docs/spec/format.md section 14.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.data.cast import cast_column
from paimon_nb.format.data.schema_cast import null_mask, offsets_keys_and_items, offsets_of, to_logical
from paimon_nb.format.data.shared_shredding import is_shared_shredding, restore_map
from paimon_nb.format.types import Array, DataField, DataType, Map, Multiset, Row, arrow_schema, arrow_type
from paimon_nb.format.types.arrow_builders import fill_null

if TYPE_CHECKING:
    from collections.abc import Sequence


def to_logical_types(table: pa.Table, fields: Sequence[DataField], path: str) -> pa.Table:
    """Convert columns from Arrow's reader to their logical types."""
    columns = []
    for f in fields:
        try:
            column = table.column(f.name)
            if not pa.types.is_primitive(column.type):  # texts that are not UTF-8: Arrow reads them without a look
                column.validate(full=True)
            if isinstance(f.type, Map) and is_shared_shredding(column):
                columns.append(restore_map(column, f.type, table.field(f.name).metadata))
            else:
                columns.append(to_logical(column, f.type))
        except UnsupportedFormat as error:
            text = f"{path}: column {f.name!r}: {error.message}"
            raise UnsupportedFormat(text, hint=error.hint, path=path, column=f.name, **error.facts) from None
    return pa.Table.from_arrays(columns, schema=arrow_schema(fields, nullable=True))


def rows_as_read_fields(
    table: pa.Table, file_fields: Sequence[DataField], read_fields: Sequence[DataField]
) -> pa.Table:
    """Convert `table` (columns of `file_fields`, by name) to the columns of `read_fields`, all nullable.

    A column that the file lacks is NULL, a renamed one is found by id, and one of another type is cast as in Java.

    Raises:
        ReadError: a stored value that the new type cannot represent.
    """
    schema = arrow_schema(read_fields, nullable=True)
    if not read_fields:
        return table.select([])
    if tuple(file_fields) == tuple(read_fields):
        # Not Table.cast: it rejects NULL structs whose fields are NOT NULL.
        return pa.Table.from_arrays([table.column(f.name) for f in read_fields], schema=schema)
    by_id = {f.id: f for f in file_fields}
    columns = []
    for field in read_fields:
        there = by_id.get(field.id)
        if there is None:
            columns.append(pa.nulls(table.num_rows, arrow_type(field.type)))
        else:
            columns.append(evolve_column(table.column(there.name), there.type, field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def evolve_column(column: Any, old: DataType, new: DataType) -> Any:
    """Convert one Arrow column; nested rows field by field."""
    if old.with_nullable(True) == new.with_nullable(True):
        return column
    target = arrow_type(new)
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([evolve_column(c, old, new) for c in column.chunks], type=target)
    match old, new:
        case (Row(), Row()):
            return _evolve_row(column, old, new, target)
        case (Array(), Array()):
            values = evolve_column(column.flatten(), old.element, new.element)
            lengths = fill_null(column.value_lengths(), 0)
            return pa.ListArray.from_arrays(offsets_of(lengths), values, type=target, mask=null_mask(column))
        case (Map(), Map()):
            offsets, keys, items = offsets_keys_and_items(column)
            keys, items = evolve_column(keys, old.key, new.key), evolve_column(items, old.value, new.value)
            return pa.MapArray.from_arrays(offsets, keys, items, type=target, mask=null_mask(column))
        case (Multiset(), Multiset()):
            offsets, keys, items = offsets_keys_and_items(column)
            keys = evolve_column(keys, old.element, new.element)
            return pa.MapArray.from_arrays(offsets, keys, items, type=target, mask=null_mask(column))
    return cast_column(column, old, new)


def _evolve_row(column: pa.StructArray, old: Row, new: Row, target: pa.DataType) -> pa.Array:
    index_of = {f.id: i for i, f in enumerate(old.fields)}
    stored = column.flatten()
    children = []
    for field in new.fields:
        index = index_of.get(field.id)
        if index is None:
            children.append(pa.nulls(len(column), arrow_type(field.type)))
        else:
            children.append(evolve_column(stored[index], old.fields[index].type, field.type))
    return pa.StructArray.from_arrays(children, fields=list(target), mask=null_mask(column))
