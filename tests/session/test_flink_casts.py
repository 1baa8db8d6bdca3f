"""What Flink's INSERT and UPDATE store: implicit casts, rows in VALUES, numbers as real Flink 1.20 answered them."""

import math
from decimal import Decimal

import pytest

pytestmark = pytest.mark.spark


@pytest.fixture
def flink(swb):
    swb.run("SET 'execution.runtime-mode' = 'batch'")
    return swb


def rows(wb, text: str) -> list[tuple]:
    return sorted((tuple(r) for r in wb.sql(text).collect()), key=repr)


def test_varchar_and_varbinary_without_a_length_have_any_length(flink):
    flink.run("""
        CREATE TABLE t (
            a VARCHAR, b VARBINARY, c CHAR, d BINARY(1), e ROW<varchar VARCHAR, y CHAR(3)>, f ARRAY<VARCHAR(2)>, g MAP<VARCHAR, VARBINARY>
        );
        ALTER TABLE t ADD h VARCHAR
    """)
    assert [f.type.bare() for f in flink.table("t").schema.fields] == [
        "STRING", "BYTES", "CHAR(1)", "BINARY(1)", "ROW<`varchar` STRING, `y` CHAR(3)>", "ARRAY<VARCHAR(2)>", "MAP<STRING, BYTES>", "STRING",
    ]  # fmt: skip


def test_texts_and_bytes_take_the_length_of_their_column(flink):
    flink.run("""
        CREATE TABLE source (id INT, v STRING, b BYTES);
        INSERT INTO source VALUES (4, 'Apache Paimon', X'0102030405'), (5, 'ab', X'01'), (6, NULL, NULL);
        CREATE TABLE t (id INT, v VARCHAR(5), c CHAR(5), b BINARY(3), vb VARBINARY(3));
        INSERT INTO t VALUES (1, 'Apache Paimon', 'Apache Paimon', X'0102030405', X'0102030405'), (2, 'ab', 'ab', X'01', X'01');
        INSERT INTO t (id, v) SELECT 3, CASE WHEN id = 4 THEN 'Apache Paimon' ELSE NULL END FROM source WHERE id = 4;
        INSERT INTO t SELECT id, v, v, b, b FROM source
    """)
    cut, padded = ("Apach", "Apach", b"\1\2\3", b"\1\2\3"), ("ab", "ab   ", b"\1\0\0", b"\1")
    assert rows(flink, "SELECT * FROM t") == [
        (1, *cut), (2, *padded), (3, "Apach", None, None, None), (4, *cut), (5, *padded), (6, *[None] * 4),
    ]  # fmt: skip


def test_texts_inside_rows_arrays_and_maps_take_their_length(flink):
    flink.run("""
        CREATE TABLE t (r ROW<a VARCHAR(2), b CHAR(2)>, e ARRAY<VARCHAR(2)>, m MAP<CHAR(2), VARBINARY(1)>);
        INSERT INTO t SELECT ROW('abc', 'x'), ARRAY['abc', CAST(NULL AS STRING)], MAP['k', X'0102'];
        INSERT INTO t VALUES (NULL, NULL, NULL)
    """)
    assert flink.table("t").to_arrow().to_pylist() == [
        {"r": {"a": "ab", "b": "x "}, "e": ["ab", None], "m": [("k ", b"\1")]},
        {"r": None, "e": None, "m": None},
    ]


def test_the_length_enforcer_of_flink_is_said_to_change_nothing(wb):
    for value in ("IGNORE", "TRIM_PAD"):
        notes = wb.run(f"SET 'table.exec.sink.type-length-enforcer' = '{value}'").notes
        assert [n.partition("; ")[2] for n in notes] == [
            "no effect here: in Flink's modes, INSERT always cuts and pads texts and bytes to their column's length"
        ]


def test_update_casts_as_insert_does(flink):
    flink.run("""
        CREATE TABLE t (id INT, v VARCHAR(5), d DECIMAL(4, 2), q DOUBLE, e ARRAY<INT>, PRIMARY KEY (id) NOT ENFORCED);
        INSERT INTO t VALUES (1, 'x', 1, 1, ARRAY[5, 6]), (2, 'y', 2, 2, ARRAY[7]);
        UPDATE t SET v = 'Apache ' || v, d = 123.456, q = e[1] / 2 WHERE id = 1;
        UPDATE t SET q = q / 0 WHERE id = 2
    """)
    assert rows(flink, "SELECT id, v, d, q FROM t") == [(1, "Apach", None, 2.0), (2, "y", Decimal("2.00"), math.inf)]


