"""How a SparkSession of ours asks for Paimon tables: by name, by path, or by SQL text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import AlreadyExists, SchemaMismatch, TableNotFound, UnsupportedOperation
from paimon_nb.options.spelling import check_names
from paimon_nb.plan import Span, TableRef, TimestampAsOf, VersionAsOf
from paimon_nb.session.core.session import Session
from paimon_nb.session.query.run_query import resolve, travelled
from paimon_nb.sql.lexer import tokens

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.catalog import Catalog

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.spark.api.paimon_session import PaimonSession

_ALIASES = {"snapshot-id": "scan.snapshot-id"}
"""Reader options that users know from elsewhere (design 6)."""
_NOT_THE_TABLES = ("path", "catalog", "database", "table", "partitionOverwriteMode")
"""Writer options that say where the table is."""


def _said(target: tuple[str, ...] | str) -> str:
    """A table's name, or its path, for a sentence."""
    return target if isinstance(target, str) else ".".join(target)


def _schema_of(frame: DataFrame, options: Mapping[str, str], partition_by: Sequence[str]) -> TableSchema:
    """The schema of a table that is made for a DataFrame's rows."""
    from paimon_nb.plan import TableDef
    from paimon_nb.session.statements.ddl import _schema
    from paimon_nb.session.statements.schema_merging import KEYS
    from paimon_nb.spark.types import fields_of_spark

    settings = {k: str(v) for k, v in options.items() if k not in (*_NOT_THE_TABLES, *KEYS)}
    definition = TableDef(partition_keys=tuple(partition_by), options=settings)
    return _schema(definition, fields=fields_of_spark(frame.schema))


_MOMENTS = ("versionasof", "timestampasof")
"""Options that Spark itself knows for every table, in any case of letters."""


def _moment(options: Mapping[str, str]) -> tuple[dict[str, str], VersionAsOf | TimestampAsOf | None]:
    """A reader's options without the moment, and the moment that Spark's own options say."""
    given = {_ALIASES.get(k, k): str(v) for k, v in options.items() if k.lower() not in _MOMENTS}
    said = {k.lower(): str(v) for k, v in options.items()}
    if "versionasof" in said:
        return given, VersionAsOf(said["versionasof"])
    if "timestampasof" in said:
        text = said["timestampasof"]
        return given, TimestampAsOf(text if text.isdecimal() else "'" + text.replace("'", "\\'") + "'")
    return given, None


def _named(text: str, values: list[Any]) -> tuple[str, dict[str, Any]]:
    """Spark's `?` markers as named ones."""
    marks = [t for t in tokens(text) if t.text == "?" and t.kind == "op"]
    for i, token in reversed([*enumerate(marks)]):
        text = f"{text[: token.start]}:_{i}{text[token.stop :]}"
    return text, {f"_{i}": value for i, value in enumerate(values)}


