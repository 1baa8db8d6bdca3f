"""A rollback, a fast-forward or an expiry between a writer's look at the newest snapshot and its publish, in each kind of catalog."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from adversary_kit import Killed, Place

from paimon_nb.base.errors import PaimonError, TableReplaced
from paimon_nb.format.snapshot import SnapshotDirectory, directory
from paimon_nb.fs import LockedFileIO, RootedFileIO
from paimon_nb.table.write.maintenance import rollback

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb import Table

NIGHTLY = [pytest.param(kind, marks=pytest.mark.nightly) for kind in ("s3", "sqlite", "sqlite on s3")]
KINDS = ["filesystem", "memory", *NIGHTLY]
ON_DISK = pytest.mark.parametrize(
    "place",
    ["filesystem", *(pytest.param(k, marks=pytest.mark.nightly) for k in ("s3", "memory", "sqlite", "sqlite on s3"))],
    indirect=True,
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
            go_on.wait(60)

    # In a catalog with locks: before it takes the lock, for which the other one would wait.
    for owner, name in (
        (RootedFileIO, "sync_and_put_if_absent"),
        (RootedFileIO, "overwrite"),
        (LockedFileIO, "put_if_absent"),
    ):
        monkeypatch.setattr(owner, name, pausing(pause, getattr(owner, name)))

    def begin() -> None:
        other.start()
        assert reached.wait(60)

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


# -- the writer is killed before it looks


def publish_and_be_killed(table: Table, monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[], object]) -> None:
    """An append stands still before its publish while others work, publishes, and is killed before it looks again."""
    publish, once = SnapshotDirectory.publish, [meanwhile]

    def killed(self: SnapshotDirectory, *arguments: object, **options: object) -> object:
        if not once:
            return publish(self, *arguments, **options)
        once.pop()()
        publish(self, *arguments, **options)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(SnapshotDirectory, "publish", killed)
        with pytest.raises(Killed):
            table.append(rows(9))


def roll_back_and_append(place: Place, *others: int) -> None:
    table = place.open().table("t")
    table.rollback_to(1)
    for i in others:
        table.append(rows(i))


LESS_USUAL_ACTS = ("compact", "overwrite", "compact manifests", "orphans", "tag", "merge")
OTHERS = pytest.mark.parametrize(
    "others", [(), (7,), (7, 8)], ids=["rollback", "one commit after", "as many commits after"]
)


@OTHERS
def test_a_killed_writer_that_a_rollback_overtook_and_the_next_reader(table, place, monkeypatch, others):
    publish_and_be_killed(table, monkeypatch, lambda: roll_back_and_append(place, *others))
    assert ids(place) == [1, *others]
    assert place.open().run("SELECT count(*) AS n FROM t").to_arrow().to_pylist() == [{"n": 1 + len(others)}]
    assert place.open().table("t").latest_snapshot().id == 1 + len(others)
    broken = [f for f in place.open().table("t").inspect.health() if f.grade == "broken"]
    assert [(f.what, f.fix) for f in broken] == [
        ("lost snapshot", f"CALL sys.rollback_to('default.t', {1 + len(others)})")
    ]
    place.open().run(broken[0].fix)
    assert snapshots(place) == list(range(1, 2 + len(others)))
    assert [f.grade for f in place.open().table("t").inspect.health() if f.what == "lost snapshot"] == []


@OTHERS
@ON_DISK
@pytest.mark.parametrize(
    "act", ["append", "expire", *(pytest.param(a, marks=pytest.mark.nightly) for a in LESS_USUAL_ACTS)]
)
def test_a_killed_writer_that_a_rollback_overtook_and_the_next_writer(table, place, monkeypatch, others, act):
    publish_and_be_killed(table, monkeypatch, lambda: roll_back_and_append(place, *others))
    wb, expected = place.open(), [1, *others]
    if act == "append":
        assert wb.table("t").append(rows(11)) == [len(others) + 2]
        expected.append(11)
    elif act == "overwrite":
        wb.table("t").overwrite(rows(12))
        expected = [12]
    elif act == "compact":
        wb.table("t").compact()
    elif act == "orphans":
        wb.run("CALL sys.remove_orphan_files('t')")
    elif act == "tag":
        wb.run("CALL sys.create_tag('t', 'x')")
        wb.run("CALL sys.delete_tag('t', 'x')")
    elif act == "merge":
        wb.table("t").merge(rows(1, 13), on="id").when_not_matched_insert().execute()
        expected.append(13)
    elif act == "compact manifests":
        wb.run("CALL sys.compact_manifest('t')")
    else:
        wb.run("CALL sys.expire_snapshots(`table` => 't', retain_max => 1, retain_min => 1)")
    assert ids(place) == expected
    for i in range(90, 94):  # more than ids were free below the lost snapshot
        place.open().table("t").append(rows(i))
    assert ids(place) == [*expected, *range(90, 94)]
    found = snapshots(place)
    assert found == list(range(found[0], found[-1] + 1))


@pytest.mark.parametrize(
    "hidden", ["manifest/", "manifest/manifest-list", "bucket-0/", "snapshot/snapshot-2", "snapshot/snapshot-3"]
)
@pytest.mark.parametrize("expired", [False, True], ids=["whole history", "expired"])
def test_a_sound_snapshot_whose_files_cannot_be_read_for_a_while_stays(tmp_path, monkeypatch, hidden, expired):
    """A part of the disk is not there: the newest snapshot is whole, and is read again when the files are back."""
    place = Place("filesystem", {"type": "paimon", "warehouse": str(tmp_path / "w")})
    wb = place.open()
    wb.run("CREATE TABLE t (id INT) WITH ('bucket' = '-1', 'manifest.merge-min-count' = '3')")
    for i in range(1, 5):
        wb.table("t").append(rows(i))
    if expired:
        expire_all_but_the_newest(place)
    root = tmp_path / "w/default.db/t"
    away = [f for f in root.rglob("*") if f.is_file() and str(f.relative_to(root)).startswith(hidden)]
    for file in away:
        file.rename(f"{file}.away")
    monkeypatch.setattr(directory, "_known", set())  # as in another process
    acts: list[Callable[[Table], object]] = [
        lambda t: t.to_arrow(), lambda t: t.inspect.health(), lambda t: t.compact(), lambda t: t.tags.create("x"),
        lambda _: place.open().run("CALL sys.remove_orphan_files('t')"),
    ]  # fmt: skip
    for act in acts:
        with suppress(PaimonError):
            act(place.open().table("t"))
    for file in away:
        Path(f"{file}.away").rename(file)
    assert ids(place) == [1, 2, 3, 4]
    assert snapshots(place)[-1] >= 4


@ON_DISK
@pytest.mark.usefixtures("table")
def test_an_expiry_while_the_snapshot_below_is_looked_for(place, monkeypatch):
    """The snapshot below is gone, as after a rollback; no older one is there, as after an expiry."""
    newest_before, once = SnapshotDirectory.newest_before, [1]

    def interrupted(self: SnapshotDirectory, snapshot_id: int) -> object:
        if once:
            once.pop()
            expire_all_but_the_newest(place)
        return newest_before(self, snapshot_id)

    monkeypatch.setattr(directory, "_known", set())
    monkeypatch.setattr(SnapshotDirectory, "newest_before", interrupted)
    assert place.open().table("t").append(rows(9)) == [4]
    assert (once, ids(place)) == ([], [1, 2, 3, 9])


@ON_DISK
@pytest.mark.parametrize("others", [(), (7, 8)], ids=["rollback", "as many commits after"])
def test_a_commit_on_a_snapshot_that_its_writer_is_about_to_withdraw(table, place, monkeypatch, others):
    """The second writer must not build on it: its rows would go with the first one's snapshot."""
    publish, once = SnapshotDirectory.publish, [1]

    def interrupted(self: SnapshotDirectory, *arguments: object, **options: object) -> object:
        if not once:
            return publish(self, *arguments, **options)
        once.pop()
        roll_back_and_append(place, *others)
        published = publish(self, *arguments, **options)
        place.open().table("t").append(rows(20))
        return published

    monkeypatch.setattr(SnapshotDirectory, "publish", interrupted)
    table.append(rows(9))
    assert ids(place) == sorted([1, *others, 9, 20])
    place.open().table("t").append(rows(21))
    assert ids(place) == sorted([1, *others, 9, 20, 21])


