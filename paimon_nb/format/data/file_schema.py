"""Columns of a data file, its format from its name, and its writer. Source: docs/spec/format.md sections 8 and 1."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from paimon_nb.base.errors import NullNotAllowed, UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types import Atomic, DataField
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.fs import FileIO

KEY_PREFIX = "_KEY_"
SEQUENCE_NUMBER = "_SEQUENCE_NUMBER"
VALUE_KIND = "_VALUE_KIND"
ROW_KINDS = ("+I", "-U", "+U", "-D")
"""The texts of the values of `_VALUE_KIND`."""
ROW_ID = "_ROW_ID"
KEY_ID_START = 1073741823
"""Ids of `_KEY_` columns: Integer.MAX_VALUE / 2 + the column's own."""
SEQUENCE_FIELD = DataField(2147483646, SEQUENCE_NUMBER, Atomic("BIGINT", False))
KIND_FIELD = DataField(2147483645, VALUE_KIND, Atomic("TINYINT", False))
ROW_ID_FIELD = DataField(2147483642, ROW_ID, Atomic("BIGINT"))
TRACKING_FIELDS = (ROW_ID_FIELD, replace(SEQUENCE_FIELD, type=Atomic("BIGINT")))
"""Additional columns of a rewritten file of a table with row tracking."""

FORMATS = ("parquet", "orc", "avro", "json", "csv", "lance", "vortex")
PLAIN_FORMATS = ("csv", "json", "text", "orc", "parquet")
"""Formats of format tables."""
BLOB_FORMAT = "blob"
"""Format of files with the values of one BLOB column; no `file.format` of a table."""
_KNOWN_ELSEWHERE = ("text", "row", "mosaic")
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


_COMPACTED_CHANGELOG = "cc-"
"""Begins the extension of changelog files that were compacted before the commit."""


def is_compacted_changelog(path: str) -> bool:
    """Whether the path means a range of a changelog file that was compacted before the commit."""
    return path.rsplit("/", 1)[-1].startswith("compacted-changelog-")


def format_of(file_name: str) -> str:
    """The format of a data file by its name: the last extension, or the one before it if the last one is a codec.

    Raises:
        UnsupportedFormat: a format that cannot be read.
    """
    parts = file_name.rsplit("/", 1)[-1].split(".")[1:]
    while len(parts) > 1 and parts[-1].lower() in _CODEC_EXTENSIONS:
        parts.pop()
    name = parts[-1].lower().removeprefix(_COMPACTED_CHANGELOG) if parts else ""
    if name in FORMATS or name == BLOB_FORMAT:
        return name
    known = f"{name!r} files" if name in _KNOWN_ELSEWHERE else f"files like {file_name!r}"
    raise UnsupportedFormat(f"{known} cannot be read here", hint=f"known formats: {', '.join(FORMATS)}", feature=name)


@dataclass(frozen=True, slots=True)
class FileLayout:
    """Format, codec and extension of a new file."""

    format: str
    compression: str
    """The codec, as in `file.compression`."""
    extension: str
    """The file's extension, without the leading dot."""


