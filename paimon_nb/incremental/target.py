"""Writing the change of a result to its target table."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from paimon_nb.base.errors import SchemaMismatch, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data.schema_cast import cast_to_schema
from paimon_nb.format.types.arrow_builders import from_numpy, row_codes, to_numpy, unique_inverse
from paimon_nb.incremental.deltas import look_up
from paimon_nb.incremental.list_types import engine_type, stored_type
from paimon_nb.incremental.operators import WEIGHT, Column
from paimon_nb.options import table as opt
from paimon_nb.session.query.local.values import quote_name
from paimon_nb.table.read.predicate.model import And, In
from paimon_nb.table.read.split.snapshot_diff import rows_as_text
from paimon_nb.table.write import TableWrite
from paimon_nb.table.write.row_changes import ChangedRows, change_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.format.types import DataField
    from paimon_nb.incremental.engine import Engine
    from paimon_nb.table.read import Predicate
    from paimon_nb.table.tables.table import Table

_MAX_VALUES = 1_000
"""A condition on removed rows lists so many values at most."""
_LISTED = frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT", "VARCHAR", "DATE", "DECIMAL", "BOOLEAN"})
_PADDED = frozenset({"CHAR", "BINARY"})
_INSERT, _BEFORE, _AFTER, _DELETE = 0, 1, 2, 3


@dataclass(frozen=True, slots=True)
class Change:
    """Rows to add and rows to remove, in the target's columns."""

    added: pa.Table
    removed: pa.Table

    @property
    def is_empty(self) -> bool:
        return not self.added.num_rows and not self.removed.num_rows


def check_target(table: Table, names: Sequence[str | None]) -> None:
    """Raises SchemaMismatch, UnsupportedOperation: the table cannot hold the result."""
    columns = [f.name.lower() for f in table.schema.fields]
    names_of_query = [(n or "").lower() for n in names]
    if columns != names_of_query:
        raise SchemaMismatch(
            f"{table.name} has the columns {', '.join(columns)}, and the query has {', '.join(n or '(no name)' for n in names)}",
            hint="create a table with the columns of the query, in their order",
        )
    engine = table.options.merge_engine
    if table.primary_keys and engine != "deduplicate":
        raise UnsupportedOperation(
            f"{table.name} has merge engine {engine}, which merges the rows of a result again",
            hint="use a table with merge engine deduplicate",
        )


def change_of_result(engine: Engine, table: Table, signed: pa.Table) -> Change:
    """A consolidated change of the result as rows of the target.

    Args:
        engine: of the refresh.
        table: the target.
        signed: the result's columns in order, then the weight.
    """
    import pyarrow.compute as pc

    fields = table.schema.fields
    weights = signed.column(WEIGHT)
    columns = signed.drop_columns([WEIGHT]).rename_columns([f.name for f in fields])
    rows = cast_to_schema(columns, fields)
    is_same = rows.schema.types == columns.schema.types and not any(f.type.root in _PADDED for f in fields)
    if is_same and pc.all(pc.equal(pc.abs(weights), 1)).as_py() is not False:
        return Change(*(rows.filter(pc.equal(weights, sign)) for sign in (1, -1)))
    # Values that become equal as those of the target cancel out.
    return _consolidated(engine, fields, rows.append_column(WEIGHT, weights))


def difference(engine: Engine, table: Table, rows: pa.Table) -> Change:
    """What turns the target's rows into others.

    Args:
        engine: of the refresh.
        table: the target.
        rows: the result, its columns in order.
    """
    import pyarrow as pa

    from paimon_nb.incremental.deltas import signed

    fields = table.schema.fields
    new = cast_to_schema(rows.rename_columns([f.name for f in fields]), fields)
    old = table.to_arrow([f.name for f in fields])
    if not old.num_rows:
        return Change(new, old)
    if all(stored_type(f.type) is not None for f in fields):
        both = [signed(part, w) for part, w in ((new, 1), (old.cast(new.schema), -1))]
        return _consolidated(engine, fields, pa.concat_tables(both))
    return Change(*_without_equal(new, old))


def _without_equal(new: pa.Table, old: pa.Table) -> tuple[pa.Table, pa.Table]:
    import pyarrow as pa

    found = []
    texts = rows_as_text(new), rows_as_text(old)
    for rows, own, others in ((new, texts[0], Counter(texts[1])), (old, texts[1], Counter(texts[0]))):
        keep = []
        for text in own:
            keep.append(others[text] <= 0)
            others[text] -= 1
        found.append(rows.filter(pa.array(keep, pa.bool_())))
    return found[0], found[1]


def _consolidated(engine: Engine, fields: Sequence[DataField], signed: pa.Table) -> Change:
    """The rows whose weights do not cancel out, as often as their weights say."""
    known = [stored_type(f.type) for f in fields]
    assert all(t is not None for t in known)
    columns = [Column(f"y{i}", t, f.name) for i, (f, t) in enumerate(zip(fields, known, strict=True)) if t is not None]
    name = engine.arrow(signed)
    ids = "".join(f"CAST({quote_name(c.name)} AS {engine_type(c.type)}) AS {c.id}, " for c in columns)
    made = engine.consolidated(engine.table(f"SELECT {ids}CAST({WEIGHT} AS BIGINT) AS {WEIGHT} FROM {name}"), columns)
    back = ", ".join(f"{c.id} AS {quote_name(c.name)}" for c in columns)
    parts = []
    for sign in ("", "-"):
        rows = engine.rows(f"SELECT {back} FROM {made.name}, unnest(range({sign}{WEIGHT})) WHERE {sign}{WEIGHT} > 0")
        parts.append(cast_to_schema(rows, fields))
    return Change(parts[0], parts[1])


