"""ALTERs of computed columns and of watermarks: what each leaves in the schema is what real Flink 1.20 with Paimon 1.3.1 left."""

from __future__ import annotations

import pytest

from paimon_nb.base.errors import ColumnNotFound, PaimonError, SchemaChangeError

STORED = ["a", "b", "s", "ts"]
CREATED = "CREATE TABLE t (a INT, b INT, s STRING, ts TIMESTAMP(3))"
C = {"4.name": "c", "4.expr": "`a` * 2", "4.data-type": "INT"}
D = {"5.name": "d", "5.expr": "`b` * 2", "5.data-type": "INT"}
CASES: dict[str, tuple[list[str], list[str], dict[str, str]]] = {
    # statements after CREATE TABLE; then stored columns, and the options that begin with 'schema.'
    "add": (["ADD (c AS a * b)"], STORED, {**C, "4.expr": "`a` * `b`"}),
    "add in places": (
        ["ADD (c AS a * b FIRST, d AS UPPER(s) COMMENT 'up' AFTER a)"], STORED,
        {"0.name": "c", "0.expr": "`a` * `b`", "0.data-type": "INT",
         "2.name": "d", "2.expr": "UPPER(`s`)", "2.data-type": "STRING", "2.comment": "up"},
    ),
    "add one": (["ADD c AS a + 1 AFTER a"], STORED, {"1.name": "c", "1.expr": "`a` + 1", "1.data-type": "INT"}),
    "add both kinds": (
        ["ADD (x INT, c AS x * 2, y STRING FIRST)"], ["y", *STORED, "x"],
        {"6.name": "c", "6.expr": "`x` * 2", "6.data-type": "INT"},
    ),
    "stored columns in front": (
        ["ADD (c AS a * 2)", "ADD x INT FIRST", "ADD y INT"], ["x", *STORED, "y"],
        {"5.name": "c", "5.expr": "`a` * 2", "5.data-type": "INT"},
    ),
    "modify": (["ADD (c AS a * 2)", "MODIFY c AS a * 3"], STORED, {**C, "4.expr": "`a` * 3"}),
    "modify its place": (
        ["ADD (c AS a * 2)", "MODIFY (c AS a * 4 COMMENT 'four' FIRST)"], STORED,
        {"0.name": "c", "0.expr": "`a` * 4", "0.data-type": "INT", "0.comment": "four"},
    ),
    "a wider source": (["ADD (c AS a * 2)", "MODIFY a BIGINT"], STORED, {**C, "4.data-type": "BIGINT"}),
    "drop": (["ADD (c AS a * 2, d AS b * 2)", "DROP c"], STORED, {k.replace("5", "4"): v for k, v in D.items()}),
    "drop the last": (["ADD (c AS a * 2)", "DROP c"], STORED, {}),
    "drop of both kinds": (
        ["ADD (c AS a * 2, d AS b * 2)", "DROP (c, s)"], ["a", "b", "ts"], {k.replace("5", "3"): v for k, v in D.items()},
    ),
    "drop with its source": (["ADD (c AS a * 2)", "DROP (a, c)"], ["b", "s", "ts"], {}),
    "drop in front": (["ADD (c AS a * 2)", "DROP b"], ["a", "s", "ts"], {k.replace("4", "3"): v for k, v in C.items()}),
    "rename": (["ADD (c AS a * 2)", "RENAME c TO d", "RENAME b TO f"], ["a", "f", "s", "ts"], {**C, "4.name": "d"}),
    "move": (["ADD (c AS a * 2)", "MODIFY s STRING FIRST"], ["s", "a", "b", "ts"], C),
    "with a watermark": (
        ["ADD (c AS a * 2, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)"], STORED,
        {**C, "watermark.0.rowtime": "ts", "watermark.0.strategy.expr": "`ts` - INTERVAL '5' SECOND",
         "watermark.0.strategy.data-type": "TIMESTAMP(3)"},
    ),
    "a watermark of it": (
        ["ADD (c AS ts)", "ADD WATERMARK FOR c AS c"], STORED,
        {**C, "4.expr": "`ts`", "4.data-type": "TIMESTAMP(3)", "watermark.0.rowtime": "c", "watermark.0.strategy.expr": "`c`",
         "watermark.0.strategy.data-type": "TIMESTAMP(3)"},
    ),
}  # fmt: skip
REFUSED: dict[str, tuple[list[str], str, type[PaimonError], str]] = {
    # statements that go, the one that does not, its error
    "named twice": ([], "ADD (a AS b * 2)", SchemaChangeError, "'a' exists"),
    "stored under its name": (["ADD (c AS a * 2)"], "ADD c INT", SchemaChangeError, "'c' exists"),
    "of nothing": ([], "ADD (c AS nope * 2)", PaimonError, "nope"),
    "of a computed one": (["ADD (c AS a * 2)"], "ADD (d AS c * 2)", PaimonError, "`c`"),
    "made stored": (["ADD (c AS a * 2)"], "MODIFY c INT", SchemaChangeError, "'c' is computed"),
    "made computed": ([], "MODIFY b AS a * 3", SchemaChangeError, "stored column 'b'"),
    "unknown": ([], "MODIFY z AS a * 3", ColumnNotFound, "'z'"),
    "source dropped": (["ADD (c AS a * 2)"], "DROP a", SchemaChangeError, "'c' is computed from it"),
    "source renamed": (["ADD (c AS a * 2)"], "RENAME a TO e", SchemaChangeError, "'c' is computed from it"),
    "watermark twice": (["ADD WATERMARK FOR ts AS ts"], "ADD WATERMARK FOR ts AS ts", SchemaChangeError, "already"),
    "watermark's column dropped": (["ADD WATERMARK FOR ts AS ts"], "DROP ts", SchemaChangeError, "'ts'"),
    "watermark's column renamed": (["ADD WATERMARK FOR ts AS ts"], "RENAME ts TO t2", SchemaChangeError, "'ts'"),
    "no watermark": ([], "DROP WATERMARK", SchemaChangeError, "no watermark"),
}


