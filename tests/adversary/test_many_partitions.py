"""A write to more partitions than files may be open. Each case runs in a process of its own with few descriptors."""

from __future__ import annotations

import subprocess
import sys

import pytest
from sampling import sampled

TABLES = {
    "append": "CREATE TABLE p (id INT, pt INT) PARTITIONED BY (pt)",
    "fixed buckets": "CREATE TABLE p (id INT, pt INT) PARTITIONED BY (pt) WITH ('bucket' = '1', 'bucket-key' = 'id')",
    "blobs": "CREATE TABLE p (id INT, pt INT, b BLOB) PARTITIONED BY (pt) WITH ('bucket' = '-1', "
    "'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true')",
    "primary key": "CREATE TABLE p (id INT, pt INT, PRIMARY KEY (id, pt) NOT ENFORCED) PARTITIONED BY (pt) "
    "WITH ('bucket' = '1')",
    "csv": "CREATE TABLE p (id INT, pt INT) USING csv PARTITIONED BY (pt)",
}
WRITE = """
import resource, sys
import pyarrow as pa
import paimon_nb

table, partitions, descriptors, warehouse = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
wb = paimon_nb.connect(warehouse)
wb.run(table)
resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
rows = pa.table({"id": range(3 * partitions), "pt": [i % partitions for i in range(3 * partitions)]})
if "BLOB" in table:
    rows = rows.append_column("b", pa.array([b"%d" % i for i in range(len(rows))]))
with wb.table("p").write() as write:
    for start in range(0, len(rows), partitions // 2):  # most partitions get their rows in several batches
        write.write(rows.slice(start, partitions // 2))
    wb.table("p").commit().commit(write.prepare_commit())
found = wb.table("p").to_arrow()
per_partition = {}
for id, pt in zip(found["id"].to_pylist(), found["pt"].to_pylist()):
    per_partition.setdefault(pt, []).append(id)
assert per_partition == {p: [p, p + partitions, p + 2 * partitions] for p in range(partitions)}
print(len(wb.table("p").files()) if "USING" not in table else partitions)
"""


def write(kind: str, partitions: int, descriptors: int, warehouse: str) -> int:
    """Write three rows to each of many partitions. Returns the number of data files."""
    arguments = [TABLES[kind], str(partitions), str(descriptors), warehouse]
    done = subprocess.run([sys.executable, "-c", WRITE, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.parametrize("kind", sampled(["append", "blobs", "csv"], 3))
def test_more_partitions_than_open_files(kind, tmp_path):
    files = 2 if kind == "blobs" else 1
    assert write(kind, 150, 100, str(tmp_path / "w")) == 150 * files


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["append", "fixed buckets", "primary key", "csv"])
def test_20000_partitions_at_256_descriptors(kind, tmp_path):
    assert write(kind, 20_000, 256, str(tmp_path / "w")) == 20_000
