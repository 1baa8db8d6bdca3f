"""Tables as sources and sinks of Structured Streaming, through `wb.spark`."""

from __future__ import annotations

import time
from itertools import accumulate

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException

import paimon_nb
from paimon_nb.base.errors import BadOptionValue, SnapshotExpired, TableReplaced, UnsupportedOperation
from paimon_nb.spark.errors import paimon_error_of_spark
from paimon_nb.spark.streaming import idle_checkpoint_timer
from paimon_nb.spark.streaming.sink import INLINE_ROWS
from paimon_nb.table.write.maintenance import expire_snapshots, rollback_to_snapshot
from paimon_nb.table.write.maintenance.expire import ExpireLimits

pytestmark = pytest.mark.spark


@pytest.fixture
def wb(spark, tmp_path):
    with paimon_nb.connect(str(tmp_path / "w"), spark=spark) as wb:
        yield wb


def rows(*pairs: tuple[int, str]) -> pa.Table:
    return pa.table({"k": pa.array([k for k, _ in pairs], pa.int32()), "v": [v for _, v in pairs]})


def make(wb, name="t", keys=True, **options):
    given = (
        {"bucket": "1"} | ({} if keys else {"bucket-key": "k"}) | {k.replace("_", "-"): v for k, v in options.items()}
    )
    texts = ", ".join(f"'{k}' = '{v}'" for k, v in given.items())
    key = ", PRIMARY KEY (k) NOT ENFORCED" if keys else ""
    wb.run(f"CREATE TABLE {name} (k INT, v STRING{key}) WITH ({texts})")
    return wb.table(name)


class Run:
    """A stream run to the end of what is there, its micro-batches kept apart."""

    def __init__(self, frame, checkpoint):
        self.frame, self.checkpoint = frame, str(checkpoint)
        self.batches: list[list[tuple]] = []

    def __call__(self):
        self.batches = []

        def keep(batch, _number):
            self.batches.append(sorted(tuple(r) for r in batch.collect()))

        writer = self.frame.writeStream.foreachBatch(keep).option("checkpointLocation", self.checkpoint)
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination(240)
        return [b for b in self.batches if b]


@pytest.mark.nightly
def test_a_stream_with_kinds_goes_on_after_a_restart(wb, tmp_path):
    table = make(wb)
    table.append(rows((1, "a"), (2, "b")))
    run = Run(wb.spark.readStream.format("paimon").option("read.changelog", True).table("t"), tmp_path / "c")
    assert run() == [[("+I", 1, "a"), ("+I", 2, "b")]]
    table.upsert(rows((2, "B")))
    table.delete(rows((1, "a")))
    assert run() == [[("+I", 2, "B"), ("-D", 1, "a")]]
    assert run() == []


@pytest.mark.nightly
def test_without_kinds_only_rows_that_are_there_come(wb, tmp_path):
    table = make(wb)
    run = Run(wb.spark.readStream.format("paimon").load(table.path).select("v"), tmp_path / "c")
    assert run() == []  # an empty table is waited for
    table.append(rows((1, "a"), (2, "b")))
    table.delete(rows((1, "a")))
    assert run() == [[("b",)]]
    table.append(rows((3, "c")))
    table.delete(rows((3, "c")))
    assert run() == [[("c",)]]


@pytest.mark.nightly
def test_options_say_where_to_start_and_how_much_a_batch_takes(wb, tmp_path):
    table = make(wb, keys=False)
    for n in range(1, 6):
        table.append(rows((n, "x")))
    reader = wb.spark.readStream.format("paimon").option("scan.snapshot-id", 2)
    frame = reader.option("read.stream.maxRowsPerTrigger", 2).option("consumer-id", "me").table("t")
    seen: list[list[int]] = []
    query = (
        frame.writeStream.foreachBatch(lambda b, _n: seen.append(sorted(r.k for r in b.collect())))
        .option("checkpointLocation", str(tmp_path / "c")).start()
    )  # fmt: skip
    try:
        query.processAllAvailable()
        assert sorted(k for batch in seen for k in batch) == [2, 3, 4, 5]
        seen.clear()
        for n in range(6, 11):
            table.append(rows((n, "x")))
        query.processAllAvailable()
        assert [k for batch in seen for k in batch] == [6, 7, 8, 9, 10]
        assert max(map(len, seen)) <= 2
    finally:
        query.stop()
    assert table.store.consumers.next_snapshot("me") >= 9  # the last batch is dealt with once the next is asked for


