"""Which of a table's files Iceberg readers see, and their entries in Iceberg's manifests.

Append tables show all files. Key tables show the files of the highest level, whose keys are unique: Iceberg readers do not
merge. Source: Paimon 2.1 `IcebergCommitCallback.shouldAddFileToIceberg`, `IcebergDataFileMeta`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.manifest import ADD
from paimon_nb.format.stats.decode import decode_stats
from paimon_nb.fs import without_scheme
from paimon_nb.options import table as opt
from paimon_nb.table.lsm.levels import key_decoder, split_into_sections
from paimon_nb.table.read.live_files import by_bucket, index_entries, merge_entries, read_changes
from paimon_nb.table.write.iceberg.manifests import ADDED, DELETED, EXISTING, Entry, Manifest
from paimon_nb.table.write.iceberg.name_mapping import Names, column_names, misread_name
from paimon_nb.table.write.iceberg.schema import misread_by_format, schema_node, unreadable_change
from paimon_nb.table.write.iceberg.values import bound_bytes, partition_node

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from paimon_nb.format.manifest import DataFile, ManifestEntry
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.write.iceberg.layout import IcebergLayout

_VECTORS = "DELETION_VECTORS"


@dataclass(frozen=True, slots=True)
class Changes:
    """Files that one snapshot adds and removes, by path."""

    added: dict[str, ManifestEntry]
    removed: dict[str, ManifestEntry]
    only_adds: bool = True
    """False if a file was removed, or removed and added at another level."""

    @staticmethod
    def key_of(entry: Entry) -> str:
        """The path of a file in a manifest, comparable with the keys here."""
        return _comparable(entry.file["file_path"])

    def entry_in_rewritten_manifest(self, entry: Entry, removed: Collection[str], snapshot_id: int) -> Entry:
        """A live entry of a manifest that is written again."""
        if self.key_of(entry) in removed:
            return replace(entry, status=DELETED, snapshot_id=snapshot_id)
        return replace(entry, status=EXISTING)

    def snapshot_summary(
        self, operation: str, before: Mapping[str, str], data: Sequence[Manifest], vectors: Sequence[Manifest]
    ) -> dict[str, str]:
        """Iceberg's summary of the snapshot; `before`: that of the previous one."""
        added, removed = [e.file for e in self.added.values()], [e.file for e in self.removed.values()]
        partitions = {e.partition for e in (*self.added.values(), *self.removed.values())}
        size = _number(before, "total-files-size") + sum(f.file_size for f in added) - sum(f.file_size for f in removed)
        numbers = {
            "added-data-files": len(added),
            "added-records": sum(f.row_count for f in added),
            "added-files-size": sum(f.file_size for f in added),
            "deleted-data-files": len(removed),
            "deleted-records": sum(f.row_count for f in removed),
            "removed-files-size": sum(f.file_size for f in removed),
            "changed-partition-count": len(partitions),
            "total-records": sum(m.live_rows for m in data),
            "total-data-files": sum(m.live_files for m in data),
            "total-files-size": max(0, size),
            "total-delete-files": sum(m.live_files for m in vectors),
            "total-position-deletes": sum(m.live_rows for m in vectors),
            "total-equality-deletes": 0,
        }
        return {"operation": operation, **{key: str(value) for key, value in numbers.items()}}


