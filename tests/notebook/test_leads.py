"""The first sentence of a panel: what it means for a person who knows no LSM tree, and the one thing to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from shell_kit import KEYED, Shell, rows

from paimon_nb.notebook.magics.active import current, workbench
from paimon_nb.notebook.table_feed import TableFeed
from paimon_nb.notebook.widgets.compaction import Compaction
from paimon_nb.notebook.widgets.lsm import LsmView
from paimon_nb.notebook.widgets.why import WhyView

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def keyed(shell: Shell) -> Any:
    """A key table without rows."""
    shell.value("%%paimon -q\n" + KEYED.format("t"))
    return workbench().table("t")


def test_compaction_before_and_after(keyed: Any) -> None:
    assert Compaction(keyed).lead() == "The table has no files yet: there is nothing to compact."
    for i in range(30):
        keyed.upsert(rows([i]))
    panel = Compaction(keyed)
    assert panel.lead().startswith("A read merges up to 30 sorted runs for each key. Compacting rewrites 30 files (")
    assert len(panel.picture.lanes) < 10  # the runs of level 0 share a lane
    panel.run(full=True)
    assert panel.lead() == "Reads merge nothing: each bucket has one sorted run."


def test_lsm_of_keys_and_of_appended_rows(keyed: Any, shell: Shell) -> None:
    assert LsmView(keyed).lead() == "This bucket has no files at this snapshot."
    for i in range(3):
        keyed.upsert(rows([i]))
    assert LsmView(keyed).lead().startswith("Reads of this bucket merge 3 sorted runs (3 files, ")
    assert (
        LsmView(keyed, snapshot=1)
        .lead()
        .startswith("Reads of this bucket merge nothing: its rows are one sorted run (1 file, ")
    )
    shell.value("%%paimon -q\nCREATE TABLE a (id INT)")
    workbench().table("a").append(rows([1]).select(["id"]))
    assert LsmView(workbench().table("a")).lead().startswith("Reads take the rows of all files as they are (1 file, ")


def test_why_tells_when_and_by_what(keyed: Any, shell: Shell) -> None:
    shell.value("%paimon INSERT INTO t VALUES (1, 'a')")
    keyed.refresh().upsert(rows([1], "b"))
    panel = WhyView(workbench().table("t"), {"id": 1})
    assert panel.lead().startswith("This row was written 2 times, the last time just now (20")
    assert " in snapshot 2 by the user " in panel.lead()
    panel.step = 1
    assert panel.view["written"].endswith("in snapshot 1 by the cell INSERT INTO t VALUES (1, 'a')")
    assert WhyView(keyed.refresh(), {"id": 99}).lead() == "No file of the table has this key."


def test_why_after_a_compaction_names_the_older_snapshots(keyed: Any, shell: Shell) -> None:
    for text in "abc":
        keyed.upsert(rows([1], text))
    keyed.compact(full=True)
    panel = WhyView(keyed.refresh(), {"id": 1})
    assert panel.lead().endswith(
        "It came from a compaction, which merged what was before: older snapshots still have it."
    )
    assert panel.view["before"] == "%%paimon\nSELECT * FROM `default`.`t` VERSION AS OF 2 WHERE `id` = 1"
    assert shell.value(panel.view["before"]).to_arrow().to_pylist() == [{"id": 1, "v": "b"}]


def test_why_of_many_columns_names_a_few(shell: Shell) -> None:
    columns = ", ".join(f"c{i} INT" for i in range(40))
    shell.value(f"%%paimon -q\nCREATE TABLE w (id INT, {columns}, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    shell.value(f"%paimon INSERT INTO w VALUES (1, {', '.join('1' for _ in range(40))})")
    assert (
        WhyView(workbench().table("w"), {"id": 1})
        .step_text()
        .endswith(" sets c0, c1, c2, c3, c4, c5 and 34 more columns")
    )


def test_live_says_what_a_table_without_a_changelog_does_not_show(keyed: Any, shell: Shell) -> None:
    feed = TableFeed(keyed, workbench().session.jobs)
    assert feed.note.startswith("This table writes no changelog: a changed row comes as +I")
    feed.stop()
    shell.value("%paimon ALTER TABLE t SET ('changelog-producer' = 'input')")
    feed = TableFeed(keyed.refresh(), workbench().session.jobs)
    assert feed.note == ""
    feed.stop()


def test_a_panel_is_saved_as_a_page(keyed: Any, tmp_path: Path) -> None:
    keyed.upsert(rows([1]))
    path = keyed.refresh().lsm().save(tmp_path / "x.html")
    page = path.read_text()
    assert page.startswith("<!doctype html>")
    assert "<svg" in page
    assert "<script" not in page
    assert "http://www.w3.org" in page
    assert page.count("http") == page.count("http://www.w3.org")
    assert current.workbench is not None