@pytest.mark.nightly
def test_the_first_state_is_whole_whatever_the_limit_and_what_follows_keeps_to_it(wb, tmp_path):
    """`latest-full` under a trigger of its own time: one micro-batch of the state, then batches of the limit."""
    table = make(wb, keys=False)
    for n in range(1, 4):
        table.append(rows((n, "x")))
    reader = wb.spark.readStream.option("scan.mode", "latest-full").option("read.stream.maxRowsPerTrigger", 1)
    seen: list[list[int]] = []
    query = (
        reader.table("t").writeStream.foreachBatch(lambda b, _n: seen.append(sorted(r.k for r in b.collect())))
        .option("checkpointLocation", str(tmp_path / "c")).trigger(processingTime="200 milliseconds").start()
    )  # fmt: skip
    try:
        query.processAllAvailable()
        for n in (4, 5):
            table.append(rows((n, "x")))
        query.processAllAvailable()
    finally:
        query.stop()
    assert [b for b in seen if b] == [[1, 2, 3], [4], [5]]


@pytest.mark.nightly
def test_changes_of_one_key_keep_their_order(wb, tmp_path):
    table = make(wb, bucket="4")
    for n in range(30):
        table.upsert(rows(*[(k, f"{n:02}") for k in range(5)]))
    copied = make(wb, "copied", bucket="3")
    frame = wb.spark.readStream.option("scan.snapshot-id", "1").table("t")
    writer = frame.writeStream.format("paimon").option("checkpointLocation", str(tmp_path / "c"))
    writer.trigger(availableNow=True).toTable("copied").awaitTermination(240)
    assert sorted(copied.to_arrow().to_pylist(), key=lambda r: r["k"]) == [{"k": k, "v": "29"} for k in range(5)]


@pytest.mark.nightly
def test_kinds_travel_from_table_to_table(wb, tmp_path):
    source, target = make(wb, changelog_producer="input"), make(wb, "target")
    source.append(rows((1, "a"), (2, "b")))
    frame = wb.spark.readStream.format("paimon").option("read.changelog", "true").table("t")

    def run():
        writer = frame.writeStream.format("paimon").option("checkpointLocation", str(tmp_path / "c"))
        writer.trigger(availableNow=True).toTable("target").awaitTermination(240)
        return sorted(tuple(r.values()) for r in target.to_arrow().to_pylist())

    assert run() == [(1, "a"), (2, "b")]
    source.delete(rows((1, "a")))
    source.upsert(rows((2, "B"), (3, "c")))
    assert run() == [(2, "B"), (3, "c")]
    snapshots = target.snapshots().to_pylist()
    assert len({s["commit_user"] for s in snapshots}) == 1
    assert [s["commit_identifier"] for s in snapshots if s["commit_kind"] == "APPEND"] == [1, 2]


@pytest.mark.nightly
def test_a_batch_that_is_in_already_is_not_written_again(wb, tmp_path):
    """The driver dies after our commit and before Spark's own note of it."""
    source, target = make(wb, keys=False), make(wb, "target", keys=False)
    source.append(rows((1, "a")))
    checkpoint = tmp_path / "c"
    frame = wb.spark.readStream.table("t")

    def run():
        writer = frame.writeStream.format("paimon").option("checkpointLocation", str(checkpoint))
        writer.trigger(availableNow=True).toTable("target").awaitTermination(240)
        return sorted(target.to_arrow().column("k").to_pylist())

    assert run() == [1]
    source.append(rows((2, "b")))
    assert run() == [1, 2]
    noted = max((checkpoint / "commits").glob("[0-9]*"), key=lambda p: int(p.name))
    noted.unlink()
    noted.with_name(f".{noted.name}.crc").unlink(missing_ok=True)
    before = target.latest_snapshot().id
    assert run() == [1, 2]
    assert target.latest_snapshot().id == before
    source.append(rows((3, "c")))
    assert run() == [1, 2, 3]


