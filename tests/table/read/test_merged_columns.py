"""A read of some columns merges only these: their values are those of the whole rows, with every merge engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import all_types
import pyarrow as pa
import pytest
from sampling import sampled
from write_kit import make_table, put, rows_of

import paimon_nb
from paimon_nb.table.read import plan_scan, read_plan
from paimon_nb.table.read.query import TableQuery
from paimon_nb.table.write import TableWrite
from paimon_nb.table.write.commit import TableCommit

if TYPE_CHECKING:
    from pathlib import Path

    from paimon_nb.table.read.store import TableStore

ENGINES = {
    **{engine: {"merge-engine": engine, **options} for engine, options in all_types.ENGINES.items()},
    "sequence group": {"merge-engine": "partial-update", "fields.n.sequence-group": "big,note"},
    "sequence field": {"merge-engine": "partial-update", "sequence.field": "n"},
}


@pytest.fixture
def wb(tmp_path: Path):
    with paimon_nb.connect(str(tmp_path)) as workbench:
        yield workbench


@pytest.mark.parametrize("engine", sampled(ENGINES, 3))
def test_each_column_alone_has_the_values_of_the_whole_rows(wb, engine: str) -> None:
    t = all_types.make(wb, "t", write_only="true", **ENGINES[engine])
    for turn, ids in enumerate((range(60), range(0, 60, 3), range(20, 70, 2), range(0, 60, 7))):
        t.append(all_types.rows(t, ids, turn))
    if engine == "first-row":
        t.compact(full=False)
    whole = t.to_arrow()
    assert whole.num_rows
    alone = {name: TableQuery(t).select(name).to_arrow().column(name) for name in whole.column_names}
    assert {name: str(column.to_pylist()) for name, column in alone.items()} == {
        name: str(whole.column(name).to_pylist()) for name in whole.column_names
    }


@pytest.mark.parametrize("options", [{}, {"merge_engine": "partial-update"}])
def test_writers_at_the_same_time_are_merged_by_sequence_number(tmp_path: Path, options: dict[str, str]) -> None:
    store = make_table(str(tmp_path), {"k": "BIGINT", "a": "INT", "b": "INT"}, keys=["k"], bucket="1", **options)
    put(store, [{"k": k, "a": 0, "b": 0} for k in range(5)])
    with TableWrite(store) as one, TableWrite(store) as other:
        one.write(_rows(store, [(k, 1, None) for k in range(10)]))
        other.write(_rows(store, [(k, 2, k) for k in reversed(range(10))]))
        messages = [one.prepare_commit(), other.prepare_commit()]
    for of_writer in messages:
        TableCommit(store).commit(of_writer)
    found = {name: read_plan(plan_scan(store), [name]).column(name).to_pylist() for name in "kab"}
    assert found == {name: [row[name] for row in rows_of(store)] for name in "kab"}


def test_retractions_are_merged_by_reads_that_need_no_kind(tmp_path: Path) -> None:
    options = {"merge_engine": "partial-update", "partial-update.remove-record-on-delete": "true"}
    store = make_table(str(tmp_path), {"k": "BIGINT", "a": "INT", "b": "INT"}, keys=["k"], bucket="1", **options)
    put(store, [{"k": k, "a": k, "b": k} for k in range(6)])
    put(store, [{"k": k, "a": None, "b": None} for k in range(3)], ["-D"] * 3)
    put(store, [{"k": 1, "a": 7, "b": None}])
    assert read_plan(plan_scan(store), ["b"]).column("b").to_pylist() == [None, 3, 4, 5]
    assert read_plan(plan_scan(store), ["a"]).column("a").to_pylist() == [7, 3, 4, 5]


def _rows(store: TableStore, rows: list[tuple[int, int, int | None]]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip("kab", row, strict=True)) for row in rows], schema=store.schema.arrow)
