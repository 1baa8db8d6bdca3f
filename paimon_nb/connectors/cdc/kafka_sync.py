"""Kafka CDC sync: topics with CDC messages into Paimon tables, until it is stopped. Messages define tables and columns.

Source of the options: Paimon's kafka_sync_table and kafka_sync_database actions.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue, PaimonError, SchemaMismatch, SourceUnavailable
from paimon_nb.base.identifier import Identifier
from paimon_nb.connectors.api import ConnectorTable
from paimon_nb.connectors.cdc.events import AVRO_FORMATS, EVENTS, Event, parse_event
from paimon_nb.connectors.cdc.job import RECONNECT_TIMEOUT_S, SyncJob, SyncOptions
from paimon_nb.connectors.cdc.metadata import OF_KAFKA, time_of_ms
from paimon_nb.connectors.cdc.mysql_types import to_column
from paimon_nb.connectors.cdc.target import SourceSchema, Target
from paimon_nb.connectors.formats.api import FormatOptions, MalformedMessage, bad_message
from paimon_nb.connectors.formats.schema_registry import REGISTRY_OPTIONS, RegistryConf, SchemaRegistry
from paimon_nb.connectors.kafka.client import Broker, Offsets, check_offsets_exist, record_offset
from paimon_nb.connectors.kafka.options import KafkaTable, OffsetMode, read_options
from paimon_nb.format.types import DataField, DataType, parse_type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from confluent_kafka import Message

    from paimon_nb.catalog.api import Catalog

_MAX_SAMPLE = 1000
"""Number of messages that are searched for the first one with columns."""


class KafkaSync(SyncJob):
    """A sync of the topics of `conf`. A position is the next offset of every partition, as JSON."""

    known_metadata = OF_KAFKA
    save_position_s = 60.0

    def __init__(self, catalog: Catalog, conf: Mapping[str, str], options: SyncOptions) -> None:
        """Does not connect. Raises BadOptionValue, UnknownOption, UnknownName: no such format."""
        conf, self.registry = _parse_registry(conf)
        self.table, self.format, self.lenient = _parse_kafka_conf(conf)
        super().__init__(catalog, options, f"{self.table.client['bootstrap.servers']}/{self.table.topic_list}")
        self._source_schemas: dict[tuple[str, str], tuple[Target | None, Mapping[str, DataType]]] = {}
        """Source table -> its target (None: skipped) and the columns that it is known to have."""
        self._initial_offsets: dict[str, Offsets] = {}
        """Target -> its offsets at the start of the sync."""
        self._offsets: Offsets = {}

    def prepare_targets(self) -> None:
        """Raises SourceUnavailable. TableNotFound: no such topic. SchemaMismatch: no message has the columns of the table."""
        with Broker(self.table) as broker:
            self._find_targets()
            if self.options.naming.table is not None and not self.targets:
                self._target_for(self._first_event(broker))
            self._offsets = self._start_offsets_of_targets(broker)
            for name, target in self.targets.items():
                if target.position is None:
                    target.store_start_position(json.dumps(self._offsets))
                self._initial_offsets[name] = json.loads(str(target.position))

    def run_sync(self) -> None:
        last_message = time.monotonic()
        while not self._stop.is_set():
            try:
                with Broker(self.table) as broker:
                    end_offsets = (
                        None
                        if self.table.end.mode is OffsetMode.UNBOUNDED
                        else broker.resolve_offsets(self.table.end, broker.partitions())
                    )
                    while not self._stop.is_set():
                        if self._apply_available_records(broker, end_offsets) and end_offsets is not None:
                            return
                        last_message = time.monotonic()
                        self._stop.wait(min(self.options.interval_s, 0.2))
            except SourceUnavailable:
                if time.monotonic() - last_message > RECONNECT_TIMEOUT_S:
                    raise
                self._stop.wait(0.5)

    def position_of(self, target: Target) -> str:
        """Offsets of the sync. Partitions in which the target was ahead at the start keep the offset of the target."""
        offsets = {topic: dict(by_partition) for topic, by_partition in self._offsets.items()}
        for topic, initial in self._initial_offsets.get(target.name.table, {}).items():
            known = offsets.setdefault(topic, {})
            known.update({p: max(o, known.get(p, 0)) for p, o in initial.items()})
        return json.dumps(offsets)

    def _apply_available_records(self, broker: Broker, end_offsets: Offsets | None) -> bool:
        """Apply the available records. Returns True if all records up to `end_offsets` are applied."""
        partitions = broker.partitions()
        low, latest = broker.bounds(partitions)
        check_offsets_exist({t: of for t, of in self._offsets.items() if t in low}, low, latest)
        high = end_offsets or latest
        committed = time.monotonic()
        ranges = [
            (self._offsets.get(t, {}).get(str(p), 0), high.get(t, {}).get(str(p), 0), t, p) for t, p in partitions
        ]
        # The longest first: a sync that is restarted again and again would else never reach the last partition.
        for first, end, topic, partition in sorted(ranges, key=lambda r: r[1] - r[0], reverse=True):
            if first >= end:
                continue
            next_offsets = self._offsets.setdefault(topic, {})
            for messages in broker.records(topic, partition, first, end):
                for message in messages:
                    self._apply_message(topic, str(partition), message)
                    next_offsets[str(partition)] = record_offset(message) + 1
                    if self._stop.is_set():
                        break
                    # Within a list, too: on a busy machine the records of one take longer than the interval.
                    if time.monotonic() - committed > self.options.interval_s:
                        self.commit()
                        self.save_positions()
                        committed = time.monotonic()
                if self._stop.is_set():
                    break
            else:
                next_offsets[str(partition)] = end  # transaction markers at the end are not messages
        self.commit()
        self.save_positions()
        return True

    def _apply_message(self, topic: str, partition: str, message: Message) -> None:
        at = f"{topic}/{partition}/{record_offset(message)}"
        event = self._parse_event(message, at)
        if event is None:
            return
        target = self._target_for(event)
        if target is None or record_offset(message) < self._initial_offsets.get(target.name.table, {}).get(
            topic, {}
        ).get(partition, 0):
            return  # skipped, or applied before the restart: this target was ahead of the others
        for kind, values in event.changes:
            row = self.metadata.row(values, _metadata_of(message)) if self.metadata.keys else values
            target.buffer_change(kind, row, _arrow_column, at)

    def _parse_event(self, message: Message, at: str) -> Event | None:
        """Raises BadMessage."""
        try:
            return parse_event(self.format, message.value(), message.key(), self.options.modes, self.registry)
        except MalformedMessage as error:
            if self.lenient:
                return None
            if at in self.options.target.skip_records:
                self.skipped_messages += 1
                return None
            bad = bad_message(self.format, message.value(), error)
            way = f"without this message: skip_record => '{at}'"
            bad.hint = f"{bad.hint}; or start the sync {way}" if bad.hint else f"start the sync {way}"
            raise bad from None

    # -- targets

    def _find_targets(self) -> None:
        """Existing targets with a position of this sync, or that the user created for it."""
        naming = self.options.naming
        if naming.database not in self.catalog.databases():
            return
        tables = [naming.table] if naming.table is not None else self.catalog.tables(naming.database)
        for name in set(tables) & set(self.catalog.tables(naming.database)):
            there = Target(self.catalog, Identifier(naming.database, name), self.user, self.options.target)
            if naming.table is not None or there.position is not None:
                self.open(name, SourceSchema({}, ()))

    def _start_offsets_of_targets(self, broker: Broker) -> Offsets:
        """The lowest offsets of all targets by partition. A new sync starts at the offsets of the options."""
        known = [json.loads(t.position) for t in self.targets.values() if t.position is not None]
        if not known:
            return broker.start_offsets()
        low, high = broker.bounds(broker.partitions())
        start = {t: {p: min(k.get(t, {}).get(p, 0) for k in known) for p in offsets} for t, offsets in low.items()}
        check_offsets_exist(start, low, high)
        return start

    def _first_event(self, broker: Broker) -> Event:
        """The first event of the topics. Raises SchemaMismatch: there is none."""
        partitions = broker.partitions()
        low, high = broker.bounds(partitions)
        for topic, partition in partitions:
            first, end = low[topic][str(partition)], high[topic][str(partition)]
            for messages in broker.records(topic, partition, first, min(end, first + _MAX_SAMPLE)):
                for message in messages:
                    event = self._parse_event(message, f"{topic}/{partition}/{record_offset(message)}")
                    if event is not None:
                        return event
        raise SchemaMismatch(
            f"no message of {self.table.topic_list!r} has the columns of a table yet",
            hint="create the target with CREATE TABLE, or start again when there is a message",
        )

    def _target_for(self, event: Event) -> Target | None:
        """The target of an event, with all its columns; None if it is skipped. Raises SchemaChangeError, SchemaMismatch."""
        source = (event.database, event.table)
        target, known = self._source_schemas.get(source, (None, {}))
        if source in self._source_schemas and all(known.get(n) == t for n, t in event.columns.items()):
            return target
        name = self._target_name(event)
        if name is not None:
            self.commit()  # rows of the old schema
            is_new_target = name not in self.targets
            try:
                target = self.open(
                    name, SourceSchema(self.metadata.add_to(_nullable_columns(event)), event.primary_keys)
                )
                if is_new_target and self._offsets:
                    target.store_start_position(self.position_of(target))  # all its rows follow
            except PaimonError as error:
                self.skip_tables(".".join(source), error)
                target = None
        self._source_schemas[source] = (target, {**known, **event.columns})
        return target

    def _target_name(self, event: Event) -> str | None:
        if self.options.naming.table is None and not event.table:
            raise SchemaMismatch(
                f"a message of {self.table.topic_list!r} does not contain its table",
                hint=f"use kafka_sync_table for {self.format!r} messages without a table",
            )
        return self.options.naming.of(event.database, event.table)


def _metadata_of(message: Message) -> dict[str, Any]:
    kind, ms = message.timestamp()
    return {
        "topic": message.topic(),
        "partition": message.partition(),
        "offset": record_offset(message),
        "timestamp": time_of_ms(ms) if kind else None,
        "timestamp_type": _TIMESTAMP_TYPES.get(kind, "NoTimestampType"),
    }


_TIMESTAMP_TYPES = {1: "CreateTime", 2: "LogAppendTime"}
"""Kafka's names of the kinds of timestamps."""


