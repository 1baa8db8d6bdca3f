"""Statements in Spark's words: a real Spark 4.0 with Paimon 1.3.1 was asked them, `spark_statements.json` holds its answers.

`python tests/session/spark_statements.py steps WAREHOUSES > steps.json`, then `spark_peer.py` as `spark_documents.py` tells;
`python tests/session/spark_statements.py compare` ends with `N of N equal`.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent))
from spark_peer import plain

import paimon_nb
from paimon_nb.base.errors import PaimonError
from paimon_nb.sql import parse
from paimon_nb.statements import Call, Query

if TYPE_CHECKING:
    from collections.abc import Iterator

ANSWERS = Path(__file__).with_name("spark_statements.json")
OTHERWISE = {
    "SELECT id, v, n, _ROW_ID FROM de": "the MERGEs before it took their sources, which Java takes from Paimon tables only",
    "SELECT key, value FROM `k$options`": "Spark adds who made the table, 'owner'",
    "SELECT id FROM `k$ro`": "later releases put the files of an overwrite on the top level at once, where `$ro` sees them",
    "162": "Spark loses the second of two INSERTs behind one FROM",
}
"""Statements (or their numbers) that both take and that are answered otherwise here, and why."""
TEXT = r"""
CREATE DATABASE d;
USE d;
CREATE TABLE k (id INT NOT NULL, v STRING COMMENT 'text', n DECIMAL(10, 2), dt STRING) PARTITIONED BY (dt) TBLPROPERTIES ('primary-key' = 'dt,id', 'bucket' = '2') COMMENT 'keys';
CREATE TABLE a (id BIGINT, v STRING, s STRUCT<x: INT, y: STRING>, m MAP<STRING, INT>, l ARRAY<INT>) USING paimon;
CREATE TABLE IF NOT EXISTS a (other INT);
INSERT INTO k VALUES (1, 'a', 1.50, 'x'), (2, 'b', NULL, 'x'), (3, 'c', 3.25, 'y');
INSERT INTO k (id, dt) VALUES (4, 'y');
INSERT INTO k SELECT 1, 'aa', 10, 'x';
SELECT * FROM k;
SELECT dt, count(*), sum(n) FROM k GROUP BY dt;
INSERT INTO a VALUES (1, 'p', named_struct('x', 1, 'y', 'q'), map('k', 1), array(1, 2)), (2, NULL, NULL, NULL, NULL);
INSERT INTO a BY NAME SELECT 'by name' AS v, 3L AS id;
SELECT * FROM a;
SELECT s.x, m['k'], l[0] FROM a WHERE id = 1;
UPDATE k SET v = 'upd', n = n + 1 WHERE id = 3;
UPDATE k SET v = upper(v) WHERE dt = 'x';
UPDATE a SET s.x = 9 WHERE id = 1;
SELECT id, s FROM a;
DELETE FROM k WHERE id = 2;
DELETE FROM a WHERE v IS NULL;
SELECT id, v, n FROM k;
SELECT id, v FROM a;
UPDATE k SET id = 5 WHERE id = 1;
CREATE TABLE src (id INT, v STRING, n DECIMAL(10, 2), dt STRING);
INSERT INTO src VALUES (1, 'm1', 0.10, 'x'), (9, 'm9', 0.90, 'z'), (4, 'm4', NULL, 'y');
MERGE INTO k USING src ON k.id = src.id AND k.dt = src.dt WHEN MATCHED AND src.id = 4 THEN DELETE WHEN MATCHED THEN UPDATE SET v = src.v WHEN NOT MATCHED THEN INSERT *;
SELECT * FROM k;
MERGE INTO k AS t USING (SELECT 77 AS id) AS s ON t.id = s.id WHEN NOT MATCHED BY SOURCE AND t.id = 9 THEN DELETE WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = concat(t.v, '!');
SELECT id, v FROM k;
INSERT OVERWRITE k PARTITION (dt = 'x') VALUES (100, 'o', 1);
SELECT * FROM k;
INSERT OVERWRITE a SELECT 5L, 'only', NULL, NULL, NULL;
SELECT id, v FROM a;
SHOW PARTITIONS k;
SHOW PARTITIONS k PARTITION (dt = 'x');
ALTER TABLE k DROP PARTITION (dt = 'y');
SELECT id, dt FROM k;
TRUNCATE TABLE a;
SELECT count(*) FROM a;
ALTER TABLE a ADD COLUMNS (w DOUBLE COMMENT 'new', z DATE AFTER id);
ALTER TABLE a ADD COLUMN first_one INT FIRST;
ALTER TABLE a RENAME COLUMN v TO vv;
ALTER TABLE a ALTER COLUMN w COMMENT 'newer';
ALTER TABLE a ALTER COLUMN first_one TYPE BIGINT;
ALTER TABLE a ALTER COLUMN z AFTER w;
ALTER TABLE a ADD COLUMN s.z3 STRING;
ALTER TABLE a RENAME COLUMN s.x TO xx;
ALTER TABLE a DROP COLUMN s.y;
ALTER TABLE a DROP COLUMNS (l);
ALTER TABLE a DROP COLUMN nope;
SELECT * FROM a;
DESCRIBE a;
SHOW COLUMNS FROM a;
INSERT INTO a VALUES (1, 2, 'new', named_struct('xx', 1, 'z3', 'z'), NULL, 1.5, DATE '2024-01-01');
SELECT * FROM a;
ALTER TABLE a SET TBLPROPERTIES ('snapshot.num-retained.max' = '50', 'comment' = 'told');
ALTER TABLE a UNSET TBLPROPERTIES ('snapshot.num-retained.max');
SHOW TBLPROPERTIES a;
SHOW TBLPROPERTIES k ('bucket');
ALTER TABLE src ALTER COLUMN v SET DEFAULT 'dflt';
ALTER TABLE src RENAME TO src2;
SHOW TABLES;
SHOW TABLES LIKE 'k*';
SHOW TABLES IN d LIKE 'src|a';
ALTER TABLE k CREATE TAG t1;
ALTER TABLE k CREATE TAG `t 2` AS OF VERSION 1 RETAIN 3 DAYS;
ALTER TABLE k CREATE TAG IF NOT EXISTS t1;
ALTER TABLE k CREATE TAG t1;
ALTER TABLE k RENAME TAG t1 TO t3;
SHOW TAGS k;
SELECT * FROM k VERSION AS OF 1;
SELECT * FROM k VERSION AS OF 't 2';
SELECT count(*) FROM k VERSION AS OF 3;
SELECT count(*) FROM k FOR VERSION AS OF 4;
SELECT count(*) FROM k VERSION AS OF 'nope';
ALTER TABLE k DELETE TAG t3;
SELECT tag_name, snapshot_id FROM `k$tags`;
SELECT snapshot_id, schema_id, commit_kind, total_record_count, delta_record_count FROM `k$snapshots`;
SELECT partition, record_count, file_count FROM `k$partitions`;
SELECT key, value FROM `k$options`;
SELECT rowkind, id FROM `k$audit_log`;
SELECT id FROM `k$ro`;
SELECT * FROM paimon_incremental_query('k', 1, 2);
SELECT id, v FROM paimon_incremental_query('k', 2, 3);
SELECT id, __paimon_bucket FROM k;
CALL sys.compact(table => 'd.k');
CALL sys.compact(`table` => 'd.k', partitions => "dt='x'");
CALL sys.create_tag('d.k', 'ct', 2);
CALL sys.create_tag(table => 'd.k', tag => 'ct2', snapshot => 3, time_retained => '1 d');
CALL sys.rename_tag('d.k', 'ct', 'ct3');
CALL sys.delete_tag('d.k', 'ct3');
CALL sys.create_branch('d.k', 'b1');
CALL sys.create_branch('d.k', 'b2', 'ct2');
SELECT branch_name FROM `k$branches`;
INSERT INTO `k$branch_b2` VALUES (55, 'branch', NULL, 'q');
SELECT count(*) FROM `k$branch_b2`;
CALL sys.delete_branch('d.k', 'b1');
CALL sys.fast_forward('d.k', 'b2');
SELECT count(*) FROM k;
CALL sys.rollback('d.k', '2');
SELECT id FROM k;
CALL sys.expire_snapshots(table => 'd.k', retain_max => 1, retain_min => 1);
SELECT snapshot_id FROM `k$snapshots`;
CALL sys.reset_consumer('d.k', 'c1', 2);
SELECT * FROM `k$consumers`;
CALL sys.clear_consumers('d.k');
CALL sys.remove_orphan_files(table => 'd.k');
CALL sys.purge_files('d.a');
SELECT count(*) FROM a;
CALL sys.nope('d.a');
CREATE TABLE ctas USING paimon TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1') AS SELECT id, vv AS v FROM (VALUES (1, 'x'), (2, 'y')) AS t(id, vv);
SELECT * FROM ctas;
CREATE OR REPLACE TABLE ctas AS SELECT 7 AS z;
SELECT * FROM ctas;
CREATE TABLE alike (id INT NOT NULL, v STRING, n DECIMAL(10, 2), dt STRING) PARTITIONED BY (dt) TBLPROPERTIES ('primary-key' = 'dt,id', 'bucket' = '2');
SHOW TBLPROPERTIES alike ('primary-key');
INSERT INTO alike VALUES (1, 'a', 1, 'x'), (1, 'b', 2, 'x');
SELECT * FROM alike;
CREATE TABLE dflt (id INT, v STRING DEFAULT 'dv', n INT DEFAULT 7);
INSERT INTO dflt (id) VALUES (1);
INSERT INTO dflt VALUES (2, DEFAULT, DEFAULT);
SELECT * FROM dflt;
CREATE TABLE agg (id INT NOT NULL, total INT, last STRING) TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1', 'merge-engine' = 'aggregation', 'fields.total.aggregate-function' = 'sum', 'fields.last.aggregate-function' = 'last_non_null_value');
INSERT INTO agg VALUES (1, 5, 'a'), (1, 6, NULL), (2, 1, NULL);
INSERT INTO agg VALUES (1, 1, 'z');
SELECT * FROM agg;
CREATE TABLE parts (id INT, p INT, q STRING) PARTITIONED BY (p, q);
INSERT INTO parts PARTITION (p = 1, q = 'a') VALUES (1), (2);
INSERT INTO parts PARTITION (p = 2, q) VALUES (3, 'b'), (4, 'c');
SELECT * FROM parts;
SHOW PARTITIONS parts;
SET spark.sql.sources.partitionOverwriteMode = dynamic;
INSERT OVERWRITE parts VALUES (30, 2, 'b');
SELECT * FROM parts;
SET spark.sql.sources.partitionOverwriteMode = static;
INSERT OVERWRITE parts PARTITION (p = 2, q = 'c') SELECT 44;
SELECT * FROM parts;
INSERT OVERWRITE parts VALUES (99, 9, 'z');
SELECT * FROM parts;
DELETE FROM parts WHERE p = 9;
SELECT count(*) FROM parts;
CREATE TEMPORARY VIEW tv AS SELECT id FROM alike;
SELECT * FROM tv;
DROP VIEW tv;
CREATE TABLE types (b BOOLEAN, t TINYINT, s SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, e DECIMAL(20, 3), c CHAR(3), w VARCHAR(5), x BINARY, dd DATE, ts TIMESTAMP, tn TIMESTAMP_NTZ);
INSERT INTO types VALUES (true, 1, 2, 3, 4, 1.5, 2.5, 123.456, 'ab', 'cd', X'0AFF', DATE '2024-02-29', TIMESTAMP '2024-01-01 10:00:00', TIMESTAMP_NTZ '2024-01-01 11:00:00.123456');
SELECT * FROM types;
DESCRIBE types;
SELECT /*+ BROADCAST(alike) */ alike.id FROM alike JOIN types ON alike.id = types.t;
SELECT dt, v, count(*) FROM alike GROUP BY GROUPING SETS ((dt, v), (dt), ());
SELECT * FROM (SELECT id, dt, n FROM alike) PIVOT (sum(n) FOR dt IN ('x', 'y'));
SELECT t.id, e FROM alike AS t LATERAL VIEW explode(array(1, 2)) AS e;
SELECT a.id, b.w FROM alike AS a, LATERAL (SELECT a.id + 1 AS w) AS b;
SELECT * FROM alike TABLESAMPLE (100 PERCENT);
FROM alike SELECT id, v;
TABLE alike;
WITH w AS (SELECT id FROM alike) SELECT * FROM w;
SELECT sys.max_pt('k');
SELECT current_catalog(), current_database(), current_schema();
CREATE GLOBAL TEMPORARY VIEW gv AS SELECT id, v FROM alike;
SELECT * FROM global_temp.gv;
FROM alike INSERT INTO parts SELECT id, 1, v INSERT INTO parts SELECT id + 1, 2, v WHERE id = 1;
SELECT * FROM parts;
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r;
DECLARE VARIABLE vv INT DEFAULT 5;
SET VAR vv = 6;
SELECT vv;
CREATE TABLE w4 (id INT, p STRING) PARTITIONED BY (p);
INSERT INTO w4 VALUES (1, 'a'), (2, 'b');
ANALYZE TABLE alike COMPUTE STATISTICS;
SELECT snapshot_id, mergedRecordCount FROM `alike$statistics`;
REFRESH TABLE alike;
CACHE TABLE alike;
UNCACHE TABLE alike;
CREATE TABLE de (id INT, v STRING, n INT) TBLPROPERTIES ('row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true');
INSERT INTO de VALUES (1, 'a', 1), (2, 'b', 2);
INSERT INTO de VALUES (3, 'c', 3);
UPDATE de SET v = 'z' WHERE id = 1;
DELETE FROM de WHERE id = 2;
MERGE INTO de USING (SELECT 2 AS id, 'm' AS v) AS s ON de.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v;
MERGE INTO de USING (SELECT 2 AS id, 'm' AS v UNION ALL SELECT 8, 'eight') AS s ON de.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v);
MERGE INTO de USING (SELECT 3 AS id) AS s ON de.id = s.id WHEN MATCHED THEN DELETE;
MERGE INTO de USING (SELECT 3 AS id) AS s ON de.id = s.id WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = 'nm';
SELECT id, v, n, _ROW_ID FROM de;
CREATE TABLE rt (id INT, v STRING) TBLPROPERTIES ('row-tracking.enabled' = 'true');
INSERT INTO rt VALUES (1, 'a'), (2, 'b');
UPDATE rt SET v = 'z' WHERE id = 1;
SELECT *, _ROW_ID, _SEQUENCE_NUMBER FROM rt;
SELECT CAST('a\\b' AS STRING), 'it\'s', "double", 1e3, 1.5, 7 / 2, 7 DIV 2, NULL <=> NULL;
SHOW DATABASES;
DESCRIBE DATABASE d;
SHOW CREATE TABLE ctas;
DROP TABLE ctas;
DROP TABLE ctas;
DROP TABLE IF EXISTS ctas;
CREATE DATABASE d2 COMMENT 'two';
DROP DATABASE d2;
"""

BLOCKS = {
    "p1": """df = spark.createDataFrame([(1, "x", "a"), (2, "y", "b")], "id int, v string, p string")