@pytest.mark.nightly
def test_complete_results_replace_those_before(wb, tmp_path):
    source = make(wb, keys=False)
    source.append(rows((1, "a"), (2, "a"), (3, "b")))
    wb.run("CREATE TABLE counts (v STRING, n BIGINT)")
    frame = wb.spark.readStream.table("t").groupBy("v").count()

    def run():
        writer = (
            frame.writeStream.format("paimon").outputMode("complete").option("checkpointLocation", str(tmp_path / "c"))
        )
        writer.trigger(availableNow=True).toTable("counts").awaitTermination(240)
        return sorted(tuple(r.values()) for r in wb.table("counts").to_arrow().to_pylist())

    assert run() == [("a", 2), ("b", 1)]
    source.append(rows((4, "a")))
    assert run() == [("a", 3), ("b", 1)]


@pytest.mark.nightly
def test_a_large_micro_batch_behind_small_ones_arrives_once(wb, tmp_path):
    source, sizes = make(wb, keys=False), (10, 20, 2 * INLINE_ROWS + 1, 30)
    make(wb, "u", keys=False)
    query = wb.spark.readStream.table("t").writeStream.option("checkpointLocation", str(tmp_path / "c")).toTable("u")
    for first, size in zip((0, *accumulate(sizes)), sizes, strict=False):
        source.append(pa.table({"k": pa.array(range(first, first + size), pa.int32())}))
        query.processAllAvailable()
    query.stop()
    arrived = wb.table("u").to_arrow().column("k").to_pylist()
    assert sorted(arrived) == list(range(sum(sizes)))
    assert wb.table("u").snapshots().column("delta_record_count").to_pylist() == list(sizes)


def test_output_mode_update_is_refused(wb, tmp_path):
    make(wb, keys=False).append(rows((1, "a")))
    wb.run("CREATE TABLE counts (v STRING, n BIGINT); CREATE TABLE keyed (v STRING PRIMARY KEY NOT ENFORCED, n BIGINT)")
    writer = wb.spark.readStream.table("t").groupBy("v").count().writeStream.format("paimon").outputMode("update")
    writer = writer.option("checkpointLocation", str(tmp_path / "c"))
    for target in ("counts", "keyed", "absent"):
        with pytest.raises(UnsupportedOperation, match=f"output mode 'update' is not supported for .*{target}"):
            writer.toTable(target)
    assert wb.run("SHOW TABLES").arrow.num_rows == 3  # "absent" was not made


@pytest.mark.nightly
def test_few_rows_wait_for_more_but_not_for_ever(wb, tmp_path):
    source = make(wb, keys=False)
    make(wb, "u", keys=False)

    def sizes():
        return (
            []
            if wb.table("u").latest_snapshot() is None
            else wb.table("u").snapshots().column("delta_record_count").to_pylist()
        )

    def stream(checkpoint, delay):
        limits = {"minRowsPerTrigger": 3, "maxRowsPerTrigger": 3, "maxTriggerDelayMs": delay}
        frame = wb.spark.readStream.options(**{f"read.stream.{k}": v for k, v in limits.items()})
        writer = frame.table("t").writeStream.option("checkpointLocation", str(tmp_path / checkpoint))
        return writer.toTable("u")

    source.append(rows((1, "a")))
    query = stream("c", 600_000)
    query.processAllAvailable()  # the first one does not wait
    source.append(rows((2, "a"), (3, "a")))
    query.processAllAvailable()
    assert sizes() == [1]
    source.append(rows((4, "a"), (7, "a")))
    query.processAllAvailable()
    assert sizes() == [1, 2]  # four rows are there, three fit, and a snapshot has two
    query.stop()
    source.append(rows((5, "a")))
    query = stream("c", 1)
    query.processAllAvailable()
    source.append(rows((6, "a")))
    query.processAllAvailable()
    query.stop()
    assert sizes() == [1, 2, 3, 1]
    with pytest.raises(BadOptionValue, match="go together"):
        wb.spark.readStream.option("read.stream.minRowsPerTrigger", 3).table("t")
    with pytest.raises(BadOptionValue, match="more than"):
        wb.spark.readStream.option("read.stream.maxRowsPerTrigger", 2).option(
            "read.stream.minRowsPerTrigger", 3
        ).option("read.stream.maxTriggerDelayMs", 5).table("t")


