"""COPY INTO: the rows of files into a table, with a history of loaded files; rows of a table or a query into files."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import AlreadyExists, PaimonError, SchemaMismatch, UnsupportedOperation
from paimon_nb.base.identifier import quote
from paimon_nb.fs import without_scheme
from paimon_nb.session.core.result import Result
from paimon_nb.session.execute.insert import append_rows, target_table
from paimon_nb.session.query.projection import align_with_table, columns_named
from paimon_nb.session.query.run_query import resolve_table_frame, run_query, with_position

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame

    from paimon_nb.format.types import DataField
    from paimon_nb.fs import FileStatus
    from paimon_nb.session.core.statement_context import StatementContext
    from paimon_nb.spark.scan.file_rows import FileCounts, FileRows
    from paimon_nb.statements import CopyFormat, CopyIntoLocation, CopyIntoTable, Span
    from paimon_nb.table.tables.table import Table
    from paimon_nb.table.write.load_history import LoadHistory

_READER_OPTIONS = {
    "FIELD_DELIMITER": "sep", "QUOTE": "quote", "ESCAPE": "escape", "COMPRESSION": "compression", "SKIP_HEADER": "header",
    "MULTI_LINE": "multiLine",
}  # fmt: skip
_WRITER_OPTIONS = {
    "FIELD_DELIMITER": "sep", "QUOTE": "quote", "ESCAPE": "escape", "COMPRESSION": "compression", "HEADER": "header",
    "DATE_FORMAT": "dateFormat", "TIMESTAMP_FORMAT": "timestampFormat",
}  # fmt: skip
"""Option of FILE_FORMAT -> option of Spark."""
Loaded = tuple[str, str, int, int, int, str | None]
"""A row of the result: file_name, status, rows_loaded, rows_parsed, errors_seen, first_error."""


def copy_into_table(context: StatementContext, statement: CopyIntoTable) -> Result:
    """Append the rows of files that were not loaded before, in one commit.

    Raises:
        SchemaMismatch: ON_ERROR is ABORT_STATEMENT and a row does not fit; nothing was loaded.
        SourceUnavailable: the path does not exist.
    """
    from paimon_nb.table.write.load_history import LoadHistory

    table = _target(context, statement)
    fields = _loaded_columns(table, statement)
    history = LoadHistory(table.store.fs, table.store.root)
    files = _source_files(context, statement)
    skipped = [] if statement.force else history.loaded(files)
    known = {f.path for f in skipped}
    new = [f for f in files if f.path not in known]
    results: list[Loaded] = []
    written = Result("rows")
    if new:
        with _files_as_rows(context, statement, new, fields) as rows:
            counts = _checked_counts(context, statement, rows, new)
            written = _write_good_rows(context, statement, table, rows, counts)
        results = [_loaded(name, counts[name], statement.on_error) for name in (f.name for f in new)]
        written.notes += _remember(history, table, new, results)
    results += [(f.name, "SKIPPED", 0, 0, 0, None) for f in skipped]
    return _load_result(results, written)


def _target(context: StatementContext, statement: CopyIntoTable) -> Table:
    table = target_table(context.session, statement.target)
    if table is None or table.store.is_format_table:
        kind = "a connector table" if table is None else "a format table"
        raise UnsupportedOperation(
            f"COPY INTO loads Paimon tables, and {'.'.join(statement.target.parts)} is {kind}",
            hint="INSERT INTO t SELECT ... FROM 'file' stores the rows of a file",
        )
    return table


def _loaded_columns(table: Table, statement: CopyIntoTable) -> list[DataField]:
    """The columns that get values from the files.

    Raises:
        ColumnNotFound, SchemaMismatch: the list names an unknown column, or one twice, or lacks one that must have a value.
    """
    schema = table.schema
    if statement.columns is None:
        return list(schema.fields)
    names = columns_named(statement.columns, list(schema.names), table)
    lacks = [f.name for f in schema.fields if f.name not in names and not f.type.nullable and f.default_value is None]
    if lacks:
        raise SchemaMismatch(
            f"column {lacks[0]!r} of {table.name} is NOT NULL without a default, and not in the list of columns",
            hint="name it, too, or leave the list out",
            column=lacks[0],
        )
    return [schema.field(name) for name in names]


def _source_files(context: StatementContext, statement: CopyIntoTable) -> list[FileStatus]:
    """The files of the path whose names match the pattern."""
    from paimon_nb.spark.runtime.hadoop_files import list_files, names_that_match

    spark = context.session.spark
    with _at(context, statement.path_span):
        files = list_files(spark, statement.path)
    if statement.pattern is None:
        return files
    assert statement.pattern_span is not None
    with _at(context, statement.pattern_span):
        matching = names_that_match(spark, statement.pattern, (f.path for f in files))
    return [f for f in files if f.path in matching]


@contextmanager
def _files_as_rows(
    context: StatementContext, statement: CopyIntoTable, files: Sequence[FileStatus], fields: Sequence[DataField]
) -> Iterator[FileRows]:
    """The rows of the files, which Spark keeps inside the block."""
    from paimon_nb.spark.errors import spark_errors
    from paimon_nb.spark.scan.file_rows import TextFormat, read_parquet_files, read_text_files

    spark, format, paths = context.session.spark, statement.format, [f.path for f in files]
    with spark_errors(context.text, statement.span):
        if format.file_options:
            from paimon_nb.session.execute.copy_with_options import rows_with_options

            with _at(context, statement.path_span):
                rows = rows_with_options(context.session, files, format, fields)
        elif format.type == "parquet":
            rows = read_parquet_files(spark, paths, fields)
        else:
            options = _spark_options(format, _READER_OPTIONS)
            options |= {"header": "true"} if options.get("header") == "1" else {}
            empty_is_null = format.options.get("EMPTY_FIELD_AS_NULL", "").upper() == "TRUE"
            text = TextFormat(format.type, options, format.null_if, empty_is_null)
            rows = read_text_files(spark, paths, text, fields)
        try:
            yield rows
        finally:
            rows.close()


def _checked_counts(
    context: StatementContext, statement: CopyIntoTable, rows: FileRows, files: Sequence[FileStatus]
) -> dict[str, FileCounts]:
    """The counts of each file. Raises SchemaMismatch if a row is bad and ON_ERROR is ABORT_STATEMENT."""
    from paimon_nb.spark.scan.file_rows import FileCounts

    found = rows.counts()
    counts = {f.name: found.get(f.name, FileCounts()) for f in files}
    bad = next(((name, c) for name, c in counts.items() if c.bad), None)
    if bad is not None and statement.on_error == "ABORT_STATEMENT":
        name, of_file = bad
        error = SchemaMismatch(
            f"{of_file.bad} of {of_file.rows} rows of {name} do not fit: {of_file.first_error}",
            hint="ON_ERROR = CONTINUE leaves bad rows out, SKIP_FILE whole files; nothing was loaded",
            file=name,
        )
        raise with_position(error, context.text, statement.path_span)
    return counts


def _write_good_rows(
    context: StatementContext, statement: CopyIntoTable, table: Table, rows: FileRows, counts: dict[str, FileCounts]
) -> Result:
    """Append the rows without errors; with SKIP_FILE, those of files without errors."""
    bad = [name for name, c in counts.items() if c.bad] if statement.on_error == "SKIP_FILE" else []
    if all(name in bad or c.bad == c.rows for name, c in counts.items()):
        return Result("rows")
    good = rows.good(without=bad)
    aligned = align_with_table(good, table, tuple(good.columns), {})
    return append_rows(context.session, aligned, table, statement.target.parts)


def _loaded(name: str, counts: FileCounts, on_error: str) -> Loaded:
    """The result's row for a file that was read."""
    loaded = 0 if counts.bad and on_error == "SKIP_FILE" else counts.rows - counts.bad
    status = "LOADED" if not counts.bad else "PARTIALLY_LOADED" if loaded else "LOAD_FAILED"
    return name, status, loaded, counts.rows, counts.bad, counts.first_error


