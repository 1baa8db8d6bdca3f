"""Hive's Parquet, ORC and Avro tables made Paimon tables in place: files are moved, not written again.

Source: Paimon 1.3 `HiveMigrator.java`, `FileMetaUtils.java`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from paimon_nb.base.errors import SchemaMismatch, TableNotFound, UnsupportedFormat, UnsupportedOperation
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog.file_import import SUFFIX, described, put_back, taken_name
from paimon_nb.catalog.hive.catalog import HiveCatalog
from paimon_nb.catalog.hive.hms_table import VIEW, file_format, is_paimon
from paimon_nb.catalog.hive.metastore import plain
from paimon_nb.catalog.hive.types import from_hive
from paimon_nb.format.row import EMPTY_ROW, serialize
from paimon_nb.format.schema import TableSchema, create_schema
from paimon_nb.fs import FileIO
from paimon_nb.options import table as opt
from paimon_nb.table.commit import CommitMessage, TableCommit
from paimon_nb.table.commit.snapshot_change import append_change
from paimon_nb.table.partition_spec import in_row_spec
from paimon_nb.table.store import TableStore

_FORMATS = ("parquet", "orc", "avro")


def migrate_table(
    catalog: HiveCatalog,
    source: Identifier,
    target: Identifier | None,
    options: Mapping[str, str],
    *,
    delete_origin: bool = True,
) -> int:
    """Take a table's files over. Returns how many files. Without `target` the new table takes the old one's name.

    If anything fails before the commit, the files go back and the new table goes away.

    Raises: TableNotFound: no such table. UnsupportedOperation, UnsupportedFormat: a table that cannot be taken over.
        AlreadyExists: the target is there, with other columns.
    """
    entry = catalog.register.entry(source)
    if entry is None:
        raise TableNotFound(f"the metastore knows no table {source}", hint="SHOW TABLES in Hive", name=str(source))
    if target is None and not delete_origin:
        raise UnsupportedOperation(
            f"{source} cannot stay and give its name away", hint="name a target_table, or leave delete_origin out"
        )
    check_takeable(entry, source, options)
    made_at = target or Identifier(source.database, source.table + SUFFIX)
    schema = schema_of(entry, options)
    pieces = pieces_of(catalog, entry)
    existed = catalog.register.has_table(made_at)
    if not existed:
        catalog.create_table(made_at, schema)
    table = catalog.table(made_at)
    fs = catalog._files(table.store.root, *(plain(p.sd.location) for p in (entry, *pieces)))
    moved: list[tuple[str, str]] = []
    try:
        _check_target(table.store, schema)
        messages = [_taken(fs, table.store, entry, piece, moved) for piece in pieces]
        # Not `commit`, which deletes the files of what it could not publish: these are somebody's only rows.
        TableCommit(table.store).publish(append_change(messages))
    except BaseException:
        if put_back(fs, moved) and not existed:
            catalog.drop_table(made_at, purge=True)
        raise
    if delete_origin:
        catalog.register.metastore.change("drop_table", entry.dbName, entry.tableName, False)
        _tidy(fs, plain(entry.sd.location))
    if target is None:
        catalog.rename_table(made_at, source)
    return len(moved)


def check_takeable(entry: Any, name: Identifier, options: Mapping[str, str]) -> None:
    """Raise UnsupportedOperation or UnsupportedFormat when the files of a Hive table hold no plain rows."""
    if is_paimon(entry):
        raise UnsupportedOperation(f"{name} is a Paimon table already", hint="nothing is to be done")
    if entry.tableType == VIEW:
        raise UnsupportedOperation(f"{name} is a view", hint="migrate the tables that it reads")
    if (entry.parameters or {}).get("transactional", "").lower() == "true":
        raise UnsupportedOperation(
            f"{name} has Hive's transactions: its files hold changes, not rows", hint="copy it in Hive to a plain table"
        )
    if (files := file_format(entry.sd)) not in _FORMATS:
        raise UnsupportedFormat(
            f"{name} has {files or 'unknown'} files; {', '.join(_FORMATS)} can be taken over",
            hint="INSERT INTO ... SELECT copies the others",
            feature=files,
        )
    if options.get("bucket", "-1") != "-1":
        raise UnsupportedOperation(
            "a migrated table has no buckets: 'bucket' must be -1", hint="leave 'bucket' out", option="bucket"
        )


def schema_of(entry: Any, options: Mapping[str, str]) -> TableSchema:
    """A Hive table's columns and partitions as Paimon's, with these options."""
    columns = [(c.name, from_hive(c.type), c.comment, None) for c in (*entry.sd.cols, *(entry.partitionKeys or []))]
    comment = (entry.parameters or {}).get("comment")
    own = {**options, **({"hive.comment": comment} if comment else {})}
    return create_schema(columns, [k.name for k in entry.partitionKeys or []], [], own, comment)


def _check_target(store: TableStore, wanted: TableSchema) -> None:
    got = store.schema
    if got.primary_keys or store.options.get(opt.BUCKET) != -1:
        raise UnsupportedOperation(
            f"{store.name} has keys or buckets: files of Hive are in no order", hint="migrate into a plain table"
        )
    here, there = ([(f.name, f.type.bare()) for f in s.fields] for s in (got, wanted))
    if got.partition_keys != wanted.partition_keys or here != there:
        raise SchemaMismatch(
            f"{store.name} has other columns or partitions than the table of Hive",
            hint="leave target_table out, and a fitting one is made",
        )


def pieces_of(catalog: HiveCatalog, entry: Any) -> list[Any]:
    """The entries of the table's partitions; of the table itself when it has none."""
    if not entry.partitionKeys:
        return [entry]
    return list(catalog.register.metastore.ask("get_partitions", entry.dbName, entry.tableName, -1))


