"""FROM in the engine's SQL: tables, views, subqueries, joins, and functions that make rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types import Char
from paimon_nb.session.query.local.clauses import as_read, parts_of_from, renamed, using_columns
from paimon_nb.session.query.local.expressions import Expressions
from paimon_nb.session.query.local.generators import generator_of, named_columns
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.scopes import Relation, Source, joined, names_in_both, side_by_side
from paimon_nb.session.query.local.translation import Scan
from paimon_nb.session.query.local.values import Origin, Value, displayed_type, is_floating, quote_name
from paimon_nb.syntax import tree as syntax
from paimon_nb.syntax.tree import without_brackets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.types import DataField
    from paimon_nb.session.query.local.expressions import Context
    from paimon_nb.session.query.local.scopes import Read
    from paimon_nb.session.query.local.translation import Parts, Translation
    from paimon_nb.session.query.local.views import View
    from paimon_nb.statements import Query, TableRef

JOINS = {
    ("", ""): "INNER", ("", "INNER"): "INNER", ("LEFT", ""): "LEFT", ("RIGHT", ""): "RIGHT", ("FULL", ""): "FULL", ("", "CROSS"): "INNER",
    ("LEFT", "SEMI"): "SEMI", ("LEFT", "ANTI"): "ANTI", ("", "SEMI"): "SEMI", ("", "ANTI"): "ANTI",
}  # fmt: skip
_LATERAL_JOINS = frozenset({("", "CROSS"), ("", ""), ("", "INNER"), ("LEFT", "")})


@dataclass(frozen=True, slots=True)
class Known:
    """A query that WITH names."""

    name: str
    """In the engine."""
    query: Translation
    columns: tuple[str, ...]


class Queries(Protocol):
    """Translates the queries of one text."""

    parts: Parts
    query: Query
    context: Context
    known: dict[str, Known]
    """The queries that WITH names, by lower-case name."""

    def tree(self, node: syntax.QueryTree) -> Translation: ...
    def of_view(self, view: View) -> Translation: ...
    def rows_of_values(self, rows: Sequence[syntax.Node]) -> Translation: ...
    def materialized(self, found: Translation, named: str | None = None) -> str: ...


class FromClause:
    """Translates the sources of the queries of one text."""

    def __init__(self, queries: Queries) -> None:
        self.queries, self.parts, self.context = queries, queries.parts, queries.context

    def relation_of(self, node: syntax.Select) -> Relation:
        if node.source is None:
            if node.where is not None or node.group is not None or node.having is not None:
                raise NotLocal("a SELECT without FROM has other clauses")
            return Relation("", (), ())
        leaves_out_rows = bool(node.joins) or node.where is not None
        found: list[Relation] = []
        for source, joins in parts_of_from(node.source, node.joins):
            if found and isinstance(source, syntax.FunctionTable) and source.form != "VALUES":
                found = [self._chain(self.with_generated_rows(side_by_side(found), source), joins, leaves_out_rows)]
            else:
                found.append(self._chain(source, joins, leaves_out_rows))
        return side_by_side(found)

    def _chain(self, source: syntax.Node | Relation, joins: Sequence[syntax.Join], leaves_out_rows: bool) -> Relation:
        found = source if isinstance(source, Relation) else self._relation(source, leaves_out_rows=leaves_out_rows)
        for join in joins:
            if isinstance(join.source, syntax.FunctionTable) and join.source.form != "VALUES":
                found = self.with_generated_rows(found, join.source, is_outer=self._keeps_rows_without_elements(join))
            else:
                found = self._join(found, join)
        return found

    def _keeps_rows_without_elements(self, join: syntax.Join) -> bool:
        """Whether it is `LEFT JOIN UNNEST(...) ON TRUE`, and not `CROSS JOIN`. Raises NotLocal: it has another condition."""
        condition = None if join.condition is None else without_brackets(join.condition)
        is_true = condition is None or (isinstance(condition, syntax.Literal) and condition.kind == "TRUE")
        if not is_true or join.using or join.natural or (join.side, join.kind) not in _LATERAL_JOINS:
            raise NotLocal("a JOIN of a function with a condition is left to Spark")
        return join.side == "LEFT"

    def with_generated_rows(self, left: Relation, view: syntax.FunctionTable, *, is_outer: bool = False) -> Relation:
        """A relation with the rows that a function makes of each row."""
        (call,) = view.parts
        call = without_brackets(call)
        if (
            not isinstance(call, syntax.Call)
            or len(call.arguments) != 1
            or view.form == "ORDINALITY"
            or not view.lateral
        ):
            raise NotLocal("this function in FROM is left to Spark")
        self.context.is_translated(view, call.arguments)
        value = Expressions(self.context, left.resolve).value(call.arguments[0])
        generator = generator_of(call.function, value, is_outer=is_outer)
        name = self.parts.new_name("g")
        columns = named_columns(generator, view.columns)
        reads = tuple((n, as_read(Value(f"{name}.o{i}", t, n))) for i, (n, t) in enumerate(columns))
        self.parts.may_raise = self.parts.may_raise or generator.raises
        right = Relation.of(name, Source(view.alias or "", reads), raises=generator.raises)
        between = f"{left.sql} CROSS JOIN " if left.sql else ""
        return joined(left, right, f"{between}LATERAL ({generator.sql}) AS {name}", ())

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
                    return self._table(node, self.queries.query.tables[node.number], leaves_out_rows=leaves_out_rows)
                known = self.queries.known.get(node.name.lower())
                if known is not None:
                    return self._derived(
                        known.query,
                        node.columns or known.columns,
                        node.qualifier,
                        known.name,
                        leaves_out_rows=leaves_out_rows,
                    )
            case syntax.DerivedTable(lateral=False, sampled=False):
                found = self.queries.tree(node.query)
                return self._derived(found, node.columns, node.alias or "", None, leaves_out_rows=leaves_out_rows)
            case syntax.FunctionTable(form="VALUES"):
                found = self.queries.rows_of_values(node.parts)
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
            found = self.queries.of_view(view)
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
            named = self.queries.materialized(found, named)
        alternatives = list(zip(*found.branches, strict=True)) if found.branches else [()] * len(names)
        values = [
            Value(
                f"{name}.o{i}",
                o.type,
                n,
                origin=Origin("COLUMN", (), alternatives=alternatives[i], source=name),
                char=_char_of(alternatives[i]),
            )
            for i, (n, o) in enumerate(zip(names, found.outputs, strict=True))
        ]
        source = Source(alias, tuple((n, as_read(v)) for n, v in zip(names, values, strict=True)))
        text = f"{named} AS {name}" if named else f"({found.sql}) AS {name}"
        return Relation.of(text, source, raises=found.raises)


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
        t = displayed_type(f.type)
        if t is None:
            raise NotLocal(f"column {f.name} is {f.type.bare()}")
        scan.used[f.name] = t
        column = f"{scan.name}.{quote_name(f.name)}"
        if isinstance(f.type, Char):
            n = f.type.length
            padded = f"(CASE WHEN length({column}) < {n} THEN rpad({column}, {n}, ' ') ELSE {column} END)"
            return Value(padded, t, f.name, char=n)
        return Value(column, t, f.name)

    return read_scan_column


def _char_of(alternatives: Sequence[Value]) -> int | None:
    """The length of a CHAR column of a subquery; of several branches one that is equal to no other."""
    lengths = {v.char for v in alternatives}
    return lengths.pop() if len(lengths) == 1 and len(alternatives) == 1 else None if lengths <= {None} else -1
