"""Random conditions have one answer in SQL, `where=`, polars, DuckDB and Arrow: that of SQL's three-valued logic, computed here."""

from __future__ import annotations

import datetime as dt
import operator
import random
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import paimon_nb

if TYPE_CHECKING:
    from collections.abc import Callable

pl = pytest.importorskip("polars")

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
VALUES: dict[str, list[Any]] = {
    "i": [-2147483648, -1, 0, 1, 7, 2147483647],
    "l": [-(2**63), -5, 0, 12, 2**63 - 1],
    "s": ["", "a", "a%", "ab", "b_c", "Ä", "äx", "z"],
    "f": [-1.5, -0.0, 0.25, 3.0, 1e300],
    "m": [Decimal("-10.50"), Decimal("0.00"), Decimal("3.14"), Decimal("99999999.99")],
    "d": [dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(2024, 2, 29)],
    "t": [dt.datetime(1969, 12, 31, 23, 59, 59), dt.datetime(2024, 2, 29, 12, 30), dt.datetime(2024, 2, 29, 12, 30, 0, 1)],
    "b": [True, False],
}  # fmt: skip
"""Column -> its values."""
TYPES = {
    "i": pa.int32(), "l": pa.int64(), "s": pa.string(), "f": pa.float64(), "m": pa.decimal128(10, 2), "d": pa.date32(), "t": pa.timestamp("us"),
    "b": pa.bool_(),
}  # fmt: skip
PREFIXES = ("a", "b", "", "Ä", "zz")


@dataclass(frozen=True)
class Condition:
    """A condition in each language, and its value for a row."""

    sql: str
    polars: Any
    arrow: Any
    value: Callable[[dict[str, Any]], bool | None]


def literal(value: Any) -> str:
    match value:
        case bool():
            return str(value).upper()
        case str():
            return "'" + value.replace("'", "''") + "'"
        case dt.datetime():
            return f"'{value.isoformat(' ', 'microseconds')}'"
        case dt.date():
            return f"DATE '{value}'"
        case float():
            return f"{value!r}e0" if "e" not in repr(value) else repr(value)
    return str(value)


def scalar(column: str, value: Any) -> pa.Scalar:
    return pa.scalar(value, TYPES[column])


