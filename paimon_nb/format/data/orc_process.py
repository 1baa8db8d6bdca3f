"""Decodes ORC files in processes of their own, which corrupt bytes may end.

ORC's C++ library allocates the lengths in a file without checking the result, so one wrong byte can end the process
that reads it. A decoding process starts with the first such file, decodes all later ones, and ends with this process.
It asks for the bytes of a file piece by piece, and has limits of memory and CPU time that follow the file's size.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import pickle
import struct
import subprocess
import sys
import threading
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import (
    CorruptFile,
    EnvironmentError_,
    OutOfMemory,
    PaimonError,
    StoreError,
    UnsupportedFormat,
    error_of_kind,
)
from paimon_nb.format.file_errors import BROKEN, broken_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paimon_nb.format.data.orc_decoder import OrcDecoder
    from paimon_nb.format.types import DataField

_READY = b"ready"
_HEAD = struct.Struct("<cQ")
_RANGE = struct.Struct("<QQQ")
"""File, first byte, bytes."""
_CALL, _BYTES, _READ, _ROWS, _VALUE, _END, _ERROR, _UNKNOWN_FILE = b"c", b"b", b"r", b"t", b"v", b".", b"!", b"?"
_MEMORY, _MEMORY_PER_BYTE = 2 << 30, 64
"""Address space that a decoding process may add to what it has at its start, plus that per byte of the file."""
_CPU_SECONDS, _BYTES_PER_SECOND = 4, 1 << 20
"""CPU time for one call, and bytes of the file that may take another second."""
_WALL_SECONDS = 600
_MAX_PROCESSES = max(1, min(4, os.cpu_count() or 1))
"""Processes at a time; each decodes one file at a time."""
_KINDS = {c.__name__: c for c in (CorruptFile, OutOfMemory, UnsupportedFormat, EnvironmentError_, StoreError)}


class ProcessEnded(Exception):
    """The decoding process ended, or no longer knows the file."""


class OrcFile:
    """One file in a decoding process.

    Thread-safe: one call at a time. Raises CorruptFile, OutOfMemory, UnsupportedFormat; EnvironmentError_: no process
    can be started.
    """

    def __init__(
        self, source: Any, path: str, fields: Sequence[DataField] | Sequence[str] | None, legacy: bool = True
    ) -> None:
        """`source`: the open file, which its owner closes. `fields`: see `OrcDecoder`."""
        self.path = path
        self._source, self._opening = source, pickle.dumps((path, fields if fields is None else tuple(fields), legacy))
        self._id = next(_IDS)
        self._process: _Process | None = None
        source.seek(0, io.SEEK_END)
        self._size = int(source.tell())

    def value(self, name: str) -> Any:
        """A property of the file: `num_rows`, `row_groups`, or `schema`, as a table without rows."""
        return next(self._replies(name, None, 0))

    def rows(self, groups: Sequence[int] | None) -> Iterator[pa.Table]:
        """The rows of all or some stripes, stripe by stripe."""
        return self._replies("read", None if groups is None else list(groups), 0)

    def batches(self, rows: int, groups: Sequence[int] | None) -> Iterator[pa.Table]:
        """The same in pieces of at most `rows` rows, decoded one after the other."""
        return self._replies("batches", None if groups is None else list(groups), rows)

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.release_file(self._id)

    def _replies(self, call: str, groups: list[int] | None, rows: int) -> Iterator[Any]:
        """The replies to one call; after a process ended, those that are missing from another one."""
        done = failures = 0
        stream = next(_IDS)
        while True:
            try:
                process = self._process_that_knows_it()
                reply = process.request(self._size, (self._id, stream, call, groups, rows, done))
                failures = 0
            except ProcessEnded:
                self._process, failures = None, failures + 1
                if failures > 1:  # once, something other than these bytes may have ended it
                    raise CorruptFile(self.path, "not readable as ORC (the reader crashed)") from None
                continue
            if reply is _END:
                return
            yield reply
            if not isinstance(reply, pa.Table):
                return
            done += 1

    def _process_that_knows_it(self) -> _Process:
        if self._process is None or self._process.ended:
            process = POOL.process()
            process.sources[self._id] = self._source
            process.request(self._size, (self._id, 0, "open", self._opening, 0, 0))
            self._process = process
        return self._process


_IDS = count(1)


class _Process:
    """One decoding process. Thread-safe: one call at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._ended, self._owner = False, os.getpid()
        self._released: list[int] = []
        self.sources: dict[int, Any] = {}
        """The open files, of which the process may ask for bytes whenever it is called: it reads ahead."""
        command = [sys.executable, "-c", f"from {__name__} import serve_orc_reads; serve_orc_reads()"]
        paths = os.pathsep.join(p or str(Path.cwd()) for p in sys.path)
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": paths},
                start_new_session=True,  # Ctrl-C must not end this process
            )
            ready = _receive(self._process.stdout)
        except OSError as error:
            raise _no_process(str(error)) from None
        if ready != (_VALUE, _READY):
            raise _no_process(f"it ended with {self._process.wait()}")

    @property
    def ended(self) -> bool:
        """Also after a fork: the pipes belong to the parent."""
        return self._ended or self._owner != os.getpid()

    def request(self, size: int, call: tuple[Any, ...]) -> Any:
        """The reply to one call: a table, a value, or `_END`. Raises ProcessEnded, and the errors of the file."""
        with self.lock:
            if self.ended:
                raise ProcessEnded
            watch = threading.Timer(_WALL_SECONDS, self._process.kill)
            watch.daemon = True
            watch.start()
            kind, data = b"", b""
            released = [self._released.pop() for _ in range(len(self._released))]
            try:
                _send(self._process.stdin, _CALL, pickle.dumps((size, os.environ.get("TZ"), released, *call)))
                while (reply := _receive(self._process.stdout)) is not None and reply[0] == _READ:
                    _send(self._process.stdin, _BYTES, self._bytes_of(*_RANGE.unpack(reply[1])))
                kind, data = reply or (b"", b"")
            except (BrokenPipeError, ConnectionError, struct.error):
                pass
            finally:
                watch.cancel()
                if not kind:  # ended or interrupted: the next call must not get this reply
                    self.end()
        if not kind or kind == _UNKNOWN_FILE:
            raise ProcessEnded
        return _decoded(kind, data)

    def _bytes_of(self, file: int, start: int, length: int) -> bytes:
        """Bytes of an open file; b"" if it was closed."""
        source = self.sources.get(file)
        if source is None or source.closed:
            return b""
        source.seek(start)
        return bytes(source.read(length))

    def release_file(self, file: int) -> None:
        """Let the process close a file, with the next call."""
        self.sources.pop(file, None)
        self._released.append(file)

    def end(self) -> None:
        self._ended = True
        self._process.kill()
        with suppress(OSError, ValueError):
            self._process.communicate()


