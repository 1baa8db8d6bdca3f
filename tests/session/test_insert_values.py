"""INSERT ... VALUES of plain constants starts no Spark, and stores what Spark would have stored."""

import datetime as dt
from decimal import Decimal

import pytest

import paimon_nb
from paimon_nb.base.errors import ColumnNotFound, NullNotAllowed, SchemaMismatch, SqlAnalysisError
from paimon_nb.format.schema import create_schema
from paimon_nb.session.execute.insert import literal_rows_as_arrow
from paimon_nb.sql import parse
from paimon_nb.statements import Insert


@pytest.fixture
def run(wb, monkeypatch):
    """Runs text and gives the one cell of its answer. Starting Spark fails the test."""
    monkeypatch.setattr(type(wb.session), "spark", property(lambda _self: pytest.fail("Spark was started")))

    def go(text: str, **params):
        return wb.run(text, **params).arrow.column(0)[0].as_py()

    go.wb = wb
    return go


def stored(wb: paimon_nb.Workbench, name: str = "t") -> list[tuple]:
    return sorted((tuple(r.values()) for r in wb.table(name).to_arrow().to_pylist()), key=repr)


def test_every_plain_type(run):
    run(
        """CREATE TABLE t (a TINYINT, b BIGINT, c DOUBLE, d FLOAT, e DECIMAL(6, 2), f STRING, g BOOLEAN, h DATE, i TIMESTAMP(3))"""
    )
    said = run(
        """INSERT INTO t VALUES (1, -9000000000, 2.5, -0.5, 12.345, 'it''s', TRUE, DATE '2024-02-29', TIMESTAMP '2024-02-29 10:00:00.123'),
           (-128, NULL, 3, 4, -7, '', false, '2024-01-01', '1999-12-31 23:59:59'),
           (NULL, 0, CAST(NULL AS DOUBLE), NULL, NULL, CAST(NULL AS VARCHAR(3)), NULL, NULL, NULL)"""
    )
    assert said == "3 rows inserted into default.t in snapshot 1"
    assert stored(run.wb) == sorted(
        [
            (1, -9000000000, 2.5, -0.5, Decimal("12.35"), "it's", True, dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 10, 0, 0, 123000)),
            (-128, None, 3.0, 4.0, Decimal("-7.00"), "", False, dt.date(2024, 1, 1), dt.datetime(1999, 12, 31, 23, 59, 59)),
            (None, 0, None, None, None, None, None, None, None),
        ],
        key=repr,
    )  # fmt: skip


def test_defaults_of_nested_columns_in_java_texts(run):
    """The text of a default has brackets for arrays and rows as Java prints them."""
    run("""
        CREATE TABLE t (
            id INT, items ARRAY<ROW<name STRING, n INT>>, r ROW<place ROW<x INT, y STRING>, open BOOLEAN>, m MAP<STRING, INT>, e ARRAY<INT>
        );
        CALL sys.alter_column_default_value('t', 'items', '[{bolt, 4}, {nut, 5}]');
        CALL sys.alter_column_default_value('t', 'r', '{{7, north}, true}');
        CALL sys.alter_column_default_value('t', 'm', '{one -> 1, two -> 2}');
        CALL sys.alter_column_default_value('t', 'e', '[]');
        INSERT INTO t (id) VALUES (1);
        SET 'execution.runtime-mode' = 'batch';
        INSERT INTO t (id) VALUES (2)
    """)
    items, place = [{"name": "bolt", "n": 4}, {"name": "nut", "n": 5}], {"place": {"x": 7, "y": "north"}, "open": True}
    assert stored(run.wb) == [(i, items, place, [("one", 1), ("two", 2)], []) for i in (1, 2)]


def test_columns_defaults_and_bound_values(run):
    run(
        """CREATE TABLE t (id INT, v STRING DEFAULT 'none', n BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')"""
    )
    run("INSERT INTO t (N, id) VALUES (10, 1)")
    run("INSERT INTO t VALUES (2, :v, :n), (:id, 'x', NULL)", v="x'); DROP TABLE t; --", n=20, id=3)
    run("INSERT INTO t (id, n) VALUES (1, 11)")
    assert stored(run.wb) == [(1, "none", 11), (2, "x'); DROP TABLE t; --", 20), (3, "x", None)]


