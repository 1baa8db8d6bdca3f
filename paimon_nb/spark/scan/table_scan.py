"""Reads a table, or one of its snapshots, as a DataFrame: plans without Spark and chooses a strategy for each split."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import cache, reduce
from os import cpu_count
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.base.errors import ReadError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data.shared_shredding import LAYOUT_OPTION
from paimon_nb.format.schema import TableSchema, readable_fields
from paimon_nb.format.types.arrow_builders import empty_table
from paimon_nb.options import table as opt
from paimon_nb.options.read import READ_ALLOW_FULLSCAN
from paimon_nb.spark.errors import encode_errors_of_task
from paimon_nb.spark.jobs.task_runner import frame_of_pickled_pieces, unpickle_pieces
from paimon_nb.spark.runtime.arrow_interop import from_arrow, session_zone
from paimon_nb.spark.runtime.jvm_bridge import plain_session
from paimon_nb.spark.scan.late_materialization import read_only_matching_rows
from paimon_nb.spark.scan.native_scan import scan_files
from paimon_nb.spark.scan.position_filter import Mask, groups_of_distinct_sizes
from paimon_nb.spark.scan.pushdown import conjuncts_with_spark_meaning
from paimon_nb.spark.scan.scan_cache import cached_scan
from paimon_nb.spark.scan.scan_strategy import (
    Route,
    ScanStrategy,
    SplitFacts,
    StrategyLimits,
    choose_routes,
    file_format,
    max_selective_rows,
)
from paimon_nb.spark.scan.superseded_rows import creates_rows, hidden_rows_of, split_key
from paimon_nb.spark.types import spark_schema, task_batches
from paimon_nb.table.read.migrated_files import stores_partition_columns
from paimon_nb.table.read.plan.planner import plan_scan
from paimon_nb.table.read.plan.selectivity import estimate_selectivity, key_share
from paimon_nb.table.read.plan.shared_plans import plan_once
from paimon_nb.table.read.predicate.model import Predicate, conjuncts
from paimon_nb.table.read.split.split_reader import iter_split, read_split

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.plan.snapshot_scan import LevelFilter, ScanPlan, Split
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.tables.table import Table

_ONE_PARTITION_FROM = 1_000
"""Row count from which inline rows become one Spark partition."""
_HADOOP_SCHEMES = ("hdfs://", "viewfs://", "webhdfs://")


@dataclass(frozen=True)
class PlannedScan:
    """A planned scan: the splits, the strategy of each, the columns."""

    plan: ScanPlan
    fields: tuple[DataField, ...]
    """Columns to return, in the plan's schema."""
    routes: tuple[Route, ...]
    """One per split, in order."""
    limits: StrategyLimits

    @property
    def store(self) -> TableStore:
        """The table with the schema of the rows."""
        return self.plan.store

    def of(self, strategy: ScanStrategy) -> list[Split]:
        """The splits with this strategy."""
        return [s for s, r in zip(self.plan.splits, self.routes, strict=True) if r.strategy is strategy]


def read_table(
    spark: SparkSession,
    table: Table,
    *,
    options: Mapping[str, str] | None = None,
    filter: Predicate | None = None,
    columns: Sequence[str] | None = None,
    limits: StrategyLimits | None = None,
) -> DataFrame:
    """The table's rows as a DataFrame, of the snapshot that is the latest now unless options select another one.

    Args:
        spark: the session.
        table: the table.
        options: dynamic options: time travel, incremental reads, tuning.
        filter: for skipping files and rows; Spark filters again, so it need not be exact.
        columns: columns that the query may need, as the user wrote them; None: all.
        limits: sizes at which the strategy changes.

    Raises:
        TimeTravelError, SnapshotExpired: the snapshot does not exist.
        ReadError: options contradict each other.
    """
    spark = plain_session(spark)
    zone = session_zone(spark)
    from paimon_nb.spark.scan.current_state import remember_table_of

    scan = plan_table_scan(table, options=options, filter=filter, columns=columns, limits=limits, zone=zone)
    frame = to_dataframe(spark, scan)
    remember_table_of(frame, table.store.copy(options) if options else table.store, scan.fields)
    return frame


