"""Client of a Kafka broker, with confluent-kafka: partitions, offsets and the records between two offsets.

Runs in the driver, in Spark's Python workers and in tasks.
"""

from __future__ import annotations

import logging
import re
import time
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from paimon_nb.base.errors import BadOptionValue, EnvironmentError_, SourceLost, SourceUnavailable, TableNotFound
from paimon_nb.connectors.kafka.options import KafkaTable, OffsetMode, OffsetSpec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from confluent_kafka import Consumer, Message

Offsets = dict[str, dict[str, int]]
"""Topic -> partition (as text, for JSON) -> offset of the next record."""

RECONNECT_TIMEOUT_S = 300.0
"""How long a task waits for an unreachable broker."""
_MAX_POLL_RECORDS = 5_000
_LOG = logging.getLogger("paimon_nb.kafka")
_LOG.addHandler(logging.NullHandler())
_LOG.propagate = False
CLIENT_LOGGING: Mapping[str, Any] = {"log_level": "0", "logger": _LOG}
"""Settings of every client: log messages of librdkafka are not printed in notebook cells."""


def import_confluent_kafka() -> Any:
    """The module confluent_kafka. Raises EnvironmentError_: it is not installed."""
    try:
        import confluent_kafka
    except ImportError:
        raise EnvironmentError_(
            "connector 'kafka' needs the package confluent-kafka", hint="pip install 'paimon-nb[kafka]'"
        ) from None
    return confluent_kafka


