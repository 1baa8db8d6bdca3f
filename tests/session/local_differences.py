"""Asks the embedded engine and Spark the same random queries, and tells where their answers differ.

    python tests/session/local_differences.py FOLDER --seeds 100 140 --queries 500

asks 500 random queries for each seed, half of them in Flink's dialect, on one Spark. FOLDER keeps a line a seed in `answers.jsonl`: a run that
ended early continues with the seeds that are missing. The last line tells the number of queries and of differences.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from random_nested import Nested
from random_queries import Question, Questions
from random_structures import Structures
from random_tables import NAMES, make_tables

from paimon_nb.base.errors import PaimonError
from paimon_nb.session.query.local.answer import prepare_for_embedded_engine, run_in_embedded_engine
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.run_query import run_query
from paimon_nb.spark.types import to_spark_arrow
from paimon_nb.sql import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame

    import paimon_nb
    from paimon_nb.session.query.run_query import Substitutes

FLINK = "SET 'execution.runtime-mode' = 'batch'"
SPARK = {
    "spark.master": "local[1]",
    "spark.driver.memory": "2g",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",  # compiling a plan takes longer than running it over a few rows
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@dataclass
class Differences:
    """What came out of many queries."""

    asked: int = 0
    local: int = 0
    found: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    """Why queries were left to Spark, and how many."""


def differences(wb: paimon_nb.Workbench, seed: int, count: int, kind: type[Questions] = Questions) -> Differences:
    """Makes the tables of a seed in the current database, and asks random queries; half of them in Flink's dialect."""
    out = Differences()
    make_tables(wb, seed)
    wb.run("SET 'spark.sql.shuffle.partitions' = '1'")
    with _cached(wb) as tables:
        _ask(wb, out, kind(2 * seed), count // 2, tables)
    wb.run(FLINK)
    with _cached(wb) as tables:
        _ask(wb, out, kind(2 * seed + 1), count - count // 2, tables)
    wb.run("RESET 'execution.runtime-mode'")
    return out


@contextmanager
def _cached(wb: paimon_nb.Workbench) -> Iterator[Substitutes]:
    """Spark's frames of the tables, kept in memory: each query would read the files again."""
    frames: dict[tuple[str, ...], DataFrame] = {(n,): wb.sql(f"SELECT * FROM {n}").coalesce(1).cache() for n in NAMES}
    try:
        yield frames
    finally:
        for frame in frames.values():
            frame.unpersist()


def _ask(wb: paimon_nb.Workbench, out: Differences, questions: Questions, count: int, tables: Substitutes) -> None:
    """Ask `count` random queries, in the dialect that the session has."""
    for _ in range(count):
        question = questions.next()
        out.asked += 1
        try:
            ours = _asked_here(wb, question.text)
        except NotLocal as reason:
            out.reasons[str(reason)] += 1
            continue
        out.local += 1
        try:
            theirs = _asked_of_spark(wb, question.text, tables)
        except Exception as error:  # Spark's errors in the middle of reading have many types
            out.found.append(f"{question.text}\n  Spark: {str(error)[:200]}\n  here: {ours.num_rows} rows")
            continue
        difference = difference_of(question, ours, theirs)
        if difference:
            out.found.append(f"{question.text}\n  {difference}")


def _asked_here(wb: paimon_nb.Workbench, text: str) -> pa.Table:
    (query,) = parse(text)
    try:
        return to_spark_arrow(*run_in_embedded_engine(prepare_for_embedded_engine(wb.session, query, text)))
    except PaimonError as error:
        raise NotLocal(str(error)) from error


def _asked_of_spark(wb: paimon_nb.Workbench, text: str, tables: Substitutes) -> pa.Table:
    """Spark's answer."""
    (query,) = parse(text)
    return run_query(wb.session, query, text, {}, tables).toArrow()


_FLOATING_SUM = re.compile(
    r"\b(sum|avg|stddev|variance|var_pop|corr|covar_pop|covar_samp)\((?!\*).*?\b`?(d|e|f)`?\b", re.IGNORECASE
)
"""Sums of floating-point numbers: their last digits depend on the order of the rows, and with them conditions and orders."""


def difference_of(question: Question, ours: pa.Table, theirs: pa.Table) -> str | None:
    """In what two answers differ; None: in nothing."""
    shapes = [[(f.name, str(f.type).replace(" not null", "")) for f in rows.schema] for rows in (ours, theirs)]
    if shapes[0] != shapes[1]:
        return f"columns: Spark {shapes[1]}, here {shapes[0]}"
    has_sum = re.search(
        r"\b(sum|avg|stddev|variance|var_pop|corr|covar_pop|covar_samp)\(", question.text, re.IGNORECASE
    )
    if _FLOATING_SUM.search(question.text) or (has_sum and any(t in ("double", "float") for _, t in shapes[0])):
        return _difference_but_for_last_digits(ours, theirs)
    limited = " LIMIT " in question.text
    rows = [[tuple(map(lambda v: _text(v, limited), row)) for row in _tuples(t)] for t in (ours, theirs)]  # noqa: C417
    if sorted(rows[0]) != sorted(rows[1]):
        extra = [sorted(set(a) - set(b))[:3] for a, b in ((rows[1], rows[0]), (rows[0], rows[1]))]
        return f"rows: Spark {len(rows[1])} {extra[0]}, here {len(rows[0])} {extra[1]}"
    keys = [[tuple(_text(row[p], zeros=True) for p in question.ordered) for row in _tuples(t)] for t in (ours, theirs)]
    return None if keys[0] == keys[1] else f"order: Spark {keys[1][:5]}, here {keys[0][:5]}"


def _difference_but_for_last_digits(ours: pa.Table, theirs: pa.Table) -> str | None:
    """Compares sorted values of each column; numbers with seven digits."""
    for column in ours.column_names:
        found = [sorted(map(_seven_digits, _plain(rows.column(column)).to_pylist())) for rows in (ours, theirs)]
        if found[0] != found[1]:
            differing = [(a, b) for a, b in zip(*found, strict=False) if a != b][:3]
            return f"{column}: {len(found[0])} rows here, {len(found[1])} in Spark; (here, Spark): {differing}"
    return None


def _seven_digits(value: Any) -> str:
    return f"{value:.7g}" if isinstance(value, float) else repr(value)


def _tuples(rows: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(_plain(column).to_pylist() for column in rows.columns), strict=True))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dates and timestamps as numbers: Python has no year 10000."""
    import pyarrow as pa

    if pa.types.is_date32(column.type):
        return column.cast(pa.int32())
    return column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column


def _text(value: Any, zeros: bool = False) -> str:
    """A value as text that tells -0.0 from 0.0 (unless `zeros`), and a NaN from nothing."""
    if isinstance(value, float) and (math.isnan(value) or (zeros and value == 0)):
        return "nan" if math.isnan(value) else "0.0"
    return repr(value)


def main(arguments: list[str] | None = None) -> int:
    """The command; returns the number of differences."""
    import paimon_nb
    from paimon_nb.spark.runtime.session import spark_session, stop

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="holds answers.jsonl")
    parser.add_argument("--seeds", type=int, nargs=2, default=(100, 140), metavar=("FIRST", "STOP"))
    parser.add_argument("--structures", action="store_true", help="joins, subqueries, windows and the like")
    parser.add_argument(
        "--nested", action="store_true", help="arrays, maps, rows, times with a zone, CHAR, patterns, JSON"
    )
    parser.add_argument("--zone", default="UTC", help="the session's time zone")
    parser.add_argument("--queries", type=int, default=500, help="queries a seed")
    chosen = parser.parse_args(arguments)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    file = chosen.folder / "answers.jsonl"
    done = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    missing = sorted(set(range(*chosen.seeds)) - {d["seed"] for d in done})
    if missing:
        spark = spark_session(conf={**SPARK, "spark.sql.session.timeZone": chosen.zone})
        for seed in missing:
            with tempfile.TemporaryDirectory() as warehouse:
                wb = paimon_nb.connect(warehouse, spark=spark)
                kind = Nested if chosen.nested else Structures if chosen.structures else Questions
                out = differences(wb, seed, chosen.queries, kind)
            done.append(
                {"seed": seed, "asked": out.asked, "local": out.local, "found": out.found, "reasons": out.reasons}
            )
            with file.open("a") as lines:
                lines.write(json.dumps(done[-1]) + "\n")
            print(
                f"seed {seed}: {out.asked} queries, {out.local} answered here, {len(out.found)} differences", flush=True
            )
        stop(spark)
    found = [f"seed {d['seed']}: {text}" for d in done for text in d["found"]]
    print(*found, sep="\n")
    asked, local = (sum(d[what] for d in done) for what in ("asked", "local"))
    print(f"{asked} queries, {local} answered here, {len(found)} differences")
    return len(found)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
