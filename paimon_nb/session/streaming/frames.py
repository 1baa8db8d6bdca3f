"""Streaming DataFrames: of one table, of a whole query, and of a query over the changes of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.connectors.api import KIND, ORDER
from paimon_nb.options.read import SCAN_MAX_SNAPSHOT_COUNT, SOURCE_CHECKPOINT_ALIGN_ENABLED
from paimon_nb.session.query.hidden_columns import has_hidden
from paimon_nb.session.query.watermark import stream_watermark, with_spark_watermark
from paimon_nb.session.streaming.checkpoints import last_offset, start_offset_of
from paimon_nb.session.streaming.planner import LOG_TABLES, inputs_by_name
from paimon_nb.session.streaming.windows import grouped_by_window

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from paimon_nb.session.core.session import Session
    from paimon_nb.session.streaming.planner import StreamInput
    from paimon_nb.session.streaming.stream_statement import StreamStatement
    from paimon_nb.table.read.stream.retries import RetryFiles

MAX_SNAPSHOTS = 20
"""Max snapshots of a changing table in one micro-batch: a job that is behind catches up, and its batches stay small.

A live SELECT gets one snapshot a micro-batch, so its changes appear commit by commit.
"""


def whole_frame(statement: StreamStatement, session: Session, *, records_consumer: bool = True) -> DataFrame:
    """The query as one streaming DataFrame. From changing tables it reads insertions, not retractions.

    `records_consumer`: see `stream_frame`.
    """
    frames = {
        parts: _input_stream(session, i, kinds=False, records_consumer=records_consumer)
        for parts, i in inputs_by_name(statement.plan.inputs).items()
    }
    return statement.rows(session, frames, rewrite=grouped_by_window)


def changes_frame(
    session: Session,
    only: StreamInput,
    checkpoint: str,
    *,
    max_snapshots: int = MAX_SNAPSHOTS,
    retries: RetryFiles | None = None,
    records_consumer: bool = True,
) -> DataFrame:
    """The only input of a query as a stream of its changes, from where the checkpoint ended.

    `retries`, `records_consumer`: see `stream_frame`.
    """
    begin = start_offset_of(checkpoint) if only.source is None else last_offset(checkpoint) or "fresh"
    return _input_stream(
        session,
        only,
        kinds=not only.append_only,
        begin=begin,
        watermark=False,
        max_snapshots=max_snapshots,
        retries=retries,
        records_consumer=records_consumer,
    )


def _input_stream(
    session: Session,
    stream_input: StreamInput,
    *,
    kinds: bool,
    begin: Any = None,
    watermark: bool = True,
    max_snapshots: int = 1,
    retries: RetryFiles | None = None,
    records_consumer: bool = True,
) -> DataFrame:
    """`max_snapshots`: of a table that is read with row kinds, in one micro-batch."""
    if stream_input.table is None:
        from paimon_nb.session.query.connector_tables import source_frame

        assert stream_input.source is not None
        assert stream_input.declared is not None
        return source_frame(
            session.spark,
            stream_input.source,
            stream_input.declared,
            stream=True,
            kinds=kinds,
            begin=begin,
            watermark=watermark,
        )
    from paimon_nb.spark.streaming.reader import stream_frame
    from paimon_nb.table.tables.system.audit_log import sequence_fields

    options = dict(stream_input.ref.options)
    table_options = stream_input.table.copy(options).options
    if table_options.get(SOURCE_CHECKPOINT_ALIGN_ENABLED):
        options[SCAN_MAX_SNAPSHOT_COUNT.key] = "1"  # then a Flink checkpoint contains one snapshot
    elif kinds:
        configured = table_options.get(SCAN_MAX_SNAPSHOT_COUNT)
        options[SCAN_MAX_SNAPSHOT_COUNT.key] = str(min(configured, max_snapshots) if configured > 0 else max_snapshots)
    if stream_input.system is not None:
        return stream_frame(
            session.spark,
            stream_input.table,
            options=options,
            kinds=stream_input.system in LOG_TABLES,
            begin=begin,
            binlog=stream_input.system == "binlog",
            numbers=sequence_fields(stream_input.table.store) if stream_input.system in LOG_TABLES else (),
            tracked=stream_input.system == "row_tracking",
            retries=retries,
            records_consumer=records_consumer,
        )
    frame = stream_frame(
        session.spark,
        stream_input.table,
        options=options,
        kinds=kinds,
        order=ORDER if kinds else None,
        begin=begin,
        retries=retries,
        records_consumer=records_consumer,
    )
    late = stream_watermark(stream_input.table.schema.options) if watermark else None
    return frame if late is None else with_spark_watermark(frame, late)


def query_ordered_changes(
    statement: StreamStatement, session: Session, batch: Mapping[tuple[str, ...], DataFrame]
) -> DataFrame:
    """The query over ordered changes: a row may change several times in a micro-batch. Raises as `query_changes`."""
    result = query_changes(statement, session, batch)
    # Positions, not names: `SELECT a.id, b.id` has duplicate names.
    columns = {f"__c{i}": c for i, c in enumerate(result.columns) if c not in (KIND, ORDER)}
    numbered = result.toDF(*(c if c in (KIND, ORDER) else f"__c{i}" for i, c in enumerate(result.columns)))
    in_order = numbered.coalesce(1).sortWithinPartitions(ORDER)
    return in_order.select(*columns, KIND).toDF(*columns.values(), KIND)


def query_changes(
    statement: StreamStatement, session: Session, batch: Mapping[tuple[str, ...], DataFrame]
) -> DataFrame:
    """The query over changes, whose result has their row kinds and their order.

    Raises:
        UnsupportedOperation: the query loses these hidden columns.
    """
    hidden = (KIND, ORDER)
    result = statement.rows(session, batch, hidden)
    if not has_hidden(result, hidden):
        raise UnsupportedOperation(
            "this query does not keep the kinds of the changes that it reads",
            hint="INSERT the rows into a table with a primary key, and query that",
        )
    return result
