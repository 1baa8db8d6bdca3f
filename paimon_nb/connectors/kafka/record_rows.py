"""Decodes Kafka records to rows: the columns of value, key and metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.errors import SchemaMismatch, UnsupportedOperation
from paimon_nb.connectors.api import CHANGELOG_FIELDS, KIND, ORDER
from paimon_nb.connectors.formats import Decoder, open_decoder
from paimon_nb.connectors.formats.api import AFTER, DELETE, Rows
from paimon_nb.connectors.kafka.client import record_offset
from paimon_nb.connectors.kafka.options import METADATA, KafkaTable
from paimon_nb.format.types import DataField, arrow_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from confluent_kafka import Message

_TIMESTAMP_TYPES = {0: "NoTimestampType", 1: "CreateTime", 2: "LogAppendTime"}
_MAX_CHANGES_PER_MESSAGE = 1 << 20
"""Upper limit of the number of changes in one message."""
_METADATA_READERS: Mapping[str, Callable[[Any], Any]] = {
    "topic": lambda m: m.topic(),
    "partition": lambda m: m.partition(),
    "offset": lambda m: m.offset(),
    "timestamp": lambda m: m.timestamp()[1],
    "timestamp-type": lambda m: _TIMESTAMP_TYPES[m.timestamp()[0]],
    "leader-epoch": lambda m: m.leader_epoch(),
    "headers": lambda m: list(dict(m.headers() or ()).items()),
    "key": lambda m: m.key(),
}


class RecordRows:
    """Decoder of a table, created in each task. Raises as `open_decoder`, and SchemaMismatch: the type of a METADATA column."""

    def __init__(self, table: KafkaTable) -> None:
        self.table = table
        definition = table.definition
        value_metadata = {c: k.removeprefix("value.") for c, k in definition.metadata.items() if k.startswith("value.")}
        by_name = {f.name: f for f in definition.fields}
        self._value = open_decoder(
            (*table.value.message_fields, *(by_name[c] for c in value_metadata)), table.value.options, value_metadata
        )
        self._value_names = (*table.value.names, *value_metadata)
        self._key: Decoder | None = None
        if table.key is not None:
            self._key = open_decoder(table.key.message_fields, table.key.options)
            if self._key.changes:
                raise UnsupportedOperation(
                    f"key format {table.key.options.format!r} is not supported", hint="use 'json' or 'raw'"
                )
        self._record_metadata = {c: k for c, k in definition.metadata.items() if c not in value_metadata}
        for column, key in self._record_metadata.items():
            if arrow_type(by_name[column].type) != arrow_type(METADATA[key]) and not _is_castable(key, by_name[column]):
                raise SchemaMismatch(
                    f"METADATA column {column!r} cannot be {by_name[column].type}",
                    hint=f"declare it {METADATA[key]}",
                    column=column,
                )
        self.changes = self._value.changes or table.is_upsert

    @property
    def fields(self) -> tuple[DataField, ...]:
        """The columns of `rows`."""
        return (*self.table.definition.fields, *(CHANGELOG_FIELDS if self.changes else ()))

    def rows(self, messages: Sequence[Message]) -> pa.Table:
        """The rows of records of one partition, in the same order."""
        values = [m.value() for m in messages]
        decoded = self._decode_upserts(values) if self.table.is_upsert else self._value.decode(values)
        message_numbers = pa.array(decoded.messages, pa.int64())
        columns = dict(zip(self._value_names, decoded.table.columns, strict=True))
        if self._key is not None:
            assert self.table.key is not None
            columns.update(self._decode_keys([m.key() for m in messages], message_numbers, self.table.key.names))
        for column, key in self._record_metadata.items():
            read = _METADATA_READERS[key]
            plain = pa.array([read(m) for m in messages], _metadata_type(key))
            columns[column] = plain.take(message_numbers)
        made = [columns[f.name].cast(arrow_type(f.type)) for f in self.table.definition.fields]
        names = [f.name for f in self.table.definition.fields]
        if self.changes:
            offsets = [record_offset(messages[i]) for i in decoded.messages]
            made += [pa.array(decoded.kinds, pa.string()), pa.array(_change_order(offsets), pa.int64())]
            names += [KIND, ORDER]
        return pa.table(made, names=names)

    def _decode_keys(self, keys: list[bytes | None], message_numbers: pa.Array, names: Sequence[str]) -> dict[str, Any]:
        assert self._key is not None
        decoded = self._key.decode(keys)
        row_numbers = pa.array(decoded.messages, pa.int64())
        key_rows = pc.index_in(message_numbers, row_numbers)  # the columns of a record without a key are NULL
        return {n: c.take(key_rows) for n, c in zip(names, decoded.table.columns, strict=True)}

    def _decode_upserts(self, values: list[bytes | None]) -> Rows:
        """A value is the newest row of its key. A record without a value deletes the row."""
        decoded = self._value.decode(values)
        present = {m: i for i, m in enumerate(decoded.messages)}
        messages = [i for i, v in enumerate(values) if v is None or i in present]
        row_numbers = pa.array([None if values[i] is None else present[i] for i in messages], pa.int64())
        kinds = [DELETE if values[i] is None else AFTER for i in messages]
        return Rows(decoded.table.take(row_numbers), kinds, messages)


def _change_order(offsets: Sequence[int]) -> list[int]:
    """Values that increase from row to row, also within a message."""
    out, last, seen = [], -1, 0
    for offset in offsets:
        seen = seen + 1 if offset == last else 0
        last = offset
        out.append(offset * _MAX_CHANGES_PER_MESSAGE + min(seen, _MAX_CHANGES_PER_MESSAGE - 1))
    return out


def _metadata_type(key: str) -> pa.DataType:
    return arrow_type(METADATA[key])


def _is_castable(key: str, field: DataField) -> bool:
    """Whether Flink casts a metadata key to this type implicitly, for example BIGINT for INT."""
    allowed = {
        "timestamp": ("TIMESTAMP", "TIMESTAMP_LTZ"), "partition": ("BIGINT", "SMALLINT"), "key": ("VARCHAR",),
        "offset": ("DECIMAL",), "leader-epoch": ("BIGINT",), "topic": ("VARCHAR",), "timestamp-type": ("VARCHAR",),
    }  # fmt: skip
    return field.type.root in allowed.get(key, ())
