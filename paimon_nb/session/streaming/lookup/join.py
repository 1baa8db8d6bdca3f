"""Tables that a stream looks up: as they are at each micro-batch, kept in memory meanwhile, and waited for where a hint says so."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from paimon_nb.base import clock
from paimon_nb.base.errors import Cancelled, UnsupportedOperation
from paimon_nb.base.identifier import quote
from paimon_nb.options.read import LOOKUP_CACHE
from paimon_nb.options.table import LOOKUP_CACHE_MAX_MEMORY_SIZE
from paimon_nb.plan import Query, Span, TableRef
from paimon_nb.session.core.session import Session
from paimon_nb.session.query.computed_columns import computed_columns, with_computed
from paimon_nb.session.query.hints import partition_predicate, scan_partitions
from paimon_nb.session.query.run_query import known_to_spark, new_view, resolve, rows_of_partitions, view_reference
from paimon_nb.session.streaming.lookup.cache import Dimension
from paimon_nb.session.streaming.lookup.parser import LookupJoin, Retry, find_join, retries
from paimon_nb.session.streaming.lookup.refresh import Refresh
from paimon_nb.table.scan.predicate.model import all_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.session.core.jobs import Running
    from paimon_nb.table.table import Table

_WHOLE = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_ALIKE = (*_WHOLE, "STRING", "VARCHAR", "DATE", "DECIMAL")
"""Types of which equal values hash alike, whatever the other side is called."""
_Key = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]


class Lookups:
    """Of one stream. Lies in its session as `lookups`, where its queries find it."""

    def __init__(self, session: Session, query: Query, text: str) -> None:
        """Raises: UnknownOption, BadOptionValue: a hint LOOKUP, or when to look again. UnsupportedOperation: a hint whose join is
        not understood."""
        self._dimensions: dict[_Key, _Known] = {}
        self._fresh: set[_Key] = set()
        self._over = threading.Event()
        _check(query, text)
        for ref in query.tables:
            if ref.lookup and (table := _kept(session, ref)) is not None:
                Refresh.of(table.options)

    def begin(self) -> None:
        """A micro-batch begins: from now on each table is looked at anew, once."""
        self._fresh.clear()

    @contextmanager
    def names(
        self, session: Session, query: Query, text: str, others: Mapping[Span, str], params: Mapping[str, Any]
    ) -> Iterator[dict[Span, str]]:
        """SQL text for each table that a query looks up, valid inside the block. `others`: that of the other tables."""
        from paimon_nb.sql import render

        refs = [r for r in query.tables if r.lookup]
        asked = retries(text, query.span, query.tables)
        views = {r.span: new_view() for r in refs}
        told = {r.span: view_reference(views[r.span], r) for r in refs}
        said = render(query, text, {**others, **told}, flink=session.flink_semantics)
        made = []
        try:
            for ref in refs:
                view = views[ref.span]
                ask = _Asking(session, find_join(said, view), {k: params[k] for k in query.parameters} or None)
                frame = self._rows(session, ref, text, ask)
                if frame is None:  # a name of Spark's own
                    del told[ref.span]
                    continue
                frame = self._waited(frame, asked.get(ref.span), ask, lambda r=ref, a=ask: self._rows(session, r, text, a, anew=True))  # type: ignore[misc]  # fmt: skip
                frame.createOrReplaceTempView(view)
                made.append(view)
            yield told
        finally:
            for view in made:
                session.spark.catalog.dropTempView(view)

    def stop(self) -> None:
        """Wait no longer."""
        self._over.set()

    def close(self) -> None:
        """Give the memory back."""
        self.stop()
        while self._dimensions:
            self._dimensions.popitem()[1].dimension.close()

    def _waited(
        self, frame: DataFrame, retry: Retry | None, ask: _Asking, again: Callable[[], DataFrame | None]
    ) -> DataFrame:
        """The rows, once each row of the stream finds one or there were attempts enough."""
        for _ in range(0 if retry is None else retry.most):
            assert retry is not None
            if not ask.misses(frame):
                break
            if self._over.wait(retry.delay_s):
                raise Cancelled("the job was stopped while it waited for rows to look up", hint="it goes on from its checkpoint")  # fmt: skip
            frame = again() or frame
        return frame

    def _rows(
        self, session: Session, ref: TableRef, text: str, ask: _Asking, *, anew: bool = False
    ) -> DataFrame | None:
        """The table's rows, as far as the stream's rows can find them. None: the name is Spark's own."""
        from paimon_nb.spark.api.paimon_session import plain_session

        table = _kept(session, ref)
        if table is None:
            return resolve(session, ref, text)
        spark = plain_session(session.spark)
        key = (ref.parts, tuple(sorted(ref.options.items())))
        identity = f"{table.store.identity} {table.schema.id}"  # another table of this name, or another shape of it
        known = self._dimensions.get(key)
        if known is None or known.identity != identity:
            if known is not None:
                known.dimension.close()
            limit = (
                None if table.options.get(LOOKUP_CACHE) == "full" else table.options.get(LOOKUP_CACHE_MAX_MEMORY_SIZE)
            )
            known = self._dimensions[key] = _Known(identity, Dimension(limit))
            self._fresh.discard(key)
        if anew or key not in self._fresh:
            known.look(spark, table, ref)
            self._fresh.add(key)
        rows = known.dimension.frame(spark, lambda: ask.bucket_keys(table))
        return with_computed(known.of_partitions(rows), table.schema.options)


