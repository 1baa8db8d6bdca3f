"""A Kafka broker in this process: the one that librdkafka has for its own tests. It keeps records in memory and needs no JVM.

It has no transactions and no DeleteTopics, and creates topics by itself.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class MockBroker:
    """Ends with the object."""

    def __init__(self) -> None:
        from confluent_kafka import Producer

        self._owner = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "mock", "log_level": 0})
        (only,) = self._owner.list_topics(timeout=30).brokers.values()
        self.address = f"{only.host}:{only.port}"
        self._producer = Producer({"bootstrap.servers": self.address, "log_level": 0})

    def send(self, topic: str, messages: Sequence[tuple[str | bytes | None, str | bytes | None]]) -> None:
        """Messages as key and value; those of a key are in one of two partitions."""
        for key, value in messages:
            text = b"" if key is None else key.encode() if isinstance(key, str) else key
            self._producer.produce(topic, key=key, value=value, partition=zlib.crc32(text) % 2)
        assert self._producer.flush(30) == 0
