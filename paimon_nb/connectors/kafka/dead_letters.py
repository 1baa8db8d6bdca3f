"""Bad records: found by bisection, skipped, and sent to the dead-letter topic if the table has one."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from paimon_nb.base.errors import BadMessage, SourceUnavailable
from paimon_nb.connectors.kafka.client import CLIENT_LOGGING, import_confluent_kafka

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from confluent_kafka import Message

    from paimon_nb.connectors.kafka.options import KafkaTable

    BadRecord = tuple[Message, BadMessage]
T = TypeVar("T")
_FLUSH_TIMEOUT_S = 120.0


def split_bad_records(
    messages: Sequence[T], read: Callable[[Sequence[T]], object]
) -> tuple[list[T], list[tuple[T, BadMessage]]]:
    """The messages that can be decoded, and the others with their errors. Bisects, so a few bad messages cost few more reads."""
    if not messages:
        return [], []
    try:
        read(messages)
    except BadMessage as error:
        if len(messages) == 1:
            return [], [(messages[0], error)]
        half = len(messages) // 2
        (good, bad), (more_good, more_bad) = (
            split_bad_records(messages[:half], read),
            split_bad_records(messages[half:], read),
        )
        return good + more_good, bad + more_bad
    return list(messages), []


def send_dead_letters(table: KafkaTable, topic: str, bad_records: Sequence[BadRecord]) -> None:
    """Send bad records to the dead-letter topic: key, value, headers, and headers with their origin and error.

    At least once: a task that runs again sends them again.

    Raises:
        SourceUnavailable: the broker did not acknowledge all of them, so the records are read again.
    """
    client = {k: v for k, v in table.client.items() if k not in ("group.id", "isolation.level")}
    producer = import_confluent_kafka().Producer({"enable.idempotence": "true", **client, **CLIENT_LOGGING})
    failed: list[str] = []

    def record_failed_delivery(error: object, _message: object) -> None:
        if error is not None:
            failed.append(str(error))

    for message, error in bad_records:
        origin = {
            "topic": message.topic(),
            "partition": message.partition(),
            "offset": message.offset(),
            "message": error.message,
        }
        headers = [*(message.headers() or ()), *((f"errors.{k}", str(v).encode()) for k, v in origin.items())]
        producer.produce(
            topic, value=message.value(), key=message.key(), headers=headers, on_delivery=record_failed_delivery
        )
        producer.poll(0)
    unsent = producer.flush(_FLUSH_TIMEOUT_S)
    if failed or unsent:
        raise SourceUnavailable(
            f"topic {topic!r} did not accept {len(failed) + unsent} dead letters: {(failed or ['no answer'])[0]}",
            hint="check 'scan.dead-letter-topic'",
        )
