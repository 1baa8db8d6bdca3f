"""What a stream's commits do beside its rows: as a Flink job's checkpoints. Through real writes; no Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from history_kit import Ticking
from write_kit import arrow, compact_all, make_table

from paimon_nb.base.errors import CommitConflict
from paimon_nb.format.snapshot import SnapshotDirectory
from paimon_nb.table.tables.table import Table
from paimon_nb.table.write import TableWrite
from paimon_nb.table.write.commit import BATCH_IDENTIFIER
from paimon_nb.table.write.maintenance import expire_snapshots
from paimon_nb.table.write.maintenance.expire import ExpireLimits
from paimon_nb.table.write.stream_committer import StreamCommitter

if TYPE_CHECKING:
    from paimon_nb.table.read.store import TableStore

FULL = {"changelog-producer": "full-compaction"}


class Stream:
    """A writer that commits one micro-batch after the other; `Stream(..., number=n)` goes on behind number n."""

    def __init__(self, store: TableStore, number: int = 0, **more: Any) -> None:
        self.store, self.number = store, number
        self.checkpoints = StreamCommitter(store, "me", **more)

    def put(self, *rows: dict[str, Any], watermark: int | None = None) -> list[int]:
        self.number += 1
        full = self.checkpoints.is_full(self.store, self.number)
        with TableWrite(self.store, full=full) as writing:
            writing.write(arrow(self.store, rows))
            return self.checkpoints.commit(
                self.store, writing.prepare_commit(), self.number, full=full, watermark=watermark
            )

    def quiet(self, times: int = 1) -> list[int]:
        """`times` checkpoints; the first behind rows is theirs."""
        return [made for _ in range(times) for made in self.checkpoints.on_idle_checkpoint(self.store)]


def keyed(tmp_path: Path, **options: str) -> TableStore:
    return make_table(f"{tmp_path}/t", {"k": "INT NOT NULL", "v": "INT"}, ["k"], bucket="1", **options)


def parted(tmp_path: Path, **options: str) -> TableStore:
    columns = {"k": "INT NOT NULL", "dt": "STRING NOT NULL"}
    return make_table(f"{tmp_path}/t", columns, ["k", "dt"], ["dt"], bucket="1", **options)


def told(store: TableStore) -> list[tuple[str, int, int]]:
    """(kind, number, rows of changelog) of each snapshot."""
    store.snapshots.invalidate_cache()
    found = [store.snapshots.get(i) for i in store.snapshots.ids()]
    return [(s.commit_kind, s.commit_identifier, s.changelog_record_count or 0) for s in found]


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Ticking:
    return Ticking(monkeypatch)


def test_each_third_commit_compacts_everything(tmp_path: Path) -> None:
    """As a Flink job with checkpoints 1 to 7 did it."""
    store = keyed(tmp_path, **FULL, **{"full-compaction.delta-commits": "3"})
    stream = Stream(store)
    for k in range(1, 8):
        stream.put({"k": k, "v": k})
    assert told(store) == [
        ("APPEND", 1, 0), ("APPEND", 2, 0), ("APPEND", 3, 0), ("COMPACT", 3, 3),
        ("APPEND", 4, 0), ("APPEND", 5, 0), ("APPEND", 6, 0), ("COMPACT", 6, 3), ("APPEND", 7, 0),
    ]  # fmt: skip


@pytest.mark.parametrize("options", [FULL, FULL | {"full-compaction.delta-commits": "1"}], ids=["unset", "one"])
def test_unless_told_each_commit_compacts(tmp_path: Path, options: dict[str, str]) -> None:
    store = keyed(tmp_path, **options)
    stream = Stream(store)
    stream.put({"k": 1, "v": 1})
    stream.put({"k": 2, "v": 2})
    assert told(store) == [("APPEND", 1, 0), ("COMPACT", 1, 1), ("APPEND", 2, 0), ("COMPACT", 2, 1)]


def test_what_came_before_a_restart_is_compacted_with_the_rest(tmp_path: Path) -> None:
    """Also in a bucket that gets no more rows; rows of other writers are left to them."""
    store = parted(tmp_path, **FULL, **{"full-compaction.delta-commits": "3"})
    Stream(store).put({"k": 1, "dt": "a"}, {"k": 1, "dt": "b"})
    other = StreamCommitter(store, "other")
    with TableWrite(store, full=False) as writing:
        writing.write(arrow(store, [{"k": 1, "dt": "c"}]))
        other.commit(store, writing.prepare_commit(), 1, full=False)
    again = Stream(store, number=1)
    again.put({"k": 2, "dt": "b"})
    again.put({"k": 3, "dt": "b"})
    assert told(store)[-1] == ("COMPACT", 3, 4)
    files = Table(store).files().select(["partition", "level"]).to_pylist()
    assert sorted((f["partition"], f["level"]) for f in files) == [("{a}", 5), ("{b}", 5), ("{c}", 0)]


@pytest.mark.parametrize("restarts", [False, True])
def test_what_expired_snapshots_brought_is_compacted_too(tmp_path: Path, restarts: bool) -> None:
    store = parted(tmp_path, **FULL, **{"full-compaction.delta-commits": "6"})
    stream = Stream(store)
    stream.put({"k": 1, "dt": "a"})
    for k in range(3):
        stream.put({"k": k, "dt": "b"})
    expire_snapshots(store, ExpireLimits(1, 1, 0, 50))
    if restarts:
        stream = Stream(store, number=4)
    stream.put({"k": 3, "dt": "b"})
    stream.put({"k": 4, "dt": "b"})
    assert told(store)[-1] == ("COMPACT", 6, 6)


def test_a_compaction_that_another_overtook_is_made_up_for(tmp_path: Path) -> None:
    store = parted(tmp_path, **FULL, **{"full-compaction.delta-commits": "2"})
    stream = Stream(store)
    stream.put({"k": 1, "dt": "a"})
    stream.number += 1
    with TableWrite(store, full=True) as writing:
        writing.write(arrow(store, [{"k": 2, "dt": "a"}]))
        messages = writing.prepare_commit()
        compact_all(store)
        stream.checkpoints.commit(store, messages, stream.number, full=True)
    assert told(store) == [("APPEND", 1, 0), ("COMPACT", BATCH_IDENTIFIER, 1), ("APPEND", 2, 0)]
    stream.put({"k": 1, "dt": "b"})
    stream.put({"k": 2, "dt": "b"})
    assert told(store)[3:] == [("APPEND", 3, 0), ("APPEND", 4, 0), ("COMPACT", 4, 3)]


def test_checkpoints_without_rows_count(tmp_path: Path) -> None:
    """A stream that gets no more rows leaves no change untold."""
    store = keyed(tmp_path, **FULL, **{"full-compaction.delta-commits": "3"})
    stream = Stream(store)
    stream.put({"k": 1, "v": 1})
    assert stream.quiet(2) == []
    assert stream.quiet(5) == [2]
    stream.put({"k": 2, "v": 2})
    assert told(store) == [("APPEND", 1, 0), ("COMPACT", 1, 1), ("APPEND", 2, 0)]


def test_a_compaction_of_another_writer_does_not_end_an_idle_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one comes between the look and the publish of the full compaction that a checkpoint without rows runs."""
    store = keyed(tmp_path, **FULL, **{"full-compaction.delta-commits": "2"})
    stream = Stream(store)
    stream.put({"k": 1, "v": 1})
    publish, once = SnapshotDirectory.publish, [compact_all]

    def interrupted(self: SnapshotDirectory, *arguments: Any, **options: Any) -> Any:
        if once:
            once.pop()(store)
        return publish(self, *arguments, **options)

    monkeypatch.setattr(SnapshotDirectory, "publish", interrupted)
    stream.quiet(3)
    stream.put({"k": 2, "v": 2})
    stream.quiet(3)
    assert not once
    assert told(store)[-1] == ("COMPACT", 2, 1)


