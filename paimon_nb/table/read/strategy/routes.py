"""Chooses a read strategy for each split of a scan, from facts about the table and the query. Reads no file.

- INLINE: read in the driver and pass the rows to Spark as Arrow. For little data.
- LATE_MATERIALIZATION: the same for the few rows that match a condition; the columns of the condition are read first. If too many rows match, the fallback strategy is used.
- NATIVE: Spark's own Parquet or ORC reader.
- MASKED: NATIVE with a filter that hides rows by file and position (deletion vectors, superseded rows), and the rows that the merge
  engine creates from hidden ones.
- TASKS: the package's reader inside Spark tasks. Works for every split. It decodes each file once, where MASKED decodes the key columns
  in addition, and all columns of hidden rows if the merge engine creates rows from them.
"""

from __future__ import annotations

from enum import Enum
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import format_of
from paimon_nb.format.types import (
    Array,
    Atomic,
    DataField,
    DataType,
    Decimal,
    Geography,
    Geometry,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Time,
    Timestamp,
    UnknownType,
    VarBinary,
    VarChar,
    is_nano,
)
from paimon_nb.table.lsm.merge import PICKS_ROWS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.table.read.plan.snapshot_scan import Split


class ScanStrategy(Enum):
    """How Spark gets the rows of a split; see the module."""

    INLINE = "inline"
    LATE_MATERIALIZATION = "late materialization"
    NATIVE = "native"
    MASKED = "native, masked"
    TASKS = "tasks"


@dataclass(frozen=True, slots=True)
class StrategyLimits:
    """Sizes at which the strategy changes. Measured: 20,000 rows take the same time inline and native, 100,000 twice as long inline."""

    inline_bytes: int = 4 << 20
    inline_rows: int = 50_000
    late_materialization_bytes: int = 512 << 20
    """Maximum total size of files that the driver reads this way."""
    late_materialization_files: int = 512
    """Maximum number of files that the driver reads this way; all are open at the same time."""
    masked_rows: int = 30_000_000
    """Maximum rows of all masked splits: the driver sends a bit per row to the scan."""
    driver_rows: int = 10_000_000
    """Maximum rows of all splits whose keys the driver compares. More rows are merged in tasks, one for each split. If one split has more
    rows than this and the merge engine picks rows, the scan is masked: tasks compare the keys, and Spark reads a file in many tasks."""


@dataclass(frozen=True, slots=True)
class SplitFacts:
    """The facts that the strategy depends on."""

    read_fields: tuple[DataField, ...]
    """The columns to read, in the schema of the query."""
    file_fields: Callable[[int], tuple[DataField, ...]]
    """The columns of a schema, by its id."""
    spark_reads_paths: bool
    """False for file systems that only `FileIO` can read."""
    executors_read_paths: bool
    """False for `memory:` tables, which are in the driver's memory."""
    merge_engine: str | None
    """None for tables without primary keys."""
    limits: StrategyLimits = StrategyLimits()
    has_partition_columns: Callable[[DataFile], bool] = lambda _: True
    """Whether a file stores the partition columns, or there are none."""
    key_share: Callable[[Sequence[Split]], float] = lambda _: 1.0
    """Estimated share of rows that match the conditions on the key."""
    shredded: Callable[[int], frozenset[int]] = lambda _: frozenset()
    """Ids of the MAP columns that files of a schema store in another layout than Parquet's."""
    has_non_partition_condition: bool = False
    """Whether there is a condition on a column that is not a partition column."""
    without_spark: bool = False
    """Whether to avoid Spark, which is not running."""
    skips_unreadable_files: bool = False
    """Whether files that cannot be read are left out. Spark's own readers do not tell a lost file from an expired one."""
    row_share: Callable[[Sequence[Split]], float | None] = lambda _: None
    """Estimated share of rows that match the condition; None: unknown."""


@dataclass(frozen=True, slots=True)
class Route:
    """The strategy of one split."""

    strategy: ScanStrategy
    why: str
    fallback: ScanStrategy | None = None
    """For LATE_MATERIALIZATION: the strategy if too many rows match."""


