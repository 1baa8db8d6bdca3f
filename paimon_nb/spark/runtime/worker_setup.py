"""What makes tasks in a Python worker small, and the next one start at once instead of after 0.4 s. Knows Spark's habits only.

Arrow's usual allocator keeps much of what large flushes gave back: a writing task of 20 million rows took 733 MB with it and
takes 590 MB with jemalloc, in the same time.

At the start of every task a worker calls `importlib.invalidate_caches()`. Before Python 3.13 that makes each `zipimporter`
read its file's directory again, entry by entry, and Spark puts `pyspark.zip` with its 1,700 entries on the workers' path.
An importer that is forgotten is made again by the next import that looks there, from the directory that zipimport still has.

Between two tasks a worker collects garbage, and so walks through all that was ever imported, unless that is frozen.
"""

from __future__ import annotations

import gc
import os
import sys
from zipimport import zipimporter

import pyarrow as pa

_frozen = False


def small() -> None:
    """To be called at a task's start, inside the worker: Arrow takes memory from jemalloc, unless somebody chose otherwise."""
    if "ARROW_DEFAULT_MEMORY_POOL" not in os.environ and "jemalloc" in pa.supported_memory_backends():
        pa.set_memory_pool(pa.jemalloc_memory_pool())


def ready_for_the_next() -> None:
    """To be called at a task's end, inside the worker."""
    global _frozen
    for path, importer in list(sys.path_importer_cache.items()):
        if isinstance(importer, zipimporter):
            sys.path_importer_cache.pop(path, None)
    if not _frozen:  # once: the first task has imported nearly everything, and later garbage is to be collected
        gc.collect()
        gc.freeze()
        _frozen = True
