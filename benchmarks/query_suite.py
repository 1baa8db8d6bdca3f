"""A list of queries, displayed: ours without a JVM, plain Spark and DuckDB over the same Parquet files, each warm and in turn."""

from __future__ import annotations

import argparse
import math
import os
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

import paimon_nb
from benchmarks import report
from benchmarks.harness import OURS, Contender, Result, Work, measure
from paimon_nb.format.types import from_arrow_schema
from paimon_nb.spark.types import to_spark_arrow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import duckdb
    import pyarrow as pa
    from pyspark.sql import SparkSession

SPARK, DUCKDB = "plain Spark", "DuckDB"


@dataclass(frozen=True)
class Suite:
    """A benchmark of a list of queries, as `python -m benchmarks.NAME` runs it."""

    name: str
    about: str
    """For --help."""
    size: str
    """The option that says how much there is: its name."""
    default: float
    """Of the size; its type is that of the option."""
    unit: str
    files: Callable[[Path, Any], Mapping[str, Path]]
    """(directory, size) -> the Parquet files that it writes, by table."""
    queries: Mapping[int, str]
    title: Callable[[Any], str]
    """Of the results, by size."""
    saved: Callable[[Any], str]
    """The name of the page of results, by size."""
    settings: Mapping[str, str] = field(default_factory=dict)
    digits: int | None = None
    """As of `results_of`, like the next one."""
    in_duckdb: Mapping[int, str] | None = None


def run(suite: Suite) -> int:
    """Runs the command. Returns its exit code."""
    module = f"python -m benchmarks.{suite.name}"
    parser = argparse.ArgumentParser(prog=module, description=suite.about)
    parser.add_argument(
        f"--{suite.size}",
        dest="size",
        type=type(suite.default),
        default=suite.default,
        help=f"{suite.unit} (default %(default)s)",
    )
    parser.add_argument("--repeat", type=int, default=3, help="timed rounds after the warm-up (default %(default)s)")
    parser.add_argument("--only", type=int, nargs="*", default=sorted(suite.queries), metavar="NUMBER", help="queries")
    parser.add_argument("--without-spark", action="store_true", help="neither its times nor the comparison of answers")
    parser.add_argument("--save", action="store_true", help="write a page into results/")
    parser.add_argument("--dir", help="where to work (default: a temporary directory, removed at the end)")
    arguments = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix=f"paimon_nb-{suite.name}-", dir=arguments.dir))
    try:
        files = suite.files(directory, arguments.size)
        with paimon_nb.connect(str(directory / "warehouse")) as workbench:
            for key, value in suite.settings.items():
                workbench.run(f"SET '{key}' = '{value}'")
            load(workbench, files)
            results = results_of(
                workbench, files, suite.queries, arguments.only, repeat=arguments.repeat,
                with_spark=not arguments.without_spark, digits=suite.digits, in_duckdb=suite.in_duckdb,
            )  # fmt: skip
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    lines = summary(results)
    print("\n".join(lines))
    if arguments.save:
        command = " ".join([module, *sys.argv[1:]])
        write(suite.saved(arguments.size), suite.title(arguments.size), command, results, lines)
    return 0


def load(workbench: paimon_nb.Workbench, files: Mapping[str, Path]) -> None:
    """A table for each file, with one run of files."""
    for name, file in files.items():
        rows = pq.read_table(file)
        columns = ", ".join(f"{f.name} {f.type.bare()}" for f in from_arrow_schema(rows.schema))
        workbench.run(f"CREATE TABLE {name} ({columns})")
        workbench.table(name).append(rows)


def results_of(
    workbench: paimon_nb.Workbench,
    files: Mapping[str, Path],
    queries: Mapping[int, str],
    numbers: Iterable[int],
    *,
    repeat: int,
    with_spark: bool,
    digits: int | None = None,
    in_duckdb: Mapping[int, str] | None = None,
) -> list[Result]:
    """Measures and prints each query.

    Args:
        workbench: has the tables.
        files: the Parquet files of the others, by table.
        queries: by number, in Spark's dialect.
        numbers: those to ask.
        repeat: timed rounds after the warm-up.
        with_spark: whether Spark is measured, and its answers compared.
        digits: so many of floating-point numbers must be equal; None: all.
        in_duckdb: queries that are written in another way for DuckDB.
    """
    workbench.run("SET 'paimon-nb.engine' = 'local'")  # an error tells why a query needs Spark
    contenders = _Contenders(workbench, files, with_spark=with_spark, digits=digits)
    results = []
    for number in numbers:
        other = (in_duckdb or {}).get(number, queries[number])
        work = Work(f"q{number}", f"Q{number}", lambda _, n=number, o=other: contenders.of(queries[n], o))  # type: ignore[misc]
        results.append(measure(work, None, repeat))  # type: ignore[arg-type]
        print(_line(results[-1]), flush=True)
    return results


