"""CDC formats in JSON: Debezium, Canal and Maxwell. A message has one or more changes.

Source: Flink's DebeziumJsonDeserializationSchema, CanalJsonDeserializationSchema, MaxwellJsonDeserializationSchema.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from typing import TYPE_CHECKING, Any, ClassVar

from paimon_nb.connectors.formats.api import AFTER, BEFORE, DELETE, INSERT, FormatOptions, MalformedMessage
from paimon_nb.connectors.formats.json import (
    OPTIONS,
    JsonEncoder,
    JsonRecords,
    Record,
    compact_json_bytes,
    require_object,
)
from paimon_nb.options import parse_bool

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.format.types import DataField


class CdcJsonDecoder(JsonRecords):
    """Base class of the decoders: reads METADATA columns from the envelope."""

    changes = True
    KEYS: ClassVar[Mapping[str, str]]
    """Metadata key -> path of names in the envelope."""

    def __init__(self, fields: Sequence[DataField], options: FormatOptions, metadata: Mapping[str, str]) -> None:
        super().__init__(fields, options)
        self.metadata_paths = {column: self.KEYS[key] for column, key in metadata.items()}

    def _with_metadata(self, row: Any, envelope: Mapping[str, Any]) -> dict[str, Any]:
        if not self.metadata_paths:
            return dict(row)
        return {**row, **{column: self._metadata_value(envelope, path) for column, path in self.metadata_paths.items()}}

    def _metadata_value(self, envelope: Mapping[str, Any], path: str) -> Any:
        found: Any = envelope
        for name in path.split("."):
            found = found.get(name) if isinstance(found, dict) else None
        if found is not None and path in ("ts_ms", "source.ts_ms", "ts", "es"):
            return _timestamp_text(int(found), self.iso, seconds=path == "ts" and self.format == "maxwell-json")
        return found


class DebeziumDecoder(CdcJsonDecoder):
    KEYS: ClassVar[Mapping[str, str]] = {
        "schema": "schema", "ingestion-timestamp": "ts_ms", "source.timestamp": "source.ts_ms",
        "source.database": "source.db", "source.schema": "source.schema", "source.table": "source.table",
        "source.properties": "source",
    }  # fmt: skip

    def __init__(self, fields: Sequence[DataField], options: FormatOptions, metadata: Mapping[str, str]) -> None:
        options.check_options(*OPTIONS, "schema-include")
        super().__init__(fields, options, metadata)
        self.has_schema = options.convert_option("schema-include", False, parse_bool)

    def records(self, parsed: Any) -> Iterator[Record]:
        whole = require_object(parsed, "the message")
        envelope = require_object(whole.get("payload"), "'payload'") if self.has_schema else whole
        op = envelope.get("op")
        if self.has_schema and "schema" in self.metadata_paths.values():
            envelope = {**envelope, "schema": json.dumps(whole.get("schema"))}
        if op in ("c", "r"):
            yield INSERT, self._row_image(envelope, "after")
        elif op == "u":
            yield BEFORE, self._row_image(envelope, "before")
            yield AFTER, self._row_image(envelope, "after")
        elif op == "d":
            yield DELETE, self._row_image(envelope, "before")
        else:
            raise MalformedMessage(f"unknown operation {op!r}, expected c, r, u or d")

    def _row_image(self, envelope: Mapping[str, Any], name: str) -> dict[str, Any]:
        image = envelope.get(name)
        if image is None:
            why = "; PostgreSQL writes it with REPLICA IDENTITY FULL" if name == "before" else ""
            raise MalformedMessage(f"{name!r} is missing{why}")
        return self._with_metadata(require_object(image, repr(name)), envelope)


class CanalDecoder(CdcJsonDecoder):
    KEYS: ClassVar[Mapping[str, str]] = {
        "database": "database", "table": "table", "sql-type": "sqlType", "pk-names": "pkNames",
        "ingestion-timestamp": "ts", "event-timestamp": "es",
    }  # fmt: skip

    def __init__(self, fields: Sequence[DataField], options: FormatOptions, metadata: Mapping[str, str]) -> None:
        options.check_options(*OPTIONS, "database.include", "table.include")
        super().__init__(fields, options, metadata)
        self.database = options.convert_option("database.include", None, _compile_regex)
        self.table = options.convert_option("table.include", None, _compile_regex)

    def records(self, parsed: Any) -> Iterator[Record]:
        envelope = require_object(parsed, "the message")
        if any(
            p is not None and not p.fullmatch(str(envelope.get(n)))
            for p, n in ((self.database, "database"), (self.table, "table"))
        ):
            return
        kind = envelope.get("type")
        if kind == "CREATE" or envelope.get("isDdl"):
            return
        rows = [require_object(r, "an entry of 'data'") for r in _require_list(envelope, "data")]
        if kind == "INSERT":
            for row in rows:
                yield INSERT, self._with_metadata(row, envelope)
        elif kind == "UPDATE":
            for row, old in zip(rows, _require_list(envelope, "old"), strict=True):
                yield BEFORE, self._with_metadata({**row, **require_object(old, "an entry of 'old'")}, envelope)
                yield AFTER, self._with_metadata(row, envelope)
        elif kind == "DELETE":
            for row in rows:
                yield DELETE, self._with_metadata(row, envelope)
        else:
            raise MalformedMessage(f"unknown type {kind!r}, expected INSERT, UPDATE or DELETE")


class MaxwellDecoder(CdcJsonDecoder):
    KEYS: ClassVar[Mapping[str, str]] = {
        "database": "database", "table": "table", "primary-key-columns": "primary_key_columns",
        "ingestion-timestamp": "ts",
    }  # fmt: skip

    def __init__(self, fields: Sequence[DataField], options: FormatOptions, metadata: Mapping[str, str]) -> None:
        options.check_options(*OPTIONS)
        super().__init__(fields, options, metadata)

    def records(self, parsed: Any) -> Iterator[Record]:
        envelope = require_object(parsed, "the message")
        kind, row = envelope.get("type"), require_object(envelope.get("data"), "'data'")
        if kind == "insert":
            yield INSERT, self._with_metadata(row, envelope)
        elif kind == "update":
            old = require_object(envelope.get("old"), "'old'")
            yield BEFORE, self._with_metadata({**row, **old}, envelope)
            yield AFTER, self._with_metadata(row, envelope)
        elif kind == "delete":
            yield DELETE, self._with_metadata(row, envelope)
        else:
            raise MalformedMessage(f"unknown type {kind!r}, expected insert, update or delete")


class OggDecoder(CdcJsonDecoder):
    """Oracle GoldenGate."""

    KEYS: ClassVar[Mapping[str, str]] = {
        "table": "table", "primary-keys": "primary_keys", "ingestion-timestamp": "current_ts", "event-timestamp": "op_ts",
    }  # fmt: skip

    def __init__(self, fields: Sequence[DataField], options: FormatOptions, metadata: Mapping[str, str]) -> None:
        options.check_options(*OPTIONS)
        super().__init__(fields, options, metadata)

    def records(self, parsed: Any) -> Iterator[Record]:
        envelope = require_object(parsed, "the message")
        kind = str(envelope.get("op_type", "")).strip()
        if kind == "I":
            yield INSERT, self._image(envelope, "after")
        elif kind == "U":
            yield BEFORE, self._image(envelope, "before")
            yield AFTER, self._image(envelope, "after")
        elif kind == "D":
            yield DELETE, self._image(envelope, "before")
        elif kind != "T":  # a truncate has no rows
            raise MalformedMessage(f"unknown op_type {kind!r}, expected I, U, D or T")

    def _image(self, envelope: Mapping[str, Any], name: str) -> dict[str, Any]:
        return self._with_metadata(require_object(envelope.get(name), repr(name)), envelope)

    def _metadata_value(self, envelope: Mapping[str, Any], path: str) -> Any:
        found = super()._metadata_value(envelope, path)
        if found is not None and path in ("op_ts", "current_ts"):  # '2020-05-13 15:40:06.000000'
            text = str(found).replace("T", " ")
            return (text.replace(" ", "T") if self.iso else text) + "Z"
        return found


class CdcJsonEncoder(JsonEncoder):
    """Encodes a change as one message. As in Flink, an update is a delete and an insert."""

    changes = True

    def encode(self, rows: pa.Table, kinds: Sequence[str]) -> Iterator[bytes | None]:
        for row, kind in zip(self.objects(rows), kinds, strict=True):
            yield compact_json_bytes(self.envelope(row, deleted=kind in (BEFORE, DELETE)))

    def envelope(self, row: dict[str, Any], *, deleted: bool) -> dict[str, Any]:
        raise NotImplementedError


class DebeziumEncoder(CdcJsonEncoder):
    def envelope(self, row: dict[str, Any], *, deleted: bool) -> dict[str, Any]:
        return {"before": row, "after": None, "op": "d"} if deleted else {"before": None, "after": row, "op": "c"}


class CanalEncoder(CdcJsonEncoder):
    def envelope(self, row: dict[str, Any], *, deleted: bool) -> dict[str, Any]:
        return {"data": [row], "type": "DELETE" if deleted else "INSERT"}


class MaxwellEncoder(CdcJsonEncoder):
    def envelope(self, row: dict[str, Any], *, deleted: bool) -> dict[str, Any]:
        return {"data": row, "type": "delete" if deleted else "insert"}


class OggEncoder(CdcJsonEncoder):
    def envelope(self, row: dict[str, Any], *, deleted: bool) -> dict[str, Any]:
        return (
            {"before": row, "after": None, "op_type": "D"}
            if deleted
            else {"before": None, "after": row, "op_type": "I"}
        )


def _require_list(envelope: Mapping[str, Any], name: str) -> list[Any]:
    found = envelope.get(name)
    if not isinstance(found, list):
        raise MalformedMessage(f"{name!r} is not a list")
    return found


def _compile_regex(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(str(error)) from None


def _timestamp_text(count: int, iso: bool, *, seconds: bool) -> str:
    instant = dt.datetime.fromtimestamp(count if seconds else count / 1000, dt.UTC).replace(tzinfo=None)
    return instant.isoformat("T" if iso else " ", "milliseconds") + "Z"
