"""The files of rows that wait for another lookup of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.fs import LocalFileIO
from paimon_nb.table.read.stream.retries import RetryFiles

if TYPE_CHECKING:
    from pathlib import Path


def test_a_micro_batch_that_runs_again_reads_the_file_before_it(tmp_path: Path) -> None:
    files = RetryFiles(LocalFileIO(), str(tmp_path))
    files.write(1, b"nothing waits, and nothing did", None)
    assert (files.read_before(2), files.due_number(10**15)) == (None, None)

    files.write(3, b"three", 5000)
    assert [files.due_number(now) for now in (4999, 5000)] == [None, 3]
    files.write(7, b"seven", 8000)
    files.write(7, b"seven again", 9000)
    assert (files.read_before(7), files.read_before(8), files.due_number(8500)) == (b"three", b"seven again", None)

    files.write(8, b"none", None)
    assert (files.read_before(8), files.read_before(9), files.due_number(10**15)) == (b"seven again", b"none", None)
    assert sorted(p.name for p in (tmp_path / "lookup-waiting").iterdir()) == ["7.9000", "8.0"]
