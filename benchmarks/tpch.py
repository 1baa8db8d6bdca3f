"""TPC-H's 22 queries, displayed: `python -m benchmarks.tpch --scale 1`. Ours without a JVM, plain Spark and DuckDB over the same Parquet files.

The rows are those of `tpchgen-cli` (PyPI). Our tables have one run of files, as a load makes them. Each contender answers each query in turn, warm;
the answers of ours and of Spark must be equal, names and types included. CPU seconds of all cores are printed beside the time.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.query_suite import Suite, run
from benchmarks.tpch_queries import QUERIES

TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")


def _generate(directory: Path, scale: float) -> dict[str, Path]:
    command = Path(sys.executable).parent / "tpchgen-cli"
    subprocess.run(
        [str(command), "parquet", "-s", str(scale), f"--output-dir={directory}"], check=True, capture_output=True
    )
    return {name: directory / f"{name}.parquet" for name in TABLES}


SUITE = Suite(
    "tpch", "TPC-H beside Spark and DuckDB.", "scale", 1.0, "gigabytes of rows", _generate, QUERIES,
    lambda scale: f"TPC-H, scale {scale:g}", lambda _: "tpch.md",
)  # fmt: skip


if __name__ == "__main__":
    sys.exit(run(SUITE))
