"""What a `kafka` or `upsert-kafka` table says: topics, where to begin and end, formats of keys and values, client settings.

Pure: nobody is asked. Source of names and defaults: Flink's Kafka and upsert-kafka connectors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from paimon_nb.base.errors import BadOptionValue, UnsupportedOperation
from paimon_nb.connectors.api import Declared
from paimon_nb.connectors.formats.api import FormatOptions
from paimon_nb.connectors.formats.registry import ENCODERS, ENVELOPES
from paimon_nb.format.types import DataField, DataType, parse_type

KAFKA, UPSERT = "kafka", "upsert-kafka"
METADATA: Mapping[str, DataType] = {
    "topic": parse_type("STRING NOT NULL"),
    "partition": parse_type("INT NOT NULL"),
    "offset": parse_type("BIGINT NOT NULL"),
    "timestamp": parse_type("TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL"),
    "timestamp-type": parse_type("STRING NOT NULL"),
    "leader-epoch": parse_type("INT"),
    "headers": parse_type("MAP<STRING NOT NULL, BYTES> NOT NULL"),
    "key": parse_type("BYTES"),
}
"""What a record tells beside its value. `key` is ours; the others are Flink's."""
WRITABLE = ("timestamp", "headers", "key")
_OPTIONS = (
    "topic", "topic-pattern", "format", "key.format", "key.fields", "key.fields-prefix", "value.format",
    "value.fields-include", "scan.startup.mode", "scan.startup.specific-offsets", "scan.startup.timestamp-millis",
    "scan.bounded.mode", "scan.bounded.specific-offsets", "scan.bounded.timestamp-millis", "scan.parallelism",
    "scan.topic-partition-discovery.interval", "scan.max-records", "sink.partitioner", "sink.semantic",
    "sink.delivery-guarantee", "sink.transactional-id-prefix", "sink.parallelism",
    "scan.bad-messages", "scan.dead-letter-topic", "sink.buffer-flush.max-rows", "sink.buffer-flush.interval",
)  # fmt: skip
_SPECIFIC = re.compile(r"partition:(\d+),offset:(\d+)")


class At(Enum):
    """A place in every partition."""

    EARLIEST = "earliest-offset"
    LATEST = "latest-offset"
    GROUP = "group-offsets"
    TIMESTAMP = "timestamp"
    SPECIFIC = "specific-offsets"
    NEVER = "unbounded"


@dataclass(frozen=True, slots=True)
class OffsetSpec:
    at: At
    timestamp_ms: int = 0
    offsets: tuple[tuple[int, int], ...] = ()
    """(partition, offset)."""
    is_explicit: bool = True
    """The option is there; else it is a default."""


@dataclass(frozen=True, slots=True)
class Part:
    """The key or the value of a record."""

    options: FormatOptions
    names: tuple[str, ...]
    """Columns, as the table calls them."""
    inside: tuple[DataField, ...]
    """The same as the message calls them."""


@dataclass(frozen=True, slots=True)
class KafkaTable:
    """A table's options, checked."""

    declared: Declared
    topics: tuple[str, ...]
    pattern: str | None
    start: OffsetSpec
    end: OffsetSpec
    key: Part | None
    value: Part
    client: Mapping[str, str]
    """What `properties.` give, in the words of librdkafka."""
    reset: str | None
    """`properties.auto.offset.reset`."""
    partitioner: str
    transactions: str | None
    """`sink.transactional-id-prefix` of a sink that is exactly-once; None: at-least-once."""
    max_records: int
    """Records that a micro-batch takes at most."""
    skips: bool
    """Records that are no rows are left out: `scan.bad-messages` is skip or dead-letter."""
    dead_letters: str | None
    """The topic that they go to."""
    patience_s: float
    """How long the broker has for one answer: `properties.request.timeout.ms`."""

    @property
    def upserts(self) -> bool:
        return self.declared.connector == UPSERT

    @property
    def named(self) -> str:
        return self.pattern or ";".join(self.topics)


