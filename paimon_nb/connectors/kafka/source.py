# ruff: noqa: N802  the names are Spark's
"""Topics as a source of Spark: offsets of partitions as Spark's offsets, one task a partition. Runs in Python workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from paimon_nb.base.errors import BadMessage, SourceUnavailable
from paimon_nb.connectors.kafka.client import Broker, Offsets, check_there
from paimon_nb.connectors.kafka.dead_letters import send_dead, split_bad_records
from paimon_nb.connectors.kafka.options import At, KafkaTable
from paimon_nb.connectors.kafka.record_rows import RecordRows
from paimon_nb.spark.errors import crossing_tasks, packed_errors
from paimon_nb.spark.jobs.task_runner import pieces_of, work_frame
from paimon_nb.spark.streaming.data_source import stream_from
from paimon_nb.spark.types import spark_schema, task_batches

if TYPE_CHECKING:
    from confluent_kafka import Message
    from pyspark.sql import DataFrame, SparkSession


def kafka_batch(spark: SparkSession, table: KafkaTable) -> DataFrame:
    """What lies between the start and the end that the table names, as of now."""
    with Broker(table) as broker:
        start = broker.beginning()
        end = broker.resolve(table.end, broker.partitions())
    pieces = list(_pieces(start, end))
    fields = RecordRows(table).fields

    @crossing_tasks
    def make(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for topic, partition, first, last in pieces_of(batches):
            yield from _read(table, topic, partition, first, last)

    return work_frame(spark, pieces, [last - first for *_, first, last in pieces]).mapInArrow(
        make, spark_schema(fields)
    )


def kafka_stream(spark: SparkSession, table: KafkaTable, begin: Mapping[str, Any] | str | None) -> DataFrame:
    """The records as they come. `begin`: the offset in the query's checkpoint, 'fresh' for a new one, None: not known."""
    return stream_from(spark, KafkaSource, table=table, begin=begin)


class KafkaSource(DataSource):
    table: KafkaTable
    begin: Mapping[str, Any] | str | None

    def schema(self) -> Any:
        return spark_schema(RecordRows(self.table).fields)

    def streamReader(self, schema: Any) -> KafkaReader:
        with packed_errors():
            return KafkaReader(self)


class OffsetRange(InputPartition):
    def __init__(self, topic: str, partition: int, first: int, end: int) -> None:
        self.topic, self.partition, self.first, self.end = topic, partition, first, end


class KafkaReader(DataSourceStreamReader):
    """One per running query. A Spark offset is {"next": topic -> partition -> offset, "began": the same at the start}.

    Spark does not keep the first offset of a query: when its first micro-batch is run again after a crash, it asks anew, and
    'latest-offset' means another place by then. So each offset tells where its query began, and the first one is marked.
    """

    def __init__(self, source: KafkaSource) -> None:
        self.table = source.table
        stored_offsets = source.begin if isinstance(source.begin, dict) else None
        self._fresh = source.begin == "fresh"
        self._known: Offsets | None = None if stored_offsets is None else stored_offsets["next"]
        """Where the query stands; None until Spark told us."""
        self._began: Offsets | None = None if stored_offsets is None else stored_offsets["began"]
        self._ends: Offsets | None = None

    @cached_property
    def _broker(self) -> Broker:
        """Kept from question to question: a new connection for each would cost more than the answer."""
        return Broker(self.table)

    def stop(self) -> None:
        if "_broker" in vars(self):
            self._broker.close()
            del self._broker

    def initialOffset(self) -> dict[str, Any]:
        with packed_errors():
            began = self._beginning()
            self._known = self._known or began
            return {"next": began, "began": began, "first": True}

    def latestOffset(self) -> dict[str, Any]:
        with packed_errors():
            began = self._beginning()
            if self._known is None and self._fresh:
                self._known = began
            try:
                newest = self._newest()
            except SourceUnavailable:
                self.stop()  # the client would hold on to leaders of before; a new one finds those of now
                if self._known is None:
                    raise
                newest = self._known  # a broker that is away has nothing new; it goes on when it is back
            if self._known is not None:
                newest = _limited(self._known, newest, self.table.max_records)
            return {"next": newest, "began": began}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        with packed_errors():
            first = end["began"] if start.get("first") else start["next"]
            self._known = end["next"]
            return [OffsetRange(*piece) for piece in _pieces(first, end["next"])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, OffsetRange)
        return _read(self.table, partition.topic, partition.partition, partition.first, partition.end)

    def commit(self, end: dict[str, Any]) -> None:
        with packed_errors():
            if "group.id" in self.table.client:
                self._broker.commit(end["next"])

    def _beginning(self) -> Offsets:
        """Where the table says that a new query begins; found once."""
        if self._began is None:
            self._began = self._broker.beginning()
        return self._began

    def _newest(self) -> Offsets:
        """What there is now, not beyond the end that the table names. Raises SourceLost: what comes next is gone."""
        partitions = self._broker.partitions()
        low, high = self._broker.bounds(partitions)
        last = high
        if self.table.end.at is not At.NEVER:
            self._ends = self._ends or self._broker.resolve(self.table.end, partitions)
            high = {t: {p: min(o, self._ends.get(t, {}).get(p, 0)) for p, o in of.items()} for t, of in high.items()}
        check_there(self._known or {}, low, last)
        return high


def _limited(start: Offsets, newest: Offsets, max_records: int) -> Offsets:
    """At most so many records, shared by the partitions that have more. A partition that is new begins with its first."""
    left = {(t, p): max(0, o - start.get(t, {}).get(p, 0)) for t, of in newest.items() for p, o in of.items()}
    share = (
        max_records
        if sum(left.values()) <= max_records
        else max(1, max_records // max(1, sum(1 for n in left.values() if n)))
    )
    out = {t: dict(of) for t, of in start.items()}
    for (topic, partition), count in left.items():
        of = out.setdefault(topic, {})
        of[partition] = of.get(partition, 0) + min(count, share)
    return out


def _pieces(start: Offsets, end: Offsets) -> Iterator[tuple[str, int, int, int]]:
    for topic, of in end.items():
        for partition, last in of.items():
            first = start.get(topic, {}).get(partition, 0)
            if first < last:
                yield topic, int(partition), first, last


@crossing_tasks
def _read(table: KafkaTable, topic: str, partition: int, first: int, end: int) -> Iterator[pa.RecordBatch]:
    decode = RecordRows(table)
    with Broker(table) as broker:
        for messages in broker.records(topic, partition, first, end):
            if messages:
                yield from task_batches(_rows(decode, messages).combine_chunks(), decode.fields)


def _rows(decode: RecordRows, messages: Sequence[Message]) -> pa.Table:
    """The rows of some records, without those that the table says to leave out."""
    try:
        return decode.rows(messages)
    except BadMessage:
        if not decode.table.skips:
            raise
    good, refused = split_bad_records(messages, decode.rows)
    if decode.table.dead_letters is not None:
        send_dead(decode.table, decode.table.dead_letters, refused)
    return decode.rows(good)
