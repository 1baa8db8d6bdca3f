"""Casts between stored types, with Java's results: numbers wrap, decimals overflow to NULL. docs/spec/format.md section 14.2.

Source: Paimon `casting/*CastRule.java`. A cast without a rule in Java raises an error, with one exception: here every
type can become text of any length; Java casts some types to STRING only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.errors import ReadError, SchemaMismatch
from paimon_nb.format.data.cast_time import TIMES, cast_between_times, from_number_to_time, from_time_to_number
from paimon_nb.format.data.java_string_casts import parse_as_java, to_decimal
from paimon_nb.format.row.binary_row import from_scalar
from paimon_nb.format.row.java_to_string import cast_to_string
from paimon_nb.format.types import Binary, Char, DataType, Decimal, VarBinary, VarChar, arrow_type
from paimon_nb.format.types.arrow_builders import to_numpy

if TYPE_CHECKING:
    from collections.abc import Callable

INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_FLOATS = ("FLOAT", "DOUBLE")
_NUMBERS = (*INTEGERS, *_FLOATS, "DECIMAL")
_CHARS = ("CHAR", "VARCHAR")
_BYTES = ("BINARY", "VARBINARY")
_MIN_VALUE = {"TINYINT": -(1 << 7), "SMALLINT": -(1 << 15), "INT": -(1 << 31), "BIGINT": -(1 << 63)}
_DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}


def cast_column(column: Any, old: DataType, new: DataType) -> Any:
    """Cast a logical Arrow column of type `old` to type `new`.

    Raises:
        ReadError: no such cast, or text that is not a value of `new`. It never becomes NULL.
    """
    if old.bare() == new.bare():
        return column
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([cast_column(c, old, new) for c in column.chunks], type=arrow_type(new))
    try:
        out = _cast_atomic(column, old, new)
    except (pa.ArrowException, ValueError, ArithmeticError) as error:
        raise ReadError(
            f"a stored {old.bare()} cannot be read as {new.bare()} ({str(error).partition(chr(10))[0]:.100})",
            hint="ALTER the column back, or read an earlier schema", stored=str(old), wanted=str(new),
        ) from None  # fmt: skip
    if out is None:
        raise ReadError(
            f"a stored {old.bare()} cannot be read as {new.bare()}", hint="ALTER the column back",
            stored=str(old), wanted=str(new),
        )  # fmt: skip
    return out


def cast_text(text: str, t: DataType) -> pa.Scalar:
    """Parse a default value's text as a value of its column. Raises `SchemaMismatch`."""
    text = unquoted(text)
    try:
        return pa.scalar(text) if t.bare() == "STRING" else cast_column(pa.array([text]), VarChar(), t)[0]
    except ReadError as error:
        raise SchemaMismatch(f"default {text!r} is not a valid {t.bare()}", hint=error.message, default=text) from None


def unquoted(default: str) -> str:
    """A default's text without the quotes that paimon-spark stores around it."""
    return default[1:-1] if len(default) > 1 and default.startswith("'") and default.endswith("'") else default


def _cast_atomic(column: pa.Array, old: DataType, new: DataType) -> pa.Array | None:
    source, target = old.root, new.root
    if target in _CHARS:
        return _to_text(column, old, new)
    if source in _CHARS:
        return _from_text(column, new)
    if target in _BYTES and source in _BYTES:
        return _cast_bytes(column, new)
    if source in _NUMBERS and target in _NUMBERS:
        return _cast_number(column, old, new)
    if source == "BOOLEAN" and target in _NUMBERS:
        if isinstance(new, Decimal):
            return cast_each(column, new, lambda v: to_decimal(int(v), new))
        return column.cast(pa.int8()).cast(arrow_type(new))
    if target == "BOOLEAN" and source in INTEGERS:
        return pc.not_equal(column, pa.scalar(0, column.type))
    if source in TIMES and target in TIMES:
        return cast_between_times(column, old, new)
    if source in TIMES and target in INTEGERS:
        return from_time_to_number(column, old, new)
    if source in INTEGERS and target in TIMES:
        return from_number_to_time(column, old, new)
    return None


# -- numbers


