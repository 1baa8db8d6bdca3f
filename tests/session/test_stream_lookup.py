"""Lookup joins of streams: what stays in memory, which buckets are read, and rows that are waited for."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from paimon_nb.base.errors import BadOptionValue, PaimonError, UnknownOption, UnsupportedOperation
from paimon_nb.options import TableOptions
from paimon_nb.session.query.lookup_joins import LookupJoin, find_join
from paimon_nb.session.streaming.lookup.refresh import RefreshSchedule

STREAMING = "SET 'execution.runtime-mode' = 'streaming'"
ORDERS = "(SELECT *, PROCTIME() AS pt FROM orders) AS o"
RETRY = "'retry-predicate' = 'lookup_miss', 'retry-strategy' = 'fixed_delay', 'fixed-delay' = '100 ms', 'max-attempts' = '{}'"


def rows(wb, table: str) -> list[tuple]:
    return sorted(tuple(r.values()) for r in wb.table(table).to_arrow().to_pylist())


def shop(wb, buckets: int) -> None:
    wb.run(f"CREATE TABLE customers (c INT PRIMARY KEY NOT ENFORCED, name STRING) WITH ('bucket' = '{buckets}', 'write-only' = 'true')")  # fmt: skip
    wb.run("CREATE TABLE orders (id INT, customer BIGINT)")


def looked_up(wb, hint: str = "", on: str = "o.customer = c.c", kind: str = "", hints: str = "") -> str:
    """A new table's name, into which a job looks up."""
    name = f"wide_{len(wb.session.jobs.all)}"
    wb.run(f"CREATE TABLE {name} (id INT, name STRING)")
    wb.sql(f"INSERT INTO {name} SELECT {hints} o.id, c.name FROM {ORDERS} {kind} JOIN customers{hint} FOR SYSTEM_TIME AS OF o.pt AS c ON {on}")  # fmt: skip
    return name


@pytest.mark.spark
@pytest.mark.nightly
def test_a_dimension_stays_in_memory_bucket_by_bucket_within_its_bound(swb):
    """Its files are taken away: what was kept, or is not asked for, is not missed."""
    shop(swb, 4)
    swb.run("INSERT INTO customers VALUES " + ", ".join(f"({i}, 'name {i}')" for i in range(40)))
    swb.run(STREAMING)
    files = {p: p.stat().st_size for p in Path(swb.table("customers").store.root).glob("bucket-*/*")}
    bucket = {c: swb.table("customers").scan(f"c = {c}").plan.splits[0].bucket for c in range(40)}
    elsewhere = next(c for c, b in bucket.items() if b != bucket[1])
    bound = " /*+ OPTIONS('lookup.cache-max-memory-size' = '{} b') */"
    whole, some = looked_up(swb), looked_up(swb, bound.format(sum(files.values()) - 1))
    none, other = looked_up(swb, bound.format(1)), looked_up(swb, bound.format(1), on="CONCAT('name ', o.customer) = c.name")  # fmt: skip
    jobs = dict(zip((whole, some, none, other), swb.session.jobs.all.values(), strict=True))

    def ordered(number: int, *names: str) -> None:
        swb.run(f"INSERT INTO orders VALUES ({number}, 1)")
        for name in names:
            assert jobs[name].wait_for(lambda: rows(swb, name) == [(i, "name 1") for i in range(1, number + 1)]), name  # noqa: B023

    ordered(1, *jobs)
    jobs[other].stop()
    for file in files:
        if file.parent.name != f"bucket-{bucket[1]}":
            file.unlink()
    ordered(2, whole, some, none)
    for file in files:
        file.unlink(missing_ok=True)
    ordered(3, whole, some)
    with pytest.raises(PaimonError):
        jobs[none].wait_for(lambda: len(rows(swb, none)) == 3)
    swb.run(f"INSERT INTO customers VALUES ({elsewhere}, 'new')")  # a snapshot that leaves this bucket as it was
    ordered(4, some)


CONSTANT = "{0}.day = CAST('2024-06-09' AS DATE) AND {0}.price = 123.45"
BUCKETED = [
    (key, cache, bucket_key, on)
    for key, cache in (("", "auto"), ("c", "full"), ("c", "auto"))
    for bucket_key, on in (
        ("c", "o.c = {0}.c"),
        ("c,name", "o.c = {0}.c AND o.name = {0}.name"),
        ("name", "o.c = {0}.c AND o.name = {0}.name"),
        ("name", f"o.c = {{0}}.c AND o.name = {{0}}.name AND {CONSTANT}"),
    )
]
"""Primary key, cache, bucket key and join of the lookup tables: with all of the bucket key, more than it, and constants."""


