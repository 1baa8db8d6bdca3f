"""Orphan removal touches nothing in use and nothing young; partitions expire by what their values say."""

from datetime import datetime

import pytest
from commit_kit import live, make_table
from history_kit import NOW, Ticking, append, missing, on_disk, squash

from paimon_nb.base.errors import BadOptionValue, CorruptFile, UnsupportedOperation
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.write.maintenance import create_branch, create_tag, expire_partitions, find_orphans, remove_orphans

DAY = 24 * 3_600_000


@pytest.fixture
def time(monkeypatch):
    return Ticking(monkeypatch)


@pytest.mark.usefixtures("time")
def test_a_strategy_that_is_not_possible_drops_nothing():
    store = make_table(
        partitioned=True, **{"partition.expiration-time": "1 d", "partition.expiration-strategy": "custom"}
    )
    append(store, "old", dt="2020-01-01")
    with pytest.raises(UnsupportedOperation, match="no partition was dropped") as error:
        expire_partitions(store)
    assert (error.value.hint, live(store)) == ("use values-time or update-time", {"old"})


class TestOrphans:
    def littered(self, time):
        store = make_table()
        append(store, "a")
        append(store, "b", 20, 29)
        create_tag(store, "t")
        create_branch(store, "br", "t")
        squash(store, "all")
        store.fs.write(f"{store.root}/bucket-0/lost.parquet", b"12345")
        store.fs.write(f"{store.root}/manifest/manifest-lost", b"1")
        store.fs.write(f"{store.root}/index/index-lost", b"1")
        store.fs.write(f"{store.root}/bucket-0/.hidden", b"1")
        time.ms += 3 * DAY
        return store

    def test_dry_by_default(self, time):
        store = self.littered(time)
        found = remove_orphans(store)
        assert sorted(o.path.rsplit("/", 1)[1] for o in found) == [
            ".hidden",
            "index-lost",
            "lost.parquet",
            "manifest-lost",
        ]
        assert sum(o.size for o in found) == 8
        assert "lost.parquet" in on_disk(store)

    def test_only_what_nobody_needs(self, time):
        store = self.littered(time)
        remove_orphans(store, dry_run=False)
        assert (on_disk(store), missing(store), find_orphans(store)) == ({"a", "b", "all"}, [], [])

    def test_unknown_files_beside_snapshots(self, time):
        store = self.littered(time)
        for folder in ("snapshot", "branch/branch-br/snapshot", "branch/branch-br/changelog"):
            store.fs.write(f"{store.root}/{folder}/unknown", b"1")
        store.fs.write(f"{store.root}/snapshot/.snapshot-9.abc.tmp", b"1")
        time.ms += 3 * DAY
        found = {o.path.removeprefix(store.root + "/") for o in remove_orphans(store, dry_run=False)}
        assert {path for path in found if "snapshot/" in path or "changelog/" in path} == {
            "snapshot/unknown",
            "snapshot/.snapshot-9.abc.tmp",
            "branch/branch-br/snapshot/unknown",
            "branch/branch-br/changelog/unknown",
        }
        assert (store.snapshots.ids(), store.on_branch("br").snapshots.ids()) == ([1, 2, 3], [2])

    def test_young_files_may_belong_to_a_writer(self, time):
        store = self.littered(time)
        store.fs.write(f"{store.root}/bucket-0/in-flight.parquet", b"1")
        remove_orphans(store, dry_run=False)
        assert "in-flight.parquet" in on_disk(store)

    @pytest.mark.parametrize("broken", ["snapshot", "tag", "branch"])
    def test_anything_unreadable_stops_it(self, time, broken):
        store = self.littered(time)
        path = {
            "snapshot": store.snapshots.path(2),
            "tag": store.tags.path("t"),
            "branch": store.on_branch("br").snapshots.path(2),
        }[broken]
        store.fs.overwrite(path, b"{ no")
        before = on_disk(store)
        with pytest.raises(CorruptFile):
            remove_orphans(TableStore.open(store.fs, store.root), dry_run=False)
        assert on_disk(store) == before


class TestPartitionExpiry:
    def filled(self, *days, **options):
        store = make_table(partitioned=True, **options)
        for i, day in enumerate(days):
            append(store, f"f{i}", i, i, dt=day)
        return store

    def test_by_values(self):
        store = self.filled("2023-11-01", "2023-11-13", "2023-11-14", "no date", "")
        done = expire_partitions(store, expiration_ms=2 * DAY, now=datetime(2023, 11, 14, 12))
        assert (done.dropped, done.skipped) == ((("2023-11-01",),), (("no date",), ("",)))
        assert live(store) == {"f1", "f2", "f3", "f4"}
        assert store.latest().commit_kind == "OVERWRITE"

    def test_by_a_format(self):
        store = self.filled("20231101", "20231114")
        done = expire_partitions(store, expiration_ms=2 * DAY, formatter="yyyyMMdd", now=datetime(2023, 11, 14, 12))
        assert done.dropped == (("20231101",),)

    def test_by_a_pattern_over_columns(self):
        store = self.filled("x-2023-11-01", "x-2023-11-14")
        now = datetime(2023, 11, 14, 12)
        assert expire_partitions(
            store, expiration_ms=DAY, pattern="$dt", formatter="'x-'yyyy-MM-dd", now=now
        ).dropped == (("x-2023-11-01",),)

    @pytest.mark.usefixtures("time")
    def test_by_update_time(self):
        store = self.filled("a", "b")
        done = expire_partitions(
            store, expiration_ms=DAY, strategy="update-time", now=datetime.fromtimestamp(NOW / 1000)
        )
        assert done.dropped == (("a",), ("b",))  # the dummies were created in 1970

    def test_no_time_given(self):
        with pytest.raises(BadOptionValue, match="no expiration time"):
            expire_partitions(self.filled("a"))
