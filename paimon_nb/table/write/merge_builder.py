"""MERGE of a frame into a table, clause by clause. Values are Python values or expressions of Arrow, never SQL text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.errors import BadOptionValue, ColumnNotFound, SchemaMismatch, WriteError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.registry import did_you_mean
from paimon_nb.format.data.schema_cast import cast_to_schema
from paimon_nb.format.types.arrow_builders import from_numpy, to_numpy
from paimon_nb.table.lsm.superseded import key_ids
from paimon_nb.table.read import In, Predicate
from paimon_nb.table.read.plan.time_travel import retry_on_expiry
from paimon_nb.table.write.dml_checks import check_merge, check_merge_update
from paimon_nb.table.write.input_rows import as_reader, warn_of_empty_stream
from paimon_nb.table.write.row_changes import ChangedRows, change_rows, evaluate_assignments, rows_where_true

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.table.read.store import TableStore

_FEW_KEYS = 10_000
"""Up to so many source rows, only files that may hold their keys are read."""


@dataclass(frozen=True, slots=True)
class _Clause:
    action: str
    values: Mapping[str, Any] | None = None
    where: pc.Expression | None = None


@dataclass(frozen=True, slots=True)
class TableMerge:
    """A MERGE that is not executed yet; `Table.merge` returns one. Each method returns a new object.

    For a row, the first clause whose condition is true applies. Expressions name columns of both sides:
    `pc.field("source.price")`, `pc.field("target.price")`.

    Examples:
        >>> import pyarrow.compute as pc
        >>> source = pa.table({"id": pa.array([1, 9], pa.int32()), "price": pa.array([5, 7], pa.int32())})
        >>> merge = t.merge(source, on="id")
        >>> merge = merge.when_matched_update({"price": pc.field("target.price") + pc.field("source.price")})
        >>> merge.when_not_matched_insert().execute()
        [3]
        >>> sorted(t.to_arrow(["id", "price"], where="id IN (1, 9)").to_pylist(), key=lambda row: row["id"])
        [{'id': 1, 'price': 25}, {'id': 9, 'price': 7}]
    """

    store: TableStore
    """The table."""
    source: Any
    """The frame, as `Table.append` takes it."""
    keys: Mapping[str, str]
    """Columns of the source by those of the table that must be equal. NULL equals nothing."""
    clauses: tuple[_Clause, ...] = ()
    """The clauses, in order."""

    def when_matched_update(
        self, values: Mapping[str, Any] | None = None, *, where: pc.Expression | None = None
    ) -> TableMerge:
        """Update rows of the table that match a row of the source.

        Args:
            values: a value or an expression by column; None: all columns that the source has, but the keys.
            where: an expression; only rows for which it is true.

        Returns:
            The merge with this clause.
        """
        return self._with_clause("update", values, where)

    def when_matched_delete(self, *, where: pc.Expression | None = None) -> TableMerge:
        """Delete rows of the table that match a row of the source.

        Args:
            where: an expression; only rows for which it is true.

        Returns:
            The merge with this clause.
        """
        return self._with_clause("delete", None, where)

    def when_not_matched_insert(
        self, values: Mapping[str, Any] | None = None, *, where: pc.Expression | None = None
    ) -> TableMerge:
        """Insert rows of the source that match no row of the table.

        Args:
            values: a value or an expression over `source.` columns by column; None: all columns that the source has.
            where: an expression over `source.` columns; only rows for which it is true.

        Returns:
            The merge with this clause.
        """
        return self._with_clause("insert", values, where)

    def execute(self) -> list[int]:
        """Run the clauses in one commit. The source is in memory, the table is read in batches.

        Returns:
            The ids of the new snapshots; empty if nothing changes.

        Raises:
            BadOptionValue: there is no clause.
            ColumnNotFound: a column does not exist.
            SchemaMismatch: a value does not fit its column, or an expression its rows.
            WriteError: a row of the table matches several rows of the source. Nothing is changed.
            UnsupportedOperation: the table's merge engine does not allow the changes, or a key column would change.
            CommitConflict: another commit changed the same files.
        """
        rows = as_reader(self.source).read_all()
        if not rows.num_rows:
            warn_of_empty_stream(self.source, self.store.name)
        merge = replace(self, source=rows)
        return retry_on_expiry(self.store, lambda: _MergeExecution(merge).execute())

    def _with_clause(self, action: str, values: Mapping[str, Any] | None, where: pc.Expression | None) -> TableMerge:
        if where is not None and not isinstance(where, pc.Expression):
            raise BadOptionValue(
                f"where={where!r} is not an expression of Arrow",
                hint="pc.field('source.price') > pc.field('target.price')",
                option="where",
            )
        return replace(self, clauses=(*self.clauses, _Clause(action, values, where)))


class _MergeExecution:
    """One execution."""

    def __init__(self, merge: TableMerge) -> None:
        self.store = store = merge.store
        if not merge.clauses:
            raise BadOptionValue("the merge has no clause", hint="when_matched_update() or when_not_matched_insert()")
        rows = merge.source
        _check_unique_names(rows)
        self.fields = {f.name: f for f in store.schema.fields}
        for target, source in merge.keys.items():
            store.schema.field(target)
            if source not in rows.column_names:
                raise ColumnNotFound(
                    f"the source has no column {source!r}",
                    hint=did_you_mean(source, rows.column_names) or f"columns: {', '.join(rows.column_names)}",
                    column=source,
                )
        self.key_fields = [self.fields[name] for name in merge.keys]
        keys = pa.table({t: rows.column(s) for t, s in merge.keys.items()})
        keys = cast_to_schema(keys, [replace(f, type=f.type.with_nullable(True)) for f in self.key_fields])
        self.source = self._without_arrow_views(rows)
        self.key_table = keys
        self.ids = key_ids(keys, self.key_fields)
        self.no_null = _rows_without_null(keys)
        self.matched = np.zeros(rows.num_rows, bool)
        self.clauses = [self._resolve_columns(c, merge.keys) for c in merge.clauses]
        first = np.zeros(rows.num_rows, bool)
        first[np.unique(_key_codes(self.ids), return_index=True)[1]] = True
        self.repeated = ~first  # later rows of a key that the source has several times

    def execute(self) -> list[int]:
        actions = {c.action for c in self.clauses}
        check_merge(self.store, deletes="delete" in actions)
        columns = sorted({n for c in self.clauses if c.action == "update" for n in c.values or ()})
        check_merge_update(self.store, columns)
        return change_rows(
            self.store, self._file_predicate(), self._apply_matched_clauses, columns, self._rows_to_insert
        )

    def _without_arrow_views(self, rows: pa.Table) -> pa.Table:
        """The source with string and binary views as plain types: Arrow cannot take rows of views."""
        for i, column in enumerate(rows.schema):
            if "_view" not in str(column.type):
                continue
            if column.name in self.fields:
                own = self.fields[column.name]
                values = cast_to_schema(rows.select([i]), [replace(own, type=own.type.with_nullable(True))]).column(0)
            else:
                values = rows.column(i).cast(pa.binary() if pa.types.is_binary_view(column.type) else pa.string())
            rows = rows.set_column(i, column.name, values)
        return rows

    def _resolve_columns(self, clause: _Clause, keys: Mapping[str, str]) -> _Clause:
        if clause.action == "delete":
            return clause
        values = clause.values
        if values is None:
            own = [n for n in self.source.column_names if n in self.fields]
            unknown = [n for n in self.source.column_names if n not in self.fields and n not in keys.values()]
            if unknown:
                self.store.schema.field(unknown[0])  # raises with the nearest name
            values = {n: pc.field(f"source.{n}") for n in own if n not in keys}
            if clause.action == "insert":
                values |= {target: pc.field(f"source.{source}") for target, source in keys.items()}
        for name in values:
            self.store.schema.field(name)
        return replace(clause, values=values)

    def _file_predicate(self) -> Predicate | None:
        """A condition that all matching rows fulfil, for leaving out files."""
        if self.source.num_rows > _FEW_KEYS:
            return None
        (name, *_) = self.key_table.column_names
        if pa.types.is_nested(self.key_table.column(0).type) or pa.types.is_floating(self.key_table.column(0).type):
            return None
        return In(name, tuple(self.key_table.column(0).drop_null().unique().to_pylist()))

    def _apply_matched_clauses(self, rows: pa.Table) -> ChangedRows:
        own = rows.select([f.name for f in self.key_fields])
        found = pc.index_in(key_ids(own, self.key_fields), value_set=self.ids, skip_nulls=True)
        at = to_numpy(found.fill_null(-1)).astype(np.int64)
        at[~_rows_without_null(own)] = -1
        hits = np.flatnonzero(at >= 0)
        self._check_single_matches(at[hits])
        self.matched[at[hits]] = True
        updated, deleted = np.zeros(rows.num_rows, bool), np.zeros(rows.num_rows, bool)
        if not len(hits):
            return ChangedRows(updated, deleted)
        both = _concat_with_prefixes(
            "target", rows.take(from_numpy(hits)), "source", self.source.take(from_numpy(at[hits]))
        )
        left = np.ones(len(hits), bool)
        parts: list[tuple[np.ndarray, dict[str, pa.Array]]] = []
        for clause in self.clauses:
            if clause.action == "insert" or not left.any():
                continue
            selected = left & rows_where_true(both, clause.where)
            left &= ~selected
            if clause.action == "delete":
                deleted[hits[selected]] = True
            elif selected.any():
                updated[hits[selected]] = True
                new = evaluate_assignments(both.filter(from_numpy(selected)), clause.values or {}, self.fields)
                parts.append((hits[selected], new))
        return ChangedRows(updated, deleted, _combine_new_values(rows, updated, parts))

    def _check_single_matches(self, found: np.ndarray) -> None:
        if not self.repeated.any() or not len(found):
            return
        several = pc.is_in(
            self.ids.filter(from_numpy(self.repeated & self.no_null)), value_set=self.ids.take(from_numpy(found))
        )
        if pc.any(several).as_py():
            row = np.flatnonzero(self.repeated & self.no_null)[np.flatnonzero(to_numpy(several))[0]]
            raise WriteError(
                f"a row of {self.store.name} matches several rows of the source: {self.key_table.slice(int(row), 1).to_pylist()[0]}",
                hint="remove repeated keys from the source",
            )

    def _rows_to_insert(self) -> pa.Table | None:
        left = ~self.matched
        if self.repeated.any():  # a repeated key is matched as a whole
            left &= ~(to_numpy(pc.is_in(self.ids, value_set=self.ids.filter(from_numpy(self.matched)))) & self.no_null)
        parts = []
        rows = _concat_with_prefixes("source", self.source)
        for clause in self.clauses:
            if clause.action != "insert" or not left.any():
                continue
            selected = left & rows_where_true(rows, clause.where)
            left &= ~selected
            if selected.any():
                parts.append(
                    pa.table(evaluate_assignments(rows.filter(from_numpy(selected)), clause.values or {}, self.fields))
                )
        return pa.concat_tables(parts, promote_options="default") if parts else None


def _key_codes(ids: pa.Array) -> np.ndarray:
    return to_numpy(ids.dictionary_encode(null_encoding="encode").indices)


def _rows_without_null(keys: pa.Table) -> np.ndarray:
    mask = np.ones(keys.num_rows, bool)
    for column in keys.columns:
        mask &= to_numpy(column.is_valid())
    return mask


def _concat_with_prefixes(*sides: Any) -> pa.Table:
    """Tables side by side, with columns `<name>.<column>`."""
    columns = {
        f"{name}.{c}": t.column(c) for name, t in zip(sides[::2], sides[1::2], strict=True) for c in t.column_names
    }
    return pa.table(columns)


def _combine_new_values(
    rows: pa.Table, updated: np.ndarray, parts: Sequence[tuple[np.ndarray, Mapping[str, pa.Array]]]
) -> dict[str, pa.Array]:
    """New values of all updated rows: of several clauses, which may assign different columns."""
    out: dict[str, pa.Array] = {}
    at = np.flatnonzero(updated)
    for name in dict.fromkeys(n for _, new in parts for n in new):
        chunks, order = [*rows.column(name).chunks], np.arange(rows.num_rows)
        begin = rows.num_rows
        for where, new in parts:
            if name in new:
                chunks.append(new[name])
                order[where] = begin + np.arange(len(where))
                begin += len(where)
        out[name] = pa.chunked_array(chunks, rows.column(name).type).take(from_numpy(order[at])).combine_chunks()
    return out


def _check_unique_names(rows: pa.Table) -> None:
    names = rows.column_names
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise SchemaMismatch(f"the source has column {twice!r} twice", hint="rename one of them", column=twice)
