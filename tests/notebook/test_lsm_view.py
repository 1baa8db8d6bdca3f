"""The LSM panel: what each step of a film sends to the page, and how much."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from many_files import write_many

import paimon_nb
from paimon_nb.base.errors import SnapshotNotFound
from paimon_nb.notebook.lsm_buckets import MAX_CELLS, bucket_cells
from paimon_nb.notebook.svg import lsm_svg
from paimon_nb.notebook.widgets import lsm
from paimon_nb.notebook.widgets.lsm import LsmView

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.table.tables.table import Table
    from paimon_nb.workbench import Workbench

SNAPSHOTS = 75
KEYED = "CREATE TABLE {} (id BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '{}', 'write-only' = 'true')"


def upsert(table: Table, *ids: int) -> None:
    table.upsert(pa.table({"id": pa.array(ids, pa.int64())}))


def lanes(view: LsmView) -> list[tuple[str, int, int]]:
    """(label, files, marks) of each lane that the page gets."""
    return [(lane["label"], lane["files"], len(lane["marks"])) for lane in view.picture["lanes"]]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    """1,000 files in two levels, and snapshots that each add a file to level 0."""
    with paimon_nb.connect(str(tmp_path_factory.mktemp("many") / "wh")) as wb:
        write_many(wb, "many", 1000, SNAPSHOTS)
        yield wb.table("many")


def test_each_step_shows_the_tree_and_says_what_the_commit_did(wb: Workbench) -> None:
    wb.run(KEYED.format("t", 1))
    table = wb.table("t")
    for ids in ((0, 100), (50, 60)):
        upsert(table, *ids)
    table.copy({"write-only": "false"}).compact(full=True)
    view = LsmView(wb.table("t"))
    seen = []
    for position in range(3):
        view.position = position
        seen.append(
            (view.snapshot, [label for label, _, _ in lanes(view)], re.sub(r", [\d.]+ k?B", "", view.picture["change"]))
        )
    assert seen == [
        (1, ["L0"], "1 file added (L0)"),
        (2, ["L0 · 1", "L0 · 2"], "1 file added (L0)"),
        (3, ["L5"], "2 files merged into 1 file (L5)"),
    ]
    table.overwrite(pa.table({"id": pa.array([7], pa.int64())}))
    assert LsmView(wb.table("t")).picture["change"].startswith("1 file replaced by 1 file (L5, ")
    view.position = 1
    assert view.code == 'wb.table("default.t").lsm(bucket=0, by="key", snapshot=2)'


def test_a_new_commit_is_followed_only_from_the_newest(wb: Workbench) -> None:
    wb.run(KEYED.format("t", 1))
    upsert(wb.table("t"), 1)
    upsert(wb.table("t"), 2)
    newest, older = LsmView(wb.table("t")), LsmView(wb.table("t"), snapshot=1)
    upsert(wb.table("t"), 3)
    for view in (newest, older):
        view._handle_custom_msg({"reload": True}, [])
    assert (newest.snapshot, older.snapshot) == (3, 1)
    assert [len(v.history["commits"]) for v in (newest, older)] == [3, 3]


def test_many_runs_fold_and_unfold(many: Table) -> None:
    view = LsmView(many)
    upper = [("L4", 250, 250), ("L5", 750, 375)]
    runs = SNAPSHOTS - 1
    assert lanes(view) == [(f"L0 × {runs}", runs, runs), *upper]
    folded = {name: view.picture[name] for name in ("runs", "files", "rows", "bytes")}
    assert folded["runs"] == runs + 2
    assert f"L0 × {runs}" in lsm_svg(view.model)
    view.fold = False
    shown = lanes(view)
    assert shown[0] == ("L0 · 1", 1, 1)
    assert shown[60:] == [(f"L0 × {runs - 60}", runs - 60, runs - 60), *upper]
    assert {name: view.picture[name] for name in folded} == folded


def test_a_folded_lane_holds_each_file_once(many: Table) -> None:
    (fold,) = (lane for lane in LsmView(many).model.lanes if lane.runs > 1)
    assert [m.lane for m in fold.marks] == list(range(fold.stack))
    assert sum(m.files for m in fold.marks) == fold.runs
    assert (fold.marks[0].s0, fold.marks[-1].s1) == (0, pytest.approx(1))
    assert [m.max_sequence for m in fold.marks] == sorted((m.max_sequence for m in fold.marks), reverse=True)


def test_what_a_step_sends_is_bounded(many: Table) -> None:
    view = LsmView(many)
    for position in (0, SNAPSHOTS - 1):
        view.position = position
        assert len(json.dumps(view.picture)) < 250_000
    assert len(json.dumps(view.history)) < 150 * SNAPSHOTS
    assert len(json.dumps(view.heat)) < 500


def test_an_old_snapshot_is_played_with_those_around_it(many: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lsm, "MAX_COMMITS", 20)
    view = LsmView(many, snapshot=40)
    ids = [c["id"] for c in view.history["commits"]]
    assert (view.snapshot, ids) == (40, list(range(30, 50)))
    assert [c["id"] for c in LsmView(many).history["commits"]] == list(range(SNAPSHOTS - 19, SNAPSHOTS + 1))
    with pytest.raises(SnapshotNotFound):
        LsmView(many, snapshot=9999)


def test_whole_numbers_lie_by_value_or_by_rank(wb: Workbench) -> None:
    wb.run(KEYED.format("t", 1))
    for ids in ((0, 1000), (10, 20)):
        upsert(wb.table("t"), *ids)
    view = LsmView(wb.table("t"))

    def places() -> list[tuple[float, float]]:
        return [(m["x0"], m["x1"]) for lane in view.picture["lanes"] for m in lane["marks"]]

    assert (places(), view.picture["values"]) == ([(0.01, 0.02), (0, 1)], (0, 1000))
    view.by = "rank"
    assert (places(), view.picture["values"]) == ([(pytest.approx(1 / 3), pytest.approx(2 / 3)), (0, 1)], None)
    assert "keys in order, not to scale →" in view.still_svg()


def test_the_heat_map_shows_the_runs_of_all_buckets_and_opens_one(wb: Workbench) -> None:
    wb.run(
        "CREATE TABLE t (day STRING, id INT, PRIMARY KEY (day, id) NOT ENFORCED) PARTITIONED BY (day) "
        "WITH ('bucket' = '1', 'write-only' = 'true')"
    )
    for day in ("mon", "mon", "tue"):
        wb.table("t").upsert(pa.table({"day": [day], "id": pa.array([1], pa.int32())}))
    view = LsmView(wb.table("t"), snapshot=1)

    def cells() -> list[tuple[str, int, int]]:
        return [(c["label"], c["runs"], c["files"]) for c in view.heat["cells"]]

    assert cells() == [("day=mon · bucket 0", 1, 1), ("day=tue · bucket 0", 0, 0)]  # the second one is yet to come
    view.selected = 1
    assert (view.picture["partition"], lanes(view), view.picture["change"]) == (
        "day=tue",
        [],
        "no change in this bucket",
    )
    view.position = 2
    assert cells() == [("day=mon · bucket 0", 2, 2), ("day=tue · bucket 0", 1, 1)]
    assert (lanes(view), view.selected) == ([("L0", 1, 1)], 1)


def test_of_very_many_buckets_neighbours_share_a_cell() -> None:
    names = [("", i) for i in range(5 * MAX_CELLS)]
    whole: list[Any] = bucket_cells({}, names, has_keys=True)
    assert [(c.first, c.last) for c in whole] == [(i, i + 4) for i in range(0, 5 * MAX_CELLS, 5)]
    near = bucket_cells({}, names, has_keys=True, first=whole[7].first, last=whole[7].last)
    assert [(c.first, c.last, c.label) for c in near] == [(i, i, f"bucket {i}") for i in range(35, 40)]


def test_a_table_without_snapshots_has_nothing_to_play(wb: Workbench) -> None:
    wb.run(KEYED.format("t", 2))
    view = LsmView(wb.table("t"))
    assert (view.snapshot, view.picture["lanes"], view.heat["cells"], view.history["commits"]) == (None, [], [], [])
    upsert(wb.table("t"), 1)
    view._handle_custom_msg({"reload": True}, [])
    assert (view.trouble, view.snapshot, lanes(view)) == ("", 1, [("L0", 1, 1)])