class Broker:
    """A consumer that does not join its group. Call `close`.

    After SourceUnavailable create a new one: librdkafka caches the epoch of a partition leader, and a restarted broker
    rejects it.
    """

    def __init__(self, table: KafkaTable) -> None:
        self.table = table
        lib = self.lib = import_confluent_kafka()
        settings = {
            "group.id": f"paimon-nb-{table.definition.name}",
            "isolation.level": "read_uncommitted",  # default of the Java consumer
            "socket.timeout.ms": "10000",
            "reconnect.backoff.max.ms": "1000",
            **table.client,
            "enable.auto.commit": "false",
            "enable.partition.eof": "true",
            "auto.offset.reset": "error",
        }
        try:
            self.consumer: Consumer = lib.Consumer({**settings, **CLIENT_LOGGING})
        except (lib.KafkaException, ValueError, TypeError) as error:
            raise BadOptionValue(
                f"the Kafka client rejected its settings: {kafka_error_text(error)}", hint="check 'properties.*'"
            ) from None

    def __enter__(self) -> Broker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.consumer.close()

    def partitions(self) -> list[tuple[str, int]]:
        """All partitions of the table's topics. Raises SourceUnavailable; TableNotFound: no such topic."""
        with self._translate_errors():
            if self.table.pattern is not None:
                known = self.consumer.list_topics(timeout=self.table.request_timeout_s).topics
                topic_pattern = re.compile(self.table.pattern)
                topics = {n: t for n, t in known.items() if topic_pattern.fullmatch(n) and not n.startswith("__")}
            else:
                topics = {
                    n: self.consumer.list_topics(n, timeout=self.table.request_timeout_s).topics[n]
                    for n in self.table.topics
                }
        for name, topic in topics.items():
            if topic.error is not None:
                raise TableNotFound(f"Kafka topic {name!r}: {topic.error.str()}", hint="create it, or check 'topic'")
        return sorted((name, p) for name, t in topics.items() for p in t.partitions)

    def bounds(self, partitions: list[tuple[str, int]]) -> tuple[Offsets, Offsets]:
        """First offsets and end offsets that are visible to a reader. Raises SourceUnavailable."""
        low = self._list_offsets(partitions, self.lib.admin.OffsetSpec.earliest())
        return low, self._list_offsets(partitions, self.lib.admin.OffsetSpec.latest())

    def resolve_offsets(self, start: OffsetSpec, partitions: list[tuple[str, int]]) -> Offsets:
        """Resolve a start or end option to offsets. Raises SourceUnavailable. SourceLost: the group has no offsets."""
        spec = self.lib.admin.OffsetSpec
        if start.mode is OffsetMode.EARLIEST:
            return self._list_offsets(partitions, spec.earliest())
        if start.mode in (OffsetMode.LATEST, OffsetMode.UNBOUNDED):
            return self._list_offsets(partitions, spec.latest())
        if start.mode is OffsetMode.TIMESTAMP:
            found = self._list_offsets(partitions, spec.for_timestamp(start.timestamp_ms))
            missing = [(t, p) for t, p in partitions if found[t][str(p)] < 0]
            latest = self._list_offsets(missing, spec.latest()) if missing else {}
            return {
                t: {p: latest[t][p] if offset < 0 else offset for p, offset in of.items()} for t, of in found.items()
            }
        if start.mode is OffsetMode.SPECIFIC:
            explicit = dict(start.offsets)
            rest = self._committed_offsets(
                OffsetSpec(OffsetMode.GROUP, is_explicit=False), [x for x in partitions if x[1] not in explicit]
            )
            named = _offsets_by_topic((t, p, explicit[p]) for t, p in partitions if p in explicit)
            return {t: {**rest.get(t, {}), **named.get(t, {})} for t, _ in partitions}
        return self._committed_offsets(start, partitions)

    def start_offsets(self) -> Offsets:
        """Start offsets of a new reader; deleted records are skipped. Raises as `resolve`."""
        partitions = self.partitions()
        low, _ = self.bounds(partitions)
        found = self.resolve_offsets(self.table.start, partitions)
        return {t: {p: max(o, low[t][p]) for p, o in of.items()} for t, of in found.items()}

    def commit(self, offsets: Offsets) -> None:
        """Commit offsets to the consumer group of the table. Best effort: a restart uses the checkpoint."""
        topic_partitions = [self.lib.TopicPartition(t, int(p), o) for t, of in offsets.items() for p, o in of.items()]
        try:
            self.consumer.commit(offsets=topic_partitions, asynchronous=False)
        except self.lib.KafkaException:
            return

    def records(self, topic: str, partition: int, first: int, end: int) -> Iterator[list[Message]]:
        """The records with offsets in [first, end), in several lists. Lists are empty while the broker is unreachable.

        Raises:
            SourceLost: the records were deleted.
            SourceUnavailable: the broker stayed unreachable.
        """
        lib = self.lib
        self.consumer.assign([lib.TopicPartition(topic, partition, first)])
        last_message = time.monotonic()
        at = first
        while at < end:
            received: list[Message] = []
            done = False
            # At most the number of remaining records: the client waits until it has all requested records.
            for message in self.consumer.consume(min(_MAX_POLL_RECORDS, end - at), timeout=0.5):
                error = message.error()
                if error is None:
                    if record_offset(message) >= end:
                        done = True
                        break
                    received.append(message)
                elif error.code() == lib.KafkaError._PARTITION_EOF:
                    done = done or record_offset(message) >= end
                elif error.code() in (lib.KafkaError.OFFSET_OUT_OF_RANGE, lib.KafkaError._AUTO_OFFSET_RESET):
                    raise records_lost(topic, partition, at)
                elif error.fatal() or error.code() in _fatal_error_codes(lib):
                    raise SourceUnavailable(f"Kafka: {error.str()}", hint="check 'properties.*'")
            yield received
            if received:
                at = record_offset(received[-1]) + 1
                last_message = time.monotonic()
            elif not done and time.monotonic() - last_message > RECONNECT_TIMEOUT_S:
                raise self._unavailable_error(
                    f"no records of {topic}-{partition} from offset {at}, expected up to {end}"
                )
            if done:
                return

    # -- requests

    def _list_offsets(self, partitions: list[tuple[str, int]], spec: Any) -> Offsets:
        if not partitions:
            return {}
        level = self.lib.IsolationLevel
        committed = self.table.client.get("isolation.level") == "read_committed"
        with self._translate_errors():
            requests = self._admin_client.list_offsets(
                {self.lib.TopicPartition(t, p): spec for t, p in partitions},
                isolation_level=level.READ_COMMITTED if committed else level.READ_UNCOMMITTED,
                request_timeout=self.table.request_timeout_s,
            )
            return _offsets_by_topic(
                (part.topic, part.partition, got.result(self.table.request_timeout_s).offset)
                for part, got in requests.items()
            )

    @cached_property
    def _admin_client(self) -> Any:
        from confluent_kafka.admin import AdminClient

        client = {k: v for k, v in self.table.client.items() if k not in ("group.id", "isolation.level")}
        return AdminClient({**client, **CLIENT_LOGGING})

    def _committed_offsets(self, spec: OffsetSpec, partitions: list[tuple[str, int]]) -> Offsets:
        """Committed offsets. Partitions without one use `auto.offset.reset`, or by default the earliest offset, unless the
        table sets 'group-offsets' explicitly."""
        named = "group.id" in self.table.client
        committed: Offsets = {}
        if named and partitions:
            with self._translate_errors():
                requests = [self.lib.TopicPartition(t, p) for t, p in partitions]
                found = self.consumer.committed(requests, timeout=self.table.request_timeout_s)
            committed = _offsets_by_topic((f.topic, f.partition, f.offset) for f in found if f.offset >= 0)
        missing = [(t, p) for t, p in partitions if str(p) not in committed.get(t, {})]
        reset = self.table.offset_reset or ("none" if spec.is_explicit else "earliest")
        if missing and reset == "none":
            topic, partition = missing[0]
            raise SourceLost(
                f"group {self.table.client.get('group.id')!r} has no offset for {topic}-{partition}",
                hint="'properties.auto.offset.reset' = 'earliest' begins there, or set 'scan.startup.mode'",
            )
        rest = self.resolve_offsets(
            OffsetSpec(OffsetMode.EARLIEST if reset == "earliest" else OffsetMode.LATEST), missing
        )
        return {t: {**rest.get(t, {}), **committed.get(t, {})} for t, _ in partitions}

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except self.lib.KafkaException as error:
            raise self._unavailable_error(kafka_error_text(error)) from None
        except TimeoutError:
            raise self._unavailable_error("timeout") from None

    def _unavailable_error(self, why: str) -> SourceUnavailable:
        servers = self.table.client["bootstrap.servers"]
        return SourceUnavailable(
            f"Kafka at {servers} does not answer: {why}", hint="check 'properties.bootstrap.servers'"
        )


