"""Expiry: which snapshots go, which files go with them, and what keeps both."""

import pytest
from commit_kit import leftovers, make_table
from history_kit import Ticking, append, missing, on_disk, squash, upgrade

from paimon_nb.base.errors import BadOptionValue, CorruptFile
from paimon_nb.table.write.maintenance import (
    ExpireLimits,
    create_branch,
    create_tag,
    delete_changelogs,
    delete_tag,
    expire_changelogs,
    expire_snapshots,
)
from paimon_nb.table.write.maintenance.post_commit import run_post_commit


@pytest.fixture
def time(monkeypatch):
    return Ticking(monkeypatch)


def filled(time, count=6, every_hours=1.0, **options):
    """`count` appends, the files f0.., one hour apart."""
    store = make_table(**options)
    for i in range(count):
        append(store, f"f{i}", i, i)
        time.hours(every_hours)
    return store


def ids(store):
    store.snapshots.invalidate_cache()
    return store.snapshots.ids()


def expire(store, low, high, older=None, max_deletes=50):
    limits = ExpireLimits.of(store, retain_min=low, retain_max=high, older_than_ms=older, max_deletes=max_deletes)
    return expire_snapshots(store, limits)


class TestWhichGo:
    @pytest.mark.usefixtures("time")
    def test_nothing_in_an_empty_table(self):
        assert expire_snapshots(make_table()) == 0

    def test_the_maximum_takes_young_ones_too(self, time):
        store = filled(time, every_hours=0)
        assert (expire(store, 1, 2), ids(store)) == (4, [5, 6])

    def test_the_minimum_keeps_old_ones(self, time):
        store = filled(time)
        time.hours(100)
        assert (expire(store, 3, 100), ids(store)) == (3, [4, 5, 6])

    def test_age_counts_from_the_snapshots_own_time(self, time):
        store = filled(time)
        assert (expire(store, 1, 100, older=store.snapshots.get(4).time_ms), ids(store)) == (3, [4, 5, 6])
        assert (expire(store, 1, 100, older=store.snapshots.get(6).time_ms), ids(store)) == (2, [6])

    def test_at_most_so_many_in_one_run(self, time):
        store = filled(time)
        assert (expire(store, 1, 1, max_deletes=2), ids(store)) == (2, [3, 4, 5, 6])

    def test_a_consumer_holds_its_next_snapshot(self, time):
        store = filled(time)
        store.consumers.set("reader", 3)
        assert (expire(store, 1, 1), ids(store)) == (2, [3, 4, 5, 6])

    def test_one_number_lowers_the_minimum(self, time):
        store = filled(time, 20)
        expire_snapshots(store, ExpireLimits.of(store, retain_max=2))
        assert ids(store) == [19, 20]

    @pytest.mark.usefixtures("time")
    def test_senseless_limits(self):
        with pytest.raises(BadOptionValue, match="at least 5 and at most 2"):
            ExpireLimits.of(make_table(), retain_min=5, retain_max=2)

    def test_after_a_commit_by_the_options(self, time):
        store = filled(time, 14)
        store = store.copy({"snapshot.num-retained.min": "3", "snapshot.time-retained": "2 h"})
        run_post_commit(store)
        assert ids(store) == [12, 13, 14]

    def test_write_only_tables_are_left_alone(self, time):
        store = filled(
            time, 14, **{"snapshot.num-retained.min": "3", "snapshot.num-retained.max": "4", "write-only": "true"}
        )
        run_post_commit(store)
        assert len(ids(store)) == 14


