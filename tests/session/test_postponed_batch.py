"""Batch writes to postponed tables that give rows their buckets, as Paimon 2 does: `postpone.batch-write-fixed-bucket`."""

import pyarrow as pa
import pytest

from paimon_nb.base.errors import BadOptionValue, UnsupportedOperation

FIXED = "'primary-key' = '{}', 'bucket' = '-2', 'postpone.batch-write-fixed-bucket' = 'true'"
WAITS = "SET spark.paimon.postpone.batch-write-fixed-bucket = false"
AGAIN = "RESET spark.paimon.postpone.batch-write-fixed-bucket"


def make(wb, columns="k INT, v STRING", key="k", parted="", **options):
    more = "".join(f", '{name}' = '{value}'" for name, value in options.items())
    by = f"PARTITIONED BY ({parted})" if parted else ""
    wb.run(f"CREATE TABLE t ({columns}) {by} TBLPROPERTIES ({FIXED.format(key)}{more})")


def insert(wb, ids, text="v", partition=None, statement="INSERT INTO t"):
    p = "" if partition is None else f", {partition}"
    wb.run(f"{statement} VALUES {', '.join(f'({i}, {text!r}{p})' for i in ids)}")


def waiting(wb, ids, text, partition=None):
    wb.run(WAITS)
    insert(wb, ids, text, partition)
    wb.run(AGAIN)


def buckets(wb):
    """Numbers of buckets by partition, of real buckets; and partitions with rows that wait."""
    entries = _entries(wb)
    counts: dict[tuple, set[int]] = {}
    for values, bucket, total in entries:
        if bucket >= 0:
            counts.setdefault(values, set()).add(total)
    assert all(len(totals) == 1 for totals in counts.values())
    return {p: totals.pop() for p, totals in counts.items()}, {p for p, bucket, _ in entries if bucket < 0}


def _entries(wb):
    from paimon_nb.table.read.live_files import live_entries

    store = wb.table("t").store
    return [
        (tuple(store.partition_values(e.partition)), e.bucket, e.total_buckets)
        for e in live_entries(store, store.latest())
    ]


def rows(wb, **read):
    return {tuple(r.values()) for r in wb.table("t").to_arrow(**read).to_pylist()}


def history(wb):
    return [s.commit_kind for s in wb.table("t").store.snapshots.all()]


def test_the_option_decides(wb):
    make(wb)
    wb.run("CREATE TABLE plain (k INT, v STRING) TBLPROPERTIES ('primary-key' = 'k', 'bucket' = '-2')")
    wb.run("""CREATE TABLE old (k INT, v STRING) TBLPROPERTIES ('primary-key' = 'k', 'bucket' = '-2',
        'postpone.batch-write-fixed-bucket' = 'false')""")
    insert(wb, [1, 2])
    wb.run("INSERT INTO old VALUES (1, 'v'); INSERT INTO plain VALUES (1, 'v')")
    assert buckets(wb) == ({(): 1}, set())
    assert rows(wb) == {(1, "v"), (2, "v")}
    assert wb.table("old").to_arrow().num_rows == 0  # as Paimon 1.3, which does not know the option
    assert wb.table("plain").to_arrow().num_rows == 1
    waiting(wb, [2, 3], "later")
    assert buckets(wb) == ({(): 1}, {()})
    assert rows(wb) == {(1, "v"), (2, "v")}
    insert(wb, [1], "new")
    assert buckets(wb) == ({(): 1}, {()})  # what waits goes on waiting
    assert rows(wb) == {(1, "new"), (2, "v")}
    wb.run("CALL sys.compact(table => 't')")
    assert buckets(wb) == ({(): 1}, set())
    assert rows(wb) == {(1, "new"), (2, "later"), (3, "later")}


def test_each_partition_has_the_buckets_that_its_rows_need(wb):
    options = {"postpone.target-row-num-per-bucket": "10", "postpone.batch-write-fixed-bucket.max-parallelism": "6"}
    make(wb, "k INT, v STRING, pt INT", "k,pt", "pt", **options)
    values = [(i, "v", 0 if i < 5 else 1 if i < 26 else 2) for i in range(110)]
    done = wb.table("t").upsert(pa.table({n: [r[i] for r in values] for i, n in enumerate(("k", "v", "pt"))}))
    assert done == [1]
    assert buckets(wb) == ({(0,): 1, (1,): 4, (2,): 6}, set())
    assert rows(wb) == set(values)
    assert history(wb) == ["APPEND"]
    staged = [p for p in _paths(wb) if "postpone" in p]
    assert staged == []


def _paths(wb):
    from pathlib import Path

    return [str(p) for p in Path(wb.table("t").path).rglob("*") if p.is_file()]


