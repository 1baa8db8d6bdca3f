"""The structure of a query in the engine's SQL: names, stars, groups, joins, UNION ALL and ORDER BY as Spark resolves them."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.session.query.local.expressions import Expressions, has_aggregate, orderable, with_positive_zero
from paimon_nb.session.query.local.values import (
    NULL,
    Value,
    cast_to_common_type,
    embedded_engine_type,
    is_floating,
    quote_name,
)
from paimon_nb.sql.select_tree import NotLocal
from paimon_nb.statements.select import (
    Call,
    Case,
    Cast,
    Column,
    Expression,
    Item,
    Literal,
    Select,
    SelectTree,
    Star,
    Subquery,
    TableSource,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from paimon_nb.format.types import DataField, DataType
    from paimon_nb.statements import TableRef
    from paimon_nb.statements.select import Join, OrderItem


_FAILING = frozenset({"+", "-", "*", "/", "%", "DIV", "NEGATIVE", "ABS"})
"""Operators that raise an error for some values: a zero divisor, an overflow."""
_JOINED_ERRORS = "a subquery that is joined computes, and Spark raises errors of all its rows"


@dataclass(slots=True)
class Scan:
    """A table in the query: its columns, and those that the query uses."""

    table: TableRef
    fields: Sequence[DataField]
    name: str
    """The name of its rows in the engine."""
    used: dict[str, DataType] = field(default_factory=dict)
    """The columns that the query needs, with their types in the engine."""


@dataclass(frozen=True, slots=True)
class Output:
    """A column of a result."""

    name: str | None
    """None: Spark's name is not known here."""
    type: DataType


@dataclass(frozen=True, slots=True)
class Translation:
    """A query in the engine's SQL. Its columns are o0, o1, ..."""

    sql: str
    outputs: tuple[Output, ...]
    is_small_result: bool
    """Whether the result is small whatever the tables hold: groups, or a LIMIT."""
    limit: int | None


@dataclass(frozen=True, slots=True)
class _Source:
    """A source in FROM: its name and its columns by position."""

    alias: str
    columns: tuple[tuple[str, Callable[[], Value]], ...]


