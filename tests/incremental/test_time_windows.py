"""Windows of time: Flink's table functions and group windows, and Spark's window and session_window, against a model in Python."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
import pytest
from incremental_kit import change, create_target, refreshed
from sampling import sampled

from paimon_nb import incremental

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import paimon_nb

pytest.importorskip("duckdb")

_Time: TypeAlias = dt.datetime
_Windows: TypeAlias = "Callable[[list[_Time]], Iterator[tuple[_Time, _Time, int]]]"
EPOCH = dt.datetime(1970, 1, 1)


def minutes(n: float) -> dt.timedelta:
    return dt.timedelta(minutes=n)


def fixed(size: int, slide: int, offset: int = 0) -> _Windows:
    """Windows of some minutes, counted."""

    def windows(times: list[_Time]) -> Iterator[tuple[_Time, _Time, int]]:
        found: Counter[tuple[_Time, _Time]] = Counter()
        for time in times:
            start = time - ((time - EPOCH - minutes(offset)) % minutes(slide))
            while start + minutes(size) > time:
                found[start, start + minutes(size)] += 1
                start -= minutes(slide)
        yield from ((a, b, n) for (a, b), n in found.items())

    return windows


def cumulated(step: int, size: int) -> _Windows:
    def windows(times: list[_Time]) -> Iterator[tuple[_Time, _Time, int]]:
        found: Counter[tuple[_Time, _Time]] = Counter()
        for time in times:
            start = time - ((time - EPOCH) % minutes(size))
            found.update((start, end) for n in range(step, size + 1, step) if (end := start + minutes(n)) > time)
        yield from ((a, b, n) for (a, b), n in found.items())

    return windows


def sessions(gap: int) -> _Windows:
    def windows(times: list[_Time]) -> Iterator[tuple[_Time, _Time, int]]:
        parts: list[list[_Time]] = []
        for time in sorted(times):
            if parts and time - parts[-1][-1] <= minutes(gap):
                parts[-1].append(time)
            else:
                parts.append([time])
        yield from ((p[0], p[-1] + minutes(gap), len(p)) for p in parts)

    return windows


QUERIES = {
    "tumble": (fixed(7, 7), "SELECT window_start AS a, window_end AS b, count(*) AS n FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '7' MINUTES)) GROUP BY window_start, window_end"),
    "tumble with an offset": (fixed(10, 10, 3), "SELECT window_start AS a, window_end AS b, count(*) AS n FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '10' MINUTES, INTERVAL '3' MINUTES)) GROUP BY window_start, window_end"),
    "hop": (fixed(10, 5), "SELECT window_start AS a, window_end AS b, count(*) AS n FROM TABLE(HOP(DATA => TABLE e, TIMECOL => DESCRIPTOR(ts), SLIDE => INTERVAL '5' MINUTES, SIZE => INTERVAL '10' MINUTES)) AS w GROUP BY w.window_start, w.window_end"),
    "cumulate": (cumulated(2, 10), "SELECT window_start AS a, window_end AS b, count(*) AS n FROM TABLE(CUMULATE(TABLE e, DESCRIPTOR(ts), INTERVAL '2' MINUTES, INTERVAL '10' MINUTES)) GROUP BY window_start, window_end"),
    "session": (sessions(5), "SELECT window_start AS a, window_end AS b, count(*) AS n FROM TABLE(SESSION(TABLE e, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY window_start, window_end"),
    "window": (fixed(10, 4, 1), "SELECT window.start AS a, window.end AS b, count(*) AS n FROM e GROUP BY window(ts, '10 minutes', '4 minutes', '1 minute')"),
    "field of a window": (fixed(60, 60), "SELECT window(ts, '1 hour').start AS a, window(ts, '1 hour').end AS b, count(*) AS n FROM e GROUP BY window(ts, '1 hour') HAVING count(*) > 0"),
    "session_window": (sessions(5), "SELECT session_window.start AS a, session_window.end AS b, count(*) AS n FROM e GROUP BY session_window(ts, '5 minutes')"),
    "group window": (fixed(60, 60), "SELECT TUMBLE_START(ts, INTERVAL '1' HOUR) AS a, TUMBLE_END(ts, INTERVAL '1' HOUR) AS b, count(*) AS n FROM e GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)"),
    "over a subquery": (fixed(7, 7), "SELECT window_start AS a, window_end AS b, count(*) AS n FROM (SELECT * FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '7' MINUTES))) WHERE id > 0 GROUP BY window_start, window_end"),
}  # fmt: skip


@pytest.mark.parametrize("name", sampled(QUERIES, 3))
def test_windows_follow_their_rows(wb: paimon_nb.Workbench, name: str) -> None:
    windows, text = QUERIES[name]
    change(wb, "CREATE TABLE e (id INT, ts TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    create_target(wb, "t", incremental.analyse(wb.session, text))
    model: dict[int, _Time | None] = {}
    rounds: list[dict[int, _Time | None]] = [
        {1: dt.datetime(2024, 1, 1), 2: dt.datetime(2024, 1, 1, 0, 5), 3: dt.datetime(2024, 1, 1, 0, 10, 1), 4: None},
        {5: dt.datetime(1969, 12, 31, 23, 57), 3: dt.datetime(2024, 1, 1, 0, 9), 6: dt.datetime(2024, 1, 1, 0, 9)},
        {2: dt.datetime(2024, 1, 1, 3), 4: dt.datetime(2024, 1, 1, 0, 4, 59, 999000)},
    ]
    for number, changed in enumerate(rounds):
        model |= changed
        added = {"id": pa.array(changed, pa.int32()), "ts": pa.array(changed.values(), pa.timestamp("ms"))}
        wb.table("e").append(pa.table(added))
        if number == 2:
            wb.table("e").delete(where="id = 1")
            del model[1]
        assert refreshed(wb, "t", text).action == ("incremental" if number else "built")
        found = sorted((r["a"], r["b"], r["n"]) for r in wb.table("t").to_arrow().to_pylist())
        assert found == sorted(windows([t for t in model.values() if t is not None]))


def test_sessions_of_other_keys_stay_apart(wb: paimon_nb.Workbench) -> None:
    change(
        wb,
        """CREATE TABLE e (g STRING, ts TIMESTAMP(3));
        INSERT INTO e VALUES ('a', TIMESTAMP '2024-01-01 00:00:00'), ('b', TIMESTAMP '2024-01-01 00:04:00')""",
    )
    flink = "SELECT g, window_end AS z, count(*) AS n FROM TABLE(SESSION(TABLE e PARTITION BY g, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY g, window_start, window_end"
    spark = "SELECT g, session_window.end AS z, count(*) AS n FROM e GROUP BY g, session_window(ts, '5 minutes')"
    for name, text in (("f", flink), ("s", spark)):
        create_target(wb, name, incremental.analyse(wb.session, text))
        refreshed(wb, name, text)
    change(wb, "INSERT INTO e VALUES ('a', TIMESTAMP '2024-01-01 00:05:00')")
    for name, text in (("f", flink), ("s", spark)):
        assert refreshed(wb, name, text).action == "incremental"
        assert sorted(wb.table(name).to_arrow().to_pylist(), key=str) == [
            {"g": "a", "z": dt.datetime(2024, 1, 1, 0, 10), "n": 2},
            {"g": "b", "z": dt.datetime(2024, 1, 1, 0, 9), "n": 1},
        ]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("TABLE(HOP(TABLE e, DESCRIPTOR(ts), INTERVAL '3' MINUTES, INTERVAL '10' MINUTES))", "HOP whose size is not a multiple of its slide"),
        ("TABLE(TUMBLE(TABLE e, DESCRIPTOR(id), INTERVAL '3' MINUTES))", "a window over INT"),
        ("TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' MONTH))", "a window without such an interval"),
    ],
)  # fmt: skip
def test_windows_without_a_rule_say_why(wb: paimon_nb.Workbench, source: str, reason: str) -> None:
    change(wb, "CREATE TABLE e (id INT, ts TIMESTAMP(3))")
    text = f"SELECT window_start, count(*) AS n FROM {source} GROUP BY window_start, window_end"
    assert incremental.analyse(wb.session, text).explain().startswith(f"recomputed: {reason}")
