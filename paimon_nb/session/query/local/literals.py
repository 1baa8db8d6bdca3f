"""Literals and parameters in the engine's SQL: those that have the same value in both dialects."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal as Number
from typing import TYPE_CHECKING, Any

from paimon_nb.format.types import Decimal
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.values import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INSTANT,
    INT,
    MAX_PRECISION,
    NULL,
    STRING,
    TIMESTAMP,
    Value,
    engine_type,
    quote_text,
)

if TYPE_CHECKING:
    from paimon_nb.syntax.tree import Literal

_MAX_DECIMAL = 19
"""Characters of a decimal number that is translated."""
_TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d:\d\d)(\.\d{1,6})?)?")


def literal_value(node: Literal, *, flink: bool) -> Value:
    """The value of a literal. Raises NotLocal: it may have another value in Spark."""
    text = node.text
    match node.kind:
        case "NULL":
            return Value("NULL", NULL, "NULL", is_constant=True)
        case "TRUE" | "FALSE":
            return Value(node.kind, BOOLEAN, node.kind.lower(), is_constant=True)
        case "string":
            return text_value(plain_text(text))
        case "DATE":
            return date_value(plain_text(text), named=True)
        case "number":
            return _number_value(text, flink=flink)
    raise NotLocal(f"a {node.kind} literal is left to Spark")


_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "%": "\\%", "_": "\\_"}
"""Characters after a backslash in a literal of Spark -> what both mean."""


def plain_text(literal: str, *, has_escapes: bool = True) -> str:
    """The text of a string literal. Raises NotLocal: its quotes or backslashes have several meanings.

    Args:
        literal: as written, with its quotes.
        has_escapes: whether a backslash changes the character after it.
    """
    quote_char, inner = literal[0], literal[1:-1]
    if quote_char not in "'\"" or quote_char != literal[-1]:
        raise NotLocal("this string literal is left to Spark")
    if not has_escapes or "\\" not in inner:
        if quote_char in inner:
            raise NotLocal("a text has quotes inside")
        return inner
    found = re.fullmatch(rf"(?:[^\\{quote_char}]|\\.)*", inner, re.DOTALL)
    if found is None or any(c not in _ESCAPED for c in re.findall(r"\\(.)", inner, re.DOTALL)):
        raise NotLocal("a text has quotes or backslashes inside")
    return re.sub(r"\\(.)", lambda m: _ESCAPED[m[1]], inner, flags=re.DOTALL)


def text_value(text: str) -> Value:
    if "\0" in text:
        raise NotLocal("a text has a zero byte")
    return Value(quote_text(text), STRING, text, text=text, is_constant=True)


def date_value(text: str, *, named: bool = False) -> Value:
    """A date that is written as 'yyyy-mm-dd'."""
    try:
        is_date = dt.date.fromisoformat(text).isoformat() == text
    except ValueError:
        is_date = False
    if not is_date:
        raise NotLocal("a date is not written as 'yyyy-mm-dd'")
    return Value(f"CAST({quote_text(text)} AS DATE)", DATE, f"DATE '{text}'" if named else None, is_constant=True)


def timestamp_value(text: str) -> Value:
    """A timestamp without a zone that is written as 'yyyy-mm-dd' or 'yyyy-mm-dd hh:mm:ss[.ffffff]'."""
    found = _TIMESTAMP.fullmatch(text)
    try:
        dt.datetime.fromisoformat(text[:19])
    except ValueError:
        found = None
    if found is None:
        raise NotLocal("a timestamp is not written as 'yyyy-mm-dd hh:mm:ss'")
    return Value(f"CAST({quote_text(text)} AS TIMESTAMP)", TIMESTAMP, is_constant=True)


def _number_value(text: str, *, flink: bool) -> Value:
    if text.isdecimal():
        return integer_value(int(text))
    digits, _, exponent = text.upper().partition("E")
    whole, point, fraction = digits.partition(".")
    if not (whole + fraction).isdecimal():
        raise NotLocal(f"the number {text} is left to Spark")  # it has the suffix of a type
    if exponent and exponent.removeprefix("-").removeprefix("+").isdecimal():
        return Value(f"CAST({quote_text(text)} AS DOUBLE)", DOUBLE, is_constant=True)
    if not point or exponent or len(text) > _MAX_DECIMAL:
        raise NotLocal(f"the number {text} is left to Spark")
    number = Number(text)
    counted = sum(map(str.isdigit, text)) if flink else None  # Flink counts the zero of 0.5
    return decimal_value(number, text, counted)


def integer_value(number: int) -> Value:
    """An integer literal."""
    if not -(1 << 63) <= number < 1 << 63:
        raise NotLocal("a number is too large")
    t = INT if -(1 << 31) <= number < 1 << 31 else BIGINT
    return Value(f"CAST({number} AS {engine_type(t)})", t, str(number), literal=number, is_constant=True)


def decimal_value(number: Number, text: str, digits: int | None = None) -> Value:
    """A decimal with the precision that Spark gives to a literal; `digits`: the precision, if it is another."""
    _, written, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    scale = max(-exponent, 0)
    t = Decimal(max(digits or len(written) + max(exponent, 0), scale, 1), scale)
    if t.precision > MAX_PRECISION:
        raise NotLocal("a decimal has too many digits")
    name = f"{number:f}" if digits is None else None
    return Value(f"CAST({quote_text(text)} AS {engine_type(t)})", t, name, is_constant=True)


def parameter_value(name: str, value: Any) -> Value:
    """The value that the caller gives to a marker `:name`."""
    match value:
        case None:
            return Value("NULL", NULL, "NULL", is_constant=True)
        case bool():
            return Value(str(value).upper(), BOOLEAN, str(value).lower(), is_constant=True)
        case int() if -(1 << 63) <= value < 1 << 63:
            t = INT if -(1 << 31) <= value < 1 << 31 else BIGINT
            return Value(f"CAST({value} AS {engine_type(t)})", t, str(value), literal=value, is_constant=True)
        case str():
            return text_value(value)
        case float():
            return Value(f"CAST({quote_text(repr(value))} AS DOUBLE)", DOUBLE, is_constant=True)
        case Number() if value.is_finite():
            return decimal_value(value, f"{value:f}")
        case dt.datetime():
            micros = (value.astimezone(dt.UTC) - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)
            return Value(f"make_timestamptz({micros})", INSTANT, is_constant=True)
        case dt.date():
            return date_value(value.isoformat(), named=True)
    raise NotLocal(f"the value of :{name} is a {type(value).__name__}")
