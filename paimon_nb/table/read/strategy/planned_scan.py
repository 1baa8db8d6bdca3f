"""A planned scan: the splits, the strategy of each, the columns. Planned and read without Spark; Spark reads it in `spark/scan/table_scan.py`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from os import cpu_count
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from paimon_nb.base.errors import ReadError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data.shared_shredding import LAYOUT_OPTION
from paimon_nb.format.schema import TableSchema, readable_fields
from paimon_nb.format.types.arrow_builders import empty_table
from paimon_nb.options import table as opt
from paimon_nb.options.read import READ_ALLOW_FULLSCAN
from paimon_nb.table.read.migrated_files import stores_partition_columns
from paimon_nb.table.read.partition_choice import for_queries
from paimon_nb.table.read.plan.planner import plan_scan
from paimon_nb.table.read.plan.selectivity import estimate_selectivity, key_share
from paimon_nb.table.read.plan.shared_plans import plan_once
from paimon_nb.table.read.predicate.model import Predicate, conjuncts
from paimon_nb.table.read.split.split_reader import read_split
from paimon_nb.table.read.strategy.late_materialization import read_only_matching_rows
from paimon_nb.table.read.strategy.routes import (
    Route,
    ScanStrategy,
    SplitFacts,
    StrategyLimits,
    choose_routes,
    max_selective_rows,
)
from paimon_nb.table.read.strategy.spark_meaning import conjuncts_with_spark_meaning

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.plan.snapshot_scan import LevelFilter, ScanPlan, Split
    from paimon_nb.table.read.store import TableStore

_HADOOP_SCHEMES = ("hdfs://", "viewfs://", "webhdfs://")


class HasStore(Protocol):
    """A table."""

    @property
    def store(self) -> TableStore: ...


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


def plan_table_scan(
    table: HasStore,
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
    store = for_queries(table.store.copy(options) if options else table.store)
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


def read_by_late_materialization(scan: PlannedScan, splits: Sequence[Split]) -> pa.Table | None:
    """The rows of splits that match the scan's condition; None if there are too many."""
    predicate = scan.plan.predicate
    if predicate is None or not splits:
        return None
    return read_only_matching_rows(scan.store, splits, scan.fields, predicate, max_selective_rows(splits, scan.limits))


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


def with_routes(scan: PlannedScan, strategy: ScanStrategy) -> PlannedScan:
    """The same scan with one strategy for all splits; for tests."""
    return replace(scan, routes=tuple(Route(strategy, "requested") for _ in scan.routes))
