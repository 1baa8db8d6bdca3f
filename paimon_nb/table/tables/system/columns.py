"""Shared by all system tables: columns from type strings, Java's text of partitions and times.

Source: output of Paimon 1.3.1 (`table/tables/system/*.java`).
"""

from __future__ import annotations

import datetime as dt
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.avro.container import gc_paused
from paimon_nb.format.row import cast_to_string, deserialize
from paimon_nb.format.types import DataField, Row, arrow_schema, parse_type
from paimon_nb.format.types.arrow_builders import arrow_column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from paimon_nb.table.read.store import TableStore


@dataclass(frozen=True, slots=True)
class SystemTable:
    """One system table: its columns, and the function that produces its rows."""

    fields: Callable[[TableStore], tuple[DataField, ...]]
    read: Callable[[TableStore], pa.Table]
    """The store's options select the snapshot (time travel) where one is needed."""


def system_table_with_columns(
    columns: Mapping[str, str], rows: Callable[[TableStore], Iterable[Sequence[Any]]]
) -> SystemTable:
    """A system table whose columns are the same for every table.

    Args:
        columns: name -> type text. rows: returns tuples of Python values in column order.
    """
    fields = columns_of(columns)

    def read(store: TableStore) -> pa.Table:
        return table_of(fields, rows(store))

    return SystemTable(lambda _store: fields, read)


def columns_of(columns: Mapping[str, str]) -> tuple[DataField, ...]:
    """Fields from type strings."""
    counter = iter(range(1 << 20)).__next__
    return tuple(DataField(counter(), name, parse_type(partition_text)) for name, partition_text in columns.items())


PIECE_ROWS = 50_000
"""Rows that are Python objects at the same time: a million rows of `t$files` take gigabytes."""


def table_of(fields: Sequence[DataField], rows: Iterable[Sequence[Any]]) -> pa.Table:
    """An Arrow table from rows; TIMESTAMP(3) values are passed as milliseconds."""
    schema, remaining = arrow_schema(fields), iter(rows)
    parts: list[pa.Table] = []
    while (piece := _next_piece(remaining)) or not parts:
        columns = list(zip(*piece, strict=True)) or [()] * len(fields)
        arrays = [arrow_column(c, f.type) for c, f in zip(columns, schema, strict=True)]
        parts.append(pa.Table.from_arrays(arrays, schema=schema))
    return parts[0] if len(parts) == 1 else pa.concat_tables(parts)


def _next_piece(rows: Iterator[Sequence[Any]]) -> list[Sequence[Any]]:
    with gc_paused():
        return list(islice(rows, PIECE_ROWS))


def partition_text_function(store: TableStore) -> Callable[[bytes], str]:
    """Partition bytes -> `{v1, v2}`, as Paimon casts the partition row to text; each partition is decoded once."""
    row = Row(store.schema.partition_fields)
    types = [f.type for f in row.fields]
    known: dict[bytes, str] = {}

    def partition_text(partition: bytes) -> str:
        if partition not in known:
            known[partition] = str(cast_to_string(row, deserialize(types, partition))) if types else "{}"
        return known[partition]

    return partition_text


def local_wall_ms(epoch_ms: int) -> int:
    """This process's wall clock time at an instant, as milliseconds without a zone."""
    time = dt.datetime.fromtimestamp(epoch_ms / 1000, dt.UTC).astimezone()
    offset = time.utcoffset() or dt.timedelta()
    return epoch_ms + int(offset.total_seconds() * 1000)


def wall_ms(time: dt.datetime | None) -> int | None:
    """A wall-clock time without a zone as milliseconds."""
    if time is None:
        return None
    delta = time - dt.datetime(1970, 1, 1)
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
