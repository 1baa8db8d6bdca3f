"""The public entry point: a session with catalogs, SQL and Spark."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import EnvironmentError_, SqlAnalysisError, TableNotFound
from paimon_nb.base.identifier import split_name
from paimon_nb.base.named_servers import name_servers
from paimon_nb.base.redact import remember_secrets
from paimon_nb.catalog import open_catalog
from paimon_nb.catalog.schema_steps import change_schema
from paimon_nb.catalog.state_tables import drop_with_state, rename_with_state, visible_tables
from paimon_nb.options.spelling import check_catalog_names
from paimon_nb.plugins import load_plugins
from paimon_nb.session import Result, Session
from paimon_nb.session.core.result import dataframe_of
from paimon_nb.session.core.spark_catalogs import with_store_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.session.core.live_result import LiveResult
    from paimon_nb.session.query.duckdb_tables import DuckDbTables
    from paimon_nb.table.tables.table import Table


def connect(
    warehouse: str = "warehouse",
    *,
    catalog: str = "paimon",
    spark: SparkSession | None = None,
    spark_conf: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
) -> Workbench:
    """Open a warehouse. Starts no JVM: Spark starts with the first statement that needs it.

    Args:
        warehouse: path or URI of the warehouse; it is created with the first table.
        catalog: name of the catalog in SQL.
        spark: a SparkSession to use; None creates a local one when it is needed.
        spark_conf: Spark settings of a session that is created here.
        options: catalog options, such as `metastore`, `s3.endpoint`, `table-default.file.format`. `plugins` names modules whose
            plugins are added (see `paimon_nb.plugins`).

    Returns:
        A workbench, also a context manager.

    Raises:
        UnknownOption: a name in `options` that is nearly one of a catalog's.
        BadOptionValue: a value in `options` that is not allowed.
        PluginError: a module in `plugins` cannot be used.

    Examples:
        >>> with paimon_nb.connect("warehouse") as other:
        ...     other.table("orders").primary_keys
        ('id',)
    """
    options = dict(options or {})
    if plugins := options.pop("plugins", ""):
        load_plugins(plugins)
    check_catalog_names(options)
    remember_secrets(spark_conf or {})
    name_servers(spark_conf or {})
    spark_setting = (lambda key: spark.conf.get(key, None)) if spark is not None else (spark_conf or {}).get
    catalog_options = with_store_settings({**options, "warehouse": str(warehouse)}, spark_setting)
    return Workbench(Session(open_catalog(catalog, catalog_options), spark, spark_conf or {}))


class Workbench:
    """A session: run SQL, open tables, look inside them. Create one with `paimon_nb.connect`.

    Attributes:
        session: the state of the session: current catalog and database, settings, jobs.
        made: (table, snapshot id) of every commit of this session's statements, in order.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.commits: list[tuple[str, int]] = []
        """(table, snapshot id) of each commit of this session, in order; used by undo."""

    def sql(self, text: str, /, **params: object) -> DataFrame:
        """Run one or several statements in Flink's or Spark's dialect and return the result of the last one.

        A query returns its rows, CALL the rows of the procedure, any other statement one row that summarises it. In streaming
        mode a query returns a streaming DataFrame, and INSERT a running job with the interface of Spark's StreamingQuery.

        Args:
            text: the statements, separated by `;`.
            params: values of `:name` markers. They are bound as values and never become part of the text.

        Returns:
            A PySpark DataFrame. Starts Spark; `run` does so only for statements that need it.

        Raises:
            SqlSyntaxError: the text cannot be parsed. Like all errors of statements it has `sql`, `start` and `stop`: the place.
            SqlAnalysisError: a parameter has no value, or the statement is not possible.
            PaimonError: the statement failed.
        """
        return dataframe_of(self.session, self._run(text, params, displayed=False))

    def stream(self, text: str, /, **params: object) -> LiveResult:
        """The changes of a query's result as they happen. Runs in streaming mode, whatever the session's mode is.

        Args:
            text: a SELECT; statements before it are run first.
            params: values of `:name` markers.

        Returns:
            An iterator of Arrow tables: op (string: `+I`, `-U`, `+U` or `-D`) and the columns of the query.
            `collect(limit, timeout_s)` takes some rows and stops the stream.

        Raises:
            SqlAnalysisError: the last statement is not a query over a table.
            PaimonError: as `sql`.
        """
        from paimon_nb.session.streaming.stream_session import runtime_mode

        with runtime_mode(self.session, "streaming"):
            result = self.run(text, **params)
        if result.live is None:
            raise SqlAnalysisError(
                "stream() needs a SELECT over a table as its last statement",
                hint="wb.stream('SELECT ... FROM t')",
                sql=text,
            )
        return result.live

    def run(self, text: str, /, **params: object) -> Result:
        """Run statements as `sql` does, but keep Arrow results in Arrow. What the magics call.

        Args:
            text: the statements, separated by `;`.
            params: values of `:name` markers.

        Returns:
            The result of the last statement: `arrow` (an Arrow table) or `frame` (a PySpark DataFrame), `notes` and `snapshots`.

        Raises:
            SqlSyntaxError: the text cannot be parsed, or has no statement.
            SqlAnalysisError: a parameter has no value, or the statement is not possible.
            EnvironmentError_: a package or Java that the statement needs is not installed.
            PaimonError: the statement failed.

        Examples:
            >>> wb.run("INSERT INTO orders VALUES (4, 'new', 12)").snapshots
            [('default.orders', 3)]
        """
        return self._run(text, params, displayed=True)

    def _run(self, text: str, params: Mapping[str, object], *, displayed: bool) -> Result:
        from paimon_nb.session.executor import run_text

        result = None
        before, self.session.parameters = self.session.parameters, params
        try:
            for result in run_text(self.session, text, params, displayed=displayed):
                self.commits += result.snapshots
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package in ("", "paimon_nb"):
                raise
            raise EnvironmentError_(
                f"this statement needs the Python package {package}, which is not installed",
                hint="install paimon-nb with its dependencies, see docs/install.md", package=package,
            ) from None  # fmt: skip
        finally:
            self.session.parameters = before
        assert result is not None
        return result

    def configure(self, source: str | Path | Mapping[str, Any], *, catalog: str = "paimon") -> Result:
        """Apply a YAML configuration: the definition of a catalog, or Flink's settings.

        Args:
            source: YAML text, the path of a `.yaml` file, or a mapping.
            catalog: name of the catalog, if the definition has none.

        Returns:
            A result whose `arrow` has one row for each key: key, value, effect (string). Secret values are masked.

        Raises:
            ConfigError: the text is not YAML, or the file cannot be read.
            BadOptionValue: a value is not allowed.
        """
        from paimon_nb.session.execute.configuration import configure

        return configure(self.session, source, catalog)

    @property
    def spark(self) -> SparkSession:
        """A SparkSession that knows Paimon's table names, options and time travel. Starts Spark."""
        from paimon_nb.session.spark_resolver import SparkResolver
        from paimon_nb.spark.api.paimon_session import paimon_session

        return paimon_session(self.session.spark, SparkResolver(self.session))

    def duckdb(self) -> DuckDbTables:
        """DuckDB's own dialect over the tables and frames of this workbench, read-only. Starts no JVM.

        Returns:
            An object whose `sql(text)` gives a `duckdb.DuckDBPyRelation`. DuckDB reads the columns that a query needs, and
            leaves out files by its conditions. `FROM t AT (VERSION => 3)` and `FROM t AT (TIMESTAMP => '...')` travel in time.

        Raises:
            EnvironmentError_: duckdb is not installed.

        Examples:
            >>> wb.duckdb().sql("FROM orders SELECT count(*) WHERE price > 10").fetchall()
            [(2,)]
        """
        from paimon_nb.session.query.duckdb_tables import DuckDbTables

        return DuckDbTables(self.session)

    def table(self, name: str, **options: str) -> Table:
        """A handle of a table for metadata and for small reads and writes, without Spark.

        Args:
            name: `[catalog.][database.]table[$branch_b]`; parts that contain dots are in backticks.
            options: dynamic table options; pass names with dots as `**{"scan.snapshot-id": "3"}`.

        Returns:
            The handle; the same one as before while the table's schema and these options are the same.

        Raises:
            TableNotFound: no such table; the hint has the nearest name.

        Examples:
            >>> wb.table("orders").primary_keys
            ('id',)
        """
        parts = split_name(name)
        found = self.session.find(parts)
        if found.name.system is not None:
            raise TableNotFound(
                f"{name} is a system table", hint=f'wb.table("{found.name.of_table()}").system("{found.name.system}")'
            )
        from paimon_nb.session.query.conditions import with_session_sql

        table = with_session_sql(self.session, self.session.table(parts, options))
        table.change_schema = partial(change_schema, found.catalog, table.name)
        return table

    # -- the catalog

    def databases(self) -> list[str]:
        """Names of the databases of the current catalog, in order.

        Returns:
            Their names.
        """
        return self.session.catalog.databases()

    def tables(self, database: str | None = None) -> list[str]:
        """Names of the tables of a database, in order; without the state tables of incremental tables.

        Args:
            database: `[catalog.]database`; None: the current one.

        Returns:
            Their names.

        Raises:
            DatabaseNotFound: the hint suggests the closest name.
        """
        catalog, name = self.session.find_database(() if database is None else split_name(database))
        return visible_tables(catalog, name)

    def create_database(self, name: str, *, if_not_exists: bool = False) -> bool:
        """Create an empty database. Returns whether it was created now.

        Args:
            name: `[catalog.]database`.
            if_not_exists: False raises an error for a database that exists.

        Returns:
            True if it was created now.

        Raises:
            AlreadyExists: it exists.
        """
        catalog, database = self.session.find_database(split_name(name))
        return catalog.create_database(database, if_not_exists=if_not_exists)

    def drop_database(self, name: str, *, if_exists: bool = False, cascade: bool = False) -> bool:
        """Drop a database. Returns whether it existed.

        Args:
            name: `[catalog.]database`.
            if_exists: False raises an error for a database that does not exist.
            cascade: True drops its tables too.

        Returns:
            True if it existed.

        Raises:
            DatabaseNotFound: it does not exist.
            UnsupportedOperation: it has tables, and `cascade` is False.
        """
        catalog, database = self.session.find_database(split_name(name))
        return catalog.drop_database(database, if_exists=if_exists, cascade=cascade)

    def create_table(
        self,
        name: str,
        source: Any,
        *,
        primary_key: Sequence[str] | str = (),
        partition_by: Sequence[str] | str = (),
        options: Mapping[str, Any] | None = None,
        comment: str | None = None,
        if_not_exists: bool = False,
        file_options: Mapping[str, Any] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Table:
        """Create a table with the columns of a frame or a file, and store its rows in one commit. Starts no JVM.

        Args:
            name: `[catalog.][database.]table`.
            source: a pandas, polars, DuckDB or Spark frame, Arrow data or a pyarrow dataset, which is read in batches;
                a `pyarrow.Schema` creates an empty table; the path of a data file (`str` or `Path`); a dict of columns; a list of dicts.
            primary_key: key columns, which become NOT NULL.
            partition_by: partition columns.
            options: table options, such as `{"bucket": 4}`.
            comment: of the table.
            if_not_exists: True leaves a table that exists as it is, without new rows.
            file_options: how a file is read, as in SQL: `{"delim": ";", "header": False}`.
            progress: called after each chunk of rows, as in `Table.append`.

        Returns:
            The table. A warning names columns that got the nearest type, because Paimon does not have theirs.

        Raises:
            AlreadyExists: the table exists.
            SchemaMismatch: a column's type has no Paimon type.
            ColumnNotFound: a key is not a column.
            BadOptionValue: a wrong option.
            NullNotAllowed: a key is NULL. As with every failed write, the table is not made.
            SourceUnavailable: no such file.

        Examples:
            >>> wb.create_table("cities", [{"id": 1, "name": "Rome"}, {"id": 2}], primary_key="id").to_arrow().num_rows
            2
        """
        import pyarrow as pa

        from paimon_nb.catalog.arrow_schema import table_schema_of_arrow
        from paimon_nb.session.query.frames_and_files import reader_of_source

        reader = None if isinstance(source, pa.Schema) else reader_of_source(self.session, source, file_options or {})
        schema = table_schema_of_arrow(
            source if reader is None else reader.schema,
            primary_key=_names(primary_key),
            partition_by=_names(partition_by),
            options=options,
            comment=comment,
        )
        name_servers(options or {})
        found = self.session.find(split_name(name))
        with found.catalog.creating_table(found.name, schema, if_not_exists=if_not_exists) as created:
            table = self.table(name)
            snapshots = table.append(reader, progress=progress) if created and reader is not None else []
        self.commits += [(str(table.name), s) for s in snapshots]
        return table

    def drop_table(self, name: str, *, if_exists: bool = False, purge: bool = False) -> bool:
        """Drop a table. Returns whether it existed.

        Args:
            name: `[catalog.][database.]table`.
            if_exists: False raises an error for a table that does not exist.
            purge: True deletes the files; False keeps them for `UNDROP TABLE`.

        Returns:
            True if it existed.

        Raises:
            TableNotFound: the hint suggests the closest name.
        """
        found = self.session.find(split_name(name))
        return drop_with_state(found.catalog, found.name, if_exists=if_exists, purge=purge)

    def rename_table(self, name: str, new_name: str) -> None:
        """Rename a table, or move it to another database of its catalog.

        Args:
            name: `[catalog.][database.]table`.
            new_name: `[database.]table`.

        Raises:
            TableNotFound: the hint suggests the closest name.
            AlreadyExists: `new_name` exists.
        """
        source, target = self.session.find(split_name(name)), split_name(new_name)
        database = target[0] if len(target) > 1 else source.name.database
        rename_with_state(source.catalog, source.name, self.session.find((database, target[-1])).name)

    def close(self) -> None:
        """Stop streams, and Spark if this workbench started it."""
        self.session.close()

    def __enter__(self) -> Workbench:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        session = self.session
        return f"<Workbench {session.current_catalog}.{session.current_database} at {session.catalog.warehouse}>"


def _names(columns: Sequence[str] | str) -> tuple[str, ...]:
    return (columns,) if isinstance(columns, str) else tuple(columns)