def read_options(declared: Declared) -> KafkaTable:
    """Raises UnknownOption, BadOptionValue, UnsupportedOperation: an option, or a METADATA column."""
    formats = [f"{prefix}{f}." for f in (*ENCODERS, *ENVELOPES) for prefix in ("", "key.", "value.")]
    declared.only(*_OPTIONS, patterns=["properties.", *formats], metadata=[*METADATA, "value.*"])
    settings = declared.options
    topics = tuple(t.strip() for t in settings.get("topic", "").split(";") if t.strip())
    pattern = settings.get("topic-pattern")
    if bool(topics) == bool(pattern):
        raise BadOptionValue(
            f"table {declared.name!r} needs either 'topic' or 'topic-pattern'",
            hint="add 'topic' = '...'",
            option="topic",
        )
    declared.need("properties.bootstrap.servers")
    upserts = declared.connector == UPSERT
    key, value = _parts(declared)
    client, reset = _client(settings)
    return KafkaTable(
        declared,
        topics,
        pattern,
        OffsetSpec(At.EARLIEST) if upserts else _offset_spec(declared, "scan.startup.", At.GROUP),
        _offset_spec(declared, "scan.bounded.", At.NEVER),
        key,
        value,
        client,
        reset,
        _partitioner(declared),
        _transactions(declared),
        declared.parsed("scan.max-records", 1_000_000, _positive),
        *_bad_messages(declared),
        declared.parsed("properties.request.timeout.ms", 15_000, _positive) / 1000,
    )


def _bad_messages(declared: Declared) -> tuple[bool, str | None]:
    """Whether they are left out, and the topic they go to."""
    option, topic = "scan.bad-messages", "scan.dead-letter-topic"
    setting = declared.options.get(option, "dead-letter" if topic in declared.options else "fail")
    if setting not in ("fail", "skip", "dead-letter"):
        raise BadOptionValue(f"'{option}' cannot be {setting!r}", hint="fail, skip or dead-letter", option=option)
    if setting != "dead-letter" and topic in declared.options:
        raise BadOptionValue(f"{topic!r} is for '{option}' = 'dead-letter'", hint="leave one of them out", option=topic)
    return setting != "fail", declared.need(topic) if setting == "dead-letter" else None


def _partitioner(declared: Declared) -> str:
    setting = declared.options.get("sink.partitioner", "default")
    if setting not in ("default", "fixed", "round-robin"):
        raise BadOptionValue(
            f"'sink.partitioner' cannot be {setting!r}", hint="default, fixed or round-robin", option="sink.partitioner"
        )
    return setting


def _transactions(declared: Declared) -> str | None:
    settings = declared.options
    option = "sink.delivery-guarantee" if "sink.delivery-guarantee" in settings else "sink.semantic"
    setting = settings.get(option, "at-least-once")
    if setting not in ("exactly-once", "at-least-once", "none"):
        raise BadOptionValue(
            f"'{option}' cannot be {setting!r}", hint="exactly-once, at-least-once or none", option=option
        )
    return declared.need("sink.transactional-id-prefix") if setting == "exactly-once" else None


def _offset_spec(declared: Declared, prefix: str, default: At) -> OffsetSpec:
    """Where `scan.startup.` or `scan.bounded.` says."""
    option = prefix + "mode"
    setting = declared.options.get(option)
    allowed = [a for a in At if a is not (At.NEVER if prefix == "scan.startup." else At.EARLIEST)]
    if setting is None:
        return OffsetSpec(default, is_explicit=False)
    found = next((a for a in allowed if a.value == setting), None)
    if found is None:
        raise BadOptionValue(
            f"'{option}' cannot be {setting!r}", hint=f"one of {', '.join(a.value for a in allowed)}", option=option
        )
    if found is At.TIMESTAMP:
        declared.need(prefix + "timestamp-millis")
        return OffsetSpec(found, timestamp_ms=declared.parsed(prefix + "timestamp-millis", 0, int))
    if found is At.SPECIFIC:
        text = declared.need(prefix + "specific-offsets")
        parts = [_SPECIFIC.fullmatch(p.strip()) for p in text.split(";") if p.strip()]
        if not parts or not all(parts):
            raise BadOptionValue(
                f"'{prefix}specific-offsets' cannot be {text!r}",
                hint="write 'partition:0,offset:42;partition:1,offset:300'",
                option=prefix + "specific-offsets",
            )
        return OffsetSpec(found, offsets=tuple((int(p[1]), int(p[2])) for p in parts if p))
    return OffsetSpec(found)


