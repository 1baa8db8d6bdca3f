"""What DuckDB, pyarrow and fastavro read of a file, compared with ours: equal names, types and values, or the place of the first difference.

The types of the judge decide how values are compared. A value of another Python type is another value: 1 is neither 1.0 nor True.
"""

from __future__ import annotations

import datetime as dt
import decimal
import json
import struct
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
from pyarrow import feather, orc

from paimon_nb.files import formats
from paimon_nb.files.open import open_data_file
from paimon_nb.format.types import Array, Map, Row

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from paimon_nb.files.data_file import DataFile
    from paimon_nb.format.types import DataType

LEAVES: dict[str, tuple[str, ...]] = {
    "TINYINT": ("TINYINT",), "SMALLINT": ("SMALLINT",), "INTEGER": ("INT",), "BIGINT": ("BIGINT",), "UTINYINT": ("SMALLINT",), "USMALLINT": ("INT",),
    "UINTEGER": ("BIGINT",), "UBIGINT": ("DECIMAL(20, 0)",), "HUGEINT": ("BIGINT", "DECIMAL(20, 0)", "DECIMAL(38, 0)"), "UHUGEINT": ("DECIMAL(38, 0)",),
    "FLOAT": ("FLOAT",), "DOUBLE": ("DOUBLE",), "BOOLEAN": ("BOOLEAN",), "VARCHAR": ("STRING",), "UUID": ("STRING",), "BLOB": ("BYTES",),
    "DATE": ("DATE",), "TIME": ("TIME(3)",), "TIMESTAMP": ("TIMESTAMP(6)",), "TIMESTAMP_S": ("TIMESTAMP(6)", "TIMESTAMP(0)"),
    "TIMESTAMP_MS": ("TIMESTAMP(3)",), "TIMESTAMP_NS": ("TIMESTAMP(9)", "TIMESTAMP(6)"),
    "TIMESTAMP WITH TIME ZONE": tuple(f"TIMESTAMP({p}) WITH LOCAL TIME ZONE" for p in (3, 6, 9)), '"NULL"': ("STRING",),
}  # fmt: skip
"""A type of DuckDB -> ours."""


ARROW_LEAVES = {
    "int8": ("TINYINT",), "int16": ("SMALLINT",), "int32": ("INT",), "int64": ("BIGINT",), "uint8": ("SMALLINT",), "uint16": ("INT",), "uint32": ("BIGINT",),
    "uint64": ("DECIMAL(20, 0)",), "halffloat": ("FLOAT",), "float": ("FLOAT",), "double": ("DOUBLE",), "bool": ("BOOLEAN",), "binary": ("BYTES",),
    "large_binary": ("BYTES",), "binary_view": ("BYTES",), "fixed_size_binary": ("BYTES",), "date32": ("DATE",), "date64": ("DATE", "TIMESTAMP(3)"),
    "time32": ("TIME(0)", "TIME(3)"), "time64": ("TIME(3)", "STRING"),
}  # fmt: skip
"""A type of Arrow without its unit -> ours; all others are texts."""


@dataclass(frozen=True)
class Judged:
    """Names, types (DuckDB's or Arrow's) and rows."""

    names: list[str]
    types: list[Any]
    rows: list[tuple[Any, ...]]


def judged(path: Path) -> Judged | None:
    """What DuckDB reads of CSV, JSON and Parquet, and pyarrow of ORC and Arrow; None: it does not."""
    kind = formats.kind_of_name(path.name) or ""
    try:
        if kind in ("orc", "arrow"):
            table = orc.read_table(path) if kind == "orc" else feather.read_table(path)
            columns = [c.to_pylist() for c in table.columns]
            return Judged(table.column_names, list(table.schema.types), list(zip(*columns, strict=True)))
        reader = {"csv": "read_csv", "json": "read_json", "parquet": "read_parquet"}[kind]
        more = ", hive_partitioning = false" + (
            ", sample_size = -1, maximum_object_size = 100000000" if kind == "json" else ""
        )
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'")
            found = connection.sql(f"FROM {reader}('{path}'{more})")
            return Judged(found.columns, found.types, found.fetchall())
    except (duckdb.Error, pa.ArrowException):
        return None


def differences(path: Path) -> dict[str, str]:
    """Column -> how it is read otherwise than by the judge; '': the whole file."""
    data = open_data_file(str(path), {"hive_partitioning": False})
    expected = judged(path)
    if expected is None:
        return {}
    return compared(data, data.rows(), expected)


def compared(data: DataFile, rows: pa.Table, expected: Judged) -> dict[str, str]:
    """The columns of a file that differ from those of a judge."""
    if (data.names, rows.num_rows) != (expected.names, len(expected.rows)):
        return {"": f"{rows.num_rows} rows of {data.names}, not {len(expected.rows)} of {expected.names}"}
    found = {}
    for i, (name, type, field) in enumerate(zip(expected.names, expected.types, data.fields, strict=True)):
        ours, theirs = rows.column(i).to_pylist(), [r[i] for r in expected.rows]
        unequal = next((n for n, (a, b) in enumerate(zip(ours, theirs, strict=True)) if not same(a, b, type)), None)
        if unequal is not None:
            found[name] = f"row {unequal}: {ours[unequal]!r}, not {theirs[unequal]!r} ({field.type}, not {type})"
        elif not fits(field.type, type) and any(v is not None for v in theirs):
            found[name] = f"{field.type}, not {type}"
    return found