@pytest.mark.parametrize(
    "statement",
    ["static", pytest.param("INSERT OVERWRITE t PARTITION (pt = 0)", marks=pytest.mark.spark), "dynamic"],
)
def test_overwriting(wb, statement):
    make(wb, "k INT, v STRING, pt INT", "k,pt", "pt", **{"postpone.target-row-num-per-bucket": "1"})
    insert(wb, range(16), partition=0)
    insert(wb, [1000], partition=1)
    waiting(wb, [2000], "waits", 0)
    waiting(wb, [2001], "waits", 1)
    assert buckets(wb) == ({(0,): 16, (1,): 1}, {(0,), (1,)})
    wb.run("ALTER TABLE t SET TBLPROPERTIES ('postpone.default-bucket-num' = '3')")
    if statement in ("static", "dynamic"):
        new = pa.table({"k": [1, 2], "v": ["n", "n"], "pt": [0, 0]})
        wb.table("t").overwrite(new, dynamic=statement == "dynamic")
    else:
        insert(wb, [1, 2], "n", statement=statement)
    kept = statement != "static"
    assert buckets(wb) == (({(0,): 3, (1,): 1}, {(1,)}) if kept else ({(0,): 3}, set()))
    assert rows(wb) == {(1, "n", 0), (2, "n", 0)} | ({(1000, "v", 1)} if kept else set())


def test_far_too_few_buckets_are_rescaled_first(wb):
    options = {
        "postpone.target-row-num-per-bucket": "1", "postpone.batch-write-fixed-bucket.max-parallelism": "16",
        "postpone.batch-write-fixed-bucket.rescale-load-factor": "4", "changelog-producer": "input",
    }  # fmt: skip
    make(wb, "k INT, v STRING, pt INT", "k,pt", "pt", **options)
    insert(wb, [0], "first", 0)
    insert(wb, [0], "first", 1)
    waiting(wb, [0, 99], "waits", 0)
    insert(wb, range(1, 5), "second", 0)  # four for one bucket
    assert buckets(wb) == ({(0,): 1, (1,): 1}, {(0,)})
    insert(wb, range(4, 14), "third", 0)
    assert buckets(wb) == ({(0,): 16, (1,): 1}, {(0,)})
    expected = {(0, "first"), (1, "second"), (2, "second"), (3, "second"), *((i, "third") for i in range(4, 14))}
    assert rows(wb) == {(*r, 0) for r in expected} | {(0, "first", 1)}
    assert history(wb)[-3:] == ["APPEND", "OVERWRITE", "APPEND"]
    *_, rescale, last = wb.table("t").store.snapshots.all()
    assert (rescale.changelog_manifest_list, last.changelog_record_count) == (None, 10)
    wb.run("CALL sys.compact(table => 't')")
    assert {r for r in rows(wb) if r[0] in (0, 99)} == {(0, "waits", 0), (99, "waits", 0), (0, "first", 1)}


def test_a_rescale_reads_level_zero_and_deletion_vectors(wb):
    wb.run("""
        CREATE TABLE t (k INT, v STRING) TBLPROPERTIES ('primary-key' = 'k', 'bucket' = '1', 'deletion-vectors.enabled' = 'true');
        INSERT INTO t VALUES (0, 'a'), (1, 'a'), (2, 'a');
        INSERT INTO t VALUES (1, 'b');
        ALTER TABLE t SET TBLPROPERTIES ('write-only' = 'true');
        INSERT INTO t VALUES (2, 'c');
        ALTER TABLE t SET TBLPROPERTIES ('bucket' = '-2', 'postpone.batch-write-fixed-bucket' = 'true',
            'postpone.target-row-num-per-bucket' = '1', 'postpone.batch-write-fixed-bucket.rescale-load-factor' = '1')
    """)
    assert rows(wb) == {(0, "a"), (1, "b"), (2, "a")}
    insert(wb, [3, 4, 5], "d")
    assert buckets(wb) == ({(): 4}, set())
    merged = {"deletion-vectors.merge-on-read": "true"}
    found = {tuple(r.values()) for r in wb.table("t").copy(merged).to_arrow().to_pylist()}
    assert found == {(0, "a"), (1, "b"), (2, "c"), (3, "d"), (4, "d"), (5, "d")}


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({}, 1),
        ({"postpone.default-bucket-num": "3", "postpone.target-row-num-per-bucket": "1"}, 3),
        ({"postpone.target-size-per-bucket": "1 b", "postpone.batch-write-fixed-bucket.max-parallelism": "5"}, 5),
        ({"postpone.target-row-num-per-bucket": "4"}, 4),
    ],
)
def test_how_many_buckets(wb, options, count):
    make(wb, **options)
    insert(wb, range(9))
    assert buckets(wb) == ({(): count}, set())
    assert rows(wb) == {(i, "v") for i in range(9)}


