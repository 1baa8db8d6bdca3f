"""Rows of a DataFrame that a statement computes once and reads several times, also after an executor was lost.

`DataFrame.localCheckpoint` keeps the rows in the executors: without one of them, every later job fails. In a local session
that cannot happen. On a cluster few rows become a local relation, and many are Arrow files in the table's `index`
directory, where orphan file removal finds those that a killed driver leaves.
"""

from __future__ import annotations

import uuid
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.spark.errors import encode_errors_of_task
from paimon_nb.spark.jobs.job_cleanup import wait_for_ended_tasks
from paimon_nb.spark.jobs.task_runner import frame_of_pickled_pieces, unpickle_pieces
from paimon_nb.spark.runtime.arrow_interop import collect, without_empty_batches
from paimon_nb.spark.runtime.jvm_bridge import has_local_master
from paimon_nb.spark.write.table_write import INLINE_BYTES, estimated_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql import DataFrame

    from paimon_nb.table.read.store import TableStore


@contextmanager
def staged_rows(frame: DataFrame, store: TableStore | None) -> Iterator[DataFrame]:
    """The rows of a DataFrame, computed once: `rand()` does not change between two reads inside the block.

    Args:
        frame: the rows.
        store: the table whose directory may keep them until the block ends; None: no directory outlives the statement, so
            many rows stay in the executors.

    Raises:
        EngineError: Spark failed.
    """
    if has_local_master(frame.sparkSession):
        yield frame.localCheckpoint()
    elif estimated_bytes(frame) <= INLINE_BYTES:
        yield frame.sparkSession.createDataFrame(without_empty_batches(collect(frame)), schema=frame.schema)
    elif store is None:
        yield frame.localCheckpoint()
    else:
        token = f"staged-{uuid.uuid4().hex}"
        try:
            yield _written_rows(frame, store, token)
        except BaseException:
            wait_for_ended_tasks(frame.sparkSession)  # a running task would write another file
            raise
        finally:
            _delete_staged_files(store, token)


def _written_rows(frame: DataFrame, store: TableStore, token: str) -> DataFrame:
    """Write a DataFrame to Arrow files, one per task, and read the files of the attempts whose result reached the driver."""
    results = frame.mapInArrow(_staging_task(store, token), "path string, bytes bigint").collect()
    paths, sizes = [row["path"] for row in results], [row["bytes"] for row in results]
    if not paths:
        return frame.sparkSession.createDataFrame([], frame.schema)
    return frame_of_pickled_pieces(frame.sparkSession, paths, sizes).mapInArrow(_reading_task(store), frame.schema)


def _staging_task(store: TableStore, token: str) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The task that writes its rows to one file and returns the file's path and size; nothing without rows."""

    @encode_errors_of_task
    def write_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        filled = (b for b in batches if b.num_rows)
        first = next(filled, None)
        if first is None:
            return
        # A repeated or speculative attempt has a file of its own.
        path = f"{store.root}/index/{token}-{uuid.uuid4().hex}.arrow"
        with store.fs.create(path) as out:
            with pa.ipc.new_file(out, first.schema) as file:
                file.write_batch(first)
                for batch in filled:
                    file.write_batch(batch)
            size = out.tell()
        yield pa.RecordBatch.from_pydict({"path": [path], "bytes": pa.array([size], pa.int64())})

    return write_rows


def _reading_task(store: TableStore) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The task that returns the rows of staged files."""

    @encode_errors_of_task
    def read_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for path in unpickle_pieces(batches):
            with store.fs.open(path) as opened, pa.ipc.open_file(opened) as file:
                for number in range(file.num_record_batches):
                    yield file.get_batch(number)

    return read_rows


def _delete_staged_files(store: TableStore, token: str) -> None:
    """Delete the files of all attempts. A failure must not hide the statement's result; orphan file removal deletes later."""
    with suppress(Exception):
        store.fs.delete_each([s.path for s in store.fs.list(f"{store.root}/index") if s.name.startswith(token)])
