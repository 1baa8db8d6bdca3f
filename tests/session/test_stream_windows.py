"""Windows, interval joins and statement sets as streams: in the end the rows of batch mode, which are Flink's
(`test_flink_queries.py`); with a watermark the rows that real Flink told of the same snapshots, late rows left out."""

from __future__ import annotations

import datetime as dt

import pytest

from paimon_nb.session.query.watermark import local_time_as_utc_ms
from paimon_nb.session.streaming.windows import grouped_by_window

DAY = dt.datetime(2026, 1, 2)
DAY_MS = int(DAY.replace(tzinfo=dt.UTC).timestamp() * 1000)
WINDOWS = {
    "tumbled": "TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '10' SECOND)",
    "hopped": "HOP(TABLE w, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)",
    "cumulated": "CUMULATE(TABLE w, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND)",
}
QUERIES = {
    n: f"SELECT window_start, window_end, COUNT(*) AS n, SUM(id) AS total FROM TABLE({window}) GROUP BY window_start, window_end"
    for n, window in WINDOWS.items()
} | {"paired": "SELECT w.id, s.id FROM w JOIN s ON w.id = s.w AND s.ts BETWEEN w.ts AND w.ts + INTERVAL '8' SECOND"}


def rows(wb, table: str) -> list[tuple]:
    return sorted(tuple(r.values()) for r in wb.table(table).to_arrow().to_pylist())


def put(wb, table: str, *given: tuple) -> None:
    """Rows, their last value so many seconds after the day's begin."""
    texts = [", ".join([*map(str, v[:-1]), f"TIMESTAMP '{DAY + dt.timedelta(seconds=v[-1])}'"]) for v in given]
    wb.run(f"INSERT INTO {table} VALUES {', '.join(f'({t})' for t in texts)}")


@pytest.mark.spark
@pytest.mark.nightly
def test_windows_and_joins_end_as_in_batch_mode(swb):
    keyed = "PRIMARY KEY (window_start, window_end) NOT ENFORCED) WITH ('bucket' = '1')"
    swb.run("CREATE TABLE w (id INT, ts TIMESTAMP(3))")
    swb.run("CREATE TABLE s (id INT, w INT, ts TIMESTAMP(3))")
    for name in WINDOWS:
        swb.run(
            f"CREATE TABLE {name} (window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT, total BIGINT, {keyed}"
        )
    swb.run("CREATE TABLE paired (w INT, s INT)")
    swb.run("CREATE TABLE grouped (began TIMESTAMP(3) PRIMARY KEY NOT ENFORCED, n BIGINT) WITH ('bucket' = '1')")
    put(swb, "w", (1, 0), (2, 3), (3, 9))
    put(swb, "s", (11, 1, 5), (12, 2, 20))
    inserts = "; ".join(f"INSERT INTO {name} {query}" for name, query in QUERIES.items())
    by_start = (
        "SELECT TUMBLE_START(ts, INTERVAL '10' SECOND), COUNT(*) FROM w GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)"
    )
    swb.run(
        f"SET 'execution.runtime-mode' = 'streaming'; EXECUTE STATEMENT SET BEGIN {inserts}; INSERT INTO grouped {by_start}; END"
    )
    jobs = list(swb.session.jobs.all.values())
    assert len(jobs) == 5

    def all_went_out() -> None:
        for job in jobs:
            assert job.process_available(), (job.name, job.error)

    all_went_out()
    put(swb, "w", (4, 12), (5, 8))  # one comes late
    put(swb, "s", (13, 3, 10), (14, 4, 12), (15, 5, 17))
    all_went_out()
    swb.run("SET 'execution.runtime-mode' = 'batch'")
    for name, query in QUERIES.items():
        assert rows(swb, name) == sorted(map(tuple, swb.sql(query).collect())), name
    assert rows(swb, "paired") == [(1, 11), (3, 13), (4, 14)]
    assert rows(swb, "tumbled") == [
        (DAY, DAY + dt.timedelta(seconds=10), 4, 11),
        (DAY + dt.timedelta(seconds=10), DAY + dt.timedelta(seconds=20), 1, 4),
    ]
    assert [n for _, n in rows(swb, "grouped")] == [4, 1]
    assert not any(job.error for job in jobs)


TUMBLED = "TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '10' SECOND)"
HOPPED = "HOP(TABLE e, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)"
OF_WINDOW = "SELECT CAST(window_start AS STRING), COUNT(*) AS n, SUM(id) AS total FROM TABLE({}) GROUP BY window_start, window_end"  # fmt: skip
CLOSED = {
    "tumbled": (OF_WINDOW.format(TUMBLED), [("00", 3, 6), ("10", 1, 4)]),
    "hopped": (OF_WINDOW.format(HOPPED), [("-5", 2, 3), ("00", 3, 6), ("05", 3, 12), ("10", 1, 4)]),
    "grouped": ("SELECT CAST(TUMBLE_START(ts, INTERVAL '10' SECOND) AS STRING), COUNT(*), 0 FROM e GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)", [("00", 3, 0), ("10", 1, 0)]),
    "sessions": ("SELECT CAST(SESSION_START(ts, INTERVAL '4' SECOND) AS STRING), COUNT(*), 0 FROM e GROUP BY id > 0, SESSION(ts, INTERVAL '4' SECOND)", [("00", 2, 0), ("08", 3, 0)]),
}  # fmt: skip
"""Queries over `EVENTS`, one snapshot each, and the second of the day at which their windows begin, as Flink 1.20 told them
(`scan.watermark.emit.strategy` = `on-event`, one task)."""
EVENTS = [[(1, 0), (2, 3), (3, 9)], [(4, 12)], [(5, 8)], [(6, 40)]]
LATE = {"tumbled": 1, "hopped": 1, "grouped": 1, "sessions": 0}


