"""Full compaction of six runs a bucket. The limit: pyarrow reads the same files and writes them back, merging nothing."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.data import checksum
from benchmarks.harness import OURS, Contender, Work

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.stage import Stage

PYARROW = "pyarrow read and write"


def contenders(stage: Stage) -> Iterator[Contender]:
    source = stage.with_runs
    files = stage.data_files(source)
    target = [""]

    def fresh() -> None:
        target[0] = stage.copy(source)

    def compact() -> str:
        stage.table(target[0]).copy({"write-only": "false"}).compact()
        return target[0]

    def rewrite() -> None:
        directory = stage.path("rewritten")
        Path(directory).mkdir(parents=True)

        def bucket(number: int) -> None:
            rows = pa.concat_tables([pq.read_table(f) for f in files[number]])
            pq.write_table(rows, f"{directory}/{number}.parquet", compression="zstd", row_group_size=1 << 20)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(bucket, range(len(files))))

    def same(name: str) -> object:
        assert all(level > 0 for level in stage.table(name).files().column("level").to_pylist())
        rows = checksum(stage.table(name).to_arrow())
        assert rows == checksum(stage.table(source).to_arrow())
        return rows

    yield Contender(OURS, compact, fresh, check=same)
    yield Contender(PYARROW, rewrite, check=None)


WORKS = [Work("compact-full", "Full compaction, 6 runs a bucket", contenders, {PYARROW: 2.0}, rows=1.5)]
