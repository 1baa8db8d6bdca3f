"""Changes of a database as rows of a streaming table: its columns, METADATA, the kind and the order. Asks nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

from paimon_nb.connectors.api import CHANGELOG_FIELDS, Declared
from paimon_nb.format.types import DataType, arrow_type
from paimon_nb.spark.types import task_batches

ChangeRow = tuple[str, Mapping[str, str], int, Mapping[str, Any]]
"""Kind, METADATA that are texts by key, milliseconds, values."""
ToColumn = Callable[[str, Sequence[Any], DataType], pa.Array]
"""A column's name, its values as the source gives them, the table's type, to Arrow."""
_EACH = 10_000


def batches(declared: Declared, changes: Iterable[ChangeRow], column: ToColumn) -> Iterator[pa.RecordBatch]:
    """Rows of the table, `TOLD` behind its columns, some at a time."""
    waiting, number = iter(changes), 0
    while some := list(islice(waiting, _EACH)):
        yield from _batch(declared, some, number, column)
        number += len(some)


def _batch(declared: Declared, changes: Sequence[ChangeRow], first: int, column: ToColumn) -> Iterator[pa.RecordBatch]:
    columns = []
    for field in declared.fields:
        key = declared.metadata.get(field.name)
        if key is None:
            columns.append(column(field.name, [c[3].get(field.name) for c in changes], field.type))
        elif key == "op_ts":
            plain = pa.array([c[2] for c in changes], pa.timestamp("ms", tz="UTC"))
            columns.append(plain.cast(arrow_type(field.type)))
        else:
            columns.append(pa.array([c[1][key] for c in changes], pa.string()))
    columns += [
        pa.array([c[0] for c in changes], pa.string()),
        pa.array(range(first, first + len(changes)), pa.int64()),
    ]
    fields = (*declared.fields, *CHANGELOG_FIELDS)
    yield from task_batches(pa.table(columns, names=[f.name for f in fields]), fields)