@pytest.mark.spark
def test_what_an_alter_leaves(swb):
    left = {}
    for case, (changes, _, _) in CASES.items():
        swb.run(";".join(["DROP TABLE IF EXISTS t", CREATED, *(f"ALTER TABLE t {c}" for c in changes)]))
        schema = swb.table("t").schema
        told = {k.removeprefix("schema."): v for k, v in schema.options.items() if k.startswith("schema.")}
        left[case] = (changes, list(schema.names), told)
    assert left == CASES


@pytest.mark.spark
def test_what_an_alter_refuses_leaves_the_table_as_it_was(swb):
    for case, (changes, refused, error, words) in REFUSED.items():
        swb.run(";".join(["DROP TABLE IF EXISTS t", CREATED, *(f"ALTER TABLE t {c}" for c in changes)]))
        before = swb.table("t").schema
        with pytest.raises(error, match=words) as caught:
            swb.run(f"ALTER TABLE t {refused}")
        assert caught.value.hint, case
        assert swb.table("t").schema == before, case


@pytest.mark.spark
def test_rows_are_computed_where_the_column_stands(swb):
    swb.run(f"{CREATED}; INSERT INTO t (a, b) VALUES (2, 3); ALTER TABLE t ADD (c AS a * b FIRST)")
    swb.run(
        "ALTER TABLE t ADD x INT AFTER c; ALTER TABLE t MODIFY s STRING AFTER c; INSERT INTO t (a, b, x) VALUES (5, 7, 1)"
    )
    frame = swb.sql("SELECT * FROM t ORDER BY a")
    assert frame.columns == ["c", "s", "x", "a", "b", "ts"]
    assert [tuple(r) for r in frame.collect()] == [(6, None, None, 2, 3, None), (35, None, 1, 5, 7, None)]


@pytest.mark.spark
def test_a_new_table_keeps_the_watermark_of_a_computed_column(swb):
    swb.run("CREATE TABLE t (s STRING, c AS CAST(s AS TIMESTAMP(3)), WATERMARK FOR c AS c)")
    assert swb.table("t").schema.options["schema.watermark.0.rowtime"] == "c"
    assert "WATERMARK FOR `c` AS `c`" in swb.run("SHOW CREATE TABLE t").arrow.column(0)[0].as_py()
