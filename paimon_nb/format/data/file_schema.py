"""Columns of a data file, and its format from its name. Source: docs/spec/format.md sections 8 and 1."""

from __future__ import annotations

from dataclasses import dataclass, replace

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.schema import TableSchema
from paimon_nb.format.types import Atomic, DataField
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt

KEY_PREFIX = "_KEY_"
SEQUENCE_NUMBER = "_SEQUENCE_NUMBER"
VALUE_KIND = "_VALUE_KIND"
ROW_ID = "_ROW_ID"
KEY_ID_START = 1073741823
"""Ids of `_KEY_` columns: Integer.MAX_VALUE / 2 + the column's own."""
SEQUENCE_FIELD = DataField(2147483646, SEQUENCE_NUMBER, Atomic("BIGINT", False))
KIND_FIELD = DataField(2147483645, VALUE_KIND, Atomic("TINYINT", False))
ROW_ID_FIELD = DataField(2147483642, ROW_ID, Atomic("BIGINT"))
TRACKING_FIELDS = (ROW_ID_FIELD, replace(SEQUENCE_FIELD, type=Atomic("BIGINT")))
"""What a rewritten file of a table that tracks its rows holds beside the table's columns."""

FORMATS = ("parquet", "orc", "avro", "json")
_KNOWN_ELSEWHERE = ("csv", "text", "lance", "blob", "vortex", "mosaic")
TEXT_EXTENSIONS = {"none": "", "gzip": "gz", "zstd": "zst", "bzip2": "bz2", "deflate": "deflate"}
"""Codec in Paimon's words -> the last extension of a JSON file, which is compressed as a whole."""
_CODEC_EXTENSIONS = frozenset(
    ["zst", "zstd", "gz", "gzip", "lz4", "snappy", "bz2", "deflate", "lzo", "br", "zlib", "none"]
)


def key_value_fields(schema: TableSchema, thin: bool = False) -> tuple[DataField, ...]:
    """Columns of a primary-key table's file: keys, sequence number, kind, then all columns of the table."""
    keys = () if thin else tuple(
        replace(f, id=f.id + KEY_ID_START, name=KEY_PREFIX + f.name) for f in schema.key_fields
    )  # fmt: skip
    return (*keys, SEQUENCE_FIELD, KIND_FIELD, *schema.fields)


def kv_columns(fields: tuple[DataField, ...]) -> tuple[DataField, ...]:
    """Columns of a kv table in memory: the table's, then sequence number and kind; keys are among the first."""
    return (*fields, SEQUENCE_FIELD, KIND_FIELD)


def format_of(file_name: str) -> str:
    """The format in a data file's name: the last extension, unless that is a codec's, then the one before.

    Raises:
        UnsupportedFormat: a format that is not read here.
    """
    parts = file_name.rsplit("/", 1)[-1].split(".")[1:]
    while len(parts) > 1 and parts[-1].lower() in _CODEC_EXTENSIONS:
        parts.pop()
    name = parts[-1].lower() if parts else ""
    if name in FORMATS:
        return name
    known = f"{name!r} files" if name in _KNOWN_ELSEWHERE else f"files like {file_name!r}"
    raise UnsupportedFormat(f"{known} cannot be read here", hint=f"known formats: {', '.join(FORMATS)}", feature=name)


@dataclass(frozen=True, slots=True)
class FileLayout:
    """How a new file is stored."""

    format: str
    compression: str
    """The codec in Paimon's words."""
    extension: str
    """What the file's name ends with, without the leading dot."""


def file_layout(options: TableOptions, level: int, *, changelog: bool = False) -> FileLayout:
    """The layout that a new file of this level gets: changelog files have their own options, levels may.

    Raises:
        UnsupportedFormat: a format that is not written here.
    """
    by_level = options.get(opt.FILE_FORMAT_PER_LEVEL).get(str(level))
    name = by_level or options.get(opt.FILE_FORMAT)
    codec = options.get(opt.FILE_COMPRESSION_PER_LEVEL).get(str(level)) or options.get(opt.FILE_COMPRESSION)
    if changelog:
        name = options.get(opt.CHANGELOG_FILE_FORMAT) or name
        codec = options.get(opt.CHANGELOG_FILE_COMPRESSION) or codec
    name, codec = name.lower(), codec.lower()
    if name not in FORMATS:
        raise UnsupportedFormat(
            f"file.format {name!r} cannot be written here", hint=f"use one of {', '.join(FORMATS)}", feature=name
        )
    if name == "json":
        extension = TEXT_EXTENSIONS.get(codec, codec)
        return FileLayout(name, codec, f"{name}.{extension}" if extension else name)
    with_codec = options.get(opt.FILE_SUFFIX_INCLUDE_COMPRESSION)
    return FileLayout(name, codec, f"{codec}.{name}" if with_codec else name)


def file_format(options: TableOptions, level: int, *, changelog: bool = False) -> str:
    """The format that a new file of this level gets. Raises `UnsupportedFormat`."""
    return file_layout(options, level, changelog=changelog).format


def file_compression(options: TableOptions, level: int, *, changelog: bool = False) -> str:
    """The codec that a new file of this level gets, in Paimon's words."""
    return file_layout(options, level, changelog=changelog).compression


def file_extension(options: TableOptions, level: int, *, changelog: bool = False) -> str:
    """What a new file's name ends with, without the leading dot."""
    return file_layout(options, level, changelog=changelog).extension
