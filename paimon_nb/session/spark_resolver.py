"""Resolves Paimon tables for a Paimon SparkSession: by name, by path, or by SQL text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import AlreadyExists, SchemaMismatch, TableNotFound, UnsupportedOperation
from paimon_nb.options.spelling import check_no_misspelled_options
from paimon_nb.options.table import BRANCH
from paimon_nb.session.core.result import dataframe_of
from paimon_nb.session.query.char_columns import with_chars
from paimon_nb.session.query.run_query import resolve_table_frame, schema_fields, time_travel_options
from paimon_nb.spark.api.base_session import Resolver
from paimon_nb.statements import Span, TableRef, TimestampAsOf, VersionAsOf
from paimon_nb.syntax.lexer import tokens
from paimon_nb.table.read import OWN_SCHEMA, travels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.catalog import Catalog

    from paimon_nb.catalog.replacement import Replacement
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.format.types import DataField
    from paimon_nb.session.core.session import Session
    from paimon_nb.spark.api.base_session import ResolvingSession, StreamWriteRequest, WriteRequest
    from paimon_nb.spark.streaming.sink import TableSink
    from paimon_nb.table.tables.table import Table

_ALIASES = {"snapshot-id": "scan.snapshot-id"}
"""Option names of other systems, accepted by readers."""
_LOCATION_OPTIONS = ("path", "catalog", "database", "table", "partitionOverwriteMode")
"""Writer options that locate the table; they are not table options."""


def _display_name(target: tuple[str, ...] | str) -> str:
    """A table's name, or its path, for a message."""
    return target if isinstance(target, str) else ".".join(target)


def _new_table_schema_of_frame(
    frame: DataFrame, options: Mapping[str, str], partition_by: Sequence[str]
) -> TableSchema:
    """The schema of a new table for a DataFrame."""
    from paimon_nb.session.execute.schema_merging import KEYS
    from paimon_nb.session.query.new_table_schema import new_table_schema
    from paimon_nb.spark.types import fields_of_spark
    from paimon_nb.statements import TableDef

    settings = {k: str(v) for k, v in options.items() if k not in (*_LOCATION_OPTIONS, *KEYS)}
    definition = TableDef(partition_keys=tuple(partition_by), options=settings)
    return new_table_schema(definition, fields=fields_of_spark(frame.schema))


_TIME_TRAVEL_OPTIONS = ("versionasof", "timestampasof")
"""Spark's own time travel options; case-insensitive."""


def _split_time_travel_options(options: Mapping[str, str]) -> tuple[dict[str, str], VersionAsOf | TimestampAsOf | None]:
    """A reader's options without Spark's time travel options, and the time travel they ask for."""
    remaining = {_ALIASES.get(k, k): str(v) for k, v in options.items() if k.lower() not in _TIME_TRAVEL_OPTIONS}
    by_name = {k.lower(): str(v) for k, v in options.items()}
    if "versionasof" in by_name:
        return remaining, VersionAsOf(by_name["versionasof"])
    if "timestampasof" in by_name:
        text = by_name["timestampasof"]
        return remaining, TimestampAsOf(text if text.isdecimal() else "'" + text.replace("'", "\\'") + "'")
    return remaining, None


def _on_branch(table: Table, options: Mapping[str, str]) -> Table:
    """The branch of the table that a writer's options name; the table itself without one."""
    name = {k.lower(): str(v) for k, v in options.items()}.get(BRANCH.key)
    return table if name is None else table.copy({BRANCH.key: name})


def _with_named_markers(text: str, values: list[Any]) -> tuple[str, dict[str, Any]]:
    """Replaces Spark's `?` markers by named ones."""
    marks = [t for t in tokens(text) if t.text == "?" and t.kind == "op"]
    for i, token in reversed([*enumerate(marks)]):
        text = f"{text[: token.start]}:_{i}{text[token.stop :]}"
    return text, {f"_{i}": value for i, value in enumerate(values)}


def _with_not_null(frame: DataFrame, fields: Sequence[DataField]) -> DataFrame:
    """The same rows, whose `schema` says which columns are NOT NULL.

    Spark reads every file's columns as nullable, and a plan that says otherwise would keep filters from the files.
    """
    required = {f.name for f in fields if not f.type.nullable}
    if required:
        schema = deepcopy(frame.schema)
        for field in schema.fields:
            field.nullable = field.nullable and field.name not in required
        frame.__dict__["schema"] = schema  # a cached property
    return frame


