"""Pushdown analysis: the filter and the columns that a query needs from each table, from its tree.

Filters are conservative, and Spark applies every filter again.
"""

from __future__ import annotations

import datetime as dt
import decimal
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.syntax.queries import condition_tree_of
from paimon_nb.syntax.tree import (
    Between,
    Binary,
    Call,
    Cast,
    Column,
    DerivedTable,
    FunctionTable,
    Is,
    Join,
    Literal,
    Logical,
    Pivoted,
    Select,
    Star,
    Table,
    Unary,
    WindowTable,
    conjuncts,
    walk,
    without_brackets,
)
from paimon_nb.syntax.tree import In as InNode
from paimon_nb.syntax.tree import Like as LikeNode
from paimon_nb.table.read.predicate.model import FLIPPED, Compare, In, IsNull, Like, Not, Or, Predicate, conjunction_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from paimon_nb.statements import TableRef
    from paimon_nb.syntax.tree import Node, QueryTree

_OPERATORS = {"=": "=", "==": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_ESCAPED = {"'": "'", '"': '"', "\\": "\\", "n": "\n", "t": "\t", "r": "\r"}
"""The character after a backslash in Spark's strings -> what both mean."""
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
    node = without_brackets(node)
    match node:
        case Binary() if node.op in _OPERATORS:
            return _comparison_predicate(node, names)
        case Logical():
            parts = [predicate_of(p, names) for p in node.parts]
            known = [p for p in parts if p is not None]
            if len(known) < len(parts):
                return None
            return conjunction_of(known) if node.op == "AND" else Or(tuple(known))
        case Unary(op="NOT"):
            inner = predicate_of(node.operand, names)
            return None if inner is None else Not(inner)
        case InNode():
            name = _column_of_table(node.operand, names)
            values = [_literal_value(item) for item in node.items]
            found = In(name, tuple(values)) if name and all(v is not None for v in values) else None
            return _negated(found, node.negated)
        case Between():
            name = _column_of_table(node.operand, names)
            low, high = _literal_value(node.low), _literal_value(node.high)
            if name is None or low is None or high is None or node.symmetric:
                return None
            return _negated(conjunction_of([Compare(name, ">=", low), Compare(name, "<=", high)]), node.negated)
        case Is(what="NULL" | "UNKNOWN"):
            name = _column_of_table(node.operand, names)
            return _negated(IsNull(name) if name else None, node.negated)
        case LikeNode(op="LIKE", escape=None):
            name, pattern = _column_of_table(node.operand, names), node.pattern
            if name is None or not (isinstance(pattern, Literal) and pattern.kind == "string"):
                return None
            text = _string_value_if_unambiguous(pattern.text)
            return _negated(Like(name, text) if text is not None and "\\" not in text else None, node.negated)
    return None


def _negated(found: Predicate | None, negated: bool) -> Predicate | None:
    return Not(found) if found is not None and negated else found


def _comparison_predicate(node: Binary, names: Names) -> Predicate | None:
    op = _OPERATORS[node.op]
    left, right = _column_of_table(node.left, names), _column_of_table(node.right, names)
    if left is not None and (literal := _literal_value(node.right)) is not None:
        return Compare(left, op, literal)
    if right is not None and (literal := _literal_value(node.left)) is not None:
        return Compare(right, FLIPPED[op], literal)
    return None


def _column_of_table(node: Node, names: Names) -> str | None:
    if not isinstance(node, Column):
        return None
    qualifier = tuple(p.lower() for p in node.parts[:-1])
    return node.parts[-1] if qualifier in names else None


def _literal_value(node: Node) -> Any:
    """The literal's value; None for NULL and for everything that is not a literal."""
    node = without_brackets(node)
    match node:
        case Unary(op="-"):
            value = _literal_value(node.operand)
            return -value if _is_exact(value) else None
        case Binary(op="+" | "-" | "*"):
            left, right = _literal_value(node.left), _literal_value(node.right)
            return _exact_arithmetic(node.op, left, right) if _is_exact(left) and _is_exact(right) else None
        case Literal(kind="TRUE" | "FALSE"):
            return node.kind == "TRUE"
        case Literal(kind="string"):
            return _string_value_if_unambiguous(node.text)
        case Literal(kind="number"):
            return _number_value(node.text)
        case Literal(kind="DATE" | "TIMESTAMP_NTZ"):
            return _time_value(node.kind, node.text)
        case Cast(operand=Literal(kind="string", text=text), type="DATE" | "TIMESTAMP_NTZ"):
            return _time_value(node.type, text)
    return None


def _is_exact(value: Any) -> bool:
    return isinstance(value, int | decimal.Decimal) and not isinstance(value, bool)


def _number_value(text: str) -> int | decimal.Decimal | None:
    """None for a number with a type's suffix."""
    try:
        return int(text) if text.isdecimal() else decimal.Decimal(text)
    except decimal.InvalidOperation:
        return None


def _time_value(kind: str, text: str) -> dt.date | dt.datetime | None:
    try:
        return dt.date.fromisoformat(text[1:-1]) if kind == "DATE" else dt.datetime.fromisoformat(text[1:-1])
    except ValueError:
        return None


def _string_value_if_unambiguous(written: str) -> str | None:
    """The value of a string in Spark; None if the dialects may differ."""
    quote_char, inner = written[0], written[1:-1]
    if quote_char in "rR" or quote_char * 2 in inner.replace("\\" + quote_char, ""):
        return None
    if "\\" not in inner:
        return inner
    out, at = "", 0
    while at < len(inner):
        if inner[at] == "\\":
            at += 1
            if at == len(inner) or inner[at] not in _ESCAPED:
                return None
            out += _ESCAPED[inner[at]]
        else:
            out += inner[at]
        at += 1
    return out


def _exact_arithmetic(op: str, left: Any, right: Any) -> Any:
    """The exact sum, difference or product of two numbers; None if Spark may round or overflow."""
    with decimal.localcontext(prec=100):
        value = left + right if op == "+" else left - right if op == "-" else left * right
    if isinstance(value, int):
        return value if abs(value) < 1 << 31 else None
    return value if len(value.as_tuple().digits) <= 18 else None
