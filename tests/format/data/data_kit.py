"""Golden data files of real Java, and rows as its JSON lines show them."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paimon_nb.format.data import key_value_fields
from paimon_nb.format.row.binary_row import from_scalar
from paimon_nb.format.row.java_to_string import year_month_day
from paimon_nb.format.schema import TableSchema
from paimon_nb.format.types import (
    Array,
    Atomic,
    DataField,
    DataType,
    Decimal,
    LocalZonedTimestamp,
    Map,
    Row,
    Time,
    Timestamp,
)
from paimon_nb.options import TableOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

GOLDEN = Path(__file__).parents[2] / "golden" / "data"


def golden_schema(name: str, number: int = 0) -> TableSchema:
    path = GOLDEN / name / f"schema-{number}"
    return TableSchema.from_json(path.read_bytes(), str(path))


def golden_file(name: str) -> str:
    (path,) = (GOLDEN / name).glob("data.*")
    return str(path)


def golden_rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (GOLDEN / name / "rows.jsonl").read_text().splitlines()]


def file_fields(schema: TableSchema) -> Sequence[DataField]:
    return key_value_fields(schema) if schema.primary_keys else schema.fields


def options(**raw: str) -> TableOptions:
    return TableOptions({k.replace("__", "-").replace("_", "."): v for k, v in raw.items()})


def as_rows(table: pa.Table, fields: Sequence[DataField]) -> list[dict[str, Any]]:
    """Rows as the golden JSON lines have them."""
    return [
        {f.name: shown(f.type, from_scalar(f.type, table.column(f.name)[i])) for f in fields} for i in range(len(table))
    ]


def comparable(rows: Sequence[dict[str, Any]], fields: Sequence[DataField]) -> list[str]:
    """Rows as sorted texts; floats by their bits."""
    return sorted(json.dumps([_exact(f.type, row[f.name]) for f in fields]) for row in rows)


def _exact(t: DataType, value: Any) -> Any:
    if value is not None and t.root in ("FLOAT", "DOUBLE"):
        return struct.pack(">f" if t.root == "FLOAT" else ">d", float(value)).hex()
    return value


def shown(t: DataType, value: Any) -> Any:
    if value is None:
        return None
    match t:
        case Timestamp() | LocalZonedTimestamp():
            days, ms = divmod(value.ms, 86_400_000)
            text = f"{_day(days)} {_clock(ms)}"
            if t.precision:
                text += f".{ms % 1000 * 1_000_000 + value.nanos:09d}"[: t.precision + 1]
            return text + ("Z" if isinstance(t, LocalZonedTimestamp) else "")
        case Time():
            return _clock(value) + (f".{value % 1000:03d}" if value % 1000 else "")
        case Decimal():
            return format(value, "f")
        case Array():
            return [shown(t.element, v) for v in value]
        case Map():
            pairs = [[shown(t.key, k), shown(t.value, v)] for k, v in value]
            return sorted(pairs, key=lambda p: json.dumps(p[0]))
        case Row():
            return {f.name: shown(f.type, v) for f, v in zip(t.fields, value, strict=True)}
    if t == Atomic("DATE", t.nullable):
        return _day(value)
    return value.hex() if isinstance(value, bytes) else value


def _day(days: int) -> str:
    year, month, day = year_month_day(days)
    return f"{year:04d}-{month:02d}-{day:02d}"


def _clock(ms: int) -> str:
    return f"{ms // 3_600_000:02d}:{ms // 60_000 % 60:02d}:{ms // 1000 % 60:02d}"
