"""Reads and writes `.blob` files: the values of one BLOB column, each with a checksum, and an index of their lengths.

Source: Paimon 2.1 `BlobFormatWriter`, `BlobFormatReader`, `BlobDescriptor`; docs/spec/format.md section 8.5.
"""

from __future__ import annotations

import io
import struct
import zlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import CorruptFile, UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data.blob_collections import decode_collection, encode_collection
from paimon_nb.format.data.delta_varints import decode_deltas, encode_deltas
from paimon_nb.format.types import DataField, arrow_schema
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from paimon_nb.fs import FileIO
    from paimon_nb.options import TableOptions

MAGIC = struct.pack("<I", 1481511375)
_VERSION = 1
_NULL, _PLACEHOLDER = -1, -2
_OVERHEAD = 16
"""Bytes of a value's magic number, length and checksum."""
_FOOTER = 5
BATCH_BYTES = 64 << 20
"""Bytes of values, about, that are in memory at a time."""
_DESCRIPTOR_MAGIC = 0x424C4F4244455343
_VIEW_MAGIC = 0x424C4F4256494557
MANAGED_SUFFIX = ".managed.blob"
"""Ends the names of the files that rows with keys refer to."""


@dataclass(frozen=True, slots=True)
class BlobDescriptor:
    """The location of a value: a part of a file."""

    uri: str
    """Path of the file."""
    offset: int
    """First byte of the value."""
    length: int
    """Bytes of the value; -1: up to the end of the file."""

    @staticmethod
    def parse(data: bytes) -> BlobDescriptor:
        """Parse what a read with `blob-as-descriptor` returns. Raises ValueError: other bytes."""
        if not BlobDescriptor.is_descriptor(data):
            raise ValueError("these bytes are not a blob descriptor")
        return BlobDescriptor._after(data, 9)

    @staticmethod
    def parse_stored(data: bytes) -> BlobDescriptor:
        """Parse a value of a column of descriptors, also of version 1, which other bytes may look like. Raises ValueError."""
        return BlobDescriptor._after(data, 1) if data[:1] == b"\1" else BlobDescriptor.parse(data)

    @staticmethod
    def _after(data: bytes, at: int) -> BlobDescriptor:
        if len(data) < at + 20 or len(data) != at + 20 + struct.unpack_from("<I", data, at)[0]:
            raise ValueError("a blob descriptor with a wrong length")
        end = len(data) - 16
        return BlobDescriptor(data[at + 4 : end].decode(), *struct.unpack_from("<qq", data, end))

    @staticmethod
    def is_descriptor(data: bytes) -> bool:
        """Whether the bytes are a descriptor, of the version that can be recognised."""
        return len(data) >= 29 and data[0] == 2 and struct.unpack_from("<Q", data, 1)[0] == _DESCRIPTOR_MAGIC

    def to_bytes(self) -> bytes:
        """The descriptor as Paimon stores it, in version 2."""
        uri = self.uri.encode()
        return struct.pack("<BQI", 2, _DESCRIPTOR_MAGIC, len(uri)) + uri + struct.pack("<qq", self.offset, self.length)


@dataclass(frozen=True, slots=True)
class BlobView:
    """A reference to a BLOB of another table."""

    table: str
    """`database.table`."""
    field_id: int
    row_id: int

    @staticmethod
    def parse(data: bytes) -> BlobView:
        """Parse a value of a column of `blob-view-field`. Raises ValueError: other bytes."""
        if len(data) < 25 or data[0] != 1 or struct.unpack_from("<Q", data, 1)[0] != _VIEW_MAGIC:
            raise ValueError("these bytes are not a blob view")
        if len(data) != 25 + struct.unpack_from("<I", data, 9)[0]:
            raise ValueError("a blob view with a wrong length")
        return BlobView(data[13:-12].decode(), *struct.unpack_from("<iq", data, len(data) - 12))

    def to_bytes(self) -> bytes:
        name = self.table.encode()
        return struct.pack("<BQI", 1, _VIEW_MAGIC, len(name)) + name + struct.pack("<iq", self.field_id, self.row_id)


