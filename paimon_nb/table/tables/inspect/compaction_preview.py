"""Previews the next compaction of each bucket and the rule that picks it, with the numbers. Decides nothing itself.

The pick is the engine's own (`lsm.pick_compaction`); the rules below only show the numbers it compared.
Source: docs/spec/merge-semantics.md section 4 (Paimon `UniversalCompaction`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.options import table as opt
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
from paimon_nb.table.tables.inspect.formatting import bytes_text, count_text, partition_text
from paimon_nb.table.write.bucket_compact.append import (
    deleted_share,
    deleted_share_limit,
    pick_append_auto,
    pick_unaware_bucket_files,
    small_file_threshold,
)
from paimon_nb.table.write.bucket_compact.bucket import KeyBucket, pick_limits
from paimon_nb.table.write.bucket_compact.cluster import cluster_levels, uses_clustering
from paimon_nb.table.write.bucket_compact.data_evolution import pick_row_ranges
from paimon_nb.table.write.bucket_compact.deletion_vectors import BucketVectors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.format.manifest import DataFile, IndexEntry
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
    """Current number of sorted runs; a read merges that many. Without primary key: its files."""
    rules: tuple[Rule, ...]
    decided_by: str | None
    """The first rule that applies; None: nothing is due."""
    files: tuple[str, ...]
    """Bytes that would be read."""
    bytes: int
    output_level: int | None
    output_files: int | None = None
    """Tables whose files have no levels: about how many files would be written."""

    def __str__(self) -> str:
        where = f"{self.partition}, bucket {self.bucket}" if self.partition else f"bucket {self.bucket}"
        what = (
            "nothing to compact"
            if self.decided_by is None
            else f"{self.decided_by}: {len(self.files)} file{'s' * (len(self.files) != 1)}"
            f" ({bytes_text(self.bytes)}) {self.becomes}"
        )
        lines = [f"{where}: {self.runs_text}; {what}"]
        return "\n".join([*lines, *(f"  {'>' if r.applies else ' '} {r.name}: {r.numbers}" for r in self.rules)])

    @property
    def runs_text(self) -> str:
        """What a read opens: `3 sorted runs`, `12 files`."""
        return count_text(self.runs, "sorted run" if self.output_files is None else "file")

    @property
    def becomes(self) -> str:
        """Where the picked rows go: `to level 5`, `into 1`."""
        if self.output_files is None:
            return f"to level {self.output_level}"
        return f"into {'about ' * (self.output_files > 1)}{self.output_files}"


def due_compactions(store: TableStore, options: Mapping[str, str] | None = None) -> list[CompactionPreview]:
    """Every bucket of the latest snapshot, those with the most runs first.

    Args:
        options: additional options to try: `{"num-sorted-run.compaction-trigger": "3"}`.

    Raises:
        BadOptionValue: a wrong option.
    """
    store = store.copy(options) if options else store
    snapshot = store.latest()
    if snapshot is None:
        return []
    index = tuple(index_entries(store, snapshot))
    out = []
    for (partition, bucket), entries in by_bucket(live_entries(store, snapshot)).items():
        files, where = tuple(e.file for e in entries), partition_text(store, partition)
        if not store.has_keys and not uses_clustering(store):
            out.append(_preview_append(store, partition, bucket, files, index))
        elif not store.has_keys:
            out.append(preview_compaction(*cluster_levels(store, files), where, bucket))
        elif bucket >= 0:  # postponed rows wait for a bucket, they have no levels
            levels = KeyBucket(store, partition, bucket, files, index).levels()
            out.append(preview_compaction(levels, pick_limits(store), where, bucket))
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


def _preview_append(
    store: TableStore, partition: bytes, bucket: int, files: tuple[DataFile, ...], index: tuple[IndexEntry, ...]
) -> CompactionPreview:
    """The same for a bucket of a table without primary key, or a partition of one without buckets."""
    o = store.options
    target, minimum = o.target_file_size(False), o.get(opt.COMPACTION_MIN_FILE_NUM)
    minimum = max(min(minimum, o.get(opt.COMPACTION_MAX_FILE_NUM) or minimum), 1)
    vectors = BucketVectors(store, partition, bucket, index)
    if store.evolves_data:
        groups = [[f for rows in part for f in rows] for part in pick_row_ranges(store, files)]
        which = "hold consecutive rows"
    elif store.bucket_option > 0:
        groups, which = [g for g in [pick_append_auto(store, files)] if g], "follow each other"
    else:
        groups = pick_unaware_bucket_files(store, files, full=False, vectors=vectors)
        which = f"are smaller than {bytes_text(int(small_file_threshold(store)))}"
    share = deleted_share_limit(store)
    deleted = {f.file_name for f in files if deleted_share(f, vectors) > share}
    has_deleted = [any(f.file_name in deleted for f in g) for g in groups]
    fill_two = any(len(g) < minimum and not d for g, d in zip(groups, has_deleted, strict=True))
    numbers = f"{count_text(len(files), 'file')}; merged when {minimum} or more {which}"
    rules = [Rule(opt.COMPACTION_MIN_FILE_NUM.key, numbers, any(len(g) >= minimum for g in groups))]
    size = bytes_text(sum(f.file_size for f in files))
    rules.append(Rule(opt.TARGET_FILE_SIZE.key, f"{size} in total; fewer files are merged if they fill two of {bytes_text(target)}", fill_two))  # fmt: skip
    if index:
        rules.append(Rule(opt.COMPACTION_DELETE_RATIO_THRESHOLD.key, f"{count_text(len(deleted), 'file')} with more than {share * 100:.0f} % deleted rows", any(has_deleted)))  # fmt: skip
    sizes = [sum(f.file_size for f in g) for g in groups]
    return CompactionPreview(
        partition_text(store, partition), bucket, len(files), tuple(rules), next((r.name for r in rules if r.applies), None),
        tuple(f.file_name for g in groups for f in g), sum(sizes), None, sum(-(-s // target) for s in sizes),
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
