"""Parses queries: their SELECTs with sources, joins and clauses. Each statement's tokens are parsed once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from paimon_nb.base.errors import SqlSyntaxError
from paimon_nb.syntax import lexer
from paimon_nb.syntax.expressions import ExpressionParser, UnexpectedToken
from paimon_nb.syntax.tree import (
    Alias,
    Bracketed,
    CommonTable,
    DerivedTable,
    FunctionTable,
    GroupBy,
    GroupingItem,
    Join,
    Literal,
    NamedWindow,
    NestedJoin,
    Node,
    Pivoted,
    QueryTail,
    Select,
    SetOperation,
    Span,
    Table,
    Values,
    WindowTable,
)
from paimon_nb.syntax.words import CLAUSE_WORDS, QUERY_STARTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paimon_nb.syntax.lexer import Token
    from paimon_nb.syntax.tree import Ordering, QueryTree

T = TypeVar("T")
MAX_LENGTH = 200_000
"""Longer texts are mostly VALUES lists, which need no analysis."""
_JOIN_WORDS = frozenset({"JOIN", "LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL", "ANTI", "SEMI", "OUTER"})
_NOT_AN_ALIAS = (
    CLAUSE_WORDS
    | _JOIN_WORDS
    | frozenset({"TABLESAMPLE", "PIVOT", "UNPIVOT", "FOR", "VERSION", "TIMESTAMP", "PARTITION"})
)
_ONE_ROW = Literal(Span(0, 0), "number", "1")
"""The limit of FETCH FIRST ROW ONLY."""
_WINDOW_TABLES = frozenset({"TUMBLE", "HOP", "CUMULATE", "SESSION"})


def query_tree(tokens: Sequence[Token], tables: Sequence[Span] = ()) -> QueryTree | None:
    """The tree of a query; None if it has a clause that the parser does not know, or is very long.

    Args:
        tokens: the query's tokens.
        tables: the spans of its table references, time travel and hints included.
    """
    return _parse(tokens, tables, QueryParser.whole_query)


def expression_tree(tokens: Sequence[Token], tables: Sequence[Span] = ()) -> Node | None:
    """The tree of an expression, which may have subqueries; None: see `query_tree`."""
    return _parse(tokens, tables, QueryParser.whole)


def query_tree_of(text: str) -> QueryTree | None:
    """The tree of a query in Spark SQL that was derived from the user's; None: see `query_tree`."""
    return query_tree(_tokens_without_errors(text))


def condition_tree_of(text: str) -> Node | None:
    """The tree of such a condition; None: see `query_tree`."""
    return expression_tree(_tokens_without_errors(text))


def _tokens_without_errors(text: str) -> list[Token]:
    """The tokens; none if the text has an error, which Spark reports."""
    try:
        return lexer.tokens(text)
    except SqlSyntaxError:
        return []


def _parse(tokens: Sequence[Token], tables: Sequence[Span], parse: Callable[[QueryParser], T]) -> T | None:
    if not tokens or tokens[-1].stop - tokens[0].start > MAX_LENGTH:
        return None
    try:
        return parse(QueryParser(tokens, tables))
    except (UnexpectedToken, RecursionError):
        return None