def _cast_number(column: pa.Array, old: DataType, new: DataType) -> pa.Array:
    if isinstance(new, Decimal):
        return _to_decimal(column, old, new)
    if isinstance(old, Decimal):
        return _from_decimal(column, old, new)
    if old.root in _FLOATS and new.root in INTEGERS:
        return _float_to_integer(column, new)
    return column.cast(arrow_type(new), safe=False)


def _float_to_integer(column: pa.Array, new: DataType) -> pa.Array:
    """Java's (int) of a float: truncated, saturating at int or long, NaN is 0; byte and short then wrap."""
    minimum = _MIN_VALUE["BIGINT" if new.root == "BIGINT" else "INT"]
    values = to_numpy(column).astype(np.float64)
    clean = np.trunc(np.where(np.isnan(values), 0.0, values))
    small, big = clean <= float(minimum), clean >= float(-minimum)
    whole = np.where(small | big, 0, clean).astype(np.int64)
    whole = np.where(small, minimum, np.where(big, -minimum - 1, whole))
    out = pa.array(whole, pa.int64(), mask=to_numpy(column.is_null()))
    return out.cast(arrow_type(new), safe=False)


def _to_decimal(column: pa.Array, old: DataType, new: Decimal) -> pa.Array:
    integer_digits = new.precision - new.scale
    if old.root in INTEGERS and integer_digits >= _DIGITS[old.root]:
        return column.cast(arrow_type(new))
    if isinstance(old, Decimal) and new.scale >= old.scale and integer_digits >= old.precision - old.scale:
        return column.cast(arrow_type(new))
    return cast_each(column, new, lambda v: to_decimal(v, new))


def _from_decimal(column: pa.Array, old: Decimal, new: DataType) -> pa.Array:
    if new.root in INTEGERS:
        minimum = _MIN_VALUE[new.root]
        return cast_each(column, new, lambda v: (int(v) - minimum) % (-2 * minimum) + minimum)
    if old.precision <= 18:  # Java divides the unscaled long
        return cast_each(column, new, lambda v: float(int(v.scaleb(old.scale))) / 10.0**old.scale)
    return cast_each(column, new, float)


def cast_each(column: pa.Array, new: DataType, convert: Callable[[Any], Any]) -> pa.Array:
    """Convert every distinct value in Python."""
    if pa.types.is_floating(column.type) or len(column) < 64:
        return pa.array([None if v is None else convert(v) for v in column.to_pylist()], arrow_type(new))
    coded = column.dictionary_encode()
    values = [None if v is None else convert(v) for v in coded.dictionary.to_pylist()]
    return pa.array(values, arrow_type(new)).take(coded.indices)


# -- text and bytes


def _to_text(column: pa.Array, old: DataType, new: DataType) -> pa.Array:
    if old.root in _CHARS:
        text = column
    elif old.root in INTEGERS or old.root == "BOOLEAN":
        text = column.cast(pa.string())
    else:
        text = pa.array([cast_to_string(old, from_scalar(old, s)) if s.is_valid else None for s in column], pa.string())
    if old.root in _BYTES:  # Java keeps the bytes, whatever their length
        return text
    length = new.length if isinstance(new, Char | VarChar) else 0
    if length < 1 << 30:
        text = pc.utf8_slice_codeunits(text, 0, length)
    return pc.utf8_rpad(text, length, " ") if isinstance(new, Char) else text


def _from_text(column: pa.Array, new: DataType) -> pa.Array:
    if new.root in _BYTES:
        return _cast_bytes(column.cast(pa.binary()), new)
    return cast_each(column, new, lambda v: parse_as_java(v, new))


def _cast_bytes(column: pa.Array, new: DataType) -> pa.Array:
    """VARBINARY(n) truncates, BINARY(n) also pads with zeros."""
    length = new.length if isinstance(new, Binary | VarBinary) else 0
    if length >= 1 << 30:
        return column
    if isinstance(new, Binary):
        column = pc.binary_join_element_wise(column, pa.scalar(bytes(length), pa.binary()), pa.scalar(b"", pa.binary()))
    return pc.binary_slice(column, 0, length)
