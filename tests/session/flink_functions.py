"""Flink's built-in functions, one expression each: real Flink 1.20 was asked them, `flink_functions.json` holds its answers.

`python tests/session/flink_functions.py sql WAREHOUSE > f.sql`, run it in Flink's batch mode on an empty warehouse (each
`-- @q NAME` saves the rows of the query below it as NAME.jsonl); then `python tests/session/flink_functions.py json DIRECTORY`.
What Flink refused has no answer there, and is not asked here.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

PREPARE = """
CREATE TABLE f (id INT, i INT, g BIGINT, x DOUBLE, n DECIMAL(10, 2), b BOOLEAN, s STRING, u STRING, ts TIMESTAMP(3), tl TIMESTAMP_LTZ(3),
  d DATE, js STRING, a ARRAY<INT>, a2 ARRAY<INT>, sa ARRAY<STRING>, m MAP<STRING, INT>, m2 MAP<STRING, INT>, r ROW<p INT, q STRING>,
  ra ARRAY<ROW<p INT, q STRING>>, y BYTES);
INSERT INTO f VALUES
  (1, 7, 10000000000, 2.5, 12.34, TRUE, 'Hello World', 'a,b,c', TIMESTAMP '2024-01-31 10:15:30.123', TO_TIMESTAMP_LTZ(1706696130123, 3),
   DATE '2024-01-31', '{"a":{"b":[1,2]},"c":"x","n":5}', ARRAY[3, 1, 2, 1], ARRAY[1, 9], ARRAY['z', 'y'], MAP['k', 1], MAP['k', 5, 'l', 2],
   ROW(1, 'one'), ARRAY[ROW(1, 'one'), ROW(2, 'two')], CAST('abc' AS BYTES)),
  (2, -3, -5, -0.75, -2.50, FALSE, '  a_b%c  ', 'x=1&y=2', TIMESTAMP '2023-12-31 23:59:59.999', TO_TIMESTAMP_LTZ(0, 3),
   DATE '2023-12-31', '[1, 2]', ARRAY[5], ARRAY[5, 6], ARRAY['q'], MAP['z', 26], MAP['y', 25],
   ROW(2, 'two'), ARRAY[ROW(3, 'three')], CAST('' AS BYTES));
INSERT INTO f VALUES
  (3, CAST(NULL AS INT), CAST(NULL AS BIGINT), CAST(NULL AS DOUBLE), CAST(NULL AS DECIMAL(10, 2)), CAST(NULL AS BOOLEAN), CAST(NULL AS STRING),
   CAST(NULL AS STRING), CAST(NULL AS TIMESTAMP(3)), CAST(NULL AS TIMESTAMP_LTZ(3)), CAST(NULL AS DATE), CAST(NULL AS STRING),
   CAST(NULL AS ARRAY<INT>), CAST(NULL AS ARRAY<INT>), CAST(NULL AS ARRAY<STRING>), CAST(NULL AS MAP<STRING, INT>),
   CAST(NULL AS MAP<STRING, INT>), CAST(NULL AS ROW<p INT, q STRING>), CAST(NULL AS ARRAY<ROW<p INT, q STRING>>), CAST(NULL AS BYTES));
