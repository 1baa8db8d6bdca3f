"""Parses values from text like Java's casts: the same texts are accepted and rejected. Knows no columns.

Source: Paimon `BinaryStringUtils.java`, `DateTimeUtils.java`, `StringTo{Array,Map,Row}CastRule.java`. Results are
values that Arrow accepts: days, milliseconds of the day, units since the epoch, lists, pairs, dicts.
"""

from __future__ import annotations

import calendar
import decimal
import re
from typing import Any

from paimon_nb.format.row.binary_row import Instant, units_of_instant
from paimon_nb.format.types import (
    Array,
    DataType,
    Decimal,
    LocalZonedTimestamp,
    Map,
    Row,
    Time,
    Timestamp,
    arrow_type,
)

_TRUE, _FALSE = frozenset(["t", "true", "y", "yes", "1"]), frozenset(["f", "false", "n", "no", "0"])
_BITS = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}
_INTEGER = re.compile(r"([+-]?)([0-9]*)(\.[0-9]*)?")
_DECIMAL_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?")
_HEX_FLOAT = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+[fFdD]?")
_WORD_FLOAT = re.compile(r"([+-]?)(NaN|Infinity)")
_JAVA_BLANKS = "".join(map(chr, range(33)))
_DIGITS = re.compile(r"-?[0-9]+")
_TIMESTAMP = re.compile(
    r"(\d{4}|\+\d{5,9})-(\d{1,2})-(\d{1,2})(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{0,9}))?)?", re.ASCII
)
_DAY_MS = 86_400_000
_HALF_UP = decimal.Context(prec=100, rounding=decimal.ROUND_HALF_UP)


def parse_as_java(text: str, new: DataType) -> Any:
    """Parse one value. Raises `ValueError` for text that Java rejects, and for invalid times of day."""
    match new:
        case Timestamp() | LocalZonedTimestamp():
            return units_of_instant(_parse_timestamp(text, new), arrow_type(new).unit)
        case Time():
            ms = int(text) if _DIGITS.fullmatch(text) else parse_time_ms(text)
            if not 0 <= ms < _DAY_MS:
                raise ValueError(f"{text!r} is not a time of day")
            return ms
        case Array():
            return [
                _parse_element(part, new.element)
                for part in _split_at_commas(_text_inside_brackets(text, "[]", "ARRAY"))
            ]
        case Map():
            return _parse_map_entries(text, new)
        case Row():
            return _parse_row(text, new)
        case Decimal():
            return _cast_to_decimal_as_java(text, new)
    match new.root:
        case "BOOLEAN":
            return _cast_to_boolean_as_java(text)
        case "DATE":
            return _cast_to_integer_as_java(text, "INT") if _DIGITS.fullmatch(text) else parse_date_days(text)
        case "TINYINT" | "SMALLINT" | "INT" | "BIGINT":
            return _cast_to_integer_as_java(text, new.root)
        case "FLOAT" | "DOUBLE":
            return _cast_to_float_as_java(text)
        case "CHAR" | "VARCHAR":
            return text
        case "BINARY" | "VARBINARY":
            return text.encode()
    raise ValueError(f"a string cannot be cast to {new.bare()}")


def _cast_to_boolean_as_java(text: str) -> bool:
    word = text.lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise ValueError(f"{text!r} is not a boolean")


def _cast_to_integer_as_java(text: str, root: str) -> int:
    found = _INTEGER.fullmatch(text)
    if not found or not (found[2] or found[3]):
        raise ValueError(f"{text!r} is not an integer")
    value = int((found[1] + found[2]) if found[2] else "0")
    limit = 1 << _BITS[root]
    if not -limit <= value < limit:
        raise ValueError(f"{text!r} is out of range")
    return value


def _cast_to_float_as_java(text: str) -> float:
    text = text.strip(_JAVA_BLANKS)
    if word := _WORD_FLOAT.fullmatch(text):
        return float(word[1] + {"NaN": "nan", "Infinity": "inf"}[word[2]])
    if _HEX_FLOAT.fullmatch(text):
        return float.fromhex(text.rstrip("fFdD") if text[-1] in "fFdD" else text)
    if _DECIMAL_FLOAT.fullmatch(text):
        return float(text.rstrip("fFdD"))
    raise ValueError(f"{text!r} is not a number")


