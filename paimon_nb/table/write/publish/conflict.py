"""Conflict detection between a change and the commits since it was planned. Pure: entries in, the reason out.

Source: docs/spec/merge-semantics.md section 11 (Paimon `operation/commit/ConflictDetection`).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.manifest import ADD, DELETE, IndexEntry, ManifestEntry
from paimon_nb.table.read.data_evolution import is_dedicated
from paimon_nb.table.read.key_index import sources_of
from paimon_nb.table.write.publish.changes import DELETION_VECTORS, HASH

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why a change may not be committed, and where."""

    why: str
    partition: bytes
    bucket: int
    file_name: str | None = None


def bucket_count_conflict(base: Iterable[ManifestEntry], delta: Iterable[ManifestEntry]) -> Conflict | None:
    """A partition must keep its number of buckets."""
    counts: dict[bytes, int] = {}
    for entry in base:
        if entry.total_buckets > 0:
            counts.setdefault(entry.partition, entry.total_buckets)
    for entry in delta:
        have = counts.get(entry.partition)
        if entry.kind == ADD and have is not None and entry.total_buckets > 0 and entry.total_buckets != have:
            why = f"the partition has {have} buckets, the commit writes {entry.total_buckets}"
            return Conflict(why, entry.partition, entry.bucket, entry.file.file_name)
    return None


def file_conflict(base: Iterable[ManifestEntry], delta: Iterable[ManifestEntry]) -> Conflict | None:
    """Every DELETE must hit a live file and every ADD must be new."""
    live = {entry.identity for entry in base}
    for entry in delta:
        key = entry.identity
        if entry.kind == DELETE:
            if key not in live:
                why = "a file that the commit replaces is no longer live"
                return Conflict(why, entry.partition, entry.bucket, entry.file.file_name)
            live.discard(key)
        else:
            if key in live:
                return Conflict("the file was already added", entry.partition, entry.bucket, entry.file.file_name)
            live.add(key)
    return None


def row_range_conflict(base: Sequence[ManifestEntry], delta: Sequence[ManifestEntry]) -> Conflict | None:
    """Data evolution: no file may have a part of the rows of a compacted one, such as newer values of a column."""
    deleted = {e.identity for e in delta if e.kind == DELETE}
    live = [e.file for e in base if e.identity not in deleted and not is_dedicated(e.file)]
    for entry in delta:
        begin, count = entry.file.first_row_id, entry.file.row_count
        if entry.kind != ADD or begin is None or is_dedicated(entry.file):
            continue
        for other in live:
            first = other.first_row_id
            if first is None or first >= begin + count or first + other.row_count <= begin:
                continue
            if (first, other.row_count) != (begin, count) or entry.file.file_source == 1:
                why = f"another commit changed columns or files of the row ids {begin} to {begin + count - 1}"
                return Conflict(why, entry.partition, entry.bucket, other.file_name)
    return None


def row_loss_conflict(base: Sequence[ManifestEntry], delta: Sequence[ManifestEntry]) -> Conflict | None:
    """Data evolution: files that a compaction replaces must be all files of their rows."""
    deleted = [e for e in delta if e.kind == DELETE and e.file.first_row_id is not None and not is_dedicated(e.file)]
    replaced = {e.identity for e in deleted}
    ranges = {(e.file.first_row_id, e.file.row_count) for e in deleted}
    for entry in base:
        if is_dedicated(entry.file) or entry.identity in replaced:
            continue
        if (entry.file.first_row_id, entry.file.row_count) in ranges:
            why = f"another commit changed columns of the row ids from {entry.file.first_row_id} on"
            return Conflict(why, entry.partition, entry.bucket, entry.file.file_name)
    return None


def level_conflict(
    base: Sequence[ManifestEntry], delta: Sequence[ManifestEntry], key: Callable[[bytes], Any]
) -> Conflict | None:
    """On level 1 and above, key ranges of one (partition, bucket, level) must not overlap after the change."""
    touched = {(e.partition, e.bucket, e.file.level) for e in delta if e.kind == ADD and e.file.level > 0}
    if not touched:
        return None
    deleted = {e.identity for e in delta if e.kind == DELETE}
    added = [e for e in delta if e.kind == ADD]
    spans: dict[tuple[bytes, int, int], list[tuple[Any, Any, str]]] = {}
    for entry in [*(e for e in base if e.identity not in deleted), *added]:
        location = (entry.partition, entry.bucket, entry.file.level)
        if location in touched:
            spans.setdefault(location, []).append(
                (key(entry.file.min_key), key(entry.file.max_key), entry.file.file_name)
            )
    for (partition, bucket, level), files in spans.items():
        files.sort(key=lambda f: (f[0], f[1]))
        for before, after in pairwise(files):
            if after[0] <= before[1]:
                why = f"level {level} would hold two files with the same keys ({before[2]} and {after[2]})"
                return Conflict(why, partition, bucket, after[2])
    return None