class _Contenders:
    """Who answers a query."""

    def __init__(
        self, workbench: paimon_nb.Workbench, files: Mapping[str, Path], *, with_spark: bool, digits: int | None
    ) -> None:
        import duckdb

        self._workbench, self._digits = workbench, digits
        self._duckdb: duckdb.DuckDBPyConnection = duckdb.connect()
        for name, file in files.items():
            self._duckdb.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{file}')")
        self._spark: SparkSession | None = None
        if with_spark:
            from paimon_nb.spark.runtime.session import spark_session

            self._spark = spark_session(conf={"spark.sql.shuffle.partitions": str(os.cpu_count() or 1)})
            for name, file in files.items():
                self._spark.read.parquet(str(file)).createOrReplaceTempView(name)

    def of(self, text: str, in_duckdb: str) -> Iterator[Contender]:
        spark = self._spark

        def ours() -> pa.Table:
            result = self._workbench.run(text)
            assert not self._workbench.session.spark_started, "answered by Spark"
            assert result.arrow is not None
            return result.arrow

        yield Contender(OURS, ours, check=self._typed_rows)
        if spark is not None:
            yield Contender(SPARK, lambda: spark.sql(text).toArrow(), check=self._typed_rows)
        yield Contender(DUCKDB, lambda: self._duckdb.sql(in_duckdb).to_arrow_table(), check=None)

    def _typed_rows(self, rows: pa.Table) -> _Answer:
        rows = to_spark_arrow(rows, from_arrow_schema(rows.schema))
        shape = [(f.name, str(f.type)) for f in rows.schema]
        columns = [column.to_pylist() for column in rows.columns]
        listed = sorted(zip(*columns, strict=True), key=lambda row: tuple(map(_order, row)))
        return _Answer(shape, listed, 10.0**-self._digits if self._digits else 0.0)


def _order(value: object) -> str:
    """Numbers whose last digits differ are in the same place, but for those that are next to each other."""
    return f"{value:.5g}" if isinstance(value, float) else repr(value)


class _Answer:
    """Names, types and sorted rows; equal to another if its floating-point numbers are nearly the same."""

    def __init__(self, shape: list[tuple[str, str]], rows: list[tuple[object, ...]], tolerance: float) -> None:
        self.shape, self.rows, self.tolerance = shape, rows, tolerance

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Answer) and self.shape == other.shape and self._difference(other) is None

    __hash__ = None  # type: ignore[assignment]

    def _difference(self, other: _Answer) -> object:
        if len(self.rows) != len(other.rows):
            return len(self.rows), len(other.rows)
        pairs = zip(self.rows, other.rows, strict=True)
        return next((p for p in pairs if not all(map(self._is_same, *p))), None)

    def _is_same(self, a: object, b: object) -> bool:
        if isinstance(a, float) and isinstance(b, float):
            return math.isclose(a, b, rel_tol=self.tolerance, abs_tol=self.tolerance) or (
                math.isnan(a) and math.isnan(b)
            )
        return a == b

    def __repr__(self) -> str:
        return f"{self.shape} {len(self.rows)} rows, the first: {self.rows[:3]}"


def _line(result: Result) -> str:
    parts = [f"{result.work.title:4}"]
    for name in result.seconds:
        cpu = f" ({statistics.median(result.cpu[name]):.2f} s of CPU)" if result.cpu[name] else ""
        parts.append(f"{name} {result.median(name):.3f} s{cpu}")
    return ", ".join(parts) + (", equal answers" if result.equal else "")


def summary(results: Sequence[Result]) -> list[str]:
    """A line for each contender: the sums, and how ours compare."""
    lines = []
    for name in results[0].seconds if results else ():
        seconds = sum(r.median(name) for r in results)
        cpu = sum(statistics.median(r.cpu[name]) for r in results if r.cpu[name])
        lines.append(f"{name}: {seconds:.2f} s in all, {cpu:.2f} s of CPU")
        if name != OURS:
            ratios = [ratio for r in results if (ratio := r.cpu_ratio(name)) is not None]
            lines[-1] += f"; ours in multiples of it, median of the queries: {statistics.median(ratios):.2f} by CPU"
    return lines


def write(file: str, title: str, command: str, results: Sequence[Result], lines: Sequence[str]) -> None:
    """Writes results/FILE."""
    names, about = list(results[0].seconds), report.machine(None)
    table = [f"| query | {' | '.join(f'{n}, s | CPU' for n in names)} |", "|---|" + "---|---|" * len(names)]
    for r in results:
        cells = [f"{r.median(n):.3f} | {statistics.median(r.cpu[n]) if r.cpu[n] else 0:.2f}" for n in names]
        table.append(f"| {r.work.title} | {' | '.join(cells)} |")
    versions = ", ".join(f"{n} {v}" for n, v in about["versions"].items())
    machine = (
        f"{about['cores']} cores, {about['memory_gib']} GiB, load {about['load_at_start']} at the start; {versions}."
    )
    heading = [f"# {title}", "", f"`{command}`. {machine}", ""]
    (report.RESULTS / file).write_text("\n".join([*heading, *(f"- {line}" for line in lines), "", *table, ""]))
