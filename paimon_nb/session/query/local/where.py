"""WHERE in the engine's SQL: parts that may raise errors are evaluated for each row, conditions in each part of an OR come first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.syntax.tree import Brackets, In, Logical, Subquery, Unary, walk_expression

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paimon_nb.session.query.local.values import Value
    from paimon_nb.syntax.tree import Node


def where_sql(values: Sequence[Value], *, is_joined: bool) -> str:
    """The SQL of conditions that must all be true. Raises NotLocal.

    The engine skips parts of an AND, in an order of its own, and with them the errors that Spark raises.
    """
    if any(v.raises for v in values):
        if is_joined:
            raise NotLocal("WHERE computes over a join, and Spark raises errors of rows that the join leaves out")
        if len(values) > 1:
            return f"({' * '.join(f'CAST(coalesce({v.sql}, FALSE) AS INTEGER)' for v in values)}) = 1"
        return values[0].sql
    known = [text for value in values for text in _in_every_part(value)]
    return " AND ".join(dict.fromkeys([*known, *(v.sql for v in values)]))


def _in_every_part(value: Value) -> Iterator[str]:
    """The conditions that all parts of an OR have: the engine joins by `a = b` only if it is not inside the OR."""
    if value.origin is None or value.origin.operator != "OR":
        return
    first, *others = (list(_parts(o)) for o in value.origin.operands)
    for text in first:
        if all(text in other for other in others):
            yield text


def _parts(value: Value) -> Iterator[str]:
    if value.origin is not None and value.origin.operator == "AND":
        for operand in value.origin.operands:
            yield from _parts(operand)
    else:
        yield value.sql


def check_positions_of_subqueries(node: Node) -> None:
    """Raises NotLocal: EXISTS or IN (SELECT ...) is where engines may treat NULL in different ways."""
    match node:
        case Brackets():
            check_positions_of_subqueries(node.inner)
        case Logical():
            for part in node.parts:
                if node.op == "OR" and _is_negated_predicate(part):
                    raise NotLocal("NOT IN (SELECT ...) under OR is left to Spark")
                check_positions_of_subqueries(part)
        case Unary(op="NOT") if _is_predicate(node.operand):
            pass
        case In() | Subquery(exists=True) if _is_predicate(node):
            if isinstance(node, In) and _has_predicate(node.operand):
                raise NotLocal("a subquery inside a subquery's operand is left to Spark")
        case _:
            if _has_predicate(node):
                raise NotLocal("a subquery inside another condition is left to Spark")


def _is_predicate(node: Node) -> bool:
    """Whether it is EXISTS or IN (SELECT ...)."""
    while isinstance(node, Brackets):
        node = node.inner
    return (isinstance(node, Subquery) and node.exists) or (
        isinstance(node, In) and len(node.items) == 1 and isinstance(node.items[0], Subquery)
    )


def _is_negated_predicate(node: Node) -> bool:
    while isinstance(node, Brackets):
        node = node.inner
    return (isinstance(node, In) and node.negated and _is_predicate(node)) or (
        isinstance(node, Unary) and node.op == "NOT" and _is_predicate(node.operand)
    )


def _has_predicate(node: Node) -> bool:
    return any(map(_is_predicate, walk_expression(node)))
