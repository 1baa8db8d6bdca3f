"""Kafka -> Paimon -> lookup join -> Paimon, and Kafka -> Kafka, as jobs that somebody starts again whenever one fails.

`python tests/connectors/kafka_job.py FOLDER BROKER SOURCE SINK` runs them until it is killed or the process that began it is
gone; SINK is a topic, or - for none.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import Any

import paimon_nb

TABLES = """
CREATE TABLE records (id BIGINT, k INT, v BIGINT);
CREATE TABLE names (k INT PRIMARY KEY NOT ENFORCED, name STRING) WITH ('bucket' = '1');
CREATE TABLE sums (name STRING PRIMARY KEY NOT ENFORCED, n BIGINT, total BIGINT) WITH ('bucket' = '1',
    'merge-engine' = 'aggregation', 'fields.n.aggregate-function' = 'sum', 'fields.total.aggregate-function' = 'sum')
"""
KEPT = "INSERT INTO records SELECT id, k, v FROM source"
JOINED = (
    "INSERT INTO sums SELECT n.name, 1, r.v FROM (SELECT *, PROCTIME() AS at FROM records) AS r "
    "JOIN names FOR SYSTEM_TIME AS OF r.at AS n ON r.k = n.k"
)
PASSED_ON = "INSERT INTO sink SELECT id, k, v FROM source"


class Jobs:
    """The statements, each as the job that runs it now."""

    def __init__(self, wb: paimon_nb.Workbench, location: str, broker: str, source: str, sink: str) -> None:
        self.wb = wb
        wb.run(f"""
            CREATE TABLE source (id BIGINT, k INT, v BIGINT) WITH ('connector' = 'kafka', 'topic' = '{source}', 'format' = 'json',
                'properties.bootstrap.servers' = '{broker}', 'scan.startup.mode' = 'earliest-offset', 'scan.max-records' = '400');
            CREATE TABLE sink (id BIGINT, k INT, v BIGINT) WITH ('connector' = 'kafka', 'topic' = '{sink}', 'format' = 'json',
                'properties.bootstrap.servers' = '{broker}', 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '{sink}');
            SET 'execution.runtime-mode' = 'streaming'; SET 'execution.checkpointing.interval' = '50 ms';
            SET 'execution.checkpointing.dir' = '{location}/checkpoints'
        """)
        self.running: dict[str, Any] = {
            text: wb.sql(text) for text in (KEPT, JOINED, *([PASSED_ON] if sink != "-" else ()))
        }
        self.again = 0

    def mend(self) -> None:
        """Run again what failed. A statement may fail at once, as long as what was killed is not there again."""
        for text, job in self.running.items():
            if not job.isActive:
                print("FAILED:", text[:17], job.error, flush=True)
                with contextlib.suppress(paimon_nb.EngineError):
                    self.running[text] = self.wb.sql(text)
                    self.again += 1


if __name__ == "__main__":
    location, *told = sys.argv[1:]
    parent = os.getppid()
    conf = {"spark.master": "local[2, 4]", "spark.sql.shuffle.partitions": "2", "spark.driver.memory": "1g"}
    jobs = Jobs(paimon_nb.connect(f"{location}/w", spark_conf=conf), location, *told)
    while os.getppid() == parent:
        time.sleep(0.1)
        jobs.mend()
