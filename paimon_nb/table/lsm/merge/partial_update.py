"""partial-update: column by column, the newest value that is not NULL; sequence groups have an order of their own.

Source: Paimon `PartialUpdateMergeFunction.java`; docs/spec/merge-semantics.md section 2.1.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.format.data import SEQUENCE_NUMBER, VALUE_KIND
from paimon_nb.format.types.arrow_builders import from_numpy
from paimon_nb.table.lsm.merge.aggregate import Aggregate, aggregate_of
from paimon_nb.table.lsm.merge.python_rows import kv_table_of_rows, python_columns

if TYPE_CHECKING:
    from paimon_nb.table.lsm.merge.groups import Groups, Indices, MergeSpec


def partial_update(groups: Groups, spec: MergeSpec) -> pa.Table:
    """Raises `UnsupportedOperation` for a retraction without an option that defines its meaning."""
    if spec.groups:
        return _merge_row_by_row(groups, spec)
    kinds = groups.kinds
    retract = (kinds == 1) | (kinds == 3)
    if not retract.any():
        return _last_non_null_values(groups, spec, None, np.zeros(len(groups), np.int8))
    if not spec.remove_record_on_delete:
        raise UnsupportedOperation(
            "merge engine partial-update does not accept -U or -D with these options",
            hint="set 'ignore-delete', 'partial-update.remove-record-on-delete' or a sequence group",
        )
    # A -D clears the row; later versions build a new one. A -U changes nothing, but the row counts as present
    # again if an insert was ever seen, as in Java.
    deleted, never = groups.last_true(kinds == 3)
    after = np.arange(groups.rows) > np.where(never, -1, deleted)[groups.group_of]
    inserted = after & ~retract
    _, unmet = groups.last_true(~retract)
    kind = np.where(unmet | (kinds[groups.ends] == 3), 3, 0).astype(np.int8)
    _, empty = groups.last_true(inserted)
    cleared_by = np.where(never, groups.starts, deleted)
    return _fill_not_null_of_cleared_rows(
        groups, spec, _last_non_null_values(groups, spec, inserted, kind), empty, cleared_by
    )


def last_non_null_values(groups: Groups, spec: MergeSpec, lone: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> pa.Table:
    """The result for rows without retractions. A `lone` version keeps its kind."""
    kinds = np.where(lone, groups.kinds[groups.ends], 0).astype(np.int8)
    return _last_non_null_values(groups, spec, None, kinds)


def _last_non_null_values(
    groups: Groups,
    spec: MergeSpec,
    usable: np.ndarray[tuple[int], np.dtype[np.bool_]] | None,
    kinds: np.ndarray[tuple[int], np.dtype[np.int8]],
) -> pa.Table:
    """Each column's last value among the usable rows (None: all); the sequence number is the last row's."""
    kv, ends = groups.kv, groups.ends
    last = [
        name
        for name in kv.column_names
        if name == SEQUENCE_NUMBER
        or name in spec.keys
        or (usable is None and name != VALUE_KIND and not kv.column(name).null_count)
    ]
    of_last_rows = groups.take(ends, last)
    columns: list[Any] = []
    for name in kv.column_names:
        if name == VALUE_KIND:
            columns.append(from_numpy(np.asarray(kinds, np.int8)))
        elif name in last:
            columns.append(of_last_rows.column(name))
        elif usable is None:
            columns.append(groups.take_column(name, groups.last_valid(name)))
        else:
            position, none = groups.last_true(usable & groups.valid(name))
            columns.append(groups.take_column(name, position, none if none.any() else None))
    return pa.Table.from_arrays(columns, schema=kv.schema)


def _fill_not_null_of_cleared_rows(
    groups: Groups,
    spec: MergeSpec,
    merged: pa.Table,
    cleared: np.ndarray[tuple[int], np.dtype[np.bool_]],
    cleared_by: Indices,
) -> pa.Table:
    """A cleared row still has values in NOT NULL columns: those of the retraction that cleared it."""
    for f in spec.fields:
        if not f.type.nullable and f.name not in spec.keys and bool(cleared.any()):
            at = merged.column_names.index(f.name)
            filled = pc.if_else(from_numpy(cleared), groups.take_column(f.name, cleared_by), merged.column(at))
            merged = merged.set_column(at, merged.schema.field(at), filled)
    return merged


def _merge_row_by_row(groups: Groups, spec: MergeSpec) -> pa.Table:
    """Row by row, as in Java: sequence groups and aggregates depend on earlier versions."""
    table = groups.sorted
    names = [f.name for f in spec.fields]
    values = python_columns(table, names)
    kinds = table.column(VALUE_KIND).to_pylist()
    sequences = table.column(SEQUENCE_NUMBER).to_pylist()
    stepper = GroupStepper(spec)
    out_rows: list[list[Any]] = []
    out_kinds, out_sequences = [], []
    starts = [*groups.starts.tolist(), table.num_rows]
    for begin, end in itertools.pairwise(starts):
        stepper.reset()
        for i in range(begin, end):
            stepper.add([column[i] for column in values], kinds[i], sequences[i])
        row, kind, sequence = stepper.result()
        out_rows.append(row)
        out_kinds.append(kind)
        out_sequences.append(sequence)
    return kv_table_of_rows(table.schema, names, out_rows, out_sequences, out_kinds)


class GroupStepper:
    """The state of one key while its versions are added, oldest first. Also used to explain a merge step by step."""

    def __init__(self, spec: MergeSpec) -> None:
        self.spec = spec
        index = {f.name: i for i, f in enumerate(spec.fields)}
        self.keys = {index[k] for k in spec.keys}
        self.not_null = [i for i, f in enumerate(spec.fields) if not f.type.nullable]
        self.sequence_of: dict[int, tuple[int, ...]] = {}
        for g in spec.groups:
            sequence = tuple(index[n] for n in g.sequence)
            for name in (*g.sequence, *g.protected):
                self.sequence_of[index[name]] = sequence
        self.remove_on = {index[n] for n in spec.remove_on_groups if n in index}
        self.aggregates: dict[int, Aggregate] = {
            index[n]: aggregate_of(spec.fields[index[n]], a) for n, a in spec.aggregators.items()
        }
        self.reset()

    def reset(self) -> None:
        """Reset for the next key."""
        self.row: list[Any] = [None] * len(self.spec.fields)
        self.sequence = 0
        self.met_insert = self.filled = self.deleted = False
        for aggregate in self.aggregates.values():
            aggregate.begin()

    def add(self, value: list[Any], kind: int, sequence: int) -> None:
        """Add one version."""
        self.deleted = False
        if kind in (1, 3):
            if not self.filled:
                self._init_row(value)
            self.sequence = sequence
            self._apply_retraction(value, kind)
            return
        self.sequence = sequence
        self._apply_update(value)
        self.met_insert = self.filled = True

    def result(self) -> tuple[list[Any], int, int]:
        """(row, kind, sequence number)."""
        return self.row, 3 if self.deleted or not self.met_insert else 0, self.sequence

    def _init_row(self, value: list[Any]) -> None:
        for i in self.not_null:
            self.row[i] = value[i]
        self.filled = True

    def _apply_update(self, value: list[Any]) -> None:
        decided: dict[tuple[int, ...], bool | None] = {}
        for i, new in enumerate(value):
            sequence = self.sequence_of.get(i)
            aggregate = self.aggregates.get(i)
            if sequence is None:
                if aggregate is not None:
                    self.row[i] = aggregate.add(self.row[i], new)
                elif new is not None:
                    self.row[i] = new
                continue
            if sequence not in decided:
                decided[sequence] = self._is_newer(value, sequence)
            newer = decided[sequence]
            if newer is None:
                continue
            if newer:
                self.row[i] = new if aggregate is None or i in sequence else aggregate.add(self.row[i], new)
            elif aggregate is not None:
                self.row[i] = aggregate.add_reversed(self.row[i], new)

    def _apply_retraction(self, value: list[Any], kind: int) -> None:
        decided: dict[tuple[int, ...], bool | None] = {}
        for i, old in enumerate(value):
            sequence = self.sequence_of.get(i)
            if sequence is None:
                continue
            if sequence not in decided:
                decided[sequence] = self._is_newer(value, sequence)
            newer, aggregate = decided[sequence], self.aggregates.get(i)
            if newer is None:
                continue
            if newer and i in sequence:
                if kind == 3 and not self.remove_on.isdisjoint(sequence):  # the first of the group's columns
                    self.deleted = True
                    self.row = [None] * len(value)
                    self._init_row(value)
                    return
                self.row[i] = old
            elif newer and aggregate is None:
                self.row[i] = None
            elif aggregate is not None:
                self.row[i] = aggregate.retract(self.row[i], old)

    def _is_newer(self, value: list[Any], sequence: tuple[int, ...]) -> bool | None:
        """Whether the group's sequence is at least the stored one; None if it is all NULL."""
        if all(value[i] is None for i in sequence):
            return None
        for i in sequence:
            new, old = value[i], self.row[i]
            if new == old:
                continue
            # Groups are ascending regardless of sequence.field.sort-order; NULL is the smallest value.
            return old is None or (new is not None and bool(new > old))
        return True