@pytest.mark.spark
@pytest.mark.nightly
def test_rows_are_distributed_to_the_buckets_of_each_lookup_table(swb):
    """One job looks up in tables of every kind; with LOOKUP('shuffle' = 'true') Flink sends each row to its bucket's task."""
    values = ", ".join(f"({i}, '{i * 10}', DATE '2024-06-09', 123.45)" for i in range(1, 31))
    swb.run("CREATE TABLE rows_in (c INT, name STRING); CREATE TABLE wide (c INT, names STRING)")
    joins, hints, names = [], [], []
    for i, (key, cache, bucket_key, on) in enumerate(BUCKETED):
        keyed = f", PRIMARY KEY ({'c' if bucket_key == 'c' else 'c, name'}) NOT ENFORCED" if key else ""
        swb.run(f"""CREATE TABLE d{i} (c INT, name STRING, day DATE, price DECIMAL(10, 2){keyed})
            WITH ('bucket' = '5', 'bucket-key' = '{bucket_key}', 'lookup.cache' = '{cache}'); INSERT INTO d{i} VALUES {values}""")
        joins.append(f"JOIN d{i} FOR SYSTEM_TIME AS OF o.pt AS k{i} ON {on.format(f'k{i}')}")
        hints.append(f"LOOKUP('table' = 'k{i}', 'shuffle' = 'true')")
        names.append(f"k{i}.name")
    swb.run("INSERT INTO rows_in VALUES " + ", ".join(f"({i}, '{i * 10}')" for i in range(1, 31)))
    swb.run(STREAMING)
    job = swb.sql(f"INSERT INTO wide SELECT /*+ {', '.join(hints)} */ o.c, CONCAT_WS(' ', {', '.join(names)}) "
                  f"FROM (SELECT *, PROCTIME() AS pt FROM rows_in) AS o {' '.join(joins)}")  # fmt: skip
    assert job.process_available()
    job.stop()
    assert rows(swb, "wide") == [(i, " ".join([str(i * 10)] * len(BUCKETED))) for i in range(1, 31)]


@pytest.mark.nightly
@pytest.mark.spark
def test_a_row_that_is_not_there_yet_is_waited_for(swb, tmp_path):
    """As often as the hint says; a job that is stopped meanwhile has told nothing and goes on from its checkpoint."""
    shop(swb, 2)
    swb.run(
        "INSERT INTO customers VALUES (1, 'Ann'); INSERT INTO orders VALUES (1, 1), (2, 2), (3, CAST(NULL AS BIGINT))"
    )
    swb.run(f"{STREAMING}; SET 'execution.checkpointing.dir' = '{tmp_path}/c'")
    hint = f"/*+ LOOKUP('table' = 'c', 'shuffle' = 'true', {RETRY}) */"
    short, long = (
        looked_up(swb, kind="LEFT", hints=hint.format(3)),
        looked_up(swb, kind="LEFT", hints=hint.format(100_000)),
    )
    few, many = swb.session.jobs.all.values()
    assert few.wait_for(lambda: rows(swb, short) == [(1, "Ann"), (2, None), (3, None)])
    began = time.monotonic()
    many.stop()
    assert (many.status, many.error, rows(swb, long)) == ("CANCELED", None, [])
    assert time.monotonic() - began < 60
    text = f"INSERT INTO {long} SELECT {hint.format(100_000)} o.id, c.name FROM {ORDERS} LEFT JOIN customers FOR SYSTEM_TIME AS OF o.pt AS c ON o.customer = c.c"  # fmt: skip
    many = swb.sql(text)
    time.sleep(1)
    assert rows(swb, long) == []
    swb.run("INSERT INTO customers VALUES (2, 'Bob')")
    assert many.wait_for(lambda: rows(swb, long) == [(1, "Ann"), (2, "Bob"), (3, None)])


