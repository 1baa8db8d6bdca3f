"""From the tree of a query to its operators. Names and expressions mean what they mean to the embedded engine, which has Spark's rules.

What cannot be kept incrementally raises NotLocal with the reason: the query is then computed again at each refresh.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.incremental.group_scope import GroupScope
from paimon_nb.incremental.inputs import open_input
from paimon_nb.incremental.joins import Item, cross, ids_in, joined_item, linked, materialized
from paimon_nb.incremental.list_types import stored_type
from paimon_nb.incremental.operators import (
    Aggregate,
    Column,
    Constant,
    Filter,
    Partitioned,
    Project,
    Source,
    UnionAll,
)
from paimon_nb.incremental.shared import Built, Shared
from paimon_nb.incremental.subqueries import Subqueries
from paimon_nb.incremental.time_windows import group_windows, window_table, with_group_window
from paimon_nb.incremental.window_scope import WindowScope
from paimon_nb.incremental.written import written_tree
from paimon_nb.session.query.local.clauses import (
    as_read,
    limit_number,
    named_windows,
    parts_of_from,
    renamed,
    result_column_position,
    select_list,
    values_columns,
)
from paimon_nb.session.query.local.expressions import Context, Expressions, has_aggregate, has_window
from paimon_nb.session.query.local.from_clause import JOINS
from paimon_nb.session.query.local.grouping import Groups, group_keys
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.scopes import Relation, names_in_both, side_by_side
from paimon_nb.session.query.local.scopes import Source as NamedSource
from paimon_nb.session.query.local.values import (
    BIGINT,
    Value,
    cast_to_common_type,
    orderable,
    with_positive_zero,
)
from paimon_nb.session.query.local.views import find_query_of_view
from paimon_nb.syntax import tree as syntax
from paimon_nb.syntax.lexer import tokens
from paimon_nb.syntax.tree import without_brackets

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paimon_nb.format.types import DataField
    from paimon_nb.incremental.operators import Operator
    from paimon_nb.session.query.local import expressions
    from paimon_nb.session.query.local.expressions import Resolve
    from paimon_nb.session.query.local.scopes import Read
    from paimon_nb.statements import Query, TableRef


class Builder:
    """Builds the operators of one text's query."""

    def __init__(self, shared: Shared, query: Query, text: str) -> None:
        self.shared, self.query, self.text = shared, query, text
        self._known: dict[str, tuple[Built, tuple[str, ...]]] = {}

    def tree(self, node: syntax.QueryTree) -> Built:
        """A query. Raises NotLocal: it cannot be kept incrementally."""
        before = self._known
        self._known = self._with_queries(node) if node.common else before
        try:
            match node:
                case syntax.Select():
                    return self._select(node)
                case syntax.SetOperation():
                    return self._set_operation(node)
                case syntax.Bracketed():
                    if node.tail.order or node.tail.limit is not None or node.tail.offset is not None:
                        raise NotLocal("a query in brackets has clauses of its own")
                    return self.tree(node.query)
                case syntax.Values():
                    return self._values(node.rows)
        finally:
            self._known = before

    def _with_queries(self, node: syntax.QueryTree) -> dict[str, tuple[Built, tuple[str, ...]]]:
        before = self._known
        try:
            for common in node.common:
                if common.recursive:
                    raise NotLocal("WITH RECURSIVE has no bound on what one change reaches")
                found = self.tree(common.query)
                self._known = {**self._known, common.name.lower(): (found, common.columns)}
            return dict(self._known)
        finally:
            self._known = before

    # -- scopes

    def context(self, subqueries: expressions.Subqueries | None) -> Context:
        return Context(
            self._words,
            self.shared.session.flink_semantics,
            subqueries,
            self.shared.parameters,
            self.shared.checks.texts,
            self.shared.session.time_zone or "UTC",
        )

    def _words(self, start: int, stop: int) -> list[str]:
        return [t.upper or t.text for t in tokens(self.text[start:stop]) if t.kind != "hint"]

    # -- set operations and VALUES

    def _set_operation(self, node: syntax.SetOperation) -> Built:
        if node.tail.limit is not None or node.tail.offset is not None:
            raise NotLocal(f"LIMIT of {node.op}: which rows stay depends on all rows")
        parts = [self.tree(node.left), self.tree(node.right)]
        if len(parts[0].names) != len(parts[1].names):
            raise NotLocal(f"the branches of {node.op} have different columns")
        types = [
            cast_to_common_type([Value("", a.type), Value("", b.type)])[1]
            for a, b in zip(parts[0].operator.columns, parts[1].operator.columns, strict=True)
        ]
        columns = [self.shared.column(t, n) for t, n in zip(types, parts[0].names, strict=True)]
        plain = node.op == "UNION" and node.keeps_duplicates
        if plain:
            children = tuple(self._cast(p.operator, types, columns, zero=False) for p in parts)
            return Built(UnionAll(children, tuple(columns)), parts[0].names)
        if any(not orderable(Value("", t)) for t in types):
            raise NotLocal(f"{node.op} of such columns")
        if node.op == "UNION":
            children = tuple(self._cast(p.operator, types, columns, zero=True) for p in parts)
            union = UnionAll(children, tuple(columns))
            return Built(Aggregate(union, tuple(columns), (), True), parts[0].names)
        if node.keeps_duplicates:
            raise NotLocal(f"{node.op} ALL")
        return Built(self._intersection(node.op, parts, types, columns), parts[0].names)

    def _cast(self, op: Operator, types: Sequence[Any], columns: Sequence[Column], *, zero: bool) -> Project:
        items = []
        for c, t, new in zip(op.columns, types, columns, strict=True):
            value = Value(c.id, c.type).cast(t)
            items.append(((with_positive_zero(value) if zero else value).sql, new))
        return Project(op, tuple(items))

    def _intersection(self, op: str, parts: Sequence[Built], types: Sequence[Any], columns: list[Column]) -> Operator:
        """INTERSECT and EXCEPT: rows are counted on each side."""
        flags = [self.shared.column(t, n) for t, n in ((BIGINT, "in_left"), (BIGINT, "in_right"))]
        children = []
        for side, part in enumerate(parts):
            items = self._cast(part.operator, types, columns, zero=True).items
            marks = tuple((f"CAST({1 if at == side else 'NULL'} AS BIGINT)", f) for at, f in enumerate(flags))
            children.append(Project(part.operator, (*items, *marks)))
        scope = GroupScope.over_columns(self.shared, flags)
        counts = [scope.count(f) for f in flags]
        grouped = Aggregate(UnionAll(tuple(children), (*columns, *flags)), tuple(columns), tuple(scope.calls))
        condition = f"{counts[0]} > 0 AND {counts[1]} {'> 0' if op == 'INTERSECT' else '= 0'}"
        return Project(Filter(grouped, condition), tuple((c.id, c) for c in columns))

    def _values(self, rows: Sequence[syntax.Node]) -> Built:
        lines: list[list[str]] = [[] for _ in rows]
        columns = []
        for at, (values, t) in enumerate(values_columns(self.context(None), rows)):
            columns.append(self.shared.column(t, f"col{at + 1}"))
            for line, value in zip(lines, values, strict=True):
                line.append(f"{value.sql} AS {columns[-1].id}")
        sql = " UNION ALL ".join(f"SELECT {', '.join(line)}" for line in lines)
        return Built(Constant(sql, tuple(columns)), tuple(c.name for c in columns))

    # -- one SELECT

    def _select(self, node: syntax.Select) -> Built:
        if node.lateral_views:
            raise NotLocal("LATERAL VIEW")
        windows = named_windows(node)
        item = self._from(node)
        subqueries = Subqueries(self, item.relation)
        context = self.context(subqueries)
        op = self._filtered(node, item, context, subqueries)
        relation = item.relation
        if found := group_windows(node):
            if len(found) > 1:
                raise NotLocal("several windows in GROUP BY")
            node, op, relation = with_group_window(self.shared, context, node, found[0], op, relation)
        rows = Expressions(context, relation.resolve)
        expressions = [i.expression if isinstance(i, syntax.Alias) else i for i in node.items]
        aggregated = node.group is not None or node.having is not None or any(map(has_aggregate, expressions))
        if aggregated:
            return self._grouped(node, op, rows, relation, subqueries, windows)
        if has_window(expressions):
            return self._with_windows(node, op, context, relation, windows)
        named = select_list(node.items, rows, relation)
        self.shared.checks.add([], [v for _, v in named])
        op = subqueries.joined(op)
        return self._ending(node, op, named, rows)

    def _filtered(self, node: syntax.Select, item: Item, context: Context, subqueries: Subqueries) -> Operator:
        """FROM and WHERE."""
        values: list[Value] = []
        predicates = []
        scope = Expressions(context, item.relation.resolve)
        for part in syntax.conjuncts(node.where) if node.where is not None else ():
            predicate = subqueries.predicate(part)
            if predicate is not None:
                predicates.append(predicate)
            else:
                values.append(scope.condition(part))
        self.shared.checks.add(values, [])
        return _applied(item, values, predicates, subqueries)

    def _grouped(
        self,
        node: syntax.Select,
        op: Operator,
        rows: Expressions,
        relation: Relation,
        subqueries: Subqueries,
        windows: Mapping[str, syntax.Window],
    ) -> Built:
        keys = group_keys(node, rows, relation)
        if keys.grouping == ():
            if len(keys.sets) > 1:
                raise NotLocal("several sets without keys in GROUP BY")
            keys = Groups({}, "")
        before = len(subqueries.found)
        scope = GroupScope(self.shared, rows.context, relation, keys, windows)
        named = select_list(node.items, scope, relation)
        self.shared.checks.add([], [v for _, v in named])
        scope.named = named
        having = None if node.having is None else scope.condition(node.having)
        if any(ids_in(sql) & subqueries.columns for sql in scope.inputs):
            raise NotLocal("a subquery inside an aggregate function")
        result: Operator = Aggregate(scope.input_of(op), scope.keys, tuple(scope.calls))
        result = subqueries.joined(result, since=before)
        if having is not None:
            result = Filter(result, having.sql)
        if has_window(i.expression if isinstance(i, syntax.Alias) else i for i in node.items):
            return self._windows(node, result, named, scope, windows)
        found = self._ending(node, result, named, scope)
        return replace(found, is_one_row=not keys.values and node.having is None and not _has_limit(node))

    def _ending(
        self, node: syntax.Select, op: Operator, named: Sequence[tuple[str | None, Value]], scope: Expressions
    ) -> Built:
        """The SELECT list, DISTINCT, ORDER BY and LIMIT."""
        if node.distinct:
            named = [(name, with_positive_zero(value)) for name, value in named]
            if any(not orderable(v) for _, v in named):
                raise NotLocal("DISTINCT of such columns")
        items = tuple((v.sql, self.shared.column(v.type, name)) for name, v in named)
        names = tuple(name for name, _ in named)
        if not _has_limit(node):
            found: Operator = Project(op, items)
            if node.distinct:
                found = Aggregate(found, found.columns, (), True)
            return Built(found, names)
        if node.distinct:
            raise NotLocal("LIMIT beside DISTINCT; write the DISTINCT as a subquery")
        return Built(Partitioned(op, (), items, self._order_and_limit(node, named, scope), "LIMIT"), names)

    def _order_and_limit(
        self, node: syntax.Select, named: Sequence[tuple[str | None, Value]], scope: Expressions
    ) -> str:
        orders = []
        for order in node.tail.order:
            position = result_column_position(without_brackets(order.expression), named, None)
            value = scope.value(order.expression) if position is None else named[position][1]
            if not orderable(value):
                raise NotLocal(f"ORDER BY of {value.type.bare()}")
            direction = f"{'DESC' if order.descending else 'ASC'} NULLS {'FIRST' if order.nulls_first else 'LAST'}"
            orders.append(f"{value.sql} {direction}")
        # Rows that ORDER BY does not tell apart: any are right, but each time the same ones.
        orders += [f"{v.sql} ASC NULLS FIRST" for _, v in named if orderable(v)]
        limit, offset = limit_number(node.tail.limit), limit_number(node.tail.offset)
        text = f"ORDER BY {', '.join(orders)}" if orders else ""
        text += f" LIMIT {limit}" if limit is not None else ""
        return text + (f" OFFSET {offset}" if offset else "")

    def _with_windows(
        self,
        node: syntax.Select,
        op: Operator,
        context: Context,
        relation: Relation,
        windows: Mapping[str, syntax.Window],
    ) -> Built:
        scope = WindowScope(context, relation.resolve, windows=windows)
        return self._windows(node, op, select_list(node.items, scope, relation), scope, windows)

    def _windows(
        self,
        node: syntax.Select,
        op: Operator,
        named: Sequence[tuple[str | None, Value]],
        scope: Expressions,
        windows: Mapping[str, syntax.Window],
    ) -> Built:
        """A SELECT list with window functions."""
        if node.distinct or _has_limit(node):
            raise NotLocal("DISTINCT or LIMIT beside window functions; write the windows as a subquery")
        value_of = scope.inside_window().value
        partitions: list[tuple[str, ...]] = []
        for item in node.items:
            for found in syntax.walk_expression(item):
                if isinstance(found, syntax.Window):
                    window = windows.get((found.base or "").lower(), found)
                    partitions.append(tuple(with_positive_zero(value_of(e)).sql for e in window.partition))
        if len(set(partitions)) > 1:
            raise NotLocal("windows with different PARTITION BY; write one of them as a subquery")
        items = tuple((v.sql, self.shared.column(v.type, name)) for name, v in named)
        return Built(Partitioned(op, partitions[0], items, "", "windows"), tuple(n for n, _ in named))

    # -- FROM

    def _from(self, node: syntax.Select) -> Item:
        if node.source is None:
            if node.where is not None or node.group is not None or node.having is not None:
                raise NotLocal("a SELECT without FROM has other clauses")
            return Item(Relation("", (), ()), [Constant("SELECT 1", ())], [])
        items = [self._chain(source, joins) for source, joins in parts_of_from(node.source, node.joins)]
        return cross(items, side_by_side([i.relation for i in items]))

    def _chain(self, source: syntax.Node, joins: Sequence[syntax.Join]) -> Item:
        found = self._relation(source)
        for join in joins:
            found = self._join(found, join)
        return found

    def _join(self, left: Item, join: syntax.Join) -> Item:
        kind = JOINS.get((join.side, join.kind))
        if kind is None:
            raise NotLocal("this JOIN")
        right = self._relation(join.source)
        using = tuple(names_in_both(left.relation, right.relation)) if join.natural else join.using
        if not using and join.condition is None and kind != "INNER":
            raise NotLocal("a JOIN has no condition")
        context = self.context(None)
        return joined_item(self.shared, context, kind, left, right, join.condition, using)

    def _relation(self, node: syntax.Node) -> Item:
        match node:
            case syntax.Table():
                if node.sampled:
                    raise NotLocal("TABLESAMPLE takes other rows each time")
                if node.number is not None:
                    return self._table(node, self.query.tables[node.number])
                known = self._known.get(node.name.lower())
                if known is not None:
                    return self.derived(known[0], node.columns or known[1], node.qualifier)
            case syntax.DerivedTable(lateral=False, sampled=False):
                return self.derived(self.tree(node.query), node.columns, node.alias or "")
            case syntax.FunctionTable(form="VALUES"):
                return self.derived(self._values(node.parts), node.columns, node.alias or "")
            case syntax.WindowTable():
                item = self._relation(node.table)
                rows, context = materialized(item, []), self.context(None)
                words = self._words(node.table.span.stop, node.span.stop)
                op, relation = window_table(self.shared, context, node, words, rows, item.relation)
                return Item(relation, [op], [])
            case syntax.NestedJoin():
                if any(j.kind == "," for j in node.joins):
                    raise NotLocal("commas in brackets")
                return self._chain(node.source, node.joins)
        raise NotLocal("a source in FROM is not a table")

    def _table(self, node: syntax.Table, ref: TableRef) -> Item:
        view = find_query_of_view(self.shared.session, ref)
        if view is not None:
            tree = written_tree(self.shared.session, view.query, view.text)
            with view.names():
                found = Builder(self.shared, view.query, view.text).tree(tree)
            return self.derived(found, node.columns or view.columns, node.qualifier)
        table = open_input(self.shared.session, ref)
        source = Source(ref, table, self.shared.new_name("t"), {}, len(self.shared.sources))
        self.shared.sources.append(source)
        for name in table.primary_keys:  # so that each row of the input is one row of every join
            _read_column(source, table.schema.field(name))()
        names = renamed([f.name for f in table.schema.fields], node.columns)
        reads = tuple((n, _read_column(source, f)) for n, f in zip(names, table.schema.fields, strict=True))
        return Item(Relation.of("", NamedSource(node.qualifier, reads)), [source], [])

    def derived(self, found: Built, columns: Sequence[str], alias: str) -> Item:
        """A query in FROM, whose columns get names of their own: WITH may be read twice."""
        names = renamed(list(found.names), columns)
        new = [self.shared.column(c.type, n) for c, n in zip(found.operator.columns, names, strict=True)]
        op = Project(found.operator, tuple((c.id, n) for c, n in zip(found.operator.columns, new, strict=True)))
        values = [Value(c.id, c.type, n) for c, n in zip(new, names, strict=True)]
        reads: tuple[tuple[str, Read], ...] = tuple((n, as_read(v)) for n, v in zip(names, values, strict=True))
        return Item(Relation.of("", NamedSource(alias, reads)), [op], [])

    # -- what subqueries need

    def correlated(self, node: syntax.Select, outer: Resolve) -> tuple[Operator, Relation, list[Value], Context]:
        """FROM and WHERE of a subquery: its operator, and the conditions that have columns of the query around it."""
        item = self._from(node)

        def resolve(column: syntax.Column) -> Value:
            found = item.relation.find(column)
            return replace(outer(column), is_outer=True) if found is None else found

        subqueries = Subqueries(self, item.relation)
        context = self.context(subqueries)
        scope = Expressions(context, resolve)
        own: list[Value] = []
        outside: list[Value] = []
        predicates = []
        for part in syntax.conjuncts(node.where) if node.where is not None else ():
            predicate = subqueries.predicate(part)
            if predicate is not None:
                predicates.append(predicate)
                continue
            value = scope.condition(part)
            (outside if value.is_outer else own).append(value)
        self.shared.checks.add([*own, *outside], [])
        return _applied(item, own, predicates, subqueries), item.relation, outside, context


def _applied(
    item: Item,
    conditions: Sequence[Value],
    predicates: Sequence[Callable[[Operator], Operator]],
    subqueries: Subqueries,
) -> Operator:
    """FROM under the conditions of WHERE; those with columns of subqueries come after these."""
    op = materialized(item, conditions, subqueries.columns)
    for apply in predicates:
        op = apply(op)
    op = subqueries.joined(op)
    late = [v for v in conditions if subqueries.uses(v)]
    return Filter(op, linked(late)) if late else op


def _has_limit(node: syntax.Select) -> bool:
    return node.tail.limit is not None or node.tail.offset is not None


def _read_column(source: Source, f: DataField) -> Callable[[], Value]:
    def read() -> Value:
        t = stored_type(f.type)
        if t is None:
            raise NotLocal(f"column {f.name} is {f.type.bare()}")
        return Value(source.use(f.name, t).id, t, f.name)

    return read
