"""The history below the timeline: its rows, tags, and a rollback that shows first what it removes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hostile import PAYLOADS, live_nodes
from shell_kit import KEYED, rows

from paimon_nb.base.errors import CommitConflict
from paimon_nb.notebook.undo import history
from paimon_nb.notebook.widgets.base import stylesheet
from paimon_nb.notebook.widgets.timeline import HISTORY_ROWS, Timeline

if TYPE_CHECKING:
    from shell_kit import Shell

    from paimon_nb.table.tables.table import Table
    from paimon_nb.workbench import Workbench


@pytest.fixture
def table(wb: Workbench) -> Table:
    """Three commits of one row each."""
    wb.run(KEYED.format("t"))
    for n in range(3):
        wb.table("t").upsert(rows([n]))
    return wb.table("t")


def asks(panel: Timeline, message: Any) -> dict[str, Any]:
    """What the page gets after a message."""
    panel._on_message(None, message, [])
    return dict(panel.table)


def test_each_commit_is_a_row(table: Table) -> None:
    table.compact(full=True)
    view = Timeline(table).table
    size = [f["size"] for f in view["rows"]]
    assert [(r["id"], r["operation"], r["rows"], r["files"]) for r in view["rows"]] == [
        (4, "compact", "+0 = 3", "+1 −3"),
        (3, "append", "+1 = 3", "+1"),
        (2, "append", "+1 = 2", "+1"),
        (1, "append", "+1 = 1", "+1"),
    ]
    assert size[0].count("B") == 2
    assert all(s.startswith("+") for s in size)
    assert view["rows"][0]["user"] == table.store.snapshots.get(4).commit_user
    assert view["select"] + "3" == "%%paimon\nSELECT * FROM `default`.`t` VERSION AS OF 3"


def test_more_rows_come_on_request(table: Table) -> None:
    for n in range(HISTORY_ROWS):
        table.upsert(rows([n]))
    panel = Timeline(table)
    assert (len(panel.table["rows"]), panel.table["more"]) == (HISTORY_ROWS, 3)
    view = asks(panel, {"more": True})
    assert (len(view["rows"]), view["more"]) == (HISTORY_ROWS + 3, 0)


def test_a_snapshot_is_tagged(table: Table) -> None:
    panel = Timeline(table, 2)
    view = asks(panel, {"tag": " monday ", "snapshot": 2})
    assert (view["message"], view["rows"][1]["tags"]) == ("Tag 'monday' created for snapshot 2.", ("monday",))
    asks(panel, {"tag": "monday", "snapshot": 2})
    assert "monday" in panel.trouble
    assert table.tags().num_rows == 1


def test_a_rollback_shows_what_goes_and_waits_for_a_confirmation(table: Table) -> None:
    table.tags.create("newest")
    panel = Timeline(table, 1)
    asks(panel, {"rollback": 1})
    assert table.refresh().snapshots().num_rows == 3
    view = asks(panel, {"preview_rollback": 1})
    assert view["rollback"] == {
        "target": 1,
        "latest": 3,
        "lines": (
            "Snapshots 2 to 3 (2) are deleted, with the files that only they use.", "Tag 'newest' is deleted.",
            "Rows: 3 now, 1 after it.", "This cannot be undone.",
        ),
    }  # fmt: skip
    assert asks(panel, {"cancel_rollback": True})["rollback"] is None
    asks(panel, {"preview_rollback": 1})
    view = asks(panel, {"rollback": 1})
    assert (view["message"], view["rollback"], len(view["rows"])) == ("Rolled back to snapshot 1.", None, 1)
    assert table.refresh().to_arrow().num_rows == 1


def test_a_button_is_meant_for_the_snapshot_it_was_pressed_at(table: Table) -> None:
    panel = Timeline(table)
    preview = asks(panel, {"preview_rollback": 1})["rollback"]
    panel.position = 0  # the position that the browser held back arrives after the button
    assert (panel.snapshot, panel.table["rollback"], preview["target"]) == (1, preview, 1)
    view = asks(panel, {"tag": "second", "snapshot": 2})
    assert (panel.snapshot, view["message"]) == (2, "Tag 'second' created for snapshot 2.")


def test_a_rollback_is_refused_when_the_table_has_changed(table: Table) -> None:
    panel = Timeline(table, 1)
    asks(panel, {"preview_rollback": 1})
    preview = panel._rollback
    assert preview is not None
    table.upsert(rows([9]))
    asks(panel, {"rollback": 1})
    assert "has changed since the preview" in panel.trouble
    with pytest.raises(CommitConflict):
        panel.roll_back(preview)
    assert table.refresh().snapshots().num_rows == 4


def test_a_snapshot_that_only_a_tag_keeps_is_rolled_back_to(table: Table) -> None:
    table.tags.create("first", 1)
    table.expire(retain_max=1, retain_min=1)
    panel = Timeline(table, 1)
    asks(panel, {"preview_rollback": 1})
    asks(panel, {"rollback": 1})
    assert (panel.trouble, table.refresh().to_arrow().num_rows) == ("", 1)


def test_the_statement_of_this_session_is_shown(shell: Shell) -> None:
    shell.value("%%paimon\nCREATE TABLE t (id INT);\nINSERT INTO t VALUES (1)")
    shell.value("%%paimon\nINSERT INTO t VALUES (2), (3)")
    panel = Timeline(shell.value("wb = %paimon workbench\nwb.table('t')"))
    assert [r["statement"] for r in panel.table["rows"]] == [
        "INSERT INTO t VALUES (2), (3)",
        "CREATE TABLE t (id INT);\nINSERT INTO t VALUES (1)",
    ]
    at = panel.model.commits[-1].time_ms
    assert history.text("default.t", 2, at) == "INSERT INTO t VALUES (2), (3)"
    assert history.text("default.t", 2, at + 60_000) == "", "a later commit with the same id"


def test_the_exported_history_has_the_columns_of_the_panel(shell: Shell) -> None:
    shell.value("%%paimon\nCREATE TABLE t (id INT);\nINSERT INTO t VALUES (1)")
    table = shell.value("wb = %paimon workbench\nwb.table('t')")
    table.tags.create("first")
    exported = re.findall(r"<th[^>]*>([^<]*)</th>", Timeline(table).still_html())
    assert exported == ["snapshot", "time (UTC)", "operation", "physical rows", "files", "bytes", "tags", "statement"]
    panel = re.findall(r'\["([a-z UTC()]+)"(?:, "n")?\]', stylesheet("history.js"))
    assert [name for name in panel if name != "user"] == exported  # a user is one of many random names


@pytest.mark.parametrize("message", [{"tag": "", "snapshot": 2}, {"tag": 5, "snapshot": 2}, {"tag": "a"}, {"tag": "a", "snapshot": 99}, {"rollback": "1"}, {"rollback": 99}, {"more": 1}, {"preview_rollback": "1"}, {"preview_rollback": 99}, None], ids=str)  # fmt: skip
def test_an_unexpected_message_changes_nothing(table: Table, message: Any) -> None:
    panel = Timeline(table)
    before = dict(panel.table)
    assert asks(panel, message) == before
    assert table.refresh().snapshots().num_rows == 3


def test_a_table_without_commits_has_no_rows(wb: Workbench) -> None:
    wb.run(KEYED.format("empty"))
    panel = Timeline(wb.table("empty"))
    assert (panel.table["rows"], asks(panel, {"preview_rollback": 1})["rollback"]) == ([], None)


def test_hostile_names_stay_texts(table: Table) -> None:
    panel = Timeline(table)
    asks(panel, {"tag": PAYLOADS[13], "snapshot": 3})
    assert live_nodes(panel.still_html(), {"svg"}) == []
