# ruff: noqa: N802  the names are defined by Spark
"""Spark data source for topics. A Spark offset is the offsets of all partitions; one task reads a partition. Runs in Python
workers."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from paimon_nb.base.errors import BadMessage, SourceUnavailable
from paimon_nb.base.override import override
from paimon_nb.connectors.kafka.client import Broker, Offsets, check_offsets_exist
from paimon_nb.connectors.kafka.dead_letters import send_dead_letters, split_bad_records
from paimon_nb.connectors.kafka.options import KafkaTable, OffsetMode
from paimon_nb.connectors.kafka.record_rows import RecordRows
from paimon_nb.spark.errors import encode_errors_of_task, encode_raised_errors
from paimon_nb.spark.jobs.task_runner import frame_of_pickled_pieces, unpickle_pieces
from paimon_nb.spark.streaming.data_source import stream_of_data_source
from paimon_nb.spark.types import spark_schema, task_batches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from confluent_kafka import Message
    from pyspark.sql import DataFrame, SparkSession


def kafka_batch(spark: SparkSession, table: KafkaTable) -> DataFrame:
    """The records between the start and the end offsets of the table, resolved now."""
    with Broker(table) as broker:
        start = broker.start_offsets()
        end = broker.resolve_offsets(table.end, broker.partitions())
    pieces = list(_offset_ranges(start, end))
    fields = RecordRows(table).fields

    @encode_errors_of_task
    def read_offset_ranges(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for topic, partition, first, last in unpickle_pieces(batches):
            yield from _read_partition(table, topic, partition, first, last)

    return frame_of_pickled_pieces(spark, pieces, [last - first for *_, first, last in pieces]).mapInArrow(
        read_offset_ranges, spark_schema(fields)
    )


def kafka_stream(spark: SparkSession, table: KafkaTable, begin: Mapping[str, Any] | str | None) -> DataFrame:
    """The records as a stream. `begin`: offset in the checkpoint of the query, 'fresh' for a new query, None if unknown."""
    return stream_of_data_source(spark, KafkaSource, table=table, begin=begin)


class KafkaSource(DataSource):
    table: KafkaTable
    begin: Mapping[str, Any] | str | None

    def schema(self) -> Any:
        return spark_schema(RecordRows(self.table).fields)

    @override
    def streamReader(self, schema: Any) -> KafkaReader:
        with encode_raised_errors():
            return KafkaReader(self)


class OffsetRange(InputPartition):
    def __init__(self, topic: str, partition: int, first: int, end: int) -> None:
        self.topic, self.partition, self.first, self.end = topic, partition, first, end


class KafkaReader(DataSourceStreamReader):
    """One per running query. A Spark offset is {"next": topic -> partition -> offset, "began": the same at the start}.

    Spark does not store the first offset of a query. If the first micro-batch runs again after a crash, Spark calls
    `initialOffset` again, and 'latest-offset' then means a later offset. Therefore each offset contains the start offsets
    of its query, and the first one is marked.
    """

    def __init__(self, source: KafkaSource) -> None:
        self.table = source.table
        stored_offsets = source.begin if isinstance(source.begin, dict) else None
        self._is_new_query = source.begin == "fresh"
        self._next_offsets: Offsets | None = None if stored_offsets is None else stored_offsets["next"]
        """Current position of the query; None until the first call."""
        self._start_offsets: Offsets | None = None if stored_offsets is None else stored_offsets["began"]
        self._end_offsets: Offsets | None = None

    @cached_property
    def _cached_broker(self) -> Broker:
        """Reused between calls: a new connection costs more than a request."""
        return Broker(self.table)

    def stop(self) -> None:
        if "_cached_broker" in vars(self):
            self._cached_broker.close()
            del self._cached_broker

    def initialOffset(self) -> dict[str, Any]:
        with encode_raised_errors():
            start_offsets = self._find_start()
            self._next_offsets = self._next_offsets or start_offsets
            return {"next": start_offsets, "began": start_offsets, "first": True}

    def latestOffset(self) -> dict[str, Any]:  # type: ignore[override]  # before release 4.3 Spark passes no arguments
        with encode_raised_errors():
            start_offsets = self._find_start()
            if self._next_offsets is None and self._is_new_query:
                self._next_offsets = start_offsets
            try:
                newest = self._latest_offsets()
            except SourceUnavailable:
                self.stop()  # the client caches partition leaders; a new client finds the current ones
                if self._next_offsets is None:
                    raise
                newest = (
                    self._next_offsets
                )  # an unreachable broker has no new records; the query continues when it is reachable again
            if self._next_offsets is not None:
                newest = _limit_records(self._next_offsets, newest, self.table.max_records)
            return {"next": newest, "began": start_offsets}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        with encode_raised_errors():
            first = end["began"] if start.get("first") else start["next"]
            self._next_offsets = end["next"]
            return [OffsetRange(*piece) for piece in _offset_ranges(first, end["next"])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, OffsetRange)
        return _read_partition(self.table, partition.topic, partition.partition, partition.first, partition.end)

    def commit(self, end: dict[str, Any]) -> None:
        with encode_raised_errors():
            if "group.id" in self.table.client:
                self._cached_broker.commit(end["next"])

    def _find_start(self) -> Offsets:
        """Start offsets of the query, resolved once."""
        if self._start_offsets is None:
            self._start_offsets = self._cached_broker.start_offsets()
        return self._start_offsets

    def _latest_offsets(self) -> Offsets:
        """Latest offsets, at most the end offsets of the table. Raises SourceLost: the next records were deleted."""
        partitions = self._cached_broker.partitions()
        low, high = self._cached_broker.bounds(partitions)
        last = high
        if self.table.end.mode is not OffsetMode.UNBOUNDED:
            self._end_offsets = self._end_offsets or self._cached_broker.resolve_offsets(self.table.end, partitions)
            high = {
                t: {p: min(o, self._end_offsets.get(t, {}).get(p, 0)) for p, o in of.items()} for t, of in high.items()
            }
        check_offsets_exist(self._next_offsets or {}, low, last)
        return high


def _limit_records(start: Offsets, newest: Offsets, max_records: int) -> Offsets:
    """End offsets for at most `max_records`, divided among the partitions. A new partition starts at its first record."""
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


def _offset_ranges(start: Offsets, end: Offsets) -> Iterator[tuple[str, int, int, int]]:
    for topic, of in end.items():
        for partition, last in of.items():
            first = start.get(topic, {}).get(partition, 0)
            if first < last:
                yield topic, int(partition), first, last


@encode_errors_of_task
def _read_partition(table: KafkaTable, topic: str, partition: int, first: int, end: int) -> Iterator[pa.RecordBatch]:
    decode = RecordRows(table)
    with Broker(table) as broker:
        for messages in broker.records(topic, partition, first, end):
            if messages:
                yield from task_batches(_decode_rows(decode, messages).combine_chunks(), decode.fields)


def _decode_rows(decode: RecordRows, messages: Sequence[Message]) -> pa.Table:
    """The rows of records. Skips bad records if the options of the table allow it."""
    try:
        return decode.rows(messages)
    except BadMessage:
        if not decode.table.skip_bad_messages:
            raise
    good, bad_records = split_bad_records(messages, decode.rows)
    if decode.table.dead_letter_topic is not None:
        send_dead_letters(decode.table, decode.table.dead_letter_topic, bad_records)
    return decode.rows(good)