def plan_table_scan(
    table: Table,
    *,
    options: Mapping[str, str] | None = None,
    filter: Predicate | None = None,
    columns: Sequence[str] | None = None,
    limits: StrategyLimits | None = None,
    zone: str = "UTC",
    without_spark: bool = False,
    levels: LevelFilter | None = None,
) -> PlannedScan:
    """Plan the scan and choose a strategy for each split. Runs without Spark.

    Args:
        table: as in `read_table`.
        options: as in `read_table`.
        filter: as in `read_table`.
        columns: as in `read_table`.
        limits: as in `read_table`.
        zone: the session's time zone, for timestamps in `filter`.
        without_spark: prefer strategies that need no Spark.
        levels: which levels to read; None: as a batch read.
    """
    store = (table.store.copy(options) if options else table.store).for_queries()
    predicate = conjuncts_with_spark_meaning(filter, store.schema.fields, zone)
    options_of_scan = tuple(sorted(store.options.raw.items()))
    plan = plan_once(
        (store.root, store.branch, store.schema.id, options_of_scan, repr(predicate), levels),
        lambda: plan_scan(store, predicate, levels=levels),
    )
    _refuse_full_scan(store, plan)
    fields = requested_fields(plan.schema, columns)
    limits = limits or StrategyLimits()
    facts = replace(facts_of(plan.store, fields, limits, plan.predicate), without_spark=without_spark)
    return PlannedScan(plan, fields, tuple(choose_routes(plan.splits, facts)), limits)


def _refuse_full_scan(store: TableStore, plan: ScanPlan) -> None:
    """Raises ReadError: the table is partitioned, no file is skipped, and 'read.allow.fullScan' is false."""
    if not store.schema.partition_keys or store.options.get(READ_ALLOW_FULLSCAN):
        return
    if plan.splits and all(stage.remaining == stage.total for stage in plan.skipped.stages):
        raise ReadError(
            f"{store.name}: the whole table would be read, and 'read.allow.fullScan' is false",
            hint=f"add a condition on {', '.join(store.schema.partition_keys)}",
        )


def facts_of(
    store: TableStore, fields: tuple[DataField, ...], limits: StrategyLimits, predicate: Predicate | None = None
) -> SplitFacts:
    """The facts that the choice of strategies needs."""
    local = store.fs.local_path(store.root) is not None
    return SplitFacts(
        read_fields=fields,
        file_fields=lambda schema_id: fields_of(store, schema_id),
        spark_reads_paths=local or store.root.startswith(_HADOOP_SCHEMES),
        executors_read_paths=not store.root.startswith("memory:"),
        merge_engine=str(store.options.get(opt.MERGE_ENGINE)) if store.has_keys else None,
        limits=limits,
        has_partition_columns=lambda file: not store.schema.partition_keys or stores_partition_columns(store, file),
        key_share=lambda splits: key_share(store, splits, predicate),
        has_non_partition_condition=any(
            not part.columns() <= set(store.schema.partition_keys) for part in conjuncts(predicate)
        ),
        shredded=lambda schema_id: _shredded_columns(store, schema_id),
        skips_unreadable_files=store.skips_unreadable_files,
        row_share=lambda splits: estimate_selectivity(store, splits, predicate) if predicate is not None else None,
    )


def _shredded_columns(store: TableStore, schema_id: int) -> frozenset[int]:
    """Ids of MAP columns in another layout, by the options of the files' schema or of the table as it is read."""
    schema = store.schema if schema_id == store.schema.id else store.schemas.get(schema_id)
    found = set()
    for field in schema.fields:
        key = f"fields.{field.name}.{LAYOUT_OPTION}"
        if any(options.get(key) not in (None, "default") for options in (schema.options, store.options.raw)):
            found.add(field.id)
    return frozenset(found)


def fields_of(store: TableStore, schema_id: int) -> tuple[DataField, ...]:
    """The columns of one of the table's schemas."""
    return store.schema.fields if schema_id == store.schema.id else store.schemas.get(schema_id).fields


def to_dataframe(spark: SparkSession, scan: PlannedScan) -> DataFrame:
    """The DataFrame of a planned scan: the union over its strategies."""
    parts = _dataframes_by_strategy(spark, scan)
    if not parts:
        return from_arrow(spark, empty_table(scan.fields), scan.fields)
    return reduce(lambda a, b: a.union(b), parts)


