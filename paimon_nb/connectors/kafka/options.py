"""Options of `kafka` and `upsert-kafka` tables: topics, start and end offsets, formats of keys and values, client settings.

Does not connect to a broker. Source of names and defaults: Flink's Kafka and upsert-kafka connectors.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.connectors.formats.api import FormatOptions
from paimon_nb.connectors.formats.registry import CDC_DECODERS, ENCODERS
from paimon_nb.format.types import DataField, DataType, parse_type
from paimon_nb.options import without_prefix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.connectors.api import ConnectorTable

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
"""Metadata of a record. `key` is specific to this connector; the others are those of Flink."""
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


class OffsetMode(Enum):
    """Values of `scan.startup.mode` and `scan.bounded.mode`."""

    EARLIEST = "earliest-offset"
    LATEST = "latest-offset"
    GROUP = "group-offsets"
    TIMESTAMP = "timestamp"
    SPECIFIC = "specific-offsets"
    UNBOUNDED = "unbounded"


@dataclass(frozen=True, slots=True)
class OffsetSpec:
    mode: OffsetMode
    timestamp_ms: int = 0
    offsets: tuple[tuple[int, int], ...] = ()
    """(partition, offset)."""
    is_explicit: bool = True
    """Whether the option is set; False for a default."""


@dataclass(frozen=True, slots=True)
class RecordPart:
    """The key or the value of a record."""

    options: FormatOptions
    names: tuple[str, ...]
    """Names of the columns in the table."""
    message_fields: tuple[DataField, ...]
    """The same columns with their names in the message."""


@dataclass(frozen=True, slots=True)
class KafkaTable:
    """Validated options of a table."""

    definition: ConnectorTable
    topics: tuple[str, ...]
    pattern: str | None
    start: OffsetSpec
    end: OffsetSpec
    key: RecordPart | None
    value: RecordPart
    client: Mapping[str, str]
    """Options `properties.*` under the names of librdkafka."""
    offset_reset: str | None
    """`properties.auto.offset.reset`."""
    partitioner: str
    transactional_id_prefix: str | None
    """`sink.transactional-id-prefix` of an exactly-once sink; None: at-least-once."""
    max_records: int
    """Maximum number of records in a micro-batch."""
    skip_bad_messages: bool
    """Whether bad messages are skipped: `scan.bad-messages` is skip or dead-letter."""
    dead_letter_topic: str | None
    """Topic for bad messages."""
    request_timeout_s: float
    """Timeout of a request: `properties.request.timeout.ms`."""

    @property
    def is_upsert(self) -> bool:
        return self.definition.connector == UPSERT

    @property
    def topic_list(self) -> str:
        return self.pattern or ";".join(self.topics)


def read_options(definition: ConnectorTable) -> KafkaTable:
    """Parse the options of a table. Raises UnknownOption, BadOptionValue, UnsupportedOperation: a METADATA column."""
    formats = [f"{prefix}{f}." for f in (*ENCODERS, *CDC_DECODERS) for prefix in ("", "key.", "value.")]
    definition.check_options(*_OPTIONS, patterns=["properties.", *formats], metadata=[*METADATA, "value.*"])
    settings = definition.options
    topics = tuple(t.strip() for t in settings.get("topic", "").split(";") if t.strip())
    pattern = settings.get("topic-pattern")
    if bool(topics) == bool(pattern):
        raise BadOptionValue(
            f"table {definition.name!r} needs either 'topic' or 'topic-pattern'",
            hint="add 'topic' = '...'",
            option="topic",
        )
    definition.require("properties.bootstrap.servers")
    is_upsert = definition.connector == UPSERT
    key, value = _key_and_value(definition)
    client, offset_reset = _client_settings(settings)
    return KafkaTable(
        definition,
        topics,
        pattern,
        OffsetSpec(OffsetMode.EARLIEST) if is_upsert else _offset_spec(definition, "scan.startup.", OffsetMode.GROUP),
        _offset_spec(definition, "scan.bounded.", OffsetMode.UNBOUNDED),
        key,
        value,
        client,
        offset_reset,
        _partitioner_name(definition),
        _transactional_id_prefix(definition),
        definition.convert_option("scan.max-records", 1_000_000, _positive_number),
        *_bad_message_policy(definition),
        definition.convert_option("properties.request.timeout.ms", 15_000, _positive_number) / 1000,
    )


def _bad_message_policy(definition: ConnectorTable) -> tuple[bool, str | None]:
    """Whether bad messages are skipped, and the dead-letter topic."""
    option, topic = "scan.bad-messages", "scan.dead-letter-topic"
    value = definition.options.get(option, "dead-letter" if topic in definition.options else "fail")
    if value not in ("fail", "skip", "dead-letter"):
        raise BadOptionValue(f"'{option}' is invalid: {value!r}", hint="fail, skip or dead-letter", option=option)
    if value != "dead-letter" and topic in definition.options:
        raise BadOptionValue(f"{topic!r} is for '{option}' = 'dead-letter'", hint="remove one of them", option=topic)
    return value != "fail", definition.require(topic) if value == "dead-letter" else None


def _partitioner_name(definition: ConnectorTable) -> str:
    value = definition.options.get("sink.partitioner", "default")
    if value not in ("default", "fixed", "round-robin"):
        raise BadOptionValue(
            f"'sink.partitioner' is invalid: {value!r}", hint="default, fixed or round-robin", option="sink.partitioner"
        )
    return value


def _transactional_id_prefix(definition: ConnectorTable) -> str | None:
    settings = definition.options
    option = "sink.delivery-guarantee" if "sink.delivery-guarantee" in settings else "sink.semantic"
    value = settings.get(option, "at-least-once")
    if value not in ("exactly-once", "at-least-once", "none"):
        raise BadOptionValue(
            f"'{option}' is invalid: {value!r}", hint="exactly-once, at-least-once or none", option=option
        )
    return definition.require("sink.transactional-id-prefix") if value == "exactly-once" else None


def _offset_spec(definition: ConnectorTable, prefix: str, default: OffsetMode) -> OffsetSpec:
    """Value of the options `scan.startup.*` or `scan.bounded.*`."""
    option = prefix + "mode"
    value = definition.options.get(option)
    allowed = [
        a for a in OffsetMode if a is not (OffsetMode.UNBOUNDED if prefix == "scan.startup." else OffsetMode.EARLIEST)
    ]
    if value is None:
        return OffsetSpec(default, is_explicit=False)
    found = next((a for a in allowed if a.value == value), None)
    if found is None:
        raise BadOptionValue(
            f"'{option}' is invalid: {value!r}", hint=f"one of {', '.join(a.value for a in allowed)}", option=option
        )
    if found is OffsetMode.TIMESTAMP:
        definition.require(prefix + "timestamp-millis")
        return OffsetSpec(found, timestamp_ms=definition.convert_option(prefix + "timestamp-millis", 0, int))
    if found is OffsetMode.SPECIFIC:
        text = definition.require(prefix + "specific-offsets")
        parts = [_SPECIFIC.fullmatch(p.strip()) for p in text.split(";") if p.strip()]
        if not parts or not all(parts):
            raise BadOptionValue(
                f"'{prefix}specific-offsets' is invalid: {text!r}",
                hint="write 'partition:0,offset:42;partition:1,offset:300'",
                option=prefix + "specific-offsets",
            )
        return OffsetSpec(found, offsets=tuple((int(p[1]), int(p[2])) for p in parts if p))
    return OffsetSpec(found)


def _key_and_value(definition: ConnectorTable) -> tuple[RecordPart | None, RecordPart]:
    settings, is_upsert = definition.options, definition.connector == UPSERT
    physical = definition.physical
    if is_upsert and not definition.primary_keys:
        raise BadOptionValue(f"table {definition.name!r} needs a PRIMARY KEY", hint="it is the key of the records")
    value_format = settings.get("value.format", settings.get("format"))
    if value_format is None:
        raise BadOptionValue(f"table {definition.name!r} needs a format", hint="add 'format' = 'json'", option="format")
    if is_upsert and value_format in CDC_DECODERS:
        raise UnsupportedOperation(f"upsert-kafka does not support {value_format!r}", hint="use 'json', 'csv' or 'raw'")
    key_format = settings.get("key.format")
    prefix = settings.get("key.fields-prefix", "")
    if is_upsert:
        if key_format is None:
            raise BadOptionValue(f"table {definition.name!r} needs a key format", hint="add 'key.format' = 'json'")
        keys = [f for f in physical if f.name in definition.primary_keys]
    else:
        names = [n.strip() for n in settings.get("key.fields", "").split(";") if n.strip()]
        if (key_format is None) != (not names):
            raise BadOptionValue(
                "'key.format' and 'key.fields' must be set together",
                hint="for example 'key.fields' = 'a;b'",
                option="key.fields",
            )
        known = {f.name: f for f in physical}
        for name in names:
            if name not in known or not name.startswith(prefix):
                raise BadOptionValue(
                    f"'key.fields' contains {name!r}, which is not a column"
                    + (f" that starts with {prefix!r}" if prefix else ""),
                    hint=f"columns: {', '.join(known)}",
                    option="key.fields",
                )
        keys = [known[n] for n in names]
    included = settings.get("value.fields-include", "ALL")
    if included not in ("ALL", "EXCEPT_KEY"):
        raise BadOptionValue("'value.fields-include' must be ALL or EXCEPT_KEY", option="value.fields-include")
    if prefix and included == "ALL":
        raise BadOptionValue(
            "'key.fields-prefix' needs 'value.fields-include' = 'EXCEPT_KEY'", option="key.fields-prefix"
        )
    key_names = {f.name for f in keys}
    values = [f for f in physical if included == "ALL" or f.name not in key_names]
    value = _record_part("value.", value_format, "value.format" in settings, values, definition.options, "")
    return (_record_part("key.", key_format, True, keys, settings, prefix) if key_format else None), value


def _record_part(
    option_prefix: str, format: str, value: bool, fields: list[DataField], options: Mapping[str, str], prefix: str
) -> RecordPart:
    message_fields = tuple(DataField(f.id, f.name.removeprefix(prefix), f.type) for f in fields)
    unprefixed, prefixed = FormatOptions.of(format, "", options), FormatOptions.of(format, option_prefix, options)
    both = {**(unprefixed.settings if option_prefix == "value." else {}), **(prefixed.settings if value else {})}
    return RecordPart(FormatOptions(format, both), tuple(f.name for f in fields), message_fields)


_JAVA_ONLY = frozenset({
    "auto.offset.reset", "enable.auto.commit", "key.deserializer", "value.deserializer", "key.serializer",
    "value.serializer", "max.poll.records", "sasl.jaas.config", "partition.discovery.interval.ms",
    "auto.commit.interval.ms", "default.api.timeout.ms", "request.timeout.ms", "flink.partition-discovery.interval-millis",
})  # fmt: skip
_JAAS = re.compile(r"""\b(username|password)\s*=\s*(?:"([^"]*)"|'([^']*)'|(\S+?))\s*(?=;|\s|$)""")


def _client_settings(settings: Mapping[str, str]) -> tuple[dict[str, str], str | None]:
    """Settings of the client, and `auto.offset.reset`."""
    java = without_prefix(settings, "properties.")
    client = {k: v for k, v in java.items() if k not in _JAVA_ONLY}
    if "sasl.jaas.config" in java:
        for name, *values in _JAAS.findall(java["sasl.jaas.config"]):
            client[f"sasl.{name}"] = next((v for v in values if v), "")
    offset_reset = java.get("auto.offset.reset")
    if offset_reset not in (None, "earliest", "latest", "none"):
        raise BadOptionValue(
            "'properties.auto.offset.reset' must be earliest, latest or none", option="auto.offset.reset"
        )
    return client, offset_reset


def _positive_number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number
