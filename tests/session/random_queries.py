"""Random tables of all types, and random SELECTs over them: what an embedded engine and Spark must answer alike."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    import paimon_nb

COLUMNS: dict[str, tuple[str, pa.DataType]] = {
    "k": ("INT", pa.int32()), "b": ("BOOLEAN", pa.bool_()), "y": ("TINYINT", pa.int8()), "h": ("SMALLINT", pa.int16()),
    "i": ("INT", pa.int32()), "n": ("BIGINT", pa.int64()), "f": ("FLOAT", pa.float32()), "d": ("DOUBLE", pa.float64()),
    "e": ("DOUBLE", pa.float64()), "m": ("DECIMAL(10, 2)", pa.decimal128(10, 2)), "w": ("DECIMAL(30, 5)", pa.decimal128(30, 5)),
    "s": ("STRING", pa.string()), "v": ("VARCHAR(10)", pa.string()), "c": ("CHAR(4)", pa.string()), "day": ("DATE", pa.date32()),
    "at": ("TIMESTAMP(6)", pa.timestamp("us")), "ms": ("TIMESTAMP(3)", pa.timestamp("ms")), "raw": ("BYTES", pa.binary()),
    "l": ("ARRAY<INT>", pa.list_(pa.int32())), "z": ("TIMESTAMP(3) WITH LOCAL TIME ZONE", pa.timestamp("ms", "UTC")),
}  # fmt: skip
INTEGERS, DECIMALS, TEXTS, TIMES = ("k", "y", "h", "i", "n"), ("m", "w"), ("s", "v"), ("day", "at", "ms")
NUMBERS = (*INTEGERS, *DECIMALS, "d", "e")
PLAIN = (*(c for c in COLUMNS if c not in ("c", "l", "z")), "c")
GROUPED = (*INTEGERS, *DECIMALS, *TEXTS, *TIMES, "b", "d", "f", "raw")
_TABLES = {
    "t": ("PRIMARY KEY (k) NOT ENFORCED", "'bucket' = '2'", 60),
    "u": ("", "", 45),
    "q": ("", "'bucket' = '-1'", 50),
    "p": ("PRIMARY KEY (k, s) NOT ENFORCED", "'bucket' = '1', 'deletion-vectors.enabled' = 'true'", 40),
    "none": ("", "", 0),
}
"""Table -> its key, its options, its rows."""


def make_tables(wb: paimon_nb.Workbench, seed: int) -> None:
    """Small tables with keys (overwritten, partly deleted), without keys, with deletion vectors, and an empty one."""
    generator = random.Random(seed)
    for name, (key, options, rows) in _TABLES.items():
        columns = ", ".join(f"`{c}` {t}" for c, (t, _) in COLUMNS.items())
        tail = f" WITH ({options})" if options else ""
        parts = " PARTITIONED BY (s)" if name == "q" else ""
        wb.run(f"CREATE TABLE {name} ({columns}{', ' + key if key else ''}){parts}{tail}")
        for part in range(2 if rows else 0):
            wb.table(name).append(_rows(generator, range(part * rows // 3, rows)))
    wb.table("t").delete("k IN (3, 50)")
    wb.table("p").delete("k = 7")


def _rows(generator: random.Random, keys: range) -> pa.Table:
    nan = float("nan")
    pools: dict[str, list[Any]] = {
        "b": [True, False], "y": [-128, -1, 0, 1, 7, 127], "h": [-32768, -3, 0, 12, 300], "i": [-7, 0, 1, 2, 3, 1000, 2147483647],
        "n": [-5, 0, 1, 10, 4_000_000_000, -9_000_000_000_000_000], "f": [0.0, -0.0, 1.5, -2.25, nan, 0.1], "d": [0.0, 0.5, -1.25, 100.0, 2.5, 1.5],
        "e": [0.1, -0.0, 0.0, nan, float("inf"), 1e300, 2.675], "m": [Decimal(x) for x in ("0.00", "0.05", "-1.25", "99999999.99", "10.10")],
        "w": [Decimal(x) for x in ("0", "0.00001", "-7.5", "1234567890123456789012345.12345")], "s": ["", "a", "B", "b ", "é", "ab%", "_", "zz"],
        "v": ["x", "yy", "X", ""], "c": ["ab", "abcd", "", "z   "], "day": [dt.date(2020, 2, 29), dt.date(1969, 12, 31), dt.date(1582, 10, 15), dt.date(2021, 1, 1)],
        "at": [dt.datetime(2020, 1, 1, 0, 0, 0, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(2024, 6, 1, 12)],
        "ms": [dt.datetime(2020, 1, 1, 0, 0, 0, 1000), dt.datetime(1900, 1, 1)], "raw": [b"", b"\x00\xff", b"a"], "l": [[1, None], []],
        "z": [dt.datetime(2020, 1, 1, tzinfo=dt.UTC)],
    }  # fmt: skip

    def values(name: str) -> list[Any]:
        if name == "k":
            return list(keys)
        skewed = generator.sample(pools[name], len(pools[name]))
        missing = 0.0 if name == "s" else generator.choice([0.0, 0.15, 0.6])
        return [
            None if generator.random() < missing else skewed[min(int(generator.expovariate(0.7)), len(skewed) - 1)]
            for _ in keys
        ]

    return pa.table({name: pa.array(values(name), t) for name, (_, t) in COLUMNS.items()})


@dataclass(frozen=True)
class Question:
    """A random query."""

    text: str
    ordered: tuple[int, ...]
    """Positions of the result's columns that its ORDER BY names, in this order."""