def _dataframes_by_strategy(spark: SparkSession, scan: PlannedScan) -> list[DataFrame]:
    parts: list[DataFrame] = []
    for strategy, build in _BUILDERS.items():
        splits = scan.of(strategy)
        if splits:
            parts += build(spark, scan, splits)
    return parts


# -- strategies


def _scan_inline(spark: SparkSession, scan: PlannedScan, splits: list[Split]) -> list[DataFrame]:
    return [_as_one_partition(spark, read_inline(scan, splits), scan.fields)]


def _as_one_partition(spark: SparkSession, rows: pa.Table, fields: Sequence[DataField]) -> DataFrame:
    """Rows of the driver in one partition, as Spark reads a small file, so that an aggregate needs no shuffle."""
    frame = from_arrow(spark, rows, fields)
    # Spark answers a plain SELECT of very few rows without a job, but not after coalesce().
    return frame.coalesce(1) if rows.num_rows >= _ONE_PARTITION_FROM else frame


def read_inline(scan: PlannedScan, splits: Sequence[Split]) -> pa.Table:
    """Read splits in the driver, in parallel; the rows are in the order of the splits."""
    names = [f.name for f in scan.fields]

    def read_one_split(split: Split) -> pa.Table:
        return read_split(scan.store, split, names, scan.plan.predicate).select(names)

    if not splits:
        return empty_table(scan.fields)
    if len(splits) == 1:
        return read_one_split(splits[0])
    with ThreadPoolExecutor(min(len(splits), cpu_count() or 1)) as pool:
        return pa.concat_tables(list(pool.map(read_one_split, splits)))


def _scan_by_late_materialization(spark: SparkSession, scan: PlannedScan, splits: list[Split]) -> list[DataFrame]:
    rows = read_by_late_materialization(scan, splits)
    if rows is not None:
        return [_as_one_partition(spark, rows, scan.fields)]
    others = [(s, Route(r.fallback, r.why)) for s, r in zip(scan.plan.splits, scan.routes, strict=True) if r.fallback]
    plan = replace(scan.plan, splits=tuple(s for s, _ in others))
    return _dataframes_by_strategy(spark, replace(scan, plan=plan, routes=tuple(r for _, r in others)))


def read_by_late_materialization(scan: PlannedScan, splits: Sequence[Split]) -> pa.Table | None:
    """The rows of splits that match the scan's condition; None if there are too many."""
    predicate = scan.plan.predicate
    if predicate is None or not splits:
        return None
    return read_only_matching_rows(scan.store, splits, scan.fields, predicate, max_selective_rows(splits, scan.limits))


def _scan_native(spark: SparkSession, scan: PlannedScan, splits: list[Split]) -> list[DataFrame]:
    """One scan for all files of the same schema and format."""

    def build_frames() -> list[DataFrame]:
        groups: dict[tuple[str, int], list[str]] = {}
        for split in splits:
            for file in split.files:
                groups.setdefault((file_format(file.file_name), file.schema_id), []).append(
                    _spark_uri(scan.store, _file_path(scan.store, split, file))
                )
        return [
            scan_files(spark, kind, uris, fields_of(scan.store, schema_id), scan.fields)
            for (kind, schema_id), uris in groups.items()
        ]

    return cached_scan(spark, _scan_cache_key(ScanStrategy.NATIVE, scan, splits), build_frames)


def _scan_masked(spark: SparkSession, scan: PlannedScan, splits: list[Split]) -> list[DataFrame]:
    """Scans with a mask, plain scans for schemas without hidden rows, and the rows that merging created."""
    store = scan.store
    found = cache(lambda: hidden_rows_of(store, splits, spark, scan.limits.driver_rows))

    def build_frames() -> list[DataFrame]:
        plain, masked = _plain_and_masked_files(scan, splits, found().rows)
        frames = [*_scan_native(spark, scan, plain)]
        for schema_id, files in masked.items():
            fields, condition = fields_of(store, schema_id), scan.plan.predicate
            # The sizes in the file system, which Spark uses; those in the manifest may differ.
            lengths = {name: store.fs.size(path) for name, path in files.items()}
            for names in groups_of_distinct_sizes(lengths.items()):
                mask = Mask.of(((n, found().rows.get(n)) for n in names), lengths)
                uris = [_spark_uri(store, files[n]) for n in names]
                frames.append(scan_files(spark, "parquet", uris, fields, scan.fields, mask, condition))
        return frames

    frames = [*cached_scan(spark, _scan_cache_key(ScanStrategy.MASKED, scan, splits), build_frames)]
    if creates_rows(store) and (merged := found().merged):
        rows = pa.concat_tables(merged).select([f.name for f in scan.fields])
        frames.append(from_arrow(spark, rows, scan.fields))
    return frames


