"""A real PostgreSQL on loopback that keeps a logical log. It may be stopped and started again on the same port and data."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from requirements import REQUIREMENTS, program
from server_kit import NotHere, Restartable, free_port

USER, PASSWORD, DATABASE = "paimon", "cdc-secret", "shop"


class Postgres(Restartable):
    """The server's process."""

    def __init__(self) -> None:
        server, initdb = program("postgresql", "postgres"), program("postgresql", "initdb")
        if server is None or initdb is None:
            raise NotHere(REQUIREMENTS["postgresql"].missing)
        # Not below the tests' own folder: the server runs under another name, which may not look into that.
        self.root = Path(tempfile.mkdtemp(prefix="paimon-nb-log-"))
        self._as_user: dict[str, str] = {}
        if os.geteuid() == 0:  # servers refuse to be root
            for owner in ("postgres", "nobody"):
                with suppress(LookupError):
                    shutil.chown(self.root, owner)
                    self._as_user = {"user": owner}
                    break
        self.port, self.log = free_port(), self.root / "log"
        (self.root / "pw").write_text(PASSWORD)
        if self._as_user:
            shutil.chown(self.root / "pw", self._as_user["user"])
        done = subprocess.run(
            [initdb, "-D", self.root / "data", "-U", USER, "-A", "scram-sha-256", "--pwfile", self.root / "pw", "-E", "UTF8", "--locale", "C", "--no-sync"],
            capture_output=True, text=True, cwd=self.root, check=False, **self._as_user,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        self.command = [server, "-D", str(self.root / "data"), "-p", str(self.port), "-h", "127.0.0.1", "-k", str(self.root), "-F",
                        "-c", "wal_level=logical", "-c", "max_replication_slots=50"]  # fmt: skip
        # SIGINT: at SIGTERM it would wait until its last client has gone.
        self.stop_signal, self.more = signal.SIGINT, self._as_user

    def ready(self) -> None:
        with self.connect("postgres") as connection:
            there = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchall()
            if not there:
                connection.execute(f"CREATE DATABASE {DATABASE}")

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.root, ignore_errors=True)

    # -- what tests do with it

    def connect(self, database: str = DATABASE) -> Any:
        import psycopg

        return psycopg.connect(host="127.0.0.1", port=self.port, user=USER, password=PASSWORD, dbname=database, autocommit=True)  # fmt: skip

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """The rows of the last statement."""
        with self.connect() as connection:
            for statement in statements:
                found = connection.execute(statement)
            return list(found.fetchall()) if found.description else []

    @property
    def conf(self) -> dict[str, str]:
        """How a sync reaches it."""
        return {"hostname": "127.0.0.1", "port": str(self.port), "username": USER, "password": PASSWORD, "database-name": DATABASE}  # fmt: skip