def _decoded(kind: bytes, data: bytes) -> Any:
    if kind == _END:
        return _END
    if kind == _ROWS:
        return pa.ipc.open_stream(pa.py_buffer(data)).read_all()
    value = json.loads(data)
    if kind == _ERROR:
        kind_name, message, hint, facts = value
        raise error_of_kind(_KINDS[kind_name], message, hint, facts)
    return value


class _Pool:
    """The processes, started when all others are busy."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: list[_Process] = []
        self._turn = 0

    def process(self) -> _Process:
        """A process for another file."""
        with self._lock:
            self._processes = [p for p in self._processes if not p.ended]
            found = next((p for p in self._processes if not p.lock.locked()), None)
            if found is None and len(self._processes) < _MAX_PROCESSES:
                found = _Process()
                self._processes.append(found)
            self._turn += 1
            return found or self._processes[self._turn % len(self._processes)]

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            for process in self._processes:
                process.end()
            self._processes = []


# -- in the decoding process


def serve_orc_reads() -> None:
    """Main loop of the process: decodes files until the parent closes the pipe."""
    parent = _Parent()
    sys.stdout = sys.stderr  # what a library prints must not be taken for a reply
    open_files: dict[int, tuple[OrcDecoder, dict[int, Iterator[pa.Table]]]] = {}
    from paimon_nb.format.data.orc_decoder import OrcDecoder

    set_limits = _limits()
    parent.send(_VALUE, _READY)
    while True:
        size, zone, released, file, stream, call, groups, rows, done = pickle.loads(parent.calls.get())
        for old in released:
            open_files.pop(old, None)
        path = open_files[file][0].path if file in open_files else ""
        set_limits(size)
        _set_zone(zone)
        try:
            if call == "open":
                path, fields, legacy = pickle.loads(groups)
                open_files[file] = (OrcDecoder(_ParentFiles(parent, file, size), path, fields, legacy), {})
                parent.send(_VALUE, b"true")
            elif file not in open_files:
                parent.send(_UNKNOWN_FILE, b"")
            else:
                _reply(parent, *open_files[file], (stream, call, groups, rows, done))
        except PaimonError as error:
            _send_error(parent, error)
        except BROKEN as error:
            _send_error(parent, broken_file(path, error, "ORC"))


def _send_error(parent: _Parent, error: PaimonError) -> None:
    kind = next((name for name, c in _KINDS.items() if isinstance(error, c)), CorruptFile.__name__)
    facts = {k: v for k, v in error.facts.items() if isinstance(v, str | int)}
    parent.send(_ERROR, json.dumps([kind, error.message, error.hint, facts]).encode())


def _reply(parent: _Parent, decoder: OrcDecoder, streams: dict[int, Iterator[pa.Table]], call: tuple[Any, ...]) -> None:
    stream, name, groups, rows, done = call
    if name == "schema":
        _send_table(parent, pa.Table.from_batches([], decoder.schema))  # Arrow makes no empty array of a union
        return
    if name not in ("read", "batches"):
        parent.send(_VALUE, json.dumps(getattr(decoder, name)).encode())
        return
    if stream not in streams:
        streams[stream] = decoder.stripes(groups) if name == "read" else decoder.batches(rows, groups)
        for _ in range(done):  # those that an ended process sent
            next(streams[stream], None)
    table = next(streams[stream], None)
    if table is None:
        del streams[stream]
        parent.send(_END, b"")
        return
    table.validate(full=True)  # the library does not check that its result is consistent
    _send_table(parent, table)


def _send_table(parent: _Parent, table: pa.Table) -> None:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as out:
        out.write_table(table)
    parent.send(_ROWS, sink.getvalue())


class _Parent:
    """The pipes to the parent. Arrow reads ahead in threads of its own, so bytes and calls come in any order."""

    def __init__(self) -> None:
        self.calls: SimpleQueue[bytes] = SimpleQueue()
        self._bytes: SimpleQueue[bytes] = SimpleQueue()
        self._replies, self._sending, self._reading = sys.stdout.buffer, threading.Lock(), threading.Lock()
        threading.Thread(target=self._listen, args=(sys.stdin.buffer,), daemon=True).start()

    def send(self, kind: bytes, data: Any) -> None:
        with self._sending:
            _send(self._replies, kind, data)

    def read(self, file: int, start: int, length: int) -> bytes:
        """Bytes of an open file of the parent."""
        with self._reading:
            self.send(_READ, _RANGE.pack(file, start, length))
            return self._bytes.get()

    def _listen(self, pipe: IO[bytes]) -> None:
        while (message := _receive(pipe)) is not None:
            (self._bytes if message[0] == _BYTES else self.calls).put(message[1])
        os._exit(0)  # the parent ended


class _ParentFiles:
    """The parent's open file, as the only one of a file system."""

    def __init__(self, parent: _Parent, file: int, size: int) -> None:
        self.parent, self.file, self.size = parent, file, size

    def open(self, path: str) -> _ParentFile:
        del path
        return _ParentFile(self)


