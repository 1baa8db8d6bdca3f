"""Plans a streaming statement: which of its tables are streams, and in which mode the query runs.

| mode | when | how |
|---|---|---|
| STATELESS | filters, projections and lookup joins over one stream | runs the query on each micro-batch with row kinds; lookup tables as of that time |
| STATEFUL | groups, windows or joins over append-only streams | Spark's streaming query with its state |
| RECOMPUTE | groups, joins or sorts over changing tables | re-runs the query for each new snapshot and emits the difference |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.identifier import quote
from paimon_nb.options.read import SCAN_BOUNDED
from paimon_nb.options.table import CONSUMER_IGNORE_PROGRESS, SCAN_MODE, SCAN_SNAPSHOT_ID, SCAN_TIMESTAMP_MILLIS
from paimon_nb.plan import CreateTable, Query, TableRef, TimestampAsOf, Watermark
from paimon_nb.session.query.hints import check_consumer
from paimon_nb.session.query.run_query import time_travel_options
from paimon_nb.session.query.watermark import watermark_in
from paimon_nb.session.streaming.windows import all_closed, with_time_window
from paimon_nb.table.scan import OWN_SCHEMA
from paimon_nb.table.stream import is_upsert_stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame
    from sqlglot import exp

    from paimon_nb.connectors.api import Source
    from paimon_nb.session.core.session import Session
    from paimon_nb.table.table import Table


LOG_TABLES = ("audit_log", "binlog")
"""System tables that are read as streams."""


class StreamMode(Enum):
    STATELESS = "stateless"
    STATEFUL = "stateful"
    RECOMPUTE = "recompute"


@dataclass(frozen=True, slots=True)
class StreamInput:
    """One table that a statement reads as a stream."""

    ref: TableRef
    text: str
    """The text that the reference's spans point into."""
    table: Table | None = None
    system: str | None = None
    """The system table of `LOG_TABLES` that is read: changes of the table as rows that are only added."""
    source: Source | None = None
    declared: CreateTable | None = None

    @property
    def append_only(self) -> bool:
        """Whether rows are only added, never changed."""
        if self.source is not None:
            return not self.source.changes
        assert self.table is not None
        return self.system is not None or not self.table.primary_keys

    @property
    def is_upsert(self) -> bool:
        """Whether its changes do not contain what they replace: see `ChangelogNormalize`."""
        return self.table is not None and self.system is None and is_upsert_stream(self.table.store)

    @property
    def watermark(self) -> Watermark | None:
        """Its watermark, if it has one."""
        if self.declared is not None:
            return self.declared.definition.watermark
        return None if self.table is None or self.system is not None else watermark_in(self.table.schema.options)

    @property
    def watermarked(self) -> bool:
        """Whether it has a watermark."""
        return self.watermark is not None

    @property
    def unbounded(self) -> bool:
        return self.source is not None and not self.source.bounded


@dataclass(frozen=True, slots=True)
class StreamPlan:
    mode: StreamMode
    inputs: tuple[StreamInput, ...]
    grouped: bool
    """Results replace earlier results of their group."""
    closing: bool = False
    """Each result is emitted once, when the watermark closes its window."""
    keys: tuple[int, ...] | None = None
    """The positions of the result columns that identify a group; None: not known."""
    aggregated: tuple[int, ...] = ()
    """The positions of the result columns whose values change with new rows of a group."""


def is_plain_time(session: Session, stream_input: StreamInput) -> bool:
    """Whether the watermark column is a TIMESTAMP without time zone."""
    from pyspark.sql.types import TimestampNTZType

    from paimon_nb.session.query.connector_tables import no_rows

    assert stream_input.watermark is not None
    if stream_input.table is not None:
        return stream_input.table.schema.field(stream_input.watermark.column).type.root == "TIMESTAMP"
    assert stream_input.declared is not None
    return isinstance(
        no_rows(session.spark, stream_input.declared).schema[stream_input.watermark.column].dataType, TimestampNTZType
    )


def is_streaming(session: Session) -> bool:
    return str(session.settings.get("execution.runtime-mode", "")).lower() == "streaming"


def wants_stream(session: Session, query: Query, text: str) -> bool:
    """Whether a query runs as a stream.

    In streaming mode: if it reads a Paimon or connector table. Without a mode (streaming in Flink): if a source is
    unbounded.
    """
    if is_streaming(session):
        return bool(inputs_of(session, query, text))
    if "execution.runtime-mode" in session.settings:
        return False
    if not session.temporary:
        return False
    return any(i.unbounded for i in inputs_of(session, query, text))


