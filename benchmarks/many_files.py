"""Metadata of a table with a million files: `python -m benchmarks.many_files`. Peak memory and seconds of each operation.

The data files are empty: planning, `$files`, expiry and the search for orphan files read none of them. Each operation is a process of its own,
without Spark, and its answer is checked.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import paimon_nb
from benchmarks import own_process
from benchmarks.processes import cpu_seconds, highest

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.workbench import Workbench

COMMITS = 10
FILES_A_PARTITION = 100


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.many_files", description="Metadata operations on a table with many files."
    )
    parser.add_argument("--files", type=int, default=1_000_000, help="data files of the table (default %(default)s)")
    parser.add_argument("--dir", help="where to work (default: a temporary directory, removed at the end)")
    parser.add_argument("--only", choices=list(STEPS)[1:], help="run one operation after the table is made")
    arguments = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="paimon_nb-many-files-", dir=arguments.dir))
    missed: list[str] = []
    try:
        for name, (_, at_most_s, at_most_mb) in STEPS.items():
            if arguments.only not in (None, name) and name != "make":
                continue
            code = "import sys; from benchmarks import many_files; many_files.run_step(*sys.argv[1:])"
            found = json.loads(own_process.run(sys.executable, code, name, str(directory), str(arguments.files)))
            if found["peak"] > at_most_mb * 1e6 or found["seconds"] > at_most_s:
                missed.append(f"{name} (at most {at_most_mb:.0f} MB and {at_most_s:.0f} s)")
            print(
                f"{name:8} peak {found['peak'] / 1e6:5.0f} MB, {found['seconds']:6.1f} s, {found['cpu']:6.1f} s of CPU: {found['answer']}",
                flush=True,
            )
        print(f"above the limits: {', '.join(missed) or 'none'}")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return 1 if missed else 0


def run_step(name: str, directory: str, files: str) -> None:
    """Run an operation in this process, and print what it took as JSON."""
    wb = paimon_nb.connect(directory)
    began = time.perf_counter()
    answer = STEPS[name][0](wb, int(files))
    seconds = time.perf_counter() - began
    print(json.dumps({"peak": highest(), "seconds": seconds, "cpu": cpu_seconds() or 0, "answer": answer}))


def _make(wb: Workbench, files: int) -> str:
    """Partitions of a hundred files, in ten commits; the files have the key range and the statistics of one real file."""
    from paimon_nb.format.row import serialize
    from paimon_nb.table.write.commit import CommitMessage

    wb.run("CREATE TABLE t (p INT, k BIGINT, n INT, v STRING, PRIMARY KEY (p, k) NOT ENFORCED) PARTITIONED BY (p) WITH ('bucket' = '1', 'write-only' = 'true', 'fields.p.stats-mode' = 'none')")  # fmt: skip
    table = wb.table("t")
    rows = {
        "p": pa.array([0, 0], pa.int32()),
        "k": [1, 1000],
        "n": pa.array([5, 7], pa.int32()),
        "v": ["early", "late"],
    }
    with table.write() as writing:
        writing.write(pa.table(rows))
        (real,) = writing.prepare_commit()
    types, (pattern,) = [table.schema.field("p").type], real.new_files
    partitions = files // FILES_A_PARTITION
    for first in range(0, partitions, partitions // COMMITS):
        messages = []
        for partition in range(first, first + partitions // COMMITS):
            names = [
                f"data-{pattern.file_name[5:41]}-{partition * FILES_A_PARTITION + i}.parquet"
                for i in range(FILES_A_PARTITION)
            ]
            bucket = Path(table.path) / f"p={partition}" / "bucket-0"
            bucket.mkdir(parents=True, exist_ok=True)
            for name in names:
                (bucket / name).touch()
            added = tuple(replace(pattern, file_name=name) for name in names)
            messages.append(CommitMessage(serialize(types, (partition,)), 0, 1, new_files=added))
        table.commit().commit(messages)
    return f"{partitions * FILES_A_PARTITION:,} files in {partitions:,} partitions, {COMMITS} snapshots"


def _plan(wb: Workbench, files: int) -> str:
    partition = files // FILES_A_PARTITION // 2
    plan = wb.table("t").scan(f"p = {partition}").plan
    _check(len(plan.files), FILES_A_PARTITION)
    return f"{len(plan.files)} files of one partition"


def _files(wb: Workbench, files: int) -> str:
    found = wb.table("t").files()
    _check(found.num_rows, files)
    return f"{found.num_rows:,} rows, {found.nbytes / 1e6:.0f} MB"


def _orphans(wb: Workbench, _files: int) -> str:
    found = wb.run("CALL sys.remove_orphan_files(`table` => 'default.t', dry_run => true)").arrow
    _check(found.column(0).to_pylist(), ["0", "0"])  # files and bytes
    return "no orphan among them"


def _expire(wb: Workbench, _files: int) -> str:
    wb.run("CALL sys.expire_snapshots(`table` => 'default.t', retain_max => 1, retain_min => 1)")
    left = wb.table("t").snapshots().num_rows
    _check(left, 1)
    return f"{left} snapshot is left"


def _check(found: object, expected: object) -> None:
    if found != expected:
        raise AssertionError(f"{found}, expected {expected}")


STEPS: dict[str, tuple[Callable[[Any, int], str], float, float]] = {
    "make": (_make, float("inf"), float("inf")),
    "plan": (_plan, 5, 1000),
    "files": (_files, 30, 2000),
    "orphans": (_orphans, float("inf"), 1000),
    "expire": (_expire, float("inf"), 1000),
}
"""Operations in order, each with its limits in seconds and MB; the first makes the table."""


if __name__ == "__main__":
    sys.exit(main())
