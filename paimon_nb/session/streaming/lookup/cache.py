"""Memory cache of a lookup table: its buckets, each valid until its files change, within a size limit. Knows no query."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.spark.runtime.jvm_bridge import cached_bytes
from paimon_nb.table.read.plan.prune import BucketFilter

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.table.read.plan.snapshot_scan import Split
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.read.strategy.planned_scan import PlannedScan

_MAX_PARTS = 32
"""Max number of parts; a part may contain several buckets."""


@dataclass(slots=True)
class _Part:
    """Some buckets of all partitions."""

    scan: PlannedScan
    frame: DataFrame | None = None
    """The cached rows, if they are cached."""
    size: int | None = None
    """Bytes in memory as measured by Spark; None until all rows were read once."""
    used: int = 0
    """Last use: the number of a micro-batch."""

    @property
    def splits(self) -> list[Split]:
        return [replace(s, snapshot_id=0) for s in self.scan.plan.splits]

    @property
    def bytes(self) -> int:
        """Size in memory; before it is measured, the files' size, which is a lower bound."""
        return sum(s.size for s in self.scan.plan.splits) if self.size is None else self.size


class Dimension:
    """A lookup table that follows the table's snapshots. Parts that a new snapshot does not change stay in memory."""

    def __init__(self, limit: int | None) -> None:
        """`limit`: bytes; None: unlimited, Spark spills to disk."""
        self.limit = limit
        self._parts: dict[int, _Part] = {}
        self._scan: PlannedScan | None = None
        self._clock = itertools.count(1)

    @property
    def whole(self) -> bool:
        """Whether the whole table fits."""
        return self.limit is None or sum(p.bytes for p in self._parts.values()) <= self.limit

    def move_to_snapshot(self, scan: PlannedScan) -> None:
        """Move to another snapshot of the table."""
        if self._scan is not None and self._scan.fields != scan.fields:
            self.close()
        self._scan = scan
        numbers: dict[int, list[int]] = {}
        for i, split in enumerate(scan.plan.splits):
            numbers.setdefault(split.bucket % _MAX_PARTS, []).append(i)
        for number in [n for n in self._parts if n not in numbers]:
            self._evict(self._parts.pop(number))
        for number, members in numbers.items():
            part = _Part(_restricted_to(scan, members))
            before = self._parts.get(number)
            if before is not None and before.splits == part.splits:
                continue
            if before is not None:
                self._evict(before)
            self._parts[number] = part

    def needs_expired_files(self, store: TableStore) -> bool:
        """Whether rows that are not in memory belong to an expired snapshot, so their files may be deleted."""
        self._measure_and_evict()
        if self._scan is None or all(p.size is not None and p.frame is not None for p in self._parts.values()):
            return False
        snapshot = self._scan.plan.snapshot
        return snapshot is not None and snapshot.id < (store.snapshots.earliest_id() or 0)

    def frame(self, spark: SparkSession, keys: Callable[[], pa.Table | None]) -> DataFrame:
        """The rows for the lookup keys, and possibly more.

        Args:
            keys: returns the requested bucket key values, one column per key column; None: unknown. It costs a query, so
                it is called only if the table does not fit.
        """
        from paimon_nb.spark.scan.table_scan import to_dataframe

        assert self._scan is not None
        self._measure_and_evict()
        needed: Collection[int] = self._parts
        if not self.whole and (requested := keys()) is not None:
            needed = self._parts_with_keys(requested)
        now = next(self._clock)
        for number in needed:
            self._parts[number].used = now
        frames = [self._cached_rows(spark, self._parts[n]) for n in sorted(needed)]
        if not frames:
            return to_dataframe(spark, _restricted_to(self._scan, []))
        return reduce(lambda a, b: a.union(b), frames)

    def close(self) -> None:
        """Release the memory."""
        while self._parts:
            self._evict(self._parts.popitem()[1])

    def _cached_rows(self, spark: SparkSession, part: _Part) -> DataFrame:
        from paimon_nb.spark.scan.table_scan import to_dataframe

        if part.frame is not None:
            return part.frame
        rows = to_dataframe(spark, part.scan)
        if self._make_space(part):
            part.frame = rows.persist()
        return rows

    def _make_space(self, part: _Part) -> bool:
        """Evict least recently used parts until this one fits; parts of this micro-batch stay. Returns whether it fits."""
        if self.limit is None:
            return True
        cached = sorted((p for p in self._parts.values() if p.frame is not None), key=lambda p: p.used)
        free = self.limit - sum(p.bytes for p in cached) - part.bytes
        evicted = []
        for candidate in cached:
            if free >= 0 or candidate.used == part.used:
                break
            evicted.append(candidate)
            free += candidate.bytes
        if free < 0:
            return False
        for candidate in evicted:
            self._evict(candidate)
        return True

    def _measure_and_evict(self) -> None:
        """Measure cached parts; evict least recently used ones beyond the limit."""
        for part in self._parts.values():
            if part.frame is not None and part.size is None:
                part.size = cached_bytes(part.frame)
        if self.limit is None:
            return
        cached = sorted((p for p in self._parts.values() if p.frame is not None), key=lambda p: p.used)
        excess = sum(p.bytes for p in cached) - self.limit
        for part in cached:
            if excess <= 0:
                return
            excess -= part.bytes
            self._evict(part)

    def _evict(self, part: _Part) -> None:
        if part.frame is not None:
            part.frame.unpersist()
            part.frame = None

    def _parts_with_keys(self, keys: pa.Table) -> set[int]:
        """The parts with the buckets of these keys."""
        assert self._scan is not None
        buckets = BucketFilter(self._scan.store, keys.combine_chunks())

        def holds(split: Split) -> bool:
            return any(buckets.contains(split.bucket, split.total_buckets, f) for f in split.files)

        return {n for n, part in self._parts.items() if any(map(holds, part.scan.plan.splits))}


def _restricted_to(scan: PlannedScan, members: list[int]) -> PlannedScan:
    """The scan restricted to some of its splits."""
    splits = tuple(scan.plan.splits[i] for i in members)
    return replace(scan, plan=replace(scan.plan, splits=splits), routes=tuple(scan.routes[i] for i in members))
