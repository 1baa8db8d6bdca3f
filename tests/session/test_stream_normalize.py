"""Streams of key tables without changelog producer: an update comes as -U and +U, as Flink's ChangelogNormalize makes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import paimon_nb

FROM_1 = "/*+ OPTIONS('scan.snapshot-id' = '1') */"


@pytest.fixture
def history(wb: paimon_nb.Workbench) -> paimon_nb.Workbench:
    """The table of the Flink run whose answers are below."""
    wb.run("""
        CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v STRING, n INT) WITH ('bucket' = '1');
        INSERT INTO t VALUES (1, 'A', 1), (2, 'a', 2);
        INSERT INTO t VALUES (1, 'B', 1), (3, 'c', 3);
        INSERT INTO t VALUES (1, 'C', 1);
    """)
    wb.table("t").delete("k = 2")
    wb.run("INSERT INTO t VALUES (1, 'C', 5); SET 'execution.runtime-mode' = 'streaming'")
    return wb


def changes(wb: paimon_nb.Workbench, text: str) -> list[tuple]:
    return [tuple(r.values()) for r in wb.stream(text).collect(timeout_s=60, idle_s=0.1).to_pylist()]


def test_an_update_takes_the_row_before_back(history):
    assert changes(history, f"SELECT * FROM t {FROM_1}") == [
        ("+I", 1, "A", 1), ("+I", 2, "a", 2),
        ("-U", 1, "A", 1), ("+U", 1, "B", 1), ("+I", 3, "c", 3),
        ("-U", 1, "B", 1), ("+U", 1, "C", 1),
        ("-D", 2, "a", 2),
        ("-U", 1, "C", 1), ("+U", 1, "C", 5),
    ]  # fmt: skip


def test_a_row_that_reads_the_same_is_no_change(history):
    assert changes(history, f"SELECT v FROM t {FROM_1}") == [
        ("+I", "A"), ("+I", "a"), ("-U", "A"), ("+U", "B"), ("+I", "c"), ("-U", "B"), ("+U", "C"), ("-D", "a"),
    ]  # fmt: skip


def test_a_condition_is_asked_of_what_goes_and_of_what_comes(history):
    assert changes(history, f"SELECT k, v FROM t {FROM_1} WHERE v <> 'B'") == [
        ("+I", 1, "A"), ("+I", 2, "a"), ("-U", 1, "A"), ("+I", 3, "c"), ("+U", 1, "C"), ("-D", 2, "a"),
    ]  # fmt: skip
    assert changes(history, f"SELECT v FROM t {FROM_1} WHERE k = 2") == [("+I", "a"), ("-D", "a")]


def test_what_came_before_the_stream_is_not_known(history):
    text = "SELECT k, v FROM t /*+ OPTIONS('scan.snapshot-id' = '2') */"
    assert changes(history, text) == [("+I", 1, "B"), ("+I", 3, "c"), ("-U", 1, "B"), ("+U", 1, "C")]


def test_remove_normalize_gives_the_rows_as_written(history):
    text = "SELECT k, v FROM t /*+ OPTIONS('scan.snapshot-id' = '3', 'scan.remove-normalize' = 'true') */"
    assert changes(history, text) == [("+I", 1, "C"), ("-D", 2, "a"), ("+I", 1, "C")]


def test_the_first_state_is_all_inserts(wb):
    import pyarrow as pa

    wb.run("CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v STRING) WITH ('bucket' = '1')")
    table = wb.table("t")
    for value in ("a", "b"):
        rows = pa.table({"k": pa.array([1], pa.int32()), "v": [value]})
        with table.write() as writing:
            writing.write(rows, ["+U"])
            messages = writing.prepare_commit()
        table.commit().commit(messages)
    wb.run("SET 'execution.runtime-mode' = 'streaming'")
    assert changes(wb, "SELECT * FROM t") == [("+I", 1, "b")]


def test_nested_values_and_composite_keys(wb):
    wb.run("""
        CREATE TABLE t (a STRING, b INT, xs ARRAY<INT>, PRIMARY KEY (a, b) NOT ENFORCED) WITH ('bucket' = '2')
    """)
    import pyarrow as pa

    def put(xs: list[list[int] | None]) -> None:
        wb.table("t").append(
            pa.table(
                {
                    "a": ["x"] * len(xs),
                    "b": pa.array(range(len(xs)), pa.int32()),
                    "xs": pa.array(xs, pa.list_(pa.int32())),
                }
            )
        )

    put([[1], [2], None])
    put([[1], [3], None])
    wb.run("SET 'execution.runtime-mode' = 'streaming'")
    found = changes(wb, f"SELECT b, xs FROM t {FROM_1}")
    assert sorted(found[:3], key=str) == [("+I", 0, [1]), ("+I", 1, [2]), ("+I", 2, None)]
    assert found[3:] == [("-U", 1, [2]), ("+U", 1, [3])]