def record_offset(message: Message) -> int:
    """The offset of a record that a consumer returned. The client's types allow None, for records not yet produced."""
    return cast("int", message.offset())


def check_offsets_exist(known: Offsets, low: Offsets, high: Offsets) -> None:
    """Check that a reader at offsets `known` can continue. Raises SourceLost: the next records were deleted."""
    for topic, of in known.items():
        for partition, offset in of.items():
            if partition not in low.get(topic, {}) or offset < low[topic][partition]:
                raise records_lost(topic, int(partition), offset)
            if offset > high[topic][partition]:
                raise SourceLost(
                    f"Kafka's {topic}-{partition} ends at offset {high[topic][partition]}, but offset {offset} was reached before: the topic "
                    "was created again, or its broker lost records",
                    hint=_HOW_TO_RESTART,
                )


def records_lost(topic: str, partition: int, offset: int) -> SourceLost:
    """The error for records that were deleted."""
    return SourceLost(
        f"Kafka deleted records of {topic}-{partition} from offset {offset} before they were read",
        hint=_HOW_TO_RESTART,
    )


_HOW_TO_RESTART = (
    "start a job with a new checkpoint, and a sync after dropping its target tables; 'scan.startup.mode' = 'earliest-offset' then reads "
    "the records that are there"
)


def _fatal_error_codes(lib: Any) -> tuple[int, ...]:
    error = lib.KafkaError
    return (error._AUTHENTICATION, error.TOPIC_AUTHORIZATION_FAILED, error.SASL_AUTHENTICATION_FAILED)


def _offsets_by_topic(topic_partitions: Any) -> Offsets:
    out: Offsets = {}
    for topic, partition, offset in topic_partitions:
        out.setdefault(topic, {})[str(partition)] = offset
    return out


def kafka_error_text(error: BaseException) -> str:
    """Message of a KafkaException or another error of the client."""
    first = error.args[0] if error.args else error
    text: Mapping[str, Any] | str = first.str() if hasattr(first, "str") else str(first)
    return str(text)
