"""Python values of times outside the range of `datetime`, which has no year 0, no year 10000 and no nanoseconds.

Values that only pass through Python are converted to the stored numbers and back; values for display become text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable


def times_as_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Timestamps at any depth as counts of their unit since the epoch (int64), dates and times of day as int32."""
    return column.cast(_replace_time_types(column.type, _integer_type_of))


def numbers_as_times(values: list[Any], t: pa.DataType) -> pa.Array:
    """An array of type `t` from Python values in which times are numbers."""
    return pa.array(values, _replace_time_types(t, _integer_type_of)).cast(t)


def python_values(column: pa.ChunkedArray) -> list[Any]:
    """`to_pylist`; if a time is outside Python's range, all times of the column are texts."""
    try:
        return column.to_pylist()  # type: ignore[no-any-return]
    except (OverflowError, ValueError):
        return column.cast(_replace_time_types(column.type, lambda _: pa.string())).to_pylist()  # type: ignore[no-any-return]


def _integer_type_of(t: pa.DataType) -> pa.DataType:
    return pa.int64() if pa.types.is_timestamp(t) else pa.int32()


def _replace_time_types(t: pa.DataType, other: Callable[[pa.DataType], pa.DataType]) -> pa.DataType:
    """The type with each time type replaced."""
    if pa.types.is_timestamp(t) or pa.types.is_date32(t) or pa.types.is_time32(t):
        return other(t)
    if pa.types.is_map(t):
        key, item = _replace_time_types(t.key_type, other), _replace_time_types(t.item_type, other)
        return pa.map_(t.key_field.with_type(key), t.item_field.with_type(item))
    if pa.types.is_list(t):
        return pa.list_(t.value_field.with_type(_replace_time_types(t.value_type, other)))
    if pa.types.is_struct(t):
        return pa.struct([field.with_type(_replace_time_types(field.type, other)) for field in t])
    return t