def index_conflict(
    planned: Iterable[IndexEntry],
    current: Iterable[IndexEntry],
    new: Sequence[IndexEntry],
    deleted: Iterable[IndexEntry],
) -> Conflict | None:
    """Index files that the change touches must be those it was planned from.

    A hash index guards its whole partition: another writer may have put the same new key in another bucket.
    Deletion vectors guard their bucket's data files.
    """
    hashed = {i.partition for i in new if i.index_type == HASH}
    before, deleted = {i.file_name for i in planned}, list(deleted)
    replaced_files = {i.file_name for i in deleted}
    now = list(current)
    for entry in now:
        known = entry.file_name in before or entry.file_name in replaced_files
        if entry.index_type == HASH and entry.partition in hashed and not known:
            why = "another writer assigned buckets to keys of this partition"
            return Conflict(why, entry.partition, entry.bucket, entry.file_name)
    present = {i.file_name for i in now}
    for entry in deleted:
        if entry.file_name not in present:
            why = "an index file that the commit replaces is no longer live"
            return Conflict(why, entry.partition, entry.bucket, entry.file_name)
    return _global_index_conflict(before | replaced_files, now, new) or _deletion_vector_conflict(
        before, now, new, replaced_files
    )


def _global_index_conflict(
    known_files: set[str], now: Iterable[IndexEntry], new: Sequence[IndexEntry]
) -> Conflict | None:
    """Rows have one global index of a column: another commit indexed some of the same rows since the change was planned."""
    added = [(i, dict(i.global_index), _level_of_index(i)) for i in new if i.global_index is not None]
    for entry in now if added else ():
        if entry.global_index is None or entry.file_name in known_files:
            continue
        there, level = dict(entry.global_index), _level_of_index(entry)
        for index, known, own_level in added:
            if level != own_level:
                continue
            first, last = known["_ROW_RANGE_START"], known["_ROW_RANGE_END"]
            same_rows = there["_ROW_RANGE_START"] <= last and first <= there["_ROW_RANGE_END"]
            if there["_INDEX_FIELD_ID"] == known["_INDEX_FIELD_ID"] and same_rows:
                rows = "the rows of this level" if level else f"some of the row ids {first} to {last}"
                return Conflict(f"another commit indexed {rows}", index.partition, index.bucket, entry.file_name)
    return None


def _level_of_index(entry: IndexEntry) -> tuple[bytes, int, int] | None:
    """The place of an index of a primary-key table, which counts the rows of one level; None for an index of row ids."""
    sources = sources_of(entry)
    return None if sources is None else (entry.partition, entry.bucket, sources.level)


def missing_target_conflict(
    base: Iterable[ManifestEntry], delta: Iterable[ManifestEntry], new: Iterable[IndexEntry]
) -> Conflict | None:
    """A deletion vector for a file that another commit replaced would delete nothing: the rows moved to another file."""
    marked = [(i, dv) for i in new if i.index_type == DELETION_VECTORS for dv in i.dv_ranges or ()]
    if not marked:
        return None
    live = {e.file.file_name for e in (*base, *delta)}
    for index, dv in marked:
        if dv.data_file not in live:
            why = f"the commit deletes rows of {dv.data_file}, which is no longer live"
            return Conflict(why, index.partition, index.bucket, dv.data_file)
    return None


def lost_deletes_conflict(
    planned: Iterable[IndexEntry],
    current: Iterable[IndexEntry],
    delta: Sequence[ManifestEntry],
    deleted: Iterable[IndexEntry],
) -> Conflict | None:
    """Another commit deleted rows of a file that the change replaces; the replacement would restore them.

    Index files that the change itself deletes (`deleted`) count as read, even if their snapshot has expired.
    """
    known = {i.file_name for i in deleted}
    moved = {
        e.file.file_name for e in delta if e.kind == ADD
    }  # moved to another level together with its deletion vector
    replaced = {e.file.file_name: e for e in delta if e.kind == DELETE and e.file.file_name not in moved}
    before = _deleted_rows(planned, replaced)
    for name, rows in _deleted_rows((i for i in current if i.file_name not in known), replaced).items():
        if before.get(name) != rows:
            entry = replaced[name]
            return Conflict(f"another writer deleted rows of {name}", entry.partition, entry.bucket, name)
    return None


def _deleted_rows(indexes: Iterable[IndexEntry], files: Container[str]) -> dict[str, object]:
    """By data file, the state of its deletion vector. Vectors only grow, so the cardinality identifies a version."""
    return {
        dv.data_file: (index.file_name, dv.offset) if dv.cardinality is None else dv.cardinality
        for index in indexes
        if index.index_type == DELETION_VECTORS
        for dv in index.dv_ranges or ()
        if dv.data_file in files
    }


def _deletion_vector_conflict(
    before: set[str], now: Iterable[IndexEntry], new: Sequence[IndexEntry], deleted: set[str]
) -> Conflict | None:
    """Another commit deleted rows of a file for which this change adds a deletion vector."""
    new_vectors = {r.data_file: i for i in new if i.index_type == DELETION_VECTORS for r in i.dv_ranges or ()}
    buckets = {(i.partition, i.bucket) for i in new_vectors.values()}
    for entry in now:
        if entry.index_type != DELETION_VECTORS or (entry.partition, entry.bucket) not in buckets:
            continue
        if entry.file_name in before or entry.file_name in deleted:
            continue
        for dv in entry.dv_ranges or ():
            if dv.data_file in new_vectors:
                why = f"another writer deleted rows of {dv.data_file}"
                return Conflict(why, entry.partition, entry.bucket, dv.data_file)
    return None
