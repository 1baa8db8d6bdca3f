"""What catalogs' locks have in common: where there is one, how long a writer waits for it, what is said when it stays taken."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from paimon_nb.base.errors import BadOptionValue, CommitGaveUp, StoreError
from paimon_nb.fs import RootedFileIO
from paimon_nb.options import TableOptions
from paimon_nb.options import catalog as opt

_FIRST_SLEEP_MS = 50
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Patience:
    """How long a writer waits for a lock, and how often it looks."""

    timeout_ms: int
    longest_sleep_ms: int

    def wait(self, take: Callable[[], bool], lock: str, why: Callable[[], str]) -> None:
        """Try `take` until it is true. `why`: who keeps the lock, and what can be done.

        Raises: CommitGaveUp: never within the time. Facts: `lock`, its name.
        """
        start, sleep = time.monotonic(), float(_FIRST_SLEEP_MS)
        while not take():
            if (time.monotonic() - start) * 1000 > self.timeout_ms:
                raise CommitGaveUp(
                    f"the lock {lock!r} was not free for {self.timeout_ms // 1000} s", hint=why(), lock=lock
                )
            # Waiters that wake at different times do not fall over each other again.
            time.sleep(random.uniform(sleep / 2, sleep) / 1000)
            sleep = min(sleep * 2, self.longest_sleep_ms)


@contextmanager
def let_go(lock: str) -> Iterator[None]:
    """The end of a lock: what was done under it is done, so an error here is told and stops nobody."""
    try:
        yield
    except StoreError as error:
        _log.warning("the lock %r could not be given back: %s", lock, error)


def patience_of(options: Mapping[str, str], fs: RootedFileIO, kind: str) -> Patience | None:
    """How long writers of a catalog wait for its locks, which are of this kind; None where it has none.

    Java's rule: a lock where the user asks for one, else on object stores only. Source: Paimon `AbstractCatalog.java`
    (lockEnabled). Raises BadOptionValue: another kind is asked for.
    """
    given = TableOptions(options)
    wanted = given.get(opt.LOCK_ENABLED)
    if not (fs.is_object_store if wanted is None else wanted):
        return None
    if (other := given.get(opt.LOCK_TYPE) or kind) != kind:
        raise BadOptionValue(
            f"a catalog of metastore {kind!r} has no lock of type {other!r}",
            hint="leave 'lock.type' out",
            option="lock.type",
            value=other,
        )
    return Patience(given.get(opt.LOCK_ACQUIRE_TIMEOUT), given.get(opt.LOCK_CHECK_MAX_SLEEP))
