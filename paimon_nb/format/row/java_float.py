"""Formats FLOAT and DOUBLE like Java's `toString` up to release 18.

Those releases do not always find the shortest text (2.0E23 is printed as 1.9999999999999998E23); release 19 and later
do. Paimon runs on 8, 11 and 17, and directory names contain the text, so the old algorithm is implemented here step by
step.
Source: `jdk.internal.math.FloatingDecimal.BinaryToASCIIBuffer` (behaviour, by comparison with Java 17).
"""

from __future__ import annotations

import math
import struct

_FIVE_BITS = [0] + [(5**n).bit_length() for n in range(1, 27)]
_DOUBLE_FRACTION_BITS = 52
_SURE_LENGTH = 16
"""15 digits and the point."""
_HIDDEN = 1 << _DOUBLE_FRACTION_BITS


def double_text(value: float) -> str:
    """Java's `Double.toString`."""
    if 1e-3 <= value < 1e15:
        # A decimal of at most 15 digits is never halfway between two numbers here, so Java stops at the shortest text, too.
        text = repr(value)
        if len(text) <= _SURE_LENGTH:
            whole, _, fraction = text.partition(".")
            return text if len(whole) < 8 else _with_decimal_point((whole + fraction).rstrip("0"), len(whole))
    bits = int.from_bytes(struct.pack(">d", value), "big")
    return _java_text(value, bits >> 52 & 0x7FF, bits & (_HIDDEN - 1), 1023, _DOUBLE_FRACTION_BITS)


def float_text(value: float) -> str:
    """Java's `Float.toString` of the nearest 32-bit number."""
    try:
        raw = struct.pack(">f", value)
    except OverflowError:
        raw = struct.pack(">f", math.copysign(math.inf, value))
    bits = int.from_bytes(raw, "big")
    return _java_text(struct.unpack(">f", raw)[0], bits >> 23 & 0xFF, bits & 0x7FFFFF, 127, 23)


def _java_text(value: float, exponent: int, fraction: int, bias: int, fraction_bits: int) -> str:
    if math.isnan(value):
        return "NaN"
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if math.isinf(value):
        return f"{sign}Infinity"
    if value == 0:
        return f"{sign}0.0"
    if exponent == 0:  # subnormal: shift the first one bit to the position of the hidden bit
        significant = fraction.bit_length()
        fraction <<= fraction_bits + 1 - significant
        exponent = significant - fraction_bits
    else:
        significant = fraction_bits + 1
        fraction |= 1 << fraction_bits
    digits, point = _digits_and_point(exponent - bias, fraction << (_DOUBLE_FRACTION_BITS - fraction_bits), significant)
    return sign + _with_decimal_point(digits, point)


def _with_decimal_point(digits: str, point: int) -> str:
    """0.digits * 10^point, plain between 10^-3 and 10^7, else with an exponent."""
    if 0 < point < 8:
        return f"{digits[:point]:0<{point}}.{digits[point:] or '0'}"
    if -3 < point <= 0:
        return "0." + "0" * -point + digits
    return f"{digits[0]}.{digits[1:] or '0'}E{point - 1}"


def _digits_and_point(exponent: int, fraction: int, significant: int) -> tuple[str, int]:
    """Digits d and point p of 0.d * 10^p, for fraction * 2^(exponent - 52) with `significant` bits of precision."""
    tail_zeros = (fraction & -fraction).bit_length() - 1
    bits = _DOUBLE_FRACTION_BITS + 1 - tail_zeros
    tiny = max(0, bits - exponent - 1)
    if -21 <= exponent <= 62 and tiny == 0 and bits < 64:
        return _whole_number_digits(exponent, fraction, significant)
    return _shortest_digits(
        exponent, fraction >> tail_zeros, bits, tiny, significant, _estimated_log10(exponent, fraction)
    )


def _whole_number_digits(exponent: int, fraction: int, significant: int) -> tuple[str, int]:
    """The digits of an integer below 2^63, without those beyond its precision."""
    dropped = _decimal_digits(exponent - significant - 1) if exponent > significant else 0
    number = (
        fraction << (exponent - _DOUBLE_FRACTION_BITS)
        if exponent >= _DOUBLE_FRACTION_BITS
        else fraction >> (_DOUBLE_FRACTION_BITS - exponent)
    )
    if dropped:
        power = 10**dropped
        number, rest = divmod(number, power)
        number += rest >= power >> 1
    text = str(number)
    return text.rstrip("0"), len(text) + dropped


def _decimal_digits(power_of_two: int) -> int:
    return len(str(1 << power_of_two)) - 1 if 1 < power_of_two < 64 else 0


def _estimated_log10(exponent: int, fraction: int) -> int:
    """Estimate of log10 of the number; exact, or one too high."""
    one_to_two = 1.0 + (fraction & (_HIDDEN - 1)) / _HIDDEN
    return math.floor((one_to_two - 1.5) * 0.289529654 + 0.176091259 + exponent * 0.301029995663981)


def _five_bits(power: int) -> int:
    return _FIVE_BITS[power] if power < len(_FIVE_BITS) else power * 3


def _java_integer_bits(bits: int) -> int | None:
    """Bits of the integer type that Java uses: int, long, or None for a big integer. Sums overflow as in Java."""
    return 32 if bits < 32 else 64 if bits < 64 else None


def _wrap_overflow(number: int, width: int) -> int:
    half = 1 << (width - 1)
    return (number + half) % (2 * half) - half


def _shortest_digits(
    exponent: int, fraction: int, bits: int, tiny: int, significant: int, decimal: int
) -> tuple[str, int]:  # fmt: skip
    """Digit generation: the value is b / s, half the distance to the next number m / s; ends when the rest is below m."""
    b5, s5 = max(0, -decimal), max(0, decimal)
    b2 = b5 + tiny + exponent
    s2 = s5 + tiny
    m2 = b2 - significant
    b2 -= bits - 1
    common = min(b2, s2)
    b2, s2, m2 = b2 - common, s2 - common, m2 - common
    if bits == 1:  # below a power of two the next number is only half as far
        m2 -= 1
    if m2 < 0:
        b2, s2, m2 = b2 - m2, s2 - m2, 0
    width = _java_integer_bits(max(bits + b2 + _five_bits(b5), s2 + 1 + _five_bits(s5 + 1)))
    b, s, m = fraction * 5**b5 << b2, 5**s5 << s2, 5**b5 << m2
    tens, half = s * 10, 0 if width is None else 1 << (width - 1)
    digits: list[int] = []
    low = high = False
    first = True
    while first or not (low or high):
        quotient, b = divmod(b, s)
        b *= 10
        m *= 10
        if width is None:
            low, high = b < m, b + m >= tens
        else:
            if not -half <= m < half:
                m = _wrap_overflow(m, width)
            if m <= 0:  # too large for Java's integer type, so larger than b
                low = high = True
            else:
                low, high = b < m, (b + m if b + m < half else _wrap_overflow(b + m, width)) > tens
        if first and quotient == 0 and not high:
            decimal -= 1
        else:
            digits.append(quotient)
        if first and (decimal < -3 or decimal >= 8):  # the form with an exponent has at least two digits
            low = high = False
        first = False
    tie = 2 * b - tens
    up = high and (not low or tie > 0 or (tie == 0 and digits[-1] % 2 == 1))
    number = int("".join(map(str, digits))) + up
    text = str(number).zfill(len(digits))
    return text[: len(digits)], decimal + 1 + (len(text) > len(digits))
