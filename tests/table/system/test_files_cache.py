"""`$files` of the newest snapshot is kept from one asking to the next, and is never told of another moment, schema or table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

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
