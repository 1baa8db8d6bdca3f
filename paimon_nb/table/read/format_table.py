"""Format tables: directories of CSV, JSON, text, ORC or Parquet files in Hive's partition layout, without snapshots.

Knows the layout: directories of partitions, data files, where new files wait for their commit. Reads no rows.
Source: Paimon 2.1 `FormatTable.java`, `FileSystemSplitEnumerator.java`, `PartitionPathUtils.java`, `RenamingTwoPhaseOutputStream.java`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import MissingFile, PaimonError, ReadError, StoreError, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.row import DEFAULT_PARTITION, escape, serialize, unescape
from paimon_nb.format.row.partition_path import is_blank
from paimon_nb.options import table as opt
from paimon_nb.table.read.partition_spec import HIVE_DEFAULT_PARTITION, matches_partition_spec, parse_partition_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paimon_nb.format.types import DataField
    from paimon_nb.fs import FileStatus
    from paimon_nb.options import TableOptions
    from paimon_nb.table.read.partition_service import PartitionService
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
    texts: tuple[str, ...] = ()
    """The values as the directory's name has them, not escaped."""


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
    return _path_of_texts(store, store.partition_texts(values))


def _path_of_texts(store: TableStore, texts: Mapping[str, str]) -> str:
    only_values = store.options.get(opt.FORMAT_TABLE_PARTITION_PATH_ONLY_VALUE)
    parts = [escape(v) if only_values else f"{escape(k)}={escape(v)}" for k, v in texts.items()]
    return "/".join((store.root, *parts))


def check_partition_name(store: TableStore, values: Sequence[Any]) -> None:
    """Raises UnsupportedOperation: the name of a partition's directory would be read as another value.

    Those are bytes that are not UTF-8, text that stands for NULL, and without the names of columns those that readers skip. Empty and
    blank text becomes NULL, as in Java, Spark and Hive.
    """
    only_values = store.options.get(opt.FORMAT_TABLE_PARTITION_PATH_ONLY_VALUE)
    default_name = str(store.options.get(opt.PARTITION_DEFAULT_NAME))
    for field, value, text in zip(
        store.schema.partition_fields, values, store.partition_texts(values).values(), strict=False
    ):
        is_blank_text = isinstance(value, str) and is_blank(value)
        if value is None or is_blank_text:
            continue
        if only_values and text.startswith((".", "_")):
            raise UnsupportedOperation(
                f"{store.name}: {value!r} cannot be a partition: readers skip directories whose names start with {text[0]!r}",
                hint=f"use a table without '{opt.FORMAT_TABLE_PARTITION_PATH_ONLY_VALUE.key}', or a Paimon table",
                column=field.name,
            )
        read = parse_partition_value(field.type, text, default_name)
        if not matches_partition_spec({field.name: read}, {field.name: value}):
            raise UnsupportedOperation(
                f"{store.name}: {value!r} cannot be a partition: the directory {field.name}={text} is read as "
                f"{'NULL' if read is None else repr(read)}",
                hint=f"use another column or type for {field.name}, or a Paimon table",
                column=field.name,
            )


def find_partitions(
    store: TableStore, keep: Callable[[Mapping[str, Any]], bool] = lambda _: True
) -> list[PartitionDirectory]:
    """The partitions, in the order of their directories: those that the catalog registers, else the directories that are there.

    Args:
        store: the table; an unpartitioned one has one directory, its own.
        keep: whether partitions with these values of the first partition columns are looked at. It is called on each
            level, so that directories which cannot match are not listed.

    Raises: ReadError: a directory is not a partition, or a file is in none. Names that start with `_` or `.` are skipped, but not
    `_p=1` of a column `_p`.
    """
    if store.partitions is None:
        return find_partition_directories(store, keep)
    keys = store.schema.partition_keys
    found = _registered_partitions(store, store.partitions)
    return [p for p in found if keep(dict(zip(keys, p.values, strict=True)))]


def find_partition_directories(
    store: TableStore, keep: Callable[[Mapping[str, Any]], bool] = lambda _: True
) -> list[PartitionDirectory]:
    """The directories of partitions, whether or not the catalog registers them; see `find_partitions`."""
    level = [PartitionDirectory((), store.root)]
    fields = store.schema.partition_fields
    for depth, field in enumerate(fields, 1):
        below = []
        for parent in level:
            for entry in _list_sorted(store, parent.path):
                if not _is_hidden(store, entry, field):
                    text = _partition_text_of_directory(store, field, entry)
                    value = _partition_value_of_text(store, field, entry, text)
                    below.append(PartitionDirectory((*parent.values, value), entry.path, (*parent.texts, text)))
        names = [f.name for f in fields[:depth]]
        level = [p for p in below if keep(dict(zip(names, p.values, strict=True)))]
    return level


