"""Merging and compacting a bucket takes memory by the runs that meet and `write-buffer-size`, not by the rows there are."""

from __future__ import annotations

import random
import subprocess
import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from write_kit import make_table, put

from paimon_nb.table.lsm.key_chunks import LevelFiles
from paimon_nb.table.read import plan_scan, read_split
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.write.bucket_compact.sorted_run_reader import read_run, rows_per_piece

if TYPE_CHECKING:
    from pathlib import Path

ALLOWED = 14_000_000
RUNS, ROWS = 5, 200_000
STEPS = {
    "write": """
import numpy as np
from paimon_nb.table.write.commit import TableCommit
from paimon_nb.table.write import TableWrite
for turn in range({runs}):
    chance, total = np.random.default_rng(turn), 0
    with TableWrite(store) as writing:
        for start in range(0, {rows}, 20_000):
            keys = pa.array(chance.permutation(20_000) + start)
            rows = pa.table({{"k": keys, "v": pa.array([f"{{turn}}-{{n:060d}}" for n in keys.to_pylist()])}})
            total += rows.nbytes
            writing.write(rows)
        messages = writing.prepare_commit()
    TableCommit(store).commit(messages)
print(total * {runs})
""",
    "compact": """
from paimon_nb.table.tables.table import Table
Table(store.copy({{"write-only": "false"}})).compact()
""",
}
HEAD = """
import pyarrow as pa
from paimon_nb.fs import LocalFileIO
from paimon_nb.table.read.store import TableStore
store = TableStore.open(LocalFileIO(), {root!r})
"""


def step(name: str, root: str) -> tuple[int, list[str]]:
    """(most bytes that Arrow held at once in a process of its own, what it said)."""
    text = (HEAD + STEPS[name] + "\nprint(pa.default_memory_pool().max_memory())").format(
        root=root, runs=RUNS, rows=ROWS
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *said, most = done.stdout.split()
    return int(most), said


@pytest.mark.nightly
@pytest.mark.parametrize(("kind", "buckets"), [("parquet", 1), ("orc", 1), ("avro", 1), ("parquet", 4)])
def test_buckets_five_times_larger_than_what_is_allowed(kind: str, buckets: int, tmp_path: Path, capsys) -> None:
    """Several are compacted side by side, within the same memory."""
    options = {
        "bucket": str(buckets),
        "write-only": "true",
        "write-buffer-size": "2 mb",
        "file.block-size": "1 mb",
        "file.format": kind,
    }
    store = make_table(f"{tmp_path}/t", {"k": "BIGINT", "v": "STRING"}, ["k"], **options)
    most_writing, [size] = step("write", store.root)
    assert int(size) >= 5 * ALLOWED
    most, _ = step("compact", store.root)
    with capsys.disabled():
        print(
            f"\n  {kind}: {int(size) / 1e6:.0f} MB written within {most_writing / 1e6:.1f} MB, merged within {most / 1e6:.1f} MB"
        )
    open_files = 2 if buckets > 1 else 1  # files that are being written hold a block each
    assert (most_writing < ALLOWED * open_files, most < ALLOWED) == (True, True), (most_writing, most)
    assert [e.file.level for e in live_entries(store, store.latest())] == [5] * buckets
    plan = plan_scan(store.refreshed())
    rows = pa.concat_tables([read_split(plan.store, s) for s in plan.splits])
    assert rows.num_rows == ROWS
    assert {v[:2] for v in rows["v"].to_pylist()[:: ROWS // 100]} == {f"{RUNS - 1}-"}


def test_what_is_read_at_a_time_follows_the_buffer(tmp_path: Path) -> None:
    """Wide rows: 20 MB of them, in pieces that fit five times into what a merge of two runs may take."""
    store = make_table(
        f"{tmp_path}/t", {"k": "BIGINT", "v": "BYTES"}, ["k"], bucket="1", **{"write-buffer-size": "32 mb"}
    )
    chance = random.Random(1)
    put(store, [{"k": k, "v": chance.randbytes(5_000)} for k in range(4_000)])
    [entry] = live_entries(store, store.latest())
    for buffer, most in ((32 << 20, 2_000), (256 << 20, 4_000)):
        small = store.copy({"write-buffer-size": f"{buffer} b"})
        assert rows_per_piece(small, entry.file, 1 / 2) <= most
        pieces = list(read_run(small, entry.partition, 0, LevelFiles(0, (entry.file,)), None, 1 / 2))
        assert sum(p.num_rows for p in pieces) == 4_000
        assert max(p.nbytes for p in pieces) * 2 * 2 < buffer, buffer
