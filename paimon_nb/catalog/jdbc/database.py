"""One SQL database from a JDBC address: which driver, which user, and connections that are made where they are used."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from paimon_nb.base.errors import BadOptionValue, EnvironmentError_, StoreError, UnsupportedOperation
from paimon_nb.base.redact import redact_text
from paimon_nb.fs import without_scheme
from paimon_nb.options import TableOptions
from paimon_nb.options import catalog as opt

_BUSY_S = 60
"""How long SQLite waits for another session's transaction."""
_PREFIX = "jdbc."
_POSTGRES = {
    "sslmode": "sslmode", "sslrootcert": "sslrootcert", "connectTimeout": "connect_timeout",
    "ApplicationName": "application_name",
}  # fmt: skip
"""Settings of PostgreSQL's Java driver, and what libpq calls them."""
_MAY_BE_PLAIN = ("", "DISABLED", "DISABLE", "PREFERRED", "PREFER", "FALSE", "TRUST")


@dataclass(frozen=True)
class Database:
    """Where the names are. Pickles; each process makes its own connections.

    Shapes of `uri`: `jdbc:sqlite:<file>`, `jdbc:postgresql://host[:port]/database[?k=v&...]`, `jdbc:mysql://...`,
    `jdbc:mariadb://...`. Settings come from the address's query and from options `jdbc.<setting>`, which win.
    """

    dialect: str
    """sqlite, postgresql or mysql (MariaDB's is MySQL's)."""
    place: str
    """SQLite: the file. Else `host:port/database`."""
    settings: tuple[tuple[str, str], ...] = field(repr=False, default=())
    """As the Java driver calls them, `user` and `password` among them."""
    connections: int = 2

    @classmethod
    def of(cls, uri: str, options: Mapping[str, str]) -> Database:
        """Raises BadOptionValue: no JDBC address, or of a database that is not known here."""
        scheme, _, rest = uri.partition(":")
        protocol, _, rest = rest.partition(":")
        known = {"sqlite": "sqlite", "postgresql": "postgresql", "mysql": "mysql", "mariadb": "mysql"}
        if scheme != "jdbc" or protocol not in known:
            raise BadOptionValue(
                f"{redact_text(uri)!r} is no address of a database that a JDBC catalog can use",
                hint="jdbc:sqlite:/path/file.db, jdbc:postgresql://host/db, jdbc:mysql://host/db, jdbc:mariadb://host/db",
                option="uri",
            )
        address, _, query = rest.partition("?")
        given = {k.removeprefix(_PREFIX): v for k, v in options.items() if k.startswith(_PREFIX)}
        settings = {**dict(parse_qsl(query, keep_blank_values=True)), **given}
        if protocol == "sqlite":
            place = _sqlite_file(address, query)
        else:
            login, _, place = address.removeprefix("//").rpartition("@")  # a password must not stay in what is shown
            user, _, password = login.partition(":")
            settings = {**({"user": unquote(user), "password": unquote(password)} if login else {}), **settings}
        pool = TableOptions(options).get(opt.CLIENT_POOL_SIZE)
        return cls(known[protocol], place, tuple(sorted(settings.items())), pool)

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """A SQLAlchemy connection inside one transaction: all of the block or nothing.

        Raises: sqlalchemy.exc.IntegrityError: a row of this key is there. StoreError: anything else that goes wrong.
        """
        from sqlalchemy.exc import IntegrityError, SQLAlchemyError

        try:
            with _engine(self, os.getpid()).begin() as connection:
                yield connection
        except IntegrityError:
            raise
        except SQLAlchemyError as error:
            cause = str(getattr(error, "orig", None) or error).strip().splitlines()
            raise StoreError(
                f"the catalog's database {self.place} refused: {redact_text(cause[0] if cause else 'no reason given')}",
                hint="check 'uri', 'jdbc.user', 'jdbc.password' and that the database runs",
                database=self.place,
            ) from None

    def ask(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query, `:name` in it standing for a value. Raises as `transaction`."""
        from sqlalchemy import text

        with self.transaction() as connection:
            return [tuple(row) for row in connection.execute(text(statement), values)]

    def change(self, statement: str, **values: Any) -> int:
        """How many rows a statement changed, in a transaction of its own. Raises as `transaction`."""
        from sqlalchemy import text

        with self.transaction() as connection:
            return int(connection.execute(text(statement), values).rowcount)


def _sqlite_file(path: str, query: str) -> str:
    path = without_scheme(path)
    if not path or path == ":memory:" or "mode=memory" in query:
        raise BadOptionValue(
            "a SQLite database in memory is seen by one connection only",
            hint="name a file, jdbc:sqlite:/path/file.db, or use 'metastore' = 'memory'",
            option="uri",
        )
    return os.path.abspath(os.path.expanduser(path))


@cache
def _engine(database: Database, process: int) -> Any:
    """One pool of connections a database and process: they must not be shared over a fork, as Spark's workers do."""
    try:
        from sqlalchemy import create_engine
    except ImportError:
        raise _no_driver("sqlalchemy") from None
    limits = {"pool_size": database.connections, "max_overflow": 30, "pool_pre_ping": True}
    settings = dict(database.settings)
    if database.dialect == "sqlite":
        from sqlalchemy.pool import QueuePool

        os.makedirs(os.path.dirname(database.place), exist_ok=True)
        return create_engine("sqlite://", creator=lambda: _sqlite(database.place), poolclass=QueuePool, **limits)
    url, arguments = _server(database, settings)
    try:
        return create_engine(url, connect_args=arguments, **limits)
    except ImportError as error:
        raise _no_driver(error.name or "driver") from None


def _sqlite(file: str) -> Any:
    import sqlite3

    return sqlite3.connect(file, timeout=_BUSY_S, check_same_thread=False)


def _server(database: Database, settings: Mapping[str, str]) -> tuple[Any, dict[str, Any]]:
    from sqlalchemy import URL

    parts = urlsplit(f"//{database.place}")
    if "," in parts.netloc:
        raise UnsupportedOperation(
            f"{parts.netloc}: several hosts in one address are not known here", hint="name one", option="uri"
        )
    driver = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql"}[database.dialect]
    user, password = settings.get("user"), settings.get("password")
    url = URL.create(driver, user, password, parts.hostname, parts.port, unquote(parts.path.strip("/")))
    arguments: dict[str, Any] = {}
    if database.dialect == "postgresql":
        arguments = {ours: settings[java] for java, ours in _POSTGRES.items() if java in settings}
        if settings.get("ssl", "").lower() in ("true", "1"):
            arguments.setdefault("sslmode", "verify-full")  # what Java's driver means by it
        if "currentSchema" in settings:
            arguments["options"] = f"-csearch_path={settings['currentSchema']}"
        return url, arguments
    mode = settings.get("sslMode") or settings.get("requireSSL") or ""
    if mode.upper().replace("-", "_") not in _MAY_BE_PLAIN:
        raise UnsupportedOperation(
            "encrypted connections to MySQL and MariaDB are not made by this catalog",
            hint="leave 'sslMode' out where the network is trusted, or use PostgreSQL with 'sslmode'",
            option="uri",
        )
    if "connectTimeout" in settings:
        arguments["connect_timeout"] = max(1, int(settings["connectTimeout"]) // 1000)
    return url, arguments


def _no_driver(package: str) -> EnvironmentError_:
    return EnvironmentError_(
        f"a JDBC catalog needs the Python package {package}", hint="pip install 'paimon-nb[jdbc]'", package=package
    )
