"""What a plan skipped, stage by stage, and why. Plain data with a text form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paimon_nb.format.manifest import ManifestEntry


@dataclass(frozen=True, slots=True)
class Stage:
    """Number of items before and after a stage."""

    name: str
    total: int
    remaining: int


@dataclass(frozen=True, slots=True)
class SkippedFiles:
    """Files skipped for one reason."""

    reason: str
    entries: Sequence[ManifestEntry]


@dataclass(frozen=True, slots=True)
class Skip:
    """A skipped file."""

    file_name: str
    partition: bytes
    bucket: int
    size: int
    reason: str


@dataclass(frozen=True, slots=True)
class ScanReport:
    """Stages from the whole snapshot to the files that are read."""

    stages: tuple[Stage, ...] = ()
    left_out: tuple[SkippedFiles, ...] = ()
    """Files skipped one by one; those in unopened manifests are only counted in the first stage."""

    def skips(self) -> Iterator[Skip]:
        """Every skipped file, with its reason."""
        for group in self.left_out:
            for e in group.entries:
                yield Skip(e.file.file_name, e.partition, e.bucket, e.file.file_size, group.reason)

    @property
    def reasons(self) -> dict[str, int]:
        """Reason -> number of files."""
        out: dict[str, int] = {}
        for group in self.left_out:
            out[group.reason] = out.get(group.reason, 0) + len(group.entries)
        return out

    def __str__(self) -> str:
        lines = [", ".join(f"{s.remaining} of {s.total} {s.name}" for s in self.stages)]
        lines += [f"{count} file{'s' * (count != 1)}: {reason}" for reason, count in self.reasons.items()]
        return "\n".join(lines)
