"""UPDATE, DELETE and MERGE."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.sql.grammar.insert import parse_table_with_hint
from paimon_nb.sql.grammar.query import metadata_columns_of
from paimon_nb.sql.pushdown import with_condition
from paimon_nb.sql.table_references import find_source, find_tables_in
from paimon_nb.statements import Delete, Merge, MergeClause, Span, TableRef, Update
from paimon_nb.syntax.queries import expression_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.sql.table_references import TableReferences
    from paimon_nb.syntax.lexer import Cursor, Token


def _parse_target_with_alias(cursor: Cursor, stops: tuple[str, ...]) -> TableRef:
    table = parse_table_with_hint(cursor)
    alias = None
    if cursor.take("AS") or (cursor.peek().is_name and cursor.peek().upper not in stops):
        alias = cursor.name("alias")
    return TableRef(table.parts, table.span, table.options, alias=alias)


def _parse_assignments(cursor: Cursor, *stops: str) -> tuple[tuple[tuple[str, ...], Span], ...]:
    out = []
    while True:
        column = cursor.parts("column")
        cursor.expect("=")
        value = cursor.balanced(",", *stops)
        if value.start == value.stop:
            cursor.fail("expected a value")
        out.append((column, value))
        if not cursor.take(","):
            return tuple(out)


def update(cursor: Cursor, span: Span) -> Update:
    cursor.expect("UPDATE")
    table = _parse_target_with_alias(cursor, ("SET",))
    cursor.expect("SET")
    first = cursor.at
    assignments = _parse_assignments(cursor, "WHERE")
    where = _parse_condition(cursor) if cursor.take("WHERE") else None
    tokens = cursor.tokens[first : cursor.at]
    found = find_tables_in(cursor, tokens, [table])
    table = replace(_target_with_filter(cursor, where, table, found), metadata_columns=metadata_columns_of(tokens))
    return Update(
        cursor.text_of(span), span, table, _with_metadata_columns(found.tables, tokens),
        tuple(found.edits), tuple(dict.fromkeys(found.parameters)), assignments, where,
        flink_edits=tuple(found.flink_edits),
    )  # fmt: skip


def delete(cursor: Cursor, span: Span) -> Delete:
    cursor.expect("DELETE", "FROM")
    table = _parse_target_with_alias(cursor, ("WHERE",))
    first = cursor.at
    where = _parse_condition(cursor) if cursor.take("WHERE") else None
    tokens = cursor.tokens[first : cursor.at]
    found = find_tables_in(cursor, tokens, [table])
    table = replace(_target_with_filter(cursor, where, table, found), metadata_columns=metadata_columns_of(tokens))
    return Delete(
        cursor.text_of(span), span, table, _with_metadata_columns(found.tables, tokens),
        tuple(found.edits), tuple(dict.fromkeys(found.parameters)), where, flink_edits=tuple(found.flink_edits),
    )  # fmt: skip


def _target_with_filter(
    cursor: Cursor, condition: Span | None, target: TableRef, found: TableReferences, *, sole_table: bool = True
) -> TableRef:
    """The target with the part of the statement's condition that concerns only it; see `with_condition`."""
    if condition is None:
        return target
    tokens = [t for t in cursor.tokens if condition.start <= t.start and t.stop <= condition.stop]
    tree = expression_tree(tokens, [ref.span for ref in found.tables])
    return with_condition(tree, target, sole_table=sole_table)


def _with_metadata_columns(tables: Sequence[TableRef], tokens: Sequence[Token]) -> tuple[TableRef, ...]:
    """The tables, which give the metadata columns that these tokens name."""
    columns = metadata_columns_of(tokens)
    return tuple(replace(t, metadata_columns=columns) for t in tables)


def merge(cursor: Cursor, span: Span) -> Merge:
    cursor.expect("MERGE")
    evolve = cursor.take("WITH", "SCHEMA", "EVOLUTION")
    cursor.expect("INTO")
    table = _parse_target_with_alias(cursor, ("USING",))
    cursor.expect("USING")
    first = cursor.at
    source = cursor.balanced("ON")
    factor, alias = find_source(cursor, cursor.tokens[first : cursor.at])
    cursor.expect("ON")
    first = cursor.at
    condition = _parse_condition(cursor, "WHEN")
    clauses = []
    while cursor.take("WHEN"):
        clauses.append(_parse_merge_clause(cursor))
    if not clauses:
        cursor.fail("expected WHEN MATCHED or WHEN NOT MATCHED", expected=["WHEN"])
    found = find_tables_in(cursor, cursor.tokens[first : cursor.at], [table, *factor.tables])
    if all(c.on != "not matched by source" for c in clauses):
        # A target row that fails its part of ON matches nothing; only BY SOURCE clauses need it.
        table = _target_with_filter(cursor, condition, table, found, sole_table=False)
    tables = _with_metadata_columns([*factor.tables, *found.tables], cursor.tokens[: cursor.at])
    return Merge(
        cursor.text_of(span), span, table, tables, (*factor.edits, *found.edits),
        tuple(dict.fromkeys((*factor.parameters, *found.parameters))), source, alias, condition, tuple(clauses), evolve,
    )  # fmt: skip


def _parse_condition(cursor: Cursor, *stops: str) -> Span:
    condition = cursor.balanced(*stops)
    if condition.start >= condition.stop:
        cursor.fail("expected a condition")
    return condition


def _parse_merge_clause(cursor: Cursor) -> MergeClause:
    on = "matched"
    if cursor.take("NOT"):
        on = "not matched"
    cursor.expect("MATCHED")
    if on == "not matched" and cursor.take("BY", "SOURCE"):
        on = "not matched by source"
    else:
        cursor.take("BY", "TARGET")
    condition = _parse_condition(cursor, "THEN") if cursor.take("AND") else None
    cursor.expect("THEN")
    if cursor.take("DELETE"):
        return MergeClause(on, "delete", condition)
    if cursor.take("UPDATE"):
        cursor.expect("SET")
        if cursor.take("*"):
            return MergeClause(on, "update", condition, star=True)
        return MergeClause(on, "update", condition, _parse_assignments(cursor, "WHEN"))
    cursor.expect("INSERT")
    if cursor.take("*"):
        return MergeClause(on, "insert", condition, star=True)
    columns = cursor.listed(lambda: cursor.parts("column"))
    cursor.expect("VALUES")
    values = cursor.listed(lambda: cursor.balanced(","))
    if len(columns) != len(values):
        cursor.fail(f"INSERT has {len(columns)} columns but {len(values)} values")
    return MergeClause(on, "insert", condition, tuple(zip(columns, values, strict=True)))
