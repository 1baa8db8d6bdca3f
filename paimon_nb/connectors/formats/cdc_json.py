"""Changes of databases as Debezium, Canal and Maxwell write them in JSON: one message, one change or several.

Source: Flink's DebeziumJsonDeserializationSchema, CanalJsonDeserializationSchema, MaxwellJsonDeserializationSchema.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import pyarrow as pa

from paimon_nb.connectors.formats.api import AFTER, BEFORE, DELETE, INSERT, FormatOptions, Unreadable
from paimon_nb.connectors.formats.json import OPTIONS, JsonEncoder, JsonRecords, Record, dumps, need_object
from paimon_nb.format.types import DataField
from paimon_nb.options import parse_bool


class Envelope(JsonRecords):
    """What the three share: metadata columns, taken from the envelope."""

    changes = True
    KEYS: ClassVar[Mapping[str, str]]
    """Key of a METADATA column -> where the envelope has it, as a path of names."""

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
            return _instant(int(found), self.iso, seconds=path == "ts" and self.format == "maxwell-json")
        return found


class DebeziumDecoder(Envelope):
    KEYS: ClassVar[Mapping[str, str]] = {
        "schema": "schema", "ingestion-timestamp": "ts_ms", "source.timestamp": "source.ts_ms",
        "source.database": "source.db", "source.schema": "source.schema", "source.table": "source.table",
        "source.properties": "source",
    }  # fmt: skip

    def __init__(self, fields: Sequence[DataField], options: FormatOptions, metadata: Mapping[str, str]) -> None:
        options.only(*OPTIONS, "schema-include")
        super().__init__(fields, options, metadata)
        self.wrapped = options.parsed("schema-include", False, parse_bool)

    def records(self, parsed: Any) -> Iterator[Record]:
        whole = need_object(parsed, "the message")
        envelope = need_object(whole.get("payload"), "'payload'") if self.wrapped else whole
        op = envelope.get("op")
        if self.wrapped and "schema" in self.metadata_paths.values():
            envelope = {**envelope, "schema": json.dumps(whole.get("schema"))}
        if op in ("c", "r"):
            yield INSERT, self._image(envelope, "after")
        elif op == "u":
            yield BEFORE, self._image(envelope, "before")
            yield AFTER, self._image(envelope, "after")
        elif op == "d":
            yield DELETE, self._image(envelope, "before")
        else:
            raise Unreadable(f"the operation is {op!r}, not c, r, u or d")

    def _image(self, envelope: Mapping[str, Any], name: str) -> dict[str, Any]:
        image = envelope.get(name)
        if image is None:
            why = "; PostgreSQL tells it with REPLICA IDENTITY FULL" if name == "before" else ""
            raise Unreadable(f"{name!r} is missing{why}")
        return self._with_metadata(need_object(image, repr(name)), envelope)


class CanalDecoder(Envelope):
    KEYS: ClassVar[Mapping[str, str]] = {
        "database": "database", "table": "table", "sql-type": "sqlType", "pk-names": "pkNames",
        "ingestion-timestamp": "ts", "event-timestamp": "es",
    }  # fmt: skip

    def __init__(self, fields: Sequence[DataField], options: FormatOptions, metadata: Mapping[str, str]) -> None:
        options.only(*OPTIONS, "database.include", "table.include")
        super().__init__(fields, options, metadata)
        self.database = options.parsed("database.include", None, _pattern)
        self.table = options.parsed("table.include", None, _pattern)

    def records(self, parsed: Any) -> Iterator[Record]:
        envelope = need_object(parsed, "the message")
        if any(
            p is not None and not p.fullmatch(str(envelope.get(n)))
            for p, n in ((self.database, "database"), (self.table, "table"))
        ):
            return
        kind = envelope.get("type")
        if kind == "CREATE" or envelope.get("isDdl"):
            return
        rows = [need_object(r, "an entry of 'data'") for r in _listed(envelope, "data")]
        if kind == "INSERT":
            for row in rows:
                yield INSERT, self._with_metadata(row, envelope)
        elif kind == "UPDATE":
            for row, old in zip(rows, _listed(envelope, "old"), strict=True):
                yield BEFORE, self._with_metadata({**row, **need_object(old, "an entry of 'old'")}, envelope)
                yield AFTER, self._with_metadata(row, envelope)
        elif kind == "DELETE":
            for row in rows:
                yield DELETE, self._with_metadata(row, envelope)
        else:
            raise Unreadable(f"the type is {kind!r}, not INSERT, UPDATE or DELETE")


class MaxwellDecoder(Envelope):
    KEYS: ClassVar[Mapping[str, str]] = {
        "database": "database", "table": "table", "primary-key-columns": "primary_key_columns",
        "ingestion-timestamp": "ts",
    }  # fmt: skip

    def __init__(self, fields: Sequence[DataField], options: FormatOptions, metadata: Mapping[str, str]) -> None:
        options.only(*OPTIONS)
        super().__init__(fields, options, metadata)

    def records(self, parsed: Any) -> Iterator[Record]:
        envelope = need_object(parsed, "the message")
        kind, row = envelope.get("type"), need_object(envelope.get("data"), "'data'")
        if kind == "insert":
            yield INSERT, self._with_metadata(row, envelope)
        elif kind == "update":
            old = need_object(envelope.get("old"), "'old'")
            yield BEFORE, self._with_metadata({**row, **old}, envelope)
            yield AFTER, self._with_metadata(row, envelope)
        elif kind == "delete":
            yield DELETE, self._with_metadata(row, envelope)
        else:
            raise Unreadable(f"the type is {kind!r}, not insert, update or delete")


class EnvelopeEncoder(JsonEncoder):
    """A change as one message; an update is a delete and an insert, as Flink writes it."""

    changes = True

    def encode(self, rows: pa.Table, kinds: Sequence[str]) -> Iterator[bytes | None]:
        for row, kind in zip(self.objects(rows), kinds, strict=True):
            yield dumps(self.envelope(row, deleted=kind in (BEFORE, DELETE)))

    def envelope(self, row: dict[str, Any], *, deleted: bool) -> dict[str, Any]:
        raise NotImplementedError


class DebeziumEncoder(EnvelopeEncoder):
    def envelope(self, row: dict[str, Any], *, deleted: bool) -> dict[str, Any]:
        return {"before": row, "after": None, "op": "d"} if deleted else {"before": None, "after": row, "op": "c"}


class CanalEncoder(EnvelopeEncoder):
    def envelope(self, row: dict[str, Any], *, deleted: bool) -> dict[str, Any]:
        return {"data": [row], "type": "DELETE" if deleted else "INSERT"}


class MaxwellEncoder(EnvelopeEncoder):
    def envelope(self, row: dict[str, Any], *, deleted: bool) -> dict[str, Any]:
        return {"data": row, "type": "delete" if deleted else "insert"}


def _listed(envelope: Mapping[str, Any], name: str) -> list[Any]:
    found = envelope.get(name)
    if not isinstance(found, list):
        raise Unreadable(f"{name!r} is no list")
    return found


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(str(error)) from None


def _instant(count: int, iso: bool, *, seconds: bool) -> str:
    instant = dt.datetime.fromtimestamp(count if seconds else count / 1000, dt.UTC).replace(tzinfo=None)
    return instant.isoformat("T" if iso else " ", "milliseconds") + "Z"
