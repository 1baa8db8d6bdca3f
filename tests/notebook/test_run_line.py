"""The line below a running cell: what it says while Spark starts, while files are read, and with Spark's tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from shell_kit import KEYED, rows

from paimon_nb.notebook.progress import RunState, elapsed_text, rows_text, statement_label
from paimon_nb.spark.jobs.progress import Progress
from paimon_nb.table.read.plan.snapshot_scan import observed_plans

if TYPE_CHECKING:
    from paimon_nb.workbench import Workbench

LABELS = {
    "INSERT INTO `default`.t SELECT * FROM a; -- done": "INSERT INTO default.t",
    "INSERT OVERWRITE t PARTITION (day = 1) VALUES (1)": "INSERT OVERWRITE t",
    "CALL sys.compact(`table` => 'default.t')": "CALL sys.compact",
    "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE": "MERGE INTO t",
    "DELETE FROM t WHERE id = 1": "DELETE FROM t",
    "UPDATE t SET v = 1": "UPDATE t",
    "CREATE TABLE x.y AS SELECT 1": "CREATE TABLE x.y",
    "DROP TABLE t; SELECT 1": "several statements",
    "SELECT 1": "",
    "WITH a AS (SELECT 1) SELECT * FROM a;": "",
    "INSERT INTO t VALUES ('" + "x" * 10_000 + "')": "INSERT INTO t",
    "SELECT 'never ends": "",
    "": "",
}


@pytest.mark.parametrize("text", LABELS, ids=lambda t: t[:20])
def test_a_statement_in_a_few_words(text: str) -> None:
    assert statement_label(text) == LABELS[text]


def test_numbers_are_short() -> None:
    assert [elapsed_text(s) for s in (0.2, 7, 65, 3725)] == ["0:00", "0:07", "1:05", "1:02:05"]
    assert [rows_text(n) for n in (0, 9_999, 12_345, 999_999, 1_234_567, 45_000_000, 3_200_000_000)] == [
        "0", "9,999", "12 k", "1,000 k", "1.2 M", "45 M", "3.2 B",
    ]  # fmt: skip


def test_the_line_follows_the_work(wb: Workbench) -> None:
    wb.run(KEYED.format("t"))
    for n in range(2):
        wb.table("t").upsert(rows([n]))
    state = RunState()
    state.starting_since = state.began
    assert state.text(state.began + 4.2) == "Starting Spark 4 s"
    state.starting_since = None
    assert state.text(state.began + 4.2) == "Running · 0:04"
    with observed_plans() as plans:
        state.plans = plans
        wb.run("SELECT * FROM t")
    assert state.text(state.began + 5) == "Reading 2 files · 0:05"
    state.spark = Progress(1, 1, 61, 100, 1, rows=1_234_567)
    assert state.text(state.began + 7) == "Reading 2 files · 61 % · 1.2 M rows · 0:07"
    state.label, state.spark = "INSERT INTO t", Progress(2, 3, 1, 4, 1)
    assert state.text(state.began + 7) == "INSERT INTO t · Reading 2 files · stage 2 25 % · 0:07"


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_spark_counts_the_rows_that_a_statement_reads(wb: Workbench) -> None:
    from paimon_nb.notebook.progress import run_with_progress

    wb.run("SET 'paimon-nb.engine' = 'spark'; CREATE TABLE t (id BIGINT); INSERT INTO t SELECT id FROM range(2000)")
    state = RunState()

    def work() -> int:
        frame = wb.run("SELECT id FROM t").frame
        assert frame is not None
        # The first task has read its rows, and the second stage has not ended.
        slowly = "SELECT /*+ REPARTITION(2) */ id, reflect('java.lang.Thread', 'sleep', bigint(1)) AS slept FROM {rows}"
        # The condition keeps Spark from leaving out the column: a second of sleep, in which the state is read several times.
        return int(wb.session.spark.sql(slowly, rows=frame).where("slept IS NULL OR slept <> 'x'").count())

    assert run_with_progress(wb.session.spark, work, state) == 2000
    assert state.spark is not None
    assert state.spark.rows in (0, 2000)
