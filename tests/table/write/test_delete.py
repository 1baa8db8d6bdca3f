"""Table.delete: by keys it does what DELETE does, and where it cannot it says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from write_kit import make_table

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.table.tables.table import Table

if TYPE_CHECKING:
    from pathlib import Path

ROWS = pa.table({"k": [1, 2], "v": [10, 20], "a": [[1], [2]]})


def made(tmp_path: Path, v: str = "INT", **options: str) -> Table:
    table = Table(make_table(f"{tmp_path}/t", {"k": "INT", "v": v, "a": "ARRAY<INT>"}, ["k"], bucket="1", **options))
    table.upsert(ROWS)
    return table


SETTINGS = {
    "plain": {},
    "sequence field": {"sequence.field": "v"},
    "deletion vectors": {"deletion-vectors.enabled": "true"},
    "aggregation": {
        "merge-engine": "aggregation",
        "fields.v.aggregate-function": "sum",
        "aggregation.remove-record-on-delete": "true",
    },
    "partial update": {"merge-engine": "partial-update", "partial-update.remove-record-on-delete": "true"},
}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("keys", [pa.table({"k": [1, 7]}), "k = 1"], ids=["keys", "condition"])
def test_deleted_rows_are_gone(tmp_path, setting, keys):
    table = made(tmp_path, **SETTINGS[setting])
    table.delete(keys)
    assert table.to_arrow(["k", "v"]).to_pylist() == [{"k": 2, "v": 20}]


def test_rows_with_columns_that_are_not_null_and_nested_ones(tmp_path):
    table = made(tmp_path, v="INT NOT NULL")
    table.delete(pa.table({"k": [1]}))
    assert table.to_arrow().to_pylist() == ROWS.slice(1).to_pylist()


def test_the_changelog_tells_the_whole_row(tmp_path):
    table = made(tmp_path, **{"changelog-producer": "input"})
    table.delete(pa.table({"k": [1]}))
    between = {"incremental-between": "1,2", "incremental-between-scan-mode": "changelog"}
    assert table.system("audit_log", options=between).to_pylist() == [{"rowkind": "-D", "k": 1, "v": 10, "a": [1]}]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"merge-engine": "aggregation"}, "aggregation does not support DELETE"),
        ({"merge-engine": "partial-update"}, "partial-update does not support DELETE"),
        ({"merge-engine": "first-row"}, "first-row does not support DELETE"),
    ],
)
def test_engines_without_deletes_refuse(tmp_path, options, why):
    table = made(tmp_path, **options)
    for keys in (pa.table({"k": [1]}), "k = 1"):
        with pytest.raises(UnsupportedOperation, match=why):
            table.delete(keys)
    assert table.to_arrow().num_rows == 2


def test_a_table_whose_column_tells_the_kind_of_a_row_refuses(tmp_path):
    table = Table(
        make_table(f"{tmp_path}/t", {"k": "INT", "op": "STRING"}, ["k"], bucket="1", **{"rowkind.field": "op"})
    )
    table.upsert(pa.table({"k": [1], "op": ["+I"]}))
    with pytest.raises(UnsupportedOperation, match="column 'op' holds the row kind"):
        table.delete("k = 1")
    table.upsert(pa.table({"k": [1], "op": ["-D"]}))
    assert table.to_arrow().num_rows == 0
