"""Chain tables: partitions of periodic full data in a snapshot branch, and of the changes since in a delta branch.

A partition that exists in the delta branch only is the latest earlier partition of the snapshot branch (its anchor), merged with
the delta partitions after it. Partition columns before the chain's own divide the table into independent groups.
Source: Paimon 2.1 `ChainGroupReadTable`, `ChainTableUtils`. Java lists the delta partitions by steps of
`partition.timestamp-formatter`; here all that lie between are merged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.options import table as opt
from paimon_nb.table.read.live_files import read_live
from paimon_nb.table.read.plan.prune import Pruner
from paimon_nb.table.read.plan.snapshot_scan import Split, pack_by_key, plan_snapshot
from paimon_nb.table.read.predicate.model import conjuncts_on

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.plan.snapshot_scan import DvRef, LevelFilter
    from paimon_nb.table.read.predicate.model import Predicate
    from paimon_nb.table.read.store import TableStore

    Order = tuple[tuple[bool, Any], ...]


@dataclass(frozen=True, slots=True)
class ChainKey:
    """Place of a partition: its group, and its position in the chain of the group."""

    group: Order
    position: Order


def chain_key(store: TableStore, partition: bytes) -> ChainKey:
    """The group of a partition and its place in the chain."""
    order = store.partition_order(partition)
    names = store.options.names(opt.CHAIN_TABLE_CHAIN_PARTITION_KEYS)
    at = len(order) - len(names) if names else 0
    return ChainKey(order[:at], order[at:])


@dataclass(frozen=True, slots=True)
class ChainState:
    """The two branches of a chain table, each with the snapshot that is read; None: the branch is empty."""

    full: TableStore
    full_snapshot: Snapshot | None
    delta: TableStore
    delta_snapshot: Snapshot | None

    def partitions(self, *, of_delta: bool) -> dict[bytes, ChainKey]:
        """All partitions of a branch."""
        store, snapshot = (self.delta, self.delta_snapshot) if of_delta else (self.full, self.full_snapshot)
        if snapshot is None:
            return {}
        return {p: chain_key(store, p) for p in read_live(store, snapshot).entries.partitions[1]}


def chain_splits(
    state: ChainState,
    predicate: Predicate | None,
    *,
    without: Collection[bytes] = (),
    levels: LevelFilter | None = None,
    selected: Collection[bytes] | None = None,
    without_full: bool = False,
) -> Iterator[Split]:
    """The splits of the partitions of both branches.

    Args:
        predicate: bound to the schema. without: partitions that are not read. levels: as in `plan_scan`.
        selected: the partitions of the delta branch that are merged; None: those that match the predicate.
        without_full: leave out partitions of the snapshot branch; those of the delta branch are merged, although it has them.
    """
    full, delta = state.partitions(of_delta=False), state.partitions(of_delta=True)
    if state.full_snapshot is not None and not without_full:
        for split in plan_snapshot(state.full, state.full_snapshot, predicate, levels=levels).splits:
            if split.partition not in without:
                yield replace(split, branch=state.full.branch)
    if selected is None:
        selected = _matching_partitions(state, predicate)
    hidden = {*without, *(() if without_full else full)}
    to_merge = sorted(set(selected) - hidden, key=state.delta.partition_order)
    parts = ChainParts(state, predicate, levels) if to_merge else None
    for partition in to_merge:
        assert parts is not None
        here = delta[partition]
        anchor = latest_before(full, here)
        since = full[anchor].position if anchor is not None else None
        changes = [
            p
            for p, k in delta.items()
            if k.group == here.group and k.position <= here.position and (since is None or k.position > since)
        ]
        yield from parts.merged(partition, anchor, changes)


def latest_before(partitions: Mapping[bytes, ChainKey], key: ChainKey) -> bytes | None:
    """The latest partition of the same group that is earlier; None: there is none."""
    earlier = [p for p, k in partitions.items() if k.group == key.group and k.position < key.position]
    return max(earlier, key=lambda p: partitions[p].position, default=None)


def _matching_partitions(state: ChainState, predicate: Predicate | None) -> list[bytes]:
    """Partitions of the delta branch that may have matching rows."""
    if state.delta_snapshot is None:
        return []
    condition = conjuncts_on(predicate, frozenset(state.delta.schema.partition_keys))
    pruner = Pruner(state.delta, condition, independent=False)
    return pruner.prune_partitions(read_live(state.delta, state.delta_snapshot).entries).partitions[1]


class ChainParts:
    """The files of both branches by partition and bucket, for the merge of partitions."""

    def __init__(self, state: ChainState, predicate: Predicate | None, levels: LevelFilter | None = None) -> None:
        self.state = state
        # Versions of a row are in several partitions, so only a condition on the rest of the key can leave out files.
        on_key = conjuncts_on(predicate, frozenset(state.delta.schema.trimmed_primary_keys))
        full, delta = replace(state.full, read_partitions=None), replace(state.delta, read_partitions=None)
        self._splits: dict[tuple[str, bytes], list[Split]] = {}
        for store, snapshot in ((full, state.full_snapshot), (delta, state.delta_snapshot)):
            if snapshot is not None:
                for split in plan_snapshot(store, snapshot, on_key, levels=levels).splits:
                    self._splits.setdefault((store.branch, split.partition), []).append(split)

    def merged(self, partition: bytes, anchor: bytes | None, changes: Iterable[bytes]) -> Iterator[Split]:
        """The splits of a partition that is merged from one of the snapshot branch and several of the delta branch."""
        state = self.state
        sources = [(state.full.branch, anchor)] if anchor is not None else []
        sources += [(state.delta.branch, p) for p in changes]
        found = [(branch, s) for branch, p in sources for s in self._splits.get((branch, p), ())]
        if len({s.total_buckets for _, s in found}) > 1:
            raise UnsupportedOperation(
                f"{state.delta.name}: the branches {state.full.branch!r} and {state.delta.branch!r} of the chain have "
                "different numbers of buckets",
                hint="INSERT OVERWRITE the partitions of one of them with the number of the other",
            )
        for bucket in sorted({s.bucket for _, s in found}):
            yield from self._bucket(partition, [(branch, s) for branch, s in found if s.bucket == bucket])

    def _bucket(self, partition: bytes, found: list[tuple[str, Split]]) -> Iterator[Split]:
        delta = self.state.delta
        origins: dict[str, tuple[str, bytes]] = {}
        vectors: dict[str, DvRef] = {}
        files: list[DataFile] = []
        for branch, split in found:
            vectors |= split.deletion_vectors or {}
            origins |= {f.file_name: (branch, split.partition) for f in split.files}
            files += split.files
        one = found[0][1]
        for group in pack_by_key(delta, files):
            names = [f.file_name for f in group]
            yield Split(
                one.snapshot_id, partition, one.bucket, one.total_buckets, tuple(group),
                {n: vectors[n] for n in names if n in vectors} or None, raw=False, branch=delta.branch,
                origins={n: origins[n] for n in names},
            )  # fmt: skip


def starting_splits(state: ChainState, predicate: Predicate | None) -> Iterator[Split]:
    """What a stream of a chain table begins with: of each group the latest partition of the snapshot branch, and the delta partitions
    after it. With `chain-table.streaming.merge-snapshot` they are merged into one, the latest; else each is read by itself.

    Source: Paimon 2.1 `ChainTableStreamScan`.
    """
    full, delta = state.partitions(of_delta=False), state.partitions(of_delta=True)
    bases: dict[Order, bytes] = {}
    for partition, key in full.items():
        if key.group not in bases or full[bases[key.group]].position < key.position:
            bases[key.group] = partition
    later = {p: k for p, k in delta.items() if k.group not in bases or k.position > full[bases[k.group]].position}
    if not state.delta.options.get(opt.CHAIN_TABLE_STREAMING_MERGE_SNAPSHOT):
        read = {state.full.branch: set(bases.values()), state.delta.branch: later.keys()}
        for store, snapshot in ((state.full, state.full_snapshot), (state.delta, state.delta_snapshot)):
            splits = plan_snapshot(store, snapshot, predicate).splits if snapshot is not None else ()
            # Not raw: a changed row keeps its row kind +U, as in Java.
            yield from (replace(s, branch=store.branch, raw=False) for s in splits if s.partition in read[store.branch])
        return
    parts = ChainParts(state, predicate)
    for group in {**bases, **{k.group: None for k in later.values()}}:
        changes = sorted((p for p, k in later.items() if k.group == group), key=lambda p: later[p].position)
        anchor = bases.get(group)
        last = changes[-1] if changes else anchor
        assert last is not None
        yield from parts.merged(last, anchor, changes)


def origins_of(store: TableStore, origins: Mapping[str, tuple[str, bytes]]) -> Mapping[str, tuple[TableStore, bytes]]:
    """The branches and partitions of the files of a split that has files of several."""
    stores = {store.branch: store}
    for name, _ in origins.values():
        if name not in stores:
            stores[name] = store.on_branch(name)
    return {file: (stores[name], partition) for file, (name, partition) in origins.items()}
