"""Cells of a key table that are changed in the grid: collected, shown as UPDATE, written in one commit, undone."""

from __future__ import annotations

from dataclasses import field
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import CommitConflict, NullNotAllowed, PaimonError, SqlAnalysisError, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.table.read import Predicate
    from paimon_nb.table.tables.table import Table
    from paimon_nb.workbench import Workbench

MAX_EDITS = 1000
"""Cells of one commit."""
MAX_TEXT = 100_000
"""Characters of a value that is edited."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A changed cell."""

    row: int
    """Of the result as it was read, whatever its order on the page."""
    column: int
    before: Any
    after: Any
    """Arrow scalars of the column's type."""


def edited_table(wb: Workbench, statement: str) -> tuple[str, tuple[tuple[str, str], ...] | None] | None:
    """The table and the columns of a result whose cells can be changed; None: it has no rows of one table as they are now.

    Args:
        statement: the query, with the magic line of its cell.

    Returns:
        The full name, and (column, name in the result) for each column; None in their place: all columns, by `*`.
    """
    from paimon_nb.sql import parse
    from paimon_nb.sql.simple_select import selection_of
    from paimon_nb.statements import Query

    magic, _, text = statement.partition("\n")
    if not text or "duckdb" in magic:
        return None
    try:
        query = parse(text)[-1]
        selection = selection_of(query) if isinstance(query, Query) else None
        if selection is None or selection.count is not None:
            return None
        (ref,) = query.tables  # type: ignore[attr-defined]  # a Query
        if ref.travel or ref.options or ref.function or ref.file or ref.metadata_columns:
            return None
        name = wb.session.find(ref.parts).name
    except PaimonError:
        return None
    return None if name.system is not None else (name.quoted(), selection.columns)


@dataclass(slots=True)
class CellEdits:
    """The changed cells of one result.

    Args:
        open_table: the table that the rows are of.
        columns: (column of the table, name in the result); None: all columns of the table.
        record: is called with what was committed: table, snapshots, statements.
        take_back: undoes the last commit of this session.
    """

    open_table: Callable[[], Table]
    columns: tuple[tuple[str, str], ...] | None
    record: Callable[[str, Sequence[int], str], None] = lambda *_: None
    take_back: Callable[[], str] = lambda: ""
    pending: list[Edit] = field(default_factory=list)
    written: list[Edit] = field(default_factory=list)
    """Those of the last commit, which can be undone."""
    _table: Table | None = None

    def change(self, rows: pa.Table, row: int, column: int, text: str | None) -> pa.Table:
        """Change a cell, not yet in the table; returns the rows with it.

        Args:
            rows: of the result.
            text: what was typed; None is NULL.

        Raises:
            UnsupportedOperation: the column or the table cannot be changed.
            SqlAnalysisError: the text is not a value of the column's type. NullNotAllowed.
        """
        import pyarrow as pa

        from paimon_nb.notebook.grid.filters import typed_value
        from paimon_nb.notebook.key_values import InvalidKeyValue, key_value

        table = self._editable_table(rows.column_names)
        field_ = table.schema.field(self._field_names(rows.column_names)[column])
        if field_.name in table.primary_keys:
            raise UnsupportedOperation(
                f"{field_.name} is a column of the primary key: its values identify the row",
                hint="DELETE the row and INSERT it with another key",
            )
        kind = rows.schema.field(column).type
        if pa.types.is_nested(kind):
            raise UnsupportedOperation(f"{field_.name} is {field_.type}: nested values are changed by UPDATE only")
        if text is None and not field_.type.nullable:
            raise NullNotAllowed(f"{field_.name} is NOT NULL", hint="type a value")
        if text is not None and _is_binary(kind):
            value = typed_value(kind, text)
        else:
            try:
                value = pa.scalar(None if text is None else key_value(field_, text), kind)
            except InvalidKeyValue as error:
                raise SqlAnalysisError(str(error), hint="type it as the column shows it") from None
        if len(self.pending) >= MAX_EDITS:
            raise UnsupportedOperation(f"{MAX_EDITS:,} cells are changed already", hint="write them first")
        earlier = next((e for e in self.pending if (e.row, e.column) == (row, column)), None)
        before = rows.column(column)[row] if earlier is None else earlier.before
        self.pending = [e for e in self.pending if e is not earlier]
        if not _is_same(value, before):
            self.pending.append(Edit(row, column, before, value))
        return _with_values(rows, [Edit(row, column, before, value)])

    def discard(self, rows: pa.Table) -> pa.Table:
        """Forget the changes; returns the rows without them."""
        edits, self.pending = self.pending, []
        return _with_values(rows, [_reversed(e) for e in edits])

    def statements(self, rows: pa.Table) -> str:
        """The changes as UPDATE statements of Spark SQL, one a row of the table."""
        from paimon_nb.notebook.grid.filters import sql_literal
        from paimon_nb.sql import quote_if_needed

        table, names = self._editable_table(rows.column_names), self._field_names(rows.column_names)
        out = []
        for row in dict.fromkeys(e.row for e in self.pending):
            edits = [e for e in self.pending if e.row == row]
            changes = ", ".join(f"{quote_if_needed(names[e.column])} = {sql_literal(e.after)}" for e in edits)
            keys = " AND ".join(
                f"{quote_if_needed(k)} = {sql_literal(rows.column(names.index(k))[row])}" for k in table.primary_keys
            )
            out.append(f"UPDATE {table.name.quoted()} SET {changes} WHERE {keys};")
        return "\n".join(out)

    def write(self, rows: pa.Table) -> list[int]:
        """Write all changes in one commit; returns the new snapshots.

        Raises:
            CommitConflict: a row was changed or deleted since it was read. Nothing is written.
            PaimonError: as of `Table.update`.
        """
        text, names = self.statements(rows), self._field_names(rows.column_names)
        self._table = table = self._editable_table(rows.column_names).refresh()
        keys = table.primary_keys
        by_key = {tuple(rows.column(names.index(k))[e.row].as_py() for k in keys): e.row for e in self.pending}
        where = _rows_with(keys, list(by_key))
        changed = {
            names[column]: {e.row: e for e in self.pending if e.column == column}
            for column in dict.fromkeys(e.column for e in self.pending)
        }

        def new_values(current: pa.Table, name: str) -> pa.Array:
            import pyarrow as pa

            found = list(zip(*(current.column(k).to_pylist() for k in keys), strict=True))
            values = [current.column(name)[i] for i in range(current.num_rows)]
            for i, key in enumerate(found):
                edit = changed[name].get(by_key.get(key, -1))
                if edit is None:
                    continue
                if not _is_same(values[i], edit.before.cast(values[i].type)):
                    raise CommitConflict(
                        f"{name} of the row {dict(zip(keys, key, strict=True))} has changed since it was read",
                        hint="run the cell again, then change it",
                    )
                values[i] = edit.after.cast(values[i].type)
            return pa.array([v.as_py() for v in values], current.schema.field(name).type)

        read_columns = [*keys, *(n for n in changed if n not in keys)]
        present = {
            key
            for key in zip(
                *(c.to_pylist() for c in table.to_arrow(read_columns, where=where).select(keys).columns), strict=True
            )
            if key in by_key
        }
        if missing := [key for key in by_key if key not in present]:
            raise CommitConflict(
                f"the row {dict(zip(keys, missing[0], strict=True))} does not exist any more", hint="run the cell again"
            )
        snapshots = table.update(
            {name: (lambda current, name=name: new_values(current, name)) for name in changed}, where=where
        )
        self.record(str(table.name), snapshots, text)
        self.written, self.pending = self.pending, []
        return snapshots

    def undo(self, rows: pa.Table) -> tuple[pa.Table, str]:
        """Undo the last commit; returns the rows as they were, and what was done. Raises UnsupportedOperation: the table has changed."""
        done = self.take_back()
        edits, self.written = self.written, []
        return _with_values(rows, [_reversed(e) for e in edits]), done

    def _editable_table(self, columns: Sequence[str]) -> Table:
        if self._table is None:
            table = self.open_table()
            if not table.primary_keys:
                raise UnsupportedOperation(
                    f"{table.name} has no primary key: a cell does not identify its row",
                    hint="UPDATE changes rows by a condition",
                )
            self._table = table
        names = self._field_names(columns)
        if missing := [k for k in self._table.primary_keys if k not in names]:
            raise UnsupportedOperation(
                f"the result lacks {missing[0]}, a column of the primary key of {self._table.name}",
                hint="select it, too",
            )
        return self._table

    def _field_names(self, columns: Sequence[str]) -> list[str]:
        """The table's column of each column of the result."""
        assert self._table is not None
        if self.columns is None:
            return list(columns)
        return [self._table.schema.column_name(name) for name, _ in self.columns]


