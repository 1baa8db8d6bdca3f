"""Deletes whole partitions, or all rows of a table: truncate, drop, expire. Source: docs/spec/merge-semantics.md
sections 7 and 11.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from paimon_nb.base import clock
from paimon_nb.base.errors import AlreadyExists, BadOptionValue, UnknownName, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.options import table as opt
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.read.partition_spec import in_row_spec, matches_partition_spec, partition_text_of_spec
from paimon_nb.table.read.plan.chain import ChainKey, ChainState
from paimon_nb.table.write.maintenance.partition_time import partition_time
from paimon_nb.table.write.publish.changes import TRUNCATE, recorded_as
from paimon_nb.table.write.publish.overwrite import (
    Overwrite,
    drop_partitions_change,
    overwrite_change,
    partition_matcher,
)
from paimon_nb.table.write.publish.publisher import SnapshotPublisher, notify_partitions_dropped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.write.publish.changes import Change

_STRATEGIES = ("values-time", "update-time")


def truncate(store: TableStore) -> int | None:
    """Empty the table with one OVERWRITE snapshot. Returns its id; None if there was nothing to delete."""
    with recorded_as(TRUNCATE):
        return SnapshotPublisher(store).publish(lambda latest: overwrite_change(store, latest, [], Overwrite()))


def drop_partitions(store: TableStore, specs: Sequence[Mapping[str, Any]], *, must_exist: bool = False) -> int | None:
    """Delete every partition that matches any of `specs` (values in the in-row Python form; missing columns match
    everything).

    Returns: the snapshot id; None if no live file matches.
    Raises: UnknownName: with `must_exist`, if one of `specs` matches nothing; nothing is dropped then.
    """
    if not store.schema.partition_keys:
        raise UnsupportedOperation(f"{store.name} is not partitioned", hint="TRUNCATE TABLE empties it")
    if not specs or any(not spec for spec in specs):
        raise BadOptionValue("no partition given", hint="PARTITION (dt = '2025-10-19')")
    dropped_partitions: frozenset[bytes] = frozenset()

    def drop_matching_partitions(latest: Snapshot | None) -> Change:
        nonlocal dropped_partitions
        if must_exist:
            refuse_missing_partitions(store, latest, specs)
        change = drop_partitions_change(store, latest, specs)
        dropped_partitions = change.drops_index_of or frozenset()
        return change

    with recorded_as(TRUNCATE):
        made = SnapshotPublisher(store).publish(drop_matching_partitions)
    notify_partitions_dropped(store, dropped_partitions)
    return made


def refuse_missing_partitions(store: TableStore, latest: Snapshot | None, specs: Sequence[Mapping[str, Any]]) -> None:
    """Raises UnknownName: one of `specs`, in the in-row form, matches no partition."""
    known = {entry.partition for entry in live_entries(store, latest)}
    for spec in specs:
        if not any(map(partition_matcher(store, spec), known)):
            spec_text = partition_text_of_spec(store.schema, spec)
            raise UnknownName(
                f"{store.name} has no partition ({spec_text})", hint="list them with SHOW PARTITIONS, or use DROP IF EXISTS PARTITION",
                name=spec_text,
            )  # fmt: skip


def missing_partitions(store: TableStore, specs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Those of `specs`, in the in-row form, that match no partition with rows, as texts `dt=2024-01-05, h=7`."""
    from paimon_nb.table.read.plan.time_travel import parse_travel, resolve_time_travel

    if store.is_format_table:
        from paimon_nb.table.read.format_table import data_files, find_partitions

        known = [p.values for p in find_partitions(store) if data_files(store, p.path)]
    else:
        entries = live_entries(store, resolve_time_travel(store, parse_travel(store.options)))
        known = [store.partition_values(p) for p in dict.fromkeys(e.partition for e in entries)]
    present = [dict(zip(store.schema.partition_keys, values, strict=True)) for values in known]
    return [
        partition_text_of_spec(store.schema, spec)
        for spec in specs
        if not any(matches_partition_spec(values, spec) for values in present)
    ]


def refuse_existing_partitions(store: TableStore, specs: Sequence[Mapping[str, Any]]) -> None:
    """Raises: AlreadyExists: one of `specs` (values or texts by column) matches a partition. UnsupportedOperation: the table is not partitioned."""
    if not store.schema.partition_keys:
        raise UnsupportedOperation(f"{store.name} is not partitioned", hint="PARTITIONED BY, when a table is created")
    known = {entry.partition for entry in live_entries(store, store.latest())}
    for spec in specs:
        values = in_row_spec(store.schema, spec)
        if any(map(partition_matcher(store, values), known)):
            spec_text = partition_text_of_spec(store.schema, values)
            raise AlreadyExists(
                f"{store.name} already has partition ({spec_text})", hint="ADD IF NOT EXISTS PARTITION", name=spec_text
            )


@dataclass(frozen=True, slots=True)
class PartitionExpiry:
    """Result of a partition expiry."""

    dropped: tuple[tuple[Any, ...], ...]
    """Values of the dropped partitions, in partition-key order."""
    skipped: tuple[tuple[Any, ...], ...]
    """Partitions whose values contain no time."""


