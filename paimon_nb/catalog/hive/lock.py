"""A table's lock in a Hive metastore: an exclusive one, for which the metastore keeps a queue.

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
from paimon_nb.catalog.locks import Patience, let_go


@dataclass(frozen=True)
class HiveLock:
    """One table's lock, asked for as Java's writers do: who comes later stands behind, in the order of coming."""

    metastore: HiveMetastoreClient
    database: str
    table: str
    """With its branch: `t$branch_b`."""
    patience: Patience

    @property
    def name(self) -> str:
        return f"{self.database}.{self.table}"

    @contextmanager
    def held(self) -> Iterator[None]:
        agent = f"paimon_nb {uuid.uuid4().hex}"  # by it we know our place in the queue, also when the reply was lost
        try:
            number = self._acquire(agent)
        except BaseException:
            self._leave(agent)  # who waits no longer would still keep all that come later from the table
            raise
        try:
            yield
        finally:
            with let_go(self.name):
                self._unlock(number)

    def _acquire(self, agent: str) -> int:
        from hive_metastore import ttypes

        number: int | None = None

        def take() -> bool:
            nonlocal number
            try:
                if number is None:
                    answer = self._ask_for_it(agent)
                else:
                    answer = self.metastore.ask("check_lock", ttypes.CheckLockRequest(lockid=number))
            except NotFound:  # we were asleep for so long that the metastore took us for dead
                number = None
                return False
            number = answer.lockid
            return bool(answer.state == ttypes.LockState.ACQUIRED)

        self.patience.wait(take, self.name, self._keeper)
        assert number is not None
        return number

    def _ask_for_it(self, agent: str) -> Any:
        from hive_metastore import ttypes

        what = ttypes.LockComponent(
            type=ttypes.LockType.EXCLUSIVE, level=ttypes.LockLevel.TABLE, dbname=self.database, tablename=self.table
        )
        what.operationType = None  # as in Java: metastores before Hive 2 know no such field
        request = ttypes.LockRequest(component=[what], user=user(), hostname=socket.gethostname(), agentInfo=agent)
        try:
            return self.metastore.change("lock", request)
        except Refused as error:
            raise Refused(
                f"the Hive metastore {self.metastore.place} gives no lock: {error.text}",
                hint="it needs the tables for transactions that Hive's schematool makes; where only paimon_nb writes, "
                "'lock.enabled' = 'false' does without",
                text=error.text,
            ) from None

    def _unlock(self, number: int) -> None:
        from hive_metastore import ttypes

        self.metastore.ask("unlock", ttypes.UnlockRequest(lockid=number))

    def _queue(self) -> list[Any]:
        """Who has the lock or waits for it, in order."""
        from hive_metastore import ttypes

        shown = self.metastore.ask("show_locks", ttypes.ShowLocksRequest(dbname=self.database, tablename=self.table))
        return sorted(shown.locks, key=lambda lock: lock.lockid)

    def _leave(self, agent: str) -> None:
        with suppress(StoreError):
            for lock in self._queue():
                if lock.agentInfo == agent:
                    self._unlock(lock.lockid)

    def _keeper(self) -> str:
        from hive_metastore import ttypes

        who = "nobody says who has it"
        with suppress(StoreError):
            for lock in self._queue():
                if lock.state == ttypes.LockState.ACQUIRED:
                    who = f"{lock.user} on {lock.hostname} has it (lock {lock.lockid})"
        return f"{who}: try again, or raise 'lock-acquire-timeout'. A dead writer's goes after the metastore's hive.txn.timeout"