def test_a_number_too_large_for_a_decimal_is_null(flink):
    flink.run("""
        CREATE TABLE t (id INT, d DECIMAL(4, 2));
        INSERT INTO t VALUES (1, 123.45), (2, 12.345);
        INSERT INTO t SELECT 3, 1000;
        INSERT INTO t SELECT 4, CAST(12.999 AS DOUBLE)
    """)
    assert rows(flink, "SELECT * FROM t") == [
        (1, None),
        (2, Decimal("12.35")),
        (3, None),
        (4, Decimal("13.00")),
    ]


def test_sparks_dialect_refuses_what_is_too_long(swb):
    from paimon_nb.base.errors import PaimonError

    swb.run("CREATE TABLE t (id INT, v VARCHAR(5), d DECIMAL(4, 2), c CHAR(5))")
    for values in ("(1, 'Apache Paimon', 1, 'x')", "(1, 'x', 123.45, 'x')", "(1, 'x', 1, 'Apache Paimon')"):
        with pytest.raises(PaimonError):
            swb.run(f"INSERT INTO t VALUES {values}")
    assert rows(swb, "SELECT * FROM t") == []


def test_columns_that_are_not_named_get_their_nested_default(flink):
    flink.run("""
        CREATE TABLE t (id INT, items ARRAY<ROW<name STRING, n INT>>, r ROW<place ROW<x INT, y STRING>, open BOOLEAN>);
        CALL sys.alter_column_default_value('t', 'items', '[{bolt, 4}]');
        CALL sys.alter_column_default_value('t', 'r', '{{7, north}, true}');
        INSERT INTO t (id, items) VALUES (1, ARRAY[ROW('nut', 9)]);
        INSERT INTO t (id, r) SELECT 2, ROW(ROW(8, 'south'), FALSE)
    """)
    assert rows(flink, "SELECT id, items[1].name, items[1].n, r.place.x, r.place.y, r.`open` FROM t") == [
        (1, "nut", 9, 7, "north", True),
        (2, "bolt", 4, 8, "south", False),
    ]


def test_a_row_is_the_only_column_of_a_values_row(flink):
    flink.run("""
        CREATE TABLE t (a ROW<f0 DECIMAL(2, 1)>);
        INSERT INTO t VALUES ((ROW(1.2)));
        INSERT INTO t VALUES (ROW(ROW(1.3))), ((ROW(1.45)));
        CREATE TABLE u (id INT, a ROW<f0 DECIMAL(2, 1), f1 STRING>);
        INSERT INTO u VALUES (1, ROW(1.2, 'x')), (2, (1.3, 'y'));
        INSERT INTO u VALUES ROW(3, ROW(1.4, 'z'))
    """)
    assert rows(flink, "SELECT a.f0 FROM t") == [(Decimal("1.2"),), (Decimal("1.3"),), (Decimal("1.5"),)]
    assert rows(flink, "SELECT id, a.f1 FROM u") == [(1, "x"), (2, "y"), (3, "z")]
    assert [len(r) for r in flink.sql("VALUES ((ROW(1, 2))), (((ROW(3, 4))))").collect()] == [1, 1]
    assert rows(flink, "VALUES (ROW(1, 2)), (ROW(3, 4))") == [(1, 2), (3, 4)]
    assert rows(flink, "SELECT x.col1, y FROM (VALUES (ROW(1, 2), 5)) AS v(x, y)") == [(1, 5)]


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (id) NOT ENFORCED"])
def test_update_keeps_a_char_as_orc_holds_it(flink, key):
    flink.run(f"""
        CREATE TABLE t (id INT, c CHAR(4), n ROW<c CHAR(4)>, v INT{key}) WITH ('file.format' = 'orc', 'bucket-key' = 'id', 'bucket' = '1');
        INSERT INTO t VALUES (1, 'ab', ROW('x'), 0), (2, 'cd', ROW('y'), 0);
        ALTER TABLE t SET ('file.format' = 'parquet');
        UPDATE t SET v = 1 WHERE id = 1;
        UPDATE t SET c = 'e' WHERE id = 2
    """)
    assert rows(flink, "SELECT id, c, n.c AS nc, v FROM t") == [(1, "ab", "x", 1), (2, "e   ", "y", 0)]
