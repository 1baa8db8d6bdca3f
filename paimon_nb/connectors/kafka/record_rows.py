"""Records of Kafka as rows: value, key and metadata side by side. Knows formats, and of the broker only its records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    from confluent_kafka import Message

_TIMESTAMP_TYPES = {0: "NoTimestampType", 1: "CreateTime", 2: "LogAppendTime"}
_EACH = 1 << 20
"""More changes than one message may hold."""
_OF_RECORD: Mapping[str, Callable[[Any], Any]] = {
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
    """Made anew in each task. Raises what `open_decoder` raises, SchemaMismatch: the type of a METADATA column."""

    def __init__(self, table: KafkaTable) -> None:
        self.table = table
        declared = table.declared
        value_metadata = {c: k.removeprefix("value.") for c, k in declared.metadata.items() if k.startswith("value.")}
        by_name = {f.name: f for f in declared.fields}
        self._value = open_decoder(
            (*table.value.inside, *(by_name[c] for c in value_metadata)), table.value.options, value_metadata
        )
        self._value_names = (*table.value.names, *value_metadata)
        self._key: Decoder | None = None
        if table.key is not None:
            self._key = open_decoder(table.key.inside, table.key.options)
            if self._key.changes:
                raise UnsupportedOperation(f"a key cannot be {table.key.options.format!r}", hint="use 'json' or 'raw'")
        self._record = {c: k for c, k in declared.metadata.items() if c not in value_metadata}
        for column, key in self._record.items():
            if arrow_type(by_name[column].type) != arrow_type(METADATA[key]) and not _casts(key, by_name[column]):
                raise SchemaMismatch(
                    f"METADATA column {column!r} cannot be {by_name[column].type}",
                    hint=f"{key!r} is {METADATA[key]}",
                    column=column,
                )
        self.changes = self._value.changes or table.upserts

    @property
    def fields(self) -> tuple[DataField, ...]:
        """The columns of `rows`."""
        return (*self.table.declared.fields, *(CHANGELOG_FIELDS if self.changes else ()))

    def rows(self, messages: Sequence[Message]) -> pa.Table:
        """The rows of some records of one partition, in their order."""
        values = [m.value() for m in messages]
        decoded = self._upserted(values) if self.table.upserts else self._value.decode(values)
        at = pa.array(decoded.messages, pa.int64())
        columns = dict(zip(self._value_names, decoded.table.columns, strict=True))
        if self._key is not None:
            assert self.table.key is not None
            columns.update(self._keys([m.key() for m in messages], at, self.table.key.names))
        for column, key in self._record.items():
            read = _OF_RECORD[key]
            plain = pa.array([read(m) for m in messages], _plain(key))
            columns[column] = plain.take(at)
        made = [columns[f.name].cast(arrow_type(f.type)) for f in self.table.declared.fields]
        names = [f.name for f in self.table.declared.fields]
        if self.changes:
            offsets = [record_offset(messages[i]) for i in decoded.messages]
            made += [pa.array(decoded.kinds, pa.string()), pa.array(_orders(offsets), pa.int64())]
            names += [KIND, ORDER]
        return pa.table(made, names=names)

    def _keys(self, keys: list[bytes | None], at: pa.Array, names: Sequence[str]) -> dict[str, Any]:
        assert self._key is not None
        decoded = self._key.decode(keys)
        row_numbers = pa.array(decoded.messages, pa.int64())
        where = pc.index_in(at, row_numbers)  # a record without a key gives NULLs
        return {n: c.take(where) for n, c in zip(names, decoded.table.columns, strict=True)}

    def _upserted(self, values: list[bytes | None]) -> Rows:
        """A value is the newest row of its key, a record without one deletes it."""
        decoded = self._value.decode(values)
        present = {m: i for i, m in enumerate(decoded.messages)}
        messages = [i for i, v in enumerate(values) if v is None or i in present]
        row_numbers = pa.array([None if values[i] is None else present[i] for i in messages], pa.int64())
        kinds = [DELETE if values[i] is None else AFTER for i in messages]
        return Rows(decoded.table.take(row_numbers), kinds, messages)


def _orders(offsets: Sequence[int]) -> list[int]:
    """Rises from row to row, also among the rows of one message."""
    out, last, seen = [], -1, 0
    for offset in offsets:
        seen = seen + 1 if offset == last else 0
        last = offset
        out.append(offset * _EACH + min(seen, _EACH - 1))
    return out


def _plain(key: str) -> pa.DataType:
    return arrow_type(METADATA[key])


def _casts(key: str, field: DataField) -> bool:
    """TIMESTAMP for TIMESTAMP_LTZ, STRING for BYTES, BIGINT for INT: what Flink casts without being asked."""
    allowed = {
        "timestamp": ("TIMESTAMP", "TIMESTAMP_LTZ"), "partition": ("BIGINT", "SMALLINT"), "key": ("VARCHAR",),
        "offset": ("DECIMAL",), "leader-epoch": ("BIGINT",), "topic": ("VARCHAR",), "timestamp-type": ("VARCHAR",),
    }  # fmt: skip
    return field.type.root in allowed.get(key, ())