def test_a_time_says_when(tmp_path: Path, time: Ticking) -> None:
    store = keyed(tmp_path, **FULL, **{"changelog-producer.compaction-interval": "1 h"})
    stream = Stream(store)
    stream.put({"k": 1, "v": 1})
    time.hours(1)
    stream.put({"k": 2, "v": 2})
    stream.put({"k": 3, "v": 3})
    assert told(store) == [("APPEND", 1, 0), ("APPEND", 2, 0), ("COMPACT", 2, 2), ("APPEND", 3, 0)]
    time.hours(1)
    assert stream.quiet(2) == [5]


def test_the_optimization_interval_counts_from_the_last_full_compaction(tmp_path: Path, time: Ticking) -> None:
    store = keyed(tmp_path, **{"compaction.optimization-interval": "1 h"})
    stream = Stream(store)
    kinds = []
    for k, hours in enumerate((0, 0, 0, 2)):
        time.hours(hours)
        stream.put({"k": k, "v": k})
        kinds.append(told(store)[-1][0])
    assert kinds == ["APPEND", "COMPACT", "APPEND", "COMPACT"]


def test_a_stream_that_takes_what_is_there_ends_compacted(tmp_path: Path) -> None:
    store = keyed(tmp_path, **FULL, **{"full-compaction.delta-commits": "3"})
    Stream(store, ends=True).put({"k": 1, "v": 1})
    assert told(store) == [("APPEND", 1, 0), ("COMPACT", 1, 1)]