def _scan_cache_key(strategy: ScanStrategy, scan: PlannedScan, splits: Sequence[Split]) -> Hashable:
    """The cache key of the scans of some splits."""
    predicate = repr(scan.plan.predicate) if strategy is ScanStrategy.MASKED else None
    return (strategy, scan.fields, predicate, tuple(split_key(scan.store, s) for s in splits))


def _plain_and_masked_files(
    scan: PlannedScan, splits: Sequence[Split], hidden: Mapping[str, np.ndarray]
) -> tuple[list[Split], dict[int, dict[str, str]]]:
    """The splits of plain scans, and the file paths of masked scans by schema id and file name.

    Files without hidden rows join the masked scan of their schema, if there is one: Spark copies the rows of a union's
    branches, which costs more than checking every row against the mask.
    """
    masked: dict[int, dict[str, str]] = {}
    for split in splits:
        for file in split.files:
            rows = hidden.get(file.file_name)
            if rows is not None and not rows.all():
                masked.setdefault(file.schema_id, {})[file.file_name] = _file_path(scan.store, split, file)
    plain = []
    for split in splits:
        whole = [f for f in split.files if f.file_name not in hidden]
        for file in whole:
            if file.schema_id in masked and file_format(file.file_name) == "parquet":
                masked[file.schema_id][file.file_name] = _file_path(scan.store, split, file)
        plain.append(replace(split, files=tuple(f for f in whole if f.file_name not in masked.get(f.schema_id, {}))))
    return plain, masked


def _scan_in_tasks(spark: SparkSession, scan: PlannedScan, splits: list[Split]) -> list[DataFrame]:
    frame = frame_of_pickled_pieces(spark, splits, [s.size for s in splits])
    task = _task_reading_splits(scan.store, scan.fields, scan.plan.predicate)
    return [frame.mapInArrow(task, spark_schema(scan.fields))]


def _task_reading_splits(
    store: TableStore, fields: tuple[DataField, ...], predicate: Predicate | None
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    names = [f.name for f in fields]

    @encode_errors_of_task
    def read_splits(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for split in unpickle_pieces(batches):
            with closing(iter_split(store, split, names, predicate)) as pieces:
                for rows in pieces:
                    yield from task_batches(rows, fields)

    return read_splits


_BUILDERS: Mapping[ScanStrategy, Callable[[SparkSession, PlannedScan, list[Split]], list[DataFrame]]] = {
    ScanStrategy.INLINE: _scan_inline,
    ScanStrategy.LATE_MATERIALIZATION: _scan_by_late_materialization,
    ScanStrategy.NATIVE: _scan_native,
    ScanStrategy.MASKED: _scan_masked,
    ScanStrategy.TASKS: _scan_in_tasks,
}


# -- fields and paths


def requested_fields(schema: TableSchema, columns: Sequence[str] | None) -> tuple[DataField, ...]:
    """The fields named by `columns`, in the table's order; at least one, so that rows can be counted."""
    if columns is None:
        return tuple(schema.fields)
    exact = set(columns)
    folded = {c.lower() for c in columns}
    scan = tuple(f for f in schema.fields if f.name in exact or f.name.lower() in folded)
    if scan:
        return scan
    keys = set(schema.primary_keys)
    readable = readable_fields(schema)
    return (
        min(readable, key=lambda f: (f.name not in keys, f.type.root in ("ARRAY", "MAP", "ROW", "VECTOR", "BYTES"))),
    )


def _file_path(store: TableStore, split: Split, file: DataFile) -> str:
    return store.data_path(split.partition, split.bucket, file)


def _spark_uri(store: TableStore, path: str) -> str:
    local = store.fs.local_path(path)
    return f"file://{local}" if local is not None else path


def with_routes(scan: PlannedScan, strategy: ScanStrategy) -> PlannedScan:
    """The same scan with one strategy for all splits; for tests."""
    return replace(scan, routes=tuple(Route(strategy, "requested") for _ in scan.routes))
