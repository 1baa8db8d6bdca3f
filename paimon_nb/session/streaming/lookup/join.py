"""Lookup joins of a stream: reads lookup tables as of each micro-batch, caches them, and retries as LOOKUP hints ask."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from paimon_nb.base import clock
from paimon_nb.base.errors import Cancelled, UnsupportedOperation
from paimon_nb.base.identifier import quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.options.read import LOOKUP_ASYNC, LOOKUP_CACHE, SCAN_PARTITIONS
from paimon_nb.options.table import LOOKUP_CACHE_MAX_MEMORY_SIZE
from paimon_nb.session.query.computed_columns import computed_columns, with_computed
from paimon_nb.session.query.hidden_columns import with_hidden_columns_selected
from paimon_nb.session.query.hints import greatest_partitions, lookup_options, lookup_table, partition_predicate
from paimon_nb.session.query.lookup_joins import LookupJoin, Retry, find_join, retry_hints
from paimon_nb.session.query.run_query import (
    known_to_spark,
    new_view,
    resolve_table_frame,
    rows_of_partitions,
    view_reference,
)
from paimon_nb.session.streaming.lookup.cache import Dimension
from paimon_nb.session.streaming.lookup.refresh import RefreshSchedule
from paimon_nb.table.read.predicate.model import conjunction_of
from paimon_nb.table.read.stream.start import check_changelog_producer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.session.core.jobs import Running
    from paimon_nb.session.core.session import Session
    from paimon_nb.session.streaming.planner import StreamInput
    from paimon_nb.statements import Query, Span, TableRef
    from paimon_nb.table.tables.table import Table

_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_HASH_COMPATIBLE = (*_INTEGERS, "STRING", "VARCHAR", "DATE", "DECIMAL")
"""Types whose equal values have equal hashes, whatever the type of the other side."""
_Key = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]


class Lookups:
    """The lookup tables of one stream; its session holds them as `lookups`."""

    def __init__(self, session: Session, query: Query, text: str, inputs: Sequence[StreamInput]) -> None:
        """Check hints and refresh options. `inputs`: the streams.

        Raises:
            UnknownOption, BadOptionValue: a LOOKUP hint or a refresh option.
            UnsupportedOperation: a LOOKUP hint for an unsupported join, or a table that merges rows and has no changelog
            producer.
        """
        self._dimensions: dict[_Key, _CachedTable] = {}
        self._refreshed: set[_Key] = set()
        self._stopped = threading.Event()
        self._text = text
        self.unordered: dict[Span, Retry] = {}
        """The lookups whose rows without a match may be overtaken: the caller separates them by `rows_without_match`."""
        hints = _checked_hints(query, text)
        may_overtake = all(i.table is not None and i.append_only for i in inputs)
        for ref in query.tables:
            if ref.lookup and (table := _cacheable_table(session, ref)) is not None:
                RefreshSchedule.of(table.options)
                check_changelog_producer(table.store, ("partial-update", "aggregation"), "a lookup join")
                retry = hints.get(ref.span)
                if retry is not None and retry.unordered and may_overtake:
                    asynchronous = retry.asynchronous
                    if table.options.get(LOOKUP_ASYNC) if asynchronous is None else asynchronous:
                        self.unordered[ref.span] = retry

    def begin(self) -> None:
        """Called at the start of a micro-batch: each table is refreshed once in it."""
        self._refreshed.clear()

    @contextmanager
    def names(
        self, session: Session, query: Query, text: str, others: Mapping[Span, str], params: Mapping[str, Any]
    ) -> Iterator[dict[Span, str]]:
        """SQL text for each lookup table of a query, valid inside the block. `others`: SQL text of the other tables."""
        with self._resolved(session, query, text, others, params) as (references, _):
            yield references

    def rows_without_match(
        self,
        session: Session,
        query: Query,
        text: str,
        others: Mapping[Span, str],
        params: Mapping[str, Any],
        hidden: tuple[str, str],
    ) -> DataFrame:
        """The rows of the stream that wait for a match in a lookup of `unordered`.

        Args:
            others: SQL text of the other tables.
            hidden: two columns of the stream: the number of a row, and how often its lookup was repeated.

        Returns:
            The number of each row, and the seconds until its next lookup, as `delay`.
        """
        from pyspark.sql import functions as F

        with self._resolved(session, query, text, others, params) as (_, views):
            number, repeated = hidden
            found = [
                views[span][0]
                .unmatched_rows(views[span][1], hidden)
                .where(F.col(repeated) < retry.max_retries)
                .select(number, F.lit(retry.delay_s).alias("delay"))
                for span, retry in self.unordered.items()
            ]
            return reduce(lambda a, b: a.union(b), found).groupBy(number).agg(F.min("delay").alias("delay"))

    @contextmanager
    def _resolved(
        self, session: Session, query: Query, text: str, others: Mapping[Span, str], params: Mapping[str, Any]
    ) -> Iterator[tuple[dict[Span, str], dict[Span, tuple[_StreamSide, str]]]]:
        """SQL text, and stream side and view, for each lookup table of a query. Repeats lookups that are not `unordered`."""
        from paimon_nb.sql import render

        refs = [r for r in query.tables if r.lookup]
        hints = dict(retry_hints(text, query.span, query.tables))
        if text == self._text:
            hints = {span: retry for span, retry in hints.items() if span not in self.unordered}
        views = {r.span: new_view() for r in refs}
        references = {r.span: view_reference(views[r.span], r) for r in refs}
        sql = render(query, text, {**others, **references}, flink=session.flink_semantics)
        from paimon_nb.spark.runtime.flink_json import register_flink_json

        register_flink_json(session.spark, sql)
        made, resolved = [], {}
        try:
            for ref in refs:
                view = views[ref.span]
                stream_side = _StreamSide(
                    session, find_join(sql, view), {k: params[k] for k in query.parameters} or None
                )
                frame = self._lookup_rows(session, ref, text, stream_side)
                if frame is None:  # the name belongs to Spark
                    del references[ref.span]
                    continue
                frame = self._with_retries(frame, hints.get(ref.span), stream_side, lambda r=ref, a=stream_side: self._lookup_rows(session, r, text, a, refresh=True))  # type: ignore[misc]  # fmt: skip
                frame.createOrReplaceTempView(view)
                made.append(view)
                resolved[ref.span] = stream_side, quote(view)
            yield references, resolved
        finally:
            for view in made:
                session.spark.catalog.dropTempView(view)

    def stop(self) -> None:
        """End waiting."""
        self._stopped.set()

    def close(self) -> None:
        """Release the memory."""
        self.stop()
        while self._dimensions:
            self._dimensions.popitem()[1].dimension.close()

    def _with_retries(
        self, frame: DataFrame, retry: Retry | None, stream_side: _StreamSide, again: Callable[[], DataFrame | None]
    ) -> DataFrame:
        """The rows, after each row of the stream has a match or the retries are used up."""
        for _ in range(0 if retry is None else retry.max_retries):
            assert retry is not None
            if not stream_side.has_unmatched_rows(frame):
                break
            if self._stopped.wait(retry.delay_s):
                raise Cancelled("the job was stopped while it waited for lookup rows", hint="restart it: it resumes from its checkpoint")  # fmt: skip
            frame = again() or frame
        return frame

    def _lookup_rows(
        self, session: Session, ref: TableRef, text: str, stream_side: _StreamSide, *, refresh: bool = False
    ) -> DataFrame | None:
        """The table's rows that the stream's rows can match. None: the name belongs to Spark."""
        from paimon_nb.spark.runtime.jvm_bridge import plain_session

        table = _cacheable_table(session, ref)
        if table is None:
            return resolve_table_frame(session, ref, text)
        ref = replace(ref, options=lookup_options(ref.options))
        spark = plain_session(session.spark)
        key = (ref.parts, tuple(sorted(ref.options.items())))
        identity = f"{table.store.identity} {table.schema.id}"  # the table was replaced, or its schema changed
        cached = self._dimensions.get(key)
        if cached is None or cached.identity != identity:
            if cached is not None:
                cached.dimension.close()
            limit = (
                None if table.options.get(LOOKUP_CACHE) == "full" else table.options.get(LOOKUP_CACHE_MAX_MEMORY_SIZE)
            )
            cached = self._dimensions[key] = _CachedTable(identity, Dimension(limit))
            self._refreshed.discard(key)
        if refresh or key not in self._refreshed:
            cached.refresh(spark, table, ref)
            self._refreshed.add(key)
        rows = cached.dimension.frame(spark, lambda: stream_side.bucket_keys(table))
        return with_computed(cached.of_partitions(rows), table.schema.options)


@dataclass(slots=True)
class _CachedTable:
    """A cached lookup table and its refresh times."""

    identity: str
    dimension: Dimension
    partitions: list[dict[str, Any]] | None = None
    """The greatest partitions, if 'scan.partitions' asks for them; None: it does not."""
    waiting: list[dict[str, Any]] | None = None
    """New greatest partitions that the next micro-batch uses, with `lookup.dynamic-partition.refresh.async`."""
    snapshots_checked_ms: int | None = None
    """Last check for new snapshots; None: never."""
    partitions_checked_ms: int = 0
    """Last check for new partitions."""

    def refresh(self, spark: SparkSession, table: Table, ref: TableRef) -> None:
        """Move to the latest snapshot and partitions, unless the refresh options forbid it now."""
        from paimon_nb.spark.runtime.arrow_interop import session_zone
        from paimon_nb.table.read.strategy.planned_scan import plan_table_scan

        refresh, now = RefreshSchedule.of(table.options), clock.now_ms()
        if (
            self.snapshots_checked_ms is not None
            and refresh.is_closed(now)
            and not self.dimension.needs_expired_files(table.store)
        ):
            return
        partitions = self.partitions
        if self.waiting is not None:  # the micro-batch that found them has used the former ones
            partitions, self.waiting = self.waiting, None
        elif self.snapshots_checked_ms is None or refresh.partitions_due(self.partitions_checked_ms, now):
            found, self.partitions_checked_ms = greatest_partitions(table, ref.options), now
            is_first = self.snapshots_checked_ms is None
            partitions, self.waiting = (found, None) if is_first else refresh.partitions_to_use(partitions, found)
        if (
            self.snapshots_checked_ms is not None
            and partitions == self.partitions
            and not refresh.snapshots_due(self.snapshots_checked_ms, now)
            and not self.dimension.needs_expired_files(table.store)
        ):
            return
        self.partitions, self.snapshots_checked_ms = partitions, now
        columns = (
            None if ref.columns is None else (*ref.columns, *(table.partition_keys if partitions is not None else ()))
        )
        conditions = [p for p in (ref.filter, partition_predicate(partitions) if partitions else None) if p is not None]
        self.dimension.move_to_snapshot(
            plan_table_scan(
                table if partitions is None else _without_choice(table),
                filter=conjunction_of(conditions) if conditions else None,
                columns=None if computed_columns(table.schema.options) else columns,
                zone=session_zone(spark),
            )
        )

    def of_partitions(self, rows: DataFrame) -> DataFrame:
        """The rows of the selected partitions: file pruning alone is not exact."""
        return rows if self.partitions is None else rows_of_partitions(rows, self.partitions)


def _without_choice(table: Table) -> Table:
    """The table without `scan.partitions`: a lookup join asks for the greatest partitions at times of its own."""
    from paimon_nb.table.tables.table import Table

    keys = (SCAN_PARTITIONS.key, *SCAN_PARTITIONS.fallback_keys)
    return Table(table.store.without_options(keys), table.name)


class _StreamSide:
    """Queries over the stream side of a lookup join in a micro-batch."""

    def __init__(self, session: Session, join: LookupJoin | None, arguments: Mapping[str, Any] | None) -> None:
        self.session, self.join, self.arguments = session, join, arguments

    def bucket_keys(self, table: Table) -> pa.Table | None:
        """The requested bucket key values; None if the join does not cover the whole bucket key."""
        from pyspark.sql import functions as F

        from paimon_nb.spark.runtime.arrow_interop import to_arrow
        from paimon_nb.spark.types import spark_type

        if self.join is None or not table.schema.bucket_keys:
            return None
        left_by_column = {column.lower(): left for column, left in self.join.keys}
        fields = [table.schema.field(n) for n in table.schema.bucket_keys]
        if any(f.name.lower() not in left_by_column or f.type.root not in _HASH_COMPATIBLE for f in fields):
            return None
        select_list = ", ".join(f"{left_by_column[f.name.lower()]} AS `k{i}`" for i, f in enumerate(fields))
        frame = self._sql(f"SELECT DISTINCT {select_list} {self.join.left}")
        for i, field in enumerate(fields):
            actual, expected = frame.schema[i].dataType, spark_type(field.type)
            if actual == expected:
                continue
            if field.type.root not in _INTEGERS or actual.typeName() not in ("byte", "short", "integer", "long"):
                return None
            frame = frame.withColumn(f"k{i}", F.col(f"k{i}").try_cast(expected))
        return to_arrow(frame.dropna(), fields)

    def has_unmatched_rows(self, rows: DataFrame) -> bool:
        """Whether a row of the stream has no match in these rows."""
        view = new_view()
        rows.createOrReplaceTempView(view)
        try:
            return bool(self._sql(f"{self._unmatched_rows(quote(view))} LIMIT 1").collect())
        finally:
            self.session.spark.catalog.dropTempView(view)

    def unmatched_rows(self, view: str, hidden: Sequence[str]) -> DataFrame:
        """The hidden columns of the stream's rows that have no match in the view of the lookup table."""
        return self._sql(with_hidden_columns_selected(self._unmatched_rows(view), hidden)).select(*hidden)

    def _unmatched_rows(self, view: str) -> str:
        assert self.join is not None
        alias = quote(self.join.alias)
        equal = " AND ".join(f"{alias}.{quote(c)} = {other}" for c, other in (*self.join.keys, *self.join.fixed))
        known = " AND ".join(f"{left} IS NOT NULL" for _, left in self.join.keys)
        return f"SELECT 1 {self.join.left} LEFT ANTI JOIN {view} AS {alias} ON {equal} WHERE {known}"

    def _sql(self, text: str) -> DataFrame:
        return self.session.spark.sql(text, args=dict(self.arguments) if self.arguments else None)


