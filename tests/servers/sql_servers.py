"""Real PostgreSQL and MariaDB servers: made in a folder of their own, on the loopback, stopped at the end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from requirements import REQUIREMENTS, program
from server_kit import absent, free_port, running

if TYPE_CHECKING:
    from collections.abc import Iterator

USER, PASSWORD, DATABASE = "paimon", "p%t/e:s@t", "lake"


def _program(requirement: str, name: str) -> str:
    """A server's program. Skips when it is not installed."""
    found = program(requirement, name)
    if found is None:
        absent(REQUIREMENTS[requirement].missing)
    return found


@contextmanager
def _folder(owner: str) -> Iterator[tuple[Path, dict[str, str]]]:
    """A new folder, and under whose name the server runs: servers refuse to be root."""
    path = Path(tempfile.mkdtemp(prefix="paimon-nb-sql-"))
    as_user = {}
    if os.geteuid() == 0:
        with suppress(LookupError):
            shutil.chown(path, owner)
            as_user = {"user": owner}
        if not as_user:
            shutil.chown(path, "nobody")
            as_user = {"user": "nobody"}
    try:
        yield path, as_user
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def postgresql() -> Iterator[str]:
    """Address of a PostgreSQL server with an empty database."""
    initdb, server = _program("postgresql", "initdb"), _program("postgresql", "postgres")
    import psycopg

    with _folder("postgres") as (folder, as_user):
        (folder / "pw").write_text(PASSWORD)
        shutil.chown(folder / "pw", as_user["user"]) if as_user else None
        subprocess.run(
            [initdb, "-D", folder / "data", "-U", USER, "-A", "scram-sha-256", "--pwfile", folder / "pw", "-E", "UTF8",
             "--locale", "C", "--no-sync"],
            check=True, capture_output=True, cwd=folder, **as_user,
        )  # fmt: skip
        port = free_port()
        where = {"host": "127.0.0.1", "port": port, "user": USER, "password": PASSWORD}

        def ready() -> None:
            with psycopg.connect(dbname="postgres", autocommit=True, **where) as connection:
                connection.execute(f"CREATE DATABASE {DATABASE}")

        # SIGINT: at SIGTERM it would wait until its last client, a pool of ours, has gone.
        command = [server, "-D", str(folder / "data"), "-p", str(port), "-h", "127.0.0.1", "-k", str(folder), "-F"]
        with running(command, folder / "log", ready, signal.SIGINT, **as_user):
            yield f"jdbc:postgresql://127.0.0.1:{port}/{DATABASE}"


@contextmanager
def mariadb() -> Iterator[str]:
    """Address of a MariaDB server with an empty database."""
    server, install = _program("mariadb", "mariadbd"), _program("mariadb", "mariadb-install-db")
    import pymysql

    with _folder("mysql") as (folder, as_user):
        subprocess.run(
            [install, "--no-defaults", f"--datadir={folder / 'data'}", "--auth-root-authentication-method=normal",
             "--skip-test-db"],
            check=True, capture_output=True, cwd=folder, **as_user,
        )  # fmt: skip
        port, socket_file = free_port(), str(folder / "s")

        def ready() -> None:
            with pymysql.connect(unix_socket=socket_file, user="root") as connection, connection.cursor() as cursor:
                cursor.execute(f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4")
                cursor.execute(f"CREATE USER {USER}@'%%' IDENTIFIED BY %s", (PASSWORD,))
                cursor.execute(f"GRANT ALL ON {DATABASE}.* TO {USER}@'%'")

        # In its own folder: a server that starts deletes other servers' temporary tables where they share one.
        command = [server, "--no-defaults", f"--datadir={folder / 'data'}", f"--tmpdir={folder / 'data'}", f"--socket={socket_file}", f"--port={port}",
                   "--bind-address=127.0.0.1", "--skip-name-resolve", "--innodb-flush-log-at-trx-commit=0",
                   "--innodb-buffer-pool-size=32M", f"--pid-file={folder / 'pid'}"]  # fmt: skip
        with running(command, folder / "log", ready, **as_user):
            yield f"jdbc:mysql://127.0.0.1:{port}/{DATABASE}"


def rows_of(options: dict[str, str], table: str) -> list[tuple]:
    """All rows of one of the catalog's own tables, in order; of this catalog's key where the table has one."""
    from sqlalchemy import text

    from paimon_nb.catalog.jdbc.database import Database

    with Database.of(options["uri"], options).transaction() as connection:
        rows = [tuple(row) for row in connection.execute(text(f"SELECT * FROM {table}"))]
    key = options.get("catalog-key", "jdbc")
    return sorted(row for row in rows if row[0] == key or row[0].startswith(f"{key}."))
