"""The cache of decoded metadata files: what it keeps, what it lets go, when it looks again."""

from pathlib import Path

from paimon_nb.base.errors import MissingFile
from paimon_nb.fs.file_cache import FileCache
from paimon_nb.fs.local import LocalFileIO
from paimon_nb.fs.memory import MemoryFileIO


class Counted:
    """Reads through a cache and counts the real reads."""

    def __init__(self, cache, fs):
        self.cache, self.fs, self.reads = cache, fs, 0

    def __call__(self, path):
        def read():
            self.reads += 1
            return self.fs.read(path)

        return self.cache.get(self.fs, path, read, len)


def test_local_files_are_looked_at(tmp_path):
    read = Counted(FileCache(), LocalFileIO())
    path = str(tmp_path / "m")
    read.fs.write(path, b"one")
    assert (read(path), read(path), read.reads) == (b"one", b"one", 1)
    assert Counted(read.cache, LocalFileIO())(path) == b"one"
    assert read.reads == 1
    Path(path).unlink()
    read.fs.write(path, b"two")  # a table dropped and made again
    assert (read(path), read.reads) == (b"two", 2)
    Path(path).unlink()
    try:
        read(path)
    except MissingFile:
        missing = True
    assert missing


def test_stores_do_not_share_paths():
    cache = FileCache()
    one, two = Counted(cache, MemoryFileIO()), Counted(cache, MemoryFileIO())
    one.fs.write("memory:/m", b"1")
    two.fs.write("memory:/m", b"2")
    assert [one("memory:/m"), two("memory:/m"), one("memory:/m")] == [b"1", b"2", b"1"]
    assert (one.reads, two.reads) == (1, 1)


def test_the_least_used_goes_first():
    read = Counted(FileCache(max_bytes=250), MemoryFileIO())
    for name in "abc":
        read.fs.write(name, bytes(100))
    read("a"), read("b"), read("a"), read("c")
    assert read.reads == 3
    read("a"), read("c")
    assert read.reads == 3
    read("b")
    assert read.reads == 4


def test_what_is_too_big_is_not_kept():
    read = Counted(FileCache(max_bytes=150), MemoryFileIO())
    read.fs.write("small", bytes(50))
    read.fs.write("big", bytes(100))
    read("small"), read("big"), read("big"), read("small")
    assert read.reads == 3


def test_what_was_written_is_kept_until_the_file_changes(tmp_path):
    read = Counted(FileCache(), LocalFileIO())
    path = str(tmp_path / "m")
    read.fs.write(path, b"one")
    read.cache.put(read.fs, path, b"one", 3)
    assert (read(path), read.reads) == (b"one", 0)
    Path(path).unlink()
    read.fs.write(path, b"others")
    assert (read(path), read.reads) == (b"others", 1)
