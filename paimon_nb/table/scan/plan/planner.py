"""Plans a scan: from time travel and a predicate to splits. Reads metadata only, never rows.

Source: docs/spec/format.md sections 5.4 and 14.1; docs/spec/merge-semantics.md section 8 (Paimon `SnapshotReaderImpl`,
`DataTableBatchScan`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.manifest import DataFile, Entries, Files, IndexEntry, Listed, ManifestEntry, as_entries
from paimon_nb.format.schema import TableSchema
from paimon_nb.format.snapshot import Snapshot
from paimon_nb.options import table as opt
from paimon_nb.options.support import IGNORE_UNSUPPORTED
from paimon_nb.table.scan.plan.manifest_scan import bucket_numbers, check_unique, index_entries, live
from paimon_nb.table.scan.plan.prune import Pruner
from paimon_nb.table.scan.plan.scan_report import ScanReport
from paimon_nb.table.scan.plan.splits import DvRef, Split, pack_bucket
from paimon_nb.table.scan.plan.time_travel import (
    LatestDelta,
    TimeTravel,
    created_since,
    own_schema,
    parse_travel,
    resolve,
)
from paimon_nb.table.scan.read.data_evolution import evolves, same_rows
from paimon_nb.table.scan.read.expiry_errors import translate_missing_files
from paimon_nb.table.store import POSTPONE_BUCKET, TableStore

if TYPE_CHECKING:
    from paimon_nb.table.scan.predicate.model import Predicate

_DELETION_VECTORS = "DELETION_VECTORS"
_KNOWN_INDEXES = ("HASH", _DELETION_VECTORS)
LevelFilter = Callable[[int], bool]


@dataclass(frozen=True, slots=True)
class ScanPlan:
    """A planned scan. Raises AccessDenied if the user may not read the table."""

    store: TableStore
    """The table with the schema of the result; pass it to `read_split`."""
    snapshot: Snapshot | None
    """None: the table is empty."""
    splits: tuple[Split, ...]
    skipped: ScanReport
    predicate: Predicate | None = None
    """Bound to the schema."""

    def __post_init__(self) -> None:
        self.store.check_readable()  # every read of rows is planned here

    def __repr__(self) -> str:
        snapshot = "no snapshot" if self.snapshot is None else f"snapshot {self.snapshot.id}"
        where = f", where {self.predicate}" if self.predicate is not None else ""
        return f"<ScanPlan {snapshot}{where}: {len(self.splits)} splits, {len(self.files)} files>"

    @property
    def schema(self) -> TableSchema:
        return self.store.schema

    @property
    def files(self) -> list[DataFile]:
        """Files to read, in order."""
        return [f for s in self.splits for f in s.files]


def every_level(_level: int) -> bool:
    """For system tables: includes level 0 for every kind of table."""
    return True


def plan_scan(
    store: TableStore,
    predicate: Predicate | None = None,
    travel: TimeTravel | None = None,
    *,
    where: str | None = None,
    levels: LevelFilter | None = None,
) -> ScanPlan:
    """The splits that may hold matching rows.

    Args:
        where: the condition as SQL text, with the names of the schema that is read.
        travel: the time travel; None takes it, or an incremental read, from the store's options.
        levels: which levels to read; None: as the table requires (batch reads of tables with deletion vectors and of
            first-row tables skip level 0).

    Raises:
        TimeTravelError, SnapshotExpired, TagNotFound: the version does not exist. BadOptionValue: contradicting
        options.
        ColumnNotFound, SqlAnalysisError: the predicate does not fit the schema. CorruptFile, MissingFile.
    """
    if travel is None:
        from paimon_nb.table.scan.plan.incremental import parse_incremental, plan_incremental

        increment = parse_incremental(store.options)
        if increment is not None:
            return plan_incremental(store, increment, _condition(store, predicate, where))
        travel = parse_travel(store.options)
    snapshot = resolve(store, travel)
    fallback = store.options.get(opt.SCAN_FALLBACK_BRANCH)  # today's option, with any schema
    if snapshot is not None and own_schema(store.options) and snapshot.schema_id != store.schema.id:
        store = store.at_schema(store.schemas.get(snapshot.schema_id))
    predicate = _condition(store, predicate, where)
    bound = bound_to(store, predicate)
    if isinstance(travel, LatestDelta) and snapshot is not None:
        from paimon_nb.table.scan.plan.incremental import plan_changes

        return plan_changes(store, [snapshot], "delta", predicate)
    if snapshot is None:
        plan = ScanPlan(store, None, (), ScanReport(), bound)
    else:
        with translate_missing_files(store, snapshot.id):
            plan = plan_snapshot(store, snapshot, bound, levels=levels, since_ms=created_since(store, travel))
    if not fallback or fallback == store.branch:
        return plan
    from paimon_nb.table.scan.plan.fallback_branch import with_fallback

    return with_fallback(plan, str(fallback), travel, levels)


def _condition(store: TableStore, predicate: Predicate | None, where: str | None) -> Predicate | None:
    if where is None:
        return predicate
    from paimon_nb.table.scan.predicate.parser import parse_predicate

    return parse_predicate(where, store.schema)


def bound_to(store: TableStore, predicate: Predicate | None) -> Predicate | None:
    """A predicate bound to the store's schema. Raises: ColumnNotFound, SqlAnalysisError."""
    if predicate is None:
        return None
    from paimon_nb.table.scan.predicate.bind import bind

    return bind(predicate, store.schema.fields)


