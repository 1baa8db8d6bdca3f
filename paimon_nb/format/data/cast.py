"""Casts between stored types, with Java's results: numbers wrap, decimals overflow to NULL. Format reference, section 14.2."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.errors import ReadError, SchemaMismatch
from paimon_nb.format.row.java_text import cast_to_string
from paimon_nb.format.row.values import from_python, from_scalar, to_scalar
from paimon_nb.format.types import (
    Char,
    DataType,
    Decimal,
    LocalZonedTimestamp,
    Time,
    Timestamp,
    VarChar,
    arrow_type,
)

Column = pa.Array | pa.ChunkedArray
_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_FLOATS = ("FLOAT", "DOUBLE")
_CHARS = ("CHAR", "VARCHAR")
_STAMPS = ("TIMESTAMP", "TIMESTAMP_LTZ")
_LEAST = {"TINYINT": -(1 << 7), "SMALLINT": -(1 << 15), "INT": -(1 << 31), "BIGINT": -(1 << 63)}


def cast_column(column: Column, old: DataType, new: DataType) -> Column:
    """Values of `old` as `new`.

    Raises:
        ReadError: text that is no number or time; NULL is never made up for it.
    """
    if arrow_type(old) == arrow_type(new) and not isinstance(new, Char | VarChar):
        return column
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([cast_column(c, old, new) for c in column.chunks], type=arrow_type(new))
    try:
        return _cast(column, old, new)
    except (pa.ArrowException, ValueError, decimal.InvalidOperation, OverflowError) as error:
        raise ReadError(
            f"a stored {old.bare()} cannot be read as {new.bare()} ({str(error).splitlines()[0]:.100})",
            hint="ALTER the column back, or read an earlier schema",
        ) from None


def _cast(column: pa.Array, old: DataType, new: DataType) -> pa.Array:
    source, target = old.root, new.root
    if target in _CHARS:
        return _to_text(column, old, new)
    if source in _CHARS:
        return _from_text(column, new)
    if source in _INTEGERS and target in _INTEGERS:
        return column.cast(arrow_type(new), safe=False)
    if source in _FLOATS and target in _INTEGERS:
        return _float_to_integer(column, target)
    if source in (*_INTEGERS, *_FLOATS) and target in _FLOATS:
        return column.cast(arrow_type(new), safe=False)
    if isinstance(new, Decimal) and source in (*_INTEGERS, *_FLOATS, "DECIMAL", "BOOLEAN"):
        return _each(column, old, new, lambda v: _decimal(v, new))
    if isinstance(old, Decimal) and target in _INTEGERS:
        return _each(column, old, new, lambda v: _wrap(int(v), target))
    if isinstance(old, Decimal) and target in _FLOATS:
        return _each(column, old, new, float)
    if source == "BOOLEAN" and target in (*_INTEGERS, *_FLOATS):
        return column.cast(pa.int8()).cast(arrow_type(new))
    if target == "BOOLEAN" and source in _INTEGERS:
        return pc.not_equal(column, pa.scalar(0, column.type))
    if target in ("BINARY", "VARBINARY"):
        return column.cast(pa.binary())
    return _time(column, old, new)


def _float_to_integer(column: pa.Array, target: str) -> pa.Array:
    """Java's (int) of a float: towards zero, saturating at int or long, NaN is 0; byte and short wrap after that."""
    wide = "BIGINT" if target == "BIGINT" else "INT"
    values = column.to_numpy(zero_copy_only=False).astype(np.float64)
    least, most = _LEAST[wide], -_LEAST[wide] - 1
    clean = np.nan_to_num(np.trunc(values), nan=0.0, posinf=np.inf, neginf=-np.inf)
    small, big = clean <= float(least), clean >= float(most)
    whole = np.where(small | big, 0, clean).astype(np.int64)
    whole = np.where(small, least, np.where(big, most, whole))
    out = pa.array(whole, pa.int64(), mask=column.is_null().to_numpy(zero_copy_only=False))
    return out.cast(arrow_type(_integer(target)), safe=False)


def _integer(name: str) -> DataType:
    from paimon_nb.format.types import Atomic

    return Atomic(name)


def _wrap(value: int, target: str) -> int:
    least = _LEAST[target]
    return (value - least) % (-2 * least) + least


