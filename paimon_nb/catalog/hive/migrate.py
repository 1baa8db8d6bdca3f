"""Migrates Hive's Parquet, ORC and Avro tables to Paimon in place: moves files, rewrites none.

Source: Paimon 1.3 `HiveMigrator.java`, `FileMetaUtils.java`.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import SchemaMismatch, TableNotFound, UnsupportedFormat, UnsupportedOperation
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog.file_import import SUFFIX, describe_file, imported_name, undo_moves
from paimon_nb.catalog.hive.hms_table import VIEW, hive_file_format, is_paimon
from paimon_nb.catalog.hive.metastore import without_file_scheme
from paimon_nb.catalog.hive.types import from_hive
from paimon_nb.format.row import EMPTY_ROW, serialize
from paimon_nb.format.schema import TableSchema, create_schema
from paimon_nb.options import table as opt
from paimon_nb.table.read.own_files import enclosing_table
from paimon_nb.table.read.partition_spec import in_row_spec
from paimon_nb.table.write.commit import CommitMessage, TableCommit
from paimon_nb.table.write.publish.changes import append_change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.catalog.hive.catalog import HiveCatalog
    from paimon_nb.fs import FileIO
    from paimon_nb.table.read.store import TableStore

_FORMATS = ("parquet", "orc", "avro")


def migrate_table(
    catalog: HiveCatalog,
    source: Identifier,
    target: Identifier | None,
    options: Mapping[str, str],
    *,
    delete_origin: bool = True,
) -> int:
    """Migrate a table. Returns the number of files. Without `target` the new table gets the old one's name.

    On a failure before the commit, the files are moved back and the new table is dropped.

    Raises:
        TableNotFound: no such table.
        UnsupportedOperation, UnsupportedFormat: the table cannot be migrated.
        AlreadyExists: the target exists with other columns.
    """
    entry = catalog.metastore.entry(source)
    if entry is None:
        raise TableNotFound(f"no table {source} in the Hive metastore", hint="SHOW TABLES in Hive", name=str(source))
    if target is None and not delete_origin:
        raise UnsupportedOperation(
            f"{source}: delete_origin => false needs another target_table",
            hint="name a target_table, or remove delete_origin",
        )
    check_importable(entry, source, options)
    new_name = target or Identifier(source.database, source.table + SUFFIX)
    schema = paimon_schema_of_hive_table(entry, options)
    pieces = partition_entries_of(catalog, entry)
    existed = catalog.metastore.has_table(new_name)
    if not existed:
        catalog.create_table(new_name, schema)
    table = catalog.table(new_name)
    fs = catalog._fs_for_paths(table.store.root, *(without_file_scheme(p.sd.location) for p in (entry, *pieces)))
    moved: list[tuple[str, str]] = []
    try:
        for piece in (entry, *pieces):
            _check_not_in_table(fs, without_file_scheme(piece.sd.location))
        _check_target(table.store, schema)
        messages = [_move_partition_files(fs, table.store, entry, piece, moved) for piece in pieces]
        # Not `commit`, which deletes files after a failure: these files are the only copy of the rows.
        TableCommit(table.store).publish(append_change(messages))
    except BaseException:
        if undo_moves(fs, moved) and not existed:
            catalog.drop_table(new_name, purge=True)
        raise
    if delete_origin:
        catalog.metastore.client.execute("drop_table", entry.dbName, entry.tableName, False)
        _delete_leftovers(fs, without_file_scheme(entry.sd.location))
    if target is None:
        catalog.rename_table(new_name, source)
    return len(moved)


def _check_not_in_table(fs: FileIO, location: str) -> None:
    """Raise UnsupportedOperation if the files of a Hive table would be taken from a Paimon table."""
    if (other := enclosing_table(fs, location)) is not None:
        raise UnsupportedOperation(
            f"{location} is inside the table {other}, whose files cannot be moved",
            hint="copy the rows with INSERT INTO",
        )


def check_importable(entry: Any, name: Identifier, options: Mapping[str, str]) -> None:
    """Raises UnsupportedOperation or UnsupportedFormat if the files of a Hive table cannot be imported."""
    if is_paimon(entry):
        raise UnsupportedOperation(f"{name} is a Paimon table already", hint="there is nothing to do")
    if entry.tableType == VIEW:
        raise UnsupportedOperation(f"{name} is a view", hint="migrate the tables that it reads")
    if (entry.parameters or {}).get("transactional", "").lower() == "true":
        raise UnsupportedOperation(
            f"{name} is transactional: its files contain changes, not rows", hint="copy it in Hive to a plain table"
        )
    if (files := hive_file_format(entry.sd)) not in _FORMATS:
        raise UnsupportedFormat(
            f"{name} has {files or 'unknown'} files; {', '.join(_FORMATS)} can be migrated",
            hint="copy the rows with INSERT INTO ... SELECT",
            feature=files,
        )
    if options.get("bucket", "-1") != "-1":
        raise UnsupportedOperation(
            "a migrated table has no buckets: 'bucket' must be -1", hint="remove 'bucket'", option="bucket"
        )


def paimon_schema_of_hive_table(entry: Any, options: Mapping[str, str]) -> TableSchema:
    """The Paimon schema of a Hive table, with these options."""
    columns = [(c.name, from_hive(c.type), c.comment, None) for c in (*entry.sd.cols, *(entry.partitionKeys or []))]
    comment = (entry.parameters or {}).get("comment")
    own = {**options, **({"hive.comment": comment} if comment else {})}
    return create_schema(columns, [k.name for k in entry.partitionKeys or []], [], own, comment)


def _check_target(store: TableStore, expected: TableSchema) -> None:
    got = store.schema
    if got.primary_keys or store.options.get(opt.BUCKET) != -1:
        raise UnsupportedOperation(
            f"{store.name} has keys or buckets, which Hive files do not support",
            hint="migrate to a table without keys and buckets",
        )
    actual, expected_fields = ([(f.name, f.type.bare()) for f in s.fields] for s in (got, expected))
    if got.partition_keys != expected.partition_keys or actual != expected_fields:
        raise SchemaMismatch(
            f"{store.name} has other columns or partitions than the table of Hive",
            hint="remove target_table to create a new table",
        )


def partition_entries_of(catalog: HiveCatalog, entry: Any) -> list[Any]:
    """The entries of the table's partitions; the table's own entry if it is not partitioned."""
    if not entry.partitionKeys:
        return [entry]
    return list(catalog.metastore.client.query("get_partitions", entry.dbName, entry.tableName, -1))


def _move_partition_files(
    fs: FileIO, store: TableStore, entry: Any, partition_entry: Any, moved: list[tuple[str, str]]
) -> CommitMessage:
    """The commit message for the moved files of one partition, or of an unpartitioned table."""
    format_name = hive_file_format(partition_entry.sd)
    if format_name not in _FORMATS:
        raise UnsupportedFormat(
            f"{partition_entry.sd.location} has {format_name or 'unknown'} files", hint="copy them", feature=format_name
        )
    partition = partition_of_hive_entry(store, partition_entry) if store.schema.partition_keys else EMPTY_ROW
    found = [s for s in fs.list(without_file_scheme(partition_entry.sd.location)) if not s.name.startswith(("_", "."))]
    if partition_entry is entry or store.schema.partition_keys:
        subdirectory = next((s.path for s in found if s.is_dir), None)
        if subdirectory:
            raise UnsupportedOperation(
                f"{subdirectory} is a directory below the table's files; its rows would be lost",
                hint="copy the table in Hive first, so that it has no subdirectories",
            )
    folder = store.bucket_dir(partition, 0)
    fs.make_dirs(folder)
    files = []
    for status in found:
        if not status.size:
            continue  # Hive writes empty files for empty buckets
        new_path = posixpath.join(folder, imported_name(status.name, format_name))
        moved.append((status.path, new_path))  # recorded before the move, so that a failure can undo it
        fs.move(status.path, new_path)
        files.append(describe_file(fs, store, partition, new_path, status))
    return CommitMessage(partition, 0, -1, new_files=tuple(files), row_count=sum(f.row_count for f in files))


def partition_of_hive_entry(store: TableStore, piece: Any) -> bytes:
    """The serialized partition of a Hive partition entry."""
    default = store.options.get(opt.PARTITION_DEFAULT_NAME)
    texts = {k: None if v == default else v for k, v in zip(store.schema.partition_keys, piece.values, strict=True)}
    values = in_row_spec(store.schema, texts)
    return serialize(
        [f.type for f in store.schema.partition_fields], [values[f.name] for f in store.schema.partition_fields]
    )


def _delete_leftovers(fs: FileIO, folder: str) -> None:
    """Delete empty directories and markers such as _SUCCESS; keep everything else."""
    for status in fs.list(folder):
        if status.is_dir:
            _delete_leftovers(fs, status.path)
        elif status.name.startswith(("_SUCCESS", ".")) or not status.size:
            fs.delete(status.path)
    fs.delete_empty_dir(folder)
