"""What all system tables share: columns from type texts, Java's texts for partitions and times. Knows no one table.

Source: the texts are those that Paimon 1.3.1 shows (`table/system/*.java`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from paimon_nb.format.row import cast_to_string, deserialize
from paimon_nb.format.types import DataField, Row, arrow_schema, parse_type
from paimon_nb.format.types.arrow_builders import column
from paimon_nb.table.store import TableStore


@dataclass(frozen=True, slots=True)
class SystemTable:
    """One system table: its columns, and how its rows are made."""

    fields: Callable[[TableStore], tuple[DataField, ...]]
    read: Callable[[TableStore], pa.Table]
    """Options of the store tell the moment (time travel) where a snapshot matters."""


def fixed(columns: Mapping[str, str], rows: Callable[[TableStore], Iterable[Sequence[Any]]]) -> SystemTable:
    """A system table whose columns are the same for every table.

    Args:
        columns: name -> type text. rows: makes tuples of Python values in column order.
    """
    fields = columns_of(columns)

    def read(store: TableStore) -> pa.Table:
        return table_of(fields, rows(store))

    return SystemTable(lambda _store: fields, read)


def columns_of(columns: Mapping[str, str]) -> tuple[DataField, ...]:
    """Fields from type texts."""
    counter = iter(range(1 << 20)).__next__
    return tuple(DataField(counter(), name, parse_type(text)) for name, text in columns.items())


def table_of(fields: Sequence[DataField], rows: Iterable[Sequence[Any]]) -> pa.Table:
    """An Arrow table from rows; TIMESTAMP(3) values are given as milliseconds."""
    schema = arrow_schema(fields)
    columns = list(zip(*rows, strict=True)) or [()] * len(fields)
    arrays = [column(c, f.type) for c, f in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def partition_texts(store: TableStore) -> Callable[[bytes], str]:
    """Partition bytes -> `{v1, v2}`, as Paimon casts the partition row to text; each partition is decoded once."""
    row = Row(store.schema.partition_fields)
    types = [f.type for f in row.fields]
    known: dict[bytes, str] = {}

    def text(partition: bytes) -> str:
        if partition not in known:
            known[partition] = str(cast_to_string(row, deserialize(types, partition))) if types else "{}"
        return known[partition]

    return text


def local_wall_ms(epoch_ms: int) -> int:
    """What this process's wall clock showed at an instant, as milliseconds without a zone."""
    moment = dt.datetime.fromtimestamp(epoch_ms / 1000, dt.UTC).astimezone()
    offset = moment.utcoffset() or dt.timedelta()
    return epoch_ms + int(offset.total_seconds() * 1000)


def wall_ms(moment: dt.datetime | None) -> int | None:
    """A wall-clock time without a zone as milliseconds."""
    if moment is None:
        return None
    delta = moment - dt.datetime(1970, 1, 1)
    return delta.days * 86_400_000 + delta.seconds * 1000 + delta.microseconds // 1000


def duration_text(ms: int | None) -> str | None:
    """`java.time.Duration.toString`: PT24H, PT1H30M, PT0.5S."""
    if ms is None:
        return None
    hours, rest = divmod(ms, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    seconds = f"{rest // 1000}.{rest % 1000:03d}".rstrip("0").rstrip(".")
    parts = [f"{hours}H" if hours else "", f"{minutes}M" if minutes else "", f"{seconds}S" if rest else ""]
    return "PT" + ("".join(parts) or "0S")
