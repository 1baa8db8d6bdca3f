"""What commands and results say: quoted keys, limits, cancelled queries, job lists, the checked warehouse, Spark's start."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from kernels import kernel_manager

from paimon_nb.base.errors import Cancelled
from paimon_nb.notebook.display import Rows
from paimon_nb.notebook.errors import error_of_interrupted_cell, short_error_text
from paimon_nb.notebook.magics.arguments import split_arguments
from paimon_nb.notebook.table_feed import TableFeed
from paimon_nb.notebook.widgets.jobs import JobsView
from paimon_nb.session import Result

if TYPE_CHECKING:
    from pathlib import Path

    from shell_kit import Shell

SALES = "CREATE TABLE sales (`order id` INT, v STRING, PRIMARY KEY (`order id`) NOT ENFORCED) WITH ('bucket' = '1')"


def test_a_key_in_backticks_is_one_argument(shell: Shell) -> None:
    shell.value(f"%%paimon\n{SALES};\nINSERT INTO sales VALUES (3, 'x')")
    found = [shell.value(f"%paimon why sales {key}").answer.row for key in ("`order id`=3", '"order id=3"')]
    assert found == [{"order id": 3, "v": "x"}] * 2


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("t `a b`=1 c='x y'", ["t", "`a b`=1", "c=x y"]),
        ("`my db`.`it's` x=1", ["`my db`.`it's`", "x=1"]),
        ("t `a``b`='q`r s`'", ["t", "`a``b`=q`r s`"]),
    ],
)
def test_backticks_keep_spaces_and_quotes(line: str, expected: list[str]) -> None:
    assert split_arguments(line) == expected


def test_a_word_without_a_value_names_the_form(shell: Shell) -> None:
    shell.value(f"%%paimon\n{SALES}")
    assert "expected KEY=VALUE, got '3'" in shell.error("%paimon why sales 3")[1]


def test_a_limit_above_the_maximum_is_reported() -> None:
    page = repr(Rows(Result("rows", arrow=pa.table({"a": pa.array(range(1500))})), 5000))
    assert page.splitlines()[-1] == "... Showing the first 1,000 rows (maximum); to_pandas() returns all rows"


def test_a_column_named_result_keeps_its_header() -> None:
    table = pa.table({"result": ["a"]})
    query = Result("rows", arrow=table, is_query=True)
    assert repr(Rows(query, 20)).splitlines() == ["result", "------", "a"]
    assert "<th>result</th>" in Rows(query, 20)._repr_mimebundle_()["text/html"]
    assert repr(Rows(Result("summary", arrow=table), 20)) == "a"


def test_an_interrupted_query_is_a_cancelled_query() -> None:
    error = Cancelled("interrupted; the work was cancelled", hint="run it again")
    assert short_error_text(error_of_interrupted_cell(error, only_queries=True)) == "Cancelled: Query cancelled."
    assert "run it again" in short_error_text(error_of_interrupted_cell(error))


def test_an_interrupted_query_that_java_cannot_stop_is_not_over() -> None:
    """A regular expression that backtracks, evaluated while Spark plans the query."""
    error = Cancelled("interrupted; the work has not stopped yet", hint="it will not commit anything", goes_on=True)
    shown = short_error_text(error_of_interrupted_cell(error, only_queries=True)).splitlines()
    assert shown == [
        "Cancelled: Query cancelled, but Spark has not stopped it yet",
        "  → Java cannot interrupt a regular expression: if a core stays busy, restart the kernel",
    ]


@pytest.mark.parametrize(("tasks", "said"), [(1, "1 task of Spark"), (2, "2 tasks of Spark")])
def test_an_interrupted_query_whose_tasks_go_on(tasks: int, said: str) -> None:
    shown = short_error_text(error_of_interrupted_cell(Cancelled("interrupted"), only_queries=True, tasks=tasks))
    assert shown.startswith(f"Cancelled: Query cancelled, but {said} did not stop")


def test_an_older_list_shows_the_end_of_its_jobs(shell: Shell) -> None:
    shell.value(f"%%paimon\n{SALES}")
    wb = shell.value("%paimon workbench")
    feed = TableFeed(wb.table("sales"), wb.session.jobs)
    lists: list[Any] = [shell.value("%paimon jobs"), shell.value("%paimon jobs")]
    for listed in lists:
        listed.follow()
    assert isinstance(lists[0], JobsView)
    feed.job.stop()
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and any(v.view["jobs"][0]["status"] == "RUNNING" for v in lists):
        time.sleep(0.1)
    assert [v.view["jobs"][0]["status"] for v in lists] == ["CANCELED"] * 2
    lists[1].replaced()  # the newest list is updated as long as its kernel lives
    for thread in threading.enumerate():
        if thread.name == "paimon-live":
            thread.join(30)


def test_the_doctor_checks_the_connected_warehouse(shell: Shell, tmp_path: Path) -> None:
    shell.value(f"%paimon connect {tmp_path}/elsewhere")
    assert f"{tmp_path}/elsewhere is writable" in shell.printed("%paimon doctor")


HALF_IMPORTED = """
import sys, threading, types
from paimon_nb.notebook import progress

sys.modules["paimon_nb.spark.runtime.session"] = types.ModuleType("paimon_nb.spark.runtime.session")  # as while it is imported
progress.has_front_end = lambda: True
with progress.run_line(progress.RunState(), show=True):
    threading.Event().wait(0.35)
"""


def test_a_cell_that_imports_spark_modules_shows_no_traceback_of_the_notice() -> None:
    done = subprocess.run([sys.executable, "-c", HALF_IMPORTED], capture_output=True, text=True, check=True)
    assert (set(done.stdout.split("\n")), done.stderr) == ({"<IPython.core.display.HTML object>", ""}, "")


@pytest.mark.spark
@pytest.mark.nightly  # browser/test_lab_run_line.py sees it in the kernel that it starts anyway
def test_the_start_of_spark_is_announced(tmp_path: Path) -> None:
    manager = kernel_manager(kernel_name="python3")
    manager.start_kernel(cwd=str(tmp_path))
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=120)
        client.execute("%load_ext paimon_nb")
        asked = client.execute("%paimon SELECT count(*) FROM range(10)", allow_stdin=True)
        shown = ""
        while True:
            message = client.get_iopub_msg(timeout=300)
            if message["parent_header"].get("msg_id") != asked:
                continue
            shown += message["content"].get("data", {}).get("text/html", "")
            if message["content"].get("execution_state") == "idle":
                break
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert "Starting Spark 0 s" in shown
