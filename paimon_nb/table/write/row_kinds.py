"""Row kinds of written rows: from the input, from `rowkind.field`, and filtered by options.

Source: docs/spec/merge-semantics.md section 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.errors import SchemaMismatch, UnsupportedOperation
from paimon_nb.format.types.arrow_builders import column, to_numpy
from paimon_nb.options import table as opt
from paimon_nb.table.store import TableStore

Kinds: TypeAlias = pa.Array | pa.ChunkedArray | Sequence[str] | Sequence[int]
INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = 0, 1, 2, 3
SYMBOLS = {"+I": INSERT, "-U": UPDATE_BEFORE, "+U": UPDATE_AFTER, "-D": DELETE}


def row_kinds(store: TableStore, rows: pa.Table, kinds: Kinds | None) -> np.ndarray:
    """int8 per row. `kinds` may be codes 0..3 or the symbols +I -U +U -D; None means +I.

    Raises: SchemaMismatch: an unknown kind.
    """
    column = store.options.get(opt.ROWKIND_FIELD)
    if column:
        return kind_codes(rows.column(column), f"column {column!r} (rowkind.field)")
    if kinds is None:
        return np.zeros(rows.num_rows, dtype=np.int8)
    if len(kinds) != rows.num_rows:
        raise SchemaMismatch(f"{len(kinds)} row kinds for {rows.num_rows} rows", hint="give one kind a row")
    return kind_codes(kinds if isinstance(kinds, pa.Array | pa.ChunkedArray) else pa.array(kinds))


def rows_to_keep(store: TableStore, kinds: np.ndarray) -> np.ndarray | None:
    """Mask of rows that the options let through; None for all rows.

    Raises: UnsupportedOperation: -U or -D into a table without a primary key.
    """
    o = store.options
    if not store.has_keys:
        if bool(((kinds == UPDATE_BEFORE) | (kinds == DELETE)).any()):
            raise UnsupportedOperation(
                f"{store.name} has no primary key, so it cannot take -U or -D rows",
                hint="use DELETE or UPDATE statements, or a table with a PRIMARY KEY",
            )
        return None
    mask = np.ones(len(kinds), dtype=bool)
    if o.get(opt.IGNORE_DELETE):
        mask &= (kinds != UPDATE_BEFORE) & (kinds != DELETE)
    if o.get(opt.IGNORE_UPDATE_BEFORE):
        mask &= kinds != UPDATE_BEFORE
    return None if bool(mask.all()) else mask


def takes_update_before(store: TableStore) -> bool:
    """Whether a stream into the table has to bring -U: merging or the changelog needs what a row was. Other key tables
    find it by the key. Source: Paimon `FlinkTableSinkBase.getChangelogMode`."""
    if not store.has_keys:
        return True
    o = store.options
    aggregates = o.has(opt.FIELDS_DEFAULT_AGGREGATE_FUNCTION) or any(
        k.startswith("fields.") and k.endswith(".aggregate-function") for k in o.raw
    )
    return (
        o.changelog_producer == "input"
        or o.merge_engine == "aggregation"
        or (o.merge_engine == "partial-update" and aggregates)
    )


def kind_codes(values: pa.Array | pa.ChunkedArray, what: str = "row kinds") -> np.ndarray:
    """int8 per row, of codes or of symbols. Raises SchemaMismatch: an unknown kind, called `what`."""
    if values.null_count:
        raise SchemaMismatch(f"{what}: null is not a row kind", hint="use +I, -U, +U or -D")
    if pa.types.is_integer(values.type):
        codes = to_numpy(values).astype(np.int64)
        if len(codes) and (codes.min() < 0 or codes.max() > 3):
            raise SchemaMismatch(f"{what}: row kind codes are 0 to 3", hint="0 +I, 1 -U, 2 +U, 3 -D")
        return codes.astype(np.int8)
    text = pc.cast(values, pa.string())
    found = pc.index_in(text, value_set=column(list(SYMBOLS), pa.string()))
    if found.null_count:
        wrong = text.filter(pc.is_null(found))[0].as_py()
        raise SchemaMismatch(f"{what}: {wrong!r} is not a row kind", hint="use +I, -U, +U or -D")
    return to_numpy(found).astype(np.int8)