def _parts(declared: Declared) -> tuple[Part | None, Part]:
    settings, upserts = declared.options, declared.connector == UPSERT
    physical = declared.physical
    if upserts and not declared.primary_keys:
        raise BadOptionValue(f"table {declared.name!r} needs a PRIMARY KEY", hint="upsert-kafka keys records by it")
    value_format = settings.get("value.format", settings.get("format"))
    if value_format is None:
        raise BadOptionValue(f"table {declared.name!r} needs a format", hint="add 'format' = 'json'", option="format")
    if upserts and value_format in ENVELOPES:
        raise UnsupportedOperation(f"upsert-kafka takes no {value_format!r}", hint="use 'json', 'csv' or 'raw'")
    key_format = settings.get("key.format")
    prefix = settings.get("key.fields-prefix", "")
    if upserts:
        if key_format is None:
            raise BadOptionValue(f"table {declared.name!r} needs a key format", hint="add 'key.format' = 'json'")
        keys = [f for f in physical if f.name in declared.primary_keys]
    else:
        names = [n.strip() for n in settings.get("key.fields", "").split(";") if n.strip()]
        if (key_format is None) != (not names):
            raise BadOptionValue(
                "'key.format' and 'key.fields' go together",
                hint="'key.fields' = 'a;b' names columns",
                option="key.fields",
            )
        known = {f.name: f for f in physical}
        for name in names:
            if name not in known or not name.startswith(prefix):
                raise BadOptionValue(
                    f"'key.fields' names {name!r}, which is no column"
                    + (f" that begins with {prefix!r}" if prefix else ""),
                    hint=f"columns: {', '.join(known)}",
                    option="key.fields",
                )
        keys = [known[n] for n in names]
    included = settings.get("value.fields-include", "ALL")
    if included not in ("ALL", "EXCEPT_KEY"):
        raise BadOptionValue("'value.fields-include' is ALL or EXCEPT_KEY", option="value.fields-include")
    if prefix and included == "ALL":
        raise BadOptionValue(
            "'key.fields-prefix' needs 'value.fields-include' = 'EXCEPT_KEY'", option="key.fields-prefix"
        )
    key_names = {f.name for f in keys}
    values = [f for f in physical if included == "ALL" or f.name not in key_names]
    value = _part("value.", value_format, "value.format" in settings, values, declared.options, "")
    return (_part("key.", key_format, True, keys, settings, prefix) if key_format else None), value


def _part(
    side: str, format: str, setting: bool, fields: list[DataField], options: Mapping[str, str], prefix: str
) -> Part:
    inside = tuple(DataField(f.id, f.name.removeprefix(prefix), f.type) for f in fields)
    plain, sided = FormatOptions.of(format, "", options), FormatOptions.of(format, side, options)
    both = {**(plain.settings if side == "value." else {}), **(sided.settings if setting else {})}
    return Part(FormatOptions(format, both), tuple(f.name for f in fields), inside)


_JAVA_ONLY = frozenset({
    "auto.offset.reset", "enable.auto.commit", "key.deserializer", "value.deserializer", "key.serializer",
    "value.serializer", "max.poll.records", "sasl.jaas.config", "partition.discovery.interval.ms",
    "auto.commit.interval.ms", "default.api.timeout.ms", "request.timeout.ms", "flink.partition-discovery.interval-millis",
})  # fmt: skip
_JAAS = re.compile(r"""\b(username|password)\s*=\s*(?:"([^"]*)"|'([^']*)'|(\S+?))\s*(?=;|\s|$)""")


def _client(settings: Mapping[str, str]) -> tuple[dict[str, str], str | None]:
    """Settings of the client, and what to do where a group has no offset."""
    java = {k.removeprefix("properties."): v for k, v in settings.items() if k.startswith("properties.")}
    client = {k: v for k, v in java.items() if k not in _JAVA_ONLY}
    if "sasl.jaas.config" in java:
        for name, *values in _JAAS.findall(java["sasl.jaas.config"]):
            client[f"sasl.{name}"] = next((v for v in values if v), "")
    reset = java.get("auto.offset.reset")
    if reset not in (None, "earliest", "latest", "none"):
        raise BadOptionValue("'properties.auto.offset.reset' is earliest, latest or none", option="auto.offset.reset")
    return client, reset


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number
