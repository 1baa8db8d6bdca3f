"""EXPLAIN of a scan: the snapshot, the skipped files and why, the strategy of each split."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from paimon_nb.table.read.strategy.planned_scan import PlannedScan, plan_table_scan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.table.read.predicate.model import Predicate
    from paimon_nb.table.tables.table import Table


def explain_relation(
    table: Table,
    *,
    options: Mapping[str, str] | None = None,
    filter: Predicate | None = None,
    columns: Sequence[str] | None = None,
) -> str:
    """The Paimon part of EXPLAIN for one table of a query. Reads only metadata."""
    scan = plan_table_scan(table, options=options, filter=filter, columns=columns)
    return "\n".join([f"== Paimon: {table.name} ==", *describe_scan(scan)])


def describe_scan(scan: PlannedScan) -> list[str]:
    """The lines about a planned scan."""
    plan = scan.plan
    files = [f for s in plan.splits for f in s.files]
    snapshot = plan.snapshot
    is_format_table = plan.store.is_format_table
    no_snapshot = "format table, without snapshots" if is_format_table else "snapshot: none, the table is empty"
    rows_of_files = "" if is_format_table else f"{sum(f.row_count for f in files)} rows stored, "
    lines = [
        f"snapshot: {snapshot.id} ({snapshot.commit_kind}, schema {plan.schema.id})" if snapshot else no_snapshot,
        f"columns: {', '.join(f.name for f in scan.fields)}",
        f"filter for skipping: {plan.predicate}" if plan.predicate is not None else "filter for skipping: none",
        *_skipped_lines(plan.skipped),
        f"read: {_count_with_noun(len(plan.splits), 'split')}, {_count_with_noun(len(files), 'file')}, "
        f"{rows_of_files}{sum(f.file_size for f in files)} bytes",
    ]  # fmt: skip
    splits: Counter[tuple[str, str]] = Counter()
    files_of: Counter[tuple[str, str]] = Counter()
    for split, route in zip(plan.splits, scan.routes, strict=True):
        splits[(route.strategy.value, route.why)] += 1
        files_of[(route.strategy.value, route.why)] += len(split.files)
    for (strategy, why), count in sorted(splits.items()):
        lines.append(
            f"  {strategy}: {_count_with_noun(count, 'split')}, {_count_with_noun(files_of[(strategy, why)], 'file')}: {why}"
        )
    return lines


def _skipped_lines(funnel: object) -> list[str]:
    text = str(funnel)
    return [f"skipping: {line}" if i == 0 else f"  {line}" for i, line in enumerate(text.splitlines()) if line.strip()]


def _count_with_noun(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
