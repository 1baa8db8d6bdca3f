"""Works, contenders and the timing of them: interleaved, warmed up, answers compared. Knows nothing of tables."""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.stage import Stage

OURS = "paimon_nb"


@dataclass(frozen=True, slots=True)
class Timed:
    """What a contender returns that keeps its own clock: a peer in another process, or a run that does a thing n times."""

    seconds: float
    answer: Any
    cpu: float | None = None
    """Seconds of all cores; None when not known."""


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to do a work."""

    name: str
    run: Callable[[], Any]
    """The timed part. Returns the answer, or `Timed`."""
    before: Callable[[], None] = lambda: None
    """Untimed, ahead of each run: a fresh copy of a table, an empty directory."""
    check: Callable[[Any], Any] | None = lambda answer: answer
    """Untimed, after the last run: what must be equal among all contenders of the work. None: does another thing."""
    runs: int | None = None
    """At most so many runs, for what takes long."""
    warm_up: bool = True


@dataclass(frozen=True, slots=True)
class Work:
    """A work that several can do; the first contender is paimon_nb."""

    slug: str
    title: str
    contenders: Callable[[Stage], Iterable[Contender]]
    targets: dict[str, float] = field(default_factory=dict)
    """Contender name -> at most so many times its seconds."""


@dataclass(frozen=True, slots=True)
class Result:
    """One work measured."""

    work: Work
    seconds: dict[str, list[float]]
    """By contender, in the order of the runs."""
    cpu: dict[str, list[float]]
    """Seconds of all cores, Spark's and Python workers' included; empty where not known."""
    equal: bool

    def median(self, name: str) -> float:
        return statistics.median(self.seconds[name])

    def ratio(self, name: str) -> float:
        """Our time in multiples of theirs: below 1 we are faster."""
        return self.median(OURS) / self.median(name)

    def cpu_ratio(self, name: str) -> float | None:
        """The same by CPU seconds, which other work on the machine disturbs less; None when one is not known."""
        if not self.cpu[OURS] or not self.cpu[name]:
            return None
        return statistics.median(self.cpu[OURS]) / max(statistics.median(self.cpu[name]), 1e-9)

    def missed(self) -> dict[str, float]:
        """Targets that were not reached: contender -> ratio."""
        return {n: self.ratio(n) for n, most in self.work.targets.items() if n in self.seconds and self.ratio(n) > most}


class Unequal(Exception):
    """Two contenders gave different answers: the times say nothing then."""


def measure(work: Work, stage: Stage, repeat: int) -> Result:
    """Run the contenders in turn, `repeat` rounds after a warm-up round. Raises Unequal."""
    contenders = list(work.contenders(stage))
    seconds: dict[str, list[float]] = {c.name: [] for c in contenders}
    cpu: dict[str, list[float]] = {c.name: [] for c in contenders}
    last: dict[str, Any] = {}
    for number in range(repeat + 1):
        for c in contenders:
            if len(seconds[c.name]) >= (c.runs or repeat):
                continue
            c.before()
            gc.collect()
            used, began = cpu_seconds(), time.perf_counter()
            answer = c.run()
            took = time.perf_counter() - began
            busy = None if used is None else (cpu_seconds() or 0.0) - used
            if isinstance(answer, Timed):
                answer, took, busy = answer.answer, answer.seconds, answer.cpu
            if number or not c.warm_up:
                seconds[c.name].append(took)
                if busy is not None:
                    cpu[c.name].append(busy)
            last[c.name] = answer
    answers = {c.name: c.check(last[c.name]) for c in contenders if c.check is not None}
    first = next(iter(answers.values()), None)
    for name, answer in answers.items():
        if answer != first:
            raise Unequal(f"{work.slug}: {name} answers\n  {answer}\nwhere {next(iter(answers))} answers\n  {first}")
    return Result(work, seconds, cpu, len(answers) > 1)


def cpu_seconds() -> float | None:
    """CPU seconds used so far by this process and all its descendants, finished ones included; None where /proc is not."""
    children: dict[int, list[int]] = {}
    used: dict[int, float] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid = int(stat.parent.name)
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        children.setdefault(int(fields[1]), []).append(pid)
        used[pid] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    if os.getpid() not in used:
        return None
    total, waiting = 0.0, [os.getpid()]
    while waiting:
        pid = waiting.pop()
        total += used[pid]
        waiting += children.get(pid, [])
    return total
