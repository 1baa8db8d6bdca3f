"""The broker, asked through confluent-kafka: which partitions there are, which offsets a place means, and the records
between two offsets. Runs in the driver, in Spark's Python workers and in tasks."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from paimon_nb.base.errors import BadOptionValue, EnvironmentError_, SourceLost, SourceUnavailable, TableNotFound
from paimon_nb.connectors.kafka.options import At, KafkaTable, OffsetSpec

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

Offsets = dict[str, dict[str, int]]
"""Topic -> partition (as text, for JSON) -> offset of the next record."""

AWAY_S = 300.0
"""How long a task waits for a broker that went away."""
_TAKE = 5_000
_LOG = logging.getLogger("paimon_nb.kafka")
_LOG.addHandler(logging.NullHandler())
_LOG.propagate = False
SILENT_CLIENT: Mapping[str, Any] = {"log_level": "0", "logger": _LOG}
"""For every client: librdkafka's own words go to no cell."""


def kafka() -> Any:
    """The library. Raises EnvironmentError_: it is not installed."""
    try:
        import confluent_kafka
    except ImportError:
        raise EnvironmentError_(
            "connector 'kafka' needs the package confluent-kafka", hint="pip install 'paimon-nb[kafka]'"
        ) from None
    return confluent_kafka


class Broker:
    """A consumer that belongs to no running group. Close it; make a new one after SourceUnavailable: librdkafka keeps the epoch
    of a partition's leader, and a broker that came back refuses it."""

    def __init__(self, table: KafkaTable) -> None:
        self.table = table
        lib = self.lib = kafka()
        settings = {
            "group.id": f"paimon-nb-{table.declared.name}",
            "isolation.level": "read_uncommitted",  # as Java's consumer
            "socket.timeout.ms": "10000",
            "reconnect.backoff.max.ms": "1000",
            **table.client,
            "enable.auto.commit": "false",
            "enable.partition.eof": "true",
            "auto.offset.reset": "error",
        }
        try:
            self.consumer: Consumer = lib.Consumer({**settings, **SILENT_CLIENT})
        except (lib.KafkaException, ValueError, TypeError) as error:
            raise BadOptionValue(
                f"the Kafka client refuses its settings: {reason(error)}", hint="see 'properties.*'"
            ) from None

    def __enter__(self) -> Broker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.consumer.close()

    def partitions(self) -> list[tuple[str, int]]:
        """All partitions of the table's topics. Raises SourceUnavailable; TableNotFound: no such topic."""
        with self._answers():
            if self.table.pattern is not None:
                known = self.consumer.list_topics(timeout=self.table.patience_s).topics
                topic_pattern = re.compile(self.table.pattern)
                topics = {n: t for n, t in known.items() if topic_pattern.fullmatch(n) and not n.startswith("__")}
            else:
                topics = {
                    n: self.consumer.list_topics(n, timeout=self.table.patience_s).topics[n] for n in self.table.topics
                }
        for name, topic in topics.items():
            if topic.error is not None:
                raise TableNotFound(f"Kafka topic {name!r}: {topic.error.str()}", hint="create it, or check 'topic'")
        return sorted((name, p) for name, t in topics.items() for p in t.partitions)

    def bounds(self, partitions: list[tuple[str, int]]) -> tuple[Offsets, Offsets]:
        """First and next offsets that a reader can see. Raises SourceUnavailable."""
        low = self._listed(partitions, self.lib.admin.OffsetSpec.earliest())
        return low, self._listed(partitions, self.lib.admin.OffsetSpec.latest())

    def resolve(self, start: OffsetSpec, partitions: list[tuple[str, int]]) -> Offsets:
        """The offsets that a place means now. Raises SourceUnavailable, SourceLost: the group has none."""
        spec = self.lib.admin.OffsetSpec
        if start.at is At.EARLIEST:
            return self._listed(partitions, spec.earliest())
        if start.at in (At.LATEST, At.NEVER):
            return self._listed(partitions, spec.latest())
        if start.at is At.TIMESTAMP:
            found = self._listed(partitions, spec.for_timestamp(start.timestamp_ms))
            missing = [(t, p) for t, p in partitions if found[t][str(p)] < 0]
            latest = self._listed(missing, spec.latest()) if missing else {}
            return {
                t: {p: latest[t][p] if offset < 0 else offset for p, offset in of.items()} for t, of in found.items()
            }
        if start.at is At.SPECIFIC:
            explicit = dict(start.offsets)
            rest = self._group(OffsetSpec(At.GROUP, is_explicit=False), [x for x in partitions if x[1] not in explicit])
            named = _nested((t, p, explicit[p]) for t, p in partitions if p in explicit)
            return {t: {**rest.get(t, {}), **named.get(t, {})} for t, _ in partitions}
        return self._group(start, partitions)

    def beginning(self) -> Offsets:
        """Where the table says that a new reader begins, among what the broker still has. Raises as `resolve`."""
        partitions = self.partitions()
        low, _ = self.bounds(partitions)
        found = self.resolve(self.table.start, partitions)
        return {t: {p: max(o, low[t][p]) for p, o in of.items()} for t, of in found.items()}

    def commit(self, offsets: Offsets) -> None:
        """Note the progress in the table's group. Best effort: the checkpoint is what counts."""
        topic_partitions = [self.lib.TopicPartition(t, int(p), o) for t, of in offsets.items() for p, o in of.items()]
        try:
            self.consumer.commit(offsets=topic_partitions, asynchronous=False)
        except self.lib.KafkaException:
            return

    def records(self, topic: str, partition: int, first: int, end: int) -> Iterator[list[Message]]:
        """The records with offsets in [first, end), some at a time, none while the broker is away and waited for.

        Raises: SourceLost: they were dropped. SourceUnavailable: the broker did not come back.
        """
        lib = self.lib
        self.consumer.assign([lib.TopicPartition(topic, partition, first)])
        last_message = time.monotonic()
        at = first
        while at < end:
            taken: list[Message] = []
            done = False
            # Not more than there can be: the client waits for all that it is asked for.
            for message in self.consumer.consume(min(_TAKE, end - at), timeout=0.5):
                error = message.error()
                if error is None:
                    if record_offset(message) >= end:
                        done = True
                        break
                    taken.append(message)
                elif error.code() == lib.KafkaError._PARTITION_EOF:
                    done = done or record_offset(message) >= end
                elif error.code() in (lib.KafkaError.OFFSET_OUT_OF_RANGE, lib.KafkaError._AUTO_OFFSET_RESET):
                    raise lost(topic, partition, at)
                elif error.fatal() or error.code() in _refusals(lib):
                    raise SourceUnavailable(f"Kafka: {error.str()}", hint="check 'properties.*'")
            yield taken
            if taken:
                at = record_offset(taken[-1]) + 1
                last_message = time.monotonic()
            elif not done and time.monotonic() - last_message > AWAY_S:
                raise self._away(f"nothing came from {topic}-{partition} after offset {at}, {end} was promised")
            if done:
                return

    # -- one question

    def _listed(self, partitions: list[tuple[str, int]], spec: Any) -> Offsets:
        if not partitions:
            return {}
        level = self.lib.IsolationLevel
        committed = self.table.client.get("isolation.level") == "read_committed"
        with self._answers():
            requests = self._admin.list_offsets(
                {self.lib.TopicPartition(t, p): spec for t, p in partitions},
                isolation_level=level.READ_COMMITTED if committed else level.READ_UNCOMMITTED,
                request_timeout=self.table.patience_s,
            )
            return _nested(
                (part.topic, part.partition, got.result(self.table.patience_s).offset) for part, got in requests.items()
            )

    @cached_property
    def _admin(self) -> Any:
        from confluent_kafka.admin import AdminClient

        keep = {k: v for k, v in self.table.client.items() if k not in ("group.id", "isolation.level")}
        return AdminClient({**keep, **SILENT_CLIENT})

    def _group(self, spec: OffsetSpec, partitions: list[tuple[str, int]]) -> Offsets:
        """Committed offsets; without one what `auto.offset.reset` says; without that the beginning, unless the table says
        'group-offsets' in so many words."""
        named = "group.id" in self.table.client
        committed: Offsets = {}
        if named and partitions:
            with self._answers():
                requests = [self.lib.TopicPartition(t, p) for t, p in partitions]
                found = self.consumer.committed(requests, timeout=self.table.patience_s)
            committed = _nested((f.topic, f.partition, f.offset) for f in found if f.offset >= 0)
        missing = [(t, p) for t, p in partitions if str(p) not in committed.get(t, {})]
        reset = self.table.reset or ("none" if spec.is_explicit else "earliest")
        if missing and reset == "none":
            topic, partition = missing[0]
            raise SourceLost(
                f"group {self.table.client.get('group.id')!r} has no offset for {topic}-{partition}",
                hint="'properties.auto.offset.reset' = 'earliest' begins there, or set 'scan.startup.mode'",
            )
        rest = self.resolve(OffsetSpec(At.EARLIEST if reset == "earliest" else At.LATEST), missing)
        return {t: {**rest.get(t, {}), **committed.get(t, {})} for t, _ in partitions}

    @contextmanager
    def _answers(self) -> Iterator[None]:
        try:
            yield
        except self.lib.KafkaException as error:
            raise self._away(reason(error)) from None
        except TimeoutError:
            raise self._away("no answer in time") from None

    def _away(self, why: str) -> SourceUnavailable:
        servers = self.table.client["bootstrap.servers"]
        return SourceUnavailable(
            f"Kafka at {servers} does not answer: {why}", hint="check 'properties.bootstrap.servers'"
        )


