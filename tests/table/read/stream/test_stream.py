"""A table's stream: waiting, going on, consumers, ends and errors. The rows of each mode are compared in test_flink_answers."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from paimon_nb.base.errors import (
    BadOptionValue,
    ReadError,
    SnapshotExpired,
    TableReplaced,
    TimeTravelError,
    UnsupportedOperation,
)
from paimon_nb.format.schema import SchemaDirectory, create_schema
from paimon_nb.fs import RootedFileIO, open_fs
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.read.stream import StreamOffset
from paimon_nb.table.tables.table import Table
from paimon_nb.table.write.maintenance import expire_snapshots, rollback_to_snapshot
from paimon_nb.table.write.maintenance.expire import ExpireLimits

if TYPE_CHECKING:
    from pathlib import Path


def make(where: Path, *, keys: tuple[str, ...] = ("k",), **options: str) -> Table:
    root = str(where / "db.db" / "t")
    fs = RootedFileIO(open_fs(root, {}), root)
    named = {"bucket": "1"} | {k.replace("_", "-"): v for k, v in options.items()}
    columns = [("k", "INT", None, None), ("v", "STRING", None, None)]
    assert SchemaDirectory(fs, fs.root).create(create_schema(columns, [], list(keys), named, None))
    return Table(TableStore.open(fs, fs.root))


def rows(*pairs: tuple[int, str]) -> pa.Table:
    return pa.table({"k": pa.array([k for k, _ in pairs], pa.int32()), "v": [v for _, v in pairs]})


def told(batch) -> list[tuple[object, ...]]:
    return [tuple(r.values()) for r in batch.rows.to_pylist()]


def test_the_state_then_each_commit_by_itself(tmp_path):
    table = make(tmp_path)
    table.append(rows((1, "a"), (2, "b")))
    stream = table.stream()
    first = stream.poll()
    assert (first.snapshot_id, first.full, told(first)) == (1, True, [("+I", 1, "a"), ("+I", 2, "b")])
    assert stream.poll() is None
    table.upsert(rows((2, "B")))
    table.delete(rows((1, "a")).select(["k"]))
    assert [(b.snapshot_id, b.full, told(b)) for b in (stream.poll(), stream.poll())] == [
        (2, False, [("+I", 2, "B")]),
        (3, False, [("-D", 1, None)]),
    ]
    assert stream.poll() is None


def test_columns_and_a_condition(tmp_path):
    table = make(tmp_path, keys=())
    table.append(rows((1, "a"), (2, "b")))
    stream = table.stream(columns=["v"], where="k = 2")
    assert told(stream.poll()) == [("+I", "b")]
    table.append(rows((5, "no")))
    table.append(rows((2, "again")))
    assert (batch := stream.poll()).snapshot_id == 3
    assert told(batch) == [("+I", "again")]


def test_an_empty_table_is_waited_for(tmp_path):
    table = make(tmp_path)
    whole, news = table.stream(), table.stream({"scan.mode": "latest"})
    assert (whole.poll(), news.poll()) == (None, None)
    table.append(rows((1, "a")))
    table.append(rows((2, "b")))
    assert [told(b) for b in (whole.poll(),)] == [[("+I", 1, "a"), ("+I", 2, "b")]]
    # What came after the stream was opened is news, the first snapshot included.
    assert [told(news.poll()), told(news.poll())] == [[("+I", 1, "a")], [("+I", 2, "b")]]


def test_an_iterator_waits_in_its_thread_and_ends_when_closed(tmp_path):
    table = make(tmp_path)
    got: list[int] = []
    arrived = threading.Event()
    stream = table.stream({"scan.mode": "latest"})

    def follow() -> None:
        for batch in stream:
            got.append(batch.snapshot_id)
            arrived.set()

    reader = threading.Thread(target=follow)
    reader.start()
    for n in (1, 2):
        arrived.clear()
        table.append(rows((n, "x")))
        assert arrived.wait(20)
    stream.close()
    reader.join(20)
    assert not reader.is_alive()
    assert got == [1, 2]


def test_it_goes_on_where_another_stood(tmp_path):
    table = make(tmp_path)
    for n in range(1, 5):
        table.append(rows((n, "x")))
    batches = list(table.stream({"scan.snapshot-id": "1"}, idle_s=0))
    assert [b.snapshot_id for b in batches] == [1, 2, 3, 4]
    saved = batches[1].position.to_json()
    again = table.stream({"scan.snapshot-id": "1"}, position=StreamOffset.from_json(saved), idle_s=0)
    assert [b.snapshot_id for b in again] == [3, 4]
    seeking = table.stream(idle_s=0)
    seeking.seek(2, full=True)
    assert [(b.snapshot_id, b.full) for b in seeking] == [(2, True), (3, False), (4, False)]


def test_a_consumer_keeps_what_was_dealt_with_and_holds_expiry_back(tmp_path):
    table = make(tmp_path, consumer_expiration_time="1 d")
    for n in range(1, 4):
        table.append(rows((n, "x")))
    options = {"consumer-id": "me", "scan.snapshot-id": "1"}
    dies = table.stream(options)
    assert [dies.poll().snapshot_id, dies.poll().snapshot_id] == [1, 2]
    # Asking for the second batch said that the first was dealt with; of the second nobody knows.
    assert table.store.consumers.next_snapshot("me") == 2
    expire_snapshots(table.store, ExpireLimits(1, 1, 0, 50))
    assert table.store.snapshots.ids() == [2, 3]
    again = table.stream({"consumer-id": "me", "scan.mode": "latest"})
    assert [again.poll().snapshot_id, again.poll().snapshot_id, again.poll()] == [2, 3, None]
    assert table.store.consumers.next_snapshot("me") == 4
    anew = table.stream({"consumer-id": "me", "consumer.ignore-progress": "true"})
    assert anew.poll().full


def test_two_streams_on_one_consumer_are_noticed(tmp_path):
    table = make(tmp_path)
    for n in range(1, 4):
        table.append(rows((n, "x")))
    options = {"consumer-id": "me", "scan.snapshot-id": "1"}
    one, two = table.stream(options), table.stream(options)
    assert [one.poll().snapshot_id, two.poll().snapshot_id, one.poll().snapshot_id] == [1, 1, 2]
    with pytest.raises(ReadError, match="consumer 'me' was moved to snapshot 2 by another stream"):
        two.poll()


def test_a_bounded_watermark_ends_it(tmp_path):
    table = make(tmp_path)
    for n, watermark in ((1, 100), (2, 200), (3, 300)):
        writing = table.write()
        with writing:
            writing.write(rows((n, "x")))
            table.commit().commit(writing.prepare_commit(), watermark=watermark)
    stream = table.stream({"scan.snapshot-id": "1", "scan.bounded.watermark": "200"})
    assert [(b.snapshot_id, b.watermark) for b in stream] == [(1, 100), (2, 200)]
    assert stream.ended
    whole = table.stream({"scan.bounded.watermark": "200"})
    assert [(b.snapshot_id, b.full) for b in whole] == [(3, True)]


def test_snapshots_may_be_shown_later(tmp_path):
    table = make(tmp_path)
    table.append(rows((1, "x")))
    assert table.stream({"scan.snapshot-id": "1", "streaming.read.snapshot.delay": "1 h"}).poll() is None
    assert table.stream({"scan.snapshot-id": "1", "streaming.read.snapshot.delay": "0 ms"}).poll().snapshot_id == 1


def test_an_expired_snapshot_is_an_error_that_says_the_way_out(tmp_path):
    table = make(tmp_path)
    for n in range(1, 5):
        table.append(rows((n, "x")))
    stream = table.stream({"scan.snapshot-id": "1"})
    assert stream.poll().snapshot_id == 1
    expire_snapshots(table.store, ExpireLimits(1, 1, 0, 50))
    with pytest.raises(
        SnapshotExpired, match=r"needs snapshot 2, which has expired; available: snapshots 4 to 4"
    ) as error:
        stream.poll()
    assert "consumer-id" in error.value.hint
    # A stream that begins clamps to what is there, as Java's does.
    assert table.stream({"scan.snapshot-id": "1"}).poll().snapshot_id == 4


def test_long_lived_changelogs_are_read_after_their_snapshots(tmp_path):
    table = make(tmp_path, changelog_producer="input", **{"changelog.num-retained.max": "100", "changelog.num-retained.min": "50", "changelog.time-retained": "1 d"})  # fmt: skip
    for n in range(1, 4):
        table.append(rows((n, "x")))
    stream = table.stream({"scan.snapshot-id": "1"})
    assert stream.poll().snapshot_id == 1
    expire_snapshots(table.store, ExpireLimits(1, 1, 0, 50))
    assert table.store.snapshots.ids() == [3]
    assert [told(stream.poll()), told(stream.poll())] == [[("+I", 2, "x")], [("+I", 3, "x")]]
    assert [b.snapshot_id for b in table.stream({"scan.snapshot-id": "1"}, idle_s=0)] == [1, 2, 3]


def test_a_stream_passes_an_expired_compaction_that_told_nothing(tmp_path):
    kept = {"changelog.num-retained.max": "100", "changelog.num-retained.min": "50", "changelog.time-retained": "1 d"}
    table = make(tmp_path, changelog_producer="input", **kept, **{"num-sorted-run.compaction-trigger": "2"})
    for n in range(1, 4):
        table.append(rows((n, "x")))
    assert table.snapshots().column("commit_kind").to_pylist() == ["APPEND", "APPEND", "COMPACT", "APPEND"]
    expire_snapshots(table.store, ExpireLimits(1, 1, 0, 50))
    stream = table.stream({"scan.snapshot-id": "2"}, idle_s=0)
    assert [(b.snapshot_id, told(b)) for b in stream if told(b)] == [(2, [("+I", 2, "x")]), (4, [("+I", 3, "x")])]


def test_an_expired_overwrite_is_no_change_any_more(tmp_path):
    kept = {"changelog.num-retained.max": "100", "changelog.num-retained.min": "50", "changelog.time-retained": "1 d"}
    table = make(tmp_path, changelog_producer="input", **kept)
    table.append(rows((1, "x")))
    table.overwrite(rows((2, "y")))
    table.append(rows((3, "z")))
    expire_snapshots(table.store, ExpireLimits(1, 1, 0, 50))
    stream = table.stream({"scan.snapshot-id": "1"}, idle_s=0)
    assert [told(b) for b in stream if told(b)] == [[("+I", 1, "x")], [("+I", 3, "z")]]
    stream = table.stream({"scan.snapshot-id": "2", "streaming-read-overwrite": "true"})
    with pytest.raises(SnapshotExpired, match="needs snapshot 2, which has expired"):
        stream.poll()


def test_a_rollback_and_a_new_table_are_noticed(tmp_path):
    table = make(tmp_path)
    for n in range(1, 4):
        table.append(rows((n, "x")))
    stream = table.stream({"scan.mode": "latest"})
    assert stream.poll() is None
    rollback_to_snapshot(table.store, 1)
    with pytest.raises(TimeTravelError, match="waits for snapshot 4, but the newest is 1"):
        stream.poll()
    table.store.fs.delete_tree(table.path)
    with pytest.raises(TableReplaced):
        stream.poll()


@pytest.mark.parametrize("new_commits", [1, 2, 3, 5])
@pytest.mark.parametrize("restarted", [False, True], ids=["running", "restarted"])
def test_a_rollback_is_noticed_however_many_commits_follow(tmp_path, new_commits, restarted):
    table = make(tmp_path)
    for n in range(1, 4):
        table.append(rows((n, "x")))
    stream = table.stream({"scan.mode": "from-snapshot", "scan.snapshot-id": "1"})
    delivered = [stream.poll() for _ in range(3)]
    if restarted:
        position = StreamOffset.from_json(delivered[-1].position.to_json())
        stream = Table(table.store.copy({}), table.name).stream(position=position)
    rollback_to_snapshot(table.store, 1)
    for n in range(new_commits):
        table.append(rows((10 + n, "y")))
    with pytest.raises(TimeTravelError, match=r"the newest is 2|snapshot 3 that was rolled back") as error:
        stream.poll()
    assert error.value.hint


def test_a_snapshot_that_replaced_one_which_was_only_seen_is_read_itself(tmp_path):
    """The stream has looked at snapshot 3, but not read it, when it is rolled back and another commit makes a snapshot 3."""
    table = make(tmp_path)
    table.append(rows((1, "x")))
    table.append(rows((2, "x")))
    stream = table.stream(position=StreamOffset(2))
    table.append(rows((3, "old")))
    assert told(stream.poll()) == [("+I", 2, "x")]
    assert stream.store.latest().id == 3
    rollback_to_snapshot(table.store, 2)
    table.append(rows((4, "new")))
    assert told(stream.poll()) == [("+I", 4, "new")]


def test_an_old_position_without_its_commit_goes_on(tmp_path):
    table = make(tmp_path)
    table.append(rows((1, "x")))
    table.append(rows((2, "y")))
    batch = table.stream(position=StreamOffset.from_json({"next": 2})).poll()
    assert (told(batch), StreamOffset.from_json(batch.position.to_json())) == ([("+I", 2, "y")], batch.position)


def test_merge_engines_without_a_changelog_are_refused(tmp_path):
    table = make(tmp_path, merge_engine="partial-update")
    with pytest.raises(UnsupportedOperation, match="needs a changelog producer") as error:
        table.stream()
    assert "lookup" in error.value.hint
    assert table.stream({"changelog-producer": "input"}).poll() is None


@pytest.mark.parametrize(
    "options",
    [
        {"scan.tag-name": "x"}, {"scan.watermark": "1"}, {"incremental-between": "1,2"}, {"scan.mode": "incremental"},
        {"scan.mode": "latest-delta"}, {"scan.version": "1"},
        {"streaming-read-overwrite": "true", "changelog-producer": "lookup"},
        {"scan.snapshot-id": "1", "scan.timestamp-millis": "1700000000000"},
    ],
    ids=str,
)  # fmt: skip
def test_moments_of_batch_reads_are_refused(tmp_path, options):
    with pytest.raises(BadOptionValue):
        make(tmp_path).stream(options)


@pytest.mark.parametrize("mode", ["from-snapshot", "from-snapshot-full", "from-timestamp", "from-file-creation-time"])
def test_a_mode_without_its_option_is_refused(tmp_path, mode):
    table = make(tmp_path)
    table.append(rows((1, "x")))
    with pytest.raises(BadOptionValue, match="needs the option"):
        table.stream({"scan.mode": mode}).poll()
