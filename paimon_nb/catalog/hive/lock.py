"""A table's exclusive lock in a Hive metastore, which queues waiters.

Source: Paimon 1.3 `HiveCatalogLock.java`; Hive's `hive_metastore.thrift` (lock, check_lock, unlock, show_locks).
"""

from __future__ import annotations

import socket
import uuid
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import StoreError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.catalog.hive.client import HiveMetastoreClient, NotFound, Refused, user
from paimon_nb.catalog.locks import LockWait, log_release_errors

if TYPE_CHECKING:
    from collections.abc import Iterator


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
            number = self._wait_for_lock(agent)
        except BaseException:
            self._cancel_request(agent)  # an abandoned request would block all later ones
            raise
        try:
            yield
        finally:
            with log_release_errors(self.name):
                self._unlock(number)

    def _wait_for_lock(self, agent: str) -> int:
        from hive_metastore import ttypes

        lock_id: int | None = None

        def is_acquired() -> bool:
            nonlocal lock_id
            try:
                if lock_id is None:
                    response = self._request_lock(agent)
                else:
                    response = self.client.query("check_lock", ttypes.CheckLockRequest(lockid=lock_id))
            except NotFound:  # the metastore dropped our request after its timeout
                lock_id = None
                return False
            lock_id = response.lockid
            return bool(response.state == ttypes.LockState.ACQUIRED)

        self.lock_wait.acquire_within_timeout(is_acquired, self.name, self._holder_text)
        assert lock_id is not None
        return lock_id

    def _request_lock(self, agent: str) -> Any:
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

    def _unlock(self, lock_id: int) -> None:
        from hive_metastore import ttypes

        self.client.query("unlock", ttypes.UnlockRequest(lockid=lock_id))

    def _holder_and_waiters(self) -> list[Any]:
        """The lock's holder and waiters, in order."""
        from hive_metastore import ttypes

        response = self.client.query("show_locks", ttypes.ShowLocksRequest(dbname=self.database, tablename=self.table))
        return sorted(response.locks, key=lambda lock: lock.lockid)

    def _cancel_request(self, agent: str) -> None:
        with suppress(StoreError):
            for lock in self._holder_and_waiters():
                if lock.agentInfo == agent:
                    self._unlock(lock.lockid)

    def _holder_text(self) -> str:
        from hive_metastore import ttypes

        who = "the holder is unknown"
        with suppress(StoreError):
            for lock in self._holder_and_waiters():
                if lock.state == ttypes.LockState.ACQUIRED:
                    who = f"held by {lock.user} on {lock.hostname} (lock {lock.lockid})"
        return f"{who}: try again, or raise 'lock-acquire-timeout'. A dead writer's lock expires after the metastore's hive.txn.timeout"
