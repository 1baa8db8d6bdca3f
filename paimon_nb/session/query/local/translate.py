"""The structure of a query in the engine's SQL: names, stars, groups, joins, set operations and ORDER BY as Spark resolves them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.session.query.local.clauses import (
    limit_number,
    named_windows,
    result_column_position,
    select_list,
    values_columns,
)
from paimon_nb.session.query.local.expressions import Context, Expressions, has_aggregate, has_window
from paimon_nb.session.query.local.from_clause import FromClause, Known
from paimon_nb.session.query.local.generators import check_one_generator
from paimon_nb.session.query.local.grouping import Groups, group_keys
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.subqueries import SubqueryTranslator, correlation_of
from paimon_nb.session.query.local.translation import NamedQuery, Output, Parts, Translation
from paimon_nb.session.query.local.values import (
    Value,
    cast_to_common_type,
    orderable,
    with_positive_zero,
)
from paimon_nb.session.query.local.where import check_positions_of_subqueries, where_sql
from paimon_nb.session.query.local.written import WrittenParts
from paimon_nb.syntax import tree as syntax
from paimon_nb.syntax.lexer import tokens
from paimon_nb.syntax.tree import without_brackets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.types import DataType
    from paimon_nb.session.query.local.expressions import Resolve
    from paimon_nb.session.query.local.scopes import Relation
    from paimon_nb.session.query.local.views import View
    from paimon_nb.statements import Query

_OUTER_JOINS = frozenset({"LEFT", "RIGHT", "FULL"})


class Translator:
    """Translates one text's query."""

    def __init__(self, parts: Parts, query: Query, text: str) -> None:
        self.parts, self.query, self.text = parts, query, text
        self.subqueries = SubqueryTranslator(parts, self.tree, self.materialized)
        self.written = WrittenParts(query, text, flink=parts.flink)
        self.context = Context(
            self._words, parts.flink, self.subqueries, parts.parameters, parts.checks.texts, parts.zone, self.written
        )
        self.known: dict[str, Known] = {}
        self.sources = FromClause(self)

    def of_view(self, view: View) -> Translation:
        """The query of a view."""
        with view.names():
            return Translator(self.parts, view.query, view.text).whole(view.tree)

    def _words(self, start: int, stop: int) -> list[str]:
        """The tokens of a part of the text, keywords in upper case."""
        return [t.upper or t.text for t in tokens(self.text[start:stop]) if t.kind != "hint"]

    def whole(self, node: syntax.QueryTree, *, top: bool = False) -> Translation:
        """The text's query. Raises NotLocal."""
        found = self.tree(node, top=top)
        self.written.check_all_covered()
        return found

    def tree(self, node: syntax.QueryTree, *, outer: Resolve | None = None, top: bool = False) -> Translation:
        """A query. `top`: its rows are the result, so that groups without ORDER BY get one. Raises NotLocal."""
        before = self.known
        self.known = self._with_queries(node) if node.common else before
        try:
            match node:
                case syntax.Select():
                    return self._select(node, outer, top=top)
                case syntax.SetOperation():
                    return self._set_operation(node, top=top)
                case syntax.Bracketed():
                    if node.tail.order or node.tail.limit is not None or node.tail.offset is not None:
                        raise NotLocal("a query in brackets has clauses of its own")
                    return self.tree(node.query, outer=outer, top=top)
                case syntax.Values():
                    return self._values(node)
        finally:
            self.known = before

    def _with_queries(self, node: syntax.QueryTree) -> dict[str, Known]:
        before = self.known
        try:
            for common in node.common:
                if common.recursive:
                    raise NotLocal("WITH RECURSIVE is left to Spark")
                found = self.tree(common.query)
                name = self.parts.new_name("c")
                self.parts.queries.append(NamedQuery(name, found.sql))
                self.known = {**self.known, common.name.lower(): Known(name, found, common.columns)}
            return dict(self.known)
        finally:
            self.known = before

    # -- set operations and VALUES

    def _set_operation(self, node: syntax.SetOperation, *, top: bool) -> Translation:
        left, right = self.tree(node.left), self.tree(node.right)
        if len(left.outputs) != len(right.outputs):
            raise NotLocal(f"the branches of {node.op} have different columns")
        distinct = not node.keeps_duplicates
        types: list[DataType] = []
        for column in zip(left.outputs, right.outputs, strict=True):
            _, t = cast_to_common_type([Value("", o.type) for o in column])
            types.append(t)
        selects = []
        for part in (left, right):
            values = [Value(f"o{i}", o.type).cast(t) for i, (o, t) in enumerate(zip(part.outputs, types, strict=True))]
            values = [with_positive_zero(v) if node.op != "UNION" or distinct else v for v in values]
            if any(not orderable(v) for v in values) and (node.op != "UNION" or distinct):
                raise NotLocal(f"{node.op} of such columns is left to Spark")
            items = ", ".join(f"{v.sql} AS o{i}" for i, v in enumerate(values))
            selects.append(f"SELECT {items} FROM ({part.sql}) AS {self.parts.new_name('b')}")
        outputs = tuple(Output(o.name, t) for o, t in zip(left.outputs, types, strict=True))
        named = [(o.name, Value(f"o{i}", o.type)) for i, o in enumerate(outputs)]
        orders = [self._order_item(item, named, None, None) for item in node.tail.order]
        if top and not orders and distinct:
            orders = [f"{i + 1} ASC NULLS FIRST" for i in range(len(outputs))]
        word = f"{node.op}{'' if distinct else ' ALL'}"
        limit = limit_number(node.tail.limit)
        sql = (
            f"SELECT * FROM ({f' {word} '.join(f'({s})' for s in selects)}) AS {self.parts.new_name('u')}"
            f"{_order_by_and_limit(orders, node.tail)}"
        )
        branches = (*left.branches, *(right.branches if node.op == "UNION" else ()))
        return Translation(
            sql,
            outputs,
            limit is not None or (left.is_small_result and right.is_small_result),
            limit,
            branches,
            left.raises or right.raises,
            is_filtered=left.is_filtered and right.is_filtered,
        )

    def _values(self, node: syntax.Values) -> Translation:
        if node.tail.order or node.tail.limit is not None or node.tail.offset is not None or node.tail.has_other:
            raise NotLocal("VALUES with clauses is left to Spark")
        return self.rows_of_values(node.rows)

    def rows_of_values(self, rows: Sequence[syntax.Node]) -> Translation:
        columns = values_columns(self.context, rows)
        lines = [", ".join(f"{cast[i].sql} AS o{c}" for c, (cast, _) in enumerate(columns)) for i in range(len(rows))]
        outputs = tuple(Output(f"col{c + 1}", t) for c, (_, t) in enumerate(columns))
        values = tuple(Value(f"o{c}", t) for c, (_, t) in enumerate(columns))
        return Translation(" UNION ALL ".join(f"SELECT {line}" for line in lines), outputs, True, None, (values,))

    # -- one SELECT

    def _select(self, node: syntax.Select, outer: Resolve | None, *, top: bool) -> Translation:
        windows = named_windows(node)
        relation = self.sources.relation_of(node)
        for view in node.lateral_views:
            assert isinstance(view, syntax.FunctionTable)
            relation = self.sources.with_generated_rows(relation, view, is_outer=view.form == "OUTER VIEW")
        rows = Expressions(self.context, relation.resolve)
        where, correlation, where_values = self._where(node, relation, outer)
        keys = group_keys(node, rows, relation)
        expressions = [i.expression if isinstance(i, syntax.Alias) else i for i in node.items]
        orders = [o.expression for o in node.tail.order]
        aggregated = (
            node.group is not None or node.having is not None or any(map(has_aggregate, [*expressions, *orders]))
        )
        groups = keys.values if aggregated else None
        generators = check_one_generator(node.items, is_grouped=aggregated or node.distinct)
        made: dict[int, list[tuple[str | None, Value]]] = {}
        for i, call in generators.items():
            item = node.items[i]
            alias = item.name if isinstance(item, syntax.Alias) else None
            view = syntax.FunctionTable(call.span, (call,), None, True, (alias,) if alias else ())
            before, relation = relation, self.sources.with_generated_rows(relation, view)
            made[i] = [(name, read()) for name, read in relation.visible[len(before.visible) :]]
        scope = Expressions(self.context, relation.resolve, groups=groups, windows=windows, grouping=keys.grouping)
        named = select_list(node.items, scope, before if generators else relation, made)
        if node.distinct:
            named = [(name, with_positive_zero(value)) for name, value in named]
        above = _Above(named, scope, relation)
        having, having_values = self._having(node, above)
        order_texts, order_values = self._orders(node, named, above, relation, keys, top=top, grouped=aggregated)
        texts = ", ".join(f"{value.sql} AS o{i}" for i, (_, value) in enumerate(named))
        from_ = f" FROM {relation.sql}" if relation.sql else ""
        ending = _order_by_and_limit(order_texts, node.tail)
        body = f"{from_}{where}{keys.sql if aggregated else ''}"
        if having_values and any(v.raises for _, v in named):
            sql = (
                self._groups_before_having(texts, body, having.removeprefix(" HAVING "), order_texts, len(named))
                + ending
            )
        else:
            sql = f"SELECT {'DISTINCT ' if node.distinct else ''}{texts}{body}{having}{ending}"
        computed = [*where_values, *having_values, *keys.values.values(), *order_values, *(v for _, v in named)]
        self.parts.checks.add(
            where_values, [*having_values, *keys.values.values(), *order_values, *(v for _, v in named)]
        )
        self.parts.may_raise = self.parts.may_raise or any(v.raises for v in computed)
        limit = limit_number(node.tail.limit)
        if node.distinct and having:
            raise NotLocal("DISTINCT beside HAVING is left to Spark")
        if correlation and (node.distinct or node.having or limit is not None or node.tail.offset or node.group):
            raise NotLocal("a correlated subquery with such clauses is left to Spark")
        if correlation and any(v.is_outer for v in computed if v not in where_values):
            raise NotLocal("an outer column outside of WHERE is left to Spark")
        return Translation(
            sql,
            tuple(Output(name, value.type) for name, value in named),
            limit is not None or aggregated or node.distinct,
            limit,
            (tuple(v for _, v in named),),
            relation.raises or any(v.raises for v in computed),
            aggregated and not keys.values and node.having is None and limit is None and not node.tail.offset,
            correlation,
            is_filtered=node.where is not None or relation.is_filtered,
        )

    def _where(self, node: syntax.Select, relation: Relation, outer: Resolve | None) -> tuple[str, str, list[Value]]:
        """The SQL of WHERE, how it depends on outer rows, and its values."""
        if node.where is None:
            return "", "", []

        def resolve(column: syntax.Column) -> Value:
            found = relation.find(column)
            if found is not None:
                return found
            if outer is None:
                raise NotLocal(f"{column.parts[-1]} is not a column")
            return replace(outer(column), is_outer=True)

        scope = Expressions(self.context, resolve, own=relation.resolve, is_filter=True)
        check_positions_of_subqueries(node.where)
        values = [scope.condition(part) for part in syntax.conjuncts(node.where)]
        correlation = correlation_of(values)
        if correlation and any(j.side in _OUTER_JOINS for j in node.joins):
            raise NotLocal("a correlated subquery with an outer join is left to Spark")
        is_joined = bool(node.joins) or any(isinstance(n, syntax.Subquery) for n in syntax.walk_expression(node.where))
        return f" WHERE {where_sql(values, is_joined=is_joined)}", correlation, values

    def _having(self, node: syntax.Select, above: Expressions) -> tuple[str, list[Value]]:
        # Over no rows, Spark has no group of the empty set of keys, unless there are no other keys.
        counted = "count(*) > 0" if above.grouping else ""
        if node.having is None:
            return f" HAVING {counted}" if counted else "", []
        check_positions_of_subqueries(node.having)
        above.is_filter = True
        value = above.condition(node.having)
        above.is_filter = False
        return f" HAVING {' AND '.join(filter(None, (counted, value.sql)))}", [value]

    def _groups_before_having(self, items: str, body: str, having: str, orders: Sequence[str], count: int) -> str:
        """A SELECT that computes all groups before HAVING leaves out some, as Spark does, with the errors of all groups."""
        if not all(order[0].isdecimal() for order in orders):
            raise NotLocal("ORDER BY of what is not selected under HAVING is left to Spark")
        name = self.parts.new_name("m")
        self.parts.queries.append(NamedQuery(name, f"SELECT {items}, {having} AS h{body}", True))
        return f"SELECT {', '.join(f'o{i}' for i in range(count))} FROM {name} WHERE h"

    def _orders(
        self,
        node: syntax.Select,
        named: Sequence[tuple[str | None, Value]],
        above: Expressions,
        relation: Relation,
        keys: Groups,
        *,
        top: bool,
        grouped: bool,
    ) -> tuple[list[str], list[Value]]:
        """The items of ORDER BY; groups of a result without ORDER BY are sorted by their keys."""
        order = node.tail.order
        if node.having is not None and any(has_aggregate(o.expression) for o in order):
            raise NotLocal("ORDER BY of an aggregate under HAVING is left to Spark")  # which does not find it
        if node.distinct and has_window(o.expression for o in order):
            raise NotLocal("ORDER BY of a window beside DISTINCT is left to Spark")
        values: list[Value] = []
        found = [self._order_item(o, named, above, relation, only_outputs=node.distinct, values=values) for o in order]
        if top and not found and ((grouped and keys.values) or node.distinct):
            group_texts = {g.sql for g in keys.values.values()}
            sorted_by = [i for i, (_, v) in enumerate(named) if node.distinct or v.sql in group_texts]
            found = [f"{i + 1} ASC NULLS FIRST" for i in sorted_by]
        return found, values

    def _order_item(
        self,
        item: syntax.Ordering,
        named: Sequence[tuple[str | None, Value]],
        scope: Expressions | None,
        relation: Relation | None,
        *,
        only_outputs: bool = False,
        values: list[Value] | None = None,
    ) -> str:
        """An item of ORDER BY."""
        direction = f"{'DESC' if item.descending else 'ASC'} NULLS {'FIRST' if item.nulls_first else 'LAST'}"
        expression = without_brackets(item.expression)
        position = result_column_position(expression, named, relation)
        if position is None:
            if scope is None:
                raise NotLocal("ORDER BY after a set operation has an expression")
            if isinstance(expression, syntax.Literal):
                raise NotLocal("ORDER BY a constant")
            value = scope.value(expression)
            texts = [v.sql for _, v in named]
            if only_outputs and not _is_output(expression, value, named):
                raise NotLocal("ORDER BY of what DISTINCT leaves out")
            if value.sql not in texts:
                if not orderable(value):
                    raise NotLocal(f"ORDER BY of {value.type.bare()} is left to Spark")
                if values is not None:
                    values.append(value)
                return f"{value.sql} {direction}"
            position = texts.index(value.sql)
        if not orderable(named[position][1]):
            raise NotLocal(f"ORDER BY of {named[position][1].type.bare()} is left to Spark")
        return f"{position + 1} {direction}"

    def materialized(self, found: Translation, named: str | None = None) -> str:
        """The name of a query all of whose rows are computed."""
        if named is None:
            named = self.parts.new_name("m")
            self.parts.queries.append(NamedQuery(named, found.sql))
        next(q for q in self.parts.queries if q.name == named).is_materialized = True
        return named