@pytest.mark.nightly
def test_a_stream_makes_the_table_that_is_absent(wb, tmp_path):
    make(wb, keys=False).append(rows((1, "a")))
    writer = (
        wb.spark.readStream.table("t").writeStream.format("paimon").option("checkpointLocation", str(tmp_path / "c"))
    )
    writer.trigger(availableNow=True).start(str(tmp_path / "made")).awaitTermination(240)
    assert paimon_nb.open_table(str(tmp_path / "made")).to_arrow().to_pylist() == [{"k": 1, "v": "a"}]


def test_a_checkpoint_of_another_table_is_refused(wb, tmp_path):
    for name in ("t", "u", "a", "b"):
        make(wb, name, keys=False).append(rows((1, "a")))

    def run(source, target, checkpoint):
        writer = wb.spark.readStream.table(source).writeStream.format("paimon")
        query = (
            writer.option("checkpointLocation", str(tmp_path / checkpoint)).trigger(availableNow=True).toTable(target)
        )
        query.awaitTermination(240)

    run("t", "a", "c")
    with pytest.raises(BadOptionValue, match="belongs to a stream into"):
        run("t", "b", "c")
    (tmp_path / "c" / "paimon_sink.json").unlink()
    wb.table("u").append(rows((2, "b")))
    with pytest.raises(StreamingQueryException) as error:
        run("u", "b", "c")
    assert isinstance(paimon_error_of_spark(error.value), TableReplaced)
    text = str(error.value)  # ours first, with the next step, and no stack trace
    assert text.startswith("TableReplaced: u: the checkpoint belongs to another table")
    assert "hint: start the stream with a new checkpoint location" in text
    assert len(text) < 400


@pytest.mark.nightly
def test_expired_and_rolled_back_snapshots_are_errors_of_ours(wb, tmp_path):
    table = make(wb, keys=False)
    for n in range(1, 4):
        table.append(rows((n, "x")))
    run = Run(wb.spark.readStream.table("t"), tmp_path / "c")
    assert len(run()) == 1
    for n in range(4, 8):
        table.append(rows((n, "x")))
    expire_snapshots(table.store, ExpireLimits(1, 1, 0, 50))
    with pytest.raises(StreamingQueryException) as error:
        run()
    ours = paimon_error_of_spark(error.value)
    assert isinstance(ours, SnapshotExpired)
    assert "needs snapshot 4, which has expired" in str(ours)
    again = make(wb, "r", keys=False)
    for n in range(1, 4):
        again.append(rows((n, "x")))
    run = Run(wb.spark.readStream.table("r"), tmp_path / "r")
    assert len(run()) == 1
    rollback_to_snapshot(again.store, 1)
    with pytest.raises(StreamingQueryException, match="rolled back"):
        run()


@pytest.mark.parametrize(
    ("limits", "sizes"),
    [
        ({"read.stream.maxRowsPerTrigger": "4"}, [4, 4, 2]),
        pytest.param({"read.stream.maxFilesPerTrigger": "1"}, [2, 2, 2, 2, 2], marks=pytest.mark.nightly),
        pytest.param({"scan.max-snapshot.count": "3"}, [6, 4], marks=pytest.mark.nightly),
        pytest.param({}, [10], marks=pytest.mark.nightly),
    ],
    ids=str,
)
def test_available_now_reads_all_that_was_there_in_micro_batches_of_the_limit(wb, tmp_path, limits, sizes):
    """The second run on a checkpoint: Spark asks a Python source only once for the end."""
    table = make(wb, keys=False)
    wb.run("CREATE TABLE target (k INT, v STRING)")
    checkpoint = str(tmp_path / "c")

    def run():
        writer = wb.spark.readStream.options(**limits).table("t").writeStream.format("paimon")
        query = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).toTable("target")
        query.awaitTermination(240)
        return query

    table.append(rows((0, "a")))
    run()
    for n in range(5):
        table.append(rows((n, "b"), (n + 100, "b")))
    query = run()
    assert [p["numInputRows"] for p in query.recentProgress if p["numInputRows"]] == sizes
    assert (query.isActive, query.exception(), wb.table("target").to_arrow().num_rows) == (False, None, 11)
    third = run()
    assert sum(p["numInputRows"] for p in third.recentProgress) == 0


