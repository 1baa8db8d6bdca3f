"""A looked-up table in memory: its buckets, each as long as its files stay the same, within a bound of bytes. Knows no query."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from paimon_nb.table.scan.plan.prune import WantedBuckets
from paimon_nb.table.scan.plan.splits import Split

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.spark.scan.table_scan import Relation
    from paimon_nb.table.store import TableStore

_MOST = 32
"""Parts at most; those of more buckets hold several."""


@dataclass(slots=True)
class _Part:
    """Some buckets, of every partition."""

    chosen: Relation
    frame: DataFrame | None = None
    """The rows, when they are kept."""
    size: int | None = None
    """Bytes in memory, as Spark counted them; None as long as they were not used whole."""
    used: int = 0
    """When, in micro-batches."""

    @property
    def splits(self) -> list[Split]:
        return [replace(s, snapshot_id=0) for s in self.chosen.plan.splits]

    @property
    def bytes(self) -> int:
        """At least so many: files are compressed."""
        return sum(s.size for s in self.chosen.plan.splits) if self.size is None else self.size


class Dimension:
    """Rows of one table, of one snapshot after the other. Parts that a new snapshot left as they were stay in memory."""

    def __init__(self, limit: int | None) -> None:
        """`limit`: bytes; None: no bound, Spark puts on disk what memory cannot hold."""
        self.limit = limit
        self._parts: dict[int, _Part] = {}
        self._chosen: Relation | None = None
        self._clock = itertools.count(1)

    @property
    def whole(self) -> bool:
        """All of it fits."""
        return self.limit is None or sum(p.bytes for p in self._parts.values()) <= self.limit

    def move(self, chosen: Relation) -> None:
        """To another snapshot of the table."""
        if self._chosen is not None and self._chosen.fields != chosen.fields:
            self.close()
        self._chosen = chosen
        numbers: dict[int, list[int]] = {}
        for i, split in enumerate(chosen.plan.splits):
            numbers.setdefault(split.bucket % _MOST, []).append(i)
        for number in [n for n in self._parts if n not in numbers]:
            self._forget(self._parts.pop(number))
        for number, members in numbers.items():
            part = _Part(_only(chosen, members))
            before = self._parts.get(number)
            if before is not None and before.splits == part.splits:
                continue
            if before is not None:
                self._forget(before)
            self._parts[number] = part

    def is_lost(self, store: TableStore) -> bool:
        """Rows that are not in memory cannot be read any more: their snapshot is gone, and maybe their files."""
        self._measure()
        if self._chosen is None or all(p.size is not None and p.frame is not None for p in self._parts.values()):
            return False
        snapshot = self._chosen.plan.snapshot
        return snapshot is not None and snapshot.id < (store.snapshots.earliest_id() or 0)

    def frame(self, spark: SparkSession, keys: Callable[[], pa.Table | None]) -> DataFrame:
        """The rows that keys can mean, and maybe others.

        Args:
            keys: the values of the bucket key that are asked for, a column each in its order; None: not known. Called only
                where not all rows fit, for an answer costs a query.
        """
        from paimon_nb.spark.scan.table_scan import frame_of

        assert self._chosen is not None
        self._measure()
        wanted: Collection[int] = self._parts
        if not self.whole and (asked := keys()) is not None:
            wanted = self._holding(asked)
        now = next(self._clock)
        for number in wanted:
            self._parts[number].used = now
        frames = [self._rows(spark, self._parts[n]) for n in sorted(wanted)]
        if not frames:
            return frame_of(spark, _only(self._chosen, []))
        return reduce(lambda a, b: a.union(b), frames)

    def close(self) -> None:
        """Give the memory back."""
        while self._parts:
            self._forget(self._parts.popitem()[1])

    def _rows(self, spark: SparkSession, part: _Part) -> DataFrame:
        from paimon_nb.spark.scan.table_scan import frame_of

        if part.frame is not None:
            return part.frame
        rows = frame_of(spark, part.chosen)
        if self._makes_room(part):
            part.frame = rows.persist()
        return rows

    def _makes_room(self, part: _Part) -> bool:
        """Let parts go that were not used for longest, until this one fits beside the others; those of this micro-batch stay."""
        if self.limit is None:
            return True
        kept = sorted((p for p in self._parts.values() if p.frame is not None), key=lambda p: p.used)
        room = self.limit - sum(p.bytes for p in kept) - part.bytes
        gone = []
        for old in kept:
            if room >= 0 or old.used == part.used:
                break
            gone.append(old)
            room += old.bytes
        if room < 0:
            return False
        for old in gone:
            self._forget(old)
        return True

    def _measure(self) -> None:
        """Learn how much kept parts take; beyond the bound, the ones that were not used for longest go."""
        for part in self._parts.values():
            if part.frame is not None and part.size is None:
                part.size = _bytes(part.frame)
        if self.limit is None:
            return
        kept = sorted((p for p in self._parts.values() if p.frame is not None), key=lambda p: p.used)
        over = sum(p.bytes for p in kept) - self.limit
        for part in kept:
            if over <= 0:
                return
            over -= part.bytes
            self._forget(part)

    def _forget(self, part: _Part) -> None:
        if part.frame is not None:
            part.frame.unpersist()
            part.frame = None

    def _holding(self, keys: pa.Table) -> set[int]:
        """The parts that hold the buckets of keys."""
        assert self._chosen is not None
        asked = WantedBuckets(self._chosen.store, keys.combine_chunks())

        def holds(split: Split) -> bool:
            return any(asked.hold(split.bucket, split.total_buckets, f) for f in split.files)

        return {n for n, part in self._parts.items() if any(map(holds, part.chosen.plan.splits))}


def _only(chosen: Relation, members: list[int]) -> Relation:
    """Some of a scan's splits."""
    splits = tuple(chosen.plan.splits[i] for i in members)
    return replace(chosen, plan=replace(chosen.plan, splits=splits), routes=tuple(chosen.routes[i] for i in members))


def _bytes(frame: DataFrame) -> int | None:
    """What kept rows take, by Spark's own count; None as long as they were not used whole."""
    caches = frame.sparkSession._jsparkSession.sharedState().cacheManager()
    found = caches.lookupCachedData(frame._jdf)
    if found.isEmpty():
        return None
    relation = found.get().cachedRepresentation()
    if not relation.cacheBuilder().isCachedColumnBuffersLoaded():
        return None
    return int(str(relation.computeStats().sizeInBytes()))
