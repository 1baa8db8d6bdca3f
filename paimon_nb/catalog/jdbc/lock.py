"""Java's distributed lock: a row in `paimon_distributed_locks` that one session can insert.

Source: Paimon 1.3 `JdbcCatalogLock.java`, `AbstractDistributedLockDialect.java` and its dialects.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from paimon_nb.base.errors import CommitGaveUp
from paimon_nb.catalog.jdbc.database import Database
from paimon_nb.catalog.jdbc.register import make_table

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
_FIRST_SLEEP_MS = 50


def make_lock_table(database: Database, longest: int) -> None:
    """Make the table of locks unless it is there; `longest` is the most characters of a lock's name."""
    make_table(database, LOCKS, _MAKE.format(longest=int(longest)))


@dataclass(frozen=True)
class JdbcLock:
    """One table's lock. A holder that died keeps it for `timeout_ms`, then anybody may take it, as in Java."""

    database: Database
    lock_id: str
    """`<catalog key>.<database>.<table>`."""
    timeout_ms: int
    longest_sleep_ms: int

    @contextmanager
    def held(self) -> Iterator[None]:
        self._acquire()
        try:
            yield
        finally:
            self.database.change(f"DELETE FROM {LOCKS} WHERE lock_id = :id", id=self.lock_id)

    def _acquire(self) -> None:
        start, sleep = time.monotonic(), float(_FIRST_SLEEP_MS)
        while not self._take():
            if (time.monotonic() - start) * 1000 > self.timeout_ms:
                raise CommitGaveUp(
                    f"the lock {self.lock_id!r} was not free for {self.timeout_ms // 1000} s",
                    hint=f"another writer is at work, or died: its row in {LOCKS} goes by itself in the same time",
                    lock=self.lock_id,
                )
            # Waiters that wake at different times do not fall over each other again.
            time.sleep(random.uniform(sleep / 2, sleep) / 1000)
            sleep = min(sleep * 2, self.longest_sleep_ms)

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
                expires=self.timeout_ms // 1000,
            )
        except IntegrityError:
            return False
        return True
