"""Plans the scan of one snapshot: from a bound predicate to splits, the independently readable parts of a scan.

Reads metadata only, never rows. Source: docs/spec/format.md sections 5.4 and 14.1; docs/spec/merge-semantics.md section 8
(Paimon `SnapshotReaderImpl`, `MergeTreeSplitGenerator`, `AppendOnlySplitGenerator`, `BinPacking`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from itertools import accumulate, repeat
from typing import TYPE_CHECKING, Any, TypeVar

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.manifest import (
    FILE_NUMBERS,
    DataFile,
    Entries,
    IndexEntry,
    LazyFiles,
    ManifestEntry,
    as_entries,
)
from paimon_nb.options import table as opt
from paimon_nb.options.support import IGNORE_UNSUPPORTED
from paimon_nb.table.lsm.levels import key_decoder, split_into_sections
from paimon_nb.table.read.data_evolution import group_by_row_range
from paimon_nb.table.read.live_files import check_unique, group_by_bucket, index_entries, read_live
from paimon_nb.table.read.plan.prune import Pruner
from paimon_nb.table.read.store import POSTPONE_BUCKET, TableStore

if TYPE_CHECKING:
    from pyroaring import BitMap64

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.plan.scan_report import ScanReport
    from paimon_nb.table.read.predicate.model import Predicate


_DELETION_VECTORS = "DELETION_VECTORS"
_KNOWN_INDEXES = ("HASH", _DELETION_VECTORS)
LevelFilter = Callable[[int], bool]


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DvRef:
    """Location of a data file's deletion vector."""

    path: str
    """The index file."""
    offset: int
    length: int
    cardinality: int | None


@dataclass(frozen=True, slots=True)
class Split:
    """Files of one bucket that are read together. Plain data: pickled for Spark tasks."""

    snapshot_id: int
    partition: bytes
    bucket: int
    total_buckets: int
    files: Sequence[DataFile]
    """A tuple, or an equal sequence."""
    deletion_vectors: Mapping[str, DvRef] | None
    """By data file name; None if no row is deleted."""
    raw: bool
    """Every stored row (that is not deleted by a vector) is a result row: no merging, no row kinds."""
    changes: bool = False
    """The rows are changes of a primary-key table with their row kinds: emitted one by one, never merged."""
    before: tuple[DataFile, ...] = ()
    """For a difference of two states: the files of the earlier one."""
    before_vectors: Mapping[str, DvRef] | None = None
    diff: bool = False
    """Emit the difference between the merged rows of `files` and those of `before`."""
    waiting: tuple[DataFile, ...] = ()
    """Postponed files of the partition, in write order: their rows that belong to this bucket are merged over it."""
    branch: str | None = None
    """Set if the files belong to another branch than the plan's, with its schemas and options (`scan.fallback-branch`)."""
    plain_files: bool = False
    """Files of a format table, which no metadata describes: the numbers of rows are estimates."""
    row_ids: BitMap64 | None = None
    """The row ids that may match the plan's condition; None: any."""
    origins: Mapping[str, tuple[str, bytes]] | None = None
    """Branch and partition of each file, by name, if they are not the split's: of a chain table several are merged into one."""

    @property
    def size(self) -> int:
        """Bytes to read."""
        return sum(f.file_size for f in (*self.before, *self.files, *self.waiting))

    @property
    def row_count(self) -> int:
        """Stored rows, before merging."""
        return sum(f.row_count for f in (*self.files, *self.waiting))


def pack_into_bins(items: Iterable[T], weight: Callable[[T], int], target: int) -> list[list[T]]:
    """Bins in order: a bin is closed when the next item would exceed `target`."""
    bins: list[list[T]] = []
    load = 0
    for item in items:
        more = weight(item)
        if bins and load + more <= target:
            bins[-1].append(item)
            load += more
        else:
            bins.append([item])
            load = more
    return bins


