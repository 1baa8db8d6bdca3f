"""INSERT and statement sets. VALUES of plain literals becomes rows, which need no Spark; every other source is a query."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from paimon_nb.sql.grammar.partition import partition_spec
from paimon_nb.sql.grammar.query import query, query_of
from paimon_nb.sql.table_arguments import hint_options
from paimon_nb.statements import Constant, ExecuteImmediate, Insert, Query, Span, Statement, StatementSet, TableRef
from paimon_nb.syntax.lexer import Cursor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.syntax.lexer import Token

Row = tuple[Constant, ...]
_QUERY = ("SELECT", "WITH", "VALUES", "FROM", "TABLE")
_CHANGES = frozenset({("INSERT", "INTO"), ("INSERT", "OVERWRITE"), ("MERGE", "INTO"), ("DELETE", "FROM")})


def parse_table_with_hint(cursor: Cursor) -> TableRef:
    """A table name with its optional OPTIONS hint."""
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
    select = inserted.source.start
    source = query_of(Cursor(cursor.text, [*head, *(t for t in part if t.start >= select)]), span)
    source = replace(source, edits=(*source.edits, (Span(insert_start, select), "")))
    return replace(
        inserted,
        text=cursor.text_of(span),
        span=span,
        query=source,
        source=source.span,
        rows=None,
        parameters=source.parameters,
    )


def _begins_insert(tokens: Sequence[Token], at: int) -> bool:
    return tokens[at].upper == "INSERT" and at + 1 < len(tokens) and tokens[at + 1].upper in ("INTO", "OVERWRITE")


def _is_at_top_level(tokens: Sequence[Token], start: int, stop: int) -> bool:
    """Whether no bracket opened after `start` is open at `stop`."""
    return sum((t.text == "(") - (t.text == ")") for t in tokens[start:stop]) == 0


def insert(cursor: Cursor, span: Span) -> Insert:
    cursor.expect("INSERT")
    word = cursor.take_one("INTO", "OVERWRITE")
    if word is None:
        cursor.fail("expected INTO or OVERWRITE", expected=["INTO", "OVERWRITE"])
    if cursor.peek(1).is_name:
        cursor.take("TABLE")
    table = parse_table_with_hint(cursor)
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
    rows = _constant_rows(cursor)
    query = query_of(cursor, source) if rows is None else None
    constants = (c for row in rows or () for c in row)
    parameters = query.parameters if query is not None else (c.text for c in constants if c.kind == "parameter")
    return Insert(
        cursor.text_of(span), span, table, query, columns, by_name, word == "OVERWRITE", partition, rows,
        tuple(dict.fromkeys(parameters)), source=source,
    )  # fmt: skip


def _is_query(cursor: Cursor) -> bool:
    ahead = 0
    while cursor.peek(ahead).text == "(":
        ahead += 1
    return cursor.peek(ahead).upper in _QUERY


def execute(cursor: Cursor, span: Span) -> Statement:
    """EXECUTE STATEMENT SET ..., or EXECUTE IMMEDIATE 'text' [USING value [AS name], ...]."""
    if cursor.peek(1).upper != "IMMEDIATE":
        return statement_set(cursor, span)
    cursor.expect("EXECUTE", "IMMEDIATE")
    if cursor.peek().kind != "string":
        cursor.refuse("EXECUTE IMMEDIATE needs a text in quotes", "in Python, wb.run(text) runs the text of a variable")
    sql = cursor.next().unescaped
    if cursor.sees("INTO"):
        cursor.refuse("INTO session variables is not supported", "leave INTO out: the result is that of the statement")
    values = []
    if cursor.take("USING"):
        closing = len(cursor.tokens)
        if cursor.sees("(") and cursor.tokens[-1].text == ")":
            cursor.take("(")
            closing -= 1
        while cursor.at < closing:
            values.append(_argument(cursor, closing))
        cursor.at = len(cursor.tokens)
        if not values:
            cursor.fail("expected a value after USING")
    return ExecuteImmediate(cursor.text_of(span), span, sql, tuple(values))


def _argument(cursor: Cursor, stop: int) -> tuple[str, Span]:
    """`expression [[AS] name]` up to the next comma."""
    first, depth = cursor.at, 0
    while cursor.at < stop and (depth or cursor.peek().text != ","):
        depth += (cursor.peek().text in ("(", "[")) - (cursor.peek().text in (")", "]"))
        cursor.at += 1
    last, name = cursor.at, ""
    if last - first > 2 and cursor.tokens[last - 2].upper == "AS":
        name, last = cursor.tokens[last - 1].name, last - 2
    cursor.take(",")
    if last == first:
        cursor.fail("expected a value")
    return name, Span(cursor.tokens[first].start, cursor.tokens[last - 1].stop)


def statement_set(cursor: Cursor, span: Span) -> Statement:
    """EXECUTE STATEMENT SET BEGIN ... END and BEGIN STATEMENT SET; ... END."""
    cursor.take("EXECUTE")
    if not cursor.take("BEGIN", "STATEMENT", "SET"):
        cursor.expect("STATEMENT", "SET")
        cursor.expect("BEGIN")
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


# -- VALUES of plain literals; everything else is a query


def _constant_rows(cursor: Cursor) -> tuple[Row, ...] | None:
    """The rows of `VALUES (1, 'a'), (2, NULL)`, and the cursor behind them; None for other queries, or if an item is not a
    plain literal.
    """
    rows = _rows_of_constants(cursor.tokens, cursor.at)
    if rows is not None:
        cursor.at = len(cursor.tokens)
    return rows


def _rows_of_constants(tokens: Sequence[Token], at: int) -> tuple[Row, ...] | None:
    if at >= len(tokens) or tokens[at].upper != "VALUES":
        return None
    rows: list[Row] = []
    while True:
        found = _row_of_constants(tokens, at + 1)
        if found is None or (rows and len(found[0]) != len(rows[0])):
            return None
        row, at = found
        rows.append(row)
        if at == len(tokens):
            return tuple(rows)
        if tokens[at].text != ",":
            return None


def _row_of_constants(tokens: Sequence[Token], at: int) -> tuple[Row, int] | None:
    """`( constant, ... )` and its end; a single constant needs no brackets."""
    bracket = at < len(tokens) and tokens[at].text == "("
    at += bracket
    row: list[Constant] = []
    while True:
        found = _constant_at(tokens, at)
        if found is None:
            return None
        constant, at = found
        row.append(constant)
        if not bracket:
            return tuple(row), at
        if at >= len(tokens) or tokens[at].text not in (",", ")"):
            return None
        at += 1
        if tokens[at - 1].text == ")":
            return tuple(row), at


def _constant_at(tokens: Sequence[Token], at: int) -> tuple[Constant, int] | None:
    if at >= len(tokens):
        return None
    first = tokens[at]
    if first.kind == "number":
        return (Constant("number", first.text), at + 1) if _is_plain_number(first) else None
    if first.kind == "string":
        return (Constant("text", first.value), at + 1) if _is_plain_text(first) else None
    if first.kind == "param":
        return Constant("parameter", first.text[1:]), at + 1
    words = [t.upper for t in tokens[at : at + 4]]
    if words[:4] == ["CAST", "(", "NULL", "AS"]:
        end = next(
            (
                i
                for i in range(at + 4, len(tokens))
                if tokens[i].text == ")" and not _unclosed_brackets(tokens[at + 2 : i])
            ),
            None,
        )
        return None if end is None else (Constant("null"), end + 1)
    if words[0] == "DEFAULT":
        return Constant("default"), at + 1
    if words[0] == "NULL":
        return Constant("null"), at + 1
    if words[0] in ("TRUE", "FALSE"):
        return Constant("boolean", words[0].lower()), at + 1
    if words[0] in ("-", "+") and at + 1 < len(tokens) and tokens[at + 1].kind == "number":
        number = tokens[at + 1]
        return (
            (Constant("number", ("-" if words[0] == "-" else "") + number.text), at + 2)
            if _is_plain_number(number)
            else None
        )
    if words[0] in ("DATE", "TIMESTAMP") and at + 1 < len(tokens) and _is_plain_text(tokens[at + 1]):
        return Constant(words[0].lower(), tokens[at + 1].value), at + 2
    return None


def _unclosed_brackets(tokens: Sequence[Token]) -> int:
    return sum((t.text == "(") - (t.text == ")") for t in tokens)


def _is_plain_number(number: Token) -> bool:
    """Digits without a type letter: 12, 1.5. Not 12L, 1e3."""
    return number.text.replace(".", "", 1).isdecimal() and number.text.isascii()


def _is_plain_text(token: Token) -> bool:
    """A string with the same meaning in both dialects: no escapes, not raw, not in double quotes."""
    return token.kind == "string" and token.text[0] == "'" and "\\" not in token.text
