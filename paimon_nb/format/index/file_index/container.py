"""The file index of one data file: a container of indexes by column and type.

Source: Paimon `FileIndexFormat`; docs/spec/format.md section 13.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from paimon_nb.base.errors import CorruptFile, NewerFormat
from paimon_nb.base.registry import Registry
from paimon_nb.format.file_errors import BROKEN, broken_file, is_out_of_memory
from paimon_nb.format.index.file_index.api import OPERATORS, IndexReader, UnknownVersion
from paimon_nb.format.index.file_index.bitmap import BitmapReader
from paimon_nb.format.index.file_index.bloom import BloomReader
from paimon_nb.format.index.file_index.bsi import BsiReader
from paimon_nb.format.index.file_index.range_bitmap import RangeBitmapReader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyroaring import BitMap

    from paimon_nb.format.row.binary_row import Value
    from paimon_nb.format.types import DataType

MAGIC = 1493475289347502
VERSION = 1
_EMPTY = -1
"""Offset of an index that was omitted because every value is null."""

INDEX_READERS: Registry[Callable[[DataType, memoryview], IndexReader]] = Registry(
    "file index",
    {"bloom-filter": BloomReader, "bitmap": BitmapReader, "bsi": BsiReader, "range-bitmap": RangeBitmapReader},
)

ByteRange = tuple[int, int]


class FileIndex:
    """The indexes of one data file, parsed on first use."""

    def __init__(self, data: bytes, columns: Mapping[str, Mapping[str, ByteRange]], path: str) -> None:
        self._data = data
        self._columns = columns
        self._path = path
        self._readers: dict[tuple[str, str, str], IndexReader | None] = {}

    @staticmethod
    def parse(data: bytes, path: str = "file index") -> FileIndex:
        """Parse the container in `data`.

        Args:
            path: for error messages.
        Raises: CorruptFile. NewerFormat.
        """
        try:
            return FileIndex(data, _read_container_header(memoryview(data), path), path)
        except BROKEN as error:
            raise broken_file(path, error, "a file index") from None

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """Column name (`col[key]` for a key of a MAP) -> types of its indexes."""
        return {name: tuple(types) for name, types in self._columns.items()}

    @property
    def container_size(self) -> int:
        """Bytes of all indexes with their directory."""
        return len(self._data)

    def sizes(self) -> list[tuple[str, str, int | None]]:
        """Column, type and bytes of each index; no bytes if it was omitted because every value is null."""
        return [
            (name, kind, None if start == _EMPTY else length)
            for name, kinds in self._columns.items()
            for kind, (start, length) in kinds.items()
        ]

    def may_match(self, column: str, op: str, literals: Sequence[Value], t: DataType) -> bool:
        """False only when no row of the file satisfies `column op literals`.

        Args:
            op: one of `OPERATORS`; True for any other.
            literals: in-row values of type `t`; NULL never compares as true.
            t: the column's type in the schema that the file was written with (a MAP's value type for `col[key]`).
        Raises: CorruptFile.
        """
        return self._evaluate_condition(column, op, literals, t)[0]

    def candidates(self, column: str, op: str, literals: Sequence[Value], t: DataType) -> BitMap | None:
        """Row positions outside of which no row satisfies the condition; None if unknown.

        The rows must still be filtered. Arguments and errors as for `may_match`.
        """
        return self._evaluate_condition(column, op, literals, t)[1]

    def _evaluate_condition(
        self, column: str, op: str, literals: Sequence[Value], t: DataType
    ) -> tuple[bool, BitMap | None]:
        indexes = self._columns.get(column)
        if not indexes or op not in OPERATORS:
            return True, None
        known = [value for value in literals if value is not None]
        if not op.startswith("is ") and (not known or (op == "not in" and len(known) < len(literals))):
            return op == "not in" and not literals, None
        may, rows = True, None
        for kind, byte_range in indexes.items():
            if byte_range[0] == _EMPTY:
                may = may and op == "is null"
                continue
            found = self._evaluate_index(column, kind, byte_range, op, known, t)
            may = may and found[0]
            if found[1] is not None:
                rows = found[1] if rows is None else rows & found[1]
        return may and (rows is None or bool(rows)), rows

    def _evaluate_index(
        self, column: str, kind: str, byte_range: ByteRange, op: str, literals: Sequence[Value], t: DataType
    ) -> tuple[bool, BitMap | None]:
        try:
            reader = self._index_reader(column, kind, byte_range, t)
            if reader is None:
                return True, None
            rows = reader.candidates(op, literals)
            return reader.may_match(op, literals) if rows is None else bool(rows), rows
        except UnknownVersion:
            return True, None
        except BROKEN as error:
            if is_out_of_memory(error):
                raise broken_file(self._path, error) from None
            raise CorruptFile(self._path, f"the {kind} index of column {column!r} ({error})") from error

    def _index_reader(self, column: str, kind: str, byte_range: ByteRange, t: DataType) -> IndexReader | None:
        key = (column, kind, str(t))
        if key not in self._readers:
            make = INDEX_READERS.get(kind)  # an index of an unknown type is ignored
            start, length = byte_range
            if not 0 <= start <= start + length <= len(self._data):
                raise ValueError(f"bytes {start}..{start + length} of {len(self._data)}")
            self._readers[key] = make(t, memoryview(self._data)[start : start + length]) if make else None
        return self._readers[key]


def _read_container_header(data: memoryview, path: str) -> dict[str, dict[str, ByteRange]]:
    magic, version, _ = struct.unpack_from(">qii", data)
    if magic != MAGIC:
        raise ValueError("wrong magic bytes")
    if version > VERSION:
        raise NewerFormat(path, version, VERSION, "file index")
    (count,) = struct.unpack_from(">i", data, 16)
    at = 20
    columns: dict[str, dict[str, ByteRange]] = {}
    for _ in range(count):
        name, at = _read_text(data, at)
        (kinds,) = struct.unpack_from(">i", data, at)
        at += 4
        indexes = columns.setdefault(name, {})
        for _ in range(kinds):
            kind, at = _read_text(data, at)
            indexes[kind] = struct.unpack_from(">ii", data, at)
            at += 8
    return columns


def write_container(columns: Mapping[str, Mapping[str, bytes | None]]) -> bytes:
    """Serialize column -> index type -> index (None: every value is null)."""
    names = {name: {kind: _java_modified_utf8(kind) for kind in kinds} for name, kinds in columns.items()}
    head_length = 24 + sum(
        len(_java_modified_utf8(name)) + 4 + sum(len(kind) + 8 for kind in kinds.values())
        for name, kinds in names.items()
    )
    head = [struct.pack(">qiii", MAGIC, VERSION, head_length, len(columns))]
    body: list[bytes] = []
    at = head_length
    for name, kinds in columns.items():
        head += [_java_modified_utf8(name), struct.pack(">i", len(kinds))]
        for kind, index in kinds.items():
            start, data = (_EMPTY, b"") if index is None else (at, index)
            head += [names[name][kind], struct.pack(">ii", start, len(data))]
            body.append(data)
            at += len(data)
    return b"".join([*head, struct.pack(">i", 0), *body])


def _java_modified_utf8(text: str) -> bytes:
    """Java's writeUTF: length, then UTF-8 with pairs of surrogates and a two-byte NUL."""
    raw = text.encode("utf-16-be", "surrogatepass")
    units = [int.from_bytes(raw[i : i + 2], "big") for i in range(0, len(raw), 2)]
    data = b"".join(b"\xc0\x80" if u == 0 else chr(u).encode("utf-8", "surrogatepass") for u in units)
    return struct.pack(">H", len(data)) + data


def _read_text(data: memoryview, at: int) -> tuple[str, int]:
    (length,) = struct.unpack_from(">H", data, at)
    raw = bytes(data[at + 2 : at + 2 + length])
    if len(raw) < length:
        raise ValueError("it ends inside a name")
    text = raw.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
    return text.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace"), at + 2 + length
