"""Session state: catalogs, current catalog and database, settings, temporary tables and views. Starts no JVM by itself."""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING, Any, Protocol

from paimon_nb.base import clock
from paimon_nb.base.errors import CatalogNotFound, InvalidName, TableNotFound
from paimon_nb.base.identifier import Identifier
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.named_servers import name_servers
from paimon_nb.base.registry import did_you_mean
from paimon_nb.catalog.api import DEFAULT_DATABASE, Catalog
from paimon_nb.files.open import OpenedFiles
from paimon_nb.options import find_option, without_prefix
from paimon_nb.options.spelling import check_no_misspelled_options, check_values
from paimon_nb.options.table import DATA_FILE_EXTERNAL_PATHS
from paimon_nb.session.core.data_file_locations import allow_data_files
from paimon_nb.session.core.jobs import Jobs
from paimon_nb.session.core.spark_catalogs import NOTHING, CatalogSettings, catalog_settings, open_from_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pyspark.sql import SparkSession

    from paimon_nb.connectors.api import Source
    from paimon_nb.statements import CreateTable, CreateView, Query, Span
    from paimon_nb.table.tables.table import Table


_SAFE_BEFORE_START = ("spark.sql.shuffle.partitions", "spark.sql.session.timeZone", "spark.paimon.")
"""Settings that are safe to pass to Spark before it starts."""
_WITHOUT_TABLES = ("spark.driver.memory", "spark.driver.maxResultSize", "spark.local.dir")
"""Settings that give Spark no catalog, table or view."""


@dataclass(frozen=True, slots=True)
class ResolvedTable:
    """A resolved table name."""

    catalog: Catalog
    name: Identifier


class LookupTables(Protocol):
    """The cached lookup tables of a stream."""

    def begin(self) -> None:
        """Called at the start of a micro-batch."""

    def names(
        self, session: Session, query: Query, text: str, others: Mapping[Span, str], params: Mapping[str, Any]
    ) -> AbstractContextManager[dict[Span, str]]:
        """SQL text for each lookup table of a query, valid inside the block."""


class Background(Protocol):
    """Work in a thread, besides the statements."""

    def stop(self) -> None:
        """End it; returns when nothing runs any more."""


