"""FLOAT and DOUBLE as Java's `toString` writes them. Knows nothing but numbers."""

from __future__ import annotations

import math

import numpy as np


def double_text(value: float) -> str:
    """Java's `Double.toString`."""
    return _java(value, repr(float(value)))


def float_text(value: float) -> str:
    """Java's `Float.toString` of the nearest 32-bit number."""
    with np.errstate(over="ignore"):
        single = np.float32(value)
    return _java(float(single), np.format_float_scientific(single, unique=True))


def _java(value: float, shortest: str) -> str:
    if math.isnan(value):
        return "NaN"
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if math.isinf(value):
        return f"{sign}Infinity"
    if value == 0:
        return f"{sign}0.0"
    digits, exponent = _digits(shortest)
    if 1e-3 <= abs(value) < 1e7:
        return sign + _plain(digits, exponent)
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent - 1}"


def _digits(text: str) -> tuple[str, int]:
    """Significant digits and the decimal exponent e of 0.digits * 10^e."""
    mantissa, _, power = text.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    exponent = len(whole) + int(power or 0) - (len(whole + fraction) - len(digits))
    return digits.rstrip("0"), exponent


def _plain(digits: str, exponent: int) -> str:
    if exponent <= 0:
        return "0." + "0" * -exponent + digits
    if len(digits) <= exponent:
        return digits + "0" * (exponent - len(digits)) + ".0"
    return f"{digits[:exponent]}.{digits[exponent:]}"