def plan_snapshot(
    store: TableStore,
    snapshot: Snapshot,
    predicate: Predicate | None = None,
    *,
    levels: LevelFilter | None = None,
    since_ms: int | None = None,
) -> ScanPlan:
    """The splits of a whole snapshot. `predicate` is bound to the store's schema."""
    independent = is_independent(store)
    pruner = Pruner(store, predicate, independent=independent)
    entries = live_pruned(store, snapshot, pruner, levels or visible_levels(store), since_ms)
    vectors = vectors_of(store, snapshot)
    splits = [
        Split(snapshot.id, partition, bucket, total, split_files(files), select(vectors, partition, files), raw)
        for (partition, bucket, total), members in grouped(entries)
        for files, raw in pack_bucket(store, members, independent)
    ]
    return ScanPlan(store, snapshot, tuple(splits), pruner.funnel(), predicate)


def live_pruned(
    store: TableStore, snapshot: Snapshot, pruner: Pruner, levels: LevelFilter | None, since_ms: int | None = None
) -> Entries:
    """The snapshot's files that may hold matching rows."""
    read = live(store, snapshot, pruner.keep_manifests)
    pruner.stage("manifests", read.manifests, read.manifests - read.manifests_skipped)
    entries = pruner.partitions(read.entries)
    check_unique(entries)
    if store.bucket_option == POSTPONE_BUCKET:
        entries = pruner.postponed(entries)
    entries = pruner.buckets(entries)
    entries = pruner.levels(entries, levels, "level 0 waits for compaction" if levels is above_zero else "other level")
    entries = pruner.created_since(entries, since_ms)
    if not evolves(store):
        return pruner.statistics(entries)
    # Statistics cover a file's own columns; another file of the same rows may hold newer values of other columns.
    whole, partial = _whole_and_partial(entries)
    return as_entries([*pruner.statistics(whole), *partial])


def _whole_and_partial(entries: Iterable[ManifestEntry]) -> tuple[list[ManifestEntry], list[ManifestEntry]]:
    """Files that hold whole rows, and files that share their rows with others."""
    entries = list(entries)
    groups = [g for _, files in grouped(as_entries(entries)) for g in same_rows(files)]
    shared = {f.file_name for group in groups if len(group) > 1 for f in group}
    whole = [e for e in entries if e.file.file_name not in shared]
    return whole, [e for e in entries if e.file.file_name in shared]


