"""Plans a streaming statement: which of its tables are streams, and in which mode the query runs.

| mode | when | how |
|---|---|---|
| STATELESS | filters, projections and lookup joins over one stream | runs the query on each micro-batch with row kinds; lookup tables as of that time |
| STATEFUL | groups, windows or joins over append-only streams | Spark's streaming query with its state |
| RECOMPUTE | groups, joins or sorts over changing tables; what Spark's streams lack (INTERSECT, outer joins without watermark) | re-runs the query for each new snapshot and emits the difference |
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.schema import has_nullable_keys
from paimon_nb.options.read import SCAN_BOUNDED
from paimon_nb.options.table import CONSUMER_IGNORE_PROGRESS, SCAN_MODE, SCAN_SNAPSHOT_ID, SCAN_TIMESTAMP_MILLIS
from paimon_nb.session.query.hints import check_consumer, check_stream_of_files
from paimon_nb.session.query.run_query import time_travel_options
from paimon_nb.session.query.watermark import stream_watermark
from paimon_nb.session.streaming.relations import system_table_of_stream
from paimon_nb.session.streaming.windows import watermark_closes_all_groups
from paimon_nb.sql.aggregates import EXPLODE_FUNCTIONS, is_aggregate
from paimon_nb.statements import CreateTable, Query, TableRef, TimestampAsOf, Watermark
from paimon_nb.syntax.queries import query_tree_of
from paimon_nb.syntax.tree import (
    Alias,
    Bracketed,
    Call,
    Column,
    DerivedTable,
    FunctionTable,
    GroupBy,
    Join,
    Literal,
    Node,
    Ordering,
    Pivoted,
    QueryTail,
    Select,
    SetOperation,
    Subquery,
    Window,
    WindowTable,
    same_expression,
    walk,
)
from paimon_nb.table.read import OWN_SCHEMA
from paimon_nb.table.tables.system.row_tracking import check_tracks_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame

    from paimon_nb.connectors.api import Source
    from paimon_nb.session.core.session import Session
    from paimon_nb.syntax.tree import QueryTree
    from paimon_nb.table.tables.table import Table


LOG_TABLES = ("audit_log", "binlog")
"""System tables whose streams have the changes of their table as rows."""
_STREAMED_TABLES = ("ro", "row_tracking", *LOG_TABLES)
"""System tables that streaming mode does not read as batch mode does."""


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
    """The system table that is read: one of `LOG_TABLES` or `row_tracking`, whose rows are only added, or `ro` of a table with keys."""
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
        from paimon_nb.table.read.stream import is_upsert_stream

        return self.table is not None and self.system is None and is_upsert_stream(self.table.store)

    @property
    def watermark(self) -> Watermark | None:
        """Its watermark, if it has one."""
        if self.declared is not None:
            return self.declared.definition.watermark
        return None if self.table is None or self.system is not None else stream_watermark(self.table.schema.options)

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

    from paimon_nb.session.query.connector_tables import empty_frame

    assert stream_input.watermark is not None
    if stream_input.table is not None:
        return stream_input.table.schema.field(stream_input.watermark.column).type.root == "TIMESTAMP"
    assert stream_input.declared is not None
    return isinstance(
        empty_frame(session.spark, stream_input.declared).schema[stream_input.watermark.column].dataType,
        TimestampNTZType,
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
                found.append(StreamInput(ref, text, source=source_of(session, statement), declared=statement))
        elif session.exists(ref.parts) and (system := session.find(ref.parts).name.system) in (None, *_STREAMED_TABLES):
            table = session.table(ref.parts, ref.options)
            system = system_table_of_stream(system, table)
            check_consumer(table)
            check_stream_of_files(table)
            if ref.has_schema_of_start:
                table = _with_schema_at_start(table)
            if not table.options.get(SCAN_BOUNDED):
                found.append(StreamInput(ref, text, table=table, system=system))
    return found


def with_time_travel_as_start(session: Session, query: Query) -> Query:
    """In streaming mode, the query with FOR SYSTEM_TIME AS OF TIMESTAMP as the time from which a table is streamed."""
    if not is_streaming(session) or not any(isinstance(t.travel, TimestampAsOf) for t in query.tables):
        return query

    def travel_as_start_option(ref: TableRef) -> TableRef:
        if not isinstance(ref.travel, TimestampAsOf):
            return ref
        options = {k: v for k, v in time_travel_options(session, ref.travel).items() if k != OWN_SCHEMA}
        return replace(ref, options={**ref.options, **options}, travel=None, has_schema_of_start=True)

    return replace(query, tables=tuple(map(travel_as_start_option, query.tables)))


def _with_schema_at_start(table: Table) -> Table:
    """The table with the schema of its last snapshot at or before the time at which the stream starts; else its own."""
    from paimon_nb.table.tables.table import Table

    start_ms = table.options.get(SCAN_TIMESTAMP_MILLIS) or 0
    earlier = [s for s in table.store.snapshots.all() if s.time_ms <= start_ms]
    if not earlier or earlier[-1].schema_id == table.schema.id:
        return table
    return Table(table.store.at_schema(table.store.schemas.get(earlier[-1].schema_id)), table.name)


def empty_unbounded_inputs(session: Session, query: Query, text: str) -> dict[tuple[str, ...], DataFrame]:
    """An empty DataFrame for each table of a query that only streaming mode can read: to check the query in batch mode."""
    from paimon_nb.session.query.connector_tables import empty_frame

    if not session.temporary:
        return {}
    return {
        i.ref.parts: empty_frame(session.spark, i.declared)
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
    for stream_input in inputs:
        _check_has_stream(stream_input)
        if session.flink_semantics:
            _check_flink_reads_keys(stream_input)
    traits = _query_traits(session, query)
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


def _check_flink_reads_keys(stream_input: StreamInput) -> None:
    """Raise UnsupportedOperation for changes that Flink could not normalise: of a table whose nullable key is none for Flink.

    Source: Paimon `BaseDataTableSource.getChangelogMode`.
    """
    table = stream_input.table
    if table is None or not stream_input.is_upsert or table.options.merge_engine == "first-row":
        return
    if has_nullable_keys(table.schema.options):
        raise UnsupportedOperation(
            f"{table.name}: streaming reads with nullable primary keys require a full changelog",
            hint="ALTER TABLE ... SET ('changelog-producer' = 'input'), or another one than 'none'",
        )


def _check_has_stream(stream_input: StreamInput) -> None:
    """Raise UnsupportedOperation for `$ro` of a table with keys, and `$row_tracking` of one without row ids.

    Source: Paimon `ReadOptimizedTable.newStreamScan`.
    """
    if stream_input.system == "row_tracking":
        assert stream_input.table is not None
        check_tracks_rows(stream_input.table.store)
    if stream_input.system == "ro":
        assert stream_input.table is not None
        raise UnsupportedOperation(
            f"{stream_input.table.name}$ro cannot be read as a stream: it has the rows of the last full compaction, not changes",
            hint="stream the table itself, or SET 'execution.runtime-mode' = 'batch'",
        )


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


def _query_traits(session: Session, query: Query) -> _QueryTraits:
    """The properties of a query; a query without a tree is assumed to keep state."""
    tree = query.tree
    if tree is None:
        return _UNKNOWN
    nodes = list(walk(tree))
    grouped = any(isinstance(n, GroupBy) or is_aggregate(n) for n in nodes)
    closed = watermark_closes_all_groups(tree)
    lookups = sum(ref.lookup for ref in query.tables)
    joins = sum(isinstance(n, Join) for n in nodes)
    ordered = any(_is_ordering(n) for n in nodes)
    other = joins > lookups or any(_keeps_other_state(n) for n in nodes)
    for ref in query.tables:
        if len(ref.parts) == 1 and ref.parts[0] in session.views:
            view, _ = session.views[ref.parts[0]]
            assert view.query is not None
            traits = _query_traits(session, view.query)
            closed = (closed or not grouped) and (traits.closed or not traits.grouped)
            grouped, ordered, other = grouped or traits.grouped, ordered or traits.ordered, other or traits.keeps_state
    return _QueryTraits(
        grouped or ordered or other, grouped, ordered, grouped and closed, _group_keys(tree), _aggregated(tree)
    )


def _is_ordering(node: Node) -> bool:
    """Whether it needs rows in an order, or a part of them: ORDER BY, LIMIT, OVER, SESSION windows."""
    match node:
        case Ordering() | Window() | WindowTable(kind="SESSION"):
            return True
        case QueryTail():
            return node.limit is not None
    return False


def _keeps_other_state(node: Node) -> bool:
    """Whether it needs state other than that of groups, joins and orders, or generates rows."""
    match node:
        case SetOperation() | Subquery() | Bracketed() | Pivoted() | WindowTable(kind="CUMULATE"):
            return True
        case DerivedTable(lateral=True) | FunctionTable(lateral=True):
            return True
        case Select():
            return node.distinct or node.having is not None
        case Call():
            return node.distinct or node.function in EXPLODE_FUNCTIONS
    return False


def without_row_for_no_input(sql: str) -> str:
    """An aggregate of all rows without its result for no rows, which Flink's streams do not emit; other queries unchanged."""
    tree = query_tree_of(sql)
    if not isinstance(tree, Select) or tree.group is not None or tree.having is not None or tree.tail.has_other:
        return sql
    if tree.tail.order or tree.tail.limit is not None or tree.tail.offset is not None:
        return sql
    parts = [part for item in tree.items for part in walk(item)]
    if any(isinstance(part, Window | Subquery) for part in parts) or not any(map(is_aggregate, parts)):
        return sql
    return f"{sql} HAVING COUNT(*) > 0"


