"""Work that is light is done where it is asked for; heavy work and an object store's get threads. The order is kept."""

from __future__ import annotations

import threading

import pytest

from paimon_nb.fs import MemoryFileIO
from paimon_nb.fs.object_store import S3FileIO
from paimon_nb.fs.s3_client import S3Settings
from paimon_nb.table.read.side_by_side import LIGHT, map_in_threads


@pytest.mark.parametrize(
    ("fs", "size", "here"),
    [(MemoryFileIO(), LIGHT, True), (MemoryFileIO(), LIGHT + 1, False), (S3FileIO(S3Settings()), 1, False)],
)
def test_who_does_the_work(fs, size, here):
    done = map_in_threads(fs, lambda n: (n, threading.current_thread() is threading.main_thread()), range(6), size, 4)
    assert done == [(n, here) for n in range(6)]


def test_one_thread_or_one_item_is_no_reason_to_start_any():
    for items, threads in ((range(1), 4), (range(3), 1), ((), 4)):
        assert map_in_threads(MemoryFileIO(), str, items, LIGHT + 1, threads) == [str(n) for n in items]
