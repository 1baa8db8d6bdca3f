"""Plans a scan of a format table: lists the partitions that can match, and their files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.format.manifest import EMPTY_STATS, DataFile
from paimon_nb.format.row import EMPTY_ROW
from paimon_nb.format.row.binary_row import to_arrow_value
from paimon_nb.format.types import arrow_type
from paimon_nb.format.types.arrow_builders import arrow_column
from paimon_nb.table.read.format_table import data_files, find_partitions, partition_bytes_of
from paimon_nb.table.read.plan.scan_report import ScanReport, Stage
from paimon_nb.table.read.plan.snapshot_scan import ScanPlan, Split, pack_into_bins
from paimon_nb.table.read.plan.time_travel import Latest
from paimon_nb.table.read.predicate.evaluate import evaluate
from paimon_nb.table.read.predicate.model import conjuncts_on

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paimon_nb.format.types import DataField
    from paimon_nb.fs import FileStatus
    from paimon_nb.table.read.plan.time_travel import TimeTravel
    from paimon_nb.table.read.predicate.model import Predicate
    from paimon_nb.table.read.store import TableStore

_BYTES_OF_VALUE = 8
"""Of a value in a file, about, for estimates of the number of rows."""


def plan_format_table(store: TableStore, predicate: Predicate | None, travel: TimeTravel) -> ScanPlan:
    """The files of the partitions that can have matching rows.

    Args:
        store: the table. predicate: the condition, bound to the schema. travel: what the options ask for.

    Raises:
        UnsupportedOperation: the options ask for an earlier version.
    """
    if not isinstance(travel, Latest):
        store.check_has_snapshots("earlier versions")
    listed, matching = 0, 0
    splits: list[Split] = []
    partition_may_match = _partition_matcher(store, predicate)

    def count_and_match_partition(values: Mapping[str, Any]) -> bool:
        nonlocal listed, matching
        is_match, is_whole = partition_may_match(values), len(values) == len(store.schema.partition_keys)
        listed, matching = listed + (is_whole or not is_match), matching + (is_whole and is_match)
        return is_match

    for partition in find_partitions(store, count_and_match_partition):
        row = partition_bytes_of(store, partition.values) if partition.values else EMPTY_ROW
        splits += _splits_of_partition(store, row, partition.path)
    stages = (Stage("partition directories", listed, matching),) if store.schema.partition_keys else ()
    return ScanPlan(store, None, tuple(splits), ScanReport(stages), predicate)


def _splits_of_partition(store: TableStore, partition: bytes, directory: str) -> list[Split]:
    """The files of one partition in splits of about `source.split.target-size`."""
    files = [_data_file(store, f) for f in data_files(store, directory) if f.size]
    target, cost = store.options.split_target_size, store.options.split_open_file_cost
    return [
        Split(0, partition, 0, 1, tuple(part), None, raw=False, plain_files=True)
        for part in pack_into_bins(files, lambda f: max(f.file_size, cost), target)
    ]


def _partition_matcher(store: TableStore, predicate: Predicate | None) -> Callable[[Mapping[str, Any]], bool]:
    """Whether rows can match that have these values in the first partition columns."""
    fields = {f.name: f for f in store.schema.partition_fields}

    def partition_may_match(values: Mapping[str, Any]) -> bool:
        if not store.reads_partition(list(values.values())):
            return False
        part = conjuncts_on(predicate, set(values))
        if part is None:
            return True
        known = [fields[name] for name in values]
        return evaluate(part, one_row(known, list(values.values())), known)[0].as_py() is True

    return partition_may_match


def one_row(fields: Sequence[DataField], values: Sequence[Any]) -> pa.Table:
    """One row of in-row values as an Arrow table."""
    columns = [
        arrow_column([to_arrow_value(f.type, v)], arrow_type(f.type)) for f, v in zip(fields, values, strict=True)
    ]  # fmt: skip
    return pa.table(columns, names=[f.name for f in fields])


def _data_file(store: TableStore, file: FileStatus) -> DataFile:
    """A listed file as the planner has it. Its number of rows is an estimate."""
    rows = max(1, file.size // (_BYTES_OF_VALUE * len(store.schema.fields)))
    return DataFile(
        file.name, file.size, rows, EMPTY_ROW, EMPTY_ROW, EMPTY_STATS, EMPTY_STATS, 0, 0, store.schema.id, 0,
        external_path=file.path,
    )  # fmt: skip