df.writeTo("f1").using("paimon").partitionedBy(df.p).create()
spark.createDataFrame([(3, "z", "a")], "id int, v string, p string").writeTo("f1").overwritePartitions()
out = spark.table("f1")""",
    "p2": """spark.createDataFrame([(9, "c")], "id int, q string").writeTo("f1").using("paimon").createOrReplace()
out = spark.table("f1").select("id", "q")""",
    "p3": """spark.createDataFrame([(5, "a")], "id int, p string").write.format("paimon").mode("overwrite").saveAsTable("w4")
out = spark.table("w4")""",
    "p4": """spark.createDataFrame([(6, "b")], "id int, p string").write.mode("overwrite").insertInto("w4")
out = spark.table("w4")""",
    "p5": """src = spark.createDataFrame([(1, "merged"), (50, "new")], "id int, v string").alias("s")
from pyspark.sql.functions import col, expr, lit
spark.sql("CREATE TABLE m (id INT NOT NULL, v STRING) TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1')")
spark.sql("INSERT INTO m VALUES (1, 'a'), (2, 'b'), (3, 'c')")
src.mergeInto("m", expr("m.id = s.id")).whenMatched().update({"v": col("s.v")}).whenNotMatched().insertAll().whenNotMatchedBySource(col("m.id") == lit(3)).delete().merge()
out = spark.table("m")""",
    "p6": """spark.createDataFrame([(7, "seven")], "id int, v string").write.format("paimon").mode("append").saveAsTable("m")
