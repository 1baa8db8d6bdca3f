"""Rows as records of Kafka. A task is done when the broker has acknowledged its records: at least once, or as a transaction."""

from __future__ import annotations

import datetime as dt
import itertools
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, SourceUnavailable, UnsupportedOperation
from paimon_nb.connectors.api import KIND, Sink
from paimon_nb.connectors.formats import open_encoder
from paimon_nb.connectors.formats.api import BEFORE, DELETE, INSERT
from paimon_nb.connectors.kafka.client import SILENT_CLIENT, kafka, reason
from paimon_nb.connectors.kafka.options import WRITABLE, KafkaTable, Part
from paimon_nb.connectors.kafka.transactions import SETTINGS, Transaction, Turn
from paimon_nb.spark.errors import crossing_tasks
from paimon_nb.spark.streaming.sink import query_id
from paimon_nb.spark.types import from_spark_arrow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FLUSH_S = 120.0


class KafkaSink(Sink):
    """Raises BadOptionValue, UnsupportedOperation: what cannot be written."""

    def __init__(self, table: KafkaTable) -> None:
        self.table = table
        declared = table.declared
        if len(table.topics) != 1:
            raise BadOptionValue(f"table {declared.name!r} needs one topic to write to", hint="'topic' = 'orders'")
        self.extra = {k: c for c, k in declared.metadata.items() if c not in declared.virtual}
        for key, column in self.extra.items():
            if key not in WRITABLE:
                raise UnsupportedOperation(
                    f"metadata {key!r} of column {column!r} cannot be written", hint="declare it METADATA ... VIRTUAL"
                )
        self.takes_changes = table.upserts or open_encoder(table.value.inside, table.value.options).changes

    def store(self, batch: DataFrame, number: int | None = None) -> int:
        fields, with_kinds = self.table.declared.stored, KIND in batch.columns and self.takes_changes
        if KIND in batch.columns and not with_kinds:
            self._only_inserts(batch)
        # What tells changes keeps the order of a key's changes: one task writes them.
        rows = batch.select(*[f.name for f in fields], *([KIND] if with_kinds else []))
        turn = self._turn(batch, number)
        rows = rows.coalesce(1) if with_kinds or self.table.upserts or turn else rows
        zone = str(batch.sparkSession.conf.get("spark.sql.session.timeZone"))
        table, extra = self.table, self.extra

        @crossing_tasks
        def send(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            count = 0
            with Writer(table, extra, turn) as writer:
                for piece in batches if writer.requested else ():
                    arrow = pa.Table.from_batches([piece])
                    kinds = arrow.column(KIND).to_pylist() if with_kinds else [INSERT] * arrow.num_rows
                    plain = from_spark_arrow(arrow.select([f.name for f in fields]), fields, zone)
                    count += writer.write(plain, kinds)
            yield pa.record_batch([pa.array([count], pa.int64())], names=["sent"])

        return sum(row[0] for row in rows.mapInArrow(send, "sent bigint").collect())

    def _turn(self, batch: DataFrame, number: int | None) -> Turn | None:
        if self.table.transactions is None:
            return None
        owner = uuid.uuid4().hex if number is None else query_id(batch)
        return Turn(f"{self.table.transactions}-{owner}", number)

    def _only_inserts(self, batch: DataFrame) -> None:
        from pyspark.sql import functions as F

        other = batch.filter(F.col(KIND) != INSERT).select(KIND).first()
        if other is not None:
            raise UnsupportedOperation(
                f"format {self.table.value.options.format!r} has no form for {other[0]}",
                hint="use 'debezium-json', or connector 'upsert-kafka' with a PRIMARY KEY",
            )


class Writer:
    """A producer and how a row becomes a record. Leaving the block waits for the broker, and ends the transaction of a turn.

    Raises SourceUnavailable: the broker did not take everything.
    """

    def __init__(self, table: KafkaTable, extra: dict[str, str], turn: Turn | None) -> None:
        self.table, self.extra = table, extra
        lib = self.lib = kafka()
        client = {k: v for k, v in table.client.items() if k not in ("group.id", "isolation.level")}
        settings = {
            "enable.idempotence": "true",
            "linger.ms": "5",
            **(SETTINGS if turn else {}),
            **client,
            **SILENT_CLIENT,
        }
        settings |= {"transactional.id": turn.owner} if turn else {}
        try:
            self.producer = lib.Producer(settings)
        except (lib.KafkaException, ValueError, TypeError) as error:
            raise BadOptionValue(
                f"the Kafka client refuses its settings: {reason(error)}", hint="see 'properties.*'"
            ) from None
        self._value = open_encoder(table.value.inside, table.value.options)
        self._key = open_encoder(table.key.inside, table.key.options) if table.key else None
        self._failed: list[str] = []
        self._next = itertools.count()
        self._partitions = 0
        self._transaction = None if turn is None else Transaction(table, self.producer, turn)
        self.requested = True
        """The rows are still to be sent."""

    def __enter__(self) -> Writer:
        if self._transaction is not None:
            self.requested = self._transaction.begin()
        if self.table.partitioner == "round-robin":
            topic = self.table.topics[0]
            self._partitions = len(
                self.producer.list_topics(topic, timeout=self.table.patience_s).topics[topic].partitions
            )
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        left = self.producer.flush(_FLUSH_S if kind is None else 0)
        failed = kind is not None or left or self._failed
        if self._transaction is not None and self.requested:
            self._transaction.abort() if failed else self._transaction.commit()
        if kind is None and failed:
            why = self._failed[0] if self._failed else f"{left} records were not acknowledged"
            raise SourceUnavailable(
                f"Kafka at {self.table.client['bootstrap.servers']} did not take the rows: {why}",
                hint="check the broker and run the statement again",
            )

    def write(self, rows: pa.Table, kinds: Sequence[str]) -> int:
        """Send rows. Returns how many."""
        if self.table.upserts:
            keep = [i for i, kind in enumerate(kinds) if kind != BEFORE]
            rows, kinds = rows.take(pa.array(keep, pa.int64())), [kinds[i] for i in keep]
        values = self._value.encode(_as_inside(rows, self.table.value), self._value_kinds(kinds))
        keys = self._keys(rows, len(kinds))
        more = {k: rows.column(c).to_pylist() for k, c in self.extra.items()}
        count = 0
        for number, (value, key, kind) in enumerate(zip(values, keys, kinds, strict=True)):
            deleted = self.table.upserts and kind == DELETE
            self._send(None if deleted else value, key, {k: v[number] for k, v in more.items()})
            count += 1
        return count

    def _value_kinds(self, kinds: Sequence[str]) -> Sequence[str]:
        return kinds if self._value.changes else [INSERT] * len(kinds)

    def _keys(self, rows: pa.Table, count: int) -> Iterator[bytes | None]:
        if self._key is None:
            return iter([None] * count)
        assert self.table.key is not None
        return self._key.encode(_as_inside(rows, self.table.key), [INSERT] * count)

    def _send(self, value: bytes | None, key: bytes | None, more: dict[str, Any]) -> None:
        record: dict[str, Any] = {"value": value, "key": more.get("key", key)}
        if more.get("timestamp") is not None:
            record["timestamp"] = _millis(more["timestamp"])
        if more.get("headers") is not None:
            record["headers"] = list(more["headers"])
        if self._partitions:
            record["partition"] = next(self._next) % self._partitions
        elif self.table.partitioner == "fixed":
            record["partition"] = 0
        while True:
            try:
                self.producer.produce(self.table.topics[0], on_delivery=self._delivered, **record)
            except BufferError:
                self.producer.poll(0.1)  # the queue is full: wait until the broker took some
                continue
            self.producer.poll(0)
            return

    def _delivered(self, error: Any, _message: Any) -> None:
        if error is not None:
            self._failed.append(error.str())


def _millis(instant: dt.datetime) -> int:
    """Epoch milliseconds; a TIMESTAMP has no zone, and is read and written as UTC."""
    zoned = instant if instant.tzinfo is not None else instant.replace(tzinfo=dt.UTC)
    return round(zoned.timestamp() * 1000)


def _as_inside(rows: pa.Table, part: Part) -> pa.Table:
    """The columns of a key or value under the names that the message has."""
    return rows.select(list(part.names)).rename_columns([f.name for f in part.inside])
