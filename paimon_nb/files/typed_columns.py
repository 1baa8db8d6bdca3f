"""Columns of Parquet, ORC, Arrow, Avro and Excel files in the types that the user names: options `types` and `columns`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import ColumnNotFound, ReadError, SchemaMismatch
from paimon_nb.base.registry import did_you_mean
from paimon_nb.files.user_types import paimon_type_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from paimon_nb.files.data_file import Reader
    from paimon_nb.files.options import FileOptions


class TypedReader:
    """A reader whose columns have other types; `columns` also chooses them. A value that has no equal one is an error."""

    def __init__(self, inner: Reader, options: FileOptions, name: str) -> None:
        """Raises: ColumnNotFound: the file has no such column. BadOptionValue: not a type."""
        from paimon_nb.format.types import arrow_type

        self._inner, self._name = inner, name
        self.how, self.notes, self.guess = inner.how, inner.notes, inner.guess
        own, schema = inner.schema.names, inner.schema
        selected = options.get("columns")
        self._types = {}
        for written, type in {**(selected or {}), **(options.get("types") or {})}.items():
            self._types[_column(own, written, name)] = paimon_type_of(type)
        for column, t in self._types.items():
            schema = schema.set(own.index(column), schema.field(column).with_type(arrow_type(t)))
        self._positions = [own.index(_column(own, c, name)) for c in selected] if selected else list(range(len(own)))
        import pyarrow as pa

        self.schema: pa.Schema = pa.schema([schema.field(i) for i in self._positions])

    def read(self, columns: Sequence[int]) -> pa.Table:
        """Raises: SchemaMismatch: a value is not one of its column's type."""
        import pyarrow as pa

        rows = self._inner.read([self._positions[i] for i in columns])
        fields = [self.schema.field(i) for i in columns]
        return pa.table([self._cast(rows.column(i), f) for i, f in enumerate(fields)], pa.schema(fields))

    def _cast(self, column: Any, field: pa.Field) -> Any:
        import pyarrow as pa

        from paimon_nb.format.data.schema_cast import to_logical

        t = self._types.get(field.name)
        if t is None:
            return column
        try:
            return to_logical(column, t)
        except (pa.ArrowException, ReadError, ValueError, TypeError, KeyError) as error:
            raise SchemaMismatch(
                f"{self._name}: column {field.name} cannot be read as {t.bare()}: {str(error).splitlines()[0][:200]}",
                hint="leave it out of 'types', and convert it in the query with TRY_CAST",
            ) from None

    def count(self) -> int:
        return self._inner.count()


def _column(own: Sequence[str], written: str, name: str) -> str:
    found = [n for n in own if n == written] or [n for n in own if n.lower() == written.lower()]
    if len(found) == 1:
        return found[0]
    hint = did_you_mean(written, own) or f"its columns: {', '.join(own)}"
    raise ColumnNotFound(f"{name} has no column {written!r}", hint=hint, column=written)
