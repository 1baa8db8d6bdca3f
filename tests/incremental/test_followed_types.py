"""Types of columns that are followed: instants and lists; what depends on the session's time zone."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from incremental_kit import change, create_target, difference_from_batch, refreshed
from sampling import sampled

from paimon_nb import incremental

if TYPE_CHECKING:
    import paimon_nb

pytest.importorskip("duckdb")

TABLE = """CREATE TABLE e (id INT, g STRING, ts TIMESTAMP(3), at TIMESTAMP_LTZ(3), tags ARRAY<STRING>, PRIMARY KEY (id) NOT ENFORCED)
    WITH ('bucket' = '1')"""


def add(wb: paimon_nb.Workbench, *rows: tuple[int, str, dt.datetime | None, list[str | None] | None]) -> None:
    ids, groups, times, tags = zip(*rows, strict=True)
    wb.table("e").append(
        pa.table(
            {
                "id": pa.array(ids, pa.int32()),
                "g": pa.array(groups),
                "ts": pa.array(times, pa.timestamp("ms")),
                "at": pa.array(times, pa.timestamp("ms", "UTC")),
                "tags": pa.array(tags, pa.list_(pa.string())),
            }
        )
    )


@pytest.mark.parametrize(
    "text",
    sampled(
        [
            "SELECT g, count(*) AS n FROM e WHERE ts > TIMESTAMP '2024-01-01 00:01:00' GROUP BY g",
            "SELECT g, min(at) AS a, max(at) AS z, count(DISTINCT at) AS n FROM e GROUP BY g",
            "SELECT DISTINCT at, CAST(at AS DATE) AS d FROM e",
            "SELECT a.id, b.at FROM e AS a LEFT JOIN e AS b ON a.at = b.at",
            "SELECT id, tags FROM e WHERE g = 'a'",
            "SELECT date_trunc('HOUR', ts) AS h, count(*) AS n FROM e GROUP BY date_trunc('HOUR', ts)",
        ],
        3,
    ),
)
def test_instants_and_lists_are_followed(wb: paimon_nb.Workbench, text: str) -> None:
    wb.run(TABLE)
    early, late = dt.datetime(2024, 1, 1), dt.datetime(2024, 6, 1, 12, 30)
    add(wb, (1, "a", early, ["x", "y"]), (2, "a", None, []), (3, "b", late, None))
    create_target(wb, "t", incremental.analyse(wb.session, text))
    assert refreshed(wb, "t", text).action == "built"
    add(wb, (1, "a", late, ["x, y"]), (4, "b", early, [""]), (2, "a", early, [None]))
    wb.table("e").delete(where="id = 3")
    assert refreshed(wb, "t", text).action == "incremental"
    assert difference_from_batch(wb, "t", text) == ""


def test_another_time_zone_is_followed_by_a_rebuild(wb: paimon_nb.Workbench) -> None:
    text = "SELECT id, CAST(at AS DATE) AS d FROM e"
    wb.run(TABLE)
    wb.session.set_spark("spark.sql.session.timeZone", "UTC")
    add(wb, (1, "a", dt.datetime(2024, 1, 1, 20), None))
    create_target(wb, "t", incremental.analyse(wb.session, text))
    refreshed(wb, "t", text)
    wb.session.set_spark("spark.sql.session.timeZone", "Asia/Tokyo")
    assert refreshed(wb, "t", text).action == "built"
    assert wb.table("t").to_arrow().to_pylist() == [{"id": 1, "d": dt.date(2024, 1, 2)}]


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ("id, ts < CURRENT_TIMESTAMP AS b", "CURRENT_TIMESTAMP is another time"),
        ("named_struct('a', id) AS s", "a column of ROW"),
    ],
)
def test_what_cannot_be_followed_says_why(wb: paimon_nb.Workbench, item: str, reason: str) -> None:
    wb.run(TABLE)
    assert incremental.analyse(wb.session, f"SELECT {item} FROM e").explain().startswith(f"recomputed: {reason}")


def test_lists_with_the_same_text_are_different_rows(wb: paimon_nb.Workbench) -> None:
    change(wb, "CREATE TABLE l (id INT, tags ARRAY<STRING>)")
    tags = [["a", "b"], ["a, b"], ["a|b"], [None], ["\\N"], [""], [], None]
    wb.table("l").append(pa.table({"id": pa.array([1] * 8, pa.int32()), "tags": pa.array(tags, pa.list_(pa.string()))}))
    text = "SELECT tags FROM l"
    create_target(wb, "t", incremental.analyse(wb.session, text))
    refreshed(wb, "t", text)
    assert sorted(wb.table("t").to_arrow().column("tags").to_pylist(), key=repr) == sorted(tags, key=repr)
