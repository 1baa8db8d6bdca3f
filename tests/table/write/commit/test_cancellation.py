"""Work that was told to stop publishes nothing any more, and leaves nothing behind."""

from __future__ import annotations

import threading

import pytest
from commit_kit import added, data_file, leftovers, live, make_table, partition_of

from paimon_nb.base.cancellation import CancellationToken
from paimon_nb.base.errors import Cancelled
from paimon_nb.fs import MemoryFileIO
from paimon_nb.table.write.commit import CommitMessage, TableCommit


class StoppedAfterFirst(MemoryFileIO):
    """Asks for a stop as soon as the first snapshot is there."""

    def __init__(self, stop: CancellationToken) -> None:
        super().__init__()
        self.stop = stop

    def put_if_absent(self, path: str, data: bytes) -> bool:
        made = super().put_if_absent(path, data)
        if path.endswith("/snapshot-1"):
            self.stop.prevent_publishing(0)
        return made


def test_nothing_is_published_after_the_stop_was_asked_for() -> None:
    store, stop = make_table(), CancellationToken()
    TableCommit(store).commit([added(data_file("a"))])
    assert stop.prevent_publishing(0)
    with stop.activate(), pytest.raises(Cancelled):
        TableCommit(store).commit([added(data_file("b"))])
    assert (store.latest().id, live(store), leftovers(store)) == (1, {"a"}, set())
    assert TableCommit(store).commit([added(data_file("c"))]) == [2]  # the next work is another's


def test_rows_that_are_in_stay_and_their_compaction_does_not_come() -> None:
    stop = CancellationToken()
    store = make_table(StoppedAfterFirst(stop))
    new, result = data_file("new"), data_file("result", level=5)
    both = CommitMessage(partition_of(None), 0, 2, new_files=(new,), compact_before=(new,), compact_after=(result,))
    with stop.activate():
        assert TableCommit(store).commit([both]) == [1]
    assert (store.latest().commit_kind, live(store), leftovers(store)) == ("APPEND", {"new"}, set())


def test_who_asks_waits_for_what_is_being_published() -> None:
    stop, begun, may_end = CancellationToken(), threading.Event(), threading.Event()

    def work() -> None:
        with stop.activate(), stop.defer_cancel_while_publishing():
            begun.set()
            may_end.wait(30)

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(30)
    assert not stop.prevent_publishing(0.05)  # it is on its way
    may_end.set()
    assert stop.prevent_publishing(30)
    thread.join()
