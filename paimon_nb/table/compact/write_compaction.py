"""Compaction at the end of a write: due compactions of the written buckets, in the same commit messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from paimon_nb.format.manifest import DataFile
from paimon_nb.options import table as opt
from paimon_nb.table.commit.attempt import index_entries
from paimon_nb.table.commit.message import CommitMessage
from paimon_nb.table.compact.append import compact_append_bucket, pick_append_auto
from paimon_nb.table.compact.bucket import KeyBucket, needs_full_each_time
from paimon_nb.table.compact.deletion_vectors import BucketVectors
from paimon_nb.table.lsm import sections
from paimon_nb.table.lsm.keys import key_decoder
from paimon_nb.table.store import POSTPONE_BUCKET, TableStore


class Before(Protocol):
    """The table's state at the start of the write."""

    @property
    def snapshot_id(self) -> int | None: ...

    def files(self, key: tuple[bytes, int]) -> list[DataFile]: ...


def compact_after_write(
    store: TableStore,
    messages: Sequence[CommitMessage],
    before: Before,
    *,
    write_changelog: bool = True,
    full: bool | None = None,
) -> list[CommitMessage]:
    """Messages with their compact increments. `before` holds the live files at the start of the write.

    Args:
        write_changelog: False in an overwrite, which has no changelog with any producer.
        full: whether this commit of a stream is a full compaction; None for a batch job.
    """
    store = store.at_newest_schema()
    snapshot = store.snapshots.get(before.snapshot_id) if before.snapshot_id is not None else None
    index = tuple(index_entries(store, snapshot)) if store.options.deletion_vectors else ()
    out = []
    for message in messages:
        if message.bucket == POSTPONE_BUCKET:
            out.append(message)
            continue
        files = (*before.files((message.partition, message.bucket)), *message.new_files)
        if not store.has_keys:
            picked = pick_append_auto(store, files) if store.bucket_option > 0 else []
            # Deleted rows must not come back with the merged files.
            vectors = BucketVectors(store, message.partition, message.bucket, index) if picked and index else None
            out.append(compact_append_bucket(store, message, picked, vectors).on(message) if picked else message)
            continue
        bucket = KeyBucket(store, message.partition, message.bucket, files, index)
        unit = bucket.choose(full=needs_full_each_time(store) if full is None else full, streams=full is not None)
        out.append(bucket.compact(unit, write_changelog=write_changelog).on(message) if unit else message)
    return out


def upgraded(store: TableStore, message: CommitMessage) -> CommitMessage:
    """Files of an overwrite go straight to the max level if they share no key and hold no delete.

    Source: docs/spec/format.md section 3 (`overwrite-upgrade`).
    """
    files = message.new_files
    if not store.has_keys or not files or message.bucket == POSTPONE_BUCKET:
        return message
    if any(f.level != 0 or f.delete_row_count != 0 for f in files):
        return message
    key = key_decoder([f.type for f in store.schema.key_fields])
    if any(len(section) > 1 for section in sections(files, key)):
        return message
    top = store.options.num_levels - 1
    return replace(message, new_files=tuple(replace(f, level=top) for f in files))


def wants_upgrade(store: TableStore) -> bool:
    """The `overwrite-upgrade` option."""
    return bool(store.options.get(opt.OVERWRITE_UPGRADE))
