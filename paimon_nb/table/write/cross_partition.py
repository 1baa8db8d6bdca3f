"""Cross-partition updates: the primary key does not contain all partition columns, and buckets are dynamic.

A write reads every key of the table once. Source: docs/spec/merge-semantics.md section 5 (Paimon `crosspartition/`).
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.row import key_hash, to_scalar
from paimon_nb.format.types.arrow_builders import from_numpy, to_numpy
from paimon_nb.options import table as opt
from paimon_nb.table.lsm.superseded import key_ids
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.read.split.bucket_keys import bucket_keys
from paimon_nb.table.write.input_rows import DELETE, UPDATE_BEFORE, one_chunk, partition_groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore

BucketKey = tuple[bytes, int]


@dataclass(frozen=True)
class RoutedRows:
    """Rows with their final partition and bucket; retractions of moved keys precede the moved rows."""

    rows: pa.Table
    kinds: np.ndarray
    partitions: list[bytes]
    groups: np.ndarray
    """Index into `partitions` per row."""
    buckets: np.ndarray


class CrossPartition:
    """Finds the current bucket of each key. Memory: one entry per key of the table."""

    def __init__(
        self, store: TableStore, snapshot: Snapshot | None, *, overwrite: bool = False, sort_first_rows: bool = False
    ) -> None:
        """
        Args:
            store: the table.
            snapshot: the one with the existing keys; None: there are none, or they are replaced.
            overwrite: whether they are replaced.
            sort_first_rows: sort the first rows of a table without rows by key, as Java does in batch jobs.
        """
        self.store = store
        self.engine = store.options.merge_engine
        self._target = store.options.get(opt.DYNAMIC_BUCKET_TARGET_ROW_NUM)
        self._assigners = store.options.get(opt.DYNAMIC_BUCKET_ASSIGNER_PARALLELISM) or 1
        """Number of assigners that share the keys. Assigner a owns the buckets b with b % assigners = a."""
        self._bucket_of_key: dict[object, BucketKey] = {}
        self._counts: dict[bytes, dict[int, int]] = {}
        keys_of_partition = [
            i for i, name in enumerate(store.schema.partition_keys) if name in store.schema.primary_keys
        ]
        self._partition_part = functools.cache(
            lambda partition: tuple(store.partition_values(partition)[i] for i in keys_of_partition)
        )
        """The values of those partition columns that belong to the primary key."""
        if snapshot is not None:
            for partition, bucket, keys in bucket_keys(store, snapshot, live_entries(store, snapshot)):
                for key in keys.to_pylist():
                    self._record_bucket((key, self._partition_part(partition)), (partition, bucket))
        self._sort_next = sort_first_rows and not overwrite and not self._bucket_of_key

    def route_rows_to_partitions(self, rows: pa.Table, kinds: np.ndarray) -> RoutedRows:
        """Route each row to its own partition or, depending on the merge engine, to the key's current partition."""
        if self._sort_next:
            order = self._key_order(rows)
            rows, kinds, self._sort_next = rows.take(from_numpy(order)), kinds[order], False
        partitions, groups = partition_groups(self.store, rows)
        ids = key_ids(rows, self.store.schema.key_fields).to_pylist()
        assigners = self._assigner_of_rows(rows)
        source: list[int] = []
        where: list[BucketKey] = []
        out_kinds: list[int] = []

        def add_routed_row(row: int, bucket_key: BucketKey, kind: int) -> None:
            source.append(row)
            where.append(bucket_key)
            out_kinds.append(kind)

        columns = ids, groups.tolist(), kinds.tolist(), assigners.tolist()
        for row, (within, group, kind, assigner) in enumerate(zip(*columns, strict=True)):
            named = partitions[group]
            key = (within, self._partition_part(named))
            known = self._bucket_of_key.get(key)
            if known is None:
                add_routed_row(row, self._assign_new_bucket(key, named, assigner), kind)
            elif known[0] == named:
                add_routed_row(row, known, kind)
            elif self.engine == "deduplicate":
                add_routed_row(row, known, DELETE)
                if kind not in (DELETE, UPDATE_BEFORE):
                    self._counts[known[0]][known[1]] -= 1
                    add_routed_row(row, self._assign_new_bucket(key, named, assigner), kind)
            elif self.engine != "first-row":
                add_routed_row(
                    row, known, kind
                )  # partial-update, aggregation: the row stays in the key's current partition
        return self._routed_rows(rows, source, where, out_kinds)

    # -- inside

    def _key_order(self, rows: pa.Table) -> np.ndarray:
        """The positions of rows by primary key, of a key those that Java writes into a table without rows.

        Source: Paimon `GlobalIndexAssigner.bulkLoadBootstrapRecords`, `ExistingProcessor`.
        """
        names = self.store.schema.primary_keys
        order = to_numpy(pc.sort_indices(rows.select(names), sort_keys=[(n, "ascending", "at_start") for n in names]))
        if self.engine not in ("deduplicate", "first-row") or not len(order):
            return order
        by_name = {f.name: f for f in self.store.schema.fields}
        ids = key_ids(rows.take(from_numpy(order)), [by_name[n] for n in names])
        starts = np.append(True, to_numpy(pc.not_equal(ids[1:], ids[:-1])))
        positions: np.ndarray = order[starts if self.engine == "first-row" else np.append(starts[1:], True)]
        return positions

    def _assigner_of_rows(self, rows: pa.Table) -> np.ndarray:
        """The assigner of each row's key, by the hash of the whole primary key."""
        if self._assigners == 1:
            return np.zeros(rows.num_rows, np.int64)
        by_name = {f.name: f for f in self.store.schema.fields}
        fields = [by_name[name] for name in self.store.schema.primary_keys]
        hashes = np.asarray(key_hash([f.type for f in fields], [one_chunk(rows.column(f.name)) for f in fields]))
        return np.abs(hashes.astype(np.int64)) % self._assigners

    def _assign_new_bucket(self, key: object, partition: bytes, assigner: int) -> BucketKey:
        """The assigner's first bucket below the target, else its first bucket that does not exist yet."""
        counts = self._counts.setdefault(partition, {})
        own = itertools.count(assigner, self._assigners)
        bucket = next((b for b in sorted(counts) if b % self._assigners == assigner and counts[b] < self._target), None)
        if bucket is None:
            bucket = next(b for b in own if b not in counts)
        bucket_key = (partition, bucket)
        self._record_bucket(key, bucket_key)
        return bucket_key

    def _record_bucket(self, key: object, bucket_key: BucketKey) -> None:
        self._bucket_of_key[key] = bucket_key
        counts = self._counts.setdefault(bucket_key[0], {})
        counts[bucket_key[1]] = counts.get(bucket_key[1], 0) + 1

    def _routed_rows(
        self, rows: pa.Table, source: Sequence[int], where: Sequence[BucketKey], kinds: Sequence[int]
    ) -> RoutedRows:
        partitions = list(dict.fromkeys(p for p, _ in where))
        number = {p: i for i, p in enumerate(partitions)}
        groups = np.array([number[p] for p, _ in where], np.int64)
        out = rows.take(pa.array(source, pa.int64()))
        values = [self.store.partition_values(p) for p in partitions]
        for i, field in enumerate(self.store.schema.partition_fields):
            kind = out.schema.field(field.name).type
            choices = pa.array([to_scalar(field.type, v[i]).as_py() for v in values], kind)
            at = out.schema.get_field_index(field.name)
            out = out.set_column(at, out.schema.field(at), choices.take(from_numpy(groups)))
        buckets = np.array([b for _, b in where], np.int32)
        return RoutedRows(out, np.array(kinds, np.int8), partitions, groups, buckets)