def test_a_compaction_counts_alike(wb):
    make(wb, "k INT, v STRING, pt INT", "k,pt", "pt", **{"postpone.target-row-num-per-bucket": "2"})
    waiting(wb, range(5), "v", 0)
    waiting(wb, range(2), "v", 1)
    wb.run("CALL sys.compact(table => 't')")
    assert buckets(wb) == ({(0,): 3, (1,): 1}, set())


def test_numbers_that_are_none(wb):
    make(wb, **{"postpone.target-row-num-per-bucket": "0"})
    with pytest.raises(BadOptionValue, match="target-row-num-per-bucket"):
        insert(wb, [1])
    assert [p for p in _paths(wb) if "bucket" in p] == []


@pytest.mark.spark
def test_through_spark(swb):
    """Tasks stage the rows; UPDATE, DELETE and MERGE write like INSERT; a stream lets its rows wait."""
    make(swb, **{"postpone.target-row-num-per-bucket": "300"})
    swb.run("INSERT INTO t SELECT id, CAST(id AS STRING) FROM range(1000)")
    assert buckets(swb) == ({(): 4}, set())
    swb.spark.range(1000, 1002).selectExpr("CAST(id AS INT) k", "'new' v").writeTo("t").append()
    swb.run("DELETE FROM t WHERE k < 990; UPDATE t SET v = 'u' WHERE k = 995")
    swb.run("""MERGE INTO t USING (SELECT * FROM VALUES (996, 'm'), (2000, 'm') AS s(k, v)) s ON t.k = s.k
               WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *""")
    expected = {(i, str(i)) for i in range(990, 1000) if i not in (995, 996)}
    expected |= {(995, "u"), (996, "m"), (1000, "new"), (1001, "new"), (2000, "m")}
    assert rows(swb) == expected
    assert {tuple(r) for r in swb.sql("SELECT * FROM t").collect()} == expected
    assert buckets(swb) == ({(): 4}, set())


SEES = {"postpone.merge-on-read": "true"}


def merged(wb, where=None, **options):
    found = wb.table("t").copy({**SEES, **options}).to_arrow(where=where).to_pylist()
    assert len(found) == len({r["k"] for r in found})
    return {tuple(r.values()) for r in found}


@pytest.mark.parametrize("count", [1, 3])
def test_reads_that_merge_waiting_rows(wb, count):
    make(wb, **{"postpone.default-bucket-num": str(count)})
    waiting(wb, [1, 2], "first")
    assert (rows(wb), merged(wb)) == (set(), {(1, "first"), (2, "first")})
    insert(wb, range(8), "real")
    waiting(wb, [2, 8], "second")
    wb.run(WAITS)
    wb.table("t").delete(pa.table({"k": [5]}))
    wb.run(AGAIN)
    waiting(wb, [2], "third")
    expected = {(0, "real"), (1, "first"), (2, "third"), (8, "second"), *((i, "real") for i in (3, 4, 6, 7))}
    assert buckets(wb) == ({(): count}, {()})
    assert rows(wb) == {(i, "real") for i in range(8)}
    assert merged(wb) == expected
    assert merged(wb, "v = 'real'") == {r for r in expected if r[1] == "real"}
    assert merged(wb, "k = 2 OR k = 5") == {(2, "third")}
    assert wb.table("t").copy(SEES).lookup(k=8).to_pylist() == [{"k": 8, "v": "second"}]
    assert wb.table("t").copy(SEES).to_arrow(columns=[]).num_rows == len(expected)
    assert merged(wb, **{"scan.snapshot-id": "2"}) == {
        (1, "first"),
        (2, "first"),
        *((i, "real") for i in (0, 3, 4, 5, 6, 7)),
    }
    wb.run("CALL sys.compact(table => 't')")
    assert rows(wb) == merged(wb) == expected
    waiting(wb, [9], "later")
    assert merged(wb) == expected | {(9, "later")}
    assert merged(wb, **{"scan.mode": "compacted-full"}) == expected


@pytest.mark.parametrize(
    ("engine", "columns", "values", "seen"),
    [
        (
            "partial-update",
            "k INT, a STRING, b STRING",
            ["1, 'a', NULL", "1, NULL, 'b'", "1, 'c', NULL"],
            (1, "c", "b"),
        ),
        ("aggregation", "k INT, a BIGINT", ["1, 10", "1, 3", "1, 7"], (1, 20)),
        ("first-row", "k INT, a INT", ["1, 10", "1, 3"], None),
    ],
)
def test_waiting_rows_of_merge_engines(wb, engine, columns, values, seen):
    options = {"merge-engine": engine} | ({"fields.a.aggregate-function": "sum"} if engine == "aggregation" else {})
    make(wb, columns, **options)
    for turn, value in enumerate(values):
        wb.run(WAITS if turn == 1 else AGAIN)
        wb.run(f"INSERT INTO t VALUES ({value})")
    wb.run(AGAIN)
    assert merged(wb) == ({seen} if seen else {(1, 3)})
    last = wb.table("t").schema.names[-1]
    if seen:
        assert merged(wb, f"{last} = {seen[-1]!r}") == {seen}


