"""Java's distributed lock: a row in `paimon_distributed_locks` that one session can insert.

Source: Paimon 1.3 `JdbcCatalogLock.java`, `AbstractDistributedLockDialect.java` and its dialects.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from paimon_nb.catalog.jdbc.database import Database
from paimon_nb.catalog.jdbc.metastore import make_table
from paimon_nb.catalog.locks import Patience, let_go

LOCKS = "paimon_distributed_locks"
_MAKE = (
    "CREATE TABLE paimon_distributed_locks(lock_id VARCHAR({longest}) NOT NULL,"
    "acquired_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL,expire_time_seconds BIGINT DEFAULT 0 NOT NULL,"
    "PRIMARY KEY (lock_id))"
)
_AGE = {
    "sqlite": "strftime('%s', 'now') - strftime('%s', acquired_at)",
    "postgresql": "EXTRACT(EPOCH FROM AGE(NOW(), acquired_at))",
    "mysql": "TIMESTAMPDIFF(SECOND, acquired_at, NOW())",
}
"""Seconds since a lock was taken, by the database's own clock."""


def make_lock_table(database: Database, longest: int) -> None:
    """Make the table of locks unless it is there; `longest` is the most characters of a lock's name."""
    make_table(database, LOCKS, _MAKE.format(longest=int(longest)))


@dataclass(frozen=True)
class JdbcLock:
    """One table's lock. A holder that died keeps it for the longest wait, then anybody may take it, as in Java."""

    database: Database
    lock_id: str
    """`<catalog key>.<database>.<table>`."""
    patience: Patience

    @contextmanager
    def held(self) -> Iterator[None]:
        self.patience.wait(self._take, self.lock_id, self._why)
        try:
            yield
        finally:
            with let_go(self.lock_id):
                self.database.change(f"DELETE FROM {LOCKS} WHERE lock_id = :id", id=self.lock_id)

    def _why(self) -> str:
        return f"another writer is at work, or died: its row in {LOCKS} goes by itself in the same time"

    def _take(self) -> bool:
        from sqlalchemy.exc import IntegrityError

        # Looked at first: most often there is no such row, and a DELETE would make every waiter a writer.
        age = f"{_AGE[self.database.dialect]} > expire_time_seconds"
        if self.database.ask(f"SELECT 1 FROM {LOCKS} WHERE {age} AND lock_id = :id", id=self.lock_id):
            self.database.change(f"DELETE FROM {LOCKS} WHERE {age} AND lock_id = :id", id=self.lock_id)
        try:
            self.database.change(
                f"INSERT INTO {LOCKS} (lock_id, expire_time_seconds) VALUES (:id, :expires)",
                id=self.lock_id,
                expires=self.patience.timeout_ms // 1000,
            )
        except IntegrityError:
            return False
        return True
