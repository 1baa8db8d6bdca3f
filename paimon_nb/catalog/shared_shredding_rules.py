"""Checks of MAP columns in the shared-shredding layout. Reads no files.

Source: Paimon 2.1 `SchemaValidation.validateMapStorageLayout`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.format.data.shared_shredding import LAYOUT_OPTION
from paimon_nb.format.data.shared_shredding_writer import CODECS, LAYOUT
from paimon_nb.format.types import DataField, Map, Multiset, Vector
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.format.types import DataType
    from paimon_nb.options import TableOptions


def check_shared_shredding(schema: TableSchema, options: TableOptions) -> None:
    """Raises BadOptionValue: the layout does not suit a column, or another option."""
    columns = [f for f in schema.fields if f"fields.{f.name}.{LAYOUT_OPTION}" in options.raw]
    for f in columns:
        if not isinstance(f.type, Map):
            _refuse(f, f"it is {f.type.bare()}", "only a MAP has a layout")
    columns = [f for f in columns if options.field(f.name, LAYOUT_OPTION) == LAYOUT]
    for f in columns:
        _check_column(f)
    if not columns:
        return
    first = columns[0]
    for other in schema.fields:
        if other.type.contains_type(lambda t: t.root == "VARIANT" or isinstance(t, Multiset)):
            _refuse(first, f"column {other.name!r} is {other.type.bare()}", "VARIANT and MULTISET need another table")
    formats = [options.get(opt.FILE_FORMAT), *options.get(opt.FILE_FORMAT_PER_LEVEL).values()]
    codecs = [options.get(opt.FILE_COMPRESSION), *options.get(opt.FILE_COMPRESSION_PER_LEVEL).values()]
    formats += [options.get(opt.CHANGELOG_FILE_FORMAT) or "parquet"]
    codecs += [options.get(opt.CHANGELOG_FILE_COMPRESSION) or "zstd"]
    if others := [f for f in formats if f not in ("parquet", "orc")]:
        _refuse(first, f"{others[0]} files have no such layout", "use 'parquet' or 'orc'")
    if others := [c for c in codecs if c.lower() not in CODECS]:
        _refuse(
            first,
            f"its keys cannot be compressed with {others[0]!r}",
            f"'file.compression' is one of {', '.join(CODECS)}",
        )
    if nested := sorted(_nested_index_columns(options) & {f.name for f in columns}):
        refused = next(f for f in columns if f.name == nested[0])
        _refuse(
            refused, "a file index of its keys cannot be built", f"take {nested[0]}[...] out of 'file-index.*.columns'"
        )
    if options.get(opt.BUCKET) == -2:
        _refuse(first, "postponed buckets do not have it", "use another number of buckets")


def _nested_index_columns(options: TableOptions) -> set[str]:
    """The columns `m` of `'file-index.bitmap.columns' = 'm[key]'`."""
    lists = (v for k, v in options.raw.items() if k.startswith("file-index.") and k.endswith(".columns"))
    return {name.partition("[")[0].strip() for names in lists for name in str(names).split(",") if "[" in name}


def _check_column(field: DataField) -> None:
    t = field.type
    assert isinstance(t, Map)
    if t.key.root != "VARCHAR" or t.key.nullable:
        _refuse(field, f"it is {t.bare()}", "use MAP<STRING NOT NULL, T>")

    def is_refused(inner: DataType) -> bool:
        return inner.root == "BLOB" or isinstance(inner, Vector)

    if t.value.contains_type(is_refused):
        _refuse(field, f"its values are {t.value.bare()}", "BLOB and VECTOR cannot be in it")


def _refuse(field: DataField, why: str, hint: str) -> NoReturn:
    key = f"fields.{field.name}.{LAYOUT_OPTION}"
    raise BadOptionValue(f"option {key!r}: {why}", hint=hint, option=key)
