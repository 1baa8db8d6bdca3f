"""Finds the table references of a query in one pass over its tokens, with the scopes of CTEs and brackets.

It finds names in FROM, JOIN and comma lists at any depth, with time travel, hint and alias, and Paimon's table functions.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING

from paimon_nb.base.identifier import quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.sql.file_functions import FILE_FUNCTIONS, file_arguments
from paimon_nb.sql.flink.casts import (
    cast_edits,
    has_nanosecond_literals,
    literal_edits,
    sized_text_edits,
    timestamp_literal_edits,
)
from paimon_nb.sql.flink.function_edits import SqlText
from paimon_nb.sql.flink.functions import FLINK_SEMANTICS, FUNCTION_EDITS
from paimon_nb.sql.flink.operators import operator_edits
from paimon_nb.sql.table_arguments import hint_options, table_arguments
from paimon_nb.statements import OuterVector, Span, TableFunction, TableRef, TimestampAsOf, VersionAsOf
from paimon_nb.syntax.lexer import Cursor
from paimon_nb.syntax.operands import Operands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.syntax.lexer import Token

MAX_DEPTH = 150
_QUERY_STARTS = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE"})
_FROM_IN_FUNCTION = frozenset({"EXTRACT", "SUBSTRING", "SUBSTR", "TRIM", "OVERLAY", "POSITION", "CEIL", "FLOOR"})
_CLAUSES = frozenset(
    [
        "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "UNION", "INTERSECT", "EXCEPT", "MINUS", "WINDOW",
        "QUALIFY", "CLUSTER", "DISTRIBUTE", "SORT", "SELECT", "OFFSET", "FETCH", "SET", "WHEN", "RETURNING", "INSERT", "MATCH_RECOGNIZE",
    ]
)  # fmt: skip
_UNSUPPORTED = {
    "MATCH_RECOGNIZE": ("MATCH_RECOGNIZE is not supported", "compare a row with those before it: LAG(x) OVER (PARTITION BY ... ORDER BY ...)"),
    "QUALIFY": ("QUALIFY is not supported", "SELECT * FROM (SELECT ..., ROW_NUMBER() OVER (...) AS rn FROM t) WHERE rn = 1"),
}  # fmt: skip
_JOINS = frozenset(["JOIN", "LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL", "ANTI", "SEMI", "OUTER"])
_NOT_AN_ALIAS = (
    _CLAUSES
    | _JOINS
    | frozenset(
        [
            "ON",
            "USING",
            "LATERAL",
            "TABLESAMPLE",
            "PIVOT",
            "UNPIVOT",
            "AS",
            "FOR",
            "VERSION",
            "TIMESTAMP",
            "FROM",
            "PARTITION",
        ]
    )
)
_FILE_FORMATS = frozenset(["PARQUET", "ORC", "CSV", "JSON", "TEXT", "AVRO", "DELTA", "BINARYFILE"])
SEARCH_FUNCTIONS = frozenset({"vector_search", "full_text_search", "hybrid_search"})
TABLE_FUNCTIONS = SEARCH_FUNCTIONS | {
    "paimon_incremental_query",
    "paimon_incremental_between_timestamp",
    "paimon_incremental_to_auto_tag",
}
_WINDOWS = frozenset({"TUMBLE", "HOP", "CUMULATE", "SESSION"})


@dataclass(slots=True)
class TableReferences:
    """The result: table references, edits and parameters."""

    tables: list[TableRef] = field(default_factory=list)
    edits: list[tuple[Span, str]] = field(default_factory=list)
    flink_edits: list[tuple[Span, str]] = field(default_factory=list)
    """Edits for Flink's semantics where the dialects conflict."""
    parameters: list[str] = field(default_factory=list)
    unnested: list[Span] = field(default_factory=list)
    """The spans of `UNNEST`."""
    qualified: list[tuple[Token, ...]] = field(default_factory=list)
    """Dotted names outside FROM, as name tokens: `db.t.col` becomes `t.col`."""


