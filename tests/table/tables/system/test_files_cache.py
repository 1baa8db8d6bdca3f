"""`$files` of the newest snapshot is kept from one asking to the next, and never that of another moment, schema or table."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.format.manifest import DataFile
from paimon_nb.format.row import serialize
from paimon_nb.table.write.commit import CommitMessage
from paimon_nb.workbench import connect

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_told_again_is_what_is_there_now(tmp_path: Path) -> None:
    wb = connect(str(tmp_path))

    def asked() -> tuple[list[int], list[str], list[str]]:
        files = wb.table("t").files()
        return tuple(files.column(c).to_pylist() for c in ("record_count", "min_value_stats", "file_path"))  # type: ignore[return-value]

    def put(table: str, *ks: int) -> None:
        wb.table(table).upsert(pa.table({"k": pa.array(ks, pa.int64()), "v": ["x"] * len(ks)}))

    options = "('bucket' = '1', 'write-only' = 'true')"
    wb.run(f"CREATE TABLE t (k BIGINT, v STRING, PRIMARY KEY (k) NOT ENFORCED) WITH {options}")
    assert asked() == ([], [], [])
    put("t", 1, 2)
    first = asked()
    assert (first[0], first[1], asked()) == ([2], ["{k=1, v=x}"], first)

    put("t", 3)
    assert sorted(asked()[0]) == [1, 2]
    assert wb.table("t").files(snapshot=1).column("record_count").to_pylist() == [2]

    wb.run("ALTER TABLE t RENAME COLUMN v TO w")
    assert sorted(asked()[1]) == ["{k=1, w=x}", "{k=3, w=x}"]

    before = asked()
    wb.run("DROP TABLE t")
    wb.run(f"CREATE TABLE t (k BIGINT, w STRING, PRIMARY KEY (k) NOT ENFORCED) WITH {options}")
    assert asked() == ([], [], [])
    wb.table("t").upsert(pa.table({"k": pa.array([7], pa.int64()), "w": ["y"]}))
    assert (asked()[:2], set(asked()[2]) & set(before[2])) == (([1], ["{k=7, w=y}"]), set())


def test_no_object_per_file_stays_after_files_were_listed(tmp_path: Path) -> None:
    """A million of them take 2 GB."""
    wb = connect(str(tmp_path))
    wb.run("CREATE TABLE t (p INT, k BIGINT, PRIMARY KEY (p, k) NOT ENFORCED) PARTITIONED BY (p) WITH ('bucket' = '1')")
    table = wb.table("t")
    with table.write() as writing:
        writing.write(pa.table({"p": pa.array([0], pa.int32()), "k": [1]}))
        (real,) = writing.prepare_commit()
    types, (pattern,) = [table.schema.field("p").type], real.new_files
    names = {p: [f"data-{p}-{i}.parquet" for i in range(500)] for p in range(6)}
    for first in (0, 3):
        files = {p: tuple(replace(pattern, file_name=name) for name in names[p]) for p in range(first, first + 3)}
        table.commit().commit([CommitMessage(serialize(types, (p,)), 0, 1, new_files=f) for p, f in files.items()])
    del files

    before = _data_files_in_memory()
    listed = wb.table("t").files()

    assert _data_files_in_memory() - before < 500
    found = [path.split("/")[-3:] for path in listed.column("file_path").to_pylist()]
    assert found == [[f"p={p}", "bucket-0", name] for p in names for name in names[p]]
    assert wb.table("t").system("file_key_ranges").column("file_path") == listed.column("file_path")


def _data_files_in_memory() -> int:
    gc.collect()
    return sum(type(item) is DataFile for item in gc.get_objects())
