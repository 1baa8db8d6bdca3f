"""Merges sorted runs into one row per key: the kernel of reads, writes and compaction; and the merge engines by name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.format.data import SEQUENCE_NUMBER, VALUE_KIND
from paimon_nb.format.types.arrow_builders import from_numpy, to_numpy
from paimon_nb.table.lsm.merge.aggregation import merge_with_aggregation
from paimon_nb.table.lsm.merge.groups import Groups, Indices, group_ends, sort_and_group
from paimon_nb.table.lsm.merge.partial_update import last_non_null_values, partial_update

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paimon_nb.table.lsm.merge.groups import MergeSpec


def deduplicate(groups: Groups, spec: MergeSpec) -> pa.Table:
    """Kind and sequence number are those of the last version."""
    return groups.take(groups.ends)


def first_row(groups: Groups, spec: MergeSpec) -> pa.Table:
    """Raises `UnsupportedOperation` for -U and -D."""
    if bool(retraction_mask(groups.kv).any()):
        raise UnsupportedOperation(
            "merge engine first-row does not accept -U or -D", hint="set 'ignore-delete' = 'true' to drop them"
        )
    return groups.take(groups.starts)


MERGE_ENGINES: dict[str, Callable[[Groups, MergeSpec], pa.Table]] = {
    "deduplicate": deduplicate,
    "partial-update": partial_update,
    "aggregation": merge_with_aggregation,
    "first-row": first_row,
}
"""By the values of the option `merge-engine`."""


INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = 0, 1, 2, 3


def merge(runs: Sequence[pa.Table], spec: MergeSpec, drop_delete: bool = True, *, alone_as_is: bool = True) -> pa.Table:
    """One row per key, in key order.

    Args:
        runs: kv tables: columns of the table, `_SEQUENCE_NUMBER`, `_VALUE_KIND`. In any order; without `_SEQUENCE_NUMBER` from the
            oldest to the newest. Without `_VALUE_KIND` no row is a retraction.
        drop_delete: omit keys whose result is a retraction.
        alone_as_is: a key with one version keeps it unchanged, including its kind; the merge engine is not applied
            (Paimon's `ReducerMergeFunctionWrapper`: reads, flushes and most compactions). False in compactions with
            lookup.

    Raises:
        UnsupportedOperation: a retraction that the engine does not accept; names the option that would allow it.
    """
    runs = [r for r in runs if r.num_rows] or list(runs[:1])
    if len(runs) > 1 and SEQUENCE_NUMBER in runs[0].column_names:
        runs = sorted(runs, key=_first_sequence_number)
    kv = (pa.concat_tables(runs) if len(runs) > 1 else runs[0]).combine_chunks()
    if spec.ignore_delete:
        kv = kv.filter(from_numpy(~retraction_mask(kv)))
    groups = Groups(kv, *sort_and_group(kv, spec))
    merged = (
        _merge_keys_with_several_versions(groups, spec) if alone_as_is else MERGE_ENGINES[spec.engine](groups, spec)
    )
    return (
        merged.filter(from_numpy(~retraction_mask(merged)))
        if drop_delete and bool(retraction_mask(merged).any())
        else merged
    )


def merge_sorted_groups(groups: Groups, spec: MergeSpec) -> pa.Table:
    """The same for rows that are already in order, retractions kept."""
    if spec.ignore_delete and retraction_mask(groups.kv).any():
        return merge([groups.sorted], spec, drop_delete=False)
    return _merge_keys_with_several_versions(groups, spec)


def _merge_keys_with_several_versions(groups: Groups, spec: MergeSpec) -> pa.Table:
    """The engine's result for keys with several versions, the version itself for keys with one."""
    engine = MERGE_ENGINES[spec.engine]
    lone = groups.ends == groups.starts
    if spec.engine == "deduplicate" or not lone.any():
        return engine(groups, spec)
    if spec.engine == "partial-update" and not spec.groups and not retraction_mask(groups.kv).any():
        return last_non_null_values(groups, spec, lone)
    alone = groups.take(groups.starts[lone])
    if lone.all():
        return alone
    rest = engine(groups.filter(~lone), spec)
    where = np.empty(len(groups), np.int64)
    where[np.flatnonzero(lone)] = np.arange(alone.num_rows)
    where[np.flatnonzero(~lone)] = np.arange(alone.num_rows, len(groups))
    return pa.concat_tables([alone, rest]).combine_chunks().take(from_numpy(where))


def retraction_mask(kv: pa.Table) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which rows are -U or -D: none without `_VALUE_KIND`."""
    if VALUE_KIND not in kv.column_names:
        return np.zeros(kv.num_rows, np.bool_)
    kinds = to_numpy(kv.column(VALUE_KIND))
    retracted: np.ndarray[tuple[int], np.dtype[np.bool_]] = (kinds == UPDATE_BEFORE) | (kinds == DELETE)
    return retracted


def without_retracts(rows: pa.Table) -> pa.Table:
    """The rows that are +I or +U."""
    deletes = retraction_mask(rows)
    return rows.filter(from_numpy(~deletes)) if deletes.any() else rows


def remaining_rows(kv: pa.Table, spec: MergeSpec) -> Indices:
    """For deduplicate and first-row: the row numbers of `kv` that remain, in key order, without retractions.

    `kv` needs only the key, user sequence, `_SEQUENCE_NUMBER` and `_VALUE_KIND` columns; without `_SEQUENCE_NUMBER` the rows of each key
    are in the order of their age, without `_VALUE_KIND` none is a retraction.
    """
    inserts = np.flatnonzero(~retraction_mask(kv)) if spec.ignore_delete else None
    some = kv if inserts is None else kv.take(from_numpy(inserts))
    order, starts = sort_and_group(some, spec)
    last = starts if spec.engine == "first-row" else group_ends(starts, some.num_rows)
    last = last if order is None else order[last]
    last = last[~retraction_mask(some)[last]]
    return last if inserts is None else inserts[last]


def lone_rows(kv: pa.Table, spec: MergeSpec) -> Indices:
    """For other engines: the numbers of rows that are the only one of their key, without retractions.

    `kv` needs only the key columns and `_VALUE_KIND`.
    """
    spec = replace(spec, sequence_fields=())
    inserts = np.flatnonzero(~retraction_mask(kv)) if spec.ignore_delete else None
    some = kv if inserts is None else kv.take(from_numpy(inserts))
    order, starts = sort_and_group(some, spec)
    alone: Indices = starts[starts == group_ends(starts, some.num_rows)]
    alone = alone if order is None else order[alone]
    alone = alone[~retraction_mask(some)[alone]]
    return alone if inserts is None else inserts[alone].astype(np.int64)


def _first_sequence_number(run: pa.Table) -> int:
    return int(run.column(SEQUENCE_NUMBER)[0].as_py()) if run.num_rows else 0
