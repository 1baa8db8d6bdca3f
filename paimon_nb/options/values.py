"""The texts of option values: sizes, time spans, booleans, maps. Grammar: Paimon's MemorySize and TimeUtils."""

from __future__ import annotations

import re

_UNITS_BYTES = {
    "": 1, "b": 1, "bytes": 1, "k": 1 << 10, "kb": 1 << 10, "kibibytes": 1 << 10, "m": 1 << 20, "mb": 1 << 20,
    "mebibytes": 1 << 20, "g": 1 << 30, "gb": 1 << 30, "gibibytes": 1 << 30, "t": 1 << 40, "tb": 1 << 40,
    "tebibytes": 1 << 40,
}  # fmt: skip
_UNITS_MS = {
    "ns": 1e-6, "nano": 1e-6, "nanos": 1e-6, "nanosecond": 1e-6, "nanoseconds": 1e-6, "µs": 1e-3, "micro": 1e-3,
    "micros": 1e-3, "microsecond": 1e-3, "microseconds": 1e-3, "": 1, "ms": 1, "milli": 1, "millis": 1, "millisecond": 1,
    "milliseconds": 1, "s": 1000, "sec": 1000, "secs": 1000, "second": 1000, "seconds": 1000, "m": 60_000, "min": 60_000,
    "minute": 60_000, "minutes": 60_000, "h": 3_600_000, "hour": 3_600_000, "hours": 3_600_000, "d": 86_400_000,
    "day": 86_400_000, "days": 86_400_000,
}  # fmt: skip
_AMOUNT = re.compile(r"\s*(\d+)\s*([a-zA-Zµ]*)\s*")
INFINITE = (1 << 63) - 1


def _amount(value: str, units: dict[str, float], what: str) -> int:
    match = _AMOUNT.fullmatch(value)
    if not match:
        raise ValueError(f"it is no {what}")
    unit = units.get(match[2].lower())
    if unit is None:
        raise ValueError(f"{match[2]!r} is no unit of {what}")
    return int(int(match[1]) * unit)


def parse_memory(value: str) -> int:
    """'128 mb' -> bytes; a plain number is bytes; 'infinite' is allowed."""
    if value.strip().lower() == "infinite":
        return INFINITE
    return _amount(value, _UNITS_BYTES, "size")


def parse_duration_ms(value: str) -> int:
    """'1 h' -> milliseconds; a plain number is milliseconds. ISO 8601 (PT1H) is accepted."""
    iso = re.fullmatch(r"(?i)\s*P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?\s*", value)
    if iso and any(iso.groups()):
        days, hours, minutes, seconds = (int(g or 0) for g in iso.groups())
        return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000
    return _amount(value, _UNITS_MS, "time span")


def parse_bool(value: str) -> bool:
    match value.strip().lower():
        case "true":
            return True
        case "false":
            return False
    raise ValueError("it is neither true nor false")


def parse_int(value: str) -> int:
    if not re.fullmatch(r"\s*[+-]?\d+\s*", value):
        if value.strip().lower() == "infinite":
            return INFINITE
        raise ValueError("it is no whole number")
    return int(value)


def parse_float(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ValueError("it is no number") from None


def parse_map(value: str) -> dict[str, str]:
    """'0:avro,3:parquet' -> {'0': 'avro', '3': 'parquet'}."""
    out: dict[str, str] = {}
    for part in value.split(","):
        if not part.strip():
            continue
        key, colon, rest = part.partition(":")
        if not colon:
            raise ValueError(f"{part!r} has no ':'")
        out[key.strip()] = rest.strip()
    return out