def test_a_marker_without_a_value_is_not_null(run):
    run("CREATE TABLE t (id INT, v STRING)")
    for text in ("INSERT INTO t VALUES (1, :v)", "INSERT INTO t SELECT 1, :v"):
        with pytest.raises(SqlAnalysisError, match=":v has no value"):
            run(text)
    assert run.wb.table("t").latest_snapshot() is None


def test_overwrite(run):
    run("CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p); INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    assert run("INSERT OVERWRITE t VALUES (3, 'a')") == "default.t overwritten with 1 row in snapshot 2"
    assert stored(run.wb) == [(2, "b"), (3, "a")]
    run("INSERT OVERWRITE t /*+ OPTIONS('dynamic-partition-overwrite' = 'false') */ VALUES (4, 'c')")
    assert stored(run.wb) == [(4, "c")]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("INSERT INTO t VALUES (1)", SchemaMismatch),
        ("INSERT INTO t (id) VALUES (1, 'a')", SchemaMismatch),
        ("INSERT INTO t (id, w) VALUES (1, 'a')", ColumnNotFound),
        ("INSERT INTO t (v) VALUES ('a')", NullNotAllowed),
        ("INSERT INTO t VALUES (NULL, 'a')", NullNotAllowed),
    ],
)
def test_refused_without_spark(run, text, kind):
    run("CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    with pytest.raises(kind) as caught:
        run(text)
    assert caught.value.hint
    assert run.wb.table("t").latest_snapshot() is None


TYPES = ["TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(5, 2)", "DECIMAL(18, 0)", "STRING", "BOOLEAN", "DATE",
         "TIMESTAMP(3)", "TIMESTAMP(6)", "VARCHAR(3)", "TIMESTAMP_LTZ(3)", "BYTES"]  # fmt: skip
LITERALS = ["0", "-1", "127", "128", "-32768", "32768", "2147483647", "9223372036854775807", "-9223372036854775808", "0.1", "-1.005",
            "999.995", "16777217", "9007199254740993", "123456789012345678", "'x'", "'1'", "''", "'2024-02-29'", "'2023-02-29'", "'0001-01-01'",
            "'2024-02-29 01:02:03'", "'2024-02-29 01:02:03.1239'", "DATE '1999-12-31'", "TIMESTAMP '1999-12-31 00:00:00'",
            "TRUE", "FALSE", "NULL"]  # fmt: skip


def plain_pairs() -> dict[tuple[str, str], object]:
    """What this reads itself, by type and literal."""
    out = {}
    for text in TYPES:
        schema = create_schema((("c", text, None, None),), (), (), {}, None)
        for literal in LITERALS:
            (insert,) = parse(f"INSERT INTO t VALUES ({literal})")
            assert isinstance(insert, Insert)
            rows = literal_rows_as_arrow(schema, ["c"], insert.rows, {})
            if rows is not None:
                out[text, literal] = rows.column(0)[0].as_py()
    return out


@pytest.mark.spark
def test_the_values_are_sparks(spark):
    ours = plain_pairs()
    said = {
        "TIMESTAMP(3)": "TIMESTAMP_NTZ",
        "TIMESTAMP(6)": "TIMESTAMP_NTZ",
        "TIMESTAMP_LTZ(3)": "TIMESTAMP",
        "BYTES": "BINARY",
    }
    casts = [f"CAST({literal} AS {said.get(text, text)}) AS c{i}" for i, (text, literal) in enumerate(ours)]
    row = spark.sql("SELECT " + ", ".join(casts)).first()
    assert dict(zip(ours, row, strict=True)) == ours
    assert len(ours) > 80
    assert [t for t, literal in ours if literal == "NULL"] == TYPES


@pytest.mark.parametrize(
    "values",
    ["(1 + 1)", "(lower('A'))", "(X'00')", "('a' 'b')", "(1L)", "(1e3)", "(r'a')", "('a\\n')", '("a")', "(1) UNION ALL VALUES (2)",
     "(ARRAY(1))", "(1), (1, 2)", "(CAST('1' AS INT))", "((SELECT 1))", "(1) ORDER BY 1"],
)  # fmt: skip
def test_what_is_left_to_spark(values):
    (insert,) = parse(f"INSERT INTO t VALUES {values}")
    assert insert.rows is None