def closed_windows(wb, name: str) -> None:
    """Each result comes once, when its window is over, so a table without keys takes it; what is late is counted."""
    query, wanted = CLOSED[name]
    wb.run("CREATE TABLE e (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)")
    wb.run(f"CREATE TABLE {name} (began STRING, n BIGINT, total BIGINT)")
    put(wb, "e", *EVENTS[0])
    job = wb.sql(f"SET 'execution.runtime-mode' = 'streaming'; INSERT INTO {name} {query}")
    assert job.process_available()
    for rows_of_snapshot in EVENTS[1:]:
        put(wb, "e", *rows_of_snapshot)
        assert job.process_available()
    assert rows(wb, name) == sorted((str(DAY + dt.timedelta(seconds=int(s))), *counts) for s, *counts in wanted)
    assert wb.table(name).latest_snapshot().watermark == DAY_MS + 38_000
    (listed,) = wb.run("SHOW JOBS").arrow.to_pylist()
    assert (job.late, listed["late rows"]) == (LATE[name], LATE[name])
    job.stop()


@pytest.mark.spark
def test_a_watermark_closes_windows_and_leaves_late_rows_out(swb):
    closed_windows(swb, "tumbled")


@pytest.mark.nightly
@pytest.mark.spark
def test_a_stream_of_rows_tells_its_snapshots_the_watermark(swb):
    """So automatic tags follow it. As a Flink job told it: a TIMESTAMP is taken for UTC."""
    swb.run("CREATE TABLE e (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)")
    swb.run(
        "CREATE TABLE u (id INT, ts TIMESTAMP(3)) WITH ('tag.automatic-creation' = 'watermark', "
        "'sink.watermark-time-zone' = 'Asia/Shanghai', 'tag.creation-period' = 'hourly')"
    )
    swb.run("SET 'spark.sql.session.timeZone' = 'America/New_York'; SET 'execution.runtime-mode' = 'streaming'")
    job = swb.sql("INSERT INTO u SELECT * FROM e")
    for hours in (1, 2, 0):
        put(swb, "e", (hours, hours * 3600))
        assert job.process_available()
    job.stop()
    hour = 3_600_000
    assert swb.table("u").snapshots().column("watermark").to_pylist() == [
        DAY_MS + hour - 5000, DAY_MS + 2 * hour - 5000, DAY_MS + 2 * hour - 5000,
    ]  # fmt: skip
    assert swb.run("SHOW TAGS u").arrow.column(0).to_pylist() == ["2026-01-02 07", "2026-01-02 08"]
    # A stream with a consumer passes on the watermark of the snapshots that it reads, if the table defines none.
    swb.run("CREATE TABLE v (id INT, ts TIMESTAMP(3)); CREATE TABLE w (id INT, ts TIMESTAMP(3))")
    jobs = [swb.sql(f"INSERT INTO {target} SELECT * FROM u {hint}") for target, hint in (
        ("v", "/*+ OPTIONS('consumer-id' = 'me', 'consumer.expiration-time' = '1 h') */"), ("w", ""))]  # fmt: skip
    for job in jobs:
        assert job.process_available()
        job.stop()
    marks = [swb.table(name).snapshots().column("watermark").to_pylist() for name in ("v", "w")]
    assert marks == [[DAY_MS + 2 * hour - 5000], [None]]


@pytest.mark.parametrize(("zone", "hours"), [("UTC", 0), ("Asia/Shanghai", 8), ("America/New_York", -5)])
def test_an_instant_of_a_zone_is_its_wall_clock_in_utc(zone, hours):
    assert local_time_as_utc_ms(DAY_MS, zone) == DAY_MS + hours * 3_600_000


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.parametrize("name", [n for n in CLOSED if n != "tumbled"])
def test_all_windows_that_a_watermark_closes(swb, name):
    closed_windows(swb, name)


@pytest.mark.parametrize(
    ("said", "grouped"),
    [
        ("SELECT window_end, COUNT(*) FROM (SELECT __w.* EXCEPT (__win), 1) GROUP BY window_start, window_end",
         "SELECT window_end, COUNT(*) FROM (SELECT __w.* , 1) GROUP BY __win, window_start, window_end"),
        ("SELECT 1 FROM (SELECT __w.* EXCEPT (__win, __day), 1) GROUP BY window_end",
         "SELECT 1 FROM (SELECT __w.* EXCEPT (__win), 1) GROUP BY __day, window_end"),
        ("SELECT k FROM (SELECT __w.* EXCEPT (__win), 1) GROUP BY k HAVING max(window_end) > 1", None),
        ("SELECT k, count(*) FROM t GROUP BY window_end", None),
    ],
)  # fmt: skip
def test_the_window_itself_is_named_beside_its_ends(said, grouped):
    assert grouped_by_window(said) == (grouped or said)
