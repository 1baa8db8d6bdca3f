"""Clones Hive's Parquet, ORC and Avro tables as Paimon tables: copies the files, keeps the Hive tables.

Source: Paimon `CloneHiveSchemaFunction`, `HiveTableCloneExtractor`, `CloneFilesFunction`.
"""

from __future__ import annotations

import posixpath
import uuid
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import TableNotFound, UnsupportedFormat, UnsupportedOperation
from paimon_nb.catalog.file_import import describe_file
from paimon_nb.catalog.hive.hms_table import VIEW, hive_file_format, is_paimon
from paimon_nb.catalog.hive.metastore import without_file_scheme
from paimon_nb.catalog.hive.migrate import (
    check_importable,
    paimon_schema_of_hive_table,
    partition_entries_of,
    partition_of_hive_entry,
)
from paimon_nb.format.row import EMPTY_ROW
from paimon_nb.table.tables.copy.copy import copy_file
from paimon_nb.table.write.commit import CommitMessage, TableCommit
from paimon_nb.table.write.publish.overwrite import Overwrite

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.base.identifier import Identifier
    from paimon_nb.catalog.hive.catalog import HiveCatalog
    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.fs import FileIO
    from paimon_nb.table.read.store import TableStore

_NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"


def hive_tables(catalog: HiveCatalog, database: str) -> list[str]:
    """The sorted names of Hive tables that are not Paimon tables. Raises DatabaseNotFound."""
    catalog.tables(database)
    entries = catalog.metastore.entries(database)
    return sorted(e.tableName for e in entries if not is_paimon(e) and e.tableType != VIEW)


def hive_schema(catalog: HiveCatalog, source: Identifier) -> TableSchema:
    """The schema of the clone: no keys, no buckets, the file format of the source.

    Raises: TableNotFound. UnsupportedOperation, UnsupportedFormat: the table's files cannot be imported.
    """
    entry = _hive_entry(catalog, source)
    check_importable(entry, source, {})
    own = {"bucket": "-1", "file.format": hive_file_format(entry.sd) or ""}
    if entry.partitionKeys:
        own["partition.default-name"] = _NO_PARTITION
    return paimon_schema_of_hive_table(entry, own)


def clone_files(
    catalog: HiveCatalog,
    source: Identifier,
    target: TableStore,
    selected: Callable[[bytes], bool] | None,
    *,
    replaces: bool,
) -> tuple[int, list[int]]:
    """Copy the files of the partitions that match `selected` (None: all), and commit them.

    Args:
        replaces: whether they replace the target's partitions, or the table; see `clone_rows`.

    Returns:
        the number of rows, and the ids of the new snapshots. A failure leaves no files.
    """
    entry = _hive_entry(catalog, source)
    pieces = partition_entries_of(catalog, entry)
    fs = catalog._fs_for_paths(*(without_file_scheme(p.sd.location) for p in (entry, *pieces)))
    copied: list[str] = []
    messages = []
    try:
        for piece in pieces:
            partition = partition_of_hive_entry(target, piece) if target.schema.partition_keys else EMPTY_ROW
            if selected is None or selected(partition):
                messages.append(_copy_partition_files(fs, piece, target, partition, copied))
    except BaseException:
        for path in copied:
            target.fs.delete(path)
        raise
    rows = sum(m.row_count for m in messages)
    if not rows:
        return 0, []
    dynamic = bool(target.schema.partition_keys)
    scope = Overwrite(dynamic=dynamic) if replaces else Overwrite(replaced_partitions=frozenset())
    return rows, TableCommit(target).commit(messages, overwrite=scope, expected_rows=rows)


def _hive_entry(catalog: HiveCatalog, name: Identifier) -> Any:
    entry = catalog.metastore.entry(name)
    if entry is None:
        raise TableNotFound(f"no table {name} in the Hive metastore", hint="SHOW TABLES in Hive", name=str(name))
    if is_paimon(entry):
        raise UnsupportedOperation(f"{name} is a Paimon table", hint="clone it with clone_from => 'paimon'")
    return entry


def _copy_partition_files(
    fs: FileIO, partition_entry: Any, target: TableStore, partition: bytes, copied: list[str]
) -> CommitMessage:
    """The commit message for the copied files of one partition, or of an unpartitioned table."""
    format_name = hive_file_format(partition_entry.sd)
    if format_name is None or format_name != target.options.raw.get("file.format", "parquet"):
        raise UnsupportedFormat(
            f"{partition_entry.sd.location} has {format_name or 'unknown'} files", hint="copy them", feature=format_name
        )
    files: list[DataFile] = []
    for status in fs.list(without_file_scheme(partition_entry.sd.location)):
        if status.name.startswith(("_", ".")):
            continue
        if status.is_dir:
            raise UnsupportedOperation(
                f"{status.path} is a directory below the table's files; its rows would be left out",
                hint="copy the table in Hive first, so that all its files are in one directory",
            )
        if not status.size:
            continue  # Hive writes empty files for empty buckets
        # The name marks files without partition columns for readers.
        path = posixpath.join(target.bucket_dir(partition, 0), f"hive-{uuid.uuid4().hex}-{len(files)}.{format_name}")
        copied.append(path)
        copy_file(fs, status.path, target.fs, path)
        files.append(describe_file(target.fs, target, partition, path, status))
    return CommitMessage(partition, 0, -1, new_files=tuple(files), row_count=sum(f.row_count for f in files))
