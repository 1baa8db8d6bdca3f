"""Real Java Paimon reads tables after UPDATE, DELETE and MERGE INTO: new files, deletion vectors and retractions."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import paimon_nb
from paimon_nb.engine.session import spark_session, stop

sys.path.insert(0, str(Path(__file__).parents[1] / "session"))
from change_kit import KINDS, SCRIPT, SOURCE, Mirror, create

pytestmark = [pytest.mark.java, pytest.mark.spark]
MERGE = """MERGE INTO t USING (SELECT id, n FROM s UNION ALL SELECT 45, 5) AS y ON t.id = y.id
    WHEN MATCHED AND y.n > 1000 THEN DELETE WHEN MATCHED THEN UPDATE SET v = 'merged', n = y.n
    WHEN NOT MATCHED THEN INSERT (id, v, n, p) VALUES (y.id, 'new', y.n, 'a') WHEN NOT MATCHED BY SOURCE AND t.id = 41 THEN DELETE"""
AS_SQLITE = [
    "DELETE FROM t WHERE id = 41",
    "INSERT INTO t SELECT id, 'new', n, 'a' FROM s WHERE id NOT IN (SELECT id FROM t)",
    "UPDATE t SET v = 'merged', n = 5 WHERE id = 45",
]
"""The same as MERGE above, for the rows that SCRIPT leaves: none of them is in s."""


def test_java_reads_changed_tables(shared, tmp_path):
    spark = spark_session(conf={"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2"})
    try:
        wb = paimon_nb.connect(str(tmp_path), spark=spark)
        wb.run(f"CREATE DATABASE w; USE w; {'; '.join(SOURCE)}")
        for kind in KINDS:
            mirror = Mirror()
            wb.run(create("t", kind))
            for text in SCRIPT:
                wb.run(text)
                mirror.run(text)
            wb.run(MERGE)
            for text in AS_SQLITE:
                mirror.run(text)
            wb.run(f"ALTER TABLE t RENAME TO {kind}")
            rows = [dict(zip(("id", "v", "n", "p"), r, strict=True)) for r in mirror.rows()]
            (tmp_path / f"w.db/{kind}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    finally:
        stop(spark)
    check = shared / "oracle" / "read_check.py"
    done = subprocess.run(
        [sys.executable, str(check), str(tmp_path), "--only", "^(key|plain|marked)"],
        capture_output=True,
        text=True,
        check=False,
    )
    verdicts = [line for line in done.stdout.splitlines() if not line.startswith("NOEXPECT")]
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert verdicts[-1] == f"SUMMARY {{'equal': {len(KINDS)}}}", done.stdout
