"""Decimals as whole numbers in the engine's SQL: quotients that are rounded as in Spark, half up."""

from __future__ import annotations

from decimal import Decimal as Number

from paimon_nb.format.types import Decimal
from paimon_nb.session.query.local.values import Value, engine_type


def power_of_ten(digits: int) -> str:
    return f"CAST({10**digits} AS HUGEINT)"


def unscaled_decimal_sql(value: Value) -> str:
    """A decimal's unscaled number, as HUGEINT; an error if it has too many digits."""
    assert isinstance(value.type, Decimal)
    scale = value.type.scale
    if not scale:
        return f"CAST({value.sql} AS HUGEINT)"
    shifted = f"CAST({value.sql} AS DECIMAL(38,{scale})) * CAST({10**scale} AS DECIMAL({scale + 1},0))"
    return f"CAST({shifted} AS HUGEINT)"


def half_up(n: str, d: str) -> str:
    """The quotient of two HUGEINTs, rounded half away from zero."""
    sign = f"(CASE WHEN ({n} < 0) <> ({d} < 0) THEN -1 ELSE 1 END)"
    return f"({sign} * ((2 * abs({n}) + abs({d})) // (2 * abs({d}))))"


def from_unscaled(number: str, t: Decimal) -> str:
    if not t.scale:
        return f"CAST({number} AS {engine_type(t)})"
    unit = f"CAST('{Number(1).scaleb(-t.scale):f}' AS DECIMAL({t.scale},{t.scale}))"
    return f"CAST(CAST({number} AS DECIMAL(38,0)) * {unit} AS {engine_type(t)})"
