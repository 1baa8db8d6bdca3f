"""Collects minimum, maximum and null count of columns during a write, with the same results as Java. Also selects which
statistics a column gets.

Java takes Parquet's and ORC's statistics from the file's own footer and Avro's from the rows, so the three differ:

| | parquet | orc | avro |
|---|---|---|---|
| constructed types | nothing at all | null count | null count |
| TIMESTAMP(7..9) | null count | full | full |
| FLOAT, DOUBLE with a NaN | null count | null count (Java: wrong bounds) | NaN is the largest |
| zero as a bound | minimum -0.0, maximum 0.0 | as it is | as it is |

Source: Paimon `ParquetSimpleStatsExtractor`, `OrcSimpleStatsExtractor`, `SimpleStatsCollector`, `SimpleStatsConverter`;
docs/spec/format.md section 7.

Source: Paimon `StatsCollectorFactories`, `KeyValueFileWriterFactory`; docs/spec/format.md section 7.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.manifest import SimpleStats
from paimon_nb.format.row import from_scalar, serialize
from paimon_nb.format.types import DataField, DataType, LocalZonedTimestamp, Timestamp
from paimon_nb.format.types.arrow_builders import scalar, to_numpy
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from paimon_nb.format.row.binary_row import Value

_WITHOUT_STATISTICS = ("json", "csv", "lance", "vortex")
"""Formats for which Java writes no column statistics."""
KEY_MODE = "truncate(128)"
"""Mode of `_KEY_` columns and of keys in thin files, regardless of the options."""

_TRUNCATE = re.compile(r"truncate\((\d+)\)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StatsMode:
    """A parsed statistics mode."""

    kind: Literal["none", "counts", "truncate", "full"]
    length: int = 0
    """Maximum code points of a string with 'truncate'."""


@lru_cache(maxsize=256)
def parse_mode(text: str) -> StatsMode:
    """Parse 'none', 'counts', 'full' or 'truncate(n)'. Raises: BadOptionValue."""
    match text.lower():
        case "none":
            return StatsMode("none")
        case "counts":
            return StatsMode("counts")
        case "full":
            return StatsMode("full")
    match = _TRUNCATE.fullmatch(text)
    if match is None or int(match[1]) < 1:
        raise BadOptionValue(
            f"{text!r} is not a statistics mode", hint="use none, counts, truncate(n) or full", value=text
        )  # fmt: skip
    return StatsMode("truncate", int(match[1]))


def stats_modes(
    options: TableOptions,
    fields: Sequence[DataField],
    *,
    level: int | None = None,
    changelog: bool = False,
    thin_keys: Collection[str] = (),
    file_format: str = "parquet",
    leading_columns: int = 0,
) -> list[str]:
    """The mode of each column's statistics, in the order of `fields`.

    Args:
        level: the file's level in a keyed table; None for append tables.
        changelog: the file is a changelog file.
        thin_keys: key columns of a file without `_KEY_` columns (option `data-file.thin-mode`): they keep statistics.
        leading_columns: columns before `fields` in an Avro file; there they count as kept columns too.
    Raises: BadOptionValue: an option holds no mode.
    """
    table_mode = _stats_mode_of_file(options, level, changelog)
    keep = options.get(opt.METADATA_STATS_KEEP_FIRST_N_COLUMNS)
    if file_format in _WITHOUT_STATISTICS:
        return ["none"] * len(fields)
    avro = file_format == "avro"
    stored = leading_columns if avro else 0
    modes = []
    for field in fields:
        own = options.field(field.name, "stats-mode")
        if own is None and not avro and field.name in thin_keys:
            modes.append(KEY_MODE)
            continue
        modes.append(own or ("none" if 0 <= keep <= stored else table_mode))
        stored += 1
    for mode in modes:
        parse_mode(mode)
    return modes


def key_modes(
    options: TableOptions,
    key_fields: Sequence[DataField],
    *,
    level: int | None = None,
    changelog: bool = False,
    file_format: str = "parquet",
) -> list[str]:
    """The mode of each `_KEY_` column's statistics. Key statistics are never dense."""
    if file_format in _WITHOUT_STATISTICS:
        return ["none"] * len(key_fields)
    if file_format != "avro":
        return [KEY_MODE] * len(key_fields)
    keep, table_mode = (
        options.get(opt.METADATA_STATS_KEEP_FIRST_N_COLUMNS),
        _stats_mode_of_file(options, level, changelog),
    )
    return ["none" if 0 <= keep <= i else table_mode for i in range(len(key_fields))]


def _stats_mode_of_file(options: TableOptions, level: int | None, changelog: bool) -> str:
    if changelog and (mode := options.get(opt.CHANGELOG_FILE_STATS_MODE)):
        return str(mode)
    per_level = options.get(opt.METADATA_STATS_MODE_PER_LEVEL) if level is not None else None
    for key, mode in (per_level or {}).items():
        if str(key).strip() == str(level):
            return str(mode)
    return str(options.get(opt.METADATA_STATS_MODE))


_CONSTRUCTED = frozenset({"ARRAY", "MAP", "MULTISET", "ROW", "VARIANT", "VECTOR"})
_UNORDERED = _CONSTRUCTED | {"BINARY", "VARBINARY", "BLOB", "GEOMETRY", "GEOGRAPHY"}
_FLOATING = frozenset({"FLOAT", "DOUBLE"})
_LAST_CODE_POINT = 0x10FFFF


