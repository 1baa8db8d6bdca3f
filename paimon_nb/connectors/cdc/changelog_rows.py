"""Converts changes of a database to rows of a changelog source: columns, METADATA columns, row kind and order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

import pyarrow as pa

from paimon_nb.base.errors import BadSourceValue
from paimon_nb.connectors.api import CHANGELOG_FIELDS, ConnectorTable
from paimon_nb.connectors.cdc.values import (
    RULE_OPTION,
    Misfit,
    OnValueError,
    fitting_column,
    rule_of_table,
    value_text,
    with_values,
)
from paimon_nb.format.types import DataField, DataType, arrow_type
from paimon_nb.spark.types import task_batches

ChangeRow = tuple[str, Mapping[str, str], int, Mapping[str, Any]]
"""Row kind, METADATA strings by key, epoch milliseconds, values."""
ToColumn = Callable[[str, Sequence[Any], DataType], pa.Array]
"""Converts a column to Arrow: name, values of the source, type in the table."""
_BATCH_ROWS = 10_000


def _bad_value(definition: ConnectorTable, field: DataField, change: ChangeRow, misfit: Misfit) -> BadSourceValue:
    kind, names, _, values = change
    keys = definition.primary_keys or tuple(values)[:1]
    key = ",".join(f"{k}={value_text(values.get(k))}" for k in keys)
    value = value_text(values.get(field.name))
    return BadSourceValue(
        f"{definition.name}: column {field.name!r} ({field.type}) cannot hold {value[:200]!r} of the row with {key} ({kind}) of "
        f"{'.'.join(n for k, n in names.items() if k.endswith('_name'))}: {misfit.reason}",
        hint=f"'{RULE_OPTION}' = 'null' or 'java' stores the other values of the row; or declare the column STRING",
        table=definition.name, column=field.name, key=key, value=value,
    )  # fmt: skip


def changelog_batches(
    definition: ConnectorTable, changes: Iterable[ChangeRow], column: ToColumn
) -> Iterator[pa.RecordBatch]:
    """Rows of the table with `CHANGELOG_FIELDS`, in batches."""
    remaining, number = iter(changes), 0
    while chunk := list(islice(remaining, _BATCH_ROWS)):
        yield from _changes_batch(definition, chunk, number, column)
        number += len(chunk)


def _part_of_column(column: ToColumn, field: DataField, values: Sequence[Any]) -> pa.Array:
    return column(field.name, values, field.type)


def _changes_batch(
    definition: ConnectorTable, changes: Sequence[ChangeRow], first: int, column: ToColumn
) -> Iterator[pa.RecordBatch]:
    rule = rule_of_table(definition.options)
    columns = []
    for field in definition.fields:
        key = definition.metadata.get(field.name)
        if key is None:
            values = [c[3].get(field.name) for c in changes]
            array, misfits = fitting_column(values, partial(_part_of_column, column, field))
            if misfits and rule is OnValueError.FAIL:
                index, misfit = min(misfits.items())
                raise _bad_value(definition, field, changes[index], misfit)
            columns.append(with_values(array, dict.fromkeys(misfits)) if rule is OnValueError.NULL else array)
        elif key == "op_ts":
            plain = pa.array([c[2] for c in changes], pa.timestamp("ms", tz="UTC"))
            columns.append(plain.cast(arrow_type(field.type)))
        else:
            columns.append(pa.array([c[1][key] for c in changes], pa.string()))
    columns += [
        pa.array([c[0] for c in changes], pa.string()),
        pa.array(range(first, first + len(changes)), pa.int64()),
    ]
    fields = (*definition.fields, *CHANGELOG_FIELDS)
    yield from task_batches(pa.table(columns, names=[f.name for f in fields]), fields)
