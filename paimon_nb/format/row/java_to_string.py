"""Formats values like Java: `toString` of the internal objects, and Paimon's CAST to STRING. Knows no files.

Directory names, `$files` statistics and casts contain these texts, so they are part of the format.
Source: `java.lang.Double`, `java.time.LocalDateTime`, Paimon `Timestamp`, `Decimal`, `casting/*ToStringCastRule`, `DateTimeUtils`.
"""

from __future__ import annotations

import datetime as dt
from functools import lru_cache
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.row.binary_row import Instant, Value
from paimon_nb.format.row.java_float import double_text, float_text
from paimon_nb.format.types import Array, DataType, LocalZonedTimestamp, Map, Multiset, Row, Time, Timestamp

if TYPE_CHECKING:
    import decimal
    from collections.abc import Callable

_MS_PER_DAY = 86_400_000
_DAYS_0000_TO_1970 = 719528
_TWO = [f"{number:02d}" for number in range(60)]


def java_to_string(t: DataType, value: Value) -> str:
    """`String.valueOf` of Paimon's internal object, as in legacy partition names and `$files` statistics.

    DATE and TIME are plain numbers here. Raises: UnsupportedFormat: Java's text would be an object address
    (binary and constructed types).
    """
    return "null" if value is None else java_text_maker(t)(value)


def java_text_maker(t: DataType) -> Callable[[Value], str]:
    """`java_to_string` for many values of a type, none of them None. Raises UnsupportedFormat as it does."""
    if made := _JAVA_TEXTS.get(t.root):
        return made
    raise UnsupportedFormat(
        f"a value of type {t} has no stable text in Java", hint="use another column", feature=f"text of {t}"
    )


def cast_to_string(t: DataType, value: Value, zone: dt.tzinfo | None = None) -> str | None:
    """Paimon's CAST(value AS STRING).

    Args:
        zone: the session's time zone for TIMESTAMP_LTZ; None: this process's zone, as in Java.
    """
    return None if value is None else _cast_to_text(t, value, zone)


def _cast_to_text(t: DataType, value: Value, zone: dt.tzinfo | None) -> str:
    match t:
        case Timestamp():
            return timestamp_text(value, t.precision)
        case LocalZonedTimestamp():
            return timestamp_text(local_time_at_zone(value, zone), t.precision)
        case Time():
            return time_text(value, t.precision)
        case Array():
            return "[" + ", ".join(_element_to_text(t.element, zone)(item) for item in value) + "]"
        case Map():
            key, item = _element_to_text(t.key, zone), _element_to_text(t.value, zone)
            return "{" + ", ".join(f"{key(k)} -> {item(v)}" for k, v in value) + "}"
        case Multiset():
            key = _element_to_text(t.element, zone)
            return "{" + ", ".join(f"{key(k)} -> {n}" for k, n in value) + "}"
        case Row():
            cells = zip(t.fields, value, strict=True)
            return "{" + ", ".join(_element_to_text(f.type, zone)(cell) for f, cell in cells) + "}"
    if t.root == "DATE":
        return date_text(value)
    if t.root in ("BINARY", "VARBINARY", "BLOB", "GEOMETRY", "GEOGRAPHY"):
        return bytes(value).decode("utf-8", "replace")
    return java_to_string(t, value)


def _element_to_text(t: DataType, zone: dt.tzinfo | None) -> Callable[[Value], str]:
    return lambda value: "null" if value is None else _cast_to_text(t, value, zone)


def plain_decimal_text(value: decimal.Decimal) -> str:
    """BigDecimal.toPlainString: all digits of the scale, no exponent, and no minus before zero."""
    return format(abs(value) if value == 0 else value, "f")


def date_text(days: int) -> str:
    """DateTimeUtils.formatDate: yyyy-MM-dd. Years are truncated to four digits, as in Java."""
    year, month, day = year_month_day(days)
    return f"{year % 10000:04d}-{month:02d}-{day:02d}"