class Conditions:
    """Makes random conditions."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def next(self, depth: int = 3) -> Condition:
        kind = self.random.random()
        if depth and kind < 0.4:
            return self._pair(self.next(depth - 1), self.next(depth - 1))
        if depth and kind < 0.5:
            return negated(self.next(depth - 1))
        return self._leaf(self.random.choice(list(VALUES)))

    def _pair(self, a: Condition, b: Condition) -> Condition:
        decisive = self.random.random() < 0.5  # TRUE decides OR, FALSE decides AND

        def value(row: dict[str, Any]) -> bool | None:
            found = [a.value(row), b.value(row)]
            return decisive if decisive in found else None if None in found else not decisive

        word = "OR" if decisive else "AND"
        polars, arrow = (a.polars | b.polars, a.arrow | b.arrow) if decisive else (a.polars & b.polars, a.arrow & b.arrow)  # fmt: skip
        return Condition(f"({a.sql} {word} {b.sql})", polars, arrow, value)

    def _leaf(self, c: str) -> Condition:
        kind, x, y = self.random.random(), self.random.choice(VALUES[c]), self.random.choice(VALUES[c])
        if kind < 0.1:
            return Condition(f"{c} IS NULL", pl.col(c).is_null(), pc.field(c).is_null(), lambda r: r[c] is None)
        if kind < 0.2:
            return Condition(f"{c} IS NOT NULL", pl.col(c).is_not_null(), pc.field(c).is_valid(), lambda r: r[c] is not None)  # fmt: skip
        if kind < 0.35 and c == "s":
            prefix = self.random.choice(PREFIXES)
            return Condition(
                f"s LIKE '{prefix}%'", pl.col("s").str.starts_with(prefix), pc.starts_with(pc.field("s"), prefix),
                lambda r: None if r["s"] is None else r["s"].startswith(prefix),
            )  # fmt: skip
        if kind < 0.5:
            return self._between(c, x, y)
        if kind < 0.7:
            return self._among(c)
        op = self.random.choice(list(OPERATORS)) if c != "b" else self.random.choice(["=", "<>"])
        compare = OPERATORS[op]
        return Condition(
            f"{c} {op} {literal(x)}", compare(pl.col(c), pl.lit(x, dtype=None if c != "m" else pl.Decimal(10, 2))), compare(pc.field(c), scalar(c, x)),
            lambda r: None if r[c] is None else compare(r[c], x),
        )  # fmt: skip

    def _between(self, c: str, x: Any, y: Any) -> Condition:
        if c == "b":
            return Condition("b", pl.col("b"), pc.field("b") == True, lambda r: r["b"])  # noqa: E712  an expression
        dtype = None if c != "m" else pl.Decimal(10, 2)
        low, high = pl.lit(x, dtype=dtype), pl.lit(y, dtype=dtype)
        arrow = (pc.field(c) >= scalar(c, x)) & (pc.field(c) <= scalar(c, y))
        return Condition(
            f"{c} BETWEEN {literal(x)} AND {literal(y)}", (pl.col(c) >= low) & (pl.col(c) <= high), arrow,
            lambda r: None if r[c] is None else x <= r[c] <= y,
        )  # fmt: skip

    def _among(self, c: str) -> Condition:
        chosen = self.random.sample(VALUES[c], self.random.randint(1, min(3, len(VALUES[c]))))
        dtype = None if c != "m" else pl.Decimal(10, 2)
        polars, arrow = pl.col(c) == pl.lit(chosen[0], dtype=dtype), pc.field(c) == scalar(c, chosen[0])
        for v in chosen[1:]:
            polars, arrow = polars | (pl.col(c) == pl.lit(v, dtype=dtype)), arrow | (pc.field(c) == scalar(c, v))
        return Condition(
            f"{c} IN ({', '.join(map(literal, chosen))})", polars, arrow, lambda r: None if r[c] is None else r[c] in chosen
        )  # fmt: skip


def negated(a: Condition) -> Condition:
    def value(row: dict[str, Any]) -> bool | None:
        found = a.value(row)
        return None if found is None else not found

    return Condition(f"NOT ({a.sql})", ~a.polars, ~a.arrow, value)


@pytest.fixture(scope="module")
def doors(tmp_path_factory):
    """The rows of a table, and each way to select some of them."""
    duckdb = pytest.importorskip("duckdb")
    wb = paimon_nb.connect(str(tmp_path_factory.mktemp("conditions") / "w"))
    wb.run(
        "CREATE TABLE t (id INT, i INT, l BIGINT, s STRING, f DOUBLE, m DECIMAL(10, 2), d DATE, t TIMESTAMP(6), b BOOLEAN)"
    )
    made = random.Random(5)
    rows = [{"id": n, **{c: made.choice([*v, None]) for c, v in VALUES.items()}} for n in range(90)]
    schema = pa.schema([("id", pa.int32()), *TYPES.items()])
    for start in (0, 30, 60):  # three files, whose statistics exclude some
        wb.table("t").append(pa.Table.from_pylist(rows[start : start + 30], schema))
    table = wb.table("t")
    with duckdb.connect() as connection:
        connection.register("t", table.to_arrow())
        yield (
            rows,
            {
                "SQL": lambda c: wb.run(f"SELECT id FROM t WHERE {c.sql}").to_arrow()["id"],
                "where=": lambda c: table.to_arrow(["id"], where=c.sql)["id"],
                "polars": lambda c: table.to_polars(lazy=True).filter(c.polars).select("id").collect()["id"].to_arrow(),
                "Arrow": lambda c: table.to_dataset().to_table(["id"], filter=c.arrow)["id"],
                "DuckDB": lambda c: wb.duckdb().sql(f"SELECT id FROM t WHERE {c.sql}").to_arrow_table()["id"],
                "DuckDB over rows": lambda c: connection.sql(f"SELECT id FROM t WHERE {c.sql}").to_arrow_table()["id"],
            },
        )
        assert not wb.session.spark_started


def check(doors, seeds) -> None:
    rows, ways = doors
    for seed in seeds:
        condition = Conditions(seed).next()
        expected = [r["id"] for r in rows if condition.value(r)]
        for name, ids in ways.items():
            assert sorted(ids(condition).to_pylist()) == expected, f"{name}, seed {seed}: {condition.sql}"


def test_random_conditions(doors):
    check(doors, range(25))


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(20))
def test_many_random_conditions(doors, part):
    check(doors, range(25 + part * 500, 525 + part * 500))