def _arrow_column(_name: str, values: Sequence[Any], t: DataType) -> pa.Array:
    return to_column(values, t, None)


def _nullable_columns(event: Event) -> dict[str, tuple[DataType, str | None]]:
    return {n: (t.with_nullable(n not in event.primary_keys), None) for n, t in event.columns.items()}


def _parse_registry(conf: Mapping[str, str]) -> tuple[dict[str, str], SchemaRegistry | None]:
    """The settings without those of a schema registry, and the registry if the format needs one. Raises BadOptionValue."""
    rest = {k: v for k, v in conf.items() if not k.startswith(_REGISTRY)}
    if conf.get("value.format", conf.get("format")) not in AVRO_FORMATS:
        if len(rest) < len(conf):
            raise BadOptionValue(
                f"'{_REGISTRY}url' is for the formats {', '.join(sorted(AVRO_FORMATS))}", option=f"{_REGISTRY}url"
            )
        return rest, None
    settings = {k.removeprefix(_REGISTRY): v for k, v in conf.items() if k.startswith(_REGISTRY)}
    FormatOptions("schema.registry", settings).check_options(*REGISTRY_OPTIONS)
    return rest, SchemaRegistry(RegistryConf.of(settings, f"{_REGISTRY}url"), patience_s=0)


_REGISTRY = "schema.registry."
"""Prefix of the settings of a registry, as in Java's sync."""


def _parse_kafka_conf(conf: Mapping[str, str]) -> tuple[KafkaTable, str, bool]:
    """The topics, their format, and whether malformed messages are skipped."""
    properties = dict(conf)
    format = properties.pop("value.format", properties.pop("format", None))
    if format is None:
        raise BadOptionValue(
            "kafka_conf needs 'value.format'", hint=f"one of {', '.join(EVENTS)}", option="value.format"
        )
    EVENTS.find(format)
    lenient = properties.pop(f"{format}.ignore-parse-errors", "false").lower() == "true"
    message = (DataField(0, "message", parse_type("BYTES")),)
    return (
        read_options(ConnectorTable("kafka_conf", message, {**properties, "connector": "kafka", "format": "raw"})),
        format,
        lenient,
    )
