"""Java 17's texts of numbers; the lines were printed by Double.toString and Float.toString."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_nb.format.row.java_float import double_text, float_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"), (-0.0, "-0.0"), (1.0, "1.0"), (0.1, "0.1"), (100.0, "100.0"), (1e7, "1.0E7"), (1e-3, "0.001"),
        (9999999.0, "9999999.0"), (9.99e-4, "9.99E-4"), (2e23, "1.9999999999999998E23"), (8.41e21, "8.409999999999999E21"),
        (1e23, "9.999999999999999E22"), (2.0e-3, "0.002"), (4.9e-324, "4.9E-324"), (1.7976931348623157e308, "1.7976931348623157E308"),
        (2.0e-322, "2.0E-322"), (123456789012.5, "1.234567890125E11"), (16307173.109375, "1.6307173109375E7"), (3668691.0625, "3668691.0625"),
        (-16307173.109375, "-1.6307173109375E7"), (1e14, "1.0E14"), (9007199254740993.0, "9.007199254740992E15"), (math.nan, "NaN"), (-math.inf, "-Infinity"),
    ],
)  # fmt: skip
def test_doubles(value, text):
    assert double_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"), (3.14, "3.14"), (1.5, "1.5"), (16777216.0, "1.6777216E7"), (1e10, "1.0E10"),
        (3.4028234663852886e38, "3.4028235E38"), (1e300, "Infinity"), (1.4e-45, "1.4E-45"),
        (float.fromhex("0x1p+83"), "9.6714065E24"), (float.fromhex("0x1.cp+85"), "6.7699845E25"),
    ],
)  # fmt: skip
def test_floats(value, text):
    assert float_text(value) == text


@given(st.integers(1, 10**15 - 1), st.integers(0, 17))
def test_short_decimals_of_either_sign_have_the_same_digits(digits, places):
    value = float(f"{digits}e-{places}")
    assert double_text(-value) == f"-{double_text(value)}"  # only the positive one takes the short way


@given(st.floats(allow_nan=False))
def test_texts_read_back(value):
    assert float(double_text(value)) == value
