"""What a plan left out, stage by stage, and why. Plain data with a text form."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stage:
    """How much came in at a stage and how much went on."""

    name: str
    total: int
    kept: int


@dataclass(frozen=True, slots=True)
class Skip:
    """A file that is not read."""

    file_name: str
    partition: bytes
    bucket: int
    size: int
    reason: str


@dataclass(frozen=True, slots=True)
class Funnel:
    """Stages from the whole snapshot to the files that are read."""

    stages: tuple[Stage, ...] = ()
    skips: tuple[Skip, ...] = ()
    """Files left out one by one; those of manifests that were not even opened are only counted in the first stage."""

    @property
    def reasons(self) -> dict[str, int]:
        """Reason -> number of files."""
        return dict(Counter(s.reason for s in self.skips))

    def __str__(self) -> str:
        lines = [", ".join(f"{s.kept} of {s.total} {s.name}" for s in self.stages)]
        lines += [f"{count} file{'s' * (count != 1)}: {reason}" for reason, count in self.reasons.items()]
        return "\n".join(lines)
