"""User rows to the table's own types: nothing is lost silently, whatever does not fit is named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.errors import ColumnNotFound, NullNotAllowed, SchemaMismatch
from paimon_nb.base.registry import did_you_mean
from paimon_nb.format.data.memory import to_memory
from paimon_nb.format.types import Binary, Char, DataField, DataType, VarBinary, VarChar, arrow_schema, arrow_type


def conform(rows: pa.Table, fields: Sequence[DataField]) -> pa.Table:
    """`rows` with exactly the columns of `fields`, in their order and memory types.

    Raises:
        ColumnNotFound: a column too many. SchemaMismatch: one too few, or a value that the type cannot hold.
        NullNotAllowed: NULL in a NOT NULL column.
    """
    names = [f.name for f in fields]
    for name in rows.column_names:
        if name not in names:
            raise ColumnNotFound(f"the table has no column {name!r}", hint=did_you_mean(name, names) or f"columns: {', '.join(names)}", column=name)  # fmt: skip
    if len(set(rows.column_names)) != len(rows.column_names):
        raise SchemaMismatch("two columns of the rows have one name", hint="rename one of them")
    columns = []
    for f in fields:
        if f.name not in rows.column_names:
            raise SchemaMismatch(f"column {f.name!r} is missing", hint="give it, or a default", column=f.name)
        columns.append(_column(rows.column(f.name), f))
    return pa.Table.from_arrays(columns, schema=arrow_schema(fields, nullable=True))


def _column(column: pa.ChunkedArray, field: DataField) -> pa.ChunkedArray:
    if not field.type.nullable and column.null_count:
        row = pc.index(column.is_null(), True).as_py()
        raise NullNotAllowed(
            f"column {field.name!r} is NOT NULL, but row {row} has NULL", hint="filter such rows or give a value",
            column=field.name, row=row,
        )  # fmt: skip
    wanted = arrow_type(field.type)
    if column.type == wanted:
        out = column
    else:
        try:
            out = _cast(column, field.type, wanted)
        except (pa.ArrowException, KeyError, ValueError, TypeError, OverflowError) as error:
            raise SchemaMismatch(
                f"column {field.name!r}: {_offender(column, field.type, wanted)}cannot be stored as {field.type.bare()}"
                f" ({str(error).splitlines()[0]:.120})",
                hint="cast the column first", column=field.name, found=str(column.type), expected=str(field.type),
            ) from None  # fmt: skip
    if isinstance(out, pa.Array):
        out = pa.chunked_array([out], type=wanted)
    return _lengths(out, field)


def _cast(column: pa.ChunkedArray, t: DataType, wanted: pa.DataType) -> Any:
    source = column.type
    types = pa.types
    if types.is_null(source):
        return pa.nulls(len(column), wanted)
    if types.is_dictionary(source):
        return _cast(
            pa.chunked_array([c.dictionary_decode() for c in column.chunks], type=source.value_type), t, wanted
        )
    if types.is_nested(wanted):
        return to_memory(column, t)
    if types.is_string(wanted) and not (
        types.is_string(source) or types.is_large_string(source) or types.is_string_view(source)
    ):
        raise TypeError(f"{source} is no text")
    if types.is_timestamp(wanted) and types.is_timestamp(source) and (source.tz is None) != (wanted.tz is None):
        # Wall time and instant are different things; which zone joins them is the caller's to say.
        raise TypeError("a timestamp with a zone and one without are different things")
    if types.is_timestamp(wanted) and types.is_string(source):
        raise TypeError("text is no timestamp")
    if types.is_floating(source) and types.is_integer(wanted):
        # pandas makes floats of whole numbers as soon as one is missing; whole values pass, others do not.
        return column.cast(wanted, safe=True)
    if types.is_integer(wanted) and types.is_boolean(source):
        raise TypeError("a boolean is no number")
    if types.is_decimal(wanted) and types.is_floating(source):
        rounded = pc.round(column, t.scale)  # type: ignore[attr-defined]
        if not pc.all(pc.or_kleene(pc.equal(rounded, column), pc.is_null(column))).as_py():
            raise ValueError(f"a value has more than {t.scale} decimals")  # type: ignore[attr-defined]
        return rounded.cast(wanted)
    return column.cast(wanted, safe=True)


def _offender(column: pa.ChunkedArray, t: DataType, wanted: pa.DataType) -> str:
    """The first value that does not pass, found only once something failed."""
    for i in range(min(len(column), 10_000)):
        one = column.slice(i, 1)
        try:
            _cast(one, t, wanted)
        except Exception:  # any failure names this row
            return f"row {i} ({str(one[0].as_py())[:60]!r}, {column.type}) "
    return f"{column.type} "


def _lengths(column: pa.ChunkedArray, field: DataField) -> pa.ChunkedArray:
    """CHAR is padded; text and bytes longer than the type are refused."""
    t = field.type
    if isinstance(t, Char):
        column = pc.utf8_rpad(column, t.length, " ")
    limit = t.length if isinstance(t, Char | VarChar | Binary | VarBinary) else None
    if limit is None or limit >= 1 << 30:
        return column
    length = pc.utf8_length(column) if isinstance(t, Char | VarChar) else pc.binary_length(column)
    longest = pc.max(length).as_py()
    if longest is not None and longest > limit:
        row = pc.index(pc.greater(length, limit), True).as_py()
        raise SchemaMismatch(
            f"column {field.name!r}: row {row} is {longest} long, {t.bare()} holds {limit}", hint="widen the column, or cut the value",
            column=field.name, row=row,
        )  # fmt: skip
    return column
