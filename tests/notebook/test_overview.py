"""The explorer's first page: its figures are those of the system tables, its bounds those of the rows, its looks open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from shell_kit import KEYED, Shell, rows

from paimon_nb.notebook.explore_model import Inspector
from paimon_nb.notebook.overview import MAX_FILES, ago_text, column_bounds_of_files, read_stored_files
from paimon_nb.notebook.widgets.lsm import LsmView
from paimon_nb.notebook.widgets.timeline import Timeline

if TYPE_CHECKING:
    from paimon_nb.workbench import Workbench


def test_the_figures_are_those_of_the_system_tables(wb: Workbench) -> None:
    wb.run(
        "CREATE TABLE t (id INT, v STRING, p STRING, PRIMARY KEY (id, p) NOT ENFORCED) PARTITIONED BY (p) "
        "WITH ('bucket' = '2', 'merge-engine' = 'partial-update', 'changelog-producer' = 'lookup')"
    )
    table = wb.table("t")
    for part in ("a", "b"):
        table.upsert(pa.table({"id": pa.array(range(40), pa.int32()), "v": ["x"] * 40, "p": [part] * 40}))
    facts = Inspector(table).facts("")
    assert facts.kind == ("primary-key table", "partial-update", "partitioned by p", "2 buckets", "changelog: lookup")
    files, snapshots = table.files().to_pylist(), table.snapshots().to_pylist()
    tiles = {t.label: (t.value, t.note) for t in facts.tiles}
    size = sum(f["file_size_in_bytes"] for f in files)
    assert tiles.pop("data") == (f"{size / 1000:.1f} kB", f"{len(files)} files, 2 partitions")
    assert tiles.pop("physical rows") == (str(snapshots[-1]["total_record_count"]), "before merge")
    assert tiles.pop("snapshots") == (str(len(snapshots)), f"1 … {len(snapshots)}")
    assert tiles.pop("last commit")[0] == "just now"
    assert tiles == {}
    assert facts.svg.count("data-snapshot=") == len(snapshots)


def test_bounds_are_those_of_the_rows(wb: Workbench) -> None:
    wb.run("CREATE TABLE t (n INT, v STRING, only_null INT)")
    for values in ([3, None, -7], [12, 5, None]):
        made = {"n": pa.array(values, pa.int32()), "v": ["b", "a", None], "only_null": pa.array([None] * 3, pa.int32())}
        wb.table("t").append(pa.table(made))
    facts = Inspector(wb.table("t")).facts("")
    assert facts.columns == ("column", "type", "min", "max", "nulls")
    assert facts.rows == (
        ("n", "INT", "-7", "12", "2"),
        ("v", "STRING", "a", "b", "2"),
        ("only_null", "INT", "", "", "6"),
    )
    wb.run("ALTER TABLE t ADD (late INT)")
    wb.run("ALTER TABLE t MODIFY (n BIGINT)")
    rows_now = {row[0]: row[2:] for row in Inspector(wb.table("t")).facts("").rows}
    assert rows_now["late"] == rows_now["n"] == ("", "", "")  # the files do not tell these as they are now
    assert rows_now["v"] == ("a", "b", "2")


def test_a_large_table_is_counted_from_its_manifest_lists(wb: Workbench) -> None:
    from many_files import write_many

    write_many(wb, "many", MAX_FILES + 1)
    table = wb.table("many")
    stored = read_stored_files(table.store, table.latest_snapshot())
    assert stored.files == table.files().num_rows
    assert stored.known == ()
    assert column_bounds_of_files(table.store, stored.known) == {}
    assert [t.label for t in Inspector(table).facts("").tiles] == ["physical rows", "files", "snapshots", "last commit"]


def test_every_look_opens(shell: Shell) -> None:
    shell.value("%paimon " + KEYED.format("t"))
    table = shell.value("%paimon workbench").table("t")
    for i in range(3):
        table.upsert(rows([i]))
    inspector = Inspector(table)
    panels = [*inspector.facts("").panels, *inspector.facts("snapshot/2").panels]
    assert [text for text, _ in panels] == [
        "history", "live changes", "LSM tree", "compaction", "pruning", "compare", "health", "history at this snapshot", "LSM tree at this snapshot", "changes in this snapshot",
    ]  # fmt: skip
    opened = {text: shell.value(command) for text, command in panels}
    assert isinstance(opened["history at this snapshot"], Timeline)
    assert (opened["history at this snapshot"].snapshot, opened["history"].snapshot) == (2, 3)
    assert isinstance(opened["LSM tree at this snapshot"], LsmView)
    assert (opened["LSM tree at this snapshot"].model.snapshot, opened["LSM tree at this snapshot"].model.files) == (
        2,
        2,
    )
    assert (opened["changes in this snapshot"].compared.before, opened["changes in this snapshot"].compared.after) == (
        1,
        2,
    )
    assert inspector.facts("snapshot/1").panels[-1][0] != "changes in this snapshot"  # nothing is before it


def test_a_snapshot_that_is_not_there_is_said(shell: Shell) -> None:
    shell.value("%paimon " + KEYED.format("t"))
    shell.value("%paimon workbench").table("t").upsert(rows([1]))
    for command in ("timeline t 77", "lsm t --at 77"):
        assert "77" in str(shell.run(f"%paimon {command}").error_in_exec)


def test_a_name_that_is_not_one_word_has_no_looks(wb: Workbench) -> None:
    wb.run("CREATE TABLE `two words; %paimon undo` (id INT)")
    assert Inspector(wb.table("two words; %paimon undo")).facts("").panels == ()


@pytest.mark.parametrize(
    ("ms", "text"),
    [(-5, "just now"), (59_999, "just now"), (60_000, "1 min ago"), (119 * 60_000, "119 min ago"), (2 * 3_600_000, "2 h ago"), (48 * 3_600_000, "2 days ago")],
)  # fmt: skip
def test_how_long_ago(ms: int, text: str) -> None:
    assert ago_text(ms) == text
