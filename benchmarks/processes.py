"""What this process and all its descendants use: CPU seconds, memory. Reads /proc; where that is not, nothing is known."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

_PROC = Path("/proc")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_EVERY_S = 0.02


def cpu_seconds() -> float | None:
    """CPU seconds used so far by this process and all its descendants, finished ones included; None where /proc is not."""
    children, used = _processes()
    if os.getpid() not in used:
        return None
    return sum(used[pid] for pid in _tree(children))


def _processes(*, own: bool = False) -> tuple[dict[int, list[int]], dict[int, float]]:
    """(parent -> children, process -> CPU seconds; with those of its ended children, unless `own`)."""
    children: dict[int, list[int]] = {}
    used: dict[int, float] = {}
    for stat in _PROC.glob("[0-9]*/stat"):
        try:
            pid = int(stat.parent.name)
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        children.setdefault(int(fields[1]), []).append(pid)
        used[pid] = sum(map(int, fields[11 : 13 if own else 15])) / os.sysconf("SC_CLK_TCK")
    return children, used


def _tree(children: dict[int, list[int]], root: int | None = None) -> list[int]:
    """A process and all below it. What a JVM starts is, for a moment, that JVM once more, with its memory: left out."""
    found, waiting = [], [os.getpid() if root is None else root]
    while waiting:
        found.append(waiting.pop())
        below = children.get(found[-1], [])
        waiting += [pid for pid in below if not _is_spark(pid)] if _is_spark(found[-1]) else below
    return found


class CpuBelow:
    """Watches the CPU seconds of all descendants of a process while the block runs, JVMs included.

    Ended processes keep what was last seen of them: a parent does not always take over their seconds.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._seen: dict[int, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> CpuBelow:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def seconds(self) -> float:
        """Used so far."""
        children, used = _processes(own=True)
        waiting = [*children.get(self._root, [])]
        while waiting:
            pid = waiting.pop()
            self._seen[pid] = max(used[pid], self._seen.get(pid, 0))
            waiting += children.get(pid, [])
        return sum(self._seen.values())

    def _watch(self) -> None:
        while not self._stop.wait(_EVERY_S * 10):
            self.seconds()


class Memory:
    """Watches how far this process and its descendants grow while the block runs.

    Pages that the block found free in a process (a heap that had grown before) do not count, and pages that several processes
    share count for each; so it compares first runs, and bounds what a run needs from below.
    """

    def __init__(self) -> None:
        self.growth = 0
        """Bytes, at most so far."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Memory:
        self._before = resident()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        looks, pids = 0, _tree(_processes()[0])
        while not self._stop.wait(_EVERY_S):
            looks += 1
            if looks % 10 == 0:
                pids = _tree(_processes()[0])
            self.growth = max(self.growth, resident(pids) - self._before)


def resident(pids: list[int] | None = None) -> int:
    """Bytes of memory that these processes hold; None: this one and its descendants."""
    total = 0
    for pid in _tree(_processes()[0]) if pids is None else pids:
        try:
            total += int((_PROC / str(pid) / "statm").read_text().split()[1]) * _PAGE
        except (OSError, IndexError):  # it has ended meanwhile
            continue
    return total


def highest() -> int:
    """Bytes that this process held at most, since it began; 0 where /proc is not."""
    return _highest_of("self")


def highest_of_descendants() -> int:
    """The sum of the bytes that this process and each of its descendants held at most."""
    return sum(_highest_of(str(pid)) for pid in _tree(_processes()[0]))


def _highest_of(pid: str) -> int:
    try:
        lines = (_PROC / pid / "status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)


def by_program() -> dict[str, int]:
    """Bytes that this process (driver), Spark's JVM below it and the Python processes below that one (workers) hold."""
    children, _ = _processes()
    jvms = [pid for pid in _tree(children) if _is_spark(pid)]
    below = [pid for jvm in jvms for pid in _tree(children, jvm)[1:]]
    return {"driver": resident([os.getpid()]), "JVM": resident(jvms), "workers": resident(below)}


def _is_spark(pid: int) -> bool:
    try:
        command = (_PROC / str(pid) / "cmdline").read_bytes()
        return b"java" in command.split(b"\0")[0] and b"org.apache.spark" in command
    except OSError:
        return False
