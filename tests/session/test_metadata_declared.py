"""METADATA columns of Paimon tables: declared and kept as in Flink, never stored, and neither read nor written."""

from __future__ import annotations

import pytest

from paimon_nb.base.errors import UnsupportedOperation


def described(wb, table="t"):
    rows = wb.run(f"DESC {table}").arrow.to_pylist()
    return [(r["col_name"], r["data_type"], r["key"], r["comment"]) for r in rows]


def test_metadata_columns_are_declared_and_not_stored(wb):
    wb.run("CREATE TABLE t (a INT, c STRING METADATA COMMENT 'x', d BIGINT METADATA FROM 'ts' VIRTUAL, b INT)")
    assert wb.table("t").schema.names == ("a", "b")
    assert described(wb) == [
        ("a", "INT", None, None), ("c", "STRING", "METADATA", "x"),
        ("d", "BIGINT", "METADATA FROM 'ts' VIRTUAL", None), ("b", "INT", None, None),
    ]  # fmt: skip
    options = {k: v for k, v in wb.table("t").options.raw.items() if k.startswith("schema.1.")}
    assert options == {
        "schema.1.name": "c", "schema.1.metadata": "c", "schema.1.virtual": "false", "schema.1.data-type": "STRING",
        "schema.1.comment": "x",
    }  # fmt: skip
    made = wb.run("SHOW CREATE TABLE t").arrow.column(0)[0].as_py()
    wb.run(made.replace("`default`.`t`", "u"))
    assert described(wb, "u") == described(wb)
    assert not wb.session.spark_started


def test_alter_adds_changes_and_drops_them(wb):
    wb.run("CREATE TABLE t (a INT, c STRING METADATA, b INT); ALTER TABLE t ADD (e INT METADATA FIRST)")
    wb.run("ALTER TABLE t MODIFY c STRING METADATA COMMENT 'new'; ALTER TABLE t RENAME e TO f")
    assert described(wb) == [
        ("f", "INT", "METADATA FROM 'e'", None), ("a", "INT", None, None), ("c", "STRING", "METADATA", "new"), ("b", "INT", None, None),
    ]  # fmt: skip
    wb.run("ALTER TABLE t DROP (c, f)")
    assert described(wb) == [("a", "INT", None, None), ("b", "INT", None, None)]


@pytest.mark.spark
def test_rows_are_refused_as_flink_refuses_them(swb):
    swb.run("CREATE TABLE t (a INT, c STRING METADATA); CREATE TABLE v (a INT, c STRING METADATA VIRTUAL)")
    with pytest.raises(UnsupportedOperation, match="'c' is METADATA"):
        swb.run("INSERT INTO t VALUES (1)")
    swb.run("INSERT INTO v VALUES (1)")
    with pytest.raises(UnsupportedOperation, match="'c' is METADATA"):
        swb.run("SELECT a FROM v").frame.collect()
    swb.run("ALTER TABLE v DROP c")
    assert swb.sql("SELECT a + 1 FROM v").collect() == [(2,)]