def inputs_of(session: Session, query: Query, text: str) -> list[StreamInput]:
    """The tables that a query reads as streams, including those of its views, except tables with `scan.bounded`."""
    from paimon_nb.session.query.connector_tables import source_of

    found: list[StreamInput] = []
    for ref in query.tables:
        if ref.lookup or ref.function is not None or ref.travel is not None:
            continue
        if len(ref.parts) == 1 and ref.parts[0] in session.views:
            view, inside = session.views[ref.parts[0]]
            assert view.query is not None
            found += inputs_of(session, view.query, inside)
        elif len(ref.parts) == 1 and ref.parts[0] in session.temporary:
            statement = session.temporary[ref.parts[0]]
            if statement.definition.options.get("connector", "paimon") != "paimon":
                found.append(StreamInput(ref, text, source=source_of(statement), declared=statement))
        elif session.exists(ref.parts) and (system := session.find(ref.parts).name.system) in (None, *LOG_TABLES):
            table = session.table(ref.parts, ref.options)
            check_consumer(table)
            if ref.has_own_schema:
                table = _with_schema_at_start(table)
            if not table.options.get(SCAN_BOUNDED):
                found.append(StreamInput(ref, text, table=table, system=system))
    return found


def with_time_travel_as_start(session: Session, query: Query) -> Query:
    """In streaming mode, the query with FOR SYSTEM_TIME AS OF TIMESTAMP as the time from which a table is streamed."""
    if not is_streaming(session) or not any(isinstance(t.travel, TimestampAsOf) for t in query.tables):
        return query

    def started(ref: TableRef) -> TableRef:
        if not isinstance(ref.travel, TimestampAsOf):
            return ref
        options = {k: v for k, v in time_travel_options(session, ref.travel).items() if k != OWN_SCHEMA}
        return replace(ref, options={**ref.options, **options}, travel=None, has_own_schema=True)

    return replace(query, tables=tuple(map(started, query.tables)))


def _with_schema_at_start(table: Table) -> Table:
    """The table with the schema of its last snapshot at or before the time at which the stream starts; else its own."""
    from paimon_nb.table.table import Table

    start_ms = table.options.get(SCAN_TIMESTAMP_MILLIS) or 0
    earlier = [s for s in table.store.snapshots.all() if s.time_ms <= start_ms]
    if not earlier or earlier[-1].schema_id == table.schema.id:
        return table
    return Table(table.store.at_schema(table.store.schemas.get(earlier[-1].schema_id)), table.name)


def empty_unbounded_inputs(session: Session, query: Query, text: str) -> dict[tuple[str, ...], DataFrame]:
    """An empty DataFrame for each table of a query that only streaming mode can read: to check the query in batch mode."""
    from paimon_nb.session.query.connector_tables import no_rows

    if not session.temporary:
        return {}
    return {
        i.ref.parts: no_rows(session.spark, i.declared)
        for i in inputs_of(session, query, text)
        if i.declared is not None and i.source is not None and (i.unbounded or i.source.changes)
    }


def plan_stream(session: Session, query: Query, text: str, *, merges: bool = False) -> StreamPlan:
    """Choose the stream mode.

    Args:
        merges: the output merges rows of one key by their values, so a replaced result must be retracted.

    Raises UnsupportedOperation: no mode gives correct results for this query.
    """
    inputs = tuple(inputs_of(session, query, text))
    traits = _query_traits(session, query, text)
    stateless = not traits.keeps_state and len(inputs) == 1
    if stateless:
        mode = StreamMode.STATELESS
    elif all(i.append_only for i in inputs) and not traits.ordered:
        mode = StreamMode.STATEFUL
    elif all(i.table is not None for i in inputs):
        mode = StreamMode.RECOMPUTE
    else:
        raise UnsupportedOperation(
            "a streaming query cannot group, sort or join a connector's rows together with rows that change",
            hint="use a lookup join (FOR SYSTEM_TIME AS OF), or load the connector's rows into a table first",
        )
    if mode is StreamMode.STATEFUL and any(r.lookup for r in query.tables):
        raise UnsupportedOperation(
            "a streaming query cannot combine a lookup join with grouping",
            hint="look up in one INSERT, group in a second that reads its table",
        )
    closing = mode is StreamMode.STATEFUL and traits.closed and all(i.watermarked for i in inputs)
    grouped = traits.grouped and not closing
    if merges and mode is StreamMode.STATEFUL and grouped and traits.keys is None:
        if any(i.table is None for i in inputs):
            raise UnsupportedOperation(
                "the table merges rows by their values, and this query does not show which results replace which",
                hint="SELECT the columns that it groups by, or INSERT INTO a table with merge-engine 'deduplicate'",
            )
        mode = StreamMode.RECOMPUTE
    return StreamPlan(mode, inputs, grouped, closing, traits.keys, traits.aggregated)


def start_options_of(snapshot: int | None) -> dict[str, str]:
    """The scan options of a stream that starts with a snapshot's changes; None: with the latest state."""
    if snapshot is None:
        return {SCAN_MODE.key: "latest-full"}
    return {SCAN_MODE.key: "from-snapshot", SCAN_SNAPSHOT_ID.key: str(snapshot)}


def restarted_at(plan: StreamPlan, snapshot: int | None) -> StreamPlan:
    """The same plan, starting with a snapshot's changes; None: with the latest state."""
    start_options = {**start_options_of(snapshot), CONSUMER_IGNORE_PROGRESS.key: "true"}

    def restarted_input(stream_input: StreamInput) -> StreamInput:
        options = {k: v for k, v in stream_input.ref.options.items() if not k.startswith("scan.")}
        return (
            stream_input
            if stream_input.table is None
            else replace(stream_input, ref=replace(stream_input.ref, options={**options, **start_options}))
        )

    return replace(plan, inputs=tuple(map(restarted_input, plan.inputs)))


