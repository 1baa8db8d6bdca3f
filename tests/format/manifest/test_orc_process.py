"""Manifests in ORC are decoded by a process of their own: whatever ends it, the asker goes on."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from manifest_kit import ENTRIES

from paimon_nb.base.errors import CorruptFile
from paimon_nb.format.data import orc_process
from paimon_nb.format.manifest import read_manifest, write_manifest
from paimon_nb.fs.memory import MemoryFileIO

HERE = Path(__file__).parent
JAVAS, ENDS_ARROW = HERE / "manifest-1.3.1.orc", HERE / "manifest-that-ends-arrow.orc"


@pytest.fixture
def fresh():
    """No process yet, and none of this test's left behind."""
    orc_process.POOL.close()
    yield
    orc_process.POOL.close()


def read(data):
    """The entries, of a file that nobody has read before."""
    fs = MemoryFileIO()
    fs.write("memory:/m", data)
    return read_manifest(fs, "memory:/m")


def children(of):
    """Ids of the processes that one has started."""
    return [int(i) for i in Path(f"/proc/{of}/task/{of}/children").read_text().split()]


@pytest.mark.usefixtures("fresh")
def test_bytes_that_end_the_reader_are_a_broken_file(monkeypatch):
    # A length of theirs is beyond what was read, so it is what memory held before: with these, always something large.
    monkeypatch.setenv("ARROW_DEFAULT_MEMORY_POOL", "system")
    monkeypatch.setenv("MALLOC_PERTURB_", "11")
    with pytest.raises(CorruptFile, match="not readable as ORC") as told:
        read(ENDS_ARROW.read_bytes())
    assert told.value.path == "memory:/m"
    assert len(read(JAVAS.read_bytes())) == 1


@pytest.mark.usefixtures("fresh")
@pytest.mark.skipif(sys.platform != "linux", reason="children are looked up in /proc")
def test_a_process_that_somebody_ended_says_nothing_about_the_file():
    before = set(children(os.getpid()))
    expected = read(JAVAS.read_bytes())
    (process,) = set(children(os.getpid())) - before
    os.kill(process, signal.SIGKILL)
    assert read(JAVAS.read_bytes()) == expected


@pytest.mark.usefixtures("fresh")
def test_threads_and_forks_get_their_own_rows():
    fs = MemoryFileIO()
    manifests = []
    for n in range(20):
        entries = [replace(ENTRIES[0], bucket=n)] * (n + 1)
        write_manifest(fs, f"memory:/{n}", entries, kind="orc")
        manifests.append((fs.read(f"memory:/{n}"), entries))

    def wrong(_=None):
        return [n for n, (data, entries) in enumerate(manifests) if read(data) != entries]

    assert wrong() == []
    forked = os.fork()
    if not forked:
        os._exit(1 if any(wrong() for _ in range(2)) else 0)
    with ThreadPoolExecutor(4) as threads:
        assert not any(threads.map(wrong, range(8)))
    assert os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="children are looked up in /proc")
def test_it_ends_with_who_asked():
    script = f"""
from pathlib import Path
import os
from paimon_nb.format.manifest import read_manifest
from paimon_nb.fs.local import LocalFileIO
read_manifest(LocalFileIO(), {str(JAVAS)!r})
print(Path(f"/proc/{{os.getpid()}}/task/{{os.getpid()}}/children").read_text())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not Path(f"/proc/{int(done.stdout)}").exists()


@pytest.mark.usefixtures("fresh")
def test_where_none_can_be_started(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/python")
    with pytest.raises(orc_process.EnvironmentError_, match="did not start") as told:
        read(JAVAS.read_bytes())
    assert "/no/python" in told.value.hint