def _registered_partitions(store: TableStore, service: PartitionService) -> list[PartitionDirectory]:
    """The partitions that a catalog registers, in the order of their texts, each once.

    Raises: StoreError: the server names a partition that the table cannot have.
    """
    fields = store.schema.partition_fields
    only_values = store.options.get(opt.FORMAT_TABLE_PARTITION_PATH_ONLY_VALUE)
    default_name = str(store.options.get(opt.PARTITION_DEFAULT_NAME))
    found: dict[tuple[str, ...], PartitionDirectory] = {}
    for spec in service.registered():
        texts = tuple(spec.get(f.name, "") for f in fields)
        is_spec = spec.keys() == {f.name for f in fields} and all(isinstance(t, str) and t for t in texts)
        if not is_spec or (only_values and any(t in (".", "..") for t in texts)):
            raise _not_registrable(store, spec, f"its columns are {', '.join(f.name for f in fields)}")
        try:
            values = tuple(parse_partition_value(f.type, t, default_name) for f, t in zip(fields, texts, strict=True))
        except PaimonError as error:
            raise _not_registrable(store, spec, error.message) from None
        path = _path_of_texts(store, {f.name: t for f, t in zip(fields, texts, strict=True)})
        found[texts] = PartitionDirectory(values, path, texts)
    return [found[texts] for texts in sorted(found)]


def _not_registrable(store: TableStore, spec: Mapping[str, Any], why: str) -> StoreError:
    return StoreError(
        f"{store.name}: the catalog server names a partition {dict(spec)!r} that the table cannot have: {why}",
        hint="ask the owner of the catalog to drop it",
        partition=dict(spec),
    )


def partition_bytes_of(store: TableStore, values: Sequence[Any]) -> bytes:
    """The serialized partition."""
    return serialize([f.type for f in store.schema.partition_fields], values)


def _is_hidden(store: TableStore, entry: FileStatus, field: DataField) -> bool:
    """Whether readers skip a directory or a file above the data files, such as `_temporary`, `_SUCCESS` and markers of object stores."""
    if not entry.name.startswith((".", "_")):
        return not entry.is_dir and not entry.size
    if store.options.get(opt.FORMAT_TABLE_PARTITION_PATH_ONLY_VALUE):
        return unescape(entry.name) not in _names_of_null(store)
    return not (entry.is_dir and _names_column(entry.name, field))


def _names_column(directory: str, field: DataField) -> bool:
    """Whether a name is `column=value` of this column."""
    key, equals, _ = directory.partition("=")
    return bool(equals) and unescape(key).lower() == field.name.lower()


def _names_of_null(store: TableStore) -> tuple[str, ...]:
    return str(store.options.get(opt.PARTITION_DEFAULT_NAME)), DEFAULT_PARTITION, HIVE_DEFAULT_PARTITION


def _partition_text_of_directory(store: TableStore, field: DataField, entry: FileStatus) -> str:
    """The text of a partition column in the name of a directory. Raises ReadError: it has none."""
    if not entry.is_dir:
        raise _not_a_partition(store, entry, f"the file is outside of the partitions by {field.name}")
    if store.options.get(opt.FORMAT_TABLE_PARTITION_PATH_ONLY_VALUE):
        return unescape(entry.name)
    if not _names_column(entry.name, field):
        raise _not_a_partition(store, entry, f"the name is not '{field.name}=...'")
    return unescape(entry.name.partition("=")[2])


def _partition_value_of_text(store: TableStore, field: DataField, entry: FileStatus, text: str) -> Any:
    """The value of a partition column in the in-row form. Raises ReadError: the text is not one."""
    try:
        return parse_partition_value(field.type, text, str(store.options.get(opt.PARTITION_DEFAULT_NAME)))
    except PaimonError:
        reason = f"{text!r} is not a value of {field.name}, which is {field.type.bare()}"
        raise _not_a_partition(store, entry, reason) from None


def _not_a_partition(store: TableStore, entry: FileStatus, reason: str) -> ReadError:
    below = entry.path.removeprefix(store.root).strip("/")
    return ReadError(
        f"{store.name}: {below} is not a partition: {reason}",
        hint="rename or move it, or give it a name that starts with _, which readers skip",
        path=entry.path,
    )


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
