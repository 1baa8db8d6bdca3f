"""BLOB columns of tables with a primary key: their values are in `.managed.blob` files, and the rows have descriptors.

Merges and compactions move the descriptors only. Beside each data file, a `.blobref` file lists the `.managed.blob` files of its rows.
Source: Paimon 2.1 `PrimaryKeyBlobExternalizer`, `ManagedBlobReferenceFile`, `ManagedBlobReferenceCollector`.
"""

from __future__ import annotations

import struct
import warnings
import zlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import CorruptFile, MissingFile, StoreError
from paimon_nb.format.data import VALUE_KIND, DataWriter
from paimon_nb.format.data.blob import MANAGED_SUFFIX, BlobDescriptor, map_blobs, read_blob
from paimon_nb.format.data.file_schema import BLOB_FORMAT
from paimon_nb.format.types import Atomic, DataField
from paimon_nb.format.types.arrow_builders import from_numpy, to_numpy
from paimon_nb.options import table as opt
from paimon_nb.table.lsm.merge.merge import DELETE, UPDATE_BEFORE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import numpy as np

    from paimon_nb.fs import FileIO
    from paimon_nb.table.read.store import TableStore

_VALUE = DataField(0, "f0", Atomic("BLOB", True))
_VALUE_SCHEMA = pa.schema([("f0", pa.binary())])
_HEAD = 4
"""Bytes of a value's entry before the value."""
REFERENCE_SUFFIX = ".blobref"
_REFERENCE_MAGIC, _REFERENCE_VERSION = 0x50424C52, 1


class ManagedBlobs:
    """Moves the values of new rows of one bucket to `.managed.blob` files."""

    def __init__(self, store: TableStore, partition: bytes, bucket: int) -> None:
        self._store = store
        self._folder = store.bucket_dir(partition, bucket)
        self._packs = {name: _Pack(store, self._folder) for name in store.schema.names if name in store.managed_blobs}

    def with_descriptors(self, rows: pa.Table, kinds: np.ndarray) -> pa.Table:
        """The rows with descriptors in place of the values; NULL in retractions, which need none.

        Raises: MissingFile, OutsideWarehouse: a value is a descriptor of what cannot be read.
        """
        retracted = (kinds == UPDATE_BEFORE) | (kinds == DELETE)
        for name, pack in self._packs.items():
            values = rows.column(name).to_pylist()
            new = [
                None if value is None or is_retracted else map_blobs(value, pack.add)
                for value, is_retracted in zip(values, retracted.tolist(), strict=True)
            ]
            at = rows.schema.get_field_index(name)
            rows = rows.set_column(at, rows.schema.field(at), pa.array(new, rows.schema.field(at).type))
        return rows

    def close(self) -> None:
        """Finish the files. Rows that follow go to new ones."""
        for pack in self._packs.values():
            pack.close()

    def abort(self) -> None:
        """Delete all files."""
        for pack in self._packs.values():
            pack.abort()


class _Pack:
    """The files of one column; a file ends with the value that makes it large enough."""

    def __init__(self, store: TableStore, folder: str) -> None:
        self._store, self._folder = store, folder
        own = store.options.get(opt.BLOB_TARGET_FILE_SIZE)
        self._target = own or store.options.target_file_size(has_primary_key=True)
        self._paths: list[str] = []
        self._writer: DataWriter | None = None

    def add(self, source: bytes) -> bytes | None:
        """Write a value, or what a descriptor leads to. Returns its descriptor; None for NULL, see `value_to_store`."""
        value = value_to_store(self._store, source)
        if value is None:
            return None
        if self._writer is None:
            name = self._store.new_file_name("data") + MANAGED_SUFFIX
            self._paths.append(f"{self._folder}/{name}")
            options = self._store.options
            self._writer = DataWriter(self._store.fs, self._paths[-1], [_VALUE], options, "none", BLOB_FORMAT)
        begin = self._writer.bytes_written + _HEAD
        self._writer.write(pa.table([pa.array([value], pa.binary())], schema=_VALUE_SCHEMA))
        found = BlobDescriptor(self._paths[-1], begin, len(value)).to_bytes()
        if self._writer.bytes_written >= self._target:
            self.close()
        return found

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._store.fs.sync(self._paths[-1:])  # no manifest names it, so that the commit does not
            self._writer = None

    def abort(self) -> None:
        if self._writer is not None:
            self._writer.abort()
            self._writer = None
        for path in self._paths:
            self._store.fs.delete(path)


