"""The input rows that made a row of a materialized table: its query, with the row's key pushed into its WHERE.

It follows filters, projections, GROUP BY, joins and UNION. A subquery in FROM is followed to its own rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.identifier import quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.sql_quoting import spark_literal, text_literal
from paimon_nb.incremental.positions import last_refresh
from paimon_nb.session.materialized.definition import definition_of, is_materialized
from paimon_nb.session.materialized.definition_query import parsed_definition
from paimon_nb.session.materialized.prepared_query import PreparedQuery, prepare
from paimon_nb.session.query.local.aggregates import AGGREGATES, ORDERED_AGGREGATES
from paimon_nb.sql import parse
from paimon_nb.statements import Query
from paimon_nb.syntax.tree import (
    Alias,
    Bracketed,
    Call,
    Column,
    DerivedTable,
    Join,
    NestedJoin,
    Select,
    SetOperation,
    Star,
    Table,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.session.core.session import ResolvedTable, Session
    from paimon_nb.syntax.tree import Node, QueryTree

_OF_ROWS = frozenset({*AGGREGATES, *ORDERED_AGGREGATES})
MAX_ROWS = 100
"""Rows of an input that are returned."""


@dataclass(frozen=True, slots=True)
class InputRows:
    """Rows of one input."""

    table: str
    """Its name as the query writes it, or the alias of a subquery."""
    parts: tuple[str, ...]
    """Catalog, database and table; () for a subquery."""
    rows: pa.Table
    is_complete: bool
    """False: there are more than `MAX_ROWS`."""
    sql: str
    """The query whose rows these are."""
    key: tuple[str, ...] = ()
    """The primary key of a materialized input: its rows can be followed further."""


def is_followed(options: Mapping[str, str]) -> bool:
    """Whether rows of a table with these options come from a query."""
    return is_materialized(options)


def origin_of_row(session: Session, target: ResolvedTable, key: Mapping[str, Any]) -> list[InputRows]:
    """The rows of each input that made the row with this key, at the snapshots of the last refresh.

    Args:
        key: values by column of the materialized table.

    Raises:
        UnsupportedOperation: the query cannot be followed; the message says why.
    """
    table = target.catalog.table(target.name)
    definition = definition_of(table.schema.options, target.name)
    prepared = prepare(session, definition, target)
    query, text = parsed_definition(prepared.session, definition, target.catalog.name)
    if query.tree is None:
        raise UnsupportedOperation("the structure of the query is not known", hint=definition.query)
    last = last_refresh(table, table.latest_snapshot())
    positions = () if last is None or last.positions is None else last.positions.inputs
    snapshots = {p.table: p.snapshot for p in positions if p.snapshot is not None}
    found: list[InputRows] = []
    for branch in _branches(query.tree, table.schema.names, (), text):
        for source, sql in branch.queries(
            text, key, text_literal if prepared.session.flink_semantics else spark_literal
        ):
            made = PreparedQuery(prepared.session, _query(sql), sql, prepared.inputs)
            rows = made.rows_at(snapshots)
            found.append(_input_rows(prepared, source, _without_missing(rows) if branch.has_outer_join else rows, sql))
    return found


def _without_missing(rows: pa.Table) -> pa.Table:
    """The rows without those that an outer join makes where there is no row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    exists = pa.chunked_array([pa.nulls(rows.num_rows, pa.bool_()).fill_null(False)])
    for column in rows.columns:
        exists = pc.or_(exists, pc.is_valid(column))
    return rows.filter(exists)


def _query(sql: str) -> Query:
    [query] = parse(sql)
    assert isinstance(query, Query)
    return query


def _input_rows(prepared: PreparedQuery, source: Node, rows: pa.Table, sql: str) -> InputRows:
    name = str(getattr(source, "alias", None) or getattr(source, "name", ""))
    parts: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    if isinstance(source, Table) and source.number is not None:
        found = prepared.session.find(prepared.query.tables[source.number].parts)
        parts = (found.catalog.name, found.name.database, found.name.object)
        name = found.name.text
        stored = found.catalog.table(found.name)
        key = stored.primary_keys if is_materialized(stored.schema.options) else ()
    return InputRows(name, parts, rows.slice(0, MAX_ROWS), rows.num_rows <= MAX_ROWS, sql, key)


