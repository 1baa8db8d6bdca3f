"""The store did it but said it failed, or said nothing: no row is lost, none is doubled, no needed file is deleted."""

import random

import pytest
from commit_kit import added, data_file, lacking, leftovers, live, make_table, new_process

from paimon_nb.fs import MemoryFileIO
from paimon_nb.table.write.commit import TableCommit
from paimon_nb.table.write.publish import publisher


class LossyFileIO(MemoryFileIO):
    """Publishes snapshots, but the answer gets lost in one of four ways, by turns of a seeded die."""

    def __init__(self, seed: int, share: float) -> None:
        super().__init__()
        self.dice = random.Random(seed)
        self.share = share
        self.lost = 0

    def put_if_absent(self, path: str, data: bytes) -> bool:
        if "/snapshot-" not in path or self.dice.random() > self.share:
            return super().put_if_absent(path, data)
        self.lost += 1
        way = self.dice.randrange(4)
        if way == 0:
            raise OSError("connection reset before anything was done")
        done = super().put_if_absent(path, data)
        if way == 1:
            raise OSError("connection reset after the work")
        if way == 2:
            return False  # the client library asked twice, and the second answer said 'exists'
        return done


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(publisher, "sleep", lambda _seconds: None)


@pytest.mark.parametrize("commits", [200, pytest.param(1000, marks=pytest.mark.nightly)])
def test_lost_replies(commits):
    store = make_table(LossyFileIO(seed=7, share=1.0))
    wanted, errors = set(), 0
    for i in range(commits):
        name = f"f{i}"
        for _ in range(5):  # an error reaches the user, who runs the same commit again
            writer = TableCommit(store, commit_user=f"user-{i}")
            if not writer.filter_committed([1]):
                break
            try:
                writer.commit([added(data_file(name))], identifier=1)
                break
            except OSError:
                errors += 1
        wanted.add(name)
    new_process()
    assert (live(store), lacking(store)) == (wanted, set())
    assert store.latest().total_record_count == 10 * commits
    assert store.snapshots.ids() == list(range(1, commits + 1))
    assert errors < 20
    assert len(leftovers(store)) <= 4 * errors  # only what an error left in doubt


@pytest.mark.parametrize("way", ["raise", "false"])
def test_own_file_is_recognised_and_kept(way):
    class Once(MemoryFileIO):
        armed = True

        def put_if_absent(self, path, data):
            done = super().put_if_absent(path, data)
            if "/snapshot-" in path and self.armed:
                self.armed = False
                if way == "raise":
                    raise OSError("reset")
                return False
            return done

    store = make_table(Once())
    assert TableCommit(store).commit([added(data_file("a"))]) == [1]
    new_process()
    assert (live(store), leftovers(store), lacking(store)) == ({"a"}, set(), set())


def test_error_that_never_ends_leaves_every_file():
    class Dead(MemoryFileIO):
        def put_if_absent(self, path, data):
            if "/snapshot-" in path:
                raise OSError("no route")
            return super().put_if_absent(path, data)

    store = make_table(Dead())
    with pytest.raises(OSError, match="no route"):
        TableCommit(store).commit([added(data_file("a"))])
    # In doubt: the request may still be on its way, so what it names must stay.
    assert len(leftovers(store)) == 3
