"""Tables with many files in their metadata and none on disk: what a picture costs depends on the metadata alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa


def write_many(wb: Any, name: str, files: int, snapshots: int = 12) -> None:
    """A key table of one bucket: `files` files, most of them in L5 and L4, and some snapshots that each add one to level 0.

    The files are copies in name only of one that was really written, so their rows cannot be read.
    """
    from paimon_nb.format.row import EMPTY_ROW, serialize
    from paimon_nb.table.write.commit import CommitMessage

    wb.run(
        f"CREATE TABLE {name} (id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')"
    )
    table = wb.table(name)
    table.upsert(pa.table({"id": pa.array(range(100), pa.int64()), "v": ["x"] * 100}))
    with table.write() as writing:
        writing.write(pa.table({"id": pa.array([1], pa.int64()), "v": ["x"]}))
        (made,) = writing.prepare_commit()
    pattern = made.new_files[0]
    types = [table.schema.field("id").type]

    def file(number: int, level: int, low: int, high: int) -> Any:
        return replace(
            pattern, file_name=f"data-{name}-{number}-0.parquet", file_size=1 << 20, row_count=10_000, level=level,
            min_key=serialize(types, (low,)), max_key=serialize(types, (high,)), min_sequence=number, max_sequence=number,
        )  # fmt: skip

    deep = files * 3 // 4
    step = 1000
    upper = [file(i, 5, i * step, i * step + step - 1) for i in range(deep)]
    wide = step * deep // max(1, files - deep)
    upper += [file(deep + i, 4, i * wide, i * wide + wide - 1) for i in range(files - deep)]
    commit = lambda some: table.commit().commit([CommitMessage(EMPTY_ROW, 0, 1, new_files=tuple(some))])  # noqa: E731
    commit(upper)
    for i in range(snapshots - 2):
        low = (i * 7919) % max(1, deep) * step
        commit([file(files + i, 0, low, low + 200 * step)])


def append_many(wb: Any, name: str, files: int) -> None:
    """A table without keys (`id BIGINT, v STRING`) of so many files."""
    from paimon_nb.format.row import EMPTY_ROW
    from paimon_nb.table.write.commit import CommitMessage

    table = wb.table(name)
    with table.write() as writing:
        writing.write(pa.table({"id": pa.array([1], pa.int64()), "v": ["x"]}))
        (made,) = writing.prepare_commit()
    (pattern,) = made.new_files
    some = tuple(replace(pattern, file_name=f"data-{name}-{i}-0.parquet", file_size=1000 + i % 7) for i in range(files))
    table.commit().commit([CommitMessage(EMPTY_ROW, made.bucket, made.total_buckets, new_files=some)])
