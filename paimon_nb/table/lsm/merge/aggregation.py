"""aggregation: each column has its own function over a key's versions. Source: Paimon `AggregateMergeFunction.java`."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from paimon_nb.format.data import SEQUENCE_NUMBER, VALUE_KIND
from paimon_nb.format.types.arrow_builders import from_numpy
from paimon_nb.table.lsm.merge.aggregate import aggregate_of
from paimon_nb.table.lsm.merge.python_rows import column_of, kv_table_of_rows, python_columns

if TYPE_CHECKING:
    from paimon_nb.table.lsm.merge.groups import Groups, MergeSpec


def merge_with_aggregation(groups: Groups, spec: MergeSpec) -> pa.Table:
    """Raises `UnsupportedOperation` if a function does not support a retraction."""
    kinds = groups.kinds
    if bool(((kinds == 1) | (kinds == 3)).any()):
        return _aggregate_row_by_row(groups, spec)
    columns: list[Any] = []
    for name in groups.kv.column_names:
        if name == VALUE_KIND:
            columns.append(from_numpy(np.zeros(len(groups), np.int8)))
        elif name == SEQUENCE_NUMBER or name in spec.keys:
            columns.append(groups.take_column(name, groups.ends))
        else:
            columns.append(_aggregate_column(groups, spec, name))
    return pa.Table.from_arrays(columns, schema=groups.kv.schema)


def _aggregate_column(groups: Groups, spec: MergeSpec, name: str) -> pa.Array:
    """One column over all groups: vectorised if the function supports it, else value by value."""
    field = next(f for f in spec.fields if f.name == name)
    function = aggregate_of(field, spec.aggregators[name])
    at_once = function.aggregate_groups(groups, name)
    if at_once is not None:
        return at_once
    (values,) = python_columns(groups.sorted, [name])
    starts = [*groups.starts.tolist(), groups.rows]
    out = []
    for begin, end in itertools.pairwise(starts):
        accumulator = None
        function.begin()
        for i in range(begin, end):
            accumulator = function.add(accumulator, values[i])
        out.append(accumulator)
    return column_of(out, groups.kv.schema.field(name).type)


def _aggregate_row_by_row(groups: Groups, spec: MergeSpec) -> pa.Table:
    """With retractions: version after version."""
    table = groups.sorted
    names = [f.name for f in spec.fields]
    functions = [aggregate_of(f, spec.aggregators[f.name]) for f in spec.fields]
    not_null = [i for i, f in enumerate(spec.fields) if not f.type.nullable]
    values = python_columns(table, names)
    kinds = table.column(VALUE_KIND).to_pylist()
    sequences = table.column(SEQUENCE_NUMBER).to_pylist()
    starts = [*groups.starts.tolist(), table.num_rows]
    rows, out_kinds, out_sequences = [], [], []
    for begin, end in itertools.pairwise(starts):
        row: list[Any] = [None] * len(names)
        deleted = False
        for function in functions:
            function.begin()
        for i in range(begin, end):
            kind = kinds[i]
            deleted = spec.remove_record_on_delete and kind == 3
            if deleted:
                row = [None] * len(names)
                for j in not_null:
                    row[j] = values[j][i]
                continue
            for j, function in enumerate(functions):
                step = function.retract if kind in (1, 3) else function.add
                row[j] = step(row[j], values[j][i])
        rows.append(row)
        out_kinds.append(3 if deleted else 0)
        out_sequences.append(sequences[end - 1])
    return kv_table_of_rows(table.schema, names, rows, out_sequences, out_kinds)