@dataclass(slots=True)
class _Known:
    """A looked-up table, and when it was looked at."""

    identity: str
    dimension: Dimension
    partitions: list[dict[str, Any]] | None = None
    """The ones that 'scan.partitions' chooses; None: all."""
    looked_ms: int | None = None
    """For new snapshots; None: not yet."""
    chosen_ms: int = 0
    """For partitions."""

    def look(self, spark: SparkSession, table: Table, ref: TableRef) -> None:
        """Move to the newest snapshot and partitions, as far as the table's options let look for them now."""
        from paimon_nb.spark.runtime.arrow_interop import session_zone
        from paimon_nb.spark.scan.table_scan import decide

        refresh, now = Refresh.of(table.options), clock.now_ms()
        if self.looked_ms is not None and refresh.is_closed(now) and not self.dimension.is_lost(table.store):
            return
        chosen = self.partitions
        if self.looked_ms is None or refresh.partitions_due(self.chosen_ms, now):
            chosen, self.chosen_ms = scan_partitions(table, ref.options, lookup=True), now
        if (
            self.looked_ms is not None
            and chosen == self.partitions
            and not refresh.snapshots_due(self.looked_ms, now)
            and not self.dimension.is_lost(table.store)
        ):
            return
        self.partitions, self.looked_ms = chosen, now
        columns = None if ref.columns is None else (*ref.columns, *(table.partition_keys if chosen is not None else ()))
        wanted = [p for p in (ref.filter, partition_predicate(chosen) if chosen else None) if p is not None]
        self.dimension.move(
            decide(
                table,
                filter=all_of(wanted) if wanted else None,
                columns=None if computed_columns(table.schema.options) else columns,
                zone=session_zone(spark),
            )
        )

    def of_partitions(self, rows: DataFrame) -> DataFrame:
        """The rows of the partitions alone: files were chosen by them, and that is no promise."""
        return rows if self.partitions is None else rows_of_partitions(rows, self.partitions)


