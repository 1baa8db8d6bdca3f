"""UPDATE, DELETE and MERGE of a table's rows in this process, from values and Arrow expressions. Each is one commit.

Rows are read in batches (tables with keys) or file by file (append tables). Changed rows of a table with keys are written
with their row kinds; in an append table the old rows are deleted by position and the new ones added, or, with data
evolution, new files hold the assigned columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import SEQUENCE_NUMBER
from paimon_nb.format.data.schema_cast import cast_to_schema
from paimon_nb.format.types import arrow_type
from paimon_nb.format.types.arrow_builders import from_numpy, to_numpy
from paimon_nb.table.read import iter_split, plan_scan, read_split
from paimon_nb.table.read.row_positions import one_split_per_file, rows_with_positions
from paimon_nb.table.read.split.inline_blobs import as_stored
from paimon_nb.table.read.split.row_tracking import tracks_rows
from paimon_nb.table.write import TableWrite
from paimon_nb.table.write.column_file_writer import columns_change, write_columns
from paimon_nb.table.write.commit import CommitMessage, TableCommit
from paimon_nb.table.write.global_index import drop_stale_indexes
from paimon_nb.table.write.row_rewrite import delete_marked_rows, rewrite_without_rows, uses_deletion_vectors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow.compute as pc

    from paimon_nb.format.types import DataField
    from paimon_nb.table.read import Predicate, ScanPlan, Split
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.write.row_rewrite import Marked

INSERTED, UPDATED, DELETED = 0, 2, 3


@dataclass(frozen=True, slots=True)
class ChangedRows:
    """Which rows are updated and deleted, and the new values."""

    updated: np.ndarray
    """Bool per row."""
    deleted: np.ndarray
    new_values: Mapping[str, pa.Array] = field(default_factory=dict)
    """By assigned column: a value for each updated row."""

    @staticmethod
    def all_updated(count: int, new_values: Mapping[str, pa.Array]) -> ChangedRows:
        """Every one of `count` rows gets new values."""
        return ChangedRows(np.ones(count, bool), np.zeros(count, bool), new_values)


Rule = Callable[[pa.Table], ChangedRows]
"""Decides about rows of the table, which have all its columns."""


def evaluate_assignments(
    rows: pa.Table, values: Mapping[str, Any], fields: Mapping[str, DataField]
) -> dict[str, pa.Array]:
    """New values of columns, one per row.

    Args:
        rows: what expressions refer to. values: by column: a Python value, an Arrow scalar, an expression of Arrow, or a
            function of an Arrow table.
        fields: the table's columns by name.

    Raises: SchemaMismatch: a value does not fit its column.
    """
    import pyarrow.compute as pc

    out: dict[str, pa.Array] = {}
    for name, value in values.items():
        target = arrow_type(fields[name].type)
        try:
            if isinstance(value, pc.Expression):
                found = evaluate_expression(rows, value)
            elif callable(value):
                found = call_column_function(rows, value, target)
            elif isinstance(value, pa.Scalar):
                found = pa.repeat(value, rows.num_rows)
            else:
                found = pa.array([value], target).take(pa.array(np.zeros(rows.num_rows, np.int64)))
            made = pa.table({name: found})
        except (pa.ArrowException, ValueError, TypeError) as error:
            raise SchemaMismatch(
                f"column {name!r}: {value!r} does not fit {fields[name].type}: {error}",
                hint=f"a value that Arrow converts to {target}, or an expression such as pc.field('x') + 1",
                column=name,
            ) from None
        out[name] = cast_to_schema(made, [fields[name]]).column(0).combine_chunks()
    return out


def evaluate_expression(rows: pa.Table, expression: pc.Expression) -> pa.ChunkedArray:
    """An expression of Arrow over the columns of a table.

    Raises: SchemaMismatch: it does not fit them.
    """
    import pyarrow.dataset as ds

    try:
        return ds.dataset(rows).to_table(columns={"value": expression}).column(0)
    except (pa.ArrowException, KeyError, TypeError) as error:
        raise SchemaMismatch(
            f"expression {expression} cannot be computed: {error}", hint=f"columns: {', '.join(rows.column_names)}"
        ) from None


def call_column_function(
    rows: pa.Table, function: Callable[[pa.Table], Any], target: pa.DataType
) -> pa.Array | pa.ChunkedArray:
    """One value per row, computed by a function of the rows.

    Raises: ValueError: the function returns another number of values.
    """
    found = function(rows)
    if isinstance(found, np.ndarray) and found.ndim == 2:
        found = pa.FixedSizeListArray.from_arrays(pa.array(found.ravel()), found.shape[1])
    elif not isinstance(found, pa.Array | pa.ChunkedArray):
        found = pa.array(found, None if isinstance(found, np.ndarray) else target)
    if len(found) != rows.num_rows:
        raise ValueError(f"the function returned {len(found)} values for {rows.num_rows} rows")
    return found


def rows_where_true(rows: pa.Table, condition: pc.Expression | None) -> np.ndarray:
    """For which rows a condition is true; NULL is not."""
    if condition is None:
        return np.ones(rows.num_rows, bool)
    found = evaluate_expression(rows, condition)
    if not pa.types.is_boolean(found.type):
        raise SchemaMismatch(f"condition {condition} is {found.type}, not bool", hint="pc.field('x') > 1")
    return to_numpy(found.fill_null(False)).astype(bool)


def change_rows(
    store: TableStore,
    predicate: Predicate | str | None,
    rule: Rule,
    columns: Sequence[str] = (),
    inserted: Callable[[], pa.Table | None] | None = None,
    *,
    user: str | None = None,
    commit: Mapping[str, Any] | None = None,
) -> list[int]:
    """Apply a rule to the rows that match a condition, and insert rows. One commit; nothing is left if it fails.

    Args:
        predicate: which rows the rule sees. columns: those that it assigns.
        inserted: called after the rule has seen all rows; the rows to insert, None: there are none. user: the commit
            user. commit: more arguments of `TableCommit.commit`.

    Returns: the ids of the new snapshots.

    Raises: CommitConflict: another commit changed the same files. SchemaMismatch, NullNotAllowed: a new value.
    """
    plan = plan_scan(store, where=predicate) if isinstance(predicate, str) else plan_scan(store, predicate)
    if plan.snapshot is None and inserted is None:
        store.check_identity()
    if store.has_keys:
        return _change_by_key(store, plan, rule, inserted, user, commit or {})
    return _ChangeByPosition(store, plan, rule, columns).execute(inserted, user, commit or {})


def _change_by_key(
    store: TableStore,
    plan: ScanPlan,
    rule: Rule,
    inserted: Callable[[], pa.Table | None] | None,
    user: str | None,
    options: Mapping[str, Any],
) -> list[int]:
    count = 0
    with TableWrite(store) as writing:

        def write_rows_of_kind(rows: pa.Table, kind: int) -> None:
            nonlocal count
            if rows.num_rows:
                count += rows.num_rows
                writing.write(rows, from_numpy(np.full(rows.num_rows, kind, np.int8)))

        source = as_stored(plan.store) if store.referring_blobs else plan.store
        for split in plan.splits:
            for rows in iter_split(source, split, list(store.schema.names), plan.predicate):
                changed = rule(rows)
                write_rows_of_kind(_updated_rows(rows, changed), UPDATED)
                write_rows_of_kind(rows.filter(from_numpy(changed.deleted)), DELETED)
        new = inserted() if inserted is not None else None
        if new is not None:
            write_rows_of_kind(new, INSERTED)
        if not count:
            return []
        messages = writing.prepare_commit()
    return TableCommit(store, user).commit(messages, expected_rows=count, **options)


def _updated_rows(rows: pa.Table, changed: ChangedRows) -> pa.Table:
    new = rows.filter(from_numpy(changed.updated))
    for name, values in changed.new_values.items():
        at = new.schema.get_field_index(name)
        new = new.set_column(at, new.schema.field(at), values)
    return new


class _ChangeByPosition:
    """Changes of an append table, file by file: old rows are deleted by position, new ones are added.

    With data evolution, files with the assigned columns take the place of new rows.
    """

    def __init__(self, store: TableStore, plan: ScanPlan, rule: Rule, columns: Sequence[str]) -> None:
        self.store, self.plan, self.rule, self.columns = store, plan, rule, columns
        self.tracked = tracks_rows(store)
        self.evolving = store.evolves_data and bool(columns)
        self.rewritten_keep_ids = self.tracked and not self.evolving
        self.messages: list[CommitMessage] = []
        self.deleted: list[Marked] = []
        self.written_rows = 0

    def execute(
        self,
        inserted: Callable[[], pa.Table | None] | None,
        user: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> list[int]:
        commit, files = TableCommit(self.store, user), one_split_per_file(self.plan)
        with TableWrite(self.store.copy({"write-only": "true"}), tracked=self.rewritten_keep_ids) as writing:
            try:
                with self.store.fs.writing_in_background():
                    for split in files:
                        self._change_file(split, writing)
                    self._delete_rows()
                    if self.written_rows:
                        self.messages += writing.prepare_commit()
                    self._insert_rows(inserted() if inserted is not None else None)
                if not self.messages:
                    return []
                if self.evolving:
                    made = commit.publish(lambda latest: columns_change(self.store, latest, self.messages, files))
                    return [] if made is None else [made]
            except BaseException:
                commit.abort(self.messages)
                raise
        return commit.commit(self.messages, expected_rows=self.written_rows, **(options or {}))

    def _change_file(self, split: Split, writing: TableWrite) -> None:
        rows, positions = self._matching_rows(split)
        if not rows.num_rows:
            return
        changed = self.rule(rows.select(self.store.schema.names))
        deleted = changed.deleted if self.evolving else changed.deleted | changed.updated
        if deleted.any():
            self.deleted.append((split, positions[deleted]))
        if not changed.updated.any():
            return
        if self.evolving:
            self.messages.append(new_column_values(self.plan.store, split, changed, positions, self.columns))
            return
        new = _updated_rows(rows, changed)
        new = new.drop_columns([SEQUENCE_NUMBER]) if self.tracked else new
        writing.write(new)
        self.written_rows += new.num_rows

    def _matching_rows(self, split: Split) -> tuple[pa.Table, np.ndarray]:
        """The rows of a file for which the plan's condition is true, and their positions in the file."""
        from paimon_nb.table.read.predicate.evaluate import evaluate

        rows, positions = rows_with_positions(self.plan.store, split, tracked=self.rewritten_keep_ids)
        condition = self.plan.predicate
        if condition is None:
            return rows, positions
        used = [f for f in self.store.schema.fields if f.name in condition.columns()]
        matches = to_numpy(evaluate(condition, rows, used).fill_null(False))
        return rows.filter(from_numpy(matches)), positions[matches]

    def _delete_rows(self) -> None:
        if self.tracked and (self.deleted or self.messages):
            partitions = {split.partition for split, _ in self.deleted} | {m.partition for m in self.messages}
            self.messages += drop_stale_indexes(self.store, self.plan.snapshot, list(self.columns), partitions)
        if self.deleted and uses_deletion_vectors(self.store):
            self.messages += delete_marked_rows(self.store, self.plan, self.deleted)
            return
        store = self.store.at_newest_schema() if self.deleted else self.store
        for split, positions in self.deleted:
            self.messages.append(rewrite_without_rows(store, split, positions))

    def _insert_rows(self, rows: pa.Table | None) -> None:
        if rows is None or not rows.num_rows:
            return
        with TableWrite(self.store.copy({"write-only": "true"})) as writing:
            writing.write(rows)
            self.written_rows += rows.num_rows
            self.messages += writing.prepare_commit()


def new_column_values(
    store: TableStore, split: Split, changed: ChangedRows, positions: np.ndarray, columns: Sequence[str]
) -> CommitMessage:
    """A file with the assigned columns of all rows of a split's files: new values, and the old ones of other rows."""
    # Java 1.3 cannot read such a file of a partitioned table without the partition columns.
    fields = [f for f in store.schema.fields if f.name in {*columns, *store.schema.partition_keys}]
    rows = read_split(as_stored(store), replace(split, deletion_vectors=None), [f.name for f in fields])
    at = positions[changed.updated]
    order = np.arange(rows.num_rows)
    order[at] = rows.num_rows + np.arange(len(at))
    for name, values in changed.new_values.items():
        index = rows.schema.get_field_index(name)
        both = pa.chunked_array([*rows.column(index).chunks, values])
        rows = rows.set_column(index, rows.schema.field(index), both.take(from_numpy(order)))
    return write_columns(store, split, fields, rows)