class TestWhatGoesWithThem:
    def test_compacted_files_go_and_live_ones_stay(self, time):
        store = filled(time, 3)
        squash(store, "all")
        append(store, "next")
        expire(store, 1, 1)
        assert (on_disk(store), missing(store), leftovers(store)) == ({"all", "next"}, [], set())
        assert store.fs.read(f"{store.root}/snapshot/EARLIEST") == b"5"

    def test_an_upgraded_file_is_still_the_same_file(self, time):
        store = filled(time, 2)
        upgrade(store, "f0")
        append(store, "next", 20, 29)
        expire(store, 1, 1)
        assert (on_disk(store), missing(store)) == ({"f0", "f1", "next"}, [])

    @pytest.mark.usefixtures("time")
    def test_changelog_files(self):
        store = make_table()
        append(store, "a", changelog="c1")
        append(store, "b", changelog="c2")
        expire(store, 1, 1)
        assert (on_disk(store), missing(store)) == ({"a", "b", "c2"}, [])

    def test_a_tag_keeps_its_files_until_it_goes(self, time):
        store = filled(time, 3)
        create_tag(store, "three")
        squash(store, "all")
        append(store, "next")
        expire(store, 1, 1)
        assert (on_disk(store), missing(store)) == ({"f0", "f1", "f2", "all", "next"}, [])
        delete_tag(store, "three")
        assert (on_disk(store), missing(store), leftovers(store)) == ({"all", "next"}, [], set())

    def test_a_branch_keeps_its_files(self, time):
        store = filled(time, 3)
        create_tag(store, "three")
        create_branch(store, "b", "three")
        delete_tag(store, "three")
        squash(store, "all")
        append(store, "next")
        expire(store, 1, 1)
        assert (on_disk(store), missing(store)) == ({"f0", "f1", "f2", "all", "next"}, [])

    def test_an_unreadable_tag_stops_everything(self, time):
        store = filled(time, 3)
        create_tag(store, "three")
        squash(store, "all")
        append(store, "next")
        store.fs.overwrite(store.tags.path("three"), b'{"version": 3, "id":')
        before = on_disk(store), ids(store)
        with pytest.raises(CorruptFile):
            expire(store, 1, 1)
        assert (on_disk(store), ids(store)) == before


class TestLongLivedChangelogs:
    def test_they_outlive_their_snapshots(self, time):
        store = make_table(
            **{"changelog-producer": "input", "changelog.time-retained": "100 h", "changelog.num-retained.min": "1"}
        )
        for i in range(4):
            append(store, f"f{i}", i, i, changelog=f"c{i}")
            time.hours(2)
        squash(store, "all")
        assert expire(store, 1, 1) == 4
        assert (store.changelogs.ids(), on_disk(store), missing(store)) == (
            [1, 2, 3, 4],
            {"c0", "c1", "c2", "c3", "all"},
            [],
        )
        time.hours(94)
        assert expire_changelogs(store) == 1
        assert (store.changelogs.ids(), on_disk(store)) == ([2, 3, 4], {"c1", "c2", "c3", "all"})
        assert leftovers(store) == set()

    def logged(self, **options):
        """Snapshots 1 APPEND, 2 COMPACT without changelog, 3 APPEND, 4 APPEND; only the last has not expired."""
        store = make_table(
            **{"changelog-producer": "input", "changelog.time-retained": "100 h", "changelog.num-retained.min": "1"}
            | options
        )
        append(store, "f1", changelog="c1")
        squash(store, "all")
        append(store, "f3", changelog="c3")
        append(store, "f4", changelog="c4")
        expire(store, 1, 1)
        return store

    @pytest.mark.usefixtures("time")
    def test_a_compaction_that_told_nothing_leaves_no_gap(self):
        store = self.logged()
        assert (store.changelogs.ids(), missing(store)) == ([1, 2, 3], [])
        assert on_disk(store) == {"c1", "c3", "c4", "all", "f3", "f4"}
        assert (expire_changelogs(store, ExpireLimits(1, 1, 0, 50)), store.changelogs.ids()) == (2, [3])
        assert delete_changelogs(store) == 1
        assert (on_disk(store), leftovers(store)) == ({"c4", "all", "f3", "f4"}, set())

    @pytest.mark.usefixtures("time")
    def test_what_a_consumer_has_not_read_stays(self):
        store = self.logged()
        store.consumers.set("slow", 3)
        everything = ExpireLimits(1, 1, 0, 50)
        assert (expire_changelogs(store, everything), store.changelogs.ids()) == (2, [3])
        assert (delete_changelogs(store), store.changelogs.ids()) == (1, [])

    @pytest.mark.usefixtures("time")
    def test_a_consumer_of_changelogs_only_lets_snapshots_go(self):
        store = self.logged(**{"consumer.changelog-only": "true"})
        store.consumers.set("slow", 2)
        append(store, "f5", changelog="c5")
        assert (expire(store, 1, 1), ids(store), store.changelogs.ids()) == (1, [5], [1, 2, 3, 4])
        assert (expire_changelogs(store, ExpireLimits(1, 1, 0, 50)), store.changelogs.ids()) == (1, [2, 3, 4])
