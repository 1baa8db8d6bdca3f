"""The names of a snapshot's live files, read by columns, are those of its merged entries."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

import paimon_nb
from paimon_nb.table.read.live_files import live_entries, live_file_names

if TYPE_CHECKING:
    from pathlib import Path

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.tables.table import Table


def new_table(tmp_path: Path, definition: str) -> Table:
    with paimon_nb.connect(tmp_path / "w") as wb:
        wb.run(f"CREATE TABLE t {definition}")
        return wb.table("t")


def rows(first: int, count: int) -> pa.Table:
    return pa.table({"id": pa.array(range(first, first + count), pa.int64()), "v": ["x"] * count})


def names_of_entries(table: Table, snapshot: Snapshot) -> set[str]:
    files = [e.file for e in live_entries(table.store, snapshot)]
    return {name for f in files for name in (f.file_name, *f.extra_files)}


def test_a_file_that_moved_to_another_level_is_live_and_a_merged_one_is_not(tmp_path: Path) -> None:
    table = new_table(
        tmp_path, "(id BIGINT PRIMARY KEY NOT ENFORCED, v STRING) WITH ('bucket' = '1', 'write-only' = 'true')"
    )
    for first in (0, 5, 50):
        table.append(rows(first, 10))
        table.compact()
    snapshots = table.store.snapshots.all()
    found = [live_file_names(table.store, s) for s in snapshots]
    assert found == [names_of_entries(table, s) for s in snapshots]
    assert found[0] == found[1]  # the first compaction moved the file
    assert found[2].isdisjoint(found[3])  # the second one merged two files


def test_sidecars_are_in_use_also_in_large_manifests(tmp_path: Path) -> None:
    indexed = "'file-index.bloom-filter.columns' = 'id', 'file-index.in-manifest-threshold' = '1 b'"
    table = new_table(tmp_path, f"(id BIGINT, v STRING) WITH ({indexed}, 'write-only' = 'true')")
    with table.write() as writing:
        writing.write(rows(0, 3))
        (made,) = writing.prepare_commit()
    (file,) = made.new_files
    assert file.extra_files
    # Manifests of so many entries are read by columns.
    more = tuple(replace(file, file_name=f"data-{i}.parquet", extra_files=()) for i in range(2_000))
    table.commit().commit([replace(made, new_files=(file, *more))])
    snapshot = table.latest_snapshot()
    assert snapshot is not None
    found = live_file_names(table.store, snapshot)
    assert found == names_of_entries(table, snapshot)
    assert set(file.extra_files) < found
    assert len(found) == 2_002
