"""A real Kafka broker on loopback: one node, KRaft, its jars from the package registry, kept in the user's cache folder.

`python tests/servers/kafka_server.py` resolves the jars ahead (`make brokers`).
"""

from __future__ import annotations

import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from requirements import JARS
from server_kit import NotHere, Restartable, free_port, maven_jars

from paimon_nb.base.errors import EnvironmentError_
from paimon_nb.spark.runtime.java import find_java

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

POM = Path(__file__).with_name("kafka.xml")


def jars() -> Path:
    """The folder with the broker's jars. Raises NotHere."""
    return maven_jars(POM, JARS["kafka"])


class KafkaServer(Restartable):
    """The broker's process. It may be stopped and started again on the same port and data."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.port, controller = free_port(), free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.log = root / "kafka.log"
        try:
            self._java = [str(find_java().binary), "-Xmx320m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                          "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", f"{jars()}/*"]  # fmt: skip
        except EnvironmentError_ as error:
            raise NotHere(str(error)) from None
        root.mkdir(parents=True, exist_ok=True)
        self.config = root / "server.properties"
        settings = {
            "process.roles": "broker,controller", "node.id": 1,
            "controller.quorum.bootstrap.servers": f"127.0.0.1:{controller}",
            "listeners": f"PLAINTEXT://{self.address},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"PLAINTEXT://{self.address},CONTROLLER://127.0.0.1:{controller}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs": root / "data", "num.partitions": 1, "group.initial.rebalance.delay.ms": 0,
            "offsets.topic.num.partitions": 1, "offsets.topic.replication.factor": 1,
            "transaction.state.log.num.partitions": 1, "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1, "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1, "auto.create.topics.enable": "false",
            "log.retention.ms": -1,
            # A server without work should rest: no record to tell that there is none. (A log.segment.delete.delay.ms of 0 would be a busy loop.)
            "metadata.max.idle.interval.ms": 0,
        }  # fmt: skip
        self.config.write_text("".join(f"{k}={v}\n" for k, v in settings.items()))
        cluster = uuid.uuid4().hex[:22]
        done = subprocess.run(
            [*self._java, "kafka.tools.StorageTool", "format", "--standalone", "-t", cluster, "-c", str(self.config)],
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        self.command = [*self._java, "kafka.Kafka", str(self.config)]

    def ready(self) -> None:
        self.admin().list_topics(timeout=2)

    # -- what tests do with it

    def admin(self) -> Any:
        from confluent_kafka.admin import AdminClient

        return AdminClient({"bootstrap.servers": self.address, "log_level": 0})

    def topic(self, name: str = "", partitions: int = 1, *, exact: bool = False) -> str:
        """A new topic, of a name like this one or of just this name. Returns its name."""
        from confluent_kafka.admin import NewTopic

        name = name if exact else f"{name or 't'}-{uuid.uuid4().hex[:6]}"
        admin = self.admin()  # held until it has answered
        for future in admin.create_topics([NewTopic(name, partitions, 1)]).values():
            future.result(90)
        return name

    def send(self, topic: str, values: Iterable[Any], **more: Any) -> None:
        """Records; a value is text, bytes or None, or a dict of what `Producer.produce` takes."""
        from confluent_kafka import Producer

        # One request at a time: a new partition's leader may refuse the first one, and the second would be before it.
        producer = Producer({"bootstrap.servers": self.address, "log_level": 0, "linger.ms": 1, "max.in.flight": 1})
        for value in values:
            given = value if isinstance(value, dict) else {"value": value}
            while True:
                try:
                    producer.produce(topic, **{"partition": 0, **more, **given})
                    break
                except BufferError:
                    producer.poll(0.1)
        assert producer.flush(60) == 0

    def take(
        self, topic: str, count: int, partitions: Sequence[int] = (0,), idle_s: float = 30
    ) -> list[tuple[bytes | None, bytes | None]]:
        """The first committed records of a topic as (key, value): `count` of them, or fewer when nothing comes for so long."""
        from confluent_kafka import Consumer, TopicPartition

        consumer = Consumer({"bootstrap.servers": self.address, "group.id": "take", "enable.auto.commit": False})
        consumer.assign([TopicPartition(topic, p, 0) for p in partitions])
        taken: list[tuple[bytes | None, bytes | None]] = []
        deadline = time.monotonic() + idle_s
        while len(taken) < count and time.monotonic() < deadline:
            found = [(m.key(), m.value()) for m in consumer.consume(count, 0.5) if m.error() is None]
            taken += found
            deadline = time.monotonic() + idle_s if found else deadline
        consumer.close()
        return taken

    def ends(self, topic: str, partitions: Sequence[int] = (0,)) -> list[int]:
        """The offset behind the last record of each partition."""
        from confluent_kafka import Consumer, TopicPartition

        consumer = Consumer({"bootstrap.servers": self.address, "group.id": "ends"})
        found = [consumer.get_watermark_offsets(TopicPartition(topic, p), timeout=10)[1] for p in partitions]
        consumer.close()
        return found


if __name__ == "__main__":
    try:
        print(jars())
    except NotHere as error:
        sys.exit(str(error))
