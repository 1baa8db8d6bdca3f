"""Tables that track their rows: a compaction keeps each row's id and sequence number, as columns of the new file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from write_kit import make_table, put, rows_of

from paimon_nb.table.read import plan_scan
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.tables.table import Table

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = {"k": "INT", "v": "STRING", "p": "INT"}


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
def test_ids_are_kept(tmp_path: Path, file_format: str) -> None:
    options = {"bucket": "-1", "row-tracking.enabled": "true", "file.format": file_format}
    store = make_table(f"{tmp_path}/t", COLUMNS, [], ["p"], **options)
    for keys in ([1, 2], [3], [4]):
        put(store, [{"k": k, "v": f"v{k}", "p": 0} for k in keys])
    table = Table(store)

    def tracked() -> list[tuple[int, int, int]]:
        return sorted((r["k"], r["_ROW_ID"], r["_SEQUENCE_NUMBER"]) for r in table.system("row_tracking").to_pylist())

    before = tracked()
    assert before == [(1, 0, 1), (2, 1, 1), (3, 2, 2), (4, 3, 3)]
    assert table.compact() == [4]
    assert tracked() == before
    put(store, [{"k": 5, "v": "v5", "p": 0}])
    assert tracked() == [*before, (5, 4, 5)]
    assert table.compact() == [6]  # files that hold their ids, and one that does not
    assert tracked() == [*before, (5, 4, 5)]

    [entry] = live_entries(store, store.latest())
    assert entry.file.write_cols == ("k", "v", "p", "_ROW_ID", "_SEQUENCE_NUMBER")
    assert (entry.file.first_row_id, entry.file.min_sequence, entry.file.max_sequence) == (None, 1, 5)
    [told] = table.system("files").to_pylist()
    assert (told["min_value_stats"], told["max_value_stats"]) == ("{k=1, p=0, v=v1}", "{k=5, p=0, v=v5}")
    assert sorted(r["k"] for r in rows_of(store)) == [1, 2, 3, 4, 5]
    assert [r["k"] for r in table.to_arrow(where="k > 4").to_pylist()] == [5]
    assert plan_scan(store.refreshed(), where="k > 5").splits == ()
