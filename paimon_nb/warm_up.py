"""Creates the class-data archive of Spark (`spark/runtime/jvm_cds.py`) by running typical statements."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

from paimon_nb.base.errors import EnvironmentError_, PaimonError
from paimon_nb.spark.runtime.java import find_java
from paimon_nb.spark.runtime.jvm_cds import archive_classes_option, class_archive_path

_STATEMENTS = """
CREATE TABLE plain (k INT, v STRING, d DOUBLE, at TIMESTAMP);
INSERT INTO plain SELECT CAST(id AS INT), concat('v', id), id / 3, current_timestamp() FROM range(20000);
CREATE TABLE keyed (k INT, v STRING, n INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1');
INSERT INTO keyed SELECT CAST(id AS INT), concat('v', id), 1 FROM range(100);
UPDATE keyed SET n = (SELECT MAX(k) FROM plain) WHERE k % 2 = 0;
DELETE FROM keyed WHERE k IN (SELECT k FROM plain WHERE d > 30);
MERGE INTO keyed USING (SELECT k, v FROM plain WHERE k > 80 AND k < 120) AS s ON keyed.k = s.k
  WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (k, v, n) VALUES (s.k, s.v, 0)
"""
_QUERY = """
WITH firsts AS (SELECT k, row_number() OVER (PARTITION BY k % 7 ORDER BY d DESC) AS place FROM plain WHERE v LIKE 'v1%')
SELECT keyed.n, count(*) AS c, avg(p.d) AS mean, max(p.at) AS newest FROM keyed JOIN plain p ON keyed.k = p.k
LEFT JOIN firsts ON firsts.k = p.k GROUP BY keyed.n HAVING count(*) > 0 ORDER BY c
"""


def warm_up() -> Path:
    """Create the archive unless it exists. Takes up to a minute and 150 MB of the user's cache folder.

    Raises:
        EnvironmentError_: no Java, class-data sharing is not supported, or Spark did not start.
    """
    target = class_archive_path(find_java())
    if target.is_file():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    made = target.with_name(f"{target.stem}.{uuid.uuid4().hex[:8]}")
    archive_classes_option(made)
    try:
        # A separate process: the JVM writes the archive when it exits.
        done = subprocess.run(
            [sys.executable, "-m", "paimon_nb.warm_up", str(made)], capture_output=True, text=True, check=False
        )
        if not made.is_file():
            raise EnvironmentError_(
                f"Spark's classes could not be cached: {(done.stderr.strip().splitlines() or ['the JVM wrote no archive'])[-1]}",
                hint="Spark works without the cache; paimon-nb doctor checks Java and PySpark",
            )
        made.rename(target)
    finally:
        made.unlink(missing_ok=True)
    return target


def _run_and_keep(made: Path) -> None:
    import paimon_nb
    from paimon_nb.spark.runtime import jvm_bridge
    from paimon_nb.spark.runtime.session import end_jvm

    conf = {"spark.driver.extraJavaOptions": archive_classes_option(made)}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with paimon_nb.connect(f"{folder}/w", spark_conf=conf) as wb:
            wb.run(_STATEMENTS)
            wb.sql(_QUERY).toPandas()
            gateway = jvm_bridge.py4j_gateway(wb.spark)
        end_jvm(gateway, patience_s=600)


if __name__ == "__main__":
    try:
        _run_and_keep(Path(sys.argv[1]))
    except PaimonError as error:
        sys.exit(error.message)
