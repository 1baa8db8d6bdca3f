"""INSERT OVERWRITE, TRUNCATE, DROP PARTITION: which live files a change replaces.

Source: docs/spec/format.md section 3; docs/spec/merge-semantics.md section 11.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import ColumnNotFound, CommitConflict, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.registry import did_you_mean
from paimon_nb.format.manifest import ADD, DELETE, ManifestEntry
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.read.partition_spec import matches_partition_spec, spec_texts
from paimon_nb.table.read.store import POSTPONE_BUCKET, TableStore
from paimon_nb.table.write.publish.changes import Change, CommitMessage, append_change
from paimon_nb.table.write.publish.checks import refuse_moved_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paimon_nb.format.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Overwrite:
    """What an overwrite replaces.

    dynamic=True: exactly the partitions that the new rows touch (partitioned tables only).
    Else the partitions that match `partition`; an empty mapping means the whole table.
    """

    partition: Mapping[str, Any] = field(default_factory=dict)
    """Values by partition column, in the in-row Python form."""
    dynamic: bool = False
    read_snapshot: int | None = None
    """Set if the new rows were computed from the table itself: exactly the files of this snapshot are replaced,"""
    replaced_partitions: frozenset[bytes] | None = None
    """If set, exactly these partitions are replaced, without rows that wait for a bucket: by a rescale of a postponed table, or
    none by a clone into a new table."""


def overwrite_change(
    store: TableStore, latest: Snapshot | None, messages: Sequence[CommitMessage], overwrite: Overwrite
) -> Change:
    """The OVERWRITE snapshot on top of `latest`: DELETE the files in scope, ADD the new files. No changelog."""
    added = append_change(messages)
    scope = overwrite.replaced_partitions
    if scope is not None:
        return _overwrite_files_change(
            store, latest, added, scope.__contains__, scope, overwrite.read_snapshot, postponed=False
        )
    if overwrite.dynamic and store.schema.partition_keys:
        touched = {e.partition for e in added.entries}
        return _overwrite_files_change(
            store, latest, added, lambda p: p in touched, frozenset(touched), overwrite.read_snapshot
        )
    match = partition_matcher(store, overwrite.partition)
    drops = None
    for entry in added.entries:
        if not match(entry.partition):
            values = dict(zip(store.schema.partition_keys, store.partition_values(entry.partition), strict=True))
            raise UnsupportedOperation(
                f"{store.name}: the overwrite targets partition {spec_texts(store.schema, overwrite.partition)}, "
                f"but some rows belong to {spec_texts(store.schema, values)}",
                hint="remove those rows, or use a dynamic overwrite, which replaces the partitions of the new rows",
            )
    if overwrite.partition:
        old = {e.partition for e in live_entries(store, latest) if match(e.partition)}
        drops = frozenset(old | {e.partition for e in added.entries})
    return _overwrite_files_change(store, latest, added, match, drops, overwrite.read_snapshot)


def drop_partitions_change(store: TableStore, latest: Snapshot | None, specs: Sequence[Mapping[str, Any]]) -> Change:
    """The OVERWRITE snapshot that removes the partitions that match any of `specs`."""
    matchers = [partition_matcher(store, spec) for spec in specs]
    dropped = {e.partition for e in live_entries(store, latest) if any(m(e.partition) for m in matchers)}
    return drop_change(store, latest, frozenset(dropped))


def drop_change(store: TableStore, latest: Snapshot | None, partitions: frozenset[bytes]) -> Change:
    """The OVERWRITE snapshot that removes partitions."""
    return _overwrite_files_change(
        store, latest, Change("OVERWRITE"), partitions.__contains__, partitions, read_snapshot=None
    )


def _overwrite_files_change(
    store: TableStore,
    latest: Snapshot | None,
    added: Change,
    match: Callable[[bytes], bool],
    drops: frozenset[bytes] | None,
    read_snapshot: int | None,
    postponed: bool = True,
) -> Change:
    read = latest
    if read_snapshot is not None and latest is not None and latest.id != read_snapshot:
        read = store.snapshots.get(read_snapshot)
    deletes = tuple(
        ManifestEntry(DELETE, e.partition, e.bucket, e.total_buckets, e.file)
        for e in live_entries(store, read)
        if match(e.partition) and (postponed or e.bucket != POSTPONE_BUCKET)
    )
    if read is not latest:
        _refuse_files_added_after_read(store, latest, match, {d.identity for d in deletes}, postponed)
    refuse_moved_keys(store, latest, added.entries, deletes)
    return Change(
        kind="OVERWRITE",
        entries=deletes + tuple(e for e in added.entries if e.kind == ADD),
        new_index=added.new_index,
        base_snapshot=read.id if read else None,
        replaces_buckets=True,
        drops_index_of=drops,
    )


def _refuse_files_added_after_read(
    store: TableStore,
    latest: Snapshot | None,
    match: Callable[[bytes], bool],
    known: set[tuple[object, ...]],
    postponed: bool = True,
) -> None:
    """Refuse if files in scope arrived after the overwrite's reader: their rows would be lost or duplicated."""
    newer = [
        e
        for e in live_entries(store, latest)
        if match(e.partition) and e.identity not in known and (postponed or e.bucket != POSTPONE_BUCKET)
    ]
    if newer:
        first = newer[0]
        raise CommitConflict(
            f"{store.name}: {len(newer)} data file(s) arrived in the overwritten partitions after they were read",
            hint="run the statement again on the new state",
            snapshot=latest.id if latest else None,
            user=latest.commit_user if latest else None,
            where={"partition": store.partition_values(first.partition), "bucket": first.bucket},
            file=first.file.file_name,
            path=store.root,
        )


def partition_matcher(store: TableStore, spec: Mapping[str, Any]) -> Callable[[bytes], bool]:
    """True for partitions whose values equal those of `spec` (missing columns match everything)."""
    keys = store.schema.partition_keys
    for name in spec:
        if name not in keys:
            raise ColumnNotFound(
                f"{name!r} is not a partition column of {store.name}",
                hint=did_you_mean(name, keys) or f"partition columns: {', '.join(keys) or 'none'}",
                name=name,
            )
    return lambda partition: (
        not spec or matches_partition_spec(dict(zip(keys, store.partition_values(partition), strict=True)), spec)
    )
