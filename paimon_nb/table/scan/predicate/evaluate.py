"""Evaluates bound predicates on Arrow tables, in SQL's three-valued logic.

Numbers compare as Spark compares them: NaN equals NaN and is larger than every number, -0.0 equals 0.0, FLOAT is
widened to DOUBLE before the comparison.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.format.row import to_scalar
from paimon_nb.format.row.internal_values import to_arrow_value
from paimon_nb.format.types import Char, DataField, DataType
from paimon_nb.format.types.arrow_builders import column as column_of
from paimon_nb.format.types.arrow_builders import scalar
from paimon_nb.table.scan.predicate.bind import bind
from paimon_nb.table.scan.predicate.model import (
    And,
    Compare,
    Constant,
    In,
    IsNotNull,
    IsNull,
    Known,
    Like,
    Not,
    Or,
    Predicate,
    StartsWith,
)

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": pc.equal, "<>": pc.not_equal, "<": pc.less, "<=": pc.less_equal, ">": pc.greater, ">=": pc.greater_equal,
}  # fmt: skip
_NAN_WINS = {"=": False, "<>": True, "<": False, "<=": False, ">": True, ">=": True}
"""NaN op number."""
_UNKNOWN = scalar(None, pa.bool_())


def evaluate(predicate: Predicate, table: pa.Table, fields: Sequence[DataField]) -> pa.ChunkedArray | pa.Array:
    """One boolean per row: true, false or null (unknown).

    Args:
        table: contains every column of the predicate, with the types of `fields`.
    """
    types = {f.name: f.type for f in fields}
    return _walk(bind(predicate, fields), table, types)


def keep(predicate: Predicate | None, table: pa.Table, fields: Sequence[DataField]) -> pa.Table:
    """The rows for which the predicate is true."""
    if predicate is None or table.num_rows == 0:
        return table
    return table.filter(evaluate(predicate, table, fields), null_selection_behavior="drop")


def _walk(node: Predicate, table: pa.Table, types: Mapping[str, DataType]) -> Any:
    match node:
        case And(parts):
            return reduce(pc.and_kleene, (_walk(p, table, types) for p in parts), _all(table, True))
        case Or(parts):
            return reduce(pc.or_kleene, (_walk(p, table, types) for p in parts), _all(table, False))
        case Not(part):
            return pc.invert(_walk(part, table, types))
        case Constant(value):
            return _all(table, value)
        case Compare(column, op, literal):
            return _compare(padded(table.column(column), types[column]), types[column], op, literal)
        case In(column, literals):
            return _in(padded(table.column(column), types[column]), types[column], literals)
        case IsNull(column):
            return pc.is_null(table.column(column))
        case IsNotNull(column):
            return pc.is_valid(table.column(column))
        case Known(column, value):
            valid = pc.is_valid(table.column(column))
            return pc.if_else(valid, scalar(value, pa.bool_()), _UNKNOWN)
        case StartsWith(column, prefix):
            return pc.starts_with(padded(table.column(column), types[column]), prefix)
        case Like(column, pattern):
            return pc.match_substring_regex(padded(table.column(column), types[column]), like_regex(pattern))
    raise TypeError(f"unknown predicate {node!r}")


def padded(column: Any, t: DataType) -> Any:
    """CHAR(n) values padded to n characters: some formats store them without trailing spaces."""
    return pc.utf8_rpad(column, t.length, " ") if isinstance(t, Char) else column


def _all(table: pa.Table, value: bool | None) -> pa.Array:
    return pa.repeat(scalar(value, pa.bool_()), table.num_rows)


def _compare(column: Any, t: DataType, op: str, literal: Any) -> Any:
    if t.root == "BOOLEAN":  # Arrow does not order booleans
        return _COMPARE[op](column.cast(pa.int8()), scalar(int(literal), pa.int8()))
    if t.root not in ("FLOAT", "DOUBLE"):
        return _COMPARE[op](column, to_scalar(t, literal))
    wide = column.cast(pa.float64())
    nan = pc.is_nan(wide)
    if math.isnan(literal):
        if op in ("=", ">="):
            return nan
        return pc.invert(nan) if op in ("<>", "<") else _filled(nan, op == "<=")
    return pc.if_else(nan, scalar(_NAN_WINS[op], pa.bool_()), _COMPARE[op](wide, scalar(literal, pa.float64())))


def _filled(like: Any, value: bool) -> Any:
    """`value` wherever `like` is not null."""
    return pc.if_else(pc.is_valid(like), scalar(value, pa.bool_()), _UNKNOWN)


def _in(column: Any, t: DataType, literals: Sequence[Any]) -> Any:
    if t.root in ("FLOAT", "DOUBLE") or not literals:
        parts = [_compare(column, t, "=", v) for v in literals]
        return reduce(pc.or_kleene, parts, _filled(pc.is_null(column), False))
    values = column_of([to_arrow_value(t, v) for v in literals], column.type)
    return pc.if_else(pc.is_valid(column), pc.is_in(column, value_set=values), _UNKNOWN)


def like_regex(pattern: str) -> str:
    """A LIKE pattern as an RE2 expression that matches the whole text."""
    out, quoted = [], False
    for char in pattern:
        if quoted or char not in "%_\\":
            out.append(re.escape(char) if ord(char) < 128 else char)
            quoted = False
        elif char == "\\":
            quoted = True
        else:
            out.append(".*" if char == "%" else ".")
    return "(?s)^" + "".join(out) + "$"
