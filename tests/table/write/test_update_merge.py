"""update, delete and merge of handles: one commit each, on every kind of table, and nothing left of one that fails."""

from __future__ import annotations

import datetime as dt
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from sampling import sampled

import paimon_nb
from paimon_nb.base.errors import (
    BadOptionValue,
    ColumnNotFound,
    MissingFile,
    NullNotAllowed,
    SchemaMismatch,
    UnsupportedOperation,
    WriteError,
)
from paimon_nb.table.write.input_rows import as_reader

sys.path.insert(0, str(Path(__file__).parents[1] / "read"))

import all_types

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = {
    "key": {},
    "lookup": {"changelog-producer": "lookup"},
    "deletion vectors": {"deletion-vectors.enabled": "true"},
    "append": {"keys": "", "bucket": "-1"},
    "append with vectors": {"keys": "", "bucket": "-1", "deletion-vectors.enabled": "true"},
    "row tracking": {"keys": "", "bucket": "-1", "row-tracking.enabled": "true"},
}


@pytest.fixture
def wb(tmp_path: Path) -> Iterator[paimon_nb.Workbench]:
    with paimon_nb.connect(str(tmp_path)) as workbench:
        yield workbench


@pytest.fixture(params=KINDS)
def t(wb, request) -> paimon_nb.Table:
    """Twenty rows of every type, in two files that overlap where there are keys."""
    t = all_types.make(wb, "t", **KINDS[request.param])
    t.append(all_types.rows(t, range(10 if not t.primary_keys else 15)))
    t.append(all_types.rows(t, range(10, 20)))
    return t


def by_id(t: paimon_nb.Table) -> dict[int, dict[str, object]]:
    rows = t.to_arrow().to_pylist()
    assert len({r["id"] for r in rows}) == len(rows)
    return {r["id"]: r for r in rows}


def text(rows: dict[int, dict[str, object]]) -> dict[int, str]:
    return {k: str(v) for k, v in rows.items()}


def files(folder: Path) -> list[str]:
    return sorted(str(f) for f in folder.rglob("*") if f.is_file())


def test_an_update_sets_values_and_expressions_and_keeps_the_other_columns(t) -> None:
    before = by_id(t)
    day = dt.date(2024, 2, 29)
    ids = t.update({"n": pc.field("big") * 0 + 7, "day": day, "tags": ["x", None], "note": None}, where="id IN (3, 11)")
    assert len(ids) >= 1
    after = by_id(t)
    for key, row in before.items():
        if key in (3, 11):
            row = row | {"n": None if row["big"] is None else 7, "day": day, "tags": ["x", None], "note": None}
        assert str(after[key]) == str(row)


def test_an_update_of_no_rows_commits_nothing(t) -> None:
    last = t.latest_snapshot().id
    assert t.update({"n": 1}, where="id = 999") == []
    assert t.latest_snapshot().id == last


def test_a_delete_by_condition_is_one_commit(t) -> None:
    before = t.latest_snapshot().id
    t.delete(where="id >= 5 AND id < 12")
    assert sorted(by_id(t)) == [0, 1, 2, 3, 4, *range(12, 20)]
    assert t.latest_snapshot().id > before
    t.delete(where="id = 0")
    assert 0 not in by_id(t)


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
def test_a_file_whose_rows_are_all_deleted_is_passed_over(wb, file_format: str) -> None:
    options = {"bucket": -1, "deletion-vectors.enabled": True, "file.format": file_format}
    for name, more in (("plain", {}), ("evolving", {"row-tracking.enabled": True, "data-evolution.enabled": True})):
        t = wb.create_table(name, pa.table({"id": [1]}), options={**options, **more})
        t.append(pa.table({"id": [2, 3]}))
        t.delete("id = 1")
        t.delete("id = 2")
        t.update({"id": 4}, where="id > 0")
        assert t.to_arrow()["id"].to_pylist() == [4]


def test_a_merge_updates_deletes_and_inserts(t) -> None:
    before = by_id(t)
    source = pa.table(
        {"id": pa.array([2, 4, 30, 31], pa.int32()), "n": [20, 40, 300, 310], "name": ["a", "b", "c", "d"]}
    )
    merge = t.merge(source, on="id").when_matched_delete(where=pc.field("source.n") == 40).when_matched_update()
    merge.when_not_matched_insert(where=pc.field("source.id") > 30).execute()
    after = by_id(t)
    assert sorted(after) == sorted({*before, 31} - {4})
    assert str(after[2]) == str(before[2] | {"n": 20, "name": "a"})
    assert (after[31]["n"], after[31]["name"], after[31]["d"]) == (310, "d", None)
    assert {k: v for k, v in text(after).items() if k not in (2, 31)} == {
        k: v for k, v in text(before).items() if k not in (2, 4)
    }


