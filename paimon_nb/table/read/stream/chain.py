"""Streams of chain tables: the state of both branches first, then the changes of the delta branch.

Source: Paimon 2.1 `ChainTableStreamScan`, `ChainTableFileStoreTable`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import SnapshotExpired, UnsupportedOperation
from paimon_nb.options import table as opt
from paimon_nb.options.read import SOURCE_CHECKPOINT_ALIGN_ENABLED
from paimon_nb.table.read.plan.chain import ChainState, starting_splits
from paimon_nb.table.read.stream.offset import StreamOffset

if TYPE_CHECKING:
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.plan.snapshot_scan import Split
    from paimon_nb.table.read.predicate.model import Predicate
    from paimon_nb.table.read.store import TableStore

_CAPTURES = 3
_POSITIONS = tuple(
    o.key
    for o in (
        opt.SCAN_SNAPSHOT_ID, opt.SCAN_TIMESTAMP_MILLIS, opt.SCAN_TIMESTAMP, opt.SCAN_TAG_NAME, opt.SCAN_WATERMARK, opt.CONSUMER_ID,
        opt.SCAN_FILE_CREATION_TIME_MILLIS, opt.SCAN_CREATION_TIME_MILLIS,
    )
)  # fmt: skip


def followed_store(store: TableStore, predicate: Predicate | None = None) -> TableStore:
    """The table whose snapshots a stream follows: the table itself, or the delta branch of a chain table.

    Raises: UnsupportedOperation: of a chain table, a start other than its state, or a condition on partition columns.
    """
    names = store.chain_branches
    if names is None:
        return store
    check_incremental(store, "a stream")
    if predicate is not None and predicate.columns() & set(store.schema.partition_keys):
        raise _no_partition_filter(store)
    delta, merges = store.on_branch(names[1]), opt.CHAIN_TABLE_STREAMING_MERGE_SNAPSHOT
    if store.options.get(merges):  # the option may be that of the table only
        delta = delta.copy({merges.key: "true"})
    return replace(delta, starts_chain=True)


def check_incremental(store: TableStore, reader: str) -> None:
    """Refuse what a stream or a lookup of a chain table cannot do. Raises UnsupportedOperation.

    Args:
        reader: what reads it, for the message.
    """
    names, options = store.chain_branches, store.options
    assert names is not None
    mode = options.get(opt.SCAN_MODE)
    start = f"scan.mode={mode}" if mode not in ("default", "latest-full", "full") else None
    for key in _POSITIONS:
        if start is None and key in options.raw:
            start = f"{key}={options.raw[key]}"
    if start is not None:
        raise UnsupportedOperation(
            f"{store.name}: {reader} of a chain table begins with its whole state; {start} is not supported",
            hint=f"leave it out, or read the branch `{store.name}$branch_{names[1]}`",
        )
    if store.options.get(SOURCE_CHECKPOINT_ALIGN_ENABLED):
        raise UnsupportedOperation(
            f"{store.name}: {reader} of a chain table begins with several snapshots; "
            f"{SOURCE_CHECKPOINT_ALIGN_ENABLED.key} is not supported",
            hint="leave it out",
        )
    if store.options.raw.get("scan.partitions"):
        raise _no_partition_filter(store)
    delta = store.on_branch(names[1])
    if delta.options.merge_engine != "deduplicate":
        raise UnsupportedOperation(
            f"{store.name}: {reader} of a chain table needs the merge engine 'deduplicate' on its delta branch, which has "
            f"{delta.options.merge_engine!r}",
            hint="read it in batch mode",
            merge_engine=delta.options.merge_engine,
        )


def _no_partition_filter(store: TableStore) -> UnsupportedOperation:
    return UnsupportedOperation(
        f"{store.name}: a stream or a lookup of a chain table cannot select partitions: they depend on each other",
        hint="read them in batch mode, or filter the result by an expression, such as CONCAT(dt, '')",
    )


def starting_position(delta: TableStore) -> StreamOffset | None:
    """Where the stream of a chain table begins; None: both branches are empty."""
    full = _full_branch(delta)
    base = full.latest()
    for attempt in range(_CAPTURES):
        latest = delta.latest()
        again = full.latest()
        if (base and base.id) == (again and again.id):
            break
        if attempt == _CAPTURES - 1:
            raise UnsupportedOperation(
                f"{delta.name}: branch {full.branch!r} gets snapshots faster than a stream can begin",
                hint="start the stream again when it is quiet",
            )
        base = again
    if base is None and latest is None:
        return None
    return StreamOffset(0 if latest is None else latest.id, full=True, base=0 if base is None else base.id)


def starting_state(
    delta: TableStore, position: StreamOffset, snapshot: Snapshot | None, bound: Predicate | None
) -> tuple[Snapshot, list[Split]] | None:
    """The snapshot and the splits that a stream of a chain table begins with; None: there are no rows yet.

    Args:
        snapshot: that of the delta branch. bound: predicate bound to the schema.
    """
    full = _full_branch(delta)
    base = full.latest() if position.base is None else None
    if position.base:
        base = full.snapshots.get_again(position.base)
        if base is None:
            raise SnapshotExpired(
                f"{delta.name}: the stream began with snapshot {position.base} of branch {full.branch!r}, which has expired",
                hint="start the stream again with a new checkpoint",
                wanted=position.base,
            )
    found = snapshot or base
    return None if found is None else (found, list(starting_splits(ChainState(full, base, delta, snapshot), bound)))


def _full_branch(delta: TableStore) -> TableStore:
    names = delta.chain_names
    assert names is not None
    return delta.on_branch(names[0])