out = spark.read.table("m")
then = spark.read.option("versionAsOf", 1).table("m")""",
}
"""The same in PySpark: the rows of each DataFrame that a block leaves."""


def statements() -> dict[str, str]:
    """Number -> statement, in their order."""
    return {str(n): s.strip() for n, s in enumerate(re.split(r";\n", TEXT)) if s.strip()}


def told(statement: str, rows: list[Any]) -> Any:
    """What of an answer is compared: rows; of DESCRIBE the columns' names; of other statements that they were taken."""
    if statement.startswith(("DESCRIBE DATABASE", "SHOW CREATE", "SHOW TBLPROPERTIES a", "SET ")):
        return "taken"
    if statement.startswith("DESCRIBE"):
        return sorted(row[0] for row in rows)
    asks = isinstance(parse(statement)[0], Query | Call) or statement.startswith("SHOW")
    return sorted(rows, key=repr) if asks else "taken"


def answer(wb: paimon_nb.Workbench, statement: str) -> Any:
    """What is compared of our own answer; an error as its text."""
    try:
        result = wb.run(statement)
        if result.frame is not None:
            rows = [plain(tuple(r)) for r in result.frame.collect()]
        else:
            rows = [plain(tuple(r.values())) for r in result.arrow.to_pylist()]
    except PaimonError as error:
        return str(error)
    return told(statement, rows)


