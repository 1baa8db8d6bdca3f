"""A SQL database from a JDBC URL: driver, login and connections."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from paimon_nb.base.errors import BadOptionValue, EnvironmentError_, StoreError, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.redact import redact_text
from paimon_nb.fs import without_scheme
from paimon_nb.options import TableOptions, without_prefix
from paimon_nb.options import catalog as opt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_BUSY_S = 60
"""SQLite's timeout for another session's transaction."""
_PREFIX = "jdbc."
_POSTGRES = {
    "sslmode": "sslmode", "sslrootcert": "sslrootcert", "connectTimeout": "connect_timeout",
    "ApplicationName": "application_name",
}  # fmt: skip
"""Settings of PostgreSQL's JDBC driver -> libpq's names."""
_UNENCRYPTED_MODES = ("", "DISABLED", "DISABLE", "PREFERRED", "PREFER", "FALSE", "TRUST")


@dataclass(frozen=True)
class Database:
    """A SQL database. Pickles; each process opens its own connections.

    Forms of `uri`: `jdbc:sqlite:<file>`, `jdbc:postgresql://host[:port]/database[?k=v&...]`, `jdbc:mysql://...`,
    `jdbc:mariadb://...`. Settings come from the URL's query and from options `jdbc.<setting>`, which take precedence.
    """

    dialect: str
    """sqlite, postgresql or mysql (MariaDB's is MySQL's)."""
    address: str
    """The file (SQLite), or `host:port/database`."""
    settings: tuple[tuple[str, str], ...] = field(repr=False, default=())
    """Settings with the JDBC driver's names, including `user` and `password`."""
    connections: int = 2

    @classmethod
    def of(cls, uri: str, options: Mapping[str, str]) -> Database:
        """Raises BadOptionValue: not a JDBC URL, or an unsupported database."""
        scheme, _, rest = uri.partition(":")
        protocol, _, rest = rest.partition(":")
        known = {"sqlite": "sqlite", "postgresql": "postgresql", "mysql": "mysql", "mariadb": "mysql"}
        if scheme != "jdbc" or protocol not in known:
            raise BadOptionValue(
                f"{redact_text(uri)!r} is not a JDBC URL of a supported database",
                hint="jdbc:sqlite:/path/file.db, jdbc:postgresql://host/db, jdbc:mysql://host/db, jdbc:mariadb://host/db",
                option="uri",
            )
        address, _, query = rest.partition("?")
        option_settings = without_prefix(options, _PREFIX)
        settings = {**dict(parse_qsl(query, keep_blank_values=True)), **option_settings}
        if protocol == "sqlite":
            address = _sqlite_file(address, query)
        else:
            login, _, address = address.removeprefix("//").rpartition("@")  # keeps passwords out of displayed text
            user, _, password = login.partition(":")
            settings = {**({"user": unquote(user), "password": unquote(password)} if login else {}), **settings}
        pool = TableOptions(options).get(opt.CLIENT_POOL_SIZE)
        return cls(known[protocol], address, tuple(sorted(settings.items())), pool)

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """A SQLAlchemy connection in one transaction for the block.

        Raises:
            sqlalchemy.exc.IntegrityError: a row with this key exists.
            StoreError: any other error.
        """
        from sqlalchemy.exc import IntegrityError, SQLAlchemyError

        try:
            with _connection_pool(self, os.getpid()).begin() as connection:
                yield connection
        except IntegrityError:
            raise
        except SQLAlchemyError as error:
            cause = str(getattr(error, "orig", None) or error).strip().splitlines()
            raise StoreError(
                f"the catalog's database {self.address} refused: {redact_text(cause[0] if cause else 'no reason given')}",
                hint="check 'uri', 'jdbc.user', 'jdbc.password', and that the database is running",
                database=self.address,
            ) from None

    def query(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query; `:name` markers are bound to `values`. Raises as `transaction`."""
        from sqlalchemy import text

        with self.transaction() as connection:
            return [tuple(row) for row in connection.execute(text(statement), values)]

    def execute(self, statement: str, **values: Any) -> int:
        """The number of rows that a statement changed, in its own transaction. Raises as `transaction`."""
        from sqlalchemy import text

        with self.transaction() as connection:
            return int(connection.execute(text(statement), values).rowcount)


def _sqlite_file(path: str, query: str) -> str:
    path = without_scheme(path)
    if not path or path == ":memory:" or "mode=memory" in query:
        raise BadOptionValue(
            "a SQLite database in memory is visible to one connection only",
            hint="use a file, jdbc:sqlite:/path/file.db, or use 'metastore' = 'memory'",
            option="uri",
        )
    return os.path.abspath(Path(path).expanduser())  # noqa: PTH100  removes "..", but keeps symbolic links


@cache
def _connection_pool(database: Database, _process_id: int) -> Any:
    """A connection pool per database and process: connections must not be shared across a fork, as with Spark's workers."""
    try:
        from sqlalchemy import create_engine
    except ImportError:
        raise _no_driver("sqlalchemy") from None
    limits = {"pool_size": database.connections, "max_overflow": 30, "pool_pre_ping": True}
    settings = dict(database.settings)
    if database.dialect == "sqlite":
        from sqlalchemy.pool import QueuePool

        Path(database.address).parent.mkdir(parents=True, exist_ok=True)
        return create_engine(
            "sqlite://", creator=lambda: _connect_sqlite(database.address), poolclass=QueuePool, **limits
        )
    url, arguments = _server_url(database, settings)
    try:
        return create_engine(url, connect_args=arguments, **limits)
    except ImportError as error:
        raise _no_driver(error.name or "driver") from None


def _connect_sqlite(file: str) -> Any:
    import sqlite3

    return sqlite3.connect(file, timeout=_BUSY_S, check_same_thread=False)


def _server_url(database: Database, settings: Mapping[str, str]) -> tuple[Any, dict[str, Any]]:
    from sqlalchemy import URL

    parts = urlsplit(f"//{database.address}")
    if "," in parts.netloc:
        raise UnsupportedOperation(
            f"{parts.netloc}: several hosts in one URL are not supported", hint="name one host", option="uri"
        )
    driver = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql"}[database.dialect]
    user, password = settings.get("user"), settings.get("password")
    url = URL.create(driver, user, password, parts.hostname, parts.port, unquote(parts.path.strip("/")))
    arguments: dict[str, Any] = {}
    if database.dialect == "postgresql":
        arguments = {libpq: settings[java] for java, libpq in _POSTGRES.items() if java in settings}
        if settings.get("ssl", "").lower() in ("true", "1"):
            arguments.setdefault("sslmode", "verify-full")  # as Java's driver
        if "currentSchema" in settings:
            arguments["options"] = f"-csearch_path={settings['currentSchema']}"
        return url, arguments
    ssl_mode = settings.get("sslMode") or settings.get("requireSSL") or ""
    if ssl_mode.upper().replace("-", "_") not in _UNENCRYPTED_MODES:
        raise UnsupportedOperation(
            "encrypted connections to MySQL and MariaDB are not supported",
            hint="remove 'sslMode' if the network is trusted, or use PostgreSQL with 'sslmode'",
            option="uri",
        )
    if "connectTimeout" in settings:
        arguments["connect_timeout"] = max(1, int(settings["connectTimeout"]) // 1000)
    return url, arguments


def _no_driver(package: str) -> EnvironmentError_:
    return EnvironmentError_(
        f"a JDBC catalog needs the Python package {package}", hint="pip install 'paimon-nb[jdbc]'", package=package
    )
