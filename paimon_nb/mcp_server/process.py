"""Runs the tools in a process of their own, which is ended when a call reaches a limit of time or memory.

Some work cannot be interrupted in another way: a regular expression of Java, a constant that Spark evaluates, a value of two gigabytes. The next call
starts a new process.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.mcp_server.limits import Limits, too_much_memory, too_slow

if TYPE_CHECKING:
    from collections.abc import Sequence

_POLL_S = 0.2
_START_S = 180.0
"""The start of the process, and that of Spark."""


class ToolFailed(Exception):
    """A call failed. The text is for the assistant, without secrets."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What the process opens."""

    warehouse: str
    config: str | None = None
    folders: tuple[str, ...] = ()
    limits: Limits = Limits()


class ToolProcess:
    """The tools of `ReadOnlyTools` in another process. Thread-safe: calls wait for each other."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._folder = ""

    def start(self) -> None:
        """Start the process. Raises ToolFailed: the warehouse or the configuration cannot be opened."""
        with self._lock:
            self._start()

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """The result of a tool.

        Raises: ToolFailed: the tool refused the call, or failed. LimitReached: the call was ended.
        """
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._end()
                self._start()
            assert self._process is not None
            assert self._process.stdin is not None
            try:
                self._process.stdin.write(json.dumps({"tool": tool, "arguments": arguments}) + "\n")
                self._process.stdin.flush()
                message = self._answer()
            except (OSError, ToolFailed):
                self._end()
                raise
            if message.get("ends"):  # the process does not trust its own state, after Java had no memory
                self._end()
        if "error" in message:
            raise ToolFailed(str(message["error"]))
        return message["result"]

    def close(self) -> None:
        """End the process and all that it started."""
        with self._lock:
            self._end()

    # -- one process

    def _start(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="paimon-nb-mcp-")
        self._messages = queue.Queue()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "paimon_nb.mcp_server.worker"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True,
            env={**os.environ, "TMPDIR": self._folder, "PAIMON_NB_QUIET": "1"},
        )  # fmt: skip
        threading.Thread(target=self._read, args=(self._process, self._messages), daemon=True).start()
        setup, limits = self._setup, self._setup.limits
        assert self._process.stdin is not None
        opened = {
            "warehouse": setup.warehouse, "config": setup.config, "folders": list(setup.folders), "folder": self._folder,
            "limits": {"seconds": limits.seconds, "rows": limits.rows, "bytes": limits.bytes, "memory": limits.memory,
                       "statement": limits.statement},
        }  # fmt: skip
        try:
            self._process.stdin.write(json.dumps(opened) + "\n")
            self._process.stdin.flush()
            message = self._messages.get(timeout=_START_S)
        except (OSError, queue.Empty):
            message = None
        if message is None or "error" in message:
            self._end()
            raise ToolFailed(str((message or {}).get("error", "the process that reads tables did not start")))

    @staticmethod
    def _read(process: subprocess.Popen[str], messages: queue.Queue[dict[str, Any] | None]) -> None:
        assert process.stdout is not None
        with suppress(ValueError, OSError):
            for line in process.stdout:
                messages.put(json.loads(line))
        messages.put(None)

    def _answer(self) -> dict[str, Any]:
        """The next answer. The start of Spark does not count."""
        assert self._process is not None
        limits = self._setup.limits
        deadline = time.monotonic() + limits.seconds
        while True:
            try:
                message = self._messages.get(timeout=_POLL_S)
            except queue.Empty:
                if time.monotonic() > deadline:
                    self._end()
                    raise too_slow(limits) from None
                if memory_of_session(self._process.pid) > limits.memory:
                    self._end()
                    raise too_much_memory(limits) from None
                continue
            if message is None:
                self._end()
                raise ToolFailed("the process that ran the call ended; the next call starts another one")
            if "spark" not in message:
                return message
            deadline = time.monotonic() + (_START_S if message["spark"] == "starts" else limits.seconds)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            end_session(process.pid)
            with suppress(OSError):
                process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError, ValueError):
                    if pipe is not None:
                        pipe.close()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = ""


def memory_of_session(leader: int) -> int:
    """Bytes of memory of the processes of a session: Python, the JVM, and Spark's workers. 0 where the system does not say."""
    return sum(size for _, size in _session(leader))


def end_session(leader: int) -> None:
    """Kill the processes of a session."""
    for pid, _ in _session(leader):
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    with suppress(OSError, AttributeError):
        os.killpg(leader, signal.SIGKILL)


def _session(leader: int) -> list[tuple[int, int]]:
    """(process id, bytes of memory) of the processes of a session."""
    if not Path("/proc/self/stat").exists():
        return _group_of_ps(leader)
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                fields = _stat_fields((entry / "stat").read_text())
                if int(fields[3]) == leader:
                    found.append((int(entry.name), int(fields[21]) * os.sysconf("SC_PAGE_SIZE")))
    return found


def _stat_fields(text: str) -> Sequence[str]:
    """The fields after the name of the command, which may have spaces and brackets."""
    return text.rpartition(")")[2].split()


def _group_of_ps(leader: int) -> list[tuple[int, int]]:  # pragma: no cover  not on Linux
    done = subprocess.run(["ps", "-A", "-o", "pid=,pgid=,rss="], capture_output=True, text=True, check=False)
    rows = (line.split() for line in done.stdout.splitlines())
    return [(int(pid), int(rss) << 10) for pid, group, rss in rows if int(group) == leader]