def above_zero(level: int) -> bool:
    """For tables whose level 0 is not visible."""
    return level > 0


def visible_levels(store: TableStore) -> LevelFilter | None:
    """Which levels a batch read sees; None = all."""
    options = store.options
    if not store.has_keys:
        return None
    if options.deletion_vectors and not options.get(opt.DELETION_VECTORS_MERGE_ON_READ):
        return above_zero
    return above_zero if options.merge_engine == "first-row" else None


def is_independent(store: TableStore) -> bool:
    """Whether no two visible files hold versions of the same row."""
    return not store.has_keys or visible_levels(store) is above_zero


def grouped(entries: Iterable[ManifestEntry]) -> list[tuple[tuple[bytes, int, int], Sequence[DataFile]]]:
    """((partition, bucket, total buckets), files) in order of first occurrence."""
    entries = as_entries(entries)
    if not isinstance(entries, Listed):
        return _grouped_columns(entries)
    groups: dict[tuple[bytes, int], tuple[int, list[DataFile]]] = {}
    for entry in entries:
        groups.setdefault((entry.partition, entry.bucket), (entry.total_buckets, []))[1].append(entry.file)
    return [((partition, bucket, total), files) for (partition, bucket), (total, files) in groups.items()]


def _grouped_columns(entries: Entries) -> list[tuple[tuple[bytes, int, int], Sequence[DataFile]]]:
    numbers, firsts = bucket_numbers(entries)
    ordered = entries
    if (numbers[1:] < numbers[:-1]).any():
        ordered = entries.reorder(np.argsort(numbers, kind="stable"))
    partition, partitions = entries.partitions
    cuts = [0, *np.cumsum(np.bincount(numbers)).tolist()]
    columns = (partition[firsts].tolist(), *(entries.column(n)[firsts].tolist() for n in ("bucket", "total_buckets")))
    return [
        ((partitions[at], bucket, total), Files(ordered, cuts[i], cuts[i + 1]))
        for i, (at, bucket, total) in enumerate(zip(*columns, strict=True))
    ]


def split_files(files: Sequence[DataFile]) -> Sequence[DataFile]:
    """Files as stored in a split; lazy files stay lazy."""
    return files if isinstance(files, Files) else tuple(files)


def check_known_indexes(store: TableStore, entries: Iterable[IndexEntry]) -> None:
    """Raises UnsupportedFormat for an index file of a kind that is not known here: it may hide rows, as deletion vectors do.

    Global indexes only find rows, whatever their kind.
    """
    if store.options.raw.get(IGNORE_UNSUPPORTED.key) == "all":
        return
    for entry in entries:
        if entry.index_type not in _KNOWN_INDEXES and entry.global_index is None:
            raise UnsupportedFormat(
                f"{store.name} has an index of kind {entry.index_type!r}, which may hide rows and is not known here",
                hint="read it with a newer paimon_nb, or an earlier snapshot",
                feature=entry.index_type,
                path=store.index_path(entry),
            )


Vectors = Mapping[tuple[bytes, str], DvRef]


def vectors_of(store: TableStore, snapshot: Snapshot | None) -> Vectors:
    """Location of each data file's deletion vector, by (partition, file name)."""
    entries = index_entries(store, snapshot)
    check_known_indexes(store, entries)
    if not store.options.deletion_vectors:
        return {}
    return {
        (entry.partition, r.data_file): DvRef(store.index_path(entry), r.offset, r.length, r.cardinality)
        for entry in entries
        if entry.index_type == _DELETION_VECTORS
        for r in entry.dv_ranges or ()
    }


def select(vectors: Vectors, partition: bytes, files: Iterable[DataFile]) -> dict[str, DvRef] | None:
    """The vectors of some files; None if they have none."""
    if not vectors:
        return None
    found = {f.file_name: ref for f in files if (ref := vectors.get((partition, f.file_name))) is not None}
    return found or None