def _group_keys(tree: QueryTree) -> tuple[int, ...] | None:
    """The positions in a SELECT's result of what it groups by; () for one row of all. None when a group is not in the result."""
    if not isinstance(tree, Select):
        return None
    if tree.group is None:
        return () if all(any(map(is_aggregate, walk(item))) for item in tree.items) else None
    if not tree.group.is_plain:
        return None  # ROLLUP and its like give a group several rows
    positions = [_result_position_of_group_key(key, tree.items) for key in tree.group.keys]
    found = tuple(p for p in positions if p is not None)
    return found if len(found) == len(positions) else None


def _aggregated(tree: QueryTree) -> tuple[int, ...]:
    """The positions in a SELECT's result of what it aggregates."""
    items = tree.items if isinstance(tree, Select) else ()
    return tuple(i for i, item in enumerate(items) if any(map(is_aggregate, walk(item))))


def _result_position_of_group_key(grouped: Node, items: Sequence[Node]) -> int | None:
    if isinstance(grouped, Literal) and grouped.kind == "number" and grouped.text.isdecimal():
        return int(grouped.text) - 1
    for position, item in enumerate(items):
        expression = item.expression if isinstance(item, Alias) else item
        if same_expression(expression, grouped) or (
            isinstance(grouped, Column) and grouped.parts[-1].lower() in _result_column_names(item)
        ):
            return position
    return None


def _result_column_names(item: Node) -> set[str]:
    """What a column of a result is called, and the column that it is."""
    expression = item.expression if isinstance(item, Alias) else item
    alias = item.name if isinstance(item, Alias) else ""
    return {n.lower() for n in (alias, expression.parts[-1] if isinstance(expression, Column) else "") if n}


def inputs_by_name(inputs: Sequence[StreamInput]) -> Mapping[tuple[str, ...], StreamInput]:
    """Inputs by name as written."""
    return {i.ref.parts: i for i in inputs}
