"""The change of a Paimon table between two snapshots, as signed rows: read from the files of the snapshots in between, never from the whole table.

Append tables: the rows of the appended files. Tables with keys: the keys of the new files, looked up at both snapshots, whatever the merge
engine is. Where files do not show which rows changed (INSERT OVERWRITE, deletion vectors, expired records), both states are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.format.manifest import ADD
from paimon_nb.incremental.operators import WEIGHT
from paimon_nb.options import table as opt
from paimon_nb.table.read.live_files import live_entries, read_changes
from paimon_nb.table.read.plan.scan_report import ScanReport
from paimon_nb.table.read.plan.snapshot_scan import (
    Split,
    deletion_vectors_of,
    deletion_vectors_of_files,
    visible_levels,
)
from paimon_nb.table.read.predicate.model import And, Compare, In
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
_MAX_KEYS = 20_000
"""More keys than this are found by reading both states."""
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
    keys = _touched_keys(table, between)
    if keys is None or keys.num_rows > _MAX_KEYS:
        return _both_states(table, start, end, columns)
    import pyarrow as pa

    return pa.concat_tables(
        [signed(look_up(table, start, keys, columns), -1), signed(look_up(table, end, keys, columns), 1)]
    )


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
    names = list(dict.fromkeys([*columns, *keys.column_names]))
    if keys.num_rows <= _EXACT_KEYS:
        parts = [_at(table, at, names, _equals(row)) for row in keys.to_pylist()]
        return pa.concat_tables(parts).select(list(columns))
    is_many = keys.num_rows > _MAX_KEYS
    condition: list[Predicate] = (
        [] if is_many else [In(n, tuple(dict.fromkeys(keys.column(n).to_pylist()))) for n in keys.column_names]
    )
    rows = _at(table, at, names, And(tuple(condition)) if len(condition) > 1 else next(iter(condition), None))
    if is_many or len(condition) > 1:
        rows = rows.append_column("_at", pa.array(range(rows.num_rows), pa.int64()))
        found = rows.select([*keys.column_names, "_at"]).join(keys, keys.column_names, join_type="left semi")
        rows = rows.take(found.column("_at")).drop_columns(["_at"])
    return rows.select(list(columns))


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


def _touched_keys(table: Table, between: Sequence[Snapshot]) -> pa.Table | None:
    """The keys of the rows that were written after a snapshot, or overwritten; None: too many."""
    import pyarrow as pa

    store, keys = table.store, list(table.primary_keys)
    entries: list[ManifestEntry] = []
    for snapshot in between:
        if snapshot.commit_kind in ("APPEND", "OVERWRITE"):
            entries += read_changes(store, snapshot.delta_manifest_list).entries
    if sum(e.file.row_count for e in entries) > 50 * _MAX_KEYS:
        return None
    # Rows of changes are read as they are stored, none of them merged with another.
    splits = [
        Split(between[-1].id, e.partition, e.bucket, e.total_buckets, (e.file,), None, False, True) for e in entries
    ]
    rows = _read(table, between[-1], splits, keys)
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


def _read(table: Table, snapshot: Snapshot, splits: Sequence[Split], columns: Sequence[str]) -> pa.Table:
    from paimon_nb.table.read import read_plan
    from paimon_nb.table.read.plan.snapshot_scan import ScanPlan

    if not splits:
        return empty_rows(table, columns)
    names = list(columns) or [table.schema.names[0]]
    plan = ScanPlan(table.store, snapshot, tuple(splits), ScanReport(), None)
    return read_plan(plan, names).select(list(columns))
