"""The sentence at the top of each panel: what it shows, for who does not know how tables are stored."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa
from shell_kit import KEYED, rows

from paimon_nb.notebook.table_feed import TableFeed
from paimon_nb.notebook.widgets.compare import CompareView
from paimon_nb.notebook.widgets.doctor import DoctorView
from paimon_nb.notebook.widgets.explore import Explorer
from paimon_nb.notebook.widgets.funnel import FunnelView
from paimon_nb.notebook.widgets.live import LiveTable
from paimon_nb.notebook.widgets.timeline import Timeline

if TYPE_CHECKING:
    from paimon_nb.table.tables.table import Table
    from paimon_nb.workbench import Workbench


def written(wb: Workbench, batches: int = 3) -> Table:
    """Ten new rows a commit; the first of each changes a row of the commit before."""
    wb.run(KEYED.format("t"))
    for n in range(batches):
        wb.table("t").upsert(rows(list(range(n * 10 - (n > 0), n * 10 + 10)), f"v{n}"))
    return wb.table("t")


def without_time(text: str) -> str:
    return re.sub(r"\d{4}-\d\d-\d\d at [\d:]+ UTC", "TIME", re.sub(r"\d[\d.]* k?B", "SIZE", text))


def test_skip_says_what_a_condition_saves_and_why(wb: Workbench) -> None:
    panel = FunnelView(written(wb))
    said = {}
    for where in ("", "id = 25", "id > 1000", "v LIKE '%v%'"):
        panel.show(where)
        said[where] = without_time(panel.view["lead"])
    assert said == {
        "": "Without a condition a query reads all 3 files (SIZE). Type one to see which files it skips.",
        "id = 25": "A query with this condition reads 1 of 3 files (SIZE). Skipped: 2 because the key range does not match.",
        "id > 1000": "No file can have such a row: a query with this condition reads nothing.",
        "v LIKE '%v%'": "A query with this condition reads all 3 files (SIZE). None of them can be skipped: by their statistics each may have such rows.",
    }


def test_skip_names_partitions_that_are_not_opened(wb: Workbench) -> None:
    wb.run("CREATE TABLE p (day STRING, v INT) PARTITIONED BY (day)")
    for day in ("a", "b", "c"):
        wb.run(f"INSERT INTO p VALUES ('{day}', 1)")
    said = without_time(FunnelView(wb.table("p"), "day = 'b'").view["lead"])
    assert (
        said
        == "A query with this condition reads 1 file (SIZE) of the partitions that match. It does not even open 2 manifests of other partitions."
    )


def test_compare_counts_rows_before_files(wb: Workbench) -> None:
    table = written(wb)
    table.delete("id = 0")
    table.compact(full=True)
    panel = CompareView(table, 1, 2)
    said = [panel.lead()]
    for before, after in ((2, 4), (4, 5), (5, 5), (5, 1)):
        panel.show(before, after)
        said.append(panel.lead())
    assert said == [
        "From snapshot 1 to 2: 10 rows were added and 1 changed.",
        "From snapshot 2 to 4: 10 rows were added, 1 changed and 1 deleted.",
        "From snapshot 4 to 5: no row changed: 4 files became 1.",
        "This is snapshot 5 beside itself: nothing differs.",
        "From snapshot 5 to 1: the files of the table changed; its rows were not compared.",
    ]


def test_many_runs_of_a_comparison_share_a_lane(wb: Workbench) -> None:
    panel = CompareView(written(wb, 30), 1, 30)
    assert "L0 × 30" in panel.view["svgs"][1]
    assert int(re.search(r'height="(\d+)"', panel.view["svgs"][1])[1]) < 200  # type: ignore[index]


def test_the_timeline_says_what_the_selected_snapshot_is(wb: Workbench) -> None:
    table = written(wb)
    table.compact(full=True)
    panel = Timeline(table)
    said = [without_time(panel.preview["lead"])]
    panel.position = 1
    said.append(without_time(panel.preview["lead"]))
    assert said == [
        "Snapshot 4 is the table as it is now, after a compaction, which changes no row, on TIME. It has 30 rows.",
        "Snapshot 2 is the table as it was, after new rows came on TIME. It had 20 rows.",
    ]


def test_the_explorer_shows_what_the_table_is_and_its_rows(wb: Workbench) -> None:
    table = written(wb)
    wb.run("CREATE TABLE log (v INT)")
    key, empty = Explorer(table), Explorer(wb.table("log"))
    assert (
        key.facts["lead"]
        == "A table with one row for each id: 32 stored versions of rows in 3 files, last changed just now."
    )
    assert empty.facts["lead"] == "A table to which rows are appended. It is empty: nothing was written yet."
    assert key.first_rows() == {
        "columns": ["id", "v"], "rows": [[str(n), "v0"] for n in range(5)], "numbers": [True, False], "note": "the first 5 rows",
    }  # fmt: skip
    assert empty.first_rows()["note"] == "no rows"
    assert key.query == "%%paimon\nSELECT * FROM `default`.`t` LIMIT 100"


def test_the_doctor_says_what_a_finding_means_and_what_its_cure_costs(wb: Workbench) -> None:
    table = written(wb, 6)
    panel = DoctorView(table)
    (finding,) = panel.view["findings"]
    assert panel.lead() == "Reads are slower than they have to be: they merge many sorted runs for each key."
    assert (finding["cell"], without_time(finding["price"])) == (
        "%%paimon\nCALL sys.compact('default.t')",
        "rewrites 6 files, SIZE",
    )

    wb.run(finding["fix"])
    panel.reload()

    assert without_time(panel.lead()) == "Nothing to do: 1 file (SIZE), none missing."


def test_live_says_whether_all_is_read_and_how_to_get_old_values(wb: Workbench) -> None:
    table = written(wb)
    wb.run(KEYED.format("logged").replace("WITH (", "WITH ('changelog-producer' = 'input', "))
    feeds = [TableFeed(t, wb.session.jobs) for t in (table, wb.table("logged"))]
    panels = [LiveTable(feed, "") for feed in feeds]
    try:
        views = [panel.current() for panel in panels]
    finally:
        for panel in panels:
            panel.stop()
    assert (
        views[0]["lead"]
        == "Changes appear here as they are committed: 30 changes so far. All are read; new ones come by themselves."
    )
    assert [view["fix"] for view in views] == ["ALTER TABLE `default`.`t` SET ('changelog-producer' = 'lookup')", ""]
    assert [view["more"].startswith("This table writes no changelog") for view in views] == [True, False]
    assert panels[0].current()["lead"] == "Stopped after 30 changes. Restart follows the table again."
    wb.run(views[0]["fix"])
    wb.table("t").upsert(pa.table({"id": pa.array([0], pa.int32()), "v": ["new"]}))
    assert TableFeed(wb.table("t"), wb.session.jobs).changelog_statement == ""