@dataclass(frozen=True, slots=True)
class _Branch:
    """A SELECT, and the expression of each column of the result over its sources."""

    select: Select
    expressions: Mapping[str, str]
    """Column of the materialized table, in lower case -> SQL."""
    common: str
    """The WITH clause before it, or ''."""
    computed: Mapping[str, bool]
    """Those of the columns that are made of several rows, in lower case; whether by a window function."""

    @property
    def has_outer_join(self) -> bool:
        """Whether a source may have no row, so that its columns are NULL."""
        joins = [n for n in walk(self.select) if isinstance(n, Join)]
        return any(j.side and j.kind not in ("SEMI", "ANTI") for j in joins)

    def queries(self, text: str, key: Mapping[str, Any], literal: Callable[[str], str]) -> Iterator[tuple[Node, str]]:
        """For each source the query of its rows."""
        select = self.select
        if select.source is None:
            return
        conditions = [c for name, value in key.items() if (c := self._condition(name, value, literal))]
        if select.where is not None:
            conditions.insert(0, f"({text[select.where.span.start : select.where.span.stop]})")
        stop = max(select.source.span.stop, *(j.span.stop for j in select.joins), 0)
        sources = list(_sources(select))
        distinct = "DISTINCT " if len(sources) > 1 else ""
        for source in sources:
            star = f"{quote(_qualifier(source))}.*" if len(sources) > 1 else "*"
            yield (
                source,
                (
                    f"{self.common}SELECT {distinct}{star} FROM {text[select.source.span.start : stop]} "
                    f"WHERE {' AND '.join(conditions) or 'TRUE'} LIMIT {MAX_ROWS + 1}"
                ),
            )

    def _condition(self, name: str, value: Any, literal: Callable[[str], str]) -> str:
        """The condition on the rows of the sources; '': all rows made the value."""
        expression = self._expression(name)
        if name.lower() in self.computed:
            if self.select.group is None and not self.select.distinct and not self.computed[name.lower()]:
                return ""  # an aggregate of all rows
            raise UnsupportedOperation(
                f"column {name!r} is computed from several rows, which cannot be followed to its inputs",
                hint="name the columns of GROUP BY instead",
            )
        if value is None:
            group = self.select.group  # NULL is also the value of a key that a set leaves out
            return f"{expression} IS NULL" if group is None or group.is_plain else ""
        return f"{expression} = {_literal(value, literal)}"

    def _expression(self, name: str) -> str:
        found = self.expressions.get(name.lower())
        if found is None:
            raise UnsupportedOperation(
                f"column {name!r} of the query cannot be followed", hint="give it a plain name in the SELECT list"
            )
        return f"({found})"


def _branches(tree: QueryTree, names: Sequence[str], common: Sequence[str], text: str) -> Iterator[_Branch]:
    """The SELECTs whose rows make the result. `names`: the result's columns, by position."""
    own = [text[c.span.start : c.span.stop] for c in tree.common]
    items = [*common, *own]
    match tree:
        case Bracketed():
            yield from _branches(tree.query, names, items, text)
        case SetOperation(op="UNION"):
            yield from _branches(tree.left, names, items, text)
            yield from _branches(tree.right, names, items, text)
        case Select():
            inner = _only_renames(tree)
            if inner is not None:
                yield from _branches(inner.query, inner.columns or names, items, text)
                return
            _check_plain(tree)
            head = f"WITH {', '.join(items)} " if items else ""
            yield _Branch(tree, _expressions(tree, names, text), head, _computed(tree, names))
        case _:
            raise UnsupportedOperation(
                f"rows of {getattr(tree, 'op', 'VALUES')} cannot be followed to its inputs",
                hint="look at the inputs themselves",
            )


def _only_renames(tree: Select) -> DerivedTable | None:
    """The query inside `SELECT * FROM (query) AS v (names)`; None: another query."""
    plain = not tree.joins and tree.where is None and tree.group is None and not tree.distinct
    if plain and len(tree.items) == 1 and isinstance(tree.items[0], Star) and isinstance(tree.source, DerivedTable):
        return tree.source
    return None


def _check_plain(tree: Select) -> None:
    if tree.lateral_views or tree.tail.has_other:
        raise UnsupportedOperation(
            "rows of LATERAL VIEW and WINDOW clauses cannot be followed", hint="look at the inputs"
        )


def _expressions(tree: Select, names: Sequence[str], text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    stars = any(isinstance(item, Star) for item in tree.items)
    if stars:
        found |= {n.lower(): quote(n) for n in names}
    for at, item in enumerate(tree.items):
        if isinstance(item, Star):
            continue
        expression = item.expression if isinstance(item, Alias) else item
        own = item.name if isinstance(item, Alias) else item.parts[-1] if isinstance(item, Column) else ""
        sql = text[expression.span.start : expression.span.stop]
        found[own.lower()] = sql
        if not stars and at < len(names) and own.lower() not in {n.lower() for n in names}:
            found[names[at].lower()] = sql
    return found


def _computed(tree: Select, names: Sequence[str]) -> Mapping[str, bool]:
    """The columns with aggregate functions (False), or with window functions (True)."""
    found: dict[str, bool] = {}
    for at, item in enumerate(tree.items):
        calls = [n for n in walk(item) if isinstance(n, Call)]
        has_window = any(c.window is not None for c in calls)
        if has_window or any(c.function in _OF_ROWS for c in calls):
            columns = (item.name if isinstance(item, Alias) else "", names[at] if at < len(names) else "")
            found |= dict.fromkeys((c.lower() for c in columns), has_window)
    return found


def _sources(select: Select) -> Iterator[Node]:
    def of(node: Node | None) -> Iterator[Node]:
        if isinstance(node, NestedJoin):
            yield from of(node.source)
            for join in node.joins:
                yield from of(join.source)
        elif isinstance(node, Table | DerivedTable):
            yield node
        elif node is not None:
            raise UnsupportedOperation("rows of a function in FROM cannot be followed", hint="look at the inputs")

    yield from of(select.source)
    for join in select.joins:
        if join.kind not in ("SEMI", "ANTI"):
            yield from of(join.source)


def _qualifier(source: Node) -> str:
    return source.qualifier if isinstance(source, Table) else str(getattr(source, "alias", "") or "")


def _literal(value: Any, of_text: Callable[[str], str]) -> str:
    """A value as SQL."""
    import datetime as dt
    from decimal import Decimal

    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case int():
            return str(value)
        case Decimal():
            return f"CAST('{value}' AS DECIMAL(38, {max(0, -int(value.as_tuple().exponent))}))"
        case dt.datetime():
            return f"TIMESTAMP '{value.replace(tzinfo=None).isoformat(sep=' ')}'"
        case dt.date():
            return f"DATE '{value.isoformat()}'"
        case _:
            return of_text(str(value))