class _Asking:
    """Questions about a micro-batch's side of a lookup join, which Spark answers."""

    def __init__(self, session: Session, join: LookupJoin | None, wanted: Mapping[str, Any] | None) -> None:
        self.session, self.join, self.wanted = session, join, wanted

    def bucket_keys(self, table: Table) -> pa.Table | None:
        """The values of a table's bucket key that are asked for; None where the join does not say them all."""
        from pyspark.sql import functions as F

        from paimon_nb.spark.runtime.arrow_interop import to_arrow
        from paimon_nb.spark.types import spark_type

        if self.join is None or not table.schema.bucket_keys:
            return None
        given = {column.lower(): left for column, left in self.join.keys}
        fields = [table.schema.field(n) for n in table.schema.bucket_keys]
        if any(f.name.lower() not in given or f.type.root not in _ALIKE for f in fields):
            return None
        chosen = ", ".join(f"{given[f.name.lower()]} AS `k{i}`" for i, f in enumerate(fields))
        frame = self._sql(f"SELECT DISTINCT {chosen} {self.join.left}")
        for i, field in enumerate(fields):
            there, wanted = frame.schema[i].dataType, spark_type(field.type)
            if there == wanted:
                continue
            if field.type.root not in _WHOLE or there.typeName() not in ("byte", "short", "integer", "long"):
                return None
            frame = frame.withColumn(f"k{i}", F.col(f"k{i}").try_cast(wanted))
        return to_arrow(frame.dropna(), fields)

    def misses(self, rows: DataFrame) -> bool:
        """Whether a row of the stream finds none of these rows by its keys."""
        assert self.join is not None
        view = new_view()
        rows.createOrReplaceTempView(view)
        try:
            alias = quote(self.join.alias)
            equal = " AND ".join(f"{alias}.{quote(c)} = {other}" for c, other in (*self.join.keys, *self.join.fixed))
            known = " AND ".join(f"{left} IS NOT NULL" for _, left in self.join.keys)
            text = f"SELECT 1 {self.join.left} LEFT ANTI JOIN {quote(view)} AS {alias} ON {equal} WHERE {known} LIMIT 1"
            return bool(self._sql(text).collect())
        finally:
            self.session.spark.catalog.dropTempView(view)

    def _sql(self, text: str) -> DataFrame:
        return self.session.spark.sql(text, args=dict(self.wanted) if self.wanted else None)


def _kept(session: Session, ref: TableRef) -> Table | None:
    """The table of ours that a reference means, where its rows may be kept from micro-batch to micro-batch."""
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
    return session.table(ref.parts, ref.options)


def waited_tables(session: Session, query: Query, text: str) -> list[Table]:
    """The tables whose rows a hint LOOKUP waits for: a query that is run anew for each snapshot is run for theirs, too, so that a
    row that finds nothing keeps no other back and is right as soon as there is something to find.

    Raises: UnknownOption, BadOptionValue: the hint. UnsupportedOperation: it names what is no table of ours.
    """
    asked = retries(text, query.span, query.tables)
    found = []
    for ref in query.tables:
        if ref.span in asked:
            table = _kept(session, ref)
            if table is None:
                raise UnsupportedOperation(
                    f"a query that groups cannot wait for rows of {'.'.join(ref.parts)}, which has no snapshots",
                    hint="look up in one INSERT, group in a second that reads its table",
                )
            found.append(table)
    return found


def _check(query: Query, text: str) -> None:
    from paimon_nb.sql import render

    asked = retries(text, query.span, query.tables)
    if not asked:
        return
    names = {r.span: view_reference(f"t{i}", r) for i, r in enumerate(query.tables)}
    views = {r.span: f"t{i}" for i, r in enumerate(query.tables)}
    said = render(query, text, names, flink=True)
    for span in asked:
        join = find_join(said, views[span])
        if join is None or not join.keys:
            raise UnsupportedOperation(
                "the hint LOOKUP asks to look up again, and the join's keys are not clear",
                hint="FROM a JOIN b FOR SYSTEM_TIME AS OF a.t AS c ON a.x = c.y, with both names in front, and no WITH",
            )


_OF_STREAM: WeakKeyDictionary[Any, Lookups] = WeakKeyDictionary()


def belongs(lookups: Lookups, running: Running) -> None:
    """`stopping` and `release` of this stream mean these."""
    _OF_STREAM[running] = lookups


def stopping(running: Running) -> None:
    """A stream is about to be stopped: it need not wait for anything."""
    if (lookups := _OF_STREAM.get(running)) is not None:
        lookups.stop()


def release(running: Running) -> None:
    """A stream has ended."""
    if (lookups := _OF_STREAM.pop(running, None)) is not None:
        with suppress(Exception):  # a JVM that is gone has given its memory back
            lookups.close()


def release_ended() -> None:
    """Streams that came to their end by themselves, by an error mostly."""
    for running in list(_OF_STREAM):
        with suppress(Exception):
            if not running.isActive:
                release(running)
