"""Rows reach tasks by Paimon's own bucket function: Spark's numbers are those of `format.row`."""

import datetime as dt
import itertools
import random
import string

import pyarrow as pa
import pytest

from paimon_nb.format.row import bucket_of
from paimon_nb.format.types import DataField, arrow_schema, parse_type
from paimon_nb.spark.runtime.arrow_interop import from_arrow
from paimon_nb.spark.runtime.jvm_bridge import query_execution
from paimon_nb.spark.write.bucket_shuffle import with_bucket_number

pytestmark = pytest.mark.spark


def values(kind: str, count: int) -> list[object]:
    r = random.Random(kind)
    text = string.printable + "żółć日本🎉"
    make = {
        "TINYINT": lambda: r.randrange(-128, 128), "SMALLINT": lambda: r.randrange(-32768, 32768),
        "INT": lambda: r.randrange(-(2**31), 2**31), "BIGINT": lambda: r.randrange(-(2**63), 2**63),
        "BOOLEAN": lambda: r.random() < 0.5, "DATE": lambda: dt.date.fromordinal(r.randrange(1, 3652059)),
        "STRING": lambda: "".join(r.choices(text, k=r.randrange(0, 40))), "CHAR(9)": lambda: "".join(r.choices(text, k=9)),
        "BYTES": lambda: r.randbytes(r.randrange(0, 20)), "DOUBLE": lambda: r.gauss(0, 1e9), "FLOAT": lambda: float(r.randrange(1000)),
        "DECIMAL(10, 2)": lambda: dt_decimal(r.randrange(-(10**10), 10**10), 2),
        "DECIMAL(30, 8)": lambda: dt_decimal(r.randrange(-(10**30), 10**30), 8),
        "TIMESTAMP(3)": lambda: dt.datetime(1900, 1, 1) + dt.timedelta(milliseconds=r.randrange(10**13)),
        "TIMESTAMP(6)": lambda: dt.datetime(1900, 1, 1) + dt.timedelta(microseconds=r.randrange(10**16)),
        "TIME(3)": lambda: dt.time(r.randrange(24), r.randrange(60), 1, r.randrange(1000) * 1000),
    }[kind]  # fmt: skip
    fixed = ["", "a", "1234567", "12345678", "123456789abcdef0"] if kind == "STRING" else []
    return [*fixed, *(None if r.random() < 0.1 else make() for _ in range(count - len(fixed)))]


def dt_decimal(unscaled: int, scale: int) -> object:
    import decimal

    return decimal.Decimal(unscaled).scaleb(-scale, decimal.Context(prec=40))


KEYS = [
    ("INT",), ("BIGINT",), ("STRING",), ("TINYINT", "SMALLINT"), ("BOOLEAN", "DATE"), ("BYTES", "STRING", "INT"),
    ("CHAR(9)",), ("STRING", "STRING", "STRING"), ("DOUBLE",), ("FLOAT", "INT"), ("DECIMAL(10, 2)",), ("DECIMAL(30, 8)", "STRING"),
    ("TIMESTAMP(3)",), ("TIMESTAMP(6)", "BIGINT"), ("TIME(3)",),
]  # fmt: skip


SHORT = {
    ("INT",), ("BOOLEAN", "DATE"), ("BYTES", "STRING", "INT"), ("CHAR(9)",), ("FLOAT", "INT"), ("DECIMAL(30, 8)", "STRING"),
    ("TIMESTAMP(6)", "BIGINT"), ("TIME(3)",),
}  # fmt: skip
"""What `make test` asks: a type of each kind. The long run asks all."""


@pytest.mark.parametrize(
    "key", [pytest.param(k, id="-".join(k), marks=[] if k in SHORT else pytest.mark.nightly) for k in KEYS]
)
def test_spark_and_format_agree(spark, key):
    fields = tuple(DataField(i, f"k {i}", parse_type(t)) for i, t in enumerate(key))
    table = pa.table(
        [pa.array(values(t, 500), a.type) for t, a in zip(key, arrow_schema(fields), strict=True)],
        names=[f.name for f in fields],
    )
    expected = bucket_of([f.type for f in fields], table.columns, 7).tolist()
    frame = from_arrow(spark, table, fields)
    rows, bucket = with_bucket_number(frame, fields, 7)
    got = rows.select(bucket.alias("a")).toArrow()
    assert got["a"].to_pylist() == expected
    assert got.schema.field("a").type == pa.int32()


WHOLE = {
    "TINYINT": [-128, -1, 0, 1, 127], "SMALLINT": [-32768, -1, 0, 255, 32767],
    "INT": [-(2**31), -1, 0, 1, 65536, 2**31 - 1], "BIGINT": [-(2**63), -1, 0, 1, 2**31, -(2**32), 2**32 - 1, 2**63 - 1],
    "DATE": [dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(9999, 12, 31)],
}  # fmt: skip


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize(
    "key",
    [
        *(pytest.param((k,), id=k, marks=pytest.mark.nightly) for k in WHOLE if k != "BIGINT"),
        pytest.param(("BIGINT",), id="BIGINT"),
        pytest.param(("SMALLINT", "INT"), id="SMALLINT-INT"),
        pytest.param(("DATE", "TINYINT", "BIGINT"), id="DATE-TINYINT-BIGINT"),
    ],
)
def test_whole_number_keys_never_go_to_python(spark, key, ansi):
    fields = tuple(DataField(i, f"k `{{{i}}}", parse_type(f"{t} NOT NULL")) for i, t in enumerate(key))
    rows = list(
        itertools.product(*(WHOLE[t] + [v for v in values(t, 300 // len(key) ** 5) if v is not None] for t in key))
    )
    table = pa.table(
        [pa.array([row[i] for row in rows], a.type) for i, a in enumerate(arrow_schema(fields))],
        names=[f.name for f in fields],
    )
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        rows, bucket = with_bucket_number(from_arrow(spark, table, fields), fields, 1021)
        frame = rows.select(bucket.alias("a"))
        plan = query_execution(frame).executedPlan().toString()
        got = frame.toArrow()["a"]
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
    assert "Python" not in plan
    assert got.to_pylist() == bucket_of([f.type for f in fields], table.columns, 1021).tolist()


def test_other_bucket_functions_go_through_python(spark):
    fields = (DataField(0, "k", parse_type("BIGINT")),)
    frame = from_arrow(spark, pa.table({"k": pa.array([-3, 5, 12], pa.int64())}), fields)
    rows, bucket = with_bucket_number(frame, fields, 4, "mod")
    assert [r[0] for r in rows.select(bucket).collect()] == [1, 1, 0]
