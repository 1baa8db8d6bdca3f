"""TPC-H's 22 queries, displayed: `python -m benchmarks.tpch --scale 1`. Ours without a JVM, plain Spark and DuckDB over the same Parquet files.

The rows are those of `tpchgen-cli` (PyPI). Our tables have one run of files, as a load makes them. Each contender answers each query in turn, warm;
the answers of ours and of Spark must be equal, names and types included. CPU seconds of all cores are printed beside the time.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import paimon_nb
from benchmarks.query_suite import load, results_of, summary, write
from benchmarks.tpch_queries import QUERIES

TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tpch", description="TPC-H beside Spark and DuckDB.")
    parser.add_argument("--scale", type=float, default=1, help="gigabytes of rows (default %(default)s)")
    parser.add_argument("--repeat", type=int, default=3, help="timed rounds after the warm-up (default %(default)s)")
    parser.add_argument("--only", type=int, nargs="*", default=sorted(QUERIES), metavar="NUMBER", help="queries")
    parser.add_argument("--without-spark", action="store_true", help="neither its times nor the comparison of answers")
    parser.add_argument("--save", action="store_true", help="write results/tpch.md")
    parser.add_argument("--dir", help="where to work (default: a temporary directory, removed at the end)")
    arguments = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="paimon_nb-tpch-", dir=arguments.dir))
    try:
        with paimon_nb.connect(str(directory / "warehouse")) as workbench:
            files = _generate(directory / "files", arguments.scale)
            load(workbench, files)
            results = results_of(
                workbench,
                files,
                QUERIES,
                arguments.only,
                repeat=arguments.repeat,
                with_spark=not arguments.without_spark,
            )
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    lines = summary(results)
    print("\n".join(lines))
    if arguments.save:
        command = " ".join(["python -m benchmarks.tpch", *sys.argv[1:]])
        write("tpch.md", f"TPC-H, scale {arguments.scale:g}", command, results, lines)
    return 0


def _generate(directory: Path, scale: float) -> dict[str, Path]:
    command = Path(sys.executable).parent / "tpchgen-cli"
    directory.mkdir()
    subprocess.run(
        [str(command), "parquet", "-s", str(scale), f"--output-dir={directory}"], check=True, capture_output=True
    )
    return {name: directory / f"{name}.parquet" for name in TABLES}


if __name__ == "__main__":
    sys.exit(main())
