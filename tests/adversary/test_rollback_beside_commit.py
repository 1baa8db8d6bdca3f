"""A rollback, a fast-forward or an expiry between a writer's look at the newest snapshot and its publish."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import TableReplaced
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


def after_next_publish(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Run `act` when the next snapshot was published and its writer has not looked again."""
    publish, once = SnapshotDirectory.publish, [act]

    def interrupted(self: SnapshotDirectory, *arguments: object, **options: object) -> object:
        published = publish(self, *arguments, **options)
        if once:
            once.pop()()
        return published

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


def snapshots(tmp_path: Path) -> list[int]:
    return paimon_nb.connect(str(tmp_path)).table("t").snapshots().column("snapshot_id").to_pylist()


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


def expire_all_but_the_newest(tmp_path: Path) -> None:
    paimon_nb.connect(str(tmp_path)).run("CALL sys.expire_snapshots(`table` => 't', retain_max => 1, retain_min => 1)")


def test_an_expiry_of_the_snapshot_below_withdraws_nothing(table, tmp_path, monkeypatch):
    after_next_publish(monkeypatch, lambda: expire_all_but_the_newest(tmp_path))
    assert table.append(rows(9)) == [4]
    assert (ids(tmp_path), snapshots(tmp_path)) == ([1, 2, 3, 9], [4])


@pytest.mark.parametrize("after", [1, 3])
def test_others_commit_on_it_and_expire_what_is_below(table, tmp_path, monkeypatch, after):
    """The writer stands still before it looks again: its snapshot may be the oldest by then, or be expired."""

    def others() -> None:
        for i in range(after):
            paimon_nb.connect(str(tmp_path)).table("t").append(rows(20 + i))
        paimon_nb.connect(str(tmp_path)).run(
            "CALL sys.expire_snapshots(`table` => 't', retain_max => 2, retain_min => 1)"
        )

    after_next_publish(monkeypatch, others)
    assert table.append(rows(9)) == [4]
    assert ids(tmp_path) == sorted([1, 2, 3, 9, *range(20, 20 + after)])


@pytest.mark.parametrize("first", [True, False], ids=["first commit", "later commit"])
@pytest.mark.parametrize("kept", [1, 2], ids=["all expired", "next kept"])
@pytest.mark.parametrize("merging", [True, False], ids=["manifests merged", "manifests kept"])
def test_a_commit_whose_id_others_took_and_expired(tmp_path, monkeypatch, first, kept, merging):
    """Its id is free again when it publishes: the rows must not end in a snapshot that nobody reads."""
    wb = paimon_nb.connect(str(tmp_path))
    wb.run(f"CREATE TABLE t (id INT) WITH ('bucket' = '-1', 'manifest.merge-min-count' = '{2 if merging else 30}')")
    if not first:
        wb.table("t").append(rows(1))

    def others() -> None:
        other = paimon_nb.connect(str(tmp_path))
        for i in (7, 8):
            other.table("t").append(rows(i))
        other.run(f"CALL sys.expire_snapshots(`table` => 't', retain_max => {kept}, retain_min => 1)")
        if kept == 2:  # the snapshot with the writer's id is gone, the one after it is there
            other.table("t").append(rows(10))
            other.run("CALL sys.expire_snapshots(`table` => 't', retain_max => 2, retain_min => 1)")

    table = wb.table("t")
    before_next_publish(monkeypatch, others)
    made = table.append(rows(9))
    expected = sorted(([] if first else [1]) + [7, 8, 9] + ([10] if kept == 2 else []))
    assert ids(tmp_path) == expected
    assert snapshots(tmp_path)[-1:] == made
    table.append(rows(11))
    assert ids(tmp_path) == [*expected, 11]


@pytest.mark.parametrize("added", ["w INT", None], ids=["another column", "no column"])
def test_a_fast_forward_takes_the_schema_of_a_writer_away(tmp_path, monkeypatch, added):
    """The branch began at the newest snapshot, so the writer's base is still there; its schema is gone, or another one."""
    wb = paimon_nb.connect(str(tmp_path))
    wb.run("CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    wb.table("t").append(rows(1))
    wb.run("CALL sys.create_tag('t', 'x')")
    wb.run("CALL sys.create_branch('t', 'b', 'x')")
    wb.run("ALTER TABLE t ADD COLUMN v INT")
    table = wb.table("t")

    def others() -> None:
        other = paimon_nb.connect(str(tmp_path))
        other.run("CALL sys.fast_forward('t', 'b')")
        if added:
            other.run(f"ALTER TABLE t ADD COLUMN {added}")

    before_next_publish(monkeypatch, others)
    with pytest.raises(TableReplaced, match="fast-forward"):
        table.append(pa.table({"id": pa.array([2], pa.int32()), "v": pa.array([5], pa.int32())}))
    assert ids(tmp_path) == [1]
    with pytest.raises(TableReplaced, match="fast-forward"):
        table.append(pa.table({"id": pa.array([3], pa.int32()), "v": pa.array([5], pa.int32())}))
    wb.table("t").append(rows(4))
    assert ids(tmp_path) == [1, 4]
