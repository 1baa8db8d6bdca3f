"""A rollback, a fast-forward or an expiry between a writer's look at the newest snapshot and its publish, in each kind of catalog."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from adversary_kit import Place

from paimon_nb.base.errors import PaimonError, TableReplaced
from paimon_nb.format.snapshot import SnapshotDirectory
from paimon_nb.fs import RootedFileIO

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from paimon_nb import Table

NIGHTLY = [pytest.param(kind, marks=pytest.mark.nightly) for kind in ("memory", "sqlite", "sqlite on s3")]
KINDS = ["filesystem", "s3", *NIGHTLY]
ON_DISK = pytest.mark.parametrize(
    "place", ["filesystem", *(pytest.param(k, marks=pytest.mark.nightly) for k in ("s3", "sqlite"))], indirect=True
)
"""Tests of many cases; elsewhere in the nightly run."""


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


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """An empty catalog of a kind."""
    return Place.of(request.param, tmp_path, request)


@pytest.fixture
def table(place: Place) -> Table:
    """Three snapshots with the rows 1, 2 and 3."""
    wb = place.open()
    wb.run("CREATE TABLE t (id INT) WITH ('bucket' = '-1')")
    for i in (1, 2, 3):
        wb.table("t").append(rows(i))
    return wb.table("t")


def ids(place: Place) -> list[int]:
    return sorted(place.open().table("t").to_arrow().column("id").to_pylist())


def snapshots(place: Place) -> list[int]:
    return place.open().table("t").snapshots().column("snapshot_id").to_pylist()


def test_a_commit_that_a_rollback_overtakes_is_built_on_the_target(table, place, monkeypatch):
    """Its own snapshot would name manifests that the rollback has deleted, and the table could not be read."""
    before_next_publish(monkeypatch, lambda: place.open().table("t").rollback_to(1))
    assert table.append(rows(9)) == [2]
    assert ids(place) == [1, 9]


def test_a_commit_that_a_rollback_and_another_commit_overtake(table, place, monkeypatch):
    """The id of the snapshot that it was built on is taken again, by another commit."""

    def roll_back_and_append() -> None:
        other = place.open().table("t")
        other.rollback_to(1)
        for i in (7, 8):
            other.append(rows(i))

    before_next_publish(monkeypatch, roll_back_and_append)
    assert table.append(rows(9)) == [4]
    assert ids(place) == [1, 7, 8, 9]


def expire_all_but_the_newest(place: Place) -> None:
    place.open().run("CALL sys.expire_snapshots(`table` => 't', retain_max => 1, retain_min => 1)")


def test_an_expiry_of_the_snapshot_below_withdraws_nothing(table, place, monkeypatch):
    after_next_publish(monkeypatch, lambda: expire_all_but_the_newest(place))
    assert table.append(rows(9)) == [4]
    assert (ids(place), snapshots(place)) == ([1, 2, 3, 9], [4])


@pytest.mark.parametrize("after", [1, 3])
def test_others_commit_on_it_and_expire_what_is_below(table, place, monkeypatch, after):
    """The writer stands still before it looks again: its snapshot may be the oldest by then, or be expired."""

    def others() -> None:
        for i in range(after):
            place.open().table("t").append(rows(20 + i))
        place.open().run("CALL sys.expire_snapshots(`table` => 't', retain_max => 2, retain_min => 1)")

    after_next_publish(monkeypatch, others)
    assert table.append(rows(9)) == [4]
    assert ids(place) == sorted([1, 2, 3, 9, *range(20, 20 + after)])


@ON_DISK
@pytest.mark.parametrize("first", [True, False], ids=["first commit", "later commit"])
@pytest.mark.parametrize("kept", [1, 2], ids=["all expired", "next kept"])
@pytest.mark.parametrize("merging", [True, False], ids=["manifests merged", "manifests kept"])
def test_a_commit_whose_id_others_took_and_expired(place, monkeypatch, first, kept, merging):
    """Its id is free again when it publishes: the rows must not end in a snapshot that nobody reads."""
    wb = place.open()
    wb.run(f"CREATE TABLE t (id INT) WITH ('bucket' = '-1', 'manifest.merge-min-count' = '{2 if merging else 30}')")
    if not first:
        wb.table("t").append(rows(1))

    def others() -> None:
        other = place.open()
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
    assert ids(place) == expected
    assert snapshots(place)[-1:] == made
    table.append(rows(11))
    assert ids(place) == [*expected, 11]


@pytest.mark.parametrize("added", ["w INT", None], ids=["another column", "no column"])
def test_a_fast_forward_takes_the_schema_of_a_writer_away(place, monkeypatch, added):
    """The branch began at the newest snapshot, so the writer's base is still there; its schema is gone, or another one."""
    wb = place.open()
    wb.run("CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    wb.table("t").append(rows(1))
    wb.run("CALL sys.create_tag('t', 'x')")
    wb.run("CALL sys.create_branch('t', 'b', 'x')")
    wb.run("ALTER TABLE t ADD COLUMN v INT")
    table = wb.table("t")

    def others() -> None:
        other = place.open()
        other.run("CALL sys.fast_forward('t', 'b')")
        if added:
            other.run(f"ALTER TABLE t ADD COLUMN {added}")

    before_next_publish(monkeypatch, others)
    with pytest.raises(TableReplaced, match="fast-forward"):
        table.append(pa.table({"id": pa.array([2], pa.int32()), "v": pa.array([5], pa.int32())}))
    assert ids(place) == [1]
    with pytest.raises(TableReplaced, match="fast-forward"):
        table.append(pa.table({"id": pa.array([3], pa.int32()), "v": pa.array([5], pa.int32())}))
    wb.table("t").append(rows(4))
    assert ids(place) == [1, 4]


@pytest.mark.parametrize("branched_at", [1, 2])
def test_a_commit_that_a_fast_forward_overtakes_is_built_on_the_branch(table, place, monkeypatch, branched_at):
    """The fast-forward removes the snapshot that it was built on; at 1, there is no older one either."""
    table.create_tag("here", branched_at)
    table.branches.create("b", tag="here")
    place.open().table("default.t$branch_b").append(rows(8))
    before_next_publish(monkeypatch, lambda: place.open().table("t").branches.fast_forward("b"))
    assert table.append(rows(9)) == [branched_at + 2]
    assert ids(place) == [*range(1, branched_at + 1), 8, 9]


@ON_DISK
@pytest.mark.parametrize("look", ["before", "meanwhile"])
@pytest.mark.parametrize("at", ["tag/tag-first", "snapshot/snapshot-2", "snapshot/snapshot-3", "snapshot/LATEST"])
def test_a_commit_while_a_fast_forward_runs(table, place, monkeypatch, at, look):
    """Snapshots of main are removed and those of the branch are not there yet: the writer looked before it, or meanwhile."""
    table.create_tag("first", 1)
    table.branches.create("b", tag="first")
    for i in (7, 8):
        place.open().table("default.t$branch_b").append(rows(i))
    reached, go_on = threading.Event(), threading.Event()
    other = threading.Thread(target=lambda: place.open().table("t").branches.fast_forward("b"))

    def pause(path: str) -> None:
        if threading.current_thread() is other and path.endswith(at) and not reached.is_set():
            reached.set()
            go_on.wait(20)

    for name in ("sync_and_put_if_absent", "overwrite"):
        monkeypatch.setattr(RootedFileIO, name, pausing(pause, getattr(RootedFileIO, name)))

    def begin() -> None:
        other.start()
        assert reached.wait(20)

    if look == "before":
        before_next_publish(monkeypatch, begin)
    else:
        begin()
    assert table.append(rows(9))
    go_on.set()
    other.join(60)

    # The commit came before the fast-forward, which replaces its rows, too; or after it.
    found = ids(place)
    assert found in ([1, 7, 8], [1, 7, 8, 9])
    place.open().table("t").append(rows(99))
    assert ids(place) == [*found, 99]
    store = place.open().table("t").store
    assert store.snapshots.ids() == list(range(1, len(found) + 2))
    assert [s.total_record_count for s in store.snapshots.all()] == list(range(1, len(found) + 2))


def pausing(pause: Callable[[str], None], call: Callable[..., object]) -> Callable[..., object]:
    def calling(self: object, *arguments: object, **options: object) -> object:
        pause(next(a for a in arguments if isinstance(a, str)))
        return call(self, *arguments, **options)

    return calling


def test_rows_are_not_lost_when_manifests_are_compacted_beside_a_rollback(table, place, monkeypatch):
    """compact_manifest publishes a snapshot, too."""
    before_next_publish(monkeypatch, lambda: place.open().table("t").rollback_to(1))
    assert table.latest_snapshot().id == 3
    with suppress(PaimonError):
        place.open().run("CALL sys.compact_manifest('t')")
    assert ids(place) == [1]
    place.open().table("t").append(rows(9))
    assert ids(place) == [1, 9]