def pack_bucket_into_splits(
    store: TableStore, files: Sequence[DataFile], independent: bool
) -> list[tuple[Sequence[DataFile], bool]]:
    """The files of one bucket as (files of a split, raw).

    Args:
        independent: no two files hold versions of the same row: append tables, deletion vectors, first-row.
    """
    target, cost = store.options.split_target_size, store.options.split_open_file_cost
    if store.evolves_data:
        bins = pack_into_bins(
            group_by_row_range(files), lambda group: max(sum(f.file_size for f in group), cost), target
        )
        return [([f for group in part for f in group], all(len(group) == 1 for group in part)) for part in bins]
    if not store.has_keys:
        return [(files[a:b], True) for a, b in _bin_ranges(_file_numbers(files, "file_size"), cost, target)]
    levels, deletes = set(_file_numbers(files, "level")), _file_numbers(files, "deletes")
    if 0 not in levels and max(deletes, default=0) <= 0 and (independent or len(levels) == 1):
        cuts = _bin_ranges(_file_numbers(files, "file_size"), cost, target)
        return [(files[a:b], not any(deletes[a:b])) for a, b in cuts]
    order: list[int] = []
    groups: list[tuple[int, int, bool]] = []
    for group, single in _sections_of_files(store, files):
        groups.append((len(order), len(order) + len(group), single and not any(deletes[i] for i in group)))
        order += group
    ordered = files.take(order) if isinstance(files, LazyFiles) else [files[i] for i in order]
    return [(ordered[a:b], raw) for a, b, raw in groups]


def pack_by_key(store: TableStore, files: Sequence[DataFile]) -> list[list[DataFile]]:
    """The files of the splits of one bucket, in which files of any level may hold versions of the same row."""
    return [[files[i] for i in group] for group, _ in _sections_of_files(store, files)]


def _sections_of_files(store: TableStore, files: Sequence[DataFile]) -> list[tuple[list[int], bool]]:
    """The files of each split by their index, and whether no two of them have common keys."""
    target, cost = store.options.split_target_size, store.options.split_open_file_cost
    sizes = _file_numbers(files, "file_size")
    parts = [
        ([i for run in section for i in run], len(section) == 1)
        for section in split_into_sections(_key_bounds(store, files))
    ]
    bins = pack_into_bins(parts, lambda part: max(sum(sizes[i] for i in part[0]), cost), target)
    return [
        ([i for part, _ in part_of_bin for i in part], all(single for _, single in part_of_bin)) for part_of_bin in bins
    ]


def _key_bounds(store: TableStore, files: Sequence[DataFile]) -> list[tuple[Any, Any, int]]:
    """(smallest key, largest key, index) of each file."""
    types = [f.type for f in store.schema.key_fields]
    if isinstance(files, LazyFiles):
        from paimon_nb.table.read.plan.key_ranks import key_ranks

        ranks = key_ranks(types, files.column("min_key"), files.column("max_key"))
        if ranks is not None:
            return list(zip(ranks[0].tolist(), ranks[1].tolist(), range(len(files)), strict=True))
    key = key_decoder(types)
    return [(key(f.min_key), key(f.max_key), i) for i, f in enumerate(files)]


def _bin_ranges(sizes: Sequence[int], cost: int, target: int) -> Iterator[tuple[int, int]]:
    """Bins of files as (first, end), as `pack_into_bins` builds them from `max(size, cost)`."""
    loads = [0, *accumulate(map(max, sizes, repeat(cost)))]
    begin = 0
    while begin < len(sizes):
        end = max(bisect_right(loads, loads[begin] + target, begin) - 1, begin + 1)
        yield begin, end
        begin = end


def _file_numbers(files: Sequence[DataFile], name: str) -> list[int]:
    """A number of each file; lazy files stay lazy."""
    return files.numbers(name) if isinstance(files, LazyFiles) else list(map(FILE_NUMBERS[name], files))


_observed: ContextVar[list[ScanPlan] | None] = ContextVar("observed scan plans", default=None)


@contextmanager
def observed_plans() -> Iterator[list[ScanPlan]]:
    """The scans that this thread plans inside the block, in order: the notebook shows what a query read."""
    plans: list[ScanPlan] = []
    token = _observed.set(plans)
    try:
        yield plans
    finally:
        _observed.reset(token)


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
        plans = _observed.get()
        if plans is not None:
            plans.append(self)

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


def all_levels(_level: int) -> bool:
    """For system tables: includes level 0 for every kind of table."""
    return True


