"""How a streaming statement is carried out: which of its tables are streams, and what shape the query has.

| shape | when | how |
|---|---|---|
| ROWS | each row of the one stream gives its rows by itself; other tables are looked up | the query, micro-batch by micro-batch, the others as they are then; row kinds ride along |
| STATE | groups, windows or joins over streams that only add rows | Spark's own streaming query with its state |
| REFRESH | groups, joins, sorts over tables whose rows change | the query over the newest snapshots, each time one of them gets one; the difference goes out |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.identifier import quote
from paimon_nb.options.read import SCAN_BOUNDED
from paimon_nb.options.table import CONSUMER_IGNORE_PROGRESS, SCAN_MODE, SCAN_SNAPSHOT_ID
from paimon_nb.plan import CreateTable, Query, TableRef, Watermark
from paimon_nb.session.core.session import Session
from paimon_nb.session.query.watermark import watermark_in
from paimon_nb.session.streaming.windows import all_closed, readable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from paimon_nb.connectors.api import Source
    from paimon_nb.table.table import Table


class Shape(Enum):
    ROWS = "rows"
    STATE = "state"
    REFRESH = "refresh"


@dataclass(frozen=True, slots=True)
class StreamInput:
    """One table that a statement reads as a stream."""

    ref: TableRef
    text: str
    """The text that the reference's places point into."""
    table: Table | None = None
    source: Source | None = None
    declared: CreateTable | None = None

    @property
    def adds_only(self) -> bool:
        """Rows come and stay as they are."""
        if self.source is not None:
            return not self.source.changes
        assert self.table is not None
        return not self.table.primary_keys

    @property
    def watermark(self) -> Watermark | None:
        """How late its rows may be, if it says so."""
        if self.declared is not None:
            return self.declared.definition.watermark
        return None if self.table is None else watermark_in(self.table.schema.options)

    @property
    def watermarked(self) -> bool:
        """It says how late its rows may be."""
        return self.watermark is not None

    @property
    def endless(self) -> bool:
        return self.source is not None and not self.source.bounded


@dataclass(frozen=True, slots=True)
class StreamPlan:
    shape: Shape
    inputs: tuple[StreamInput, ...]
    grouped: bool
    """Results replace earlier ones of their group."""
    closing: bool = False
    """Results come once, when a watermark says that their window is over."""


def is_plain_time(session: Session, one: StreamInput) -> bool:
    """Whether the column of an input's watermark is a TIMESTAMP, which knows no zone."""
    from pyspark.sql.types import TimestampNTZType

    from paimon_nb.session.query.connector_tables import no_rows

    assert one.watermark is not None
    if one.table is not None:
        return one.table.schema.field(one.watermark.column).type.root == "TIMESTAMP"
    assert one.declared is not None
    return isinstance(no_rows(session.spark, one.declared).schema[one.watermark.column].dataType, TimestampNTZType)


def is_streaming(session: Session) -> bool:
    return str(session.settings.get("execution.runtime-mode", "")).lower() == "streaming"


def wants_stream(session: Session, query: Query, text: str) -> bool:
    """Whether a query runs as a stream: in streaming mode if it reads a table of ours or a connector's; without a mode
    (which Flink takes for streaming) if a source never ends."""
    if is_streaming(session):
        return bool(inputs_of(session, query, text))
    if "execution.runtime-mode" in session.settings:
        return False
    if not session.temporary:
        return False
    return any(i.endless for i in inputs_of(session, query, text))


def inputs_of(session: Session, query: Query, text: str) -> list[StreamInput]:
    """The tables that a query reads as streams, those inside its views too. Not those that `scan.bounded` says to read as they are."""
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
        elif session.exists(ref.parts) and session.find(ref.parts).name.system is None:
            table = session.table(ref.parts, ref.options)
            if not table.options.get(SCAN_BOUNDED):
                found.append(StreamInput(ref, text, table=table))
    return found