def left(wb: paimon_nb.Workbench, block: str) -> list[Any]:
    """The rows of the DataFrames that a block of Python leaves, by name."""
    scope: dict[str, Any] = {"spark": wb.spark}
    exec(block, scope)
    return [[k, sorted((plain(tuple(r)) for r in scope[k].collect()), key=repr)] for k in ("out", "then") if k in scope]


def compare(wb: paimon_nb.Workbench, first: int | None = None) -> Iterator[tuple[str, Any, Any]]:
    """Each statement that Spark takes, its answer and ours; all in one session in their order. first: how many, and no blocks."""
    answers = json.loads(ANSWERS.read_text())
    for key, statement in list(statements().items())[:first]:
        ours = answer(wb, statement)
        if answers[key]["took"] and not {key, statement} & OTHERWISE.keys():
            yield statement, told(statement, answers[key]["rows"]), ours
    for key, block in BLOCKS.items() if first is None else ():
        ours = left(wb, block)
        if answers[key]["took"] and key not in OTHERWISE:
            yield key, answers[key]["rows"], ours


if __name__ == "__main__":
    if sys.argv[1] == "steps":
        steps: list[dict[str, str]] = [{"catalog": "paimon", "warehouse": f"{sys.argv[2]}/statements"}]
        asked = [{"key": k, "text": s} for k, s in statements().items()]
        print(json.dumps([*steps, *asked, *({"key": k, "python": s, "whole": "yes"} for k, s in BLOCKS.items())]))
    elif sys.argv[1] == "compare":
        same = count = 0
        with tempfile.TemporaryDirectory() as place:
            for what, theirs, ours in compare(paimon_nb.connect(f"{place}/w")):
                same, count = same + (theirs == ours), count + 1
                if theirs != ours:
                    print(f"not equal: {what}\n  there: {theirs}\n  here:  {ours}", flush=True)
        print(*(f"otherwise: {k}: {why}" for k, why in OTHERWISE.items()), f"{same} of {count} equal", sep="\n")
