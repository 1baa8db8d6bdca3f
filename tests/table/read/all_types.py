"""A table with every type, and rows for it: NULLs, extreme values, nested ones."""

from __future__ import annotations

import datetime as dt
import decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.table.read.query import TableQuery

if TYPE_CHECKING:
    import paimon_nb

COLUMNS = """
    id BIGINT, ok BOOLEAN, tiny TINYINT, small SMALLINT, n INT, big BIGINT, f FLOAT, d DOUBLE, price DECIMAL(12, 2),
    huge DECIMAL(38, 10), code CHAR(3), name VARCHAR(20), note STRING, raw BYTES, short BINARY(4), day DATE, at_time TIME(3),
    at_ms TIMESTAMP(3), at_us TIMESTAMP(6), at_ltz TIMESTAMP_LTZ(6), tags ARRAY<STRING>, marks MAP<STRING, INT>,
    inner_row ROW<a INT, b STRING, c ARRAY<INT>>
"""
ENGINES = {
    "deduplicate": {},
    "partial-update": {},
    "aggregation": {"fields.n.aggregate-function": "sum", "fields.d.aggregate-function": "max"},
    "first-row": {"changelog-producer": "lookup"},
}


def make(
    wb: paimon_nb.Workbench, name: str, *, keys: str = "id", partition: str = "", **options: str
) -> paimon_nb.Table:
    """A table with every type; without `keys` an append table."""
    key = f", PRIMARY KEY ({keys}) NOT ENFORCED" if keys else ""
    by = f" PARTITIONED BY ({partition})" if partition else ""
    settings = {
        "bucket": "1",
        **({} if keys or "bucket" in options else {"bucket-key": "id"}),
        **{k.replace("_", "-"): v for k, v in options.items()},
    }
    text = ", ".join(f"'{k}' = '{v}'" for k, v in settings.items())
    wb.run(f"CREATE TABLE {name} ({COLUMNS}{key}){by} WITH ({text})")
    return wb.table(name)


def row(i: int, turn: int = 0) -> dict[str, Any]:
    """The row of a key as a write number `turn` has it. Every seventh value of each column is NULL."""

    def some(column: int, value: Any) -> Any:
        return None if (i + column + turn) % 7 == 0 else value

    x = i * 31 + turn
    moment = dt.datetime(1969, 12, 30) + dt.timedelta(hours=x % 100_000, microseconds=x % 999)
    return {
        "id": i, "ok": some(1, x % 2 == 0), "tiny": some(2, x % 256 - 128), "small": some(3, x % 60_000 - 30_000),
        "n": some(4, x % 1000 - 500), "big": some(5, (x << 40) % (1 << 62)), "f": some(6, x / 8),
        "d": some(0, float("nan") if x % 11 == 0 else -x / 3), "price": some(1, decimal.Decimal(x % 10**6).scaleb(-2)),
        "huge": some(2, decimal.Decimal(x).scaleb(18)), "code": some(3, f"{x % 1000:03d}"), "name": some(4, f"name {x % 97}"),
        "note": some(5, "é" * (x % 5) + f"{x}"), "raw": some(6, bytes([x % 256]) * (x % 4)),
        "short": some(0, x.to_bytes(8, "big")[-4:]), "day": some(1, dt.date(1965, 1, 1) + dt.timedelta(x % 30_000)),
        "at_time": some(2, (dt.datetime(2000, 1, 1) + dt.timedelta(milliseconds=x % 86_400_000)).time()),
        "at_ms": some(3, moment.replace(microsecond=0)), "at_us": some(4, moment),
        "at_ltz": some(5, moment.replace(tzinfo=dt.UTC)), "tags": some(6, [None, f"t{x % 5}"][x % 2 :]),
        "marks": some(0, [(f"k{x % 3}", x % 100)]), "inner_row": some(1, {"a": x % 9, "b": None, "c": [x % 3]}),
    }  # fmt: skip


def rows(table: paimon_nb.Table, ids: range, turn: int = 0) -> pa.Table:
    """Rows of the keys `ids` in the table's types."""
    return _rows(TableQuery(table).schema, ids, turn)


@lru_cache(maxsize=16)
def _rows(schema: pa.Schema, ids: range, turn: int) -> pa.Table:
    return pa.Table.from_pylist([row(i, turn) for i in ids], schema=schema)