def _remember(history: LoadHistory, table: Table, files: Sequence[FileStatus], results: Sequence[Loaded]) -> list[str]:
    """Record the files that were loaded, also in part. Returns a note if that fails: the rows are committed."""
    now = clock.now_ms()
    try:
        latest = table.store.snapshots.latest_id()
        for file, (_, status, loaded, *_) in zip(files, results, strict=True):
            if status != "LOAD_FAILED":
                history.record(file, now, latest or 0, loaded)
    except (OSError, PaimonError) as error:
        return [
            f"the rows are loaded, but not all files could be recorded, so COPY INTO would load them again: {error}"
        ]
    return []


def _load_result(results: Sequence[Loaded], written: Result) -> Result:
    import pyarrow as pa

    names = ("file_name", "status", "rows_loaded", "rows_parsed", "errors_seen", "first_error")
    types = (pa.string(), pa.string(), pa.int64(), pa.int64(), pa.int64(), pa.string())
    columns = list(zip(*results, strict=True)) or [()] * len(names)
    arrow = pa.table([pa.array(c, t) for c, t in zip(columns, types, strict=True)], names=list(names))
    return Result("rows", arrow=arrow, notes=written.notes, snapshots=written.snapshots)


def copy_into_location(context: StatementContext, statement: CopyIntoLocation) -> Result:
    """Write the rows of a table or a query to new files.

    Raises:
        AlreadyExists: the path exists, and OVERWRITE is not TRUE.
        UnsupportedOperation: OVERWRITE would delete a table that is read.
    """
    import pyarrow as pa

    from paimon_nb.spark.errors import spark_errors
    from paimon_nb.spark.runtime.hadoop_files import list_files

    if statement.overwrite:
        _check_keeps_sources(context, statement)
    frame = _source_rows(context, statement)
    with _at(context, statement.path_span), spark_errors(context.text, statement.path_span):
        count = frame.count()
        writer = frame.write.options(**_spark_options(statement.format, _WRITER_OPTIONS))
        try:
            writer.save(statement.path, statement.format.type, "overwrite" if statement.overwrite else "errorifexists")
        except Exception as error:
            if "PATH_ALREADY_EXISTS" not in str(error):
                raise
            raise AlreadyExists(
                f"{statement.path!r} exists", hint="OVERWRITE = TRUE replaces its files", path=statement.path
            ) from None
        files = [f for f in list_files(context.session.spark, statement.path) if f.name.startswith("part-")]
    columns = {
        "output_path": pa.array([statement.path]),
        "file_count": pa.array([len(files)], pa.int32()),
        "rows_written": pa.array([count], pa.int64()),
    }
    return Result("rows", arrow=pa.table(columns))


