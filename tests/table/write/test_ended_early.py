"""Reads and writes that end early leave nothing behind: no thread, no file, no snapshot; and a write is one snapshot."""

from __future__ import annotations

import gc
import threading
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import MissingFile, NullNotAllowed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ROWS = pa.table({"k": [1, 2, 3, 4], "p": ["a", "b", "c", "d"], "v": [10, 20, 30, 40]})


@pytest.fixture
def wb(tmp_path: Path) -> Iterator[paimon_nb.Workbench]:
    with paimon_nb.connect(str(tmp_path)) as workbench:
        yield workbench


@pytest.fixture
def t(wb: paimon_nb.Workbench) -> paimon_nb.Table:
    """A table of four partitions with a file each."""
    return wb.create_table("t", ROWS, primary_key=["k", "p"], partition_by="p")


def interrupted(*batches: pa.RecordBatch) -> pa.RecordBatchReader:
    """Record batches, and then Ctrl+C."""

    def source() -> Iterator[pa.RecordBatch]:
        yield from batches
        raise KeyboardInterrupt

    return pa.RecordBatchReader.from_batches(batches[0].schema, source())


def interrupts(_: pa.Table) -> Any:
    raise KeyboardInterrupt


def files(folder: Path) -> set[Path]:
    return {p for p in folder.rglob("*") if p.is_file()}


BATCH = ROWS.to_batches()[0]
INTERRUPTED: dict[str, Callable[[paimon_nb.Workbench, paimon_nb.Table], object]] = {
    "create_table": lambda wb, _: wb.create_table("made", interrupted(BATCH, BATCH)),
    "append": lambda _, t: t.append(interrupted(BATCH, BATCH)),
    "upsert": lambda _, t: t.upsert(interrupted(BATCH)),
    "overwrite": lambda _, t: t.overwrite(interrupted(BATCH)),
    "merge": lambda _, t: t.merge(interrupted(BATCH), on=["k", "p"]).when_matched_delete().execute(),
    "update": lambda _, t: t.update({"v": interrupts}),
}


@pytest.mark.parametrize("write", INTERRUPTED)
def test_an_interrupted_write_leaves_nothing_behind(wb, t, tmp_path: Path, write: str, monkeypatch) -> None:
    monkeypatch.setattr("paimon_nb.table.write.input_rows._CHUNK_ROWS", 1)  # files are begun before the interrupt
    before = files(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        INTERRUPTED[write](wb, t)
    assert files(tmp_path) == before
    assert (t.latest_snapshot().id, t.count(), [str(n) for n in wb.tables()]) == (1, 4, ["t"])


def test_threads_end_with_a_dropped_reader_and_a_failed_write(t) -> None:
    before = set(threading.enumerate())
    reader = t.to_reader(batch_rows=1)
    reader.read_next_batch()
    del reader
    gc.collect()
    with pytest.raises(NullNotAllowed):
        t.append(pa.table({"k": pa.array([None], pa.int64()), "p": ["a"], "v": [1]}))
    assert set(threading.enumerate()) <= before  # those of earlier tests may end meanwhile


WRITES: dict[str, Callable[[paimon_nb.Table], list[int]]] = {
    "append": lambda t: t.append(ROWS.to_reader()),
    "upsert": lambda t: t.upsert(ROWS),
    "overwrite": lambda t: t.overwrite(ROWS),
    "delete": lambda t: t.delete(where="k = 2"),
    "update": lambda t: t.update({"v": 7}, where="k > 1"),
    "merge": lambda t: t.merge(ROWS, on=["k", "p"]).when_matched_update().when_not_matched_insert().execute(),
}


@pytest.mark.parametrize("write", WRITES)
def test_a_write_of_several_partitions_is_one_snapshot(t, write: str) -> None:
    made = WRITES[write](t)
    kinds = t.snapshots().column("commit_kind").to_pylist()
    assert (made[0], len([k for k in kinds if k != "COMPACT"])) == (2, 2)


@pytest.mark.parametrize("read", ["head", "slice"])
def test_a_limit_of_polars_opens_no_file_that_it_does_not_need(t, tmp_path: Path, read: str) -> None:
    first = t.head(1).column("p")[0].as_py()
    for path in [p for p in tmp_path.rglob("*.parquet") if f"p={first}" not in str(p)]:
        path.unlink()
    lazy = t.to_polars(lazy=True)
    assert (lazy.head(1) if read == "head" else lazy.slice(0, 1)).collect()["p"].to_list() == [first]
    with pytest.raises((MissingFile, pl.exceptions.ComputeError)):
        lazy.head(2).collect()