def fits(ours: DataType, type: Any) -> bool:
    """Whether a type of ours is that of the judge, down to the leaves."""
    if isinstance(type, pa.DataType):
        return _fits_arrow(ours, type)
    name = str(type)
    if name in ("JSON", "VARIANT"):  # values of several types, or objects and lists that have nothing in common
        return True
    parts = type.children if type.id in ("list", "array", "struct", "map") else []
    match type.id:
        case "list" | "array":
            return isinstance(ours, Array) and fits(ours.element, dict(parts)["child"])
        case "map":
            return isinstance(ours, Map) and fits(ours.key, dict(parts)["key"]) and fits(ours.value, dict(parts)["value"])  # fmt: skip
        case "struct":
            return isinstance(ours, Row) and _fit_each(ours, parts)
        case "decimal":
            return _text(ours) == name.replace(",", ", ")
    return _text(ours) in LEAVES.get(name, ())


def _fits_arrow(ours: DataType, type: pa.DataType) -> bool:
    types = pa.types
    if isinstance(type, pa.BaseExtensionType):
        return True  # its values are compared as texts
    if types.is_dictionary(type):
        return _fits_arrow(ours, type.value_type)
    if types.is_map(type):
        return isinstance(ours, Map) and _fits_arrow(ours.key, type.key_type) and _fits_arrow(ours.value, type.item_type)  # fmt: skip
    if types.is_struct(type):
        return isinstance(ours, Row) and _fit_each(ours, [(f.name, f.type) for f in type])
    if types.is_nested(type) and not types.is_union(type):
        return isinstance(ours, Array) and _fits_arrow(ours.element, type.value_type)
    if types.is_decimal128(type):
        return _text(ours) == f"DECIMAL({type.precision}, {type.scale})"
    if types.is_timestamp(type):
        zone = " WITH LOCAL TIME ZONE" if type.tz else ""
        return _text(ours) in [f"TIMESTAMP({p}){zone}" for p in {"s": (0, 3), "ms": (3,), "us": (6,), "ns": (6, 9)}[type.unit]]  # fmt: skip
    return _text(ours) in ARROW_LEAVES.get(str(type).split("[")[0], ("STRING",))


def _fit_each(ours: Row, parts: Sequence[tuple[str, Any]]) -> bool:
    return [f.name for f in ours.fields] == [n for n, _ in parts] and all(
        fits(f.type, t) for f, (_, t) in zip(ours.fields, parts, strict=True)
    )


def _text(ours: DataType) -> str:
    return str(ours).removesuffix(" NOT NULL")


def same(ours: Any, theirs: Any, type: Any) -> bool:
    """Whether a value is that of the judge, whose type is given."""
    if str(type) != "VARIANT" and (ours is None or theirs is None):
        return ours is theirs or (str(type) == "JSON" and theirs in (None, "null") and ours in (None, "null"))
    if isinstance(type, pa.DataType):
        return exact(ours) == exact(theirs)
    if str(type) == "VARIANT":  # ours is in Parquet's bytes
        return True
    if str(type) == "JSON":
        return is_json(ours, theirs)
    parts = dict(type.children) if type.id in ("list", "array", "struct", "map") else {}
    match type.id:
        case "list" | "array":
            return isinstance(ours, list) and len(ours) == len(theirs) and all(same(a, b, parts["child"]) for a, b in zip(ours, theirs, strict=True))  # fmt: skip
        case "struct":
            return isinstance(ours, dict) and list(ours) == list(parts) and all(same(ours[k], theirs[k], parts[k]) for k in parts)  # fmt: skip
        case "map":
            pairs = list(theirs.items())
            return len(ours) == len(pairs) and all(same(a, b, parts["key"]) and same(v, w, parts["value"]) for (a, v), (b, w) in zip(ours, pairs, strict=True))  # fmt: skip
        case "uuid":
            return bool(ours == str(theirs))
        case "float":
            return exact(ours) == exact(struct.unpack("f", struct.pack("f", theirs))[0])
        case "timestamp_ns":
            return exact(ours)[1][:26] == exact(theirs)[1][:26]
    if type.id in ("hugeint", "uhugeint", "ubigint"):
        return not isinstance(ours, bool | float | str) and bool(ours == theirs)
    return exact(ours) == exact(theirs)


def exact(value: Any) -> Any:
    """A value with its Python type; instants are in UTC."""
    match value:
        case float():
            return "float", repr(value)
        case decimal.Decimal():
            return "Decimal", value
        case dt.datetime():
            return ("instant" if value.tzinfo else "time"), (value.astimezone(dt.UTC) if value.tzinfo else value).replace(tzinfo=None).isoformat(timespec="microseconds")  # fmt: skip
        case uuid.UUID():
            return "str", str(value)
        case list() | tuple():
            return [exact(v) for v in value]
        case dict():
            return {k: exact(v) for k, v in value.items()}
    return type(value).__name__, value


def is_json(ours: Any, text: str) -> bool:
    """Whether a value is what DuckDB left as JSON: its text, or the text of a string, or lists, rows and maps with such texts."""
    value = json.loads(text)
    if isinstance(ours, str):
        return ours in (text, value) or (ours[:1] in '{["' and _loaded(ours) == exact(value))
    if isinstance(ours, list) and isinstance(value, dict):
        return len(ours) == len(value) and all(k in value and part(v, value[k]) for k, v in ours)
    if isinstance(ours, list):
        return isinstance(value, list) and len(ours) == len(value) and all(map(part, ours, value))
    if isinstance(ours, dict):
        return isinstance(value, dict) and {*value} <= {*ours} and all(part(v, value.get(k)) for k, v in ours.items())
    return exact(ours) == exact(value)


def part(ours: Any, value: Any) -> bool:
    if ours is None or value is None:
        return ours is value
    return ours == value if isinstance(value, str) else is_json(ours, json.dumps(value))


def _loaded(text: str) -> Any:
    try:
        return exact(json.loads(text))
    except ValueError:
        return None