class BlobReader:
    """One open `.blob` file. Its rows are one unit."""

    def __init__(self, fs: FileIO, path: str, fields: Sequence[DataField], options: TableOptions | None = None) -> None:
        self.path, self.fields = path, tuple(fields)
        self._as_descriptor = options is not None and bool(options.get(opt.BLOB_AS_DESCRIPTOR))
        self._file = fs.open(path)
        try:
            self._entries = _read_entry_index(self._file, fs.size(path), path)
        except BaseException:
            self._file.close()
            raise

    @property
    def num_rows(self) -> int:
        return len(self._entries)

    @property
    def row_groups(self) -> list[int]:
        return [len(self._entries)] if self._entries else []

    def read(self, groups: Sequence[int] | None = None) -> pa.Table:
        """All values, in file order."""
        schema = arrow_schema(self.fields, nullable=True)
        batches = [] if groups == [] else list(self.batches(max(len(self._entries), 1)))
        return pa.Table.from_batches(batches, schema)

    def batches(self, rows: int, groups: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]:
        """Values in batches of at most `rows`, and of about 64 MB."""
        schema = arrow_schema(self.fields, nullable=True)
        values: list[Any] = []
        size = 0
        for location in [] if groups == [] else self._entries:
            value = self._read_value(location)
            if values and (len(values) == rows or size + bytes_of_value(value) > BATCH_BYTES):
                yield pa.record_batch([pa.array(values, schema.field(0).type)] * len(self.fields), schema=schema)
                values, size = [], 0
            values.append(value)
            size += bytes_of_value(value)
        if values:
            yield pa.record_batch([pa.array(values, schema.field(0).type)] * len(self.fields), schema=schema)

    def is_placeholder(self, row: int) -> bool:
        """Whether the value of a row is in an older file of the same rows."""
        return self._entries[row][1] == _PLACEHOLDER

    def value(self, row: int) -> Any:
        """The value of one row as Arrow takes it: bytes, a list of them, or pairs of a map; descriptors with `blob-as-descriptor`."""
        return self._read_value(self._entries[row])

    def _read_value(self, location: tuple[int, int]) -> Any:
        at, length = location
        if length == _NULL:
            return None
        if length == _PLACEHOLDER:
            raise CorruptFile(self.path, "a value is in an older file, and there is none")
        begin, size, column_type = at + 4, length - _OVERHEAD, self.fields[0].type
        if self._as_descriptor:
            if column_type.root == "BLOB":
                return BlobDescriptor(self.path, begin, size).to_bytes()
            found = decode_collection(column_type, size, lambda at, n: self._read_range(begin + at, n), self.path)
            return found.with_values(lambda at, n: BlobDescriptor(self.path, begin + at, n).to_bytes())
        payload = self._read_checked(at, length)
        if column_type.root == "BLOB":
            return payload

        def part(at: int, n: int) -> bytes:
            return payload[at : at + n]

        return decode_collection(column_type, size, part, self.path).with_values(part)

    def _read_range(self, at: int, length: int) -> bytes:
        self._file.seek(at)
        return bytes(self._file.read(length))

    def _read_checked(self, at: int, length: int) -> bytes:
        """The payload of an entry. Raises CorruptFile if its checksum is wrong."""
        entry = self._read_range(at, length)
        (checksum,) = struct.unpack("<I", entry[-4:])
        # Java's checksum covers the length, pypaimon's does not.
        sums = {zlib.crc32(entry[:-12]), zlib.crc32(entry[:-4])}
        if entry[:4] != MAGIC or struct.unpack("<Q", entry[-12:-4])[0] != length or checksum not in sums:
            raise CorruptFile(self.path, f"the value at byte {at} has a wrong checksum")
        return entry[4:-12]

    def close(self) -> None:
        self._file.close()