@pytest.mark.nightly
def test_available_now_reads_what_came_after_an_empty_micro_batch_that_it_repeats(wb, tmp_path):
    """Found by a story: the process was killed behind its first, empty micro-batch; the next run read nothing."""
    table = make(wb, keys=False)
    run = Run(wb.spark.readStream.format("paimon").table("t"), tmp_path / "c")
    assert run() == []
    (tmp_path / "c" / "commits" / "0").unlink()
    (tmp_path / "c" / "commits" / ".0.crc").unlink(missing_ok=True)
    table.append(rows((1, "a")))
    assert run() == [[(1, "a")]]
    assert run() == []


@pytest.mark.nightly
def test_a_table_that_a_stream_is_joined_with_is_read_in_each_micro_batch(wb, tmp_path):
    """A DataFrame has the rows of one snapshot; in the plan of a stream it has those of each micro-batch's time, as in Java."""
    facts = make(wb, "facts", keys=False)
    dim = make(wb, "dim")
    dim.append(rows((1, "one")))
    spark, seen = wb.spark, []
    static = spark.table("dim").where("k > 0").withColumnRenamed("v", "name")
    stream = spark.readStream.table("facts")
    joined = stream.join(static, stream.k == static.k, "left").select(stream.k, "v", "name")
    writer = joined.writeStream.foreachBatch(lambda batch, _: seen.append(sorted(map(tuple, batch.collect()))))
    query = writer.option("checkpointLocation", str(tmp_path / "c")).start()
    try:
        for pairs in ([(1, "a"), (2, "b")], [(2, "c"), (1, "d")]):
            facts.append(rows(*pairs))
            query.processAllAvailable()
            dim.upsert(rows((1, "ONE"), (2, "two")))
    finally:
        query.stop()
    assert [b for b in seen if b] == [[(1, "a", "one"), (2, "b", None)], [(1, "d", "ONE"), (2, "c", "two")]]
    pinned = spark.read.option("scan.snapshot-id", "1").table("dim")
    again = Run(stream.join(pinned, "k").select("k", pinned.v), tmp_path / "pinned")
    assert again() == [[(1, "one"), (1, "one")]]


@pytest.mark.nightly
def test_a_new_column_of_the_target_does_not_end_its_stream(wb, tmp_path):
    table, _ = make(wb, keys=False), make(wb, "target", keys=False)
    writer = wb.spark.readStream.table("t").writeStream.format("paimon")
    query = writer.option("checkpointLocation", str(tmp_path / "c")).toTable("target")
    try:
        table.append(rows((1, "a")))
        query.processAllAvailable()
        wb.run("ALTER TABLE target ADD COLUMN z INT")
        wb.run("ALTER TABLE target RENAME COLUMN v TO w")
        table.append(rows((2, "b")))
        query.processAllAvailable()
    finally:
        query.stop()
    found = sorted(tuple(r.values()) for r in wb.table("target").to_arrow().to_pylist())
    assert (query.exception(), found) == (None, [(1, "a", None), (2, "b", None)])


def test_what_cannot_be_streamed_is_refused_before_it_starts(wb):
    make(wb, "p", merge_engine="partial-update")
    make(wb, "t")
    with pytest.raises(UnsupportedOperation, match="needs a changelog producer"):
        wb.spark.readStream.table("p")
    with pytest.raises(BadOptionValue):
        wb.spark.readStream.option("scan.tag-name", "x").table("t")
    with pytest.raises(UnsupportedOperation, match="cannot be read as a stream"):
        wb.spark.readStream.table("t$snapshots")


@pytest.mark.nightly
def test_sparks_own_streams_are_left_alone(wb, tmp_path):
    frame = wb.spark.readStream.format("rate").option("rowsPerSecond", 5).load()
    query = (
        frame.writeStream.format("memory").queryName("seen").option("checkpointLocation", str(tmp_path / "c")).start()
    )
    try:
        assert query.isActive
    finally:
        query.stop()


