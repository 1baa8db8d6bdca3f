"""`paimon-nb refresh`: once, named tables, errors, suspended tables; and `paimon-nb run` with materialized tables. No JVM."""

from __future__ import annotations

import pytest

import paimon_nb
from paimon_nb.cli import main
from paimon_nb.job_runner import JobRunner


@pytest.fixture
def warehouse(tmp_path):
    path = str(tmp_path / "w")
    with paimon_nb.connect(path) as wb:
        wb.run("""SET 'paimon-nb.materialized-table.auto-refresh' = 'false'; CREATE TABLE s (id INT); INSERT INTO s VALUES (1);
            CREATE MATERIALIZED TABLE a AS SELECT id FROM s; CREATE MATERIALIZED TABLE b AS SELECT count(*) AS n FROM a; INSERT INTO s VALUES (2)""")
    return path


def rows(warehouse: str, name: str) -> list[dict]:
    with paimon_nb.connect(warehouse) as wb:
        return wb.table(name).to_arrow().to_pylist()


def test_all_tables_in_the_order_of_what_they_read(warehouse, capsys):
    assert main(["refresh", warehouse]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "default.a refreshed (incremental): 1 row added, 0 removed",
        "default.b refreshed (incremental): 1 row added, 1 removed",
    ]
    assert rows(warehouse, "b") == [{"n": 2}]
    assert main(["refresh", warehouse]) == 0
    assert capsys.readouterr().out.splitlines() == ["default.a is up to date", "default.b is up to date"]


def test_one_table(warehouse, capsys):
    assert main(["refresh", warehouse, "default.a"]) == 0
    assert capsys.readouterr().out == "default.a refreshed (incremental): 1 row added, 0 removed\n"
    assert rows(warehouse, "b") == [{"n": 1}]


def test_an_error_does_not_stop_the_others(warehouse, capsys):
    with paimon_nb.connect(warehouse) as wb:
        wb.run("CREATE TABLE t (id INT)")
        wb.run("CREATE MATERIALIZED TABLE c AS SELECT id FROM t; DROP TABLE t; ALTER MATERIALIZED TABLE b SUSPEND")
    assert main(["refresh", warehouse]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[:2] == ["default.a refreshed (incremental): 1 row added, 0 removed", "default.b is suspended"]
    assert out[2].startswith("default.c failed: no table default.t")


def test_a_table_that_is_not_there(warehouse, capsys):
    assert main(["refresh", warehouse, "nothing"]) == 1
    assert "nothing" in capsys.readouterr().out


def test_a_file_of_jobs_goes_on_with_materialized_tables(tmp_path):
    with paimon_nb.connect(str(tmp_path / "w")) as wb:
        runner = JobRunner(wb, 1)
        runner.run("CREATE TABLE s (id INT)")
        assert runner.supervise() is False
        runner.run("CREATE MATERIALIZED TABLE m AS SELECT id FROM s")
        assert (runner.supervise(), runner.materialized_tables) == (True, ["paimon.default.m"])