class Session:
    """State behind a workbench. Its methods resolve names; `executor.py` runs statements."""

    def __init__(self, catalog: Catalog, spark: SparkSession | None, spark_conf: Mapping[str, str]) -> None:
        self.catalogs: dict[str, Catalog] = {catalog.name: catalog}
        self.first_catalog: str | None = catalog.name
        """The catalog that the workbench was opened with, until CREATE CATALOG replaces it."""
        self.use_catalog(catalog)
        self.settings: dict[str, str] = {}
        """SET values kept here: Flink keys and `paimon.<catalog>.<db>.<table>.<option>` patterns."""
        self.views: dict[str, tuple[CreateView, str]] = {}
        """Temporary views with the text that their spans point into; evaluated on each use."""
        self.temporary: dict[str, CreateTable] = {}
        """Temporary and source tables (CREATE TEMPORARY TABLE, connectors)."""
        self.temporary_databases: dict[str, tuple[str, str]] = {}
        """Catalog and database of each temporary table and view: they may be named with these, too."""
        self._connect_views: list[str] = []
        """Views of queries through Spark Connect."""
        self.jobs = Jobs()
        """Streaming jobs that this session started."""
        self.refresher: Background | None = None
        """Refreshes the materialized tables that this session made or named; None: there is none."""
        self.lookups: LookupTables | None = None
        """Cached lookup-join tables; set only in the session of a stream."""
        self.variables: Callable[[str], Any] = lambda _name: None
        """The value of a variable of the caller, such as a notebook; None if there is none. `frames` reads it."""
        self.parameters: Mapping[str, Any] = {}
        """Parameters of the call that runs; a frame among them can be queried by its name."""
        self.notes: list[str] = []
        """Notes on the data that the current statement reads."""
        self.data_files = OpenedFiles()
        """Data files that statements have named lately."""
        self.random_sources: dict[str, Source] = {}
        """Connector tables with random rows that the current statement reads, by name."""
        self.answers_like_spark = False
        """True during calls of Spark's API, unless the session has Flink's semantics: DESCRIBE and SHOW CREATE TABLE then return Spark's output."""
        self.only_reads = False
        """Whether the statements are not the user's own: each query is checked before Spark analyses it, see `query/untrusted_text.py`."""
        self.check_file: Callable[[str], None] = lambda _path: None
        """Raises an error for a data file that statements may not read."""
        self._external_spark, self._spark_conf = spark, dict(spark_conf)
        self._configured = any(not key.startswith(_WITHOUT_TABLES) for key in spark_conf)
        self._spark_before: dict[str, str | None] = {}
        """Spark settings that SET changed, with their previous values."""
        self._spark: SparkSession | None = None
        self.copied_from: Session | None = None
        """The session whose Spark this one uses, see `materialized/definition_query.py`."""
        self._settings_at_open: dict[str, CatalogSettings] = {
            catalog.name: catalog_settings(self.spark_setting, catalog.name)
        }
        """Spark's settings for each catalog at the time it was opened."""

    def use_catalog(self, catalog: Catalog) -> None:
        """Switch to the default database of `catalog`; create it if it is not called `default`, as Java does."""
        self.current_catalog, self.current_database = catalog.name, catalog.default_database
        if self.current_database != DEFAULT_DATABASE and self.current_database not in catalog.databases():
            catalog.create_database(self.current_database, if_not_exists=True)

    # -- Spark

    @property
    def spark(self) -> SparkSession:
        """The plain SparkSession, started at first use; that of the session that this one is a copy of, if there is one."""
        if self._spark is None and self.copied_from is not None:
            self._spark = self.copied_from.spark
        if self._spark is None:
            from paimon_nb.spark.runtime.session import spark_session

            self._spark = spark_session(self._external_spark, self._spark_conf)
        return self._spark

    @property
    def spark_started(self) -> bool:
        return self._spark is not None

    @property
    def spark_may_have_catalog_entries(self) -> bool:
        """Whether Spark can hold tables or views outside our catalogs; a Spark of our own that has not started holds none."""
        return self.spark_started or self._external_spark is not None or self._configured

    @property
    def time_zone(self) -> str:
        """The session's time zone, such as 'Europe/Berlin': Spark's, or the one with which Spark will start."""
        key = "spark.sql.session.timeZone"
        if self._spark is not None or self._external_spark is not None:
            return self.spark.conf.get(key) or "UTC"
        return self._spark_conf.get(key) or clock.local_zone_name()

    def set_spark(self, key: str, value: str) -> None:
        """Set a Spark setting; before Spark starts it is added to the start configuration."""
        if self._spark is None and self._external_spark is None and key.startswith(_SAFE_BEFORE_START):
            self._spark_before.setdefault(key, self._spark_conf.get(key))
            self._spark_conf[key] = value
            return
        before = self.spark.conf.get(key, None)
        self.spark.conf.set(key, value)
        self._spark_before.setdefault(key, before)

    def reset_spark(self, key: str) -> None:
        """Restore the value from before `set_spark`, or Spark's default."""
        before = self._spark_before.pop(key, None)
        if self._spark is None and self._external_spark is None:
            self._spark_conf.pop(key, None)
            if before is not None:
                self._spark_conf[key] = before
        elif before is not None:
            self.spark.conf.set(key, before)
        else:
            self.spark.conf.unset(key)

    def drop_query_views(self, views: Sequence[str]) -> None:
        """Drop the temporary views of an analysed query; in Spark Connect at the end, as the server analyses it at each use."""
        if not views:
            return  # Spark may not have been started
        from paimon_nb.spark.runtime.jvm_bridge import has_bridge

        if not has_bridge(self.spark):
            self._connect_views.extend(views)
            return
        for view in views:
            self.spark.catalog.dropTempView(view)

    def close(self) -> None:
        """Stop this session's streams and refreshes, and Spark if it started it."""
        if self.refresher is not None:
            self.refresher.stop()
        self.jobs.stop_all()
        for view in self._connect_views:
            self.spark.catalog.dropTempView(view)
        self._connect_views.clear()
        if self._spark is not None and self._external_spark is None:
            from paimon_nb.spark.runtime.session import stop

            stop(self._spark)
        self._spark = None

    # -- names

    @property
    def catalog(self) -> Catalog:
        return self.catalog_named(self.current_catalog)

    def add_catalog(self, catalog: Catalog) -> None:
        """Register a catalog under its name; replaces an earlier one of that name."""
        self.catalogs[catalog.name] = catalog
        self._settings_at_open[catalog.name] = catalog_settings(self.spark_setting, catalog.name)

    def spark_setting(self, key: str) -> str | None:
        """The value of a Spark setting, also before Spark starts. Starts no Spark."""
        spark = self._spark or self._external_spark
        if spark is None:
            return self._spark_conf.get(key)
        try:
            return spark.conf.get(key, None)
        except Exception:  # a dead JVM raises many error types; metadata statements work without it
            return None

    def _follow_spark_settings(self, name: str) -> None:
        """Open the catalog that `spark.sql.catalog.<name>` describes if the settings changed since it was opened."""
        spark = self._spark or self._external_spark
        if spark is None or catalog_settings(self.spark_setting, name) in (NOTHING, self._settings_at_open.get(name)):
            return
        catalog = open_from_settings(spark, name)
        if catalog is not None:
            self.add_catalog(catalog)
            if name == self.first_catalog:
                self.first_catalog = None

    def catalog_named(self, name: str) -> Catalog:
        self._follow_spark_settings(name)
        try:
            return self.catalogs[name]
        except KeyError:
            raise CatalogNotFound(
                f"no catalog {name!r}",
                hint=did_you_mean(name, self.catalogs) or "create it with CREATE CATALOG",
                name=name,
            ) from None

    def has_catalog(self, name: str) -> bool:
        """Whether the session or Spark's settings have a catalog of this name."""
        self._follow_spark_settings(name)
        return name in self.catalogs

    def find(self, parts: tuple[str, ...]) -> ResolvedTable:
        """Resolve a table name to its catalog and identifier. The table need not exist."""
        *prefix, last = parts or ("",)  # no parts at all are rejected as an empty name
        if len(prefix) == 2:
            return ResolvedTable(self.catalog_named(prefix[0]), Identifier.parse_object(prefix[1], last))
        if len(prefix) == 1:
            return ResolvedTable(self.catalog, Identifier.parse_object(prefix[0], last))
        if len(prefix) == 0:
            return ResolvedTable(self.catalog, Identifier.parse_object(self.current_database, last))
        raise InvalidName(
            f"{'.'.join(parts)!r} has too many parts", hint="[catalog.]database.table", name=".".join(parts)
        )

    def note_temporary(self, parts: tuple[str, ...]) -> None:
        """Record the database of a temporary table or view that a statement creates."""
        self.temporary_databases[parts[-1]] = self._database_of(parts)

    def temporary_name(self, parts: tuple[str, ...]) -> str | None:
        """The temporary table or view that a qualified name means; None: none, or the name is not qualified."""
        name = parts[-1]
        if len(parts) not in (2, 3) or not (name in self.views or name in self.temporary):
            return None
        return name if self.temporary_databases.get(name) == self._database_of(parts) else None

    def _database_of(self, parts: tuple[str, ...]) -> tuple[str, str]:
        """Catalog and database of a name."""
        *prefix, _ = parts
        names = (self.current_catalog, self.current_database)
        return (*names[: 2 - len(prefix)], *prefix)[-2:]  # type: ignore[return-value]

    def view(self, name: str) -> tuple[CreateView, str]:
        """A temporary view and the text that its spans point into. Raises TableNotFound."""
        try:
            return self.views[name]
        except KeyError:
            raise TableNotFound(
                f"no view {name!r}",
                hint=did_you_mean(name, self.views)
                or "create it with CREATE TEMPORARY VIEW; SHOW VIEWS lists the views",
                name=name,
            ) from None

    def find_database(self, parts: tuple[str, ...]) -> tuple[Catalog, str]:
        """The catalog and database that `[catalog.]database` means; () is the current one."""
        if not parts:
            return self.catalog, self.current_database
        if len(parts) == 1:
            return self.catalog, parts[0]
        return self.catalog_named(parts[0]), parts[1]

    def table(self, parts: tuple[str, ...], options: Mapping[str, str] | None = None) -> Table:
        """The Paimon table of a name, with the session's dynamic options and `options` on top."""
        if options:
            name_servers(options)
            check_no_misspelled_options(options)
            check_values(options)
        found = self.find(parts)
        if options and DATA_FILE_EXTERNAL_PATHS.key in options:
            allow_data_files(found.catalog, options)
        return found.catalog.table(found.name, {**self.options_of(found), **(options or {})})

    def stored(self, parts: tuple[str, ...]) -> Table:
        """The table without the session's dynamic options: for statements that show or copy its definition."""
        found = self.find(parts)
        return found.catalog.table(found.name)

    def exists(self, parts: tuple[str, ...]) -> bool:
        """Whether a name resolves to a Paimon table."""
        try:
            self.table(parts)
        except (TableNotFound, CatalogNotFound, InvalidName):
            return False
        except Exception as error:  # a broken table exists
            from paimon_nb.base.errors import DatabaseNotFound

            return not isinstance(error, DatabaseNotFound)
        return True

    def options_of(self, found: ResolvedTable) -> dict[str, str]:
        """Dynamic options of SET for this table: 'paimon.<catalog>.<db>.<table>.<option>', each name may be '*'.

        A `spark.` prefix is allowed, and 'spark.paimon.<option>' applies to every table.
        """
        identifier = (found.catalog.name, found.name.database, found.name.table)
        matching: list[tuple[int, str, str]] = []
        for key, value in {**self._spark_options(), **self.settings}.items():
            of_spark = key.startswith("spark.paimon.")
            if not of_spark and not key.startswith("paimon."):
                continue
            text = key.removeprefix("spark.").removeprefix("paimon.")
            pattern, option = split_setting(text)
            if pattern and all(fnmatch.fnmatchcase(w, p) for w, p in zip(identifier, pattern, strict=True)):
                matching.append((sum(p == "*" for p in pattern), option, value))
            elif of_spark and find_option(text) is not None:
                matching.append((4, text, value))
        # The most specific pattern wins, so apply the widest first.
        return {option: value for _, option, value in sorted(matching, key=lambda m: -m[0])}

    def options_of_paths(self) -> dict[str, str]:
        """Dynamic options of a table that is read or written by its path: 'spark.paimon.<option>', as in Java."""
        texts = without_prefix({**self._spark_options(), **self.settings}, "spark.paimon.")
        return {text: value for text, value in texts.items() if find_option(text) is not None}

    def _spark_options(self) -> dict[str, str]:
        """The settings `spark.paimon.*` in Spark's own configuration."""
        if not self.spark_started:
            return {k: v for k, v in self._spark_conf.items() if k.startswith("spark.paimon.")}
        conf = self.spark.conf
        try:
            jvm = getattr(conf, "_jconf", None)  # None: Spark Connect
            if jvm is not None and "spark.paimon." not in jvm.getAll().toString():  # one call, not one for each setting
                return {}
            return {k: v for k, v in conf.getAll.items() if k.startswith("spark.paimon.")}
        except Exception:  # a dead JVM raises many error types; metadata statements work without it
            return {}

    def frames(self, name: str) -> Any:
        """The value of a name without a table: a parameter of the call, or a variable of the caller; None."""
        value = self.parameters.get(name)
        return self.variables(name) if value is None else value

    def download(self, url: str) -> Path:
        """A local copy of a file in an object store. Raises SourceUnavailable: the scheme is not known, or no such file."""
        from paimon_nb.session.core.remote_files import download

        return download(self.catalog, url, self)

    def note(self, text: str) -> None:
        """Add a note to the result of the current statement, once."""
        if text not in self.notes:
            self.notes.append(text)

    @property
    def flink_semantics(self) -> bool:
        """Whether Flink's semantics apply where the dialects conflict: the user has set Flink's runtime mode."""
        return "execution.runtime-mode" in self.settings

    @property
    def dialect(self) -> str:
        """'flink' if the session has Flink's semantics, else 'spark'."""
        return "flink" if self.flink_semantics else "spark"

    def setting(self, key: str, default: Any = None) -> Any:
        return self.settings.get(key, default)


def split_setting(text: str) -> tuple[tuple[str, str, str] | None, str]:
    """'cat.db.t.scan.mode' -> (('cat', 'db', 't'), 'scan.mode')."""
    parts = text.split(".", 3)
    if len(parts) < 4:
        return None, text
    return (parts[0], parts[1], parts[2]), parts[3]