class Questions:
    """Makes random queries."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.sources: list[str] = []

    def next(self) -> Question:
        """A query: one SELECT, or UNION ALL of two, or one over a subquery."""
        kind = self.random.random()
        if kind < 0.12:
            count = self.random.randint(1, 3)
            left, right = self._select(count)[0], self._select(count)[0]
            text = f"{left} UNION ALL {right}"
        elif kind < 0.2:
            inner, count = self._select(None)
            text, count = f"SELECT * FROM ({inner}) AS q", count
        else:
            text, count = self._select(None)
        return self._ending(text, count)

    def _ending(self, text: str, count: int) -> Question:
        kind = self.random.random()
        if kind < 0.3:
            return Question(text, ())
        positions = list(range(count))
        self.random.shuffle(positions)
        limited = kind > 0.75
        positions = positions if limited else positions[: self.random.randint(1, count)]
        items = [f"{p + 1}{self.random.choice(['', ' DESC', ' NULLS LAST', ' DESC NULLS FIRST'])}" for p in positions]
        limit = f" LIMIT {self.random.randint(0, 12)}" if limited else ""
        limit += f" OFFSET {self.random.randint(0, 4)}" if limited and self.random.random() < 0.3 else ""
        return Question(f"{text} ORDER BY {', '.join(items)}{limit}", tuple(positions))

    def _select(self, count: int | None) -> tuple[str, int]:
        """A SELECT with `count` columns, and that number."""
        count = count or self.random.randint(1, 4)
        from_ = self._from()
        where = f" WHERE {self.condition(2)}" if self.random.random() < 0.55 else ""
        kind = self.random.random()
        if kind < 0.4:
            items = [self.anything(2) for _ in range(count)]
            distinct = "DISTINCT " if self.random.random() < 0.25 else ""
            return f"SELECT {distinct}{self._list(items)} FROM {from_}{where}", count
        groups = [self._group() for _ in range(self.random.randint(1, 2))] if kind < 0.85 else []
        items = [
            self.random.choice(groups) if groups and self.random.random() < 0.4 else self.aggregated(groups)
            for _ in range(count)
        ]
        group = f" GROUP BY {', '.join(groups)}" if groups else ""
        having = f" HAVING {self.aggregate(1)} IS NOT NULL" if groups and self.random.random() < 0.1 else ""
        having = having or (f" HAVING count(*) > {self.random.randint(1, 3)}" if self.random.random() < 0.2 else "")
        return f"SELECT {self._list(items)} FROM {from_}{where}{group}{having}", count

    def _list(self, items: list[str]) -> str:
        return ", ".join(f"{item} AS x{i}" for i, item in enumerate(items))

    def _from(self) -> str:
        first, second = (self.random.choice(["t", "t", "u", "q", "p", "none"]) for _ in range(2))
        if self.random.random() < 0.75:
            self.sources = ["a"]
            return f"{first} AS a"
        self.sources = ["a", "b"]
        kind = self.random.choice(
            ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "INNER JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"]
        )
        on = self.random.choice(["a.k = b.k", "a.s = b.s AND a.i = b.i", "a.day = b.day", "a.i = b.n", "a.m = b.i"])
        if "SEMI" in kind or "ANTI" in kind:
            self.sources = ["a"]
        return f"{first} AS a {kind} {second} AS b ON {on}"

    def _column(self, names: tuple[str, ...]) -> str:
        return f"{self.random.choice(self.sources)}.{self.random.choice(names)}"

    def _group(self) -> str:
        if self.random.random() < 0.8:
            return self._column(GROUPED)
        return self.random.choice([self.integer(1), self.text(1), self.condition(0), f"year({self._column(TIMES)})"])

    def aggregate(self, depth: int) -> str:
        """An aggregate function."""
        kind = self.random.random()
        if kind < 0.12:
            return "count(*)"
        if kind < 0.3:
            return f"count({self.random.choice(['', 'DISTINCT '])}{self._column(PLAIN)})"
        function = self.random.choice(["sum", "min", "max", "avg", "SUM", "Avg"])
        operand = self.anything(1) if function in ("min", "max") else self.number(depth)
        call = f"{function}({operand})"
        return f"{call} FILTER (WHERE {self.condition(0)})" if self.random.random() < 0.08 else call

    def aggregated(self, groups: list[str]) -> str:
        """An expression of aggregates and groups."""
        kind = self.random.random()
        if kind < 0.7:
            return self.aggregate(1)
        if kind < 0.8:
            return f"round({self.aggregate(0)}, {self.random.randint(0, 3)})"
        if kind < 0.9:
            return f"{self.aggregate(0)} {self.random.choice('+-*/')} {self.aggregate(0)}"
        value = self.random.choice(groups) if groups else "1"
        return f"CASE WHEN {self.aggregate(0)} > 1 THEN count(*) ELSE {value} END"

    def anything(self, depth: int) -> str:
        """An expression of any type."""
        make = self.random.choice(
            [self.number, self.integer, self.text, self.condition, lambda _: self._column(PLAIN), self._case]
        )
        return make(depth)

    def _case(self, depth: int) -> str:
        make = self.random.choice([self.number, self.integer, self.text])
        if self.random.random() < 0.3:
            return f"coalesce({make(depth - 1)}, {make(depth - 1)})"
        otherwise = f" ELSE {make(depth - 1)}" if self.random.random() < 0.7 else ""
        return f"CASE WHEN {self.condition(depth - 1)} THEN {make(depth - 1)}{otherwise} END"

    def integer(self, depth: int) -> str:
        """An expression of an integer type."""
        if depth <= 0 or self.random.random() < 0.4:
            return (
                self._column(INTEGERS)
                if self.random.random() < 0.75
                else str(self.random.choice([0, 1, 2, 7, -3, 100]))
            )
        kind = self.random.random()
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        if kind < 0.6:
            return f"({a} {self.random.choice(['+', '-', '*', '%', 'div', '/'])} {b})"
        return self.random.choice(
            [f"abs({a})", f"CAST({a} AS BIGINT)", f"length({self.text(0)})", f"month({self._column(TIMES)})", f"(- {a})", f"nullif({a}, {b})",
             f"CAST({self.number(0)} AS INT)", f"CAST({a} AS SMALLINT)", f"hour({self._column(('at', 'ms'))})", f"if({self.condition(0)}, {a}, {b})"]
        )  # fmt: skip

    def number(self, depth: int) -> str:
        """An expression of a numeric type."""
        if depth <= 0 or self.random.random() < 0.45:
            return (
                self._column(NUMBERS)
                if self.random.random() < 0.8
                else self.random.choice(["1.5", "0.05", "2", "1e0", "10.0", "-2.5"])
            )
        kind = self.random.random()
        if kind < 0.7:
            return f"({self.number(depth - 1)} {self.random.choice('+-*/')} {self.number(depth - 1)})"
        return self.random.choice(
            [f"abs({self.number(depth - 1)})", f"round({self.number(depth - 1)}, {self.random.randint(0, 3)})", f"CAST({self.number(0)} AS DOUBLE)",
             f"CAST({self.integer(0)} AS DECIMAL(12, 2))", f"floor({self._column(('d', 'm'))})", f"(- {self.number(depth - 1)})", self._column(("f",)),
             f"CAST({self.number(0)} AS DECIMAL(20, 6))", f"ceil({self._column(('d',))})"]
        )  # fmt: skip

    def text(self, depth: int) -> str:
        """An expression of a text."""
        if depth <= 0 or self.random.random() < 0.5:
            return self._column(TEXTS) if self.random.random() < 0.85 else self.random.choice(["'a'", "''", "'x y'"])
        a, b = self.text(depth - 1), self.text(depth - 1)
        return self.random.choice(
            [f"upper({a})", f"lower({a})", f"concat({a}, {b})", f"({a} || {b})", f"substring({a}, {self.random.randint(1, 3)}, {self.random.randint(0, 3)})",
             f"CAST({self.integer(0)} AS STRING)", f"CAST({self._column(('b',))} AS STRING)", self._column(("c",)) if self.random.random() < 0.2 else a, f"substr({a}, 2)"]
        )  # fmt: skip

    def condition(self, depth: int) -> str:
        """A condition."""
        if depth > 0 and self.random.random() < 0.35:
            return f"({self.condition(depth - 1)} {self.random.choice(['AND', 'OR'])} {self.condition(depth - 1)})"
        if self.random.random() < 0.1:
            return f"NOT ({self.condition(depth - 1)})"
        operator = self.random.choice(["=", "<>", "<", ">=", ">", "<=", "!=", "<=>"])
        return self.random.choice(
            [f"{self.number(0)} {operator} {self.number(0)}", f"{self.integer(depth)} {operator} {self.integer(0)}", f"{self.text(0)} {operator} {self.text(depth)}",
             f"{self._column(PLAIN)} IS {self.random.choice(['', 'NOT '])}NULL", f"{self._column(TEXTS)} LIKE '{self.random.choice(['%', 'a%', '_', '%b%', ''])}'",
             f"{self.integer(0)} IN ({self.integer(0)}, 1, 7)", f"{self.text(0)} NOT IN ('a', 'x')", f"{self.number(0)} BETWEEN {self.number(0)} AND {self.number(0)}",
             self._column(("b",)), f"{self._column(('day',))} {operator} DATE '2020-01-01'", f"{self._column(('at', 'ms'))} {operator} {self._column(('at', 'ms'))}",
             f"{self._column(('f', 'd', 'e'))} {operator} {self._column(('f', 'd', 'e'))}"]
        )  # fmt: skip