def test_a_write_only_table_is_left_to_its_compaction_job(tmp_path: Path) -> None:
    store = keyed(tmp_path, **FULL, **{"write-only": "true"})
    stream = Stream(store)
    stream.put({"k": 1, "v": 1})
    stream.quiet(3)
    assert told(store) == [("APPEND", 1, 0)]


def test_checkpoints_without_rows_make_snapshots_when_told_to(tmp_path: Path) -> None:
    """As a Flink job did it, with numbers that went on; here they wait for Spark's next micro-batch."""
    store = keyed(tmp_path, **{"commit.force-create-snapshot": "true"})
    stream = Stream(store)
    stream.put({"k": 1, "v": 1})
    assert stream.quiet(3) == [2, 3]
    stream.put({"k": 2, "v": 2})
    stream.put()
    assert [t[:2] for t in told(store)] == [("APPEND", n) for n in (1, 1, 1, 2, 3)]


MARKS = {
    "partition.idle-time-to-done": "10 min", "partition.time-interval": "1 d", "partition.timestamp-formatter": "yyyyMMdd",
}  # fmt: skip


def marked(store: TableStore) -> list[str]:
    return sorted(p.parent.name for p in Path(store.root).glob("*/_SUCCESS"))


def test_partitions_are_marked_when_their_time_is_over_and_nothing_comes(tmp_path: Path, time: Ticking) -> None:
    """As a Flink job did it: the present day waits for its end, and what is no day is never done."""
    store = parted(tmp_path, **MARKS)  # it is 2023-11-14 22:13:20 UTC
    stream = Stream(store)
    stream.put({"k": 1, "dt": "20231101"}, {"k": 1, "dt": "20231114"}, {"k": 1, "dt": "soon"})
    time.hours(0.15)
    stream.put({"k": 2, "dt": "20231101"})
    time.hours(0.15)
    stream.quiet(2)
    assert marked(store) == []
    time.hours(0.15)
    stream.quiet(2)
    assert marked(store) == ["dt=20231101"]
    made = json.loads((Path(store.root) / "dt=20231101/_SUCCESS").read_text())["modificationTime"]
    time.hours(40)
    stream.quiet(2)
    assert marked(store) == ["dt=20231101", "dt=20231114"]
    assert json.loads((Path(store.root) / "dt=20231101/_SUCCESS").read_text())["modificationTime"] == made
    stream.put({"k": 3, "dt": "20231101"})
    time.hours(1)
    stream.quiet(2)
    assert json.loads((Path(store.root) / "dt=20231101/_SUCCESS").read_text())["modificationTime"] > made


def test_a_watermark_may_be_the_time(tmp_path: Path, time: Ticking) -> None:
    store = parted(tmp_path, **MARKS, **{"partition.mark-done-action.mode": "watermark"})
    stream, over = Stream(store), 1_698_883_200_000  # 2023-11-02 00:00 UTC
    stream.put({"k": 1, "dt": "20231101"}, watermark=over - 1)
    time.hours(100)
    stream.quiet(3)
    stream.put({"k": 1, "dt": "20231102"})
    stream.put({"k": 2, "dt": "20231102"}, watermark=over + 600_000)
    assert marked(store) == []
    stream.put({"k": 3, "dt": "20231102"}, watermark=over + 600_001)
    assert marked(store) == ["dt=20231101"]


def test_a_tag_that_is_due_gets_its_snapshot_without_rows(tmp_path: Path, time: Ticking) -> None:
    tags = {"tag.automatic-creation": "process-time", "sink.process-time-zone": "UTC", "tag.creation-period": "hourly"}
    store = keyed(tmp_path, **tags)
    stream = Stream(store)
    stream.put({"k": 1, "v": 1})
    seen = []
    for hours in (0.5, 0.5, 0.5):  # it is 22:13
        time.hours(hours)
        seen.append((stream.quiet(3), store.tags.names()))
    assert seen == [
        ([], ["2023-11-14 21"]),
        ([2], ["2023-11-14 21", "2023-11-14 22"]),
        ([], ["2023-11-14 21", "2023-11-14 22"]),
    ]