def _taken(fs: FileIO, store: TableStore, entry: Any, piece: Any, moved: list[tuple[str, str]]) -> CommitMessage:
    """One partition's files (or the whole table's) in their new place, described."""
    kind = file_format(piece.sd)
    if kind not in _FORMATS:
        raise UnsupportedFormat(f"{piece.sd.location} has {kind or 'unknown'} files", hint="copy them", feature=kind)
    partition = partition_of(store, piece) if store.schema.partition_keys else EMPTY_ROW
    found = [s for s in fs.list(plain(piece.sd.location)) if not s.name.startswith(("_", "."))]
    if piece is entry or store.schema.partition_keys:
        inner = next((s.path for s in found if s.is_dir), None)
        if inner:
            raise UnsupportedOperation(
                f"{inner} is a directory below the table's files; its rows would be lost",
                hint="copy the table in Hive first, so that its files lie side by side",
            )
    folder = store.bucket_dir(partition, 0)
    fs.make_dirs(folder)
    files = []
    for status in found:
        if not status.size:
            continue  # Hive writes empty files for empty buckets
        new = posixpath.join(folder, taken_name(status.name, kind))
        moved.append((status.path, new))  # noted first: whatever happens next, it is looked for there
        fs.move(status.path, new)
        files.append(described(fs, store, partition, new, status))
    return CommitMessage(partition, 0, -1, new_files=tuple(files), row_count=sum(f.row_count for f in files))


def partition_of(store: TableStore, piece: Any) -> bytes:
    """The serialized partition that an entry of Hive stands for."""
    default = store.options.get(opt.PARTITION_DEFAULT_NAME)
    texts = {k: None if v == default else v for k, v in zip(store.schema.partition_keys, piece.values, strict=True)}
    values = in_row_spec(store.schema, texts)
    return serialize(
        [f.type for f in store.schema.partition_fields], [values[f.name] for f in store.schema.partition_fields]
    )


def _tidy(fs: FileIO, folder: str) -> None:
    """Empty directories and marks such as _SUCCESS; anything else stays."""
    for status in fs.list(folder):
        if status.is_dir:
            _tidy(fs, status.path)
        elif status.name.startswith(("_SUCCESS", ".")) or not status.size:
            fs.delete(status.path)
    fs.delete_empty_dir(folder)
