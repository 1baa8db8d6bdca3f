"""Selects the statistics of a new file, collected while its rows are written. Source: docs/spec/format.md section 7."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paimon_nb.format.data import file_format
from paimon_nb.format.stats import KEY_MODE, StatsCollector, stats_modes
from paimon_nb.format.types import DataField
from paimon_nb.options import table as opt
from paimon_nb.table.store import TableStore

if TYPE_CHECKING:
    from paimon_nb.table.write.rolling_writer import FileTarget


def value_stats(store: TableStore, target: FileTarget, fields: Sequence[DataField] | None = None) -> StatsCollector:
    """A collector over all columns (of the table, or `fields`), in the configured modes."""
    fields, options = tuple(fields or store.schema.fields), store.options
    name = file_format(options, target.level, changelog=target.changelog)
    thin = bool(options.get(opt.DATA_FILE_THIN_MODE))
    keys = store.schema.trimmed_primary_keys if store.has_keys else ()
    modes = stats_modes(
        options,
        fields,
        level=target.level if store.has_keys else None,
        changelog=target.changelog,
        thin_keys=keys if thin else (),
        file_format=name,
        leading_columns=0 if not store.has_keys else 2 if thin else 2 + len(keys),
    )
    dense = bool(options.get(opt.METADATA_STATS_DENSE_STORE))
    return StatsCollector(fields, modes, file_format=name, dense=dense)


def key_stats(store: TableStore, target: FileTarget) -> StatsCollector:
    """A collector over the key columns: always complete."""
    fields = store.schema.key_fields
    name = file_format(store.options, target.level, changelog=target.changelog)
    return StatsCollector(fields, [KEY_MODE] * len(fields), file_format=name, dense=False)