def bind_to_store(store: TableStore, predicate: Predicate | None) -> Predicate | None:
    """A predicate bound to the store's schema. Raises: ColumnNotFound, SqlAnalysisError."""
    if predicate is None:
        return None
    from paimon_nb.table.read.predicate.evaluate import bind_literals

    return bind_literals(predicate, store.schema.fields)


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
    merged = levels is None and since_ms is None and merges_postponed(store)
    # A waiting row may complete a real one whose values do not match: only its key decides.
    pruner = Pruner(store, conjuncts_on_key(store, predicate) if merged else predicate, independent=independent)
    waiting = _postponed_files(store, snapshot, pruner) if merged else {}
    entries = prune_live_files(store, snapshot, pruner, levels or visible_levels(store), since_ms)
    candidates = None
    if predicate is not None and (store.evolves_data or (store.has_key_indexes and independent and not merged)):
        from paimon_nb.table.read.plan.global_index import prune_by_global_index

        entries, candidates = prune_by_global_index(store, snapshot, pruner, entries)
    splits = pack_live_files_into_splits(store, snapshot, entries, independent=independent)
    if candidates is not None:
        splits = [_split_with_row_ids(split, candidates) for split in splits]
    if waiting:
        splits = _with_postponed_rows(store, snapshot, splits, waiting)
    return ScanPlan(store, snapshot, tuple(splits), pruner.funnel(), predicate)


def _split_with_row_ids(split: Split, candidates: BitMap64) -> Split:
    """The split with those of its row ids that are candidates; unchanged if all are."""
    from paimon_nb.table.read.plan.global_index import row_ids_of_files

    rows = row_ids_of_files(split.files)
    if rows is None:
        return split
    found = rows & candidates
    return split if found == rows else replace(split, row_ids=found)


def pack_live_files_into_splits(
    store: TableStore,
    snapshot: Snapshot,
    entries: Iterable[ManifestEntry],
    *,
    independent: bool,
    as_stored: Callable[[Sequence[DataFile]], Sequence[DataFile]] | None = None,
) -> list[Split]:
    """The splits of live files of a snapshot, in plan order, with their deletion vectors.

    Args:
        independent: whether files of a bucket can be read one by one; see `is_independent`.
        as_stored: the files of a split as it stores them; None: lazy files stay lazy.
    """
    vectors = deletion_vectors_of(store, snapshot)
    stored = as_stored or split_files
    return [
        Split(
            snapshot.id, partition, bucket, total, stored(files), deletion_vectors_of_files(vectors, partition, files), raw
        )
        for (partition, bucket, total), members in files_in_plan_order(store, entries)
        for files, raw in pack_bucket_into_splits(store, members, independent)
    ]  # fmt: skip


def conjuncts_on_key(store: TableStore, bound: Predicate | None) -> Predicate | None:
    """The conjuncts that all versions of a row answer alike; of an append table all."""
    if not store.has_keys:
        return bound
    from paimon_nb.table.read.predicate.model import conjuncts_on

    return conjuncts_on(bound, frozenset((*store.schema.primary_keys, *store.schema.partition_keys)))


def wants_postponed(store: TableStore) -> bool:
    """Whether the table's options ask for rows that wait for a bucket."""
    return store.bucket_option == POSTPONE_BUCKET and bool(store.options.get(opt.POSTPONE_MERGE_ON_READ))


def merges_postponed(store: TableStore) -> bool:
    """Whether batch reads of this table see rows that wait for a bucket. They are not compacted: `compacted-full` is without them."""
    return wants_postponed(store) and store.options.get(opt.SCAN_MODE) != "compacted-full"


def written_order(files: Iterable[DataFile]) -> list[DataFile]:
    """Postponed files in write order: later rows win."""
    return sorted(files, key=lambda f: (f.creation_time_ms or 0, f.min_sequence, f.file_name))


def _postponed_files(store: TableStore, snapshot: Snapshot, pruner: Pruner) -> dict[bytes, list[DataFile]]:
    """The files of waiting rows by partition, in write order."""
    found = pruner.prune_partitions(read_live(store, snapshot, pruner.keep_manifests).entries)
    waiting: dict[bytes, list[DataFile]] = {}
    for entry in found.filter(found.column("bucket") == POSTPONE_BUCKET):
        waiting.setdefault(entry.partition, []).append(entry.file)
    return {partition: written_order(files) for partition, files in waiting.items()}