def record_offset(message: Message) -> int:
    """The offset of a record that a consumer returned. The client's types allow None, for records not yet produced."""
    return cast(int, message.offset())


def check_there(known: Offsets, low: Offsets, high: Offsets) -> None:
    """Raises SourceLost: what comes next for a reader that stands at `known` is gone."""
    for topic, of in known.items():
        for partition, offset in of.items():
            there = partition in low.get(topic, {})
            if not there or not low[topic][partition] <= offset <= high[topic][partition]:
                raise lost(topic, int(partition), offset)


def lost(topic: str, partition: int, offset: int) -> SourceLost:
    """The error for records that are gone."""
    return SourceLost(
        f"Kafka dropped records of {topic}-{partition} from offset {offset} on before they were read",
        hint="start the job with a new checkpoint, or with 'scan.startup.mode' = 'earliest-offset' from what is left",
    )


def _refusals(lib: Any) -> tuple[int, ...]:
    error = lib.KafkaError
    return (error._AUTHENTICATION, error.TOPIC_AUTHORIZATION_FAILED, error.SASL_AUTHENTICATION_FAILED)


def _nested(topic_partitions: Any) -> Offsets:
    out: Offsets = {}
    for topic, partition, offset in topic_partitions:
        out.setdefault(topic, {})[str(partition)] = offset
    return out


def reason(error: BaseException) -> str:
    """What a KafkaException, or another error of the client's, says."""
    first = error.args[0] if error.args else error
    text: Mapping[str, Any] | str = first.str() if hasattr(first, "str") else str(first)
    return str(text)
