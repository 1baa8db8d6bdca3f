"""Copies files of one table into another unchanged, with new names, replacing existing files.

Source: Paimon `CopySchemaOperator`, `ListDataFilesOperator`, `CopyFilesUtil`. Unlike there, files keep the schema that
they were written with, sidecars are copied, and deletion vectors follow the data files to their new names.
"""

from __future__ import annotations

import re
import uuid
from dataclasses import field, replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import SchemaMismatch, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.options import table as opt
from paimon_nb.table.read.live_files import by_bucket, index_entries, live_entries
from paimon_nb.table.read.plan.time_travel import retry_on_expiry
from paimon_nb.table.write.commit import CommitMessage, TableCommit
from paimon_nb.table.write.publish.overwrite import Overwrite

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paimon_nb.format.manifest import DataFile, IndexEntry, ManifestEntry
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.fs import FileIO
    from paimon_nb.table.read.store import TableStore

_CHUNK = 8 << 20
MAX_READS = 4
"""A copy begins so often, while the snapshots that it reads expire."""
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def copied_schemas(source: TableStore) -> list[TableSchema]:
    """All schema versions of a table, for its copy: files refer to the schema that they were written with."""
    dropped_keys = (opt.PATH.key, "owner")
    return [s.with_options({k: v for k, v in s.options.items() if k not in dropped_keys}) for s in source.schemas.all()]


def check_same_layout(source: TableStore, target: TableStore) -> None:
    """Raise SchemaMismatch if files of the source cannot be used by the target."""
    here, there = source.schema, target.schema
    for what, one, other in (
        ("buckets", source.bucket_option, target.bucket_option),
        ("primary keys", here.primary_keys, there.primary_keys),
        ("partitions", here.partition_keys, there.partition_keys),
    ):
        if one != other:
            raise SchemaMismatch(
                f"{target.name} and {source.name} differ in their {what}: {other} and {one}",
                hint="CALL sys.clone rewrites the rows", target=other, source=one,
            )  # fmt: skip
    missing = [
        f.name for f, known in zip(here.fields, _field_layout(here), strict=True) if known not in _field_layout(there)
    ]
    if missing:
        raise SchemaMismatch(
            f"{target.name} lacks columns of {source.name}: {', '.join(missing)} (their ids, names and types are compared)",
            hint="copy into a new table, or CALL sys.clone",
            columns=missing,
        )


def refuse_tracked(source: TableStore) -> None:
    """Row ids of row-tracking tables are unique per table; those of two tables would collide. Managed blobs stay in their table, too."""
    if source.managed_blobs:
        raise UnsupportedOperation(
            f"{source.name} has BLOB columns: its rows refer to files in the directory of this table",
            hint="CALL sys.clone rewrites the rows; CALL sys.copy_files copies the whole table",
        )
    if source.options.get(opt.ROW_TRACKING_ENABLED):
        raise UnsupportedOperation(
            f"{source.name} has 'row-tracking.enabled': its files contain row ids of this table",
            hint="CALL sys.clone rewrites the rows; CALL sys.copy_files copies the whole table",
        )


def copy_live_files(
    source: TableStore, target: TableStore, keep_partition: Callable[[bytes], bool] | None = None
) -> tuple[int, int, list[int]]:
    """Copy the live files of the source's newest snapshot; replaces the affected partitions (or the table).

    Args:
        keep_partition: a filter on partitions; None means all.
    Returns: the number of files, the number of stored rows (not merged), the ids of the target's new snapshots.
    Raises: SchemaMismatch: a file was written with columns that the target never had. AccessDenied: see
        `check_readable`.
    """
    source.check_readable()
    return retry_on_expiry(source, lambda: _copy_live_files(source, target, keep_partition), attempts=MAX_READS)


def _copy_live_files(
    source: TableStore, target: TableStore, keep_partition: Callable[[bytes], bool] | None
) -> tuple[int, int, list[int]]:
    snapshot = source.latest()
    entries = [e for e in live_entries(source, snapshot) if keep_partition is None or keep_partition(e.partition)]
    if not entries:
        return 0, 0, []
    carrier = _FileCopier(source, target, _target_schema_ids(source, target, entries))
    indexes = [i for i in index_entries(source, snapshot) if keep_partition is None or keep_partition(i.partition)]
    try:
        messages = [
            carrier.message(found, [i for i in indexes if (i.partition, i.bucket) == bucket])
            for bucket, found in by_bucket(entries).items()
        ]
    except BaseException:
        carrier.discard()
        raise
    dynamic = target.options.get(opt.DYNAMIC_PARTITION_OVERWRITE) and bool(target.schema.partition_keys)
    made = TableCommit(target).commit(messages, overwrite=Overwrite(dynamic=dynamic))
    return len(entries), sum(e.file.row_count for e in entries), made


