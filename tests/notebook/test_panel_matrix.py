"""Every panel of every table state: it opens, is drawn at each width, stored as text and HTML, reloaded, and says that the table was dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from sampling import sampled

import paimon_nb
from paimon_nb.notebook.reports import health_report
from paimon_nb.notebook.table_feed import TableFeed
from paimon_nb.notebook.views import compaction_view, compared_view, explore_view, funnel_view, lsm_view, timeline_view
from paimon_nb.notebook.widgets.live import LiveTable
from paimon_nb.notebook.widgets.why import WhyView

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from paimon_nb.table.tables.table import Table
    from paimon_nb.workbench import Workbench

WIDTHS = (680, 860, 1280, 1600)


def part(first: int, count: int = 3) -> pa.Table:
    ids = list(range(first, first + count))
    return pa.table(
        {"id": pa.array(ids, pa.int32()), "p": [f"p{i % 3}" for i in ids], "v": [None if i % 2 else "x" for i in ids]}
    )


def table_of(
    wb: Workbench, *, keys: bool, commits: int, partitioned: bool = False, options: dict[str, str] | None = None
) -> Table:
    table = wb.create_table(
        "t",
        part(0).schema,
        primary_key=["id", "p"] if keys else (),
        partition_by=["p"] if partitioned else (),
        options={"bucket": "1" if keys else "-1", "write-only": "true", **(options or {})},
    )
    for i in range(commits):
        table.upsert(part(i)) if keys else table.append(part(i))
    return wb.table("t")


def on_a_branch(wb: Workbench) -> Table:
    table = table_of(wb, keys=True, commits=2)
    table.tags.create("start", 1)
    wb.run("CALL sys.create_branch('default.t', 'b', 'start')")
    branch = wb.table("t$branch_b")
    branch.upsert(part(50))
    return wb.table("t$branch_b")


def expired(wb: Workbench) -> Table:
    table = table_of(wb, keys=True, commits=8)
    table.tags.create("old", 2)
    wb.run("CALL sys.expire_snapshots(`table` => 'default.t', retain_max => 2)")
    return wb.table("t")


STATES: dict[str, Callable[[Workbench], Table]] = {
    "key table, no snapshot": lambda wb: table_of(wb, keys=True, commits=0),
    "key table, 1 run": lambda wb: table_of(wb, keys=True, commits=1),
    "key table, 30 runs": lambda wb: table_of(wb, keys=True, commits=30),
    "key table, 3 partitions": lambda wb: table_of(wb, keys=True, commits=4, partitioned=True),
    "append table, no snapshot": lambda wb: table_of(wb, keys=False, commits=0),
    "append table, 1 file": lambda wb: table_of(wb, keys=False, commits=1),
    "append table, 30 files": lambda wb: table_of(wb, keys=False, commits=30, partitioned=True),
    "another branch": on_a_branch,
    "expired snapshots": expired,
    "deletion vectors": lambda wb: table_of(wb, keys=True, commits=3, options={"deletion-vectors.enabled": "true"}),
    "postponed buckets": lambda wb: table_of(wb, keys=True, commits=3, options={"bucket": "-2"}),
    "dynamic buckets": lambda wb: table_of(wb, keys=True, commits=3, options={"bucket": "-1"}),
}
PANELS: dict[str, Callable[[Workbench, Table], Any]] = {
    "lsm": lambda _, t: lsm_view(t),
    "timeline": lambda _, t: timeline_view(t),
    "explore": lambda _, t: explore_view(t),
    "compact": lambda _, t: compaction_view(t),
    "skip": lambda _, t: funnel_view(t, "id = 1 AND p = 'p1'"),
    "compare": lambda _, t: compared_view(t),
    "why": lambda _, t: WhyView(t, {"id": 1, "p": "p1"}),
    "live": lambda wb, t: LiveTable(TableFeed(t, wb.session.jobs), "SELECT * FROM t"),
    "doctor": lambda _, t: health_report(str(t.name), t.health()),
}
KEY_PANELS = ("compact", "why")
TWO_SNAPSHOTS = ("compare",)


def has_panel(panel: str, table: Table) -> bool:
    """Whether the state has what the panel is about; else it is refused with a sentence."""
    if panel in KEY_PANELS and not table.primary_keys:
        return False
    return not (panel in TWO_SNAPSHOTS and table.snapshots().num_rows < 2)


def faults_of(wb: Workbench, table: Table, name: str) -> list[str]:
    """What goes wrong with a panel from its opening to the drop of its table."""
    panel = PANELS[name](wb, table)
    try:
        bundle = panel._repr_mimebundle_()
        bundle = bundle[0] if isinstance(bundle, tuple) else bundle
        assert bundle["text/plain"].strip()
        assert "<" in bundle["text/html"]
        assert "Traceback" not in bundle["text/html"]
        for width in WIDTHS if hasattr(panel, "width") else ():
            panel.width = width
            assert panel.trouble == ""
        if hasattr(panel, "on_message"):
            panel._on_message(None, {"reload": True}, [])
            assert panel.trouble == "", panel.trouble
        for trait in getattr(panel, "trait_names", list)():
            if panel.trait_metadata(trait, "sync"):
                getattr(panel, trait)
    except Exception as error:  # the list is the outcome
        return [f"{name}: {type(error).__name__} {str(error)[:300]}"]
    finally:
        if isinstance(panel, LiveTable):
            panel.feed.stop()
    return []


@pytest.mark.parametrize("state", sampled(STATES, 3))
def test_panels_of_all_states(state: str, tmp_path: Path) -> None:
    with paimon_nb.connect(str(tmp_path / "wh")) as wb:
        table = STATES[state](wb)
        faults = [fault for name in PANELS if has_panel(name, table) for fault in faults_of(wb, table, name)]
        assert faults == []


@pytest.mark.parametrize("keys", [True, False])
def test_an_open_panel_says_that_its_table_was_dropped(keys: bool, tmp_path: Path) -> None:
    with paimon_nb.connect(str(tmp_path / "wh")) as wb:
        table = table_of(wb, keys=keys, commits=3)
        panels = {n: PANELS[n](wb, table) for n in PANELS if has_panel(n, table) and n not in ("doctor", "live")}
        wb.run("DROP TABLE t")
        for name, panel in panels.items():
            panel._on_message(None, {"reload": True}, [])
            shown = panel.trouble or panel.view.get("error", "")
            assert "t" in shown, name
            assert not panel.is_refused, name  # it is dimmed: nothing of what it shows exists


@pytest.mark.nightly
@pytest.mark.parametrize("keys", [True, False])
def test_panels_of_a_thousand_snapshots_and_partitions(keys: bool, tmp_path: Path) -> None:
    with paimon_nb.connect(str(tmp_path / "wh")) as wb:
        table = table_of(wb, keys=keys, commits=0, partitioned=True)
        many = pa.table(
            {"id": pa.array(range(1000), pa.int32()), "p": [f"p{i}" for i in range(1000)], "v": ["x"] * 1000}
        )
        table.upsert(many) if keys else table.append(many)
        for i in range(999):
            table.upsert(part(i, 1)) if keys else table.append(part(i, 1))
        table = wb.table("t")
        assert [fault for name in PANELS if has_panel(name, table) for fault in faults_of(wb, table, name)] == []
