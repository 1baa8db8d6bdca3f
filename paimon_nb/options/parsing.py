"""Parses option values: sizes, durations, booleans, numbers, maps. Accepts exactly what Java Paimon accepts.

Accepted values may be stored in a schema file, and a value that Java cannot parse makes the table unreadable for it.
Source: Paimon's MemorySize, TimeUtils, OptionsUtils and StructuredOptionsSplitter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

INT_MAX = (1 << 31) - 1
LONG_MAX = (1 << 63) - 1
INFINITE = LONG_MAX
"""'No limit', which Paimon prints as 'infinite'; a default, never a text that can be set."""

_UNITS_BYTES = {
    "": 1, "b": 1, "bytes": 1, "k": 1 << 10, "kb": 1 << 10, "kibibytes": 1 << 10, "m": 1 << 20, "mb": 1 << 20,
    "mebibytes": 1 << 20, "g": 1 << 30, "gb": 1 << 30, "gibibytes": 1 << 30, "t": 1 << 40, "tb": 1 << 40,
    "tebibytes": 1 << 40,
}  # fmt: skip
_UNITS_NS = {
    "ns": 1, "nano": 1, "nanos": 1, "nanosecond": 1, "nanoseconds": 1,
    "µs": 1_000, "micro": 1_000, "micros": 1_000, "microsecond": 1_000, "microseconds": 1_000,
    "": 10**6, "ms": 10**6, "milli": 10**6, "millis": 10**6, "millisecond": 10**6, "milliseconds": 10**6,
    "s": 10**9, "sec": 10**9, "secs": 10**9, "second": 10**9, "seconds": 10**9,
    "m": 60 * 10**9, "min": 60 * 10**9, "minute": 60 * 10**9, "minutes": 60 * 10**9,
    "h": 3600 * 10**9, "hour": 3600 * 10**9, "hours": 3600 * 10**9,
    "d": 86400 * 10**9, "day": 86400 * 10**9, "days": 86400 * 10**9,
}  # fmt: skip
_JAVA_BLANKS = "".join(map(chr, range(33)))
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|NaN|Infinity)[fFdD]?", re.ASCII)


def _parse_with_unit(value: str, units: Mapping[str, int], kind: str, example: str) -> int:
    """digits, then a unit; returns the value in the smallest unit of `units`."""
    trimmed = value.strip(_JAVA_BLANKS)
    digits = re.match(r"[0-9]*", trimmed)
    number = digits[0] if digits else ""
    unit = trimmed[len(number) :].strip(_JAVA_BLANKS).lower()
    if not number:
        raise ValueError(f"it is not a {kind} such as {example}")
    if unit not in units:
        raise ValueError(f"{unit!r} is not a unit; the units are {', '.join(u for u in units if u)}")
    if int(number) > LONG_MAX:
        raise ValueError("it is too large for 64 bits")
    return int(number) * units[unit]


def parse_names(text: str | None) -> tuple[str, ...]:
    """'a, b' -> ('a', 'b'); blanks around names and empty names are ignored."""
    return tuple(p.strip() for p in (text or "").split(",") if p.strip())


def parse_memory(value: str) -> int:
    """'128 mb' -> bytes; a plain number is bytes. Units are powers of 1024, in any case."""
    size = _parse_with_unit(value, _UNITS_BYTES, "size", "'128 mb'")
    if size > LONG_MAX:
        raise ValueError("it is too large for 64 bits")
    return size


def parse_duration_ms(value: str) -> int:
    """'1 h' -> milliseconds; a plain number is milliseconds. Finer units are truncated to whole milliseconds."""
    ms = _parse_with_unit(value, _UNITS_NS, "time span", "'1 h'") // 10**6
    if ms > LONG_MAX:
        raise ValueError("it is too large for 64 bits")
    return ms


def parse_bool(value: str) -> bool:
    """'true' or 'false' in any case."""
    match value.lower():
        case "true":
            return True
        case "false":
            return False
    raise ValueError("it is neither true nor false")


def _parse_integer(value: str, bits: int) -> int:
    if not re.fullmatch(r"[+-]?\d+", value):
        raise ValueError("it is not a whole number")
    number, limit = int(value), 1 << (bits - 1)
    if not -limit <= number < limit:
        raise ValueError(f"it does not fit {bits} bits")
    return number


def parse_int(value: str) -> int:
    """A number of 32 bits, without blanks around it."""
    return _parse_integer(value, 32)


def parse_long(value: str) -> int:
    """A number of 64 bits, without blanks around it."""
    return _parse_integer(value, 64)


def parse_float(value: str) -> float:
    trimmed = value.strip(_JAVA_BLANKS)
    if not _NUMBER.fullmatch(trimmed):
        raise ValueError("it is not a number")
    return float(trimmed.rstrip("fFdD"))


def parse_map(value: str) -> dict[str, str]:
    """'0:avro,3:parquet' -> {'0': 'avro', '3': 'parquet'}; quotes of either kind protect ',' and ':'."""
    out: dict[str, str] = {}
    for item in _split_unquoted(value, ","):
        pair = _split_unquoted(item, ":")
        if len(pair) != 2:
            raise ValueError(f"{item!r} is not a pair 'key:value'")
        key, text = pair
        if key in out:
            raise ValueError(f"{key!r} occurs twice")
        out[key] = text
    return out


def _split_unquoted(value: str, delimiter: str) -> list[str]:
    """The parts between delimiters; empty parts count between two delimiters only, as in Java."""
    parts: list[str] = []
    previous_kind = ""
    for kind, text in _quoted_tokens(value, delimiter):
        if kind == "delimiter":
            if previous_kind == "delimiter":
                parts.append("")
        elif previous_kind == "quoted" or (kind == "quoted" and previous_kind == "plain"):
            raise ValueError("quotes must enclose a whole part")
        else:
            parts.append(text)
        previous_kind = kind
    return parts


def _quoted_tokens(value: str, delimiter: str) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(value):
        char = value[position]
        if char in "'\"":
            quoted = re.compile(f"{char}((?:[^{char}]|{char}{char})*){char}(?!{char})").match(value, position)
            if not quoted:
                raise ValueError("a quote is not closed")
            yield "quoted", quoted[1].replace(char * 2, char)
            position = quoted.end()
        elif char == delimiter:
            yield "delimiter", char
            position += 1
        elif char.isspace():
            position += 1
        else:
            end = value.find(delimiter, position)
            end = len(value) if end < 0 else end
            yield "plain", value[position:end].strip(_JAVA_BLANKS)
            position = end
