"""Columns as Python values and back, for row-by-row engines. Times stay integers, so nothing is rounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.format.data import SEQUENCE_NUMBER, VALUE_KIND, numbers_as_times, times_as_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence


def python_columns(table: pa.Table, names: Sequence[str]) -> list[list[Any]]:
    """Each column as a list; timestamps, dates and times as integers."""
    return [times_as_numbers(table.column(n)).to_pylist() for n in names]


def column_of(values: list[Any], t: pa.DataType) -> pa.Array:
    """The inverse of `python_columns` for one column."""
    return _decimal_array(values, t) if pa.types.is_decimal(t) else numbers_as_times(values, t)


def _decimal_array(values: list[Any], t: pa.DataType) -> pa.Array:
    """Decimals from their unscaled integers: in Java a sum may exceed its precision, and Arrow can store that."""
    try:
        return pa.array(values, t)
    except pa.ArrowInvalid:
        unscaled = [0 if v is None else int(v.scaleb(t.scale)) for v in values]
        data = b"".join(n.to_bytes(16, "little", signed=True) for n in unscaled)
        valid = pa.array([v is not None for v in values]).buffers()[1]
        return pa.Array.from_buffers(t, len(values), [valid, pa.py_buffer(data)])


def kv_table_of_rows(
    schema: pa.Schema,
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
    sequences: Sequence[int],
    kinds: Sequence[int],
) -> pa.Table:
    """A kv table from rows of Python values."""
    columns = {n: column_of([r[i] for r in rows], schema.field(n).type) for i, n in enumerate(names)}
    columns[SEQUENCE_NUMBER] = pa.array(sequences, pa.int64())
    columns[VALUE_KIND] = pa.array(kinds, pa.int8())
    return pa.Table.from_arrays([columns[n] for n in schema.names], schema=schema)
