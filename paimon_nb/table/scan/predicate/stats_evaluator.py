"""Whether a file may hold matching rows, from its statistics; one answer per file, all files at once.

The answer is conservative: False means that surely no row matches. Knows no manifests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.format.row import to_scalar
from paimon_nb.format.types import Char, DataType
from paimon_nb.format.types.arrow_builders import filled, scalar
from paimon_nb.table.scan.predicate.bind import like_prefix
from paimon_nb.table.scan.predicate.column_stats import Bounds
from paimon_nb.table.scan.predicate.evaluate import padded
from paimon_nb.table.scan.predicate.model import (
    And,
    Compare,
    Constant,
    In,
    IsNotNull,
    IsNull,
    Known,
    Leaf,
    Like,
    Not,
    Or,
    Predicate,
    StartsWith,
)


def may_match(
    predicate: Predicate, size: int, bounds: Callable[[str], Bounds | None], type_of: Callable[[str], DataType]
) -> pa.Array:
    """One boolean per file, never null.

    Args:
        predicate: bound. size: number of files. bounds: of a column, None if unknown.
    """
    match predicate:
        case And(parts):
            return reduce(pc.and_, (may_match(p, size, bounds, type_of) for p in parts), _all(size, True))
        case Or(parts):
            return reduce(pc.or_, (may_match(p, size, bounds, type_of) for p in parts), _all(size, False))
        case Constant(value):
            return _all(size, value is True)
        case Not(part):
            found = bounds(part.column) if isinstance(part, Leaf) else None
            return _all(size, True) if found is None else _some_value(found)
        case Leaf(column):
            found = bounds(column)
            return _all(size, True) if found is None else _sure(_leaf(predicate, found, type_of(column)))
    raise TypeError(f"unknown predicate {predicate!r}")


def _leaf(leaf: Leaf, b: Bounds, t: DataType) -> Any:
    if isinstance(t, Char):
        b = replace(b, high=_char_high(b.high, t))
    match leaf:
        case IsNull():
            return pc.greater(b.nulls, 0)
        case IsNotNull():
            return _some_value(b)
        case Known(_, value):
            return _some_value(b) if value else _all(len(b.rows), False)
        case Compare(_, op, literal):
            return pc.and_(_some_value(b), _sure(_compare(b, t, op, literal)))
        case In(_, literals):
            hits: Sequence[Any] = [_sure(_compare(b, t, "=", v)) for v in literals]
            return pc.and_(_some_value(b), reduce(pc.or_, hits, _all(len(b.rows), False)))
        case StartsWith(_, prefix):
            return pc.and_(_some_value(b), _sure(_prefix(b, prefix)))
        case Like(_, pattern):
            return pc.and_(_some_value(b), _sure(_prefix(b, like_prefix(pattern)[0])))
    raise TypeError(f"unknown predicate {leaf!r}")


def _char_high(high: Any, t: Char) -> Any:
    """An upper bound of padded CHAR(n) values, from a bound of values that may be stored unpadded."""
    # 'a\x1f' < 'a ' although 'a' < 'a\x1f': after a character below the space the rest of the bound is useless.
    spaces = padded(pc.replace_substring_regex(high, r"(?s)[\x00-\x1f].*", ""), t)
    return pc.if_else(pc.greater(spaces, high), spaces, high)


def _compare(b: Bounds, t: DataType, op: str, literal: Any) -> Any:
    if t.root in ("FLOAT", "DOUBLE"):
        return _compare_floats(b, op, literal)
    low, high = b.low, b.high
    value = to_scalar(t, literal)
    if t.root == "BOOLEAN":
        low, high, value = low.cast(pa.int8()), high.cast(pa.int8()), scalar(int(literal), pa.int8())
    match op:
        case "=":
            return pc.and_(_sure(pc.less_equal(low, value)), _sure(pc.greater_equal(high, value)))
        case "<>":
            return pc.invert(pc.and_kleene(pc.equal(low, value), pc.equal(high, value)))
        case "<":
            return pc.less(low, value)
        case "<=":
            return pc.less_equal(low, value)
        case ">":
            return pc.greater(high, value)
    return pc.greater_equal(high, value)


def _compare_floats(b: Bounds, op: str, literal: float) -> Any:
    # Statistics ignore NaN, which is larger than every number: no upper bound is certain.
    low = b.low.cast(pa.float64())
    low = pc.if_else(pc.is_nan(low), scalar(None, pa.float64()), low)
    value = scalar(literal, pa.float64())
    if literal != literal or op in ("<>", ">", ">="):
        return _all(len(b.rows), True)
    if op == "<":
        return pc.less(low, value)
    if op == "<=":
        return pc.less_equal(low, value)
    high = b.high.cast(pa.float64())
    high = pc.if_else(pc.is_nan(high), scalar(None, pa.float64()), high)
    return pc.and_(_sure(pc.less_equal(low, value)), _sure(pc.greater_equal(high, value)))


def _prefix(b: Bounds, prefix: str) -> Any:
    if not prefix:
        return _all(len(b.rows), True)
    value = scalar(prefix, b.low.type)
    # The upper bound may be a truncated and incremented prefix; it is still above every value.
    below = pc.or_(_sure(pc.less_equal(b.low, value)), _sure(pc.starts_with(b.low, prefix)))
    return pc.and_(below, _sure(pc.greater_equal(b.high, value)))


def _some_value(b: Bounds) -> Any:
    return _sure(pc.less(b.nulls, b.rows))


def _sure(answer: Any) -> Any:
    """Unknown counts as a possible match."""
    return filled(answer, True)


def _all(size: int, value: bool) -> pa.Array:
    return pa.repeat(scalar(value, pa.bool_()), size)