def _decimal(value: Any, new: Decimal) -> decimal.Decimal | None:
    """HALF_UP to the scale; None when the precision does not hold it."""
    context = decimal.Context(prec=100, rounding=decimal.ROUND_HALF_UP)
    exact = (
        decimal.Decimal(repr(value))
        if isinstance(value, float)
        else decimal.Decimal(int(value) if isinstance(value, bool) else value)
    )
    if not exact.is_finite():
        return None
    out = exact.quantize(decimal.Decimal(1).scaleb(-new.scale), context=context)
    return out if len(out.as_tuple().digits) <= new.precision or out == 0 else None


def _each(column: pa.Array, old: DataType, new: DataType, convert: Callable[[Any], Any]) -> pa.Array:
    values = [None if v is None else convert(v) for v in column.to_pylist()]
    return pa.array(values, arrow_type(new))


def _to_text(column: pa.Array, old: DataType, new: DataType) -> pa.Array:
    if old.root in _CHARS:
        text = column
    elif old.root in _INTEGERS:
        text = column.cast(pa.string())
    else:
        text = pa.array([cast_to_string(old, from_scalar(old, s)) if s.is_valid else None for s in column], pa.string())
    length = new.length if isinstance(new, Char | VarChar) else 0
    if length < 1 << 30:
        text = pc.utf8_slice_codeunits(text, 0, length)
    return pc.utf8_rpad(text, length, " ") if isinstance(new, Char) else text


def _from_text(column: pa.Array, new: DataType) -> pa.Array:
    target = new.root
    if target in ("BINARY", "VARBINARY"):
        return column.cast(pa.binary())
    return pa.array([None if v is None else _parsed(v, new) for v in column.to_pylist()], arrow_type(new))


_TRUE, _FALSE = frozenset(["t", "true", "y", "yes", "1"]), frozenset(["f", "false", "n", "no", "0"])


def _parsed(text: str, new: DataType) -> Any:
    """One value from text, as Java's BinaryStringUtils reads it. Raises `ValueError`."""
    text = text.strip()
    match new:
        case Decimal():
            return _decimal(decimal.Decimal(text), new)
        case Timestamp() | LocalZonedTimestamp():
            return _instant(text, new)
        case Time():
            parts = dt.time.fromisoformat(text)
            return (parts.hour * 3600 + parts.minute * 60 + parts.second) * 1000 + parts.microsecond // 1000
    if new.root == "BOOLEAN":
        if text.lower() in _TRUE:
            return True
        if text.lower() in _FALSE:
            return False
        raise ValueError(f"{text!r} is no boolean")
    if new.root == "DATE":
        return dt.date.fromisoformat(text[:10])
    if new.root in _INTEGERS:
        value = int(decimal.Decimal(text))
        if _wrap(value, new.root) != value:
            raise ValueError(f"{text!r} is out of range")
        return value
    return float(text)


def _instant(text: str, new: DataType) -> int:
    unit = arrow_type(new).unit
    head, _, fraction = text.replace("T", " ").removesuffix("Z").partition(".")
    if len(head) == 10:
        head += " 00:00:00"
    base = dt.datetime.fromisoformat(head)
    delta = base - dt.datetime(1970, 1, 1)
    seconds = delta.days * 86_400 + delta.seconds
    digits = {"ms": 3, "us": 6, "ns": 9}[unit]
    return int(seconds * 10**digits + int((fraction or "0").ljust(digits, "0")[:digits]))