class Translator:
    """Translates one query; `scans` are the tables that it reads."""

    def __init__(self, fields_of: Callable[[TableRef], Sequence[DataField]], *, flink: bool) -> None:
        self._fields_of, self._flink = fields_of, flink
        self.scans: list[Scan] = []

    def tree(self, tree: SelectTree, *, top: bool = False) -> Translation:
        """A query. `top`: its rows are the result, so that groups without ORDER BY get one. Raises NotLocal."""
        if len(tree.branches) == 1 and isinstance(tree.branches[0], Select):
            return self._translate_select(tree.branches[0], tree, top=top)
        return self._translate_union_all(tree)

    def _translate_union_all(self, tree: SelectTree) -> Translation:
        parts = [b if isinstance(b, SelectTree) else SelectTree((b,)) for b in tree.branches]
        found = [self.tree(p) for p in parts]
        if len({len(f.outputs) for f in found}) > 1:
            raise NotLocal("the branches of UNION ALL have different columns")
        types: list[DataType] = []
        for column in zip(*(f.outputs for f in found), strict=True):
            _, t = cast_to_common_type([Value("", o.type) for o in column])
            types.append(t)
        selects = []
        for number, part in enumerate(found):
            items = [
                f"{Value(f'o{i}', o.type).cast(t).sql} AS o{i}"
                for i, (o, t) in enumerate(zip(part.outputs, types, strict=True))
            ]
            selects.append(f"SELECT {', '.join(items)} FROM ({part.sql}) AS b{number}")
        outputs = tuple(Output(o.name, t) for o, t in zip(found[0].outputs, types, strict=True))
        named = [(o.name, Value(f"o{i}", o.type)) for i, o in enumerate(outputs)]
        orders = [self._translate_order_item(item, named, None, ()) for item in tree.order]
        sql = f"SELECT * FROM ({' UNION ALL '.join(selects)}) AS u{_order_by_and_limit(orders, tree)}"
        is_small_result = tree.limit is not None or all(f.is_small_result for f in found)
        return Translation(sql, outputs, is_small_result, tree.limit)

    # -- one SELECT

    def _translate_select(self, select: Select, tree: SelectTree, *, top: bool) -> Translation:
        from_, sources = self._translate_from(select)

        def resolve(column: Column) -> Value:
            return _resolve_column(column, sources)

        rows = Expressions(resolve, flink=self._flink)
        where = "" if select.where is None else f" WHERE {_where_sql(select, select.where, rows)}"
        groups = self._group_by_values(select, rows, sources)
        items = [i for i in select.items if not isinstance(i.expression, Star)]
        aggregated = (
            bool(select.group)
            or select.having is not None
            or any(
                has_aggregate(e)
                for e in [*(i.expression for i in items), *(o.expression for o in tree.order)]
                if not isinstance(e, Star)
            )
        )
        scope = Expressions(resolve, flink=self._flink, groups=groups) if aggregated else rows
        named = self._select_list_values(select.items, scope, sources)
        if select.distinct:
            named = [(name, with_positive_zero(value)) for name, value in named]
        texts = [f"{value.sql} AS o{i}" for i, (_, value) in enumerate(named)]
        having = ""
        if select.having is not None:
            having = f" HAVING {_Above(named, scope, sources).condition(select.having)}"
        group = f" GROUP BY {', '.join(dict.fromkeys(v.sql for v in groups.values()))}" if groups else ""
        above = _Above(named, scope, sources)
        if select.having is not None and any(has_aggregate(o.expression) for o in tree.order):
            raise NotLocal("ORDER BY of an aggregate under HAVING is left to Spark")  # which does not find it
        orders = [
            self._translate_order_item(o, named, above, sources, only_outputs=select.distinct) for o in tree.order
        ]
        if top and not orders and (groups or select.distinct):
            keys = [i for i, (_, v) in enumerate(named) if select.distinct or v.sql in {g.sql for g in groups.values()}]
            orders = [f"{i + 1} ASC NULLS FIRST" for i in keys]
        sql = (
            f"SELECT {'DISTINCT ' if select.distinct else ''}{', '.join(texts)} FROM {from_}{where}{group}{having}"
            f"{_order_by_and_limit(orders, tree)}"
        )
        outputs = tuple(Output(name, value.type) for name, value in named)
        is_small_result = tree.limit is not None or aggregated or select.distinct
        return Translation(sql, outputs, is_small_result, tree.limit)

    def _group_by_values(self, select: Select, rows: Expressions, sources: Sequence[_Source]) -> dict[str, Value]:
        """The values of GROUP BY by their SQL in a row."""
        groups: dict[str, Value] = {}
        for written in select.group:
            expression = _group_expression(written, select.items, sources)
            if has_aggregate(expression) or isinstance(expression, Literal):
                raise NotLocal("this GROUP BY is left to Spark")
            value = rows.value(expression)
            groups[value.sql] = with_positive_zero(value)
        return groups

    def _select_list_values(
        self, items: Sequence[Item], scope: Expressions, sources: Sequence[_Source]
    ) -> list[tuple[str | None, Value]]:
        named: list[tuple[str | None, Value]] = []
        for item in items:
            if isinstance(item.expression, Star):
                if scope.groups is not None:
                    raise NotLocal("* beside groups is left to Spark")
                named += _expand_star(item.expression, sources)
                continue
            value = scope.value(item.expression)
            if value.type == NULL:
                raise NotLocal("a column of NULL is left to Spark")
            named.append((item.alias or _name_in_spark(item.expression, value), value))
        return named

    def _translate_order_item(
        self,
        item: OrderItem,
        named: Sequence[tuple[str | None, Value]],
        scope: Expressions | None,
        sources: Sequence[_Source],
        *,
        only_outputs: bool = False,
    ) -> str:
        """An item of ORDER BY."""
        direction = f"{'DESC' if item.descending else 'ASC'} NULLS {'FIRST' if item.nulls_first else 'LAST'}"
        position = _result_column_position(item.expression, named, sources)
        if position is None:
            if scope is None:
                raise NotLocal("ORDER BY after UNION ALL has an expression")
            if isinstance(item.expression, Literal):
                raise NotLocal("ORDER BY a constant")
            value = scope.value(item.expression)
            texts = [v.sql for _, v in named]
            if only_outputs and not _is_output(item.expression, value, named):
                raise NotLocal("ORDER BY of what DISTINCT leaves out")
            if value.sql not in texts:
                if not orderable(value):
                    raise NotLocal(f"ORDER BY of {value.type.bare()} is left to Spark")
                return f"{value.sql} {direction}"
            position = texts.index(value.sql)
        if not orderable(named[position][1]):
            raise NotLocal(f"ORDER BY of {named[position][1].type.bare()} is left to Spark")
        return f"{position + 1} {direction}"

    # -- FROM

    def _translate_from(self, select: Select) -> tuple[str, list[_Source]]:
        if select.joins and isinstance(select.source, Subquery) and _query_can_raise(select.source.query):
            raise NotLocal(_JOINED_ERRORS)
        text, first = self._translate_relation(select.source)
        sources = [first]
        for join in select.joins:
            text, sources = self._translate_join(text, sources, join)
        aliases = [s.alias.lower() for s in sources]
        if len(set(aliases)) < len(aliases):
            raise NotLocal("two sources have the same name")
        return text, sources

    def _translate_join(self, text: str, sources: list[_Source], join: Join) -> tuple[str, list[_Source]]:
        if isinstance(join.source, Subquery) and _query_can_raise(join.source.query):
            raise NotLocal(_JOINED_ERRORS)
        added, source = self._translate_relation(join.source)
        both = [*sources, source]
        if join.condition is None:
            return f"{text} CROSS JOIN {added}", both
        scope = Expressions(lambda c: _resolve_column(c, both), flink=self._flink)
        _check_join_condition(join.condition, scope)
        kind = join.kind.removeprefix("LEFT ") if join.kind in ("LEFT SEMI", "LEFT ANTI") else join.kind
        if kind == "CROSS":
            kind = "INNER"
        joined = f"{text} {kind} JOIN {added} ON {scope.condition(join.condition)}"
        return joined, sources if kind in ("SEMI", "ANTI") else both

    def _translate_relation(self, source: TableSource | Subquery) -> tuple[str, _Source]:
        number = len(self.scans)
        if isinstance(source, Subquery):
            inner = self.tree(source.query)
            name = f"q{number}_{id(source) % 1_000_000}"
            columns = [
                (o.name, _known(Value(f"{name}.o{i}", o.type, o.name))) for i, o in enumerate(inner.outputs) if o.name
            ]
            if len(columns) < len(inner.outputs):
                raise NotLocal("a column of a subquery has no alias")
            return f"({inner.sql}) AS {name}", _Source(source.alias, tuple(columns))
        scan = Scan(source.table, self._fields_of(source.table), f"t{number}")
        self.scans.append(scan)
        return f"{scan.name}", _Source(source.alias, tuple((f.name, _scan_column_reader(scan, f)) for f in scan.fields))