def no_rows_of_endless(session: Session, query: Query, text: str) -> dict[tuple[str, ...], DataFrame]:
    """No rows, with the right columns, for each table of a query that only a stream can read: to check the query without."""
    from paimon_nb.session.query.connector_tables import no_rows

    if not session.temporary:
        return {}
    return {
        i.ref.parts: no_rows(session.spark, i.declared)
        for i in inputs_of(session, query, text)
        if i.declared is not None and i.source is not None and (i.endless or i.source.changes)
    }


def plan_stream(session: Session, query: Query, text: str) -> StreamPlan:
    """Raises UnsupportedOperation: no shape tells the truth about this query."""
    inputs = tuple(inputs_of(session, query, text))
    traits = _traits(session, query, text)
    stateless = not traits.keeps_state and len(inputs) == 1
    if stateless:
        shape = Shape.ROWS
    elif all(i.adds_only for i in inputs) and not traits.ordered:
        shape = Shape.STATE
    elif all(i.table is not None for i in inputs):
        shape = Shape.REFRESH
    else:
        raise UnsupportedOperation(
            "a streaming query cannot group, sort or join a connector's rows together with rows that change",
            hint="look the table up with FOR SYSTEM_TIME AS OF, or load the connector's rows into a table first",
        )
    if shape is Shape.STATE and any(r.lookup for r in query.tables):
        raise UnsupportedOperation(
            "a streaming query cannot group and look up at once",
            hint="look up in one INSERT, group in a second that reads its table",
        )
    closing = shape is Shape.STATE and traits.closed and all(i.watermarked for i in inputs)
    return StreamPlan(shape, inputs, traits.grouped and not closing, closing)


def beginning(snapshot: int | None) -> dict[str, str]:
    """The options of a stream that begins with a snapshot's changes; None: with the newest state."""
    if snapshot is None:
        return {SCAN_MODE.key: "latest-full"}
    return {SCAN_MODE.key: "from-snapshot", SCAN_SNAPSHOT_ID.key: str(snapshot)}


def moved(plan: StreamPlan, snapshot: int | None) -> StreamPlan:
    """The same query, its tables read from a snapshot's changes on; None: from their newest state on."""
    begin = {**beginning(snapshot), CONSUMER_IGNORE_PROGRESS.key: "true"}

    def begun(one: StreamInput) -> StreamInput:
        kept = {k: v for k, v in one.ref.options.items() if not k.startswith("scan.")}
        return one if one.table is None else replace(one, ref=replace(one.ref, options={**kept, **begin}))

    return replace(plan, inputs=tuple(map(begun, plan.inputs)))


@dataclass(frozen=True, slots=True)
class _Traits:
    keeps_state: bool
    grouped: bool
    ordered: bool
    closed: bool
    """Every group is a window."""


_UNKNOWN = _Traits(keeps_state=True, grouped=True, ordered=False, closed=False)


def _traits(session: Session, query: Query, text: str) -> _Traits:
    """What the query does to its rows; a text that sqlglot cannot read is taken for one that keeps state."""
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    from paimon_nb.sql import render

    names = {ref.span: "t" if ref.alias else "t AS " + quote(ref.parts[-1]) for ref in query.tables}
    rendered = render(query, text, names, flink=True)
    try:
        tree = sqlglot.parse_one(readable(rendered), read="spark")
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
            traits = _traits(session, view.query, inside)
            closed = (closed or not grouped) and (traits.closed or not traits.grouped)
            grouped, ordered, other = grouped or traits.grouped, ordered or traits.ordered, other or traits.keeps_state
    return _Traits(grouped or ordered or other, grouped, ordered, grouped and closed)


def names_of(inputs: Sequence[StreamInput]) -> Mapping[tuple[str, ...], StreamInput]:
    """Inputs by the name that the text writes."""
    return {i.ref.parts: i for i in inputs}
