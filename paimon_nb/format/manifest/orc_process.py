"""Decodes ORC bytes in a separate process, which corrupt bytes may crash.

Arrow's reader allocates the lengths in a file without checking the result, so one wrong byte can crash the process.
Metadata files are small and read for every opened table, so another process decodes them. It starts with the first such
file, decodes all later ones, and ends with this process.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO

import pyarrow as pa

from paimon_nb.base.errors import EnvironmentError_

_SECONDS = 60
"""Timeout for one file, in seconds; 8 MB, a manifest's usual size, take 0.1 s."""
_BYTES = 4 << 30
"""Limit of the process's address space, on systems with such a limit."""
_READY = b"ready"
_HEAD = 8


class OrcProcess:
    """The process, started on first use. Thread-safe: one request at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, data: bytes) -> pa.Table:
        """Read the rows of an ORC file. Raises `ValueError` for invalid bytes, `EnvironmentError_` if no process can be
        started.
        """
        with self._lock:
            reply = self._request_once(data) or self._request_once(
                data
            )  # something other than these bytes may have ended it
        if reply is None:
            raise ValueError("the reader crashed")
        if reply[:1] == b"!":
            raise ValueError(reply[1:].decode(errors="replace"))
        return pa.ipc.open_stream(pa.py_buffer(reply)).read_all()

    def close(self) -> None:
        with self._lock:
            self._kill_process()

    def _request_once(self, data: bytes) -> bytes | None:
        """The reply, None if the process ended before it came."""
        process = self._process or self._start_process()
        watch = threading.Timer(_SECONDS, process.kill)
        watch.start()
        reply = None
        with suppress(BrokenPipeError):
            try:
                _send_message(process.stdin, data)
                reply = _receive_message(process.stdout)
            finally:
                watch.cancel()
                if reply is None:  # ended or interrupted: the next request must not get this reply
                    self._kill_process()
        return reply

    def _start_process(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", f"from {__name__} import serve_orc_reads; serve_orc_reads()"]
        paths = os.pathsep.join(p or str(Path.cwd()) for p in sys.path)
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": paths},
                start_new_session=True,  # Ctrl-C must not end this process
            )
            ready = _receive_message(process.stdout) == _READY
        except OSError as error:
            raise _no_process(str(error)) from None
        if not ready:
            raise _no_process(f"it ended with {process.wait()}")
        self._process = process
        return process

    def _kill_process(self) -> None:
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None


def serve_orc_reads() -> None:
    """Main loop of the subprocess: reads files, returns Arrow streams or errors, until the parent closes the pipe."""
    from pyarrow import orc

    with suppress(ImportError, ValueError, OSError):  # not all systems have the limit
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
    files, replies = sys.stdin.buffer, sys.stdout.buffer
    _send_message(replies, _READY)
    while (data := _receive_message(files)) is not None:
        try:
            table = orc.ORCFile(pa.BufferReader(data)).read()
            table.validate(full=True)  # the reader does not check that its result is consistent
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, table.schema) as stream:
                stream.write_table(table)
            reply = sink.getvalue().to_pybytes()
        except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
            reply = f"!{error!s:.200}".encode()
        _send_message(replies, reply)


def _send_message(pipe: IO[bytes] | None, data: bytes) -> None:
    assert pipe
    pipe.write(len(data).to_bytes(_HEAD, "little"))
    pipe.write(data)
    pipe.flush()


def _receive_message(pipe: IO[bytes] | None) -> bytes | None:
    """Read one message; None at the end of the pipe."""
    assert pipe
    head = pipe.read(_HEAD)
    size = int.from_bytes(head, "little")
    data = pipe.read(size) if len(head) == _HEAD else b""
    return data if len(head) == _HEAD and len(data) == size else None


def _no_process(why: str) -> EnvironmentError_:
    return EnvironmentError_(
        f"the process that reads ORC manifests did not start: {why:.200}",
        hint=f"check that {sys.executable} starts and can import pyarrow",
    )


def _forget_after_fork() -> None:
    """Drop the process after a fork: the child must not use its parent's pipes."""
    global ORC
    ORC = OrcProcess()


ORC = OrcProcess()
atexit.register(lambda: ORC.close())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
