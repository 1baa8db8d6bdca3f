"""Catalog locks: whether a catalog uses them, and how long a writer waits."""

from __future__ import annotations

import logging
import random
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue, CommitGaveUp, StoreError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.options import TableOptions
from paimon_nb.options import catalog as opt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from paimon_nb.fs import RootedFileIO

_FIRST_SLEEP_MS = 50
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LockWait:
    """Timeout and polling interval for acquiring a lock."""

    timeout_ms: int
    max_sleep_ms: int

    def acquire_within_timeout(self, take: Callable[[], bool], lock: str, why: Callable[[], str]) -> None:
        """Call `take` until it returns True.

        Args:
            why: returns the lock's holder and a hint.

        Raises:
            CommitGaveUp: the timeout expired. Facts: `lock`, its name.
        """
        start, sleep = time.monotonic(), float(_FIRST_SLEEP_MS)
        while not take():
            if (time.monotonic() - start) * 1000 > self.timeout_ms:
                raise CommitGaveUp(
                    f"lock {lock!r} could not be acquired in {self.timeout_ms // 1000} s", hint=why(), lock=lock
                )
            # Random sleeps avoid repeated collisions of waiters.
            time.sleep(random.uniform(sleep / 2, sleep) / 1000)
            sleep = min(sleep * 2, self.max_sleep_ms)


@contextmanager
def log_release_errors(lock: str) -> Iterator[None]:
    """Logs errors of releasing a lock: the work under the lock is already done."""
    try:
        yield
    except StoreError as error:
        _log.warning("lock %r could not be released: %s", lock, error)


def lock_wait_of(options: Mapping[str, str], fs: RootedFileIO, kind: str) -> LockWait | None:
    """The timeouts of a catalog's locks of this kind; None if the catalog uses no locks.

    As in Java, locks are used if enabled, else on object stores only. Source: Paimon `AbstractCatalog.java`
    (lockEnabled).

    Raises:
        BadOptionValue: the options ask for another kind of lock.
    """
    catalog_options = TableOptions(options)
    enabled = catalog_options.get(opt.LOCK_ENABLED)
    if not (fs.is_object_store if enabled is None else enabled):
        return None
    if (other := catalog_options.get(opt.LOCK_TYPE) or kind) != kind:
        raise BadOptionValue(
            f"a catalog of metastore {kind!r} has no lock of type {other!r}",
            hint="remove 'lock.type'",
            option="lock.type",
            value=other,
        )
    return LockWait(catalog_options.get(opt.LOCK_ACQUIRE_TIMEOUT), catalog_options.get(opt.LOCK_CHECK_MAX_SLEEP))
