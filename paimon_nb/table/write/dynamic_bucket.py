"""Dynamic buckets: every key keeps the bucket it was first given; the hash index remembers.

Source: behaviour reference, section 5; format reference, section 12.2 (Paimon `index/PartitionIndex`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from paimon_nb.format.index import read_hash_index, write_hash_index
from paimon_nb.format.manifest import IndexEntry
from paimon_nb.format.row import key_hash
from paimon_nb.options import table as opt
from paimon_nb.table.commit.attempt import index_entries
from paimon_nb.table.commit.message import CommitMessage
from paimon_nb.table.commit.snapshot_change import HASH
from paimon_nb.table.store import TableStore
from paimon_nb.table.write.bucket_assigner import one_chunk

_MOST_BUCKETS = 32767


def _assigners(store: TableStore) -> int:
    """How many share the keys of a partition, and so the buckets that it starts with. Assigner a owns the buckets b with
    b % assigners = a.

    Java runs no more of them than a job has tasks; here one process plays them all.
    """
    options = store.options
    asked = options.get(opt.DYNAMIC_BUCKET_INITIAL_BUCKETS) or options.get(opt.DYNAMIC_BUCKET_ASSIGNER_PARALLELISM)
    return asked or 1


@dataclass
class _Partition:
    """What is known about one partition's keys."""

    hashes: np.ndarray
    """Known key hashes (int32), sorted."""
    buckets: np.ndarray
    """Bucket of each."""
    counts: dict[int, int]
    """Keys per bucket."""
    old_entries: dict[int, IndexEntry]
    grown: set[int] = field(default_factory=set)
    """Buckets that got new keys and so need a new index file."""


class DynamicBuckets:
    """Gives rows their buckets and writes the index files that make it last."""

    def __init__(self, store: TableStore, *, ignore_existing: bool = False) -> None:
        self.store = store
        self._target = store.options.get(opt.DYNAMIC_BUCKET_TARGET_ROW_NUM)
        most = store.options.get(opt.DYNAMIC_BUCKET_MAX_BUCKETS)
        self._most = _MOST_BUCKETS if most == -1 else max(most, 1)  # a partition has a first bucket in any case
        self._assigners = min(_assigners(store), self._most)
        snapshot = None if ignore_existing else store.latest()
        self._entries = [e for e in index_entries(store, snapshot) if e.index_type == HASH]
        self._partitions: dict[bytes, _Partition] = {}

    def assign(self, rows: pa.Table, partitions: Sequence[bytes], groups: np.ndarray) -> np.ndarray:
        """Bucket per row."""
        fields = self.store.schema.key_fields
        hashes = np.asarray(key_hash([f.type for f in fields], [one_chunk(rows.column(f.name)) for f in fields]))
        out = np.zeros(rows.num_rows, dtype=np.int32)
        for group, partition in enumerate(partitions):
            mine = np.flatnonzero(groups == group)
            out[mine] = self._assign(self._partition(partition), hashes[mine].astype(np.int32))
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
            entry = self._write(message, hashes)
            out.append(replace(message, new_index=(*message.new_index, entry), deleted_index=(old,) if old else ()))
        return out

    # -- inside

    def _write(self, message: CommitMessage, hashes: np.ndarray) -> IndexEntry:
        name = self.store.new_file_name("index")
        path, told = self.store.new_index_path(message.partition, message.bucket, name)
        size = write_hash_index(self.store.fs, path, hashes)
        return IndexEntry(
            partition=message.partition,
            bucket=message.bucket,
            index_type=HASH,
            file_name=name,
            file_size=size,
            row_count=len(hashes),
            dv_ranges=None,
            external_path=told,
        )

    def _partition(self, partition: bytes) -> _Partition:
        if partition not in self._partitions:
            old = {e.bucket: e for e in self._entries if e.partition == partition}
            loaded = {b: np.asarray(read_hash_index(self.store.fs, self.store.index_path(e))) for b, e in old.items()}
            hashes = np.concatenate([*loaded.values(), np.empty(0, np.int32)]).astype(np.int32)
            buckets = np.concatenate(
                [*(np.full(len(h), b, np.int32) for b, h in loaded.items()), np.empty(0, np.int32)]
            ).astype(np.int32)
            order = np.argsort(hashes, kind="stable")
            counts = {b: len(h) for b, h in loaded.items()}
            self._partitions[partition] = _Partition(hashes[order], buckets[order], counts, old)
        return self._partitions[partition]

    def _assign(self, known: _Partition, hashes: np.ndarray) -> np.ndarray:
        place = np.searchsorted(known.hashes, hashes)
        inside = np.minimum(place, max(len(known.hashes) - 1, 0))
        is_known = (known.hashes[inside] == hashes) if len(known.hashes) else np.zeros(len(hashes), bool)
        fresh = hashes[~is_known]
        if len(fresh):
            unique, first = np.unique(fresh, return_index=True)
            ordered = unique[np.argsort(first)]  # in order of arrival, as a row-at-a-time assigner would see them
            given = self._give(known, ordered)
            all_hashes = np.concatenate([known.hashes, ordered])
            all_buckets = np.concatenate([known.buckets, given])
            order = np.argsort(all_hashes, kind="stable")
            known.hashes, known.buckets = all_hashes[order], all_buckets[order]
            known.grown.update(int(b) for b in np.unique(given))
        result: np.ndarray = known.buckets[np.searchsorted(known.hashes, hashes)]
        return result

    def _give(self, known: _Partition, hashes: np.ndarray) -> np.ndarray:
        """Buckets for new keys. Each assigner gives its share of the keys the buckets that are its own."""
        share = np.abs(hashes.astype(np.int64)) % self._assigners
        given = np.empty(len(hashes), np.int32)
        for assigner in range(self._assigners):
            mine = np.flatnonzero(share == assigner)
            if len(mine):
                given[mine] = self._fill(known, len(mine), assigner)
        return given

    def _fill(self, known: _Partition, count: int, assigner: int) -> np.ndarray:
        """Buckets for `count` new keys: fill those of the assigner that have room, then open new ones."""
        given: list[np.ndarray] = []
        for bucket in self._own(known, assigner):
            room = min(max(self._target - known.counts[bucket], 0), count)
            if room:
                given.append(np.full(room, bucket, np.int32))
                known.counts[bucket] += room
                count -= room
        for bucket in range(assigner, self._most, self._assigners):
            if not count:
                break
            if bucket in known.counts:
                continue
            taken = min(self._target, count)
            known.counts[bucket] = taken
            given.append(np.full(taken, bucket, np.int32))
            count -= taken
        if count:  # every bucket is full and no more may be opened: spread evenly
            full = np.array(self._own(known, assigner), np.int32)
            spread = full[np.arange(count) % len(full)]
            for bucket in spread:
                known.counts[int(bucket)] += 1
            given.append(spread)
        return np.concatenate(given)

    def _own(self, known: _Partition, assigner: int) -> list[int]:
        """Buckets of the assigner that are there already, in order."""
        return sorted(b for b in known.counts if b % self._assigners == assigner)