def _is_same(a: pa.Scalar, b: pa.Scalar) -> bool:
    """Whether two values are the same; NaN is NaN."""
    plain = a.as_py()
    return bool(a.equals(b)) or (plain != plain and b.as_py() != b.as_py())


def _is_binary(kind: pa.DataType) -> bool:
    """Whether its values are shown as hexadecimal digits."""
    import pyarrow as pa

    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind))


def text_to_edit(value: pa.Scalar) -> str | None:
    """The whole value as it is typed. Raises UnsupportedOperation: it is too long for a form."""
    from paimon_nb.notebook.grid.texts import scalar_text

    text = scalar_text(value, MAX_TEXT + 1)
    if text is not None and len(text) > MAX_TEXT:
        raise UnsupportedOperation("the value is too long to be edited here", hint="UPDATE writes it")
    return text


def _rows_with(keys: Sequence[str], values: Sequence[tuple[Any, ...]]) -> Predicate:
    """The condition that a row has one of these keys."""
    from paimon_nb.table.read import In

    if len(keys) == 1:
        return In(keys[0], tuple(value for (value,) in values))
    return reduce(or_, (reduce(and_, (In(k, (v,)) for k, v in zip(keys, row, strict=True))) for row in values))


def _reversed(edit: Edit) -> Edit:
    return Edit(edit.row, edit.column, edit.after, edit.before)


def _with_values(rows: pa.Table, edits: Sequence[Edit]) -> pa.Table:
    """The rows with other values in some cells."""
    import pyarrow as pa

    by_column: dict[int, Mapping[int, Any]] = {}
    for e in edits:
        by_column[e.column] = {**by_column.get(e.column, {}), e.row: e.after}
    for column, values in by_column.items():
        old = rows.column(column)
        parts, start = [], 0
        for row in sorted(values):
            parts += [*old.slice(start, row - start).chunks, pa.array([values[row].as_py()], old.type)]
            start = row + 1
        parts += old.slice(start).chunks
        rows = rows.set_column(column, rows.schema.field(column).with_nullable(True), pa.chunked_array(parts, old.type))
    return rows
