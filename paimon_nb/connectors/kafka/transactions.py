"""What a micro-batch sends as one transaction of Kafka's, its number with it: a batch that comes again is left out.

The number lies as an offset of a consumer group that nobody reads with, because only offsets become visible in the same
instant as a transaction's records. Runs in tasks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from paimon_nb.base.errors import SourceUnavailable
from paimon_nb.connectors.kafka.client import SILENT_CLIENT, kafka, reason
from paimon_nb.connectors.kafka.options import KafkaTable

_ANSWER_S = 60.0
SETTINGS = {"transaction.timeout.ms": "300000"}
"""Of the producer: what a writer that died left open is dropped after so long; until then readers of committed records wait."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Which rows these are."""

    owner: str
    """The transactional id: the sink's prefix and the query's id. Two writers of one id throw each other out."""
    number: int | None
    """Of the micro-batch in its query; None: the rows come only once."""


class Transaction:
    """One turn of a producer that was made with the transactional id."""

    def __init__(self, table: KafkaTable, producer: Any, turn: Turn) -> None:
        self.table, self.producer, self.turn = table, producer, turn

    def begin(self) -> bool:
        """Whether these rows are still to be sent. Ends what an earlier writer of this id left open."""
        with self._answers():
            self.producer.init_transactions(_ANSWER_S)
            if self.turn.number is not None and self._stored() > self.turn.number:
                return False
            self.producer.begin_transaction()
            return True

    def commit(self) -> None:
        with self._answers():
            if self.turn.number is not None:
                with self._group() as consumer:
                    member = consumer.consumer_group_metadata()
                    self.producer.send_offsets_to_transaction([self._mark(self.turn.number + 1)], member, _ANSWER_S)
            self.producer.commit_transaction(_ANSWER_S)

    def abort(self) -> None:
        """Best effort: the broker drops what was not committed."""
        try:
            self.producer.abort_transaction(_ANSWER_S)
        except kafka().KafkaException:
            return

    def _stored(self) -> int:
        """How many micro-batches of this query are in the topic."""
        with self._group() as consumer:
            (mark,) = consumer.committed([self._mark()], timeout=_ANSWER_S)
        return max(0, int(mark.offset))

    def _mark(self, *offset: int) -> Any:
        return kafka().TopicPartition(self.table.topics[0], 0, *offset)

    @contextmanager
    def _group(self) -> Iterator[Any]:
        client_settings = {
            **self.table.client,
            "group.id": f"paimon-nb-{self.turn.owner}",
            "isolation.level": "read_committed",
        }
        consumer = kafka().Consumer({**client_settings, **SILENT_CLIENT})
        try:
            yield consumer
        finally:
            consumer.close()

    @contextmanager
    def _answers(self) -> Iterator[None]:
        try:
            yield
        except kafka().KafkaException as error:
            raise SourceUnavailable(
                f"Kafka at {self.table.client['bootstrap.servers']} did not take the transaction {self.turn.owner!r}: {reason(error)}",
                hint="run the statement again; two jobs need two values of 'sink.transactional-id-prefix'",
            ) from None
