"""What Spark computes of a query without reading a row: its errors come also if the query has no rows.

Spark's optimizer joins a query with its subqueries, puts the constant of `c = 1` in place of `c`, and multiplies or adds the constants of `1 * c * 2`.
"""

from __future__ import annotations

from dataclasses import field, replace
from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.values import is_integer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paimon_nb.session.query.local.values import Value

_MAX_BRANCHES = 64
"""Combinations of branches of UNION ALL, at most."""


@dataclass(slots=True)
class Checks:
    """The constant expressions of a query that may raise an error."""

    texts: dict[str, None] = field(default_factory=dict)
    """Their SQL in the engine."""

    def add(self, conditions: Sequence[Value], others: Sequence[Value]) -> None:
        """Add those of a SELECT.

        Args:
            conditions: the parts of an AND.
            others: all other values. Both may have columns of subqueries.

        Raises:
            NotLocal: there are too many combinations of branches.
        """
        values = [*conditions, *others]
        if not any(v.raises for v in values):
            return
        for branches in _combinations(values):
            inlined = [_inlined(v, branches, {}) for v in values]
            constants = dict(_equal_constants(inlined[: len(conditions)]))
            if constants:
                inlined += [_inlined(v, branches, constants) for v in conditions]
            for value in inlined:
                self._add_parts(value)

    def _add_parts(self, value: Value) -> None:
        if value.is_constant:
            return  # it is one of the texts since it was made
        folded = _folded(value)
        if folded is not None and is_integer(folded.type):
            self.texts[folded.sql] = None
        for operand in _operands(value):
            self._add_parts(operand)


def _operands(value: Value) -> tuple[Value, ...]:
    return () if value.origin is None else value.origin.operands


def _combinations(values: Sequence[Value]) -> Iterator[dict[str, int]]:
    """The branches of all subqueries with UNION ALL in these values: source -> branch."""
    counts: dict[str, int] = {}
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if value.origin is not None:
            if value.origin.alternatives:
                counts[value.origin.source] = len(value.origin.alternatives)
            waiting += value.origin.operands
            waiting += value.origin.alternatives
    if prod(counts.values()) > _MAX_BRANCHES:
        raise NotLocal("many branches of UNION ALL are joined")
    for branches in islice(product(*(range(n) for n in counts.values())), _MAX_BRANCHES):
        yield dict(zip(counts, branches, strict=True))


def _inlined(value: Value, branches: Mapping[str, int], constants: Mapping[str, Value]) -> Value:
    """The value with the expressions of subqueries, and known constants, in place of their columns."""
    if value.sql in constants:
        return constants[value.sql]
    origin = value.origin
    if origin is None:
        return value
    if origin.operator == "COLUMN":
        if not origin.alternatives:
            return value
        found = _inlined(origin.alternatives[branches[origin.source]], branches, constants)
        return constants.get(found.sql, found.cast(value.type))
    operands = tuple(_inlined(o, branches, constants) for o in origin.operands)
    if all(a is b for a, b in zip(operands, origin.operands, strict=True)):
        return value
    if origin.apply is None:
        return replace(value, origin=replace(origin, operands=operands))
    return origin.apply(operands)


def _equal_constants(conditions: Sequence[Value]) -> Iterator[tuple[str, Value]]:
    """The columns that an AND requires to be constants."""
    for condition in conditions:
        if condition.origin is None:
            continue
        if condition.origin.operator == "AND":
            yield from _equal_constants(condition.origin.operands)
        elif condition.origin.operator in ("=", "<=>"):
            a, b = condition.origin.operands
            for column, constant in ((a, b), (b, a)):
                if constant.is_constant and not column.is_constant and column.origin is None:
                    yield column.sql, constant


def _folded(value: Value) -> Value | None:
    """The constants of a chain such as `1 * c * 2`, multiplied or added; None: there are less than two."""
    origin = value.origin
    if origin is None or origin.apply is None or origin.operator not in ("+", "*"):
        return None
    constants = [v for v in _chain(value, origin.operator) if v.is_constant]
    if len(constants) < 2:
        return None
    folded = constants[0]
    for constant in constants[1:]:
        folded = origin.apply((folded, constant))
    return folded


def _chain(value: Value, operator: str) -> Iterator[Value]:
    """The operands of nested operations of one kind, from left to right."""
    if value.origin is not None and value.origin.operator == operator and len(value.origin.operands) == 2:
        for operand in value.origin.operands:
            yield from _chain(operand, operator)
    else:
        yield value
