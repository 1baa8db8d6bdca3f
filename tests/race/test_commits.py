"""Many processes commit to one table at once: everybody's commit is there exactly once."""

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from commit_kit import added, compacted, data_file, leftovers, live, make_table
from writer_processes import process_context

from paimon_nb.base.errors import CommitConflict
from paimon_nb.fs import LocalFileIO
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.write.commit import TableCommit

pytestmark = pytest.mark.slow

PROCESSES = 8
SHORT_AND_LONG = [10, pytest.param(50, marks=pytest.mark.nightly)]


def append(root: str, commits: int, who: int) -> None:
    store = TableStore.open(LocalFileIO(), root, dynamic={"commit.max-retries": "1000"})
    for i in range(commits):
        TableCommit(store).commit([added(data_file(f"w{who}-{i}"), base=None)])


def run_all(target, *args) -> None:
    context = process_context()
    workers = [context.Process(target=target, args=(*args, who)) for who in range(PROCESSES)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=300)
    assert [w.exitcode for w in workers] == [0] * PROCESSES


@pytest.mark.parametrize("commits", SHORT_AND_LONG)
def test_eight_processes_append(tmp_path, commits):
    store = make_table(LocalFileIO(), str(tmp_path / "t"))
    run_all(append, store.root, commits)
    names = [e.file.file_name for e in live_entries(store, store.latest())]
    assert Counter(names) == Counter(f"w{w}-{i}" for w in range(PROCESSES) for i in range(commits))
    assert store.snapshots.ids() == list(range(1, PROCESSES * commits + 1))
    assert store.latest().total_record_count == 10 * PROCESSES * commits
    assert leftovers(store) == set()


def append_and_compact(root: str, commits: int, who: int) -> None:
    """Appends, and compacts whatever is on level 0: compactions collide on purpose."""
    store = TableStore.open(LocalFileIO(), root, dynamic={"commit.max-retries": "1000"})
    dice = random.Random(who)
    for i in range(commits):
        TableCommit(store).commit([added(data_file(f"w{who}-{i}", rows=1))])
        if dice.random() < 0.5:
            snapshot = store.latest()
            entries = [e.file for e in live_entries(store, snapshot)]
            rows = sum(f.row_count for f in entries)
            result = data_file(f"c{who}-{i}", level=5, rows=rows)
            try:
                TableCommit(store).commit([compacted(entries, [result], base=snapshot.id)])
            except CommitConflict:
                continue  # somebody compacted the same files first


@pytest.mark.parametrize("commits", SHORT_AND_LONG)
def test_appends_and_compactions_keep_every_row(tmp_path, commits):
    store = make_table(LocalFileIO(), str(tmp_path / "t"))
    run_all(append_and_compact, store.root, commits)
    entries = live_entries(store, store.latest())
    assert sum(e.file.row_count for e in entries) == PROCESSES * commits
    assert store.snapshots.ids() == list(range(1, store.latest().id + 1))
    assert leftovers(store) == set()
    assert live(store)


@pytest.mark.skipif(not hasattr(os, "kill"), reason="needs POSIX signals")
def test_killed_writers_leave_a_sound_table(tmp_path):
    store = make_table(LocalFileIO(), str(tmp_path / "t"))
    tests = Path(__file__).parents[1]
    folders = [str(tests / name) for name in ("race", "table/write/commit", "servers")]
    code = (
        f"import sys; sys.path[:0] = {folders}\n"
        "import test_commits; print('go', flush=True); test_commits.append(sys.argv[1], 25, int(sys.argv[2]))"
    )
    dice = random.Random(3)
    for round_ in range(6):
        worker = subprocess.Popen([sys.executable, "-c", code, store.root, str(round_)], stdout=subprocess.PIPE)
        assert worker.stdout.readline() == b"go\n"
        try:
            worker.wait(timeout=dice.uniform(0.02, 0.3))
        except subprocess.TimeoutExpired:
            worker.kill()
        worker.wait()
        worker.stdout.close()
    TableCommit(store).commit([added(data_file("last"))])
    assert "last" in live(store)
    assert store.snapshots.ids() == list(range(1, store.latest().id + 1))
    assert store.latest().total_record_count == 10 * len(live(store))
