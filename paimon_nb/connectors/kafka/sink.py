"""Writes rows as Kafka records, at least once or in transactions. A task ends when the broker has acknowledged its records."""

from __future__ import annotations

import datetime as dt
import itertools
import uuid
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, SourceUnavailable, UnsupportedOperation
from paimon_nb.connectors.api import KIND, Sink
from paimon_nb.connectors.formats import open_encoder
from paimon_nb.connectors.formats.api import BEFORE, DELETE, INSERT
from paimon_nb.connectors.kafka.client import CLIENT_LOGGING, import_confluent_kafka, kafka_error_text
from paimon_nb.connectors.kafka.options import WRITABLE, KafkaTable, RecordPart
from paimon_nb.connectors.kafka.transactions import PRODUCER_SETTINGS, SinkBatch, Transaction
from paimon_nb.spark.errors import encode_errors_of_task
from paimon_nb.spark.streaming.sink import query_id
from paimon_nb.spark.types import from_spark_arrow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame

_FLUSH_TIMEOUT_S = 120.0


class KafkaSink(Sink):
    """Sink of a Kafka table. Raises BadOptionValue, UnsupportedOperation: the table cannot be written."""

    def __init__(self, table: KafkaTable) -> None:
        self.table = table
        definition = table.definition
        if len(table.topics) != 1:
            raise BadOptionValue(
                f"table {definition.name!r} needs exactly one topic for writes", hint="'topic' = 'orders'"
            )
        self.metadata_columns = {k: c for c, k in definition.metadata.items() if c not in definition.virtual}
        for key, column in self.metadata_columns.items():
            if key not in WRITABLE:
                raise UnsupportedOperation(
                    f"metadata {key!r} of column {column!r} cannot be written", hint="declare it METADATA ... VIRTUAL"
                )
        self.takes_changes = table.is_upsert or open_encoder(table.value.message_fields, table.value.options).changes

    def store(self, batch: DataFrame, number: int | None = None) -> int:
        fields, with_kinds = self.table.definition.stored, KIND in batch.columns and self.takes_changes
        if KIND in batch.columns and not with_kinds:
            self._check_only_inserts(batch)
        # One task writes a changelog, to keep the order of the changes of a key.
        rows = batch.select(*[f.name for f in fields], *([KIND] if with_kinds else []))
        sink_batch = self._sink_batch(batch, number)
        rows = rows.coalesce(1) if with_kinds or self.table.is_upsert or sink_batch else rows
        zone = str(batch.sparkSession.conf.get("spark.sql.session.timeZone"))
        table, metadata_columns = self.table, self.metadata_columns

        @encode_errors_of_task
        def send_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            count = 0
            with Writer(table, metadata_columns, sink_batch) as writer:
                for piece in batches if writer.must_send else ():
                    arrow = pa.Table.from_batches([piece])
                    kinds = arrow.column(KIND).to_pylist() if with_kinds else [INSERT] * arrow.num_rows
                    plain = from_spark_arrow(arrow.select([f.name for f in fields]), fields, zone)
                    count += writer.write(plain, kinds)
            yield pa.record_batch([pa.array([count], pa.int64())], names=["sent"])

        return sum(row[0] for row in rows.mapInArrow(send_batches, "sent bigint").collect())

    def _sink_batch(self, batch: DataFrame, number: int | None) -> SinkBatch | None:
        if self.table.transactional_id_prefix is None:
            return None
        query = uuid.uuid4().hex if number is None else query_id(batch)
        return SinkBatch(f"{self.table.transactional_id_prefix}-{query}", number)

    def _check_only_inserts(self, batch: DataFrame) -> None:
        from pyspark.sql import functions as F

        other = batch.filter(F.col(KIND) != INSERT).select(KIND).first()
        if other is not None:
            raise UnsupportedOperation(
                f"format {self.table.value.options.format!r} has no form for {other[0]}",
                hint="use 'debezium-json', or connector 'upsert-kafka' with a PRIMARY KEY",
            )


