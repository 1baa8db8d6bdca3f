"""Casts: those for which both engines give the same value, or an error."""

from __future__ import annotations

from dataclasses import replace

from paimon_nb.format.types import Atomic, DataType, Decimal
from paimon_nb.session.query.local.literals import date_value
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.values import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    EXACT_DIGITS,
    FLOAT,
    IN_ZONE,
    INSTANT,
    LEAVE,
    MAX_PRECISION,
    NULL,
    STRING,
    TIMESTAMP,
    Build,
    Value,
    engine_type,
    is_integer,
)

_NAMES = {
    **{name: Atomic(name) for name in ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE")},
    "TIMESTAMP": INSTANT,
    "TIMESTAMP_LTZ": INSTANT,
    "TIMESTAMP_NTZ": TIMESTAMP,
    "INTEGER": Atomic("INT"),
    "STRING": STRING,
    "VARCHAR": STRING,
}
_WHOLE = "'[-+]?[0-9]{1,18}'"
"""Texts that every engine reads as the same integer, or refuses as too large."""
_FRACTION = "'[-+]?[0-9]{1,15}(\\.[0-9]{1,15})?'"
_SECOND = "'[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,6})?'"
_DAY = "'[0-9]{4}-[0-9]{2}-[0-9]{2}'"


def cast_target(text: str) -> tuple[DataType, str | None]:
    """The type that a CAST names, as the tree has it, and its name in Spark."""
    name, *sizes = (word for word in text.split() if word not in ("(", ",", ")"))
    if name in ("DECIMAL", "NUMERIC") and len(sizes) <= 2 and all(size.isdecimal() for size in sizes):
        precision, scale = int(sizes[0]) if sizes else 10, int(sizes[1]) if len(sizes) > 1 else 0
        if not 1 <= precision <= MAX_PRECISION or scale > precision:
            raise NotLocal(f"{text} is not a type")
        return Decimal(precision, scale), f"DECIMAL({precision},{scale})"
    if text not in _NAMES:
        raise NotLocal(f"a cast to {text} is left to Spark")
    return _NAMES[text], "STRING" if _NAMES[text] == STRING else "INT" if text == "INTEGER" else text


def cast_value(form: str, target: DataType, type_name: str | None) -> Build:
    """Builds CAST or TRY_CAST to a type."""

    def cast_sql(flink: bool, values: list[Value]) -> Value:
        (value,) = values
        name = None if value.name is None or flink else f"{form}({value.name} AS {type_name})"
        if value.text is not None and target == DATE and form == "CAST":
            return date_value(value.text)
        text, raises = _cast(value, target, flink=flink)
        if form == "TRY_CAST" and raises:
            raise NotLocal("TRY_CAST of values that may fail is left to Spark")
        return Value(text, target, name, raises=raises)

    return cast_sql


def as_text(value: Value) -> Value:
    """A value beside texts, as Spark makes a text of it; an array as it is. Raises NotLocal."""
    if value.type == STRING or value.type == NULL:
        return value.cast(STRING)
    text, _ = _cast(value, STRING, flink=False)
    return replace(value, sql=text, type=STRING, literal=None, text=None)


def _cast(value: Value, target: DataType, *, flink: bool) -> tuple[str, bool]:
    """The SQL of a cast, and whether it raises errors in Spark. Raises NotLocal."""
    s, x, name = value.type, value.sql, engine_type(target)
    plain = f"CAST({x} AS {name})"
    if s in (target, NULL):
        return plain, False
    if s == STRING:
        return _cast_text(value, target)
    if isinstance(s, Decimal) and target == STRING and s.precision == s.scale:
        raise NotLocal(f"CAST of {s.bare()} to STRING is left to Spark")  # 0.5 is '.5' in the engine
    if target == STRING and (is_integer(s) or s == BOOLEAN or isinstance(s, Decimal)):
        return f"upper({plain})" if flink and s == BOOLEAN else plain, False
    if is_integer(s) and (is_integer(target) or isinstance(target, Decimal) or target == DOUBLE):
        return plain, target != DOUBLE
    if isinstance(s, Decimal):
        if isinstance(target, Decimal):  # both round half up
            digits = target.precision - target.scale - (target.scale < s.scale)
            return plain, digits < s.precision - s.scale
        if target == DOUBLE and s.precision <= EXACT_DIGITS:
            return plain, False
        if is_integer(target):
            return f"CAST(trunc({x}) AS {name})", True
    if s == DOUBLE and is_integer(target):
        return f"CAST(trunc({x}) AS {name})", True
    if s.root == "FLOAT" and target == DOUBLE:
        return plain, False
    if target == FLOAT and (is_integer(s) or s == DOUBLE):
        return plain, False
    if is_integer(s) and target == BOOLEAN:
        return plain, False
    times = _cast_time(value, target)
    if times is not None:
        return times, False
    if s == BOOLEAN and is_integer(target):
        return plain, False
    raise NotLocal(f"CAST of {s.bare()} to {target.bare()} is left to Spark")


def _cast_time(value: Value, target: DataType) -> str | None:
    """A date, timestamp or instant as another one, or as text; None: it is none, or cannot be."""
    s, x = value.type, value.sql
    if s not in (DATE, TIMESTAMP, INSTANT) or target not in (DATE, TIMESTAMP, INSTANT, STRING):
        return None
    if target == INSTANT:
        return value.cast(INSTANT).sql
    local = f"{IN_ZONE}({x})" if s == INSTANT else x
    text = f"CAST({local} AS {engine_type(target)})"
    if target != STRING:
        return text
    return f"(CASE WHEN {local} >= DATE '10000-01-01' OR {local} < DATE '0001-01-01' THEN {LEAVE} ELSE {text} END)"


def _cast_text(value: Value, target: DataType) -> tuple[str, bool]:
    """Texts in the plainest form only; for all others the engine raises an error."""
    x, name = value.sql, engine_type(target)
    if is_integer(target):
        pattern, text = _WHOLE, f"CAST(CAST({x} AS {engine_type(BIGINT)}) AS {name})"
    elif target == DOUBLE:
        pattern, text = _FRACTION, f"CAST({x} AS DOUBLE)"
    elif target == DATE:
        pattern, text = _DAY, f"CAST({x} AS DATE)"
    elif target in (TIMESTAMP, INSTANT):
        pattern, text = _SECOND, Value(f"CAST({x} AS TIMESTAMP)", TIMESTAMP).cast(target).sql
    elif isinstance(target, Decimal):
        digits = f"(\\.[0-9]{{1,{target.scale}}})?" if target.scale else ""
        pattern, text = f"'[-+]?[0-9]{{1,18}}{digits}'", f"CAST({x} AS {name})"
    else:
        raise NotLocal(f"CAST of a text to {target.bare()} is left to Spark")
    return (
        f"(CASE WHEN {x} IS NULL THEN NULL WHEN regexp_full_match({x}, {pattern}) THEN {text} ELSE {LEAVE} END)",
        True,
    )