def _cast_to_decimal_as_java(text: str, new: Decimal) -> decimal.Decimal | None:
    # Python allows blanks and underscores, Java's BigDecimal does not.
    if text != text.strip() or "_" in text:
        raise ValueError(f"{text!r} is not a number")
    return to_decimal(decimal.Decimal(text), new)


def to_decimal(value: decimal.Decimal | int | float, new: Decimal) -> decimal.Decimal | None:
    """Round HALF_UP to the scale; None if it exceeds the precision. Raises `ValueError` for NaN and infinity."""
    exact = decimal.Decimal(repr(value) if isinstance(value, float) else value)
    if not exact.is_finite():
        raise ValueError(f"{value} is not a decimal")
    if exact.adjusted() > 60:
        return None
    out = exact.quantize(decimal.Decimal(1).scaleb(-new.scale), context=_HALF_UP)
    return out if not out or out.adjusted() + new.scale < new.precision else None


# -- dates and times


def parse_date_days(text: str) -> int:
    """Java's parseDate: `y`, `y-m` or `y-m-d` with blanks around each, and anything after a blank ignored."""
    if (blank := text.find(" ")) > 0:
        text = text[:blank]
    parts = [_parse_time_part(p) for p in text.split("-", 2)]
    year, month, day = (*parts, 1, 1)[:3]
    if year > 9999 or not 1 <= month <= 12 or not 1 <= day <= _month_days(year, month):
        raise ValueError(f"{text!r} is not a date")
    return days_since_epoch(year, month, day)


