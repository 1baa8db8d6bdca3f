"""Processes that write to one table at once."""

from __future__ import annotations

import multiprocessing
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext

_IMPORTED = (
    "pytest",
    "pyarrow.parquet",
    "boto3",
    "paimon_nb.catalog",
    "paimon_nb.table.write.commit",
    "paimon_nb.table.write",
)


@cache
def process_context() -> ForkServerContext:
    """For new processes without any state of this one: forks of a process that only imported packages, once for all."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_IMPORTED))
    return context