def write_change(
    table: Table,
    change: Change,
    *,
    before: Snapshot | None,
    is_unique: bool,
    user: str,
    properties: Mapping[str, str],
    check: Callable[[Snapshot | None], None],
) -> list[int]:
    """Commit a change. Returns the ids of the new snapshots.

    Args:
        table: the target.
        change: what changes.
        before: the target's snapshot that the change is for.
        is_unique: whether the query guarantees that rows differ in the target's primary key.
        user: the commit user.
        properties: of the snapshot.
        check: called with the newest snapshot before it is replaced; it raises CommitConflict.

    Raises:
        SchemaMismatch: two rows of the result have the same key, or a key is NULL.
        CommitConflict: another commit came first.
    """
    meta: dict[str, Any] = {"properties": properties, "check": check, "ignore_empty": False}
    if not table.primary_keys and change.removed.num_rows:
        return _replace_rows(table, change, user, meta)
    with TableWrite(table.store) as writing:  # `table.write()` refuses materialized tables
        count = 0
        for rows, kind in (
            _rows_with_kinds(table, change, before, is_unique) if table.primary_keys else [(change.added, None)]
        ):
            if rows.num_rows:
                writing.write(rows, kind)
                count += rows.num_rows
        messages = writing.prepare_commit()
    return table.commit(user).commit(messages, expected_rows=count, **meta)


def _rows_with_kinds(
    table: Table, change: Change, before: Snapshot | None, is_unique: bool
) -> list[tuple[pa.Table, Any]]:
    """The changelog of a table with keys: a row that replaces another is an update. Raises SchemaMismatch: two rows have one key."""
    import pyarrow.compute as pc

    keys = list(table.primary_keys)
    new, old = _key_codes(change, keys)
    if pc.count_distinct(new).as_py() < len(new):
        first = unique_inverse(to_numpy(new))[0]
        second = np.setdiff1d(np.arange(len(new)), first)[:1]
        _raise_same_key(table, change.added.select(keys).take(second))
    replaces, is_replaced = (to_numpy(pc.is_in(a, value_set=b)) for a, b in ((new, old), (old, new)))
    if not is_unique and before is not None and not replaces.all():
        found = look_up(table, before, change.added.select(keys).filter(from_numpy(~replaces)), keys)
        if found.num_rows:  # the result still has another row with that key
            _raise_same_key(table, found)
    kinds = [(change.removed, ~is_replaced, _DELETE)]
    if str(table.options.get(opt.CHANGELOG_PRODUCER)) == "input":
        kinds.append((change.removed, is_replaced, _BEFORE))
    kinds += [(change.added, replaces, _AFTER), (change.added, ~replaces, _INSERT)]
    filtered = [(rows.filter(from_numpy(those)), kind) for rows, those, kind in kinds]
    return [(rows, np.full(rows.num_rows, kind, np.int8)) for rows, kind in filtered]


def _key_codes(change: Change, keys: Sequence[str]) -> tuple[pa.Array, pa.Array]:
    """Numbers of the keys of the added and the removed rows."""
    import pyarrow as pa

    both = pa.concat_tables([change.added.select(keys), change.removed.select(keys)])
    if any(pa.types.is_floating(c.type) for c in both.columns):  # 0.0 and -0.0 are different keys
        both = pa.table({"text": rows_as_text(both)})
    codes = from_numpy(row_codes(both))
    return codes.slice(0, change.added.num_rows), codes.slice(change.added.num_rows)


def _raise_same_key(table: Table, keys: pa.Table) -> None:
    twice = rows_as_text(keys)[0]
    raise SchemaMismatch(
        f"two rows of the result have the key {twice} of {table.name}; nothing was changed",
        hint="use a table whose primary key distinguishes the rows of the query apart, or one without a primary key",
        key=twice,
    )


def _replace_rows(table: Table, change: Change, user: str, meta: Mapping[str, Any]) -> list[int]:
    """Remove rows from a table without keys, as often as they are removed, and add others."""
    removed = Counter(rows_as_text(change.removed))

    def mark(rows: pa.Table) -> ChangedRows:
        deleted = np.zeros(rows.num_rows, bool)
        for at, text in enumerate(rows_as_text(rows)):
            if removed[text] > 0:
                removed[text] -= 1
                deleted[at] = True
        return ChangedRows(np.zeros(rows.num_rows, bool), deleted)

    def added() -> pa.Table:
        if +removed:
            raise SchemaMismatch(
                f"{table.name} does not have a row that the query removes", hint="refresh it with rebuild=True"
            )
        return change.added

    return change_rows(
        table.store, _condition_on(change.removed, table.schema.fields), mark, inserted=added, user=user, commit=meta
    )


def _condition_on(rows: pa.Table, fields: Sequence[DataField]) -> Predicate | None:
    """A condition that all the rows meet, which skips files."""
    found: list[Predicate] = []
    for field in fields:
        column = rows.column(field.name)
        if field.type.root not in _LISTED or column.null_count:
            continue
        values = tuple(column.unique().to_pylist())
        if len(values) <= _MAX_VALUES:
            found.append(In(field.name, values))
    return None if not found else found[0] if len(found) == 1 else And(tuple(found))
