"""A write handle used wrongly says so: no row is lost in silence, none comes twice, and the table stays readable."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from write_kit import make_table, put, rows_of

from paimon_nb.base.errors import CommitConflict, UnsupportedOperation
from paimon_nb.table.write import TableWrite
from paimon_nb.table.write.commit import CommitMessage, TableCommit
from paimon_nb.table.write.compact import compact
from paimon_nb.table.write.publish import changes
from paimon_nb.table.write.publish.overwrite import Overwrite

if TYPE_CHECKING:
    from paimon_nb.table.read.store import TableStore

TWO = pa.table({"k": pa.array([1, 2], pa.int32()), "v": ["a", "b"]})
KINDS = {
    "append": ((), {"bucket": "-1"}),
    "keyed": (("k",), {"bucket": "1"}),
    "dynamic": (("k",), {"bucket": "-1"}),
    "first-row": (("k",), {"bucket": "1", "merge-engine": "first-row"}),
}


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> TableStore:
    keys, options = KINDS[request.param]
    return make_table(f"{tmp_path}/t", {"k": "INT", "v": "STRING"}, keys, **options)


def prepared(store: TableStore) -> list[CommitMessage]:
    with TableWrite(store) as write:
        write.write(TWO)
        return write.prepare_commit()


def rows(store: TableStore) -> list[tuple[int, str]]:
    return sorted((r["k"], r["v"]) for r in rows_of(store))


def files(store: TableStore) -> set[str]:
    return {p.name for p in Path(store.root).rglob("*.parquet")}


def test_rows_after_prepare_are_refused(store):
    with TableWrite(store) as write:
        write.write(TWO)
        messages = write.prepare_commit()
        for again in (lambda: write.write(TWO), write.prepare):
            with pytest.raises(UnsupportedOperation, match="this writer is closed"):
                again()
    TableCommit(store).commit(messages)
    assert rows(store) == [(1, "a"), (2, "b")]


def test_rows_after_the_block_are_refused(store):
    with pytest.warns(UserWarning, match="2 rows were written and not committed"), TableWrite(store) as write:
        write.write(TWO)
    with pytest.raises(UnsupportedOperation, match="this writer is closed"):
        write.write(TWO)
    assert (files(store), store.latest()) == (set(), None)


def test_a_handle_without_a_block_says_what_is_lost(store):
    def left_open() -> None:
        TableWrite(store).write(TWO)
        gc.collect()

    with pytest.warns(UserWarning, match="2 rows were written and not committed"):
        left_open()
    assert store.latest() is None


def test_an_error_in_the_block_leaves_no_file_and_is_not_hidden(store):
    def fails() -> None:
        with TableWrite(store) as write:
            write.write(TWO)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert (files(store), store.latest()) == (set(), None)


@pytest.mark.parametrize("one_committer", [True, False])
def test_a_second_commit_of_the_same_messages_is_refused(store, one_committer):
    messages, first = prepared(store), TableCommit(store)
    first.commit(messages)
    before = rows(store), store.latest(), files(store)
    with pytest.raises(UnsupportedOperation, match="these messages are committed already; nothing was changed"):
        (first if one_committer else TableCommit(store)).commit(messages)
    assert (rows(store), store.latest(), files(store)) == before
    put(store, [{"k": 3, "v": "c"}])
    assert [k for k, _ in rows(store)] == [1, 2, 3]


@pytest.mark.parametrize("by", ["write", "commit"])
def test_discarded_messages_are_refused(store, by):
    with TableWrite(store) as write:
        write.write(TWO)
        messages = write.prepare_commit()
        if by == "write":
            write.abort()
    if by == "commit":
        TableCommit(store).abort(messages)
    assert files(store) == set()
    with pytest.raises(UnsupportedOperation, match="these messages are discarded already"):
        TableCommit(store).commit(messages)
    assert store.latest() is None


@pytest.mark.parametrize("by", ["write", "commit"])
def test_an_abort_after_the_commit_deletes_nothing(store, by):
    with TableWrite(store) as write:
        write.write(TWO)
        messages = write.prepare_commit()
        TableCommit(store).commit(messages)
        before = files(store)
        if by == "write":
            write.abort()
    if by == "commit":
        changes._consumed.clear()  # as another process would, to which the messages were sent
        TableCommit(store).abort(messages)
    assert (files(store), rows(store)) == (before, [(1, "a"), (2, "b")])


def test_a_refused_commit_that_is_tried_again_stays_refused(store):
    put(store, [{"k": 7, "v": "old"}])
    read = store.latest().id
    with TableWrite(store, overwrite=True) as write:
        write.write(TWO)
        messages = write.prepare_commit()
    put(store, [{"k": 8, "v": "later"}])
    with pytest.raises(CommitConflict):
        TableCommit(store).commit(messages, overwrite=Overwrite(read_snapshot=read))
    with pytest.raises(UnsupportedOperation, match="discarded already"):
        TableCommit(store).commit(messages, overwrite=Overwrite())
    assert rows(store) == [(7, "old"), (8, "later")]


def test_a_compaction_that_comes_twice_keeps_its_result(tmp_path):
    """A restarted job commits again what is in already: a conflict, and the live file stays."""
    store = make_table(f"{tmp_path}/t", {"k": "INT", "v": "STRING"}, ["k"], bucket="1", **{"write-only": "true"})
    for _ in range(3):
        put(store, TWO)
    messages = compact(store)
    TableCommit(store).commit(messages)
    changes._consumed.clear()  # another process knows nothing of the first commit
    with pytest.raises(CommitConflict, match="no longer live"):
        TableCommit(store).commit(messages)
    assert rows(store) == [(1, "a"), (2, "b")]
