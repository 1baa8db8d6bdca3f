"""Rewrites the file indexes of data files as the options require; data files stay unchanged.

Source: docs/spec/format.md section 13 (Paimon `RewriteFileIndexProcedure`, `FileIndexProcessor`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.format.data import iter_data_file, kv_columns
from paimon_nb.format.index import INDEX_SUFFIX, FileIndexWriter, IndexSpec, fitting_specs, index_specs
from paimon_nb.options.support import Access
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.write.data_file_writer import store_file_index
from paimon_nb.table.write.publish.abort import abort_messages
from paimon_nb.table.write.publish.changes import CommitMessage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.table.read.store import TableStore


def rewrite_file_indexes(store: TableStore, partitions: Callable[[bytes], bool] | None = None) -> list[CommitMessage]:
    """Index every live file again; files whose index would be the same are skipped. Commit the messages.

    Args:
        partitions: a test for serialized partitions; None means all.
    Raises: UnknownName, BadOptionValue: invalid `file-index.*` options.
    """
    store.check_supported(Access.COMPACT)
    specs = index_specs(store.options, store.schema.fields, skip_unknown=True)
    snapshot = store.latest()
    if snapshot is None:
        return []
    messages: list[CommitMessage] = []
    try:
        for entry in live_entries(store, snapshot):
            if partitions is not None and not partitions(entry.partition):
                continue
            file = _with_rebuilt_index(store, entry.partition, entry.bucket, entry.file, specs)
            if file != entry.file:
                message = CommitMessage(entry.partition, entry.bucket, entry.total_buckets, base_snapshot=snapshot.id)
                messages.append(replace(message, compact_before=(entry.file,), compact_after=(file,)))
    except BaseException:
        abort_messages(store, messages)
        raise
    return messages


def _with_rebuilt_index(
    store: TableStore, partition: bytes, bucket: int, file: DataFile, specs: Sequence[IndexSpec]
) -> DataFile:
    schema = store.schema if file.schema_id == store.schema.id else store.schemas.get(file.schema_id)
    index = _build_file_index(
        store, partition, bucket, file, schema, fitting_specs(specs, store.schema.fields, schema.fields)
    )
    old_names = tuple(n for n in file.extra_files if n.endswith(INDEX_SUFFIX))
    others = tuple(n for n in file.extra_files if n not in old_names)
    if index is None:
        return replace(file, embedded_index=None, extra_files=others)
    if index == _current_index(store, partition, bucket, file, old_names):
        return file
    base = store.data_path(partition, bucket, file)
    # An older snapshot still reads the old index, so a new one gets a new name.
    suffix, number = INDEX_SUFFIX, 0
    while store.fs.exists(base + suffix):
        number += 1
        suffix = f"-{number}{INDEX_SUFFIX}"
    embedded, extra = store_file_index(store, base, index, suffix)
    return replace(file, embedded_index=embedded, extra_files=(*others, *extra))


def _build_file_index(
    store: TableStore, partition: bytes, bucket: int, file: DataFile, schema: TableSchema, specs: Sequence[IndexSpec]
) -> bytes | None:
    writer = FileIndexWriter(specs)
    if not writer:
        return None
    fields = kv_columns(schema.fields) if store.has_keys else schema.fields
    columns = list(dict.fromkeys(spec.column for spec in specs))
    path = store.data_path(partition, bucket, file)
    for batch in iter_data_file(store.fs, path, fields, columns, options=store.options, row_count=file.row_count):
        writer.add(pa.Table.from_batches([batch]))
    return writer.finish()


def _current_index(
    store: TableStore, partition: bytes, bucket: int, file: DataFile, names: Sequence[str]
) -> bytes | None:
    """The file's current index; None if there is none."""
    if file.embedded_index is not None:
        return file.embedded_index
    folder = store.data_path(partition, bucket, file).rsplit("/", 1)[0]
    return store.fs.read(f"{folder}/{names[0]}") if names else None
