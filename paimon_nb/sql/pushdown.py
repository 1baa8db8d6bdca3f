"""Pushdown analysis: the filter and the columns that a query needs from each table, from its tree.

Filters are conservative, and Spark applies every filter again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.syntax.queries import condition_tree_of
from paimon_nb.syntax.tree import (
    Binary,
    Call,
    Cast,
    Column,
    DerivedTable,
    FunctionTable,
    Join,
    Pivoted,
    Select,
    Star,
    Table,
    WindowTable,
    conjuncts,
    walk,
    without_brackets,
)
from paimon_nb.table.read.predicate.model import Predicate, conjunction_of
from paimon_nb.table.read.predicate.parser import PredicateReader, literal_value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from paimon_nb.statements import TableRef
    from paimon_nb.syntax.tree import Node, QueryTree

Names = frozenset[tuple[str, ...]]
"""The qualifiers of a table's columns, lower case; () if the column needs none."""


def with_pushdown(tree: QueryTree | None, tables: Sequence[TableRef]) -> tuple[TableRef, ...]:
    """The references with the `filter` and `columns` that follow from the query's tree."""
    if not tables or tree is None:
        return tuple(tables)
    columns = _possible_columns(tree)
    filters = _filters_by_table(tree, tables)
    return tuple(replace(ref, columns=columns, filter=filters.get(i)) for i, ref in enumerate(tables))


def with_condition(condition: Node | None, table: TableRef, *, sole_table: bool = True) -> TableRef:
    """The target of an UPDATE, DELETE or MERGE with the part of its condition that concerns only it as `filter`.

    Args:
        sole_table: no other table is in scope, so unqualified names belong to this table.
    """
    if condition is None:
        return table
    names = qualifiers_of(table, sole_table=sole_table)
    known = [predicate_of(c, names) for c in conjuncts(condition)]
    parts = [p for p in known if p is not None]
    return replace(table, filter=conjunction_of(parts)) if parts else table


def equal_columns(condition: str, through: Collection[str] = ()) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """The conjuncts `a.x = b.y` of a condition as pairs of (qualifier or '', column), lower case.

    through: types (BIGINT, ...); a column cast to one of them is treated as the column.
    """
    tree = condition_tree_of(condition)
    if tree is None:
        return []

    def qualified_column(node: Node) -> tuple[str, str] | None:
        node = without_brackets(node)
        while isinstance(node, Cast) and node.type in through:
            node = without_brackets(node.operand)
        if not isinstance(node, Column) or len(node.parts) > 2:
            return None
        return "".join(node.parts[:-1]).lower(), node.parts[-1].lower()

    equalities = [c for c in conjuncts(tree) if isinstance(c, Binary) and c.op in ("=", "==")]
    pairs = [(qualified_column(c.left), qualified_column(c.right)) for c in equalities]
    return [(a, b) for a, b in pairs if a is not None and b is not None]


def qualifiers_of(table: TableRef, *, sole_table: bool) -> Names:
    """How a reference's columns may be qualified in the text."""
    parts = table.function.name if table.function else table.parts
    written = tuple(p.lower() for p in ((table.alias,) if table.alias is not None else parts))
    names = {written[i:] for i in range(len(written))}
    return frozenset(names | {()} if sole_table else names)


def _possible_columns(tree: QueryTree) -> tuple[str, ...] | None:
    """All names that could be columns, of any table; None if a star selects all columns."""
    names: dict[str, None] = {}
    counted: set[int] = set()
    for node in walk(tree):
        match node:
            case Call() if node.function == "COUNT":
                counted.update(id(argument) for argument in node.arguments)
            case Star() if id(node) not in counted:
                return None
            case WindowTable() | Pivoted() | Join(natural=True):
                return None
            case FunctionTable(lateral=True) | DerivedTable(lateral=True):
                return None
            case Join():
                names.update(dict.fromkeys(node.using))
            case Column():  # `a.b` may be field b of a struct a
                names.update(dict.fromkeys(node.parts))
    return tuple(names)


def _filters_by_table(tree: QueryTree, tables: Sequence[TableRef]) -> dict[int, Predicate]:
    out: dict[int, Predicate] = {}
    for select in walk(tree):
        if not isinstance(select, Select) or select.where is None or select.source is None or select.lateral_views:
            continue
        for number in _preserved_tables(select.source, select.joins):
            names = qualifiers_of(tables[number], sole_table=not select.joins)
            parts = [p for p in (predicate_of(c, names) for c in conjuncts(select.where)) if p is not None]
            if parts:
                out[number] = conjunction_of(parts)
    return out


def _preserved_tables(first: Node, joins: Sequence[Join]) -> set[int]:
    """The numbers of the tables that no outer join can replace by NULLs."""
    out = _table_numbers([first])
    for join in joins:
        if join.side == "FULL":
            return set()
        if join.side == "RIGHT":
            out = set()
        if join.side != "LEFT" and join.kind not in ("SEMI", "ANTI"):
            out |= _table_numbers([join.source])
    return out


def _table_numbers(sources: Iterable[Node]) -> set[int]:
    return {s.number for s in sources if isinstance(s, Table) and s.number is not None}


def predicate_of(node: Node, names: Names) -> Predicate | None:
    """The condition as a predicate, or None if a part of it does not clearly concern this table.

    names: see `qualifiers_of`.
    """
    reader = PredicateReader(
        column=lambda operand: _column_of_table(operand, names),
        literal=lambda literal: literal_value(literal, flink=None),
        leaf=lambda _, comparison: comparison,
        other=lambda _: None,
        escapes_like=None,
    )
    return reader.predicate(node)


def _column_of_table(node: Node, names: Names) -> str | None:
    node = without_brackets(node)
    if not isinstance(node, Column):
        return None
    qualifier = tuple(p.lower() for p in node.parts[:-1])
    return node.parts[-1] if qualifier in names else None
