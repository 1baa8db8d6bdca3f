"""The rows of a stream that another process commits, and which tables let it commit there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.spark.streaming.connect_sink import check_commits_in_server
from paimon_nb.table.read.stream.committed_rows import CommittedRows

if TYPE_CHECKING:
    from pathlib import Path

    from paimon_nb.table.tables.table import Table


def written(table: Table, user: str, count: int) -> None:
    with table.write() as writing:
        writing.write(pa.table({"id": pa.array(range(count), pa.int32())}))
        table.commit(user).commit(writing.prepare())


def table_of(tmp_path: Path, options: str = "") -> Table:
    with paimon_nb.connect(tmp_path / "w") as wb:
        wb.run(f"CREATE TABLE t (id INT){f' WITH ({options})' if options else ''}")
        return wb.table("t")


def test_rows_of_the_user_since_the_start(tmp_path: Path) -> None:
    table = table_of(tmp_path)
    written(table, "stream", 1)
    rows = CommittedRows(table.store)
    written(table, "stream", 10)
    assert rows.count() == 0  # the user is not known yet
    rows.user = "stream"
    assert rows.count() == 10
    written(table, "other", 100)
    table.compact(full=True)
    written(table, "stream", 5)
    assert [rows.count(), rows.count()] == [15, 15]


@pytest.mark.parametrize("option", ["'sink.savepoint.auto-tag' = 'true'", "'tag.automatic-creation' = 'process-time'"])
def test_commits_without_micro_batches_are_refused_in_a_server(option: str, tmp_path: Path) -> None:
    check_commits_in_server(table_of(tmp_path / "plain").store, ends=False)
    with pytest.raises(UnsupportedOperation, match="need a Spark session in this process"):
        check_commits_in_server(table_of(tmp_path / "with", option).store, ends=False)
