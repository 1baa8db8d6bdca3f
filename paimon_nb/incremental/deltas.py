"""The change of a Paimon table between two snapshots, as signed rows: read from the files of the snapshots in between, never from the whole table.

Append tables: the rows of the appended files. Tables with keys: the keys of the new files, looked up at both snapshots, whatever the merge
engine is. Where files do not show which rows changed (INSERT OVERWRITE, deletion vectors, expired records), both states are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.format.manifest import ADD
from paimon_nb.incremental.operators import WEIGHT
from paimon_nb.options import table as opt
from paimon_nb.table.lsm.merge.merge import without_retracts
from paimon_nb.table.read.live_files import live_entries, read_changes
from paimon_nb.table.read.plan.scan_report import ScanReport
from paimon_nb.table.read.plan.snapshot_scan import (
    Split,
    deletion_vectors_of,
    deletion_vectors_of_files,
    visible_levels,
)
from paimon_nb.table.read.predicate.key_rows import row_in
from paimon_nb.table.read.predicate.model import And, Compare
from paimon_nb.table.read.store import POSTPONE_BUCKET

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from paimon_nb.format.manifest import ManifestEntry
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read import Predicate
    from paimon_nb.table.tables.table import Table

_EXACT_KEYS = 16
"""So many keys are looked up one by one, which reads a few pages each."""
_MAX_VERSIONS = 1_000_000
"""More rows than this in new files: both states are read whole."""
_UNSTABLE = frozenset({"FLOAT", "DOUBLE"})
"""Types of key columns whose equal values have several forms."""


def change_between(table: Table, start: Snapshot | None, end: Snapshot | None, columns: Sequence[str]) -> pa.Table:
    """The rows that were added (weight 1) and removed (weight -1) from one snapshot to another.

    Args:
        table: the table; its newest schema is that of the rows.
        start: the earlier snapshot; None: the table had no rows.
        end: the later one.
        columns: the columns of the result.

    Returns:
        The columns and the weight. Rows that were removed and added again may be there twice, with opposite weights.

    Raises:
        SnapshotExpired, MissingFile: a snapshot is gone.
    """
    if end is None:
        return signed(_at(table, None, columns), 1)
    if start is None:
        return signed(_at(table, end, columns), 1)
    if start.id == end.id:
        return signed(_at(table, end, columns).slice(0, 0), 1)
    between = _snapshots_between(table, start, end)
    if not table.primary_keys:
        if all(s.commit_kind == "COMPACT" or _only_adds(table, s) for s in between):
            return signed(_appended(table, start, end, columns), 1)
        return _changed_files(table, start, end, columns)
    if _must_compare(table):
        return _both_states(table, start, end, columns)
    return _changed_keys(table, start, end, between, columns)


def signed(rows: pa.Table, weight: int) -> pa.Table:
    """Rows with a weight each."""
    import pyarrow as pa

    weights = pa.repeat(pa.scalar(weight, pa.int64()), rows.num_rows)
    return rows.append_column(WEIGHT, weights)


def look_up(table: Table, at: Snapshot, keys: pa.Table, columns: Sequence[str]) -> pa.Table:
    """The rows of a snapshot with some keys."""
    import pyarrow as pa

    if not keys.num_rows:
        return empty_rows(table, columns)
    if keys.num_rows <= _EXACT_KEYS:
        names = list(dict.fromkeys([*columns, *keys.column_names]))
        parts = [_at(table, at, names, _equals(row)) for row in keys.to_pylist()]
        return pa.concat_tables(parts).select(list(columns))
    return _at(table, at, columns, _with_keys(table, keys))


def _with_keys(table: Table, keys: pa.Table) -> Predicate:
    """The condition of having one of many keys."""
    schema = table.schema
    parts: list[Predicate] = [row_in(keys.column_names, keys)]
    if schema.partition_keys:  # not in the files; a key without them is one of any partition
        parts.append(row_in(schema.trimmed_primary_keys, keys))
        known = [n for n in schema.partition_keys if n in keys.column_names]
        if known:
            parts.append(row_in(known, keys.group_by(known).aggregate([])))
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _equals(row: dict[str, object]) -> Predicate:
    parts = tuple(Compare(n, "=", v) for n, v in row.items())
    return parts[0] if len(parts) == 1 else And(parts)


def _at(table: Table, snapshot: Snapshot | None, columns: Sequence[str], where: Predicate | None = None) -> pa.Table:
    """Rows of a snapshot in the newest schema."""
    if snapshot is None:
        return empty_rows(table, columns)
    names = list(columns) or [table.schema.names[0]]
    options = {"scan.snapshot-id": str(snapshot.id), "scan.mode": "default"}
    return table.to_arrow(names, where, options=options).select(list(columns))


def empty_rows(table: Table, columns: Sequence[str]) -> pa.Table:
    """No rows, with columns of a table."""
    from paimon_nb.format.types.arrow_builders import empty_table

    return empty_table([table.schema.field(n) for n in columns])


def _snapshots_between(table: Table, start: Snapshot, end: Snapshot) -> list[Snapshot]:
    return [table.store.snapshots.get(i) for i in range(start.id + 1, end.id + 1)]


def _only_adds(table: Table, snapshot: Snapshot) -> bool:
    if snapshot.commit_kind == "ANALYZE":
        return True
    if snapshot.commit_kind != "APPEND":
        return False
    return all(e.kind == ADD for e in read_changes(table.store, snapshot.delta_manifest_list).entries)


def _appended(table: Table, start: Snapshot, end: Snapshot, columns: Sequence[str]) -> pa.Table:
    options = {"incremental-between": f"{start.id},{end.id}", "incremental-between-scan-mode": "delta"}
    names = list(columns) or [table.schema.names[0]]
    return table.to_arrow(names, options=options).select(list(columns))


def _both_states(table: Table, start: Snapshot, end: Snapshot, columns: Sequence[str]) -> pa.Table:
    """All rows of both states: equal ones cancel out."""
    import pyarrow as pa

    return pa.concat_tables([signed(_at(table, start, columns), -1), signed(_at(table, end, columns), 1)])


def _must_compare(table: Table) -> bool:
    """Whether rows may change without a new version of them in a file, or keys cannot be looked up."""
    store = table.store
    return bool(
        store.bucket_option == POSTPONE_BUCKET
        or visible_levels(store) is not None  # rows become visible by a compaction
        or store.options.get(opt.RECORD_LEVEL_EXPIRE_TIME)
        or any(table.schema.field(k).type.root in _UNSTABLE for k in table.primary_keys)
    )


def _changed_keys(
    table: Table, start: Snapshot, end: Snapshot, between: Sequence[Snapshot], columns: Sequence[str]
) -> pa.Table:
    """A table with keys: the rows of the keys in the new files, as they were and as they are."""
    import pyarrow as pa

    keys = list(table.primary_keys)
    written = [s for s in between if s.commit_kind in ("APPEND", "OVERWRITE")]
    entries = [e for s in written for e in read_changes(table.store, s.delta_manifest_list).entries]
    newest = None
    if all(s.commit_kind == "APPEND" for s in written) and _is_last_version_newest(table):
        newest = _newest_rows(table, start, entries, list(dict.fromkeys([*keys, *columns])))
    if newest is not None:  # one read of the table
        old = look_up(table, start, newest.select(keys), columns)
        new = without_retracts(newest).select(list(columns))
        return pa.concat_tables([signed(old, -1), signed(new, 1)])
    touched = _touched_keys(table, between[-1], entries)
    if touched is None:
        return _both_states(table, start, end, columns)
    states = [signed(look_up(table, at, touched, columns), w) for at, w in ((start, -1), (end, 1))]
    return pa.concat_tables(states)


def _is_last_version_newest(table: Table) -> bool:
    """Whether the newest version of a row is the one that was written last."""
    options = table.store.options
    return bool(
        options.merge_engine == "deduplicate"
        and not options.names(opt.SEQUENCE_FIELD)
        and not options.get(opt.IGNORE_DELETE)
    )


def _newest_rows(
    table: Table, start: Snapshot, entries: Sequence[ManifestEntry], columns: Sequence[str]
) -> pa.Table | None:
    """The last versions of the rows in new files, removed ones with their kind; None: other files may have newer ones."""
    store = table.store
    newest: dict[tuple[bytes, int, int], int] = {}
    for e in live_entries(store, start):
        bucket = (e.partition, e.bucket, e.total_buckets)
        newest[bucket] = max(newest.get(bucket, -1), e.file.max_sequence)
    buckets: dict[tuple[bytes, int, int], list[ManifestEntry]] = {}
    for e in entries:
        bucket = (e.partition, e.bucket, e.total_buckets)
        # Two writers at a time, or a compaction that removed the newest rows, which were deletes: numbers were given again.
        if e.kind != ADD or e.bucket < 0 or e.file.min_sequence <= newest.get(bucket, -1):
            return None
        newest[bucket] = e.file.max_sequence
        buckets.setdefault(bucket, []).append(e)
    splits = [
        Split(start.id, partition, bucket, total, tuple(e.file for e in found), None, False)
        for (partition, bucket, total), found in buckets.items()
    ]
    return _read(table, start, splits, columns, kinds=True)


def _touched_keys(table: Table, at: Snapshot, entries: Sequence[ManifestEntry]) -> pa.Table | None:
    """The keys of the rows in files; None: too many."""
    import pyarrow as pa

    keys = list(table.primary_keys)
    if sum(e.file.row_count for e in entries) > _MAX_VERSIONS:
        return None
    # Rows of changes are read as they are stored, none of them merged with another.
    splits = [Split(at.id, e.partition, e.bucket, e.total_buckets, (e.file,), None, False, True) for e in entries]
    rows = _read(table, at, splits, keys)
    return pa.table(rows.group_by(keys).aggregate([])) if rows.num_rows else rows


def _changed_files(table: Table, start: Snapshot, end: Snapshot, columns: Sequence[str]) -> pa.Table:
    """An append table: the rows of the files, or deletion vectors, that only one of the states has. Those that a compaction moved cancel out."""
    import pyarrow as pa

    store = table.store
    if store.evolves_data:
        return _both_states(table, start, end, columns)
    states = []
    for snapshot in (start, end):
        vectors = deletion_vectors_of(store, snapshot)
        files = {}
        for e in live_entries(store, snapshot):
            found = deletion_vectors_of_files(vectors, e.partition, [e.file])
            split = Split(snapshot.id, e.partition, e.bucket, e.total_buckets, (e.file,), found, True)
            files[e.identity, tuple((found or {}).items())] = split
        states.append(files)
    parts = []
    for at, (snapshot, weight) in enumerate(((start, -1), (end, 1))):
        splits = [split for key, split in states[at].items() if key not in states[1 - at]]
        parts.append(signed(_read(table, snapshot, splits, list(columns)), weight))
    return pa.concat_tables(parts)


def _read(
    table: Table, snapshot: Snapshot, splits: Sequence[Split], columns: Sequence[str], *, kinds: bool = False
) -> pa.Table:
    from paimon_nb.table.read import read_plan
    from paimon_nb.table.read.plan.snapshot_scan import ScanPlan

    names = list(columns) or [table.schema.names[0]]
    plan = ScanPlan(table.store, snapshot, tuple(splits), ScanReport(), None)
    rows = read_plan(plan, names, kinds=kinds)
    return rows if kinds else rows.select(list(columns))
