"""The command line as a person uses it: its words and its exit code, some from a process of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.cli import main
from paimon_nb.procedures import PROCEDURES


def run(*arguments: str, cwd=None) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "paimon_nb.cli", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
        timeout=300,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def warehouse(tmp_path) -> str:
    """default.t: key table, three upserts of the same keys."""
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run(
        "CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')"
    )
    for v in "abc":
        wb.table("t").upsert(pa.table({"id": pa.array([1, 2], pa.int32()), "v": [v, v]}))
    return str(tmp_path / "w")


def test_help_names_every_action():
    code, out, _ = run("--help")
    assert code == 0
    assert set(out.rsplit("actions: ", 1)[1].strip().split(", ")) == set(PROCEDURES)


def test_sql_prints_a_table(warehouse):
    code, out, err = run("sql", "--warehouse", warehouse, "SHOW TABLES")
    assert (code, out.split(), err) == (
        0,
        ["namespace", "tableName", "isTemporary", "-" * 9, "-" * 9, "-" * 11, "default", "t", "false"],
        "",
    )


def here(*arguments: str, capsys) -> tuple[int, str, str]:
    """Exit code, output and errors of a command in this process, whose start would take longer than most commands."""
    try:
        code = main(list(arguments))
    except SystemExit as refused:
        code = int(refused.code or 0)
    return code, *capsys.readouterr()


def test_a_configuration_goes_before_the_statement(warehouse, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lake.yaml").write_text(f"name: lake\nwarehouse: {warehouse}\nexecution.runtime-mode: batch\n")
    code, out, err = here("sql", "--config", "lake.yaml", "SHOW CURRENT CATALOG", capsys=capsys)
    assert (code, out.split(), err) == (0, ["current", "catalog", "name", "-" * 20, "lake"], "")


def test_an_error_is_two_lines(warehouse):
    code, out, err = run("sql", "--warehouse", warehouse, "DESCRIBE tt")
    assert (code, out) == (1, "")
    assert err.splitlines()[0].startswith("TableNotFound: ")
    assert "did you mean" in err
    assert "Traceback" not in err


def test_a_configuration_that_is_not_there_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, out, err = here("sql", "--config", "nope.yaml", "SHOW TABLES", capsys=capsys)
    assert (code, out, err.splitlines()[-1]) == (2, "", "paimon-nb sql: error: no such file: nope.yaml")


def test_rows_to_show_are_counted_from_nothing(warehouse, capsys):
    code, out, err = here("sql", "--warehouse", warehouse, "--limit", "-1", "SHOW TABLES", capsys=capsys)
    assert (code, out, err.splitlines()[-1]) == (2, "", "paimon-nb sql: error: --limit -1: must be 0 or more")


@pytest.mark.parametrize("where", ["path", "names", "one name"])
def test_compact_as_an_action(warehouse, where, capsys):
    place = (
        ["--path", f"{warehouse}/default.db/t"]
        if where == "path"
        else ["--warehouse", warehouse, "--database", "default", "--table", "t"]
        if where == "names"
        else ["--warehouse", warehouse, "--table", "default.t"]
    )
    code, _, err = here("compact", *place, capsys=capsys)
    assert (code, err) == (0, "")
    table = paimon_nb.connect(warehouse).table("t")
    assert table.to_arrow().to_pylist() == [{"id": 1, "v": "c"}, {"id": 2, "v": "c"}]
    assert [(f["level"], f["record_count"]) for f in table.files().to_pylist()] == [(5, 2)]


def test_actions_with_arguments(warehouse, capsys):
    path = f"{warehouse}/default.db/t"
    assert here("create-tag", "--path", path, "--tag", "first", "--snapshot", "1", capsys=capsys)[0] == 0
    code, out, _ = here("expire_snapshots", "--path", path, "--retain_max", "1", capsys=capsys)
    assert (code, out.strip()) == (0, "deleted_snapshots_count: 2")
    first = paimon_nb.connect(warehouse).table("t", **{"scan.tag-name": "first"})
    assert first.to_arrow().column("v").to_pylist() == ["a", "a"]


def words(*arguments: str, capsys) -> tuple[int, list[str]]:
    """Exit code and the lines that a command prints, in this process."""
    code, out, err = here(*arguments, capsys=capsys)
    return code, (out + err).splitlines()


def test_an_action_in_the_words_of_flinks_jar(warehouse, capsys):
    place = ("--warehouse", warehouse, "--database", "default", "--table", "t")
    for line in (
        ("create-tag", *place, "--tag_name", "first", "--snapshot", "1"),
        ("rename_tag", *place, "--tag-name", "first", "--target-tag-name", "start"),
        ("create_branch", *place, "--branch_name", "dev", "--tag_name", "start"),
        ("reset-consumer", *place, "--consumer-id", "me", "--next-snapshot", "2"),
        ("compact", *place, "--table_conf", "num-sorted-run.compaction-trigger=2", "--table_conf", "sink.parallelism=2",
         "--catalog_conf", "metastore=filesystem", "--force_start_flink_job", "true"),
    ):  # fmt: skip
        assert words(*line, capsys=capsys) == (0, ["result: True"])
    assert words("rollback-to", *place, "--version", "start", capsys=capsys)[1] == [
        "previous_snapshot_id: 4, current_snapshot_id: 1"
    ]
    table = paimon_nb.connect(warehouse).table("t")
    assert (table.tags()["tag_name"].to_pylist(), table.branches()["branch_name"].to_pylist()) == (["start"], ["dev"])
    assert table.consumers()["next_snapshot_id"].to_pylist() == [2]


def test_an_action_in_a_catalog_of_another_kind(tmp_path, capsys):
    uri = f"jdbc:sqlite:{tmp_path}/names.db"
    conf = ("--catalog-conf", "metastore=jdbc", "--catalog_conf", f"uri={uri}")
    wb = paimon_nb.connect(str(tmp_path / "w"), options={"metastore": "jdbc", "uri": uri})
    wb.run("CREATE TABLE t (id INT); INSERT INTO t VALUES (1)")
    assert words("create_tag", "--path", f"{tmp_path}/w/default.db/t", *conf, "--tag", "x", capsys=capsys)[0] == 0
    assert wb.table("t").tags()["tag_name"].to_pylist() == ["x"]


def test_a_table_is_cloned_from_a_catalog_of_another_kind(tmp_path, capsys):
    uri = f"jdbc:sqlite:{tmp_path}/names.db"
    wb = paimon_nb.connect(str(tmp_path / "w"), options={"metastore": "jdbc", "uri": uri})
    wb.run("CREATE TABLE t (id INT); INSERT INTO t VALUES (1)")
    source = ("--warehouse", f"{tmp_path}/w", "--catalog_conf", "metastore=jdbc", "--catalog_conf", f"uri={uri}")
    target = ("--target_warehouse", f"{tmp_path}/v", "--target_database", "d", "--target_table", "u")
    assert words("clone", *source, "--database", "default", "--table", "t", *target, capsys=capsys)[0] == 0
    assert paimon_nb.connect(f"{tmp_path}/v").table("d.u").to_arrow().to_pylist() == [{"id": 1}]


def test_a_database_is_compacted_and_no_other(warehouse, capsys):
    wb = paimon_nb.connect(warehouse)
    wb.run("CREATE DATABASE d; CREATE TABLE d.u (id INT)")
    assert words("compact_database", "--warehouse", warehouse, "--database", "d", capsys=capsys)[1] == [
        "result: Compact database finished. Success: 1, Failed: 0"
    ]


@pytest.mark.spark
def test_rows_are_deleted_and_merged_as_actions(warehouse, capsys):
    place = ("--path", f"{warehouse}/default.db/t")
    assert words("delete", *place, "--where", "id = 1", capsys=capsys)[0] == 0
    merge = ("merge_into", *place, "--source_table", "s", "--on", "t.id = s.id")
    view = "CREATE TEMPORARY VIEW s AS SELECT 2 AS id, 'm' AS v"
    upsert = ("--matched_upsert_set", "v = s.v", "--matched_delete_condition", "s.id > 0")
    done = words(*merge, "--source-sql", view, "--merge_actions", "matched-upsert", *upsert, capsys=capsys)
    assert (done[0], paimon_nb.open_table(place[1]).to_arrow().to_pylist()) == (0, [{"id": 2, "v": "m"}])
    done = words(*merge, "--source-sql", view, "--merge-actions", "matched-delete", capsys=capsys)
    assert (done[0], paimon_nb.open_table(place[1]).to_arrow().num_rows) == (0, 0)


@pytest.mark.spark
def test_rows_that_a_source_names_are_deleted(warehouse, capsys):
    place = ("--path", f"{warehouse}/default.db/t")
    sources = ("--source_sql", "CREATE TEMPORARY VIEW gone AS SELECT 2 AS id UNION ALL SELECT 999")
    assert words("delete", *place, *sources, "--where", "id IN (SELECT id FROM gone)", capsys=capsys)[0] == 0
    assert paimon_nb.open_table(place[1]).to_arrow().to_pylist() == [{"id": 1, "v": "c"}]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--where", "  "], "delete needs a deletion filter"),
        (["--where", "id = 1", "--source_sql", "INVALID password_1"], "source SQL statement 1 failed: SqlSyntaxError"),
        (
            ["--where", "id = 1", "--source_sql", "USE `default`", "--source_sql", "USE password_1"],
            "statement 2 failed",
        ),
    ],
)
def test_a_delete_that_cannot_run_deletes_nothing_and_repeats_no_source(given, said, warehouse, capsys):
    code, out, err = here("delete", "--path", f"{warehouse}/default.db/t", *given, capsys=capsys)
    assert (code != 0, said in err, "password_1" in out + err) == (True, True, False)
    assert paimon_nb.open_table(f"{warehouse}/default.db/t").count() == 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["compact"], "compact needs a table"),
        (["compact", "--path", "w/t"], "--path w/t is not a table path"),
        (["compact", "--path", "w/d.db/t", "--table", "t"], "--path says which table, and so do the others"),
        (["compact", "--table", "t", "--catalog_conf", "metastore"], "--catalog_conf 'metastore' has no '='"),
        (["compact", "--table", "t", "--table_conf", "bucket"], "'bucket' has no '='"),
        (["compact_database", "--including-tables", "(t"], "compact_database: including_tables cannot be '(t'"),
        (
            ["merge_into", "--table", "t", "--merge_actions", "matched-delet"],
            "--merge_actions cannot be 'matched-delet'",
        ),
        (
            ["query_service", "--table", "t"],
            "procedure query_service is not supported: it is a service of a Flink cluster",
        ),
    ],
)
def test_what_an_action_cannot_take_is_told_in_its_own_words(given, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, lines = words(*given, capsys=capsys)
    assert (code, len(lines)) == (1, 2)
    assert said in lines[0]
    assert "CALL" not in lines[1]


def test_an_unknown_action_names_the_nearest(capsys):
    code, _, err = here("compcat", "--path", "x/y.db/t", capsys=capsys)
    assert code == 1
    assert "compact" in err


def test_doctor_finds_what_is_needed(tmp_path):
    code, out, _ = run("doctor", cwd=tmp_path)
    assert code in (0, 1)  # the machine may lack Java; then the line says what to do
    for what in ("Python", "Java", "pyspark", "pyarrow"):
        assert what in out


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"paimon-nb {paimon_nb.__version__}\n"


def test_doctor_refuses_what_it_does_not_know(capsys):
    with pytest.raises(SystemExit):
        main(["doctor", "--bad"])
    assert "unrecognized arguments: --bad" in capsys.readouterr().err


def test_doctor_tells_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "warehouse").touch()
    code, out, _ = run("doctor", cwd=tmp_path)
    assert code == 1
    assert "use another warehouse" in out


@pytest.mark.slow
def test_the_demo_of_an_installed_package_runs_the_notebook_beside_it(tmp_path):
    """The whole quickstart is held to its stored outputs by `make test`; here a small one stands in its place."""
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook

    installed = tmp_path / "site" / "paimon_nb"
    shutil.copytree(Path(paimon_nb.__file__).parent, installed)  # with what is compiled: that takes as long as the demo
    cells = (
        "%load_ext paimon_nb\n%paimon connect warehouse/quickstart",
        "%%paimon\nCREATE TABLE t (k INT, v STRING); INSERT INTO t VALUES (1, 'one'); SELECT * FROM t",
    )
    (tmp_path / "notebooks").mkdir()
    nbformat.write(
        new_notebook(cells=[new_code_cell(c) for c in cells]), tmp_path / "notebooks" / "01-quickstart.ipynb"
    )
    done = subprocess.run(
        [sys.executable, "-m", "paimon_nb.cli", "demo"], capture_output=True, text=True, cwd=tmp_path, check=False,
        env={**os.environ, "PYTHONPATH": str(installed.parent), "IPYTHONDIR": str(tmp_path / "ipython")}, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "one" in done.stdout
    assert "one" in (tmp_path / "demo" / "quickstart.html").read_text()
    assert paimon_nb.open_table(str(tmp_path / "demo/warehouse/quickstart/default.db/t")).to_arrow().num_rows == 1