def find_tables(cursor: Cursor) -> TableReferences:
    """The table references in the cursor's remaining tokens, read as one query."""
    found = TableReferences()
    walk = _ReferenceFinder(cursor, found)
    walk.query(frozenset(), 0)
    if not cursor.done:
        cursor.fail(f"unexpected {cursor.peek().text!r}")
    found.edits += _qualifier_edits(found)
    return found


def find_tables_in(cursor: Cursor, tokens: Sequence[Token], known: Sequence[TableRef] = ()) -> TableReferences:
    """Tables in the subqueries of expressions (a WHERE of DELETE, a SET of UPDATE).

    Args:
        known: other tables in scope, whose full names may qualify columns.
    """
    inner = Cursor(cursor.text, tokens)
    found = TableReferences()
    walk = _ReferenceFinder(inner, found)
    while not inner.done:
        before = inner.at
        walk.visit_tokens(frozenset(), 0, in_from=False)
        if inner.at == before:
            inner.at += 1
    found.edits += _qualifier_edits(found, known)
    return found


def find_source(cursor: Cursor, tokens: Sequence[Token]) -> tuple[TableReferences, str | None]:
    """One table factor: a name with time travel and alias, a function or a subquery. Also returns its alias."""
    inner = Cursor(cursor.text, tokens)
    found = TableReferences()
    walk = _ReferenceFinder(inner, found)
    alias = walk.visit_one_factor()
    if not inner.done:
        inner.fail(f"unexpected {inner.peek().text!r}")
    found.edits += _qualifier_edits(found)
    return found, alias


def _qualifier_edits(found: TableReferences, known: Sequence[TableRef] = ()) -> list[tuple[Span, str]]:
    """`db.t.col` -> `t.col` for all references without an alias."""
    named = [ref.parts for ref in (*found.tables, *known) if ref.alias is None]
    bare = {parts[i:] for parts in named for i in range(len(parts) - 1)}
    edits = []
    for chain in found.qualified:
        names = tuple(t.name for t in chain)
        for length in (3, 2):
            if len(names) > length - 1 and names[:length] in bare:
                edits.append((Span(chain[0].start, chain[length - 1].stop), quote(names[length - 1])))
                break
    return edits