def _where_sql(select: Select, condition: Expression, rows: Expressions) -> str:
    """The SQL of WHERE. The engine skips parts of an AND, in an order of its own, and with them the errors that Spark raises."""
    parts = list(_conjuncts(condition))
    if not any(map(_can_raise, parts)):
        return rows.condition(condition)
    if select.joins:
        raise NotLocal("WHERE computes over a join, and Spark raises errors of rows that the join leaves out")
    if len(parts) == 1:
        return rows.condition(condition)
    return f"({' * '.join(f'CAST(coalesce({rows.condition(p)}, FALSE) AS INTEGER)' for p in parts)}) = 1"


def _conjuncts(e: Expression) -> Iterator[Expression]:
    if isinstance(e, Call) and e.name == "AND":
        for operand in e.operands:
            yield from _conjuncts(operand)
    else:
        yield e


def _query_can_raise(tree: SelectTree) -> bool:
    """Whether an expression in a query can raise an error: the engine does not evaluate rows that a join leaves out."""
    for branch in tree.branches:
        if isinstance(branch, SelectTree):
            if _query_can_raise(branch):
                return True
            continue
        expressions = [*(i.expression for i in branch.items), branch.where, branch.having, *branch.group]
        if any(_can_raise(e) for e in expressions if e is not None and not isinstance(e, Star)):
            return True
        sources = (branch.source, *(j.source for j in branch.joins))
        if any(isinstance(s, Subquery) and _query_can_raise(s.query) for s in sources):
            return True
    return False


def _can_raise(e: Expression) -> bool:
    match e:
        case Call():
            return e.name in _FAILING or any(map(_can_raise, e.operands))
        case Case():
            parts = [p for branch in e.branches for p in branch] + ([] if e.otherwise is None else [e.otherwise])
            return any(map(_can_raise, parts))
    return isinstance(e, Cast)


class _Above(Expressions):
    """Expressions above the SELECT list, where aliases are names, too."""

    def __init__(
        self, named: Sequence[tuple[str | None, Value]], scope: Expressions, sources: Sequence[_Source]
    ) -> None:
        super().__init__(scope.resolve, flink=scope.flink, groups=scope.groups)
        self._named, self._sources = named, sources

    def value(self, e: Expression) -> Value:
        if isinstance(e, Column):
            position = _result_column_position(e, self._named, self._sources)
            if position is not None:
                return self._named[position][1]
        return super().value(e)


def _name_in_spark(e: Expression, value: Value) -> str | None:
    """Spark's name of an item without an alias: a column keeps its name under one CAST."""
    if isinstance(e, Cast) and isinstance(e.operand, Column) and value.name is not None:
        return e.operand.name
    return value.name


def _known(value: Value) -> Callable[[], Value]:
    return lambda: value


def _scan_column_reader(scan: Scan, f: DataField) -> Callable[[], Value]:
    """The value of a table's column; its first use makes it one of the scan's columns."""

    def read_scan_column() -> Value:
        t = embedded_engine_type(f.type)
        if t is None:
            raise NotLocal(f"column {f.name} is {f.type.bare()}")
        scan.used[f.name] = t
        return Value(f"{scan.name}.{quote_name(f.name)}", t, f.name)

    return read_scan_column


