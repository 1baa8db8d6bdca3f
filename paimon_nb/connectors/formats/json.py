"""`json`: one object per message. Also the base classes of all JSON formats."""

from __future__ import annotations

import json
from decimal import Decimal as Number
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.connectors.formats.api import (
    INSERT,
    Decoder,
    Encoder,
    FormatOptions,
    MalformedMessage,
    Rows,
    bad_message,
)
from paimon_nb.connectors.formats.values import ExactDecimal, converter, json_values, to_array
from paimon_nb.format.types import DataField, arrow_type
from paimon_nb.options import parse_bool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Record = tuple[str, dict[str, Any]]
"""Row kind and JSON object."""
OPTIONS = (
    "ignore-parse-errors", "timestamp-format.standard", "map-null-key.mode", "map-null-key.literal",
    "encode.decimal-as-plain-number", "encode.ignore-null-fields",
)  # fmt: skip


def is_iso(options: FormatOptions) -> bool:
    """Whether `timestamp-format.standard` is ISO-8601. Raises BadOptionValue."""

    def parse_standard(text: str) -> bool:
        if text not in ("SQL", "ISO-8601"):
            raise ValueError(text)
        return text == "ISO-8601"

    return options.convert_option("timestamp-format.standard", False, parse_standard)


class JsonRecords(Decoder):
    """Base class of decoders of JSON messages. `records` returns the rows of a message."""

    def __init__(self, fields: Sequence[DataField], options: FormatOptions) -> None:
        self.format = options.format
        self.fields = tuple(fields)
        self.lenient = options.convert_option("ignore-parse-errors", False, parse_bool)
        self.iso = is_iso(options)
        self.fail_on_missing_field = False
        self._has_decimals = any("DECIMAL" in str(f.type) for f in fields)

    def records(self, parsed: Any) -> Iterator[Record]:
        """The rows of a parsed message. Raises MalformedMessage."""
        raise NotImplementedError

    def decode(self, messages: Sequence[bytes | None]) -> Rows:
        loads = self._loads()
        kinds: list[str] = []
        record_numbers: list[int] = []
        objects: list[dict[str, Any]] = []
        for number, message in enumerate(messages):
            if not message:
                continue
            try:
                found = list(self.records(loads(message)))
                if self.fail_on_missing_field:
                    self._check_no_missing_field(found)
            except (ValueError, RecursionError) as error:
                if self.lenient:
                    continue
                raise bad_message(self.format, message, error) from None
            for kind, record in found:
                kinds.append(kind)
                record_numbers.append(number)
                objects.append(record)
        return Rows(self._table_of_objects(objects, messages, record_numbers), kinds, record_numbers)

    def _check_no_missing_field(self, found: list[Record]) -> None:
        for _, record in found:
            missing = [f.name for f in self.fields if f.name not in record]
            if missing:
                raise MalformedMessage(f"field {missing[0]!r} is missing")

    def _loads(self) -> Callable[[bytes], Any]:
        decode = json.JSONDecoder(parse_float=Number).decode if self._has_decimals else json.loads
        return lambda message: decode(message.decode())

    def _table_of_objects(
        self, objects: list[dict[str, Any]], messages: Sequence[bytes | None], record_numbers: list[int]
    ) -> pa.Table:
        columns = []
        for field in self.fields:
            convert = converter(field.type, iso=self.iso, lenient=self.lenient)
            name = field.name
            try:
                columns.append(to_array([o.get(name) for o in objects], field.type, convert))
            except MalformedMessage as error:
                raise self._conversion_error(name, convert, objects, messages, record_numbers) from error
        return pa.table(columns, schema=pa.schema([(f.name, arrow_type(f.type)) for f in self.fields]))

    def _conversion_error(
        self, name: str, convert: Any, objects: list[dict[str, Any]], messages: Any, record_numbers: Any
    ) -> Any:
        for record, record_number in zip(objects, record_numbers, strict=True):
            try:
                if record.get(name) is not None:
                    convert(record[name])
            except MalformedMessage as error:
                return bad_message(self.format, messages[record_number], f"column {name!r}: {error}")
        raise AssertionError("one value must fail")


class JsonDecoder(JsonRecords):
    def __init__(self, fields: Sequence[DataField], options: FormatOptions) -> None:
        options.check_options(*OPTIONS, "fail-on-missing-field", "decode.json-parser.enabled")
        super().__init__(fields, options)
        self.fail_on_missing_field = options.convert_option("fail-on-missing-field", False, parse_bool)

    def records(self, parsed: Any) -> Iterator[Record]:
        yield INSERT, require_object(parsed, "the message")


class JsonEncoder(Encoder):
    """Encodes a row as one object."""

    def __init__(self, fields: Sequence[DataField], options: FormatOptions) -> None:
        options.check_options(*OPTIONS, "fail-on-missing-field", "decode.json-parser.enabled", "schema-include",
                     "database.include", "table.include")  # fmt: skip
        self.fields, self.iso = tuple(fields), is_iso(options)
        self.omit_nulls = options.convert_option("encode.ignore-null-fields", False, parse_bool)

    def objects(self, rows: pa.Table) -> Iterator[dict[str, Any]]:
        """One object per row."""
        names = [f.name for f in self.fields]
        columns = [json_values(rows.column(f.name), f.type, iso=self.iso) for f in self.fields]
        for values in zip(*columns, strict=True):
            row = dict(zip(names, values, strict=True))
            yield {k: v for k, v in row.items() if v is not None} if self.omit_nulls else row

    def encode(self, rows: pa.Table, kinds: Sequence[str]) -> Iterator[bytes | None]:
        for kind in kinds:
            if kind != INSERT:
                raise UnsupportedOperation(
                    f"format 'json' has no form for {kind}",
                    hint="use 'debezium-json', or connector 'upsert-kafka'",
                )
        return map(compact_json_bytes, self.objects(rows))


def require_object(value: Any, what: str) -> dict[str, Any]:
    """Return `value`. Raises MalformedMessage: it is not a JSON object."""
    if not isinstance(value, dict):
        raise MalformedMessage(f"{what} is not a JSON object")
    return value


def compact_json_bytes(value: Any) -> bytes:
    """Compact JSON. Decimals keep all digits."""
    if _has_exact_decimal(value):
        return _json_text_with_exact_decimals(value).encode()
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _has_exact_decimal(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_exact_decimal, value.values()))
    return any(map(_has_exact_decimal, value)) if isinstance(value, list) else isinstance(value, ExactDecimal)


def _json_text_with_exact_decimals(value: Any) -> str:
    if isinstance(value, dict):
        return (
            "{"
            + ",".join(
                f"{json.dumps(k, ensure_ascii=False)}:{_json_text_with_exact_decimals(v)}" for k, v in value.items()
            )
            + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(map(_json_text_with_exact_decimals, value)) + "]"
    return (
        value.text if isinstance(value, ExactDecimal) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    )