class _ReferenceFinder:
    """Recursive descent over brackets; a loop inside each bracket level."""

    def __init__(self, cursor: Cursor, found: TableReferences) -> None:
        self.c, self.found = cursor, found
        self.first = cursor.at
        self.nanoseconds = has_nanosecond_literals(cursor.tokens)
        self.from_start: int | None = None
        """Where the list of tables begins that is being read."""
        self.table_stop = 0
        """Where the tables before the last comma or JOIN of that list end."""
        self.left: str | None = None
        """The tables to the left of the LATERAL that is being read."""
        self.definitions: tuple[str, ...] = ()
        """Common table expressions in scope, as they are written."""
        self.operands = Operands(cursor.tokens)

    def query(self, ctes: frozenset[str], depth: int) -> None:
        """A query up to its closing bracket or the end. CTE names are visible after their definition."""
        if depth > MAX_DEPTH:
            self.c.fail("the query is nested too deeply", hint="split it into views")
        outer = self.definitions
        if self.c.take("WITH"):
            recursive = self.c.take("RECURSIVE")
            begin = self.c.start
            while self.c.peek().is_name:
                name = self.c.name("name of the common table expression")
                if self.c.sees("("):
                    self.c.names()
                if self.c.take("MAX", "RECURSION", "LEVEL"):
                    self.c.integer()
                self.c.expect("AS", "(")
                self.query(ctes | {name.lower()} if recursive else ctes, depth + 1)
                self.c.expect(")")
                ctes = ctes | {name.lower()}
                if not self.c.take(","):
                    break
            self.definitions = (*outer, self.c.text[begin : self.c.stop])
        self.visit_tokens(ctes, depth, in_from=False)
        self.definitions = outer

    def visit_tokens(self, ctes: frozenset[str], depth: int, *, in_from: bool, function: str = "") -> None:
        """Everything at this bracket level. `in_from`: a table may come next."""
        c = self.c
        outer_from, outer_stop = self.from_start, self.table_stop
        self.from_start = c.start if in_from else None
        self._visit_level(ctes, depth, in_from=in_from, function=function)
        self.from_start, self.table_stop = outer_from, outer_stop

    def _visit_level(self, ctes: frozenset[str], depth: int, *, in_from: bool, function: str) -> None:
        c = self.c
        want_table, listing = in_from, in_from
        while not c.done and not c.sees(")"):
            token = c.peek()
            if want_table and self._visit_table_factor(ctes, depth):
                want_table = False
                continue
            want_table = False
            upper = token.upper
            if upper == "," or (upper in _JOINS and c.peek(-1).upper not in _JOINS):
                self.table_stop = c.stop
            if (upper == "FROM" and not self._is_not_a_clause(function)) or upper == "JOIN":
                c.at += 1
                want_table = listing = True
                self.from_start = c.start if upper == "FROM" or self.from_start is None else self.from_start
            elif upper == "LATERAL" and c.peek(1).upper == "VIEW":
                c.at += 2
                listing = False
            elif upper == "," and listing:
                c.at += 1
                want_table = True
            elif upper in ("OFFSET", "FETCH") and self._rewrite_fetch():
                listing = False
            elif upper in _CLAUSES:
                if upper in _UNSUPPORTED and c.peek(1).text not in (",", ")", ".", ""):
                    c.refuse(*_UNSUPPORTED[upper])
                listing = False
                c.at += 1
            elif upper == "TABLE" and (c.peek(1).is_name or c.peek(1).kind == "string") and self._starts_query():
                c.at += 1
                self._visit_table_query()
            elif token.text == "(":
                self._visit_bracket(ctes, depth)
            elif token.text == "[":
                self._visit_square_bracket(ctes, depth)
            else:
                self._visit_token(token)

    def _rewrite_fetch(self) -> bool:
        """Flink's `[OFFSET m ROWS] FETCH FIRST|NEXT n ROWS ONLY`: LIMIT comes first in Spark."""
        c = self.c
        first, start, offset, limit = c.at, c.start, "", ""
        if c.sees("OFFSET") and c.peek(1).kind not in ("number", "param"):
            return False  # a column of that name
        if c.take("OFFSET"):
            offset = f"OFFSET {c.text_of(c.balanced('ROW', 'ROWS', 'FETCH', 'LIMIT'))}"
            c.take_one("ROW", "ROWS")
        if c.sees("FETCH") and c.peek(1).upper in ("FIRST", "NEXT"):
            c.at += 2
            count = c.text_of(c.balanced("ROW", "ROWS"))
            limit = f"LIMIT {count or 1}"
            if not (c.take_one("ROW", "ROWS") and c.take("ONLY")):
                c.fail("expected ROWS ONLY", expected=["ROWS", "ONLY"])
        limit_clause = " ".join(filter(None, (limit, offset)))
        if not limit_clause or limit_clause == c.text[start : c.stop].strip():
            c.at = first
            return False
        self.found.edits.append((Span(start, c.stop), limit_clause))
        return True

    def _starts_query(self) -> bool:
        before = self.c.peek(-1).text.upper() if self.c.at > self.first else ""
        return before in ("", "(", "UNION", "ALL", "EXCEPT", "INTERSECT", "AS", ")")

    def _is_not_a_clause(self, function: str) -> bool:
        """FROM inside EXTRACT(YEAR FROM x), and IS [NOT] DISTINCT FROM."""
        return function in _FROM_IN_FUNCTION or (self.c.at > 0 and self.c.peek(-1).upper == "DISTINCT" and self.c.peek(-2).upper in ("IS", "NOT"))  # fmt: skip

    def _visit_bracket(self, ctes: frozenset[str], depth: int) -> None:
        c = self.c
        before = c.peek(-1) if c.at else None
        function = before.upper if before is not None and before.kind == "word" else ""
        if depth > MAX_DEPTH:
            c.fail("the query is nested too deeply", hint="split it into views")
        opening = c.at
        c.at += 1
        if c.peek().upper in _QUERY_STARTS and function != "TRIM":
            self.query(ctes, depth + 1)
        else:
            self.visit_tokens(ctes, depth + 1, in_from=False, function=function)
        if c.done:
            c.at = opening
            c.fail("unclosed bracket")
        c.expect(")")
        if function == "CAST" or function == "TRY_CAST":
            inside = c.tokens[opening + 1 : c.at - 1]
            edits = cast_edits(function, inside)
            if edits:
                self.found.edits += [*edits, *literal_edits(inside, nanoseconds=self.nanoseconds)]
            elif before is not None:
                self.found.flink_edits += sized_text_edits(before, c.tokens[opening : c.at])
        if before is not None and before.text != ".":
            self._function_call(function, before, c.tokens[opening : c.at])

    def _function_call(self, function: str, name: Token, bracket: Sequence[Token]) -> None:
        """Collects the edits of a function call, for both dialects. Its arguments were visited before."""
        c, found = self.c, self.found
        rewrite, in_flink = FUNCTION_EDITS.get(function), FLINK_SEMANTICS.get(function)
        plain: list[tuple[Span, str]] = []
        if rewrite is not None:
            plain = rewrite(SqlText(c.text, found.edits), name, bracket)
        if any(name.start <= s.start < bracket[-1].stop for s, _ in found.flink_edits) and rewrite is not None:
            flink_edits_of_call = rewrite(SqlText(c.text, [*found.flink_edits, *found.edits]), name, bracket)
            found.flink_edits += [e for e in flink_edits_of_call if e not in plain]
        if in_flink is not None:
            found.flink_edits += in_flink(SqlText(c.text, [*found.flink_edits, *found.edits]), name, bracket)
        found.edits += plain

    def _visit_square_bracket(self, ctes: frozenset[str], depth: int) -> None:
        """Flink's ARRAY[1, 2] and MAP['a', 1] are calls in Spark; other brackets are element access, as in `a[1]`."""
        c = self.c
        first, opening, literal = c.at, c.peek(), c.at > 0 and c.peek(-1).upper in ("ARRAY", "MAP")
        c.at += 1
        while not c.done and not c.sees("]"):
            if depth > MAX_DEPTH:
                c.fail("the query is nested too deeply", hint="split it into views")
            if c.sees("("):
                self._visit_bracket(ctes, depth + 1)
            elif c.sees("["):
                self._visit_square_bracket(ctes, depth + 1)
            else:
                self._visit_token(c.peek())
        if not c.done:
            edits = [(Span(t.start, t.stop), by) for t, by in ((opening, "(" if literal else ", "), (c.peek(), ")"))]
            if literal:
                self.found.edits += edits
            elif self.operands.is_operand(first):
                whole = c.tokens[self.operands.first(first)].start
                self.found.flink_edits += [(Span(whole, whole), "try_element_at("), *edits]
        c.take("]")

    def _visit_token(self, token: Token) -> None:
        c = self.c
        if token.upper == "LOCALTIMESTAMP" and c.peek(1).text not in ("(", ".") and c.peek(-1).upper != "AS":
            self.found.edits.append((Span(token.start, token.stop), "localtimestamp()"))
        if self._is_unknown_literal(token):
            self.found.flink_edits.append((Span(token.start, token.stop), "CAST(NULL AS BOOLEAN)"))
        if token.kind == "hint" and token.text[3:-2].partition("(")[0].strip().upper() == "OPTIONS":
            c.refuse("an OPTIONS hint must follow a table name", "SELECT ... FROM t /*+ OPTIONS('k' = 'v') */")
        if token.kind == "hint" and "=" in token.text:  # LOOKUP, STATE_TTL: Flink's hints, which Spark cannot parse
            self.found.edits.append((Span(token.start, token.stop), ""))
        if token.kind == "param":
            self.found.parameters.append(token.text[1:])
        if token.kind == "string" and "\\" in token.text and token.text[0] == "'":  # an ordinary character in Flink
            edits = self.found.edits if token.flink else self.found.flink_edits
            edits.append((Span(token.start, token.stop), token.text.replace("\\", "\\\\")))
        self.found.flink_edits += timestamp_literal_edits(token, c.peek(1), nanoseconds=self.nanoseconds)
        self.found.edits += operator_edits(c.text, self.operands, c.at)
        if token.is_name and c.peek(1).text == ".":
            chain = [token]
            c.at += 1
            while c.sees(".") and (c.peek(1).is_name or c.peek(1).text == "*"):
                if c.peek(1).is_name:
                    chain.append(c.peek(1))
                c.at += 2
                if c.peek(-1).text == "*":
                    chain.append(c.peek(-1))
            if c.sees("."):
                c.at += 1
            if len(chain) > 2:
                self.found.qualified.append(tuple(chain))
            return
        c.at += 1

    def _is_unknown_literal(self, token: Token) -> bool:
        """Whether it is Flink's UNKNOWN, a reserved word for the BOOLEAN that is NULL; not `IS [NOT] UNKNOWN`."""
        c = self.c
        if token.kind != "word" or token.upper != "UNKNOWN" or c.peek(1).text in ("(", "."):
            return False
        before = c.peek(-1).upper if c.at else ""
        is_test = before == "IS" or (before == "NOT" and c.at > 1 and c.peek(-2).upper == "IS")
        return not is_test and before not in (".", "AS")

    # -- one table factor

    def visit_one_factor(self) -> str | None:
        """A table factor; returns the name that qualifies its columns, None if it has none."""
        if self.c.sees("("):
            self._from_bracket(frozenset(), 0)
            return self._parse_alias()
        if not self._visit_table_factor(frozenset(), 0):
            self.c.fail("expected a table or a subquery")
        if not self.found.tables:  # a Spark function or file: the name after it is its alias
            last = self.c.peek(-1)
            return last.name if last.is_name else None
        ref = self.found.tables[-1]
        return ref.alias or (ref.function.name[-1] if ref.function else ref.parts[-1])

    def _visit_table_factor(self, ctes: frozenset[str], depth: int) -> bool:
        """Consume a table factor if one starts here. Returns whether it did."""
        c = self.c
        first, outer = c.at, self.left
        if c.take("LATERAL") and self.from_start is not None:
            self.left = c.text[self.from_start : self.table_stop]
        try:
            return self._visit_factor(ctes, depth, first)
        finally:
            self.left = outer

    def _visit_factor(self, ctes: frozenset[str], depth: int, first: int) -> bool:
        c = self.c
        if c.sees("("):
            self._from_bracket(ctes, depth)
            self._parse_alias()
            return True
        if c.sees("TABLE", "("):
            self._rewrite_window_table(ctes, depth)
            return True
        if c.sees("VALUES") and c.peek(1).text != ".":
            self._visit_inline_values(ctes, depth)
            return True
        if c.sees("UNNEST", "("):
            # Flink's UNNEST sees the columns of the tables before it, as Spark's LATERAL explode does.
            self._rewrite_unnest(ctes, depth)
            return True
        if c.peek().kind == "string":
            self._visit_data_file()
            return True
        at = c.peek()
        if not at.is_name or at.upper == "SELECT" or (at.kind == "word" and at.upper in _CLAUSES):
            c.at = first
            return False
        start = c.start
        parts = c.parts("table")
        if c.sees("("):
            self._visit_table_function(parts, start, ctes, depth)
            return True
        if len(parts) == 1 and parts[0].lower() in ctes:
            self._parse_alias()
            return True
        if len(parts) == 2 and parts[0].upper() in _FILE_FORMATS and ("/" in parts[1] or "." in parts[1]):
            self._parse_alias()
            return True
        options: dict[str, str] = {}
        travel: VersionAsOf | TimestampAsOf | None = None
        lookup = False
        stop = c.stop
        while True:
            if c.peek().kind == "hint":
                options.update(hint_options(c))
            elif (found := self._parse_time_travel()) is not None:
                travel, lookup = (None, True) if found == "lookup" else (found, lookup)  # type: ignore[assignment]
            else:
                break
            stop = c.stop
        sampled = self._visit_tablesample()
        alias = self._parse_alias()
        if sampled and alias is None:  # Spark expects the alias after TABLESAMPLE
            alias = parts[-1]
            self.found.edits.append((Span(c.stop, c.stop), f" AS {quote(alias)}"))
        if c.peek().kind == "hint":  # t AS a /*+ OPTIONS(...) */
            options.update(hint_options(c))
        self.found.tables.append(TableRef(parts, Span(start, stop), options, travel, alias, lookup))
        return True

    def _visit_data_file(self) -> None:
        """A data file by its path, `FROM 'sales.csv'`; other clauses name it `sales`."""
        c = self.c
        token = c.next()
        options: dict[str, str] = {}
        while c.peek().kind == "hint":
            options.update(hint_options(c))
        self._add_data_files((token.value,), token.start, options)

    def _add_data_files(self, paths: tuple[str, ...], start: int, options: dict[str, str]) -> None:
        """The reference to files, whose text ends here; its sample and alias follow."""
        c = self.c
        stop = c.stop
        self._visit_tablesample()
        end = c.stop
        alias = self._parse_alias()
        if alias is None:
            alias = PurePath(paths[0]).name.split(".")[0] or "file"
            self.found.edits.append((Span(end, end), f" AS {quote(alias)}"))
        while c.peek().kind == "hint":  # 'f.csv' AS f /*+ OPTIONS(...) */
            options.update(hint_options(c))
        self.found.tables.append(TableRef(paths, Span(start, stop), options, alias=alias, file=True))

    def _visit_tablesample(self) -> bool:
        """TABLESAMPLE [BERNOULLI] (...) [REPEATABLE (n)]."""
        c = self.c
        if not c.sees("TABLESAMPLE"):
            return False
        self._visit_token(c.peek())
        while c.take_one("BERNOULLI", "SYSTEM", "REPEATABLE") or c.sees("("):
            if c.take("("):
                c.balanced()
                c.expect(")")
        return True

    def _visit_inline_values(self, ctes: frozenset[str], depth: int) -> None:
        """Spark's `VALUES (1, 'a'), (2, 'b') AS x(id, v)` in FROM: its commas separate rows, not tables."""
        c = self.c
        c.expect("VALUES")
        while True:
            if c.sees("("):
                self._visit_bracket(ctes, depth)
            else:
                while not c.done and c.peek().text not in (",", ")", "(") and not self._ends_row():
                    self._visit_token(c.peek())
                    if c.sees("("):
                        self._visit_bracket(ctes, depth)
            if not c.take(","):
                break
        self._parse_alias()

    def _ends_row(self) -> bool:
        return self.c.peek().kind == "word" and self.c.peek().upper in (_CLAUSES | _JOINS | {"AS", "ON", "USING"})

    def _rewrite_unnest(self, ctes: frozenset[str], depth: int) -> None:
        """UNNEST(a) [WITH ORDINALITY] [AS] t(x): the element type decides which Spark function it becomes."""
        c = self.c
        lateral = "" if c.at and c.peek(-1).upper == "LATERAL" else "LATERAL "
        word = c.next()
        span = Span(word.start, word.stop)
        opening = c.peek()
        self._visit_bracket(ctes, depth)
        closing = c.peek(-1)
        if not c.sees("WITH", "ORDINALITY"):
            self.found.edits.append((span, lateral + "explode"))
            self.found.unnested.append(span)
            self._parse_alias()
            return
        start = c.start
        c.at += 2
        self.found.edits += [
            (span, lateral + "inline"),
            (Span(opening.stop, opening.stop), "transform("),
            (Span(closing.start, closing.start), ", (__e, __i) -> struct(__e, __i + 1))"),
            (Span(start, c.stop), ""),
        ]
        self._parse_alias()

    def _visit_table_query(self) -> None:
        """The table of the query `TABLE t`, where Spark allows no alias."""
        start = self.c.start
        if self.c.peek().kind == "string":
            token = self.c.next()
            self.found.tables.append(TableRef((token.value,), Span(start, token.stop), alias=token.value, file=True))
            return
        parts = self.c.parts("table")
        self.found.tables.append(TableRef(parts, Span(start, self.c.stop), alias=parts[-1]))

    def _from_bracket(self, ctes: frozenset[str], depth: int) -> None:
        c = self.c
        if depth > MAX_DEPTH:
            c.fail("the query is nested too deeply", hint="split it into views")
        opening = c.at
        c.expect("(")
        if c.peek().upper in _QUERY_STARTS:
            self.query(ctes, depth + 1)
        else:
            self.visit_tokens(ctes, depth + 1, in_from=True)
        if c.done:
            c.at = opening
            c.fail("unclosed bracket")
        c.expect(")")

    def _visit_table_function(self, parts: tuple[str, ...], start: int, ctes: frozenset[str], depth: int) -> None:
        """A table function: Paimon's become references, others belong to Spark."""
        c = self.c
        last = parts[-1].lower()
        if last in FILE_FUNCTIONS and len(parts) == 1:
            paths, options = file_arguments(c, last)
            self._add_data_files(paths, start, options)
            return
        if last in TABLE_FUNCTIONS or last.startswith("incremental_"):
            outer = None if last != "vector_search" or self.left is None else partial(self._outer_vector, self.left)
            function = TableFunction(parts, *table_arguments(c, outer))
            vector = function.positional[2] if len(function.positional) > 2 else function.named.get("vector")
            if isinstance(vector, OuterVector):
                function = replace(function, outer=vector)
            span = Span(start, c.stop)
            self.found.tables.append(TableRef(parts, span, alias=self._parse_alias(), function=function))
            return
        self._visit_bracket(ctes, depth)
        self._parse_alias()

    def _outer_vector(self, left: str) -> OuterVector:
        """The argument that is next, an expression over the tables to the left."""
        expression = self.c.text_of(self.c.balanced(","))
        return OuterVector(expression, left, ", ".join(self.definitions))

    def _rewrite_window_table(self, ctes: frozenset[str], depth: int) -> None:
        """Flink's TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTES)): a subquery with window columns."""
        from paimon_nb.sql.flink.functions import window_table_sql

        c = self.c
        start = c.start
        c.expect("TABLE", "(")
        kind = c.peek().upper
        if kind not in _WINDOWS:  # Flink's LATERAL TABLE(f(x)) is Spark's LATERAL f(x)
            if c.peek(1).text == "(":
                lateral = c.at > 2 and c.peek(-3).upper == "LATERAL"
                self.found.edits.append((Span(start, c.start), "" if lateral else "LATERAL "))
                self._visit_table_function((c.next().name,), start, ctes, depth)
                closing = c.peek()
                self.found.edits.append((Span(closing.start, closing.stop), ""))
            else:
                self.visit_tokens(ctes, depth + 1, in_from=True)
            c.expect(")")
            self._parse_alias()
            return
        c.at += 1
        c.expect("(")
        c.take("DATA")
        c.take("=>")
        c.expect("TABLE")
        inner_start = c.start
        self._visit_table_factor(ctes, depth)
        inner = Span(inner_start, c.stop)
        keys = self._window_keys()
        arguments: list[Span] = []
        while c.take(","):
            if c.peek(1).upper == "=>":
                c.at += 2
            arguments.append(c.balanced(","))
        c.expect(")")
        c.expect(")")
        head, tail = window_table_sql(kind, [c.text_of(a) for a in arguments], keys)
        self.found.edits += [(Span(start, inner.start), head), (Span(inner.stop, c.stop), tail)]
        self._parse_alias()

    def _window_keys(self) -> list[str]:
        """The columns of SESSION's `TABLE t PARTITION BY a, b`."""
        c = self.c
        keys: list[str] = []
        if c.take("PARTITION", "BY"):
            keys.append(c.text_of(c.balanced(",")))
            while c.sees(",") and c.peek(1).upper != "DESCRIPTOR" and c.peek(2).upper != "=>":
                c.at += 1
                keys.append(c.text_of(c.balanced(",")))
        return keys

    def _parse_time_travel(self) -> VersionAsOf | TimestampAsOf | str | None:
        """[FOR] VERSION|SYSTEM_VERSION AS OF v, [FOR] TIMESTAMP|SYSTEM_TIME AS OF t; 'lookup' for a column as the time."""
        c = self.c
        ahead = 1 if c.sees("FOR") else 0
        word = c.peek(ahead).upper
        if word not in ("VERSION", "SYSTEM_VERSION", "TIMESTAMP", "SYSTEM_TIME") or c.peek(ahead + 1).upper != "AS" or c.peek(ahead + 2).upper != "OF":  # fmt: skip
            return None
        c.at += ahead + 3
        if word.endswith("VERSION"):
            token = c.next()
            return VersionAsOf(token.value if token.kind == "string" else token.text)
        start, first = c.start, c.peek()
        self._skip_operand()
        while c.take_one("+", "-"):
            self._skip_operand()
        if first.is_name and first.upper not in ("TIMESTAMP", "DATE", "CAST", "TO_TIMESTAMP", "CURRENT_TIMESTAMP", "NOW", "DATE_SUB", "DATE_ADD", "CURRENT_DATE", "LOCALTIMESTAMP"):  # fmt: skip
            return "lookup"
        return TimestampAsOf(c.text[start : c.stop])

    def _skip_operand(self) -> None:
        c = self.c
        token = c.next()
        if token.upper in ("TIMESTAMP", "DATE") and c.peek().kind == "string":
            c.at += 1
            return
        if token.upper == "INTERVAL":
            c.take_one("-", "+")
            c.at += c.peek().kind in ("string", "number")
            if c.peek().kind == "word" and c.peek().upper not in _NOT_AN_ALIAS:
                c.at += 1
            if c.take("TO"):  # HOUR TO MINUTE
                c.next()
            return
        if token.is_name:
            while c.sees(".") and c.peek(1).is_name:
                c.at += 2
        if token.text == "(" or c.sees("("):
            if token.text != "(":
                c.at += 1
            c.balanced()
            c.expect(")")

    def _parse_alias(self) -> str | None:
        c = self.c
        if c.take("AS"):
            name = c.name("alias")
        elif c.peek().kind == "quoted" or (c.peek().kind == "word" and c.peek().upper not in _NOT_AN_ALIAS):
            name = c.name()
        else:
            return None
        if c.sees("(") and all(t.is_name or t.text == "," for t in _tokens_in_bracket(c)):
            c.names()
        return name


def _tokens_in_bracket(cursor: Cursor) -> list[Token]:
    """The tokens between the next bracket and the next ')'."""
    out = []
    ahead = 1
    while cursor.peek(ahead).kind != "end" and cursor.peek(ahead).text != ")":
        out.append(cursor.peek(ahead))
        ahead += 1
    return out