def choose_routes(splits: Sequence[Split], facts: SplitFacts) -> list[Route]:
    """One route per split, in order."""
    size, count = _total_size(splits), _total_rows(splits)
    if not facts.executors_read_paths:
        return [Route(ScanStrategy.INLINE, "the table is in the driver's memory")] * len(splits)
    if size <= facts.limits.inline_bytes and count <= facts.limits.inline_rows:
        return [Route(ScanStrategy.INLINE, f"{count} rows in {size} bytes are read fastest in the driver")] * len(
            splits
        )
    if size <= facts.limits.late_materialization_bytes:
        share = facts.key_share(splits)
        size, count = round(size * share), round(count * share)
        if size <= facts.limits.inline_bytes and count <= facts.limits.inline_rows:
            return [
                Route(
                    ScanStrategy.INLINE, f"the keys of the condition match about {count} of {_total_rows(splits)} rows"
                )
            ] * len(splits)
    if facts.skips_unreadable_files:
        return [Route(ScanStrategy.TASKS, "files that cannot be read are left out")] * len(splits)
    native = NativeReads(facts)
    found = [_choose_route(split, facts, native) for split in splits]
    why = _reason_for_late_materialization(splits, found, facts)
    masked = [r.strategy is ScanStrategy.MASKED for r in found]
    in_tasks = _reason_for_tasks(list(compress(splits, masked)), facts)
    if in_tasks is not None:
        found = [Route(ScanStrategy.TASKS, in_tasks) if m else r for r, m in zip(found, masked, strict=True)]
    return found if why is None else [Route(ScanStrategy.LATE_MATERIALIZATION, why, r.strategy) for r in found]


def _reason_for_tasks(masked: Sequence[Split], facts: SplitFacts) -> str | None:
    """The reason to read splits in tasks that could be masked; None: mask them."""
    to_merge = [s.row_count for s in masked if not s.raw]
    many = sum(to_merge) > facts.limits.driver_rows
    if many and facts.merge_engine not in PICKS_ROWS:
        return "files of many rows that the merge engine combines are decoded once"
    if facts.without_spark:
        return None
    if _total_rows(masked) > facts.limits.masked_rows:
        return "too many rows to hide by position"
    if many and max(to_merge) <= facts.limits.driver_rows:
        return "files of many rows to merge are decoded once"
    return None


def _reason_for_late_materialization(splits: Sequence[Split], found: Sequence[Route], facts: SplitFacts) -> str | None:
    """The reason to read the splits by late materialization instead of the chosen strategies; None: keep them."""
    if not facts.has_non_partition_condition or not all(
        map(partial(_allows_late_materialization, facts=facts), splits, found)
    ):
        return None
    if not facts.without_spark and all(r.strategy is ScanStrategy.NATIVE for r in found):
        return None  # equally fast, without passing rows to Spark
    if (
        sum(len(s.files) for s in splits) > facts.limits.late_materialization_files
        or _total_size(splits) > facts.limits.late_materialization_bytes
    ):
        return None
    share, count = facts.row_share(splits), _total_rows(splits)
    if share is None:
        return f"the condition may leave few of {count} rows"
    left = round(share * count)
    return (
        f"the condition may leave about {left} of {count} rows"
        if left <= max_selective_rows(splits, facts.limits)
        else None
    )


def max_selective_rows(splits: Sequence[Split], limits: StrategyLimits) -> int:
    """Maximum rows of these splits that are passed to Spark as Arrow."""
    row_bytes = _total_size(splits) / max(1, _total_rows(splits))
    return min(limits.inline_rows, int(limits.inline_bytes / max(row_bytes, 1)))


def _allows_late_materialization(split: Split, route: Route, facts: SplitFacts) -> bool:
    if route.strategy not in (ScanStrategy.NATIVE, ScanStrategy.MASKED) or any(
        file_format(f.file_name) != "parquet" for f in split.files
    ):
        return False
    return split.raw or facts.merge_engine in PICKS_ROWS


def _total_size(splits: Sequence[Split]) -> int:
    return sum(s.size for s in splits)


def _total_rows(splits: Sequence[Split]) -> int:
    return sum(s.row_count for s in splits)


def _choose_route(split: Split, facts: SplitFacts, native: NativeReads) -> Route:
    if split.branch is not None:
        return Route(ScanStrategy.TASKS, f"branch {split.branch} has its own schemas")
    if split.plain_files:
        return Route(ScanStrategy.TASKS, "plain files without metadata are read file by file")
    if split.changes or split.diff:
        return Route(ScanStrategy.TASKS, "changes are read row by row")
    if split.waiting:
        return Route(ScanStrategy.TASKS, "rows that wait for a bucket are merged with it")
    obstacle = next((why for f in split.files if (why := native.obstacle(f)) is not None), None)
    if obstacle is not None:
        return Route(ScanStrategy.TASKS, obstacle)
    if facts.merge_engine is None and not split.raw:
        return Route(ScanStrategy.TASKS, "newer values of columns are in other files than their rows")
    formats = {file_format(f.file_name) for f in split.files}
    if split.raw and not split.deletion_vectors:
        return Route(ScanStrategy.NATIVE, "no rows need merging")
    if "orc" in formats:
        return Route(ScanStrategy.TASKS, "Spark's ORC reader has no row positions")
    if split.raw:
        return Route(ScanStrategy.MASKED, "deletion vectors hide rows by position")
    picks = facts.merge_engine in PICKS_ROWS
    return Route(
        ScanStrategy.MASKED,
        "newer rows hide older ones by position" if picks else "merged rows replace the rows they are made from",
    )


