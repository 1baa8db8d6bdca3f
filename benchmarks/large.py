"""A table much larger than memory: `python -m benchmarks.large --gb 20 --files 100`. Peak memory and seconds of each operation.

Its size is that of the decoded rows, as Arrow holds them: the files are about a twentieth of it, so that both the table and its copy fit on a
small disk. Each operation is a process of its own, without Spark, and its rows are checked.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

import paimon_nb
from benchmarks import own_process
from benchmarks.processes import cpu_seconds, highest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from paimon_nb.workbench import Workbench

COLUMNS = "k BIGINT NOT NULL, n INT, x DOUBLE, s STRING"
SCHEMA = pa.schema(
    [pa.field("k", pa.int64(), nullable=False), ("n", pa.int32()), ("x", pa.float64()), ("s", pa.string())]
)
GROUPS, TEXT_BYTES, BATCH_ROWS = 1000, 100, 100_000
ROW_BYTES = 8 + 4 + 8 + 4 + TEXT_BYTES
"""Decoded; a string also has an offset of 4 bytes."""
AT_MOST_MB = 600
FREE_BYTES_OF_GB = 0.1e9
"""Free disk that a table of one decoded gigabyte and its copy need, with a reserve."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large", description="Memory of work on a large table.")
    parser.add_argument("--gb", type=float, default=20, help="decoded size of the table (default %(default)s)")
    parser.add_argument("--files", type=int, default=100, help="data files of the table (default %(default)s)")
    parser.add_argument("--dir", help="where to work (default: a temporary directory, removed at the end)")
    arguments = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="paimon_nb-large-", dir=arguments.dir))
    needed, free = arguments.gb * FREE_BYTES_OF_GB, shutil.disk_usage(directory).free
    if free < needed:
        parser.error(f"{directory} has {free / 1e9:.1f} GB free, and {needed / 1e9:.1f} GB are needed; pass --dir")
    rows_of_file = round(arguments.gb * 1e9 / arguments.files / ROW_BYTES / BATCH_ROWS) * BATCH_ROWS or BATCH_ROWS
    missed = 0
    try:
        for name in STEPS:
            code = "import sys; from benchmarks import large; large.run_step(*sys.argv[1:])"
            said = own_process.run(sys.executable, code, name, str(directory), str(rows_of_file), str(arguments.files))
            found = json.loads(said)
            missed += found["peak"] > AT_MOST_MB * 1e6
            print(
                f"{name:12} peak {found['peak'] / 1e6:5.0f} MB, {found['seconds']:7.1f} s, {found['cpu']:7.1f} s of CPU: {found['answer']}",
                flush=True,
            )
        stored = sum(f.stat().st_size for f in directory.rglob("*.parquet"))
        print(f"{stored / 1e9:.2f} GB on disk; operations above {AT_MOST_MB} MB: {missed}")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return min(missed, 1)


def run_step(name: str, directory: str, rows_of_file: str, files: str) -> None:
    """Run an operation in this process, and print what it took as JSON."""
    began, wb = time.perf_counter(), paimon_nb.connect(directory)
    answer = STEPS[name](wb, int(rows_of_file), int(files))
    assert not wb.session.spark_started
    seconds = time.perf_counter() - began
    print(json.dumps({"peak": highest(), "seconds": seconds, "cpu": cpu_seconds() or 0, "answer": answer}))


def _fill(wb: Workbench, rows_of_file: int, files: int) -> str:
    wb.run(f"CREATE TABLE source ({COLUMNS}) WITH ('target-file-size' = '1 gb')")
    table = wb.table("source")
    for number in range(files):
        batches = _batches(number * rows_of_file, rows_of_file)
        table.append(pa.RecordBatchReader.from_batches(SCHEMA, batches))
    stored = table.files()
    assert stored.num_rows == files
    return f"{rows_of_file * files:,} rows in {files} files"


def _batches(first: int, rows: int) -> Iterator[pa.RecordBatch]:
    """Rows whose key counts up; the other columns follow from it."""
    texts = pa.array([f"{n:0{TEXT_BYTES}}" for n in range(GROUPS)])
    for start in range(first, first + rows, BATCH_ROWS):
        keys = np.arange(start, start + BATCH_ROWS)
        groups = (keys % GROUPS).astype(np.int32)
        columns = [pa.array(keys), pa.array(groups), pa.array(groups / 4), texts.take(pa.array(groups))]
        yield pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def _read(wb: Workbench, rows_of_file: int, files: int) -> str:
    rows = size = 0
    for batch in wb.table("source").to_batches():
        rows, size = rows + batch.num_rows, size + batch.nbytes
    _check(rows, rows_of_file * files)
    return f"{rows:,} rows, {size / 1e9:.1f} GB decoded"


def _filter(wb: Workbench, rows_of_file: int, files: int) -> str:
    found = 0
    for batch in wb.table("source").where("n = 7 AND x < 2").to_batches():
        found += batch.num_rows
    _check(found, rows_of_file * files // GROUPS)
    return f"{found:,} rows of n = 7"


def _count(wb: Workbench, rows_of_file: int, files: int) -> str:
    table, rows = wb.table("source"), rows_of_file * files
    found = table.count(), table.where("n < 500").count()
    _check(found, (rows, rows // 2))
    return f"{found[0]:,} rows, {found[1]:,} of n < 500"


def _aggregate(wb: Workbench, rows_of_file: int, files: int) -> str:
    answer = wb.run("SELECT n, count(*) AS c, sum(x) AS x, max(s) AS s FROM source GROUP BY n ORDER BY n").arrow
    each = rows_of_file * files // GROUPS
    _check(answer.column("c").to_pylist(), [each] * GROUPS)
    _check(answer.column("x").to_pylist(), [each * n / 4 for n in range(GROUPS)])
    return f"{answer.num_rows:,} groups"


def _copy(wb: Workbench, rows_of_file: int, files: int) -> str:
    wb.run(f"CREATE TABLE target ({COLUMNS})")
    target = wb.table("target")
    target.append(wb.table("source"))
    counts = target.files().column("record_count").to_pylist()
    _check(sum(counts), rows_of_file * files)
    return f"{sum(counts):,} rows in {len(counts)} files"


def _check(found: object, expected: object) -> None:
    if found != expected:
        raise AssertionError(f"{found}, expected {expected}")


STEPS: dict[str, Callable[[Any, int, int], str]] = {
    "fill": _fill,
    "read": _read,
    "filter": _filter,
    "count": _count,
    "aggregate": _aggregate,
    "copy": _copy,
}
"""Operations in order; the first makes the table."""


if __name__ == "__main__":
    sys.exit(main())
