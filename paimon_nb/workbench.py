"""The public entry point: a session with catalogs, SQL and Spark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import SqlAnalysisError, TableNotFound
from paimon_nb.base.identifier import split_name
from paimon_nb.catalog import open_catalog
from paimon_nb.options.spelling import check_catalog_names
from paimon_nb.session import Result, Session
from paimon_nb.session.core.result import dataframe_of
from paimon_nb.session.core.spark_catalogs import with_store_settings
from paimon_nb.table.table import Table

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.session.core.live_result import LiveResult


def connect(
    warehouse: str = "warehouse",
    *,
    catalog: str = "paimon",
    spark: SparkSession | None = None,
    spark_conf: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
) -> Workbench:
    """Open a warehouse. Starts no JVM: Spark comes up with the first statement that needs it.

    Args:
        warehouse: path or URI of the warehouse; created with the first table.
        catalog: name of the catalog in SQL.
        spark: an existing SparkSession to use; None starts a local one when needed.
        spark_conf: settings for the local SparkSession.
        options: catalog options, such as `metastore`, `s3.endpoint`, `table-default.file.format`.

    Returns:
        A `Workbench`, also a context manager.

    Raises:
        UnknownOption: a misspelled catalog option.
    """
    check_catalog_names(options or {})
    spark_setting = (lambda key: spark.conf.get(key, None)) if spark is not None else (spark_conf or {}).get
    catalog_options = with_store_settings({**(options or {}), "warehouse": str(warehouse)}, spark_setting)
    return Workbench(Session(open_catalog(catalog, catalog_options), spark, spark_conf or {}))


class Workbench:
    """A session: run SQL and open tables."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.made: list[tuple[str, int]] = []
        """(table, snapshot id) of each commit of this session, in order; used by undo."""

    def sql(self, text: str, /, **params: Any) -> DataFrame:
        """Run one or several statements, Flink or Spark dialect, and return the last one's result.

        A query returns its rows, CALL the rows of the procedure, DDL and DML one summary row. In streaming mode a query
        returns a streaming DataFrame and INSERT a running job with the interface of Spark's StreamingQuery.

        Args:
            text: the statements. params: values of `:name` parameters; bound, never inserted into the text.

        Raises:
            PaimonError: `facts` contain `sql`, `start` and `stop`, the position in `text`.
        """
        return dataframe_of(self.session, self.run(text, **params))

    def stream(self, text: str, /, **params: Any) -> LiveResult:
        """The changes of a query's result as they happen: iterate over Arrow tables, column `op` ('+I', '-U', '+U', '-D') first.

        Runs in streaming mode regardless of the session's mode. `collect(limit, timeout_s)` returns some rows and stops.

        Args:
            text: a SELECT; statements before it are run first. params: values of `:name` parameters.
        """
        from paimon_nb.session.streaming.executor import in_mode

        with in_mode(self.session, "streaming"):
            result = self.run(text, **params)
        if result.live is None:
            raise SqlAnalysisError(
                "stream() needs a SELECT over a table as its last statement",
                hint="wb.stream('SELECT ... FROM t')",
                sql=text,
            )
        return result.live

    def run(self, text: str, /, **params: Any) -> Result:
        """Like `sql`, but metadata results stay in Arrow and start no JVM. Used by the magics."""
        from paimon_nb.session.executor import run_text

        result = None
        for result in run_text(self.session, text, params):
            self.made += result.snapshots
        assert result is not None
        return result

    def configure(self, source: str | Path | Mapping[str, Any], *, catalog: str = "paimon") -> Result:
        """Apply a YAML configuration: a catalog definition, or Flink settings.

        Args:
            source: YAML text, the path of a `.yaml` file, or a mapping. catalog: name for a catalog that is defined without one.

        Returns:
            rows (key, value, effect): the effect of each key, its Spark equivalent, or why it has no effect.

        Raises:
            ConfigError: invalid YAML. BadOptionValue: invalid value. Others as for CREATE CATALOG.
        """
        from paimon_nb.session.statements.configuration import configure

        return configure(self.session, source, catalog)

    @property
    def spark(self) -> SparkSession:
        """A SparkSession that supports Paimon names, options and time travel."""
        from paimon_nb.session.spark_resolver import Resolver
        from paimon_nb.spark.api.paimon_session import paimon_session

        return paimon_session(self.session.spark, Resolver(self.session))

    def table(self, name: str, **options: str) -> Table:
        """Open a table for metadata, reads and writes without Spark.

        Args:
            name: `[catalog.][database.]table[$branch_b]`, parts with dots in backticks. options: dynamic table options.

        Raises:
            TableNotFound: the hint suggests the closest name.
        """
        parts = split_name(name)
        found = self.session.find(parts)
        if found.name.system is not None:
            raise TableNotFound(
                f"{name} is a system table", hint=f'wb.table("{found.name.of_table()}").system("{found.name.system}")'
            )
        return self.session.table(parts, options)

    def close(self) -> None:
        """Stop Spark if this workbench started it."""
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
