"""A refresh of an incremental table dies at each file-system call: the next one ends it, exactly, from what is committed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from commit_kit import new_process
from crash_kit import Crashing, SimulatedCrash, copy_of

from paimon_nb import incremental
from paimon_nb.base.errors import CommitConflict
from paimon_nb.catalog.filesystem import FilesystemCatalog
from paimon_nb.fs import FileIO, MemoryFileIO
from paimon_nb.incremental import refreshing
from paimon_nb.incremental.batch import batch_rows
from paimon_nb.session.core.session import Session
from paimon_nb.workbench import Workbench

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.incremental import RefreshResult

pytest.importorskip("duckdb")

QUERY = "SELECT c.name, count(*) AS n, min(o.x) AS low FROM o JOIN c ON o.g = c.g GROUP BY c.name"


def workbench(fs: FileIO) -> Workbench:
    return Workbench(Session(FilesystemCatalog("paimon", "memory:/w", {}, fs), None, {}))


def scene() -> MemoryFileIO:
    """A target that was built, and inputs that have changed since."""
    files = MemoryFileIO()
    wb = workbench(files)
    wb.run("""
        CREATE TABLE o (id INT, g STRING, x BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1');
        CREATE TABLE c (g STRING, name STRING);
        CREATE TABLE t (name STRING, n BIGINT, low BIGINT);
        INSERT INTO o VALUES (1, 'a', 10), (2, 'b', 20), (3, 'a', 5);
        INSERT INTO c VALUES ('a', 'Ann'), ('b', 'Bob')
    """)
    refreshed(wb)
    wb.run("INSERT INTO o VALUES (1, 'b', 1), (4, 'a', 4); INSERT INTO c VALUES ('b', 'Bobby')")
    wb.table("o").delete(where="id = 3")
    return files


def refreshed(wb: Workbench) -> RefreshResult:
    return incremental.analyse(wb.session, QUERY).refresh("t")


def rows(wb: Workbench) -> list[str]:
    return sorted(map(repr, wb.table("t").to_arrow().to_pylist()))


def expected(wb: Workbench) -> list[str]:
    return sorted(map(repr, batch_rows(incremental.analyse(wb.session, QUERY)).to_pylist()))


def die_at(files: MemoryFileIO, call: int, way: str) -> None:
    crashing = Crashing(copy_of(files), call, way)
    before = rows(workbench(crashing.inner))
    with pytest.raises(SimulatedCrash):
        refreshed(workbench(crashing))
    new_process()
    wb = workbench(crashing.inner)
    after = expected(wb)
    assert rows(wb) in (before, after)
    result = refreshed(wb)
    assert (result.action, rows(wb)) in (("incremental", after), ("unchanged", after)), f"call {call} {way}: {result}"
    wb.run("INSERT INTO o VALUES (9, 'b', 0)")
    wb.table("o").delete(where="id = 2")
    assert refreshed(wb).action == "incremental"
    assert rows(wb) == expected(wb)
    new_process()


def changing_calls(files: MemoryFileIO) -> list[int]:
    counting = Crashing(copy_of(files))
    refreshed(workbench(counting))
    new_process()
    return counting.changes


def test_a_refresh_that_dies_at_some_calls_is_ended_by_the_next() -> None:
    files = scene()
    calls = changing_calls(files)
    assert len(calls) > 20
    for number, call in enumerate(calls[::29]):
        die_at(files, call, ("before", "after", "torn")[number % 3])


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("way", ["before", "after", "torn", "power cut"])
def test_a_refresh_that_dies_at_any_call_is_ended_by_the_next(way: str, part: int) -> None:
    files = scene()
    for call in changing_calls(files)[part::5]:
        die_at(files, call, way)


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(5))
def test_a_refresh_that_dies_at_any_read_is_ended_by_the_next(part: int) -> None:
    files = scene()
    counting = Crashing(copy_of(files))
    refreshed(workbench(counting))
    new_process()
    reads = sorted(set(range(1, counting.calls + 1)) - set(counting.changes))
    for call in reads[part::5]:
        die_at(files, call, "before")


class _Interrupted(Crashing):
    """Another process works while this one waits before one of its calls."""

    def __init__(self, inner: MemoryFileIO, call: int, work: Callable[[], None]) -> None:
        super().__init__(inner)
        self._call, self._work = call, work

    def step(self, kind: str, work: Callable[[], Any], torn: Callable[[], Any] | None = None) -> Any:
        if self.calls + 1 == self._call:
            self.calls += 1
            self._work()
            self.calls -= 1
        return super().step(kind, work, torn)


def interrupt_at(scene_files: MemoryFileIO, call: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """A refresh waits before a call, and another process changes an input and refreshes meanwhile. Returns how the first one ends."""
    files = copy_of(scene_files)

    def other_process() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(refreshing, "_locks", {})  # locks are those of one process
            new_process()
            wb = workbench(files)
            wb.run("INSERT INTO o VALUES (7, 'b', -3); INSERT INTO c VALUES ('a', 'Anna')")
            refreshed(wb)
            new_process()

    try:
        ended = refreshed(workbench(_Interrupted(files, call, other_process))).action
    except CommitConflict:
        ended = "conflict"
    new_process()
    wb = workbench(files)
    refreshed(wb)
    assert rows(wb) == expected(wb), f"call {call}: {ended}"
    wb.run("INSERT INTO o VALUES (9, 'b', 0)")
    wb.table("o").delete(where="id = 2")
    assert refreshed(wb).action == "incremental"
    assert rows(wb) == expected(wb), f"call {call}: {ended}"
    new_process()
    return ended


def all_calls(files: MemoryFileIO) -> int:
    counting = Crashing(copy_of(files))
    refreshed(workbench(counting))
    new_process()
    return counting.calls


def test_another_process_refreshes_at_some_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    files = scene()
    count = all_calls(files)
    ends = [interrupt_at(files, call, monkeypatch) for call in range(5, count, count // 5)]
    assert "conflict" in ends


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(10))
def test_another_process_refreshes_at_any_call(monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    files = scene()
    for call in range(1 + part, all_calls(files), 10):
        interrupt_at(files, call, monkeypatch)


def test_two_refreshes_at_once_commit_once() -> None:
    files = scene()
    first, second = (incremental.analyse(workbench(files).session, QUERY) for _ in range(2))
    assert first.refresh("t").action == "incremental"
    assert second.refresh("t").action == "unchanged"
    assert rows(workbench(files)) == expected(workbench(files))
