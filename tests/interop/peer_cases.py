"""Tables that each of us writes and reads: what they hold in the end is folded from their batches by plain Python."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Row = dict[str, Any]
Where = tuple[str, str, list[Any]]

COLUMNS: dict[str, tuple[str, pa.DataType]] = {
    "id": ("INT", pa.int32()),
    "a": ("BIGINT", pa.int64()),
    "s": ("STRING", pa.string()),
    "v": ("INT", pa.int32()),
    "f": ("DOUBLE", pa.float64()),
    "d": ("DATE", pa.date32()),
    "p": ("STRING", pa.string()),
}
EVERY_TYPE: dict[str, tuple[str, pa.DataType]] = {
    "id": ("INT", pa.int32()),
    "yes": ("BOOLEAN", pa.bool_()),
    "i8": ("TINYINT", pa.int8()),
    "i16": ("SMALLINT", pa.int16()),
    "f32": ("FLOAT", pa.float32()),
    "dec": ("DECIMAL(10, 2)", pa.decimal128(10, 2)),
    "wide": ("DECIMAL(30, 5)", pa.decimal128(30, 5)),
    "raw": ("BYTES", pa.binary()),
    "day": ("DATE", pa.date32()),
    "ms": ("TIMESTAMP(3)", pa.timestamp("ms")),
    "us": ("TIMESTAMP(6)", pa.timestamp("us")),
    "list": ("ARRAY<INT>", pa.list_(pa.int32())),
    "pairs": ("MAP<STRING, INT>", pa.map_(pa.string(), pa.int32())),
    "inner": ("ROW<x INT, y STRING>", pa.struct([("x", pa.int32()), ("y", pa.string())])),
}

VECTORS: dict[str, tuple[str, pa.DataType]] = {
    "id": ("INT", pa.int32()),
    "v": ("VECTOR<FLOAT, 3>", pa.list_(pa.float32(), 3)),
    "w": ("VECTOR<DOUBLE, 2>", pa.list_(pa.float64(), 2)),
    "s": ("STRING", pa.string()),
}
VARIANTS: dict[str, tuple[str, pa.DataType]] = {
    "id": ("INT", pa.int32()),
    "j": ("VARIANT", pa.struct([pa.field("value", pa.binary(), False), pa.field("metadata", pa.binary(), False)])),
}

QUERIES: tuple[Where | None, ...] = (
    None,
    ("id", "equal", [5]),
    ("a", "greater_than", [0]),
    ("s", "is_null", []),
    ("v", "between", [10, 30]),
    ("p", "is_in", [["p0", "p2"]]),
    ("d", "is_not_null", []),
)


@dataclass(frozen=True)
class Case:
    name: str
    kind: str
    """append, deduplicate, partial-update, aggregation"""
    options: dict[str, str]
    partitions: tuple[str, ...] = ()
    columns: dict[str, tuple[str, pa.DataType]] = field(default_factory=lambda: COLUMNS)
    row: Callable[[int], Row] | None = None
    """The row of a number; None: random rows of `COLUMNS`."""
    created_by: str = "pypaimon"
    """Who creates the tables that rust writes, and those that are written in turn."""
    short: bool = False
    """Whether it belongs to the slice of `make test`."""

    @property
    def keys(self) -> tuple[str, ...]:
        return () if self.kind == "append" else ("id", *self.partitions)

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([pa.field(n, t, n not in self.keys) for n, (_, t) in self.columns.items()])

    @property
    def queries(self) -> tuple[Where | None, ...]:
        return QUERIES if self.columns is COLUMNS else (None, ("id", "equal", [3]))

    def batches(self) -> list[list[Row]]:
        dice = random.Random(self.name)
        if self.row is not None:
            rows = [self.row(i) for i in range(12)]
            held: list[Row] = rows if self.kind == "append" else [self.row(i % 9) | {"id": i % 7} for i in range(12)]
            return [held[n : n + 4] for n in (0, 4, 8)]
        return [self._batch(dice, turn) for turn in range(4)]

    def _batch(self, dice: random.Random, turn: int) -> list[Row]:
        return [
            {
                "id": i,
                "a": dice.choice([None, dice.randrange(-99, 99)]),
                "s": dice.choice([None, f"{turn}.{i} é"]),
                "v": dice.randrange(50),
                "f": dice.choice([None, dice.randrange(-8, 8) / 4]),
                "d": dice.choice([None, date(2020, 1, 1) + timedelta(dice.randrange(9999))]),
                "p": f"p{i % 3}",
            }
            for i in sorted(dice.sample(range(16), 7))
        ]

    def expected(self) -> list[Row]:
        rows = [r for batch in self.batches() for r in batch]
        if self.kind == "append":
            return rows
        held: dict[Any, Row] = {}
        for r in rows:
            key = tuple(r[k] for k in self.keys)
            held[key] = r if key not in held or self.kind == "deduplicate" else self._merged(held[key], r)
        return list(held.values())

    def _merged(self, old: Row, new: Row) -> Row:
        out = {n: new[n] if new[n] is not None else old[n] for n in old}
        if self.kind == "aggregation":
            numbers = [r["a"] for r in (old, new) if r["a"] is not None]
            out["a"] = sum(numbers) if numbers else None
            out["v"] = max(old["v"], new["v"])
        return out


def every_type(i: int) -> Row:
    if i % 5 == 4:
        return {n: i if n == "id" else None for n in EVERY_TYPE}
    return {
        "id": i, "yes": i % 2 == 0, "i8": i - 5, "i16": -300 * i, "f32": i / 4, "dec": Decimal(i * 101) / 100, "wide": Decimal(f"{i}234567890123456.54321"),
        "raw": bytes([i, 0, 255]), "day": date(1969, 12, 30) + timedelta(i), "ms": datetime(1969, 12, 31, 23, 59, i, 123000),
        "us": datetime(2024, 2, 29, 1, 2, i, 123456), "list": [i, None, -i] if i % 3 else [], "pairs": [(f"k{i}", i), ("none", None)],
        "inner": {"x": i, "y": None if i % 2 else f"y{i}"},
    }  # fmt: skip


def vectors(i: int) -> Row:
    """The row of a number, without NULL."""
    return {"id": i, "v": [i / 4, -i, 0.5], "w": [1e300 / (i + 1), i], "s": f"s{i}"}


def vectors_or_null(i: int) -> Row:
    """The row of a number; some vectors are NULL."""
    return vectors(i) | ({"v": None} if i % 3 == 1 else {}) | ({"w": None} if i % 4 == 2 else {})


_JSON = (
    (b"\x02\x02\x00\x01\x00\x02\r\x0c\x01\x03\x03\x00\x02\x04\x05\x0c\x01\x05x\x00", b"\x01\x02\x00\x01\x02ab"),
    (b"\x11text", b"\x01\x00\x00"),
    (b"\x1c\x00\x00\x00\x00\x00\x00\x0c@", b"\x01\x00\x00"),
    (b"\x00", b"\x01\x00\x00"),
)
"""Values and metadata of {"a": 1, "b": [1, "x", null]}, "text", 3.5 and null."""


_SHREDDED = json.dumps(
    {
        "type": "ROW",
        "fields": [
            {"id": 0, "name": "j", "type": {"type": "ROW", "fields": [{"id": 1, "name": "a", "type": "BIGINT"}]}}
        ],
    }
)


def variants(i: int) -> Row:
    """The row of a number."""
    value, metadata = _JSON[i % 4]
    return {"id": i, "j": None if i % 5 == 4 else {"value": value, "metadata": metadata}}


EVOLVES = {"row-tracking.enabled": "true", "data-evolution.enabled": "true", "deletion-vectors.enabled": "true"}

_KINDS: dict[str, tuple[str, dict[str, str]]] = {
    "append": ("append", {"bucket": "-1"}),
    "bucketed": ("append", {"bucket": "2", "bucket-key": "id"}),
    "one": ("deduplicate", {"bucket": "1"}),
    "three": ("deduplicate", {"bucket": "3"}),
    "dynamic": ("deduplicate", {"bucket": "-1"}),
    "partial": ("partial-update", {"bucket": "1", "merge-engine": "partial-update"}),
    "aggregated": (
        "aggregation",
        {"bucket": "2", "merge-engine": "aggregation", "fields.a.aggregate-function": "sum", "fields.v.aggregate-function": "max",
         "fields.default-aggregate-function": "last_non_null_value"},
    ),
}  # fmt: skip


def cases() -> Iterator[Case]:
    for name, file_format, parted in product(_KINDS, ("parquet", "orc", "avro"), (False, True)):
        kind, options = _KINDS[name]
        short = file_format == "parquet" and (name, parted) in (("append", True), ("three", False), ("partial", True))
        yield Case(
            f"{name}_{file_format}{'_parted' if parted else ''}", kind, {**options, "file.format": file_format},
            ("p",) if parted else (), short=short,
        )  # fmt: skip
    for file_format in ("parquet", "orc", "avro"):
        yield Case(
            f"types_{file_format}",
            "append",
            {"bucket": "-1", "file.format": file_format},
            columns=EVERY_TYPE,
            row=every_type,
            short=file_format == "parquet",
        )
        for name, row in (("vectors", vectors), ("vectors_or_null", vectors_or_null)):
            yield Case(
                f"{name}_{file_format}", "append", {"bucket": "-1", "file.format": file_format}, columns=VECTORS, row=row,
                created_by="us", short=file_format == "parquet",
            )  # fmt: skip
    for name, row in (("vectors", vectors), ("vectors_or_null", vectors_or_null)):
        yield Case(
            f"{name}_beside", "append", {**EVOLVES, "vector.file.format": "parquet"}, columns=VECTORS, row=row,
            created_by="us", short=True,
        )  # fmt: skip
        yield Case(f"{name}_evolving", "append", EVOLVES, columns=VECTORS, row=row, created_by="us")
        yield Case(f"{name}_keyed", "deduplicate", {"bucket": "2"}, columns=VECTORS, row=row, created_by="us")
    for name, kind, options in (
        ("variants", "append", {"bucket": "-1"}),
        ("variants_keyed", "deduplicate", {"bucket": "1"}),
        ("variants_evolving", "append", EVOLVES),
        ("variants_shredded", "append", {"bucket": "-1", "variant.shreddingSchema": _SHREDDED}),
        ("variants_inferred", "append", {"bucket": "-1", "variant.inferShreddingSchema": "true"}),
    ):
        yield Case(f"{name}_parquet", kind, options, columns=VARIANTS, row=variants, short=kind == "append")


def shown(rows: pa.Table) -> list[str]:
    """Rows as texts that are equal for equal values, sorted."""
    return sorted(repr([_plain(v) for v in r.values()]) for r in rows.to_pylist())


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
        case dict():
            return {k: _plain(v) for k, v in value.items()}
        case list() | tuple() if value and all(isinstance(v, tuple) for v in value):
            return sorted(_plain(list(v)) for v in value)
        case list() | tuple():
            return [_plain(v) for v in value]
        case bytes() | bytearray():
            return bytes(value)
    return value


def keeps(row: Row, where: Where | None) -> bool:
    if where is None:
        return True
    column, op, values = where
    value = row[column]
    if op in ("is_null", "is_not_null"):
        return (value is None) == (op == "is_null")
    if value is None:
        return False
    match op:
        case "equal":
            return bool(value == values[0])
        case "greater_than":
            return bool(value > values[0])
        case "between":
            return bool(values[0] <= value <= values[1])
    return value in values[0]