class _Above(Expressions):
    """Expressions above the SELECT list, where aliases are names, too."""

    def __init__(self, named: Sequence[tuple[str | None, Value]], scope: Expressions, relation: Relation) -> None:
        super().__init__(
            scope.context, scope.resolve, groups=scope.groups, windows=scope.windows, grouping=scope.grouping
        )
        self._named, self._relation = named, relation

    def value(self, e: syntax.Node) -> Value:
        e = without_brackets(e)
        if isinstance(e, syntax.Column):
            position = result_column_position(e, self._named, self._relation)
            if position is not None:
                return self._named[position][1]
        return super().value(e)


def _is_output(e: syntax.Node, value: Value, named: Sequence[tuple[str | None, Value]]) -> bool:
    """Whether a column, with its qualifier, is a column of the result that has kept its name."""
    return isinstance(e, syntax.Column) and any(
        v.sql == value.sql and (name or "").lower() == e.parts[-1].lower() for name, v in named
    )


def _order_by_and_limit(orders: Sequence[str], tail: syntax.QueryTail) -> str:
    limit, offset = limit_number(tail.limit), limit_number(tail.offset)
    text = f" ORDER BY {', '.join(orders)}" if orders else ""
    text += f" LIMIT {limit}" if limit is not None else ""
    return text + (f" OFFSET {offset}" if offset else "")