class FileEntries:
    """Entries of one table's files.

    Args:
        location: the table's path as the metadata has it: another engine may write it with a scheme.
    """

    def __init__(self, store: TableStore, layout: IcebergLayout, location: str) -> None:
        self.store, self.layout, self.location = store, layout, location
        self._readable: set[tuple[int, str]] = set()
        self._newest = store.schemas.get(max(store.schemas.ids()))
        self._top = store.options.num_levels - 1

    def is_readable(self, file: DataFile) -> bool:
        """Whether Iceberg readers see the file."""
        if not self.store.has_keys:
            return True
        return file.level > 0 if self.layout.deletion_vectors else file.level == self._top

    def readable_of(self, entries: Iterable[ManifestEntry]) -> list[ManifestEntry]:
        """Those of the live files of a state that readers of new metadata see: files that need no merge, too."""
        files = list(entries)
        visible = {e.file.file_name for e in files if self.is_readable(e.file)}
        if self.store.has_keys and not self.store.options.get(opt.DELETION_VECTORS_ENABLED):
            key = key_decoder([f.type for f in self.store.schema.key_fields])
            for bucket in by_bucket(files).values():
                for runs in split_into_sections([(key(e.file.min_key), key(e.file.max_key), e.file) for e in bucket]):
                    if len(runs) == 1 and all(f.delete_row_count == 0 for f in runs[0]):
                        visible |= {f.file_name for f in runs[0]}
        return [e for e in files if e.file.file_name in visible]

    def changes_of_snapshot(self, snapshot: Snapshot) -> Changes:
        """What a snapshot adds and removes."""
        entries = merge_entries(read_changes(self.store, snapshot.delta_manifest_list).entries).values()
        added = {self._key(e): e for e in entries if e.kind == ADD and self.is_readable(e.file)}
        removed = {self._key(e): e for e in entries if e.kind != ADD}
        return Changes(added, {key: e for key, e in removed.items() if key not in added}, not removed)

    def all_of(self, entries: Iterable[ManifestEntry]) -> Changes:
        """These files, as added."""
        return Changes({self._key(e): e for e in entries}, {})

    def _key(self, entry: ManifestEntry) -> str:
        return _comparable(self.store.data_path(entry.partition, entry.bucket, entry.file))

    def added(self, entries: Mapping[str, ManifestEntry], snapshot: Snapshot) -> list[Entry]:
        """Entries of new files. Raises UnsupportedFormat: a file that Iceberg readers cannot read."""
        return [
            Entry(ADDED, snapshot.id, snapshot.id, snapshot.id, self._iceberg_data_file(e)) for e in entries.values()
        ]

    def _iceberg_data_file(self, entry: ManifestEntry) -> dict[str, Any]:
        file = entry.file
        schema = self.store.schemas.get(file.schema_id)
        path = self.store.data_path(entry.partition, entry.bucket, file)
        kind = file.file_name.rpartition(".")[2]
        self._check_readable(schema, kind, path)
        stats = decode_stats(schema.fields, file.value_stats, file.stats_cols, file_format=kind)
        nulls, lower, upper = [], [], []
        for field in schema.fields:
            of = stats.get(field.name)
            if of is not None and of.null_count is not None:
                nulls.append({"key": field.id, "value": of.null_count})
            if of is None or of.min is None or of.max is None:
                continue
            low, high = bound_bytes(field.type, of.min), bound_bytes(field.type, of.max)
            if low is not None and high is not None:
                lower.append({"key": field.id, "value": low})
                upper.append({"key": field.id, "value": high})
        return {
            "content": 0, "file_path": self._stored_path(path), "file_format": kind, "partition": self._partition(entry.partition),
            "record_count": file.row_count, "file_size_in_bytes": file.file_size, "null_value_counts": nulls,
            "lower_bounds": lower, "upper_bounds": upper,
        }  # fmt: skip

    def _check_readable(self, schema: TableSchema, kind: str, path: str) -> None:
        """Refuse a file of a format, written with a schema, that Iceberg readers would read wrongly."""
        if (schema.id, kind) in self._readable:
            return
        why, column = misread_by_format(schema, kind), unreadable_change(schema, self._newest)
        if why is None and column is not None:
            why = f"the type of column {column!r} changed since in a way that Iceberg readers do not follow"
        if why is None and kind != "parquet" and (column := misread_name(schema_node(schema), self._names)) is not None:
            why = f"a {kind} file has no column ids, and a later column has the name {column!r}, too"
        if why is not None:
            raise UnsupportedFormat(f"{path}: {why}", hint="a full compaction writes the rows again", path=path)
        self._readable.add((schema.id, kind))

    @cached_property
    def _names(self) -> Names:
        schemas = self.store.schemas
        return column_names(schema_node(schemas.get(i)) for i in sorted(schemas.ids()))

    def deletion_vector_entries(self, snapshot: Snapshot) -> list[Entry]:
        """Entries of the deletion vectors of a snapshot, each a part of a Paimon index file."""
        out = []
        for index in index_entries(self.store, snapshot):
            if index.index_type != _VECTORS:
                continue
            path, partition = self.store.index_path(index), self._partition(index.partition)
            folder = self.store.bucket_dir(index.partition, index.bucket)
            for part in index.dv_ranges or ():
                if part.cardinality is None:
                    raise UnsupportedFormat(
                        f"{path}: the number of rows in a deletion vector is not known, which Iceberg needs",
                        hint="a full compaction removes the deleted rows",
                        path=path,
                    )
                file = {
                    "content": 1, "file_path": self._stored_path(path), "file_format": "puffin", "partition": partition,
                    "record_count": part.cardinality, "file_size_in_bytes": index.file_size,
                    "referenced_data_file": self._stored_path(f"{folder}/{part.data_file}"), "content_offset": part.offset,
                    "content_size_in_bytes": part.length,
                }  # fmt: skip
                out.append(Entry(ADDED, snapshot.id, snapshot.id, snapshot.id, file))
        return out

    def _partition(self, partition: bytes) -> dict[str, Any]:
        return partition_node(self._newest.partition_fields, self.store.partition_values(partition))

    def _stored_path(self, path: str) -> str:
        root = self.store.root
        return f"{self.location.rstrip('/')}{path[len(root) :]}" if path.startswith(f"{root}/") else path


def _comparable(path: str) -> str:
    """A local path without its scheme, which some engines write and others do not."""
    return without_scheme(path) if path.startswith("file:") else path


def _number(summary: Mapping[str, str], key: str) -> int:
    text = summary.get(key, "0")
    return int(text) if text.isdigit() else 0