def test_a_merge_reads_values_of_both_sides_and_takes_the_first_clause_that_applies(t) -> None:
    t.update({"n": 5}, where="id < 4")
    source = pd.DataFrame({"key": [0, 1, 2], "more": [1, 10, 100]})
    merge = t.merge(source, on={"id": "key"})
    merge = merge.when_matched_update(
        {"n": pc.field("target.n") + pc.field("source.more")}, where=pc.field("source.more") < 50
    )
    merge.when_matched_update({"name": "large"}).execute()
    after = by_id(t)
    assert [after[i]["n"] for i in range(4)] == [6, 15, 5, 5]
    assert after[2]["name"] == "large"


def test_rows_with_null_keys_match_nothing(wb) -> None:
    wb.run("CREATE TABLE t (a INT, b STRING)")
    t = wb.table("t")
    t.append(pa.table({"a": pa.array([1, None], pa.int32()), "b": ["x", "y"]}))
    source = pa.table({"a": pa.array([None, 1], pa.int32()), "b": ["n", "m"]})
    t.merge(source, on="a").when_matched_update({"b": pc.field("source.b")}).when_not_matched_insert().execute()
    assert sorted(map(str, t.to_arrow().to_pylist())) == sorted(
        map(str, [{"a": 1, "b": "m"}, {"a": None, "b": "y"}, {"a": None, "b": "n"}])
    )


def test_a_row_that_matches_several_source_rows_changes_nothing(t, tmp_path: Path) -> None:
    before, there = text(by_id(t)), files(tmp_path)
    source = pa.table({"id": [1, 1], "n": pa.array([1, 2], pa.int32())})
    with pytest.raises(WriteError, match="several rows of the source"):
        t.merge(source, on="id").when_matched_update().execute()
    assert (text(by_id(t)), files(tmp_path)) == (before, there)


FRAMES = {
    "pandas": lambda rows: rows.to_pandas(),
    "polars": pl.from_arrow,
    "table": lambda rows: rows,
    "batch": lambda rows: rows.to_batches()[0],
    "reader": lambda rows: rows.to_reader(),
    "dataset": ds.dataset,
    "polars lazy": lambda rows: pl.from_arrow(rows).lazy(),
}