@pytest.mark.nightly
@pytest.mark.spark
def test_rows_overtake_one_that_waits_for_its_match(swb, tmp_path):
    """The checkpoint contains the row that waits: the job that resumes looks it up again. A row waits as often as the hint says."""
    swb.run("CREATE TABLE customers (c INT PRIMARY KEY NOT ENFORCED, name STRING, v INT) WITH ('bucket' = '1', 'sequence.field' = 'v')")  # fmt: skip
    swb.run("CREATE TABLE orders (id INT, customer BIGINT); INSERT INTO customers VALUES (1, 'Ann', 1)")
    swb.run(f"{STREAMING}; SET 'execution.checkpointing.dir' = '{tmp_path}/c'")
    unordered = f"'table' = 'c', 'output-mode' = 'allow_unordered', {RETRY}"
    swb.run("CREATE TABLE found (id INT, name STRING)")
    insert = f"""INSERT INTO found SELECT /*+ LOOKUP({unordered.format(100_000)}) */ o.id, c.name FROM {ORDERS}
        LEFT JOIN customers /*+ OPTIONS('lookup.async' = 'true') */ FOR SYSTEM_TIME AS OF o.pt AS c ON o.customer = c.c"""
    waits = swb.sql(insert)
    gives_up = looked_up(swb, kind="LEFT", hints=f"/*+ LOOKUP('async' = 'true', {unordered.format(2)}) */")
    for number, customer in ((1, 2), (2, 1), (3, 1)):
        swb.run(f"INSERT INTO orders VALUES ({number}, {customer})")
    assert waits.wait_for(lambda: rows(swb, "found") == [(2, "Ann"), (3, "Ann")])
    waits.stop()

    waits = swb.sql(insert)
    swb.run("INSERT INTO customers VALUES (1, 'Old', 0), (2, 'Bob', 1)")

    assert waits.wait_for(lambda: rows(swb, "found") == [(1, "Bob"), (2, "Ann"), (3, "Ann")])
    assert [r for r in rows(swb, gives_up) if r[0] > 1] == [(2, "Ann"), (3, "Ann")]
    swb.run("INSERT INTO orders VALUES (4, 9)")
    job = list(swb.session.jobs.all.values())[1]
    assert job.wait_for(lambda: rows(swb, gives_up)[1:] == [(2, "Ann"), (3, "Ann"), (4, None)])


@pytest.mark.spark
def test_a_query_that_groups_takes_rows_that_it_waited_for_and_keeps_none_back(swb):
    shop(swb, 1)
    swb.run("CREATE TABLE placed (id INT PRIMARY KEY NOT ENFORCED, customer INT) WITH ('bucket' = '1')")
    swb.run("CREATE TABLE totals (name STRING PRIMARY KEY NOT ENFORCED, n BIGINT) WITH ('bucket' = '1')")
    swb.run("INSERT INTO customers VALUES (1, 'Ann'); INSERT INTO placed VALUES (1, 1), (2, 2), (3, 2)")
    swb.run(STREAMING)
    job = swb.sql(
        f"INSERT INTO totals SELECT /*+ LOOKUP('table' = 'c', {RETRY.format(3)}) */ c.name, COUNT(*) FROM "
        "(SELECT *, PROCTIME() AS pt FROM placed) AS o JOIN customers FOR SYSTEM_TIME AS OF o.pt AS c ON o.customer = c.c GROUP BY c.name"
    )
    assert job.wait_for(lambda: rows(swb, "totals") == [("Ann", 1)])

    swb.run("INSERT INTO customers VALUES (2, 'Bob')")

    assert job.wait_for(lambda: rows(swb, "totals") == [("Ann", 1), ("Bob", 2)])
    assert [s.table for s in job.progress()] == ["default.placed"]


