"""INSERT, UPDATE, DELETE, MERGE, statement sets."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from paimon_nb.plan import Delete, Insert, Merge, MergeClause, Query, Span, Statement, StatementSet, TableRef, Update
from paimon_nb.sql.cursor import Cursor
from paimon_nb.sql.grammar.partition import partition_spec
from paimon_nb.sql.grammar.query import metadata_columns_of, query, query_of
from paimon_nb.sql.grammar.values_literals import constant_rows
from paimon_nb.sql.pushdown import with_condition
from paimon_nb.sql.table_references import find_source, find_tables_in, hint_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.sql.lexer import Token

_QUERY = ("SELECT", "WITH", "VALUES", "FROM", "TABLE")
_CHANGES = frozenset({("INSERT", "INTO"), ("INSERT", "OVERWRITE"), ("MERGE", "INTO"), ("DELETE", "FROM")})


def target(cursor: Cursor) -> TableRef:
    """A table that is written to, with its OPTIONS hint."""
    start = cursor.start
    parts = cursor.parts("table")
    options = hint_options(cursor) if cursor.peek().kind == "hint" else {}
    return TableRef(parts, Span(start, cursor.stop), options)


def query_or_insert(cursor: Cursor, span: Span) -> Query | Insert | StatementSet:
    """A query that starts with WITH or FROM; Spark also allows `WITH x AS (...) INSERT INTO t SELECT ...`."""
    first, depth = cursor.at, 0
    for index, token in enumerate(cursor.tokens):
        depth += (token.text == "(") - (token.text == ")")
        follows = cursor.tokens[index + 1].upper if index + 1 < len(cursor.tokens) else ""
        if depth or index == first or (token.upper, follows) not in _CHANGES:
            continue
        cursor.at = index
        if token.upper != "INSERT":
            cursor.refuse(f"WITH before {token.upper} is not supported", "write the subquery where it is used")
        return _insert_after_query(cursor, span, first)
    return query(cursor, span)


def _insert_after_query(cursor: Cursor, span: Span, first: int) -> Insert | StatementSet:
    """The query is the text before INSERT and the text after its target.

    Hive and Spark allow several INSERTs, each with its own SELECT; they run one after the other.
    """
    index, read = cursor.at, cursor.tokens
    starts = [i for i in range(index, len(read)) if _begins_insert(read, i) and _is_at_top_level(read, index, i)]
    head, insert_start = read[first:index], read[index].start
    inserts = [
        _one_insert(cursor, head, read[start:stop], Span(span.start, read[stop - 1].stop), insert_start)
        for start, stop in pairwise([*starts, len(read)])
    ]
    cursor.at = len(read)
    if len(inserts) == 1:
        return inserts[0]
    sources = {t.parts for i in inserts if i.query is not None for t in i.query.tables}
    for start, insert_ in zip(starts, inserts, strict=True):
        if insert_.target is not None and insert_.target.parts in sources:
            cursor.at = start
            cursor.refuse(
                "a multi-table INSERT cannot write to the table that it reads", "use separate INSERT statements"
            )
    return StatementSet(cursor.text_of(span), span, tuple(inserts))


def _one_insert(cursor: Cursor, head: Sequence[Token], part: Sequence[Token], span: Span, insert_start: int) -> Insert:
    """One INSERT after `head`. `span`: the text up to its end; `insert_start`: the start of the first INSERT."""
    inserted = insert(Cursor(cursor.text, part), Span(part[0].start, span.stop))
    assert inserted.query is not None
    select = inserted.query.span.start
    source = query_of(Cursor(cursor.text, [*head, *(t for t in part if t.start >= select)]), span)
    source = replace(source, edits=(*source.edits, (Span(insert_start, select), "")))
    return replace(inserted, text=cursor.text_of(span), span=span, query=source, rows=None)


def _begins_insert(tokens: Sequence[Token], at: int) -> bool:
    return tokens[at].upper == "INSERT" and at + 1 < len(tokens) and tokens[at + 1].upper in ("INTO", "OVERWRITE")


def _is_at_top_level(tokens: Sequence[Token], start: int, stop: int) -> bool:
    """Whether no bracket opened after `start` is open at `stop`."""
    return sum((t.text == "(") - (t.text == ")") for t in tokens[start:stop]) == 0


def insert(cursor: Cursor, span: Span) -> Insert:
    cursor.need("INSERT")
    word = cursor.take_one("INTO", "OVERWRITE")
    if word is None:
        cursor.fail("expected INTO or OVERWRITE", expected=["INTO", "OVERWRITE"])
    if cursor.peek(1).is_name:
        cursor.take("TABLE")
    table = target(cursor)
    if cursor.sees("REPLACE", "WHERE"):
        cursor.refuse("INSERT ... REPLACE WHERE is not supported", "DELETE FROM t WHERE ..., then INSERT; or INSERT OVERWRITE t PARTITION (...)")  # fmt: skip
    partition: dict[str, str | None] = {}
    columns: tuple[str, ...] | None = None
    by_name = False
    while True:
        if cursor.take("PARTITION"):
            partition = partition_spec(cursor)
        elif cursor.take("IF", "NOT", "EXISTS"):
            pass
        elif cursor.take("BY", "NAME"):
            by_name = True
        elif columns is None and cursor.sees("(") and not _is_query(cursor):
            columns = cursor.names()
        elif cursor.peek().kind == "hint":
            table = TableRef(table.parts, table.span, {**table.options, **hint_options(cursor)})
        else:
            break
    source = Span(cursor.start, span.stop)
    rows = constant_rows(cursor.tokens[cursor.at :])
    query = query_of(cursor, source)
    return Insert(cursor.text_of(span), span, table, query, columns, by_name, word == "OVERWRITE", partition, rows)


def _is_query(cursor: Cursor) -> bool:
    ahead = 0
    while cursor.peek(ahead).text == "(":
        ahead += 1
    return cursor.peek(ahead).upper in _QUERY


def statement_set(cursor: Cursor, span: Span) -> Statement:
    """EXECUTE STATEMENT SET BEGIN ... END and BEGIN STATEMENT SET; ... END."""
    cursor.take("EXECUTE")
    if not cursor.take("BEGIN", "STATEMENT", "SET"):
        cursor.need("STATEMENT", "SET")
        cursor.need("BEGIN")
    cursor.take(";")
    inserts = []
    while not cursor.take("END"):
        stop = cursor.at
        while stop < len(cursor.tokens) and cursor.tokens[stop].upper not in (";", "END"):
            stop += 1
        part = cursor.tokens[cursor.at : stop]
        if not part:
            cursor.fail("expected INSERT or END", expected=["INSERT", "END"])
        inserts.append(insert(Cursor(cursor.text, part), Span(part[0].start, part[-1].stop)))
        cursor.at = stop
        cursor.take(";")
    return StatementSet(cursor.text_of(span), span, tuple(inserts))


def _aliased(cursor: Cursor, stops: tuple[str, ...]) -> TableRef:
    table = target(cursor)
    alias = None
    if cursor.take("AS") or (cursor.peek().is_name and cursor.peek().upper not in stops):
        alias = cursor.name("alias")
    return TableRef(table.parts, table.span, table.options, alias=alias)


def _assignments(cursor: Cursor, *stops: str) -> tuple[tuple[tuple[str, ...], Span], ...]:
    out = []
    while True:
        column = cursor.parts("column")
        cursor.need("=")
        value = cursor.balanced(",", *stops)
        if value.start == value.stop:
            cursor.fail("expected a value")
        out.append((column, value))
        if not cursor.take(","):
            return tuple(out)


def update(cursor: Cursor, span: Span) -> Update:
    cursor.need("UPDATE")
    table = _aliased(cursor, ("SET",))
    cursor.need("SET")
    first = cursor.at
    assignments = _assignments(cursor, "WHERE")
    where = _condition(cursor) if cursor.take("WHERE") else None
    tokens = cursor.tokens[first : cursor.at]
    found = find_tables_in(cursor, tokens, [table])
    table = replace(with_condition(cursor.text, where, table, found), metadata_columns=metadata_columns_of(tokens))
    return Update(
        cursor.text_of(span), span, table, _with_metadata_columns(found.tables, tokens),
        tuple(found.edits), tuple(dict.fromkeys(found.parameters)), assignments, where,
        flink_edits=tuple(found.flink_edits),
    )  # fmt: skip


def delete(cursor: Cursor, span: Span) -> Delete:
    cursor.need("DELETE", "FROM")
    table = _aliased(cursor, ("WHERE",))
    first = cursor.at
    where = _condition(cursor) if cursor.take("WHERE") else None
    tokens = cursor.tokens[first : cursor.at]
    found = find_tables_in(cursor, tokens, [table])
    table = replace(with_condition(cursor.text, where, table, found), metadata_columns=metadata_columns_of(tokens))
    return Delete(
        cursor.text_of(span), span, table, _with_metadata_columns(found.tables, tokens),
        tuple(found.edits), tuple(dict.fromkeys(found.parameters)), where, flink_edits=tuple(found.flink_edits),
    )  # fmt: skip


def _with_metadata_columns(tables: Sequence[TableRef], tokens: Sequence[Token]) -> tuple[TableRef, ...]:
    """The tables, which give the metadata columns that these tokens name."""
    columns = metadata_columns_of(tokens)
    return tuple(replace(t, metadata_columns=columns) for t in tables)


def merge(cursor: Cursor, span: Span) -> Merge:
    cursor.need("MERGE")
    evolve = cursor.take("WITH", "SCHEMA", "EVOLUTION")
    cursor.need("INTO")
    table = _aliased(cursor, ("USING",))
    cursor.need("USING")
    first = cursor.at
    source = cursor.balanced("ON")
    factor, alias = find_source(cursor, cursor.tokens[first : cursor.at])
    cursor.need("ON")
    first = cursor.at
    condition = _condition(cursor, "WHEN")
    clauses = []
    while cursor.take("WHEN"):
        clauses.append(_clause(cursor))
    if not clauses:
        cursor.fail("expected WHEN MATCHED or WHEN NOT MATCHED", expected=["WHEN"])
    found = find_tables_in(cursor, cursor.tokens[first : cursor.at], [table, *factor.tables])
    if all(c.on != "not matched by source" for c in clauses):
        # A target row that fails its part of ON matches nothing; only BY SOURCE clauses need it.
        table = with_condition(cursor.text, condition, table, found, sole_table=False)
    tables = _with_metadata_columns([*factor.tables, *found.tables], cursor.tokens[: cursor.at])
    return Merge(
        cursor.text_of(span), span, table, tables, (*factor.edits, *found.edits),
        tuple(dict.fromkeys((*factor.parameters, *found.parameters))), source, alias, condition, tuple(clauses), evolve,
    )  # fmt: skip


def _condition(cursor: Cursor, *stops: str) -> Span:
    condition = cursor.balanced(*stops)
    if condition.start >= condition.stop:
        cursor.fail("expected a condition")
    return condition


def _clause(cursor: Cursor) -> MergeClause:
    on = "matched"
    if cursor.take("NOT"):
        on = "not matched"
    cursor.need("MATCHED")
    if on == "not matched" and cursor.take("BY", "SOURCE"):
        on = "not matched by source"
    else:
        cursor.take("BY", "TARGET")
    condition = _condition(cursor, "THEN") if cursor.take("AND") else None
    cursor.need("THEN")
    if cursor.take("DELETE"):
        return MergeClause(on, "delete", condition)
    if cursor.take("UPDATE"):
        cursor.need("SET")
        if cursor.take("*"):
            return MergeClause(on, "update", condition, star=True)
        return MergeClause(on, "update", condition, _assignments(cursor, "WHEN"))
    cursor.need("INSERT")
    if cursor.take("*"):
        return MergeClause(on, "insert", condition, star=True)
    columns = cursor.listed(lambda: cursor.parts("column"))
    cursor.need("VALUES")
    values = cursor.listed(lambda: cursor.balanced(","))
    if len(columns) != len(values):
        cursor.fail(f"INSERT has {len(columns)} columns but {len(values)} values")
    return MergeClause(on, "insert", condition, tuple(zip(columns, values, strict=True)))
