"""Inputs that declare a watermark: late rows are dropped and counted, closed windows keep their result and lose their state."""

from __future__ import annotations

import datetime as dt
import random
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from incremental_kit import create_target, refreshed
from sampling import sampled

from paimon_nb import incremental

if TYPE_CHECKING:
    import paimon_nb

pytest.importorskip("duckdb")

START = dt.datetime(2024, 1, 1)
SLIDE, DELAY = 10, 5
"""Minutes."""
EVENTS = "CREATE TABLE e (id INT, g STRING, x INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' MINUTE{key}) WITH ({options})"
KEY = ", PRIMARY KEY (id) NOT ENFORCED"
WINDOWS = {
    "tumble": (10, "TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '10' MINUTE))"),
    "hop": (30, "TABLE(HOP(TABLE e, DESCRIPTOR(ts), INTERVAL '10' MINUTE, INTERVAL '30' MINUTES))"),
    "a filtered subquery": (10, "(SELECT * FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '10' MINUTE)) WHERE id >= 0)"),
}  # fmt: skip


def query(window: str) -> str:
    """Linear functions, and one that needs the values of its group."""
    rows = WINDOWS[window][1]
    return f"SELECT g, window_start AS a, count(*) AS n, sum(x) AS s, min(x) AS low FROM {rows} GROUP BY g, window_start, window_end"


def events(wb: paimon_nb.Workbench, *rows: tuple[int, str, int, float]) -> None:
    """Append events. The last value: minutes since the start."""
    ids, groups, values, times = zip(*rows, strict=True)
    columns = [
        pa.array(ids, pa.int32()),
        pa.array(groups),
        pa.array(values, pa.int32()),
        pa.array([START + dt.timedelta(minutes=t) for t in times], pa.timestamp("ms")),
    ]
    wb.table("e").append(pa.table(columns, names=["id", "g", "x", "ts"]))


class Model:
    """What Flink's windows do with rows and their retractions, if the watermark moves after each refresh."""

    def __init__(self, size: int) -> None:
        self.size, self.watermark, self.late = size, -(10.0**9), 0
        self.rows: dict[tuple[str, int], list[int]] = defaultdict(list)

    def refresh(self, added: list[tuple[int, str, int, float]], removed: list[tuple[int, str, int, float]]) -> None:
        for rows, is_added in ((removed, False), (added, True)):
            for _, g, x, time in rows:
                begin = int(time // SLIDE * SLIDE)
                for start in range(begin, begin - self.size, -SLIDE):
                    if start + self.size - 1 / 60_000 <= self.watermark:
                        self.late += is_added
                    elif is_added:
                        self.rows[g, start].append(x)
                    else:
                        self.rows[g, start].remove(x)
        self.watermark = max([self.watermark, *(r[3] - DELAY for r in added)])

    def result(self) -> set[tuple[Any, ...]]:
        return {(g, START + dt.timedelta(minutes=a), len(x), sum(x), min(x)) for (g, a), x in self.rows.items() if x}

    def open_groups(self) -> int:
        return sum(1 for (_, a), x in self.rows.items() if x and a + self.size - 1 / 60_000 > self.watermark)


def result(wb: paimon_nb.Workbench) -> set[tuple[Any, ...]]:
    return {tuple(r.values()) for r in wb.table("t").to_arrow().to_pylist()}


@pytest.mark.parametrize(
    ("window", "key"),
    sampled([("tumble", KEY), ("hop", KEY), ("tumble", ""), ("a filtered subquery", "")], 2),
)
def test_late_rows_and_expired_state(wb: paimon_nb.Workbench, window: str, key: str) -> None:
    wb.run(EVENTS.format(key=key, options="'bucket' = '1'" if key else "'bucket' = '-1'"))
    text, model, r = query(window), Model(WINDOWS[window][0]), random.Random(3)
    create_target(wb, "t", incremental.analyse(wb.session, text))
    known: dict[int, tuple[int, str, int, float]] = {}
    late = number = 0
    for time in range(0, 150, 10):
        added, removed = [], []
        for _ in range(r.randint(0, 4)):
            number += 1
            ident = r.randint(1, 12) if key else number
            row = (ident, r.choice("ab"), r.randint(-9, 9), max(0, time + r.choice([0, 3, 9, -4, -20, -45, -60])))
            if any(a[0] == ident for a in added):
                continue
            if ident in known:
                removed.append(known[ident])
            known[ident] = row
            added.append(row)
        if added:
            events(wb, *added)
        model.refresh(added, removed)
        found = refreshed(wb, "t", text)
        late += found.late
        assert found.action == ("built" if not time else "incremental" if added else "unchanged"), found.reason
        assert result(wb) == model.result()
        assert late == model.late
    assert late > 1
    listed = wb.run("SHOW TABLES LIKE '%state%'").arrow
    assert listed is not None
    names = listed.column("tableName").to_pylist()
    groups = [wb.table(n).to_arrow().num_rows for n in names if n.endswith("_groups")]
    assert groups == [model.open_groups()]


def test_rows_of_windows_without_a_group_by_are_not_dropped(wb: paimon_nb.Workbench) -> None:
    wb.run(EVENTS.format(key="", options="'bucket' = '-1'"))
    text = f"SELECT id, window_start AS a FROM {WINDOWS['tumble'][1]}"
    create_target(wb, "t", incremental.analyse(wb.session, text))
    events(wb, (1, "a", 1, 100))
    refreshed(wb, "t", text)
    events(wb, (2, "a", 1, 0))
    assert refreshed(wb, "t", text).added == 1


def test_explain_names_the_watermark(wb: paimon_nb.Workbench) -> None:
    wb.run(EVENTS.format(key="", options="'bucket' = '-1'"))
    text = incremental.analyse(wb.session, query("tumble")).explain()
    assert "until the watermark of default.e closes its window" in text


def test_a_watermark_that_is_declared_later_builds_the_table_again(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE e (id INT, g STRING, x INT, ts TIMESTAMP(3)) WITH ('bucket' = '-1')")
    text = query("tumble")
    create_target(wb, "t", incremental.analyse(wb.session, text))
    events(wb, (1, "a", 1, 100))
    refreshed(wb, "t", text)
    wb.run("ALTER TABLE e ADD WATERMARK FOR ts AS ts - INTERVAL '5' MINUTE")
    events(wb, (2, "a", 1, 0))
    assert refreshed(wb, "t", text).action == "built"
    events(wb, (3, "a", 1, 0))
    assert refreshed(wb, "t", text).late == 1
