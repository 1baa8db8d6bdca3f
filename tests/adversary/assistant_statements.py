"""Statements for the assistants' server: hostile ones by kind, which must be refused, and harmless ones, which must be answered.

`{tmp}` is a folder with `secret.csv`, `secret.parquet`, `secret.json` and `secret.txt`; `{url}` a web server that must get no request.
"""

from __future__ import annotations

_JAVA = "('java.lang.System', 'setProperty', 'canary', 'set')"
_SH = "'sh -c \"touch {tmp}/made; cat\"'"

_CALLS = [f"reflect{_JAVA}", f"java_method{_JAVA}", f"try_reflect{_JAVA}", f"`REFLECT`{_JAVA}", f"IDENTIFIER('ref' || 'lect'){_JAVA}",
          f"system.builtin.reflect{_JAVA}", f"builtin.java_method{_JAVA}", f"/* x */ Reflect /* y */ {_JAVA}"]  # fmt: skip
_PLACES = [
    "SELECT {} AS x", "SELECT id FROM t WHERE {} = 'x'", "SELECT count(*) AS n FROM t GROUP BY {}", "SELECT id FROM t ORDER BY {}",
    "SELECT id FROM t LIMIT CAST({} AS INT)", "SELECT * FROM VALUES ({}) AS v(x)", "WITH c AS (SELECT {} AS x) SELECT * FROM c",
    "SELECT (SELECT {} FROM t LIMIT 1) AS x", "SELECT transform(array(1), x -> {}) AS y", "SELECT sum(id) OVER (ORDER BY {}) AS s FROM t",
    "SELECT sum(id) OVER w AS s FROM t WINDOW w AS (PARTITION BY {})", "SELECT a.id FROM t a JOIN t b ON {} = 'x'",
    "SELECT id FROM t HAVING {} = 'x'", "SELECT id FROM t UNION ALL SELECT CAST({} AS INT)", "EXPLAIN SELECT {} AS x", "DESCRIBE QUERY SELECT {} AS x",
    "SELECT CASE WHEN {} = 'x' THEN 1 END AS x", "SELECT * FROM t, LATERAL (SELECT {} AS y)", "SELECT * FROM t LATERAL VIEW explode(array({})) e AS y",
    "SELECT from_json('1', {}) AS x", "SELECT * FROM t TIMESTAMP AS OF ({})", "SELECT id FROM t WHERE id IN (SELECT {})",
    "SELECT * FROM (SELECT id FROM t) PIVOT (count(*) FOR id IN ({}))", "SELECT count(*) FILTER (WHERE {} = 'x') AS n FROM t",
    "SELECT if(false, {}, 'x') AS x", "FROM t |> WHERE {} = 'x'", "SELECT struct({} AS a).a AS x", "SELECT id FROM t TABLESAMPLE ({} ROWS)",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY {}) AS p FROM t",
]  # fmt: skip
_PATHS = ["{tmp}/secret", "file://{tmp}/secret", "file:{tmp}/secret", "{tmp}/*", "{tmp}/../{tmp}/secret", "/proc/self/environ", "/etc/passwd", "/etc/*",
          "{url}/secret", "s3a://bucket/secret", "{tmp}/link"]  # fmt: skip
_FORMATS = [
    "csv",
    "parquet",
    "json",
    "text",
    "orc",
    "avro",
    "binaryFile",
    "xml",
    "delta",
    "JSON",
    "`csv`",
    "`org.apache.spark.sql.parquet`",
    "kafka",
    "jdbc",
]

