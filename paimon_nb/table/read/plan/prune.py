"""Prunes files that cannot hold a matching row: by partition, bucket, level, key and value statistics, file index.

Key statistics are always usable. Value statistics are usable only if no other file of the bucket can hold a newer
version of a row; otherwise a whole bucket is skipped or nothing. Source: docs/spec/format.md section 14.1 (Paimon
`KeyValueFileStoreScan`).
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_nb.format.manifest import DataFile, Entries, ManifestEntry, ManifestFile, as_entries
from paimon_nb.format.row.binary_row import to_arrow_value
from paimon_nb.format.types import DataType, arrow_type
from paimon_nb.format.types.arrow_builders import arrow_column as column_of
from paimon_nb.format.types.arrow_builders import sorted_unique, to_numpy
from paimon_nb.options import table as opt
from paimon_nb.table.read.live_files import bucket_numbers
from paimon_nb.table.read.plan.scan_report import ScanReport, SkippedFiles, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.table.read.predicate.model import Predicate
    from paimon_nb.table.read.predicate.stats_evaluator import Bounds
    from paimon_nb.table.read.store import TableStore

_KEY_COMBINATIONS = 1000


class Pruner:
    """Prunes the entries of one scan and records what was skipped."""

    def __init__(self, store: TableStore, predicate: Predicate | None, *, independent: bool) -> None:
        """
        Args:
            predicate: bound to the store's schema. independent: no two files hold versions of the same row.
        """
        schema = store.schema
        self.store, self.predicate, self.independent = store, predicate, independent
        self.on_partition: Predicate | None = None
        self.on_key: Predicate | None = None
        if predicate is not None:
            from paimon_nb.table.read.predicate.model import conjuncts_on

            self.on_partition = (
                conjuncts_on(predicate, frozenset(schema.partition_keys)) if schema.partition_keys else None
            )
            self.on_key = conjuncts_on(predicate, frozenset(schema.trimmed_primary_keys)) if store.has_keys else None
        self._stages: list[Stage] = []
        self._left_out: list[SkippedFiles] = []
        self._partition_matches: dict[bytes, bool] = {}

    # -- manifests

    def keep_manifests(self, manifests: Sequence[ManifestFile]) -> list[bool]:
        """Whether a manifest may hold entries of a matching partition."""
        if self.on_partition is None or not manifests:
            return [True] * len(manifests)
        from paimon_nb.table.read.predicate.stats_evaluator import Bounds, may_match, stats_column

        fields = self.store.schema.partition_fields
        types = [f.type for f in fields]
        counts = column_of([m.num_added + m.num_deleted for m in manifests], pa.int64())

        def partition_bounds(name: str) -> Bounds:
            i = [f.name for f in fields].index(name)
            stats = [m.partition_stats for m in manifests]
            nulls = [s.null_counts[i] if s.null_counts and i < len(s.null_counts) else None for s in stats]
            low = stats_column(column_of([s.min_values for s in stats], pa.large_binary()), types, i)
            high = stats_column(column_of([s.max_values for s in stats], pa.large_binary()), types, i)
            return Bounds(low, high, column_of(nulls, pa.int64()), counts)

        return list(may_match(self.on_partition, len(manifests), partition_bounds, self._type_of).to_pylist())

    # -- entries

    def prune_partitions(self, entries: Sequence[ManifestEntry]) -> Entries:
        """Entries of partitions that match the predicate."""
        entries = as_entries(entries)
        numbers, seen = entries.partitions
        if self.on_partition is not None:
            self._evaluate_partitions([p for p in seen if p not in self._partition_matches])
        keep = np.array([self._partition_matches.get(p, True) for p in seen], dtype=bool)
        if self.store.read_partitions is not None:
            keep &= [self.store.reads_partition(self.store.partition_values(p)) for p in seen]
        self._stages.append(Stage("partitions", len(seen), int(keep.sum())))
        return self.keep_files(entries, keep[numbers], "partition does not match")

    def prune_postponed(self, entries: Entries) -> Entries:
        """Entries without postponed rows, which are visible once a compaction assigned their bucket."""
        real = entries.column("bucket") >= 0
        return self.keep_files(entries, real, "postponed rows have no bucket before a compaction")

    def _evaluate_partitions(self, partitions: list[bytes]) -> None:
        assert self.on_partition is not None
        if not partitions:
            return
        from paimon_nb.table.read.predicate.evaluate import evaluate
        from paimon_nb.table.read.predicate.stats_evaluator import stats_column

        fields = self.store.schema.partition_fields
        types = [f.type for f in fields]
        rows = column_of(partitions, pa.large_binary())
        columns = [stats_column(rows, types, i) for i in range(len(fields))]
        table = pa.table(columns, schema=pa.schema([pa.field(f.name, arrow_type(f.type)) for f in fields]))
        matches = evaluate(self.on_partition, table, fields).to_pylist()
        self._partition_matches.update(zip(partitions, (w is True for w in matches), strict=True))

    def prune_buckets(self, entries: Sequence[ManifestEntry]) -> Entries:
        """Entries of buckets that the predicate's bucket keys hash to."""
        entries = as_entries(entries)
        seen = len(bucket_numbers(entries)[1])
        keys, remaining = self._bucket_keys(), seen
        one = self.store.options.get(opt.SCAN_BUCKET)
        if one is not None:
            entries = self.keep_files(entries, entries.column("bucket") == one, "it is not the bucket of 'scan.bucket'")
            remaining = len(bucket_numbers(entries)[1])
        if keys is not None:
            bucket_filter = BucketFilter(self.store, keys)
            entries = self.keep_files(entries, bucket_filter.bucket_mask(entries), "bucket does not match the key")
            remaining = len(bucket_numbers(entries)[1])
        self._stages.append(Stage("buckets", seen, remaining))
        return entries

    def _bucket_keys(self) -> pa.Table | None:
        """The combinations of bucket key values that can match, one per row; None if they are unknown or too many."""
        if self.predicate is None:
            return None
        from paimon_nb.table.read.predicate.model import Compare, In, RowIn, conjuncts

        schema = self.store.schema
        names = schema.bucket_keys
        values: dict[str, tuple[object, ...]] = {}
        for part in conjuncts(self.predicate):
            match part:
                case Compare(column, "=", literal):
                    values[column] = (literal,)
                case In(column, literals) if column not in values:
                    values[column] = literals
                case RowIn(found, keys) if names and set(names) <= set(found) and keys.num_rows <= _KEY_COMBINATIONS:
                    return keys.select(list(names))
        if not names or not all(n in values for n in names):
            return None
        if np.prod([len(values[n]) for n in names]) > _KEY_COMBINATIONS:
            return None
        rows = list(product(*(values[n] for n in names)))
        columns = [
            column_of([to_arrow_value(schema.field(n).type, r[i]) for r in rows], arrow_type(schema.field(n).type))
            for i, n in enumerate(names)
        ]
        return pa.table(columns, names=list(names))

    def prune_levels(
        self, entries: Sequence[ManifestEntry], keep_level: Callable[[int], bool] | None, reason: str
    ) -> Entries:
        """Entries of the selected levels."""
        entries = as_entries(entries)
        if keep_level is None:
            return entries
        levels = entries.column("level")
        seen = [level for level in sorted_unique(levels).tolist() if keep_level(level)]
        return self.keep_files(entries, np.isin(levels, seen), reason)

    def prune_created_before(self, entries: Sequence[ManifestEntry], ms: int | None) -> Entries:
        """Entries of files created at or after a time."""
        entries = as_entries(entries)
        if ms is None:
            return entries
        return self.keep_files(entries, entries.column("created") >= ms, "created before the wanted time")

    def prune_by_stats(self, entries: Sequence[ManifestEntry]) -> Entries:
        """Entries whose key statistics match, then those whose value statistics and file index match."""
        entries, total = as_entries(entries), len(entries)
        if self.on_key is not None:
            entries = self._prune_by_bounds(entries, self.on_key, keys=True, reason="key range does not match")
        if self.predicate is not None:
            entries = self._prune_by_value_stats(entries)
        self._stages.append(Stage("files", total, len(entries)))
        return entries

    def _prune_by_value_stats(self, entries: Entries) -> Entries:
        assert self.predicate is not None
        if self.independent:
            return self._prune_by_bounds(entries, self.predicate, keys=False, reason="values do not match")
        answers = self._stats_may_match(entries, self.predicate, keys=False)
        engine = self.store.options.merge_engine
        makes_rows = engine in ("partial-update", "aggregation") and not self.store.options.deletion_vectors
        bucket, firsts = bucket_numbers(entries)
        count, levels = len(firsts), entries.column("level")
        low, high = np.full(count, np.iinfo(np.int64).max), np.full(count, -1)
        np.minimum.at(low, bucket, levels)
        np.maximum.at(high, bucket, levels)
        alone = (np.bincount(bucket, minlength=count) == 1) | ((low == high) & (low > 0))
        some = np.ones(count, bool) if makes_rows else np.bincount(bucket, answers, count) > 0
        return self.keep_files(entries, np.where(alone[bucket], answers, some[bucket]), "values do not match")

    def _prune_by_bounds(self, entries: Entries, predicate: Predicate, *, keys: bool, reason: str) -> Entries:
        return self.keep_files(entries, self._stats_may_match(entries, predicate, keys=keys), reason)

    def _stats_may_match(self, entries: Entries, predicate: Predicate, *, keys: bool) -> np.ndarray:
        from paimon_nb.table.read.plan.file_index import has_index, index_may_match
        from paimon_nb.table.read.predicate.stats_evaluator import column_bounds, may_match

        cached: dict[str, Bounds] = {}

        def bounds_of_column(column: str) -> Bounds:
            if column not in cached:
                field = self.store.schema.field(column)
                cached[column] = column_bounds(entries, field, self._schema_of, keys=keys)
            return cached[column]

        if not len(entries):
            return np.zeros(0, dtype=bool)
        answers = to_numpy(may_match(predicate, len(entries), bounds_of_column, self._type_of))
        if not keys and self.store.options.get(opt.FILE_INDEX_READ_ENABLED):
            indexed = np.flatnonzero(answers & (entries.column("beside") > 0))
            for i, entry in zip(indexed.tolist(), entries.objects(indexed), strict=True):
                if has_index(entry.file):
                    answers[i] = index_may_match(self.store, entry.partition, entry.bucket, entry.file, predicate)
        return answers

    # -- report

    def funnel(self) -> ScanReport:
        """The report so far."""
        return ScanReport(tuple(self._stages), tuple(self._left_out))

    def stage(self, name: str, total: int, remaining: int) -> None:
        self._stages.append(Stage(name, total, remaining))

    def keep_files(self, entries: Entries, keep: np.ndarray, reason: str) -> Entries:
        """The entries to keep, a boolean each; the others are reported with a reason."""
        if keep.all():
            return entries
        self._left_out.append(SkippedFiles(reason, entries.filter(~keep)))
        return entries.filter(keep)

    def _type_of(self, column: str) -> DataType:
        return self.store.schema.field(column).type

    def _schema_of(self, schema_id: int) -> TableSchema:
        return self.store.schema_by_id(schema_id)