def _with_postponed_rows(
    store: TableStore, snapshot: Snapshot, splits: Sequence[Split], waiting: Mapping[bytes, Sequence[DataFile]]
) -> list[Split]:
    """The splits; in a partition with waiting rows one for each bucket, which merges those that belong to it.

    Source: Paimon 2.1 `PostponeMergeReadBuilder`.

    Args:
        splits: of the real buckets, of which none was left out for the values of its rows.
    """
    entries = as_entries(read_live(store, snapshot).entries)  # all of them: a condition may leave some out
    real = entries.filter(entries.column("bucket") >= 0)
    totals = {e.partition: e.total_buckets for e in real if e.partition in waiting}
    buckets: dict[tuple[bytes, int], list[Split]] = {}
    for split in splits:
        buckets.setdefault((split.partition, split.bucket), []).append(split)
    found = [s for s in splits if s.partition not in waiting]
    for partition, files in waiting.items():
        total = totals.get(partition, 1)  # without real buckets any number gives the same rows
        for bucket in range(total):
            parts = buckets.get((partition, bucket), [])
            vectors = {name: ref for part in parts for name, ref in (part.deletion_vectors or {}).items()}
            own = tuple(f for part in parts for f in part.files)
            found.append(
                Split(snapshot.id, partition, bucket, total, own, vectors or None, raw=False, waiting=tuple(files))
            )
    return found


def prune_live_files(
    store: TableStore, snapshot: Snapshot, pruner: Pruner, levels: LevelFilter | None, since_ms: int | None = None
) -> Entries:
    """The snapshot's files that may hold matching rows."""
    read = read_live(store, snapshot, pruner.keep_manifests)
    pruner.stage("manifests", read.manifests, read.manifests - read.manifests_skipped)
    entries = pruner.prune_partitions(read.entries)
    check_unique(entries)
    if store.bucket_option == POSTPONE_BUCKET:
        entries = pruner.prune_postponed(entries)
    entries = pruner.prune_buckets(entries)
    entries = pruner.prune_levels(
        entries, levels, "level 0 waits for compaction" if levels is above_level0 else "other level"
    )
    return prune_by_statistics(store, pruner, pruner.prune_created_before(entries, since_ms))


def prune_by_statistics(store: TableStore, pruner: Pruner, entries: Entries) -> Entries:
    """Entries whose statistics allow a matching row; of files that share their rows all."""
    if not store.evolves_data:
        return pruner.prune_by_stats(entries)
    # Statistics cover a file's own columns; another file of the same rows may hold newer values of other columns.
    whole, partial = _whole_and_partial(entries)
    return as_entries([*pruner.prune_by_stats(whole), *partial])


def _whole_and_partial(entries: Iterable[ManifestEntry]) -> tuple[list[ManifestEntry], list[ManifestEntry]]:
    """Files that hold whole rows, and files that share their rows with others."""
    entries = list(entries)
    groups = [g for _, files in group_by_bucket(as_entries(entries)) for g in group_by_row_range(files)]
    shared = {f.file_name for group in groups if len(group) > 1 for f in group}
    whole = [e for e in entries if e.file.file_name not in shared]
    return whole, [e for e in entries if e.file.file_name in shared]


def above_level0(level: int) -> bool:
    """For tables whose level 0 is not visible."""
    return level > 0


def visible_levels(store: TableStore) -> LevelFilter | None:
    """Which levels a batch read sees; None = all."""
    options = store.options
    if not store.has_keys:
        return None
    if options.deletion_vectors and not options.get(opt.DELETION_VECTORS_MERGE_ON_READ):
        return above_level0
    return above_level0 if options.merge_engine == "first-row" else None


def is_independent(store: TableStore) -> bool:
    """Whether no two visible files hold versions of the same row."""
    return not store.has_keys or visible_levels(store) is above_level0


def files_in_plan_order(
    store: TableStore, entries: Iterable[ManifestEntry]
) -> list[tuple[tuple[bytes, int, int], Sequence[DataFile]]]:
    """`group_by_bucket`, or partition by partition (`scan.plan-sort-partition`)."""
    groups = group_by_bucket(entries)
    if store.options.get(opt.SCAN_PLAN_SORT_PARTITION):
        groups.sort(key=lambda g: store.partition_order(g[0][0]))
    return groups


def split_files(files: Sequence[DataFile]) -> Sequence[DataFile]:
    """Files as stored in a split; lazy files stay lazy."""
    return files if isinstance(files, LazyFiles) else tuple(files)


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


def deletion_vectors_of(store: TableStore, snapshot: Snapshot | None) -> Vectors:
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


def deletion_vectors_of_files(vectors: Vectors, partition: bytes, files: Iterable[DataFile]) -> dict[str, DvRef] | None:
    """The vectors of some files; None if they have none."""
    if not vectors:
        return None
    found = {f.file_name: ref for f in files if (ref := vectors.get((partition, f.file_name))) is not None}
    return found or None