class QueryParser(ExpressionParser):
    """Reads queries, and expressions with subqueries."""

    reads_queries = True

    def __init__(self, tokens: Sequence[Token], tables: Sequence[Span]) -> None:
        super().__init__(tokens, tokens[-1].stop)
        self.tables = {span.start: (number, span.stop) for number, span in enumerate(tables)}

    def whole_query(self) -> QueryTree:
        """All tokens as one query."""
        found = self.query()
        if self.at < len(self.tokens):
            self.fail(f"unexpected {self.next_text()}")
        return found

    def query(self) -> QueryTree:
        """[WITH ...] query [ORDER BY ... LIMIT ...]."""
        start = self.start()
        common = self._parse_common_tables()
        found = self._intersections()
        while word := self.take_one(("UNION", "EXCEPT", "MINUS")):
            found = self._set_operation(start, "UNION" if word == "UNION" else "EXCEPT", found, self._intersections)
        tail = self._parse_final_clauses()
        return _with_clauses(found, self.span_from(start), common, tail)

    def _intersections(self) -> QueryTree:
        """Queries with INTERSECT between them, which binds stronger than UNION and EXCEPT."""
        start = self.start()
        found = self._set_operand()
        while self.take("INTERSECT"):
            found = self._set_operation(start, "INTERSECT", found, self._set_operand)
        return found

    def _set_operation(self, start: int, op: str, left: QueryTree, operand: Callable[[], QueryTree]) -> SetOperation:
        """The operation whose word is read already."""
        keeps_duplicates = self.take_one(("ALL", "DISTINCT")) == "ALL"
        right = operand()
        return SetOperation(self.span_from(start), (), left, right, QueryTail(Span(start, start)), op, keeps_duplicates)

    def _parse_common_tables(self) -> tuple[CommonTable, ...]:
        if not self.take("WITH"):
            return ()
        recursive = self.take("RECURSIVE")
        out = []
        while True:
            start = self.start()
            name = self.name()
            columns = self.names_in_brackets() if self.peek() == "(" else ()
            if self.take("MAX", "RECURSION", "LEVEL"):
                self.at += 1
            self.expect("AS")
            self.expect("(")
            query = self.query()
            self.expect(")")
            out.append(CommonTable(self.span_from(start), name, query, columns, recursive))
            if not self.take(","):
                return tuple(out)

    def _set_operand(self) -> QueryTree:
        start = self.start()
        if self.take("("):
            query = self.query()
            self.expect(")")
            return Bracketed(self.span_from(start), (), query, QueryTail(Span(start, start)))
        if self.take("VALUES"):
            rows = [self.expression()]
            while self.take(","):
                rows.append(self.expression())
            self._parse_alias()
            return Values(self.span_from(start), (), tuple(rows), QueryTail(Span(start, start)))
        return self._parse_select()

    def _parse_select(self) -> Select:
        start, from_span = self.start(), Span(self.end, self.end)
        source: Node | None = None
        joins: tuple[Join, ...] = ()
        views: tuple[Node, ...] = ()
        if self.peek() == "FROM":  # FROM t SELECT a
            from_span, source, joins, views = self._parse_from()
        self.expect("SELECT")
        distinct = self.take("DISTINCT")
        if not distinct and self.peek() == "ALL" and self.peek(1) not in (",", "FROM", "."):
            self.at += 1
        items = [self._select_item()]
        while self.take(","):
            items.append(self._select_item())
        if source is None and self.peek() == "FROM":
            from_span, source, joins, views = self._parse_from()
        where = self.expression() if self.take("WHERE") else None
        group = self._group_by()
        having = self.expression() if self.take("HAVING") else None
        tail = QueryTail(Span(start, start), has_other=self.peek() == "QUALIFY")
        if self.take("QUALIFY"):
            tail = QueryTail(tail.span, other=(self.expression(),), has_other=True)
        return Select(
            self.span_from(start),
            (),
            distinct,
            tuple(items),
            source,
            from_span,
            joins,
            views,
            where,
            group,
            having,
            tail,
        )

    def _select_item(self) -> Node:
        start = self.start()
        found = self.expression()
        if self.take("AS"):
            if self.peek() == "(":
                self.skip_brackets()
                return Alias(self.span_from(start), found, "")
            name = self.name()
        elif self.peek_kind() == "quoted" or (self.peek_kind() == "word" and self.peek() not in CLAUSE_WORDS):
            name = self.name()
        else:
            return found
        return Alias(self.span_from(start), found, name)

    def _group_by(self) -> GroupBy | None:
        start = self.start()
        if not self.take("GROUP", "BY"):
            return None
        words_span = self.span_from(start)
        keys: list[Node] = []
        if self.peek() == "ALL" and self.peek_kind(1) != "op":
            self.at += 1
            return GroupBy(self.span_from(start), (), False, words_span)
        items: list[GroupingItem] = []
        while True:
            items.append(self._grouping_item(keys))
            if self.peek() == "GROUPING" and self.peek(1) == "SETS":
                items = [
                    self._grouping_item(keys)
                ]  # GROUP BY a, b GROUPING SETS (...): the sets name the keys once more
                continue
            if not self.take(","):
                break
        if self.peek() == "WITH" and self.peek(1) in ("ROLLUP", "CUBE"):
            items = [GroupingItem(self.peek(1), tuple(items))]
            self.at += 2
        is_plain = all(item.kind == "KEY" for item in items)
        return GroupBy(self.span_from(start), tuple(keys), is_plain, words_span, () if is_plain else tuple(items))

    def _grouping_item(self, keys: list[Node]) -> GroupingItem:
        """An item of GROUP BY; its expressions are appended to `keys`."""
        kind = "GROUPING SETS" if self.take("GROUPING", "SETS") else self.peek()
        if kind == "GROUPING SETS" or (kind in ("ROLLUP", "CUBE") and self.peek(1) == "("):
            self.at += kind != "GROUPING SETS"
            return GroupingItem(kind, self._grouping_members(keys, nested=kind == "GROUPING SETS"))
        keys.append(self.expression())
        return GroupingItem("KEY", (len(keys) - 1,))

    def _grouping_members(self, keys: list[Node], *, nested: bool) -> tuple[GroupingItem, ...]:
        """The items in brackets: keys, and keys in brackets; `nested`: also ROLLUP, CUBE and GROUPING SETS."""
        self.expect("(")
        members: list[GroupingItem] = []
        while not self.take(")"):
            if self.peek() == "(" and self._is_row_of_keys():
                members.append(GroupingItem("ROW", self._grouping_members(keys, nested=False)))
            elif nested:
                members.append(self._grouping_item(keys))
            else:
                keys.append(self.expression())
                members.append(GroupingItem("KEY", (len(keys) - 1,)))
            if not self.take(",") and self.peek() != ")":
                self.fail(f"expected ',' or ')', found {self.next_text()}")
        return tuple(members)

    def _is_row_of_keys(self) -> bool:
        """Whether the brackets that come next are a whole member, and not the start of an expression."""
        before = self.at
        self.skip_brackets()
        following = self.peek()
        self.at = before
        return following in (",", ")")

    def _parse_final_clauses(self) -> QueryTail:
        start = self.start()
        order: tuple[Ordering, ...] = ()
        limit: Node | None = None
        offset: Node | None = None
        other: list[Node] = []
        has_other = False
        while True:
            if self.take("ORDER", "BY"):
                order = self.orderings()
            elif self.peek() in ("SORT", "CLUSTER", "DISTRIBUTE") and self.peek(1) == "BY":
                self.at += 2
                has_other = True
                other += self.orderings()
            elif self.take("WINDOW"):
                has_other = True
                while True:
                    window_start, name = self.start(), self.name()
                    self.expect("AS")
                    window = self.window()
                    other.append(NamedWindow(self.span_from(window_start), name, window))
                    if not self.take(","):
                        break
            elif self.take("LIMIT"):
                limit = self.expression()
            elif self.take("OFFSET"):
                offset = self.value()
                self.take_one(("ROW", "ROWS"))
            elif self.take("FETCH"):
                if not self.take_one(("FIRST", "NEXT")):
                    self.fail(f"expected FIRST, found {self.next_text()}")
                limit = _ONE_ROW if self.peek() in ("ROW", "ROWS") else self.value()
                self.take_one(("ROW", "ROWS"))
                self.expect("ONLY")
            else:
                return QueryTail(self.span_from(start), order, limit, offset, tuple(other), has_other)

    # -- FROM

    def _parse_from(self) -> tuple[Span, Node, tuple[Join, ...], tuple[Node, ...]]:
        start = self.start()
        self.expect("FROM")
        from_span = self.span_from(start)
        source, joins = self._parse_joins()
        views: list[Node] = []
        while self.peek() == "LATERAL" and self.peek(1) == "VIEW":
            views.append(self._lateral_view())
        return from_span, source, joins, tuple(views)

    def _parse_joins(self) -> tuple[Node, tuple[Join, ...]]:
        source = self._parse_relation()
        joins: list[Join] = []
        while True:
            start = self.start()
            if self.take(","):
                joined = self._parse_relation()
                joins.append(Join(self.span_from(start), False, "", ",", joined, None, ()))
                continue
            natural = self.take("NATURAL")
            side = self.take_one(("LEFT", "RIGHT", "FULL"))
            self.take("OUTER")
            kind = self.take_one(("INNER", "CROSS", "SEMI", "ANTI"))
            if not (natural or side or kind) and self.peek() != "JOIN":
                return source, tuple(joins)
            self.expect("JOIN")
            joined = self._parse_relation()
            condition, using = None, []
            if self.take("ON"):
                condition = self.expression()
            elif self.take("USING"):
                self.expect("(")
                using = [self.name()]
                while self.take(","):
                    using.append(self.name())
                self.expect(")")
            joins.append(Join(self.span_from(start), natural, side, kind, joined, condition, tuple(using)))

    def _lateral_view(self) -> Node:
        start = self.start()
        self.at += 2
        form = "OUTER VIEW" if self.take("OUTER") else "VIEW"
        call = self._operand()
        alias = None
        columns: list[str] = []
        if self.is_name() and self.peek() != "AS":
            alias = self.name()
        if self.take("AS"):
            columns.append(self.name())
            while self.peek() == "," and self.peek_kind(1) in ("word", "quoted"):
                self.at += 1
                columns.append(self.name())
        return FunctionTable(self.span_from(start), (call,), alias, True, tuple(columns), form)

    def _parse_relation(self) -> Node:
        found = self._plain_factor()
        while self.peek() in ("PIVOT", "UNPIVOT") and self.peek(1) in ("(", "INCLUDE", "EXCLUDE"):
            self.at += 1
            while self.peek() in ("INCLUDE", "EXCLUDE", "NULLS"):
                self.at += 1
            self.skip_brackets()
            self._parse_alias()
            found = Pivoted(self.span_from(found.span.start), found)
        return found

    def _plain_factor(self) -> Node:
        start = self.start()
        known = self.tables.get(start)
        lateral = self.take("LATERAL")
        if self.peek() == "(":
            return self._from_brackets(start, lateral)
        if known is not None:
            return self._known_table(start, *known)
        if self.take("TABLE", "("):
            return self._function_table_in_brackets(start)
        if self.take("VALUES"):
            rows = [self.expression()]
            while self.take(","):
                rows.append(self.expression())
            alias, columns = self._parse_alias()
            return FunctionTable(self.span_from(start), tuple(rows), alias, False, columns, "VALUES")
        if not self.is_name():
            self.fail(f"expected a table, found {self.next_text()}")
        is_unnest = self.peek() == "UNNEST"
        parts = [self.name()]
        while self.peek() == "." and self.peek_kind(1) in ("word", "quoted"):
            self.at += 1
            parts.append(self.name())
        if self.peek() == "(":
            call = self._function_call(start, tuple(parts))
            form = "ORDINALITY" if self.take("WITH", "ORDINALITY") else ""
            alias, columns = self._parse_alias()
            return FunctionTable(self.span_from(start), (call,), alias, lateral or is_unnest, columns, form)
        return self._after_name(start, None, parts[-1])

    def _known_table(self, start: int, number: int, stop: int) -> Table:
        """One of the statement's table references: its name, time travel and hints are read already."""
        name = ""
        while self.at < len(self.tokens) and self.tokens[self.at].start < stop:
            token = self.tokens[self.at]
            ends_name = self.peek(1) != "." and not name
            name = token.name if token.is_name and ends_name else name
            self.at += 1
        return self._after_name(start, number, name)

    def _after_name(self, start: int, number: int | None, name: str) -> Table:
        sampled = self.take("TABLESAMPLE")
        if sampled:
            self._skip_tablesample()
        alias, columns = self._parse_alias()
        if not sampled and self.take("TABLESAMPLE"):
            sampled = True
            self._skip_tablesample()
            alias, columns = self._parse_alias() if alias is None else (alias, columns)
        return Table(self.span_from(start), number, name, alias, columns, sampled)

    def _skip_tablesample(self) -> None:
        while self.take_one(("BERNOULLI", "SYSTEM", "REPEATABLE")) or self.peek() == "(":
            if self.peek() == "(":
                self.skip_brackets()

    def _from_brackets(self, start: int, lateral: bool) -> Node:
        self.at += 1
        if self.peek() in QUERY_STARTS or (self._opens_query() and self._is_query_in_brackets()):
            query = self.query()
            self.expect(")")
            sampled = self.take("TABLESAMPLE")
            if sampled:
                self._skip_tablesample()
            alias, columns = self._parse_alias()
            return DerivedTable(self.span_from(start), query, alias, lateral, columns, sampled)
        source, joins = self._parse_joins()
        self.expect(")")
        self._parse_alias()
        return NestedJoin(self.span_from(start), source, joins)

    def _is_query_in_brackets(self) -> bool:
        """Whether `(SELECT ...) UNION ...` comes next, and not `(SELECT ...) AS a JOIN ...`."""
        before = self.at
        self.skip_brackets()
        following = self.peek()
        self.at = before
        return following in ("UNION", "INTERSECT", "EXCEPT", "MINUS", ")", "ORDER", "LIMIT")

    def _function_table_in_brackets(self, start: int) -> Node:
        """After `TABLE(`: a window of Flink, or the call of a table function."""
        kind = self.peek()
        if kind in _WINDOW_TABLES and self.peek(1) == "(":
            self.at += 2
            self.take("DATA")
            self.take("=>")
            self.expect("TABLE")
            table = self._parse_relation()
            while self.peek() != ")":  # DESCRIPTOR and sizes: read with the window's edits
                if self.at >= len(self.tokens):
                    self.fail("expected ')', found the end")
                if self.peek() == "(":
                    self.skip_brackets()
                else:
                    self.at += 1
            self.expect(")")
            self.expect(")")
            alias, _ = self._parse_alias()
            return WindowTable(self.span_from(start), kind, table, alias)
        if self.peek(1) == "(":
            call = self._operand()
            self.expect(")")
            alias, columns = self._parse_alias()
            return FunctionTable(self.span_from(start), (call,), alias, True, columns)
        source, joins = self._parse_joins()
        self.expect(")")
        self._parse_alias()
        return NestedJoin(self.span_from(start), source, joins)

    def _parse_alias(self) -> tuple[str | None, tuple[str, ...]]:
        """The alias, and the column names that follow it."""
        if (
            self.take("AS")
            or self.peek_kind() == "quoted"
            or (self.peek_kind() == "word" and self.peek() not in _NOT_AN_ALIAS)
        ):
            name = self.name()
        else:
            return None, ()
        if self.peek() == "(" and self.peek_kind(1) in ("word", "quoted") and self.peek(2) in (",", ")"):
            return name, self.names_in_brackets()
        return name, ()


def _with_clauses(query: QueryTree, span: Span, common: tuple[CommonTable, ...], tail: QueryTail) -> QueryTree:
    """The query with its WITH items and final clauses; clauses inside its brackets stay, as in `(SELECT a FROM t LIMIT 1) LIMIT 2`."""
    inner = query.tail if isinstance(query, Select) else QueryTail(span)
    tail = replace(tail, other=(*inner.other, *tail.other), has_other=inner.has_other or tail.has_other)
    return replace(query, span=span, common=common, tail=tail)
