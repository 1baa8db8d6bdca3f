"""Reads a table, or one of its snapshots, as a DataFrame: plans without Spark and chooses a strategy for each split."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import cache, partial, reduce
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.format.data.row_counts import check_row_counts
from paimon_nb.format.types.arrow_builders import empty_table
from paimon_nb.spark.errors import encode_errors_of_task
from paimon_nb.spark.jobs.task_runner import frame_of_pickled_pieces, run_in_tasks, unpickle_pieces
from paimon_nb.spark.runtime.arrow_interop import from_arrow, session_zone
from paimon_nb.spark.runtime.jvm_bridge import plain_session
from paimon_nb.spark.scan.native_scan import scan_files
from paimon_nb.spark.scan.position_filter import Mask, groups_of_distinct_sizes
from paimon_nb.spark.scan.scan_cache import cached_scan
from paimon_nb.spark.types import spark_schema, task_batches
from paimon_nb.table.read.split.split_reader import iter_split
from paimon_nb.table.read.strategy.planned_scan import (
    PlannedScan,
    fields_of,
    plan_table_scan,
    read_by_late_materialization,
    read_inline,
)
from paimon_nb.table.read.strategy.routes import (
    Route,
    ScanStrategy,
    StrategyLimits,
    file_format,
)
from paimon_nb.table.read.strategy.superseded_rows import creates_rows, hidden_rows_of, split_key

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.plan.snapshot_scan import Split
    from paimon_nb.table.read.predicate.model import Predicate
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.tables.table import Table

_ONE_PARTITION_FROM = 1_000
"""Row count from which inline rows become one Spark partition."""


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


def _scan_by_late_materialization(spark: SparkSession, scan: PlannedScan, splits: list[Split]) -> list[DataFrame]:
    rows = read_by_late_materialization(scan, splits)
    if rows is not None:
        return [_as_one_partition(spark, rows, scan.fields)]
    others = [(s, Route(r.fallback, r.why)) for s, r in zip(scan.plan.splits, scan.routes, strict=True) if r.fallback]
    plan = replace(scan.plan, splits=tuple(s for s, _ in others))
    return _dataframes_by_strategy(spark, replace(scan, plan=plan, routes=tuple(r for _, r in others)))


def _scan_native(spark: SparkSession, scan: PlannedScan, splits: list[Split]) -> list[DataFrame]:
    """One scan for all files of the same schema and format."""

    def build_frames() -> list[DataFrame]:
        groups: dict[tuple[str, int], list[str]] = {}
        _check_row_counts(scan.store, splits)
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
    found = cache(lambda: hidden_rows_of(store, splits, partial(run_in_tasks, spark), scan.limits.driver_rows))

    def build_frames() -> list[DataFrame]:
        _check_row_counts(store, splits)
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


def _check_row_counts(store: TableStore, splits: Sequence[Split]) -> None:
    """Raises CorruptFile: a file that Spark would decode has other rows than its manifest says."""
    check_row_counts(store.fs, [(_file_path(store, s, f), f.row_count) for s in splits for f in s.files])


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


def _file_path(store: TableStore, split: Split, file: DataFile) -> str:
    return store.data_path(split.partition, split.bucket, file)


def _spark_uri(store: TableStore, path: str) -> str:
    local = store.fs.local_path(path)
    return f"file://{local}" if local is not None else path