HOSTILE: dict[str, list[str]] = {
    "scripts": [
        f"SELECT TRANSFORM(id) USING {_SH} AS (x STRING) FROM t", f"SELECT TRANSFORM(*) USING {_SH} FROM t", f"FROM t MAP id USING {_SH} AS (x STRING)",
        f"FROM t REDUCE id USING {_SH} AS (x STRING)", f"SELECT * FROM (SELECT TRANSFORM(id) USING {_SH} AS (x STRING) FROM t) AS s",
        f"WITH s AS (SELECT TRANSFORM(id) USING {_SH} AS (x STRING) FROM t) SELECT count(*) AS n FROM s",
        f"SELECT TRANSFORM(id) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' USING {_SH} AS (x STRING) FROM t",
        f"SELECT id FROM t WHERE EXISTS (SELECT TRANSFORM(1) USING {_SH} AS (x STRING))", f"select transform (id) using {_SH} from t",
        f"SELECT id FROM t UNION ALL SELECT TRANSFORM(id) USING {_SH} AS (x INT) FROM t", f"EXPLAIN SELECT TRANSFORM(id) USING {_SH} AS (x STRING) FROM t",
        f"SELECT/**/TRANSFORM/**/(id)/**/USING {_SH} FROM t", f"FROM (FROM t MAP id USING {_SH} AS (x STRING)) AS m SELECT *",
    ],
    "calls of Java": [place.format(_CALLS[i % len(_CALLS)]) for i, place in enumerate(_PLACES * 2)],
    "names that are computed": [
        "SELECT IDENTIFIER('abs')(1) AS x", "SELECT IDENTIFIER('up' || 'per')('a') AS x", "SELECT * FROM IDENTIFIER('t')",
        "SELECT * FROM IDENTIFIER('csv.`{tmp}/secret.csv`')", "SELECT IDENTIFIER('id') AS x FROM t", "SELECT * FROM IDENTIFIER('csv' || '.`/etc/passwd`')",
        "WITH x AS (SELECT 1) SELECT * FROM IDENTIFIER('x' || '')", "SELECT * FROM identifier(concat('text.`', '{tmp}/secret.txt', '`'))",
    ],
    "files of Spark": [f"SELECT * FROM {kind}.`{path}.{kind.strip('`').lower()}`" for kind in _FORMATS for path in _PATHS[:4]]
        + [f"SELECT * FROM text.`{path}`" for path in _PATHS]
        + ["SELECT t.id FROM t JOIN csv.`{tmp}/secret.csv` AS c ON true", "SELECT (SELECT max(_c0) FROM csv.`{tmp}/secret.csv`) AS x",
           "TABLE csv.`{tmp}/secret.csv`", "FROM csv.`{tmp}/secret.csv`", "WITH c AS (SELECT * FROM json.`{tmp}/secret.json`) SELECT * FROM c",
           "DESCRIBE csv.`{tmp}/secret.csv`", "SHOW CREATE TABLE csv.`{tmp}/secret.csv`", "SELECT * FROM csv.`{tmp}/secret.csv` VERSION AS OF 1"],
    "data files": [
        "SELECT * FROM '{tmp}/secret.csv'", "SELECT * FROM '{tmp}/secret.parquet'", "SELECT * FROM '{tmp}/*.csv'", "SELECT * FROM '{tmp}/secret.json'",
        "SELECT * FROM '{tmp}/allowed/../secret.csv'", "SELECT * FROM '{tmp}/allowed/link.csv'", "SELECT * FROM '{tmp}/allowed/*.csv'",
        "SELECT * FROM '{tmp}/allowed/folder/secret.csv'", "SELECT * FROM '~/.ssh/config.csv'", "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM t JOIN '{tmp}/secret.csv' AS f ON true", "SELECT (SELECT count(*) FROM '{tmp}/secret.csv') AS n", "FROM '{tmp}/secret.csv'",
        "EXPLAIN SELECT * FROM '{tmp}/secret.csv'", "SELECT * FROM '{tmp}/secret?csv'", "SELECT * FROM 'secret.csv'",
    ],
    "definitions": [
        "CREATE TABLE u (id INT)", "CREATE TABLE u AS SELECT * FROM t", "CREATE OR REPLACE TABLE t (id INT)", "DROP TABLE t", "DROP TABLE IF EXISTS t PURGE",
        "ALTER TABLE t ADD COLUMNS (x INT)", "ALTER TABLE t SET ('a' = 'b')", "ALTER TABLE t RENAME TO u", "CREATE DATABASE d", "DROP DATABASE default CASCADE",
        "CREATE VIEW v AS SELECT * FROM t", "CREATE TEMPORARY VIEW v AS SELECT * FROM t", "DROP VIEW v", "CREATE CATALOG c WITH ('type' = 'paimon', 'warehouse' = '{tmp}/w2')",
        "TRUNCATE TABLE t", "UNDROP TABLE t", "CREATE TABLE u LIKE t", "COMMENT ON TABLE t IS 'x'", "ALTER TABLE t CREATE TAG x", "DROP CATALOG paimon",
        "CREATE TEMPORARY FUNCTION f AS 'java.lang.System' USING JAR '{tmp}/x.jar'", "CREATE FUNCTION f(x INT) RETURNS INT RETURN x",
        "CREATE TEMPORARY TABLE k (id INT) WITH ('connector' = 'filesystem', 'path' = '{tmp}', 'format' = 'csv')",
    ],
    "changes of rows": [
        "INSERT INTO t VALUES (9, 'x')", "INSERT OVERWRITE t SELECT * FROM t", "WITH s AS (SELECT * FROM t) INSERT INTO t SELECT * FROM s", "FROM t INSERT INTO t SELECT *",
        "DELETE FROM t", "UPDATE t SET v = 'x'", "MERGE INTO t USING t AS s ON t.id = s.id WHEN MATCHED THEN DELETE", "EXPLAIN DELETE FROM t",
        "EXPLAIN INSERT INTO t VALUES (9, 'x')", "INSERT OVERWRITE DIRECTORY '{tmp}/made' USING csv SELECT * FROM t", "COPY INTO t FROM '{tmp}/secret.csv'",
        "COPY INTO '{tmp}/made' FROM t", "EXECUTE STATEMENT SET BEGIN INSERT INTO t VALUES (9, 'x'); END", "LOAD DATA INPATH '{tmp}/secret.csv' INTO TABLE t",
        "FROM t INSERT OVERWRITE LOCAL DIRECTORY '{tmp}/made' SELECT *", "REPLACE TABLE t AS SELECT 1 AS x",
    ],
    "procedures": [
        "CALL sys.compact('t')", "CALL sys.rollback('t', 1)", "CALL sys.expire_snapshots('t', 1)", "CALL paimon.sys.drop_partition('t', 'a=1')",
        "CALL sys.migrate_table('hive', 'x.y')", "CALL sys.remove_orphan_files('t')", "CALL sys.copy_files('{tmp}', '{tmp}/made')",
        "CALL sys.create_tag('t', 'x')", "CALL sys.init_file_based_privilege('x')", "EXPLAIN CALL sys.compact('t')",
    ],
    "settings and commands": [
        "SET 'a' = 'b'", "SET spark.sql.runSQLOnFiles = true", "SET", "SET -v", "RESET", "RESET 'a'", "USE default", "USE CATALOG paimon", "ADD JAR '{tmp}/x.jar'",
        "ADD FILE '{tmp}/secret.csv'", "LIST JARS", "LIST FILES", "CACHE TABLE t", "CACHE TABLE x AS SELECT 1", "UNCACHE TABLE t", "CLEAR CACHE", "REFRESH TABLE t",
        "ANALYZE TABLE t COMPUTE STATISTICS", "MSCK REPAIR TABLE t", "STOP JOB 'x'", "KILL 1", "LOAD MODULE x", "SET TIME ZONE 'UTC'", "ADD ARCHIVE '{tmp}/x.zip'",
        "DESCRIBE FUNCTION reflect; SET 'a' = 'b'",
    ],
    "several statements": [
        "SELECT 1 AS a; DROP TABLE t", "SELECT 1 AS a;; DELETE FROM t", "SELECT 1 AS a; SELECT 2 AS b", "SHOW TABLES; TRUNCATE TABLE t", "-- SELECT\nDROP TABLE t",
        "/* SELECT 1 */ DROP TABLE t", "SELECT 1 AS a -- x\n; DROP TABLE t", "SELECT 1 AS a /* ; */; DROP TABLE t", "", ";", "-- nothing", "/*+ x */ DELETE FROM t",
        "SELECT 'a\\'; DROP TABLE t; --' AS a; DELETE FROM t", "DESCRIBE t; DELETE FROM t", "(SELECT 1 AS a); DELETE FROM t",
    ],
    "scripts of SQL": [
        "EXECUTE IMMEDIATE 'DROP TABLE t'", "EXECUTE IMMEDIATE 'SELECT 1'", "DECLARE x INT DEFAULT 1", "DECLARE OR REPLACE VARIABLE x = reflect('a', 'b')",
        "SET VAR x = 1", "BEGIN DELETE FROM t; END", "BEGIN SELECT 1; END", "SELECT session.x AS y", "SELECT system.session.x AS y",
    ],
    "options in hints": [
        f"SELECT * FROM t /*+ OPTIONS('{key}' = '{value}') */"
        for key, value in {
            "path": "{tmp}", "data-file.external-paths": "file://{tmp}", "consumer-id": "me", "warehouse": "{tmp}", "metadata.iceberg.rest.uri": "{url}",
            "partition.mark-done-action.http.url": "{url}", "write-only": "true", "bucket": "9", "merge-engine": "aggregation", "file.format": "csv",
            "s3.endpoint": "{url}", "scan.unknown": "x", "lookup.cache-file-retention": "1 s", "changelog-producer": "input",
        }.items()
    ] + ["EXPLAIN SELECT * FROM t /*+ OPTIONS('path' = '{tmp}') */", "SELECT * FROM t WITH ('path' = '{tmp}')", "SELECT * FROM t a JOIN t /*+ OPTIONS('consumer-id' = 'me') */ AS b ON true"],
    "functions that open files or send requests": [
        "SELECT xpath_string('<!DOCTYPE a SYSTEM \"{url}/dtd\"><a/>', 'a') AS x", "SELECT xpath('<a/>', 'a') AS x", "SELECT xpath_int('<a>1</a>', 'a') AS x",
        "SELECT from_xml('<a/>', 'b INT', map('rowValidationXSDPath', '{tmp}/secret.txt')) AS x", "SELECT schema_of_xml('<a/>', map('rowValidationXSDPath', '{url}/x')) AS x",
        "SELECT from_avro(X'00', '\"int\"', map('avroSchemaUrl', '{tmp}/secret.json')) AS x", "SELECT to_avro(1) AS x",
        "SELECT from_protobuf(X'00', 'A', '{tmp}/secret.txt') AS x", "SELECT to_protobuf(1, 'A', '{tmp}/secret.txt') AS x", "SELECT * FROM python_worker_logs()",
    ],
    "functions of others": [
        "SELECT my_function(1) AS x", "SELECT default.f(1) AS x", "SELECT spark_catalog.default.f(1) AS x", "SELECT * FROM my_table_function(1)", "SELECT sys.f(1) AS x",
        "SELECT * FROM f(TABLE(t))", "SELECT paimon.default.f(id) AS x FROM t", "SELECT assert_no(1) AS x", "SELECT load_file('/etc/passwd') AS x", "SELECT pg_read_file('/etc/passwd') AS x",
        "SELECT udf(1) AS x", "SELECT java.lang.Math.abs(1) AS x",
    ],
    "DuckDB": [
        "SELECT * FROM read_text('/etc/passwd')", "SELECT * FROM read_csv('{tmp}/secret.csv')", "SELECT * FROM glob('/etc/*')", "SELECT * FROM sqlite_scan('{tmp}/x', 'y')",
        "SELECT * FROM read_parquet('{tmp}/secret.parquet')", "SELECT * FROM parquet_scan('{tmp}/secret.parquet')", "SELECT getenv('HOME') AS x", "COPY t TO '{tmp}/made'",
        "INSTALL httpfs", "ATTACH '{tmp}/made' AS x", "SELECT * FROM duckdb_settings()", "EXPORT DATABASE '{tmp}/made'", "PRAGMA database_list", "SELECT * FROM read_blob('/etc/*')",
    ],
    "tables of others": [
        "SELECT * FROM spark_catalog.default.x", "SELECT * FROM global_temp.x", "SELECT * FROM other.db.t", "SELECT * FROM hive.`/etc/passwd`", "SELECT * FROM delta.`{tmp}`",
        "SELECT * FROM paimon.`{tmp}/w`", "SELECT * FROM `{tmp}/w/default.db/t`", "SELECT * FROM __paimon_0", "SELECT * FROM system.information_schema.tables", "SELECT * FROM jdbc.`jdbc:x`",
    ],
    "forms that are cut short or too large": [
        "SELECT", "SELECT * FROM", "SELECT " + "(" * 3_000 + "1" + ")" * 3_000 + " AS x", "SELECT " + " + ".join(["1"] * 60_000) + " AS x", "SELECT :a AS x", "SELECT ? AS x",
        "SELECT '" + "x" * 200_000 + "' AS x", "SELECT \x00 AS x", "SELECT * FROM t WHERE id = :id", "SELECT ${tmp} AS x", "SELECT 'x", "SELECT `x", "SELECT /* x",
    ],
}  # fmt: skip
"""Kind -> statements."""

