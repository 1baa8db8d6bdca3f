"""A writer that stands still after its publish, while others build on its snapshot and expire it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from adversary_kit import Killed, Place
from sampling import sampled

from paimon_nb.base.errors import SnapshotExpired, SnapshotNotFound
from paimon_nb.format.schema import SchemaDirectory
from paimon_nb.format.snapshot import SnapshotDirectory, directory
from paimon_nb.fs.local import LocalFileIO
from paimon_nb.table.write.publish import attempt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

KINDS = ["filesystem", *(pytest.param(kind, marks=pytest.mark.nightly) for kind in ("memory", "s3", "sqlite"))]
KEYS = "CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'num-sorted-run.compaction-trigger' = '2')"
"""With it, the second commit compacts: its compaction is published right after its rows."""


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int32())})


@pytest.fixture(params=KINDS)
def place(request, tmp_path) -> Place:
    return Place.of(request.param, tmp_path, request)


def ids(place: Place) -> list[int]:
    return sorted(place.open().table("t").to_arrow().column("id").to_pylist())


def expire(place: Place, kept: int) -> None:
    place.open().run(f"CALL sys.expire_snapshots(`table` => 't', retain_max => {kept}, retain_min => 1)")


def around_publish(
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    *,
    before: Callable[[], object] | None = None,
    after: Callable[[], object] | None = None,
) -> None:
    """Act before and after the publish of the snapshot with this number, counted from now; what acts publishes freely."""
    publish, seen, acting = SnapshotDirectory.publish, [0], [False]

    def act_alone(act: Callable[[], object] | None) -> None:
        acting[0] = True
        try:
            if act is not None:
                act()
        finally:
            acting[0] = False

    def interrupted(self: SnapshotDirectory, *arguments: object, **options: object) -> object:
        if acting[0]:
            return publish(self, *arguments, **options)
        seen[0] += 1
        if seen[0] != number:
            return publish(self, *arguments, **options)
        act_alone(before)
        published = publish(self, *arguments, **options)
        act_alone(after)
        return published

    monkeypatch.setattr(SnapshotDirectory, "publish", interrupted)


def upsert_elsewhere(place: Place, *each: int) -> None:
    for i in each:
        place.open().table("t").upsert(rows(i))


@pytest.mark.parametrize("kept", [1, 2, 3])
def test_rows_whose_compaction_comes_too_late(place, monkeypatch, kept):
    """Others build on the first of two snapshots, and expire it and the id of the second one, before that is published."""
    wb = place.open()
    wb.run(KEYS)
    wb.table("t").upsert(rows(1))

    def others() -> None:
        upsert_elsewhere(place, 7, 8, 9)
        expire(place, kept)

    around_publish(monkeypatch, 2, before=others)
    wb.table("t").upsert(rows(2))
    assert ids(place) == [1, 2, 7, 8, 9]
    upsert_elsewhere(place, 10)
    assert ids(place) == [1, 2, 7, 8, 9, 10]
    found = place.open().table("t").snapshots().column("snapshot_id").to_pylist()
    assert found == list(range(found[0], found[-1] + 1))


@pytest.mark.parametrize("compacting", [True, False], ids=["two snapshots", "one snapshot"])
def test_an_expiry_while_the_writer_lists_the_snapshots(tmp_path, monkeypatch, compacting):
    """A listing is no moment: it has the writer's snapshot, and not the next one, which was deleted afterwards."""
    place = Place("filesystem", {"type": "paimon", "warehouse": str(tmp_path / "w")})
    wb = place.open()
    wb.run(KEYS if compacting else "CREATE TABLE t (id INT) WITH ('bucket' = '-1')")
    add = "upsert" if compacting else "append"
    getattr(wb.table("t"), add)(rows(1))
    names, mine = LocalFileIO.names, []

    def others() -> None:
        for i in (7, 8, 9):
            getattr(place.open().table("t"), add)(rows(i))
        # The snapshots before the writer's are expired already.
        wb.run("CALL sys.expire_snapshots(`table` => 't', retain_max => 4, retain_min => 1)")
        mine.append(1)

    def listed(self: LocalFileIO, path: str) -> Sequence[str]:
        if not (mine and path.endswith("/snapshot")):
            return names(self, path)
        mine.clear()
        read_first = {n for n in names(self, path) if n == first_name[0]}
        expire(place, 1)
        return sorted({*names(self, path), *read_first})

    first_name = [f"snapshot-{wb.table('t').latest_snapshot().id + 1}"]
    around_publish(monkeypatch, 1, after=others)
    monkeypatch.setattr(LocalFileIO, "names", listed)
    getattr(wb.table("t"), add)(rows(2))
    assert ids(place) == [1, 2, 7, 8, 9]
    getattr(place.open().table("t"), add)(rows(10))
    assert ids(place) == [1, 2, 7, 8, 9, 10]


