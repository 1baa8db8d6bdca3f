"""Which tables have Iceberg metadata, where it is stored, and what such tables cannot have.

Source: Paimon 2.1 `IcebergPathFactory`, `IcebergCommitCallback.catalogDatabasePath`; docs/spec/format.md section 21.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue, UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt
from paimon_nb.options.support import is_ignored
from paimon_nb.table.write.iceberg.name_mapping import column_names, misread_name
from paimon_nb.table.write.iceberg.schema import misread_by_format, schema_node, unreadable_change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.table.read.store import TableStore

_REGISTERED = ("hive-catalog", "rest-catalog")
_STORED = ("table-location", "hadoop-catalog", *_REGISTERED)
VERSION_HINT = "version-hint.text"
REST_PREFIX = "metadata.iceberg.rest."
"""Begins the options for the REST catalog of Iceberg: `uri`, `warehouse`, `token` and others."""
REST_URI = f"{REST_PREFIX}uri"


@dataclass(frozen=True, slots=True)
class IcebergLayout:
    """Place and form of one table's Iceberg metadata."""

    directory: str
    """The directory of metadata files, manifest lists and manifests."""
    format_version: int
    """2 or 3."""
    deletion_vectors: bool
    """Whether Iceberg readers see deletion vectors, and therefore all files above level 0."""
    is_registered: bool
    """Whether a catalog service names the newest metadata file."""

    def metadata_path(self, version: int) -> str:
        """Path of the metadata file of a Paimon snapshot."""
        return f"{self.directory}/v{version}.metadata.json"


def layout_of(store: TableStore) -> IcebergLayout | None:
    """The layout of the table's Iceberg metadata; None for a table without it. Branches have none: it describes main."""
    if store.branch != "main" or not _is_enabled(store.schema):
        return None
    options = store.options
    database, _, name = store.root.rpartition("/")
    if _location(options) == "catalog-location":
        warehouse, _, folder = database.rpartition("/")
        if not folder.endswith(".db"):
            raise UnsupportedFormat(
                f"{store.name}: Iceberg metadata of a catalog needs a database directory that ends in '.db', not {folder!r}",
                hint="set 'metadata.iceberg.storage-location' = 'table-location'",
                feature=opt.METADATA_ICEBERG_STORAGE_LOCATION.key,
                path=store.root,
            )
        database = f"{warehouse}/iceberg/{folder.removesuffix('.db')}"
    is_registered = str(options.get(opt.METADATA_ICEBERG_STORAGE)) in _REGISTERED
    return IcebergLayout(f"{database}/{name}/metadata", _format_version(options), has_vectors(options), is_registered)


def has_vectors(options: TableOptions) -> bool:
    """Whether the table's deletion vectors have Iceberg's layout and its metadata can name them."""
    return bool(
        options.get(opt.DELETION_VECTORS_ENABLED)
        and options.get(opt.DELETION_VECTORS_BITMAP64)
        and _format_version(options) == 3
    )


def check_rest_uri(options: Mapping[str, str]) -> None:
    """Raise BadOptionValue if a table's options lack the address of the REST catalog of Iceberg."""
    if REST_URI not in options:
        raise BadOptionValue(
            f"'metadata.iceberg.storage' = 'rest-catalog' needs {REST_URI!r}",
            hint=f"{REST_URI!r} = 'http://host:8181', the address of the Iceberg REST catalog",
            option=REST_URI,
        )


def check_publishable(schema: TableSchema, before: TableSchema | None = None) -> None:
    """Refuse what Iceberg readers would read wrongly, of a table with Iceberg metadata.

    Args:
        before: the schema that is changed.

    Raises:
        UnsupportedFormat: a type, a file format or a feature that Iceberg metadata cannot describe.
        BadOptionValue: the type of a column changes in a way that Iceberg does not have.
    """
    if not _is_enabled(schema):
        return
    options = TableOptions(schema.options)
    schema_node(schema)
    if options.get(opt.METADATA_ICEBERG_STORAGE) == "rest-catalog":
        check_rest_uri(schema.options)
    for file_format in sorted(_formats(options)):
        if (why := misread_by_format(schema, file_format)) is not None:
            _refuse(why, "use 'file.format' = 'parquet'")
    if options.get(opt.DATA_EVOLUTION_ENABLED):
        _refuse("its files may contain some columns of their rows only", "set 'data-evolution.enabled' = 'false'")
    if not schema.primary_keys and options.get(opt.DELETION_VECTORS_ENABLED) and not has_vectors(options):
        _refuse(
            "Iceberg readers would see deleted rows",
            "set 'metadata.iceberg.format-version' = '3' and 'deletion-vectors.bitmap64' = 'true'",
        )
    changed = unreadable_change(before, schema) if before is not None and _is_enabled(before) else None
    if changed is not None:
        raise BadOptionValue(
            f"column {changed!r} cannot have this type: Iceberg readers could not read the files that exist",
            hint="INT to BIGINT, FLOAT to DOUBLE and DECIMAL of a greater precision are possible; otherwise reset "
            "'metadata.iceberg.storage' first",
            column=changed,
        )


def check_column_names(store: TableStore) -> None:
    """Refuse a column whose name an earlier column had, for new files that contain no column ids (ORC, Avro).

    Raises UnsupportedFormat.
    """
    if _formats(store.options) == {"parquet"} or store.schema.id == 0:
        return
    names = column_names(schema_node(store.schemas.get(i)) for i in sorted(store.schemas.ids()))
    if (column := misread_name(schema_node(store.schema), names)) is not None:
        _refuse(
            f"an earlier column was named {column!r}, too, and files contain no column ids",
            "rename the column, or set 'file.format' = 'parquet'",
        )


def _formats(options: TableOptions) -> set[str]:
    return {str(options.get(opt.FILE_FORMAT)), *options.get(opt.FILE_FORMAT_PER_LEVEL).values()}


def _refuse(why: str, hint: str) -> None:
    key = opt.METADATA_ICEBERG_STORAGE.key
    raise UnsupportedFormat(f"a table with {key!r}: {why}", hint=hint, feature=key, option=key)


def _is_enabled(schema: TableSchema) -> bool:
    key = opt.METADATA_ICEBERG_STORAGE.key
    return key in schema.options and schema.options[key].lower() in _STORED and not is_ignored(key, schema.options)


def _location(options: TableOptions) -> str:
    default = "table-location" if options.get(opt.METADATA_ICEBERG_STORAGE) == "table-location" else "catalog-location"
    return str(options.get(opt.METADATA_ICEBERG_STORAGE_LOCATION) or default)


def _format_version(options: TableOptions) -> int:
    return int(options.get(opt.METADATA_ICEBERG_FORMAT_VERSION))
