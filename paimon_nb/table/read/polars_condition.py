"""The part of a polars filter that Paimon's pruning understands. polars applies the whole filter to what is read.

polars writes an expression as JSON, whose form may change between its versions: what is not recognised is left to polars.
"""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.format.types import VarChar
from paimon_nb.table.read.predicate.model import FLIPPED, Compare, In, IsNotNull, IsNull, Or, conjunction_of

if TYPE_CHECKING:
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.table.read import Predicate

_OPERATORS = {"Eq": "=", "NotEq": "<>", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}
_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")


def pushed_polars_condition(filter: Any, schema: TableSchema) -> Predicate | None:
    """A predicate that is true for every row that the filter selects, and perhaps for others; None: all rows.

    Args:
        filter: a `polars.Expr` or None.
    """
    if filter is None:
        return None
    try:
        node = json.loads(filter.meta.serialize(format="json"))
        parts = [p for c in _and_operands(node) if (p := _paimon_predicate_of(c, schema)) is not None]
    except Exception:  # polars may write an expression otherwise, or not at all
        return None
    return conjunction_of(parts) if parts else None


def _and_operands(node: Any) -> list[Any]:
    match node:
        case {"BinaryExpr": {"left": left, "op": "And" | "LogicalAnd", "right": right}}:
            return [*_and_operands(left), *_and_operands(right)]
    return [node]


def _paimon_predicate_of(node: Any, schema: TableSchema) -> Predicate | None:
    match node:
        case {"BinaryExpr": {"left": left, "op": "Or" | "LogicalOr", "right": right}}:
            one, other = _predicate_of_all(left, schema), _predicate_of_all(right, schema)
            return None if one is None or other is None else Or((one, other))
        case {"BinaryExpr": {"left": {"Column": str(name)}, "op": str(op), "right": {"Literal": literal}}}:
            return _compare(name, _OPERATORS.get(op), literal, schema)
        case {"BinaryExpr": {"left": {"Literal": literal}, "op": str(op), "right": {"Column": str(name)}}}:
            known = _OPERATORS.get(op)
            return None if known is None else _compare(name, FLIPPED[known], literal, schema)
        case {"Function": {"input": [{"Column": str(name)}], "function": {"Boolean": "IsNull"}}}:
            return IsNull(name)
        case {"Function": {"input": [{"Column": str(name)}], "function": {"Boolean": "IsNotNull"}}}:
            return IsNotNull(name)
        case {
            "Function": {
                "input": [{"Column": str(name)}, {"Literal": low}, {"Literal": high}],
                "function": {"Boolean": {"IsBetween": {"closed": "Both"}}},
            }
        }:
            bounds = [_compare(name, ">=", low, schema), _compare(name, "<=", high, schema)]
            return conjunction_of([b for b in bounds if b is not None]) if any(bounds) else None
        case {
            "Function": {
                "input": [{"Column": str(name)}, {"Literal": {"Scalar": {"List": list(data)}}}],
                "function": {"Boolean": {"IsIn": {"nulls_equal": False}}},
            }
        }:
            found = pa.ipc.open_stream(bytes(data)).read_all().column(0).drop_null().to_pylist()
            return In(name, tuple(found)) if found and all(compares_alike(name, v, schema) for v in found) else None
    return None


def _predicate_of_all(node: Any, schema: TableSchema) -> Predicate | None:
    """The predicate of all conjuncts; None if one of them is not recognised."""
    parts = [_paimon_predicate_of(c, schema) for c in _and_operands(node)]
    return None if any(p is None for p in parts) else conjunction_of([p for p in parts if p is not None])


def _compare(name: str, op: str | None, literal: Any, schema: TableSchema) -> Predicate | None:
    value = _polars_literal_value(literal)
    return Compare(name, op, value) if op is not None and compares_alike(name, value, schema) else None


def _polars_literal_value(literal: Any) -> Any:
    match literal:
        case {"Dyn": {"Int": int(value)}} | {"Dyn": {"Str": str(value)}} | {"Scalar": {"String": str(value)}}:
            return value
        case {"Scalar": {"Date": int(days)}}:
            return dt.date(1970, 1, 1) + dt.timedelta(days)
        case {"Scalar": dict(scalar)} if len(scalar) == 1:
            ((kind, value),) = scalar.items()
            return value if kind.startswith(("Int", "UInt")) and isinstance(value, int) else None
    return None


def compares_alike(name: str, value: Any, schema: TableSchema) -> bool:
    """Whether other engines and Paimon compare such a column and value alike."""
    t = schema.field(name).type
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int):
        return t.root in _INTEGERS
    return isinstance(t, VarChar) if isinstance(value, str) else isinstance(value, dt.date) and t.root == "DATE"
