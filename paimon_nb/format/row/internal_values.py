"""The Python values a row holds, and their way from and to Arrow; knows no byte layout.

| type | value |
|---|---|
| BOOLEAN | bool |
| TINYINT .. BIGINT | int |
| FLOAT, DOUBLE | float |
| CHAR, VARCHAR | str |
| BINARY, VARBINARY, BLOB | bytes |
| DECIMAL | decimal.Decimal with exactly the type's scale |
| DATE | int, days since 1970-01-01 |
| TIME | int, milliseconds of the day |
| TIMESTAMP, TIMESTAMP_LTZ | Instant |
| ARRAY | tuple of values |
| MAP, MULTISET | tuple of (key, value) pairs |
| ROW | tuple of values |
| VARIANT | VariantValue |
"""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any, NamedTuple

import pyarrow as pa

from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.format.types import Array, Atomic, DataType, Decimal, Map, Multiset, Row, Time, arrow_type
from paimon_nb.format.types.arrow_builders import scalar as scalar_of

Value = Any
"""One of the values in the table above, or None."""


class Instant(NamedTuple):
    """A moment as Java's `Timestamp` holds it."""

    ms: int
    """Milliseconds since 1970-01-01 00:00:00, negative before it."""
    nanos: int = 0
    """Nanoseconds within the millisecond, 0..999999."""


class VariantValue(NamedTuple):
    """A VARIANT: the encoded value and its metadata."""

    value: bytes
    metadata: bytes


_INT = Atomic("INT", False)
_EXACT = decimal.Context(prec=60, rounding=decimal.ROUND_HALF_UP)


def instant_of(value: int, unit: str) -> Instant:
    """The moment `value` units after the epoch; `unit` is Arrow's: 's', 'ms', 'us' or 'ns'."""
    if unit == "s":
        return Instant(value * 1000, 0)
    if unit == "ms":
        return Instant(value, 0)
    if unit == "us":
        return Instant(value // 1000, value % 1000 * 1000)
    return Instant(value // 1_000_000, value % 1_000_000)


def instant_to(instant: Instant, unit: str) -> int:
    """Units since the epoch, rounded towards the past."""
    if unit == "s":
        return instant.ms // 1000
    if unit == "ms":
        return instant.ms
    if unit == "us":
        return instant.ms * 1000 + instant.nanos // 1000
    return instant.ms * 1_000_000 + instant.nanos


def decimal_of(unscaled: int, scale: int) -> decimal.Decimal:
    """unscaled * 10^-scale, keeping the scale."""
    return decimal.Decimal(unscaled).scaleb(-scale, _EXACT)


def unscaled_of(value: decimal.Decimal | int | str, scale: int) -> int:
    """value * 10^scale, rounded half up as Java's `Decimal.fromBigDecimal`."""
    return int(decimal.Decimal(value).scaleb(scale, _EXACT).quantize(decimal.Decimal(1), context=_EXACT))


def from_scalar(t: DataType, scalar: pa.Scalar) -> Value:
    """The in-row value of an Arrow scalar of the type `arrow_type(t)` (or one that casts to it).

    Raises: SchemaMismatch: the scalar's type has no loss-free way to `t`.
    """
    if not scalar.is_valid:
        return None
    target = arrow_type(t)
    if scalar.type != target and not isinstance(t, Array | Map | Multiset | Row):
        try:
            scalar = scalar.cast(target)
        except pa.ArrowInvalid as error:
            raise SchemaMismatch(f"{scalar} does not fit {t}", hint="cast the value first", type=str(t)) from error
    match t:
        case Array():
            return tuple(from_scalar(t.element, item) for item in scalar.values)
        case Map():
            return _map_entries(t.key, t.value, scalar)
        case Multiset():
            return _map_entries(t.element, _INT, scalar)
        case Row():
            return tuple(from_scalar(f.type, scalar[i]) for i, f in enumerate(t.fields))
        case Decimal():
            return decimal.Decimal(scalar.as_py())
        case Time():
            return int(scalar.value)
    match t.root:
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return instant_of(int(scalar.value), scalar.type.unit)
        case "DATE":
            return int(scalar.value)
        case "VARIANT":
            return VariantValue(scalar["value"].as_py(), scalar["metadata"].as_py())
    return scalar.as_py()


def to_scalar(t: DataType, value: Value) -> pa.Scalar:
    """The Arrow scalar of type `arrow_type(t)` for an in-row value."""
    return scalar_of(to_arrow_value(t, value), arrow_type(t))


def to_arrow_value(t: DataType, value: Value) -> Any:
    """The Python object that `pa.scalar` and `pa.array` take for `value` with type `arrow_type(t)`."""
    if value is None:
        return None
    match t:
        case Array():
            return [to_arrow_value(t.element, item) for item in value]
        case Map():
            return [(to_arrow_value(t.key, k), to_arrow_value(t.value, v)) for k, v in pairs_of(value)]
        case Multiset():
            return [(to_arrow_value(t.element, k), v) for k, v in pairs_of(value)]
        case Row():
            return {f.name: to_arrow_value(f.type, v) for f, v in zip(t.fields, value, strict=True)}
        case Decimal():
            return decimal_of(unscaled_of(value, t.scale), t.scale)
    match t.root:
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return instant_to(Instant(*value), arrow_type(t).unit)
        case "VARIANT":
            return {"value": value[0], "metadata": value[1]}
    return value


def pairs_of(value: Any) -> tuple[tuple[Any, Any], ...]:
    """The pairs of a map value given as pairs or as a dict."""
    return tuple(value.items()) if isinstance(value, dict) else tuple(value)


def from_python(t: DataType, value: Any) -> Value:
    """The in-row value of an everyday Python object (date, datetime, time, Decimal, list, dict ...).

    A datetime without a zone is taken as UTC; with one it is converted.
    Raises: SchemaMismatch: the object does not fit `t`.
    """
    if value is None or (isinstance(value, Instant) and t.root.startswith("TIMESTAMP")):
        return value
    if isinstance(value, dt.datetime) and t.root.startswith("TIMESTAMP"):
        aware = value if value.tzinfo else value.replace(tzinfo=dt.UTC)
        delta = aware - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
        return instant_of((delta.days * 86400 + delta.seconds) * 1_000_000 + delta.microseconds, "us")
    try:
        return from_scalar(t, scalar_of(value, arrow_type(t)))
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError) as error:
        raise SchemaMismatch(f"{value!r} does not fit {t}", hint="cast the value first", type=str(t)) from error


def _map_entries(key: DataType, value: DataType, scalar: pa.MapScalar) -> tuple[tuple[Value, Value], ...]:
    entries = scalar.values
    return tuple(
        zip(
            (from_scalar(key, k) for k in entries.field(0)),
            (from_scalar(value, v) for v in entries.field(1)),
            strict=True,
        )
    )