def _cacheable_table(session: Session, ref: TableRef) -> Table | None:
    """The Paimon table of a reference if its rows can be cached across micro-batches."""
    if ref.function is not None or ref.travel is not None:
        return None
    if len(ref.parts) == 1:
        name = ref.parts[0]
        if name in session.views or name in session.temporary:
            return None
        if known_to_spark(session, (name,)):
            return None
    if not session.exists(ref.parts) or session.find(ref.parts).name.system is not None:
        return None
    return lookup_table(session.table(ref.parts, ref.options))


def tables_with_retry(session: Session, query: Query, text: str) -> list[Table]:
    """The lookup tables with a retry hint.

    A query in RECOMPUTE mode also re-runs for their snapshots: a row without a match delays no other row, and is
    corrected as soon as there is a match.

    Raises:
        UnknownOption, BadOptionValue: the hint.
        UnsupportedOperation: it names something that is not a Paimon table.
    """
    hints = retry_hints(text, query.span, query.tables)
    found = []
    for ref in query.tables:
        if ref.span in hints:
            table = _cacheable_table(session, ref)
            if table is None:
                raise UnsupportedOperation(
                    f"a query that groups cannot retry lookups in {'.'.join(ref.parts)}, which has no snapshots",
                    hint="look up in one INSERT, group in a second that reads its table",
                )
            found.append(table)
    return found


