"""`raw`: a message is the value of the only column."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, UnsupportedOperation
from paimon_nb.connectors.formats.api import INSERT, Decoder, Encoder, FormatOptions, Rows, bad_message
from paimon_nb.format.types import DataField, arrow_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_CODES = {"BOOLEAN": "?", "TINYINT": "b", "SMALLINT": "h", "INT": "i", "BIGINT": "q", "FLOAT": "f", "DOUBLE": "d"}


class Raw(Decoder, Encoder):
    """Options: `raw.charset` (UTF-8), `raw.endianness` (big-endian, little-endian)."""

    changes = False

    def __init__(self, fields: Sequence[DataField], options: FormatOptions) -> None:
        options.check_options("charset", "endianness")
        if len(fields) != 1:
            raise UnsupportedOperation(
                f"format 'raw' is for one column, not {len(fields)}", hint="use 'json' or 'csv'; METADATA columns do not count"
            )  # fmt: skip
        (self.field,) = fields
        self.charset = options.settings.get("charset", "UTF-8")
        order = options.settings.get("endianness", "big-endian")
        try:
            "".encode(self.charset)
        except LookupError:
            raise BadOptionValue(f"unknown charset {self.charset!r}", option="raw.charset") from None
        if order not in ("big-endian", "little-endian"):
            raise BadOptionValue("option 'raw.endianness' must be big-endian or little-endian", option="raw.endianness")
        root = self.field.type.root
        if root not in (*_CODES, "CHAR", "VARCHAR", "BINARY", "VARBINARY"):
            raise UnsupportedOperation(f"format 'raw' has no form for {self.field.type}", hint="use 'json'")
        self.packed = (">" if order == "big-endian" else "<") + _CODES[root] if root in _CODES else None

    def decode(self, messages: Sequence[bytes | None]) -> Rows:
        read = self._message_decoder()
        values = []
        for message in messages:
            try:
                values.append(None if message is None else read(message))
            except (ValueError, struct.error) as error:
                raise bad_message("raw", message, error) from None
        table = pa.table([pa.array(values, arrow_type(self.field.type))], names=[self.field.name])
        return Rows(table, [INSERT] * len(values), list(range(len(values))))

    def _message_decoder(self) -> Callable[[bytes], Any]:
        if self.packed is not None:
            packed = self.packed
            return lambda message: struct.unpack(packed, message)[0]
        if self.field.type.root in ("CHAR", "VARCHAR"):
            return lambda message: message.decode(self.charset)
        return bytes

    def encode(self, rows: pa.Table, kinds: Sequence[str]) -> Iterator[bytes | None]:
        if any(kind != INSERT for kind in kinds):
            raise UnsupportedOperation("format 'raw' has no form for changes", hint="use 'debezium-json'")
        for value in rows.column(self.field.name).to_pylist():
            if value is None:
                yield None
            elif self.packed is not None:
                yield struct.pack(self.packed, value)
            else:
                yield value.encode(self.charset) if isinstance(value, str) else value
