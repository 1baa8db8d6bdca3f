"""Reads a table as a streaming DataFrame. `table/read/stream` determines the start and the changes of the stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.format.data import TRACKING_FIELDS
from paimon_nb.options.read import (
    READ_CHANGELOG,
    READ_STREAM_MAXROWSPERTRIGGER,
    READ_STREAM_MAXTRIGGERDELAYMS,
    READ_STREAM_MINROWSPERTRIGGER,
)
from paimon_nb.spark.jobs.task_runner import parallelism
from paimon_nb.spark.runtime.arrow_interop import session_zone
from paimon_nb.spark.runtime.jvm_bridge import plain_session
from paimon_nb.spark.streaming.data_source import stream_of_data_source
from paimon_nb.table.read.strategy.planned_scan import requested_fields
from paimon_nb.table.read.strategy.spark_meaning import conjuncts_with_spark_meaning
from paimon_nb.table.read.stream import StreamOffset, check_streamable, followed_store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.format.types import DataField
    from paimon_nb.options import TableOptions
    from paimon_nb.table.read.predicate.model import Predicate
    from paimon_nb.table.read.stream.retries import RetryFiles
    from paimon_nb.table.tables.table import Table


def stream_frame(
    spark: SparkSession,
    table: Table,
    *,
    options: Mapping[str, str] | None = None,
    filter: Predicate | None = None,
    columns: Sequence[str] | None = None,
    kinds: bool | None = None,
    order: str | None = None,
    begin: StreamOffset | str | None = None,
    binlog: bool = False,
    numbers: tuple[DataField, ...] = (),
    tracked: bool = False,
    includes_latest: bool = False,
    retries: RetryFiles | None = None,
    records_consumer: bool = True,
) -> DataFrame:
    """The table's stream as a DataFrame.

    Args:
        spark: the session.
        table: the table.
        options: the start and the size of micro-batches: 'scan.mode', 'consumer-id', 'read.stream.max*PerTrigger' ...
        filter: for skipping files and rows; Spark filters again.
        columns: columns that the query may need; None: all.
        kinds: add a first column `rowkind` ('+I', '-U', '+U', '-D'); None: as in the option 'read.changelog'. Without it,
            the stream has only inserts and new values (+I, +U).
        order: with `kinds`, the name of an additional last column by which changes are sorted.
        begin: the position in the checkpoint, or 'fresh' for a new checkpoint. If it is None, the limits of a micro-batch
            do not apply to the first one after a start, because the source does not know its position yet.
        binlog: rows as in the system table `$binlog`, without `order`.
        numbers: the column of sequence numbers that `$audit_log` and `$binlog` may have after the kind.
        tracked: rows as in the system table `$row_tracking`.
        includes_latest: 'scan.mode' = 'latest' starts with the changes of the latest snapshot, as Spark does; in Flink after them.
        retries: the rows of the job that wait for another lookup; a micro-batch begins when one is due.
        records_consumer: store the progress of the `consumer-id` when Spark reports that a micro-batch is done, which is at the
            next one. False: the caller stores it.

    Raises:
        UnsupportedOperation, BadOptionValue: see `check_streamable`.
    """
    from paimon_nb.spark.streaming.source import TableStreamSource

    spark = plain_session(spark)
    store = table.store.copy(options) if options else table.store
    check_streamable(store)
    store = followed_store(store, filter)
    _check_wait(store.options)
    with_kinds = bool(store.options.get(READ_CHANGELOG)) if kinds is None else kinds
    return stream_of_data_source(
        spark,
        TableStreamSource,
        store=store,
        fields=(*requested_fields(store.schema, columns), *(TRACKING_FIELDS if tracked else ())),
        predicate=conjuncts_with_spark_meaning(filter, store.schema.fields, session_zone(spark)),
        kinds=with_kinds,
        order=order,
        binlog=binlog,
        numbers=numbers,
        includes_latest=includes_latest,
        begin=begin,
        retries=retries,
        records_consumer=records_consumer,
        tasks=parallelism(spark) * 2,
    )


def _check_wait(options: TableOptions) -> None:
    min_rows, longest, max_rows = (
        options.get(o)
        for o in (READ_STREAM_MINROWSPERTRIGGER, READ_STREAM_MAXTRIGGERDELAYMS, READ_STREAM_MAXROWSPERTRIGGER)
    )
    names = f"{READ_STREAM_MINROWSPERTRIGGER.key!r} and {READ_STREAM_MAXTRIGGERDELAYMS.key!r}"
    if (min_rows is None) != (longest is None):
        raise BadOptionValue(
            f"{names} go together", hint="set both: the minimum of rows, and how long fewer rows may wait"
        )
    if min_rows is not None and max_rows is not None and max_rows < min_rows:
        raise BadOptionValue(
            f"{READ_STREAM_MINROWSPERTRIGGER.key!r} is {min_rows}, more than {READ_STREAM_MAXROWSPERTRIGGER.key!r} allows ({max_rows})",
            hint="set a smaller minimum or a larger maximum",
        )
