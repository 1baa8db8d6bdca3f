"""A stretch of an LSM picture: what is in it, where it lies, that nothing is lost or counted twice."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from many_files import append_many, write_many

from paimon_nb.notebook.lsm_model import MAX_MARKS, WHOLE, lsm_picture
from paimon_nb.notebook.widgets.lsm import LsmView
from paimon_nb.notebook.widgets.zoom import checked_window


def deepest(picture: Any) -> Any:
    return picture.lanes[-1]


def test_bins_come_apart_into_their_files(wb: Any) -> None:
    write_many(wb, "t", 4000)
    store = wb.table("t").store
    whole = lsm_picture(store)
    bins = deepest(whole).marks
    assert (deepest(whole).files, len(bins)) == (3000, 375)
    chosen = bins[100]
    near = deepest(lsm_picture(store, window=(chosen.x0, chosen.x1)))
    assert [m.files for m in near.marks] == [1] * chosen.files
    assert (near.marks[0].min_key, near.marks[-1].max_key) == (chosen.min_key, chosen.max_key)
    assert (near.marks[0].x0, near.marks[-1].x1) == pytest.approx((0, 1))
    # Two halves together hold every file, those on the border in both.
    halves = [deepest(lsm_picture(store, window=w)) for w in ((0, 0.5), (0.5, 1))]
    assert 3000 <= sum(h.files for h in halves) <= 3002
    assert all(len(h.marks) <= MAX_MARKS for h in halves)


def test_the_ends_and_the_overlaps_are_those_of_the_stretch(wb: Any) -> None:
    wb.run("CREATE TABLE t (id BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')")
    for low, high in ((0, 1000), (600, 700), (650, 900)):
        wb.table("t").upsert(pa.table({"id": pa.array([low, high], pa.int64())}))
    picture = lsm_picture(wb.table("t").store, window=(0.5, 0.75))
    assert (picture.key_low, picture.key_high) == ("500", "750")
    places = {(m.min_key, m.max_key): (m.x0, m.x1) for lane in picture.lanes for m in lane.marks}
    assert places == {
        ("0", "1000"): (0, 1), ("600", "700"): pytest.approx((0.4, 0.8)), ("650", "900"): pytest.approx((0.6, 1)),
    }  # fmt: skip
    assert [(a, b) for a, b, _ in picture.overlaps] == [(0, 1)]
    assert [lane.files for lane in lsm_picture(wb.table("t").store, window=(0.1, 0.2)).lanes] == [0, 0, 1]


def test_texts_as_keys_lie_by_rank(wb: Any) -> None:
    wb.run("CREATE TABLE t (k STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')")
    for pair in ("ab", "cd", "ef"):
        wb.table("t").upsert(pa.table({"k": list(pair)}))
    picture = lsm_picture(wb.table("t").store, window=(0.4, 0.6))
    assert [lane.files for lane in picture.lanes] == [0, 1, 0]
    assert (picture.key_low, picture.key_high) == ("c", "d")


def test_files_without_keys_are_zoomed_by_their_place(wb: Any) -> None:
    wb.run("CREATE TABLE t (id BIGINT, v STRING)")
    append_many(wb, "t", 2000)
    store = wb.table("t").store
    near = deepest(lsm_picture(store, window=(0.5, 0.51)))
    assert 20 <= near.files <= 22
    assert {m.files for m in near.marks} == {1}
    assert all(0 <= m.x0 < m.x1 <= 1 for m in near.marks)


@pytest.mark.parametrize(
    "asked", [[], [0.2], [0.1, 2], [-1, 0.5], [float("nan"), 0.5], [float("inf"), 0], [0.1, 0.2, 0.3]], ids=str
)
def test_nonsense_is_the_whole(asked: list[float]) -> None:
    assert checked_window(asked) == WHOLE


@pytest.mark.parametrize("at", [0.0, 0.3, 1.0])
def test_a_window_is_never_too_narrow(at: float) -> None:
    low, high = checked_window([at, at])
    assert 0 <= low < high <= 1


def test_another_bucket_is_seen_whole(wb: Any) -> None:
    wb.run("CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2', 'write-only' = 'true')")
    wb.table("t").upsert(pa.table({"id": pa.array(range(50), pa.int32())}))
    view = LsmView(wb.table("t"))
    view.window = [0.6, 0.4]
    assert view.picture["window"] == (0.4, 0.6)
    view.selected = 1 - view.model.bucket
    assert (view.picture["window"], view.window) == (WHOLE, list(WHOLE))
    assert view.picture["bucket"] == view.selected
