"""Work on many items in threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from os import cpu_count
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
R = TypeVar("R")


def run_in_threads(work: Callable[[T], R], items: Sequence[T], threads: int | None = None) -> list[R]:
    """`work` on every item in threads of the driver, as many as cores if None; results in the order of the items."""
    if len(items) < 2:
        return [work(item) for item in items]
    with ThreadPoolExecutor(min(len(items), threads or cpu_count() or 1)) as pool:
        futures = [pool.submit(copy_context().run, work, item) for item in items]
    return [future.result() for future in futures]