@pytest.mark.parametrize("after", [(), (30,)], ids=["a compaction is the newest", "a commit on it"])
def test_a_compaction_above_a_snapshot_of_a_killed_writer(place, monkeypatch, after):
    """It comes late, under an id that was expired, and the hint EARLIEST is old: the compaction is not what is lost.

    The files that the compaction replaced are gone, as those of a snapshot would be whose base a rollback had removed.
    """
    wb = place.open()
    wb.run("CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')")
    wb.table("t").upsert(rows(1))

    def others() -> None:
        upsert_elsewhere(place, 7, 8)
        place.open().table("t").compact()
        upsert_elsewhere(place, *after)
        with monkeypatch.context() as patch:
            patch.setattr(SnapshotDirectory, "write_earliest_hint", lambda *_: None)  # a failure that is ignored
            expire(place, 1 + len(after))

    def killed(*_: object, **__: object) -> None:
        raise Killed

    around_publish(monkeypatch, 1, before=others, after=killed)
    with suppress(Killed):
        wb.table("t").upsert(rows(9))
    for _ in range(2):
        monkeypatch.setattr(directory, "_known", set())  # as in another process
        assert ids(place) == [1, 7, 8, *after]
        upsert_elsewhere(place, 1)
    expire(place, 1)
    monkeypatch.setattr(directory, "_known", set())
    assert ids(place) == [1, 7, 8, *after]


def test_a_table_that_is_renamed_and_renamed_back_while_a_writer_looks(tmp_path, monkeypatch):
    """Its schema is not at its path at one moment, and the table is there at the next: it was not fast-forwarded."""
    place = Place("filesystem", {"type": "paimon", "warehouse": str(tmp_path / "w")})
    wb = place.open()
    wb.run(KEYS)
    wb.run("ALTER TABLE t ADD COLUMN v INT")
    table, look, away = wb.table("t"), SchemaDirectory.get_again, [1]

    def rename_away_and_back(self: SchemaDirectory, schema_id: int) -> object:
        if not away:
            return look(self, schema_id)
        away.clear()
        place.open().run("ALTER TABLE t RENAME TO u")
        found = look(self, schema_id)
        place.open().run("ALTER TABLE u RENAME TO t")
        return found

    around_publish(
        monkeypatch, 1, after=lambda: monkeypatch.setattr(SchemaDirectory, "get_again", rename_away_and_back)
    )
    table.upsert(pa.table({"id": pa.array([1], pa.int32()), "v": pa.array([1], pa.int32())}))
    assert (ids(place), away) == ([1], [])


def overtaking(monkeypatch: pytest.MonkeyPatch, call: int, act: Callable[[], object]) -> None:
    """Run `act` before the removal of a snapshot file with this number, counted from now."""
    delete, seen = SnapshotDirectory.delete, [0]

    def interrupted(self: SnapshotDirectory, snapshot_id: int) -> None:
        seen[0] += 1
        if seen[0] == call:
            act()
        delete(self, snapshot_id)

    monkeypatch.setattr(SnapshotDirectory, "delete", interrupted)


