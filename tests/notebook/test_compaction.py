"""The compaction panel: what is due, what if, run, cancel, follow; the history against the system tables."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from shell_kit import KEYED, Shell, rows

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.notebook.widgets.compaction import Compaction
from paimon_nb.table.tables.inspect import amplification

if TYPE_CHECKING:
    from paimon_nb.workbench import Workbench

TRIGGER = "num-sorted-run.compaction-trigger"


@pytest.fixture
def three_runs(wb: Workbench):
    wb.run(KEYED.format("t"))
    table = wb.table("t")
    for low, high in ((0, 1000), (0, 10), (990, 1000)):
        table.upsert(rows(list(range(low, high))))
    return table


def signed(panel: Compaction) -> int:
    return panel.view["svg"].count('class="file signed"')


def test_what_if_marks_what_would_be_picked_and_the_run_does_it(three_runs) -> None:
    panel = Compaction(three_runs)
    assert (panel.sentence(), signed(panel), panel.view["anyDue"]) == ("Nothing to compact in bucket 0", 0, False)
    panel.set_option(TRIGGER, "2")
    due = three_runs.inspect.due_compactions({TRIGGER: "2"})[0]
    assert signed(panel) == len(due.files)
    assert panel.view["changed"] == [TRIGGER]
    assert panel.sql.endswith(f"compact_strategy => 'minor', options => '{TRIGGER}=2')")
    done = panel.run()
    assert done.snapshots == (4,)
    born = {f.file: f.bytes for f in three_runs.inspect.compare(3, 4).only("added")}
    assert (done.read, done.written) == (due.bytes, sum(born.values()))
    assert three_runs.snapshots()["commit_kind"].to_pylist() == ["APPEND", "APPEND", "APPEND", "COMPACT"]
    assert panel.work["result"]["text"].startswith("snapshot 4: 1 bucket")
    assert three_runs.to_arrow().num_rows == 1000


def test_everything_ends_in_one_run_and_a_second_run_finds_nothing(three_runs) -> None:
    panel = Compaction(three_runs)
    panel.run(full=True)
    assert [(lane.label, lane.rows) for lane in panel.picture.lanes] == [("L5", 1000)]
    again = panel.run(full=True)
    assert (again.snapshots, str(again)) == ((), "Nothing to compact")


def test_a_wrong_what_if_is_said_and_changes_nothing(three_runs) -> None:
    panel = Compaction(three_runs)
    before = panel.view["sentence"]
    with pytest.raises(BadOptionValue):
        panel.set_option(TRIGGER, "many")
    panel._on_message(panel, {"option": TRIGGER, "value": "many"}, [])
    assert "many" in panel.view["error"]
    assert (panel.view["sentence"], panel.view["changed"]) == (before, [])
    panel._on_message(panel, {"option": "path", "value": "/"}, [])  # no knob, so no question
    assert panel._options == {}


def test_cancel_publishes_nothing_and_leaves_no_file(wb: Workbench) -> None:
    wb.run(
        "CREATE TABLE m (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '4', 'write-only' = 'true')"
    )
    table = wb.table("m")
    for _ in range(2):
        table.upsert(rows(list(range(200))))
    panel = Compaction(table)
    stored = sorted(p.name for p in Path(table.path).rglob("data-*"))
    seen: list[str] = []

    def stop_at_the_second(change) -> None:
        seen.append(change["new"].get("text", ""))
        if seen[-1].startswith("bucket 2"):
            panel._on_message(panel, {"cancel": True}, [])

    panel.observe(stop_at_the_second, "work")
    assert panel.run(full=True).snapshots == ()
    assert [t.split(" (")[0] for t in seen] == ["planning", "bucket 1 of 4", "bucket 2 of 4", ""]
    assert sorted(p.name for p in Path(table.path).rglob("data-*")) == stored
    assert table.snapshots().num_rows == 2


def test_it_follows_the_table(three_runs) -> None:
    panel = Compaction(three_runs, watch=True)
    assert panel.refresh() is False
    three_runs.upsert(rows([5]))
    panel._on_message(panel, {"reload": True}, [])
    assert (panel.picture.snapshot, len(panel.picture.lanes)) == (4, 4)


def test_the_history_is_that_of_the_system_tables(three_runs) -> None:
    three_runs.compact()
    three_runs.upsert(rows([3]))
    history = amplification(three_runs.store)
    sizes = {}
    for snapshot in range(1, 6):
        files = three_runs.files(snapshot)
        sizes[snapshot] = dict(
            zip(files["file_path"].to_pylist(), files["file_size_in_bytes"].to_pylist(), strict=True)
        )
    assert [m.size for m in history.samples] == [sum(s.values()) for s in sizes.values()]
    new = [sum(v for k, v in sizes[i].items() if k not in sizes.get(i - 1, {})) for i in sizes]
    assert [m.written for m in history.samples] == new
    assert [m.rewritten for m in history.samples] == [0, 0, 0, sum(sizes[3].values()), 0]
    assert [m.runs for m in history.samples] == [1, 2, 3, 1, 2]
    assert history.write == sum(new) / (sum(new) - new[3])
    assert history.samples[3].space == 1.0


def test_small_files_of_a_table_without_keys_are_told_tried_and_merged(wb: Workbench, shell: Shell) -> None:
    wb.run("CREATE TABLE a (id INT, v STRING)")
    table = wb.table("a")
    for i in range(4):
        table.append(rows([i]))
    panel = Compaction(table)
    assert panel.lead().startswith("A read of the whole table opens 4 files, and merges nothing. Nothing has to be")
    panel.set_option("compaction.min.file-num", "2")
    assert re.fullmatch(r".* Compacting merges 4 files \(\d\.\d kB\) into 1\.", panel.lead())
    assert panel.sentence().endswith("into 1; rule: compaction.min.file-num")
    assert (signed(panel), panel.view["changed"]) == (4, ["compaction.min.file-num"])
    assert ">files<" in panel.view["history"]
    assert "limit" not in panel.view["history"]
    assert str(panel.run()).startswith("snapshot 5: 1 bucket")
    assert sorted(table.to_arrow()["id"].to_pylist()) == [0, 1, 2, 3]
    assert [m.runs for m in panel.history.samples] == [1, 2, 3, 4, 1]
    assert str(panel.run(full=True)) == "Nothing to compact"
    assert "1 file; nothing to compact" in str(shell.value("%paimon due a"))


def test_an_empty_table_has_no_files(wb: Workbench, shell: Shell) -> None:
    wb.run(KEYED.format("e"))
    wb.run("CREATE TABLE a (id INT)")
    for name in ("e", "a"):
        panel = Compaction(wb.table(name))
        assert (panel.sentence(), str(panel.run(full=True))) == ("no files yet", "Nothing to compact")
        assert "no snapshot yet" in repr(panel)
    assert shell.error("%paimon compact e PATH")[0] == "UsageError"