def _checked_hints(query: Query, text: str) -> Mapping[Span, Retry]:
    """The retry policies of a query's lookups. Raises UnsupportedOperation: a join without clear keys."""
    from paimon_nb.sql import render

    hints = retry_hints(text, query.span, query.tables)
    if not hints:
        return hints
    names = {r.span: view_reference(f"t{i}", r) for i, r in enumerate(query.tables)}
    views = {r.span: f"t{i}" for i, r in enumerate(query.tables)}
    sql = render(query, text, names, flink=True)
    for span in hints:
        join = find_join(sql, views[span])
        if join is None or not join.keys:
            raise UnsupportedOperation(
                "LOOKUP hint: retries need a join with clear equality keys",
                hint="write FROM a JOIN b FOR SYSTEM_TIME AS OF a.t AS c ON a.x = c.y, with qualified columns and without WITH",
            )
    return hints


_OF_STREAM: WeakKeyDictionary[Any, Lookups] = WeakKeyDictionary()


def register(lookups: Lookups, running: Running) -> None:
    """Register the lookups of a stream for `stop_waiting` and `release`."""
    _OF_STREAM[running] = lookups


def stop_waiting(running: Running) -> None:
    """End the waiting of a stream that is about to stop."""
    if (lookups := _OF_STREAM.get(running)) is not None:
        lookups.stop()


def release(running: Running) -> None:
    """Release the lookups of a stream that has ended."""
    if (lookups := _OF_STREAM.pop(running, None)) is not None:
        with suppress(Exception):  # a dead JVM has no memory to release
            lookups.close()


def release_ended() -> None:
    """Release the lookups of streams that ended by themselves, mostly by an error."""
    for running in list(_OF_STREAM):
        with suppress(Exception):
            if not running.isActive:
                release(running)
