"""Data that is in no catalog: frames that the caller holds, and files named in FROM. Tables come first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError, SchemaMismatch, TableNotFound
from paimon_nb.format.types import arrow_schema, from_arrow_schema
from paimon_nb.session.query.data_files import read_data_file

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import TableRef

MAX_TYPES = 12


def is_frame(value: Any) -> bool:
    """Whether a value has rows and named columns: pandas, polars, Arrow, DuckDB, Spark, or a table of ours."""
    import pyarrow as pa

    if isinstance(value, type | pa.RecordBatchReader | pa.Array | pa.ChunkedArray):
        return False
    if hasattr(value, "__arrow_c_stream__") or isinstance(value, pa.RecordBatch):
        return type(value).__name__ != "Series"
    lazy = hasattr(value, "collect") and hasattr(value, "collect_schema")
    return lazy or is_spark_frame(value) or isinstance(value, _arrow_dataset_class())


def _arrow_dataset_class() -> tuple[type, ...]:
    import sys

    module = sys.modules.get("pyarrow.dataset")
    return (module.Dataset,) if module is not None else ()


def is_spark_frame(value: Any) -> bool:
    """Whether a value is a DataFrame of Spark, which needs no conversion."""
    return hasattr(value, "toArrow") and hasattr(value, "sparkSession")


def frame_variable(session: Session, ref: TableRef) -> Any:
    """The frame that a reference without a table means; None if there is none.

    Raises:
        TableNotFound: the name is a variable without rows and columns; the hint names its type.
    """
    if ref.file or len(ref.parts) != 1 or ref.travel is not None or ref.lookup or ref.function is not None:
        return None
    value = session.frames(ref.parts[0])
    if value is None or is_frame(value):
        return value
    import types

    if callable(value) or isinstance(value, types.ModuleType | str | int | float):
        return None
    raise TableNotFound(
        f"no table {ref.parts[0]}, and the variable of this name is a {type(value).__name__}, which has no columns",
        hint="pandas, polars, Arrow, DuckDB and Spark frames can be queried",
        name=ref.parts[0],
    )


def rows_of_reference(session: Session, ref: TableRef) -> pa.Table | None:
    """The rows of a file or a frame in the types of `format/types`; None: neither, or a frame of Spark.

    Raises:
        SourceUnavailable: no such file. UnsupportedFormat: it cannot be read.
        SchemaMismatch: a frame that cannot be converted.
    """
    if ref.file:
        return _rows_of_file(session, ref.parts[0])
    value = frame_variable(session, ref)
    if value is None or is_spark_frame(value):
        return None
    return rows_of_frame(value, ref.parts[0])


def _rows_of_file(session: Session, path: str) -> pa.Table:
    """The rows of a data file; how it was read becomes a note of the statement."""
    session.check_file(path)
    rows = session.rows_of_files.get(path)
    if rows is None:
        read = read_data_file(path)
        rows = session.rows_of_files[path] = to_paimon_types(read.rows, path)
        session.note(f"{path}: {read.how}; {_column_types_text(rows)}")
    return rows


def rows_of_frame(value: Any, name: str) -> pa.Table:
    """The rows of a frame. Raises SchemaMismatch: it cannot be converted."""
    from paimon_nb.table.write.input_rows import as_reader

    try:
        rows = as_reader(value).read_all()
    except PaimonError as error:
        raise SchemaMismatch(f"{name}: {error.message}", hint=error.hint) from None
    except Exception as error:  # libraries of frames raise errors of their own
        text = str(error).split("\n", 1)[0][:200]
        raise SchemaMismatch(f"{name}: the frame cannot be converted: {text}", hint="use one type per column") from None
    return to_paimon_types(rows, name)


def frame_of_reference(session: Session, ref: TableRef) -> DataFrame | None:
    """A file or a frame as a DataFrame; None: the reference is neither. Starts Spark."""
    from paimon_nb.spark.runtime.arrow_interop import from_arrow

    value = None if ref.file else frame_variable(session, ref)
    if value is not None and is_spark_frame(value):
        return value  # type: ignore[no-any-return]
    rows = rows_of_reference(session, ref)
    if rows is None:
        return None
    if ref.columns is not None:
        needed = {c.lower() for c in ref.columns}
        columns = [n for n in rows.column_names if n.lower() in needed]
        rows = rows.select(columns) if columns else rows
    return from_arrow(session.spark, rows)


def to_paimon_types(rows: pa.Table, name: str) -> pa.Table:
    """Rows in the types of `format/types`. Times have microseconds if that is enough: pandas and CSV files have other units.

    Raises:
        SchemaMismatch: a type without a Paimon type, a value that does not fit, or two columns of one name.
    """
    import pyarrow as pa

    seen: set[str] = set()
    for column in rows.column_names:
        if not column or column.lower() in seen:
            what = f"has two columns {column!r}" if column else "has a column without a name"
            raise SchemaMismatch(f"{name} {what}", hint="rename the column")
        seen.add(column.lower())
    if not rows.num_columns:
        raise SchemaMismatch(f"{name} has no columns", hint="a query needs at least one")
    columns = []
    for field, column in zip(rows.schema, rows.columns, strict=True):
        try:
            if pa.types.is_null(field.type):
                column = column.cast(pa.string())
            if pa.types.is_timestamp(field.type) and field.type.unit in ("s", "ns"):
                column = _in_microseconds(column)
            target = arrow_schema(from_arrow_schema(pa.schema([pa.field(field.name, column.type)]))).field(0).type
            columns.append(column if column.type == target else column.cast(target))
        except SchemaMismatch as error:
            raise SchemaMismatch(f"{name}, column {field.name!r}: {error.message}", hint=error.hint) from None
        except pa.ArrowException as error:
            text = str(error).split("\n", 1)[0][:200]
            raise SchemaMismatch(
                f"{name}, column {field.name!r}: {text}", hint="cast the column in the frame first"
            ) from None
    return pa.table(columns, names=rows.column_names)


def _in_microseconds(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Times in TIMESTAMP(6), if that loses nothing."""
    import pyarrow as pa

    try:
        return column.cast(pa.timestamp("us", column.type.tz))
    except pa.ArrowInvalid:
        return column


def _column_types_text(rows: pa.Table) -> str:
    fields = from_arrow_schema(rows.schema)
    types = ", ".join(f"{f.name} {f.type}" for f in fields[:MAX_TYPES])
    return f"{types} and {len(fields) - MAX_TYPES} more columns" if len(fields) > MAX_TYPES else types


def note_shadowed_frame(session: Session, ref: TableRef) -> None:
    """The note on a name that is a table and a variable: the table is read."""
    if ref.file or len(ref.parts) != 1 or ref.function is not None:
        return
    value = session.frames(ref.parts[0])
    if value is not None and is_frame(value):
        session.note(
            f"{ref.parts[0]} is a table and a Python variable; the table was read. Rename the variable to query it"
        )