class SparkResolver(Resolver):
    """Resolves the tables of a workbench session."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def table(self, parts: tuple[str, ...], options: Mapping[str, str]) -> DataFrame | None:
        table_options, travel = _split_time_travel_options(options)
        ref = TableRef(parts, Span(0, 0), options=table_options, travel=travel)
        with self._answering_like_spark():
            frame = resolve_table_frame(self.session, ref, ".".join(parts))
        return None if frame is None else _with_not_null(frame, schema_fields(self.session, ref))

    def path(self, path: str, options: Mapping[str, str]) -> DataFrame:
        from paimon_nb.spark.scan.table_scan import read_table

        table_options, travel = _split_time_travel_options(options)
        check_no_misspelled_options(table_options)
        table = self._open_path(path)
        if travels(table_options):  # a path has no schema in a catalog, so the past has its own
            table_options[OWN_SCHEMA] = "true"
        frame = read_table(
            self.session.spark, table, options={**table_options, **time_travel_options(self.session, travel)}
        )
        with self._answering_like_spark():
            return _with_not_null(with_chars(self.session, frame, table), table.schema.fields)

    def sql(self, text: str, args: dict[str, Any] | list[Any] | None, kwargs: Mapping[str, Any]) -> DataFrame:
        from paimon_nb.session.execute.insert import replacing_all_partitions
        from paimon_nb.session.executor import run_text

        if isinstance(args, list):
            text, args = _with_named_markers(text, args)
        params = {**(args if isinstance(args, Mapping) else {}), **kwargs}
        with self._answering_like_spark(), replacing_all_partitions():
            *_, result = run_text(self.session, text, params)
            return dataframe_of(self.session, result)

    @contextmanager
    def _answering_like_spark(self) -> Iterator[None]:
        """Statements and reads in the block return what Spark returns, unless the session has Flink's semantics."""
        before, self.session.answers_like_spark = self.session.answers_like_spark, not self.session.flink_semantics
        try:
            yield
        finally:
            self.session.answers_like_spark = before

    def names(self, session: ResolvingSession) -> Catalog:
        from paimon_nb.session.query.spark_catalog_api import SparkCatalogApi

        return SparkCatalogApi(session, self.session)

    def over_session(self, plain: SparkSession) -> SparkResolver:
        from paimon_nb.session.streaming.stream_session import session_copy_for_stream

        return SparkResolver(session_copy_for_stream(self.session, plain))

    def write(self, frame: DataFrame, request: WriteRequest) -> None:
        with ExitStack() as stack:
            new = self._replacement(frame, request, stack) if request.mode == "replace" else None
            if new is not None:
                self._write_to_replacement(*new, request)
                return
            table = self._table_to_write(frame, request, stack)
            if table is not None:
                self._write_to_table(frame, table, request)

    def _write_to_replacement(self, new: Replacement, frame: DataFrame, request: WriteRequest) -> None:
        from paimon_nb.session.execute.insert import store_rows
        from paimon_nb.session.execute.upsert import newest_of_each_key, upsert_key
        from paimon_nb.session.query.projection import align_with_table

        aligned = align_with_table(frame, new.table, None, {}, by_name=request.by_name)
        if not new.table.primary_keys and upsert_key(self.session, new.table):
            aligned = newest_of_each_key(self.session, aligned, new.table)
        store_rows(
            self.session, aligned, new.table, overwrite=new.overwrites, dynamic=False, before_commit=new.before_commit
        )

    def _write_to_table(self, frame: DataFrame, table: Table, request: WriteRequest) -> None:
        from paimon_nb.session.execute.insert import overwrite_mode, store_rows
        from paimon_nb.session.execute.upsert import upsert, upsert_key
        from paimon_nb.session.query.projection import align_with_table
        from paimon_nb.spark.scan.table_scan import read_table
        from paimon_nb.spark.write.overwrite_filter import partition_of_overwrite

        target, options = request.target, request.options
        if request.partition_by and tuple(request.partition_by) != tuple(table.partition_keys):
            raise SchemaMismatch(
                f"table {_display_name(target)} is partitioned by ({', '.join(table.partition_keys)}), not by ({', '.join(request.partition_by)})",
                hint="leave partitionBy() out, or write to another table",
            )
        table, merges = self._with_merged_schema(table, frame, target, options)
        aligned = align_with_table(frame, table, None, {}, by_name=request.by_name or merges, fill_missing=merges)
        requested = {k.lower(): str(v).lower() for k, v in options.items()}.get("partitionoverwritemode")
        if request.where is None:
            partition = {}
            dynamic = request.mode == "partitions" or (requested or overwrite_mode(self.session, table)) == "dynamic"
        else:
            rows = read_table(self.session.spark, table)
            partition, dynamic = partition_of_overwrite(request.where, rows, table.partition_keys), False
        replaces = request.mode in ("overwrite", "partitions")
        if not replaces and not table.primary_keys and upsert_key(self.session, table):
            parts = (table.name.database, table.name.object) if isinstance(target, str) else target
            upsert(self.session, aligned, table, parts)
            return
        store_rows(self.session, aligned, table, overwrite=replaces, partition=partition, dynamic=dynamic)

    def _replacement(self, frame: DataFrame, request: WriteRequest, stack: ExitStack) -> tuple[Replacement, DataFrame]:
        """The table that replaces another one until `stack` ends, and the rows."""
        from paimon_nb.session.execute.replaced_table import rows_computed_before

        target = request.target
        assert isinstance(target, tuple)
        if not request.create and self._find_table(target) is None:
            raise TableNotFound(f"no table {_display_name(target)}", hint="use createOrReplace()")
        schema = _new_table_schema_of_frame(frame, request.options, request.partition_by)
        found = self.session.find(target)
        frame = stack.enter_context(rows_computed_before(found, schema, frame))
        return stack.enter_context(found.catalog.replacing_table(found.name, schema)), frame

    def _table_to_write(self, frame: DataFrame, request: WriteRequest, stack: ExitStack) -> Table | None:
        """The table, created as the mode says; none if it exists and the mode is 'ignore'.

        Args:
            frame: the rows.
            request: the target and the mode.
            stack: removes a new table if the rows cannot be written.
        """
        target, mode, options = request.target, request.mode, request.options
        table = self._find_table(target)
        if table is None and not request.create:
            raise TableNotFound(
                f"no table {_display_name(target)}", hint="create it with writeTo(...).create() or saveAsTable"
            )
        if table is None:
            schema = _new_table_schema_of_frame(frame, options, request.partition_by)
            stack.enter_context(self._creating_table(target, schema))
            return self._open_target(target)
        if mode in ("error", "errorifexists", "default"):
            hint = '.mode("append") or .mode("overwrite"); of writeTo: append() or createOrReplace()'
            raise AlreadyExists(f"table {_display_name(target)} exists already", hint=hint)
        return None if mode == "ignore" else _on_branch(table, options)

    def _with_merged_schema(
        self, table: Table, frame: DataFrame, target: tuple[str, ...] | str, options: Mapping[str, str]
    ) -> tuple[Table, bool]:
        """The table with the new columns of the rows if the options ask for schema merging, and whether they do."""
        from paimon_nb.session.execute.schema_merging import merging_of, with_merged_schema
        from paimon_nb.spark.types import fields_of_spark

        schema_merging = merging_of(self.session, {k: str(v) for k, v in options.items()})
        if schema_merging is None:
            return table, False
        return with_merged_schema(self.session, target, table, fields_of_spark(frame.schema), schema_merging), True

    def stream(self, target: tuple[str, ...] | str, options: Mapping[str, str]) -> DataFrame | None:
        from paimon_nb.session.streaming.relations import stream_of
        from paimon_nb.spark.streaming.reader import stream_frame

        table_options = {_ALIASES.get(k, k): str(v) for k, v in options.items()}
        if isinstance(target, str):
            return stream_frame(
                self.session.spark, self._open_path(target), options=table_options, includes_latest=True
            )
        return stream_of(self.session, TableRef(target, Span(0, 0), options=table_options), ".".join(target))

    def sink(self, frame: DataFrame, request: StreamWriteRequest) -> tuple[DataFrame, TableSink]:
        from paimon_nb.session.streaming.relations import KINDS, table_sink

        target, options = request.target, request.options
        if request.mode == "update":
            raise UnsupportedOperation(
                f"output mode 'update' is not supported for {_display_name(target)}: Paimon supports 'append' and 'complete'",
                hint="use 'complete', or INSERT INTO ... SELECT in streaming mode, which upserts the results that change",
            )
        with ExitStack() as stack:
            table = self._find_table(target)
            if table is None:
                schema = _new_table_schema_of_frame(frame.drop(KINDS), options, request.partition_by)
                stack.enter_context(self._creating_table(target, schema))
                table, options = self._open_target(target), {}
            table, _ = self._with_merged_schema(_on_branch(table, options), frame.drop(KINDS), target, options)
            return table_sink(
                frame,
                table,
                complete=request.mode == "complete",
                options={k: str(v) for k, v in options.items()},
                checkpoint=request.checkpoint,
                ends=request.ends,
            )

    def _open_path(self, path: str) -> Table:
        from paimon_nb.table.tables.open import open_table

        return open_table(path, options=self.session.options_of_paths())

    def _find_table(self, target: tuple[str, ...] | str) -> Table | None:
        try:
            return self._open_target(target)
        except TableNotFound:
            return None

    def _open_target(self, target: tuple[str, ...] | str) -> Table:
        return self._open_path(target) if isinstance(target, str) else self.session.table(target)

    @contextmanager
    def _creating_table(self, target: tuple[str, ...] | str, schema: TableSchema) -> Iterator[None]:
        """Create a table, and remove it if the block fails."""
        if isinstance(target, tuple):
            qualified = self.session.find(target)
            with qualified.catalog.creating_table(qualified.name, schema):
                yield
            return
        from paimon_nb.catalog.api import undo_after
        from paimon_nb.format.schema import SchemaDirectory
        from paimon_nb.fs import RootedFileIO, open_fs

        fs = RootedFileIO(open_fs(target, {}), target)
        schemas = SchemaDirectory(fs, fs.root)
        schemas.create(schema)
        try:
            yield
        except BaseException as error:
            undo_after(error, f"the table at {target} could not be removed", lambda: schemas.delete(schema.id))
            raise
