"""Statistics of one file, gathered while its rows pass by; keeps two rows a column, not the rows.

Source: format reference, section 7.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.format.manifest import SimpleStats
from paimon_nb.format.stats import collect_stats, stats_modes
from paimon_nb.format.types import DataField
from paimon_nb.table.store import TableStore

if TYPE_CHECKING:
    from paimon_nb.table.write.files import Place


class FileStats:
    """Value and key statistics of a file in the making."""

    def __init__(self, store: TableStore, place: Place) -> None:
        self._store = store
        self._place = place
        self._bounds: list[pa.Table] = []
        self._nulls: dict[str, int] = {f.name: 0 for f in store.schema.fields}

    def add(self, part: pa.Table) -> None:
        """Take note of rows that go into the file."""
        fields = self._store.schema.fields
        for f in fields:
            self._nulls[f.name] += part.column(f.name).null_count
        self._bounds.append(_bounds(part, fields))

    def values(self) -> tuple[SimpleStats, tuple[str, ...] | None]:
        """(value statistics, `_VALUE_STATS_COLS`)."""
        fields = self._store.schema.fields
        modes = stats_modes(self._store.options, fields, level=self._place.level, changelog=self._place.changelog)
        stats, cols = collect_stats(fields, self._small(), modes)
        return self._counted(stats, cols if cols is not None else [f.name for f in fields]), cols

    def keys(self) -> SimpleStats:
        """Statistics of the key columns: always complete."""
        fields = self._store.schema.key_fields
        stats, _ = collect_stats(fields, self._small().select([f.name for f in fields]), ["full"] * len(fields))
        return self._counted(stats, [f.name for f in fields])

    def _small(self) -> pa.Table:
        return pa.concat_tables(self._bounds)

    def _counted(self, stats: SimpleStats, names: list[str] | tuple[str, ...]) -> SimpleStats:
        """The same bounds with the null counts of all rows."""
        if stats.null_counts is None:
            return stats
        counts = tuple(None if c is None else self._nulls[n] for c, n in zip(stats.null_counts, names, strict=True))
        return replace(stats, null_counts=counts)


def _bounds(part: pa.Table, fields: tuple[DataField, ...]) -> pa.Table:
    """Two rows that have the same minimum and maximum per column as `part`; columns without order become null."""
    if part.num_rows <= 2:
        return part.select([f.name for f in fields])
    columns = []
    for f in fields:
        column = part.column(f.name)
        try:
            span = pc.min_max(column)
            columns.append(pa.concat_arrays([pa.repeat(span["min"], 1), pa.repeat(span["max"], 1)]))
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            columns.append(pa.nulls(2, column.type))
    return pa.table(columns, schema=pa.schema([pa.field(f.name, part.schema.field(f.name).type) for f in fields]))
