"""Decodes the statistics of one file to values per column. Schema evolution and pruning are elsewhere.

Source: Paimon `SimpleStatsEvolution`; docs/spec/format.md section 7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import FormatError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.row import Instant, arity_of, deserialize
from paimon_nb.format.types import DataField, DataType, LocalZonedTimestamp, Timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.manifest import SimpleStats
    from paimon_nb.format.row.binary_row import Value


@dataclass(frozen=True, slots=True)
class ColumnStats:
    """Statistics of one column in one file. Bounds are correct but not always tight: long strings are truncated."""

    min: Value
    """Lower bound; None if unknown, or if there is no value."""
    max: Value
    """Upper bound; None if unknown, or if there is no value."""
    null_count: int | None
    """None if unknown."""


def decode_stats(
    fields: Sequence[DataField],
    stats: SimpleStats,
    value_stats_cols: Sequence[str] | None = None,
    *,
    file_format: str | None = None,
) -> dict[str, ColumnStats]:
    """Column name -> statistics, without columns that have none.

    Args:
        fields: columns of the schema that the file was written with (or its key columns, for key statistics).
        value_stats_cols: `_VALUE_STATS_COLS`.
        file_format: 'orc' widens bounds of timestamps, which Java's ORC gets wrong by a second around 1970, and gives
            CHAR no minimum, as ORC files hold its values without the trailing spaces that the statistics have.
    Raises: FormatError: broken bytes.
    """
    if value_stats_cols is not None:
        by_name = {f.name: f for f in fields}
        if any(name not in by_name for name in value_stats_cols):
            return {}
        fields = [by_name[name] for name in value_stats_cols]
    if not fields or arity_of(stats.min_values) != len(fields) or arity_of(stats.max_values) != len(fields):
        return {}
    types = [f.type for f in fields]
    low, high = deserialize(types, stats.min_values), deserialize(types, stats.max_values)
    counts = stats.null_counts if stats.null_counts else (None,) * len(fields)
    if len(counts) != len(fields):
        raise FormatError(
            f"{len(counts)} null counts for {len(fields)} columns", hint="read an earlier snapshot or tag"
        )  # fmt: skip
    out = {}
    for i, field in enumerate(fields):
        count = counts[i]
        lower, upper = _trusted_bounds(field.type, low[i], high[i], file_format)
        # Java writes -1 where Parquet keeps no statistics because the values are too long.
        out[field.name] = ColumnStats(lower, upper, None if count is None or count < 0 else count)
    return out


def _trusted_bounds(t: DataType, lower: Value, upper: Value, file_format: str | None) -> tuple[Value, Value]:
    """The bounds, without unreliable ones."""
    if isinstance(lower, float) and (lower != lower or upper != upper):
        return None, None
    if file_format == "orc" and isinstance(t, Timestamp | LocalZonedTimestamp):
        return (
            None if lower is None else Instant(lower.ms - 1000, lower.nanos),
            None if upper is None else Instant(upper.ms + 1000, upper.nanos),
        )
    if file_format == "orc" and t.root == "CHAR":
        return None, upper
    return lower, upper
