"""Records that are no rows of a table: found one by one among many, left out, and sent to a topic of their own if it has one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from paimon_nb.base.errors import BadMessage, SourceUnavailable
from paimon_nb.connectors.kafka.client import SILENT_CLIENT, kafka
from paimon_nb.connectors.kafka.options import KafkaTable

if TYPE_CHECKING:
    from confluent_kafka import Message

    Refused = tuple[Message, BadMessage]
T = TypeVar("T")
_FLUSH_S = 120.0


def split_bad_records(
    messages: Sequence[T], read: Callable[[Sequence[T]], object]
) -> tuple[list[T], list[tuple[T, BadMessage]]]:
    """Those that can be read together, and the others with what is wrong. Few bad ones cost few readings more."""
    if not messages:
        return [], []
    try:
        read(messages)
    except BadMessage as error:
        if len(messages) == 1:
            return [], [(messages[0], error)]
        half = len(messages) // 2
        (good, bad), (more, worse) = split_bad_records(messages[:half], read), split_bad_records(messages[half:], read)
        return good + more, bad + worse
    return list(messages), []


def send_dead(table: KafkaTable, topic: str, refused: Sequence[Refused]) -> None:
    """Key, value and headers as they were, and where each came from. At least once: a task that is run again sends again.

    Raises: SourceUnavailable: the broker did not take them all, so the records are read again.
    """
    client = {k: v for k, v in table.client.items() if k not in ("group.id", "isolation.level")}
    producer = kafka().Producer({"enable.idempotence": "true", **client, **SILENT_CLIENT})
    failed: list[str] = []

    def delivered(error: object, _message: object) -> None:
        if error is not None:
            failed.append(str(error))

    for message, error in refused:
        about = {
            "topic": message.topic(),
            "partition": message.partition(),
            "offset": message.offset(),
            "message": error.message,
        }
        headers = [*(message.headers() or ()), *((f"errors.{k}", str(v).encode()) for k, v in about.items())]
        producer.produce(topic, value=message.value(), key=message.key(), headers=headers, on_delivery=delivered)
        producer.poll(0)
    left = producer.flush(_FLUSH_S)
    if failed or left:
        raise SourceUnavailable(
            f"topic {topic!r} did not take {len(failed) + left} dead letters: {(failed or ['no answer'])[0]}",
            hint="check 'scan.dead-letter-topic'",
        )