LARGE = {
    "SELECT repeat('x', 2000000000) AS x": "MB of memory|seconds|memory than it may use",
    "SELECT count(*) AS n FROM range(100000000000000)": "seconds",
    "SELECT size(sequence(1, 2000000000)) AS n": "MB of memory|seconds|memory than it may use|Too long sequence|limit",
    "SELECT count(*) AS n FROM range(10000000) a CROSS JOIN range(10000000) b WHERE a.id + b.id = 7": "seconds",
}
"""Statements that need too much, and what the error says."""

HARMLESS = [
    "SELECT * FROM t", "SELECT id, upper(v) AS v FROM t WHERE id > 1", "SELECT count(*) AS n FROM t", "SELECT v, count(*) AS n FROM t GROUP BY v HAVING count(*) > 0 ORDER BY n DESC",
    "SELECT DISTINCT v FROM t ORDER BY v", "SELECT max(id) AS a, min(id) AS b, avg(id) AS c, sum(id) AS d, stddev(id) AS e FROM t", "SELECT id FROM t ORDER BY id DESC LIMIT 1 OFFSET 1",
    "SELECT a.id, b.v FROM t a JOIN t b ON a.id = b.id", "SELECT a.id FROM t a LEFT JOIN t b ON a.id = b.id + 1 WHERE b.id IS NULL", "SELECT * FROM t a CROSS JOIN t b",
    "SELECT id FROM t a LEFT SEMI JOIN t b USING (id)", "SELECT id FROM t WHERE id IN (SELECT max(id) FROM t)", "SELECT id, (SELECT count(*) FROM t b WHERE b.id <= a.id) AS r FROM t a",
    "SELECT id FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE b.id = a.id)", "WITH c AS (SELECT id FROM t), d AS (SELECT id + 1 AS id FROM c) SELECT * FROM c JOIN d USING (id)",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r", "SELECT id FROM t UNION ALL SELECT id FROM t", "SELECT id FROM t INTERSECT SELECT 1",
    "SELECT id FROM t EXCEPT SELECT 1", "SELECT id, row_number() OVER (ORDER BY id) AS n FROM t", "SELECT id, sum(id) OVER (PARTITION BY v ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM t",
    "SELECT id, lag(id) OVER w AS a, lead(v, 1, 'x') OVER w AS b FROM t WINDOW w AS (ORDER BY id)", "SELECT id, ntile(2) OVER (ORDER BY id) AS n, percent_rank() OVER (ORDER BY id) AS p FROM t",
    "SELECT v, grouping(v) AS g, count(*) AS n FROM t GROUP BY ROLLUP (v)", "SELECT v, count(*) AS n FROM t GROUP BY CUBE (v)", "SELECT v, count(*) AS n FROM t GROUP BY GROUPING SETS ((v), ())",
    "SELECT * FROM (SELECT id, v FROM t) PIVOT (sum(id) FOR v IN ('a', 'b'))", "SELECT * FROM (SELECT id, id + 1 AS b FROM t) UNPIVOT (x FOR n IN (id, b))",
    "SELECT CASE WHEN id > 1 THEN 'many' ELSE 'one' END AS k FROM t", "SELECT if(id = 1, 'a', 'b') AS k, coalesce(v, 'x') AS v, nullif(id, 1) AS n FROM t", "SELECT CAST(id AS STRING) AS s, try_cast('x' AS INT) AS n FROM t",
    "SELECT get_json_object('{\"a\": 1}', '$.a') AS a", "SELECT from_json('{\"a\": 1}', 'a INT').a AS a", "SELECT to_json(named_struct('a', 1)) AS j", "SELECT json_tuple('{\"a\": 1, \"b\": 2}', 'a', 'b')",
    "SELECT parse_json('{\"a\": [1, 2]}'):a[0]::int AS a", "SELECT schema_of_json('{\"a\": 1}') AS s", "SELECT date_add(DATE '2024-01-31', 1) AS d, datediff(DATE '2024-02-01', DATE '2024-01-01') AS n",
    "SELECT date_trunc('month', TIMESTAMP '2024-05-17 10:00:00') AS m, date_format(DATE '2024-05-17', 'yyyy/MM') AS f", "SELECT EXTRACT(YEAR FROM DATE '2024-05-17') AS y, dayofweek(DATE '2024-05-17') AS w",
    "SELECT TIMESTAMP '2024-01-01 00:00:00' + INTERVAL '1' DAY AS t", "SELECT to_date('2024-01-01') AS a, to_timestamp('2024-01-01 10:00:00') AS b, unix_timestamp('2024-01-01 10:00:00') AS c",
    "SELECT timestampdiff(HOUR, TIMESTAMP '2024-01-01 00:00:00', TIMESTAMP '2024-01-02 00:00:00') AS h", "SELECT current_date() IS NOT NULL AS d, current_timestamp() IS NOT NULL AS t",
    "SELECT concat(v, '-', id) AS c, length(v) AS l, substring(v, 1, 1) AS s, trim(v) AS t, lpad(v, 3, '0') AS p FROM t", "SELECT regexp_extract('a12', '[0-9]+', 0) AS n, regexp_replace('aab', 'a+', 'x') AS r, 'abc' RLIKE 'b' AS m",
    "SELECT split('a,b', ',') AS s, array_join(array('a', 'b'), '-') AS j", "SELECT explode(array(1, 2, 3)) AS x", "SELECT t.id, e FROM t LATERAL VIEW explode(array(1, 2)) x AS e", "SELECT t.id, e FROM t, LATERAL explode(array(1, 2)) AS x(e)",
    "SELECT transform(array(1, 2), x -> x + 1) AS a, filter(array(1, 2), x -> x > 1) AS b, aggregate(array(1, 2), 0, (a, b) -> a + b) AS c", "SELECT map('a', 1)['a'] AS m, map_keys(map('a', 1)) AS k, struct(1 AS x).x AS s",
    "SELECT collect_list(id) AS l, collect_set(v) AS s, array_sort(collect_list(id)) AS o FROM t", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY id) AS m, approx_count_distinct(v) AS d FROM t", "SELECT median(id) AS m, mode(v) AS o FROM t",
    "SELECT count(*) FILTER (WHERE id > 1) AS n, count(DISTINCT v) AS d FROM t", "SELECT round(1.005, 2) AS r, floor(1.5) AS f, abs(-1) AS a, pow(2, 3) AS p, sqrt(4) AS s, mod(5, 2) AS m", "SELECT 1 / 2 AS a, 5 div 2 AS b, 5 % 2 AS c, 1 = 1 AS d",
    "SELECT md5('a') AS m, sha2('a', 256) AS s, hex('a') AS h, base64(CAST('a' AS BINARY)) AS b, crc32('a') AS c", "SELECT greatest(1, 2) AS g, least(1, 2) AS l, isnull(NULL) AS i", "SELECT * FROM VALUES (1, 'a'), (2, 'b') AS x(n, s)",
    "VALUES (1, 'a')", "TABLE t", "FROM t SELECT id", "FROM t |> WHERE id > 1 |> SELECT id", "SELECT * EXCEPT (v) FROM t", "SELECT 'DROP TABLE t; reflect()' AS text", "SELECT 'it''s' AS a -- a comment; DROP TABLE t",
    "SELECT /* reflect( */ 1 AS a", "SELECT id AS reflect, v AS `drop` FROM t", "SELECT v AS transform FROM t", "SELECT * FROM t VERSION AS OF 1", "SELECT * FROM t TIMESTAMP AS OF '2999-01-01 00:00:00'", "SELECT * FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '2999-01-01 00:00:00'",
    "SELECT * FROM t /*+ OPTIONS('scan.snapshot-id' = '1') */", "SELECT * FROM t VERSION AS OF 'first'", "SELECT * FROM t /*+ OPTIONS('incremental-between' = '1,2') */", "SELECT * FROM paimon_incremental_query('t', 1, 2)", "SELECT * FROM `t$snapshots`",
    "SELECT snapshot_id, commit_kind FROM `t$snapshots` ORDER BY snapshot_id", "SELECT * FROM `t$files`", "SELECT * FROM `t$schemas`", "SELECT * FROM `t$options`", "SELECT * FROM `t$tags`", "SELECT * FROM `t$manifests`", "SELECT * FROM `t$audit_log`",
    "SELECT * FROM default.t", "SELECT * FROM paimon.default.t", "SELECT * FROM sys.all_table_options", "SELECT /*+ BROADCAST(b) */ a.id FROM t a JOIN t b ON a.id = b.id", "SELECT * FROM t TABLESAMPLE (50 PERCENT)", "SELECT * FROM range(5)", "SELECT id FROM t DISTRIBUTE BY id SORT BY id",
    "SHOW TABLES", "SHOW DATABASES", "SHOW CATALOGS", "SHOW CREATE TABLE t", "SHOW COLUMNS FROM t", "SHOW TBLPROPERTIES t", "SHOW TAGS t", "SHOW BRANCHES t", "SHOW VIEWS", "SHOW FUNCTIONS LIKE 'abs'", "SHOW PROCEDURES", "SHOW CURRENT DATABASE", "SHOW TABLE EXTENDED LIKE 't'",
    "DESCRIBE t", "DESCRIBE EXTENDED t", "DESC t", "DESCRIBE DATABASE default", "DESCRIBE QUERY SELECT id FROM t", "DESCRIBE `t$snapshots`", "DESCRIBE FUNCTION abs", "EXPLAIN SELECT * FROM t WHERE id > 1", "EXPLAIN FORMATTED SELECT count(*) FROM t", "SELECT * FROM '{tmp}/allowed/open.csv'",
]  # fmt: skip
