"""Hive's Parquet, ORC and Avro tables as new Paimon tables: their files are copied, the Hive tables stay.

Source: Paimon `CloneHiveSchemaFunction`, `HiveTableCloneExtractor`, `CloneFilesFunction`.
"""

from __future__ import annotations

import posixpath
import uuid
from collections.abc import Callable
from typing import Any

from paimon_nb.base.errors import TableNotFound, UnsupportedFormat, UnsupportedOperation
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog.file_import import described
from paimon_nb.catalog.hive.catalog import HiveCatalog
from paimon_nb.catalog.hive.hms_table import VIEW, file_format, is_paimon
from paimon_nb.catalog.hive.metastore import plain
from paimon_nb.catalog.hive.migrate import check_takeable, partition_of, pieces_of, schema_of
from paimon_nb.format.manifest import DataFile
from paimon_nb.format.row import EMPTY_ROW
from paimon_nb.format.schema import TableSchema
from paimon_nb.fs import FileIO
from paimon_nb.table.commit import CommitMessage, TableCommit
from paimon_nb.table.commit.overwrite import Overwrite
from paimon_nb.table.copy.file_copy import copy_file
from paimon_nb.table.store import TableStore

_NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"


def hive_tables(catalog: HiveCatalog, database: str) -> list[str]:
    """The tables that are Hive's own, in order. Raises DatabaseNotFound."""
    catalog.tables(database)
    entries = catalog.register.entries(database)
    return sorted(e.tableName for e in entries if not is_paimon(e) and e.tableType != VIEW)


def hive_schema(catalog: HiveCatalog, source: Identifier) -> TableSchema:
    """The schema of its clone: no keys, no buckets, the format of its files.

    Raises: TableNotFound. UnsupportedOperation, UnsupportedFormat: a table whose files cannot be taken.
    """
    entry = _entry(catalog, source)
    check_takeable(entry, source, {})
    own = {"bucket": "-1", "file.format": file_format(entry.sd) or ""}
    if entry.partitionKeys:
        own["partition.default-name"] = _NO_PARTITION
    return schema_of(entry, own)


def clone_files(
    catalog: HiveCatalog, source: Identifier, target: TableStore, chosen: Callable[[bytes], bool] | None
) -> tuple[int, list[int]]:
    """Copy the files of the partitions that `chosen` (None: all) is true for, and publish them over what is there.

    Returns: how many rows, and the ids of the new snapshots. What fails leaves no file.
    """
    entry = _entry(catalog, source)
    pieces = pieces_of(catalog, entry)
    fs = catalog._files(*(plain(p.sd.location) for p in (entry, *pieces)))
    copied: list[str] = []
    messages = []
    try:
        for piece in pieces:
            partition = partition_of(target, piece) if target.schema.partition_keys else EMPTY_ROW
            if chosen is None or chosen(partition):
                messages.append(_copied(fs, piece, target, partition, copied))
    except BaseException:
        for path in copied:
            target.fs.delete(path)
        raise
    rows = sum(m.row_count for m in messages)
    if not rows:
        return 0, []
    scope = Overwrite(dynamic=bool(target.schema.partition_keys))
    return rows, TableCommit(target).commit(messages, overwrite=scope, expected_rows=rows)


def _entry(catalog: HiveCatalog, name: Identifier) -> Any:
    entry = catalog.register.entry(name)
    if entry is None:
        raise TableNotFound(f"the metastore knows no table {name}", hint="SHOW TABLES in Hive", name=str(name))
    if is_paimon(entry):
        raise UnsupportedOperation(f"{name} is a Paimon table", hint="clone_from => 'paimon' clones it")
    return entry


def _copied(fs: FileIO, piece: Any, target: TableStore, partition: bytes, copied: list[str]) -> CommitMessage:
    """One partition's files (or the whole table's) in their new place, described."""
    kind = file_format(piece.sd)
    if kind is None or kind != target.options.raw.get("file.format", "parquet"):
        raise UnsupportedFormat(f"{piece.sd.location} has {kind or 'unknown'} files", hint="copy them", feature=kind)
    files: list[DataFile] = []
    for status in fs.list(plain(piece.sd.location)):
        if status.name.startswith(("_", ".")):
            continue
        if status.is_dir:
            raise UnsupportedOperation(
                f"{status.path} is a directory below the table's files; its rows would be left out",
                hint="copy the table in Hive first, so that its files lie side by side",
            )
        if not status.size:
            continue  # Hive writes empty files for empty buckets
        # Not named as Paimon names its own: such files hold no partition columns, and their readers know it by the name.
        path = posixpath.join(target.bucket_dir(partition, 0), f"hive-{uuid.uuid4().hex}-{len(files)}.{kind}")
        copied.append(path)
        copy_file(fs, status.path, target.fs, path)
        files.append(described(target.fs, target, partition, path, status))
    return CommitMessage(partition, 0, -1, new_files=tuple(files), row_count=sum(f.row_count for f in files))