"""

ROWS = [
    # comparison and logic
    "i = 7", "i <> 7", "i > 0", "i >= 7", "i < 0", "i <= -3", "i IS NULL", "i IS NOT NULL", "i IS DISTINCT FROM 7", "i IS NOT DISTINCT FROM 7",
    "i BETWEEN 1 AND 9", "i BETWEEN 9 AND 1", "i BETWEEN SYMMETRIC 9 AND 1", "i NOT BETWEEN SYMMETRIC 9 AND 1", "i BETWEEN ASYMMETRIC 1 AND 9",
    "i NOT BETWEEN 1 AND 9", "s LIKE '%World'", "s LIKE '%a!_b%' ESCAPE '!'", "s NOT LIKE 'H%'", "s SIMILAR TO '(Hello|Bye)%'",
    "s SIMILAR TO '_ello W[a-z]+'", "s NOT SIMILAR TO 'H%'", "s SIMILAR TO 'ello'", "s SIMILAR TO '%a!_b%' ESCAPE '!'", "u SIMILAR TO '[a-c](,[a-c]){2}'",
    "i IN (1, 7)", "i NOT IN (1, 7)", "b OR i > 0", "b AND i > 0", "NOT b", "b IS TRUE", "b IS NOT TRUE", "b IS FALSE", "b IS NOT FALSE",
    "b IS UNKNOWN", "b IS NOT UNKNOWN", "(i, id) = (7, 1)",
    # arithmetic
    "+i", "-i", "i + 1", "i - 1", "i * 2", "i / 2", "i % 2", "x / 2", "n / 3", "n * n", "g / i", "MOD(i, 2)", "POWER(i, 2)", "ABS(i)", "ABS(n)",
    "SQRT(ABS(x))", "LN(ABS(x))", "LOG10(ABS(x))", "LOG2(ABS(x))", "LOG(ABS(x))", "LOG(2, ABS(x))", "EXP(i)", "CEIL(x)", "CEILING(x)", "FLOOR(x)", "FLOOR(i)",
    "SIN(x)", "SINH(x)", "COS(x)", "TAN(x)", "TANH(x)", "COT(x)", "ASIN(x / 10)", "ACOS(x / 10)", "ATAN(x)", "ATAN2(x, 2)", "COSH(x)", "DEGREES(x)",
    "RADIANS(x)", "SIGN(x)", "SIGN(i)", "CAST(SIGN(i) AS STRING)", "CAST(SIGN(g) AS STRING)", "CAST(SIGN(n) AS STRING)", "CAST(SIGN(x) AS STRING)", "ROUND(x, 1)", "ROUND(n, 1)", "ROUND(x)", "ROUND(i, -1)", "PI()", "E()", "RAND() < 1", "RAND_INTEGER(5) < 5",
    "CHAR_LENGTH(UUID())", "BIN(i)", "BIN(4)", "HEX(i)", "HEX(s)", "TRUNCATE(x, 1)", "TRUNCATE(n, 1)", "TRUNCATE(x)", "GREATEST(i, id)", "LEAST(i, id)",
    "GREATEST(id, 2)", "LEAST(id, 2)",
    # text
    "s || '!'", "CHAR_LENGTH(s)", "CHARACTER_LENGTH(s)", "UPPER(s)", "LOWER(s)", "POSITION('l' IN s)", "TRIM(s)", "TRIM(LEADING ' ' FROM s)", "TRIM(BOTH 'H' FROM s)",
    "TRIM(TRAILING 'd' FROM s)", "LTRIM(s)", "RTRIM(s)", "REPEAT(u, 2)", "REGEXP_REPLACE(s, 'l+', 'L')", "REGEXP(s, 'W.r')", "OVERLAY(s PLACING 'zz' FROM 2)",
    "OVERLAY(s PLACING 'zz' FROM 2 FOR 3)", "SUBSTRING(s FROM 2)", "SUBSTRING(s FROM 2 FOR 3)", "SUBSTRING(s, 3)", "SUBSTRING(s, -3)", "SUBSTR(s, 2, 3)", "SUBSTRING(s, 0, 2)",
    "REPLACE(s, 'l', 'LL')", "REGEXP_EXTRACT(s, '(W)(o)', 2)", "REGEXP_EXTRACT(s, 'zzz', 0)", "REGEXP_EXTRACT(s, '(\\w+)', 1)", "REGEXP_REPLACE(s, '\\s', '_')", "INITCAP(s)", "INITCAP('hELLO wORLD')",
    "CONCAT(s, u)", "CONCAT('a', 'b', s)", "CONCAT_WS('-', s, u)", "CONCAT_WS('-', 'a', CAST(NULL AS STRING), 'b')", "LPAD(s, 15, '*')", "LPAD(s, 3, '*')", "RPAD(s, 15, '*')",
    "RPAD(u, 8, '')", "FROM_BASE64('aGVsbG8=')", "TO_BASE64(s)", "ASCII(s)", "ASCII('')", "CHR(97)", "DECODE(y, 'UTF-8')", "DECODE(ENCODE(s, 'UTF-16'), 'UTF-16')", "INSTR(s, 'o')", "LEFT(s, 3)", "LEFT(s, -1)", "RIGHT(s, 3)",
    "LOCATE('o', s)", "LOCATE('o', s, 6)", "REVERSE(s)", "SPLIT_INDEX(u, ',', 1)", "SPLIT_INDEX(u, ',', 9)", "SPLIT_INDEX(u, ',', -1)", "STR_TO_MAP(u)", "STR_TO_MAP(u, '&', '=')",
    "PARSE_URL('http://h.com/p?q=1&r=2#f', 'HOST')", "PARSE_URL('http://h.com/p?q=1&r=2#f', 'QUERY', 'r')",
    "IS_ALPHA(s)", "IS_ALPHA('abc')", "IS_DECIMAL('1.5')", "IS_DIGIT('15')", "IS_DIGIT(u)", "MD5(s)", "SHA1(s)", "SHA256(s)", "SHA384(s)", "SHA512(s)",
    "SHA2(s, 256)", "SHA224(s)", "SPLIT(u, ',')",
    # times
    "DATE '2024-02-03'", "TIME '10:11:12'", "TIMESTAMP '2024-02-03 10:11:12.5'", "ts + INTERVAL '1' DAY", "ts - INTERVAL '2' MONTH", "ts + INTERVAL '10 00:00:00.004' DAY TO SECOND(3)",
    "d + INTERVAL '1' MONTH", "d + INTERVAL '1' YEAR", "INTERVAL '1' HOUR + ts", "ts + INTERVAL '1-2' YEAR TO MONTH", "d - INTERVAL '3' DAY", "LOCALTIMESTAMP > ts", "CURRENT_DATE > d", "CURRENT_TIMESTAMP > tl", "NOW() > tl",
    "CURRENT_ROW_TIMESTAMP() > tl", "LOCALTIME IS NULL", "CURRENT_TIME IS NULL", "PROCTIME() > tl",
    "EXTRACT(YEAR FROM ts)", "EXTRACT(MONTH FROM d)", "EXTRACT(DAY FROM d)", "EXTRACT(HOUR FROM ts)", "EXTRACT(MINUTE FROM ts)", "EXTRACT(SECOND FROM ts)", "EXTRACT(DOW FROM d)", "EXTRACT(DOY FROM d)",
    "EXTRACT(WEEK FROM d)", "EXTRACT(QUARTER FROM d)", "EXTRACT(EPOCH FROM ts)", "EXTRACT(MILLISECOND FROM ts)", "EXTRACT(ISODOW FROM d)", "EXTRACT(CENTURY FROM d)", "EXTRACT(DECADE FROM d)",
    "YEAR(d)", "QUARTER(ts)", "MONTH(d)", "WEEK(d)", "DAYOFYEAR(d)", "DAYOFMONTH(ts)", "DAYOFWEEK(d)", "HOUR(ts)", "MINUTE(ts)", "SECOND(ts)",
    "FLOOR(ts TO DAY)", "FLOOR(ts TO MONTH)", "FLOOR(ts TO YEAR)", "FLOOR(ts TO QUARTER)", "FLOOR(ts TO WEEK)", "FLOOR(ts TO HOUR)", "FLOOR(ts TO MINUTE)", "FLOOR(ts TO SECOND)", "FLOOR(d TO MONTH)", "FLOOR(d TO YEAR)",
    "FLOOR(d TO WEEK)", "FLOOR(d TO QUARTER)", "FLOOR(tl TO DAY)", "FLOOR(tl TO HOUR)", "CEIL(ts TO DAY)", "CEIL(ts TO MONTH)", "CEIL(ts TO YEAR)", "CEIL(ts TO QUARTER)", "CEIL(ts TO WEEK)", "CEIL(ts TO SECOND)", "CEIL(d TO MONTH)", "CEIL(d TO YEAR)", "CEIL(tl TO DAY)",
    "CEIL(DATE '2024-02-01' TO MONTH)", "CEIL(TIMESTAMP '2024-02-01 10:00:00' TO MONTH)", "CEIL(TIMESTAMP '2024-01-01 10:00:00' TO YEAR)", "FLOOR(TO_TIMESTAMP('2024-02-03 10:11:12') TO HOUR)", "ts + INTERVAL '5' DAY(2)", "CEIL(FLOOR(ts TO DAY) TO DAY)",
    "(DATE '2024-01-01', INTERVAL '1' MONTH) OVERLAPS (d, INTERVAL '1' DAY)", "(ts, TIMESTAMP '2024-03-01 00:00:00') OVERLAPS (TIMESTAMP '2024-02-01 00:00:00', INTERVAL '1' HOUR)",
    "DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss')", "DATE_FORMAT(ts, 'yyyyMMdd')", "DATE_FORMAT('2024-01-31 10:15:30', 'yyyy/MM')", "DATE_FORMAT(tl, 'HH:mm')", "DATE_FORMAT(ts, 'EEE, MMM d yy')", "DATE_FORMAT(ts, 'HH:mm:ss.SSS')",
    "TIMESTAMPADD(MONTH, 1, ts)", "TIMESTAMPADD(DAY, -3, d)", "TIMESTAMPADD(WEEK, 1, d)", "TIMESTAMPADD(HOUR, 1, ts)", "TIMESTAMPADD(SECOND, 5, ts)",
    "TIMESTAMPDIFF(DAY, ts, TIMESTAMP '2024-03-01 00:00:00')", "TIMESTAMPDIFF(MONTH, ts, TIMESTAMP '2024-03-01 00:00:00')", "TIMESTAMPDIFF(YEAR, d, DATE '2025-01-30')", "TIMESTAMPDIFF(SECOND, ts, TIMESTAMP '2024-03-01 00:00:00')", "TIMESTAMPDIFF(DAY, d, DATE '2024-02-02')", "TIMESTAMPDIFF(WEEK, d, DATE '2024-02-20')",
    "CONVERT_TZ('2024-01-31 10:15:30', 'UTC', 'Asia/Shanghai')", "FROM_UNIXTIME(id * 100000)", "FROM_UNIXTIME(g, 'yyyy-MM-dd')", "FROM_UNIXTIME(44)", "UNIX_TIMESTAMP() > 5", "UNIX_TIMESTAMP('2024-01-31 10:15:30')", "UNIX_TIMESTAMP('2024/01/31', 'yyyy/MM/dd')",
    "UNIX_TIMESTAMP(DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss'))", "TO_DATE('2024-01-31')", "TO_DATE('20240131', 'yyyyMMdd')", "TO_DATE(s)", "TO_TIMESTAMP('2024-01-31 10:15:30')", "TO_TIMESTAMP('2024-01-31 10:15:30.123')", "TO_TIMESTAMP('2024-01-31')", "TO_TIMESTAMP('20240131 1015', 'yyyyMMdd HHmm')", "TO_TIMESTAMP(s)", "TO_TIMESTAMP('2024-01-31 10:15:30.123456')", "TO_TIMESTAMP('2024-01-31 10.15.30.987654', 'yyyy-MM-dd HH.mm.ss.SSSSSS')", "TO_TIMESTAMP('0001-01-01 00:00:00')", "DATE_FORMAT(ts, 'uuuu-MM')",
    "TO_TIMESTAMP_LTZ(1706696130, 0)", "TO_TIMESTAMP_LTZ(g, 3)", "TO_TIMESTAMP(FROM_UNIXTIME(id * 100000))", "CAST(ts AS DATE)", "CAST(d AS TIMESTAMP(3))", "CAST('2024-01-31 10:15:30' AS TIMESTAMP(3))", "CAST('2024-01-31' AS DATE)", "CAST(ts AS STRING)", "CAST(d AS STRING)", "CAST(tl AS STRING)", "CAST(tl AS TIMESTAMP(3))", "CAST(ts AS TIMESTAMP_LTZ(3))",
    "CAST(ts AS TIME(0))", "ts > '2024-01-01'", "d = '2024-01-31'", "CAST(TIME '10:11:12' AS STRING)",
    # condition and type
    "CASE i WHEN 7 THEN 'seven' WHEN -3 THEN 'minus' ELSE 'none' END", "CASE WHEN b THEN 1 WHEN NOT b THEN 2 END", "NULLIF(i, 7)", "COALESCE(i, 0)", "COALESCE(s, u, 'none')", "IF(i > 0, 'p', 'n')", "IFNULL(i, 0)",
    "CAST(i AS STRING)", "CAST(x AS STRING)", "CAST(n AS STRING)", "CAST(b AS STRING)", "CAST(x AS INT)", "CAST(n AS INT)", "CAST(i AS DECIMAL(10, 2))", "CAST('12.345' AS DECIMAL(10, 2))", "CAST(x AS DECIMAL(4, 1))", "CAST(b AS INT)", "CAST(i AS BOOLEAN)", "CAST('true' AS BOOLEAN)", "CAST(' 5 ' AS INT)",
    "TRY_CAST(s AS INT)", "TRY_CAST('5.5' AS DOUBLE)", "TRY_CAST(s AS DATE)", "CAST(s AS CHAR(3))", "CAST(u AS VARCHAR(2))", "CAST(s AS BYTES)", "CAST(a AS STRING)", "CAST(r AS STRING)", "CAST(m AS STRING)", "CAST(a AS ARRAY<STRING>)", "CAST(ROW(id, s) AS ROW<k BIGINT, v STRING>)", "CAST(1e0 AS STRING)", "CAST(10000000000e0 AS STRING)", "CAST(x AS FLOAT)", "CAST(g AS DOUBLE)",
    "TYPEOF(i)", "TYPEOF(ts)", "TYPEOF(n)", "TYPEOF(s)", "TYPEOF(a)", "TYPEOF(ROW(1, 'a'))",
    # collections
    "CARDINALITY(a)", "CARDINALITY(m)", "a[1]", "a[9]", "m['k']", "ELEMENT(ARRAY[4])", "ARRAY_APPEND(a, 4)", "ARRAY_PREPEND(a, 4)", "ARRAY_CONTAINS(a, 1)", "ARRAY_CONTAINS(a, CAST(NULL AS INT))", "ARRAY_DISTINCT(a)", "ARRAY_POSITION(a, 1)", "ARRAY_POSITION(a, 99)", "ARRAY_REMOVE(a, 1)",
    "ARRAY_REVERSE(a)", "ARRAY_SLICE(a, 2, 3)", "ARRAY_SLICE(a, 2)", "ARRAY_SLICE(a, -2)", "ARRAY_SORT(a)", "ARRAY_SORT(a, FALSE)", "ARRAY_UNION(a, a2)", "ARRAY_CONCAT(a, a2)", "ARRAY_EXCEPT(a, a2)", "ARRAY_INTERSECT(a, a2)", "ARRAY_MAX(a)", "ARRAY_MIN(a)", "ARRAY_JOIN(sa, '-')", "ARRAY_JOIN(ARRAY['a', CAST(NULL AS STRING)], '-', 'N')",
    "MAP_KEYS(m)", "MAP_VALUES(m)", "MAP_ENTRIES(m)", "MAP_FROM_ARRAYS(ARRAY['a', 'b'], ARRAY[1, 2])", "MAP_UNION(m, m2)", "ARRAY[i, id]", "MAP['a', i]", "ROW(i, s)", "r.p", "ra[1].q",
    # JSON
    "js IS JSON", "js IS JSON OBJECT", "js IS JSON ARRAY", "js IS JSON SCALAR", "s IS NOT JSON", "JSON_EXISTS(js, '$.a.b[1]')", "JSON_EXISTS(js, 'strict $.zz' FALSE ON ERROR)", "JSON_VALUE(js, '$.c')", "JSON_VALUE(js, '$.n' RETURNING INT)", "JSON_VALUE(js, '$.zz' DEFAULT 'none' ON EMPTY)", "JSON_VALUE(js, '$.zz' NULL ON EMPTY NULL ON ERROR)", "JSON_VALUE(js, '$.a')", "JSON_VALUE(js, '$.zz' DEFAULT 'none' ON ERROR)", "JSON_VALUE(js, 'lax $.zz' DEFAULT 'none' ON EMPTY)", "JSON_VALUE(s, 'lax $.zz' DEFAULT 'none' ON EMPTY DEFAULT 'bad' ON ERROR)", "JSON_VALUE('{\"a\":\"{}\"}', '$.a')", "JSON_QUERY(js, '$.c' WITH CONDITIONAL WRAPPER)", "JSON_QUERY(js, '$.a' WITH CONDITIONAL WRAPPER)", "JSON_VALUE(js, 'lax $.a.b[0]' RETURNING INTEGER DEFAULT -1 ON EMPTY DEFAULT -9 ON ERROR)",
    "JSON_QUERY(js, '$.a')", "JSON_QUERY(js, '$.a.b')", "JSON_QUERY(js, '$.c')", "JSON_QUERY(js, '$.c' WITH WRAPPER)", "JSON_QUERY(js, '$.zz' EMPTY ARRAY ON EMPTY)", "JSON_QUERY(js, '$.a.b[*]' WITH CONDITIONAL ARRAY WRAPPER)", "JSON_STRING(s)", "JSON_STRING(i)", "JSON_STRING(a)", "JSON_OBJECT('k' VALUE i, 's' VALUE s)", "JSON_OBJECT(KEY 'k' VALUE i ABSENT ON NULL)", "JSON_OBJECT()", "JSON_ARRAY(i, s)", "JSON_ARRAY(i, s NULL ON NULL)", "JSON_ARRAY()", "JSON_OBJECT('o' VALUE JSON_OBJECT('k' VALUE i))", "JSON_ARRAY(JSON_ARRAY(1))",
]  # fmt: skip
"""Of each row of `f`."""
ALL = [
    "COUNT(*)", "COUNT(i)", "COUNT(DISTINCT b)", "AVG(i)", "AVG(x)", "SUM(i)", "SUM(n)", "SUM(DISTINCT i)", "MAX(s)", "MIN(ts)", "STDDEV_POP(x)", "STDDEV_SAMP(x)", "STDDEV(x)", "VAR_POP(x)", "VAR_SAMP(x)", "VARIANCE(x)", "STDDEV_POP(i)", "VAR_SAMP(i)", "VAR_POP(n)",
    "LISTAGG(DISTINCT u)", "JSON_OBJECTAGG(KEY CAST(id AS STRING) VALUE i)", "JSON_OBJECTAGG(KEY CAST(id AS STRING) VALUE i ABSENT ON NULL)", "SUM(i) FILTER (WHERE b)", "COUNT(*) FILTER (WHERE i > 0)", "APPROX_COUNT_DISTINCT(i)", "MAX(i) - MIN(i)",
]  # fmt: skip
"""Of the whole of `f`."""
OVER = [
    "ROW_NUMBER() OVER (ORDER BY id)", "RANK() OVER (ORDER BY b)", "DENSE_RANK() OVER (ORDER BY b)", "LEAD(i) OVER (ORDER BY id)", "LAG(i, 1, 0) OVER (ORDER BY id)", "LAG(i) OVER (ORDER BY id)", "FIRST_VALUE(i) OVER (ORDER BY id)", "LAST_VALUE(i) OVER (ORDER BY id)", "CUME_DIST() OVER (ORDER BY id)", "PERCENT_RANK() OVER (ORDER BY id)", "NTILE(2) OVER (ORDER BY id)",
    "SUM(i) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)", "COUNT(*) OVER (PARTITION BY b)", "SUM(id) OVER (ORDER BY id DESC)", "ROW_NUMBER() OVER (ORDER BY i DESC)", "ROW_NUMBER() OVER (ORDER BY i ASC NULLS LAST)", "ROW_NUMBER() OVER (ORDER BY i)",
]  # fmt: skip
"""Over windows of `f`."""
QUERIES = [
    "SELECT LISTAGG(u), LISTAGG(u, ';'), JSON_ARRAYAGG(i), ARRAY_AGG(i), FIRST_VALUE(id), LAST_VALUE(id) FROM f WHERE id = 1", "SELECT b, LISTAGG(s), ARRAY_AGG(id) FROM f GROUP BY b",
    "SELECT id, pp, qq FROM f CROSS JOIN UNNEST(ra) AS t(pp, qq)", "SELECT id, t.p, t.q FROM f, UNNEST(f.ra) AS t", "SELECT id, qq FROM f CROSS JOIN UNNEST(ra) AS t(kk, qq) WHERE kk > 1", "SELECT id, pp, qq FROM f LEFT JOIN UNNEST(ra) AS t(pp, qq) ON TRUE", "SELECT id, kk, vv FROM f CROSS JOIN UNNEST(m2) AS t(kk, vv)",
    "SELECT * FROM UNNEST(ARRAY[1, 2]) AS t(x)", "SELECT id, xx FROM f, UNNEST(a) AS t(xx) WHERE xx > 1", "SELECT * FROM (SELECT id, ra FROM f WHERE id = 1) AS z CROSS JOIN UNNEST(ra) AS t", "SELECT id, e1, e2 FROM f CROSS JOIN UNNEST(a) AS t(e1) CROSS JOIN UNNEST(a2) AS v(e2)", "SELECT id, e1, qq FROM f CROSS JOIN UNNEST(a) AS t(e1) CROSS JOIN UNNEST(ra) AS v(pp, qq)",
    "SELECT id, e FROM f CROSS JOIN UNNEST(ARRAY['a', s]) AS t(e)", "SELECT id, x.e FROM f INNER JOIN UNNEST(a) AS x(e) ON TRUE", "SELECT * FROM UNNEST(ARRAY[ROW(1, 'a'), ROW(2, 'b')]) AS t(n, w)",
    "SELECT (SELECT MAX(id) FROM f), s FROM f WHERE id = 1", "SELECT id FROM f WHERE i = (SELECT MAX(i) FROM f)", "SELECT id FROM f WHERE (id, i) IN (SELECT id, i FROM f)", "SELECT COUNT(*) FROM f GROUP BY ROLLUP (b, i)", "SELECT b, i, COUNT(*), GROUPING(b) FROM f GROUP BY CUBE (b, i)", "SELECT GROUPING_ID(b, i), COUNT(*) FROM f GROUP BY ROLLUP (b, i)",
    "SELECT id FROM f INTERSECT ALL SELECT id FROM f WHERE id < 3", "SELECT b FROM f EXCEPT SELECT TRUE", "SELECT id FROM f WHERE id = SOME (SELECT 1)", "SELECT * FROM (VALUES (1, 'a'), (2, 'bcd')) AS t(n, w)", "VALUES (1, 'a'), (2, 'b')", "SELECT id, ROW_NUMBER() OVER w AS rn FROM f WINDOW w AS (ORDER BY id DESC)",
    "SELECT id FROM f ORDER BY i", "SELECT id FROM f ORDER BY i DESC", "SELECT id FROM f ORDER BY i NULLS LAST", "SELECT DISTINCT b FROM f", "SELECT f.* FROM f WHERE FALSE", "SELECT id `select` FROM f", "SELECT t.id FROM f t JOIN f AS o USING (id)", "SELECT 'it''s', 'a\\b', 'x\ty'", "SELECT U&'\\00e9'", "SELECT 1 AS `a b`, 2 AS 数",
    "SELECT TUMBLE_START(ts, INTERVAL '1' HOUR) FROM f WHERE FALSE GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)", "SELECT b, s FROM (SELECT b, s, ROW_NUMBER() OVER (PARTITION BY b ORDER BY ts DESC) AS rn FROM f) WHERE rn = 1", "SELECT COALESCE(CAST(b AS STRING), 'none') AS k, SUM(i) FROM f GROUP BY COALESCE(CAST(b AS STRING), 'none')", "SELECT x.r.q, x.ra[1].p FROM f AS x", "SELECT r.* FROM f", "SELECT id, (r).p FROM f",
    "SELECT id FROM f LIMIT ALL", "SELECT /*+ BROADCAST(f) */ id FROM f", "SELECT * FROM f FOR SYSTEM_TIME AS OF TIMESTAMP '2999-01-01 00:00:00' WHERE id = 3", "SELECT id FROM f TABLESAMPLE BERNOULLI(100)", "SELECT a.id, o.id FROM f a LEFT JOIN f o ON a.id = o.id + 1 AND o.b", "SELECT id FROM f v WHERE NOT EXISTS (SELECT 1 FROM f o WHERE o.id > v.id)", "SELECT id FROM f WHERE i <> ALL (SELECT 7)", "SELECT id FROM f WHERE i = ANY (SELECT 7)", "SELECT id FROM f ORDER BY id DESC LIMIT 1 OFFSET 1", "SELECT DISTINCT b, COUNT(*) OVER () FROM f", "SELECT id, CASE WHEN b THEN 1 END AS `end` FROM f WHERE s SIMILAR TO 'H%' AND i BETWEEN SYMMETRIC 9 AND 1 OR js IS JSON ARRAY",
]  # fmt: skip
OTHERWISE: dict[str, list[list[object]]] = {
    "CAST(r AS STRING)": [[1, "{1, one}"], [2, "{2, two}"], [3, None]],
    "CAST(m AS STRING)": [[1, "{k -> 1}"], [2, "{z -> 26}"], [3, None]],
    "TYPEOF(i)": [[1, "int"], [2, "int"], [3, "int"]],
    "TYPEOF(ts)": [[1, "timestamp_ntz"], [2, "timestamp_ntz"], [3, "timestamp_ntz"]],
    "TYPEOF(n)": [[1, "decimal(10,2)"], [2, "decimal(10,2)"], [3, "decimal(10,2)"]],
    "TYPEOF(s)": [[1, "string"], [2, "string"], [3, "string"]],
    "TYPEOF(a)": [[1, "array<int>"], [2, "array<int>"], [3, "array<int>"]],
    "TYPEOF(ROW(1, 'a'))": [[i, "struct<col1:int,col2:string>"] for i in (1, 2, 3)],
    "ARRAY_CONTAINS(a, CAST(NULL AS INT))": [[1, None], [2, None], [3, None]],
    "VAR_POP(n)": [[55.0564]],
}
"""What is answered here, in Spark's way: places behind the point, names of types, how rows and maps look as text."""
ANSWERS = Path(__file__).with_name("flink_functions.json")


def queries() -> dict[str, str]:
    """Query by what it asks: the expression, or the query itself."""
    return {
        **{e: f"SELECT id, {e} FROM f" for e in ROWS},
        **{e: f"SELECT {e} FROM f" for e in ALL},
        **{e: f"SELECT id, {e} FROM f" for e in OVER},
        **{q: q for q in QUERIES},
    }


def main(what: str, place: str) -> None:
    asked = queries()
    if what == "sql":
        print(f"CREATE CATALOG pm WITH ('type' = 'paimon', 'warehouse' = '{place}');\nUSE CATALOG pm;{PREPARE}")
        print("".join(f"-- @q q{n}\n{query};\n" for n, query in enumerate(asked.values())))
        return
    found = {}
    for n, name in enumerate(asked):
        path = Path(place) / f"q{n}.jsonl"
        if path.exists():
            found[name] = sorted(([*json.loads(r).values()] for r in path.read_text().splitlines()), key=repr)
    ANSWERS.write_text("{\n" + ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()) + "\n}\n")
    print(f"{len(found)} of {len(asked)} answered")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
