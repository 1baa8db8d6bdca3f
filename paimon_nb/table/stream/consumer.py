"""A stream's record of how far it came, under its `consumer-id`: kept in the table, so that expiry respects it."""

from __future__ import annotations

from paimon_nb.base.errors import ConsumerNotFound, ReadError
from paimon_nb.options import table as opt
from paimon_nb.table.store import TableStore
from paimon_nb.table.stream.offset import StreamOffset


class ConsumerRecord:
    """Does nothing for a stream without `consumer-id`."""

    def __init__(self, store: TableStore) -> None:
        self.store = store
        self.consumer: str | None = store.options.get(opt.CONSUMER_ID)
        self._known = self._there()
        """The record as this stream found or left it."""

    def keep(self, position: StreamOffset) -> None:
        """Record that everything before `position` was dealt with.

        Raises: ReadError: somebody else moved the consumer meanwhile.
        """
        # A state not yet delivered is no progress: recorded as a snapshot id, a restart would leave it out.
        if self.consumer is None or position.full or position.next in (0, self._known):
            return
        there = self._there()
        if there is not None and there != self._known:  # one that expired or was cleared is recorded anew
            raise ReadError(
                f"{self.store.name}: consumer {self.consumer!r} was moved to snapshot {there} by somebody else",
                hint="give each stream a 'consumer-id' of its own, or start this one again",
                consumer=self.consumer,
            )
        self.store.consumers.set(self.consumer, position.next)
        self._known = position.next

    def _there(self) -> int | None:
        try:
            return None if self.consumer is None else self.store.consumers.next_snapshot(self.consumer)
        except ConsumerNotFound:
            return None