def _matches(column: Column, sources: Sequence[_Source]) -> list[Callable[[], Value]]:
    return [
        read
        for s in sources
        if column.qualifier is None or s.alias.lower() == column.qualifier.lower()
        for name, read in s.columns
        if name.lower() == column.name.lower()
    ]


def _resolve_column(column: Column, sources: Sequence[_Source]) -> Value:
    found = _matches(column, sources)
    if len(found) != 1:
        raise NotLocal(f"{column.name} is {'ambiguous' if found else 'not a column'}")
    value = found[0]()
    return Value(value.sql, value.type, column.name)


def _expand_star(star: Star, sources: Sequence[_Source]) -> list[tuple[str | None, Value]]:
    meant = [s for s in sources if star.qualifier is None or s.alias.lower() == star.qualifier.lower()]
    if not meant:
        raise NotLocal(f"{star.qualifier} is not a source")
    return [(name, read()) for s in meant for name, read in s.columns]


def _group_expression(written: Expression, items: Sequence[Item], sources: Sequence[_Source]) -> Expression:
    """What an item of GROUP BY means: a position, an alias, or an expression."""
    if isinstance(written, Literal) and written.kind == "INT":
        position = int(written.text) - 1
        if not 0 <= position < len(items) or any(isinstance(i.expression, Star) for i in items):
            raise NotLocal("GROUP BY has no such position")
        found = items[position].expression
        assert not isinstance(found, Star)
        return found
    _refuse_signed_number(written)
    if not isinstance(written, Column) or written.qualifier is not None:
        return written
    aliased = [i.expression for i in items if (i.alias or "").lower() == written.name.lower()]
    is_column = bool(_matches(written, sources))
    if not aliased:
        return written
    if len(aliased) > 1 or isinstance(aliased[0], Star):
        raise NotLocal(f"{written.name} is ambiguous")
    same = isinstance(aliased[0], Column) and aliased[0].name.lower() == written.name.lower()
    if is_column and not same:
        raise NotLocal(f"{written.name} is a column and an alias")
    return aliased[0]


def _refuse_signed_number(e: Expression) -> None:
    """Spark takes `-3` in GROUP BY and ORDER BY for a position, and refuses it."""
    if isinstance(e, Call) and len(e.operands) == 1 and isinstance(e.operands[0], Literal):
        raise NotLocal("a signed number as a position is left to Spark")


def _result_column_position(
    e: Expression, named: Sequence[tuple[str | None, Value]], sources: Sequence[_Source]
) -> int | None:
    """The column of the result that an expression of ORDER BY or HAVING names; None: it is another expression."""
    if isinstance(e, Literal) and e.kind == "INT":
        position = int(e.text) - 1
        if not 0 <= position < len(named):
            raise NotLocal("ORDER BY has no such position")
        return position
    _refuse_signed_number(e)
    if not isinstance(e, Column) or e.qualifier is not None:
        return None
    found = [i for i, (name, _) in enumerate(named) if (name or "").lower() == e.name.lower()]
    if not found:
        return None
    values = {named[i][1].sql for i in found}
    if len(values) > 1:
        raise NotLocal(f"{e.name} is ambiguous")
    columns = _matches(e, sources)
    if columns and any(read().sql not in values for read in columns) and not is_floating(named[found[0]][1].type):
        raise NotLocal(f"{e.name} is a column and an alias")
    return found[0]


def _is_output(e: Expression, value: Value, named: Sequence[tuple[str | None, Value]]) -> bool:
    """Whether a column, with its qualifier, is a column of the result that has kept its name."""
    return isinstance(e, Column) and any(
        v.sql == value.sql and (name or "").lower() == e.name.lower() for name, v in named
    )


def _check_join_condition(e: Expression, scope: Expressions) -> None:
    """Raises NotLocal: floating-point numbers are compared, or no equality is part of the condition."""
    parts = [e]
    equal = False
    while parts:
        part = parts.pop()
        if isinstance(part, Call) and part.name == "AND":
            parts += part.operands
            continue
        if isinstance(part, Call) and part.name in ("=", "<=>"):
            values = [scope.value(o) for o in part.operands]
            equal = equal or not any(is_floating(v.type) for v in values)
            if any(is_floating(v.type) for v in values):
                raise NotLocal("a join on floating-point numbers is left to Spark")
    if not equal:
        raise NotLocal("a join without an equality is left to Spark")


def _order_by_and_limit(orders: Sequence[str], tree: SelectTree) -> str:
    text = f" ORDER BY {', '.join(orders)}" if orders else ""
    text += f" LIMIT {tree.limit}" if tree.limit is not None else ""
    return text + (f" OFFSET {tree.offset}" if tree.offset else "")
