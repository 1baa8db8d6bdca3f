"""What a merge-on-read query costs driver and executors: `python -m benchmarks.driver --rows 2000000,20000000`.

The query runs on a standalone Spark cluster of this machine, so that the driver is a process of its own. Counted are its Python and its JVM,
without the executors: CPU seconds from process start, and the sum of their highest resident memory. Each table has 16 buckets of 4 runs.
With `partial-update-nulls` each later run has NULL in one of the two other columns.

Another process asks for the executors' part: CPU seconds of their JVMs and Python workers for the query, and for the same aggregates over a
plain Parquet scan of the same files. Both are asked twice. The second answers count, when code is compiled and workers run; the first query
reads the table by another path, so that no position is known from it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import paimon_nb
from benchmarks import own_process
from benchmarks.processes import CpuBelow, cpu_seconds, highest_of_descendants
from paimon_nb.spark.runtime.jvm_cds import sharing_option

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "servers"))
from spark_cluster import spark_cluster

RUNS, BUCKETS = 4, 16
QUERY = "SELECT count(*) AS n, sum(v) AS v, max(s) AS s FROM {}"
_OPTIONS = {
    "deduplicate": {},
    "partial-update": {"merge-engine": "partial-update"},
    "partial-update-nulls": {"merge-engine": "partial-update"},
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.driver", description=__doc__)
    parser.add_argument("--rows", default="2000000,20000000", help="sizes of the tables (default %(default)s)")
    parser.add_argument("--engine", choices=list(_OPTIONS), default="deduplicate")
    parser.add_argument("--text", action="store_true", help="text keys")
    parser.add_argument("--repeat", type=int, default=3, help="processes per table (default %(default)s)")
    parser.add_argument("--dir", help="where to work (default: a temporary directory, removed at the end)")
    parser.add_argument("--tables", help="a directory whose tables are made once and kept")
    arguments = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="paimon_nb-driver-", dir=arguments.dir))
    code = "import sys; from benchmarks import driver; driver.{}(*sys.argv[1:])"
    kind = f"{arguments.engine}{'-text' if arguments.text else ''}"
    kept = Path(arguments.tables) / kind if arguments.tables else directory
    try:
        for rows in map(int, arguments.rows.split(",")):
            warehouse = kept / str(rows)
            if not warehouse.exists():
                nulls = arguments.engine == "partial-update-nulls"
                _make_table(warehouse, rows, text=arguments.text, nulls=nulls, options=_OPTIONS[arguments.engine])
            for _ in range(arguments.repeat):
                with spark_cluster(directory) as cluster:
                    of_driver = (code.format("ask"), str(warehouse), cluster.url, str(rows))
                    print(own_process.run(sys.executable, *of_driver), flush=True)
                with spark_cluster(directory) as cluster:
                    of_executors = (code.format("ask_executors"), *of_driver[1:2], cluster.url, str(rows))
                    print(own_process.run(sys.executable, *of_executors, str(cluster.worker)), flush=True)
            if not arguments.tables:
                shutil.rmtree(warehouse)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return 0


def _make_table(warehouse: Path, rows: int, *, text: bool, nulls: bool, options: dict[str, str]) -> None:
    """`rows` stored rows: three quarters of the keys once, the others also in three more runs.

    Args:
        nulls: later runs have NULL in one of the columns `v` and `s`.
    """
    wb = paimon_nb.connect(str(warehouse))
    given = {"bucket": str(BUCKETS), "write-only": "true", **options}
    listed = ", ".join(f"'{k}' = '{v}'" for k, v in given.items())
    kind = "STRING" if text else "BIGINT"
    wb.run(f"CREATE TABLE t (k {kind}, v BIGINT, s STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ({listed})")
    first = rows * 3 // 4
    more = (rows - first) // (RUNS - 1)
    for run in range(RUNS):
        keys = np.arange(first) if run == 0 else np.arange(run, first, first // more)[:more]
        for start in range(0, len(keys), 2_000_000):
            part = keys[start : start + 2_000_000]
            names = pa.array(part).cast(pa.string())
            # Keys of a load ascend in either type, so that its files are one run.
            keys_of_part = pc.binary_join_element_wise("order-", pc.utf8_lpad(names, 10, "0"), "") if text else part
            columns = {"k": keys_of_part, "v": pa.array(part + run), "s": names}
            if nulls and run:
                missing = "v" if run % 2 else "s"
                columns[missing] = pa.nulls(len(part), columns[missing].type)
            wb.table("t").upsert(pa.table(columns))
    wb.close()


def ask(warehouse: str, master: str, rows: str) -> None:
    """Ask in this process, and print what it took as JSON."""
    began = time.perf_counter()
    wb = _connect(warehouse, master)
    [answer] = wb.sql(QUERY.format("t")).collect()
    found = {
        "rows": int(rows),
        "cpu": round(cpu_seconds() or 0, 2),
        "memory": round(highest_of_descendants() / 1e6),
        "seconds": round(time.perf_counter() - began, 1),
        "answer": [*answer],
    }
    wb.close()
    print(json.dumps(found))


def ask_executors(warehouse: str, master: str, rows: str, worker: str) -> None:
    """Ask with a plain scan and with the query, twice each, and print what the executors took as JSON."""
    wb = _connect(warehouse, master)
    table = next(p for p in Path(warehouse).glob("*.db/t"))
    again = table.with_name("again")
    again.unlink(missing_ok=True)
    again.symlink_to(table)
    files = [str(p) for p in table.glob("bucket-*/*.parquet")]
    plain = wb.spark.read.parquet(*files)
    plain.createOrReplaceTempView("plain")
    found: dict[str, float] = {"rows": int(rows)}
    try:
        with CpuBelow(int(worker)) as executors:
            for turn, name in (("first", "again"), ("second", "t")):
                for what, query in (("native", "plain"), ("merged", name)):
                    before, began = executors.seconds(), time.perf_counter()
                    (wb.spark.sql if what == "native" else wb.sql)(QUERY.format(query)).collect()
                    found[f"{turn} {what} seconds"] = round(time.perf_counter() - began, 1)
                    found[f"{turn} {what} cpu"] = round(executors.seconds() - before, 2)
    finally:
        again.unlink()
    wb.close()
    found["ratio"] = round(found["second merged cpu"] / found["second native cpu"], 2)
    print(json.dumps(found))


def _connect(warehouse: str, master: str) -> paimon_nb.Workbench:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).config("spark.driver.host", "127.0.0.1")
    spark = builder.config("spark.driver.extraJavaOptions", sharing_option()).getOrCreate()
    wb = paimon_nb.connect(warehouse, spark=spark)
    wb.run("SET 'paimon-nb.engine' = 'spark'")
    return wb


if __name__ == "__main__":
    sys.exit(main())