class Resolver:
    """The protocol object that `engine.paimon_session` calls."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def table(self, parts: tuple[str, ...], options: Mapping[str, str]) -> DataFrame | None:
        """The rows of a named table, or None if the name is Spark's own."""
        given, travel = _moment(options)
        return resolve(self.session, TableRef(parts, Span(0, 0), options=given, travel=travel), ".".join(parts))

    def path(self, path: str, options: Mapping[str, str]) -> DataFrame:
        """The rows of the table at a path."""
        from paimon_nb.spark.scan.table_scan import relation
        from paimon_nb.table.open import open_table

        given, travel = _moment(options)
        check_names(given)
        return relation(self.session.spark, open_table(path), options={**given, **travelled(self.session, travel)})

    def sql(self, text: str, args: Any, kwargs: Mapping[str, Any]) -> DataFrame:
        """`spark.sql(text)` answers as `%%paimon` does."""
        from paimon_nb.workbench import Workbench

        if isinstance(args, list):
            text, args = _named(text, args)
        return Workbench(self.session).sql(text, **{**(args if isinstance(args, Mapping) else {}), **kwargs})

    def names(self, session: PaimonSession) -> Catalog:
        """`spark.catalog`."""
        from paimon_nb.session.query.spark_catalog_api import SparkNames

        return SparkNames(session, self.session)

    def over(self, plain: SparkSession) -> Resolver:
        """The session as it is now, its statements run by `plain`."""
        from paimon_nb.session.streaming.executor import fork

        return Resolver(fork(self.session, plain))

    def write(
        self,
        frame: DataFrame,
        target: tuple[str, ...] | str,
        *,
        mode: str,
        options: Mapping[str, str],
        partition_by: Sequence[str] = (),
        create: bool = True,
        by_name: bool = False,
        where: Column | None = None,
    ) -> None:
        """`df.write.format("paimon")`: a table name, or a path as text.

        Args:
            mode: 'append', 'error', 'ignore'; 'overwrite' replaces all rows unless Spark's setting or the option
                `partitionOverwriteMode` is 'dynamic', 'partitions' those partitions that get rows, 'replace' the table.
            create: make the table when it is absent. where: see `engine.overwritten`; other partitions stay.
        """
        from paimon_nb.session.statements.insert import align, overwrite_mode, store_rows
        from paimon_nb.session.statements.schema_merging import evolved, merging
        from paimon_nb.spark.scan.table_scan import relation
        from paimon_nb.spark.types import fields_of_spark
        from paimon_nb.spark.write.overwrite_filter import partition_of

        table = self._open(target)
        if table is None and not create:
            hint = {"replace": "createOrReplace() makes it"}.get(mode, "writeTo(...).create() or saveAsTable makes it")
            raise TableNotFound(f"no table {_said(target)}", hint=hint)
        if mode == "replace":
            assert isinstance(target, tuple)
            schema = _schema_of(frame, options, partition_by)
            frame = frame.localCheckpoint()  # it may read the table that goes now, and it may fail
            found = self.session.find(target)
            found.catalog.replace_table(found.name, schema)
            table = self._open(target)
        elif table is None:
            self._create(target, _schema_of(frame, options, partition_by))
            table = self._open(target)
        elif mode in ("error", "errorifexists", "default"):
            hint = '.mode("append") or .mode("overwrite"); of writeTo: append() or createOrReplace()'
            raise AlreadyExists(f"table {_said(target)} exists already", hint=hint)
        elif mode == "ignore":
            return
        if partition_by and tuple(partition_by) != tuple(table.partition_keys):
            raise SchemaMismatch(
                f"table {_said(target)} is partitioned by ({', '.join(table.partition_keys)}), not by ({', '.join(partition_by)})",
                hint="leave partitionBy() out, or write to another table",
            )
        how = merging(self.session, {k: str(v) for k, v in options.items()})
        if how is not None:
            table = evolved(self.session, target, table, fields_of_spark(frame.schema), how)
        aligned = align(frame, table, None, {}, by_name=by_name or how is not None)
        said = {k.lower(): str(v).lower() for k, v in options.items()}.get("partitionoverwritemode")
        if where is None:
            partition = {}
            dynamic = mode == "partitions" or (said or overwrite_mode(self.session, table)) == "dynamic"
        else:
            partition, dynamic = partition_of(where, relation(self.session.spark, table), table.partition_keys), False
        replaces = mode in ("overwrite", "partitions")
        store_rows(self.session, aligned, table, overwrite=replaces, partition=partition, dynamic=dynamic)

    def stream(self, target: tuple[str, ...] | str, options: Mapping[str, str]) -> DataFrame | None:
        """The stream of a named table or of the table at a path; None if the name is Spark's own."""
        from paimon_nb.session.streaming.relations import stream_of
        from paimon_nb.spark.streaming.reader import stream_frame
        from paimon_nb.table.open import open_table

        given = {_ALIASES.get(k, k): str(v) for k, v in options.items()}
        if isinstance(target, str):
            return stream_frame(self.session.spark, open_table(target), options=given)
        return stream_of(self.session, TableRef(target, Span(0, 0), options=given), ".".join(target))

    def sink(
        self,
        frame: DataFrame,
        target: tuple[str, ...] | str,
        *,
        mode: str,
        options: Mapping[str, str],
        checkpoint: str | None,
        partition_by: Sequence[str] = (),
        ends: bool = False,
    ) -> tuple[DataFrame, Any]:
        """`df.writeStream.format("paimon")`: rows lined up with the table, and what stores each micro-batch."""
        from paimon_nb.session.streaming.relations import table_sink

        table = self._open(target)
        if mode == "update" and (table is None or not table.primary_keys):
            raise UnsupportedOperation(
                f"output mode 'update' needs a table with primary keys, and {_said(target)} has none",
                hint="create the table with a PRIMARY KEY first, or use 'complete'; without aggregation 'append'",
            )
        if table is None:
            from paimon_nb.session.streaming.relations import KINDS

            self._create(target, _schema_of(frame.drop(KINDS), options, partition_by))
            table, options = self._open(target), {}
        return table_sink(
            frame,
            table,
            complete=mode == "complete",
            options={k: str(v) for k, v in options.items()},
            checkpoint=checkpoint,
            ends=ends,
        )

    def _open(self, target: tuple[str, ...] | str) -> Any:
        from paimon_nb.table.open import open_table

        try:
            return open_table(target) if isinstance(target, str) else self.session.table(target)
        except TableNotFound:
            return None

    def _create(self, target: tuple[str, ...] | str, schema: Any) -> None:
        if isinstance(target, tuple):
            found = self.session.find(target)
            found.catalog.create_table(found.name, schema)
            return
        from paimon_nb.format.schema import SchemaDirectory
        from paimon_nb.fs import RootedFileIO, open_fs

        fs = RootedFileIO(open_fs(target, {}), target)
        SchemaDirectory(fs, fs.root).create(schema)
