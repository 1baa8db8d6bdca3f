"""A merge-on-read table much larger than the memory it is read in.

`PAIMON_NB_LARGE_GB` is its size, 1 GB by default, `PAIMON_NB_LARGE_FILES` the number of its files: 20 GB in 100 files have rows of 0.8 KB.
A copy needs as much room again: `PAIMON_NB_LARGE_GB=20 PAIMON_NB_LARGE_FILES=100 pytest tests/table/read/test_large_reads.py --basetemp FOLDER`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.nightly

GIGABYTES = float(os.environ.get("PAIMON_NB_LARGE_GB", "1"))
BUCKETS = 4
WRITES = max(2, int(os.environ.get("PAIMON_NB_LARGE_FILES", "40")) // BUCKETS)
ROWS = 1_000_000
"""In one write."""
NOTE_BYTES = max(8, round((GIGABYTES * 1e9 / WRITES / ROWS - 12) * 8 / 7))
"""The numbers of a row take 12 bytes of a file. Seven of eight bits of a note are random: compression leaves seven eighths."""
ALLOWED_MB = 600

_HEAD = """
import sys
import numpy as np, pyarrow as pa
import paimon_nb
wb = paimon_nb.connect(sys.argv[1])
count = int(sys.argv[2])
"""
_MAKE = """
wb.run("CREATE TABLE source (id BIGINT, n INT, x DOUBLE, note STRING, PRIMARY KEY (id) NOT ENFORCED) "
       "WITH ('bucket' = '{buckets}', 'write-only' = 'true', 'write-buffer-size' = '4 gb', 'target-file-size' = '4 gb')")
chance = np.random.default_rng(1)
for turn in range(count):
    # Three quarters of the keys are new, the others update keys of the writes before.
    ids = pa.array(np.arange({rows}) + turn * {rows} * 3 // 4)
    texts = np.frombuffer(chance.bytes({rows} * {note_bytes}), "u1") & 127
    ends = np.arange({rows} + 1, dtype="int32") * {note_bytes}
    notes = pa.StringArray.from_buffers({rows}, pa.py_buffer(ends), pa.py_buffer(texts))
    numbers = pa.array(chance.integers(0, 1000, {rows}).astype("int32"))
    wb.table("source").append(pa.table({{"id": ids, "n": numbers, "x": chance.random({rows}), "note": notes}}))
"""
_STEPS = {
    "read": "found = sum(b.num_rows for b in wb.table('source').to_batches())",
    "filter": "found = sum(b.num_rows for b in wb.table('source').where('n < 10').to_batches())",
    "count": "found = wb.table('source').count()",
    "copy": """
wb.run("CREATE TABLE target (id BIGINT, n INT, x DOUBLE, note STRING) WITH ('bucket' = '-1')")
wb.table("target").append(wb.table("source"))
found = wb.table("target").count()
wb.run("DROP TABLE target")
""",
    "copy by key": """
wb.run("CREATE TABLE keyed (id BIGINT, n INT, x DOUBLE, note STRING, PRIMARY KEY (id) NOT ENFORCED) "
       "WITH ('bucket' = '4', 'write-buffer-size' = '64 mb')")
wb.table("keyed").append(wb.table("source"))
found = wb.table("keyed").count()
wb.run("DROP TABLE keyed")
""",
}
_TAIL = "\nprint(found, next(int(l.split()[1]) for l in open('/proc/self/status') if l.startswith('VmHWM')) // 1024)"
"""`ru_maxrss` begins with the memory of the process that started this one."""


def run(text: str, warehouse: Path) -> list[int]:
    done = subprocess.run([sys.executable, "-c", text, str(warehouse), str(WRITES)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    run(_HEAD + _MAKE.format(rows=ROWS, buckets=BUCKETS, note_bytes=NOTE_BYTES), folder)
    return folder


@pytest.mark.parametrize("step", _STEPS)
def test_a_table_is_read_and_copied_in_bounded_memory(warehouse: Path, step: str, capsys) -> None:
    rows = ROWS + (WRITES - 1) * ROWS * 3 // 4
    found, megabytes = run(_HEAD + _STEPS[step] + _TAIL, warehouse)
    sizes = [f.stat().st_size for f in (warehouse / "default.db" / "source").rglob("*.parquet")]
    with capsys.disabled():
        print(f"\n  {step}: {found} rows of {sum(sizes) / 1e9:.1f} GB in {len(sizes)} files within {megabytes} MB")
    assert len(sizes) == WRITES * BUCKETS
    assert found == pytest.approx(rows / 100, rel=0.1) if step == "filter" else found == rows
    assert megabytes <= ALLOWED_MB
