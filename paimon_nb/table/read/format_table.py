"""Format tables: directories of CSV, JSON, text, ORC or Parquet files in Hive's partition layout, without snapshots.

Knows the layout: directories of partitions, data files, where new files wait for their commit. Reads no rows.
Source: Paimon 2.1 `FormatTable.java`, `FileSystemSplitEnumerator.java`, `PartitionPathUtils.java`, `RenamingTwoPhaseOutputStream.java`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import MissingFile, PaimonError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import cast_column
from paimon_nb.format.row import from_scalar, partition_names, serialize
from paimon_nb.format.row.partition_path import escape, unescape
from paimon_nb.format.types import VarChar
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paimon_nb.format.types import DataField, DataType
    from paimon_nb.fs import FileStatus
    from paimon_nb.options import TableOptions
    from paimon_nb.table.read.store import TableStore

STAGING = "_temporary"
"""Directory of files that are written and not committed; readers skip names that start with `_` or `.`."""
_DEFAULT_CODECS = {"parquet": "snappy", "orc": "zstd"}
_CODEC_KEYS = (opt.FILE_COMPRESSION.key, opt.FORMAT_TABLE_FILE_COMPRESSION.key, "compression")


@dataclass(frozen=True, slots=True)
class PartitionDirectory:
    """One partition of a format table."""

    values: tuple[Any, ...]
    """In the in-row form, in the order of the partition keys; () for an unpartitioned table."""
    path: str


def file_format_of(options: TableOptions) -> str:
    """The format of the table's files: one of `PLAIN_FORMATS`."""
    return str(options.get(opt.FILE_FORMAT)).lower()


def compression_of(options: TableOptions) -> str:
    """The codec of new files."""
    key = next((k for k in _CODEC_KEYS if k in options.raw), None)
    found = options.raw[key] if key else _DEFAULT_CODECS.get(file_format_of(options), "none")
    return found.lower()


def data_fields(store: TableStore) -> tuple[DataField, ...]:
    """The columns that the files contain: all but the partition columns."""
    keys = store.schema.partition_keys
    return tuple(f for f in store.schema.fields if f.name not in keys)


# -- partitions


def partition_path_of(store: TableStore, values: Sequence[Any]) -> str:
    """The directory of a partition, or of the partitions that start with these values."""
    fields = store.schema.partition_fields[: len(values)]
    names = partition_names(
        fields,
        values,
        legacy=store.options.get(opt.PARTITION_LEGACY_NAME),
        default_name=store.options.get(opt.PARTITION_DEFAULT_NAME),
    )
    only_values = store.options.get(opt.FORMAT_TABLE_PARTITION_PATH_ONLY_VALUE)
    parts = [escape(v) if only_values else f"{escape(k)}={escape(v)}" for k, v in names.items()]
    return "/".join((store.root, *parts))


def find_partitions(
    store: TableStore, keep: Callable[[Mapping[str, Any]], bool] = lambda _: True
) -> list[PartitionDirectory]:
    """The partition directories, in the order of their paths.

    Args:
        store: the table; an unpartitioned one has one directory, its own.
        keep: whether partitions with these values of the first partition columns are looked at. It is called on each
            level, so that directories which cannot match are not listed.
    """
    level = [PartitionDirectory((), store.root)]
    fields = store.schema.partition_fields
    for depth, field in enumerate(fields, 1):
        below = []
        for parent in level:
            for entry in _list_sorted(store, parent.path):
                known, value = (
                    _partition_value_of_directory(store, field, entry.name) if entry.is_dir else (False, None)
                )
                if known:
                    below.append(PartitionDirectory((*parent.values, value), entry.path))
        names = [f.name for f in fields[:depth]]
        level = [p for p in below if keep(dict(zip(names, p.values, strict=True)))]
    return level


def partition_bytes_of(store: TableStore, values: Sequence[Any]) -> bytes:
    """The serialized partition."""
    return serialize([f.type for f in store.schema.partition_fields], values)


def _partition_value_of_directory(store: TableStore, field: DataField, name: str) -> tuple[bool, Any]:
    """Whether a directory is one of this partition column, and its value in the in-row form."""
    default_name = store.options.get(opt.PARTITION_DEFAULT_NAME)
    if store.options.get(opt.FORMAT_TABLE_PARTITION_PATH_ONLY_VALUE):
        text = unescape(name)
        if name.startswith((".", "_")) and text != default_name:
            return False, None
    else:
        key, equals, value = name.partition("=")
        if not equals or unescape(key) != field.name:
            return False, None
        text = unescape(value)
    if text == default_name:
        return True, None
    try:
        return True, _parse_partition_value(text, field.type)
    except PaimonError:
        return False, None


def _parse_partition_value(text: str, t: DataType) -> Any:
    return from_scalar(t, cast_column(pa.array([text]), VarChar(), t)[0])


# -- files


def data_files(store: TableStore, directory: str) -> list[FileStatus]:
    """The data files below a directory, in the order of their paths; not those that wait for a commit."""
    found: list[FileStatus] = []
    for entry in _list_sorted(store, directory):
        if entry.name.startswith((".", "_")):
            continue
        found += data_files(store, entry.path) if entry.is_dir else [entry]
    return found


def _list_sorted(store: TableStore, path: str) -> list[FileStatus]:
    try:
        return sorted(store.fs.list(path), key=lambda s: s.path)
    except MissingFile:
        return []  # removed by another writer, or a table without rows


def new_file_name(store: TableStore) -> str:
    """The name of a new data file."""
    from paimon_nb.format.data.text_codecs import TEXT_EXTENSIONS

    kind, codec = file_format_of(store.options), compression_of(store.options)
    extension = TEXT_EXTENSIONS.get(codec, codec)
    if kind in ("parquet", "orc") or not extension:
        return store.new_file_name("data", kind)
    return store.new_file_name("data", f"{kind}.{extension}")
