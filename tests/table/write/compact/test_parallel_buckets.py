"""Large buckets are compacted several at a time: the same rows, and nothing left behind when one of them fails."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from paimon_nb.base.errors import CorruptFile
from paimon_nb.workbench import connect

BUCKETS = 4


@pytest.fixture
def table(tmp_path: Path):
    wb = connect(str(tmp_path))
    wb.run(f"CREATE TABLE t (k BIGINT, v BYTES, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '{BUCKETS}', 'write-only' = 'true')")  # fmt: skip
    chance = np.random.default_rng(1)
    for n in range(2):
        values = [chance.bytes(100) for _ in range(15_000)]
        wb.table("t").upsert(pa.table({"k": range(n * 7_000, n * 7_000 + 15_000), "v": values}))
    return wb.table("t").copy({"write-only": "false"})


def stored(table) -> set[str]:
    return {str(p) for p in Path(table.path).glob("bucket-*/*")}


def test_the_same_rows_in_one_file_a_bucket(table):
    before = table.to_arrow().sort_by("k")
    table.compact()
    assert sorted(zip(*[table.files().column(c).to_pylist() for c in ("bucket", "level")], strict=True)) == [(b, 5) for b in range(BUCKETS)]  # fmt: skip
    assert table.to_arrow().sort_by("k").equals(before)


def test_what_other_buckets_wrote_goes_when_one_fails(table):
    broken = next(Path(table.path).glob("bucket-2/*.parquet"))
    whole = broken.read_bytes()
    broken.write_bytes(whole[: len(whole) // 2])
    before, snapshot = stored(table), table.latest_snapshot()
    with pytest.raises(CorruptFile, match=broken.name):
        table.compact()
    assert (stored(table), table.latest_snapshot()) == (before, snapshot)
    broken.write_bytes(whole)
    table.compact()
    assert table.to_arrow().num_rows == 22_000
