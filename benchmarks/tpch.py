"""TPC-H's 22 queries, displayed: `python -m benchmarks.tpch --scale 1`. Ours without a JVM, plain Spark and DuckDB over the same Parquet files.

The rows are those of `tpchgen-cli` (PyPI). Our tables have one run of files, as a load makes them. Each contender answers each query in turn, warm;
the answers of ours and of Spark must be equal, names and types included. CPU seconds of all cores are printed beside the time.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

import paimon_nb
from benchmarks import report
from benchmarks.harness import OURS, Contender, Result, Work, measure
from benchmarks.tpch_queries import QUERIES
from paimon_nb.format.types import from_arrow_schema
from paimon_nb.spark.types import to_spark_arrow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb
    import pyarrow as pa
    from pyspark.sql import SparkSession

TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")
SPARK, DUCKDB = "plain Spark", "DuckDB"


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
    results: list[Result] = []
    try:
        with paimon_nb.connect(str(directory / "warehouse")) as workbench:
            files = _generate(directory / "files", arguments.scale)
            _load(workbench, files)
            contenders = _Contenders(workbench, files, with_spark=not arguments.without_spark)
            for number in arguments.only:
                work = Work(f"q{number}", f"Q{number}", lambda _, n=number: contenders.of(n))  # type: ignore[misc]
                results.append(measure(work, None, arguments.repeat))  # type: ignore[arg-type]
                print(_line(results[-1]), flush=True)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    lines = _summary(results)
    print("\n".join(lines))
    if arguments.save:
        _write(results, lines, arguments.scale, arguments.repeat)
    return 0


def _generate(directory: Path, scale: float) -> dict[str, Path]:
    command = Path(sys.executable).parent / "tpchgen-cli"
    directory.mkdir()
    subprocess.run(
        [str(command), "parquet", "-s", str(scale), f"--output-dir={directory}"], check=True, capture_output=True
    )
    return {name: directory / f"{name}.parquet" for name in TABLES}


def _load(workbench: paimon_nb.Workbench, files: dict[str, Path]) -> None:
    for name, file in files.items():
        rows = pq.read_table(file)
        columns = ", ".join(f"{f.name} {f.type.bare()}" for f in from_arrow_schema(rows.schema))
        workbench.run(f"CREATE TABLE {name} ({columns})")
        workbench.table(name).append(rows)


class _Contenders:
    """Who answers a query."""

    def __init__(self, workbench: paimon_nb.Workbench, files: dict[str, Path], *, with_spark: bool) -> None:
        import duckdb

        self._workbench = workbench
        self._duckdb: duckdb.DuckDBPyConnection = duckdb.connect()
        for name, file in files.items():
            self._duckdb.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{file}')")
        self._spark: SparkSession | None = None
        if with_spark:
            from paimon_nb.spark.runtime.session import spark_session

            self._spark = spark_session(conf={"spark.sql.shuffle.partitions": str(os.cpu_count() or 1)})
            for name, file in files.items():
                self._spark.read.parquet(str(file)).createOrReplaceTempView(name)

    def of(self, number: int) -> Iterator[Contender]:
        text, spark = QUERIES[number], self._spark

        def ours() -> pa.Table:
            result = self._workbench.run(text)
            assert not self._workbench.session.spark_started, "answered by Spark"
            assert result.arrow is not None
            return result.arrow

        yield Contender(OURS, ours, check=_typed_rows)
        if spark is not None:
            yield Contender(SPARK, lambda: spark.sql(text).toArrow(), check=_typed_rows)
        yield Contender(DUCKDB, lambda: self._duckdb.sql(text).to_arrow_table(), check=None)


def _typed_rows(rows: pa.Table) -> tuple[list[tuple[str, str]], list[str]]:
    """Names, types and sorted rows of an answer."""
    rows = to_spark_arrow(rows, from_arrow_schema(rows.schema))
    shape = [(f.name, str(f.type)) for f in rows.schema]
    return shape, sorted(map(repr, zip(*(column.to_pylist() for column in rows.columns), strict=True)))


def _line(result: Result) -> str:
    parts = [f"{result.work.title:4}"]
    for name in result.seconds:
        cpu = f" ({statistics.median(result.cpu[name]):.2f} s of CPU)" if result.cpu[name] else ""
        parts.append(f"{name} {result.median(name):.3f} s{cpu}")
    return ", ".join(parts) + (", equal answers" if result.equal else "")


def _summary(results: Sequence[Result]) -> list[str]:
    lines = []
    for name in results[0].seconds if results else ():
        seconds = sum(r.median(name) for r in results)
        cpu = sum(statistics.median(r.cpu[name]) for r in results if r.cpu[name])
        lines.append(f"{name}: {seconds:.2f} s in all, {cpu:.2f} s of CPU")
        if name != OURS:
            ratios = [ratio for r in results if (ratio := r.cpu_ratio(name)) is not None]
            lines[-1] += f"; ours in multiples of it, median of the queries: {statistics.median(ratios):.2f} by CPU"
    return lines


def _write(results: Sequence[Result], lines: Sequence[str], scale: float, repeat: int) -> None:
    names, about = list(results[0].seconds), report.machine(None)
    table = [f"| query | {' | '.join(f'{n}, s | CPU' for n in names)} |", "|---|" + "---|---|" * len(names)]
    for r in results:
        cells = [f"{r.median(n):.3f} | {statistics.median(r.cpu[n]) if r.cpu[n] else 0:.2f}" for n in names]
        table.append(f"| {r.work.title} | {' | '.join(cells)} |")
    text = "\n".join(
        [
            f"# TPC-H, scale {scale:g}",
            "",
            f"`python -m benchmarks.tpch --scale {scale:g} --repeat {repeat} --save`. {about['cores']} cores, "
            f"{about['memory_gib']} GiB, load {about['load_at_start']} at the start; {', '.join(f'{n} {v}' for n, v in about['versions'].items())}.",
            "",
            *(f"- {line}" for line in lines),
            "",
            *table,
            "",
        ]
    )
    (report.RESULTS / "tpch.md").write_text(text)


if __name__ == "__main__":
    sys.exit(main())