def _history(place: Place, count: int) -> None:
    wb = place.open()
    wb.run("CREATE TABLE t (id INT) WITH ('bucket' = '-1')")
    for i in range(1, count + 1):
        wb.table("t").append(rows(i))


@pytest.mark.parametrize(
    ("target", "call"), sampled([(target, call) for target in (1, 3, 5) for call in range(1, 6)], 3)
)
@pytest.mark.parametrize("first", ["rollback", "expiry"])
def test_a_rollback_and_an_expiry_at_once(place, monkeypatch, call, target, first):
    """One removes the snapshots above the target, the other those below the newest ones: something must stay between."""
    _history(place, 6)

    def roll_back() -> None:
        with suppress(SnapshotNotFound, SnapshotExpired):
            place.open().table("t").rollback_to(target)

    acts = {"rollback": roll_back, "expiry": lambda: expire(place, 2)}
    act, other = acts.pop(first), *acts.values()
    with monkeypatch.context() as patch:
        overtaking(patch, call, other)
        act()
    found = ids(place)
    assert found in ([*range(1, target + 1)], [1, 2, 3, 4, 5, 6])
    monkeypatch.setattr(directory, "_known", set())  # as in another process
    place.open().table("t").append(rows(9))
    assert ids(place) == [*found, 9]
    place.open().run("CALL sys.remove_orphan_files('t')")
    expire(place, 1)
    assert ids(place) == [*found, 9]


@pytest.mark.parametrize("call", sampled([1, 2, 3, 4], 2))
@pytest.mark.parametrize("others", sampled([[7, 8], [7], []], 2), ids=["two on it", "one on it", "alone"])
def test_commits_while_a_rollback_removes_snapshots(place, monkeypatch, call, others):
    """What was built on the target since it became the newest one stays, the rest counts as rolled back."""
    _history(place, 5)
    target = 3

    def commit() -> None:
        for i in others:
            place.open().table("t").append(rows(i))

    overtaking(monkeypatch, call, commit)
    place.open().table("t").rollback_to(target)
    commit()
    assert ids(place) == sorted([1, 2, 3, *others])
    found = place.open().table("t").snapshots().column("snapshot_id").to_pylist()
    assert found == list(range(1, target + len(others) + 1))


def test_commits_on_the_target_before_the_rollback_looks_for_later_ones(place, monkeypatch):
    """They are built on the newest snapshot, and are acknowledged: their ids are those of removed snapshots, and the next one."""
    _history(place, 5)
    delete, list_ids, removed = SnapshotDirectory.delete, SnapshotDirectory.ids, []

    def deleted(self: SnapshotDirectory, snapshot_id: int) -> None:
        delete(self, snapshot_id)
        removed.append(snapshot_id)

    def listed(self: SnapshotDirectory) -> list[int]:
        if removed == [5, 4]:
            removed.clear()
            for i in (7, 8, 9):
                place.open().table("t").append(rows(i))
        return list_ids(self)

    with monkeypatch.context() as patch:
        patch.setattr(SnapshotDirectory, "delete", deleted)
        patch.setattr(SnapshotDirectory, "ids", listed)
        place.open().table("t").rollback_to(3)
    assert ids(place) == [1, 2, 3, 7, 8, 9]
    place.open().table("t").append(rows(10))
    assert ids(place) == [1, 2, 3, 7, 8, 9, 10]


def test_a_rollback_takes_the_files_of_a_commit_that_is_published(place, monkeypatch):
    """The rollback has listed the snapshot of a writer that has not looked again, and deletes its files: they are written again."""
    _history(place, 3)
    was_overtaken, once = attempt.was_overtaken, [1]

    def looking(*arguments: object) -> bool:
        if once:
            once.clear()
            place.open().table("t").rollback_to(1)
        return was_overtaken(*arguments)

    table = place.open().table("t")
    monkeypatch.setattr(attempt, "was_overtaken", looking)
    table.append(rows(9))
    assert ids(place) == [1, 9]
    place.open().table("t").append(rows(10))
    assert ids(place) == [1, 9, 10]