class _ParentFile(io.RawIOBase):
    def __init__(self, files: _ParentFiles) -> None:
        self._files, self._at = files, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._files.size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def read(self, size: int = -1) -> bytes:
        left = max(0, self._files.size - self._at)
        length = left if size is None or size < 0 else min(size, left)
        data = self._files.parent.read(self._files.file, self._at, length) if length else b""
        if len(data) < length:
            raise EOFError("the file was closed")
        self._at += len(data)
        return data

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _set_zone(zone: str | None) -> None:
    """Use the time zone of the parent, which may have changed: files without a zone have the reader's."""
    if zone == os.environ.get("TZ"):
        return
    if zone is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = zone
    if hasattr(time, "tzset"):
        time.tzset()


def _limits() -> Any:
    """A function that limits memory and CPU time for the next call, for a file of a size; without effect where no limits exist."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        return lambda _: None

    def set_limits(size: int) -> None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        seconds = int(used.ru_utime + used.ru_stime) + _CPU_SECONDS + size // _BYTES_PER_SECOND
        memory = pages + _MEMORY + _MEMORY_PER_BYTE * size
        for kind, limit in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds)):
            with suppress(ValueError, OSError):
                hard = resource.getrlimit(kind)[1]
                resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))

    return set_limits


# -- messages


def _send(pipe: IO[bytes] | None, kind: bytes, data: Any) -> None:
    assert pipe
    pipe.write(_HEAD.pack(kind, len(data)))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: IO[bytes] | None) -> tuple[bytes, bytes] | None:
    """Read one message; None at the end of the pipe."""
    assert pipe
    head = pipe.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    kind, size = _HEAD.unpack(head)
    data = pipe.read(size)
    return (kind, data) if len(data) == size else None


def _no_process(why: str) -> EnvironmentError_:
    return EnvironmentError_(
        f"the process that decodes ORC files did not start: {why:.200}",
        hint=f"check that {sys.executable} starts and can import pyarrow",
    )


def _forget_after_fork() -> None:
    """Drop the processes after a fork: the child must not use its parent's pipes."""
    global POOL
    POOL = _Pool()


POOL = _Pool()
atexit.register(lambda: POOL.close())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
