"""Migrates Iceberg tables of a Hadoop catalog to Paimon in place: moves files, rewrites none.

Source: Paimon 1.3 `IcebergMigrator.java`, `IcebergMigrateHadoopMetadata.java`. Difference: a file gets the schema that
fits its columns, not that of its manifest, which may list older files; the options are those of the call.
"""

from __future__ import annotations

import json
import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.exceptions import NoSuchTableError, ValidationError
from pyiceberg.manifest import DataFileContent, ManifestContent, ManifestEntryStatus
from pyiceberg.table import StaticTable

from paimon_nb.base.errors import (
    AlreadyExists,
    BadOptionValue,
    CorruptFile,
    OutsideWarehouse,
    TableNotFound,
    UnsupportedFormat,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import Identifier
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.catalog.file_import import SUFFIX, describe_file, imported_name, undo_moves
from paimon_nb.catalog.iceberg.avro_input import DecompressingIO
from paimon_nb.catalog.iceberg.schema import paimon_schemas_of_iceberg
from paimon_nb.format.row import EMPTY_ROW, serialize
from paimon_nb.format.row.binary_row import from_python, instant_from_units
from paimon_nb.fs import FileStatus, RootedFileIO, without_scheme
from paimon_nb.table.read.own_files import is_below, plain_path
from paimon_nb.table.write.commit import CommitMessage, TableCommit
from paimon_nb.table.write.publish.changes import append_change

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.catalog.warehouse import WarehouseCatalog
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.table.read.store import TableStore

STORAGE, WAREHOUSE = "metadata.iceberg.storage", "iceberg_warehouse"
_FORMATS = ("parquet", "orc", "avro")


@dataclass(frozen=True, slots=True)
class _File:
    """A live Iceberg data file."""

    path: str
    kind: str
    partition: bytes
    schema_id: int
    """The Paimon schema id of its manifest's schema."""


def migrate_table(
    catalog: WarehouseCatalog, source: Identifier, iceberg_options: Mapping[str, str], options: Mapping[str, str]
) -> int:
    """Migrate a table; the new table has its name. Deletes Iceberg's metadata. Returns the number of files.

    On a failure before the commit, the files are moved back and the new table is dropped.

    Raises:
        BadOptionValue: no `iceberg_warehouse`, or an unsupported storage.
        TableNotFound: no such Iceberg table.
        UnsupportedOperation, UnsupportedFormat: delete files, partition transforms, or a type that Paimon does not have.
        AlreadyExists: the catalog has a table of this name.
    """
    location = _table_location(source, iceberg_options)
    if options.get("bucket", "-1") != "-1" or "primary-key" in options:
        raise BadOptionValue(
            "a migrated table has neither keys nor buckets",
            hint="remove 'bucket' and 'primary-key'",
            option="bucket",
        )
    if catalog.metastore.has_table(source):
        raise AlreadyExists(f"table {source} exists already", hint="rename it first", name=str(source))
    table = _open_table(location, iceberg_options)
    schemas, numbers = paimon_schemas_of_iceberg(table.metadata, options)
    files = _live_files(table, schemas[-1], numbers)
    _check_own_files(location, files)
    new_name = Identifier(source.database, source.table + SUFFIX)
    catalog.create_database(source.database, if_not_exists=True)
    catalog.create_table(new_name, schemas[0])
    store = catalog.table(new_name).store
    for schema in schemas[1:]:
        store.schemas.create(replace(schema, options=store.schema.options))
    fs = RootedFileIO(catalog.fs, catalog.fs.root, (*catalog.fs.roots[1:], location))
    store = replace(store.at_schema(store.schemas.get(schemas[-1].id)), fs=fs)
    moved: list[tuple[str, str]] = []
    try:
        messages = [
            _move_data_files(store, partition, partition_files, moved)
            for partition, partition_files in _files_by_partition(files).items()
        ]
        # Not `commit`, which deletes files after a failure: these files are the only copy of the rows.
        TableCommit(store).publish(append_change(messages))
    except BaseException:
        if undo_moves(fs, moved):
            catalog.drop_table(new_name, purge=True)
        raise
    catalog.rename_table(new_name, source)
    fs.delete_tree(location)
    return len(moved)


def _table_location(source: Identifier, options: Mapping[str, str]) -> str:
    """The directory of an Iceberg table."""
    storage, warehouse = options.get(STORAGE, ""), options.get(WAREHOUSE, "")
    if storage not in ("hadoop-catalog", "hadoop"):
        raise BadOptionValue(
            f"{STORAGE!r} is {storage!r}; only tables of a Hadoop catalog can be migrated",
            hint=f"iceberg_options => '{STORAGE}=hadoop-catalog,{WAREHOUSE}=/path'", option=STORAGE,
        )  # fmt: skip
    if not warehouse:
        raise BadOptionValue(
            f"{WAREHOUSE!r} is missing: the path of the Iceberg warehouse",
            hint=f"iceberg_options => '{STORAGE}=hadoop-catalog,{WAREHOUSE}=/path'", option=WAREHOUSE,
        )  # fmt: skip
    return posixpath.join(warehouse, source.database, source.table)


def _open_table(location: str, options: Mapping[str, str]) -> Any:
    try:
        return StaticTable.from_metadata(location, dict(options))
    except (FileNotFoundError, NoSuchTableError):
        raise TableNotFound(
            f"no Iceberg table of a Hadoop catalog at {location}",
            hint=f"{location}/metadata/version-hint.text must exist; tables of other catalogs do not have it", path=location,
        ) from None  # fmt: skip
    except (ValueError, ValidationError) as error:
        raise CorruptFile(location, f"Iceberg's metadata cannot be read: {error}") from None


def _live_files(table: Any, schema: TableSchema, numbers: Mapping[int, int]) -> list[_File]:
    """The data files of the current snapshot. Raises UnsupportedOperation: delete files, or an older partition spec."""
    snapshot, files = table.current_snapshot(), cast("Any", DecompressingIO(table.io))
    found: list[_File] = []
    for manifest in snapshot.manifests(files) if snapshot else ():
        if manifest.content == ManifestContent.DELETES:
            raise UnsupportedOperation(
                f"{table.metadata.location} has delete files, which Paimon cannot read",
                hint="rewrite its data files in Iceberg first (rewrite_data_files)",
            )
        with table.io.new_input(manifest.manifest_path).open() as raw:  # only its header, which is never compressed
            manifest_schema = json.loads(fastavro.reader(raw).metadata["schema"])
        number = numbers.get(manifest_schema.get("schema-id"), schema.id)
        for entry in manifest.fetch_manifest_entry(files, discard_deleted=True):
            file = entry.data_file
            assert entry.status != ManifestEntryStatus.DELETED
            assert file.content == DataFileContent.DATA
            if file.spec_id != table.metadata.default_spec_id:
                raise UnsupportedOperation(
                    f"{file.file_path} was written under an older partition spec",
                    hint="rewrite it in Iceberg first (rewrite_data_files)", path=file.file_path,
                )  # fmt: skip
            kind = file.file_format.value.lower()
            if kind not in _FORMATS:
                raise UnsupportedFormat(f"{file.file_path} is {kind}", hint="rewrite it as Parquet", feature=kind)
            found.append(
                _File(without_scheme(file.file_path), kind, _serialized_partition(schema, file.partition), number)
            )
    return found


def _check_own_files(location: str, files: Sequence[_File]) -> None:
    """Raise OutsideWarehouse if the manifests name a file outside the table's directory: moving it may take it from another table."""
    directory = plain_path(location)
    for file in files:
        if ".." in file.path.split("/") or not is_below(plain_path(file.path), directory):
            raise OutsideWarehouse(
                f"{location}: its manifests name the file {file.path!r}, which is outside the table's directory; nothing was moved",
                hint="copy the rows with Iceberg's reader, or move the file below the table's directory first",
                path=file.path,
                root=location,
            )


def _serialized_partition(schema: TableSchema, record: Sequence[Any]) -> bytes:
    """Iceberg's partition values as a serialized Paimon partition."""
    fields, values = schema.partition_fields, []
    for i, field in enumerate(fields):
        value = record[i]
        if value is not None and field.type.root.startswith("TIMESTAMP") and isinstance(value, int):
            value = instant_from_units(value, "us")
        elif value is not None and not isinstance(value, int | bool):
            value = from_python(field.type, value)
        values.append(value)
    return serialize([f.type for f in fields], values) if fields else EMPTY_ROW


def _files_by_partition(files: Sequence[_File]) -> dict[bytes, list[_File]]:
    files_by_partition: dict[bytes, list[_File]] = {}
    for file in files:
        files_by_partition.setdefault(file.partition, []).append(file)
    return files_by_partition


def _move_data_files(
    store: TableStore, partition: bytes, files: Sequence[_File], moved: list[tuple[str, str]]
) -> CommitMessage:
    """The commit message for the moved files of one partition."""
    fs, folder, data_files = store.fs, store.bucket_dir(partition, 0), []
    fs.make_dirs(folder)
    for file in files:
        new_path = posixpath.join(folder, imported_name(file.path.rsplit("/", 1)[-1], file.kind))
        moved.append((file.path, new_path))  # recorded before the move, so that a failure can undo it
        fs.move(file.path, new_path)
        file_store = store.at_schema(store.schemas.get(_schema_id_of(store, file, new_path)))
        data_files.append(
            describe_file(fs, file_store, partition, new_path, FileStatus(new_path, fs.size(new_path), 0, False))
        )
    return CommitMessage(partition, 0, -1, new_files=tuple(data_files), row_count=sum(f.row_count for f in data_files))


def _schema_id_of(store: TableStore, file: _File, path: str) -> int:
    """The schema id of a file: its manifest's, unless the file has other columns."""
    if file.kind != "parquet":
        return file.schema_id
    try:
        with store.fs.open(path) as raw:
            names = set(pq.read_schema(raw).names)
    except pa.ArrowInvalid as error:
        raise CorruptFile(file.path, str(error)) from None
    ids = [file.schema_id, *reversed(store.schemas.ids())]
    return next((i for i in ids if set(store.schemas.get(i).names) == names), file.schema_id)
