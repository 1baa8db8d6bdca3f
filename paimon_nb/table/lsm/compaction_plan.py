"""What a compaction unit does with each of its files: rewrite together, or upgrade unchanged. Pure.

Source: docs/spec/merge-semantics.md section 4 (Paimon `mergetree/compact/MergeTreeCompactTask.java`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.table.lsm.levels import Section, SortedRun

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paimon_nb.format.manifest import DataFile


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Merge these sections, in key order, into new files on the output level."""

    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Upgrade:
    """Change the file's level; its bytes stay."""

    file: DataFile


Step = Rewrite | Upgrade


def compaction_steps(
    parts: Sequence[Section],
    output_level: int,
    *,
    small_below: float,
    may_upgrade: Callable[[DataFile], bool],
    must_rewrite: Callable[[DataFile], bool],
) -> list[Step]:
    """Steps in key order.

    Args:
        parts: the unit's sections.
        small_below: single files below this size are rewritten together with their neighbours.
        may_upgrade: False for a file that cannot simply change its level (delete rows going to the max level, ...).
        must_rewrite: True for a file that needs a rewrite even on the output level (deletion vectors, ...).
    """
    steps: list[Step] = []
    waiting: list[Section] = []

    def add_step_for_file(file: DataFile) -> None:
        if file.level == output_level:
            if must_rewrite(file):
                steps.append(Rewrite(((SortedRun((file,)),),)))
        elif may_upgrade(file) and not must_rewrite(file):
            steps.append(Upgrade(file))
        else:
            steps.append(Rewrite(((SortedRun((file,)),),)))

    def add_steps_for_waiting_sections() -> None:
        if len(waiting) == 1 and len(waiting[0]) == 1:
            for file in waiting[0][0].files:
                add_step_for_file(file)  # one small file alone: rewriting it gains nothing
        elif waiting:
            steps.append(Rewrite(tuple(waiting)))
        waiting.clear()

    for section in parts:
        if len(section) > 1:
            waiting.append(section)
            continue
        for file in section[0].files:
            # A file between two pending ones must not be skipped: the output run must stay in key order.
            if file.file_size < small_below:
                waiting.append((SortedRun((file,)),))
            else:
                add_steps_for_waiting_sections()
                add_step_for_file(file)
    add_steps_for_waiting_sections()
    return steps