def file_layout(options: TableOptions, level: int, *, changelog: bool = False) -> FileLayout:
    """The layout of a new file of this level. Changelog files and levels can have their own options.

    Raises:
        UnsupportedFormat: a format that cannot be written.
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
    from paimon_nb.format.data.text_codecs import TEXT_EXTENSIONS

    extension = TEXT_EXTENSIONS.get(codec, codec)
    if name in ("json", "csv"):
        return FileLayout(name, codec, f"{name}.{extension}" if extension else name)
    with_codec = extension and options.get(opt.FILE_SUFFIX_INCLUDE_COMPRESSION)
    return FileLayout(name, codec, f"{extension}.{name}" if with_codec else name)


def file_format(options: TableOptions, level: int, *, changelog: bool = False) -> str:
    """The format of a new file of this level. Raises `UnsupportedFormat`."""
    return file_layout(options, level, changelog=changelog).format


def file_compression(options: TableOptions, level: int, *, changelog: bool = False) -> str:
    """The codec of a new file of this level, as in `file.compression`."""
    return file_layout(options, level, changelog=changelog).compression


def file_extension(options: TableOptions, level: int, *, changelog: bool = False) -> str:
    """The extension of a new file, without the leading dot."""
    return file_layout(options, level, changelog=changelog).extension


class _FormatWriter(Protocol):
    @property
    def pending_bytes(self) -> int: ...

    def write(self, table: pa.Table) -> None: ...

    def close(self) -> None: ...

    def abort(self) -> None: ...


def _writer_class(name: str) -> Callable[[Any, Sequence[DataField], TableOptions, str], _FormatWriter]:
    """The writer class of one of `FORMATS` or `PLAIN_FORMATS`; imports only that one."""
    match name:
        case "parquet":
            from paimon_nb.format.data.parquet_writer import ParquetWriter

            return ParquetWriter
        case "orc":
            from paimon_nb.format.data.orc_writer import OrcWriter

            return OrcWriter
        case "json":
            from paimon_nb.format.data.json_files import JsonWriter

            return JsonWriter
        case "csv":
            from paimon_nb.format.data.csv_files import CsvWriter

            return CsvWriter
        case "text":
            from paimon_nb.format.data.line_files import LineWriter

            return LineWriter
        case "lance":
            from paimon_nb.format.data.lance_vortex import LanceWriter

            return LanceWriter
        case "vortex":
            from paimon_nb.format.data.lance_vortex import VortexWriter

            return VortexWriter
        case "blob":
            from paimon_nb.format.data.blob import BlobWriter

            return BlobWriter

    from paimon_nb.format.data.avro import AvroWriter

    return AvroWriter


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """Properties of a finished file."""

    size: int
    row_count: int
    map_widths: Mapping[str, int]
    """By column whose keys share columns: the number of keys of the row that has the most."""


class DataWriter:
    """A new data file. Its columns are those of `fields`, in their order, as logical Arrow types."""

    def __init__(
        self,
        fs: FileIO,
        path: str,
        fields: Sequence[DataField],
        options: TableOptions,
        compression: str,
        format: str | None = None,
    ) -> None:
        """`format`: one of `FORMATS` or `PLAIN_FORMATS`; None: as in the path's extension."""
        self._fs, self._path = fs, path
        self._never_null = [f.name for f in fields if not f.type.nullable]
        self._out = fs.create(path)
        self._rows = 0
        try:
            self._writer = _writer_class(format or format_of(path))(self._out, fields, options, compression)
        except BaseException:
            self._out.abort()
            raise

    def write(self, rows: pa.Table | pa.RecordBatch) -> None:
        """Append rows.

        Raises NullNotAllowed. Input rows are checked earlier, but a merge can create a NULL, and old files may contain
        some.
        """
        table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
        for name in self._never_null:
            if table.column(name).null_count:
                raise NullNotAllowed(
                    f"column {name!r} is NOT NULL, and NULL would be written into {self._path}",
                    hint="aggregates and files from before the column was NOT NULL make such rows: ALTER TABLE ... MODIFY the column to allow NULL",
                    column=name,
                )
        self._rows += table.num_rows
        self._writer.write(table)

    @property
    def bytes_written(self) -> int:
        """Approximate size of the file, including rows that are not encoded yet; for comparison with a target size."""
        return self._out.tell() + self._writer.pending_bytes

    def close(self) -> WrittenFile:
        """Finish the file and make it durable."""
        try:
            self._writer.close()
            size = self._out.tell()
            self._out.close()
        except BaseException:
            self.abort()
            raise
        maps = getattr(self._writer, "maps", {})
        return WrittenFile(size, self._rows, {name: m.max_row_width for name, m in maps.items()})

    def abort(self) -> None:
        """Discard the file. The encoder is closed first: it must not write to a closed file."""
        self._writer.abort()
        self._out.abort()


def open_data_writer(
    fs: FileIO, path: str, fields: Sequence[DataField], options: TableOptions, level: int, *, changelog: bool = False
) -> DataWriter:
    """Open a writer for the format in the path's extension, with the level's codec."""
    return DataWriter(fs, path, fields, options, file_compression(options, level, changelog=changelog))
