"""A real MariaDB on loopback with a ROW binlog, from the system's package."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

from requirements import REQUIREMENTS, program
from server_kit import NotHere, Restartable, free_port, user_name

if TYPE_CHECKING:
    from pathlib import Path

_USERS = """
CREATE OR REPLACE USER root@'127.0.0.1' IDENTIFIED BY 'password';
GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;
CREATE OR REPLACE USER cdc@'%' IDENTIFIED BY 'cdc-secret';
GRANT ALL ON *.* TO cdc@'%';
"""
"""Who may do what. The password of root is that of the documents."""


class MariaDb(Restartable):
    """The server's process."""

    def __init__(self, root: Path) -> None:
        server, install = program("mariadb", "mariadbd"), program("mariadb", "mariadb-install-db")
        if server is None or install is None:
            raise NotHere(REQUIREMENTS["mariadb"].missing)
        self.root = root
        self.port = free_port()
        self._socket = f"/tmp/paimon-nb-{self.port}.sock"  # a socket's path may not be long
        self.log = root / "mariadb.log"
        users = root / "users.sql"
        users.write_text(_USERS)
        (root / "tmp").mkdir()  # a server that starts deletes other servers' temporary tables where they share a folder
        self.command = [
            server, "--no-defaults", f"--tmpdir={root / 'tmp'}", f"--datadir={root / 'data'}", f"--socket={self._socket}", f"--port={self.port}",
            "--bind-address=127.0.0.1", f"--user={user_name()}", "--server-id=1", "--log-bin=mysql-bin",
            "--binlog-format=ROW", "--binlog-row-image=FULL", "--binlog-row-metadata=FULL", f"--pid-file={root / 'pid'}",
            "--innodb-buffer-pool-size=32M", "--performance-schema=OFF", "--skip-name-resolve", "--innodb-flush-log-at-trx-commit=2",
            "--innodb-use-native-aio=0",  # io_uring hangs on some kernels
            f"--init-file={users}",
        ]  # fmt: skip
        done = subprocess.run(
            [install, "--no-defaults", f"--datadir={root / 'data'}", f"--user={user_name()}", "--skip-test-db", "--innodb-use-native-aio=0",
             "--auth-root-authentication-method=normal"],
            capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr

    def ready(self) -> None:
        self.run("SELECT 1")

    # -- what tests do with it

    def connect(self) -> Any:
        import pymysql

        return pymysql.connect(host="127.0.0.1", port=self.port, user="root", password="password", autocommit=True, init_command="SET time_zone='+00:00'")  # fmt: skip

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """The rows of the last statement."""
        with self.connect() as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall())

    @property
    def conf(self) -> dict[str, str]:
        """How a sync reaches it."""
        return {"hostname": "127.0.0.1", "port": str(self.port), "username": "cdc", "password": "cdc-secret"}
