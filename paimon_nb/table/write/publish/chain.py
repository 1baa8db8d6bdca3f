"""What changes of the branches of a chain table must not break, and bring about.

A partition of the snapshot branch is the base of the delta partitions after it, up to the next one: it stays while one of them needs
it. An overwrite of a delta partition replaces what was merged from it: the partition of the snapshot branch goes.
Source: Paimon 2.1 `ChainTableCommitPreCallback`, `ChainTableOverwriteCommitCallback`. Java's second callback can fail after the
delta partition was overwritten; here the overwrite is refused before.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.format.manifest import ADD
from paimon_nb.table.read.live_files import read_live
from paimon_nb.table.read.partition_spec import partition_text_of_spec
from paimon_nb.table.read.plan.chain import ChainState, chain_key, latest_before

if TYPE_CHECKING:
    from collections.abc import Collection

    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.write.publish.changes import Change


def snapshot_branch_to_clear(store: TableStore, change: Change) -> tuple[TableStore, frozenset[bytes]] | None:
    """The snapshot branch and its partitions that must be dropped after a change of the delta branch; None: there are none.

    Raises: UnsupportedOperation: the change, or the drop, takes the base of delta partitions.
    """
    names = store.chain_names
    if names is None or change.kind != "OVERWRITE" or store.branch.lower() not in map(str.lower, names):
        return None
    changed = {e.partition for e in change.entries}
    if store.branch.lower() == names[0].lower():
        if changed and all(e.kind != ADD for e in change.entries):
            _refuse_lost_base(_state(store, store.on_branch(names[1])), changed)
        return None
    full = store.on_branch(names[0])
    state = _state(full, store)
    going = changed & state.partitions(of_delta=False).keys()
    if not going:
        return None
    _refuse_lost_base(state, going, _emptied(state, change))
    return full, frozenset(going)


def _state(full: TableStore, delta: TableStore) -> ChainState:
    return ChainState(full, full.latest(), delta, delta.latest())


def _emptied(state: ChainState, change: Change) -> set[bytes]:
    """Partitions of the delta branch that have no files after a change of it."""
    if state.delta_snapshot is None:
        return set()
    files = Counter(e.partition for e in read_live(state.delta, state.delta_snapshot).entries)
    for entry in change.entries:
        files[entry.partition] += 1 if entry.kind == ADD else -1
    return {p for p, count in files.items() if count <= 0}


def _refuse_lost_base(state: ChainState, going: Collection[bytes], emptied: Collection[bytes] = ()) -> None:
    full = state.partitions(of_delta=False)
    delta = {p: k for p, k in state.partitions(of_delta=True).items() if p not in emptied}
    for partition in going:
        key = chain_key(state.full, partition)
        if latest_before(full, key) is not None:
            continue
        next_one = min(
            (k.position for k in full.values() if k.group == key.group and k.position > key.position), default=None
        )
        needs = [
            p
            for p, k in delta.items()
            if k.group == key.group and k.position > key.position and (next_one is None or k.position < next_one)
        ]
        if needs:
            values = dict(zip(state.full.schema.partition_keys, state.full.partition_values(partition), strict=True))
            text = partition_text_of_spec(state.full.schema, values)
            raise UnsupportedOperation(
                f"{state.full.name}: partition ({text}) of branch {state.full.branch!r} cannot be dropped: "
                f"{len(needs)} partition(s) of branch {state.delta.branch!r} are merged over it",
                hint="CALL sys.compact_chain_table with a later partition first",
            )
