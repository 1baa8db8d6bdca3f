"""compact and compact_database."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue, PaimonError, SqlAnalysisError, UnsupportedOperation
from paimon_nb.base.identifier import Identifier
from paimon_nb.options import table as opt
from paimon_nb.procedures.continuous_compaction import COMPACTS, ContinuousCompaction, check_streamable, start_job
from paimon_nb.procedures.procedure import (
    Argument,
    Context,
    Procedure,
    commit_note,
    one_row,
    parse_options,
    parse_partitions,
    selected_partitions,
    success,
    table_argument,
)
from paimon_nb.spark.write.compact import compact as run_compaction
from paimon_nb.table.read.partition_spec import in_row_spec
from paimon_nb.table.write.cluster import Order
from paimon_nb.table.write.commit import TableCommit
from paimon_nb.table.write.compact import idle_partitions, merge_chain, uses_clustering
from paimon_nb.table.write.maintenance import expired_by_values

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    import pyarrow as pa

    from paimon_nb.table.tables.table import Table


_MIN_SAMPLE = 20
"""The minimum of `sort-compaction.local-sample.magnification`, as in Java."""


def _compact_table(
    context: Context, table: str, partitions: str | None, order_strategy: str | None, order_by: str | None, options: str | None,
    where: str | None, partition_idle_time: int | None, compact_strategy: str | None, buckets: str | None,
) -> pa.Table:  # fmt: skip
    _check_strategy(compact_strategy)
    _check_batch_only(context, compact_strategy, partition_idle_time)
    sorts = order_strategy not in (None, "none")
    own_options = parse_options(options) or {}
    # A compaction job also expires snapshots, which writers of a write-only table leave to it.
    target = context.table(table, own_options if sorts else own_options | COMPACTS)
    target.store.check_readable()  # as in Java: a compaction needs SELECT, too
    selected = _selected_partitions(context, target, partitions, where, partition_idle_time)
    before = target.latest_snapshot()
    if order_strategy is not None and sorts:
        if not order_by:
            raise SqlAnalysisError("order_strategy needs order_by", hint="order_by => 'a,b'")
        if partition_idle_time is not None:
            raise SqlAnalysisError(
                "order_strategy does not go with partition_idle_time", hint="name the partitions, or leave one away"
            )
        if buckets or compact_strategy is not None:
            raise SqlAnalysisError(
                "order_strategy rewrites whole partitions", hint="remove buckets and compact_strategy"
            )
        key = opt.SORT_COMPACTION_LOCAL_SAMPLE_MAGNIFICATION
        if target.options.get(key) < _MIN_SAMPLE:
            raise BadOptionValue(
                f"option {key.key!r} cannot be below {_MIN_SAMPLE}", hint="leave it out", option=key.key
            )
        order = Order.of(target.store, order_strategy, [c.strip() for c in order_by.split(",")])
        result = run_compaction(target, context.spark, partitions=selected, order=order)
    elif order_by:
        raise SqlAnalysisError("order_by needs order_strategy", hint="order_strategy => 'order', 'zorder' or 'hilbert'")
    else:
        in_buckets = _selected_buckets(target, buckets)
        if context.is_streaming:
            check_streamable(target)
        if context.starts_endless_jobs:
            compaction = ContinuousCompaction(target, context.spark, selected, in_buckets)
            return start_job(context, f"compact {target.name}", lambda: [compaction])
        full = _is_full(target, compact_strategy)
        result = run_compaction(target, context.spark, partitions=selected, full=full, buckets=in_buckets)
    commit_note(context, target, result.snapshots)
    if not result.snapshots:
        where_to = f" where {partitions or where}" if partitions or where else ""
        context.notes.append(f"nothing to compact in {target.name}{where_to}" + ("" if before else ": it is empty"))
    return success()


def _selected_partitions(
    context: Context, target: Table, partitions: str | None, where: str | None, idle_ms: int | None
) -> Callable[[bytes], bool] | None:
    """A test for the requested partitions; None: all."""
    selected = _without_expired(target, selected_partitions(context, target, partitions, where))
    if idle_ms is None:
        return selected
    if not target.partition_keys:
        raise UnsupportedOperation(f"{target.name} is not partitioned", hint="remove partition_idle_time")
    idle_set = idle_partitions(target.store, idle_ms)
    return lambda partition: partition in idle_set and (selected is None or selected(partition))


def _without_expired(target: Table, selected: Callable[[bytes], bool] | None) -> Callable[[bytes], bool] | None:
    """The test; with `compaction.skip-expired-partitions` only for partitions that have not expired."""
    if not target.options.get(opt.COMPACTION_SKIP_EXPIRED_PARTITIONS):
        return selected
    is_expired = expired_by_values(target.store)
    if is_expired is None:
        return selected
    return lambda partition: not is_expired(partition) and (selected is None or selected(partition))


def _check_strategy(text: str | None) -> None:
    if text not in (None, "full", "minor"):
        raise BadOptionValue(f"compact_strategy cannot be {text!r}", hint="use full or minor")


def _check_batch_only(context: Context, strategy: str | None, idle_ms: int | None) -> None:
    """Raises UnsupportedOperation: in streaming mode, an argument that exists in batch mode only."""
    if context.is_streaming and (strategy == "full" or idle_ms is not None):
        what = "compact_strategy => 'full'" if strategy == "full" else "partition_idle_time"
        raise UnsupportedOperation(f"{what} needs batch mode", hint="SET 'execution.runtime-mode' = 'batch' before it")


def _is_full(target: Table, strategy: str | None) -> bool:
    """Whether the compaction is full: the default, except for tables with incremental clustering."""
    return strategy == "full" or (strategy is None and not uses_clustering(target.store))


def _selected_buckets(target: Table, text: str | None) -> set[int] | None:
    """The buckets of '0,3-5'; None: all. Raises BadOptionValue, UnsupportedOperation: the table has no fixed buckets."""
    if text is None:
        return None
    count = target.store.bucket_option
    if count < 1:
        raise UnsupportedOperation(
            f"{target.name} has bucket = {count}: only fixed buckets can be selected", hint="remove buckets"
        )
    buckets: set[int] = set()
    for part in text.split(","):
        first, is_range, last = (p.strip() for p in part.partition("-"))
        numbers = [int(n) for n in (first, last or first) if n.isdecimal()]
        if len(numbers) != 2 or (is_range and not last) or numbers[0] > numbers[1] or numbers[1] >= count:
            raise BadOptionValue(
                f"buckets cannot be {text!r}: {part.strip()!r} is not in 0-{count - 1}",
                hint="use comma-separated numbers and ranges, such as '0,3-5'",
            )
        buckets.update(range(numbers[0], numbers[1] + 1))
    return buckets


def _by_position(values: Sequence[Any]) -> dict[str, Any]:
    """Positional arguments by name; three arguments are table, order_strategy and order_by."""
    names = ("table", "order_strategy", "order_by") if len(values) == 3 else [a.name for a in COMPACT.arguments]
    return dict(zip(names, values, strict=False))


def _compact_chain_table(context: Context, table: str, partition: str, overwrite: bool) -> pa.Table:
    target = context.table(table)
    specs = parse_partitions(partition) or []
    if len(specs) != 1:
        raise BadOptionValue(f"partition {partition!r} is not one partition", hint="write 'dt=20250810,hour=22'")
    done = merge_chain(target.store, in_row_spec(target.schema, specs[0]), overwrite=overwrite)
    if done is None:
        context.notes.append(
            f"{target.name}: nothing was merged; the snapshot branch has the partition, or no branch has it"
        )
        return one_row(result=False)
    store, messages, scope = done
    commit_note(context, target, TableCommit(store).commit(messages, overwrite=scope))
    return one_row(result=True)


COMPACT: Procedure = Procedure(
    "compact",
    "Compact a table: all sorted runs of each bucket (full), or those that the compaction strategy picks (minor). "
    "In streaming mode after SET 'table.dml-sync' = 'false' it starts a job that compacts after each commit, until STOP JOB.",
    (
        table_argument(),
        Argument("partitions", doc="'a=1,b=2;a=3'"),
        Argument(
            "order_strategy",
            doc="none, order, zorder, hilbert; for tables with bucket = -1, primary-key tables reassign buckets",
        ),
        Argument("order_by", doc="columns for the order strategy"),
        Argument("options", doc="'k=v,k2=v2', dynamic table options"),
        Argument("where", doc="condition on partition columns"),
        Argument("partition_idle_time", "span", doc="only partitions without new files for this time"),
        Argument("compact_strategy", doc="full or minor; minor where 'clustering.incremental' is set, else full"),
        Argument("buckets", doc="bucket numbers and ranges: '0,3-5'", may_be_empty=True),
    ),
    _compact_table,
    _by_position,
)


def _compact_database(
    context: Context, including_databases: str | None, mode: str | None, including_tables: str | None,
    excluding_tables: str | None, table_options: str | None, partition_idle_time: int | None, compact_strategy: str | None,
) -> pa.Table:  # fmt: skip
    _check_strategy(compact_strategy)
    _check_batch_only(context, compact_strategy, partition_idle_time)
    databases = re.compile(including_databases or ".*")
    included, excluded = (
        re.compile(including_tables or ".*"),
        re.compile(excluding_tables) if excluding_tables else None,
    )
    options = (parse_options(table_options) or {}) | COMPACTS

    def matching_tables() -> Iterator[Table]:
        for database in filter(databases.fullmatch, context.catalog.databases()):
            for name in context.catalog.tables(database):
                both = (f"{database}.{name}", name)
                if any(map(included.fullmatch, both)) and not (excluded and any(map(excluded.fullmatch, both))):
                    yield context.catalog.table(Identifier(database, name), options)

    if context.starts_endless_jobs:
        return _compact_database_continuously(context, matching_tables, mode)
    succeeded, failed = 0, []
    for table in matching_tables():
        try:
            if context.is_streaming:
                check_streamable(table)
            idle_ms = partition_idle_time if table.partition_keys else None
            selected = _selected_partitions(context, table, None, None, idle_ms)
            is_full = _is_full(table, compact_strategy)
            commit_note(
                context, table, run_compaction(table, context.spark, partitions=selected, full=is_full).snapshots
            )
            succeeded += 1
        except PaimonError as error:  # one broken table must not stop the others
            failed.append(f"{table.name}: {error.message}")
    context.notes += failed
    return one_row(result=f"Compact database finished. Success: {succeeded}, Failed: {len(failed)}")


def _compact_database_continuously(
    context: Context, matching_tables: Callable[[], Iterator[Table]], mode: str | None
) -> pa.Table:
    """Start a job over the tables; in mode `combined` also over those that are created later."""
    compactions: dict[str, ContinuousCompaction] = {}

    def compactions_to_run() -> Collection[ContinuousCompaction]:
        if not compactions or mode == "combined":
            for table in matching_tables():
                if str(table.name) not in compactions:
                    check_streamable(table)
                    compactions[str(table.name)] = ContinuousCompaction(table, context.spark, None, None)
        return compactions.values()

    return start_job(context, "compact_database", compactions_to_run)


COMPACT_DATABASE = Procedure(
    "compact_database",
    "Compact every table whose name matches. "
    "In streaming mode after SET 'table.dml-sync' = 'false' it starts a job that compacts after each commit, until STOP JOB.",
    (
        Argument("including_databases", "regex", doc="regular expression"),
        Argument(
            "mode",
            doc="combined: a job of streaming mode also compacts tables that are created later; divided: it does not",
        ),
        Argument("including_tables", "regex", doc="regular expression on table or database.table"),
        Argument("excluding_tables", "regex", doc="regular expression"),
        Argument("table_options", doc="'k=v,...'", also=("options",)),
        Argument("partition_idle_time", "span", doc="only partitions without new files for this time"),
        Argument("compact_strategy", doc="full or minor; minor where 'clustering.incremental' is set, else full"),
    ),
    _compact_database,
)
COMPACT_CHAIN_TABLE: Procedure = Procedure(
    "compact_chain_table",
    "Merge a partition of a chain table into its snapshot branch.",
    (
        table_argument(),
        Argument("partition", required=True, doc="'dt=20250810,hour=22'"),
        Argument("overwrite", "bool", False, doc="also merge a partition that the snapshot branch has"),
    ),
    _compact_chain_table,
)
