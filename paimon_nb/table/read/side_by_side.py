"""Independent pieces of work, in threads where they pay off: an object store answers each request late."""

from __future__ import annotations

from contextvars import copy_context
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paimon_nb.fs import FileIO

A = TypeVar("A")
B = TypeVar("B")
LIGHT = 1 << 20
"""Below this many bytes a disk or memory is read faster without threads."""


def in_threads_on_object_store(fs: FileIO, *work: Callable[[], Any]) -> list[Any]:
    """The results of independent pieces of work: in threads for an object store, else one after the other.

    All end before an error, the first one in this order, is raised.
    """
    if not fs.is_object_store:
        return [one() for one in work]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(work)) as pool:
        futures = [pool.submit(copy_context().run, one) for one in work]
    return [future.result() for future in futures]


def map_in_threads(fs: FileIO, work: Callable[[A], B], items: Sequence[A], size: int, threads: int) -> list[B]:
    """`work` of each item, in order, in threads where they pay off.

    Args:
        fs: where the items are read. size: total bytes. threads: maximum number.
    """
    if len(items) <= 1 or threads <= 1 or (size <= LIGHT and not fs.is_object_store):
        return [work(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(threads, len(items))) as pool:
        return list(pool.map(work, items))
