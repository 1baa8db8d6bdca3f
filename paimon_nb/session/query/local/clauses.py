"""Clauses of a query that the embedded engine's translator and the incremental engine read alike. Raise NotLocal."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from paimon_nb.session.query.local.expressions import Expressions
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.values import NULL, Value, cast_to_common_type, is_floating
from paimon_nb.syntax import tree as syntax
from paimon_nb.syntax.tree import without_brackets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.format.types import DataType
    from paimon_nb.session.query.local.expressions import Context
    from paimon_nb.session.query.local.scopes import Read, Relation

# -- SELECT


def select_list(
    items: Sequence[syntax.Node],
    scope: Expressions,
    relation: Relation,
    made: Mapping[int, Sequence[tuple[str | None, Value]]] | None = None,
) -> list[tuple[str | None, Value]]:
    """The items of a SELECT list, with the names that Spark gives them. `made`: the columns of functions that make rows, by position."""
    named: list[tuple[str | None, Value]] = []
    for position, item in enumerate(items):
        if made and position in made:
            named += made[position]
            continue
        alias, e = (item.name, item.expression) if isinstance(item, syntax.Alias) else (None, item)
        if alias == "":
            raise NotLocal("several aliases are left to Spark")
        if isinstance(e, syntax.Star):
            if scope.groups is not None or alias is not None:
                raise NotLocal("* beside groups is left to Spark")
            if e.changed and not e.excluded:
                raise NotLocal("* with exceptions is left to Spark")
            named += relation.star(e.qualifier, e.excluded)
            continue
        value = scope.value(e)
        if value.type == NULL:
            raise NotLocal("a column of NULL is left to Spark")
        named.append((alias or name_in_spark(e, value), value))
    return named


def name_in_spark(e: syntax.Node, value: Value) -> str | None:
    """Spark's name of an item without an alias: a column keeps its name under one CAST."""
    e = without_brackets(e)
    if isinstance(e, syntax.Cast) and e.form == "CAST" and value.name is not None:
        operand = without_brackets(e.operand)
        if isinstance(operand, syntax.Column):
            return operand.parts[-1]
    return value.name


def named_windows(node: syntax.Select) -> dict[str, syntax.Window]:
    """The windows of the WINDOW clause by lower-case name. Raises NotLocal for other clauses after a query."""
    found = {w.name.lower(): w.window for w in node.tail.other if isinstance(w, syntax.NamedWindow)}
    if node.tail.has_other and len(found) < len(node.tail.other):
        raise NotLocal("a clause after the query is left to Spark")
    return found


# -- FROM


def parts_of_from(source: syntax.Node, joins: Sequence[syntax.Join]) -> list[tuple[syntax.Node, list[syntax.Join]]]:
    """The parts of FROM between commas, each a source and its joins: JOIN binds stronger than a comma."""
    found: list[tuple[syntax.Node, list[syntax.Join]]] = [(source, [])]
    for join in joins:
        if join.kind == ",":
            found.append((join.source, []))
        else:
            found[-1][1].append(join)
    return found


def using_columns(
    scope: Expressions, kind: str, left: Relation, right: Relation, names: Sequence[str]
) -> tuple[list[Value], list[tuple[str, Read]]]:
    """The conditions of USING, and the columns that it merges."""
    from paimon_nb.session.query.local.operators import OPERATORS

    conditions: list[Value] = []
    merged: list[tuple[str, Read]] = []
    for name in names:
        column = syntax.Column(syntax.Span(0, 0), (name,))
        a, b = left.resolve(column), right.resolve(column)
        conditions.append(scope.apply("=", OPERATORS["="], [a, b]))
        if kind == "FULL":
            cast, t = cast_to_common_type([a, b])
            value = Value(f"coalesce({cast[0].sql}, {cast[1].sql})", t, name)
        else:
            value = b if kind == "RIGHT" else a
        written = next(n for n, _ in (right if kind == "RIGHT" else left).visible if n.lower() == name.lower())
        merged.append((written, as_read(value)))
    return conditions, merged


def renamed(names: Sequence[str | None], by: Sequence[str]) -> list[str]:
    """The names of a source's columns, with those of `AS t (a, b)`."""
    if by and len(by) != len(names):
        raise NotLocal("a source has another number of columns than names")
    found = [n for n in by or names if n is not None]
    if len(found) < len(names):
        raise NotLocal("a column of a subquery has no alias")
    return found


def as_read(value: Value) -> Read:
    """How a relation reads a column whose value is known."""
    return partial(_same, value)


def _same(value: Value) -> Value:
    return value


# -- VALUES


def values_columns(context: Context, rows: Sequence[syntax.Node]) -> list[tuple[list[Value], DataType]]:
    """The columns of VALUES: the constants of all rows, cast to one type."""
    scope = Expressions(context, _no_column)
    written = [[scope.value(e) for e in row_parts(row)] for row in rows]
    if len({len(r) for r in written}) > 1:
        raise NotLocal("the rows of VALUES have different lengths")
    columns = []
    for column in zip(*written, strict=True):
        cast, t = cast_to_common_type(list(column))
        if t == NULL or any(v.raises or not v.is_constant for v in cast):
            raise NotLocal("VALUES that compute are left to Spark")
        columns.append((list(cast), t))
    return columns


def _no_column(column: syntax.Column) -> Value:
    raise NotLocal(f"{column.parts[-1]} is not known")


def row_parts(row: syntax.Node) -> tuple[syntax.Node, ...]:
    if isinstance(row, syntax.Composite) and row.kind == "row":
        return row.parts
    return (without_brackets(row),)


# -- ORDER BY and LIMIT


def result_column_position(
    e: syntax.Node, named: Sequence[tuple[str | None, Value]], relation: Relation | None
) -> int | None:
    """The column of the result that an expression of ORDER BY or HAVING names; None: it is another expression."""
    if isinstance(e, syntax.Literal) and e.kind == "number" and e.text.isdecimal():
        position = int(e.text) - 1
        if not 0 <= position < len(named):
            raise NotLocal("ORDER BY has no such position")
        return position
    _refuse_signed_number(e)
    if not isinstance(e, syntax.Column) or len(e.parts) > 1:
        return None
    found = [i for i, (name, _) in enumerate(named) if (name or "").lower() == e.parts[0].lower()]
    if not found:
        return None
    values = {named[i][1].sql for i in found}
    if len(values) > 1:
        raise NotLocal(f"{e.parts[0]} is ambiguous")
    columns = [] if relation is None else relation.matches(e)
    if columns and any(read().sql not in values for read in columns) and not is_floating(named[found[0]][1].type):
        raise NotLocal(f"{e.parts[0]} is a column and an alias")
    return found[0]


def _refuse_signed_number(e: syntax.Node) -> None:
    """Spark takes `-3` in GROUP BY and ORDER BY for a position, and refuses it."""
    if isinstance(e, syntax.Unary) and isinstance(without_brackets(e.operand), syntax.Literal):
        raise NotLocal("a signed number as a position is left to Spark")


def limit_number(node: syntax.Node | None) -> int | None:
    """The number of LIMIT or OFFSET."""
    if node is None:
        return None
    if not (isinstance(node, syntax.Literal) and node.kind == "number" and node.text.isdecimal()):
        raise NotLocal("LIMIT is not a number")
    return int(node.text)