def days_since_epoch(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the proleptic Gregorian calendar."""
    shifted = year - (month <= 2)
    era, of_era = divmod(shifted, 400)
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + day_of_year - 719_468


def parse_time_ms(text: str) -> int:
    """Java's parseTime: `h`, `h:m` or `h:m:s.f`, followed by an optional offset, which is added or subtracted."""
    sign, at = -1, text.find("-")
    if at < 0:
        sign, at = 1, text.find("+")
    offset_hours = offset_minutes = 0
    if at >= 0:
        hours, colon, minutes = text[at + 1 :].partition(":")
        offset_hours, offset_minutes = _parse_time_part(hours), _parse_time_part(minutes) if colon else 0
        text = text[:at]
    parts = text.split(":", 2)
    hour, minute = _parse_time_part(parts[0]), _parse_time_part(parts[1]) if len(parts) > 1 else 0
    second, ms = 0, 0
    if len(parts) > 2:
        whole, _, fraction = parts[2].partition(".")
        second, ms = _parse_time_part(whole), _java_fraction_ms(fraction.strip())
    hour, minute = hour + sign * offset_hours, minute + sign * offset_minutes
    return (hour * 60 + minute) * 60_000 + second * 1000 + ms


def _java_fraction_ms(fraction: str) -> int:
    digits = [int(c) if c in "0123456789" else 0 for c in fraction[:3]]
    ms = sum(d * m for d, m in zip(digits, (100, 10, 1), strict=False))
    return ms + (len(fraction) > 3 and fraction[3] >= "5")


def _parse_time_part(text: str) -> int:
    text = text.strip(_JAVA_BLANKS)
    if not text.isascii() or not text.isdecimal():
        raise ValueError(f"{text!r} is not a number")
    return int(text)


def _month_days(year: int, month: int) -> int:
    return 29 if month == 2 and calendar.isleap(year) else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


def _parse_timestamp(text: str, new: Timestamp | LocalZonedTimestamp) -> Instant:
    if isinstance(new, Timestamp) and _DIGITS.fullmatch(text):
        return _instant_of_number(_cast_to_integer_as_java(text, "BIGINT"), new.precision)
    found = _TIMESTAMP.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is not a timestamp")
    year, month, day = int(found[1]), int(found[2]), int(found[3])
    hour, minute, second = (int(found[i] or 0) for i in (4, 5, 6))
    midnight = hour == 24 and not minute and not second and not int(found[7] or 0)
    if year < 1 or not 1 <= month <= 12 or not 1 <= day <= 31 or minute > 59 or second > 59 or hour > 23 + midnight:
        raise ValueError(f"{text!r} is not a timestamp")
    day = min(day, _month_days(year, month))  # as Java's formatter: the 31st of April is the 30th, 24:00 the next day
    nanos = int((found[7] or "").ljust(9, "0"))
    nanos -= nanos % 10 ** (9 - new.precision)
    seconds = days_since_epoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
    if isinstance(new, LocalZonedTimestamp):
        from paimon_nb.format.data.cast_time import wall_to_instant

        seconds = wall_to_instant(seconds)
    return Instant(seconds * 1000 + nanos // 1_000_000, nanos % 1_000_000)


def _instant_of_number(epoch: int, precision: int) -> Instant:
    """A number is in units of the precision, for the four precisions that Java supports."""
    match precision:
        case 0:
            return Instant(epoch * 1000, 0)
        case 3:
            return Instant(epoch, 0)
        case 6:
            return Instant(epoch // 1000, epoch % 1000 * 1000)
        case 9:
            return Instant(epoch // 1_000_000, epoch % 1_000_000)
    raise ValueError(f"a number is not a TIMESTAMP({precision})")


# -- constructed types


def _text_inside_brackets(text: str, brackets: str, word: str) -> str:
    """The text between the brackets, or in `WORD(...)`."""
    text = text.strip()
    function = re.fullmatch(rf"{word}\s*\((.*)\)", text, re.IGNORECASE)
    if function:
        return function[1].strip()
    if len(text) >= 2 and text[0] == brackets[0] and text[-1] == brackets[1]:
        return text[1:-1].strip()
    raise ValueError(f"{text!r} is not a {word}")


def _split_at_commas(content: str, *, unquote: bool = False) -> list[str]:
    """Split at commas outside of quotes and brackets. unquote: leave out double quotes, and escapes with what they escape, as Java's
    cast to MAP does from release 2.0."""
    out: list[str] = []
    current: list[str] = []
    depth, quoted, escaped = 0, False, False
    for c in content:
        was_escaped = escaped
        if escaped:
            escaped = False
        elif c == "\\":
            escaped = True
        elif c == '"':
            quoted = not quoted
        elif not quoted:
            if c in "[{(":
                depth += 1
            elif c in "]})" and depth:
                depth -= 1
            elif c == "," and not depth:
                out.append("".join(current))
                current = []
                continue
        if not (unquote and (was_escaped or c in '\\"')):
            current.append(c)
    out.append("".join(current))
    return [part for part in out if part]


def _parse_element(text: str, t: DataType) -> Any:
    text = text.strip()
    return None if text == "null" else parse_as_java(text, t)


def _parse_map_entries(text: str, t: Map) -> list[tuple[Any, Any]] | None:
    if text.strip().upper() == "NULL":
        return None
    if re.fullmatch(r"\s*MAP\s*\(.*\)\s*", text, re.IGNORECASE | re.DOTALL):
        flat = _split_at_commas(_text_inside_brackets(text, "{}", "MAP"), unquote=True)
        if len(flat) % 2:
            raise ValueError(f"{text!r} has a key without a value")
        return [
            (_parse_element(k, t.key), _parse_element(v, t.value)) for k, v in zip(flat[::2], flat[1::2], strict=True)
        ]
    out: dict[Any, Any] = {}
    for entry in _split_at_commas(_text_inside_brackets(text, "{}", "MAP"), unquote=True):
        found = re.fullmatch(r"(.+?)\s*->\s*(.+)", entry)
        if not found:
            raise ValueError(f"{entry!r} is not a map entry")
        out[_parse_element(found[1], t.key)] = _parse_element(found[2], t.value)
    return list(out.items())


def _parse_row(text: str, t: Row) -> dict[str, Any]:
    parts = _split_at_commas(_text_inside_brackets(text, "{}", "STRUCT"))
    if not parts:
        return dict.fromkeys(f.name for f in t.fields)
    if len(parts) != len(t.fields):
        raise ValueError(f"{text!r} has {len(parts)} fields, not {len(t.fields)}")
    return {f.name: _parse_element(part, f.type) for f, part in zip(t.fields, parts, strict=True)}