@pytest.mark.parametrize("kind", sampled([*FRAMES, "duckdb", "table handle"], 3))
@pytest.mark.parametrize("method", ["append", "upsert", "overwrite", "merge"])
def test_frames_of_every_kind_are_written(wb, kind: str, method: str) -> None:
    wb.run("CREATE TABLE t (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    t = wb.table("t")
    t.append(pa.table({"id": pa.array([1, 9], pa.int32()), "name": ["old", "old"]}))
    rows = pa.table({"id": pa.array([1, 2], pa.int32()), "name": ["a", "b"]})
    if kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        connection = duckdb.connect()
        connection.register("source_rows", rows)
        frame = connection.sql("SELECT * FROM source_rows")
    elif kind == "table handle":
        frame = wb.create_table("other", rows)
    else:
        frame = FRAMES[kind](rows)
    if method == "merge":
        t.merge(frame, on="id").when_matched_update().when_not_matched_insert().execute()
    else:
        getattr(t, method)(frame)
    found = {r["id"]: r["name"] for r in t.to_arrow().to_pylist()}
    assert found == {1: "a", 2: "b"} | ({} if method == "overwrite" else {9: "old"})


@pytest.mark.parametrize("source", ["table", "dataset"])
def test_a_source_is_read_no_further_than_it_is_written(wb, tmp_path: Path, source: str) -> None:
    wb.run("CREATE TABLE s (id INT) WITH ('bucket' = '8', 'bucket-key' = 'id')")
    s = wb.table("s")
    s.append(pa.table({"id": pa.array(range(80), pa.int32())}))
    rows = as_reader(s if source == "table" else s.to_dataset())
    assert rows.read_next_batch().num_rows
    time.sleep(0.2)  # for a thread that reads ahead
    for file in tmp_path.rglob("s/bucket-*/data-*"):
        file.unlink()
    with pytest.raises(MissingFile):
        rows.read_all()


def bad(t: paimon_nb.Table) -> dict[str, tuple[type[Exception], object]]:
    ids = pa.array([1, 2], pa.int64())
    return {
        "unknown column": (ColumnNotFound, lambda: t.update({"nmae": "x"})),
        "unknown condition": (ColumnNotFound, lambda: t.update({"name": "x"}, where="idd = 1")),
        "value of another type": (SchemaMismatch, lambda: t.update({"n": "abc"}, where="id = 1")),
        "value out of range": (SchemaMismatch, lambda: t.update({"tiny": 300}, where="id = 1")),
        "expression of no column": (SchemaMismatch, lambda: t.update({"n": pc.field("nope") + 1}, where="id = 1")),
        "no values": (BadOptionValue, lambda: t.update({})),
        "neither keys nor condition": (SchemaMismatch, t.delete),
        "keys and condition": (BadOptionValue, lambda: t.delete("id = 1", where="id = 1")),
        "no clause": (BadOptionValue, t.merge(pa.table({"id": ids}), on="id").execute),
        "no key": (BadOptionValue, lambda: t.merge(pa.table({"id": ids}), on=[])),
        "key that the source lacks": (
            ColumnNotFound, t.merge(pa.table({"idd": ids}), on="id").when_matched_delete().execute,
        ),
        "column that the table lacks": (
            ColumnNotFound, t.merge(pa.table({"id": ids, "nn": ids}), on="id").when_matched_update().execute,
        ),
        "condition as text": (
            BadOptionValue, lambda: t.merge(pa.table({"id": ids}), on="id").when_matched_delete(where="source.n > 1"),
        ),
        "column twice": (
            SchemaMismatch,
            t.merge(pa.table([ids, ids, ids], names=["id", "n", "n"]), on="id").when_matched_update().execute,
        ),
        "appended column twice": (SchemaMismatch, lambda: t.append(pa.table([ids, ids, ids], names=["id", "n", "n"]))),
        "type that does not fit": (SchemaMismatch, lambda: t.append(pa.table({"id": ids, "day": [[1], [2]]}))),
        "not a frame": (SchemaMismatch, lambda: t.append([{"id": 1}])),
    }  # fmt: skip


def test_bad_input_is_refused_by_name_and_leaves_nothing(t, tmp_path: Path) -> None:
    there = files(tmp_path)
    for name, (error, call) in bad(t).items():
        with pytest.raises(error) as raised:
            call()
        assert raised.value.hint, name
        assert files(tmp_path) == there, name


def test_a_null_key_is_refused(wb, tmp_path: Path) -> None:
    t = all_types.make(wb, "t")
    there = files(tmp_path)
    with pytest.raises(NullNotAllowed):
        t.merge(pa.table({"id": pa.array([None], pa.int64())}), on="id").when_not_matched_insert().execute()
    with pytest.raises(UnsupportedOperation, match="primary key column"):
        t.update({"id": 3})
    assert files(tmp_path) == there


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("method", ["append", "overwrite"])
def test_a_stream_that_fails_half_way_leaves_nothing(
    wb, tmp_path: Path, method: str, error: type[BaseException]
) -> None:
    t = all_types.make(wb, "t", write_buffer_size="1 kb")
    t.append(all_types.rows(t, range(5)))
    before, there = text(by_id(t)), files(tmp_path)
    good = all_types.rows(t, range(200))

    def batches() -> Iterator[pa.RecordBatch]:
        for _ in range(100):
            yield from good.to_batches()
        raise error("the source broke")

    with pytest.raises(error, match="the source broke"):
        getattr(t, method)(pa.RecordBatchReader.from_batches(good.schema, batches()))
    assert (text(by_id(t)), files(tmp_path)) == (before, there)


def test_data_evolution_writes_only_the_assigned_columns(wb) -> None:
    options = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    t = all_types.make(wb, "t", keys="", bucket="-1", **options)
    t.append(all_types.rows(t, range(10)))
    before = by_id(t)
    t.update({"n": 5}, where="id = 3")
    assert text(by_id(t)) == text(before | {3: before[3] | {"n": 5}})
    assert t.files().num_rows == 2
    t.merge(
        pa.table({"id": [1, 50], "name": ["m", "i"]}), on="id"
    ).when_matched_update().when_not_matched_insert().execute()
    after = by_id(t)
    assert (after[1]["name"], after[50]["name"], after[3]["n"], len(after)) == ("m", "i", 5, 11)
