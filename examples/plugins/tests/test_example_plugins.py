"""Uses each plugin through SQL and Python. Run with the package installed: `pytest examples/plugins/tests`."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.connectors.formats import open_decoder, open_encoder
from paimon_nb.connectors.formats.api import INSERT, FormatOptions
from paimon_nb.connectors.registry import SINKS, SOURCES
from paimon_nb.plugins import plugin_groups

if TYPE_CHECKING:
    from pathlib import Path

NAMES = {
    "aggregates": "longest", "decoders": "key-value", "encoders": "key-value", "file_systems": "scratch", "metastores": "scratch",
    "panels": "sizes", "partition_done_actions": "note", "procedures": "row_counts", "sinks": "lines", "sources": "squares",
    "system_tables": "commits_per_user",
}  # fmt: skip


@pytest.fixture
def wb(tmp_path: Path) -> paimon_nb.Workbench:
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run("CREATE TABLE t (id INT, name STRING)")
    wb.run("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    return wb


def test_all_kinds_are_registered() -> None:
    assert {
        group: name in plugins.names() for group, plugins in plugin_groups().items() for name in [NAMES[group]]
    } == dict.fromkeys(NAMES, True)


def test_procedure(wb: paimon_nb.Workbench) -> None:
    assert wb.run("CALL sys.row_counts('default')").to_arrow().to_pylist() == [{"table": "t", "rows": 2}]
    assert "row_counts" in wb.run("SHOW PROCEDURES").to_arrow().column(0).to_pylist()


def test_system_table(wb: paimon_nb.Workbench) -> None:
    wb.run("INSERT INTO t VALUES (3, 'c')")
    found = wb.run("SELECT sum(commits) AS n FROM `t$commits_per_user`").to_arrow().to_pylist()
    assert found == [{"n": 2}]


def test_aggregate(wb: paimon_nb.Workbench) -> None:
    wb.run(
        """CREATE TABLE words (k INT, w STRING, PRIMARY KEY (k) NOT ENFORCED)
           WITH ('bucket' = '1', 'merge-engine' = 'aggregation', 'fields.w.aggregate-function' = 'longest')"""
    )
    for word in ("ab", "abcd", "xyz", None):
        wb.table("words").append(pa.table({"k": pa.array([1], pa.int32()), "w": pa.array([word], pa.string())}))
    assert wb.table("words").to_arrow().to_pylist() == [{"k": 1, "w": "abcd"}]
    wb.table("words").compact(full=True)
    assert wb.table("words").to_arrow().to_pylist() == [{"k": 1, "w": "abcd"}]


def test_formats(wb: paimon_nb.Workbench) -> None:
    fields = wb.table("t").store.schema.fields[1:]
    options = FormatOptions.of("key-value", "", {})
    rows = open_decoder(fields, options).decode([b"name=x", b""])
    assert rows.table.to_pylist() == [{"name": "x"}, {"name": None}]
    assert list(open_encoder(fields, options).encode(rows.table.slice(0, 1), [INSERT])) == [b"name=x"]


def test_file_system_and_catalog(tmp_path: Path) -> None:
    for wb in (
        paimon_nb.connect(f"scratch:{tmp_path}/a"),
        paimon_nb.connect("none", options={"metastore": "scratch", "scratch.root": str(tmp_path / "b")}),
    ):
        wb.run("CREATE TABLE t (id INT)")
        wb.run("INSERT INTO t VALUES (7)")
        assert wb.table("t").to_arrow().to_pylist() == [{"id": 7}]
    assert (tmp_path / "b" / "default.db" / "t").is_dir()


def test_partition_done_action(wb: paimon_nb.Workbench, tmp_path: Path) -> None:
    wb.run("CREATE TABLE p (id INT, day STRING) PARTITIONED BY (day) WITH ('partition.mark-done-action' = 'note')")
    wb.run("INSERT INTO p VALUES (1, 'mon')")
    wb.run("CALL sys.mark_partition_done('p', 'day=mon')")
    assert (tmp_path / "w/default.db/p/DONE").read_text() == "day=mon"


def test_panel(wb: paimon_nb.Workbench) -> None:
    pytest.importorskip("IPython")
    from IPython.testing.globalipapp import start_ipython

    shell = start_ipython()
    shell.run_line_magic("load_ext", "paimon_nb")
    shell.run_line_magic("paimon", f"connect {wb.session.catalog.warehouse}")
    shown = shell.run_line_magic("paimon", "sizes")
    assert repr(shown).startswith("t: ")


@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
def test_source_and_sink(wb: paimon_nb.Workbench, tmp_path: Path) -> None:
    wb.run("CREATE TEMPORARY TABLE s (n BIGINT, square BIGINT) WITH ('connector' = 'squares', 'rows' = '3')")
    wb.run(
        f"CREATE TEMPORARY TABLE o (n BIGINT, square BIGINT) WITH ('connector' = 'lines', 'path' = '{tmp_path}/out')"
    )
    wb.run("INSERT INTO o SELECT * FROM s WHERE n > 1")
    assert (tmp_path / "out").read_text() == "2,4\n3,9\n"


def test_a_source_checks_its_options() -> None:
    assert "squares" in SOURCES
    assert "lines" in SINKS
    with pytest.raises(paimon_nb.PaimonError, match="no option 'row'"):
        paimon_nb.connect("w").run(
            "CREATE TEMPORARY TABLE s (n BIGINT) WITH ('connector' = 'squares', 'row' = '3'); SELECT * FROM s"
        )
