"""Topics of change logs into Paimon tables, until somebody stops it: tables and columns come as the messages tell them.

Source of the options: Paimon's kafka_sync_table and kafka_sync_database actions.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, PaimonError, SchemaMismatch, SourceUnavailable
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog.api import Catalog
from paimon_nb.connectors.api import Declared
from paimon_nb.connectors.cdc.events import EVENTS, Event, parse_event
from paimon_nb.connectors.cdc.job import AWAY_S, SyncJob, SyncOptions
from paimon_nb.connectors.cdc.mysql_types import to_column
from paimon_nb.connectors.cdc.target import SourceSchema, Target
from paimon_nb.connectors.formats.api import Unreadable, refuse
from paimon_nb.connectors.kafka.client import Broker, Offsets, check_there, record_offset
from paimon_nb.connectors.kafka.options import At, KafkaTable, read_options
from paimon_nb.format.types import DataField, DataType, parse_type

if TYPE_CHECKING:
    from confluent_kafka import Message

_SAMPLE = 1000
"""Messages that are looked at for the first one that tells columns."""
_NOTE_S = 60.0
"""A target that nothing comes for notes its position this often: a restart reads no more than that again."""


class KafkaSync(SyncJob):
    """A sync of the topics that `conf` means. A position is the next offset of every partition, as JSON."""

    def __init__(self, catalog: Catalog, conf: Mapping[str, str], options: SyncOptions) -> None:
        """Nobody is asked yet. Raises BadOptionValue, UnknownOption, UnknownName: no such format."""
        self.table, self.format, self.lenient = _read_conf(conf)
        super().__init__(catalog, options, f"{self.table.client['bootstrap.servers']}/{self.table.named}")
        self._shapes: dict[tuple[str, str], tuple[Target | None, Mapping[str, DataType]]] = {}
        """Source table -> its target (None: left out) and the columns that are known to be in it."""
        self._done: dict[str, Offsets] = {}
        """Target -> what it had when the sync began."""
        self._at: Offsets = {}
        self._noted = time.monotonic()

    def prepare(self) -> None:
        """Raises SourceUnavailable, TableNotFound: no such topic. SchemaMismatch: nothing tells the columns of a table."""
        with Broker(self.table) as broker:
            self._find_targets()
            if self.options.naming.table is not None and not self.targets:
                self._shape(self._first(broker))
            self._at = self._beginning(broker)
            for name, target in self.targets.items():
                if target.position is None:
                    target.begin(json.dumps(self._at))
                self._done[name] = json.loads(str(target.position))

    def work(self) -> None:
        last_message = time.monotonic()
        while not self._stop.is_set():
            try:
                with Broker(self.table) as broker:
                    until = (
                        None if self.table.end.at is At.NEVER else broker.resolve(self.table.end, broker.partitions())
                    )
                    while not self._stop.is_set():
                        if self._follow(broker, until) and until is not None:
                            return
                        last_message = time.monotonic()
                        self._stop.wait(min(self.options.interval_s, 0.2))
            except SourceUnavailable:
                if time.monotonic() - last_message > AWAY_S:
                    raise
                self._stop.wait(0.5)

    def position_of(self, target: Target) -> str:
        """Where the sync stands, but for partitions where the target was further when it began: the slowest decides that."""
        at = {t: dict(of) for t, of in self._at.items()}
        for topic, of in self._done.get(target.name.table, {}).items():
            known = at.setdefault(topic, {})
            known.update({p: max(o, known.get(p, 0)) for p, o in of.items()})
        return json.dumps(at)

    def _follow(self, broker: Broker, until: Offsets | None) -> bool:
        """Take what is there now. True when nothing up to `until` is left."""
        partitions = broker.partitions()
        high = until or broker.bounds(partitions)[1]
        committed = time.monotonic()
        for topic, partition in partitions:
            first, end = self._at.get(topic, {}).get(str(partition), 0), high.get(topic, {}).get(str(partition), 0)
            if first >= end:
                continue
            of = self._at.setdefault(topic, {})
            for messages in broker.records(topic, partition, first, end):
                for message in messages:
                    self._take(topic, str(partition), message)
                    of[str(partition)] = record_offset(message) + 1
                if self._stop.is_set():
                    break
                if time.monotonic() - committed > self.options.interval_s:
                    self._commit()
                    committed = time.monotonic()
            else:
                of[str(partition)] = end  # markers of transactions at the end are no messages
        self._commit()
        return True

    def _commit(self) -> None:
        self.commit()
        if time.monotonic() - self._noted > _NOTE_S:
            self._noted = time.monotonic()
            for target in self.targets.values():
                position = self.position_of(target)
                if target.position != position:
                    target.begin(position)

    def _take(self, topic: str, partition: str, message: Message) -> None:
        event = self._event(message)
        if event is None:
            return
        target = self._shape(event)
        if target is None or record_offset(message) < self._done.get(target.name.table, {}).get(topic, {}).get(
            partition, 0
        ):
            return  # left out, or in the table from before: it went further than the others
        for kind, row in event.changes:
            target.put(kind, row, _columns)

    def _event(self, message: Message) -> Event | None:
        """Raises BadMessage."""
        try:
            return parse_event(self.format, message.value(), message.key(), self.options.modes)
        except Unreadable as error:
            if self.lenient:
                return None
            raise refuse(self.format, message.value(), error) from None

    # -- targets

    def _find_targets(self) -> None:
        """Targets that are there with a position of this sync, or that the user made for it."""
        naming = self.options.naming
        if naming.database not in self.catalog.databases():
            return
        tables = [naming.table] if naming.table is not None else self.catalog.tables(naming.database)
        for name in set(tables) & set(self.catalog.tables(naming.database)):
            there = Target(self.catalog, Identifier(naming.database, name), self.user, self.options.target)
            if naming.table is not None or there.position is not None:
                self.open(name, SourceSchema({}, ()))

    def _beginning(self, broker: Broker) -> Offsets:
        """Where the slowest target stands in each partition; for a sync that is new, what the options say."""
        known = [json.loads(t.position) for t in self.targets.values() if t.position is not None]
        if not known:
            return broker.beginning()
        low, high = broker.bounds(broker.partitions())
        at = {t: {p: min(k.get(t, {}).get(p, 0) for k in known) for p in of} for t, of in low.items()}
        check_there(at, low, high)
        return at

    def _first(self, broker: Broker) -> Event:
        """The first event of the topics. Raises SchemaMismatch: there is none."""
        partitions = broker.partitions()
        low, high = broker.bounds(partitions)
        for topic, partition in partitions:
            first, end = low[topic][str(partition)], high[topic][str(partition)]
            for messages in broker.records(topic, partition, first, min(end, first + _SAMPLE)):
                for message in messages:
                    event = self._event(message)
                    if event is not None:
                        return event
        raise SchemaMismatch(
            f"no message of {self.table.named!r} tells the columns of a table yet",
            hint="CREATE TABLE the target first, or start again when there is a message",
        )

    def _shape(self, event: Event) -> Target | None:
        """The event's target, with all its columns; None: it is left out. Raises SchemaChangeError, SchemaMismatch."""
        source = (event.database, event.table)
        target, known = self._shapes.get(source, (None, {}))
        if source in self._shapes and all(known.get(n) == t for n, t in event.columns.items()):
            return target
        name = self._name(event)
        if name is not None:
            self.commit()  # rows of the old shape
            born = name not in self.targets
            try:
                target = self.open(name, SourceSchema(_nullable(event), event.primary_keys))
                if born and self._at:
                    target.begin(self.position_of(target))  # all its rows are still to come
            except PaimonError as error:
                self.leave_out(".".join(source), error)
                target = None
        self._shapes[source] = (target, {**known, **event.columns})
        return target

    def _name(self, event: Event) -> str | None:
        if self.options.naming.table is None and not event.table:
            raise SchemaMismatch(
                f"a message of {self.table.named!r} does not tell its table",
                hint=f"{self.format!r} without it is for kafka_sync_table",
            )
        return self.options.naming.of(event.database, event.table)


def _columns(name: str, values: Sequence[Any], t: DataType) -> pa.Array:
    return to_column(values, t, None)


def _nullable(event: Event) -> dict[str, tuple[DataType, str | None]]:
    return {n: (t.with_nullable(n not in event.primary_keys), None) for n, t in event.columns.items()}


def _read_conf(conf: Mapping[str, str]) -> tuple[KafkaTable, str, bool]:
    """The topics, their format, whether messages that are not understood are left out."""
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
        read_options(Declared("kafka_conf", message, {**properties, "connector": "kafka", "format": "raw"})),
        format,
        lenient,
    )
