"""Panels that answer questions: the funnel of a condition, a key's versions step by step, two moments side by side."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hostile import PAYLOADS, live_nodes
from shell_kit import KEYED, Shell, rows

from paimon_nb.base.errors import ColumnNotFound, SnapshotExpired, SqlSyntaxError, TimeTravelError, UnsupportedOperation
from paimon_nb.notebook.why_svg import visible_columns
from paimon_nb.notebook.widgets.compare import CompareView
from paimon_nb.notebook.widgets.funnel import FunnelView
from paimon_nb.notebook.widgets.why import WhyView

if TYPE_CHECKING:
    from paimon_nb.workbench import Workbench

# -- the funnel


@pytest.fixture
def log(wb: Workbench):
    """Three files: partition x holds 0-9 and 100-109, y holds 0-9; each file has ten rows."""
    wb.run("CREATE TABLE log (a INT, p STRING) PARTITIONED BY (p)")
    table = wb.table("log")
    for p, low in (("x", 0), ("x", 100), ("y", 0)):
        table.append(pa.table({"a": pa.array(range(low, low + 10), pa.int32()), "p": [p] * 10}))
    return table


def test_the_funnel_tells_each_stage_and_what_it_left_out(log) -> None:
    assert str(FunnelView(log, "WHERE p = 'x' AND a > 50").model).split("\n")[1:] == [
        "          2 of 3 manifests",
        "            1 manifest: other partitions, not opened",
        "          1 of 1 partitions",
        "          1 of 1 buckets",
        "          1 of 2 files",
        "            1 file: values do not match",
        "          1 of 1 row groups",
    ]
    model = FunnelView(log, "p = 'x' AND a > 50").model
    assert (model.files, model.rows) == (1, 10)
    assert model.bytes == log.files()["file_size_in_bytes"].to_pylist()[1]


def test_the_funnel_looks_into_row_groups(wb: Workbench) -> None:
    wb.run("CREATE TABLE big (a INT, b STRING) WITH ('file.block-size' = '4 kb')")
    table = wb.table("big")
    table.append(pa.table({"a": pa.array(range(20_000), pa.int32()), "b": [f"text number {i}" for i in range(20_000)]}))
    model = FunnelView(table, "a < 10").model
    step = model.steps[-1]
    assert (step.name, step.remaining) == ("row groups", 1)
    assert step.total > 3
    assert table.to_arrow(where="a < 10").num_rows == 10
    assert model.rows < 20_000
    assert FunnelView(table).model.rows == 20_000


def test_a_wrong_condition_is_answered_on_the_page(log) -> None:
    panel = FunnelView(log, "a = 1")
    panel._on_message(panel, {"where": "q = 1"}, [])
    assert "'q'" in panel.view["error"]
    assert panel.view["where"] == "q = 1"  # what was typed stays to be mended
    panel._on_message(panel, {"where": "a >"}, [])
    assert panel.view["error"]
    panel._on_message(panel, {"where": "a = 1"}, [])
    assert panel.view["error"] == ""
    with pytest.raises((ColumnNotFound, SqlSyntaxError)):
        FunnelView(log, "q = 1")


def test_an_empty_table_has_an_empty_funnel(wb: Workbench) -> None:
    wb.run(KEYED.format("e"))
    panel = FunnelView(wb.table("e"), "id = 1")
    assert (panel.model.files, panel.model.steps) == (0, ())
    assert "0 files to read" in panel.still_svg()


# -- why


@pytest.fixture
def sums(wb: Workbench):
    wb.run(
        "CREATE TABLE s (id INT, n INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', "
        "'merge-engine' = 'aggregation', 'fields.n.aggregate-function' = 'sum', 'write-only' = 'true')"
    )
    table = wb.table("s")
    for n, v in ((1, "a"), (2, None), (4, "b")):
        table.upsert(
            pa.table({"id": pa.array([7], pa.int32()), "n": pa.array([n], pa.int32()), "v": pa.array([v], pa.string())})
        )
    return table


def test_the_accumulator_is_stepped_through(sums) -> None:
    panel = WhyView(sums, {"id": 7})
    assert (panel.step, panel.step_text()) == (3, "3 of 3: +I #2 from level 0 sets n, v")
    said = []
    for step in (0, 1, 2):
        panel.step = step
        said.append(panel.view["summary"])
    assert said == [
        "before the first version: no row", "1 of 3: +I #0 from level 0 sets n, v", "2 of 3: +I #1 from level 0 sets n",
    ]  # fmt: skip
    assert panel.view["svg"].count('<g opacity=".42">') == 2  # the third version and the result are to come
    assert [v.after["n"] for v in panel.answer.versions] == [1, 3, 7]


def test_each_version_shows_something_that_it_set(wb: Workbench) -> None:
    """Of ten columns five fit; a version whose columns were not among them would seem to do nothing."""
    columns = ", ".join(f"c{i} INT" for i in range(10))
    wb.run(
        f"CREATE TABLE p (id INT, {columns}, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'merge-engine' = 'partial-update')"
    )
    for some in (range(6), range(6, 8), range(8, 10)):
        wb.table("p").upsert(pa.table({n: pa.array([1], pa.int32()) for n in ("id", *(f"c{i}" for i in some))}))
    assert visible_columns(WhyView(wb.table("p"), {"id": 1}).answer, 5) == ["c0", "c1", "c6", "c7", "c8"]


def test_another_key_is_typed(sums) -> None:
    panel = WhyView(sums, {"id": 7})
    panel._on_message(panel, {"key": {"id": "8"}}, [])
    assert (panel.view["rule"], panel.view["steps"]) == ("no file contains this key", 0)
    panel._on_message(panel, {"key": {"id": "eight"}}, [])
    assert panel.view["error"] == "'eight' is not a valid INT NOT NULL value for column id"
    assert panel.view["key"] == {"id": "eight"}
    panel._on_message(panel, {"key": {"id": ""}}, [])
    assert "missing: id" in panel.view["error"]
    panel._on_message(panel, {"key": {"id": "7"}}, [])
    assert (panel.view["error"], panel.view["steps"], panel.sql) == (
        "",
        3,
        "SELECT * FROM `default`.`s` WHERE `id` = 7",
    )


def test_a_table_without_keys_has_no_versions(log) -> None:
    with pytest.raises(UnsupportedOperation):
        WhyView(log, {"a": 1})


# -- two moments


def test_rows_are_compared_with_their_old_values(wb: Workbench) -> None:
    wb.run(KEYED.format("t"))
    table = wb.table("t")
    table.upsert(rows([1, 2, 3], "old"))
    table.upsert(rows([2, 4], "new"))
    table.delete("id = 3")
    panel = CompareView(table, 1, 3)
    shown = sorted(tuple(r) for r in panel.view["rows"]["rows"])
    assert shown == [("+I", "4", "new"), ("+U", "2", "new"), ("-D", "3", "old"), ("-U", "2", "old")]
    kinds = [r[0] for r in panel.view["rows"]["rows"]]
    assert kinds.index("-U") + 1 == kinds.index("+U")
    assert panel.view["rows"]["note"] == "changed rows: 1 +I, 1 -U, 1 +U, 1 -D"


def test_what_changed_stands_beside_the_key(wb: Workbench) -> None:
    wb.run("CREATE TABLE w (a INT, b INT, id INT, d INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    for d in (1, 2):
        wb.table("w").upsert(
            pa.table({n: pa.array([v], pa.int32()) for n, v in (("a", 0), ("b", 0), ("id", 7), ("d", d))})
        )
    rows = CompareView(wb.table("w"), 1, 2).view["rows"]
    assert rows["columns"] == ["rowkind", "id", "d", "a", "b"]
    assert rows["rows"] == [["-U", "7", "1", "0", "0"], ["+U", "7", "2", "0", "0"]]


def test_files_are_signed_at_both_moments(wb: Workbench) -> None:
    wb.run(KEYED.format("t"))
    table = wb.table("t")
    for i in range(3):
        table.upsert(rows(list(range(i * 10, i * 10 + 10))))
    table.compact()
    panel = CompareView(table)  # the compaction against what was before it
    compared = table.inspect.compare(3, 4)
    signed = [picture.count("file signed") for picture in panel.view["svgs"]]
    moved = len(compared.only("moved"))
    assert signed == [len(compared.only("removed")) + moved, len(compared.only("added")) + moved]
    assert Counter(r[1] for r in panel.view["files"]["rows"]) == Counter(f.what for f in compared.files)
    assert panel.view["rows"]["note"] == "changed rows: none"
    panel._on_message(panel, {"before": "1", "after": "2"}, [])
    assert (panel.compared.before, panel.compared.after) == (1, 2)


def test_a_moment_that_is_gone_is_said(wb: Workbench, shell: Shell) -> None:
    wb.run(KEYED.format("t"))
    table = wb.table("t")
    table.upsert(rows([1]))
    panel = CompareView(table)
    panel._on_message(panel, {"before": "77", "after": "1"}, [])
    assert "77" in panel.view["error"]
    with pytest.raises((SnapshotExpired, TimeTravelError)):
        CompareView(table, 77, 1)
    shell.value("%%paimon\nCREATE TABLE x (a INT)")
    assert shell.error("%paimon compare x 1")[0] == "UsageError"


# -- all of them


@pytest.mark.parametrize("payload", PAYLOADS[::6])
def test_hostile_texts_stay_text(wb: Workbench, payload: str) -> None:
    wb.run("CREATE TABLE h (k STRING, v STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1')")
    table = wb.table("h")
    for value in ("x", payload):
        table.upsert(pa.table({"k": [payload], "v": [value]}))
    for panel in (WhyView(table, {"k": payload}), CompareView(table, 1, 2), FunnelView(table, "v = 'y'")):
        assert live_nodes(panel.still_html(), {"b"}) == []