@pytest.mark.parametrize(
    ("hint", "error", "words"),
    [
        ("'table' = 'x', " + RETRY, BadOptionValue, "'x' is not a lookup table of the query"),
        (RETRY, BadOptionValue, "'table' is missing"),
        ("'table' = 'c', 'colour' = 'red'", UnknownOption, "colour"),
        ("'table' = 'c', 'retry-predicate' = 'lookup_miss'", BadOptionValue, "'retry-strategy' is missing"),
        ("'table' = 'c', " + RETRY.replace("lookup_miss", "always"), BadOptionValue, "always"),
        ("'table' = 'c', " + RETRY.replace("{}", "0"), BadOptionValue, "max-attempts"),
        ("'table' = 'c', " + RETRY.replace("100 ms", "soon"), BadOptionValue, "soon"),
        ("'table' = 'c', 'output-mode' = 'mixed', " + RETRY, BadOptionValue, "mixed"),
        ("'table' = 'c', 'async' = 'maybe', " + RETRY, BadOptionValue, "maybe"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_hint_is_said_before_anything_runs(wb, hint, error, words):
    shop(wb, 1)
    wb.run(STREAMING)
    with pytest.raises(error, match=words):
        looked_up(wb, hints=f"/*+ LOOKUP({hint.format(3)}) */")
    assert wb.session.jobs.all == {}
    assert not wb.session.spark_started


@pytest.mark.parametrize("engine", ["partial-update", "aggregation"])
def test_a_table_that_merges_rows_needs_a_changelog_producer(wb, engine):
    shop(wb, 1)
    wb.run(f"ALTER TABLE customers SET ('merge-engine' = '{engine}'); {STREAMING}")
    with pytest.raises(UnsupportedOperation, match=f"a lookup join of a {engine} table needs a changelog producer"):
        looked_up(wb)
    assert not wb.session.spark_started


def test_keys_that_are_not_clear_cannot_be_waited_for(wb):
    shop(wb, 1)
    wb.run(STREAMING)
    with pytest.raises(UnsupportedOperation, match="clear equality keys"):
        looked_up(wb, hints=f"/*+ LOOKUP('table' = 'c', {RETRY.format(3)}) */", on="o.customer > c.c")


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (
            "SELECT * FROM `o` AS o JOIN `d` AS c ON o.x = c.k WHERE o.y > 1",
            LookupJoin("FROM `o` AS o ", "c", (("k", "`o`.`x`"),), ()),
        ),
        (
            "SELECT a FROM (SELECT left(z, 1) AS x, y FROM `o`) AS o LEFT OUTER JOIN `d` c ON (c.k = o.x AND o.y = c.`J j`) AND c.l = 'EU' AND c.m > 1",
            LookupJoin("FROM (SELECT left(z, 1) AS x, y FROM `o`) AS o ", "c", (("k", "`o`.`x`"), ("J j", "`o`.`y`")), (("l", "'EU'"),)),
        ),
        (
            "SELECT * FROM o JOIN `e` AS e ON o.x = e.k LEFT JOIN `d` AS c ON e.y = c.k LEFT JOIN f ON f.x = c.k",
            LookupJoin("FROM o JOIN `e` AS e ON o.x = e.k ", "c", (("k", "`e`.`y`"),), ()),
        ),
        ("SELECT * FROM o JOIN `d` AS c ON o.x + 1 = c.k OR o.x = c.k", LookupJoin("FROM o ", "c", (), ())),
        ("SELECT * FROM o, `d` AS c WHERE o.x = c.k", None),
        ("SELECT * FROM o RIGHT JOIN `d` AS c ON o.x = c.k", None),
        ("SELECT * FROM o JOIN `d` AS c USING (k)", None),
        ("WITH o AS (SELECT 1 AS x) SELECT * FROM o JOIN `d` AS c ON o.x = c.k", None),
        ("SELECT * FROM p, o JOIN `d` AS c ON o.x = c.k", None),
    ],
)  # fmt: skip
def test_a_join_is_found_in_the_text(said, found):
    assert find_join(said, "d") == found


def local(moment: str) -> int:
    return int(datetime.strptime(moment, "%Y-%m-%d %H:%M:%S").timestamp() * 1000)


def test_when_a_dimension_is_looked_at_again():
    """Intervals count where somebody sets them; the times on the list are closed, ends included."""
    periods = "2024-01-31 08:00->2024-01-31 20:00, 2024-02-01 08:00->2024-02-01 09:00"
    refresh = RefreshSchedule.of(
        TableOptions(
            {
                "continuous.discovery-interval": "10 s",
                "lookup.continuous.discovery-interval": "1 min",
                "lookup.dynamic-partition.refresh-interval": "1 h",
                "lookup.refresh.time-periods-blacklist": periods,
            }
        )
    )
    moments = ("01-31 07:59:59", "01-31 08:00:00", "01-31 20:00:00", "01-31 20:00:01", "02-01 08:30:00")
    assert [refresh.is_closed(local(f"2024-{m}")) for m in moments] == [False, True, True, False, True]
    assert [refresh.snapshots_due(0, t) for t in (59_999, 60_000)] == [False, True]
    assert [refresh.partitions_due(0, t) for t in (3_600_000, 3_600_001)] == [False, True]
    each = RefreshSchedule.of(TableOptions({}))
    assert each == RefreshSchedule()
    assert each.snapshots_due(0, 0)
    assert each.partitions_due(0, 0)


@pytest.mark.parametrize("text", ["2024-01-31 08:00", "noon->evening", "2024-01-31 08:00->2024-01-30 08:00"])
def test_times_that_are_none_are_said_before_anything_runs(wb, text):
    shop(wb, 1)
    wb.run(STREAMING)
    hint = f" /*+ OPTIONS('lookup.refresh.time-periods-blacklist' = '{text}') */"
    with pytest.raises(BadOptionValue, match="time-periods-blacklist"):
        looked_up(wb, hint)


@pytest.mark.spark
@pytest.mark.nightly
def test_a_dimension_is_left_as_it_was_for_as_long_as_its_options_say(swb):
    swb.run("CREATE TABLE customers (c INT, dt STRING, name STRING, PRIMARY KEY (c, dt) NOT ENFORCED) PARTITIONED BY (dt) WITH ('bucket' = '1')")  # fmt: skip
    swb.run("CREATE TABLE orders (id INT, customer BIGINT)")
    swb.run("INSERT INTO customers VALUES (1, 'd1', 'old')")
    swb.run(STREAMING)
    now = datetime.now()
    closed = f"{now - timedelta(hours=1):%Y-%m-%d %H:%M}->{now + timedelta(hours=1):%Y-%m-%d %H:%M}"
    hints = {
        "'scan.partitions' = 'max_pt()'": "new",
        "'lookup.continuous.discovery-interval' = '1 h'": "old",
        f"'lookup.refresh.time-periods-blacklist' = '{closed}'": "old",
        "'lookup.dynamic-partition' = 'max_pt()', 'lookup.dynamic-partition.refresh-interval' = '1 h'": "changed",
    }
    names = [looked_up(swb, f" /*+ OPTIONS({hint}) */") for hint in hints]
    jobs = list(swb.session.jobs.all.values())

    def ordered(number: int, told: list[str]) -> None:
        swb.run(f"INSERT INTO orders VALUES ({number}, 1)")
        for job, name, one in zip(jobs, names, told, strict=True):
            assert job.wait_for(lambda: rows(swb, name)[number - 1 :] == [(number, one)]), name  # noqa: B023

    ordered(1, ["old"] * 4)
    swb.run("INSERT INTO customers VALUES (1, 'd1', 'changed')")
    swb.run("INSERT INTO customers VALUES (1, 'd2', 'new')")
    ordered(2, list(hints.values()))
    for job in jobs:
        job.stop()


@pytest.mark.nightly
@pytest.mark.spark
def test_a_dimension_of_the_greatest_values_of_the_first_partition_columns(swb):
    swb.run("CREATE TABLE customers (c INT, day STRING, hour INT, name STRING) PARTITIONED BY (day, hour)")
    swb.run("CREATE TABLE orders (id INT, customer BIGINT)")
    swb.run("INSERT INTO customers VALUES (1, 'd1', 9, 'a'), (1, 'd2', 7, 'b'), (1, 'd2', 8, 'c')")
    swb.run(STREAMING)
    by_day, by_hour = (
        looked_up(swb, f" /*+ OPTIONS('scan.partitions' = '{partitions}') */")
        for partitions in ("day=max_pt()", "day=max_pt(),hour=max_pt()")
    )
    swb.run("INSERT INTO orders VALUES (1, 1)")
    jobs = list(swb.session.jobs.all.values())
    assert jobs[0].wait_for(lambda: sorted(rows(swb, by_day)) == [(1, "b"), (1, "c")])
    assert jobs[1].wait_for(lambda: rows(swb, by_hour) == [(1, "c")])
    for job in jobs:
        job.stop()
    with pytest.raises(BadOptionValue, match="not the first partition columns"):
        swb.stream("SELECT o.id FROM orders AS o JOIN customers /*+ OPTIONS('scan.partitions' = 'hour=max_pt()') */ "
                   "FOR SYSTEM_TIME AS OF o.at AS k ON o.customer = k.c").collect(1, 20)  # fmt: skip


@pytest.mark.nightly
@pytest.mark.spark
def test_a_stream_of_changes_with_two_columns_of_one_name(swb):
    """The dimension ignores where its hint says to begin."""
    keyed = "(pt INT, id INT, v STRING, PRIMARY KEY (pt, id) NOT ENFORCED) PARTITIONED BY (pt) WITH ('bucket' = '1')"
    swb.run(f"CREATE TABLE d {keyed}; CREATE TABLE t {keyed}; CREATE TABLE wide (a INT, b STRING, c INT, e STRING)")
    swb.run("INSERT INTO d VALUES (1, 1, 'one'), (3, 3, 'three'); INSERT INTO t VALUES (1, 1, 'x'), (3, 3, 'y')")
    swb.run(STREAMING)
    hint = "/*+ OPTIONS('scan.snapshot-id' = '2') */"
    job = swb.run(f"""INSERT INTO wide SELECT T.pt, T.v, D.pt, D.v FROM (SELECT *, PROCTIME() AS now FROM t) AS T
        LEFT JOIN d {hint} FOR SYSTEM_TIME AS OF T.now AS D ON T.id = D.id""").job
    assert job.wait_for(lambda: len(rows(swb, "wide")) == 2)
    assert rows(swb, "wide") == [(1, "x", 1, "one"), (3, "y", 3, "three")]
