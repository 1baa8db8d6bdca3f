"""The process from which Spark forks its Python workers, as `python -m paimon_nb.spark.worker_daemon pyspark.worker`.

It imports what tasks need before it forks. With `pyspark.daemon`, each worker imports pandas, Arrow and this package in its
first task, which costs 0.6 s of CPU per worker.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from runpy import run_module

_TASK_MODULES = ("pandas", "pyarrow.parquet", "paimon_nb.spark.scan.located_rows", "paimon_nb.spark.write.table_write")
"""They import all others that a task of a query or a write needs."""


def main() -> None:
    """Import the modules of tasks if the workers run tasks, then fork workers until Spark closes standard input."""
    if sys.argv[1:2] == ["pyspark.worker"]:  # planners of data sources end after one call
        for module in _TASK_MODULES:
            import_module(module)
    gc.collect()
    gc.freeze()  # the collector of a worker then leaves the memory that it shares with this process
    run_module("pyspark.daemon", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