def value_to_store(store: TableStore, value: bytes) -> bytes | None:
    """The value, or what it leads to if it is a descriptor; None if that cannot be read and the table's options allow NULL.

    Raises: MissingFile, OutsideWarehouse, StoreError: it cannot be read.
    """
    if not BlobDescriptor.is_descriptor(value):
        return value
    location = BlobDescriptor.parse(value)
    try:
        return read_blob(store.fs, location)
    except (MissingFile, StoreError, OSError) as error:
        missing = isinstance(error, MissingFile) and store.options.get(opt.BLOB_WRITE_NULL_ON_MISSING_FILE)
        if not missing and not store.options.get(opt.BLOB_WRITE_NULL_ON_FETCH_FAILURE):
            raise
        warnings.warn(f"{store.name}: NULL is written for the BLOB at {location.uri}: {error}", stacklevel=2)
        return None


def managed_files_of(rows: pa.Table, columns: Collection[str]) -> set[str]:
    """Paths of the `.managed.blob` files that rows refer to, without retractions.

    Args:
        rows: with descriptors, and their kinds.
    """
    kinds = to_numpy(rows.column(VALUE_KIND))
    present = rows.filter(from_numpy((kinds != UPDATE_BEFORE) & (kinds != DELETE)))
    found: set[str] = set()

    def note(value: bytes) -> bytes:
        if BlobDescriptor.is_descriptor(value):
            found.add(BlobDescriptor.parse(value).uri)
        return value

    for name in columns:
        for value in present.column(name).to_pylist():
            if value is not None:
                map_blobs(value, note)
    return {path for path in found if path.endswith(MANAGED_SUFFIX)}


def write_references(fs: FileIO, data_path: str, paths: Iterable[str]) -> str:
    """Write the `.blobref` file of a data file. Returns its name."""
    entries = sorted({tuple(path.rsplit("/", 1)) for path in paths})
    payload = struct.pack(">Bi", _REFERENCE_VERSION, len(entries))
    payload += b"".join(struct.pack(">H", len(t)) + t for entry in entries for t in map(str.encode, entry))
    path = data_path + REFERENCE_SUFFIX
    fs.write(path, struct.pack(">I", _REFERENCE_MAGIC) + payload + struct.pack(">I", zlib.crc32(payload)))
    return path.rsplit("/", 1)[-1]


def read_references(fs: FileIO, path: str) -> list[str]:
    """The paths in a `.blobref` file. Raises CorruptFile, MissingFile."""
    data = fs.read(path)
    payload, at = data[4:-4], 5
    try:
        (magic,), (checksum,) = struct.unpack(">I", data[:4]), struct.unpack(">I", data[-4:])
        version, count = struct.unpack_from(">Bi", payload)
        if (magic, version, checksum) != (_REFERENCE_MAGIC, _REFERENCE_VERSION, zlib.crc32(payload)):
            raise CorruptFile(path, "it has a wrong magic number, version or checksum")
        texts: list[Any] = []
        for _ in range(2 * count):
            (size,) = struct.unpack_from(">H", payload, at)
            texts.append(payload[at + 2 : at + 2 + size].decode())
            at += 2 + size
    except (struct.error, UnicodeDecodeError) as error:
        raise CorruptFile(path, "it is truncated") from error
    return [f"{folder}/{name}" for folder, name in zip(texts[::2], texts[1::2], strict=True)]