@ON_DISK
@pytest.mark.parametrize("end", ["killed", "alive", "rollback killed"])
def test_commits_before_a_rollback_deletes_files(table, place, monkeypatch, end):
    """The first is built on a snapshot that is gone, the second on the first; files of both are still there, and go then."""
    publish, delete_paths, once = SnapshotDirectory.publish, rollback.delete_paths, [1]

    def interrupted(self: SnapshotDirectory, *arguments: object, **options: object) -> object:
        if not once:
            return publish(self, *arguments, **options)
        once.pop()
        published = []

        def others(*paths: object) -> None:
            published.append(publish(self, *arguments, **options))
            place.open().table("t").append(rows(20))
            delete_paths(*paths)

        with monkeypatch.context() as patch:
            patch.setattr(rollback, "delete_paths", others)
            if end == "rollback killed":  # after it has deleted files
                patch.setattr(rollback, "withdraw_lost_snapshots_afterwards", killed)
            with suppress(Killed):
                place.open().table("t").rollback_to(1)
        if end != "alive":
            raise Killed
        return published[0]

    def killed(*_: object, **__: object) -> None:
        raise Killed

    monkeypatch.setattr(directory, "_known", set())
    monkeypatch.setattr(SnapshotDirectory, "publish", interrupted)
    with suppress(Killed):
        table.append(rows(9))
    monkeypatch.setattr(directory, "_known", set())  # as in another process
    found = ids(place)
    assert set(found) - {9} in ({1}, {1, 20})  # before the rollback, or after it
    assert 9 in found or end != "alive"
    for i in range(30, 34):
        place.open().table("t").append(rows(i))
    assert ids(place) == [*found, 30, 31, 32, 33]
