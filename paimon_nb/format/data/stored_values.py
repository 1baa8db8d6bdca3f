"""Scalar columns of files as columns of a table whose type differs: no value becomes another one.

Files of Paimon have the table's types, in Arrow's spelling. Other engines write wider numbers, timestamps for dates, other units.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from paimon_nb.format.types import DataType

_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_TIMES = ("DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ")


def cast_stored(column: pa.Array, t: DataType, target: pa.DataType) -> pa.Array:
    """A stored scalar column with the Arrow type `target` of the table's type `t`.

    Raises: pa.ArrowInvalid, TypeError, ValueError: a value has no equal one in the type.
    """
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    found = column.type
    if _means_something_else(found, t.root):
        raise TypeError(f"it stores {found} where {t.bare()} is expected")
    if pa.types.is_timestamp(found) and pa.types.is_timestamp(target) and found.tz != target.tz:
        # The same numbers: only the unit's name differs between writers.
        column = column.cast(pa.int64()).cast(pa.timestamp(found.unit, target.tz))
    cast = column.cast(target)
    if wrong := _first_changed(column, cast):
        raise ValueError(f"{wrong} is not a value of {t.bare()}")
    return cast


def _means_something_else(found: pa.DataType, root: str) -> bool:
    """Whether Arrow's cast would take a number for a date, drop a part of a time, or make a truth value of a number."""
    types = pa.types
    is_time = types.is_date(found) or types.is_time(found) or types.is_timestamp(found)
    if is_time and root in _INTEGERS:  # Java 2.1 refuses them, too
        return True
    if types.is_boolean(found) or types.is_integer(found) or types.is_decimal(found):
        return root in _TIMES or (root == "BOOLEAN" and not types.is_boolean(found))
    if types.is_floating(found):
        return root == "BOOLEAN"
    return root == "TIME" and is_time and not types.is_time(found)


def _first_changed(column: pa.Array, cast: pa.Array) -> str:
    """The first value that a cast rounds, cuts or turns into infinity without an error; '': none."""
    types, found, target = pa.types, column.type, cast.type
    is_cut = types.is_timestamp(found) and types.is_date(target)
    is_rounded = types.is_floating(found) and types.is_decimal(target)
    if is_cut or is_rounded:
        wall = column.cast(pa.timestamp(found.unit)) if is_cut and found.tz is not None else column
        changed = pc.not_equal(cast.cast(wall.type), wall)
    elif found == pa.float64() and types.is_float32(target):
        changed = pc.and_(pc.is_finite(column), pc.is_inf(cast))
    else:
        return ""
    position = pc.index(changed, True).as_py()
    return "" if position < 0 else str(column[position].as_py())
