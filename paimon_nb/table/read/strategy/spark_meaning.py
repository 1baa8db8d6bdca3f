"""Selects the conjuncts of a filter that can be pushed down: those with exactly the same meaning in Paimon and in Spark.

Spark evaluates the whole filter again, so a conjunct may be dropped, but one with another meaning would lose rows. A conjunct
is dropped if Spark casts the column: text compared with a number, a timestamp in the session's time zone.
"""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal as Number
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError
from paimon_nb.format.types import Char, DataField, DataType, Decimal, LocalZonedTimestamp, Timestamp, VarChar, is_nano
from paimon_nb.table.read.predicate.evaluate import bind_literals
from paimon_nb.table.read.predicate.model import (
    And,
    Compare,
    In,
    IsNotNull,
    IsNull,
    Leaf,
    Like,
    Not,
    Or,
    Predicate,
    StartsWith,
    conjunction_of,
    conjuncts,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


WHOLE_NUMBERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_WALL_CLOCK = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?")
_UTC = ("UTC", "Etc/UTC", "GMT", "Z", "+00:00")


def conjuncts_with_spark_meaning(
    predicate: Predicate | None, fields: Sequence[DataField], zone: str
) -> Predicate | None:
    """The conjuncts that can be pushed down; None if there are none.

    Args:
        predicate: the filter.
        fields: the table's columns; names match case-insensitively, as in Spark.
        zone: the session's time zone.
    """
    types = {f.name.lower(): f.type for f in fields}
    pushed = [
        part for part in conjuncts(predicate) if _means_same_in_spark(part, types, zone) and _literals_fit(part, fields)
    ]
    return conjunction_of(pushed) if pushed else None


def _literals_fit(part: Predicate, fields: Sequence[DataField]) -> bool:
    """Whether the literals are valid values. DATE '2020-13-01' is not; Spark reports it."""
    try:
        bind_literals(part, fields)
    except PaimonError:
        return False
    return True


def _means_same_in_spark(node: Predicate, types: dict[str, DataType], zone: str) -> bool:
    match node:
        case And(parts) | Or(parts):
            return all(_means_same_in_spark(p, types, zone) for p in parts)
        case Not(part):
            if isinstance(part, In | Like | StartsWith):
                return _means_same_in_spark(part, types, zone)
            # NOT turns < into >=, which must have the same meaning too.
            return _means_same_in_spark(part.negate(), types, zone)
        case Leaf():
            t = types.get(node.column.lower())
            return t is not None and _can_push_leaf(node, t, zone)
    return False


def _can_push_leaf(node: Leaf, t: DataType, zone: str) -> bool:
    match node:
        case IsNull() | IsNotNull():
            return True
        case Compare(_, op, literal):
            if t.root in ("FLOAT", "DOUBLE") and op not in ("=", "<", "<="):
                return False  # NaN is larger than every number in Spark, and statistics do not contain it
            return _can_push_literal(t, literal, zone)
        case In(_, literals):
            return all(_can_push_literal(t, v, zone) for v in literals)
        case StartsWith() | Like():
            return isinstance(t, VarChar)
    return False


def _can_push_literal(t: DataType, literal: Any, zone: str) -> bool:
    """True when Spark compares a column of `t` with this literal in the column's own type."""
    root = t.root
    whole = isinstance(literal, int) and not isinstance(literal, bool)
    if root in WHOLE_NUMBERS or isinstance(t, Decimal):
        return whole or isinstance(literal, Number)
    if root in ("FLOAT", "DOUBLE"):
        return (whole and abs(literal) < 1 << 24) or (root == "DOUBLE" and isinstance(literal, float))
    if isinstance(t, Char):
        return False  # stored with padding, which is part of the text in Spark
    if isinstance(t, VarChar):
        return isinstance(literal, str)
    if root == "BOOLEAN":
        return isinstance(literal, bool)
    if root in ("BINARY", "VARBINARY"):
        return isinstance(literal, bytes)
    if root == "DATE":
        if isinstance(literal, str):
            return _DATE.fullmatch(literal) is not None
        return isinstance(literal, dt.date) and not isinstance(literal, dt.datetime)
    if is_nano(t):
        return False  # a STRING in Spark
    if isinstance(t, Timestamp | LocalZonedTimestamp):
        if zone in _UTC:
            return isinstance(literal, dt.datetime) or (
                isinstance(literal, str) and _WALL_CLOCK.fullmatch(literal) is not None
            )
        # In other zones, only a local timestamp compared with text needs no zone.
        return isinstance(t, Timestamp) and isinstance(literal, str) and _WALL_CLOCK.fullmatch(literal) is not None
    return False
