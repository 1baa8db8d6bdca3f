"""The structure of a query in the engine's SQL: names, stars, groups, joins, set operations and ORDER BY as Spark resolves them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.session.query.local.clauses import (
    as_read,
    limit_number,
    named_windows,
    parts_of_from,
    renamed,
    result_column_position,
    select_list,
    using_columns,
    values_columns,
)
from paimon_nb.session.query.local.expressions import Context, Expressions, has_aggregate, has_window
from paimon_nb.session.query.local.grouping import Groups, group_keys
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.scopes import Relation, Source, joined, names_in_both, side_by_side
from paimon_nb.session.query.local.subqueries import SubqueryTranslator, correlation_of
from paimon_nb.session.query.local.translation import NamedQuery, Output, Parts, Scan, Translation
from paimon_nb.session.query.local.values import (
    Origin,
    Value,
    cast_to_common_type,
    embedded_engine_type,
    is_floating,
    orderable,
    quote_name,
    with_positive_zero,
)
from paimon_nb.session.query.local.where import check_positions_of_subqueries, where_sql
from paimon_nb.syntax import tree as syntax
from paimon_nb.syntax.lexer import tokens
from paimon_nb.syntax.tree import without_brackets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.types import DataField, DataType
    from paimon_nb.session.query.local.expressions import Resolve
    from paimon_nb.session.query.local.scopes import Read
    from paimon_nb.statements import Query, TableRef

JOINS = {
    ("", ""): "INNER", ("", "INNER"): "INNER", ("LEFT", ""): "LEFT", ("RIGHT", ""): "RIGHT", ("FULL", ""): "FULL", ("", "CROSS"): "INNER",
    ("LEFT", "SEMI"): "SEMI", ("LEFT", "ANTI"): "ANTI", ("", "SEMI"): "SEMI", ("", "ANTI"): "ANTI",
}  # fmt: skip
_OUTER_JOINS = frozenset({"LEFT", "RIGHT", "FULL"})


@dataclass(frozen=True, slots=True)
class _Known:
    """A query that WITH names."""

    name: str
    """In the engine."""
    query: Translation
    columns: tuple[str, ...]


class Translator:
    """Translates one text's query."""

    def __init__(self, parts: Parts, query: Query, text: str) -> None:
        self.parts, self.query, self.text = parts, query, text
        self.subqueries = SubqueryTranslator(parts, self.tree, self.materialized)
        self.context = Context(self._words, parts.flink, self.subqueries, parts.parameters, parts.checks.texts)
        self._known: dict[str, _Known] = {}

    def _words(self, start: int, stop: int) -> list[str]:
        """The tokens of a part of the text, keywords in upper case."""
        return [t.upper or t.text for t in tokens(self.text[start:stop]) if t.kind != "hint"]

    def tree(self, node: syntax.QueryTree, *, outer: Resolve | None = None, top: bool = False) -> Translation:
        """A query. `top`: its rows are the result, so that groups without ORDER BY get one. Raises NotLocal."""
        before = self._known
        self._known = self._with_queries(node) if node.common else before
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
            self._known = before

    def _with_queries(self, node: syntax.QueryTree) -> dict[str, _Known]:
        before = self._known
        try:
            for common in node.common:
                if common.recursive:
                    raise NotLocal("WITH RECURSIVE is left to Spark")
                found = self.tree(common.query)
                name = self.parts.new_name("c")
                self.parts.queries.append(NamedQuery(name, found.sql))
                self._known = {**self._known, common.name.lower(): _Known(name, found, common.columns)}
            return dict(self._known)
        finally:
            self._known = before

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
        return self._rows_of_values(node.rows)

    def _rows_of_values(self, rows: Sequence[syntax.Node]) -> Translation:
        columns = values_columns(self.context, rows)
        lines = [", ".join(f"{cast[i].sql} AS o{c}" for c, (cast, _) in enumerate(columns)) for i in range(len(rows))]
        outputs = tuple(Output(f"col{c + 1}", t) for c, (_, t) in enumerate(columns))
        values = tuple(Value(f"o{c}", t) for c, (_, t) in enumerate(columns))
        return Translation(" UNION ALL ".join(f"SELECT {line}" for line in lines), outputs, True, None, (values,))

    # -- one SELECT

    def _select(self, node: syntax.Select, outer: Resolve | None, *, top: bool) -> Translation:
        if node.lateral_views:
            raise NotLocal("LATERAL VIEW is left to Spark")
        windows = named_windows(node)
        relation = self._from(node)
        rows = Expressions(self.context, relation.resolve)
        where, correlation, where_values = self._where(node, relation, outer)
        keys = group_keys(node, rows, relation)
        expressions = [i.expression if isinstance(i, syntax.Alias) else i for i in node.items]
        orders = [o.expression for o in node.tail.order]
        aggregated = (
            node.group is not None or node.having is not None or any(map(has_aggregate, [*expressions, *orders]))
        )
        groups = keys.values if aggregated else None
        scope = Expressions(self.context, relation.resolve, groups=groups, windows=windows, grouping=keys.grouping)
        named = select_list(node.items, scope, relation)
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

    # -- FROM

    def _from(self, node: syntax.Select) -> Relation:
        if node.source is None:
            if node.where is not None or node.group is not None or node.having is not None:
                raise NotLocal("a SELECT without FROM has other clauses")
            return Relation("", (), ())
        leaves_out_rows = bool(node.joins) or node.where is not None
        return side_by_side(
            [self._chain(source, joins, leaves_out_rows) for source, joins in parts_of_from(node.source, node.joins)]
        )

    def _chain(self, source: syntax.Node, joins: Sequence[syntax.Join], leaves_out_rows: bool) -> Relation:
        found = self._relation(source, leaves_out_rows=leaves_out_rows)
        for join in joins:
            found = self._join(found, join)
        return found

    def _join(self, left: Relation, join: syntax.Join) -> Relation:
        kind = JOINS.get((join.side, join.kind))
        if kind is None:
            raise NotLocal("this JOIN is left to Spark")
        right = self._relation(join.source, leaves_out_rows=True)
        using = tuple(names_in_both(left, right)) if join.natural else join.using
        if not using and join.condition is None:
            if kind != "INNER":
                raise NotLocal("a JOIN has no condition")
            return joined(left, right, f"{left.sql} CROSS JOIN {right.sql}", ())
        both = Expressions(self.context, joined(left, right, "", ()).resolve)
        merged: list[tuple[str, Read]] = []
        if using:
            if join.condition is not None or kind in ("SEMI", "ANTI"):
                raise NotLocal("this USING is left to Spark")
            condition, merged = using_columns(both, kind, left, right, using)
        else:
            assert join.condition is not None
            condition = [both.condition(part) for part in syntax.conjuncts(join.condition)]
        self._check_join_condition(condition)
        self.parts.checks.add(condition, [])
        text = " AND ".join(v.sql for v in condition)
        sql = f"{left.sql} {kind} JOIN {right.sql} ON {text}"
        return joined(left, right, sql, merged, only_left=kind in ("SEMI", "ANTI"), is_full=kind == "FULL")

    def _check_join_condition(self, conditions: Sequence[Value]) -> None:
        if any(v.raises for v in conditions):
            raise NotLocal("a join condition computes, and Spark raises errors of rows that the join leaves out")
        equal = False
        for value in conditions:
            for leaf in _comparisons(value):
                if leaf.origin is not None and any(is_floating(o.type) for o in leaf.origin.operands):
                    raise NotLocal("a join on floating-point numbers is left to Spark")
            is_equality = value.origin is not None and value.origin.operator in ("=", "<=>")
            equal = equal or (is_equality and not value.is_constant)
        if not equal:
            self.parts.has_unequal_join = True

    def _relation(self, node: syntax.Node, *, leaves_out_rows: bool) -> Relation:
        match node:
            case syntax.Table():
                if node.sampled:
                    raise NotLocal("TABLESAMPLE is left to Spark")
                if node.number is not None:
                    return self._table(node, self.query.tables[node.number], leaves_out_rows=leaves_out_rows)
                known = self._known.get(node.name.lower())
                if known is not None:
                    return self._derived(
                        known.query,
                        node.columns or known.columns,
                        node.qualifier,
                        known.name,
                        leaves_out_rows=leaves_out_rows,
                    )
            case syntax.DerivedTable(lateral=False, sampled=False):
                found = self.tree(node.query)
                return self._derived(found, node.columns, node.alias or "", None, leaves_out_rows=leaves_out_rows)
            case syntax.FunctionTable(form="VALUES"):
                found = self._rows_of_values(node.parts)
                return self._derived(found, node.columns, node.alias or "", None, leaves_out_rows=leaves_out_rows)
            case syntax.NestedJoin():
                nested = self._chain(node.source, node.joins, leaves_out_rows=True)
                if any(j.kind == "," for j in node.joins):
                    raise NotLocal("commas in brackets are left to Spark")
                return replace(nested, sql=f"({nested.sql})")
        raise NotLocal("a source in FROM is not a table")

    def _table(self, node: syntax.Table, ref: TableRef, *, leaves_out_rows: bool) -> Relation:
        view = self.parts.view_of(ref)
        if view is not None:
            with view.names():
                found = Translator(self.parts, view.query, view.text).tree(view.tree)
            return self._derived(
                found, node.columns or view.columns, node.qualifier, None, leaves_out_rows=leaves_out_rows
            )
        scan = Scan(ref, self.parts.fields_of(ref), self.parts.new_name("t"))
        self.parts.scans.append(scan)
        names = renamed([f.name for f in scan.fields], node.columns)
        reads = tuple((n, _scan_column_reader(scan, f)) for n, f in zip(names, scan.fields, strict=True))
        return Relation.of(scan.name, Source(node.qualifier, reads))

    def _derived(
        self, found: Translation, columns: Sequence[str], alias: str, named: str | None, *, leaves_out_rows: bool
    ) -> Relation:
        """A query in FROM; `named`: the name that WITH has for it."""
        names = renamed([o.name for o in found.outputs], columns)
        name = self.parts.new_name("q")
        if leaves_out_rows and found.raises:
            named = self.materialized(found, named)
        alternatives = list(zip(*found.branches, strict=True)) if found.branches else [()] * len(names)
        values = [
            Value(
                f"{name}.o{i}",
                o.type,
                n,
                origin=Origin("COLUMN", (), alternatives=alternatives[i], source=name),
            )
            for i, (n, o) in enumerate(zip(names, found.outputs, strict=True))
        ]
        source = Source(alias, tuple((n, as_read(v)) for n, v in zip(names, values, strict=True)))
        text = f"{named} AS {name}" if named else f"({found.sql}) AS {name}"
        return Relation.of(text, source, raises=found.raises)

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


def _comparisons(value: Value) -> list[Value]:
    """The comparisons of a condition with AND, OR and NOT."""
    if value.origin is None:
        return []
    if value.origin.operator in ("AND", "OR", "NOT"):
        return [c for o in value.origin.operands for c in _comparisons(o)]
    return [value] if value.origin.operator in ("=", "<=>") else []


def _scan_column_reader(scan: Scan, f: DataField) -> Read:
    """The value of a table's column; its first use makes it one of the scan's columns."""

    def read_scan_column() -> Value:
        t = embedded_engine_type(f.type)
        if t is None:
            raise NotLocal(f"column {f.name} is {f.type.bare()}")
        scan.used[f.name] = t
        return Value(f"{scan.name}.{quote_name(f.name)}", t, f.name)

    return read_scan_column


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
