"""COPY INTO with options of files that Spark's readers do not have: comments, signs in numbers, formats of dates, encodings."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from paimon_nb.base.errors import BadOptionValue, SchemaMismatch
from paimon_nb.files.open import open_data_file
from paimon_nb.files.user_types import engine_type_of
from paimon_nb.fs import without_scheme
from paimon_nb.spark.scan.file_rows import FileRows, rows_of_arrow
from paimon_nb.sql.grammar.copy_into import file_options_of_copy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    import pyarrow as pa

    from paimon_nb.files.data_file import DataFile
    from paimon_nb.format.types import DataField
    from paimon_nb.fs import FileStatus
    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import CopyFormat


def rows_with_options(
    session: Session, files: Sequence[FileStatus], format: CopyFormat, fields: Sequence[DataField]
) -> FileRows:
    """The rows of files in the types of `fields`: those of CSV by position, those of JSON by name.

    Raises:
        SchemaMismatch: a file has another number of columns, or there is no cast from text to a column's type.
        UnsupportedFormat: the lines of a file break the rules of its format.
    """
    for field in fields:
        try:
            engine_type_of(str(field.type.bare()))
        except BadOptionValue:
            raise SchemaMismatch(
                f"column {field.name!r} is {field.type.bare()}: there is no cast from the files' texts",
                hint="leave the column out of the list of columns", column=field.name,
            ) from None  # fmt: skip
    options = file_options_of_copy(format)
    return rows_of_arrow(session.spark, [_rows_of_file(session, f, options, format, fields) for f in files], fields)


def _rows_of_file(
    session: Session, file: FileStatus, options: Mapping[str, Any], format: CopyFormat, fields: Sequence[DataField]
) -> tuple[str, list[pa.ChunkedArray], list[str | None]]:
    """The file's URI, the values of each field, and what is wrong with each row."""
    import pyarrow as pa

    session.check_file(file.path)
    path = without_scheme(file.path)
    local = str(session.download(path)) if "://" in path else path
    texts = open_data_file(local, {**options, "all_varchar": True}, literal=True)
    names = _columns_of_fields(texts, file, format, fields)
    types = {n: str(f.type.bare()) for n, f in zip(names, fields, strict=True) if n is not None}
    typed = open_data_file(local, {**options, "types": types}, literal=True, null_if_bad=True)
    texts_read, values_read = texts.rows(list(types)), typed.rows(list(types))
    errors: list[str | None] = [None] * texts_read.num_rows
    values = []
    for name, field in zip(names, fields, strict=True):
        if name is None:
            values.append(pa.chunked_array([pa.nulls(len(errors), pa.string())]))
            continue
        text, value = texts_read.column(name), values_read.column(name)
        _add_errors(errors, field, text, value)
        values.append(value)
    return quote(file.path), values, errors


def _columns_of_fields(
    data: DataFile, file: FileStatus, format: CopyFormat, fields: Sequence[DataField]
) -> list[str | None]:
    """The column of the file for each field; None: a field that no object of JSON has."""
    if format.type == "json":
        by_name = {n.lower(): n for n in data.names}
        return [by_name.get(f.name.lower()) for f in fields]
    if len(data.names) != len(fields):
        raise SchemaMismatch(
            f"{file.name} has {len(data.names)} columns, and {len(fields)} are loaded: {', '.join(f.name for f in fields)}",
            hint=f"it is read as {data.how}; name the columns: COPY INTO t (a, b), or the separator: DELIM = ';'", file=file.name,
        )  # fmt: skip
    return list(data.names)


def _add_errors(errors: list[Any], field: DataField, text: pa.ChunkedArray, value: pa.ChunkedArray) -> None:
    """Writes the first error of each row: a text that is not NULL, and no value of the field's type."""
    import pyarrow.compute as pc

    bad = pc.and_(pc.is_valid(text), pc.is_null(value))
    for row in pc.indices_nonzero(bad).to_pylist():
        if errors[row] is None:
            errors[row] = f"row {row + 1:,}, column '{field.name}': {text[row].as_py()!r} is not a {field.type.bare()}"
