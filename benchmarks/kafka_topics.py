"""The broker that the tests start, and records for it: a key, a value, a text of 20 letters and when each was sent."""

from __future__ import annotations

import json
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "servers"))

COLUMNS = "k BIGINT, v BIGINT, s STRING, sent BIGINT"
PARTITIONS = 2


@contextmanager
def broker(folder: Path) -> Iterator[Any]:
    """Runs inside the block. Raises server_kit.NotHere: its jars cannot be had."""
    from kafka_server import KafkaServer

    server = KafkaServer(folder).start()
    try:
        yield server
    finally:
        server.stop()


def record(number: int, keys: int) -> tuple[str, bytes]:
    """A record's key and value: whoever has the last of each key has `keys` rows."""
    k = number * 7919 % keys
    value = {"k": k, "v": number, "s": f"{number:020d}", "sent": time.time_ns() // 1_000_000}
    return str(k), json.dumps(value).encode()


def fill(server: Any, topic: str, count: int, keys: int, first: int = 0) -> None:
    """Send records as fast as the broker takes them; equal keys go to one partition."""
    from confluent_kafka import Producer

    producer = Producer(
        {"bootstrap.servers": server.address, "linger.ms": 20, "enable.idempotence": True, "log_level": 0}
    )
    for number in range(first, first + count):
        _produce(producer, topic, number, keys)
    assert producer.flush(120) == 0


class Flow:
    """Sends so many records a second in a thread, from `start` to `stop`; `sent` counts them."""

    def __init__(self, server: Any, topic: str, a_second: int, keys: int) -> None:
        self._given = (server, topic, a_second, keys)
        self.sent = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> Flow:
        self._thread.start()
        return self

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        from confluent_kafka import Producer

        server, topic, a_second, keys = self._given
        producer = Producer(
            {"bootstrap.servers": server.address, "linger.ms": 1, "enable.idempotence": True, "log_level": 0}
        )
        began = time.monotonic()
        while not self._over.wait(0.01):
            while self.sent < (time.monotonic() - began) * a_second:
                _produce(producer, topic, self.sent, keys)
                self.sent += 1
            producer.poll(0)
        assert producer.flush(60) == 0


def _produce(producer: Any, topic: str, number: int, keys: int) -> None:
    key, value = record(number, keys)
    while True:
        try:
            producer.produce(topic, value, key, partition=int(key) % PARTITIONS)
            return
        except BufferError:
            producer.poll(0.1)
