"""Exactly-once writes: the records of a micro-batch and its id are one Kafka transaction. A repeated batch is skipped.

The batch id is stored as an offset of a consumer group of its own, because offsets can be part of a transaction. Runs in
tasks.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import SourceUnavailable
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.connectors.kafka.client import CLIENT_LOGGING, import_confluent_kafka, kafka_error_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.connectors.kafka.options import KafkaTable

_TIMEOUT_S = 60.0
PRODUCER_SETTINGS = {"transaction.timeout.ms": "300000"}
"""Settings of the producer. After the timeout the broker aborts the transaction of a crashed writer; until then
`read_committed` readers wait."""


@dataclass(frozen=True, slots=True)
class SinkBatch:
    """Identifies the rows of a batch."""

    transactional_id: str
    """The prefix of the sink and the id of the query. Two writers with the same id fence each other."""
    batch_id: int | None
    """Id of the micro-batch in its query; None in batch mode."""


class Transaction:
    """A transaction of a producer for one batch."""

    def __init__(self, table: KafkaTable, producer: Any, sink_batch: SinkBatch) -> None:
        self.table, self.producer, self.sink_batch = table, producer, sink_batch

    def begin(self) -> bool:
        """Begin the transaction and abort an open one of an earlier writer. Returns False if the batch is committed already."""
        with self._translate_errors():
            self.producer.init_transactions(_TIMEOUT_S)
            if self.sink_batch.batch_id is not None and self._batches_written_to_topic() > self.sink_batch.batch_id:
                return False
            self.producer.begin_transaction()
            return True

    def commit(self) -> None:
        with self._translate_errors():
            if self.sink_batch.batch_id is not None:
                with self._group_consumer() as consumer:
                    member = consumer.consumer_group_metadata()
                    self.producer.send_offsets_to_transaction(
                        [self._batch_offset(self.sink_batch.batch_id + 1)], member, _TIMEOUT_S
                    )
            self.producer.commit_transaction(_TIMEOUT_S)

    def abort(self) -> None:
        """Abort. Best effort: the broker discards records that were not committed."""
        try:
            self.producer.abort_transaction(_TIMEOUT_S)
        except import_confluent_kafka().KafkaException:
            return

    def _batches_written_to_topic(self) -> int:
        """Number of micro-batches of this query that are in the topic."""
        with self._group_consumer() as consumer:
            (offset,) = consumer.committed([self._batch_offset()], timeout=_TIMEOUT_S)
        return max(0, int(offset.offset))

    def _batch_offset(self, *offset: int) -> Any:
        return import_confluent_kafka().TopicPartition(self.table.topics[0], 0, *offset)

    @contextmanager
    def _group_consumer(self) -> Iterator[Any]:
        client_settings = {
            **self.table.client,
            "group.id": f"paimon-nb-{self.sink_batch.transactional_id}",
            "isolation.level": "read_committed",
        }
        consumer = import_confluent_kafka().Consumer({**client_settings, **CLIENT_LOGGING})
        try:
            yield consumer
        finally:
            consumer.close()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except import_confluent_kafka().KafkaException as error:
            raise SourceUnavailable(
                f"Kafka at {self.table.client['bootstrap.servers']} rejected the transaction {self.sink_batch.transactional_id!r}: {kafka_error_text(error)}",
                hint="run the statement again; each job needs its own 'sink.transactional-id-prefix'",
            ) from None
