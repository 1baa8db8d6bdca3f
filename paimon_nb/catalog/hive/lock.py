"""A table's exclusive lock in a Hive metastore, which queues waiters.

Source: Paimon 1.3 `HiveCatalogLock.java`; Hive's `hive_metastore.thrift` (lock, check_lock, unlock, show_locks).
"""

from __future__ import annotations

import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from paimon_nb.base.errors import StoreError
from paimon_nb.catalog.hive.client import HiveMetastoreClient, NotFound, Refused, user
from paimon_nb.catalog.locks import LockWait, log_release_errors


@dataclass(frozen=True)
class HiveLock:
    """One table's lock, requested as Java's writers do; granted in order of request."""

    client: HiveMetastoreClient
    database: str
    table: str
    """The table name with its branch: `t$branch_b`."""
    lock_wait: LockWait

    @property
    def name(self) -> str:
        return f"{self.database}.{self.table}"

    @contextmanager
    def held(self) -> Iterator[None]:
        agent = f"paimon_nb {uuid.uuid4().hex}"  # identifies our request, also if the reply was lost
        try:
            number = self._acquire(agent)
        except BaseException:
            self._leave(agent)  # an abandoned request would block all later ones
            raise
        try:
            yield
        finally:
            with log_release_errors(self.name):
                self._unlock(number)

    def _acquire(self, agent: str) -> int:
        from hive_metastore import ttypes

        number: int | None = None

        def take() -> bool:
            nonlocal number
            try:
                if number is None:
                    answer = self._request(agent)
                else:
                    answer = self.client.query("check_lock", ttypes.CheckLockRequest(lockid=number))
            except NotFound:  # the metastore dropped our request after its timeout
                number = None
                return False
            number = answer.lockid
            return bool(answer.state == ttypes.LockState.ACQUIRED)

        self.lock_wait.until(take, self.name, self._holder)
        assert number is not None
        return number

    def _request(self, agent: str) -> Any:
        from hive_metastore import ttypes

        component = ttypes.LockComponent(
            type=ttypes.LockType.EXCLUSIVE, level=ttypes.LockLevel.TABLE, dbname=self.database, tablename=self.table
        )
        component.operationType = None  # as in Java: metastores before Hive 2 do not have this field
        request = ttypes.LockRequest(component=[component], user=user(), hostname=socket.gethostname(), agentInfo=agent)
        try:
            return self.client.execute("lock", request)
        except Refused as error:
            raise Refused(
                f"the Hive metastore {self.client.address} rejected the lock request: {error.text}",
                hint="it needs the transaction tables of Hive's schematool; if only paimon_nb writes, disable locks with "
                "'lock.enabled' = 'false'",
                text=error.text,
            ) from None

    def _unlock(self, number: int) -> None:
        from hive_metastore import ttypes

        self.client.query("unlock", ttypes.UnlockRequest(lockid=number))

    def _queue(self) -> list[Any]:
        """The lock's holder and waiters, in order."""
        from hive_metastore import ttypes

        response = self.client.query("show_locks", ttypes.ShowLocksRequest(dbname=self.database, tablename=self.table))
        return sorted(response.locks, key=lambda lock: lock.lockid)

    def _leave(self, agent: str) -> None:
        with suppress(StoreError):
            for lock in self._queue():
                if lock.agentInfo == agent:
                    self._unlock(lock.lockid)

    def _holder(self) -> str:
        from hive_metastore import ttypes

        who = "the holder is unknown"
        with suppress(StoreError):
            for lock in self._queue():
                if lock.state == ttypes.LockState.ACQUIRED:
                    who = f"held by {lock.user} on {lock.hostname} (lock {lock.lockid})"
        return f"{who}: try again, or raise 'lock-acquire-timeout'. A dead writer's lock expires after the metastore's hive.txn.timeout"
