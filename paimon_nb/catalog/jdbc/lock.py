"""Java's distributed lock: a row in `paimon_distributed_locks` that only one session can insert.

Source: Paimon 1.3 `JdbcCatalogLock.java`, `AbstractDistributedLockDialect.java` and its dialects.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.catalog.jdbc.metastore import create_table_if_missing
from paimon_nb.catalog.locks import LockWait, log_release_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.catalog.jdbc.database import Database

LOCKS = "paimon_distributed_locks"
_CREATE = (
    "CREATE TABLE paimon_distributed_locks(lock_id VARCHAR({max_length}) NOT NULL,"
    "acquired_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL,expire_time_seconds BIGINT DEFAULT 0 NOT NULL,"
    "PRIMARY KEY (lock_id))"
)
_AGE = {
    "sqlite": "strftime('%s', 'now') - strftime('%s', acquired_at)",
    "postgresql": "EXTRACT(EPOCH FROM AGE(NOW(), acquired_at))",
    "mysql": "TIMESTAMPDIFF(SECOND, acquired_at, NOW())",
}
"""Seconds since a lock was acquired, by the database's clock."""


def create_lock_table(database: Database, max_length: int) -> None:
    """Create the lock table if it does not exist; `max_length`: of lock names."""
    create_table_if_missing(database, LOCKS, _CREATE.format(max_length=int(max_length)))


@dataclass(frozen=True)
class JdbcLock:
    """One table's lock. As in Java, it expires after the lock timeout, also if its holder died."""

    database: Database
    lock_id: str
    """`<catalog key>.<database>.<table>`."""
    lock_wait: LockWait

    @contextmanager
    def held(self) -> Iterator[None]:
        self.lock_wait.acquire_within_timeout(self._try_acquire, self.lock_id, self._timeout_hint)
        try:
            yield
        finally:
            with log_release_errors(self.lock_id):
                self.database.execute(f"DELETE FROM {LOCKS} WHERE lock_id = :id", id=self.lock_id)

    def _timeout_hint(self) -> str:
        return f"another writer holds it, or died: its row in {LOCKS} expires after the same time"

    def _try_acquire(self) -> bool:
        from sqlalchemy.exc import IntegrityError

        # Queried first: mostly there is no expired row, and a DELETE would need a write lock.
        is_expired = f"{_AGE[self.database.dialect]} > expire_time_seconds"
        if self.database.query(f"SELECT 1 FROM {LOCKS} WHERE {is_expired} AND lock_id = :id", id=self.lock_id):
            self.database.execute(f"DELETE FROM {LOCKS} WHERE {is_expired} AND lock_id = :id", id=self.lock_id)
        try:
            self.database.execute(
                f"INSERT INTO {LOCKS} (lock_id, expire_time_seconds) VALUES (:id, :expires)",
                id=self.lock_id,
                expires=self.lock_wait.timeout_ms // 1000,
            )
        except IntegrityError:
            return False
        return True