@dataclass(frozen=True, slots=True)
class _QueryTraits:
    keeps_state: bool
    grouped: bool
    ordered: bool
    closed: bool
    """Every group is a window that the watermark closes."""
    keys: tuple[int, ...] | None = None
    aggregated: tuple[int, ...] = ()
    """See `StreamPlan`."""


_UNKNOWN = _QueryTraits(keeps_state=True, grouped=True, ordered=False, closed=False)


def _query_traits(session: Session, query: Query, text: str) -> _QueryTraits:
    """The properties of a query; a query that sqlglot cannot parse is assumed to keep state."""
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    from paimon_nb.sql import render

    names = {ref.span: "t" if ref.alias else "t AS " + quote(ref.parts[-1]) for ref in query.tables}
    rendered = render(query, text, names, flink=True)
    try:
        tree = sqlglot.parse_one(with_time_window(rendered), read="spark")
    except SqlglotError:
        return _UNKNOWN
    grouped = bool(tree.find(exp.Group, exp.AggFunc))
    closed = all_closed(tree, rendered)
    lookups = sum(ref.lookup for ref in query.tables)
    joins = len(list(tree.find_all(exp.Join)))
    ordered = bool(tree.find(exp.Order, exp.Limit, exp.Window, exp.Fetch))
    other = bool(tree.find(exp.Distinct, exp.SetOperation, exp.Having, exp.Exists, exp.Explode)) or joins > lookups
    other |= any(isinstance(p, exp.Subquery) and not isinstance(p.parent, exp.From | exp.Join) for p in tree.find_all(exp.Subquery))  # fmt: skip
    for ref in query.tables:
        if len(ref.parts) == 1 and ref.parts[0] in session.views:
            view, inside = session.views[ref.parts[0]]
            assert view.query is not None
            traits = _query_traits(session, view.query, inside)
            closed = (closed or not grouped) and (traits.closed or not traits.grouped)
            grouped, ordered, other = grouped or traits.grouped, ordered or traits.ordered, other or traits.keeps_state
    return _QueryTraits(
        grouped or ordered or other, grouped, ordered, grouped and closed, _group_keys(tree), _aggregated(tree)
    )


def of_some_rows(sql: str) -> str:
    """An aggregate of all rows without its result for no rows, which Flink's streams do not emit; other queries unchanged."""
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        tree = sqlglot.parse_one(sql, read="spark")
    except SqlglotError:
        return sql
    clauses = ("group", "having", "order", "limit", "offset", "windows", "qualify")
    if not isinstance(tree, exp.Select) or any(tree.args.get(clause) for clause in clauses):
        return sql
    parts = [part for select in tree.selects for part in select.find_all(exp.AggFunc, exp.Window, exp.Subquery)]
    of_all_rows = any(isinstance(part, exp.AggFunc) for part in parts)
    return f"{sql} HAVING COUNT(*) > 0" if of_all_rows and all(isinstance(p, exp.AggFunc) for p in parts) else sql


def _group_keys(tree: exp.Expr) -> tuple[int, ...] | None:
    """The positions in a SELECT's result of what it groups by; () for one row of all. None when a group is not in the result."""
    from sqlglot import exp

    if not isinstance(tree, exp.Select):
        return None
    group = tree.args.get("group")
    if group is None:
        return () if all(e.find(exp.AggFunc) for e in tree.selects) else None
    if any(v for k, v in group.args.items() if k != "expressions"):
        return None  # ROLLUP and its like give a group several rows
    positions = [_position_of(e, tree.selects) for e in group.expressions]
    found = tuple(p for p in positions if p is not None)
    return found if len(found) == len(positions) else None


def _aggregated(tree: exp.Expr) -> tuple[int, ...]:
    """The positions in a SELECT's result of what it aggregates."""
    from sqlglot import exp

    selects = tree.selects if isinstance(tree, exp.Select) else ()
    return tuple(i for i, e in enumerate(selects) if e.find(exp.AggFunc))


def _position_of(grouped: exp.Expr, selects: Sequence[exp.Expr]) -> int | None:
    from sqlglot import exp

    if isinstance(grouped, exp.Literal) and not grouped.is_string:
        return int(grouped.this) - 1
    for position, select in enumerate(selects):
        expression = select.unalias()
        if expression == grouped or (
            isinstance(grouped, exp.Column) and grouped.name.lower() in _result_column_names(select)
        ):
            return position
    return None


def _result_column_names(select: exp.Expr) -> set[str]:
    """What a column of a result is called, and the column that it is."""
    from sqlglot import exp

    expression = select.unalias()
    return {n.lower() for n in (select.alias, expression.name if isinstance(expression, exp.Column) else "") if n}


def inputs_by_name(inputs: Sequence[StreamInput]) -> Mapping[tuple[str, ...], StreamInput]:
    """Inputs by name as written."""
    return {i.ref.parts: i for i in inputs}
