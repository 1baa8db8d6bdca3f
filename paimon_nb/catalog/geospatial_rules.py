"""Checks of GEOMETRY and GEOGRAPHY columns. Reads no files.

Source: Paimon 2.1 `SchemaValidation.validateGeospatialTypes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.format.types import Geography, is_geospatial
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.format.types import DataType
    from paimon_nb.options import TableOptions


def check_geospatial_columns(schema: TableSchema, options: TableOptions) -> None:
    """Raises BadOptionValue: an option for a file format, keys or Iceberg metadata that such a column cannot have."""
    columns = [f for f in schema.fields if f.type.contains_type(is_geospatial)]
    if not columns:
        return
    name, kind = columns[0].name, columns[0].type.bare()
    formats = [
        (opt.FILE_FORMAT.key, [options.get(opt.FILE_FORMAT)]),
        (opt.FILE_FORMAT_PER_LEVEL.key, options.get(opt.FILE_FORMAT_PER_LEVEL).values()),
        (opt.CHANGELOG_FILE_FORMAT.key, [options.get(opt.CHANGELOG_FILE_FORMAT) or "parquet"]),
    ]
    for key, names in formats:
        if other := [f for f in names if f != "parquet"]:
            _refuse(key, f"{other[0]} files cannot store column {name!r}, which is {kind}", "use 'parquet'")
    clustering = options.names(opt.CLUSTERING_COLUMNS)
    without_order = [(opt.CLUSTERING_COLUMNS.key, f.name) for f in columns if f.name in clustering]
    for key, names in (
        (opt.BUCKET_KEY.key, schema.bucket_keys),
        (opt.SEQUENCE_FIELD.key, options.names(opt.SEQUENCE_FIELD)),
    ):
        without_order += [(key, f.name) for f in columns if is_geospatial(f.type) and f.name in names]
    for key, column in without_order:
        _refuse(
            key, f"column {column!r} is {schema.field(column).type.bare()}, which has no order", "use another column"
        )
    _check_iceberg(options, columns[0].name, [f.type for f in columns])


def _check_iceberg(options: TableOptions, name: str, types: list[DataType]) -> None:
    storage, version = options.get(opt.METADATA_ICEBERG_STORAGE), opt.METADATA_ICEBERG_FORMAT_VERSION
    if storage in (None, "disabled"):
        return
    if int(options.get(version)) != 3:
        _refuse(version.key, f"column {name!r} needs version 3 of Iceberg", "use '3'")
    if storage == "rest-catalog":
        why = f"Iceberg's REST catalog cannot have column {name!r}"
        _refuse(opt.METADATA_ICEBERG_STORAGE.key, why, "use 'table-location', 'hadoop-catalog' or 'hive-catalog'")
    if any(t.contains_type(lambda inner: isinstance(inner, Geography) and "," in inner.crs) for t in types):
        why = "Iceberg has no GEOGRAPHY with a comma in the name of its coordinate system"
        _refuse(opt.METADATA_ICEBERG_STORAGE.key, why, "use another name, such as OGC:CRS84")


def _refuse(key: str, why: str, hint: str) -> NoReturn:
    raise BadOptionValue(f"option {key!r}: {why}", hint=hint, option=key)