class BucketFilter:
    """Whether a file's bucket can hold one of the given bucket keys, for any number of buckets."""

    def __init__(self, store: TableStore, keys: pa.Table) -> None:
        """`keys`: the columns of the bucket key, in its order."""
        self.store, self.keys = store, keys
        self.types = [store.schema.field(n).type for n in store.schema.bucket_keys]
        self.function = store.options.get(opt.BUCKET_FUNCTION_TYPE) or "default"
        self._by_total: dict[int, frozenset[int]] = {}
        self._same_types: dict[int, bool] = {}

    def contains(self, bucket: int, total: int, file: DataFile) -> bool:
        return total <= 0 or not self._hashes_alike(file.schema_id) or bucket in self._buckets_for_total(total)

    def bucket_mask(self, entries: Entries) -> np.ndarray:
        """Like `contains`, a boolean per entry."""
        totals, buckets, schemas = (entries.column(n) for n in ("total_buckets", "bucket", "schema_id"))
        alike = [s for s in sorted_unique(schemas).tolist() if self._hashes_alike(s)]
        known = (totals > 0) & np.isin(schemas, alike)
        out: np.ndarray = ~known
        for total in sorted_unique(totals[known]).tolist():
            out |= known & (totals == total) & np.isin(buckets, list(self._buckets_for_total(total)))
        return out

    def _buckets_for_total(self, total: int) -> frozenset[int]:
        if total not in self._by_total:
            from paimon_nb.format.row import bucket_of

            found = bucket_of(self.types, self.keys.columns, total, self.function)
            self._by_total[total] = frozenset(np.asarray(found).tolist())
        return self._by_total[total]

    def _hashes_alike(self, schema_id: int) -> bool:
        """Files written with another type of a bucket column have different hashes."""
        if schema_id not in self._same_types:
            self._same_types[schema_id] = types_alike(self.store, schema_id, self.store.schema.bucket_keys)
        return self._same_types[schema_id]


def types_alike(store: TableStore, schema_id: int, columns: Iterable[str]) -> bool:
    """Whether files of a schema hold these columns in their current types."""
    old = {f.id: f.type.with_nullable(True) for f in store.schema_by_id(schema_id).fields}
    now = [store.schema.field(name) for name in columns]
    return all(old.get(f.id) == f.type.with_nullable(True) for f in now)