def _read_entry_index(file: Any, size: int, path: str) -> list[tuple[int, int]]:
    """(first byte, length) of each entry. Raises CorruptFile, UnsupportedFormat."""
    if size < _FOOTER:
        raise CorruptFile(path, "it is truncated")
    file.seek(size - _FOOTER)
    index_size, version = struct.unpack("<IB", bytes(file.read(_FOOTER)))
    if version < _VERSION:
        raise CorruptFile(path, f"it has the version {version}")
    if version > _VERSION:
        raise UnsupportedFormat(
            f"{path}: version {version} of blob files is not known",
            hint="use a newer release",
            path=path,
            feature="blob",
        )
    if index_size > size - _FOOTER:
        raise CorruptFile(path, "its index has a wrong length")
    file.seek(size - _FOOTER - index_size)
    entries, at = [], 0
    for length in decode_deltas(bytes(file.read(index_size)), path):
        if length < _PLACEHOLDER or 0 <= length < _OVERHEAD or at + max(length, 0) > size - _FOOTER - index_size:
            raise CorruptFile(path, f"its index contains the length {length}")
        entries.append((at, length))
        at += max(length, 0)
    return entries


class BlobWriter:
    """Writes the values of one BLOB column."""

    def __init__(self, out: Any, fields: Sequence[DataField], options: TableOptions, compression: str) -> None:
        self._out, self._type = out, fields[0].type
        self._lengths: list[int] = []

    @property
    def pending_bytes(self) -> int:
        return 0

    def write(self, table: pa.Table) -> None:
        for value in table.column(0):
            if not value.is_valid:
                self._lengths.append(_NULL)
                continue
            data = value.as_py() if self._type.root == "BLOB" else encode_collection(self._type, value)
            entry = MAGIC + data + struct.pack("<Q", len(data) + _OVERHEAD)
            self._out.write(entry + struct.pack("<I", zlib.crc32(entry)))
            self._lengths.append(len(data) + _OVERHEAD)

    def close(self) -> None:
        index = encode_deltas(self._lengths)
        self._out.write(index + struct.pack("<IB", len(index), _VERSION))

    def abort(self) -> None:
        """Nothing is buffered."""


def map_blobs(value: Any, change: Callable[[Any], Any]) -> Any:
    """A value, as Arrow returns it, with each of its BLOBs replaced: itself, the elements of an array, the values of a map."""
    if isinstance(value, list):
        return [(e[0], map_blobs(e[1], change)) if isinstance(e, tuple) else map_blobs(e, change) for e in value]
    return None if value is None else change(value)


def bytes_of_value(value: Any) -> int:
    """Bytes, about, of a value that `BlobReader.value` returned."""
    if isinstance(value, list):
        return sum(bytes_of_value(v[1] if isinstance(v, tuple) else v) for v in value)
    return len(value or b"")


class BlobStream(io.RawIOBase):
    """A value as a seekable binary file: its bytes are read when they are needed."""

    def __init__(self, fs: FileIO, location: BlobDescriptor) -> None:
        super().__init__()
        self._file, self._begin, self._at = fs.open(location.uri), location.offset, 0
        self._size = location.length if location.length >= 0 else fs.size(location.uri) - location.offset

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer from the current position; 0 at the end of the value."""
        count = min(len(buffer), self._size - self._at)
        if count <= 0:
            return 0
        self._file.seek(self._begin + self._at)
        data = bytes(self._file.read(count))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move the position; returns it, from the first byte of the value."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(base + offset, 0)
        return self._at

    def tell(self) -> int:
        return self._at

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def read_blob(fs: FileIO, location: BlobDescriptor) -> bytes:
    """The value that a descriptor points to. Raises MissingFile, OutsideWarehouse."""
    with BlobStream(fs, location) as stream:
        return stream.read()
