"""Random tables of all types: NULLs, NaN, both zeros, extreme and skewed values, keys, partitions, deletion vectors, no rows."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    import paimon_nb

DECIMALS_M = ((10, 2), (10, 2), (4, 1), (18, 6), (15, 15), (9, 0))
DECIMALS_W = ((30, 5), (38, 0), (38, 18), (20, 20), (19, 3))
_NAN, _INF = float("nan"), float("inf")
_POOLS: dict[str, tuple[Any, ...]] = {
    "b": (True, False),
    "y": (-128, -1, 0, 1, 7, 127),
    "h": (-32768, -3, 0, 12, 300, 32767),
    "i": (-7, 0, 1, 2, 3, 1000, 2147483647, -2147483648),
    "n": (-5, 0, 1, 10, 4_000_000_000, -9_000_000_000_000_000, 2**63 - 1, -(2**63)),
    "f": (0.0, -0.0, 1.5, -2.25, _NAN, 0.1, _INF, 3.4e38, 16777217.0),
    "d": (0.0, 0.5, -1.25, 100.0, 2.5, 1.5, 1024.0009765625),
    "e": (0.1, -0.0, 0.0, _NAN, _INF, -_INF, 1e300, 2.675, 1e-320, 0.285, 9007199254740993.0),
    "s": ("", "a", "B", "b ", "é", "ab%", "_", "zz", "a\\", "1", "-1.5", "👩‍👧", "ﬁ", "a\nb", "Ab"),
    "v": ("x", "yy", "X", "", "2"),
    "c": ("ab", "abcd", "", "z   "),
    "day": (dt.date(2020, 2, 29), dt.date(1969, 12, 31), dt.date(1582, 10, 15), dt.date(2021, 1, 1), dt.date(1, 1, 1), dt.date(9999, 12, 31)),
    "at": (dt.datetime(2020, 1, 1, 0, 0, 0, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(2024, 6, 1, 12), dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59)),
    "ms": (dt.datetime(2020, 1, 1, 0, 0, 0, 1000), dt.datetime(1900, 1, 1), dt.datetime(2020, 1, 1)),
    "raw": (b"", b"\x00\xff", b"a", b"\x80"),
    "l": ([1, None], [], [3, 1, 2, 1], [2147483647], [-5, 7]),
    "ls": (["a", "b ", None], [], ["é", "a", "a"], ["x"]),
    "lr": ([{"x": 1, "y": "p"}, {"x": None, "y": None}], [], [{"x": 7, "y": "a"}, None]),
    "lm": ([("a", 1), ("b", None)], [], [("x", 5), ("a", 3), ("", 0)]),
    "r": ({"x": 1, "y": "a"}, {"x": None, "y": None}, {"x": -7, "y": "é"}),
    "j": ('{"a": 1, "b": [1, {"c": "x"}]}', '{"a": "é\\n\\u0041", "b": []}', "[1, 2]", "{", "", '{"a": {"b": 2.50}}', '{"a": null, "n": true, "b": [[1]]}',
          '{"a": 12345678901234567890123, "a": 2}', "5", '"t"', "{'a': 1}", '{"a": 1} x', '{"b": ["q", "w"], "n": -0, "é": 3}', "null"),
    "z": (dt.datetime(2020, 1, 1, tzinfo=dt.UTC), dt.datetime(2024, 3, 31, 1, 30, tzinfo=dt.UTC), dt.datetime(2024, 10, 27, 0, 30, 0, 500000, tzinfo=dt.UTC),
          dt.datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=dt.UTC), dt.datetime(1850, 5, 5, tzinfo=dt.UTC), dt.datetime(2024, 10, 27, 1, 30, tzinfo=dt.UTC)),
}  # fmt: skip
_ROW = pa.struct([("x", pa.int32()), ("y", pa.string())])
_TABLES = {
    "t": ("PRIMARY KEY (k) NOT ENFORCED", "'bucket' = '2'", 60),
    "u": ("", "", 45),
    "q": ("", "'bucket' = '-1'", 50),
    "p": ("PRIMARY KEY (k, s) NOT ENFORCED", "'bucket' = '1', 'deletion-vectors.enabled' = 'true'", 40),
    "none": ("", "", 0),
}
"""Table -> its key, its options, its rows."""
NAMES = tuple(_TABLES)


def columns_of(generator: random.Random) -> dict[str, tuple[str, pa.DataType]]:
    """The columns of all tables: SQL type and Arrow type; the decimals' precision and scale are random."""
    m, w = generator.choice(DECIMALS_M), generator.choice(DECIMALS_W)
    return {
        "k": ("INT", pa.int32()), "b": ("BOOLEAN", pa.bool_()), "y": ("TINYINT", pa.int8()), "h": ("SMALLINT", pa.int16()),
        "i": ("INT", pa.int32()), "n": ("BIGINT", pa.int64()), "f": ("FLOAT", pa.float32()), "d": ("DOUBLE", pa.float64()),
        "e": ("DOUBLE", pa.float64()), "m": (f"DECIMAL({m[0]}, {m[1]})", pa.decimal128(*m)),
        "w": (f"DECIMAL({w[0]}, {w[1]})", pa.decimal128(*w)), "s": ("STRING", pa.string()), "v": ("VARCHAR(10)", pa.string()),
        "c": ("CHAR(4)", pa.string()), "day": ("DATE", pa.date32()), "at": ("TIMESTAMP(6)", pa.timestamp("us")),
        "ms": ("TIMESTAMP(3)", pa.timestamp("ms")), "raw": ("BYTES", pa.binary()), "l": ("ARRAY<INT>", pa.list_(pa.int32())),
        "ls": ("ARRAY<STRING>", pa.list_(pa.string())), "lr": ("ARRAY<ROW<x INT, y STRING>>", pa.list_(_ROW)),
        "lm": ("MAP<STRING, INT>", pa.map_(pa.string(), pa.int32())), "r": ("ROW<x INT, y STRING>", _ROW), "j": ("STRING", pa.string()),
        "z": ("TIMESTAMP(3) WITH LOCAL TIME ZONE", pa.timestamp("ms", "UTC")),
    }  # fmt: skip


