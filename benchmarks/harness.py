"""Works, contenders and the timing of them: interleaved, warmed up, answers compared. Knows nothing of tables."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.stage import Stage

OURS = "paimon_nb"


@dataclass(frozen=True, slots=True)
class Timed:
    """What a contender returns that keeps its own clock: a peer in another process, or a run that does a thing n times."""

    seconds: float
    answer: Any


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
    equal: bool

    def median(self, name: str) -> float:
        return statistics.median(self.seconds[name])

    def ratio(self, name: str) -> float:
        """Our time in multiples of theirs: below 1 we are faster."""
        return self.median(OURS) / self.median(name)

    def missed(self) -> dict[str, float]:
        """Targets that were not reached: contender -> ratio."""
        return {n: self.ratio(n) for n, most in self.work.targets.items() if n in self.seconds and self.ratio(n) > most}


class Unequal(Exception):
    """Two contenders gave different answers: the times say nothing then."""


def measure(work: Work, stage: Stage, repeat: int) -> Result:
    """Run the contenders in turn, `repeat` rounds after a warm-up round. Raises Unequal."""
    contenders = list(work.contenders(stage))
    seconds: dict[str, list[float]] = {c.name: [] for c in contenders}
    last: dict[str, Any] = {}
    for number in range(repeat + 1):
        for c in contenders:
            if number == 0 and not c.warm_up:
                continue
            if len(seconds[c.name]) >= (c.runs or repeat):
                continue
            c.before()
            gc.collect()
            began = time.perf_counter()
            answer = c.run()
            took = time.perf_counter() - began
            if isinstance(answer, Timed):
                answer, took = answer.answer, answer.seconds
            if number:
                seconds[c.name].append(took)
            last[c.name] = answer
    answers = {c.name: c.check(last[c.name]) for c in contenders if c.check is not None}
    first = next(iter(answers.values()), None)
    for name, answer in answers.items():
        if answer != first:
            raise Unequal(f"{work.slug}: {name} answers\n  {answer}\nwhere {next(iter(answers))} answers\n  {first}")
    return Result(work, seconds, len(answers) > 1)
