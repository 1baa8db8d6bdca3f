"""A stream's progress under its `consumer-id`: stored in the table, so that expiry respects it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import ConsumerNotFound, ReadError
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.read.stream.offset import StreamOffset
_own: set[tuple[str, str]] = set()
"""Table and `consumer-id` of each stream of this process."""


def is_own_consumer(store: TableStore, consumer: str) -> bool:
    """Whether a stream of this process has, or had, this `consumer-id`."""
    return (store.root, consumer) in _own


def starts_at_consumer(store: TableStore) -> bool:
    """Whether a stream of the table starts at the progress of its `consumer-id`: other streams read the changes before."""
    consumer = store.options.get(opt.CONSUMER_ID)
    return (
        consumer is not None
        and not store.options.get(opt.CONSUMER_IGNORE_PROGRESS)
        and consumer in store.consumers.ids()
    )


class ConsumerRecord:
    """Does nothing for a stream without `consumer-id`."""

    def __init__(self, store: TableStore) -> None:
        self.store = store
        self.consumer: str | None = store.options.get(opt.CONSUMER_ID)
        if self.consumer is not None:
            _own.add((store.root, self.consumer))
        self._known = self._stored_snapshot()
        """The record that this stream found or wrote."""

    def record_processed_before(self, position: StreamOffset) -> None:
        """Record that everything before `position` was processed.

        Raises: ReadError: another stream moved the consumer.
        """
        # An undelivered full state is not progress: recorded as a snapshot id, a restart would skip it.
        if self.consumer is None or position.full or position.next in (0, self._known):
            return
        there = self._stored_snapshot()
        if there is not None and there != self._known:  # an expired or cleared consumer is recorded again
            raise ReadError(
                f"{self.store.name}: consumer {self.consumer!r} was moved to snapshot {there} by another stream",
                hint="use a different 'consumer-id' for each stream, or restart this one",
                consumer=self.consumer,
            )
        self.store.consumers.set(self.consumer, position.next)
        self._known = position.next

    def _stored_snapshot(self) -> int | None:
        try:
            return None if self.consumer is None else self.store.consumers.next_snapshot(self.consumer)
        except ConsumerNotFound:
            return None
