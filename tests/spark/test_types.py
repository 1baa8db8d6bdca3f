"""Types and rows go to Spark and come back as they were."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.format.types import DataField, arrow_schema, parse_type
from paimon_nb.spark.runtime.arrow_interop import from_arrow, to_arrow
from paimon_nb.spark.types import fields_of_spark, from_spark_arrow, spark_schema, to_spark_arrow
from paimon_nb.spark.versions import has_time_type

COLUMNS = {
    "b": ("BOOLEAN", [True, None, False]),
    "i1": ("TINYINT", [-128, None, 127]),
    "i2": ("SMALLINT", [-32768, None, 32767]),
    "i4": ("INT", [-(2**31), None, 2**31 - 1]),
    "i8": ("BIGINT", [-(2**63), None, 2**63 - 1]),
    "f4": ("FLOAT", [float("inf"), None, -0.0]),
    "f8": ("DOUBLE", [1e308, None, -0.0]),
    "d": ("DECIMAL(10, 2)", [Decimal("-99999999.99"), None, Decimal("0.01")]),
    "d38": ("DECIMAL(38, 10)", [Decimal("1234567890123456789012345678.0123456789"), None, Decimal("-1E-10")]),
    "c": ("CHAR(5)", ["ab   ", None, "żółć "]),
    "v": ("VARCHAR(20)", ["", None, "x y"]),
    "s": ("STRING", ["\u0000", None, "日本"]),
    "y": ("BYTES", [b"", None, b"\x00\xff"]),
    "y4": ("BINARY(4)", [b"abcd", None, b"\x00\xff\x01\x02"]),
    "da": ("DATE", [dt.date(1, 1, 1), None, dt.date(9999, 12, 31)]),
    "t0": ("TIME(0)", [dt.time(0), None, dt.time(23, 59, 59)]),
    "t3": ("TIME(3)", [dt.time(0, 0, 0, 1000), None, dt.time(23, 59, 59, 999000)]),
    "ts0": ("TIMESTAMP(0)", [dt.datetime(1, 1, 1), None, dt.datetime(9999, 12, 31, 23, 59, 59)]),
    "ts3": ("TIMESTAMP(3)", [dt.datetime(1969, 12, 31, 23, 59, 59, 999000), None, dt.datetime(2024, 3, 10, 2, 30)]),
    "ts6": ("TIMESTAMP(6)", [dt.datetime(1969, 12, 31, 23, 59, 59, 999999), None, dt.datetime(2024, 3, 10, 2, 30)]),
    "tz3": ("TIMESTAMP(3) WITH LOCAL TIME ZONE", [dt.datetime(1900, 1, 1, tzinfo=dt.UTC), None, dt.datetime(2024, 3, 10, 7, 30, tzinfo=dt.UTC)]),
    "tz6": ("TIMESTAMP(6) WITH LOCAL TIME ZONE", [dt.datetime(1, 1, 2, tzinfo=dt.UTC), None, dt.datetime(2024, 11, 3, 5, 30, 0, 1, tzinfo=dt.UTC)]),
    "ts9": ("TIMESTAMP(9)", [pa.scalar(1_600_000_000_123_456_789, pa.timestamp("ns")), None, pa.scalar(-1, pa.timestamp("ns"))]),
    "tz9": ("TIMESTAMP(9) WITH LOCAL TIME ZONE", [pa.scalar(1_600_000_000_000_000_001, pa.timestamp("ns", tz="UTC")), None, pa.scalar(-1, pa.timestamp("ns", tz="UTC"))]),
    "a": ("ARRAY<INT>", [[1, None], None, []]),
    "ats": ("ARRAY<TIMESTAMP(3)>", [[dt.datetime(2020, 1, 1), None], None, []]),
    "m": ("MAP<STRING, DECIMAL(5, 1)>", [[("k", Decimal("1.5"))], None, []]),
    "mt": ("MAP<TIME(3), TIMESTAMP(9)>", [[(dt.time(1), None)], None, []]),
    "ms": ("MULTISET<STRING>", [[("k", 2)], None, []]),
    "r": ("ROW<x INT, y ROW<z TIMESTAMP(9), w ARRAY<TIME(3)>>>", [{"x": 1, "y": {"z": None, "w": [dt.time(2)]}}, None, {"x": None, "y": None}]),
}  # fmt: skip


def fields() -> tuple[DataField, ...]:
    return tuple(DataField(i, n, parse_type(t)) for i, (n, (t, _)) in enumerate(COLUMNS.items()))


def rows() -> pa.Table:
    schema = arrow_schema(fields(), nullable=True)
    columns = []
    for field, (_, values) in zip(schema, COLUMNS.values(), strict=True):
        plain = [v.value if isinstance(v, pa.Scalar) else v for v in values]
        columns.append(pa.array(plain, field.type))
    return pa.table(columns, schema=schema)


@pytest.mark.parametrize("offset", [0, 1])
def test_every_type_survives_the_arrow_forms(offset):
    table = rows().slice(offset)
    back = from_spark_arrow(to_spark_arrow(table, fields()), fields(), "Asia/Tokyo")
    assert [n for n in table.column_names if not back[n].equals(table[n])] == []


def test_nanoseconds_become_text_with_every_digit():
    text = to_spark_arrow(rows(), fields())
    assert text["ts9"].to_pylist() == ["2020-09-13 12:26:40.123456789", None, "1969-12-31 23:59:59.999999999"]
    assert text["tz9"].to_pylist() == ["2020-09-13 12:26:40.000000001Z", None, "1969-12-31 23:59:59.999999999Z"]


def test_text_becomes_nanoseconds_in_the_session_zone():
    f = (
        DataField(0, "z", parse_type("TIMESTAMP(9) WITH LOCAL TIME ZONE")),
        DataField(1, "n", parse_type("TIMESTAMP(9)")),
    )
    text = ["2024-01-01 00:00:00", "2024-01-01T00:00:00.5+01:00", "2024-01-01 00:00:00.000000001Z"]
    back = from_spark_arrow(
        pa.table({"z": text, "n": [text[0], "2024-01-01", "1970-01-01 00:00:00.1"]}), f, "America/New_York"
    )
    base = 1_704_067_200_000_000_000
    assert back["z"].cast(pa.int64()).to_pylist() == [
        base + 5 * 3600 * 10**9,
        base - 3600 * 10**9 + 500_000_000,
        base + 1,
    ]
    assert back["n"].cast(pa.int64()).to_pylist() == [base, base, 100_000_000]


def test_wrong_text_names_the_column():
    with pytest.raises(SchemaMismatch, match="'n'"):
        from_spark_arrow(pa.table({"n": ["soon"]}), (DataField(0, "n", parse_type("TIMESTAMP(9)")),))


def test_digits_beyond_the_precision_are_dropped():
    f = (DataField(0, "a", parse_type("TIMESTAMP(3)")), DataField(1, "b", parse_type("TIMESTAMP(0)")))
    value = [dt.datetime(1969, 12, 31, 23, 59, 59, 999999)]
    back = from_spark_arrow(
        pa.table({"a": pa.array(value, pa.timestamp("us")), "b": pa.array(value, pa.timestamp("us"))}), f
    )
    assert back.to_pylist() == [
        {"a": dt.datetime(1969, 12, 31, 23, 59, 59, 999000), "b": dt.datetime(1969, 12, 31, 23, 59, 59)}
    ]


def test_an_hour_that_a_zone_has_twice_is_no_riddle():
    twice = dt.datetime(2024, 11, 3, 5, 30, 0, 123456, dt.UTC)  # half past one in New York, and an hour later again
    rows = pa.table({"z": pa.array([twice, twice + dt.timedelta(hours=1)], pa.timestamp("us", tz="America/New_York"))})
    back = from_spark_arrow(rows, (DataField(0, "z", parse_type("TIMESTAMP_LTZ(3)")),), "America/New_York")
    assert back.column("z").to_pylist() == [twice.replace(microsecond=123000, hour=h) for h in (5, 6)]


@pytest.mark.spark
def test_rows_go_through_spark_and_back(spark):
    frame = from_arrow(spark, rows(), fields())
    assert frame.schema == spark_schema(fields())
    back = to_arrow(frame, fields())
    assert [n for n in back.column_names if not back[n].equals(rows()[n])] == []


@pytest.mark.spark
def test_rows_go_through_a_python_task_and_back(spark):
    frame = from_arrow(spark, rows(), fields())
    back = to_arrow(frame.mapInArrow(lambda batches: batches, frame.schema), fields())
    assert [n for n in back.column_names if not back[n].equals(rows()[n])] == []


@pytest.mark.spark
def test_an_empty_table_keeps_its_columns(spark):
    frame = from_arrow(spark, rows().slice(0, 0), fields())
    assert frame.columns == list(COLUMNS)
    assert to_arrow(frame, fields()).num_rows == 0


@pytest.mark.spark
def test_no_row_is_lost_behind_an_empty_chunk(spark):
    chunks = [pa.array(c, pa.int64()) for c in ([], [1, 2], [], [3], [], [4, 5])]
    table = pa.table({"k": pa.chunked_array(chunks), "v": pa.chunked_array(chunks)})
    assert from_arrow(spark, table).count() == 5


@pytest.mark.spark
def test_variant_goes_through_spark(spark):
    f = (DataField(0, "v", parse_type("VARIANT")),)
    source = spark.sql("""SELECT parse_json('{"a": 1}') v UNION ALL SELECT NULL""")
    assert fields_of_spark(source.schema)[0].type.root == "VARIANT"
    table = to_arrow(source, f)
    assert from_arrow(spark, table, f).selectExpr("to_json(v) j").collect() == [('{"a":1}',), (None,)]


@pytest.mark.spark
def test_spark_schemas_become_columns(spark):
    time = "time'01:02:03'" if has_time_type() else "'01:02:03'"
    frame = spark.sql(
        f"SELECT 1 a, current_timestamp() b, timestamp_ntz'2020-01-01' c, named_struct('x', array(1.5)) d, {time} t"
    )
    assert [f"{f.id} {f.name} {f.type}" for f in fields_of_spark(frame.schema)] == [
        "0 a INT NOT NULL", "1 b TIMESTAMP(6) WITH LOCAL TIME ZONE NOT NULL", "2 c TIMESTAMP(6) NOT NULL",
        "3 d ROW<`x` ARRAY<DECIMAL(2, 1) NOT NULL> NOT NULL> NOT NULL", f"5 t {'TIME(6)' if has_time_type() else 'STRING'} NOT NULL",
    ]  # fmt: skip
    with pytest.raises(SchemaMismatch, match="void"):
        fields_of_spark(spark.sql("SELECT NULL n").schema)