def expire_partitions(
    store: TableStore,
    *,
    expiration_ms: int | None = None,
    formatter: str | None = None,
    pattern: str | None = None,
    strategy: str | None = None,
    max_expires: int | None = None,
    now: datetime | None = None,
) -> PartitionExpiry:
    """Drop partitions older than `partition.expiration-time`. Arguments take precedence over the table's options.

    Strategy values-time: the time is in the partition's values. update-time: that of its newest file.
    """
    if not store.schema.partition_keys:
        raise UnsupportedOperation(f"{store.name} is not partitioned", hint="DELETE FROM deletes single rows")
    o = store.options
    age = expiration_ms if expiration_ms is not None else o.get(opt.PARTITION_EXPIRATION_TIME)
    if age is None:
        raise BadOptionValue(
            "no expiration time is set", hint="set 'partition.expiration-time' = '7 d', or pass expiration_time"
        )
    strategy = strategy or str(o.get(opt.PARTITION_EXPIRATION_STRATEGY))
    if strategy not in _STRATEGIES:
        raise UnsupportedOperation(
            f"{store.name}: partition.expiration-strategy = {strategy} is not supported; no partition was dropped",
            hint=f"use {' or '.join(_STRATEGIES)}",
        )
    formatter = formatter or o.get(opt.PARTITION_TIMESTAMP_FORMATTER)
    pattern = pattern or o.get(opt.PARTITION_TIMESTAMP_PATTERN)
    limit = max_expires if max_expires is not None else o.get(opt.PARTITION_EXPIRATION_MAX_NUM)
    now = now or datetime.fromtimestamp(clock.now_ms() / 1000)
    before = now - timedelta(milliseconds=age)
    if store.chain_names is not None:
        return _expire_chains(store, before, pattern, formatter, limit)
    entries = live_entries(store, store.latest())
    newest_file: dict[bytes, int] = {}
    for entry in entries:
        created = entry.file.creation_time_ms or 0
        newest_file[entry.partition] = max(created, newest_file.get(entry.partition, 0))
    old: list[tuple[datetime, tuple[Any, ...]]] = []
    skipped: list[tuple[Any, ...]] = []
    for partition, created in newest_file.items():
        values = store.partition_values(partition)
        if strategy == "update-time":
            when: datetime | None = datetime(1970, 1, 1) + timedelta(milliseconds=created)  # local wall time
        else:
            when = partition_time(store, values, pattern, formatter)
        if when is None:
            skipped.append(values)
        elif when < before:
            old.append((when, values))
    old.sort(key=lambda item: (item[0], [str(v) for v in item[1]]))
    going = [values for _, values in old[:limit]]
    _drop_in_batches(store, going)
    return PartitionExpiry(tuple(going), tuple(skipped))


def expired_by_values(store: TableStore) -> Callable[[bytes], bool] | None:
    """Whether a partition is older than `partition.expiration-time` by its values; None: the table has no such expiry."""
    o = store.options
    age, strategy = o.get(opt.PARTITION_EXPIRATION_TIME), o.get(opt.PARTITION_EXPIRATION_STRATEGY)
    if age is None or strategy != "values-time" or not store.schema.partition_keys:
        return None
    before = datetime.fromtimestamp(clock.now_ms() / 1000) - timedelta(milliseconds=age)
    pattern, formatter = o.get(opt.PARTITION_TIMESTAMP_PATTERN), o.get(opt.PARTITION_TIMESTAMP_FORMATTER)

    def is_expired(partition: bytes) -> bool:
        when = partition_time(store, store.partition_values(partition), pattern, formatter)
        return when is not None and when < before

    return is_expired


def _drop_in_batches(store: TableStore, going: Sequence[tuple[Any, ...]]) -> None:
    specs = [dict(zip(store.schema.partition_keys, values, strict=True)) for values in going]
    step = store.options.get(opt.PARTITION_EXPIRATION_BATCH_SIZE) or max(len(specs), 1)
    for start in range(0, len(specs), step):
        drop_partitions(store, specs[start : start + step])


def _expire_chains(
    store: TableStore, before: datetime, pattern: str | None, formatter: str | None, limit: int
) -> PartitionExpiry:
    """Expire partitions of both branches of a chain table.

    In each group the latest old partition of the snapshot branch stays, as the base of later ones. Those before it go, oldest first and
    at most `limit`, each with the delta partitions from it up to the next one; with the first also those before it.
    Source: Paimon 2.1 `ChainTablePartitionExpire`.
    """
    names = store.chain_names
    assert names is not None
    full, delta = (store.on_branch(name) for name in names)
    state = ChainState(full, full.latest(), delta, delta.latest())

    def is_old(partition: bytes) -> bool:
        when = partition_time(full, full.partition_values(partition), pattern, formatter)
        return when is not None and when < before

    groups: dict[object, list[tuple[ChainKey, bytes]]] = {}
    for partition, key in state.partitions(of_delta=False).items():
        if is_old(partition):
            groups.setdefault(key.group, []).append((key, partition))
    full_going, delta_going = [], []
    for group, old in groups.items():
        old.sort(key=lambda item: item[0].position)
        count = min(len(old) - 1, limit)
        if count > 0:
            full_going += [p for _, p in old[:count]]
            end = old[count][0].position
            delta_going += [
                p for p, k in state.partitions(of_delta=True).items() if k.group == group and k.position < end
            ]
    values_of_delta = [delta.partition_values(p) for p in sorted(delta_going, key=delta.partition_order)]
    values_of_full = [full.partition_values(p) for p in sorted(full_going, key=full.partition_order)]
    _drop_in_batches(delta, values_of_delta)
    _drop_in_batches(full, values_of_full)
    return PartitionExpiry(tuple(values_of_delta + values_of_full), ())
