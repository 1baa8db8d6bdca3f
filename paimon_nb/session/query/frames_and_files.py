"""Data that is in no catalog: frames that the caller holds, and files named in FROM. Tables come first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError, SchemaMismatch, SourceUnavailable, TableNotFound, UnsupportedOperation
from paimon_nb.files.arrow_files import FrameReader
from paimon_nb.files.data_file import DataFile
from paimon_nb.files.locations import is_path
from paimon_nb.files.nearest_types import has_unusual_types
from paimon_nb.session.query.stored_views import is_inside_view
from paimon_nb.session.query.untrusted_text import must_be_checked
from paimon_nb.statements.query import FILE_PATH

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import TableRef


def is_frame(value: Any) -> bool:
    """Whether a value has rows and named columns: pandas, polars, Arrow, DuckDB, Spark, or a table of ours."""
    import pyarrow as pa

    if isinstance(value, type | pa.RecordBatchReader | pa.Array | pa.ChunkedArray):
        return False
    if hasattr(value, "__arrow_c_stream__") or isinstance(value, pa.RecordBatch):
        return type(value).__name__ != "Series"
    lazy = hasattr(type(value), "collect") and hasattr(type(value), "collect_schema")
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


def data_of_reference(session: Session, ref: TableRef) -> DataFile | None:
    """The file or frame that a reference means; its rows are read later. None: neither, or a frame of Spark.

    Raises:
        SourceUnavailable: no such file. UnsupportedFormat: it cannot be read.
        SchemaMismatch: a frame that cannot be converted.
    """
    if ref.file or means_file(session, ref):
        return _file(session, ref)
    value = frame_variable(session, ref)
    if value is None or is_spark_frame(value):
        return None
    name = ref.parts[0]
    opened = DataFile(FrameReader(_arrow_of_frame(value, name)), name, 0)
    changes = opened.changes()
    if changes:
        session.note(f"{name}: {changes}")
    return opened


def rows_of_reference(session: Session, ref: TableRef) -> pa.Table | None:
    """The rows of a file or a frame in the types of `format/types`, with the columns that the query may need.

    None: neither, or a frame of Spark. Raises what `data_of_reference` raises.
    """
    data = data_of_reference(session, ref)
    if data is None:
        return None
    needed = None if ref.columns is None else {c.lower() for c in (*ref.columns, *ref.metadata_columns)}
    columns = None if needed is None else [n for n in data.all_names if n.lower() in needed]
    return data.rows(columns or None)


def means_file(session: Session, ref: TableRef) -> bool:
    """Whether a name without a database or table is a file of the working directory: `FROM sales.csv`."""
    if (
        len(ref.parts) < 2
        or ref.travel is not None
        or ref.lookup
        or ref.function is not None
        or must_be_checked(session)
    ):
        return False
    name = ".".join(ref.parts)
    return is_path(name) and Path(name).is_file() and not session.exists(ref.parts)


def missing_file(ref: TableRef) -> SourceUnavailable | None:
    """The error for a name without a table that ends like a file that does not exist; None: another name."""
    name = ".".join(ref.parts)
    if len(ref.parts) > 1 and not ref.file and is_path(name) and not Path(name).is_file():
        return SourceUnavailable(f"no table and no file {name!r}", hint=f"the working directory is {Path.cwd()}", path=name)  # fmt: skip
    return None


def _file(session: Session, ref: TableRef) -> DataFile:
    """A data file; how it is read becomes a note of the statement."""
    if is_inside_view():
        raise UnsupportedOperation(
            "a stored view cannot read a file", hint="CREATE TEMPORARY VIEW, or load the file into a table"
        )
    paths = ref.parts if ref.file else (".".join(ref.parts),)
    for path in paths:
        session.check_file(path)
    opened = session.data_files.open(
        paths, ref.options, FILE_PATH if FILE_PATH in ref.metadata_columns else "", session.download
    )
    session.note(f"{', '.join(paths)}: {opened.note()}")
    return opened


def _arrow_of_frame(value: Any, name: str) -> pa.Table:
    """The rows of a frame. Raises SchemaMismatch: it cannot be converted."""
    from paimon_nb.table.write.input_rows import as_reader

    try:
        return as_reader(value).read_all()
    except PaimonError as error:
        raise SchemaMismatch(f"{name}: {error.message}", hint=error.hint) from None
    except Exception as error:  # libraries of frames raise errors of their own
        text = str(error).split("\n", 1)[0][:200]
        raise SchemaMismatch(f"{name}: the frame cannot be converted: {text}", hint="use one type per column") from None


def rows_of_frame(value: Any, name: str) -> pa.Table:
    """The rows of a frame in the types of `format/types`. Raises SchemaMismatch: it cannot be converted."""
    return DataFile(FrameReader(_arrow_of_frame(value, name)), name, 0).rows()


def reader_of_source(session: Session, source: Any, options: Mapping[str, Any]) -> pa.RecordBatchReader:
    """The rows of a frame, a file, a dict of columns or a list of dicts, in types that Paimon has.

    A warning names columns that got the nearest type. Raises what `data_of_reference` raises.
    """
    from paimon_nb.base.caller_warning import warn_caller
    from paimon_nb.table.write.input_rows import as_reader

    if isinstance(source, str | Path):
        data = session.data_files.open((str(source),), options, download=session.download)
    else:
        if isinstance(source, Mapping | list | tuple):
            source = _table_of_values(source)
        reader = as_reader(source)
        if not has_unusual_types(reader.schema):
            return reader
        data = DataFile(FrameReader(reader.read_all()), "the source", 0)
    changes = data.changes()
    if changes:
        warn_caller(changes)
    return data.rows().to_reader()


def _table_of_values(source: Mapping[str, Any] | Sequence[Any]) -> pa.Table:
    """A dict of columns, or a list of dicts, as a table: with all keys, not only those of the first dict."""
    import pyarrow as pa

    if not isinstance(source, Mapping):
        if not all(isinstance(row, Mapping) for row in source):
            raise SchemaMismatch("a list is a table only if all its elements are dicts", hint='[{"id": 1}, {"id": 2}]')
        names = dict.fromkeys(str(k) for row in source for k in row)
        source = {n: [row.get(n) for row in source] for n in names}
    columns = {}
    for name, values in source.items():
        try:
            columns[str(name)] = pa.array(values if isinstance(values, Sequence) else list(values))
        except (pa.ArrowException, TypeError, OverflowError) as error:
            text = str(error).split("\n", 1)[0][:200]
            raise SchemaMismatch(f"column {name!r}: {text}", hint="use one type per column", column=name) from None
    try:
        return pa.table(columns)
    except pa.ArrowException as error:
        raise SchemaMismatch(
            str(error).split("\n", 1)[0][:200], hint="columns have the same number of values"
        ) from None


def frame_of_reference(session: Session, ref: TableRef) -> DataFrame | None:
    """A file or a frame as a DataFrame; None: the reference is neither. Starts Spark."""
    from paimon_nb.spark.runtime.arrow_interop import from_arrow

    value = None if ref.file else frame_variable(session, ref)
    if value is not None and is_spark_frame(value):
        return value  # type: ignore[no-any-return]
    rows = rows_of_reference(session, ref)
    return None if rows is None else from_arrow(session.spark, rows)


def note_shadowed_frame(session: Session, ref: TableRef) -> None:
    """The note on a name that is a table and a variable: the table is read."""
    if ref.file or len(ref.parts) != 1 or ref.function is not None:
        return
    value = session.frames(ref.parts[0])
    if value is not None and is_frame(value) and session.exists(ref.parts):
        session.note(
            f"{ref.parts[0]} is a table and a Python variable; the table was read. Rename the variable to query it"
        )