def test_waiting_rows_ordered_by_a_sequence_field(wb):
    make(wb, "k INT, s INT, v STRING", **{"sequence.field": "s"})
    wb.run(f"""INSERT INTO t VALUES (1, 5, 'real'), (2, 5, 'real'); {WAITS};
               INSERT INTO t VALUES (1, 4, 'older'), (2, 6, 'newer'); {AGAIN}""")
    assert merged(wb) == {(1, 5, "real"), (2, 6, "newer")}


def test_a_bucket_key_of_its_own(wb):
    make(wb, "k INT, j INT, v STRING", "k,j", **{"bucket-key": "j", "postpone.default-bucket-num": "3"})
    wb.run("INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'a'), (3, 3, 'a')")
    wb.run(f"{WAITS}; INSERT INTO t VALUES (1, 1, 'b'), (4, 4, 'b'); {AGAIN}")
    assert merged(wb) == {(1, 1, "b"), (2, 2, "a"), (3, 3, "a"), (4, 4, "b")}


@pytest.mark.spark
def test_waiting_rows_in_spark(swb):
    make(swb, "k INT, v STRING, pt INT", "k,pt", "pt")
    insert(swb, [1, 2], "real", 0)
    insert(swb, [1], "real", 1)
    waiting(swb, [2, 3], "waits", 0)
    text = "SELECT k, v, pt FROM t"
    real = {(1, "real", 0), (2, "real", 0), (1, "real", 1)}
    assert {tuple(r) for r in swb.sql(text).collect()} == real
    swb.run("SET spark.paimon.postpone.merge-on-read = true")
    try:
        seen = {(1, "real", 0), (2, "waits", 0), (3, "waits", 0), (1, "real", 1)}
        assert {tuple(r) for r in swb.spark.table("t").collect()} == seen
        assert {tuple(r) for r in swb.sql(f"{text} WHERE v = 'waits' AND k < 3").collect()} == {(2, "waits", 0)}
        assert swb.sql("SELECT count(*), max(v) FROM t").collect() == [(4, "waits")]
        with pytest.raises(UnsupportedOperation, match=r"postpone\.merge-on-read"):
            swb.spark.readStream.table("t")
    finally:
        swb.run("RESET spark.paimon.postpone.merge-on-read")


def test_rescaling_keeps_what_waits(wb):
    make(wb, "k INT, v STRING, pt INT", "k,pt", "pt")
    for partition in (0, 1):
        insert(wb, range(4), "real", partition)
    waiting(wb, [0, 9], "waits", 0)
    with pytest.raises(BadOptionValue, match="bucket = -2"):
        wb.run("CALL sys.rescale(table => 't')")
    wb.run("CALL sys.rescale(table => 't', bucket_num => 3, partitions => 'pt=0')")
    assert buckets(wb) == ({(0,): 3, (1,): 1}, {(0,)})
    assert rows(wb) == {(i, "real", p) for i in range(4) for p in (0, 1)}
    wb.run("CALL sys.compact(table => 't')")
    assert rows(wb) == {(i, "real", p) for i in range(4) for p in (0, 1)} - {(0, "real", 0)} | {
        (0, "waits", 0),
        (9, "waits", 0),
    }


def test_the_parallelism_of_a_statement_of_flink_is_the_number_of_buckets(wb):
    """As the tasks of Flink's sink, each of which writes a bucket of a new partition; others keep their buckets."""
    make(wb, "k INT, v STRING, pt INT", "k,pt", "pt")
    many = wb.table("t").copy({"sink.parallelism": "4"})
    rows = {
        "k": pa.array([*range(40)] * 2, pa.int32()),
        "v": ["v"] * 80,
        "pt": pa.array([1] * 40 + [2] * 40, pa.int32()),
    }
    many.append(pa.table(rows))
    assert buckets(wb) == ({(1,): 4, (2,): 4}, set())
    rows["pt"] = pa.array([1] * 40 + [3] * 40, pa.int32())
    wb.table("t").copy({"sink.parallelism": "5"}).append(pa.table(rows))
    assert buckets(wb) == ({(1,): 4, (2,): 4, (3,): 5}, set())