def _check_keeps_sources(context: StatementContext, statement: CopyIntoLocation) -> None:
    """Raises UnsupportedOperation: the path that is replaced has files of a source table, or is among them."""
    session, path = context.session, f"{without_scheme(statement.path).rstrip('/')}/"
    read = [statement.table] if statement.table is not None else statement.query.tables if statement.query else ()
    for ref in read:
        if ref.file or ref.function is not None or not session.exists(ref.parts):
            continue
        root = f"{without_scheme(session.table(ref.parts).store.root)}/"
        if path.startswith(root) or root.startswith(path):
            error = UnsupportedOperation(
                f"OVERWRITE = TRUE would delete files of {'.'.join(ref.parts)}, which is read",
                hint="write to another path",
            )
            raise with_position(error, context.text, statement.path_span)


def _source_rows(context: StatementContext, statement: CopyIntoLocation) -> DataFrame:
    session = context.session
    if statement.query is not None:
        return run_query(session, statement.query, context.text, context.params)
    assert statement.table is not None
    frame = resolve_table_frame(session, statement.table, context.text)
    return session.spark.table(".".join(map(quote, statement.table.parts))) if frame is None else frame


def _spark_options(format: CopyFormat, names: dict[str, str]) -> dict[str, str]:
    return {names[key]: value for key, value in format.options.items() if key in names}


@contextmanager
def _at(context: StatementContext, span: Span) -> Iterator[None]:
    """Errors in the block are about this part of the statement."""
    try:
        yield
    except PaimonError as error:
        raise with_position(error, context.text, span) from error.__cause__