def file_format(name: str) -> str:
    """'parquet', 'orc', 'avro', or the unknown suffix of the file name."""
    try:
        return format_of(name)
    except UnsupportedFormat:
        return name.rsplit(".", 1)[-1]


class NativeReads:
    """Which files Spark's own reader can read for a query: what depends on a schema and a format is found once, not for each file."""

    def __init__(self, facts: SplitFacts) -> None:
        self._facts = facts
        self._of_schemas: dict[tuple[int, str], str | None] = {}

    def obstacle(self, file: DataFile) -> str | None:
        """Why Spark's own reader cannot read this file; None if it can."""
        name = file.file_name
        if name.startswith(("_", ".")):
            return "Spark skips files whose names start with '_' or '.'"
        if not self._facts.has_partition_columns(file):
            return "the file does not contain the partition columns"
        if file.write_cols is not None:
            return "the file contains only some columns of its schema"
        key = file.schema_id, name.rsplit(".", 1)[-1]
        if key not in self._of_schemas:
            self._of_schemas[key] = _obstacle_of_schema(file.schema_id, name, self._facts)
        return self._of_schemas[key]


def _obstacle_of_schema(schema_id: int, name: str, facts: SplitFacts) -> str | None:
    """Why Spark's own reader cannot read files of a schema, of the format that a file's name tells."""
    kind = file_format(name)
    if kind not in ("parquet", "orc") or not name.lower().endswith((".parquet", ".orc")):
        return f"Spark reads no {kind} files"
    if not facts.spark_reads_paths:
        return "Spark cannot read this file system"
    by_id = {f.id: f for f in facts.file_fields(schema_id)}
    shredded = facts.shredded(schema_id)
    for field in facts.read_fields:
        if field.id in shredded:
            return f"column {field.name} may be a shredded MAP"
        if not spark_reads_type(field.type, kind):
            return f"column {field.name}: Spark does not read {field.type.bare()} in {kind}"
        stored = by_id.get(field.id)
        if stored is not None and not same_or_wider(stored.type, field.type):
            return f"column {field.name} was {stored.type.bare()} in schema {schema_id}"
    names = [f.name.lower() for f in by_id.values()]
    if len(set(names)) < len(names):
        return "column names differ by case only"
    return None


def spark_reads_type(t: DataType, kind: str) -> bool:
    """Whether Spark's vectorised reader returns the values of `t` unchanged."""
    match t:
        case Time() | UnknownType() | Geometry() | Geography():
            return False
        case Timestamp() | LocalZonedTimestamp():
            return kind == "parquet" and not is_nano(t)  # ORC stores local timestamps in the writer's zone
        case Atomic():
            return t.name not in ("VARIANT", "BLOB") and (kind == "parquet" or t.name != "DATE")
        case Array() | Multiset():
            return kind == "parquet" and spark_reads_type(t.element, kind)
        case Map():
            return kind == "parquet" and spark_reads_type(t.key, kind) and spark_reads_type(t.value, kind)
        case Row():
            return kind == "parquet" and all(spark_reads_type(f.type, kind) for f in t.fields)
    return True


_WIDTH = {"TINYINT": 1, "SMALLINT": 2, "INT": 4, "BIGINT": 8}


def same_or_wider(stored: DataType, target: DataType) -> bool:
    """Whether Spark's cast from `stored` to `target` equals Paimon's: the same type or a wider one without loss."""
    if stored.with_nullable(True) == target.with_nullable(True):
        return True
    match stored, target:
        case Atomic(), Atomic():
            if stored.name in _WIDTH and target.name in _WIDTH:
                return _WIDTH[stored.name] <= _WIDTH[target.name]
            return stored.name == target.name or (stored.name, target.name) == ("FLOAT", "DOUBLE")
        case Decimal(), Decimal():
            return stored.scale == target.scale and stored.precision <= target.precision
        case VarChar(), VarChar():
            return stored.length <= target.length
        case VarBinary(), VarBinary():
            return stored.length <= target.length
        case (Array(), Array()) | (Map(), Map()) | (Multiset(), Multiset()) | (Row(), Row()):
            # The same fields with the same ids and names; nullability does not matter for reading.
            return _type_shape(stored) == _type_shape(target)
    return False


def _type_shape(t: DataType) -> object:
    match t:
        case Array() | Multiset():
            return (t.root, _type_shape(t.element))
        case Map():
            return (t.root, _type_shape(t.key), _type_shape(t.value))
        case Row():
            return (t.root, tuple((f.id, f.name, _type_shape(f.type)) for f in t.fields))
    return t.with_nullable(True)
