"""A rollback or fast-forward between a writer's look at the newest snapshot and its publish."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.format.snapshot import SnapshotDirectory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from paimon_nb import Table


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int32())})


def before_next_publish(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Run `act` when the next snapshot is about to be published."""
    publish, once = SnapshotDirectory.publish, [act]

    def interrupted(self: SnapshotDirectory, *arguments: object, **options: object) -> object:
        if once:
            once.pop()()
        return publish(self, *arguments, **options)

    monkeypatch.setattr(SnapshotDirectory, "publish", interrupted)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Three snapshots with the rows 1, 2 and 3."""
    wb = paimon_nb.connect(str(tmp_path))
    wb.run("CREATE TABLE t (id INT) WITH ('bucket' = '-1')")
    for i in (1, 2, 3):
        wb.table("t").append(rows(i))
    return wb.table("t")


def ids(tmp_path: Path) -> list[int]:
    return sorted(paimon_nb.connect(str(tmp_path)).table("t").to_arrow().column("id").to_pylist())


def test_a_commit_that_a_rollback_overtakes_is_built_on_the_target(table, tmp_path, monkeypatch):
    """Its own snapshot would name manifests that the rollback has deleted, and the table could not be read."""
    before_next_publish(monkeypatch, lambda: paimon_nb.connect(str(tmp_path)).table("t").rollback_to(1))
    assert table.append(rows(9)) == [2]
    assert ids(tmp_path) == [1, 9]


def test_a_commit_that_a_rollback_and_another_commit_overtake(table, tmp_path, monkeypatch):
    """The id of the snapshot that it was built on is taken again, by another commit."""

    def roll_back_and_append() -> None:
        other = paimon_nb.connect(str(tmp_path)).table("t")
        other.rollback_to(1)
        for i in (7, 8):
            other.append(rows(i))

    before_next_publish(monkeypatch, roll_back_and_append)
    assert table.append(rows(9)) == [4]
    assert ids(tmp_path) == [1, 7, 8, 9]


def test_an_expiry_of_the_snapshot_below_withdraws_nothing(table, tmp_path, monkeypatch):
    def expire_all_but_the_newest() -> None:
        paimon_nb.connect(str(tmp_path)).run(
            "CALL sys.expire_snapshots(`table` => 't', retain_max => 1, retain_min => 1)"
        )

    publish = SnapshotDirectory.publish
    looked = []

    def expiring(self: SnapshotDirectory, snapshot: object, *arguments: object, **options: object) -> object:
        is_rolled_back = SnapshotDirectory._is_rolled_back

        def after_expiry(directory: SnapshotDirectory, base: object) -> bool:
            expire_all_but_the_newest()
            looked.append(is_rolled_back(directory, base))
            return looked[-1]

        with monkeypatch.context() as inner:
            if not looked:
                inner.setattr(SnapshotDirectory, "_is_rolled_back", after_expiry)
            return publish(self, snapshot, *arguments, **options)

    monkeypatch.setattr(SnapshotDirectory, "publish", expiring)
    assert table.append(rows(9)) == [4]
    assert (looked, ids(tmp_path)) == ([False], [1, 2, 3, 9])
