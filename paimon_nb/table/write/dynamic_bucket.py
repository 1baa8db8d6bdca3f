"""Dynamic buckets: a key keeps its first bucket; the hash index stores the assignment.

Source: docs/spec/merge-semantics.md section 5; docs/spec/format.md section 12.2 (Paimon `index/PartitionIndex`).
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

import numpy as np

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.index import read_hash_index, write_hash_index
from paimon_nb.format.manifest import IndexEntry
from paimon_nb.format.row import key_hash
from paimon_nb.options import table as opt
from paimon_nb.table.read.live_files import index_entries
from paimon_nb.table.write.input_rows import one_chunk
from paimon_nb.table.write.publish.changes import HASH, CommitMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore

_MAX_BUCKETS = 32767
_PARALLELISM = 8
"""Assigners of a table with a limited number of buckets. In Java as many as tasks; a constant gives one layout everywhere."""


def _assigner_count(store: TableStore) -> int:
    """Number of assigners that share the keys of a partition, and so its initial buckets. Assigner a owns the buckets b
    with b % assigners = a.

    Java runs at most one per task; here one process runs all of them. With a limited number of buckets, the first rows
    are spread over them; without, one assigner keeps a small table in one file.
    """
    options = store.options
    count = options.get(opt.DYNAMIC_BUCKET_INITIAL_BUCKETS) or options.get(opt.DYNAMIC_BUCKET_ASSIGNER_PARALLELISM)
    return count or (_PARALLELISM if options.get(opt.DYNAMIC_BUCKET_MAX_BUCKETS) > 0 else 1)


@dataclass
class _Partition:
    """Known keys of one partition."""

    hashes: np.ndarray
    """Known key hashes (int32), sorted."""
    buckets: np.ndarray
    """Bucket of each."""
    counts: dict[int, int]
    """Keys per bucket."""
    old_entries: dict[int, IndexEntry]
    grown: set[int] = field(default_factory=set)
    """Buckets with new keys, which need a new index file."""


class DynamicBuckets:
    """Assigns buckets to rows and writes the index files that store the assignment."""

    def __init__(self, store: TableStore, snapshot: Snapshot | None) -> None:
        """`snapshot`: the one whose keys have buckets already; None: there are none, or they are replaced."""
        self.store = store
        self._target = store.options.get(opt.DYNAMIC_BUCKET_TARGET_ROW_NUM)
        configured = store.options.get(opt.DYNAMIC_BUCKET_MAX_BUCKETS)
        self._max_buckets = (
            _MAX_BUCKETS if configured == -1 else max(configured, 1)
        )  # a partition always has at least one bucket
        self._assigners = min(_assigner_count(store), self._max_buckets)
        self._entries = [e for e in index_entries(store, snapshot) if e.index_type == HASH]
        self._partitions: dict[bytes, _Partition] = {}

    def assign_buckets_of_rows(self, rows: pa.Table, partitions: Sequence[bytes], groups: np.ndarray) -> np.ndarray:
        """Bucket per row."""
        fields = self.store.schema.key_fields
        hashes = np.asarray(key_hash([f.type for f in fields], [one_chunk(rows.column(f.name)) for f in fields]))
        out = np.zeros(rows.num_rows, dtype=np.int32)
        for group, partition in enumerate(partitions):
            rows_of = np.flatnonzero(groups == group)
            out[rows_of] = self._assign_buckets(self._load_partition(partition), hashes[rows_of].astype(np.int32))
        return out

    def add_index(self, messages: Sequence[CommitMessage]) -> list[CommitMessage]:
        """Messages with the index files of buckets that got new keys."""
        out = []
        for message in messages:
            known = self._partitions.get(message.partition)
            if known is None or message.bucket not in known.grown:
                out.append(message)
                continue
            hashes = known.hashes[known.buckets == message.bucket]
            old = known.old_entries.get(message.bucket)
            entry = self._write_index_file(message, hashes)
            out.append(replace(message, new_index=(*message.new_index, entry), deleted_index=(old,) if old else ()))
        return out

    # -- inside

    def _write_index_file(self, message: CommitMessage, hashes: np.ndarray) -> IndexEntry:
        name = self.store.new_file_name("index")
        path, external = self.store.new_index_path(message.partition, message.bucket, name)
        size = write_hash_index(self.store.fs, path, hashes)
        return IndexEntry(
            partition=message.partition,
            bucket=message.bucket,
            index_type=HASH,
            file_name=name,
            file_size=size,
            row_count=len(hashes),
            dv_ranges=None,
            external_path=external,
        )

    def _load_partition(self, partition: bytes) -> _Partition:
        if partition not in self._partitions:
            old = {e.bucket: e for e in self._entries if e.partition == partition}
            self.store.fs.prefetch((self.store.index_path(e), e.file_size) for e in old.values())
            loaded = {b: np.asarray(read_hash_index(self.store.fs, self.store.index_path(e))) for b, e in old.items()}
            hashes = np.concatenate([*loaded.values(), np.empty(0, np.int32)]).astype(np.int32)
            buckets = np.concatenate(
                [*(np.full(len(h), b, np.int32) for b, h in loaded.items()), np.empty(0, np.int32)]
            ).astype(np.int32)
            order = np.argsort(hashes, kind="stable")
            counts = {b: len(h) for b, h in loaded.items()}
            self._partitions[partition] = _Partition(hashes[order], buckets[order], counts, old)
        return self._partitions[partition]

    def _assign_buckets(self, known: _Partition, hashes: np.ndarray) -> np.ndarray:
        index = np.searchsorted(known.hashes, hashes)
        inside = np.minimum(index, max(len(known.hashes) - 1, 0))
        is_known = (known.hashes[inside] == hashes) if len(known.hashes) else np.zeros(len(hashes), bool)
        fresh = hashes[~is_known]
        if len(fresh):
            unique, first = np.unique(fresh, return_index=True)
            ordered = unique[np.argsort(first)]  # in arrival order, as an assigner that works row by row would see them
            assigned = self._buckets_for_new_keys(known, ordered)
            all_hashes = np.concatenate([known.hashes, ordered])
            all_buckets = np.concatenate([known.buckets, assigned])
            order = np.argsort(all_hashes, kind="stable")
            known.hashes, known.buckets = all_hashes[order], all_buckets[order]
            known.grown.update(int(b) for b in np.unique(assigned))
        result: np.ndarray = known.buckets[np.searchsorted(known.hashes, hashes)]
        return result

    def _buckets_for_new_keys(self, known: _Partition, hashes: np.ndarray) -> np.ndarray:
        """Buckets for new keys. Each assigner assigns its share of the keys to its own buckets."""
        share = np.abs(hashes.astype(np.int64)) % self._assigners
        out = np.empty(len(hashes), np.int32)
        for assigner in range(self._assigners):
            rows_of = np.flatnonzero(share == assigner)
            if len(rows_of):
                out[rows_of] = self._fill_buckets(known, len(rows_of), assigner)
        return out

    def _fill_buckets(self, known: _Partition, count: int, assigner: int) -> np.ndarray:
        """Buckets for `count` new keys: first fill the assigner's buckets below the target, then open new ones."""
        parts: list[np.ndarray] = []
        for bucket in self._buckets_of_assigner(known, assigner):
            free = min(max(self._target - known.counts[bucket], 0), count)
            if free:
                parts.append(np.full(free, bucket, np.int32))
                known.counts[bucket] += free
                count -= free
        for bucket in range(assigner, self._max_buckets, self._assigners):
            if not count:
                break
            if bucket in known.counts:
                continue
            taken = min(self._target, count)
            known.counts[bucket] = taken
            parts.append(np.full(taken, bucket, np.int32))
            count -= taken
        if count:  # all buckets are full and no more may be opened: spread evenly
            full = np.array(self._buckets_of_assigner(known, assigner), np.int32)
            spread = full[np.arange(count) % len(full)]
            for bucket in spread:
                known.counts[int(bucket)] += 1
            parts.append(spread)
        return np.concatenate(parts)

    def _buckets_of_assigner(self, known: _Partition, assigner: int) -> list[int]:
        """Existing buckets of the assigner, in order."""
        return sorted(b for b in known.counts if b % self._assigners == assigner)
