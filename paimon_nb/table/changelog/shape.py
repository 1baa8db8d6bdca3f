"""How changes are shown: `$audit_log` has a rowkind column, `$binlog` packs an update into one row. Pure."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from paimon_nb.format.data import SEQUENCE_NUMBER, VALUE_KIND

KIND_TEXT = ("+I", "-U", "+U", "-D")


def to_audit(kv: pa.Table, *, with_sequence: bool = False) -> pa.Table:
    """rowkind, [sequence number,] then the table's columns."""
    kinds = pa.array([KIND_TEXT[k] for k in kv.column(VALUE_KIND).to_pylist()], pa.string())
    names = [n for n in kv.column_names if n not in (SEQUENCE_NUMBER, VALUE_KIND)]
    columns = {"rowkind": kinds}
    if with_sequence:
        columns[SEQUENCE_NUMBER] = kv.column(SEQUENCE_NUMBER)
    return pa.table({**columns, **{n: kv.column(n) for n in names}})


def to_binlog(kv: pa.Table, *, with_sequence: bool = False) -> pa.Table:
    """Each column as an array: one element for +I and -D, [before, after] for an update (shown as +U)."""
    kinds = kv.column(VALUE_KIND).to_numpy()
    n = len(kinds)
    # A -U that its +U follows begins a pair; whatever stands alone is a row of its own.
    pair = np.zeros(n, bool)
    pair[:-1] = (kinds[:-1] == 1) & (kinds[1:] == 2)
    second = np.zeros(n, bool)
    second[1:] = pair[:-1]
    starts = np.flatnonzero(~second)
    offsets = pa.array(np.append(starts, n).astype(np.int32))
    shown = [KIND_TEXT[2] if pair[i] else KIND_TEXT[kinds[i]] for i in starts]
    names = [c for c in kv.column_names if c not in (SEQUENCE_NUMBER, VALUE_KIND)]
    columns: dict[str, pa.Array] = {"rowkind": pa.array(shown, pa.string())}
    if with_sequence:
        last = np.where(pair[starts], starts + 1, starts)
        columns[SEQUENCE_NUMBER] = kv.column(SEQUENCE_NUMBER).take(pa.array(last))
    for name in names:
        values = kv.column(name).combine_chunks()
        if isinstance(values, pa.ChunkedArray):
            values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.nulls(0, values.type)
        columns[name] = pa.ListArray.from_arrays(offsets, values)
    return pa.table(columns)