def _time(column: pa.Array, old: DataType, new: DataType) -> pa.Array:
    """Between times, and between times and numbers (seconds since the epoch)."""
    source, target = old.root, new.root
    wanted = arrow_type(new)
    if source in _STAMPS and target in _STAMPS:
        # LTZ and TIMESTAMP meet in the process's own zone, as in Java.
        moved = _shift(column, old, new) if source != target else column
        return _rescale(moved, wanted)
    if source in _STAMPS and target == "DATE":
        return _local(column, old).cast(pa.date32(), safe=False)
    if source in _STAMPS and isinstance(new, Time):
        millis = _count(_local(column, old), "ms")
        return pa.array([None if v is None else v % 86_400_000 for v in millis.to_pylist()], pa.int32()).cast(wanted)
    if source == "DATE" and target in _STAMPS:
        stamps = column.cast(pa.timestamp("ms"))
        return _rescale(stamps if target == "TIMESTAMP" else _to_instant(stamps), wanted)
    if source in _STAMPS and target in (*_INTEGERS, *_FLOATS):
        seconds = [None if v is None else v // 1000 for v in _count(column, "ms").to_pylist()]
        return pa.array(seconds, pa.int64()).cast(wanted, safe=False)
    if source in _INTEGERS and target in _STAMPS:
        millis = pc.multiply(column.cast(pa.int64()), 1000)
        return _rescale(millis.cast(pa.timestamp("ms")), wanted)
    if isinstance(old, Time) and target == "TIME":
        return column
    if isinstance(old, Time) and target in _STAMPS:
        return _rescale(column.cast(pa.int32()).cast(pa.int64()).cast(pa.timestamp("ms")), wanted)
    raise ReadError(f"a stored {old.bare()} cannot be read as {new.bare()}", hint="ALTER the column back")


def _count(column: pa.Array, unit: str) -> pa.Array:
    """Units since the epoch, towards minus infinity."""
    per = {"ms": 1, "us": 1000, "ns": 1_000_000}[column.type.unit]
    values = column.cast(pa.int64())
    if per == 1:
        return values
    floors = values.to_numpy(zero_copy_only=False)
    mask = column.is_null().to_numpy(zero_copy_only=False)
    whole = np.floor_divide(np.nan_to_num(floors).astype(np.int64) if mask.any() else floors, per)
    return pa.array(whole, pa.int64(), mask=mask)


def _rescale(column: pa.Array, wanted: pa.DataType) -> pa.Array:
    order = {"ms": 0, "us": 1, "ns": 2}
    if order[column.type.unit] > order[wanted.unit]:
        factor = 1000 ** (order[column.type.unit] - order[wanted.unit])
        values = column.cast(pa.int64())
        mask = column.is_null().to_numpy(zero_copy_only=False)
        plain = pc.fill_null(values, 0).to_numpy(zero_copy_only=False)
        return pa.array(np.floor_divide(plain, factor), pa.int64(), mask=mask).cast(wanted)
    return column.cast(pa.timestamp(column.type.unit)).cast(pa.timestamp(wanted.unit)).cast(pa.int64()).cast(wanted)


def _local(column: pa.Array, t: DataType) -> pa.Array:
    """Wall time of an instant in the process's zone; wall time stays as it is."""
    return _shift(column, t, Timestamp(t.precision)) if isinstance(t, LocalZonedTimestamp) else column


def _shift(column: pa.Array, old: DataType, new: DataType) -> pa.Array:
    zone = dt.datetime.now().astimezone().tzname()
    if zone == "UTC":
        return column.cast(pa.int64()).cast(pa.timestamp(column.type.unit))
    unit = column.type.unit
    per = {"ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}[unit]
    out = []
    for value in column.cast(pa.int64()).to_pylist():
        if value is None:
            out.append(None)
            continue
        seconds = value // per
        wall = dt.datetime(1970, 1, 1) + dt.timedelta(seconds=seconds)
        if isinstance(old, LocalZonedTimestamp):
            offset = wall.replace(tzinfo=dt.UTC).astimezone().utcoffset()
            out.append(value + int(offset.total_seconds() if offset else 0) * per)
        else:
            offset = wall.astimezone().utcoffset()
            out.append(value - int(offset.total_seconds() if offset else 0) * per)
    return pa.array(out, pa.int64()).cast(pa.timestamp(unit))


def _to_instant(column: pa.Array) -> pa.Array:
    return _shift(column, Timestamp(3), LocalZonedTimestamp(3))


def cast_text(text: str, t: DataType) -> pa.Scalar:
    """A default value's text as a value of its column. Raises `SchemaMismatch`."""
    try:
        if t.root in ("ARRAY", "MAP", "ROW", "MULTISET"):
            import json

            return to_scalar(t, from_python(t, json.loads(text)))
        return cast_column(pa.array([text]), VarChar(), t)[0]
    except (ReadError, ValueError) as error:
        raise SchemaMismatch(f"default {text!r} is no {t.bare()}", hint=str(error).partition("\n")[0]) from None