@pytest.mark.nightly
def test_a_first_batch_that_is_run_again_begins_where_it_began(wb, tmp_path):
    """The driver dies in the very first micro-batch; Spark asks for the first offset again, when the table has moved on."""
    table = make(wb, keys=False)
    table.append(rows((1, "a")))
    frame = wb.spark.readStream.table("t")

    def dies(_batch, _number):
        table.append(rows((2, "b")))
        raise RuntimeError("the driver dies")

    with pytest.raises(StreamingQueryException):
        frame.writeStream.foreachBatch(dies).option("checkpointLocation", str(tmp_path / "c")).start().awaitTermination(
            60
        )
    run = Run(frame, tmp_path / "c")
    # A run that finds a batch to repeat may end with it: availableNow then leaves the rest to the next.
    assert run() + run() == [[(1, "a")], [(2, "b")]]


@pytest.mark.nightly
def test_a_batch_is_merged_by_a_view_of_it(wb, tmp_path):
    """The form that Spark's books show: the view is one of the batch's session, and of no other."""
    table, seen = make(wb), []
    table.append(rows((1, "a"), (2, "b")))
    wb.run("CREATE TABLE merged (k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1')")
    wb.run("INSERT INTO merged VALUES (1, 'old')")

    def merge(batch, _number):
        batch.createOrReplaceTempView("changes")
        seen.append(batch.sparkSession.table("changes").count())
        batch.sparkSession.sql(
            "MERGE INTO merged USING changes c ON merged.k = c.k"
            " WHEN MATCHED THEN UPDATE SET v = c.v WHEN NOT MATCHED THEN INSERT *"
        )

    for number in (1, 2):
        writer = wb.spark.readStream.format("paimon").table("t").writeStream.foreachBatch(merge)
        writer.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True).start().awaitTermination(
            240
        )
        table.append(rows((2, f"B{number}")))
    merged = wb.table("merged").to_arrow().to_pylist()
    assert (sorted((r["k"], r["v"]) for r in merged), seen) == ([(1, "a"), (2, "B1")], [2, 1])
    assert not wb.spark.catalog.tableExists("changes")


@pytest.mark.nightly
def test_each_third_micro_batch_compacts_everything_and_idle_time_counts(wb, tmp_path, monkeypatch):
    """Where the changelog comes of full compactions: as a Flink job with `full-compaction.delta-commits` tells it."""
    source = make(wb, keys=False)
    target = make(wb, "u", changelog_producer="full-compaction", bucket="2", **{"full-compaction.delta-commits": "3"})

    def run(*keys):
        writer = wb.spark.readStream.table("t").writeStream.option("checkpointLocation", str(tmp_path / "c"))
        query = writer.toTable("u")
        for k in keys:
            source.append(rows((k, "a")))
            query.processAllAvailable()
        return query

    def told():
        return [(s["commit_kind"], s["commit_identifier"]) for s in target.snapshots().to_pylist()]

    monkeypatch.setattr(idle_checkpoint_timer, "PAUSE_S", 3600.0)
    source.append(rows((1, "a")))
    query = run()
    query.processAllAvailable()
    query.stop()
    run(2, 3, 4, 5).stop()
    before = told()
    last = before[-1][1]  # Spark also counts micro-batches without rows
    assert [n for kind, n in before if kind == "COMPACT"] == list(range(3, last + 1, 3))
    assert [kind for kind, _ in before].count("APPEND") == 5
    monkeypatch.setattr(idle_checkpoint_timer, "PAUSE_S", 0.1)
    query = run()
    deadline = time.monotonic() + 120
    while told()[-1][0] != "COMPACT" and time.monotonic() < deadline:
        time.sleep(0.1)
    query.stop()
    changes = wb.run("SELECT rowkind, k FROM u$audit_log ORDER BY k").arrow.to_pylist()
    assert [(c["rowkind"], c["k"]) for c in changes] == [("+I", k) for k in (1, 2, 3, 4, 5)]
    assert told()[: len(before)] == before
    assert len(told()) <= len(before) + 1
