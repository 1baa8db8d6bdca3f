"""Works, contenders and the timing of them: interleaved, warmed up, answers compared, memory watched. Knows nothing of tables."""

from __future__ import annotations

import gc
import statistics
import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchmarks.processes import Memory, cpu_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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
    rows: float = 0.0
    """Rows that pass through a run, in multiples of the base's; 0: the work is not about rows."""


@dataclass(frozen=True, slots=True)
class Result:
    """One work measured."""

    work: Work
    seconds: dict[str, list[float]]
    """By contender, in the order of the runs."""
    cpu: dict[str, list[float]]
    """Seconds of all cores, Spark's and Python workers' included; empty where not known."""
    equal: bool
    memory: dict[str, int] = field(default_factory=dict)
    """Bytes by which the processes grew in their first run, at most."""

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
    memory: dict[str, int] = {}
    for number in range(repeat + 1):
        for c in contenders:
            if len(seconds[c.name]) >= (c.runs or repeat):
                continue
            c.before()
            gc.collect()
            watch = nullcontext() if c.name in memory else Memory()
            used, began = cpu_seconds(), time.perf_counter()
            with watch:
                answer = c.run()
            took = time.perf_counter() - began
            if isinstance(watch, Memory):  # looking takes time: that of the run that is not counted, where there is one
                memory[c.name] = watch.growth
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
    return Result(work, seconds, cpu, len(answers) > 1, memory)