class StatsCollector:
    """Collects the statistics of a new file; keeps two values per column, not the rows."""

    def __init__(
        self, fields: Sequence[DataField], modes: Sequence[str], *, file_format: str = "parquet", dense: bool = True
    ) -> None:
        """
        Args:
            modes: one a field, as `stats_modes` gives them.
            file_format: 'parquet', 'orc' or 'avro'.
            dense: option `metadata.stats-dense-store`: leave columns without statistics out of the rows.
        """
        self._fields = tuple(fields)
        self._dense = dense
        self._columns = [
            _Column(f.type, parse_mode(mode), file_format) for f, mode in zip(fields, modes, strict=True)
        ]  # fmt: skip

    def add(self, rows: pa.Table | pa.RecordBatch) -> None:
        """Add rows; columns are found by name."""
        for field, column in zip(self._fields, self._columns, strict=True):
            column.add(rows.column(field.name))

    def result(self) -> tuple[SimpleStats, tuple[str, ...] | None]:
        """(statistics, `_VALUE_STATS_COLS`); the second is None if the statistics cover all columns."""
        selected = [i for i, c in enumerate(self._columns) if not self._dense or not c.is_nothing()]
        types = [self._fields[i].type for i in selected]
        bounds = [self._columns[i].bounds() for i in selected]
        stats = SimpleStats(
            serialize(types, [low for low, _ in bounds]),
            serialize(types, [high for _, high in bounds]),
            tuple(self._columns[i].null_count() for i in selected),
        )
        return stats, None if len(selected) == len(self._fields) else tuple(self._fields[i].name for i in selected)


def collect_stats(
    fields: Sequence[DataField],
    table: pa.Table,
    modes: Sequence[str],
    *,
    file_format: str = "parquet",
    dense: bool = True,
) -> tuple[SimpleStats, tuple[str, ...] | None]:
    """`StatsCollector` over one table."""
    collector = StatsCollector(fields, modes, file_format=file_format, dense=dense)
    collector.add(table)
    return collector.result()


class _Column:
    def __init__(self, t: DataType, mode: StatsMode, file_format: str) -> None:
        self._type, self._mode, self._format = t, mode, file_format
        parquet = file_format == "parquet"
        int96 = parquet and isinstance(t, Timestamp | LocalZonedTimestamp) and t.precision > 6
        self._counted = mode.kind != "none" and not (parquet and t.root in _CONSTRUCTED)
        self._bounded = self._counted and mode.kind != "counts" and t.root not in _UNORDERED and not int96
        self._nulls = 0
        self._low: pa.Scalar | None = None
        self._high: pa.Scalar | None = None
        self._nan = False

    def add(self, column: pa.Array | pa.ChunkedArray) -> None:
        if not self._counted:
            return
        self._nulls += column.null_count
        if not self._bounded or column.null_count == len(column):
            return
        if self._type.root in _FLOATING:
            self._add_floats(column)
            return
        span = pc.min_max(column)
        self._low = _smaller_scalar(self._low, span["min"])
        self._high = _larger_scalar(self._high, span["max"])

    def _add_floats(self, column: pa.Array | pa.ChunkedArray) -> None:
        values = to_numpy(pc.drop_null(column))
        numbers = values[~np.isnan(values)]
        self._nan = self._nan or len(numbers) < len(values)
        if len(numbers) == 0:
            return
        low, high = numbers.min(), numbers.max()
        # -0.0 == 0.0 for NumPy, while Java's order has -0.0 first.
        if low == 0:
            low = low.dtype.type(-0.0 if np.signbit(numbers[numbers == 0]).any() else 0.0)
        if high == 0:
            high = high.dtype.type(-0.0 if np.signbit(numbers[numbers == 0]).all() else 0.0)
        self._low = _smaller_scalar(self._low, scalar(float(low), column.type))
        self._high = _larger_scalar(self._high, scalar(float(high), column.type))

    def is_nothing(self) -> bool:
        return not self._counted

    def null_count(self) -> int | None:
        return self._nulls if self._counted else None

    def bounds(self) -> tuple[Value, Value]:
        """(minimum, maximum); (None, None) if the format, the mode or the values allow none."""
        if self._nan:
            if self._format != "avro":
                return None, None
            nan = math.nan
            return (nan if self._low is None else self._low.as_py()), nan
        if self._low is None or self._high is None:
            return None, None
        low, high = from_scalar(self._type, self._low), from_scalar(self._type, self._high)
        if self._format == "parquet" and self._type.root in _FLOATING:
            low, high = (-0.0 if low == 0 else low), (0.0 if high == 0 else high)
        if self._mode.kind == "truncate" and isinstance(high, str):
            high = truncate_max(high, self._mode.length)
            low = None if high is None else low[: self._mode.length]
        return low, high


def truncate_max(text: str, length: int) -> str | None:
    """A text of at most `length` code points that is not less than `text`; None if there is none."""
    if len(text) <= length:
        return text
    for i in range(length - 1, -1, -1):
        following = ord(text[i]) + 1
        if following == 0xD800:  # halves of a surrogate pair are not characters
            following = 0xE000
        if following <= _LAST_CODE_POINT:
            return text[:i] + chr(following)
    return None


def _smaller_scalar(held: pa.Scalar | None, new: pa.Scalar) -> pa.Scalar:
    return new if held is None or _java_order_key(new) < _java_order_key(held) else held


def _larger_scalar(held: pa.Scalar | None, new: pa.Scalar) -> pa.Scalar:
    return new if held is None or _java_order_key(new) > _java_order_key(held) else held


def _java_order_key(scalar: pa.Scalar) -> Any:
    """A sort key in Java's order: strings by their bytes, -0.0 before 0.0, times as numbers."""
    if pa.types.is_temporal(scalar.type):
        return scalar.value
    value = scalar.as_py()
    if isinstance(value, str):
        return value.encode()
    return (value, math.copysign(1.0, value)) if isinstance(value, float) else value
