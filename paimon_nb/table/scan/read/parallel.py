"""Reads several files in parallel where threads pay off. Knows nothing of tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from paimon_nb.fs import FileIO

A = TypeVar("A")
B = TypeVar("B")
LIGHT = 1 << 20
"""Below this many bytes a disk or memory is read faster without threads. An object store answers each call late."""


def side_by_side(fs: FileIO, work: Callable[[A], B], items: Sequence[A], size: int, threads: int) -> list[B]:
    """`work` of each item, in order.

    Args:
        fs: where the items are read. size: total bytes. threads: maximum number.
    """
    if len(items) <= 1 or threads <= 1 or (size <= LIGHT and not fs.is_object_store):
        return [work(item) for item in items]
    with ThreadPoolExecutor(min(threads, len(items))) as pool:
        return list(pool.map(work, items))
