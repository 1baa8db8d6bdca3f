"""`csv`: one line per message, values by position."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, UnsupportedOperation
from paimon_nb.connectors.formats.api import (
    INSERT,
    Decoder,
    Encoder,
    FormatOptions,
    MalformedMessage,
    Rows,
    bad_message,
)
from paimon_nb.connectors.formats.values import ExactDecimal, converter, json_values
from paimon_nb.format.types import Array, DataField, Map, Multiset, Row, arrow_type
from paimon_nb.options import parse_bool

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_OPTIONS = (
    "field-delimiter", "disable-quote-character", "quote-character", "allow-comments", "ignore-parse-errors",
    "array-element-delimiter", "escape-character", "null-literal", "write-bigdecimal-in-scientific-notation",
)  # fmt: skip
_LINE_END = "\r\n"


class Dialect:
    """Delimiters and quoting of a line. Raises UnknownOption, BadOptionValue."""

    def __init__(self, fields: Sequence[DataField], options: FormatOptions) -> None:
        options.check_options(*_OPTIONS)
        self.fields = tuple(fields)
        for field in fields:
            nested = field.type.element if isinstance(field.type, Array) else field.type
            if isinstance(nested, Map | Row | Multiset) or (nested is not field.type and isinstance(nested, Array)):
                raise UnsupportedOperation(
                    f"column {field.name!r}: format 'csv' has no form for {field.type}", hint="use 'json'"
                )
        settings = options.settings
        unquoted = options.convert_option("disable-quote-character", False, parse_bool)
        self.separator = _single_character(settings.get("field-delimiter", ",").replace("\\t", "\t"), "field-delimiter")
        self.quote = None if unquoted else _single_character(settings.get("quote-character", '"'), "quote-character")
        self.escape = (
            _single_character(settings["escape-character"], "escape-character")
            if "escape-character" in settings
            else None
        )
        self.null = settings.get("null-literal")
        self.elements = settings.get("array-element-delimiter", ";")
        self.comments = options.convert_option("allow-comments", False, parse_bool)
        self.lenient = options.convert_option("ignore-parse-errors", False, parse_bool)

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments for Python's csv module."""
        return {
            "delimiter": self.separator,
            "quotechar": self.quote,
            "escapechar": self.escape,
            "quoting": csv.QUOTE_NONE if self.quote is None else csv.QUOTE_MINIMAL,
        }


class CsvDecoder(Decoder):
    def __init__(self, fields: Sequence[DataField], options: FormatOptions) -> None:
        self.dialect = Dialect(fields, options)

    def decode(self, messages: Sequence[bytes | None]) -> Rows:
        dialect = self.dialect
        converters = [converter(f.type, lenient=dialect.lenient) for f in dialect.fields]
        columns: list[list[Any]] = [[] for _ in dialect.fields]
        record_numbers: list[int] = []
        for number, message in enumerate(messages):
            if message is None or (dialect.comments and message.startswith(b"#")):
                continue
            try:
                row = self._parse_row(message, converters)
            except (ValueError, csv.Error, StopIteration) as error:
                if dialect.lenient:
                    continue
                raise bad_message("csv", message, error or "the message is empty") from None
            record_numbers.append(number)
            for column, value in zip(columns, row, strict=True):
                column.append(value)
        schema = pa.schema([(f.name, arrow_type(f.type)) for f in dialect.fields])
        arrays = [pa.array(c, t) for c, t in zip(columns, schema.types, strict=True)]
        return Rows(pa.table(arrays, schema=schema), [INSERT] * len(record_numbers), record_numbers)

    def _parse_row(self, message: bytes, converters: Sequence[Any]) -> list[Any]:
        texts = next(csv.reader([message.decode()], strict=True, **self.dialect.settings))
        if len(texts) != len(converters):
            raise MalformedMessage(f"{len(converters)} fields expected, {len(texts)} found")
        out: list[Any] = []
        for text, field, convert in zip(texts, self.dialect.fields, converters, strict=True):
            if text == self.dialect.null:
                out.append(None)
            elif isinstance(field.type, Array):
                elements = text.split(self.dialect.elements) if text else []
                out.append(convert([None if e == self.dialect.null else e for e in elements]))
            else:
                out.append(convert(text))
        return out


class CsvEncoder(Encoder):
    def __init__(self, fields: Sequence[DataField], options: FormatOptions) -> None:
        self.dialect = Dialect(fields, options)

    def encode(self, rows: pa.Table, kinds: Sequence[str]) -> Iterator[bytes | None]:
        if any(kind != INSERT for kind in kinds):
            raise UnsupportedOperation("format 'csv' has no form for changes", hint="use 'debezium-json'")
        columns = [json_values(rows.column(f.name), f.type) for f in self.dialect.fields]
        for values in zip(*columns, strict=True):
            buffer = io.StringIO()
            # With an empty terminator the module would not quote line breaks in values.
            csv.writer(buffer, lineterminator=_LINE_END, **self.dialect.settings).writerow(map(self._text, values))
            yield buffer.getvalue().removesuffix(_LINE_END).encode()

    def _text(self, value: Any) -> str:
        if value is None:
            return self.dialect.null or ""
        if isinstance(value, ExactDecimal):
            return value.text
        if isinstance(value, list):
            return self.dialect.elements.join(map(self._text, value))
        return value if isinstance(value, str) else json.dumps(value)


def _single_character(text: str, option: str) -> str:
    if len(text) != 1:
        raise BadOptionValue(f"option 'csv.{option}' must be one character, not {text!r}", option=f"csv.{option}")
    return text
