"""Keeps a catalog server's register of the partitions of a format table right: commits report to it, MSCK and ANALYZE compare it with the files.

Source: Paimon 2.1 `FormatTableCommit.java`, `FormatTablePartitionRepair.java`, `FormatTablePartitionStatsCollector.java`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base import clock
from paimon_nb.base.errors import BadOptionValue, ColumnNotFound, PaimonError, UnknownName, UnsupportedOperation
from paimon_nb.format.data import open_data_file
from paimon_nb.format.snapshot import PartitionStatistics
from paimon_nb.table.read.format_table import (
    PartitionDirectory,
    data_files,
    file_format_of,
    find_partition_directories,
    find_partitions,
)
from paimon_nb.table.read.partition_spec import in_row_spec, matches_partition_spec, partition_text_of_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from paimon_nb.fs import FileStatus
    from paimon_nb.table.read.partition_service import PartitionService
    from paimon_nb.table.read.store import TableStore

_UNKNOWN = -1
_NO_BUCKETS = -1


def service_of(store: TableStore, statement: str) -> PartitionService:
    """The register of the table's partitions. Raises UnsupportedOperation: it has none."""
    if store.partitions is None:
        raise UnsupportedOperation(
            f"{statement} is not supported for {store.name}: no catalog registers its partitions",
            hint="a REST catalog registers those of format tables with 'metastore.partitioned-table' = 'true'",
        )
    return store.partitions


def report_commit(
    store: TableStore,
    service: PartitionService,
    written: Mapping[tuple[str, ...], Sequence[tuple[int, int]]],
    emptied: Iterable[tuple[str, ...]],
    *,
    replace: bool,
) -> None:
    """Register the partitions of a commit and report what they got.

    Args:
        store: the table. service: the register of its partitions.
        written: the partitions, as texts, with the rows and bytes of each new file.
        emptied: partitions that lost all files.
        replace: whether the new files are all that the partitions have.
    """
    now = clock.now_ms()
    found = {texts: _zero(store, texts, now) for texts in emptied} if replace else {}
    for texts, files in written.items():
        rows, size = sum(r for r, _ in files), sum(b for _, b in files)
        found[texts] = PartitionStatistics(_spec(store, texts), rows, size, len(files), now, _NO_BUCKETS)
    if found:
        statistics = list(found.values())
        service.create([s.spec for s in statistics], statistics, replace=replace)


def repair_partitions(store: TableStore, *, add: bool, drop: bool, measure: bool) -> tuple[int, int]:
    """MSCK REPAIR: register directories that are not, and drop registered partitions without a directory. Changes no file.

    Args:
        store: the table. add, drop: what is done. measure: report the number and size of the files of each partition.

    Returns:
        The numbers of partitions that were registered and dropped.

    Raises:
        UnsupportedOperation: no catalog registers the table's partitions. ReadError: a directory is not a partition.
    """
    service = service_of(store, "MSCK REPAIR TABLE")
    registered = {p.texts: p for p in find_partitions(store)}
    there = {p.texts: p for p in find_partition_directories(store)}
    new = [there[t] for t in sorted(there.keys() - registered.keys())] if add else []
    missing = [registered[t] for t in sorted(registered.keys() - there.keys())] if drop else []
    if measure:
        known = [p for t, p in sorted(there.items()) if add or t in registered]
        if measured := [_measured(store, p, rows=False) for p in known]:
            service.create([s.spec for s in measured], measured, replace=True)
    elif new:
        service.create([_spec(store, p.texts) for p in new])
    if missing:
        service.drop([_spec(store, p.texts) for p in missing])
    return len(new), len(missing)


def analyze_partitions(store: TableStore, spec: Mapping[str, Any], unbound: Iterable[str] = (), *, rows: bool) -> int:
    """ANALYZE: report what the registered partitions hold.

    Args:
        store: the table.
        spec: values of the first partition columns; none: all partitions.
        unbound: partition columns that are named without a value, so any will do.
        rows: read the number of rows from the files' footers, too; CSV, JSON and text have none, and leave what the server knows.

    Returns:
        The number of partitions.

    Raises:
        UnsupportedOperation: no catalog registers the table's partitions.
        ColumnNotFound: `spec` names another column. BadOptionValue: it leaves out an earlier one. UnknownName: nothing matches.
    """
    service = service_of(store, "ANALYZE TABLE")
    keys = store.schema.partition_keys
    if unknown := [name for name in (*spec, *unbound) if name not in keys]:
        raise ColumnNotFound(
            f"{unknown[0]!r} is not a partition column of {store.name}",
            hint=f"its partition columns are {', '.join(keys)}",
            column=unknown[0],
        )
    columns = [key for key in keys if key in spec]
    if columns != list(keys[: len(columns)]):
        raise BadOptionValue(
            f"{store.name}: PARTITION needs values for a leading run of its partition columns [{', '.join(keys)}], "
            f"not for {', '.join(columns)} alone",
            hint="name the columns before, or leave PARTITION out",
        )
    matching = in_row_spec(store.schema, spec)
    found = find_partitions(store, lambda values: matches_partition_spec(values, matching))
    if columns and not found:
        text = partition_text_of_spec(store.schema, matching)
        raise UnknownName(f"{store.name} has no partition ({text})", hint="SHOW PARTITIONS lists them", name=text)
    if measured := [_measured(store, p, rows=rows) for p in found]:
        service.create([s.spec for s in measured], measured, replace=True)
    return len(found)


def _spec(store: TableStore, texts: tuple[str, ...]) -> dict[str, str]:
    return dict(zip(store.schema.partition_keys, texts, strict=True))


def _zero(store: TableStore, texts: tuple[str, ...], now: int) -> PartitionStatistics:
    return PartitionStatistics(_spec(store, texts), 0, 0, 0, now, _NO_BUCKETS)


def _measured(store: TableStore, partition: PartitionDirectory, *, rows: bool) -> PartitionStatistics:
    files = data_files(store, partition.path)
    newest = max((f.modified_ms for f in files), default=_UNKNOWN)
    counts = [_row_count(store, f) for f in files] if rows else [_UNKNOWN]
    total = _UNKNOWN if _UNKNOWN in counts else sum(counts)
    size = sum(f.size for f in files)
    return PartitionStatistics(_spec(store, partition.texts), total, size, len(files), newest, _NO_BUCKETS)


def _row_count(store: TableStore, file: FileStatus) -> int:
    """The rows of a file by its footer; -1 if it has none or cannot be read."""
    if file_format_of(store.options) not in ("parquet", "orc"):
        return _UNKNOWN
    try:
        opened = open_data_file(store.fs, file.path, ())
    except PaimonError:
        return _UNKNOWN  # one file without a number makes that of its partition unknown
    try:
        return int(opened.num_rows)
    finally:
        opened.close()
