"""What a session remembers: catalogs, where it stands, settings, temporary tables and views. Starts no JVM by itself."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import CatalogNotFound, InvalidName, TableNotFound
from paimon_nb.base.identifier import Identifier
from paimon_nb.base.registry import did_you_mean
from paimon_nb.catalog.api import DEFAULT_DATABASE, Catalog
from paimon_nb.options import find_option
from paimon_nb.options.spelling import check_names
from paimon_nb.session.core.jobs import Jobs
from paimon_nb.session.core.spark_catalogs import NOTHING, Seen, opened, seen
from paimon_nb.table.table import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from paimon_nb.plan import CreateTable, CreateView
    from paimon_nb.session.streaming.lookup.join import Lookups


_SAFE_BEFORE_START = ("spark.sql.shuffle.partitions", "spark.sql.session.timeZone", "spark.paimon.")
"""Settings that cannot keep Spark from starting."""


@dataclass(frozen=True, slots=True)
class Found:
    """A resolved table name."""

    catalog: Catalog
    name: Identifier


class Session:
    """State behind a workbench. Methods resolve names; `run.py` carries statements out."""

    def __init__(self, catalog: Catalog, spark: SparkSession | None, spark_conf: Mapping[str, str]) -> None:
        self.catalogs: dict[str, Catalog] = {catalog.name: catalog}
        self.first_catalog: str | None = catalog.name
        """The catalog that the workbench was opened with, until CREATE CATALOG makes another of its name."""
        self.use_catalog(catalog)
        self.settings: dict[str, str] = {}
        """SET values of ours: Flink keys and `paimon.<catalog>.<db>.<table>.<option>` patterns."""
        self.views: dict[str, tuple[CreateView, str]] = {}
        """Temporary views and the whole text their spans point into; evaluated anew at each use."""
        self.temporary: dict[str, CreateTable] = {}
        """Temporary and source tables (CREATE TEMPORARY TABLE, connectors)."""
        self.jobs = Jobs()
        """Streams that this session started."""
        self.lookups: Lookups | None = None
        """What a stream keeps of the tables that its queries look up; only in the session of a stream."""
        self._given_spark, self._spark_conf = spark, dict(spark_conf)
        self._configured = bool(spark_conf)
        self._spark_before: dict[str, str | None] = {}
        """Spark's settings that SET changed, as they were."""
        self._spark: SparkSession | None = None
        self._seen_settings: dict[str, Seen] = {catalog.name: seen(self.spark_setting, catalog.name)}
        """What Spark's settings said about a catalog when it was opened."""

    def use_catalog(self, catalog: Catalog) -> None:
        """Be in the default database of `catalog`; one that is called otherwise than `default` is made, as Java does."""
        self.current_catalog, self.current_database = catalog.name, catalog.default_database
        if self.current_database != DEFAULT_DATABASE and self.current_database not in catalog.databases():
            catalog.create_database(self.current_database, if_not_exists=True)

    # -- Spark

    @property
    def spark(self) -> SparkSession:
        """The plain SparkSession, started at first use."""
        if self._spark is None:
            from paimon_nb.spark.runtime.session import spark_session

            self._spark = spark_session(self._given_spark, self._spark_conf)
        return self._spark

    @property
    def spark_started(self) -> bool:
        return self._spark is not None

    @property
    def spark_may_know(self) -> bool:
        """Whether Spark can hold tables and views that are not ours; a session of our own that never ran holds none."""
        return self.spark_started or self._given_spark is not None or self._configured

    def set_spark(self, key: str, value: str) -> None:
        """Tell Spark a setting; one that is not started yet begins with it."""
        if self._spark is None and self._given_spark is None and key.startswith(_SAFE_BEFORE_START):
            self._spark_before.setdefault(key, self._spark_conf.get(key))
            self._spark_conf[key] = value
            return
        before = self.spark.conf.get(key, None)
        self.spark.conf.set(key, value)
        self._spark_before.setdefault(key, before)

    def reset_spark(self, key: str) -> None:
        """Back to what it was before `set_spark`; Spark's own default for one that was never set so."""
        before = self._spark_before.pop(key, None)
        if self._spark is None and self._given_spark is None:
            self._spark_conf.pop(key, None)
            if before is not None:
                self._spark_conf[key] = before
        elif before is not None:
            self.spark.conf.set(key, before)
        else:
            self.spark.conf.unset(key)

    def close(self) -> None:
        """Stop this session's streams, and Spark if it started it."""
        self.jobs.stop_all()
        if self._spark is not None and self._given_spark is None:
            from paimon_nb.spark.runtime.session import stop

            stop(self._spark)
        self._spark = None

    # -- names

    @property
    def catalog(self) -> Catalog:
        return self.catalog_named(self.current_catalog)

    def add_catalog(self, catalog: Catalog) -> None:
        """Know it by its name from now on, whatever had that name before."""
        self.catalogs[catalog.name] = catalog
        self._seen_settings[catalog.name] = seen(self.spark_setting, catalog.name)

    def spark_setting(self, key: str) -> str | None:
        """What Spark is, or will be, told about a key; starts no Spark."""
        spark = self._spark or self._given_spark
        if spark is None:
            return self._spark_conf.get(key)
        try:
            return spark.conf.get(key, None)
        except Exception:  # a JVM that died says nothing, in one of a dozen ways; metadata goes on without it
            return None

    def _follow_spark_settings(self, name: str) -> None:
        """Open the catalog that `spark.sql.catalog.<name>` describes, when that changed since it was opened."""
        spark = self._spark or self._given_spark
        if spark is None or seen(self.spark_setting, name) in (NOTHING, self._seen_settings.get(name)):
            return
        catalog = opened(spark, name)
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
                hint=did_you_mean(name, self.catalogs) or "CREATE CATALOG ... makes one",
                name=name,
            ) from None

    def find(self, parts: tuple[str, ...]) -> Found:
        """Which catalog and table a written name means. The table need not exist."""
        *prefix, last = parts or ("",)  # no name at all is refused as an empty one
        if len(prefix) == 2:
            return Found(self.catalog_named(prefix[0]), Identifier.parse_object(prefix[1], last))
        if len(prefix) == 1:
            return Found(self.catalog, Identifier.parse_object(prefix[0], last))
        if len(prefix) == 0:
            return Found(self.catalog, Identifier.parse_object(self.current_database, last))
        raise InvalidName(
            f"{'.'.join(parts)!r} has too many parts", hint="[catalog.]database.table", name=".".join(parts)
        )

    def view(self, name: str) -> tuple[CreateView, str]:
        """A temporary view and the text that its spans point into."""
        try:
            return self.views[name]
        except KeyError:
            raise TableNotFound(
                f"no view {name!r}",
                hint=did_you_mean(name, self.views) or "CREATE TEMPORARY VIEW ... makes one; SHOW VIEWS lists them",
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
        """The Paimon table of a written name, with the session's options for it and `options` on top."""
        check_names(options or {})
        found = self.find(parts)
        return found.catalog.table(found.name, {**self.options_of(found), **(options or {})})

    def stored(self, parts: tuple[str, ...]) -> Table:
        """The table as it is stored, without the session's options: for statements that show or copy a definition."""
        found = self.find(parts)
        return found.catalog.table(found.name)

    def exists(self, parts: tuple[str, ...]) -> bool:
        """Whether a written name means a Paimon table of ours."""
        try:
            self.table(parts)
        except (TableNotFound, CatalogNotFound, InvalidName):
            return False
        except Exception as error:  # a broken table exists
            from paimon_nb.base.errors import DatabaseNotFound

            return not isinstance(error, DatabaseNotFound)
        return True

    def options_of(self, found: Found) -> dict[str, str]:
        """Dynamic options that SET gave this table: 'paimon.<catalog>.<db>.<table>.<option>', each name may be '*'.

        With `spark.` in front it may be a setting of Spark, too, and 'spark.paimon.<option>' means every table.
        """
        wanted = (found.catalog.name, found.name.database, found.name.table)
        matching: list[tuple[int, str, str]] = []
        for key, value in {**self._spark_options(), **self.settings}.items():
            of_spark = key.startswith("spark.paimon.")
            if not of_spark and not key.startswith("paimon."):
                continue
            text = key.removeprefix("spark.").removeprefix("paimon.")
            pattern, option = split_setting(text)
            if pattern and all(fnmatch.fnmatchcase(w, p) for w, p in zip(wanted, pattern, strict=True)):
                matching.append((sum(p == "*" for p in pattern), option, value))
            elif of_spark and find_option(text) is not None:
                matching.append((4, text, value))
        # The most specific pattern wins, so apply the widest first.
        return {option: value for _, option, value in sorted(matching, key=lambda m: -m[0])}

    def _spark_options(self) -> dict[str, str]:
        """The settings `spark.paimon.*` that Spark itself was told."""
        if not self.spark_started:
            return {k: v for k, v in self._spark_conf.items() if k.startswith("spark.paimon.")}
        conf = self.spark.conf
        try:
            jvm = getattr(conf, "_jconf", None)  # None: Spark Connect
            if jvm is not None and "spark.paimon." not in jvm.getAll().toString():  # one call, not one for each setting
                return {}
            return {k: v for k, v in conf.getAll.items() if k.startswith("spark.paimon.")}
        except Exception:  # a JVM that died says nothing, in one of a dozen ways; metadata goes on without it
            return {}

    @property
    def speaks_flink(self) -> bool:
        """Whether the user set Flink's mode: then what the dialects say alike and mean otherwise is Flink's."""
        return "execution.runtime-mode" in self.settings

    def setting(self, key: str, default: Any = None) -> Any:
        return self.settings.get(key, default)


def split_setting(text: str) -> tuple[tuple[str, str, str] | None, str]:
    """'cat.db.t.scan.mode' -> (('cat', 'db', 't'), 'scan.mode')."""
    parts = text.split(".", 3)
    if len(parts) < 4:
        return None, text
    return (parts[0], parts[1], parts[2]), parts[3]
