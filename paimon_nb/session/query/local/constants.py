"""What Spark computes of a query without reading a row: its errors come also if the query has no rows.

Spark's optimizer joins a query with its subqueries, puts the constant of `c = 1` in place of `c`, and multiplies or adds the constants of `1 * c * 2`.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from itertools import islice, product
from typing import TYPE_CHECKING, TypeAlias

from paimon_nb.session.query.local.expressions import has_aggregate
from paimon_nb.sql.select_tree import NotLocal
from paimon_nb.statements.select import Call, Case, Cast, Column, Select, SelectTree, Star, Subquery

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from paimon_nb.statements.select import Expression

_MAX_BRANCHES = 64
"""Combinations of branches of UNION ALL, at most."""
_Outputs: TypeAlias = "list[tuple[str | None, Expression]]"
"""Names and expressions of the columns of a query, as far as they are known."""


def constant_expressions_that_may_fail(tree: SelectTree) -> list[Expression]:
    """The largest parts of a query that compute without a column. Raises NotLocal: there are too many."""
    return [part for e in _joined_with_subqueries(tree) for part in _constant_parts_that_may_fail(e)]


def reordered_constants(tree: SelectTree) -> list[Expression]:
    """Products and sums of the constants in chains such as `1 * c * 2`, which Spark computes first if they are integers."""
    return [folded for e in _joined_with_subqueries(tree) for folded in _folded_chains(e)]


def _constant_parts_that_may_fail(e: Expression) -> Iterator[Expression]:
    if isinstance(e, Call | Cast | Case) and _is_constant(e):
        yield e
    else:
        for part in _operands(e):
            yield from _constant_parts_that_may_fail(part)


def _folded_chains(e: Expression) -> Iterator[Expression]:
    if isinstance(e, Call) and e.name in ("+", "*") and len(e.operands) == 2:
        constants = [part for part in _chain(e, e.name) if _is_constant(part)]
        if len(constants) > 1 and not _is_constant(e):
            folded = constants[0]
            for constant in constants[1:]:
                folded = Call(e.name, (folded, constant))
            yield folded
    for part in _operands(e):
        yield from _folded_chains(part)


def _chain(e: Expression, operator: str) -> Iterator[Expression]:
    """The operands of nested calls of one operator, from left to right."""
    if isinstance(e, Call) and e.name == operator and len(e.operands) == 2:
        for operand in e.operands:
            yield from _chain(operand, operator)
    else:
        yield e


def _is_constant(e: Expression) -> bool:
    return not has_aggregate(e) and not _has_column(e)


def _has_column(e: Expression) -> bool:
    return isinstance(e, Column) or any(map(_has_column, _operands(e)))


def _operands(node: object) -> Iterator[Expression]:
    """The expressions directly below one."""
    for f in fields(node) if is_dataclass(node) else ():
        yield from _expressions_in(getattr(node, f.name))


def _expressions_in(value: object) -> Iterator[Expression]:
    if isinstance(value, tuple):
        for element in value:
            yield from _expressions_in(element)
    elif is_dataclass(value):
        yield value  # type: ignore[misc]  # an expression has no other parts


def _with_columns(e: Expression, of: Callable[[Column], Expression]) -> Expression:
    """The expression with another one in place of each column."""
    if isinstance(e, Column):
        return of(e)
    changed = {f.name: _value_with_columns(getattr(e, f.name), of) for f in fields(e)}
    return replace(e, **changed)  # type: ignore[arg-type]  # fields of any expression


def _value_with_columns(value: object, of: Callable[[Column], Expression]) -> object:
    if isinstance(value, tuple):
        return tuple(_value_with_columns(element, of) for element in value)
    return _with_columns(value, of) if is_dataclass(value) else value  # type: ignore[arg-type]


# -- subqueries


def _joined_with_subqueries(tree: SelectTree) -> list[Expression]:
    """All expressions of a query, with the expressions of its subqueries in place of their columns."""
    found: list[Expression] = []
    _collect(tree, found)
    return found


def _collect(tree: SelectTree, found: list[Expression]) -> list[_Outputs]:
    """Adds the expressions of a query to `found`. Returns its columns, for each branch of UNION ALL."""
    branches: list[_Outputs] = []
    for branch in tree.branches:
        branches += _collect(branch, found) if isinstance(branch, SelectTree) else _collect_select(branch, found)
    names = [name for name, _ in branches[0]]
    named = [_renamed(outputs, names) for outputs in branches]
    for outputs in named:
        found += [_with_columns(o.expression, _column_of([("", outputs)])) for o in tree.order]
    return named


def _renamed(outputs: _Outputs, names: Sequence[str | None]) -> _Outputs:
    """The columns of a branch with the names of the first one, if all columns are known."""
    if len(outputs) != len(names):
        return outputs
    return [(name, e) for name, (_, e) in zip(names, outputs, strict=True)]


def _collect_select(select: Select, found: list[Expression]) -> list[_Outputs]:
    sources = (select.source, *(j.source for j in select.joins))
    below = [(s.alias, _collect(s.query, found) if isinstance(s, Subquery) else [[]]) for s in sources]
    combined = list(islice(product(*(branches for _, branches in below)), _MAX_BRANCHES + 1))
    if len(combined) > _MAX_BRANCHES:
        raise NotLocal("many branches of UNION ALL are joined")
    return [_select_over(select, [(a, o) for (a, _), o in zip(below, c, strict=True)], found) for c in combined]


def _select_over(select: Select, sources: Sequence[tuple[str, _Outputs]], found: list[Expression]) -> _Outputs:
    """Adds the expressions of one SELECT to `found`. Returns its columns."""
    of = _column_of(sources)
    outputs: _Outputs = []
    for item in select.items:
        if isinstance(item.expression, Star):
            outputs += [o for alias, known in sources if _is_named(alias, item.expression.qualifier) for o in known]
        else:
            name = item.alias or (item.expression.name if isinstance(item.expression, Column) else None)
            outputs.append((name, _with_columns(item.expression, of)))
    conditions = [c for c in (select.where, select.having, *(j.condition for j in select.joins)) if c is not None]
    for condition in conditions:
        found += _with_equal_constants(_with_columns(condition, of))
    above = _column_of([("", outputs)])
    if select.having is not None:
        found.append(_with_columns(select.having, above))
    found += [_with_columns(e, of) for e in select.group]
    found += [e for _, e in outputs]
    return outputs


def _column_of(sources: Sequence[tuple[str, _Outputs]]) -> Callable[[Column], Expression]:
    """What a column stands for: an expression of a subquery, else the column itself."""

    def of(column: Column) -> Expression:
        known = (o for alias, outputs in sources if _is_named(alias, column.qualifier) for o in outputs)
        return next((e for name, e in known if (name or "").lower() == column.name.lower()), column)

    return of


def _is_named(alias: str, qualifier: str | None) -> bool:
    return qualifier is None or alias.lower() == qualifier.lower()


def _with_equal_constants(condition: Expression) -> Iterable[Expression]:
    """A condition as it is, and with the constants that an AND requires in place of their columns."""
    parts = list(_chain(condition, "AND"))
    constants = {}
    for part in parts:
        if isinstance(part, Call) and part.name in ("=", "<=>"):
            for column, value in (part.operands, part.operands[::-1]):
                if isinstance(column, Column) and _is_constant(value):
                    constants[column.name.lower()] = value
    yield condition
    if constants:
        for part in parts:
            yield _with_columns(part, lambda column: constants.get(column.name.lower(), column))