def _target_schema_ids(source: TableStore, target: TableStore, entries: Sequence[ManifestEntry]) -> dict[int, int]:
    """Schema ids of the source -> of the target: those with the same fields, else the newest with these and more."""
    known = list(reversed(target.schemas.all()))
    ids = {}
    for schema_id in {e.file.schema_id for e in entries}:
        written = _field_layout(source.schemas.get(schema_id))
        found = [s for s in known if _field_layout(s) == written] or [s for s in known if _contains_columns(s, written)]
        if not found:
            raise SchemaMismatch(
                f"files of {source.name} were written with columns that {target.name} never had (schema {schema_id})",
                hint="copy into a new table, or CALL sys.clone",
                schema=schema_id,
            )
        ids[schema_id] = found[0].id
    return ids


def _contains_columns(schema: TableSchema, written: tuple[tuple[int, str, str], ...]) -> bool:
    """Whether the schema has these columns, and NULL is possible in all others."""
    others = zip(_field_layout(schema), schema.fields, strict=True)
    return {*written} <= {*_field_layout(schema)} and all(
        f.type.nullable for layout, f in others if layout not in written
    )


def _field_layout(schema: TableSchema) -> tuple[tuple[int, str, str], ...]:
    return tuple((f.id, f.name, str(f.type)) for f in schema.fields)


@dataclass
class _FileCopier:
    """Copies files and records the copies, so that a failed attempt can be cleaned up."""

    source: TableStore
    target: TableStore
    schema_ids: dict[int, int]
    made: list[str] = field(default_factory=list)
    _id: str = field(default_factory=lambda: str(uuid.uuid4()))

    def message(self, entries: Sequence[ManifestEntry], indexes: Sequence[IndexEntry]) -> CommitMessage:
        """The files of one bucket in the target."""
        first = entries[0]
        return CommitMessage(
            first.partition,
            first.bucket,
            first.total_buckets,
            new_files=tuple(self._copy_data_file(e) for e in entries),
            new_index=tuple(self._copy_index_file(i) for i in indexes),
        )

    def discard(self) -> None:
        for path in self.made:
            self.target.fs.delete(path)

    def _copy_data_file(self, entry: ManifestEntry) -> DataFile:
        old = entry.file
        name = self._new_file_name(old.file_name)
        path, external = self.target.new_path(entry.partition, entry.bucket, name)
        new = replace(
            old, file_name=name, external_path=external, schema_id=self.schema_ids[old.schema_id],
            extra_files=tuple(self._new_file_name(e) for e in old.extra_files),
        )  # fmt: skip
        new = self._with_named_columns(new, old)
        self._copy_file_once(self.source.data_path(entry.partition, entry.bucket, old), path)
        folder = path.rsplit("/", 1)[0]
        for sidecar, extra in zip(
            self.source.extra_paths(entry.partition, entry.bucket, old), new.extra_files, strict=True
        ):
            self._copy_file_once(sidecar, f"{folder}/{extra}")
        return new

    def _with_named_columns(self, new: DataFile, old: DataFile) -> DataFile:
        """The file with the names of its columns, if its new schema has others beside them: readers find NULLs in those."""
        schema = self.source.schemas.get(old.schema_id)
        if _field_layout(schema) == _field_layout(self.target.schemas.get(new.schema_id)):
            return new
        names = tuple(schema.names) if old.write_cols is None else old.write_cols
        return replace(new, write_cols=names, value_stats_cols=names if old.stats_cols is None else old.stats_cols)

    def _copy_index_file(self, old: IndexEntry) -> IndexEntry:
        name = self._new_file_name(old.file_name)
        path, external = self.target.new_index_path(old.partition, old.bucket, name)
        self._copy_file_once(self.source.index_path(old), path)
        ranges = old.dv_ranges and tuple(replace(r, data_file=self._new_file_name(r.data_file)) for r in old.dv_ranges)
        return replace(old, file_name=name, external_path=external, dv_ranges=ranges)

    def _copy_file_once(self, source: str, target: str) -> None:
        self.made.append(target)
        copy_file(self.source.fs, source, self.target.fs, target)

    def _new_file_name(self, name: str) -> str:
        """A new name for each copy, of the same kind: the writer's UUID is XORed with this copy's UUID.

        Names without a UUID are those of imported files, and stay unchanged.
        """
        matches = list(_UUID.finditer(name))
        if not matches:
            return f"copy{self._id.replace('-', '')}-{name}"
        last = matches[-1]
        other = uuid.UUID(int=uuid.UUID(last[0]).int ^ uuid.UUID(self._id).int)
        return f"{name[: last.start()]}{other}{name[last.end() :]}"


# -- shared with the other copies


def copy_file(source_fs: FileIO, source: str, target_fs: FileIO, target: str) -> None:
    """Copy a file in chunks; the target must not exist.

    Raises: MissingFile. FileExistsError: the target exists.
    """
    with source_fs.open(source) as reading, target_fs.create(target) as writing:
        while piece := reading.read(_CHUNK):
            writing.write(piece)
