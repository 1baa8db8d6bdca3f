"""Previews the next compaction of each bucket and the rule that picks it, with the numbers. Decides nothing itself.

The pick is the engine's own (`lsm.pick_compaction`); the rules below only show the numbers it compared.
Source: docs/spec/merge-semantics.md section 4 (Paimon `UniversalCompaction`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.table.lsm.pick import (
    PickLimits,
    pick_by_run_count,
    pick_by_size_amplification,
    pick_by_size_ratio,
    pick_compaction,
    pick_early_full,
    pick_level0,
)
from paimon_nb.table.read.live_files import by_bucket, index_entries, live_entries
from paimon_nb.table.tables.inspect.formatting import bytes_text, partition_text
from paimon_nb.table.write.bucket_compact.bucket import KeyBucket, pick_limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.table.lsm import Levels
    from paimon_nb.table.read.store import TableStore

_LISTED_SIZES = 8


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the strategy, in evaluation order."""

    name: str
    """The option's name."""
    numbers: str
    """The compared values."""
    applies: bool


@dataclass(frozen=True, slots=True)
class CompactionPreview:
    """The compaction preview of one bucket."""

    partition: str
    bucket: int
    runs: int
    """Current number of sorted runs; a read merges that many."""
    rules: tuple[Rule, ...]
    decided_by: str | None
    """The first rule that applies; None: nothing is due."""
    files: tuple[str, ...]
    """Bytes that would be read."""
    bytes: int
    output_level: int | None

    def __str__(self) -> str:
        where = f"{self.partition}, bucket {self.bucket}" if self.partition else f"bucket {self.bucket}"
        what = (
            "nothing to compact"
            if self.decided_by is None
            else f"{self.decided_by}: {len(self.files)} file{'s' * (len(self.files) != 1)}"
            f" ({bytes_text(self.bytes)}) to level {self.output_level}"
        )
        lines = [f"{where}: {self.runs} sorted run{'s' * (self.runs != 1)}; {what}"]
        return "\n".join([*lines, *(f"  {'>' if r.applies else ' '} {r.name}: {r.numbers}" for r in self.rules)])


def due_compactions(store: TableStore, options: Mapping[str, str] | None = None) -> list[CompactionPreview]:
    """Every bucket of the latest snapshot, those with the most runs first.

    Args:
        options: additional options to try: `{"num-sorted-run.compaction-trigger": "3"}`.

    Raises:
        UnsupportedOperation: no primary key. BadOptionValue: a wrong option.
    """
    if not store.has_keys:
        raise UnsupportedOperation(
            f"{store.name} has no primary key, so it has no LSM levels", hint="CALL sys.compact merges its small files"
        )
    store = store.copy(options) if options else store
    snapshot = store.latest()
    if snapshot is None:
        return []
    index = tuple(index_entries(store, snapshot))
    out = []
    for (partition, bucket), entries in by_bucket(live_entries(store, snapshot)).items():
        if bucket < 0:
            continue  # postponed rows wait for a bucket, they have no levels
        files = tuple(e.file for e in entries)
        levels = KeyBucket(store, partition, bucket, files, index).levels()
        out.append(preview_compaction(levels, pick_limits(store), partition_text(store, partition), bucket))
    return sorted(out, key=lambda d: (-d.runs, d.partition, d.bucket))


def preview_compaction(levels: Levels, limits: PickLimits, partition: str = "", bucket: int = 0) -> CompactionPreview:
    """The same for one bucket's levels; pure."""
    rules = _evaluate_rules(levels, limits)
    unit = pick_compaction(levels, limits)
    decided = next((r.name for r in rules if r.applies), None) if unit else None
    files = tuple(f.file_name for f in unit.files) if unit else ()
    return CompactionPreview(
        partition, bucket, len(levels.runs), rules, decided, files, sum(f.file_size for f in unit.files) if unit else 0,
        unit.output_level if unit else None,
    )  # fmt: skip


def _some(texts: list[str]) -> str:
    """All texts, or the first and the last of many."""
    listed = texts if len(texts) <= _LISTED_SIZES else [*texts[: _LISTED_SIZES - 2], "…", texts[-1]]
    return ", ".join(listed)


def _evaluate_rules(levels: Levels, limits: PickLimits) -> tuple[Rule, ...]:
    runs = levels.runs
    count = f"{len(runs)} run{'s' * (len(runs) != 1)} (starts at {limits.trigger})"
    oldest = runs[-1].run.size if runs else 0
    newer = sum(r.run.size for r in runs[:-1])
    percent = f"{newer * 100 / oldest:.0f} %" if oldest else "no data"
    out = []
    if (limits.optimization_interval_ms, limits.total_size_threshold, limits.incremental_size_threshold) != (None,) * 3:
        total = bytes_text(newer + oldest)
        out.append(
            Rule("compaction.optimization-interval", f"{total} in total", pick_early_full(levels, limits) is not None)
        )
    out += [
        Rule(
            "compaction.max-size-amplification-percent",
            f"{count}; newer runs have {percent} of the oldest run's size (limit {limits.max_size_amplification} %)",
            pick_by_size_amplification(levels, limits) is not None,
        ),
        Rule(
            "compaction.size-ratio",
            f"{count}; a run is merged if it is at most {limits.size_ratio} % larger than the runs already picked"
            f" ({_some([bytes_text(r.run.size) for r in runs])})",
            pick_by_size_ratio(levels, limits) is not None,
        ),
        Rule("num-sorted-run.compaction-trigger", count, pick_by_run_count(levels, limits) is not None),
    ]
    if limits.force_level0:
        waiting = len(levels.level0)
        out.append(
            Rule(
                "move level 0",
                f"{waiting} file{'s' * (waiting != 1)} on level 0",
                pick_level0(levels, limits) is not None,
            )
        )
    return tuple(out)