def time_text(ms: int, precision: int) -> str:
    """DateTimeUtils.formatTimestampMillis: HH:mm:ss, then up to `precision` digits, at least one when precision > 0."""
    ms %= _MS_PER_DAY
    text = f"{ms // 3_600_000:02d}:{ms // 60_000 % 60:02d}:{ms // 1000 % 60:02d}"
    if precision <= 0:
        return text
    digits = f"{ms % 1000:03d}".rstrip("0") or "0"
    return f"{text}.{digits[:precision]}"


def timestamp_text(value: Instant, precision: int) -> str:
    """DateTimeUtils.formatTimestamp: `yyyy-MM-dd HH:mm:ss.f` with at least `precision` digits, more if they are not
    zero.
    """
    year, month, day, ms = _date_and_time_parts(value)
    fraction = f"{ms % 1000 * 1_000_000 + value.nanos:09d}"
    while len(fraction) > precision and fraction.endswith("0"):
        fraction = fraction[:-1]
    clock = f"{ms // 3_600_000:02d}:{ms // 60_000 % 60:02d}:{ms // 1000 % 60:02d}"
    return f"{year % 10000:04d}-{month:02d}-{day:02d} {clock}" + (f".{fraction}" if fraction else "")


def local_date_time_text(value: Instant) -> str:
    """LocalDateTime.toString: seconds only if not zero, a fraction of 3, 6 or 9 digits, `+` before years after 9999."""
    ms, nanos = value
    days, ms = divmod(ms, _MS_PER_DAY)
    nanos += ms % 1000 * 1_000_000
    minutes, second = divmod(ms // 1000, 60)
    hour, minute = divmod(minutes, 60)
    text = f"{_local_date_text(days)}T{_TWO[hour]}:{_TWO[minute]}"
    if not nanos:
        return f"{text}:{_TWO[second]}" if second else text
    digits = f"{nanos:09d}"
    return (
        f"{text}:{_TWO[second]}.{digits[:3] if nanos % 1_000_000 == 0 else digits[:6] if nanos % 1000 == 0 else digits}"
    )


def local_time_at_zone(value: Instant, zone: dt.tzinfo | None) -> Instant:
    """The local time of an instant in `zone` (None: this process's zone), as an Instant without zone."""
    clamped = _clamped_datetime(value)
    offset = (clamped.astimezone() if zone is None else clamped.astimezone(zone)).utcoffset()
    seconds = 0 if offset is None else offset.days * 86400 + offset.seconds
    return Instant(value.ms + seconds * 1000, value.nanos)


def _clamped_datetime(value: Instant) -> dt.datetime:
    # Python's datetime supports the years 1 to 9999; the zone's first and last rule apply beyond.
    seconds = min(max(value.ms // 1000, -62_135_510_400), 253_402_214_400)
    return dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=seconds)


def _date_and_time_parts(value: Instant) -> tuple[int, int, int, int]:
    days, ms = divmod(value.ms, _MS_PER_DAY)
    return *year_month_day(days), ms


@lru_cache(maxsize=1024)
def _local_date_text(days: int) -> str:
    """LocalDate.toString."""
    year, month, day = year_month_day(days)
    years = f"+{year}" if year > 9999 else f"{year:04d}" if year >= 0 else f"-{-year:04d}"
    return f"{years}-{month:02d}-{day:02d}"


def year_month_day(days: int) -> tuple[int, int, int]:
    """Year, month and day of the proleptic Gregorian calendar, for any number of days since 1970-01-01."""
    era, day_of_era = divmod(days + _DAYS_0000_TO_1970 - 60, 146_097)  # days since 0000-03-01
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_from_march = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month_from_march + 2) // 5 + 1
    month = month_from_march + 3 if month_from_march < 10 else month_from_march - 9
    return year_of_era + era * 400 + (month <= 2), month, day


def _boolean_text(value: Value) -> str:
    return "true" if value else "false"


_JAVA_TEXTS: dict[str, Callable[[Value], str]] = {
    "BOOLEAN": _boolean_text, "FLOAT": float_text, "DOUBLE": double_text, "DECIMAL": plain_decimal_text,
    "TIMESTAMP": local_date_time_text, "TIMESTAMP_LTZ": local_date_time_text,
    **dict.fromkeys(("CHAR", "VARCHAR", "TINYINT", "SMALLINT", "INT", "BIGINT", "DATE", "TIME"), str),
}  # fmt: skip