def test_without_an_interval_nothing_is_marked(tmp_path: Path, time: Ticking) -> None:
    """As Flink did it."""
    store = parted(tmp_path, **{k: v for k, v in MARKS.items() if k != "partition.time-interval"})
    stream = Stream(store)
    stream.put({"k": 1, "dt": "20231101"})
    time.hours(5)
    stream.quiet(2)
    assert marked(store) == []


def test_partitions_that_wait_are_known_after_a_restart(tmp_path: Path, time: Ticking) -> None:
    store, folder = parted(tmp_path, **MARKS), tmp_path / "checkpoint"
    folder.mkdir()
    Stream(store, folder=str(folder)).put({"k": 1, "dt": "20231101"})
    time.hours(5)
    again = Stream(store, number=1, folder=str(folder))
    again.quiet()
    assert marked(store) == [], "it counts from the restart"
    time.hours(1)
    again.quiet()
    assert marked(store) == ["dt=20231101"]


def test_old_partitions_go_while_the_stream_runs(tmp_path: Path, time: Ticking) -> None:
    """One committer looks once an interval, however many micro-batches there are."""
    life = {"partition.expiration-time": "1 d", "partition.expiration-check-interval": "1 h", "partition.timestamp-formatter": "yyyyMMdd"}  # fmt: skip
    store = parted(tmp_path, **life)
    stream = Stream(store)
    stream.put({"k": 1, "dt": "20231101"})
    stream.put({"k": 1, "dt": "20231114"})
    assert len(Table(store).partitions()) == 2
    time.hours(1.1)
    stream.put({"k": 2, "dt": "20231114"})
    assert Table(store).partitions().column("partition").to_pylist() == ["dt=20231114"]


@pytest.mark.parametrize("options", [{}, {"write-only": "true"}], ids=["compacts", "write-only"])
def test_small_files_of_a_bucket_unaware_table_are_merged(tmp_path: Path, options: dict[str, str]) -> None:
    columns = {"k": "INT", "dt": "STRING"}
    due = {"compaction.min.file-num": "3", "continuous.discovery-interval": "1 ms"}
    store = make_table(f"{tmp_path}/t", columns, [], ["dt"], bucket="-1", **due, **options)
    stream = Stream(store)
    for k in range(4):
        stream.put({"k": k, "dt": "a"}, watermark=k)
    stream.put({"k": 9, "dt": "b"})
    files = Table(store).files().select(["partition", "record_count"]).to_pylist()
    if options:
        assert len(files) == 5
        return
    assert told(store)[2:] == [("APPEND", 3, 0), ("COMPACT", 3, 0), ("APPEND", 4, 0), ("APPEND", 5, 0)]
    assert store.snapshots.get(4).watermark == 2
    assert sorted((f["partition"], f["record_count"]) for f in files) == [("{a}", 1), ("{a}", 3), ("{b}", 1)]
    assert sorted(Table(store).to_arrow().column("k").to_pylist()) == [0, 1, 2, 3, 9]


def test_a_second_process_with_one_checkpoint_stores_nothing_twice(tmp_path):
    """It runs the micro-batch again that the first process is about to commit."""
    store = make_table(f"{tmp_path}/t", {"k": "INT NOT NULL"}, bucket="-1")
    first, second = Stream(store), Stream(store)
    first.put({"k": 1})
    with pytest.raises(CommitConflict, match="another process writes the same stream: snapshot 1") as refused:
        second.put({"k": 1})
    assert "two jobs one checkpoint" in refused.value.hint
    first.put({"k": 2})
    assert [r["k"] for r in Table(store, store.name).refresh().to_arrow().to_pylist()] == [1, 2]


def test_a_second_process_that_commits_during_a_commit_is_noticed(tmp_path, monkeypatch):
    """Both lose against a third writer, and try again."""
    store = make_table(f"{tmp_path}/t", {"k": "INT NOT NULL"}, bucket="-1")
    first, second = Stream(store), Stream(store)
    with TableWrite(store) as writing:
        writing.write(arrow(store, [{"k": 1}]))
        messages = writing.prepare_commit()
    publish = type(store.snapshots).publish

    def other_first(directory, *terms, **more):
        monkeypatch.undo()
        first.put({"k": 1})
        return publish(directory, *terms, **more)

    monkeypatch.setattr(type(store.snapshots), "publish", other_first)
    with pytest.raises(CommitConflict, match="another process writes the same stream"):
        second.checkpoints.commit(store, messages, 1, full=False)
    assert [r["k"] for r in Table(store, store.name).refresh().to_arrow().to_pylist()] == [1]
