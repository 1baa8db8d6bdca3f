"""Every type with its values: what a table, Spark and DuckDB give for them, and the texts that a reader sees.

The texts are written by hand: they are the judge of the product's own rule.
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

UTC = dt.UTC
TIME = dt.datetime(2024, 2, 29, 23, 59, 59, 123456)
LOW_TIME, HIGH_TIME = dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59)
INF, NAN = math.inf, math.nan
Pairs = tuple[tuple[Any, str], ...]


@dataclass(frozen=True)
class Kind:
    """A type with pairs of a value and its text.

    Args:
        sql: the type. plain: ordinary values. extreme: those at the edge of the type.
        duckdb: whether the engine reads it from a table of ours in its dialect.
    """

    sql: str
    plain: Pairs
    extreme: Pairs
    duckdb: bool = True


def _nested(value: Any, text: str) -> tuple[Any, str]:
    return value, text


KINDS = (
    Kind("BOOLEAN", ((True, "true"), (False, "false")), ((True, "true"),)),
    Kind("TINYINT", ((1, "1"), (-5, "-5")), ((127, "127"), (-128, "-128"), (0, "0"))),
    Kind("SMALLINT", ((1, "1"), (300, "300")), ((32767, "32767"), (-32768, "-32768"))),
    Kind("INT", ((7, "7"), (70_000, "70000")), ((2**31 - 1, "2147483647"), (-(2**31), "-2147483648"))),
    Kind("BIGINT", ((5, "5"), (10**10, "10000000000")), ((2**63 - 1, str(2**63 - 1)), (-(2**63), str(-(2**63))))),
    Kind("FLOAT", ((0.5, "0.5"), (0.1, "0.1")),
         ((3.4028234663852886e38, "3.4028235e+38"), (1e-45, "1e-45"), (-0.0, "-0.0"), (INF, "inf"), (NAN, "nan"))),
    Kind("DOUBLE", ((0.5, "0.5"), (0.1, "0.1")),
         ((1.7976931348623157e308, "1.7976931348623157e+308"), (5e-324, "5e-324"), (-0.0, "-0.0"), (-INF, "-inf"), (NAN, "nan"))),
    Kind("DECIMAL(10,2)", ((Decimal("1.50"), "1.50"), (Decimal("-3.00"), "-3.00")),
         ((Decimal("99999999.99"), "99999999.99"), (Decimal("-99999999.99"), "-99999999.99"), (Decimal("0.00"), "0.00"))),
    Kind("DECIMAL(38,18)", ((Decimal("12345678901"), "12345678901.000000000000000000"),),
         ((Decimal("1E-18"), "0.000000000000000001"), (Decimal("-1E-18"), "-0.000000000000000001"),
          (Decimal("9" * 20 + "." + "9" * 18), "9" * 20 + "." + "9" * 18))),
    Kind("DECIMAL(38,0)", ((Decimal(1), "1"),), ((Decimal("9" * 38), "9" * 38), (Decimal("-" + "9" * 38), "-" + "9" * 38), (Decimal(0), "0"))),
    Kind("DECIMAL(18,18)", ((Decimal("0.5"), "0.500000000000000000"),), ((Decimal("1E-18"), "0.000000000000000001"),)),
    Kind("STRING", (("one", "one"), ("two", "two")),
         (("", ""), ("NULL", "NULL"), (" a\tb\nc ", " a\tb\nc "), ("‮\u202e\x00", "‮\u202e\x00"), ("Zoë 𝄞 中", "Zoë 𝄞 中"), ("x" * 9000, "x" * 499 + "…"))),
    Kind("CHAR(5)", (("abcde", "abcde"),), (("     ", "     "),)),
    Kind("VARCHAR(5)", (("abc", "abc"),), (("", ""), ("12345", "12345"))),
    Kind("BYTES", ((b"\x01\xff", "01ff"),), ((b"", ""), (bytes(9000), "0" * 499 + "…"))),
    Kind("BINARY(3)", ((b"abc", "616263"),), ((bytes(3), "000000"),)),
    Kind("DATE", ((dt.date(2024, 2, 29), "2024-02-29"),), ((dt.date(1, 1, 1), "0001-01-01"), (dt.date(9999, 12, 31), "9999-12-31"))),
    Kind("TIME(0)", ((dt.time(1, 2, 3), "01:02:03"),), ((dt.time(0), "00:00:00"), (dt.time(23, 59, 59), "23:59:59"))),
    Kind("TIME(3)", ((dt.time(1, 2, 3), "01:02:03"),), ((dt.time(23, 59, 59, 999_000), "23:59:59.999"),)),
    Kind("TIMESTAMP(0)", ((TIME.replace(microsecond=0), "2024-02-29 23:59:59"),), ((LOW_TIME, "0001-01-01 00:00:00"), (HIGH_TIME, "9999-12-31 23:59:59"))),
    Kind("TIMESTAMP(3)", ((TIME.replace(microsecond=123_000), "2024-02-29 23:59:59.123000"),), ((LOW_TIME, "0001-01-01 00:00:00"),)),
    Kind("TIMESTAMP(6)", ((TIME, "2024-02-29 23:59:59.123456"),), ((LOW_TIME, "0001-01-01 00:00:00"), (HIGH_TIME, "9999-12-31 23:59:59"))),
    Kind("TIMESTAMP(9)", ((TIME, "2024-02-29 23:59:59.123456000"),), ((dt.datetime(1970, 1, 1), "1970-01-01 00:00:00.000000000"),)),
    Kind("TIMESTAMP_LTZ(3)", ((TIME.replace(microsecond=0, tzinfo=UTC), "2024-02-29 23:59:59+00:00"),), ((LOW_TIME.replace(tzinfo=UTC), "0001-01-01 00:00:00+00:00"),)),
    Kind("TIMESTAMP_LTZ(6)", ((TIME.replace(tzinfo=UTC), "2024-02-29 23:59:59.123456+00:00"),), ((HIGH_TIME.replace(tzinfo=UTC), "9999-12-31 23:59:59+00:00"),)),
    Kind("ARRAY<INT>", (([1, 2], "[1, 2]"),), (([], "[]"), ([None], "[null]"), ([2**31 - 1] * 3, "[2147483647, 2147483647, 2147483647]"))),
    Kind("ARRAY<STRING>", ((["a"], '["a"]'),), (([], "[]"), ([""], '[""]'), (["null", None, '"'], '["null", null, "\\""]'))),
    Kind("ARRAY<DECIMAL(38,18)>", (([Decimal(1)], "[1.000000000000000000]"),), (([Decimal("1E-18")], "[0.000000000000000001]"), ([], "[]"))),
    Kind("ARRAY<FLOAT>", (([0.1], "[0.1]"),), (([NAN, INF, -0.0], '["nan", "inf", -0.0]'),)),
    Kind("ARRAY<ARRAY<STRING>>", (([["a"], []], '[["a"], []]'),), (([], "[]"), ([None], "[null]"), ([[None]], "[[null]]"))),
    Kind("ARRAY<MAP<STRING,STRING>>", (([[("k", "v")]], '[{"k": "v"}]'),), (([[]], "[{}]"), ([], "[]"))),
    Kind("ARRAY<BYTES>", (([b"\x00\xff"], '["00ff"]'),), (([b""], '[""]'),)),
    Kind("ARRAY<TIMESTAMP(6)>", (([TIME], '["2024-02-29 23:59:59.123456"]'),), (([LOW_TIME], '["0001-01-01 00:00:00"]'),)),
    Kind("MAP<STRING,INT>", (([("k", 1)], '{"k": 1}'),), (([], "{}"), ([("", None)], '{"": null}'), ([('"', 0)], '{"\\"": 0}'))),
    Kind("MAP<INT,ARRAY<STRING>>", (([(1, ["a"])], '{"1": ["a"]}'),), (([], "{}"), ([(-1, [])], '{"-1": []}'), ([(0, None)], '{"0": null}'))),
    Kind("MAP<STRING,MAP<STRING,INT>>", (([("k", [("a", 1)])], '{"k": {"a": 1}}'),), (([("k", [])], '{"k": {}}'),)),
    Kind("ROW<a INT, b STRING>", (({"a": 1, "b": "x"}, '{"a": 1, "b": "x"}'),), (({"a": None, "b": None}, '{"a": null, "b": null}'), ({"a": -(2**31), "b": ""}, '{"a": -2147483648, "b": ""}'))),
    Kind("ROW<a ROW<b MAP<STRING,INT>>>", (({"a": {"b": [("x", 1)]}}, '{"a": {"b": {"x": 1}}}'),), (({"a": None}, '{"a": null}'), ({"a": {"b": []}}, '{"a": {"b": {}}}'))),
    Kind("ROW<m MAP<STRING,INT>, l ARRAY<BIGINT>>", (({"m": [("a", 1)], "l": [1]}, '{"m": {"a": 1}, "l": [1]}'),), (({"m": [], "l": []}, '{"m": {}, "l": []}'),)),
)  # fmt: skip


@dataclass(frozen=True)
class State:
    """Which values a column has. `pairs`: of a kind."""

    name: str
    pairs: Callable[[Kind], list[tuple[Any, str | None]]]


NULL: tuple[Any, str | None] = (None, None)
STATES = (
    State("no rows", lambda _: []),
    State("one row", lambda kind: [kind.plain[0]]),
    State("all NULL", lambda _: [NULL] * 3),
    State("ordinary", lambda kind: [*kind.plain, NULL, *kind.plain]),
    State("extreme", lambda kind: [*kind.extreme, NULL]),
    State("only the first extreme", lambda kind: [kind.extreme[0]] * 2),
)


@dataclass(frozen=True)
class Cell:
    """A kind in a state."""

    kind: Kind
    state: State

    @property
    def pairs(self) -> list[tuple[Any, str | None]]:
        return self.state.pairs(self.kind)

    @property
    def texts(self) -> list[str | None]:
        return [text for _, text in self.pairs]

    def __str__(self) -> str:
        return f"{self.kind.sql} {self.state.name}"


def cells() -> Iterator[Cell]:
    for kind in KINDS:
        for state in STATES:
            yield Cell(kind, state)
