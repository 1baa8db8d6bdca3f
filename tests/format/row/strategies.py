"""Hypothesis strategies for types and their in-row values."""

from __future__ import annotations

import decimal

from hypothesis import strategies as st

from paimon_nb.format.row import Instant
from paimon_nb.format.types import Array, Atomic, DataField, DataType, Decimal, Map, Row, parse_type

FLAT_TYPES = [
    parse_type(text)
    for text in [
        "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "TIME(3)", "CHAR(3)", "STRING",
        "BINARY(3)", "BYTES", "DECIMAL(9,2)", "DECIMAL(18,0)", "DECIMAL(19,0)", "DECIMAL(38,10)", "TIMESTAMP(0)",
        "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(9)", "TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ(6)",
    ]
]  # fmt: skip


def types() -> st.SearchStrategy[DataType]:
    flat = st.sampled_from(FLAT_TYPES)
    return st.recursive(
        flat,
        lambda inner: st.one_of(
            inner.map(Array),
            st.builds(Map, st.sampled_from([Atomic("INT", False), parse_type("STRING NOT NULL")]), inner),
            st.lists(inner, min_size=1, max_size=3).map(
                lambda ts: Row(tuple(DataField(i, f"f{i}", t) for i, t in enumerate(ts)))
            ),
        ),
        max_leaves=4,
    )


def values(t: DataType) -> st.SearchStrategy:
    match t:
        case Array():
            return st.lists(nullable(t.element), max_size=4).map(tuple)
        case Map():
            return st.lists(st.tuples(values(t.key), nullable(t.value)), max_size=4, unique_by=lambda p: p[0]).map(
                tuple
            )
        case Row():
            return st.tuples(*(nullable(f.type) for f in t.fields))
        case Decimal():
            limit = 10**t.precision - 1
            return st.integers(-limit, limit).map(
                lambda n: decimal.Decimal(n).scaleb(-t.scale, decimal.Context(prec=60))
            )
    match t.root:
        case "BOOLEAN":
            return st.booleans()
        case "TINYINT" | "SMALLINT" | "INT" | "BIGINT":
            bits = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}[t.root]
            return st.integers(-(2**bits), 2**bits - 1)
        case "DATE":
            return st.integers(-100_000, 2_900_000)
        case "TIME":
            return st.integers(0, 86_399_999)
        case "FLOAT":
            return st.floats(width=32, allow_nan=False)
        case "DOUBLE":
            return st.floats(allow_nan=False)
        case "CHAR" | "VARCHAR":
            return st.text(max_size=20)
        case "BINARY" | "VARBINARY":
            return st.binary(max_size=20)
    unit = 1 if t.precision <= 3 else 1000 if t.precision <= 6 else 1_000_000
    return st.integers(-9_000_000_000_000, 9_000_000_000_000).flatmap(
        lambda ms: st.integers(0, unit - 1).map(lambda part: Instant(ms, part * (1_000_000 // unit)))
    )


def nullable(t: DataType) -> st.SearchStrategy:
    return st.none() | values(t)


@st.composite
def rows(draw: st.DrawFn) -> tuple[list[DataType], list[tuple]]:
    ts = draw(st.lists(types(), min_size=1, max_size=5))
    return ts, draw(st.lists(st.tuples(*(nullable(t) for t in ts)), max_size=8))
