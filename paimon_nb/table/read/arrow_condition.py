"""The part of an Arrow filter that Paimon's pruning understands. Arrow applies the whole filter to what is read.

pyarrow offers no way to look into an expression, except the form in which it is pickled: a file of Arrow's IPC format whose metadata lists
calls, columns and literals in prefix order. What is not recognised is left to Arrow.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.ipc

from paimon_nb.table.read.polars_condition import compares_alike
from paimon_nb.table.read.predicate.model import FLIPPED, Compare, In, IsNotNull, IsNull, Or, conjunction_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow.compute as pc

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.table.read import Predicate

_OPERATORS = {"equal": "=", "not_equal": "<>", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}
_METADATA = "-- schema metadata --\n"
_LINE = re.compile(r"(call|end|field_ref|nested_field_ref|literal|options): '([^'\n]*)'")
_PLAIN_NAME = re.compile(r"[\w$ .-]+")
Node = tuple[str, Any]
"""('field_ref', name), ('literal', value), ('options', value), or (function, operands)."""


def pushed_arrow_condition(filter: pc.Expression | None, schema: TableSchema) -> Predicate | None:
    """A predicate that is true for every row that the filter selects, and perhaps for others; None: all rows."""
    if filter is None or not all(_PLAIN_NAME.fullmatch(f.name) for f in schema.fields):
        return None
    try:
        node = _parse_arrow_expression(filter)
        parts = [p for c in _and_operands(node) if (p := _paimon_predicate_of(c, schema)) is not None]
    except Exception:  # pyarrow may write an expression otherwise, or not at all
        return None
    return conjunction_of(parts) if parts else None


def filter_columns(filter: pc.Expression, names: Sequence[str]) -> list[str] | None:
    """Of a table's columns, those that a filter reads, in the table's order; None: not known."""
    if not all(map(_PLAIN_NAME.fullmatch, names)):
        return None
    try:
        used = set(_field_names_in(_parse_arrow_expression(filter)))
    except Exception:  # pyarrow may write an expression otherwise, or not at all
        return None
    return [n for n in names if n in used] if used <= set(names) else None


def _field_names_in(node: Node) -> Iterator[str]:
    kind, value = node
    if kind == "field_ref":
        yield value
    elif kind == "nested_field_ref":
        raise ValueError("a nested field")
    elif isinstance(value, list) and kind not in ("literal", "options"):
        for operand in value:
            yield from _field_names_in(operand)


def _parse_arrow_expression(filter: pc.Expression) -> Node:
    _, (buffer,) = filter.__reduce__()
    with pa.ipc.open_file(buffer) as file:
        batch = file.get_batch(0)
    text = batch.schema.to_string(truncate_metadata=False, show_field_metadata=False, show_schema_metadata=True)
    lines = text[text.index(_METADATA) + len(_METADATA) :].splitlines()
    found = [_LINE.fullmatch(line) for line in lines]
    if any(f is None for f in found):
        raise ValueError("not the form that is known")
    return _read_expression_node(iter([(f[1], f[2]) for f in found if f is not None]), batch)


def _read_expression_node(words: Iterator[tuple[str, str]], batch: pa.RecordBatch) -> Node:
    kind, value = next(words)
    if kind in ("literal", "options"):
        return kind, batch.column(int(value))[0].as_py()
    if kind != "call":
        return kind, value
    operands: list[Node] = []
    while True:
        operand = _read_expression_node(words, batch)
        if operand == ("end", value):
            return value, operands
        operands.append(operand)


def _and_operands(node: Node) -> list[Node]:
    match node:
        case ("and_kleene" | "and", [left, right]):
            return [*_and_operands(left), *_and_operands(right)]
        case ("if_else", [("is_valid", _), condition, ("literal", None | False), *_]):  # DuckDB: NULL is not selected
            return _and_operands(condition)
    return [node]


def _paimon_predicate_of(node: Node, schema: TableSchema) -> Predicate | None:
    match node:
        case ("or_kleene" | "or", [left, right]):
            one, other = _predicate_of_all(left, schema), _predicate_of_all(right, schema)
            return None if one is None or other is None else Or((one, other))
        case (str(function), [("field_ref", str(name)), ("literal", value)]) if function in _OPERATORS:
            return _compare(name, _OPERATORS[function], value, schema)
        case (str(function), [("literal", value), ("field_ref", str(name))]) if function in _OPERATORS:
            return _compare(name, FLIPPED[_OPERATORS[function]], value, schema)
        case ("is_null", [("field_ref", str(name)), ("options", {"nan_is_null": False})]):
            return IsNull(name)
        case ("is_valid", [("field_ref", str(name)), *_]):
            return IsNotNull(name)
        case ("is_in", [("field_ref", str(name)), ("options", {"value_set": list(values)})]):
            known = None not in values and all(compares_alike(name, v, schema) for v in values)
            return In(name, tuple(values)) if values and known else None
    return None


def _predicate_of_all(node: Node, schema: TableSchema) -> Predicate | None:
    """The predicate of all conjuncts; None if one of them is not recognised."""
    parts = [_paimon_predicate_of(c, schema) for c in _and_operands(node)]
    return None if any(p is None for p in parts) else conjunction_of([p for p in parts if p is not None])


def _compare(name: str, op: str, value: Any, schema: TableSchema) -> Predicate | None:
    return Compare(name, op, value) if compares_alike(name, value, schema) else None
