"""Displayed SELECTs over arrays, maps, rows, times with a zone, CHAR, patterns and JSON: their answers, without Spark."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import BadOptionValue

FLINK = "SET 'execution.runtime-mode' = 'batch'"
_ROW = pa.struct([("x", pa.int32()), ("y", pa.string())])


@pytest.fixture
def wb(tmp_path) -> paimon_nb.Workbench:
    """Three rows: with elements, with none, and NULLs."""
    wb = paimon_nb.connect(tmp_path / "w")
    wb.run("SET 'paimon-nb.engine' = 'local'; SET 'spark.sql.session.timeZone' = 'Europe/Berlin'")
    wb.run("""
        CREATE TABLE t (id INT, a ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT, y STRING>, rows_ ARRAY<ROW<x INT, y STRING>>, c CHAR(4),
            z TIMESTAMP_LTZ(3), ts TIMESTAMP(3), s STRING, j STRING)
    """)
    noon = dt.datetime(2024, 7, 1, 12, tzinfo=dt.UTC)
    wb.table("t").append(
        pa.table(
            {
                "id": pa.array([1, 2, 3], pa.int32()), "a": pa.array([[3, None, 1], [], None], pa.list_(pa.int32())),
                "m": pa.array([[("k", 1), ("j", None)], [], None], pa.map_(pa.string(), pa.int32())),
                "r": pa.array([{"x": 1, "y": "q"}, {"x": None, "y": None}, None], _ROW),
                "rows_": pa.array([[{"x": 1, "y": "p"}, {"x": 2, "y": None}], [], None], pa.list_(_ROW)), "c": ["ab", "abcd", None],
                "z": pa.array([noon, noon + dt.timedelta(hours=12), None], pa.timestamp("ms", "UTC")),
                "ts": pa.array([noon.replace(tzinfo=None), dt.datetime(2024, 3, 31, 2, 30), None], pa.timestamp("ms")),
                "s": ["a-b,c", "x.y", None], "j": ['{"a": {"b": [1, "x"]}, "n": null}', "", None],
            }
        )
    )  # fmt: skip
    return wb


def rows(wb: paimon_nb.Workbench, text: str, **values: object) -> list[tuple]:
    found = wb.run(text, **values).arrow
    assert found is not None
    assert not wb.session.spark_started
    return list(zip(*(c.to_pylist() for c in found.columns), strict=True))


SPARK_ANSWERS = {
    "SELECT a[0] AS e, m['k'] AS k, m['none'] AS n, r.x, t.r.y, rows_[1].x AS x2 FROM t WHERE id = 1": [(3, 1, None, 1, "q", 2)],
    "SELECT id, size(a), cardinality(m), array_contains(a, 3), array_contains(a, 4) FROM t ORDER BY id": [
        (1, 3, 2, True, None), (2, 0, 0, False, False), (3, None, None, None, None)],
    "SELECT transform(a, e -> e + id) AS p, filter(a, e -> e > 1) AS f, exists(a, e -> e = 3) AS x, forall(a, e -> e > 0) AS y FROM t ORDER BY id": [
        ([4, None, 2], [3], True, None), ([], [], False, True), (None, None, None, None)],
    "SELECT aggregate(a, 0, (s1, e) -> s1 + coalesce(e, 10)) AS s FROM t ORDER BY id": [(14,), (0,), (None,)],
    "SELECT transform(transform(a, (e, i) -> array(e, i)), p -> p[1]) AS n FROM t WHERE id = 1": [([0, 1, 2],)],
    "SELECT map_filter(m, (k, v) -> v = 1) AS f, map_keys(m) AS k, transform_values(m, (k, v) -> concat(k, v)) AS t FROM t WHERE id = 1": [
        ([("k", 1)], ["k", "j"], [("k", "k1"), ("j", None)])],
    "SELECT sort_array(a) AS s, array_distinct(array(2, 1, 2, id)) AS d, slice(a, 2, 9) AS p, sequence(id, 3) AS q FROM t WHERE id = 1": [
        ([None, 1, 3], [2, 1], [None, 1], [1, 2, 3])],
    "SELECT id, e FROM t LATERAL VIEW explode(a) v AS e": [(1, 3), (1, None), (1, 1)],
    "SELECT id, e FROM t LATERAL VIEW OUTER explode(a) v AS e WHERE id > 1": [(2, None), (3, None)],
    "SELECT id, pos, col FROM t LATERAL VIEW posexplode(a) v": [(1, 0, 3), (1, 1, None), (1, 2, 1)],
    "SELECT id, v.x, v.y FROM t LATERAL VIEW inline(rows_) v": [(1, 1, "p"), (1, 2, None)],
    "SELECT explode(m), id FROM t": [("k", 1, 1), ("j", None, 1)],
    "SELECT e, count(*) AS n FROM t, LATERAL explode(a) AS v(e) GROUP BY e ORDER BY e DESC": [(3, 1), (1, 1), (None, 1)],
    "SELECT c, count(*) AS n FROM t WHERE c IN ('ab', 'abcd') OR c = 'zz' GROUP BY c": [("ab  ", 1), ("abcd", 1)],
    "SELECT q.c = 'ab' AS same FROM (SELECT c FROM t WHERE id = 1) q": [(True,)],
    "SELECT hour(z) AS h, CAST(z AS DATE) AS d, CAST(z AS STRING) AS s, date_format(z, 'EEE HH:mm') AS f FROM t WHERE id = 2": [
        (2, dt.date(2024, 7, 2), "2024-07-02 02:00:00", "Tue 02:00")],
    "SELECT id FROM t WHERE z >= TIMESTAMP '2024-07-01 15:00:00'": [(2,)],
    "SELECT date_trunc('DAY', z) AS d FROM t WHERE id = 1": [(dt.datetime(2024, 6, 30, 22, tzinfo=dt.UTC),)],
    "SELECT date_format(ts, 'yyyy-MM-dd') AS d, count(*) AS n FROM t WHERE ts IS NOT NULL GROUP BY 1": [("2024-03-31", 1), ("2024-07-01", 1)],
    "SELECT regexp_replace(s, '([a-z])-', '$1+') AS r, regexp_extract(s, ',(.)', 1) AS e, split(s, '[-,.]') AS p, s RLIKE '^x\\\\.y$' AS l FROM t": [
        ("a+b,c", "c", ["a", "b", "c"], False), ("x.y", "", ["x", "y"], True), (None, None, None, None)],
    "SELECT get_json_object(j, '$.a.b[1]') AS b, get_json_object(j, '$.n') AS n FROM t": [("x", None), (None, None), (None, None)],
    "SELECT median(id), count_if(id > 1), collect_list(s), bool_or(id > 2), stddev(id) FROM t": [(2.0, 2, ["a-b,c", "x.y"], True, 1.0)],
    "SELECT concat(id, '/', s) FROM t WHERE id = 1": [("1/a-b,c",)],
    "SELECT id FROM t WHERE s LIKE '_.%' OR s ILIKE 'A%'": [(1,), (2,)],
    "SELECT * FROM paimon_incremental_query('t', 0, 1) WHERE id = 3": [(3, *[None] * 9)],
}  # fmt: skip
FLINK_ANSWERS = {
    "SELECT a[1] AS e, a[9] AS n, m['k'] AS k, ARRAY[id, 2] AS p, MAP['x', id] AS q FROM t WHERE id = 1": [(3, None, 1, [1, 2], [("x", 1)])],
    "SELECT id, e FROM t CROSS JOIN UNNEST(a) AS v (e)": [(1, 3), (1, None), (1, 1)],
    "SELECT id, e FROM t LEFT JOIN UNNEST(a) AS v (e) ON TRUE WHERE id <> 1": [(2, None), (3, None)],
    "SELECT id, k, v FROM t, UNNEST(m) AS u (k, v)": [(1, "k", 1), (1, "j", None)],
    "SELECT id, x, y FROM t CROSS JOIN UNNEST(rows_) AS u (x, y) WHERE x > 1": [(1, 2, None)],
    "SELECT id FROM t WHERE ts >= TIMESTAMP '2024-07-01 12:00:00'": [(1,)],
    "SELECT JSON_VALUE(j, '$.a.b[0]') AS v, JSON_VALUE(j, '$.a') AS o, DATE_FORMAT(ts, 'uuuu-MM') AS m FROM t WHERE id = 1": [("1", None, "2024-07")],
}  # fmt: skip


def test_sparks_dialect(wb):
    assert {text: rows(wb, text) for text in SPARK_ANSWERS} == SPARK_ANSWERS


def test_flinks_dialect(wb):
    wb.run(FLINK)
    assert {text: rows(wb, text) for text in FLINK_ANSWERS} == FLINK_ANSWERS


def test_a_time_as_a_parameter_is_an_instant(wb):
    since = dt.datetime(2024, 7, 1, 14, 30, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    assert rows(wb, "SELECT id FROM t WHERE z > :since OR ts > :since", since=since) == [(2,)]


LEFT = {
    "SELECT a[7] AS e FROM t": "the engine stopped",  # an error of Spark
    "SELECT date_format(ts, 'HH') AS h FROM t": "the engine stopped",  # 2:30 of 31 March does not exist in Berlin
    "SELECT regexp_replace(s, '(?i)a', '') AS r FROM t": "engines may read differently",
    "SELECT regexp_replace(s, 'a*', '') AS r FROM t": "REGEXP_REPLACE",
    "SELECT get_json_object(j, '$.a') AS r FROM t": "the engine stopped",  # Spark writes the object anew
    "SELECT id FROM t WHERE c = s": "CHAR(4) beside",
    "SELECT transform(a, e -> NULL) AS n FROM t": "is NULL",
    "SELECT explode(a), explode(a) FROM t": "several functions that make rows",
    "SELECT aggregate(a, 0, (s1, e) -> s1 + 1.5) AS n FROM t": "changes its type",
}


@pytest.mark.parametrize("text", LEFT)
def test_what_is_left_to_spark(wb, text):
    with pytest.raises(BadOptionValue) as refused:
        wb.run(text)
    assert LEFT[text] in str(refused.value)