def make_tables(wb: paimon_nb.Workbench, seed: int) -> None:
    """Small tables with keys (overwritten, partly deleted), without keys, with deletion vectors, and an empty one."""
    generator = random.Random(seed)
    columns = columns_of(generator)
    for name, (key, options, rows) in _TABLES.items():
        written = ", ".join(f"`{c}` {t}" for c, (t, _) in columns.items())
        tail = f" WITH ({options})" if options else ""
        parts = " PARTITIONED BY (s)" if name == "q" else ""
        wb.run(f"CREATE TABLE {name} ({written}{', ' + key if key else ''}){parts}{tail}")
        for part in range(2 if rows else 0):
            wb.table(name).append(_rows(generator, columns, range(part * rows // 3, rows)))
    wb.table("t").delete("k IN (3, 50)")
    wb.table("p").delete("k = 7")


def _rows(generator: random.Random, columns: dict[str, tuple[str, pa.DataType]], keys: range) -> pa.Table:
    return pa.table({name: pa.array(_values(generator, name, t, keys), t) for name, (_, t) in columns.items()})


def _values(generator: random.Random, name: str, t: pa.DataType, keys: range) -> list[Any]:
    if name == "k":
        return list(keys)
    pool = list(_POOLS[name]) if name in _POOLS else _decimals(generator, t)
    skewed = generator.sample(pool, generator.randint(min(2, len(pool)), len(pool)))
    missing = 0.0 if name == "s" else generator.choice([0.0, 0.15, 0.6])
    # Digits of any kind beside the values of the pool: sums of them are not exact.
    random_share = generator.choice([0.0, 0.0, 0.5]) if name in ("e", "f") else 0.0

    def value() -> Any:
        if generator.random() < missing:
            return None
        if generator.random() < random_share:
            return round(generator.uniform(-1, 1) * 10.0 ** generator.randint(-6, 12), generator.randint(0, 9))
        return skewed[min(int(generator.expovariate(0.7)), len(skewed) - 1)]

    return [value() for _ in keys]


def _decimals(generator: random.Random, t: Any) -> list[Decimal]:
    """Zero, the greatest, the least positive, and random ones of many lengths."""
    context = Context(prec=t.precision)
    digits = [0, 1, 10**t.precision - 1, -5]
    digits += [
        generator.randrange(-(10**n), 10**n) for n in generator.sample(range(1, t.precision + 1), min(4, t.precision))
    ]
    return [Decimal(d).scaleb(-t.scale, context) for d in digits]
