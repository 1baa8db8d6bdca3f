"""Queries in Flink's words: real Flink 1.20 with Paimon 1.3.1 was asked them, `flink_queries.json` holds its answers.

`python tests/session/flink_queries.py sql > q.sql`, run it in Flink's batch mode on an empty warehouse (each `-- @q NAME` saves
the rows of the query below it as NAME.jsonl); then `python tests/session/flink_queries.py json DIRECTORY`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

PREPARE = """
CREATE TABLE f (id INT, v STRING, ts TIMESTAMP(3), d DATE, n DECIMAL(10, 2), js STRING);
INSERT INTO f VALUES
  (1, 'a-b-c', TIMESTAMP '2024-01-31 10:15:30.123', DATE '2024-01-31', 12.34, '{"a":{"b":[1,2]},"c":"x"}'),
  (2, 'b', TIMESTAMP '2024-02-01 00:00:00', CAST(NULL AS DATE), CAST(NULL AS DECIMAL(10, 2)), CAST(NULL AS STRING));
CREATE TABLE w (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts);
INSERT INTO w SELECT id, ts FROM f;
CREATE TABLE c (id INT, arr ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT, y STRING>);
INSERT INTO c VALUES (1, ARRAY[5, 6], MAP['k', 1, 'l', 2], ROW(7, 'z'));
INSERT INTO c VALUES (2, CAST(NULL AS ARRAY<INT>), MAP['k', CAST(NULL AS INT)], CAST(ROW(8, 'y') AS ROW<x INT, y STRING>));
CREATE TABLE p (a INT, dt STRING) PARTITIONED BY (dt);
INSERT INTO p VALUES (1, '1'), (2, '2'), (3, '3');
INSERT INTO p VALUES (4, '3');
CREATE TABLE k (id INT, s INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1');
INSERT INTO k VALUES (1, 10, 'a'), (2, 20, 'b');
INSERT INTO k VALUES (2, 21, 'bb'), (3, 30, 'c');
"""
QUERIES = {
    "rounding": "SELECT id, FLOOR(ts TO DAY), CEIL(ts TO HOUR), FLOOR(ts TO MONTH), CEIL(ts TO DAY), FLOOR(n), CEIL(n), TRUNCATE(n, 1), TRUNCATE(12.99), ROUND(n, 1), MOD(id, 2) FROM f",
    "json": "SELECT id, JSON_VALUE(js, '$.c'), JSON_VALUE(js, 'lax $.c'), JSON_VALUE(js, '$.a.b[0]' RETURNING INT), JSON_QUERY(js, '$.a'), JSON_EXISTS(js, '$.a'), JSON_EXISTS(js, '$.q') FROM f",
    "text": "SELECT id, SPLIT_INDEX(v, '-', 1), SPLIT_INDEX(JSON_VALUE(js, '$.c'), '-', 0), CHARACTER_LENGTH(v), TO_BASE64(v), FROM_BASE64('YWJj'), SHA256(v), SHA224(v), MD5(v), REGEXP_EXTRACT(v, '(b)(.*)', 1), REGEXP_EXTRACT(v, '(b)(.*)'), POSITION('b' IN v), OVERLAY(v PLACING 'zz' FROM 1 FOR 1), v || '!' FROM f",
    "casts": "SELECT id, CAST(id AS VARCHAR), CAST('1' AS INTEGER), CAST(n AS DOUBLE), TRY_CAST('x' AS INT), CAST(n AS INT), CAST(ts AS DATE), CAST(id AS BOOLEAN), CAST(v AS VARCHAR(1)) FROM f",
    "times": "SELECT id, TIMESTAMPADD(DAY, 1, ts), TIMESTAMPDIFF(HOUR, ts, TIMESTAMP '2024-02-02 00:00:00'), EXTRACT(YEAR FROM ts), QUARTER(d), DAYOFWEEK(ts), CONVERT_TZ('1970-01-01 00:00:00', 'UTC', 'America/Los_Angeles'), TO_TIMESTAMP_LTZ(1000, 3), TO_TIMESTAMP_LTZ(1, 0), DATE_FORMAT(ts, 'yyyyMMdd HH'), ts + INTERVAL '1' DAY, LOCALTIMESTAMP > TIMESTAMP '2020-01-01 00:00:00' FROM f",
    "fetch": "SELECT id FROM f ORDER BY id FETCH FIRST 1 ROWS ONLY",
    "offset": "SELECT id FROM f ORDER BY id OFFSET 1 ROW FETCH NEXT 1 ROW ONLY",
    "cumulate": "SELECT window_start, window_end, COUNT(*) FROM TABLE(CUMULATE(TABLE w, DESCRIPTOR(ts), INTERVAL '6' HOUR, INTERVAL '1' DAY)) GROUP BY window_start, window_end",
    "tumble": "SELECT id, window_start, window_end, window_time FROM TABLE(TUMBLE(TABLE w, DESCRIPTOR(ts), INTERVAL '6' HOUR))",
    "group_tumble": "SELECT TUMBLE_START(ts, INTERVAL '1' DAY), TUMBLE_END(ts, INTERVAL '1' DAY), TUMBLE_ROWTIME(ts, INTERVAL '1' DAY), COUNT(*) FROM w GROUP BY TUMBLE(ts, INTERVAL '1' DAY)",
    "group_hop": "SELECT HOP_START(ts, INTERVAL '12' HOUR, INTERVAL '1' DAY), HOP_END(ts, INTERVAL '12' HOUR, INTERVAL '1' DAY), COUNT(*) FROM w GROUP BY HOP(ts, INTERVAL '12' HOUR, INTERVAL '1' DAY)",
    "aggregates": "SELECT LISTAGG(v), COUNT(DISTINCT v), SUM(id) FILTER (WHERE id > 1), MAX(v) FROM f",
    "averages": "SELECT AVG(id), AVG(id) FILTER (WHERE id > 1), AVG(n), AVG(CAST(id AS DOUBLE)), (SELECT AVG(s) FROM k) FROM f",
    "windowed": "SELECT id, AVG(s) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM k",
    "logic": "SELECT id, (id = 1) IS TRUE, (n > 1) IS UNKNOWN, v LIKE 'a%', NOT id = 1, v IS DISTINCT FROM 'b', 7 / 2, id / 2 FROM f",
    "elements": "SELECT id, arr[1], arr[3], m['k'], m['nope'], c.r.x, CARDINALITY(arr), ARRAY[4, 5][2] FROM c",
    "unnest": "SELECT id, e FROM c CROSS JOIN UNNEST(arr) AS u(e)",
    "unnest_left": "SELECT id, e FROM c LEFT JOIN UNNEST(arr) AS u(e) ON TRUE",
    "unnest_map": "SELECT id, k, e FROM c CROSS JOIN UNNEST(m) AS u(k, e)",
    "partitions": "SELECT * FROM p /*+ OPTIONS('scan.partitions' = 'dt=1;dt=2') */",
    "partitions_then": "SELECT * FROM p /*+ OPTIONS('scan.partitions' = 'dt=3', 'scan.snapshot-id' = '1') */",
    "hints": "SELECT a.id, a.v, b.v FROM k /*+ OPTIONS('scan.snapshot-id' = '1') */ AS a LEFT JOIN k AS b ON a.id = b.id",
    "hint_in_with": "WITH x AS (SELECT * FROM k /*+ OPTIONS('scan.snapshot-id' = '1') */) SELECT COUNT(*), (SELECT COUNT(*) FROM k) FROM x",
    "as_of": "SELECT * FROM k FOR SYSTEM_TIME AS OF TIMESTAMP '2999-01-01 00:00:00'",
    "incremental": "SELECT * FROM k /*+ OPTIONS('incremental-between' = '1,2') */",
    "audit_log": "SELECT * FROM `k$audit_log`",
    "snapshots": "SELECT snapshot_id, commit_kind FROM `k$snapshots` ORDER BY snapshot_id DESC LIMIT 1",
    "top": "SELECT id, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY s / 10 ORDER BY id DESC) AS rn FROM k) WHERE rn = 1",
    "sets": "SELECT v, COUNT(*) FROM k GROUP BY GROUPING SETS ((v), ())",
    "in_and_exists": "SELECT id FROM k WHERE id IN (SELECT a FROM p) AND EXISTS (SELECT 1 FROM f WHERE f.id = k.id)",
    "values": "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS x(n, s)",
}  # fmt: skip
ANSWERS = Path(__file__).with_name("flink_queries.json")

if __name__ == "__main__":
    if sys.argv[1] == "sql":
        print(f"CREATE CATALOG pm WITH ('type' = 'paimon', 'warehouse' = '{sys.argv[2]}');\nUSE CATALOG pm;{PREPARE}")
        print("".join(f"-- @q {name}\n{query};\n" for name, query in QUERIES.items()))
    else:
        found = {
            name: sorted(([*json.loads(r).values()] for r in (Path(sys.argv[2]) / f"{name}.jsonl").read_text().splitlines()), key=repr)
            for name in QUERIES
        }  # fmt: skip
        ANSWERS.write_text("{\n" + ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()) + "\n}\n")