class Writer:
    """Encodes rows and sends them with a producer. Leaving the block waits for the broker and commits the transaction.

    Raises:
        SourceUnavailable: the broker did not acknowledge all records.
    """

    def __init__(self, table: KafkaTable, metadata_columns: dict[str, str], sink_batch: SinkBatch | None) -> None:
        self.table, self.metadata_columns = table, metadata_columns
        lib = self.lib = import_confluent_kafka()
        client = {k: v for k, v in table.client.items() if k not in ("group.id", "isolation.level")}
        settings = {
            "enable.idempotence": "true",
            "linger.ms": "5",
            **(PRODUCER_SETTINGS if sink_batch else {}),
            **client,
            **CLIENT_LOGGING,
        }
        settings |= {"transactional.id": sink_batch.transactional_id} if sink_batch else {}
        try:
            self.producer = lib.Producer(settings)
        except (lib.KafkaException, ValueError, TypeError) as error:
            raise BadOptionValue(
                f"the Kafka client rejected its settings: {kafka_error_text(error)}", hint="check 'properties.*'"
            ) from None
        self._value = open_encoder(table.value.message_fields, table.value.options)
        self._key = open_encoder(table.key.message_fields, table.key.options) if table.key else None
        self._failed: list[str] = []
        self._next = itertools.count()
        self._partitions = 0
        self._transaction = None if sink_batch is None else Transaction(table, self.producer, sink_batch)
        self.must_send = True
        """False if the batch is committed already."""

    def __enter__(self) -> Writer:
        if self._transaction is not None:
            self.must_send = self._transaction.begin()
        if self.table.partitioner == "round-robin":
            topic = self.table.topics[0]
            self._partitions = len(
                self.producer.list_topics(topic, timeout=self.table.request_timeout_s).topics[topic].partitions
            )
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        left = self.producer.flush(_FLUSH_TIMEOUT_S if kind is None else 0)
        failed = kind is not None or left or self._failed
        if self._transaction is not None and self.must_send:
            self._transaction.abort() if failed else self._transaction.commit()
        if kind is None and failed:
            why = self._failed[0] if self._failed else f"{left} records were not acknowledged"
            raise SourceUnavailable(
                f"Kafka at {self.table.client['bootstrap.servers']} did not accept the rows: {why}",
                hint="check the broker and run the statement again",
            )

    def write(self, rows: pa.Table, kinds: Sequence[str]) -> int:
        """Send rows and return their number."""
        if self.table.is_upsert:
            keep = [i for i, kind in enumerate(kinds) if kind != BEFORE]
            rows, kinds = rows.take(pa.array(keep, pa.int64())), [kinds[i] for i in keep]
        values = self._value.encode(_message_columns(rows, self.table.value), self._value_kinds(kinds))
        keys = self._encode_keys(rows, len(kinds))
        metadata = {k: rows.column(c).to_pylist() for k, c in self.metadata_columns.items()}
        count = 0
        for number, (value, key, kind) in enumerate(zip(values, keys, kinds, strict=True)):
            deleted = self.table.is_upsert and kind == DELETE
            self._send_record(None if deleted else value, key, {k: v[number] for k, v in metadata.items()})
            count += 1
        return count

    def _value_kinds(self, kinds: Sequence[str]) -> Sequence[str]:
        return kinds if self._value.changes else [INSERT] * len(kinds)

    def _encode_keys(self, rows: pa.Table, count: int) -> Iterator[bytes | None]:
        if self._key is None:
            return iter([None] * count)
        assert self.table.key is not None
        return self._key.encode(_message_columns(rows, self.table.key), [INSERT] * count)

    def _send_record(self, value: bytes | None, key: bytes | None, metadata: dict[str, Any]) -> None:
        record: dict[str, Any] = {"value": value, "key": metadata.get("key", key)}
        if metadata.get("timestamp") is not None:
            record["timestamp"] = _epoch_ms(metadata["timestamp"])
        if metadata.get("headers") is not None:
            record["headers"] = list(metadata["headers"])
        if self._partitions:
            record["partition"] = next(self._next) % self._partitions
        elif self.table.partitioner == "fixed":
            record["partition"] = 0
        while True:
            try:
                self.producer.produce(self.table.topics[0], on_delivery=self._on_delivery, **record)
            except BufferError:
                self.producer.poll(0.1)  # the queue is full: wait until the broker acknowledges some records
                continue
            self.producer.poll(0)
            return

    def _on_delivery(self, error: Any, _message: Any) -> None:
        if error is not None:
            self._failed.append(error.str())


def _epoch_ms(instant: dt.datetime) -> int:
    """Epoch milliseconds. A TIMESTAMP without a time zone is interpreted as UTC."""
    zoned = instant if instant.tzinfo is not None else instant.replace(tzinfo=dt.UTC)
    return round(zoned.timestamp() * 1000)


def _message_columns(rows: pa.Table, part: RecordPart) -> pa.Table:
    """The columns of a key or value, with their names in the message."""
    return rows.select(list(part.names)).rename_columns([f.name for f in part.message_fields])
